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

So the work splits: distances of pairs, lengths, comparisons of lengths, and back. Where the
comparisons outnumber the pairs, every pair is measured once and the comparisons only add to
a slope per pair; otherwise each comparison is followed down to the coordinates.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeAlias

import numpy as np

from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray
from trilens.maps.comparisons import Comparisons, squared

Length: TypeAlias = Literal["distance", "square", "student"]
Link: TypeAlias = Literal["hinge", "squared hinge", "logistic"]
Path: TypeAlias = Literal["numpy", "pairs", "rows"]

#: Up to this many comparisons numpy is fast enough, and nothing waits for a compiler.
SMALL = 20_000
#: Comparisons for one thread's part. The number of parts depends on the data alone, and their
#: sums are added in order, so that the answer is the same on any number of cores.
_PART = 1 << 19
_MAX_PARTS = 8
#: Differences of lengths up to which their exponentials are formed pair by pair.
_ODDS_RANGE = 300.0


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

    def smooth(self) -> Objective:
        """The objective without kinks: the hinge squared. Both are 0 at the same coordinates."""
        return replace(self, link="squared hinge") if self.link == "hinge" else self

    def lengths(self, squares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The lengths of pairs, and their slopes in the squared distances."""
        if self.length == "square":
            return squares, np.ones_like(squares)
        if self.length == "distance":
            v = np.sqrt(squares)
            # Where two points coincide the distance has no slope; any step parts them.
            return v, np.divide(0.5, v, out=np.zeros_like(v), where=v > 0)
        half = 0.5 * (self.alpha + 1.0)
        return half * np.log1p(squares / self.alpha), half / (self.alpha + squares)

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
    m, n = len(comparisons), comparisons.n_objects
    if path is None:
        path = "numpy" if m <= SMALL else "pairs" if n * (n - 1) // 2 <= m // 4 else "rows"
    if path == "numpy":
        yield _NumpyPairs(objective, number_pairs(comparisons))
        return
    n_parts = min(_MAX_PARTS, 1 + m // _PART)
    workers = min(n_parts, n_threads or os.cpu_count() or 1)
    pool = ThreadPoolExecutor(workers) if workers > 1 else None
    try:
        each: _Each = pool.map if pool else map
        if path == "pairs":
            yield _CompiledPairs(objective, number_pairs(comparisons), n_parts, each)
        else:
            yield _CompiledRows(objective, comparisons, n_parts, each)
    finally:
        if pool:
            pool.shutdown()


_Each: TypeAlias = Callable[[Callable[[int], float | None], range], Iterator[float | None]]


@dataclass(frozen=True)
class Pairs:
    """Comparisons of numbered pairs, sorted by the far pair, repeats as weights.

    Attributes
    ----------
    first, second : (P,) int32
        The objects of each pair.
    near : (M,) int32
        The near pair of each different comparison.
    start : (P + 1,) int64
        Comparisons ``start[q]`` to ``start[q + 1]`` have the far pair ``q``.
    weight : (M,) float64
        How often each comparison was made.
    n_objects : int
    """

    first: Int32Array
    second: Int32Array
    near: Int32Array
    start: IntArray
    weight: FloatArray
    n_objects: int

    @property
    def far(self) -> Int32Array:
        """The far pair of each different comparison, (M,) int32."""
        return np.repeat(np.arange(len(self.first), dtype=np.int32), np.diff(self.start))

    def violations(self, X: FloatArray) -> float:
        """The share of comparisons whose near pair is not strictly nearer."""
        D = squared(X, self.first, self.second)
        wrong = D[self.near] >= D[self.far]
        return float(self.weight[wrong].sum() / self.weight.sum())


def number_pairs(comparisons: Comparisons) -> Pairs:
    """Number the pairs that comparisons name, and sort the comparisons by them."""
    rows, n = comparisons.rows, comparisons.n_objects
    near, far = _pair_code(rows[:, 0], rows[:, 1], n), _pair_code(rows[:, 2], rows[:, 3], n)
    if n * n <= 4 * len(rows):
        # Marking beats sorting where the possible pairs are fewer than the comparisons.
        named = np.zeros(n * n, dtype=np.bool_)
        named[near] = named[far] = True
        codes = np.flatnonzero(named)
        number = np.cumsum(named, dtype=np.int64) - 1
        near, far = number[near], number[far]
    else:
        codes, numbers = np.unique(np.concatenate([near, far]), return_inverse=True)
        near, far = numbers[: len(rows)], numbers[len(rows) :]
    key = far * len(codes) + near
    key.sort()
    new = np.flatnonzero(np.diff(key, prepend=-1))
    weight = np.diff(new, append=len(key)).astype(np.float64)
    far, near = np.divmod(key[new], len(codes))
    first, second = np.divmod(codes, n)
    start = np.searchsorted(far, np.arange(len(codes) + 1))
    return Pairs(
        first.astype(np.int32),
        second.astype(np.int32),
        near.astype(np.int32),
        start.astype(np.int64),
        weight,
        n,
    )


def _pair_code(i: AnyArray, j: AnyArray, n: int) -> IntArray:
    code: IntArray = np.minimum(i, j).astype(np.int64)
    code *= n
    code += np.maximum(i, j)
    return code


class _NumpyPairs(Evaluation):
    """Small data: differences of pairs by a sparse incidence matrix, sums by bincount."""

    def __init__(self, objective: Objective, pairs: Pairs) -> None:
        from scipy.sparse import csr_array

        self.objective, self._pairs, self._far = objective, pairs, pairs.far
        n_pairs = len(pairs.first)
        ends = np.column_stack([pairs.first, pairs.second]).ravel()
        signs = np.tile([1.0, -1.0], n_pairs)
        self._incidence = csr_array(
            (signs, ends, np.arange(0, 2 * n_pairs + 1, 2)), shape=(n_pairs, pairs.n_objects)
        )
        self._transposed = self._incidence.T.tocsr()

    def __call__(self, X: FloatArray) -> tuple[float, FloatArray]:
        pairs, n_pairs = self._pairs, len(self._pairs.first)
        steps = self._incidence @ X
        v, slope_v = self.objective.lengths(np.einsum("pk,pk->p", steps, steps))
        loss, slope = self.objective.losses(v[pairs.near] - v[self._far])
        slope *= pairs.weight
        pull = np.bincount(pairs.near, slope, n_pairs) - np.bincount(self._far, slope, n_pairs)
        gradient = self._transposed @ ((2.0 * pull * slope_v)[:, None] * steps)
        # Not a scalar product: BLAS would wake its threads for it, at many times the cost.
        loss *= pairs.weight
        return _with_l2(float(loss.sum()), gradient, X, self.objective.l2)

    def violations(self, X: FloatArray) -> float:
        return self._pairs.violations(X)


class _CompiledPairs(Evaluation):
    """Many comparisons of few pairs."""

    def __init__(self, objective: Objective, pairs: Pairs, n_parts: int, each: _Each) -> None:
        self.objective, self._pairs, self._each = objective, pairs, each
        n_pairs, m = len(pairs.first), len(pairs.near)
        self._parts = range(n_parts)
        self._pair_cuts = np.linspace(0, n_pairs, n_parts + 1).astype(np.int64).tolist()
        # Ranges of far pairs with about as many comparisons each.
        cuts = np.searchsorted(pairs.start, np.linspace(0, m, n_parts + 1)[1:-1])
        self._far_cuts = [0, *cuts.tolist(), n_pairs]
        self._squares = np.empty(n_pairs)
        self._slopes = np.empty((n_parts, n_pairs))

    def __call__(self, X: FloatArray) -> tuple[float, FloatArray]:
        from trilens.maps import _embedding_kernels as kernels

        objective, pairs, parts = self.objective, self._pairs, self._parts
        first, second, at, far_at = pairs.first, pairs.second, self._pair_cuts, self._far_cuts
        comparisons = (pairs.near, pairs.weight, pairs.start)
        squares, slopes = self._squares, self._slopes

        def measure(k: int) -> None:
            kernels.pair_squares(X, first, second, at[k], at[k + 1], squares)

        list(self._each(measure, parts))
        v, slope_v = objective.lengths(squares)
        wide = v.max() - v.min() > _ODDS_RANGE
        odds = None if objective.link != "logistic" or wide else np.exp(v - v.mean())

        def compare(k: int) -> float:
            slopes[k] = 0.0
            span, out = (far_at[k], far_at[k + 1]), slopes[k]
            if objective.link != "logistic":
                is_squared = objective.link == "squared hinge"
                return kernels.compare_hinge(
                    v, *comparisons, *span, objective.margin, is_squared, out
                )
            if odds is None:
                return kernels.compare_logistic(v, *comparisons, *span, out)
            return kernels.compare_odds(odds, *comparisons, *span, out)

        loss = sum(self._each(compare, parts))  # type: ignore[arg-type]
        slope_pair = slopes.sum(axis=0) * slope_v
        gradients = np.zeros((len(parts), *X.shape))

        def descend(k: int) -> None:
            kernels.pair_gradient(X, first, second, slope_pair, at[k], at[k + 1], gradients[k])

        list(self._each(descend, parts))
        return _with_l2(loss, gradients.sum(axis=0), X, objective.l2)

    def violations(self, X: FloatArray) -> float:
        return self._pairs.violations(X)


class _CompiledRows(Evaluation):
    """About as many pairs as comparisons: each comparison straight from the coordinates."""

    def __init__(
        self, objective: Objective, comparisons: Comparisons, n_parts: int, each: _Each
    ) -> None:
        self.objective, self._comparisons, self._each = objective, comparisons, each
        self._parts = range(n_parts)
        # Even cuts keep the two comparisons of a statement in one part.
        cuts = np.linspace(0, len(comparisons) // 2, n_parts + 1).astype(np.int64) * 2
        self._cuts = [*cuts[:-1].tolist(), len(comparisons)]

    def __call__(self, X: FloatArray) -> tuple[float, FloatArray]:
        from trilens.maps import _embedding_kernels as kernels

        objective, at = self.objective, self._cuts
        length = {
            "distance": kernels.DISTANCE,
            "square": kernels.SQUARE,
            "student": kernels.STUDENT,
        }[objective.length]
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

        loss = sum(self._each(compare, self._parts))  # type: ignore[arg-type]
        return _with_l2(loss, gradients.sum(axis=0), X, objective.l2)

    def violations(self, X: FloatArray) -> float:
        from trilens.maps.comparisons import violations

        return violations(X, self._comparisons)


def _with_l2(
    loss: float, gradient: FloatArray, X: FloatArray, l2: float
) -> tuple[float, FloatArray]:
    if l2:
        loss += l2 * float(np.sum(X * X))
        gradient += 2.0 * l2 * X
    return loss, gradient
