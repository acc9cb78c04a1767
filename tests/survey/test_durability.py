"""What was acknowledged is there, whatever dies."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
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
