"""Rows by the value of a column, while they are read; and row groups that cannot have any."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from trilens._typing import AnyArray, BoolArray
from trilens.errors import FormatError, ParameterError
from trilens.files.batch import Batch
from trilens.files.columns import Layout
from trilens.files.faults import take_rows
from trilens.files.source import one_line
from trilens.files.spec import column_spec
from trilens.statements.frames import FIELD_COLUMNS
from trilens.statements.roles import OPTIONAL
from trilens.statements.selection import Condition

#: The roles whose cells are kept as they stand: a column of another name is read as one of them.
_AS_THEY_STAND = ("round", "question", "rater")
_FIELDS = {column: field for field, column in FIELD_COLUMNS.items()}


@dataclass(frozen=True)
class Sieve:
    """Conditions on the rows of a file.

    Attributes
    ----------
    conditions : tuple of Condition
        All must hold.
    roles : tuple of str
        What the column of each is read as: its own role, or another's that nothing asks for.
    layout : Layout, optional
        The file's, with these columns and no others besides the objects.
    """

    conditions: tuple[Condition, ...]
    roles: tuple[str, ...]
    layout: Layout | None

    @classmethod
    def of(cls, where: Sequence[str], layout: Layout | None, label: str) -> Sieve:
        """The sieve of a file whose columns are known.

        Raises
        ------
        FormatError, ParameterError
            Where a column is not there, or holds objects.
        """
        conditions = tuple(Condition.of(text) for text in where)
        own = {one.column.casefold() for one in conditions if one.is_own}
        free = [role for role in _AS_THEY_STAND if role not in own]
        at: dict[str, int] = {}
        taken: dict[str, str] = {}
        for condition in conditions:
            if condition.is_own:
                role = condition.column.casefold()
                if layout is not None:
                    at[role] = _own(condition, role, layout, label)
            elif layout is None:
                raise FormatError(f"{label}: no column {condition.column!r}; it has none by name")
            elif condition.column not in taken:
                if not free:
                    raise ParameterError(
                        f"where: {len(taken) + 1} further columns at a time; "
                        f"files are sifted by {len(taken)} at most"
                    )
                role = free.pop(0)
                at[role] = _further(condition.column, layout, label)
                taken[condition.column] = role
        if layout is not None:
            layout = replace(layout.bare, **at)  # type: ignore[arg-type]
        roles = tuple(taken.get(one.column, one.column.casefold()) for one in conditions)
        return cls(conditions, roles, layout)

    def holds(self, known: Mapping[str, Any], label: str) -> BoolArray:
        """For which rows all conditions hold; ``known`` are fields of `Statements`."""
        found: BoolArray | None = None
        for condition, role in zip(self.conditions, self.roles, strict=True):
            values = known.get(_FIELDS[role])
            if values is None:
                raise _no_column(condition, label, [])
            good = _holds(condition, np.asarray(values))
            found = good if found is None else found & good
        assert found is not None, "a sieve has conditions"
        return found

    def batches(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The rows for which the conditions hold; batches without any are left out."""
        for batch in batches:
            known = batch.columns(replace(batch, strict=False))
            good = self.holds(known, batch.label)
            if good.all():
                yield batch
            elif good.any():
                yield take_rows(batch, np.flatnonzero(good), known)

    def runs(self, facts: Any, start: int, stop: int, first_row: int) -> Iterator[tuple[int, ...]]:
        """Runs of row groups of a Parquet file that may have rows for which the conditions hold.

        Parameters
        ----------
        facts : pyarrow.parquet.FileMetaData
        start, stop : int
            Row groups from, to (not included).
        first_row : int
            The file's number of the first row of ``start``.

        Yields
        ------
        tuple of int
            From, to (not included), and the number of the first row.
        """
        assert self.layout is not None
        where = {facts.schema.column(i).path: i for i in range(facts.num_columns)}
        tests = []
        for condition, role in zip(self.conditions, self.roles, strict=True):
            at = where.get(self.layout.names[getattr(self.layout, role)])
            if at is not None and (role != "seconds" or self.layout.unit == "s"):
                tests.append((at, condition, _sort(facts.schema.column(at))))
        row, low = first_row, start
        begin = row
        for group in range(start, stop):
            here = facts.row_group(group)
            if not all(_may_hold(one, here.column(at), sort) for at, one, sort in tests):
                if low < group:
                    yield low, group, begin
                low, begin = group + 1, row + here.num_rows
            row += here.num_rows
        if low < stop:
            yield low, stop, begin


def sifted(
    table: Any, good: BoolArray, row_in_file: Callable[[int], int]
) -> tuple[Any, Callable[[int], int]]:
    """Some rows of a table, and the numbers that they have in the file."""
    if good.all():
        return table, row_in_file
    rows = np.flatnonzero(good)
    return table.take(rows), lambda row: row_in_file(int(rows[row]))


def _own(condition: Condition, role: str, layout: Layout, label: str) -> int:
    found = getattr(layout, role)
    if found is None:
        known = [name for name in OPTIONAL if getattr(layout, name) is not None]
        raise _no_column(condition, label, known)
    return int(found)


def _further(name: str, layout: Layout, label: str) -> int:
    spec = column_spec({"round": name})
    assert spec is not None
    names = layout.names if layout.header else None
    found = spec.positions(names, layout.n_columns, label)["round"]
    if found in layout.objects:
        raise FormatError(
            f"{label}: column {one_line(name, 40)!r} holds objects; give a column that says "
            f"something of the answers or of their raters"
        )
    return found


def _no_column(condition: Condition, label: str, known: Sequence[str]) -> ParameterError:
    return ParameterError(
        f"where '{condition}': {label} has no column {condition.column!r}; there are "
        f"{', '.join(known) or 'none'}"
    )


def _holds(condition: Condition, values: AnyArray) -> BoolArray:
    """As `Condition.holds`, each different value looked at once."""
    encoded = pa.array(values).dictionary_encode()
    each = np.empty(len(encoded.dictionary), dtype=object)
    each[:] = encoded.dictionary.to_pylist()
    found: BoolArray = condition.holds(each)[encoded.indices.to_numpy(zero_copy_only=False)]
    return found


def _sort(column: Any) -> str:
    """What the bounds of a column of a Parquet file can be compared with; "" for nothing."""
    physical, logical = str(column.physical_type), str(column.logical_type)
    if physical in ("INT32", "INT64") and (logical == "None" or "isSigned=true" in logical):
        return "whole"
    if physical == "DOUBLE" and logical == "None":
        return "real"
    if physical == "BYTE_ARRAY" and logical == "String":
        return "text"
    return "date" if logical == "Date" else ""


def _may_hold(condition: Condition, chunk: Any, sort: str) -> bool:
    """Whether a condition may hold for a row of a row group, by what the file says of it.

    Where the file says nothing, or nothing that compares as the values do, it may.
    """
    if not sort or not condition.value or not chunk.is_stats_set:
        return True  # an empty value is looked for in cells, present or missing
    try:
        facts = chunk.statistics
        none = facts.has_null_count and facts.null_count == chunk.num_values
        if none:
            return condition.comparison == "!="
        if not facts.has_min_max:
            return True
        whole = facts.has_null_count and not facts.null_count
        return _overlaps(condition, facts.min, facts.max, sort, whole)
    except (ValueError, TypeError, OverflowError):  # bounds that are no such values
        return True


def _overlaps(condition: Condition, low: Any, high: Any, sort: str, whole: bool) -> bool:
    """Whether it may hold between two bounds; ``whole``: no cell is missing."""
    value: Any = condition.value
    if sort in ("whole", "real"):
        low, high, value = float(low), float(high), float(value)
        if not np.isfinite(value) or np.isnan(low) or np.isnan(high):
            return True
        if condition.comparison in ("<", "<="):
            return bool(condition.holds(np.array([low]))[0])
        if condition.comparison in (">", ">="):
            return bool(condition.holds(np.array([high]))[0])
    elif condition.comparison not in ("=", "!="):
        return True  # texts that are numbers do not stand in the order of numbers
    elif sort == "date":
        value = datetime.date.fromisoformat(value)
        if value.isoformat() != condition.value:
            return True
    elif _is_number(value):
        return True  # 3 is also 3.0
    if condition.comparison == "!=":
        # a number that is none is outside of the bounds
        return not (whole and sort != "real" and low == high == value)
    return bool(low <= value <= high)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
