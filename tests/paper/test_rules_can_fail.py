"""Every rule on the page can fail: for each claim there are data that it calls different."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from trilens_paper import cars, illustrations, medoid, network, outliers, recovery
from trilens_paper.cars_classification import BY_COUNTING, CLASSIFIERS
from trilens_paper.cars_clustering import PURITY_B
from trilens_paper.classification import LENS_MAP_KNN
from trilens_paper.clustering import RANDOM, TRUE_KNN
from trilens_paper.framework.experiment import Point
from trilens_paper.framework.results import COLUMNS, Results
from trilens_paper.ingredients.methods import (
    ALG1,
    ALG2,
    ALG3,
    ALG4,
    ALG5_UNWEIGHTED,
    ALG5_WEIGHTED,
    CROWD_MEDIAN,
    EMBEDDINGS,
    ERROR,
    LENS_MAP,
    LOSS,
    PURITY,
)
from trilens_paper.registry import EXPERIMENTS

#: The claims of all experiments, on made-up data of every sort.
pytestmark = pytest.mark.slow

Series = tuple[Any, ...]  # method, metric, and where there are some k, sigma, item
MEDOIDS = (ALG1, CROWD_MEDIAN, *EMBEDDINGS, LENS_MAP)
ALG5 = (ALG5_WEIGHTED, ALG5_UNWEIGHTED)
RUNS = 6
#: What is so in a run or not, as 1 or 0.
SHARES = ("all far first", "the one between is the medoid", illustrations.CONNECTED)
CLUSTERERS = (*ALG5, *EMBEDDINGS, LENS_MAP)


def series(name: str, point: Point) -> list[Series]:
    """What a cell of the experiment measures, or as much of it as the claims look at."""
    match name:
        case "illustrations":
            return _illustrated(point.panel)
        case "medoid-gauss2" if point.panel == medoid.APPEAR:
            methods = (medoid.UNIFORM, medoid.SAMPLING2)
            return list(product(methods, (medoid.BY_GROUP, medoid.SPREAD)))
        case "medoid-gauss2" | "medoid-gauss20":
            return list(product(MEDOIDS, (ERROR,)))
        case "medoid-network":
            methods = (ALG1, CROWD_MEDIAN, "GNMDS")
            return [(network.RANDOM, ERROR)] if point.panel == "guess" else _times(methods, ERROR)
        case "outliers-gauss" | "outliers-moons":
            methods = (ALG2, CROWD_MEDIAN, outliers.LOCAL)
            methods += (outliers.TRUE_LOCAL, outliers.STE_LOCAL)
            metrics = ("all far first", "worst rank of far", "relative gap")
            metrics += ("rank of the one between",)
            return [*product(methods, metrics), ("truth", "the one between is the medoid")]
        case "outliers-usps":
            return _times((ALG2, CROWD_MEDIAN, outliers.LOCAL), outliers.FOUND)
        case "classify-gauss":
            return _times((ALG3, ALG4, *EMBEDDINGS, LENS_MAP), LOSS)
        case "classify-usps":
            return _times((ALG3, ALG4, LENS_MAP_KNN), LOSS)
        case "cluster-moons":
            methods = (RANDOM,) if point.panel == "random" else CLUSTERERS
            return [(m, PURITY, 5, None) for m in methods]
        case "cluster-usps":
            if point.panel == "truth":
                return [(RANDOM, PURITY), (TRUE_KNN, PURITY, 10, 1.0)]
            return list(product((*ALG5, LENS_MAP), (PURITY,), (10, 20, 100, 150), (0.3,)))
        case "cars-collections":
            return [("count", m) for m in (*cars.paper.COLLECTIONS, "rebuilt")]
        case "cars-medoids":
            labels = ("all", *cars.CLASSES)
            return [(ALG1, f"{what} of {x}") for what in ("medoid", "statements") for x in labels]
        case "cars-outliers":
            return [(ALG2, "lens depth", None, None, car) for car in range(1, 61)]
        case "cars-classification":
            methods = [f"{m} {c}" for m in (*EMBEDDINGS, LENS_MAP) for c in CLASSIFIERS]
            return _times((*BY_COUNTING, *methods), LOSS)
        case "cars-clustering":
            widths = (0.5, 3.0)
            others = [m for m in CLUSTERERS if m != ALG5_UNWEIGHTED]
            found = list(product((ALG5_UNWEIGHTED,), (PURITY, PURITY_B), (5, 10), (None,)))
            return found + list(product(others, (PURITY, PURITY_B), (5, 10), widths))
        case "cars-map":
            places = [f"place of the medoid of {c}" for c in cars.CLASSES]
            metrics = ["nearest of same class", "place of the eight lowest", *places]
            return list(product(("SOE", LENS_MAP), metrics))
        case "recovery":
            methods = (*EMBEDDINGS, recovery.FROM_MAP, LENS_MAP)
            metrics = (recovery.RESIDUAL, recovery.LARGEST, recovery.VIOLATED)
            return list(product(methods, metrics))
        case "speed":
            methods = (ALG1, *EMBEDDINGS, *(f"cblearn {m}" for m in EMBEDDINGS))
            return _times(methods, "CPU seconds")
    raise AssertionError(name)


def _times(methods: tuple[str, ...], metric: str) -> list[Series]:
    return list(product(methods, (metric,)))


def _illustrated(panel: str) -> list[Series]:
    i = illustrations
    found: dict[str, list[Series]] = {
        "lenses": [(i.LENS, "middle minus rim")],
        "graphs": list(product((i.KRNG, i.KNN), (i.CONNECTED, i.ACROSS), i.KS)),
        "depths": list(product((i.HALFSPACE, i.LENS), ("middle minus modes",))),
        "symmetric": list(
            product((i.LENS, i.FUNCTION_F), (i.AT_CENTRE,), (None,), (None,), range(4))
        ),
        "DD-plots": list(product((i.MAX_DEPTH, i.ON_DD), (LOSS,), (None,), (None,), range(2))),
        "correction": [
            (i.KRNG, metric)
            for metric in (i.BIAS, i.SLOPE, i.BIAS_OF_FEW, "estimated minus true edges")
        ],
        "local depth": list(product((i.LENS, i.LOCAL_DEPTH), (i.WITH_DENSITY, i.FROM_MODE))),
        "sparse graphs": list(product((i.PLANE, i.SPACE, i.MAXIMUM), (i.EDGES,))),
        "shared lenses": [
            (i.BY_SHARED, i.WITH_DISTANCE),
            *product((i.LOCAL_DEPTH, i.BY_SHARED), (i.WITH_DENSITY,)),
        ],
    }
    return found[panel]


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
}


def distorted(name: str, by: Distortion) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(0)
    empty = dict.fromkeys(COLUMNS, None) | {"experiment": name}
    for p, point in enumerate(EXPERIMENTS[name].grid):
        fields = ("method", "metric", "k", "sigma", "item")
        for s, one in enumerate(series(name, point)):
            for run in range(40 if name == "illustrations" else RUNS):
                row = empty | point.fields | dict(zip(fields, one, strict=False)) | {"run": run}
                value = by(row, s, p) + 1e-6 * rng.random()
                if row["metric"] in SHARES:
                    value = float(value > 0.5)
                elif row["metric"] == "CPU seconds":
                    value = max(value, 1e-3)
                yield row | {"value": value, "cpu_seconds": value}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_rule_can_fail(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trilens_paper.cars_clustering.MIXED_RUNS", RUNS)
    stands = list(EXPERIMENTS[name].claims)
    for by in DISTORTIONS.values():
        if stands:
            results = Results(tuple(distorted(name, by)))
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
def test_a_wrong_correction_is_biased(
    wrong: Callable[..., Any], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trilens.lens.correct_errors", wrong)
    experiment = EXPERIMENTS["illustrations"]
    cells = [c for c in experiment.cells(runs=40) if c.point == illustrations.THRESHOLD]
    rows = tuple(row for cell in cells for row in cell.measured(experiment.measure))
    (claim,) = [c for c in experiment.claims if c.paper.startswith("an unbiased")]
    assert claim.judge(Results(rows)).verdict == expected
