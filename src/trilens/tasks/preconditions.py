"""Whether answers can support a claim about all objects at all."""

from __future__ import annotations

import numpy as np

from trilens.maps.choice_map import ChoiceMap
from trilens.statements import Statements

#: How much better than guesses held-out answers must be predicted, in mean log-likelihood times
#: the root of the number of answers. Fifteen studies of guesses reached 0.07 at most; answers of
#: which 30 % are wrong, 60 about each of 40 objects, 2 and more (``closer``, where these are too
#: few to tell: 0.4).
_BEYOND_GUESSES = 0.5


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
    if not fitted.cv_scores_:
        return "there are too few different questions"
    chance = -np.log(2 if statements.kind == "closer" else 3)
    gain = max(fitted.cv_scores_.values()) - chance
    if gain * np.sqrt(len(statements)) < _BEYOND_GUESSES:
        return "the answers cannot be told from guesses"
    return None
