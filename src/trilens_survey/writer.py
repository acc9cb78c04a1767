"""The thread that writes.

It takes what is waiting, writes it all in one transaction, and tells each caller the outcome only
after the commit: whoever is told "stored" finds it on the disk. On SQLite there is one such
thread, with the only connection that writes; on PostgreSQL a few share the work, because most of
theirs is waiting for the network.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeAlias, TypeVar

from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from trilens.errors import TrilensError
from trilens_survey.database import Database, make_tables

T = TypeVar("T")
#: What writes inside a transaction; it neither begins nor commits one.
Write: TypeAlias = Callable[[Connection], T]

#: The most writes that one commit carries; the wait of the first is bounded by it.
MOST = 256
#: Where several came at once, the next commit waits for more as long as the last one took, and at
#: most so many seconds: fewer and larger commits take less of the processor.
LONGEST_WAIT = 0.02
#: Threads on PostgreSQL, and the most writes that a commit of one of them carries.
SEVERAL = 6
MOST_OF_SEVERAL = 16

#: PostgreSQL's codes for a deadlock and for another process that came between.
_CONFLICTS = ("40P01", "40001", "23505", "23503")


class Refused(TrilensError):
    """A request that is turned down, with the HTTP status that says so.

    ``why`` is for people, ``code`` for the page where the status says too little.
    """

    def __init__(self, status: int, why: str, code: str | None = None) -> None:
        self.status = status
        self.why = why
        self.code = code
        super().__init__(why)


class _Waiting(NamedTuple):
    """A write, and the future of whoever waits for it."""

    write: Write[Any]
    done: Future[Any]


class _Outcome(NamedTuple):
    value: Any = None
    error: BaseException | None = None


class Writer:
    """Starts with a database that works, or not at all.

    It has one thread on SQLite, where it may not be more, and by default a few on PostgreSQL.
    """

    def __init__(self, database: Database, threads: int | None = None) -> None:
        count = 1 if database.embedded else threads or SEVERAL
        self._most = MOST if count == 1 else MOST_OF_SEVERAL
        self._database = database
        self._engine = database.writer(count)
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._wait = 0.0
        self._closed = False
        self._closing = threading.Lock()
        self._threads = [
            threading.Thread(target=self._run, name=f"trilens-writer-{i}", daemon=True)
            for i in range(count)
        ]

    def start(self) -> None:
        """Open the database; what goes wrong there is raised here, and nothing is started."""
        try:
            with self._database.named_errors():
                make_tables(self._engine)
        except BaseException:
            self._engine.dispose()
            raise
        for thread in self._threads:
            thread.start()

    def submit(self, write: Write[T]) -> Future[T]:
        """Have something written; the future is done when it is on the disk."""
        done: Future[T] = Future()
        with self._closing:
            if self._closed:
                raise Refused(503, "the server is stopping")
            self._queue.put(_Waiting(write, done))
        return done

    async def write(self, write: Write[T]) -> T:
        """The same inside an event loop: the outcome, when it is on the disk."""
        return await asyncio.wrap_future(self.submit(write))

    def close(self) -> None:
        """Finish what was accepted, then end."""
        with self._closing:
            self._closed = True
            for _ in self._threads:
                self._queue.put(None)
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        self._engine.dispose()

    def _run(self) -> None:
        last = False
        while not last:
            batch, last = self._gather()
            if batch:
                self._commit(batch)

    def _gather(self) -> tuple[list[_Waiting], bool]:
        """What is waiting, at least one; and whether it is the last of this thread."""
        item = self._queue.get()
        if self._wait and item is not None:
            time.sleep(self._wait)
        batch: list[_Waiting] = []
        while item is not None:
            batch.append(item)
            if len(batch) == self._most:
                return batch, False
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return batch, False
        # nothing is accepted after the closing, so nothing stands behind this end
        return batch, True

    def _commit(self, batch: list[_Waiting]) -> None:
        start = time.perf_counter()
        try:
            outcomes = self._transaction(batch)
        except BaseException as error:
            if len(batch) == 1 and not _passing(error):
                _tell(batch[0], _Outcome(error=error))
                return
            for waiting in batch:
                _tell(waiting, self._alone(waiting))
            return
        seconds = time.perf_counter() - start
        if self._most == MOST:
            self._wait = min(seconds, LONGEST_WAIT) if len(batch) > 1 else 0.0
        for waiting, outcome in zip(batch, outcomes, strict=True):
            _tell(waiting, outcome)

    def _transaction(self, batch: list[_Waiting]) -> list[_Outcome]:
        """Write all; a refusal is an outcome, any other error undoes everything.

        The connection comes from a pool that replaces a broken one.
        """
        outcomes = []
        with self._engine.begin() as connection:
            for waiting in batch:
                try:
                    outcomes.append(_Outcome(waiting.write(connection)))
                except Refused as refused:
                    outcomes.append(_Outcome(error=refused))
        return outcomes

    def _alone(self, waiting: _Waiting, again: bool = True) -> _Outcome:
        """After a failed transaction each write gets one of its own, so that one harms no other.

        It may then be done a second time, which for an answer changes nothing.
        """
        try:
            return self._transaction([waiting])[0]
        except BaseException as error:
            if again and _passing(error):
                return self._alone(waiting, again=False)
            return _Outcome(error=error)


def _tell(waiting: _Waiting, outcome: _Outcome) -> None:
    if not waiting.done.set_running_or_notify_cancel():
        return  # nobody waits any more; the write stands all the same
    if outcome.error is None:
        waiting.done.set_result(outcome.value)
    else:
        waiting.done.set_exception(outcome.error)


def _passing(error: BaseException) -> bool:
    """Whether the connection broke, or another process came between: worth another try."""
    if not isinstance(error, DBAPIError):
        return False
    return error.connection_invalidated or getattr(error.orig, "sqlstate", None) in _CONFLICTS
