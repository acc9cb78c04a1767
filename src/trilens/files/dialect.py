"""The look of a text file: encoding, separator, header."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from itertools import chain, islice

from trilens.errors import FormatError, TrilensError
from trilens.files.asked import Asked
from trilens.files.cell import is_integer
from trilens.files.columns import Layout, plain_layout, resolve
from trilens.files.header import has_header
from trilens.files.source import Source, one_line
from trilens.files.spec import Columns, suggestion

#: Bytes from which the separator and the header are found.
SAMPLE = 1 << 16
_SAMPLE_ROWS = 50
#: Rows that tell whether the names are integers, and the first row a header above them.
_ROWS_THAT_TELL = 1000

#: A cell in quotes, or spaces with the line end that may follow.
_RUN_OF_SPACES = re.compile(rb'((?<![^ \t\r\n])"(?:[^"]|"")*")|[ \t]+(\r|\n|$)?')


@dataclass(frozen=True)
class Dialect:
    """How the rows of a text file are to be cut.

    ``body`` is the first byte and ``body_line`` the first line (from 1) of the data;
    ``integers`` says that integers name the objects, as far as the first rows tell.
    """

    separator: str
    layout: Layout
    body: int
    body_line: int
    integers: bool


def find_dialect(source: Source, asked: Asked) -> Dialect:
    """Separator, header and columns from the first rows of a text file."""
    with source.open() as stream:
        head = stream.read(SAMPLE)
    whole = len(head) < SAMPLE
    mark = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
    text = _decode(head, whole, source.label)[1 if mark else 0 :]
    if not text.strip():
        raise FormatError(f"{source.label} is empty; a statement file has a row per statement")
    spec = asked.columns
    separator = _separator(text, whole, source.ending, None if spec is None else spec.names)
    first, _, n_lines = next(records(text, separator), ([], 0, 0))
    begin = _lines(text, n_lines)
    if not first or (not whole and len(begin) == len(text)):
        raise FormatError(
            f"{source.label}, row 1: the first row is longer than {SAMPLE:,} bytes; "
            f"is this a statement file?"
        )
    n_columns = len(first)
    rows = [cells for cells, _, _ in islice(records(text, separator), 1, _ROWS_THAT_TELL)]
    # the last row of a sample may be cut short
    rows = [cells for cells in (rows if whole else rows[:-1]) if len(cells) == n_columns]
    header, layout = _layout(first, rows, asked, source.label, n_lines)
    cells = [[row[at] for at in layout.objects] for row in rows if not (header and row == first)]
    integers = all(map(is_integer, chain.from_iterable(cells)))
    if header:
        body = mark + len(begin.encode())
        return Dialect(separator, layout, body, 1 + n_lines, integers)
    above = [first[at] for at in layout.objects]
    return Dialect(separator, layout, mark, 1, integers and all(map(is_integer, above)))


def _layout(
    first: list[str], rows: list[list[str]], asked: Asked, label: str, n_lines: int
) -> tuple[bool, Layout]:
    """Whether the first row is a header, and where the columns are."""
    spec, kind, n = asked.columns, asked.kind, len(first)
    if spec is not None and spec.names is not None and len(spec.names) != n:
        raise FormatError(
            f"{label}: columns= names {len(spec.names)} columns, but the first row has "
            f"{n} ({one_line(', '.join(first), 80)}); name every column, or pick some such as "
            f"--columns {suggestion(first, rows)}"
        )
    numbered = [f"column {i + 1}" for i in range(n)]
    objects: Sequence[int] = range(min(n, 3))
    if spec is not None and spec.wants_header(first):
        seen = asked.header
        if seen is None:
            seen = has_header(first, rows, None, objects, asked.listed)
        spec.positions(first if seen else None, n, label)
    if spec is not None and (spec.names is not None or not spec.by_name(first)):
        objects = resolve(numbered, kind, label, spec, header=False).objects
    elif asked.preset == "things" and n == 3:
        spec = spec or Columns(names=("other_1", "other_2", "odd"))
    header = asked.header
    if header is None:
        header = has_header(first, rows, spec, objects, asked.listed)
    if header:
        if asked.preset == "things" and spec is not None and asked.columns is None:
            spec = None
        return True, resolve(first, kind, label, spec, rows=rows, row=n_lines)
    if spec is None:
        return False, plain_layout(n, label, [first, *rows], kind)
    return False, resolve(numbered, kind, label, spec, header=False, rows=rows)


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
            f"{label} is UTF-16 text; say so with encoding='utf-16' (--encoding utf-16), or save "
            f"it as UTF-8"
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
    data = source.read().removeprefix(codecs.BOM_UTF8)
    if b"\0" in data:
        raise refusal(f"{source.label} is a binary file; {what}")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise refusal(str(invalid_utf8(data, error.start, source.label, 1))) from error


def invalid_utf8(data: bytes, at: int, label: str, first_line: int) -> FormatError:
    """The refusal of bytes that are not UTF-8, with the line they are on."""
    row = first_line + len(re.findall(rb"\r\n|\n|\r", data[:at]))
    return FormatError(
        f"{label}, row {row:,}: byte 0x{data[at]:02x} is not UTF-8 text; save the file as UTF-8, "
        f"or say what it is with encoding= (--encoding latin-1, --encoding utf-16)"
    )


def _separator(text: str, whole: bool, ending: str, columns: Sequence[str] | None) -> str:
    if ending == ".tsv":
        return "\t"
    counts: dict[str, list[int]] = {}
    for separator in (",", "\t", ";", " "):
        rows: list[int] = []
        for cells, _, _ in records(text, separator):
            rows.append(len(cells))
            if len(rows) > _SAMPLE_ROWS:
                break
        # the last row of a sample may be cut short
        counts[separator] = rows if whole or len(rows) < 2 else rows[:-1]
    wanted = None if columns is None else len(columns)
    for fits in (
        lambda rows: set(rows) == {wanted},
        lambda rows: len(set(rows)) == 1 and rows[0] >= 3,
        lambda rows: rows[0] == wanted,
        lambda rows: rows[0] >= 3,
        lambda rows: rows[0] > 1,
    ):
        for separator, rows in counts.items():
            if rows and fits(rows):
                return separator
    return " " if ending in (".txt", ".dat") else ","


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
    stream = StringIO(text, newline="")
    return "".join(stream.readline() for _ in range(count))
