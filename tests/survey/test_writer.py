"""What writes acknowledges after the commit; what it acknowledged is there, once, whatever dies."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest
from click.testing import CliRunner
from sqlalchemy import event, func, insert, select, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from killing import Crowd, long_study
from studies import Postgres, Running, edit, running
from trilens.cli import trilens
from trilens.errors import SurveyError
from trilens_survey import auth
from trilens_survey.database import Database, open_database
from trilens_survey.schema import answers, assignments, designs, participants, settings
from trilens_survey.store.administration import by_receipt, get_setting, put_setting
from trilens_survey.store.assignments import Assignments
from trilens_survey.writer import Refused, Writer


@pytest.fixture
def writer(database: Database) -> Any:
    opened = Writer(database, threads=1)
    opened.start()
    yield opened
    opened.close()


def names(database: Database) -> set[str]:
    """What is stored."""
    with database.reading() as connection:
        return set(connection.execute(select(settings.c.name)).scalars())


def test_what_waits_is_committed_together(database: Database) -> None:
    commits: list[object] = []
    writer = Writer(database, threads=1)
    writer.start()
    event.listen(writer._engine, "commit", commits.append)
    go = threading.Event()
    first = writer.submit(lambda c: go.wait())
    rest = [writer.submit(lambda c, i=i: put_setting(c, f"n{i}", "x")) for i in range(50)]
    go.set()
    for done in [first, *rest]:
        done.result()
    writer.close()
    assert len(commits) <= 2


@pytest.mark.parametrize("how", [Refused, Exception])
def test_a_failure_harms_no_neighbor(
    writer: Writer, database: Database, how: type[Exception]
) -> None:
    def fail(connection: Any) -> None:
        if how is Refused:
            raise Refused(409, "nothing of this")
        put_setting(connection, "bad", "x")
        connection.execute(text("INSERT INTO nothing VALUES (1)"))

    go = threading.Event()
    writer.submit(lambda c: go.wait())
    one = writer.submit(lambda c: put_setting(c, "one", "1"))
    bad = writer.submit(fail)
    two = writer.submit(lambda c: put_setting(c, "two", "2"))
    go.set()
    one.result()
    two.result()
    with pytest.raises(how, match="nothing"):
        bad.result()
    assert names(database) == {"one", "two"}


def test_closing_stores_what_was_accepted(database: Database) -> None:
    writer = Writer(database)
    writer.start()
    go = threading.Event()
    writer.submit(lambda c: go.wait())
    waiting = [writer.submit(lambda c, i=i: put_setting(c, f"n{i}", "x")) for i in range(300)]
    closing = threading.Thread(target=writer.close)
    closing.start()
    go.set()
    closing.join()
    assert all(done.done() and done.exception() is None for done in waiting)
    with pytest.raises(Refused, match="stopping"):
        writer.submit(lambda c: None)
    assert len(names(database)) == 300


def test_whoever_goes_away_does_not_stop_the_write(writer: Writer, database: Database) -> None:
    """Neither one who is told no more, nor an event loop that ends."""
    go = threading.Event()
    writer.submit(lambda c: go.wait())
    gone: Future[None] = writer.submit(lambda c: put_setting(c, "gone", "1"))
    assert gone.cancel()

    async def ask_and_leave() -> None:
        asked = asyncio.create_task(writer.write(lambda c: put_setting(c, "left", "1")))
        await asyncio.sleep(0)  # until it waits
        assert not asked.done()

    asyncio.run(ask_and_leave())
    go.set()
    writer.submit(lambda c: None).result()
    assert names(database) == {"gone", "left"}


def test_several_threads_do_each_write_once(folder: Path, postgres_url: str) -> None:
    """Also where two of them meet: the second finds what the first did, and tries again."""
    database = open_database(folder, postgres_url)
    writer = Writer(database)
    writer.start()

    def once(connection: Any) -> bool:
        """As an answer is stored: whoever comes second may not insert."""
        if get_setting(connection, "once") is not None:
            return False
        connection.execute(insert(settings), {"name": "once", "value": "x"})
        return True

    news = [writer.submit(once) for _ in range(100)]
    assert sum(done.result() for done in news) == 1
    writer.close()


def test_a_database_that_cannot_be_written_fails_the_start(folder: Path) -> None:
    def refused(url: str | None = None) -> str:
        writer = Writer(open_database(folder, url))
        with pytest.raises(SurveyError) as told:
            writer.start()
        writer.close()
        return str(told.value)

    assert "refused" in refused("postgresql://nobody@127.0.0.1:1/none")
    file = folder / "answers.db"
    file.mkdir()
    assert "answers.db: " in refused()
    assert "unable to open" in refused()
    file.rmdir()
    file.write_bytes(b"this is not SQLite" * 100)
    assert "not a database" in refused()
    file.unlink()
    writer = Writer(open_database(folder))
    writer.start()
    writer.close()
    with closing(sqlite3.connect(file)) as newer, newer:
        newer.execute("UPDATE alembic_version SET version_num = '9999'")
    assert "made by a newer version of trilens" in refused()


def test_the_disk_has_it_before_the_word_and_readers_cannot_write(
    writer: Writer, database: Database
) -> None:
    with writer._engine.connect() as connection:
        if database.embedded:
            found = [
                connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in ("journal_mode", "synchronous", "foreign_keys")
            ]
            assert found == ["wal", 2, 1]  # 2 is FULL
        else:
            assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
    with database.reading() as connection, pytest.raises(DBAPIError, match=r"read-?only"):
        connection.execute(text("DELETE FROM settings"))


def test_broken_connections_and_an_outage_are_over_when_they_are_over(
    folder: Path, postgres: Postgres, postgres_url: str
) -> None:
    """Also for a write that comes alone: each one tries to connect again."""
    database = open_database(folder, postgres_url)
    writer = Writer(database)
    writer.start()

    def put(name: str) -> Future[None]:
        return writer.submit(lambda c: put_setting(c, name, "1"))

    put("before").result()
    postgres.kill_backends(postgres_url)  # while the server runs
    put("after").result()
    with postgres.outage(postgres_url):
        for name in ("lost", "lost too"):
            with pytest.raises(DBAPIError, match="not currently accepting"):
                put(name).result()
    for name in ("back", "and on"):
        put(name).result()
    writer.close()
    assert names(database) == {"before", "after", "back", "and on"}


def test_a_killed_and_a_stopped_server_lose_nothing(folder: Path, serve: Any) -> None:
    """And until there is a password, each start prints the link to set one."""
    server = serve(long_study(folder))
    crowd = Crowd(server, size=6, seed=1)
    crowd.answer_until({20: server.kill})
    assert sum("/researcher/first?key=" in line for line in server.lines) == 1
    command = ["survey", "password", str(folder), "--password", "a long enough one"]
    assert CliRunner().invoke(trilens, command).exit_code == 0
    server.start()
    before = crowd.check(open_database(folder))
    assert before >= 20
    assert sum("/researcher/first?key=" in line for line in server.lines) == 1
    # whoever answers when it is asked to stop gets an answer, or none
    stopping = ThreadPoolExecutor(1)
    status: list[Future[int]] = []
    crowd.answer_until({20: lambda: status.append(stopping.submit(server.stop))})
    assert status[0].result() == 0
    assert len(crowd.stored(open_database(folder))) >= before + 20
    crowd.close()
    # one JSON object a line, but for the lines for people
    for line in server.lines:
        assert line.startswith(("serving ", "set the ")) or '"event": ' in line, line


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 6])
def test_killed_backends_and_restarts_of_postgresql_heal_by_themselves(
    folder: Path, postgres: Postgres, postgres_url: str, serve: Any, size: int
) -> None:
    """With a single participant, whose answer is sent a dozen times meanwhile, and with six.

    In the end the server is killed too.
    """
    server = serve(long_study(folder), "--database", postgres_url)
    crowd = Crowd(server, size=size, seed=5)

    def restart() -> None:
        postgres.stop()
        alone = crowd.raters[0]
        for _ in range(12 if size == 1 else 0):
            refused = alone.client.answer(alone.question["token"], alone.question["objects"][-1])
            assert refused.status_code >= 500
        postgres.start()

    strikes = dict.fromkeys((10, 20, 30, 40), restart)
    strikes |= dict.fromkeys((50, 60), lambda: postgres.kill_backends(postgres_url))
    crowd.answer_until(strikes | {70: server.kill})
    server.start()
    assert crowd.check(open_database(folder, postgres_url)) >= 70
    crowd.close()


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
