"""Fitting the choice model for a given number of dimensions: penalised likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._typing import AnyArray, FloatArray, IntArray, Progress
from trilens.errors import StatementError
from trilens.maps._choices import Likelihood
from trilens.maps._curvature import Bent, curvature
from trilens.maps._minimise import Loss, best_scale, fill_flat_columns, minimise
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
#: Of very many answers one in so many, but at least so many, give a start and the curvature;
#: and at least so many for each object, where a start is sought: of fewer it may lead astray.
_PART, _LEAST_PART = 8, 10_000
_EACH, _EACH_TO_START = 10, 100
#: How even the weights of answers must be for a part to be like all, and what penalty, by the
#: mean weight, holds coordinates together.
_EVEN, _LEAST_HELD = 0.1, 1e-6
#: The logit of the blind share moves in this unit: its slope sums over all answers, that of
#: a coordinate over the answers about one object, and L-BFGS likes them alike.
_UNIT = 0.3
#: Where coordinates are alike: the step of the logit, by the root of the number of answers, and
#: over how many iterations the fall is looked at, if all are alike and if only each object's.
_SHARE_STEP, _SHORT_WINDOW, _WINDOW = 10.0, 3, 10
#: After so many iterations, or where the loss stays at this share of that of guesses, it goes on
#: without.
_MOST_BENT, _NO_BETTER = 150, 0.999


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
    """

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
    """Coordinates and the share of blind answers, from a start.

    By L-BFGS; with very many answers in coordinates that the Fisher information of some of them
    has made alike, in which it takes a few steps.

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
    shares = np.atleast_1d(np.asarray(lapse, dtype=np.float64)) if fixed_lapse else None
    share = float(np.clip(np.mean(lapse), 1e-4, 1 - 1e-4))
    start = X if fixed_lapse else np.append(X, np.log(share / (1 - share)) / _UNIT)
    loss = _loss(likelihood, X.shape, l2, shares)
    part = part_of_answers(likelihood, l2)
    if part is None:
        found = minimise(loss, start, max_iter, tol, progress, memory=_MEMORY)
        best = found.X
    else:
        at = np.array([share]) if shares is None else shares
        at = at if len(at) == 1 else at[part.rows]
        bend = curvature(part.likelihood, part.times, len(likelihood.choices), X, at, l2)
        bent = Bent(loss, start, bend, _SHARE_STEP / float(likelihood.weight.sum()) ** 0.5)
        window = _SHORT_WINDOW if bend.is_whole else _WINDOW
        origin, few = np.zeros(start.size), min(max_iter, _MOST_BENT)
        found = minimise(bent, origin, few, tol, progress, memory=_MEMORY, window=window)
        best = bent.at(found.X)
        guessed = float(likelihood.weight.sum()) * np.log(likelihood.choices.n_sides)
        lost = found.loss >= _NO_BETTER * guessed
        if lost or (not found.converged and few < max_iter):
            # the curvature was of no use: without it, from the start or from where it led
            again = start if lost else best
            found = minimise(loss, again, max_iter, tol, progress, memory=_MEMORY)
            best = found.X
    if shares is None:
        best, shares = best[:-1].reshape(X.shape), np.array([expit(best[-1] * _UNIT)])
    return ChoiceFit(best, shares, found.loss, found.n_iter, found.converged)


def _loss(
    likelihood: Likelihood,
    shape: tuple[int, ...],
    l2: float,
    shares: FloatArray | None,
    times: float = 1.0,
) -> Loss:
    """The penalised loss of coordinates; without shares, of these and the logit of the share.

    Parameters
    ----------
    times
        How often each answer counts.
    """

    def of_coordinates(x: FloatArray) -> tuple[float, FloatArray]:
        assert shares is not None
        loss, slope, _ = likelihood(x, shares)
        return with_l2(times * loss, times * slope, x, l2)

    def of_both(x: FloatArray) -> tuple[float, FloatArray]:
        at, share = x[:-1].reshape(shape), expit(x[-1] * _UNIT)
        loss, slope, of_share = likelihood(at, np.array([share]))
        loss, slope = with_l2(times * loss, times * slope, at, l2)
        loss -= BLIND * np.log(share) + SEEING * np.log1p(-share)
        of_share = times * of_share * share * (1 - share) - BLIND * (1 - share) + SEEING * share
        return float(loss), np.append(slope, of_share * _UNIT)

    return of_both if shares is None else of_coordinates


@dataclass(frozen=True)
class Part:
    """Some of very many answers.

    Attributes
    ----------
    likelihood : Likelihood
    rows : (M,) int64
        Which of the different answers.
    times : float
        How many times more all answers are.
    """

    likelihood: Likelihood
    rows: IntArray
    times: float


def part_of_answers(likelihood: Likelihood, l2: float, each: int = _EACH) -> Part | None:
    """One answer in eight, drawn at random; None where they are too few."""
    counted = np.flatnonzero(likelihood.weight)
    size, weight = len(counted) // _PART, likelihood.weight / max(likelihood.weight.max(), 1e-300)
    if weight.sum() ** 2 < _EVEN * len(counted) * (weight**2).sum():
        return None  # a few answers count for all: a part may not have them
    if l2 * len(counted) < _LEAST_HELD * float(likelihood.weight.sum()):
        return None  # no penalty to speak of: coordinates run away, and their curvature with them
    if size < max(_LEAST_PART, each * likelihood.choices.n_objects):
        return None
    rng = np.random.default_rng(len(counted))
    rows = np.sort(rng.choice(counted, size, replace=False, shuffle=False))
    some = likelihood.part(rows)
    return Part(some, rows, float(likelihood.weight.sum() / some.weight.sum()))


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
    most = min(n_components + _MORE, statements.n_objects - 1)
    more = n_components if statements.kind == "central" else most
    X = _lens_map(statements, more, rng)
    return _start_from(X, statements, likelihood, n_components, l2)


def _start_from(
    X: FloatArray, statements: Statements, likelihood: Likelihood, d: int, l2: float
) -> Start:
    part = part_of_answers(likelihood, l2, _EACH_TO_START)
    if part is None:
        return _first_start(statements, likelihood, X, d, l2)
    first = _start_from(X, statements, part.likelihood, d, l2)
    found = fit_choices(part.likelihood, first.X, first.lapse, l2, max_iter=100, tol=1e-5)
    return Start(found.X, float(found.lapse[0]))


def _first_start(
    statements: Statements, likelihood: Likelihood, X: FloatArray, d: int, l2: float
) -> Start:
    share, part = np.array([START_LAPSE]), part_of_answers(likelihood, l2)
    # a scale needs few answers
    some, held = (likelihood, l2) if part is None else (part.likelihood, l2 / part.times)
    X = best_scale(lambda x: with_l2(*some(x, share)[:2], x, held), X)
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
