"""Lens depth from drawn pairs: an interval for every point, and the deepest of many points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trilens._parameters import generator, real_number, thread_count, whole_number
from trilens._typing import AnyArray, FloatArray, IntArray, Progress, RandomState
from trilens.errors import DissimilarityError, ParameterError
from trilens.exact._threads import by_blocks
from trilens.exact.queries import query_depths
from trilens.exact.samples import Sample
from trilens.exact.semimetrics import Metric
from trilens.exact.sweep import sweep_pairs

#: Points that a thread takes at once, and pairs of which it takes the distances at once.
_POINTS, _PAIRS = 8192, 64
#: Dissimilarities of objects by their numbers.
_Between = Callable[[IntArray, IntArray], AnyArray]
#: Pairs of the first round of `deepest`, and how much they grow from one to the next.
_FIRST, _GROWTH = 128, 1.3


@dataclass(frozen=True)
class DepthEstimate:
    """Estimated lens depth with intervals, all as shares of the pairs.

    Attributes
    ----------
    depth, lower, upper : (n,) arrays
        The share of drawn pairs whose lens holds the point, and its interval.
    n_pairs
        Pairs drawn; 0 where all pairs were counted.
    precision
        No interval reaches farther than this from the estimate.
    confidence
        The probability with which an interval holds the depth.
    """

    depth: FloatArray
    lower: FloatArray
    upper: FloatArray
    n_pairs: int
    precision: float
    confidence: float

    def __len__(self) -> int:
        return len(self.depth)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.depth, dtype=dtype)


@dataclass(frozen=True)
class Deepest:
    """The deepest (or least deep) points, the deepest (least deep) first.

    Attributes
    ----------
    indices : (k,) array
    depth, lower, upper : (k,) arrays
        Their estimated depth as a share of the pairs, and its interval.
    n_pairs
        Pairs drawn.
    n_distances
        Distances evaluated.
    confidence, tolerance
        With at least this probability no point that is left out is deeper (less deep) than one
        that is listed by more than the tolerance.
    exact
        Whether the last candidates were told apart by all pairs.
    """

    indices: IntArray
    depth: FloatArray
    lower: FloatArray
    upper: FloatArray
    n_pairs: int
    n_distances: int
    confidence: float
    tolerance: float
    exact: bool

    def __len__(self) -> int:
        return len(self.indices)


def deepest(
    D: npt.ArrayLike,
    k: int = 1,
    *,
    least: bool = False,
    metric: Metric | None = None,
    metric_params: dict[str, Any] | None = None,
    confidence: float = 0.95,
    tolerance: float = 0.0,
    random_state: RandomState = 0,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Deepest:
    """The k deepest points, or the k least deep, without the depth of all.

    Pairs are drawn in rounds. After each, every candidate has an interval; one whose interval
    says that it cannot belong to the k is dropped and costs nothing any more. The levels of the
    intervals are spent over points and rounds so that all of them hold at once with the stated
    probability, whenever the search stops. What sampling cannot tell apart for less than the
    distances of all pairs is settled by all pairs.

    Parameters
    ----------
    D, metric, metric_params
        As in :func:`trilens.exact.lens_depth`.
    k
        How many.
    least
        The least deep in place of the deepest.
    confidence
        The probability with which the answer is right.
    tolerance
        A point may be listed in place of one that is deeper by no more than this share of the
        pairs; 0 for the k deepest themselves.
    random_state, n_threads, progress

    Returns
    -------
    Deepest

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> found = deepest(X, 2, metric="euclidean")
    >>> from trilens.exact import lens_depth
    >>> order = np.argsort(-lens_depth(X, metric="euclidean"), kind="stable")
    >>> found.indices.tolist() == order[:2].tolist()
    True
    """
    sample = Sample(D, metric, metric_params)
    k = whole_number("k", k, least=1, most=max(sample.n, 1))
    if sample.n < 3:
        raise DissimilarityError(f"there are only {sample.n} objects; depth needs at least three")
    race = _Race(PairSample(sample, random_state), k, least, n_threads)
    return race.run(
        _share_between(confidence, "confidence"),
        real_number("tolerance", tolerance, 0, 1),
        progress,
    )


def pairs_needed(precision: float, level: float) -> int:
    """The fewest pairs for which no interval of that level reaches farther than ``precision``.

    >>> pairs_needed(0.01, 0.95)
    9704
    """
    from scipy.stats import beta

    tail = (1 - level) / 2

    def reach(m: int) -> float:
        # farthest upwards, from a share at or a little below one half; downwards is its mirror
        x = np.unique(np.linspace(0.35 * m, 0.5 * m, 60).astype(np.int64))
        return float((beta.isf(tail, x + 1, m - x) - x / m).max())

    low, high = 1, 2
    while reach(high) > precision:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reach(middle) <= precision else (middle, high)
    return high


class PairSample:
    """Pairs of a sample, drawn with replacement, and which objects lie in their lenses."""

    def __init__(self, sample: Sample, random_state: RandomState = 0) -> None:
        self.sample = sample
        self.rng = generator(random_state)
        self.a = self.b = np.empty(0, np.int64)

    def draw(self, m: int) -> None:
        """So many pairs in all; those drawn before stay."""
        more = max(0, m - len(self.a))
        n = self.sample.n
        a = self.rng.integers(n, size=more)
        b = self.rng.integers(n - 1, size=more)
        self.a = np.concatenate([self.a, a])
        self.b = np.concatenate([self.b, b + (b >= a)])

    def estimate(
        self,
        queries: npt.ArrayLike | None = None,
        *,
        precision: float,
        confidence: float,
        n_threads: int | None = None,
        progress: Progress | None = None,
    ) -> DepthEstimate:
        """Depths with intervals, of new objects or of the sample's own."""
        precision = _share_between(precision, "precision")
        confidence = _share_between(confidence, "confidence")
        n = self.sample.n
        new = None if queries is None else self._new(queries)
        size = n if new is None else len(new)
        m = pairs_needed(precision, confidence)
        # an object of the sample is in no lens of its own: the pairs without it count
        total = n * (n - 1) // 2 if new is not None else (n - 1) * (n - 2) // 2
        if total <= m:
            share = self._all(new) / max(total, 1)
            return DepthEstimate(share, share, share, 0, precision, confidence)
        self.draw(m)
        if new is None:
            # so many are drawn that each object has enough of its own left
            while (short := m - int(self._without(np.arange(n), 0).min())) > 0:
                self.draw(len(self.a) + short)
        inside = self.count(new, np.arange(size), 0, n_threads, progress)
        tried = np.full(size, len(self.a)) if new is not None else self._without(np.arange(n), 0)
        lower, upper = clopper_pearson(inside, tried, confidence)
        return DepthEstimate(inside / tried, lower, upper, len(self.a), precision, confidence)

    def _new(self, queries: npt.ArrayLike) -> AnyArray:
        return self.sample.to(queries) if self.sample.points is None else self.sample.check(queries)

    def _all(self, new: AnyArray | None) -> IntArray:
        if new is None:
            return sweep_pairs(self.sample.rows, depth=True)[1]
        return query_depths(self.sample.rows, self.sample.to(new))

    def _without(self, objects: IntArray, first: int) -> IntArray:
        """How many of the pairs from ``first`` on do not name each object."""
        ends = np.concatenate([self.a[first:], self.b[first:]])
        return len(self.a) - first - np.bincount(ends, minlength=self.sample.n)[objects]

    def count(
        self,
        new: AnyArray | None,
        objects: IntArray,
        first: int,
        n_threads: int | None = None,
        progress: Progress | None = None,
    ) -> IntArray:
        """In how many lenses of the pairs from ``first`` on each object lies."""
        a, b = self.a[first:], self.b[first:]
        inside = np.zeros(len(objects), np.int64)
        threads = thread_count(n_threads)
        counter = self._counter(new, a, b)
        step = min(_POINTS, max(64, -(-len(objects) // (4 * threads))))

        def some(at: int, end: int) -> None:
            inside[at:end] = counter(objects[at:end])

        for _ in by_blocks(some, len(objects), step, threads, progress):
            pass
        return inside

    def _counter(
        self, new: AnyArray | None, a: IntArray, b: IntArray
    ) -> Callable[[IntArray], IntArray]:
        """A function of some objects that counts their lenses among the pairs a, b."""
        sample = self.sample
        plain = sample.metric in ("euclidean", "l2") and not sample.params
        if sample.points is not None and plain:
            from trilens.exact._kernels import count_lenses

            X = np.ascontiguousarray(sample.points, np.float64)
            A, B = X[a], X[b]
            of = X if new is None else new

            def quickly(which: IntArray) -> IntArray:
                found = np.zeros(len(which), np.int32)
                chosen = np.ascontiguousarray(of[which].T, np.float64)
                count_lenses(chosen, A, B, found)
                return found.astype(np.int64)

            return quickly
        side, between = self._distances(new)

        def count(which: IntArray) -> IntArray:
            found = np.zeros(len(which), np.int64)
            for at in range(0, len(a), _PAIRS):
                i, j = a[at : at + _PAIRS], b[at : at + _PAIRS]
                sides = side(i, j)[:, None]
                found += ((between(i, which) < sides) & (between(j, which) < sides)).sum(axis=0)
            return found

        return count

    def _distances(self, new: AnyArray | None) -> tuple[_Between, _Between]:
        """Of pairs of the sample, one by one; and of some of it to some objects, as a table."""
        points = self.sample.points
        if points is not None and self.sample.metric != "fermat":
            distance = self.sample.distance
            of = points if new is None else new
            return (
                lambda i, j: np.array(
                    [distance(points[[x]], points[[y]])[0, 0] for x, y in zip(i, j, strict=True)]
                ),
                lambda i, which: distance(points[i], of[which]),
            )
        rows: Any = self.sample.rows
        D = rows.D
        if new is None:
            return lambda i, j: D[i, j], lambda i, which: D[np.ix_(i, which)]
        to = new if points is None else self.sample.to(new)
        return lambda i, j: D[i, j], lambda i, which: to[np.ix_(which, i)].T


class _Race:
    """Candidates that lose pairs of rounds until k are left."""

    def __init__(self, pairs: PairSample, k: int, least: bool, n_threads: int | None) -> None:
        n = pairs.sample.n
        self.pairs, self.k, self.sign, self.n_threads = pairs, k, -1.0 if least else 1.0, n_threads
        self.active = np.arange(n)
        self.inside, self.tried = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.lower, self.upper = np.zeros(n), np.ones(n)
        self.distances = 0

    def run(self, confidence: float, tolerance: float, progress: Progress | None) -> Deepest:
        n, drawn, rounds, exact = self.pairs.sample.n, 0, 0, False
        size = _FIRST
        while len(self.active) > self.k:
            # no more is spent on sampling than all pairs cost those that are left; a comparison
            # costs about a quarter of a distance
            more = 2 * (size - drawn) * len(self.active)
            if self.distances + more > n * (n - 1) // 2 * (1 + len(self.active) / 4):
                self._settle()
                exact = True
                break
            rounds += 1
            self.pairs.draw(size)
            new, drawn = drawn, size
            self.inside[self.active] += self.pairs.count(None, self.active, new, self.n_threads)
            self.tried[self.active] += self.pairs._without(self.active, new)
            self.distances += (size - new) * (2 * len(self.active) + 1)
            # the sum of 1 / (r (r + 1)) over all rounds is 1
            self._bound(1 - (1 - confidence) / (n * rounds * (rounds + 1)))
            self._drop(tolerance)
            if progress is not None:
                progress(1 - (len(self.active) - self.k) / n)
            size = int(np.ceil(_GROWTH * size))
        if progress is not None:
            progress(1.0)
        share = self.inside / np.maximum(self.tried, 1)
        order = np.lexsort((self.active, -self.sign * share[self.active]))
        chosen = self.active[order][: self.k]
        bounds = (share[chosen], self.lower[chosen], self.upper[chosen])
        return Deepest(chosen, *bounds, drawn, self.distances, confidence, tolerance, exact)

    def _bound(self, level: float) -> None:
        lower, upper = clopper_pearson(self.inside[self.active], self.tried[self.active], level)
        # every round's interval holds, so their intersection does
        self.lower[self.active] = np.maximum(self.lower[self.active], lower)
        self.upper[self.active] = np.minimum(self.upper[self.active], upper)

    def _drop(self, tolerance: float) -> None:
        low, high = self.lower[self.active], self.upper[self.active]
        if self.sign < 0:
            low, high = -high, -low
        best = np.lexsort((self.active, -low))[: self.k]
        stays = high > low[best].min() + tolerance
        stays[best] = True
        self.active = self.active[stays]

    def _settle(self) -> None:
        """The depth of those that are left, by all pairs."""
        sample, n = self.pairs.sample, self.pairs.sample.n
        rows: Any = sample.rows
        points = sample.points
        Q = rows.D[self.active] if points is None else sample.to(points[self.active])
        depth = query_depths(rows, Q, n_threads=self.n_threads)
        self.inside[self.active], self.tried[self.active] = depth, (n - 1) * (n - 2) // 2
        share = depth / ((n - 1) * (n - 2) // 2)
        self.lower[self.active] = self.upper[self.active] = share
        self.distances += n * (n - 1) // 2 + n * len(self.active)


def clopper_pearson(
    inside: IntArray, tried: IntArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Intervals for shares, of a level that holds for every number of trials.

    >>> [
    ...     bound.round(3).tolist()
    ...     for bound in clopper_pearson(np.array([0, 5]), np.array([10, 10]), 0.95)
    ... ]
    [[0.0, 0.187], [0.308, 0.813]]
    """
    from scipy.stats import beta

    # few different counts stand for many points
    cases, back = np.unique(np.stack([inside, tried]), axis=1, return_inverse=True)
    x, m = cases
    tail = (1 - level) / 2
    lower = np.where(x > 0, beta.ppf(tail, np.maximum(x, 1), m - x + 1), 0.0)
    upper = np.where(x < m, beta.isf(tail, x + 1, np.maximum(m - x, 1)), 1.0)
    return lower[back.ravel()], upper[back.ravel()]


def _share_between(value: Any, name: str) -> float:
    share = real_number(name, value, 0, 1)
    if not 0 < share < 1:
        raise ParameterError(
            f"{name} is {value!r}; it must be a number between 0 and 1", parameter=name
        )
    return share
