"""Whether claims hold in the designs and populations that labs have.

    python benchmarks/claims_designs.py [--studies N] [--jobs J] [--cells PATTERN] [--out FILE]
    python benchmarks/claims_designs.py --table FILE [FILE ...]

A cell is ``claim/kind/shape/design/people/objects/answers/raters``; the studies are those of
`designs.study`, whose seed is the number of the study. A study that is already in FILE is not
run again. Development used the studies from 10000 on (``--first 10000``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

import trilens as tl
from claims_run import Row, run_studies
from designs import Study, study

KINDS = ("central", "odd", "closer")


def statements(made: Study) -> tl.Statements:
    """The answers as the package takes them."""
    width = len(str(made.n))
    names = [f"o{i:0{width}d}" for i in range(made.n)]
    return tl.Statements(
        made.triples, n_objects=made.n, names=names, kind=made.kind, raters=made.raters
    )


def medoid(made: Study) -> Row:
    """The 95 % set of the most central object, and the intervals of depth."""
    S = statements(made)
    found = tl.medoid(S)
    inside = {S.names.index(name) for name in found.candidates}
    intervals = tl.depth_intervals(S)
    covered = (intervals.low <= made.expected) & (made.expected <= intervals.high)
    return {
        "nearest": made.nearest in inside,
        "deepest": made.deepest in inside,
        "size": len(inside),
        "intervals": float(covered.mean()),
    }


def outliers(made: Study) -> Row:
    """Objects that are said to stand apart."""
    S = statements(made)
    found = tl.outliers(S)
    claimed = {S.names.index(name) for name in found.names}
    true = set() if made.labels is None else set(np.flatnonzero(made.labels == -1).tolist())
    return {
        "claimed": len(claimed) > 0,
        "wrongly": len(claimed - true),
        "found": len(claimed & true) / len(true) if true else None,
    }


def groups(made: Study) -> Row:
    """How many groups are suggested."""
    from sklearn.metrics import adjusted_rand_score

    S = statements(made)
    found = tl.cluster(S)
    number = len(set(np.asarray(found.labels).tolist()))
    true = 1 if made.labels is None else len(set(made.labels.tolist()))
    alike = None if made.labels is None else adjusted_rand_score(made.labels, found.labels)
    return {"number": number, "right": number == true, "alike": alike}


CLAIMS: dict[str, Callable[[Study], Row]] = {
    "medoid": medoid,
    "outliers": outliers,
    "groups": groups,
}


def cells() -> Iterator[str]:
    """Those of the table."""
    for kind in KINDS:
        for people in ("hard", "soft"):
            yield f"medoid/{kind}/plane/one list/{people}/40/4000/20"
        for design in ("random", "blocks", "landmarks", "uneven"):
            yield f"medoid/{kind}/plane/{design}/hard/40/4000/20"
        yield f"medoid/{kind}/plane/random/soft, unequal/40/2000/5"
    for shape in ("plane", "square", "log-normal", "t3", "core in a halo", "ring", "arms", "line"):
        for kind in KINDS:
            yield f"outliers/{kind}/{shape}/random/soft/60/3000/20"
            yield f"groups/{kind}/{shape}/random/soft/60/3000/20"


def measure(job: tuple[str, int]) -> Row:
    """One study of one cell."""
    cell, number = job
    claim, kind, shape, design, people, n, answers, raters = cell.split("/")
    made = study(kind, shape, design, people, number, int(n), int(answers), int(raters))
    start = time.process_time()
    row = CLAIMS[claim](made)
    return {"cell": cell, "study": number, **row, "seconds": time.process_time() - start}


#: What a cell's name is made of, after the claim.
SETTING = ("kind", "shape", "design", "people", "objects", "answers", "raters")


def table(rows: list[Row]) -> None:
    """A Markdown table for each claim: the setting, the studies by number, the means."""
    by_cell: dict[str, list[Row]] = {}
    for row in {(row["cell"], row["study"]): row for row in rows}.values():
        by_cell.setdefault(row["cell"], []).append(row)
    order = {cell: i for i, cell in enumerate(cells())}
    for claim in CLAIMS:
        own = [cell for cell in by_cell if cell.split("/")[0] == claim]
        if not own:
            continue
        own.sort(key=lambda cell: (order.get(cell, len(order)), cell))
        known = dict.fromkeys(key for cell in own for row in by_cell[cell] for key in row)
        measured = [key for key in known if key not in ("cell", "study")]
        print(f"\n### {claim}\n\n| {' | '.join((*SETTING, 'studies', *measured))} |")
        print("|" + "---|" * (len(SETTING) + 1 + len(measured)))
        for cell in own:
            found = by_cell[cell]
            shown = [*cell.split("/")[1:], _numbers([row["study"] for row in found])]
            for key in measured:
                values = [float(row[key]) for row in found if row.get(key) is not None]
                shown.append(f"{np.mean(values):.3f}" if values else "-")
            print(f"| {' | '.join(shown)} |")


def _numbers(studies: list[int]) -> str:
    """The studies, which are their own seeds: ``60 (0-59)``."""
    low, high = min(studies), max(studies)
    return f"{len(studies)} ({low}-{high})"


if __name__ == "__main__":
    run_studies(__doc__ or "", cells(), measure, table)
