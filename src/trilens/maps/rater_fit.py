"""Fitting a map together with raters' weights on its dimensions, and whether they are needed.

The logarithms of weights and sharpness are drawn from normal distributions about 0, of which the
spreads are learned (zero included), so that raters with few answers stay near the others. The
coordinates and the logarithms maximize the likelihood with these priors together; in turn with
them the spreads maximize the evidence, by MacKay's (1992) update with Laplace's method for each
rater. The penalty is ``l2`` times the mean, over raters, of the sum of squared coordinates as they
see them: weights cannot evade it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from trilens._parameters import threads_of
from trilens._typing import BoolArray, FloatArray, Progress
from trilens.calibration import ERRORS_FOR_WEIGHTS, GAIN_FOR_WEIGHTS
from trilens.maps.descent import ChoiceFit, fit_choices, minimise, prepare_start, principal_axes
from trilens.maps.features import FeaturePrior, with_prior
from trilens.maps.held_out import Chances, folds_by_question, held_out
from trilens.maps.laplace import at_most, curvature, enough_answers, maximise_evidence
from trilens.maps.likelihood import Likelihood, collect_choices, likelihood
from trilens.maps.pairs import pointing
from trilens.maps.rater_weights import RaterWeights, WeighedLikelihood, weighed_likelihood
from trilens.maps.raters import RaterGroups, RaterLapses, estimate_lapses, group_raters
from trilens.maps.selection import LADDER, MapSettings, alpha_of
from trilens.statements import Statements

if TYPE_CHECKING:
    from trilens.maps.fitting import How

#: Where the spreads start, what is as good as zero, and the most that is believed.
_START, _LEAST, _MOST = 0.3, 1e-3, 2.0
#: At most so many turns of the map and the spreads, until no spread changes by so much.
_TURNS, _STILL = 12, 0.02
#: By how much a spread may change in a turn, as a factor of its square.
_SLOWEST, _FASTEST = 0.2, 4.0
#: Iterations of a turn, and of the fit that ends it.
_FEW_ITER, _ROUGH = 40, 1e-5
#: Ways to turn the map before it gets weights: for a fold, and for all answers; fewer where
#: answers and copies of objects, times dimensions, are more than so many in all.
_FOLD_STARTS, _STARTS, _MOST_WORK = 2, 6, 800_000
#: The largest logarithm of a weight.
_FARTHEST = 20.0
#: Alternations of the map and the raters' lapses; the second changes little.
ROUNDS = 2


@dataclass(frozen=True, eq=False)
class WeighedMap:
    """A map with raters' weights."""

    #: (n, d).
    X: FloatArray
    #: (R, d + 1): the logarithms of the sharpness and of the weights.
    own: FloatArray
    #: (d + 1,): of these; 0 for what all raters share.
    spreads: FloatArray
    #: (R + 1,): of each rater, and of those who are not known.
    lapse: FloatArray
    l2: float
    n_iter: int = 0
    converged: bool = False

    @classmethod
    def start(
        cls, X: FloatArray, n_raters: int, lapse: float, l2: float, weighed: bool
    ) -> WeighedMap:
        """Raters who see alike; with ``weighed`` not only their sharpness may differ."""
        d = X.shape[1]
        # on a line a weight is a sharpness
        spreads = np.append(_START, np.full(d, _START if weighed and d > 1 else 0.0))
        return cls(X, np.zeros((n_raters, d + 1)), spreads, np.full(n_raters + 1, lapse), l2)

    @property
    def stretch(self) -> FloatArray:
        """(R + 1, d)."""
        own = np.exp(self.own[:, :1] + self.own[:, 1:])
        return np.vstack([own, np.ones(own.shape[1])])

    @property
    def standard(self) -> FloatArray:
        """(R, d + 1): the logarithms in units of their spreads."""
        still = np.zeros_like(self.own)
        return np.divide(self.own, self.spreads, out=still, where=self.spreads > 0)

    def bent(self, H: FloatArray) -> FloatArray:
        """(R, d + 1, d + 1): how the loss bends in these, by the information of log stretches."""
        d = H.shape[1]
        A = np.column_stack([np.ones(d), np.eye(d)]) * self.spreads
        return np.asarray(A.T @ H @ A + np.eye(d + 1))


def fit_weights(f: WeighedLikelihood, at: WeighedMap) -> WeighedMap:
    """The map, the weights and the spreads, with the lapses and the penalty as they are."""
    for _ in range(_TURNS):
        at = _fit_given_spreads(f, at, _FEW_ITER, _ROUGH)
        spreads = _learn_spreads(f, at)
        moved = np.abs(spreads - at.spreads).max()
        at = replace(at, spreads=spreads)
        if moved < _STILL:
            break
    return at


def best_weights(
    f: WeighedLikelihood, X: FloatArray, lapse: float, l2: float, starts: int
) -> WeighedMap:
    """The fit with the largest evidence, from a map whose axes mean nothing yet.

    Raters weigh certain axes, and a fit does not always find them from afar: it starts from the
    map turned in several ways.
    """
    d = X.shape[1]
    work = (len(f.choices) + len(f.copies.object)) * d
    found, best = None, -np.inf
    for k in range(max(1, min(starts, _MOST_WORK // work)) if d > 1 else 1):
        axes = np.linalg.qr(np.random.default_rng([d, k]).standard_normal((d, d)))[0]
        at = fit_weights(f, WeighedMap.start(X @ axes, f.copies.n_raters, lapse, l2, True))
        value = _evidence(f, at)
        if found is None or value > best:
            found, best = at, value
    assert found is not None
    return found


def _evidence(f: WeighedLikelihood, at: WeighedMap) -> float:
    """The likelihood with the raters' logarithms and the map integrated out.

    By Laplace's method, for either as if the other were known.
    """
    seen, scale = f.levelled(at.stretch)
    X, lapse = at.X * scale, at.lapse[f.rater]
    value = -seen(X, lapse)[0] - at.l2 * float((X * X).sum()) - 0.5 * float((at.standard**2).sum())
    value -= 0.5 * float(np.linalg.slogdet(at.bent(seen.of_raters(X, lapse)))[1].sum())
    if at.l2 > 0:
        bent = curvature(seen.of_places(), seen.prior, seen.places(X), lapse, at.l2)
        value -= 0.5 * (bent.log_det - X.size * np.log(2 * at.l2))
    return value


def _fit_given_spreads(
    f: WeighedLikelihood, at: WeighedMap, max_iter: int, tol: float
) -> WeighedMap:
    (n, d), R, l2 = at.X.shape, len(at.own), at.l2
    lapse, spreads, cut = at.lapse[f.rater], at.spreads, at.X.size
    nobody = np.ones(d)

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        X, z = x[:cut].reshape(n, d), x[cut:].reshape(R, d + 1)
        own = z * spreads
        stretch = np.exp(np.clip(own[:, :1] + own[:, 1:], -_FARTHEST, _FARTHEST))
        value, in_map, in_raters = f.slopes(X, np.vstack([stretch, nobody]), lapse)
        squares, breadth = stretch**2, (X * X).sum(axis=0)
        mean = squares.mean(axis=0)
        value += l2 * float((breadth * mean).sum()) + 0.5 * float((z * z).sum())
        in_raters = in_raters + (2 * l2 / R) * squares * breadth
        slope = z + spreads * np.column_stack([in_raters.sum(axis=1), in_raters])
        # what all raters have in common is the map's
        slope -= slope.mean(axis=0)
        return value, np.append(in_map + 2 * l2 * mean * X, slope)

    found = minimise(loss, np.append(at.X, at.standard), max_iter, tol)
    return replace(
        at,
        X=found.X[:cut].reshape(n, d),
        own=found.X[cut:].reshape(R, d + 1) * spreads,
        n_iter=at.n_iter + found.n_iter,
        converged=found.converged,
    )


def _learn_spreads(f: WeighedLikelihood, at: WeighedMap) -> FloatArray:
    """The spreads of larger evidence: those of the logarithms, by how far these are known."""
    spreads = at.spreads
    H = f.stretched(at.stretch).of_raters(at.X, at.lapse[f.rater])
    variance = np.linalg.inv(at.bent(H)).diagonal(axis1=1, axis2=2)
    # one rater's worth is what they have in common
    known = (len(at.own) - 1) * np.maximum(1 - variance.mean(axis=0), 1e-2)
    factor = np.clip((at.standard**2).sum(axis=0) / known, _SLOWEST, _FASTEST)
    learnt: FloatArray = np.where(spreads > 0, np.clip(spreads * factor**0.5, _LEAST, _MOST), 0.0)
    return learnt


# ---- a map of all answers ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FittedPlaces:
    """A map of all answers."""

    #: With the evidence about the lapse, where it was asked.
    settings: MapSettings
    #: Places; with weights centered, the widest axis first.
    fit: ChoiceFit
    #: That all raters would share.
    lapse: float
    #: Each rater's own, where these were wanted.
    lapses: RaterLapses | None
    log_likelihood: float
    #: Of raters who see the map differently.
    weights: RaterWeights | None = None


def fit_raters(
    statements: Statements,
    weights: FloatArray | None,
    groups: RaterGroups,
    settings: MapSettings,
    start: FloatArray | None,
    lapse: float,
    how: How,
    prior: FeaturePrior | None,
    rng: np.random.Generator,
) -> FittedPlaces:
    """A map of all answers, from coordinates to start from if there are any.

    The lapse and the penalty, as far as they are not given, maximize the evidence with the weights
    as they are, in turn with these; then each rater gets a lapse of their own.
    """
    d, R, n_threads = settings.n_components, len(groups), threads_of(how.n_jobs)
    who = np.where(groups.of < 0, R, groups.of)
    evidence, X = None, start
    if X is None:
        choices = collect_choices(statements, weights)
        with likelihood(choices, settings.length, alpha_of(d), n_threads) as one:
            featured = with_prior(one, prior)
            X = _shared_map(statements, featured, d, settings.l2, lapse, rng)
    with weighed_likelihood(
        statements, weights, who, R, settings.length, alpha_of(d), n_threads, prior
    ) as f:
        at = best_weights(f, f.standard(X), lapse, settings.l2, _STARTS)
        for _ in range(2 if isinstance(how.lapses, str) else 0):
            seen, scale = f.levelled(at.stretch)
            if how.l2 is None:
                evidence = maximise_evidence(seen, at.X * scale, at.l2)
                lapse, l2 = evidence.lapse, evidence.l2
            else:
                found = fit_choices(seen, at.X * scale, lapse, at.l2, max_iter=100)
                lapse, l2 = float(found.lapse[0]), at.l2
            at = replace(at, lapse=np.full(R + 1, lapse), l2=l2)
            at = fit_weights(f, at)
        lapses = None
        for _ in range(ROUNDS if how.lapses == "raters" else 0):
            chance = f.stretched(at.stretch).chances(at.X)[0]
            rater = np.where(f.rater == R, -1, f.rater)
            lapses = estimate_lapses(chance, rater, f.weight, groups.names, f.n_sides)
            at = replace(at, lapse=np.append(lapses.mean, lapse))
            at = _fit_given_spreads(f, at, _FEW_ITER, _ROUGH)
        at = _fit_given_spreads(f, at, how.max_iter, how.tol)
        value = -f.stretched(at.stretch)(at.X, at.lapse[f.rater])[0]
        at = replace(at, X=f.places(at.X))
    found, own = _arranged(at, groups)
    settings = replace(settings, l2=at.l2, evidence=evidence)
    return FittedPlaces(settings, found, lapse, lapses, value, own)


def _arranged(at: WeighedMap, groups: RaterGroups) -> tuple[ChoiceFit, RaterWeights]:
    """Centered coordinates, the widest axis first; each points to where it is largest."""
    sharpness, weights = at.own[:, 0], at.own[:, 1:]
    shared, sharper = weights.mean(axis=0), sharpness.mean()
    spreads = np.where(at.spreads > _LEAST, at.spreads, 0.0)
    X = (at.X - at.X.mean(axis=0)) * np.exp(shared + sharper)
    axes = np.argsort(-X.var(axis=0), kind="stable")
    X = X[:, axes] * pointing(X[:, axes])
    raters = RaterWeights(
        groups.names,
        np.exp(weights - shared)[:, axes],
        np.exp(sharpness - sharper),
        spreads[1:][axes],
        float(spreads[0]),
        at.lapse[:-1],
    )
    return ChoiceFit(X, at.lapse, np.nan, at.n_iter, at.converged), raters


def _shared_map(
    statements: Statements,
    one: Likelihood,
    d: int,
    l2: float,
    lapse: float,
    rng: np.random.Generator,
) -> FloatArray:
    """The places without weights, where the map with weights starts."""
    start = prepare_start(statements, one, d, l2, rng)
    found = fit_choices(one, start.X, lapse, l2, fixed_lapse=True, max_iter=100, tol=_ROUGH)
    return principal_axes(one.places(found.X))


# ---- whether raters weigh differently ----------------------------------------------------------


@dataclass(frozen=True)
class WeightsChoice:
    """What held-out answers say about weights."""

    #: The dimensions that are best with weights.
    n_components: int
    #: The log-likelihood per held-out answer that the weights gain over raters who differ in
    #: sharpness alone, and its standard error.
    gain: float
    error: float
    #: The log-likelihood per held-out answer for each number of dimensions, with weights.
    scores: dict[int, float]

    @property
    def asked_for(self) -> bool:
        """Whether the answers ask for weights."""
        return self.gain > max(ERRORS_FOR_WEIGHTS * self.error, GAIN_FOR_WEIGHTS)


def choose_weights(
    statements: Statements,
    weights: FloatArray | None,
    settings: MapSettings,
    lapse: float,
    how: How,
    prior: FeaturePrior | None,
    rng: np.random.Generator,
    progress: Progress | None,
) -> WeightsChoice:
    """How many dimensions a map with weights has, and what it gains.

    Parameters
    ----------
    settings, lapse
        Of the map without.
    """
    n_components, n_threads = how.n_components, threads_of(how.n_jobs)
    statements, weights = at_most(enough_answers(statements.n_objects), statements, weights, rng)
    groups = group_raters(statements)
    if groups is None:
        return WeightsChoice(n_components or settings.n_components, 0.0, 0.0, {})
    R, first = len(groups), settings.n_components
    who = np.where(groups.of < 0, R, groups.of)
    rungs = [d for d in LADDER if d <= statements.n_objects - 1]
    with (
        weighed_likelihood(
            statements, weights, who, R, settings.length, 1.0, n_threads, prior
        ) as f,
        likelihood(
            collect_choices(statements, weights, keep_rows=True), settings.length, 1.0, n_threads
        ) as one,
    ):
        held = _HeldOut(statements, weights, f, with_prior(one, prior), settings, lapse, rng)
        if not held.folds:
            return WeightsChoice(n_components or first, 0.0, 0.0, {})
        best = n_components or first
        if n_components is None:
            best = _climb(held, rungs, first, progress)
        alone = max(sorted({best, first}), key=lambda d: held.score(d, weighed=False))
        gap = held.at(best, True) - held.at(alone, False)
        scores = {d: held.score(d) for d, weighed in sorted(held.values) if weighed}
        return WeightsChoice(best, *held.mean(gap), scores)


def _climb(held: _HeldOut, rungs: list[int], first: int, progress: Progress | None) -> int:
    """The best number of dimensions near the first one.

    Upwards two rungs at a time where one does not help: a second view of the objects needs as
    many dimensions as the first.
    """
    k = rungs.index(first) if first in rungs else 0
    for steps in ((1, 2), (-1,)):
        start, climbing = k, True
        while climbing:
            climbing = False
            for new in (k + step for step in steps):
                if not 0 <= new < len(rungs) or rungs[new] == 1:
                    continue
                better = held.score(rungs[new]) > held.score(rungs[k])
                if progress is not None:
                    progress(1 - 0.7 ** len(held.values))
                if better:
                    k, climbing = new, True
                    break
        if k != start:
            break
    return rungs[k]


class _HeldOut:
    """Held-out log-likelihoods of maps whose raters differ, each computed once."""

    def __init__(
        self,
        statements: Statements,
        weights: FloatArray | None,
        f: WeighedLikelihood,
        one: Likelihood,
        settings: MapSettings,
        lapse: float,
        rng: np.random.Generator,
    ) -> None:
        self._statements, self._f, self._one = statements, f, one
        self._settings, self._lapse, self._rng = settings, lapse, rng
        self._each = np.ones(len(statements)) if weights is None else weights
        self.folds = folds_by_question(statements.triples, statements.n_objects, rng)
        self.values: dict[tuple[int, bool], FloatArray] = {}
        self._starts: dict[tuple[int, bytes], FloatArray] = {}

    def score(self, d: int, *, weighed: bool = True) -> float:
        """The mean log-likelihood of a held-out answer."""
        return self.mean(self.at(d, weighed))[0]

    def mean(self, values: FloatArray) -> tuple[float, float]:
        """The mean over held-out answers and its standard error."""
        held = ~np.isnan(values)
        values, weight = values[held], self._each[held]
        total = float(weight.sum())
        if total == 0:
            return 0.0, 0.0
        mean = float((values * weight).sum()) / total
        return mean, float(np.sqrt((weight * (values - mean) ** 2).sum())) / total

    def at(self, d: int, weighed: bool) -> FloatArray:
        """The log-likelihood of every answer; NaN where it is never held out."""
        if (d, weighed) not in self.values:
            chances = held_out(self._statements, self.folds, partial(self._fit, d, weighed))[:, 0]
            self.values[d, weighed] = np.log(np.maximum(chances, 1e-300))
        return self.values[d, weighed]

    def _fit(self, d: int, weighed: bool, train: BoolArray) -> Chances:
        f = self._f.measuring(self._settings.length, alpha_of(d))
        used = np.where(train, self._each, 0.0)
        X, l2 = f.standard(self._start(d, train, used)), self._settings.l2
        seen = f.weighing(f.choices.weights_of(used))
        if weighed:
            at = best_weights(seen, X, self._lapse, l2, _FOLD_STARTS)
        else:
            alike = WeighedMap.start(X, f.copies.n_raters, self._lapse, l2, False)
            at = fit_weights(seen, alike)
        chance = f.stretched(at.stretch).chances(at.X)[0][f.choices.row]
        chance = (1 - self._lapse) * chance + self._lapse / f.n_sides
        return lambda _: chance[~train, None]

    def _start(self, d: int, train: BoolArray, used: FloatArray) -> FloatArray:
        """The map that all raters share, by the answers of a fold's training."""
        key = d, train.tobytes()
        if key not in self._starts:
            one = self._one.measuring(self._settings.length, alpha_of(d))
            one = one.weighing(self._one.choices.weights_of(used))
            some = self._statements.take(np.flatnonzero(train))
            found = _shared_map(some, one, d, self._settings.l2, self._lapse, self._rng)
            self._starts[key] = found
        return self._starts[key]
