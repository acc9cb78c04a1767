"""What a researcher or the server does to a study: settings, pausing, erasing, the log, counts."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Row, Select, bindparam, delete, func, insert, or_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection
from sqlalchemy.schema import Table

from trilens_survey.database import lock_number
from trilens_survey.goal import Goal
from trilens_survey.questions import Design
from trilens_survey.schema import (
    answers,
    assignments,
    designs,
    erasures,
    forms,
    log,
    objects,
    paid,
    participants,
    platform_ids,
    prepared,
    settings,
    skipped,
    visits,
)
from trilens_survey.store.rows import ANSWERED, ASKED, GIVEN, QUESTIONS, chosen_in, shown_in
from trilens_survey.study import Study

#: Who closes a study whose rule is met, in the log.
RULE = "the stopping rule"

#: Whether participants can join; ``full`` where the quota is reached.
State: TypeAlias = Literal["open", "paused", "full"]

_BY_RECEIPT = select(participants).where(participants.c.receipt == bindparam("receipt"))
_SETTING = select(settings.c.value).where(settings.c.name == bindparam("name"))


def lock(connection: Connection, name: str) -> None:
    """Wait until no other transaction is about the same name; SQLite has one writer anyway.

    Whoever looks before they act does so after this: what they see then holds until they commit.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(lock_number(name))))


def object_ids(connection: Connection) -> dict[str, int]:
    return {row.name: row.id for row in connection.execute(select(objects))}


def designs_asked(connection: Connection) -> dict[int, Design]:
    """The designs whose questions have been answered, by their row, the latest last."""
    used = select(assignments.c.design).select_from(ANSWERED).distinct()
    query = select(designs).where(designs.c.id.in_(used)).order_by(designs.c.id)
    return {row.id: Design.from_json(row.content) for row in connection.execute(query)}


def _unknown(connection: Connection, study: Study) -> dict[str, int]:
    """The objects that the study had before and has no more."""
    known = object_ids(connection)
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


def drop_unasked(connection: Connection, study: Study) -> None:
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
    last = {design.of: design for design in designs_asked(connection).values()}
    said = []
    for of, before in last.items():
        now = study.designs.get(of)
        said += [_taken_out(*of)] if now is None else _changed(before, now)
    since = "since answers were stored; the column `design` of the export tells them apart"
    return [f"{text} {since}" for text in dict.fromkeys(said)]


def _taken_out(condition: str, block: str) -> str:
    """That a block or a condition is not there any more."""
    if not condition and not block:
        return "conditions or blocks have been added"
    named = f"block {block!r}" if block else f"condition {condition!r}"
    return f"the {named} has been taken out of the study"


def _changed(before: Design, now: Design) -> list[str]:
    said = []
    if before.question != now.question:
        said.append("the wording of the question has changed")
    shown = dict(zip(now.objects, now.stimuli, strict=True))
    seen = zip(before.objects, before.stimuli, strict=True)
    other = [name for name, key in seen if shown.get(name, key) != key]
    if other:
        more = f" and {len(other) - 1} more" if len(other) > 1 else ""
        said.append(f"what is shown for {other[0]!r}{more} has changed")
    return said


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
    if change:
        connection.execute(new.on_conflict_do_update(index_elements=keys, set_=change))
    else:
        connection.execute(new.on_conflict_do_nothing())


def is_paused(connection: Connection) -> bool:
    """Whether nobody can join or begin a round, by the researcher or by the stopping rule."""
    return get_setting(connection, "closed") is not None


def may_go_on(connection: Connection) -> bool:
    """Whether it is the researcher who paused the study: it is not over as by its rule."""
    return get_setting(connection, "closed") == "yes"


def state_of(connection: Connection, study: Study, *, joined: bool = False) -> State:
    """Whether somebody can join; or whether one who has ``joined`` can begin a round."""
    if is_paused(connection):
        return "paused"
    quota = study.settings.quota
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
    """Why a rule closed the study, and the terms of the rule: see `Goal.stop_terms`."""

    why: str
    terms: dict[str, Any]


def stopped_by(connection: Connection) -> Stopped | None:
    """The rule that closed the study last; None if none did."""
    stored = get_setting(connection, "stopped")
    return None if stored is None else Stopped(**json.loads(stored))


def stop_study(connection: Connection, goal: Goal, why: str) -> None:
    """Close the study because its rule is met.

    It does so once: whoever lets the study go on is heeded, until they change the rule.
    """
    lock(connection, "stopped")
    if not goal.closes or is_paused(connection):
        return
    before = stopped_by(connection)
    if before is not None and before.terms == goal.stop_terms:
        return
    put_setting(connection, "stopped", json.dumps({"why": why, "terms": goal.stop_terms}))
    put_setting(connection, "closed", "rule")
    record(connection, RULE, f"closed the study: {why}")


def count_answers(connection: Connection) -> int:
    """How many answers are part of the study: not those to practice, nor those of test runs."""
    everything = select(func.count()).select_from(answers)
    by_person = select(func.count()).select_from(GIVEN)
    # few of many, found by the index: a large study is not read as a whole
    of_tests = by_person.where(participants.c.test_run == 1)
    practice = by_person.where(participants.c.test_run == 0, assignments.c.round == 0)
    n, *others = (
        int(connection.execute(query).scalar_one()) for query in (everything, of_tests, practice)
    )
    return n - sum(others)


def places_taken(connection: Connection, hours: int) -> int:
    """Those who were given a code, who finished, or who joined so recently that they still may."""
    held = or_(
        participants.c.finished.is_not(None), participants.c.joined > time.time() - 3600 * hours
    )
    real = (participants.c.test_run == 0) & participants.c.left.is_(None)
    unpaid = participants.c.rater.not_in(select(paid.c.rater))
    others = select(func.count()).select_from(participants).where(held, real, unpaid)
    given = select(func.count()).select_from(paid)
    return sum(int(connection.execute(query).scalar_one()) for query in (given, others))


def add_visits(connection: Connection, hour: int, n: int) -> None:
    """The page was opened so often in an hour (since 1970) by people who had not joined."""
    lock(connection, "visits")
    here = visits.c.hour == hour
    known = connection.execute(select(visits.c.opened).where(here)).scalar()
    put(connection, visits, {"hour": hour, "opened": (known or 0) + n})


def record(connection: Connection, who: str, what: str) -> None:
    """Note in the log what a researcher did."""
    connection.execute(insert(log), {"at": time.time(), "who": who, "what": what})


def by_receipt(connection: Connection, receipt: str) -> Row[Any] | None:
    """The participant with a receipt, typed in small letters or with spaces."""
    plain = "".join(c for c in receipt.upper() if c.isalnum())
    code = "-".join(plain[i : i + 4] for i in range(0, len(plain), 4))
    return connection.execute(_BY_RECEIPT, {"receipt": code}).one_or_none()


def erase(connection: Connection, receipt: str) -> int | None:
    """Erase all that is known of the participant with a receipt; the number of answers.

    What remains is that so many answers were erased, and when; and of somebody who was given a
    code, the rater's code, so that nobody is paid twice.
    """
    person = by_receipt(connection, receipt)
    if person is None:
        return None
    theirs = select(func.count()).select_from(ANSWERED)
    theirs = theirs.where(assignments.c.participant == person.id)
    gone = int(connection.execute(theirs).scalar_one())
    # all that refers to the participant is erased with them
    connection.execute(delete(participants).where(participants.c.id == person.id))
    connection.execute(insert(erasures), {"erased": time.time(), "answers": gone})
    return gone


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


_OF_PERSON = (
    "receipt", "rater", "language", "consent_version", "joined", "finished", "left", "condition"
)  # fmt: skip


def all_about(connection: Connection, receipt: str) -> dict[str, Any] | None:
    """All that is stored about the participant with a receipt, for the participant to read."""
    person = by_receipt(connection, receipt)
    if person is None:
        return None
    names = {row.id: row.name for row in connection.execute(select(objects))}
    query: Select[Any] = (
        select(*ASKED, answers.c.seconds, answers.c.stored)
        .select_from(QUESTIONS)
        .where(assignments.c.participant == person.id)
        .order_by(assignments.c.round, assignments.c.number)
    )
    platform = select(platform_ids.c.platform_id).where(platform_ids.c.participant == person.id)
    filled = select(forms).where(forms.c.participant == person.id)
    return {
        **{name: getattr(person, name) for name in _OF_PERSON},
        "test_run": bool(person.test_run),
        "forms": {row.form: json.loads(row.content) for row in connection.execute(filled)},
        "platform_id": connection.execute(platform).scalar(),
        "questions": [
            {
                "round": row.round,
                "number": row.number,
                "shown": [names[i] for i in shown_in(row)],
                "chosen": _alone([names[i] for i in chosen_in(row)]),
                "skipped": bool(row.skipped),
                "seconds": row.seconds,
                "stored": row.stored,
            }
            for row in connection.execute(query)
        ],
    }


def _alone(names: list[str]) -> str | list[str] | None:
    """One name as it is, several as a list, nothing as None."""
    return names if len(names) > 1 else names[0] if names else None
