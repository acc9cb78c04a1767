"""Long tails: how a cloud thins out, and whether a gap in it is wider than a tail leaves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trilens._typing import AnyArray, BoolArray, FloatArray
from trilens.kinds import Kind

#: Degrees of freedom of Student's t, from tails heavier than real studies have to the Gaussian.
_FREEDOM = np.array([2, 2.5, 3, 4, 5, 7, 10, 15, 25, 50, 1000.0])
#: Shares of a halo, and how many times wider than the core it is. A halo of fewer objects is
#: a few objects that stand apart.
_HALOS = np.array([(w, q) for w in (0.2, 0.33, 0.5) for q in (1.5, 2, 2.7, 4, 6)])
#: Scales, by the median distance from the middle.
_SCALES = np.geomspace(0.3, 3, 41)
#: So many times the root of the number of objects may stand apart: few of many.
_APART = 0.6
#: The most surprising of several gaps is less of a surprise: the smallest one counts so many
#: times, and of more than six gaps in proportion more. Measured on maps of studies with
#: tails, see docs/claims.md. Answers about the most central object draw far objects in, so that
#: gaps on their maps are narrower.
_GAPS = {"central": 1.25, "odd": 2.5, "closer": 3.0}
#: Beyond so many objects those inside are represented by some.
_MOST_INSIDE = 800


@dataclass(frozen=True, eq=False)
class Tail:
    """How far out each object of a map is, and what tails explain that.

    Parameters
    ----------
    coordinates : (n, d) array
        A map.
    kind : {"central", "odd", "closer"}
        Of the statements that drew it.

    Notes
    -----
    The tails are those of scale mixtures of Gaussians: Student's t with 2 to 1000 degrees of
    freedom, and a core in a halo. None is chosen; each counts as much as it explains the
    distances of all objects but the k farthest, of which it is told only that they are farther
    than the others. So far objects do not explain themselves away.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> cloud = rng.standard_normal((60, 2))
    >>> Tail(cloud).p_value > 0.05
    True
    >>> Tail(np.r_[cloud, [[9, 0], [0, 10]]]).outside.nonzero()[0].tolist()
    [60, 61]
    """

    coordinates: FloatArray
    kind: Kind = "odd"

    @cached_property
    def radius(self) -> FloatArray:
        """(n,): the distance from the middle."""
        radius = np.linalg.norm(self.coordinates - np.median(self.coordinates, axis=0), axis=1)
        usual = float(np.median(radius)) or 1.0
        return np.asarray(np.maximum(radius, 1e-3 * usual), dtype=np.float64)

    @property
    def most_apart(self) -> int:
        """How many objects may stand apart."""
        return max(1, round(_APART * float(np.sqrt(len(self.coordinates)))))

    @cached_property
    def surprises(self) -> FloatArray:
        """For k = 1, 2, ...: how likely a tail leaves so wide a gap inside its k farthest.

        That is the probability that k objects farther out than the next one are all at least
        as far out as they are.
        """
        return self._surprises(slice(None))

    @property
    def p_value(self) -> float:
        """How often a tail leaves a gap as surprising as the most surprising one."""
        return self._p_value(self.surprises)

    @property
    def p_gaussian(self) -> float:
        """The same for the tail of a Gaussian cloud."""
        last = (len(_FREEDOM) - 1) * len(_SCALES)
        return self._p_value(self._surprises(slice(last, last + len(_SCALES))))

    @property
    def outside(self) -> BoolArray:
        """(n,): the objects outside the most surprising gap."""
        found = np.zeros(len(self.radius), dtype=np.bool_)
        found[np.argsort(-self.radius, kind="stable")[: self.surprises.argmin() + 1]] = True
        return found

    def _p_value(self, surprises: FloatArray) -> float:
        times = _GAPS[self.kind] * max(1.0, self.most_apart / 6)
        return float(min(1.0, times * surprises.min()))

    def _surprises(self, models: slice) -> FloatArray:
        beyond, fit = (one[models] for one in self._fits)
        weights = np.exp(fit - fit.max(axis=0))
        weights /= weights.sum(axis=0)
        k = np.arange(1, self.most_apart + 1)
        inner, outer = beyond[:, -k - 1], beyond[:, -k]
        found: FloatArray = (weights * np.exp(k * (outer - inner))).sum(axis=0)
        return found

    @cached_property
    def _fits(self) -> tuple[FloatArray, FloatArray]:
        """Log chances to be farther out, (models, distances), and log weights, (models, k)."""
        radius = np.sort(self.radius)
        n, most = len(radius), self.most_apart
        times = np.ones(n)
        if n > _MOST_INSIDE + most + 1:
            inside = n - most - 1
            some = np.unique(np.linspace(0, inside - 1, _MOST_INSIDE).astype(int))
            radius = radius[np.r_[some, np.arange(inside, n)]]
            times = np.r_[np.full(len(some), inside / len(some)), np.ones(most + 1)]
        density, beyond, prior = _log_chances(radius, self.coordinates.shape[1])
        within = np.cumsum(density * times, axis=1)
        k = np.arange(1, most + 1)
        return beyond, within[:, -k - 1] + k * beyond[:, -k - 1] + prior[:, None]


def _log_chances(radius: FloatArray, d: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The log density of distances, the log chance of larger ones, and the models' log prior."""
    from scipy.special import betainc, gammaincc, gammaln

    scales = (_SCALES * float(np.median(radius)))[:, None]
    z = (radius / scales) ** 2
    shell = (d - 1) * np.log(radius) - d * np.log(scales) + np.log(2) - gammaln(d / 2)
    v = _FREEDOM[:, None, None]
    density = gammaln((v + d) / 2) - gammaln(v / 2) - d / 2 * np.log(v)
    density = density + shell - (v + d) / 2 * np.log1p(z / v)
    beyond = _log(betainc(v / 2, d / 2, v / (v + z)))
    core, core_beyond = np.exp(-z / 2), gammaincc(d / 2, z / 2)
    halo_density, halo_beyond = [], []
    for share, wide in _HALOS:
        halo = np.exp(-z / 2 / wide**2) / wide**d
        halo_density.append(shell - d / 2 * np.log(2) + _log((1 - share) * core + share * halo))
        outside = gammaincc(d / 2, z / 2 / wide**2)
        halo_beyond.append(_log((1 - share) * core_beyond + share * outside))
    of_each = [density.reshape(-1, len(radius)), np.concatenate(halo_density)]
    prior = np.concatenate([np.full(len(one), -np.log(len(one))) for one in of_each])
    return (
        np.concatenate(of_each),
        np.concatenate([beyond.reshape(-1, len(radius)), *halo_beyond]),
        prior,
    )


def _log(chance: AnyArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(chance, 1e-300)), dtype=np.float64)
