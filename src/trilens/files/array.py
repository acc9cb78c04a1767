"""Arrays of others: ``.npy``, MATLAB's ``.mat``, and cblearn's ``X`` and ``y``."""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import Any

import numpy as np

from trilens._typing import AnyArray
from trilens.errors import FormatError
from trilens.files.asked import Asked
from trilens.files.matlab import MatlabError, read_matlab
from trilens.files.record import table_of_columns
from trilens.files.source import Source, one_line
from trilens.files.tables import TableFile, table_of, undecodable
from trilens.statements.columns import are_whole

_X = ("X", "triplets", "triplet", "data", "queries", "triples")
_Y = ("y", "response", "responses", "answers", "target")


def open_array(source: Source, asked: Asked) -> TableFile:
    """An ``.npy`` file: (m, 3) ids or names, or a structured array with named columns."""
    try:
        array = np.load(BytesIO(source.read()), allow_pickle=False)
    except FormatError:
        raise
    except (Exception, MemoryError) as error:
        raise undecodable(source, "an NPY file", error) from error
    if not isinstance(array, np.ndarray):
        raise FormatError(f"{source.label} is not an NPY file; give it the ending of its format")
    return table_of_array(source, asked, array)


def open_matlab(source: Source, asked: Asked) -> TableFile:
    """A MATLAB file: its one (m, 3) matrix, or the variable after ``::``."""
    arrays = _matlab(source)
    if asked.preset == "cblearn":
        return open_pair(source, asked, arrays)
    if source.part is not None:
        if source.part not in arrays:
            raise FormatError(
                f"{source.label}: no variable {one_line(source.part, 40)}; "
                f"the variables are {one_line(', '.join(arrays), 120)}"
            )
        return table_of_array(source, asked, arrays[source.part])
    fitting = [name for name, array in arrays.items() if array.ndim == 2 and array.shape[1] == 3]
    if len(fitting) != 1:
        seen = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise FormatError(
            f"{source.label}: {'no' if not fitting else len(fitting)} variables are (m, 3) "
            f"matrices; the variables are {one_line(seen, 120) or 'none'}: name one, such as "
            f"{source.label}::{one_line(fitting[0] if fitting else 'triples', 40)}"
        )
    return table_of_array(source, asked, arrays[fitting[0]])


def open_cblearn(source: Source, asked: Asked) -> TableFile:
    """An NPZ file with cblearn's ``X`` and ``y``."""
    try:
        with np.load(BytesIO(source.read()), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except FormatError:
        raise
    except (Exception, MemoryError) as error:
        raise undecodable(source, "an NPZ file", error) from error
    return open_pair(source, asked, arrays)


def open_pair(source: Source, asked: Asked, arrays: dict[str, AnyArray]) -> TableFile:
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
        return table_of(source, asked, _three(X, ("anchor", "near", "far")))
    y = np.asarray(arrays[at_y]).ravel()
    if len(y) != len(X):
        raise FormatError(f"{source.label}: X has {len(X):,} rows, but y has {len(y):,}")
    seen = set(np.unique(y).tolist())
    if y.dtype == np.bool_ or -1 in seen:
        if not seen <= {-1, 1, False} or {-1, 0} <= seen:
            raise FormatError(f"{source.label}: y must be +1 and -1, or True and False")
        swap = (y == -1) | (y == 0)
        X = np.where(swap[:, None], X[:, [0, 2, 1]], X)
        return table_of(source, asked, _three(X, ("anchor", "near", "far")))
    if not seen <= {0, 1, 2}:
        raise FormatError(f"{source.label}: y must be +1 and -1, booleans, or positions 0, 1, 2")
    if asked.kind not in ("central", "odd"):
        raise FormatError(
            f"{source.label}: y holds positions; was the most central or the odd object chosen? "
            f"Say which with kind= (--kind)"
        )
    at = y.astype(np.intp)
    chosen = np.take_along_axis(X, at[:, None], axis=1)
    table = _three(np.hstack([chosen, X]), ("chosen", "shown_1", "shown_2", "shown_3"))
    return table_of(source, asked, table)


def table_of_array(source: Source, asked: Asked, array: AnyArray) -> TableFile:
    """The columns of an array; they have names where it is a structured one."""
    if array.dtype.names:
        columns = {name: array[name].ravel().tolist() for name in array.dtype.names}
        return table_of(source, asked, table_of_columns(columns))
    cells = _cells(array, source.label)
    names = tuple(f"column {i + 1}" for i in range(cells.shape[1]))
    if asked.preset == "cblearn":
        return open_pair(source, asked, {"X": array})
    return table_of(source, asked, _three(cells, names), header=False)


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
    import pyarrow as pa

    try:
        return pa.table(
            {name: pa.array(np.ascontiguousarray(cells[:, i])) for i, name in enumerate(names)}
        )
    except (pa.ArrowException, UnicodeError) as error:
        raise FormatError(f"the array makes no table: {one_line(error)}") from error


def _matlab(source: Source) -> dict[str, AnyArray]:
    data = source.read()
    if data.startswith((b"MATLAB 7.3", b"\x89HDF")):
        raise FormatError(f"{source.label} is a MATLAB 7.3 file; save it with save(..., '-v7')")
    try:
        return read_matlab(data)
    except (MatlabError, zlib.error, UnicodeError, RecursionError, MemoryError) as error:
        raise undecodable(source, "a MATLAB file", error) from error
