"""The most central object, of all and of each class, and which others it could be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from trilens._tabular import AsDict, Tabular, facts
from trilens._typing import BoolArray, FloatArray, IntArray, RandomState
from trilens.answers import central_counts
from trilens.ask import Data, Points, Question, ask, objects_of, opened, register, statements_of
from trilens.calibration import (
    ANSWERS_TO_BE_KNOWN,
    MEDOID_LEVEL,
    QUESTIONS_FOR_EACH_COORDINATE,
)
from trilens.counts import CentralCounts, Counted, PairCounts
from trilens.errors import ParameterError, StatementError
from trilens.lens import centrality
from trilens.maps.fitted import Fit
from trilens.maps.geometry import total_distance
from trilens.maps.likelihood import object_order
from trilens.maps.support import Reason
from trilens.questions.cluster.suggest import is_ring
from trilens.questions.depth import centrality_of, intervals_of, level_with, medoid_set
from trilens.questions.labels import UNASSIGNED, label_of_each, sorted_classes
from trilens.shares import counted_intervals
from trilens.statements.combine import questions
from trilens.words import NONE_ON_A_RING, REASONS, listed, little_to_conclude

#: Nearer to the middle than this part of the usual distance no object of a ring lies.
_NEAR_THE_MIDDLE = 0.3


@dataclass(frozen=True)
class ClassMedoid(AsDict):
    """The medoid of one class, from the statements within the class alone."""

    #: None where no statement is within the class.
    medoid: str | None
    depth: float | None
    #: How many are.
    statements: int
    #: Counted (``"depth"``), or the map of these statements.
    method: str | None = None
    #: Whether it can be told: as `Medoid.stands_out`.
    stands_out: bool = False


@dataclass(frozen=True)
class Medoid(Tabular):
    """The most central object.

    Attributes
    ----------
    index, name
        The object; of several equally central ones the one with the most answers, then
        the first by name.
    depth : float or None
        Its centrality, counted or as the model estimates it; None for a medoid on another map.
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
        The medoids of the classes, where labels were given; ``"unassigned"`` is no class.
    close : tuple of str
        Other objects that are about equally central, the most central first: their depth by
        the model is within one standard error of the difference. Empty without the model.
    low, high : (n,) arrays or None
        The ends of an interval of each score, at ``level``; None where the method has none.
    reason : str or None
        The code of why the answers support no claim; ``caution`` says it.
    on_ring : bool
        Whether the objects lie on a ring, where none is the most central.
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
    reason: Reason | None = None
    on_ring: bool = False

    @property
    def caution(self) -> str | None:
        """Why the answers support no claim; None where they do."""
        if self.reason is not None:
            return little_to_conclude(self.reason)
        return NONE_ON_A_RING if self.on_ring else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of ``depth``; None where a map has none."""
        if self.low is None or self.high is None:
            return None
        return float(self.low[self.index]), float(self.high[self.index])

    @property
    def stands_out(self) -> bool:
        """Whether few others may be it: at most ten, or a third of the objects, and not most."""
        may, n = len(self.candidates), len(self.scores)
        if self.on_ring:
            return False
        return may == 1 or may <= min(1 + max(10, n / 3), n / 2)

    def _headline(self) -> str:
        if self.on_ring:
            return NONE_ON_A_RING.rstrip(".")
        if self.reason is not None:
            return f"{self.name} comes first, but {REASONS[self.reason]}"
        if len(self.candidates) == 1:
            return f"{self.name} is the most central object"
        return f"{self.name} comes first; {listed(self.candidates)} could be the most central"

    def columns(self) -> dict[str, list[Any]]:
        """One row: the object and its depth."""
        return {"object": [self.name], "depth": [self.depth], "method": [self.method]}

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens medoid --json`` prints them."""
        told = {
            "medoid": self.name,
            **facts(self, "depth", "interval", "method", "candidates", "level"),
            **facts(self, "stands_out", "tied", "close", "caution"),
        }
        return told if self.per_class is None else told | facts(self, "per_class")


def medoid(
    answers: Data,
    method: str = "auto",
    *,
    labels: Mapping[str, Any] | Iterable[Any] | None = None,
    random_state: RandomState = 0,
) -> Medoid:
    """The most central object.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table, (m, 3) array, Counted or CentralCounts
        Counts suffice for ``"depth"``, which is then what ``"auto"`` means; not for labels.
    method : str
        ``"auto"``: the map, where answers suffice for one. ``"choice"``: the object of highest
        depth by the map. ``"depth"``: by counting, the object of highest lens depth (Algorithm 1)
        for ``central`` statements, of lowest P(odd) (Crowd-Median) for ``odd`` ones, of highest
        rank centrality for ``closer`` ones. The name of another map: the point with the least
        total distance to all others on it, in two dimensions.
    labels : dict by name, or (n_objects,) iterable, optional
        Classes; each gets a medoid of its own, from the statements within it alone.
    random_state
        Of the map.

    Examples
    --------
    >>> from trilens.statements import Statements
    >>> medoid(Statements([[0, 1, 2], [0, 1, 3], [2, 1, 3]], kind="central")).name
    '0'
    """
    given = opened(answers)
    best: Medoid = ask(MEDOID, given, method, random_state)
    if labels is None:
        return best
    if isinstance(given, Counted | CentralCounts | PairCounts):
        raise ParameterError("the medoids of classes need the statements, not counts of them")
    held = statements_of(given, "medoid")
    label_of = [None if x == UNASSIGNED else x for x in label_of_each(labels, held.names)]
    per_class = {}
    for label in sorted_classes(label_of):
        inside = held.subset([i for i, x in enumerate(label_of) if x == label])
        if len(inside) == 0:
            per_class[str(label)] = ClassMedoid(None, None, 0)
            continue
        found: Medoid = ask(MEDOID, inside, method, random_state)
        per_class[str(label)] = ClassMedoid(
            found.name,
            found.depth,
            len(inside),
            found.method,
            found.stands_out and found.reason is None,
        )
    return replace(best, per_class=per_class)


def _of_fit(fitted: Fit) -> Medoid:
    score = centrality_of(fitted)
    # a map draws what it knows little about to its middle
    known = np.minimum(fitted.asked, ANSWERS_TO_BE_KNOWN)
    highest = score[known == known.max()].max()
    best = np.flatnonzero((score == highest) & (known == known.max()))
    inside = medoid_set(fitted, MEDOID_LEVEL)
    inside[best] = True
    reason = _why_no_claim(fitted)
    if reason == "unconnected objects":  # where the parts lie to each other is not known
        inside[:] = True
    found = _described(fitted.names, "choice", score, float(highest), best, inside)
    low, high = intervals_of(fitted, MEDOID_LEVEL)
    level = level_with(fitted, found.index) & (known == known.max())
    close = _names_by_score(fitted.names, score, level)
    on_ring = reason is None and _lies_on_ring(fitted)
    return replace(found, close=close, low=low, high=high, reason=reason, on_ring=on_ring)


def _lies_on_ring(fitted: Fit) -> bool:
    """Whether the objects form a ring; what has an object near its middle is not looked at."""
    from_middle = np.linalg.norm(fitted.map.X - fitted.map.X.mean(axis=0), axis=1)
    if from_middle.min() < _NEAR_THE_MIDDLE * np.sqrt((from_middle**2).mean()):
        return False
    return is_ring(fitted, np.zeros(fitted.n_objects, dtype=np.bool_))


def _why_no_claim(fitted: Fit) -> Reason | None:
    """The code of why the answers support no claim about the most central object."""
    reason = fitted.support.reason
    if reason is None and fitted.map.kind == "closer":
        if fitted.design.blocks > 1:
            return "loose parts"
        different = len(questions(fitted.sample)[2])
        if different < QUESTIONS_FOR_EACH_COORDINATE * fitted.map.X.size:
            return "few questions"
    return reason


def _of_counts(data: Any) -> Medoid:
    """Algorithm 1, and Crowd-Median."""
    counts = central_counts(data)
    if counts.n_objects == 0:
        raise StatementError("there are no objects, so there is no medoid")
    score = centrality(counts)
    best = np.flatnonzero(score == score.max())
    counted, names = counted_intervals(data, MEDOID_LEVEL), objects_of(counts).names
    found = _described(
        names, "depth", score, float(score.max()), best, counted.medoid_set, counts.appears
    )
    return replace(found, low=counted.low, high=counted.high, reason=counted.reason)


def _of_points(points: Points) -> Medoid:
    score = -total_distance(points.X)
    best = np.flatnonzero(score == score.max())
    inside = counted_intervals(points.statements, MEDOID_LEVEL).medoid_set
    return _described(points.names, points.method, score, None, best, inside)


def _described(
    names: tuple[str, ...],
    method: str,
    score: FloatArray,
    depth: float | None,
    best: IntArray,
    inside: BoolArray,
    answers: IntArray | None = None,
) -> Medoid:
    """The first of the best: by the number of answers and the name, in this order."""
    best = best[object_order([names[i] for i in best], len(best))]
    if answers is not None:
        best = best[np.argsort(-answers[best], kind="stable")]
    first, *tied = best.tolist()
    return Medoid(
        index=first,
        name=names[first],
        depth=depth,
        candidates=_names_by_score(names, score, inside),
        level=MEDOID_LEVEL,
        tied=tuple(names[i] for i in tied),
        method=method,
        scores=score,
    )


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


MEDOID = register(
    Question(
        "medoid",
        of_fit=_of_fit,
        of_counts=_of_counts,
        of_points=_of_points,
        by_counting="depth",
        of_few="depth",
        per_object=("scores", "low", "high"),
        ids=("index",),
    )
)
