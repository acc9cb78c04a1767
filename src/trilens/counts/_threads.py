"""How many threads count, and which statements each of them takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

from trilens._parameters import thread_count
from trilens._typing import AnyArray

Part = TypeVar("Part")
Result = TypeVar("Result")

#: Up to so many statements plain numpy counts in less time than numba needs to be imported.
#: Tests lower it to send small inputs through the compiled loops.
small = 1 << 16


def is_small(n_statements: int) -> bool:
    """Whether plain numpy is the faster way, imports included."""
    return n_statements <= small


def resolve_threads(n_threads: int | None, n_statements: int, n_cells: int) -> int:
    """The number of threads: those asked for, or one per core this process may use.

    Every thread owns a set of counters that must be cleared and merged, so one more thread
    pays only where there are more statements than counters for it.
    """
    return max(1, min(thread_count(n_threads), n_statements // max(n_cells, 1)))


def split(start: int, stop: int, n_parts: int) -> list[slice]:
    """``n_parts`` ranges of nearly equal length that make up ``start:stop``."""
    size = stop - start
    edges = [start + size * part // n_parts for part in range(n_parts + 1)]
    return [slice(low, high) for low, high in pairwise(edges)]


def in_threads(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """The results for all parts, each in a thread of its own."""
    if len(parts) == 1:
        return [work(parts[0])]
    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(work, parts))


def summed(work: Callable[[slice], AnyArray], n_statements: int, n_threads: int) -> AnyArray:
    """The sum of what ``work`` counts of the statements of each thread."""
    total, *others = in_threads(work, split(0, n_statements, n_threads))
    for more in others:
        total += more
    return total
