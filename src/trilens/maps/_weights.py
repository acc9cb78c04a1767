"""Weights of statements, and the share of answers that probabilities predict."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import real_array
from trilens._typing import FloatArray
from trilens.errors import ParameterError


def check_weights(weights: ArrayLike | None, m: int) -> FloatArray | None:
    """One finite weight of 0 or more for each statement, not all 0; None as it is."""
    if weights is None:
        return None
    given = real_array("weights", weights)
    if given.shape != (m,):
        raise ParameterError(
            f"weights have shape {given.shape}; give one for each of the {m:,} statements"
        )
    wrong = ~(np.isfinite(given) & (given >= 0))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ParameterError(
            f"the weight of statement {row} is {given[row]}; it must be a number, 0 or more"
        )
    if m and not given.any():
        raise ParameterError("all weights are 0; at least one statement must count")
    return given


def predicted_share(probabilities: FloatArray) -> float:
    """The share of rows whose first entry is the largest; of k equal ones each counts 1 / k.

    >>> predicted_share(np.array([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]]))
    0.5
    """
    if len(probabilities) == 0:
        return float("nan")
    best = probabilities == probabilities.max(axis=1, keepdims=True)
    return float((best[:, 0] / best.sum(axis=1)).mean())
