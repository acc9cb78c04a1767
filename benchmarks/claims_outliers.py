"""What holds of "N objects stand apart": the table of docs/claims.md.

    python benchmarks/claims_outliers.py [--studies N] [--jobs J] [--cells PATTERN] [--out FILE]

In studies without outliers the share that claims any; with four far ones among 104, or one among
60, the share of them that is claimed, and the share that is found when as many are asked for.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from claims_run import Row, run_studies
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


_CELLS = [cell for kind in ("central", "odd", "closer") for cell in without(kind)] + [
    Cell("far4", "central", 104, 1821, "30%"),
    Cell("far4", "central", 104, 9107, "0%"),
    Cell("far4", "central", 104, 9107, "30%"),
    Cell("far4", "odd", 104, 9107, "30%"),
    Cell("far4", "closer", 104, 9107, "30%"),
    Cell("far1", "central", 60, 1500, "10%"),
]


def study(cell: Cell, number: int) -> Row:
    """One study, from seeds that the cell and the number fix."""
    from trilens.questions.outliers import outliers

    rng = np.random.default_rng([number, zlib.crc32(cell.name.encode())])
    points = draw(cell.data, cell.n, rng)
    statements = ask(points, cell, rng)
    facts: Row = {"cell": cell.name, "study": number}
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


def summary(cell: Cell, studies: list[Row]) -> list[str]:
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


def markdown(
    cells: Iterable[Cell],
    summarise: Callable[[Cell, list[Row]], list[str]],
    head: list[str],
    rows: list[Row],
) -> None:
    """A row for each cell that was measured."""
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for cell in cells:
        of = [row for row in rows if row["cell"] == cell.name]
        if of:
            print(f"| {' | '.join(summarise(cell, of))} |")


CELLS = {cell.name: cell for cell in _CELLS}


def measure(job: tuple[str, int]) -> Row:
    name, number = job
    return study(CELLS[name], number)


if __name__ == "__main__":
    run_studies(__doc__ or "", CELLS, measure, partial(markdown, CELLS.values(), summary, HEAD))
