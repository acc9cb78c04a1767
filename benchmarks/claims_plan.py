"""How often a study turns out as a plan from a tenth of it expected: the table of docs/claims.md.

    python benchmarks/claims_plan.py [--studies N] [--jobs J] [--cells PATTERN] [--out FILE]

A tenth of the answers of a study, drawn at random, is the pilot. From it `trilens.plan` says what
the whole study will give: the size of the medoid's set, or the share of new answers that the map
predicts. Then the whole study is analysed. Studies are the cars and the faces (TRILENS_DATA), each
cell with another tenth, and simulated ones of `designs`, which shares no code with the package:
study i of a cell has a shape, a number of objects and people of its own.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import trilens as tl
from claims_run import run_studies
from designs import study
from raters import cars, faces
from trilens.tasks.model import answer_model
from trilens.tasks.reliability.raters import FOLDS, hold_out

SHAPES = ("plane", "five dimensions", "square", "three groups", "line")
PEOPLE = ("hard", "soft", "soft, unequal", "weights", "clickers", "hard 30")
KINDS = ("central", "odd", "closer")
CELLS = [
    f"{source}/{goal}" for source in ("cars", "faces", "simulated") for goal in ("medoid", "map")
]
REAL = {"cars": cars, "faces": faces}


def draw(cell: str, number: int) -> tl.Statements:
    """The whole study."""
    source, goal = cell.split("/")
    if source in REAL:
        return REAL[source]()
    i = 2 * number + (goal == "map")
    made = study(
        kind=KINDS[i % 3],
        shape=SHAPES[i % 5],
        people=PEOPLE[i // 5 % 6],
        seed=i,
        n=(20, 25, 30)[i // 2 % 3],
        answers=4000,
    )
    return tl.Statements(made.triples, made.n, kind=made.kind, raters=made.raters.tolist())


def measure(job: tuple[str, int]) -> dict[str, Any]:
    cell, number = job
    _, goal = cell.split("/")
    S = draw(cell, number)
    rng = np.random.default_rng([number, len(cell)])
    rows = np.sort(rng.permutation(len(S))[: len(S) // 10])
    begun = time.process_time()
    row: dict[str, Any] = {
        "cell": cell,
        "study": number,
        "kind": S.kind,
        "objects": S.n_objects,
        "pilot": len(rows),
        "answers": len(S),
    }
    try:
        made = tl.plan(goal=goal, pilot=S.take(rows), random_state=number)
    except tl.StatementError as refused:
        return row | {"refused": str(refused)}
    spent = time.process_time() - begun
    if goal == "medoid":
        found = float(len(tl.medoid(S).candidates))
        said = made.expected(len(S))
        # a set has a whole number of objects
        inside = round(said.low) <= found <= round(said.high)
    else:
        # as `tl.reliability(S).predicted`: a fifth of the raters, or questions, held out in turn
        rater = None if S.raters is None else np.unique(S.raters, return_inverse=True)[1]
        found = float(hold_out(S, rater, answer_model(S).map, folds=FOLDS[0]).right.mean())
        said = made.predicted((1 - 1 / FOLDS[0]) * len(S))
        inside = said.low <= found <= said.high
    return row | {
        "expected": said.value,
        "low": said.low,
        "high": said.high,
        "found": found,
        "inside": bool(inside),
        "needed": [made.low, made.answers, made.high],
        "cpu": spent,
    }


def table(rows: list[dict[str, Any]]) -> None:
    print("| study | plans | held | refused | expected | interval | found | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for cell in CELLS:
        every = [row for row in rows if row["cell"] == cell]
        of = [row for row in every if "refused" not in row]
        if not of:
            continue
        mean = {key: np.mean([row[key] for row in of]) for key in ("expected", "low", "high")}
        held = sum(row["inside"] for row in of)
        digits = 1 if cell.endswith("medoid") else 3
        numbers = [mean["expected"], mean["low"], mean["high"], np.mean([r["found"] for r in of])]
        e, low, high, found = (f"{x:.{digits}f}" for x in numbers)
        cpu = np.mean([row["cpu"] for row in of])
        counts = f"{len(of)} | {held} | {len(every) - len(of)}"
        print(f"| {cell} | {counts} | {e} | {low} to {high} | {found} | {cpu:.0f} |")


if __name__ == "__main__":
    run_studies(__doc__, CELLS, measure, table)
