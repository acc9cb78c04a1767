"""Where work runs: submit, merge, collect."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from trilens._parameters import shown, thread_count
from trilens.errors import EngineError, MissingExtraError, ParameterError

#: Counts that are merged at a time, on a worker.
FAN = 16
#: How often a piece of work whose process died is tried again.
_TRIES = 3

#: What an engine gives for work that is under way; only the engine looks into it.
Handle: TypeAlias = Any


class Engine(Protocol):
    """What every engine can do."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        """Start ``function(*arguments)`` somewhere; both must be able to travel."""
        ...

    def merge(self, function: Callable[..., Any], handles: list[Handle]) -> Handle:
        """Start ``function(*results)`` where the results are, by a tree, in their order."""
        ...

    def watch(self, handle: Handle, told: Callable[[], None]) -> None:
        """Call ``told`` once when the work has succeeded, on a thread of the engine's."""
        ...

    def collect(self, handle: Handle) -> Any:
        """Wait for the result, or raise what the work raised."""
        ...

    def close(self) -> None:
        """Let go of the workers that the engine itself started."""
        ...


def when_done(future: Any, told: Callable[[], None]) -> None:
    """Call ``told`` when a future of any package has succeeded."""

    def look(done: Any) -> None:
        if not done.cancelled() and done.exception() is None:
            told()

    future.add_done_callback(look)


def merge_by_tree(engine: Engine, function: Callable[..., Any], handles: list[Handle]) -> Handle:
    """Start a merge of `FAN` results at a time on the workers, and of these, until one is left.

    ``handles`` is emptied of what is merged, so that nobody holds results that are added up.
    """
    while len(handles) > 1:
        handles[:] = [
            engine.submit(function, *handles[at : at + FAN]) for at in range(0, len(handles), FAN)
        ]
    return handles[0]


def open_engine(cluster: Any = None, n_threads: int | None = None) -> Engine:
    """The engine that is meant.

    Parameters
    ----------
    cluster : None, str, or a Dask client
        None: threads of this process. ``"local"`` or ``"local:4"``: processes of this machine,
        one per core or so many. ``"tcp://..."`` or ``"tls://..."``: a Dask scheduler.
        ``"ray"`` or ``"ray:ADDRESS"``: Ray.
    """
    if cluster is None:
        return Threads(thread_count(n_threads))
    if not isinstance(cluster, str):
        if hasattr(cluster, "scheduler_info") and hasattr(cluster, "submit"):
            from trilens.counts.dask import DaskEngine

            return DaskEngine(cluster)
    elif cluster == "local" or cluster.startswith("local:"):
        number = cluster.removeprefix("local").removeprefix(":")
        if not number or (number.isdigit() and int(number) > 0):
            return Processes(int(number) if number else thread_count())
    elif cluster.startswith(("tcp://", "tls://", "ws://", "wss://")):
        try:
            from trilens.counts.dask import DaskEngine
        except ImportError as error:
            raise MissingExtraError(f"cluster {cluster}", "dask") from error
        return DaskEngine.at(cluster)
    elif cluster == "ray" or cluster.startswith("ray:"):
        from trilens.counts.ray import RayEngine

        try:
            return RayEngine(cluster.removeprefix("ray").removeprefix(":"))
        except ImportError as error:
            raise MissingExtraError(f"cluster {cluster}", "ray") from error
    raise ParameterError(
        f"cluster is {shown(cluster)}; it must be local, local:N, the address of a Dask scheduler "
        f"(tcp://host:8786), ray, ray:ADDRESS, or a Dask client"
    )


@dataclass
class _Folded:
    """Results that are added up one by one as they come, in order."""

    function: Callable[..., Any]
    handles: list[Handle]


class _Pool:
    """An engine over a pool of `concurrent.futures`: the caller adds up what comes back."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        return self._pool.submit(function, *arguments)

    def watch(self, handle: Handle, told: Callable[[], None]) -> None:
        when_done(handle, told)

    def merge(self, function: Callable[..., Any], handles: list[Handle]) -> Handle:
        return _Folded(function, handles)

    def collect(self, handle: Handle) -> Any:
        if not isinstance(handle, _Folded):
            return self._result(handle)
        total: Any = None
        waiting = handle.handles[::-1]
        handle.handles.clear()
        while waiting:
            # what is added up is let go of: the memory is that of a few counts
            one = self._result(waiting.pop())
            total = one if total is None else handle.function(total, one)
        return total

    def _result(self, handle: Handle) -> Any:
        return handle.result()

    def close(self) -> None:
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
    told: Callable[[], None] | None = None


class Processes(_Pool):
    """Processes of this machine; the work of one that dies is done again."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        super().__init__(self._new_pool())

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.n_workers, multiprocessing.get_context("spawn"))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        return _Task(function, arguments, self._start(function, arguments), self._pool)

    def watch(self, handle: Handle, told: Callable[[], None]) -> None:
        handle.told = told
        when_done(handle.future, told)

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
                        f"a process ended {_TRIES} times over the same work; it may need more "
                        f"memory (take fewer workers), or a script that starts processes lacks "
                        f"its if __name__ == '__main__'"
                    ) from None
                # every task of a broken pool fails, whoever broke it
                self._replace(task.pool)
                task.tries += 1
                task.future = self._start(task.function, task.arguments)
                task.pool = self._pool
                if task.told is not None:
                    when_done(task.future, task.told)
