"""What was acknowledged is there, whatever dies."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from killing import Crowd, long_study
from trilens.survey.database import open_database


def test_killed_servers_lose_nothing(folder: Path, serve: Any) -> None:
    server = serve(long_study(folder))
    crowd = Crowd(server, size=8, seed=1)
    before = 0
    for told in (40, 75, 33):
        crowd.answer_until({told: server.kill})
        server.restart()
        now = crowd.check(open_database(folder))
        assert now >= before + told
        before = now
    crowd.close()


def test_killed_backends_of_postgresql_lose_nothing(
    folder: Path, serve: Any, postgres: Any
) -> None:
    """The server outlives its backends; in the end it is killed too."""
    url = postgres.database()
    server = serve(long_study(folder), "--database", url)
    crowd = Crowd(server, size=6, seed=2)

    def kill_backends() -> None:
        postgres.kill_backends(url)

    crowd.answer_until({40: kill_backends, 70: kill_backends, 100: server.kill})
    server.restart()
    assert crowd.check(open_database(folder, url)) >= 100
    crowd.close()


def test_a_restarted_postgresql_loses_nothing(folder: Path, serve: Any, postgres: Any) -> None:
    """The whole database goes down without a word and comes back; the server stays."""
    url = postgres.database()
    server = serve(long_study(folder), "--database", url)
    crowd = Crowd(server, size=6, seed=4)

    def cut() -> None:
        postgres.stop()
        postgres.start()

    crowd.answer_until({30: cut, 60: server.kill})
    server.restart()
    assert crowd.check(open_database(folder, url)) >= 60
    crowd.close()


def test_a_stopped_server_stores_what_it_accepted(folder: Path, serve: Any) -> None:
    server = serve(long_study(folder))
    crowd = Crowd(server, size=8, seed=3)
    status: list[int] = []
    stopping: list[threading.Thread] = []

    def stop() -> None:
        stopping.append(threading.Thread(target=lambda: status.append(server.stop())))
        stopping[0].start()

    crowd.answer_until({60: stop})
    stopping[0].join()
    assert status == [0]
    server.restart()
    assert crowd.check(open_database(folder)) >= 60
    crowd.close()
