from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from trilens.questions.classify.svm import decision_path
from trilens.questions.classify.tuning import REGULARISATION, _best_svm, _folds, tuned_classifier

GRID = np.array(REGULARISATION, dtype=np.float64)


def gauss(A, B, gamma=0.5):
    return np.exp(-gamma * ((A[:, None] - B) ** 2).sum(axis=2))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(("n", "apart"), [(12, 0.0), (36, 4.0)])
def test_the_path_decides_as_libsvm(kernel, n, apart):
    rng = np.random.default_rng(n)
    side = np.where(np.arange(n) < n // 3, 1.0, -1.0)
    X, asked = rng.normal(size=(n, 2)), rng.normal(size=(40, 2))
    X[:, 0] += apart * side
    between = (lambda A, B: A @ B.T) if kernel == "linear" else gauss
    found = decision_path(between(X, X), side, between(asked, X), GRID)
    for C, row in zip(GRID, found, strict=True):
        model = SVC(C=C, kernel=kernel, gamma=0.5, tol=1e-5).fit(X, side)
        expected = model.decision_function(asked)
        # both stop within a tolerance; near-equal solutions are apart by more when C is large
        assert row == pytest.approx(expected, abs=0.05)
        clear = np.abs(expected) > 0.05
        assert np.array_equal(row[clear] > 0, expected[clear] > 0)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.sampled_from([0.0, 1e-6, 1.0, 1e4]))
def test_the_path_ends_finite_on_any_data(seed, n, scale):
    rng = np.random.default_rng(seed)
    # few places: equal points with opposite sides
    X = scale * rng.integers(0, 3, size=(n, 2))
    side = np.where(rng.permutation(n) < max(1, n // 2), 1.0, -1.0)
    for K in (X @ X.T, gauss(X, X)):
        assert np.isfinite(decision_path(K.astype(float), side, K.astype(float), GRID)).all()


def test_the_chosen_parameters_have_the_score_that_scikit_learn_finds():
    rng = np.random.default_rng(5)
    y = np.repeat(["x", "y", "z"], 15)
    X = rng.normal(size=(45, 2)) + 1.5 * np.eye(3)[:, :2].repeat(15, axis=0)
    folds = _folds(y, 0)
    best, score = _best_svm("svm-gauss", X, y, folds)
    of_fold = np.empty(len(y), dtype=int)
    for number, held_out in enumerate(folds):
        of_fold[held_out] = number

    def theirs(C):
        model = OneVsRestClassifier(SVC(**{**best, "C": C}))
        right = cross_val_score(model, X, y, cv=PredefinedSplit(of_fold))
        return float(np.average(right, weights=np.bincount(of_fold)))

    # at most one object is decided otherwise, at the border
    assert theirs(best["C"]) == pytest.approx(score, abs=1.01 / 45)
    assert score >= max(map(theirs, REGULARISATION)) - 1.01 / 45


def test_a_class_that_only_one_fold_holds():
    X = np.array([[0.0], [0.1], [0.2], [5.0]])
    model = tuned_classifier("svm-linear", X, np.array([0, 0, 0, 1]), 0)
    assert model.predict(X).tolist() == [0, 0, 0, 1]
