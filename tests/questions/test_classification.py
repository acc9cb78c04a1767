"""The paper's classifiers: Algorithms 3 and 4, against their definitions."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

import drawn
import trilens as tl
from trilens.counts import count_central, count_classes, count_labelled_pairs
from trilens.errors import KindError, LabelError, ParameterError
from trilens.questions.classify import paper
from trilens.questions.classify.classes import classify, make_classifier
from trilens.questions.classify.map_classifier import MapClassifier
from trilens.questions.classify.paper import KRNGClassifier, LensDepthClassifier
from trilens.simulate import mixture, simulate_statements
from trilens.statements import Statements

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


@given(
    labelled_statements(),
    st.integers(1, 5),
    st.sampled_from([0, 0.1, 0.3, 0.5]),
    st.sampled_from(["nearest", "random"]),
)
def test_algorithm_4_equals_the_definition_and_leave_one_out_is_exhaustive(
    drawn_case, k, error_rate, alone
):
    S, codes = drawn_case
    model = KRNGClassifier(k, error_rate=error_rate, alone=alone, random_state=0).fit(S, codes)
    for x in range(S.n_objects):
        if codes[x] >= 0:
            assert (model.transduction_[x], model.how_[x]) == (codes[x], "given")
            continue
        votes, how = reference.krng_votes(S.triples, codes, 2, k, x, error_rate, alone)
        assert model.how_[x] == how
        assert votes[model.transduction_[x]] == max(votes)
    model = KRNGClassifier(error_rate=error_rate, alone=alone, random_state=0).fit(S, codes)
    assert set(model.loo_errors_) == set(range(1, sum(code >= 0 for code in codes)))
    for k, error in model.loo_errors_.items():
        expected = reference.leave_one_out_error(S.triples, codes, 2, k, error_rate, alone)
        assert error == pytest.approx(expected)
    assert model.loo_error_ == min(model.loo_errors_.values())


@pytest.mark.parametrize(("n_labelled", "k", "error_rate"), [(12, 4, 0.3), (41, 7, 0.1)])
def test_a_share_on_the_threshold_of_eq_16_is_no_neighbour(n_labelled, k, error_rate):
    e = Fraction(str(error_rate))
    limit = Fraction(k, n_labelled - 1) * (1 - 3 * e / 2) + e / 2
    # x stands with 0 and 1 in so many statements that N / D is the limit, to the last digit
    N, D = limit.numerator, limit.denominator
    x = n_labelled
    rows = [[1, 0, x]] * N + [[x, 0, 1]] * (D - N)
    y = [0, *[1] * (n_labelled - 1), -1]
    # 1 alone votes: the third object was never 0; one answer less at the center, and 0 votes too
    for answers, votes, picked in ((rows, [0, 1], {1}), ([*rows, [x, 0, 1]], [1, 1], {0, 1})):
        assert reference.krng_votes(answers, y, 2, k, x, error_rate)[0] == votes
        S = Statements(answers, n_objects=x + 1, kind="central")
        models = [KRNGClassifier(k, error_rate=error_rate, random_state=s) for s in range(30)]
        assert {model.fit(S, y).transduction_[x] for model in models} == picked
        assert models[0].how_[x] == "neighbours"


@pytest.mark.parametrize("k", [0, [], [2, 0], "best", 2.5, [1, 2.5], True, np.array([[1]])])
def test_candidates_of_k_wrong_ones_and_other_kinds(k):
    S, y = Statements([[0, 1, 2], [1, 2, 3], [4, 0, 1]], kind="central"), [0, 0, 1, 1, -1]
    assert set(KRNGClassifier(k=[1, 3]).fit(S, y).loo_errors_) == {1, 3}
    with pytest.raises(ParameterError, match=r"^k .*(whole numbers?|candidates)"):
        KRNGClassifier(k=k).fit(S, y)
    for model in (LensDepthClassifier(), KRNGClassifier()):
        with pytest.raises(KindError, match="MapClassifier"):
            model.fit(Statements(S.triples, kind="odd"), y)


@pytest.mark.first
@pytest.mark.parametrize("classifier", ["knn", "svm-linear", "svm-gauss", KNeighborsClassifier(1)])
def test_every_classifier_on_top_separates_two_groups(classifier):
    S, truth = two_groups()
    y = np.array(["low", "high"], dtype=object)[truth]
    y[[3, 7, 20, 25]] = None
    model = LensDepthClassifier(classifier, random_state=0).fit(S, y)
    expected = np.array(["low", "high"])[truth[[3, 7, 20, 25]]]
    assert model.predict([3, 7, 20, 25]).tolist() == expected.tolist()
    assert model.predict().shape == (30,)
    assert model.chosen_parameters_["classifier"]


@pytest.mark.parametrize("Classifier", [LensDepthClassifier, KRNGClassifier, MapClassifier])
def test_score_is_the_share_of_the_labels_that_are_found(Classifier):
    rows = [[0, 1, 4], [1, 0, 4], [2, 3, 5], [3, 2, 5], [0, 4, 2], [2, 5, 1], [4, 0, 3]]
    S = Statements(rows, kind="central")
    model = Classifier(random_state=0).fit(S, ["a", "a", "b", "b", None, None])
    found = model.transduction_.tolist()
    assert model.score(S, found) == 1
    assert model.score(S, [*"bbaa", found[4], None]) == pytest.approx(1 / 5)
    assert model.score(S, {"0": "a", "2": "a"}) == 0.5
    assert np.isnan(model.score(S, [pd.NA] * 6))


def two_groups(error_rate=0.0):
    drawn_points = mixture(30, [[0, 0], [9, 0]], random_state=1)
    S = simulate_statements(drawn_points.points, 3000, error_rate=error_rate, random_state=2)
    return S, drawn_points.labels


def test_an_empty_vote_is_a_tie_of_all_classes_by_the_papers_rule():
    # 4 is compared with labeled pairs, but always with a labeled object between
    S = Statements([[0, 4, 1], [1, 4, 0], [2, 4, 3], [3, 4, 2]], kind="central")
    y = ["a", "a", "b", "b", None]
    fitted = [KRNGClassifier(1, alone="random", random_state=s).fit(S, y) for s in range(30)]
    assert {model.how_[4] for model in fitted} == {"random"}
    assert {model.transduction_[4] for model in fitted} == {"a", "b"}
    assert fitted[0].loo_errors_ == {1: 0.5}
    with pytest.raises(ParameterError, match="alone is 'last'"):
        KRNGClassifier(alone="last").fit(S, y)


def test_the_error_rate_is_estimated():
    S, truth = two_groups(0.3)
    y = truth.tolist()
    y[3] = None
    model = KRNGClassifier(error_rate="estimate", random_state=0).fit(S, y)
    assert model.error_rate_ == pytest.approx(0.3, abs=0.1)
    assert model.transduction_[3] == truth[3]
    found = classify(S, y, "krng", error_rate="estimate")
    assert found.parameters["error_rate"] == pytest.approx(model.error_rate_)
    with pytest.raises(ParameterError, match="error_rate is 'guess'"):
        KRNGClassifier(error_rate="guess").fit(S, y)
    with pytest.raises(ParameterError, match="too few"):
        KRNGClassifier(error_rate="estimate").fit(S.take(range(4)), y)
    with pytest.raises(ParameterError, match="is for the method krng"):
        classify(S, y, "depth", error_rate=0.1)
    with pytest.raises(ParameterError, match="krng"):
        make_classifier("depth", k=3)


def test_max_depth_is_the_class_of_highest_depth():
    S, truth = two_groups()
    y = truth.tolist()
    hidden = [1, 2, 3]
    for i in hidden:
        y[i] = None
    model = LensDepthClassifier("max-depth", random_state=0).fit(S, y)
    depth = model.features_[hidden]
    assert (depth.max(axis=1) > depth.min(axis=1)).all()
    assert model.predict(hidden).tolist() == depth.argmax(axis=1).tolist()
    assert model.chosen_parameters_ == {"classifier": "max-depth"}
    # nothing is known of an object that no statement names: any class
    lonely = Statements(S.triples, n_objects=31, kind="central")
    picks = {
        LensDepthClassifier("max-depth", random_state=s).fit(lonely, [*y, None]).transduction_[30]
        for s in range(20)
    }
    assert picks == {0, 1}


def test_counts_suffice_for_algorithms_3_and_4():
    S, truth = two_groups()
    codes = truth.copy()
    codes[::3] = -1
    by_class = count_classes(S, codes, 2)
    by_pair = count_labelled_pairs(S, np.flatnonzero(codes >= 0))
    model = LensDepthClassifier("max-depth", random_state=0)
    expected = model.fit(S, codes).transduction_
    assert np.array_equal(model.fit(by_class, codes).transduction_, expected)
    other, fewer = codes.copy(), codes.copy()
    other[1], fewer[1] = 1 - other[1], -1
    estimated = KRNGClassifier(error_rate="estimate")
    for model, counts, y, error, words in (
        (LensDepthClassifier(), by_class, other, LabelError, "under other labels"),
        (KRNGClassifier(), by_pair, fewer, LabelError, "other labeled objects"),
        (KRNGClassifier(), by_class, codes, ParameterError, "LabelledPairCounts, not ClassCounts"),
        (KRNGClassifier(), count_central(S), codes, ParameterError, "not CentralCounts"),
        (estimated, by_pair, codes, ParameterError, "too few answers to estimate"),
    ):
        with pytest.raises(error, match=words):
            model.fit(counts, y)


# ---- very many labeled objects: some rows at a time


@pytest.mark.parametrize(("alone", "m"), [("random", 300), ("nearest", 30_000)])
def test_blocks_change_nothing(monkeypatch, alone, m):
    drawn = mixture(80, [[0, 0], [4, 0], [0, 4]], random_state=1)
    S = simulate_statements(drawn.points, m, error_rate=0.1, random_state=2)
    y = np.where(np.arange(80) % 3 == 0, -1, drawn.labels)
    whole = KRNGClassifier(alone=alone, random_state=0).fit(S, y)
    monkeypatch.setattr(paper, "_MOST_CELLS", 5 * 53)
    parts = KRNGClassifier(alone=alone, random_state=0).fit(S, y)
    assert parts.loo_errors_ == whole.loo_errors_
    assert parts.transduction_.tolist() == whole.transduction_.tolist()
    assert parts.how_.tolist() == whole.how_.tolist()
    labelled = np.flatnonzero(y >= 0)
    every = count_labelled_pairs(S, labelled)
    some = count_labelled_pairs(S, labelled, objects=[7, 0, 59])
    assert np.array_equal(some.third, every.third[[7, 0, 59]])
    assert np.array_equal(some.appears, every.appears[[7, 0, 59]])


def test_many_labelled_objects_need_little_memory(monkeypatch):
    n, labelled = 3000, 1800
    drawn = mixture(n, [[0, 0], [6, 0]], random_state=1)
    S = simulate_statements(drawn.points, 45_000, random_state=2)
    y = np.where(np.arange(n) < labelled, drawn.labels, -1)
    monkeypatch.setattr(paper, "_MOST_CELLS", 1 << 18)
    model = KRNGClassifier(k=[600], random_state=0)
    tracemalloc.start()
    model.fit(S, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # all counts at once take 2 * 4 * n * labeled bytes, their shares as much again
    assert peak < 8 * n * labelled / 2
    assert (model.transduction_[labelled:] == drawn.labels[labelled:]).mean() > 0.6


@pytest.mark.parametrize(
    ("estimator", "found"),
    [
        (lambda: tl.LensDepthOutlierDetector(0.2), "labels_"),
        (lambda: tl.KRNGClustering(2, random_state=0), "labels_"),
        (lambda: tl.LensMap(2, random_state=0), "embedding_"),
    ],
)
def test_part_by_part_is_the_whole(estimator, found: str) -> None:
    S, _ = two_groups()
    whole = getattr(estimator().fit(S), found)
    model = estimator()
    for rows in np.split(np.arange(3000), [100, 2000]):
        model.partial_fit(S.take(rows))
    assert np.array_equal(getattr(model, found), whole)
    model = estimator().fit(S.take(np.arange(1000)))
    count = tl.count_central if found == "labels_" and hasattr(model, "offset_") else tl.count_pairs
    model.partial_fit(count(S.take(np.arange(1000, 3000))))
    assert np.array_equal(getattr(model, found), whole)
    model.fit(S)  # starts anew
    assert np.array_equal(getattr(model, found), whole)


def same(model, other) -> None:
    assert model.transduction_.tolist() == other.transduction_.tolist()
    assert model.chosen_parameters_ == other.chosen_parameters_
    for name in {"features_", "how_"} & set(vars(other)):
        assert np.array_equal(getattr(model, name), getattr(other, name))


@pytest.mark.parametrize("Classifier", [LensDepthClassifier, KRNGClassifier])
def test_a_classifier_after_each_part_is_that_of_all_so_far(Classifier) -> None:
    make = partial(Classifier, random_state=3)
    drawn = mixture(40, [[0, 0], [6, 0]], random_state=1)
    S = simulate_statements(drawn.points, 3000, random_state=2)
    codes = np.where(np.arange(40) % 2, -1, drawn.labels)
    y = [None if code < 0 else "lr"[code] for code in codes]
    model = make()
    with pytest.raises(LabelError, match="first partial_fit needs the labels"):
        model.partial_fit(S)
    for start, stop in ((0, 500), (500, 1000), (1000, 3000)):
        model.partial_fit(S.take(np.arange(start, stop)), None if start else y)
        whole = make().fit(S.take(np.arange(stop)), y)
        same(model, whole)
    assert model.predict(["1", "3"]).tolist() == whole.predict(["1", "3"]).tolist()
    # after a fit, from counts, and with the labels said again
    model = make().fit(S.take(np.arange(1000)), y)
    more = S.take(np.arange(1000, 2000))
    if Classifier is LensDepthClassifier:
        model.partial_fit(count_classes(more, codes, 2))
    else:
        model.partial_fit(count_labelled_pairs(more, np.flatnonzero(codes >= 0)))
    same(model.partial_fit(S.take(np.arange(2000, 3000)), y), whole)
    # a new fit begins anew
    same(model.fit(S, y), whole)
    with pytest.raises(LabelError, match="not among classes"):
        make().partial_fit(S, y, classes=["l"])
    same(make().partial_fit(S, y, classes=["l", "r", "x"]), whole)
    with pytest.raises(LabelError, match="other labels than before"):
        model.partial_fit(S, y[::-1])
    with pytest.raises(ParameterError, match="about other objects"):
        model.partial_fit([[0, 1, 2]])
    same(model, whole)
    with pytest.raises(ParameterError, match="do not tell the error rate"):
        KRNGClassifier(error_rate="estimate").partial_fit(S, y)
