"""Simulated studies of all kinds, sizes and shapes, for what must hold on every page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from trilens.answers import Answers
from trilens.files import write_statements
from trilens.simulate import simulate_statements
from trilens.statements import Statements

SHAPES = (
    "cloud", "line", "ring", "groups", "groups in groups", "outliers", "guesses", "parts", "bent",
)  # fmt: skip
KINDS = ("central", "odd", "closer")
#: Objects, and answers for each.
SIZES = ((5, 12), (8, 25), (14, 30), (20, 40), (24, 12), (36, 6), (50, 30))
RATERS = ("none", "one", "few", "many", "rounds")
SELECTED = ("all", "excluded", "slow", "where", "bad", "checks")


def points_of(shape: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Where the objects lie."""
    at = rng.uniform(0, 1, n)
    if shape == "line":
        return np.c_[10 * np.sort(at), 0.1 * rng.normal(size=n)]
    if shape == "bent":
        return np.c_[4 * np.cos(2 * at), 4 * np.sin(2 * at)] + 0.05 * rng.normal(size=(n, 2))
    if shape == "ring":
        return np.c_[np.cos(2 * np.pi * at), np.sin(2 * np.pi * at)]
    centres = {
        "groups": [[0, 0], [9, 0], [0, 9]],
        "groups in groups": [[0, 0], [5, 0], [40, 0], [45, 0]],
    }.get(shape, [[0, 0]])
    X = np.array(centres, dtype=float)[np.arange(n) % len(centres)] + rng.normal(size=(n, 2))
    if shape == "outliers":
        X[:2] += 12
    return X


def draw(seed: int, folder: Path) -> tuple[Any, Any, str]:
    """Answers, labels or None, and what they are in a few words."""
    rng = np.random.default_rng([seed, 7])
    shape, kind = SHAPES[seed % len(SHAPES)], KINDS[(seed // 9) % 3]
    n, each = SIZES[int(rng.integers(len(SIZES)))]
    raters = RATERS[int(rng.integers(len(RATERS)))]
    chosen = SELECTED[int(rng.integers(len(SELECTED)))]
    labelled = bool(rng.random() < 0.25)
    m = n * each
    S = simulate_statements(
        points_of(shape, n, rng), m, kind=kind, sampling="replacement", random_state=seed
    )
    T = S.triples.copy()
    wrong = rng.random(m) < (1.0 if shape == "guesses" else rng.choice([0.0, 0.15, 0.35]))
    for row in np.flatnonzero(wrong):
        T[row] = rng.permutation(T[row])
    if shape == "parts":
        T = T[(n // 2 > T).all(axis=1) | (n // 2 <= T).all(axis=1)]
        m = len(T)
    names = [f"object {i:03d} " + "x" * int(rng.choice([0, 0, 3, 150])) for i in range(n)]
    who = rng.integers({"few": 3, "many": 12}.get(raters, 1), size=m).astype(str)
    S = Statements(
        T,
        n_objects=n,
        names=names,
        kind=kind,
        raters=None if raters in ("none", "rounds") else [f"rater {w}" for w in who],
        rounds=(np.arange(m) // 20).tolist() if raters == "rounds" else None,
        seconds=rng.lognormal(1, 0.7, m).tolist() if raters != "none" else None,
    )
    labels = None
    if labelled:
        labels = {name: None if i % 4 == 0 else "ab"[i % 2] for i, name in enumerate(names)}
    said = f"{seed}: {shape}, {kind}, {n} objects, {m} answers, raters {raters}, {chosen}"
    return _answers(S, chosen, folder / f"{seed}.csv"), labels, said


def _answers(S: Statements, chosen: str, file: Path) -> Any:
    """The answers, some of them left out in one way or another."""
    if chosen == "all" or not len(S):
        return S
    write_statements(S, file)
    lines = file.read_text().splitlines()
    options: dict[str, Any] = {}
    if chosen == "excluded" and S.raters is not None and len(set(S.raters.tolist())) > 2:
        options["exclude_raters"] = [str(S.raters[0])]
    elif chosen == "slow" and S.seconds is not None:
        options["min_seconds"] = float(np.quantile(S.seconds, 0.1))
    elif chosen == "where":
        lines = [f"{line},{'half' if i == 0 else 'ab'[i % 5 == 0]}" for i, line in enumerate(lines)]
        options["where"] = ["half = a"]
    elif chosen == "bad":
        lines.insert(3, "," * lines[0].count(","))
        options["skip_bad"] = True
    elif chosen == "checks":
        cells = lines[1].split(",")
        lines += [",".join([cells[0], cells[0], *cells[2:]])] * 2
    file.write_text("\n".join(lines) + "\n")
    return Answers(file, kind=S.kind, **options)
