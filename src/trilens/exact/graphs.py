"""The k-RNG of many objects as a sparse graph, without the lenses of all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trilens._parameters import real_number, thread_count, whole_number
from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray, Progress
from trilens.exact._threads import by_blocks
from trilens.exact.samples import TILE, Sample
from trilens.exact.semimetrics import ALIASES, Metric
from trilens.exact.sweep import sweep_pairs

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Objects up to which all lenses are counted: as soon done as the search by boxes is, or the one
#: pair by pair.
SWEPT, SWEPT_PAIRS = 2000, 15_000
#: Coordinates up to which boxes of points are worth a tree.
FEW = 8
#: Points in a box that is not divided any more.
_LEAF = 12

#: Pairs i < j and the objects in their lenses.
_Edges = tuple[IntArray, Int32Array]


def k_rng(
    D: npt.ArrayLike,
    k: int,
    sigma: float | None = None,
    *,
    metric: Metric | None = None,
    metric_params: dict[str, Any] | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> csr_array:
    """The k-relative neighborhood graph: pairs with fewer than k objects in their lens.

    Points are searched: those of up to 8 euclidean coordinates by boxes that drop out as a whole,
    those of another metric pair by pair, each dropped as soon as k neighbors are known to lie in
    its lens. A matrix is swept, a block at a time.

    Parameters
    ----------
    D : (n, n) array, or (n, d) points where ``metric`` is given
        Dissimilarities, as in :func:`lens_counts`.
    k
        1 or more; k = 1 is the relative neighborhood graph.
    sigma
        Weights the edges by exp(-(c / (n - 2))^2 / sigma^2), c the objects in the lens, as in
        Algorithm 5; without it every edge weighs 1.
    metric, metric_params, n_threads, progress
        As in :func:`trilens.exact.lens_depth`.

    Returns
    -------
    (n, n) csr_array of float64
        Symmetric, nothing on the diagonal.

    Examples
    --------
    >>> k_rng([0, 1, 3], 1, metric="euclidean").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    from scipy.sparse import coo_array, csr_array

    k = whole_number("k", k, least=1)
    width = None if sigma is None else real_number("sigma", sigma, positive=True)
    sample = Sample(D, metric, metric_params)
    n, threads = sample.n, thread_count(n_threads)
    euclidean = ALIASES.get(str(sample.metric), sample.metric) == "euclidean" and not sample.params
    boxes = euclidean and sample.points is not None and sample.points.shape[1] <= FEW
    few = n <= (SWEPT if boxes else SWEPT_PAIRS)
    if few or sample.points is None or sample.metric == "fermat":
        pairs, sizes = _swept(sample, k, threads, progress)
    elif boxes:
        pairs, sizes = _by_boxes(sample.points, k, threads, progress)
    else:
        pairs, sizes = _pair_by_pair(sample, k, threads, progress)
    if progress is not None:
        progress(1.0)
    share = sizes / max(n - 2, 1)
    weights = np.ones(len(share))
    if width is not None:
        with np.errstate(over="ignore", under="ignore"):
            # a weight that underflows is kept just above 0, so that no edge is lost
            weights = np.maximum(np.exp(-((share / width) ** 2)), np.finfo(float).tiny ** 0.5)
    i, j = pairs.T
    both = (np.concatenate([i, j]), np.concatenate([j, i]))
    graph: csr_array = csr_array(coo_array((np.r_[weights, weights], both), shape=(n, n)))
    graph.sort_indices()
    return graph


def _swept(sample: Sample, k: int, threads: int, progress: Progress | None) -> _Edges:
    """Edges out of the sizes of all lenses, a block at a time."""
    found: list[_Edges] = []

    def take(i0: int, j0: int, sizes: Int32Array) -> None:
        at = np.argwhere(sizes < k)
        values = sizes[at[:, 0], at[:, 1]]
        pairs = at + np.array([i0, j0])
        real = pairs[:, 0] < pairs[:, 1]
        found.append((pairs[real], values[real]))

    sweep_pairs(sample.rows, take=take, n_threads=threads, progress=progress)
    return _together(found)


def _together(found: list[_Edges]) -> _Edges:
    if not found:
        return np.empty((0, 2), np.int64), np.empty(0, np.int32)
    return np.concatenate([pairs for pairs, _ in found]), np.concatenate([s for _, s in found])


def _by_boxes(points: AnyArray, k: int, threads: int, progress: Progress | None) -> _Edges:
    """Edges by a tree of boxes, points in few dimensions."""
    from scipy.spatial import cKDTree

    from trilens.exact._kernels import neighbours

    X = np.ascontiguousarray(points, np.float64)
    order, tree = _boxes(X)
    X = np.ascontiguousarray(X[order])
    n = len(X)
    m = min(n - 1, 4 * k + 8)
    near: AnyArray = np.asarray(cKDTree(X).query(X, m + 1, workers=threads)[1])
    # the point itself stands first, or one at the same place; either is of no use in a lens
    own = near == np.arange(n)[:, None]
    near[~own.any(axis=1), 0] = -1
    near = near[(near != -1) & ~own].reshape(n, m).astype(np.int64)

    def some(first: int, stop: int) -> _Edges:
        room = (stop - first) * (8 * k + 16)
        while True:
            pairs, sizes = np.empty((room, 2), np.int64), np.empty(room, np.int32)
            count = neighbours(X, near, k, first, stop, *tree, pairs, sizes)
            if count <= room:
                return pairs[:count], sizes[:count]
            room = count

    step = max(16, min(1024, -(-n // (8 * threads))))
    pairs, sizes = _together(list(by_blocks(some, n, step, threads, progress)))
    return np.sort(order[pairs], axis=1), sizes


def _boxes(X: FloatArray) -> tuple[IntArray, tuple[AnyArray, ...]]:
    """A tree of boxes, halved across their longest side: the order of the points, and the boxes."""
    order = np.arange(len(X))
    lows: list[FloatArray] = []
    highs: list[FloatArray] = []
    ends: list[list[int]] = []

    def divide(start: int, stop: int) -> int:
        box = len(ends)
        part = X[order[start:stop]]
        lows.append(part.min(axis=0))
        highs.append(part.max(axis=0))
        ends.append([start, stop, -1, -1])
        if stop - start > _LEAF:
            axis = int(np.argmax(highs[box] - lows[box]))
            middle = (stop - start) // 2
            order[start:stop] = order[start:stop][np.argpartition(part[:, axis], middle)]
            ends[box][2] = divide(start, start + middle)
            ends[box][3] = divide(start + middle, stop)
        return box

    divide(0, len(X))
    starts, stops, lefts, rights = np.array(ends, np.int64).T.copy()
    return order, (np.array(lows), np.array(highs), starts, stops, lefts, rights)


def _pair_by_pair(sample: Sample, k: int, threads: int, progress: Progress | None) -> _Edges:
    """Edges for any metric: pairs dropped by the neighbors of one end, the rest counted out."""
    points, distance, n = sample.points, sample.distance, sample.n
    m = min(n - 1, 4 * k + 12)

    def edges_of(i: int, row: FloatArray) -> _Edges:
        near = np.argpartition(row, m)[: m + 1]
        near = near[near != i]
        near = near[np.argsort(row[near], kind="stable")]
        alive = np.arange(i + 1, n)
        inside = np.zeros(len(alive), np.int32)
        for p in near:
            # lenses of pairs shorter than this do not reach p
            to = distance(points[p : p + 1], points[alive])[0]
            inside += (to < row[alive]) & (row[p] < row[alive])
            keep = inside < k
            if not keep.all():
                alive, inside = alive[keep], inside[keep]
            if len(alive) == 0:
                break
        edges, sizes = [], []
        for j in alive:
            nearer = np.flatnonzero(row < row[j])
            nearer = nearer[nearer != i]
            size = 0
            for at in range(0, len(nearer), 4096):
                some = points[nearer[at : at + 4096]]
                size += int(np.count_nonzero(distance(points[j : j + 1], some)[0] < row[j]))
                if size >= k:
                    break
            if size < k:
                edges.append((i, j))
                sizes.append(size)
        return np.array(edges, np.int64).reshape(-1, 2), np.array(sizes, np.int32)

    def some(at: int, end: int) -> _Edges:
        rows = sample.rows.block(at, end)
        return _together([edges_of(at + r, row) for r, row in enumerate(rows)])

    return _together(list(by_blocks(some, n, TILE, threads, progress)))
