"""A CSV of integer names, read and counted, beside pyarrow's own parse of the file.

    python benchmarks/bench_csv.py [--quick]

Target: 10^7 rows within 3 times of pyarrow. Both are timed in turn in the same process, the
best of several, by the wall clock and by CPU seconds.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.csv as pc

from trilens.counts import count_central
from trilens.files import read_statements, write_statements
from trilens.statements import Statements

N_OBJECTS = 8638


def draw(m: int, random_state: int = 0) -> Statements:
    """``m`` statements about three different objects drawn at random."""
    rng = np.random.default_rng(random_state)
    first = rng.integers(0, N_OBJECTS, m)
    second = (first + rng.integers(1, N_OBJECTS - 1, m)) % N_OBJECTS
    third = rng.integers(0, N_OBJECTS, m)
    while (same := (third == first) | (third == second)).any():
        third[same] = rng.integers(0, N_OBJECTS, int(same.sum()))
    return Statements(
        np.stack([first, second, third], axis=1).astype(np.int32), N_OBJECTS, kind="central"
    )


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the wall clock and of CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10^6 rows, three rounds")
    quick = parser.parse_args().quick
    m, rounds = (10**6, 3) if quick else (10**7, 5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "statements.csv"
        write_statements(draw(m), path)
        jobs: dict[str, Callable[[], object]] = {
            "pyarrow.csv.read_csv": lambda: pc.read_csv(path),
            "read_statements": lambda: read_statements(path),
            "read_statements + count_central": lambda: count_central(read_statements(path)),
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
        for _ in range(rounds):
            for name, work in jobs.items():
                times[name].append(timed(work))
        size = path.stat().st_size / 1e6
    print(f"CSV, {m:,} rows, {N_OBJECTS:,} objects, {size:.0f} MB, best of {rounds}")
    wall = {name: min(t[0] for t in seen) for name, seen in times.items()}
    cpu = {name: min(t[1] for t in seen) for name, seen in times.items()}
    rival = "pyarrow.csv.read_csv"
    for name in jobs:
        print(
            f"{name:34} {wall[name]:7.3f} s wall {cpu[name]:7.3f} s CPU   "
            f"{wall[name] / wall[rival]:5.2f} x pyarrow (wall) {cpu[name] / cpu[rival]:5.2f} (CPU)"
        )


if __name__ == "__main__":
    main()
