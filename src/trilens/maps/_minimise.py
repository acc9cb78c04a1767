"""Minimising a loss over coordinates from a start, and preparing the start."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import real_array
from trilens._typing import FloatArray, Progress
from trilens.errors import ParameterError

#: A loss and its gradient, of the same shape as what it is given.
Loss: TypeAlias = Callable[[FloatArray], tuple[float, FloatArray]]

#: The loss must fall by a share ``tol`` per iteration, on the average of this many by default.
_WINDOW = 10
_MEMORY = 20
#: Squared distances of coordinates beyond it come near the largest number there is.
_FARTHEST = 1e100


@dataclass(frozen=True)
class Minimum:
    """Where a minimisation ended.

    Attributes
    ----------
    X : float64
        Of the shape of the start.
    loss : float
    history : (n_iter + 1,) float64
        The loss at the start and after each iteration.
    converged : bool
        Whether it ended before the limit on iterations.
    """

    X: FloatArray
    loss: float
    history: FloatArray
    converged: bool

    @property
    def n_iter(self) -> int:
        """Iterations made."""
        return len(self.history) - 1


def minimise(
    evaluate: Loss,
    start: FloatArray,
    max_iter: int = 1000,
    tol: float = 1e-6,
    progress: Progress | None = None,
    enough: float = 0.0,
    memory: int = _MEMORY,
    window: int = _WINDOW,
) -> Minimum:
    """Minimise a loss by L-BFGS.

    Parameters
    ----------
    evaluate
        The loss and its gradient.
    start : array of float
    max_iter
    tol
        Stop when the loss falls by less than this share per iteration.
    progress
        Called with the share of ``max_iter`` that is done.
    enough
        Stop below this loss: there is nothing left to find.
    memory
        Pairs of steps that L-BFGS remembers.
    window
        ``tol`` is asked of the mean of so many iterations.
    """
    from scipy.optimize import OptimizeResult, minimize

    shape = start.shape
    first, _ = evaluate(start)
    history = [first]
    # The losses of different methods and sizes come to the optimiser on one scale.
    unit = first if first > 0 else 1.0

    def scaled(x: FloatArray) -> tuple[float, FloatArray]:
        loss, gradient = evaluate(x.reshape(shape))
        return loss / unit, (gradient / unit).ravel()

    def after(intermediate_result: OptimizeResult) -> None:
        history.append(float(intermediate_result.fun) * unit)
        if progress is not None:
            progress((len(history) - 1) / max_iter)
        if len(history) > window:
            before = history[-1 - window]
            if before - history[-1] <= tol * window * before:
                raise StopIteration
        if history[-1] < enough:
            raise StopIteration

    result = minimize(
        scaled,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=after,
        options={
            "maxiter": max_iter,
            "maxfun": 20 * max_iter + 100,
            "maxcor": memory,
            "ftol": 0.0,
            "gtol": 0.0,
        },
    )
    return Minimum(
        np.asarray(result.x).reshape(shape),
        float(result.fun) * unit,
        np.array(history),
        len(history) <= max_iter,
    )


def one_blas_thread() -> AbstractContextManager[object]:
    """A context in which BLAS does not start threads.

    L-BFGS and the lens map of a survey factor matrices of a few dozen rows, for which waking
    the threads costs more than everything else.
    """
    limited: AbstractContextManager[object] = _thread_pools().limit(limits=1, user_api="blas")
    return limited


@cache
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def fill_flat_columns(X: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Give a little breadth to dimensions that a start does not use: no gradient leaves 0."""
    spread = X.std(axis=0)
    flat = spread <= 1e-6 * max(spread.max(), 1e-300)
    breadth = 0.1 * spread.max() if spread.max() > 0 else 1.0
    X[:, flat] = breadth * rng.standard_normal((len(X), int(flat.sum())))
    return X


def best_scale(evaluate: Loss, X: FloatArray) -> FloatArray:
    """Stretch a start, whose shape alone is meaningful, to where the loss is least."""
    X = (X - X.mean(axis=0)) / np.sqrt(np.mean(X.var(axis=0)))
    scales = 2.0 ** np.arange(-4, 9)
    losses = [evaluate(scale * X)[0] for scale in scales]
    return X * float(scales[int(np.argmin(losses))])


def given_start(name: str, init: ArrayLike, shape: tuple[int, int]) -> FloatArray:
    """Coordinates to start from that were given, of the right shape and finite."""
    X = real_array(f"{name}: init", init)
    if X.shape != shape or not np.isfinite(X).all():
        raise ParameterError(
            f"{name}: init has shape {X.shape}; it must be a finite array of shape {shape}, "
            f"(n_objects, n_components)"
        )
    if np.abs(X).max() > _FARTHEST:
        raise ParameterError(
            f"{name}: init holds a number beyond {_FARTHEST:g}; divide it by its largest"
        )
    return X
