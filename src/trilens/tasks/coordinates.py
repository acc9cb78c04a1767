"""The embedding route: coordinates first, then an ordinary method on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._typing import FloatArray, IntArray, Progress, RandomState
from trilens.errors import ParameterError
from trilens.statements import StatementsLike, as_statements
from trilens.tasks.clustering import check_n_clusters, in_order_of_appearance
from trilens.tasks.spectral import spectral_clusters

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Up to so many points all distances at once are quicker than a tree.
_ALL_DISTANCES = 2000
#: The maps by their names on the command line.
MAPS = ("lensmap", "soe", "ste", "tste", "gnmds")


def make_map(
    method: str, n_components: Any = 2, random_state: RandomState = 0, **parameters: Any
) -> Any:
    """The map estimator of that name, unfitted."""
    from trilens import maps

    estimators = {
        "lensmap": maps.LensMap,
        "soe": maps.SOE,
        "ste": maps.STE,
        "tste": maps.TSTE,
        "gnmds": maps.GNMDS,
    }
    if method not in estimators:
        raise ParameterError(f"method is {method!r}; a map is one of {', '.join(MAPS)}")
    return estimators[method](n_components=n_components, random_state=random_state, **parameters)


def coordinates(
    statements: StatementsLike,
    method: str = "lensmap",
    n_components: Any = 2,
    random_state: RandomState = 0,
    progress: Progress | None = None,
    **parameters: Any,
) -> FloatArray:
    """Coordinates of every object by one of the maps, for every kind of statement."""
    model = make_map(method, n_components, random_state, **parameters)
    return np.asarray(model.fit_transform(as_statements(statements)))


def total_distance(coordinates: FloatArray) -> FloatArray:
    """The total distance of each point to all others; the medoid has the least."""
    from scipy.spatial.distance import cdist

    # a thousand rows at a time: n^2 distances need not fit in memory
    blocks = np.array_split(coordinates, max(1, len(coordinates) // 1000))
    return np.concatenate([cdist(block, coordinates).sum(axis=1) for block in blocks])


def rescaled(coordinates: FloatArray) -> FloatArray:
    """The coordinates with diameter 2, as the paper rescales an embedding.

    >>> rescaled(np.array([[0.0], [3.0], [8.0]])).ravel().tolist()
    [0.0, 0.75, 2.0]
    """
    from scipy.spatial.distance import pdist

    diameter = pdist(coordinates).max(initial=0.0)
    return coordinates * (2 / diameter) if diameter > 0 else coordinates


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
    coordinates rescaled to diameter 2.
    """
    n = len(coordinates)
    check_n_clusters(n_clusters, n)
    if not k >= 1 or not sigma > 0:
        raise ParameterError(f"k is {k} and sigma {sigma}; both must be positive")
    if n <= n_clusters or n == 1:
        return np.arange(n)
    graph = neighbour_graph(coordinates, k, sigma)
    return in_order_of_appearance(spectral_clusters(graph, n_clusters, random_state))


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
    near.data = np.maximum(np.exp(-(near.data**2) / sigma**2), np.finfo(float).tiny ** 0.5)
    return near.maximum(near.T).tocsr()
