"""Fixtures of the survey's tests."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trilens as tl
from studies import Postgres, Served, running
from trilens_survey.database import Database, open_database
from trilens_survey.example import write_example

Serve = Callable[..., Served]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example study."""
    write_example(tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def app(folder: Path) -> Iterator[Any]:
    """The example study, served in this process."""
    with running(folder) as portal:
        yield portal


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A function from a study's folder (and options) to a server in its own process."""
    begun: list[Served] = []

    def start(folder: Path, *options: str) -> Served:
        begun.append(Served(folder, *options))
        return begun[-1]

    yield start
    for server in begun:
        server.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """PostgreSQL; not skipped where it is missing, because it is half of the promise."""
    # pytest's own folders are closed to the user that PostgreSQL runs as
    with tempfile.TemporaryDirectory(prefix="trilens-pg-", ignore_cleanup_errors=True) as place:
        # processes are killed here, not the machine: what is written need not reach the disk
        cluster = Postgres(Path(place), fsync=False)
        yield cluster
        cluster.stop()


@pytest.fixture(scope="session")
def one_database(postgres: Postgres) -> str:
    return postgres.database()


@pytest.fixture
def postgres_url(postgres: Postgres, one_database: str) -> str:
    """The address of an empty database."""
    postgres.clear(one_database)
    return one_database


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, folder: Path) -> Database:
    """The example study's database, of each kind in turn."""
    if request.param == "sqlite":
        return open_database(folder)
    return open_database(folder, request.getfixturevalue("postgres_url"))


@pytest.fixture(scope="session")
def some_analysis() -> tl.Analysis:
    return tl.analyze(
        tl.Statements([["apple", "pear", "plum"], ["pear", "plum", "lemon"]], kind="central")
    )


@pytest.fixture
def analyses(monkeypatch: pytest.MonkeyPatch, some_analysis: tl.Analysis) -> list[int]:
    """How many answers were analysed each time; the analysis is always the same."""
    calls: list[int] = []

    def analyze(answers: tl.Answers, **more: Any) -> tl.Analysis:
        calls.append(answers.n_statements)
        return some_analysis

    monkeypatch.setattr("trilens_survey.background.tl.analyze", analyze)
    return calls
