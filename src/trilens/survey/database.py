"""Where the answers lie: SQLite in the study's folder, or PostgreSQL by URL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, Connection, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from trilens.errors import SurveyError

FILE = "answers.db"


@dataclass(frozen=True)
class Database:
    """Opens connections; the SQLite file has one that writes, held by one process.

    Attributes
    ----------
    url
        Of PostgreSQL.
    file
        Of SQLite.
    """

    url: URL | None = None
    file: Path | None = None

    @property
    def embedded(self) -> bool:
        """Whether this is SQLite, with its one writer."""
        return self.file is not None

    def writer(self) -> Engine:
        """For the connection that writes."""
        if self.url is not None:
            # said here too: a server may be set up to acknowledge before the disk has it
            durable = {"options": "-c synchronous_commit=on"}
            return create_engine(self.url, pool_size=1, max_overflow=0, connect_args=durable)
        return _sqlite(f"file:{_quoted(self.file)}?mode=rwc", "BEGIN IMMEDIATE", _WRITER)

    def readers(self, size: int = 4) -> Engine:
        """For connections that only read."""
        if self.url is not None:
            return create_engine(
                self.url,
                pool_size=size,
                max_overflow=0,
                pool_pre_ping=True,
                execution_options={"postgresql_readonly": True},
            )
        return _sqlite(f"file:{_quoted(self.file)}?mode=ro", "BEGIN", _READER, pool_size=size)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One connection for one look, as the commands need it."""
        if self.file is not None and not self.file.exists():
            raise SurveyError(f"{self.file}: there are no answers yet; trilens survey serve it")
        engine = self.readers(1)
        try:
            with engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise SurveyError(f"{self.label}: {_first_line(error)}") from error
        finally:
            engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction of the only writer, as the commands need it."""
        with self.locked():
            engine = self.writer()
            try:
                migrate(engine)
                with engine.begin() as connection:
                    yield connection
            except SQLAlchemyError as error:
                raise SurveyError(f"{self.label}: {_first_line(error)}") from error
            finally:
                engine.dispose()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the SQLite file's lock: a second process that would write is refused."""
        if self.file is None:
            yield
            return
        with _lock(self.file):
            yield

    @property
    def label(self) -> str:
        """For messages; without a password."""
        return str(self.file) if self.url is None else self.url.render_as_string()


def open_database(folder: Path, url: str | None = None) -> Database:
    """The study's database: SQLite in its folder, or what the URL says.

    >>> open_database(Path("study"), "mysql://x")
    Traceback (most recent call last):
    ...
    trilens.errors.SurveyError: the database is mysql; it must be postgresql://... or left out
    """
    if url is None:
        return Database(file=folder / FILE)
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise SurveyError("the database must be an address such as postgresql://...") from None
    name = parsed.drivername.split("+")[0]
    if name not in ("postgresql", "postgres"):
        raise SurveyError(f"the database is {name}; it must be postgresql://... or left out")
    return Database(url=parsed.set(drivername="postgresql+psycopg"))


def migrate(engine: Engine) -> None:
    """Bring the tables to this version; a database of a newer trilens is refused."""
    from alembic import command
    from alembic.config import Config
    from alembic.util.exc import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            # several processes may start at once: one of them makes the tables
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7716583)")
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise SurveyError(
                f"the database was made by a newer trilens ({error}); install that version"
            ) from error


#: The writer's promise: a commit returns when the disk has it.
_WRITER = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "busy_timeout=10000",
    "secure_delete=ON",  # what is erased is overwritten, not only let go
)
_READER = ("query_only=ON", "busy_timeout=10000")


def _sqlite(uri: str, begin: str, pragmas: tuple[str, ...], pool_size: int = 1) -> Engine:
    import sqlite3

    def connect() -> sqlite3.Connection:
        # SQLAlchemy begins and commits; sqlite3 must not do so by itself
        return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)

    engine = create_engine("sqlite+pysqlite:///unused", creator=connect, pool_size=pool_size)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _quoted(path: Path | None) -> str:
    from urllib.parse import quote

    return quote(str(Path(path or "").absolute()))


@contextmanager
def _lock(file: Path) -> Iterator[None]:
    import fcntl

    handle: IO[str] = open(file.with_suffix(".lock"), "a+")  # noqa: SIM115
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        raise SurveyError(
            f"{file} is being written by another process (the server?); SQLite has one writer: "
            f"stop it, use the researcher's page, or use several processes on PostgreSQL"
        ) from None
    try:
        handle.seek(0)
        handle.truncate()
        handle.write(f"{os.getpid()}\n")
        handle.flush()
        yield
    finally:
        handle.close()


def _first_line(error: BaseException) -> str:
    cause = getattr(error, "orig", None) or error
    return (str(cause).splitlines() or [type(cause).__name__])[0]
