"""Clouds without groups and without outliers: what a map is compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import numpy as np

from trilens._typing import FloatArray, IntArray

#: Gaussian: thin at the rim, so that some points stand alone. Box: uniform, which falls into
#: parts more readily than round ones. Simplex: a uniform triangle, or what that is in other
#: dimensions, whose corners look like groups. Rings and crosses fall into parts still more readily.
Shape: TypeAlias = Literal["gaussian", "simplex", "box"]

#: Clouds of one shape. The largest but one of 39 is passed by chance in 5 % of clouds.
CLOUDS = 39
#: How much of the variance of a map its errors may be.
_MOST_ERROR = 0.8
#: The share of clouds that may be taken for more than a cloud.
LEVEL = 0.05


def clouds(
    coordinates: FloatArray,
    shape: Shape,
    most: int,
    rng: np.random.Generator,
    errors: FloatArray | None = None,
    number: int = CLOUDS,
) -> Iterator[FloatArray]:
    """Clouds of one shape, of at most so many points, with the spread of a map along its axes.

    Parameters
    ----------
    coordinates : (n, d) array
        The map. With errors it must lie along its axes.
    errors : (n, d, d) array, optional
        Covariance of the error of each place on the map. The clouds are then drawn narrower, and
        each point is moved by an error like that of the nearest object: what answers draw of a
        box has no sharp rim.
    number : int
        How many.
    """
    n, dimension = coordinates.shape
    spread = np.linalg.svd(coordinates - coordinates.mean(axis=0), compute_uv=False)
    spread /= np.sqrt(max(n, 1))
    if errors is not None:
        variance = np.minimum(np.einsum("nii->i", errors) / n, _MOST_ERROR * spread**2)
        spread = np.sqrt(spread**2 - variance)
        roots, nearest = np.linalg.cholesky(errors), nearest_of(coordinates)
    size = (min(n, most), dimension)
    for _ in range(number):
        if shape == "gaussian":
            drawn = rng.standard_normal(size)
        elif shape == "simplex":
            drawn = _in_simplex(size, rng)
        else:
            drawn = rng.uniform(-np.sqrt(3), np.sqrt(3), size)
        drawn = drawn[:, : len(spread)] * spread
        if errors is not None:
            root = roots[nearest(drawn)]
            drawn += np.einsum("nij,nj->ni", root, rng.standard_normal(drawn.shape))
        yield drawn


def _in_simplex(size: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Points of a uniform simplex that is turned at random; the variance of each axis is 1."""
    n, dimension = size
    shares = rng.dirichlet(np.ones(dimension + 1), n) - 1 / (dimension + 1)
    # the shares add up to one: they lie in a space of one dimension less
    axes = np.linalg.qr(np.c_[np.ones(dimension + 1), np.eye(dimension + 1)[:, :-1]])[0][:, 1:]
    turn = np.linalg.qr(rng.standard_normal((dimension, dimension)))[0]
    found: FloatArray = shares @ axes @ turn * np.sqrt((dimension + 1) * (dimension + 2))
    return found


def nearest_of(coordinates: FloatArray) -> Callable[[FloatArray], IntArray]:
    """Tells which object of a map each point is nearest to."""
    from scipy.spatial import KDTree

    tree = KDTree(coordinates)
    return lambda points: np.asarray(tree.query(points)[1], dtype=np.int64)


def p_value(value: float, by_chance: FloatArray) -> float:
    """The share of values at least as large, the observed one counted among them.

    >>> p_value(0.9, np.linspace(0, 1, 19)).__round__(2)
    0.15
    """
    return float((1 + (by_chance >= value).sum()) / (1 + len(by_chance)))


def p_text(value: float) -> str:
    """A p-value as people write it.

    >>> p_text(0.00004), p_text(0.0123), p_text(0.42)
    ('p < 0.001', 'p = 0.012', 'p = 0.42')
    """
    if value < 0.001:
        return "p < 0.001"
    return f"p = {value:.3f}" if value < 0.1 else f"p = {value:.2f}"
