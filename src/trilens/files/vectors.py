"""Vectors and matrices of models: CSV, numpy arrays, Parquet and the like."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO
from typing import Any

import numpy as np

from trilens._typing import AnyArray, FloatArray
from trilens.errors import FormatError
from trilens.files.source import PathLike, Source, one_line, open_source, quoted

#: What the column with the objects' names may be called.
NAME_COLUMNS = ("object", "objects", "name", "id", "__index_level_0__", "")
#: And the first column, as label files and lists of objects call it.
FIRST_COLUMNS = frozenset(
    {
        *("item", "concept", "image", "stimulus", "word", "uniqueid", "filename", "target"),
        *("label", "names", "items", "concepts", "index", "unnamed: 0"),
    }
)
#: Numbers of rows, as tables are saved with: beside a column of names they are no coordinates.
_ROW_NUMBERS = ("", "unnamed: 0", "__index_level_0__", "id")
#: What a column of whole vectors may be called.
_VECTOR_COLUMNS = ("vector", "embedding")


@dataclass(frozen=True, eq=False)
class VectorTable:
    """The vectors of a file, and which of its columns they are.

    Attributes
    ----------
    names : list of str or None
        None where the file has no column of names.
    rows : (n, d) array
    named_by : str or None
        The column of the names.
    columns : tuple of str
        Those of the numbers.
    """

    names: list[str] | None
    rows: FloatArray
    named_by: str | None
    columns: tuple[str, ...]

    @property
    def vectors(self) -> dict[str, FloatArray] | FloatArray:
        """By name, or in the order of the rows."""
        if self.names is None:
            return self.rows
        return dict(zip(self.names, self.rows, strict=True))

    def said(self) -> str:
        """How the file was taken, in a line."""
        few = ", ".join(self.columns[:4])
        if len(self.columns) > 4:
            few += f", ... ({len(self.columns):,})"
        names = "no column of names" if self.named_by is None else f"names from {self.named_by}"
        width = self.rows.shape[1]
        where = f"coordinates from {few}" if self.columns else f"{width:,} coordinates"
        return one_line(f"{names}, {where}", 200)


def read_vectors(
    path: PathLike, objects: Sequence[str] | None = None
) -> dict[str, FloatArray] | FloatArray:
    """The vectors of a model: by object name, or in the order of the objects.

    A CSV or TSV file has a column ``object`` (or ``name``, ``id``; the first one may be
    ``item``, ``concept`` and the like) and a column for each number, as `trilens embed` writes
    them; without such a header the first column holds the names if it is text, numbers the rows
    from 0 or 1 on in any order, or has the names of ``objects``. Otherwise there are no names.
    Parquet, Arrow and JSON lines have the same columns, or one column ``vector`` with lists.
    ``.npy`` holds an (n, d) array without names; ``.npz`` the arrays ``vectors`` and ``names``.

    Parameters
    ----------
    path : path
    objects : sequence of str, optional
        The names to look for.

    Returns
    -------
    dict from name to (d,) array, or (n, d) array
        An array where the file has no names.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "vectors.csv"
    >>> _ = file.write_text("object,x1,x2\\na,0,1\\nb,2,3.5\\n")
    >>> read_vectors(file)
    {'a': array([0., 1.]), 'b': array([2. , 3.5])}
    """
    return read_vector_table(path, objects).vectors


def read_vector_table(path: PathLike, objects: Sequence[str] | None = None) -> VectorTable:
    """The same, with the columns that were taken."""
    return _table(open_source(path), objects, False)


def _table(source: Source, objects: Sequence[str] | None, numbers_only: bool) -> VectorTable:
    if source.ending in (".npy", ".npz"):
        found = _numpy(source)
    elif source.format in ("parquet", "arrow", "jsonl"):
        found = _arrow(source)
    else:
        found = _text(source)
    if not numbers_only:
        found = _first_as_names(found, objects)
    seen: set[str] = set()
    for name in found.names or ():
        if name in seen:
            raise FormatError(f"{source.label}: object {quoted(name)} has two rows; give it one")
        seen.add(name)
    return found


def _first_as_names(found: VectorTable, objects: Sequence[str] | None) -> VectorTable:
    """A first column of whole numbers may number the rows, or have the objects' names."""
    width = found.rows.shape[1]
    if found.names is not None or width < 2 or len(found.columns) != width:
        return found
    first = found.rows[:, 0]
    if not np.isfinite(first).all() or (first != np.round(first)).any():
        return found
    names = [str(int(x)) for x in first]
    n = len(names)
    counted = any(np.array_equal(np.sort(first), np.arange(n) + start) for start in (0, 1))
    known = bool(objects) and len(set(names)) == n and set(names) >= set(objects or ())
    if not counted and not known:
        return found
    return VectorTable(names, found.rows[:, 1:], found.columns[0], found.columns[1:])


def read_matrix(path: PathLike) -> FloatArray:
    """A matrix of numbers: ``.npy``, or text with a row a line and no names."""
    found = _table(open_source(path), None, True)
    if found.names is not None:
        raise FormatError(
            f"{path}: a matrix of distances has numbers only, in the order of the objects; "
            f"leave the names out, or give an .npy file"
        )
    return found.rows


def _numpy(source: Source) -> VectorTable:
    try:
        loaded = np.load(BytesIO(source.read()), allow_pickle=False)
        arrays = {"": loaded} if isinstance(loaded, np.ndarray) else dict(loaded.items())
    except (ValueError, OSError, EOFError, KeyError) as error:
        raise FormatError(f"{source.label} has no numpy arrays: {one_line(error)}") from error
    tables = [array for array in arrays.values() if array.dtype.kind in "biuf" and array.ndim == 2]
    if len(tables) != 1:
        shapes = ", ".join(f"{array.shape} {array.dtype}" for array in arrays.values())
        raise FormatError(
            f"{source.label} has the arrays {shapes or 'none'}; one of them must be (n, d) numbers"
        )
    vectors: FloatArray = tables[0].astype(np.float64)
    names = arrays.get("names")
    # without columns: an array's first number is a number
    if names is None:
        return VectorTable(None, vectors, None, ())
    if names.shape != (len(vectors),):
        raise FormatError(f"{source.label}: {names.size:,} names for {len(vectors):,} vectors")
    return VectorTable([str(name) for name in names.tolist()], vectors, "names", ())


def _arrow(source: Source) -> VectorTable:
    import pyarrow as pa

    data = pa.BufferReader(source.read())
    try:
        if source.format == "parquet":
            import pyarrow.parquet as pq

            table = pq.read_table(data)
        elif source.format == "arrow":
            table = pa.ipc.open_file(data).read_all()
        else:
            import pyarrow.json as pj

            table = pj.read_json(data)
    except pa.ArrowException as error:
        raise FormatError(f"{source.label} cannot be read: {one_line(error)}") from error
    columns: dict[str, Any] = {
        name: table.column(i).to_pylist() for i, name in enumerate(table.column_names)
    }
    at = _names_at(list(columns))
    named = None if at is None else list(columns)[at]
    names = None if named is None else [str(name) for name in columns.pop(named)]
    if names is not None:
        columns = {k: v for k, v in columns.items() if k.strip().casefold() not in _ROW_NUMBERS}
    whole = next((c for c in columns if c.casefold() in _VECTOR_COLUMNS), None)
    try:
        if whole is not None:
            rows: FloatArray = np.array(columns[whole], dtype=np.float64)
            return VectorTable(names, rows, named, (whole,))
        numbers = [np.array(values, dtype=np.float64) for values in columns.values()]
        return VectorTable(names, np.stack(numbers, axis=1), named, tuple(columns))
    except (TypeError, ValueError) as error:
        raise FormatError(
            f"{source.label}: the columns {one_line(', '.join(columns), 80)} must be numbers, "
            f"beside one named object: {one_line(error, 80)}"
        ) from error


def _names_at(header: Sequence[str]) -> int | None:
    plain = [cell.strip().casefold() for cell in header]
    # a column that says so comes before the numbers of the rows
    found = next((plain.index(name) for name in NAME_COLUMNS[:3] if name in plain), None)
    if found is None and len(plain) > 1 and plain[0] in _ROW_NUMBERS:
        found = 1 if plain[1] in FIRST_COLUMNS else 0
    if found is None and plain and plain[0] in FIRST_COLUMNS:
        found = 0
    if found is None:
        found = next((plain.index(name) for name in NAME_COLUMNS[3:] if name in plain), None)
    return found


def _text(source: Source) -> VectorTable:
    try:
        text = source.read().removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{source.label} is not UTF-8 text; give CSV, .npy or .parquet"
        ) from error
    first = text.lstrip().split("\n", 1)[0]
    separator = max(",\t; ", key=first.count) if first.strip() else ","
    rows = [row for row in csv.reader(StringIO(text, newline=""), delimiter=separator) if row]
    if not rows:
        raise FormatError(f"{source.label} is empty; a file of vectors has a row for each object")
    header = None
    counted = [cell.strip() for cell in rows[0][1:]] == [str(i) for i in range(len(rows[0]) - 1)]
    if (counted and _names_at(rows[0]) == 0) or (
        not any(_is_number(cell) for cell in rows[0][1:]) and not _is_number(rows[0][-1])
    ):
        header, rows = [cell.strip() for cell in rows[0]], rows[1:]
    at = None if header is None else _names_at(header)
    if at is None and rows and not all(_is_number(row[0]) for row in rows):
        at = 0
    width = len(header or rows[0]) if rows else 0
    called = header or [f"column {i + 1}" for i in range(width)]
    passed = {at}
    if header is not None and at is not None:
        passed |= {i for i, cell in enumerate(header) if cell.casefold() in _ROW_NUMBERS}
    names, numbers = [], []
    for line, row in enumerate(rows, start=1 if header is None else 2):
        if len(row) != width:
            raise FormatError(
                f"{source.label}, row {line:,}: {len(row)} columns where others have {width}"
            )
        cells = [cell for i, cell in enumerate(row) if i not in passed]
        try:
            numbers.append([float(cell) if cell.strip() else np.nan for cell in cells])
        except ValueError:
            bad = next(cell for cell in cells if cell.strip() and not _is_number(cell))
            raise FormatError(
                f"{source.label}, row {line:,}: {quoted(bad)} is not a number; a file of vectors "
                f"has the columns object and numbers"
            ) from None
        names.append("" if at is None else row[at].strip())
    return VectorTable(
        None if at is None else names,
        _array(numbers),
        None if at is None else called[at] or "the first column",
        tuple(name for i, name in enumerate(called) if i not in passed),
    )


def _array(numbers: list[list[float]]) -> FloatArray:
    found: AnyArray = np.array(numbers, dtype=np.float64)
    return found.reshape(len(numbers), -1) if numbers else np.zeros((0, 0))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
