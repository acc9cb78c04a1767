"""Depth and the k-RNG from counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse.csgraph import connected_components

import drawn
import trilens as tl
from trilens.answers import Answers
from trilens.counts import count_central, count_pairs
from trilens.errors import KindError, ParameterError
from trilens.files import write_statements
from trilens.lens import LensValues, centrality, effective_k, k_rng, lens_depth, lens_values
from trilens.simulate import simulate_statements
from trilens.statements import Statements

import reference


@given(drawn.statements())
def test_centrality_equals_the_definition(S):
    expected = reference.centrality(S.triples, S.n_objects, S.kind)
    assert np.array_equal(centrality(S), expected)
    assert np.array_equal(centrality(count_central(S)), expected)
    if S.kind == "central":
        assert np.array_equal(lens_depth(S), expected)


def test_other_kinds_are_refused_with_what_serves_them():
    for kind in ("odd", "closer"):
        S = Statements([[0, 1, 2]], kind=kind)
        for given_ in (S, count_central(S)):
            with pytest.raises(KindError, match=r"central, not \w+; centrality\(\)"):
                lens_depth(given_)
        for given_ in (S, count_pairs(S)):
            with pytest.raises(KindError, match="lens map"):
                k_rng(given_, 1)


@pytest.mark.parametrize("n", [3, 4, 12, 30])
def test_depth_of_all_answers_is_the_depth_of_the_distances(n: int) -> None:
    D = tl.exact.dissimilarities(np.random.default_rng(n).normal(size=(n, 2)))
    S = tl.simulate_statements(D)  # every question once, answered rightly
    true = tl.exact.lens_depth(D)
    np.testing.assert_array_equal(tl.lens_depth(S), true)
    np.testing.assert_array_equal(tl.centrality(S), true)
    np.testing.assert_array_equal(tl.exact.local_lens_depth(D, share=1), true)
    pairs = (n - 1) * (n - 2) / 2
    assert (tl.exact.lens_depth(D, normalise=False) == np.rint(pairs * true)).all()
    # points that are not in the sample are compared with all of its pairs
    new = tl.exact.lens_depth(D, D)
    np.testing.assert_allclose(new * n * (n - 1) / 2, true * pairs)


@settings(max_examples=40)
@given(drawn.statements(kinds=["central"], max_objects=6), st.sampled_from([0.0, 0.3]))
def test_the_connecting_k_is_the_smallest(S, error_rate):
    def parts(k):
        graph = np.array(tl.reference.k_rng(S, k, error_rate))
        return connected_components(graph, directed=False)[0]

    k = lens_values(S).connecting_k(error_rate)
    if k is None:
        assert parts(10**6) > 1
    else:
        assert parts(k) == 1
        assert k == 1 or parts(k - 1) > 1


def test_values_of_zero_are_kept_and_pairs_not_asked_have_none():
    values = lens_values(Statements([[0, 1, 2]], n_objects=4, kind="central"))
    found = {(i, j): v for i, j, v in zip(values.i, values.j, values.V, strict=True)}
    assert found == {(0, 1): 0.0, (0, 2): 0.0, (1, 2): 1.0}
    for n in (0, 1, 2):  # too few for a triple
        S = Statements([], n_objects=n)
        assert k_rng(S, 1).nnz == 0
        assert lens_values(S).connecting_k() == (1 if n < 2 else None)


@pytest.mark.parametrize(("k", "error_rate"), [(1, 0.0), (3, 0.0), (2, 0.1), (5, 0.3), (7, 0.25)])
def test_equality_makes_no_edge(k, error_rate):
    """The inequality of the paper is strict: V that equals its threshold is no edge."""
    n = 22
    e = Fraction(str(error_rate))
    share = Fraction(k) * (1 - 3 * e / 2) / (n - 2) + e / 2
    for times in (1, 3, 7, 11):
        N = np.array([share.numerator * times - 1, share.numerator * times])
        D = np.full(2, share.denominator * times)
        values = LensValues(n, np.array([0, 1]), np.array([2, 3]), N, D)
        assert values.below(k, error_rate).tolist() == [True, False]


def test_a_tiny_sigma_keeps_every_edge():
    S = simulate_statements(np.random.default_rng(0).normal(size=(12, 2)), random_state=1)
    for sigma in (1e-200, 1e-3, 1.0):
        weights = k_rng(S, 4, sigma=sigma)
        assert np.isfinite(weights.data).all()
        assert (weights.data > 0).all()
        assert weights.nnz == k_rng(S, 4).nnz


def test_k_prime_of_the_paper():
    assert effective_k(5, 0.0, 60) == 5
    assert effective_k(0.15 * 58, 0.3, 60) == pytest.approx(0)  # an empty graph
    third = 58 / 3
    assert effective_k(third, 0.4, 60) == pytest.approx(third)  # where nothing changes


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"k": 0}, "1 or more"),
        ({"k": float("nan")}, "1 or more"),
        ({"k": 1, "error_rate": 0.7}, "below 2/3"),
        ({"k": 1, "error_rate": -0.1}, "at least 0"),
        ({"k": 1, "sigma": 0}, "positive"),
    ],
)
def test_parameters_out_of_range(arguments, text):
    with pytest.raises(ParameterError, match=text):
        k_rng([[0, 1, 2]], **arguments)


def test_answers_serve_as_statements_do(tmp_path, monkeypatch):
    S = Statements([[1, 0, 2], [1, 0, 2], [0, 1, 3], [2, 1, 3]], names=list("abcd"), kind="central")
    file = tmp_path / "answers.parquet"
    write_statements(S, file)
    expected = k_rng(S, 1).toarray()
    assert (k_rng(Answers(file), 1).toarray() == expected).all()
    assert (k_rng(Answers(file).count(pairs=True), 1).toarray() == expected).all()
    monkeypatch.setattr("trilens.answers.STREAMED_BYTES", 0)
    assert (k_rng(Answers(file), 1).toarray() == expected).all()
