"""From names as written to object ids.

Objects are ordered numerically where every name is an integer in its plain decimal form,
and by first appearance (row by row, left to right) otherwise; a list of objects fixes the
order and may add objects that no statement names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from trilens._typing import AnyArray, Int32Array
from trilens.errors import StatementError
from trilens.formats.batch import Batch, NotIntegers, missing_cell, parts
from trilens.formats.source import quoted
from trilens.statements.value import CheckedNames, shown

#: Integer names below this are looked up in a table; a larger one makes all names text.
TABLE_LIMIT = 1 << 26

_PLAIN_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_NEVER_A_NAME = frozenset({"", "nan"})
_NO_NAME_AMONG_INTEGERS = frozenset({"na", "n/a", "null", "none"})


class Naming(Protocol):
    """The names of all objects, and the ids of those in a batch."""

    @property
    def n_objects(self) -> int: ...

    @property
    def names(self) -> tuple[str, ...] | None: ...

    def ids(self, batch: Batch) -> Int32Array:
        """``(m, 3)`` or ``(m, 4)`` ids of the objects in a batch."""
        ...


def is_integer(name: str) -> bool:
    """Whether a name is an integer in its plain decimal form.

    >>> [is_integer(name) for name in ["7", "-7", "0", "007", "-0", "+7", "7 ", "٧"]]
    [True, True, True, False, False, False, False, False]
    """
    return _PLAIN_INTEGER.fullmatch(name) is not None


def is_missing(name: str) -> bool:
    """Whether a cell is taken for a missing one whatever the other names are."""
    return name.strip().casefold() in _NEVER_A_NAME


def in_order(names: list[str]) -> list[str]:
    """Names, given by first appearance, in the order of the objects.

    >>> in_order(["10", "9", "1"]), in_order(["10", "9", "x"])
    (['1', '9', '10'], ['10', '9', 'x'])
    """
    if all(map(is_integer, names)):
        # longer is larger for plain integers; int() has a limit on the number of digits
        return sorted(names, key=lambda name: (len(name), name))
    return names


class IntegerNaming:
    """Objects that integers name: a table from the integer to the id."""

    def __init__(self, table: Int32Array, names: tuple[str, ...] | None, n_objects: int) -> None:
        self._table = table
        self.names = None if names is None else CheckedNames.of(names)
        self.n_objects = n_objects

    @classmethod
    def of_list(cls, objects: Sequence[str]) -> IntegerNaming:
        """The objects of a list in which every name is an integer from 0 to `TABLE_LIMIT`."""
        values = np.array([int(name) for name in objects], dtype=np.int64)
        table = np.full(int(values.max()) + 1, -1, dtype=np.int32)
        table[values] = np.arange(len(values), dtype=np.int32)
        return cls(table, tuple(objects), len(objects))

    def ids(self, batch: Batch) -> Int32Array:
        ids = np.empty((len(batch), batch.n_columns), dtype=np.int32)
        for start, columns in batch.pieces():
            for j, values in enumerate(columns):
                # a row's ids lie side by side: all columns of a piece while it is in the cache
                ids[start : start + len(values), j] = self._look_up(values, batch, start)
        return ids

    def _look_up(self, values: AnyArray, batch: Batch, start: int) -> Int32Array:
        wrong = (values < 0) | (values >= len(self._table))
        if not wrong.any():
            ids: Int32Array = self._table[values]
            if not len(ids) or ids.min() >= 0:
                return ids
            wrong = ids < 0
        row = int(np.flatnonzero(wrong)[0])
        raise not_listed(str(values[row]), self.names, batch, start + row)


class TextNaming:
    """Objects that any text names."""

    def __init__(self, objects: Sequence[str]) -> None:
        self.names = CheckedNames.of(objects)
        self._ids = {name: i for i, name in enumerate(self.names)}

    @property
    def n_objects(self) -> int:
        return len(self.names)

    def ids(self, batch: Batch) -> Int32Array:
        columns = batch.objects
        ids = np.empty((len(batch), len(columns)), dtype=np.int32)
        for j, column in enumerate(columns):
            at, values = parts(column)
            known = np.array([self._ids.get(value, -1) for value in values], dtype=np.int32)
            if len(at):
                ids[:, j] = known[at]
        if ids.size and ids.min() < 0:
            row, j = np.argwhere(ids < 0)[0].tolist()
            name = str(columns[j][row].as_py())
            if is_missing(name):
                raise missing_cell(batch, row, name, "a column of objects")
            raise not_listed(name, self.names, batch, row)
        return ids


def not_listed(name: str, names: Sequence[str] | None, batch: Batch, row: int) -> StatementError:
    """The refusal of an object that is not in the list of objects."""
    listed = "" if names is None else f" ({shown(list(names), 3)})"
    return StatementError(
        f"{batch.place(row)}: object {quoted(name)} is not in the list of objects{listed}; "
        f"add it to the list or leave the row out"
    )


def listed_naming(objects: Sequence[str]) -> tuple[Naming, bool]:
    """The objects of a list, and whether the file may be read as integers."""
    if objects and all(is_integer(name) and len(name) <= 7 and name[0] != "-" for name in objects):
        return IntegerNaming.of_list(objects), True
    return TextNaming(objects), False


class IntegerNames:
    """Collects the integers that name objects, batch by batch."""

    def __init__(self) -> None:
        self._present = np.zeros(1024, dtype=np.bool_)

    def add(self, batch: Batch) -> None:
        for start, columns in batch.pieces():
            for values in columns:
                if len(values):
                    self._add(values, batch, start)

    def _add(self, values: AnyArray, batch: Batch, start: int) -> None:
        if values.min() < 0:
            row = int(np.flatnonzero(values < 0)[0])
            raise negative(batch.place(start + row), str(values[row]))
        largest = int(values.max())
        if largest >= TABLE_LIMIT:
            raise NotIntegers
        if largest >= len(self._present):
            grown = np.zeros(min(max(largest + 1, 2 * len(self._present)), TABLE_LIMIT), np.bool_)
            grown[: len(self._present)] = self._present
            self._present = grown
        self._present[values] = True

    def naming(self) -> Naming:
        values = np.flatnonzero(self._present)
        n = len(values)
        table = np.full(len(self._present), -1, dtype=np.int32)
        table[values] = np.arange(n, dtype=np.int32)
        # ids that are their own names need no list of names
        plain = n == 0 or values[-1] == n - 1
        return IntegerNaming(table, None if plain else tuple(map(str, values.tolist())), n)


class TextNames:
    """Collects names in the order of their first appearance, batch by batch."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        #: Where a cell first stood that is a name only if some name is not an integer.
        self._doubtful: dict[str, str] = {}

    def add(self, batch: Batch) -> None:
        fresh: list[tuple[int, int, str]] = []
        for j, column in enumerate(batch.objects):
            at, values = parts(column)
            new = [k for k, value in enumerate(values) if value not in self._ids]
            if new:
                first = np.full(len(values), len(at), dtype=np.int64)
                # of several values for one place, the last assigned stays: the first row
                first[at[::-1]] = np.arange(len(at) - 1, -1, -1)
                fresh += [
                    (row, j, values[k])
                    for k, row in zip(new, first[new].tolist(), strict=True)
                    if row < len(at)
                ]
        for row, _, name in sorted(fresh):
            if name in self._ids:
                continue
            if is_missing(name):
                raise missing_cell(batch, row, name, "a column of objects")
            if name[0] == "-" or name.strip().casefold() in _NO_NAME_AMONG_INTEGERS:
                self._doubtful[name] = batch.place(row)
            self._ids[name] = len(self._ids)

    def naming(self) -> Naming:
        sure = [name for name in self._ids if name not in self._doubtful]
        if all(map(is_integer, sure)) and len(sure) < len(self._ids):
            self._refuse_doubtful(any(map(is_integer, sure)))
        return TextNaming(in_order(list(self._ids)))

    def _refuse_doubtful(self, among_integers: bool) -> None:
        negatives = [name for name in self._doubtful if is_integer(name)]
        if not all(
            is_integer(name) or name.strip().casefold() in _NO_NAME_AMONG_INTEGERS
            for name in self._doubtful
        ):
            return
        for name, place in self._doubtful.items():
            if name in negatives:
                raise negative(place, name)
            if among_integers or negatives:
                raise StatementError(
                    f"{place}: {quoted(name)} among integers names no object; fill it in, leave "
                    f"the row out, or list it with objects= (--objects) if it is a name"
                )


def negative(place: str, name: str) -> StatementError:
    """The refusal of a negative integer among integers."""
    return StatementError(
        f"{place}: the object id {name} is negative; integer ids are 0 or more: correct the row, "
        f"or list the object with objects= (--objects) if it is a name"
    )
