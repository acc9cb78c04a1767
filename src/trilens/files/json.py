"""JSON: flat lines, arrays of records, nested records, rows, columns by name; jsPsych's trials."""

from __future__ import annotations

import codecs
import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pj

from trilens.errors import FormatError
from trilens.files.source import Source, one_line, owned
from trilens.files.text import invalid_utf8, open_text, records
from trilens.statements.layout import ReadOptions
from trilens.statements.names import is_missing
from trilens.statements.roles import role_of, roles
from trilens.statements.table import NamedTable, Request, Rows, named_table

#: Levels of brackets in a row.
_DEEPEST = 500
#: Bytes from which the columns of a long file are found.
_FIRST_BLOCK = 1 << 22
_BIGGEST = 2**63


def open_json(source: Source, options: ReadOptions) -> NamedTable:
    """A JSON file: an array of records, columns by name, rows, or lines of any of these."""
    if source.format == "jsonl" and options.preset != "jspsych" and not _is_nested(source):
        return _open_lines(source)
    data = source.read().removeprefix(codecs.BOM_UTF8)
    found = _parsed(data, source.label)
    if _is_rows(found):
        return open_text(_as_csv(found, source), options)
    if isinstance(found, dict) and _is_columns(found):
        return named_table(source.label, table_of_columns(found))
    listed = list(_records(found if isinstance(found, list) else [found], source.label))
    if not listed:
        raise FormatError(f"{source.label} has no records; a statement file has one a statement")
    inside = options.preset == "jspsych"
    return named_table(source.label, table_of_records(listed, inside=inside))


def open_jspsych_csv(source: Source) -> NamedTable:
    """jsPsych's CSV: quoted cells; one that holds a JSON array becomes numbered columns."""
    data = source.read().removeprefix(codecs.BOM_UTF8)
    if b"\0" in data:
        raise FormatError(f"{source.label} is a binary file, not text")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise invalid_utf8(data, error.start, source.label, 1) from error
    rows = [(cells, before + 1) for cells, before, _ in records(text, ",")]
    if len(rows) < 2:
        raise FormatError(f"{source.label} has no trials; jsPsych's CSV has a header and rows")
    names = rows[0][0]
    found = []
    for cells, line in rows[1:]:
        if len(cells) != len(names):
            raise FormatError(
                f"{source.label}, row {line:,}: {len(cells)} columns where the header has "
                f"{len(names)}; every row must have the same columns"
            )
        filled = zip(names, cells, strict=True)
        found.append({name: None if is_missing(cell) else cell for name, cell in filled})
    return named_table(source.label, table_of_records(found, inside=True))


def _open_lines(source: Source) -> NamedTable:
    """JSON lines: one object with named columns a line."""
    first = next(_blocks(source, _FIRST_BLOCK), (b"", 1))
    if not first[0].strip():
        raise FormatError(f"{source.label} is empty; a statement file has a row per statement")
    names: list[str] = list(_parse(*first, source.label).column_names)

    def read(request: Request) -> Iterator[Rows]:
        for data, line in _blocks(source, request.block_bytes):
            if not data.strip():
                continue
            table = _parse(data, line, source.label)
            late = [name for name in table.column_names if name not in names and role_of(name)]
            if late:
                raise FormatError(
                    f"{source.label}: {late[0]} is first given far down the file, from row "
                    f"{line:,} on; give it in the first row too, as null where it is unknown"
                )
            wanted = [names[at] for at in request.columns]
            columns = [
                table.column(name) if name in table.column_names else pa.nulls(len(table))
                for name in wanted
            ]
            yield Rows(pa.table(columns, wanted), _line_finder(data, line))

    return NamedTable(source.label, tuple(names), read)


def json_table(source: Source) -> Any:
    """The records of a JSON file, or of JSON lines, as a table; or its columns by name."""
    found = _parsed(source.read().removeprefix(b"\xef\xbb\xbf"), source.label)
    if isinstance(found, dict) and _is_columns(found, least=1):
        return table_of_columns(found)
    return table_of_records(list(_records([found], source.label)))


def _is_nested(source: Source) -> bool:
    """Whether the first line of JSON lines holds more than names and values."""
    with source.open() as stream:
        head = stream.read(1 << 20)
    line = head.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0]
    try:
        refuse_depth(line, 1, source.label)
        row = json.loads(line)
    except (ValueError, RecursionError, FormatError):
        return False
    if isinstance(row, list):
        return all(isinstance(one, dict) for one in row)
    return isinstance(row, dict) and any(isinstance(value, dict | list) for value in row.values())


def table_of_records(records: Sequence[Mapping[str, Any]], *, inside: bool = False) -> Any:
    """A table of records, nested ones flattened.

    With ``inside``, text that is JSON is taken for what it says, as in jsPsych's CSV.

    >>> table_of_records([{"rt": 1, "shown": ["a", "b"], "data": {"answer": 0}}]).column_names
    ['rt', 'shown_1', 'shown_2', 'answer']
    """
    flat = [dict(_flattened(record, "", inside)) for record in records]
    names: dict[str, None] = {}
    for record in flat:
        names |= dict.fromkeys(record)
    return table_of_columns(
        {short: [record.get(name) for record in flat] for name, short in _short(names).items()}
    )


def table_of_columns(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A table of columns of anything: numbers where all are numbers, text otherwise."""
    return pa.table({name: _column(values) for name, values in columns.items()})


def _parsed(data: bytes, label: str) -> Any:
    if b"\0" in data[:4096]:
        raise FormatError(f"{label} is a binary file, not JSON; name it by its format")
    refuse_depth(data, 1, label)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise invalid_utf8(data, error.start, label, 1) from error
    if not text.strip():
        raise FormatError(f"{label} is empty; it must hold records")
    try:
        return json.loads(text)
    except RecursionError:
        raise FormatError(f"{label} is nested too deep; it must hold records") from None
    except ValueError as error:
        whole = error
    found: list[Any] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                if found:
                    raise FormatError(
                        f"{label}, row {number:,}: not JSON; every line must be a record"
                    ) from None
                raise FormatError(f"{label} is not JSON: {one_line(whole, 80)}") from None
            found += row if isinstance(row, list) else [row]
    return found


def _is_rows(found: Any) -> bool:
    return (
        isinstance(found, list)
        and bool(found)
        and all(isinstance(row, list) for row in found)
        and not any(isinstance(cell, dict | list) for row in found for cell in row)
    )


def _is_columns(found: dict[str, Any], least: int = 3) -> bool:
    values = list(found.values())
    return (
        len(values) >= least
        and all(isinstance(value, list) for value in values)
        and len({len(value) for value in values}) == 1
        and not any(isinstance(cell, dict | list) for value in values for cell in value)
    )


def _as_csv(rows: Sequence[Sequence[Any]], source: Source) -> Source:
    return as_text_source(([cell_text(cell) or "" for cell in row] for row in rows), source)


def as_text_source(rows: Iterable[Sequence[str]], source: Source) -> Source:
    """Rows of cells as separated text: header and columns are then found as in any text."""
    text = "".join(",".join(map(_quoted, row)) + "\n" for row in rows)
    return Source(source.label, ".csv", stored=text.encode("utf-8", "surrogatepass"))


def _quoted(cell: str) -> str:
    # bare spaces at the ends of a cell would be trimmed
    if cell == cell.strip() and not any(c in cell for c in ',"\n\r\t'):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _records(found: Sequence[Any], label: str) -> Iterator[dict[str, Any]]:
    """Records, those inside of records too: each trial of a participant with what he shares."""
    for number, one in enumerate(found, 1):
        if isinstance(one, list):
            yield from _records(one, label)
            continue
        if not isinstance(one, dict):
            raise FormatError(
                f"{label}, record {number:,}: {one_line(json.dumps(one), 40)} is not a JSON "
                f'object; every record must be one, such as {{"central": "a", ...}}'
            )
        inside = [
            name
            for name, value in one.items()
            if isinstance(value, list) and value and all(isinstance(each, dict) for each in value)
        ]
        if len(inside) == 1:
            shared = {name: value for name, value in one.items() if name != inside[0]}
            for each in _records(one[inside[0]], label):
                yield shared | each
        else:
            yield one


def _flattened(value: Any, name: str, inside: bool) -> Iterator[tuple[str, Any]]:
    if inside and isinstance(value, str) and value[:1] in ("[", "{"):
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(value) or value
    if isinstance(value, Mapping):
        for each, inner in value.items():
            yield from _flattened(inner, f"{name}.{each}" if name else str(each), inside)
    elif isinstance(value, list) and 0 < len(value) <= 9:
        for i, inner in enumerate(value, 1):
            yield from _flattened(inner, f"{name}_{i}", inside)
    else:
        yield name, value


def _short(names: Mapping[str, None]) -> dict[str, str]:
    """Each name without what it lies in, where that leaves no two alike."""
    last = {name: name.rsplit(".", 1)[-1] for name in names}
    every = list(last.values())
    return {name: short if every.count(short) == 1 else name for name, short in last.items()}


def _column(values: Sequence[Any]) -> Any:
    known = [value for value in values if value is not None]
    if known and all(type(value) is int and abs(value) < _BIGGEST for value in known):
        return pa.array(values, pa.int64())
    if known and all(type(value) in (int, float) for value in known):
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    try:
        return pa.array([cell_text(value) for value in values], pa.string())
    except UnicodeError as error:
        raise FormatError(f"a cell is not valid Unicode ({one_line(error, 80)})") from error


def cell_text(value: Any) -> str | None:
    """A cell as text would have it; None where it is missing."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value % 1 == 0 and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode()
    return json.dumps(value, ensure_ascii=True) if isinstance(value, dict | list) else str(value)


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
