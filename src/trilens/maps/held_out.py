"""Holding out answers: which, and how likely a fit to the others makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray
from trilens.maps.raters import group_raters
from trilens.statements import Statements

#: Which answers a fit sees, and which it is judged by.
Fold: TypeAlias = tuple[BoolArray, BoolArray]
#: How likely each answer is.
Chances: TypeAlias = Callable[[Statements], FloatArray]

_FOLDS = 3
#: From so many answers on, one part held out says enough.
_ONE_FOLD_FROM = 50_000
_HELD_OUT = 0.2
#: The least that a probability is taken for.
_LEAST = 1e-300


def held_out(
    statements: Statements, folds: list[Fold], make: Callable[[BoolArray], Chances]
) -> FloatArray:
    """The log-likelihood of every answer by a fit that has not seen it; NaN where there is none.

    Parameters
    ----------
    statements
    folds
        Of `folds_by_question` or `folds_by_rater`.
    make
        Fits to the answers that a fold lets it see.
    """
    values = np.full(len(statements), np.nan)
    for train, test in folds:
        chances = make(train)(statements.take(test))
        values[test] = np.log(np.maximum(chances, _LEAST))
    return values


def question_codes(triples: AnyArray, n_objects: int) -> IntArray:
    """One number for each unordered triple."""
    low, middle, high = np.sort(triples, axis=1).astype(np.int64).T
    code: IntArray = (low * n_objects + middle) * n_objects + high
    return code


def folds_by_question(triples: AnyArray, n_objects: int, rng: np.random.Generator) -> list[Fold]:
    """Folds in which all answers about three objects stay together; none if all are about three."""
    different, question = np.unique(question_codes(triples, n_objects), return_inverse=True)
    if len(triples) >= _ONE_FOLD_FROM:
        test = (rng.random(len(different)) < _HELD_OUT)[question]
        return [(~test, test)]
    fold = (rng.permutation(len(different)) % _FOLDS)[question]
    tests = [fold == k for k in range(_FOLDS)]
    return [(~test, test) for test in tests if test.any() and not test.all()]


def folds_by_rater(statements: Statements, rng: np.random.Generator) -> list[Fold] | None:
    """Folds of raters, the questions that they answered left out of the training too.

    None where too little would be left to learn from, because raters are few or everybody was
    asked the same, and where answers are so many that one part is held out.
    """
    groups = group_raters(statements)
    if groups is None or len(groups) < 2 * _FOLDS or len(statements) >= _ONE_FOLD_FROM:
        return None
    # An answer whose rater is not known counts as that of one more rater each.
    rater = groups.of.copy()
    alone = rater < 0
    rater[alone] = len(groups) + np.arange(alone.sum())
    counts = np.bincount(rater)
    # The rater with the most answers first, each into the fold with the fewest.
    fold_of = np.empty(len(counts), dtype=np.int64)
    sizes = np.zeros(_FOLDS)
    shuffled = rng.permutation(len(counts))
    for r in shuffled[np.argsort(-counts[shuffled], kind="stable")]:
        fold_of[r] = sizes.argmin()
        sizes[sizes.argmin()] += counts[r]
    _, question = np.unique(
        question_codes(statements.triples, statements.n_objects), return_inverse=True
    )
    folds = []
    for k in range(_FOLDS):
        test = fold_of[rater] == k
        asked = np.zeros(question.max() + 1, dtype=np.bool_)
        asked[question[test]] = True
        train = ~asked[question]
        if train.sum() < len(statements) / 2:
            return None
        folds.append((train, test))
    return folds
