"""Which shape a map has, by likelihood: a cloud, a line, a ring, arms or groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from trilens._typing import FloatArray, IntArray
from trilens.lens import laplacian_eigenvectors
from trilens.questions.clouds import FORMS, Shape as Cloud
from trilens.questions.cluster.spectral import neighbour_graph

Shape: TypeAlias = Literal["cloud", "line", "ring", "arms", "groups"]

#: Of fewer objects no shape is named.
LEAST_OBJECTS = 12
#: Steps of the EM algorithm, and the gain in log-likelihood below which it ends.
_STEPS, _LEAST_GAIN = 40, 0.02
#: Knots of a ring, of a line and of each arm; of clouds in a plane, a line and a space.
_RING, _LINE, _ARM, _CLOUD = 30, 40, 10, (25, 49, 120)
#: The scales of a long tail.
_SCALES = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
#: Numbers of arms: two are a bent line.
_ARMS = (3, 4, 5)
#: How far objects may lie off a line, a ring or arms, by the standard deviation of the map.
_THIN = 0.28
#: How much better than every other shape a line, a ring or arms must be, in log-likelihood.
_CLEARLY = 3.0
#: A second axis shorter than this share of the first makes a straight line.
_STRAIGHT = 0.22
#: Errors larger than this share of the map's breadth hide how thin it is.
_UNSEEN = 0.3
#: Arms and groups hold so many objects at least, or such a share of all.
_LEAST_GROUP, _LEAST_SHARE = 4, 1 / 12
#: Between two groups the density falls to this share of the lower one of their peaks.
_DIP = 0.6


@dataclass(frozen=True)
class Fitted:
    """A shape, fitted to a map."""

    #: Its log-likelihood, less half the logarithm of the number of objects for each parameter
    #: (Schwarz, 1978).
    score: float
    #: Its log-likelihood alone.
    likelihood: float
    #: How far objects lie off it, by the standard deviation of the map.
    spread: float
    #: (K, d): where it runs.
    knots: FloatArray = field(repr=False)
    #: (K,): where on it each knot lies: from 0 to 1 along a line and outwards on an arm, in
    #: radians on a ring.
    along: FloatArray = field(repr=False)
    #: (K,): the arm or group that each knot belongs to.
    part: IntArray = field(repr=False)
    #: (parts,): about the knots.
    variances: FloatArray = field(repr=False)
    weights: FloatArray = field(repr=False)

    def near(self, points: FloatArray, errors: FloatArray) -> FloatArray:
        """The probability that each object belongs to each knot, (n, K)."""
        return _near(points, errors, self.knots, self.part, self.variances, self.weights)[0]


@dataclass(frozen=True)
class Shapes:
    """How well each shape describes a map."""

    #: By shape; of a cloud the best one. Empty where there are too few objects.
    fits: Mapping[Shape, Fitted] = field(repr=False)
    #: The score of the best cloud that is skewed or has a long tail, and of those that are neither.
    rest: float = -np.inf
    plain: Mapping[str, float] = field(default_factory=dict)
    #: The largest log-likelihood of a cloud that is neither.
    likely: float = -np.inf
    #: How many groups there may be: large enough, and with a dip between them.
    numbers: frozenset[int] = frozenset()

    @property
    def scores(self) -> dict[str, float]:
        """How much better each shape is than a cloud, in log-likelihood."""
        if not self.fits:
            return {}
        cloud = self.fits["cloud"].score
        return {name: float(fit.score - cloud) for name, fit in self.fits.items()}

    @property
    def curve(self) -> Shape | None:
        """The line, the ring or the arms that describe the map clearly better than all else."""
        if not self.fits:
            return None
        best = max(self.fits, key=lambda name: self.fits[name].score)
        if best in ("cloud", "groups") or not self._thin(best):
            return None
        others = (fit.score for name, fit in self.fits.items() if name != best)
        return best if self.fits[best].score > max(others) + _CLEARLY else None

    @property
    def groups(self) -> float:
        """How much better groups are than all else; up to 0 they are not."""
        if "groups" not in self.fits:
            return -np.inf
        others = (fit.score for name, fit in self.fits.items() if name != "groups")
        return self.fits["groups"].score - max(others)

    def beyond(self, cloud: str) -> float:
        """How much better groups are than a plain cloud of one form."""
        return self.fits["groups"].score - self.plain[cloud] if "groups" in self.fits else -np.inf

    @property
    def n_groups(self) -> int:
        """Of the groups that describe the map best; 0 where none could be fitted."""
        return len(self.fits["groups"].knots) if "groups" in self.fits else 0

    def members(self, points: FloatArray, errors: FloatArray) -> IntArray:
        """The group of each object, by errors that are the same in every direction, (n,)."""
        return np.asarray(self.fits["groups"].near(points, errors).argmax(axis=1))

    @property
    def divided(self) -> bool:
        """Whether groups are better than clouds that are not plain and than a thin curve.

        Plain clouds, with which maps are compared by chance, may have the better score, which
        counts parameters, but not the larger likelihood.
        """
        if "groups" not in self.fits:
            return not self.fits
        rivals = [self.rest if "ring" in self.fits else max(self.plain.values())]
        rivals += [
            fit.score
            for name, fit in self.fits.items()
            if name not in ("cloud", "groups") and self._thin(name)
        ]
        groups = self.fits["groups"]
        return groups.score > max(rivals) and groups.likelihood > self.likely

    def _thin(self, name: Shape) -> bool:
        return self.fits[name].spread <= _THIN


def is_straight(points: FloatArray, errors: FloatArray) -> bool:
    """Whether a map along its axes is a straight line, but for the errors of places."""
    if points.shape[1] == 1:
        return True
    seen = points.var(axis=0) - np.einsum("nii->i", errors) / len(points)
    return bool(np.sqrt(max(seen[1:].max(), 0.0)) <= _STRAIGHT * np.sqrt(max(seen[0], 0.0)))


def shows_shapes(points: FloatArray, errors: FloatArray) -> bool:
    """Whether the errors of places on a map along its axes are small enough to see a thin shape.

    Of a map of one dimension too: a second one as narrow as they are would not have been seen.
    """
    largest = np.einsum("nii->i", errors).max() / len(points)
    return bool(largest <= _UNSEEN**2 * points.var(axis=0).max())


def fit_shapes(
    points: FloatArray,
    errors: FloatArray,
    divisions: Sequence[IntArray],
    only: Cloud | None = None,
) -> Shapes:
    """Fit every shape to a map.

    A shape is a set of knots, whose places are linear in its parameters. Objects lie about the
    knots, and are seen with the errors of their places, taken as the same in every direction.
    Lines, rings, arms and groups so become mixtures of Gaussians, which the EM algorithm fits,
    started from divisions into 2, 3, ... parts. With ``only``, groups and that plain cloud are.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 6.28, 50)
    >>> ring = np.c_[np.cos(angle), np.sin(angle)] + 0.05 * rng.normal(size=(50, 2))
    >>> fit_shapes(ring, np.zeros((50, 2, 2)), []).curve
    'ring'
    """
    n, d = points.shape
    if n < LEAST_OBJECTS:
        return Shapes({})
    fit = _Fit(points, np.einsum("nii->n", errors) / d)
    few = [labels for labels in divisions if (labels.max() + 1) * fit.least <= n]
    plain = {cloud: fit.plain(cloud) for cloud in (FORMS if only is None else (only,))}
    uneven: list[Fitted] = []
    found: dict[Shape, list[Fitted]] = {"groups": [fit.groups(labels) for labels in few]}
    found["groups"] += [fit.groups(labels, alike=False) for labels in few[:3]]
    found["groups"] = [one for one in found["groups"] if fit.filled(one) and fit.parted(one)]
    if only is None:
        found["line"] = fit.lines()
        if d > 1:
            uneven = [fit.long_tail(), *fit.skewed()]
            found["ring"] = [fit.ring()]
            found["arms"] = [one for one in fit.arms(divisions) if fit.filled(one)]
    even = [one for cloud, one in plain.items() if cloud != "simplex"]
    found["cloud"] = even + uneven
    best = {name: max(each, key=lambda one: one.score) for name, each in found.items() if each}
    return Shapes(
        best,
        max((one.score for one in uneven), default=-np.inf),
        {cloud: one.score for cloud, one in plain.items()},
        max((one.likelihood for one in even), default=-np.inf),
        frozenset(len(one.knots) for one in found["groups"]),
    )


class _Fit:
    """One map, and the shapes to fit to it."""

    def __init__(self, points: FloatArray, errors: FloatArray) -> None:
        self._X, self._errors = points, errors
        self._mean = points.mean(axis=0)
        self._axes = np.linalg.svd(points - self._mean, full_matrices=False)[2]
        self._total = float(points.var(axis=0).mean())

    # clouds

    def plain(self, cloud: Cloud) -> Fitted:
        """The best one of a form."""
        d = self._X.shape[1]
        if cloud == "gaussian":
            each = [
                self._tails(np.ones(1), d + d * (d + 1) / 2),
                self._knots(np.ones((1, 1)), self._mean[None], d + 1),
            ]
        elif cloud == "box" or d == 1:
            each = [self._spread_out((2 * self._uniform() - 1) * np.sqrt(3), self._axes)]
        else:
            first = self._in_simplex()
            turned = np.c_[first[:, 1], first[:, 0], first[:, 2:]]
            each = [self._spread_out(latent, self._axes) for latent in (first, turned)]
        return max(each, key=lambda one: one.score)

    def long_tail(self) -> Fitted:
        d = self._X.shape[1]
        return self._tails(_SCALES, d + d * (d + 1) / 2 + len(_SCALES) - 1)

    def skewed(self) -> list[Fitted]:
        """Log-normal along axes that are those of the map, or half-way between them."""
        from scipy.special import ndtri

        latent = np.exp(ndtri(self._uniform()))
        latent = (latent - np.exp(0.5)) / 1.5
        half = np.eye(len(self._axes))
        half[:2, :2] = np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
        return [self._spread_out(latent, axes) for axes in (self._axes, half @ self._axes)]

    def _uniform(self) -> FloatArray:
        from scipy.stats import qmc

        d = self._X.shape[1]
        some = _CLOUD[min(d, len(_CLOUD)) - 1]
        return np.asarray(qmc.Halton(d, scramble=False).random(some + 1)[1:], dtype=np.float64)

    def _in_simplex(self) -> FloatArray:
        """Evenly in a triangle, or what that is in other dimensions, a corner along the first axis.

        Along each axis the variance is 1.
        """
        at = np.sort(self._uniform(), axis=1)
        n, d = at.shape
        shares = np.diff(np.c_[np.zeros(n), at, np.ones(n)], axis=1) - 1 / (d + 1)
        axes = np.linalg.qr(np.c_[np.ones(d + 1), np.eye(d + 1)[:, :-1]])[0][:, 1:]
        axes *= np.sign(axes[0, 0])
        found: FloatArray = shares @ axes * np.sqrt((d + 1) * (d + 2))
        return found

    def _spread_out(self, latent: FloatArray, axes: FloatArray) -> Fitted:
        along = (self._X - self._mean) @ axes.T
        sign = np.where((along**3).mean(axis=0) < 0, -0.9, 0.9)
        start = np.r_[self._mean[None], axes * (along.std(axis=0) * sign)[:, None]]
        d = self._X.shape[1]
        return self._knots(np.c_[np.ones(len(latent)), latent], start, d + d * d)

    def _tails(self, scales: FloatArray, parameters: float) -> Fitted:
        """Gaussians about one centre, with covariances in these proportions."""
        n, d = self._X.shape
        seen = self._X - self._mean
        values = np.maximum((seen**2).mean(axis=0) - self._errors.mean(), 1e-3 * self._total)
        # the map lies along its axes
        variance = scales[:, None] ** 2 * values + self._errors[:, None, None]
        centre, weights = np.zeros(d), np.full(len(scales), 1 / len(scales))
        for _ in range(_STEPS if len(scales) > 1 else 1):
            off = seen - centre
            log = np.log(weights) - 0.5 * (
                np.log(2 * np.pi * variance) + off[:, None] ** 2 / variance
            ).sum(axis=2)
            top = log.max(axis=1, keepdims=True)
            P = np.exp(log - top)
            total = P.sum(axis=1, keepdims=True)
            P /= total
            weights = P.mean(axis=0) + 1e-9
            if len(scales) > 1:
                pull = (P[:, :, None] / variance).sum(axis=1)
                centre = (pull * seen).sum(axis=0) / pull.sum(axis=0)
        likelihood = float((top + np.log(total)).sum())
        score = likelihood - parameters / 2 * np.log(n)
        knots = np.tile(self._mean, (len(scales), 1))
        part = np.arange(len(scales))
        along = np.zeros(len(scales))
        variances = scales**2 * values.mean()
        return Fitted(score, likelihood, 1.0, knots, along, part, variances, weights)

    # curves

    def ring(self) -> Fitted:
        """Or an ellipse, in any plane."""
        angle = np.linspace(0, 2 * np.pi, _RING, endpoint=False)
        basis = np.c_[np.ones(_RING), np.cos(angle), np.sin(angle)]
        radii = 1.3 * ((self._X - self._mean) @ self._axes[:2].T).std(axis=0)
        start = np.r_[self._mean[None], self._axes[:2] * radii[:, None]]
        return self._knots(basis, start, 3 * self._X.shape[1], along=angle)

    def lines(self) -> list[Fitted]:
        """Straight, bent and bent twice, started along the first axis and along neighbours."""

        n, d = self._X.shape
        first = (self._X - self._mean) @ self._axes[0]
        starts = [(first, (1, 2) if d > 1 else (1,))]
        if d > 1:
            along = laplacian_eigenvectors(neighbour_graph(self._X), 3)[1][:, 1]
            starts.append((along, (2, 3)))
        at = np.linspace(-1, 1, _LINE)
        found = []
        for along, degrees in starts:
            rank = (2 * along.argsort(kind="stable").argsort() + 1) / n - 1
            for degree in degrees:
                powers = np.vander(rank, degree + 1)
                start = np.asarray(np.linalg.lstsq(powers, self._X, rcond=None)[0], np.float64)
                basis = np.vander(at, degree + 1)
                parameters = (degree + 1) * d + 1
                found.append(self._knots(basis, start, parameters, along=(at + 1) / 2))
        return found

    def arms(self, divisions: Sequence[IntArray]) -> list[Fitted]:
        """From the mean, or from the most central of one part more."""
        d, out = self._X.shape[1], (np.arange(_ARM) + 0.5) / _ARM
        found = []
        for number in _ARMS:
            part = np.repeat(np.arange(number), _ARM)
            along = np.tile(out, number)[:, None] * (part[:, None] == np.arange(number))
            basis = np.c_[np.ones(len(part)), along]
            for labels in divisions[number - 2 : number]:
                centres = self._centres(labels)
                if len(centres) == number:
                    start = np.r_[self._mean[None], 2 * (centres - self._mean)]
                else:
                    far = ((centres[:, None] - centres) ** 2).sum(axis=(1, 2)).argmin()
                    middle, centres = centres[far], np.delete(centres, far, axis=0)
                    start = np.r_[middle[None], 1.5 * (centres - middle)]
                parameters = (number + 1) * d + number
                found.append(self._knots(basis, start, parameters, part, along=along.sum(axis=1)))
        return found

    # groups

    def groups(self, labels: IntArray, alike: bool = True) -> Fitted:
        """Of one spread, or each of its own."""
        centres = self._centres(labels)
        number, d = centres.shape
        parameters = number * d + number + (0 if alike else number - 1)
        return self._knots(np.eye(number), centres, parameters, np.arange(number), alike)

    def filled(self, shape: Fitted) -> bool:
        """Whether every arm or group has enough objects."""
        parts = np.arange(len(shape.weights))
        each = shape.near(self._X, self._errors) @ (shape.part[:, None] == parts)
        sizes = np.bincount(each.argmax(axis=1), minlength=len(parts))
        return bool(sizes.min() >= self.least)

    @property
    def least(self) -> float:
        """How many objects an arm or a group has at least."""
        n = len(self._X)
        return min(max(_LEAST_GROUP, _LEAST_SHARE * n), n / 4)

    def parted(self, groups: Fitted) -> bool:
        """Whether the density dips between every two groups."""
        i, j = np.triu_indices(len(groups.knots), 1)
        share = np.linspace(0, 1, 21)[:, None, None]
        between = groups.knots[i] * (1 - share) + groups.knots[j] * share
        d, v = self._X.shape[1], groups.variances
        square = ((between[:, :, None] - groups.knots) ** 2).sum(axis=3)
        density = (groups.weights * v ** (-d / 2) * np.exp(-0.5 * square / v)).sum(axis=2)
        return bool((density.min(axis=0) <= _DIP * density[[0, -1]].min(axis=0)).all())

    def _centres(self, labels: IntArray) -> FloatArray:
        member = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
        return np.asarray((member.T @ self._X) / member.sum(axis=0)[:, None])

    def _knots(
        self,
        basis: FloatArray,
        start: FloatArray,
        parameters: float,
        part: IntArray | None = None,
        alike: bool = True,
        along: FloatArray | None = None,
    ) -> Fitted:
        """The mixture whose knots are ``basis @ theta``, by the EM algorithm.

        The weights of the knots of a part are equal; those of parts are free. The true place of
        an object is unknown as well (Bovy, Hogg and Roweis, 2011).
        """
        X, e = self._X, self._errors[:, None]
        n, d = X.shape
        if part is None:
            part = np.zeros(len(basis), dtype=np.int64)
        parts = int(part.max()) + 1
        theta, weights = start, np.full(parts, 1 / parts)
        s = np.full(parts, 0.1 * self._total)
        before = -np.inf
        for _ in range(_STEPS):
            knots = basis @ theta
            P, likelihood, square = _near(X, e[:, 0], knots, part, s, weights)
            if likelihood - before < _LEAST_GAIN:
                break
            before = likelihood
            v = s[part] + e
            kept = s[part] / v
            W, moved = P.sum(axis=0), P * kept
            place = (W - moved.sum(axis=0))[:, None] * knots + moved.T @ X
            A = (basis * W[:, None]).T @ basis
            A[np.diag_indices_from(A)] += 1e-9 * np.trace(A) / len(A)
            theta = np.linalg.solve(A, basis.T @ place)
            shift = knots - basis @ theta
            cross = X @ shift.T - (knots * shift).sum(axis=1)
            off = W * (shift**2).sum(axis=1) + (moved * (2 * cross + kept * square)).sum(axis=0)
            off += d * (P * (s[part] - s[part] * kept)).sum(axis=0)
            each = np.bincount(part, W, parts)
            s = np.bincount(part, off, parts) / (each * d + 1e-9)
            if alike:
                s = np.full(parts, (s * each).sum() / n)
            s = np.maximum(s, 1e-4 * self._total)
            weights = each / n + 1e-9
        score = likelihood - parameters / 2 * np.log(n)
        spread = float(np.sqrt((weights * s).sum() / self._total))
        along = np.zeros(len(knots)) if along is None else along
        return Fitted(score, likelihood, spread, knots, along, part, s, weights)


def _near(
    X: FloatArray,
    errors: FloatArray,
    knots: FloatArray,
    part: IntArray,
    variances: FloatArray,
    weights: FloatArray,
) -> tuple[FloatArray, float, FloatArray]:
    """Which knots the objects belong to, the log-likelihood, and squared distances."""
    d = X.shape[1]
    square = (X**2).sum(axis=1)[:, None] - 2 * X @ knots.T + (knots**2).sum(axis=1)
    v = variances[part] + errors[:, None]
    log = np.log(weights / np.bincount(part))[part] - 0.5 * (square / v + d * np.log(2 * np.pi * v))
    top = log.max(axis=1, keepdims=True)
    P = np.exp(log - top)
    total = P.sum(axis=1, keepdims=True)
    return P / total, float((top + np.log(total)).sum()), square
