"""Lists of objects: one name a line."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable

from trilens.errors import FormatError, ParameterError
from trilens.formats.dialect import invalid_utf8
from trilens.formats.source import PathLike, open_source, quoted
from trilens.statements.columns import as_list


def read_objects(path: PathLike) -> list[str]:
    """The names in a file with one name a line, in order.

    Names are kept as written, spaces included; blank lines are passed over.

    Raises
    ------
    FormatError
        For a file that cannot be read, is empty, is not UTF-8 or names an object twice.
    """
    source = open_source(path)
    data = source.read().removeprefix(codecs.BOM_UTF8)
    if b"\0" in data:
        raise FormatError(f"{source.label} is a binary file; a list of objects has a name a line")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise invalid_utf8(data, error.start, source.label, 1) from error
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
    return list(rows)


def object_list(objects: PathLike | Iterable[object] | None) -> list[str] | None:
    """The caller's objects: the path of a list, or the names themselves."""
    if objects is None:
        return None
    if isinstance(objects, str | os.PathLike):
        return read_objects(objects)
    listed = as_list(objects, "objects")
    names = [name if isinstance(name, str) else str(name) for name in listed]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ParameterError(f"objects lists {quoted(twice)} twice; list every object once")
    return names
