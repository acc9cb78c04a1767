"""Clusters on a map: the paper's spectral clustering of an embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._parameters import seed_of
from trilens._typing import FloatArray, IntArray
from trilens.errors import ParameterError
from trilens.maps.geometry import rescaled
from trilens.tasks.cluster.partition import check_n_clusters, in_order_of_appearance
from trilens.tasks.cluster.spectral import spectral_clusters

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Of more objects a sample is clustered: the eigenvectors of many take long to find.
_MOST_SPECTRAL = 10_000
#: Up to so many points all distances at once are quicker than a tree.
_ALL_DISTANCES = 2000


def map_parameters(
    method: str, coordinates: FloatArray, k: int, sigma: float, error_rate: float
) -> dict[str, Any]:
    """The method and its parameters, as `trilens.cluster` tells them."""
    return {
        "method": method,
        "dim": coordinates.shape[1],
        "k": k,
        "sigma": sigma,
        "error_rate": error_rate,
    }


def coordinate_clusters(
    coordinates: FloatArray,
    n_clusters: int,
    k: int = 10,
    sigma: float = 0.5,
    random_state: Any = None,
) -> IntArray:
    """The paper's clustering of an embedding.

    Spectral clustering of the symmetric k-NN graph (i and j are neighbours when one is among
    the k nearest of the other) with weights ``exp(-|u_i - u_j|^2 / sigma^2)``, the
    coordinates rescaled to diameter 2. Of more than 10,000 objects so many, drawn at random,
    are clustered, and each of the others joins the nearest of them.
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
    return in_order_of_appearance(spectral_clusters(graph, n_clusters, random_state))


def _by_sample(
    coordinates: FloatArray, n_clusters: int, k: int, sigma: float, random_state: Any
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

    Equal points are neighbours of weight 1. A weight that underflows is kept just above 0, so
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
