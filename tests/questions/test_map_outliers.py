from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import LocalOutlierFactor

from trilens.maps import LensMap
from trilens.maps.geometry import local_outliers
from trilens.simulate import n_questions, simulate_statements, two_moons, with_outliers

BETWEEN, FAR = [[0.5, 0.25]], [[-1.5, 1.8], [2.5, 1.8], [0.5, -1.6]]


def test_scores_equal_those_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(50, 3))
    factor = -LocalOutlierFactor(n_neighbors=7).fit(X).negative_outlier_factor_
    np.testing.assert_allclose(local_outliers(X, n_neighbors=7), factor, rtol=1e-6)


@pytest.mark.parametrize(("share", "error_rate"), [(1.0, 0.0), (0.05, 0.0), (0.25, 0.3)])
def test_finds_the_outlier_between_two_moons(share, error_rate):
    ranks = []
    for seed in range(6):
        points = with_outliers(two_moons(200, noise=0.06, random_state=seed), BETWEEN + FAR)
        m = int(share * n_questions(204))
        S = simulate_statements(points, m, error_rate=error_rate, random_state=100 + seed)
        score = local_outliers(LensMap(2).fit_transform(S))
        ranks.append(1 + int((score > score[200]).sum()))
    assert np.mean(ranks) <= 6
