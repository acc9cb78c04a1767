"""Answers: against the definition, with ties, and the shares of Noise model I."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import trilens as tl
from trilens.errors import ParameterError
from trilens.simulate import simulate_statements
from trilens.simulate.answers import Truth, answered
from trilens.simulate.triples import n_questions
from trilens.statements import KINDS

import reference

pytestmark = pytest.mark.first
#: False-alarm rate of each statistical test; the seeds are fixed.
ALPHA = 1e-4


def metric_matrix(n, seed, levels=None):
    """Random dissimilarities; with ``levels``, integers with many ties."""
    rng = np.random.default_rng(seed)
    D = rng.random((n, n)) if levels is None else rng.integers(0, levels, (n, n))
    D = np.triu(D, 1)
    return D + D.T


@st.composite
def semimetrics(draw):
    n, most = draw(st.integers(3, 8)), draw(st.sampled_from([1, 3, 50]))
    values = draw(st.lists(st.integers(0, most), min_size=n * n, max_size=n * n))
    D = np.triu(np.array(values).reshape(n, n), 1)
    return (D + D.T).astype(draw(st.sampled_from([np.uint8, np.int64, np.float32, np.float64])))


def expected(D, kind):
    """Every statement without a tie, by the definitions, as a set."""
    if kind == "closer":
        every = itertools.permutations(range(len(D)), 3)
        return {(a, near, far) for a, near, far in every if D[a, near] < D[a, far]}
    choose = reference.most_central if kind == "central" else reference.odd_one
    found = {(choose(D, *t), *t) for t in itertools.combinations(range(len(D)), 3)}
    return {(x, *(y for y in t if y != x)) for x, *t in found if x is not None}


@pytest.mark.parametrize("kind", KINDS)
@given(D=semimetrics())
def test_all_statements_without_ties_are_those_of_the_definition(kind, D):
    S = simulate_statements(D, kind=kind, ties="drop", random_state=0)
    assert len(S) == len(expected(D, kind))
    assert set(map(tuple, S.triples.tolist())) == expected(D, kind)
    if kind == "central":  # so their counts are the exact lens depth and lens counts
        singled, _ = reference.count_central(S.triples, len(D))
        third, _ = reference.count_pairs(S.triples, len(D))
        assert singled.tolist() == reference.exact_lens_depth(D).tolist()
        assert third.tolist() == reference.lens_counts(D).tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ties", ["random", "drop"])
@pytest.mark.parametrize("levels", [None, 3])
def test_kernels_and_numpy_give_the_same_statements(kind, ties, levels):
    n = 40
    rng = np.random.default_rng(1)
    questions = rng.integers(n_questions(n, kind), size=5000)
    row, u = rng.permutation(5000), rng.random(5000)
    rates = rng.choice([0.0, 1 / 3, 1.0], size=5000)
    points = rng.random((n, 3)) if levels is None else rng.integers(0, 3, (n, 2)).astype(float)
    for truth in (Truth(metric_matrix(n, 0, levels), True), Truth(points, False)):
        plain, compiled = (
            answered(truth, questions, row, u, rates, kind, ties, way) for way in (False, True)
        )
        assert np.array_equal(plain, compiled)
        assert (plain[:, 0] < 0).any() == (ties == "drop" and levels is not None)


def test_kernel_numbers_triples_of_many_objects():
    """Up to the largest rank: the kernel's roots against the table of the numpy path."""
    rng, last = np.random.default_rng(2), n_questions(200_000) - 1
    questions = np.concatenate([rng.integers(last, size=2000), [0, 1, last - 1, last]])
    truth, zeros = Truth(rng.random((200_000, 1)), False), np.zeros(len(questions))
    plain, compiled = (
        answered(truth, questions, None, zeros, zeros, "central", "random", way)
        for way in (False, True)
    )
    assert np.array_equal(plain, compiled)


@pytest.mark.parametrize("kind", KINDS)
def test_noise_model_1_yields_the_stated_share(kind):
    D = metric_matrix(45, 3)
    true, some, every = (
        simulate_statements(D, kind=kind, random_state=5, error_rate=rate).triples
        for rate in (0.0, 0.3, 1.0)
    )
    place = 1 if kind == "closer" else 0
    assert (every[:, place] != true[:, place]).all()
    wrong = some[:, place] != true[:, place]
    assert stats.binomtest(int(wrong.sum()), len(true), 0.3).pvalue > ALPHA
    for found in (some, every):
        assert np.array_equal(np.sort(found, axis=1), np.sort(true, axis=1))
        if kind != "closer":
            # the wrong one is either of the two others, each with probability 1/2
            wrong = found[:, 0] != true[:, 0]
            other = found[wrong, 0] == true[wrong, 1]
            assert stats.binomtest(int(other.sum()), len(other)).pvalue > ALPHA


def test_ties_are_broken_evenly_and_alike_where_a_question_is_asked_again():
    D = np.ones((60, 60)) - np.eye(60)
    for kind in ("central", "odd"):
        T = simulate_statements(D, kind=kind, random_state=9).triples
        place = (np.sort(T, axis=1) == T[:, :1]).argmax(axis=1)
        assert stats.chisquare(np.bincount(place)).pvalue > ALPHA
    T = simulate_statements(D, kind="closer", random_state=9).triples
    assert stats.binomtest(int((T[:, 1] < T[:, 2]).sum()), len(T)).pvalue > ALPHA
    options = {"sampling": "replacement", "error_rate": 0.4, "random_state": 10}
    again = simulate_statements(D[:6, :6], 2000, **options).summary()
    assert (again.contradictory_triples, again.repeated_triples) == (0, 20)


def test_a_tie_is_broken_among_the_tied_and_alike_under_errors():
    D = np.array([[0, 2, 2], [2, 0, 1], [2, 1, 0]])  # 0-1 and 0-2 longest: 2 or 1 is central
    seen = {
        (rate, int(simulate_statements(D, random_state=s, error_rate=rate).triples[0, 0]))
        for s in range(40)
        for rate in (0.0, 1.0)
    }
    assert seen == {(0.0, 1), (0.0, 2), (1.0, 0), (1.0, 1), (1.0, 2)}
    assert simulate_statements(D, kind="odd").triples[0, 0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_question_gets_the_answer_that_the_points_give(kind):
    points = np.random.default_rng(0).normal(size=(9, 2))
    every = tl.simulate_statements(points, kind=kind, random_state=0)
    order = [0, 2, 1] if kind == "closer" else [2, 0, 1]
    asked = tl.Statements(every.triples[::-1, order], kind=kind)
    found = tl.simulate.answer(asked, points)
    assert found.kind == kind
    assert set(map(tuple, found.triples.tolist())) == set(map(tuple, every.triples.tolist()))
    np.testing.assert_array_equal(np.sort(found.triples), np.sort(asked.triples))
    with pytest.raises(ParameterError, match="about 10 objects, but only 9 are given"):
        tl.simulate.answer([[0, 1, 9]], points)


def test_who_is_asked_is_kept_errors_are_drawn_anew_and_ties_as_asked_for():
    S = tl.Statements([("a", "b", "c")] * 3000, raters=np.arange(3000), kind="central")
    T = tl.simulate.answer(S, [[0.0], [1.0], [3.0]], error_rate=0.3, random_state=1)
    np.testing.assert_array_equal(T.raters, S.raters)
    assert T.names == S.names
    assert 0.27 < (T.triples[:, 0] != 1).mean() < 0.33
    line = [[0.0], [1.0], [2.0], [9.0]]
    asked = tl.Statements([[1, 0, 2], [1, 0, 3]], kind="closer", raters=["x", "y"])
    both = {tl.simulate.answer(asked, line, random_state=i).triples[0, 1] for i in range(20)}
    assert both == {0, 2}
    kept = tl.simulate.answer(asked, line, ties="drop")
    assert kept.triples.tolist() == [[1, 0, 3]]
    assert kept.raters.tolist() == ["y"]
