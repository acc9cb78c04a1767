"""Rows as they come from the database.

A person is a row of ``participants``. A question is a row of ``assignments``, with what is known of
whoever is asked and with the answer: see `ASKED`.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Row, select

from trilens_survey.schema import answers, assignments, participants, skipped

SKIPPED = select(skipped.c.assignment).where(skipped.c.assignment == assignments.c.id).exists()
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
ANSWERED = answers.join(assignments)
GIVEN = ANSWERED.join(participants)
#: Questions with those who are asked, and with their answers.
QUESTIONS = assignments.join(participants).outerjoin(answers)


def shown_in(question: Row[Any]) -> list[int]:
    """The numbers of the objects, in the order shown; those after the third are a JSON list."""
    return [question.a, question.b, question.c, *json.loads(question.further or "[]")]


def chosen_in(question: Row[Any]) -> list[int]:
    """The numbers of the objects that were chosen, an expected one first."""
    return [] if question.chosen is None else [question.chosen, *json.loads(question.also or "[]")]
