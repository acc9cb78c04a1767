"""Lens depth of new objects with respect to a sample, without adding them to it.

x lies in Lens(i, j) exactly when d(i, j) > max(d(x, i), d(x, j)). For one query the sample's
dissimilarities are read once, in 32 bits: rounding keeps the order, so that only where the
rounded numbers are equal the exact ones decide.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from trilens._parameters import thread_count
from trilens._typing import AnyArray, IntArray, Progress
from trilens.exact._threads import by_blocks, finished, pool
from trilens.exact.samples import TILE, Rows

#: Pairs times queries up to which plain numpy is sooner done than the compiled loops are loaded.
SMALL = 4_000_000
#: Bytes of the sample's dissimilarities that an index keeps; a larger sample is read again.
KEPT = 1 << 30


def query_depths(
    source: Rows,
    Q: AnyArray,
    *,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> IntArray:
    """Lenses of the sample that hold each query; Q (q, n) are its dissimilarities, checked."""
    n, q = source.n, len(Q)
    threads = thread_count(n_threads)
    depth = np.zeros(q, np.int64)
    if n > 1 and q:
        if n * n * q <= SMALL:
            _count_plainly(source.block(0, n), Q, depth)
        else:
            _count_compiled(source, Q, depth, threads, progress)
    if progress is not None:
        progress(1.0)
    return depth


def _count_plainly(D: AnyArray, Q: AnyArray, depth: IntArray) -> None:
    for i in range(len(D) - 1):
        sides = D[i, i + 1 :]
        depth += ((sides > Q[:, i, None]) & (sides > Q[:, i + 1 :])).sum(axis=1)


def _count_compiled(
    source: Rows, Q: AnyArray, depth: IntArray, threads: int, progress: Progress | None
) -> None:
    from trilens.exact._kernels import count_pairs

    # integers too long for a float are compared as integers
    common = np.result_type(source.dtype, Q.dtype)
    kind = common if common.kind in "iu" and common.itemsize == 8 else np.dtype(np.float64)
    queries = np.ascontiguousarray(Q, kind)

    def some(at: int, end: int) -> IntArray:
        rows = np.ascontiguousarray(source.block(at, end), kind)
        found = np.zeros(len(queries), np.int64)
        count_pairs(rows, at, queries, found)
        return found

    for found in by_blocks(some, source.n, TILE, threads, progress):
        depth += found


class DepthIndex:
    """A sample prepared for a stream of single queries."""

    def __init__(self, source: Rows, n_threads: int | None = None) -> None:
        self.source, self.n_threads = source, n_threads
        n = source.n
        self.kept = 4 * n * (n - 1) // 2 <= KEPT and n**2 > SMALL // 16
        if not self.kept:
            return
        self.starts = np.zeros(n + 1, np.int64)
        np.cumsum(np.arange(n - 1, -1, -1), out=self.starts[1:])
        self.sides = np.empty(self.starts[-1], np.float32)
        # where the rounded numbers are the numbers, they decide ties as well
        self.exact = True
        for at in range(0, n, TILE):
            rows = source.block(at, min(n, at + TILE))
            if float(rows.max(initial=0)) > 3e38:
                self.kept = False
                return
            for r, row in enumerate(rows):
                later = self.sides[self.starts[at + r] : self.starts[at + r + 1]]
                later[:] = row[at + r + 1 :]
                if self.exact:
                    self.exact = bool(np.array_equal(later, row[at + r + 1 :]))

    def depths(self, Q: AnyArray) -> IntArray:
        """Lenses of the sample that hold each query."""
        if not self.kept or len(Q) == 0:
            return query_depths(self.source, Q, n_threads=self.n_threads)
        from trilens.exact._kernels import count_sides

        n = self.source.n
        rounded = np.ascontiguousarray(Q, np.float32)
        threads = thread_count(self.n_threads) if len(Q) * n**2 >= 2e7 else 1
        # rows of about equally many pairs, several parts to a thread
        parts = np.linspace(0, self.starts[-1], 4 * threads + 1)
        ends = np.searchsorted(self.starts, parts).clip(0, n)
        ends[0], ends[-1] = 0, n

        def some(first: int, stop: int) -> tuple[IntArray, AnyArray]:
            found = np.zeros(len(Q), np.int64)
            equal = np.zeros((len(Q), stop - first), np.bool_)
            count_sides(self.sides, self.starts, first, stop, rounded, found, equal)
            return found, np.argwhere(equal) + np.array([0, first])

        with pool(threads) as run:
            tasks = [(some, int(a), int(b)) for a, b in pairwise(ends) if a < b]
            results = list(finished(run, tasks, threads))
        depth: IntArray = np.sum([found for found, _ in results], axis=0, dtype=np.int64)
        if self.exact and np.array_equal(rounded, Q):
            return depth
        unclear = np.concatenate([where for _, where in results])
        if len(unclear) > 200 + 20 * len(Q):
            # ties everywhere: the exact numbers from the start
            return query_depths(self.source, Q, n_threads=self.n_threads)
        for x, i in unclear.tolist():
            sides = self.sides[self.starts[i] : self.starts[i + 1]]
            longest = np.maximum(rounded[x, i], rounded[x, i + 1 :])
            j = np.flatnonzero(sides == longest) + i + 1
            d = self.source.between(np.full(len(j), i), j)
            depth[x] += np.count_nonzero(d > np.maximum(Q[x, i], Q[x, j]))
        return depth
