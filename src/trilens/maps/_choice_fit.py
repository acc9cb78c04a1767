"""Fitting the choice model for a given number of dimensions: penalised likelihood by L-BFGS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._typing import AnyArray, FloatArray, Progress
from trilens.errors import StatementError
from trilens.maps._choices import Likelihood
from trilens.maps._minimise import best_scale, fill_flat_columns, minimise
from trilens.maps._pairs import with_l2
from trilens.statements import Statements

#: The prior of the blind share, Beta(1.5, 2): half an answer that was blind, one that was not.
#: It only keeps the share off 0 and 1.
BLIND, SEEING = 0.5, 1.0
#: Where the blind share starts.
START_LAPSE = 0.2
#: The rough fit before a fit of odd or closer answers: dimensions more, penalty, iterations.
_MORE, _ROUGH_L2, _ROUGH_ITER = 3, 0.01, 40
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


def fit_choices(
    likelihood: Likelihood,
    X: FloatArray,
    lapse: float | FloatArray,
    l2: float,
    *,
    fixed_lapse: bool = False,
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
    max_iter, tol, progress
        As for `trilens.maps._minimise.minimise`.
    """
    if fixed_lapse:
        shares = np.atleast_1d(np.asarray(lapse, dtype=np.float64))

        def coordinates(x: FloatArray) -> tuple[float, FloatArray]:
            loss, gradient, _ = likelihood(x, shares)
            return with_l2(loss, gradient, x, l2)

        found = minimise(coordinates, X, max_iter, tol, progress)
        return ChoiceFit(found.X, shares, found.loss, found.n_iter, found.converged)

    def together(x: FloatArray) -> tuple[float, FloatArray]:
        at, share = x[:-1].reshape(X.shape), expit(x[-1] * _UNIT)
        loss, gradient, slope = likelihood(at, np.array([share]))
        loss, gradient = with_l2(loss, gradient, at, l2)
        loss -= BLIND * np.log(share) + SEEING * np.log1p(-share)
        slope = slope * share * (1 - share) - BLIND * (1 - share) + SEEING * share
        return float(loss), np.append(gradient, slope * _UNIT)

    share = float(np.clip(np.mean(lapse), 1e-4, 1 - 1e-4))
    start = np.append(X, np.log(share / (1 - share)) / _UNIT)
    found = minimise(together, start, max_iter, tol, progress)
    return ChoiceFit(
        found.X[:-1].reshape(X.shape),
        np.array([expit(found.X[-1] * _UNIT)]),
        found.loss,
        found.n_iter,
        found.converged,
    )


def expit(t: float) -> float:
    """1 / (1 + exp(-t)), kept off 0 and 1, where the prior is infinite."""
    return float(1.0 / (1.0 + np.exp(-np.clip(t, -30.0, 30.0))))


def lens_start(
    statements: Statements, likelihood: Likelihood, n_components: int, rng: np.random.Generator
) -> FloatArray:
    """The lens map, stretched to where the answers are most likely."""
    from trilens.maps.lens_map import LensMap

    shape = (statements.n_objects, n_components)
    try:
        X = np.array(LensMap(n_components=n_components).fit_transform(statements))
    except StatementError:  # its eigenvalues cannot be told apart
        X = np.zeros(shape)
    X = fill_flat_columns(X, rng)
    share = np.array([START_LAPSE])
    X = best_scale(lambda x: likelihood(x, share)[:2], X)
    return without_unseen(X, statements.triples)


def prepare_start(
    statements: Statements, likelihood: Likelihood, n_components: int, rng: np.random.Generator
) -> FloatArray:
    """Where a fit starts: the lens map, unfolded where it is known to fold.

    From ``odd`` and ``closer`` answers the lens map draws outliers in the middle, and a fit in
    few dimensions cannot always bring them out again. In a few more dimensions it can: the
    widest axes of a rough fit there are the start.
    """
    more = min(n_components + _MORE, statements.n_objects - 1)
    if statements.kind == "central" or more == n_components:
        return lens_start(statements, likelihood, n_components, rng)
    X = lens_start(statements, likelihood, more, rng)
    rough = fit_choices(likelihood, X, START_LAPSE, _ROUGH_L2, max_iter=_ROUGH_ITER, tol=1e-4)
    return principal_axes(rough.X)[:, :n_components]


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
