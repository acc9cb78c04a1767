"""Where the answers lie: SQLite in the study's folder, or PostgreSQL by URL."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, create_engine, event, func, insert, inspect, select
from sqlalchemy.engine import URL, Connection, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from trilens.errors import SurveyError
from trilens_survey.schema import answers, metadata, versions

FILE = "answers.db"


@dataclass(frozen=True)
class Database:
    """PostgreSQL by its URL, or a SQLite file, of which one process holds the only writer."""

    folder: Path
    url: URL | None = None
    file: Path | None = None

    @property
    def embedded(self) -> bool:
        """Whether this is SQLite, with its one writer."""
        return self.file is not None

    def writer(self, size: int = 1) -> Engine:
        """For the connections that write: on SQLite one, held by one thread at a time."""
        if self.url is not None:
            # said here too: a server may be set up to acknowledge before the disk has it
            return _postgresql(self.url, size, {"options": "-c synchronous_commit=on"})
        assert self.file is not None
        keep_private(self.file)
        return _sqlite(self.sqlite_uri("rwc"), "BEGIN IMMEDIATE", _WRITER)

    def readers(self, size: int = 4) -> Engine:
        """For connections that only read."""
        if self.url is not None:
            read_only = {"postgresql_readonly": True}
            return _postgresql(self.url, size, execution_options=read_only, pool_pre_ping=True)
        return _sqlite(self.sqlite_uri("ro"), "BEGIN", _READER, pool_size=size)

    def sqlite_uri(self, mode: str) -> str:
        """The file, to be opened in one of SQLite's modes."""
        assert self.file is not None
        return f"file:{quote(str(self.file.absolute()))}?mode={mode}"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that reads, for a command."""
        self.check_exists()
        with (
            _let_go(self.readers(1)) as engine,
            self.named_errors(),
            engine.connect() as connection,
        ):
            _check_version(connection)
            connection.rollback()  # whoever reads begins anew, as they like
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction of the only writer, for a command."""
        with self.locked(), _let_go(self.writer()) as engine, self.named_errors():
            make_tables(engine)
            with engine.begin() as connection:
                yield connection

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the SQLite file's lock: a second process that would write is refused."""
        if self.file is None:
            yield
            return
        with _lock(self.file):
            yield

    @contextmanager
    def alone(self, name: str) -> Iterator[bool]:
        """Whether no other process is at what has this name; nor will one be until the block ends.

        PostgreSQL lets go of it when the process or its connection dies; SQLite has one process.
        """
        if self.embedded:
            yield True
            return
        with _let_go(self.readers(1)) as engine, engine.connect() as connection:
            free = select(func.pg_try_advisory_xact_lock(lock_number(name)))
            yield bool(connection.execute(free).scalar())

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """An error of the database becomes one line that names the database."""
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            cause = getattr(error, "orig", None) or error
            line = (str(cause).splitlines() or [type(cause).__name__])[0]
            raise SurveyError(f"{self.label}: {line}") from error

    def check_exists(self) -> None:
        """Refuse a study that was never served."""
        if self.file is not None and not self.file.exists():
            raise SurveyError(
                f"{self.file}: no answers yet; start the study with trilens survey serve"
            )

    @property
    def label(self) -> str:
        """For messages; without a password."""
        return str(self.file) if self.url is None else self.url.render_as_string()


@contextmanager
def _let_go(engine: Engine) -> Iterator[Engine]:
    try:
        yield engine
    finally:
        engine.dispose()


def lock_number(name: str) -> int:
    """What PostgreSQL calls the lock of this name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)


def keep_private(file: Path) -> None:
    """Make the file, if it is not there, and let nobody but its owner read it.

    SQLite gives the files beside it the same permissions.
    """
    with suppress(OSError):  # a folder that is not there is SQLite's to report; others' files stay
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        for each in (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm"))):
            if each.exists() and each.stat().st_mode & 0o077:
                each.chmod(0o600)


def open_database(folder: Path, url: str | None = None) -> Database:
    """The study's database: SQLite in its folder, or what the URL says.

    >>> open_database(Path("study"), "mysql://x")
    Traceback (most recent call last):
    ...
    trilens.errors.SurveyError: the database must be postgresql://..., not mysql; omit it for SQLite
    """
    if url is None:
        return Database(folder, file=folder / FILE)
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise SurveyError("the database must be a URL such as postgresql://...") from None
    name = parsed.drivername.split("+")[0]
    if name not in ("postgresql", "postgres"):
        raise SurveyError(f"the database must be postgresql://..., not {name}; omit it for SQLite")
    return Database(folder, url=parsed.set(drivername="postgresql+psycopg"))


#: Of the tables. A version of trilens that changes them also brings the older ones up to it.
_VERSION = "0001"


def make_tables(engine: Engine) -> None:
    """Make the tables, if there are none; those of a newer trilens are refused."""
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            # several processes may start at once: one of them makes the tables
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7716583)")
        if not inspect(connection).has_table(answers.name):
            metadata.create_all(connection)
            connection.execute(insert(versions), {"version_num": _VERSION})
        _check_version(connection)


def _check_version(connection: Connection) -> None:
    """Refuse tables of another version."""
    if not inspect(connection).has_table(versions.name):
        raise SurveyError("no answers yet; start the study with trilens survey serve")
    if connection.execute(select(versions)).scalar() != _VERSION:
        raise SurveyError("the database was made by a newer version of trilens; upgrade trilens")


#: The writer's promise: a commit returns when the disk has it.
_WRITER = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "busy_timeout=10000",
    "secure_delete=ON",  # what is erased is overwritten, not only let go
)
_READER = ("query_only=ON", "busy_timeout=10000")


def _postgresql(
    url: URL, size: int, arguments: dict[str, str] | None = None, **options: Any
) -> Engine:
    # a server that does not answer is an error after so many seconds
    patient: dict[str, Any] = {"connect_timeout": 30} | (arguments or {})
    return create_engine(
        url, pool_size=size, max_overflow=0, hide_parameters=True, connect_args=patient, **options
    )


def _sqlite(uri: str, begin: str, pragmas: tuple[str, ...], pool_size: int = 1) -> Engine:
    def connect() -> sqlite3.Connection:
        # SQLAlchemy begins and commits; sqlite3 must not do so by itself
        return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)

    engine = create_engine(
        "sqlite+pysqlite:///unused", creator=connect, pool_size=pool_size, hide_parameters=True
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


@contextmanager
def _lock(file: Path) -> Iterator[None]:
    """Hold the lock beside a SQLite file; refused while another process holds it."""
    import fcntl

    lock = file.with_suffix(".lock")
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise SurveyError(f"{lock}: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise SurveyError(
            f"another process is writing to {file} (a running server?), and SQLite allows one "
            f"writer; use the researcher's page, or stop that process first"
        ) from None
    try:
        yield
    finally:
        os.close(handle)


def back_up(database: Database, target: Path) -> int:
    """Copy everything to a new SQLite file while the server goes on; the number of answers.

    The copy holds one moment. It is made from PostgreSQL too: the tables are the same, and the
    file can be served.
    """
    if target.exists():
        raise SurveyError(f"{target} already exists; choose another name")
    database.check_exists()
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    keep_private(part)
    try:
        if database.file is not None:
            _copy_file(database, part)
        else:
            _copy_rows(database, part)
        with closing(sqlite3.connect(part)) as copy:
            copy.execute("PRAGMA journal_mode=DELETE")
            (sound,) = copy.execute("PRAGMA integrity_check").fetchone()
            (rows,) = copy.execute("SELECT count(*) FROM answers").fetchone()
        if sound != "ok":
            raise SurveyError(f"{target}: the copy is damaged ({sound}); try again")
        part.rename(target)
    finally:
        part.unlink(missing_ok=True)
    return int(rows)


def _copy_file(database: Database, part: Path) -> None:
    with (
        closing(sqlite3.connect(database.sqlite_uri("ro"), uri=True)) as source,
        closing(sqlite3.connect(part)) as copy,
    ):
        # all pages in one step: a snapshot, for which the writer does not wait
        source.backup(copy)


def _copy_rows(database: Database, part: Path) -> None:
    with _let_go(Database(part.parent, file=part).writer()) as engine:
        metadata.create_all(engine)
        with database.reading() as source, engine.begin() as copy:
            source = source.execution_options(isolation_level="REPEATABLE READ")
            for table in metadata.sorted_tables:
                for chunk in source.execute(select(table)).mappings().partitions(5000):
                    copy.execute(insert(table), [dict(row) for row in chunk])
