"""Participants: how they join, what they see next, and how they end."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote

from sqlalchemy import Row, bindparam, case, func, insert, select, update
from sqlalchemy.engine import Connection

from trilens_survey.forms import Refusal, check_form
from trilens_survey.markdown import to_html
from trilens_survey.schema import (
    answers,
    assignments,
    forms,
    paid,
    participants,
    platform_ids,
)
from trilens_survey.store.administration import (
    by_receipt,
    erase,
    lock,
    may_go_on,
    put,
    state_of,
)
from trilens_survey.store.assignments import Assignments
from trilens_survey.store.rows import SKIPPED, shown_in
from trilens_survey.study import Block, Study, at_round
from trilens_survey.writer import Refused

#: Letters and digits that nobody takes for one another.
CLEAR = "ABCDEFGHJKMNPQRSTVWXYZ23456789"

#: The questions of a participant's rounds: all, those answered, and those skipped.
_WORK = (
    select(
        func.count(),
        func.count(answers.c.assignment),
        func.coalesce(func.sum(case((SKIPPED, 1), else_=0)), 0),
    )
    .select_from(assignments.outerjoin(answers))
    .where(
        assignments.c.participant == bindparam("participant"),
        assignments.c.round.between(1, bindparam("last")),
    )
)


#: What the page shows, as JSON; what does not apply is left out.
Screen: TypeAlias = dict[str, Any]


def _screen(**facts: Any) -> Screen:
    return {name: value for name, value in facts.items() if value is not None}


@dataclass(frozen=True)
class Participants:
    """The participants of a study, and the questions that are put to them."""

    study: Study
    assigned: Assignments

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
        elif self.study.settings.quota.participants is not None:
            lock(connection, "places")
        if platform_id is None:
            rater = self.rater(secrets.token_hex(16))
        else:
            rater = self.rater(f"platform {platform_id}")
            lock(connection, rater)
            again = self._join_again(connection, rater, language)
            if again is not None:
                return again
        if not test_run:
            self._check_open(connection)
        receipt = _new_receipt()
        row = {
            "receipt": receipt,
            "rater": rater,
            "seed": secrets.randbits(62),
            "language": language,
            "consent_version": self.study.settings.consent.version,
            "joined": time.time(),
            "round": 0,
            "condition": self._condition(connection),
            "test_run": int(test_run),
        }
        connection.execute(insert(participants), row)
        person = self.person(connection, receipt)
        if platform_id is not None:
            new = {"participant": person.id, "platform_id": platform_id}
            connection.execute(insert(platform_ids), new)
        if not self.study.settings.before:
            self._begin(connection, person)
        return receipt

    def _join_again(self, connection: Connection, rater: str, language: str) -> str | None:
        """A new receipt for one who has not come back since they joined.

        Refused are those who have, or who were given a code and have been erased since.
        """
        theirs = select(participants).where(participants.c.rater == rater)
        person = connection.execute(theirs).first()
        if person is not None and person.seen is None and person.left is None:
            receipt = _new_receipt()
            self._change(connection, person, receipt=receipt, language=language)
            return receipt
        given = select(paid.c.rater).where(paid.c.rater == rater)
        if person is not None or connection.execute(given).first() is not None:
            raise Refused(
                409,
                "this id has already been used; to go on, use the browser in which you began, "
                "or enter your receipt",
                code="in_use",
            )
        return None

    def see(self, connection: Connection, receipt: str) -> None:
        """The participant has come back with their receipt."""
        self._change(connection, self.person(connection, receipt), seen=time.time())

    def resume(self, connection: Connection, receipt: str, platform_id: str | None) -> str:
        """The receipt, as it is stored, of one who goes on in another browser."""
        person = by_receipt(connection, receipt)
        if person is None or not self._is(person, platform_id):
            raise Refused(404, "no participant has this receipt")
        return str(person.receipt)

    def goes_on(
        self, connection: Connection, receipt: str, platform_id: str | None, *, test_run: bool
    ) -> bool:
        """Whether somebody comes back in the same browser before the end.

        Another person there, whom the platform calls otherwise, begins anew. One whom the platform
        calls the same is shown the end.
        """
        person = by_receipt(connection, receipt)
        if person is None or bool(person.test_run) != test_run or not self._is(person, platform_id):
            return False
        return platform_id is not None or "done" not in self.screen(connection, receipt)

    def _is(self, person: Row[Any], platform_id: str | None) -> bool:
        """Whether the platform calls the participant so, or says nothing."""
        return platform_id is None or self.rater(f"platform {platform_id}") == person.rater

    def person(self, connection: Connection, receipt: str) -> Row[Any]:
        """The participant; erased ones are strangers."""
        person = by_receipt(connection, receipt)
        if person is None:
            raise Refused(401, "unknown participant; join first")
        return person

    def _change(self, connection: Connection, person: Row[Any], **values: Any) -> None:
        change = update(participants).where(participants.c.id == person.id)
        connection.execute(change.values(values))

    def rater(self, person: str) -> str:
        """A name for exports, from which nobody without the key gets back to the person."""
        return self._code(f"rater {person}")[:12]

    def test_link(self) -> str:
        """What the address of a test run has after ``?test=``; without the key nobody makes one."""
        return self._code("test link")[:24]

    def _code(self, of: str) -> str:
        digest = hmac.new(self.key, of.encode(), hashlib.sha256).digest()
        return base64.b32encode(digest).decode().lower()

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
        if state_of(connection, self.study, joined=joined) != "open":
            raise Refused(403, "this study is closed")

    # --- going on --------------------------------------------------------------------------

    def _begin(self, connection: Connection, person: Row[Any]) -> None:
        """Put the practice questions; if there are none, the first round."""
        first = self._blocks(person)[0]
        if first.practice:
            self.assigned.put_practice(connection, person, first)
        else:
            self._put_round(connection, person, 1)

    def _put_round(self, connection: Connection, person: Row[Any], round: int) -> None:
        """Put the questions of a round; if there are none left, all is over."""
        if not self.assigned.put_round(connection, person, round):
            self._end(connection, person)

    def fill_form(
        self, connection: Connection, receipt: str, form: str, given: dict[str, Any]
    ) -> dict[str, Refusal]:
        """Store the answers to the questions before or after the rounds, once.

        What is wrong, by name; then nothing is stored.
        """
        person = self.person(connection, receipt)
        if self._has_form(connection, person, form):
            return {}
        if self._open(connection, person) or self._due_form(connection, person) != form:
            raise Refused(409, "these questions are not asked now")
        values, wrong = check_form(self.study.form(form), given)
        if wrong:
            return wrong
        row = {"participant": person.id, "form": form, "stored": time.time()}
        connection.execute(insert(forms), row | {"content": json.dumps(values, ensure_ascii=False)})
        if form == "before":
            self._begin(connection, person)
        else:
            self._finish(connection, person)
        return {}

    def answer(
        self,
        connection: Connection,
        receipt: str,
        token: str,
        chosen: str | list[str],
        seconds: float,
        *,
        then_next: bool = False,
    ) -> dict[str, Any]:
        """Store an answer once; the same again changes nothing, another is refused.

        What the page is told: the feedback to a practice question, and perhaps what comes next.
        """
        question, *ahead = self._asked_of(connection, receipt, token)
        first = self.assigned.answer(connection, question, ahead, chosen, seconds)
        if question.chosen is None and question.number == question.of and question.round:
            self._end_round(connection, receipt)
        said: dict[str, Any] = {"stored": True}
        if question.reason == "practice":
            said |= _screen(feedback=self._feedback(question, first))
        if then_next:
            said["next"] = self.screen(connection, receipt, ahead)
        return said

    def skip(
        self, connection: Connection, receipt: str, token: str, missing: Collection[str]
    ) -> None:
        """Leave out a question of which a picture or sound does not come.

        Whoever cannot get the code any more, because too much was left out, is asked no more.
        """
        question = self._asked_of(connection, receipt, token)[0]
        if not self.assigned.skip(connection, question, missing):
            return
        person = self.person(connection, receipt)
        if self._too_short(connection, person):
            self._change(connection, person, left=time.time())
        else:
            self._end_round(connection, receipt)

    def _asked_of(self, connection: Connection, receipt: str, token: str) -> Sequence[Row[Any]]:
        """The question with a token, and those after it that are open.

        Refused where it is not one of the participant with this receipt.
        """
        asked = self.assigned.by_token(connection, token)
        if asked and asked[0].receipt == receipt:
            return asked
        self.person(connection, receipt)
        if not asked:
            raise Refused(404, "there is no such question")
        raise Refused(403, "this question belongs to another participant")

    def _feedback(self, question: Row[Any], chosen: int) -> dict[str, Any] | None:
        """What the page says after a practice question, if it is still part of the study."""
        practice = self._blocks(question)[0].practice
        names = self.assigned.names
        for one in practice[question.place : question.place + 1]:
            if set(one.objects) == {names[i] for i in shown_in(question)}:
                return {
                    "right": chosen == question.expected,
                    "answer": names[question.expected],
                    "why": to_html(one.why[question.language]),
                }
        return None

    def begin_round(self, connection: Connection, receipt: str) -> None:
        """Begin the next round, if the present one is done; while one is open, do nothing."""
        person = self.person(connection, receipt)
        if self._open(connection, person):
            return
        if self._due_form(connection, person) is not None:
            raise Refused(409, "there are questions to answer before")
        if person.round and not person.test_run:
            self._check_open(connection, joined=True)
        if _is_over(person):
            raise Refused(409, "this participant has finished")
        if person.round >= self._rounds(person):
            raise Refused(409, "there are no more rounds")
        self._put_round(connection, person, person.round + 1)

    # --- ending ----------------------------------------------------------------------------

    def finish(self, connection: Connection, receipt: str) -> None:
        """The participant wants no more rounds; refused while a question is open."""
        person = self.person(connection, receipt)
        if self._open(connection, person):
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

    def leave(self, connection: Connection, receipt: str, *, keep: bool) -> Screen:
        """Leave before the end; what the page shows then. The answers stay, or are erased.

        Whoever has done what is needed gets the code all the same.
        """
        person = self.person(connection, receipt)
        if person.finished is not None:
            raise Refused(409, "this participant has finished")
        if person.left is None:
            self._change(connection, person, left=time.time())
        self._note_code(connection, person)
        shown = self.screen(connection, receipt)
        if keep:
            return shown
        erase(connection, receipt)
        shown.pop("short", None)
        return shown | {"receipt": None, "answers": 0, "erased": True}

    def _end_round(self, connection: Connection, receipt: str) -> None:
        """At the end of a round: whoever cannot begin another one has finished."""
        person = self.person(connection, receipt)
        if self._open(connection, person) or person.finished is not None:
            return
        if not self._more(connection, person) and not self._waits(connection, person):
            self._end(connection, person)

    def _end(self, connection: Connection, person: Row[Any]) -> None:
        """No more rounds: whoever is asked nothing after them has finished."""
        if not self.study.settings.after or self._has_form(connection, person, "after"):
            self._finish(connection, person)
        elif person.enough is None:
            self._change(connection, person, enough=time.time())

    def _finish(self, connection: Connection, person: Row[Any]) -> None:
        """Note that a participant has finished, and which code the page gives them."""
        if person.finished is None:
            self._change(connection, person, finished=time.time())
        self._note_code(connection, self.person(connection, person.receipt))

    def _note_code(self, connection: Connection, person: Row[Any]) -> None:
        """Note that a participant is given the code, if they have earned it."""
        if not self._earned(connection, person):
            return
        theirs = platform_ids.c.participant == person.id
        given = update(platform_ids).where(theirs).values(code=self.study.settings.completion.code)
        connection.execute(given)
        if not person.test_run:
            put(connection, paid, {"rater": person.rater})

    def _earned(self, connection: Connection, person: Row[Any]) -> bool:
        """Whether a participant has done what the code is for.

        The rounds that are needed, or all that there were, and the study's share of their
        questions answered.
        """
        done = person.round - bool(self._open(connection, person))
        finished = person.finished is not None and person.left is None
        if done < self.study.needed and not finished:
            return False
        asked, answered, _ = self._work(connection, person.id, done)
        return answered > 0 and answered >= self.study.settings.completion.share * asked

    def _too_short(self, connection: Connection, person: Row[Any]) -> bool:
        """Whether more was skipped than the code allows, however many questions follow."""
        asked, _, skips = self._work(connection, person.id, person.round)
        planned = max(asked, self.study.needed * self._blocks(person)[0].length)
        return skips > (1 - self.study.settings.completion.share) * planned

    def _work(self, connection: Connection, participant: int, last: int) -> tuple[int, int, int]:
        """The questions of a participant's rounds up to the last: asked, answered, skipped."""
        given = {"participant": participant, "last": last}
        asked, answered, skips = connection.execute(_WORK, given).one()
        return int(asked), int(answered), int(skips)

    # --- what is shown ---------------------------------------------------------------------

    def screen(
        self, connection: Connection, receipt: str, ahead: Sequence[Row[Any]] = ()
    ) -> Screen:
        """What the page shows next; ``ahead`` are the questions that are known to be open.

        A question, a form, the end of a round, a pause, or the end of all.
        """
        person = None if ahead else self.person(connection, receipt)
        questions = self._open(connection, person) if person else ahead
        if questions and questions[0].left is None:
            return self._asking(connection, questions)
        person = person or self.person(connection, receipt)
        form = self._due_form(connection, person)
        if form is not None:
            items = [item.shown(person.language) for item in self.study.form(form)]
            return _screen(form=form, items=items, test_run=bool(person.test_run))
        over = _is_over(person)
        if not over and (not person.round or self._more(connection, person)):
            return self._round_done(connection, person)
        if not over and self._waits(connection, person):
            _, answers, _ = self._work(connection, person.id, person.round)
            return _screen(paused=True, round=person.round, answers=answers)
        return self._done(connection, person)

    def _round_done(self, connection: Connection, person: Row[Any]) -> Screen:
        """A round, or the practice before the first, is over; and perhaps a part with it."""
        blocks = self._blocks(person)
        part, parts = _part(blocks, person.round)
        _, answers, _ = self._work(connection, person.id, person.round)
        ends = part is not None and person.round and part != _part(blocks, person.round + 1)[0]
        return _screen(
            round_done=True,
            round=person.round,
            rounds=self._rounds(person),
            answers=answers,
            may_finish=person.round >= self.study.needed,
            part=part,
            parts=parts,
            practice=not person.round or None,
            part_done=True if ends else None,
        )

    def _done(self, connection: Connection, person: Row[Any]) -> Screen:
        """The end, with the code if it is earned; ``short`` if too much was skipped for it."""
        earned = self._earned(connection, person)
        _, answers, _ = self._work(connection, person.id, person.round)
        text = self.study.settings.debriefing
        return _screen(
            done=True,
            completion=self._completion(connection, person if earned else None),
            receipt=person.receipt,
            answers=answers,
            left=person.left is not None or None,
            short=(not earned and self._too_short(connection, person)) or None,
            debriefing=None if text is None else to_html(text[person.language]),
        )

    def _completion(self, connection: Connection, person: Row[Any] | None) -> dict[str, Any]:
        """The code, and the way back to where the participant came from; nothing for nobody."""
        if person is None:
            return {"code": None, "url": None}
        given = self.study.settings.completion
        url = given.way_back
        if url is not None:
            theirs = platform_ids.c.participant == person.id
            known = connection.execute(select(platform_ids.c.platform_id).where(theirs)).scalar()
            url = url.replace("{code}", quote(given.code or "", safe=""))
            url = url.replace("{platform_id}", quote(known or "", safe=""))
        return {"code": given.code, "url": url}

    def _due_form(self, connection: Connection, person: Row[Any]) -> str | None:
        """The form that a participant has to fill in now, where no question is open."""
        if _is_over(person):
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

    def _has_form(self, connection: Connection, person: Row[Any], form: str) -> bool:
        query = select(forms.c.form).where(forms.c.participant == person.id, forms.c.form == form)
        return connection.execute(query).first() is not None

    def _open(self, connection: Connection, person: Row[Any]) -> Sequence[Row[Any]]:
        return self.assigned.open_questions(connection, person.id)

    def _more(self, connection: Connection, person: Row[Any]) -> bool:
        more = person.round < self._rounds(person) and person.enough is None
        if not more or person.test_run:
            return more
        return state_of(connection, self.study, joined=True) == "open"

    def _waits(self, connection: Connection, person: Row[Any]) -> bool:
        """Whether a pause keeps the participant from the rounds that are needed."""
        lacking = person.round < min(self.study.needed, self._rounds(person))
        begun = person.round and person.enough is None and not person.test_run
        return bool(lacking and begun and may_go_on(connection))

    def _blocks(self, person: Row[Any]) -> tuple[Block, ...]:
        return self.study.blocks(person.condition, person.seed)

    def _rounds(self, person: Row[Any]) -> int:
        return sum(block.most for block in self._blocks(person))

    def _asking(self, connection: Connection, questions: Sequence[Row[Any]]) -> Screen:
        """A question; ``prefetch`` are the addresses of what the next ones show."""
        question = questions[0]
        blocks = self._blocks(question)
        language = question.language
        design = self.assigned.designs[question.design]
        by_name, names = self.study.by_name, self.assigned.names
        shown = [names[i] for i in shown_in(question)]
        ahead = {
            f"media/{key}": None
            for later in questions[1:]
            if later.model != 0  # else another question may come in its place
            for i in shown_in(later)
            if (key := by_name[names[i]].key)
        }
        part, parts = _part(blocks, question.round)
        return _screen(
            token=question.token,
            kind=design.kind,
            objects=shown,
            choose=design.choose,
            question=design.question.get(language) or self.study.first.question[language],
            round=question.round,
            number=question.number,
            of=question.of,
            rounds=self._rounds(question),
            stimuli=[by_name[name].shown(language) for name in shown],
            prefetch=list(ahead),
            part=part,
            parts=parts,
            anchor=shown[0] if design.kind == "closer" else None,
            practice=not question.round or None,
            test_run=bool(question.test_run) or None,
            instructions=_instructions(question, blocks),
            failed_code=self._failed_code(connection, question),
        )

    def _failed_code(self, connection: Connection, question: Row[Any]) -> str | None:
        """Not before it is earned: whoever reads the page's source finds no code there."""
        code = self.study.settings.completion.failed
        if code is None or not question.round or question.number <= question.of / 2:
            return None
        _, answered, _ = self._work(connection, question.participant, question.round)
        return code if answered >= question.of // 2 else None


def _is_over(person: Row[Any]) -> bool:
    return person.finished is not None or person.left is not None


def _new_receipt() -> str:
    return "-".join("".join(secrets.choice(CLEAR) for _ in range(4)) for _ in range(4))


def _part(blocks: tuple[Block, ...], round: int) -> tuple[int | None, int | None]:
    """Which part of the study a round is in, of how many; nothing where there is one."""
    found = at_round(blocks, max(round, 1))
    if found is None or len(blocks) == 1:
        return None, None
    return found[0] + 1, len(blocks)


def _instructions(question: Row[Any], blocks: tuple[Block, ...]) -> str | None:
    """What stands before the first question of a block, or before the practice for it."""
    found = at_round(blocks, max(question.round, 1))
    if question.number != 1 or found is None or found[1] != 1:
        return None
    block = blocks[found[0]]
    first = not question.round or bool(found[0]) or not block.practice
    if block.instructions is None or not first:
        return None
    return to_html(block.instructions[question.language])
