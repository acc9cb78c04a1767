"""Objects in groups, with none that lies far from all others: what isolation is compared with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from trilens._typing import BoolArray, FloatArray, IntArray
from trilens.calibration import HEAVY_TAILS_PRIOR

#: Groups that are tried, and members that each has at least.
_MOST_GROUPS, _LEAST_MEMBERS = 5, 4
#: The variance of a group is at least this share of that of the map.
_LEAST_VARIANCE = 0.003
#: Degrees of freedom of the heavy tails.
_FREEDOM = 3.0
#: Steps by which Student's t is fitted.
_STEPS = 15


@dataclass(frozen=True, eq=False)
class Mixture:
    """One way to explain a map by groups."""

    #: (n,): of each object, those included that the groups were not fitted to.
    group: IntArray
    #: (g, d).
    centres: FloatArray
    #: (g, d, d): of the covariance of each group, or of the scale matrix of its Student's t.
    roots: FloatArray
    #: Whether its members scatter as Student's t, and not normally.
    heavy: bool
    #: Log-likelihood, less half the logarithm of the number of objects for each parameter.
    score: float

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Every object anew, from its own group; (n, d)."""
        n, d = len(self.group), self.centres.shape[1]
        z = rng.standard_normal((n, d))
        if self.heavy:
            z /= np.sqrt(rng.chisquare(_FREEDOM, (n, 1)) / _FREEDOM)
        moved = np.einsum("nij,nj->ni", self.roots[self.group], z)
        return np.asarray(self.centres[self.group] + moved)


@dataclass(frozen=True, eq=False)
class Mixtures:
    """Several ways to explain a map by groups, each with its weight."""

    each: tuple[Mixture, ...]
    #: By the Bayesian information criterion (Schwarz, 1978); they add up to 1.
    weights: FloatArray

    @property
    def heavy(self) -> float:
        """The weight of those with heavy tails."""
        return float(self.weights[self._are_heavy].sum())

    def draw(self, heavy: bool, rng: np.random.Generator) -> FloatArray:
        """A map by one of them, with heavy tails or without."""
        of = np.flatnonzero(self._are_heavy == heavy)
        chance = self.weights[of]
        if chance.sum() <= 0:
            chance = np.ones(len(of))
        return self.each[int(rng.choice(of, p=chance / chance.sum()))].draw(rng)

    @property
    def _are_heavy(self) -> BoolArray:
        return np.array([one.heavy for one in self.each])


def fit_mixtures(points: FloatArray, inside: IntArray, seed: int = 0) -> Mixtures:
    """Fit groups to the objects ``inside``; the others of the map join the likeliest group.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((30, 2)) + 9 * (np.arange(30) < 15)[:, None]
    >>> found = fit_mixtures(X, np.arange(30))
    >>> best = found.each[int(found.weights.argmax())]
    >>> best.group[:2].tolist() == best.group[13:15].tolist(), len(best.centres)
    (True, 2)
    """
    from threadpoolctl import threadpool_limits

    own = points[inside]
    floor = _LEAST_VARIANCE * float(own.var(axis=0).sum())
    found: list[Mixture] = []
    with threadpool_limits(1):
        for number in range(1, min(_MOST_GROUPS, len(own) // _LEAST_MEMBERS) + 1):
            for alike in (True, False):
                found += _fitted(points, inside, number, alike, floor, seed)
    score = np.array([one.score for one in found])
    prior = np.array([HEAVY_TAILS_PRIOR if one.heavy else 1.0 for one in found])
    weights = prior * np.exp(score - score.max())
    return Mixtures(tuple(found), weights / weights.sum())


def _fitted(
    points: FloatArray, inside: IntArray, number: int, alike: bool, floor: float, seed: int
) -> list[Mixture]:
    """Groups of one number, round or of any form, without heavy tails and with them."""
    from sklearn.mixture import GaussianMixture

    own, d = points[inside], points.shape[1]
    form = "spherical" if alike else "full"
    if d == 1 and not alike:
        return []
    model = GaussianMixture(number, covariance_type=form, reg_covar=floor, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        group = model.fit(own).predict(own)
    sizes = np.bincount(group, minlength=number)
    if sizes.min() < _LEAST_MEMBERS:
        return []
    every = model.predict(points)
    every[inside] = group
    shares = float((sizes * np.log(sizes / len(own))).sum())
    parameters = number * d + number - 1
    parameters += number if alike else number * d * (d + 1) // 2
    penalty = parameters / 2 * np.log(len(own))
    found = []
    for heavy in (False, True):
        of_each = [_scattered(own[group == g], heavy, alike, floor) for g in range(number)]
        centres, roots, likely = (np.array(part) for part in zip(*of_each, strict=True))
        score = float(likely.sum()) + shares - penalty
        found.append(Mixture(every, centres, roots, heavy, score))
    return found


def _scattered(
    X: FloatArray, heavy: bool, alike: bool, floor: float
) -> tuple[FloatArray, FloatArray, float]:
    """One group: its centre, the root of its covariance, and its log-likelihood."""
    from scipy.special import gammaln

    d = X.shape[1]
    centre, cov = X.mean(axis=0), _spread(X - X.mean(axis=0), alike, floor)
    for _ in range(_STEPS if heavy else 0):
        u = (_FREEDOM + d) / (_FREEDOM + _squares(X - centre, cov))
        centre = (u[:, None] * X).sum(axis=0) / u.sum()
        cov = _spread(np.sqrt(u)[:, None] * (X - centre), alike, floor)
    away, log_size = _squares(X - centre, cov), float(np.linalg.slogdet(cov)[1])
    if heavy:
        constant = gammaln((_FREEDOM + d) / 2) - gammaln(_FREEDOM / 2)
        constant -= 0.5 * (d * np.log(_FREEDOM * np.pi) + log_size)
        likely = constant - (_FREEDOM + d) / 2 * np.log1p(away / _FREEDOM)
    else:
        likely = -0.5 * (d * np.log(2 * np.pi) + log_size + away)
    root: FloatArray = np.asarray(np.linalg.cholesky(cov), dtype=np.float64)
    return np.asarray(centre), root, float(likely.sum())


def _spread(off: FloatArray, alike: bool, floor: float) -> FloatArray:
    d = off.shape[1]
    if alike:
        return np.asarray(np.eye(d) * ((off**2).mean() + floor))
    return np.asarray(off.T @ off / len(off) + floor * np.eye(d))


def _squares(off: FloatArray, cov: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ni,ij,nj->n", off, np.linalg.inv(cov), off))
