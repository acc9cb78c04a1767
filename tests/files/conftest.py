"""Every statement file that these tests read is read a second and a third time, as a table.

A CSV and the same table as a DataFrame are read the same: so `read_statements` is exchanged for
one that also gives the file's table, as Arrow and as pandas, to `Answers`, and compares.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import trilens as tl
from trilens.errors import TrilensError
from trilens.files import read
from trilens.files.objects import object_list
from trilens.files.source import sources
from trilens.statements.layout import read_options
from trilens.statements.names import is_missing
from trilens.statements.table import AnswerTable, Request

#: Refusals of text or of a file, not of a table.
OF_TEXT = (
    *("without a header", "looks like a header", "header is repeated here", "is empty"),
    *("no statements", "column 1", "columns where the first row"),
)
#: Where the odd files are.
MODULES = frozenset(
    {
        *("test_everybodys_files", "test_formats_of_others", "test_bad_files"),
        *("test_read_statements", "test_golden"),
    }
)


@pytest.fixture(autouse=True)
def read_as_tables_too(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the modules with the odd files, read them as tables too."""
    name = request.module.__name__.rpartition(".")[2]
    if name in MODULES and hasattr(request.module, "read_statements"):
        monkeypatch.setattr(request.module, "read_statements", read_and_compare)


def read_and_compare(path: Any, *given: Any, **options: Any) -> tl.Statements:
    how = dict(zip(("kind", "columns", "objects"), given, strict=False)) | options
    how.pop("tell", None)
    try:
        S = tl.read_statements(path, *given, **options)
    except TrilensError as error:
        for table, taken in tables_of(path, how):
            refused_alike(error, table, taken)
        raise
    for table, taken in tables_of(path, how):
        for frame in frames_of(table):
            same(S, tl.Answers(frame, **taken).read())
    return S


def tables_of(path: Any, how: dict[str, Any]) -> list[tuple[pa.Table, dict[str, Any]]]:
    """The table of a file, if it is one, and how `Answers` is to take it."""
    if not isinstance(path, str | os.PathLike) or not Path(str(path).split("::")[0]).is_file():
        return []
    how = dict(how)
    if not isinstance(how.get("skip_bad", False), bool):
        how["skip_bad"] = True
    encoding = how.pop("encoding", None)
    objects = object_list(how.get("objects"))
    try:
        options = read_options(**{**how, "objects": objects})
        found = sources(path, encoding=encoding)
        opened = [read.opened(source, options) for source in found]
        layouts = [AnswerTable.of(table, options).layout for table in opened]
        every = dict.fromkeys(range(len(opened[0].names)), "text")
        pieces = [rows.table for rows in opened[0].read(Request(every))]
    except TrilensError:
        return []
    if len(opened) > 1 or len(set(opened[0].names)) < len(opened[0].names) or not pieces:
        return []
    columns = list(pieces[0].columns)
    for at in () if opened[0].typed else layouts[0].others.values():
        # as everybody's reader of CSV does
        cells = [None if is_missing(cell) else cell for cell in columns[at].to_pylist()]
        columns[at] = pa.chunked_array([pa.array(cells, pa.string())])
    table = pa.table(columns, list(opened[0].names))
    if opened[0].metadata is not None:
        table = table.replace_schema_metadata(opened[0].metadata)
    how["header"] = opened[0].header
    return [(table, how)]


def frames_of(table: pa.Table) -> list[Any]:
    """The same as Arrow and, where pandas keeps it, as pandas has it."""
    frames: list[Any] = [table]
    if table.schema.metadata is None:
        frames.append(table.to_pandas())
    return frames


def same(S: tl.Statements, T: tl.Statements) -> None:
    assert (S.kind, S.names, S.triples.tolist()) == (T.kind, T.names, T.triples.tolist())
    for field in ("raters", "rounds", "questions"):
        one, other = getattr(S, field), getattr(T, field)
        assert texts(one) == texts(other), field
    assert texts(S.places) == texts(T.places)
    assert (S.seconds is None) == (T.seconds is None)
    if S.seconds is not None:
        np.testing.assert_array_equal(S.seconds, T.seconds)


def texts(column: Any) -> list[str] | None:
    return None if column is None else [str(cell) for cell in column.tolist()]


def refused_alike(error: TrilensError, table: pa.Table, how: dict[str, Any]) -> None:
    # where commas separate cells, one in quotes is none of a number
    decimal_comma = re.search(r"'\d+,\d+' in column \w+ is not a number", str(error))
    if decimal_comma or any(words in str(error) for words in OF_TEXT):
        return
    with pytest.raises(TrilensError) as caught:
        tl.Answers(table, **how).read()
    problem = re.sub(r"^statement \d+: ", "", str(caught.value))
    assert "\n" not in problem
    assert str(error).endswith(problem)
