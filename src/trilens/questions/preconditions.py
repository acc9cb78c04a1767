"""Whether answers can support a claim about all objects at all."""

from __future__ import annotations

import numpy as np

from trilens.kinds import chance
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.streamed import StreamedMap
from trilens.questions.reliability.agreement import cells_of, raters_of
from trilens.statements import Statements

#: How much better than guesses held-out answers must be predicted, in mean log-likelihood times
#: the root of the number of answers. Fifteen studies of guesses reached 0.07 at most; answers of
#: which 30 % are wrong, 60 about each of 40 objects, 2 and more (``closer``, where these are too
#: few to tell: 0.4).
_BEYOND_GUESSES = 0.5
#: How much better than chance a streamed map must predict the answers kept aside: by so many
#: standard errors, and by this share, below which a map is of no use.
_BEYOND_CHANCE, _NO_USE = 3.0, 0.005
#: Guesses agree as much as the answers in at most so many studies.
_AGREEING_GUESSES = 0.005


def why_nothing_can_be_claimed(statements: Statements, fitted: ChoiceMap | None) -> str | None:
    """The reason why no group and no outlier can be told from chance; None where they can.

    Parameters
    ----------
    fitted : ChoiceMap, optional
        Of the statements, its number of dimensions found by itself.

    Examples
    --------
    >>> why_nothing_can_be_claimed(Statements([[0, 1, 2], [3, 4, 5]]), None)
    'some objects are never compared with the others, not even indirectly'
    """
    if len(statements) == 0:
        return "there are no answers"
    if (statements.appearances == 0).any():
        return "some objects were never asked about"
    if statements.connected_parts.any():
        return "some objects are never compared with the others, not even indirectly"
    if fitted is None or not isinstance(fitted.n_components, str):
        return None
    enough = np.log(chance(statements.kind)) + _BEYOND_GUESSES / np.sqrt(len(statements))
    predicted = fitted.best_score(enough)
    if predicted == -np.inf:
        return "there are too few different questions"
    if predicted < enough and agreeing_guesses(statements) > _AGREEING_GUESSES:
        return "the answers cannot be told from guesses"
    return None


def why_nothing_on_map(placed: StreamedMap) -> str | None:
    """The reason why no group and no outlier can be told from chance on a streamed map.

    Whether the answers connect all objects is not known.
    """
    counts = placed.counts
    if placed.predicted is None:
        return f"{placed.method} has no model of the answers"
    if (counts.appearances == 0).any():
        return "some objects were never asked about"
    guess = chance(counts.kind)
    error = np.sqrt(guess * (1 - guess) / max(placed.aside, 1))
    if placed.predicted - guess < max(_BEYOND_CHANCE * error, _NO_USE):
        return "the answers cannot be told from guesses"
    return None


def agreeing_guesses(statements: Statements) -> float:
    """How often guesses agree as much as these answers do, where questions were repeated.

    A short list that everybody answers leaves too few other questions to predict one from, but
    those who look at the objects agree about it. Compared are answers of different raters. If
    all are guesses, any two pairs of answers agree independently of each other; the third
    moment, in which three answers to one question count together, makes the distribution
    Pearson's of type III.

    Examples
    --------
    >>> agreeing_guesses(Statements([[0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 4, 5]] * 5)) < 1e-6
    True
    >>> agreeing_guesses(Statements([[0, 1, 2], [3, 4, 5]]))
    1.0
    """
    from scipy.stats import pearson3

    unit, who = raters_of(statements)
    if unit is None and statements.raters is not None:
        return 1.0  # one rater, who may remember
    cells = cells_of(statements, who)
    pairs, agreeing = (float(counts.sum()) / 2 for counts in cells.between)
    if pairs == 0:
        return 1.0
    p, asked = chance(statements.kind), cells.all_votes.sum(axis=1)
    variance = pairs * p * (1 - p)
    threes = float((asked * (asked - 1) * (asked - 2)).sum())
    third = variance * (1 - 2 * p) + threes * p**2 * (1 - p)
    beyond = (agreeing - p * pairs) / np.sqrt(variance)
    return float(pearson3.sf(beyond, third / variance**1.5))
