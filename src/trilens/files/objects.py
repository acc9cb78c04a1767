"""Lists of objects: one name a line, or ids with their names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from trilens.errors import FormatError, ParameterError
from trilens.files.cell import is_integer
from trilens.files.dialect import records, whole_text
from trilens.files.names import Naming
from trilens.files.source import PathLike, open_source, quoted
from trilens.statements.columns import as_list
from trilens.statements.roles import key
from trilens.statements.value import shown

#: The path of a list, the names themselves, or a mapping from ids to names.
ObjectsLike: TypeAlias = PathLike | Iterable[object] | Mapping[object, object]

_ID = frozenset({"id", "index", "number", "nr", "no", "imagenumber", "objectid", "imageid"})
_NAME = frozenset(
    {"name", "object", "label", "word", "concept", "uniqueid", "image", "filename", "target"}
)


@dataclass(frozen=True)
class Objects:
    """The caller's objects, in order; ``ids`` is what the statements call them, if not so."""

    names: tuple[str, ...]
    ids: tuple[str, ...] | None = None
    label: str = "objects"

    def naming(self) -> Naming:
        """The objects by their names, or by the ids that are given."""
        return Naming(self.names, keys=self.ids)

    def by_line(self, seen: Sequence[str], counts_from: int | None) -> tuple[Naming, str] | None:
        """The objects by their line, where the statements have numbers that are no names.

        Parameters
        ----------
        seen
            The objects as the statements call them.
        counts_from : {0, 1}, optional
            The number of the first line; by default the numbers tell.
        """
        if self.ids is not None or not seen or not all(map(is_integer, seen)):
            return None
        listed = set(self.names)
        if any(name in listed for name in seen):
            return None
        numbers = [int(name) if len(name) < 12 else 10**12 for name in seen]
        least, most, n = min(numbers), max(numbers), len(self.names)
        base = counts_from
        if base is None:
            base = 0 if least == 0 else 1 if most == n else None
        if base is None and least >= 0 and most < n:
            raise FormatError(
                f"{self.label}: the objects are numbers from {least} to {most}, and the list has "
                f"{n:,} names; do the lines count from 0 or from 1? Say it with counts_from= "
                f"(--counts-from), or list id,name"
            )
        if base is None or least < base or most >= n + base:
            first = 0 if base is None else base
            raise FormatError(
                f"{self.label}: the objects are numbers from {least} to {most}, but the "
                f"{n:,} lines of the list are {first} to {n - 1 + first}; is it the list of "
                f"other statements?"
            )
        keys = [str(i + base) for i in range(n)]
        return Naming(self.names, keys=keys), f"objects by their line in {self.label}, from {base}"


def read_objects(path: PathLike) -> list[str]:
    """The names in a list of objects, in order.

    Names are kept as written, spaces included; blank lines are passed over. A table with the
    columns ``id`` and ``name`` lists the names.

    Raises
    ------
    FormatError
        For a file that cannot be read, is empty, is not UTF-8 or names an object twice.
    """
    return list(_listed(path).names)


def object_list(objects: ObjectsLike | Objects | None) -> Objects | None:
    """The caller's objects: the path of a list, the names themselves, or ids with names."""
    if objects is None or isinstance(objects, Objects):
        return objects
    if isinstance(objects, str | os.PathLike):
        return _listed(objects)
    if isinstance(objects, Mapping):
        names = [str(name) for name in objects.values()]
        _refuse_twice(names)
        return Objects(tuple(names), tuple(map(str, objects)))
    names = [name if isinstance(name, str) else str(name) for name in as_list(objects, "objects")]
    _refuse_twice(names)
    return Objects(tuple(names))


def _refuse_twice(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ParameterError(f"objects lists {quoted(twice)} twice; list every object once")


def _listed(path: PathLike) -> Objects:
    source = open_source(path)
    text = whole_text(source, "a list of objects has a name a line")
    table = _table(text)
    if table is not None:
        return _with_ids(*table, source.label)
    rows: dict[str, int] = {}
    # not splitlines(), which also cuts at characters that a name may hold
    for row, name in enumerate(re.split("\r\n|\n|\r", text), 1):
        if not name.strip():
            continue
        if name in rows:
            raise FormatError(
                f"{source.label}, row {row:,}: object {quoted(name)} is already in row "
                f"{rows[name]:,}; list every object once"
            )
        rows[name] = row
    if not rows:
        raise FormatError(f"{source.label} is empty; a list of objects has a name a line")
    return Objects(tuple(rows), label=source.label)


def _table(text: str) -> tuple[list[tuple[str, str, int]], list[str]] | None:
    """Rows of id and name with their lines, where the list is a table of these."""
    for separator in (",", "\t", ";"):
        rows = [(cells, before + 1) for cells, before, _ in records(text, separator)]
        if not rows or len(rows[0][0]) < 2:
            continue
        first = [key(cell) for cell in rows[0][0]]
        ids = [i for i, cell in enumerate(first) if cell in _ID]
        names = [i for i, cell in enumerate(first) if cell in _NAME]
        if ids and names:
            at_id, at_name, body = ids[0], names[0], rows[1:]
        elif all(len(cells) == 2 and is_integer(cells[0]) for cells, _ in rows):
            at_id, at_name, body = 0, 1, rows
        else:
            continue
        width = len(rows[0][0])
        cells_of = [
            (cells[at_id], cells[at_name], line) for cells, line in body if len(cells) == width
        ]
        wrong = [str(line) for cells, line in body if len(cells) != width]
        return cells_of, wrong
    return None


def _with_ids(rows: list[tuple[str, str, int]], wrong: list[str], label: str) -> Objects:
    if wrong:
        raise FormatError(f"{label}, row {wrong[0]}: not as many columns as in the first row")
    for j, what in ((0, "id"), (1, "name")):
        seen: dict[str, int] = {}
        for row in rows:
            cell, line = str(row[j]), row[2]
            if not cell:
                raise FormatError(f"{label}, row {line:,}: the {what} is empty; fill it in")
            if cell in seen:
                raise FormatError(
                    f"{label}, row {line:,}: the {what} {quoted(cell)} is already in row "
                    f"{seen[cell]:,}; list every object once"
                )
            seen[cell] = line
    if not rows:
        raise FormatError(f"{label} has a header and no objects; list id,name")
    return Objects(tuple(row[1] for row in rows), tuple(row[0] for row in rows), label)


def names_or_ids(objects: Objects, seen: Sequence[str]) -> Objects:
    """The same list; its ids are left aside where the statements have the names themselves."""
    if objects.ids is None:
        return objects
    unknown = [name for name in seen if name not in set(objects.ids)]
    if unknown and all(name in set(objects.names) for name in seen):
        return Objects(objects.names, None, objects.label)
    if unknown:
        raise FormatError(
            f"{objects.label}: no id {quoted(unknown[0])} ({len(unknown):,} of {len(seen):,} "
            f"objects of the statements have none); its ids are {shown(list(objects.ids), 3)}"
        )
    return objects
