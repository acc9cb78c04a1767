"""Lenses of pairs: how many objects each holds."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from trilens._typing import Int32Array, Progress
from trilens.exact.depth import count_lenses
from trilens.exact.metrics import Metric
from trilens.exact.samples import Sample


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
