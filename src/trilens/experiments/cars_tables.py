"""Classification and clustering of the 56 labelled cars (the paper's Tables 3 and 4)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from trilens._typing import AnyArray, FloatArray
from trilens.counts import count_pairs
from trilens.experiments.cars import COLLECTIONS, cars, labelled_cars
from trilens.experiments.experiment import Clock, Experiment, Measure, Point, Seeds
from trilens.experiments.figures import new_figure
from trilens.experiments.methods import (
    ALG3,
    ALG4,
    ALG5_UNWEIGHTED,
    ALG5_WEIGHTED,
    EMBEDDINGS,
    LENS_MAP,
    clocked,
    embeddings,
    lens_map,
)
from trilens.experiments.results import Results
from trilens.experiments.verdicts import (
    NOT_RUN,
    Claim,
    Finding,
    Verdict,
    at_least,
    at_most,
    below,
    near,
    quorum,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Mean and standard deviation for each of the four collections.
PaperRow: TypeAlias = tuple[tuple[float, float], ...]

N_TEST = 16
LOSS, PURITY = "0-1 loss", "purity"
CLASSIFIERS = {"k-NN": "knn", "SVM linear": "svm-linear", "SVM Gauss": "svm-gauss"}
#: k of the k-NN classifier and of Algorithm 4 on the cars.
NEIGHBOURS = (1, 3, 5, 7, 11, 15)
KRNG_NEIGHBOURS = (1, 2, 3, 5, 7, 10, 15)


def _rows(text: str) -> dict[str, PaperRow]:
    """``name | .19 .11 | ...``: mean and standard deviation for each collection."""
    rows = {}
    for line in text.strip().splitlines():
        name, *cells = (part.strip() for part in line.split("|"))
        pairs = [tuple(map(float, cell.split())) for cell in cells]
        rows[name] = tuple((mean, sd) for mean, sd in pairs)
    return rows


TABLE3 = _rows("""
Algorithm 3 k-NN | .19 .11 | .23 .12 | .16 .10 | .17 .10
Algorithm 3 SVM linear | .17 .09 | .16 .09 | .13 .07 | .16 .08
Algorithm 3 SVM Gauss | .17 .10 | .18 .10 | .14 .10 | .16 .09
Algorithm 4 | .15 .09 | .18 .10 | .13 .09 | .13 .09
GNMDS k-NN | .05 .05 | .05 .05 | .04 .04 | .04 .04
GNMDS SVM linear | .07 .07 | .06 .06 | .07 .07 | .04 .05
GNMDS SVM Gauss | .05 .06 | .04 .05 | .04 .05 | .04 .05
SOE k-NN | .06 .05 | .07 .05 | .06 .06 | .07 .06
SOE SVM linear | .10 .08 | .12 .09 | .11 .08 | .10 .09
SOE SVM Gauss | .05 .07 | .07 .08 | .05 .05 | .07 .06
STE k-NN | .05 .04 | .03 .04 | .05 .04 | .04 .04
STE SVM linear | .07 .08 | .06 .06 | .08 .07 | .06 .06
STE SVM Gauss | .05 .05 | .03 .05 | .04 .05 | .04 .05
t-STE k-NN | .09 .07 | .10 .07 | .06 .06 | .08 .07
t-STE SVM linear | .12 .09 | .15 .11 | .11 .09 | .13 .09
t-STE SVM Gauss | .09 .08 | .08 .08 | .07 .06 | .08 .08
""")

#: By method, k and sigma; the standard deviation of Algorithm 5 is that of a machine number.
TABLE4 = _rows("""
Algorithm 5 weighted, k 5, sigma 0.5 | .82 0 | .82 0 | .86 0 | .88 0
Algorithm 5 weighted, k 5, sigma 3.0 | .84 0 | .82 0 | .86 0 | .86 0
Algorithm 5 weighted, k 10, sigma 0.5 | .91 0 | .84 0 | .95 0 | .93 0
Algorithm 5 weighted, k 10, sigma 3.0 | .84 0 | .91 0 | .86 0 | .89 0
Algorithm 5 unweighted, k 5 | .84 0 | .82 0 | .84 0 | .88 0
Algorithm 5 unweighted, k 10 | .84 0 | .84 0 | .86 0 | .89 0
GNMDS, k 5, sigma 0.5 | .79 .12 | .83 .12 | .78 .15 | .80 .15
GNMDS, k 5, sigma 3.0 | .78 .12 | .84 .11 | .76 .14 | .83 .15
GNMDS, k 10, sigma 0.5 | .83 .11 | .92 .03 | .93 .04 | .89 .13
GNMDS, k 10, sigma 3.0 | .78 .12 | .88 .09 | .92 .06 | .95 .03
SOE, k 5, sigma 0.5 | .87 .01 | .87 .04 | .82 .08 | .79 .10
SOE, k 5, sigma 3.0 | .82 .09 | .83 .11 | .75 .10 | .73 .10
SOE, k 10, sigma 0.5 | .90 .04 | .90 .03 | .91 .04 | .90 .03
SOE, k 10, sigma 3.0 | .93 .03 | .93 .03 | .91 .05 | .89 .08
STE, k 5, sigma 0.5 | .75 .11 | .73 .11 | .74 .10 | .73 .11
STE, k 5, sigma 3.0 | .75 .12 | .76 .11 | .74 .10 | .76 .11
STE, k 10, sigma 0.5 | .90 .04 | .87 .01 | .90 .03 | .88 .01
STE, k 10, sigma 3.0 | .90 .04 | .87 .01 | .77 .14 | .88 .01
t-STE, k 5, sigma 0.5 | .87 .02 | .87 .02 | .86 .04 | .88 .05
t-STE, k 5, sigma 3.0 | .85 .08 | .89 .03 | .76 .12 | .79 .12
t-STE, k 10, sigma 0.5 | .92 .03 | .92 .03 | .92 .04 | .91 .04
t-STE, k 10, sigma 3.0 | .94 .03 | .94 .02 | .92 .04 | .91 .06
""")


# -- classification -----------------------------------------------------------------------


def measure_classification(point: Point, seeds: Seeds) -> Iterator[Measure]:
    """16 random cars are to be classified by the labels of the other 40."""
    from trilens.maps.geometry import rescaled
    from trilens.tasks.classify.depth import LensDepthClassifier
    from trilens.tasks.classify.graph import KRNGClassifier

    S, y = labelled_cars(point.collection)
    # the same cars for every collection: their losses can be compared run by run
    test = Seeds(seeds.experiment, Point(), seeds.run).rng("split").permutation(len(y))[:N_TEST]
    known = y.copy()
    known[test] = -1

    def loss(predicted: AnyArray) -> float:
        return float((predicted[test] != y[test]).mean())

    for shown, name in CLASSIFIERS.items():
        seed = seeds.integer(f"{ALG3} {shown}")
        model = LensDepthClassifier(_classifier(name, seed), random_state=seed)
        _, clock = clocked(lambda model=model: _quietly(model, S, known))  # type: ignore[misc]
        yield Measure(f"{ALG3} {shown}", LOSS, loss(model.transduction_), clock=clock)
    krng = KRNGClassifier(KRNG_NEIGHBOURS, random_state=seeds.integer(ALG4))
    _, clock = clocked(lambda: krng.fit(S, known))
    yield Measure(ALG4, LOSS, loss(krng.transduction_), clock=clock)
    found = [*embeddings(S, 2, seeds), (LENS_MAP, *lens_map(S, 2))]
    for method, X, clock in found:
        features = rescaled(X)
        for shown, name in CLASSIFIERS.items():
            predicted = _predicted(features, known, name, seeds.integer(f"{method} {shown}"))
            yield Measure(f"{method} {shown}", LOSS, loss(predicted), clock=clock)


def _classifier(name: str, seed: int) -> Any:
    """The tuned classifier's name, or for k-NN the paper's shorter grid for the cars."""
    if name != "knn":
        return name
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.neighbors import KNeighborsClassifier

    folds = StratifiedKFold(10, shuffle=True, random_state=seed)
    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": list(NEIGHBOURS)}, cv=folds)


def _quietly(model: Any, *data: Any) -> Any:
    with warnings.catch_warnings():
        # a class with fewer members than folds is uneven, not wrong
        warnings.filterwarnings("ignore", message="The least populated class")
        return model.fit(*data)


def _predicted(X: FloatArray, known: AnyArray, name: str, seed: int) -> AnyArray:
    from trilens.tasks.classify.tuning import tuned_classifier

    labelled = known >= 0
    classifier = _classifier(name, seed)
    if isinstance(classifier, str):
        model = tuned_classifier(classifier, X[labelled], known[labelled], seed)
    else:
        model = _quietly(classifier, X[labelled], known[labelled])
    return np.asarray(model.predict(X))


def row_judge(
    key: Callable[[Results], Results], paper: PaperRow, tolerance: float
) -> Callable[[Results], Finding]:
    """One row of a table: all four collections near the paper's; those that are not, marked."""

    def judge(results: Results) -> Finding:
        mine = key(results)
        texts, verdicts = [], []
        for name, (mean, sd) in zip(COLLECTIONS, paper, strict=True):
            values = mine.where(collection=name).per_run()
            if not len(values):
                return NOT_RUN
            found = near(values, mean, tolerance, paper_sd=sd)
            spread = f" ({values.std(ddof=1):.2f})" if len(values) > 1 else ""
            mark = "" if found.verdict != "differs" else " ↑" if values.mean() > mean else " ↓"
            texts.append(f"{values.mean():.2f}{spread}{mark}")
            verdicts.append(found.verdict)
        text = " / ".join(texts)
        worst: tuple[Verdict, ...] = ("differs", "not judged")
        for verdict in worst:
            if verdict in verdicts:
                return Finding(text, verdict)
        return Finding(text, "agrees")

    return judge


def _printed(row: PaperRow) -> str:
    return " / ".join(f"{mean:.2f} ({sd:.2f})" if sd else f"{mean:.2f}" for mean, sd in row)


def _table3(name: str) -> Claim:
    return Claim(
        name,
        _printed(TABLE3[name]),
        "each within 0.02 + 3 se of both sides",
        row_judge(lambda r: r.where(method=name), TABLE3[name], 0.02),
    )


def _embeddings_beat(results: Results) -> Finding:
    ours = (f"{ALG3} k-NN", f"{ALG3} SVM linear", f"{ALG3} SVM Gauss", ALG4)
    runs = [results.where(method=m).by_run() for m in ours]
    found = {}
    for name in EMBEDDINGS:
        for shown in CLASSIFIERS:
            theirs = results.where(method=f"{name} {shown}").by_run()
            for of_ours, by_run in zip(ours, runs, strict=True):
                gaps = [theirs[r] - by_run[r] for r in theirs if r in by_run]
                found[f"{name} {shown} - {of_ours}"] = below(gaps)
    counted = quorum(found, 0.75)
    if counted.verdict == "not judged":
        return NOT_RUN
    return Finding(counted.ours.split(":")[0] + " comparisons", counted.verdict)


def _tested_not_worse(results: Results) -> Finding:
    methods = (f"{ALG3} k-NN", f"{ALG3} SVM linear", f"{ALG3} SVM Gauss", ALG4)
    found = {}
    for tested, other in (("T_ALL", "ALL"), ("T_ALL_REDUCED", "ALL_REDUCED")):
        a, b = (results.where(method=methods, collection=c).by_run() for c in (tested, other))
        found[f"{tested} - {other}"] = at_most([a[r] - b[r] for r in a if r in b], 0.0)
    return quorum(found, 2)


def _map_loss(results: Results) -> Finding:
    mine = results.where(method=f"{LENS_MAP} k-NN")
    return quorum(
        {name: at_most(mine.where(collection=name).per_run(), 0.06, 2) for name in COLLECTIONS}, 4
    )


def _bars(results: Results, metric: str, paper: dict[str, PaperRow], label: Any) -> Figure:
    """A dot for each row of the table and each collection: ours, and the paper's beside it."""
    from trilens.plots.style import FAINT, PALETTE, plain

    mine = results.where(metric=metric)
    rows = list(dict.fromkeys(label(row) for row in mine.rows))
    figure, axes = new_figure(1, 4, (2.6, 0.25 * len(rows) + 1))
    for i, (ax, name) in enumerate(zip(axes, COLLECTIONS, strict=True)):
        for y, row in enumerate(rows):
            values = np.array(
                [r["value"] for r in mine.where(collection=name).rows if label(r) == row]
            )
            if not len(values):
                continue
            ax.errorbar(
                values.mean(), y, xerr=values.std(), fmt="o", color=PALETTE[0], markersize=4
            )
            if row in paper:
                mean, sd = paper[row][i]
                ax.errorbar(mean, y + 0.3, xerr=sd, fmt="D", color=FAINT, markersize=4)
        ax.set_yticks(range(len(rows)), rows if i == 0 else [""] * len(rows), fontsize="small")
        ax.invert_yaxis()
        ax.set_title(name, fontsize="medium")
        ax.set_xlabel(f"{metric} (grey: paper)", fontsize="small")
        plain(ax, grid="x")
    return figure


CARS_CLASSIFICATION = Experiment(
    name="cars-classification",
    title="Classification of the cars",
    paper="Table 3",
    drawn="56 cars of three classes, 16 of them at random unlabelled",
    asked="ALL, ALL_REDUCED, T_ALL, T_ALL_REDUCED without the four outliers",
    spoiled="as people do",
    compared="Algorithms 3 and 4, GNMDS, SOE, STE, t-STE and lens map in two dimensions; "
    "k-NN, linear and Gaussian SVM",
    grid=tuple(Point(collection=name) for name in COLLECTIONS),
    runs=20,
    measure=measure_classification,
    claims=(
        *(_table3(name) for name in TABLE3),
        Claim(
            "The embeddings have less loss than Algorithms 3 and 4.",
            "every row",
            "below beyond 2 se, averaged over the collections, 3/4 of the 48 comparisons",
            _embeddings_beat,
        ),
        Claim(
            "The tested collections are not worse than the others for Algorithms 3 and 4.",
            "better or equal",
            "mean difference - 2 se at most 0",
            _tested_not_worse,
        ),
        Claim(
            "Added: lens map with k-NN.",
            "-",
            "at most 0.06 on each collection (mean - 2 se)",
            _map_loss,
        ),
    ),
    figure=lambda results: _bars(results, LOSS, TABLE3, lambda row: row["method"]),
    prepare=cars,
    notes=(
        "Means with standard deviations over the runs, for ALL / ALL_REDUCED / T_ALL / "
        "T_ALL_REDUCED; an arrow marks a value that differs, upwards or downwards.",
        "k of k-NN and the SVM parameters by 10-fold cross-validation over the paper's grids. For "
        "Algorithm 4 every labelled car is left out once, where the paper leaves out one at random "
        "twenty times.",
        "The paper does not write out its Gaussian kernel; here it is exp(-|x - y|² / (2 sigma²)).",
    ),
)


# -- clustering ---------------------------------------------------------------------------


def measure_clustering(point: Point, seeds: Seeds) -> Iterator[Measure]:
    """Three clusters of the 56 cars by every method and choice of parameters."""
    from trilens.tasks.cluster.graph import KRNGClustering
    from trilens.tasks.cluster.map import coordinate_clusters
    from trilens.tasks.cluster.partition import purity

    S, y = labelled_cars(point.collection)
    pairs = count_pairs(S, n_threads=1)
    for k in (5, 10):
        for sigma in (0.5, 3.0, None):
            method = ALG5_UNWEIGHTED if sigma is None else ALG5_WEIGHTED
            seed = seeds.integer(f"{method} {k} {sigma}")
            model = KRNGClustering(3, k=k, sigma=sigma, random_state=seed)
            _, clock = clocked(lambda model=model: model.fit(pairs))  # type: ignore[misc]
            yield Measure(method, PURITY, purity(model.labels_, y), k=k, sigma=sigma, clock=clock)
    found: list[tuple[str, FloatArray, Clock]] = [
        *embeddings(S, 2, seeds),
        (LENS_MAP, *lens_map(pairs, 2)),
    ]
    for method, X, clock in found:
        for k in (5, 10):
            for sigma in (0.5, 3.0):
                seed = seeds.integer(f"{method} {k} {sigma}")
                clusters = coordinate_clusters(X, 3, k, sigma, seed)
                yield Measure(method, PURITY, purity(clusters, y), k=k, sigma=sigma, clock=clock)


def _label4(row: dict[str, Any]) -> str:
    width = "" if row["sigma"] is None else f", sigma {row['sigma']}"
    return f"{row['method']}, k {row['k']}{width}"


#: What was tried, in vain, to come upon the paper's values.
_NOT_BY_COUNTING = (
    "It is none of these, which were tried: one start of k-means in place of the best of ten; "
    "eigenvectors of length one; the symmetric or the unnormalised Laplacian; k off by one or two."
)
_NOT_EMBEDDED = (
    "One start of k-means in place of the best of ten explains a part: over ten runs it lowered "
    "the means by 0.06 at most."
)


def _table4(name: str) -> Claim:
    method, k, *width = name.split(", ")
    sigma = float(width[0].split()[1]) if width else None
    by_counting = method in (ALG5_WEIGHTED, ALG5_UNWEIGHTED)
    tolerance = 0.03 if by_counting else 0.05
    return Claim(
        name,
        _printed(TABLE4[name]),
        "each within 0.03 + 3 se" if by_counting else "each within 0.05 + 3 se of both sides",
        row_judge(
            lambda r: r.where(method=method, k=int(k.split()[1]), sigma=sigma),
            TABLE4[name],
            tolerance,
        ),
        why="The cause is not known. " + (_NOT_BY_COUNTING if by_counting else _NOT_EMBEDDED),
    )


def _best_of(results: Results, methods: tuple[str, ...]) -> float:
    mine = results.where(method=methods)
    keys = {(row["method"], row["k"], row["sigma"]) for row in mine.rows}
    return max(float(mine.where(method=m, k=k, sigma=s).values.mean()) for m, k, s in keys)


def _as_good(results: Results) -> Finding:
    texts, good = [], []
    for name in COLLECTIONS:
        mine = results.where(collection=name)
        if not len(mine):
            return NOT_RUN
        krng = _best_of(mine, (ALG5_WEIGHTED, ALG5_UNWEIGHTED))
        best = _best_of(mine, tuple(EMBEDDINGS))
        texts.append(f"{krng:.2f} against {best:.2f}")
        good.append(krng >= best - 0.05)
    return Finding(" / ".join(texts), "agrees" if all(good) else "differs")


def _map_purity(results: Results) -> Finding:
    mine = results.where(method=LENS_MAP, k=10, sigma=3.0)
    return quorum(
        {name: at_least(mine.where(collection=name).per_run(), 0.85, 2) for name in COLLECTIONS}, 4
    )


CARS_CLUSTERING = Experiment(
    name="cars-clustering",
    title="Clustering of the cars",
    paper="Table 4",
    drawn="56 cars of three classes",
    asked="ALL, ALL_REDUCED, T_ALL, T_ALL_REDUCED without the four outliers",
    spoiled="as people do",
    compared="Algorithm 5 weighted and unweighted; spectral clustering on GNMDS, SOE, STE, t-STE "
    "and lens map in two dimensions",
    grid=tuple(Point(collection=name) for name in COLLECTIONS),
    runs=20,
    measure=measure_clustering,
    claims=(
        *(_table4(name) for name in TABLE4),
        Claim(
            "With the best parameters Algorithm 5 is as good as the best embedding.",
            "nearly equally well",
            "at most 0.05 less on each collection",
            _as_good,
        ),
        Claim(
            "Added: lens map, k 10, sigma 3.",
            "-",
            "at least 0.85 on each collection (mean + 2 se)",
            _map_purity,
        ),
    ),
    figure=lambda results: _bars(results, PURITY, TABLE4, _label4),
    prepare=cars,
    notes=(
        "Means with standard deviations over the runs, for ALL / ALL_REDUCED / T_ALL / "
        "T_ALL_REDUCED; an arrow marks a value that differs, upwards or downwards. One car is "
        "0.018.",
    ),
)
