"""Tables become statements: written once, for files, DataFrames, Arrow tables and dicts.

Whatever the rows lie in is a `NamedTable`: Arrow tables with named columns and the number of
each row, some rows at a time. An `AnswerTable` knows which of its columns plays which role, and
yields `Batch`es: rows whose objects, raters and times are known by their meaning. An `ObjectList`
turns them into `Statements`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trilens._tabular import and_list
from trilens._typing import BoolArray
from trilens.errors import ParameterError, StatementError, option
from trilens.kinds import KINDS, Kind
from trilens.statements.batch import (
    Batch,
    Fault,
    are_chosen_by_name,
    distinct,
    numbers_in,
    parts,
    place,
    row_error,
    set_aside,
    texts_of,
)
from trilens.statements.cells import (
    EXACT_FLOAT,
    as_text,
    cell_text,
    decoded,
    encoded,
    has_zeros,
    is_number,
    is_text,
    list_of,
    missing_in,
    without_zeros,
    written_times,
    wrong_type,
)
from trilens.statements.columns import REASONS, SKIP_BAD, is_reason, one_line, quoted
from trilens.statements.layout import Layout, ReadOptions, find_layout, layout_error
from trilens.statements.names import FILL_IN, ObjectList, is_decimal, is_missing, nameless
from trilens.statements.positions import Positions, find_positions
from trilens.statements.roles import MILLISECONDS_FROM, OPTIONAL
from trilens.statements.selection import Condition

#: The key of an Arrow schema's metadata: JSON with ``kind`` and ``names``.
METADATA_KEY = b"trilens"
#: Rows of a typed table that tell what its columns hold.
SAMPLE_ROWS = 300
#: Response times that tell their unit.
ENOUGH = 1 << 17

#: The columns by which an export of `trilens survey` is known.
_OF_SURVEY = frozenset({"reason", "test", "counted"})
#: Why a question was put to the same rater again, on purpose.
REPEAT = "repeat"
#: What answers of a survey that are no part of the findings were given to.
_OWN_QUESTIONS = {REPEAT: "repeated questions", "test": "test questions"}
#: What an export puts in front of a name that a spreadsheet would take for a formula.
_APOSTROPHE = r"^'('*[=+\-@\t\r])"

#: The columns of roles, and further ones, by their positions.
Places: TypeAlias = Mapping[str, int]
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
    """Which rows and columns of a table are wanted."""

    #: The positions of the columns, and what for; they come in this order.
    columns: Mapping[int, Use]
    #: Whether objects may come as integers where all are; text only.
    integers: bool = True
    #: About how many bytes at a time; None: all at once.
    block_bytes: int | None = None
    #: Of tables that have them.
    groups: RowGroups | None = None
    #: Conditions that will be asked of the rows, by the positions of columns: a reader may leave
    #: out rows of which it knows that they do not hold.
    tests: tuple[tuple[int, Condition], ...] = ()


class Rows(NamedTuple):
    """Some rows: the wanted columns as an Arrow table, and the number of each row.

    With them come the rows that could not be cut into cells, and how many answers were empty.
    """

    table: Any
    number: Callable[[int], int]
    faults: tuple[Fault, ...] = ()
    empty: int = 0

    def where(self, good: BoolArray) -> Rows:
        """Some of the rows."""
        if good.all():
            return self
        kept = np.flatnonzero(good)
        return self._replace(
            table=self.table.take(kept), number=lambda row: self.number(int(kept[row]))
        )


@dataclass(frozen=True)
class NamedTable:
    """Rows with named columns, wherever they lie: what every reader of a format makes."""

    #: How messages name it; None for a table in memory, whose rows count from 0.
    label: str | None
    #: Of the columns; ``column 1``, ... where they have none.
    names: tuple[str, ...]
    #: Yields the rows that are wanted; each call from the first one on.
    read: Callable[[Request], Iterator[Rows]] = field(repr=False)
    #: Whether the names stand in the table.
    header: bool = True
    #: Whether columns have types of their own; in text, every cell tells.
    typed: bool = True
    #: Whether raters that are numbers stay so; in files they are text.
    keeps_numbers: bool = False
    #: Whether the kind that the names of the columns tell was meant.
    tells_kind: bool = True
    #: Of the Arrow schema: the kind and the names of all objects, perhaps.
    metadata: Mapping[bytes, bytes] | None = field(default=None, repr=False)
    #: The first rows as text, which tell what columns hold; by default they are read when asked.
    sample: Sequence[Sequence[str]] | None = field(default=None, repr=False)
    #: The row with the names, where that is a row of text.
    header_row: int | None = None
    #: Whether no rows may be meant; in text they are an accident.
    may_be_empty: bool = True
    #: Whether it has row groups, of which some can be read alone.
    has_groups: bool = False
    #: What to say of the file, such as which of its sheets was read.
    notes: Mapping[str, str] = field(default_factory=dict)
    #: What else the columns are called, such as the questions below the names of Qualtrics.
    titles: tuple[str, ...] = ()
    #: Columns that others were made of, and those made beside the answers: they are not unused.
    read_from: frozenset[str] = frozenset()
    #: What to say of empty answers, of which there are ``n``.
    counted: str = ""
    #: What to do if the answers are in another part of the file, such as another sheet.
    elsewhere: str = ""
    #: How many times below zero are taken as unknown.
    negative_times: int = 0

    @cached_property
    def first(self) -> Sequence[Sequence[str]]:
        """The first rows as text, read when they are asked for."""
        if self.sample is not None:
            return self.sample
        groups = RowGroups(0, 1, 1, SAMPLE_ROWS) if self.has_groups else None
        every: dict[int, Use] = dict.fromkeys(range(len(self.names)), "text")
        rows = next(self.read(Request(every, block_bytes=1 << 20, groups=groups)), None)
        if rows is None:
            return []
        columns = [
            [cell_text(cell) or "" for cell in column.slice(0, SAMPLE_ROWS).to_pylist()]
            for column in rows.table.columns
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    def first_cells(self, i: int) -> list[str]:
        """The first cells of a column that are not missing."""
        cells = (row[i].strip() for row in self.first if len(row) > i)
        return [cell for cell in cells if not is_missing(cell)]

    def holds_lists(self, i: int) -> bool:
        """Whether the cells of a column are lists: in brackets, or of several parts."""
        cells = self.first_cells(i)[:50]
        return bool(cells) and all(cell[:1] == "[" or len(list_of(cell)) > 1 for cell in cells)


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


@dataclass(frozen=True)
class AnswerTable:
    """A table of which it is known what its columns hold.

    ``kind`` is what the table tells by itself; ``stored`` are all objects, where it keeps a list
    of them; ``rater`` gave all of its answers, where its name says so.
    """

    table: NamedTable
    layout: Layout
    options: ReadOptions
    kind: Kind | None
    stored: ObjectList | None = None
    rater: str | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: NamedTable, options: ReadOptions) -> AnswerTable:
        """The columns of a table, found by the caller's word, their names or the metadata."""
        layout = find_layout(table, options)
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
        own = self.options.reason_random
        if own and at is None:
            raise layout_error(
                self.label,
                f"{option('reason_random')} needs the column that says why a question was asked; "
                f"name it with {option('columns', 'reason=?')}",
            )
        if at is None or named or own:
            return self
        words = set(self.table.first_cells(at))
        if not words or any(map(is_reason, words)):
            return self
        others = {role: i for role, i in self.layout.others.items() if role != "reason"}
        name = one_line(self.layout.names[at], 40)
        note = (
            f"column {name} is not used: unknown words ({quoted(min(words), 30)}; known ones are "
            f"{', '.join(REASONS)})"
        )
        return replace(self, layout=replace(self.layout, others=others), notes=(note,))

    @property
    def label(self) -> str | None:
        """How messages name it."""
        return self.table.label

    @cached_property
    def reason(self) -> int | None:
        """The column that says why a question was asked, in an export of `trilens survey`."""
        names = self.layout.names
        return names.index("reason") if set(names) >= _OF_SURVEY else None

    @cached_property
    def condition(self) -> int | None:
        """The column of such an export that says which condition a rater was in."""
        names = self.layout.names
        return names.index("condition") if {*names} >= {*_OF_SURVEY, "condition"} else None

    @cached_property
    def has_decimals(self) -> bool:
        """Whether some of the first objects are called by decimal numbers."""
        first = 0 if self.layout.form == "statement" else 1
        cells = (self.table.first_cells(at) for at in self.layout.objects[first:])
        return any(is_decimal(cell) for known in cells for cell in known)


@dataclass
class Pass:
    """One pass over a table: its batches, none of them empty, and what they showed."""

    of: AnswerTable
    #: The roles besides the objects that are wanted, as far as there are columns.
    fields: Sequence[str] = OPTIONAL
    #: Further columns, by their names or numbers.
    extra: Sequence[str] = ()
    #: Conditions that must hold.
    where: Sequence[Condition] = ()
    #: Whether rows for which they do not hold come too, marked as not asked for.
    every: bool = False
    #: Whether a batch whose objects are all plain integers comes as such, which is fast.
    integers: bool = True
    #: About how many bytes make a batch; None: all rows.
    block_bytes: int | None = None
    #: Of tables that have them.
    groups: RowGroups | None = None
    #: What was decided by the values, once they have been read, by what it is about.
    notes: dict[str, str] = field(default_factory=dict)
    #: Catch questions.
    checks: list[Batch] = field(default_factory=list)
    #: How many answers of a survey are set aside, by the reason for the question.
    aside: Counter[str] = field(default_factory=Counter)
    #: Rows that could not even be cut into cells, where bad rows are skipped.
    faults: list[Fault] = field(default_factory=list)
    #: The median of times that are called seconds and hardly are.
    slow: float | None = None
    conditions: set[str] = field(default_factory=set)
    #: Where each column that is wanted stands in the rows.
    _order: dict[int, int] = field(default_factory=dict)
    _empty: int = 0
    _unit: str | None = None
    _positions: Positions | None = None
    _known: bool = False

    @property
    def _layout(self) -> Layout:
        return self.of.layout

    @property
    def _label(self) -> str | None:
        return self.of.label

    def __iter__(self) -> Iterator[Batch]:
        table = self.of.table
        others = {
            role: at
            for role, at in self._layout.others.items()
            if role in self.fields and not (role == "rater" and self.of.rater is not None)
        }
        further = {name: self._layout.position(name, self._label) for name in self.extra}
        tests = [(self._tested(condition), condition) for condition in self.where]
        used = others | {role: at for (role, at), _ in tests if role is not None}
        every: dict[int, Use] = dict.fromkeys(self._layout.objects, "object")
        every |= {at: "time" if role == "seconds" else "text" for role, at in used.items()}
        # what is also wanted as it is written is read as text
        every |= dict.fromkeys(further.values(), "text")
        every |= {at: "text" for (role, at), _ in tests if role is None}
        reason = self.of.reason
        if reason is not None:
            every.setdefault(reason, "text")
        # whoever names the column knows of the conditions
        condition = None if self.of.condition in further.values() else self.of.condition
        if condition is not None:
            every.setdefault(condition, "text")
        self._order = {at: k for k, at in enumerate(every)}
        sorts = self._layout.unit == "s"
        groups = self.groups if table.has_groups else None
        request = Request(
            every,
            self.integers,
            self.block_bytes,
            groups,
            tuple((at, one) for (role, at), one in tests if role != "seconds" or sorts),
        )
        if groups is not None and "seconds" in used and self._told_unit is None:
            self._judge_ahead()
        for rows in table.read(request):
            self.faults += rows.faults
            self._empty += rows.empty
            if self._empty:
                self.notes["empty"] = table.counted.format(n=self._empty)
            if self.of.options.passes_over:
                rows = self._answers(rows)
            if self.of.options.skip_bad and "seconds" in used:
                rows = self._timed(rows, used["seconds"])
            if reason is not None and len(rows.table):
                rows = self._for_findings(rows, reason)
            if condition is not None:
                self._note_conditions(rows, condition)
            good = None
            if tests and len(rows.table):
                if self._layout.form != "statement" and not self._known:
                    self._batch(rows, {}, {})  # all rows tell what answers mean
                good = self._holding(rows, used, tests)
                rows = rows if self.every else rows.where(good)
            if len(rows.table):
                batch = self._batch(rows, others, further)
                if good is not None and self.every:
                    batch = batch.without(~good)
                batch, checks = set_aside(batch)
                if checks is not None:
                    self.checks.append(checks)
                if len(batch):
                    yield batch if self.integers else batch.as_text()

    def _column(self, rows: Rows, at: int) -> Any:
        return rows.table.column(self._order[at])

    def _tested(self, condition: Condition) -> tuple[str | None, int]:
        """The role, or None, and the position of the column that a condition is about."""
        if not condition.is_own:
            return None, self._layout.position(condition.column, self._label)
        role = condition.column.casefold()
        if role not in self._layout.others:
            where = "" if self._label is None else f"{self._label}: "
            known = ", ".join(self._layout.others) or "none"
            raise ParameterError(
                f"where '{condition}': {where}there is no column {condition.column!r}; "
                f"there are {known}"
            )
        return role, self._layout.others[role]

    def _answers(self, rows: Rows) -> Rows:
        """The rows that name an object; the others are no answers."""
        first = 0 if self._layout.form == "statement" else 1
        there = [~missing_in(self._column(rows, at)) for at in self._layout.objects]
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
            self.notes["skipped"] = ", ".join(told)
        return rows.where(answered)

    def _note_conditions(self, rows: Rows, at: int) -> None:
        """Say that several conditions are taken together, and how to take one."""
        values = pc.unique(decoded(self._column(rows, at)).cast(pa.string())).to_pylist()
        self.conditions.update(value for value in values if value)
        if len(self.conditions) > 1:
            found = sorted(self.conditions)
            one = f"--where 'condition={found[0]}'"
            self.notes["condition"] = f"{pooled(found)}; to take one: {one}"

    def _for_findings(self, rows: Rows, at: int) -> Rows:
        """The rows that tell of the objects: no test questions, and none that was repeated."""
        wanted = ["random", "adaptive", "shared"]
        if self.of.options.preset == "survey":
            wanted.append(REPEAT)
        reasons = decoded(self._column(rows, at)).cast(pa.string())
        good = pc.is_in(reasons, value_set=pa.array(wanted)).to_numpy(zero_copy_only=False)
        if not good.all():
            self.aside.update(reasons.filter(pa.array(~good)).to_pylist())
            self.notes["reason"] = f"not part of the findings: {own_questions(self.aside)}"
        return rows.where(good)

    def _holding(
        self, rows: Rows, used: Places, tests: Sequence[tuple[tuple[str | None, int], Condition]]
    ) -> BoolArray:
        """For which rows all conditions hold."""
        known = self._described(rows, used, {})
        good = np.ones(len(rows.table), dtype=np.bool_)
        for (role, at), condition in tests:
            if role is not None:
                values = known.known(role, strict=False)
            else:
                column = as_text(self._column(rows, at), self._layout.names[at], self._label)
                values = texts_of(column, known.words)
            # each different value is looked at once
            encoded = pa.array(values).dictionary_encode()
            each = np.array([*encoded.dictionary.to_pylist(), None], dtype=object)[:-1]
            good &= condition.holds(each)[encoded.indices.to_numpy(zero_copy_only=False)]
        return good

    def _described(self, rows: Rows, used: Places, further: Places) -> Batch:
        """What is known of the rows besides their objects."""
        names, label = self._layout.names, self._label
        others = {
            role: as_text(self._column(rows, at), names[at], label, keep_integers=True)
            for role, at in used.items()
            if role != "seconds"
        }
        if "seconds" in used:
            at = used["seconds"]
            others["seconds"] = self._seconds(self._column(rows, at), names[at], rows)
            if self._unit is None:
                self._judge_unit(others["seconds"])
        if self.of.rater is not None:
            one = pa.DictionaryArray.from_arrays(
                np.zeros(len(rows.table), dtype=np.int32), [self.of.rater]
            )
            others["rater"] = pa.chunked_array([one])
        return Batch(
            pa.table({}),
            label,
            rows.number,
            others,
            {k: as_text(self._column(rows, at), names[at], label) for k, at in further.items()},
            form=self._layout.form,
            milli=self._unit == "ms",
            words=not self.of.table.typed,
            text_raters=not self.of.table.keeps_numbers,
            random_words=self.of.options.reason_random,
        )

    def _batch(self, rows: Rows, used: Places, further: Places) -> Batch:
        objects = [
            self._objects(self._column(rows, at), self._layout.names[at], rows)
            for at in self._layout.objects
        ]
        if not all(pa.types.is_integer(column.type) for column in objects):
            objects = [encoded(column) for column in objects]
        named = pa.table(objects, [f"object_{j}" for j in range(len(objects))])
        batch = replace(self._described(rows, used, further), objects=named)
        return batch if batch.form == "statement" else self._with_positions(batch)

    def _with_positions(self, batch: Batch) -> Batch:
        """The same with answers that are positions taken as such."""
        chosen = batch.objects.column("object_0")
        if not self._known:
            names = [self._layout.names[at] for at in self._layout.objects]
            first = 1 if batch.form == "shown" else 2
            try:
                found = find_positions(
                    distinct(chosen),
                    lambda: are_chosen_by_name(batch),
                    names[0],
                    names[first:],
                    self.of.options.counts_from,
                )
            except StatementError as error:
                raise layout_error(self._label, error.message) from None
            self._positions, self._known = found, True
            if found is not None:
                self.notes["positions"] = f"{names[0]}: {found.words}"
        if self._positions is None:
            return batch
        if pa.types.is_integer(chosen.type):
            chosen = chosen.cast(pa.string())
        at, values = parts(chosen)
        # the last value serves the index -1 of a missing cell
        positions = self._positions.of([*values, ""])[at]
        return replace(batch, objects=batch.objects.drop_columns(["object_0"]), positions=positions)

    @property
    def _told_unit(self) -> str | None:
        return self._unit or self.of.options.unit or self._layout.unit

    def _judge_ahead(self) -> None:
        """Find the unit of times by the first rows of the table, whichever are wanted."""
        at = self._layout.others["seconds"]
        times: list[Any] = []
        for rows in self.of.table.read(Request({at: "time"}, block_bytes=8 * ENOUGH)):
            column = self._times(rows.table.column(0), self._layout.names[at])[0]
            times += column.chunks
            if sum(map(len, times)) >= ENOUGH:
                break
        if times:
            self._judge_unit(pa.chunked_array(times))

    def _judge_unit(self, column: Any) -> None:
        name = self._layout.read["seconds"]
        told = self._told_unit
        self._unit = told
        if told == "ms":
            self.notes["unit"] = f"{name} in ms"
            return
        values = numbers_in(column.slice(0, ENOUGH))
        values = values[np.isfinite(values)]
        if not len(values):
            return
        # halved, because the two in the middle may add up to more than a number can hold
        median = 2 * float(np.median(values / 2))
        if told == "s":
            self.slow = median if median >= MILLISECONDS_FROM else None
            return
        self._unit = "ms" if median >= MILLISECONDS_FROM else "s"
        self.notes["unit"] = f"{name} taken as {self._unit} (median {median:,.4g})"

    def _objects(self, column: Any, name: str, rows: Rows) -> Any:
        """Names as integers or as text; cells without a name are refused, or empty."""
        column = decoded(column)
        if pa.types.is_floating(column.type):
            column = self._whole(column, name, rows)
        if pa.types.is_null(column.type):
            column = column.cast(pa.string())
        if column.null_count:
            if not self.of.options.skip_bad:
                raise self._missing(int(missing_in(column).argmax()), "", name, rows)
            column = column.cast(pa.large_string()).fill_null("")
        if pa.types.is_integer(column.type):
            return column.cast(pa.large_string()) if column.type == pa.uint64() else column
        if not is_text(column.type):
            raise wrong_type(column, name, self._label, "object names are text or whole numbers")
        if self.of.reason is not None and not self.of.table.typed:
            column = pc.replace_substring_regex(column.cast(pa.string()), _APOSTROPHE, r"\1")
        column = encoded(column)
        if not (self.of.table.typed or self.of.has_decimals) and has_zeros(column):
            self.notes["zeros"] = "whole numbers such as 7.0 are taken as 7"
            return without_zeros(column, self.of.options.listed)
        return column

    def _missing(self, row: int, seen: str, name: str, rows: Rows) -> StatementError:
        problem = nameless(seen, f"column {one_line(name, 40)}")
        return StatementError(f"{place(self._label, rows.number(row))}: {problem}; {FILL_IN}")

    def _whole(self, column: Any, name: str, rows: Rows) -> Any:
        """Floating-point ids: what pandas makes of a column of integers with a gap."""
        values = column.cast(pa.float64()).fill_null(0).to_numpy()
        gaps = missing_in(column) | np.isnan(values)
        values = np.where(gaps, 0, values)
        wrong = ~(np.abs(values) < EXACT_FLOAT) | (values % 1 != 0)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise row_error(
                self._label,
                rows.number(row),
                f"{values[row]} in column {name} does not name an object; "
                f"object names are text or whole numbers",
            )
        if gaps.any() and not self.of.options.skip_bad:
            raise self._missing(int(gaps.argmax()), "nan", name, rows)
        return pa.chunked_array([pa.array(values.astype(np.int64), mask=gaps)])

    def _times(self, column: Any, name: str) -> tuple[Any, BoolArray]:
        """Times as numbers, all with a decimal point or all with a comma; and which are none."""
        column = decoded(column)
        if is_text(column.type):
            at, values = parts(column)
            times, wrong = written_times(values)
            return pa.chunked_array([times[at]]), np.isin(at, wrong)
        if pa.types.is_null(column.type):
            column = column.cast(pa.float64()).fill_null(np.nan)
        if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
            raise wrong_type(column, name, self._label, "seconds must be numbers")
        numbers = column.cast(pa.float64(), safe=False)
        seconds = numbers_in(numbers)
        return numbers, np.asarray((seconds < 0) & np.isfinite(seconds))

    def _seconds(self, column: Any, name: str, rows: Rows) -> Any:
        times, wrong = self._times(column, name)
        if wrong.any():
            row = int(wrong.argmax())
            cell = str(column[row].as_py())
            why = f" is not a number of seconds; correct it, leave the cell empty, or {SKIP_BAD}"
            if is_number(cell) and not cell.strip().startswith("-"):
                why = ": some numbers have a decimal comma and some a point; write all with a point"
            seen = f"{quoted(cell)} in column {one_line(name, 40)}"
            raise row_error(self._label, rows.number(row), f"{seen}{why}")
        return times

    def _timed(self, rows: Rows, at: int) -> Rows:
        """The rows without those whose time is none, which are skipped as bad ones."""
        column = self._column(rows, at)
        wrong = self._times(column, self._layout.names[at])[1]
        for row in np.flatnonzero(wrong).tolist():
            number, cell = rows.number(row), quoted(str(column[row].as_py()))
            cells = [str(each[row]) for each in rows.table.columns]
            fault = Fault(self._label or "", number, f"{cell} is not a time", ",".join(cells))
            self.faults.append(fault)
        return rows.where(~wrong)


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


def pooled(conditions: Sequence[str]) -> str:
    """That conditions of a survey are taken together.

    >>> pooled(["high", "low"])
    'conditions high and low are pooled'
    """
    return f"conditions {', '.join(conditions[:-1])} and {conditions[-1]} are pooled"


def own_questions(reasons: Mapping[str, int]) -> str:
    """The answers of a survey that are no part of the findings; empty where there are none.

    >>> own_questions({"test": 2, "repeat": 1200, "pilot": 5})
    '5 of reason pilot, 1,200 repeated questions and 2 test questions'
    """
    said = [
        f"{n:,} {_OWN_QUESTIONS.get(why, f'of reason {why}')}"
        for why, n in sorted(reasons.items(), key=str)
    ]
    return and_list(said) if said else ""
