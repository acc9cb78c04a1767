"""The model refitted to answers drawn anew: how sure what it says is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._typing import FloatArray
from trilens.kinds import n_answers
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.choice_model import ChoiceModel, ResampledModels
from trilens.statements import Statements

#: Refits. What is made of them takes their deviations for Gaussian, so that few will do; of
#: many objects, where each is dear, fewer.
N_COPIES, FEWER_COPIES, _MANY_OBJECTS = 40, 20, 250
#: A copy is refitted to at most so many answers; its deviations then count for less.
COPY_ANSWERS = 50_000
#: Steps of a refit, which starts from the map of all answers.
_STEPS = 25


@dataclass(frozen=True, eq=False)
class Bootstrap(ResampledModels):
    """The models of the map's bootstrap, and what they leave unexplained.

    Attributes
    ----------
    left_over : (copies, n) array
        What each copy leaves unexplained of the answers that it saw, see `left_over`.
    held_out : (m, 2 or 3) array or None
        The probability of each possible answer, as the mean over the copies that had not seen
        it; NaN where all had. None where copies see a part of the answers only: the answers
        are then so many that it makes no difference.
    """

    left_over: FloatArray
    held_out: FloatArray | None


def draw_bootstrap(
    fitted: ChoiceMap, statements: Statements, seed: int = 0, n_copies: int | None = None
) -> Bootstrap:
    """The map's bootstrap: of more than `COPY_ANSWERS` statements, a copy sees about as many."""
    if n_copies is None:
        n_copies = N_COPIES if statements.n_objects <= _MANY_OBJECTS else FEWER_COPIES
    drawn = fitted.bootstrap(
        statements,
        n_copies,
        max_answers=COPY_ANSWERS,
        max_iter=_STEPS,
        random_state=np.random.default_rng([seed, 1]),
    )
    unexplained = []
    if drawn.shrink < 1:
        for model, rows in drawn.pairs():
            part = statements.take(rows)
            unexplained.append(left_over(model.probabilities(part), part, model.lapse)[0])
        return Bootstrap(**vars(drawn), left_over=np.array(unexplained), held_out=None)
    expected = np.zeros((len(statements), n_answers(statements.kind)))
    unseen_by = np.zeros(len(statements))
    for model, rows in drawn.pairs():
        weights = np.bincount(rows, minlength=len(statements)).astype(np.float64)
        P = model.probabilities(statements)
        unseen = weights == 0
        expected[unseen] += P[unseen]
        unseen_by += unseen
        unexplained.append(left_over(P, statements, model.lapse, weights)[0])
    with np.errstate(invalid="ignore"):
        held_out = expected / unseen_by[:, None]
    return Bootstrap(**vars(drawn), left_over=np.array(unexplained), held_out=held_out)


def left_over(
    expected: FloatArray, statements: Statements, lapse: float, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """By how much each object was more central than expected, and the variance of that.

    Parameters
    ----------
    expected : (m, 2 or 3) array
        The probability of each possible answer; rows of NaN are left out.
    statements : Statements
    lapse : float
        The share of answers given without looking, which draw all centralities together; the
        result is about the others.
    weights : (m,) array, optional

    Returns
    -------
    mean, variance : (n,) arrays
        The counted centrality less the expected one, over the same questions; its variance, if
        the expected probabilities are right. 0 and infinity where an object has no answers.
    """
    n = statements.n_objects
    known = ~np.isnan(expected[:, 0])
    P = expected[known]
    ids = statements.triples[known][:, 3 - P.shape[1] :].ravel()
    more = -P
    more[:, 0] += 1.0
    if statements.kind == "odd":
        more *= -1.0
    spread = P * (1 - P)
    count = np.bincount(ids, minlength=n).astype(np.float64)
    if weights is not None:
        each = weights[known, None]
        more *= each
        spread *= each**2
        count = np.asarray(np.bincount(ids, np.repeat(weights[known], P.shape[1]), n), np.float64)
    divisor = np.maximum(count, 1e-9) * (1 - lapse)
    mean = np.bincount(ids, more.ravel(), n) / divisor
    variance = np.bincount(ids, spread.ravel(), n) / divisor**2
    variance[count == 0] = np.inf
    return mean, variance


def pair_dispersion(model: ChoiceModel, statements: Statements) -> float:
    """The variance of the answers' pull on each pair, by that of independent answers.

    An answer pulls at the two or three pairs that it compares: the slope of its likelihood in
    their lengths. If the model is right, the pulls of different answers at the same pair are
    independent, and this is about 1. They pull together where something else bears on the
    pair: noise on the dissimilarities themselves (Noise model II), too few dimensions, a
    question that is asked and answered twice in the same way. Then coordinates vary more than
    copies tell, and variances are to be multiplied with this factor, as with the dispersion of
    a quasi-likelihood (McCullagh and Nelder, 1989, ch. 9).

    The fit has already given in to part of the pull, hence the correction for the number of
    coordinates.
    """
    P = model.probabilities(statements)
    sides = P.shape[1]
    attentive = (P - model.lapse / sides) / (1 - model.lapse)
    pull = attentive.copy()
    pull[:, 0] -= 1.0
    pull *= ((1 - model.lapse) * attentive[:, 0] / P[:, 0])[:, None]
    a, b, c = statements.triples.T.astype(np.int64)
    compared = [(a, b), (a, c)] if statements.kind == "closer" else [(b, c), (a, c), (a, b)]
    n = statements.n_objects
    codes = [np.minimum(i, j) * n + np.maximum(i, j) for i, j in compared]
    _, pair = np.unique(np.stack(codes, axis=1).ravel(), return_inverse=True)
    together = np.bincount(pair, pull.ravel())
    alone = float((pull**2).sum())
    if alone == 0.0:
        return 1.0
    d = model.embedding.shape[1]
    # more than half of the pairs' freedom is never taken for the coordinates'
    taken = min(n * d - d * (d + 1) / 2 + 1, len(together) / 2)
    left_of_answers = max(1 - taken / (len(statements) * (sides - 1)), 0.5)
    factor = left_of_answers / (1 - taken / len(together))
    return float((together**2).sum() / alone * factor)
