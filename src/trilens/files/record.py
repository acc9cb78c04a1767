"""JSON that is not flat lines: arrays of records, nested records, jsPsych's trials."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from trilens.errors import FormatError
from trilens.files.asked import Asked
from trilens.files.batch import StatementFile
from trilens.files.dialect import invalid_utf8
from trilens.files.jsonlines import refuse_depth
from trilens.files.source import Source, one_line
from trilens.files.tables import table_of
from trilens.files.text import open_text

_BIGGEST = 2**63


def open_json(source: Source, asked: Asked) -> StatementFile:
    """A JSON file: an array of records, columns by name, rows, or lines of any of these."""
    data = source.read().removeprefix(b"\xef\xbb\xbf")
    found = _parsed(data, source.label)
    if _is_rows(found):
        return open_text(_as_csv(found, source), asked)
    if isinstance(found, dict) and _is_columns(found):
        return table_of(source, asked, table_of_columns(found))
    records = list(_records(found if isinstance(found, list) else [found], source.label))
    if not records:
        raise FormatError(f"{source.label} has no records; a statement file has one a statement")
    inside = asked.preset == "jspsych"
    return table_of(source, asked, table_of_records(records, inside=inside))


def json_table(source: Source) -> Any:
    """The records of a JSON file, or of JSON lines, as a table; or its columns by name."""
    found = _parsed(source.read().removeprefix(b"\xef\xbb\xbf"), source.label)
    if isinstance(found, dict) and _is_columns(found, least=1):
        return table_of_columns(found)
    return table_of_records(list(_records([found], source.label)))


def is_nested(source: Source) -> bool:
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
