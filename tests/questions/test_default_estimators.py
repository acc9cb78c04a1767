"""What `classify`, `cluster` and `outliers` do by default, as estimators."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

import trilens as tl
from trilens.errors import ParameterError
from trilens.simulate import mixture, simulate_statements

POINTS = mixture(12, means=[[0, 0], [9, 0]], random_state=0)
NAMES = [f"object {i}" for i in range(12)]
S = tl.Statements(
    simulate_statements(POINTS, 200, random_state=1).triples, names=NAMES, kind="central"
)
Y = np.where(np.arange(12) % 3, POINTS.labels, -1)


@pytest.fixture(scope="module")
def fitted():
    return tl.MapClassifier().fit(S, Y)


def test_the_classifier_has_the_default_of_the_function(fitted):
    found = tl.classify(S, Y)
    assert fitted.map_ == found.method == "choice"
    assert fitted.chosen_parameters_ == found.parameters
    np.testing.assert_array_equal(fitted.transduction_, found.labels)
    few = tl.MapClassifier().fit(S[:30], Y)
    assert few.map_ == tl.classify(S[:30], Y).method == "lensmap"
    assert tl.MapClassifier(error_rate=0.1).fit(S, Y).map_ == "lensmap"


def test_a_classifier_predicts_the_objects_of_statements(fitted):
    np.testing.assert_array_equal(fitted.predict(S), fitted.transduction_)
    part = S.subset([7, 3, 1, 10, 0, 5])
    np.testing.assert_array_equal(fitted.predict(part), fitted.transduction_[[7, 3, 1, 10, 0, 5]])
    table = part.to_frame()
    names = tl.Statements(table).names
    np.testing.assert_array_equal(fitted.predict(table), fitted.predict(names))
    np.testing.assert_array_equal(fitted.predict(S.triples), fitted.transduction_)
    np.testing.assert_array_equal(fitted.predict(pd.Series(["object 4"])), fitted.predict([4]))
    with pytest.raises(ParameterError, match="object 'pear' is not among those of the fit"):
        fitted.predict(tl.Statements([("object 1", "object 2", "pear")], kind="central"))
    with pytest.raises(ParameterError, match="about 13 objects, but only 12"):
        fitted.predict([[0, 1, 12]])
    for other in (tl.KRNGClassifier(), tl.LensDepthClassifier()):
        np.testing.assert_array_equal(other.fit(S, Y).predict(S), other.transduction_)


def test_probabilities_of_classes(fitted):
    P = fitted.predict_proba(S)
    assert P.shape == (12, 2)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(fitted.classes_[P.argmax(axis=1)], fitted.predict(S))
    labelled = Y >= 0
    assert set(P[labelled].max(axis=1)) == {1.0}
    np.testing.assert_array_equal(fitted.predict_proba(["object 3"]), P[[3]])
    held = cross_val_predict(
        tl.MapClassifier(map="lensmap", n_components=2),
        S.objects,
        POINTS.labels,
        cv=3,
        method="predict_proba",
    )
    assert ((held[:, 1] > 0.5) == POINTS.labels).mean() > 0.8
    assert not hasattr(tl.MapClassifier("svm-linear"), "predict_proba")
    assert not hasattr(tl.MapClassifier(SVC()), "predict_proba")
    with pytest.raises(AttributeError) as told:
        _ = tl.MapClassifier("svm-linear").predict_proba
    assert "'svm-linear' gives no probabilities; take 'knn'" in str(told.value.__cause__)


def test_a_classifier_takes_a_map_of_ones_own():
    own = tl.SOE(2)
    model = tl.MapClassifier(map=own).fit(S, Y)
    assert not hasattr(own, "embedding_")
    assert (model.map_, model.n_components_) == ("SOE", 2)
    assert (model.transduction_ == POINTS.labels).sum() >= 11
    grid = {"map__n_components": [1, 2]}
    search = GridSearchCV(tl.MapClassifier(map=own), grid, cv=2).fit(S.objects, POINTS.labels)
    assert search.best_score_ > 0.8
    choice = tl.MapClassifier(map=tl.ChoiceMap(2, l2=0.1)).fit(S, Y)
    assert choice.chosen_parameters_["map"] == "ChoiceMap"
    assert pickle.loads(pickle.dumps(choice)).predict(S).tolist() == choice.predict(S).tolist()
    with pytest.raises(ParameterError, match="n_components is 3, but the map has its own"):
        tl.MapClassifier(n_components=3, map=own).fit(S, Y)
    with pytest.raises(ParameterError, match=r"map is .*; it must be one of auto, choice"):
        tl.MapClassifier(map=tl.SOE).fit(S, Y)


@pytest.mark.slow
def test_groups_by_default_are_those_of_the_function():
    np.testing.assert_array_equal(tl.MapClustering().fit_predict(S), tl.cluster(S).labels)
    own = tl.ChoiceMap(2, l2=0.1)
    by_map = tl.MapClustering(2, map=own).fit_predict(S)
    np.testing.assert_array_equal(by_map, tl.cluster(clone(own).fit(S), 2).labels)
    assert not hasattr(own, "embedding_")


def test_groups_as_an_estimator():
    model, found = tl.MapClustering(2, map="krng"), tl.cluster(S, 2, "krng")
    np.testing.assert_array_equal(model.fit_predict(S), found.labels)
    assert model.n_clusters_ == found.n_clusters
    assert model.result_.to_dict() == found.to_dict()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.labels_, model.labels_)
    assert not hasattr(clone(model), "labels_")
    with pytest.raises(ParameterError, match="method is 'nearest'"):
        tl.MapClustering(2, map="nearest").fit(S)


def test_outliers_as_an_estimator():
    model, found = tl.MapOutlierDetector(n=2), tl.outliers(S, n=2)
    labels = model.fit_predict(S)
    assert sorted(np.flatnonzero(labels == -1)) == sorted(found.indices)
    assert set(labels) == {-1, 1}
    np.testing.assert_array_equal(model.score_samples_, found.all_scores)
    assert model.result_.to_dict() == found.to_dict()
    share = tl.MapOutlierDetector(0.25, map="lensmap").fit(S)
    expected = tl.outliers(S, contamination=0.25, method="lensmap").indices
    assert sorted(np.flatnonzero(share.labels_ == -1)) == sorted(expected)
    apart = tl.MapOutlierDetector(map=tl.ChoiceMap(2, l2=0.1)).fit(S)
    assert (apart.labels_ == -1).sum() == apart.result_.suggested
    assert pickle.loads(pickle.dumps(apart)).labels_.tolist() == apart.labels_.tolist()
    with pytest.raises(ParameterError, match="n or contamination, not both"):
        tl.MapOutlierDetector(0.1, n=2).fit(S)
    with pytest.raises(ParameterError, match="contamination is 'some'; it must be 'auto'"):
        tl.MapOutlierDetector("some").fit(S)


@pytest.mark.parametrize(
    "last", [tl.MapClustering(2, map="krng"), tl.MapOutlierDetector(n=1, map="lensmap")]
)
def test_a_pipeline_ends_in_them(last):
    first = FunctionTransformer(lambda statements: statements.reduce())
    found = make_pipeline(first, clone(last)).fit_predict(S)
    np.testing.assert_array_equal(found, clone(last).fit_predict(S.reduce()))
    rows = clone(last).set_params(kind="central").fit(S.triples)
    np.testing.assert_array_equal(rows.labels_, clone(last).fit(S).labels_)
    with pytest.raises(ParameterError, match="would be ignored"):
        clone(last).fit(S, np.zeros(len(S)))


def test_a_table_of_statements_is_as_good():
    frame = S.to_frame()
    model = tl.MapClassifier(map="lensmap", n_components=2).fit(
        frame, dict(zip(S.names, Y, strict=True))
    )
    assert model.predict(frame).shape == (12,)
    assert (
        cross_val_score(model, S.objects, POINTS.labels, cv=3, scoring="neg_log_loss") <= 0
    ).all()
