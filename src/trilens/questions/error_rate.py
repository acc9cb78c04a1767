"""The share of wrong answers that the k-RNG is corrected for: given, or estimated."""

from __future__ import annotations

from typing import Any

from trilens._parameters import one_of, real_number, seed_of
from trilens.ask import fit_of, is_enough
from trilens.counts import PairCounts
from trilens.errors import ParameterError
from trilens.maps.fitted import Fit

ESTIMATE = "estimate"
#: At 2/3 answers say nothing about lenses any more, and the correction divides by zero.
_MOST = 0.66


def is_zero(error_rate: Any) -> bool:
    """Whether it is the number 0, rather than another number, a word or no number at all."""
    return isinstance(error_rate, (int, float)) and error_rate == 0


def known_error_rate(error_rate: Any, answers: Any, random_state: Any = 0) -> float:
    """``error_rate`` as a number; ``"estimate"`` is that of the fit.

    What is estimated is the share of wrong answers to clear questions, as Noise model I has
    them. A near tie that goes the other way is no error in this sense.

    >>> known_error_rate(0.2, None)
    0.2
    """
    if not isinstance(error_rate, str):
        return real_number("error_rate", error_rate)
    one_of("error_rate", error_rate, (ESTIMATE,))
    if isinstance(answers, PairCounts):
        raise ParameterError("counts do not tell the error rate; give a number, or statements")
    if not isinstance(answers, Fit) and not is_enough(answers):
        raise ParameterError("there are too few answers to estimate the error rate; give a number")
    return min(fit_of(answers, "error_rate", seed_of(random_state)).error_rate, _MOST)
