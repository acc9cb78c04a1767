"""Lens depth: how many lenses hold an object."""

from __future__ import annotations

from typing import Any, overload

import numpy.typing as npt

from trilens._typing import AnyArray, Int32Array, IntArray, Progress, RandomState
from trilens.exact.devices import choose_device, count_on
from trilens.exact.metrics import Metric
from trilens.exact.queries import query_depths
from trilens.exact.samples import Sample
from trilens.exact.sampling import DepthEstimate, estimate_depth
from trilens.exact.sweep import sweep_pairs


@overload
def lens_depth(
    D: npt.ArrayLike,
    queries: npt.ArrayLike | None = ...,
    *,
    normalise: bool = ...,
    metric: Metric | None = ...,
    metric_params: dict[str, Any] | None = ...,
    device: str = ...,
    precision: None = ...,
    confidence: float = ...,
    random_state: RandomState = ...,
    n_threads: int | None = ...,
    progress: Progress | None = ...,
) -> AnyArray: ...


@overload
def lens_depth(
    D: npt.ArrayLike,
    queries: npt.ArrayLike | None = ...,
    *,
    normalise: bool = ...,
    metric: Metric | None = ...,
    metric_params: dict[str, Any] | None = ...,
    device: str = ...,
    precision: float,
    confidence: float = ...,
    random_state: RandomState = ...,
    n_threads: int | None = ...,
    progress: Progress | None = ...,
) -> DepthEstimate: ...


def lens_depth(
    D: npt.ArrayLike,
    queries: npt.ArrayLike | None = None,
    *,
    normalise: bool = False,
    metric: Metric | None = None,
    metric_params: dict[str, Any] | None = None,
    device: str = "auto",
    precision: float | None = None,
    confidence: float = 0.95,
    random_state: RandomState = 0,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> AnyArray | DepthEstimate:
    """LD(x; D): the number of pairs whose lens holds x, the paper's lens depth function.

    Exact with ties too: a triple without a strictly longest side adds to no depth.

    Parameters
    ----------
    D : (n, n) array, or (n, d) points where ``metric`` is given
        Dissimilarities, as in :func:`trilens.exact.lens_counts`; a memory map is read in blocks.
    queries : (q, n) array, or (q, d) points where ``metric`` is given, optional
        New objects, whose depth with respect to those of D is wanted: they are not added to it.
        One that equals an object of D lies in no lens of that object.
    normalise
        Divide by (n - 1)(n - 2)/2, the pairs of other objects, or by n(n - 1)/2 for queries: a
        share from 0 to 1, and 0 where there is no such pair.
    metric, metric_params
        As in :func:`trilens.exact.dissimilarities`: D holds points. Their dissimilarities are
        computed in blocks and never held as a whole.
    device
        ``"cpu"``; ``"cuda"`` for an NVIDIA GPU (``pip install 'trilens[gpu]'``); ``"auto"`` for a
        GPU where there is one and the work is worth it. The integers are the same. Queries and
        estimates are computed on the processor.
    precision, confidence, random_state
        With ``precision``, an estimate from drawn pairs with an interval for every object:
        :func:`trilens.exact.estimate_depth`.
    n_threads
        Threads, by default as many as there are processors to use.
    progress
        Called from the calling thread with the share of the work that is done.

    Returns
    -------
    (n,) or (q,) array
        int64, or float64 with ``normalise``; a :class:`trilens.exact.DepthEstimate` with
        ``precision``.

    Examples
    --------
    >>> lens_depth([0, 1, 3, 4], metric="euclidean")
    array([0, 2, 2, 0])
    >>> lens_depth([0, 1, 3, 4], metric="euclidean", normalise=True).round(2)
    array([0.  , 0.67, 0.67, 0.  ])
    >>> lens_depth([0, 1, 3, 4], queries=[2, 9], metric="euclidean")
    array([4, 0])
    """
    if precision is not None:
        return estimate_depth(
            D,
            queries,
            metric=metric,
            metric_params=metric_params,
            precision=precision,
            confidence=confidence,
            random_state=random_state,
            n_threads=n_threads,
            progress=progress,
        )
    sample = Sample(D, metric, metric_params)
    if queries is not None:
        choose_device(device, 0)
        Q = sample.to(queries)
        depth = query_depths(sample.rows, Q, n_threads=n_threads, progress=progress)
        return share_of_pairs(depth, sample.n) if normalise else depth
    depth = count_lenses(sample, device, depth=True, n_threads=n_threads, progress=progress)[1]
    return share_of_pairs(depth, sample.n - 1) if normalise else depth


def lens_counts_and_depth(
    D: npt.ArrayLike,
    *,
    metric: Metric | None = None,
    metric_params: dict[str, Any] | None = None,
    device: str = "auto",
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Int32Array, IntArray]:
    """Both :func:`trilens.exact.lens_counts` and :func:`lens_depth`, in one sweep.

    Parameters
    ----------
    D, metric, metric_params, device, n_threads, progress
        As in :func:`lens_depth`.

    Returns
    -------
    counts : (n, n) int32 array
    depth : (n,) int64 array

    Examples
    --------
    >>> lens_counts_and_depth([0, 1, 3], metric="euclidean")[1]
    array([0, 1, 0])
    """
    sample = Sample(D, metric, metric_params)
    wanted = {"counts": True, "depth": True}
    return count_lenses(sample, device, **wanted, n_threads=n_threads, progress=progress)


def lens_depth_of(
    new: npt.ArrayLike,
    D: npt.ArrayLike,
    *,
    normalise: bool = False,
    metric: Metric | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """:func:`lens_depth` of queries, with the queries first.

    Examples
    --------
    >>> lens_depth_of([2, 9], [0, 1, 3, 4], metric="euclidean")
    array([4, 0])
    """
    return lens_depth(
        D, new, normalise=normalise, metric=metric, n_threads=n_threads, progress=progress
    )


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


def share_of_pairs(depth: IntArray, n: int) -> AnyArray:
    """Depth as a share of the pairs of n objects."""
    return depth / max(n * (n - 1) // 2, 1)
