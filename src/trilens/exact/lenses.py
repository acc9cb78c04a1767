"""Lenses of pairs: how many objects each holds, and the graph of the nearly empty ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trilens._typing import AnyArray, Int32Array, Progress
from trilens.errors import ParameterError
from trilens.exact.metrics import Metric
from trilens.exact.samples import Sample
from trilens.exact.sweep import sweep_pairs

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def lens_counts(
    D: npt.ArrayLike,
    *,
    metric: Metric | None = None,
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
    metric
        A metric of :func:`scipy.spatial.distance.pdist`: D holds points.
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
    source = Sample(D, metric).rows
    return sweep_pairs(source, counts=True, n_threads=n_threads, progress=progress)[0]


def k_rng(
    D: npt.ArrayLike,
    k: int,
    sigma: float | None = None,
    *,
    metric: Metric | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> csr_array:
    """The k-relative neighbourhood graph: pairs with fewer than k objects in their lens.

    Parameters
    ----------
    D : (n, n) array, or (n, d) points where ``metric`` is given
        Dissimilarities, as in :func:`lens_counts`.
    k
        1 or more; k = 1 is the relative neighbourhood graph.
    sigma
        Weights the edges by exp(-(c / (n - 2))^2 / sigma^2), c the objects in the lens, as in
        Algorithm 5; without it every edge weighs 1.
    metric, n_threads, progress
        As in :func:`lens_counts`.

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
    from scipy.sparse import csr_array

    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ParameterError(f"k={k!r}; give an integer, 1 or more")
    if sigma is not None and not 0 < sigma < np.inf:
        raise ParameterError(f"sigma={sigma!r}; give a positive number, or None for no weights")
    counts = lens_counts(D, metric=metric, n_threads=n_threads, progress=progress)
    n = len(counts)
    columns: list[AnyArray] = []
    weights: list[AnyArray] = []
    for i, row in enumerate(counts):
        near = row < k
        near[i] = False
        columns.append(np.flatnonzero(near))
        share = row[near] / max(n - 2, 1)
        weights.append(np.ones(len(share)) if sigma is None else np.exp(-((share / sigma) ** 2)))
    starts = np.concatenate([[0], np.cumsum([len(part) for part in columns])]).astype(np.int64)
    none = [np.empty(0)]
    return csr_array(
        (
            np.concatenate(weights or none),
            np.concatenate(columns or none).astype(np.int64),
            starts,
        ),
        shape=(n, n),
    )
