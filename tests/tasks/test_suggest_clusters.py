from __future__ import annotations

import numpy as np
import pytest

from trilens.counts import count_pairs
from trilens.simulate import mixture, simulate_statements
from trilens.tasks.cluster.map import coordinate_clusters, neighbour_graph
from trilens.tasks.cluster.suggest import (
    _k_means,
    map_dimension,
    partitions,
    quick_partitions,
    silhouettes,
    spectral_gaps,
    suggest_clusters,
)

CENTRES = np.array([[0, 0], [8, 0], [0, 8], [8, 8], [16, 4]])


def _groups(number, each=20, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(CENTRES[:number], each, axis=0) + rng.normal(size=(number * each, 2))


@pytest.mark.parametrize("number", [2, 3, 4, 5])
def test_clear_groups_are_counted(number):
    found = suggest_clusters(_groups(number))
    assert found.n_clusters == found.best == number
    assert len(np.unique(found.labels[number])) == number
    assert [c.n_clusters for c in found.candidates] == list(range(2, 9))
    assert found.cloud is not None
    assert found.candidates[number - 2].silhouette > found.cloud


def test_a_cloud_has_no_groups_more_often_than_not():
    suggested = [
        suggest_clusters(np.random.default_rng(seed).normal(size=(60, 2))).n_clusters
        for seed in range(10)
    ]
    assert sum(number == 1 for number in suggested) >= 9


def test_partitions_are_those_of_coordinate_clusters():
    X = np.random.default_rng(3).normal(size=(50, 3))
    found = partitions(X, [2, 3, 5], random_state=7)
    for number, labels in found.items():
        np.testing.assert_array_equal(labels, coordinate_clusters(X, number, random_state=7))


def test_quick_partitions_find_clear_groups():
    truth = np.repeat(np.arange(4), 20)
    for found in (quick_partitions(_groups(4), [4])[4], quick_partitions(_groups(4, 100), [4])[4]):
        pairs = np.unique(np.stack([np.repeat(np.arange(4), len(found) // 4), found]), axis=1)
        assert pairs.shape == (2, 4)
    assert len(truth) == 80


def test_neighbour_graph_of_few_and_many_objects_agree():
    from trilens.tasks.cluster import map as module

    X = np.random.default_rng(0).normal(size=(80, 2))
    by_distances = neighbour_graph(X).toarray()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ALL_DISTANCES", 0)
        np.testing.assert_allclose(neighbour_graph(X).toarray(), by_distances)
    assert ((by_distances > 0).sum(axis=1) >= 10).all()


def test_spectral_gaps_are_those_of_the_laplacian():
    X = _groups(3)
    W = neighbour_graph(X).toarray()
    root = W.sum(axis=1) ** -0.5
    values = 1 - np.linalg.eigvalsh(W * root * root[:, None])[::-1]
    gaps = spectral_gaps(X, [2, 3, 4])
    for number in (3, 4):
        assert gaps[number] == pytest.approx(1 - values[number - 1] / values[number], abs=1e-6)
    assert max(gaps, key=gaps.get) == 3


def test_k_means_of_equal_points():
    assert _k_means(np.zeros((5, 2)), 3, np.random.default_rng(0)).shape == (5,)


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


def test_suggestion_from_statements_with_errors():
    from trilens.maps import LensMap

    drawn = mixture(60, [[0, 0], [9, 0], [0, 9]], random_state=0)
    pairs = count_pairs(simulate_statements(drawn.points, 6000, error_rate=0.2, random_state=1))
    assert suggest_clusters(LensMap(2).fit_transform(pairs)).n_clusters == 3
