"""Tables in memory: pandas, polars, Arrow, dicts of columns, lists of dicts; and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from trilens._typing import AnyArray
from trilens.errors import StatementError
from trilens.kinds import columns
from trilens.statements.columns import are_records, are_whole, as_array, as_written
from trilens.statements.layout import ReadOptions
from trilens.statements.roles import FIELDS
from trilens.statements.table import METADATA_KEY, AnswerTable, named_table
from trilens.statements.unfold import answer_table
from trilens.statements.value import Statements

#: Three columns without names: the singled-out object is the first.
_COUNTED = (["0", "1", "2"], ["column_0", "column_1", "column_2"])


def frame_table(given: Any, options: ReadOptions) -> AnswerTable:
    """A table in memory (pandas, polars, Arrow, a dict of columns, a list of dicts), as a file."""
    table = as_arrow(given)
    header = options.header
    if header is None:
        header = list(table.column_names) not in _COUNTED or options.columns is not None
    return answer_table(named_table(None, table, header=header, keeps_numbers=True), options)


def bare_rows(given: Any) -> AnyArray | None:
    """The rows of a table that is an array: three counted columns of whole numbers.

    >>> import pandas as pd
    >>> bare_rows(pd.DataFrame([[3, 7, 9]])).tolist(), bare_rows(pd.DataFrame([["a", "b", "c"]]))
    ([[3, 7, 9]], None)
    """
    called = getattr(given, "column_names", None) or getattr(given, "columns", None)
    if called is None or callable(called) or [str(name) for name in called] not in _COUNTED:
        return None
    columns = as_arrow(given).columns
    numbers = (pa.types.is_integer, pa.types.is_floating)
    if any(c.null_count or not any(is_one(c.type) for is_one in numbers) for c in columns):
        return None
    rows = np.column_stack([column.to_numpy() for column in columns])
    return rows if rows.dtype.kind in "iu" or are_whole(rows) else None


def to_arrow(statements: Statements) -> Any:
    """The statements as an Arrow table whose metadata hold the kind and all names."""
    made: dict[str, Any] = {}
    names = pa.array(list(statements.names), pa.string())
    for j, name in enumerate(columns(statements.kind)):
        ids = pa.array(statements.triples[:, j])
        made[name] = pa.DictionaryArray.from_arrays(ids, names)
    for name, field in FIELDS.items():
        values = getattr(statements, field)
        if values is not None:
            missing = np.isnan(values) if values.dtype.kind == "f" else None
            made[name] = pa.array(as_written(field, values), mask=missing)
    facts = json.dumps({"kind": statements.kind, "names": list(statements.names)})
    return pa.table(made).replace_schema_metadata({METADATA_KEY: facts.encode()})


def as_arrow(given: Any) -> Any:
    """A table in memory as an Arrow table."""
    try:
        if isinstance(given, pa.Table):
            return given
        if hasattr(given, "columns") and hasattr(given, "iloc"):
            # numbers may be the names of columns there, and objects of mixed types their cells
            given = given.rename(columns=str).reset_index(drop=True)
        if are_records(given):
            given = _columns_of(given)
        if isinstance(given, Mapping):
            given = {str(name): as_array(column, str(name)) for name, column in given.items()}
        return pa.table(given)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        why = " ".join(str(error).split())
        if len(getattr(given, "shape", ())) == 1:
            why = "it has one column, and statements need three, as a DataFrame"
        raise StatementError(
            f"the {type(given).__name__} cannot be read as a table: {why}"
        ) from None


def _columns_of(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The columns of rows that are dicts; every row has a cell in each."""
    names = list(records[0])
    for row, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise TypeError(f"row {row} is not a dict like the first")
        missing = [name for name in names if name not in record] + [*(record.keys() - set(names))]
        if missing:
            raise ValueError(
                f"row {row} does not have the same columns as the first ({missing[0]!r})"
            )
    return {name: [record[name] for record in records] for name in names}
