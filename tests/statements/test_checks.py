"""Catch questions: an object is shown twice; kept out of the findings, used to judge raters."""

from __future__ import annotations

import json

import numpy as np
import pytest

from commandline import run
from trilens.answers import Answers
from trilens.counts.counting import count_files
from trilens.errors import ParameterError, StatementError
from trilens.files import read_statements, scan_statements

ROWS = [("a", "b", "c", "r1"), ("b", "c", "d", "r1"), ("c", "d", "a", "r2"), ("d", "a", "b", "r2")]
SHOWN, SIDES = "shown_1,shown_2,shown_3,chosen", "Center,Left,Right,Answer"
CHECKS = [("a", "a", "b", "r1"), ("b", "c", "b", "r2")]  # the anchor was found, and was not


def write(path, header, rows):
    path.write_text(header + "\n" + "".join(",".join(row) + "\n" for row in rows))
    return path


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "a.csv", "anchor,near,far,rater", [*ROWS * 5, *CHECKS])


def test_they_are_set_aside_and_told(file):
    told = []
    S = read_statements(file, tell=told.append)
    assert len(S) == 20
    assert told[0].checks.by_rater() == {"r1": (1, 1), "r2": (0, 1)}
    assert str(told[0]).endswith(
        "2 rows show an object twice and count as test questions (50 % right)"
    )
    assert told[0].to_dict()["checks"] == 2
    assert sum(map(len, scan_statements(file, chunk_rows=7))) == 20
    counts = count_files(file)
    assert (counts.statements, counts.n_skipped) == (20, 2)
    assert "2 rows show an object twice" in counts.skipped[0]


def test_raters_are_judged_by_them(file):
    answers = Answers(file, min_checks=0.8)
    assert set(answers.read().raters.tolist()) == {"r1"}
    assert answers.selection.steps[0].rule == "fewer than 80 % of the checks right"
    assert answers.selection.steps[0].answers == 10
    found = json.loads(run("describe", file, "--min-checks", "0.8", "--json").stdout)
    assert found["statements"] == 10
    with pytest.raises(ParameterError, match="min_checks needs raters and catch questions"):
        Answers({"central": ["a"], "other_1": ["b"], "other_2": ["c"]}, min_checks=0.5).read()


@pytest.mark.parametrize(
    ("header", "kind", "checks", "right"),
    [
        ("odd,other_1,other_2", "odd", [("a", "b", "b"), ("b", "b", "a")], [1, 0]),
        ("central,other_1,other_2", "central", [("a", "b", "b"), ("b", "b", "a")], [0, 1]),
        ("winner,head,loser", "closer", [("a", "b", "a"), ("b", "b", "c")], [-1, 1]),
        (SHOWN, "odd", [("a", "a", "b", "b"), ("c", "b", "b", "b")], [1, 0]),
        (SHOWN, "odd", [("a", "a", "b", "3"), ("c", "b", "b", "2")], [1, 0]),
        (SIDES, "closer", [("a", "a", "b", "a"), ("a", "b", "a", "b")], [1, 0]),
        (SIDES, "closer", [("a", "a", "b", "left"), ("a", "b", "a", "left")], [1, 0]),
    ],
)  # fmt: skip
def test_what_is_right(tmp_path, header, kind, checks, right):
    plain = [("a", "b", "c"), ("b", "c", "d"), ("c", "d", "a"), ("d", "a", "b")]
    answer = checks[0][3] if len(checks[0]) == 4 else None
    if answer is not None:
        at = {"3": "123", "left": ["left", "right", "left", "right"]}.get(answer)
        plain = [(*row, at[i % len(at)] if at else row[1 + i % 2]) for i, row in enumerate(plain)]
    told = []
    read_statements(
        write(tmp_path / "a.csv", header, [*plain * 3, *checks]), kind=kind, tell=told.append
    )
    assert told[0].checks.right.tolist() == right


def test_many_are_a_mistake(tmp_path):
    file = write(tmp_path / "a.csv", "central,other_1,other_2,rater", [*ROWS, *CHECKS])
    with pytest.raises(StatementError, match="appears twice"):
        read_statements(file)


def test_faces_read_with_one_command(data_dir):
    found = json.loads(run("describe", data_dir / "faces" / "faces.csv", "--json").stdout)
    assert (found["statements"], found["reading"]["checks"]) == (19_095, 1_145)
    answers = Answers(data_dir / "faces" / "faces.csv")
    right = answers.checks.right
    check = answers.column("sampleAlg") == "check"
    assert not check.any()  # all of them are set aside, and nothing else
    assert np.bincount(right).tolist() == [30, 1115]
