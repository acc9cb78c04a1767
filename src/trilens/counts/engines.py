"""Where work runs: threads and processes of this machine, or a Dask cluster."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import (
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeAlias

from trilens._parameters import thread_count, wrong
from trilens.errors import EngineError, MissingExtraError, TrilensError

#: Counts that are merged at a time, on a worker.
FAN = 16
#: How often a piece of work whose process died is tried again.
_TRIES = 3
#: Seconds in which a Dask scheduler must answer.
_PATIENCE = 10

#: What an engine gives for work that is under way: like a future it takes an ``add_done_callback``,
#: for work that has ended one way or another; only the engine looks further into it.
Handle: TypeAlias = Any


def open_engine(cluster: Any = None, n_threads: int | None = None) -> Engine:
    """The engine that is meant: threads of this process, processes of this machine, or Dask."""
    if cluster is None:
        return Threads(thread_count(n_threads))
    if not isinstance(cluster, str):
        if hasattr(cluster, "scheduler_info") and hasattr(cluster, "submit"):
            return DaskEngine(cluster)
    elif cluster == "local" or cluster.startswith("local:"):
        number = cluster.removeprefix("local").removeprefix(":")
        if not number or (number.isdigit() and int(number) > 0):
            return Processes(int(number) if number else thread_count())
    elif cluster.startswith(("tcp://", "tls://", "ws://", "wss://")):
        return DaskEngine.at(cluster)
    raise wrong(
        "cluster",
        cluster,
        "local, local:N, the address of a Dask scheduler (tcp://host:8786), or a Dask client",
    )


def summed(*parts: Any) -> Any:
    """The sum, in order; a function that can travel."""
    return reduce(add, parts)


class _Pool:
    """An engine over a pool of `concurrent.futures`: the caller adds up what comes back."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        """Start ``function(*arguments)`` somewhere; both must be able to travel."""
        return self._pool.submit(function, *arguments)

    def merge(self, handles: list[Handle]) -> Any:
        """Wait for all results and add them up, in their order.

        Raises what the work raised. ``handles`` is emptied, so that nobody holds results that
        are added up.
        """
        total: Any = None
        handles.reverse()
        while handles:
            # what is added up is let go of: the memory is that of a few counts
            one = self._result(handles.pop())
            total = one if total is None else total + one
        return total

    def _result(self, handle: Handle) -> Any:
        return handle.result()

    def close(self) -> None:
        """Let go of the workers that the engine itself started."""
        self._pool.shutdown(wait=True, cancel_futures=True)


class Threads(_Pool):
    """Threads of this process; the compiled loops and the readers run side by side."""

    def __init__(self, n_threads: int) -> None:
        super().__init__(ThreadPoolExecutor(n_threads, thread_name_prefix="trilens"))


@dataclass
class _Task:
    """Work in a process that may have to be tried again."""

    function: Callable[..., Any]
    arguments: Sequence[Any]
    future: Future[Any]
    pool: Executor
    tries: int = 1

    def add_done_callback(self, told: Callable[[Any], None]) -> None:
        self.future.add_done_callback(told)


class Processes(_Pool):
    """Processes of this machine; the work of one that dies is done again."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        super().__init__(self._new_pool())

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.n_workers, multiprocessing.get_context("spawn"))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        return _Task(function, arguments, self._start(function, arguments), self._pool)

    def _start(self, function: Callable[..., Any], arguments: Sequence[Any]) -> Future[Any]:
        try:
            return self._pool.submit(function, *arguments)
        except BrokenProcessPool:
            self._replace(self._pool)
            return self._pool.submit(function, *arguments)

    def _replace(self, broken: Executor) -> None:
        if self._pool is broken:
            broken.shutdown(wait=False)
            self._pool = self._new_pool()

    def _result(self, handle: Handle) -> Any:
        task: _Task = handle
        while True:
            try:
                return task.future.result()
            except BrokenProcessPool:
                if task.tries >= _TRIES:
                    raise EngineError(
                        f"a worker process died {_TRIES} times on the same work; it may need more "
                        f"memory (use fewer workers), or the script that starts it has no "
                        f"if __name__ == '__main__'"
                    ) from None
                # every task of a broken pool fails, whoever broke it
                self._replace(task.pool)
                task.tries += 1
                task.future = self._start(task.function, task.arguments)
                task.pool = self._pool


class DaskEngine:
    """A Dask scheduler and its workers.

    Dask does the work of a worker that dies again by itself. What the scheduler knew is lost
    with the scheduler: that is what checkpoints are for.
    """

    def __init__(self, client: Any, address: str | None = None) -> None:
        self._client = client
        self._address = address
        if not client.scheduler_info()["workers"]:
            self.close()
            raise EngineError(f"{self._where} has no workers; start some with dask worker")

    @classmethod
    def at(cls, address: str) -> DaskEngine:
        """The scheduler at an address."""
        try:
            import distributed
        except ImportError as error:
            raise MissingExtraError(f"cluster {address}", "dask") from error
        connect: Any = distributed.Client
        try:
            client = connect(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise EngineError(
                f"no Dask scheduler answers at {address}; start one with dask scheduler"
            ) from error
        return cls(client, address)

    @property
    def _where(self) -> str:
        return f"the Dask scheduler at {self._address or self._client.scheduler.address}"

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        # pure=False: the same file may have changed since it was counted
        return self._client.submit(function, *arguments, pure=False, retries=0)

    def merge(self, handles: list[Handle]) -> Any:
        # by a tree, on the workers
        while len(handles) > 1:
            some = [handles[at : at + FAN] for at in range(0, len(handles), FAN)]
            handles[:] = [self.submit(summed, *part) for part in some]
            del some
        return self._result(handles.pop())

    def _result(self, handle: Handle) -> Any:
        from distributed.scheduler import KilledWorker

        try:
            return handle.result()
        except TrilensError:
            raise
        except KilledWorker as error:
            raise EngineError(
                "the workers keep dying on the same piece of work; they may need more memory"
            ) from error
        except (CancelledError, OSError, TimeoutError, RuntimeError) as error:
            raise EngineError(
                f"lost {self._where} ({type(error).__name__}); run the same command again: "
                f"with a checkpoint folder, only what is missing is counted"
            ) from error

    def close(self) -> None:
        if self._address is not None:  # a client of the caller's is the caller's
            self._client.close(timeout=1)


#: Each can submit work, merge what comes of it, and be closed.
Engine: TypeAlias = Threads | Processes | DaskEngine
