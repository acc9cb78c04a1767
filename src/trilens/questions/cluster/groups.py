"""`cluster`: the groups of the objects, and how many there are."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import check_progress, generator, real_number, seed_of, whole_number
from trilens._tabular import Tabular
from trilens._typing import FloatArray, IntArray, Progress, RandomState
from trilens.answers import Answers
from trilens.counts import PairCounts, count_pairs
from trilens.errors import ParameterError, option
from trilens.lens import spectral_clusters
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.features import FeaturesLike
from trilens.maps.likelihood import object_order
from trilens.maps.registry import coordinates, dimensions
from trilens.maps.streamed import StreamedMap
from trilens.questions.cluster.spectral import (
    KRNGClustering,
    check_n_clusters,
    coordinate_clusters,
    in_order_of_appearance,
    krng_parameters,
    map_parameters,
    neighbour_graph,
    purity,
)
from trilens.questions.cluster.suggest import ClusterSuggestion, suggest_clusters
from trilens.questions.data import (
    MAPS_OF_FILES,
    PAIRED_OBJECTS,
    Data,
    in_order,
    is_streamed,
    model_of_many,
    objects_of,
    pair_counts,
    statements_of,
    streamed_map,
)
from trilens.questions.embed import map_dimension, map_of_pairs
from trilens.questions.labels import LabelsLike, label_of_each
from trilens.questions.method import (
    LEAST_PER_OBJECT,
    check_method,
    check_model,
    choose_method,
    is_zero,
    known_error_rate,
    method_of_pairs,
)
from trilens.questions.model import AnswerModel, answer_model, featured_model
from trilens.questions.preconditions import why_nothing_can_be_claimed, why_nothing_on_map
from trilens.statements import Statements

#: More objects than these have no silhouettes, which take all distances.
_MOST_SILHOUETTES = 5000
#: Members of a larger group that the typical ones are near to.
_MEASURED = 2000
#: Copies of a streamed map by which the stability of its groups is told.
_RESAMPLED = 10


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
    """How a partition fares when the statements are drawn anew.

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
        How the clusters fare when the answers are drawn anew.
    purity : float or None
        With respect to labels, where these were given.
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

    @property
    def method(self) -> str:
        """The method that found the clusters."""
        return str(self.parameters["method"])

    def columns(self) -> dict[str, Sequence[Any]]:
        """The name of each object's group, counted from 1; a label file has these columns."""
        return {"object": self.names, "label": [str(c + 1) for c in self.labels.tolist()]}

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens cluster --json`` prints them."""
        facts: dict[str, Any] = {
            "clusters": dict(zip(self.names, self.labels.tolist(), strict=True)),
            "n_clusters": self.n_clusters,
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
    statements: Data,
    n_clusters: int | None = None,
    method: str = "auto",
    *,
    k: int | None = None,
    sigma: float | None = None,
    error_rate: Any = 0.0,
    n_components: int | None = None,
    labels: LabelsLike | None = None,
    random_state: RandomState = 0,
    model: AnswerModel | ChoiceMap | StreamedMap | None = None,
    features: FeaturesLike | None = None,
    progress: Progress | None = None,
) -> Clusters:
    """Groups of the objects.

    Parameters
    ----------
    statements : Answers, Statements, (m, 3) array, Counted or PairCounts
        Counts of pairs suffice for ``"krng"`` and ``"lensmap"`` and a given number of clusters;
        they do not tell how stable the groups are. Files too large to hold are counted where
        that suffices; else, as of very many statements, the groups are found on their streamed
        map.
    n_clusters : int, optional
        By default as many as the answers suggest on a map, which may be one.
    method : str
        ``"krng"`` (Algorithm 5, for ``central`` statements and a given number of clusters), or
        the name of a map, for spectral clustering on it; ``"auto"``: what
        `trilens.questions.method` measured as best.
    k, sigma
        Of the k-RNG (by default the smallest connecting k, and no weights), or of the k-NN
        graph on the map (10 and 0.5).
    error_rate : float or "estimate"
        The share of wrong answers, for the k-RNG and the lens map; ``"estimate"`` takes what
        `trilens.reliability` finds.
    n_components : int, optional
        Of the map; by default as many as stand out.
    labels : dict by name, or (n_objects,) iterable, optional
        Classes to compare the clusters with.
    model : AnswerModel, ChoiceMap or StreamedMap, optional
        The map of the statements, where it has been made already.
    features : array, table or dict, optional
        Vectors of the objects, for ``"choice"``: see `ChoiceMap.fit`.
    progress : callable, optional
        Called with the share of the work that is done.

    Examples
    --------
    >>> from trilens.simulate import mixture, simulate_statements
    >>> drawn = mixture(45, [[0, 0], [9, 0], [0, 9]], random_state=1)
    >>> found = cluster(simulate_statements(drawn.points, 3000, random_state=2))
    >>> found.n_clusters, purity(found.labels, drawn.labels)
    (3, 1.0)
    """
    check_progress(progress)
    seed = seed_of(random_state)
    if k is not None:
        whole_number("k", k, least=1)
    # the lens map of a given number of groups is made of counts of pairs, where these fit
    check_method("cluster", method)
    if features is not None:
        model = featured_model(
            statements, "cluster", features, method, model, n_components, seed, progress
        )
        statements, method, n_components = statements_of(statements, "cluster"), "choice", None
    few = PAIRED_OBJECTS if method == "lensmap" and n_clusters is not None else 0
    if model is None and method in MAPS_OF_FILES and is_streamed(statements, most_objects=few):
        model = _map_of_files(statements, method, n_components, seed, progress)
    elif method in ("auto", "choice") and n_components is None and is_zero(error_rate):
        model = model_of_many(statements, "cluster", model, seed, progress) or model
    if isinstance(model, StreamedMap):
        return _on_map_of_files(model, n_clusters, k, sigma, error_rate, labels, seed)
    suffice = n_clusters is not None and method in ("krng", "lensmap")
    pairs = pair_counts(statements, suffice, progress)
    if pairs is not None:
        return _of_pairs(
            pairs, n_clusters, method, k, sigma, error_rate, n_components, labels, seed
        )
    given = statements_of(statements, "cluster")
    if n_clusters is not None:
        check_n_clusters(n_clusters, given.n_objects)
    model = check_model(model, given, seed)
    known = None if labels is None else label_of_each(labels, given.names)
    chosen = choose_method("cluster", given, method)
    error_rate = known_error_rate(error_rate, given, seed, model)
    ordered = in_order(given)
    if known is not None:
        known = [known[i] for i in ordered.order]
    if chosen == "krng":
        if n_clusters is None:
            raise ParameterError("krng needs the number of clusters; a map can suggest it")
        found = _by_krng(ordered.statements, n_clusters, k, sigma, error_rate, known, seed)
    else:
        found = _on_map(
            ordered.statements,
            n_clusters,
            chosen,
            *_neighbours(k, sigma),
            error_rate,
            n_components,
            known,
            seed,
            None if model is None else model.in_order,
            progress,
        )
    return _in_given_order(found, given.names, ordered.rank)


def _of_pairs(
    pairs: PairCounts,
    n_clusters: int | None,
    method: str,
    k: int | None,
    sigma: float | None,
    error_rate: Any,
    n_components: int | None,
    labels: LabelsLike | None,
    seed: int,
) -> Clusters:
    """The groups of counts of pairs, by the k-RNG or on the lens map."""
    chosen, names = method_of_pairs(method, pairs, "lensmap"), objects_of(pairs).names
    known = None if labels is None else label_of_each(labels, names)
    if n_clusters is None:
        raise ParameterError(
            f"counts do not tell how many groups there are; give {option('n_clusters')} or the "
            f"statements"
        )
    check_n_clusters(n_clusters, len(names))
    if chosen == "krng":
        return _by_krng(pairs, n_clusters, k, sigma, error_rate, known, seed)
    error_rate = real_number("error_rate", error_rate)
    k, sigma = _neighbours(k, sigma)
    points = map_of_pairs(pairs, n_components, seed, error_rate)
    found = coordinate_clusters(points, n_clusters, k, sigma, seed)
    parameters = map_parameters(chosen, points, k, sigma, error_rate)
    return _clusters(names, found, points, parameters, None, None, known, True)


def _by_krng(
    given: Statements | PairCounts,
    n_clusters: int,
    k: int | None,
    sigma: float | None,
    error_rate: Any,
    known: Sequence[Any] | None,
    seed: int,
) -> Clusters:
    names = given.names if isinstance(given, Statements) else objects_of(given).names
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        krng = KRNGClustering(n_clusters, k, sigma, error_rate, seed).fit(given)
    caution = ClusterSuggestion(1, (), 1, None, str(told[0].message)) if told else None
    parameters = krng_parameters(krng, names)
    return _clusters(names, krng.labels_, None, parameters, caution, None, known, True)


def _on_map(
    given: Statements,
    n_clusters: int | None,
    method: str,
    k: int,
    sigma: float,
    error_rate: float,
    n_components: int | None,
    known: Sequence[Any] | None,
    seed: int,
    model: AnswerModel | None,
    progress: Progress | None,
) -> Clusters:
    """The groups on a map, and whether there are any beyond chance."""
    if error_rate and method != "lensmap":
        raise ParameterError(f"{method} cannot correct for an error rate; krng and lensmap can")
    names = given.names
    if len(given) == 0:
        # nothing was said: every object is where every other one is
        parameters = map_parameters(method, np.empty((len(names), 0)), k, sigma, error_rate)
        whole = np.arange(len(names)) % (n_clusters or 1)
        return _clusters(names, whole, None, parameters, None, None, known, n_clusters is not None)
    step: Progress = (lambda share: None) if progress is None else progress
    points, resampled, model = _maps(given, method, n_components, error_rate, seed, model, step)
    if model is None:
        suggestion = suggest_clusters(points, kind=given.kind, random_state=seed)
    else:
        suggestion = model.examined.suggestion
    reason = why_nothing_can_be_claimed(given, None if model is None else model.map)
    if reason is None and LEAST_PER_OBJECT * given.n_objects > 3 * len(given):
        reason = "there are too few answers about each object"
    if reason is None and method == "lensmap" and given.kind != "central":
        # measured: of clouds without groups 8 of 8 (odd) and 3 of 8 (closer) were divided
        reason = (
            f"the lens map of {given.kind} answers shows groups even where there are none; "
            f"soe does not"
        )
    if reason is not None:
        said = f"whether there are groups cannot be told: {reason}"
        suggestion = replace(suggestion, n_clusters=1, p_value=None, caution=said, shape="cloud")
    step(0.9)
    number = suggestion.n_clusters if n_clusters is None else n_clusters
    found = coordinate_clusters(points, number, k, sigma, seed)
    parameters = map_parameters(method, points, k, sigma, error_rate)
    stability = _stability(found, resampled, seed)
    step(1.0)
    return _clusters(
        names, found, points, parameters, suggestion, stability, known, n_clusters is not None
    )


def _in_given_order(found: Clusters, names: tuple[str, ...], rank: IntArray) -> Clusters:
    """The same groups, with the objects in the order in which they were given."""
    stability = found.stability
    if stability is not None:
        stability = replace(stability, objects=stability.objects[rank])
    return replace(found, labels=found.labels[rank], names=names, stability=stability)


def _neighbours(k: int | None, sigma: float | None) -> tuple[int, float]:
    """Of the k-NN graph on a map."""
    width = 0.5 if sigma is None else real_number("sigma", sigma, positive=True)
    return 10 if k is None else k, width


def _map_of_files(
    answers: Answers, method: str, n_components: Any, seed: int, progress: Progress | None
) -> StreamedMap:
    """The map by passes; a lens map in two dimensions, where nothing else is wanted."""
    width = 2 if method == "lensmap" and n_components is None else n_components
    return streamed_map(answers, width, "choice" if method == "auto" else method, seed, progress)


def _on_map_of_files(
    placed: StreamedMap,
    n_clusters: int | None,
    k: int | None,
    sigma: float | None,
    error_rate: Any,
    labels: LabelsLike | None,
    seed: int,
) -> Clusters:
    """The groups on a map by passes, and whether there are any beyond chance."""
    if not is_zero(error_rate):
        raise ParameterError("a map of files this large cannot correct for an error rate; krng can")
    known = None if labels is None else label_of_each(labels, placed.names)
    given_names, (placed, rank) = placed.names, placed.in_order
    if known is not None:
        known = [known[i] for i in np.argsort(rank)]
    names, points = placed.names, placed.embedding
    k, sigma = _neighbours(k, sigma)
    if n_clusters is not None:
        check_n_clusters(n_clusters, len(points))
    reason = why_nothing_on_map(placed)
    errors = placed.errors if reason is None else None
    suggestion = None
    if errors is not None:
        suggestion = suggest_clusters(
            points, errors=errors.places, kind=placed.counts.kind, random_state=seed
        )
    elif n_clusters is None:
        said = f"whether there are groups cannot be told: {reason}"
        suggestion = ClusterSuggestion(1, (), 1, None, said)
    number = n_clusters
    if number is None:
        number = 1 if suggestion is None else suggestion.n_clusters
    found = np.zeros(len(points), dtype=np.int64)
    if number > 1:
        found = coordinate_clusters(points, number, k, sigma, seed)
    stability = None
    if errors is not None and 1 < number < len(points):
        some = np.unique(np.linspace(0, len(points) - 1, _MEASURED).astype(np.int64))
        again = _stability(
            found[some], [(points + move)[some] for move in errors.copies[:_RESAMPLED]], seed
        )
        stays = np.full(len(points), np.nan)
        if again is not None:
            stays[some] = again.objects
            stability = replace(again, objects=stays)
    parameters = map_parameters(placed.method, points, k, sigma, 0.0)
    given = n_clusters is not None
    groups = _clusters(names, found, points, parameters, suggestion, stability, known, given)
    return _in_given_order(groups, given_names, rank)


def _maps(
    statements: Statements,
    method: str,
    n_components: int | None,
    error_rate: float,
    seed: int,
    model: AnswerModel | None,
    step: Progress,
) -> tuple[FloatArray, list[FloatArray], AnswerModel | None]:
    """The map on which groups are sought, those of resampled statements, and the model."""
    n = statements.n_objects
    copies = 20 if n <= 100 else 10 if n <= 500 else 6
    if method == "choice":
        if n_components is not None:
            fitted = ChoiceMap(dimensions(n_components, n), random_state=seed).fit(statements)
            model = AnswerModel(statements, fitted, seed)
        model = model or answer_model(statements, seed)
        resampled = model.resampled_maps[:copies]
        step(0.6)
        return model.map.embedding_, resampled, model
    if n_components is None:
        n_components = map_dimension(count_pairs(statements)) if n > 1 else 1
    extra: dict[str, Any] = {"error_rate": error_rate} if error_rate else {}
    dim = dimensions(n_components, n)
    points = coordinates(statements, method, dim, seed, **extra)
    resampled = []
    if method == "lensmap":
        resampled = resampled_maps(
            statements,
            copies,
            n_components=dim,
            random_state=seed,
            progress=lambda s: step(0.6 * s),
        )
    return points, resampled, None


def _clusters(
    names: tuple[str, ...],
    found: IntArray,
    points: FloatArray | None,
    parameters: dict[str, Any],
    suggestion: ClusterSuggestion | None,
    stability: ClusterStability | None,
    known: Sequence[Any] | None,
    given: bool,
) -> Clusters:
    found = numbered(found, names)
    number = int(found.max(initial=-1)) + 1
    width = None
    if points is not None and number > 1 and len(points) <= _MOST_SILHOUETTES:
        width = silhouettes(points, found)
    groups = tuple(
        _group(c, np.flatnonzero(found == c), names, points, width, stability, known)
        for c in range(number)
    )
    labelled = [i for i, label in enumerate(known or []) if label is not None]
    pure = (
        purity(found[labelled], [str(known[i]) for i in labelled]) if known and labelled else None
    )
    return Clusters(found, names, number, given, parameters, groups, suggestion, stability, pure)


def numbered(labels: IntArray, names: tuple[str, ...]) -> IntArray:
    """The same groups, numbered in the order of the names, however the answers are sorted."""
    order, found = object_order(names, len(names)), np.empty_like(labels)
    found[order] = in_order_of_appearance(labels[order])
    return found


def groups_on_map(points: FloatArray, number: int, names: tuple[str, ...], seed: int) -> IntArray:
    """The groups that `cluster` finds on a map, where their number is known."""
    return numbered(coordinate_clusters(points, number, *_neighbours(None, None), seed), names)


def _group(
    c: int,
    members: IntArray,
    names: tuple[str, ...],
    points: FloatArray | None,
    width: FloatArray | None,
    stability: ClusterStability | None,
    known: Sequence[Any] | None,
) -> Group:
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
    progress: Progress | None = None,
) -> list[FloatArray]:
    """Lens maps of bootstrap samples: as many statements, drawn with replacement.

    The axes of different maps may be turned and mirrored; distances compare.
    """
    rng = generator(random_state)
    m = len(statements)
    maps = []
    for done in range(n_resamples):
        drawn = statements.take(rng.integers(m, size=m)) if m else statements
        maps.append(coordinates(drawn, "lensmap", n_components, random_state=0))
        if progress is not None:
            progress((done + 1) / n_resamples)
    return maps


def _stability(
    found: IntArray, resampled: Sequence[FloatArray], seed: int
) -> ClusterStability | None:
    """How a partition of the map fares on the maps of resampled statements."""
    number = int(found.max(initial=0)) + 1
    if not resampled or not 1 < number < len(found):
        return None
    # many are averaged over: fewer starts will do
    parts = (spectral_clusters(neighbour_graph(X), number, seed, n_init=3) for X in resampled)
    return cluster_stability(found, parts)


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
