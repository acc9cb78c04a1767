"""Participants: how they join, what they see next, and how they end."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from sqlalchemy import bindparam, case, func, insert, select, update
from sqlalchemy.engine import Connection

from trilens_survey.forms import Refusal, check_form
from trilens_survey.markdown import to_html
from trilens_survey.schema import (
    answers,
    assignments,
    codes,
    forms,
    paid,
    participants,
    platform_ids,
)
from trilens_survey.store.administration import State, by_receipt, lock, may_go_on, put, state_of
from trilens_survey.store.assignments import Answered, Assignments
from trilens_survey.store.rows import ANSWERED, SKIPPED, Asked, Person, find_person
from trilens_survey.study import Block, Study, at_round
from trilens_survey.writer import Refused

#: Letters and digits that nobody takes for one another.
CLEAR = "ABCDEFGHJKMNPQRSTVWXYZ23456789"

#: How many answers of a participant are stored, without practice.
_COUNT = (
    select(func.count())
    .select_from(ANSWERED)
    .where(
        assignments.c.participant == bindparam("participant"), assignments.c.reason != "practice"
    )
)
#: The questions of a participant's rounds: all, those answered, and those skipped.
_WORK = (
    select(
        func.count(),
        func.count(answers.c.assignment),
        func.coalesce(func.sum(case((SKIPPED, 1), else_=0)), 0),
    )
    .select_from(assignments.outerjoin(answers, answers.c.assignment == assignments.c.id))
    .where(
        assignments.c.participant == bindparam("participant"),
        assignments.c.round.between(1, bindparam("last")),
    )
)


class _Shown:
    """What the page shows; its fields are the keys of the JSON, but for those without a value."""

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Asking(_Shown):
    """A question is to be answered.

    Attributes
    ----------
    stimuli
        What the page needs to show each object.
    prefetch
        Addresses of what the next questions show.
    part, parts
        Which part of the study this is, from 1, where there are several.
    instructions
        What stands before the first question of a block, as HTML.
    failed_code
        For answers that cannot be stored for good.
    """

    token: str
    kind: str
    objects: list[str]
    choose: int
    question: str
    round: int
    number: int
    of: int
    rounds: int
    stimuli: list[dict[str, str]]
    prefetch: list[str]
    part: int | None
    parts: int | None
    anchor: str | None
    practice: Literal[True] | None
    test_run: Literal[True] | None
    instructions: str | None
    failed_code: str | None


@dataclass(frozen=True)
class FormDue(_Shown):
    """Questions about the participant are to be answered."""

    form: str
    items: list[dict[str, Any]]
    test_run: bool


@dataclass(frozen=True)
class RoundDone(_Shown):
    """A round, or the practice before the first, is over; and perhaps a part with it."""

    round: int
    rounds: int
    answers: int
    may_finish: bool
    part: int | None
    parts: int | None
    practice: Literal[True] | None
    part_done: Literal[True] | None
    round_done: Literal[True] = True


@dataclass(frozen=True)
class Paused(_Shown):
    """The researcher has paused the study, and rounds are to be done when it goes on."""

    round: int
    answers: int
    paused: Literal[True] = True


@dataclass(frozen=True)
class Completion:
    """The completion code, if it is earned, and the way back."""

    code: str | None = None
    url: str | None = None


@dataclass(frozen=True)
class Done(_Shown):
    """All is over.

    Attributes
    ----------
    left, erased
        Whether they left before the end, and had everything erased.
    short
        Whether too many questions were skipped for the code.
    debriefing
        As HTML.
    """

    completion: Completion
    receipt: str | None
    answers: int
    left: Literal[True] | None = None
    erased: Literal[True] | None = None
    short: Literal[True] | None = None
    debriefing: str | None = None
    done: Literal[True] = True

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {
            "completion": vars(self.completion), "receipt": self.receipt
        }  # fmt: skip


#: What the page shows.
Screen: TypeAlias = Asking | FormDue | RoundDone | Paused | Done


@dataclass(frozen=True)
class Feedback:
    """What the page says after a practice question; ``why`` is HTML."""

    right: bool
    answer: str
    why: str


@dataclass(frozen=True)
class Participants:
    """The participants of a study, and the questions that are put to them."""

    study: Study
    assigned: Assignments

    @classmethod
    def open(cls, connection: Connection, study: Study) -> Participants:
        """Enter the study into the database."""
        return cls(study, Assignments.open(connection, study))

    @property
    def key(self) -> bytes:
        """The secret of the database."""
        return self.assigned.key

    # --- coming ----------------------------------------------------------------------------

    def join(
        self,
        connection: Connection,
        platform_id: str | None,
        language: str,
        *,
        test_run: bool = False,
    ) -> str:
        """Enter a participant who consented, with what is asked first; their receipt.

        An id that a platform has sent before begins nothing: whoever it belongs to goes on with
        their cookie or receipt. If neither has ever come back, the reply may have been lost: they
        get a new receipt for the old one. A test run is of no study: it takes no place, and may
        begin while the study is closed.
        """
        if test_run:
            platform_id = None
        elif self.study.quota.participants is not None:
            lock(connection, "places")
        if platform_id is not None:
            rater = self.rater(f"platform {platform_id}")
            lock(connection, rater)
            unused = self._unused(connection, rater)
            if unused is not None:
                receipt = _new_receipt()
                change = update(participants).where(participants.c.id == unused)
                connection.execute(change.values(receipt=receipt, language=language))
                return receipt
            if self._is_known(connection, rater):
                raise Refused(
                    409,
                    "this id has already been used; to go on, use the browser in which you began, "
                    "or enter your receipt",
                    code="in_use",
                )
        if not test_run:
            self._check_open(connection)
        receipt = _new_receipt()
        person = secrets.token_hex(16) if platform_id is None else f"platform {platform_id}"
        row = {
            "receipt": receipt,
            "rater": self.rater(person),
            "seed": secrets.randbits(62),
            "language": language,
            "consent_version": self.study.settings.consent.version,
            "joined": time.time(),
            "round": 0,
            "condition": self._condition(connection),
            "test_run": int(test_run),
        }
        made = connection.execute(insert(participants), row)
        number = int(made.inserted_primary_key[0])  # type: ignore[index]
        if platform_id is not None:
            connection.execute(
                insert(platform_ids), {"participant": number, "platform_id": platform_id}
            )
        if not self.study.settings.before:
            self._begin(connection, self.person(connection, number))
        return receipt

    def _is_known(self, connection: Connection, rater: str) -> bool:
        """Whether somebody has joined, or was given a code and has been erased since."""
        joined = select(participants.c.rater).where(participants.c.rater == rater)
        given = select(paid.c.rater).where(paid.c.rater == rater)
        return connection.execute(joined.union(given)).first() is not None

    def _unused(self, connection: Connection, rater: str) -> int | None:
        """The participant who joined with an id and has not come back since."""
        query = select(participants.c.id).where(
            participants.c.rater == rater,
            participants.c.seen.is_(None),
            participants.c.left.is_(None),
        )
        found = connection.execute(query).scalar()
        return None if found is None else int(found)

    def see(self, connection: Connection, participant: int) -> None:
        """The participant has come back with their receipt."""
        change = update(participants).where(participants.c.id == participant)
        connection.execute(change.values(seen=time.time()))

    def resume(self, connection: Connection, receipt: str, platform_id: str | None) -> str:
        """The receipt, as it is stored, of one who goes on in another browser."""
        number = by_receipt(connection, receipt)
        person = None if number is None else self.person(connection, number)
        if person is None or not self._is(person, platform_id):
            raise Refused(404, "no participant has this receipt")
        return person.receipt

    def goes_on(
        self, connection: Connection, receipt: str, platform_id: str | None, *, test_run: bool
    ) -> bool:
        """Whether somebody comes back in the same browser before the end.

        Another person there, whom the platform calls otherwise, begins anew. One whom the platform
        calls the same is shown the end.
        """
        number = by_receipt(connection, receipt)
        if number is None:
            return False
        person = self.person(connection, number)
        if bool(person.test_run) != test_run or not self._is(person, platform_id):
            return False
        return platform_id is not None or not isinstance(self.screen(connection, number), Done)

    def _is(self, person: Person, platform_id: str | None) -> bool:
        """Whether the platform calls the participant so, or says nothing."""
        return platform_id is None or self.rater(f"platform {platform_id}") == person.rater

    def person(self, connection: Connection, participant: int) -> Person:
        """The participant; erased ones are strangers."""
        person = find_person(connection, participant)
        if person is None:
            raise Refused(401, "unknown participant; join first")
        return person

    def rater(self, person: str) -> str:
        """A name for exports, from which nobody without the key gets back to the person."""
        digest = hmac.new(self.key, b"rater " + person.encode(), hashlib.sha256).digest()
        return base64.b32encode(digest)[:12].decode().lower()

    def test_link(self) -> str:
        """What the address of a test run has after ``?test=``; without the key nobody makes one."""
        digest = hmac.new(self.key, b"test link", hashlib.sha256).digest()
        return base64.b32encode(digest)[:24].decode().lower()

    def is_test_link(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.test_link().encode())

    def _condition(self, connection: Connection) -> str | None:
        """One of the conditions that the fewest participants have, at random."""
        if len(self.study.conditions) == 1:
            return None
        lock(connection, "conditions")
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

    def _check_open(self, connection: Connection, *, joined: bool = False) -> None:
        if self.state(connection, joined=joined) != "open":
            raise Refused(403, "this study is closed")

    def state(self, connection: Connection, *, joined: bool = False) -> State:
        """Whether somebody can join; or whether one who has ``joined`` can begin a round."""
        return state_of(connection, self.study, joined=joined)

    # --- going on --------------------------------------------------------------------------

    def _begin(self, connection: Connection, person: Person) -> None:
        """Put the practice questions; if there are none, the first round."""
        first = self._blocks(person)[0]
        if first.practice:
            self.assigned.put_practice(connection, person, first)
        else:
            self._put_round(connection, person, 1)

    def _put_round(self, connection: Connection, person: Person, round: int) -> None:
        """Put the questions of a round; if there are none left, all is over."""
        if not self.assigned.put_round(connection, person, round):
            self._end(connection, person)

    def fill_form(
        self, connection: Connection, participant: int, form: str, given: dict[str, Any]
    ) -> dict[str, Refusal]:
        """Store the answers to the questions before or after the rounds, once.

        What is wrong, by name; then nothing is stored.
        """
        person = self.person(connection, participant)
        if self._has_form(connection, participant, form):
            return {}
        open_questions = self.assigned.open_questions(connection, participant)
        if self._due_form(connection, person) != form or open_questions:
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

    def answer(
        self,
        connection: Connection,
        receipt: str,
        token: str,
        chosen: str | list[str],
        seconds: float,
    ) -> Answered:
        """Store an answer once; the same again changes nothing, another is refused."""
        asked = self._asked_of(connection, receipt, token)
        done = self.assigned.answer(connection, asked, chosen, seconds)
        if done.ends_round:
            self._end_round(connection, done.question.participant)
        return done

    def skip(
        self, connection: Connection, receipt: str, token: str, missing: Collection[str]
    ) -> None:
        """Leave out a question of which a picture or sound does not come.

        Whoever cannot get the code any more, because too much was left out, is asked no more.
        """
        question = self._asked_of(connection, receipt, token)[0]
        if not self.assigned.skip(connection, question, missing):
            return
        person = self.person(connection, question.participant)
        if self._too_short(connection, person):
            self._leave(connection, person.id)
            return
        self._end_round(connection, question.participant)

    def _asked_of(self, connection: Connection, receipt: str, token: str) -> list[Asked]:
        """The question with a token, and those after it that are open.

        Refused where it is not one of the participant with this receipt.
        """
        asked = self.assigned.by_token(connection, token)
        if asked and asked[0].receipt == receipt:
            return asked
        if by_receipt(connection, receipt) is None:
            raise Refused(401, "unknown participant; join first")
        if not asked:
            raise Refused(404, "there is no such question")
        raise Refused(403, "this question belongs to another participant")

    def feedback(self, connection: Connection, answered: Answered) -> Feedback | None:
        """What the page says after a practice question, if it is still part of the study."""
        question = answered.question
        if question.reason != "practice" or question.expected is None:
            return None
        person = self.person(connection, question.participant)
        practice = self._blocks(person)[0].practice
        names = self.assigned.names
        for one in practice[question.place : question.place + 1]:
            if set(one.objects) == {names[i] for i in question.shown}:
                return Feedback(
                    answered.chosen == question.expected,
                    names[question.expected],
                    to_html(one.why[person.language]),
                )
        return None

    def begin_round(self, connection: Connection, participant: int) -> None:
        """Begin the next round, if the present one is done; while one is open, do nothing."""
        person = self.person(connection, participant)
        if self.assigned.open_questions(connection, participant):
            return
        if self._due_form(connection, person) is not None:
            raise Refused(409, "there are questions to answer before")
        if person.round and not person.test_run:
            self._check_open(connection, joined=True)
        if person.finished is not None or person.left is not None:
            raise Refused(409, "this participant has finished")
        if person.round >= self._rounds(person):
            raise Refused(409, "there are no more rounds")
        self._put_round(connection, person, person.round + 1)

    # --- ending ----------------------------------------------------------------------------

    def finish(self, connection: Connection, participant: int) -> None:
        """The participant wants no more rounds; refused while a question is open."""
        person = self.person(connection, participant)
        if self.assigned.open_questions(connection, participant):
            raise Refused(409, "this round has unanswered questions")
        if person.left is not None:
            raise Refused(409, "this participant has left")
        needed = self.study.needed
        # the first round may be begun whatever the quota says; those after it may not
        if not person.round or (person.round < needed and self._more(connection, person)):
            rounds = "1 round" if needed == 1 else f"{needed:,} rounds"
            raise Refused(409, f"this study requires {rounds}")
        if self._waits(connection, person):
            raise Refused(409, "this study is paused; come back later")
        self._end(connection, person)

    def leave(self, connection: Connection, participant: int) -> Screen:
        """Leave before the end; the answers stay. What the page shows then.

        Whoever has done what is needed gets the code all the same.
        """
        person = self.person(connection, participant)
        if person.finished is not None:
            raise Refused(409, "this participant has finished")
        self._leave(connection, participant)
        if self._earned(connection, person):
            self._note_code(connection, person)
        return self.screen(connection, participant)

    def last_screen(self, connection: Connection, participant: int) -> Done:
        """What somebody sees who leaves and has everything erased: to be asked for before."""
        person = self.person(connection, participant)
        if person.finished is not None:
            raise Refused(409, "this participant has finished")
        if self._earned(connection, person):
            self._note_code(connection, person)
        found = self._done(connection, person)
        return replace(found, receipt=None, answers=0, left=True, erased=True, short=None)

    def _leave(self, connection: Connection, participant: int) -> None:
        change = update(participants).where(
            participants.c.id == participant, participants.c.left.is_(None)
        )
        connection.execute(change.values(left=time.time()))

    def _end_round(self, connection: Connection, participant: int) -> None:
        """At the end of a round: whoever cannot begin another one has finished."""
        if self.assigned.open_questions(connection, participant):
            return
        person = self.person(connection, participant)
        over = person.finished is None and not self._more(connection, person)
        if over and not self._waits(connection, person):
            self._end(connection, person)

    def _end(self, connection: Connection, person: Person) -> None:
        """No more rounds: whoever is asked nothing after them has finished."""
        if not self.study.settings.after or self._has_form(connection, person.id, "after"):
            self._finish(connection, person.id)
            return
        change = update(participants).where(
            participants.c.id == person.id, participants.c.enough.is_(None)
        )
        connection.execute(change.values(enough=time.time()))

    def _finish(self, connection: Connection, participant: int) -> None:
        """Note that a participant has finished, and which code the page gives them."""
        change = update(participants).where(
            participants.c.id == participant, participants.c.finished.is_(None)
        )
        connection.execute(change.values(finished=time.time()))
        person = self.person(connection, participant)
        if self._earned(connection, person):
            self._note_code(connection, person)

    def _note_code(self, connection: Connection, person: Person) -> None:
        put(connection, codes, {"participant": person.id, "code": self.study.completion.code})
        if not person.test_run:
            put(connection, paid, {"rater": person.rater})

    def _earned(self, connection: Connection, person: Person) -> bool:
        """Whether a participant has done what the code is for.

        The rounds that are needed, or all that there were, and the study's share of their
        questions answered.
        """
        begun = bool(self.assigned.open_questions(connection, person.id))
        done = person.round - begun
        finished = person.finished is not None and person.left is None
        if done < self.study.needed and not finished:
            return False
        asked, answered, _ = self._work(connection, person, done)
        return answered > 0 and answered >= self.study.completion.share * asked

    def _too_short(self, connection: Connection, person: Person) -> bool:
        """Whether more was skipped than the code allows, however many questions follow."""
        asked, _, skips = self._work(connection, person, person.round)
        planned = max(asked, self.study.needed * self._blocks(person)[0].length)
        return skips > (1 - self.study.completion.share) * planned

    def _work(self, connection: Connection, person: Person, last: int) -> tuple[int, int, int]:
        """The questions of a participant's rounds up to the last: asked, answered, skipped."""
        given = {"participant": person.id, "last": last}
        asked, answered, skips = connection.execute(_WORK, given).one()
        return int(asked), int(answered), int(skips)

    # --- what is shown ---------------------------------------------------------------------

    def screen(
        self, connection: Connection, participant: int, ahead: Sequence[Asked] = ()
    ) -> Screen:
        """What the page shows next.

        Parameters
        ----------
        connection
        participant
        ahead
            The questions that are known to be open.
        """
        questions = ahead or self.assigned.open_questions(connection, participant)
        if questions and questions[0].left is None:
            return self._asking(connection, questions)
        person = self.person(connection, participant)
        form = self._due_form(connection, person)
        if form is not None:
            items = [item.shown(person.language) for item in self.study.form(form)]
            return FormDue(form, items, bool(person.test_run))
        over = person.finished is not None or person.left is not None
        if not over and (not person.round or self._more(connection, person)):
            return self._round_done(connection, person)
        if not over and self._waits(connection, person):
            return Paused(person.round, self.count(connection, person.id))
        return self._done(connection, person)

    def _round_done(self, connection: Connection, person: Person) -> RoundDone:
        blocks = self._blocks(person)
        part, parts = _part(blocks, person.round)
        ends = part is not None and person.round and part != _part(blocks, person.round + 1)[0]
        return RoundDone(
            round=person.round,
            rounds=self._rounds(person),
            answers=self.count(connection, person.id),
            may_finish=person.round >= self.study.needed,
            part=part,
            parts=parts,
            practice=None if person.round else True,
            part_done=True if ends else None,
        )

    def _done(self, connection: Connection, person: Person) -> Done:
        """The end, with the code if it is earned."""
        earned = self._earned(connection, person)
        short = not earned and self._too_short(connection, person)
        text = self.study.settings.debriefing
        return Done(
            completion=self._completion(connection, person) if earned else Completion(),
            receipt=person.receipt,
            answers=self.count(connection, person.id),
            left=None if person.left is None else True,
            short=True if short else None,
            debriefing=None if text is None else to_html(text[person.language]),
        )

    def _completion(self, connection: Connection, person: Person) -> Completion:
        """The code, and the way back to where the participant came from."""
        given = self.study.completion
        url = given.way_back
        if url is not None:
            theirs = select(platform_ids.c.platform_id).where(
                platform_ids.c.participant == person.id
            )
            known = connection.execute(theirs).scalar() or ""
            url = url.replace("{code}", quote(given.code or "", safe=""))
            url = url.replace("{platform_id}", quote(known, safe=""))
        return Completion(given.code, url)

    def _due_form(self, connection: Connection, person: Person) -> str | None:
        """The form that a participant has to fill in now, where no question is open."""
        if person.left is not None or person.finished is not None:
            return None
        if self.study.settings.before and not person.round:
            practising = select(assignments.c.id).where(assignments.c.participant == person.id)
            begun = connection.execute(practising.limit(1)).first() is not None
            return None if begun else "before"
        done = person.enough is not None or (
            person.round > 0
            and not self._more(connection, person)
            and not self._waits(connection, person)
        )
        return "after" if self.study.settings.after and done else None

    def _has_form(self, connection: Connection, participant: int, form: str) -> bool:
        query = select(forms.c.form).where(forms.c.participant == participant, forms.c.form == form)
        return connection.execute(query).first() is not None

    def count(self, connection: Connection, participant: int) -> int:
        """How many answers of the participant are stored, without practice."""
        return int(connection.execute(_COUNT, {"participant": participant}).scalar_one())

    def _more(self, connection: Connection, person: Person) -> bool:
        more = person.round < self._rounds(person) and person.enough is None
        return bool(more and (person.test_run or self.state(connection, joined=True) == "open"))

    def _waits(self, connection: Connection, person: Person) -> bool:
        """Whether a pause keeps the participant from the rounds that are needed."""
        lacking = person.round < min(self.study.needed, self._rounds(person))
        begun = person.round and person.enough is None and not person.test_run
        return bool(lacking and begun and may_go_on(connection))

    def _blocks(self, person: Person | Asked) -> tuple[Block, ...]:
        return self.study.blocks(person.condition, person.seed)

    def _rounds(self, person: Person) -> int:
        return sum(block.rounds for block in self._blocks(person))

    def _asking(self, connection: Connection, questions: Sequence[Asked]) -> Asking:
        question = questions[0]
        blocks = self._blocks(question)
        language = question.language
        design = self.assigned.designs[question.design]
        by_name, names = self.study.by_name, self.assigned.names
        shown = [names[i] for i in question.shown]
        ahead = {
            f"media/{key}": None
            for later in questions[1:]
            if later.model != 0  # else another question may come in its place
            for i in later.shown
            if (key := by_name[names[i]].key)
        }
        part, parts = _part(blocks, question.round)
        return Asking(
            token=question.token,
            kind=design.kind,
            objects=shown,
            choose=design.choose,
            question=design.asked(language) or self.study.first.question[language],
            round=question.round,
            number=question.number,
            of=question.of,
            rounds=sum(block.rounds for block in blocks),
            stimuli=[by_name[name].shown(language) for name in shown],
            prefetch=list(ahead),
            part=part,
            parts=parts,
            anchor=shown[0] if design.kind == "closer" else None,
            practice=None if question.round else True,
            test_run=True if question.test_run else None,
            instructions=_instructions(question, blocks),
            failed_code=self._failed_code(connection, question),
        )

    def _failed_code(self, connection: Connection, question: Asked) -> str | None:
        """Not before it is earned: whoever reads the page's source finds no code there."""
        code = self.study.completion.failed
        if code is None or not question.round or question.number <= question.of / 2:
            return None
        return code if self.count(connection, question.participant) >= question.of // 2 else None


def _new_receipt() -> str:
    return "-".join("".join(secrets.choice(CLEAR) for _ in range(4)) for _ in range(4))


def _part(blocks: tuple[Block, ...], round: int) -> tuple[int | None, int | None]:
    """Which part of the study a round is in, of how many; nothing where there is one."""
    found = at_round(blocks, max(round, 1))
    if found is None or len(blocks) == 1:
        return None, None
    return found[0] + 1, len(blocks)


def _instructions(question: Asked, blocks: tuple[Block, ...]) -> str | None:
    """What stands before the first question of a block, or before the practice for it."""
    found = at_round(blocks, max(question.round, 1))
    if question.number != 1 or found is None or found[1] != 1:
        return None
    block = blocks[found[0]]
    first = not question.round or bool(found[0]) or not block.practice
    if block.instructions is None or not first:
        return None
    return to_html(block.instructions[question.language])
