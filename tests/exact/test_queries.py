from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from trilens import exact
from trilens.errors import DissimilarityError, ParameterError
from trilens.exact import queries, samples


def by_definition(Q, D):
    pairs = list(itertools.combinations(range(len(D)), 2))
    return [sum(max(x[i], x[j]) < D[i, j] for i, j in pairs) for x in Q]


pytestmark = pytest.mark.first
SAMPLES = {
    "normal": lambda rng: rng.normal(size=(40, 3)),
    "lattice": lambda rng: rng.integers(0, 4, size=(40, 2)).astype(float),
    "duplicates": lambda rng: rng.normal(size=(12, 2))[rng.integers(0, 12, 40)],
    "one place": lambda rng: np.zeros((20, 2)),
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
    index = queries.DepthIndex(samples.Sample(X, "euclidean").rows, n_threads=2)
    np.testing.assert_array_equal(index.depths(cdist(new, X)), expected)
    np.testing.assert_array_equal(
        exact.lens_depth(X, X, metric="euclidean", normalise=False),
        exact.lens_depth(X, metric="euclidean", normalise=False),
    )


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_small_samples(n, engine):
    X = np.arange(n, dtype=float)
    depth = exact.lens_depth(
        X[:, None], queries=np.array([[0.5]]), metric="euclidean", normalise=False
    )
    assert depth.tolist() == by_definition(np.abs(0.5 - X)[None], np.abs(X - X[:, None]))
    share = exact.lens_depth(X[:, None], np.array([[0.5]]), metric="euclidean", normalise=True)
    assert 0 <= share[0] <= 1


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
