"""A stretch of a file on its way to `Statements`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from trilens._typing import AnyArray, Int32Array
from trilens.errors import StatementError
from trilens.formats.source import one_line, quoted
from trilens.statements import Kind, Statements
from trilens.statements.value import check_triples

_INTEGER_TEXT = r"^(?:0|-?[1-9][0-9]{0,17})$"

#: Rows of integer names that are looked up at a time: they stay in the cache.
_PIECE = 1 << 16

#: Beyond this, one long rater name would make a fixed-width array of text explode.
_FIXED_WIDTH = 64


#: How the names of objects are read: as integers, which is fast, or as text, which is general.
Mode: TypeAlias = Literal["integers", "text"]


class NotIntegers(Exception):
    """The objects' names are not all plain integers: read them as text."""


@dataclass(frozen=True)
class Batch:
    """Some rows of a file.

    ``table`` has the columns ``object_0`` ... ``object_2`` (or ``object_3``: the chosen one
    and the three shown), either all ``int32``/``int64`` or all dictionaries of text, without
    nulls, and where present ``rater``, ``round`` (text) and ``seconds`` (float64).
    """

    table: Any
    label: str
    #: The file's own number of the row, from 1, for each row of the table, from 0.
    row_in_file: Callable[[int], int]

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def objects(self) -> list[Any]:
        """The columns that name objects."""
        return [
            self.table.column(name)
            for name in self.table.column_names
            if name.startswith("object_")
        ]

    @property
    def n_columns(self) -> int:
        """How many columns name objects."""
        return sum(name.startswith("object_") for name in self.table.column_names)

    def pieces(self) -> Iterator[tuple[int, list[AnyArray]]]:
        """Integer names as arrays, a few thousand rows at a time, and where each piece begins."""
        start = 0
        for rows in self.table.to_batches(max_chunksize=_PIECE):
            yield start, [rows.column(j).to_numpy() for j in range(self.n_columns)]
            start += rows.num_rows

    def place(self, row: int) -> str:
        """How a message names a row of this batch."""
        return f"{self.label}, row {self.row_in_file(row):,}"

    def to_statements(
        self,
        ids: Int32Array,
        kind: Kind,
        n_objects: int,
        names: tuple[str, ...] | None,
    ) -> Statements:
        """Statements of rows whose objects have become ids.

        Parameters
        ----------
        ids : (m, 3) or (m, 4) int32
            Four: the chosen object and the three that were shown.
        """
        columns = set(self.table.column_names)
        given = ids
        try:
            if ids.shape[1] == 4:
                given = ids[:, 1:]
                check_triples(given, n_objects)
                given = self._chosen_first(ids, names)
            return Statements(
                given,
                n_objects,
                names,
                kind,
                _text(self.table.column("rater")) if "rater" in columns else None,
                _integers_or_text(self.table.column("round")) if "round" in columns else None,
                self.table.column("seconds").to_numpy() if "seconds" in columns else None,
            )
        except StatementError as error:
            if error.row is None:
                raise
            raise self._repeated(given, error.row, names) from None

    def _repeated(self, ids: Int32Array, row: int, names: tuple[str, ...] | None) -> StatementError:
        x, y, z = ids[row].tolist()
        a, b, c = ids.T
        n_bad = int(((a == b) | (a == c) | (b == c)).sum())
        return StatementError(
            f"{self.place(row)}: object {_name(x if x in (y, z) else y, names)} appears twice in "
            f"one statement; a statement names three different objects "
            f"({n_bad:,} of {len(ids):,} rows are affected)"
        )

    def _chosen_first(self, ids: Int32Array, names: tuple[str, ...] | None) -> Int32Array:
        chosen, shown = ids[:, 0], ids[:, 1:]
        is_chosen = shown == chosen[:, None]
        outside = ~is_chosen.any(axis=1)
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            among = ", ".join(_name(i, names) for i in shown[row].tolist())
            raise StatementError(
                f"{self.place(row)}: the chosen object {_name(int(chosen[row]), names)} is not "
                f"among the three shown ({among}); correct the row or leave it out "
                f"({int(outside.sum()):,} of {len(ids):,} rows are affected)"
            )
        order = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]], dtype=np.intp)
        return np.take_along_axis(shown, order[is_chosen.argmax(axis=1)], axis=1)


def _name(identity: int, names: tuple[str, ...] | None) -> str:
    return quoted(str(identity) if names is None else names[identity])


def parts(column: Any) -> tuple[AnyArray, list[str]]:
    """``(m,)`` indices and the values of a dictionary column (or of text, encoded)."""
    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.large_string()).dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], column.type)
    indices = whole.indices.fill_null(-1) if whole.null_count else whole.indices
    return indices.to_numpy(zero_copy_only=False), whole.dictionary.to_pylist()


def _text(column: Any) -> AnyArray:
    """A text column as an array of str; empty where the cell is missing."""
    at, values = parts(column)
    width = max(map(len, values), default=0)
    # the last value serves the index -1 of a missing cell
    listed = np.array([*(value or "" for value in values), ""], dtype=object)
    if width <= _FIXED_WIDTH and not any(value and value.endswith("\0") for value in values):
        return listed.astype(f"U{max(width, 1)}")[at]
    return listed[at]


def _integers_or_text(column: Any) -> AnyArray:
    """int64 where every cell is an integer in its plain form, text otherwise."""
    at, values = parts(column)
    plain = re.compile(_INTEGER_TEXT)
    if len(at) and at.min() >= 0 and all(value and plain.match(value) for value in values):
        return np.array([int(value) for value in values], dtype=np.int64)[at]
    return _text(column)


def first_null(column: Any) -> int | None:
    """The first row without a value, or None."""
    if not column.null_count:
        return None
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return int(np.flatnonzero(missing)[0])


def missing_cell(batch: Batch, row: int, seen: str, column: str) -> StatementError:
    """The refusal of a cell without an object."""
    what = "an empty cell" if not seen.strip() else quoted(seen)
    return StatementError(
        f"{batch.place(row)}: {what} in {one_line(column, 40)} names no object; "
        f"fill it in or leave the row out"
    )
