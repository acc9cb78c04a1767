from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from trilens import exact
from trilens.errors import DissimilarityError, ParameterError
from trilens.exact import sampling


def points(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 2))


def test_intervals_hold_the_depth_at_their_level():
    """Over drawn samples of pairs, for points of high, middle and low depth."""
    X = points(400)
    depth = exact.lens_depth(X, metric="euclidean", normalise=True)
    some = np.argsort(depth)[[5, 100, 200, 300, 399]]
    held = np.zeros(len(X))
    for seed in range(60):
        found = exact.lens_depth(
            X, metric="euclidean", precision=0.06, confidence=0.9, random_state=seed
        )
        held += (found.lower <= depth) & (depth <= found.upper)
        assert (np.abs(found.depth - found.lower) <= 0.06).all()
        assert (np.abs(found.upper - found.depth) <= 0.06).all()
    # of 60, fewer than 45 at a level of 0.9 have a probability of 2e-4
    assert (held[some] >= 45).all()
    # Clopper and Pearson's are wide rather than narrow
    assert held.mean() / 60 >= 0.9


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "precomputed", "fermat"])
def test_every_way_to_count_pairs(metric):
    """The same pairs counted by the definition."""
    X, new = points(150, 2), points(20, 3)
    base = "euclidean" if metric in ("precomputed", "fermat") else metric
    D, Q = cdist(X, X, base), cdist(new, X, base)
    data, queries, params = (D, Q, {}) if metric == "precomputed" else (X, new, {})
    if metric == "fermat":
        params = {"alpha": 1.0}
    pairs = sampling.PairSample(exact.samples.Sample(data, metric, params), 5)
    pairs.draw(300)
    of_new, own = (
        D[pairs.a, pairs.b, None] > np.maximum(rows[:, pairs.a], rows[:, pairs.b]).T
        for rows in (Q, D)
    )
    found = pairs.count(pairs._new(queries), np.arange(20), 0, 2)
    np.testing.assert_array_equal(found, of_new.sum(axis=0))
    some = np.array([3, 70, 149])
    np.testing.assert_array_equal(pairs.count(None, some, 100, 1), own[100:, some].sum(axis=0))


def test_few_pairs_are_all_counted():
    X = points(20, 5)
    found = exact.lens_depth(X, metric="euclidean", precision=0.01)
    np.testing.assert_array_equal(found, exact.lens_depth(X, metric="euclidean", normalise=True))
    assert found.n_pairs == 0
    np.testing.assert_array_equal(found.lower, found.upper)
    new = exact.lens_depth(X, X, metric="euclidean", precision=0.01)
    np.testing.assert_array_equal(new, exact.lens_depth(X, X, metric="euclidean", normalise=True))


def test_pairs_needed_are_no_more_than_needed():
    for precision, level in ((0.05, 0.95), (0.02, 0.8)):
        m = sampling.pairs_needed(precision, level)
        x = np.arange(m + 1)
        lower, upper = sampling.clopper_pearson(x, np.full(m + 1, m), level)
        assert max((upper - x / m).max(), (x / m - lower).max()) <= precision
        fewer = int(0.97 * m)
        x = np.arange(fewer + 1)
        upper = sampling.clopper_pearson(x, np.full(fewer + 1, fewer), level)[1]
        assert (upper - x / fewer).max() > precision


@pytest.mark.parametrize("least", [False, True])
def test_the_deepest_hold_with_the_stated_probability(least):
    """60 samples, each searched once at 0.8; wrong more than 12 + 3 sd times would be chance
    one in a thousand if the level were not kept."""
    wrong = 0
    for seed in range(60):
        X = points(60, 100 + seed)
        level = {"confidence": 0.8, "tolerance": 0.05, "random_state": seed}
        found = exact.deepest(X, 3, least=least, metric="euclidean", **level)
        depth = exact.lens_depth(X, metric="euclidean", normalise=True) * (-1 if least else 1)
        third = np.sort(depth)[-3]
        wrong += bool((depth[found.indices] < third - 0.05).any())
        assert len(found) == 3
    assert wrong <= 12 + 10


def test_the_deepest_themselves():
    X = points(700, 6)
    depth = exact.lens_depth(X, metric="euclidean", normalise=False)
    found = exact.deepest(X, 5, metric="euclidean")
    assert found.exact
    assert found.indices.tolist() == np.lexsort((np.arange(700), -depth))[:5].tolist()
    np.testing.assert_allclose(found.depth, depth[found.indices] / (699 * 698 / 2), rtol=1e-15)
    same = exact.deepest(cdist(X, X), 5)
    assert same.indices.tolist() == found.indices.tolist()


def test_bad_parameters():
    X = points(30)
    for value in (0, 1, -0.1, np.nan, "small"):
        for name in ("precision", "confidence"):
            with pytest.raises(ParameterError, match=rf"^{name} is "):
                exact.lens_depth(X, metric="euclidean", **({"precision": 0.1} | {name: value}))
    for k, parameters, message in (
        (1, {"confidence": 1}, r"^confidence is "),
        (31, {}, r"^k is 31; .*from 1 to 30$"),
        (1, {"tolerance": -1}, r"^tolerance is -1; "),
    ):
        with pytest.raises(ParameterError, match=message):
            exact.deepest(X, k, metric="euclidean", **parameters)
    with pytest.raises(DissimilarityError, match=r"^there are only 2 objects; "):
        exact.deepest(points(2), 1, metric="euclidean")
