"""How a study stands, in numbers."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from trilens.survey.schema import answers, assignments, erasures, participants, skipped
from trilens.survey.store import is_paused, missing_objects


@dataclass(frozen=True)
class Status:
    """Counts of what is stored.

    Attributes
    ----------
    rounds, rounds_counted
        With an answer; with at least the study's minimum.
    tests_passed, tests_failed
        Test questions by their answers.
    last_hour
        Answers of the last hour.
    erased
        Participants who were erased.
    skipped
        Questions left out because a picture or sound did not come.
    missing
        The objects whose picture or sound did not come, and how often.
    """

    open: bool
    answers: int
    participants: int
    rounds: int
    rounds_counted: int
    tests_passed: int
    tests_failed: int
    last_hour: int
    median_seconds: float | None
    erased: int
    skipped: int
    missing: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def status(connection: Connection, minimum: int) -> Status:
    """Count; nothing is loaded but the response times."""
    joined = answers.join(assignments, answers.c.assignment == assignments.c.id)
    per_round = (
        select(func.count().label("n"))
        .select_from(joined)
        .group_by(assignments.c.participant, assignments.c.round)
        .subquery()
    )
    tests = select(func.count()).select_from(joined).where(assignments.c.reason == "test")

    def number(query: Any) -> int:
        return int(connection.execute(query).scalar_one())

    n = number(select(func.count()).select_from(answers))
    return Status(
        open=not is_paused(connection),
        answers=n,
        participants=number(select(func.count()).select_from(participants)),
        rounds=number(select(func.count()).select_from(per_round)),
        rounds_counted=number(
            select(func.count()).select_from(per_round).where(per_round.c.n >= max(minimum, 1))
        ),
        tests_passed=number(tests.where(answers.c.chosen == assignments.c.expected)),
        tests_failed=number(tests.where(answers.c.chosen != assignments.c.expected)),
        last_hour=number(
            select(func.count()).select_from(answers).where(answers.c.stored > time.time() - 3600)
        ),
        median_seconds=_median(connection, n),
        erased=number(select(func.count()).select_from(erasures)),
        skipped=number(select(func.count(skipped.c.assignment.distinct()))),
        missing=missing_objects(connection),
    )


def _median(connection: Connection, n: int) -> float | None:
    """By the database's sorting: a large study is not loaded for it."""
    if not n:
        return None
    middle = (
        select(answers.c.seconds).order_by(answers.c.seconds).offset((n - 1) // 2).limit(2 - n % 2)
    )
    values = [row.seconds for row in connection.execute(middle)]
    return float(sum(values) / len(values))
