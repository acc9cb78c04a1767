"""Lists of objects: one name a line, or a table of all that is known about them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TypeAlias

import numpy as np

from trilens._typing import FloatArray
from trilens.errors import FormatError, ParameterError
from trilens.files.small import SmallTable, small_table
from trilens.files.source import PathLike, Source, one_line, open_source, quoted
from trilens.files.text import SEPARATORS, whole_text
from trilens.statements.cells import as_float
from trilens.statements.columns import as_list, is_table
from trilens.statements.names import ObjectList, is_integer, is_missing
from trilens.statements.roles import key

#: The path of a list, the names themselves, or a mapping from ids to names.
ObjectsLike: TypeAlias = PathLike | Iterable[object] | Mapping[object, object]

_ID = frozenset({"id", "index", "number", "nr", "no", "imagenumber", "objectid", "imageid"})
_NAME = frozenset({"name", "object", "word", "concept", "uniqueid", "target", "objectname"})
_PICTURE = frozenset(
    {
        *("picture", "image", "img", "file", "filename", "path", "url", "src", "photo"),
        *("imagefile", "imagepath", "imageurl", "picturefile", "address"),
    }
)
_LABEL = frozenset({"label", "class", "category", "group"})
_ALT = frozenset({"alt", "alttext", "description"})
_HOLDS = "a list of objects has a name a line"
#: What the first line of a plain list of names may be, where it is no object.
_HEADING = frozenset({"name", "names", "id", "ids", "object", "objects"})
#: What a table of objects may call its columns that hold no features.
TOLD = _PICTURE | _LABEL | _ALT


@dataclass(frozen=True, eq=False)
class ObjectTable:
    """What is known about the objects beside the answers."""

    #: How messages name the table.
    label: str
    names: tuple[str, ...]
    #: What the answers call them, where that is not the name.
    ids: tuple[str, ...] | None
    #: The path or the address of the picture, by name.
    pictures: dict[str, str]
    #: The class, by name, of those that have one.
    labels: dict[str, str]
    #: The columns of numbers, (n, d).
    features: FloatArray

    @property
    def listed(self) -> ObjectList:
        """The objects in their order."""
        return ObjectList.of(self.names, self.ids, self.label)

    def vectors(self) -> dict[str, FloatArray]:
        """The features by name."""
        return dict(zip(self.names, self.features, strict=True))


def read_object_table(objects: ObjectsLike) -> ObjectTable | None:
    """A table of objects: one row for each, and all that is known about it.

    Its columns are ``id`` (as the answers call the object), ``name`` (as people do), ``picture`` (a
    path or an address) and ``label`` (its class), as far as they are known; ``alt`` (the picture in
    words) is the survey's; further columns of numbers are features. None where it is a plain list
    of names.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "objects.csv"
    >>> _ = file.write_text(
    ...     "id,name,picture,label,wheels\\n7,van,van.jpg,road,4\\n8,ship,,sea,0\\n"
    ... )
    >>> table = read_object_table(file)
    >>> table.names, table.labels, table.pictures, table.features.tolist()
    (('van', 'ship'), {'van': 'road', 'ship': 'sea'}, {'van': 'van.jpg'}, [[4.0], [0.0]])
    """
    if isinstance(objects, ObjectTable):
        return objects
    if isinstance(objects, str | os.PathLike):
        return _of_file(open_source(objects))
    if not isinstance(objects, Mapping) and is_table(objects):
        return _object_table(small_table(objects, _HOLDS))
    return None


def _of_file(source: Source) -> ObjectTable | None:
    # a name may have spaces in it
    table = small_table(source, _HOLDS, separators=SEPARATORS[:-1])
    if table.names is None:
        if all(len(row) == 2 and is_integer(row[0]) for row in table.rows):
            table = replace(table, names=["id", "name"])
        elif _is_header(table):
            table = table.headed()
        else:
            _refuse_other_header(table)
            return None
    table.check_width()
    return _object_table(table)


def _object_table(table: SmallTable) -> ObjectTable:
    label, header, folder = table.label, table.first, table.folder
    rows = list(zip(table.texts(), table.lines, strict=True))
    keys = [key(cell) for cell in header]

    def column(known: frozenset[str]) -> int | None:
        return next((i for i, cell in enumerate(keys) if cell in known), None)

    at_id, at_name, at_label = column(_ID), column(_NAME), column(_LABEL)
    at_picture = column(_PICTURE)
    if at_name is None and at_id is not None:  # an id with a label, or a file: that is its name
        at_name, at_label = (at_label, None) if at_label is not None else (at_picture, None)
    if at_name is None:
        at_name, at_id = at_id, None
    if at_name is None:
        raise FormatError(
            f"{label}: a table of objects has a column id or name; it has "
            f"{one_line(', '.join(header), 80)}"
        )
    if not rows:
        raise FormatError(f"{label} has a header and no objects; list id,name")
    for j, what in ((at_id, "id"), (at_name, "name")):
        seen: dict[str, int] = {}
        for cells, line in rows if j is not None else ():
            cell = cells[j or 0]
            if not cell:
                raise FormatError(f"{label}, row {line:,}: the {what} is empty; fill it in")
            if cell in seen:
                raise FormatError(
                    f"{label}, row {line:,}: the {what} {quoted(cell)} is already in row "
                    f"{seen[cell]:,}; list every object once"
                )
            seen[cell] = line
    names = tuple(cells[at_name] for cells, _ in rows)

    def told(at: int | None) -> dict[str, str]:
        if at is None:
            return {}
        return {
            name: cells[at].strip()
            for name, (cells, _) in zip(names, rows, strict=True)
            if not is_missing(cells[at])
        }

    pictures = told(at_picture)
    if folder is not None:
        for name, picture in pictures.items():
            if "://" not in picture and not os.path.isabs(picture) and (folder / picture).is_file():
                pictures[name] = str(folder / picture)
    taken = {at_id, at_name, at_label, at_picture}
    numbers = [
        i
        for i in range(len(header))
        if i not in taken and keys[i] not in TOLD and all(_is_finite(c[i]) for c, _ in rows)
    ]
    features = np.array([[float(cells[i]) for i in numbers] for cells, _ in rows], dtype=np.float64)
    return ObjectTable(
        label,
        names,
        None if at_id is None else tuple(cells[at_id] for cells, _ in rows),
        pictures,
        told(at_label),
        features.reshape(len(rows), len(numbers)),
    )


def object_list(objects: ObjectsLike | ObjectList | None) -> ObjectList | None:
    """The caller's objects: the path of a list, the names themselves, or ids with names."""
    if objects is None or isinstance(objects, ObjectList):
        return objects
    if isinstance(objects, str | os.PathLike):
        return _listed(objects)
    table = read_object_table(objects)
    if table is not None:
        return table.listed
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
    table = _of_file(source)
    if table is not None:
        return table.listed
    text = whole_text(source, _HOLDS)
    rows: dict[str, int] = {}
    headed = False
    # not splitlines(), which also cuts at characters that a name may hold
    for row, name in enumerate(re.split("\r\n|\n|\r", text), 1):
        if not name.strip():
            continue
        if not rows and not headed and name.strip().casefold() in _HEADING:
            headed = True
            continue
        if name in rows:
            raise FormatError(
                f"{source.label}, row {row:,}: object {quoted(name)} is already in row "
                f"{rows[name]:,}; list every object once"
            )
        rows[name] = row
    if not rows:
        raise FormatError(f"{source.label} is empty; {_HOLDS}")
    return ObjectList.of(rows, label=source.label)


def _is_header(table: SmallTable) -> bool:
    """Whether the first row names the columns of a table of objects."""
    first = {key(cell) for cell in table.first}
    named = bool(first & _NAME) or (bool(first & _ID) and bool(first & (_LABEL | _PICTURE)))
    return len(table.first) > 1 and named and bool(first & (_ID | TOLD) or _has_numbers(table))


def _refuse_other_header(table: SmallTable) -> None:
    """Refuse a table whose header names pictures or classes, but no object."""
    first, width = table.first, len(table.first)
    known = {key(cell) for cell in first} & TOLD
    even = len(table.rows) > 1 and all(len(cells) == width for cells in table.rows)
    if even and width > 1 and (len(known) > 1 or (known and width > 2)):
        raise FormatError(
            f"{table.label}: the columns are {one_line(', '.join(first), 80)}; a table of objects "
            f"has a column name, or id and name, and may have picture, label and alt: rename "
            f"them in the first row"
        )


def _has_numbers(table: SmallTable) -> bool:
    """Whether some column below the first row holds numbers alone."""
    body, width = table.rows[1:], len(table.first)
    even = bool(body) and all(len(cells) == width for cells in body)
    return even and any(all(_is_finite(cells[i]) for cells in body) for i in range(width))


def _is_finite(cell: str) -> bool:
    number = as_float(cell)
    return number is not None and isfinite(number)
