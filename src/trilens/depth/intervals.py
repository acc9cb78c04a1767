"""How sure a depth is: an interval for each object, and a confidence set for the medoid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._parameters import real_number
from trilens._tabular import Tabular
from trilens._typing import BoolArray, FloatArray, IntArray
from trilens.counts import CentralCounts
from trilens.depth.lens import centrality, counts_of
from trilens.depth.raters import DesignEffect, design_effect
from trilens.errors import ParameterError
from trilens.statements import StatementsLike, as_statements


@dataclass(frozen=True)
class DepthIntervals(Tabular):
    """Centrality with its uncertainty.

    Attributes
    ----------
    depth, low, high : (n,) arrays
        The estimate and the ends of its interval; 0 and (0, 1) for an object never seen.
    medoid_set : (n,) array of bool
        The objects that the answers cannot tell apart from the medoid.
    level : float
        The confidence level of each interval, and of the set.
    names : tuple of str or None
        The objects, where they are known by name.
    """

    depth: FloatArray
    low: FloatArray
    high: FloatArray
    medoid_set: BoolArray
    level: float
    names: tuple[str, ...] | None = None

    def columns(self) -> dict[str, Sequence[Any]]:
        """A row for each object."""
        return {
            "object": list(range(len(self.depth))) if self.names is None else self.names,
            "depth": self.depth.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "maybe_medoid": self.medoid_set.tolist(),
        }


def depth_intervals(
    statements: StatementsLike | CentralCounts, level: float = 0.95
) -> DepthIntervals:
    """Intervals for centrality, and the objects that may be the medoid.

    Each interval is Clopper and Pearson's (1934): given how often an object was asked about,
    the number of times it was singled out is binomial when the triples are drawn uniformly
    with replacement and answered independently; then the interval covers the object's
    expected centrality with at least the stated probability. Triples drawn without
    replacement make it wider than it need be.

    Where eight raters or more are known, what is covered is the expected centrality with
    raters like these: the number of answers is divided by the design effect and, as that is
    measured between a limited number of raters, by the squared ratio of the quantiles of
    Student's t and the Gaussian (Korn and Graubard, 1998).

    The confidence set holds the true medoid (the object of highest expected centrality) with
    at least the stated probability: an object is in it unless its one-sided upper bound at
    level 1 - a/2 is below the one-sided lower bound at level 1 - a/(2n) of some other object.
    An object never seen is always in it.

    Parameters
    ----------
    statements : Statements, (m, 3) array, or CentralCounts
        Of any kind; counts do not know the raters.
    level : float
        Between 0 and 1.

    Examples
    --------
    >>> S = [[0, 1, 2]] * 30 + [[1, 0, 2]] * 5
    >>> interval = depth_intervals(S)
    >>> interval.low.round(2).tolist(), interval.high.round(2).tolist()
    ([0.7, 0.05, 0.0], [0.95, 0.3, 0.1])
    >>> interval.medoid_set.tolist()
    [True, False, False]
    """
    if not 0 < real_number("level", level) < 1:
        raise ParameterError(f"level is {level}; it must lie between 0 and 1")
    effect = names = None
    if not isinstance(statements, CentralCounts):
        statements = as_statements(statements)
        effect, names = design_effect(statements), statements._names
    counts = counts_of(statements)
    alpha = 1.0 - level
    low, high = _bounds(counts, effect, alpha / 2, alpha / 2)
    floor, ceiling = _bounds(counts, effect, alpha / (2 * max(len(low), 1)), alpha / 2)
    best_floor = floor.max(initial=0.0)
    return DepthIntervals(centrality(counts), low, high, ceiling >= best_floor, level, names)


def _bounds(
    counts: CentralCounts, effect: DesignEffect | None, below: float, above: float
) -> tuple[FloatArray, FloatArray]:
    """One-sided bounds that miss with probability at most ``below`` and ``above``."""
    trials = counts.appears
    hits = trials - counts.singled if counts.kind == "odd" else counts.singled
    return _low(hits, trials, effect, below), 1.0 - _low(trials - hits, trials, effect, above)


def _low(hits: IntArray, trials: IntArray, effect: DesignEffect | None, miss: float) -> FloatArray:
    """Clopper and Pearson's lower bound, from as many answers as these are worth."""
    from scipy.special import betaincinv, ndtri, stdtrit

    some = hits > 0
    a, b = hits[some].astype(np.float64), (trials - hits)[some].astype(np.float64)
    if effect is not None:
        shrunk = (ndtri(miss) / stdtrit(effect.n_raters - 1, miss)) ** 2 / effect.factor[some]
        a, b = a * shrunk, b * shrunk
    low = np.zeros(len(hits))
    low[some] = betaincinv(a, b + 1, miss)
    return low
