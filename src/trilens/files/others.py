"""Formats of others: numpy's arrays, MATLAB, Excel, SQLite, SPSS; cblearn's X and y."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from trilens._typing import AnyArray
from trilens.errors import FormatError, MissingExtraError, StatementError, TrilensError, option
from trilens.files.json import as_text_source, table_of_columns
from trilens.files.matlab import read_matlab
from trilens.files.source import Source, as_file, decoding, one_line, quoted
from trilens.files.text import open_text
from trilens.kinds import KINDS, Kind, columns
from trilens.statements import Statements
from trilens.statements.cells import cell_text
from trilens.statements.columns import are_whole, as_written, checked_field
from trilens.statements.layout import ReadOptions
from trilens.statements.names import CheckedNames
from trilens.statements.roles import FIELDS
from trilens.statements.table import METADATA_KEY, NamedTable, named_table
from trilens.statements.value import check_ids, count_objects

_X = ("X", "triplets", "triplet", "data", "queries", "triples")
_Y = ("y", "response", "responses", "answers", "target")


def open_array(source: Source, options: ReadOptions) -> NamedTable:
    """An ``.npy`` file: (m, 3) ids or names, or a structured array with named columns."""
    arrays = load_arrays(source, "an NPY file")
    if "" not in arrays:
        raise FormatError(f"{source.label} is not an NPY file; give it the ending of its format")
    return table_of_array(source, options, arrays[""])


def open_matlab(source: Source, options: ReadOptions) -> NamedTable:
    """A MATLAB file: its one (m, 3) matrix, or the variable after ``::``."""
    data = source.read()
    if data.startswith((b"MATLAB 7.3", b"\x89HDF")):
        raise FormatError(f"{source.label} is a MATLAB 7.3 file; save it with save(..., '-v7')")
    with decoding(source, "a MATLAB file"):
        arrays = read_matlab(data)
    if options.preset == "cblearn":
        return open_pair(source, options, arrays)
    part = source.part_of("variable", arrays)
    if part is not None:
        return table_of_array(source, options, arrays[part])
    fitting = [name for name, array in arrays.items() if array.ndim == 2 and array.shape[1] == 3]
    if len(fitting) != 1:
        seen = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise FormatError(
            f"{source.label}: {'no' if not fitting else len(fitting)} variables are (m, 3) "
            f"matrices; the variables are {one_line(seen, 120) or 'none'}: name one, such as "
            f"{source.label}::{one_line(fitting[0] if fitting else 'triples', 40)}"
        )
    return table_of_array(source, options, arrays[fitting[0]])


def load_arrays(source: Source, what: str) -> dict[str, AnyArray]:
    """The arrays of a numpy file by name; that of an NPY file has none, and is called ""."""
    with decoding(source, what):
        try:
            loaded = np.load(BytesIO(source.read()), allow_pickle=False)
            return {"": loaded} if isinstance(loaded, np.ndarray) else dict(loaded.items())
        except ValueError as error:
            if "Object arrays" not in str(error):
                raise
            raise FormatError(
                f"{source.label} holds pickled Python objects, which are not read because "
                f"they can run code; write it again with text and number arrays alone"
            ) from error


def open_pair(source: Source, options: ReadOptions, arrays: dict[str, AnyArray]) -> NamedTable:
    """cblearn's ``X`` and ``y`` by their names; without ``y``, triplets in order."""
    at_x, at_y = (next((n for n in wanted if n in arrays), None) for wanted in (_X, _Y))
    if at_x is None:
        raise FormatError(
            f"{source.label}: no array {' or '.join(_X)}; the arrays seen are "
            f"{one_line(', '.join(arrays), 120)}"
        )
    X = _cells(arrays[at_x], source.label)
    if X.shape[1] != 3:
        raise FormatError(f"{source.label}: {at_x} has {X.shape[1]} columns; it needs three")
    if at_y is None:
        return named_table(source.label, _three(X, ("anchor", "near", "far")))
    y = np.asarray(arrays[at_y]).ravel()
    if len(y) != len(X):
        raise FormatError(f"{source.label}: X has {len(X):,} rows, but y has {len(y):,}")
    seen = set(np.unique(y).tolist())
    if y.dtype == np.bool_ or -1 in seen:
        if not seen <= {-1, 1, False} or {-1, 0} <= seen:
            raise FormatError(f"{source.label}: y must be +1 and -1, or True and False")
        swap = (y == -1) | (y == 0)
        X = np.where(swap[:, None], X[:, [0, 2, 1]], X)
        return named_table(source.label, _three(X, ("anchor", "near", "far")))
    if not seen <= {0, 1, 2}:
        raise FormatError(f"{source.label}: y must be +1 and -1, booleans, or positions 0, 1, 2")
    if options.kind not in ("central", "odd"):
        raise FormatError(
            f"{source.label}: y holds positions; was the most central or the odd object chosen? "
            f"Say which with {option('kind')}"
        )
    at = y.astype(np.intp)
    chosen = np.take_along_axis(X, at[:, None], axis=1)
    table = _three(np.hstack([chosen, X]), ("chosen", "shown_1", "shown_2", "shown_3"))
    return named_table(source.label, table)


def table_of_array(source: Source, options: ReadOptions, array: AnyArray) -> NamedTable:
    """The columns of an array; they have names where it is a structured one."""
    if array.dtype.names:
        columns = {name: array[name].ravel().tolist() for name in array.dtype.names}
        return named_table(source.label, table_of_columns(columns))
    cells = _cells(array, source.label)
    names = tuple(f"column {i + 1}" for i in range(cells.shape[1]))
    if options.preset == "cblearn":
        return open_pair(source, options, {"X": array})
    return named_table(source.label, _three(cells, names), header=False)


def _cells(array: AnyArray, label: str) -> AnyArray:
    """Ids as whole numbers, names as text."""
    if array.ndim != 2 or array.shape[1] < 1:
        raise FormatError(
            f"{label} holds an array of shape {array.shape}; it must be (m, 3): a row a statement"
        )
    if array.dtype.kind == "f" and are_whole(array[~np.isnan(array)]):
        if np.isnan(array).any():
            return array
        return array.astype(np.int64)
    if array.dtype.kind not in "iuUf":
        raise FormatError(
            f"{label} holds an array of {array.dtype}; it must hold whole numbers or text"
        )
    return array


def _three(cells: AnyArray, names: tuple[str, ...]) -> Any:
    try:
        return pa.table(
            {name: pa.array(np.ascontiguousarray(cells[:, i])) for i, name in enumerate(names)}
        )
    except (pa.ArrowException, UnicodeError) as error:
        raise FormatError(f"the array makes no table: {one_line(error)}") from error


def open_archive(source: Source, options: ReadOptions) -> NamedTable:
    """An NPZ file of trilens: ``triples``, ``names``, ``kind``, and what is known of each row.

    By its preset, of cblearn: ``X`` and ``y``.
    """
    label = source.label
    if options.preset == "cblearn":
        return open_pair(source, options, load_arrays(source, "an NPZ file"))
    if options.columns is not None:
        raise FormatError(
            f"{label}: {option('columns')} does not apply to NPZ, whose triples stand in the order "
            f"of the kind; leave it out"
        )
    arrays = load_arrays(source, "an NPZ file")
    triples = _triples(arrays, label)
    said = _kind(arrays.get("kind"), label)
    if None not in (options.kind, said) and options.kind != said:
        raise FormatError(
            f"{label} says that its statements are of kind {said}, but kind {options.kind} was "
            f"asked for; leave the kind out"
        )
    names = _names(arrays.get("names"), label)
    n = len(names) if names is not None else int(triples.max()) + 1 if triples.size else 0
    try:
        known = {
            role: checked_field(field, arrays[field], len(triples))
            for role, field in FIELDS.items()
            if field in arrays
        }
        listed = None if names is None else CheckedNames.of(names)
        count_objects(triples, n, listed)
        check_ids(triples, n)
    except StatementError as error:
        place = label if error.row is None else f"{label}, row {error.row + 1:,}"
        raise StatementError(f"{place}: {error.problem}") from None
    except TrilensError as error:
        raise FormatError(f"{label}: {one_line(error)}") from error
    try:
        called = None if listed is None else pa.array(listed, pa.string())
    except UnicodeEncodeError as error:
        raise FormatError(
            f"{label}: the object {quoted(error.object)} is not valid Unicode (a lone surrogate); "
            f"rename it"
        ) from error
    made: list[Any] = []
    for ids in triples.astype(np.int32).T:
        column = pa.array(np.ascontiguousarray(ids))
        if called is not None:
            column = pa.DictionaryArray.from_arrays(column, called)
        made.append(column)
    others = {
        role: pa.array(as_written(FIELDS[role], values))
        for role, values in known.items()
        if values is not None
    }
    objects = columns(said or options.kind or "central")
    facts = json.dumps({"kind": said, "names": names, "n_objects": n}).encode()
    table = pa.table([*made, *others.values()], [*objects, *others])
    table = table.replace_schema_metadata({METADATA_KEY: facts})
    return named_table(label, table, keeps_numbers=True, tells_kind=said is not None)


def write_archive(S: Statements, file: BinaryIO) -> None:
    """Write every array of the statements; text becomes numpy's fixed-width text."""
    arrays: dict[str, Any] = {
        "triples": S.triples,
        "names": _fixed_width(S.names, "the object"),
        "kind": np.array(S.kind),
    }
    for name in FIELDS.values():
        column: AnyArray | None = getattr(S, name)
        if column is not None:
            plain = column.dtype.kind != "O"
            arrays[name] = column if plain else _fixed_width(column.tolist(), f"one of {name},")
    np.savez(file, **arrays)


def _fixed_width(values: Sequence[Any], what: str) -> AnyArray:
    texts = [str(value) for value in values]
    cut = next((text for text in texts if text.endswith("\0")), None)
    if cut is not None:
        raise FormatError(f"{what} {quoted(cut)} ends in NUL, which NPZ cannot keep; rename it")
    return np.array(texts, dtype=np.str_) if texts else np.array([], dtype="U1")


def _triples(arrays: dict[str, AnyArray], label: str) -> AnyArray:
    """The ids; without them, or where they are none, the file is refused."""
    triples = arrays.get("triples")
    if triples is None:
        hint = f"; for cblearn's X and y, {option('preset', 'cblearn')}" if "X" in arrays else ""
        raise FormatError(
            f"{label}: no array triples; the arrays seen are {one_line(', '.join(arrays))}{hint}"
        )
    if triples.dtype.kind not in "iu" or triples.ndim != 2 or triples.shape[1] != 3:
        raise FormatError(
            f"{label}: triples is an array of shape {triples.shape} of {triples.dtype}; "
            f"it must be (m, 3) of integers"
        )
    return triples


def _kind(array: AnyArray | None, label: str) -> Kind | None:
    if array is None:
        return None
    if array.dtype.kind != "U" or array.size != 1 or array.item() not in KINDS:
        raise FormatError(
            f"{label}: kind is {one_line(array, 40)}; it must be one of {', '.join(KINDS)}"
        )
    kind: Kind = array.item()
    return kind


def _names(array: AnyArray | None, label: str) -> list[str] | None:
    if array is None:
        return None
    if array.ndim != 1 or array.dtype.kind not in "Uiu":
        raise FormatError(
            f"{label}: names is an array of shape {array.shape} of {array.dtype}; "
            f"it must be (n,) of text"
        )
    return [str(name) for name in array.tolist()]


def open_sheet(source: Source, options: ReadOptions) -> NamedTable:
    """The first sheet of a workbook, or the one after ``::``; its rows are read as text is."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("reading Excel files", "excel") from None
    with decoding(source, "an Excel workbook"):
        book = openpyxl.load_workbook(BytesIO(source.read()), read_only=True, data_only=True)
        names = list(book.sheetnames)
        part = source.part_of("sheet", names)
        sheet = book.worksheets[0] if part is None else book[part]
        rows = list(_rows(sheet))
    unread = [name for name in names if name != sheet.title]
    if part is not None or not unread:
        return open_text(as_text_source(rows, source), options)
    listed = one_line(", ".join(unread), 80)
    elsewhere = (
        f"; this is sheet {sheet.title} of the workbook: to read another ({listed}), give "
        f"{source.label}::{one_line(unread[0], 40)}"
    )
    try:
        table = open_text(as_text_source(rows, source), options)
    except FormatError as error:
        raise FormatError(f"{error.message}{elsewhere}") from None
    notes = {"unread": f"read sheet {sheet.title}; not read: {listed}"}
    return replace(table, notes=notes, elsewhere=elsewhere)


def _rows(sheet: Any) -> Iterator[list[str]]:
    rows = [[cell_text(cell) or "" for cell in row] for row in sheet.iter_rows(values_only=True)]
    width = max((i + 1 for row in rows for i, cell in enumerate(row) if cell), default=0)
    for row in rows:
        if any(row):
            yield [*row[:width], *[""] * (width - len(row))]
        else:
            yield []  # a blank line: rows keep their numbers


def open_spss(source: Source, options: ReadOptions) -> NamedTable:
    """An SPSS file: values that have labels become these, and questions are titles."""
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtraError("reading SPSS files", "spss") from None
    with decoding(source, "an SPSS file"), as_file(source) as path:
        columns, about = pyreadstat.read_sav(str(path), output_format="dict")
    named = {}
    for name, values in columns.items():
        labels = about.variable_value_labels.get(name, {})
        named[name] = [_labelled(value, labels) for value in values]
    titles = tuple(about.column_names_to_labels.get(name) or "" for name in columns)
    return replace(named_table(source.label, table_of_columns(named)), titles=titles)


def _labelled(value: Any, labels: dict[Any, str]) -> Any:
    if value is None or value == "" or (isinstance(value, float) and np.isnan(value)):
        return None
    if value in labels:
        return str(labels[value])
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | float | str) else str(value)


def open_database(source: Source, options: ReadOptions) -> NamedTable:
    """The only table of an SQLite database, or the one after ``::``."""
    with decoding(source, "an SQLite database"), as_file(source) as path:
        return named_table(source.label, table_of_columns(_columns(source, path)))


def _columns(source: Source, path: Path) -> dict[str, list[Any]]:
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as database:
        listed = database.execute(
            "select name from sqlite_master where type in ('table', 'view') "
            "and name not like 'sqlite_%' order by name"
        )
        tables = [str(name) for (name,) in listed]
        wanted = source.part
        if wanted is None and len(tables) == 1:
            wanted = tables[0]
        if wanted not in tables:
            seen = one_line(", ".join(tables), 120) or "none"
            what = "which table?" if wanted is None else f"no table {one_line(wanted, 40)};"
            raise FormatError(
                f"{source.label}: {what} The tables are {seen}: name one, such as "
                f"{(source.path or path).name}::{one_line(tables[0], 40) if tables else 'answers'}"
            )
        quoted = '"' + wanted.replace('"', '""') + '"'
        cursor = database.execute(f"select * from {quoted}")
        names = [str(column[0]) for column in cursor.description]
        rows = cursor.fetchall()
    if len(set(names)) < len(names):
        raise FormatError(f"{source.label}: two columns of {wanted} have the same name")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}
