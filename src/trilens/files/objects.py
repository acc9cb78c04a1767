"""Lists of objects: one name a line, or ids with their names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from trilens.errors import FormatError, ParameterError
from trilens.files.source import PathLike, open_source, quoted
from trilens.files.text import records, whole_text
from trilens.statements.columns import as_list
from trilens.statements.names import ObjectList, is_integer
from trilens.statements.roles import key

#: The path of a list, the names themselves, or a mapping from ids to names.
ObjectsLike: TypeAlias = PathLike | Iterable[object] | Mapping[object, object]

_ID = frozenset({"id", "index", "number", "nr", "no", "imagenumber", "objectid", "imageid"})
_NAME = frozenset(
    {"name", "object", "label", "word", "concept", "uniqueid", "image", "filename", "target"}
)


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


def object_list(objects: ObjectsLike | ObjectList | None) -> ObjectList | None:
    """The caller's objects: the path of a list, the names themselves, or ids with names."""
    if objects is None or isinstance(objects, ObjectList):
        return objects
    if isinstance(objects, str | os.PathLike):
        return _listed(objects)
    if isinstance(objects, Mapping):
        names = [str(name) for name in objects.values()]
        _refuse_twice(names)
        return ObjectList.of(names, map(str, objects))
    names = [name if isinstance(name, str) else str(name) for name in as_list(objects, "objects")]
    _refuse_twice(names)
    return ObjectList.of(names)


def _refuse_twice(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ParameterError(f"objects lists {quoted(twice)} twice; list every object once")


def _listed(path: PathLike) -> ObjectList:
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
    return ObjectList.of(rows, label=source.label)


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


def _with_ids(rows: list[tuple[str, str, int]], wrong: list[str], label: str) -> ObjectList:
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
    return ObjectList.of([row[1] for row in rows], [row[0] for row in rows], label)
