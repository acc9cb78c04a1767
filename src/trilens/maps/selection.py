"""Choosing the dimensions, the penalty, the lapse and the shares of features by the evidence.

One search serves every size: `trilens.maps.laplace` knows the evidence of a map in some dimensions
with its best penalty, for every share of lapses. Held-out answers check what was chosen
(`HeldOutScores`); they do not choose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from trilens._typing import BoolArray, FloatArray, Progress
from trilens.calibration import (
    ANSWERS_FOR_EACH_COORDINATE,
    EVIDENCE_FOR_DIMENSIONS,
    EVIDENCE_FOR_FEATURES,
)
from trilens.maps.descent import Start, fit_choices, one_blas_thread, prepare_start
from trilens.maps.features import FeaturePrior, Features, with_prior
from trilens.maps.held_out import Chances, folds_by_question, folds_by_rater, held_out
from trilens.maps.laplace import Evidence, Surface, at_most, enough_answers
from trilens.maps.likelihood import Likelihood, collect_choices, likelihood
from trilens.maps.map import Map
from trilens.maps.pairs import Length
from trilens.statements import Statements

#: Dimensions to try, upwards from 2 until the evidence stops rising.
LADDER = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40)
#: Where the penalty starts, and with features.
_FIRST_L2, _FEATURED_L2 = 1e-2, 1.0
#: The least penalty that tells dimensions apart, where one was given.
_LEAST_L2 = 1e-3
#: Where one answer in so many is still more than enough of them, they may ask for more dimensions.
_ONE_IN = 8
#: Of the fits that are checked by held-out answers.
_MOST_ITER, _TOL = 200, 2e-5
#: The least that a probability is taken for.
_LEAST = 1e-300
#: What a block explains beside the remainder, as odds: in steps of a factor, within a range.
_ODDS_STEP, _LEAST_ODDS, _MOST_ODDS = 3.0, 0.01, 300.0

#: The shares of the blocks of features; empty without.
Shares: TypeAlias = tuple[float, ...]


@dataclass(frozen=True)
class Candidate:
    """A map that was thought of: its dimensions, and the best that goes with them."""

    n_components: int
    l2: float
    lapse: float
    length: Length
    shares: Shares = ()


@dataclass(eq=False)
class HeldOutScores:
    """The held-out log-likelihood per answer of numbers of dimensions, each computed once.

    They are computed when they are first asked for: every number of dimensions with its own best
    penalty and lapse, on the same answers.
    """

    #: By the number of dimensions.
    known: dict[int, float]
    #: Other numbers, the chosen one first.
    later: tuple[Candidate, ...] = ()
    #: What `select` was given, ``rng`` as it was.
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
        assert self.statements is not None
        rng = deepcopy(self.rng)
        assert rng is not None
        most = enough_answers(self.statements.n_objects)
        part, weights = at_most(most, self.statements, self.weights, rng)
        folds = folds_by_rater(part, rng)
        if folds is None:
            folds = folds_by_question(part.triples, part.n_objects, rng)
        choices = collect_choices(part, weights, keep_rows=True)
        each = np.ones(len(part)) if weights is None else weights

        def make(f: Likelihood, candidate: Candidate, train: BoolArray) -> Chances:
            seen = f.weighing(choices.weights_of(np.where(train, each, 0.0)))
            return _fit(part.take(train), seen, candidate, self.features, rng)

        with one_blas_thread(), likelihood(choices, n_threads=self.n_threads) as f:
            while self.later and folds and found < enough:
                candidate, *rest = self.later
                chances = held_out(part, folds, partial(make, f, candidate))[:, 0]
                held = ~np.isnan(chances)
                values = np.log(np.maximum(chances, _LEAST))
                score = float((values[held] * each[held]).sum() / each[held].sum())
                self.known[candidate.n_components] = score
                found, self.later = max(found, score), tuple(rest)
        if not folds:
            self.later = ()
        return found

    def all(self) -> dict[int, float]:
        """All of them, by the number of dimensions."""
        self.best()
        return dict(sorted(self.known.items()))


def _fit(
    statements: Statements,
    f: Likelihood,
    candidate: Candidate,
    features: Features | None,
    rng: np.random.Generator,
) -> Chances:
    """Fit a candidate to some answers, from a start that these alone have made."""
    d, l2 = candidate.n_components, candidate.l2
    alpha = alpha_of(d)
    prior = None if features is None else features.prior(candidate.shares)
    f = with_prior(f.measuring(candidate.length, alpha), prior)
    start = prepare_start(statements, f, d, l2, rng)
    found = fit_choices(
        f, start.X, candidate.lapse, l2, fixed_lapse=True, max_iter=_MOST_ITER, tol=_TOL
    )
    model = Map(f.places(found.X), candidate.lapse, statements.kind, candidate.length, alpha)
    return lambda others: model.chosen(others.triples)[:, None]


@dataclass(frozen=True)
class MapSettings:
    """What was chosen."""

    n_components: int
    l2: float
    length: Length
    #: The held-out log-likelihood per answer of each number of dimensions that was tried.
    scores: HeldOutScores
    #: What the evidence says there, of very many answers about a part. None where the penalty was
    #: given: the lapse is then fitted together with the map.
    evidence: Evidence | None
    #: Of the blocks of features; empty where there are none, or where they do not help.
    shares: Shares = ()
    #: What features gain, where it was asked: the logarithm of the evidence per
    #: answer, and 0.
    gain: tuple[float, float] | None = None


def alpha_of(n_components: int) -> float:
    """The Student length's degrees of freedom, as t-STE has them."""
    return float(max(n_components - 1, 1))


def select(
    statements: Statements,
    weights: FloatArray | None,
    *,
    n_components: int | None,
    l2: float | None,
    length: Length,
    rng: np.random.Generator,
    n_threads: int | None = None,
    progress: Progress | None = None,
    features: Features | None = None,
    shares: Shares | None = None,
) -> MapSettings:
    """Choose what is not given (None), by the evidence.

    The number of dimensions rises from 2 until the evidence, with the best penalty and lapse of
    each, stops doing so. Very many answers are not needed for that, but they tell more dimensions
    apart: then the number goes on rising with an eighth of them.

    The shares of features are chosen in turn with the dimensions, in the same way. Where a map with
    features is not better than the one without, the latter is what is chosen: the same, to the last
    digit, as if there were no features.
    """
    later = HeldOutScores({}, (), statements, weights, features, deepcopy(rng), n_threads)
    few, more = enough_answers(statements.n_objects), len(statements) // _ONE_IN
    used = features if shares is None or any(shares) else None

    @contextmanager
    def search_in(most: int) -> Iterator[_Search]:
        part, own = at_most(most, statements, weights, rng)
        choices = collect_choices(part, own)
        with one_blas_thread(), likelihood(choices, length, n_threads=n_threads) as f:
            yield _Search(part, f, l2, rng, progress, used)

    with search_in(few) as search:
        d = n_components or search.climb_dimensions(min(2, statements.n_objects - 1))
        own, gain = Shares(), None
        if used is not None:
            own, d, gain = search.choose_shares(d, n_components is None, shares)
        evidence = search.evidence(d, own)
    if more > 2 * few and n_components is None:
        with search_in(more) as again:
            again.first = evidence
            most = again.climb_dimensions(d, own, down=False)
            if most != d:
                d, evidence = most, again.evidence(most, own)
            search.tried.update(again.tried)
    tried = {**search.tried, d: evidence}
    candidates = [
        Candidate(k, tried[k].l2 if l2 is None else l2, tried[k].lapse, length, own)
        for k in (d, *sorted(tried.keys() - {d}))
    ]
    scores = replace(later, later=tuple(candidates))
    told = evidence if l2 is None else None
    if told is not None and statements.kind == "closer" and not own:
        told = told.with_careless()
    return MapSettings(d, candidates[0].l2, length, scores, told, own, gain)


class _Search:
    """The evidence of numbers of dimensions and shares of features, each computed once."""

    def __init__(
        self,
        statements: Statements,
        answers: Likelihood,
        l2: float | None,
        rng: np.random.Generator,
        progress: Progress | None,
        features: Features | None,
    ) -> None:
        self._statements, self._answers, self._l2 = statements, answers, l2
        self._rng, self._progress, self._features = rng, progress, features
        self._most = min(statements.n_objects - 1, LADDER[-1])
        #: Where the search begins, if something is known.
        self.first: Evidence | None = None
        #: What is known of each number of dimensions, with the shares of the last ones asked.
        self.tried: dict[int, Evidence] = {}
        self._surfaces: dict[tuple[int, Shares], Surface] = {}
        self._found: dict[tuple[int, Shares], Evidence] = {}
        self._rough: dict[int, Start] = {}
        self._priors: dict[Shares, FeaturePrior | None] = {}

    def climb_dimensions(self, d: int, shares: Shares = (), *, down: bool = True) -> int:
        """The number of dimensions with the largest evidence, up or else down from one."""
        weight = float(self._answers.weight.sum())
        enough = (
            LADDER[-1]
            if shares
            else weight / (ANSWERS_FOR_EACH_COORDINATE * self._statements.n_objects)
        )
        rungs = [rung for rung in LADDER if rung <= max(min(self._most, enough), d)]
        k = rungs.index(d)
        best = self.roughly(d, self.first, shares)
        for step in (1, -1) if down else (1,):
            start = k
            while 0 <= k + step < len(rungs):
                new = self.roughly(rungs[k + step], best, shares, best.value)
                if abs(new.value - best.value) < self._surfaces[rungs[k + step], shares].left_open:
                    best, new = (self.evidence(rungs[i], shares) for i in (k, k + step))
                if new.value <= best.value + EVIDENCE_FOR_DIMENSIONS:
                    break
                k, best = k + step, new
            if k != start:
                break
        return rungs[k]

    def roughly(
        self, d: int, near: Evidence | None, shares: Shares = (), to_beat: float = -np.inf
    ) -> Evidence:
        """The evidence in ``d`` dimensions, near that in other ones or with other shares."""
        key = (d, shares)
        if key not in self._surfaces:
            surface = self._surface(d, shares, near)
            for other in list(self._surfaces.values())[-1:]:
                surface.learn_from(other)
            self._surfaces[key] = surface
            if near is None:
                surface.walk(surface.begin())
            else:
                surface.climb(near.lapse, to_beat)
            self._tell()
        self.tried[d] = self._surfaces[key].told()
        return self.tried[d]

    def evidence(self, d: int, shares: Shares = ()) -> Evidence:
        """All that the evidence says in ``d`` dimensions."""
        if (d, shares) not in self._found:
            self.roughly(d, self.first, shares)
            self._surfaces[d, shares].refine()
            self._found[d, shares] = self._surfaces[d, shares].told()
            self._tell()
        return self._found[d, shares]

    def choose_shares(
        self, d: int, climb: bool, given: Shares | None
    ) -> tuple[Shares, int, tuple[float, float] | None]:
        """Shares and dimensions of the largest evidence, and what they gain; none at best.

        Parameters
        ----------
        d
            The dimensions that are best without.
        climb
            Whether these may change.
        given
            Shares, where they are known.
        """
        assert self._features is not None
        without = self.roughly(d, None)
        before, self.tried = self.tried, {}
        B, near = len(self._features.blocks), without

        def value(d: int, odds: Shares) -> float:
            nonlocal near
            found = self.roughly(d, near, _shares_of(odds))
            near = found if found.value > near.value else near
            return found.value

        odds, best = (1.0 / B,) * B, d
        own = _shares_of(odds) if given is None else given
        for _ in range(2):
            if given is None:
                odds = _climb_odds(partial(value, best), odds)
                own = _shares_of(odds)
            if climb:
                self.roughly(best, near, own)
                best = self.climb_dimensions(best, own)
        found = self.roughly(best, near, own)
        if given is not None:
            return own, best, None
        if found.value <= without.value + EVIDENCE_FOR_FEATURES:
            self.tried = before
            return (), d, (0.0, 0.0)
        return own, best, ((found.value - without.value) / float(self._answers.weight.sum()), 0.0)

    def _surface(self, d: int, shares: Shares, near: Evidence | None) -> Surface:
        f = self._featured(d, shares)
        first = _FEATURED_L2 if shares else _FIRST_L2
        start = prepare_start(self._statements, f, d, first, self._rng, self._rough)
        if self._l2 is not None:
            return Surface(f, start.X, max(self._l2, _LEAST_L2), fixed_l2=True)
        return Surface(f, start.X, first if near is None else near.l2)

    def _featured(self, d: int, shares: Shares) -> Likelihood:
        f = self._answers.measuring(self._answers.length, alpha_of(d))
        if shares and shares not in self._priors:
            assert self._features is not None
            self._priors[shares] = self._features.prior(shares)
        return with_prior(f, self._priors.get(shares))

    def _tell(self) -> None:
        """Tell the progress, after the evidence in some dimensions."""
        if self._progress is not None:
            self._told += 1
            # Nobody knows how many there will be; most searches end at about five.
            self._progress(1 - 0.75**self._told)

    _told = 0


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
