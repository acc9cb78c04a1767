"""Depth of many points: memory, estimates, queries, the deepest, the k-RNG, beside rivals.

    python benchmarks/bench_depth.py [--quick] [--large] [--data-depth-python rival/bin/python]

Each exact run has a process of its own, whose peak memory is told. ``--large`` adds 50,000 points,
which take minutes. data-depth is looked for as in bench_exact.py.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench_exact import timed

RIVAL = """
import sys, time
import numpy as np
from depth.model.multivariate.BetaSkeleton import betaSkeleton
X, new = np.load(sys.argv[1]), np.load(sys.argv[2])
wall, cpu = time.perf_counter(), time.process_time()
depth = betaSkeleton(new, X, beta=2)
print(time.perf_counter() - wall, time.process_time() - cpu, *depth)
"""
EXACT = """
import resource, sys, time
import numpy as np
from trilens import exact
n = int(sys.argv[1])
X = np.random.default_rng(3).normal(size=(n, 2))
exact.lens_depth(X[:300], metric="euclidean", device="cpu")
wall, cpu = time.perf_counter(), time.process_time()
data = X if sys.argv[2] == "points" else np.load(sys.argv[2], mmap_mode="r")
metric = "euclidean" if sys.argv[2] == "points" else None
depth = exact.lens_depth(data, metric=metric, device="cpu", n_threads=2)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(wall, cpu, peak, int(depth.sum()))
"""


def exactly(n: int, source: str = "points") -> None:
    done = subprocess.run(
        [sys.executable, "-c", EXACT, str(n), source], capture_output=True, text=True, check=True
    )
    wall, cpu, peak, _ = map(float, done.stdout.split())
    triples = n * (n - 1) * (n - 2) / 6
    what = "points" if source == "points" else "a memory map of float32"
    print(
        f"exact depth of {n:,}, from {what}: {wall:.1f} s wall, {cpu:.1f} s CPU, peak memory "
        f"{peak:.2f} GiB, {triples / wall:.3g} triples/s",
        flush=True,
    )


def estimates(n: int) -> None:
    from trilens import exact

    X = np.random.default_rng(4).normal(size=(n, 2))
    exact.lens_depth(X[:2000], metric="euclidean", precision=0.1)
    found, wall, cpu = timed(lambda: exact.lens_depth(X, metric="euclidean", precision=0.01))
    print(
        f"depth of each of {n:,} points within 0.01 at 0.95: {found.n_pairs:,} pairs, "
        f"{wall:.1f} s wall, {cpu:.1f} s CPU",
        flush=True,
    )
    # the depth of the standard normal in the plane depends on the radius alone
    some = np.random.default_rng(5).choice(n, 200, replace=False)
    subset = np.random.default_rng(6).choice(n, 4000, replace=False)
    exactly_there = exact.lens_depth(X[subset], X[some], metric="euclidean", normalise=True)
    gap = np.abs(exactly_there - found.depth[some]).max()
    print(f"  200 of them against the exact depth in 4000 drawn points: largest gap {gap:.4f}")


def queries(n: int, python: str | None) -> None:
    import trilens as tl

    rng = np.random.default_rng(7)
    X, new = rng.normal(size=(n, 2)), rng.normal(size=(50, 2))
    detector, wall, cpu = timed(lambda: tl.LensDepth(device="cpu").fit(X))
    print(f"LensDepth().fit, {n:,} points: {wall:.1f} s wall, {cpu:.1f} s CPU", flush=True)
    detector.score_samples(new[:1])
    walls, cpus = [], []
    for x in new:
        _, wall, cpu = timed(lambda x=x: detector.score_samples(x[None]))
        walls.append(wall)
        cpus.append(cpu)
    print(
        f"one query: median {1000 * np.median(walls):.1f} ms wall, {1000 * np.median(cpus):.1f} ms "
        f"CPU; slowest {1000 * max(walls):.1f} ms wall",
        flush=True,
    )
    _, wall, cpu = timed(lambda: detector.score_samples(new))
    print(f"  {len(new)} at once: {1000 * wall / len(new):.2f} ms wall each", flush=True)
    if importlib.util.find_spec("depth") is not None:
        python = sys.executable
    if python is None:
        print("  data-depth: not here; see the top of bench_exact.py for how to install it")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, value in (("X", X), ("new", new[:1])):
            np.save(Path(folder) / f"{name}.npy", value)
        done = subprocess.run(
            [python, "-c", RIVAL, f"{folder}/X.npy", f"{folder}/new.npy"],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        print(f"  data-depth: did not run: {done.stderr.strip().splitlines()[-1]}")
        return
    wall, cpu, depth = map(float, done.stdout.split())
    gap = abs(detector.score_samples(new[:1])[0] - depth)
    print(
        f"  data-depth, one query: {1000 * wall:,.0f} ms wall, {1000 * cpu:,.0f} ms CPU, "
        f"{wall / np.median(walls):.0f} times ours (CPU {cpu / np.median(cpus):.0f}); "
        f"difference of the depths {gap:.2g}",
        flush=True,
    )


def deepest(n: int, tolerance: float) -> None:
    from trilens import exact
    from trilens.exact.sampling import pairs_needed

    X = np.random.default_rng(8).normal(size=(n, 2))
    found, wall, cpu = timed(lambda: exact.deepest(X, 10, metric="euclidean", tolerance=tolerance))
    fixed = pairs_needed(tolerance / 2, 1 - 0.05 / n)
    by_size = 2 * fixed * n
    to_the_end = 2 * found.n_pairs * n
    print(
        f"the 10 deepest of {n:,} within {tolerance} at 0.95: {found.n_distances:.3g} distances, "
        f"{wall:.1f} s wall, {cpu:.1f} s CPU\n"
        f"  uniform sampling by the same bounds, no point dropped: {to_the_end:.3g}, "
        f"{to_the_end / found.n_distances:.0f} times as many\n"
        f"  uniform sampling, one size for all ({fixed:,} pairs): {by_size:.3g}, "
        f"{by_size / found.n_distances:.0f} times as many",
        flush=True,
    )
    radius = np.linalg.norm(X, axis=1)
    print(f"  their radii: {np.sort(radius[found.indices]).round(3).tolist()}")


def graphs(n: int) -> None:
    from scipy.spatial import Delaunay

    from trilens import exact

    X = np.random.default_rng(9).normal(size=(n, 2))
    exact.k_rng(X[:3000], 1, metric="euclidean")
    for k in (1, 10):
        graph, wall, cpu = timed(lambda k=k: exact.k_rng(X, k, metric="euclidean"))
        print(
            f"k-RNG of {n:,} points in the plane, k = {k}: {graph.nnz // 2:,} edges, "
            f"{wall:.1f} s wall, {cpu:.1f} s CPU",
            flush=True,
        )
    _, wall, cpu = timed(lambda: Delaunay(X))
    print(
        f"  scipy's Delaunay triangulation, which holds the RNG: {wall:.1f} s wall, {cpu:.1f} s CPU"
    )
    m = n // 5
    graph, wall, cpu = timed(lambda: exact.k_rng(X[:m], 1, metric="cityblock"))
    print(f"k-RNG of {m:,}, cityblock, any metric: {wall:.1f} s wall, {cpu:.1f} s CPU", flush=True)


def memory_map(n: int) -> None:
    """From a file, of which no more than blocks are in memory."""
    from scipy.spatial.distance import cdist

    X = np.random.default_rng(3).normal(size=(n, 2))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "D.npy"
        D = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, n))
        for at in range(0, n, 1000):
            D[at : at + 1000] = cdist(X[at : at + 1000], X)
        D.flush()
        del D
        exactly(n, str(path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the points")
    parser.add_argument("--large", action="store_true", help="50,000 points as well")
    parser.add_argument("--only", help="one part: exact, map, estimates, queries, deepest, graphs")
    parser.add_argument("--data-depth-python", default=os.environ.get("DATA_DEPTH_PYTHON"))
    options = parser.parse_args()
    part = 10 if options.quick else 1
    parts: dict[str, Callable[[], None]] = {
        "exact": lambda: exactly(20_000 // part),
        "map": lambda: memory_map(12_000 // part),
        "estimates": lambda: estimates(1_000_000 // part),
        "queries": lambda: queries(10_000 // part, options.data_depth_python),
        "deepest": lambda: deepest(100_000 // part, 0.01),
        "graphs": lambda: graphs(100_000 // part),
    }
    if options.large:
        parts["large"] = lambda: exactly(50_000)
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    for name, run in parts.items():
        if options.only in (None, name):
            run()


if __name__ == "__main__":
    main()
