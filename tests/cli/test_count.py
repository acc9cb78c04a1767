"""`trilens count`, `trilens merge`, and counts where statements would stand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import trilens as tl
from commandline import facts, run
from trilens import answers
from trilens.simulate import mixture, simulate_statements


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    drawn = mixture(40, [[0, 0], [9, 0]], random_state=1)
    S = simulate_statements(drawn.points, 6000, random_state=2)
    named = tl.Statements(S.triples, names=[f"n{i}" for i in range(40)], kind="central")
    for i, rows in enumerate(np.split(np.arange(6000), 3)):
        tl.write_statements(named.take(rows), folder / f"{i}.csv")
    tl.write_statements(named, folder / "all.parquet")
    labels = [f"n{i},{'lr'[drawn.labels[i]]}" for i in range(0, 40, 2)]
    (folder / "labels.csv").write_text("object,label\n" + "\n".join(labels) + "\n")
    truth = {f"n{i}": "lr"[drawn.labels[i]] for i in range(1, 40, 2)}
    (folder / "truth.json").write_text(json.dumps(truth))
    return folder


@pytest.fixture(scope="module")
def counts(study):
    out = study / "counts.npz"
    run("count", study / "all.parquet", "--pairs", "--classes", study / "labels.csv", "-o", out)
    return out


def test_counts_of_days_merge_to_those_of_the_week(study, tmp_path):
    for i in range(3):
        told = facts("count", study / f"{i}.csv", "-o", tmp_path / f"{i}.npz")
        assert (told["statements"], told["kind"], told["skipped"]) == (2000, "central", 0)
    days = [tmp_path / f"{i}.npz" for i in range(3)]
    told = facts("merge", *days, "-o", tmp_path / "week.npz")
    assert (told["statements"], told["objects"], told["files"]) == (6000, 40, 3)
    twice = run("merge", days[0], *days, "-o", tmp_path / "twice.npz", status=2)
    assert "0.npz is given twice; its answers would count twice" in twice.stderr
    whole = tmp_path / "whole.npz"
    files = [study / f"{i}.csv" for i in range(3)]
    line = ("count", *files, "--cluster", "local:2", "--checkpoint", tmp_path / "kept", "-o", whole)
    assert [facts(*line)["resumed"] for _ in range(2)] == [0, 3]
    assert (tmp_path / "week.npz").read_bytes() == whole.read_bytes()
    expected = facts("depth", study / "all.parquet")["depth"]
    assert facts("depth", whole)["depth"] == expected


def test_the_questions_that_counts_answer(study, counts, tmp_path):
    file = study / "all.parquet"
    assert facts("depth", counts) == facts("depth", file)
    maps = [tmp_path / "a.csv", tmp_path / "b.csv"]
    told = facts("embed", counts, "-o", maps[0])
    facts("embed", file, "--method", "lensmap", "-o", maps[1])
    assert told == {"method": "lensmap", "dim": 2, "violations": None, "error_rate": None}
    assert maps[0].read_text() == maps[1].read_text()
    for line in (["medoid"], ["outliers", "--n", 3], ["graph", "-o", tmp_path / "graph.csv"]):
        run(line[0], counts, *line[1:])
    known, whole = facts("describe", counts), facts("describe", file)
    for name in ("kind", "statements", "objects", "triples_possible", "appearances"):
        assert known[name] == whole[name]
    assert known["repeated_triples"] is None
    assert "triples asked again" in known["not_in_counts"]
    told = run("describe", counts)
    assert "not in counts" in told.stdout
    assert "describe the statements" in told.stderr


def test_classes_from_counts(study, counts):
    truth = json.loads((study / "truth.json").read_text())
    told = facts("classify", counts, "--labels", study / "labels.csv")["labels"]
    assert set(told) == set(truth)
    assert sum(told[name] == truth[name] for name in truth) >= 18
    printed = run("classify", counts, "--labels", study / "labels.csv", "-o", "-").stdout
    assert printed.splitlines()[0] == '"object","label","predicted"'
    assert len(printed.splitlines()) == 41


def test_what_comes_later_and_through_a_pipe(tmp_path):
    folder, out = tmp_path / "in", tmp_path / "c.npz"
    folder.mkdir()
    line = ["count", "--follow", folder, "--once", "-o", out]
    (folder / "a.csv").write_text("a,b,c\n")
    assert facts(*line)["counted"] == 1
    told = facts(*line)
    assert (told["counted"], told["files"], told["statements"]) == (0, 1, 1)
    assert (told["changed"], told["skipped"], told["left_out"]) == ([], 0, [])
    assert facts("count", "-", "-o", out, stdin="a,b,c\nb,c,a\n")["statements"] == 2
    assert tl.read_counts(out).names == ("a", "b", "c")


def test_large_files_are_counted_as_they_come(study, tmp_path, monkeypatch):
    # that questions find the same, tests/test_ask.py says
    file = study / "all.parquet"
    small = {command: facts(command, file) for command in ("depth", "describe")}
    monkeypatch.setattr(answers, "STREAMED_BYTES", 0)
    for command, whole in small.items():
        large = run(command, file, "--json")
        assert "counted 6,000 statements" in large.stderr
        told = json.loads(large.stdout)
        assert all(told[name] == whole[name] for name in told if told[name] and name in whole)
    S = tl.Statements([[0, 1, 2], [1, 2, 0]], raters=["ann", "bob"], kind="central")
    tl.write_statements(S, tmp_path / "s.parquet")
    run("describe", tmp_path / "s.parquet", "-o", tmp_path / "raters.csv")
    assert '"bob",1,' in (tmp_path / "raters.csv").read_text()


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("count -o out.npz", 2, ""),
        ("count 0.csv --follow . -o out.npz", 2, ""),
        ("count 0.csv", 2, ""),
        ("count 0.csv --bad-rows out.csv -o out.npz", 2, ""),
        ("count 0.csv --cluster moon -o out.npz", 1, "cluster is 'moon'"),
        ("count 0.csv bad.parquet -o out.npz", 1, "bad.parquet is truncated"),
        ("graph plain.npz -o out.csv", 1, "--pairs"),
        ("medoid counts.npz --method choice", 1, "needs the statements"),
        ("medoid counts.npz --labels labels.csv", 1, "needs the statements"),
        ("classify counts.npz --labels labels.csv --method krng", 1, "krng needs the statements"),
        ("classify counts.npz --labels other.csv --method depth", 1, "counted under other labels"),
        ("cluster counts.npz", 1, "--n-clusters"),
        ("depth counts.npz --kind odd", 2, ""),
        ("describe counts.npz -o out.csv", 2, "which counts do not contain"),
        ("medoid cut.npz", 1, "was cut short or damaged"),
    ],
)
def test_what_cannot_be_done_writes_nothing(study, counts, monkeypatch, line, status, said):
    monkeypatch.chdir(study)
    Path("bad.parquet").write_bytes(b"PAR1 and nothing more")
    Path("other.csv").write_text("object,label\nn0,l\nn2,r\nn3,l\n")
    Path("cut.npz").write_bytes(counts.read_bytes()[:-30])
    tl.write_counts(tl.read_statements("0.csv"), "plain.npz")
    assert said in run(*line.split(), status=status).stderr
    assert list(study.glob("out.*")) == []


def test_bad_files_are_skipped_and_told(study, tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing more")
    bad, out = tmp_path / "bad.parquet", tmp_path / "c.npz"
    told = facts("count", study / "0.csv", bad, "-o", out, "--skip-bad")
    assert (told["statements"], told["skipped"]) == (2000, 1)
    assert "bad.parquet is left out" in told["left_out"][0]
