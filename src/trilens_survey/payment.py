"""Who is to be paid: one row for each platform id, apart from the answers.

A row holds what a platform asks for, and no rater's code. Times are written to the minute; whoever
has an export with the times of the answers may still find the row's answers by them. The table can
be erased by itself, together with the platform ids.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.engine import Connection

from trilens_survey.export import iso_time, safe_cells
from trilens_survey.schema import (
    answers,
    assignments,
    participants,
    platform_ids,
    skipped,
)
from trilens_survey.store.administration import record
from trilens_survey.store.rows import ANSWERED
from trilens_survey.study import Study


@dataclass(frozen=True)
class Payment:
    """What one participant of a platform did."""

    platform_id: str
    #: when, in seconds since 1970
    started: float
    finished: float | None
    left: float | None
    #: without practice; questions of which a picture or sound did not come
    answers: int
    skipped: int
    #: test questions that were answered, and answered rightly
    tests: int
    tests_passed: int
    #: questions that were answered twice, and in the same way
    repeats: int
    repeats_agreed: int
    #: the sum of the response times
    seconds: float
    #: the code that the page gave at the end
    code: str | None

    def to_dict(self) -> dict[str, Any]:
        """With times as text, to the minute."""
        facts = asdict(self) | {"seconds": 60 * round(self.seconds / 60)}
        for name in ("started", "finished", "left"):
            moment = facts[name]
            facts[name] = None if moment is None else iso_time(moment // 60 * 60)
        return facts


def payments_due(connection: Connection) -> list[Payment]:
    """Everybody whom a platform sent, who began last first; nobody after the erasure."""
    people = connection.execute(
        select(
            platform_ids.c.platform_id,
            participants.c.id,
            participants.c.joined,
            participants.c.finished,
            participants.c.left,
            platform_ids.c.code,
        )
        .select_from(platform_ids.join(participants))
        .order_by(participants.c.joined.desc(), participants.c.id.desc())
    ).all()
    given: dict[int, list[Any]] = defaultdict(list)
    query = (
        select(assignments, answers.c.chosen, answers.c.further.label("also"), answers.c.seconds)
        .select_from(
            ANSWERED.join(platform_ids, platform_ids.c.participant == assignments.c.participant)
        )
        .where(assignments.c.reason != "practice")
    )
    for row in connection.execute(query):
        given[row.participant].append(row)
    left_out = (
        select(assignments.c.participant, func.count(skipped.c.assignment.distinct()).label("n"))
        .select_from(skipped.join(assignments, skipped.c.assignment == assignments.c.id))
        .where(assignments.c.reason != "practice")
        .group_by(assignments.c.participant)
    )
    lost = {row.participant: int(row.n) for row in connection.execute(left_out)}
    return [
        Payment(
            platform_id=person.platform_id,
            started=person.joined,
            finished=person.finished,
            left=person.left,
            skipped=lost.get(person.id, 0),
            code=person.code,
            **_work(given[person.id]),
        )
        for person in people
    ]


def _work(rows: list[Any]) -> dict[str, Any]:
    by_number = {(row.round, row.number): (row.chosen, row.also) for row in rows}
    tests = [row for row in rows if row.reason == "test"]
    again = [row for row in rows if row.reason == "repeat"]
    twice = [row for row in again if (row.round, row.place) in by_number]
    agreed = [row for row in twice if by_number[row.round, row.place] == (row.chosen, row.also)]
    return {
        "answers": len(rows),
        "tests": len(tests),
        "tests_passed": sum(row.chosen == row.expected for row in tests),
        "repeats": len(twice),
        "repeats_agreed": len(agreed),
        "seconds": float(sum(row.seconds or 0.0 for row in rows)),
    }


def erase_payments(connection: Connection, who: str) -> int:
    """Erase every platform id and every code; the answers stay. How many ids there were."""
    gone = int(connection.execute(delete(platform_ids)).rowcount)
    if gone:
        record(connection, who, f"erased {gone:,} platform ids and codes")
    return gone


def are_over(study: Study) -> bool:
    """Whether the study's date for erasing payments has passed."""
    until = study.settings.payment.retention
    return until is not None and until < datetime.date.today()


def write_payments(rows: Iterable[Payment], path: str | Path) -> int:
    """Write the table as CSV or TSV; the number of rows."""
    from trilens.files.output import write_table

    found = [row.to_dict() for row in rows]
    names = [field.name for field in fields(Payment)]
    write_table({name: safe_cells([row[name] for row in found]) for name in names}, path)
    return len(found)
