"""Exact lens counts and depth beside the rivals, in one run.

Against data-depth's beta-skeleton depth (beta = 2 is the lens depth) and against the plain loop
over row ranks. data-depth is looked for in this environment, then in the Python that
``--data-depth-python`` or the variable DATA_DEPTH_PYTHON names; to install it:

    python -m venv rival && rival/bin/pip install data-depth
    python benchmarks/bench_exact.py --data-depth-python rival/bin/python

    python benchmarks/bench_exact.py [--quick] [--threads T] [--network ca-HepTh.txt.gz]
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from trilens import exact
from trilens.exact.sweep import row_ranks

RIVAL = """
import sys, time
import numpy as np
from depth.model.multivariate.BetaSkeleton import betaSkeleton
X = np.load(sys.argv[1])
wall, cpu = time.perf_counter(), time.process_time()
depth = betaSkeleton(X, X, beta=2)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
np.savez(sys.argv[2], depth=depth, wall=wall, cpu=cpu)
"""


def timed(function: Callable[[], Any], repeats: int = 1) -> tuple[Any, float, float]:
    """The result, and the best wall and CPU seconds of several runs."""
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        result = function()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return result, min(walls), min(cpus)


def line(name: str, wall: float, cpu: float, more: str = "") -> None:
    print(f"  {name:<46} {wall:9.3f} s wall {cpu:9.3f} s CPU{more}", flush=True)


def against_data_depth(n: int, python: str | None, threads: int) -> None:
    print(f"Lens depth of all of {n} points in the plane", flush=True)
    X = np.random.default_rng(1).normal(size=(n, 2))
    exact.lens_depth(X[:250], metric="euclidean")
    depth, wall, cpu = timed(
        lambda: exact.lens_depth(X, normalise=False, metric="euclidean", n_threads=threads),
        repeats=7,
    )
    line("trilens lens_depth, from the points", wall, cpu)
    if importlib.util.find_spec("depth") is not None:
        python = sys.executable
    if python is None:
        print("  data-depth: not here; see the top of this file for how to install it")
        return
    with tempfile.TemporaryDirectory() as folder:
        points, answer = Path(folder) / "X.npy", Path(folder) / "answer.npz"
        np.save(points, X)
        done = subprocess.run(
            [python, "-c", RIVAL, points, answer], capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(f"  data-depth: did not run: {done.stderr.strip().splitlines()[-1]}")
            return
        rival = dict(np.load(answer))
    line("data-depth betaSkeleton(beta=2)", float(rival["wall"]), float(rival["cpu"]))
    print(f"  ratio: {rival['wall'] / wall:.0f} (CPU {rival['cpu'] / cpu:.0f})")
    theirs = rival["depth"] * (n * (n - 1) / 2)
    # its lenses are open as ours are; it divides by all pairs, those with the point among them
    gap = np.abs(theirs - depth).max()
    print(f"  largest difference of the numbers of pairs: {gap:.3g}")


@njit(nogil=True, cache=True)
def plain_tile(R, i0, i1, j0, j1, counts):  # type: ignore[no-untyped-def]
    """The prototype: for each pair of a tile compare the 16-bit ranks of both rows."""
    for i in range(i0, i1):
        for j in range(max(j0, i + 1), j1):
            a, b = R[i, j], R[j, i]
            size = 0
            for k in range(R.shape[1]):
                size += (R[i, k] < a) & (R[j, k] < b)
            counts[i, j] = counts[j, i] = size


def plain_counts(D: np.ndarray, threads: int, side: int = 64) -> np.ndarray:
    """The prototype's lens counts: row ranks in 16 bits, tiles of 64 by 64, threads."""
    n = len(D)
    R, counts = np.empty((n, n), np.uint16), np.zeros((n, n), np.int32)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda i: row_ranks(D[i : i + 256], R[i : i + 256]), range(0, n, 256)))

        def row(i: int) -> None:
            for j in range(i, n, side):
                plain_tile(R, i, min(n, i + side), j, min(n, j + side), counts)

        list(pool.map(row, range(0, n, side)))
    return counts


def against_the_plain_loop(name: str, D: np.ndarray, threads: int) -> None:
    n = len(D)
    triples = n * (n - 1) * (n - 2) / 6
    print(f"{name}: {n} objects, {triples:.3g} triples, {threads} threads", flush=True)
    counts, wall, cpu = timed(lambda: exact.lens_counts(D, n_threads=threads))
    line("trilens lens_counts", wall, cpu, f"  {triples / wall:.3g} triples/s")
    depth, depth_wall, depth_cpu = timed(
        lambda: exact.lens_depth(D, normalise=False, n_threads=threads)
    )
    line("trilens lens_depth", depth_wall, depth_cpu, f"  {triples / depth_wall:.3g} triples/s")
    plain, plain_wall, plain_cpu = timed(lambda: plain_counts(D, threads))
    line("plain loop over ranks, lens_counts", plain_wall, plain_cpu)
    print(f"  ratio of lens_counts: {plain_wall / wall:.2f} (CPU {plain_cpu / cpu:.2f})")
    print(f"  equal counts: {np.array_equal(counts, plain)}")
    derived = (n - 1) * (n - 2) // 2 - counts.sum(axis=1, dtype=np.int64)
    ties = np.count_nonzero(derived != depth)
    print(f"  objects whose depth the sizes of the lenses alone do not tell, for ties: {ties}")


def network(path: Path) -> np.ndarray:
    """Shortest paths in the largest component of an edge list."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    with gzip.open(path, "rt") as file:
        ids, edges = np.unique(np.loadtxt(file, dtype=np.int64), return_inverse=True)
    edges = edges.reshape(-1, 2)
    A = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(len(ids), len(ids)))
    component = connected_components(A, directed=False)[1]
    largest = np.flatnonzero(component == np.bincount(component).argmax())
    D, wall, cpu = timed(lambda: exact.graph_dissimilarities(A[largest][:, largest]))
    line("trilens graph_dissimilarities", wall, cpu, f"  longest path {D.max()}, {D.dtype}")
    return D


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data-depth-python", default=os.environ.get("DATA_DEPTH_PYTHON"))
    parser.add_argument("--network", type=Path, help="an edge list, gzipped, such as ca-HepTh")
    options = parser.parse_args()
    against_data_depth(200 if options.quick else 1000, options.data_depth_python, options.threads)
    n = 1500 if options.quick else 8638
    warm = exact.dissimilarities(np.random.default_rng(2).normal(size=(300, 2)))
    plain_counts(warm, 1)
    exact.lens_counts(warm)
    D = exact.dissimilarities(np.random.default_rng(3).normal(size=(n, 2)))
    against_the_plain_loop("Points in the plane", D, options.threads)
    if options.network is not None:
        against_the_plain_loop("Network", network(options.network), options.threads)


if __name__ == "__main__":
    main()
