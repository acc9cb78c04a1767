from __future__ import annotations

import numpy as np
import pytest

import trilens as tl
from trilens.errors import ParameterError, TrilensError
from trilens.statements import KINDS

POINTS = np.random.default_rng(0).normal(size=(9, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_every_question_gets_the_answer_that_the_points_give(kind):
    every = tl.simulate_statements(POINTS, kind=kind, random_state=0)
    order = {"closer": [0, 2, 1]}.get(kind, [2, 0, 1])
    asked = tl.Statements(every.triples[::-1, order], kind=kind)
    answered = tl.simulate.answer(asked, POINTS)
    assert answered.kind == kind
    assert {tuple(row) for row in answered.triples.tolist()} == {
        tuple(row) for row in every.triples.tolist()
    }
    np.testing.assert_array_equal(np.sort(answered.triples), np.sort(asked.triples))
    if kind == "closer":
        np.testing.assert_array_equal(answered.triples[:, 0], asked.triples[:, 0])


def test_who_is_asked_is_kept_and_errors_are_drawn_anew():
    S = tl.Statements([("a", "b", "c")] * 3000, raters=np.arange(3000))
    T = tl.simulate.answer(S, [[0.0], [1.0], [3.0]], error_rate=0.3, random_state=1)
    np.testing.assert_array_equal(T.raters, S.raters)
    assert T.names == S.names
    wrong = (T.triples[:, 0] != 1).mean()
    assert 0.27 < wrong < 0.33


def test_ties_are_drawn_or_dropped():
    X = [[0.0], [1.0], [2.0], [9.0]]
    asked = tl.Statements([[1, 0, 2], [1, 0, 3]], kind="closer", raters=["x", "y"])
    both = {tl.simulate.answer(asked, X, random_state=i).triples[0, 1] for i in range(20)}
    assert both == {0, 2}
    kept = tl.simulate.answer(asked, X, ties="drop")
    assert kept.triples.tolist() == [[1, 0, 3]]
    assert kept.raters.tolist() == ["y"]


@pytest.mark.parametrize(
    ("questions", "options", "text"),
    [
        ([[0, 1, 9]], {}, "about 10 objects, but only 9 are given"),
        ([[0, 1, 2]], {"kind": "nearer"}, "kind is 'nearer'"),
        ([[0, 1, 2]], {"error_rate": 2}, "error_rate is 2"),
    ],
)
def test_questions_that_have_no_answer_are_refused(questions, options, text):
    with pytest.raises(TrilensError, match=text) as caught:
        tl.simulate.answer(questions, POINTS, **options)
    assert isinstance(caught.value, ParameterError)
