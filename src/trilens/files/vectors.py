"""Vectors and matrices of models: CSV, numpy arrays, Parquet and the like."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from trilens._typing import FloatArray
from trilens.errors import FormatError, option
from trilens.files.objects import TOLD
from trilens.files.others import load_arrays
from trilens.files.small import small_table
from trilens.files.source import PathLike, Source, one_line, open_source, quoted
from trilens.statements.cells import as_float, cell_text
from trilens.statements.roles import key

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
_HOLDS = "a file of vectors has a row for each object"


@dataclass(frozen=True, eq=False)
class VectorTable:
    """The vectors of a file, the column of their names (if any), and those of the numbers."""

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
        """In a line, how the file was understood."""
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


def read_features(
    path: PathLike, objects: Sequence[str] | None = None
) -> dict[str, dict[str, FloatArray] | FloatArray]:
    """The features of objects, block by block.

    The file is one that `read_vectors` takes, and is one block; an ``.npz`` file may hold several
    arrays of numbers, each a block (vectors of pictures and of words, say), beside ``names``.

    Parameters
    ----------
    path : path
    objects : sequence of str, optional
        The names of the rows where the file has none.

    Returns
    -------
    dict from the block's name to its vectors
        These are a dict from object to (d,) array where names are known, else an (n, d) array in
        the order of the objects. A block is called as its array or its file is.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "features.npz"
    >>> np.savez(file, names=["a", "b"], clip=np.eye(2), words=np.ones((2, 1)))
    >>> found = read_features(file)
    >>> list(found), found["words"]
    (['clip', 'words'], {'a': array([1.]), 'b': array([1.])})
    """
    source = open_source(path)
    stem = PurePath(str(path)).name.split(".")[0] or str(path)
    if source.ending == ".npz":
        tables = _arrays(source)
    else:
        tables = {stem: _table(source, objects, False)}
    blocks: dict[str, dict[str, FloatArray] | FloatArray] = {}
    for name, table in tables.items():
        if table.rows.size == 0:
            raise FormatError(
                f"{source.label}: the array is empty, of shape {table.rows.shape}; features have "
                f"a row for each object and a column for each number"
            )
        if table.names is None and objects is not None:
            if len(objects) != len(table.rows):
                raise FormatError(
                    f"{source.label} has {len(table.rows):,} rows without names, but there are "
                    f"{len(objects):,} objects; list the objects of its rows, in their order, with "
                    f"{option('objects')}, or give the file names (.npz with names, or a table)"
                )
            table = VectorTable(list(objects), table.rows, None, table.columns)
            _check_names(table, source.label)
        # numpy calls arrays that were given no name so
        called = stem if len(tables) == 1 and re.fullmatch(r"vectors|arr_0", name) else name
        blocks[called] = table.vectors
    return blocks


def read_vector_table(path: PathLike, objects: Sequence[str] | None = None) -> VectorTable:
    """The vectors of a model, and which columns of the file they are."""
    return _table(open_source(path), objects, False)


def _table(source: Source, objects: Sequence[str] | None, numbers_only: bool) -> VectorTable:
    if source.ending in (".npy", ".npz"):
        arrays = _arrays(source)
        if len(arrays) > 1:
            raise FormatError(
                f"{source.label} contains the arrays {', '.join(arrays)}; "
                f"exactly one must hold (n, d) numbers"
            )
        (found,) = arrays.values()
    else:
        found = _columns(source)
    if not numbers_only:
        found = _first_as_names(found, objects)
    _check_names(found, source.label)
    return found


def _check_names(found: VectorTable, label: str) -> None:
    seen: set[str] = set()
    for name in found.names or ():
        if name in seen:
            raise FormatError(f"{label}: object {quoted(name)} has two rows; give it one")
        seen.add(name)


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


def read_matched_matrix(
    path: PathLike, objects: Sequence[str] | None = None
) -> tuple[FloatArray, bool]:
    """A matrix of numbers, and whether it was matched by names: ``.npy``, or text.

    Text may have names in the first row and column, as `trilens embed --distances` writes it;
    ``objects`` is then the order in which they are wanted, and some may be left out.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "distances.csv"
    >>> _ = file.write_text(",a,b,c\\na,0,1,2\\nb,1,0,3\\nc,2,3,0\\n")
    >>> read_matched_matrix(file, ["c", "a"])[0]
    array([[0., 2.],
           [2., 0.]])
    """
    source = open_source(path)
    if objects is not None and source.format == "text":
        table = small_table(source, _HOLDS)
        table.check_width()
        grid = table.rows
        named = [row[0] for row in grid[1:]]
        # so it is with the numbers of a symmetric matrix, where the corner is one as well
        has_names = not _is_number(grid[0][0]) or set(objects) <= set(named)
        if has_names and len(named) > 1 and sorted(grid[0][1:]) == sorted(named):
            return _named_matrix(grid, objects, source.label), True
    found = _table(source, None, True)
    if found.names is not None:
        raise FormatError(
            f"{path}: a matrix of distances contains only numbers, in the order of the objects; "
            f"leave the names out, or put them in the first row and in the first column"
        )
    return found.rows, False


def _named_matrix(grid: list[list[str]], objects: Sequence[str], label: str) -> FloatArray:
    """The numbers of a matrix with names, in the order of the objects."""
    row = {line[0]: i for i, line in enumerate(grid[1:])}
    column = {name: j for j, name in enumerate(grid[0][1:])}
    missing = [name for name in objects if name not in row]
    if missing:
        raise FormatError(
            f"{label}: the matrix lacks {len(missing):,} of {len(objects):,} objects: "
            f"{', '.join(map(quoted, missing[:5]))}"
        )
    lines = range(2, len(grid) + 1)
    cells = [
        _numbers([line[j + 1] for line in grid[1:]], lines, label, name)
        for name, j in column.items()
    ]
    at = [row[name] for name in objects], [column[name] for name in objects]
    return np.asarray(np.stack(cells, axis=1)[np.ix_(*at)])


def _arrays(source: Source) -> dict[str, VectorTable]:
    """The (n, d) arrays of numbers in a numpy file, by name, each with the names of its rows."""
    arrays = load_arrays(source, "a numpy file")
    if {"indices", "indptr", "shape", "data"} <= set(arrays):
        raise FormatError(
            f"{source.label} contains a sparse matrix of shape "
            f"{tuple(arrays['shape'].tolist())}; reduce it to a few hundred columns first, for "
            f"instance by scikit-learn's TruncatedSVD"
        )
    names = arrays.pop("names", None)
    tables = {k: v for k, v in arrays.items() if v.dtype.kind in "biuf" and v.ndim == 2}
    if not tables:
        shapes = ", ".join(f"{array.shape} {array.dtype}" for array in arrays.values())
        raise FormatError(
            f"{source.label} contains the arrays {shapes or 'none'}; "
            f"exactly one must hold (n, d) numbers"
        )
    listed = None if names is None else [str(name) for name in names.ravel().tolist()]
    found = {}
    for name, array in tables.items():
        if listed is not None and len(listed) != len(array):
            raise FormatError(f"{source.label}: {len(listed):,} names for {len(array):,} vectors")
        # without columns: an array's first number is a number
        found[name] = VectorTable(
            listed, array.astype(np.float64), None if listed is None else "names", ()
        )
        _check_names(found[name], source.label)
    return found


def _columns(source: Source) -> VectorTable:
    """The vectors of a table: which column has the names, and the numbers of the others."""
    table = small_table(source, _HOLDS)
    table.check_width()
    if table.names is None and _is_header(table.first):
        table = table.headed()
    header, columns, lines = table.names, table.columns(), table.lines
    called = header or [f"column {i + 1}" for i in range(len(columns))]
    at = None if header is None else _names_at(header)
    whole = next((i for i, name in enumerate(called) if name.casefold() in _VECTOR_COLUMNS), None)
    if at is None and whole is None and columns and not all(map(_is_number, columns[0])):
        at = 0
    passed = {at}
    if header is not None and at is not None:
        passed |= {i for i, name in enumerate(header) if name.strip().casefold() in _ROW_NUMBERS}
        passed |= {
            i
            for i, name in enumerate(header)
            if key(name) in TOLD and i != at and not all(map(_is_number, columns[i]))
        }
    coordinates = {i for i, name in enumerate(called) if re.fullmatch(r"x\d+", name)}
    if at is not None and "x1" in called:
        # a map that `trilens embed` wrote, with what else is known of the objects
        passed |= set(range(len(columns))) - coordinates
    used = [whole] if whole is not None else [i for i in range(len(columns)) if i not in passed]
    if whole is not None:
        rows = _whole_vectors(columns[whole], source.label)
    else:
        numbers = [_numbers(columns[i], lines, source.label, called[i]) for i in used]
        rows = np.stack(numbers, axis=1) if numbers else np.zeros((len(lines), 0))
    return VectorTable(
        None if at is None else [cell_text(name) or "" for name in columns[at]],
        rows,
        None if at is None else called[at] or "the first column",
        tuple(called[i] for i in used),
    )


def _is_header(first: Sequence[str]) -> bool:
    """Whether the first row of text names the columns: with words, or counting them."""
    counted = list(first[1:]) == [str(i) for i in range(len(first) - 1)]
    return (counted and _names_at(first) == 0) or not any(map(_is_number, (*first[1:], first[-1])))


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


def _whole_vectors(values: list[Any], label: str) -> FloatArray:
    try:
        rows = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise FormatError(
            f"{label}: every vector must have the same number of coordinates: {one_line(error, 80)}"
        ) from error
    return rows.reshape(len(values), -1) if len(values) else np.zeros((0, 0))


def _numbers(values: Sequence[Any], lines: Sequence[int], label: str, column: str) -> FloatArray:
    """A column of numbers; NaN where a cell is empty."""
    given = [np.nan if value is None or value == "" else value for value in values]
    try:
        return np.array([float(value) for value in given])
    except (TypeError, ValueError):
        at = next(i for i, value in enumerate(given) if not _is_number(value))
        seen = quoted(cell_text(values[at]) or "")
        raise FormatError(
            f"{label}, row {lines[at]:,}: {seen} is not a number (column "
            f"{quoted(column)}); a file of vectors has a column object and columns of numbers"
        ) from None


def _is_number(cell: Any) -> bool:
    return as_float(cell) is not None
