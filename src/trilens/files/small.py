"""The one reader of small tables: labels, groups of raters, objects, vectors, questions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from trilens.errors import FormatError, TrilensError
from trilens.files.source import Source, open_source
from trilens.files.text import SAMPLE, records, whole_text
from trilens.statements.cells import cell_text
from trilens.statements.layout import ReadOptions
from trilens.statements.table import Request, Use

#: What may stand between the cells of text.
SEPARATORS = (",", "\t", ";", "|", " ")
#: Rows that tell what does.
_ROWS_THAT_TELL = 50


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
    """A small table: a file of any format, or a table in memory.

    Parameters
    ----------
    given : path, Source, or a pandas, polars or Arrow table
    holds : str
        What such a file holds, in words.
    refusal : class
        The error for text that is empty or no text.
    separators : sequence of str
        What may stand between the cells of text.

    Examples
    --------
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
        found = list(records(text, _separator(text, separators)))
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


def _separator(text: str, separators: Sequence[str]) -> str:
    """What cuts every row into as many cells as the first, and into most; a space is the last."""
    sample = text[:SAMPLE]
    if len(text) > SAMPLE and "\n" in sample:
        sample = sample[: sample.rindex("\n") + 1]
    widths = {
        each: [len(cells) for cells, _, _ in islice(records(sample, each), _ROWS_THAT_TELL)]
        for each in separators
    }
    even = [each for each, rows in widths.items() if len(set(rows)) == 1 and rows[0] > 1]
    without_space = [each for each in even if each != " "]
    if without_space:
        return max(without_space, key=lambda each: widths[each][0])
    cuts = [each for each, rows in widths.items() if rows and rows[0] > 1]
    return next(iter(even or cuts), ",")
