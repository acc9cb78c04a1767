from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import trilens as tl
from trilens.counts import count_classes, count_labelled_pairs
from trilens.errors import LabelError, ParameterError
from trilens.questions.classify.paper import KRNGClassifier, LensDepthClassifier
from trilens.simulate import mixture, simulate_statements


@pytest.fixture(scope="module")
def S() -> tl.Statements:
    drawn = mixture(30, [[0, 0], [9, 0]], random_state=1)
    found = simulate_statements(drawn.points, 3000, random_state=2)
    return tl.Statements(found.triples, 30, [f"o{i}" for i in range(30)], kind="central")


@pytest.mark.parametrize(
    ("estimator", "found"),
    [
        (lambda: tl.LensDepthOutlierDetector(0.2), "labels_"),
        (lambda: tl.KRNGClustering(2, random_state=0), "labels_"),
        (lambda: tl.LensMap(2, random_state=0), "embedding_"),
    ],
)
def test_part_by_part_is_the_whole(S: tl.Statements, estimator, found: str) -> None:
    whole = getattr(estimator().fit(S), found)
    model = estimator()
    for rows in np.split(np.arange(3000), [100, 2000]):
        model.partial_fit(S.take(rows))
    assert np.array_equal(getattr(model, found), whole)
    model = estimator().fit(S.take(np.arange(1000)))
    count = tl.count_central if found == "labels_" and hasattr(model, "offset_") else tl.count_pairs
    model.partial_fit(count(S.take(np.arange(1000, 3000))))
    assert np.array_equal(getattr(model, found), whole)
    assert not np.array_equal(model.counts_.appears, 0)
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
