"""Shares of the answers with their uncertainty: intervals by counting, and the raters' part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._parameters import real_number, wrong
from trilens._tabular import Tabular
from trilens._typing import BoolArray, FloatArray, IntArray
from trilens.answers import Answers, AnswersLike, central_counts, read_or_count
from trilens.calibration import (
    FEWEST_RATERS_WITH_VARIANCE,
)
from trilens.counts import CentralCounts, Counted
from trilens.kinds import answer_column
from trilens.lens import centrality, ratio
from trilens.statements import Statements, as_statements
from trilens.words import little_to_conclude

if TYPE_CHECKING:
    from trilens.maps.support import Reason

__all__ = ["DepthIntervals", "counted_intervals"]


def counted_shares(statements: Statements | Counted | CentralCounts) -> FloatArray:
    """`centrality`; NaN where every question was chosen by earlier answers, and none counts."""
    if (
        isinstance(statements, Statements)
        and len(statements)
        and not statements.asked_at_random.any()
    ):
        return np.full(statements.n_objects, np.nan)
    return centrality(statements)


@dataclass(frozen=True)
class DepthIntervals(Tabular):
    """Centrality with its uncertainty.

    Attributes
    ----------
    depth, low, high : (n,) arrays
        The estimate and the ends of its interval; 0 and (0, 1) for an object never seen.
    medoid_set : (n,) array of bool
        The objects that could be the medoid, as far as the answers tell.
    level : float
        The confidence level of each interval, and of the set.
    names : tuple of str or None
        The objects, where they are known by name.
    method : {"depth", "choice"}
        Whether shares of the answers were counted, or the choice model was asked.
    about : str
        What the intervals are about, in words.
    reason : str or None
        The code of why the intervals may be too narrow; ``caution`` says it.
    """

    depth: FloatArray
    low: FloatArray
    high: FloatArray
    medoid_set: BoolArray
    level: float
    names: tuple[str, ...] | None = None
    method: str = "depth"
    about: str = "all questions"
    reason: Reason | None = None

    @property
    def caution(self) -> str | None:
        """Why the intervals may be too narrow; None where nothing speaks for it."""
        return None if self.reason is None else little_to_conclude(self.reason)

    def columns(self) -> dict[str, Sequence[Any]]:
        """A row for each object."""
        return {
            "object": list(range(len(self.depth))) if self.names is None else self.names,
            "depth": self.depth.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "maybe_medoid": self.medoid_set.tolist(),
        }


def counted_intervals(
    statements: AnswersLike | Counted | CentralCounts, level: float = 0.95
) -> DepthIntervals:
    """Intervals for centrality by counting, and the objects that could be the medoid.

    Each interval is Clopper and Pearson's (1934): given how often an object was asked about,
    the number of times it was singled out is binomial when the triples are drawn uniformly
    with replacement and answered independently; then the interval covers the object's
    expected centrality with at least the stated probability. Triples drawn without
    replacement make it wider than it need be.

    Where four raters or more are known (or, without raters, four screens of more than three
    objects), what is covered is the expected centrality with raters like these: the number of
    answers is divided by the design effect and, as that is measured between a limited number of
    raters, by the squared ratio of the quantiles of Student's t and the Gaussian (Korn and
    Graubard, 1998). The degrees of freedom are Satterthwaite's where raters gave unequal numbers
    of answers.

    Of questions that were not drawn at random the intervals say nothing beyond these questions:
    `trilens.depth_intervals` looks at the design first.

    The confidence set holds the true medoid (the object of highest expected centrality) with
    at least the stated probability: an object is in it unless its one-sided upper bound at
    level 1 - a/2 is below the one-sided lower bound at level 1 - a/(2n) of some other object.
    An object never seen is always in it.

    Parameters
    ----------
    statements : Answers, Statements, (m, 3) array, or CentralCounts
        Of any kind; counts do not know the raters, and the result says so (``caution``) unless
        the answers that were counted had none.
    level : float
        Between 0 and 1.

    Examples
    --------
    >>> S = Statements([[0, 1, 2]] * 30 + [[1, 0, 2]] * 5, kind="central")
    >>> interval = counted_intervals(S)
    >>> interval.low.round(2).tolist(), interval.high.round(2).tolist()
    ([0.7, 0.05, 0.0], [0.95, 0.3, 0.1])
    >>> interval.medoid_set.tolist()
    [True, False, False]
    """
    if not 0 < real_number("level", level) < 1:
        raise wrong("level", level, "between 0 and 1")
    data = statements
    if isinstance(data, Answers):
        data = read_or_count(data, enough=True)
    effect = names = None
    reason: Reason | None = None
    if not isinstance(data, Counted | CentralCounts):
        data = as_statements(data).at_random()
        effect, names = design_effect(data), data._names
    elif isinstance(data, CentralCounts) or data.clustered is not False:
        reason = "unknown raters"
    counts = central_counts(data)
    alpha = 1.0 - level
    low, high = _bounds(counts, effect, alpha / 2, alpha / 2)
    floor, ceiling = _bounds(counts, effect, alpha / (2 * max(len(low), 1)), alpha / 2)
    best_floor = floor.max(initial=0.0)
    inside = ceiling >= best_floor
    return DepthIntervals(centrality(counts), low, high, inside, level, names, reason=reason)


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
        shrunk = (ndtri(miss) / stdtrit(effect.freedom, miss)) ** 2 / effect.factor[some]
        a, b = a * shrunk, b * shrunk
    low = np.zeros(len(hits))
    low[some] = betaincinv(a, b + 1, miss)
    return low


@dataclass(frozen=True)
class DesignEffect:
    """How much more the centrality of an object varies than independent answers would let it.

    Attributes
    ----------
    factor : (n,) array
        At least 1: the variance with raters drawn whole, by that of as many independent answers.
    freedom : float
        Degrees of freedom of the variance: raters less one, fewer where some gave many more
        answers than others.
    """

    factor: FloatArray
    freedom: float


def design_effect(statements: Statements) -> DesignEffect | None:
    """The design effect of raters, or of screens; None where fewer than four are known.

    Statements that come from one screen of many objects are one answer. Where four raters are
    known, in whose answers the screens are, the raters speak for these.

    The variance of an object's share is that of a ratio of sums over raters (Cochran, 1977,
    ch. 6 and 9). As one object's may rest on few answers, it counts as at least that of all
    objects together, and as at least 1.

    >>> alike = Statements([[0, 1, 2], [1, 0, 2]] * 20, raters=np.arange(40) // 2, kind="central")
    >>> design_effect(alike).factor.tolist()
    [1.0, 1.0, 1.0]
    >>> differ = Statements(
    ...     [[0, 1, 2]] * 20 + [[1, 0, 2]] * 20, raters=np.arange(40) // 2, kind="central"
    ... )
    >>> design_effect(differ).factor.round(1).tolist()
    [2.1, 2.1, 2.1]
    """
    for clusters in (statements.raters, statements.questions):
        if clusters is not None:
            known, rater, amount = np.unique(clusters, return_inverse=True, return_counts=True)
            if len(known) >= FEWEST_RATERS_WITH_VARIANCE:
                break
    else:
        return None
    n = statements.n_objects
    what, hits, trials = _by_rater(statements, rater.astype(np.int64))
    total = np.bincount(what, trials, n)
    share = ratio(np.bincount(what, hits, n), total)
    squares = np.bincount(what, (hits - share[what] * trials) ** 2, n)
    seen_by = np.bincount(what, minlength=n)
    # one rater tells nothing of how raters differ
    between = squares * np.divide(seen_by, seen_by - 1, out=np.zeros(n), where=seen_by > 1)
    independent = total * share * (1 - share)
    own = np.divide(between, independent, out=np.zeros(n), where=independent > 0)
    together = between.sum() / independent.sum() if independent.any() else 1.0
    # Satterthwaite: a sum of squares of unequal raters is as uncertain as one of fewer equal ones
    share_of = amount / amount.sum()
    freedom = max(float((share_of**2).sum() ** 2 / (share_of**4).sum()) - 1.0, 1.0)
    return DesignEffect(np.maximum(own, max(together, 1.0)), freedom)


def _by_rater(statements: Statements, rater: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """For each rater and object seen: the object, how often singled out, how often compared."""
    n = statements.n_objects
    first = answer_column(statements.kind)
    codes = [rater * n + statements.triples[:, column] for column in range(first, 3)]
    pairs, place = np.unique(np.concatenate(codes), return_inverse=True)
    hits = np.bincount(place[: len(statements)], minlength=len(pairs)).astype(np.float64)
    trials = np.bincount(place, minlength=len(pairs)).astype(np.float64)
    return pairs % n, hits, trials
