"""Geometry on coordinates."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.spatial

from trilens.errors import ParameterError
from trilens.maps.geometry import local_outliers, procrustes_distance, rescaled, total_distance


def test_the_local_outlier_factor_is_its_definition():
    points = np.random.default_rng(0).standard_normal((40, 3))
    D = np.linalg.norm(points[:, None] - points[None], axis=2)
    near = np.argsort(D, axis=1)[:, 1:6]
    reach = np.array(
        [np.mean([max(D[i, j], np.sort(D[j])[5]) for j in near[i]]) for i in range(40)]
    )
    expected = [reach[i] * np.mean(1 / reach[near[i]]) for i in range(40)]
    np.testing.assert_allclose(local_outliers(points, 5), expected, rtol=1e-6)


def test_equal_points_few_points_and_bad_input():
    assert np.isfinite(local_outliers(np.zeros((30, 2)))).all()
    assert np.isfinite(local_outliers(np.r_[np.zeros((30, 2)), np.ones((1, 2))])).all()
    assert local_outliers(np.zeros((1, 2))).tolist() == [1.0]
    assert local_outliers(np.arange(3.0)[:, None]).shape == (3,)
    with pytest.raises(ParameterError, match="n_neighbors is 0"):
        local_outliers(np.zeros((3, 2)), 0)
    with pytest.raises(ParameterError, match=r"\(n, d\) array"):
        local_outliers(np.zeros(3))


def test_total_distances_and_the_papers_rescaling():
    line = np.array([[0.0], [1.0], [4.0]])
    assert total_distance(line).tolist() == [5.0, 4.0, 7.0]
    assert rescaled(line).ravel().tolist() == [0.0, 0.5, 2.0]
    assert rescaled(np.zeros((2, 1))).tolist() == [[0.0], [0.0]]


def test_procrustes_distance_knows_shapes_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    assert procrustes_distance(X, 7 * X @ turn - 2) == pytest.approx(0, abs=1e-12)
    assert procrustes_distance(X[:, :2], np.column_stack([X[:, :2], np.zeros(20)])) < 1e-12
    near, far = X + 0.1 * rng.normal(size=X.shape), rng.normal(size=X.shape)
    assert 0 < procrustes_distance(X, near) < 0.05 < procrustes_distance(X, far) <= 1
    assert procrustes_distance(X, far) == pytest.approx(procrustes_distance(far, X))
    assert procrustes_distance(X, far) == pytest.approx(scipy.spatial.procrustes(X, far)[2])


@pytest.mark.parametrize(
    ("X", "Y", "text"),
    [
        ([[0.0], [1.0]], [[0.0]], "of the same objects"),
        ([0.0, 1.0], [[0.0], [1.0]], "of the same objects"),
        ([[0.0], [0.0]], [[0.0], [1.0]], "at one place"),
        ([[np.nan], [0.0]], [[0.0], [1.0]], "not a finite number"),
    ],
)
def test_what_has_no_shape_is_refused(X, Y, text):
    with pytest.raises(ParameterError, match=text):
        procrustes_distance(X, Y)
