"""The most central object, of all and of each class, and which others it could be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._parameters import seed_of
from trilens._tabular import Tabular
from trilens._typing import BoolArray, FloatArray, IntArray, Progress, RandomState
from trilens.answers import Answers
from trilens.counts import CentralCounts
from trilens.errors import ParameterError, StatementError
from trilens.maps.features import FeaturesLike
from trilens.maps.likelihood import object_order
from trilens.maps.streamed import StreamedMap
from trilens.questions.data import (
    Data,
    model_of_many,
    object_counts,
    objects_of,
    statements_of,
)
from trilens.questions.labels import label_of_each, sorted_classes
from trilens.questions.method import check_counted, check_method, check_model, choose_method
from trilens.statements import Statements

if TYPE_CHECKING:
    from trilens.maps.choice_map import ChoiceMap
    from trilens.questions.model import AnswerModel

_Z = 1.96  # half the width of a 95 % interval, in standard errors
LEVEL = 0.95
#: Objects with fewer answers are always in the set: too little is known about them.
LEAST_ANSWERS = 5
#: Gaussian draws from which `plausible_largest` reads how often each score is the largest.
_DRAWS = 2000
#: Numbers that are drawn at a time.
_AT_A_TIME = 4_000_000
#: The posterior about a fitted map is a little too narrow: what may be left out is this share
#: of what the level allows (measured; see docs/claims.md).
_LEFT_OUT = 0.6
#: With fewer draws from the posterior their deviations are taken for Gaussian.
_FEW_DRAWS = 100
#: Where answers about one pair pull together by more than this, the dissimilarities themselves
#: may be noisy, and some dimensions of the map made of that noise.
_NOISY = 1.2


@dataclass(frozen=True)
class ClassMedoid:
    """The medoid of one class, from the statements within the class alone."""

    medoid: str | None
    depth: float | None
    statements: int


@dataclass(frozen=True)
class Medoid(Tabular):
    """The most central object.

    Attributes
    ----------
    index, name
        The object; of several equally central ones the one with the most answers, then the most
        central by the model if one is given, then the first by name.
    depth : float or None
        Its centrality, by counting or by the model; None for a medoid found on another map.
    candidates : tuple of str
        The confidence set: the objects that may be the true medoid, the most central first.
        By the model for ``method="choice"``, see `medoid_set`; otherwise by
        counting, see `trilens.shares.counted_intervals`.
    level : float
        Of the confidence set.
    tied : tuple of str
        Other objects that are exactly as central.
    method : str
    scores : (n,) array
        How central each object is by the method.
    per_class : dict of str to ClassMedoid, or None
        The medoids of the classes, where labels were given.
    close : tuple of str
        Other objects that are level with the medoid, the most central first: their depth by
        the model is within one standard error of the difference. Empty without the model.
    low, high : (n,) arrays or None
        The ends of an interval of each score, at ``level``; None where the method has none.
    """

    index: int
    name: str
    depth: float | None
    candidates: tuple[str, ...]
    level: float
    tied: tuple[str, ...]
    method: str
    scores: FloatArray = field(repr=False)
    per_class: dict[str, ClassMedoid] | None = None
    close: tuple[str, ...] = ()
    low: FloatArray | None = field(default=None, repr=False)
    high: FloatArray | None = field(default=None, repr=False)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of ``depth``; None where a map has none."""
        if self.low is None or self.high is None:
            return None
        return float(self.low[self.index]), float(self.high[self.index])

    @property
    def stands_out(self) -> bool:
        """Whether few others may be it: at most ten, or a third of the objects."""
        return len(self.candidates) - 1 <= max(10, len(self.scores) / 3)

    def columns(self) -> dict[str, list[Any]]:
        """One row: the object and its depth."""
        return {"object": [self.name], "depth": [self.depth], "method": [self.method]}

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens medoid --json`` prints them."""
        facts: dict[str, Any] = {
            "medoid": self.name,
            "depth": self.depth,
            "interval": None if self.interval is None else list(self.interval),
            "method": self.method,
            "candidates": list(self.candidates),
            "level": self.level,
            "stands_out": self.stands_out,
            "tied": list(self.tied),
            "close": list(self.close),
        }
        if self.per_class is not None:
            facts["per_class"] = {
                label: {"medoid": c.medoid, "depth": c.depth, "statements": c.statements}
                for label, c in self.per_class.items()
            }
        return facts


def medoid(
    statements: Data,
    method: str = "auto",
    *,
    labels: Mapping[str, Any] | Iterable[Any] | None = None,
    n_components: int | None = None,
    random_state: RandomState = 0,
    model: AnswerModel | ChoiceMap | StreamedMap | None = None,
    features: FeaturesLike | None = None,
    progress: Progress | None = None,
) -> Medoid:
    """The most central object.

    Parameters
    ----------
    statements : Answers, Statements, (m, 3) array, Counted or CentralCounts
        Counts suffice for ``"depth"``, which is then what ``"auto"`` means; not for labels.
        Files too large to hold, and very many statements, are mapped by passes over them.
    method : str
        ``"auto"``: what `trilens.questions.method` measured as best. ``"choice"``: the object of
        highest depth by the choice model. ``"depth"``: by counting, the object of highest lens
        depth (Algorithm 1) for ``central`` statements, of lowest P(odd) (Crowd-Median) for
        ``odd`` ones, of highest rank centrality for ``closer`` ones. The name of another map:
        the point with the least total distance to all others on it.
    labels : dict by name, or (n_objects,) iterable, optional
        Classes; each gets a medoid of its own, from the statements within it alone.
    n_components, random_state
        Of the map, by default in 2 dimensions; the choice map finds their number itself.
    model : AnswerModel, ChoiceMap or StreamedMap, optional
        For ``"choice"``, where one has been fitted to the statements.
    features : array, table or dict, optional
        Vectors of the objects, for ``"choice"``: see `ChoiceMap.fit`.
    progress : callable, optional
        Called with the share of the work on large files that is done.

    Examples
    --------
    >>> medoid([[0, 1, 2], [0, 1, 3], [2, 1, 3]]).name
    '0'
    """
    check_method("medoid", method)
    asked = method, n_components
    if features is not None:
        from trilens.questions.model import featured_model

        model = featured_model(
            statements, "medoid", features, method, model, n_components, random_state, progress
        )
        statements, method, n_components = statements_of(statements, "medoid"), "choice", None
    placed = best = None
    if n_components is None and method in ("auto", "choice"):
        if labels is not None and isinstance(statements, Answers) and not statements.in_counts:
            statements = statements.read()  # the medoid of each class takes its own statements
        placed = model_of_many(statements, "medoid", model, seed_of(random_state), progress)
        if placed is not None:
            from trilens.questions.preconditions import why_nothing_on_map

            model = None
            if why_nothing_on_map(placed) is None:
                best = _medoid_on_streamed_map(placed)
            elif not isinstance(statements, Statements):
                statements = placed.counts
            if best is not None and labels is None:
                return best
    suffice = labels is None and method in ("auto", "depth")
    counts = object_counts(statements, suffice, progress)
    if counts is not None:
        return _medoid_of_counts(counts, method, labels)
    given = statements_of(statements, "medoid")
    if best is None:
        known = check_model(model, given, random_state)
        best = _medoid(given, method, n_components, random_state, known)
    if labels is None:
        return best
    label_of = label_of_each(labels, given.names)
    per_class = {}
    for label in sorted_classes(label_of):
        inside = given.subset([i for i, x in enumerate(label_of) if x == label])
        if len(inside) == 0:
            per_class[str(label)] = ClassMedoid(None, None, 0)
            continue
        found = _medoid(inside, *asked, random_state, None)
        per_class[str(label)] = ClassMedoid(found.name, found.depth, len(inside))
    return replace(best, per_class=per_class)


def _medoid(
    given: Statements,
    method: str,
    n_components: int | None,
    random_state: RandomState,
    model: AnswerModel | None,
) -> Medoid:
    if given.n_objects == 0:
        raise StatementError("there are no objects, so there is no medoid")
    chosen = choose_method("medoid", given, method)
    if chosen == "choice":
        return _medoid_by_model(given, random_state, model)
    from trilens.lens import centrality
    from trilens.shares import counted_intervals

    if chosen == "depth":
        score = centrality(given)
    else:
        from trilens.maps.geometry import total_distance
        from trilens.questions.embed import points_of

        points = points_of(given, chosen, n_components, random_state)
        order = object_order(given.names, len(points))
        score = np.empty(len(points))
        score[order] = -total_distance(points[order])
    best = np.flatnonzero(score == score.max())
    depth = float(score[best[0]]) if chosen == "depth" else None
    counted = counted_intervals(given, LEVEL)
    if chosen != "depth":
        return _described(given.names, chosen, score, depth, best, counted.medoid_set)
    deep = None
    if model is not None:
        deep = model.in_order.map.model_.depth(random_state=model.seed).depth[model.ordered.rank]
    found = _described(
        given.names, chosen, score, depth, best, counted.medoid_set, given.appearances, deep
    )
    return replace(found, low=counted.low, high=counted.high)


def _medoid_of_counts(counts: CentralCounts, method: str, labels: Any) -> Medoid:
    from trilens.lens import centrality
    from trilens.shares import counted_intervals

    check_counted(method)
    if labels is not None:
        raise ParameterError("the medoids of classes need the statements, not counts of them")
    if counts.n_objects == 0:
        raise StatementError("there are no objects, so there is no medoid")
    score = centrality(counts)
    best = np.flatnonzero(score == score.max())
    counted, names = counted_intervals(counts, LEVEL), objects_of(counts).names
    found = _described(
        names, "depth", score, float(score.max()), best, counted.medoid_set, counts.appears
    )
    return replace(found, low=counted.low, high=counted.high)


def _medoid_by_model(
    given: Statements, random_state: RandomState, model: AnswerModel | None
) -> Medoid:
    from trilens.questions.model import answer_model

    model = model or answer_model(given, seed_of(random_state))
    inner, rank = model.in_order, model.ordered.rank
    score = inner.centrality[rank]
    # a map draws what it knows little about to its middle
    known = np.minimum(model.statements.appearances, LEAST_ANSWERS)
    highest = score[known == known.max()].max()
    best = np.flatnonzero((score == highest) & (known == known.max()))
    inside = medoid_set(inner, LEVEL)[rank]
    inside[best] = True
    found = _described(given.names, "choice", score, float(highest), best, inside)
    low, high = (end[rank] for end in inner.central_intervals(LEVEL))
    copies = inner.assisted.copies[:, rank]
    error = np.sqrt(((copies - copies[:, [found.index]]) ** 2).mean(axis=0))
    depth = inner.assisted.depth[rank]
    level = (np.abs(depth - depth[found.index]) <= error) & (known == known.max())
    level[found.index] = False
    close = _names_by_score(given.names, score, level)
    return replace(found, close=close, low=low, high=high)


def _medoid_on_streamed_map(placed: StreamedMap) -> Medoid:
    from trilens.questions.streamed_depth import StreamedDepth

    inner, rank = placed.in_order
    found = StreamedDepth(inner)
    score = found.depth[rank]
    known = np.minimum(placed.counts.appearances, LEAST_ANSWERS)
    highest = score[known == known.max()].max()
    best = np.flatnonzero((score == highest) & (known == known.max()))
    inside = found.medoid_set(LEVEL)[rank] | (known < LEAST_ANSWERS)
    inside[best] = True
    described = _described(placed.names, "choice", score, float(highest), best, inside)
    level = found.level_with(int(rank[described.index]))[rank] & (known == known.max())
    close, wide = _names_by_score(placed.names, score, level), _Z * found.error[rank]
    low, high = np.clip(score - wide, 0.0, 1.0), np.clip(score + wide, 0.0, 1.0)
    return replace(described, close=close, low=low, high=high)


def _described(
    names: tuple[str, ...],
    method: str,
    score: FloatArray,
    depth: float | None,
    best: IntArray,
    inside: BoolArray,
    answers: IntArray | None = None,
    by_model: FloatArray | None = None,
) -> Medoid:
    """The first of the best: by the number of answers, the model and the name, in this order."""
    best = best[object_order([names[i] for i in best], len(best))]
    for key in (by_model, answers):
        if key is not None:
            best = best[np.argsort(-key[best], kind="stable")]
    first, *tied = best.tolist()
    return Medoid(
        index=first,
        name=names[first],
        depth=depth,
        candidates=_names_by_score(names, score, inside),
        level=LEVEL,
        tied=tuple(names[i] for i in tied),
        method=method,
        scores=score,
    )


def medoid_set(model: AnswerModel, level: float = 0.95) -> BoolArray:
    """The objects that may be the medoid: the smallest sets that are likely to hold it.

    There are two readings of "most central": the object of the highest depth, and the one
    with the least total distance to all others. On each of many maps drawn from the posterior,
    which says what the answers leave open whatever was asked, one object is the most central. For
    each reading, the fewest objects that are it on 97 % of the maps are in the set: measured, that
    holds the true one in about 95 % of studies.

    A map of few objects in many dimensions can hold any dissimilarities, noise on them (Noise
    model II) as well. Then the set comes from a map with no more coordinates than a third of
    the pairs, on which such noise shows as dispersion. Where it shows, what is most central on a
    map without the dimensions that the noise may have made is in the set too.

    Returns
    -------
    (n,) array of bool
    """
    most = max(2, (model.statements.n_objects - 1) // 6)
    if model.map.n_components_ > most:
        model = _in_dimensions(model, most)
    inside = _often_most_central(model, level)
    plainer = _without_noise(model)
    return inside if plainer is model else inside | _often_most_central(plainer, level)


def _in_dimensions(model: AnswerModel, d: int) -> AnswerModel:
    fitted = model.map.like(d, random_state=model.seed)
    return replace(model, map=fitted.fit(model.statements, features=model.map.features_))


def _without_noise(model: AnswerModel) -> AnswerModel:
    """With as many dimensions as the answers tell if they count for less; perhaps the same.

    Noise on the dissimilarities makes answers about a pair pull together, and likelihoods that
    take them for independent find dimensions in it. The log-likelihood is divided by the
    dispersion of the map as it is, and pays one for each coordinate (QAIC; Burnham and Anderson,
    2002, ch. 2.5). Dimensions are left out one by one while that is for the better.
    """
    from trilens.maps.posterior import MOST_COORDINATES

    S, many = model.statements, model.map.embedding_.size > MOST_COORDINATES
    if many or model.dispersion <= _NOISY:
        return model

    def worth(of: AnswerModel) -> float:
        told = np.log(of.map.model_.probabilities(S)[:, 0]).sum()
        d = of.map.n_components_
        return float(told / model.dispersion - (S.n_objects * d - d * (d + 1) / 2))

    best, value = model, worth(model)
    for d in range(model.map.n_components_ - 1, 1, -1):
        fewer = _in_dimensions(model, d)
        if (of_fewer := worth(fewer)) < value:
            break
        best, value = fewer, of_fewer
    return best


def _often_most_central(model: AnswerModel, level: float) -> BoolArray:
    """The objects that are the most central one on nearly all drawn maps, in either sense."""
    from trilens.maps.geometry import total_distance

    level = 1 - _LEFT_OUT * (1 - level)
    assisted = model.assisted
    unsure = model.statements.appearances < LEAST_ANSWERS
    sure = np.flatnonzero(~unsure)
    near = -np.array([total_distance(X) for X in model.posterior])
    near /= np.maximum(-near.mean(axis=1, keepdims=True), 1e-300)
    inside = unsure.copy()
    if not len(sure):
        return inside
    if len(near) < _FEW_DRAWS:
        middle = near.mean(axis=0)
        by_depth = plausible_largest(
            assisted.depth[sure], assisted.copies[:, sure], level, model.seed, assisted.bias[sure]
        )
        by_distance = plausible_largest(middle[sure], (near - middle)[:, sure], level, model.seed)
    else:
        rng = np.random.default_rng([model.seed, 2])
        deep = assisted.depth + assisted.copies
        deep += assisted.bias * rng.standard_normal(deep.shape)
        by_depth, by_distance = (
            often_largest(how_often_largest(drawn), level, drawn.mean(axis=0))
            for drawn in (deep[:, sure], near[:, sure])
        )
    inside[sure] = by_depth | by_distance
    return inside


def plausible_largest(
    score: FloatArray,
    deviation: FloatArray,
    level: float = 0.95,
    seed: int = 0,
    bias: FloatArray | float = 0.0,
) -> BoolArray:
    """Which of the true scores may be the largest, given estimates and how these vary.

    The smallest set that holds the largest one with probability ``level``, if the true scores
    vary about the estimates as the deviations do, in a Gaussian way.

    Parameters
    ----------
    score : (n,) array
    deviation : (copies, n) array
        Of the scores of copies, or of draws from a posterior, from ``score``.
    level : float
    seed : int
    bias : (n,) array
        Standard deviations of further errors, independent between objects, which copies do not
        show.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> plausible_largest(np.array([0.0, 0.9, 1.0]), 0.1 * rng.standard_normal((40, 3))).tolist()
    [False, True, True]
    """
    n, n_copies = len(score), len(deviation)
    if n == 0:
        return np.zeros(0, dtype=bool)
    rng = np.random.default_rng([seed, 2])
    # what is worse than the best by very many standard errors is never the largest
    top = int(score.argmax())
    wide = np.sqrt((deviation**2).mean(axis=0) + np.asarray(bias) ** 2)
    some = np.flatnonzero(score[top] - score <= 6 * (wide + wide[top]))
    moved = deviation[:, some] / np.sqrt(n_copies)
    own_bias = np.broadcast_to(bias, n)[some]
    often = np.zeros(len(some))
    at_a_time = max(min(_DRAWS, _AT_A_TIME // len(some)), 1)
    for start in range(0, _DRAWS, at_a_time):
        count = min(at_a_time, _DRAWS - start)
        drawn = score[some] + rng.standard_normal((count, n_copies)) @ moved
        if own_bias.any():
            drawn += own_bias * rng.standard_normal(drawn.shape)
        often += how_often_largest(drawn) * count
    inside = np.zeros(n, dtype=bool)
    inside[some] = often_largest(often / _DRAWS, level, score[some])
    return inside


def how_often_largest(drawn: FloatArray) -> FloatArray:
    """The share of the rows in which each column is the largest; equal ones share.

    >>> how_often_largest(np.array([[1.0, 2.0, 0.0], [3.0, 3.0, 1.0]])).tolist()
    [0.25, 0.75, 0.0]
    """
    row, column = np.nonzero(drawn == drawn.max(axis=1, keepdims=True))
    share = 1 / np.bincount(row, minlength=len(drawn))[row]
    return np.bincount(column, share, drawn.shape[1]) / len(drawn)


def often_largest(share: FloatArray, level: float, score: FloatArray) -> BoolArray:
    """The fewest objects whose shares sum to ``level``; of equal shares the higher scores.

    >>> often_largest(np.array([0.6, 0.0, 0.03, 0.37]), 0.95, np.zeros(4)).tolist()
    [True, False, False, True]
    """
    order = np.lexsort((-score, -share))
    enough = int(np.searchsorted(np.cumsum(share[order]), level - 1e-9)) + 1
    inside = np.zeros(len(share), dtype=bool)
    inside[order[:enough]] = True
    return inside


def _names_by_score(names: tuple[str, ...], score: FloatArray, among: BoolArray) -> tuple[str, ...]:
    """Some of the objects, the highest score first, and those of equal ones by their names."""
    some = np.flatnonzero(among)
    some = some[object_order([names[i] for i in some], len(some))]
    return tuple(names[i] for i in some[np.argsort(-score[some], kind="stable")])


def relative_error(estimate: int, total_distances: FloatArray) -> float:
    """(D(estimated) - D(true)) / D(true), the paper's relative error of a medoid.

    >>> relative_error(1, np.array([2.0, 3.0, 4.0]))
    0.5
    """
    least = total_distances.min()
    return float((total_distances[estimate] - least) / least)
