"""Medoid estimation: Algorithm 1, Crowd-Median, and the medoid of a map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._tabular import Tabular
from trilens._typing import FloatArray, RandomState
from trilens.depth import centrality
from trilens.errors import StatementError
from trilens.statements import StatementsLike, as_statements


@dataclass(frozen=True)
class Medoid(Tabular):
    """The most central object.

    Attributes
    ----------
    index, name
        The object; of several equally central ones the first.
    depth : float or None
        Its centrality (lens depth, or 1 - P(odd)); None for a medoid found on a map.
    tied : tuple of str
        Other objects that are exactly as central.
    method : str
    """

    index: int
    name: str
    depth: float | None
    tied: tuple[str, ...]
    method: str

    def columns(self) -> dict[str, list[Any]]:
        """One row: the object and its depth."""
        return {"object": [self.name], "depth": [self.depth], "method": [self.method]}


def medoid(
    statements: StatementsLike,
    method: str = "depth",
    *,
    n_components: int = 2,
    random_state: RandomState = 0,
) -> Medoid:
    """The most central object.

    Parameters
    ----------
    statements : Statements or (m, 3) array
    method : str
        ``"depth"``: the object of highest lens depth (Algorithm 1) for ``central``
        statements, of lowest P(odd) (Crowd-Median) for ``odd`` ones. ``"lensmap"``,
        ``"soe"``, ``"ste"``, ``"tste"``, ``"gnmds"``: the point with the least total distance
        to all others on the map, for every kind of statement.
    n_components, random_state
        Of the map.

    Examples
    --------
    >>> medoid([[0, 1, 2], [0, 1, 3], [2, 1, 3]]).name
    '0'
    """
    given = as_statements(statements)
    if given.n_objects == 0:
        raise StatementError("there are no objects, so there is no medoid")
    if method == "depth":
        score = centrality(given)
    else:
        from trilens.maps.geometry import total_distance
        from trilens.maps.registry import coordinates

        score = -total_distance(coordinates(given, method, n_components, random_state))
    best = np.flatnonzero(score == score.max())
    names = given.names
    return Medoid(
        index=int(best[0]),
        name=names[best[0]],
        depth=float(score[best[0]]) if method == "depth" else None,
        tied=tuple(names[i] for i in best[1:]),
        method=method,
    )


def relative_error(estimate: int, total_distances: FloatArray) -> float:
    """(D(estimated) - D(true)) / D(true), the paper's relative error of a medoid.

    >>> relative_error(1, np.array([2.0, 3.0, 4.0]))
    0.5
    """
    least = total_distances.min()
    return float((total_distances[estimate] - least) / least)
