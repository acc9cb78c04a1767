"""Lens depth: how many lenses hold an object."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trilens._typing import AnyArray, Int32Array, IntArray, Progress
from trilens.errors import DissimilarityError
from trilens.exact.semimetrics import Metric, as_dissimilarities
from trilens.exact.sweep import sweep_pairs


def lens_depth(
    D: npt.ArrayLike,
    *,
    normalise: bool = False,
    metric: Metric | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """LD(x; D): the number of pairs whose lens holds x, the paper's lens depth function.

    Counted, not derived from the sizes of the lenses, and so exact with ties too: a triple
    without a strictly longest side adds to no depth.

    Parameters
    ----------
    D : (n, n) array, or (n, d) points where ``metric`` is given
        Dissimilarities, as in :func:`trilens.exact.lens_counts`.
    normalise
        Divide by (n - 1)(n - 2)/2, the pairs of other objects: a share from 0 to 1, and 0 where
        there is no such pair.
    metric, n_threads, progress
        As in :func:`trilens.exact.lens_counts`.

    Returns
    -------
    (n,) array
        int64, or float64 with ``normalise``.

    Examples
    --------
    >>> lens_depth([0, 1, 3, 4], metric="euclidean")
    array([0, 2, 2, 0])
    >>> lens_depth([0, 1, 3, 4], metric="euclidean", normalise=True).round(2)
    array([0.  , 0.67, 0.67, 0.  ])
    """
    D = as_dissimilarities(D, metric)
    depth = sweep_pairs(D, depth=True, n_threads=n_threads, progress=progress)[1]
    return _share(depth, len(D) - 1) if normalise else depth


def lens_counts_and_depth(
    D: npt.ArrayLike,
    *,
    metric: Metric | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Int32Array, IntArray]:
    """Both :func:`trilens.exact.lens_counts` and :func:`lens_depth`, in one sweep.

    Parameters
    ----------
    D, metric, n_threads, progress
        As in :func:`trilens.exact.lens_counts`.

    Returns
    -------
    counts : (n, n) int32 array
    depth : (n,) int64 array

    Examples
    --------
    >>> lens_counts_and_depth([0, 1, 3], metric="euclidean")[1]
    array([0, 1, 0])
    """
    D = as_dissimilarities(D, metric)
    return sweep_pairs(D, counts=True, depth=True, n_threads=n_threads, progress=progress)


def lens_depth_of(
    new: npt.ArrayLike,
    D: npt.ArrayLike,
    *,
    normalise: bool = False,
    metric: Metric | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """LD(x; D) of new objects x with respect to a data set that they are not part of.

    Parameters
    ----------
    new : (q, n) array, or (q, d) points where ``metric`` is given
        Dissimilarities of q new objects to the n objects of the data set.
    D : (n, n) array, or (n, d) points where ``metric`` is given
        Dissimilarities within the data set, as in :func:`trilens.exact.lens_counts`.
    normalise
        Divide by n(n - 1)/2, the pairs of the data set; 0 where there is none.
    metric
        As in :func:`trilens.exact.lens_counts`, for any metric of
        :func:`scipy.spatial.distance.cdist`.
    n_threads, progress
        As in :func:`trilens.exact.lens_counts`.

    Returns
    -------
    (q,) array
        int64, or float64 with ``normalise``: the pairs i < j of the data set with
        max(d(x, i), d(x, j)) < d(i, j).

    Examples
    --------
    >>> lens_depth_of([2, 9], [0, 1, 3, 4], metric="euclidean")
    array([4, 0])
    """
    if metric is None:
        Q = np.asarray(new)
        D = as_dissimilarities(D)
    else:
        from scipy.spatial.distance import cdist

        Q, data = (x[:, None] if x.ndim == 1 else x for x in map(np.asarray, (new, D)))
        D = as_dissimilarities(data, metric)
        if Q.ndim != 2 or Q.dtype.kind not in "biuf" or Q.shape[1] != data.shape[1]:
            raise DissimilarityError(
                f"the new points have shape {Q.shape} and dtype {Q.dtype}; "
                f"give (q, {data.shape[1]}) numbers, as many coordinates as the data set has"
            )
        Q = cdist(Q, data, metric)  # type: ignore[arg-type]
    _check_new(Q, len(D))
    depth = sweep_pairs(D, Q.T, depth=True, n_threads=n_threads, progress=progress)[1]
    return _share(depth, len(D)) if normalise else depth


def _check_new(Q: AnyArray, n: int) -> None:
    if Q.ndim != 2 or Q.shape[1] != n or Q.dtype.kind not in "iuf":
        raise DissimilarityError(
            f"the dissimilarities of the new objects have shape {Q.shape} and dtype {Q.dtype}; "
            f"give (q, {n}) numbers: a row per new object, a column per object of the data set"
        )
    if Q.size and not (Q.min() >= 0 and np.isfinite(Q.max())):
        row, column = np.argwhere(~((Q >= 0) & np.isfinite(Q)))[0].tolist()
        raise DissimilarityError(
            f"new[{row}, {column}] is {Q[row, column]}; dissimilarities are finite and not negative"
        )


def _share(depth: IntArray, n: int) -> AnyArray:
    """Depth as a share of the pairs of n objects."""
    return depth / max(n * (n - 1) // 2, 1)
