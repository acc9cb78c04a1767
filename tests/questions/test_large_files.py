"""What is claimed of files too large to hold, held to what is claimed of the same in memory."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import trilens as tl
from commandline import facts, run
from trilens import answers as handles
from trilens.errors import LabelError, ParameterError
from trilens.simulate import mixture, simulate_statements

N = 100


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Answers, the classes of their objects, and a table of those of every second object."""
    drawn = mixture(N, [[0, 0], [9, 0], [0, 9]], random_state=1)
    S = simulate_statements(drawn.points, 6000, random_state=2)
    folder = tmp_path_factory.mktemp("study")
    tl.write_statements(S, folder / "answers.parquet")
    classes = np.array(list("abc"))[drawn.labels]
    rows = [f"{i},{classes[i]}\n" for i in range(0, N, 2)]
    (folder / "labels.csv").write_text("object,label\n" + "".join(rows))
    return folder / "answers.parquet", classes, folder / "labels.csv"


def test_files_are_held_where_they_fit_and_no_cluster_is_asked(study, monkeypatch) -> None:
    file = study[0]
    with pytest.raises(ParameterError, match="these answers are in memory"):
        tl.Answers([[0, 1, 2]], cluster="local:2")
    assert not tl.Answers(file, cluster="local:2").held
    assert "cluster is 'moon'" in run("medoid", file, "--cluster", "moon", status=1).stderr
    assert handles.available_memory() > 0
    needed = 12 * file.stat().st_size
    for memory, held in ((4 * needed, True), (4 * needed - 40, False)):
        monkeypatch.setattr(handles, "available_memory", lambda memory=memory: memory)
        assert tl.Answers(file).held == held


@pytest.mark.slow
def test_commands_run_on_a_cluster(study, tmp_path: Path) -> None:
    given, out = (study[0], "--cluster", "local:2"), tmp_path / "map.csv"
    assert facts("medoid", *given)["method"] == "choice"
    assert facts("cluster", *given)["n_clusters"] == 3
    assert facts("embed", *given, "-o", out)["method"] == "choice"


@pytest.mark.slow
def test_very_many_objects_are_not_compared_one_by_one() -> None:
    X = np.random.default_rng(5).standard_normal((1100, 2))
    S = simulate_statements(X, 40_000, error_rate=0.14, random_state=6)
    found = tl.medoid(S)
    assert found.method == "choice"
    nearest = np.linalg.norm(X[:, None] - X, axis=2).sum(axis=1).argmin()
    assert str(nearest) in found.candidates
    # by counting, hundreds could be it
    assert len(found.candidates) < len(tl.medoid(S, "depth").candidates) / 2


@pytest.fixture
def large(monkeypatch) -> None:
    """Every file counts as large, and none may be read whole."""
    monkeypatch.setattr("trilens.answers.STREAMED_BYTES", 0)

    def never(*arguments, **options):
        raise AssertionError("the statements were read whole")

    monkeypatch.setattr("trilens.answers.read_files", never)
    monkeypatch.setattr("trilens.files.read.read_files", never)


@pytest.mark.slow
def test_classes_of_all_objects_by_another_map(study, large) -> None:
    answers, expected = tl.Answers(study[0]), study[1]
    labels = {str(i): expected[i] for i in range(0, N, 2)}
    for classifier, right in (("knn", 0.97), ("svm-gauss", 0.9)):
        found = tl.classify(answers, labels, "lensmap", classifier=classifier)
        assert (found.labels == expected).mean() > right
        assert found.method == found.parameters["map"] == "lensmap"


def test_what_the_paper_counts_is_counted_where_that_is_asked_for(study, large) -> None:
    answers, counts = tl.Answers(study[0]), tl.Answers(study[0]).count(pairs=True)
    central, pairs = counts.central, counts.pairs
    assert tl.medoid(answers, "depth").to_dict() == tl.medoid(counts).to_dict()
    found = tl.outliers(answers, 5, method="depth")
    assert found.to_dict() == tl.outliers(central, 5).to_dict()
    assert tl.neighbors(answers, 5).edges() == tl.neighbors(pairs, 5).edges()
    for method in ("krng", "lensmap"):
        found = tl.cluster(answers, 3, method)
        assert np.array_equal(found.labels, tl.cluster(pairs, 3, method).labels)
    with pytest.raises(AssertionError, match="read whole"):
        tl.medoid(tl.Answers(study[0]), "soe")


def test_the_commands_take_it_for_many_objects(study, tmp_path: Path, large) -> None:
    file, classes, table = study
    every = tmp_path / "every.csv"
    told = facts("classify", file, "--labels", table, "-o", every)
    assert len(every.read_text().splitlines()) == N + 1
    right = [label == classes[int(name)] for name, label in told["labels"].items()]
    assert np.mean(right) > 0.97
    assert told["method"] == "choice"
    assert 0 <= told["error_interval"][0] <= told["error"] <= told["error_interval"][1] < 0.2
    out = tmp_path / "map.csv"
    told = facts("embed", file, "--method", "lensmap", "-o", out)
    assert told == {"method": "lensmap", "dim": 2, "violations": None, "error_rate": None}
    assert len(out.read_text().splitlines()) == N + 1
    assert "-k" in run("classify", file, "--labels", table, "-k", 3, status=1).stderr


@pytest.mark.slow
def test_the_report_says_what_the_commands_say(study, tmp_path: Path, large) -> None:
    file, _, table = study
    page = tmp_path / "report.html"
    whole = facts("analyze", file, "-o", page, "--labels", table, "--n-clusters", 3)
    assert whole["medoid"] == facts("medoid", file)
    assert whole["outliers"] == facts("outliers", file)
    assert whole["cluster"] == facts("cluster", file, "--n-clusters", 3, "--labels", table)
    assert whole["classify"] == facts("classify", file, "--labels", table)
    depth = facts("depth", file)["depth"]
    assert {row["object"]: row["counted"] for row in whole["objects"]} == depth
    assert whole["reliability"]["predicted"] > 0.95
    assert whole["reliability"]["cautions"][0]["code"] == "counted"
    assert whole["reliability"]["raters"] == []
    html = page.read_text()
    assert "too large to hold" in html
    assert "questions asked at least twice" not in html
    text = re.sub(r"<[^>]*>", "", html)
    assert re.search(r"Three groups, of \d+, \d+ and \d+ objects", text)


def test_bad_input_is_one_line(study, tmp_path: Path, large) -> None:
    counts, bad = tmp_path / "counts.npz", tmp_path / "bad.csv"
    tl.write_counts(tl.Answers(study[0]).count(), counts)
    bad.write_text("a,b,c\na,a,b\n")
    for given, words in (
        (counts, f"{counts} holds counts; analyze needs the statements that were counted"),
        (bad, "appears twice"),
    ):
        assert words in run("analyze", given, status=1).stderr
    for y, words in (
        ({"elsewhere": "a"}, "none of the 1 objects is in the statements"),
        ({"1": "a", "2": "a"}, "all labeled objects are 'a'"),
        ("labels.csv", "a dict by name"),
    ):
        with pytest.raises(LabelError, match=words):
            tl.classify(tl.Answers(study[0]), y, "lensmap")
