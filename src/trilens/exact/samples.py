"""A sample with its metric: rows of its dissimilarities, whether or not they stand as a matrix."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.errors import DissimilarityError
from trilens.exact.semimetrics import (
    Distance,
    FermatSample,
    Metric,
    check_dissimilarities,
    check_points,
    dissimilarities,
    open_metric,
    refuse_value,
    sound,
)

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

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, part: slice) -> FloatArray:
        return self.block(part.start, min(part.stop, self.n))

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
                    upper = np.triu(self._tile(a, a1, a, a1), 1)
                    tile = upper + upper.T
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

    def between(self, i: AnyArray, j: AnyArray) -> FloatArray:
        return np.array([self._one(*sorted(pair)) for pair in zip(i, j, strict=True)])

    def _one(self, i: int, j: int) -> float:
        """One dissimilarity, out of the call that gives it in a block."""
        if i == j:
            return 0.0
        a, b = i // TILE * TILE, j // TILE * TILE
        return float(self._tile(a, min(a + TILE, self.n), b, min(b + TILE, self.n))[i - a, j - b])


class Sample:
    """Objects that depth is measured against: dissimilarities, or points and their metric."""

    def __init__(
        self,
        data: npt.ArrayLike,
        metric: Metric | None = None,
        params: dict[str, Any] | None = None,
    ) -> None:
        self.metric: Any = metric
        self.params = dict(params or {})
        #: (n, d), or things of one's own; None where dissimilarities are given.
        self.points: Any = None
        self._rows: Rows | None = None
        if metric is None or metric == "precomputed":
            self._rows = MatrixRows(check_dissimilarities(data))
            self.n = self._rows.n
            return
        self.points = check_points(data, self._step)
        self.n = len(self.points)

    @property
    def _step(self) -> Any:
        """The metric of single steps."""
        return self.params.get("metric", "euclidean") if self.metric == "fermat" else self.metric

    @property
    def rows(self) -> Rows:
        """The sample's own dissimilarities, computed when they are first asked for."""
        if self._rows is None:
            if self.metric == "fermat" or self.n <= WHOLE:
                self._rows = MatrixRows(dissimilarities(self.points, self.metric, **self.params))
            else:
                self._rows = PointRows(self.points, self.distance)
        return self._rows

    @property
    def distance(self) -> Distance:
        """The metric between arrays of points; what it learns it learns from the sample."""
        if self.metric == "fermat":
            whole: Any = self.rows
            return FermatSample(self.points, whole.D, self.params)
        if not hasattr(self, "_distance"):
            self._distance = open_metric(self.metric, self.points, self.params)
        return self._distance

    def to(self, new: npt.ArrayLike) -> AnyArray:
        """Dissimilarities (q, n) of new objects to the sample, checked."""
        if self.points is None:
            return check_new(np.asarray(new), self.n)
        Q = self.check(new)
        if len(Q) == 0 or self.n == 0:
            return np.zeros((len(Q), self.n))
        return check_new(self.distance(Q, self.points), self.n)

    def among(self, objects: IntArray) -> AnyArray:
        """Dissimilarities among a few objects."""
        if isinstance(self.rows, MatrixRows):
            block: AnyArray = self.rows.D[np.ix_(objects, objects)]
            return block
        return self.distance(self.points[objects], self.points[objects])

    def check(self, new: npt.ArrayLike) -> AnyArray:
        """New points as the sample's are."""
        if self.points.ndim == 1:
            return check_points(new, self._step)
        Q = np.asarray(new)
        if Q.ndim == 1 and self.points.shape[1] == 1:
            Q = Q[:, None]
        if Q.ndim != 2 or Q.dtype.kind not in "biuf" or Q.shape[1] != self.points.shape[1]:
            raise DissimilarityError(
                f"the new points have shape {Q.shape} and dtype {Q.dtype}; "
                f"expected numbers of shape (q, {self.points.shape[1]}), as many coordinates as "
                f"the sample has"
            )
        return check_points(Q, self._step)


def check_new(Q: AnyArray, n: int) -> AnyArray:
    """Dissimilarities of new objects, or one line that says what is wrong with them."""
    if Q.ndim != 2 or Q.shape[1] != n or Q.dtype.kind not in "iuf":
        raise DissimilarityError(
            f"the dissimilarities of the new objects have shape {Q.shape} and dtype {Q.dtype}; "
            f"expected numbers of shape (q, {n}): a row per new object, a column per object of "
            f"the sample"
        )
    if Q.size and not (Q.min() >= 0 and np.isfinite(Q.max())):
        row, column = np.argwhere(~((Q >= 0) & np.isfinite(Q)))[0].tolist()
        raise DissimilarityError(
            f"new[{row}, {column}] is {Q[row, column]}; dissimilarities must be finite and "
            f"not negative"
        )
    return Q
