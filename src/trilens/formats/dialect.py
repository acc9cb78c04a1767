"""The look of a text file: encoding, separator, header."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from io import StringIO
from itertools import chain, islice

from trilens.errors import FormatError
from trilens.formats.columns import Layout, looks_like_header, plain_layout, resolve
from trilens.formats.names import is_integer, is_missing
from trilens.formats.source import Source, one_line
from trilens.statements import Kind

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


def find_dialect(
    source: Source, columns: list[str] | None, kind: Kind | None, listed: Container[str]
) -> Dialect:
    """Separator, header and columns from the first rows of a text file.

    A first row of text above integers is a header, known or not, unless ``listed`` says that
    the text in it names objects.
    """
    with source.open() as stream:
        head = stream.read(SAMPLE)
    whole = len(head) < SAMPLE
    mark = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
    text = _decode(head, whole, source.label)[1 if mark else 0 :]
    if not text.strip():
        raise FormatError(f"{source.label} is empty; a statement file has a row per statement")
    separator = _separator(text, whole, source.ending, columns)
    first, _, n_lines = next(records(text, separator), ([], 0, 0))
    begin = _lines(text, n_lines)
    if not first or (not whole and len(begin) == len(text)):
        raise FormatError(
            f"{source.label}, row 1: the first row is longer than {SAMPLE:,} bytes; "
            f"is this a statement file?"
        )
    n_columns = len(first)
    body = mark + len(begin.encode())
    header = looks_like_header(first)
    names = columns if columns is not None else first if header else None
    if columns is not None and len(columns) != n_columns:
        raise FormatError(
            f"{source.label}: columns= names {len(columns)} columns, but the first row has "
            f"{n_columns} ({one_line(', '.join(first), 80)}); name every column"
        )
    layout = (
        plain_layout(n_columns, source.label)
        if names is None
        else resolve(names, kind, source.label)
    )
    rows = (cells for cells, _, _ in islice(records(text, separator), _ROWS_THAT_TELL))
    sample = [[cells[at] for at in layout.objects] for cells in rows if len(cells) == n_columns]
    # the last row of a sample may be cut short
    cells, others = sample[0], sample[1:] if whole else sample[1:-1]
    integers = all(map(is_integer, chain.from_iterable(others)))
    if not header:
        unknown = not any(is_integer(cell) or is_missing(cell) for cell in cells)
        header = unknown and bool(others) and integers and not all(c in listed for c in cells)
        if header and columns is None:
            raise FormatError(
                f"{source.label}, row {n_lines}: the first row is text and the other rows are "
                f"integers, so it looks like a header with unknown names; name the columns with "
                f"columns=['central', 'other_1', 'other_2'] (--columns), or remove the row"
            )
    if header:
        return Dialect(separator, layout, body, 1 + n_lines, integers)
    return Dialect(separator, layout, mark, 1, integers and all(map(is_integer, cells)))


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
        raise FormatError(f"{label} is UTF-16 text; save it as UTF-8")
    if b"\0" in head:
        raise FormatError(
            f"{label} is a binary file, not text; name it by its format "
            f"(.parquet, .arrow, .npz, .csv.gz) if it holds statements"
        )
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(head, whole)
    except UnicodeDecodeError as error:
        raise invalid_utf8(head, error.start, label, 1) from error


def invalid_utf8(data: bytes, at: int, label: str, first_line: int) -> FormatError:
    """The refusal of bytes that are not UTF-8, with the line they are on."""
    row = first_line + len(re.findall(rb"\r\n|\n|\r", data[:at]))
    return FormatError(
        f"{label}, row {row:,}: byte 0x{data[at]:02x} is not UTF-8 text; save the file as UTF-8 "
        f"(or name it by its format if it is not text)"
    )


def _separator(text: str, whole: bool, ending: str, columns: list[str] | None) -> str:
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
    if separator == " ":
        text = even_spaces(text.encode()).decode()
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
