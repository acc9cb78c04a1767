"""How a study stands, in numbers."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, func, select
from sqlalchemy.engine import Connection

from trilens_survey.schema import (
    answers,
    assignments,
    erasures,
    log,
    participants,
    skipped,
    visits,
)
from trilens_survey.store.administration import is_paused, missing_objects
from trilens_survey.store.rows import ANSWERED


@dataclass(frozen=True)
class Status:
    """Counts of what is stored.

    Rounds have an answer, those that are counted the study's minimum. Fast answers were given
    within a second, and questions are skipped when a picture or sound does not come: ``missing``
    has the objects, and how often.
    """

    open: bool
    answers: int
    participants: int
    rounds: int
    rounds_counted: int
    tests_passed: int
    tests_failed: int
    last_hour: int
    fast: int
    median_seconds: float | None
    erased: int
    skipped: int
    missing: dict[str, int]

    @property
    def warnings(self) -> list[str]:
        """What a researcher should look at: failed tests, fast answers, skipped questions."""
        said = []
        tests = self.tests_passed + self.tests_failed
        if self.tests_failed and self.tests_failed >= MOST_FAILED * tests:
            said.append(f"{self.tests_failed:,} of {tests:,} test questions were answered wrongly.")
        if self.fast and self.fast >= MOST_FAST * self.answers:
            said.append(
                f"{self.fast:,} of {self.answers:,} answers took less than "
                f"{FAST_SECONDS:g} second, which is too short to look at the objects."
            )
        if self.skipped and self.skipped >= MOST_SKIPPED * (self.answers + self.skipped):
            said.append(
                f"{self.skipped:,} questions were skipped because a picture or sound did not load."
            )
        return said


#: An answer is fast if it takes less; a study is told of these shares of failed tests, fast
#: answers and skipped questions.
FAST_SECONDS = 1.0
MOST_FAILED, MOST_FAST, MOST_SKIPPED = 0.2, 0.25, 0.05

#: Answers that are part of the study: no practice, and no test runs.
_REAL = and_(
    assignments.c.reason != "practice",
    assignments.c.participant.not_in(select(participants.c.id).where(participants.c.test_run == 1)),
)


def status(connection: Connection, minimum: int) -> Status:
    """Count what is part of the study; nothing is loaded but the response times."""
    tests = assignments.c.reason == "test"
    given = connection.execute(
        select(
            func.count().label("answers"),
            func.count().filter(tests, answers.c.chosen == assignments.c.expected).label("passed"),
            func.count().filter(tests, answers.c.chosen != assignments.c.expected).label("failed"),
            func.count().filter(answers.c.stored > time.time() - 3600).label("last_hour"),
            func.count().filter(answers.c.seconds < FAST_SECONDS).label("fast"),
        )
        .select_from(ANSWERED)
        .where(_REAL)
    ).one()
    per_round = (
        select(func.count().label("n"))
        .select_from(ANSWERED)
        .where(_REAL)
        .group_by(assignments.c.participant, assignments.c.round)
        .subquery()
    )
    enough = per_round.c.n >= max(minimum, 1)
    rounds = connection.execute(
        select(func.count().label("all"), func.count().filter(enough).label("counted")).select_from(
            per_round
        )
    ).one()
    people = select(func.count()).select_from(participants).where(participants.c.test_run == 0)
    return Status(
        open=not is_paused(connection),
        answers=given.answers,
        participants=connection.execute(people).scalar_one(),
        rounds=rounds.all,
        rounds_counted=rounds.counted,
        tests_passed=given.passed,
        tests_failed=given.failed,
        last_hour=given.last_hour,
        fast=given.fast,
        median_seconds=_median(connection, given.answers),
        erased=erased_participants(connection),
        skipped=connection.execute(
            select(func.count(skipped.c.assignment.distinct()))
        ).scalar_one(),
        missing=missing_objects(connection),
    )


def erased_participants(connection: Connection) -> int:
    """How many participants were erased."""
    return int(connection.execute(select(func.count()).select_from(erasures)).scalar_one())


#: Whoever has not answered for so long, and has not finished, has left.
_AWAY_SECONDS = 2 * 3600.0
#: Hours and places of leaving that are listed.
_MOST_HOURS, _MOST_PLACES = 48, 12


@dataclass(frozen=True)
class Progress:
    """How far people come."""

    #: how often the page was opened by somebody who had not joined
    opened: int
    consented: int
    #: answered a question
    started: int
    finished: int
    #: of the others: who answered in the last two hours, and who did not or said so
    under_way: int
    left: int
    #: how many left after so many answers (without practice), the most frequent first
    places: tuple[tuple[int, int], ...]
    #: for each hour in which something happened, the latest first: its beginning in seconds
    #: since 1970, and how many opened the page, consented, and finished
    hours: tuple[tuple[float, int, int, int], ...]


def progress(connection: Connection) -> Progress:
    """How far people come, by counting; test runs are no participants."""
    given = (
        select(
            assignments.c.participant,
            func.count().filter(assignments.c.reason != "practice").label("n"),
            func.max(answers.c.stored).label("last"),
        )
        .select_from(ANSWERED)
        .group_by(assignments.c.participant)
        .subquery()
    )
    people = connection.execute(
        select(
            participants.c.joined,
            participants.c.finished,
            participants.c.left,
            given.c.n,
            given.c.last,
        )
        .select_from(participants.outerjoin(given, given.c.participant == participants.c.id))
        .where(participants.c.test_run == 0)
    ).all()
    opened = {row.hour: row.opened for row in connection.execute(select(visits))}
    since = time.time() - _AWAY_SECONDS
    ending = [row for row in people if row.finished is None]
    gone = [row for row in ending if row.left is not None or max(row.joined, row.last or 0) < since]
    hours: dict[int, list[int]] = {hour: [n, 0, 0] for hour, n in opened.items()}
    for row in people:
        hours.setdefault(int(row.joined // 3600), [0, 0, 0])[1] += 1
        if row.finished is not None:
            hours.setdefault(int(row.finished // 3600), [0, 0, 0])[2] += 1
    return Progress(
        opened=sum(opened.values()),
        consented=len(people),
        started=sum(bool(row.n) for row in people),
        finished=len(people) - len(ending),
        under_way=len(ending) - len(gone),
        left=len(gone),
        places=tuple(Counter(row.n or 0 for row in gone).most_common(_MOST_PLACES)),
        hours=tuple(
            (3600.0 * hour, hours[hour][0], hours[hour][1], hours[hour][2])
            for hour in sorted(hours, reverse=True)[:_MOST_HOURS]
        ),
    )


def log_entries(connection: Connection, most: int) -> list[dict[str, Any]]:
    """What researchers did and when, in seconds since 1970; the latest first."""
    query = select(log.c.at, log.c.who, log.c.what).order_by(log.c.id.desc()).limit(most)
    return [dict(row) for row in connection.execute(query).mappings()]


def _median(connection: Connection, n: int) -> float | None:
    """By the database's sorting: a large study is not loaded for it."""
    if not n:
        return None
    middle = (
        select(answers.c.seconds)
        .select_from(ANSWERED)
        .where(_REAL)
        .order_by(answers.c.seconds)
        .offset((n - 1) // 2)
        .limit(2 - n % 2)
    )
    values = [row.seconds for row in connection.execute(middle)]
    return float(sum(values) / len(values))
