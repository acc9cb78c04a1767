"""The running survey: what the routes share, from the start to the end of a process."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from fastapi import Depends, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy import Engine
from sqlalchemy.engine import Connection

from trilens_survey.auth import PARTICIPANT, Limiter, sign, unsign
from trilens_survey.dashboard import Dashboard, Worker
from trilens_survey.database import Database
from trilens_survey.links import LinkCheck
from trilens_survey.log import log, log_event
from trilens_survey.markdown import to_html
from trilens_survey.media import Copies
from trilens_survey.payment import are_over, erase_payments
from trilens_survey.preparation import Preparation, goal_progress
from trilens_survey.store.administration import add_visits, changes, put_setting
from trilens_survey.store.assignments import Assignments
from trilens_survey.store.participants import Participants
from trilens_survey.study import Study
from trilens_survey.writer import Write, Writer

T = TypeVar("T")


@dataclass(frozen=True)
class Options:
    """How the server is reached."""

    #: the path under which a proxy serves it, such as ``/study``
    root_path: str = ""
    #: the names under which it may be called; none for any
    hosts: frozenset[str] = frozenset()
    #: whether browsers reach it by TLS: cookies are then ``Secure``
    secure: bool = False


class Survey:
    """A study that is being served: its writer, its readers, its pages."""

    def __init__(
        self,
        study: Study,
        database: Database,
        options: Options | None = None,
        worker: Worker | None = None,
    ) -> None:
        self.study = study
        self.database = database
        self.options = options or Options()
        self.writer = Writer(database)
        self.store: Participants
        self._engine: Engine
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="trilens-survey")
        self.dashboard = Dashboard(study, database, worker, partial(goal_progress, study=study))
        self.preparation = Preparation(study, database, self.writer, worker)
        self.copies = Copies()
        self._opened: Counter[int] = Counter()
        #: wrong passwords, from an address or from a browser that was signed in before
        self.wrong_passwords = Limiter(each=10)
        #: a class behind one address may begin within a minute; a script may not fill the disk,
        #: nor the places of a study whose participants sit at home
        platform, links = study.settings.completion.platform, study.settings.links
        alone = platform in ("prolific", "connect") and links is None
        self.joins = Limiter(each=10 if alone else 200, span=600)
        self.receipts = Limiter(each=20)
        self.password_checks = asyncio.Semaphore(2)
        self.links = None if links is None else LinkCheck(links, self.options.hosts, platform)
        self._healthy = 0.0

    def start(self) -> None:
        """Open the database; raises what goes wrong, so that the server does not start."""
        self.writer.start()
        try:
            with self.database.named_errors():
                changed = self.writer.submit(lambda c: changes(c, self.study)).result()
                entered = self.writer.submit(lambda c: Assignments.open(c, self.study)).result()
            self.store = Participants(self.study, entered)
            self._engine = self.database.readers()
        except BaseException:
            self.close()
            raise
        self.preparation.start(self.store.assigned, self._look)
        for change in changed:
            log_event(change, logging.WARNING)
        log_event("started", objects=len(self.study.stimuli), database=self._kind)

    @property
    def _kind(self) -> str:
        return "sqlite" if self.database.embedded else "postgresql"

    def close(self) -> None:
        """Store what was accepted, then let go."""
        self.dashboard.analysis.close()
        self.preparation.close()
        self._threads.shutdown()
        self.copies.close()
        if self._opened:
            with suppress(Exception):  # nothing that must not be lost
                self.writer.submit(self.keep_in_order).result(10)
        if hasattr(self, "_engine"):
            # before the writer: the last connection to SQLite folds its log into the file
            self._engine.dispose()
        self.writer.close()
        log_event("stopped", database=self._kind)

    def opened(self) -> None:
        """Somebody who has not joined sees the page; counted by the hour."""
        self._opened[int(time.time() // 3600)] += 1

    def keep_in_order(self, connection: Connection) -> int:
        """Store how often the page was opened, and erase what is to be kept no longer.

        How many platform ids were erased.
        """
        opened, self._opened = self._opened, Counter()
        for hour, n in opened.items():
            add_visits(connection, hour, n)
        return erase_payments(connection, "the study's date") if are_over(self.study) else 0

    async def keep_order(self) -> None:
        """Do so every ten seconds, if there is something to do."""
        while True:
            if self._opened or are_over(self.study):
                try:
                    await self.write(self.keep_in_order)
                except Exception:
                    log.exception("error")
            await asyncio.sleep(10)

    async def read(self, read: Callable[[Connection], T]) -> T:
        """Read the database, in one of the readers' threads."""
        return await self.in_thread(lambda: self._look(read))

    def _look(self, read: Callable[[Connection], T]) -> T:
        """Read the database, in this thread."""
        with self._engine.connect() as connection:
            return read(connection)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Work that takes its time, beside the requests of others."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def write(self, write: Write[T]) -> T:
        """Write to the database; the outcome comes when it is on the disk."""
        return await self.writer.write(write)

    async def healthy(self) -> None:
        """Store something; raises if that fails. At most once a second."""
        if time.monotonic() - self._healthy < 1:
            return
        stamp = f"{time.time():.0f}"
        await asyncio.wait_for(self.write(lambda c: put_setting(c, "heartbeat", stamp)), timeout=30)
        self._healthy = time.monotonic()

    def set_cookie(
        self, request: Request, response: Response, name: str, value: str, seconds: int
    ) -> None:
        """Give the browser a signed cookie that no script reads."""
        response.set_cookie(
            self.cookie_name(name),
            sign(self.store.key, _purpose(name), value),
            max_age=seconds,
            path=self._cookie_path(name),
            httponly=True,
            # participants come by a link on another site
            samesite="lax" if name == PARTICIPANT else "strict",
            secure=self.options.secure or request.url.scheme == "https",
        )

    def cookie(self, request: Request, name: str) -> str | None:
        """What `set_cookie` gave; None if missing or not ours."""
        return unsign(self.store.key, _purpose(name), request.cookies.get(self.cookie_name(name)))

    def forget_cookie(self, response: Response, name: str) -> None:
        """Take the cookie away again."""
        response.delete_cookie(self.cookie_name(name), path=self._cookie_path(name))

    def _cookie_path(self, name: str) -> str:
        return self.options.root_path + ("/" if name == PARTICIPANT else "/researcher")

    def cookie_name(self, name: str) -> str:
        """The participant's cookie is named by the study: there may be others on the same host."""
        if name != PARTICIPANT:
            return name
        return f"{name}_{hmac.new(self.store.key, b'cookie', 'sha256').hexdigest()[:8]}"

    def page(self, name: str, code: int = 200, **facts: Any) -> HTMLResponse:
        """A page; ``root`` is the path in front of every address in it."""
        text = _templates().get_template(name).render(root=self.options.root_path, **facts)
        return HTMLResponse(text, status_code=code)


async def served_by(request: Request) -> Survey:
    """The survey that the application serves."""
    survey = request.app.state.survey
    assert isinstance(survey, Survey)
    return survey


#: The survey, for routes.
Here: TypeAlias = Annotated[Survey, Depends(served_by)]


def at(moment: float | None) -> str:
    """A time for people, with its zone."""
    if moment is None:
        return "-"
    return time.strftime("%Y-%m-%d %H:%M %Z", time.localtime(moment))


def _purpose(cookie: str) -> str:
    return cookie.removeprefix("trilens_")


@cache
def _templates() -> Environment:
    """The pages, with every name and text escaped."""
    pages = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters["markdown"] = to_html
    pages.globals["at"] = at
    return pages
