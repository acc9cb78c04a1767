"""Pairs of objects, each measured once: numbers, distances, lengths, and the way back.

Everything that is fitted to answers looks at lengths of pairs only. So the work splits:
coordinates to squared distances, these to lengths, whatever is made of the lengths, and the
slopes in the lengths back to a gradient in the coordinates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from trilens._parameters import thread_count
from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray
from trilens.maps.device import ON_PROCESSOR, Device

Length: TypeAlias = Literal["distance", "square", "student"]

#: Up to this many comparisons of pairs numpy is fast enough, and nothing waits for a compiler.
SMALL = 20_000
#: Comparisons for one thread's part. The number of parts depends on the data alone, and their
#: sums are added in order, so that the answer is the same on any number of cores.
PART = 1 << 19
MAX_PARTS = 8
#: Differences of lengths up to which their exponentials are formed pair by pair.
ODDS_RANGE = 300.0
#: Coordinates of steps that are held at once.
_AT_ONCE = 1 << 26

#: A function of a part's number, done for every part, perhaps in threads.
Each: TypeAlias = Callable[[Callable[[int], Any], range], Iterator[Any]]


@dataclass(frozen=True)
class Work:
    """How a loss is evaluated."""

    #: By compiled loops; otherwise by operations on whole arrays.
    compiled: bool
    #: That the work falls into.
    parts: range
    #: A map over the parts, perhaps in threads.
    each: Each

    @classmethod
    def of(cls, n_comparisons: int, each: Each = map, compiled: bool | None = None) -> Work:
        """By the size of the data."""
        compiled = n_comparisons > SMALL if compiled is None else compiled
        return cls(compiled, range(min(MAX_PARTS, 1 + n_comparisons // PART)), each)

    def cuts(self, m: int) -> list[int]:
        """Where ``m`` rows are cut into the parts."""
        cuts: list[int] = np.linspace(0, m, len(self.parts) + 1).astype(np.int64).tolist()
        return cuts


@contextmanager
def open_work(
    n_comparisons: int, n_threads: int | None = None, compiled: bool | None = None
) -> Iterator[Work]:
    """How a loss is evaluated; threads end with the context.

    Parameters
    ----------
    n_threads
        By default one per core. The answer does not depend on it.
    compiled
        By default where the data are large.
    """
    alone = Work.of(n_comparisons, map, compiled)
    workers = min(len(alone.parts), thread_count(n_threads)) if alone.compiled else 1
    if workers == 1:
        yield alone
        return
    with ThreadPoolExecutor(workers) as pool:
        yield replace(alone, each=pool.map)


def squared(X: FloatArray, first: AnyArray, second: AnyArray) -> FloatArray:
    """Squared Euclidean distances between rows of ``X``, as a sum of squared differences.

    Never through scalar products: they lose the small distances to cancellation.
    """
    total = np.zeros(len(first))
    for column in X.T:
        total += (column[first] - column[second]) ** 2
    return total


def lengths(squares: FloatArray, length: Length, alpha: float) -> tuple[FloatArray, FloatArray]:
    """The lengths of pairs, and their slopes in the squared distances; on any device."""
    if length == "square":
        return squares, np.ones_like(squares)
    if length == "distance":
        v = np.sqrt(squares)
        # Where two points coincide the distance has no slope; any step parts them.
        return v, 0.5 / np.where(v > 0, v, np.inf)
    half = 0.5 * (alpha + 1.0)
    return half * np.log1p(squares / alpha), half / (alpha + squares)


def pointing(axes: FloatArray) -> FloatArray:
    """+1 or -1 for each column: what makes its largest entry positive.

    >>> pointing(np.array([[1.0, 2.0], [-3.0, 0.0]])).tolist()
    [-1.0, 1.0]
    """
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    return np.where(largest < 0, -1.0, 1.0)


def with_l2(
    loss: float, gradient: FloatArray, X: FloatArray, l2: float
) -> tuple[float, FloatArray]:
    """A loss and its gradient with ``l2`` times the sum of squared coordinates."""
    if l2:
        loss += l2 * float(np.sum(X * X))
        gradient += 2.0 * l2 * X
    return loss, gradient


@dataclass(frozen=True)
class Pairs:
    """Numbered pairs of objects."""

    #: (P,): the objects of each pair, the smaller id first.
    first: Int32Array
    second: Int32Array
    n_objects: int

    def __len__(self) -> int:
        return len(self.first)


def pair_code(i: AnyArray, j: AnyArray, n: int) -> IntArray:
    """One number for each unordered pair of ids below ``n``."""
    code: IntArray = np.minimum(i, j).astype(np.int64)
    code *= n
    code += np.maximum(i, j)
    return code


def number_pairs(codes: Sequence[IntArray], n: int) -> tuple[Pairs, list[IntArray]]:
    """Number the pairs that occur, in the order of their codes, and translate the codes."""
    total = sum(map(len, codes))
    if n * n <= 4 * total:
        # Marking beats sorting where the possible pairs are fewer than the codes.
        named = np.zeros(n * n, dtype=np.bool_)
        for code in codes:
            named[code] = True
        different = np.flatnonzero(named)
        number = np.cumsum(named, dtype=np.int64) - 1
        numbered = [number[code] for code in codes]
    else:
        different, inverse = np.unique(np.concatenate(codes), return_inverse=True)
        numbered = np.split(inverse, np.cumsum([len(code) for code in codes])[:-1])
    first, second = np.divmod(different, n)
    return Pairs(first.astype(np.int32), second.astype(np.int32), n), numbered


class Ruler(ABC):
    """Measures numbered pairs in coordinates, and turns slopes in their lengths into a gradient."""

    def measure(self, X: FloatArray, length: Length, alpha: float) -> FloatArray:
        """The length of every pair."""
        v, self._slope = lengths(self._squares(X), length, alpha)
        return v

    def gradient(self, X: FloatArray, pull: FloatArray) -> FloatArray:
        """The gradient in ``X``, given a slope in each length.

        ``X`` are the coordinates that were measured last.
        """
        return self._descend(X, pull * self._slope)

    @abstractmethod
    def _squares(self, X: FloatArray) -> FloatArray:
        """The squared distance of every pair."""

    @abstractmethod
    def _descend(self, X: FloatArray, slope: FloatArray) -> FloatArray:
        """The gradient in ``X``, given a slope in each squared distance."""


def make_ruler(pairs: Pairs, work: Work, device: Device = ON_PROCESSOR) -> Ruler:
    """By compiled loops, or by arrays of a device."""
    return _CompiledRuler(pairs, work) if work.compiled else ArrayRuler(pairs, device)


class ArrayRuler(Ruler):
    """Pairs by operations on whole arrays, on any device.

    A slope in the squared distance of i and j, as entries (i, j) and (j, i) of a sparse matrix A,
    gives the gradient 2 (A 1 * X - A X).
    """

    def __init__(self, pairs: Pairs, device: Device) -> None:
        self._device, n = device, pairs.n_objects
        # in this order the columns of each row are sorted; CuPy would sort them, and not the slopes
        ends = np.concatenate([pairs.second, pairs.first])
        others = np.concatenate([pairs.first, pairs.second])
        order = np.argsort(ends, kind="stable")
        start = np.searchsorted(ends[order], np.arange(n + 1)).astype(np.int32)
        put = device.put
        self.first = put(pairs.first.astype(np.intp))
        self.second = put(pairs.second.astype(np.intp))
        self._pair = put(order % len(pairs))
        self._slopes = device.sparse.csr_matrix(
            (put(np.zeros(len(order))), put(others[order]), put(start)), shape=(n, n)
        )
        self._ones = put(np.ones((n, 1)))

    def steps(self, X: Any, part: slice = slice(None)) -> Any:
        """From the second object of each pair to the first."""
        steps = X.take(self.first[part], axis=0)
        steps -= X.take(self.second[part], axis=0)
        return steps

    def _squares(self, X: Any) -> Any:
        at_once = max(1, _AT_ONCE // X.shape[1])
        found = []
        for start in range(0, len(self.first), at_once):
            steps = self.steps(X, slice(start, start + at_once))
            found.append(self._device.xp.einsum("pk,pk->p", steps, steps))
        return found[0] if len(found) == 1 else self._device.xp.concatenate(found)

    def _descend(self, X: Any, slope: Any) -> Any:
        self._slopes.data = slope[self._pair]
        sums = self._slopes @ self._device.xp.concatenate([X, self._ones], axis=1)
        gradient = sums[:, -1:] * X
        gradient -= sums[:, :-1]
        gradient *= 2.0
        return gradient


class _CompiledRuler(Ruler):
    """Pairs in parts, by compiled loops."""

    def __init__(self, pairs: Pairs, work: Work) -> None:
        self._pairs, self._work = pairs, work
        self._cuts = work.cuts(len(pairs))

    def _squares(self, X: FloatArray) -> FloatArray:
        from trilens.maps import _kernels

        pairs, cuts, out = self._pairs, self._cuts, np.empty(len(self._pairs))

        def measure(k: int) -> None:
            _kernels.pair_squares(X, pairs.first, pairs.second, cuts[k], cuts[k + 1], out)

        list(self._work.each(measure, self._work.parts))
        return out

    def _descend(self, X: FloatArray, slope: FloatArray) -> FloatArray:
        from trilens.maps import _kernels

        pairs, cuts = self._pairs, self._cuts
        gradients = np.zeros((len(self._work.parts), *X.shape))

        def descend(k: int) -> None:
            _kernels.pair_gradient(
                X, pairs.first, pairs.second, slope, cuts[k], cuts[k + 1], gradients[k]
            )

        list(self._work.each(descend, self._work.parts))
        gradient: FloatArray = gradients.sum(axis=0)
        return gradient
