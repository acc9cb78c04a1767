"""The medoid of a dissimilarity matrix."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from trilens._typing import AnyArray
from trilens.errors import DissimilarityError
from trilens.exact.metrics import Metric
from trilens.exact.semimetrics import as_dissimilarities


def medoid(D: npt.ArrayLike, *, metric: Metric | None = None) -> int:
    """The object with the smallest sum of dissimilarities to the others.

    Parameters
    ----------
    D : (n, n) array, or (n, d) points where ``metric`` is given
        Dissimilarities, as in :func:`trilens.exact.lens_counts`.
    metric
        A metric of :func:`scipy.spatial.distance.pdist`: D holds points.

    Returns
    -------
    int
        Its index; the smallest of them when several share the sum, which is taken without
        rounding errors.

    Examples
    --------
    >>> medoid([0, 1, 3, 4, 9], metric="euclidean")
    2
    """
    D = as_dissimilarities(D, metric)
    if len(D) == 0:
        raise DissimilarityError("D has no objects; a medoid needs one or more")
    if D.dtype.kind in "iu" and int(D.max()) * len(D) < 2**63:
        return int(np.argmin(D.sum(axis=1, dtype=np.int64)))
    # pairwise summation is right to far better than this; among the close ones sum exactly
    scale = float(D.max()) or 1.0
    shares = np.array([(row / scale).sum(dtype=np.float64) for row in D])
    close = np.flatnonzero(shares <= shares.min() * (1 + 1e-12))
    return int(min(close, key=lambda i: (_exact_sum(D[i], scale), i)))


def _exact_sum(row: AnyArray, scale: float) -> float | int:
    if row.dtype.kind in "iu":
        return int(sum(row.tolist()))
    # a power of two, so that nothing is rounded, and no sum of the largest floats overflows
    return math.fsum(np.ldexp(row.astype(np.float64), -max(math.frexp(scale)[1], 0)))
