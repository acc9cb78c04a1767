"""Groups: Algorithm 5, how many there are on a map, and how stable they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.linalg import eigh
from scipy.sparse import csr_array

import drawn
import trilens as tl
from carlabels import car_classes
from trilens import lens
from trilens.counts import count_pairs
from trilens.errors import KindError, ParameterError
from trilens.questions.cluster import spectral
from trilens.questions.cluster.groups import cluster, cluster_stability
from trilens.questions.cluster.krng import KRNGClustering
from trilens.questions.cluster.spectral import neighbour_graph, purity
from trilens.questions.cluster.suggest import examine
from trilens.questions.embed import map_dimension
from trilens.simulate import mixture, simulate_statements
from trilens.statements import Statements

import reference

CENTRES = np.array([[0, 0], [8, 0], [0, 8], [8, 8], [16, 4]])


# ---- Algorithm 5


@given(drawn.statements(kinds=["central"]), st.integers(1, 3), st.sampled_from([None, 1, 4]))
@pytest.mark.filterwarnings("ignore:.* a neighbor in the k-RNG")
def test_every_object_gets_a_cluster(S, n_clusters, k):
    model = KRNGClustering(n_clusters, k=k, random_state=0).fit(S)
    assert model.labels_.shape == (S.n_objects,)
    assert model.labels_.min() == model.labels_[0] == 0
    assert model.labels_.max() < n_clusters
    W = np.array(tl.reference.k_rng(S, model.k_))
    assert model.isolated_.tolist() == np.flatnonzero(W.sum(axis=1) == 0).tolist()


@pytest.mark.parametrize("dense", [True, False])
def test_eigenvectors_solve_the_generalised_problem_of_every_part(monkeypatch, dense):
    monkeypatch.setattr(lens, "_DENSE", 100 if dense else 0)
    rng = np.random.default_rng(3)
    W = np.triu(rng.random((40, 40)) * (rng.random((40, 40)) < 0.5), 1)
    W += np.diag(np.ones(39), 1)
    W += W.T
    degree = W.sum(axis=1)
    expected, _ = eigh(np.diag(degree) - W, np.diag(degree))
    values, vectors = lens.laplacian_eigenvectors(csr_array(W), 4)
    np.testing.assert_allclose(values, expected[:4], atol=1e-9)
    np.testing.assert_allclose(
        (np.diag(degree) - W) @ vectors, values * degree[:, None] * vectors, atol=1e-8
    )
    parts = csr_array(np.kron(np.eye(14), np.ones((6, 6)) - np.eye(6)))
    clusters = lens.spectral_clusters(parts, 14, 0)
    assert purity(np.repeat(np.arange(14), 6), clusters) == 1


def test_isolated_objects_join_the_nearest_and_are_reported():
    # true answers about 0, 1, 2 and 10, 11, 12 on a line; 5 was between 6 and others, and 4 was
    # once between 6 and 5; nothing is known of 7
    rows = [[b, a, c] for a in range(6) for b in range(a + 1, 6) for c in range(b + 1, 6)]
    more = [[5, 6, 4], [4, 6, 5], [5, 6, 3], [5, 6, 2], [4, 6, 3], [4, 6, 2]]
    model = KRNGClustering(2, k=1, random_state=0).fit(Statements(rows + more, 8, kind="central"))
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


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda S: KRNGClustering(6).fit(S), "6 clusters of 5 objects"),
        (lambda S: KRNGClustering(0).fit(S), "n_clusters is 0"),
        (lambda S: KRNGClustering(2, k=0).fit(S), "k is 0"),
        (lambda S: KRNGClustering(2).fit(Statements(S.triples, kind="odd")), "lens map"),
        (
            lambda S: KRNGClustering(2, error_rate="estimate").fit(count_pairs(S)),
            "counts do not tell the error rate",
        ),
        (lambda S: cluster(S, 2, "soe", error_rate=0.1), "krng and lensmap"),
        (lambda S: cluster(S, method="krng"), "krng needs the number of clusters"),
        (lambda S: cluster(count_pairs(S), method="lensmap"), "counts do not tell how many groups"),
        (
            lambda S: cluster(count_pairs(Statements(S.triples, kind="closer")), 2, "krng"),
            "of kind central, not closer",
        ),
    ],
)
def test_what_cannot_be_asked(ask, words):
    with pytest.raises((ParameterError, KindError), match=words):
        ask(Statements([[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0]], kind="central"))


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=1))
def test_purity_equals_the_definition(pairs):
    clusters, classes = zip(*pairs, strict=True)
    assert purity(clusters, classes) == pytest.approx(reference.purity(clusters, classes))


@pytest.mark.parametrize(("k", "sigma", "paper"), [(10, 0.5, 0.95), (5, None, 0.84)])
def test_purity_of_the_papers_cars(cars, k, sigma, paper):
    classes = car_classes(cars)
    S = tl.read_statements(cars / "ordinal_data_preprocessed" / "T_ALL.csv")
    S = S.subset([name for name in S.names if classes[name] != "outlier"])
    found = KRNGClustering(3, k=k, sigma=sigma, random_state=0).fit_predict(S)
    # a car more or less is k-means
    assert purity(found, [classes[name] for name in S.names]) == pytest.approx(paper, abs=1.5 / 56)


# ---- the graph of neighbors on a map


@pytest.mark.parametrize("sigma", [1e-200, 1e200])
def test_any_width_of_the_weights_on_a_map_keeps_every_edge(sigma):
    points = np.random.default_rng(2).normal(size=(8, 2))
    graph = neighbour_graph(points, k=3, sigma=sigma)
    assert np.isfinite(graph.data).all()
    assert graph.data.min() > 0
    assert graph.nnz == neighbour_graph(points, k=3).nnz


def test_few_and_many_objects_have_the_same_graph_and_groups(monkeypatch):
    points = mixture(300, [[0, 0], [9, 0], [0, 9]], random_state=1)
    graph, X = neighbour_graph(points.points).toarray(), points.points
    whole = spectral.coordinate_clusters(X, 3, random_state=0)
    monkeypatch.setattr(spectral, "_ALL_DISTANCES", 0)
    np.testing.assert_allclose(neighbour_graph(X).toarray(), graph)
    monkeypatch.setattr(spectral, "_MOST_SPECTRAL", 120)
    found, again = (spectral.coordinate_clusters(X, 3, random_state=0) for _ in range(2))
    assert purity(found, points.labels) > 0.99
    assert purity(whole, found) > 0.99
    assert np.array_equal(found, again)


# ---- the one test of groups


def _groups(number, each=20, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(CENTRES[:number], each, axis=0) + rng.normal(size=(number * each, 2))


def _suggested(*given, **more):
    return examine(*given, **more).suggestion


@pytest.mark.parametrize("number", [3, 5])
def test_clear_groups_are_counted_whatever_the_unit_and_the_axes(number):
    X = _groups(number, 12)
    found = _suggested(X)
    assert found.n_clusters == found.best == number
    assert found.p_value == pytest.approx(1 / 200)
    assert [c.n_clusters for c in found.candidates] == list(range(2, 9))
    best = found.candidates[number - 2]
    assert best.silhouette > best.cloud_silhouette
    if number == 3:
        turned = 1e-150 * (X @ np.array([[0.6, 0.8], [-0.8, 0.6]]) + 5)
        errors = np.tile(1e-300 * np.eye(2), (36, 1, 1))
        other = _suggested(turned, errors)
        assert other.n_clusters == 3
        assert [c.silhouette for c in other.candidates] == pytest.approx(
            [c.silhouette for c in found.candidates]
        )


@pytest.mark.slow
def test_many_objects_are_compared_through_some():
    for each in (100, 150):
        in_turn = _groups(3, each).reshape(3, each, 2).swapaxes(0, 1).reshape(-1, 2)
        assert _suggested(in_turn).n_clusters == 3


# ---- the question


@pytest.mark.parametrize("dim", [2, 3])
def test_dimension_of_the_map(dim):
    points = np.random.default_rng(dim).normal(size=(40, dim))
    S = simulate_statements(points, 5000, error_rate=0.1, random_state=0)
    assert map_dimension(count_pairs(S)) == dim


@pytest.mark.parametrize(
    "kind", ["central", *(pytest.param(k, marks=pytest.mark.slow) for k in ("odd", "closer"))]
)
def test_groups_from_answers_with_errors(kind):
    drawn = mixture(30, [[0, 0], [9, 0], [0, 9]], random_state=0)
    S = simulate_statements(drawn.points, 1200, kind, error_rate=0.1, random_state=1)
    found = cluster(S, method="choice")
    assert found.n_clusters == 3
    assert found.suggestion.p_value <= 0.05
    assert purity(found.labels, drawn.labels) > 0.95
    assert found.stability.agreement > 0.8
    assert found.suggestion.caution is None


def test_a_cloud_has_no_groups_and_the_limit_is_said():
    points = np.random.default_rng(8).normal(size=(20, 2))
    found = cluster(simulate_statements(points, 600, random_state=3), method="choice")
    assert (found.n_clusters, found.stability) == (1, None)
    assert found.suggestion.notes == ("central gap",)
    odd = simulate_statements(points, 600, "odd", random_state=3)
    assert cluster(odd, method="choice").suggestion.notes == ()


@pytest.mark.parametrize("kind", ["odd", "closer"])
def test_a_lens_map_of_other_kinds_does_not_tell_whether_there_are_groups_but_how_stable(kind):
    points = np.random.default_rng(0).normal(size=(24, 2))
    S = simulate_statements(points, 900, kind, error_rate=0.1, random_state=0)
    found = cluster(S, method="lensmap")
    assert (found.n_clusters, found.suggestion.p_value) == (1, None)
    assert found.suggestion.notes == ("lens map",)
    two, again = (cluster(S, 2, "lensmap") for _ in range(2))
    assert two.stability.agreement == again.stability.agreement > 0.5
    nothing = cluster(S[:0], method="lensmap")
    assert (nothing.n_clusters, nothing.suggestion, nothing.stability) == (1, None, None)
    assert cluster(S[:0], 2, method="lensmap").n_clusters == 2


def test_stability_by_hand():
    same = cluster_stability([0, 0, 1, 2], [[5, 5, 3, 9], [1, 1, 2, 0]])
    assert (same.agreement, list(same.clusters), list(same.objects)) == (1, [1] * 3, [1] * 4)
    found = cluster_stability([0, 0, 0, 1, 1], [[0, 0, 1, 1, 1]])
    assert found.agreement == pytest.approx(1 / 6)
    assert found.clusters == pytest.approx([2 / 3, 2 / 3])
    assert found.objects.tolist() == [1, 1, 0, 1, 1]
    assert (found.resamples, same.resamples) == (1, 2)
