"""What the dashboard shows: how the study stands, and the analysis of its answers.

Nothing is computed here: `trilens.analyze` does that, in a thread of its own.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import Connection

from trilens.errors import TrilensError
from trilens.statements import Statements
from trilens.survey.charts import map_chart, over_time, response_times
from trilens.survey.export import AnswerTable, collect
from trilens.survey.status import status
from trilens.survey.study import Study

if TYPE_CHECKING:
    from trilens.analysis import Analysis

#: After some work, rest for so many times as long, so that a growing study does nothing else.
_REST = 10.0
#: The figures are never older than so many seconds while somebody looks; the analysis may be.
_LONGEST_REST = 5.0
#: A closing server waits so long for an analysis to stop.
_PATIENCE = 10.0
_MOST_ROWS = 200


@dataclass(frozen=True)
class Findings:
    """What an analysis found; or why it found nothing.

    Attributes
    ----------
    answers
        How many were analysed.
    made
        When, in seconds since 1970.
    """

    answers: int
    made: float
    analysis: Analysis | None = None
    problem: str | None = None

    @property
    def since(self) -> str:
        """When, for people."""
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.made))

    @property
    def ranking(self) -> list[tuple[str, float, int]]:
        """Name, centrality and appearances of each object, the most central first."""
        if self.analysis is None:
            return []
        found = self.analysis
        rows = zip(
            found.graph.names, found.medoid.scores.tolist(), found.appearances.tolist(), strict=True
        )
        return sorted(rows, key=lambda row: -row[1])


class _Stopped(Exception):
    """The server closes: the analysis is not wanted any more."""


class BackgroundAnalysis:
    """Analyses the answers in a thread: one analysis at a time, and only of what is new."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._done: tuple[int, int] | None = None
        self._until = 0.0
        self.latest: Findings | None = None

    @property
    def running(self) -> bool:
        """Whether an analysis is under way."""
        return self._thread is not None

    def update(self, statements: Statements, erased: int, *, at_once: bool = False) -> None:
        """Analyse the answers, unless that was done already or the last time was just now.

        Parameters
        ----------
        statements
        erased
            How many participants were erased: the number of answers alone does not tell.
        at_once
            Do not wait until the server has rested.
        """
        version = (len(statements), erased)
        with self._lock:
            if self.running or version == self._done or self._closing.is_set():
                return
            if not at_once and self._clock() < self._until:
                return
            self._thread = threading.Thread(
                target=self._run, args=(statements, version), name="trilens-analysis", daemon=True
            )
            self._thread.start()

    def _run(self, statements: Statements, version: tuple[int, int]) -> None:
        start = self._clock()
        try:
            found = self._analyze(statements)
        except _Stopped:
            return
        with self._lock:
            self.latest, self._done, self._thread = found, version, None
            end = self._clock()
            self._until = end + _REST * (end - start)

    def _analyze(self, statements: Statements) -> Findings:
        from trilens.analysis import analyze

        n, now = len(statements), time.time()
        try:
            return Findings(n, now, analyze(statements, progress=self._check))
        except TrilensError as error:
            return Findings(n, now, problem=f"The answers cannot be analysed: {error}.")
        except _Stopped:
            raise
        except Exception:
            logging.getLogger("trilens.survey").exception("analysis failed")
            return Findings(n, now, problem="The analysis failed. The server's log says why.")

    def _check(self, _: float) -> None:
        if self._closing.is_set():
            raise _Stopped

    def wait(self, seconds: float | None = None) -> None:
        """Until the analysis that is under way has ended."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        """Stop at the analysis's next step."""
        self._closing.set()
        self.wait(_PATIENCE)


class Dashboard:
    """The facts of the dashboard: made anew when they are asked for, but not all the time."""

    def __init__(self, study: Study, root: str) -> None:
        self._study = study
        self._root = root
        self._lock = threading.Lock()
        self._facts: dict[str, Any] | None = None
        self._until = 0.0
        self.analysis = BackgroundAnalysis()

    def facts(self, connection: Connection, *, at_once: bool = False) -> dict[str, Any]:
        """For the template; with ``at_once`` as new as can be, and a new analysis is begun."""
        with self._lock:
            start = time.monotonic()
            if self._facts is None or at_once or start >= self._until:
                self._facts = self._collect(connection, at_once)
                end = time.monotonic()
                self._until = end + min(_REST * (end - start), _LONGEST_REST)
            return self._facts | self._results()

    def forget(self) -> None:
        """Make the facts anew at the next call."""
        with self._lock:
            self._until = 0.0

    def close(self) -> None:
        self.analysis.close()

    def _collect(self, connection: Connection, at_once: bool) -> dict[str, Any]:
        study = self._study
        now = status(connection, study.minimum)
        collected = collect(connection, study.kind, study.minimum)
        statements = collected.statements()
        if len(statements):
            self.analysis.update(statements, now.erased, at_once=at_once)
        return {
            "study": study,
            "title": study.title[study.languages[0]],
            "status": now,
            "coverage": statements.summary(),
            "time": over_time(collected.column("stored")),
            "seconds": response_times(collected.column("seconds")),
            "raters": rater_rows(collected)[:_MOST_ROWS],
            "rounds": round_rows(collected)[:_MOST_ROWS],
        }

    def _results(self) -> dict[str, Any]:
        found = self.analysis.latest
        analysis = None if found is None else found.analysis
        return {
            "findings": found,
            "analysis": analysis,
            "running": self.analysis.running,
            "map": None if analysis is None else map_chart(analysis, self._study, self._root),
            "most_rows": _MOST_ROWS,
        }


@dataclass(frozen=True)
class RoundRow:
    """One round: whose it is, its answers, its test, whether it counts, the median time."""

    round: int
    rater: str
    answers: int
    test: str
    counted: bool
    seconds: float | None


@dataclass(frozen=True)
class RaterRow:
    """One rater: answers, rounds, tests, the median time, and when they last answered."""

    rater: str
    answers: int
    rounds: int
    passed: int
    failed: int
    seconds: float | None
    last: float


def round_rows(collected: AnswerTable) -> list[RoundRow]:
    """A row for each round, the latest first."""
    rater, test = collected.column("rater"), collected.column("test")
    seconds, counted = collected.column("seconds"), collected.column("counted")
    rows = [
        RoundRow(number, rater[at[0]], len(at), test[at[0]], counted[at[0]], _median(seconds, at))
        for number, at in _rows_by(collected.column("round")).items()
    ]
    return sorted(rows, key=lambda row: -row.round)


def rater_rows(collected: AnswerTable) -> list[RaterRow]:
    """A row for each rater, who answered last first."""
    round_of, test = collected.column("round"), collected.column("test")
    seconds, stored = collected.column("seconds"), collected.column("stored")
    rows = []
    for name, at in _rows_by(collected.column("rater")).items():
        tests = list({round_of[i]: test[i] for i in at}.values())
        passed, failed = tests.count("passed"), tests.count("failed")
        middle = _median(seconds, at)
        rows.append(RaterRow(name, len(at), len(tests), passed, failed, middle, stored[at[-1]]))
    return sorted(rows, key=lambda row: -row.last)


def _rows_by(values: Iterable[Any]) -> dict[Any, list[int]]:
    rows = defaultdict(list)
    for i, value in enumerate(values):
        rows[value].append(i)
    return rows


def _median(seconds: list[float | None], at: list[int]) -> float | None:
    known = [taken for i in at if (taken := seconds[i]) is not None]
    return median(known) if known else None
