"""From simulated studies to a curve: what they reach against the number of answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from trilens._typing import FloatArray, IntArray, Progress
from trilens.calibration import BEYOND_MODEL, FEWEST_RATERS_THAT_TELL
from trilens.kinds import Kind, chance
from trilens.maps.fitted import Fit, fit
from trilens.questions.depth import medoid_set
from trilens.questions.plan.goals import AIMS, ASKED, Goal, Prior, fewest_answers, missing, reached
from trilens.questions.plan.worlds import People, World, answered, asked_of
from trilens.questions.reliability.raters import FOLDS, can_hold_out, hold_out
from trilens.statements import Statements

#: Simulated people and objects: where one kind is planned for, and where three are compared.
_WORLDS, _WORLDS_EACH = 8, 5
#: Answers for each object in the studies that are simulated; with a pilot, times its own.
PER_OBJECT, _TIMES_PILOT, _MOST_PER_OBJECT = (6.0, 24.0, 96.0), (1.0, 4.0, 16.0), 150.0
#: Of more objects so many are simulated, with as many answers for each.
MOST_SIMULATED = 100
#: Virtual studies that intervals are read off.
_DRAWS = 4000


@dataclass(frozen=True, eq=False)
class Lines:
    """Virtual studies: what each misses falls with a power of the number of answers."""

    #: (k,): the log odds of what is missing with one answer, and how they fall with the logarithm
    #: of the number of answers; what chance adds to a single study.
    at: FloatArray
    slope: FloatArray
    noise: FloatArray
    #: (k,): the share of answers that a perfect map would predict, as log odds beyond chance.
    best: FloatArray | None
    #: Answers are divided by this: a part of the objects was simulated.
    scale: float
    chance: float

    def missing(self, m: float, *, noise: bool = True) -> FloatArray:
        """What studies of m answers miss, (k,)."""
        odds = self.at - self.slope * np.log(m) + (self.noise if noise else 0.0)
        return np.asarray(1 / (1 + np.exp(-odds)))

    def needed(self, missing: float) -> FloatArray:
        """The logarithm of the number of answers with which each study misses no more, (k,)."""
        odds = np.log(missing / (1 - missing))
        return np.asarray((self.at + self.noise - odds) / self.slope + np.log(self.scale))

    def predicted(self, m: float, *, noise: bool = True) -> FloatArray:
        """The share of new answers that the map of m answers predicts, (k,)."""
        assert self.best is not None
        best = self.chance + (1 - self.chance) / (1 + np.exp(-self.best))
        return np.asarray(self.chance + (best - self.chance) * (1 - self.missing(m, noise=noise)))


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Virtual studies that reach the goal from a number of answers on."""

    #: (k,): mean and standard deviation of the logarithm of that number, as the simulated studies
    #: allow them; and the luck of a single study, standard normal.
    middle: FloatArray
    width: FloatArray
    luck: FloatArray
    scale: float

    def shares(self, m: float) -> FloatArray:
        """The share of studies of m answers that reach the goal, (k,)."""
        from scipy.special import ndtr

        return np.asarray(ndtr((np.log(m / self.scale) - self.middle) / self.width))

    def needed(self) -> FloatArray:
        return np.asarray(self.middle + self.width * self.luck + np.log(self.scale))


Curve: TypeAlias = Lines | Thresholds


def simulate(
    goal: Goal,
    kind: Kind,
    n: int,
    target: float,
    people: People,
    raters: int | None,
    seed: int,
    progress: Progress,
) -> Curve:
    """Studies of some sizes in some worlds, and the curve through what comes out."""
    small = min(n, MOST_SIMULATED)
    count = _WORLDS if len(people.kinds) == 1 else _WORLDS_EACH
    prior = AIMS[goal].prior
    worlds = list(people.worlds(goal, kind, small, count, seed))
    if prior is None:
        return _thresholds(goal, worlds, n / small, target, raters, seed, progress)
    own = None if people.pilot is None else _as_many(people.pilot, small)
    x, y, of, best = [], [], [], []
    for i, world in enumerate(worlds):
        rng = np.random.default_rng([seed, 43, i])
        P = world.model.probabilities(asked_of(world.model, ASKED, rng)).max(axis=1).mean()
        best.append(_log_odds((P - chance(kind)) / (1 - chance(kind))))
        for at, m in enumerate(_sizes(small, own, rng)):
            fitted = _fitted(answered(world, m, 1, rng), seed)
            x.append(np.log(m))
            y.append(_log_odds(missing(goal, world, fitted, rng)))
            of.append(i)
            progress((i + (at + 1) / len(PER_OBJECT)) / len(worlds))
    found = _lines(np.array(x), np.array(y), np.array(of), prior, seed)
    found = replace(found, scale=n / small, chance=chance(kind))
    found = replace(found, best=_spread_out(np.array(best), seed, 1) if goal == "map" else None)
    return found if people.pilot is None else _as_the_pilot(found, goal, people, small, seed)


def _fitted(statements: Statements, seed: int) -> Fit:
    """The fit, in the order of its own: that of ids."""
    return fit(statements, random_state=seed).canonical[0]


def _as_many(pilot: Statements, n: int) -> float:
    """Answers about n objects, as many for each as the pilot has."""
    return len(pilot) * n / pilot.n_objects


def _sizes(n: int, pilot: float | None, rng: np.random.Generator) -> list[int]:
    """How many answers the simulated studies of a world have."""
    sizes = np.array(PER_OBJECT) * n
    if pilot is not None:
        most = max(4 * pilot, min(_TIMES_PILOT[-1] * pilot, _MOST_PER_OBJECT * n))
        sizes = np.geomspace(pilot, most, len(_TIMES_PILOT))
    sizes = sizes * 2 ** rng.uniform(-0.5, 0.5, len(sizes))
    return [max(round(m), fewest_answers(n), 10) for m in sizes]


def _lines(x: FloatArray, y: FloatArray, world: IntArray, prior: Prior, seed: int) -> Lines:
    """Lines with one slope and a height for each world, as the simulated studies allow them."""
    from scipy.stats import t

    W = int(world.max()) + 1
    mean_x, mean_y = (np.bincount(world, v) / np.bincount(world) for v in (x, y))
    usual, slope_error = _slope(x - mean_x[world], y - mean_y[world], prior)
    slope = max(usual, 0.1)
    height = mean_y + slope * mean_x
    left = y + slope * x - height[world]
    own = float(np.sqrt((left**2).sum() / max(len(x) - W - 1, 1)))
    rng = np.random.default_rng([seed, 47])
    slopes = slope + slope_error * rng.standard_normal(_DRAWS)
    slopes = np.maximum(slopes, slope / 3)
    heights = _spread_out(height, seed, 0)
    # lines of other slopes turn about the middle of what was simulated
    heights = heights + (slopes - slope) * x.mean()
    # chance is known from few studies
    wide = float(t.ppf(0.975, max(len(x) - W - 1, 1))) / 1.96
    return Lines(heights, slopes, wide * own * rng.standard_normal(_DRAWS), None, 1.0, 0.0)


def _slope(x: FloatArray, y: FloatArray, prior: Prior) -> tuple[float, float]:
    """How y falls with x, by least squares shrunk towards what is usual; and its error.

    >>> x = np.array([-1.0, 0.0, 1.0])
    >>> [round(each, 3) for each in _slope(x, -x, Prior(1.0, 0.1, 0.2))]
    [1.0, 0.082]
    """
    precision = float((x**2).sum() - x.sum() ** 2 / len(x)) / prior.error**2
    told = -float(((x - x.mean()) * (y - y.mean())).sum()) / prior.error**2
    both = precision + prior.slope_error**-2
    return (told + prior.slope * prior.slope_error**-2) / both, float(both**-0.5)


def _spread_out(values: FloatArray, seed: int, stream: int) -> FloatArray:
    """Values such as these, of which few are known: each again and again, with its neighbors."""
    from scipy.stats import t

    W = len(values)
    # the same worlds for all that is told of them
    which = np.random.default_rng([seed, 53]).integers(W, size=_DRAWS)
    rng = np.random.default_rng([seed, 53, stream])
    spread = float(values.std(ddof=1)) if W > 1 else 1.0
    wide = float(t.ppf(0.975, max(W - 1, 1))) / 1.96
    around = values.mean() + wide * np.sqrt(0.75) * (values[which] - values.mean())
    return np.asarray(around + wide * 0.5 * spread * rng.standard_normal(_DRAWS))


def _as_the_pilot(lines: Lines, goal: Goal, people: People, n: int, seed: int) -> Lines:
    """The lines corrected by what the pilot itself gives (the ensemble Kalman filter)."""
    assert people.pilot is not None
    S, first = people.pilot, people.fits[0]
    rng = np.random.default_rng([seed, 59])
    m = _as_many(S, n)
    own = float(np.std(lines.noise))
    if goal == "medoid":
        seen = _log_odds(float(medoid_set(first).sum()) / (S.n_objects + 1))
        expected = _log_odds(lines.missing(m, noise=False))
        error = own
    elif goal == "map" and can_hold_out(S):
        who = None if S.raters is None else np.unique(S.raters, return_inverse=True)[1]
        right = hold_out(S, who, first, seed, folds=FOLDS[0]).right
        share = float(right.mean())
        seen = _log_odds(share)
        learnt = m * (1 - 1 / FOLDS[0])
        expected = _log_odds(lines.predicted(learnt, noise=False))
        error = 1 / np.sqrt(len(right) * share * (1 - share) / first.overdispersion)
    else:
        return lines
    moved = seen + error * rng.standard_normal(_DRAWS) - expected
    variance = float(np.var(expected)) + error**2

    def corrected(values: FloatArray) -> FloatArray:
        gain = float(np.cov(values, expected)[0, 1]) / variance
        return np.asarray(values + gain * moved)

    shift, spread = BEYOND_MODEL[goal]
    beyond = shift + spread * rng.standard_normal(_DRAWS)
    if lines.best is None:
        return replace(lines, at=corrected(lines.at) + beyond)
    return replace(lines, at=corrected(lines.at), best=corrected(lines.best) + beyond)


def _thresholds(
    goal: Goal,
    worlds: list[World],
    scale: float,
    target: float,
    raters: int | None,
    seed: int,
    progress: Progress,
) -> Thresholds:
    """In each world three studies: of half, and of twice, as many answers as seem to be needed."""
    n = worlds[0].model.n_objects
    middle, step, looks = np.log(PER_OBJECT[1] * n), np.log(3.0), 3
    least, most = np.log(PER_OBJECT[0] * n / 2), np.log(8 * PER_OBJECT[-1] * n)
    x: list[float] = []
    found: list[bool] = []
    for i, world in enumerate(worlds):
        rng = np.random.default_rng([seed, 43, i])
        at = middle
        for look in range(looks):
            at = float(np.clip(at, least, most))
            S = answered(world, round(np.exp(at)), raters or 2 * FEWEST_RATERS_THAT_TELL, rng)
            x.append(at)
            found.append(reached(goal, world, _fitted(S, seed), target, seed))
            at += (-step if found[-1] else step) / (1 + look)
            progress((i + (look + 1) / looks) / len(worlds))
        middle = (middle * (i + 1) + at) / (i + 2)
    return _threshold_curve(np.array(x), np.array(found), most, scale, seed)


def _threshold_curve(
    x: FloatArray, reached: IntArray, most: float, scale: float, seed: int
) -> Thresholds:
    """The mean and the spread of the thresholds, as what was reached allows them."""
    from scipy.special import log_ndtr

    middle, width = np.meshgrid(np.linspace(x.min() - 2, most + 4, 300), np.geomspace(0.2, 1.6, 20))
    z = (x - middle[..., None]) / width[..., None]
    value = np.where(reached, log_ndtr(z), log_ndtr(-z)).sum(axis=-1)
    value -= 0.5 * ((np.log(width) - np.log(0.5)) / 0.6) ** 2
    rng = np.random.default_rng([seed, 61])
    p = np.exp(value - value.max()).ravel()
    which = rng.choice(p.size, _DRAWS, p=p / p.sum())
    luck = rng.standard_normal(_DRAWS)
    return Thresholds(middle.ravel()[which], width.ravel()[which], luck, scale)


def _log_odds(share: Any) -> Any:
    inside = np.clip(share, 1e-4, 1 - 1e-3)
    return np.log(inside / (1 - inside))
