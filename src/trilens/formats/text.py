"""CSV, TSV and space-separated text, parsed by pyarrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from trilens.errors import FormatError
from trilens.formats.batch import Batch, columns_of
from trilens.formats.columns import Layout
from trilens.formats.dialect import Dialect, even_spaces, find_dialect, invalid_utf8, records
from trilens.formats.source import Source, one_line, owned, quoted
from trilens.statements import Kind

_BLOCK = 1 << 22
_NULLS = ["", "nan", "NaN", "NAN", "na", "NA", "n/a", "N/A", "null", "NULL", "none", "None"]
_SPACES = re.compile(rb"[ \t]")


@dataclass(frozen=True)
class TextFile:
    """A text file whose separator, header and columns are known."""

    source: Source
    dialect: Dialect
    stored: None = None
    may_be_empty: bool = False

    @property
    def label(self) -> str:
        return self.source.label

    @property
    def kind(self) -> Kind | None:
        return self.dialect.layout.kind

    def batches(self, integers: bool, block_bytes: int | None = None) -> Iterator[Batch]:
        """The rows; see `StatementFile`."""
        dialect = self.dialect
        integers = integers and dialect.integers
        for data, line in _blocks(self.source, dialect.body, dialect.body_line, block_bytes):
            rows = even_spaces(data) if dialect.separator == " " else data
            table = self._integers(rows) if integers else None
            if table is None:
                integers = False
                table = self._texts(rows, data, line)
            if len(table):
                finder = _line_finder(data, line, dialect.separator)
                objects = [name for name in table.column_names if name.startswith("object_")]
                yield Batch(table.select(objects), self.label, finder, columns_of(table))

    def _integers(self, rows: bytes) -> Any | None:
        """The rows as a table whose objects are integers, or None."""
        separator, layout = self.dialect.separator, self.dialect.layout
        if not plain_integers(rows, separator):
            return None
        try:
            table = _read(rows, separator, layout, pa.int32())
        except (pa.ArrowException, UnicodeDecodeError):
            return None
        gaps = any(table.column(f"object_{i}").null_count for i in range(len(layout.objects)))
        return None if gaps else table

    def _texts(self, rows: bytes, data: bytes, first_line: int) -> Any:
        text = pa.dictionary(pa.int32(), pa.string())
        try:
            return _read(rows, self.dialect.separator, self.dialect.layout, text)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise self._diagnosis(data, first_line, error) from error

    def _diagnosis(self, data: bytes, first_line: int, error: Exception) -> FormatError:
        """What pyarrow could not parse, in the file's own terms."""
        label, layout = self.label, self.dialect.layout
        try:
            text = data.decode()
        except UnicodeDecodeError as wrong:
            return invalid_utf8(data, wrong.start, label, first_line)
        for cells, line, _ in records(text, self.dialect.separator):
            row = f"{label}, row {first_line + line:,}"
            if len(cells) != layout.n_columns:
                return FormatError(
                    f"{row}: {len(cells)} columns where the first row has {layout.n_columns}; "
                    f"every row must have the same columns"
                )
            if layout.seconds is not None and not _is_number(cells[layout.seconds]):
                return FormatError(
                    f"{row}: {quoted(cells[layout.seconds])} in column "
                    f"{layout.names[layout.seconds]} is not a number of seconds; "
                    f"correct it or leave the cell empty"
                )
        return FormatError(f"{label} cannot be parsed as separated text: {one_line(error)}")


def open_text(
    source: Source, columns: list[str] | None, kind: Kind | None, listed: Container[str]
) -> TextFile:
    """A text file, with its look found from its first rows."""
    return TextFile(source, find_dialect(source, columns, kind, listed))


def plain_integers(data: bytes, separator: str) -> bool:
    """Whether every integer that pyarrow finds in ``data`` reads back as it is written.

    pyarrow takes ``007``, ``-0``, ``0x1F`` and ``' 7'`` for integers, and the name as written
    would be lost. A search for the bytes that can make such a cell is far cheaper than to
    compare text. It may be wrong only in one direction: it looks at all columns, so that a
    rater called ``A 01`` makes the objects' names be read as text, to the same result.

    >>> plain_integers(b"10,0,205\\n", ","), plain_integers(b"10,00,205\\n", ",")
    (True, False)
    """
    spaces = {b" ", b"\t"} - {separator.encode()}
    if any(space in data for space in spaces):
        return False
    padded = np.frombuffer(data, dtype=np.uint8)
    if padded.size and padded[0] == _ZERO and (data[1:2].isdigit() or data[1:2] in (b"x", b"X")):
        return False
    size = 1 << 18  # the temporaries stay in the cache
    for start in range(0, len(padded) - 1, size):
        part = padded[start : start + size + 2]
        before, here, after = part[:-2], part[1:-1], part[2:]
        zero = here == _ZERO
        # a zero that begins a number and is not all of it; bytes wrap, so 9 < is "no digit"
        begins = ((before - _ZERO) > 9) & (before != _POINT)
        goes_on = ((after - _ZERO) <= 9) | ((after | 0x20) == _X)
        if (zero & begins & (goes_on | (before == _MINUS))).any():
            return False
    return not (data.endswith(b"-0") or data.startswith(b"-0"))


_ZERO, _POINT, _MINUS, _X = (np.uint8(ord(c)) for c in "0.-x")


def _read(data: bytes, separator: str, layout: Layout, object_type: Any) -> Any:
    names = [f"column_{i}" for i in range(layout.n_columns)]
    types: dict[str, Any] = {}
    for role, at in layout.used.items():
        if role.startswith("object_"):
            types[names[at]] = object_type
        elif role == "seconds":
            types[names[at]] = pa.float64()
        else:
            types[names[at]] = pa.dictionary(pa.int32(), pa.string())
    quotes = b'"' in data

    buffer = owned(data)

    def parse(block_size: int) -> Any:
        return pc.read_csv(
            pa.BufferReader(buffer),
            read_options=pc.ReadOptions(column_names=names, block_size=block_size),
            parse_options=pc.ParseOptions(delimiter=separator, newlines_in_values=quotes),
            convert_options=pc.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=_NULLS
            ),
        )

    if not data:
        table = pa.table({name: pa.array([], type_) for name, type_ in types.items()})
    else:
        try:
            table = parse(_BLOCK)
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error) or len(data) <= _BLOCK:
                raise
            table = parse(min(len(data) + 1, np.iinfo(np.int32).max))
    return pa.table({role: table.column(names[at]) for role, at in layout.used.items()})


def _blocks(
    source: Source, body: int, first_line: int, block_bytes: int | None
) -> Iterator[tuple[bytes, int]]:
    """Whole rows after the first ``body`` bytes, with the line on which they begin.

    A block ends with a line end outside quotes: one before which the number of quotes is even.
    """
    with source.open() as stream:
        stream.read(body)
        if block_bytes is None:
            yield stream.read(), first_line
            return
        rest = b""
        while True:
            data = stream.read(block_bytes)
            rest += data
            at_end = len(data) < block_bytes
            cut = len(rest) if at_end else _last_row_end(rest)
            if cut:
                yield rest[:cut], first_line
                first_line += len(_line_ends(rest[:cut]))
                rest = rest[cut:]
            if at_end:
                return


def _last_row_end(data: bytes) -> int:
    # a carriage return at the very end may be the first half of a line end
    cut = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1
    quotes = data.count(b'"', 0, cut)
    while cut and quotes % 2:
        before = max(data.rfind(b"\n", 0, cut - 1), data.rfind(b"\r", 0, cut - 1)) + 1
        quotes -= data.count(b'"', before, cut)
        cut = before
    return cut


def _line_ends(data: bytes) -> Any:
    """The offsets just after each line end."""
    array = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(array == 10) + 1
    if b"\r" in data:
        lone = np.flatnonzero(array == 13) + 1
        lone = lone[(lone == len(array)) | (array[np.minimum(lone, len(array) - 1)] != 10)]
        ends = np.sort(np.concatenate([ends, lone]))
    return ends


def _line_finder(data: bytes, first_line: int, separator: str) -> Callable[[int], int]:
    """The line of a row, worked out when a message needs it; blank lines are no rows."""

    def line_of(row: int) -> int:
        if b'"' in data:
            rows = records(data.decode(errors="replace"), separator)
            return first_line + next((line for _, line, _ in islice(rows, row, None)), row)
        lines = _SPACES.sub(b"", data) if separator == " " else data
        starts = np.concatenate([[0], _line_ends(lines)])
        first_byte = np.frombuffer(lines + b"\n", dtype=np.uint8)[starts]
        return first_line + int(np.flatnonzero((first_byte != 10) & (first_byte != 13))[row])

    return line_of


def _is_number(cell: str) -> bool:
    try:
        return cell.strip() in _NULLS or float(cell) is not None
    except ValueError:
        return False
