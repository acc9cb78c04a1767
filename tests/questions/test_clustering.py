from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.linalg import eigh
from scipy.sparse import csr_array

import drawn
import trilens as tl
from trilens import lens
from trilens.counts import count_pairs
from trilens.errors import KindError, ParameterError
from trilens.questions.cluster.groups import cluster
from trilens.questions.cluster.spectral import (
    KRNGClustering,
    in_order_of_appearance,
    neighbour_graph,
    purity,
)
from trilens.statements import Statements

import reference


@given(drawn.statements(kinds=["central"]), st.integers(1, 3), st.sampled_from([None, 1, 4]))
@pytest.mark.filterwarnings("ignore:.* a neighbor in the k-RNG")
def test_every_object_gets_a_cluster(S, n_clusters, k):
    model = KRNGClustering(n_clusters, k=k, random_state=0).fit(S)
    assert model.labels_.shape == (S.n_objects,)
    assert model.labels_.min() == model.labels_[0] == 0
    assert model.labels_.max() < n_clusters
    W = np.array(tl.reference.k_rng(S, model.k_))
    assert model.isolated_.tolist() == np.flatnonzero(W.sum(axis=1) == 0).tolist()


def random_graph(n, seed):
    W = np.random.default_rng(seed).random((n, n)) * (
        np.random.default_rng(seed + 1).random((n, n)) < 0.5
    )
    W = np.triu(W, 1) + np.diag(np.ones(n - 1), 1)
    return W + W.T


@pytest.mark.parametrize("dense", [True, False])
def test_eigenvectors_solve_the_generalised_problem(monkeypatch, dense):
    monkeypatch.setattr(lens, "_DENSE", 100 if dense else 0)
    W = random_graph(40, 3)
    degree = W.sum(axis=1)
    values, _ = eigh(np.diag(degree) - W, np.diag(degree))
    _, vectors = lens.laplacian_eigenvectors(csr_array(W), 4)
    for value, u in zip(values[:4], vectors.T, strict=True):
        assert np.allclose((np.diag(degree) - W) @ u, value * degree * u, atol=1e-8)


def test_a_graph_in_many_parts_has_all_its_eigenvectors():
    parts = 14
    W = np.kron(np.eye(parts), np.ones((6, 6)) - np.eye(6))
    _, vectors = lens.laplacian_eigenvectors(csr_array(W), parts)
    assert vectors.shape == (6 * parts, parts)
    assert np.linalg.matrix_rank(vectors) == parts
    clusters = lens.spectral_clusters(csr_array(W), parts, 0)
    assert purity(np.repeat(np.arange(parts), 6), clusters) == 1


def _on_a_line(more, n_objects=8):
    """True answers about 0, 1, 2 and 10, 11, 12 on a line, and more."""
    x = np.array([0, 1, 2, 10, 11, 12])
    rows = [[b, a, c] for a in range(6) for b in range(a + 1, 6) for c in range(b + 1, 6)]
    assert all(x[a] < x[b] < x[c] for b, a, c in rows)
    return Statements(np.array(rows + more), n_objects=n_objects, kind="central")


def test_isolated_objects_join_the_nearest_and_are_reported():
    # 5 was between 6 and others, and 4 was once between 6 and 5; nothing is known of 7
    S = _on_a_line([[5, 6, 4], [4, 6, 5], [5, 6, 3], [5, 6, 2], [4, 6, 3], [4, 6, 2]])
    model = KRNGClustering(2, k=1, random_state=0).fit(S)
    assert model.isolated_.tolist() == [6, 7]
    assert model.n_connected_ > 1
    assert model.labels_[6] == model.labels_[5] != model.labels_[0]


def test_hardly_an_edge_is_said_and_the_rest_joins_by_the_answers():
    rows = [[x, a, b] for a in range(8) for b in range(a) for x in range(8) if x not in (a, b)]
    near = [[x, a, b] for x, a, b in rows if {a, b} != {5, 6}]
    S = Statements([*near, [3, 5, 6], [2, 5, 4], [1, 6, 4], [6, 5, 4]], n_objects=8, kind="central")
    model = KRNGClustering(2, k=1)
    with pytest.warns(UserWarning, match="have a neighbor in the k-RNG, too few for 2 clusters"):
        model.fit(count_pairs(S))
    assert len(model.isolated_) > 4
    told = cluster(S, n_clusters=2, method="krng", k=1)
    assert told.suggestion.notes == ("few edges",)
    assert told.labels.tolist() == model.labels_.tolist()
    nothing = KRNGClustering(2, k=1)
    with pytest.warns(UserWarning, match="no object has a neighbor"):
        nothing.fit(Statements(rows, kind="central"))
    assert not nothing.labels_.any()


def test_the_number_of_clusters_is_checked():
    with pytest.raises(ParameterError, match="4 clusters of 3 objects"):
        KRNGClustering(4).fit([[0, 1, 2]])
    with pytest.raises(ParameterError, match="n_clusters is 0"):
        KRNGClustering(0).fit([[0, 1, 2]])
    with pytest.raises(ParameterError, match="k is 0"):
        KRNGClustering(2, k=0).fit([[0, 1, 2]])
    with pytest.raises(KindError, match="lens map"):
        KRNGClustering(2).fit(Statements([[0, 1, 2]], kind="odd"))


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=1))
def test_purity_equals_the_definition(pairs):
    clusters, classes = zip(*pairs, strict=True)
    assert purity(clusters, classes) == pytest.approx(reference.purity(clusters, classes))


def test_parts_are_numbered_as_they_appear():
    assert in_order_of_appearance(np.array([5, 5, 2, 9, 2])).tolist() == [0, 0, 1, 2, 1]


def test_only_some_methods_correct_for_wrong_answers():
    rows = [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0]]
    with pytest.raises(ParameterError, match="krng and lensmap"):
        cluster(Statements(rows, kind="central"), 2, "soe", error_rate=0.1)


@pytest.mark.parametrize("sigma", [1e-200, 1e200])
def test_any_width_of_the_weights_on_a_map_keeps_every_edge(sigma):
    points = np.random.default_rng(2).normal(size=(8, 2))
    graph = neighbour_graph(points, k=3, sigma=sigma)
    assert np.isfinite(graph.data).all()
    assert graph.data.min() > 0
    assert graph.nnz == neighbour_graph(points, k=3).nnz
