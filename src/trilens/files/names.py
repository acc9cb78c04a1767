"""From names as written to object ids.

Objects are ordered numerically where every name is an integer in its plain decimal form,
and by first appearance (row by row, left to right) otherwise; a list of objects fixes the
order and may add objects that no statement names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from trilens._typing import AnyArray, Int32Array
from trilens.errors import StatementError
from trilens.files.batch import Batch, missing_cell
from trilens.files.cell import is_integer, is_missing
from trilens.files.source import quoted
from trilens.statements import Kind, Statements
from trilens.statements.value import CheckedNames, shown

#: Integer names below this are looked up in a table; a larger one makes all names text.
TABLE_LIMIT = 1 << 26


def in_order(names: list[str]) -> list[str]:
    """Names, given by first appearance, in the order of the objects.

    >>> in_order(["10", "9", "1"]), in_order(["10", "9", "x"])
    (['1', '9', '10'], ['10', '9', 'x'])
    """
    if all(map(is_integer, names)):
        # longer is larger for plain integers; int() has a limit on the number of digits
        return sorted(names, key=lambda name: (len(name), name))
    return names


class Naming:
    """The names of all objects, and the ids of those in a batch.

    Parameters
    ----------
    names : sequence of str or None
        None: the objects are 0, 1, ... and their ids are their names.
    n_objects : int, optional
        By default the number of names.
    keys : sequence of str, optional
        What the file calls each object, where that is not its name.
    """

    def __init__(
        self,
        names: Sequence[str] | None,
        n_objects: int = 0,
        keys: Sequence[str] | None = None,
    ) -> None:
        self.names = None if names is None else CheckedNames.of(names)
        self._keys = self.names if keys is None else keys
        self.n_objects = n_objects if self.names is None else len(self.names)

    def listed(self) -> Sequence[str]:
        """The names, also where they are the ids."""
        return self.names if self.names is not None else list(map(str, range(self.n_objects)))

    def keys(self) -> Sequence[str]:
        """What a file calls the objects."""
        return self._keys if self._keys is not None else self.listed()

    @cached_property
    def integers(self) -> bool:
        """Whether every object is called by an integer that a table serves."""
        return self._keys is None or all(
            is_integer(name) and len(name) <= 8 and name[0] != "-" and int(name) < TABLE_LIMIT
            for name in self._keys
        )

    @cached_property
    def _table(self) -> Int32Array:
        """The id of each integer, -1 where it names no object."""
        ids = np.arange(self.n_objects, dtype=np.int32)
        if self._keys is None:
            return ids
        values = np.array([int(name) for name in self._keys], dtype=np.int64)
        table = np.full(int(values.max(initial=-1)) + 1, -1, dtype=np.int32)
        table[values] = ids
        return table

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.keys())}

    def statements(self, batch: Batch, kind: Kind) -> Statements:
        """The statements of a batch."""
        return batch.to_statements(self.ids(batch), kind, self.n_objects, self.names)

    def ids(self, batch: Batch) -> Int32Array:
        """``(m, 3)`` or ``(m, 4)`` ids of the objects in a batch."""
        ids = np.empty((len(batch), batch.table.num_columns), dtype=np.int32)
        if not (batch.integers and self.integers):
            return self._ids_of_texts(batch, ids)
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
        raise not_listed(str(values[row]), self._keys, batch, start + row)

    def _ids_of_texts(self, batch: Batch, ids: Int32Array) -> Int32Array:
        columns = batch.texts()
        for j, (at, values) in enumerate(columns):
            known = np.array([self._ids.get(value, -1) for value in values], dtype=np.int32)
            if len(at):
                ids[:, j] = known[at]
        if ids.size and ids.min() < 0:
            row, j = np.argwhere(ids < 0)[0].tolist()
            at, values = columns[j]
            name = values[at[row]]
            if is_missing(name):
                raise missing_cell(batch, row, name, "a column of objects")
            raise not_listed(name, self._keys, batch, row)
        return ids


def not_listed(name: str, names: Sequence[str] | None, batch: Batch, row: int) -> StatementError:
    """The refusal of an object that is not in the list of objects."""
    listed = "" if names is None else f" ({shown(list(names), 3)})"
    return StatementError(
        f"{batch.place(row)}: object {quoted(name)} is not in the list of objects{listed}; "
        f"add it to the list or leave the row out"
    )


class Names:
    """Collects the names of objects in the order of their first appearance, batch by batch.

    Integers are kept in a table while there is nothing else; the first other name turns those
    seen so far into text. What is ``known`` to be a name is never a missing cell.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        #: Which integers have been seen, and the same in the order in which they came.
        self._present: AnyArray | None = np.zeros(1024, dtype=np.bool_)
        self._order: list[AnyArray] = []
        self._ids: dict[str, int] = {}
        self._known = frozenset(known)
        #: Where a negative integer first stood; it is a name only if some name is no integer.
        self._doubtful: dict[str, str] = {}

    def add(self, batch: Batch) -> None:
        """Take note of the names in a batch that has no list of them."""
        if batch.names is not None:
            return
        if self._present is not None and batch.integers:
            pieces = (columns for _, columns in batch.pieces())
            if all(self._add_integers(columns) for columns in pieces):
                return
        self._turn_to_text()
        self._add_texts(batch)

    def _turn_to_text(self) -> None:
        if self._present is not None:
            seen = [str(value) for values in self._order for value in values.tolist()]
            self._ids = {name: i for i, name in enumerate(seen)}
            self._present = None

    def _add_integers(self, columns: list[AnyArray]) -> bool:
        """Whether the table could serve all of them."""
        assert self._present is not None
        largest = max(int(values.max(initial=0)) for values in columns)
        if largest >= TABLE_LIMIT or min(int(values.min(initial=0)) for values in columns) < 0:
            return False
        if largest >= len(self._present):
            grown = np.zeros(min(max(largest + 1, 2 * len(self._present)), TABLE_LIMIT), np.bool_)
            grown[: len(self._present)] = self._present
            self._present = grown
        if not all(self._present.take(values).all() for values in columns):
            values = np.stack(columns, axis=1).ravel()
            values = values[~self._present[values]]
            new, first = np.unique(values, return_index=True)
            self._order.append(new[np.argsort(first)])
            self._present[new] = True
        return True

    def _add_texts(self, batch: Batch) -> None:
        fresh: list[tuple[int, int, str]] = []
        for j, (at, values) in enumerate(batch.texts()):
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
            if is_missing(name) and name not in self._known:
                raise missing_cell(batch, row, name, "a column of objects")
            if name[0] == "-" and is_integer(name):
                self._doubtful[name] = batch.place(row)
            self._ids[name] = len(self._ids)

    def seen(self) -> list[str]:
        """The names found, in the order of their first appearance."""
        self._turn_to_text()
        return list(self._ids)

    def naming(self, before: Sequence[str] = ()) -> Naming:
        """The objects found, and ``before`` them those that were known."""
        if self._present is not None and not before:
            values = np.flatnonzero(self._present)
            n = len(values)
            # ids that are their own names need no list of names
            plain = n == 0 or values[-1] == n - 1
            return Naming(None if plain else [str(value) for value in values.tolist()], n)
        self._turn_to_text()
        self._refuse_doubtful()
        return Naming(in_order(list(dict.fromkeys([*before, *self._ids]))))

    def _refuse_doubtful(self) -> None:
        if self._doubtful and all(map(is_integer, self._ids)):
            name, place = next(iter(self._doubtful.items()))
            raise negative(place, name)


def negative(place: str, name: str) -> StatementError:
    """The refusal of a negative integer among integers."""
    return StatementError(
        f"{place}: the object id {name} is negative; integer ids are 0 or more: correct the row, "
        f"or list the object with objects= (--objects) if it is a name"
    )
