"""Two who look before they act, at the same time on PostgreSQL: the second sees what the first did.

Here they do meet: the first stays in its transaction until the second waits for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest
from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from studies import edit, running
from trilens_survey import auth
from trilens_survey.database import open_database
from trilens_survey.schema import answers, assignments, designs, participants
from trilens_survey.server import Survey
from trilens_survey.store.administration import by_receipt, get_setting, lock, put_setting
from trilens_survey.store.participants import Participants
from trilens_survey.study import load_study
from trilens_survey.writer import Refused, Writer

T = TypeVar("T")
Deed = Callable[[Connection], T]


def meet(writer: Writer, url: str, first: Deed[T], second: Deed[T]) -> list[T | BaseException]:
    """The outcomes of two deeds, of which the second begins while the first is not committed."""
    acted, go = threading.Event(), threading.Event()

    def stay(connection: Connection) -> T:
        done = first(connection)
        acted.set()
        go.wait()
        return done

    one = writer.submit(stay)
    assert acted.wait(10)
    two = writer.submit(second)
    waiting = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    with psycopg.connect(url, autocommit=True) as watcher:
        for _ in range(2000):  # until it waits, or has not waited and is done
            (held,) = watcher.execute(waiting).fetchone() or (0,)
            if held or two.done():
                break
    go.set()
    return [done.exception() or done.result() for done in (one, two)]


@contextmanager
def opened(folder: Path, url: str) -> Iterator[Survey]:
    survey = Survey(load_study(folder), open_database(folder, url))
    survey.start()
    try:
        yield survey
    finally:
        survey.close()


def number_of(survey: Survey, table: Any) -> int:
    with survey.database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def refused(outcome: object) -> bool:
    return isinstance(outcome, Refused) and outcome.status == 403


def test_a_setting_is_put_once(folder: Path, postgres_url: str) -> None:
    with opened(folder, postgres_url) as survey:

        def once(connection: Connection) -> bool:
            lock(connection, "once")
            if get_setting(connection, "once") is not None:
                return False
            put_setting(connection, "once", "x")
            return True

        assert meet(survey.writer, postgres_url, once, once) == [True, False]
        put = [lambda c, v=v: put_setting(c, "plain", v) for v in "ab"]
        assert meet(survey.writer, postgres_url, *put) == [None, None]
        with survey.database.reading() as connection:
            assert get_setting(connection, "plain") == "b"


def test_a_study_of_many_objects_is_entered_once(folder: Path, postgres_url: str) -> None:
    """Its design is longer than what PostgreSQL takes into an index."""
    lines = [f"object {i},text {i},Text {i}" for i in range(300)]
    file = folder / "objects.csv"
    file.write_text("\n".join([*file.read_text().splitlines(), *lines]) + "\n")
    with opened(folder, postgres_url) as survey:
        study = survey.study
        enter = [lambda c: Participants.open(c, study).assigned.rows] * 2
        first, second = meet(survey.writer, postgres_url, *enter)
        assert first == second == survey.store.assigned.rows
        assert number_of(survey, designs) == 1


def test_the_last_place_is_given_once(folder: Path, postgres_url: str) -> None:
    edit(folder, ("retention:", "quota: {participants: 2}\nretention:"))
    with opened(folder, postgres_url) as survey:
        store = survey.store
        survey.writer.submit(lambda c: store.join(c, None, "en")).result()
        deeds = [lambda c, who=who: store.join(c, who, "en") for who in ("one", "two")]
        first, second = meet(survey.writer, postgres_url, *deeds)
        assert not isinstance(first, BaseException)
        assert refused(second)
        assert number_of(survey, participants) == 2


def test_one_platform_id_is_one_participant(folder: Path, postgres_url: str) -> None:
    with opened(folder, postgres_url) as survey:
        store = survey.store
        joined = meet(survey.writer, postgres_url, *[lambda c: store.join(c, "me", "en")] * 2)
        first, second = map(str, joined)
        with survey.database.reading() as connection:
            assert by_receipt(connection, first) is None
            assert by_receipt(connection, second) is not None
        assert number_of(survey, participants) == 1


def test_one_answer_is_new(folder: Path, postgres_url: str) -> None:
    with opened(folder, postgres_url) as survey:
        store = survey.store
        receipt = survey.writer.submit(lambda c: store.join(c, None, "en")).result()
        shown = survey.writer.submit(lambda c: store.screen(c, receipt)).result()
        answer = [
            lambda c, name=name: store.answer(c, receipt, shown["token"], name, 1.0)
            for name in shown["objects"][:2]
        ]
        assert meet(survey.writer, postgres_url, answer[0], answer[0]) == [{"stored": True}] * 2
        (status,) = [
            outcome.status
            for outcome in meet(survey.writer, postgres_url, *answer)
            if isinstance(outcome, Refused)
        ]
        assert status == 409
        assert number_of(survey, answers) == 1


def test_a_round_is_begun_once(folder: Path, postgres_url: str) -> None:
    with running(folder, open_database(folder, postgres_url)) as app:
        rater = app.participant()
        receipt = rater.join()
        rater.round()
        survey = app.survey
        begin = [lambda c: survey.store.begin_round(c, receipt)] * 2
        assert meet(survey.writer, postgres_url, *begin) == [None, None]
        assert number_of(survey, assignments) == 40


def test_the_first_password_is_set_once(folder: Path, postgres_url: str) -> None:
    with opened(folder, postgres_url) as survey:
        key = survey.writer.submit(auth.make_first_key).result()
        assert key is not None
        deeds = [
            lambda c, typed=typed: auth.set_first_password(c, key, typed)
            for typed in ("the first one to come", "the second one to come")
        ]
        first, second = meet(survey.writer, postgres_url, *deeds)
        assert first is None
        assert refused(second)
        with survey.database.reading() as connection:
            stored = auth.password_of(connection, auth.FIRST)
        assert auth.matches(stored, "the first one to come")


@pytest.mark.parametrize("quota", ["participants: 3", "answers: 20"])
def test_a_full_study_shows_the_closing_page(folder: Path, quota: str) -> None:
    edit(folder, ("retention:", f"quota: {{{quota}}}\nretention:"))
    with running(folder) as app:
        browsers = [app.participant() for _ in range(6)]
        statuses = []
        for browser in browsers:
            joined = browser.post("/api/join", json={"consent": True})
            statuses.append(joined.status_code)
            if joined.status_code == 201:
                browser.round()
        wanted = [201] * 3 + [403] * 3 if "participants" in quota else [201] + [403] * 5
        assert statuses == wanted
        assert browsers[-1].get("/api/study").json()["open"] is False
        # who is there already has a place; answers are enough for everybody
        more = browsers[0].get("/api/question").json()
        assert ("round_done" in more) == ("participants" in quota)


def test_a_place_that_is_not_used_is_given_to_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    edit(folder, ("retention:", "quota: {participants: 1, hours: 2}\nretention:"))
    with running(folder) as app:
        left, new = app.participant(), app.participant()
        left.join()
        assert new.post("/api/join", json={"consent": True}).status_code == 403
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 2 * 3600 + 1)
        assert new.join()
        assert "token" in left.question()  # who comes back all the same goes on
