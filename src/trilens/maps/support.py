"""Whether answers can support a claim about all objects at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from trilens.agreement import cells_of, raters_of
from trilens.calibration import AGREEING_GUESSES, BEYOND_GUESSES, CLEAR_EVIDENCE
from trilens.kinds import chance
from trilens.statements import Statements

if TYPE_CHECKING:
    from trilens.maps.fitted import Fit

#: Why nothing can be claimed; `trilens.words` has a sentence for each.
Reason: TypeAlias = Literal[
    "no answers",
    "unasked objects",
    "unconnected objects",
    "loose parts",
    "few questions",
    "few answers",
    "guesses",
    "few objects",
    "same places",
    "only counts",
    "no test",
    "unknown raters",
]


#: With fewer answers for each object, or fewer objects, a map has nothing to hold on to.
LEAST_PER_OBJECT, LEAST_OBJECTS = 10, 4


def are_enough(n_answers: int, n_objects: int) -> bool:
    """Whether so many answers about so many objects are enough for a map."""
    return n_objects >= LEAST_OBJECTS and LEAST_PER_OBJECT * n_objects <= 3 * n_answers


@dataclass(frozen=True)
class Support:
    """Whether a claim about all objects can be made."""

    #: Why none can; None where one can.
    reason: Reason | None = None

    def __bool__(self) -> bool:
        return self.reason is None


def support_of(fitted: Fit) -> Support:
    """Whether the answers behind a fit can support claims; without a look at counts alone.

    Parameters
    ----------
    fitted : Fit
        Where its number of dimensions was given, it is not asked whether answers are guesses.
    """
    shown = support_of_answers(fitted.sample) if fitted.statements is not None else Support()
    if (fitted.asked == 0).any():
        shown = Support("unasked objects")
    if not shown or fitted.how.n_components is not None:
        return shown
    S = fitted.sample
    guessed = np.log(chance(S.kind))
    evidence = fitted.settings.evidence
    if evidence is not None and evidence.value - len(S) * guessed > CLEAR_EVIDENCE:
        return Support()
    enough = guessed + BEYOND_GUESSES / np.sqrt(len(S))
    predicted = fitted.settings.scores.best(enough)
    if predicted == -np.inf:
        return Support("few questions")
    if predicted < enough and agreeing_guesses(S) > AGREEING_GUESSES:
        return Support("guesses")
    return Support()


def support_of_answers(statements: Statements) -> Support:
    """Whether answers link all objects.

    >>> support_of_answers(Statements([[0, 1, 2], [3, 4, 5]], kind="central")).reason
    'unconnected objects'
    """
    if len(statements) == 0:
        return Support("no answers")
    if (statements.appearances == 0).any():
        return Support("unasked objects")
    if statements.connected_parts.any():
        return Support("unconnected objects")
    return Support()


def agreeing_guesses(statements: Statements) -> float:
    """How often guesses agree as much as these answers do, where questions were repeated.

    A short list that everybody answers leaves too few other questions to predict one from, but
    those who look at the objects agree about it. Compared are answers of different raters. If
    all are guesses, any two pairs of answers agree independently of each other; the third
    moment, in which three answers to one question count together, makes the distribution
    Pearson's of type III.

    Examples
    --------
    >>> agreeing_guesses(
    ...     Statements([[0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 4, 5]] * 5, kind="central")
    ... ) < 1e-6
    True
    >>> agreeing_guesses(Statements([[0, 1, 2], [3, 4, 5]], kind="central"))
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
