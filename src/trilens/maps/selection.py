"""Choosing the dimensions, the penalty and the length of a choice map by held-out answers.

A point of the search is judged by the mean log-likelihood of answers that its fit has not
seen. Every fold keeps a chain of its own, from a start that its own answers alone have made: a
fit that starts where all answers led stays near what the held-out ones said, and guesses seem
to be predicted. The fit for the next penalty starts from the same fold's fit for the last one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray, Progress
from trilens.maps.choice_model import ChoiceModel
from trilens.maps.fit import ChoiceFit, Start, fit_choices, prepare_start
from trilens.maps.laplace import (
    Evidence,
    Surface,
    is_affordable,
    maximise_evidence,
    surface_of,
)
from trilens.maps.likelihood import (
    Choices,
    Likelihood,
    collect_choices,
    likelihood,
    row_order,
)
from trilens.maps.pairs import Length
from trilens.maps.raters import group_raters
from trilens.statements import Statements

#: Dimensions to try, upwards from 2 until the held-out likelihood stops rising.
LADDER = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40)
_FIRST_L2, _LEAST_L2, _MOST_L2 = 1e-2, 1e-3, 1e2
_FOLDS = 3
#: From so many different answers on, one part held out says enough.
_ONE_FOLD_FROM = 50_000
_HELD_OUT = 0.2
#: At most so many answers are used to choose, or so many for each object.
_MOST_ANSWERS, _MOST_EACH = 50_000, 150
#: Where one in so many are still more than that, they may ask for more dimensions.
_ONE_IN = 8
_MOST_ITER, _TOL = 200, 2e-5
#: On the ladder.
_LONGEST_STRIDE = 3


@dataclass(frozen=True)
class MapSettings:
    """What was chosen.

    Attributes
    ----------
    n_components, l2, length
    scores : dict
        The held-out log-likelihood per answer of each number of dimensions that was tried,
        with the penalty and the length that were chosen or, where a number was only tried
        with another penalty, the best of those.
    evidence : Evidence or None
        What the evidence says there, where it was asked, and asked about all answers.
    """

    n_components: int
    l2: float
    length: Length
    scores: dict[int, float]
    evidence: Evidence | None


@dataclass(frozen=True)
class Candidate:
    """A point of the search."""

    n_components: int
    l2: float
    length: Length


def alpha_of(n_components: int) -> float:
    """The Student length's degrees of freedom, as t-STE has them."""
    return float(max(n_components - 1, 1))


def select(
    statements: Statements,
    weights: FloatArray | None,
    *,
    n_components: int | None,
    l2: float | None,
    length: Length | None,
    rng: np.random.Generator,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> MapSettings:
    """Choose what is not given (None).

    Where it is cheap, by the evidence: the number of dimensions rises from 2 until the
    evidence stops doing so. Elsewhere by held-out answers: the penalty is chosen first, in
    the plane; then the number of dimensions rises until the held-out likelihood stops doing so,
    and the penalty is chosen again; if it has changed, so may the dimensions. Of dimensions
    that are as good as the best, to one standard error of their difference, the fewest are
    taken. The length is chosen last, by held-out answers.

    Very many answers are not needed for that, but they tell more dimensions apart: then the
    number goes on rising with an eighth of them.
    """
    few = enough_answers(statements.n_objects)
    chosen = _select(
        *at_most(few, statements, weights, rng),
        n_components=n_components,
        l2=l2,
        length=length,
        rng=rng,
        n_threads=n_threads,
        progress=progress,
    )
    more = len(statements) // _ONE_IN
    if more > 2 * few and n_components is None:
        part = at_most(more, statements, weights, rng)
        with _prepare(*part, rng, n_threads, None) as held_out:
            start = Candidate(chosen.n_components, chosen.l2, chosen.length)
            point = _simplest(held_out, _climb_dimensions(held_out, start), start.n_components)
            scores = held_out.by_dimension(point)
        chosen = MapSettings(point.n_components, point.l2, point.length, scores, None)
    return chosen if len(statements) <= few else replace(chosen, evidence=None)


def _select(
    part: Statements,
    part_weights: FloatArray | None,
    *,
    n_components: int | None,
    l2: float | None,
    length: Length | None,
    rng: np.random.Generator,
    n_threads: int | None,
    progress: Progress | None,
) -> MapSettings:
    with _prepare(part, part_weights, rng, n_threads, progress) as held_out:
        point = Candidate(
            n_components or min(2, part.n_objects - 1),
            _FIRST_L2 if l2 is None else l2,
            length or "distance",
        )
        decided = False
        if n_components is None and l2 is None:
            point, decided = _climb_evidence(held_out, point)
        for step in (10.0, 10.0**0.5):
            if l2 is None:
                point = _choose_l2(held_out, point, step)
            if n_components is None and not decided:
                point = _climb_dimensions(held_out, point)
        if n_components is None and not decided:
            point = _simplest(held_out, point)
        if l2 is None:
            point = _choose_l2(held_out, point, 10.0**0.5)
        if length is None:
            other = Candidate(point.n_components, point.l2, "student")
            if l2 is None:
                other = _choose_l2(held_out, other, 10.0**0.5)
            if held_out.score(other) > held_out.score(point):
                point = other
        return MapSettings(
            point.n_components,
            point.l2,
            point.length,
            held_out.by_dimension(point),
            held_out.evidence(point) if l2 is None else None,
        )


def _choose_l2(held_out: _HeldOutScores, point: Candidate, step: float) -> Candidate:
    evidence = held_out.evidence(point)
    if evidence is None:
        return _climb_l2(held_out, point, step)
    return Candidate(point.n_components, evidence.l2, point.length)


def _climb_evidence(held_out: _HeldOutScores, point: Candidate) -> tuple[Candidate, bool]:
    """The number of dimensions with the largest evidence, and whether it could be asked."""
    at = held_out.evidence(point, roughly=True)
    if at is None:
        return point, False
    rungs = [d for d in LADDER if d <= held_out.most_dimensions]
    start = rungs.index(point.n_components)
    for step in (1, -1):
        k = start
        while 0 <= k + step < len(rungs):
            new = held_out.rough_evidence(rungs[k + step], at)
            if new is None:
                return Candidate(rungs[k], at.l2, point.length), False
            if new.value <= at.value:
                break
            k, at = k + step, new
        if k != start:
            break
    return Candidate(rungs[k], at.l2, point.length), True


def _climb_l2(held_out: _HeldOutScores, point: Candidate, step: float) -> Candidate:
    """The best penalty near the one given, in steps of a factor."""

    def times(at: Candidate, factor: float) -> Candidate:
        return Candidate(at.n_components, at.l2 * factor, at.length)

    for factor in (1 / step, step):
        start = point
        while _LEAST_L2 * 0.99 <= point.l2 * factor <= _MOST_L2 * 1.01:
            new = times(point, factor)
            if held_out.score(new) <= held_out.score(point):
                break
            point = new
        if point != start:
            break
    return point


def _climb_dimensions(held_out: _HeldOutScores, point: Candidate) -> Candidate:
    """The best number of dimensions near the one given, by strides that grow while it pays."""
    rungs = [d for d in LADDER if d <= held_out.most_dimensions]
    at, stride = rungs.index(point.n_components), 1
    while stride:
        for new in (min(at + stride, len(rungs) - 1), max(at - stride, 0)):
            other = Candidate(rungs[new], point.l2, point.length)
            if new != at and held_out.score(other) > held_out.score(point):
                at, point = new, other
                stride = min(stride + 1, _LONGEST_STRIDE)
                break
        else:
            stride -= 1
    return point


def _simplest(held_out: _HeldOutScores, best: Candidate, least: int = 1) -> Candidate:
    """Fewer dimensions, as long as they are within one standard error of the best."""
    rungs = [d for d in LADDER if least <= d < best.n_components]
    found = best
    for d in reversed(rungs):
        simpler = Candidate(d, best.l2, best.length)
        loss, error = held_out.difference(best, simpler)
        if loss > error:
            break
        found = simpler
    return found


@dataclass
class _HeldOutScores:
    """Held-out log-likelihoods of points, each computed once.

    Without folds, where all answers are about one question, nothing is better than anything.
    """

    statements: Statements
    choices: Choices
    likelihood: Likelihood
    folds: list[tuple[BoolArray, BoolArray]]
    rng: np.random.Generator
    progress: Progress | None
    most_dimensions: int
    asked: set[int] = field(default_factory=set)
    _values: dict[Candidate, FloatArray] = field(default_factory=dict)
    _starts: dict[int, Start] = field(default_factory=dict)
    _fold_starts: dict[tuple[int, int], Start] = field(default_factory=dict)
    _last: dict[tuple[int, Length, int], ChoiceFit] = field(default_factory=dict)
    _surfaces: dict[tuple[int, Length], Surface] = field(default_factory=dict)
    _evidence: dict[tuple[int, Length], Evidence] = field(default_factory=dict)

    def evidence(self, point: Candidate, *, roughly: bool = False) -> Evidence | None:
        """What the evidence says in the dimensions of a point; None where it is too dear."""
        d, key = point.n_components, (point.n_components, point.length)
        if not is_affordable(d * self.choices.n_objects, len(self.choices)):
            return None
        f, X = self.likelihood.measuring(point.length, alpha_of(d)), self._start(d).X
        if key not in self._surfaces:
            self._surfaces[key] = surface_of(f, X)
        if roughly:
            return maximise_evidence(f, X, point.l2, roughly=True, known=self._surfaces[key])
        if key not in self._evidence:
            self._evidence[key] = maximise_evidence(f, X, point.l2, known=self._surfaces[key])
        return self._evidence[key]

    def score(self, point: Candidate) -> float:
        """The mean held-out log-likelihood of an answer."""
        if not self.folds:
            return -np.inf
        values, weight = self._at(point), self._weight
        if not weight.any():
            return 0.0
        return float((values * weight).sum() / weight.sum())

    def difference(self, one: Candidate, other: Candidate) -> tuple[float, float]:
        """By how much one point is better than another, and the standard error of that."""
        if not self.folds:
            return np.inf, 0.0
        gap, weight = self._at(one) - self._at(other), self._weight
        if not weight.any():
            return 0.0, 0.0
        mean = float((gap * weight).sum() / weight.sum())
        error = np.sqrt((weight * (gap - mean) ** 2).sum()) / np.sqrt(weight.sum())
        return mean, float(error / np.sqrt(weight.sum()))

    def rough_evidence(self, d: int, near: Evidence) -> Evidence | None:
        """The evidence in ``d`` dimensions near that in other ones; None where it is too dear."""
        self.asked.add(d)
        if not is_affordable(d * self.choices.n_objects, len(self.choices)):
            return None
        f = self.likelihood.measuring("distance", alpha_of(d))
        return maximise_evidence(f, self._start(d).X, near.l2, near=near.lapse)

    def by_dimension(self, chosen: Candidate) -> dict[int, float]:
        """The score of every number of dimensions that was tried."""
        if not self.folds:
            return {}
        self.score(chosen)
        for d in self.asked:
            self.score(Candidate(d, chosen.l2, chosen.length))
        found: dict[int, float] = {}
        for d in sorted({p.n_components for p in self._values}):
            same = Candidate(d, chosen.l2, chosen.length)
            points = [same] if same in self._values else self._values
            found[d] = max(self.score(p) for p in points if p.n_components == d)
        return found

    @property
    def _weight(self) -> FloatArray:
        return self.choices.weight[self._held]

    @property
    def _held(self) -> BoolArray:
        held: BoolArray = np.logical_or.reduce([test for _, test in self.folds])
        return held

    def _at(self, point: Candidate) -> FloatArray:
        if point not in self._values:
            self._values[point] = self._fit(point)
            if self.progress is not None:
                # Nobody knows how many points there will be; most searches end at about ten.
                self.progress(1 - 0.85 ** len(self._values))
        return self._values[point]

    def _fit(self, point: Candidate) -> FloatArray:
        d, alpha = point.n_components, alpha_of(point.n_components)
        measured = self.likelihood.measuring(point.length, alpha)
        values = np.zeros(len(self.choices))
        for k, (train, test) in enumerate(self.folds):
            f = measured.weighing(np.where(train, self.choices.weight, 0.0))
            last, start = self._last.get((d, point.length, k)), self._fold_start(d, k)
            if last is not None:
                start = Start(last.X, float(last.lapse[0]))
            found = fit_choices(
                f,
                start.X,
                start.lapse,
                point.l2,
                max_iter=_MOST_ITER,
                tol=_TOL,
            )
            self._last[d, point.length, k] = found
            model = ChoiceModel(
                found.X, float(found.lapse[0]), self.choices.kind, point.length, alpha
            )
            values[test] = np.log(model.chosen(self.choices.triples[test]))
        return values[self._held]

    def _fold_start(self, d: int, k: int) -> Start:
        if (d, k) not in self._fold_starts:
            train, _ = self.folds[k]
            assert self.choices.row is not None
            rows = np.flatnonzero(train[self.choices.row])
            f = self.likelihood.weighing(np.where(train, self.choices.weight, 0.0))
            self._fold_starts[d, k] = prepare_start(
                self.statements.take(rows), f, d, _FIRST_L2, self.rng
            )
        return self._fold_starts[d, k]

    def _start(self, d: int) -> Start:
        if d not in self._starts:
            self._starts[d] = prepare_start(
                self.statements, self.likelihood, d, _FIRST_L2, self.rng
            )
        return self._starts[d]


@contextmanager
def _prepare(
    statements: Statements,
    weights: FloatArray | None,
    rng: np.random.Generator,
    n_threads: int | None,
    progress: Progress | None,
) -> Iterator[_HeldOutScores]:
    folds = _folds_by_rater(statements, rng)
    choices = collect_choices(statements, weights, keep_rows=True, keep_repeats=folds is not None)
    if folds is None:
        folds = folds_by_question(choices, rng)
    else:
        assert choices.row is not None
        order = np.argsort(choices.row)
        folds = [(train[order], test[order]) for train, test in folds]
    with likelihood(choices, n_threads=n_threads) as f:
        most = min(statements.n_objects - 1, LADDER[-1])
        yield _HeldOutScores(statements, choices, f, folds, rng, progress, most)


def enough_answers(n_objects: int) -> int:
    """More answers are not needed to choose."""
    return max(_MOST_ANSWERS, _MOST_EACH * n_objects)


def at_most(
    most: int, statements: Statements, weights: FloatArray | None, rng: np.random.Generator
) -> tuple[Statements, FloatArray | None]:
    """A random part of very many statements."""
    if len(statements) <= most:
        return statements, weights
    drawn = rng.choice(len(statements), most, replace=False, shuffle=False)
    rows = np.sort(row_order(statements)[drawn])
    return statements.take(rows), None if weights is None else weights[rows]


def question_codes(triples: AnyArray, n_objects: int) -> IntArray:
    """One number for each unordered triple."""
    low, middle, high = np.sort(triples, axis=1).astype(np.int64).T
    code: IntArray = (low * n_objects + middle) * n_objects + high
    return code


def folds_by_question(
    choices: Choices, rng: np.random.Generator
) -> list[tuple[BoolArray, BoolArray]]:
    """Folds in which all answers about three objects stay together."""
    different, question = np.unique(
        question_codes(choices.triples, choices.n_objects), return_inverse=True
    )
    if len(choices) >= _ONE_FOLD_FROM:
        test = (rng.random(len(different)) < _HELD_OUT)[question]
        return [(~test, test)]
    fold = (rng.permutation(len(different)) % _FOLDS)[question]
    tests = [fold == k for k in range(_FOLDS)]
    return [(~test, test) for test in tests if test.any() and not test.all()]


def _folds_by_rater(
    statements: Statements, rng: np.random.Generator
) -> list[tuple[BoolArray, BoolArray]] | None:
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
