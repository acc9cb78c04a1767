"""Geometry on coordinates."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.spatial
from scipy.spatial.distance import cdist, pdist

from trilens.errors import ParameterError
from trilens.maps.geometry import (
    diameter,
    local_outliers,
    procrustes,
    procrustes_distance,
    rescaled,
    total_distance,
)


def test_the_local_outlier_factor_is_its_definition():
    points = np.random.default_rng(0).standard_normal((40, 3))
    D = cdist(points, points)
    near, fifth = np.argsort(D, axis=1)[:, 1:6], np.sort(D, axis=1)[:, 5]
    reach = np.array([np.maximum(D[i, near[i]], fifth[near[i]]).mean() for i in range(40)])
    expected = [reach[i] * np.mean(1 / reach[near[i]]) for i in range(40)]
    np.testing.assert_allclose(local_outliers(points, 5), expected, rtol=1e-6)


def test_equal_points_few_points_and_bad_input():
    assert np.isfinite(local_outliers(np.zeros((30, 2)))).all()
    assert np.isfinite(local_outliers(np.r_[np.zeros((30, 2)), np.ones((1, 2))])).all()
    assert local_outliers(np.zeros((1, 2))).tolist() == [1.0]
    assert local_outliers(np.arange(3.0)[:, None]).shape == (3,)
    with pytest.raises(ParameterError, match="n_neighbors is 0"):
        local_outliers(np.zeros((3, 2)), 0)
    with pytest.raises(ParameterError, match=r"shape \(n, d\)"):
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
    far = rng.normal(size=X.shape)
    assert procrustes_distance(far, X) == pytest.approx(scipy.spatial.procrustes(X, far)[2])


@pytest.mark.parametrize(
    ("X", "Y", "text"),
    [
        ([[0.0], [1.0]], [[0.0]], "of the same objects"),
        ([0.0, 1.0], [[0.0], [1.0]], "of the same objects"),
        ([[0.0], [0.0]], [[0.0], [1.0]], "in the same place"),
        ([[np.nan], [0.0]], [[0.0], [1.0]], "not a finite number"),
    ],
)
def test_what_has_no_shape_is_refused(X, Y, text):
    with pytest.raises(ParameterError, match=text):
        procrustes_distance(X, Y)


def test_what_is_left_is_the_disparity():
    rng = np.random.default_rng(0)
    X, onto = rng.normal(size=(15, 3)), 40 + 5 * rng.normal(size=(15, 3))
    aligned, disparity = procrustes(X, onto)
    left = ((aligned - onto) ** 2).sum()
    middle = ((onto - onto.mean(axis=0)) ** 2).sum()
    assert disparity == pytest.approx(left / middle) == pytest.approx(procrustes_distance(X, onto))
    # no other turn, size or place is nearer
    turned = aligned @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for other in (1.01 * aligned, aligned + 0.1, turned):
        assert ((other - onto) ** 2).sum() > left
    point, line = np.ones((3, 1)), np.arange(3.0)[:, None]
    assert procrustes(point, line) == (pytest.approx(np.ones((3, 1))), 1.0)
    assert procrustes(line, point) == (pytest.approx(np.ones((3, 1))), 0.0)
    with pytest.raises(ParameterError, match="cannot be aligned"):
        procrustes(line, line[:2])


@pytest.mark.parametrize("shape", ["cloud", "ring", "line", "two", "same"])
def test_the_largest_distance(shape: str) -> None:
    X = np.random.default_rng(0).standard_normal((2500, 3))
    if shape == "ring":  # nothing can be left out
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    if shape == "line":
        X[:, 1:] = 0
    if shape == "two":
        X[:1250] += 50
    if shape == "same":
        X[:] = 1
    for points in (X, X[:5]):
        assert diameter(points) == pytest.approx(pdist(points).max(), rel=1e-12)


def test_many_points_take_little_memory() -> None:
    X = np.random.default_rng(0).standard_normal((40_000, 2))
    tracemalloc.start()
    rescaled(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 256 * 40_000 * 8 * 2  # all distances would be 6.4 GB
