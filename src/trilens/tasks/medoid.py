"""The most central object, of all and of each class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trilens._tabular import Tabular
from trilens._typing import FloatArray, RandomState
from trilens.errors import StatementError
from trilens.statements import Statements, StatementsLike, as_statements
from trilens.tasks.classify.labels import label_of_each
from trilens.tasks.method import choose_method

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
        Its centrality; None for a medoid found on a map.
    candidates : tuple of str
        The confidence set: the objects that may be the true medoid, the most central first.
    level : float
        Of the confidence set.
    tied : tuple of str
        Other objects that are exactly as central.
    method : str
    scores : (n,) array
        How central each object is by the method.
    per_class : dict of str to ClassMedoid, or None
        The medoids of the classes, where labels were given.
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
            "tied": list(self.tied),
        }
        if self.per_class is not None:
            facts["per_class"] = {
                label: {"medoid": c.medoid, "depth": c.depth, "statements": c.statements}
                for label, c in self.per_class.items()
            }
        return facts


def medoid(
    statements: StatementsLike,
    method: str = "auto",
    *,
    labels: Mapping[str, Any] | Iterable[Any] | None = None,
    n_components: int = 2,
    random_state: RandomState = 0,
) -> Medoid:
    """The most central object.

    Parameters
    ----------
    statements : Statements or (m, 3) array
    method : str
        ``"auto"``: what `trilens.tasks.method` measured as best. ``"depth"``: the object of
        highest lens depth (Algorithm 1) for ``central`` statements, of lowest P(odd)
        (Crowd-Median) for ``odd`` ones. The name of a map: the point with the least total
        distance to all others on it, for every kind of statement.
    labels : dict by name, or (n_objects,) iterable, optional
        Classes; each gets a medoid of its own, from the statements within it alone.
    n_components, random_state
        Of the map.

    Examples
    --------
    >>> medoid([[0, 1, 2], [0, 1, 3], [2, 1, 3]]).name
    '0'
    """
    given = as_statements(statements)
    best = _medoid(given, method, n_components, random_state)
    if labels is None:
        return best
    from dataclasses import replace

    label_of = label_of_each(labels, given)
    per_class = {}
    for label in sorted({x for x in label_of if x is not None}):
        inside = given.subset([i for i, x in enumerate(label_of) if x == label])
        if len(inside) == 0:
            per_class[str(label)] = ClassMedoid(None, None, 0)
            continue
        found = _medoid(inside, method, n_components, random_state)
        per_class[str(label)] = ClassMedoid(found.name, found.depth, len(inside))
    return replace(best, per_class=per_class)


def _medoid(given: Statements, method: str, n_components: int, random_state: RandomState) -> Medoid:
    if given.n_objects == 0:
        raise StatementError("there are no objects, so there is no medoid")
    chosen = choose_method("medoid", given, method)
    if chosen == "depth":
        from trilens.depth import centrality

        score = centrality(given)
    else:
        from trilens.maps.geometry import total_distance
        from trilens.maps.registry import coordinates

        dim = min(n_components, max(given.n_objects - 1, 1))
        score = -total_distance(coordinates(given, chosen, dim, random_state))
    best = np.flatnonzero(score == score.max())
    inside = _candidates(given)
    order = [i for i in np.argsort(-score, kind="stable") if inside[i]]
    names = given.names
    return Medoid(
        index=int(best[0]),
        name=names[best[0]],
        depth=float(score[best[0]]) if chosen == "depth" else None,
        candidates=tuple(names[i] for i in order),
        level=LEVEL,
        tied=tuple(names[i] for i in best[1:]),
        method=chosen,
        scores=score,
    )


def _candidates(given: Statements) -> Any:
    if given.kind == "closer":
        return np.ones(given.n_objects, dtype=bool)
    from trilens.depth import depth_intervals

    return depth_intervals(given, LEVEL).medoid_set


def relative_error(estimate: int, total_distances: FloatArray) -> float:
    """(D(estimated) - D(true)) / D(true), the paper's relative error of a medoid.

    >>> relative_error(1, np.array([2.0, 3.0, 4.0]))
    0.5
    """
    least = total_distances.min()
    return float((total_distances[estimate] - least) / least)
