"""Choosing the dimensions, the penalty and the length of a choice map by held-out answers.

A point of the search is judged by the mean log-likelihood of answers that its fit has not
seen. Every fold keeps a chain of its own, from a start that its own answers alone have made: a
fit that starts where all answers led stays near what the held-out ones said, and guesses seem
to be predicted. The fit for the next penalty starts from the same fold's fit for the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray, Progress
from trilens.maps.features import FeaturePrior, Features, with_prior
from trilens.maps.fit import Start, fit_choices, one_blas_thread, prepare_start
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
from trilens.maps.map import Map
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
#: With features: where the dimensions and the penalty start.
_FEATURED_DIMENSIONS, _FEATURED_L2 = 5, 1.0
#: What a block explains beside the remainder, as odds: in steps of a factor, within a range.
_ODDS_STEP, _LEAST_ODDS, _MOST_ODDS = 3.0, 0.01, 300.0
#: From so many answers on one fold chooses among maps with features.
_ONE_FOLD_FROM_FEATURED = 5000
#: The held-out log-likelihood per answer that more dimensions must gain: features hold even very
#: many together, and each costs time.
_WORTH = 1e-3
#: So many standard errors of the gain by features need no further look at the map without; fewer
#: than these are no gain.
_CLEAR_GAIN, _LEAST_GAIN = 4.0, 1.0
#: The logarithm of the evidence that features must gain: they have a parameter more.
_LEAST_EVIDENCE = 2.0

#: The shares of the blocks of features; empty without.
Shares: TypeAlias = tuple[float, ...]


@dataclass(eq=False)
class HeldOutScores:
    """The held-out log-likelihood per answer of numbers of dimensions, each computed once.

    Where they have decided they are known; where the evidence has, they are computed when they
    are first asked for.

    Attributes
    ----------
    known : dict
        By the number of dimensions.
    later : tuple of int
        Other numbers, the chosen one first.
    chosen : Candidate or None
    statements, weights, features, rng, n_threads
        What `select` was given, ``rng`` as it was.
    """

    known: dict[int, float]
    later: tuple[int, ...] = ()
    chosen: Candidate | None = None
    statements: Statements | None = None
    weights: FloatArray | None = None
    features: Features | None = None
    rng: np.random.Generator | None = None
    n_threads: int | None = None

    def best(self, enough: float = np.inf) -> float:
        """The largest one, or the first that is large enough; -inf where there is none."""
        found = max(self.known.values(), default=-np.inf)
        if found >= enough or not self.later:
            return found
        assert self.chosen is not None
        assert self.statements is not None
        rng = deepcopy(self.rng)
        assert rng is not None
        part = at_most(
            enough_answers(self.statements.n_objects), self.statements, self.weights, rng
        )
        with (
            one_blas_thread(),
            _prepare(*part, rng, self.n_threads, None, self.features) as held_out,
        ):
            while self.later and held_out.folds and found < enough:
                d, *rest = self.later
                self.known[d] = held_out.score(replace(self.chosen, n_components=d))
                found, self.later = max(found, self.known[d]), tuple(rest)
            if not held_out.folds:
                self.later = ()
        return found

    def all(self) -> dict[int, float]:
        """All of them, by the number of dimensions."""
        self.best()
        return dict(sorted(self.known.items()))


@dataclass(frozen=True)
class MapSettings:
    """What was chosen.

    Attributes
    ----------
    n_components, l2, length
    scores : HeldOutScores
        The held-out log-likelihood per answer of each number of dimensions that was tried,
        with the penalty and the length that were chosen or, where a number was only tried
        with another penalty, the best of those.
    evidence : Evidence or None
        What the evidence says there, where it was asked, and asked about all answers.
    shares : tuple of float
        Of the blocks of features; empty where there are none, or where they do not help.
    gain : (float, float) or None
        What features gain, where it was asked: the log-likelihood per held-out answer and its
        standard error, or where the evidence decides, its logarithm per answer and 0.
    start : Start or None
        The map of a part of the answers, where the evidence was asked about that.
    """

    n_components: int
    l2: float
    length: Length
    scores: HeldOutScores
    evidence: Evidence | None
    shares: tuple[float, ...] = ()
    gain: tuple[float, float] | None = None
    start: Start | None = None


@dataclass(frozen=True)
class Candidate:
    """A point of the search."""

    n_components: int
    l2: float
    length: Length
    shares: tuple[float, ...] = ()


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
    features: Features | None = None,
    shares: Shares | None = None,
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

    The shares of features are chosen in turn with the penalty and the dimensions, in the same way.
    Where a map with features is not better than the one without, the latter is what is chosen: the
    same, to the last digit, as if there were no features.
    """
    few = enough_answers(statements.n_objects)
    later = HeldOutScores({}, (), None, statements, weights, features, deepcopy(rng), n_threads)
    given = _Given(n_components, l2, length, n_threads, progress, later)
    if features is not None and shares != (0.0,) * len(features.blocks):
        chosen = _select_featured(statements, weights, given, features, shares, rng)
    else:
        chosen = _select(*at_most(few, statements, weights, rng), given, rng)
    more = len(statements) // _ONE_IN
    if more > 2 * few and n_components is None:
        part = at_most(more, statements, weights, rng)
        with _prepare(*part, rng, n_threads, None, features) as held_out:
            start = Candidate(chosen.n_components, chosen.l2, chosen.length, chosen.shares)
            point = _simplest(held_out, _climb_dimensions(held_out, start), start.n_components)
            scores = HeldOutScores(held_out.by_dimension(point))
        chosen = replace(chosen, n_components=point.n_components, scores=scores)
    if len(statements) <= few or chosen.evidence is None:
        return chosen
    told, same = chosen.evidence, chosen.evidence.X.shape[1] == chosen.n_components
    return replace(chosen, evidence=None, start=Start(told.X, told.lapse) if same else None)


@dataclass(frozen=True)
class _Given:
    """What need not be chosen, and how to go about the rest."""

    n_components: int | None
    l2: float | None
    length: Length | None
    n_threads: int | None
    progress: Progress | None
    later: HeldOutScores


def _select(
    part: Statements,
    part_weights: FloatArray | None,
    given: _Given,
    rng: np.random.Generator,
) -> MapSettings:
    n_components, l2, length = given.n_components, given.l2, given.length
    with _prepare(part, part_weights, rng, given.n_threads, given.progress) as held_out:
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
            other = replace(point, length="student")
            if l2 is None:
                other = _choose_l2(held_out, other, 10.0**0.5)
            if held_out.score(other) > held_out.score(point):
                point = other
        evidence = held_out.evidence(point) if l2 is None else None
        scores = held_out.scores(point, given.later if evidence is not None else None)
        return MapSettings(point.n_components, point.l2, point.length, scores, evidence)


# ---- with features ------------------------------------------------------------------------------


def _select_featured(
    statements: Statements,
    weights: FloatArray | None,
    given: _Given,
    features: Features,
    shares: Shares | None,
    rng: np.random.Generator,
) -> MapSettings:
    """What `_select` chooses, or the same with shares of features where these help."""
    own = deepcopy(rng)  # what the map without draws is drawn again
    few = enough_answers(statements.n_objects)

    def plain() -> MapSettings:
        return _select(*at_most(few, statements, weights, rng), given, rng)

    d, n, found = given.n_components, statements.n_objects, None
    first = min(_FEATURED_DIMENSIONS, n - 1) if d is None else d
    without = None
    if given.l2 is None and is_affordable(first * n, len(statements)):
        without = plain()
    part = at_most(few, statements, weights, own)
    with _prepare(*part, own, given.n_threads, given.progress, features) as held_out:
        if without is not None and without.evidence is not None and without.length == "distance":
            return _by_evidence(held_out, without, given, shares)
        if not held_out.folds:
            return plain() if without is None else without
        if len(held_out.choices) >= _ONE_FOLD_FROM_FEATURED:
            held_out.folds = held_out.folds[:1]
        found = _by_held_out(held_out, first, given, shares)
        if shares is None:
            gain = held_out.difference(found, replace(found, shares=()))
            for factor in (0.1, 10.0) if given.l2 is None else ():
                other = replace(found, shares=(), l2=found.l2 * factor)
                gain = min(gain, held_out.difference(found, other))
            if gain[0] <= _CLEAR_GAIN * gain[1]:
                without = plain() if without is None else without
                best = Candidate(without.n_components, without.l2, without.length)
                gain = min(gain, held_out.difference(found, best))
            if gain[0] <= _LEAST_GAIN * gain[1]:
                assert without is not None
                return replace(without, gain=gain)
        else:
            gain = None
        scores = held_out.scores(found)
    return MapSettings(found.n_components, found.l2, found.length, scores, None, found.shares, gain)


def _by_evidence(
    held_out: _HeldOutScores, without: MapSettings, given: _Given, shares: Shares | None
) -> MapSettings:
    """Shares, dimensions and penalty of the largest evidence; those without features at best."""
    assert without.evidence is not None
    assert held_out.features is not None
    near, known = without.evidence, dict[tuple[int, Shares], Evidence | None]()

    def at(d: int, own: Shares) -> Evidence | None:
        if (d, own) not in known:
            known[d, own] = held_out.rough_evidence(d, near, own)
        return known[d, own]

    def value(d: int, own: Shares) -> float:
        found = at(d, own)
        return -np.inf if found is None else found.value

    def of_odds(d: int, odds: Shares) -> float:
        return value(d, _shares_of(odds))

    def of_dimensions(own: Shares, d: int) -> float:
        return value(d, own)

    d = without.n_components
    base = max(value(d, ()), near.value)
    odds = (1.0 / len(held_out.features.blocks),) * len(held_out.features.blocks)
    for _ in range(2):
        if shares is None:
            odds = _climb_odds(partial(of_odds, d), odds)
        own = _shares_of(odds) if shares is None else shares
        if not any(own):
            break
        if given.n_components is None:
            d = _climb(partial(of_dimensions, own), d, held_out.most_dimensions)
    best = at(d, own) if any(own) else None
    if best is None or (shares is None and best.value <= base + _LEAST_EVIDENCE):
        return replace(without, gain=(0.0, 0.0))
    point = Candidate(d, best.l2, "distance", own)
    full = held_out.evidence(point)
    assert full is not None
    gain = (best.value - base) / float(held_out.choices.weight.sum())
    point = replace(point, l2=full.l2)
    scores = held_out.scores(point, given.later)
    return MapSettings(d, full.l2, "distance", scores, full, own, (gain, 0.0))


def _by_held_out(
    held_out: _HeldOutScores, d: int, given: _Given, shares: Shares | None
) -> Candidate:
    """Shares, dimensions and penalty of the largest held-out likelihood."""
    assert held_out.features is not None
    B = len(held_out.features.blocks)
    odds = (1.0 / B,) * B
    point = Candidate(
        d,
        _FEATURED_L2 if given.l2 is None else given.l2,
        given.length or "distance",
        _shares_of(odds) if shares is None else shares,
    )

    def score(at: Candidate, odds: Shares) -> float:
        return held_out.score(replace(at, shares=_shares_of(odds)))

    for step in (10.0, 10.0**0.5):
        if given.l2 is None:
            point = _climb_l2(held_out, point, step)
        if shares is None:
            odds = _climb_odds(partial(score, point), odds)
            point = replace(point, shares=_shares_of(odds))
        more = given.n_components is None and step == 10.0
        while more:
            rungs = [d for d in LADDER if point.n_components < d <= held_out.most_dimensions]
            wider = replace(point, n_components=rungs[min(1, len(rungs) - 1)]) if rungs else point
            more = held_out.score(wider) > held_out.score(point) + _WORTH
            point = wider if more else point
    return point


def _climb_odds(value: Callable[[Shares], float], odds: Shares) -> Shares:
    """The best odds of the blocks near those given, block by block in steps of a factor."""
    best = value(odds)
    for b in range(len(odds)):
        for factor in (1 / _ODDS_STEP, _ODDS_STEP):
            start = odds
            while _LEAST_ODDS <= odds[b] * factor <= _MOST_ODDS:
                new = (*odds[:b], odds[b] * factor, *odds[b + 1 :])
                if value(new) <= best:
                    break
                odds, best = new, value(new)
            if odds != start:
                break
        # a block that says nothing is left out, if another one says something
        none = (*odds[:b], 0.0, *odds[b + 1 :])
        if any(none) and value(none) >= best:
            odds, best = none, value(none)
    return odds


def _shares_of(odds: Shares) -> Shares:
    """The shares of blocks whose parts, beside 1 for the remainder, are these."""
    total = 1.0 + sum(odds)
    return tuple(round(part / total, 4) for part in odds)


def _climb(value: Callable[[int], float], d: int, most: int) -> int:
    """The number of dimensions near the first with the largest value."""
    rungs = [rung for rung in LADDER if rung <= most]
    k = rungs.index(d)
    for step in (1, -1):
        start = k
        while 0 <= k + step < len(rungs) and value(rungs[k + step]) > value(rungs[k]):
            k += step
        if k != start:
            break
    return rungs[k]


# ---- the search ---------------------------------------------------------------------------------


def _choose_l2(held_out: _HeldOutScores, point: Candidate, step: float) -> Candidate:
    evidence = held_out.evidence(point)
    if evidence is None:
        return _climb_l2(held_out, point, step)
    return replace(point, l2=evidence.l2)


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
            new = held_out.rough_evidence(rungs[k + step], at, point.shares, at.value)
            if new is None:
                return replace(point, n_components=rungs[k], l2=at.l2), False
            if new.value <= at.value:
                break
            k, at = k + step, new
        if k != start:
            break
    return replace(point, n_components=rungs[k], l2=at.l2), True


def _climb_l2(held_out: _HeldOutScores, point: Candidate, step: float) -> Candidate:
    """The best penalty near the one given, in steps of a factor."""

    def times(at: Candidate, factor: float) -> Candidate:
        return replace(at, l2=at.l2 * factor)

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
            other = replace(point, n_components=rungs[new])
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
        simpler = replace(best, n_components=d)
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
    features: Features | None = None
    asked: set[int] = field(default_factory=set)
    _values: dict[Candidate, FloatArray] = field(default_factory=dict)
    _starts: dict[tuple[int, Shares], Start] = field(default_factory=dict)
    _fold_starts: dict[tuple[int, bool, int], Start] = field(default_factory=dict)
    _last: dict[tuple[int, Length, bool, int], Start] = field(default_factory=dict)
    _surfaces: dict[tuple[int, Length, Shares], Surface] = field(default_factory=dict)
    _evidence: dict[tuple[int, Length, Shares], Evidence] = field(default_factory=dict)
    _priors: dict[Shares, FeaturePrior | None] = field(default_factory=dict)
    _told: int = 0

    def evidence(self, point: Candidate, *, roughly: bool = False) -> Evidence | None:
        """What the evidence says in the dimensions of a point; None where it is too dear."""
        d, key = point.n_components, (point.n_components, point.length, point.shares)
        if not is_affordable(d * self.choices.n_objects, len(self.choices)):
            return None
        f, X = self._measured(d, point.length, point.shares), self._start(d, point.shares).X
        if key not in self._surfaces:
            self._surfaces[key] = surface_of(f, X)
        self._tell()
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

    def rough_evidence(
        self, d: int, near: Evidence, shares: Shares = (), to_beat: float = -np.inf
    ) -> Evidence | None:
        """The evidence in ``d`` dimensions near that in other ones; None where it is too dear."""
        self.asked.add(d)
        if not is_affordable(d * self.choices.n_objects, len(self.choices)):
            return None
        f = self._measured(d, "distance", shares)
        X = self._start(d, shares).X
        self._tell()
        return maximise_evidence(f, X, near.l2, near=near.lapse, to_beat=to_beat)

    def scores(self, chosen: Candidate, later: HeldOutScores | None = None) -> HeldOutScores:
        """The score of every number of dimensions that was tried, perhaps later."""
        if later is None or self._values:
            return HeldOutScores(self.by_dimension(chosen))
        others = sorted(self.asked - {chosen.n_components})
        dimensions = (chosen.n_components, *others) if self.folds else ()
        return replace(later, later=dimensions, chosen=chosen)

    def by_dimension(self, chosen: Candidate) -> dict[int, float]:
        """The score of every number of dimensions that was tried."""
        if not self.folds:
            return {}
        self.score(chosen)
        for d in self.asked:
            self.score(replace(chosen, n_components=d))
        found: dict[int, float] = {}
        featured = bool(chosen.shares)
        for d in sorted({p.n_components for p in self._values}):
            same = replace(chosen, n_components=d)
            points = [same] if same in self._values else [*self._values]
            alike = [p for p in points if p.n_components == d and bool(p.shares) == featured]
            if alike:
                found[d] = max(self.score(p) for p in alike)
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
            self._tell()
        return self._values[point]

    def _tell(self) -> None:
        """Tell the progress, after a point of the search or the evidence in some dimensions."""
        self._told += 1
        if self.progress is not None:
            # Nobody knows how many points there will be; most searches end at about ten.
            self.progress(1 - 0.85**self._told)

    def _fit(self, point: Candidate) -> FloatArray:
        d, alpha = point.n_components, alpha_of(point.n_components)
        measured = self._measured(d, point.length, point.shares)
        values = np.zeros(len(self.choices))
        for k, (train, test) in enumerate(self.folds):
            f = measured.weighing(np.where(train, self.choices.weight, 0.0))
            key = (d, point.length, bool(point.shares), k)
            start = self._last.get(key) or self._fold_start(d, k, point.shares)
            found = fit_choices(
                f,
                f.standard(start.X),
                start.lapse,
                point.l2,
                max_iter=_MOST_ITER,
                tol=_TOL,
            )
            self._last[key] = last = Start(f.places(found.X), float(found.lapse[0]))
            model = Map(last.X, last.lapse, self.choices.kind, point.length, alpha)
            values[test] = np.log(model.chosen(self.choices.triples[test]))
        return values[self._held]

    def _fold_start(self, d: int, k: int, shares: Shares = ()) -> Start:
        """Places to start from, for one of the shares as for another."""
        key = (d, bool(shares), k)
        if key not in self._fold_starts:
            train, _ = self.folds[k]
            assert self.choices.row is not None
            rows = np.flatnonzero(train[self.choices.row])
            f = self._featured(shares).weighing(np.where(train, self.choices.weight, 0.0))
            l2 = _FEATURED_L2 if shares else _FIRST_L2
            start = prepare_start(self.statements.take(rows), f, d, l2, self.rng)
            self._fold_starts[key] = Start(f.places(start.X), start.lapse)
        return self._fold_starts[key]

    def _start(self, d: int, shares: Shares) -> Start:
        key = (d, shares)
        if key not in self._starts:
            l2 = _FEATURED_L2 if shares else _FIRST_L2
            f = self._featured(shares)
            self._starts[key] = prepare_start(self.statements, f, d, l2, self.rng)
        return self._starts[key]

    def _measured(self, d: int, length: Length, shares: Shares) -> Likelihood:
        return self._featured(shares).measuring(length, alpha_of(d))

    def _featured(self, shares: Shares) -> Likelihood:
        if shares and shares not in self._priors:
            assert self.features is not None
            self._priors[shares] = self.features.prior(shares)
        return with_prior(self.likelihood, self._priors.get(shares))


@contextmanager
def _prepare(
    statements: Statements,
    weights: FloatArray | None,
    rng: np.random.Generator,
    n_threads: int | None,
    progress: Progress | None,
    features: Features | None = None,
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
        yield _HeldOutScores(statements, choices, f, folds, rng, progress, most, features)


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
