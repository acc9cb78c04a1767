"""Holding out answers: which, and how likely maps that have not seen them make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray
from trilens.kinds import n_answers
from trilens.statements import Statements

#: How likely each possible answer is, the given one first; (m, 2 or 3).
Chances: TypeAlias = Callable[[Statements], FloatArray]


def held_out(
    statements: Statements, fold: IntArray, make: Callable[[BoolArray], Chances]
) -> FloatArray:
    """The probability of every possible answer by a map that has not seen it, the given one first.

    Parameters
    ----------
    statements : Statements
    fold : (m,) array of int
        Of `folds_of`. Each fold is predicted by the others.
    make : callable
        Makes a map of the answers that it may see, (m,) of bool.

    Returns
    -------
    (m, 2 or 3) array
        NaN where there is only one fold.
    """
    out = np.full((len(statements), n_answers(statements.kind)), np.nan)
    for part in range(int(fold.max(initial=-1)) + 1):
        asked = fold == part
        if asked.any() and not asked.all():
            out[asked] = make(~asked)(statements.take(asked))
    return out


def folds_of(unit: AnyArray, number: int, rng: np.random.Generator) -> IntArray:
    """The fold of each answer, (m,); those of one unit (a rater, a question) stay together.

    >>> folds_of(np.array(["a", "b", "a", "c"]), 2, np.random.default_rng(0)).tolist()
    [0, 0, 0, 1]
    """
    units, of = np.unique(unit, return_inverse=True)
    found: IntArray = (rng.permutation(len(units)) % number)[of]
    return found
