from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from trilens import exact
from trilens.exact import graphs, sweep

import reference

pytestmark = pytest.mark.first
POINTS = {
    "plane": lambda rng: rng.normal(size=(50, 2)),
    "line": lambda rng: rng.normal(size=(30, 1)),
    "five dimensions": lambda rng: rng.normal(size=(45, 5)),
    "lattice": lambda rng: rng.integers(0, 6, size=(45, 2)).astype(float),
    "duplicates": lambda rng: rng.normal(size=(20, 2))[rng.integers(0, 20, 40)],
    "one place": lambda rng: np.zeros((30, 2)),
    "far out": lambda rng: np.r_[rng.normal(size=(30, 2)), [[1e6, 1e6], [1e6, -1e6]]],
}


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("k", [1, 3])
def test_every_search_finds_the_graph(name, k, monkeypatch):
    X = POINTS[name](np.random.default_rng(0))
    D = cdist(X, X)
    counts = reference.lens_counts(D)
    expected = 1.0 * (counts < k) - np.eye(len(X))
    share = counts / (len(X) - 2)
    np.testing.assert_array_equal(exact.k_rng(D, k).toarray(), expected)
    monkeypatch.setattr(graphs, "SWEPT", 0)
    monkeypatch.setattr(graphs, "SWEPT_PAIRS", 0)
    for few in (8, 0):
        monkeypatch.setattr(graphs, "FEW", few)
        graph = exact.k_rng(X, k, sigma=0.5, metric="euclidean", n_threads=2)
        weights = np.exp(-((share / 0.5) ** 2)) * expected
        np.testing.assert_allclose(graph.toarray(), weights, rtol=1e-14)
    monkeypatch.setattr(sweep, "SMALL", 0)
    np.testing.assert_array_equal(exact.k_rng(D, k).toarray(), expected)


def test_searches_by_boxes(monkeypatch):
    """Another metric, more edges than are set aside room for at first, progress, a tiny sigma."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    D = cdist(X, X, "chebyshev")
    monkeypatch.setattr(graphs, "SWEPT", 0)
    monkeypatch.setattr(graphs, "SWEPT_PAIRS", 0)
    found = exact.k_rng(X, 2, metric="chebyshev").toarray()
    np.testing.assert_array_equal(found, exact.k_rng(D, 2).toarray())
    assert exact.k_rng(0 * X, 1, metric="euclidean").nnz == 200 * 199
    weighted = exact.k_rng(X, 20, sigma=1e-200, metric="euclidean")
    assert weighted.nnz == exact.k_rng(X, 20, metric="euclidean").nnz
    assert weighted.data.min() > 0
    for few in (8, 0):
        monkeypatch.setattr(graphs, "FEW", few)
        seen: list[float] = []
        exact.k_rng(rng.normal(size=(600, 2)), 1, metric="euclidean", progress=seen.append)
        assert seen == sorted(seen)
        assert seen[-1] == 1
        assert len(seen) > 2
