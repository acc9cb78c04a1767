"""What makes a statement valid: its kind, its ids, the names of its objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from trilens._parameters import shown as printed, whole_number
from trilens._typing import AnyArray
from trilens.errors import ParameterError, StatementError
from trilens.statements.columns import are_whole, as_array, as_list
from trilens.statements.frames import as_ids

#: Rows checked at a time: the temporaries of a check stay in the cache and out of the peak memory.
_CHUNK = 1 << 18
_MAX_OBJECTS = np.iinfo(np.int32).max

#: What each place puts first: the object there, then the two others in their order.
CHOSEN_FIRST = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])


class CheckedNames(tuple[str, ...]):
    """Names that are known to be different texts: chunks of a large file share them unchecked."""

    __slots__ = ()

    @classmethod
    def of(cls, names: Iterable[str]) -> CheckedNames:
        if isinstance(names, CheckedNames):
            return names
        named = cls(as_list(names, "names"))
        wrong = next((i for i, name in enumerate(named) if not isinstance(name, str)), None)
        if wrong is not None:
            kind = type(named[wrong]).__name__
            raise ParameterError(f"names are text; {printed(named[wrong])} is {kind}")
        if len(set(named)) < len(named):
            twice = next(name for name, count in Counter(named).items() if count > 1)
            raise ParameterError(f"two objects have the name {twice!r}; names must differ")
        return named


def chosen_first(shown: AnyArray, places: AnyArray) -> AnyArray:
    """``(m, 3)`` objects with the one at each row's place (0, 1, 2) first."""
    return np.take_along_axis(shown, CHOSEN_FIRST[places], axis=1)


def shown(names: Sequence[str], most: int = 5) -> str:
    """The first few names, for an error message."""
    listed = ", ".join(map(repr, names[:most]))
    return listed if len(names) <= most else f"{listed}, ... ({len(names):,} in all)"


def check_triples(triples: AnyArray, n_objects: int) -> None:
    """Raise `StatementError` at the first row that is not three different ids in range."""
    for start in range(0, len(triples), _CHUNK):
        part = triples[start : start + _CHUNK]
        a, b, c = part[:, 0], part[:, 1], part[:, 2]
        twice = (a == b) | (a == c) | (b == c)
        if part.min() < 0 or part.max() >= n_objects:
            outside = (part < 0) | (part >= n_objects)
            row = int(np.flatnonzero(outside.any(axis=1))[0])
            seen = int(part[row][outside[row]][0])
            what = "is negative" if seen < 0 else f"is not below n_objects = {n_objects}"
            raise StatementError(
                f"object id {seen} {what}; ids go from 0 to {n_objects - 1}", row=start + row
            )
        if twice.any():
            row = int(np.flatnonzero(twice)[0])
            x, y, z = part[row].tolist()
            raise StatementError(
                f"object {x if x in (y, z) else y} appears twice in one statement; "
                f"a statement names three different objects",
                row=start + row,
            )


def rows_by_name(rows: Sequence[Any], names: Iterable[str] | None) -> tuple[AnyArray, CheckedNames]:
    ids, listed = as_ids(rows, None if names is None else CheckedNames.of(names))
    return ids, CheckedNames.of(listed)


def id_array(triples: Any, names: Iterable[str] | None) -> tuple[AnyArray, Iterable[str] | None]:
    """``(m, 3)`` ids, and the names, which rows of names bring with them."""
    try:
        array = as_array(triples, "the statements")
    except ParameterError as error:
        raise StatementError(f"{error}; they are an (m, 3) array of object ids") from None
    if array.size == 0 and array.ndim <= 2:
        return np.empty((0, 3), dtype=np.int32), names
    if array.ndim != 2 or array.shape[1] != 3:
        raise StatementError(
            f"statements are an (m, 3) array of object ids, not one of shape {array.shape}"
        )
    if array.dtype.kind in "UO":
        if array.dtype.kind == "U" and not isinstance(triples, np.ndarray):
            array = np.array([list(row) for row in triples], dtype=object)  # numbers beside text
        return rows_by_name(list(array.T), names)
    if array.dtype.kind not in "iu":
        if array.dtype.kind != "f" or not are_whole(array):
            raise StatementError(
                f"objects are whole numbers (ids) or text (names), not {array.dtype}"
                + (" with NaN or fractions" if array.dtype.kind == "f" else "")
            )
        array = array.astype(np.int64)
    return array, names


def count_objects(triples: AnyArray, n_objects: int | None, names: CheckedNames | None) -> int:
    if n_objects is not None:
        n = whole_number("n_objects", n_objects, most=_MAX_OBJECTS)
        if names is not None and len(names) != n:
            raise ParameterError(f"n_objects is {n}, but there are {len(names)} names")
    elif names is not None:
        n = len(names)
    else:
        n = int(triples.max()) + 1 if len(triples) else 0
    if n > _MAX_OBJECTS:
        raise ParameterError(f"at most {_MAX_OBJECTS:,} objects, not {n:,}")
    return n


def refuse_answers(y: Any, given: Any, statements: Any) -> None:
    """Refuse a ``y`` that would be ignored, unless it holds a label for each object.

    Labels pass because a Pipeline hands them to every step; a map needs none.

    Parameters
    ----------
    y
        What the caller gave beside the statements.
    given
        What the caller gave as statements: a part of the objects has a part of the labels.
    statements : Statements
    """
    if y is None:
        return
    m = len(statements)
    size = len(y) if hasattr(y, "__len__") else None
    of_objects = given is not statements and hasattr(given, "statements")
    n = len(given) if of_objects else statements.n_objects
    if size == n and (of_objects or size != m):
        return
    raise ParameterError(
        f"y is {printed(y, 40)} and would be ignored: statements hold their answers. "
        f"Statements.from_responses(X, y) makes statements of questions and answers"
    )
