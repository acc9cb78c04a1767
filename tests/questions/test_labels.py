"""Labels as users give them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import trilens as tl
from arrowtable import ArrowTable
from trilens.errors import LabelError
from trilens.questions.labels import encode_labels, label_of_each

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
