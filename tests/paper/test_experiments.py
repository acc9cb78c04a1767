"""Every experiment's smallest cell, and the car tables against the paper's."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from trilens_paper.cars_clustering import PURITY_B
from trilens_paper.clustering import with_best_parameters
from trilens_paper.framework.results import COLUMNS, Results, joined
from trilens_paper.framework.summary import judged
from trilens_paper.framework.verdicts import Finding
from trilens_paper.ingredients.data import COLLECTIONS
from trilens_paper.ingredients.methods import PURITY
from trilens_paper.paper import TABLE4
from trilens_paper.registry import EXPERIMENTS

NAMES = list(EXPERIMENTS)


@pytest.fixture(autouse=True)
def _one_thread():
    """As the runner's processes have it: many threads on few cores wait for each other."""
    with threadpool_limits(1):
        yield


def smallest(name):
    cells = EXPERIMENTS[name].cells(runs=1)
    unasked = ("guess", "random", "truth")
    return min(cells, key=lambda c: (c.point.panel in unasked, c.point.n_statements))


@pytest.mark.parametrize("name", NAMES)
def test_grid(name):
    experiment = EXPERIMENTS[name]
    keys = [cell.key for cell in experiment.cells(runs=2, full=True)]
    assert len(set(keys)) == len(keys)
    assert len(experiment.claims) == len({claim.text for claim in experiment.claims})


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in NAMES if n != "cars-classification"])
def test_smallest_cell(name, data_dir):
    cell = smallest(name)
    rows = cell.measured(EXPERIMENTS[name].measure)
    assert rows
    assert all(list(row) == list(COLUMNS) for row in rows)
    assert all(math.isfinite(row["value"]) for row in rows)
    measured = [(r["method"], r["metric"], r["k"], r["sigma"], r["item"]) for r in rows]
    assert len(set(measured)) == len(measured)


def test_cells_do_not_depend_on_each_other(data_dir):
    cell = smallest("outliers-usps")
    measure = EXPERIMENTS["outliers-usps"].measure

    def values():
        return [row["value"] for row in cell.measured(measure)]

    before = values()
    np.random.default_rng(0).random()
    smallest("recovery").measured(EXPERIMENTS["recovery"].measure)
    assert values() == before


@pytest.mark.parametrize("name", ["cars-collections", "cars-medoids", "cars-outliers"])
def test_what_has_no_chance_agrees_with_the_paper(name, data_dir):
    experiment = EXPERIMENTS[name]
    results = joined(cell.measured(experiment.measure) for cell in experiment.cells())
    for claim, finding in judged(experiment, results).findings:
        assert finding.verdict == "agrees", f"{claim.text}: {finding.ours}, not {claim.paper}"


@pytest.mark.slow
def test_clustering_of_cars_by_counting(data_dir):
    experiment = EXPERIMENTS["cars-clustering"]
    every = joined(cell.measured(experiment.measure) for cell in experiment.cells(runs=3))
    judge = _claim("Found afterwards: each of the 24 cells of Algorithm 5 is A or B.").judge
    assert judge(every) == Finding("12 A, 12 B", "agrees")
    results = every.where(collection="T_ALL", metric=PURITY)
    weighted = results.where(method="Algorithm 5 weighted", k=10, sigma=0.5)
    assert weighted.values == pytest.approx(3 * [0.95], abs=0.03)
    lens_map = results.where(method="lens map", k=10)
    assert lens_map.values.min() > 0.8


def _claim(text):
    (claim,) = [c for c in EXPERIMENTS["cars-clustering"].claims if c.text == text]
    return claim


def test_table_rows_mark_what_differs():
    name = "Algorithm 5 unweighted, k 10"
    paper = [mean for mean, _ in TABLE4[name]]

    cell = {"method": "Algorithm 5 unweighted", "k": 10, "sigma": None, "metric": PURITY}
    claim = _claim(name)
    same = [
        cell | {"collection": collection, "run": run, "value": value}
        for collection, value in zip(COLLECTIONS, paper, strict=True)
        for run in range(5)
    ]
    assert claim.judge(Results(tuple(same))).verdict == "agrees"
    higher = [r | {"value": 0.95} if r["collection"] == "T_ALL" else r for r in same]
    finding = claim.judge(Results(tuple(higher)))
    assert finding.verdict == "differs"
    assert re.search(r"0\.84 \(0\.00\) / 0\.95 \(0\.00\) ↑ / 0\.89", finding.ours)
    # runs that do not tell, and too few of them
    stray = [r | {"value": 0.84 + 0.1 * (-1) ** r["run"]} for r in same[:5]] + same[5:]
    finding = claim.judge(Results(tuple(stray)))
    assert finding.verdict == "undecided"
    assert finding.ours.startswith("0.86 (0.11) ? / 0.84 (0.00) / ")
    few = tuple(r for r in same if r["run"] < 4)
    assert claim.judge(Results(few)).verdict == "undecided"
    # B stands beside A, and the letters say which of them the paper has
    b = [r | {"metric": PURITY_B} for r in same]
    finding = claim.judge(Results((*higher, *b)))
    assert finding.verdict == "differs"
    assert finding.ours.endswith("0.89 (0.00); the paper's are A or B, A or B, B, A or B")


def test_best_parameters_are_chosen_per_method_and_panel():
    values = {("a", 5): [0.5, 0.7], ("a", 9): [0.55, 0.8], ("b", 5): [0.9], ("b", 9): [0.1]}
    rows = [
        {"panel": panel, "method": "a", "k": k, "sigma": None, "run": 0, "value": value}
        for (panel, k), found in values.items()
        for value in found
    ]
    best = with_best_parameters(Results(tuple(rows)))
    assert best.values.tolist() == [0.55, 0.8, 0.9]
