"""A sample with its metric: the rows of its dissimilarities, and those of new objects to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from trilens._typing import AnyArray
from trilens.errors import DissimilarityError
from trilens.exact.metrics import Distance, Metric, open_metric
from trilens.exact.rows import WHOLE, MatrixRows, PointRows, Rows
from trilens.exact.semimetrics import check_dissimilarities, check_points, dissimilarities


class Sample:
    """Objects that depth is measured against.

    Parameters
    ----------
    data : (n, n) array, or (n, d) points where ``metric`` is given
    metric
        None or ``"precomputed"`` for dissimilarities, otherwise as in
        :func:`trilens.exact.dissimilarities`.
    params
        Parameters of the metric.
    """

    def __init__(
        self,
        data: npt.ArrayLike,
        metric: Metric | None = None,
        params: dict[str, Any] | None = None,
    ) -> None:
        self.metric, self.params = metric, dict(params or {})
        self.points: AnyArray | None = None
        self._rows: Rows | None = None
        if metric is None or metric == "precomputed":
            self._rows = MatrixRows(check_dissimilarities(data))
            self.n = self._rows.n
            return
        step = self.params.get("metric", "euclidean") if metric == "fermat" else metric
        self.points = check_points(data, step)
        self.n = len(self.points)

    @property
    def rows(self) -> Rows:
        """The sample's own dissimilarities, computed when they are first asked for."""
        if self._rows is None:
            assert self.points is not None
            assert self.metric is not None
            if self.metric == "fermat" or self.n <= WHOLE:
                self._rows = MatrixRows(dissimilarities(self.points, self.metric, **self.params))
            else:
                self._rows = PointRows(self.points, self.distance)
        return self._rows

    @property
    def distance(self) -> Distance:
        """The metric between arrays of points; what it learns it learns from the sample."""
        assert self.points is not None
        assert self.metric is not None
        if self.metric == "fermat":
            from trilens.exact.fermat import FermatSample

            assert isinstance(self.rows, MatrixRows)
            return FermatSample(self.points, self.rows.D, self.params)
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

    def check(self, new: npt.ArrayLike) -> AnyArray:
        """New points as the sample's are."""
        assert self.points is not None
        step = self.params.get("metric", "euclidean") if self.metric == "fermat" else self.metric
        assert step is not None
        if self.points.ndim == 1:
            return check_points(new, step)
        Q = np.asarray(new)
        if Q.ndim == 1 and self.points.shape[1] == 1:
            Q = Q[:, None]
        if Q.ndim != 2 or Q.dtype.kind not in "biuf" or Q.shape[1] != self.points.shape[1]:
            raise DissimilarityError(
                f"the new points have shape {Q.shape} and dtype {Q.dtype}; "
                f"give (q, {self.points.shape[1]}) numbers, as many coordinates as the data set has"
            )
        return check_points(Q, step)


def check_new(Q: AnyArray, n: int) -> AnyArray:
    """Dissimilarities of new objects, or one line that says what is wrong with them."""
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
    return Q
