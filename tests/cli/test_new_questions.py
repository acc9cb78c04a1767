"""`hierarchy`, `embed --distances`, `--by`, `individuals`; fits in place of files, and `place`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import trilens as tl
from commandline import facts, run
from featured_study import study
from people_who_differ import survey
from trilens import write_statements
from trilens.errors import FormatError
from trilens.files import read_vectors
from trilens.simulate import simulate_statements


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Two groups of objects, asked about by eight raters of two countries."""
    points = np.random.default_rng(0).normal(size=(16, 2)) + 8 * (np.arange(16) < 8)[:, None]
    S = simulate_statements(points, 480, kind="odd", random_state=1)
    path = tmp_path_factory.mktemp("questions") / "answers.csv"
    with path.open("w") as out:
        out.write("odd,other_1,other_2,rater,country\n")
        for i, (a, b, c) in enumerate(S.triples.tolist()):
            out.write(f"o{a},o{b},o{c},{i % 8},{'DE' if i % 8 < 4 else 'FR'}\n")
    return path


def test_a_tree_is_drawn_written_and_told(file, tmp_path):
    newick, drawn = tmp_path / "tree.nwk", tmp_path / "tree.svg"
    found = facts("hierarchy", file, "-o", newick)
    assert newick.read_text().strip() == found["newick"]
    assert {frozenset(branch) for branch in found["claimed"]} >= {
        frozenset(f"o{i}" for i in range(8)),
        frozenset(f"o{i}" for i in range(8, 16)),
    }
    done = run("hierarchy", file, "-o", drawn)
    assert drawn.read_text().startswith("<?xml")
    assert "The objects form two groups" in done.stderr
    assert f"wrote {drawn}" in done.stderr
    header, *rows = done.stdout.splitlines()
    assert header.split() == ["branch", "objects", "height", "support"]
    assert len(rows) >= 2


@pytest.mark.slow
def test_raters_are_compared(tmp_path):
    people, out = tmp_path / "answers.csv", tmp_path / "raters.csv"
    write_statements(survey(["a"] * 6 + ["b"] * 6, n=16, each=80), people)
    done = run("individuals", people, "-o", out)
    assert "12 raters were compared; they see the objects differently" in done.stderr
    header, *rows = out.read_text().splitlines()
    assert header.startswith('"rater","answers","group"')
    assert len(rows) == 12
    found = facts("individuals", people)
    assert found["differ"]
    assert found["sentences"][0] in done.stderr


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("hierarchy FILE -o tree.doc", 2, "cannot tell the format of tree.doc"),
        ("hierarchy FILE -o tree", 2, "use one of .svg, .png, .pdf, .nwk"),
        ("hierarchy FILE --images nowhere -o tree.png", 1, "the folder nowhere of --images"),
        ("embed FILE", 2, "say what to write"),
        ("embed FILE --distances d.doc", 1, "unknown ending .doc for a matrix of distances"),
        ("embed FILE --distances d.csv --comparisons", 2, "cannot be used with --comparisons"),
        ("embed FILE --distances FILE", 1, "is an input file"),
        # before anything is fitted
        ("fit FILE -o a.csv", 2, "a fit ends in .fit, not .csv"),
        ("analyze FILE --by planet --json", 1, "no column 'planet'"),
        ("analyze FILE --by odd --json", 1, "column 'odd' holds objects"),
    ],
)
def test_what_cannot_be_done_is_refused_first(file, tmp_path, monkeypatch, line, status, words):
    monkeypatch.chdir(tmp_path)
    before = file.read_bytes()
    assert words in run(*line.replace("FILE", str(file)).split(), status=status).stderr
    assert list(tmp_path.iterdir()) == []
    assert file.read_bytes() == before


def test_distances_and_coordinates_at_once(file, tmp_path):
    out, coordinates = tmp_path / "d.csv", tmp_path / "map.csv"
    done = run("embed", file, "--distances", out, "-o", coordinates)
    assert f"wrote {tmp_path / 'd.errors.csv'}" in done.stderr
    lines = out.read_text().splitlines()
    assert sorted(lines[0].split(",")) == sorted(["", *(f"o{i}" for i in range(16))])
    assert len(lines) == 17
    assert len(read_vectors(coordinates)) == 16  # and is read back
    models = tmp_path / "models.json"
    done = run("evaluate", file, "--distances", out, "--embedding", coordinates, "-o", models)
    assert "objects matched by name" in done.stderr
    for row in json.loads(models.read_text()):
        assert row["from"] <= row["accuracy"] <= row["to"]
        assert row["accuracy"] > 0.9
    # of a map without errors, in another format and on the screen
    found = facts("embed", file, "--distances", tmp_path / "d.h5", "--method", "lensmap")
    assert (tmp_path / "d.h5").stat().st_size > 0
    assert len(found["distances"]) == 16
    assert found["standard_errors"] is None
    done = run("embed", file, "--distances", "-", "--method", "lensmap")
    assert len(done.stdout.splitlines()) == 17
    assert "without standard errors" in done.stderr


@pytest.mark.slow
def test_groups_are_compared_by_a_column(file, tmp_path):
    some, out = tmp_path / "some.csv", tmp_path / "r.html"
    lines = file.read_text().splitlines()
    # the last answer has no group: that is said on the screen and on the page
    some.write_text("\n".join([*lines[:-1], lines[-1].removesuffix("FR")]) + "\n")
    done = run("analyze", some, "--by", "country", "-o", out, "--json")
    compared = json.loads(done.stdout)["compare_groups"]
    for told in (done.stderr, out.read_text(encoding="utf-8")):
        assert "1 answer without a group was left out." in told
    assert compared["by"] == "country"
    assert [group["name"] for group in compared["groups"]] == ["DE", "FR"]
    assert compared["p_value"] > 0.01


NAMES = [f"o{i}" for i in range(30)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Answers about 27 of 30 objects and the others, features of all, and a fit of the 27."""
    path = tmp_path_factory.mktemp("maps")
    _, F, S, _ = study()
    new = (S.triples >= 27).any(axis=1)
    old = tl.Statements(S.triples[~new], 27, names=NAMES[:27], kind="central")
    tl.write_statements(old, path / "old.csv")
    tl.write_statements(
        tl.Statements(S.triples[new], 30, names=NAMES, kind="central"), path / "new.csv"
    )
    np.savez(path / "features.npz", names=NAMES, vectors=F)
    np.save(path / "nameless.npy", F[:27])
    M = tl.ChoiceMap(2, l2=0.1, feature_share={"features": 0.9})
    M.fit(old, features=dict(zip(NAMES[:27], F[:27], strict=True)))
    M.fit_.save(path / "study.fit")
    return path


def test_a_fit_is_written_and_serves_the_questions(folder):
    written = facts("fit", folder / "old.csv", "--dim", 1, "-o", folder / "line.fit")
    assert written["dim"] == 1
    assert tl.load(folder / "line.fit").names == tl.read_statements(folder / "old.csv").names
    fitted = tl.load(folder / "study.fit")
    found = facts("medoid", folder / "study.fit")
    assert found == json.loads(json.dumps(tl.medoid(fitted).to_dict()))
    assert facts("describe", folder / "study.fit")["objects"] == 27
    said = run("medoid", folder / "study.fit", "--kind", "odd", status=2).stderr
    assert "--kind cannot be used with a fit" in said
    run("analyze", folder / "line.fit", "-o", folder / "report.html")
    assert "What the answers in line say" in (folder / "report.html").read_text()
    run("reliability", folder / "study.fit", "-o", folder / "reliability.html")
    assert "a fit already" in run("fit", folder / "line.fit", "-o", "x.fit", status=2).stderr


def test_new_objects_are_placed(folder):
    found = facts("place", folder / "study.fit", folder / "new.csv")["places"]
    assert {row["object"] for row in found} == {"o27", "o28", "o29"}
    assert all(row["answers"] > 0 for row in found)
    by_features = facts(
        *("place", folder / "study.fit", "--features", folder / "features.npz"),
        *("-o", folder / "all.fit"),
    )["places"]
    assert [row["answers"] for row in by_features] == [0, 0, 0]
    assert tl.load(folder / "all.fit").n_objects == 30
    run("place", folder / "study.fit", status=2)
    run("place", folder / "study.fit", folder / "old.csv", status=1)
    said = run("medoid", folder / "old.csv", "--features", folder / "nameless.npy", status=2).stderr
    assert "--objects" in said
    table = run("place", folder / "study.fit", folder / "new.csv", "-o", "-").stdout.splitlines()
    assert table[0].replace('"', "") == "object,x1,x2,error1,error2,answers"


def test_a_fit_is_a_model_to_evaluate(folder):
    found = facts("evaluate", folder / "old.csv", folder / "study.fit", "--no-align")
    fitted, S = tl.load(folder / "study.fit"), tl.read_statements(folder / "old.csv")
    vectors = dict(zip(fitted.names, fitted.map.X, strict=True))
    assert found["accuracy"] == pytest.approx(tl.evaluate(S, embedding=vectors).accuracy)
    said = run("evaluate", folder / "old.csv", folder / "study.fit", "--no-align").stderr
    assert "study was fitted to these answers" in said
    drawn = tl.simulate_statements(fitted.map.X, 300, kind=S.kind, random_state=5)
    new = tl.Statements(drawn.triples, names=fitted.names, kind=S.kind)
    tl.write_statements(new, folder / "others.csv")
    said = run("evaluate", folder / "others.csv", folder / "study.fit", "--no-align").stderr
    assert "fitted to these answers" not in said


def test_a_file_that_is_called_a_fit_is_never_a_table(folder, tmp_path):
    np.savez(tmp_path / "foreign.npz", triples=[[0, 1, 2]], kind="odd")
    for content in (
        b"a,b,c\nb,c,d\n",
        (folder / "study.fit").read_bytes()[:-200],
        (tmp_path / "foreign.npz").read_bytes(),
    ):
        file = tmp_path / "x.fit"
        file.write_bytes(content)
        for words in (["medoid", file], ["evaluate", folder / "old.csv", file]):
            assert "x.fit is no fit" in run(*words, status=1).stderr
        with pytest.raises(FormatError, match=r"x\.fit is no fit"):
            tl.medoid(file)
        with pytest.raises(FormatError, match=r"x\.fit is a fit, by its ending, and no table"):
            tl.read_statements(file)
    # nor is a sound one read as answers whose kind is not known
    for words in (
        ["columns", folder / "study.fit"],
        ["count", folder / "study.fit", "-o", tmp_path / "c.npz"],
        ["evaluate", folder / "old.csv", "--answers", folder / "study.fit"],
    ):
        assert "is a fit, by its ending" in run(*words, status=1).stderr


@pytest.mark.slow
def test_questions_take_features(folder):
    given = ("--features", folder / "features.npz")
    S = tl.read_statements(folder / "old.csv")
    _, F, _, _ = study()
    named = dict(zip(NAMES, F, strict=True))
    found = facts("medoid", folder / "old.csv", *given)
    assert found["medoid"] == tl.fit(S, features={"features": named}).medoid().name
    shares = facts("fit", folder / "old.csv", *given, "-o", folder / "f.fit")["feature_shares"]
    assert shares["features"] > 0
