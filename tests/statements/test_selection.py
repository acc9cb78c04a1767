from __future__ import annotations

import numpy as np
import pytest

from trilens.errors import ParameterError
from trilens.statements import Statements, select
from trilens.statements.selection import Condition

S = Statements(
    [[0, 1, 2]] * 6,
    raters=["a", "a", "b", "b", "c", ""],
    rounds=[1, 1, 2, 2, 3, 3],
    seconds=[1.0, 0.1, np.nan, 5.0, 2.0, 0.2],
    kind="central",
)


def test_steps_are_taken_one_by_one():
    found = select(
        S,
        exclude_raters=["c"],
        min_seconds=0.15,
        where=["round <= 2", "country != FR"],
        columns={"country": np.array(["DE", "DE", "DE", "FR", "DE", "DE"])},
    )
    assert found.kept.tolist() == [True, False, True, False, False, False]
    assert [(s.answers, s.left, s.raters_left) for s in found.steps] == [
        (1, 5, 2),
        (1, 4, 2),
        (1, 3, 2),
        (1, 2, 2),
    ]
    assert found.of(S).seconds.tolist()[0] == 1.0
    assert len(found.of(S)) == 2


def test_without_rules_all_is_kept():
    found = select(S)
    assert found.steps == ()
    assert found.of(S) is S


@pytest.mark.parametrize(
    ("text", "values", "held"),
    [
        ("x = 1", ["1", "1.0", "2", ""], [True, True, False, False]),
        ("x != 1", ["1", "", "2", "a"], [False, True, True, True]),
        ("x>=2.5", ["2", "3", "", "a"], [False, True, False, False]),
        ("x < 0", ["-1", "1", "-", "0"], [True, False, False, False]),
        ("name with spaces = a b", ["a b", "a", "", "b"], [True, False, False, False]),
        ("x = ", ["", "1", "", "2"], [True, False, True, False]),
        ("x != ", ["", "1", "", "2"], [False, True, False, True]),
        ("x = 'a'", ["a", "'a'", "", "b"], [True, False, False, False]),
        ('x != "a or b"', ["a", "a or b", "", "b"], [True, False, True, True]),
    ],
)
def test_conditions(text, values, held):
    assert Condition.of(text).holds(np.array(values)).tolist() == held


def test_rounds_stand_in_for_raters():
    by_round = Statements(S.triples, rounds=S.rounds, kind="central")
    assert select(by_round, exclude_raters=[3]).kept.tolist() == [True] * 4 + [False] * 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"exclude_raters": ["z"]}, "no rater is named 'z'"),
        ({"min_seconds": -1}, "min_seconds is -1"),
        ({"where": ["seconds"]}, "such as 'seconds >= 0.5'"),
        ({"where": ["age > 3"]}, "there is no column 'age'"),
        ({"where": ["seconds > soon"]}, "is not a number"),
        ({"where": ["round > 9"]}, "no answer is left of 6"),
        ({"where": ["round = 9"]}, "no row has '9' in column 'round'; the values are 1, 2, 3"),
        ({"where": ["rater != z"]}, r"no row has 'z'.* the values are a, b, c, \(empty\)"),
        ({"where": ["rater = a and round = 1"]}, r"repeat where=, all must hold"),
        ({"where": ["rater = a or b"]}, r"repeat where=, all must hold"),
        ({"where": ["central = a"]}, "column 'central' holds objects"),
        ({"where": ["x = 1"], "columns": {"x": np.array(["1"])}}, "1 values for 6"),
    ],
)
def test_bad_rules(given, words):
    with pytest.raises(ParameterError, match=words):
        select(S, **given)


def test_what_is_not_known_cannot_be_a_rule():
    plain = Statements([[0, 1, 2]], kind="central")
    with pytest.raises(ParameterError, match="needs raters"):
        select(plain, exclude_raters=["a"])
    with pytest.raises(ParameterError, match="needs response times"):
        select(plain, min_seconds=1)
    timed = Statements([[0, 1, 2]] * 2, seconds=[1, 3], kind="central")
    (step,) = select(timed, min_seconds=2).steps
    assert (step.left, step.raters_left) == (1, 0)


def test_times_that_are_not_known_are_empty():
    assert select(S, where="seconds != ").kept.tolist() == [True, True, False, True, True, True]


def test_decimal_commas_are_numbers():
    values = np.array(["1,5", "2,25", "3", "x"], dtype=object)
    assert Condition.of("rt >= 2").holds(values).tolist() == [False, True, True, False]
    assert Condition.of("rt >= 2,2").holds(values).tolist() == [False, True, True, False]
    assert Condition.of("rt = 1.5").holds(values).tolist() == [True, False, False, False]
