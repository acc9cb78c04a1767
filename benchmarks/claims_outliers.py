"""What holds of "N objects stand apart": the table of docs/claims.md.

    python benchmarks/claims_outliers.py [--studies N] [--jobs J] [--cells PATTERN] [--out FILE]

In studies without outliers the share that claims any; with four far ones among 104, or one among
60, the share of them that is claimed, and the share that is found when as many are asked for.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trilens.simulate import (
    Points,
    ask_raters,
    draw_raters,
    far_outliers,
    gaussian,
    mixture,
    simulate_statements,
)
from trilens.statements import Kind, Statements

Facts = dict[str, Any]
GUESS = {"central": 2 / 3, "odd": 2 / 3, "closer": 1 / 2}


class Cell(NamedTuple):
    """One setting: what the objects are, and what is asked."""

    data: str
    kind: Kind
    n: int
    m: int
    noise: str

    @property
    def name(self) -> str:
        return f"{self.data} {self.kind} n={self.n} m={self.m} {self.noise}"


def draw(data: str, n: int, rng: np.random.Generator) -> Points:
    """Points; the last ones of ``far4`` and ``far1`` are outliers."""
    seed = int(rng.integers(2**31))
    if data.startswith("far"):
        number = int(data[3:])
        return far_outliers(gaussian(n - number, random_state=seed), number, seed + 1)
    if data == "square":
        return Points(rng.uniform(size=(n, 2)), np.zeros(n, dtype=np.int64))
    if data == "three groups":
        return mixture(n, [[0, 0], [6, 0], [3, 5.2]], random_state=seed)
    return gaussian(n, 5 if data == "gaussian 5d" else 2, random_state=seed)


def ask(points: Points, cell: Cell, rng: np.random.Generator) -> Statements:
    """Answers with the noise that the cell names: ``30%``, ``II`` (noise model II), ``raters``."""
    seed = int(rng.integers(2**31))
    if cell.noise == "raters":
        raters = draw_raters(20, 0.2, 0.1, random_state=seed)
        return ask_raters(points, raters, cell.m, cell.kind, random_state=seed + 1)
    if cell.noise == "II":
        return simulate_statements(points, cell.m, cell.kind, noise_param=0.5, random_state=seed)
    wrong = GUESS[cell.kind] if cell.noise == "guesses" else float(cell.noise[:-1]) / 100
    return simulate_statements(points, cell.m, cell.kind, error_rate=wrong, random_state=seed)


def without(kind: Kind) -> list[Cell]:
    cells = [
        Cell("gaussian 2d", kind, 60, 1500, "30%"),
        Cell("gaussian 5d", kind, 60, 2500, "10%"),
        Cell("square", kind, 60, 1500, "0%"),
        Cell("three groups", kind, 60, 1500, "10%"),
        Cell("gaussian 2d", kind, 60, 1500, "guesses"),
        Cell("gaussian 2d", kind, 15, 300, "10%"),
    ]
    if kind == "central":
        cells += [
            Cell("gaussian 2d", kind, 60, 1500, "0%"),
            Cell("gaussian 2d", kind, 60, 1500, "II"),
            Cell("gaussian 2d", kind, 60, 1500, "raters"),
            Cell("three groups", kind, 15, 300, "0%"),
            Cell("gaussian 2d", kind, 200, 5000, "10%"),
        ]
    return cells


CELLS = [cell for kind in ("central", "odd", "closer") for cell in without(kind)] + [
    Cell("far4", "central", 104, 1821, "30%"),
    Cell("far4", "central", 104, 9107, "0%"),
    Cell("far4", "central", 104, 9107, "30%"),
    Cell("far4", "odd", 104, 9107, "30%"),
    Cell("far4", "closer", 104, 9107, "30%"),
    Cell("far1", "central", 60, 1500, "10%"),
]


def study(cell: Cell, number: int) -> Facts:
    """One study, from seeds that the cell and the number fix."""
    from trilens.tasks.outliers import outliers

    rng = np.random.default_rng([number, zlib.crc32(cell.name.encode())])
    points = draw(cell.data, cell.n, rng)
    statements = ask(points, cell, rng)
    facts: Facts = {"cell": cell.name, "study": number}
    methods = ["choice"] if cell.kind == "closer" else ["choice", "depth"]
    for method in methods:
        found = outliers(statements, method=method, random_state=number)
        true = np.isin(found.indices, points.outliers)
        listed = np.argsort(found.all_scores, kind="stable")[: len(points.outliers)]
        facts[method] = {
            "p": found.p_value,
            "right": int(true.sum()),
            "wrong": int((~true).sum()),
            "asked": int(np.isin(listed, points.outliers).sum()),
        }
    return facts


def summary(cell: Cell, studies: list[Facts]) -> list[str]:
    row = [cell.name, str(len(studies))]
    planted = int(cell.data[3:]) if cell.data.startswith("far") else 0
    for method in ("choice", "depth"):
        facts = [s[method] for s in studies if method in s]
        if not facts:
            row += ["-", "-", "-"]
            continue
        any_wrong = np.mean([f["right"] + f["wrong"] > 0 for f in facts])
        right = np.mean([f["right"] for f in facts]) / planted if planted else None
        listed = np.mean([f["asked"] for f in facts]) / planted if planted else None
        row += [f"{any_wrong:.3f}", *("" if v is None else f"{v:.2f}" for v in (right, listed))]
    return row


HEAD = ["study", "studies"] + [
    f"{method}: {what}"
    for method in ("choice", "depth")
    for what in ("claims any", "claimed", "found when asked")
]


def run(
    cells: list[Cell],
    one: Callable[[Cell, int], Facts],
    summarise: Callable[[Cell, list[Facts]], list[str]],
    head: list[str],
    text: str,
) -> None:
    """The command line: studies that the file does not hold yet are run, then all are shown."""
    parser = argparse.ArgumentParser(description=text.split("\n")[0])
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cells", default="*", help="a pattern such as 'far4*'")
    parser.add_argument("--out", type=Path, help="keep the studies here, and go on from there")
    parser.add_argument("--quick", action="store_true", help="3 studies of each cell")
    given = parser.parse_args()
    wanted = [cell for cell in cells if fnmatch(cell.name, given.cells)]
    done: dict[tuple[str, int], Facts] = {}
    if given.out is not None and given.out.exists():
        lines = map(json.loads, given.out.read_text().splitlines())
        done = {(facts["cell"], facts["study"]): facts for facts in lines}
    number = 3 if given.quick else given.studies
    todo = [(c, i) for c in wanted for i in range(number) if (c.name, i) not in done]
    for facts in _all(partial(_star, one), todo, given.jobs):
        done[facts["cell"], facts["study"]] = facts
        if given.out is not None:
            with given.out.open("a") as file:
                file.write(json.dumps(facts) + "\n")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for cell in wanted:
        studies = [f for (name, i), f in done.items() if name == cell.name and i < number]
        if studies:
            print(f"| {' | '.join(summarise(cell, studies))} |")


def _star(one: Callable[[Cell, int], Facts], job: tuple[Cell, int]) -> Facts:
    return one(*job)


def _all(
    one: Callable[[tuple[Cell, int]], Facts], todo: list[tuple[Cell, int]], jobs: int
) -> Iterable[Facts]:
    if jobs == 1:
        yield from map(one, todo)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(one, todo, chunksize=5)


if __name__ == "__main__":
    run(CELLS, study, summary, HEAD, __doc__ or "")
