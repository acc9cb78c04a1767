"""What scikit-learn promises of an estimator and its own checks cannot ask of statements."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import trilens as tl
from trilens.simulate import mixture, simulate_statements

POINTS = mixture(30, means=[[0, 0], [6, 0]], random_state=0)
STATEMENTS = simulate_statements(POINTS, random_state=1)
SOME = [None if i % 3 == 0 else "ab"[label] for i, label in enumerate(POINTS.labels)]

CLASSIFIERS = [
    tl.LensDepthClassifier(random_state=3),
    tl.KRNGClassifier(random_state=3),
    tl.MapClassifier(map="lensmap", random_state=3),
]
MAPS = [
    tl.LensMap(),
    tl.SOE(random_state=3),
    tl.STE(random_state=3),
    tl.TSTE(random_state=3),
    tl.GNMDS(random_state=3),
]
OTHERS = [
    tl.KRNGClustering(2, random_state=3),
    tl.LensDepthOutlierDetector(),
    tl.MapClustering(2, map="krng"),
    tl.MapOutlierDetector(n=2, map="lensmap"),
]
EVERY = [*CLASSIFIERS, *MAPS, *OTHERS]


def name(estimator):
    return type(estimator).__name__


@pytest.mark.parametrize("estimator", EVERY, ids=name)
def test_init_only_stores(estimator):
    signature = inspect.signature(type(estimator).__init__)
    parameters = [p for p in signature.parameters if p != "self"]
    assert sorted(estimator.get_params(deep=False)) == sorted(parameters)
    marker = {p: object() for p in parameters}
    made = type(estimator)(**marker)
    assert all(getattr(made, p) is value for p, value in marker.items())
    assert set(vars(made)) == set(parameters)


@pytest.mark.parametrize("estimator", EVERY, ids=name)
def test_a_clone_is_unfitted_and_equal(estimator):
    copy = clone(estimator)
    assert copy is not estimator
    assert copy.get_params() == estimator.get_params()
    assert not [v for v in vars(copy) if v.endswith("_")]


@pytest.mark.parametrize("estimator", EVERY, ids=name)
def test_fit_returns_self_keeps_parameters_and_leaves_the_statements(estimator):
    model = clone(estimator)
    before = model.get_params()
    triples = STATEMENTS.triples.copy()
    y = list(SOME)
    fitted = model.fit(STATEMENTS, y) if estimator in CLASSIFIERS else model.fit(STATEMENTS)
    assert fitted is model
    assert model.get_params() == before
    assert np.array_equal(STATEMENTS.triples, triples)
    assert y == SOME
    assert [v for v in vars(model) if v.endswith("_") and not v.startswith("_")]


@pytest.mark.parametrize("estimator", EVERY, ids=name)
def test_the_same_seed_gives_the_same_result_and_pickles(estimator):
    def result(model):
        for attribute in ("transduction_", "embedding_", "labels_"):
            if hasattr(model, attribute):
                return getattr(model, attribute)
        raise AssertionError(f"{name(model)} has no result")

    def fitted():
        model = clone(estimator)
        return model.fit(STATEMENTS, SOME) if estimator in CLASSIFIERS else model.fit(STATEMENTS)

    first = fitted()
    assert np.array_equal(result(first), result(fitted()))
    assert np.array_equal(result(first), result(pickle.loads(pickle.dumps(first))))


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, tl.LensDepthOutlierDetector()], ids=name)
def test_predict_before_fit_is_refused(estimator):
    with pytest.raises(NotFittedError):
        clone(estimator).predict()


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name)
def test_a_labelled_object_keeps_its_label_and_the_rest_is_predicted(estimator):
    model = clone(estimator).fit(STATEMENTS, SOME)
    assert model.classes_.tolist() == ["a", "b"]
    kept = [label for label in SOME if label is not None]
    assert [x for x, y in zip(model.transduction_, SOME, strict=True) if y is not None] == kept
    assert set(model.predict(["0", "3"])) <= {"a", "b"}
    truth = np.array(["ab"[label] for label in POINTS.labels])
    assert (model.predict() == truth).mean() > 0.9


@pytest.mark.parametrize("estimator", MAPS, ids=name)
def test_a_map_gives_every_object_a_place(estimator):
    model = clone(estimator)
    places = model.fit_transform(STATEMENTS)
    assert places.shape == (30, 2)
    assert np.isfinite(places).all()
    assert np.array_equal(places, model.embedding_)


@pytest.mark.parametrize("estimator", EVERY, ids=name)
def test_an_array_is_taken_with_its_kind(estimator):
    model = clone(estimator).set_params(kind="central")
    rows = STATEMENTS.triples
    fitted = model.fit(rows, SOME) if estimator in CLASSIFIERS else model.fit(rows)
    assert fitted is model
