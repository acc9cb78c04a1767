"""A stretch of a file on its way to `Statements`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from trilens._typing import AnyArray, Int32Array
from trilens.errors import FormatError, StatementError
from trilens.files.cell import is_missing_word
from trilens.files.columns import Layout
from trilens.files.source import one_line, quoted
from trilens.statements import Kind, Statements
from trilens.statements.columns import text_array
from trilens.statements.shapes import Form
from trilens.statements.value import check_triples, chosen_first

if TYPE_CHECKING:
    from trilens.files.faults import Fault
    from trilens.files.names import Naming

_INTEGER_TEXT = r"^(?:0|-?[1-9][0-9]{0,17})$"

#: Rows of integer names that are looked up at a time: they stay in the cache.
_PIECE = 1 << 16


class StatementFile(Protocol):
    """What every kind of file is to those who read it."""

    @property
    def label(self) -> str:
        """How messages name it."""
        ...

    @property
    def kind(self) -> Kind | None:
        """The kind of statements that it tells by itself."""
        ...

    @property
    def stored(self) -> Naming | None:
        """All objects, where the file keeps a list of them."""
        ...

    @property
    def may_be_empty(self) -> bool:
        """Whether no rows may be meant; in text they are an accident."""
        ...

    @property
    def layout(self) -> Layout | None:
        """The columns that are read; None for arrays without columns."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What the values decided, once they have been read."""
        ...

    @property
    def faults(self) -> Sequence[Fault]:
        """Rows that could not even be cut into cells, where bad rows are skipped."""
        ...

    def batches(self, integers: bool, block_bytes: int | None = None) -> Iterator[Batch]:
        """The rows, in one batch or in batches of about ``block_bytes``; none is empty.

        With ``integers`` a batch whose objects' names are all plain integers comes as such,
        which is fast; otherwise, and wherever some name is no integer, names come as text.
        """
        ...


@dataclass(frozen=True)
class Batch:
    """Some rows of a file.

    ``table`` has the columns ``object_0`` ... ``object_2`` (or ``object_3``: the chosen one
    and the three shown; or the chosen one, the anchor and the two beside it), either all
    ``int32``/``int64`` or all dictionaries of text, without nulls; or positions in ``names``,
    where the file keeps a list. ``columns`` gives what else is known of the rows, by the fields
    of `Statements`.
    """

    table: Any
    label: str
    #: The file's own number of the row, from 1, for each row of the table, from 0.
    row_in_file: Callable[[int], int]
    columns: Callable[[Batch], dict[str, Any]]
    names: Sequence[str] | None = None
    form: Form = "statement"
    #: Where the chosen object stood among those shown, where answers are positions; -1: nowhere.
    positions: AnyArray | None = None
    #: Whether a wrong place is refused; otherwise it is -1.
    strict: bool = True

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def integers(self) -> bool:
        """Whether the names are integers."""
        return self.names is None and bool(pa.types.is_integer(self.table.schema.field(0).type))

    def as_text(self) -> Batch:
        """The same rows with names that are text."""
        if not self.integers:
            return self
        texts = [column.cast(pa.string()).dictionary_encode() for column in self.table.columns]
        return replace(self, table=pa.table(texts, self.table.column_names))

    def texts(self) -> list[tuple[AnyArray, Sequence[str]]]:
        """For each column that names objects, ``(m,)`` positions in a list of names."""
        if self.names is not None:
            return [(column.to_numpy(), self.names) for column in self.table.columns]
        return [parts(column) for column in self.as_text().table.columns]

    def pieces(self) -> Iterator[tuple[int, list[AnyArray]]]:
        """Integer names as arrays, a few thousand rows at a time, and where each piece begins."""
        start = 0
        for rows in self.table.to_batches(max_chunksize=_PIECE):
            yield start, [column.to_numpy() for column in rows.columns]
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
        given = ids
        columns = dict(self.columns(self))
        try:
            if self.form != "statement":
                given = ids[:, 1:] if ids.shape[1] == 4 else ids
                check_triples(given, n_objects)
                places = self._places(ids, names)
                if self.form == "shown":
                    columns["places"] = places
                    given = chosen_first(given, places)
                else:
                    swapped = np.where(places[:, None] == 0, given[:, 1:], given[:, :0:-1])
                    given = np.concatenate([given[:, :1], swapped], axis=1)
            return Statements(given, n_objects, names, kind, **columns)
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

    def _places(self, ids: Int32Array, names: tuple[str, ...] | None) -> AnyArray:
        """Where among the objects to choose from the chosen one stands."""
        if self.positions is not None:
            wrong = self.positions < 0
            if wrong.any():
                raise StatementError(
                    f"{self.place(int(wrong.argmax()))}: the answer is no position of an object "
                    f"that was shown; correct the row or leave it out "
                    f"({int(wrong.sum()):,} of {len(ids):,} rows are affected)"
                )
            return self.positions
        chosen, shown = ids[:, 0], ids[:, 1:] if self.form == "shown" else ids[:, 2:]
        is_chosen = shown == chosen[:, None]
        outside = ~is_chosen.any(axis=1)
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            among = ", ".join(_name(i, names) for i in shown[row].tolist())
            raise StatementError(
                f"{self.place(row)}: the chosen object {_name(int(chosen[row]), names)} is not "
                f"among the {'three' if self.form == 'shown' else 'two'} shown ({among}); correct "
                f"the row or leave it out ({int(outside.sum()):,} of {len(ids):,} rows are "
                f"affected)"
            )
        return np.asarray(is_chosen.argmax(axis=1))


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


def columns_of(
    table: Any, milli: bool = False, words: bool = False
) -> Callable[[Batch], dict[str, Any]]:
    """What a table tells besides the objects: ``rater``, ``round``, ``seconds``, ...

    ``milli`` says that the times are in ms, ``words`` that ``NA`` and its like are missing.
    """

    def columns(batch: Batch) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in table.column_names:
            column = table.column(name)
            if name == "rater":
                found["raters"] = _text(column, words)
            elif name == "round":
                found["rounds"] = _integers_or_text(column, words)
            elif name == "question":
                found["questions"] = _integers_or_text(column, words)
            elif name == "seconds":
                found["seconds"] = column.to_numpy() / 1000 if milli else column.to_numpy()
            elif name == "place":
                found["places"] = _place(column, batch)
        return found

    return columns


def _place(column: Any, batch: Batch) -> AnyArray:
    at, values = parts(column)
    # the last value serves the index -1 of a missing cell
    known = np.array([*({"0": 0, "1": 1, "2": 2}.get(value, -1) for value in values), -1])
    places = known[at]
    if len(places) and places.min() < 0 and batch.strict:
        row = int(places.argmin())
        cell = values[at[row]] if at[row] >= 0 else ""
        seen = quoted(cell) if cell else "an empty cell"
        raise FormatError(
            f"{batch.place(row)}: {seen} in column place; it says where on the screen the "
            f"chosen object stood, 0, 1 or 2: correct it or rename the column"
        )
    return places


def _text(column: Any, words: bool) -> AnyArray:
    """A text column as an array of str; empty where the cell is missing."""
    at, values = parts(column)
    if words:
        values = ["" if is_missing_word(value or "") else value for value in values]
    # the last value serves the index -1 of a missing cell
    return text_array([*(value or "" for value in values), ""])[at]


def _integers_or_text(column: Any, words: bool) -> AnyArray:
    """int64 where every cell is an integer in its plain form, text otherwise."""
    at, values = parts(column)
    plain = re.compile(_INTEGER_TEXT)
    if len(at) and at.min() >= 0 and all(value and plain.match(value) for value in values):
        return np.array([int(value) for value in values], dtype=np.int64)[at]
    return _text(column, words)


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
        f"fill it in, leave the row out, or skip_bad=True (--skip-bad)"
    )
