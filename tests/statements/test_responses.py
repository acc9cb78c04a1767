"""Answers in cblearn's forms, and answers about more than three objects."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from trilens.errors import KindError, StatementError, TrilensError
from trilens.statements import Statements

X = [[0, 1, 2], [3, 1, 2], [0, 3, 1]]


@pytest.mark.parametrize("y", [[1, -1, 1], [True, False, True], np.array([1.0, -1.0, 1.0])])
def test_signs_and_booleans_say_which_of_two_is_nearer(y):
    S = Statements.from_responses(X, y)
    assert S.kind == "closer"
    assert S.triples.tolist() == [[0, 1, 2], [3, 2, 1], [0, 3, 1]]
    assert Statements.from_responses(X, y, kind="closer") == S


def test_without_answers_the_triplets_are_in_order():
    assert Statements.from_responses(X) == Statements(X, kind="closer")


@pytest.mark.parametrize("kind", ["central", "odd"])
def test_positions_single_out_one_of_three(kind):
    S = Statements.from_responses(X, [2, 0, 1], kind=kind, raters=["x", "y", "z"])
    assert S.triples.tolist() == [[2, 0, 1], [3, 1, 2], [3, 0, 1]]
    assert S.kind == kind
    assert S.places.tolist() == [2, 0, 1]
    assert S.raters.tolist() == ["x", "y", "z"]


def test_all_answers_plus_one_are_of_kind_closer_only_where_that_is_said():
    # +1 everywhere may be signs or positions: it is not guessed
    with pytest.raises(KindError, match="need kind='central' or kind='odd'"):
        Statements.from_responses(X, [1, 1, 1])
    assert Statements.from_responses(X, [1, 1, 1], kind="closer").triples.tolist() == X
    assert Statements.from_responses(X, [1, 1, 1], kind="odd").triples[0].tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("y", "kind", "text"),
    [
        ([0, 1, 2], None, "need kind='central' or kind='odd'"),
        ([0, 1, 2], "closer", r"\+1 / -1 or booleans, not positions"),
        ([1, -1, 1], "central", "of kind central an answer is a position"),
        ([True, False, True], "odd", "of kind odd an answer is a position"),
        ([0, 1, 3], "odd", "statement 2: the answer"),
        ([0, 1], "odd", "3 questions and answers of shape"),
        (["a", "b", "c"], "odd", "statement 0: the answer"),
        (None, "odd", "need the position"),
    ],
)
def test_other_answers_are_refused(y, kind, text):
    with pytest.raises(TrilensError, match=text):
        Statements.from_responses(X, y, kind=kind)


def line(objects):
    """Positions on a line, by name."""
    return {name: float(i * i) for i, name in enumerate(objects)}


@pytest.mark.parametrize("asked", ["central", "odd", "nearest", "ranking"])
@pytest.mark.parametrize("k", [3, 4, 6])
def test_true_answers_about_k_objects_imply_true_statements(asked, k):
    names = "abcdef"[:k]
    at = line(names)
    for shown in list(permutations(names))[:: max(1, 60 // k)]:
        ranked = sorted(shown[1:], key=lambda x: abs(at[x] - at[shown[0]]))
        answers = {"nearest": ranked[: k - 2], "ranking": ranked, "central": "b", "odd": names[-1]}
        answer = answers[asked]
        S = Statements.from_questions([shown], [answer], asked)
        if asked in ("central", "odd"):
            assert len(S) == (k - 1) * (k - 2) // 2
            assert {row[0] for row in S} == {answer}
            assert len({frozenset(row) for row in S}) == len(S)
        else:
            assert len(S) == (k - 2 if asked == "nearest" else (k - 1) * (k - 2) // 2)
            for anchor, near, far in S:
                assert anchor == shown[0]
                assert abs(at[near] - at[anchor]) <= abs(at[far] - at[anchor])


def test_what_is_known_of_a_question_is_known_of_its_statements():
    S = Statements.from_questions(
        [[4, 1, 2, 3], [0, 1, 2]], [1, 2], "odd", raters=["x", "y"], seconds=[1.0, np.nan]
    )
    assert S.questions.tolist() == [0, 0, 0, 1]
    assert S.raters.tolist() == ["x", "x", "x", "y"]
    assert S.triples.tolist() == [[1, 4, 2], [1, 4, 3], [1, 2, 3], [2, 0, 1]]
    assert S[2:].questions.tolist() == [0, 1]
    assert S.subset([0, 1, 2]).questions.tolist() == [1]


@pytest.mark.parametrize(
    ("shown", "answer", "asked", "text"),
    [
        (["a", "b", "c"], "d", "odd", "question 0: 'd' is not among"),
        (["a", "b", "c"], "a", "nearest", "question 0: 'a' is not among"),
        (["a", "b", "b"], "a", "odd", "three different objects or more"),
        (["a", "b"], "a", "odd", "three different objects or more"),
        (["a", "b", "c"], ["a", "b"], "central", "one object is the central one, not 2"),
        (["a", "b", "c"], ["b", "b"], "ranking", "not exactly once among"),
        (["a", "b", "c"], ["b"], "ranking", "two objects or more"),
        (["a", "b", "c"], [], "nearest", "not exactly once among"),
        (["a", "b", "c"], ["b", "c"], "nearest", "imply no statement"),
        (["a", "b", "c"], "b", "middle", "asked is 'middle'"),
    ],
)
def test_answers_that_no_question_has_are_refused(shown, answer, asked, text):
    with pytest.raises(TrilensError, match=text):
        Statements.from_questions([shown], [answer], asked)


def test_questions_and_answers_are_as_many():
    with pytest.raises(StatementError, match="1 questions, but 0 answers"):
        Statements.from_questions([["a", "b", "c"]], [], "odd")
