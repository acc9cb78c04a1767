"""What is written and read about participants, questions and answers.

Every function takes a connection inside a transaction, and none commits: those that write are
handed to the `trilens.survey.writer.Writer`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from sqlalchemy import Select, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Row
from sqlalchemy.schema import Table

from trilens.errors import SurveyError
from trilens.statements import Kind
from trilens.survey.questions import Question, Sampler
from trilens.survey.schema import (
    answers,
    assignments,
    deeds,
    designs,
    erasures,
    objects,
    participants,
    payments,
    platform_ids,
    settings,
    skipped,
)
from trilens.survey.shuffle import rank
from trilens.survey.study import Study
from trilens.survey.writer import Refused

#: Whether participants can join; ``full`` where the quota is reached.
State: TypeAlias = Literal["open", "paused", "full"]

_SKIPPED = select(skipped.c.assignment).where(skipped.c.assignment == assignments.c.id).exists()
#: The questions that a participant has not answered in the present round, the next first.
_OPEN: Select[Any] = (
    select(
        assignments.c.token,
        assignments.c.round,
        assignments.c.number,
        assignments.c.of,
        assignments.c.a,
        assignments.c.b,
        assignments.c.c,
        participants.c.language,
    )
    .select_from(
        participants.join(assignments, assignments.c.participant == participants.c.id).outerjoin(
            answers, answers.c.assignment == assignments.c.id
        )
    )
    .where(
        participants.c.id == bindparam("participant"),
        assignments.c.round == participants.c.round,
        answers.c.assignment.is_(None),
        ~_SKIPPED,
    )
    .order_by(assignments.c.number)
    .limit(3)
)
_PARTICIPANT: Select[Any] = select(participants).where(participants.c.id == bindparam("id"))
_ASSIGNMENT: Select[Any] = (
    select(
        assignments.c.id,
        assignments.c.participant,
        assignments.c.number,
        assignments.c.of,
        assignments.c.a,
        assignments.c.b,
        assignments.c.c,
        answers.c.chosen,
    )
    .select_from(assignments.outerjoin(answers, answers.c.assignment == assignments.c.id))
    .where(assignments.c.token == bindparam("token"))
)
_ANSWER = insert(answers)

#: Letters and digits that nobody takes for one another.
_CLEAR = "ABCDEFGHJKMNPQRSTVWXYZ23456789"


@dataclass(frozen=True)
class Store:
    """A study and the numbers that its objects have in the database.

    Attributes
    ----------
    design
        The row of the present design.
    ids
        The number of each object, in the study's order.
    """

    study: Study
    design: int
    ids: tuple[int, ...]
    names: dict[int, str]
    key: bytes
    sampler: Sampler

    @classmethod
    def open(cls, connection: Connection, study: Study) -> Store:
        """Enter the study's objects and its design.

        A study that lost an object, or that asks another kind of question than the one which has
        been answered, is refused.
        """
        other = changed_kind(connection, study.kind)
        if other is not None:
            raise SurveyError(other)
        known = _object_ids(connection)
        gone = [name for name in known if name not in study.by_name]
        if gone:
            raise SurveyError(
                f"the object {gone[0]!r} was part of this study and is missing now "
                f"({len(gone)} missing); put it back, or start a new study in another folder"
            )
        new = [name for name in study.names if name not in known]
        if new:
            connection.execute(insert(objects), [{"name": name} for name in new])
            known = _object_ids(connection)
        content = study.design.to_json()
        query = select(designs.c.id).where(designs.c.content == content)
        design = connection.execute(query).scalar()
        if design is None:
            row = {"made": time.time(), "content": content}
            design = connection.execute(insert(designs), row).inserted_primary_key[0]  # type: ignore[index]
        key = get_setting(connection, "key")
        if key is None:
            # only ever inserted: of two processes that start at once, the second takes the first's
            key = secrets.token_hex(32)
            connection.execute(insert(settings), {"name": "key", "value": key})
        ids = tuple(known[name] for name in study.names)
        names = {number: name for name, number in known.items()}
        return cls(study, int(design), ids, names, bytes.fromhex(key), Sampler(study.design))

    # --- writing ---------------------------------------------------------------------------

    def join(self, connection: Connection, platform_id: str | None, language: str) -> Joined:
        """Enter a participant who consented, with the first round.

        Somebody whom the platform has sent before goes on, on whatever device.
        """
        if self.study.quota.participants is not None:
            take_turns(connection, "places")
        if platform_id is not None:
            rater = self.rater(f"platform {platform_id}")
            take_turns(connection, rater)
            same = select(participants).where(participants.c.rater == rater)
            known = connection.execute(same.order_by(participants.c.id).limit(1)).one_or_none()
            if known is not None:
                return Joined(int(known.id), str(known.receipt), new=False)
        self._check_open(connection)
        receipt = "-".join("".join(secrets.choice(_CLEAR) for _ in range(4)) for _ in range(4))
        person = secrets.token_hex(16) if platform_id is None else f"platform {platform_id}"
        seed = secrets.randbits(62)
        row = {
            "receipt": receipt,
            "rater": self.rater(person),
            "seed": seed,
            "language": language,
            "consent_version": self.study.consent_version,
            "joined": time.time(),
            "round": 1,
        }
        number = connection.execute(insert(participants), row).inserted_primary_key[0]  # type: ignore[index]
        if platform_id is not None:
            connection.execute(
                insert(platform_ids), {"participant": number, "platform_id": platform_id}
            )
        self._fill(connection, number, seed, 1)
        return Joined(int(number), receipt)

    def rater(self, person: str) -> str:
        """A name for exports, from which nobody without the key gets back to the person."""
        digest = hmac.new(self.key, b"rater " + person.encode(), hashlib.sha256).digest()
        return base64.b32encode(digest)[:12].decode().lower()

    def answer(
        self, connection: Connection, participant: int, token: str, chosen: str, seconds: float
    ) -> bool:
        """Store an answer once; the same again changes nothing, another is refused.

        Tells whether it was new.
        """
        row = connection.execute(_ASSIGNMENT, {"token": token}).one_or_none()
        if row is None:
            raise Refused(404, "there is no such question")
        if row.participant != participant:
            raise Refused(403, "this question belongs to another participant")
        shown = (row.b, row.c) if self.study.kind == "closer" else (row.a, row.b, row.c)
        number = next((i for i in shown if self.names.get(i) == chosen), None)
        if number is None:
            raise Refused(422, "the chosen object was not one of the choices")
        if row.chosen is None:
            new = {
                "assignment": row.id,
                "chosen": number,
                "seconds": seconds,
                "stored": time.time(),
            }
            connection.execute(_ANSWER, new)
            if row.number == row.of:
                self._end_round(connection, participant)
        elif row.chosen != number:
            raise Refused(409, "this question already has a different answer")
        return row.chosen is None

    def skip(
        self, connection: Connection, participant: int, token: str, missing: Collection[str]
    ) -> None:
        """Leave out a question of which a picture or sound does not come, and note which one.

        A question that has an answer keeps it.
        """
        row = connection.execute(_ASSIGNMENT, {"token": token}).one_or_none()
        if row is None:
            raise Refused(404, "there is no such question")
        if row.participant != participant:
            raise Refused(403, "this question belongs to another participant")
        lost = [i for i, name in self.names.items() if name in missing]
        if not lost or not all(self.study.by_name[self.names[i]].file for i in lost):
            raise Refused(422, "only a question with a missing picture or sound can be left out")
        noted = select(skipped).where(skipped.c.assignment == row.id)
        if row.chosen is None and connection.execute(noted).first() is None:
            now = time.time()
            rows = [{"assignment": row.id, "object": i, "stored": now} for i in lost]
            connection.execute(insert(skipped), rows)

    def begin_round(self, connection: Connection, participant: int) -> None:
        """Begin the next round, if the present one is done; while one is open, do nothing."""
        person = self.person(connection, participant)
        if self._open(connection, participant):
            return
        self._check_open(connection, joined=True)
        if person.finished is not None:
            raise Refused(409, "this participant has finished")
        if person.round >= self.study.most:
            raise Refused(409, "there are no more rounds")
        change = update(participants).where(
            participants.c.id == participant, participants.c.round == person.round
        )
        connection.execute(change.values(round=person.round + 1))
        self._fill(connection, participant, person.seed, person.round + 1)

    def finish(self, connection: Connection, participant: int) -> None:
        """The participant wants no more rounds; refused while a question is open."""
        person = self.person(connection, participant)
        if self._open(connection, participant):
            raise Refused(409, "this round has unanswered questions")
        if person.round < self.study.needed and self._more(connection, person):
            raise Refused(409, f"this study requires {self.study.needed} rounds")
        self._finish(connection, participant)

    def _end_round(self, connection: Connection, participant: int) -> None:
        """After the last answer of a round: whoever cannot begin another one has finished."""
        person = self.person(connection, participant)
        if person.finished is None and not self._more(connection, person):
            self._finish(connection, participant)

    def _finish(self, connection: Connection, participant: int) -> None:
        """Note that a participant has finished, and which code the page gives them."""
        put(connection, payments, {"participant": participant, "code": self.study.completion.code})
        change = update(participants).where(
            participants.c.id == participant, participants.c.finished.is_(None)
        )
        connection.execute(change.values(finished=time.time()))

    def _fill(self, connection: Connection, participant: int, seed: int, round: int) -> None:
        """Put the questions of a round to a participant; if there are none, all is over."""
        past = select(
            assignments.c.a,
            assignments.c.b,
            assignments.c.c,
            assignments.c.reason,
            assignments.c.place,
            assignments.c.design,
        ).where(assignments.c.participant == participant)
        rows = connection.execute(past).all()
        at = {number: i for i, number in enumerate(self.ids)}
        asked = frozenset(rank(self.study.kind, (at[row.a], at[row.b], at[row.c])) for row in rows)
        places = [r.place for r in rows if r.reason == "drawn" and r.design == self.design]
        start = max(places, default=-1) + 1
        plan = self.sampler.round(seed, round, asked, start)
        if not plan:
            self._finish(connection, participant)
            return
        new = [self._assignment(question) for question in plan]
        shared = {
            "participant": participant,
            "design": self.design,
            "round": round,
            "of": len(plan),
        }
        connection.execute(
            insert(assignments), [shared | {"number": i} | row for i, row in enumerate(new, 1)]
        )

    def _assignment(self, question: Question) -> dict[str, Any]:
        a, b, c = (self.ids[i] for i in question.objects)
        return {
            "token": secrets.token_urlsafe(16),
            "a": a,
            "b": b,
            "c": c,
            "reason": question.reason,
            "place": question.place,
            "expected": None if question.expected is None else self.ids[question.expected],
        }

    # --- reading ---------------------------------------------------------------------------

    def person(self, connection: Connection, participant: int) -> Row[Any]:
        """The participant's row; erased ones are strangers."""
        row = connection.execute(_PARTICIPANT, {"id": participant}).one_or_none()
        if row is None:
            raise Refused(401, "unknown participant; join first")
        return row

    def going_on(
        self, connection: Connection, participant: int, platform_id: str | None
    ) -> str | None:
        """The receipt of a participant who comes back before the end; else None.

        Another person at the same browser, whom the platform calls otherwise, begins anew.
        """
        row = connection.execute(_PARTICIPANT, {"id": participant}).one_or_none()
        if row is None or "done" in self.question(connection, participant):
            return None
        if platform_id is not None and self.rater(f"platform {platform_id}") != row.rater:
            return None
        return str(row.receipt)

    def question(self, connection: Connection, participant: int) -> dict[str, Any]:
        """What the page shows next: a question, the end of a round, or the end."""
        rows = self._open(connection, participant)
        if rows:
            return self._shown(rows)
        person = self.person(connection, participant)
        if person.finished is None and self._more(connection, person):
            return {
                "round_done": True,
                "round": person.round,
                "rounds": self.study.most,
                "answers": self.count(connection, participant),
                "may_finish": person.round >= self.study.needed,
            }
        return {
            "done": True,
            "completion": self.completion(connection, participant),
            "receipt": person.receipt,
            "answers": self.count(connection, participant),
        }

    def count(self, connection: Connection, participant: int) -> int:
        """How many answers of the participant are stored."""
        query = (
            select(func.count())
            .select_from(answers.join(assignments, answers.c.assignment == assignments.c.id))
            .where(assignments.c.participant == participant)
        )
        return int(connection.execute(query).scalar_one())

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
        more = person.round < self.study.most
        return bool(more and self.state(connection, joined=True) == "open")

    def state(self, connection: Connection, *, joined: bool = False) -> State:
        """Whether somebody can join; or whether one who has ``joined`` can begin a round."""
        if is_paused(connection):
            return "paused"
        quota = self.study.quota
        full = quota.answers is not None and count_answers(connection) >= quota.answers
        if quota.participants is not None and not joined:
            full |= places_taken(connection, quota.hours) >= quota.participants
        return "full" if full else "open"

    def _check_open(self, connection: Connection, *, joined: bool = False) -> None:
        if self.state(connection, joined=joined) != "open":
            raise Refused(403, "this study is closed")

    def _shown(self, rows: list[Row[Any]]) -> dict[str, Any]:
        row = rows[0]
        language = row.language
        names = [self.names[i] for i in (row.a, row.b, row.c)]
        by_name = self.study.by_name
        stimuli = [by_name[name].shown(language) for name in names]
        ahead = {
            stimulus.shown(language).get("url"): None
            for later in rows[1:]
            for i in (later.a, later.b, later.c)
            if (stimulus := by_name[self.names[i]]).key
        }
        shown: dict[str, Any] = {
            "token": row.token,
            "kind": self.study.kind,
            "objects": names,
            "round": row.round,
            "number": row.number,
            "of": row.of,
            "rounds": self.study.most,
            "stimuli": stimuli,
            "prefetch": list(ahead),
        }
        if row.round > 1 or row.number > row.of / 2:
            # not before it is earned: whoever reads the page's source finds no code there
            shown["failed_code"] = self.study.completion.failed
        if self.study.kind == "closer":
            shown["anchor"] = names[0]
        return shown


@dataclass(frozen=True)
class Joined:
    """A participant's number and receipt, and whether they are new."""

    participant: int
    receipt: str
    new: bool = True


def take_turns(connection: Connection, name: str) -> None:
    """Wait until no other transaction is about the same name; SQLite has one writer anyway.

    Whoever looks before they act does so after this: what they see then holds until they commit.
    """
    if connection.dialect.name == "postgresql":
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
        connection.execute(select(func.pg_advisory_xact_lock(number)))


def _object_ids(connection: Connection) -> dict[str, int]:
    return {row.name: row.id for row in connection.execute(select(objects))}


def kind_asked(connection: Connection) -> Kind | None:
    """The kind of the questions that have been answered; None while there is no answer."""
    found = [json.loads(content)["kind"] for _, content in _answered_designs(connection)]
    return found[-1] if found else None


def changed_kind(connection: Connection, now: Kind) -> str | None:
    """What is wrong with a study whose kind is not that of the answers; None if nothing is."""
    asked = kind_asked(connection)
    if asked is None or asked == now:
        return None
    n = count_answers(connection)
    return (
        f"study.yaml says kind: {now}, but {n:,} answers are stored to questions of kind {asked}; "
        f"change it back, or start a new study in another folder"
    )


def changes(connection: Connection, study: Study) -> list[str]:
    """What participants see now and did not see when the last answers were stored."""
    designs_used = _answered_designs(connection)
    if not designs_used:
        return []
    before = json.loads(designs_used[-1][1])
    now = json.loads(study.design.to_json())
    said = []
    if before.get("question", now["question"]) != now["question"]:
        said.append("the wording of the question has changed")
    seen = dict(zip(before["objects"], before.get("stimuli", ()), strict=False))
    shown = dict(zip(now["objects"], now["stimuli"], strict=True))
    other = [name for name, key in seen.items() if shown.get(name, key) != key]
    if other:
        more = f" and {len(other) - 1} more" if len(other) > 1 else ""
        said.append(f"what is shown for {other[0]!r}{more} has changed")
    since = "since answers were stored; the column `design` of the export tells them apart"
    return [f"{text} {since}" for text in said]


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
    value = connection.execute(select(settings.c.value).where(settings.c.name == name)).scalar()
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


def pause(connection: Connection, who: str) -> None:
    """Take no more participants and begin no more rounds; rounds that were begun go on."""
    put_setting(connection, "closed", "yes")
    record(connection, who, "paused the study")


def resume(connection: Connection, who: str) -> None:
    """Take participants again."""
    put_setting(connection, "closed", None)
    record(connection, who, "let the study go on")


def count_answers(connection: Connection) -> int:
    """How many answers are stored."""
    return int(connection.execute(select(func.count()).select_from(answers)).scalar_one())


def places_taken(connection: Connection, hours: int) -> int:
    """Participants who finished, or who joined so recently that they still may."""
    held = or_(
        participants.c.finished.is_not(None), participants.c.joined > time.time() - 3600 * hours
    )
    query = select(func.count()).select_from(participants).where(held)
    return int(connection.execute(query).scalar_one())


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
            _SKIPPED.label("skipped"),
        )
        .select_from(assignments.outerjoin(answers, answers.c.assignment == assignments.c.id))
        .where(assignments.c.participant == number)
        .order_by(assignments.c.round, assignments.c.number)
    )
    platform = select(platform_ids.c.platform_id).where(platform_ids.c.participant == number)
    return {
        "receipt": person.receipt,
        "rater": person.rater,
        "language": person.language,
        "consent_version": person.consent_version,
        "joined": person.joined,
        "finished": person.finished,
        "platform_id": connection.execute(platform).scalar(),
        "questions": [
            {
                "round": row.round,
                "number": row.number,
                "shown": [names[row.a], names[row.b], names[row.c]],
                "chosen": None if row.chosen is None else names[row.chosen],
                "seconds": row.seconds,
                "stored": row.stored,
                "skipped": bool(row.skipped),
            }
            for row in connection.execute(query)
        ],
    }
