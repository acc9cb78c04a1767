"""Parquet, Arrow (Feather) and JSON lines: tables that have their own column names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from trilens.errors import FormatError, TrilensError
from trilens.files.asked import Asked
from trilens.files.batch import Batch, columns_of, first_null, missing_cell
from trilens.files.cell import is_missing
from trilens.files.columns import Layout, plain_layout, resolve
from trilens.files.faults import Fault
from trilens.files.judge import ENOUGH, Judged, make_batch
from trilens.files.names import Naming
from trilens.files.sieve import Sieve, sifted
from trilens.files.source import Source, one_line, owned
from trilens.statements import KINDS, Kind

#: The key of the schema's metadata: JSON with ``kind`` and ``names``.
METADATA_KEY = b"trilens"

#: Row batches from a reader, each with the file's row (from 1) of its first row.
Pieces = Callable[[int | None], Iterator[tuple[Any, Callable[[int], int]]]]

_EXACT_FLOAT = 2.0**53


@dataclass(frozen=True)
class TableFile:
    """A table whose columns are known."""

    source: Source
    layout: Layout
    stored: Naming | None
    pieces: Pieces
    asked: Asked = field(default_factory=Asked)
    judged: Judged = field(default_factory=Judged, repr=False)
    may_be_empty: bool = True

    @property
    def label(self) -> str:
        return self.source.label

    @property
    def kind(self) -> Kind | None:
        return self.layout.kind

    @property
    def notes(self) -> Sequence[str]:
        return list(self.judged.notes.values())

    @property
    def faults(self) -> Sequence[Fault]:
        return [self.judged.faults[row] for row in sorted(self.judged.faults)]

    def batches(self, integers: bool, block_bytes: int | None = None) -> Iterator[Batch]:
        """The rows; see `StatementFile`."""
        for whole, row_in_file in self.pieces(block_bytes):
            table, finder = whole, row_in_file
            if self.asked.passes_over:
                table, finder = self._answers(whole, row_in_file)
            if len(table):
                batch = self._batch(table, finder)
                yield batch if integers else batch.as_text()

    def _answers(
        self, table: Any, row_in_file: Callable[[int], int]
    ) -> tuple[Any, Callable[[int], int]]:
        """The rows that name an object; the others are no answers."""
        named = np.zeros(len(table), dtype=np.bool_)
        first = 0 if self.layout.form == "statement" else 1
        for at in self.layout.objects[first:]:
            named |= ~table.column(at).is_null().to_numpy(zero_copy_only=False)
        if named.all():
            return table, row_in_file
        rows = np.flatnonzero(named)
        n = len(table) - len(rows)
        what = "record that names" if n == 1 else "records that name"
        self.judged.notes["passed over"] = f"{n:,} {what} no objects passed over"
        return table.take(rows), lambda row: row_in_file(int(rows[row]))

    def _batch(self, table: Any, row_in_file: Callable[[int], int]) -> Batch:
        plain = Batch(table, self.label, row_in_file, columns_of(table))
        objects: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for role, at in self.layout.used.items():
            name = self.layout.names[at]
            column = table.column(at)
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            if role.startswith("object_"):
                objects[role] = self._objects(column, name, plain)
            elif role == "seconds":
                others[role] = self._seconds(column, name)
            else:
                others[role] = self._text(column, name)
        types = {column.type for column in objects.values()}
        if types != {pa.int64()}:
            objects = {
                role: column.cast(pa.large_string()).dictionary_encode()
                for role, column in objects.items()
            }
        return make_batch(
            pa.table(objects),
            pa.table(others),
            self.layout,
            self.asked,
            self.judged,
            self.label,
            row_in_file,
        )

    def _objects(self, column: Any, name: str, batch: Batch) -> Any:
        """Names as int64 where the column has numbers below 2^63, else as they are."""
        if pa.types.is_floating(column.type):
            column = self._whole(column, name, batch)
        if pa.types.is_null(column.type):
            column = column.cast(pa.string())
        missing = first_null(column)
        if missing is not None:
            if not self.asked.skip_bad:
                raise missing_cell(batch, missing, "", f"column {name}")
            column = column.cast(pa.large_string()).fill_null("")
        if pa.types.is_integer(column.type):
            try:
                return column.cast(pa.int64())
            except pa.ArrowInvalid:
                return column
        if not _is_text(column.type):
            raise self._wrong_type(column, name, "object names are text or whole numbers")
        return column

    def _whole(self, column: Any, name: str, batch: Batch) -> Any:
        """Floating-point ids: what pandas makes of a column of integers with a gap."""
        gaps = column.is_null().to_numpy(zero_copy_only=False)
        values = column.cast(pa.float64()).fill_null(0).to_numpy()
        gaps |= np.isnan(values)
        values = np.where(gaps, 0, values)
        wrong = ~(np.abs(values) < _EXACT_FLOAT) | (values % 1 != 0)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise FormatError(
                f"{batch.place(row)}: {values[row]} in column {name} names no object; "
                f"object names are text or whole numbers"
            )
        if gaps.any() and not self.asked.skip_bad:
            raise missing_cell(batch, int(gaps.argmax()), "nan", f"column {name}")
        return pa.chunked_array([pa.array(values.astype(np.int64), mask=gaps)])

    def _seconds(self, column: Any, name: str) -> Any:
        if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
            if _is_text(column.type):
                return self._numbers(column, name)
            if not pa.types.is_null(column.type):
                raise self._wrong_type(column, name, "seconds are numbers")
            return pa.chunked_array([np.full(len(column), np.nan)])
        return column.cast(pa.float64(), safe=False)

    def _numbers(self, column: Any, name: str) -> Any:
        """Numbers that are written as text."""
        try:
            known = [
                None if text is None or is_missing(text) else float(text)
                for text in column.to_pylist()
            ]
        except ValueError:
            raise self._wrong_type(column, name, "seconds are numbers") from None
        values = np.array([np.nan if value is None else value for value in known])
        return pa.chunked_array([values.astype(np.float64)])

    def _text(self, column: Any, name: str) -> Any:
        if pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
            raise self._wrong_type(column, name, "it must hold text or whole numbers")
        if pa.types.is_floating(column.type):
            values = column.cast(pa.float64()).to_numpy()
            if (np.abs(values) >= _EXACT_FLOAT).any():
                raise FormatError(
                    f"{self.label}: column {one_line(name, 40)} has numbers too large to be kept "
                    f"digit by digit; write them as text"
                )
            if (np.isnan(values) | (values % 1 == 0)).all():  # integers with a gap
                whole = np.nan_to_num(values).astype(np.int64)
                column = pa.chunked_array([pa.array(whole, mask=np.isnan(values))])
        return column.cast(pa.large_string()).dictionary_encode()

    def _wrong_type(self, column: Any, name: str, allowed: str) -> FormatError:
        return FormatError(
            f"{self.label}: column {one_line(name, 40)} holds {one_line(column.type, 60)}; "
            f"{allowed}: convert the column"
        )


def open_table(source: Source, asked: Asked) -> TableFile:
    """A Parquet, Arrow or JSON lines file."""
    if source.format == "jsonl":
        from trilens.files.jsonlines import json_pieces

        names, metadata, pieces = json_pieces(source)
    elif source.format == "parquet":
        names, metadata, pieces = _parquet(source)
    else:
        names, metadata, pieces = _arrow(source)
    return table_file(source, asked, names, pieces, metadata)


def table_of(source: Source, asked: Asked, table: Any, *, header: bool = True) -> TableFile:
    """A table that is in memory; without ``header`` its columns have no names of their own."""

    def pieces(block_bytes: int | None) -> Iterator[tuple[Any, Callable[[int], int]]]:
        yield table, _counting(1)

    names = [str(name) for name in table.column_names]
    return table_file(source, asked, names, pieces, None, header=header, sample=table.slice(0, 50))


def table_file(
    source: Source,
    asked: Asked,
    names: list[str],
    pieces: Pieces,
    metadata: Any,
    *,
    header: bool = True,
    sample: Any = None,
) -> TableFile:
    """A table with its columns found."""
    stored_kind, stored_names = _stored(metadata)
    spec, kind, label = asked.columns, asked.kind, source.label
    if spec is not None and spec.names is not None and len(spec.names) != len(names):
        raise FormatError(
            f"{label}: columns= names {len(spec.names)} columns, but the file has "
            f"{len(names)} ({one_line(', '.join(names), 80)}); name every column, or pick some "
            f"with --columns role=column"
        )
    rows = [] if sample is None else [list(map(str, row.values())) for row in sample.to_pylist()]
    if header or spec is not None:
        layout = resolve(names, kind, label, spec, header=header, rows=rows)
    else:
        layout = plain_layout(len(names), label, rows, kind)
    if layout.kind is None and stored_kind is not None:
        if kind is not None and kind != stored_kind:
            raise FormatError(
                f"{label} says that its statements are of kind {stored_kind}, but kind "
                f"{kind} was asked for; leave the kind out"
            )
        layout = replace(layout, kind=stored_kind)
    stored = None if stored_names is None or spec is not None else Naming(stored_names)
    return TableFile(source, layout, stored, pieces, asked)


def whole_table(source: Source) -> Any:
    """All of a Parquet, Arrow or JSON file, whatever it is about."""
    if source.format in ("json", "jsonl"):
        from trilens.files.record import json_table

        return json_table(source)
    _, _, pieces = _parquet(source) if source.format == "parquet" else _arrow(source)
    return next(pieces(None))[0]


def undecodable(source: Source, what: str, error: BaseException) -> FormatError:
    """The refusal of a file that is not what its name says."""
    return FormatError(
        f"{source.label} is truncated or is not {what}: {one_line(error)}; "
        f"write it again, or give it the ending of its format"
    )


def _stored(metadata: dict[bytes, bytes] | None) -> tuple[Kind | None, tuple[str, ...] | None]:
    """Kind and names from the metadata; what cannot be understood is not there."""
    try:
        facts = json.loads((metadata or {})[METADATA_KEY])
        names = facts["names"]
        kind = facts["kind"] if facts["kind"] in KINDS else None
    except (KeyError, ValueError, TypeError):
        return None, None
    sound = (
        isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and len(set(names)) == len(names)
    )
    return kind, tuple(names) if sound else None


def _parquet(source: Source) -> tuple[list[str], Any, Pieces]:
    import pyarrow.parquet as pq

    # a bad file makes pyarrow raise errors of many classes, all meaning the same here
    try:
        data = pq.ParquetFile(_handle(source))
        schema = data.schema_arrow
        per_row = max(sum(_row_bytes(data)), 1)
    except TrilensError:
        raise
    except Exception as error:
        raise undecodable(source, "a Parquet file", error) from error

    def pieces(block_bytes: int | None) -> Iterator[tuple[Any, Callable[[int], int]]]:
        try:
            file = pq.ParquetFile(_handle(source))
            if block_bytes is None:
                yield _checked(file.read()), _counting(1)
                return
            start = 1
            for batch in file.iter_batches(max(block_bytes // per_row, 1)):
                yield _checked(pa.Table.from_batches([batch])), _counting(start)
                start += batch.num_rows
        except (TrilensError, GeneratorExit):
            raise
        except Exception as error:
            raise undecodable(source, "a Parquet file", error) from error

    return list(schema.names), schema.metadata, pieces


def parquet_rows(source: Source) -> list[int]:
    """The number of rows of each row group."""
    import pyarrow.parquet as pq

    try:
        facts = pq.ParquetFile(_handle(source)).metadata
        return [facts.row_group(group).num_rows for group in range(facts.num_row_groups)]
    except TrilensError:
        raise
    except Exception as error:
        raise undecodable(source, "a Parquet file", error) from error


def narrowed(
    file: TableFile,
    start: int,
    stop: int | None,
    first_row: int,
    rows: int,
    sieve: Sieve | None = None,
) -> TableFile | None:
    """The same Parquet file as nothing but its objects, some row groups and rows at a time.

    With a sieve, its columns are read too, rows for which it does not hold are left out, and so
    are row groups of which the file says that they have no others.

    None where its columns cannot be told by name.
    """
    import pyarrow.parquet as pq

    layout, source = file.layout, file.source
    if source.format != "parquet" or len(set(layout.names)) < len(layout.names):
        return None
    data = pq.ParquetFile(_handle(source), pre_buffer=True)
    names = data.schema_arrow.names
    wanted = [names[at] for at in layout.objects]
    sifter = None if sieve is None else _Sifter.of(file, sieve, names)

    def pieces(block_bytes: int | None) -> Iterator[tuple[Any, Callable[[int], int]]]:
        end = data.num_row_groups if stop is None else stop
        runs: Iterator[tuple[int, ...]] = iter([(start, end, first_row)])
        try:
            if sifter is not None:
                sifter.judge(data)
                runs = sifter.sieve.runs(data.metadata, start, end, first_row)
            columns = [*wanted, *(sifter.columns if sifter is not None else ())]
            for low, high, row in runs:
                for batch in data.iter_batches(
                    rows, list(range(low, high)), columns, use_threads=False
                ):
                    # a file keeps its own order of columns
                    table, finder = pa.Table.from_batches([batch]), _counting(row)
                    row += batch.num_rows
                    if sifter is not None:
                        table, finder = sifter.sifted(table, finder)
                    yield table.select(wanted), finder
        except (TrilensError, GeneratorExit):
            raise
        except Exception as error:
            raise undecodable(source, "a Parquet file", error) from error

    narrow = replace(
        layout.bare,
        n_columns=len(wanted),
        names=tuple(wanted),
        objects=tuple(range(len(wanted))),
    )
    return replace(file, layout=narrow, pieces=pieces)


@dataclass(frozen=True)
class _Sifter:
    """A sieve, and the columns that it looks at as a table of their own."""

    sieve: Sieve
    columns: list[str]
    file: TableFile

    @classmethod
    def of(cls, file: TableFile, sieve: Sieve, names: Sequence[str]) -> _Sifter:
        layout = sieve.layout
        assert layout is not None
        at = {role: getattr(layout, role) for role in dict.fromkeys(sieve.roles)}
        columns = list(dict.fromkeys(names[i] for i in at.values()))
        places: Any = {role: columns.index(names[i]) for role, i in at.items()}
        own = replace(
            layout, n_columns=len(columns), names=tuple(columns), objects=(), form="statement"
        )
        asking = replace(file, layout=replace(own, **places), stored=None)
        named = replace(sieve, layout=replace(layout, names=tuple(names)))
        return cls(named, columns, asking)

    def judge(self, data: Any) -> None:
        """Find the unit of the times where only the first rows of the file tell it."""
        at = self.file.layout.seconds
        if at is None or self.file.judged.unit is not None:
            return
        first: list[Any] = []
        for batch in data.iter_batches(ENOUGH, columns=self.columns, use_threads=False):
            first.append(batch)
            if sum(one.num_rows for one in first) >= ENOUGH:
                break
        if first:
            table = pa.Table.from_batches(first).select(self.columns).combine_chunks()
            self.file._batch(table, _counting(1))

    def sifted(
        self, table: Any, row_in_file: Callable[[int], int]
    ) -> tuple[Any, Callable[[int], int]]:
        """The rows for which the sieve holds."""
        if not len(table):
            return table, row_in_file
        batch = self.file._batch(table.select(self.columns), row_in_file)
        good = self.sieve.holds(batch.columns(replace(batch, strict=False)), self.file.label)
        return sifted(table, good, row_in_file)


def _row_bytes(file: Any) -> Iterator[int]:
    rows = max(file.metadata.num_rows, 1)
    for group in range(file.metadata.num_row_groups):
        yield file.metadata.row_group(group).total_byte_size // rows + 1


def _arrow(source: Source) -> tuple[list[str], Any, Pieces]:
    def reader() -> Any:
        handle = _handle(source)
        try:
            return pa.ipc.open_file(handle)
        except pa.ArrowInvalid:
            handle.seek(0)
            return pa.ipc.open_stream(handle)

    try:
        schema = reader().schema
        names, metadata = list(schema.names), schema.metadata
    except TrilensError:
        raise
    except Exception as error:
        raise undecodable(source, "an Arrow file", error) from error

    def pieces(block_bytes: int | None) -> Iterator[tuple[Any, Callable[[int], int]]]:
        try:
            file = reader()
            if block_bytes is None:
                yield _checked(file.read_all()), _counting(1)
                return
            start = 1
            for batch in _record_batches(file):
                table = _checked(pa.Table.from_batches([batch]))
                step = max(block_bytes * batch.num_rows // max(batch.nbytes, 1), 1)
                for first in range(0, batch.num_rows, step):
                    yield table.slice(first, step), _counting(start + first)
                start += batch.num_rows
        except (TrilensError, GeneratorExit):
            raise
        except Exception as error:
            raise undecodable(source, "an Arrow file", error) from error

    return names, metadata, pieces


def _record_batches(file: Any) -> Iterator[Any]:
    if isinstance(file, pa.ipc.RecordBatchFileReader):
        for i in range(file.num_record_batches):
            yield file.get_batch(i)
    else:
        yield from file


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


def _counting(start: int) -> Callable[[int], int]:
    return lambda row: start + row


def _is_text(type_: Any) -> bool:
    return bool(
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or getattr(pa.types, "is_string_view", lambda _: False)(type_)
    )
