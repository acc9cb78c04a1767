"""Fitting coordinates: L-BFGS, where it starts, and the choice model's penalized likelihood."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import real_array
from trilens._typing import AnyArray, FloatArray, IntArray, Progress
from trilens.counts import count_pairs
from trilens.errors import ParameterError, StatementError
from trilens.maps.likelihood import Likelihood
from trilens.maps.pairs import pointing, with_l2
from trilens.statements import Statements

#: A loss and its gradient, of the same shape as what it is given.
Loss: TypeAlias = Callable[[FloatArray], tuple[float, FloatArray]]

#: The loss must fall by a share ``tol`` per iteration, on the average of this many by default.
_WINDOW = 10
#: Pairs of steps that L-BFGS remembers by default, and for the choice model.
_MEMORY, _CHOICE_MEMORY = 20, 50
#: On a GPU a step costs less than remembering: as many steps are needed with ten pairs.
_DEVICE_MEMORY = 10
#: Squared distances of coordinates beyond it come near the largest number there is.
_FARTHEST = 1e100
#: The prior of the lapse, Beta(1.5, 2): half an answer that was a lapse, one that was not.
#: It only keeps the lapse off 0 and 1.
LAPSED, ATTENTIVE = 0.5, 1.0
#: Where the lapse starts.
START_LAPSE = 0.2
#: The rough fit before a fit of odd or closer answers: dimensions more, and iterations.
_MORE, _ROUGH_ITER = 3, 40
#: Of very many answers one in so many, but at least so many, give a start and the curvature;
#: and at least so many for each object, where a start is sought: of fewer it may lead astray. The
#: last number is enough, however many objects there are.
_PART, _LEAST_PART = 8, 10_000
_EACH, _EACH_TO_START, _ENOUGH_TO_START = 10, 100, 1_000_000
#: How even the weights of answers must be for a part to be like all, and what penalty, by the
#: mean weight, holds coordinates together.
_EVEN, _LEAST_HELD = 0.1, 1e-6
#: Coordinates whose information is factored as a whole, for each answer (to the third power).
_WORTH = 15_000
#: What every direction bends at least, beside the median one.
LEAST_BENT = 0.02
#: The logit of the lapse moves in this unit: its slope sums over all answers, that of
#: a coordinate over the answers about one object, and L-BFGS likes them alike.
_UNIT = 0.3
#: Where coordinates are alike: the step of the logit, by the root of the number of answers, and
#: over how many iterations the fall is looked at, if all are alike and if only each object's.
_LAPSE_STEP, _SHORT_WINDOW = 10.0, 3
#: After so many iterations, or where the loss stays at this share of that of guesses, it goes on
#: without.
_MOST_BENT, _NO_BETTER = 150, 0.999


def part_of(progress: Progress | None, start: float, share: float) -> Progress | None:
    """Progress of a part of the work, from ``start`` on."""
    return None if progress is None else lambda done: progress(start + share * done)


@dataclass(frozen=True)
class Minimum:
    """Where a minimisation ended."""

    #: Of the shape of the start.
    X: FloatArray
    loss: float
    #: (n_iter + 1,): the loss at the start and after each iteration.
    history: FloatArray
    #: Whether it ended before the limit on iterations.
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
    done: Callable[[], bool] | None = None,
) -> Minimum:
    """Minimize a loss by L-BFGS.

    Parameters
    ----------
    evaluate
        The loss and its gradient.
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
    done
        Asked after each iteration whether to stop.
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
        if history[-1] < enough or (done is not None and done()):
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
    import scipy.linalg  # noqa: F401 - it brings a BLAS of its own, which is only found once loaded
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
    if X.shape == shape and not np.isfinite(X).all():
        raise ParameterError(
            f"{name}: init has NaN or infinite numbers; fill them in", parameter="init"
        )
    if X.shape != shape:
        raise ParameterError(
            f"{name}: init has shape {X.shape}; it must be an array of shape {shape}, "
            f"(n_objects, n_components)",
            parameter="init",
        )
    if np.abs(X).max() > _FARTHEST:
        raise ParameterError(
            f"{name}: init has a number beyond {_FARTHEST:g}; scale it down",
            parameter="init",
        )
    return X


# ---- the choice model --------------------------------------------------------------------------


@dataclass(frozen=True)
class ChoiceFit:
    """Where a fit ended."""

    #: (n, d).
    X: FloatArray
    #: (1,) or (M,): the share of lapses: of all, or of each different answer's rater.
    lapse: FloatArray
    #: -log likelihood and penalties.
    loss: float
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class Start:
    """Where a fit starts."""

    #: (n, d).
    X: FloatArray
    lapse: float = START_LAPSE


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
    """Coordinates and the lapse, from a start.

    By L-BFGS; with very many answers in coordinates that the Fisher information of some of them
    has made alike, in which it takes a few steps.

    Parameters
    ----------
    X : (n, d) array of float
        Where to start.
    lapse
        Where the share starts; with ``fixed_lapse`` what it is, or what it is for each answer.
    l2
        Weight of the sum of squared coordinates.
    max_iter, tol, progress
        As for `minimise`.
    """
    shares = np.atleast_1d(np.asarray(lapse, dtype=np.float64)) if fixed_lapse else None
    share = float(np.clip(np.mean(lapse), 1e-4, 1 - 1e-4))
    start = X if fixed_lapse else np.append(X, np.log(share / (1 - share)) / _UNIT)
    loss = penalised(likelihood, X.shape, l2, shares)
    # on a GPU steps are cheap, and the curvature is not
    part = None if likelihood.on_device else part_of_answers(likelihood, l2)
    if part is None:
        memory = _DEVICE_MEMORY if likelihood.on_device else _CHOICE_MEMORY
        found = minimise(loss, start, max_iter, tol, progress, memory=memory)
        best = found.X
    else:
        at = np.array([share]) if shares is None else shares
        at = at if len(at) == 1 else at[part.rows]
        bend = preconditioner(part, len(likelihood.choices), X, at, l2)
        bent = PreconditionedLoss(
            loss, start, bend, _LAPSE_STEP / float(likelihood.weight.sum()) ** 0.5
        )
        window = _SHORT_WINDOW if bend.is_whole else _WINDOW
        origin, few = np.zeros(start.size), min(max_iter, _MOST_BENT)
        found = minimise(bent, origin, few, tol, progress, memory=_CHOICE_MEMORY, window=window)
        best = bent.at(found.X)
        guessed = float(likelihood.weight.sum()) * np.log(likelihood.n_sides)
        lost = found.loss >= _NO_BETTER * guessed
        if lost or (not found.converged and few < max_iter):
            # the curvature was of no use: without it, from the start or from where it led
            again = start if lost else best
            found = minimise(loss, again, max_iter, tol, progress, memory=_CHOICE_MEMORY)
            best = found.X
    if shares is None:
        best, shares = best[:-1].reshape(X.shape), np.array([expit(best[-1] * _UNIT)])
    return ChoiceFit(best, shares, found.loss, found.n_iter, found.converged)


def penalised(
    likelihood: Likelihood,
    shape: tuple[int, ...],
    l2: float,
    shares: FloatArray | None,
) -> Loss:
    """The penalized loss of coordinates; without shares, of these and the logit of the lapse."""

    def of_coordinates(x: FloatArray) -> tuple[float, FloatArray]:
        assert shares is not None
        loss, slope, _ = likelihood(x, shares)
        return with_l2(loss, slope, x, l2)

    def of_both(x: FloatArray) -> tuple[float, FloatArray]:
        at, share = x[:-1].reshape(shape), expit(x[-1] * _UNIT)
        loss, slope, of_share = likelihood(at, np.array([share]))
        loss, slope = with_l2(loss, slope, at, l2)
        loss -= LAPSED * np.log(share) + ATTENTIVE * np.log1p(-share)
        of_share = of_share * share * (1 - share) - LAPSED * (1 - share) + ATTENTIVE * share
        return float(loss), np.append(slope, of_share * _UNIT)

    return of_both if shares is None else of_coordinates


def expit(t: float) -> float:
    """1 / (1 + exp(-t)), kept off 0 and 1, where the prior is infinite."""
    return float(1.0 / (1.0 + np.exp(-np.clip(t, -30.0, 30.0))))


# ---- very many answers: a part of them, and the curvature that it tells ------------------------


@dataclass(frozen=True)
class AnswerPart:
    """Some of very many answers."""

    likelihood: Likelihood
    #: (M,): which of the different answers.
    rows: IntArray
    #: How many times more all answers are.
    times: float


def part_of_answers(likelihood: Likelihood, l2: float, each: int = _EACH) -> AnswerPart | None:
    """One answer in eight, drawn at random; None where they are too few."""
    counted = np.flatnonzero(likelihood.weight)
    size, weight = len(counted) // _PART, likelihood.weight / max(likelihood.weight.max(), 1e-300)
    if weight.sum() ** 2 < _EVEN * len(counted) * (weight**2).sum():
        return None  # a few answers count for all: a part may not have them
    if l2 * len(counted) < _LEAST_HELD * float(likelihood.weight.sum()):
        return None  # no penalty to speak of: coordinates run away, and their curvature with them
    if size < max(_LEAST_PART, min(each * likelihood.choices.n_objects, _ENOUGH_TO_START)):
        return None
    rng = np.random.default_rng(len(counted))
    rows = np.sort(rng.choice(counted, size, replace=False, shuffle=False))
    some = likelihood.part(rows)
    return AnswerPart(some, rows, float(likelihood.weight.sum() / some.weight.sum()))


class Preconditioner:
    """A linear change of coordinates, y = R x with R' R = H.

    Parameters
    ----------
    H : (n d, n d) or (n, d, d) array of float
        How a loss bends: in all coordinates together, or in those of each object alone.
    shape
        Of the coordinates.
    together : (n d, k) array of float, optional
        Moves of many objects together, which y has besides.
    """

    def __init__(
        self, H: FloatArray, shape: tuple[int, ...], together: FloatArray | None = None
    ) -> None:
        #: Whether the loss bends nearly alike in every direction of y.
        self.is_whole = H.ndim == 2
        self._shape, self._together = shape, together
        self._cut = shape[0] * shape[1]
        #: Of y.
        self.size = self._cut + (0 if together is None else together.shape[1])
        self._lower = np.linalg.cholesky(H)
        if not self.is_whole:
            self._lower = np.linalg.inv(self._lower)

    def back(self, y: FloatArray) -> FloatArray:
        """R^-1 y, of the shape of the coordinates."""
        move = self._solved(y[: self._cut], transposed=True).reshape(self._shape)
        if self._together is None:
            return move
        return move + (self._together @ y[self._cut :]).reshape(self._shape)

    def slope(self, gradient: FloatArray) -> FloatArray:
        """R'^-1 gradient: the gradient in y, flat."""
        slope = self._solved(gradient, transposed=False).ravel()
        if self._together is None:
            return slope
        return np.concatenate([slope, gradient.ravel() @ self._together])

    def _solved(self, y: FloatArray, transposed: bool) -> FloatArray:
        found: FloatArray
        if self.is_whole:
            from scipy.linalg import solve_triangular

            found = solve_triangular(
                self._lower,
                y.ravel(),
                lower=True,
                trans="T" if transposed else "N",
                check_finite=False,
            )
        else:
            way = "nba,nb->na" if transposed else "nab,nb->na"
            found = np.einsum(way, self._lower, y.reshape(self._shape))
        return found


class PreconditionedLoss:
    """A loss in y: x = start + R^-1 y.

    Parameters
    ----------
    loss
        Of (n, d) coordinates, or of these, flat, and one number more.
    unit : float
        What the number more is measured in.
    """

    def __init__(self, loss: Loss, start: FloatArray, bend: Preconditioner, unit: float) -> None:
        self._loss, self._start, self._bend, self._unit = loss, start, bend, unit

    def at(self, y: FloatArray) -> FloatArray:
        """x."""
        if self._start.ndim == 2:
            return self._start + self._bend.back(y)
        x: FloatArray = self._start + np.append(self._bend.back(y[:-1]), y[-1] * self._unit)
        return x

    def __call__(self, y: FloatArray) -> tuple[float, FloatArray]:
        loss, gradient = self._loss(self.at(y))
        if self._start.ndim == 2:
            return loss, self._bend.slope(gradient)
        return loss, np.append(self._bend.slope(gradient[:-1]), gradient[-1] * self._unit)


def descend(
    loss: Loss, start: FloatArray, bend: Preconditioner, nearly: float, max_iter: int = 60
) -> Minimum:
    """Minimize by L-BFGS whose first step is Newton's, from where the curvature is about known.

    Parameters
    ----------
    start : (n, d) array of float
    bend : Preconditioner
        How the loss bends about there.
    nearly
        Stop where the loss can be expected to fall by less than this.
    """
    bent = PreconditionedLoss(loss, start, bend, 1.0)
    value, slope = bent(np.zeros(bend.size))
    left = 0.5 * float(slope @ slope)
    if left <= nearly:
        return Minimum(start, value, np.array([value]), True)
    # L-BFGS first tries a step of length 1: in these units it is Newton's
    unit = float(np.sqrt(2 * left))

    def in_units(y: FloatArray) -> tuple[float, FloatArray]:
        nonlocal left
        value, slope = bent(unit * y)
        left = 0.5 * float(slope @ slope)
        return value, unit * slope

    # where many objects are in one place the loss has a kink, and slopes never vanish
    tol = nearly / (_SHORT_WINDOW * max(value, 1.0))
    found = minimise(
        in_units,
        np.zeros(bend.size),
        max_iter,
        tol,
        window=_SHORT_WINDOW,
        done=lambda: left <= nearly,
    )
    return replace(found, X=bent.at(unit * found.X))


def preconditioner(
    part: AnswerPart, n_answers: int, X: FloatArray, lapse: FloatArray, l2: float
) -> Preconditioner:
    """By the Fisher information that some of the answers have.

    Parameters
    ----------
    n_answers : int
        All answers; the more there are, the more coordinates are worth being factored together.
    X, lapse, l2
        Where, and the penalty.
    """
    whole = float(X.size) ** 3 <= _WORTH * n_answers
    H = part.times * part.likelihood.information(X, lapse, whole=whole)
    diagonal = np.einsum("...ii->...i", H)
    # of the objects that were asked about; the others have nothing to bend
    usual = float(np.median(diagonal[diagonal > 0])) if (diagonal > 0).any() else 1.0
    diagonal += 2 * l2 + LEAST_BENT * usual
    return Preconditioner(H, X.shape)


# ---- where a fit of the choice model starts ----------------------------------------------------


def prepare_start(
    statements: Statements,
    likelihood: Likelihood,
    n_components: int,
    l2: float,
    rng: np.random.Generator,
    known: dict[int, Start] | None = None,
) -> Start:
    """Where a fit starts.

    The lens map, stretched to where the answers are most likely. From ``odd`` and ``closer``
    answers it draws outliers in the middle, and a fit in few dimensions cannot always bring
    them out again. In a few more dimensions it can: the widest axes of a rough fit there are
    the start. Very many answers start from a fit to some of them, which has nearly the same
    optimum and is cheap. With features the start is the directions in which these vary most.

    Parameters
    ----------
    known : dict, optional
        Rough fits of the same answers by their dimensions; a new one is added.
    """
    prior, known = likelihood.prior, {} if known is None else known
    guess = None if prior is None else prior.widest(n_components)
    if guess is not None:
        return _start_from(guess, statements, likelihood, n_components, l2, known)
    most = min(n_components + _MORE, statements.n_objects - 1)
    more = n_components if statements.kind == "central" else most
    enough = [d for d in known if d >= more - 1]
    X = known[min(enough)].X if enough else _lens_map(statements, more, rng)
    return _start_from(X, statements, likelihood, n_components, l2, known)


def _start_from(
    X: FloatArray,
    statements: Statements,
    likelihood: Likelihood,
    d: int,
    l2: float,
    known: dict[int, Start],
) -> Start:
    part = part_of_answers(likelihood, l2, _EACH_TO_START)
    if part is None:
        return _first_start(statements, likelihood, X, d, l2, known)
    first = _start_from(X, statements, part.likelihood, d, l2, known)
    found = fit_choices(part.likelihood, first.X, first.lapse, l2, max_iter=100, tol=1e-5)
    return Start(found.X, float(found.lapse[0]))


def _first_start(
    statements: Statements,
    likelihood: Likelihood,
    X: FloatArray,
    d: int,
    l2: float,
    known: dict[int, Start],
) -> Start:
    more = X.shape[1]
    if more not in known:
        share, part = np.array([START_LAPSE]), part_of_answers(likelihood, l2)
        # a scale needs few answers
        some, held = (likelihood, l2) if part is None else (part.likelihood, l2 / part.times)
        X = best_scale(lambda x: with_l2(*some(x, share)[:2], x, held), X)
        X = without_unseen(X, statements.triples)
        if more == d:
            return Start(X)
        rough = fit_choices(likelihood, X, START_LAPSE, l2, max_iter=_ROUGH_ITER, tol=1e-4)
        known[more] = Start(principal_axes(likelihood.places(rough.X)), float(rough.lapse[0]))
    return Start(likelihood.standard(known[more].X[:, :d]), known[more].lapse)


def _lens_map(statements: Statements, d: int, rng: np.random.Generator) -> FloatArray:
    from trilens.maps.scaling import lens_scaling, usual_power

    # as a start all answers serve, also those that must not be counted
    every = Statements(statements.triples, statements.n_objects, kind=statements.kind)
    first = np.random.default_rng(0).standard_normal(statements.n_objects)
    try:
        X = lens_scaling(count_pairs(every), d, usual_power(d), first).coordinates
    except StatementError:  # its eigenvalues cannot be separated
        X = np.zeros((statements.n_objects, d))
    return fill_flat_columns(X, rng)


def without_unseen(X: FloatArray, triples: AnyArray) -> FloatArray:
    """Centered coordinates, with the objects that no statement names in the middle."""
    seen = np.zeros(len(X), dtype=np.bool_)
    seen[triples] = True
    X = X - X[seen].mean(axis=0)
    X[~seen] = 0.0
    return X


def principal_axes(X: FloatArray) -> FloatArray:
    """Centered coordinates turned so that the first axis is the widest, and so on.

    Each axis points to where its largest coordinate is positive.
    """
    X = X - X.mean(axis=0)
    _, axes = np.linalg.eigh(X.T @ X)
    turned: FloatArray = X @ axes[:, ::-1]
    return turned * pointing(turned)
