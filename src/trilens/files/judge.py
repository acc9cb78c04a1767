"""What only the values of a file can tell: positions or names, ms or s."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from trilens.errors import FormatError, StatementError
from trilens.files.asked import Asked
from trilens.files.batch import Batch, columns_of, parts
from trilens.files.columns import Layout
from trilens.files.faults import Fault
from trilens.statements.positions import Positions, are_names, find_positions
from trilens.statements.roles import MILLISECONDS_FROM

#: Response times that tell their unit.
ENOUGH = 1 << 17


@dataclass
class Judged:
    """What the first rows of a file decided, for all of its rows and for every pass over it."""

    unit: str | None = None
    positions: Positions | None = None
    decided: bool = False
    notes: dict[str, str] = field(default_factory=dict)
    #: Rows that could not be cut into cells, by their number; each pass finds the same.
    faults: dict[int, Fault] = field(default_factory=dict)


def make_batch(
    objects: Any,
    others: Any,
    layout: Layout,
    asked: Asked,
    judged: Judged,
    label: str,
    row_in_file: Callable[[int], int],
    *,
    words: bool = False,
) -> Batch:
    """A batch of a table of objects and of what else is known of the rows.

    ``words`` says that ``NA`` and its like stand for missing cells.
    """
    if layout.seconds is not None and judged.unit is None:
        _judge_unit(others.column("seconds"), layout, asked, judged)
    columns = columns_of(others, judged.unit == "ms", words)
    batch = Batch(objects, label, row_in_file, columns, form=layout.form)
    if layout.form == "statement":
        return batch
    chosen = objects.column("object_0")
    if not judged.decided:
        name = layout.names[layout.objects[0]]
        first = 1 if layout.form == "shown" else 2
        try:
            judged.positions = find_positions(
                _distinct(chosen),
                lambda: _among(batch),
                name,
                [layout.names[at] for at in layout.objects[first:]],
                asked.counts_from,
                "counts_from= (--counts-from)",
            )
        except StatementError as error:
            raise FormatError(f"{label}: {error}") from None
        judged.decided = True
        if judged.positions is not None:
            judged.notes["positions"] = f"{name}: {judged.positions.words}"
    if judged.positions is None:
        return batch
    if pa.types.is_integer(chosen.type):
        chosen = chosen.cast(pa.string())
    at, values = parts(chosen)
    # the last value serves the index -1 of a missing cell
    positions = judged.positions.of([*values, ""])[at]
    return Batch(
        objects.drop_columns(["object_0"]),
        label,
        row_in_file,
        batch.columns,
        form=layout.form,
        positions=positions,
    )


def _judge_unit(column: Any, layout: Layout, asked: Asked, judged: Judged) -> None:
    assert layout.seconds is not None
    name = layout.names[layout.seconds]
    if asked.unit is not None or layout.unit is not None:
        judged.unit = asked.unit or layout.unit
        if judged.unit == "ms":
            judged.notes["unit"] = f"{name} in ms"
        return
    values = column.slice(0, ENOUGH).to_numpy()
    values = values[np.isfinite(values)]
    if not len(values):
        return
    median = float(np.median(values))
    judged.unit = "ms" if median >= MILLISECONDS_FROM else "s"
    judged.notes["unit"] = f"{name} taken as {judged.unit} (median {median:,.4g})"


def _among(batch: Batch) -> bool:
    """Whether every chosen object is one of those to choose from, by its name."""
    first = 1 if batch.form == "shown" else 2
    if batch.integers:
        columns = [column.to_numpy() for column in batch.table.columns]
    else:
        codes: dict[str, int] = {}
        columns = []
        for at, values in batch.texts():
            local = np.array([codes.setdefault(v, len(codes)) for v in values] + [-1])
            columns.append(local[at])
    chosen = columns[0]
    found = np.zeros(len(batch), dtype=np.bool_)
    for shown in columns[first:]:
        found |= shown == chosen
    return are_names(found)


def _distinct(column: Any) -> list[str]:
    """The different values of a column, as text."""
    values = column.unique()
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return [value for value in values.cast(pa.string()).to_pylist() if value is not None]
