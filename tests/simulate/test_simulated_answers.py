"""Answers: against the definition, with ties, and the shares of Noise model I."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import trilens as tl
from trilens.errors import ParameterError, TrilensError
from trilens.simulate import simulate_statements
from trilens.simulate.answers import Truth, answered, uniform_of
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
    n = draw(st.integers(3, 8))
    values = draw(
        st.lists(st.integers(0, draw(st.sampled_from([1, 3, 50]))), min_size=64, max_size=64)
    )
    D = np.triu(np.array(values).reshape(8, 8)[:n, :n], 1)
    return (D + D.T).astype(draw(st.sampled_from([np.uint8, np.int64, np.float32, np.float64])))


def expected(D, kind):
    """Every statement without a tie, by the definitions, as a set."""
    every = set()
    for t in itertools.combinations(range(len(D)), 3):
        if kind == "closer":
            for anchor in t:
                x, y = (z for z in t if z != anchor)
                if D[anchor, x] != D[anchor, y]:
                    near, far = (x, y) if D[anchor, x] < D[anchor, y] else (y, x)
                    every.add((anchor, near, far))
        else:
            chosen = (reference.most_central if kind == "central" else reference.odd_one)(D, *t)
            if chosen is not None:
                every.add((chosen, *(z for z in t if z != chosen)))
    return every


@pytest.mark.parametrize("kind", KINDS)
@given(D=semimetrics())
def test_all_statements_without_ties_are_those_of_the_definition(kind, D):
    S = simulate_statements(D, kind=kind, ties="drop", random_state=0)
    assert len(S) == len(expected(D, kind))
    assert set(map(tuple, S.triples.tolist())) == expected(D, kind)


@given(D=semimetrics())
def test_counting_all_statements_gives_exact_lens_depth_and_counts(D):
    S = simulate_statements(D, ties="drop", random_state=0)
    singled, _ = reference.count_central(S.triples, len(D))
    third, _ = reference.count_pairs(S.triples, len(D))
    assert singled.tolist() == reference.exact_lens_depth(D).tolist()
    assert third.tolist() == reference.lens_counts(D).tolist()


def test_on_the_line_central_statements_tell_the_order_alone():
    """Section 7: any increasing map of the line leaves every `central` statement as it is."""
    x = np.sort(np.random.default_rng(3).normal(size=(30, 1)), axis=0)
    D, moved = np.abs(x - x.T), np.abs(np.exp(3 * x) - np.exp(3 * x).T)
    assert expected(moved, "central") == expected(D, "central")
    # similarity triplets and the odd one tell more
    assert expected(moved, "closer") != expected(D, "closer")
    assert expected(moved, "odd") != expected(D, "odd")
    # nor does it hold in the plane
    X = np.random.default_rng(4).normal(size=(30, 2))
    far = np.exp(X)
    plane, bent = (np.linalg.norm(P[:, None] - P, axis=2) for P in (X, far))
    assert expected(bent, "central") != expected(plane, "central")


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
    n = 200_000
    rng = np.random.default_rng(2)
    last = n_questions(n) - 1
    questions = np.concatenate([rng.integers(last, size=2000), [0, 1, last - 1, last]])
    truth = Truth(rng.random((n, 1)), False)
    zeros = np.zeros(len(questions))
    plain, compiled = (
        answered(truth, questions, None, zeros, zeros, "central", "random", way)
        for way in (False, True)
    )
    assert np.array_equal(plain, compiled)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error_rate", [0.3, 1.0])
def test_noise_model_1_yields_the_stated_share(kind, error_rate):
    D = metric_matrix(45, 3)
    true = simulate_statements(D, kind=kind, random_state=5).triples
    given_ = simulate_statements(D, kind=kind, random_state=5, error_rate=error_rate).triples
    place = 1 if kind == "closer" else 0
    wrong = given_[:, place] != true[:, place]
    assert np.array_equal(np.sort(given_, axis=1), np.sort(true, axis=1))
    if error_rate == 1.0:
        assert wrong.all()
    else:
        assert stats.binomtest(int(wrong.sum()), len(true), error_rate).pvalue > ALPHA
    if kind != "closer":
        # the wrong one is either of the two others, each with probability 1/2
        first_other = given_[wrong, 0] == true[wrong, 1]
        assert stats.binomtest(int(first_other.sum()), int(wrong.sum())).pvalue > ALPHA


def test_v_estimates_p_tilde():
    """Eq. (13): V(i, j) estimates p (1 - e) + (1 - p) e / 2; chi-square over all pairs."""
    n, e = 60, 0.3
    D = metric_matrix(n, 7)
    S = simulate_statements(D, error_rate=e, random_state=8)
    third, appears = reference.count_pairs(S.triples.tolist(), n)
    inside = reference.lens_counts(D)
    p_tilde = inside / (n - 2) * (1 - e) + (1 - inside / (n - 2)) * e / 2
    # given the lens, the count is a sum of two binomials
    variance = inside * e * (1 - e) + (n - 2 - inside) * (e / 2) * (1 - e / 2)
    pairs = np.triu_indices(n, 1)
    assert (appears[pairs] == n - 2).all()
    z = ((third - (n - 2) * p_tilde) / np.sqrt(variance))[pairs]
    # 1770 pairs: 0.15 is 4.4 standard deviations of their mean square (1e-5)
    assert abs((z**2).mean() - 1) < 0.15
    assert np.abs(z).max() < stats.norm.isf(ALPHA / 2 / len(z))


def test_ties_are_broken_evenly():
    """An equilateral triple has three candidates, an isosceles one two."""
    n = 60
    D = np.ones((n, n)) - np.eye(n)
    for kind in ("central", "odd"):
        T = simulate_statements(D, kind=kind, random_state=9).triples
        place = (np.sort(T, axis=1) == T[:, :1]).argmax(axis=1)
        assert stats.chisquare(np.bincount(place)).pvalue > ALPHA
    T = simulate_statements(D, kind="closer", random_state=9).triples
    assert stats.binomtest(int((T[:, 1] < T[:, 2]).sum()), len(T)).pvalue > ALPHA


def test_a_tie_is_broken_among_the_tied_and_alike_under_errors():
    D = np.array([[0, 2, 2], [2, 0, 1], [2, 1, 0]])  # 0-1 and 0-2 longest: 2 or 1 is central
    seen = {
        (rate, int(simulate_statements(D, random_state=s, error_rate=rate).triples[0, 0]))
        for s in range(40)
        for rate in (0.0, 1.0)
    }
    assert seen == {(0.0, 1), (0.0, 2), (1.0, 0), (1.0, 1), (1.0, 2)}
    assert simulate_statements(D, kind="odd").triples[0, 0] == 0


def test_a_question_asked_again_is_answered_alike():
    D = np.ones((6, 6)) - np.eye(6)
    S = simulate_statements(D, 2000, sampling="replacement", error_rate=0.4, random_state=10)
    assert S.summary().contradictory_triples == 0
    assert S.summary().repeated_triples == 20


def test_the_numbers_of_questions_are_uniform_and_differs_between_keys():
    questions = np.arange(100_000)
    one, two = uniform_of(questions, np.uint64(1)), uniform_of(questions, np.uint64(2))
    assert stats.kstest(one, "uniform").pvalue > ALPHA
    assert abs(np.corrcoef(one, two)[0, 1]) * np.sqrt(1e5) < stats.norm.isf(ALPHA / 2)
    assert one.max() < 1


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
    S = tl.Statements([("a", "b", "c")] * 3000, raters=np.arange(3000), kind="central")
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
