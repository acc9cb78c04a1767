"""Writing statements, in every format that can be read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from trilens._typing import AnyArray
from trilens.errors import FormatError
from trilens.files.archive import write_archive
from trilens.files.cell import is_integer, is_missing, is_missing_word
from trilens.files.output import packed_write
from trilens.files.source import ENDINGS, READ_ONLY, PathLike, checked_path, ending_of, quoted
from trilens.files.tables import METADATA_KEY
from trilens.statements import Statements, concatenate
from trilens.statements.roles import OPTIONAL
from trilens.statements.shapes import COLUMNS_OF_KIND
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
        back (an empty one, ``NA`` and its like; in text: one with a NUL character, and a
        statement whose objects are called as the columns are: it reads as a header).
    """
    ending, packing = _ending(path)
    try:
        chunks = iter([statements] if isinstance(statements, Statements) else statements)
        first = next(chunks, None)
    except TypeError:
        first = None
    if not isinstance(first, Statements):
        raise FormatError(f"{os.fspath(path)}: there are no chunks of statements to write")
    text = ending in _SEPARATORS or ENDINGS[ending] in ("jsonl", "json")
    if ENDINGS[ending] != "npz":
        _check_names(first, ending, text)
    with packed_write(path, packing) as file:
        _write(first, chunks, file, ending)


def _write(first: Statements, rest: Iterator[Statements], file: BinaryIO, ending: str) -> None:
    if ENDINGS[ending] == "npz":
        write_archive(concatenate([first, *rest]), file)
        return
    every = _alike(first, rest)
    if ending in _SEPARATORS:
        separator = _SEPARATORS[ending]
        for i, S in enumerate(every):
            for piece in _separated(S, separator, header=i == 0):
                file.write(piece)
    elif ENDINGS[ending] == "jsonl":
        for S in every:
            for piece in _json_lines(S):
                file.write(piece)
    elif ENDINGS[ending] == "json":
        before = b"["
        for S in every:
            for piece in _json_lines(S):
                file.write(before + piece[:-1].replace(b"}\n{", b"},\n{"))
                before = b",\n"
        file.write(b"]\n" if before != b"[" else b"[]\n")
    else:
        _write_tables(map(_table, every), file, ENDINGS[ending])


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
            f"{name}: the ending {ending or '(none)'} is not known; "
            f"use one of {', '.join(written)}, or one of them with .gz or .zst"
        )
    return ending, packing


def _check_names(S: Statements, ending: str, text: bool) -> None:
    for name in S.names:
        if is_missing(name):
            problem = "would be taken for a missing cell"
        elif text and "\0" in name and ending in _SEPARATORS:
            problem = "has a NUL character, which text files cannot hold"
        elif not _encodable(name):
            problem = "is not valid Unicode (a lone surrogate)"
        else:
            continue
        raise FormatError(
            f"the object {quoted(name)} {problem} in a {ending} file; rename it"
            + ("" if ENDINGS[ending] == "npz" else " or write .npz")
        )


def _encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _separated(S: Statements, separator: str, header: bool) -> Iterator[bytes]:
    special = (separator, '"', "\n", "\r", "\t")

    def quote(cell: str) -> str:
        # bare spaces at the ends of a cell are trimmed by whoever reads it
        if not cell or cell != cell.strip(" ") or any(c in cell for c in special):
            return '"' + cell.replace('"', '""') + '"' if cell or separator == " " else cell
        return cell

    _refuse_header(S)
    missing = "nan" if separator == " " else ""
    columns = _text_columns(S, quote, missing)
    if header:
        yield (separator.join(columns) + "\n").encode()
    pieces = [part for column in columns.values() for part in (column, separator)][:-1]
    yield from _rows(len(S), [*pieces, "\n"])


def _refuse_header(S: Statements) -> None:
    """In separated text a row that equals the header is a header."""
    header, names = COLUMNS_OF_KIND[S.kind], S.names
    if S.seconds is not None or S.places is not None or not set(header) <= set(names):
        return
    same = (S.triples == [names.index(name) for name in header]).all(axis=1)
    for name, values in _named(S):
        same &= np.array([str(value) == name for value in values.tolist()], dtype=np.bool_)
    if same.any():
        raise FormatError(
            f"statement {int(np.argmax(same)) + 1:,} is {', '.join(header)}, as the columns are "
            f"called: in a text file it would be taken for a header; write .parquet or .jsonl"
        )


def _json_lines(S: Statements) -> Iterator[bytes]:
    def encode(cell: str) -> str:
        return json.dumps(cell, ensure_ascii=False)

    columns = _text_columns(S, encode, "null")
    pieces: list[str | Callable[[slice], Any]] = []
    for i, (name, column) in enumerate(columns.items()):
        pieces += [f'{"{" if i == 0 else ", "}"{name}": ', column]
    yield from _rows(len(S), [*pieces, "}\n"])


def _text_columns(
    S: Statements,
    encode: Callable[[str], str],
    missing: str,
) -> dict[str, Callable[[slice], Any]]:
    """For each column, a function from rows to encoded cells."""

    def of_text(values: AnyArray, at: AnyArray, encode: Callable[[str], str]) -> Any:
        cells = pa.array([encode(str(value)) for value in values.tolist()], pa.large_string())
        return lambda rows: cells.take(pa.array(at[rows]))

    def of_seconds(values: AnyArray) -> Callable[[slice], Any]:
        def cells(rows: slice) -> Any:
            part = values[rows]
            known = pa.array(part, mask=~np.isfinite(part)).cast(pa.large_string())
            return known.fill_null(missing)

        return cells

    names = np.array(S.names, dtype=object)
    columns = {
        name: of_text(names, S.triples[:, j], encode)
        for j, name in enumerate(COLUMNS_OF_KIND[S.kind])
    }
    for name, values in _named(S):
        distinct, at = _distinct(values)
        _refuse_missing(distinct, name, missing)
        whole = name != "rater" and _whole(values)
        columns[name] = of_text(distinct, at, str if whole else encode)
    if S.seconds is not None:
        columns["seconds"] = of_seconds(S.seconds)
    if S.places is not None:
        columns["place"] = of_text(np.arange(3), S.places, str)
    return _in_order(columns)


def _in_order(columns: dict[str, Any]) -> dict[str, Any]:
    """The objects, then what else is known, always in one order."""
    known = [name for name in OPTIONAL if name in columns]
    return {name: columns[name] for name in (*(n for n in columns if n not in known), *known)}


def _named(S: Statements) -> Iterator[tuple[str, AnyArray]]:
    """The columns of whole numbers or text that are known; raters come back as text."""
    for name, values in (("rater", S.raters), ("round", S.rounds), ("question", S.questions)):
        if values is not None:
            yield name, values


def _refuse_missing(values: AnyArray, name: str, missing: str) -> None:
    """In separated text a rater called NA would come back as nobody."""
    for value in values.tolist() if missing != "null" else ():
        if is_missing_word(str(value)):
            raise FormatError(
                f"the {name} {quoted(str(value))} would be taken for a missing cell in a text "
                f"file; rename it or write .parquet"
            )


def _distinct(values: AnyArray) -> tuple[AnyArray, AnyArray]:
    texts = (
        values if values.dtype.kind in "iu" else np.array([str(v) for v in values.tolist()], object)
    )
    try:
        encoded = pa.array(texts).dictionary_encode()
    except (UnicodeEncodeError, pa.ArrowException) as error:
        raise FormatError(
            "a rater, round or question is not valid Unicode (a lone surrogate); rename it or "
            "write .npz"
        ) from error
    return np.array(encoded.dictionary.to_pylist(), dtype=object), encoded.indices.to_numpy()


def _whole(values: AnyArray) -> bool:
    return values.dtype.kind in "iu"


def _rows(m: int, pieces: list[str | Callable[[slice], Any]]) -> Iterator[bytes]:
    """The rows' bytes: pyarrow joins the cells of a row, and rows lie one after the other."""
    import pyarrow.compute as pac

    for start in range(0, m, _CHUNK):
        rows = slice(start, min(start + _CHUNK, m))
        cells = [
            pa.scalar(piece, pa.large_string()) if isinstance(piece, str) else piece(rows)
            for piece in pieces
        ]
        joined = pac.binary_join_element_wise(*cells, pa.scalar("", pa.large_string()))
        offsets = np.frombuffer(joined.buffers()[1], dtype=np.int64, count=len(joined) + 1)
        yield memoryview(joined.buffers()[2])[offsets[0] : offsets[-1]].tobytes()


def _table(S: Statements) -> Any:
    """The statements as a table; integer names are integers, others text kept once."""
    names = S.names
    whole = all(is_integer(name) and len(name) <= 18 for name in names)
    columns: dict[str, Any] = {}
    values = np.array([int(name) for name in names], dtype=np.int64) if whole else None
    for j, name in enumerate(COLUMNS_OF_KIND[S.kind]):
        ids = S.triples[:, j]
        if values is not None:
            columns[name] = pa.array(values[ids] if len(ids) else ids.astype(np.int64))
        else:
            columns[name] = pa.DictionaryArray.from_arrays(pa.array(ids), pa.array(names))
    for name, column in _named(S):
        if name != "rater" and _whole(column):
            columns[name] = pa.array(column)
        else:
            distinct, at = _distinct(column)
            texts = pa.array([str(value) for value in distinct.tolist()], pa.string())
            columns[name] = pa.DictionaryArray.from_arrays(pa.array(at), texts)
    if S.seconds is not None:
        columns["seconds"] = pa.array(S.seconds)
    if S.places is not None:
        columns["place"] = pa.array(S.places)
    facts = json.dumps({"kind": S.kind, "names": list(names)}, ensure_ascii=False)
    return pa.table(_in_order(columns)).replace_schema_metadata({METADATA_KEY: facts.encode()})


def _write_tables(tables: Iterator[Any], file: BinaryIO, format_: str) -> None:
    first = next(tables)
    if format_ == "parquet":
        import pyarrow.parquet as pq

        writer = pq.ParquetWriter(file, first.schema)
    else:
        writer = pa.ipc.new_file(file, first.schema)
    with writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)
