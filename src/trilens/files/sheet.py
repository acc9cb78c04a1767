"""Excel workbooks and SQLite databases."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

from trilens.errors import FormatError, MissingExtraError, TrilensError
from trilens.files.asked import Asked
from trilens.files.record import as_text_source, table_of_columns
from trilens.files.source import Source, one_line
from trilens.files.tables import TableFile, table_of, undecodable
from trilens.files.text import TextFile, open_text


def open_sheet(source: Source, asked: Asked) -> TextFile:
    """The first sheet of a workbook, or the one after ``::``; its rows are read as text is."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("reading Excel files", "excel") from None
    # a bad workbook makes zipfile, XML parsers and openpyxl raise errors of many classes
    try:
        book = openpyxl.load_workbook(BytesIO(source.read()), read_only=True, data_only=True)
        names = list(book.sheetnames)
        if source.part is not None and source.part not in names:
            raise FormatError(
                f"{source.label}: no sheet {one_line(source.part, 40)}; "
                f"the sheets are {one_line(', '.join(names), 120)}"
            )
        sheet = book[source.part] if source.part is not None else book.worksheets[0]
        rows = list(_rows(sheet))
    except TrilensError:
        raise
    except (Exception, MemoryError) as error:
        raise undecodable(source, "an Excel workbook", error) from error
    return open_text(as_text_source(rows, source), asked)


def _rows(sheet: Any) -> Iterator[list[str]]:
    rows = [[_cell(cell) for cell in row] for row in sheet.iter_rows(values_only=True)]
    width = max((i + 1 for row in rows for i, cell in enumerate(row) if cell), default=0)
    for row in rows:
        if any(row):
            yield [*row[:width], *[""] * (width - len(row))]
        else:
            yield []  # a blank line: rows keep their numbers


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value % 1 == 0 and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def open_database(source: Source, asked: Asked) -> TableFile:
    """The only table of an SQLite database, or the one after ``::``."""
    try:
        if source.path is not None and not source.packing:
            with source.open() as stream:
                if not stream.read(16).startswith(b"SQLite format 3"):
                    raise sqlite3.DatabaseError("file is not a database")
            columns = _columns(source, source.path)
        else:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "study.db"
                path.write_bytes(source.read())
                columns = _columns(source, path)
    except (sqlite3.Error, sqlite3.Warning, UnicodeError, OverflowError) as error:
        raise undecodable(source, "an SQLite database", error) from error
    return table_of(source, asked, table_of_columns(columns))


def _columns(source: Source, path: Path) -> dict[str, list[Any]]:
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as database:
        listed = database.execute(
            "select name from sqlite_master where type in ('table', 'view') "
            "and name not like 'sqlite_%' order by name"
        )
        tables = [str(name) for (name,) in listed]
        wanted = source.part
        if wanted is None and len(tables) == 1:
            wanted = tables[0]
        if wanted not in tables:
            seen = one_line(", ".join(tables), 120) or "none"
            what = "which table?" if wanted is None else f"no table {one_line(wanted, 40)};"
            raise FormatError(
                f"{source.label}: {what} The tables are {seen}: name one, such as "
                f"{path.name}::{one_line(tables[0], 40) if tables else 'answers'}"
            )
        quoted = '"' + wanted.replace('"', '""') + '"'
        cursor = database.execute(f"select * from {quoted}")
        names = [str(column[0]) for column in cursor.description]
        rows = cursor.fetchall()
    if len(set(names)) < len(names):
        raise FormatError(f"{source.label}: two columns of {wanted} have the same name")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}
