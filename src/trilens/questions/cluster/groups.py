"""`cluster`: the groups of the objects, and how many there are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import generator, one_of, real_number, seed_of, whole_number
from trilens._tabular import Tabular
from trilens._typing import AnyArray, FloatArray, IntArray, RandomState
from trilens.answers import Answers
from trilens.ask import (
    LEAST_PER_OBJECT,
    Data,
    Opened,
    Points,
    Question,
    ask,
    counts_of,
    objects_of,
    opened,
    register,
)
from trilens.counts import CentralCounts, Counted, PairCounts, count_pairs
from trilens.errors import ParameterError, option
from trilens.lens import spectral_clusters
from trilens.maps.fitted import Fit
from trilens.maps.registry import coordinates
from trilens.maps.support import Reason, support_of_answers
from trilens.questions.cluster.spectral import (
    KRNGClustering,
    check_n_clusters,
    coordinate_clusters,
    krng_parameters,
    map_parameters,
    neighbour_graph,
    purity,
)
from trilens.questions.cluster.suggest import (
    ClusterSuggestion,
    examined,
    numbered,
    suggest_clusters,
)
from trilens.questions.embed import map_dimension, map_of_pairs
from trilens.questions.labels import LabelsLike, label_of_each
from trilens.questions.shapes import Shape as MapShape
from trilens.questions.structure import Structure, structure_of
from trilens.statements import Statements

#: More objects than these have no silhouettes, which take all distances.
_MOST_SILHOUETTES = 5000
#: Members of a larger group that the typical ones are near to, and objects by which the stability
#: of groups is told.
_MEASURED = 2000
#: Other maps by which the stability of groups is told, of up to so many objects.
_COPIES = ((100, 20), (500, 10), (np.inf, 6))


@dataclass(frozen=True)
class Group:
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
        names = tuple(self.names[i] for i in rank.tolist())
        shape = None if self.structure is None else self.structure.among(rank)
        return replace(
            self, labels=self.labels[rank], names=names, stability=stability, structure=shape
        )

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

    def columns(self) -> dict[str, Sequence[Any]]:
        """The name of each object's group, counted from 1; a label file has these columns."""
        labels = ["unassigned" if c < 0 else str(c + 1) for c in self.labels.tolist()]
        return {"object": self.names, "label": labels}

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens cluster --json`` prints them."""
        facts: dict[str, Any] = {
            "clusters": dict(zip(self.names, self.labels.tolist(), strict=True)),
            "n_clusters": self.n_clusters,
            "unassigned": list(self.unassigned),
            "shape": self.shape,
            "p_value": self.p_value,
            "structure": None if self.structure is None else self.structure.to_dict(),
            "given": self.given,
            "method": self.method,
            "parameters": self.parameters,
            "groups": [
                {
                    "cluster": g.cluster,
                    "size": g.size,
                    "medoid": g.medoid,
                    "silhouette": g.silhouette,
                    "stability": g.stability,
                    "objects": list(g.objects),
                    "classes": g.classes,
                }
                for g in self.groups
            ],
            "suggestion": None if self.suggestion is None else self.suggestion.to_dict(),
            "agreement": None if self.stability is None else self.stability.agreement,
            "resamples": 0 if self.stability is None else self.stability.resamples,
        }
        if self.purity is not None:
            facts["purity"] = self.purity
        return facts


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
    wanted: dict[str, Any] = {
        "n_clusters": n_clusters,
        "k": k,
        "sigma": sigma,
        "error_rate": error_rate,
        "known": None if labels is None else label_of_each(labels, _names_of(given)),
        "seed": seed_of(random_state),
    }
    if isinstance(given, Counted | CentralCounts | PairCounts) and method == "lensmap":
        return _of_pairs(given, **wanted)
    found: Clusters = ask(CLUSTER, given, method, random_state, **wanted)
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


def _names_of(given: Opened) -> tuple[str, ...]:
    if isinstance(given, Answers):
        given = given.read() if given.held else given.count().with_names()
    if isinstance(given, Counted | CentralCounts | PairCounts):
        return objects_of(given).names
    return given.names


def _of_fit(
    fitted: Fit,
    n_clusters: int | None,
    k: int | None,
    sigma: float | None,
    error_rate: Any,
    known: Sequence[Any] | None,
    seed: int,
) -> Clusters:
    _no_correction(error_rate, "choice")
    points, n = fitted.map.X, fitted.n_objects
    why = fitted.support.reason
    if why is None and LEAST_PER_OBJECT * n > 3 * fitted.n_answers:
        why = "few answers"
    found = examined(fitted)
    inside = found.inside if why is None and n_clusters is None else np.arange(n)
    copies = next(copies for most, copies in _COPIES if n <= most)
    some = inside
    if len(some) > _MEASURED:
        some = inside[np.unique(np.linspace(0, len(inside) - 1, _MEASURED).astype(np.int64))]
    made = _on_map(
        Mapped(fitted.names, points, "choice", known, seed, inside),
        _told(found.suggestion, why),
        n_clusters,
        k,
        sigma,
        0.0,
        lambda labels: _stability(labels, fitted.draws[:copies], some, seed),
    )
    return replace(made, structure=structure_of(fitted))


def _of_points(
    given: Points,
    n_clusters: int | None,
    k: int | None,
    sigma: float | None,
    error_rate: Any,
    known: Sequence[Any] | None,
    seed: int,
) -> Clusters:
    S, method = given.statements, given.method
    rate = 0.0
    if method == "lensmap":
        rate = _error_rate(error_rate, S, seed)
    else:
        _no_correction(error_rate, method)
    if len(S) == 0:
        # nothing was said: every object is where every other one is
        parameters = map_parameters(
            method, np.empty((S.n_objects, 0)), *_neighbours(k, sigma), rate
        )
        whole = np.arange(S.n_objects) % (n_clusters or 1)
        mapped = Mapped(S.names, None, method, known, seed)
        return _clusters(mapped, whole, parameters, None, None, n_clusters is not None)
    dim = map_dimension(count_pairs(S)) if S.n_objects > 1 else 1
    points = given.coordinates(dim, **({"error_rate": rate} if rate else {}))
    suggestion = suggest_clusters(points, kind=S.kind, random_state=seed)
    why = support_of_answers(S).reason
    if why is None and LEAST_PER_OBJECT * S.n_objects > 3 * len(S):
        why = "few answers"
    suggestion = _told(suggestion, why)
    if why is None and method == "lensmap" and S.kind != "central":
        # measured: of clouds without groups 8 of 8 (odd) and 3 of 8 (closer) were divided
        suggestion = replace(
            suggestion, n_clusters=1, p_value=None, shape="cloud", notes=("lens map",)
        )

    def stability(found: IntArray) -> ClusterStability | None:
        if method != "lensmap":
            return None
        copies = next(copies for most, copies in _COPIES if S.n_objects <= most)
        maps = resampled_maps(S, copies, n_components=points.shape[1], random_state=seed)
        return _stability(found, maps, np.arange(S.n_objects), seed)

    mapped = Mapped(S.names, points, method, known, seed)
    return _on_map(mapped, suggestion, n_clusters, k, sigma, rate, stability)


def _of_counts(data: Statements | Counted | PairCounts, **wanted: Any) -> Clusters:
    """Algorithm 5; of counts of another kind than ``central``, the lens map."""
    if isinstance(data, Statements):
        return _by_krng(data, data.names, **wanted)
    if data.kind != "central":
        return _of_pairs(data, **wanted)
    pairs = _pairs_in(data)
    return _by_krng(pairs, objects_of(pairs).names, **wanted)


def _pairs_in(data: Counted | CentralCounts | PairCounts) -> PairCounts:
    pairs = data.pairs if isinstance(data, Counted) else data
    if isinstance(pairs, PairCounts):
        return pairs
    raise ParameterError(
        f"there are no counts of pairs; count the statements with {option('pairs', True)}"
    )


def _by_krng(
    given: Statements | PairCounts,
    names: tuple[str, ...],
    n_clusters: int | None,
    k: int | None,
    sigma: float | None,
    error_rate: Any,
    known: Sequence[Any] | None,
    seed: int,
) -> Clusters:
    if n_clusters is None:
        raise ParameterError(
            f"krng needs the number of clusters, which a map can suggest; give "
            f"{option('n_clusters')}"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        krng = KRNGClustering(n_clusters, k, sigma, error_rate, seed).fit(given)
    connected = len(names) - len(krng.isolated_)
    suggestion = None
    if 1 < n_clusters < len(names) and connected <= n_clusters:
        suggestion = ClusterSuggestion(1, (), 1, None, ("few edges",))
    parameters = krng_parameters(krng, names)
    mapped = Mapped(names, None, "krng", known, seed)
    return _clusters(mapped, krng.labels_, parameters, suggestion, None, True)


def _of_pairs(
    data: Counted | CentralCounts | PairCounts,
    n_clusters: int | None,
    k: int | None,
    sigma: float | None,
    error_rate: Any,
    known: Sequence[Any] | None,
    seed: int,
) -> Clusters:
    """The groups on the lens map of counts of pairs."""
    pairs = _pairs_in(data)
    names = objects_of(pairs).names
    if n_clusters is None:
        raise ParameterError(
            f"counts do not tell how many groups there are; give {option('n_clusters')} or the "
            f"statements"
        )
    check_n_clusters(n_clusters, len(names))
    rate = real_number("error_rate", error_rate)
    width, spread = _neighbours(k, sigma)
    points = map_of_pairs(pairs, None, seed, rate)
    found = coordinate_clusters(points, n_clusters, width, spread, seed)
    parameters = map_parameters("lensmap", points, width, spread, rate)
    mapped = Mapped(names, points, "lensmap", known, seed)
    return _clusters(mapped, found, parameters, None, None, True)


def _no_correction(error_rate: Any, method: str) -> None:
    if not isinstance(error_rate, int | float) or error_rate != 0:
        raise ParameterError(f"{method} cannot correct for an error rate; krng and lensmap can")


def _error_rate(error_rate: Any, statements: Statements, seed: int) -> float:
    """As a number; ``"estimate"`` asks `trilens.reliability` for it."""
    from trilens.questions.error_rate import known_error_rate

    return known_error_rate(error_rate, statements, seed)


def _told(suggestion: ClusterSuggestion, why: Reason | None) -> ClusterSuggestion:
    """What is left of a suggestion where nothing can be claimed."""
    if why is None:
        return suggestion
    return replace(suggestion, n_clusters=1, p_value=None, notes=(), shape="cloud", reason=why)


def _neighbours(k: int | None, sigma: float | None) -> tuple[int, float]:
    """Of the k-NN graph on a map."""
    width = 0.5 if sigma is None else real_number("sigma", sigma, positive=True)
    return 10 if k is None else k, width


@dataclass(frozen=True)
class Mapped:
    """Objects on a map, and what is known of them.

    Attributes
    ----------
    names : tuple of str
    points : (n, d) array or None
    method : str
    known : sequence or None
        The class of each object.
    seed : int
    inside : (m,) array of int, optional
        The objects that are divided into groups; by default all.
    """

    names: tuple[str, ...]
    points: FloatArray | None
    method: str
    known: Sequence[Any] | None
    seed: int
    inside: IntArray | None = None


def _on_map(
    mapped: Mapped,
    suggestion: ClusterSuggestion,
    n_clusters: int | None,
    k: int | None,
    sigma: float | None,
    error_rate: float,
    stability: Callable[[IntArray], ClusterStability | None],
) -> Clusters:
    """The groups on a map: as many as were asked for, or as are suggested."""
    points = mapped.points
    assert points is not None
    if n_clusters is not None:
        check_n_clusters(n_clusters, len(points))
    number = suggestion.n_clusters if n_clusters is None else n_clusters
    width, spread = _neighbours(k, sigma)
    inside = np.arange(len(points)) if mapped.inside is None else mapped.inside
    found = np.full(len(points), -1, dtype=np.int64)
    found[inside] = 0
    if number > 1:
        found[inside] = coordinate_clusters(points[inside], number, width, spread, mapped.seed)
    parameters = map_parameters(mapped.method, points, width, spread, error_rate)
    stable = stability(found) if 1 < number < len(points) else None
    return _clusters(mapped, found, parameters, suggestion, stable, n_clusters is not None)


def _clusters(
    mapped: Mapped,
    found: IntArray,
    parameters: dict[str, Any],
    suggestion: ClusterSuggestion | None,
    stability: ClusterStability | None,
    given: bool,
) -> Clusters:
    names, points, known = mapped.names, mapped.points, mapped.known
    found = numbered(found, names)
    number = int(found.max(initial=-1)) + 1
    width = None
    if points is not None and number > 1 and len(points) <= _MOST_SILHOUETTES:
        width = np.full(len(points), np.nan)
        width[found >= 0] = silhouettes(points[found >= 0], found[found >= 0])
    groups = tuple(
        _group(c, np.flatnonzero(found == c), mapped, width, stability) for c in range(number)
    )
    labelled = [i for i, label in enumerate(known or []) if label is not None and found[i] >= 0]
    pure = None
    if known and labelled:
        pure = purity(found[labelled], [str(known[i]) for i in labelled])
    return Clusters(found, names, number, given, parameters, groups, suggestion, stability, pure)


def _group(
    c: int,
    members: IntArray,
    mapped: Mapped,
    width: FloatArray | None,
    stability: ClusterStability | None,
) -> Group:
    names, points, known = mapped.names, mapped.points, mapped.known
    first, medoid, mean = members, None, None
    if points is not None:
        first = members[np.argsort(_distances(points[members]), kind="stable")]
        medoid = names[first[0]]
    if width is not None:
        mean = float(width[members].mean())
    classes = None
    if known is not None:
        inside = [str(known[i]) for i in members if known[i] is not None]
        classes = {label: inside.count(label) for label in sorted(set(inside))}
    return Group(
        cluster=c,
        size=len(members),
        medoid=medoid,
        silhouette=mean,
        stability=None if stability is None else float(stability.clusters[c]),
        objects=tuple(names[i] for i in first),
        classes=classes,
    )


def _distances(points: FloatArray) -> FloatArray:
    """How far each point is from the others, or, of very many, from some that stand for them."""
    from trilens.maps.geometry import total_distance

    if len(points) <= _MOST_SILHOUETTES:
        return total_distance(points)
    from scipy.spatial.distance import cdist

    some = points[np.linspace(0, len(points) - 1, _MEASURED).astype(np.int64)]
    blocks = np.array_split(points, len(points) // 1000)
    return np.concatenate([cdist(block, some).sum(axis=1) for block in blocks])


def silhouettes(coordinates: FloatArray, labels: IntArray) -> FloatArray:
    """The silhouette of each object; 0 for all where there is one cluster."""
    from sklearn.metrics import silhouette_samples

    if not 2 <= len(np.unique(labels)) < len(labels):
        return np.zeros(len(labels))
    return np.asarray(silhouette_samples(coordinates, labels))


def resampled_maps(
    statements: Statements,
    n_resamples: int = 20,
    *,
    n_components: int = 2,
    random_state: RandomState = 0,
) -> list[FloatArray]:
    """Lens maps of bootstrap samples: as many statements, drawn with replacement.

    The axes of different maps may be turned and mirrored; distances compare.
    """
    rng = generator(random_state)
    m = len(statements)
    maps = []
    for _ in range(n_resamples):
        drawn = statements.take(rng.integers(m, size=m)) if m else statements
        maps.append(coordinates(drawn, "lensmap", n_components, random_state=0))
    return maps


def _stability(
    found: IntArray, maps: Sequence[FloatArray] | AnyArray, some: IntArray, seed: int
) -> ClusterStability | None:
    """How a partition of the map fares on other maps that the answers allow.

    Parameters
    ----------
    some : (k,) array of int
        The objects by which it is told.
    """
    own = found[some]
    number = int(own.max(initial=0)) + 1
    if not len(maps) or not 1 < number < len(own):
        return None
    # many are averaged over: fewer starts will do
    parts = (
        spectral_clusters(neighbour_graph(np.asarray(X[some], np.float64)), number, seed, n_init=3)
        for X in maps
    )
    again = cluster_stability(own, parts)
    stays = np.full(len(found), np.nan)
    stays[some] = again.objects
    return replace(again, objects=stays)


def cluster_stability(labels: ArrayLike, resampled: Iterable[ArrayLike]) -> ClusterStability:
    """Compare a partition with those found in resamples of the statements.

    Parameters
    ----------
    labels : (n,) array of int
        Clusters 0 to L - 1.
    resampled : iterable of (n,) arrays of int
        The partitions of the resamples, numbered in any way.

    Examples
    --------
    >>> found = cluster_stability([0, 0, 1, 1], [[1, 1, 0, 0], [0, 0, 0, 1]])
    >>> found.agreement, found.clusters.round(2).tolist(), found.objects.tolist()
    (0.5, [0.83, 0.75], [1.0, 1.0, 0.5, 1.0])
    """
    from sklearn.metrics import adjusted_rand_score
    from sklearn.metrics.cluster import contingency_matrix

    own = np.asarray(labels, dtype=np.int64)
    others = [np.unique(np.asarray(part), return_inverse=True)[1] for part in resampled]
    if not len(own) or not others or any(part.shape != own.shape for part in others):
        raise ParameterError("stability compares partitions of the same objects, at least one")
    jaccards, stays, agreement = [], [], []
    for part in others:
        table = contingency_matrix(own, part)
        union = table.sum(axis=1, keepdims=True) + table.sum(axis=0) - table
        jaccard = table / union
        best = jaccard.argmax(axis=1)
        jaccards.append(jaccard.max(axis=1))
        stays.append(part == best[own])
        agreement.append(adjusted_rand_score(own, part))
    return ClusterStability(
        agreement=float(np.mean(agreement)),
        clusters=np.mean(jaccards, axis=0),
        objects=np.mean(stays, axis=0),
        resamples=len(others),
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
