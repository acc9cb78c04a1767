"""JSON lines: one object with named columns a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pj

from trilens.errors import FormatError
from trilens.files.dialect import invalid_utf8
from trilens.files.source import Source, one_line, owned
from trilens.statements.roles import role_of, roles

#: Levels of brackets in a row.
_DEEPEST = 500
#: Bytes from which the columns of a long file are found.
_FIRST_BLOCK = 1 << 22

Piece = tuple[Any, Callable[[int], int]]


def json_pieces(source: Source) -> tuple[list[str], None, Callable[[int | None], Iterator[Piece]]]:
    """The column names of a JSON lines file, and a reader of its rows."""
    first = next(_blocks(source, _FIRST_BLOCK), (b"", 1))
    if not first[0].strip():
        raise FormatError(f"{source.label} is empty; a statement file has a row per statement")
    names: list[str] = list(_parse(*first, source.label).column_names)

    def pieces(block_bytes: int | None) -> Iterator[Piece]:
        for data, line in _blocks(source, block_bytes):
            if data.strip():
                table = _parse(data, line, source.label)
                late = [name for name in table.column_names if name not in names and role_of(name)]
                if late:
                    raise FormatError(
                        f"{source.label}: {late[0]} is first given far down the file, from row "
                        f"{line:,} on; give it in the first row too, as null where it is unknown"
                    )
                table = pa.table(
                    {
                        name: table.column(name)
                        if name in table.column_names
                        else pa.nulls(len(table))
                        for name in names
                    }
                )
                yield table, _line_finder(data, line)

    return names, None, pieces


def _blocks(source: Source, block_bytes: int | None) -> Iterator[tuple[bytes, int]]:
    """Whole lines, with the number of the first one, from 1."""
    with source.open() as stream:
        if block_bytes is None:
            yield stream.read().removeprefix(b"\xef\xbb\xbf"), 1
            return
        rest, line = b"", 1
        while True:
            data = stream.read(block_bytes)
            rest = rest + data if line > 1 or rest else data.removeprefix(b"\xef\xbb\xbf")
            at_end = len(data) < block_bytes
            cut = len(rest) if at_end else rest.rfind(b"\n") + 1
            if cut:
                yield rest[:cut], line
                line += rest.count(b"\n", 0, cut)
                rest = rest[cut:]
            if at_end:
                return


def _parse(data: bytes, first_line: int, label: str) -> Any:
    if b"\0" in data[:4096]:
        raise FormatError(f"{label} is a binary file, not JSON lines; name it by its format")
    refuse_depth(data, first_line, label)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise invalid_utf8(data, error.start, label, first_line) from error
    try:
        return pj.read_json(
            pa.BufferReader(owned(data)),
            # a block must hold a whole line; the parser's own blocks are small
            pj.ReadOptions(block_size=min(max(len(data) + 1, 1 << 20), (1 << 31) - 1)),
            pj.ParseOptions(explicit_schema=_texts(data)),
        )
    except (pa.ArrowException, UnicodeDecodeError, KeyError) as error:
        raise _diagnosis(data, first_line, label, error) from error


def refuse_depth(data: bytes, first_line: int, label: str) -> None:
    """Refuse what is nested so deep that pyarrow's parser, which recurses, would crash."""
    opened = data.count(b"[") + data.count(b"{")
    if opened - data.count(b"\n{") <= _DEEPEST:  # no row of flat objects
        return
    for number, line in enumerate(data.split(b"\n"), first_line):
        if line.count(b"[") + line.count(b"{") > _DEEPEST:
            array = np.frombuffer(line, dtype=np.uint8)
            steps = np.isin(array, list(b"[{")).astype(np.int64) - np.isin(array, list(b"]}"))
            if steps.cumsum().max() > _DEEPEST:
                raise FormatError(
                    f"{label}, row {number:,}: nested more than {_DEEPEST} deep; every line must "
                    f'be an object such as {{"central": "a", ...}}'
                )


def _texts(data: bytes) -> Any:
    """A schema that keeps text as text: pyarrow would take some of it for points in time."""
    start = data.lstrip()[: 1 << 20]
    try:
        row = json.loads(start.split(b"\n", 1)[0])
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    found = roles(list(row))
    texts = [name for i, name in enumerate(row) if i in found and isinstance(row[name], str)]
    return pa.schema([(name, pa.string()) for name in texts])


def _diagnosis(data: bytes, first_line: int, label: str, error: Exception) -> FormatError:
    """What pyarrow could not parse, in the file's own terms."""
    types: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(data.split(b"\n"), first_line):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as wrong:
            return FormatError(
                f"{label}, row {number:,}: not JSON ({one_line(wrong, 80)}); "
                f'every line must be an object such as {{"central": "a", ...}}'
            )
        if not isinstance(row, dict):
            return FormatError(
                f"{label}, row {number:,}: {one_line(line.decode(), 40)} is not a JSON object; "
                f'every line must be one, such as {{"central": "a", ...}}'
            )
        for name, value in row.items():
            type_ = "text" if isinstance(value, str) else "not text"
            before = types.setdefault(name, (type_, number)) if value is not None else (type_, 0)
            if before[0] != type_:
                return FormatError(
                    f"{label}, row {number:,}: {one_line(name, 40)} is {type_} here and "
                    f"{before[0]} in row {before[1]:,}; write it in quotes in every row"
                )
    return FormatError(f"{label} cannot be parsed as JSON lines: {one_line(error)}")


def _line_finder(data: bytes, first_line: int) -> Callable[[int], int]:
    def line_of(row: int) -> int:
        filled = [n for n, line in enumerate(data.split(b"\n")) if line.strip()]
        # several objects on a line are legal, and then the row is the best that can be said
        return first_line + (filled[row] if row < len(filled) else row)

    return line_of
