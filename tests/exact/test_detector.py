from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.utils.estimator_checks import check_estimator

import trilens as tl
from trilens import exact
from trilens.errors import DissimilarityError, LabelError, ParameterError

POINTS = np.random.default_rng(0).normal(size=(120, 2))


@pytest.fixture
def X():
    return POINTS


@pytest.fixture
def new():
    return np.random.default_rng(1).normal(size=(9, 2)) * 2


@pytest.mark.slow
def test_scikit_learns_own_checks():
    results = check_estimator(tl.LensDepth(), on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}
    assert len(results) > 30


def largest_step(x, y):
    return float(np.abs(x - y).max())


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "precomputed", largest_step])
def test_scores_are_depths(metric, X, new):
    data, queries = (cdist(X, X), cdist(new, X)) if metric == "precomputed" else (X, new)
    detector = tl.LensDepth(metric, contamination=0.2).fit(data)
    expected = exact.lens_depth(data, queries, metric=metric, normalise=True)
    np.testing.assert_array_equal(detector.score_samples(queries), expected)
    np.testing.assert_array_equal(detector.decision_function(queries), expected - detector.offset_)
    signs = np.where(expected < detector.offset_, -1, 1)
    np.testing.assert_array_equal(detector.predict(queries), signs)
    np.testing.assert_array_equal(detector.scores_, detector.score_samples(data))
    labels = detector.fit_predict(data)
    np.testing.assert_array_equal(labels, detector.predict(data))
    assert abs((labels == -1).mean() - 0.2) <= 1 / len(X)
    with pytest.raises(DissimilarityError, match="features"):
        detector.score_samples(np.zeros((1, 3)))


def test_classes_are_samples_of_their_own(X, new):
    y = np.repeat(["a", "b", "c"], 40)
    detector = tl.LensDepth().fit(X, y)
    by_class = np.stack(
        [exact.lens_depth(X[y == c], new, metric="euclidean", normalise=True) for c in "abc"],
        axis=1,
    )
    assert detector.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(detector.class_depth(new), by_class)
    np.testing.assert_array_equal(detector.score_samples(new), by_class.max(axis=1))
    np.testing.assert_array_equal(detector.scores_, detector.score_samples(X))
    matrix = tl.LensDepth("precomputed").fit(cdist(X, X), y)
    np.testing.assert_array_equal(detector.score_samples(new), matrix.score_samples(cdist(new, X)))


@pytest.mark.parametrize("none", [-1, None])
def test_objects_of_no_class_are_left_out(none, X, new):
    y = ["in"] * 100 + [none] * 20
    detector = tl.LensDepth().fit(X, y)
    alone = tl.LensDepth().fit(X[:100])
    np.testing.assert_array_equal(detector.score_samples(new), alone.score_samples(new))
    assert detector.offset_ == alone.offset_
    assert np.isnan(detector.scores_[100:]).all()
    assert detector.fit_predict(X, y).tolist() == detector.predict(X).tolist()


def test_estimated_scores(X, new):
    big = np.random.default_rng(2).normal(size=(1500, 2))
    detector = tl.LensDepth(precision=0.05, confidence=0.99).fit(big)
    exactly = exact.lens_depth(big, new, metric="euclidean", normalise=True)
    assert np.abs(detector.score_samples(new) - exactly).max() <= 0.05
    # the pairs are drawn once: the same answer for a point whatever it is asked with
    assert detector.score_samples(new[:1]) == detector.score_samples(new)[:1]


@pytest.mark.parametrize(
    ("parameters", "data", "y", "message"),
    [
        ({"contamination": 0}, POINTS, None, r"^contamination is 0; "),
        ({"contamination": 0.7}, POINTS, None, r"^contamination is 0.7; "),
        ({}, POINTS, [1, 2, 3], r"^y has shape \(3,\); it must be \(120,\)"),
        ({}, POINTS, [-1] * 120, r"^y names no class"),
        ({}, np.full((4, 2), np.nan), None, "NaN"),
        ({}, POINTS + 1j, None, r"[Cc]omplex"),
        ({"metric": "precomputed"}, np.triu(np.ones((4, 4)), 1), None, "symmetric"),
        ({"metric": "nearness"}, POINTS, None, r"^metric='nearness' is unknown"),
        ({"device": "gpu"}, POINTS, None, r"^device is 'gpu'; "),
    ],
)
def test_bad_input(parameters, data, y, message):
    with pytest.raises((DissimilarityError, LabelError, ParameterError), match=message):
        tl.LensDepth(**parameters).fit(data, y)
