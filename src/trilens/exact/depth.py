"""Lens depth: how many lenses hold an object; and lenses: how many objects each holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from trilens._parameters import real_number, thread_count
from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray, Progress, RandomState
from trilens.errors import ParameterError
from trilens.exact._threads import by_blocks
from trilens.exact.devices import choose_device, count_on
from trilens.exact.queries import query_depths
from trilens.exact.samples import TILE, Rows, Sample
from trilens.exact.sampling import PairSample
from trilens.exact.semimetrics import Metric
from trilens.exact.sweep import sweep_pairs


def lens_depth(
    D: npt.ArrayLike,
    queries: npt.ArrayLike | None = None,
    *,
    normalise: bool = True,
    metric: Metric | None = None,
    metric_params: dict[str, Any] | None = None,
    device: str = "auto",
    precision: float | None = None,
    confidence: float = 0.95,
    random_state: RandomState = 0,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Any:
    """The share of pairs of other objects whose lens holds x: what `trilens.lens_depth` estimates.

    Of statements that answer every question about the objects of D once, `trilens.lens_depth`
    is the same. Exact with ties too: a triple without a strictly longest side adds to no depth.

    Parameters
    ----------
    D : (n, n) array, or (n, d) points where ``metric`` is given
        Dissimilarities, as in :func:`trilens.exact.lens_counts`; a memory map is read in blocks.
    queries : (q, n) array, or (q, d) points where ``metric`` is given, optional
        New objects, whose depth with respect to those of D is wanted: they are not added to it.
        One that equals an object of D lies in no lens of that object.
    normalise
        Divide by (n - 1)(n - 2)/2, the pairs of other objects, or by n(n - 1)/2 for queries: a
        share from 0 to 1, and 0 where there is no such pair. With False, the number of these
        pairs: the paper's LD(x; D).
    metric, metric_params
        As in :func:`trilens.exact.dissimilarities`: D holds points. Their dissimilarities are
        computed in blocks and never held as a whole.
    device
        ``"cpu"``; ``"cuda"`` for an NVIDIA GPU (``pip install 'trilens[gpu]'``); ``"auto"`` for a
        GPU where there is one and the work is worth it. The integers are the same. Queries and
        estimates are computed on the processor.
    precision, confidence, random_state
        With ``precision``, an estimate from pairs drawn with replacement: the interval of every
        object reaches no farther than this from its estimate, and holds the depth with the
        probability ``confidence`` (Clopper and Pearson's: for every number of pairs, not only in
        the limit). Only the distances to drawn points are computed.
    n_threads
        Threads, by default as many as there are processors to use.
    progress
        Called from the calling thread with the share of the work that is done.

    Returns
    -------
    (n,) or (q,) array
        float64, or int64 without ``normalise``; a :class:`trilens.exact.DepthEstimate` with
        ``precision``.

    Examples
    --------
    >>> lens_depth([0, 1, 3, 4], metric="euclidean").round(2)
    array([0.  , 0.67, 0.67, 0.  ])
    >>> lens_depth([0, 1, 3, 4], metric="euclidean", normalise=False)
    array([0, 2, 2, 0])
    >>> lens_depth([0, 1, 3, 4], queries=[2, 9], metric="euclidean").round(2)
    array([0.67, 0.  ])
    """
    sample = Sample(D, metric, metric_params)
    if precision is not None:
        return PairSample(sample, random_state).estimate(
            queries,
            precision=precision,
            confidence=confidence,
            n_threads=n_threads,
            progress=progress,
        )
    if queries is not None:
        choose_device(device, 0)
        Q = sample.to(queries)
        depth = query_depths(sample.rows, Q, n_threads=n_threads, progress=progress)
        return share_of_pairs(depth, sample.n) if normalise else depth
    depth = count_lenses(sample, device, depth=True, n_threads=n_threads, progress=progress)[1]
    return share_of_pairs(depth, sample.n - 1) if normalise else depth


def count_lenses(
    sample: Sample,
    device: str,
    *,
    counts: bool = False,
    depth: bool = False,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Int32Array, IntArray]:
    """Sizes and depths, of which those asked for count, on the device that is asked for."""
    gpu = choose_device(device, sample.n)
    if gpu is not None:
        optional = device == "auto"
        found = count_on(gpu, sample, counts=counts, optional=optional, progress=progress)
        if found is not None:
            return found
    return sweep_pairs(
        sample.rows, counts=counts, depth=depth, n_threads=n_threads, progress=progress
    )


def share_of_pairs(depth: IntArray, n: int) -> FloatArray:
    """Depth as a share of the pairs of n objects."""
    return np.asarray(depth / max(n * (n - 1) // 2, 1))


def lens_counts(
    D: npt.ArrayLike,
    *,
    metric: Metric | None = None,
    metric_params: dict[str, Any] | None = None,
    device: str = "auto",
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Int32Array:
    """For every pair the number of objects in its lens.

    Lens(i, j) holds the objects k with d(i, k) < d(i, j) and d(j, k) < d(i, j), as the paper
    defines it: those for which i, j is the strictly longest side of the triple. The
    inequalities are strict, on the numbers as given.

    Parameters
    ----------
    D : (n, n) array, or (n, d) points where ``metric`` is given
        Dissimilarities of any numeric type: symmetric, zero on the diagonal, not negative.
        The triangle inequality need not hold.
    metric, metric_params
        As in :func:`trilens.exact.dissimilarities`: D holds points.
    device
        As in :func:`trilens.exact.lens_depth`.
    n_threads
        Threads, by default as many as there are processors to use.
    progress
        Called from the calling thread with the share of the work that is done.

    Returns
    -------
    (n, n) int32 array
        Symmetric, with a diagonal of zeros.

    Examples
    --------
    >>> lens_counts([0, 1, 3], metric="euclidean")
    array([[0, 0, 1],
           [0, 0, 0],
           [1, 0, 0]], dtype=int32)
    """
    sample = Sample(D, metric, metric_params)
    return count_lenses(sample, device, counts=True, n_threads=n_threads, progress=progress)[0]


def local_lens_depth(
    D: npt.ArrayLike,
    tau: float | None = None,
    *,
    share: float | None = None,
    normalise: bool = True,
    metric: Metric | None = None,
    metric_params: dict[str, Any] | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """The share of pairs, of those not farther apart than tau, whose lens holds x.

    This is the paper's eq. (23) as a share of all pairs of other objects.

    Lens depth measures how central an object is in the whole; this, how crowded its
    surroundings are: for small tau it is close to the square of the density. An object between
    two groups, which lens depth takes for the medoid, lies in no lens of near pairs.

    Parameters
    ----------
    D : (n, n) array, or (n, d) points where ``metric`` is given
        Dissimilarities, as in :func:`trilens.exact.lens_depth`.
    tau
        The largest dissimilarity of a pair that counts.
    share
        In place of tau: the share of all pairs that count, the nearest ones (equally far ones
        together). One of the two is needed.
    normalise
        Divide by (n - 1)(n - 2)/2, the pairs of other objects; with False, their number.
    metric, metric_params, n_threads, progress
        As in :func:`trilens.exact.lens_depth`.

    Returns
    -------
    (n,) array
        float64, or int64 without ``normalise``.

    Examples
    --------
    >>> line = [0, 1, 2, 6, 10, 11, 12]
    >>> local_lens_depth(line, 2, metric="euclidean", normalise=False)
    array([0, 1, 0, 0, 0, 1, 0])
    >>> local_lens_depth(line, share=1.0, metric="euclidean", normalise=False)
    array([0, 5, 8, 9, 8, 5, 0])
    """
    if (tau is None) == (share is None):
        raise ParameterError("give either tau (the largest dissimilarity) or share (of the pairs)")
    sample = Sample(D, metric, metric_params)
    n, threads = sample.n, thread_count(n_threads)
    limit = nearest_pairs(sample.rows, share) if tau is None else real_number("tau", tau, 0)
    depth = np.zeros(n, np.int64)

    def some(first: int, stop: int) -> IntArray:
        found = np.zeros(n, np.int64)
        rows = np.asarray(sample.rows.block(first, stop))
        for i, row in enumerate(rows, start=first):
            close = np.flatnonzero(row <= limit)
            close = close[close != i]
            # what lies in Lens(i, j) is nearer to i than j is, so it is close too
            sides = row[close]
            inside = (sample.among(close) < sides[:, None]) & (sides < sides[:, None])
            found[close] += inside[close > i].sum(axis=0)
        return found

    for found in by_blocks(some, n, TILE, threads, progress):
        depth += found
    return depth / max((n - 1) * (n - 2) // 2, 1) if normalise else depth


def nearest_pairs(rows: Rows, share: Any) -> float:
    """The dissimilarity up to which a share of the pairs lie."""
    wanted = real_number("share", share, 0, 1)
    n = rows.n
    sides = [
        row[i + 1 :]
        for at in range(0, n, TILE)
        for i, row in enumerate(np.asarray(rows.block(at, min(n, at + TILE))), start=at)
    ]
    pairs = np.concatenate([*sides, np.empty(0)])
    count = int(np.ceil(wanted * len(pairs) - 1e-9))
    return float(np.partition(pairs, count - 1)[count - 1]) if count else -1.0
