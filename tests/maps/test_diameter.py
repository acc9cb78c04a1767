from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from trilens.maps.geometry import diameter, rescaled


@pytest.mark.parametrize("shape", ["cloud", "ring", "line", "two", "same"])
@pytest.mark.parametrize("n", [5, 2500])
def test_the_largest_distance(shape: str, n: int) -> None:
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 3))
    if shape == "ring":  # nothing can be left out
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    if shape == "line":
        X[:, 1:] = 0
    if shape == "two":
        X[: n // 2] += 50
    if shape == "same":
        X[:] = 1
    assert diameter(X) == pytest.approx(pdist(X).max(), rel=1e-12)


def test_many_points_take_little_memory() -> None:
    X = np.random.default_rng(0).standard_normal((40_000, 2))
    tracemalloc.start()
    try:
        rescaled(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 256 * 40_000 * 8 * 2  # all distances would be 6.4 GB
