"""Objects and people as they may be, and the answers that they give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trilens._parameters import real_number, whole_number, wrong
from trilens._typing import FloatArray, IntArray
from trilens.errors import StatementError
from trilens.kinds import KINDS, Kind, answer_column, check_kind, wrong_by_chance
from trilens.maps.fitted import Fit, fit_answers
from trilens.maps.fitting import How
from trilens.maps.map import Map
from trilens.simulate.stream import simulate_statements
from trilens.statements import Statements
from trilens.words import reason

#: What is not told is drawn from these: the share of wrong answers, how sharply answers follow
#: distances (the mean distance on the choice map) and the dimensions. Public studies: cars 0.06,
#: 5.5 and 2; faces 0.08, 6.8 and 8.
ERROR_RATES, SHARPNESS, _DIMENSIONS = (0.03, 0.15), (4.0, 10.0), (2, 3, 5)
#: Standard deviations, from study to study: of the logarithm of the sharpness, and of the rate.
_USUAL, _USUAL_RATE = 0.5, 0.06
#: A pilot shows fewer dimensions than a study does: so many more are tried in turn.
_MORE_DIMENSIONS = (0, 1, 2, 4)
#: Groups and classes lie so many standard deviations apart; this share of the objects lies
#: elsewhere for the second group of people, whose weights of dimensions vary by so much.
GROUPS, CLASSES, ELSEWHERE, _TASTES = (3, 6.0), (2, 4.0), 0.1, 0.3


@dataclass(frozen=True, eq=False)
class World:
    """Objects and people as they may be."""

    model: Map
    #: (n,): groups or classes.
    labels: IntArray | None = None
    #: What the second group of people sees.
    other: Map | None = None


@dataclass(frozen=True, eq=False)
class People:
    """Where worlds come from: what is given, what a pilot says, what is usual elsewhere."""

    kinds: tuple[Kind, ...]
    error_rate: float | None
    dimension: int | None
    pilot: Statements | None
    #: Of the pilot, in some numbers of dimensions.
    fits: tuple[Fit, ...] = ()

    @classmethod
    def of(
        cls,
        kind: str | None,
        pilot: Statements | None,
        error_rate: float | None,
        dimension: int | None,
        n: int,
    ) -> People:
        kinds = KINDS if kind is None else (check_kind(kind),)
        if pilot is not None:
            kinds = (pilot.kind,)
        if error_rate is not None:
            most = min(wrong_by_chance(each) for each in kinds)
            error_rate = real_number("error_rate", error_rate, 0, 1)
            if error_rate >= most:
                raise wrong(
                    "error_rate", error_rate, f"less than {most:.2g}, as many as guesses get wrong"
                )
        if dimension is not None:
            dimension = whole_number("n_components", dimension, 1, n - 1)
        return cls(kinds, error_rate, dimension, pilot, _fits(pilot, dimension))

    def worlds(self, goal: str, kind: Kind, n: int, count: int, seed: int) -> Iterator[World]:
        """Worlds that differ in what is not known."""
        for i in range(count):
            # the same objects and people for every kind
            rng = np.random.default_rng([seed, 41, i])
            if self.fits:
                X, rate = self._from_pilot(i, n, rng)
            else:
                d = min(self.dimension or _DIMENSIONS[i % len(_DIMENSIONS)], n - 1)
                X, rate = rng.standard_normal((n, d)), rng.uniform(*ERROR_RATES)
                X *= np.exp(rng.uniform(*np.log(SHARPNESS))) / _mean_distance(X)
            rate = rate if self.error_rate is None else self.error_rate
            labels = None
            if goal in ("groups", "classes"):
                X, labels = _apart(X, *(GROUPS if goal == "groups" else CLASSES), rng)
            model = Map(X, min(rate / wrong_by_chance(kind), 1.0), kind)
            other = None
            if goal == "difference":
                moved = rng.permutation(n)[: max(round(ELSEWHERE * n), 1)]
                Y = X.copy()
                Y[moved] = X[rng.integers(n, size=len(moved))]
                Y[moved] += 0.3 * X.std(axis=0) * rng.standard_normal((len(moved), X.shape[1]))
                other = model.at(Y)
            yield World(model, labels, other)

    def _from_pilot(self, i: int, n: int, rng: np.random.Generator) -> tuple[FloatArray, float]:
        fitted = self.fits[i % len(self.fits)]
        drawn = fitted.draws
        # what a small pilot leaves open is as it usually is
        usual = np.log(SHARPNESS).mean()
        sharp = np.log([_mean_distance(X) for X in drawn])
        weight = np.exp(-0.5 * ((sharp - usual) / _USUAL) ** 2) + 1e-300
        X = np.asarray(drawn[int(rng.choice(len(drawn), p=weight / weight.sum()))])
        low, high = fitted.error_rate_interval
        told, mean = max((high - low) / 3.92, 1e-3) ** -2, np.mean(ERROR_RATES)
        usually = _USUAL_RATE**-2
        rate = (told * fitted.error_rate + usually * mean) / (told + usually)
        rate += rng.standard_normal() / np.sqrt(told + usually)
        rate = np.clip(rate, 0, wrong_by_chance(fitted.map.kind) - 1e-3)
        if n < len(X):
            X = X[rng.permutation(len(X))[:n]]
        elif n > len(X):  # others like these
            more = X[rng.integers(len(X), size=n - len(X))]
            X = np.concatenate([X, more + 0.5 * X.std(axis=0) * rng.standard_normal(more.shape)])
        return X, float(rate)


def _fits(pilot: Statements | None, dimension: int | None) -> tuple[Fit, ...]:
    """The pilot's maps: with as many dimensions as it shows, and with some more."""
    if pilot is None:
        return ()
    if dimension is not None:
        dimension = min(dimension, pilot.n_objects - 1)
    first = fit_answers(pilot, How(dimension)).canonical[0]
    if not first.support:
        raise StatementError(
            f"nothing can be planned from this pilot: {reason(first.support.reason)}; collect "
            f"more, or plan without it",
            parameter="pilot",
        )
    if dimension is not None:
        return (first,)
    d = first.map.n_components
    more = {min(d + k, pilot.n_objects - 1) for k in _MORE_DIMENSIONS} - {d}
    return (first, *(first.in_dimensions(k) for k in sorted(more)))


def _apart(
    X: FloatArray, number: int, apart: float, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Groups of equal size, neighbors so many standard deviations apart; as spread as X."""
    n, d = X.shape
    labels = np.arange(n) % number
    centres = np.zeros((number, d))
    if d == 1 or number == 2:
        centres[:, 0] = apart * np.arange(number)
    else:
        angle = 2 * np.pi * np.arange(number) / number
        radius = apart / (2 * np.sin(np.pi / number))
        centres[:, :2] = radius * np.c_[np.cos(angle), np.sin(angle)]
    Y = centres[labels] + rng.standard_normal((n, d))
    return Y * (_mean_distance(X) / _mean_distance(Y)), labels


def _mean_distance(X: FloatArray) -> float:
    from scipy.spatial.distance import pdist

    return float(pdist(X).mean())


def asked_of(model: Map, m: int, rng: np.random.Generator) -> Statements:
    """Questions at random; how these statements answer them does not matter."""
    n = model.n_objects
    return simulate_statements(
        np.zeros((n, 1)), m, kind=model.kind, sampling="replacement", random_state=rng
    )


def answered(world: World, m: int, n_raters: int, rng: np.random.Generator) -> Statements:
    """The answers of people who follow the model."""
    model, asked = world.model, asked_of(world.model, m, rng)
    rater = None
    if world.other is None:
        P = model.probabilities(asked)
    else:  # whole raters see one thing or the other, each with tastes of their own
        rater = rng.permutation(np.arange(m) % n_raters)
        P = np.empty((m, 2 if model.kind == "closer" else 3))
        for r in range(n_raters):
            seen = world.other if r % 2 else model
            weights = np.exp(_TASTES * rng.standard_normal(seen.n_components))
            rows = np.flatnonzero(rater == r)
            P[rows] = seen.at(seen.X * weights).probabilities(asked.take(rows))
    chosen = (rng.random(m)[:, None] > P.cumsum(axis=1)[:, :-1]).sum(axis=1)
    T, rows, first = asked.triples.copy(), np.arange(m), answer_column(model.kind)
    T[rows, first] = asked.triples[rows, first + chosen]
    T[rows, first + chosen] = asked.triples[rows, first]
    return Statements(T, asked.n_objects, kind=model.kind, raters=rater)
