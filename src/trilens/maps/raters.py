"""Raters of the choice map: who they are, and how many of their answers are lapses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.statements import Statements

#: Lapses at which each rater's posterior is computed.
_GRID = (np.arange(200) + 0.5) / 200
#: Answers are counted by their probability, in so many classes.
_BINS = 512


@dataclass(frozen=True)
class RaterGroups:
    """Who gave each answer."""

    #: The raters, sorted by their text; of the type that they were given as.
    names: list[object]
    #: (m,): the rater of each answer; -1 where it is not known.
    of: IntArray

    def __len__(self) -> int:
        return len(self.names)


def group_raters(statements: Statements) -> RaterGroups | None:
    """The raters of statements; None where none is known.

    A rater who is None, NaN or an empty text is not known.
    """
    if statements.raters is None:
        return None
    raters: AnyArray = np.asarray(statements.raters)
    if raters.dtype.kind in "iub":
        missing = np.zeros(len(raters), dtype=np.bool_)
    elif raters.dtype.kind == "f":
        missing = np.isnan(raters)
    else:
        missing = np.array([r is None or r == "" or r != r for r in raters.tolist()], np.bool_)
    if missing.all():
        return None
    known = raters[~missing]
    if known.dtype == object:
        _, first, index = np.unique(known.astype(str), return_index=True, return_inverse=True)
        names = [known[i] for i in first]
    else:
        different, index = np.unique(known, return_inverse=True)
        names = different.tolist()
    of = np.full(len(raters), -1, dtype=np.int64)
    of[~missing] = index
    return RaterGroups(names, of)


def places_of_raters(names: Sequence[object], known: Sequence[object]) -> list[int]:
    """Where raters are among those that are known, by what they are called; -1: they are not.

    A rater who is a number in one study may be a text in the other.

    >>> places_of_raters(["7", 2, "x", 3.0], [7, "2", 3])
    [0, 1, -1, 2]
    """
    place: dict[object, int] = {str(name): i for i, name in enumerate(known)}
    place |= {name: i for i, name in enumerate(known)}
    return [place.get(name, place.get(str(name), -1)) for name in names]


@dataclass(frozen=True)
class RaterLapses:
    """Each rater's share of lapses, a posteriori."""

    #: The raters.
    names: list[object]
    #: (R,).
    mean: FloatArray
    #: (R,): the 95 % credible interval.
    low: FloatArray
    high: FloatArray

    @property
    def by_name(self) -> dict[object, float]:
        """The mean of each rater."""
        return dict(zip(self.names, self.mean.tolist(), strict=True))

    @property
    def intervals(self) -> dict[object, tuple[float, float]]:
        """The interval of each rater."""
        ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return dict(zip(self.names, ends, strict=True))


def estimate_lapses(
    chance: FloatArray, rater: IntArray, weight: FloatArray, names: list[object], n_sides: int
) -> RaterLapses:
    """Lapses with a Beta prior that is learned from all raters.

    Parameters
    ----------
    chance : (m,) array of float
        The probability of each answer, had it been an attentive one.
    rater : (m,) array of int
        From 0; answers of -1 are left out.
    weight : (m,) array of float
    names : list
        The raters.
    n_sides : int
        So many answers are possible to every question.
    """
    from scipy.optimize import minimize
    from scipy.special import betaln, logsumexp

    known, n_raters = rater >= 0, len(names)
    chance, rater, weight = chance[known], rater[known], weight[known]
    bins = np.minimum((chance * _BINS).astype(np.int64), _BINS - 1)
    counts = np.bincount(rater * _BINS + bins, weight, n_raters * _BINS).reshape(n_raters, _BINS)
    total = np.bincount(bins, weight, _BINS)
    typical = np.bincount(bins, weight * chance, _BINS) / np.where(total > 0, total, 1.0)
    table = np.log(np.outer(typical, 1 - _GRID) + _GRID / n_sides)
    # (R, G): the log-likelihood of each rater's answers for each share
    told = counts @ table
    x, y = np.log(_GRID), np.log1p(-_GRID)

    def log_prior(parameters: FloatArray) -> FloatArray:
        a, b = np.exp(parameters)
        values: FloatArray = (a - 1) * x + (b - 1) * y - betaln(a, b)
        return values

    def loss(parameters: FloatArray) -> float:
        if np.abs(parameters).max() > 6:
            return np.inf
        # A weak hyperprior keeps the prior of two or three raters from being a spike.
        evidence = logsumexp(told + log_prior(parameters), axis=1).sum()
        return float(0.1 * (parameters**2).sum() - evidence)

    found = minimize(loss, np.array([0.0, 0.7]), method="Nelder-Mead", options={"xatol": 1e-2})
    log_posterior = told + log_prior(found.x)
    posterior = np.exp(log_posterior - log_posterior.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    below = posterior.cumsum(axis=1)
    half = 0.5 / len(_GRID)
    low = _GRID[(below >= 0.025).argmax(axis=1)] - half
    high = _GRID[(below >= 0.975).argmax(axis=1)] + half
    return RaterLapses(names, posterior @ _GRID, low, high)
