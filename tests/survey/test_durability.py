"""What was acknowledged is there, whatever dies."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from killing import Crowd, long_study
from studies import Postgres
from trilens.cli import trilens
from trilens_survey.database import open_database


def test_a_killed_and_a_stopped_server_lose_nothing(folder: Path, serve: Any) -> None:
    """And until there is a password, each start prints the link to set one."""
    server = serve(long_study(folder))
    crowd = Crowd(server, size=8, seed=1)
    crowd.answer_until({20: server.kill})
    server.start()
    before = crowd.check(open_database(folder))
    assert before >= 20
    status: list[int] = []
    stopping: list[threading.Thread] = []

    def stop() -> None:
        stopping.append(threading.Thread(target=lambda: status.append(server.stop())))
        stopping[0].start()

    crowd.answer_until({20: stop})
    stopping[0].join()
    assert status == [0]
    assert sum("/researcher/first?key=" in line for line in server.lines) == 2
    server.lines.clear()
    command = ["survey", "password", str(folder), "--password", "a long enough one"]
    assert CliRunner().invoke(trilens, command).exit_code == 0
    server.start()
    assert crowd.check(open_database(folder)) >= before + 20
    crowd.close()
    assert server.stop() == 0
    # one JSON object a line, but for the line for people
    for line in server.lines:
        assert line.startswith("serving ") or '"event": ' in line, line


@pytest.mark.slow
def test_killed_backends_of_postgresql_lose_nothing(
    folder: Path, postgres: Postgres, postgres_url: str, serve: Any
) -> None:
    """The server outlives its backends; in the end it is killed too."""
    server = serve(long_study(folder), "--database", postgres_url)
    crowd = Crowd(server, size=6, seed=2)
    strike = lambda: postgres.kill_backends(postgres_url)  # noqa: E731
    crowd.answer_until({40: strike, 70: strike, 100: server.kill})
    server.start()
    assert crowd.check(open_database(folder, postgres_url)) >= 100
    crowd.close()


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 6])
def test_four_restarts_of_postgresql_heal_by_themselves(
    folder: Path, postgres: Postgres, postgres_url: str, serve: Any, size: int
) -> None:
    """With a single participant, whose answer is sent a dozen times meanwhile, and with six."""
    server = serve(long_study(folder), "--database", postgres_url)
    crowd = Crowd(server, size=size, seed=5)

    def restart() -> None:
        postgres.stop()
        alone = crowd.raters[0]
        for _ in range(12 if size == 1 else 0):
            refused = alone.client.answer(alone.question["token"], alone.question["objects"][-1])
            assert refused.status_code >= 500
        postgres.start()

    crowd.answer_until({10: restart, 20: restart, 30: restart, 40: restart, 50: server.kill})
    server.start()
    assert crowd.check(open_database(folder, postgres_url)) >= 50
    crowd.close()
