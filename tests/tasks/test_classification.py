from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

import drawn
from trilens.errors import KindError, LabelError, ParameterError
from trilens.statements import Statements
from trilens.tasks.classify.classes import classify, make_classifier
from trilens.tasks.classify.depth import LensDepthClassifier
from trilens.tasks.classify.graph import KRNGClassifier
from trilens.tasks.classify.labels import encode_labels
from trilens.tasks.classify.map import MapClassifier

import reference


@st.composite
def labelled_statements(draw):
    S = draw(drawn.statements(kinds=["central"], min_objects=5, max_statements=60))
    free = draw(
        st.lists(st.sampled_from([-1, 0, 1]), min_size=S.n_objects - 4, max_size=S.n_objects - 4)
    )
    return S, draw(st.permutations([0, 0, 1, 1, *free]))


@given(labelled_statements())
def test_the_features_of_algorithm_3(drawn_case):
    S, codes = drawn_case
    model = LensDepthClassifier(DummyClassifier()).fit(S, codes)
    singled, appears = reference.count_classes(S.triples, codes, 2)
    expected = np.where(appears > 0, singled / np.maximum(appears, 1), 0)
    assert np.array_equal(model.features_, expected)


@given(labelled_statements(), st.integers(1, 5))
def test_algorithm_4_equals_the_definition(drawn_case, k):
    S, codes = drawn_case
    model = KRNGClassifier(k=k, random_state=0).fit(S, codes)
    for x in range(S.n_objects):
        if codes[x] >= 0:
            assert (model.transduction_[x], model.how_[x]) == (codes[x], "given")
            continue
        votes, how = reference.krng_votes(S.triples, codes, 2, k, x)
        assert model.how_[x] == how
        assert votes[model.transduction_[x]] == max(votes)


@given(labelled_statements())
def test_leave_one_out_is_exhaustive(drawn_case):
    S, codes = drawn_case
    model = KRNGClassifier(random_state=0).fit(S, codes)
    n_labelled = sum(code >= 0 for code in codes)
    assert set(model.loo_errors_) == set(range(1, n_labelled))
    for k, error in model.loo_errors_.items():
        assert error == pytest.approx(reference.leave_one_out_error(S.triples, codes, 2, k))
    assert model.loo_error_ == min(model.loo_errors_.values())


def test_ties_of_the_vote_are_broken_at_random():
    S = Statements([[0, 2, 1], [3, 2, 1], [4, 0, 1], [4, 2, 3]])
    y = ["a", "a", "b", "b", None]
    picks = {KRNGClassifier(k=3, random_state=s).fit(S, y).predict([4])[0] for s in range(30)}
    assert picks == {"a", "b"}


def test_candidates_of_k_and_wrong_ones():
    S, y = Statements([[0, 1, 2], [1, 2, 3], [4, 0, 1]]), [0, 0, 1, 1, -1]
    assert set(KRNGClassifier(k=[1, 3]).fit(S, y).loo_errors_) == {1, 3}
    for wrong in (0, [], [2, 0], "best"):
        with pytest.raises(ParameterError, match=r"^k "):
            KRNGClassifier(k=wrong).fit(S, y)


@pytest.mark.parametrize("model", [LensDepthClassifier(), KRNGClassifier()])
def test_other_kinds_are_refused(model):
    for kind in ("odd", "closer"):
        with pytest.raises(KindError, match="MapClassifier"):
            model.fit(Statements([[0, 1, 2]], n_objects=4, kind=kind), [0, 0, 1, 1])


@pytest.mark.parametrize("classifier", ["knn", "svm-linear", "svm-gauss", KNeighborsClassifier(1)])
def test_every_classifier_on_top_separates_two_groups(classifier):
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(0, 1, (15, 2)), rng.normal(8, 1, (15, 2))])
    D = np.linalg.norm(points[:, None] - points[None], axis=2)
    rows = []
    for a in range(30):
        for b in range(a):
            for c in range(b):
                x = reference.most_central(D, a, b, c)
                rows.append([x, *({a, b, c} - {x})])
    y = np.repeat(["low", "high"], 15).astype(object)
    y[[3, 7, 20, 25]] = None
    model = LensDepthClassifier(classifier, random_state=0).fit(np.array(rows), y)
    assert model.predict([3, 7, 20, 25]).tolist() == ["low", "low", "high", "high"]
    assert model.predict().shape == (30,)
    assert model.chosen_parameters_["classifier"]


@pytest.mark.parametrize(
    ("y", "text"),
    [
        ([0, 0, 0, -1], "at least two classes"),
        ([-1, None, float("nan"), ""], "no object is labelled"),
        ([0, 0, 1], "3 labels for 4 objects"),
        ([0, "a", 0, "a"], "different types"),
    ],
)
def test_labels_that_do_not_do(y, text):
    for model in (LensDepthClassifier(), KRNGClassifier()):
        with pytest.raises(LabelError, match=text):
            model.fit(Statements([[0, 1, 2]], n_objects=4), y)


def test_labels_of_numpy_types_and_missing_ones():
    labels = encode_labels(np.array([2.0, np.nan, 5.0, 2.0, 5.0, -1.0]), Statements([], 6))
    assert labels.codes.tolist() == [0, -1, 1, 0, 1, -1]
    assert labels.labelled.tolist() == [0, 2, 3, 4]


def test_make_classifier_refuses_a_k_that_nobody_takes():
    with pytest.raises(ParameterError, match="krng"):
        make_classifier("depth", k=3)


SIX = Statements([[0, 1, 4], [1, 0, 4], [2, 3, 5], [3, 2, 5], [0, 4, 2], [2, 5, 1], [4, 0, 3]])
CLASSIFIERS = [LensDepthClassifier, KRNGClassifier, MapClassifier]


@pytest.mark.parametrize(
    "y",
    [
        ["a", "a", "b", "b", pd.NA, pd.NA],
        pd.Series(["a", "a", "b", "b", pd.NA, None], dtype="string"),
        pd.Series(["a", "a", "b", "b", None, np.nan], dtype=object),
        {"0": "a", "1": "a", "2": "b", "3": "b", "4": pd.NA},
    ],
)
def test_missing_labels_of_pandas_are_unlabelled(y):
    assert encode_labels(y, SIX).codes.tolist() == [0, 0, 1, 1, -1, -1]
    whole = encode_labels(pd.array([3, 3, 7, 7, None, None], dtype="Int64"), SIX)
    assert whole.codes.tolist() == [0, 0, 1, 1, -1, -1]


@pytest.mark.parametrize("Classifier", CLASSIFIERS)
def test_score_is_the_share_of_the_labels_that_are_found(Classifier):
    model = Classifier(random_state=0).fit(SIX, ["a", "a", "b", "b", None, None])
    found = model.transduction_.tolist()
    assert model.score(SIX, found) == 1
    assert model.score(SIX, [*"bbaa", found[4], None]) == pytest.approx(1 / 5)
    assert model.score(SIX, {"0": "a", "2": "a"}) == 0.5
    assert np.isnan(model.score(SIX, [pd.NA] * 6))


@pytest.mark.parametrize("Classifier", CLASSIFIERS)
def test_a_random_state_of_numpys_old_kind(Classifier):
    y = ["a", "a", "b", "b", None, None]
    first, again = (Classifier(random_state=np.random.RandomState(1)).fit(SIX, y) for _ in "ab")
    assert first.transduction_.tolist() == again.transduction_.tolist()


@pytest.mark.parametrize("k", [2.5, [1, 2.5], True, np.array([[1]])])
def test_k_of_the_graph_is_a_whole_number(k):
    with pytest.raises(ParameterError, match="it must be a whole number, 1 or more"):
        KRNGClassifier(k=k).fit(SIX, ["a", "a", "b", "b", None, None])


@pytest.mark.parametrize("label", [[1], {"x": 1}, np.array([1, 2]), (1, 2)])
def test_a_label_is_one_value(label):
    with pytest.raises(LabelError, match="it must be text or a number"):
        encode_labels(["a", "b", "a", "b", None, label], SIX)


def test_labels_beyond_64_bits():
    y = [10**30, 10**30, 5, 5, None, None]
    found = classify(SIX, y, method="krng")
    assert found.given == tuple(y)
    assert set(found.predicted.values()) <= {5, 10**30}
    assert found.to_dict()["classes"] == {"5": 2, str(10**30): 2}
