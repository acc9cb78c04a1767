"""The lapse and the penalty by the evidence, and how far the answers tell, by Laplace's method.

A map with many coordinates follows its answers also where they are wrong, and so takes some of
the lapses for attentive answers: the lapse that maximises the likelihood together with the map is
too small. The evidence is the likelihood with the coordinates integrated out, here by Laplace's
method about the best map for each share L and penalty l2,

    log E(L, l2) = -loss(L, l2) - log det H / 2 + n d log(2 l2) / 2,

H being the Fisher information of the coordinates plus the penalty's curvature. Its maximum is
nearly unbiased, and the shares whose evidence is within 1.92 of it are a 95 % interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from trilens._typing import FloatArray
from trilens.maps.features import FeaturePrior, with_prior
from trilens.maps.fit import (
    ATTENTIVE,
    LAPSED,
    LEAST_BENT,
    START_LAPSE,
    Preconditioner,
    descend,
    fit_choices,
    one_blas_thread,
    penalised,
)
from trilens.maps.likelihood import Likelihood, collect_choices, likelihood
from trilens.maps.map import Map
from trilens.maps.pairs import Path
from trilens.maps.rater_weights import RaterWeights, weighed_likelihood
from trilens.statements import Statements

#: Coordinates and different answers up to which the evidence is cheap.
MOST_COORDINATES, MOST_ANSWERS = 1000, 50_000
#: Answers per coordinate that make a part of the statements worth looking at.
_ENOUGH = 8
#: Half the 95 % quantile of chi-square with one degree of freedom.
_DROP = 1.92
#: Where the evidence has fallen by so many times the drop, larger shares are not tried.
_FAR = 4.0
_COARSE = (1e-4, 0.03, 0.1, 0.25, 0.45, 0.65, 0.85, 0.98)
_STEP = 10.0**0.5
#: How far a map may be from the best one for a share, in log-likelihood.
_NEARLY, _MOST_STEPS = 0.02, 25
#: Turns of the search for the top; shares closer than this part of half the interval are one.
_TURNS, _CLOSE = 3, 0.1
#: By how much the evidence may rise for each coordinate with another penalty: fifty times less
#: or more is 2, half the logarithm.
_PER_COORDINATE = 2.0
#: Below, most answers are certain and say nothing more about the coordinates: Laplace's method
#: takes a region of maps that are all as good for a hill. The fewer answers there are for each
#: coordinate, the sooner.
_LEAST_L2, _LEAST_L2_FEW, _MOST_L2 = 1e-3, 0.03, 1e2
#: Stands for no penalty, where the place of an object that nobody was asked about is unknown.
_NO_L2 = 1e-6
#: The evidence may fall by so many times more for each coordinate per answer: where answers
#: are few for the coordinates the share varies more than Laplace's method says (measured).
_FEW = 20.0


@dataclass(frozen=True)
class Evidence:
    """What the evidence says.

    Attributes
    ----------
    lapse, l2 : float
        Where it is largest.
    interval : (float, float)
        Of the share, at 95 %.
    X : (n, d) float64
        The best map there.
    value : float
        The evidence; maps in different dimensions can be compared by it.
    """

    lapse: float
    l2: float
    interval: tuple[float, float]
    X: FloatArray
    value: float


def is_affordable(n_coordinates: int, n_answers: int) -> bool:
    """Whether the evidence can be had in about the time of a cross-validation."""
    return n_coordinates <= MOST_COORDINATES and n_answers <= MOST_ANSWERS


def maximise_evidence(
    likelihood: Likelihood,
    X: FloatArray,
    l2: float,
    *,
    fixed_l2: bool = False,
    near: float | None = None,
    to_beat: float = -np.inf,
    roughly: bool = False,
    known: Surface | None = None,
    share: float | None = None,
) -> Evidence:
    """The lapse and the penalty with the largest evidence, from a start.

    Parameters
    ----------
    likelihood
    X : (n, d) array of float
    l2
        Where the penalty starts; with ``fixed_l2`` what it is.
    fixed_l2
    near
        Try only this share, and a few below with the same penalty: roughly, and quickly.
    to_beat
        With ``near``: other shares and penalties are not tried where they could not make the
        evidence larger than this.
    roughly
        Do not look between the shares of a coarse grid.
    known
        What is known already of the evidence, from the same start.
    share
        The lapse of ``X``, where that is a fitted map.
    """
    few = X.size / float(likelihood.weight.sum())
    surface = surface_of(likelihood, X, fixed_l2) if known is None else known
    best = l2 if fixed_l2 else _rounded(np.clip(l2, surface.least_l2, _MOST_L2))
    drop = _DROP * (1 + _FEW * few)
    if near is not None:
        surface.begin(best, near)
        if surface.at(near, best) > to_beat - _PER_COORDINATE * X.size:
            best = surface.ridge(near, best)
            for k in (0.7, 0.4):
                surface.at(max(near * k, _COARSE[0]), best)
    else:
        if share is None:
            surface.begin(best)
        else:
            surface.first = share
        surface.walk(best, drop if roughly else _FAR * drop)
        if not roughly:
            surface.refine(drop)
    lapse = surface.top()
    X = surface.map_at(lapse)
    value = max(surface.values.values())
    return Evidence(lapse, surface.best_l2(), surface.within(drop), X, value)


def _rounded(l2: float) -> float:
    """A penalty that is the same number however it was reached."""
    return float(f"{l2:.6g}")


def surface_of(likelihood: Likelihood, X: FloatArray, fixed_l2: bool = False) -> Surface:
    """The evidence about a start, of which nothing is known yet."""
    few = X.size / float(likelihood.weight.sum())
    return Surface(likelihood, X, fixed_l2, max(_LEAST_L2, _LEAST_L2_FEW * few))


def lapse_interval(
    statements: Statements,
    weights: FloatArray | None,
    model: Map,
    l2: float,
    n_threads: int | None = None,
    raters: RaterWeights | None = None,
    prior: FeaturePrior | None = None,
) -> tuple[float, float]:
    """The 95 % interval of the lapse, about a fitted map, with raters' weights where there are any.

    Where the evidence of the whole is too dear, that of the statements among some of the
    objects, and where those are too few the likelihood alone, with room for its bias.
    """
    n, d = model.X.shape
    if raters is not None:
        with (
            one_blas_thread(),
            _seen(statements, weights, model, raters, n_threads, prior=prior) as (f, scale),
        ):
            X, few = f.standard(model.X * scale), n * d / float(f.weight.sum())
            if not is_affordable(n * d, len(f.choices)):
                return _likelihood_interval(f, X, model.lapse, l2, few)
            found = maximise_evidence(f, X, l2, fixed_l2=True, share=model.lapse)
            low, high = found.interval
            return min(low, model.lapse), max(high, model.lapse)
    choices = collect_choices(statements, weights)
    few = n * d / float(choices.weight.sum())
    if not is_affordable(n * d, len(choices)):
        rng = np.random.default_rng(0)
        for count in range(min(n, MOST_COORDINATES // d), d + 3, -max(1, n // 50)):
            kept = np.isin(choices.triples, rng.choice(n, count, replace=False)).all(axis=1)
            if kept.sum() <= MOST_ANSWERS:
                break
        if kept.sum() >= _ENOUGH * count * d:
            few = count * d / float(choices.weight[kept].sum())
            choices = replace(choices, triples=choices.triples[kept], weight=choices.weight[kept])
        else:
            with one_blas_thread(), likelihood(choices, model.length, model.alpha, n_threads) as f:
                f = with_prior(f, prior)
                X = f.standard(model.X)
                return _likelihood_interval(f, X, model.lapse, l2, few)
    seen = np.unique(choices.triples).astype(np.int64)
    triples = np.searchsorted(seen, choices.triples).astype(np.int32)
    inner = replace(choices, triples=triples, n_objects=len(seen))
    with one_blas_thread(), likelihood(inner, model.length, model.alpha, n_threads) as f:
        f = with_prior(f, None if prior is None else prior.among(seen))
        X = f.standard(model.X[seen])
        low, high = maximise_evidence(f, X, l2, fixed_l2=True, share=model.lapse).interval
    # A share that was fitted together with a map of everything may lie a little below.
    return min(low, model.lapse), max(high, model.lapse)


def place_errors(
    statements: Statements,
    weights: FloatArray | None,
    model: Map,
    l2: float,
    raters: RaterWeights | None = None,
    prior: FeaturePrior | None = None,
) -> FloatArray:
    """How far the place of each object on a fitted map may be off: (n, d, d) covariances.

    By the inverse of the Fisher information plus the penalty, without shifts and turns of the
    whole map. Where that is too dear, as if the other objects' places were known.

    Parameters
    ----------
    statements, weights
        That the map was fitted to.
    model : Map
    l2
        The penalty of the fit.
    raters
        With whose weights the map was fitted.
    prior
        What features say, where it was fitted with them.
    """
    l2 = max(l2, _NO_L2)
    n, d = model.X.shape
    whole = is_affordable(n * d, len(collect_choices(statements, weights)))
    path: Path | None = None if whole else "rows"
    with one_blas_thread(), _seen(statements, weights, model, raters, 1, path) as (f, scale):
        X = model.X * scale
        unscaled = 1.0 / np.multiply.outer(np.ones(d) * scale, np.ones(d) * scale)
        H = f.information(X, np.array([model.lapse]), whole=whole)
        if not whole:
            own = np.ones(n) if prior is None else prior.own_precision
            held = 2 * l2 * own[:, None, None] * np.eye(d)
            return np.asarray(np.linalg.inv(H + held) * unscaled, dtype=np.float64)
        # weights tell how the map lies: it cannot be turned
        free = moves_of_the_whole(X, turns=raters is None)
        H += 1e3 * np.trace(H) / len(H) * (free @ free.T)
        add_penalty(H, l2, prior)
        errors = np.asarray(np.linalg.inv(H), dtype=np.float64).reshape(n, d, n, d)
    return errors[np.arange(n), :, np.arange(n)] * unscaled


def add_penalty(H: FloatArray, l2: float, prior: FeaturePrior | None) -> None:
    """Add the curvature of the penalty of places, (n d, n d), to that of the likelihood."""
    if prior is None:
        H[np.diag_indices(len(H))] += 2 * l2
        return
    n = len(prior.own)
    own = H.reshape(n, len(H) // n, n, len(H) // n)
    for k in range(own.shape[1]):
        own[:, k, :, k] += 2 * l2 * prior.precision


def moves_of_the_whole(X: FloatArray, turns: bool) -> FloatArray:
    """Orthonormal (n d, k): the shifts and turns of a map, about which answers say nothing."""
    n, d = X.shape
    moves = [np.tile(axis, (n, 1)) for axis in np.eye(d)]
    for a, b in combinations(range(d if turns else 0), 2):
        turn = np.zeros((n, d))
        turn[:, a], turn[:, b] = X[:, b], -X[:, a]
        moves.append(turn)
    return np.linalg.qr(np.array(moves).reshape(len(moves), n * d).T)[0]


def _likelihood_interval(
    f: Likelihood, X: FloatArray, lapse: float, l2: float, few: float
) -> tuple[float, float]:
    """By the curvature of the likelihood in the share, with the map fitted anew."""
    centre = float(np.clip(lapse, 0.02, 0.98))
    step = 0.01
    losses = [
        fit_choices(f, X, share, l2, fixed_lapse=True, max_iter=30).loss
        for share in (centre - step, centre, centre + step)
    ]
    curvature = max((losses[0] - 2 * losses[1] + losses[2]) / step**2, 1e-6)
    half = 1.96 / np.sqrt(curvature)
    # The likelihood takes lapses for attentive answers: about one for each coordinate.
    return max(0.0, lapse - half), min(1.0, lapse + half + 1.5 * few)


@contextmanager
def _seen(
    statements: Statements,
    weights: FloatArray | None,
    model: Map,
    raters: RaterWeights | None,
    n_threads: int | None = None,
    path: Path | None = None,
    prior: FeaturePrior | None = None,
) -> Iterator[tuple[Likelihood, FloatArray | float]]:
    """The likelihood of coordinates times a scale, and the scale; 1 without raters' weights."""
    if raters is None:
        choices = collect_choices(statements, weights)
        with likelihood(choices, model.length, model.alpha, n_threads, path) as f:
            yield with_prior(f, prior), 1.0
        return
    rows, R = raters.rows_of(statements), len(raters.names)
    with weighed_likelihood(
        statements, weights, rows, R, model.length, model.alpha, n_threads, prior
    ) as weighed:
        yield weighed.levelled(raters.stretch)


@dataclass
class Surface:
    """Evidence at points, each computed once, from the nearest map that is known."""

    likelihood: Likelihood
    start: FloatArray
    fixed_l2: bool
    least_l2: float
    #: The share about which the search begins.
    first: float | None = None
    values: dict[tuple[float, float], float] = field(default_factory=dict)
    maps: dict[tuple[float, float], FloatArray] = field(default_factory=dict)
    #: How the loss bends at the last map, its penalty included, and that penalty.
    _bent: tuple[FloatArray, float] | None = None

    def begin(self, l2: float, share: float | None = None) -> None:
        """Fit the start, for a share or together with the share."""
        if self.first is None:
            found = fit_choices(
                self.likelihood,
                self.start,
                START_LAPSE if share is None else share,
                l2,
                fixed_lapse=share is not None,
                max_iter=60,
                tol=3e-6,
            )
            self.start, self.first = found.X, float(found.lapse[0])

    def at(self, lapse: float, l2: float) -> float:
        """The evidence, with the weak prior of the share."""
        key = (lapse, l2)
        if key not in self.values:
            share, start = np.array([lapse]), self._nearest(key)
            loss = penalised(self.likelihood, start.shape, l2, share)
            found = descend(loss, start, self._bend(start, share, l2), _NEARLY, _MOST_STEPS)
            H = self._curvature(found.X, share, l2)
            determinant = 2 * np.log(np.diag(np.linalg.cholesky(H))).sum()
            self._bent = H, l2
            prior = LAPSED * np.log(lapse) + ATTENTIVE * np.log1p(-lapse)
            self.maps[key] = found.X
            self.values[key] = float(
                prior - found.loss - 0.5 * determinant + 0.5 * len(H) * np.log(2 * l2)
            )
        return self.values[key]

    def _bend(self, X: FloatArray, share: FloatArray, l2: float) -> Preconditioner:
        """How the loss bends about a map, from the last one where it is known."""
        H, of = self._bent or (self._curvature(X, share, l2), l2)
        diagonal = np.einsum("ii->i", H)
        diagonal += 2 * (l2 - of) + LEAST_BENT * float(np.median(diagonal))
        self._bent = None
        return Preconditioner(H, X.shape)

    def _curvature(self, X: FloatArray, share: FloatArray, l2: float) -> FloatArray:
        H = self.likelihood.information(X, share)
        H[np.diag_indices(len(H))] += 2 * l2
        return H

    def walk(self, l2: float, far: float) -> None:
        """Climb about the first share, and go on over a coarse grid until the evidence is far down.

        It falls, and has fallen so far that it does not rise again.
        """
        assert self.first is not None
        start = int(np.searchsorted(_COARSE[:-1], self.first))
        best = self.ridge(_COARSE[start], l2)
        top = self.at(_COARSE[start], best)
        for step in (1, -1):
            k, here = start + step, best
            while 0 <= k < len(_COARSE):
                here = self.ridge(_COARSE[k], here)
                value = self.at(_COARSE[k], here)
                if value < top - far:
                    break
                top, k = max(top, value), k + step

    def ridge(self, lapse: float, l2: float) -> float:
        """The best penalty for a share, climbing from a guess."""
        best = l2
        if not self.fixed_l2:
            for factor in (1 / _STEP, _STEP):
                while self.least_l2 * 0.9 <= (
                    other := _rounded(best * factor)
                ) <= _MOST_L2 and self.at(lapse, other) > self.at(lapse, best):
                    best = other
                if best != l2:
                    break
        self.at(lapse, best)
        return best

    def best_l2(self) -> float:
        """The penalty of the largest evidence."""
        return max(self.values, key=self.values.__getitem__)[1]

    def profile(self) -> tuple[FloatArray, FloatArray]:
        """The shares that were tried, and the largest evidence of each."""
        shares = sorted({lapse for lapse, _ in self.values})
        return np.array(shares), np.array([self._best_at(share) for share in shares])

    def refine(self, drop: float) -> None:
        """Look for the top, and for where the evidence is so far below it."""
        for _ in range(_TURNS):
            top, half = self.top(), self._width(drop)
            if not self._try((top, top - half, top + half), _CLOSE * half):
                break
        for _ in range(_TURNS):
            if not self._try(self.within(drop), _CLOSE * self._width(drop)):
                break

    def _try(self, shares: tuple[float, ...], close: float) -> bool:
        """The evidence of shares, but for those near one that is known; whether there was any."""
        known, best = len(self.values), self.best_l2()
        for lapse in shares:
            tried, _ = self.profile()
            if np.abs(tried - lapse).min() > close and _COARSE[0] <= lapse <= _COARSE[-1]:
                # With the penalty of the top alone the interval would be too narrow; where the
                # shares on both sides have the same best one, that between them has it too.
                beside = self._beside(float(lapse))
                if len(beside) == 1:
                    self.at(float(lapse), beside.pop())
                else:
                    self.ridge(float(lapse), best)
        return len(self.values) > known

    def _width(self, drop: float) -> float:
        """How far from the top the evidence has fallen so far, by the parabola about it."""
        _, bent = self._parabola()
        low, high = self.within(drop)
        return (high - low) / 2 if bent >= 0 else float(np.sqrt(-drop / bent))

    def _beside(self, lapse: float) -> set[float]:
        """The best penalties of the shares tried next to this one, on both sides."""
        tried = sorted({share for share, _ in self.values})
        i = int(np.searchsorted(tried, lapse))
        near = [share for share in tried[max(i - 1, 0) : i + 1] if share != lapse]
        if len(near) < 2:
            return set()
        best = [max((v, l2) for (x, l2), v in self.values.items() if x == each) for each in near]
        return {l2 for _, l2 in best}

    def top(self) -> float:
        """The share with the largest evidence."""
        return self._parabola()[0]

    def _parabola(self) -> tuple[float, float]:
        """The top of the parabola through the best share and its neighbours; how it bends."""
        shares, values = self.profile()
        k = int(values.argmax())
        if k in (0, len(shares) - 1):
            return float(shares[k]), 0.0
        x, y = shares[k - 1 : k + 2], values[k - 1 : k + 2]
        slopes = np.diff(y) / np.diff(x)
        bent = (slopes[1] - slopes[0]) / (x[2] - x[0])
        top = (x[0] + x[1]) / 2 - slopes[0] / (2 * bent)
        return float(np.clip(top, (x[0] + x[1]) / 2, (x[1] + x[2]) / 2)), float(bent)

    def map_at(self, lapse: float) -> FloatArray:
        """The best map for a share and the best penalty."""
        best = self.best_l2()
        self.at(lapse, best)
        return self.maps[lapse, best]

    def within(self, drop: float) -> tuple[float, float]:
        """The shares whose evidence is at most so much below the largest."""
        fine, values = self._fine()
        kept = fine[values >= values.max() - drop]
        low = 0.0 if kept[0] <= 2 * _COARSE[0] else float(kept[0])
        return low, float(kept[-1])

    def _fine(self) -> tuple[FloatArray, FloatArray]:
        from scipy.interpolate import PchipInterpolator

        shares, values = self.profile()
        if len(shares) == 1:
            return shares, values
        fine = np.unique(np.concatenate([np.linspace(0, 1, 1001)[1:-1], shares]))
        fine = fine[(fine >= shares[0]) & (fine <= shares[-1])]
        return fine, PchipInterpolator(shares, values)(fine)

    def _best_at(self, lapse: float) -> float:
        return max(value for (share, _), value in self.values.items() if share == lapse)

    def _nearest(self, key: tuple[float, float]) -> FloatArray:
        if not self.maps:
            return self.start
        lapse, l2 = key
        near = min(self.maps, key=lambda k: abs(k[0] - lapse) + 0.1 * abs(np.log10(k[1] / l2)))
        return self.maps[near]
