"""Writing statements."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from trilens import kinds
from trilens._typing import AnyArray
from trilens.errors import FormatError
from trilens.files.others import write_archive
from trilens.files.output import packed_write
from trilens.files.source import ENDINGS, READ_ONLY, PathLike, checked_path, ending_of, quoted
from trilens.statements import Statements, concatenate
from trilens.statements.columns import as_written
from trilens.statements.names import (
    is_decimal,
    is_integer,
    is_missing,
    is_missing_word,
    without_zero,
)
from trilens.statements.roles import FIELDS
from trilens.statements.table import METADATA_KEY
from trilens.statements.value import COLUMNS

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": " ", ".dat": " "}

#: Statements turned into text at a time.
_CHUNK = 1 << 18


def write_statements(statements: Statements | Iterable[Statements], path: PathLike) -> None:
    """Write statements to a file; the ending tells the format.

    Chunks (as of `scan_statements` or `stream_statements`: the same objects, kind and columns
    in each) are written one after the other; but for NPZ only one is in memory at a time.

    ``.csv``, ``.tsv``, ``.txt`` and ``.dat`` (spaces), ``.jsonl``, ``.ndjson``, ``.json``,
    ``.parquet``, ``.arrow``, ``.feather``, ``.npz``; with ``.gz`` or ``.zst`` after it, compressed;
    ``"-"`` writes CSV to the standard output. The file appears whole or not at all.

    The columns are ``central``, ``other_1``, ``other_2`` (or ``odd``, ...; or ``anchor``,
    ``near``, ``far``) and, where known, ``rater``, ``round``, ``seconds``, ``place`` (where on the
    screen the chosen object stood: 0, 1 or 2) and ``question`` (of more than three objects, that
    the statement comes from). Names, kind and these columns come back from every format. Objects
    that no statement names, and the order of the objects, come back from Parquet, Arrow and NPZ;
    text has no place for them, so keep a list of the objects beside it
    (``read_statements(..., objects=...)``).

    Raises
    ------
    FormatError
        For an unknown ending, a file that cannot be written, or a name that would not come
        back (an empty one, ``NA`` and its like; in text: ``1.0``, one with a NUL character, and
        a statement whose objects are called as the columns are: it reads as a header).
    """
    ending, packing = _ending(path)
    try:
        chunks = iter([statements] if isinstance(statements, Statements) else statements)
        first = next(chunks, None)
    except TypeError:
        first = None
    if not isinstance(first, Statements):
        raise FormatError(f"{os.fspath(path)}: nothing to write; give Statements or chunks of them")
    text = ending in _SEPARATORS or ENDINGS[ending] in ("jsonl", "json")
    if ENDINGS[ending] != "npz":
        _check_names(first, ending, text)
    with packed_write(path, packing) as file:
        every = _alike(first, chunks)
        if ENDINGS[ending] == "npz":
            write_archive(concatenate([first, *chunks]), file)
        elif text:
            for piece in _texts(every, ending):
                file.write(piece)
        else:
            _write_tables(map(_table, every), file, ENDINGS[ending])


def _texts(every: Iterable[Statements], ending: str) -> Iterator[bytes]:
    """The bytes of a text file, piece by piece."""
    if ending in _SEPARATORS:
        for i, S in enumerate(every):
            yield from _separated(S, _SEPARATORS[ending], header=i == 0)
        return
    lines = (piece for S in every for piece in _json_lines(S))
    if ENDINGS[ending] == "jsonl":
        yield from lines
        return
    before = b"["
    for piece in lines:
        yield before + piece[:-1].replace(b"}\n{", b"},\n{")
        before = b",\n"
    yield b"]\n" if before != b"[" else b"[]\n"


def _alike(first: Statements, rest: Iterator[Statements]) -> Iterator[Statements]:
    """All chunks; one that does not belong to the first is refused."""

    def shape(S: Statements) -> tuple[Any, ...]:
        return S.kind, S.n_objects, *(getattr(S, name) is None for name in COLUMNS)

    yield first
    for S in rest:
        if not isinstance(S, Statements) or shape(S) != shape(first) or S.names != first.names:
            raise FormatError("chunks of one file must have the same kind, objects and columns")
        yield S


def _ending(path: PathLike) -> tuple[str, str]:
    """The ending that tells the format, and that of the packing."""
    name = checked_path(path)
    if name == "-":
        return ".csv", ""
    ending, packing = ending_of(name)
    if packing == "zip":
        ending = ".zip"
    written = [known for known, format_ in ENDINGS.items() if format_ not in READ_ONLY]
    if ending not in written:
        raise FormatError(
            f"{name}: unknown ending {ending or '(none)'}; "
            f"use one of {', '.join(written)}, or one of them with .gz or .zst"
        )
    return ending, packing


def _check_names(S: Statements, ending: str, text: bool) -> None:
    decimals = any(map(is_decimal, S.names))
    for name in S.names:
        if is_missing(name):
            problem = "would be taken for a missing cell"
        elif text and "\0" in name and ending in _SEPARATORS:
            problem = "has a NUL character, which text files cannot hold"
        elif ending in _SEPARATORS and not decimals and without_zero(name) != name:
            problem = f"would be taken for {without_zero(name)}"
        elif any("\ud800" <= c <= "\udfff" for c in name):
            problem = "is not valid Unicode (a lone surrogate)"
        else:
            continue
        raise FormatError(
            f"the object {quoted(name)} {problem} in a {ending} file; rename it"
            + ("" if ENDINGS[ending] == "npz" else " or write .npz")
        )


def _separated(S: Statements, separator: str, header: bool) -> Iterator[bytes]:
    special = (separator, '"', "\n", "\r", "\t")

    def quote(cell: str) -> str:
        # bare spaces at the ends of a cell are trimmed by whoever reads it
        if not cell or cell != cell.strip(" ") or any(c in cell for c in special):
            return '"' + cell.replace('"', '""') + '"' if cell or separator == " " else cell
        return cell

    columns = _columns(S)
    _refuse_header(S, columns)
    _refuse_missing(columns)
    if header:
        yield (separator.join(columns) + "\n").encode()
    between = ["", *[separator] * (len(columns) - 1), "\n"]
    yield from _rows(columns, between, quote, "nan" if separator == " " else "")


def _refuse_header(S: Statements, columns: dict[str, pa.Array]) -> None:
    """In separated text a row that equals the header is a header."""
    header, *further = kinds.columns(S.kind), *list(columns.items())[3:]
    if not set(header) <= set(S.names):
        return
    same = (S.triples == [S.names.index(name) for name in header]).all(axis=1)
    for name, column in further:
        if not pa.types.is_dictionary(column.type):
            return  # numbers are not what a column is called
        called = np.array([text == name for text in column.dictionary.to_pylist()], dtype=np.bool_)
        same &= called[column.indices.to_numpy()]
    if same.any():
        raise FormatError(
            f"statement {int(np.argmax(same)) + 1:,} is {', '.join(header)}, as the columns are "
            f"called: in a text file it would be taken for a header; write .parquet or .jsonl"
        )


def _refuse_missing(columns: dict[str, pa.Array]) -> None:
    """In separated text a rater called NA would come back as nobody."""
    for name, column in list(columns.items())[3:]:
        texts = column.dictionary.to_pylist() if pa.types.is_dictionary(column.type) else []
        wrong = next(filter(is_missing_word, texts), None)
        if wrong is not None:
            raise FormatError(
                f"the {name} {quoted(wrong)} would be taken for a missing cell in a text "
                f"file; rename it or write .parquet"
            )


def _json_lines(S: Statements) -> Iterator[bytes]:
    columns = _columns(S)
    between = [f'{"," if i else "{"}{" " * (i > 0)}"{name}": ' for i, name in enumerate(columns)]
    yield from _rows(columns, [*between, "}\n"], partial(json.dumps, ensure_ascii=False), "null")


def _columns(S: Statements) -> dict[str, pa.Array]:
    """The columns as they are called; text is kept once, in dictionaries."""
    names = pa.array(S.names, pa.string())
    columns = {
        name: pa.DictionaryArray.from_arrays(pa.array(S.triples[:, j]), names)
        for j, name in enumerate(kinds.columns(S.kind))
    }
    for name, field in FIELDS.items():
        values = getattr(S, field)
        if values is not None:
            values = as_written(field, values)
            # raters come back as text
            plain = name != "rater" and values.dtype.kind in "iuf"
            columns[name] = pa.array(values) if plain else _as_text(values)
    return columns


def _as_text(values: AnyArray) -> Any:
    try:
        if values.dtype.kind not in "iu":
            return pa.array([str(value) for value in values.tolist()]).dictionary_encode()
        return _digits(pa.array(values))
    except (UnicodeEncodeError, pa.ArrowException) as error:
        raise FormatError(
            "a rater, round or question is not valid Unicode (a lone surrogate); rename it or "
            "write .npz"
        ) from error


def _digits(column: Any) -> Any:
    """Whole numbers as text, each kept once."""
    numbers = column.dictionary_encode()
    return pa.DictionaryArray.from_arrays(numbers.indices, numbers.dictionary.cast(pa.string()))


def _rows(
    columns: dict[str, pa.Array], between: list[str], encode: Callable[[str], str], missing: str
) -> Iterator[bytes]:
    """The rows' bytes: pyarrow joins the cells of a row, and rows lie one after the other."""
    import pyarrow.compute as pac

    encoded = [_encoded(column, encode) for column in columns.values()]
    glue = [pa.scalar(text, pa.large_string()) for text in between]
    for start in range(0, len(encoded[0]), _CHUNK):
        cells = [glue[0]]
        for column, after in zip(encoded, glue[1:], strict=True):
            cells += [_cells(column.slice(start, _CHUNK), missing), after]
        joined = pac.binary_join_element_wise(*cells, pa.scalar("", pa.large_string()))
        offsets = np.frombuffer(joined.buffers()[1], dtype=np.int64, count=len(joined) + 1)
        yield memoryview(joined.buffers()[2])[offsets[0] : offsets[-1]].tobytes()


def _encoded(column: Any, encode: Callable[[str], str]) -> Any:
    """The column with each text as the file has it, and nulls for what is no number."""
    if pa.types.is_floating(column.type):
        values = column.to_numpy(zero_copy_only=False)
        return pa.array(values, mask=~np.isfinite(values))
    if not pa.types.is_dictionary(column.type):
        return _digits(column)
    texts = pa.array([encode(text) for text in column.dictionary.to_pylist()], pa.large_string())
    return pa.DictionaryArray.from_arrays(column.indices, texts)


def _cells(column: Any, missing: str) -> Any:
    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode().cast(pa.large_string())
    return column.cast(pa.large_string()).fill_null(missing)


def _table(S: Statements) -> Any:
    """The statements as a table; integer names are integers."""
    columns = _columns(S)
    if all(is_integer(name) and len(name) <= 18 for name in S.names):
        numbers = pa.array([int(name) for name in S.names], pa.int64())
        for name in kinds.columns(S.kind):
            columns[name] = numbers.take(columns[name].indices)
    facts = json.dumps({"kind": S.kind, "names": list(S.names)}, ensure_ascii=False)
    return pa.table(columns).replace_schema_metadata({METADATA_KEY: facts.encode()})


def _write_tables(tables: Iterator[Any], file: BinaryIO, format_: str) -> None:
    first = next(tables)
    if format_ == "parquet":
        import pyarrow.parquet as pq

        writer = pq.ParquetWriter(file, first.schema, write_page_checksum=True)
    else:
        writer = pa.ipc.new_file(file, first.schema)
    with writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)
