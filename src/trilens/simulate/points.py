"""Points with a known layout: Gaussians, mixtures, two moons, planted outliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import generator, real_number, shown, whole_number, wrong
from trilens._typing import FloatArray, IntArray, RandomState
from trilens.errors import ParameterError
from trilens.statements.columns import as_array

#: The label of an outlier planted by `with_outliers`.
OUTLIER = -1
#: Objects are numbered by 32 bits.
_MOST = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Points:
    """Points and the component that each was drawn from.

    Parameters
    ----------
    points : (n, d) float64
    labels : (n,) int64
        0, 1, ... for the components; -1 for a planted outlier.
    """

    points: FloatArray
    labels: IntArray

    def __len__(self) -> int:
        return len(self.points)

    @property
    def outliers(self) -> IntArray:
        """The ids of the planted outliers."""
        return np.flatnonzero(self.labels == OUTLIER)


def gaussian(n: int, n_components: int = 2, random_state: RandomState = 0) -> Points:
    """``n`` points of the standard Gaussian N(0, I) in ``n_components`` dimensions, labeled 0.

    >>> gaussian(100, n_components=5, random_state=0).points.shape
    (100, 5)
    """
    n, d = whole_number("n", n, 1, _MOST), whole_number("n_components", n_components, 1, _MOST)
    rng = generator(random_state)
    return Points(rng.standard_normal((n, d)), np.zeros(n, dtype=np.int64))


def mixture(
    n: int,
    means: ArrayLike,
    covariances: ArrayLike | None = None,
    weights: Sequence[float] | None = None,
    random_state: RandomState = 0,
) -> Points:
    """``n`` points of a mixture of Gaussians, labeled by component.

    Parameters
    ----------
    n : int
    means : (K, d) array
    covariances : (d, d) or (K, d, d) array, optional
        One for all components or one each; by default the identity.
    weights : (K,) sequence, optional
        The components' probabilities; by default they are equally probable.
    random_state

    Examples
    --------
    >>> drawn = mixture(140, [[0, 0], [3, 0]], random_state=0)
    >>> drawn.points.shape, sorted(set(drawn.labels.tolist()))
    ((140, 2), [0, 1])
    """
    n = whole_number("n", n, 1, _MOST)
    centres = _numbers(means, "means")
    if centres.ndim != 2 or not centres.size or not np.isfinite(centres).all():
        raise ParameterError(
            f"means has shape {centres.shape}; it must be a (components, dim) array of numbers",
            parameter="means",
        )
    K, dim = centres.shape
    p = np.full(K, 1 / K) if weights is None else _numbers(weights, "weights")
    if p.shape != (K,) or not (p >= 0).all() or not np.isclose(p.sum(), 1):
        raise wrong("weights", weights, f"{K} probabilities that add up to 1")
    spread = np.eye(dim) if covariances is None else _numbers(covariances, "covariances")
    if spread.shape not in {(dim, dim), (K, dim, dim)}:
        raise ParameterError(
            f"covariances has shape {spread.shape}; it must be {(dim, dim)} or {(K, dim, dim)}"
        )
    try:
        factor = np.broadcast_to(np.linalg.cholesky(spread), (K, dim, dim))
    except np.linalg.LinAlgError:
        raise ParameterError(
            "covariances must be positive definite", parameter="covariances"
        ) from None
    rng = generator(random_state)
    labels = rng.choice(K, size=n, p=p / p.sum())
    noise = rng.standard_normal((n, dim))
    points = centres[labels] + np.einsum("nij,nj->ni", factor[labels], noise)
    return Points(points, labels.astype(np.int64))


def two_moons(
    n: int, noise: float = 0.0, width: float = 0.0, random_state: RandomState = 0
) -> Points:
    """``n`` points uniform on two interleaved moons of equal size, labeled 0 and 1.

    A moon is a half ring of radius 1 about (0, 0) (the upper one) or (1, 1/2) (the lower one);
    each holds half of the points.

    Parameters
    ----------
    n : int
    noise : float
        Standard deviation of the Gaussian noise added to each coordinate.
    width : float
        Thickness of the half rings, on whose area the points are uniform; 0: half circles.
    random_state

    Examples
    --------
    >>> moons = two_moons(200, noise=0.05, random_state=0)
    >>> np.bincount(moons.labels).tolist()
    [100, 100]
    """
    n = whole_number("n", n, 1, _MOST)
    noise, width = real_number("noise", noise, 0), real_number("width", width, 0, 2)
    rng = generator(random_state)
    labels = np.arange(n) * 2 // max(n, 1)
    angle = np.pi * rng.random(n)
    inner, outer = 1 - width / 2, 1 + width / 2
    # uniform on the area: the square of the radius is uniform
    radius = np.sqrt(inner**2 + (outer**2 - inner**2) * rng.random(n))
    sign = 1 - 2 * labels
    points = np.column_stack([radius * np.cos(angle), sign * radius * np.sin(angle)])
    points = points * np.column_stack([sign, np.ones(n)]) + labels[:, None] * np.array([1.0, 0.5])
    points += noise * rng.standard_normal((n, 2))
    return Points(points, labels.astype(np.int64))


def with_outliers(points: Points, outliers: ArrayLike) -> Points:
    """The points and, after them, outliers planted at the given places, labeled -1.

    >>> moons = two_moons(200, random_state=0)
    >>> with_outliers(moons, [[0.5, 0.25], [4, 4]]).outliers.tolist()
    [200, 201]
    """
    places = _numbers(outliers, "outliers")
    dim = _drawn(points).points.shape[1]
    if places.ndim != 2 or places.shape[1] != dim or not np.isfinite(places).all():
        raise ParameterError(
            f"outliers has shape {places.shape}; it must be a (number, {dim}) array of numbers"
        )
    planted = np.full(len(places), OUTLIER, dtype=np.int64)
    return Points(np.concatenate([points.points, places]), np.concatenate([points.labels, planted]))


def far_outliers(points: Points, n_outliers: int, random_state: RandomState = 0) -> Points:
    """The points and, after them, outliers far out in random directions, labeled -1.

    Each lies at 1.5 to 2.5 times the largest distance of a point from the points' mean.

    >>> far_outliers(gaussian(50, random_state=0), 4, random_state=1).outliers.tolist()
    [50, 51, 52, 53]
    """
    n_outliers = whole_number("n_outliers", n_outliers, most=_MOST)
    # a child, because points of the same seed must not tell where the outliers lie
    (rng,) = generator(random_state).spawn(1)
    centre = _drawn(points).points.mean(axis=0)
    reach = np.linalg.norm(points.points - centre, axis=1).max()
    direction = rng.standard_normal((n_outliers, points.points.shape[1]))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    distance = reach * rng.uniform(1.5, 2.5, size=(n_outliers, 1))
    return with_outliers(points, centre + distance * direction)


def _numbers(values: ArrayLike, what: str) -> FloatArray:
    try:
        return as_array(values, what).astype(np.float64, casting="same_kind")
    except TypeError:
        raise ParameterError(
            f"{what} must be numbers, got {shown(values)}", parameter=what
        ) from None


def _drawn(points: Points) -> Points:
    if not isinstance(points, Points) or not len(points):
        raise ParameterError(
            f"points must be non-empty Points, got {shown(points)}", parameter="points"
        )
    return points
