from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from trilens.errors import LabelError, ParameterError
from trilens.maps.fitted import fit
from trilens.questions.classify.map_classifier import MapClassifier
from trilens.questions.classify.svm import decision_path
from trilens.questions.classify.tuning import REGULARISATION, _best_svm, _folds, tuned_classifier
from trilens.simulate import mixture, simulate_statements

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


@pytest.fixture(scope="module")
def groups():
    return mixture(60, means=[[0, 0], [8, 0]], random_state=0)


def statements(points, kind="central", m=2000):
    return simulate_statements(points, m, kind=kind, random_state=1)


def half_hidden(labels):
    y = list(labels)
    y[::2] = [-1] * len(y[::2])
    return y


@pytest.mark.parametrize(
    ("kind", "classifier"),
    [("central", "svm-linear"), ("odd", LogisticRegression()), ("closer", None)],
)
def test_groups(groups, kind, classifier):
    S, y = statements(groups, kind), half_hidden(groups.labels)
    model = MapClassifier(classifier, map="lensmap", n_components=[5, 2], random_state=0).fit(S, y)
    assert (model.transduction_ == groups.labels).mean() >= 0.95
    X = model.embedding_
    assert np.linalg.norm(X[:, None] - X, axis=2).max() == pytest.approx(2)
    assert model.chosen_parameters_["n_components"] == model.n_components_ == X.shape[1]
    assert sorted(model.cv_scores_) == [2, 5]
    assert model.cv_scores_[model.n_components_] == max(model.cv_scores_.values())
    np.testing.assert_array_equal(model.predict([3, 1]), model.transduction_[[3, 1]])
    np.testing.assert_array_equal(model.predict(), model.transduction_)
    again = clone(model).fit(S, y)
    np.testing.assert_array_equal(again.transduction_, model.transduction_)
    assert again.cv_scores_ == model.cv_scores_


@pytest.mark.parametrize("each", [1, 2])
@pytest.mark.parametrize("classifier", [None, "svm-gauss", LogisticRegression()])
def test_few_labelled_objects_of_each_class(groups, each, classifier):
    y = np.full(60, -1)
    for c in (0, 1):
        y[np.flatnonzero(groups.labels == c)[:each]] = c
    model = MapClassifier(classifier, map="lensmap", random_state=0).fit(statements(groups), y)
    assert set(model.transduction_.tolist()) == {0, 1}
    if each == 2 and classifier is None:
        assert (model.transduction_ == groups.labels).mean() > 0.7


def test_the_choice_map_chooses_its_dimensions_without_labels(groups):
    S, y = statements(groups, "odd", m=1500), half_hidden(groups.labels)
    fitted = fit(S)
    found = MapClassifier(random_state=0).fit(fitted, y)
    assert found.n_components_ == fitted.map.n_components
    assert (found.map_, found.fit_, found.error_rate_) == ("choice", fitted, fitted.error_rate)
    assert found.cv_scores_ == {}
    assert (found.transduction_ == groups.labels).mean() >= 0.95
    fixed = MapClassifier(map="choice", n_components=3, random_state=0).fit(S, y)
    assert fixed.embedding_.shape == (60, 3)


@pytest.mark.parametrize(
    ("parameters", "y", "error", "message"),
    [
        ({}, [0, 1], LabelError, "there are 2 labels for 60 objects"),
        ({"n_components": "best"}, [0, 1] * 30, ParameterError, "n_components is 'best'"),
        ({"n_components": []}, [0, 1] * 30, ParameterError, "names no candidates"),
        ({"n_components": 60}, [0, 1] * 30, ParameterError, "span at most 59"),
        ({"n_components": "gap", "map": "choice"}, [0, 1] * 30, ParameterError, "must be 'cv'"),
        ({"map": "tsne"}, [0, 1] * 30, ParameterError, "map is 'tsne'"),
        ({"classifier": "tree"}, [0, 1] * 30, ParameterError, "classifier is 'tree'"),
    ],
)
def test_bad_input_in_one_line(groups, parameters, y, error, message):
    with pytest.raises(error, match=message) as caught:
        MapClassifier(**{"map": "lensmap", **parameters}).fit(statements(groups, m=300), y)
    assert "\n" not in str(caught.value)
