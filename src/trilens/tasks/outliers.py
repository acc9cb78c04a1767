"""Outlier identification: Algorithm 2, Crowd-Median, and the local outlier factor on a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._tabular import Tabular
from trilens._typing import FloatArray, IntArray, RandomState
from trilens.depth import centrality
from trilens.errors import ParameterError
from trilens.statements import StatementsLike, as_statements


@dataclass(frozen=True)
class Outliers(Tabular):
    """The least central objects, the least central first.

    Attributes
    ----------
    indices, names
        The outliers.
    scores : (len(indices),) array
        Their scores, low for an outlier: centrality, or minus the local outlier factor.
    suggested : int
        How many outliers the scores themselves suggest, see `suggest_count`.
    tied : tuple of str
        Objects left out whose score equals that of the last outlier: the cut goes through
        them, and the order of the objects alone decided.
    method : str
    all_scores : (n,) array
        The score of every object.
    """

    indices: IntArray
    names: tuple[str, ...]
    scores: FloatArray
    suggested: int
    tied: tuple[str, ...]
    method: str
    all_scores: FloatArray

    def __len__(self) -> int:
        return len(self.names)

    def columns(self) -> dict[str, Sequence[Any]]:
        """The outliers and their scores."""
        return {"object": self.names, "score": self.scores.tolist()}


def outliers(
    statements: StatementsLike,
    n: int | None = None,
    *,
    contamination: float | None = None,
    method: str = "depth",
    n_components: int = 2,
    random_state: RandomState = 0,
) -> Outliers:
    """The objects that fit the others least.

    Parameters
    ----------
    statements : Statements or (m, 3) array
    n : int, optional
        How many. Without ``n`` and ``contamination``, as many as `suggest_count` finds.
    contamination : float, optional
        The share of outliers, at least 0 and at most 0.5; rounded to the nearest number.
    method : str
        ``"depth"``: lowest centrality (Algorithm 2; Crowd-Median for ``odd``). A map
        (``"lensmap"``, ``"soe"``, ...): local outlier factor on its coordinates, for every kind
        of statement, which also finds outliers between groups.

    Notes
    -----
    Equal scores stand in the order of the objects. An object that no statement names has
    depth 0 and so counts as an outlier, as in the paper.

    Examples
    --------
    >>> outliers([[0, 1, 2], [0, 1, 3], [2, 0, 3], [2, 0, 1]], n=2).names
    ('1', '3')
    """
    given = as_statements(statements)
    score = outlier_scores(given, method, n_components, random_state)
    suggested = suggest_count(score)
    count = _how_many(len(score), n, contamination, suggested)
    order = np.argsort(score, kind="stable")
    chosen = order[:count]
    tied = order[count:][score[order[count:]] == score[chosen[-1]]] if count else order[:0]
    names = given.names
    return Outliers(
        indices=chosen,
        names=tuple(names[i] for i in chosen),
        scores=score[chosen],
        suggested=suggested,
        tied=tuple(names[i] for i in tied),
        method=method,
        all_scores=score,
    )


def outlier_scores(
    statements: StatementsLike,
    method: str = "depth",
    n_components: int = 2,
    random_state: RandomState = 0,
) -> FloatArray:
    """A score for every object, low for outliers."""
    if method == "depth":
        return centrality(statements)
    from trilens.tasks.coordinates import coordinates
    from trilens.tasks.map_outliers import local_outliers

    given = as_statements(statements)
    return -local_outliers(coordinates(given, method, n_components, random_state))


def suggest_count(scores: FloatArray) -> int:
    """How many outliers there are: those below the largest gap at the low end.

    The paper reads the number off the plot of the sorted scores. Here the gaps between
    neighbouring sorted scores are compared over the lowest fifth of the objects (at least
    three gaps); the largest one separates the outliers, if it exceeds three times the median
    gap of all scores. Otherwise 0.

    >>> suggest_count(np.array([0.05, 0.06, 0.3, 0.31, 0.33, 0.34, 0.36, 0.37, 0.39, 0.4]))
    2
    >>> suggest_count(np.linspace(0.1, 0.5, 20))
    0
    """
    n = len(scores)
    if n < 4:
        return 0
    gaps = np.diff(np.sort(scores))
    low = gaps[: max(3, n // 5)]
    widest = int(low.argmax())
    return widest + 1 if low[widest] > 3 * np.median(gaps) else 0


def _how_many(n_objects: int, n: int | None, contamination: float | None, suggested: int) -> int:
    if n is not None and contamination is not None:
        raise ParameterError("give n or contamination, not both")
    if n is not None:
        if not 0 <= n <= n_objects:
            raise ParameterError(f"n is {n}; there are {n_objects} objects")
        return n
    if contamination is not None:
        check_contamination(contamination)
        return round(contamination * n_objects)
    return suggested


def check_contamination(contamination: float) -> None:
    if not 0 <= contamination <= 0.5:
        raise ParameterError(f"contamination is {contamination}; it must lie between 0 and 0.5")
