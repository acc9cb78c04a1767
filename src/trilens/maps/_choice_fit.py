"""Fitting the choice model for a given number of dimensions: penalised likelihood by L-BFGS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._typing import AnyArray, FloatArray, Progress
from trilens.errors import StatementError
from trilens.maps._choices import Likelihood, collect_choices, likelihood as prepared
from trilens.maps._minimise import best_scale, fill_flat_columns, minimise
from trilens.maps._pairs import with_l2
from trilens.statements import Statements

#: The prior of the blind share, Beta(1.5, 2): half an answer that was blind, one that was not.
#: It only keeps the share off 0 and 1.
BLIND, SEEING = 0.5, 1.0
#: Where the blind share starts.
START_LAPSE = 0.2
#: Pairs of steps that L-BFGS remembers.
_MEMORY = 50
#: The rough fit before a fit of odd or closer answers: dimensions more, and iterations.
_MORE, _ROUGH_ITER = 3, 40
#: Very many answers start from a fit to one in so many, but at least to so many.
_PART, _LEAST_PART = 8, 10_000
#: The logit of the blind share moves in this unit: its slope sums over all answers, that of
#: a coordinate over the answers about one object, and L-BFGS likes them alike.
_UNIT = 0.3


@dataclass(frozen=True)
class ChoiceFit:
    """Where a fit ended.

    Attributes
    ----------
    X : (n, d) float64
    lapse : (1,) or (M,) float64
        The share of blind answers: of all, or of each different answer's rater.
    loss : float
        -log likelihood and penalties.
    n_iter : int
    converged : bool
    """

    X: FloatArray
    lapse: FloatArray
    loss: float
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class Start:
    """Where a fit starts.

    Attributes
    ----------
    X : (n, d) float64
    lapse : float
    unit : (n, 1) float64 or None
        How far each object should move beside the others: objects at the rim, about whose
        place the answers say less, move in larger units.
    """

    X: FloatArray
    lapse: float = START_LAPSE
    unit: FloatArray | None = None


def fit_choices(
    likelihood: Likelihood,
    X: FloatArray,
    lapse: float | FloatArray,
    l2: float,
    *,
    fixed_lapse: bool = False,
    unit: FloatArray | None = None,
    max_iter: int = 1000,
    tol: float = 1e-6,
    progress: Progress | None = None,
) -> ChoiceFit:
    """Coordinates and the share of blind answers, from a start.

    Parameters
    ----------
    likelihood
    X : (n, d) array of float
        Where to start.
    lapse
        Where the share starts; with ``fixed_lapse`` what it is, or what it is for each answer.
    l2
        Weight of the sum of squared coordinates.
    fixed_lapse
    unit : (n, 1) array of float, optional
        See `Start`.
    max_iter, tol, progress
        As for `trilens.maps._minimise.minimise`.
    """
    units = np.ones((len(X), 1)) if unit is None else unit
    if fixed_lapse:
        shares = np.atleast_1d(np.asarray(lapse, dtype=np.float64))

        def coordinates(x: FloatArray) -> tuple[float, FloatArray]:
            at = x * units
            loss, gradient, _ = likelihood(at, shares)
            loss, gradient = with_l2(loss, gradient, at, l2)
            return loss, gradient * units

        found = minimise(coordinates, X / units, max_iter, tol, progress, memory=_MEMORY)
        return ChoiceFit(found.X * units, shares, found.loss, found.n_iter, found.converged)

    def together(x: FloatArray) -> tuple[float, FloatArray]:
        at, share = x[:-1].reshape(X.shape) * units, expit(x[-1] * _UNIT)
        loss, gradient, slope = likelihood(at, np.array([share]))
        loss, gradient = with_l2(loss, gradient, at, l2)
        loss -= BLIND * np.log(share) + SEEING * np.log1p(-share)
        slope = slope * share * (1 - share) - BLIND * (1 - share) + SEEING * share
        return float(loss), np.append(gradient * units, slope * _UNIT)

    share = float(np.clip(np.mean(lapse), 1e-4, 1 - 1e-4))
    start = np.append(X / units, np.log(share / (1 - share)) / _UNIT)
    found = minimise(together, start, max_iter, tol, progress, memory=_MEMORY)
    return ChoiceFit(
        found.X[:-1].reshape(X.shape) * units,
        np.array([expit(found.X[-1] * _UNIT)]),
        found.loss,
        found.n_iter,
        found.converged,
    )


def expit(t: float) -> float:
    """1 / (1 + exp(-t)), kept off 0 and 1, where the prior is infinite."""
    return float(1.0 / (1.0 + np.exp(-np.clip(t, -30.0, 30.0))))


def prepare_start(
    statements: Statements,
    likelihood: Likelihood,
    n_components: int,
    l2: float,
    rng: np.random.Generator,
) -> Start:
    """Where a fit starts.

    The lens map, stretched to where the answers are most likely. From ``odd`` and ``closer``
    answers it draws outliers in the middle, and a fit in few dimensions cannot always bring
    them out again. In a few more dimensions it can: the widest axes of a rough fit there are
    the start. Very many answers start from a fit to some of them, which has nearly the
    same optimum and is cheap.
    """
    d = n_components
    most = min(d + _MORE, statements.n_objects - 1)
    more = d if statements.kind == "central" else most
    X = _lens_map(statements, more, rng)
    part = len(statements) // _PART
    if part < max(_LEAST_PART, 10 * statements.n_objects):
        return _first_start(statements, likelihood, X, d, l2)
    some = statements.take(np.sort(rng.choice(len(statements), part, shuffle=False, replace=False)))
    with prepared(collect_choices(some), likelihood.length, likelihood.alpha, 1) as f:
        first = _first_start(some, f, X, d, l2)
        found = fit_choices(f, first.X, first.lapse, l2, max_iter=100, tol=1e-5)
        return Start(found.X, float(found.lapse[0]), _units(f, found, rng))


def _units(likelihood: Likelihood, fit: ChoiceFit, rng: np.random.Generator) -> FloatArray:
    """Steps that are about as large for every object, by the curvature of the likelihood."""
    curvature = np.zeros(len(fit.X))
    step = 1e-2
    for _ in range(6):
        direction = step * rng.choice([-1.0, 1.0], size=fit.X.shape)
        ahead = likelihood(fit.X + direction, fit.lapse)[1]
        behind = likelihood(fit.X - direction, fit.lapse)[1]
        curvature += ((ahead - behind) * direction).mean(axis=1)
    typical = max(float(np.median(curvature)), 1e-12)
    return np.sqrt(typical / np.clip(curvature, typical / 10, None))[:, None]


def _first_start(
    statements: Statements, likelihood: Likelihood, X: FloatArray, d: int, l2: float
) -> Start:
    share = np.array([START_LAPSE])
    X = best_scale(lambda x: likelihood(x, share)[:2], X)
    X = without_unseen(X, statements.triples)
    if X.shape[1] == d:
        return Start(X)
    rough = fit_choices(likelihood, X, START_LAPSE, l2, max_iter=_ROUGH_ITER, tol=1e-4)
    return Start(principal_axes(rough.X)[:, :d], float(rough.lapse[0]))


def _lens_map(statements: Statements, d: int, rng: np.random.Generator) -> FloatArray:
    from trilens.maps.lens_map import LensMap

    try:
        X = np.array(LensMap(n_components=d).fit(statements).embedding_)
    except StatementError:  # its eigenvalues cannot be told apart
        X = np.zeros((statements.n_objects, d))
    return fill_flat_columns(X, rng)


def without_unseen(X: FloatArray, triples: AnyArray) -> FloatArray:
    """Centred coordinates, with the objects that no statement names in the middle."""
    seen = np.zeros(len(X), dtype=np.bool_)
    seen[triples] = True
    X = X - X[seen].mean(axis=0)
    X[~seen] = 0.0
    return X


def principal_axes(X: FloatArray) -> FloatArray:
    """Centred coordinates turned so that the first axis is the widest, and so on.

    Each axis points to where its largest coordinate is positive.
    """
    X = X - X.mean(axis=0)
    _, axes = np.linalg.eigh(X.T @ X)
    turned: FloatArray = X @ axes[:, ::-1]
    largest = np.abs(turned).argmax(axis=0)
    turned *= np.where(turned[largest, np.arange(turned.shape[1])] < 0, -1.0, 1.0)
    return turned
