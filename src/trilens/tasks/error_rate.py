"""The error rate that a correction needs: as given, or estimated from the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trilens._parameters import one_of, real_number, seed_of
from trilens.errors import ParameterError
from trilens.statements import Statements

if TYPE_CHECKING:
    from trilens.tasks.model import AnswerModel

ESTIMATE = "estimate"
#: At 2/3 answers say nothing about lenses any more, and the correction divides by zero.
_MOST = 0.66


def known_error_rate(
    error_rate: Any,
    statements: Statements,
    random_state: Any = 0,
    model: AnswerModel | None = None,
) -> float:
    """``error_rate`` as a number; ``"estimate"`` asks `trilens.reliability` for it.

    What is estimated is the share of wrong answers to clear questions, as Noise model I has
    them. A near tie that goes the other way is no error in this sense.

    >>> known_error_rate(0.2, Statements([[0, 1, 2]]))
    0.2
    """
    if not isinstance(error_rate, str):
        return real_number("error_rate", error_rate)
    one_of("error_rate", error_rate, (ESTIMATE,))
    from trilens.tasks.reliability import reliability

    found = reliability(statements, model=model, random_state=seed_of(random_state)).error_rate
    if found is None:
        raise ParameterError(
            f"{len(statements):,} statements are too few to estimate the error rate; give a number"
        )
    return min(found, _MOST)
