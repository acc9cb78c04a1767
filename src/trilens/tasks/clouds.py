"""Clouds without groups and without outliers: what a map is compared with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import numpy as np

from trilens._typing import FloatArray

#: Gaussian: thin at the rim, so that some points stand alone. Box: uniform, which falls into
#: parts more readily than any other shape without a gap.
Shape: TypeAlias = Literal["gaussian", "box"]

#: Clouds of one shape. The largest but one of 39 is passed by chance in 5 % of clouds.
CLOUDS = 39
#: The share of clouds that may be taken for more than a cloud.
LEVEL = 0.05


def clouds(
    coordinates: FloatArray, shape: Shape, most: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Clouds of one shape, of at most so many points, with the spread of a map along its axes.

    A map made from answers is no lumpier than the cloud itself, whatever the number of answers
    and of wrong ones among them, so that points are drawn and no answers: docs/claims.md has
    the rates.
    """
    n, dimension = coordinates.shape
    centred = coordinates - coordinates.mean(axis=0)
    spread = np.linalg.svd(centred, compute_uv=False) / np.sqrt(max(n, 1))
    size = (min(n, most), dimension)
    for _ in range(CLOUDS):
        if shape == "gaussian":
            drawn = rng.standard_normal(size)
        else:
            drawn = rng.uniform(-np.sqrt(3), np.sqrt(3), size)
        yield drawn[:, : len(spread)] * spread


def p_value(value: float, by_chance: FloatArray) -> float:
    """The share of values at least as large, the observed one counted among them.

    >>> p_value(0.9, np.linspace(0, 1, 19)).__round__(2)
    0.15
    """
    return float((1 + (by_chance >= value).sum()) / (1 + len(by_chance)))
