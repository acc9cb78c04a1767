"""One sweep over all pairs of objects: the size of every lens, and the lenses of every object.

Depth follows from sums of sizes. With P<(i, j) the objects nearer to i than j is, and P<=(i, j)
those not farther, counting for every j the objects of P<(i, j) and of P<=(i, j) that are farther
from j than i is counts every pair with i in its lens twice, ties included:

    2 LD(i) = n^2 - g - sum over j of |P<(i, j) & P<=(j, i)| + |P<=(i, j) & P<=(j, i)|,

g being the objects at distance 0 from i. Where neither row has ties, the two sizes are N(i, j)
+ 1 and N(i, j) + 2, N the size of the lens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import cache
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from trilens._parameters import thread_count
from trilens._typing import AnyArray, Int32Array, IntArray, Progress
from trilens.exact._threads import finished, pool
from trilens.exact.samples import TILE, MatrixRows, Rows
from trilens.exact.semimetrics import MOST_OBJECTS, check_size

#: Triples up to which plain numpy is sooner done than the compiled loops are loaded.
SMALL = 8_000_000
#: Bytes of ranks that are held at once: at least, and at most however many objects there are.
HELD = (384 << 20, 1100 << 20)

#: Called with the first i and j of a block and the sizes of its lenses, by any thread.
Take: TypeAlias = Callable[[int, int, Int32Array], None]


def sweep_pairs(
    source: Rows,
    *,
    counts: bool = False,
    depth: bool = False,
    take: Take | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Int32Array, IntArray]:
    """The size of every lens, (n, n), and the lenses that hold each object, (n,).

    What neither ``counts`` nor ``depth`` asks for is empty. ``take`` is given the sizes block by
    block; those of pairs i >= j in a block are whatever they are.
    """
    threads = thread_count(n_threads)
    n = source.n
    check_size(n)
    sizes = np.zeros((n, n) if counts else (0, 0), np.int32)
    lenses = np.zeros(n if depth else 0, np.int64)
    if n < 2:
        pass
    elif n**3 <= SMALL or not _vectors_work():
        _sweep_plainly(source.block(0, n), sizes, lenses, take)
    else:
        _Sweep(source, sizes, lenses, take, threads).run(progress)
    if progress is not None:
        progress(1.0)
    return sizes, lenses


@cache
def _vectors_work() -> bool:
    """Whether the compiled vectors do on this machine; tried once."""
    from trilens.exact import _vectors

    return _vectors.work()


def _sweep_plainly(D: AnyArray, sizes: Int32Array, lenses: IntArray, take: Take | None) -> None:
    """The definition, one object of the pair at a time."""
    for i in range(len(D)):
        sides = D[i][:, None]
        lens = (sides > D[i]) & (sides > D)
        if sizes.size or take is not None:
            row = lens.sum(axis=1, dtype=np.int32)
            if sizes.size:
                sizes[i] = row
            if take is not None and i + 1 < len(D):
                take(i, i + 1, row[None, i + 1 :])
        if lenses.size:
            lenses += lens[i + 1 :].sum(axis=0)


class _Slab(NamedTuple):
    """Some rows as planes of bits."""

    first: int
    planes: AnyArray
    tied: bool


class _Sweep:
    """The same by ranks and bits: blocks of rows j by threads, against slabs of rows i."""

    def __init__(
        self,
        source: Rows,
        sizes: Int32Array,
        lenses: IntArray,
        take: Take | None,
        threads: int,
    ) -> None:
        from trilens.exact import _vectors as kernels

        self.kernels = kernels
        self.source, self.sizes, self.lenses, self.take = source, sizes, lenses, take
        self.threads, self.n, self.lock = threads, source.n, Lock()
        n = self.n
        self.top, self.integers = n - 1, False
        if isinstance(source, MatrixRows) and source.D.dtype.kind in "iu":
            most = int(source.D.max())
            if most <= min(MOST_OBJECTS, 8 * n + 1024):
                # lengths of paths, scores: the numbers themselves are ranks, and short ones
                self.top, self.integers = most, True
        self.bits = max(3, int(self.top + 1).bit_length())
        self.chunks = -(-n // self.kernels.CHUNK)
        self.slab = self._slab_rows()
        self.twice, self.at_zero = np.zeros(n, np.int64), np.zeros(n, np.int64)

    def _slab_rows(self) -> int:
        """Rows of a slab: all where they fit, otherwise so that two fit."""
        row: int = self.chunks * self.kernels.CHUNK * self.bits // 8
        total = row * self.n
        held = min(HELD[1], max(HELD[0], total // 5))
        if total <= held:
            return self.n
        # whole blocks of rows j, and whole tiles of a source of points
        step = max(int(self.kernels.ROWS), TILE)
        return max(step, held // 2 // row // step * step)

    def run(self, progress: Progress | None) -> None:
        n, slab = self.n, self.slab
        firsts = list(range(0, n, slab))
        total, done = n * (n + 1) / 2, 0.0
        with pool(self.threads) as run:
            held: dict[int, _Slab] = {}
            for a, b in _snake(len(firsts)):
                for s in set(held) - {a, b}:
                    del held[s]
                for s in (a, b):
                    if s not in held:
                        held[s] = self._rank(firsts[s], min(n, firsts[s] + slab), run)
                one, many = held[min(a, b)], held[max(a, b)]
                step = self.kernels.ROWS
                rows = range(0, len(many.planes), step)
                # the long ones first, so that no thread is left with one at the end
                blocks = [(self._block, one, many, first) for first in reversed(rows)]
                for part in finished(run, blocks, self.threads):
                    done += part
                    if progress is not None and done < total:
                        progress(done / total)
                # nothing may hold on to a slab that makes room for the next
                del one, many, blocks
        if self.lenses.size:
            self.lenses += (n * n - self.at_zero - self.twice) // 2

    def _rank(self, first: int, stop: int, run: Callable[..., Future[Any]]) -> _Slab:
        """Planes of the ranks of some rows."""
        n, width = self.n, self.chunks * self.kernels.CHUNK
        planes = np.empty((stop - first, self.chunks, self.bits, self.kernels.WORDS), np.uint64)
        at_zero = np.zeros(stop - first, np.int64)

        def rank(at: int, end: int) -> bool:
            rows = self.source.block(at, end)
            ranks = np.full((end - at, width), self.top + 1, np.uint16)
            if self.integers:
                ranks[:, :n] = rows
                tied = True
            else:
                tied = bool((row_ranks(rows, ranks) < n - 1).any())
            self.kernels.slice_ranks(ranks, planes[at - first : end - first], self.bits)
            at_zero[at - first : end - first] = (rows == 0).sum(axis=1)
            return tied

        tasks = [(rank, at, min(stop, at + 256)) for at in range(first, stop, 256)]
        tied = any(list(finished(run, tasks, self.threads)))
        if self.lenses.size:
            # a slab may come a second time; this term only once
            self.at_zero[first:stop] = at_zero
        return _Slab(first, planes, tied)

    def _block(self, one: _Slab, many: _Slab, first: int) -> float:
        """Lenses of the rows of one slab with some rows of another; pairs that were done."""
        step = self.kernels.ROWS
        rows = min(step, len(many.planes) - first)
        j0 = many.first + first
        # within a slab, rows i up to the last of the rows j
        stop = min(len(one.planes), j0 + rows - one.first)
        ties = one.tied or many.tied
        want_sizes = bool(self.sizes.size) or self.take is not None
        found = np.zeros((4 if ties else 1, stop, step), np.int32)
        self.kernels.lens_sizes(
            *(one.planes[:stop], one.first, many.planes, many.first, first, rows, self.bits),
            *(want_sizes or not ties, ties and bool(self.lenses.size), found),
        )
        found = found[:, :, :rows]
        i, j = np.arange(stop)[:, None] + one.first, np.arange(rows) + j0
        valid = i < j
        if self.sizes.size:
            part = np.where(valid, found[0], 0)
            self.sizes[one.first : one.first + stop, j0 : j0 + rows] += part
            self.sizes[j0 : j0 + rows, one.first : one.first + stop] += part.T
        if self.take is not None:
            self.take(one.first, j0, np.ascontiguousarray(found[0]))
        if self.lenses.size:
            if ties:
                for_i, for_j = found[2] + found[3], found[1] + found[3]
            else:
                for_i = for_j = 2 * found[0] + 3
            of_i = np.where(valid, for_i, 0).sum(axis=1, dtype=np.int64)
            of_j = np.where(valid, for_j, 0).sum(axis=0, dtype=np.int64)
            with self.lock:
                self.twice[one.first : one.first + stop] += of_i
                self.twice[j0 : j0 + rows] += of_j
        return float(valid.sum())


def _snake(n: int) -> Iterator[tuple[int, int]]:
    """All pairs a <= b, so that one of a pair stays for the next where it can.

    >>> list(_snake(3))
    [(0, 0), (0, 1), (0, 2), (2, 2), (1, 2), (1, 1)]
    """
    left, other = list(range(n)), 0
    while left:
        a = other
        left.remove(a)
        yield a, a
        for b in left:
            yield min(a, b), max(a, b)
            other = b


def row_ranks(D: AnyArray, ranks: AnyArray) -> AnyArray:
    """Write the dense ranks of some rows of D, equal values sharing a rank.

    Returns the largest rank of each row: n - 1 where no two values are equal.
    """
    n = D.shape[1]
    tops = np.zeros(len(D), np.int64)
    dense = np.zeros(n, np.uint16)
    for i, row in enumerate(D):
        order = np.argsort(row)
        values = row[order]
        np.cumsum(values[1:] != values[:-1], out=dense[1:], dtype=np.uint16)
        ranks[i, order] = dense
        tops[i] = dense[-1]
    return tops
