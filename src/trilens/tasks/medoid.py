"""The most central object, of all and of each class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._parameters import seed_of
from trilens._tabular import Tabular
from trilens._typing import BoolArray, FloatArray, IntArray, Progress, RandomState
from trilens.counts import CentralCounts
from trilens.errors import ParameterError, StatementError
from trilens.statements import Statements
from trilens.tasks.data import Data, no_statements, object_counts, statements_of
from trilens.tasks.labels import label_of_each, sorted_classes
from trilens.tasks.method import check_counted, check_model, choose_method

if TYPE_CHECKING:
    from trilens.tasks.model import AnswerModel

LEVEL = 0.95


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
        The object; of several equally central ones the first.
    depth : float or None
        Its centrality, by counting or by the model; None for a medoid found on another map.
    candidates : tuple of str
        The confidence set: the objects that may be the true medoid, the most central first.
        By the model for ``method="choice"``, see `trilens.tasks.medoid_set`; otherwise by
        counting, see `trilens.depth.depth_intervals`.
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
    model: AnswerModel | None = None,
    progress: Progress | None = None,
) -> Medoid:
    """The most central object.

    Parameters
    ----------
    statements : Answers, Statements, (m, 3) array, Counted or CentralCounts
        Counts suffice for ``"depth"``, which is then what ``"auto"`` means; not for labels.
        Files too large to hold are counted where that suffices.
    method : str
        ``"auto"``: what `trilens.tasks.method` measured as best. ``"choice"``: the object of
        highest depth by the choice model. ``"depth"``: by counting, the object of highest lens
        depth (Algorithm 1) for ``central`` statements, of lowest P(odd) (Crowd-Median) for
        ``odd`` ones, of highest rank centrality for ``closer`` ones. The name of another map:
        the point with the least total distance to all others on it.
    labels : dict by name, or (n_objects,) iterable, optional
        Classes; each gets a medoid of its own, from the statements within it alone.
    n_components, random_state
        Of the map, by default in 2 dimensions; the choice map finds their number itself.
    model : AnswerModel, optional
        For ``"choice"``, where one has been fitted to the statements.
    progress : callable, optional
        Called with the share of large files that has been counted.

    Examples
    --------
    >>> medoid([[0, 1, 2], [0, 1, 3], [2, 1, 3]]).name
    '0'
    """
    suffice = labels is None and method in ("auto", "depth")
    counts = object_counts(statements, suffice, progress)
    if counts is not None:
        return _medoid_of_counts(counts, method, labels)
    given = statements_of(statements, "medoid")
    check_model(model, given)
    best = _medoid(given, method, n_components, random_state, model)
    if labels is None:
        return best
    label_of = label_of_each(labels, given.names)
    per_class = {}
    for label in sorted_classes(label_of):
        inside = given.subset([i for i, x in enumerate(label_of) if x == label])
        if len(inside) == 0:
            per_class[str(label)] = ClassMedoid(None, None, 0)
            continue
        found = _medoid(inside, method, n_components, random_state, None)
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
    from trilens.depth import centrality, depth_intervals

    if chosen == "depth":
        score = centrality(given)
    else:
        from trilens.maps.geometry import total_distance
        from trilens.maps.registry import coordinates, dimensions

        dim = dimensions(n_components, given.n_objects)
        score = -total_distance(coordinates(given, chosen, dim, random_state))
    best = np.flatnonzero(score == score.max())
    depth = float(score[best[0]]) if chosen == "depth" else None
    return _described(
        given.names, chosen, score, depth, best, depth_intervals(given, LEVEL).medoid_set
    )


def _medoid_of_counts(counts: CentralCounts, method: str, labels: Any) -> Medoid:
    from trilens.depth import centrality, depth_intervals

    check_counted(method)
    if labels is not None:
        raise ParameterError("the medoids of classes need the statements, not counts of them")
    if counts.n_objects == 0:
        raise StatementError("there are no objects, so there is no medoid")
    score = centrality(counts)
    best = np.flatnonzero(score == score.max())
    inside = depth_intervals(counts, LEVEL).medoid_set
    return _described(no_statements(counts).names, "depth", score, float(score.max()), best, inside)


def _medoid_by_model(
    given: Statements, random_state: RandomState, model: AnswerModel | None
) -> Medoid:
    from trilens.tasks.medoid_set import LEAST_ANSWERS, medoid_set
    from trilens.tasks.model import answer_model

    if model is None:
        model = answer_model(given, seed_of(random_state))
    score = model.depth
    # a map draws what it knows little about to its middle
    known = np.minimum(model.appearances, LEAST_ANSWERS)
    highest = score[known == known.max()].max()
    best = np.flatnonzero((score == highest) & (known == known.max()))
    inside = medoid_set(model, LEVEL)
    inside[best] = True
    found = _described(given.names, "choice", score, float(highest), best, inside)
    moved = model.assisted.copies - model.assisted.copies[:, best[:1]]
    error = model.copies.shrink * np.sqrt((moved**2).mean(axis=0))
    level = (np.abs(score - highest) <= error) & (known == known.max())
    level[best[0]] = False
    order = np.argsort(-score, kind="stable")
    return replace(found, close=tuple(given.names[i] for i in order if level[i]))


def _described(
    names: tuple[str, ...],
    method: str,
    score: FloatArray,
    depth: float | None,
    best: IntArray,
    inside: BoolArray,
) -> Medoid:
    return Medoid(
        index=int(best[0]),
        name=names[best[0]],
        depth=depth,
        candidates=tuple(names[i] for i in np.argsort(-score, kind="stable") if inside[i]),
        level=LEVEL,
        tied=tuple(names[i] for i in best[1:]),
        method=method,
        scores=score,
    )


def relative_error(estimate: int, total_distances: FloatArray) -> float:
    """(D(estimated) - D(true)) / D(true), the paper's relative error of a medoid.

    >>> relative_error(1, np.array([2.0, 3.0, 4.0]))
    0.5
    """
    least = total_distances.min()
    return float((total_distances[estimate] - least) / least)
