"""The running survey: what the routes share, from the start to the end of a process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sqlalchemy import Engine
from sqlalchemy.engine import Connection

from trilens.survey.database import Database
from trilens.survey.gate import Limiter
from trilens.survey.ledger import Ledger, put_setting
from trilens.survey.live import Live, Rested
from trilens.survey.logs import tell
from trilens.survey.metrics import Metrics
from trilens.survey.options import Options
from trilens.survey.study import Study
from trilens.survey.writer import Writer

T = TypeVar("T")


class Survey:
    """A study that is being served: its writer, its readers, its numbers."""

    def __init__(self, study: Study, database: Database, options: Options | None = None) -> None:
        self.study = study
        self.database = database
        self.options = options or Options()
        self.metrics = Metrics()
        self.writer = Writer(database, self.metrics.commit)
        self.ledger: Ledger
        self._engine: Engine
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="trilens-reader")
        self.live = Live(study.kind)
        self.dashboard: Rested[dict[str, Any]] = Rested()
        self.limiter = Limiter()
        self._healthy = 0.0

    def start(self) -> None:
        """Open the database; raises what goes wrong, so that the server does not start."""
        self.writer.start()
        try:
            self.ledger = self.writer.submit(lambda c: Ledger.open(c, self.study)).result()
            self._engine = self.database.readers()
        except BaseException:
            self.close()
            raise
        tell("started", objects=len(self.study.stimuli), database=self._kind)

    @property
    def _kind(self) -> str:
        return "sqlite" if self.database.embedded else "postgresql"

    def close(self) -> None:
        """Store what was accepted, then let go."""
        self._threads.shutdown()
        if hasattr(self, "_engine"):
            # before the writer: the last connection to SQLite folds its log into the file
            self._engine.dispose()
        self.writer.close()
        tell("stopped", database=self._kind)

    async def look(self, look: Callable[[Connection], T]) -> T:
        """Read in a thread of the readers."""

        def read() -> T:
            with self._engine.connect() as connection:
                return look(connection)

        return await self.in_thread(read)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Work that takes its time, beside the requests of others."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def do(self, deed: Callable[[Connection], T]) -> T:
        """Write; the outcome comes when it is on the disk."""
        return await self.writer.do(deed)

    async def healthy(self) -> None:
        """Store something; raises if that fails. At most once a second."""
        if time.monotonic() - self._healthy < 1:
            return
        stamp = f"{time.time():.0f}"
        await asyncio.wait_for(self.do(lambda c: put_setting(c, "heartbeat", stamp)), timeout=5)
        self._healthy = time.monotonic()
