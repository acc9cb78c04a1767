"""Threads over tasks, few at a time, that an interrupt leaves without a trace."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from trilens._typing import Progress

Result = TypeVar("Result")


def by_blocks(
    work: Callable[[int, int], Result],
    n: int,
    step: int,
    threads: int,
    progress: Progress | None = None,
) -> Iterator[Result]:
    """``work(first, stop)`` for n rows, ``step`` at a time."""
    tasks = [(work, at, min(n, at + step)) for at in range(0, n, step)]
    with pool(threads) as run:
        for (_, _, stop), result in zip(tasks, finished(run, tasks, threads), strict=True):
            yield result
            if progress is not None:
                progress(stop / n)


def finished(
    run: Callable[..., Future[Any]], tasks: Iterable[tuple[Any, ...]], threads: int
) -> Iterator[Any]:
    """The results of tasks in their order, few submitted at a time.

    An error or an interrupt in between leaves at most the running ones behind.
    """
    waiting = iter(tasks)
    running = deque(run(*task) for task in islice(waiting, 2 * threads))
    while running:
        yield running.popleft().result()
        running.extend(run(*task) for task in islice(waiting, 1))


@contextmanager
def pool(threads: int) -> Iterator[Callable[..., Future[Any]]]:
    """Threads that drop what they have not begun when the caller is interrupted."""
    executor = ThreadPoolExecutor(threads)
    try:
        yield executor.submit
    finally:
        executor.shutdown(cancel_futures=True)
