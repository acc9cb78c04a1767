"""The car data: collections, medoids, outliers, map (the paper's Section 6.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._typing import FloatArray
from trilens_paper import paper
from trilens_paper.framework.experiment import Experiment, Measure, Point, Seeds
from trilens_paper.framework.figures import new_figure, sorted_values
from trilens_paper.framework.results import Results
from trilens_paper.framework.verdicts import NOT_RUN, Claim, Finding, at_least, equal
from trilens_paper.ingredients.data import COLLECTIONS, TESTED, cars, labelled_cars
from trilens_paper.ingredients.methods import ALG1, ALG2, LENS_MAP, lens_map, places
from trilens_paper.words import ABOUT_LENS_MAP, EMBEDDED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from trilens.datasets import Cars
    from trilens.statements import Statements

CLASSES = ("ordinary", "sports", "off-road/SUV")
#: One cell for each collection; without chance, so once is enough.
ONCE = tuple(Point(collection=name, most_runs=1) for name in COLLECTIONS)


# -- collections (Tables 1 and 2) ---------------------------------------------------------


def measure_collections(point: Point, seeds: Seeds) -> Iterator[Measure]:
    """The characteristic values of a collection."""
    from trilens.datasets import passed_test_rounds, rebuild

    data = cars()
    S = data.statements[point.collection]
    appears = S.appearances
    inner, _ = labelled_cars(point.collection)
    found: dict[str, float] = {
        "statements": len(S),
        "percent": 100 * len(S) / 34220,
        "mean": appears.mean(),
        "min": appears.min(),
        "max": appears.max(),
        "statements of 56": len(inner),
        "percent of 56": 100 * len(inner) / 27720,
    }
    if point.collection in ("ALL", "T_ALL"):
        again = rebuild(data.survey, point.collection)
        assert again.seconds is not None
        found["seconds"] = float(np.median(again.seconds))
        found["rebuilt"] = float(np.array_equal(again.triples, S.triples))
    if point.collection == "ALL":
        rounds = np.unique(np.asarray(data.survey.rounds))
        found["rounds"] = len(rounds)
        found["failed rounds"] = len(rounds) - len(passed_test_rounds(data.survey))
    for metric, value in found.items():
        yield Measure("count", metric, float(value))


def row_of(metric: str, digits: int, printed: str, names: tuple[str, ...] = COLLECTIONS) -> Any:
    """A judge that compares one row of a table, as printed."""

    def judge(results: Results) -> Finding:
        values = [results.where(collection=c, metric=metric).values for c in names]
        if not all(len(v) for v in values):
            return NOT_RUN
        return equal(" / ".join(f"{v[0]:.{digits}f}" for v in values), printed)

    return judge


def _row(text: str, metric: str, digits: int, names: tuple[str, ...] = COLLECTIONS) -> Claim:
    printed = paper.COLLECTIONS[metric]
    which = ", ".join(names)
    return Claim(f"{text} ({which})", printed, "equal", row_of(metric, digits, printed, names))


def _collections_figure(results: Results) -> Figure:
    from trilens.plots import appearances

    figure, axes = new_figure(1, 2, (5, 3.2))
    for ax, name in zip(axes, ("ALL", "T_ALL"), strict=True):
        S = cars().statements[name]
        appearances(S.appearances, ax=ax)
        ax.set_title(f"{name}: {len(S)} statements", fontsize="medium")
    return figure


CARS_COLLECTIONS = Experiment(
    name="cars-collections",
    title="The four collections of statements about cars",
    paper="Tables 1 and 2",
    drawn="60 cars, 146 rounds of a survey",
    asked="7097 statements and three collections made from them",
    spoiled="as people do",
    compared="the files, and what is rebuilt from the survey, with the paper's values",
    grid=ONCE,
    runs=1,
    measure=measure_collections,
    claims=(
        _row("Number of statements", "statements", 0),
        _row("Statements in percent of all triples", "percent", 2),
        _row("Mean number of statements in which a car appears", "mean", 2),
        _row("Least number of statements in which a car appears", "min", 0),
        _row("Greatest number of statements in which a car appears", "max", 0),
        _row("Median seconds for a triple", "seconds", 2, TESTED),
        _row("Number of statements about the 56 labeled cars", "statements of 56", 0),
        _row("These statements in percent of all triples of the 56 cars", "percent of 56", 2),
        _row("Number of rounds", "rounds", 0, ("ALL",)),
        _row("Number of rounds that fail the test triple", "failed rounds", 0, ("ALL",)),
        Claim(
            "ALL and T_ALL rebuilt from the survey equal the files, row by row.",
            "-",
            "equal",
            row_of("rebuilt", 0, "1 / 1", TESTED),
        ),
    ),
    figure=_collections_figure,
    prepare=cars,
)


# -- medoids ------------------------------------------------------------------------------


def measure_medoids(point: Point, seeds: Seeds) -> Iterator[Measure]:
    """The medoid of all cars and of each class, by the class's own statements."""
    from trilens.questions.medoid import medoid

    data = cars()
    S = data.statements[point.collection]
    parts = {"all": S} | {c: S.subset(np.flatnonzero(data.labels == c)) for c in CLASSES}
    for label, part in parts.items():
        yield Measure(ALG1, f"medoid of {label}", float(medoid(part, "depth").name))
        yield Measure(ALG1, f"statements of {label}", float(len(part)))


def found_medoids(results: Results, collection: str) -> dict[str, int]:
    """The number of the medoid car of all and of each class."""
    part = results.where(collection=collection)
    return {
        label: int(part.where(metric=f"medoid of {label}").values[0]) for label in ("all", *CLASSES)
    }


def _same_medoids(results: Results) -> Finding:
    if len(results.levels("collection")) < 4:
        return NOT_RUN
    whole, tested = (found_medoids(results, name) for name in TESTED)
    text = " / ".join(map(str, whole.values())) + "; " + " / ".join(map(str, tested.values()))
    return Finding(text, "agrees" if whole == tested else "differs")


def _reduced_medoids(results: Results) -> Finding:
    if len(results.levels("collection")) < 4:
        return NOT_RUN
    whole = found_medoids(results, "ALL")
    texts, fits = [], []
    for name in ("ALL_REDUCED", "T_ALL_REDUCED"):
        reduced = found_medoids(results, name)
        changed = [label for label in whole if whole[label] != reduced[label]]
        texts.append(f"{name}: {', '.join(changed) or 'none'}")
        fits.append(changed == ["all", "off-road/SUV"])
    return Finding("; ".join(texts), "agrees" if all(fits) else "differs")


def _medoids_figure(results: Results) -> Figure:
    from trilens.datasets import load_cars

    pictures = load_cars().pictures
    figure, axes = new_figure(len(COLLECTIONS), 4, (1.8, 1.3))
    for i, name in enumerate(COLLECTIONS):
        for ax, (label, car) in zip(
            axes[4 * i :], found_medoids(results, name).items(), strict=False
        ):
            _show(ax, pictures[str(car)], f"{label}: {car}" if i == 0 else str(car))
        axes[4 * i].set_ylabel(name, fontsize="small")
    return figure


def _show(ax: Any, picture: Any, title: str) -> None:
    import matplotlib.image as mpl_image

    ax.imshow(mpl_image.imread(picture))
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize="small")


CARS_MEDOIDS = Experiment(
    name="cars-medoids",
    title="Medoids of the cars and of their classes",
    paper="Section 6.2.1, the figure of medoids",
    drawn="60 cars",
    asked="ALL, ALL_REDUCED, T_ALL, T_ALL_REDUCED",
    spoiled="as people do",
    compared="Algorithm 1 on all cars and within each class",
    grid=ONCE,
    runs=1,
    measure=measure_medoids,
    claims=(
        Claim(
            "ALL and T_ALL give the same four medoids (all, ordinary, sports, off-road/SUV).",
            "coincide",
            "equal",
            _same_medoids,
            main="All and tested answers give the same four medoids",
        ),
        Claim(
            "The reduced collections change the medoid of all cars and of the off-road/SUV only.",
            "differ from these only for the whole car data set and the subclass of "
            "off-road/sport utility vehicles",
            "equal",
            _reduced_medoids,
        ),
        Claim(
            "Number of statements in ALL about three sports cars",
            "89",
            "equal",
            row_of("statements of sports", 0, "89", ("ALL",)),
        ),
    ),
    figure=_medoids_figure,
    prepare=cars,
    notes=("The paper shows pictures of its medoids, which the numbers here cannot be held to.",),
)


# -- outliers -----------------------------------------------------------------------------


def measure_outliers(point: Point, seeds: Seeds) -> Iterator[Measure]:
    """The lens depth of every car."""
    from trilens.lens import lens_depth

    data = cars()
    for item, depth in enumerate(lens_depth(data.statements[point.collection])):
        yield Measure(ALG2, "lens depth", float(depth), item=int(data.names[item]))


def lowest(results: Results, collection: str, count: int) -> list[int]:
    """The cars of least depth, the lowest first."""
    part = results.where(collection=collection)
    order = np.argsort(part.values, kind="stable")[:count]
    return [part.column("item")[i] for i in order]


def _lowest_four(collection: str) -> Callable[[Results], Finding]:
    def judge(results: Results) -> Finding:
        if not len(results.where(collection=collection)):
            return NOT_RUN
        eight = lowest(results, collection, 8)
        text = ", ".join(map(str, eight[:4])) + " (then " + ", ".join(map(str, eight[4:])) + ")"
        return Finding(text, "agrees" if set(eight[:4]) == paper.LEAST_DEEP else "differs")

    return judge


def _gap_after_four(results: Results) -> Finding:
    """Whether the widest gap between the ten lowest depths of T_ALL follows the fourth."""
    depths = np.sort(results.where(collection="T_ALL").values)[:10]
    if not len(depths):
        return NOT_RUN
    gaps = np.diff(depths)
    text = f"after {gaps.argmax() + 1}: " + ", ".join(f"{gap:.3f}" for gap in gaps)
    return Finding(text, "agrees" if gaps.argmax() == 3 else "differs")


def _outliers_figure(results: Results) -> Figure:
    from trilens.datasets import load_cars

    pictures = load_cars().pictures
    figure, axes = new_figure(3, 4, (2.3, 1.8))
    place = axes[0].get_subplotspec()
    assert place is not None
    for ax in axes[:4]:
        ax.remove()
    wide = figure.add_subplot(place.get_gridspec()[0, :])
    part = results.where(collection="T_ALL")
    special = np.flatnonzero(np.isin(part.column("item"), lowest(results, "T_ALL", 8)))
    sorted_values(wide, part.values.tolist(), special.tolist(), "lens depth, T_ALL")
    for ax, car in zip(axes[4:], lowest(results, "T_ALL", 8), strict=True):
        _show(ax, pictures[str(car)], str(car))
    return figure


CARS_OUTLIERS = Experiment(
    name="cars-outliers",
    title="Outliers among the cars",
    paper="Section 6.2.2, the figure of sorted depths",
    drawn="60 cars",
    asked="ALL, ALL_REDUCED, T_ALL, T_ALL_REDUCED",
    spoiled="as people do",
    compared="Algorithm 2",
    grid=ONCE,
    runs=1,
    measure=measure_outliers,
    claims=(
        *(
            Claim(
                f"{name}: the Formula One car (48), the fire truck (53), the motortruck and the "
                "tractor (21, 23) have the least depth.",
                "are ranked lowest" if name == "T_ALL" else "very similar results",
                "equal as a set",
                _lowest_four(name),
            )
            for name in ("T_ALL", "ALL", "ALL_REDUCED", "T_ALL_REDUCED")
        ),
        Claim(
            "T_ALL: by a gap in the sorted depths there are at least four outliers.",
            "it might be reasonable to assume that there are at least four outliers",
            "the gap after the fourth is the widest between the ten lowest depths",
            _gap_after_four,
            main="A gap in the depths shows at least four outliers",
        ),
    ),
    figure=_outliers_figure,
    prepare=cars,
)


# -- map ----------------------------------------------------------------------------------


def measure_map(point: Point, seeds: Seeds) -> Iterator[Measure]:
    """A plane map of all 60 cars by SOE and by the lens map, and how it agrees with the rest."""
    from trilens.maps.registry import make_map

    data = cars()
    S = data.statements[point.collection]
    soe = make_map("soe", 2, seeds.integer("SOE"), init="random", n_jobs=1)
    for method, X in (("SOE", soe.fit_transform(S)), (LENS_MAP, lens_map(S, 2)[0])):
        for metric, value in _map_values(X, data, S).items():
            yield Measure(method, metric, value)
        if seeds.run == 0:
            yield from places(method, X, first=1)


def _map_values(X: FloatArray, data: Cars, S: Statements) -> dict[str, float]:
    from scipy.spatial.distance import cdist

    from trilens.lens import lens_depth
    from trilens.questions.medoid import medoid

    inside = np.flatnonzero(data.labels != "outlier")
    D = cdist(X[inside], X[inside])
    np.fill_diagonal(D, np.inf)
    same = data.labels[inside][D.argmin(axis=1)] == data.labels[inside]
    out = np.linalg.norm(X - X.mean(axis=0), axis=1)
    eight = np.argsort(lens_depth(S), kind="stable")[:8]
    found = {
        "nearest of same class": float(same.mean()),
        "place of the eight lowest": float((out[eight].mean() > out).mean()),
    }
    for label in CLASSES:
        mine = np.flatnonzero(data.labels == label)
        off = np.linalg.norm(X[mine] - X[mine].mean(axis=0), axis=1)
        best = medoid(S.subset(mine), "depth").index
        found[f"place of the medoid of {label}"] = float((off < off[best]).mean())
    return found


def _map_figure(results: Results) -> Figure:
    from trilens.datasets import load_cars
    from trilens.plots import object_map

    data = load_cars()
    figure, axes = new_figure(1, 2, (6.5, 6))
    first = results.where(run=0)
    for ax, method in zip(axes, ("SOE", LENS_MAP), strict=True):
        X = first.plane(method)
        object_map(X, names=data.names, groups=data.labels, pictures=data.pictures, width=30, ax=ax)
        ax.set_title(f"{method}, T_ALL")
    return figure


def _on_map(metric: str, threshold: float, most: bool = False) -> Callable[[Results], Finding]:
    """At least (or at most) a threshold, for SOE over its random starts; the map beside it."""

    def judge(results: Results) -> Finding:
        found = results.where(metric=metric, method="SOE").per_run()
        ours = results.where(metric=metric, method=LENS_MAP).values
        sign = -1.0 if most else 1.0
        verdict = at_least(sign * found, sign * threshold).verdict
        if not len(found):
            return NOT_RUN
        text = f"SOE {found.mean():.2f} ({len(found)} starts), lens map {ours[0]:.2f}"
        return Finding(text, verdict)

    return judge


CARS_MAP = Experiment(
    name="cars-map",
    title="A map of the cars",
    paper="Section 6.2.1, the figure of the embedding",
    drawn="60 cars",
    asked="T_ALL",
    spoiled="as people do",
    compared="SOE in two dimensions from random starts, lens map",
    notes=(
        "The paper's map is SOE's, and the verdicts are about it; the lens map is beside it.",
        EMBEDDED,
        ABOUT_LENS_MAP,
    ),
    grid=(Point(collection="T_ALL"),),
    runs=10,
    measure=measure_map,
    claims=(
        Claim(
            "The cars group by class: share of the 56 cars whose nearest car is of their class.",
            "a grouping of the cars according to the subclasses",
            "SOE: at least 0.85",
            _on_map("nearest of same class", 0.85),
        ),
        Claim(
            "The eight cars of least depth lie outside: share of cars nearer to the center than "
            "their mean distance.",
            "all these cars are located far outside",
            "SOE: at least 0.75",
            _on_map("place of the eight lowest", 0.75),
        ),
        Claim(
            "The medoid of the ordinary cars is central: share of its class nearer to the center.",
            "located quite at the center of the corresponding subclasses",
            "SOE: at most 0.25 (a random member has 0.5)",
            _on_map("place of the medoid of ordinary", 0.25, most=True),
        ),
        Claim(
            "The medoid of the sports cars is central.",
            "located quite at the center of the corresponding subclasses",
            "SOE: at most 0.25 (a random member has 0.5)",
            _on_map("place of the medoid of sports", 0.25, most=True),
        ),
        Claim(
            "The medoid of the off-road/SUV is not central.",
            "with the exception of the subclass of off-road/sport utility vehicles",
            "SOE: at least 0.25",
            _on_map("place of the medoid of off-road/SUV", 0.25),
        ),
    ),
    figure=_map_figure,
    prepare=cars,
)
