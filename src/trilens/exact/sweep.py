"""One sweep over all pairs of objects: the size of every lens, and the lenses of every object."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any

import numpy as np

from trilens._typing import AnyArray, Int32Array, IntArray, Progress
from trilens.errors import ParameterError
from trilens.exact.ranks import check_size, query_ranks, row_ranks, small_integers

#: Triples up to which plain numpy is sooner done than the compiled loops are loaded.
SMALL = 8_000_000


def sweep_pairs(
    D: AnyArray,
    Q: AnyArray | None = None,
    *,
    counts: bool = False,
    depth: bool = False,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Int32Array, IntArray]:
    """Which objects lie in which lenses, counted by pair, by object, or both.

    Parameters
    ----------
    D : (n, n) array
        Checked dissimilarities; their pairs span the lenses.
    Q : (n, q) array, optional
        Dissimilarities of other objects to those of D, which may lie in the lenses in place of
        the objects of D themselves.
    counts, depth
        What to count; the other array returned is empty.
    n_threads
        Threads, by default as many as there are processors to use.
    progress
        Called from this thread with the share of the work that is done.

    Returns
    -------
    sizes : (n, n) int32 array
        Objects in the lens of each pair: below n, so 32 bits hold them.
    lenses : (q,) int64 array
        Lenses that hold each object, out of the n(n - 1)/2.
    """
    threads = _threads(n_threads)
    n = len(D)
    q = n if Q is None else Q.shape[1]
    check_size(n)
    sizes = np.zeros((n, n) if counts else (0, 0), np.int32)
    lenses = np.zeros(q if depth else 0, np.int64)
    if n < 2 or q == 0:
        pass
    elif n * n * q <= SMALL:
        _sweep_plainly(D, D if Q is None else Q, sizes, lenses)
    else:
        _sweep_compiled(D, Q, sizes, lenses, threads, progress)
    if progress is not None:
        progress(1.0)
    return sizes, lenses


def _sweep_plainly(D: AnyArray, Q: AnyArray, sizes: Int32Array, lenses: IntArray) -> None:
    """The definition, one object of the pair at a time."""
    for i in range(len(D)):
        sides = D[i][:, None]
        lens = (sides > Q[i]) & (sides > Q)
        if sizes.size:
            sizes[i] = lens.sum(axis=1)
        if lenses.size:
            lenses += lens[i + 1 :].sum(axis=0)


def _sweep_compiled(
    D: AnyArray,
    Q: AnyArray | None,
    sizes: Int32Array,
    lenses: IntArray,
    threads: int,
    progress: Progress | None,
) -> None:
    """The same by ranks and bits, in tiles, by threads."""
    from trilens.exact._kernels import CHUNK, TILE, sweep

    n = len(D)
    with _pool(threads) as run:
        cuts, top = _ranks(D, run, CHUNK, integers=Q is None)
        if Q is None:
            columns = cuts
        else:
            columns = np.full((n, -(-Q.shape[1] // CHUNK) * CHUNK), top + 1, np.uint16)
            query_ranks(D, Q, columns)
        tile = min(TILE, max(32, -(-n // (4 * threads))))

        def rows(first: int) -> tuple[int, IntArray]:
            found = np.zeros(columns.shape[1], np.int64)
            want = bool(sizes.size), bool(lenses.size)
            sweep(cuts, columns, top + 1, first, tile, *want, sizes, found)
            return n - first, found

        tasks = [run(rows, first) for first in range(0, n, tile)]
        total, done = sum(range(n, 0, -tile)), 0
        for task in as_completed(tasks):
            part, found = task.result()
            lenses += found[: lenses.size]
            done += part
            if progress is not None and done < total:
                progress(done / total)


def _ranks(
    D: AnyArray, run: Callable[..., Future[Any]], chunk: int, *, integers: bool
) -> tuple[AnyArray, int]:
    """Ranks of all rows, columns padded with one rank above all, and the largest rank."""
    n = len(D)
    ranks = np.empty((n, -(-n // chunk) * chunk), np.uint16)
    if integers and small_integers(D):
        top = int(D.max())
        ranks[:, :n] = D
    else:
        step = 256
        tasks = [run(row_ranks, D, at, min(n, at + step), ranks) for at in range(0, n, step)]
        top = max(task.result() for task in tasks)
    ranks[:, n:] = top + 1
    return ranks, top


@contextmanager
def _pool(threads: int) -> Iterator[Callable[..., Future[Any]]]:
    """Threads that drop what they have not begun when the caller is interrupted."""
    pool = ThreadPoolExecutor(threads)
    try:
        yield pool.submit
    finally:
        pool.shutdown(cancel_futures=True)


def _threads(n_threads: int | None) -> int:
    if n_threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    if n_threads < 1:
        raise ParameterError(f"n_threads={n_threads}; give 1 or more, or None for all processors")
    return n_threads
