"""CSV, TSV and space-separated text, parsed by pyarrow.

Separator, encoding and header are found from the first rows.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from io import StringIO
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from trilens.errors import FormatError, TrilensError, option
from trilens.files.source import Source, one_line, owned
from trilens.statements.batch import Fault
from trilens.statements.cells import is_number
from trilens.statements.columns import SKIP_BAD
from trilens.statements.layout import ColumnSpec, ReadOptions, wrong_width
from trilens.statements.names import is_integer
from trilens.statements.roles import OPTIONAL, names_a_column, roles
from trilens.statements.rules import complete
from trilens.statements.table import NamedTable, Request, Rows, Use
from trilens.statements.unfold import objects_in

#: What may stand between the cells.
SEPARATORS = (",", "\t", ";", "|", " ")
#: Bytes from which the separator and the header are found.
SAMPLE = 1 << 16
_SAMPLE_ROWS = 50
#: Rows that tell whether the names are integers, and the first row a header above them.
_ROWS_THAT_TELL = 1000
#: Data rows below which recurring names prove nothing, and the share that must recur.
_FEWEST = 2
_RECURRING = 0.8

_BLOCK = 1 << 22
_NULLS = ["", "nan", "NaN", "NAN", "na", "NA", "n/a", "N/A", "null", "NULL", "none", "None"]
_SPACES = re.compile(rb"[ \t]")
#: What cells become: text that is kept once, or numbers.
_WORDS, _NUMBER = pa.dictionary(pa.int32(), pa.string()), pa.float64()
_MARK = "\ufeff"
_AGAIN = "the header is repeated here"
#: A cell in quotes, or spaces with the line end that may follow.
_RUN_OF_SPACES = re.compile(rb'((?<![^ \t\r\n])"(?:[^"]|"")*")|[ \t]+(\r|\n|$)?')


@dataclass(frozen=True)
class _Text:
    """A text file whose separator and header are known.

    ``body`` is the first byte and ``body_line`` the first line (from 1) of the data.
    """

    source: Source
    separator: str
    names: tuple[str, ...]
    header: bool
    body: int
    body_line: int
    #: The first rows, without the header.
    first: Sequence[Sequence[str]] = field(repr=False)
    skip_bad: bool

    @property
    def label(self) -> str:
        return self.source.label

    def read(self, request: Request) -> Iterator[Rows]:
        """The rows; see `NamedTable`."""
        separator, columns = self.separator, request.columns
        integers = request.integers and self._starts_with_integers(columns)
        for data, line in blocks(
            self.source, self.body, self.body_line, request.block_bytes, _last_row_end
        ):
            self._refuse_open_quote(data, line)
            rows = even_spaces(data) if separator == " " else data
            table = self._integers(rows, columns) if integers else None
            faults: list[Fault] = []
            number: Callable[[int], int] | None = None
            if table is None:
                integers = False
                table, rows, number = self._texts(rows, line, columns, faults)
            found = number or _line_finder(data if separator == " " else rows, line, separator)
            if number is None:
                table, found = self._without_headers(table, data, line, found, columns, faults)
            yield Rows(table, found, tuple(faults))

    def _starts_with_integers(self, columns: Mapping[int, Use]) -> bool:
        objects = [at for at, use in columns.items() if use == "object"]
        names = list(self.names)
        return all(
            is_integer(row[at])
            for row in self.first
            if not (self.header and list(row) == names)
            for at in objects
        )

    def _refuse_open_quote(self, rows: bytes, first_line: int) -> None:
        at = open_quote(rows, self.separator)
        if at is not None:
            row = first_line + len(_line_ends(rows[:at]))
            raise FormatError(
                f"{self.label}, row {row:,}: a quote is opened and never closed; close it, or "
                f"write it twice inside quotes if it belongs to the cell"
            )

    def _without_headers(
        self,
        table: Any,
        data: bytes,
        first_line: int,
        line_of: Callable[[int], int],
        columns: Mapping[int, Use],
        faults: list[Fault],
    ) -> tuple[Any, Callable[[int], int]]:
        """The rows but for those that are the header again: files put one after the other."""
        if not self.header or not self._may_repeat(table, columns):
            return table, line_of
        again = {
            row: first_line + before
            for row, (cells, before, _) in enumerate(records(data.decode(), self.separator))
            if self._is_header(cells)
        }
        faults += [self._again(line) for line in again.values()]
        kept = np.delete(np.arange(len(table)), np.array([*again], dtype=np.int64))
        return table.take(kept), lambda row: line_of(int(kept[row]))

    def _again(self, line: int) -> Fault:
        """The header once more: a bad row that is skipped, or refused."""
        if self.skip_bad:
            return Fault(self.label, line, _AGAIN, ",".join(self.names))
        raise FormatError(
            f"{self.label}, row {line:,}: {_AGAIN}, as where files are put one after the other; "
            f"delete the row, or {SKIP_BAD}"
        )

    def _is_header(self, cells: Sequence[str]) -> bool:
        """Whether a row is the header again, perhaps behind the byte order mark of its file."""
        return self.header and [cell.removeprefix(_MARK) for cell in cells] == list(self.names)

    def _may_repeat(self, table: Any, columns: Mapping[int, Use]) -> bool:
        """Whether the header's name of the first object stands among the objects: seldom."""
        k, at = next((k, at) for k, (at, use) in enumerate(columns.items()) if use != "time")
        column, name = table.column(k), self.names[at]
        if not pa.types.is_dictionary(column.type):
            return False
        return any(
            name in words or _MARK + name in words
            for words in (chunk.dictionary.to_pylist() for chunk in column.chunks)
        )

    def _integers(self, rows: bytes, columns: Mapping[int, Use]) -> Any | None:
        """The rows as a table whose objects are integers, or None."""
        if not plain_integers(rows, self.separator):
            return None
        try:
            table = self._parsed(rows, columns, pa.int32())
        except (pa.ArrowException, UnicodeDecodeError):
            return None
        objects = [k for k, use in enumerate(columns.values()) if use == "object"]
        return None if any(table.column(k).null_count for k in objects) else table

    def _texts(
        self, rows: bytes, first_line: int, columns: Mapping[int, Use], faults: list[Fault]
    ) -> tuple[Any, bytes, Callable[[int], int] | None]:
        """The rows as a table of text, as they were parsed, and their lines if not all were."""
        problem: Exception | None = None
        try:
            table = self._parsed(rows, columns, _WORDS)
            if self.separator == " " or not _has_loose_blanks(table):
                return table, rows, None
        except (pa.ArrowException, UnicodeDecodeError) as error:
            problem = error
        # the bytes are trimmed where the cells show that it is needed: that is seldom
        tidy = rows if self.separator == " " else trimmed(rows, self.separator)
        # times with a decimal point, with a decimal comma, or in cells that are no times
        tried = problem is not None and tidy == rows
        for time, point in ((_NUMBER, "."), (_NUMBER, ","), (_WORDS, "."))[1 if tried else 0 :]:
            try:
                return self._parsed(tidy, columns, _WORDS, time, point), tidy, None
            except (pa.ArrowException, UnicodeDecodeError) as error:
                problem = error
        table, line_of = self._row_by_row(tidy, first_line, columns, problem, faults)
        return table, tidy, line_of

    def _row_by_row(
        self,
        rows: bytes,
        first_line: int,
        columns: Mapping[int, Use],
        error: Exception | None,
        faults: list[Fault],
    ) -> tuple[Any, Callable[[int], int]]:
        """The rows that can be cut into cells, the slow way; the others are faults, or refused."""
        text = as_unicode(rows, self.label, "text has no such bytes", first_line)
        kept: list[list[str]] = []
        lines: list[int] = []
        for cells, before, _ in records(text, self.separator):
            line = first_line + before
            if self._is_header(cells):
                faults.append(self._again(line))
            elif len(cells) != len(self.names):
                problem = f"{len(cells)} columns where the first row has {len(self.names)}"
                if not self.skip_bad:
                    raise FormatError(
                        f"{self.label}, row {line:,}: {problem}; every row must have the same "
                        f"columns: correct the row, or {SKIP_BAD}"
                    )
                faults.append(Fault(self.label, line, problem, ",".join(cells)))
            else:
                kept.append(cells)
                lines.append(line)
        if not self.skip_bad:
            raise FormatError(
                f"{self.label} cannot be parsed as separated text: {one_line(error)}"
            ) from error
        made = [pa.array([cells[at] for cells in kept], pa.string()) for at in columns]
        texts = [pa.chunked_array([one.dictionary_encode()]) for one in made]
        return self._table(texts, columns), lines.__getitem__

    def _table(self, made: Sequence[Any], columns: Mapping[int, Use]) -> Any:
        return pa.table(list(made), [self.names[at] for at in columns])

    def _parsed(
        self,
        data: bytes,
        columns: Mapping[int, Use],
        objects: Any,
        time: Any = _NUMBER,
        point: str = ".",
    ) -> Any:
        """The columns that are wanted, those of objects and times of these types."""
        names = [f"column_{i}" for i in range(len(self.names))]
        as_type = {"object": objects, "time": time, "text": _WORDS}
        types = {names[at]: as_type[use] for at, use in columns.items()}
        if not data:
            return self._table([pa.chunked_array([], type_) for type_ in types.values()], columns)
        buffer = owned(data)

        def parse(block_size: int) -> Any:
            return pc.read_csv(
                pa.BufferReader(buffer),
                read_options=pc.ReadOptions(column_names=names, block_size=block_size),
                parse_options=pc.ParseOptions(
                    delimiter=self.separator, newlines_in_values=b'"' in data
                ),
                convert_options=pc.ConvertOptions(
                    column_types=types,
                    include_columns=list(types),
                    null_values=_NULLS,
                    decimal_point=point,
                ),
            )

        try:
            table = parse(_BLOCK)
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error) or len(data) <= _BLOCK:
                raise
            table = parse(min(len(data) + 1, np.iinfo(np.int32).max))
        return self._table([table.column(name) for name in types], columns)


def open_text(source: Source, options: ReadOptions) -> NamedTable:
    """A text file, with its separator and header found from its first rows."""
    with source.open() as stream:
        head = stream.read(SAMPLE)
    whole = len(head) < SAMPLE
    mark = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
    text = _decode(head, whole, source.label)[1 if mark else 0 :]
    if not text.strip():
        raise FormatError(f"{source.label} is empty; a statement file has a row per statement")
    spec = options.columns
    named = None if spec is None else spec.names
    separator = "\t"
    if source.ending != ".tsv":
        bare = " " if source.ending in (".txt", ".dat") else ","
        width = None if named is None else len(named)
        separator = separator_of(text, whole=whole, width=width, otherwise=bare)
    first, _, n_lines = next(records(text, separator), ([], 0, 0))
    begin = _lines(text, n_lines)
    if not first or (not whole and len(begin) == len(text)):
        raise FormatError(
            f"{source.label}, row 1: the first row is longer than {SAMPLE:,} bytes; "
            f"is this a statement file?"
        )
    further = _qualtrics(text, separator)
    if further is not None and options.header is None:
        options = replace(options, header=True)
        n_lines = further[0]
        begin = _lines(text, n_lines)
    skipped = 1 if further is None else 3
    rows = [cells for cells, _, _ in islice(records(text, separator), skipped, _ROWS_THAT_TELL)]
    # the last row of a sample may be cut short
    rows = [cells for cells in (rows if whole else rows[:-1]) if len(cells) == len(first)]
    header = _finds_header(first, rows, options, source.label)
    file = _Text(
        source,
        separator,
        tuple(first) if header else tuple(f"column {i + 1}" for i in range(len(first))),
        header,
        mark + len(begin.encode()) if header else mark,
        1 + n_lines if header else 1,
        rows if header else [first, *rows],
        options.skip_bad,
    )
    return NamedTable(
        source.label,
        file.names,
        file.read,
        header,
        typed=False,
        sample=file.first,
        header_row=n_lines if header else None,
        may_be_empty=False,
        notes={"header": "header of Qualtrics, in three rows"} if further and header else {},
        titles=further[1] if further and header else (),
    )


def _qualtrics(text: str, separator: str) -> tuple[int, tuple[str, ...]] | None:
    """The last line of a header by Qualtrics, and its second row, the questions; before import ids.

    None where the header is no such one.
    """
    first = list(islice(records(text, separator), 3))
    if len(first) < 3 or not any(cell.startswith('{"ImportId"') for cell in first[2][0]):
        return None
    (names, *_), (questions, *_), (*_, last) = first
    return last, tuple(questions) if len(questions) == len(names) else ()


#: A word and a question mark.
_ASKED = re.compile(r"\w[?](\s|$)")


def _finds_header(
    first: list[str], rows: list[list[str]], options: ReadOptions, label: str
) -> bool:
    """Whether the first row is a header, by the caller's word or by the rows."""
    spec, n = options.columns, len(first)
    if spec is not None and spec.names is not None and len(spec.names) != n:
        raise wrong_width(spec, first, rows, label)
    objects = _object_columns(first, rows, options, label)
    if options.header is not None:
        return options.header
    if options.questions is not None:
        return True  # the names, or a column of ids that has one, lead to the questions
    below = {cell for row in rows for cell in row}
    if sum(objects_in(cell) is not None and cell not in below for cell in first) > 1:
        return True  # questions that list their objects
    asked = [cell for cell in first if _ASKED.search(cell) and cell not in options.listed]
    if spec is None and asked and not any("?" in cell for cell in below):
        return True  # questions above their answers
    return has_header(first, rows, spec, objects, options.listed)


def _object_columns(
    first: list[str], rows: list[list[str]], options: ReadOptions, label: str
) -> Sequence[int]:
    """The columns that name objects, as far as they are known before the header is."""
    spec, by_default = options.columns, range(min(len(first), 3))
    if spec is None:
        return by_default
    if spec.names is not None:
        return [i for i, role in roles(spec.names).items() if role.name not in OPTIONAL]
    by_name = spec.by_name(first)
    if not by_name and any(not column.isdigit() for _, column in spec.mapping or ()):
        seen = options.header
        if seen is None:
            seen = has_header(first, rows, None, by_default, options.listed)
        spec.positions(first if seen else None, len(first), label)
    if by_name:
        return by_default
    mapped = spec.positions(None, len(first), label)
    named = [at for role, at in mapped.items() if role not in (*OPTIONAL, "ms")]
    return named or by_default


def has_header(
    first: Sequence[str],
    rows: Sequence[Sequence[str]],
    spec: ColumnSpec | None,
    objects: Sequence[int],
    listed: Container[str],
) -> bool:
    """Whether the first row names the columns of those below.

    It does where its cells name all columns of a statement; where a cell is the name of a column
    and of nothing below; where text stands above numbers; and where none of its cells comes
    again while most names below do. A row of ``listed`` objects is no header; ``objects`` are the
    columns that name objects, as far as they are known.
    """
    # of files put one after the other the header comes again, so that nothing below is asked
    if complete({role.name for role in roles(first).values()}):
        return True
    cells = [first[i] for i in objects if i < len(first)]
    if cells and all(cell in listed for cell in cells):
        return False
    if spec is not None and spec.mapping is not None and spec.by_name(first):
        return True
    below = Counter(cell for row in rows for cell in row)
    if any(not below[first[i]] for i in roles(first)):
        return True
    # half a set of names, such as Right without Left
    if any(not below[cell] and names_a_column(cell) and not is_number(cell) for cell in first):
        return True
    if any(map(is_number, first)):
        return False
    if not rows:
        return False
    texts = [cell for cell in cells if cell]
    others = [row for row in rows if list(row) != list(first)] or rows
    if len(texts) == len(cells) > 0 and all(
        row[i].removeprefix("-").isdigit() for row in others for i in objects if i < len(row)
    ):
        return True
    if (len(first) > 3 or len(others) > 1) and any(
        all(is_number(row[i]) for row in others if i < len(row)) for i in range(len(first))
    ):
        return True
    names = Counter(row[i] for row in rows for i in objects if i < len(row))
    return (
        len(rows) >= _FEWEST
        and bool(texts)
        and not any(names[cell] for cell in cells)
        and sum(times > 1 for times in names.values()) >= _RECURRING * len(names) > 0
    )


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


def blocks(
    source: Source,
    body: int,
    first_line: int,
    block_bytes: int | None,
    last_end: Callable[[bytes], int],
) -> Iterator[tuple[bytes, int]]:
    """Whole rows after the first ``body`` bytes, with the line on which they begin.

    ``last_end`` finds where the last row ends that is whole.
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
            cut = len(rest) if at_end else last_end(rest)
            if cut:
                yield rest[:cut], first_line
                first_line += len(_line_ends(rest[:cut]))
                rest = rest[cut:]
            if at_end:
                return


def _last_row_end(data: bytes) -> int:
    """After a line end outside quotes: one before which the number of quotes is even."""
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


@lru_cache
def _trimming(separator: bytes) -> re.Pattern[bytes]:
    blank = b" " if separator == b"\t" else b"[ \t]"
    ends = b"[" + re.escape(separator) + b"\r\n]"
    return re.compile(
        rb"(\A|" + ends + rb")" + blank + rb'*("[^"]*(?:""[^"]*)*("|\Z))?'
        rb"|" + blank + rb"+(?=" + ends + rb"|\Z)"
    )


def trimmed(data: bytes, separator: str) -> bytes:
    """Rows without the spaces around their cells; what stands in quotes is left alone.

    >>> trimmed(b'a , b,"c "\\n d, e ," f" \\n', ",")
    b'a,b,"c "\\nd,e," f"\\n'
    """
    cut = separator.encode()
    blanks = (b" ",) if cut == b"\t" else (b" ", b"\t")
    beside = [
        (pair, end)
        for blank in blanks
        if blank in data
        for end in (cut, b"\n", b"\r")
        for pair in (blank + end, end + blank)
    ]
    if b'"' not in data:
        every = b"".join(blanks)
        while any(untidy in data for untidy, _ in beside):
            for untidy, end in beside:
                data = data.replace(untidy, end)
        return data.strip(every)

    def tidy(match: re.Match[bytes]) -> bytes:
        return b"" if match[1] is None else match[1] + (match[2] or b"")

    return _trimming(cut).sub(tidy, data)


def open_quote(data: bytes, separator: str) -> int | None:
    """Where a cell begins whose quotes are never closed, or None."""
    if b'"' not in data or data.count(b'"') % 2 == 0:
        return None
    for match in _trimming(separator.encode()).finditer(data):
        if match[3] == b"":
            return match.start(2)
    return None


def even_spaces(data: bytes) -> bytes:
    """Space-separated rows with one space between cells and none at the ends.

    Quoted cells are left alone. Where nothing is to be done, the data come back as they are.

    >>> even_spaces(b' 1  2\\t"a  b" \\n')
    b'1 2 "a  b"\\n'
    """
    untidy = (b"  ", b"\t", b" \n", b" \r", b"\n ", b"\r ")
    if not data.startswith(b" ") and not data.endswith(b" ") and not any(u in data for u in untidy):
        return data

    def tidy(match: re.Match[bytes]) -> bytes:
        if match[1] is not None:
            return match[1]
        if match.start() == 0 or data[match.start() - 1] in b"\r\n":
            return match[2] or b""
        return match[2] if match[2] is not None else b" "

    return _RUN_OF_SPACES.sub(tidy, data)


def _decode(head: bytes, whole: bool, label: str) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise FormatError(
            f"{label} is UTF-16 text; say so with {option('encoding', 'utf-16')}, or save it as "
            f"UTF-8"
        )
    if b"\0" in head:
        raise FormatError(
            f"{label} is a binary file, not text; name it by its format "
            f"(.parquet, .arrow, .npz, .csv.gz) if it holds statements"
        )
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(head, whole)
    except UnicodeDecodeError as error:
        raise invalid_utf8(head, error.start, label, 1) from error


def whole_text(source: Source, what: str, refusal: type[TrilensError] = FormatError) -> str:
    """All of a small text file in UTF-8; ``what`` says what such a file holds."""
    data = source.read()
    try:
        return as_unicode(data, source.label, what)
    except FormatError as error:
        raise refusal(error.message) from error


def as_unicode(data: bytes, label: str, what: str, first_line: int = 1) -> str:
    """Bytes as text; ``what`` says what such a file holds, and ``first_line`` where they begin."""
    data = data.removeprefix(codecs.BOM_UTF8)
    if b"\0" in data[:SAMPLE]:
        raise FormatError(f"{label} is a binary file; {what}")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise invalid_utf8(data, error.start, label, first_line) from error


def invalid_utf8(data: bytes, at: int, label: str, first_line: int) -> FormatError:
    """The refusal of bytes that are not UTF-8, with the line they are on."""
    row = first_line + len(re.findall(rb"\r\n|\n|\r", data[:at]))
    return FormatError(
        f"{label}, row {row:,}: byte 0x{data[at]:02x} is not UTF-8 text; save the file as UTF-8, "
        f"or say what it is, such as {option('encoding', 'latin-1')} or "
        f"{option('encoding', 'utf-16')}"
    )


def separator_of(
    text: str,
    *,
    whole: bool = True,
    width: int | None = None,
    among: Sequence[str] = SEPARATORS,
    otherwise: str = ",",
) -> str:
    """What separates the cells, by the first rows.

    Cells as many as ``width`` says, if it does; else as many in every row, three or more before
    two; else some in the first row. Of ``whole`` text the last row is not cut short.

    >>> separator_of("a b;c\\n"), separator_of("a b c\\n"), separator_of("a,b;c;d\\ne,f;g;h\\n")
    (';', ' ', ';')
    """
    counts: dict[str, list[int]] = {}
    for each in among:
        rows = [len(cells) for cells, _, _ in islice(records(text, each), _SAMPLE_ROWS + 1)]
        counts[each] = rows if whole or len(rows) < 2 else rows[:-1]
    for fits in (
        lambda rows: set(rows) == {width},
        lambda rows: len(set(rows)) == 1 and rows[0] >= 3,
        lambda rows: len(set(rows)) == 1 and rows[0] == 2,
        lambda rows: rows[0] == width,
        lambda rows: rows[0] >= 3,
        lambda rows: rows[0] > 1,
    ):
        for each, rows in counts.items():
            if rows and fits(rows):
                return each
    return otherwise


def records(text: str, separator: str) -> Iterator[tuple[list[str], int, int]]:
    """The rows of a text that are not blank, each with the lines before it and after it.

    This is the slow way through a file, for its first rows and for finding what is wrong.
    """
    tidy = even_spaces(text.encode()) if separator == " " else trimmed(text.encode(), separator)
    text = tidy.decode()
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator)
    before = 0
    try:
        for cells in reader:
            if cells:
                yield cells, before, reader.line_num
            before = reader.line_num
    except csv.Error:
        # a cell beyond the module's limit: pyarrow is the judge of that
        return


def _lines(text: str, count: int) -> str:
    return "".join(islice(StringIO(text, newline=""), count))
