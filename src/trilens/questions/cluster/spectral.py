"""Spectral clustering: of the estimated k-RNG (Algorithm 5), and of the neighbors on a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import seed_of, whole_number
from trilens._typing import FloatArray, IntArray, RandomState
from trilens.errors import ParameterError
from trilens.lens import spectral_clusters
from trilens.maps.geometry import rescaled
from trilens.questions.labels import in_order_of_appearance

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Of more objects a sample is clustered: the eigenvectors of many take long to find.
_MOST_SPECTRAL = 10_000
#: Up to so many points all distances at once are quicker than a tree.
_ALL_DISTANCES = 2000


def check_n_clusters(n_clusters: int, n_objects: int) -> None:
    whole_number("n_clusters", n_clusters, least=1)
    if n_clusters > n_objects:
        raise ParameterError(
            f"{n_clusters} clusters of {n_objects} objects: ask for fewer clusters"
        )


def purity(clusters: ArrayLike, classes: ArrayLike) -> float:
    """The share of objects that belong to the most frequent class of their cluster.

    >>> purity([0, 0, 1, 1], ["a", "a", "a", "b"])
    0.75
    """
    from sklearn.metrics.cluster import contingency_matrix

    try:
        found, known = np.asarray(clusters), np.asarray(classes)
    except (TypeError, ValueError):
        raise ParameterError("clusters and classes are one of each for every object") from None
    if found.ndim != 1 or found.shape != known.shape or not len(found):
        raise ParameterError(
            f"{found.size} clusters for {known.size} classes: give one of each for every object"
        )
    return float(contingency_matrix(known, found).max(axis=0).sum() / len(known))


def coordinate_clusters(
    coordinates: FloatArray,
    n_clusters: int,
    k: int = 10,
    sigma: float = 0.5,
    random_state: RandomState = 0,
) -> IntArray:
    """The paper's clustering of an embedding.

    Spectral clustering of the symmetric k-NN graph (i and j are neighbors when one is among
    the k nearest of the other) with weights ``exp(-|u_i - u_j|^2 / sigma^2)``, the
    coordinates rescaled to diameter 2. Of more than 10,000 objects so many, drawn at random,
    are clustered, and each of the others joins the nearest of them. In one dimension a border is
    moved to the widest gap near it.
    """
    n = len(coordinates)
    check_n_clusters(n_clusters, n)
    if not k >= 1 or not sigma > 0:
        raise ParameterError(f"k is {k} and sigma {sigma}; both must be positive")
    if n <= n_clusters or n == 1:
        return np.arange(n)
    if n > _MOST_SPECTRAL:
        return in_order_of_appearance(_by_sample(coordinates, n_clusters, k, sigma, random_state))
    graph = neighbour_graph(coordinates, k, sigma)
    found = spectral_clusters(graph, n_clusters, random_state)
    if coordinates.shape[1] == 1:
        found = with_borders_at_gaps(coordinates[:, 0], found)
    return in_order_of_appearance(found)


def with_borders_at_gaps(along: FloatArray, labels: IntArray) -> IntArray:
    """The same groups of objects on a line, with every border at the widest gap near it.

    Near is a tenth of the objects to either side, and less than half-way to the next border.

    >>> with_borders_at_gaps(np.array([0.0, 1, 2, 9, 10, 11, 12]), np.array([0, 0, 0, 0, 1, 1, 1]))
    array([0, 0, 0, 1, 1, 1, 1])
    """
    order = np.argsort(along, kind="stable")
    borders = np.flatnonzero(np.diff(labels[order]))
    if len(borders) != len(np.unique(labels)) - 1:  # groups that are not one after the other
        return labels
    steps, reach = np.diff(along[order]), max(1, len(along) // 10)
    ends = np.r_[-1, borders, len(along) - 1]
    moved = np.zeros(len(along), dtype=np.int64)
    for before, border, after in zip(ends, borders, ends[2:], strict=False):
        first = border - min(reach, (border - before - 1) // 2)
        last = border + min(reach, (after - border - 1) // 2)
        widest = first + int(steps[first : last + 1].argmax())
        moved[order[widest + 1 :]] += 1
    return moved


def _by_sample(
    coordinates: FloatArray, n_clusters: int, k: int, sigma: float, random_state: RandomState
) -> IntArray:
    """The clusters of a sample, and for every other object that of the nearest one in it."""
    from scipy.spatial import KDTree

    seed = seed_of(random_state)
    rng = np.random.default_rng([seed, 31])
    drawn = np.sort(rng.choice(len(coordinates), _MOST_SPECTRAL, replace=False))
    found = coordinate_clusters(coordinates[drawn], n_clusters, k, sigma, seed)
    _, nearest = KDTree(coordinates[drawn]).query(coordinates, workers=-1)
    return np.asarray(found[nearest], dtype=np.int64)


def neighbour_graph(coordinates: FloatArray, k: int = 10, sigma: float = 0.5) -> csr_array:
    """The weighted symmetric k-NN graph that `coordinate_clusters` divides.

    Equal points are neighbors of weight 1. A weight that underflows is kept just above 0, so
    that no edge is lost.
    """
    from scipy.sparse import csr_array

    X, n = rescaled(coordinates), len(coordinates)
    k = min(k, n - 1)
    if n <= _ALL_DISTANCES:
        from scipy.spatial.distance import cdist

        distance = cdist(X, X)
        np.fill_diagonal(distance, np.inf)
        nearest = np.argpartition(distance, k - 1, axis=1)[:, :k]
        length = np.take_along_axis(distance, nearest, axis=1).ravel()
        near = csr_array((length, nearest.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    else:
        from sklearn.neighbors import kneighbors_graph

        near = csr_array(kneighbors_graph(X, k, mode="distance"))
    with np.errstate(over="ignore", under="ignore"):
        weight = np.exp(-((near.data / sigma) ** 2))
    near.data = np.maximum(weight, np.finfo(float).tiny ** 0.5)
    return near.maximum(near.T).tocsr()
