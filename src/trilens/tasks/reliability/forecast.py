"""How many more answers: a learning curve from parts of the answers, and its forecast."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from trilens._parameters import real_number, whole_number
from trilens._typing import FloatArray, IntArray, Progress
from trilens.depth.raters import LEAST_RATERS
from trilens.maps.choice_map import ChoiceMap
from trilens.statements import Statements
from trilens.tasks.medoid_set import medoid_set
from trilens.tasks.method import LEAST_PER_OBJECT, choose_method
from trilens.tasks.model import AnswerModel

#: Into how many parts the answers are divided, and how many parts of each are looked at.
_PARTS = ((8, 4), (4, 4), (2, 4))
#: A set with more than this share of the objects says nothing about the slope.
_SATURATED = 0.6
#: Beyond so many times the answers there are nothing is forecast.
FARTHEST = 100.0
#: Noise falls with the number of answers; the exponent of that is near 1, this near.
_USUAL, _SURE = 1.0, 0.25
#: The forecast of a set errs at least by so much (in logarithms), and by so much more for each
#: doubling of the answers; measured, see docs/claims.md.
_SET_ERROR, _SET_ERROR_DOUBLING = 0.25, 0.18
_MAP_ERROR, _MAP_ERROR_DOUBLING = 0.35, 0.15
_Z = 1.96


@dataclass(frozen=True)
class CurvePoint:
    """What so many answers gave, in the mean over parts of the answers.

    Attributes
    ----------
    answers : int
    set_size : float
        Objects that may be the medoid.
    map_accuracy : float or None
        Correlation of the map's distances with the true ones, by that of two such maps; None
        where no two maps without common answers could be made.
    parts : int
    """

    answers: int
    set_size: float
    map_accuracy: float | None
    parts: int


@dataclass(frozen=True)
class Expected:
    """A value that is forecast, with the interval that holds it in 95 % of studies."""

    answers: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Needed:
    """How many answers a goal takes.

    Attributes
    ----------
    goal : float
    answers : int or None
        In all; None where it would take more than a hundred times as many as there are.
    more : int or None
        Beyond those there are; 0 where the goal is reached.
    low, high : int or None
        The 95 % interval of ``answers``; None at an end that cannot be told.
    """

    goal: float
    answers: int | None
    more: int | None
    low: int | None
    high: int | None


@dataclass(frozen=True)
class Forecast:
    """A learning curve and where it leads.

    Attributes
    ----------
    answers : int
        That there are.
    objects : int
    points : tuple of CurvePoint
        The curve; the last one is all answers.
    unit : {"rater", "answer"}
        What the parts were made of.
    set_slope : float or None
        The set shrinks with the answers to the power of minus this; None where it is too early
        to tell.
    map_slope : float or None
    set_goal, map_goal
        What is aimed at: objects in the set, and the accuracy of the map.
    back_test : Expected or None
        The present size of the set as it would have been forecast from half of the answers.
    """

    answers: int
    objects: int
    points: tuple[CurvePoint, ...]
    unit: str
    set_slope: float | None
    map_slope: float | None
    back_test: Expected | None
    set_goal: int
    map_goal: float
    _set_at: float
    _map_at: float | None

    def set_size(self, answers: float) -> Expected | None:
        """The size of the medoid set with so many answers in all."""
        if self.set_slope is None:
            return None
        return _set_expected(self._set_at, self.set_slope, self.answers, answers, self.objects)

    def map_accuracy(self, answers: float) -> Expected | None:
        """The correlation of the map's distances with the true ones, with so many answers."""
        if self.map_slope is None or self._map_at is None:
            return None
        at = self._map_at - self.map_slope * np.log(answers / self.answers)
        error = _Z * _map_error(answers / self.answers)
        middle, low, high = (_accuracy(at + shift) for shift in (0.0, error, -error))
        return Expected(float(answers), middle, low, high)

    def answers_for_set(self, size: int) -> Needed:
        """How many answers bring the medoid set to so many objects."""
        goal = whole_number("size", size, least=1)
        return self._needed(goal, lambda m: self.set_size(m), falling=True)

    def answers_for_map(self, accuracy: float) -> Needed:
        """How many answers bring the map's distances to this correlation with the true ones."""
        goal = real_number("accuracy", accuracy, 0, 1)
        return self._needed(goal, lambda m: self.map_accuracy(m), falling=False)

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types, with what two goals take."""
        ahead = [self.answers * times for times in (1, 2, 4, 8)]
        sizes, maps = ([f(m) for m in ahead] for f in (self.set_size, self.map_accuracy))
        return {
            "answers": self.answers,
            "unit": self.unit,
            "points": [asdict(point) for point in self.points],
            "set_slope": self.set_slope,
            "map_slope": self.map_slope,
            "set_size": [asdict(x) for x in sizes if x is not None],
            "map_accuracy": [asdict(x) for x in maps if x is not None],
            "back_test": None if self.back_test is None else asdict(self.back_test),
            "for_set": asdict(self.answers_for_set(self.set_goal)),
            "for_map": asdict(self.answers_for_map(self.map_goal)),
        }

    def _needed(self, goal: float, at: Any, *, falling: bool) -> Needed:
        grid = self.answers * np.exp(np.linspace(np.log(0.01), np.log(FARTHEST), 2000))
        found = [at(m) for m in grid]
        if found[0] is None:
            return Needed(goal, None, None, None, None)
        sign = 1.0 if falling else -1.0
        reached = goal + 0.5 if falling else goal

        def first(values: list[float]) -> int | None:
            good = np.flatnonzero(sign * np.array(values) <= sign * reached)
            return int(np.ceil(grid[good[0]])) if len(good) else None

        middle = first([x.value for x in found])
        ends = first([x.low for x in found]), first([x.high for x in found])
        low, high = ends if falling else ends[::-1]
        more = None if middle is None else max(middle - self.answers, 0)
        return Needed(goal, middle, more, low, high)


def learning_curve(
    statements: Statements,
    model: AnswerModel,
    seed: int = 0,
    progress: Progress | None = None,
    *,
    set_goal: int = 3,
    map_goal: float = 0.95,
) -> Forecast | None:
    """The medoid set and the map from parts of the answers, and what follows for more.

    The answers are divided into eighths, quarters and halves, of whole raters where each part
    has eight of them. The number of dimensions and the penalty are those of all answers. The
    size of the set falls with a power of the number of answers, fitted where it is not yet
    most of the objects. Two maps of different parts with the correlation r of their distances
    each have sqrt(r) with the truth (Spearman, 1904), and (1 - r) / r falls with a power of the
    answers that is 1 where all error is chance (Spearman and Brown, 1910).

    None where the answers are too few to be divided, or so many that the model is not used.
    """
    whole_number("set_size", set_goal, least=1)
    real_number("map_accuracy", map_goal, 0, 1)
    m, n = len(statements), statements.n_objects
    if choose_method("embed", statements) != "choice" or n < 4:
        return None
    rng = np.random.default_rng([seed, 7])
    usable = [(p, k) for p, k in _PARTS if 3 * (m // p) >= LEAST_PER_OBJECT * n and m // p >= 50]
    if len(usable) < 2:
        return None
    rater = _raters(statements, usable[0][0])
    sizes: list[float] = []
    at: list[float] = []
    logits: list[float] = []
    logits_at: list[float] = []
    points = []
    total, done = sum(k for _, k in usable), 0
    for parts, looked_at in usable:
        own_sizes: list[float] = []
        own_r: list[float] = []
        own_m: list[int] = []
        while len(own_sizes) < looked_at:
            maps, counts = [], []
            for rows in _divided(m, rater, parts, rng)[:looked_at]:
                part = statements.take(rows)
                fitted = _like(model.map).fit(part)
                own_sizes.append(float(medoid_set(AnswerModel(part, fitted, seed)).sum()))
                own_m.append(len(rows))
                maps.append(fitted.embedding_)
                counts.append(len(rows))
                done += 1
                if progress is not None:
                    progress(min(done / total, 1.0))
            own_r.append(_alike(maps))
            logits.append(_logit_of(own_r[-1]))
            logits_at.append(float(np.log(np.mean(counts) / m)))
        sizes += [float(np.log(np.mean(own_sizes)))]
        at += [float(np.log(np.mean(own_m) / m))]
        points.append(
            CurvePoint(
                int(np.mean(own_m)),
                float(np.mean(own_sizes)),
                float(np.sqrt(max(float(np.mean(own_r)), 0.0))),
                len(own_sizes),
            )
        )
    now = float(medoid_set(model).sum())
    map_slope, map_at = _map_line(np.array(logits_at), np.array(logits))
    accuracy = _accuracy(map_at)
    points.append(CurvePoint(m, now, accuracy, 1))
    before = _set_line(np.array(at), np.array(sizes), n)
    after = _set_line(np.array([*at, 0.0]), np.array([*sizes, np.log(max(now, 1.0))]), n)
    back_test = None
    if before is not None:
        back_test = _set_expected(before[1], before[0], m, float(m), n, from_=0.5)
    return Forecast(
        answers=m,
        objects=n,
        points=tuple(points),
        unit="answer" if rater is None else "rater",
        set_slope=None if after is None else after[0],
        map_slope=map_slope,
        back_test=back_test,
        set_goal=set_goal,
        map_goal=map_goal,
        _set_at=0.0 if after is None else after[1],
        _map_at=map_at,
    )


def _like(fitted: ChoiceMap) -> ChoiceMap:
    length: Any = fitted.length_
    return ChoiceMap(
        fitted.n_components_,
        l2=fitted.l2_,
        length=length,
        random_state=0,
        max_iter=200,
        tol=1e-5,
        n_threads=fitted.n_threads,
    )


def _raters(statements: Statements, parts: int) -> IntArray | None:
    """Who answered, where each part can have enough raters."""
    if statements.raters is None:
        return None
    known, rater = np.unique(statements.raters, return_inverse=True)
    return rater.astype(np.int64) if len(known) >= parts * LEAST_RATERS else None


def _divided(
    m: int, rater: IntArray | None, parts: int, rng: np.random.Generator
) -> list[IntArray]:
    unit = np.arange(m) if rater is None else rater
    part = (rng.permutation(int(unit.max()) + 1) % parts)[unit]
    return [np.flatnonzero(part == p) for p in range(parts)]


def _alike(maps: list[FloatArray]) -> float:
    """The mean correlation of the distances on different maps."""
    from scipy.spatial.distance import pdist

    return float(np.corrcoef([pdist(X) for X in maps])[np.triu_indices(len(maps), 1)].mean())


def _logit_of(r: float) -> float:
    """The logarithm of noise by signal."""
    inside = min(max(r, 0.02), 0.9999)
    return float(np.log((1 - inside) / inside))


def _accuracy(logit: float) -> float:
    return float(np.sqrt(1 / (1 + np.exp(logit))))


def _map_line(at: FloatArray, logits: FloatArray) -> tuple[float, float]:
    """Slope and value at all answers of log noise by signal; the slope is drawn to the usual."""
    centred = at - at.mean()
    spread = 0.2**2  # of one correlation, in these logarithms
    top = -(centred @ logits) / spread + _USUAL / _SURE**2
    slope = float(top / ((centred**2).sum() / spread + 1 / _SURE**2))
    slope = max(slope, 0.1)
    return slope, float(logits.mean() + slope * at.mean())


def _set_line(at: FloatArray, sizes: FloatArray, n: int) -> tuple[float, float] | None:
    """Slope and value at all answers of the logarithm of the size; None if too early to tell."""
    good = sizes <= np.log(max(_SATURATED * n, 2.0))
    good[-2:] |= sizes[-2:] < np.log(0.9 * n)  # the last ones tell most
    if good.sum() < 2:
        return None
    x, y = at[good], sizes[good]
    weight = np.exp(x)  # parts of a few answers are far from where it leads
    weight /= weight.sum()
    mean_x, mean_y = float(weight @ x), float(weight @ y)
    spread = float(weight @ (x - mean_x) ** 2)
    slope = -float(weight @ ((x - mean_x) * (y - mean_y))) / spread if spread > 0 else 0.0
    slope = min(max(slope, 0.0), 1.0)
    return slope, mean_y + slope * mean_x


def _set_expected(
    at: float, slope: float, present: int, answers: float, n: int, from_: float = 1.0
) -> Expected:
    log = at - slope * np.log(answers / present)
    doublings = abs(np.log2(answers / present / from_))
    error = _Z * np.hypot(_SET_ERROR, _SET_ERROR_DOUBLING * doublings)
    ends = (np.clip(np.exp(log + shift), 1.0, n) for shift in (0.0, -error, error))
    middle, low, high = (float(end) for end in ends)
    return Expected(float(answers), middle, low, high)


def _map_error(times: float) -> float:
    return float(np.hypot(_MAP_ERROR, _MAP_ERROR_DOUBLING * np.log2(times)))
