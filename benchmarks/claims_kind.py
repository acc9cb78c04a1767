"""How often a kind that nobody told is doubted, rightly and wrongly.

``python benchmarks/claims_kind.py [studies]``: simulated studies of each kind, read as if nobody
had said which question was asked; few and many answers, sure ones, noisy ones and guesses, objects
in one to four dimensions and in groups, the two other objects in any order or sorted.
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np

from trilens.kinds import KINDS
from trilens.questions.kind import kind_fit
from trilens.statements import Statements
from trilens.statements.doubt import doubt_about


def drawn(kind: str, rng: np.random.Generator) -> tuple[Statements, str]:
    """A study as a file without header has it, and how noisy it is."""
    n = int(rng.choice([8, 14, 25, 40, 80]))
    m = int(rng.choice([300, 700, 1500, 3000]))
    noise = str(rng.choice(["sure", "noisy", "guesses"], p=[0.4, 0.4, 0.2]))
    share = {"sure": 0.05, "noisy": 0.5, "guesses": 1.0}[noise]
    at = rng.normal(size=(n, int(rng.choice([1, 2, 3, 4]))))
    if rng.random() < 0.3:  # groups
        at = at * 0.3 + 2 * rng.normal(size=(3, at.shape[1]))[rng.integers(3, size=n)]
    shown = np.argsort(rng.random((m, n)), axis=1)[:, :3]
    ends = at[shown[:, [1, 0, 0]]] - at[shown[:, [2, 2, 1]]]
    far = np.linalg.norm(ends, axis=2) * np.exp(rng.normal(scale=0.15, size=(m, 3)))
    guessed = rng.random(m) < share
    if kind == "closer":
        nearer = np.where(guessed, rng.random(m) < 0.5, far[:, 2] < far[:, 1])
        rows = np.where(nearer[:, None], shown, shown[:, [0, 2, 1]])
    else:
        best = far.argmax(axis=1) if kind == "central" else far.argmin(axis=1)
        place = np.where(guessed, rng.integers(3, size=m), best)
        order = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])[place]
        rows = np.take_along_axis(shown, order, axis=1)
        how = rng.integers(3)
        if how == 1:  # the others by their numbers
            rows[:, 1:] = np.sort(rows[:, 1:], axis=1)
        elif how == 2:  # or by how central they are
            rank = np.argsort(np.argsort(np.linalg.norm(at, axis=1)))
            swap = rank[rows[:, 1]] > rank[rows[:, 2]]
            rows[swap] = rows[swap][:, [0, 2, 1]]
    return Statements(rows, n, kind="central"), noise


def main(studies: int) -> None:
    for kind in KINDS:
        told: Counter[tuple[str, str]] = Counter()
        for seed in range(studies):
            rng = np.random.default_rng([20250420, KINDS.index(kind), seed])
            S, noise = drawn(kind, rng)
            fits = "closer" if doubt_about(S) else kind_fit(S).fitting
            right = fits == kind and kind != "central"
            told[noise, "none" if fits is None else "right" if right else f"WRONG {fits}"] += 1
            if fits is not None and not right:
                print(kind, seed, noise, fits, len(S), S.n_objects, flush=True)
        print(kind, dict(sorted(told.items())), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 80)
