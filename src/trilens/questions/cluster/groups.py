"""`cluster`: the groups of the objects, and how many there are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import generator, one_of, real_number, seed_of, whole_number
from trilens._sklearn import BaseEstimator, ClusterMixin
from trilens._tabular import AsDict, Tabular, counted, facts
from trilens._typing import FloatArray, IntArray, RandomState
from trilens.answers import Answers
from trilens.ask import (
    Data,
    Opened,
    Points,
    Question,
    ask,
    counts_of,
    objects_of,
    opened,
    per_object,
    register,
)
from trilens.counts import CentralCounts, Counted, PairCounts, count_pairs
from trilens.errors import ParameterError, option
from trilens.lens import spectral_clusters
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.fitted import Fit
from trilens.maps.geometry import some_of, total_distance
from trilens.maps.registry import coordinates
from trilens.maps.support import support_of_answers
from trilens.questions.cluster.krng import KRNGClustering
from trilens.questions.cluster.spectral import (
    check_n_clusters,
    coordinate_clusters,
    neighbour_graph,
    purity,
)
from trilens.questions.cluster.suggest import (
    ClusterSuggestion,
    examine,
    examined,
    group_names,
    numbered,
    silhouettes,
    why_no_groups,
)
from trilens.questions.embed import map_dimension, map_of_pairs
from trilens.questions.error_rate import is_zero, known_error_rate
from trilens.questions.estimators import AsksMap
from trilens.questions.labels import LabelsLike, label_of_each
from trilens.questions.shapes import Shape as MapShape
from trilens.questions.structure import Structure, structure_of
from trilens.statements import Kind, Statements
from trilens.words import p_text

#: More objects than these have no silhouettes, which take all distances.
_MOST_SILHOUETTES = 5000
#: Members of a larger group that the typical ones are near to, and objects by which the stability
#: of groups is told.
_MEASURED = 2000
#: Other maps by which the stability of groups is told, of up to so many objects.
_COPIES = ((100, 20), (500, 10), (np.inf, 6))


@dataclass(frozen=True)
class Group(AsDict):
    """One cluster.

    Attributes
    ----------
    cluster : int
        Its number, from 0 on.
    size : int
    medoid : str or None
        The member with the least total distance to the others on the map, or, of more than
        5000, to 2000 of them.
    silhouette : float or None
        Its mean: near 1 far from other groups, near 0 between groups.
    stability : float or None
        Its mean Jaccard similarity with the most similar group of resampled answers.
    objects : tuple of str
        The members, the most typical first where that is known.
    classes : dict of str to int, or None
        How many members have each label, where labels were given.
    """

    cluster: int
    size: int
    medoid: str | None
    silhouette: float | None
    stability: float | None
    objects: tuple[str, ...] = field(repr=False)
    classes: dict[str, int] | None

    @property
    def name(self) -> str:
        """What people call it: groups are counted from 1."""
        return str(self.cluster + 1)


@dataclass(frozen=True)
class ClusterStability:
    """How a partition fares when the statements are resampled.

    Attributes
    ----------
    agreement : float
        Mean adjusted Rand index with the partitions of the resamples: 1 for always the same
        clusters, 0 for agreement by chance.
    clusters : (L,) array
        For each cluster the mean, over the resamples, of its Jaccard similarity to the most
        similar cluster (Hennig, 2007): above 0.75 stable, below 0.5 dissolved.
    objects : (n,) array
        For each object the share of the resamples in which it stays in the cluster that is
        matched to its own.
    resamples : int
    """

    agreement: float
    clusters: FloatArray
    objects: FloatArray
    resamples: int


@dataclass(frozen=True)
class Clusters(Tabular):
    """A clustering, and how it came about.

    Attributes
    ----------
    labels : (n_objects,) array of int
        The group of each object, from 0 on; -1 for one that stands apart and is in no group.
    names : tuple of str
        The objects.
    n_clusters : int
    given : bool
        Whether the number was given; else it is the suggested one.
    parameters : dict
        The method and every parameter that was chosen or found.
    groups : tuple of Group
    suggestion : ClusterSuggestion or None
        The number of clusters that the answers suggest, with the evidence; None where the
        method has no map to look at, or a number was given that leaves nothing to suggest.
    stability : ClusterStability or None
        How the clusters fare when the answers are resampled.
    purity : float or None
        With respect to labels, where these were given.
    structure : Structure or None
        The shape that the objects form, and where each of them lies in it, whatever number was
        given; None where the method has no test.
    """

    labels: IntArray = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    n_clusters: int
    given: bool
    parameters: dict[str, Any]
    groups: tuple[Group, ...] = field(repr=False)
    suggestion: ClusterSuggestion | None = field(repr=False)
    stability: ClusterStability | None = field(repr=False)
    purity: float | None
    structure: Structure | None = field(default=None, repr=False)

    def among(self, rank: IntArray) -> Clusters:
        """The same groups with the objects in another order: that of rank i comes i-th."""
        stability = self.stability
        if stability is not None:
            stability = replace(stability, objects=stability.objects[rank])
        structure = None if self.structure is None else self.structure.among(rank)
        moved = per_object(self, rank, "labels", "names")
        return replace(self, stability=stability, structure=structure, **moved)

    @property
    def shape(self) -> MapShape | None:
        """What the objects form: a cloud, a line, a ring, arms or groups; None if not told."""
        return None if self.suggestion is None else self.suggestion.shape

    @property
    def p_value(self) -> float | None:
        """How often a cloud without groups falls into parts so clear; None if not told."""
        return None if self.suggestion is None else self.suggestion.p_value

    @property
    def unassigned(self) -> tuple[str, ...]:
        """The objects that stand apart and are in no group."""
        return tuple(self.names[i] for i in np.flatnonzero(self.labels < 0))

    @property
    def method(self) -> str:
        """The method that found the clusters."""
        return str(self.parameters["method"])

    def _headline(self) -> str:
        number = counted(self.n_clusters, "group")
        if self.given:
            return f"{number}, as requested"
        said = f"{number}." if self.structure is None else self.structure.sentence
        return said if self.p_value is None else f"{said} Groups: {p_text(self.p_value)}."

    def columns(self) -> dict[str, Sequence[Any]]:
        """The name of each object's group, counted from 1; a label file has these columns."""
        return {"object": self.names, "label": group_names(self.labels)}

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens cluster --json`` prints them."""
        told = {
            "clusters": dict(zip(self.names, self.labels.tolist(), strict=True)),
            **facts(self, "n_clusters", "unassigned", "shape", "p_value", "structure", "given"),
            **facts(self, "method", "parameters", "groups", "suggestion"),
            "agreement": None if self.stability is None else self.stability.agreement,
            "resamples": 0 if self.stability is None else self.stability.resamples,
        }
        return told if self.purity is None else told | {"purity": self.purity}


def cluster(
    answers: Data,
    n_clusters: int | None = None,
    method: str = "auto",
    *,
    k: int | None = None,
    sigma: float | None = None,
    error_rate: Any = 0.0,
    labels: LabelsLike | None = None,
    random_state: RandomState = 0,
) -> Clusters:
    """Groups of the objects.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table, (m, 3) array, Counted or PairCounts
        Counts of pairs suffice for ``"krng"`` and ``"lensmap"`` and a given number of clusters;
        they do not tell how stable the groups are.
    n_clusters : int, optional
        By default as many as the answers suggest on a map, which may be one; objects that stand
        apart from all others are then set aside (``unassigned``). With a number every object is
        in a group.
    method : str
        ``"krng"`` (Algorithm 5, for ``central`` statements and a given number of clusters), or
        the name of a map, for spectral clustering on it; ``"auto"``: the choice map, where
        answers suffice for one, else the lens map.
    k, sigma
        Of the k-RNG (by default the smallest connecting k, and no weights), or of the k-NN
        graph on the map (10 and 0.5).
    error_rate : float or "estimate"
        The share of wrong answers, for the k-RNG and the lens map; ``"estimate"`` takes what
        `trilens.reliability` finds.
    labels : dict by name, or (n_objects,) iterable, optional
        Classes to compare the clusters with.
    random_state
        Of the map and of k-means.

    Examples
    --------
    >>> from trilens.simulate import mixture, simulate_statements
    >>> drawn = mixture(45, [[0, 0], [9, 0], [0, 9]], random_state=1)
    >>> found = cluster(simulate_statements(drawn.points, 3000, random_state=2))
    >>> found.n_clusters, purity(found.labels, drawn.labels)
    (3, 1.0)
    """
    one_of("method", method, ("auto", *CLUSTER.methods))
    if k is not None:
        whole_number("k", k, least=1)
    given = opened(answers)
    if isinstance(given, Answers) and method == "lensmap" and n_clusters is not None:
        given = counts_of(given, pairs=True)
    known = None if labels is None else label_of_each(labels, _names_of(given))
    wanted = _Wanted(n_clusters, method, k, sigma, error_rate, seed_of(random_state))
    if isinstance(given, Counted | CentralCounts | PairCounts) and method == "lensmap":
        method = "auto"  # both ways to groups need counts of pairs
    found: Clusters = ask(CLUSTER, given, method, random_state, known=known, wanted=wanted)
    return found


def structure(answers: Data, *, random_state: RandomState = 0) -> Structure:
    """The shape that the objects form: another name of ``cluster(answers).structure``.

    Examples
    --------
    >>> from trilens.simulate import Points, simulate_statements
    >>> angle = np.linspace(0, 6, 30)
    >>> ring = Points(np.c_[np.cos(angle), np.sin(angle)], np.zeros(30, dtype=int))
    >>> structure(simulate_statements(ring, 2000, random_state=1)).sentence
    'The objects lie on a ring: there is no most central object.'
    """
    found = cluster(answers, method="choice", random_state=random_state).structure
    assert found is not None
    return found


@dataclass(frozen=True)
class _Wanted:
    """The parameters of `cluster`, for whoever answers it."""

    n_clusters: int | None
    method: str
    k: int | None
    sigma: float | None
    error_rate: Any
    seed: int

    @property
    def width(self) -> float:
        """Of the weights of the k-NN graph on a map."""
        return 0.5 if self.sigma is None else real_number("sigma", self.sigma, positive=True)

    def parameters(
        self, method: str, dim: int, n_objects: int, error_rate: float = 0.0
    ) -> dict[str, Any]:
        """The method and its parameters on a map."""
        return {
            "method": method,
            "dim": dim,
            "k": min(self.k or 10, max(n_objects - 1, 1)),
            "sigma": self.width,
            "error_rate": error_rate,
        }

    def divide(self, points: FloatArray, tested: IntArray) -> IntArray:
        """The group of each object on a map: as it was tested, unless something else is wanted."""
        if self.n_clusters is None and self.k is None and self.sigma is None:
            return tested
        found = tested.clip(max=0)
        if self.n_clusters is not None:
            check_n_clusters(self.n_clusters, len(points))
            found = np.zeros_like(tested)
        number = self.n_clusters or int(tested.max()) + 1
        if number > 1:
            found[found == 0] = coordinate_clusters(
                points[found == 0], number, self.k or 10, self.width, self.seed
            )
        return found


def _names_of(given: Opened) -> tuple[str, ...]:
    if isinstance(given, Answers):
        given = given.read() if given.held else given.count().with_names()
    if isinstance(given, Counted | CentralCounts | PairCounts):
        return objects_of(given).names
    return given.names


def _of_fit(fitted: Fit, known: Sequence[Any] | None, wanted: _Wanted) -> Clusters:
    _no_correction(wanted.error_rate, "choice")
    points, n = fitted.map.X, fitted.n_objects
    found = examined(fitted)
    labels = wanted.divide(points, found.labels)
    some = np.flatnonzero(labels >= 0)
    some = some[some_of(len(some), _MEASURED)]
    return _described(
        fitted.names,
        labels,
        wanted.parameters("choice", points.shape[1], n),
        wanted,
        known,
        points,
        suggestion=found.suggestion,
        stability=_stability(labels, lambda: fitted.draws[: _copies(n)], some, wanted.seed),
        structure=structure_of(fitted),
    )


def _of_points(given: Points, known: Sequence[Any] | None, wanted: _Wanted) -> Clusters:
    S, method = given.statements, given.method
    n, number, rate = S.n_objects, wanted.n_clusters, 0.0
    if method == "lensmap":
        rate = known_error_rate(wanted.error_rate, S, wanted.seed)
    else:
        _no_correction(wanted.error_rate, method)
    if len(S) == 0:
        # nothing was said: every object is where every other one is
        parameters = wanted.parameters(method, 0, n, rate)
        return _described(S.names, np.arange(n) % (number or 1), parameters, wanted, known)
    dim = map_dimension(count_pairs(S)) if n > 1 else 1
    points = given.coordinates(dim, **({"error_rate": rate} if rate else {}))
    why = why_no_groups(support_of_answers(S), S)
    found = examine(points, kind=S.kind, random_state=wanted.seed, reason=why)
    suggestion, tested = found.suggestion, found.labels
    if why is None and method == "lensmap" and S.kind != "central":
        # measured: of clouds without groups 8 of 8 (odd) and 3 of 8 (closer) were divided
        suggestion = replace(
            suggestion, n_clusters=1, p_value=None, shape="cloud", notes=("lens map",)
        )
        tested = np.zeros_like(tested)
    labels = wanted.divide(points, tested)
    stability = None
    if method == "lensmap":
        stability = _stability(
            labels, lambda: _resampled(S, points.shape[1], wanted.seed), np.arange(n), wanted.seed
        )
    return _described(
        S.names,
        labels,
        wanted.parameters(method, points.shape[1], len(points), rate),
        wanted,
        known,
        points,
        suggestion=suggestion,
        stability=stability,
    )


def _of_counts(
    data: Statements | Counted | PairCounts, known: Sequence[Any] | None, wanted: _Wanted
) -> Clusters:
    """Algorithm 5; of counts of another kind than ``central``, or if asked for, the lens map."""
    if isinstance(data, Statements):
        return _by_krng(data, data.names, known, wanted)
    pairs = data.pairs if isinstance(data, Counted) else data
    assert pairs is not None
    names = objects_of(pairs).names
    if wanted.method == "lensmap" or (wanted.method == "auto" and pairs.kind != "central"):
        return _of_pairs(pairs, names, known, wanted)
    return _by_krng(pairs, names, known, wanted)


def _by_krng(
    given: Statements | PairCounts,
    names: tuple[str, ...],
    known: Sequence[Any] | None,
    wanted: _Wanted,
) -> Clusters:
    number = wanted.n_clusters
    if number is None:
        raise ParameterError(
            f"krng needs the number of clusters, which a map can suggest; give "
            f"{option('n_clusters')}"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        krng = KRNGClustering(number, wanted.k, wanted.sigma, wanted.error_rate, wanted.seed).fit(
            given
        )
    parameters = {
        "method": "krng",
        "k": krng.k_,
        "sigma": krng.sigma,
        "error_rate": krng.error_rate_,
        "edges": krng.graph_.nnz // 2,
        "connected_parts": krng.n_connected_,
        "isolated": [names[i] for i in krng.isolated_.tolist()],
    }
    few = krng.has_few_edges
    suggestion = ClusterSuggestion(1, (), 1, None, ("few edges",)) if few else None
    return _described(names, krng.labels_, parameters, wanted, known, suggestion=suggestion)


def _of_pairs(
    pairs: PairCounts, names: tuple[str, ...], known: Sequence[Any] | None, wanted: _Wanted
) -> Clusters:
    """The groups on the lens map of counts of pairs."""
    if wanted.n_clusters is None:
        raise ParameterError(
            f"counts do not tell how many groups there are; give {option('n_clusters')} or the "
            f"statements"
        )
    check_n_clusters(wanted.n_clusters, len(names))
    rate = real_number("error_rate", wanted.error_rate)
    points = map_of_pairs(pairs, None, wanted.seed, rate)
    labels = wanted.divide(points, np.zeros(len(names), dtype=np.int64))
    parameters = wanted.parameters("lensmap", points.shape[1], len(points), rate)
    return _described(names, labels, parameters, wanted, known, points)


def _no_correction(error_rate: Any, method: str) -> None:
    if not is_zero(error_rate):
        raise ParameterError(f"{method} cannot correct for an error rate; krng and lensmap can")


def _described(
    names: tuple[str, ...],
    labels: IntArray,
    parameters: dict[str, Any],
    wanted: _Wanted,
    known: Sequence[Any] | None,
    points: FloatArray | None = None,
    *,
    suggestion: ClusterSuggestion | None = None,
    stability: ClusterStability | None = None,
    structure: Structure | None = None,
) -> Clusters:
    from scipy.spatial.distance import cdist

    labels = numbered(labels, names)
    number = int(labels.max(initial=-1)) + 1
    width = None
    if points is not None and number > 1 and len(points) <= _MOST_SILHOUETTES:
        width, inside = np.full(len(points), np.nan), labels >= 0
        distance = cdist(points[inside], points[inside])
        width[inside] = silhouettes(distance, labels[inside], number)
    groups = []
    for c in range(number):
        members = np.flatnonzero(labels == c)
        first = members
        if points is not None:
            first = members[np.argsort(_distances(points[members]), kind="stable")]
        classes = None
        if known is not None:
            own = [str(known[i]) for i in members.tolist() if known[i] is not None]
            classes = {label: own.count(label) for label in sorted(set(own))}
        groups.append(
            Group(
                cluster=c,
                size=len(members),
                medoid=None if points is None else names[first[0]],
                silhouette=None if width is None else float(width[members].mean()),
                stability=None if stability is None else float(stability.clusters[c]),
                objects=tuple(names[i] for i in first),
                classes=classes,
            )
        )
    labelled = [i for i, label in enumerate(known or []) if label is not None and labels[i] >= 0]
    pure = None
    if known and labelled:
        pure = purity(labels[labelled], [str(known[i]) for i in labelled])
    return Clusters(
        labels,
        names,
        number,
        wanted.n_clusters is not None,
        parameters,
        tuple(groups),
        suggestion,
        stability,
        pure,
        structure,
    )


def _distances(points: FloatArray) -> FloatArray:
    """How far each point is from the others, or, of very many, from some that stand for them."""
    some = some_of(len(points), _MEASURED)
    return total_distance(points, some if len(points) > _MOST_SILHOUETTES else None)


def _copies(n_objects: int) -> int:
    return next(copies for most, copies in _COPIES if n_objects <= most)


def _resampled(S: Statements, n_components: int, seed: int) -> Iterator[FloatArray]:
    """Lens maps of bootstrap samples: as many statements, drawn with replacement."""
    rng = generator(seed)
    for _ in range(_copies(S.n_objects)):
        drawn = S.take(rng.integers(len(S), size=len(S)))
        yield coordinates(drawn, "lensmap", n_components, random_state=0)


def _stability(
    found: IntArray, maps: Callable[[], Iterable[FloatArray]], some: IntArray, seed: int
) -> ClusterStability | None:
    """How a partition fares on other maps that the answers allow, told by some of the objects."""
    own = found[some]
    number = int(own.max(initial=0)) + 1
    if not 1 < number < len(own):
        return None
    # many are averaged over: fewer starts suffice
    parts = [
        spectral_clusters(neighbour_graph(np.asarray(X[some], np.float64)), number, seed, n_init=3)
        for X in maps()
    ]
    if not parts:
        return None
    again = cluster_stability(own, parts)
    stays = np.full(len(found), np.nan)
    stays[some] = again.objects
    return replace(again, objects=stays)


def cluster_stability(labels: ArrayLike, resampled: Sequence[ArrayLike]) -> ClusterStability:
    """Compare a partition into clusters 0 to L - 1 with those found in resamples of the statements.

    Examples
    --------
    >>> found = cluster_stability([0, 0, 1, 1], [[1, 1, 0, 0], [0, 0, 0, 1]])
    >>> found.agreement, found.clusters.round(2).tolist(), found.objects.tolist()
    (0.5, [0.83, 0.75], [1.0, 1.0, 0.5, 1.0])
    """
    from sklearn.metrics import adjusted_rand_score
    from sklearn.metrics.cluster import contingency_matrix

    own = np.asarray(labels, dtype=np.int64)
    jaccards, stays, agreement = [], [], []
    for other in resampled:
        part = np.unique(other, return_inverse=True)[1]
        table = contingency_matrix(own, part)
        union = table.sum(axis=1, keepdims=True) + table.sum(axis=0) - table
        jaccard = table / union
        jaccards.append(jaccard.max(axis=1))
        stays.append(part == jaccard.argmax(axis=1)[own])
        agreement.append(adjusted_rand_score(own, part))
    return ClusterStability(
        agreement=float(np.mean(agreement)),
        clusters=np.mean(jaccards, axis=0),
        objects=np.mean(stays, axis=0),
        resamples=len(resampled),
    )


CLUSTER = register(
    Question(
        "cluster",
        of_fit=_of_fit,
        of_counts=_of_counts,
        of_points=_of_points,
        by_counting="krng",
        needs_pairs=True,
        labels=("known",),
    )
)


@dataclass(eq=False, repr=False)
class MapClustering(AsksMap, ClusterMixin, BaseEstimator):
    """What `trilens.cluster` finds, as an estimator: spectral clustering on the choice map.

    Parameters
    ----------
    n_clusters : int, optional
        By default as many as the answers suggest, which may be one.
    map : str or ChoiceMap
        The method of `trilens.cluster`, or a map to be fitted (it is cloned).
    k, sigma
        Of the k-NN graph on the map, or of the k-RNG; see `trilens.cluster`.
    random_state : int, Generator or None
    kind : {"central", "odd", "closer"}, optional
        What was asked: required for arrays, which do not tell.

    Attributes
    ----------
    labels_ : (n_objects,) array of int
        The cluster of each object, from 0 on.
    n_clusters_ : int
    result_ : Clusters
        What `trilens.cluster` returned: the groups, their stability, the suggested number.
    kind_ : {"central", "odd", "closer"}

    Examples
    --------
    >>> from trilens import purity
    >>> from trilens.simulate import mixture, simulate_statements
    >>> drawn = mixture(45, [[0, 0], [9, 0], [0, 9]], random_state=1)
    >>> S = simulate_statements(drawn.points, 3000, random_state=2)
    >>> purity(MapClustering().fit_predict(S), drawn.labels)
    1.0
    """

    n_clusters: int | None = None
    _: KW_ONLY
    map: str | ChoiceMap = "auto"
    k: int | None = None
    sigma: float | None = None
    random_state: RandomState = 0
    kind: Kind | None = None

    def _ask(self, data: Any, method: str) -> None:
        self.result_ = cluster(
            data,
            self.n_clusters,
            method,
            k=self.k,
            sigma=self.sigma,
            random_state=self.random_state,
        )
        self.labels_ = self.result_.labels
        self.n_clusters_ = self.result_.n_clusters
