"""Maps and classifiers in scikit-learn's hands."""

from __future__ import annotations

import io
import pickle
import warnings
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

import trilens as tl
from trilens.errors import (
    KindError,
    LabelError,
    ParameterError,
    StatementError,
    TrilensError,
    UnmentionedObjectsWarning,
)

MAPS = (
    tl.ChoiceMap(2, l2=0.05),
    tl.LensMap(2),
    tl.SOE(2, random_state=0),
    tl.STE(2, l2=0.01, random_state=0),
    tl.TSTE(2, l2=0.01, random_state=0),
    tl.GNMDS(2, random_state=0),
)
CLASSIFIERS = (
    tl.MapClassifier(map="lensmap", n_components=2, random_state=0),
    tl.KRNGClassifier(k=5, random_state=0),
    tl.LensDepthClassifier(),
)
OTHERS = (
    tl.KRNGClustering(2, random_state=0),
    tl.LensDepthOutlierDetector(),
    tl.MapClustering(2, map="krng"),
    tl.MapOutlierDetector(n=2, map="lensmap"),
)
EVERY = (*MAPS, *CLASSIFIERS, *OTHERS)


def name(estimator):
    return type(estimator).__name__


@pytest.fixture(scope="module")
def drawn():
    points = tl.simulate.mixture(30, means=[[0, 0], [7, 0], [0, 7]], random_state=0)
    named = [f"object {i}" for i in range(30)]
    S = tl.simulate_statements(points, 1500, error_rate=0.05, random_state=1)
    return tl.Statements(S.triples, names=named, kind="central"), points.labels


# Checks that need no data, or only what every estimator refuses: these must pass.
NEED_NO_DATA = {
    "check_estimator_cloneable",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_estimators_unfitted",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_mixin_order",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
}


@pytest.mark.parametrize("estimator", EVERY, ids=name)
def test_scikit_learns_own_checks(estimator, monkeypatch):
    tags = estimator.__sklearn_tags__().input_tags
    assert (tags.two_d_array, tags.string, tags.pairwise) == (False, True, False)
    # checks are skipped where tags say that input is not two-dimensional
    tags_of = type(estimator).__sklearn_tags__

    def of_points(self):
        tags = tags_of(self)
        tags.input_tags.two_d_array = True
        return tags

    monkeypatch.setattr(type(estimator), "__sklearn_tags__", of_points)
    # The other checks fit points: float arrays with a row for each sample. Statements are triples
    # of objects, so these are refused, and that is the only way in which a check may fail.
    # What such checks are after is tested with statements below.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = check_estimator(estimator, on_fail=None, on_skip=None)
    passed = {check["check_name"] for check in checks if check["status"] == "passed"}
    assert passed >= NEED_NO_DATA
    for check in checks:
        if check["status"] == "failed":
            error, refused = check["exception"], False
            while error is not None and not refused:
                refused = isinstance(error, TrilensError)
                error = error.__cause__ or error.__context__
            assert refused, (check["check_name"], check["exception"])


@pytest.mark.parametrize("estimator", EVERY, ids=name)
def test_fitting_twice_gives_the_same_and_changes_no_parameter(estimator, drawn):
    S, y = drawn
    model = clone(estimator)
    given = dict(model.get_params())
    labels = (y,) if estimator in CLASSIFIERS else ()
    assert model.fit(S, *labels) is model
    assert model.get_params() == given
    fitted = "embedding_" if estimator in MAPS else "transduction_" if labels else "labels_"
    first = getattr(model, fitted).copy()
    np.testing.assert_array_equal(getattr(model.fit(S, *labels), fitted), first)
    np.testing.assert_array_equal(getattr(clone(model).fit(S, *labels), fitted), first)
    if estimator in MAPS:
        before = set(vars(model))
        for method in ("transform", "predict", "score"):
            getattr(model, method)(S)
        assert set(vars(model)) == before
    array = clone(model).set_params(kind="central").fit(np.array(S.triples), *labels)
    np.testing.assert_array_equal(getattr(array, fitted), first)
    file = io.BytesIO()
    joblib.dump(model, file)
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(file)):
        np.testing.assert_array_equal(getattr(again, fitted), first)


@pytest.mark.parametrize("estimator", MAPS, ids=name)
def test_maps_go_through_cross_validation_grid_search_and_pipelines(estimator, drawn):
    S, y = drawn
    assert (cross_val_score(estimator, S, cv=3) > 0.6).all()
    search = GridSearchCV(estimator, {"n_components": [1, 2]}, cv=3).fit(S)
    assert search.best_params_ == {"n_components": 2}
    assert search.best_estimator_.embedding_.shape == (30, 2)
    held_out = cross_val_predict(estimator, S, cv=3)
    assert held_out.shape == (1500,)
    assert (held_out == 0).mean() > 0.6
    groups = make_pipeline(clone(estimator), KMeans(3, n_init=3, random_state=0))
    assert tl.purity(groups.fit(S).predict(S), y) > 0.8
    classes = make_pipeline(clone(estimator), SVC())
    assert classes.fit(S, y).score(S, y) > 0.9
    assert (cross_val_score(classes, S.objects, y, cv=3) > 0.7).all()


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name)
def test_classifiers_go_through_cross_validation(estimator, drawn):
    S, y = drawn
    assert (cross_val_score(estimator, S.objects, y, cv=3) > 0.6).all()
    named = np.array(["a", "b", "c"])[y]
    predicted = cross_val_predict(estimator, S.objects, named, cv=3)
    assert (predicted == named).mean() > 0.7
    model = clone(estimator).fit(S.objects[::2], y[::2])
    np.testing.assert_array_equal(model.transduction_[::2], y[::2])
    assert model.score(S.objects[1::2], y[1::2]) == (model.transduction_[1::2] == y[1::2]).mean()


def test_grid_search_over_a_classifiers_map(drawn):
    S, y = drawn
    grid = {"n_components": [1, 2], "map": ["lensmap", "soe"]}
    search = GridSearchCV(tl.MapClassifier(random_state=0), grid, cv=3).fit(S.objects, y)
    assert search.best_score_ > 0.8
    assert search.predict(S.objects).shape == (30,)


@pytest.mark.parametrize("estimator", MAPS, ids=name)
def test_objects_are_known_by_name_and_coordinates_come_as_the_table_that_was_asked_for(
    estimator, drawn
):
    S, _ = drawn
    model = clone(estimator)
    assert isinstance(model.fit_transform(S), np.ndarray)
    model.set_output(transform="pandas")
    frame = model.transform(S)
    assert list(frame.columns) == ["x1", "x2"] == list(model.get_feature_names_out())
    assert list(frame.index) == list(S.names)
    np.testing.assert_array_equal(frame, model.embedding_)
    # a table of statements has rows of another meaning, and another number
    pd.testing.assert_frame_equal(clone(model).fit_transform(S.to_frame()).loc[frame.index], frame)
    part = S.subset(list(S.names[20:4:-1]))
    np.testing.assert_array_equal(model.transform(part), model.embedding_[20:4:-1])
    inside = np.isin(S.triples, np.arange(5, 21)).all(axis=1)
    np.testing.assert_array_equal(model.predict(part), model.predict(S[inside]))
    assert model.score(part) == model.score(S[inside])
    with pytest.raises(ParameterError, match="object 'pear' is not on the map"):
        model.transform(tl.Statements([("object 1", "object 2", "pear")], kind="central"))
    with pytest.raises(ParameterError, match="about 31 objects, but only 30 are on the map"):
        model.predict([[0, 1, 30]])


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
def test_predicted_answers_are_those_of_the_points(kind):
    X = np.array([[0.0], [1.0], [3.0], [8.0]])
    model = tl.SOE(1)
    model.embedding_, model.names_ = X, None
    S = tl.simulate.answer([[0, 1, 2], [2, 1, 3], [0, 3, 1]], X, kind=kind)
    assert model.predict(S).tolist() == [0, 0, 0]
    assert model.score(S) == 1.0
    order = [0, 2, 1] if kind == "closer" else [1, 0, 2]
    wrong = tl.Statements(S.triples[:, order], kind=kind)
    assert model.predict(wrong).tolist() == [1, 1, 1]
    assert model.score(wrong) == 0.0
    tied = tl.Statements([[0, 1, 2]], kind=kind)
    model.embedding_ = np.zeros((3, 1))
    assert model.score(tied) == pytest.approx(1 / 2 if kind == "closer" else 1 / 3)


@pytest.mark.parametrize("estimator", [*MAPS, *OTHERS], ids=name)
def test_a_y_that_would_be_ignored_is_refused(estimator, drawn):
    S, y = drawn
    for answers in (np.ones(len(S)), [True] * len(S), np.zeros(7), 3):
        with pytest.raises(ParameterError, match="would be ignored"):
            clone(estimator).fit(S, answers)
        with pytest.raises(ParameterError, match="would be ignored"):
            clone(estimator).set_params(kind="closer").fit(S.triples, answers)
    clone(estimator).fit(S, y)  # a Pipeline hands the labels of the objects to every step
    if hasattr(estimator, "fit_predict"):
        with pytest.raises(ParameterError, match="would be ignored"):
            clone(estimator).set_params(kind="central").fit_predict(*S.to_choices())


def test_an_array_with_its_kind_means_the_same_everywhere(drawn):
    S, _ = drawn
    array = np.array(S.triples)
    one = tl.GNMDS(2, random_state=0).fit(S)
    assert one.score(S) == one.score(array)
    with pytest.raises(KindError, match="kind='closer' for rows of"):
        tl.violations(one.embedding_, array)
    assert tl.violations(one.embedding_, array, kind="central") == one.violations_
    assert tl.violations(one.embedding_, S.to_triplets(), kind="closer") == one.violations_


@pytest.mark.slow
@pytest.mark.parametrize("seed", [np.random.RandomState, np.random.default_rng])
def test_every_kind_of_seed(seed, drawn):
    S, y = drawn
    for make in (
        lambda s: tl.SOE(2, init="random", random_state=s).fit(S).embedding_,
        lambda s: tl.ChoiceMap(2, l2=0.1, random_state=s).fit(S).embedding_,
        lambda s: tl.MapClassifier(n_components=2, random_state=s).fit(S, y).transduction_,
        lambda s: tl.KRNGClustering(3, random_state=s).fit(S).labels_,
        lambda s: tl.cluster(S, 3, "lensmap", random_state=s).labels,
        lambda s: tl.simulate_statements(np.eye(5)[:, :2], 9, random_state=s).triples,
        lambda s: tl.simulate.answer(S, np.eye(30)[:, :2], error_rate=0.5, random_state=s).triples,
        lambda s: S.reduce(s).triples,
    ):
        np.testing.assert_array_equal(make(seed(5)), make(seed(5)))


def test_whole_numbers_in_a_table_are_names_in_every_part_of_it():
    X = np.random.default_rng(0).normal(size=(12, 2))
    S = tl.simulate.simulate_statements(X, 300, kind="closer", random_state=1)
    table = pd.DataFrame(S.triples, columns=["anchor", "near", "far"])
    part = table[(table != 0).all(axis=1)].iloc[:20]
    ids = [int(each) for each in tl.Statements(part).names]
    assert ids[0] > 0
    same = tl.Statements(part.to_numpy(), 12, kind="closer")
    model = tl.ChoiceMap(2, l2=0.1).fit(table)
    np.testing.assert_array_equal(model.transform(part), model.embedding_[ids])
    assert model.score(part) == model.score(same)
    assert tl.violations(model.embedding_, part) == tl.violations(model.embedding_, same)
    both = tl.concatenate([tl.Statements(table[20:]), tl.Statements(part)])
    assert model.score(both[-20:]) == model.score(same)
    labels = dict(zip(S.names, np.where(X[:, 0] > 0, "r", "l"), strict=True))
    classifier = tl.MapClassifier(map=tl.ChoiceMap(2, l2=0.1)).fit(table, labels)
    assert classifier.predict(part).tolist() == [labels[str(i)] for i in ids]
    of_part = tl.ChoiceMap(2, l2=0.1, kind="closer").fit(part)
    assert of_part.score(part.to_numpy()) == of_part.score(same) == of_part.score(part)
    with pytest.raises(ParameterError, match="'0' is not on the map"):
        of_part.score(table)


def test_coordinates_by_name_and_none_missing():
    S = tl.Statements([("a", "b", "c"), ("b", "a", "c")], kind="closer")
    places = pd.DataFrame({"x": [3.0, 1.0, 0.0]}, index=["c", "b", "a"])
    assert tl.violations(places, S) == 0.0
    assert tl.violations(places.to_numpy(), S) == 0.5
    with pytest.raises(ParameterError, match="NaN"):
        tl.violations(places.replace(3.0, np.nan), S)
    with pytest.raises(ParameterError, match="'c' is not in the embedding"):
        tl.violations(places[1:], S)
    # and shapes are compared by name
    assert tl.procrustes_distance(places, places[::-1]) == pytest.approx(0, abs=1e-12)
    with pytest.raises(ParameterError, match="'a' is not in Y"):
        tl.procrustes_distance(places, places.rename(index={"a": "z"}))


POINTS = tl.simulate.mixture(12, means=[[0, 0], [9, 0]], random_state=0)
CENTRAL = tl.simulate_statements(POINTS, 200, random_state=1)
NAMED = tl.Statements(CENTRAL.triples, names=[f"object {i}" for i in range(12)], kind="central")
QUICK = tl.ChoiceMap(2, l2=0.1)


def test_neg_log_loss_reads_the_positions_through_wrappers():
    questions, chosen = CENTRAL.to_choices()
    model = clone(QUICK).set_params(kind="central").fit(CENTRAL)
    expected = tl.neg_log_loss(model, CENTRAL)
    assert tl.neg_log_loss(make_pipeline(model), questions, chosen) == expected
    # also where there are as many questions as objects
    twelve = clone(model).fit(questions[:12], chosen[:12])
    assert twelve.score(questions[:12], chosen[:12]) == twelve.score(CENTRAL[:12])
    search = GridSearchCV(clone(model), {"l2": [0.1]}, cv=2, scoring=tl.neg_log_loss)
    assert search.fit(questions, chosen).score(questions, chosen) == pytest.approx(expected)
    classifier = tl.MapClassifier(map=QUICK).fit(CENTRAL, np.arange(12) % 2)
    with pytest.raises(ParameterError, match="MapClassifier gives no probabilities of answers"):
        tl.neg_log_loss(classifier, CENTRAL)
    with pytest.raises(ParameterError, match="no answer to score"):
        tl.neg_log_loss(model, CENTRAL[:0])


def test_labels_of_a_part_of_the_objects_are_those_of_that_part():
    labels = pd.Series(["x", "y"] * 6, index=NAMED.names)
    model = tl.MapClassifier("knn", map=QUICK).fit(NAMED.objects[:6], labels)
    assert model._labels.labelled.tolist() == [*range(6)]
    right = model.transduction_[6:] == labels.to_numpy()[6:]
    assert model.score(NAMED.objects[6:], labels) == right.mean()
    mixed = pd.Series(labels.to_numpy(), index=range(12)).iloc[::-1]
    for given in (CENTRAL, CENTRAL.objects):
        again = tl.MapClassifier("knn", map=QUICK).fit(given, mixed)
        assert again.transduction_.tolist() == labels.tolist()
    with pytest.raises(LabelError, match="both as text or both as numbers"):
        again.score(CENTRAL, [0, 1] * 6)


def test_what_is_no_classifier_and_no_map():
    y = np.arange(12) % 2
    for wrong in (LinearRegression(), KMeans(2)):
        with pytest.raises(ParameterError, match="must be a classifier"):
            tl.MapClassifier(wrong, map=QUICK).fit(CENTRAL, y)
    with pytest.raises(ParameterError, match="a fit is a choice map; leave map='soe' out"):
        tl.MapClassifier(map="soe").fit(clone(QUICK).fit(CENTRAL).fit_, y)
    with pytest.raises(ParameterError, match="a fit has its own dimensions"):
        tl.MapClassifier(n_components=2).fit(clone(QUICK).fit(CENTRAL).fit_, y)
    with pytest.raises(ParameterError, match="the name of a method, or a ChoiceMap"):
        tl.MapClustering(map=tl.SOE(2)).fit(CENTRAL)


def test_messages_of_what_is_wrong_with_starts_objects_and_labels(tmp_path):
    with pytest.raises(ParameterError, match="init has NaN"):
        tl.SOE(2, init=np.full((12, 2), np.nan)).fit(CENTRAL)
    with pytest.warns(ConvergenceWarning, match="l2=0"):
        tl.ChoiceMap(2, l2=0).fit(CENTRAL)
    with pytest.raises(StatementError, match=r"their \.statements"):
        tl.Statements(CENTRAL.objects)
    with pytest.raises(LabelError, match="need names, which are text, not 0"):
        tl.MapClassifier(map=QUICK).fit(CENTRAL, {0: "x", 1: "y"})
    with pytest.raises(StatementError, match="masked values"):
        tl.Statements(np.ma.masked_equal([[0, 1, 2], [1, 2, 9]], 9), kind="central")
    (tmp_path / "te.csv").write_text("a,b\n")
    with pytest.raises(TrilensError, match="is no fit"):
        tl.load(tmp_path / "te.csv")


def test_violations_of_weighted_statements_are_weighted():
    turned = tl.Statements(CENTRAL.triples[:, [1, 0, 2]], 12, kind="central")
    both = tl.concatenate([CENTRAL, turned])
    weights = np.repeat([1.0, 0.0], len(CENTRAL))
    model = clone(QUICK).fit(both, sample_weight=weights)
    assert model.violations_ == tl.violations(model.embedding_, CENTRAL)
    assert model.violations_ < tl.violations(model.embedding_, both)


@pytest.mark.parametrize("map", ["lensmap", QUICK])
def test_every_estimator_warns_of_objects_that_no_answer_is_about(map):
    S = tl.Statements(CENTRAL.triples, 13, kind="central")
    y = np.arange(13) % 2
    with pytest.warns(UnmentionedObjectsWarning, match="1 of the 13 objects"):
        tl.MapClassifier(map=map).fit(S, y)
    for model in (tl.MapClustering(2, map=map), tl.MapOutlierDetector(n=1, map=map)):
        with pytest.warns(UnmentionedObjectsWarning, match="1 of the 13 objects"):
            model.fit(S)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnmentionedObjectsWarning)
        tl.MapClassifier(map=map).fit(CENTRAL, y[:12])


def test_features_hang_on_objects_that_are_divided(drawn):
    S, y = drawn
    F = np.random.default_rng(0).normal(size=(30, 3))
    model = tl.MapClassifier(map=tl.ChoiceMap(2, l2=0.1, feature_share=0.5))
    for features in (F, dict(zip(S.names, F, strict=True)), pd.DataFrame(F, index=S.names)):
        X = S.objects.with_features(features)
        fold = clone(model).fit(X[:24], y[:24])
        hidden = np.where(np.arange(30) < 24, y, -1)
        whole = clone(model).fit(S, hidden, features=features)
        np.testing.assert_array_equal(fold.embedding_, whole.embedding_)
    assert cross_val_score(model, X, y, cv=3).shape == (3,)
    by_map = make_pipeline(tl.ChoiceMap(2, l2=0.1, feature_share=0.5), SVC())
    assert cross_val_score(by_map, X, y, cv=3).shape == (3,)
    for other in (model, tl.ChoiceMap(2)):
        with pytest.raises(ParameterError, match=r"S\.objects\.with_features\(features\)"):
            clone(other).fit(S.objects, y, features=F)
    outliers = tl.MapOutlierDetector(n=2, map=tl.ChoiceMap(2, l2=0.1, feature_share=0.5))
    hung, given_ = clone(outliers).fit(X), clone(outliers).fit(S, features=F)
    np.testing.assert_array_equal(hung.score_samples_, given_.score_samples_)


def test_features_that_hang_on_objects_are_not_passed_over(drawn):
    S, y = drawn
    X = S.objects.with_features(np.zeros((30, 3)))
    asked = [
        *(partial(ask, X) for ask in (tl.fit, tl.medoid)),
        *(partial(model.fit, X) for model in (tl.LensMap(2), tl.SOE(2), tl.KRNGClustering(2))),
        *(
            partial(ask, X, y)
            for ask in (tl.classify, tl.KRNGClassifier(k=5).fit, tl.LensDepthClassifier().fit)
        ),
    ]
    for ask in asked:
        with pytest.raises(ParameterError, match="these objects have features, which would be"):
            ask()


@pytest.mark.parametrize("parameters", [{"n_components": 2, "l2": 0.1}, {"n_components": 2}, {}])
def test_a_weight_of_two_is_exactly_two_answers(parameters):
    twice = tl.ChoiceMap(**parameters).fit(tl.concatenate([CENTRAL, CENTRAL]))
    weighed = tl.ChoiceMap(**parameters).fit(CENTRAL, sample_weight=np.full(len(CENTRAL), 2.0))
    np.testing.assert_array_equal(weighed.embedding_, twice.embedding_)
    assert weighed.error_rate_interval_ == twice.error_rate_interval_


def test_the_error_rate_of_a_classifiers_map():
    points = tl.simulate.mixture(30, means=[[0, 0], [7, 0]], random_state=0)
    S = tl.simulate_statements(points, 2000, error_rate=0.3, random_state=1)
    model = tl.MapClassifier().fit(S, points.labels)
    assert model.error_rate_ == pytest.approx(0.3, abs=0.04)
    for other in ("soe", tl.SOE(2)):
        assert model.set_params(map=other).fit(S, points.labels).error_rate_ is None


# ---- what `classify`, `cluster` and `outliers` do by default, as estimators -------------------

Y = np.where(np.arange(12) % 3, POINTS.labels, -1)


@pytest.fixture(scope="module")
def fitted():
    return tl.MapClassifier().fit(NAMED, Y)


def test_the_classifier_has_the_default_of_the_function(fitted):
    found = tl.classify(NAMED, Y)
    assert fitted.map_ == found.method == "choice"
    assert fitted.chosen_parameters_ == found.parameters
    np.testing.assert_array_equal(fitted.transduction_, found.labels)
    few = tl.MapClassifier().fit(NAMED[:30], Y)
    assert few.map_ == tl.classify(NAMED[:30], Y).method == "lensmap"


def test_a_classifier_predicts_the_objects_of_statements(fitted):
    np.testing.assert_array_equal(fitted.predict(NAMED), fitted.transduction_)
    part = NAMED.subset([7, 3, 1, 10, 0, 5])
    np.testing.assert_array_equal(fitted.predict(part), fitted.transduction_[[7, 3, 1, 10, 0, 5]])
    table = part.to_frame()
    names = tl.Statements(table).names
    np.testing.assert_array_equal(fitted.predict(table), fitted.predict(names))
    np.testing.assert_array_equal(fitted.predict(NAMED.triples), fitted.transduction_)
    np.testing.assert_array_equal(fitted.predict(pd.Series(["object 4"])), fitted.predict([4]))
    with pytest.raises(ParameterError, match="object 'pear' is not among those of the fit"):
        fitted.predict(tl.Statements([("object 1", "object 2", "pear")], kind="central"))
    with pytest.raises(ParameterError, match="about 13 objects, but only 12"):
        fitted.predict([[0, 1, 12]])
    for other in (tl.KRNGClassifier(), tl.LensDepthClassifier()):
        np.testing.assert_array_equal(other.fit(NAMED, Y).predict(NAMED), other.transduction_)


def test_probabilities_of_classes(fitted):
    P = fitted.predict_proba(NAMED)
    assert P.shape == (12, 2)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(fitted.classes_[P.argmax(axis=1)], fitted.predict(NAMED))
    labelled = Y >= 0
    assert set(P[labelled].max(axis=1)) == {1.0}
    np.testing.assert_array_equal(fitted.predict_proba(["object 3"]), P[[3]])
    held = cross_val_predict(
        tl.MapClassifier(map="lensmap", n_components=2),
        NAMED.objects,
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
    model = tl.MapClassifier(map=own).fit(NAMED, Y)
    assert not hasattr(own, "embedding_")
    assert (model.map_, model.n_components_) == ("SOE", 2)
    assert (model.transduction_ == POINTS.labels).sum() >= 11
    grid = {"map__n_components": [1, 2]}
    search = GridSearchCV(tl.MapClassifier(map=own), grid, cv=2).fit(NAMED.objects, POINTS.labels)
    assert search.best_score_ > 0.8
    choice = tl.MapClassifier(map=tl.ChoiceMap(2, l2=0.1)).fit(NAMED, Y)
    assert choice.chosen_parameters_["map"] == "ChoiceMap"
    with pytest.raises(ParameterError, match="n_components is 3, but the map has its own"):
        tl.MapClassifier(n_components=3, map=own).fit(NAMED, Y)
    with pytest.raises(ParameterError, match=r"map is .*; it must be one of auto, choice"):
        tl.MapClassifier(map=tl.SOE).fit(NAMED, Y)


def test_groups_as_an_estimator():
    model, found = tl.MapClustering(2, map="krng"), tl.cluster(NAMED, 2, "krng")
    np.testing.assert_array_equal(model.fit_predict(NAMED), found.labels)
    assert model.n_clusters_ == found.n_clusters
    assert model.result_.to_dict() == found.to_dict()
    with pytest.raises(ParameterError, match="method is 'nearest'"):
        tl.MapClustering(2, map="nearest").fit(NAMED)


def test_outliers_as_an_estimator():
    model, found = tl.MapOutlierDetector(n=2), tl.outliers(NAMED, n=2)
    labels = model.fit_predict(NAMED)
    assert sorted(np.flatnonzero(labels == -1)) == sorted(found.indices)
    assert set(labels) == {-1, 1}
    np.testing.assert_array_equal(model.score_samples_, found.all_scores)
    assert model.result_.to_dict() == found.to_dict()
    share = tl.MapOutlierDetector(0.25, map="lensmap").fit(NAMED)
    expected = tl.outliers(NAMED, contamination=0.25, method="lensmap").indices
    assert sorted(np.flatnonzero(share.labels_ == -1)) == sorted(expected)
    apart = tl.MapOutlierDetector(map=tl.ChoiceMap(2, l2=0.1)).fit(NAMED)
    assert (apart.labels_ == -1).sum() == apart.result_.suggested
    with pytest.raises(ParameterError, match="n or contamination, not both"):
        tl.MapOutlierDetector(0.1, n=2).fit(NAMED)
    with pytest.raises(ParameterError, match="contamination is 'some'; it must be 'auto'"):
        tl.MapOutlierDetector("some").fit(NAMED)


@pytest.mark.parametrize(
    "last", [tl.MapClustering(2, map="krng"), tl.MapOutlierDetector(n=1, map="lensmap")]
)
def test_a_pipeline_ends_in_them(last):
    first = FunctionTransformer(lambda statements: statements.reduce())
    found = make_pipeline(first, clone(last)).fit_predict(NAMED)
    np.testing.assert_array_equal(found, clone(last).fit_predict(NAMED.reduce()))
