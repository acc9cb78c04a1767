"""Adaptive elimination by depth (the paper's Section 7), beside random questions.

    python benchmarks/bench_elimination.py [--runs 60]

60 Gaussian points of the plane. Elimination asks in five rounds: about all objects, then in each
round about the deeper half of those that are left, each with two others drawn at random, and
takes the deepest of the last ones. Printed is the relative error of the medoid.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.spatial.distance import cdist

import trilens as tl
from trilens.questions.medoid import relative_error
from trilens.simulate import answer

N_OBJECTS, ROUNDS = 60, 5
#: Answers, and the share of wrong ones.
SETTINGS = ((600, 0.0), (600, 0.3), (3000, 0.3))


def questions(rng: np.random.Generator, about: np.ndarray, count: int) -> np.ndarray:
    """So many questions, about each of these objects in turn, with two others."""
    first = np.resize(about, count)
    others = np.array([rng.choice(N_OBJECTS - 1, 2, replace=False) for _ in range(count)])
    return np.column_stack([first, others + (others >= first[:, None])])


def eliminated(D: np.ndarray, count: int, error_rate: float, rng: np.random.Generator) -> int:
    """The medoid by elimination."""
    left, counts = np.arange(N_OBJECTS), 0
    for _ in range(ROUNDS):
        asked = tl.Statements(
            questions(rng, left, count // ROUNDS), n_objects=N_OBJECTS, kind="central"
        )
        S = answer(asked, D, error_rate=error_rate, random_state=rng)
        counts = counts + tl.count_central(S)
        LD = tl.lens_depth(counts)
        left = left[np.argsort(-LD[left], kind="stable")][: max(len(left) // 2, 2)]
    return int(left[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    runs = parser.parse_args().runs
    for count, error_rate in SETTINGS:
        found: dict[str, list[float]] = {}
        for run in range(runs):
            rng = np.random.default_rng(run)
            X = rng.standard_normal((N_OBJECTS, 2))
            D = cdist(X, X)
            S = tl.simulate_statements(
                D, count, error_rate=error_rate, sampling="replacement", random_state=rng
            )
            for method, index in (
                ("random questions, Algorithm 1", tl.lens.algorithm_1(S)),
                ("elimination, Algorithm 1", eliminated(D, count, error_rate, rng)),
                ("random questions, choice model", tl.medoid(S, "choice").index),
            ):
                found.setdefault(method, []).append(relative_error(index, D.sum(axis=1)))
        for method, errors in found.items():
            spread = np.std(errors, ddof=1) / np.sqrt(runs)
            print(f"{count} answers, {error_rate:.0%} wrong, {method}: ", end="")
            print(f"{np.mean(errors):.3f} ± {spread:.3f}", flush=True)


if __name__ == "__main__":
    main()
