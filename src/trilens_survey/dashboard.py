"""What the dashboard shows: how the study stands, and the analysis of its answers.

Counts are looked up when somebody asks for them. Everything that takes longer, `trilens.analyze`
above all, is worked out in a process of its own, which yields to the server: see `Findings`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy.engine import Connection

from trilens_survey.charts import over_time
from trilens_survey.database import Database
from trilens_survey.log import ChildFailed, log
from trilens_survey.status import progress, status
from trilens_survey.store.administration import state_of
from trilens_survey.study import Study

#: After some work, rest for so many times as long, so that a growing study does nothing else.
_REST = 10.0
#: The counts are never older than so many seconds while somebody looks, nor the findings.
_LONGEST_REST = 5.0
_LONGEST_REST_OF_FINDINGS = 300.0


@dataclass(frozen=True)
class Findings:
    """What was worked out in the background, as text for the pages."""

    #: how many answers were analyzed, and how many participants had been erased by then
    answers: int
    erased: int
    #: when, in seconds since 1970
    made: float
    #: why there are no findings, if there are none
    problem: str | None
    #: what `trilens.analyze` says: a heading and a sentence of the report each, in which every
    #: name is escaped
    sentences: list[tuple[str, str]]
    #: the report itself, a page
    report: str | None
    #: charts and tables: facts for the template
    figures: dict[str, Any]


class Worker(Protocol):
    """Works out findings, somewhere."""

    def run(self, task: dict[str, Any]) -> dict[str, Any]: ...
    def stop(self) -> None: ...


#: Characters of what a failed child said last, for the log.
_LAST_WORDS = 2000
#: Others go first from the beginning, not when the long imports are over.
_CHILD = "import os; os.nice(19); from trilens_survey.background import main; main()"


class ChildProcess:
    """Runs `trilens_survey.background` in a process of its own."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self, task: dict[str, Any]) -> dict[str, Any]:
        """The facts of the findings."""
        with subprocess.Popen(
            [sys.executable, "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            self._process = process
            if self._stopped:
                process.kill()
            found, said = process.communicate(json.dumps(task).encode())
        if process.returncode != 0:
            last = said.decode("utf-8", "replace").strip()[-_LAST_WORDS:]
            raise ChildFailed(f"the analysis ended with status {process.returncode}: {last}")
        facts: dict[str, Any] = json.loads(found)
        return facts

    def stop(self) -> None:
        self._stopped = True
        if self._process is not None and self._process.poll() is None:
            self._process.kill()


class BackgroundAnalysis:
    """Has the answers analyzed: one analysis at a time, and only of what is new."""

    def __init__(
        self,
        task: dict[str, Any],
        worker: Worker | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._task = task
        self._worker = worker or ChildProcess()
        self._clock = clock
        self._lock = threading.Lock()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._done: tuple[int, int] | None = None
        self._begun: tuple[int, int] | None = None
        self._again: tuple[int, int] | None = None
        self._until = 0.0
        self.latest: Findings | None = None

    @property
    def running(self) -> bool:
        """Whether an analysis is under way."""
        return self._thread is not None

    def update(self, answers: int, erased: int, *, at_once: bool = False) -> None:
        """Analyze the answers, unless that was done already or the last time was just now.

        What was worked out for the same numbers holds. After an erasure it is done anew in any
        case, when the one under way has ended; with ``at_once``, the server does not rest before.
        """
        with self._lock:
            if (answers, erased) == self._done or self._closing:
                return
            gone = self._begun is not None and erased != self._begun[1]
            if self.running:
                self._again = (answers, erased) if gone else self._again
                return
            if not at_once and not gone and self._clock() < self._until:
                return
            self._start(answers, erased)

    def _start(self, answers: int, erased: int) -> None:
        self._begun = (answers, erased)
        self._thread = threading.Thread(
            target=self._run, args=(answers, erased), name="trilens-analysis", daemon=True
        )
        self._thread.start()

    def _run(self, answers: int, erased: int) -> None:
        start = self._clock()
        try:
            found = Findings(**self._worker.run(self._task))
        except Exception:
            if not self._closing:
                log.exception("analysis failed")
            why = "The analysis failed. The server's log says why."
            found = Findings(answers, erased, time.time(), why, [], None, {})
        with self._lock:
            self.latest, self._done, self._thread = found, (answers, erased), None
            end = self._clock()
            self._until = end + min(_REST * (end - start), _LONGEST_REST_OF_FINDINGS)
            again, self._again = self._again, None
            if again is not None and not self._closing:
                self._start(*again)

    def wait(self, seconds: float | None = None) -> None:
        """Until the analysis that is under way has ended."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        """Stop the analysis that is under way."""
        self._closing = True
        self._worker.stop()
        self.wait(1.0)


class Dashboard:
    """The facts of the dashboard: made anew when they are asked for, but not all the time."""

    def __init__(
        self,
        study: Study,
        database: Database,
        worker: Worker | None = None,
        goal: Callable[[Connection], Any] = lambda _: None,
    ) -> None:
        self._study = study
        self._goal = goal
        self._lock = threading.Lock()
        self._facts: dict[str, Any] | None = None
        self._until = 0.0
        self.analysis = BackgroundAnalysis(_task(study, database), worker)

    def facts(self, connection: Connection, *, at_once: bool = False) -> dict[str, Any]:
        """For the template; with ``at_once`` as new as can be, and a new analysis is begun."""
        with self._lock:
            start = time.monotonic()
            if self._facts is None or at_once or start >= self._until:
                self._facts = self._count(connection, at_once)
                end = time.monotonic()
                self._until = end + min(_REST * (end - start), _LONGEST_REST)
            found = self.analysis.latest
            return self._facts | {"findings": found, "running": self.analysis.running}

    def forget(self) -> None:
        """Make the facts anew at the next call."""
        with self._lock:
            self._until = 0.0

    def _count(self, connection: Connection, at_once: bool) -> dict[str, Any]:
        study = self._study
        now = status(connection, study.minimum)
        if now.answers:
            self.analysis.update(now.answers, now.erased, at_once=at_once)
        return {
            "study": study,
            "title": study.title,
            "status": now,
            "state": state_of(connection, study),
            "time": over_time(connection, time.time()),
            "progress": progress(connection),
            "goal": self._goal(connection),
        }


def where(database: Database) -> dict[str, Any]:
    """Where `trilens_survey.background` finds the answers."""
    url = None if database.url is None else database.url.render_as_string(hide_password=False)
    return {"folder": str(database.folder.absolute()), "url": url}


def _task(study: Study, database: Database) -> dict[str, Any]:
    """What `trilens_survey.background` must know; plain enough for JSON."""
    folders = {str(one.file.parent) for one in study.stimuli if one.form == "image" and one.file}
    return where(database) | {
        "what": "findings",
        "kind": study.kind,
        "minimum": study.minimum,
        "title": study.title,
        "images": min(folders, default=None),
    }
