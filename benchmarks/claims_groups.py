"""What holds of "the objects form N groups": the table of docs/claims.md.

    python benchmarks/claims_groups.py [--studies N] [--jobs J] [--cells PATTERN] [--out FILE]

The share of studies that divide a cloud without groups, and the share in which the number of
groups is right: Gaussians in a ring, each so many standard deviations from the next.
"""

from __future__ import annotations

import zlib
from functools import partial

import numpy as np

from claims_outliers import Cell, ask, markdown
from claims_run import Row, run_studies
from trilens.simulate import Points, gaussian, mixture


def draw(data: str, n: int, rng: np.random.Generator) -> Points:
    """A cloud such as ``cloud 3:1``, or groups such as ``4 groups 6 apart``."""
    seed = int(rng.integers(2**31))
    first, *rest = data.split()
    if first == "square":
        return Points(rng.uniform(size=(n, 2)), np.zeros(n, dtype=np.int64))
    if first == "cloud":
        if rest == ["5d"]:
            return gaussian(n, 5, random_state=seed)
        drawn = gaussian(n, 2, random_state=seed)
        return Points(drawn.points * [float(rest[0].split(":")[0]), 1.0], drawn.labels)
    number, apart = int(first), float(rest[1])
    angle = 2 * np.pi * np.arange(number) / number
    radius = apart / (2 * np.sin(np.pi / number))
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return mixture(n, ring, random_state=seed)


def number_of_groups(data: str) -> int:
    return int(data[0]) if data[0].isdigit() else 1


def _share(n: int, share: float) -> int:
    return round(share * n * (n - 1) * (n - 2) / 6)


_CELLS = [
    Cell(data, "central", 60, _share(60, share), noise)
    for data in ("cloud 1:1", "cloud 2:1", "cloud 3:1", "cloud 5d", "square")
    for share, noise in ((0.05, "0%"), (0.05, "30%"))
]
_CELLS += [
    Cell("cloud 1:1", "central", 15, 300, "10%"),
    Cell("square", "central", 200, 5000, "10%"),
    Cell("cloud 1:1", "central", 60, 1711, "II"),
    Cell("cloud 1:1", "central", 60, 1711, "raters"),
    *(Cell("cloud 1:1", kind, 60, 1711, "guesses") for kind in ("central", "odd", "closer")),
    *(Cell("square", kind, 60, 1711, "10%") for kind in ("odd", "closer")),
]
_CELLS += [
    Cell(f"{number} groups {apart} apart", "central", 20 * number, _share(20 * number, s), noise)
    for number in (2, 3, 4, 5)
    for apart in (6, 4)
    for s, noise in ((0.05, "0%"), (0.25, "0%"), (0.05, "30%"), (0.25, "30%"))
]
_CELLS += [
    Cell(f"{number} groups 6 apart", kind, 20 * number, _share(20 * number, 0.05), "30%")
    for number in (2, 3)
    for kind in ("odd", "closer")
]


def study(cell: Cell, number: int) -> Row:
    """One study, from seeds that the cell and the number fix."""
    from trilens.questions.cluster.groups import cluster

    rng = np.random.default_rng([number, zlib.crc32(cell.name.encode())])
    statements = ask(draw(cell.data, cell.n, rng), cell, rng)
    found = cluster(statements, random_state=number)
    assert found.suggestion is not None
    return {
        "cell": cell.name,
        "study": number,
        "groups": found.n_clusters,
        "best": found.suggestion.best,
        "p": found.suggestion.p_value,
        "dimensions": found.parameters["dim"],
    }


def summary(cell: Cell, studies: list[Row]) -> list[str]:
    groups = np.array([s["groups"] for s in studies])
    right = (groups == number_of_groups(cell.data)).mean()
    return [cell.name, str(len(studies)), f"{(groups > 1).mean():.3f}", f"{right:.3f}"]


CELLS = {cell.name: cell for cell in _CELLS}
HEAD = ["study", "studies", "divided", "right number"]


def measure(job: tuple[str, int]) -> Row:
    name, number = job
    return study(CELLS[name], number)


if __name__ == "__main__":
    run_studies(__doc__ or "", CELLS, measure, partial(markdown, CELLS.values(), summary, HEAD))
