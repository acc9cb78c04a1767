"""The lens map, beside its rivals in the same run: CPU seconds and 0-1 loss.

    TRILENS_DATA=... [TRILENS_CBLEARN_PYTHON=...] python benchmarks/bench_lens_map.py [--quick]

The rivals: k-NN on the true distances (what no ordinal method is told), the paper's Algorithm 3
(LensDepthClassifier) and, where TRILENS_CBLEARN_PYTHON names an interpreter that has cblearn,
its SOE with one random start. USPS: 800 digits drawn from the 7291 training and 2007 test images
together, 300 labelled.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from trilens.counts import count_pairs
from trilens.datasets import load_cars, load_usps
from trilens.maps import LensMap
from trilens.maps.geometry import local_outliers
from trilens.questions.classify.map_classifier import MapClassifier
from trilens.questions.classify.paper import LensDepthClassifier
from trilens.questions.classify.tuning import tuned_classifier
from trilens.simulate import n_questions, simulate_statements, two_moons, with_outliers

LABELLED, DIGITS, DIMENSIONS = 300, 800, 20
#: kind, statements, error rate, target
USPS_RUNS = (
    ("central", 10**6, 0.0, 0.15),
    ("central", 10**7, 0.3, 0.15),
    ("odd", 10**6, 0.0, 0.18),
    ("closer", 10**6, 0.0, 0.18),
)
SOE = """
import sys, time, numpy as np
from cblearn.embedding import SOE
given = np.load(sys.argv[1])
start = time.process_time()
X = SOE(n_components=10, n_init=1, random_state=17).fit(given).embedding_
print(time.process_time() - start)
np.save(sys.argv[2], X)
"""


def loss(X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """0-1 loss of k-NN, k by cross-validation, on the unlabelled."""
    model = tuned_classifier("knn", X[:LABELLED], y[:LABELLED], seed)
    return float((model.predict(X[LABELLED:]) != y[LABELLED:]).mean())


def soe(triplets: np.ndarray) -> tuple[float, np.ndarray] | None:
    """CPU seconds and coordinates of cblearn's SOE, in an interpreter of its own."""
    python = os.environ.get("TRILENS_CBLEARN_PYTHON")
    if not python:
        return None
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "given.npy"), Path(folder, "found.npy")
        np.save(given, triplets)
        command = [python, "-W", "ignore", "-c", SOE, str(given), str(found)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        return float(run.stdout.split()[-1]), np.load(found)


def usps(n_seeds: int, quick: bool) -> None:
    digits = load_usps()
    drawn = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        picked = rng.permutation(len(digits.labels))[:DIGITS]
        drawn.append((digits.images[picked], digits.labels[picked]))
    true = np.mean([loss(X, y, seed) for seed, (X, y) in enumerate(drawn)])
    print(f"USPS, {n_seeds} draws of {DIGITS} digits: k-NN on the true points loses {true:.3f}")
    for kind, m, error_rate, target in USPS_RUNS:
        if quick and m > 10**6:
            continue
        ours, rival, cpu = [], [], []
        for seed, (X, y) in enumerate(drawn):
            S = simulate_statements(
                X, m, kind=kind, error_rate=error_rate, random_state=1000 + seed
            )
            LensMap(DIMENSIONS).fit(S.take(np.arange(100_000)))  # compiles and imports
            start = time.process_time()
            found = LensMap(DIMENSIONS, error_rate=error_rate).fit_transform(count_pairs(S))
            cpu.append(time.process_time() - start)
            ours.append(loss(found, y, seed))
            if kind == "central":
                known = np.where(np.arange(DIGITS) < LABELLED, y, -1)
                model = LensDepthClassifier(random_state=seed).fit(S, known)
                rival.append((model.transduction_ != y)[LABELLED:].mean())
        line = (
            f"{kind}, {m:,} statements, error rate {error_rate:g}: lens map loses "
            f"{np.mean(ours):.3f} (target {target}), counting and coordinates "
            f"{min(cpu):.3f} s CPU" + (" (target 0.2)" if m == 10**6 else "")
        )
        if rival:
            ratio = np.mean(rival) / np.mean(ours)
            line += f"; Algorithm 3 loses {np.mean(rival):.3f}, ratio {ratio:.1f}"
        print(line, flush=True)
    X, y = drawn[0]
    S = simulate_statements(X, 30_000 if quick else 300_000, random_state=1000)
    start = time.process_time()
    found = LensMap(10).fit_transform(count_pairs(S))
    cpu_ours = time.process_time() - start
    embedded = soe(S.to_triplets())
    if embedded is not None:
        print(
            f"{len(S):,} central statements, 10 dimensions: lens map {cpu_ours:.3f} s CPU, loses "
            f"{loss(found, y, 0):.3f}; cblearn SOE {embedded[0]:.1f} s, loses "
            f"{loss(embedded[1], y, 0):.3f}; ratio of CPU {embedded[0] / cpu_ours:.0f}",
            flush=True,
        )


def cars(n_splits: int) -> None:
    data = load_cars(pictures=False)
    kept = np.flatnonzero(data.labels != "outlier")
    truth = data.target[kept]
    for name, S in data.statements.items():
        given = S.subset(kept)
        losses: dict[str, list[float]] = {"lens map": [], "lens map, cv": [], "Algorithm 3": []}
        for seed in range(n_splits):
            hidden = np.random.default_rng(seed).permutation(len(kept))[:16]
            y = truth.copy()
            y[hidden] = -1
            models = (
                MapClassifier(map="lensmap", n_components=2, random_state=seed),
                MapClassifier(map="lensmap", random_state=seed),
                LensDepthClassifier(random_state=seed),
            )
            for what, model in zip(losses, models, strict=True):
                losses[what].append((model.fit(given, y).transduction_ != truth)[hidden].mean())
        line = ", ".join(f"{what} {np.mean(values):.3f}" for what, values in losses.items())
        print(f"cars {name}, {n_splits} choices of 16: {line} (target 0.06 in 2 dimensions)")


def moons(n_seeds: int) -> None:
    n_all = n_questions(204)
    for m, error_rate in ((n_all, 0.0), (n_all // 20, 0.0), (n_all // 4, 0.3)):
        ranks, true = [], []
        for seed in range(n_seeds):
            plain = two_moons(200, noise=0.06, random_state=seed)
            points = with_outliers(plain, [[0.5, 0.25], [-1.5, 1.8], [2.5, 1.8], [0.5, -1.6]])
            S = simulate_statements(points, m, error_rate=error_rate, random_state=1000 + seed)
            for found, X in ((ranks, LensMap(2).fit_transform(S)), (true, points.points)):
                score = local_outliers(X)
                found.append(1 + int((score > score[200]).sum()))
        print(
            f"moons, {m:,} statements, error rate {error_rate:g}: the outlier between them is "
            f"number {np.mean(ranks):.1f} of 204 on average of {n_seeds} (target 5); on the true "
            f"points {np.mean(true):.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    moons(3 if quick else 20)
    cars(5 if quick else 100)
    usps(1 if quick else 10, quick)


if __name__ == "__main__":
    main()
