"""The objects: their names, what the answers call them, and their ids.

Objects are ordered numerically where every name is an integer in its plain decimal form,
and by first appearance (row by row, left to right) otherwise; a list of objects fixes the
order and may add objects that no statement names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trilens._parameters import shown as printed
from trilens._typing import AnyArray, Int32Array, IntArray
from trilens.errors import FormatError, ParameterError, StatementError, option
from trilens.statements.columns import SKIP_BAD, as_list, quoted

if TYPE_CHECKING:
    from trilens.statements.batch import Batch

#: Integer names below this are looked up in a table; a larger one makes all names text.
TABLE_LIMIT = 1 << 26
#: What stands for a missing cell, unless the list of objects has it.
_MISSING = frozenset({"", "nan", "na", "n/a", "#n/a", "<na>", "null", "none"})
_PLAIN_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+")


def is_integer(name: str) -> bool:
    """Whether a name is an integer in its plain decimal form.

    >>> [is_integer(name) for name in ["7", "-7", "0", "007", "-0", "+7", "7 ", "٧"]]
    [True, True, True, False, False, False, False, False]
    """
    return _PLAIN_INTEGER.fullmatch(name) is not None


def without_zero(name: str) -> str:
    """A whole number such as ``7.0`` as an integer; any other name as it is.

    >>> [without_zero(name) for name in ["7.0", "7", "7.5", "v2.0"]]
    ['7', '7', '7.5', 'v2.0']
    """
    whole = name.removesuffix(".0")
    return whole if is_integer(whole) else name


def is_decimal(name: str) -> bool:
    """Whether a name is a decimal number that is no whole one: beside 1.1 also 1.0 is a name.

    >>> [is_decimal(name) for name in ["1.1", "1.0", "1", "v1.1"]]
    [True, False, False, False]
    """
    return _DECIMAL.fullmatch(name) is not None and without_zero(name) == name


def is_missing(name: str) -> bool:
    """Whether a cell stands for a missing one.

    >>> [is_missing(cell) for cell in ["NA", " ", "None", "Nan Madol"]]
    [True, True, True, False]
    """
    return name.strip().casefold() in _MISSING


def is_missing_word(text: str) -> bool:
    """Whether a text is a word for a missing cell; blanks in quotes are a text of their own."""
    return bool(text.strip()) and is_missing(text)


def ordered_names(names: list[str]) -> list[str]:
    """Names, given by first appearance, in the order of the objects.

    >>> ordered_names(["10", "9", "1"]), ordered_names(["10", "9", "x"])
    (['1', '9', '10'], ['10', '9', 'x'])
    """
    if all(map(is_integer, names)):
        # longer is larger for plain integers; int() has a limit on the number of digits
        return sorted(names, key=lambda name: (len(name), name))
    return names


def shown(names: Sequence[str], most: int = 5) -> str:
    """The first few names, for an error message."""
    listed = ", ".join(map(repr, names[:most]))
    return listed if len(names) <= most else f"{listed}, ... ({len(names):,} in all)"


def ids_among(
    names: Sequence[str] | None,
    n: int,
    known: Sequence[str] | None,
    n_known: int,
    where: str,
    way: str = "fit to statements about them too",
) -> IntArray | None:
    """The id of each of ``n`` objects among those that are known; None where they are the same.

    Objects are the same where their names are. Those without names (None) are named by their ids:
    "0", "1", ...; only where the names of the others are no numbers, ids mean places among them.
    ``where`` and ``way`` say what knows them, and how to fix it, in the refusal of others.

    >>> ids_among(("1", "10", "2"), 3, None, 11, "on the map").tolist()
    [1, 10, 2]
    >>> ids_among(None, 2, ("a", "b"), 2, "on the map") is None
    True
    """
    if names is None:
        same = known is None or not all(map(is_integer, known))
    else:
        same = known is not None and tuple(names) == tuple(known)
    if same:
        if n > n_known:
            raise ParameterError(
                f"the statements are about {n:,} objects, but only {n_known:,} are {where}; {way}"
            )
        return None
    asked = list(map(str, range(n))) if names is None else names
    listed = map(str, range(n_known)) if known is None else known
    number = {name: i for i, name in enumerate(listed)}
    unknown = [name for name in asked if name not in number]
    if unknown:
        raise ParameterError(
            f"object {unknown[0]!r} is not {where} ({len(unknown):,} of {len(asked):,} objects "
            f"are not: {shown(unknown)}); {way}"
        )
    return np.array([number[name] for name in asked], dtype=np.int64)


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
            raise ParameterError(f"names must be strings, got {printed(named[wrong])} ({kind})")
        if len(set(named)) < len(named):
            twice = next(name for name, count in Counter(named).items() if count > 1)
            raise ParameterError(f"two objects have the name {twice!r}; names must differ")
        return named


@dataclass(frozen=True)
class ObjectList:
    """All objects in their order, among them perhaps some that no statement names.

    Parameters
    ----------
    known_names : sequence of str or None
        None: the objects are 0, 1, ... and their ids are their names.
    n_objects : int, optional
        Needed without names.
    keys : sequence of str, optional
        What the statements call each object, where that is not its name.
    label
        How messages name the list.

    Examples
    --------
    >>> ObjectList.of(["van", "bus"], keys=["7", "8"]).ids
    {'7': 0, '8': 1}
    >>> ObjectList(None, 3).names
    ('0', '1', '2')
    """

    known_names: CheckedNames | None
    n_objects: int = 0
    keys: tuple[str, ...] | None = field(default=None, repr=False)
    label: str = "objects"

    def __post_init__(self) -> None:
        if self.known_names is not None:
            object.__setattr__(self, "n_objects", len(self.known_names))

    @classmethod
    def of(
        cls, names: Iterable[str], keys: Iterable[str] | None = None, label: str = "objects"
    ) -> ObjectList:
        """Objects with names, and perhaps with keys."""
        return cls(CheckedNames.of(names), keys=None if keys is None else tuple(keys), label=label)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each object, also where it is the id."""
        if self.known_names is not None:
            return self.known_names
        return tuple(map(str, range(self.n_objects)))

    @property
    def called(self) -> tuple[str, ...]:
        """What the statements call the objects."""
        return self.names if self.keys is None else self.keys

    @property
    def _numbered(self) -> bool:
        return self.known_names is None and self.keys is None

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each object by what the statements call it."""
        return {name: i for i, name in enumerate(self.called)}

    @cached_property
    def integers(self) -> bool:
        """Whether every object is called by an integer that a table serves."""
        return self._numbered or all(
            is_integer(name) and len(name) <= 8 and name[0] != "-" and int(name) < TABLE_LIMIT
            for name in self.called
        )

    @cached_property
    def _table(self) -> Int32Array:
        """The id of each integer, -1 where it does not name an object."""
        ids = np.arange(self.n_objects, dtype=np.int32)
        if self._numbered:
            return ids
        values = np.array([int(name) for name in self.called], dtype=np.int64)
        table = np.full(int(values.max(initial=-1)) + 1, -1, dtype=np.int32)
        table[values] = ids
        return table

    def ids_of(self, rows: Batch) -> Int32Array:
        """``(m, 3)`` or ``(m, 4)`` ids of the objects in some rows."""
        ids = np.empty((len(rows), rows.objects.num_columns), dtype=np.int32)
        if not (rows.integers and self.integers):
            return self._ids_of_texts(rows, ids)
        for start, columns in rows.pieces():
            for j, values in enumerate(columns):
                inside = values.min(initial=0) >= 0 and values.max(initial=0) < len(self._table)
                found = self._table[values] if inside or not len(values) else None
                if found is None or found.min(initial=0) < 0:
                    raise rows.refused(stored=self)
                # a row's ids lie side by side: all columns of a piece while it is in the cache
                ids[start : start + len(values), j] = found
        return ids

    def _ids_of_texts(self, rows: Batch, ids: Int32Array) -> Int32Array:
        columns = rows.texts()
        for j, (at, values) in enumerate(columns):
            known = np.array([self.ids.get(value, -1) for value in values], dtype=np.int32)
            if len(at):
                ids[:, j] = known[at]
        if ids.size and ids.min() < 0:
            raise rows.refused(stored=self)
        return ids

    def lacks(self, name: str) -> str:
        """That an object is not in the list."""
        listed = "" if self._numbered else f" ({shown(self.called, 3)})"
        return f"object {quoted(name)} is not in the list of objects{listed}"

    def matched(self, seen: Sequence[str], counts_from: int | None) -> tuple[ObjectList, list[str]]:
        """The same list by what the statements call its objects, and how it was taken.

        Statements may call objects by their names, by the list's keys, or by their lines in it, of
        which the first is number ``counts_from``; by default the numbers tell.
        """
        if self.keys is not None:
            return self._by_key(seen), []
        listed = set(self.names)
        if not seen or not all(map(is_integer, seen)) or any(name in listed for name in seen):
            return self, []
        base = self._first_line(seen, counts_from)
        keys = tuple(str(i + base) for i in range(self.n_objects))
        return replace(self, keys=keys), [f"objects by their line in {self.label}, from {base}"]

    def _by_key(self, seen: Sequence[str]) -> ObjectList:
        """Its keys are left aside where the statements have the names themselves."""
        unknown = [name for name in seen if name not in self.ids]
        listed = set(self.names)
        if unknown and all(name in listed for name in seen):
            return replace(self, keys=None)
        if unknown:
            raise FormatError(
                f"{self.label}: no id {quoted(unknown[0])} ({len(unknown):,} of {len(seen):,} "
                f"objects of the statements have none); its ids are {shown(self.called, 3)}"
            )
        return self

    def _first_line(self, seen: Sequence[str], counts_from: int | None) -> int:
        numbers = [int(name) if len(name) < 12 else 10**12 for name in seen]
        least, most, n = min(numbers), max(numbers), self.n_objects
        base = counts_from
        if base is None:
            base = 0 if least == 0 else 1 if most == n else None
        if base is None and least >= 0 and most < n:
            raise FormatError(
                f"{self.label}: the objects are numbers from {least} to {most}, and the list has "
                f"{n:,} names; do the lines count from 0 or from 1? Say it with "
                f"{option('counts_from')}, or list id,name"
            )
        if base is None or least < base or most >= n + base:
            first = 0 if base is None else base
            raise FormatError(
                f"{self.label}: the objects are numbers from {least} to {most}, but the "
                f"{n:,} lines of the list are {first} to {n - 1 + first}; is it the list of "
                f"other statements?"
            )
        return base

    @property
    def may_be_numbered(self) -> bool:
        """Whether statements may call its objects by ids or lines; most often they use names."""
        return self.keys is not None or not any(map(is_integer, self.names))


#: What to do about a cell without an object, and about an object that is not in the list.
FILL_IN = f"fill it in, leave the row out, or {SKIP_BAD}"
ADD_IT = "add it to the list or leave the row out"


def nameless(seen: str, column: str) -> str:
    """That a cell does not name an object."""
    what = "an empty cell" if not seen.strip() else quoted(seen)
    return f"{what} in {column} does not name an object"


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
        #: Whether negative integers are among them.
        self.may_be_negative = any(name.startswith("-") for name in self._known)
        #: Where another one first stood; it is a name only if some name is no integer.
        self._doubtful: dict[str, str] = {}

    def add(self, batch: Batch) -> None:
        """Take note of the names in some rows."""
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
                raise batch.refused(known=self._known)
            if name.startswith("-") and is_integer(name) and name not in self._known:
                self._doubtful[name] = batch.place(row)
            self._ids[name] = len(self._ids)

    def seen(self) -> list[str]:
        """The names found, in the order of their first appearance."""
        self._turn_to_text()
        return list(self._ids)

    def objects(self, before: Sequence[str] = ()) -> ObjectList:
        """The objects found, and ``before`` them those that were known."""
        if self._present is not None and not before:
            values = np.flatnonzero(self._present)
            n = len(values)
            # ids that are their own names need no list of names
            plain = n == 0 or values[-1] == n - 1
            return ObjectList(None, n) if plain else ObjectList.of(map(str, values.tolist()))
        self._turn_to_text()
        if self._doubtful and all(map(is_integer, self._ids)):
            name, place = next(iter(self._doubtful.items()))
            raise negative(place, name)
        return ObjectList.of(ordered_names(list(dict.fromkeys([*before, *self._ids]))))


def negative(place: str, name: str) -> StatementError:
    """The refusal of a negative integer among integers."""
    return StatementError(
        f"{place}: the object id {name} is negative; integer ids are 0 or more: correct the row, "
        f"or list the object with {option('objects')} if it is a name"
    )
