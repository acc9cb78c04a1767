"""The objects that may be the medoid: a confidence set by the model."""

from __future__ import annotations

import numpy as np

from trilens._typing import BoolArray, FloatArray
from trilens.depth import depth_intervals
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.choice_model import ChoiceModel
from trilens.tasks.model import AnswerModel

#: Objects with fewer answers are always in the set: copies often leave them out altogether.
LEAST_ANSWERS = 5
#: An object that is worse by so many standard errors is no rival; sqrt(log m) is usual, and
#: this is that of 2500 answers.
_NO_RIVAL = 2.8
#: Gaussian draws from which the quantile of the largest of many differences is read.
_DRAWS = 500
#: With more rivals the quantile is Bonferroni's, which needs no draws.
_MOST_RIVALS = 300
#: Objects whose differences are looked at together.
_ROWS = 64


def medoid_set(model: AnswerModel, level: float = 0.95) -> BoolArray:
    """The objects that the answers cannot tell apart from the medoid.

    There are two readings of "most central": the object of the highest depth, and the one
    with the least total distance to all others. Each gets a confidence set of its own, and
    the union is taken. Objects that the count of the answers alone rules out, with the wide
    margin of `trilens.depth.depth_intervals`, are out: that does not rest on the model.

    A map of few objects in many dimensions can hold any dissimilarities, noise on them (Noise
    model II) as well. Then the set comes from a map with no more coordinates than a third of
    the pairs, on which such noise shows as dispersion.

    Returns
    -------
    (n,) array of bool
    """
    from scipy.special import ndtri, stdtrit

    most = max(2, (model.statements.n_objects - 1) // 6)
    if model.map.n_components_ > most:
        plain = ChoiceMap(most, random_state=model.seed).fit(model.statements)
        model = AnswerModel(model.statements, plain, model.seed)
    copies, assisted = model.copies, model.assisted
    scale = copies.shrink * np.sqrt(max(model.dispersion, 1.0))
    freedom = len(copies.models)
    if copies.n_raters:
        scale *= np.sqrt(copies.n_raters / (copies.n_raters - 1))
        freedom = min(freedom, copies.n_raters - 1)
    # a variance that is estimated from few copies, or few raters, is itself uncertain
    scale *= stdtrit(freedom, level) / ndtri(level)
    unsure = model.appearances < LEAST_ANSWERS
    sure = np.flatnonzero(~unsure)
    by_depth = maybe_largest(
        assisted.depth[sure],
        scale * assisted.copies[:, sure],
        level,
        model.seed,
        assisted.bias[sure],
    )
    near = _nearness(model.map.model_)
    moved = np.array([_nearness(copy) for copy in copies.models]) - near
    by_distance = maybe_largest(near[sure], scale * moved[:, sure], level, model.seed)
    inside = unsure.copy()
    inside[sure] = by_depth | by_distance
    return inside & depth_intervals(model.statements, level).medoid_set


def _nearness(model: ChoiceModel) -> FloatArray:
    """Minus the total distance on the map, by its mean: maps of different scales compare."""
    from trilens.maps.geometry import total_distance

    total = total_distance(model.embedding)
    return -total / max(float(total.mean()), 1e-300)


def maybe_largest(
    score: FloatArray,
    deviation: FloatArray,
    level: float = 0.95,
    seed: int = 0,
    bias: FloatArray | float = 0.0,
) -> BoolArray:
    """Which of the true scores may be the largest, given estimates and how these vary.

    An object is out if another one is better than it by too many standard errors of their
    difference: by more than the largest such number over its rivals would be, at the given
    level, if none of them were better. Rivals are the objects that are not clearly worse
    (moment selection; Andrews and Soares, 2010; for the best of many Mogstad, Romano, Shaikh
    and Wilhelm, 2024).

    Parameters
    ----------
    score : (n,) array
    deviation : (copies, n) array
        Of the scores of copies from ``score``; taken for draws about 0, so that a shift, as by
        a penalty, counts as variance.
    level : float
    seed : int
    bias : (n,) array
        Standard deviations of further errors, independent between objects, which copies do not
        show.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> maybe_largest(np.array([0.0, 0.9, 1.0]), 0.1 * rng.standard_normal((40, 3))).tolist()
    [False, True, True]
    """
    from scipy.special import ndtri

    n, n_copies = len(score), len(deviation)
    if n == 0:
        return np.zeros(0, dtype=bool)
    rng = np.random.default_rng([seed, 2])
    draws = rng.standard_normal((_DRAWS, n_copies)) @ deviation / np.sqrt(n_copies)
    draws += bias * rng.standard_normal(draws.shape)
    variance = (deviation**2).mean(axis=0) + np.asarray(bias) ** 2
    inside = np.zeros(n, dtype=bool)
    for start in range(0, n, _ROWS):
        own = np.arange(start, min(start + _ROWS, n))
        covariance = deviation[:, own].T @ deviation / n_copies
        squares = variance[own, None] + variance - 2 * covariance
        error = np.sqrt(np.maximum(squares, 1e-20 * (variance[own, None] + variance) + 1e-300))
        better = (score - score[own, None]) / error
        better[own - start, own] = -np.inf
        for i in own:
            z = better[i - start]
            rivals = np.flatnonzero(z > -_NO_RIVAL)
            if len(rivals) > _MOST_RIVALS:
                allowed = float(-ndtri((1 - level) / len(rivals)))
            elif len(rivals):
                drawn = (draws[:, rivals] - draws[:, [i]]) / error[i - start, rivals]
                allowed = max(float(np.quantile(drawn.max(axis=1), level)), 0.0)
            else:
                allowed = 0.0
            inside[i] = z.max(initial=-np.inf) <= allowed
    return inside
