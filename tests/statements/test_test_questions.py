"""Test questions for any data: who passed, and what is kept."""

from __future__ import annotations

import pytest

from trilens.errors import ParameterError
from trilens.statements import Statements, keep_passed, passed_tests

ANSWERS = [
    [0, 1, 2],  # round 1: right
    [2, 3, 4],  # round 1: the other test, right
    [1, 0, 2],  # round 2: wrong
    [0, 2, 1],  # round 3: right, and then wrong
    [2, 0, 1],
    [3, 0, 1],  # round 4: not asked
    [0, 2, 1],  # round 5: right, the other test wrong
    [3, 2, 4],
]
ROUNDS = [1, 1, 2, 3, 3, 4, 5, 5]
S = Statements(ANSWERS, names=list("abcde"), rounds=ROUNDS, kind="central")


def test_a_round_passes_when_every_test_that_was_asked_is_right():
    assert passed_tests(S, [["a", "b", "c"]]).tolist() == [1, 5]
    assert passed_tests(S, [["a", "c", "b"], ["c", "d", "e"]]).tolist() == [1]
    assert passed_tests(S, [[2, 4, 3]]).tolist() == [1]


def test_what_is_kept():
    kept = keep_passed(S, [["a", "b", "c"]])
    assert kept.rounds.tolist() == [1, 1, 5, 5]


def test_by_raters_and_for_other_kinds():
    by_rater = Statements(ANSWERS, raters=["x"] * 3 + ["y"] * 5, kind="odd")
    assert passed_tests(by_rater, [[2, 3, 4]], by="raters").tolist() == ["x"]
    closer = Statements([[0, 1, 2], [0, 2, 1], [1, 0, 2]], rounds=[1, 2, 3], kind="closer")
    assert passed_tests(closer, [[0, 1, 2]]).tolist() == [1]


@pytest.mark.parametrize(
    ("tests", "by", "said"),
    [
        ([[0, 1, 2]], "raters", "have no raters; give them, or by='rounds'"),
        ([[0, 1]], "rounds", "names three objects"),
        ([], "rounds", "names three objects"),
        ([["a", "b", "z"]], "rounds", "no object is named 'z'"),
        ([[0, 1, 2]], "people", "by is 'people'"),
        (3, "rounds", "must be a list of triples"),
    ],
)
def test_what_is_refused(tests, by, said):
    with pytest.raises(ParameterError, match=said):
        passed_tests(S, tests, by)
