"""A copy of the database, made while the server goes on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy import insert, select

from trilens.errors import SurveyError
from trilens.survey.database import Database, migrate
from trilens.survey.schema import metadata


def back_up(database: Database, target: Path) -> int:
    """Copy everything to a new SQLite file, as it is at one moment; the number of answers.

    From PostgreSQL too: the tables are the same, and the file can be served.
    """
    if target.exists():
        raise SurveyError(f"{target} exists already; choose another name")
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    try:
        if database.file is not None:
            _copy_file(database.file, part)
        else:
            _copy_rows(database, part)
        with sqlite3.connect(part) as copy:
            (sound,) = copy.execute("PRAGMA integrity_check").fetchone()
            (rows,) = copy.execute("SELECT count(*) FROM answers").fetchone()
        copy.close()
        if sound != "ok":
            raise SurveyError(f"{target}: the copy is damaged ({sound}); try again")
        part.rename(target)
    finally:
        part.unlink(missing_ok=True)
    return int(rows)


def _copy_file(file: Path, part: Path) -> None:
    if not file.exists():
        raise SurveyError(f"{file}: there are no answers yet; trilens survey serve it")
    source = sqlite3.connect(f"file:{file.absolute()}?mode=ro", uri=True)
    copy = sqlite3.connect(part)
    try:
        # all pages in one step: a snapshot, for which the writer does not wait
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")
    finally:
        copy.close()
        source.close()


def _copy_rows(database: Database, part: Path) -> None:
    engine = Database(file=part).writer()
    try:
        migrate(engine)
        with database.reading() as source, engine.begin() as copy:
            source = source.execution_options(isolation_level="REPEATABLE READ")
            for table in metadata.sorted_tables:
                for chunk in source.execute(select(table)).mappings().partitions(5000):
                    copy.execute(insert(table), [dict(row) for row in chunk])
    finally:
        engine.dispose()
    plain = sqlite3.connect(part)
    plain.execute("PRAGMA journal_mode=DELETE")
    plain.close()
