from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from trilens.errors import LabelError, ParameterError
from trilens.maps.fitted import fit
from trilens.questions.classify.map_classifier import MapClassifier
from trilens.simulate import mixture, simulate_statements


@pytest.fixture(scope="module")
def two_groups():
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
def test_two_groups(two_groups, kind, classifier):
    S, y = statements(two_groups, kind), half_hidden(two_groups.labels)
    model = MapClassifier(classifier, map="lensmap", n_components=[5, 2], random_state=0).fit(S, y)
    assert (model.transduction_ == two_groups.labels).mean() >= 0.95
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
def test_few_labelled_objects_of_each_class(two_groups, each, classifier):
    y = np.full(60, -1)
    for c in (0, 1):
        y[np.flatnonzero(two_groups.labels == c)[:each]] = c
    model = MapClassifier(classifier, map="lensmap", random_state=0).fit(statements(two_groups), y)
    assert set(model.transduction_.tolist()) == {0, 1}
    if each == 2 and classifier is None:
        assert (model.transduction_ == two_groups.labels).mean() > 0.7


def test_the_choice_map_chooses_its_dimensions_without_labels(two_groups):
    S, y = statements(two_groups, "odd", m=1500), half_hidden(two_groups.labels)
    fitted = fit(S)
    found = MapClassifier(random_state=0).fit(fitted, y)
    assert found.n_components_ == fitted.map.n_components
    assert (found.map_, found.fit_, found.error_rate_) == ("choice", fitted, fitted.error_rate)
    assert found.cv_scores_ == {}
    assert (found.transduction_ == two_groups.labels).mean() >= 0.95
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
def test_bad_input_in_one_line(two_groups, parameters, y, error, message):
    with pytest.raises(error, match=message) as caught:
        MapClassifier(**{"map": "lensmap", **parameters}).fit(statements(two_groups, m=300), y)
    assert "\n" not in str(caught.value)
