"""Rows as they come from the database."""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import Select, bindparam, select
from sqlalchemy.engine import Connection

from trilens_survey.schema import answers, assignments, participants, skipped


class Person(NamedTuple):
    """A row of ``participants``."""

    id: int
    receipt: str
    rater: str
    seed: int
    language: str
    consent_version: str
    joined: float
    round: int
    finished: float | None
    condition: str | None
    test_run: int
    enough: float | None
    left: float | None
    seen: float | None


class Asked(NamedTuple):
    """A question, who is asked it, and the answer to it: a row of ``assignments`` and more."""

    id: int
    token: str
    participant: int
    design: int
    round: int
    number: int
    of: int
    a: int
    b: int
    c: int
    reason: str
    place: int
    expected: int | None
    further: str | None
    model: int | None
    receipt: str
    language: str
    condition: str | None
    seed: int
    test_run: int
    left: float | None
    chosen: int | None
    also: str | None
    skipped: bool

    @property
    def shown(self) -> list[int]:
        """The numbers of the objects, in the order shown."""
        return in_order(self.a, self.b, self.c, self.further)

    @property
    def answer(self) -> list[int]:
        """The numbers of the objects that were chosen, an expected one first."""
        return chosen_of(self.chosen, self.also)


def in_order(a: int, b: int, c: int, further: str | None) -> list[int]:
    """The objects of a question; those after the third are a JSON list."""
    return [a, b, c, *(json.loads(further) if further else ())]


def chosen_of(chosen: int | None, also: str | None) -> list[int]:
    """The objects that were chosen; those after the first are a JSON list."""
    return [] if chosen is None else [chosen, *(json.loads(also) if also else ())]


SKIPPED = select(skipped.c.assignment).where(skipped.c.assignment == assignments.c.id).exists()
#: The columns of `Asked`.
ASKED = (
    *assignments.c,
    participants.c.receipt,
    participants.c.language,
    participants.c.condition,
    participants.c.seed,
    participants.c.test_run,
    participants.c.left,
    answers.c.chosen,
    answers.c.further.label("also"),
    SKIPPED.label("skipped"),
)
#: Answers with their questions; and with those who gave them.
ANSWERED = answers.join(assignments, answers.c.assignment == assignments.c.id)
GIVEN = ANSWERED.join(participants, assignments.c.participant == participants.c.id)

_PERSON = select(participants).where(participants.c.id == bindparam("id"))


def find_person(connection: Connection, number: int) -> Person | None:
    """The participant with a number, who may have been erased."""
    row = connection.execute(_PERSON, {"id": number}).one_or_none()
    return None if row is None else Person._make(row)


def all_asked(
    connection: Connection, query: Select[tuple[object, ...]], **given: object
) -> list[Asked]:
    """The questions that a query finds."""
    return [Asked._make(row) for row in connection.execute(query, given)]
