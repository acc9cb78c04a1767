"""What a map of some answers says about the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from trilens._typing import BoolArray, FloatArray, IntArray
from trilens.maps.choice_map import ChoiceMap
from trilens.statements import Statements
from trilens.statements.combine import question_keys

#: With so many answers or more a map of half of them is as good.
_MANY = 30_000
#: Answers that are looked at where there are more, and at least so many for each object.
_ENOUGH, _FOR_EACH = 50_000, 50
#: A weak penalty, which leaves a map as sharp as careful answers make it.
_WEAK_L2 = 0.01
#: Fewer are not divided.
_FEWEST = 50


@dataclass(frozen=True, eq=False)
class HeldOut:
    """How likely maps call the answers that were given.

    Attributes
    ----------
    chances : (m, 3) array of float, for ``closer`` (m, 2)
        The probabilities of attentive answers by a map of other answers: of the given answer,
        then of those that were not given.
    seen : (m, 3) or (m, 2) array of float
        The same by a map of all answers, these among them.
    """

    chances: FloatArray
    seen: FloatArray

    @cached_property
    def right(self) -> FloatArray:
        """1 where the given answer is the likeliest; of k equally likely ones each is 1 / k."""
        return _is_best(self.chances)

    @cached_property
    def fitted(self) -> FloatArray:
        """The same by the map of all answers."""
        return _is_best(self.seen)


def _is_best(chances: FloatArray) -> FloatArray:
    best = chances.max(axis=1, keepdims=True) == chances
    return np.asarray(best[:, 0] / best.sum(axis=1))


def looked_at(statements: Statements, random_state: int) -> IntArray:
    """All rows, or where there are very many a part of them drawn at random."""
    m = len(statements)
    enough = max(_ENOUGH, _FOR_EACH * statements.n_objects)
    if m <= enough:
        return np.arange(m)
    rng = np.random.default_rng(random_state)
    return np.sort(rng.choice(m, size=enough, replace=False))


def can_hold_out(statements: Statements) -> bool:
    """Whether there are enough statements to learn from some and predict the others."""
    return len(statements) >= _FEWEST and statements.n_objects >= 4


def hold_out(
    statements: Statements,
    rater: IntArray | None,
    fitted: ChoiceMap,
    random_state: int = 0,
    weights: FloatArray | None = None,
    folds: int = 10,
    *,
    weak: bool = False,
) -> HeldOut:
    """Predict the answers of some raters by a map of the others' answers.

    Every map is made from its own answers alone. One that starts from the map of all answers
    would stay near it, and know something of those that were left out.

    Parameters
    ----------
    statements : Statements
        So many that `can_hold_out`.
    rater : (m,) array of int or None
        Who answered. All answers of a rater are held out together; without raters, or with
        one, all answers to a question.
    fitted : ChoiceMap
        Of the statements; the maps have its dimensions and its penalty.
    random_state : int
    weights : (m,) array of float, optional
        How much each answer counts for the maps.
    folds : int
        Into how many parts the raters are divided; two where there are very many answers.
    weak : bool
        Whether the maps have a weak penalty and two dimensions instead.
    """
    shape = (2, _WEAK_L2) if weak else (fitted.n_components_, fitted.l2_)
    rng = np.random.default_rng(random_state)
    given = question_keys(statements)[0] if rater is None else rater
    units, unit = np.unique(given, return_inverse=True)
    if len(units) < 2:  # one question, again and again: nothing to keep together
        units = unit = np.arange(len(statements))
    count = min(folds if len(statements) < _MANY else 2, len(units))
    fold = (rng.permutation(len(units)) % count)[unit]
    chances = np.empty((len(statements), 2 if statements.kind == "closer" else 3))
    for part in range(count):
        inside = fold == part
        chances[inside] = _attentive(statements, fitted, shape, weights, ~inside, inside)
    everything = np.ones(len(statements), dtype=bool)
    return HeldOut(chances, _attentive(statements, fitted, shape, weights, everything, everything))


def best_held_out(
    statements: Statements,
    rater: IntArray | None,
    fitted: ChoiceMap,
    random_state: int = 0,
    weights: FloatArray | None = None,
    folds: int = 10,
) -> HeldOut:
    """`hold_out` by maps like the fitted one or by weak ones: whose held-out answers are likelier.

    Many blind answers make for a strong penalty and odd dimensions, and on such a map nobody
    can be told from those who give them.
    """
    found = [hold_out(statements, rater, fitted, random_state, weights, folds)]
    if fitted.l2_ > 2 * _WEAK_L2 or fitted.n_components_ < 2:
        found.append(hold_out(statements, rater, fitted, random_state, weights, folds, weak=True))
    return max(found, key=lambda each: _likelihood(each.chances, weights))


def _likelihood(chances: FloatArray, weights: FloatArray | None) -> float:
    """The log likelihood of answers of which as many are blind as makes it largest."""
    own, c = chances[:, 0], chances.shape[1]
    w = np.ones(len(own)) if weights is None else weights
    return max(float(w @ np.log((1 - s) * own + s / c)) for s in np.linspace(0.02, 1.0, 50))


def _attentive(
    statements: Statements,
    fitted: ChoiceMap,
    shape: tuple[int, float],
    weights: FloatArray | None,
    learnt: BoolArray,
    asked: BoolArray,
) -> FloatArray:
    """The probabilities of attentive answers to what is asked, by a map of what is learnt."""
    part = None if weights is None else weights[learnt]
    if part is not None and not part.any():
        part = None
    length: Any = fitted.length_
    model = ChoiceMap(
        shape[0],
        l2=shape[1],
        length=length,
        lapses="one",
        random_state=0,
        max_iter=200,
        tol=1e-5,
        n_threads=fitted.n_threads,
    ).fit(statements.take(learnt), weights=part)
    return replace(model.model_, lapse=0.0).probabilities(statements.take(asked))
