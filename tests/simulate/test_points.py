"""Where the objects lie. Statistical tests: false-alarm rate 1e-4, fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from trilens.errors import ParameterError
from trilens.simulate import far_outliers, gaussian, mixture, two_moons, with_outliers

ALPHA = 1e-4


def test_gaussian():
    drawn = gaussian(2000, 3, random_state=0)
    assert drawn.points.shape == (2000, 3)
    assert not drawn.labels.any()
    assert stats.kstest(drawn.points.ravel(), "norm").pvalue > ALPHA
    assert np.array_equal(drawn.points, gaussian(2000, 3, random_state=0).points)


def test_mixture_components_and_weights():
    means = np.array([[0, 0], [30, 0], [0, 30]])
    covariance = np.array([[2.0, 1.0], [1.0, 1.0]])
    drawn = mixture(3000, means, covariance, [0.5, 0.3, 0.2], random_state=1)
    assert stats.chisquare(np.bincount(drawn.labels), [1500, 900, 600]).pvalue > ALPHA
    rest = drawn.points - means[drawn.labels]
    assert np.cov(rest.T) == pytest.approx(covariance, rel=0.15)
    alike = np.bincount(mixture(3000, means, random_state=2).labels)
    assert stats.chisquare(alike).pvalue > ALPHA
    spread = np.array([np.eye(2), 100 * np.eye(2)])
    drawn = mixture(2000, [[0, 0], [0, 0]], spread, random_state=3)
    for label, sd in ((0, 1), (1, 10)):
        assert np.std(drawn.points[drawn.labels == label]) == pytest.approx(sd, rel=0.1)


@pytest.mark.parametrize("n", [1, 7, 200])
def test_moons_are_half_circles_of_equal_size(n):
    moons = two_moons(n, random_state=0)
    assert abs((moons.labels == 0).sum() - (moons.labels == 1).sum()) <= 1
    upper, lower = (moons.points[moons.labels == label] for label in (0, 1))
    assert np.linalg.norm(upper, axis=1) == pytest.approx(1)
    assert np.linalg.norm(lower - [1, 0.5], axis=1) == pytest.approx(1)
    assert (upper[:, 1] >= 0).all()
    assert (lower[:, 1] <= 0.5).all()


def test_moons_are_uniform_on_their_area():
    moons, noisy = (two_moons(4000, noise, 0.5, random_state=1) for noise in (0.0, 0.1))
    upper = moons.points[moons.labels == 0]
    low, high = 0.75**2, 1.25**2
    squared = (upper**2).sum(axis=1)
    assert stats.kstest(squared, "uniform", args=(low, high - low)).pvalue > ALPHA
    angle = np.arctan2(upper[:, 1], upper[:, 0])
    assert stats.kstest(angle, "uniform", args=(0, np.pi)).pvalue > ALPHA
    assert np.std(noisy.points - moons.points) == pytest.approx(0.1, rel=0.1)


def test_far_outliers_are_farther_out_than_any_point():
    planted = far_outliers(gaussian(50, 4, random_state=0), 5, random_state=1)
    out = np.linalg.norm(planted.points - planted.points[:50].mean(axis=0), axis=1)
    assert out[50:].min() >= 1.4999 * out[:50].max()
    assert planted.outliers.tolist() == [50, 51, 52, 53, 54]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: gaussian(0), "n is 0"),
        (lambda: gaussian(5, 0), "n_components is 0"),
        (lambda: gaussian(5.5), "n is 5.5"),
        (lambda: mixture(5, [1, 2]), "means has shape"),
        (lambda: mixture(5, [[0], [1]], weights=[0.5, 0.6]), "add up to 1"),
        (lambda: mixture(5, [[0], [1]], weights=[1.0]), "2 probabilities"),
        (lambda: mixture(5, [[0], [1]], covariances=[1.0]), "covariances has shape"),
        (lambda: mixture(5, [[0], [1]], covariances=[[-1.0]]), "positive definite"),
        (lambda: two_moons(5, noise=-1), "noise is -1"),
        (lambda: two_moons(5, width=3), "width is 3"),
        (lambda: with_outliers(gaussian(5), [[1, 2, 3]]), "outliers has shape"),
        (lambda: far_outliers(gaussian(5), -1), "n_outliers is -1"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, text):
    with pytest.raises(ParameterError, match=text) as caught:
        call()
    assert "\n" not in str(caught.value)
