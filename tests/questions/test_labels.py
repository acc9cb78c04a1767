"""Labels as users give them."""

from __future__ import annotations

import pandas as pd
import pytest

from arrowtable import ArrowTable
from trilens.errors import LabelError
from trilens.questions.labels import label_of_each

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
    with pytest.raises(LabelError, match="the columns object and label, not name, class"):
        label_of_each(pd.DataFrame({"name": ["a"], "class": ["x"]}), NAMES)
    with pytest.raises(LabelError, match="is not in the statements"):
        label_of_each(pd.Series({"a": "x", "z": "y"}), NAMES)
    with pytest.raises(LabelError, match="expected a label for each object, or a dict"):
        label_of_each("a", NAMES)


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
