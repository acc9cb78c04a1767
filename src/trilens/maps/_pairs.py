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
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from trilens._parameters import thread_count
from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray

Length: TypeAlias = Literal["distance", "square", "student"]
Path: TypeAlias = Literal["numpy", "pairs", "rows"]

#: Up to this many comparisons of pairs numpy is fast enough, and nothing waits for a compiler.
SMALL = 20_000
#: Comparisons for one thread's part. The number of parts depends on the data alone, and their
#: sums are added in order, so that the answer is the same on any number of cores.
PART = 1 << 19
MAX_PARTS = 8
#: Differences of lengths up to which their exponentials are formed pair by pair.
ODDS_RANGE = 300.0

#: A function of a part's number, done for every part, perhaps in threads.
Each: TypeAlias = Callable[[Callable[[int], Any], range], Iterator[Any]]


def choose_path(n_comparisons: int, n_objects: int) -> Path:
    """The way to evaluate a loss, by the size of the data.

    Where the comparisons outnumber the pairs, every pair is measured once and the comparisons
    only add to a slope per pair; otherwise each is followed down to the coordinates.
    """
    if n_comparisons <= SMALL:
        return "numpy"
    return "pairs" if n_objects * (n_objects - 1) // 2 <= n_comparisons // 4 else "rows"


def parts_of(n_comparisons: int) -> range:
    """The parts that work falls into."""
    return range(min(MAX_PARTS, 1 + n_comparisons // PART))


@contextmanager
def in_parts(n_comparisons: int, n_threads: int | None) -> Iterator[tuple[range, Each]]:
    """The parts that work falls into, and a map over them; threads end with the context."""
    parts = parts_of(n_comparisons)
    workers = min(len(parts), thread_count(n_threads))
    if workers == 1:
        yield parts, map
        return
    with ThreadPoolExecutor(workers) as pool:
        yield parts, pool.map


def lengths(squares: FloatArray, length: Length, alpha: float) -> tuple[FloatArray, FloatArray]:
    """The lengths of pairs, and their slopes in the squared distances."""
    if length == "square":
        return squares, np.ones_like(squares)
    if length == "distance":
        v = np.sqrt(squares)
        # Where two points coincide the distance has no slope; any step parts them.
        return v, np.divide(0.5, v, out=np.zeros_like(v), where=v > 0)
    half = 0.5 * (alpha + 1.0)
    return half * np.log1p(squares / alpha), half / (alpha + squares)


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
    """Numbered pairs of objects.

    Attributes
    ----------
    first, second : (P,) int32
        The objects of each pair, the smaller id first.
    n_objects : int
    """

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
    """Measures numbered pairs in coordinates, and turns slopes in them into a gradient."""

    @abstractmethod
    def squares(self, X: FloatArray) -> FloatArray:
        """The squared distance of every pair."""

    @abstractmethod
    def gradient(self, X: FloatArray, slope: FloatArray) -> FloatArray:
        """The gradient in ``X``, given a slope in each squared distance.

        ``X`` are the coordinates that were measured last.
        """


class NumpyRuler(Ruler):
    """Differences of pairs by a sparse incidence matrix."""

    def __init__(self, pairs: Pairs) -> None:
        from scipy.sparse import csr_array

        ends = np.column_stack([pairs.first, pairs.second]).ravel()
        signs = np.tile([1.0, -1.0], len(pairs))
        self._incidence = csr_array(
            (signs, ends, np.arange(0, 2 * len(pairs) + 1, 2)),
            shape=(len(pairs), pairs.n_objects),
        )
        self._transposed = self._incidence.T.tocsr()

    def squares(self, X: FloatArray) -> FloatArray:
        self._steps = self._incidence @ X
        squares: FloatArray = np.einsum("pk,pk->p", self._steps, self._steps)
        return squares

    def gradient(self, X: FloatArray, slope: FloatArray) -> FloatArray:
        gradient: FloatArray = self._transposed @ ((2.0 * slope)[:, None] * self._steps)
        return gradient


class CompiledRuler(Ruler):
    """Pairs in parts, by compiled loops."""

    def __init__(self, pairs: Pairs, parts: range, each: Each) -> None:
        self._pairs, self._parts, self._each = pairs, parts, each
        self._cuts = np.linspace(0, len(pairs), len(parts) + 1).astype(np.int64).tolist()
        self._squares = np.empty(len(pairs))

    def squares(self, X: FloatArray) -> FloatArray:
        from trilens.maps import _embedding_kernels as kernels

        pairs, cuts = self._pairs, self._cuts

        def measure(k: int) -> None:
            kernels.pair_squares(X, pairs.first, pairs.second, cuts[k], cuts[k + 1], self._squares)

        list(self._each(measure, self._parts))
        return self._squares

    def gradient(self, X: FloatArray, slope: FloatArray) -> FloatArray:
        from trilens.maps import _embedding_kernels as kernels

        pairs, cuts = self._pairs, self._cuts
        gradients = np.zeros((len(self._parts), *X.shape))

        def descend(k: int) -> None:
            kernels.pair_gradient(
                X, pairs.first, pairs.second, slope, cuts[k], cuts[k + 1], gradients[k]
            )

        list(self._each(descend, self._parts))
        gradient: FloatArray = gradients.sum(axis=0)
        return gradient
