"""Ordinal embeddings beside cblearn 0.4.0, on all statements of points in the plane.

    python benchmarks/bench_embeddings.py [--quick] [--rival-python PATH]

cblearn pins an old numpy, so it lives in a virtual environment of its own; its interpreter is
given by --rival-python or TRILENS_CBLEARN_PYTHON. Both sides time the fit alone, in CPU and
wall seconds, without imports; ours after one short fit that compiles. Data and estimators have
different seeds. Every number is an average over the same number of seeds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from trilens.maps import GNMDS, SOE, STE, TSTE, violations
from trilens.statements import Statements

METHODS = {"SOE": (SOE, 5), "STE": (STE, 3), "TSTE": (TSTE, 3), "GNMDS": (GNMDS, 3)}
INSTALL = (
    "python3 -m venv DIR && DIR/bin/pip install cblearn==0.4.0, then --rival-python DIR/bin/python"
)

RIVAL = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from cblearn import embedding
triplets, out, name, dim, seeds = np.load(sys.argv[1]), sys.argv[2], *json.loads(sys.argv[3])
runs = []
for seed in seeds:
    options = {"n_init": 1} if name == "SOE" else {}
    estimator = getattr(embedding, name)(dim, random_state=seed, **options)
    wall, cpu = time.perf_counter(), time.process_time()
    estimator.fit(triplets)
    runs.append([time.process_time() - cpu, time.perf_counter() - wall])
    np.save(f"{out}/{seed}.npy", estimator.embedding_)
print(json.dumps(runs))
"""


def all_statements(n: int, seed: int) -> Statements:
    """All statements of n points of N(0, I2)."""
    points = np.random.default_rng(seed).standard_normal((n, 2))
    D = np.linalg.norm(points[:, None] - points[None], axis=2)
    T = np.array(list(itertools.combinations(range(n), 3)))
    a, b, c = T.T
    longest = np.stack([D[b, c], D[a, c], D[a, b]], axis=1).argmax(axis=1)
    order = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])[longest]
    return Statements(np.take_along_axis(T, order, axis=1), n_objects=n, kind="central")


def ours(name: str, S: Statements, init: str, seeds: list[int]) -> np.ndarray:
    """(CPU seconds, wall seconds, share of violated triplets), averaged over seeds."""
    Estimator, _ = METHODS[name]
    Estimator(init=init, max_iter=2, random_state=0).fit(S)
    runs = []
    for seed in seeds:
        estimator = Estimator(init=init, random_state=seed)
        wall, cpu = time.perf_counter(), time.process_time()
        estimator.fit(S)
        times = time.process_time() - cpu, time.perf_counter() - wall
        runs.append([*times, violations(estimator.embedding_, S)])
    return np.mean(runs, axis=0)


def rivals(python: str, name: str, S: Statements, seeds: list[int]) -> np.ndarray:
    """The same of cblearn, in a process of its own: a row for each seed."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/triplets.npy", S.to_triplets())
        arguments = [f"{folder}/triplets.npy", folder, json.dumps([name, 2, seeds])]
        done = subprocess.run(
            [python, "-c", RIVAL, *arguments],
            check=True,
            capture_output=True,
            text=True,
            # At its best: the threads of BLAS slow its optimiser down.
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )
        violated = [violations(np.load(f"{folder}/{seed}.npy"), S) for seed in seeds]
    return np.column_stack([json.loads(done.stdout), violated])


def show(who: str, result: np.ndarray, rest: str = "") -> None:
    cpu, wall, violated = result
    print(f"  {who:22s} CPU {cpu:7.3f} s  wall {wall:7.3f} s  violated {violated:9.5%}  {rest}")
    sys.stdout.flush()


def compare(
    title: str, S: Statements, methods: list[str], seeds: list[int], python: str | None
) -> None:
    """Methods on the same statements."""
    print(f"{title}: {len(S):,} statements, {2 * len(S):,} triplets, 2-D, {len(seeds)} seeds")
    for name in methods:
        _, target = METHODS[name]
        print(f" {name}")
        rival = rivals(python, name, S, seeds).mean(axis=0) if python else None
        if rival is not None:
            show("cblearn", rival)
        for init in ("random", "lensmap"):
            result = ours(name, S, init, seeds)
            rest = ""
            if rival is not None:
                rest = (
                    f"{rival[0] / result[0]:5.1f} x CPU (target {target}), "
                    f"{rival[1] / result[1]:5.1f} x wall, "
                    f"{'no more' if result[2] <= rival[2] else 'MORE'} violated"
                )
            show(f"trilens, {init} start", result, rest)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="40 points, one seed")
    parser.add_argument("--seeds", type=int, default=3, help="starts per method")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--rival-python", default=os.environ.get("TRILENS_CBLEARN_PYTHON"))
    options = parser.parse_args()
    python = options.rival_python
    if python is None:
        print(f"cblearn is not measured; to install it: {INSTALL}")
    seeds = list(range(100, 101 if options.quick else 100 + options.seeds))
    print("fits only; ours after a short fit that compiles (small data needs no compiler)")
    n = 40 if options.quick else 100
    compare(f"{n} points of N(0, I2)", all_statements(n, seed=7), options.methods, seeds, python)
    folder = os.environ.get("TRILENS_DATA")
    if folder is None:
        print("the cars are not measured; set TRILENS_DATA to the folder of the data sets")
    else:
        cars = Path(folder, "cars", "ordinal_data_preprocessed", "T_ALL.csv")
        S = Statements(
            np.loadtxt(cars, delimiter=",", dtype=np.int32) - 1, n_objects=60, kind="central"
        )
        compare("60 cars, T_ALL", S, options.methods, seeds, python)


if __name__ == "__main__":
    main()
