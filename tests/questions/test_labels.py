"""Labels as users give them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import trilens as tl
from arrowtable import ArrowTable
from trilens.errors import LabelError
from trilens.maps.fitted import fit
from trilens.questions.classify.classes import check_labels, classify, make_classifier
from trilens.questions.labels import encode_labels, label_of_each
from trilens.simulate import mixture, simulate_statements
from trilens.statements import Statements

NAMES = ("a", "b", "10")


@pytest.mark.parametrize(
    "y",
    [
        {"10": "x", "b": "y"},
        pd.Series({"10": "x", "b": "y"}),
        pd.DataFrame({"object": ["10", "b"], "label": ["x", "y"]}),
        ArrowTable({"label": ["x", "y"], "object": ["10", "b"]}),
        [None, "y", "x"],
        pd.Series([None, "y", "x"]),
        pd.Series(["x", "y", None], index=[10, "b", "a"]),
    ],
)
def test_labels_are_matched_by_name_where_they_have_names(y) -> None:
    assert label_of_each(y, NAMES) == [None, "y", "x"]


def test_tables_and_names_that_do_not_do() -> None:
    twice = pd.DataFrame({"object": ["a", "b", "a"], "label": ["x", "y", "y"]})
    for wrong, words in (
        (twice.set_axis(["name", "class"], axis=1), "columns object and label, not name, class"),
        (pd.Series({"a": "x", "z": "y"}), "is not in the statements"),
        ("a", "expected a label for each object, or a dict"),
        (twice, "'a' with 'x' and with 'y'"),
        (np.array(["x", "y", np.nan]), "text 'nan'"),
    ):
        with pytest.raises(LabelError, match=words):
            label_of_each(wrong, NAMES)


def test_an_index_of_numbers_is_names_unless_it_counts_up() -> None:
    names = tuple(map(str, range(1, 7)))
    y = pd.Series(list("abcabc"), index=range(1, 7))
    for given in (y, y.sample(frac=1, random_state=0), y.astype(object).rename(float)):
        assert label_of_each(given, names) == list("abcabc")
    # 0, 1, 2, ... is what pandas numbers rows with
    assert label_of_each(y.reset_index(drop=True), names) == list("abcabc")
    with pytest.raises(LabelError, match="object '0' is not in the statements"):
        label_of_each(y.reset_index(drop=True).sample(frac=1, random_state=0), names)
    with pytest.raises(LabelError, match="has '1' more than once"):
        label_of_each(pd.Series(["a", "b"], index=[1, 1]), names)


SIX = tuple("012345")


@pytest.mark.parametrize(
    "y",
    [
        np.array([2.0, 2.0, 5.0, 5.0, np.nan, -1.0]),
        ["a", "a", "b", "b", pd.NA, pd.NA],
        pd.Series(["a", "a", "b", "b", pd.NA, None], dtype="string"),
        pd.Series(["a", "a", "b", "b", None, np.nan], dtype=object),
        {"0": "a", "1": "a", "2": "b", "3": "b", "4": pd.NA},
        pd.array([3, 3, 7, 7, None, None], dtype="Int64"),
    ],
)
def test_missing_labels_are_unlabelled(y) -> None:
    found = encode_labels(y, SIX)
    assert found.codes.tolist() == [0, 0, 1, 1, -1, -1]
    assert found.labelled.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([0, 0, 0, -1, 0, 0], "at least two classes"),
        ([-1, None, float("nan"), "", None, None], "no object is labeled"),
        ([0, 0, 1], "3 labels for 6 objects"),
        ([0, "a", 0, "a", 0, 0], "different types"),
        (["a", "b", "a", "b", None, (1, 2)], "it must be text or a number"),
    ],
)
def test_labels_that_do_not_do(y, words: str) -> None:
    with pytest.raises(LabelError, match=words):
        encode_labels(y, SIX)


def test_labels_beyond_64_bits() -> None:
    S = tl.Statements([[0, 1, 4], [1, 0, 4], [2, 3, 5], [3, 2, 5], [0, 4, 2]], kind="central")
    y = [10**30, 10**30, 5, 5, None, None]
    found = tl.classify(S, y, method="krng")
    assert found.given == tuple(y)
    assert set(found.predicted.values()) <= {5, 10**30}
    assert found.to_dict()["classes"] == {"5": 2, str(10**30): 2}


METHODS = ["choice", "lensmap", "krng", "depth"]


@pytest.fixture(scope="module")
def drawn():
    points = mixture(60, [[0, 0], [8, 0], [0, 8]], random_state=1)
    S = simulate_statements(points.points, 3000, random_state=2)
    return points, S, fit(S)


@pytest.mark.parametrize("method", METHODS)
def test_clear_classes_and_one_with_a_single_labelled_object(drawn, method):
    points, _, fitted = drawn
    y = [None if i % 6 == 0 else f"c{c}" for i, c in enumerate(points.labels)]
    y[1] = "other"
    found = classify(fitted, y, method)
    assert found.check.learnable
    assert found.check.error <= (0.3 if method == "depth" else 0.12)
    assert found.check.baseline > 0.5
    assert len(found.contradictions) <= {"depth": 5, "krng": 3}.get(method, 0)
    assert any("one labeled object" in r and "other" in r for r in found.remarks)
    assert "1" not in [c.object for c in found.contradictions]
    if method == "choice":
        assert list(found.predicted.values()) == [f"c{c}" for c in points.labels[::6]]
        assert (
            list(found.probabilities) == list(found.predicted) == [str(i) for i in range(0, 60, 6)]
        )
        assert all(0.5 <= sure <= 1 for sure in found.probabilities.values())
        assert np.isnan(found.probability[1:6]).all()
        assert classify(fitted, y, classifier="svm-linear").probabilities is None


@pytest.mark.parametrize("method", METHODS)
def test_flipped_labels_are_named_and_one_of_each_class_or_any_tell_nothing(drawn, method):
    points, _, fitted = drawn
    one_of_each = np.full(60, -1)
    one_of_each[[int(np.flatnonzero(points.labels == c)[0]) for c in (0, 1)]] = [0, 1]
    dealt = np.random.default_rng(0).permutation(points.labels)
    for y in (one_of_each, dealt):
        nothing = classify(fitted, y, method)
        assert set(nothing.found.tolist()) <= set(points.labels.tolist())
        assert (nothing.check.learnable, nothing.contradictions) == (False, ())
    y = points.labels.copy()
    flipped = [3, 20, 41]
    y[flipped] = (y[flipped] + 1) % 3
    found = classify(fitted, y, method)
    named = {c.object: c for c in found.contradictions}
    assert {str(i) for i in flipped} <= set(named)
    assert (named["3"].label, named["3"].answers_say) == (y[3], points.labels[3])
    assert found.check.contradicted[flipped].all()
    if method == "choice":
        assert len(named) == 3


def test_a_label_in_a_mixed_neighbourhood_is_not_contradicted():
    points = mixture(80, [[0, 0], [1.5, 0]], random_state=3)
    S = simulate_statements(points.points, 3000, random_state=4)
    found = classify(S, points.labels)
    assert found.check.learnable
    assert found.check.left_out == 8  # many are left out in groups
    assert 0 < found.check.contradicted.sum() < (found.found != points.labels).sum()


def test_hidden_labels_are_not_looked_at(drawn):
    points, S, fitted = drawn
    learner = make_classifier("choice", random_state=0).fit(fitted, points.labels)
    found = check_labels(learner, encode_labels(points.labels, S.names))
    for i in (0, 7):
        y = points.labels.copy()
        y[i] = -1
        alone = make_classifier("choice", random_state=0).fit(fitted, y)
        assert found.codes[i] == alone.transduction_[i]


@pytest.mark.parametrize("method", METHODS)
def test_classes_that_no_answer_speaks_for_are_called_guesses(method):
    points = mixture(24, [[0, 0], [9, 0]], random_state=1)
    one = simulate_statements(points.points[:12], 150, random_state=2).triples
    other = simulate_statements(points.points[12:], 150, random_state=3).triples + 12
    S = Statements(np.concatenate([one, other]), 25, kind="central")
    y = [str(c) if i < 8 else None for i, c in enumerate(points.labels)] + [None]
    said = " ".join(classify(S, y, method).remarks)
    assert "their classes are guesses: 12, 13, 14, 15, 16 and 8 more" in said
