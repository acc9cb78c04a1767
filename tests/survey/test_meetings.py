"""Two who look before they act, at the same time on PostgreSQL: the second sees what the first did.

Here they do meet: the first stays in its transaction until the second waits for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest
from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from studies import Running, edit, running
from trilens_survey import auth
from trilens_survey.database import open_database
from trilens_survey.schema import answers, assignments, designs, participants
from trilens_survey.store.administration import by_receipt, get_setting, put_setting
from trilens_survey.store.assignments import Assignments
from trilens_survey.writer import Refused

T = TypeVar("T")
Deed = Callable[[Connection], T]


@pytest.fixture
def app(folder: Path, postgres_url: str) -> Iterator[Running]:
    """The example study, of two participants at most, on PostgreSQL."""
    edit(folder, ("retention:", "quota: {participants: 2}\nretention:"))
    with running(folder, open_database(folder, postgres_url)) as served:
        yield served


def meet(app: Running, first: Deed[T], second: Deed[T]) -> list[T | BaseException]:
    """The outcomes of two deeds, of which the second begins while the first is not committed."""
    acted, go = threading.Event(), threading.Event()

    def stay(connection: Connection) -> T:
        done = first(connection)
        acted.set()
        go.wait()
        return done

    one = app.survey.writer.submit(stay)
    assert acted.wait(10)
    two = app.survey.writer.submit(second)
    waiting = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    url = app.survey.database.url.set(drivername="postgresql").render_as_string()
    try:
        with psycopg.connect(url, autocommit=True) as watcher:
            for _ in range(2000):  # until it waits, or has not waited and is done
                (held,) = watcher.execute(waiting).fetchone() or (0,)
                if held or two.done():
                    break
    finally:
        go.set()
    return [done.exception() or done.result() for done in (one, two)]


def number_of(app: Running, table: Any) -> int:
    return app.look(lambda c: c.execute(select(func.count()).select_from(table)).scalar_one())


def refused(outcome: object) -> bool:
    return isinstance(outcome, Refused) and outcome.status == 403


def test_a_setting_is_put_once(app: Running) -> None:
    assert meet(app, *[lambda c, v=v: put_setting(c, "plain", v) for v in "ab"]) == [None, None]
    assert app.look(lambda c: get_setting(c, "plain")) == "b"


def test_a_study_of_many_objects_is_entered_once(folder: Path, postgres_url: str) -> None:
    """Its design is longer than what PostgreSQL takes into an index."""
    lines = [f"object {i},text {i},Text {i}" for i in range(300)]
    file = folder / "objects.csv"
    file.write_text("\n".join([*file.read_text().splitlines(), *lines]) + "\n")
    with running(folder, open_database(folder, postgres_url)) as app:
        enter = [lambda c: Assignments.open(c, app.survey.study).rows] * 2
        first, second = meet(app, *enter)
        assert first == second == app.survey.store.assigned.rows
        assert number_of(app, designs) == 1


def test_the_last_place_is_given_once_and_one_platform_id_is_one_participant(app: Running) -> None:
    join = app.survey.store.join
    first, second = meet(app, *[lambda c: join(c, "me", "en")] * 2)
    assert app.look(lambda c: by_receipt(c, str(first))) is None
    assert app.look(lambda c: by_receipt(c, str(second))) is not None
    assert number_of(app, participants) == 1
    first, second = meet(app, *[lambda c, who=who: join(c, who, "en") for who in ("one", "two")])
    assert not isinstance(first, BaseException)
    assert refused(second)
    assert number_of(app, participants) == 2


def test_one_answer_is_new(app: Running) -> None:
    store = app.survey.store
    receipt = app.do(lambda c: store.join(c, None, "en"))
    shown = app.do(lambda c: store.screen(c, receipt))
    one, other = (
        lambda c, name=name: store.answer(c, receipt, shown["token"], name, 1.0)
        for name in shown["objects"][:2]
    )
    assert meet(app, one, one) == [{"stored": True}] * 2
    (conflict,) = [found for found in meet(app, one, other) if isinstance(found, Refused)]
    assert conflict.status == 409
    assert number_of(app, answers) == 1


def test_a_round_is_begun_once(app: Running) -> None:
    rater = app.participant()
    receipt = rater.join()
    rater.round()
    begin = [lambda c: app.survey.store.begin_round(c, receipt)] * 2
    assert meet(app, *begin) == [None, None]
    assert number_of(app, assignments) == 40


def test_the_first_password_is_set_once(app: Running) -> None:
    key = app.do(auth.make_first_key)
    typed = ("the first one to come", "the second one to come")
    first, second = meet(
        app, *[lambda c, word=word: auth.set_first_password(c, key, word) for word in typed]
    )
    assert first is None
    assert refused(second)
    assert auth.matches(app.look(lambda c: auth.password_of(c, auth.FIRST)), typed[0])
