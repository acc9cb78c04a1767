from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import drawn
from trilens.errors import KindError, ParameterError
from trilens.statements import Statements, concatenate
from trilens.statements.combine import as_kind

import reference


def question_and_answer(row, kind):
    if kind == "closer":
        return (row[0], *sorted(row[1:])), row[1]
    return tuple(sorted(row)), row[0]


@given(drawn.statements(max_objects=5), st.integers(0, 3))
def test_reduce_takes_a_majority_answer_of_every_triple(S, seed):
    votes = {}
    for row in S.triples.tolist():
        question, answer = question_and_answer(row, S.kind)
        votes.setdefault(question, Counter())[answer] += 1
    reduced = S.reduce(random_state=seed)
    found = dict(question_and_answer(row, S.kind) for row in reduced.triples.tolist())
    assert len(reduced) == len(found) == len(votes)
    for question, answer in found.items():
        assert votes[question][answer] == max(votes[question].values())


def test_ties_are_broken_at_random_under_the_seed():
    S = Statements([[0, 1, 2], [1, 0, 2]], kind="central")
    answers = [int(S.reduce(random_state=seed).triples[0, 0]) for seed in range(40)]
    assert set(answers) == {0, 1}
    assert answers == [int(S.reduce(random_state=seed).triples[0, 0]) for seed in range(40)]


@given(st.integers(3, 7), st.integers(0, 100))
def test_triplets_of_true_answers_hold_in_the_dissimilarities(n, seed):
    D = np.random.default_rng(seed).random((n, n))
    D = D + D.T
    for kind, answer in (("central", reference.most_central), ("odd", reference.odd_one)):
        rows = []
        for triple in combinations(range(n), 3):
            x = answer(D, *triple)
            rows.append([x, *(y for y in triple if y != x)])
        S = Statements(rows, kind=kind)
        anchor, near, far = S.to_triplets().T
        assert len(anchor) == 2 * len(S)
        assert (D[anchor, near] < D[anchor, far]).all()


@given(st.integers(3, 6), st.integers(0, 100))
def test_complete_comparisons_give_the_central_and_the_odd_object(n, seed):
    D = np.random.default_rng(seed).random((n, n))
    D = D + D.T
    triplets = [
        (a, b, c) if D[a, b] < D[a, c] else (a, c, b)
        for a in range(n)
        for b, c in combinations([x for x in range(n) if x != a], 2)
    ]
    S = Statements(triplets, n_objects=n, kind="closer")
    for decided, answer in (
        (S.to_central(), reference.most_central),
        (S.to_odd(), reference.odd_one),
    ):
        found = {tuple(sorted(row)): row[0] for row in decided.triples.tolist()}
        assert found == {t: answer(D, *t) for t in combinations(range(n), 3)}


def test_a_cycle_or_a_tie_decides_nothing():
    cycle = Statements([[0, 1, 2], [1, 2, 0], [2, 0, 1]], kind="closer")
    assert len(cycle.to_central()) == len(cycle.to_odd()) == 0
    tie = Statements([[1, 0, 2], [1, 2, 0], [2, 0, 1]], kind="closer")
    assert len(tie.to_central()) == 0


def test_as_kind_keeps_the_rater_and_refuses_what_is_not_implied():
    S = Statements([[0, 1, 2], [1, 0, 2]], raters=["x", "y"], kind="central")
    T = as_kind(S, "closer")
    assert T.raters.tolist() == ["x", "x", "y", "y"]
    with pytest.raises(KindError, match="does not determine"):
        as_kind(S, "odd")


@given(drawn.statements(kinds=["central"]), drawn.statements(kinds=["central"]))
def test_concatenate_unnamed(S, T):
    both = concatenate([S, T])
    assert both.triples.tolist() == S.triples.tolist() + T.triples.tolist()
    assert both.n_objects == max(S.n_objects, T.n_objects)


def test_concatenate_keeps_columns_only_where_all_have_them():
    S = Statements([[0, 1, 2]], seconds=[1.0], raters=["x"], kind="central")
    T = Statements([[0, 1, 2]], seconds=[2.0], kind="central")
    both = concatenate([S, T])
    assert both.seconds.tolist() == [1.0, 2.0]
    assert both.raters is None


def test_concatenate_refuses_two_kinds_and_nothing():
    with pytest.raises(KindError, match="central and odd"):
        concatenate([Statements([[0, 1, 2]], kind="central"), Statements([[0, 1, 2]], kind="odd")])
    with pytest.raises(ParameterError):
        concatenate([])
