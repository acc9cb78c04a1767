"""Drawing statements without replacement, with Noise model I, against a plain numpy way.

    python benchmarks/bench_simulate.py [--quick]

Target: 10^7 of the statements of 8638 objects at 5 * 10^6 a second or more. The rival draws
random triples with replacement, drops repeats by `np.unique`, draws again until there are
enough, and answers with array operations.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from math import comb

import numpy as np

from trilens.simulate import simulate_statements, stream_statements

TARGET = 5e6


def network_like(n: int, seed: int) -> np.ndarray:
    """Small whole numbers with many ties, as shortest paths of a network have."""
    X = np.random.default_rng(seed).normal(size=(n, 2)).astype(np.float32)
    D = np.empty((n, n), dtype=np.uint8)
    for i in range(n):
        D[i] = np.minimum(1 + 2 * np.hypot(X[:, 0] - X[i, 0], X[:, 1] - X[i, 1]), 17)
    np.fill_diagonal(D, 0)
    return np.maximum(D, D.T)


def by_numpy(D: np.ndarray, m: int, error_rate: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n = len(D)
    keys = np.empty(0, dtype=np.int64)
    while len(keys) < m:
        more = np.sort(rng.integers(n, size=(int(1.05 * (m - len(keys))) + 100, 3)), axis=1)
        more = more[(more[:, 0] < more[:, 1]) & (more[:, 1] < more[:, 2])]
        keys = np.unique(np.concatenate([keys, (more[:, 0] * n + more[:, 1]) * n + more[:, 2]]))
    keys = rng.permutation(keys)[:m]
    T = np.stack([keys // n**2, keys // n % n, keys % n], axis=1)
    sides = np.stack([D[T[:, 1], T[:, 2]], D[T[:, 0], T[:, 2]], D[T[:, 0], T[:, 1]]], axis=1)
    # ties at random: a random part below one, which is the step between whole numbers
    chosen = (sides + rng.random(sides.shape)).argmax(axis=1)
    chosen = (chosen + (rng.random(m) < error_rate) * rng.integers(1, 3, size=m)) % 3
    order = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])[chosen]
    return np.take_along_axis(T, order, axis=1).astype(np.int32)


def best(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Wall and CPU seconds, the best of several."""
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the statements")
    m = 10**6 if parser.parse_args().quick else 10**7
    n = 8638
    D = network_like(n, seed=0)
    X = np.random.default_rng(1).normal(size=(n, 2))
    print(f"{m:,} of the {comb(n, 3):.3g} statements of {n} objects, 30 % wrong answers")
    ways: dict[str, Callable[[], object]] = {
        "whole matrix uint8": lambda: simulate_statements(D, m, error_rate=0.3, random_state=0),
        "streamed, uint8": lambda: [
            len(part) for part in stream_statements(D, m, error_rate=0.3, random_state=0)
        ],
        "whole, from points": lambda: simulate_statements(X, m, error_rate=0.3, random_state=0),
    }
    simulate_statements(D, 600_000, random_state=0)  # compiled, or read from the cache
    simulate_statements(X, 600_000, random_state=0)
    rival_wall, rival_cpu = best(lambda: by_numpy(D, m, 0.3, 0), 1 if m > 10**6 else 3)
    for name, work in ways.items():
        wall, cpu = best(work, 5)
        print(
            f"{name:20} {m / wall:9.3g} statements/s  {wall:6.2f} s wall  {cpu:6.2f} s CPU  "
            f"{rival_wall / wall:5.1f} times numpy (CPU: {rival_cpu / cpu:.1f})"
            + (f"  target {TARGET:.0e}/s" if name.startswith("whole matrix") else "")
        )
    print(f"{'plain numpy':20} {m / rival_wall:9.3g} statements/s  {rival_wall:6.2f} s wall")
    nearly = comb(250, 3) - 1
    small = D[:250, :250].copy()
    wall, cpu = best(lambda: simulate_statements(small, nearly, random_state=0), 5)
    print(
        f"nearly all ({nearly:,} of 250 objects): {nearly / wall:.3g} statements/s, "
        f"{wall:.2f} s wall, {cpu:.2f} s CPU"
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process {peak:,.0f} MiB")


if __name__ == "__main__":
    main()
