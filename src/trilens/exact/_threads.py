"""Threads over tasks, few at a time, that an interrupt leaves without a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
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
    """``work(first, stop)`` for n rows, ``step`` at a time; the results in the order they come."""

    def sized(first: int, stop: int) -> tuple[int, Result]:
        return stop - first, work(first, stop)

    done = 0
    with pool(threads) as run:
        tasks = [(sized, at, min(n, at + step)) for at in range(0, n, step)]
        for size, result in finished(run, tasks, threads):
            yield result
            done += size
            if progress is not None:
                progress(done / n)


def finished(
    run: Callable[..., Future[Any]], tasks: list[tuple[Any, ...]], threads: int
) -> Iterator[Any]:
    """Results in the order in which they come, few submitted at a time.

    An error or an interrupt in between leaves at most the running ones behind.
    """
    waiting = iter(tasks)
    running = {run(*task) for task in islice(waiting, 2 * threads)}
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for task in done:
            yield task.result()
            following = next(waiting, None)
            if following is not None:
                running.add(run(*following))


@contextmanager
def pool(threads: int) -> Iterator[Callable[..., Future[Any]]]:
    """Threads that drop what they have not begun when the caller is interrupted."""
    executor = ThreadPoolExecutor(threads)
    try:
        yield executor.submit
    finally:
        executor.shutdown(cancel_futures=True)
