"""The losses of the ordinal embeddings, on data.

They are sums over comparisons d(A,B) < d(C,D) of ``link(v(A,B) - v(C,D))``, where the length ``v``
increases with the squared distance D of a pair:

======  ==========================================  ==============================
method  length v(D)                                 link(t)
======  ==========================================  ==============================
SOE     sqrt(D)                                     max(0, t + margin) ** 2
GNMDS   D                                           max(0, t + margin)
STE     D                                           log(1 + exp(t))
t-STE   (alpha + 1) / 2 * log(1 + D / alpha)        log(1 + exp(t))
======  ==========================================  ==============================

They are evaluated in one of three ways, by the size of the data: with numpy; by compiled loops
over pairs, each of which is measured once; or by compiled loops straight from the coordinates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeAlias

import numpy as np

from trilens._typing import FloatArray, Int32Array, IntArray
from trilens.maps.comparisons import Comparisons, violations
from trilens.maps.pairs import (
    ODDS_RANGE,
    Length,
    Pairs,
    Path,
    Work,
    make_ruler,
    number_pairs,
    open_work,
    pair_code,
    squared,
    with_l2,
)

Link: TypeAlias = Literal["hinge", "squared hinge", "logistic"]


@dataclass(frozen=True)
class Objective:
    """One of the four objectives: a length, a link and their constants."""

    length: Length
    link: Link
    margin: float = 0.0
    alpha: float = 1.0
    l2: float = 0.0

    @property
    def enough(self) -> float:
        """A loss at which there is nothing left to find.

        The logistic losses of data without contradictions have no minimum: stretching always
        helps. Below log(2), the loss of one violated comparison, none is violated.
        """
        return float(np.log(2.0)) if self.link == "logistic" and self.l2 == 0 else 0.0

    @property
    def spread(self) -> float:
        """The standard deviation of random starts.

        Wide for SOE, where a start near the margin's own size often ends in a local minimum.
        """
        if self.link == "logistic":
            return 0.1
        return 100.0 * self.margin if self.length == "distance" else float(np.sqrt(self.margin))

    @property
    def is_smooth(self) -> bool:
        """Whether it has no kinks."""
        return self.link != "hinge"

    def smooth(self) -> Objective:
        """The objective without kinks: the hinge squared. Both are 0 at the same coordinates."""
        return self if self.is_smooth else replace(self, link="squared hinge")

    def losses(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The losses of differences of lengths (near minus far), and their slopes."""
        if self.link == "logistic":
            z = np.exp(-np.abs(t))
            return np.log1p(z) + np.maximum(t, 0.0), np.where(t > 0, 1.0, z) / (1.0 + z)
        over = np.maximum(t + self.margin, 0.0)
        if self.link == "hinge":
            return over, (over > 0).astype(np.float64)
        return over * over, 2.0 * over


class ComparisonLoss(ABC):
    """An objective on data; made by `comparison_loss`."""

    def __init__(self, objective: Objective, comparisons: Comparisons, work: Work) -> None:
        self.objective, self._comparisons, self._work = objective, comparisons, work

    @abstractmethod
    def __call__(self, X: FloatArray) -> tuple[float, FloatArray]:
        """The loss and its (n, d) gradient at the (n, d) coordinates ``X``."""

    def violations(self, X: FloatArray) -> float:
        """The share of comparisons whose near pair is not strictly nearer."""
        return violations(X, self._comparisons)

    def of(self, objective: Objective) -> Self:
        """Another objective on the same prepared data."""
        other = copy(self)
        other.objective = objective
        return other

    def _by_rows(self, X: FloatArray) -> tuple[float, FloatArray]:
        """An evaluation straight from the coordinates, whatever the range of the lengths."""
        from trilens.maps import _kernels

        objective, work, rows = self.objective, self._work, self._comparisons.rows
        # Even cuts keep the two comparisons of a statement in one part.
        cuts = [*(2 * cut for cut in work.cuts(len(rows) // 2)[:-1]), len(rows)]
        gradients = np.zeros((len(work.parts), *X.shape))

        def compare(k: int) -> float:
            return _kernels.compare_rows(
                X,
                rows,
                cuts[k],
                cuts[k + 1],
                _kernels.LENGTHS[objective.length],
                objective.alpha,
                _kernels.LINKS[objective.link],
                objective.margin,
                gradients[k],
            )

        loss = sum(work.each(compare, work.parts))
        return with_l2(loss, gradients.sum(axis=0), X, objective.l2)


@contextmanager
def comparison_loss(
    objective: Objective,
    comparisons: Comparisons,
    n_threads: int | None = None,
    path: Path | None = None,
) -> Iterator[ComparisonLoss]:
    """An objective on data, prepared for many evaluations; threads end with the context.

    Parameters
    ----------
    objective
    comparisons
        At least one.
    n_threads, path
        As in `open_work`.
    """
    with open_work(len(comparisons), comparisons.n_objects, n_threads, path) as work:
        if work.path == "rows":
            yield _RowComparisons(objective, comparisons, work)
        else:
            yield _PairComparisons(objective, comparisons, work)


@dataclass(frozen=True)
class PairComparisons:
    """Comparisons of numbered pairs, sorted by the far pair, repeats as weights.

    Attributes
    ----------
    pairs : Pairs
    near : (M,) int32
        The near pair of each different comparison.
    start : (P + 1,) int64
        Comparisons ``start[q]`` to ``start[q + 1]`` have the far pair ``q``.
    weight : (M,) float64
        How often each comparison was made.
    """

    pairs: Pairs
    near: Int32Array
    start: IntArray
    weight: FloatArray

    @property
    def far(self) -> Int32Array:
        """The far pair of each different comparison, (M,) int32."""
        return np.repeat(np.arange(len(self.pairs), dtype=np.int32), np.diff(self.start))

    def violations(self, X: FloatArray) -> float:
        """The share of comparisons whose near pair is not strictly nearer."""
        D = squared(X, self.pairs.first, self.pairs.second)
        wrong = D[self.near] >= D[self.far]
        return float(self.weight[wrong].sum() / self.weight.sum())


def pair_comparisons(comparisons: Comparisons) -> PairComparisons:
    """Number the pairs that comparisons name, and sort the comparisons by them."""
    rows, n = comparisons.rows, comparisons.n_objects
    codes = [pair_code(rows[:, 0], rows[:, 1], n), pair_code(rows[:, 2], rows[:, 3], n)]
    pairs, (near, far) = number_pairs(codes, n)
    key = far * len(pairs) + near
    key.sort()
    new = np.flatnonzero(np.diff(key, prepend=-1))
    weight = np.diff(new, append=len(key)).astype(np.float64)
    far, near = np.divmod(key[new], len(pairs))
    start = np.searchsorted(far, np.arange(len(pairs) + 1))
    return PairComparisons(pairs, near.astype(np.int32), start.astype(np.int64), weight)


class _PairComparisons(ComparisonLoss):
    """Comparisons of measured pairs, by numpy or by compiled loops."""

    def __init__(self, objective: Objective, comparisons: Comparisons, work: Work) -> None:
        super().__init__(objective, comparisons, work)
        self._data = data = pair_comparisons(comparisons)
        self._ruler = make_ruler(data.pairs, work)
        self._far = data.far if work.path == "numpy" else None
        self._cuts = work.sorted_cuts(data.start)

    def __call__(self, X: FloatArray) -> tuple[float, FloatArray]:
        objective = self.objective
        v = self._ruler.measure(X, objective.length, objective.alpha)
        if self._far is not None:
            loss, pull = self._compare_small(v, self._far)
        elif objective.link == "logistic" and np.ptp(v) > ODDS_RANGE:
            return self._by_rows(X)
        else:
            loss, pull = self._compare(v)
        return with_l2(loss, self._ruler.gradient(X, pull), X, objective.l2)

    def _compare_small(self, v: FloatArray, far: Int32Array) -> tuple[float, FloatArray]:
        near, weight = self._data.near, self._data.weight
        loss, slope = self.objective.losses(v[near] - v[far])
        slope *= weight
        pull = np.bincount(near, slope, len(v)) - np.bincount(far, slope, len(v))
        # Not a scalar product: BLAS would wake its threads for it, at many times the cost.
        loss *= weight
        return float(loss.sum()), pull.astype(np.float64, copy=False)

    def _compare(self, v: FloatArray) -> tuple[float, FloatArray]:
        from trilens.maps import _kernels

        objective, cuts, work = self.objective, self._cuts, self._work
        comparisons = (self._data.near, self._data.weight, self._data.start)
        odds = np.exp(v - v.mean()) if objective.link == "logistic" else v
        slopes = np.zeros((len(work.parts), len(v)))

        def compare(k: int) -> float:
            span, out = (cuts[k], cuts[k + 1]), slopes[k]
            if objective.link == "logistic":
                return _kernels.compare_odds(odds, *comparisons, *span, out)
            is_squared = objective.link == "squared hinge"
            return _kernels.compare_hinge(v, *comparisons, *span, objective.margin, is_squared, out)

        loss = sum(work.each(compare, work.parts))
        return loss, slopes.sum(axis=0)

    def violations(self, X: FloatArray) -> float:
        return self._data.violations(X)


class _RowComparisons(ComparisonLoss):
    """About as many pairs as comparisons: each comparison straight from the coordinates."""

    def __call__(self, X: FloatArray) -> tuple[float, FloatArray]:
        return self._by_rows(X)
