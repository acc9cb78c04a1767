"""What is written and read about participants, questions and answers.

Every function takes a connection inside a transaction, and none commits: those that write are
handed to the `trilens_survey.writer.Writer`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from sqlalchemy import ColumnElement, Select, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Row
from sqlalchemy.schema import Table

from trilens.errors import SurveyError
from trilens.kinds import KINDS
from trilens_survey.blocks import Block, at_round
from trilens_survey.forms import Refusal, check_form
from trilens_survey.goal import Stop
from trilens_survey.markdown import to_html
from trilens_survey.questions import Design, Question, Sampler
from trilens_survey.schema import (
    answers,
    assignments,
    deeds,
    designs,
    erasures,
    forms,
    objects,
    participants,
    payments,
    platform_ids,
    prepared,
    settings,
    skipped,
    visits,
)
from trilens_survey.shuffle import rank, shuffle_places
from trilens_survey.study import Study
from trilens_survey.writer import Refused

#: Who closes a study whose rule is met, in the log.
RULE = "the stopping rule"

#: Whether participants can join; ``full`` where the quota is reached.
State: TypeAlias = Literal["open", "paused", "full"]

_SKIPPED = select(skipped.c.assignment).where(skipped.c.assignment == assignments.c.id).exists()
#: What is known of a question, of who is asked it, and of the answer to it.
_ASKED = (
    assignments,
    participants.c.receipt,
    participants.c.language,
    participants.c.condition,
    participants.c.seed,
    participants.c.test_run,
    participants.c.left,
    answers.c.chosen,
    answers.c.further.label("also"),
    _SKIPPED.label("skipped"),
)
_UNANSWERED = answers.c.assignment.is_(None) & ~_SKIPPED
#: The questions that a participant has not answered in the present round, the next first.
_OPEN: Select[Any] = (
    select(*_ASKED)
    .select_from(
        participants.join(assignments, assignments.c.participant == participants.c.id).outerjoin(
            answers, answers.c.assignment == assignments.c.id
        )
    )
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
    select(*_ASKED)
    .select_from(
        _THIS.join(
            assignments,
            (assignments.c.participant == _THIS.c.participant)
            & (assignments.c.round == _THIS.c.round)
            & (assignments.c.number >= _THIS.c.number),
        )
        .join(participants, participants.c.id == assignments.c.participant)
        .outerjoin(answers, answers.c.assignment == assignments.c.id)
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


_TAKE = delete(prepared).where(prepared.c.id == bindparam("taken"))
_REPLACE = (
    update(assignments)
    .where(assignments.c.id == bindparam("replaced"))
    .values({name: bindparam(name) for name in ("reason", "model", "place", "a", "b", "c")})
)
_READY = {kind: _ready(kind == "closer") for kind in KINDS}
_PARTICIPANT: Select[Any] = select(participants).where(participants.c.id == bindparam("id"))
_SETTING = select(settings.c.value).where(settings.c.name == bindparam("name"))
#: How many answers of a participant are stored, without practice.
_COUNT = (
    select(func.count())
    .select_from(answers.join(assignments, answers.c.assignment == assignments.c.id))
    .where(
        assignments.c.participant == bindparam("participant"), assignments.c.reason != "practice"
    )
)
_ANSWER = insert(answers)

#: Letters and digits that nobody takes for one another.
_CLEAR = "ABCDEFGHJKMNPQRSTVWXYZ23456789"


@dataclass(frozen=True)
class Store:
    """A study and the numbers that its objects have in the database.

    Attributes
    ----------
    designs
        Every design that was ever in use, by its row.
    rows
        The row of the present design of each block of each condition.
    numbers, names
        The number of each object, and the name of each number.
    """

    study: Study
    designs: dict[int, Design]
    rows: dict[tuple[str, str], int]
    numbers: dict[str, int]
    names: dict[int, str]
    key: bytes
    samplers: dict[tuple[str, str], Sampler]

    @classmethod
    def open(cls, connection: Connection, study: Study) -> Store:
        """Enter the study's objects and its design.

        A study that lost an object, or that asks another kind of question than the one which has
        been answered, is refused.
        """
        take_turns(connection, "designs")
        other = no_longer_fits(connection, study)
        if other is not None:
            raise SurveyError(other)
        _drop_unasked(connection, study)
        known = _object_ids(connection)
        new = [name for name in study.names if name not in known]
        if new:
            connection.execute(insert(objects), [{"name": name} for name in new])
            known = _object_ids(connection)
        stored = {row.content: int(row.id) for row in connection.execute(select(designs))}
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

    # --- writing ---------------------------------------------------------------------------

    def join(
        self,
        connection: Connection,
        platform_id: str | None,
        language: str,
        *,
        test_run: bool = False,
    ) -> Joined:
        """Enter a participant who consented, with what is asked first.

        Somebody whom the platform has sent before goes on, on whatever device. A test run is of
        no study: it takes no place, and may begin while the study is closed.
        """
        if test_run:
            platform_id = None
        elif self.study.quota.participants is not None:
            take_turns(connection, "places")
        if platform_id is not None:
            rater = self.rater(f"platform {platform_id}")
            take_turns(connection, rater)
            same = select(participants).where(participants.c.rater == rater)
            known = connection.execute(same.order_by(participants.c.id).limit(1)).one_or_none()
            if known is not None:
                return Joined(int(known.id), str(known.receipt), new=False)
        if not test_run:
            self._check_open(connection)
        receipt = "-".join("".join(secrets.choice(_CLEAR) for _ in range(4)) for _ in range(4))
        person = secrets.token_hex(16) if platform_id is None else f"platform {platform_id}"
        row = {
            "receipt": receipt,
            "rater": self.rater(person),
            "seed": secrets.randbits(62),
            "language": language,
            "consent_version": self.study.consent_version,
            "joined": time.time(),
            "round": 0,
            "condition": self._condition(connection),
            "test_run": int(test_run),
        }
        number = connection.execute(insert(participants), row).inserted_primary_key[0]  # type: ignore[index]
        if platform_id is not None:
            connection.execute(
                insert(platform_ids), {"participant": number, "platform_id": platform_id}
            )
        if not self.study.before:
            self._begin(connection, self.person(connection, number))
        return Joined(int(number), receipt)

    def _condition(self, connection: Connection) -> str | None:
        """One of the conditions that the fewest participants have, at random."""
        if len(self.study.conditions) == 1:
            return None
        take_turns(connection, "conditions")
        count = dict.fromkeys(self.study.conditions, 0)
        query = (
            select(participants.c.condition, func.count().label("n"))
            .where(participants.c.test_run == 0)
            .group_by(participants.c.condition)
        )
        for row in connection.execute(query):
            if row.condition in count:
                count[row.condition] = row.n
        return secrets.choice([name for name, n in count.items() if n == min(count.values())])

    def _begin(self, connection: Connection, person: Row[Any]) -> None:
        """Put the practice questions; if there are none, the first round."""
        first = self._blocks(person)[0]
        if not first.practice:
            self._fill(connection, person, 1)
            return
        plan = [
            Question(
                tuple(first.names.index(name) for name in one.objects),
                "practice",
                i,
                first.names.index(one.answer),
            )
            for i, one in enumerate(first.practice)
        ]
        self._put(connection, person, 0, first, plan)

    def fill_form(
        self, connection: Connection, participant: int, form: str, given: dict[str, Any]
    ) -> dict[str, Refusal]:
        """Store the answers to the questions before or after the rounds, once.

        What is wrong, by name; then nothing is stored.
        """
        person = self.person(connection, participant)
        if self._has_form(connection, participant, form):
            return {}
        if self._due_form(connection, person) != form or self._open(connection, participant):
            raise Refused(409, "these questions are not asked now")
        values, wrong = check_form(self.study.form(form), given)
        if wrong:
            return wrong
        row = {"participant": participant, "form": form, "stored": time.time()}
        connection.execute(insert(forms), row | {"content": json.dumps(values, ensure_ascii=False)})
        if form == "before":
            self._begin(connection, person)
        else:
            self._finish(connection, participant)
        return {}

    def leave(self, connection: Connection, participant: int, keep: bool) -> dict[str, Any]:
        """Leave before the end; the answers stay, or are erased. What the page shows then.

        Whoever has done what is needed gets the code all the same.
        """
        person = self.person(connection, participant)
        if person.finished is not None:
            raise Refused(409, "this participant has finished")
        if keep:
            change = update(participants).where(
                participants.c.id == participant, participants.c.left.is_(None)
            )
            connection.execute(change.values(left=time.time()))
            if self._earned(connection, person):
                self._note_code(connection, participant)
            return self.question(connection, participant)
        last = self._last(connection, person)
        erase(connection, person.receipt)
        return last | {"receipt": None, "left": True, "erased": True}

    def _earned(self, connection: Connection, person: Row[Any]) -> bool:
        """Whether a participant has done the rounds that are needed."""
        begun = bool(self._open(connection, person.id))
        return bool(person.round - begun >= self.study.needed)

    def test_link(self) -> str:
        """What the address of a test run has after ``?test=``; without the key nobody makes one."""
        digest = hmac.new(self.key, b"test link", hashlib.sha256).digest()
        return base64.b32encode(digest)[:24].decode().lower()

    def is_test_link(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.test_link().encode())

    def rater(self, person: str) -> str:
        """A name for exports, from which nobody without the key gets back to the person."""
        digest = hmac.new(self.key, b"rater " + person.encode(), hashlib.sha256).digest()
        return base64.b32encode(digest)[:12].decode().lower()

    def answer(
        self,
        connection: Connection,
        cookie: str,
        token: str,
        chosen: str | list[str],
        seconds: float,
    ) -> Answered:
        """Store an answer once; the same again changes nothing, another is refused."""
        row, *ahead = self._asked_of(connection, cookie, token)
        design = self.designs[row.design]
        choices = shown_in(row)[int(design.kind == "closer") :]
        names = [chosen] if isinstance(chosen, str) else chosen
        found = [i for i in choices if self.names[i] in names]
        if len(found) < len(names):
            raise Refused(422, "the chosen object was not one of the choices")
        if len(found) != design.choose:
            raise Refused(422, f"{design.choose} objects must be chosen, not {len(found)}")
        # one that was expected stands first, so that whoever counts looks at one column
        found.sort(key=lambda i: i != row.expected)
        if row.chosen is None:
            if row.left is not None:
                raise Refused(409, "this participant has left")
            if row.skipped:
                raise Refused(409, "this question was left out")
            new = {
                "assignment": row.id,
                "chosen": found[0],
                "seconds": seconds,
                "stored": time.time(),
                "further": json.dumps(found[1:]) if found[1:] else None,
            }
            connection.execute(_ANSWER, new)
            self._choose(connection, ahead[1:])  # the next one is about to be shown
            if row.number == row.of and row.round:  # no look at the others while there are more
                self._end_round(connection, row.participant)
        elif set(chosen_in(row)) != set(found):
            raise Refused(409, "this question already has a different answer")
        return Answered(row.chosen is None, row, found[0], ahead)

    def _choose(self, connection: Connection, rows: Sequence[Row[Any]]) -> None:
        """Put questions that are ready in place of random ones that nobody has seen."""
        for row in rows:
            if row.model != 0 or row.test_run:
                continue
            kind = self.designs[row.design].kind
            of = {"design": row.design, "participant": row.participant}
            found = connection.execute(_READY[kind], of).one_or_none()
            if found is None:
                return
            connection.execute(_TAKE, {"taken": found.id})
            three = (found.a, found.b, found.c)
            shown = shuffle_places(kind, three, row.seed, row.round, row.number)
            change = {"reason": "adaptive", "model": found.model, "place": found.id}
            change |= dict(zip("abc", shown, strict=True))
            connection.execute(_REPLACE, change | {"replaced": row.id})

    def _asked_of(self, connection: Connection, cookie: str, token: str) -> list[Row[Any]]:
        """The question with a token, and those after it that are open.

        Refused where it is not one of the participant with this cookie.
        """
        rows = list(connection.execute(_FROM, {"token": token}).all())
        if rows and _cookie(rows[0].participant, rows[0].receipt) == cookie:
            return rows
        if self.recognise(connection, cookie) is None:
            raise Refused(401, "unknown participant; join first")
        if not rows:
            raise Refused(404, "there is no such question")
        raise Refused(403, "this question belongs to another participant")

    def feedback(self, connection: Connection, answered: Answered) -> dict[str, Any] | None:
        """What the page says after a practice question, if it is still part of the study."""
        row = answered.row
        if row.reason != "practice":
            return None
        person = self.person(connection, row.participant)
        practice = self._blocks(person)[0].practice
        names = {self.names[i] for i in shown_in(row)}
        for one in practice[row.place : row.place + 1]:
            if set(one.objects) == names:
                return {
                    "right": answered.chosen == row.expected,
                    "answer": self.names[row.expected],
                    "why": to_html(one.why[person.language]),
                }
        return None

    def skip(
        self, connection: Connection, cookie: str, token: str, missing: Collection[str]
    ) -> None:
        """Leave out a question of which a picture or sound does not come, and note which one.

        A question that has an answer keeps it.
        """
        row = self._asked_of(connection, cookie, token)[0]
        lost = [i for i in shown_in(row) if self.names[i] in missing]
        if not lost or len(lost) < len(set(missing)):
            raise Refused(422, "a missing picture or sound must be one that the question shows")
        if not all(self.study.by_name[self.names[i]].file for i in lost):
            raise Refused(422, "only a question with a missing picture or sound can be left out")
        if row.left is not None:
            raise Refused(409, "this participant has left")
        if row.chosen is None and not row.skipped:
            now = time.time()
            rows = [{"assignment": row.id, "object": i, "stored": now} for i in lost]
            connection.execute(insert(skipped), rows)
            self._end_round(connection, row.participant)

    def begin_round(self, connection: Connection, participant: int) -> None:
        """Begin the next round, if the present one is done; while one is open, do nothing."""
        person = self.person(connection, participant)
        if self._open(connection, participant):
            return
        if self._due_form(connection, person) is not None:
            raise Refused(409, "there are questions to answer before")
        if person.round and not person.test_run:
            self._check_open(connection, joined=True)
        if person.finished is not None or person.left is not None:
            raise Refused(409, "this participant has finished")
        if person.round >= self._rounds(person):
            raise Refused(409, "there are no more rounds")
        self._fill(connection, person, person.round + 1)

    def finish(self, connection: Connection, participant: int) -> None:
        """The participant wants no more rounds; refused while a question is open."""
        person = self.person(connection, participant)
        if self._open(connection, participant):
            raise Refused(409, "this round has unanswered questions")
        if person.left is not None:
            raise Refused(409, "this participant has left")
        # the first round may be begun whatever the quota says; those after it may not
        if not person.round or (
            person.round < self.study.needed and self._more(connection, person)
        ):
            raise Refused(409, f"this study requires {_rounds_in_words(self.study.needed)}")
        self._end(connection, person)

    def _end_round(self, connection: Connection, participant: int) -> None:
        """At the end of a round: whoever cannot begin another one has finished."""
        if self._open(connection, participant):
            return
        look_at_price(connection, self.study)
        person = self.person(connection, participant)
        if person.finished is None and not self._more(connection, person):
            self._end(connection, person)

    def _end(self, connection: Connection, person: Row[Any]) -> None:
        """No more rounds: whoever is asked nothing after them has finished."""
        if not self.study.after or self._has_form(connection, person.id, "after"):
            self._finish(connection, person.id)
            return
        change = update(participants).where(
            participants.c.id == person.id, participants.c.enough.is_(None)
        )
        connection.execute(change.values(enough=time.time()))

    def _note_code(self, connection: Connection, participant: int) -> None:
        put(connection, payments, {"participant": participant, "code": self.study.completion.code})

    def _finish(self, connection: Connection, participant: int) -> None:
        """Note that a participant has finished, and which code the page gives them."""
        self._note_code(connection, participant)
        change = update(participants).where(
            participants.c.id == participant, participants.c.finished.is_(None)
        )
        connection.execute(change.values(finished=time.time()))

    def _fill(self, connection: Connection, person: Row[Any], round: int) -> None:
        """Put the questions of a round to a participant.

        A block of which everything was asked is followed by the next; if there is none, all is
        over.
        """
        blocks = self._blocks(person)
        past = select(assignments).where(assignments.c.participant == person.id)
        rows = connection.execute(past).all()
        while (found := at_round(blocks, round)) is not None:
            block, number = blocks[found[0]], found[1]
            of = (block.condition, block.name)
            plan = self.samplers[of].round(
                block.seed_of(person.seed),
                number,
                self._asked(rows, block),
                self._start(rows, of),
            )
            if plan:
                self._put(connection, person, round, block, plan)
                return
            round += block.rounds - number + 1
        self._end(connection, person)

    def _start(self, rows: Sequence[Row[Any]], of: tuple[str, str]) -> int:
        """The first place in a participant's order that was not looked at before."""
        if self.study.adaptive is not None:
            return 0  # others may have been asked instead of what stands there
        drawn = (r.place for r in rows if r.reason == "random" and r.design == self.rows[of])
        return 1 + max(drawn, default=-1)

    def _asked(self, rows: Sequence[Row[Any]], block: Block) -> frozenset[int]:
        """The ranks of the questions of a block that a participant was asked before."""
        alike = (block.name, block.kind, block.shown)
        at = {self.numbers[name]: i for i, name in enumerate(block.names)}
        asked = set()
        for row in rows:
            design = self.designs[row.design]
            shown = shown_in(row)
            same = (design.block, design.kind, design.shown) == alike
            if same and all(number in at for number in shown):
                asked.add(rank(block.kind, tuple(at[number] for number in shown)))
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
            "design": self.rows[block.condition, block.name],
            "round": round,
            "of": len(plan),
        }
        ids = [self.numbers[name] for name in block.names]
        new = [shared | {"number": i} | _assignment(asked, ids) for i, asked in enumerate(plan, 1)]
        connection.execute(insert(assignments), new)
        if any(asked.open for asked in plan):
            self._choose(connection, self._open(connection, person.id))

    # --- reading ---------------------------------------------------------------------------

    def person(self, connection: Connection, participant: int) -> Row[Any]:
        """The participant's row; erased ones are strangers."""
        row = connection.execute(_PARTICIPANT, {"id": participant}).one_or_none()
        if row is None:
            raise Refused(401, "unknown participant; join first")
        return row

    def going_on(
        self,
        connection: Connection,
        cookie: str,
        platform_id: str | None,
        *,
        test_run: bool = False,
    ) -> Joined | None:
        """The participant who comes back with a cookie before the end; else None.

        Another person at the same browser, whom the platform calls otherwise, begins anew.
        """
        participant = self.recognise(connection, cookie)
        if participant is None:
            return None
        row = self.person(connection, participant)
        if bool(row.test_run) != test_run or "done" in self.question(connection, participant):
            return None
        if platform_id is not None and self.rater(f"platform {platform_id}") != row.rater:
            return None
        return Joined(participant, str(row.receipt), new=False)

    def recognise(self, connection: Connection, cookie: str) -> int | None:
        """The participant whom `Joined.cookie` was given to; None if they were erased."""
        number = cookie.partition(".")[0]
        if not number.isdecimal():
            return None
        person = connection.execute(_PARTICIPANT, {"id": int(number)}).one_or_none()
        if person is None or _cookie(person.id, person.receipt) != cookie:
            return None
        return int(number)

    def question(
        self, connection: Connection, participant: int, ahead: Sequence[Row[Any]] = ()
    ) -> dict[str, Any]:
        """What the page shows next: a question, the end of a round, or the end.

        Parameters
        ----------
        connection
        participant
        ahead
            The questions that are known to be open.
        """
        rows = ahead or self._open(connection, participant)
        if rows and rows[0].left is None:
            return self._shown(rows)
        person = self.person(connection, participant)
        form = self._due_form(connection, person)
        if form is not None:
            items = [item.shown(person.language) for item in self.study.form(form)]
            return {"form": form, "items": items, "test_run": bool(person.test_run)}
        more = person.finished is None and person.left is None
        if more and (not person.round or self._more(connection, person)):
            return {
                "round_done": True,
                "round": person.round,
                "rounds": self._rounds(person),
                "answers": self.count(connection, participant),
                "may_finish": person.round >= self.study.needed,
                **({} if person.round else {"practice": True}),
                **_place(self._blocks(person), person.round),
            }
        return self._last(connection, person)

    def _last(self, connection: Connection, person: Row[Any]) -> dict[str, Any]:
        """The end, with the code if it is earned."""
        earned = person.left is None and person.finished is not None
        earned = earned or self._earned(connection, person)
        said: dict[str, Any] = {
            "done": True,
            "completion": self.completion(connection, person.id)
            if earned
            else {"code": None, "url": None},
            "receipt": person.receipt,
            "answers": self.count(connection, person.id),
        }
        if person.left is not None:
            said["left"] = True
        if self.study.debriefing is not None:
            said["debriefing"] = to_html(self.study.debriefing[person.language])
        return said

    def _due_form(self, connection: Connection, person: Row[Any]) -> str | None:
        """The form that a participant has to fill in now, where no question is open."""
        if person.left is not None or person.finished is not None:
            return None
        if self.study.before and not person.round:
            practising = select(assignments.c.id).where(assignments.c.participant == person.id)
            begun = connection.execute(practising.limit(1)).first() is not None
            return None if begun else "before"
        done = person.enough is not None or (
            person.round > 0 and not self._more(connection, person)
        )
        return "after" if self.study.after and done else None

    def _has_form(self, connection: Connection, participant: int, form: str) -> bool:
        query = select(forms.c.form).where(forms.c.participant == participant, forms.c.form == form)
        return connection.execute(query).first() is not None

    def count(self, connection: Connection, participant: int) -> int:
        """How many answers of the participant are stored, without practice."""
        return int(connection.execute(_COUNT, {"participant": participant}).scalar_one())

    def completion(self, connection: Connection, participant: int) -> dict[str, str | None]:
        """The code, and the way back to where the participant came from."""
        given = self.study.completion
        url = given.redirect
        if url is not None:
            theirs = select(platform_ids.c.platform_id).where(
                platform_ids.c.participant == participant
            )
            known = connection.execute(theirs).scalar() or ""
            url = url.replace("{code}", quote(given.code or "", safe=""))
            url = url.replace("{platform_id}", quote(known, safe=""))
        return {"code": given.code, "url": url}

    def _open(self, connection: Connection, participant: int) -> list[Row[Any]]:
        return list(connection.execute(_OPEN, {"participant": participant}).all())

    def _more(self, connection: Connection, person: Row[Any]) -> bool:
        more = person.round < self._rounds(person) and person.enough is None
        return bool(more and (person.test_run or self.state(connection, joined=True) == "open"))

    def _blocks(self, person: Row[Any]) -> tuple[Block, ...]:
        return self.study.blocks(person.condition, person.seed)

    def _rounds(self, person: Row[Any]) -> int:
        return sum(block.rounds for block in self._blocks(person))

    def state(self, connection: Connection, *, joined: bool = False) -> State:
        """Whether somebody can join; or whether one who has ``joined`` can begin a round."""
        return state_of(connection, self.study, joined=joined)

    def _check_open(self, connection: Connection, *, joined: bool = False) -> None:
        look_at_price(connection, self.study)
        if self.state(connection, joined=joined) != "open":
            raise Refused(403, "this study is closed")

    def _shown(self, rows: Sequence[Row[Any]]) -> dict[str, Any]:
        row = rows[0]
        blocks = self._blocks(row)
        language = row.language
        design = self.designs[row.design]
        names = [self.names[i] for i in shown_in(row)]
        by_name = self.study.by_name
        stimuli = [by_name[name].shown(language) for name in names]
        ahead = {
            stimulus.shown(language).get("url"): None
            for later in rows[1:]
            if later.model != 0  # else another question may come in its place
            for i in shown_in(later)
            if (stimulus := by_name[self.names[i]]).key
        }
        shown: dict[str, Any] = {
            "token": row.token,
            "kind": design.kind,
            "objects": names,
            "choose": design.choose,
            "question": design.asked(language) or self.study.question[language],
            "round": row.round,
            "number": row.number,
            "of": row.of,
            "rounds": sum(block.rounds for block in blocks),
            "stimuli": stimuli,
            "prefetch": list(ahead),
            **self._part(row, blocks),
        }
        if row.round > 1 or (row.round and row.number > row.of / 2):
            # not before it is earned: whoever reads the page's source finds no code there
            shown["failed_code"] = self.study.completion.failed
        if design.kind == "closer":
            shown["anchor"] = names[0]
        return shown

    def _part(self, row: Row[Any], blocks: tuple[Block, ...]) -> dict[str, Any]:
        """What stands around a question: its part of the study, practice, a test run."""
        said: dict[str, Any] = {"practice": True} if not row.round else {}
        if row.test_run:
            said["test_run"] = True
        said |= _place(blocks, row.round)
        found = at_round(blocks, max(row.round, 1))
        if found is None:
            return said
        block = blocks[found[0]]
        # before its first question, or before the practice for it
        first = row.number == 1 and found[1] == 1
        first = first and (not row.round or bool(found[0]) or not block.practice)
        if block.instructions is not None and first:
            said["instructions"] = to_html(block.instructions[row.language])
        return said


def _place(blocks: tuple[Block, ...], round: int) -> dict[str, int]:
    """Which part of the study a round is in, where there are several."""
    if len(blocks) == 1:
        return {}
    found = at_round(blocks, max(round, 1))
    return {} if found is None else {"part": found[0] + 1, "parts": len(blocks)}


def shown_in(row: Row[Any]) -> list[int]:
    """The numbers of the objects of a question, in the order shown."""
    return [row.a, row.b, row.c, *(json.loads(row.further) if row.further else ())]


def chosen_in(row: Row[Any]) -> list[int]:
    """The numbers of the objects that were chosen; ``also`` holds those after the first."""
    if row.chosen is None:
        return []
    return [row.chosen, *(json.loads(row.also) if row.also else ())]


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


@dataclass(frozen=True)
class Joined:
    """A participant's number and receipt, and whether they are new."""

    participant: int
    receipt: str
    new: bool = True

    @property
    def cookie(self) -> str:
        """What the browser keeps, by which they are recognised."""
        return _cookie(self.participant, self.receipt)


def _cookie(participant: int, receipt: str) -> str:
    """The number, which SQLite may give to somebody else after an erasure, and a mark."""
    return f"{participant}.{hashlib.sha256(receipt.encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class Answered:
    """An answer that is stored.

    Attributes
    ----------
    new
        Whether it was not stored before.
    row
        The question.
    chosen
        The number of the object; of several, the expected one first.
    ahead
        The questions that are open now, as far as they were looked up.
    """

    new: bool
    row: Row[Any]
    chosen: int
    ahead: list[Row[Any]]


def take_turns(connection: Connection, name: str) -> None:
    """Wait until no other transaction is about the same name; SQLite has one writer anyway.

    Whoever looks before they act does so after this: what they see then holds until they commit.
    """
    if connection.dialect.name == "postgresql":
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
        connection.execute(select(func.pg_advisory_xact_lock(number)))


def _object_ids(connection: Connection) -> dict[str, int]:
    return {row.name: row.id for row in connection.execute(select(objects))}


def designs_asked(connection: Connection) -> dict[int, Design]:
    """The designs whose questions have been answered, by their row, the latest last."""
    return {row: Design.from_json(content) for row, content in _answered_designs(connection)}


def _unknown(connection: Connection, study: Study) -> dict[str, int]:
    """The objects that the study had before and has no more."""
    known = _object_ids(connection)
    return {name: i for name, i in known.items() if name not in study.by_name}


def _asked_about(connection: Connection) -> set[int]:
    """The objects that stand in a question, whoever it was put to."""
    found = set()
    for column in (assignments.c.a, assignments.c.b, assignments.c.c):
        found |= set(connection.execute(select(column).distinct()).scalars())
    more = select(assignments.c.further).where(assignments.c.further.is_not(None)).distinct()
    for listed in connection.execute(more).scalars():
        found |= set(json.loads(listed))
    return found


def _drop_unasked(connection: Connection, study: Study) -> None:
    """Forget objects that the study has no more, of which nobody was asked."""
    gone = list(_unknown(connection, study).values())
    if gone:
        connection.execute(delete(prepared))
        connection.execute(delete(objects).where(objects.c.id.in_(gone)))


def no_longer_fits(connection: Connection, study: Study) -> str | None:
    """Why a study cannot go on with what is stored; None if it can."""
    unknown = _unknown(connection, study)
    asked = _asked_about(connection) if unknown else set()
    gone = [name for name, number in unknown.items() if number in asked]
    if gone:
        return (
            f"the object {gone[0]!r} was part of this study and is missing now "
            f"({len(gone)} missing); put it back, or start a new study in another folder"
        )
    for before in designs_asked(connection).values():
        now = study.designs.get(before.of)
        if now is not None and now.kind != before.kind:
            n = count_answers(connection)
            where = f" in block {now.block!r}" if now.block else ""
            return (
                f"study.yaml says kind: {now.kind}{where}, but {n:,} answers are stored to "
                f"questions of kind {before.kind}; change it back, or start a new study in "
                f"another folder"
            )
    return None


def changes(connection: Connection, study: Study) -> list[str]:
    """What participants see now and did not see when the last answers were stored."""
    designs_used = _answered_designs(connection)
    if not designs_used:
        return []
    last = {Design.from_json(content).of: content for _, content in designs_used}
    said = []
    for of, content in last.items():
        if of not in study.designs:
            said.append(_taken_out(of))
        else:
            said += _changed(json.loads(content), json.loads(study.designs[of].to_json()))
    since = "since answers were stored; the column `design` of the export tells them apart"
    return [f"{text} {since}" for text in dict.fromkeys(said)]


def _taken_out(of: tuple[str, str]) -> str:
    """That a block of a condition is not there any more."""
    condition, block = of
    named = [f"block {block!r}"] * bool(block) + [f"condition {condition!r}"] * bool(condition)
    if not named:
        return "conditions or blocks have been added"
    return f"the {' of '.join(named)} has been taken out of the study"


def _changed(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    said = []
    if before.get("question", now["question"]) != now["question"]:
        said.append("the wording of the question has changed")
    seen = dict(zip(before["objects"], before.get("stimuli", ()), strict=False))
    shown = dict(zip(now["objects"], now["stimuli"], strict=True))
    other = [name for name, key in seen.items() if shown.get(name, key) != key]
    if other:
        more = f" and {len(other) - 1} more" if len(other) > 1 else ""
        said.append(f"what is shown for {other[0]!r}{more} has changed")
    return said


def _answered_designs(connection: Connection) -> list[tuple[int, str]]:
    """The designs that have answers, with their contents, the latest last."""
    used = (
        select(assignments.c.design)
        .select_from(answers.join(assignments, answers.c.assignment == assignments.c.id))
        .distinct()
    )
    query = select(designs.c.id, designs.c.content).where(designs.c.id.in_(used))
    return [(row.id, row.content) for row in connection.execute(query.order_by(designs.c.id))]


def get_setting(connection: Connection, name: str) -> str | None:
    """A setting's value, if it is there."""
    value = connection.execute(_SETTING, {"name": name}).scalar()
    return None if value is None else str(value)


def put_setting(connection: Connection, name: str, value: str | None) -> None:
    """Keep a setting; None takes it away."""
    if value is None:
        connection.execute(delete(settings).where(settings.c.name == name))
        return
    put(connection, settings, {"name": name, "value": value})


def put(connection: Connection, table: Table, row: dict[str, Any]) -> None:
    """Insert a row, or replace the one with the same key, in one step."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    keys = [column.name for column in table.primary_key]
    change = {name: value for name, value in row.items() if name not in keys}
    new = dialect.insert(table).values(row)
    connection.execute(new.on_conflict_do_update(index_elements=keys, set_=change))


def is_paused(connection: Connection) -> bool:
    """Whether the researcher lets nobody join or begin a round."""
    return get_setting(connection, "closed") is not None


def state_of(connection: Connection, study: Study, *, joined: bool = False) -> State:
    """Whether somebody can join; or whether one who has ``joined`` can begin a round."""
    if is_paused(connection):
        return "paused"
    quota = study.quota
    full = quota.answers is not None and count_answers(connection) >= quota.answers
    if quota.participants is not None and not joined:
        full |= places_taken(connection, quota.hours) >= quota.participants
    return "full" if full else "open"


def pause(connection: Connection, who: str) -> None:
    """Take no more participants and begin no more rounds; rounds that were begun go on."""
    put_setting(connection, "closed", "yes")
    record(connection, who, "paused the study")


def resume(connection: Connection, who: str) -> None:
    """Take participants again."""
    put_setting(connection, "closed", None)
    record(connection, who, "let the study go on")


@dataclass(frozen=True)
class Stopped:
    """Why a rule closed the study, and the terms of the rule: see `trilens_survey.goal.Stop`."""

    why: str
    terms: dict[str, Any]


def stopped_by(connection: Connection) -> Stopped | None:
    """The rule that closed the study last; None if none did."""
    stored = get_setting(connection, "stopped")
    return None if stored is None else Stopped(**json.loads(stored))


def may_stop(connection: Connection, stop: Stop) -> bool:
    """Whether the rule would close the study if it is met.

    It does so once: whoever lets the study go on is heeded, until they change the rule.
    """
    if not stop.closes or is_paused(connection):
        return False
    before = stopped_by(connection)
    return before is None or before.terms != stop.terms


def stop_study(connection: Connection, stop: Stop, why: str) -> None:
    """Close the study because its rule is met, unless that was done before."""
    take_turns(connection, "stopped")
    if not may_stop(connection, stop):
        return
    put_setting(connection, "stopped", json.dumps({"why": why, "terms": stop.terms}))
    put_setting(connection, "closed", "yes")
    record(connection, RULE, f"closed the study: {why}")


def is_spent(connection: Connection, study: Study) -> bool:
    """Whether the study is to be closed because nothing is left of its budget."""
    stop = study.stop
    if stop is None or not stop.by_price or not may_stop(connection, stop):
        return False
    return stop.cost(count_answers(connection)).stop


def look_at_price(connection: Connection, study: Study) -> None:
    """Close the study if nothing is left of its budget: every answer was paid, tests as well.

    Whoever lets somebody begin looks before.
    """
    if study.stop is not None and is_spent(connection, study):
        stop_study(connection, study.stop, study.stop.cost(count_answers(connection)).why)


def count_answers(connection: Connection) -> int:
    """How many answers are part of the study: not those to practice, nor those of test runs."""
    everything = select(func.count()).select_from(answers)
    by_person = select(func.count()).select_from(
        participants.join(assignments, assignments.c.participant == participants.c.id).join(
            answers, answers.c.assignment == assignments.c.id
        )
    )
    # few of many, found by the index: a large study is not read as a whole
    of_tests = by_person.where(participants.c.test_run == 1)
    practice = by_person.where(participants.c.test_run == 0, assignments.c.round == 0)
    n, *others = (
        int(connection.execute(query).scalar_one()) for query in (everything, of_tests, practice)
    )
    return n - sum(others)


def places_taken(connection: Connection, hours: int) -> int:
    """Participants who finished, or who joined so recently that they still may."""
    held = or_(
        participants.c.finished.is_not(None), participants.c.joined > time.time() - 3600 * hours
    )
    real = (participants.c.test_run == 0) & participants.c.left.is_(None)
    query = select(func.count()).select_from(participants).where(held, real)
    return int(connection.execute(query).scalar_one())


def add_visits(connection: Connection, hour: int, n: int) -> None:
    """The page was opened so often in an hour (since 1970) by people who had not joined."""
    take_turns(connection, "visits")
    here = visits.c.hour == hour
    known = connection.execute(select(visits.c.opened).where(here)).scalar()
    put(connection, visits, {"hour": hour, "opened": (known or 0) + n})


def record(connection: Connection, who: str, what: str) -> None:
    """Note in the log what a researcher did."""
    connection.execute(insert(deeds), {"done": time.time(), "who": who, "what": what})


def by_receipt(connection: Connection, receipt: str) -> int | None:
    """The participant with a receipt, typed in small letters or with spaces."""
    plain = "".join(c for c in receipt.upper() if c in _CLEAR)
    code = "-".join(plain[i : i + 4] for i in range(0, len(plain), 4))
    found = connection.execute(
        select(participants.c.id).where(participants.c.receipt == code)
    ).scalar()
    return None if found is None else int(found)


def erase(connection: Connection, receipt: str) -> int | None:
    """Erase all that is known of the participant with a receipt; the number of answers.

    What remains is that so many answers were erased, and when.
    """
    number = by_receipt(connection, receipt)
    if number is None:
        return None
    theirs = select(assignments.c.id).where(assignments.c.participant == number)
    connection.execute(delete(skipped).where(skipped.c.assignment.in_(theirs)))
    gone = connection.execute(delete(answers).where(answers.c.assignment.in_(theirs))).rowcount
    connection.execute(delete(assignments).where(assignments.c.participant == number))
    connection.execute(delete(forms).where(forms.c.participant == number))
    connection.execute(delete(platform_ids).where(platform_ids.c.participant == number))
    connection.execute(delete(participants).where(participants.c.id == number))
    connection.execute(insert(erasures), {"erased": time.time(), "answers": gone})
    return int(gone)


def missing_objects(connection: Connection) -> dict[str, int]:
    """For how many questions a picture or sound did not come, by object, the most first."""
    often = func.count().label("often")
    query = (
        select(objects.c.name, often)
        .select_from(skipped.join(objects, skipped.c.object == objects.c.id))
        .group_by(objects.c.name)
        .order_by(often.desc(), objects.c.name)
    )
    return {row.name: int(row.often) for row in connection.execute(query)}


def all_about(connection: Connection, receipt: str) -> dict[str, Any] | None:
    """All that is stored about the participant with a receipt, for the participant to read."""
    number = by_receipt(connection, receipt)
    if number is None:
        return None
    person = connection.execute(_PARTICIPANT, {"id": number}).one()
    names = {row.id: row.name for row in connection.execute(select(objects))}
    query = (
        select(
            assignments,
            answers.c.chosen,
            answers.c.seconds,
            answers.c.stored,
            answers.c.further.label("also"),
            _SKIPPED.label("skipped"),
        )
        .select_from(assignments.outerjoin(answers, answers.c.assignment == assignments.c.id))
        .where(assignments.c.participant == number)
        .order_by(assignments.c.round, assignments.c.number)
    )
    platform = select(platform_ids.c.platform_id).where(platform_ids.c.participant == number)
    filled = select(forms).where(forms.c.participant == number)
    return {
        "receipt": person.receipt,
        "rater": person.rater,
        "language": person.language,
        "consent_version": person.consent_version,
        "joined": person.joined,
        "finished": person.finished,
        "left": person.left,
        "condition": person.condition,
        "test_run": bool(person.test_run),
        "forms": {row.form: json.loads(row.content) for row in connection.execute(filled)},
        "platform_id": connection.execute(platform).scalar(),
        "questions": [
            {
                "round": row.round,
                "number": row.number,
                "shown": [names[i] for i in shown_in(row)],
                "chosen": _alone([names[i] for i in chosen_in(row)]),
                "seconds": row.seconds,
                "stored": row.stored,
                "skipped": bool(row.skipped),
            }
            for row in connection.execute(query)
        ],
    }


def _rounds_in_words(n: int) -> str:
    return "1 round" if n == 1 else f"{n:,} rounds"


def _alone(names: list[str]) -> str | list[str] | None:
    """One name as it is, several as a list, nothing as None."""
    return names if len(names) > 1 else names[0] if names else None
