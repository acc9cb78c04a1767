"""What the experiments compare, under the names that stand in tables and figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.counts import PairCounts, count_central, count_pairs
from trilens.lens import centrality
from trilens.simulate import distort, simulate_statements
from trilens.statements import Kind, Statements
from trilens_paper.framework.experiment import Measure, Point, Seeds
from trilens_paper.framework.results import Results
from trilens_paper.framework.verdicts import Finding, quorum

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ALG1, ALG2, ALG3, ALG4 = (f"Algorithm {i}" for i in (1, 2, 3, 4))
ALG5_WEIGHTED, ALG5_UNWEIGHTED = "Algorithm 5 weighted", "Algorithm 5 unweighted"
CROWD_MEDIAN = "Crowd-Median"
LENS_MAP = "lens map"
ERROR, LOSS, PURITY = "relative error", "0-1 loss", "purity"

#: The ordinal embeddings: name on the page, and name of the map.
EMBEDDINGS = {"GNMDS": "gnmds", "SOE": "soe", "STE": "ste", "t-STE": "tste"}

T = TypeVar("T")


def clocked(work: Callable[[], T]) -> tuple[T, float]:
    """The result of ``work`` and the CPU seconds it took."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def clocked_often(work: Callable[[], T], times: int = 5) -> tuple[T, float]:
    """The same for work so short that one call cannot be timed; the first call is not counted."""
    result = work()
    _, cpu = clocked(lambda: [work() for _ in range(times)])
    return result, cpu / times


def medoid_error(score: FloatArray, totals: FloatArray) -> float:
    """The relative error of the object of highest score, averaged over those that tie for it.

    With few statements very many do, and which of them comes first says nothing.

    >>> medoid_error(np.array([0.5, 0.5, 0.1]), np.array([2.0, 3.0, 9.0]))
    0.25
    """
    from trilens.questions.medoid import relative_error

    return float(np.mean([relative_error(int(i), totals) for i in _highest(score)]))


def _highest(score: FloatArray) -> IntArray:
    return np.flatnonzero(score == score.max())


@dataclass(frozen=True)
class Loss:
    """The 0-1 loss over the unlabelled objects, which are -1 in ``known``."""

    known: AnyArray
    truth: AnyArray

    def __call__(self, predicted: AnyArray) -> float:
        unknown = self.known < 0
        return float((predicted[unknown] != self.truth[unknown]).mean())


def on_coordinates(
    X: FloatArray,
    loss: Loss,
    classifier: str,
    seed: int,
    neighbours: Sequence[int] | None = None,
) -> float:
    """The loss of a tuned classifier on coordinates of diameter 2."""
    from trilens.maps.geometry import rescaled
    from trilens.questions.classify.tuning import tuned_classifier

    features, labelled = rescaled(X), loss.known >= 0
    model = tuned_classifier(
        on_top(classifier, seed, neighbours), features[labelled], loss.known[labelled], seed
    )
    return loss(np.asarray(model.predict(features)))


def on_top(classifier: str, seed: int, neighbours: Sequence[int] | None = None) -> Any:
    """A classifier that is tuned by ten folds: the SVM by its name, k-NN as it is."""
    from trilens.questions.classify.tuning import NEIGHBOURS

    return ten_fold_knn(neighbours or NEIGHBOURS, seed) if classifier == "knn" else classifier


def ten_fold_knn(neighbours: Sequence[int], seed: int) -> Any:
    """The k-NN classifier with k by 10-fold cross-validation, as the paper tunes it."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.neighbors import KNeighborsClassifier

    folds = StratifiedKFold(10, shuffle=True, random_state=seed)
    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": list(neighbours)}, cv=folds)


def spoiled(D: FloatArray, point: Point, seeds: Seeds) -> FloatArray:
    """The dissimilarities that answers follow: under Noise model II distorted once per cell.

    Distorted values may be negative; lifted by a constant, they give the same statements and
    are dissimilarities again.
    """
    if not point.noise_param:
        return D
    noisy = distort(D, point.noise_param, seeds.rng("noise"))
    noisy -= min(float(noisy.min()), 0.0)
    np.fill_diagonal(noisy, 0.0)
    return noisy


def statements_of(
    D: AnyArray, point: Point, seeds: Seeds, kind: Kind = "central", ties: Any = "random"
) -> Statements:
    """The cell's statements; all of them when the number is that of all and drawn uniformly."""
    total = len(D) * (len(D) - 1) * (len(D) - 2) // 6
    every = point.n_statements == total and point.sampling == "uniform"
    return simulate_statements(
        D,
        None if every else point.n_statements,
        kind=kind,
        sampling=point.sampling,  # type: ignore[arg-type]
        error_rate=point.error_rate,
        ties=ties,
        random_state=seeds.rng(f"{kind} statements"),
        n_threads=1,
    )


def depths(S: Statements) -> FloatArray:
    """Lens depth, or 1 - P(odd)."""
    return centrality(count_central(S, n_threads=1))


def embeddings(S: Statements, dim: int, seeds: Seeds) -> Iterator[tuple[str, FloatArray, float]]:
    """Each ordinal embedding as the paper runs it, from one random start."""
    from trilens.maps.registry import make_map

    for name, method in EMBEDDINGS.items():
        model = make_map(method, dim, seeds.integer(name), init="random", n_jobs=1)
        X, cpu = clocked(lambda model=model: model.fit_transform(S))  # type: ignore[misc]
        yield name, X, cpu


def lens_map(S: Statements | PairCounts, dim: int, power: Any = "auto") -> tuple[FloatArray, float]:
    """The lens map, counting included where statements are given."""
    from trilens.maps import LensMap

    def work() -> FloatArray:
        pairs = S if isinstance(S, PairCounts) else count_pairs(S, n_threads=1)
        X: FloatArray = LensMap(dim, power=power).fit_transform(pairs)
        return X

    return clocked(work)


def places(method: str, X: FloatArray, first: int = 0) -> Iterator[Measure]:
    """Where the objects lie on a plane, for a figure; they are numbered from ``first`` on."""
    for metric, column in zip("xy", X.T, strict=True):
        for item, value in enumerate(column, first):
            yield Measure(method, metric, float(value), item=item)


@dataclass(frozen=True)
class Clustering:
    """Clusters, and the graph and the parameters that gave them."""

    method: str
    k: int
    sigma: float | None
    graph: csr_array
    clusters: IntArray
    seed: int


def clusterings(
    S: Statements, n_clusters: int, ks: Sequence[int], sigmas: Sequence[float], seeds: Seeds
) -> Iterator[Clustering]:
    """Algorithm 5, weighted and not, and spectral clustering on every map in two dimensions."""
    from trilens.questions.cluster.krng import KRNGClustering
    from trilens.questions.cluster.spectral import coordinate_clusters, neighbour_graph

    pairs = count_pairs(S, n_threads=1)
    for k in ks:
        for sigma in (*sigmas, None):
            method = ALG5_UNWEIGHTED if sigma is None else ALG5_WEIGHTED
            seed = seeds.integer(f"{method} {k} {sigma}")
            model = KRNGClustering(n_clusters, k=k, sigma=sigma, random_state=seed)
            model.fit(pairs)
            yield Clustering(method, k, sigma, model.graph_, model.labels_, seed)
    for method, X, _ in (*embeddings(S, 2, seeds), (LENS_MAP, *lens_map(pairs, 2))):
        for k in ks:
            for sigma in sigmas:
                seed = seeds.integer(f"{method} {k} {sigma}")
                clusters = coordinate_clusters(X, n_clusters, k, sigma, seed)
                graph = neighbour_graph(X, k, sigma)
                yield Clustering(method, k, sigma, graph, clusters, seed)


def each_embedding(
    judge: Callable[[Results, str], Finding], need: int | float = 3
) -> Callable[[Results], Finding]:
    """A quorum of the four embeddings; ``judge`` takes the results and a method."""
    return lambda results: quorum({name: judge(results, name) for name in EMBEDDINGS}, need)


@cache
def warm() -> None:
    """Load what is compiled, so that no measured time holds it."""
    from trilens.maps import LensMap

    S = Statements(np.tile(np.array([[0, 1, 2], [1, 2, 3]]), (70_000, 1)), kind="central")
    count_central(S, n_threads=1)
    LensMap(2).fit(count_pairs(S, n_threads=1))
    from trilens.maps.registry import make_map

    for method in EMBEDDINGS.values():
        make_map(method, 2, 0, init="random", n_jobs=1).fit(S.take(np.arange(1000)))
