"""Parquet and Arrow (Feather): tables that have their own column names and types."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from trilens.files.source import Source, decoding, owned
from trilens.statements.cells import as_float
from trilens.statements.selection import Condition
from trilens.statements.table import (
    SAMPLE_ROWS,
    NamedTable,
    Request,
    RowGroups,
    Rows,
    counting,
)


def open_parquet(source: Source) -> NamedTable:
    """A Parquet file."""
    import pyarrow.parquet as pq

    def opened(**more: Any) -> Any:
        # a damaged page is refused, where whoever wrote the file kept its checksum
        return pq.ParquetFile(_handle(source), page_checksum_verification=True, **more)

    with decoding(source, "a Parquet file"):
        data = opened(pre_buffer=True)
        schema = data.schema_arrow
        facts = data.metadata
        sizes = [facts.row_group(i).total_byte_size for i in range(facts.num_row_groups)]
        per_row = sum(sizes) // max(facts.num_rows, 1) + 1
    names = tuple(schema.names)
    distinct = len(set(names)) == len(names)

    def read(request: Request) -> Iterator[Rows]:
        wanted = list(request.columns)
        # a column that shares its name with another is told by its place among all
        columns = [names[at] for at in wanted] if distinct else None
        picked = wanted if columns is None else columns
        with decoding(source, "a Parquet file"):
            if request.block_bytes is None and request.groups is None:
                yield Rows(_checked(opened().read(columns).select(picked)), counting(1))
                return
            groups = request.groups or RowGroups(
                0, None, 1, max((request.block_bytes or 0) // per_row, 1)
            )
            file = data if request.groups is not None else opened()
            tests = [(names[at], condition) for at, condition in request.tests]
            for low, high, row in _runs(file.metadata, groups, tests):
                for batch in file.iter_batches(
                    groups.batch_rows,
                    list(range(low, high)),
                    columns,
                    use_threads=request.groups is None,
                ):
                    table = pa.Table.from_batches([batch]).select(picked)
                    # a count, which comes after a first look, trusts what the checksums say
                    counts = request.groups is not None and groups.batch_rows > SAMPLE_ROWS
                    yield Rows(table if counts else _checked(table), counting(row))
                    row += batch.num_rows

    return NamedTable(source.label, names, read, metadata=schema.metadata, has_groups=True)


def open_arrow(source: Source) -> NamedTable:
    """An Arrow or Feather file, or an Arrow stream."""

    def reader() -> Any:
        handle = _handle(source)
        try:
            return pa.ipc.open_file(handle)
        except pa.ArrowInvalid:
            handle.seek(0)
            return pa.ipc.open_stream(handle)

    with decoding(source, "an Arrow file"):
        schema = reader().schema

    def read(request: Request) -> Iterator[Rows]:
        wanted = list(request.columns)
        with decoding(source, "an Arrow file"):
            file = reader()
            if request.block_bytes is None:
                yield Rows(_checked(file.read_all()).select(wanted), counting(1))
                return
            start = 1
            is_file = isinstance(file, pa.ipc.RecordBatchFileReader)
            stored = map(file.get_batch, range(file.num_record_batches)) if is_file else file
            for batch in stored:
                table = _checked(pa.Table.from_batches([batch])).select(wanted)
                step = max(request.block_bytes * batch.num_rows // max(batch.nbytes, 1), 1)
                for first in range(0, batch.num_rows, step):
                    yield Rows(table.slice(first, step), counting(start + first))
                start += batch.num_rows

    return NamedTable(source.label, tuple(schema.names), read, metadata=schema.metadata)


def parquet_rows(source: Source) -> list[int]:
    """The number of rows of each row group."""
    import pyarrow.parquet as pq

    with decoding(source, "a Parquet file"):
        facts = pq.ParquetFile(_handle(source)).metadata
        return [facts.row_group(group).num_rows for group in range(facts.num_row_groups)]


def _handle(source: Source) -> Any:
    if source.path is not None and not source.packing:
        # opened and closed for its errors: pyarrow's own do not tell them apart
        with source.open():
            pass
        return pa.OSFile(str(source.path), "rb")
    if not source.packing and source.stored is not None and not isinstance(source.stored, bytes):
        source.stored.seek(0)
        return pa.PythonFile(source.stored, "r")  # a URL: only what is needed is fetched
    return pa.BufferReader(owned(source.read()))


def _checked(table: Any) -> Any:
    """A table whose buffers are known to be sound: pyarrow trusts them, whoever wrote them."""
    table.validate(full=True)
    return table


def _runs(
    facts: Any, groups: RowGroups, tests: Sequence[tuple[str, Condition]]
) -> Iterator[tuple[int, int, int]]:
    """Runs of row groups that may have rows for which the conditions hold.

    Each is told by where it begins, where it ends (not included), and the number of its first row.
    """
    stop = facts.num_row_groups if groups.stop is None else groups.stop
    where = {facts.schema.column(i).path: i for i in range(facts.num_columns)}
    known = [(where[name], condition) for name, condition in tests if name in where]
    row, low = groups.first_row, groups.start
    begin = row
    for group in range(groups.start, stop if known else groups.start):
        here = facts.row_group(group)
        if not all(_may_hold(condition, here.column(at)) for at, condition in known):
            if low < group:
                yield low, group, begin
            low, begin = group + 1, row + here.num_rows
        row += here.num_rows
    if low < stop:
        yield low, stop, begin


def _may_hold(condition: Condition, chunk: Any) -> bool:
    """Whether a condition may hold for a row of a row group, by what the file says of it.

    Where the file says nothing, or nothing that compares as the values do, it may.
    """
    if not condition.value or not chunk.is_stats_set:
        return True  # an empty value is looked for in cells, present or missing
    try:
        facts = chunk.statistics
        if facts.has_null_count and facts.null_count == chunk.num_values:
            return condition.comparison == "!="
        return not facts.has_min_max or _overlaps(condition, facts)
    except (ValueError, TypeError, OverflowError):  # bounds that are no such values
        return True


def _overlaps(condition: Condition, facts: Any) -> bool:
    """Whether it may hold between the two bounds of a column."""
    low, high, comparison = facts.min, facts.max, condition.comparison
    value: Any = condition.value
    real = isinstance(low, float)
    if facts.physical_type == "FLOAT" or "isSigned=false" in str(facts.logical_type):
        return True  # these are not the numbers that the cells are written as
    if real or type(low) is int:
        low, high, value = float(low), float(high), float(value)
        if not np.isfinite(value) or np.isnan(low) or np.isnan(high):
            return True
        if comparison not in ("=", "!="):
            nearest = low if comparison in ("<", "<=") else high
            return bool(condition.holds(np.array([nearest]))[0])
    elif comparison not in ("=", "!="):
        return True  # texts that are numbers do not stand in the order of numbers
    elif type(low) is datetime.date:
        value = datetime.date.fromisoformat(value)
        if value.isoformat() != condition.value:
            return True
    elif not isinstance(low, str) or as_float(value) is not None:
        return True  # 3 is also 3.0
    if comparison == "=":
        return bool(low <= value <= high)
    # a cell that is missing, or a number that is none, is outside of the bounds
    whole = facts.has_null_count and not facts.null_count and not real
    return not (whole and low == high == value)
