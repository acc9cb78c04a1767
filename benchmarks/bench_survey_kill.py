"""Acknowledged answers after `kill -9` of the survey's server, again and again under load.

    python benchmarks/bench_survey_kill.py [--kills 50] [--postgres]

A crowd answers; after a random number of acknowledged answers the server is killed and started
again. Then every acknowledged answer must be in the database, none twice, and every participant
must get the question that was open. With --postgres the server's database backends are killed
before it too, and every tenth time PostgreSQL is stopped at once and started again instead.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from killing import Crowd, long_study
from studies import Postgres, Served
from trilens_survey.database import open_database
from trilens_survey.example import write_example


def _restart(cluster: Postgres) -> Callable[[], None]:
    def restart() -> None:
        cluster.stop()
        cluster.start()

    return restart


def _cut(cluster: Postgres, url: str) -> Callable[[], None]:
    return lambda: cluster.kill_backends(url)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--participants", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--postgres", action="store_true")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder = Path(place) / "study"
        write_example(folder)
        long_study(folder)
        cluster = None
        options: list[str] = []
        if given.postgres:
            (Path(place) / "pg").mkdir()
            Path(place).chmod(0o755)
            cluster = Postgres(Path(place) / "pg")
            options = ["--database", cluster.database()]
        server = Served(folder, *options)
        crowd = Crowd(server, given.participants, given.seed)
        database = open_database(folder, options[1] if options else None)
        stored = 0
        for i in range(1, given.kills + 1):
            last = rng.randint(50, 250)
            strikes = {last: server.kill}
            if cluster is not None:
                strikes[last // 2] = _restart(cluster) if i % 10 == 0 else _cut(cluster, options[1])
            crowd.answer_until(strikes)
            server.start()
            stored = crowd.check(database)
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{i} kills, {stored:,} answers")
        told = sum(len(rater.told) for rater in crowd.raters)
        crowd.close()
        server.close()
        if cluster is not None:
            cluster.stop()
    what = "PostgreSQL, each after one of its backends" if given.postgres else "SQLite"
    print(
        f"{given.kills} kills of the server on {what}: "
        f"{told:,} answers acknowledged, 0 of them lost, "
        f"none stored twice, {stored:,} stored; all {given.participants} participants went on "
        f"with the question that was open"
    )


if __name__ == "__main__":
    main()
