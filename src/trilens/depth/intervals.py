"""How sure a depth is: an interval for each object, and a confidence set for the medoid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._typing import BoolArray, FloatArray
from trilens.counts import CentralCounts
from trilens.depth.lens import _counts_of, centrality
from trilens.errors import ParameterError
from trilens.statements import StatementsLike


@dataclass(frozen=True)
class DepthIntervals:
    """Centrality with its uncertainty.

    Attributes
    ----------
    depth, low, high : (n,) arrays
        The estimate and the ends of its interval; 0 and (0, 1) for an object never seen.
    medoid_set : (n,) array of bool
        The objects that the answers cannot tell apart from the medoid.
    level : float
        The confidence level of each interval, and of the set.
    """

    depth: FloatArray
    low: FloatArray
    high: FloatArray
    medoid_set: BoolArray
    level: float


def depth_intervals(
    statements: StatementsLike | CentralCounts, level: float = 0.95
) -> DepthIntervals:
    """Intervals for centrality, and the objects that may be the medoid.

    Each interval is Clopper and Pearson's (1934): given how often an object was asked about,
    the number of times it was singled out is binomial when the triples are drawn uniformly
    with replacement and answered independently; then the interval covers the object's
    expected centrality with at least the stated probability. Triples drawn without
    replacement make it wider than it need be, raters with tastes of their own narrower.

    The confidence set holds the true medoid (the object of highest expected centrality) with
    at least the stated probability: an object is in it unless its one-sided upper bound at
    level 1 - a/2 is below the one-sided lower bound at level 1 - a/(2n) of some other object.
    An object never seen is always in it.

    Parameters
    ----------
    statements : Statements, (m, 3) array, or CentralCounts
        Of kind ``central`` or ``odd``.
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
    if not 0 < level < 1:
        raise ParameterError(f"level is {level}; it must lie between 0 and 1")
    counts = _counts_of(statements, ["central", "odd"], "an interval for centrality")
    alpha = 1.0 - level
    low, high = _clopper_pearson(counts, alpha / 2, alpha / 2)
    floor, ceiling = _clopper_pearson(counts, alpha / (2 * max(len(low), 1)), alpha / 2)
    best_floor = floor.max(initial=0.0)
    return DepthIntervals(centrality(counts), low, high, ceiling >= best_floor, level)


def _clopper_pearson(
    counts: CentralCounts, below: float, above: float
) -> tuple[FloatArray, FloatArray]:
    """One-sided bounds that miss with probability at most ``below`` and ``above``."""
    from scipy.special import betaincinv

    trials = counts.appears
    hits = counts.singled if counts.kind == "central" else trials - counts.singled
    some, not_all = hits > 0, hits < trials
    low, high = np.zeros(len(hits)), np.ones(len(hits))
    low[some] = betaincinv(hits[some], trials[some] - hits[some] + 1, below)
    high[not_all] = betaincinv(hits[not_all] + 1, trials[not_all] - hits[not_all], 1 - above)
    return low, high
