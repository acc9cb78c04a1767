"""The thread that writes.

It takes what is waiting, does it all in one transaction, and tells each caller the outcome only
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
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from trilens.errors import SurveyError, TrilensError
from trilens.survey.database import Database, migrate

T = TypeVar("T")
Deed = Callable[[Connection], T]

#: The most that one commit carries; the wait of the first is bounded by it.
MOST = 256
#: Threads on PostgreSQL, and the most that a commit of one of them carries.
SEVERAL = 6
MOST_OF_SEVERAL = 16


class Refused(TrilensError):
    """A request that may not be done: with the HTTP status that says so."""

    def __init__(self, status: int, why: str) -> None:
        self.status = status
        self.why = why
        super().__init__(why)


@dataclass(frozen=True)
class _Waiting(Generic[T]):
    """Somebody who waits in an event loop."""

    outcome: asyncio.Future[T]


Item: TypeAlias = tuple[Deed[Any], "Future[Any] | _Waiting[Any]"]


class Writer:
    """Starts with a connection that works, or not at all.

    Parameters
    ----------
    database
    observe
        Told the number of deeds and the seconds of every commit.
    threads
        By default one on SQLite, where it may not be more, and a few on PostgreSQL.
    """

    def __init__(
        self,
        database: Database,
        observe: Callable[[int, float], None] | None = None,
        threads: int | None = None,
    ) -> None:
        count = 1 if database.embedded else threads or SEVERAL
        self._most = MOST if count == 1 else MOST_OF_SEVERAL
        self._database = database
        self._observe = observe or (lambda deeds, seconds: None)
        self._waiting: queue.SimpleQueue[Item | None]
        self._waiting = queue.SimpleQueue()
        self._closed = False
        self._door = threading.Lock()
        self._started: list[Future[None]] = [Future() for _ in range(count)]
        self._threads = [
            threading.Thread(target=self._run, args=(i,), name=f"trilens-writer-{i}", daemon=True)
            for i in range(count)
        ]

    def start(self, timeout: float = 30.0) -> None:
        """Open the connections; what goes wrong there is raised here."""
        for thread, started in zip(self._threads, self._started, strict=True):
            thread.start()
            try:
                started.result(timeout)
            except TimeoutError:
                why = f"{self._database.label}: no connection in {timeout:g} s"
                raise SurveyError(why) from None

    def submit(self, deed: Deed[T]) -> Future[T]:
        """Have a deed done; the future is done when it is on the disk."""
        done: Future[T] = Future()
        self._put(deed, done)
        return done

    def _put(self, deed: Deed[Any], done: Future[Any] | _Waiting[Any]) -> None:
        with self._door:
            if self._closed:
                raise Refused(503, "the server is stopping")
            self._waiting.put((deed, done))

    async def do(self, deed: Deed[T]) -> T:
        """The outcome of a deed, when it is on the disk."""
        loop = asyncio.get_running_loop()
        waiting = _Waiting[T](loop.create_future())
        self._put(deed, waiting)
        return await waiting.outcome

    @property
    def waiting(self) -> int:
        """Deeds in the queue."""
        return self._waiting.qsize()

    def close(self) -> None:
        """Finish what was accepted, then end."""
        with self._door:
            self._closed = True
            for _ in self._threads:
                self._waiting.put(None)
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def _run(self, number: int) -> None:
        started = self._started[number]
        try:
            engine = self._database.writer()
            if number == 0:
                migrate(engine)
            connection = engine.connect()
        except BaseException as error:
            wrong = error if isinstance(error, TrilensError) else SurveyError(
                f"{self._database.label}: {str(error).splitlines()[0] if str(error) else error!r}"
            )  # fmt: skip
            started.set_exception(wrong)
            return
        started.set_result(None)
        last = False
        while not last:
            batch, last = self._gather()
            if batch:
                connection = self._commit(connection, batch)
        connection.close()
        engine.dispose()

    def _gather(self) -> tuple[list[Item], bool]:
        first = self._waiting.get()
        if first is None:
            return [], True
        batch = [first]
        while len(batch) < self._most:
            try:
                item = self._waiting.get_nowait()
            except queue.Empty:
                break
            if item is None:
                # nothing is accepted after the closing, so nothing stands behind it
                return batch, True
            batch.append(item)
        return batch, False

    def _commit(self, connection: Connection, batch: list[Item]) -> Connection:
        start = time.perf_counter()
        outcomes: list[tuple[Any, BaseException | None]] = []
        try:
            with connection.begin():
                for deed, _ in batch:
                    try:
                        outcomes.append((deed(connection), None))
                    except Refused as refused:
                        outcomes.append((None, refused))
        except BaseException as error:
            return self._one_by_one(connection, batch, error)
        self._observe(len(batch), time.perf_counter() - start)
        _tell_all([(done, *outcome) for (_, done), outcome in zip(batch, outcomes, strict=True)])
        return connection

    def _one_by_one(
        self,
        connection: Connection,
        batch: list[Item],
        error: BaseException,
    ) -> Connection:
        """After a failed transaction: each deed in its own, so that one harms no other.

        A connection that broke is opened anew. A deed may then be done a second time, which for
        an answer changes nothing.
        """
        if len(batch) == 1 and not _broken(error):
            _tell(batch[0][1], None, error)
            return connection
        for item in batch:
            for attempt in (1, 2):
                try:
                    if connection.invalidated or connection.closed:
                        connection = self._again(connection)
                    with connection.begin():
                        try:
                            value, refused = item[0](connection), None
                        except Refused as caught:
                            value, refused = None, caught
                    _tell(item[1], value, refused)
                    break
                except BaseException as wrong:
                    if attempt == 2 or not _broken(wrong):
                        _tell(item[1], None, wrong)
                        break
        return connection

    def _again(self, connection: Connection) -> Connection:
        engine = connection.engine
        connection.close()
        return engine.connect()


def _broken(error: BaseException) -> bool:
    """Whether the connection is gone, or another process came between: worth a second try."""
    if not isinstance(error, DBAPIError):
        return False
    state = getattr(error.orig, "sqlstate", None)
    return error.connection_invalidated or state in ("40P01", "40001", "23505", "23503")


Outcome: TypeAlias = tuple["Future[Any] | _Waiting[Any]", Any, BaseException | None]


def _tell_all(outcomes: list[Outcome]) -> None:
    """Tell everybody; those who wait in one event loop are woken by one call."""
    loops: dict[asyncio.AbstractEventLoop, list[Outcome]] = {}
    for outcome in outcomes:
        done, value, error = outcome
        if isinstance(done, _Waiting):
            loops.setdefault(done.outcome.get_loop(), []).append(outcome)
        elif done.set_running_or_notify_cancel():
            # else whoever asked has gone; the deed is done all the same
            if error is None:
                done.set_result(value)
            else:
                done.set_exception(error)
    for loop, theirs in loops.items():
        with suppress(RuntimeError):  # a loop that was closed: nobody waits there any more
            loop.call_soon_threadsafe(_wake, theirs)


def _tell(done: Future[Any] | _Waiting[Any], value: Any, error: BaseException | None) -> None:
    _tell_all([(done, value, error)])


def _wake(outcomes: list[Outcome]) -> None:
    for waiting, value, error in outcomes:
        assert isinstance(waiting, _Waiting)
        if waiting.outcome.done():
            continue  # whoever asked has gone
        if error is None:
            waiting.outcome.set_result(value)
        else:
            waiting.outcome.set_exception(error)
