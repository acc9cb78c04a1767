"""Clouds without groups and without outliers: what a map is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import numpy as np

from trilens._typing import FloatArray

#: Gaussian: thin at the rim, so that some points stand alone. Box: uniform, which falls into
#: parts more readily than other full shapes. Rings and crosses do so still more.
Shape: TypeAlias = Literal["gaussian", "box"]

#: Clouds of one shape. The largest but one of 39 is passed by chance in 5 % of clouds.
CLOUDS = 39
#: How much of the variance of a map its error may be.
_MOST_BLUR = 0.8
#: The share of clouds that may be taken for more than a cloud.
LEVEL = 0.05


def clouds(
    coordinates: FloatArray,
    shape: Shape,
    most: int,
    rng: np.random.Generator,
    blur: FloatArray | None = None,
    number: int = CLOUDS,
) -> Iterator[FloatArray]:
    """Clouds of one shape, of at most so many points, with the spread of a map along its axes.

    Parameters
    ----------
    coordinates : (n, d) array
        The map.
    blur : (d, d) array, optional
        Covariance of the error of a place on the map. A box is then drawn narrower, and its
        points moved by such errors: what answers draw of a box has no sharp rim.
    number : int
        How many.
    """
    n, dimension = coordinates.shape
    centred = coordinates - coordinates.mean(axis=0)
    _, values, axes = np.linalg.svd(centred, full_matrices=False)
    spread = values / np.sqrt(max(n, 1))
    error = np.zeros_like(spread)
    if blur is not None:
        along = np.einsum("ij,jk,ik->i", axes, blur, axes)
        error = np.sqrt(np.minimum(np.maximum(along, 0), _MOST_BLUR * spread**2))
    inner = np.sqrt(spread**2 - error**2)
    size = (min(n, most), dimension)
    for _ in range(number):
        if shape == "gaussian":
            yield rng.standard_normal(size)[:, : len(spread)] * spread
            continue
        drawn = rng.uniform(-np.sqrt(3), np.sqrt(3), size)[:, : len(spread)] * inner
        if error.any():
            drawn += rng.standard_normal(drawn.shape) * error
        yield drawn


def error_of_places(coordinates: FloatArray, resampled: Sequence[FloatArray]) -> FloatArray | None:
    """The covariance of the error of a place on a map, by maps of answers drawn anew.

    None without such maps.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2)) * [9, 3]
    >>> turned = [
    ...     (X + rng.standard_normal(X.shape) * [1, 0.5]) @ [[0, 1], [1, 0]] for _ in range(9)
    ... ]
    >>> np.sqrt(np.diag(error_of_places(X, turned))).round(1).tolist()
    [1.0, 0.5]
    """
    if not len(resampled):
        return None
    X = coordinates - coordinates.mean(axis=0)
    total = np.zeros((X.shape[1], X.shape[1]))
    for other in resampled:
        Y = other - other.mean(axis=0)
        left, _, right = np.linalg.svd(Y.T @ X)
        off = Y @ (left @ right) - X
        total += off.T @ off / len(X)
    return total / len(resampled)


def p_value(value: float, by_chance: FloatArray) -> float:
    """The share of values at least as large, the observed one counted among them.

    >>> p_value(0.9, np.linspace(0, 1, 19)).__round__(2)
    0.15
    """
    return float((1 + (by_chance >= value).sum()) / (1 + len(by_chance)))
