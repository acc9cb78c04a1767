"""What is found of far objects and of groups beside them: a table of docs/claims.md.

    python benchmarks/claims_far.py [--studies N] [--jobs J] [--cells PATTERN] [--out FILE]

The worlds are those of `designs`, which shares no code with the package. For each the share of
studies in which exactly the far objects are named, in which any object is, in which the number of
groups is right, and in which the far ones are left out of every group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import trilens as tl
from claims_run import Row, run_studies
from designs import study


class Cell(NamedTuple):
    """A world, and what is asked about it."""

    shape: str
    kind: str
    n: int
    answers: int

    @property
    def name(self) -> str:
        return f"{self.shape} | {self.kind} | {self.n} | {self.answers}"


#: Worlds with far objects, and without.
FAR = [
    ("three groups, one at 8", 25, 2500),
    ("three groups, one at 10", 25, 2500),
    ("three groups, two at 10", 26, 2500),
    ("cloud, one at 7", 40, 3000),
    ("cloud, three at 6.7", 40, 2500),
    ("cloud, two together at 7", 40, 3000),
    ("cloud, three together at 7", 40, 3000),
]
NONE = [
    ("plane", 40, 2500),
    ("five dimensions", 40, 2500),
    ("square", 40, 2500),
    ("ring", 40, 2500),
    ("line", 40, 2500),
    ("arms", 42, 2500),
    ("core in a halo", 40, 2500),
    ("three groups, 7 apart", 24, 2500),
    ("three groups", 24, 2500),
    ("24 and 6", 30, 2500),
    ("cloud, four together at 6", 40, 3000),
    ("t3", 40, 2500),
    ("log-normal", 40, 2500),
    ("even steps", 30, 2500),
    ("even steps", 300, 17600),
]
CELLS = {
    cell.name: cell
    for shape, n, answers in FAR + NONE
    for kind in ("odd", "closer", "central")
    for cell in [Cell(shape, kind, n, answers)]
}
#: How many groups a world has, if not one.
GROUPS = {"three groups": 3, "24 and 6": 2, "cloud, four": 2}


def measure(job: tuple[str, int]) -> Row:
    name, number = job
    cell = CELLS[name]
    S = study(cell.kind, cell.shape, "random", "right 95", number, cell.n, cell.answers)
    answers = tl.Statements(S.triples, cell.n, kind=cell.kind)
    true = set() if S.labels is None else set(np.flatnonzero(S.labels == -1).tolist())
    fitted = tl.fit(answers, random_state=number)
    apart = tl.outliers(fitted)
    groups = tl.cluster(fitted)
    labels = np.asarray(groups.labels)
    inside = np.array([i not in true for i in range(cell.n)])
    pure = None
    if S.labels is not None and groups.n_clusters > 1:
        seen = inside & (labels >= 0)
        pure = tl.purity(labels[seen], S.labels[seen])
    return {
        "cell": name,
        "study": number,
        "p": apart.p_value,
        "said": apart.shape,
        "named": len(apart),
        "exact": set(apart.indices.tolist()) == true,
        "missed": len(true - set(apart.indices.tolist())),
        "groups": groups.n_clusters,
        "groups_p": groups.p_value,
        "shape": groups.shape,
        "pure": pure,
        "aside": bool(true) and all(labels[i] == -1 for i in true),
        "unassigned": int((labels == -1).sum()),
        "dimensions": fitted.map.n_components,
    }


def table(rows: list[Row]) -> None:
    head = ["world", "studies", "named any", "exactly", "a tail", "groups right", "set aside"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for name, cell in CELLS.items():
        of = [row for row in rows if row["cell"] == name]
        if not of:
            continue
        number = next((g for start, g in GROUPS.items() if cell.shape.startswith(start)), 1)
        shares = [
            np.mean([row["named"] > 0 for row in of]),
            np.mean([row["exact"] for row in of]),
            np.mean([row["said"] == "long tail" for row in of]),
            np.mean([row["groups"] == number for row in of]),
            np.mean([row["aside"] for row in of]),
        ]
        print(f"| {name} | {len(of)} | {' | '.join(f'{share:.2f}' for share in shares)} |")


if __name__ == "__main__":
    run_studies(__doc__ or "", CELLS, measure, table)
