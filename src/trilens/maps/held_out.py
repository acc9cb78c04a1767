"""Holding out answers: which, and how likely a fit to the others makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray
from trilens.maps.raters import group_raters
from trilens.statements import Statements
from trilens.statements.combine import triple_codes

#: Which answers a fit sees, and which it is judged by.
Fold: TypeAlias = tuple[BoolArray, BoolArray]
#: How likely each possible answer is, the given one first: (m, 2 or 3), or (m, 1) for that alone.
Chances: TypeAlias = Callable[[Statements], FloatArray]

#: Maps of some of the answers are fitted less exactly.
QUICKLY: dict[str, Any] = {"max_iter": 200, "tol": 1e-5}
_FOLDS = 3
#: From so many answers on, one part held out says enough.
_ONE_FOLD_FROM = 50_000
_HELD_OUT = 0.2


def held_out(
    statements: Statements, folds: list[Fold], make: Callable[[BoolArray], Chances]
) -> FloatArray:
    """How likely every answer is by a fit that has not seen it; NaN where there is none.

    Parameters
    ----------
    folds
        Of `folds_of`, `folds_by_question` or `folds_by_rater`.
    make
        Fits to the answers that a fold lets it see.

    Returns
    -------
    (m, 1, 2 or 3) array
        As many as the fit says, the answer that was given first.
    """
    parts = [(test, make(train)(statements.take(test))) for train, test in folds]
    width = parts[0][1].shape[1] if parts else 1
    found = np.full((len(statements), width), np.nan)
    for test, chances in parts:
        found[test] = chances
    return found


def parts_of(unit: AnyArray, number: int, rng: np.random.Generator) -> IntArray:
    """The part of each answer, (m,), at random; those of one unit, a rater or question, share it.

    >>> parts_of(np.array(["a", "b", "a", "c"]), 2, np.random.default_rng(0)).tolist()
    [0, 0, 0, 1]
    """
    units, of = np.unique(unit, return_inverse=True)
    found: IntArray = (rng.permutation(len(units)) % number)[of]
    return found


def folds_of(part: IntArray) -> list[Fold]:
    """Folds in which each part is predicted by the others; none of one part alone.

    >>> [(seen.tolist(), asked.tolist()) for seen, asked in folds_of(np.array([0, 1]))]
    [([False, True], [True, False]), ([True, False], [False, True])]
    """
    tests = [part == k for k in range(int(part.max(initial=-1)) + 1)]
    return [(~test, test) for test in tests if test.any() and not test.all()]


def folds_by_question(triples: AnyArray, n_objects: int, rng: np.random.Generator) -> list[Fold]:
    """Folds in which all answers about three objects stay together; none if all are about three."""
    codes = triple_codes(triples, n_objects)
    if len(triples) >= _ONE_FOLD_FROM:
        different, question = np.unique(codes, return_inverse=True)
        test = (rng.random(len(different)) < _HELD_OUT)[question]
        return [(~test, test)]
    return folds_of(parts_of(codes, _FOLDS, rng))


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
    codes = triple_codes(statements.triples, statements.n_objects)
    _, question = np.unique(codes, return_inverse=True)
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
