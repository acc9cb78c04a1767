from __future__ import annotations

import numpy as np
import pytest

from trilens.counts import count_pairs
from trilens.lens import laplacian_eigenvectors
from trilens.questions.cluster.groups import cluster, silhouettes
from trilens.questions.cluster.spectral import neighbour_graph, purity
from trilens.questions.cluster.suggest import divide, suggest_clusters, within_shares
from trilens.questions.embed import map_dimension
from trilens.simulate import mixture, simulate_statements
from trilens.statements import Statements

CENTRES = np.array([[0, 0], [8, 0], [0, 8], [8, 8], [16, 4]])


def _groups(number, each=20, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(CENTRES[:number], each, axis=0) + rng.normal(size=(number * each, 2))


@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_clear_groups_are_counted(number):
    found = suggest_clusters(_groups(number))
    assert found.n_clusters == found.best == number
    assert found.p_value == pytest.approx(2.5 / 200)
    assert [c.n_clusters for c in found.candidates] == list(range(2, 9))
    assert found.candidates[number - 2].silhouette > found.candidates[number - 2].cloud


@pytest.mark.slow
@pytest.mark.parametrize("length", [1, 3])
def test_clouds_are_left_whole(length):
    rng = np.random.default_rng(length)
    shapes = [rng.normal(size=(60, 2)) for _ in range(6)] + [rng.uniform(size=(60, 2))] * 1
    suggested = [suggest_clusters(X * [length, 1]).n_clusters for X in shapes]
    assert sum(number > 1 for number in suggested) <= 1


@pytest.mark.slow
def test_many_objects_are_compared_through_some():
    assert suggest_clusters(_groups(3, each=150)).n_clusters == 3


def test_the_suggestion_does_not_depend_on_scale_or_axes():
    X = _groups(3)
    turned = 100 * X @ np.array([[0.6, 0.8], [-0.8, 0.6]]) + 5
    one, other = suggest_clusters(X), suggest_clusters(turned)
    assert one.n_clusters == other.n_clusters
    assert [c.silhouette for c in one.candidates] == pytest.approx(
        [c.silhouette for c in other.candidates]
    )


def test_separation_of_two_groups_ignores_their_width_across():
    rng = np.random.default_rng(0)
    line = np.r_[rng.normal(size=20), rng.normal(12, 1, size=20)]
    thin, thick = (np.c_[line, width * rng.normal(size=40)] for width in (0.1, 3.0))
    one, other = divide(thick, [2])[0], divide(thin, [2])[0]
    assert one.silhouette == pytest.approx(other.silhouette, abs=0.05)
    assert silhouettes(thick, np.repeat([0, 1], 20)).mean() < one.silhouette - 0.1
    assert one.inside.shape == (40, 1)


def test_separation_is_the_mean_silhouette_where_centres_span_the_map():
    X = _groups(4)
    labels = np.repeat(np.arange(4), 20)
    assert divide(X, [4])[0].silhouette == pytest.approx(silhouettes(X, labels).mean())


def test_points_that_coincide_are_best_divided_as_they_lie():
    X = np.repeat([[0.0, 0], [5, 0], [0, 5]], 4, axis=0)
    three, four = divide(X, [3, 4])
    assert three.silhouette == 1.0
    assert four.silhouette < 1.0
    assert len(np.unique(four.labels)) == 4


def test_ward_clusters_are_those_of_scipy():
    from scipy.cluster.hierarchy import cut_tree, linkage

    from trilens.questions.cluster.suggest import _cut

    tree = linkage(np.random.default_rng(3).normal(size=(40, 3)), "ward")
    found = _cut(tree, range(2, 9))
    for number in range(2, 9):
        assert purity(found[number], cut_tree(tree, number)[:, 0]) == 1.0
        assert len(np.unique(found[number])) == number


def test_what_errors_add_to_groups_is_taken_off():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 200)
    true = CENTRES[labels] + rng.normal(size=(600, 2))
    errors = np.array([[4.0, 1.0], [1.0, 1.0]]) * rng.uniform(0, 2, size=(600, 1, 1))
    noise = np.einsum("nij,nj->ni", np.linalg.cholesky(errors), rng.normal(size=(600, 2)))
    seen = true + noise
    for X, known, expected in (
        (true, np.zeros((600, 2, 2)), 1.0),
        (seen, errors, 1.0),
        (seen, np.zeros((600, 2, 2)), 3.5),
    ):
        share = within_shares(X[None], known[None], labels[None])[0]
        assert share * X.var(axis=0).mean() == pytest.approx(expected, rel=0.1)


@pytest.mark.slow
def test_groups_that_errors_hide_are_found_where_the_errors_are_known():
    rng = np.random.default_rng(1)
    found = []
    for _ in range(12):
        true = np.repeat(CENTRES[:3], 20, axis=0) + 0.5 * rng.normal(size=(60, 2))
        # far off along the line from the middle, and hardly across it
        out = true - true.mean(axis=0)
        out /= np.linalg.norm(out, axis=1, keepdims=True)
        errors = 14.0 * out[:, :, None] * out[:, None] + 0.2 * np.eye(2)
        noise = np.einsum("nij,nj->ni", np.linalg.cholesky(errors), rng.normal(size=(60, 2)))
        known, unknown = (
            suggest_clusters(true + noise, errors=e).n_clusters == 3 for e in (errors, None)
        )
        found.append((known, unknown))
    known, unknown = np.sum(found, axis=0)
    assert known >= 4
    assert known > unknown


def test_eigenvalues_are_those_of_the_laplacian():
    graph = neighbour_graph(_groups(3))
    W = graph.toarray()
    root = W.sum(axis=1) ** -0.5
    expected = 1 - np.linalg.eigvalsh(W * root * root[:, None])[::-1]
    values, vectors = laplacian_eigenvectors(graph, 4)
    np.testing.assert_allclose(values, expected[:4], atol=1e-9)
    degree = W.sum(axis=1)
    np.testing.assert_allclose(
        degree[:, None] * vectors - W @ vectors, values * degree[:, None] * vectors, atol=1e-9
    )


def test_neighbour_graph_of_few_and_many_objects_agree():
    from trilens.questions.cluster import spectral as module

    X = np.random.default_rng(0).normal(size=(80, 2))
    by_distances = neighbour_graph(X).toarray()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ALL_DISTANCES", 0)
        np.testing.assert_allclose(neighbour_graph(X).toarray(), by_distances)
    assert ((by_distances > 0).sum(axis=1) >= 10).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_too_few_objects_are_one_cluster(n):
    found = suggest_clusters(np.arange(2.0 * n).reshape(n, 2) if n < 3 else np.zeros((3, 2)))
    assert found.n_clusters == 1
    assert found.candidates == ()


def test_silhouettes_of_one_cluster_are_zero():
    assert (
        silhouettes(np.random.default_rng(0).normal(size=(4, 2)), np.zeros(4, int)).tolist()
        == [0] * 4
    )


@pytest.mark.parametrize("dim", [2, 3])
def test_dimension_of_the_map(dim):
    points = np.random.default_rng(dim).normal(size=(60, dim))
    S = simulate_statements(points, 8000, error_rate=0.1, random_state=0)
    assert map_dimension(count_pairs(S)) == dim


@pytest.mark.parametrize(
    "kind",
    [
        "central",
        pytest.param("odd", marks=pytest.mark.slow),
        pytest.param("closer", marks=pytest.mark.slow),
    ],
)
def test_groups_from_answers_with_errors(kind):
    drawn = mixture(60, [[0, 0], [9, 0], [0, 9]], random_state=0)
    S = simulate_statements(drawn.points, 4000, kind, error_rate=0.1, random_state=1)
    found = cluster(S, method="choice")
    assert found.n_clusters == 3
    assert purity(found.labels, drawn.labels) > 0.95
    assert found.stability.agreement > 0.8
    assert found.suggestion.caution is None


def test_a_cloud_has_no_groups_and_the_limit_is_said():
    points = np.random.default_rng(8).normal(size=(30, 2))
    found = cluster(simulate_statements(points, 1500, random_state=3), method="choice")
    assert (found.n_clusters, found.stability) == (1, None)
    assert "cannot tell how wide" in found.suggestion.caution
    odd = simulate_statements(points, 1500, "odd", random_state=3)
    assert cluster(odd, method="choice").suggestion.caution is None


@pytest.mark.parametrize("method", ["auto", "lensmap"])
def test_nothing_said_is_one_group(method):
    S = Statements(np.zeros((0, 3), dtype=int), names=list("abcde"))
    found = cluster(S, method=method)
    assert (found.n_clusters, found.suggestion, found.stability) == (1, None, None)
    assert cluster(S, 2, method=method).n_clusters == 2


@pytest.mark.parametrize("kind", ["odd", "closer"])
def test_a_lens_map_of_other_kinds_does_not_tell_whether_there_are_groups(kind):
    points = np.random.default_rng(0).normal(size=(40, 2))
    S = simulate_statements(points, 1500, kind, error_rate=0.1, random_state=0)
    found = cluster(S, method="lensmap")
    assert found.n_clusters == 1
    assert found.suggestion.p_value is None
    assert "shows groups even where there are none" in found.suggestion.caution


@pytest.mark.parametrize("scale", [1e-200, 1e150])
def test_the_unit_of_a_map_does_not_matter(scale):
    X = _groups(3)
    assert suggest_clusters(scale * X).n_clusters == 3
    errors = np.tile(0.1 * np.eye(2), (60, 1, 1))
    assert suggest_clusters(100 * X, errors=1e4 * errors).p_value == pytest.approx(
        suggest_clusters(X, errors=errors).p_value
    )
