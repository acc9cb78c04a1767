"""Every rule on the page can fail: for each claim there are data that it calls different."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trilens_paper import illustrations
from trilens_paper.framework.results import Results
from trilens_paper.framework.runner import recorded
from trilens_paper.registry import EXPERIMENTS

#: The claims of all experiments, on made-up data of every sort.
pytestmark = pytest.mark.slow

PAPER = Path(__file__).parents[2] / "paper"
RUNS = 6
#: What is so in a run or not, as 1 or 0.
SHARES = ("all far first", "the one between is the medoid", illustrations.CONNECTED)

Distortion = Callable[[dict[str, Any], int, int], float]

#: Values by the row, the place of its series and the place of its point in the grid.
DISTORTIONS: dict[str, Distortion] = {
    "huge": lambda row, s, p: 1000.0,
    "hugely negative": lambda row, s, p: -1000.0,
    "nothing": lambda row, s, p: 0.0,
    "later methods more": lambda row, s, p: 1.0 + s,
    "later methods less": lambda row, s, p: 100.0 - s,
    "later points more": lambda row, s, p: 1.0 + p,
    "later points less": lambda row, s, p: 100.0 - p,
    "later methods gain from dimensions": lambda row, s, p: (1.0 + s) ** (1 + (row["dim"] == 2)),
    "later methods stray less": lambda row, s, p: (-1) ** row["run"] * (20.0 - s),
    "later points stray more": lambda row, s, p: (-1) ** row["run"] * (1.0 + p),
}


def measured(name):
    """What a run measures at each point of the grid, by the journals."""
    cells = {
        entry.cell.point.key: [row for row in entry.rows if row["metric"] not in ("x", "y")]
        for entry in recorded(EXPERIMENTS[name], PAPER, any_code=True)
    }
    fullest = max(cells.values(), key=len)
    if name == "speed":
        # of a library that is not there on every machine
        fullest += [row | {"method": f"cblearn {row['method']}"} for row in fullest]
    grid = EXPERIMENTS[name].grid
    return [cells.get(point.key, [row | point.fields for row in fullest]) for point in grid]


def distorted(cells, runs, by):
    rng = np.random.default_rng(0)
    for p, rows in enumerate(cells):
        for s, series in enumerate(rows):
            for run in range(runs):
                row = series | {"run": run}
                value = by(row, s, p) + 1e-6 * rng.random()
                if row["metric"] in SHARES:
                    value = float(value > 0.5)
                elif row["metric"] == "CPU seconds":
                    value = max(value, 1e-3)
                yield row | {"value": value, "cpu_seconds": value}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_rule_can_fail(name, monkeypatch):
    monkeypatch.setattr("trilens_paper.cars_clustering.MIXED_RUNS", RUNS)
    cells = measured(name)
    stands = list(EXPERIMENTS[name].claims)
    for by in DISTORTIONS.values():
        if stands:
            runs = 40 if name == "illustrations" else RUNS
            results = Results(tuple(distorted(cells, runs, by)))
            stands = [claim for claim in stands if claim.judge(results).verdict != "differs"]
    assert not [claim.text for claim in stands]


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda share, e: (share - e / 2) / (1 - 1.5 * e), "agrees"),
        (lambda share, e: share, "differs"),
        (lambda share, e: (share - e / 2) / (1 - e), "differs"),
    ],
    ids=["right", "none", "wrong factor"],
)
def test_a_wrong_correction_is_biased(wrong, expected, monkeypatch):
    monkeypatch.setattr("trilens.lens.correct_errors", wrong)
    experiment = EXPERIMENTS["illustrations"]
    cells = [c for c in experiment.cells(runs=40) if c.point == illustrations.THRESHOLD]
    rows = tuple(row for cell in cells for row in cell.measured(experiment.measure))
    (claim,) = [c for c in experiment.claims if c.paper.startswith("an unbiased")]
    assert claim.judge(Results(rows)).verdict == expected
