"""The paper's results on its own data, within its own spread; `tests/paper` has the others."""

from __future__ import annotations

import numpy as np
import pytest

from carlabels import car_classes
from trilens.files import read_statements
from trilens.maps.fitted import fit
from trilens.questions.cluster.spectral import KRNGClustering, purity
from trilens.questions.medoid import medoid
from trilens.questions.outliers import outliers


@pytest.fixture(scope="module")
def t_all(cars):
    return read_statements(cars / "ordinal_data_preprocessed" / "T_ALL.csv")


@pytest.fixture(scope="module")
def without_outliers(t_all, cars):
    classes = car_classes(cars)
    kept = [name for name in t_all.names if classes[name] != "outlier"]
    return t_all.subset(kept), np.array([classes[name] for name in kept], dtype=object)


def test_the_medoid_and_the_least_central_cars(t_all):
    fitted = fit(t_all)
    assert medoid(fitted).name == medoid(t_all, "depth").name == "44"
    found = outliers(fitted, n=4, method="depth")
    assert found.names == ("48", "53", "21", "23")
    assert set(found.names) <= set(outliers(fitted, n=6).names)


@pytest.mark.parametrize(("k", "sigma", "paper"), [(10, 0.5, 0.95), (5, None, 0.84)])
def test_purity_of_algorithm_5(without_outliers, k, sigma, paper):
    S, classes = without_outliers
    clusters = KRNGClustering(3, k=k, sigma=sigma, random_state=0).fit_predict(S)
    # a car more or less is k-means
    assert purity(clusters, classes) == pytest.approx(paper, abs=1.5 / 56)
