"""CSV, TSV and space-separated text, parsed by pyarrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from trilens.errors import FormatError
from trilens.files.asked import Asked
from trilens.files.batch import Batch
from trilens.files.columns import Layout
from trilens.files.dialect import (
    Dialect,
    even_spaces,
    find_dialect,
    invalid_utf8,
    open_quote,
    records,
    trimmed,
)
from trilens.files.faults import Fault
from trilens.files.judge import Judged, make_batch
from trilens.files.source import Source, one_line, owned, quoted
from trilens.statements import Kind

_BLOCK = 1 << 22
_NULLS = ["", "nan", "NaN", "NAN", "na", "NA", "n/a", "N/A", "null", "NULL", "none", "None"]
_SPACES = re.compile(rb"[ \t]")
_MARK = "\ufeff"
_AGAIN = "the header stands here again"


@dataclass(frozen=True)
class TextFile:
    """A text file whose separator, header and columns are known."""

    source: Source
    dialect: Dialect
    asked: Asked = field(default_factory=Asked)
    judged: Judged = field(default_factory=Judged, repr=False)
    stored: None = None
    may_be_empty: bool = False

    @property
    def label(self) -> str:
        return self.source.label

    @property
    def kind(self) -> Kind | None:
        return self.dialect.layout.kind

    @property
    def layout(self) -> Layout:
        return self.dialect.layout

    @property
    def notes(self) -> Sequence[str]:
        return list(self.judged.notes.values())

    @property
    def faults(self) -> Sequence[Fault]:
        return [self.judged.faults[row] for row in sorted(self.judged.faults)]

    def batches(self, integers: bool, block_bytes: int | None = None) -> Iterator[Batch]:
        """The rows; see `StatementFile`."""
        dialect = self.dialect
        separator = dialect.separator
        integers = integers and dialect.integers
        for data, line in _blocks(self.source, dialect.body, dialect.body_line, block_bytes):
            self._refuse_open_quote(data, line)
            rows = even_spaces(data) if separator == " " else data
            table = self._integers(rows) if integers else None
            found: Callable[[int], int] | None = None
            if table is None:
                integers = False
                table, rows, found = self._texts(rows, line)
            finder = found or _line_finder(data if separator == " " else rows, line, separator)
            if found is None:
                table, finder = self._without_headers(table, data, line, finder)
            if len(table):
                objects = [name for name in table.column_names if name.startswith("object_")]
                others = [name for name in table.column_names if name not in objects]
                yield make_batch(
                    table.select(objects),
                    table.select(others),
                    dialect.layout,
                    self.asked,
                    self.judged,
                    self.label,
                    finder,
                    words=True,
                )

    def _refuse_open_quote(self, rows: bytes, first_line: int) -> None:
        at = open_quote(rows, self.dialect.separator)
        if at is not None:
            row = first_line + len(_line_ends(rows[:at]))
            raise FormatError(
                f"{self.label}, row {row:,}: a quote is opened and never closed; close it, or "
                f"write it twice inside quotes if it belongs to the cell"
            )

    def _without_headers(
        self, table: Any, data: bytes, first_line: int, line_of: Callable[[int], int]
    ) -> tuple[Any, Callable[[int], int]]:
        """The rows but for those that are the header again: files put one after the other."""
        layout = self.dialect.layout
        if not layout.header or not _may_repeat(table, layout):
            return table, line_of
        again = {
            row: first_line + before
            for row, (cells, before, _) in enumerate(records(data.decode(), self.dialect.separator))
            if _is_header(cells, layout)
        }
        if again and not self.asked.skip_bad:
            raise self._repeated(min(again.values()))
        for line in again.values():
            self.judged.faults[line] = self._repeated_fault(line)
        kept = np.delete(np.arange(len(table)), np.array([*again], dtype=np.int64))
        return table.take(kept), lambda row: line_of(int(kept[row]))

    def _repeated_fault(self, line: int) -> Fault:
        return Fault(self.label, line, _AGAIN, ",".join(self.dialect.layout.names))

    def _repeated(self, line: int) -> FormatError:
        return FormatError(
            f"{self.label}, row {line:,}: {_AGAIN}, as where files are put one after the other; "
            f"delete the row, or skip_bad=True (--skip-bad)"
        )

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

    def _texts(
        self, rows: bytes, first_line: int
    ) -> tuple[Any, bytes, Callable[[int], int] | None]:
        """The rows as a table of text, as they were parsed, and their lines if not all were."""
        separator, layout = self.dialect.separator, self.dialect.layout
        text = pa.dictionary(pa.int32(), pa.string())
        problem: Exception | None = None
        try:
            table = _read(rows, separator, layout, text)
            if separator == " " or not _has_loose_blanks(table):
                return table, rows, None
        except (pa.ArrowException, UnicodeDecodeError) as error:
            problem = error
        # the bytes are trimmed where the cells show that it is needed: that is seldom
        tidy = rows if separator == " " else trimmed(rows, separator)
        if problem is None or tidy != rows:
            try:
                return _read(tidy, separator, layout, text), tidy, None
            except (pa.ArrowException, UnicodeDecodeError) as error:
                problem = error
        if self.asked.skip_bad:
            table, line_of = self._row_by_row(tidy, first_line, problem)
            return table, tidy, line_of
        raise self._diagnosis(tidy, first_line, problem) from problem

    def _row_by_row(
        self, rows: bytes, first_line: int, error: Exception
    ) -> tuple[Any, Callable[[int], int]]:
        """The rows that can be cut into cells, the slow way; the others become faults."""
        layout = self.dialect.layout
        try:
            text = rows.decode()
        except UnicodeDecodeError as wrong:
            raise invalid_utf8(rows, wrong.start, self.label, first_line) from error
        with_point = self._with_point
        kept: list[list[str]] = []
        lines: list[int] = []
        for cells, before, _ in records(text, self.dialect.separator):
            line = first_line + before
            if layout.header and _is_header(cells, layout):
                self.judged.faults[line] = self._repeated_fault(line)
                continue
            if len(cells) != layout.n_columns:
                problem = f"{len(cells)} columns instead of {layout.n_columns}"
            elif layout.seconds is not None and not _is_number(with_point(cells[layout.seconds])):
                problem = f"{quoted(cells[layout.seconds])} is not a time"
            else:
                kept.append(cells)
                lines.append(line)
                continue
            self.judged.faults[line] = Fault(self.label, line, problem, ",".join(cells))
        columns: dict[str, Any] = {}
        for role, at in layout.used.items():
            values = [cells[at] for cells in kept]
            if role == "seconds":
                known = [np.nan if v.strip() in _NULLS else float(with_point(v)) for v in values]
                columns[role] = pa.chunked_array([pa.array(known, pa.float64())])
            else:
                texts = pa.array(values, pa.string()).dictionary_encode()
                columns[role] = pa.chunked_array([texts])
        return pa.table(columns), lambda row: lines[row]

    def _with_point(self, cell: str) -> str:
        """A number with a decimal comma, as tables have it whose separator is none."""
        return cell if self.dialect.separator == "," else cell.replace(",", ".", 1)

    def _diagnosis(self, data: bytes, first_line: int, error: Exception) -> FormatError:
        """What pyarrow could not parse, in the file's own terms."""
        label, layout = self.label, self.dialect.layout
        try:
            text = data.decode()
        except UnicodeDecodeError as wrong:
            return invalid_utf8(data, wrong.start, label, first_line)
        points: set[str] = set()
        for cells, line, _ in records(text, self.dialect.separator):
            row = f"{label}, row {first_line + line:,}"
            if layout.header and _is_header(cells, layout):
                return self._repeated(first_line + line)
            if len(cells) != layout.n_columns:
                return FormatError(
                    f"{row}: {len(cells)} columns where the first row has {layout.n_columns}; "
                    f"every row must have the same columns: correct the row, or skip_bad=True "
                    f"(--skip-bad)"
                )
            if layout.seconds is None:
                continue
            cell, name = cells[layout.seconds], layout.names[layout.seconds]
            if not _is_number(self._with_point(cell)):
                return FormatError(
                    f"{row}: {quoted(cell)} in column {name} is not a number of seconds; "
                    f"correct it or leave the cell empty"
                )
            points |= {",", "."} & set(cell)
            if len(points) == 2:
                return FormatError(
                    f"{row}: {quoted(cell)} in column {name}: some numbers have a decimal comma "
                    f"and some a point; write all with a point"
                )
        return FormatError(f"{label} cannot be parsed as separated text: {one_line(error)}")


def open_text(source: Source, asked: Asked) -> TextFile:
    """A text file, with its look found from its first rows."""
    return TextFile(source, find_dialect(source, asked), asked)


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

    def parse(block_size: int, point: str) -> Any:
        return pc.read_csv(
            pa.BufferReader(buffer),
            read_options=pc.ReadOptions(column_names=names, block_size=block_size),
            parse_options=pc.ParseOptions(delimiter=separator, newlines_in_values=quotes),
            convert_options=pc.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=_NULLS,
                decimal_point=point,
            ),
        )

    def whole(point: str) -> Any:
        try:
            return parse(_BLOCK, point)
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error) or len(data) <= _BLOCK:
                raise
            return parse(min(len(data) + 1, np.iinfo(np.int32).max), point)

    if not data:
        table = pa.table({name: pa.array([], type_) for name, type_ in types.items()})
    else:
        try:
            table = whole(".")
        except pa.ArrowInvalid:
            if "seconds" not in layout.used or separator == "," or b"," not in data:
                raise
            table = whole(",")
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


def _has_loose_blanks(table: Any) -> bool:
    """Whether a cell begins or ends with a blank."""
    import pyarrow.compute as pac

    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            for chunk in column.chunks:
                bare = pac.ascii_trim(chunk.dictionary, " \t")
                if not bare.equals(chunk.dictionary):
                    return True
    return False


def _is_header(cells: Sequence[str], layout: Layout) -> bool:
    """Whether a row is the header again, perhaps behind the byte order mark of its file."""
    return len(cells) == layout.n_columns and all(
        cell.removeprefix(_MARK) == name for cell, name in zip(cells, layout.names, strict=True)
    )


def _may_repeat(table: Any, layout: Layout) -> bool:
    """Whether the header's name of the first object stands among the objects: seldom."""
    column = table.column("object_0")
    if not pa.types.is_dictionary(column.type):
        return False
    name = layout.names[layout.objects[0]]
    return any(
        name in words or _MARK + name in words
        for words in (chunk.dictionary.to_pylist() for chunk in column.chunks)
    )


def _is_number(cell: str) -> bool:
    try:
        return cell.strip() in _NULLS or float(cell) is not None
    except ValueError:
        return False
