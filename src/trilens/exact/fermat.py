"""The sample Fermat distance: shortest paths through the points, long steps dear."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from trilens._parameters import real_number, whole_number
from trilens._typing import AnyArray, FloatArray
from trilens.errors import DissimilarityError
from trilens.exact.metrics import Metric, open_metric


def fermat_dissimilarities(
    points: npt.ArrayLike,
    *,
    alpha: float = 2.0,
    n_neighbors: int | None = None,
    metric: Metric = "euclidean",
) -> FloatArray:
    """Sample Fermat distances: the least sum of d(x, y)^alpha over paths through the points.

    With alpha above 1 a path of short steps through a dense region is shorter than one long
    step through an empty one, so that the distance follows the shape of the sample. [1]_

    Parameters
    ----------
    points : (n, d) array
    alpha
        1 or more; 1 gives the metric itself where it keeps the triangle inequality.
    n_neighbors
        Steps only between points of which one is among so many nearest of the other. Without
        it every step is allowed, and the work is cubic.
    metric
        Of a single step, as in :func:`dissimilarities`.

    Returns
    -------
    (n, n) float64 array

    References
    ----------
    .. [1] P. Groisman, M. Jonckheere, F. Sapienza. Nonhomogeneous Euclidean first-passage
       percolation and distance learning. Bernoulli 28(1):255-276, 2022. For lens depth of the
       embeddings of a neural network: arXiv:2404.08476.

    Examples
    --------
    >>> fermat_dissimilarities([0.0, 1.0, 2.0])
    array([[0., 1., 2.],
           [1., 0., 1.],
           [2., 1., 0.]])
    """
    from trilens.exact.semimetrics import dissimilarities

    steps = _steps(dissimilarities(points, metric), alpha)
    if n_neighbors is None or n_neighbors >= len(steps) - 1:
        if n_neighbors is not None:
            whole_number("n_neighbors", n_neighbors, least=1)
        return _all_paths(steps)
    return _paths_by_neighbours(steps, whole_number("n_neighbors", n_neighbors, least=1))


class FermatSample:
    """Sample Fermat distances of new points to a sample that they are not part of."""

    def __init__(self, points: AnyArray, D: FloatArray, params: dict[str, Any]) -> None:
        self.points, self.D = points, D
        self.alpha = float(params.get("alpha", 2.0))
        self.n_neighbors = params.get("n_neighbors")
        self.distance = open_metric(params.get("metric", "euclidean"), points)

    def __call__(self, new: AnyArray, points: AnyArray) -> FloatArray:
        """The first step from each new point, then the way from there."""
        n = len(self.D)
        steps = _steps(self.distance(new, points), self.alpha)
        nearest = n if self.n_neighbors is None else min(n, int(self.n_neighbors))
        ways = np.empty_like(steps)
        for x, row in enumerate(steps):
            first = np.argpartition(row, nearest - 1)[:nearest] if nearest < n else np.arange(n)
            # the nearest first: once a first step is longer than every way, no other helps
            first = first[np.argsort(row[first], kind="stable")]
            way = self.D[first[0]] + row[first[0]]
            for at in range(1, len(first), 64):
                some = first[at : at + 64]
                if row[some[0]] >= way.max():
                    break
                np.minimum(way, (self.D[some] + row[some, None]).min(axis=0), out=way)
            ways[x] = way
        return ways


def _steps(D: FloatArray, alpha: float) -> FloatArray:
    power = real_number("alpha", alpha, least=1)
    with np.errstate(over="ignore"):
        steps: FloatArray = D if power == 1 else D**power
    if not np.isfinite(steps).all():
        raise DissimilarityError(
            f"distances to the power alpha={alpha} are not finite; scale the points down"
        )
    return steps


def _all_paths(steps: FloatArray) -> FloatArray:
    from trilens.exact._paths import relax

    ways = np.array(steps)
    relax(ways)
    # the two directions of a path are summed in different orders
    symmetric: FloatArray = np.minimum(ways, ways.T)
    return symmetric


def _paths_by_neighbours(steps: FloatArray, n_neighbors: int) -> FloatArray:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, dijkstra

    n = len(steps)
    masked = steps.copy()
    np.fill_diagonal(masked, np.inf)
    near = np.argpartition(masked, n_neighbors - 1, axis=1)[:, :n_neighbors]
    rows = np.repeat(np.arange(n), n_neighbors)
    # a step of length 0 is a step: the least positive number stands for it in a sparse graph
    tiny = np.nextafter(0, 1)
    weights = np.maximum(steps[rows, near.ravel()], tiny)
    graph = csr_array((weights, (rows, near.ravel())), shape=(n, n))
    pieces = connected_components(graph, directed=False)[0]
    if pieces > 1:
        raise DissimilarityError(
            f"the points fall into {pieces:,} pieces that no step joins with n_neighbors="
            f"{n_neighbors}; give more neighbours, or None"
        )
    ways = dijkstra(graph.maximum(graph.T), directed=False)
    np.copyto(ways, 0.0, where=ways < n * tiny)
    symmetric: FloatArray = np.minimum(ways, ways.T)
    return symmetric
