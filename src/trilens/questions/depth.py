"""How central each object is: the one definition of depth, its draws, and what they leave open.

The depth of an object is the share of all questions about it, asked or not, in which answers like
these single it out, careless answers included. A map cannot hold everything that answers say: of
objects in twenty dimensions a map in few has the wrong middle, and counting, which assumes nothing,
finds it. Counting in turn ignores which questions an object happened to be in, which the map knows.
So the depth of an object is its mean depth on maps drawn from the posterior, plus a share of the
residual: the counted centrality less the one expected over the same questions. The share is that
of the composite estimate of Fay and Herriot (1979): (t + s) / (t + s + v), where v is the variance
of the residual if the map is right, s the variance of the depth between draws, and t how much more
the residuals vary from object to object than v. It is 0 where the design keeps counts from
speaking for all questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from trilens._parameters import one_of, real_number, wrong
from trilens._typing import BoolArray, FloatArray, RandomState
from trilens.ask import Data, Question, ask, register
from trilens.calibration import (
    ANSWERS_TO_BE_KNOWN,
    DEPTH_WIDER,
    LEFT_OUT_OF_SET,
    NOISY_DISSIMILARITIES,
)
from trilens.kinds import n_answers
from trilens.maps.draws import MOST_FACTORED, depths_of
from trilens.maps.fitted import Fit
from trilens.maps.geometry import total_distance
from trilens.shares import DepthIntervals, counted_intervals

#: Up to so many objects the depth on a draw is the mean over all triples; of more it is over so
#: many for each object, the same ones on all draws, as many as this work allows.
_ALL_TRIPLES_OBJECTS = 250
_DRAW_TRIPLES, _LEAST_TRIPLES, _DRAW_WORK = 1000, 200, 2_000_000_000
#: Others to which distances are measured, of more objects than these.
_MEASURED = 2000
#: Half the width of a 95 % interval, in standard errors.
_Z = 1.96
#: Numbers that differ by a smaller share are equal.
_ROUNDING = 1e-12
#: With fewer draws from the posterior their deviations are taken for Gaussian.
_FEW_DRAWS = 100
#: Gaussian draws from which `plausible_largest` reads how often each score is the largest.
_GAUSSIAN_DRAWS = 2000
#: Numbers that are drawn at a time.
_AT_A_TIME = 4_000_000


@dataclass(frozen=True, eq=False)
class Depth:
    """How central each object of a fit is, careless answers apart."""

    #: (n,): 0 for an object that no answer could single out.
    depth: FloatArray
    #: (draws, n): how it deviates on maps drawn from the posterior.
    moved: FloatArray
    #: (n,): the standard deviation of what may remain of the map's misfit.
    bias: FloatArray


@lru_cache(maxsize=8)
def depth_of(fitted: Fit) -> Depth:
    """Depth by the map, mended by what it leaves over; of a fit in the order of its own."""
    drawn = _depth_of_draws(fitted)
    residual = fitted.residual
    seen = np.isfinite(residual.variance)
    misfit = 0.0
    if seen.any():
        misfit = max(float((residual.mean**2 - residual.variance)[seen].mean()), 0.0)
    of_map = drawn.var(axis=0) + misfit
    both = of_map + residual.variance
    counted = np.divide(of_map, both, out=np.zeros(len(both)), where=both > 0)
    if not fitted.design.counts_hold:
        counted = np.zeros(len(both))
    middle = drawn.mean(axis=0)
    mended = np.clip(middle + counted * residual.mean, 0.0, 1.0)
    depth = np.where(seen, mended, 0.0)
    return Depth(depth, drawn - middle, (1 - counted) * np.sqrt(misfit))


def _depth_of_draws(fitted: Fit) -> FloatArray:
    """The depth of each object on each drawn map, (draws, n)."""
    model, draws = fitted.map, fitted.draws
    n = fitted.n_objects
    if n <= _ALL_TRIPLES_OBJECTS:
        return depths_of(draws, model)
    work = _DRAW_WORK // (n * len(draws))
    triples = int(np.clip(work, _LEAST_TRIPLES, _DRAW_TRIPLES))
    some = np.array(
        [model.at(np.asarray(X, np.float64)).depth(triples, fitted.seed).depth for X in draws]
    )
    own = model.depth(triples, fitted.seed).depth
    return some - own + model.depth(random_state=fitted.seed).depth


def with_lapses(fitted: Fit, depth: FloatArray, lapse: float | FloatArray) -> FloatArray:
    """Depths as the answers show them, if such a share is given without looking."""
    # a careless answer singles out each object equally often
    singled = 1 / n_answers(fitted.map.kind)
    by_lapse = 1 - singled if fitted.map.kind == "odd" else singled
    return np.asarray((1 - lapse) * np.clip(depth, 0.0, 1.0) + lapse * by_lapse)


def mean_lapse(fitted: Fit) -> float:
    """The share of answers that are given without looking, over all raters."""
    return float(fitted.lapse_of(fitted.sample).mean())


def centrality_of(fitted: Fit) -> FloatArray:
    """How central each object is: the share of all questions about it that single it out; (n,)."""
    found = with_lapses(fitted, depth_of(fitted).depth, mean_lapse(fitted))
    return np.where(fitted.asked > 0, found, 0.0)


def intervals_of(fitted: Fit, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """The ends of an interval of `centrality_of` for each object."""
    rng, found = np.random.default_rng([fitted.seed, 31]), depth_of(fitted)
    drawn = found.depth + found.moved
    drawn = drawn + found.bias * rng.standard_normal(drawn.shape)
    low, high = fitted.lapse_interval
    spread, lapse = (high - low) / (2 * _Z), mean_lapse(fitted)
    lapses = np.clip(lapse + spread * rng.standard_normal(len(drawn)), 0.0, 1.0)
    expected = with_lapses(fitted, drawn, lapses[:, None])
    tail, middle = (1 - level) / 2, expected.mean(axis=0)
    ends = np.quantile(expected, [tail, 1 - tail], axis=0) - middle
    ends = centrality_of(fitted) + DEPTH_WIDER * ends
    ends[:, fitted.asked == 0] = [[0.0], [1.0]]
    return np.clip(ends[0], 0.0, 1.0), np.clip(ends[1], 0.0, 1.0)


def level_with(fitted: Fit, best: int) -> BoolArray:
    """The objects whose depth is within one standard error of the difference from one; (n,)."""
    found = depth_of(fitted)
    error = np.sqrt(((found.moved - found.moved[:, [best]]) ** 2).mean(axis=0))
    level: BoolArray = np.abs(found.depth - found.depth[best]) <= error
    level[best] = False
    return level


def medoid_set(fitted: Fit, level: float = 0.95) -> BoolArray:
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
    """
    most = max(2, (fitted.n_objects - 1) // 6)
    if fitted.map.n_components > most:
        fitted = fitted.in_dimensions(most)
    inside = _often_most_central(fitted, level)
    plainer = _without_noise(fitted)
    return inside if plainer is fitted else inside | _often_most_central(plainer, level)


def _without_noise(fitted: Fit) -> Fit:
    """With as many dimensions as the answers tell if they count for less; perhaps the same.

    Noise on the dissimilarities makes answers about a pair pull together, and likelihoods that
    take them for independent find dimensions in it. The log-likelihood is divided by the
    dispersion of the map as it is, and pays one for each coordinate (QAIC; Burnham and Anderson,
    2002, ch. 2.5). Dimensions are left out one by one while that is for the better.
    """
    S, many = fitted.sample, fitted.map.X.size > MOST_FACTORED
    if many or fitted.dispersion <= NOISY_DISSIMILARITIES:
        return fitted

    def worth(of: Fit) -> float:
        value = np.log(of.map.probabilities(S)[:, 0]).sum()
        d = of.map.n_components
        return float(value / fitted.dispersion - (S.n_objects * d - d * (d + 1) / 2))

    best, value = fitted, worth(fitted)
    for d in range(fitted.map.n_components - 1, 1, -1):
        fewer = fitted.in_dimensions(d)
        if (of_fewer := worth(fewer)) < value:
            break
        best, value = fewer, of_fewer
    return best


def _often_most_central(fitted: Fit, level: float) -> BoolArray:
    """The objects that are the most central one on nearly all drawn maps, in either sense."""
    level = 1 - LEFT_OUT_OF_SET * (1 - level)
    found = depth_of(fitted)
    unsure = fitted.asked < ANSWERS_TO_BE_KNOWN
    sure = np.flatnonzero(~unsure)
    inside: BoolArray = unsure.copy()
    if not len(sure):
        return inside
    draws, to = fitted.draws, None
    if fitted.n_objects > 2 * _MEASURED:
        rng = np.random.default_rng([fitted.seed, 43])
        to = rng.choice(fitted.n_objects, _MEASURED, replace=False)
    near = -np.array([total_distance(X, to) for X in draws])
    near /= np.maximum(-near.mean(axis=1, keepdims=True), 1e-300)
    if len(near) < _FEW_DRAWS:
        middle = near.mean(axis=0)
        by_depth = plausible_largest(
            found.depth[sure], found.moved[:, sure], level, fitted.seed, found.bias[sure]
        )
        by_distance = plausible_largest(middle[sure], (near - middle)[:, sure], level, fitted.seed)
    else:
        rng = np.random.default_rng([fitted.seed, 2])
        deep = found.depth + found.moved
        deep += found.bias * rng.standard_normal(deep.shape)
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
    vary about the estimates as the deviations (draws, n) do, in a Gaussian way. ``bias`` has the
    standard deviations of further errors, independent between objects, which draws do not show.

    >>> rng = np.random.default_rng(0)
    >>> plausible_largest(np.array([0.0, 0.9, 1.0]), 0.1 * rng.standard_normal((40, 3))).tolist()
    [False, True, True]
    """
    n, n_draws = len(score), len(deviation)
    if n == 0:
        return np.zeros(0, dtype=bool)
    rng = np.random.default_rng([seed, 2])
    # what is worse than the best by very many standard errors is never the largest
    top = int(score.argmax())
    wide = np.sqrt((deviation**2).mean(axis=0) + np.asarray(bias) ** 2)
    some = np.flatnonzero(score[top] - score <= 6 * (wide + wide[top]))
    moved = deviation[:, some] / np.sqrt(n_draws)
    own_bias = np.broadcast_to(bias, n)[some]
    often = np.zeros(len(some))
    at_a_time = max(min(_GAUSSIAN_DRAWS, _AT_A_TIME // len(some)), 1)
    for start in range(0, _GAUSSIAN_DRAWS, at_a_time):
        count = min(at_a_time, _GAUSSIAN_DRAWS - start)
        drawn = score[some] + rng.standard_normal((count, n_draws)) @ moved
        if own_bias.any():
            drawn += own_bias * rng.standard_normal(drawn.shape)
        often += how_often_largest(drawn) * count
    inside = np.zeros(n, dtype=bool)
    inside[some] = often_largest(often / _GAUSSIAN_DRAWS, level, score[some])
    return inside


def how_often_largest(drawn: FloatArray) -> FloatArray:
    """The share of the rows in which each column is the largest; equal ones share.

    >>> how_often_largest(np.array([[1.0, 2.0, 0.0], [3.0, 3.0, 1.0]])).tolist()
    [0.25, 0.75, 0.0]
    """
    # on a line both objects in the middle have the least total distance, but for rounding
    top = drawn.max(axis=1, keepdims=True)
    row, column = np.nonzero(drawn >= top - _ROUNDING * np.abs(top))
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


# ---- the question -------------------------------------------------------------------------------


def depth_intervals(
    answers: Data, level: float = 0.95, *, method: str = "auto", random_state: RandomState = 0
) -> DepthIntervals:
    """How central each object is, with an interval, and the objects that could be the medoid.

    What each interval is about is the expected centrality of its object: the share of all
    questions about it, asked or not, in which answers like these single it out. By the map, whose
    likelihood does not depend on which questions were asked; by counting, which speaks for all
    questions if these were drawn at random (`trilens.design`).

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table, (m, 3) array, Counted or CentralCounts
        Of any kind. Counts do not know the design and the raters: where answers may have had
        raters, the result has a ``caution``.
    level : float
        Between 0 and 1.
    method : {"auto", "choice", "depth"}
        ``"auto"``: the map where answers suffice for one, else counting (``"depth"``).
    random_state
        Of the map.

    Examples
    --------
    >>> from trilens.statements import Statements
    >>> S = Statements([[0, 1, 2]] * 30 + [[1, 0, 2]] * 5, kind="central")
    >>> interval = depth_intervals(S, method="depth")
    >>> interval.low.round(2).tolist(), interval.high.round(2).tolist()
    ([0.7, 0.05, 0.0], [0.95, 0.3, 0.1])
    >>> interval.medoid_set.tolist(), interval.method
    ([True, False, False], 'depth')
    """
    if not 0 < real_number("level", level) < 1:
        raise wrong("level", level, "between 0 and 1")
    one_of("method", method, ("auto", *DEPTH.methods))
    found: DepthIntervals = ask(DEPTH, answers, method, random_state, level=level)
    return found


def _of_fit(fitted: Fit, level: float) -> DepthIntervals:
    low, high = intervals_of(fitted, level)
    depth, inside = centrality_of(fitted), medoid_set(fitted, level)
    return DepthIntervals(depth, low, high, inside, level, fitted.map.names, "choice")


def _of_counts(counts: Any, level: float) -> DepthIntervals:
    return counted_intervals(counts, level)


DEPTH = register(
    Question(
        "depth_intervals",
        of_fit=_of_fit,
        of_counts=_of_counts,
        by_counting="depth",
        of_few="depth",
        per_object=("depth", "low", "high", "medoid_set", "names"),
    )
)
