"""How many more answers are needed: a learning curve from parts of the answers, extrapolated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._parameters import real_number, whole_number
from trilens._typing import FloatArray, IntArray, Progress
from trilens.agreement import AsDict, plain
from trilens.questions.medoid import medoid_set
from trilens.questions.method import LEAST_PER_OBJECT, choose_method
from trilens.questions.model import AnswerModel, quick_map
from trilens.shares import LEAST_RATERS
from trilens.statements import Statements
from trilens.statements.combine import questions

#: Into how many parts the answers are divided, and how many parts of each division are used.
_PARTS = ((8, 4), (4, 4), (2, 4))
#: Nothing is forecast beyond this many times the present number of answers.
_FARTHEST = 100.0
_Z = 1.96
_SAME_QUESTIONS = (
    "The same {:,} questions were answered again and again: more raters with these questions would "
    "not widen what was asked. The forecast is for more questions, answered as often."
)


@dataclass(frozen=True)
class Prior:
    """How such curves usually fall: what one study cannot show comes from many."""

    #: Against the logarithm of the number of answers.
    slope: float
    slope_error: float
    #: Standard errors of the mean over parts, and of a single value.
    part_error: float
    own_error: float


#: Of the log odds of an object to be in the set, read off sixteen simulated studies other than
#: those in docs/claims.md; and of the logarithm of the noise-to-signal ratio of the map's
#: distances, where the slope is Spearman and Brown's. The errors are meant to be on the safe side.
_SET = Prior(slope=0.9, slope_error=0.25, part_error=0.25, own_error=0.45)
_MAP = Prior(slope=1.0, slope_error=0.15, part_error=0.2, own_error=0.3)


@dataclass(frozen=True)
class Line:
    """A straight line through a curve, with its uncertainty."""

    #: The value with the present answers, how it falls with their logarithm, and the covariance.
    at: float
    slope: float
    covariance: tuple[tuple[float, float], tuple[float, float]]
    #: Of a single new value about the line.
    error: float

    def ahead(self, times: float) -> tuple[float, float]:
        """The value with this many times the answers, and its standard error."""
        x = np.array([1.0, -np.log(times)])
        variance = float(x @ np.array(self.covariance) @ x) + self.error**2
        return float(x @ np.array([self.at, self.slope])), float(np.sqrt(variance))


def fit_line(log_answers: FloatArray, values: FloatArray, error: FloatArray, prior: Prior) -> Line:
    """A line by weighted least squares, its slope shrunk towards the usual one.

    >>> prior = Prior(1.0, 0.1, 0.2, 0.3)
    >>> line = fit_line(np.array([-2.0, -1.0, 0.0]), np.array([2.0, 1.0, 0.0]), np.ones(3), prior)
    >>> abs(line.at) < 1e-9, round(line.slope, 6)
    (True, 1.0)
    """
    X = np.stack([np.ones(len(values)), -log_answers], axis=1) / error[:, None]
    precision = X.T @ X + np.diag([0.0, 1 / prior.slope_error**2])
    right = X.T @ (values / error) + np.array([0.0, prior.slope / prior.slope_error**2])
    covariance = np.linalg.inv(precision)
    at, slope = covariance @ right
    (a, b), (c, d) = covariance.tolist()
    return Line(float(at), float(slope), ((a, b), (c, d)), prior.own_error)


@dataclass(frozen=True)
class CurvePoint:
    """What this many answers gave, as the mean over parts of the answers.

    Attributes
    ----------
    answers : int
    set_size : float
        Objects that could be the medoid.
    map_accuracy : float
        Correlation of the map's distances with those of a map of unlimited answers, estimated
        from the correlation of two such maps.
    parts : int
    """

    answers: int
    set_size: float
    map_accuracy: float
    parts: int


@dataclass(frozen=True)
class Expected:
    """A forecast value, with the interval that contains it in 95 % of studies."""

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
        In total; None where it would take more than a hundred times as many as there are.
    more : int or None
        In addition to those there are; 0 where the goal is reached.
    low, high : int or None
        The 95 % interval of ``answers``; None at an end that cannot be told.
    """

    goal: float
    answers: int | None
    more: int | None
    low: int | None
    high: int | None


@dataclass(frozen=True)
class Forecast(AsDict):
    """A learning curve and where it leads.

    Attributes
    ----------
    answers : int
        The present number of answers.
    objects : int
    points : tuple of CurvePoint
        The curve; the last point is all answers.
    unit : {"rater", "answer", "question"}
        What the parts were made of.
    set_line, map_line : Line
        The lines that are extrapolated.
    set_goal, map_goal
        The goals: objects in the set, and the accuracy of the map.
    back_test : Expected or None
        The present size of the set as half of the answers would have forecast it.
    note : str
        What more answers would have to be for this to hold, where it is not obvious.
    """

    answers: int
    objects: int
    points: tuple[CurvePoint, ...]
    unit: str
    set_line: Line
    map_line: Line
    back_test: Expected | None
    set_goal: int
    map_goal: float
    note: str = ""

    def set_size(self, answers: float) -> Expected:
        """The size of the medoid set with this many answers in total."""
        return _size_ahead(self.set_line, self.answers, answers, self.objects)

    def map_accuracy(self, answers: float) -> Expected:
        """How close the map of this many answers is to that of unlimited ones.

        The correlation of their distances. What a map of unlimited answers would get wrong, for
        instance with too few dimensions, is not in it.
        """
        value, error = self.map_line.ahead(answers / self.answers)
        middle, low, high = (_accuracy(value + shift * _Z * error) for shift in (0.0, 1.0, -1.0))
        return Expected(float(answers), middle, low, high)

    def answers_for_set(self, size: int) -> Needed:
        """How many answers bring the medoid set down to this many objects."""
        goal = whole_number("size", size, least=1)
        return self._needed(goal, self.set_size, falling=True)

    def answers_for_map(self, accuracy: float) -> Needed:
        """How many answers bring the map's distances to this correlation with the true ones."""
        goal = real_number("accuracy", accuracy, 0, 1)
        return self._needed(goal, self.map_accuracy, falling=False)

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types, with what the two goals take."""
        ahead = [self.answers * times for times in (1, 2, 4, 8)]
        facts = {
            "answers": self.answers,
            "unit": self.unit,
            "note": self.note,
            "points": self.points,
            "set_size": [self.set_size(m) for m in ahead],
            "map_accuracy": [self.map_accuracy(m) for m in ahead],
            "back_test": self.back_test,
            "for_set": self.answers_for_set(self.set_goal),
            "for_map": self.answers_for_map(self.map_goal),
        }
        return {key: plain(value) for key, value in facts.items()}

    def _needed(self, goal: float, at: Callable[[float], Expected], *, falling: bool) -> Needed:
        grid = self.answers * np.exp(np.linspace(np.log(0.01), np.log(_FARTHEST), 2000))
        found = [at(m) for m in grid]
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
    """The medoid set and the map from parts of the answers, and what more answers would bring.

    The answers are divided into eighths, quarters and halves, of whole raters where each part
    has eight of them. Where few questions were answered many times (one list for all), the parts
    are of whole questions: more raters with the same list would not widen what was asked, and
    what is forecast is more questions, answered as often. The number of dimensions and the
    penalty are those of all answers. The odds of an object to be in the set fall with a power of
    the number of answers. If the
    distances on two maps of different parts have the correlation r, each has sqrt(r) with those
    of unlimited answers (Spearman, 1904), and (1 - r) / r falls with a power of the answers that
    is 1 where all error is chance (Spearman and Brown, 1910).

    None where the answers are too few to be divided, or so many that the model is not used.
    """
    m, n = len(statements), statements.n_objects
    asked = model.design
    many = asked.questions if asked.few_questions else m
    usable = [
        (p, k) for p, k in _PARTS if 3 * (many // p) >= LEAST_PER_OBJECT * n and many // p >= 50
    ]
    if choose_method("embed", statements) != "choice" or n < 4 or len(usable) < 2:
        return None
    rng = np.random.default_rng([seed, 7])
    clusters = _raters(statements, usable[0][0])
    unit = "answer" if clusters is None else "rater"
    if asked.few_questions:
        unit, clusters = "question", questions(statements)[0]
    divisions: list[list[_Division]] = [[] for _ in usable]
    total, done = sum(wanted for _, wanted in usable), 0
    for (parts, wanted), found in zip(usable, divisions, strict=True):
        while sum(len(each.sizes) for each in found) < wanted:
            divided = _divided(m, clusters, parts, rng)[:wanted]
            found.append(_divide(statements, model, divided, seed))
            done += len(divided)
            if progress is not None:
                progress(min(done / total, 1.0))
    every = [each for found in divisions for each in found]
    map_line = fit_line(
        np.array([np.log(np.mean(each.answers) / m) for each in every]),
        np.array([_log_noise(each.alike) for each in every]),
        np.full(len(every), _MAP.part_error),
        _MAP,
    )
    now = CurvePoint(m, float(medoid_set(model).sum()), _accuracy(map_line.at), 1)
    points = [*(_point(found) for found in divisions), now]
    at = np.array([np.log(np.mean([each.answers for each in found]) / m) for found in divisions])
    odds = np.array([_log_odds(point.set_size, n) for point in points])
    errors = np.array([*([_SET.part_error] * len(at)), _SET.own_error])
    before = fit_line(at - at[-1], odds[:-1], errors[:-1], _SET)
    return Forecast(
        answers=m,
        objects=n,
        points=tuple(points),
        unit=unit,
        set_line=fit_line(np.array([*at, 0.0]), odds, errors, _SET),
        map_line=map_line,
        back_test=_size_ahead(before, m * float(np.exp(at[-1])), float(m), n),
        set_goal=set_goal,
        map_goal=map_goal,
        note=_SAME_QUESTIONS.format(asked.questions) if asked.few_questions else "",
    )


@dataclass(frozen=True)
class _Division:
    """Parts of the answers, each with its number of answers and the size of its medoid set."""

    answers: list[int]
    sizes: list[float]
    #: The mean correlation of the distances on the maps of the parts.
    alike: float


def _divide(
    statements: Statements, model: AnswerModel, parts: list[IntArray], seed: int
) -> _Division:
    sizes, maps = [], []
    for rows in parts:
        part = statements.take(rows)
        fitted = quick_map(model.map).fit(part)
        sizes.append(float(medoid_set(AnswerModel(part, fitted, seed)).sum()))
        maps.append(fitted.embedding_)
    return _Division([len(rows) for rows in parts], sizes, _alike(maps))


def _point(found: list[_Division]) -> CurvePoint:
    answers = [n for each in found for n in each.answers]
    sizes = [size for each in found for size in each.sizes]
    alike = float(np.mean([each.alike for each in found]))
    accuracy = float(np.sqrt(max(alike, 0.0)))
    return CurvePoint(int(np.mean(answers)), float(np.mean(sizes)), accuracy, len(sizes))


def _raters(statements: Statements, parts: int) -> IntArray | None:
    """Who gave each answer, where each part can have enough raters."""
    if statements.raters is None:
        return None
    known, rater = np.unique(statements.raters, return_inverse=True)
    return rater.astype(np.int64) if len(known) >= parts * LEAST_RATERS else None


def _divided(
    m: int, clusters: IntArray | None, parts: int, rng: np.random.Generator
) -> list[IntArray]:
    unit = np.arange(m) if clusters is None else clusters
    part = (rng.permutation(int(unit.max()) + 1) % parts)[unit]
    return [np.flatnonzero(part == p) for p in range(parts)]


def _alike(maps: list[FloatArray]) -> float:
    """The mean correlation of the distances on different maps."""
    from scipy.spatial.distance import pdist

    return float(np.corrcoef([pdist(X) for X in maps])[np.triu_indices(len(maps), 1)].mean())


def _log_noise(r: float) -> float:
    """The logarithm of the noise-to-signal ratio."""
    inside = min(max(r, 0.02), 0.9999)
    return float(np.log((1 - inside) / inside))


def _accuracy(log_noise: float) -> float:
    return float(np.sqrt(1 / (1 + np.exp(log_noise))))


def _log_odds(size: float, n: int) -> float:
    """Of an object to be in the set; finite where all objects are."""
    return float(np.log(size / (n + 1 - size)))


def _size_ahead(line: Line, present: float, answers: float, n: int) -> Expected:
    value, error = line.ahead(answers / present)
    sizes = [(n + 1) / (1 + np.exp(-(value + shift * _Z * error))) for shift in (0.0, -1.0, 1.0)]
    middle, low, high = (float(np.clip(size, 1.0, n)) for size in sizes)
    return Expected(float(answers), middle, low, high)
