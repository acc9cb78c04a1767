"""Whether a choice map finds its error rate and its dimensions, at every size, and what that costs.

Points of a standard normal distribution, 100 answers for each object about triples drawn at random,
of which a share is replaced by a wrong answer:

    python benchmarks/bench_evidence.py --out new.jsonl
    python benchmarks/bench_evidence.py --out new.jsonl --table --against old.jsonl

The first line adds the studies that are not yet in the file; with another source tree on PYTHONPATH
it measures that one. The second prints the tables.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import trilens as tl

SIZES, DIMENSIONS, WRONG = (100, 195, 205, 300, 600, 1200), (2, 3, 5), (0.1, 0.3)
KINDS = ("central", "odd", "closer")
EACH = 100
#: How far an error rate may be off.
NEAR = 0.03


def study(n: int, d: int, wrong: float, kind: str, seed: int) -> tl.Statements:
    """Answers about points, some of them wrong."""
    rng = np.random.default_rng([n, d, round(100 * wrong), KINDS.index(kind), seed])
    X = rng.standard_normal((n, d))
    drawn = rng.integers(n, size=(2 * EACH * n, 3))
    differ = (drawn != np.roll(drawn, 1, axis=1)).all(axis=1)
    triples = drawn[differ][: EACH * n]
    rows = np.arange(len(triples))
    a, b, c = X[triples].transpose(1, 0, 2)
    opposite = np.linalg.norm(np.stack([b - c, a - c, a - b]), axis=2)
    mistaken = rng.random(len(rows)) < wrong
    if kind == "closer":
        far = (opposite[2] > opposite[1]) != mistaken
        picked = np.where(far, 2, 1)
        order = np.stack([np.zeros_like(picked), picked, 3 - picked], axis=1)
    else:
        best = opposite.argmax(axis=0) if kind == "central" else opposite.argmin(axis=0)
        best = np.where(mistaken, (best + rng.integers(1, 3, len(rows))) % 3, best)
        order = (best[:, None] + np.arange(3)) % 3
    return tl.Statements(triples[rows[:, None], order], n, kind=kind)


def studies(seeds: int) -> Iterator[tuple[int, int, float, str, int]]:
    """All of them, the small ones first."""
    return product(SIZES, DIMENSIONS, WRONG, KINDS, range(seeds))


def measured(path: Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    """What a file holds, by study."""
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {tuple(row["study"]): row for row in rows}


def measure(path: Path, seeds: int) -> None:
    """Add the studies that are missing."""
    known = measured(path)
    for each in studies(seeds):
        if each in known:
            continue
        S = study(*each)
        if not known:  # what is compiled is compiled before it is timed
            tl.ChoiceMap(2).fit(study(600, 2, 0.1, "odd", 0))
            known[each] = {}
        start = time.process_time()
        M = tl.ChoiceMap().fit(S)
        used = time.process_time() - start
        row = {
            "study": each,
            "n_components": int(M.n_components_),
            "error_rate": float(M.error_rate_),
            "interval": [float(x) for x in M.error_rate_interval_],
            "l2": float(M.l2_),
            "cpu": used,
        }
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")


def table(found: dict[tuple[Any, ...], dict[str, Any]]) -> None:
    """One line for each size and dimension."""
    print("n     d   near  covered  width  dimensions found, missed by more than 1   CPU s")
    for n, d in product(SIZES, DIMENSIONS):
        rows = [row for key, row in found.items() if key[:2] == (n, d)]
        if not rows:
            continue
        true = np.array([row["study"][2] for row in rows])
        rate = np.array([row["error_rate"] for row in rows])
        low, high = np.array([row["interval"] for row in rows]).T
        off = np.abs(np.array([row["n_components"] for row in rows]) - d)
        print(
            f"{n:<5} {d:<3} {(np.abs(rate - true) <= NEAR).mean():.2f}  "
            f"{((low <= true) & (true <= high)).mean():.2f}     {(high - low).mean():.3f}  "
            f"{(off == 0).sum():>2} of {len(rows)}, {(off > 1).sum():>2}"
            f"{np.mean([row['cpu'] for row in rows]):>36.1f}"
        )


def main() -> None:
    """Measure, or print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if not given.table:
        measure(given.out, given.seeds)
    for path in filter(None, (given.out, given.against)):
        print(path)
        table(measured(path))


if __name__ == "__main__":
    main()
