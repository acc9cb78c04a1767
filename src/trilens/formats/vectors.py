"""Vectors and matrices of models: CSV, numpy arrays, Parquet and the like."""

from __future__ import annotations

import codecs
import csv
from io import BytesIO, StringIO
from typing import Any

import numpy as np

from trilens._typing import AnyArray, FloatArray
from trilens.errors import FormatError
from trilens.formats.source import PathLike, Source, one_line, open_source, quoted

#: What the column with the objects' names may be called.
NAME_COLUMNS = ("object", "objects", "name", "id", "__index_level_0__", "")
#: What a column of whole vectors may be called.
_VECTOR_COLUMNS = ("vector", "embedding")


def read_vectors(path: PathLike) -> dict[str, FloatArray] | FloatArray:
    """The vectors of a model: by object name, or in the order of the objects.

    A CSV or TSV file has a column ``object`` (or ``name``, ``id``) and a column for each number,
    as `trilens embed` writes them; without a header the first column holds the names, unless
    all cells are numbers: then there are no names. Parquet, Arrow and JSON lines have the same
    columns, or one column ``vector`` with lists. ``.npy`` holds an (n, d) array without names;
    ``.npz`` the arrays ``vectors`` and ``names``.

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
    source = open_source(path)
    if source.ending in (".npy", ".npz"):
        return _numpy(source)
    if source.format in ("parquet", "arrow", "jsonl"):
        names, rows = _arrow(source)
    else:
        names, rows = _text(source)
    if names is None:
        return rows
    twice = next((name for i, name in enumerate(names) if name in set(names[:i])), None)
    if twice is not None:
        raise FormatError(f"{source.label}: object {quoted(twice)} has two rows; give it one")
    return dict(zip(names, rows, strict=True))


def read_matrix(path: PathLike) -> FloatArray:
    """A matrix of numbers: ``.npy``, or text with a row a line and no names."""
    found = read_vectors(path)
    if isinstance(found, dict):
        raise FormatError(
            f"{path}: a matrix of distances has numbers only, in the order of the objects; "
            f"leave the names out, or give an .npy file"
        )
    return found


def _numpy(source: Source) -> dict[str, FloatArray] | FloatArray:
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
    if names is None:
        return vectors
    if names.shape != (len(vectors),):
        raise FormatError(f"{source.label}: {names.size:,} names for {len(vectors):,} vectors")
    return dict(zip((str(name) for name in names.tolist()), vectors, strict=True))


def _arrow(source: Source) -> tuple[list[str] | None, FloatArray]:
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
    named = next((name for name in columns if name.strip().casefold() in NAME_COLUMNS), None)
    names = None if named is None else [str(name) for name in columns.pop(named)]
    whole = next((columns[c] for c in columns if c.casefold() in _VECTOR_COLUMNS), None)
    try:
        if whole is not None:
            return names, np.array(whole, dtype=np.float64)
        numbers = [np.array(values, dtype=np.float64) for values in columns.values()]
        return names, np.stack(numbers, axis=1)
    except (TypeError, ValueError) as error:
        raise FormatError(
            f"{source.label}: the columns {one_line(', '.join(columns), 80)} must be numbers, "
            f"beside one named object: {one_line(error, 80)}"
        ) from error


def _text(source: Source) -> tuple[list[str] | None, FloatArray]:
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
    if not any(_is_number(cell) for cell in rows[0][1:]) and not _is_number(rows[0][-1]):
        header, rows = [cell.strip() for cell in rows[0]], rows[1:]
    at = None
    if header is not None:
        plain = [cell.casefold() for cell in header]
        at = next((plain.index(name) for name in NAME_COLUMNS if name in plain), None)
    if at is None and rows and not all(_is_number(row[0]) for row in rows):
        at = 0
    width = len(header or rows[0]) if rows else 0
    names, numbers = [], []
    for line, row in enumerate(rows, start=1 if header is None else 2):
        if len(row) != width:
            raise FormatError(
                f"{source.label}, row {line:,}: {len(row)} columns where others have {width}"
            )
        cells = [cell for i, cell in enumerate(row) if i != at]
        try:
            numbers.append([float(cell) if cell.strip() else np.nan for cell in cells])
        except ValueError:
            bad = next(cell for cell in cells if cell.strip() and not _is_number(cell))
            raise FormatError(
                f"{source.label}, row {line:,}: {quoted(bad)} is not a number; a file of vectors "
                f"has the columns object and numbers"
            ) from None
        names.append("" if at is None else row[at].strip())
    return (None if at is None else names), _array(numbers)


def _array(numbers: list[list[float]]) -> FloatArray:
    found: AnyArray = np.array(numbers, dtype=np.float64)
    return found.reshape(len(numbers), -1) if numbers else np.zeros((0, 0))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
