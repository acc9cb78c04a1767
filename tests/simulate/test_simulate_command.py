"""`trilens simulate`: the file, the truth beside it, and refusals."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

from trilens.cli.simulate import command
from trilens.errors import FormatError, ParameterError
from trilens.files import read_statements


def run(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments], catch_exceptions=False)


def truth_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_statements_and_truth_are_written(tmp_path):
    out = tmp_path / "moons.csv"
    done = run(
        "--shape", "moons", "-n", 30, "--outliers", 2, "--statements", 500, "--json", "-o", out
    )
    assert done.exit_code == 0
    facts = json.loads(done.stdout)
    assert (facts["statements"], facts["objects"], facts["kind"]) == (500, 32, "central")
    assert facts["outliers"] == ["31", "32"]
    S = read_statements(out)
    assert len(S) == 500
    assert set(S.names) <= {str(i) for i in range(1, 33)}
    truth = truth_of(tmp_path / "moons.truth.csv")
    assert [row["object"] for row in truth] == [str(i) for i in range(1, 33)]
    assert [row["label"] for row in truth] == ["0"] * 15 + ["1"] * 15 + ["outlier"] * 2


def test_the_truth_explains_the_statements(tmp_path):
    out, truth = tmp_path / "all.npz", tmp_path / "places.csv"
    run("-n", 12, "--dim", 3, "--kind", "odd", "--seed", 5, "-o", out, "--truth", truth)
    X = np.array([[float(row[f"x{j}"]) for j in (1, 2, 3)] for row in truth_of(truth)])
    S = read_statements(out)
    assert (len(S), S.kind) == (220, "odd")
    for odd, one, two in S.triples.tolist():
        near = np.linalg.norm(X[one] - X[two])
        assert near < min(np.linalg.norm(X[odd] - X[one]), np.linalg.norm(X[odd] - X[two]))


def test_raters_bring_their_columns(tmp_path):
    out = tmp_path / "survey.csv"
    run(
        *("-n", 20, "--shape", "mixture", "--components", 3, "--raters", 4, "--careless", 0.25),
        *("--statements", 200, "--noise-param", 0.5, "-o", out),
    )
    S = read_statements(out)
    assert S.raters is not None
    assert S.rounds is not None
    assert (S.seconds > 0).all()
    assert {row["label"] for row in truth_of(tmp_path / "survey.truth.csv")} == {"0", "1", "2"}


def test_standard_output_holds_statements_alone():
    done = run("-n", 5, "--kind", "closer", "--json", "-o", "-")
    lines = done.stdout.splitlines()
    assert lines[0] == "anchor,near,far"
    assert len(lines) == 31


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("-n", 2), ParameterError, "2 objects"),
        (("-n", 5, "--statements", 11), ParameterError, "only 10 questions"),
        (("-n", 9, "--statements", 5, "--sampling", "sampling2"), ParameterError, "ten objects"),
        (("-n", 5, "--truth", "no/such/folder.csv"), FormatError, "folder"),
        (("-n", 5, "-o", "out.doc"), FormatError, "ending"),
    ],
)
def test_a_refusal_leaves_nothing_behind(tmp_path, monkeypatch, arguments, error, text):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=text):
        run("-o", "out.csv", *arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "flags", [("--error-rate", 2), ("--kind", "middle"), ("--truth", "x.csv"), ("-n", 0)]
)
def test_wrong_flags_are_status_2(flags, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*flags, "-o", "x.csv").exit_code == 2
    assert list(tmp_path.iterdir()) == []
