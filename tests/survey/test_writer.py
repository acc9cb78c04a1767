"""What writes: it acknowledges after the commit, starts or fails, and ends clean."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert, inspect, select, text
from sqlalchemy.exc import DBAPIError

from studies import Postgres
from trilens.errors import SurveyError
from trilens_survey.database import Database, make_tables, open_database
from trilens_survey.schema import metadata, settings
from trilens_survey.store.administration import get_setting, put_setting
from trilens_survey.writer import Refused, Writer


@pytest.fixture
def writer(database: Database) -> Any:
    opened = Writer(database, threads=1)
    opened.start()
    yield opened
    opened.close()


def test_what_is_told_stored_is_there_for_others(writer: Writer, database: Database) -> None:
    for i in range(5):
        writer.submit(lambda c, i=i: put_setting(c, "x", str(i))).result()
        with database.reading() as connection:
            assert get_setting(connection, "x") == str(i)


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
    with database.reading() as connection:
        assert set(connection.execute(select(settings.c.name)).scalars()) == {"one", "two"}


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
    with database.reading() as connection:
        stored = connection.execute(select(settings.c.name)).scalars().all()
    assert len([name for name in stored if name.startswith("n")]) == 300


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
    with database.reading() as connection:
        assert get_setting(connection, "gone") == get_setting(connection, "left") == "1"


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
    many = [writer.submit(lambda c, i=i: put_setting(c, f"n{i}", "x")) for i in range(300)]
    assert sum(done.result() for done in news) == 1
    writer.close()
    assert all(done.result() is None for done in many)
    with database.reading() as connection:
        stored = connection.execute(select(settings.c.name)).scalars().all()
    assert len([name for name in stored if name.startswith("n")]) == 300


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


def test_the_disk_has_it_before_the_word(folder: Path) -> None:
    engine = open_database(folder).writer()
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    engine.dispose()


def test_readers_cannot_write(writer: Writer, database: Database) -> None:
    engine = database.readers(1)
    with engine.connect() as connection, pytest.raises(DBAPIError, match=r"read-?only"):
        connection.execute(text("DELETE FROM settings"))
    engine.dispose()


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
    with database.reading() as connection:
        stored = set(connection.execute(select(settings.c.name)).scalars())
    assert stored == {"before", "after", "back", "and on"}


def test_the_tables_are_made_once(database: Database) -> None:
    engine = database.writer()
    make_tables(engine)
    make_tables(engine)  # a second time changes nothing
    with engine.connect() as connection:
        assert set(inspect(connection).get_table_names()) == set(metadata.tables)
    engine.dispose()
