"""Tables become statements: written once, for files, DataFrames, Arrow tables and dicts.

Whatever the rows lie in is a `NamedTable`: Arrow tables with named columns and the number of
each row, some rows at a time. An `AnswerTable` knows which of its columns plays which role, and
yields `Batch`es: rows whose objects, raters and times are known by their meaning. An `ObjectList`
turns them into `Statements`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trilens._typing import AnyArray, BoolArray
from trilens.errors import FormatError, ParameterError, StatementError
from trilens.kinds import KINDS, Kind
from trilens.statements.advice import likely_rater
from trilens.statements.batch import (
    Batch,
    Fault,
    are_chosen_by_name,
    distinct,
    parts,
    place,
    row_error,
    texts_of,
)
from trilens.statements.checks import set_aside
from trilens.statements.columns import REASONS, is_reason, one_line, quoted
from trilens.statements.layout import Layout, ReadOptions, find_layout, layout_error
from trilens.statements.names import ObjectList, is_integer, is_missing, missing_cell
from trilens.statements.positions import Positions, find_positions
from trilens.statements.roles import MILLISECONDS_FROM, OPTIONAL
from trilens.statements.selection import Condition

#: The key of an Arrow schema's metadata: JSON with ``kind`` and ``names``.
METADATA_KEY = b"trilens"
#: Rows of a typed table that tell what its columns hold.
SAMPLE_ROWS = 300
#: Response times that tell their unit.
ENOUGH = 1 << 17
_EXACT_FLOAT = 2.0**53

#: The columns by which an export of `trilens survey` is known.
_OF_SURVEY = frozenset({"reason", "test", "counted"})
#: How a note on answers begins that such an export has and the findings leave out.
NO_FINDINGS = "not part of the findings"
_REPEATS = ("repeat", "repeated")
#: How notes speak of questions that a survey put to the same rater again, on purpose.
ASKED_TWICE = "repeated questions"
#: How a note says that several conditions of a survey are taken together.
POOLED = "are pooled"
#: What an export puts in front of a name that a spreadsheet would take for a formula.
_APOSTROPHE = r"^'('*[=+\-@\t\r])"

#: What a column is wanted as: text is cut into cells, and these are converted, once.
Use = Literal["object", "time", "text"]


class RowGroups(NamedTuple):
    """Row groups ``start`` to ``stop`` (not included) of a Parquet file, so many rows at a time."""

    start: int
    stop: int | None
    first_row: int
    batch_rows: int


@dataclass(frozen=True)
class Request:
    """Which rows and columns of a table are wanted.

    Parameters
    ----------
    columns
        The positions of the columns, and what for; they come in this order.
    integers
        Whether objects may come as integers where all are; text only.
    block_bytes
        About how many bytes at a time; None: all at once.
    groups
        Of tables that have them.
    tests
        Conditions that will be asked of the rows, by the positions of columns: a reader may
        leave out rows of which it knows that they do not hold.
    """

    columns: Mapping[int, Use]
    integers: bool = True
    block_bytes: int | None = None
    groups: RowGroups | None = None
    tests: tuple[tuple[int, Condition], ...] = ()


class Rows(NamedTuple):
    """Some rows: the wanted columns as an Arrow table, and the number of each row."""

    table: Any
    number: Callable[[int], int]

    def where(self, good: BoolArray) -> Rows:
        """Some of the rows."""
        if good.all():
            return self
        kept = np.flatnonzero(good)
        return Rows(self.table.take(kept), lambda row: self.number(int(kept[row])))


@dataclass(frozen=True)
class NamedTable:
    """Rows with named columns, wherever they lie: what every reader of a format makes.

    Parameters
    ----------
    label
        How messages name it; None for a table in memory, whose rows count from 0.
    names
        Of the columns; ``column 1``, ... where they have none.
    read
        Yields the rows that are wanted; each call from the first one on.
    header
        Whether the names stand in the table.
    typed
        Whether columns have types of their own; in text, every cell tells.
    keeps_numbers
        Whether raters that are numbers stay so; in files they are text.
    tells_kind
        Whether the kind that the names of the columns tell was meant.
    metadata
        Of the Arrow schema: the kind and the names of all objects, perhaps.
    sample
        The first rows as text, which tell what columns hold; by default they are read when asked.
    header_row
        The row with the names, where that is a row of text.
    may_be_empty
        Whether no rows may be meant; in text they are an accident.
    has_groups
        Whether it has row groups, of which some can be read alone.
    faults
        Rows that could not be cut into cells, by their number, once they were read.
    notes
        What to say of the file, such as which of its sheets was read.
    titles
        What else the columns are called, such as the questions below the names of Qualtrics.
    read_from
        Columns that others were made of, and those made beside the answers: they are not unused.
    elsewhere
        What to do if the answers are in another part of the file, such as another sheet.
    """

    label: str | None
    names: tuple[str, ...]
    read: Callable[[Request], Iterator[Rows]] = field(repr=False)
    header: bool = True
    typed: bool = True
    keeps_numbers: bool = False
    tells_kind: bool = True
    metadata: Mapping[bytes, bytes] | None = field(default=None, repr=False)
    sample: Sequence[Sequence[str]] | None = field(default=None, repr=False)
    header_row: int | None = None
    may_be_empty: bool = True
    has_groups: bool = False
    faults: dict[int, Fault] = field(default_factory=dict, repr=False)
    notes: Mapping[str, str] = field(default_factory=dict)
    titles: tuple[str, ...] = ()
    read_from: frozenset[str] = frozenset()
    elsewhere: str = ""


class FirstRows(Sequence[Sequence[str]]):
    """The first rows of a table as text, read when they are asked for."""

    def __init__(self, table: NamedTable) -> None:
        self._table = table

    @cached_property
    def _rows(self) -> list[list[str]]:
        groups = RowGroups(0, 1, 1, SAMPLE_ROWS) if self._table.has_groups else None
        every: dict[int, Use] = dict.fromkeys(range(len(self._table.names)), "text")
        first = next(self._table.read(Request(every, block_bytes=1 << 20, groups=groups)), None)
        return [] if first is None else _written(first.table)

    @overload
    def __getitem__(self, at: int) -> Sequence[str]: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Sequence[str]]: ...
    def __getitem__(self, at: int | slice) -> Sequence[str] | Sequence[Sequence[str]]:
        return self._rows[at]

    def __len__(self) -> int:
        return len(self._rows)


def _written(table: Any) -> list[list[str]]:
    """The first rows of an Arrow table as text would have them."""
    columns = [
        ["" if cell is None else str(cell) for cell in column.slice(0, SAMPLE_ROWS).to_pylist()]
        for column in table.columns
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def named_table(label: str | None, table: Any, *, header: bool = True, **facts: Any) -> NamedTable:
    """An Arrow table that is in memory; without ``header`` its columns have no names."""
    first = 0 if label is None else 1

    def read(request: Request) -> Iterator[Rows]:
        yield Rows(table.select(list(request.columns)), counting(first))

    names = tuple(map(str, table.column_names))
    return NamedTable(label, names, read, header, metadata=table.schema.metadata, **facts)


def counting(start: int) -> Callable[[int], int]:
    """Rows that are numbered one after the other."""
    return lambda row: start + row


@dataclass
class Decided:
    """What the first rows decided, for all rows and for every pass over them."""

    unit: str | None = None
    positions: Positions | None = None
    known: bool = False
    notes: dict[str, str] = field(default_factory=dict)
    #: The catch questions of the last pass.
    checks: list[Batch] = field(default_factory=list)
    #: How many answers of a survey the last pass set aside, by the reason for the question.
    aside: Counter[str] = field(default_factory=Counter)
    #: The conditions of a survey in the last pass.
    conditions: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class AnswerTable:
    """A table of which it is known what its columns hold.

    Attributes
    ----------
    kind
        The kind of statements that the table tells by itself.
    stored : ObjectList or None
        All objects, where the table keeps a list of them.
    rater : str or None
        Who gave all of its answers, where its name says so.
    """

    table: NamedTable
    layout: Layout
    options: ReadOptions
    kind: Kind | None
    stored: ObjectList | None = None
    rater: str | None = None
    decided: Decided = field(default_factory=Decided, repr=False)

    @classmethod
    def of(cls, table: NamedTable, options: ReadOptions) -> AnswerTable:
        """The columns of a table, found by the caller's word, their names or the metadata."""
        layout = find_layout(
            table.names,
            options,
            table.label,
            header=table.header,
            rows=FirstRows(table) if table.sample is None else table.sample,
            row=table.header_row,
        )
        stored_kind, names = _stored(table.metadata)
        wanted = options.kind
        if layout.kind is None and None not in (wanted, stored_kind) and wanted != stored_kind:
            raise layout_error(
                table.label,
                f"the statements are of kind {stored_kind}, but kind {wanted} was asked for; "
                f"leave the kind out",
            )
        told = (layout.kind if table.tells_kind else None) or stored_kind
        by_names = names is not None and options.columns is None
        found = cls(table, layout, options, told, names if by_names else None)
        return found._without_strange_reasons()

    def _without_strange_reasons(self) -> AnswerTable:
        """A column that nobody named, of words that are no reasons for a question, is not used."""
        spec, at = self.options.columns, self.layout.others.get("reason")
        named = spec is not None and "reason" in (*(spec.names or ()), *dict(spec.mapping or ()))
        if at is None or named:
            return self
        rows = FirstRows(self.table) if self.table.sample is None else self.table.sample
        words = {row[at] for row in rows if at < len(row) and not is_missing(row[at])}
        if not words or any(map(is_reason, words)):
            return self
        others = {role: i for role, i in self.layout.others.items() if role != "reason"}
        self.decided.notes["reason"] = (
            f"column {one_line(self.layout.names[at], 40)} is not used: unknown words "
            f"({quoted(min(words), 30)}; known ones are {', '.join(REASONS)})"
        )
        return replace(self, layout=replace(self.layout, others=others))

    @property
    def label(self) -> str | None:
        """How messages name it."""
        return self.table.label

    @property
    def notes(self) -> list[str]:
        """What the values decided, once they have been read."""
        return [*self.table.notes.values(), *self.decided.notes.values()]

    @property
    def likely_rater(self) -> str | None:
        """The column that looks like the raters, where none is known."""
        layout = self.layout
        if "rater" in layout.others or self.rater is not None or not layout.left_out:
            return None
        rows = FirstRows(self.table) if self.table.sample is None else self.table.sample
        taken = {*layout.objects, *layout.others.values()}
        return likely_rater(layout.names, rows, layout.header, taken)

    @property
    def faults(self) -> list[Fault]:
        """Rows that could not even be cut into cells, where bad rows are skipped."""
        return [self.table.faults[row] for row in sorted(self.table.faults)]

    def batches(
        self,
        *,
        fields: Iterable[str] = OPTIONAL,
        extra: Sequence[str] = (),
        where: Sequence[Condition] = (),
        integers: bool = True,
        block_bytes: int | None = None,
        groups: RowGroups | None = None,
    ) -> Iterator[Batch]:
        """The rows, in one batch or in batches of about ``block_bytes``; none is empty.

        Parameters
        ----------
        fields
            The roles besides the objects that are wanted, as far as there are columns.
        extra
            Further columns, by their names or numbers.
        where
            Only rows for which all these hold.
        integers
            Whether a batch whose objects' names are all plain integers comes as such, which is
            fast; otherwise, and wherever some name is no integer, names come as text.
        """
        fields = set(fields)
        others = {
            role: at
            for role, at in self.layout.others.items()
            if role in fields and not (role == "rater" and self.rater is not None)
        }
        further = {name: self.layout.position(name, self.label) for name in extra}
        tests = [(self._tested(condition), condition) for condition in where]
        used = others | {role: at for (role, at), _ in tests if role is not None}
        every: dict[int, Use] = dict.fromkeys(self.layout.objects, "object")
        every |= {at: "time" if role == "seconds" else "text" for role, at in used.items()}
        # what is also wanted as it is written is read as text
        every |= dict.fromkeys(further.values(), "text")
        every |= {at: "text" for (role, at), _ in tests if role is None}
        reason = self._reason
        if reason is not None:
            every.setdefault(reason, "text")
        # whoever names the column knows of the conditions
        condition = None if self._condition in further.values() else self._condition
        if condition is not None:
            every.setdefault(condition, "text")
        order = {at: k for k, at in enumerate(every)}
        sorts = self.layout.unit == "s"
        groups = groups if self.table.has_groups else None
        request = Request(
            every,
            integers,
            block_bytes,
            groups,
            tuple((at, one) for (role, at), one in tests if role != "seconds" or sorts),
        )
        if groups is not None and "seconds" in used and self._told_unit is None:
            self._judge_ahead()
        self.decided.checks.clear()
        self.decided.aside.clear()
        self.decided.conditions.clear()
        for piece in self.table.read(request):
            rows = piece
            if self.options.passes_over:
                rows = self._answers(rows, order)
            if self.options.skip_bad and "seconds" in used:
                rows = self._timed(rows, order[used["seconds"]])
            if tests and len(rows.table):
                rows = self._holding(rows, order, used, tests)
            if reason is not None and len(rows.table):
                rows = self._for_findings(rows, order[reason])
            if condition is not None:
                self._note_conditions(rows, order[condition])
            if len(rows.table):
                batch, checks = set_aside(self._batch(rows, order, others, further))
                if checks is not None:
                    self.decided.checks.append(checks)
                if len(batch):
                    yield batch if integers else batch.as_text()

    def _tested(self, condition: Condition) -> tuple[str | None, int]:
        """The role, or None, and the position of the column that a condition is about."""
        if not condition.is_own:
            return None, self.layout.position(condition.column, self.label)
        role = condition.column.casefold()
        if role not in self.layout.others:
            where = "" if self.label is None else f"{self.label}: "
            known = ", ".join(self.layout.others) or "none"
            raise ParameterError(
                f"where '{condition}': {where}there is no column {condition.column!r}; "
                f"there are {known}"
            )
        return role, self.layout.others[role]

    def _answers(self, rows: Rows, order: Mapping[int, int]) -> Rows:
        """The rows that name an object; the others are no answers."""
        first = 0 if self.layout.form == "statement" else 1
        there = [~_missing_in(rows.table.column(order[at])) for at in self.layout.objects]
        named = np.all(there[first:], axis=0)
        answered = named & there[0]
        told = []
        for n, what in (
            (int((~named).sum()), "without objects"),
            (int((named & ~answered).sum()), "without an answer"),
        ):
            if n:
                told.append(f"{n:,} {'record' if n == 1 else 'records'} {what} skipped")
        if told:
            self.decided.notes["skipped"] = ", ".join(told)
        return rows.where(answered)

    @cached_property
    def _reason(self) -> int | None:
        """The column that says why a question was asked, in an export of `trilens survey`."""
        names = self.layout.names
        return names.index("reason") if set(names) >= _OF_SURVEY else None

    @cached_property
    def _condition(self) -> int | None:
        """The column of such an export that says which condition a rater was in."""
        names = self.layout.names
        return names.index("condition") if {*names} >= {*_OF_SURVEY, "condition"} else None

    def _note_conditions(self, rows: Rows, at: int) -> None:
        """Say that several conditions are taken together, and how to take one."""
        values = pc.unique(_decoded(rows.table.column(at)).cast(pa.string())).to_pylist()
        self.decided.conditions.update(value for value in values if value)
        if len(self.decided.conditions) > 1:
            found = sorted(self.decided.conditions)
            one = f"--where 'condition={found[0]}'"
            self.decided.notes["condition"] = f"{pooled(found)}; to take one: {one}"

    def _for_findings(self, rows: Rows, at: int) -> Rows:
        """The rows that tell of the objects: no test questions, and none that was repeated."""
        wanted = ["drawn", "random", "adaptive", "shared"]
        if self.options.preset == "survey":
            wanted += _REPEATS
        reasons = _decoded(rows.table.column(at)).cast(pa.string())
        good = pc.is_in(reasons, value_set=pa.array(wanted)).to_numpy(zero_copy_only=False)
        if not good.all():
            self.decided.aside.update(reasons.filter(pa.array(~good)).to_pylist())
            told = " and ".join(
                f"{n:,} {ASKED_TWICE if why in _REPEATS else f'of reason {why}'}"
                for why, n in sorted(self.decided.aside.items(), key=str)
            )
            self.decided.notes["reason"] = f"{NO_FINDINGS}: {told}"
        return rows.where(good)

    def _holding(
        self,
        rows: Rows,
        order: Mapping[int, int],
        used: Mapping[str, int],
        tests: Sequence[tuple[tuple[str | None, int], Condition]],
    ) -> Rows:
        """The rows for which all conditions hold."""
        known = self._described(rows, order, used)
        good = np.ones(len(rows.table), dtype=np.bool_)
        for (role, at), condition in tests:
            if role is not None:
                values = known.known(role, strict=False)
            else:
                column = _as_text(rows.table.column(order[at]), self.layout.names[at], self.label)
                values = texts_of(column, known.words)
            good &= distinct_holds(condition, values)
        return rows.where(good)

    def _described(
        self,
        rows: Rows,
        order: Mapping[int, int],
        used: Mapping[str, int],
        further: Mapping[str, int] | None = None,
    ) -> Batch:
        """What is known of the rows besides their objects."""
        names, label = self.layout.names, self.label
        columns = {at: rows.table.column(k) for at, k in order.items()}
        others = {
            role: _as_text(columns[at], names[at], label, keep_integers=True)
            for role, at in used.items()
            if role != "seconds"
        }
        if "seconds" in used:
            at = used["seconds"]
            others["seconds"] = self._seconds(columns[at], names[at], rows)
            if self.decided.unit is None:
                self._judge_unit(others["seconds"])
        if self.rater is not None:
            one = pa.DictionaryArray.from_arrays(
                np.zeros(len(rows.table), dtype=np.int32), [self.rater]
            )
            others["rater"] = pa.chunked_array([one])
        extra = (further or {}).items()
        return Batch(
            pa.table({}),
            label,
            rows.number,
            others,
            {name: _as_text(columns[at], names[at], label) for name, at in extra},
            form=self.layout.form,
            milli=self.decided.unit == "ms",
            words=not self.table.typed,
            text_raters=not self.table.keeps_numbers,
        )

    def _batch(
        self,
        rows: Rows,
        order: Mapping[int, int],
        used: Mapping[str, int],
        further: Mapping[str, int],
    ) -> Batch:
        objects = [
            self._objects(rows.table.column(order[at]), self.layout.names[at], rows)
            for at in self.layout.objects
        ]
        if not all(pa.types.is_integer(column.type) for column in objects):
            objects = [_encoded(column) for column in objects]
        named = pa.table(objects, [f"object_{j}" for j in range(len(objects))])
        batch = replace(self._described(rows, order, used, further), objects=named)
        return batch if batch.form == "statement" else self._with_positions(batch)

    def _with_positions(self, batch: Batch) -> Batch:
        """The same with answers that are positions taken as such."""
        chosen = batch.objects.column("object_0")
        if not self.decided.known:
            names = [self.layout.names[at] for at in self.layout.objects]
            first = 1 if batch.form == "shown" else 2
            try:
                found = find_positions(
                    distinct(chosen),
                    lambda: are_chosen_by_name(batch),
                    names[0],
                    names[first:],
                    self.options.counts_from,
                )
            except StatementError as error:
                raise layout_error(self.label, error.message) from None
            self.decided.positions, self.decided.known = found, True
            if found is not None:
                self.decided.notes["positions"] = f"{names[0]}: {found.words}"
        if self.decided.positions is None:
            return batch
        if pa.types.is_integer(chosen.type):
            chosen = chosen.cast(pa.string())
        at, values = parts(chosen)
        # the last value serves the index -1 of a missing cell
        positions = self.decided.positions.of([*values, ""])[at]
        return replace(batch, objects=batch.objects.drop_columns(["object_0"]), positions=positions)

    @property
    def _told_unit(self) -> str | None:
        return self.decided.unit or self.options.unit or self.layout.unit

    def _judge_ahead(self) -> None:
        """Find the unit of times by the first rows of the table, whichever are wanted."""
        at = self.layout.others["seconds"]
        times: list[Any] = []
        for rows in self.table.read(Request({at: "time"}, block_bytes=8 * ENOUGH)):
            column = self._seconds(rows.table.column(0), self.layout.names[at], rows)
            times += column.chunks
            if sum(map(len, times)) >= ENOUGH:
                break
        if times:
            self._judge_unit(pa.chunked_array(times))

    def _judge_unit(self, column: Any) -> None:
        name = self.layout.read["seconds"]
        told = self._told_unit
        if told is not None:
            self.decided.unit = told
            if told == "ms":
                self.decided.notes["unit"] = f"{name} in ms"
            return
        values = column.slice(0, ENOUGH).to_numpy()
        values = values[np.isfinite(values)]
        if not len(values):
            return
        median = float(np.median(values))
        self.decided.unit = "ms" if median >= MILLISECONDS_FROM else "s"
        self.decided.notes["unit"] = f"{name} taken as {self.decided.unit} (median {median:,.4g})"

    def _objects(self, column: Any, name: str, rows: Rows) -> Any:
        """Names as integers or as text; cells without a name are refused, or empty."""
        column = _decoded(column)
        if pa.types.is_floating(column.type):
            column = self._whole(column, name, rows)
        if pa.types.is_null(column.type):
            column = column.cast(pa.string())
        if column.null_count:
            if not self.options.skip_bad:
                missing = column.is_null().to_numpy(zero_copy_only=False).argmax()
                raise self._missing(int(missing), "", name, rows)
            column = column.cast(pa.large_string()).fill_null("")
        if pa.types.is_integer(column.type):
            return column.cast(pa.large_string()) if column.type == pa.uint64() else column
        if not _is_text(column.type):
            raise _wrong_type(column, name, self.label, "object names are text or whole numbers")
        if self._reason is not None and not self.table.typed:
            column = pc.replace_substring_regex(column.cast(pa.string()), _APOSTROPHE, r"\1")
        column = _encoded(column)
        if _has_zeros(column) and self._whole_ids:
            return _without_zeros(column)
        return column

    @cached_property
    def _whole_ids(self) -> bool:
        """Whether objects are whole numbers, some of them perhaps written as ``7.0``."""
        first = 0 if self.layout.form == "statement" else 1
        rows = FirstRows(self.table) if self.table.sample is None else self.table.sample
        cells = [
            row[at]
            for row in rows
            if len(row) == len(self.layout.names)
            for at in self.layout.objects[first:]
        ]
        known = [cell for cell in cells if not is_missing(cell)]
        return bool(known) and all(is_integer(cell.removesuffix(".0")) for cell in known)

    def _missing(self, row: int, seen: str, name: str, rows: Rows) -> StatementError:
        return missing_cell(
            place(self.label, rows.number(row)), seen, f"column {one_line(name, 40)}"
        )

    def _whole(self, column: Any, name: str, rows: Rows) -> Any:
        """Floating-point ids: what pandas makes of a column of integers with a gap."""
        gaps = column.is_null().to_numpy(zero_copy_only=False)
        values = column.cast(pa.float64()).fill_null(0).to_numpy()
        gaps |= np.isnan(values)
        values = np.where(gaps, 0, values)
        wrong = ~(np.abs(values) < _EXACT_FLOAT) | (values % 1 != 0)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise row_error(
                self.label,
                rows.number(row),
                f"{values[row]} in column {name} does not name an object; "
                f"object names are text or whole numbers",
            )
        if gaps.any() and not self.options.skip_bad:
            raise self._missing(int(gaps.argmax()), "nan", name, rows)
        return pa.chunked_array([pa.array(values.astype(np.int64), mask=gaps)])

    def _seconds(self, column: Any, name: str, rows: Rows) -> Any:
        column = _decoded(column)
        if _is_text(column.type):
            return self._written_seconds(column, name, rows)
        if pa.types.is_null(column.type):
            return pa.chunked_array([np.full(len(column), np.nan)])
        if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
            raise _wrong_type(column, name, self.label, "seconds must be numbers")
        times = column.cast(pa.float64(), safe=False)
        negative = _negative(times)
        if negative.any():
            row = int(negative.argmax())
            cell = str(column[row].as_py())
            raise not_seconds(self.label, rows.number(row), cell, name)
        return times

    def _written_seconds(self, column: Any, name: str, rows: Rows) -> Any:
        """Numbers that are written as text, all with a decimal point or all with a comma."""
        at, values = parts(column)
        times, wrong = written_times(values)
        if wrong:
            row = int(np.flatnonzero(np.isin(at, wrong))[0])
            cell = values[at[row]]
            mixed = is_number(cell) and not cell.strip().startswith("-")
            raise not_seconds(self.label, rows.number(row), cell, name, mixed=mixed)
        return pa.chunked_array([times[at]])

    def _timed(self, rows: Rows, at: int) -> Rows:
        """The rows without those whose time is none, which are skipped as bad ones."""
        column = _decoded(rows.table.column(at))
        if _is_text(column.type):
            index, values = parts(column)
            wrong = np.isin(index, written_times(values)[1])
        elif pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
            wrong = _negative(column.cast(pa.float64(), safe=False))
        else:
            return rows
        if not wrong.any():
            return rows
        for row in np.flatnonzero(wrong).tolist():
            number, cell = rows.number(row), quoted(str(column[row].as_py()))
            cells = [str(each[row]) for each in rows.table.columns]
            fault = Fault(self.label or "", number, f"{cell} is not a time", ",".join(cells))
            self.table.faults[number] = fault
        return rows.where(~wrong)


def _missing_in(column: Any) -> BoolArray:
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)


def _negative(times: Any) -> BoolArray:
    values = times.to_numpy()
    return np.asarray((values < 0) & np.isfinite(values))


def written_times(values: Sequence[str | None]) -> tuple[AnyArray, list[int]]:
    """Texts as numbers, NaN where missing and once more at the end; and which are none.

    >>> written_times(["2,5", "", "3", "1.5", "soon"])
    (array([2.5, nan, 3. , nan, nan, nan]), [3, 4])
    """
    times = np.full(len(values) + 1, np.nan)
    wrong: list[int] = []
    point: str | None = None
    for k, text in enumerate(values):
        if text is None or is_missing(text):
            continue
        marks = {",", "."} & set(text)
        point = point or next(iter(marks), None)
        time = float(text.replace(",", ".", 1)) if is_number(text) else -1.0
        if marks <= {point} and (time >= 0 or np.isinf(time)):
            times[k] = time
        else:
            wrong.append(k)
    return times, wrong


def is_number(cell: str) -> bool:
    """Whether a cell is a number, perhaps with a decimal comma.

    >>> [is_number(cell) for cell in ["7", "-0.5", "1e5", "2,281", "nan", "x7"]]
    [True, True, True, True, False, False]
    """
    try:
        value = float(cell.replace(",", ".", 1))
    except ValueError:
        return False
    return value == value


def not_seconds(
    label: str | None, number: int, cell: str, name: str, *, mixed: bool = False
) -> FormatError | StatementError:
    """The refusal of a cell that holds no time, or one written unlike the others."""
    seen = f"{quoted(cell)} in column {one_line(name, 40)}"
    if mixed:
        why = "some numbers have a decimal comma and some a point; write all with a point"
        return row_error(label, number, f"{seen}: {why}")
    return row_error(
        label,
        number,
        f"{seen} is not a number of seconds; correct it or leave the cell empty",
    )


def _stored(metadata: Mapping[bytes, bytes] | None) -> tuple[Kind | None, ObjectList | None]:
    """Kind and names from the metadata; what cannot be understood is not there."""
    try:
        facts = json.loads((metadata or {})[METADATA_KEY])
        names = facts["names"]
        kind = facts["kind"] if facts["kind"] in KINDS else None
        if names is None:
            return kind, ObjectList(None, int(facts["n_objects"]))
    except (KeyError, ValueError, TypeError):
        return None, None
    sound = (
        isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and len(set(names)) == len(names)
    )
    return kind, ObjectList.of(names) if sound else None


def _is_text(type_: Any) -> bool:
    return bool(
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or getattr(pa.types, "is_string_view", lambda _: False)(type_)
    ) or (pa.types.is_dictionary(type_) and _is_text(type_.value_type))


def pooled(conditions: Sequence[str]) -> str:
    """That conditions of a survey are taken together.

    >>> pooled(["high", "low"])
    'conditions high and low are pooled'
    """
    return f"conditions {', '.join(conditions[:-1])} and {conditions[-1]} {POOLED}"


def _decoded(column: Any) -> Any:
    """A dictionary of text as it is; of anything else, and with gaps, its values."""
    if not pa.types.is_dictionary(column.type):
        return column
    plain = pa.types.is_string(column.type.value_type) or pa.types.is_large_string(
        column.type.value_type
    )
    gaps = column.null_count or any(chunk.dictionary.null_count for chunk in column.chunks)
    if plain and not gaps:
        return column
    try:
        return column.cast(column.type.value_type)
    except pa.ArrowNotImplementedError:  # not every type of text has a cast
        return pa.chunked_array([pa.array(column.to_pylist())])


def _has_zeros(column: Any) -> bool:
    return any(
        (value or "").endswith(".0")
        for chunk in column.chunks
        for value in chunk.dictionary.to_pylist()
    )


def _without_zeros(column: Any) -> Any:
    """``7.0`` as ``7``: what pandas writes of a column of integers with a gap."""
    at, values = parts(column)
    texts = [
        value.removesuffix(".0") if value and is_integer(value.removesuffix(".0")) else value
        for value in values
    ]
    return _encoded(pa.chunked_array([pa.array(texts, pa.string()).take(pa.array(at))]))


def _encoded(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        return column
    if not pa.types.is_string(column.type):
        column = column.cast(pa.large_string())
    return column.dictionary_encode()


def _as_text(column: Any, name: str, label: str | None, *, keep_integers: bool = False) -> Any:
    """A column that says something of the answers, as text or as integers."""
    column = _decoded(column)
    if pa.types.is_dictionary(column.type) or (
        keep_integers and pa.types.is_integer(column.type) and column.type != pa.uint64()
    ):
        return column
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
        raise _wrong_type(column, name, label, "it must hold text or whole numbers")
    if pa.types.is_floating(column.type):
        values = column.cast(pa.float64()).to_numpy()
        if (np.abs(values) >= _EXACT_FLOAT).any():
            raise layout_error(
                label,
                f"column {one_line(name, 40)} has numbers too large to be kept digit by digit; "
                f"write them as text",
            )
        if (np.isnan(values) | (values % 1 == 0)).all():  # integers with a gap
            whole = np.nan_to_num(values).astype(np.int64)
            column = pa.chunked_array([pa.array(whole, mask=np.isnan(values))])
        elif np.isnan(values).any():
            column = pa.chunked_array([pa.array(values, from_pandas=True)])
    return _encoded(column)


def _wrong_type(
    column: Any, name: str, label: str | None, allowed: str
) -> FormatError | StatementError:
    return layout_error(
        label,
        f"column {one_line(name, 40)} holds {one_line(column.type, 60)}; "
        f"{allowed}: convert the column",
    )


def distinct_holds(condition: Condition, values: AnyArray) -> BoolArray:
    """As `Condition.holds`, each different value looked at once."""
    encoded = pa.array(values).dictionary_encode()
    each = np.empty(len(encoded.dictionary), dtype=object)
    each[:] = encoded.dictionary.to_pylist()
    found: BoolArray = condition.holds(each)[encoded.indices.to_numpy(zero_copy_only=False)]
    return found
