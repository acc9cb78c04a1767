"""Ranks within the rows of a matrix: 16 bits that compare as the dissimilarities do."""

from __future__ import annotations

import numpy as np

from trilens._typing import AnyArray
from trilens.errors import DissimilarityError

#: Objects at most, so that a dense rank and one rank above all of them fit in 16 bits.
MOST_OBJECTS = 65_534


def row_ranks(D: AnyArray, first: int, stop: int, ranks: AnyArray) -> int:
    """Write the dense ranks of some rows, equal values sharing a rank.

    Parameters
    ----------
    D : (n, n) array
        Checked dissimilarities.
    first, stop
        The rows to do.
    ranks : (n, n or more) uint16 array
        Filled in place: ranks[i, k] < ranks[i, j] exactly when D[i, k] < D[i, j].

    Returns
    -------
    int
        The largest rank written.
    """
    from trilens.exact._kernels import rank_rows

    n = D.shape[1]
    crowded = np.zeros(len(D), bool)
    highest = 0
    if _fits_float64(D.dtype):
        # few rows at a time, so that other types than float64 cost no second matrix
        for at in range(first, stop, 64):
            rows = np.ascontiguousarray(D[at : min(stop, at + 64)], np.float64)
            block, marks = ranks[at : at + len(rows)], crowded[at : at + len(rows)]
            highest = max(highest, rank_rows(rows, 0, len(rows), block, marks))
    else:
        crowded[first:stop] = True
    for i in np.flatnonzero(crowded):
        order = np.argsort(D[i], kind="stable")
        values = D[i][order]
        dense = np.zeros(n, np.uint16)
        np.cumsum(values[1:] != values[:-1], out=dense[1:], dtype=np.uint16)
        ranks[i, order] = dense
        highest = max(highest, int(dense[-1]))
    return highest


def small_integers(D: AnyArray) -> bool:
    """Whether the numbers themselves can serve as ranks: lengths of paths, scores."""
    return D.dtype.kind in "iu" and int(D.max()) <= min(MOST_OBJECTS, 8 * len(D) + 1024)


def query_ranks(D: AnyArray, Q: AnyArray, ranks: AnyArray) -> None:
    """Put the columns of Q (n, q) on the scale of dense row ranks of D, in place.

    Column x of row i gets the number of different values of D[i] up to Q[i, x], less one: below
    the rank of D[i, j] exactly when Q[i, x] < D[i, j]. The diagonal's 0 keeps it from -1.
    """
    for i in range(len(D)):
        values = np.unique(D[i])
        ranks[i, : Q.shape[1]] = np.searchsorted(values, Q[i], side="right") - 1


def check_size(n: int) -> None:
    """Refuse more objects than 16 bits can rank."""
    if n > MOST_OBJECTS:
        raise DissimilarityError(
            f"D has {n:,} objects; exact lenses take at most {MOST_OBJECTS:,} (cubic work): "
            "draw a sample of the objects"
        )


def _fits_float64(dtype: np.dtype[np.generic]) -> bool:
    """Whether every value of the type is exactly a float64."""
    return dtype == np.float64 or dtype.itemsize < 8
