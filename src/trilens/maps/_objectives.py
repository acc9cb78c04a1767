"""The objectives of the ordinal embeddings, and three ways to evaluate them.

All four are sums over comparisons d(A,B) < d(C,D) of ``link(v(A,B) - v(C,D))``, where the
length ``v`` increases with the squared distance D of a pair:

======  ==========================================  ==============================
method  length v(D)                                 link(t)
======  ==========================================  ==============================
SOE     sqrt(D)                                     max(0, t + margin) ** 2
GNMDS   D                                           max(0, t + margin)
STE     D                                           log(1 + exp(t))
t-STE   (alpha + 1) / 2 * log(1 + D / alpha)        log(1 + exp(t))
======  ==========================================  ==============================
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
from trilens.maps._pairs import (
    ODDS_RANGE,
    CompiledRuler,
    Each,
    Length,
    NumpyRuler,
    Pairs,
    Path,
    choose_path,
    in_parts,
    lengths,
    number_pairs,
    pair_code,
    with_l2,
)
from trilens.maps.comparisons import Comparisons, squared

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

    def lengths(self, squares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The lengths of pairs, and their slopes in the squared distances."""
        return lengths(squares, self.length, self.alpha)

    def losses(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The losses of differences of lengths (near minus far), and their slopes."""
        if self.link == "logistic":
            z = np.exp(-np.abs(t))
            return np.log1p(z) + np.maximum(t, 0.0), np.where(t > 0, 1.0, z) / (1.0 + z)
        over = np.maximum(t + self.margin, 0.0)
        if self.link == "hinge":
            return over, (over > 0).astype(np.float64)
        return over * over, 2.0 * over


class Evaluation(ABC):
    """An objective on data; made by `evaluation`."""

    objective: Objective

    @abstractmethod
    def __call__(self, X: FloatArray) -> tuple[float, FloatArray]:
        """The loss and its (n, d) gradient at the (n, d) coordinates ``X``."""

    @abstractmethod
    def violations(self, X: FloatArray) -> float:
        """The share of comparisons whose near pair is not strictly nearer."""

    def of(self, objective: Objective) -> Self:
        """Another objective on the same prepared data."""
        other = copy(self)
        other.objective = objective
        return other


@contextmanager
def evaluation(
    objective: Objective,
    comparisons: Comparisons,
    n_threads: int | None = None,
    path: Path | None = None,
) -> Iterator[Evaluation]:
    """An objective on data, prepared for many evaluations; threads end with the context.

    Parameters
    ----------
    objective
    comparisons
        At least one.
    n_threads
        By default one per core. The answer does not depend on it.
    path : {"numpy", "pairs", "rows"}, optional
        By default chosen by the size of the data.
    """
    path = path or choose_path(len(comparisons), comparisons.n_objects)
    if path == "numpy":
        yield _NumpyPairs(objective, pair_comparisons(comparisons))
        return
    with in_parts(len(comparisons), n_threads) as (parts, each):
        if path == "pairs":
            yield _CompiledPairs(objective, pair_comparisons(comparisons), parts, each)
        else:
            yield _CompiledRows(objective, comparisons, parts, each)


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


class _NumpyPairs(Evaluation):
    """Small data: sums by bincount."""

    def __init__(self, objective: Objective, data: PairComparisons) -> None:
        self.objective, self._data, self._far = objective, data, data.far
        self._ruler = NumpyRuler(data.pairs)

    def __call__(self, X: FloatArray) -> tuple[float, FloatArray]:
        near, far, weight = self._data.near, self._far, self._data.weight
        v, slope_v = self.objective.lengths(self._ruler.squares(X))
        loss, slope = self.objective.losses(v[near] - v[far])
        slope *= weight
        pull = np.bincount(near, slope, len(v)) - np.bincount(far, slope, len(v))
        gradient = self._ruler.gradient(X, pull * slope_v)
        # Not a scalar product: BLAS would wake its threads for it, at many times the cost.
        loss *= weight
        return with_l2(float(loss.sum()), gradient, X, self.objective.l2)

    def violations(self, X: FloatArray) -> float:
        return self._data.violations(X)


class _CompiledPairs(Evaluation):
    """Many comparisons of few pairs."""

    def __init__(
        self, objective: Objective, data: PairComparisons, parts: range, each: Each
    ) -> None:
        self.objective, self._data, self._parts, self._each = objective, data, parts, each
        self._ruler = CompiledRuler(data.pairs, parts, each)
        self._cuts = far_cuts(data.start, len(parts))
        self._slopes = np.empty((len(parts), len(data.pairs)))

    def __call__(self, X: FloatArray) -> tuple[float, FloatArray]:
        from trilens.maps import _embedding_kernels as kernels

        objective, cuts, slopes = self.objective, self._cuts, self._slopes
        comparisons = (self._data.near, self._data.weight, self._data.start)
        v, slope_v = objective.lengths(self._ruler.squares(X))
        wide = v.max() - v.min() > ODDS_RANGE
        odds = None if objective.link != "logistic" or wide else np.exp(v - v.mean())

        def compare(k: int) -> float:
            slopes[k] = 0.0
            span, out = (cuts[k], cuts[k + 1]), slopes[k]
            if objective.link != "logistic":
                is_squared = objective.link == "squared hinge"
                return kernels.compare_hinge(
                    v, *comparisons, *span, objective.margin, is_squared, out
                )
            if odds is None:
                return kernels.compare_logistic(v, *comparisons, *span, out)
            return kernels.compare_odds(odds, *comparisons, *span, out)

        loss = sum(self._each(compare, self._parts))
        gradient = self._ruler.gradient(X, slopes.sum(axis=0) * slope_v)
        return with_l2(loss, gradient, X, objective.l2)

    def violations(self, X: FloatArray) -> float:
        return self._data.violations(X)


def far_cuts(start: IntArray, n_parts: int) -> list[int]:
    """Ranges of the pairs by which rows are sorted, with about as many rows each."""
    n_pairs, m = len(start) - 1, int(start[-1])
    cuts = np.searchsorted(start, np.linspace(0, m, n_parts + 1)[1:-1])
    return [0, *cuts.tolist(), n_pairs]


class _CompiledRows(Evaluation):
    """About as many pairs as comparisons: each comparison straight from the coordinates."""

    def __init__(
        self, objective: Objective, comparisons: Comparisons, parts: range, each: Each
    ) -> None:
        self.objective, self._comparisons, self._each = objective, comparisons, each
        self._parts = parts
        # Even cuts keep the two comparisons of a statement in one part.
        cuts = np.linspace(0, len(comparisons) // 2, len(parts) + 1).astype(np.int64) * 2
        self._cuts = [*cuts[:-1].tolist(), len(comparisons)]

    def __call__(self, X: FloatArray) -> tuple[float, FloatArray]:
        from trilens.maps import _embedding_kernels as kernels

        objective, at = self.objective, self._cuts
        length = kernels.LENGTHS[objective.length]
        link = {
            "hinge": kernels.HINGE,
            "squared hinge": kernels.SQUARED_HINGE,
            "logistic": kernels.LOGISTIC,
        }[objective.link]
        gradients = np.zeros((len(self._parts), *X.shape))

        def compare(k: int) -> float:
            return kernels.compare_rows(
                X,
                self._comparisons.rows,
                at[k],
                at[k + 1],
                length,
                objective.alpha,
                link,
                objective.margin,
                gradients[k],
            )

        loss = sum(self._each(compare, self._parts))
        return with_l2(loss, gradients.sum(axis=0), X, objective.l2)

    def violations(self, X: FloatArray) -> float:
        from trilens.maps.comparisons import violations

        return violations(X, self._comparisons)
