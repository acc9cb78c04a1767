"""`trilens simulate`: the file, the truth beside it, and refusals."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from commandline import facts, run
from trilens.files import read_statements
from trilens.simulate import answer


def truth_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def test_statements_and_truth_are_written(tmp_path):
    out = tmp_path / "moons.csv"
    flags = ("--shape", "moons", "-n", 30, "--outliers", 2, "--statements", 500)
    said = facts("simulate", *flags, "-o", out)
    assert (said["statements"], said["objects"], said["kind"]) == (500, 32, "central")
    assert said["outliers"] == ["31", "32"]
    S, names = read_statements(out), [str(i) for i in range(1, 33)]
    assert len(S) == 500
    assert set(S.names) <= set(names)
    truth = truth_of(tmp_path / "moons.truth.csv")
    assert [row["object"] for row in truth] == names
    assert [row["label"] for row in truth] == ["0"] * 15 + ["1"] * 15 + ["outlier"] * 2
    lines = run("simulate", "-n", 5, "--kind", "closer", "--json", "-o", "-").stdout.splitlines()
    assert lines[0] == "anchor,near,far"  # standard output holds statements alone
    assert len(lines) == 31


def test_the_truth_explains_the_statements(tmp_path):
    out, truth = tmp_path / "all.npz", tmp_path / "places.csv"
    run("simulate", "-n", 12, "--dim", 3, "--kind", "odd", "--seed", 5, "-o", out, "--truth", truth)
    X = np.array([[float(row[f"x{j}"]) for j in (1, 2, 3)] for row in truth_of(truth)])
    S = read_statements(out)
    assert (len(S), S.kind) == (220, "odd")
    np.testing.assert_array_equal(answer(S, X).triples[:, 0], S.triples[:, 0])


def test_raters_bring_their_columns(tmp_path):
    out = tmp_path / "survey.csv"
    people = ("--raters", 4, "--careless", 0.25, "--statements", 200, "--noise-param", 0.5)
    run("simulate", "-n", 20, "--shape", "mixture", "--components", 3, *people, "-o", out)
    S = read_statements(out)
    assert S.raters is not None
    assert S.rounds is not None
    assert (S.seconds > 0).all()
    assert {row["label"] for row in truth_of(tmp_path / "survey.truth.csv")} == {"0", "1", "2"}


@pytest.mark.parametrize(
    ("flags", "status", "text"),
    [
        (("-n", 2), 1, "2 objects"),
        (("-n", 5, "--statements", 11), 1, "only 10 questions"),
        (("-n", 9, "--statements", 5, "--sampling", "sampling2"), 1, "ten objects"),
        (("-n", 5, "--truth", "no/such/folder.csv"), 1, "folder"),
        (("-n", 5, "-o", "out.doc"), 1, "ending"),
        (("--error-rate", 2), 2, "--error-rate"),
        (("--kind", "middle"), 2, "--kind"),
        (("--truth", "out.csv"), 2, "different files"),
        (("-n", 0), 2, "-n"),
    ],
)
def test_a_refusal_leaves_nothing_behind(tmp_path, monkeypatch, flags, status, text):
    monkeypatch.chdir(tmp_path)
    assert text in run("simulate", "-o", "out.csv", *flags, status=status).stderr
    assert list(tmp_path.iterdir()) == []
