"""Class labels, as users give them, to class numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._typing import AnyArray, IntArray
from trilens.errors import LabelError


@dataclass(frozen=True)
class Labels:
    """Labels of some of the objects.

    Attributes
    ----------
    codes : (n,) array of int
        The class of each object as a position in ``classes``; -1 where it is unlabelled.
    classes : (K,) array
        The different labels, sorted.
    """

    codes: IntArray
    classes: AnyArray

    @property
    def labelled(self) -> IntArray:
        """The ids of the labelled objects."""
        return np.flatnonzero(self.codes >= 0)


def encode_labels(y: Iterable[Any], n_objects: int, *, at_least: int = 2) -> Labels:
    """Class numbers of labels of any type; -1, None, NaN and empty text mean unlabelled.

    Parameters
    ----------
    y : (n_objects,) iterable
    at_least : int
        Labelled objects that each class must have.

    Examples
    --------
    >>> labels = encode_labels(["b", "a", None, "a", "b"], 5)
    >>> labels.codes.tolist(), labels.classes.tolist()
    ([1, 0, -1, 0, 1], ['a', 'b'])
    """
    given = list(y.tolist() if isinstance(y, np.ndarray) else y)
    if len(given) != n_objects:
        raise LabelError(
            f"there are {len(given)} labels for {n_objects} objects; "
            f"give one for each, and -1 or None to an unlabelled object"
        )
    known = [not _is_missing(label) for label in given]
    try:
        classes = sorted({label for label, is_known in zip(given, known, strict=True) if is_known})
    except TypeError:
        raise LabelError(
            "labels are of different types; give all as text or all as numbers"
        ) from None
    if len(classes) < 2:
        seen = f"all labelled objects are {classes[0]!r}" if classes else "no object is labelled"
        raise LabelError(f"{seen}; classification needs at least two classes")
    number = {label: i for i, label in enumerate(classes)}
    codes = np.array(
        [number[label] if is_known else -1 for label, is_known in zip(given, known, strict=True)],
        dtype=np.int64,
    )
    size = np.bincount(codes[codes >= 0], minlength=len(classes))
    if size.min() < at_least:
        small = int(size.argmin())
        raise LabelError(
            f"class {classes[small]!r} has {size[small]} labelled object; each class needs at "
            f"least {at_least}: label another one of it, or leave the class out"
        )
    return Labels(codes, np.array(classes))


def _is_missing(label: Any) -> bool:
    if label is None or label == "":
        return True
    if isinstance(label, str):
        return False
    return bool(label == -1 or label != label)  # NaN differs from itself
