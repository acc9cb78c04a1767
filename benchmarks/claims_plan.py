"""How often a study turns out as a plan from a tenth of it expected: the table of docs/claims.md.

    python benchmarks/claims_plan.py [--studies N] [--jobs J] [--cells PATTERN] [--out FILE]

A tenth of the answers of a study, drawn at random, is the pilot. From it `trilens.plan` says what
the whole study will give: the size of the medoid's set, or the share of new answers that the map
predicts. Then the whole study is analysed. Studies are the cars and the faces (TRILENS_DATA), each
cell with another tenth, and simulated ones of `designs`, which shares no code with the package:
study i of a cell has a shape, a number of objects and people of its own.

The cells ``enough`` plan without a pilot: as many answers as the plan says are then given in four
simulated studies, of thirty objects, and it is counted how many reach the target.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import adjusted_rand_score

import trilens as tl
from claims_run import run_studies
from designs import Study, population, shares_predicted, study
from raters import cars, faces
from trilens.maps.fitted import fit
from trilens.questions.reliability.raters import FOLDS, hold_out

SHAPES = ("plane", "five dimensions", "square", "three groups", "line")
PEOPLE = ("hard", "soft", "soft, unequal", "weights", "clickers", "hard 30")
KINDS = ("central", "odd", "closer")
CELLS = [
    f"{source}/{goal}" for source in ("cars", "faces", "simulated") for goal in ("medoid", "map")
]
#: The shapes and the people of studies that a plan without a pilot is made for.
ENOUGH = {
    "medoid": (("plane", "five dimensions"), "soft"),
    "rank": (("plane", "five dimensions"), "soft"),
    "map": (("plane", "five dimensions"), "soft"),
    "groups": (("three groups",), "soft"),
    "classes": (("two groups, 4 apart",), "soft"),
    "difference": (("plane", "five dimensions"), "three elsewhere"),
}
CELLS += [f"enough/{goal}" for goal in ENOUGH]
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
    source, goal = cell.split("/")
    if source == "enough":
        return enough(cell, goal, number)
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
    except tl.errors.StatementError as refused:
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
        found = float(hold_out(S, rater, fit(S), folds=FOLDS[0]).right.mean())
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


def enough(cell: str, goal: str, number: int) -> dict[str, Any]:
    """Four studies of as many answers as a plan without a pilot says."""
    shapes, people = ENOUGH[goal]
    kind = KINDS[number % 3]
    begun = time.process_time()
    made = tl.plan(30, goal, kind=kind, random_state=number)
    spent = time.process_time() - begun
    reached = []
    for i in range(4):
        shape = shapes[i % len(shapes)]
        drawn = study(kind, shape, "random", people, 4 * number + i, 30, made.answers, made.raters)
        S = tl.Statements(drawn.triples, 30, kind=kind, raters=drawn.raters.tolist())
        reached.append(bool(_reaches(goal, S, drawn)))
    row = {"cell": cell, "study": number, "kind": kind, "reached": reached, "cpu": spent}
    return row | {"needed": [made.low, made.answers, made.high]}


def _reaches(goal: str, S: tl.Statements, drawn: Study) -> bool:
    """Whether the usual target of the goal is reached."""
    if goal == "difference":
        return tl.compare_groups(S, by=drawn.sort).p_value <= 0.05
    if goal == "groups":
        return adjusted_rand_score(drawn.labels, tl.cluster(S).labels) >= 0.9
    if goal == "classes":
        known = [int(x) if i // 2 % 2 else None for i, x in enumerate(drawn.labels)]
        hidden = np.array([x is None for x in known])
        found = tl.classify(S, known).found
        return np.mean(found[hidden].astype(int) == drawn.labels[hidden]) >= 0.9
    F = fit(S)
    if goal == "medoid":
        return len(F.medoid().candidates) <= 3
    if goal == "rank":
        return spearmanr(F.medoid().scores, drawn.depth).statistic >= 0.95
    X = F.map.X
    own = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    got = shares_predicted(drawn, [own])[0]
    best, chance = population(drawn)[1].max(axis=1).mean(), 1 / (2 if S.kind == "closer" else 3)
    return (got - chance) / (best - chance) >= 0.95


def table(rows: list[dict[str, Any]]) -> None:
    print("| study | plans | held | refused | expected | interval | found | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for cell in CELLS:
        if cell.startswith("enough"):
            continue
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
    print("\n| goal | plans | studies | reach the target | answers (median) |")
    print("|---|---|---|---|---|")
    for goal in ENOUGH:
        of = [row for row in rows if row["cell"] == f"enough/{goal}"]
        if of:
            reached = [each for row in of for each in row["reached"]]
            answers = np.median([row["needed"][1] for row in of])
            print(f"| {goal} | {len(of)} | {len(reached)} | {sum(reached)} | {answers:,.0f} |")


if __name__ == "__main__":
    run_studies(__doc__, CELLS, measure, table)
