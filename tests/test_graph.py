from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

import drawn
from trilens.answers import Answers
from trilens.counts import count_pairs
from trilens.errors import KindError, ParameterError, StatementError
from trilens.files import write_statements
from trilens.graph import (
    LensValues,
    connecting_k,
    effective_k,
    k_rng,
    lens_values,
    neighbour_statements,
    write_graph,
)
from trilens.simulate import simulate_statements
from trilens.statements import Statements

import reference


@given(
    drawn.statements(kinds=["central"]),
    st.integers(1, 6),
    st.sampled_from([0.0, 0.2, 0.5]),
    st.sampled_from([None, 0.3, 2.0]),
)
def test_the_graph_equals_the_definition(S, k, error_rate, sigma):
    expected = reference.k_rng(S.triples, S.n_objects, k, error_rate, sigma)
    assert np.allclose(k_rng(S, k, error_rate, sigma).toarray(), expected, rtol=1e-14, atol=0)
    for layout in ("dense", "sparse"):
        pairs = count_pairs(S, layout=layout)
        found = k_rng(pairs, k, error_rate, sigma).toarray()
        assert np.allclose(found, expected, rtol=1e-14, atol=0)


@given(drawn.statements(kinds=["central"], max_objects=6), st.sampled_from([0.0, 0.3]))
def test_the_connecting_k_is_the_smallest(S, error_rate):
    def parts(k):
        graph = reference.k_rng(S.triples, S.n_objects, k, error_rate)
        return connected_components(graph, directed=False)[0]

    k = connecting_k(S, error_rate)
    if k is None:
        assert parts(10**6) > 1
    else:
        assert parts(k) == 1
        assert k == 1 or parts(k - 1) > 1


def test_values_of_zero_are_kept_and_pairs_not_asked_have_none():
    values = lens_values(Statements([[0, 1, 2]], n_objects=4))
    assert dict(zip(zip(values.i, values.j, strict=True), values.share, strict=True)) == {
        (0, 1): 0.0,
        (0, 2): 0.0,
        (1, 2): 1.0,
    }


@pytest.mark.parametrize(("k", "error_rate"), [(1, 0.0), (3, 0.0), (2, 0.1), (5, 0.3), (7, 0.25)])
def test_equality_makes_no_edge(k, error_rate):
    """The inequality of the paper is strict: V that equals its threshold is no edge."""
    n = 22
    e = Fraction(str(error_rate))
    share = Fraction(k) * (1 - 3 * e / 2) / (n - 2) + e / 2
    for times in (1, 3, 7, 11):
        third = np.array([share.numerator * times - 1, share.numerator * times])
        appears = np.full(2, share.denominator * times)
        values = LensValues(n, np.array([0, 1]), np.array([2, 3]), third, appears)
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


def test_other_kinds_are_refused():
    with pytest.raises(KindError, match="lens map"):
        k_rng(Statements([[0, 1, 2]], kind="odd"), 1)
    with pytest.raises(KindError, match="lens map"):
        k_rng(count_pairs(Statements([[0, 1, 2]], kind="closer")), 1)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_objects_for_a_triple(n):
    S = Statements([], n_objects=n)
    assert k_rng(S, 1).nnz == 0
    assert connecting_k(S) == (1 if n < 2 else None)


def test_answers_serve_as_statements_do(tmp_path, monkeypatch):
    S = Statements([[1, 0, 2], [1, 0, 2], [0, 1, 3], [2, 1, 3]], names=["a", "b", "c", "d"])
    file = tmp_path / "answers.parquet"
    write_statements(S, file)
    expected = k_rng(S, 1).toarray()
    assert (k_rng(Answers(file), 1).toarray() == expected).all()
    assert (k_rng(Answers(file).count(pairs=True), 1).toarray() == expected).all()
    monkeypatch.setattr("trilens.answers.STREAMED_BYTES", 0)
    assert (k_rng(Answers(file), 1).toarray() == expected).all()
    write_statements(Statements(S.triples, kind="odd"), file)
    with pytest.raises(KindError, match="lens map"):
        k_rng(Answers(file), 1)


@pytest.fixture
def cloud():
    X = np.random.default_rng(0).normal(size=(14, 2))
    D = cdist(X, X)
    near = np.zeros((14, 14), dtype=int)
    order = (D + np.diag(np.full(14, np.inf))).argsort(axis=1)[:, :3]
    np.put_along_axis(near, order, 1, axis=1)
    return D, near


def test_every_statement_is_true_and_there_are_no_others(cloud):
    D, near = cloud
    S = neighbour_statements(csr_array(near))
    assert S.kind == "closer"
    expected = {
        (v, a, b)
        for v in range(14)
        for a in range(14)
        for b in range(14)
        if len({v, a, b}) == 3 and near[v, a] and not near[v, b]
    }
    rows = list(map(tuple, S.triples.tolist()))
    assert set(rows) == expected
    assert len(rows) == len(expected) == 14 * 3 * 10
    v, a, b = S.triples.T
    assert (D[v, a] < D[v, b]).all()


def test_what_is_lost(cloud):
    """Neither two neighbours nor two others are compared, nor distances without a common end."""
    D, near = cloud
    S = neighbour_statements(near)
    asked = {(v, frozenset((a, b))) for v, a, b in S.triples.tolist()}
    for v in range(14):
        inside = np.flatnonzero(near[v])
        assert not any((v, frozenset(p)) in asked for p in pairwise(inside))
    every = 14 * 13 * 12 // 2
    assert len(asked) < every / 2
    # the most central of three follows for some triples only, and then rightly
    central = S.to_central()
    assert 0 < len(central) < 14 * 13 * 12 // 6
    x, y, z = central.triples.T
    assert (np.maximum(D[x, y], D[x, z]) < D[y, z]).all()


def test_a_part_is_drawn_without_replacement(cloud):
    _, near = cloud
    S = neighbour_statements(near, 100, random_state=3)
    assert len({tuple(row) for row in S.triples.tolist()}) == 100
    every = {tuple(row) for row in neighbour_statements(near).triples.tolist()}
    assert {tuple(row) for row in S.triples.tolist()} < every
    assert len(neighbour_statements(near, 420)) == 420
    with pytest.raises(ParameterError, match="from 0 to 420"):
        neighbour_statements(near, 421)


def test_objects_without_neighbours_and_with_all_of_them():
    near = np.zeros((4, 4), dtype=bool)
    near[1] = [True, False, True, True]
    near[3, 0] = True
    S = neighbour_statements(near, names=list("abcd"))
    assert S.triples.tolist() == [[3, 0, 1], [3, 0, 2]]
    assert S.names == ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("graph", "error", "said"),
    [
        ([[0, 1]], ParameterError, r"\(n, n\) array"),
        ([[0, 1], [1]], ParameterError, r"\(n, n\) array"),
        ([[1, 0], [1, 0]], StatementError, "object 0 is marked as its own neighbour"),
        ([[0, np.nan], [1, 0]], ParameterError, "not finite numbers"),
    ],
)
def test_what_is_no_graph(graph, error, said):
    with pytest.raises(error, match=said):
        neighbour_statements(graph)


def test_graphml_replaces_what_xml_cannot_hold(tmp_path):
    graph = csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    write_graph(graph, ["\ud800", "b"], tmp_path / "x.graphml")
    assert "\N{REPLACEMENT CHARACTER}" in (tmp_path / "x.graphml").read_text(encoding="utf-8")
