"""Which questions are put to a participant, and their answers."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Row, Select, bindparam, delete, insert, select, update
from sqlalchemy.engine import Connection

from trilens.errors import SurveyError
from trilens_survey.questions import Design, Key, Question, Sampler, in_places, key_of
from trilens_survey.schema import (
    answers,
    assignments,
    designs,
    objects,
    participants,
    prepared,
    settings,
    skipped,
)
from trilens_survey.store.administration import (
    drop_unasked,
    get_setting,
    lock,
    no_longer_fits,
    object_ids,
)
from trilens_survey.store.rows import ASKED, QUESTIONS, SKIPPED, chosen_in, shown_in
from trilens_survey.study import Block, Study, at_round
from trilens_survey.writer import Refused

_UNANSWERED = answers.c.assignment.is_(None) & ~SKIPPED
#: The questions that a participant has not answered in the present round, the next first.
_OPEN: Select[Any] = (
    select(*ASKED)
    .select_from(QUESTIONS)
    .where(
        participants.c.id == bindparam("participant"),
        assignments.c.round == participants.c.round,
        _UNANSWERED,
    )
    .order_by(assignments.c.number)
    .limit(3)
)
_THIS = assignments.alias("this")
#: The question with a token, and those after it in the round that have no answer. A token is not
#: told before all questions in front of it have been answered or left out.
_FROM: Select[Any] = (
    select(*ASKED)
    .select_from(
        QUESTIONS.join(
            _THIS,
            (assignments.c.participant == _THIS.c.participant)
            & (assignments.c.round == _THIS.c.round)
            & (assignments.c.number >= _THIS.c.number),
        )
    )
    .where(
        _THIS.c.token == bindparam("token"),
        (assignments.c.number == _THIS.c.number) | _UNANSWERED,
    )
    .order_by(assignments.c.number)
    .limit(4)
)
_BEFORE = assignments.alias("before")


def _ready(anchored: bool) -> Select[Any]:
    """The first question that is ready and that a participant was not asked."""
    three = [prepared.c.a, prepared.c.b, prepared.c.c]
    same: list[ColumnElement[bool]] = [
        column.in_(three) for column in (_BEFORE.c.a, _BEFORE.c.b, _BEFORE.c.c)
    ]
    if anchored:
        same.append(_BEFORE.c.a == prepared.c.a)
    asked = select(_BEFORE.c.id).where(_BEFORE.c.participant == bindparam("participant"), *same)
    return (
        select(prepared)
        .where(prepared.c.design == bindparam("design"), ~asked.exists())
        .order_by(prepared.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)  # on PostgreSQL: two writers never take the same
    )


_READY = {kind: _ready(kind == "closer") for kind in ("central", "odd", "closer")}
_TAKE = delete(prepared).where(prepared.c.id == bindparam("taken"))
_REPLACE = (
    update(assignments)
    .where(assignments.c.id == bindparam("replaced"))
    .values({name: bindparam(name) for name in ("reason", "model", "place", "a", "b", "c")})
)
_ANSWER = insert(answers)


@dataclass(frozen=True)
class Assignments:
    """A study and the numbers that its objects have in the database."""

    study: Study
    #: every design that was ever in use, by its row
    designs: dict[int, Design]
    #: the row of the present design of each block of each condition
    rows: dict[tuple[str, str], int]
    #: the number of each object, and the name of each number
    numbers: dict[str, int]
    names: dict[int, str]
    key: bytes
    samplers: dict[tuple[str, str], Sampler]

    @classmethod
    def open(cls, connection: Connection, study: Study) -> Assignments:
        """Enter the study's objects and its design.

        A study that lost an object, or that asks another kind of question than the one which has
        been answered, is refused.
        """
        lock(connection, "designs")
        other = no_longer_fits(connection, study)
        if other is not None:
            raise SurveyError(other)
        drop_unasked(connection, study)
        known = object_ids(connection)
        new = [name for name in study.names if name not in known]
        if new:
            connection.execute(insert(objects), [{"name": name} for name in new])
            known = object_ids(connection)
        stored = {str(row.content): int(row.id) for row in connection.execute(select(designs))}
        rows = {}
        for of, design in study.designs.items():
            content = design.to_json()
            if content not in stored:
                row = {"made": time.time(), "content": content}
                made = connection.execute(insert(designs), row)
                stored[content] = int(made.inserted_primary_key[0])  # type: ignore[index]
            rows[of] = stored[content]
        key = get_setting(connection, "key")
        if key is None:
            # only ever inserted: of two processes that start at once, the second takes the first's
            key = secrets.token_hex(32)
            connection.execute(insert(settings), {"name": "key", "value": key})
        return cls(
            study,
            {row: Design.from_json(content) for content, row in stored.items()},
            rows,
            known,
            {number: name for name, number in known.items()},
            bytes.fromhex(key),
            {of: Sampler(design) for of, design in study.designs.items()},
        )

    def open_questions(self, connection: Connection, participant: int) -> Sequence[Row[Any]]:
        """The questions of the present round that have no answer, the next first: three at most."""
        return connection.execute(_OPEN, {"participant": participant}).all()

    def by_token(self, connection: Connection, token: str) -> Sequence[Row[Any]]:
        """The question with a token, and those after it that are open."""
        return connection.execute(_FROM, {"token": token}).all()

    def answer(
        self,
        connection: Connection,
        question: Row[Any],
        ahead: Sequence[Row[Any]],
        chosen: str | list[str],
        seconds: float,
    ) -> int:
        """Store an answer, once; the object that was chosen, of several the expected one.

        The same again changes nothing, another is refused.
        """
        design = self.designs[question.design]
        choices = shown_in(question)[int(design.kind == "closer") :]
        names = [chosen] if isinstance(chosen, str) else chosen
        found = [i for i in choices if self.names[i] in names]
        if len(found) < len(names):
            raise Refused(422, "the chosen object was not one of the choices")
        if len(found) != design.choose:
            raise Refused(422, f"{design.choose} objects must be chosen, not {len(found)}")
        # one that was expected stands first, so that whoever counts looks at one column
        found.sort(key=lambda i: i != question.expected)
        if question.chosen is not None:
            if set(chosen_in(question)) != set(found):
                raise Refused(409, "this question already has a different answer")
            return found[0]
        if question.left is not None:
            raise Refused(409, "this participant has left")
        if question.skipped:
            raise Refused(409, "this question was left out")
        new = {
            "assignment": question.id,
            "chosen": found[0],
            "seconds": seconds,
            "stored": time.time(),
            "further": json.dumps(found[1:]) if found[1:] else None,
        }
        connection.execute(_ANSWER, new)
        self._choose(connection, ahead[1:])  # the next one is about to be shown
        return found[0]

    def skip(self, connection: Connection, question: Row[Any], missing: Collection[str]) -> bool:
        """Leave out a question of which a picture or sound does not come, and note which one.

        A question that has an answer keeps it. Whether it was left out now.
        """
        lost = [i for i in shown_in(question) if self.names[i] in missing]
        if not lost or len(lost) < len(set(missing)):
            raise Refused(422, "a missing picture or sound must be one that the question shows")
        if not all(self.study.by_name[self.names[i]].file for i in lost):
            raise Refused(422, "only a question with a missing picture or sound can be left out")
        if question.left is not None:
            raise Refused(409, "this participant has left")
        if question.chosen is not None or question.skipped:
            return False
        now = time.time()
        rows = [{"assignment": question.id, "object": i, "stored": now} for i in lost]
        connection.execute(insert(skipped), rows)
        return True

    def put_practice(self, connection: Connection, person: Row[Any], first: Block) -> None:
        """Put the practice questions of the first block."""
        plan = [
            Question(
                tuple(first.objects.index(name) for name in one.objects),
                "practice",
                i,
                first.objects.index(one.answer),
            )
            for i, one in enumerate(first.practice)
        ]
        self._put(connection, person, 0, first, plan)

    def put_round(self, connection: Connection, person: Row[Any], round: int) -> bool:
        """Put the questions of a round; whether there were any.

        A block of which everything was asked is followed by the next.
        """
        blocks = self.study.blocks(person.condition, person.seed)
        past = select(assignments).where(assignments.c.participant == person.id)
        rows = connection.execute(past).all()
        while (found := at_round(blocks, round)) is not None:
            block, number = blocks[found[0]], found[1]
            sampler = self.samplers[block.of]
            plan = sampler.round(block.seed_of(person.seed), number, self._before(rows, block))
            if plan:
                self._put(connection, person, round, block, plan)
                return True
            round += block.most - number + 1
        return False

    def _before(self, rows: Sequence[Row[Any]], block: Block) -> frozenset[Key]:
        """The questions of a block that a participant was asked before."""
        alike = (block.block, block.kind, block.shown)
        at = {self.numbers[name]: i for i, name in enumerate(block.objects)}
        asked = set()
        for row in rows:
            design, shown = self.designs[row.design], shown_in(row)
            same = (design.block, design.kind, design.shown) == alike
            if same and all(number in at for number in shown):
                asked.add(key_of(block.kind, [at[number] for number in shown]))
        return frozenset(asked)

    def _put(
        self,
        connection: Connection,
        person: Row[Any],
        round: int,
        block: Block,
        plan: Sequence[Question],
    ) -> None:
        if person.round != round:
            change = update(participants).where(
                participants.c.id == person.id, participants.c.round == person.round
            )
            connection.execute(change.values(round=round))
        shared = {
            "participant": person.id,
            "design": self.rows[block.of],
            "round": round,
            "of": len(plan),
        }
        ids = [self.numbers[name] for name in block.objects]
        new = [shared | {"number": i} | _assignment(asked, ids) for i, asked in enumerate(plan, 1)]
        connection.execute(insert(assignments), new)
        if any(asked.open for asked in plan):
            self._choose(connection, self.open_questions(connection, person.id))

    def _choose(self, connection: Connection, questions: Sequence[Row[Any]]) -> None:
        """Put questions that are ready in place of random ones that nobody has seen."""
        for question in questions:
            if question.model != 0 or question.test_run:
                continue
            kind = self.designs[question.design].kind
            of = {"design": question.design, "participant": question.participant}
            found = connection.execute(_READY[kind], of).one_or_none()
            if found is None:
                return
            connection.execute(_TAKE, {"taken": found.id})
            rng = np.random.default_rng([question.seed, question.round, question.number])
            shown = in_places(kind, (found.a, found.b, found.c), rng)
            change = {"reason": "adaptive", "model": found.model, "place": found.id}
            change |= dict(zip("abc", shown, strict=True))
            connection.execute(_REPLACE, change | {"replaced": question.id})


def _assignment(question: Question, ids: Sequence[int]) -> dict[str, Any]:
    a, b, c, *further = (ids[i] for i in question.objects)
    return {
        "token": secrets.token_urlsafe(16),
        "a": a,
        "b": b,
        "c": c,
        "further": json.dumps(further) if further else None,
        "reason": question.reason,
        "place": question.place,
        "model": 0 if question.open else None,
        "expected": None if question.expected is None else ids[question.expected],
    }
