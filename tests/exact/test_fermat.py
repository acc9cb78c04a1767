from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

from trilens import exact
from trilens.errors import DissimilarityError, ParameterError
from trilens.exact.samples import Sample


@pytest.mark.parametrize("alpha", [1.0, 1.5, 3.0])
@pytest.mark.parametrize("n_neighbors", [None, 6])
def test_shortest_paths(alpha, n_neighbors):
    X = np.random.default_rng(0).normal(size=(40, 2))
    steps = cdist(X, X) ** alpha
    if n_neighbors is not None:
        near = np.argsort(steps, axis=1)[:, : n_neighbors + 1]
        allowed = np.zeros_like(steps, bool)
        np.put_along_axis(allowed, near, True, axis=1)
        steps = np.where(allowed | allowed.T, steps, np.inf)
    expected = shortest_path(np.where(np.isinf(steps), 0, steps), method="FW", directed=False)
    D = exact.fermat_dissimilarities(X, alpha=alpha, n_neighbors=n_neighbors)
    np.testing.assert_allclose(D, expected, rtol=1e-12)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(D, exact.check_dissimilarities(D))


@pytest.mark.parametrize("n_neighbors", [None, 5])
def test_new_points_step_into_the_sample(n_neighbors):
    rng = np.random.default_rng(1)
    X, new = rng.normal(size=(50, 2)), rng.normal(size=(6, 2))
    params = {"alpha": 2.5, "n_neighbors": n_neighbors}
    sample = Sample(X, "fermat", params)
    steps, D = cdist(new, X) ** 2.5, exact.fermat_dissimilarities(X, **params)
    expected = np.empty_like(steps)
    for x, row in enumerate(steps):
        first = np.argsort(row)[: n_neighbors or 50]
        expected[x] = (row[first, None] + D[first]).min(axis=0)
    np.testing.assert_allclose(sample.to(new), expected, rtol=1e-12)
    # a point of the sample is where it is
    np.testing.assert_allclose(sample.to(X), D, rtol=1e-12)


def test_depth_by_the_fermat_distance_follows_the_sample():
    """A ring: its empty middle is deep by the plain distance, and not by this one."""
    angles = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    X = np.c_[np.cos(angles), np.sin(angles)]
    middle = [[0.0, 0.0]]
    plain = exact.lens_depth(X, middle, metric="euclidean", normalise=True)[0]
    params = {"alpha": 3.0}
    fermat = exact.lens_depth(X, middle, metric="fermat", metric_params=params, normalise=True)[0]
    assert plain > 0.5
    assert fermat == 0


def test_duplicates_and_bad_values():
    X = np.r_[np.zeros((5, 2)), np.ones((5, 2))]
    D = exact.fermat_dissimilarities(X, n_neighbors=6)
    np.testing.assert_allclose(D, np.where(X[:, :1] == X[:, 0], 0, 2), atol=1e-12)
    for points, parameters, message in (
        (X, {"n_neighbors": 2}, r"n_neighbors=2 .* 2 unconnected pieces"),
        (X, {"alpha": 0.5}, r"^alpha is 0.5; "),
        (X, {"n_neighbors": 0}, r"^n_neighbors is 0; "),
        (1e120 * X, {"alpha": 3}, r"not finite; scale"),
    ):
        with pytest.raises((DissimilarityError, ParameterError), match=message):
            exact.fermat_dissimilarities(points, **parameters)
    # points at one place are one step of length 0 apart
    near = 1e-6 * np.random.default_rng(2).normal(size=(20, 2))
    near[5] = near[6] = near[7]
    for n_neighbors in (None, 4):
        D = exact.fermat_dissimilarities(near, alpha=1, n_neighbors=n_neighbors)
        assert (D[np.ix_([5, 6, 7], [5, 6, 7])] == 0).all()
        assert (D[5] == D[6]).all()
    np.testing.assert_allclose(
        exact.fermat_dissimilarities(near, alpha=1), cdist(near, near), rtol=1e-12, atol=0
    )
