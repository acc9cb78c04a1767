"""The one reader of small tables: labels, groups of raters, objects, vectors, questions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from trilens.errors import FormatError, TrilensError
from trilens.files.source import Source, open_source
from trilens.files.text import SAMPLE, SEPARATORS, records, separator_of, whole_text
from trilens.statements.cells import cell_text
from trilens.statements.layout import ReadOptions
from trilens.statements.table import Request, Use


@dataclass(frozen=True, eq=False)
class SmallTable:
    """All cells of a small table, and the row of the file that each row stands in.

    ``names`` is None for text, whose first row may name the columns or not.
    """

    label: str
    names: list[str] | None
    rows: list[list[Any]]
    lines: Sequence[int]
    folder: Path | None = None

    @property
    def first(self) -> list[str]:
        """The names of the columns, or what may be them."""
        return self.names if self.names is not None else self.rows[0]

    def headed(self) -> SmallTable:
        """With the first row of text as the names of the columns."""
        if self.names is not None:
            return self
        return SmallTable(self.label, self.rows[0], self.rows[1:], self.lines[1:], self.folder)

    def check_width(self, refusal: type[TrilensError] = FormatError) -> None:
        """Refuse rows that have more or fewer cells than the first."""
        width = len(self.first)
        for cells, line in zip(self.rows, self.lines, strict=True):
            if len(cells) != width:
                raise refusal(
                    f"{self.label}, row {line:,}: {len(cells)} columns where the first row has "
                    f"{width}; every row must have the same columns"
                )

    def columns(self) -> list[list[Any]]:
        """The cells of each column."""
        return [[row[i] for row in self.rows] for i in range(len(self.first))]

    def texts(self) -> list[list[str]]:
        """The cells of each row as text; empty where one is missing."""
        return [[cell_text(cell) or "" for cell in row] for row in self.rows]


def small_table(
    given: Any,
    holds: str,
    refusal: type[TrilensError] = FormatError,
    *,
    separators: Sequence[str] = SEPARATORS,
) -> SmallTable:
    """A small table: a file of any format, or a pandas, polars or Arrow table in memory.

    ``holds`` says in words what such a file holds, for the ``refusal`` of text that is empty or no
    text; ``separators`` are what may stand between the cells of text.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = file.write_text("object;label\\n44;ordinary\\n\\n15;sports\\n")
    >>> table = small_table(file, "a label file has the columns object,label").headed()
    >>> table.names, table.rows, table.lines
    (['object', 'label'], [['44', 'ordinary'], ['15', 'sports']], [2, 4])
    """
    if not isinstance(given, Source | str | os.PathLike):
        from trilens.statements.frames import as_arrow

        return _of_arrow(f"the {type(given).__name__}", as_arrow(given), None)
    source = given if isinstance(given, Source) else open_source(given)
    folder = None if source.path is None else source.path.parent
    if source.format == "text":
        text = whole_text(source, holds, refusal)
        if not text.strip():
            raise refusal(f"{source.label} is empty; {holds}")
        cut = separator_of(text[:SAMPLE], whole=len(text) <= SAMPLE, among=separators)
        found = list(records(text, cut))
        rows, lines = [cells for cells, _, _ in found], [before + 1 for _, before, _ in found]
        return SmallTable(source.label, None, rows, lines, folder)
    if source.format in ("json", "jsonl"):
        from trilens.files.json import json_columns

        columns = json_columns(source)
        cells = [list(row) for row in zip(*columns.values(), strict=True)]
        return SmallTable(source.label, list(columns), cells, range(1, len(cells) + 1), folder)
    from trilens.files.read import opened

    table = opened(source, ReadOptions(header=True))
    every: dict[int, Use] = dict.fromkeys(range(len(table.names)), "text")
    parts = [rows.table for rows in table.read(Request(every, integers=False))]
    return _of_arrow(source.label, pa.concat_tables(parts), folder)


def _of_arrow(label: str, table: Any, folder: Path | None) -> SmallTable:
    columns = [column.to_pylist() for column in table.columns]
    rows = [list(row) for row in zip(*columns, strict=True)]
    names = list(map(str, table.column_names))
    return SmallTable(label, names, rows, range(1, len(rows) + 1), folder)
