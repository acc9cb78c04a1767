"""Class labels, as users give them, to class numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from trilens._parameters import plain, shown
from trilens._typing import AnyArray, IntArray
from trilens.errors import LabelError
from trilens.files.side_tables import labels_by_name
from trilens.statements.columns import counts_up, numbers_or_text

#: What users give: a label for each object, or labels by name: a dict, a Series whose index has
#: the names (any but 0, 1, 2, ...), or a table with the columns object and label.
LabelsLike: TypeAlias = Mapping[str, Any] | Iterable[Any]
#: The label that `trilens cluster` writes for an object in no group.
UNASSIGNED = "unassigned"


@dataclass(frozen=True)
class ClassCodes:
    """Labels of some of the objects."""

    #: (n,): the class of each object as a position in ``classes``; -1 where it is unlabeled.
    codes: IntArray
    #: The different labels, sorted.
    classes: AnyArray

    @property
    def labelled(self) -> IntArray:
        """The ids of the labeled objects."""
        return np.flatnonzero(self.codes >= 0)

    @property
    def given(self) -> list[Any]:
        """The label of each object in plain types; None where it is unlabeled."""
        classes = self.classes.tolist()
        return [None if c < 0 else classes[c] for c in self.codes]


def label_of_each(y: LabelsLike, names: Sequence[str]) -> list[Any]:
    """The label of each object; None where it is unlabeled (-1, None, NaN, empty text).

    >>> label_of_each({"c": "red"}, ["a", "b", "c"])
    [None, None, 'red']
    """
    n = len(names)
    y = plain(y)
    told = by_name(y)
    if told is not None:
        given = list(labels_by_name(names, told))
    elif isinstance(y, (str, bytes)) or not isinstance(y, Iterable):
        raise LabelError(
            f"expected a label for each object, or a dict by name, got {type(y).__name__}"
        )
    else:
        if isinstance(y, np.ndarray) and y.ndim != 1:
            raise LabelError(f"expected a label for each object, got an array of shape {y.shape}")
        if isinstance(y, np.ndarray) and y.dtype.kind == "U" and (y == "nan").any():
            raise LabelError(
                "a label is the text 'nan', which NumPy makes of NaN among texts; give None or '' "
                "to an unlabeled object"
            )
        given = y.tolist() if isinstance(y, np.ndarray) else list(y)
        if len(given) != n:
            raise LabelError(
                f"there are {len(given)} labels for {n} objects; "
                f"give one for each, and -1 or None to an unlabeled object"
            )
    return [None if _is_missing(label) else label for label in given]


def by_name(y: Any) -> Mapping[str, Any] | None:
    """Labels that know their objects, as a dict; None for those that do not."""
    if isinstance(y, Mapping):
        return y
    columns = getattr(y, "columns", None)
    if columns is not None and not {"object", "label"} <= {str(name) for name in columns}:
        raise LabelError(
            f"a table of labels needs the columns object and label, not "
            f"{', '.join(str(name) for name in columns)}"
        )
    if columns is not None:
        found: dict[str, Any] = {}
        for name, label in zip(map(str, y["object"]), y["label"], strict=True):
            before = found.setdefault(name, label)
            missing = {_is_missing(before), _is_missing(label)}
            if len(missing) > 1 or (missing == {False} and before != label):
                raise LabelError(
                    f"the table of labels has {name!r} with {found[name]!r} and with {label!r}; "
                    f"give each object one label"
                )
        return found
    if not hasattr(y, "items") or counts_up(y.index):
        return None
    names = numbers_or_text(np.asarray(y.index)).astype(str).tolist()
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise LabelError(
            f"the index of the labels has {twice[0]!r} more than once; give each object one label"
        )
    return dict(zip(names, y, strict=True))


def have_names(y: Any) -> bool:
    """Whether labels are given by name for sure: a dict, a table, or a Series with text."""
    if isinstance(y, Mapping) or hasattr(y, "columns"):
        return True
    return hasattr(y, "items") and all(isinstance(name, str) for name in getattr(y, "index", (0,)))


def sorted_classes(labels: Iterable[Any]) -> list[Any]:
    """The different labels in order, without None."""
    try:
        return sorted({label for label in labels if label is not None})
    except TypeError:
        raise LabelError(
            "the labels are of different types; give all as text or all as numbers"
        ) from None


def encode_labels(y: LabelsLike, names: Sequence[str]) -> ClassCodes:
    """Class numbers of labels of any type; -1, None, NaN and empty text mean unlabeled.

    >>> labels = encode_labels(["b", "a", None, "a", "b"], "vwxyz")
    >>> labels.codes.tolist(), labels.classes.tolist()
    ([1, 0, -1, 0, 1], ['a', 'b'])
    """
    given = label_of_each(y, names)
    classes = sorted_classes(given)
    if len(classes) < 2:
        seen = f"all labeled objects are {classes[0]!r}" if classes else "no object is labeled"
        raise LabelError(f"{seen}; classification needs at least two classes")
    number = {label: i for i, label in enumerate(classes)}
    codes = np.array([-1 if label is None else number[label] for label in given], dtype=np.int64)
    return ClassCodes(codes, np.array(classes))


def _is_missing(label: Any) -> bool:
    if label is None or isinstance(label, str):
        return not label
    if not isinstance(label, Hashable) or isinstance(label, Iterable):
        raise LabelError(f"a label is {shown(label)}; it must be text or a number")
    same = label == label  # NaN differs from itself; pandas' NA says neither yes nor no
    return not isinstance(same, (bool, np.bool_)) or not same or bool(label == -1)


def in_order_of_appearance(labels: IntArray) -> IntArray:
    """The same partition, its parts numbered as they first appear."""
    _, first, part = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[part]
