from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from trilens import exact
from trilens.errors import DissimilarityError, ParameterError
from trilens.exact import queries, samples, sampling


def by_definition(Q, D):
    pairs = list(itertools.combinations(range(len(D)), 2))
    return [sum(max(x[i], x[j]) < D[i, j] for i, j in pairs) for x in Q]


pytestmark = pytest.mark.first
SAMPLES = {
    "normal": lambda rng: rng.normal(size=(40, 3)),
    "lattice": lambda rng: rng.integers(0, 4, size=(40, 2)).astype(float),
    "duplicates": lambda rng: rng.normal(size=(12, 2))[rng.integers(0, 12, 40)],
    "one place": lambda rng: np.zeros((20, 2)),
    "nothing": lambda rng: np.zeros((0, 1)),
    "one": lambda rng: np.zeros((1, 1)),
    "two": lambda rng: np.arange(2.0)[:, None],
}


@pytest.fixture(params=["plain", "compiled"])
def engine(request, monkeypatch):
    monkeypatch.setattr(queries, "SMALL", 10**12 if request.param == "plain" else 0)


@pytest.mark.parametrize("name", SAMPLES)
def test_queries_equal_the_definition(name, engine):
    rng = np.random.default_rng(0)
    X = SAMPLES[name](rng)
    # places of the sample itself among them
    new = np.r_[X[:5], rng.normal(size=(7, X.shape[1])), X[:3] + 0.5]
    expected = by_definition(cdist(new, X), cdist(X, X))
    np.testing.assert_array_equal(
        exact.lens_depth(X, queries=new, metric="euclidean", normalise=False), expected
    )
    share = exact.lens_depth(X, new, metric="euclidean", normalise=True)
    assert ((share >= 0) & (share <= 1)).all()
    index = queries.DepthIndex(samples.Sample(X, "euclidean").rows, n_threads=2)
    np.testing.assert_array_equal(index.depths(cdist(new, X)), expected)
    np.testing.assert_array_equal(
        exact.lens_depth(X, X, metric="euclidean", normalise=False),
        exact.lens_depth(X, metric="euclidean", normalise=False),
    )


@pytest.mark.parametrize("spread", [1.0, 1e-9])
def test_an_index_is_exact_where_rounding_is_not(spread, monkeypatch):
    """Distances that 32 bits cannot tell apart: the exact numbers decide."""
    monkeypatch.setattr(queries, "SMALL", 0)
    rng = np.random.default_rng(1)
    X = 1 + spread * rng.normal(size=(300, 1))
    X[:150] = -1 + spread * rng.normal(size=(150, 1))
    Q = cdist(spread * rng.normal(size=(6, 1)), X)
    source = samples.Sample(X, "euclidean").rows
    index = queries.DepthIndex(source)
    assert index.kept
    assert not index.exact
    np.testing.assert_array_equal(index.depths(Q), by_definition(Q, cdist(X, X)))
    # one query at a time goes through the same door
    np.testing.assert_array_equal(index.depths(Q[:1]), by_definition(Q[:1], cdist(X, X)))
    # integers beyond the floats
    D = np.triu(2**60 + rng.integers(0, 3, size=(30, 30)), 1)
    D = D + D.T
    new = 2**60 + rng.integers(0, 3, size=(4, 30))
    expected = by_definition(new.tolist(), D.astype(object))
    np.testing.assert_array_equal(exact.lens_depth(D, queries=new, normalise=False), expected)


@pytest.mark.parametrize("metric", ["euclidean", "seuclidean", "mahalanobis", "haversine"])
def test_rows_of_points_are_symmetric_to_the_last_bit(metric, monkeypatch):
    monkeypatch.setattr(samples, "TILE", 32)
    monkeypatch.setattr(samples, "WHOLE", 10)
    X = np.random.default_rng(4).uniform(0.1, 1, size=(75, 2))
    source = samples.Sample(X, metric).rows
    assert isinstance(source, samples.PointRows)
    D = source.block(0, 75)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(source.block(20, 50), D[20:50])
    np.testing.assert_allclose(D, exact.dissimilarities(X, metric), atol=1e-12)
    i, j = np.array([0, 70, 33]), np.array([74, 3, 33])
    np.testing.assert_array_equal(source.between(i, j), D[i, j])


def test_points_in_blocks_and_memory_maps_have_the_depths_of_the_matrix(tmp_path, monkeypatch):
    X = np.random.default_rng(5).normal(size=(300, 2))
    new, D = X[:4] + 0.1, cdist(X, X, "cityblock")
    depth = exact.lens_depth(D, normalise=False)
    of_new = exact.lens_depth(D, cdist(new, X, "cityblock"), normalise=False)
    np.save(tmp_path / "D.npy", D)
    mapped = np.load(tmp_path / "D.npy", mmap_mode="r")
    for view in (mapped, np.asfortranarray(D), np.repeat(D, 2, 1)[:, ::2]):
        np.testing.assert_array_equal(exact.lens_depth(view, normalise=False), depth)
    counts = exact.lens_counts(X, metric="cityblock")
    np.testing.assert_array_equal(counts, exact.lens_counts(np.asfortranarray(D)))
    monkeypatch.setattr(samples, "WHOLE", 10)
    for queries_, expected in ((None, depth), (new, of_new)):
        found = exact.lens_depth(X, queries_, metric="cityblock", normalise=False)
        np.testing.assert_array_equal(found, expected)


def test_things_with_a_metric_of_their_own():
    words = ["a", "ab", "abc", "abcd", "abcde"]

    def gap(a, b):
        return abs(len(a) - len(b))

    assert exact.lens_depth(words, metric=gap, normalise=False).tolist() == [0, 3, 4, 3, 0]
    assert exact.lens_depth(words, queries=["xyz"], metric=gap, normalise=False).tolist() == [4]


def returning(value):
    """A metric that gives this of two points that differ."""
    return lambda x, y: value if x[0] != y[0] else 0.0


def raising(x, y):
    raise ZeroDivisionError("no\nway")


LINE = np.arange(6.0)[:, None]
REFUSED = {
    r"different numbers of coordinates": ([[0, 1], [2]], {}),
    r"dtype object; expected": ([[0, None], [1, 2]], {}),
    r"dtype complex128; expected": ([[0j], [1]], {}),
    r"points\[1, 0\] is nan": ([[0.0], [np.nan]], {}),
    r"new points have shape \(1, 3\)": (np.zeros((4, 2)), {"queries": [[0, 0, 0]]}),
    r"new points have .*dtype object": (np.zeros((4, 2)), {"queries": [[None, 0]]}),
    r"points\[0, 1\] is inf": (np.zeros((4, 2)), {"queries": [[0, np.inf]]}),
    r"^the metric raised ZeroDivisionError: no way$": (LINE, {"metric": raising}),
    r"^the metric returned str; ": (LINE, {"metric": returning("far")}),
    r"the metric gives .* but .* symmetric": (LINE, {"metric": lambda x, y: max(x[0] - y[0], 0.0)}),
    r"is nan; ": (LINE, {"metric": returning(float("nan"))}),
    r"^metric='nearness' is unknown; ": (LINE, {"metric": "nearness"}),
    r"^metric='minkowski' cannot be used: ": (
        LINE,
        {"metric": "minkowski", "metric_params": {"q": 1}},
    ),
    r"covariance, which is singular": (np.zeros((5, 2)), {"metric": "mahalanobis"}),
    r"^device is 'tpu'; ": (LINE, {"device": "tpu"}),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused(message):
    X, options = REFUSED[message]
    with pytest.raises((DissimilarityError, ParameterError), match=message) as error:
        exact.lens_depth(X, **({"metric": "euclidean"} | options), normalise=False)
    assert "\n" not in str(error.value)


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
