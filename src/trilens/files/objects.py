"""Lists of objects: one name a line, or a table of all that is known about them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from trilens._typing import FloatArray
from trilens.errors import FormatError, ParameterError
from trilens.files.source import PathLike, one_line, open_source, quoted
from trilens.files.text import records, whole_text
from trilens.statements.columns import as_list, is_table
from trilens.statements.names import ObjectList, is_integer, is_missing
from trilens.statements.roles import key

if TYPE_CHECKING:
    from trilens.statements.table import NamedTable

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
#: What the first line of a plain list of names may be, where it is no object.
_HEADING = frozenset({"name", "names", "id", "ids", "object", "objects"})
#: What a table of objects may call its columns that hold no features.
TOLD = _PICTURE | _LABEL | _ALT


@dataclass(frozen=True, eq=False)
class ObjectTable:
    """What is known about the objects beside the answers.

    Attributes
    ----------
    label
        How messages name the table.
    names : tuple of str
    ids : tuple of str or None
        What the answers call them, where that is not the name.
    pictures : dict
        The path or the address of the picture, by name.
    labels : dict
        The class, by name, of those that have one.
    alts : dict
        The picture in words, by name.
    features : (n, d) array
    feature_names : tuple of str
        The columns of numbers.
    """

    label: str
    names: tuple[str, ...]
    ids: tuple[str, ...] | None
    pictures: dict[str, str]
    labels: dict[str, str]
    alts: dict[str, str]
    features: FloatArray
    feature_names: tuple[str, ...]

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
    path or an address), ``label`` (its class) and ``alt`` (the picture in words), as far as they
    are known; further columns of numbers are features. None where it is a plain list of names.

    Examples
    --------
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
        source = open_source(objects)
        if source.format != "text":
            from trilens.files.read import opened
            from trilens.statements.layout import ReadOptions

            return _of_named_table(opened(source, ReadOptions(header=True)))
        text = whole_text(source, "a list of objects has a name a line")
        table = _table(text)
        if table is None:
            _refuse_other_header(text, source.label)
            return None
        header, rows, wrong = table
        if wrong:
            raise FormatError(
                f"{source.label}, row {wrong[0]}: not as many columns as in the first row"
            )
        folder = None if source.path is None else source.path.parent
        return _object_table(source.label, header, rows, folder)
    if not isinstance(objects, Mapping) and is_table(objects):
        from trilens.statements.frames import as_arrow
        from trilens.statements.table import named_table

        return _of_named_table(named_table("objects", as_arrow(objects)))
    return None


def _of_named_table(table: NamedTable) -> ObjectTable:
    from trilens.statements.unfold import rows_of

    rows = [(cells, i) for i, cells in enumerate(rows_of(table), 1)]
    return _object_table(table.label or "objects", list(table.names), rows, None)


def _object_table(
    label: str, header: Sequence[str], rows: Sequence[tuple[list[str], int]], folder: Path | None
) -> ObjectTable:
    keys = [key(cell) for cell in header]

    def column(known: frozenset[str]) -> int | None:
        return next((i for i, cell in enumerate(keys) if cell in known), None)

    at_id, at_name, at_label = column(_ID), column(_NAME), column(_LABEL)
    at_picture, at_alt = column(_PICTURE), column(_ALT)
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
    taken = {at_id, at_name, at_label, at_picture, at_alt}
    numbers = [
        i
        for i in range(len(header))
        if i not in taken and keys[i] not in TOLD and all(_is_number(c[i]) for c, _ in rows)
    ]
    features = np.array([[float(cells[i]) for i in numbers] for cells, _ in rows], dtype=np.float64)
    return ObjectTable(
        label,
        names,
        None if at_id is None else tuple(cells[at_id] for cells, _ in rows),
        pictures,
        told(at_label),
        told(at_alt),
        features.reshape(len(rows), len(numbers)),
        tuple(header[i] for i in numbers),
    )


def _is_number(cell: str) -> bool:
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False


def read_objects(path: PathLike) -> list[str]:
    """The names in a list of objects, in order.

    Names are kept as written, spaces included; blank lines are passed over, and so is a first line
    such as ``name`` or ``object``, which is a heading. A table with the columns
    ``id`` and ``name`` lists the names.

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
    table = read_object_table(path)
    if table is not None:
        return table.listed
    text = whole_text(source, "a list of objects has a name a line")
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
        raise FormatError(f"{source.label} is empty; a list of objects has a name a line")
    return ObjectList.of(rows, label=source.label)


def _table(text: str) -> tuple[list[str], list[tuple[list[str], int]], list[str]] | None:
    """The header and the rows with their lines, and the lines of bad ones, where it is a table."""
    for separator in (",", "\t", ";", "|"):
        rows = [(cells, before + 1) for cells, before, _ in records(text, separator)]
        if not rows or len(rows[0][0]) < 2:
            continue
        first = {key(cell) for cell in rows[0][0]}
        named = bool(first & _NAME) or (bool(first & _ID) and bool(first & (_LABEL | _PICTURE)))
        if named and (first & (_ID | TOLD) or _has_numbers(rows)):
            header, body = rows[0][0], rows[1:]
        elif all(len(cells) == 2 and is_integer(cells[0]) for cells, _ in rows):
            header, body = ["id", "name"], rows
        else:
            continue
        wrong = [str(line) for cells, line in body if len(cells) != len(header)]
        return header, [(cells, line) for cells, line in body if len(cells) == len(header)], wrong
    return None


def _refuse_other_header(text: str, label: str) -> None:
    """Refuse a table whose header names pictures or classes, but no object."""
    for separator in (",", "\t", ";", "|"):
        rows = [cells for cells, _, _ in records(text, separator)]
        width = len(rows[0]) if rows else 0
        known = {key(cell) for cell in rows[0]} & TOLD if rows else set()
        even = all(len(cells) == width for cells in rows)
        if even and len(rows) > 1 and width > 1 and (len(known) > 1 or (known and width > 2)):
            raise FormatError(
                f"{label}: the columns are {one_line(', '.join(rows[0]), 80)}; a table of objects "
                f"has a column name, or id and name, and may have picture, label and alt: rename "
                f"them in the first row"
            )


def _has_numbers(rows: Sequence[tuple[list[str], int]]) -> bool:
    """Whether some column below the first row holds numbers alone."""
    body = [cells for cells, _ in rows[1:]]
    width = len(rows[0][0])
    return bool(body) and any(
        all(len(cells) == width and _is_number(cells[i]) for cells in body) for i in range(width)
    )
