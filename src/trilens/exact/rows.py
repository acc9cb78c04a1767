"""Where dissimilarities come from, a block of rows at a time: a matrix, or points and a metric."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from trilens._typing import AnyArray, FloatArray
from trilens.exact.metrics import Distance
from trilens.exact.semimetrics import refuse_value, sound

#: Points up to which all dissimilarities are computed at once: 128 MiB.
WHOLE = 4096
#: Side of the tiles in which they are computed otherwise.
TILE = 256


class Rows(Protocol):
    """Rows of a dissimilarity matrix, whether or not it stands somewhere as a whole."""

    n: int
    dtype: np.dtype[Any]

    def block(self, first: int, stop: int) -> AnyArray:
        """Rows first to stop, (stop - first, n), checked."""

    def between(self, i: AnyArray, j: AnyArray) -> AnyArray:
        """Dissimilarities of the pairs (i[k], j[k])."""


class MatrixRows:
    """Rows of a checked matrix, which may be a memory map."""

    def __init__(self, D: AnyArray) -> None:
        self.D, self.n, self.dtype = D, len(D), D.dtype

    def block(self, first: int, stop: int) -> AnyArray:
        return self.D[first:stop]

    def between(self, i: AnyArray, j: AnyArray) -> AnyArray:
        values: AnyArray = self.D[i, j]
        return values


class PointRows:
    """Rows computed from points when they are asked for.

    d(i, j) is computed as d(j, i) is, within the same pair of tiles and in the same order, so
    that the two are equal to the last bit for every metric.
    """

    dtype: np.dtype[Any] = np.dtype(np.float64)

    def __init__(self, points: AnyArray, distance: Distance) -> None:
        self.points, self.distance, self.n = points, distance, len(points)

    def block(self, first: int, stop: int) -> FloatArray:
        rows = np.empty((stop - first, self.n))
        for a in range(first // TILE * TILE, stop, TILE):
            a1 = min(a + TILE, self.n)
            inside = slice(max(a, first), min(a1, stop))
            part = slice(inside.start - a, inside.stop - a)
            to = rows[inside.start - first : inside.stop - first]
            for b in range(0, self.n, TILE):
                b1 = min(b + TILE, self.n)
                # whole tiles even where fewer rows are wanted: the same call every time
                if a == b:
                    tile = self._upper(a, a1)
                elif a < b:
                    tile = self._tile(a, a1, b, b1)
                else:
                    tile = self._tile(b, b1, a, a1).T
                to[:, b:b1] = tile[part]
        if not sound(rows):
            refuse_value(rows, first)
        return rows

    def _tile(self, a: int, a1: int, b: int, b1: int) -> FloatArray:
        return self.distance(self.points[a:a1], self.points[b:b1])

    def _upper(self, a: int, a1: int) -> FloatArray:
        upper = np.triu(self._tile(a, a1, a, a1), 1)
        return upper + upper.T

    def between(self, i: AnyArray, j: AnyArray) -> FloatArray:
        return np.array([self._one(*sorted(pair)) for pair in zip(i, j, strict=True)])

    def _one(self, i: int, j: int) -> float:
        """One dissimilarity, out of the call that gives it in a block."""
        if i == j:
            return 0.0
        a, b = i // TILE * TILE, j // TILE * TILE
        return float(self._tile(a, min(a + TILE, self.n), b, min(b + TILE, self.n))[i - a, j - b])
