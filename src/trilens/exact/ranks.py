"""Ranks within the rows of a matrix: 16 bits that compare as the dissimilarities do."""

from __future__ import annotations

import numpy as np

from trilens._typing import AnyArray
from trilens.errors import DissimilarityError

#: Objects at most, so that a dense rank and one rank above all of them fit in 16 bits.
MOST_OBJECTS = 65_534


def row_ranks(D: AnyArray, ranks: AnyArray) -> AnyArray:
    """Write the dense ranks of some rows, equal values sharing a rank.

    Parameters
    ----------
    D : (rows, n) array
        Rows of checked dissimilarities.
    ranks : (rows, n or more) uint16 array
        Filled in place: ranks[i, k] < ranks[i, j] exactly when D[i, k] < D[i, j].

    Returns
    -------
    (rows,) array
        The largest rank of each row: n - 1 where no two values are equal.
    """
    from trilens.exact._kernels import rank_rows

    n = D.shape[1]
    crowded = np.zeros(len(D), bool)
    tops = np.zeros(len(D), np.int64)
    if _fits_float64(D.dtype):
        # few rows at a time, so that other types than float64 cost no second matrix
        for at in range(0, len(D), 64):
            part = slice(at, min(len(D), at + 64))
            rows = np.ascontiguousarray(D[part], np.float64)
            rank_rows(rows, ranks[part], tops[part], crowded[part])
    else:
        crowded[:] = True
    for i in np.flatnonzero(crowded):
        order = np.argsort(D[i], kind="stable")
        values = D[i][order]
        dense = np.zeros(n, np.uint16)
        np.cumsum(values[1:] != values[:-1], out=dense[1:], dtype=np.uint16)
        ranks[i, order] = dense
        tops[i] = dense[-1]
    return tops


def small_integers(D: AnyArray) -> bool:
    """Whether the numbers themselves can serve as ranks: lengths of paths, scores."""
    return D.dtype.kind in "iu" and int(D.max()) <= min(MOST_OBJECTS, 8 * len(D) + 1024)


def check_size(n: int) -> None:
    """Refuse more objects than 16 bits can rank."""
    if n > MOST_OBJECTS:
        raise DissimilarityError(
            f"D has {n:,} objects; exact lenses take at most {MOST_OBJECTS:,} on a processor "
            "(cubic work): say precision= for an estimate, or device='cuda'"
        )


def _fits_float64(dtype: np.dtype[np.generic]) -> bool:
    """Whether every value of the type is exactly a float64."""
    return dtype == np.float64 or dtype.itemsize < 8
