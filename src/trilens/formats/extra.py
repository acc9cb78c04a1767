"""Columns of a statement file beyond those that statements have, as text."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

import numpy as np

from trilens._parameters import whole_number
from trilens._typing import AnyArray
from trilens.errors import FormatError
from trilens.formats.columns import column_list
from trilens.formats.dialect import find_dialect, records
from trilens.formats.source import PathLike, Source, one_line, open_source
from trilens.statements.columns import text_array


def read_columns(
    path: PathLike, names: Sequence[str], n_rows: int, columns: list[str] | None = None
) -> dict[str, AnyArray]:
    """Columns of a file by their names, one text for each statement; empty where missing.

    Parameters
    ----------
    path
        A file with a header; not the standard input, which can be read only once.
    names
        As the header writes them; upper and lower case are the same.
    n_rows : int
        The number of statements that were read from it.
    columns : list of str, optional
        The names that were given to the columns of the file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "answers.csv"
    >>> _ = file.write_text("central,other_1,other_2,country\\na,b,c,DE\\nb,a,c,FR\\n")
    >>> read_columns(file, ["country"], 2)["country"].tolist()
    ['DE', 'FR']
    """
    wanted = column_list(names) or []
    if not wanted:
        raise FormatError("names must be a list of column names, one or more")
    whole_number("n_rows", n_rows)
    columns = column_list(columns)
    source = open_source(path)
    if source.path is None:
        raise FormatError(
            f"{source.label}: column {wanted[0]!r} cannot be read from it; give a file"
        )
    table = _text_table(source, columns) if source.format == "text" else _table(source)
    found: dict[str, AnyArray] = {}
    for name in wanted:
        at = [seen for seen in table if seen.strip().casefold() == name.strip().casefold()]
        if not at:
            raise FormatError(
                f"{source.label}: there is no column {name!r}; the columns are "
                f"{one_line(', '.join(table), 120)}"
            )
        values = table[at[0]]
        if len(values) != n_rows:
            raise FormatError(
                f"{source.label}: column {name!r} has {len(values):,} values for {n_rows:,} "
                f"statements; every row must have one"
            )
        found[name] = text_array(values) if values else np.zeros(0, dtype="U1")
    return found


def _text_table(source: Source, columns: list[str] | None) -> dict[str, list[str]]:
    dialect = find_dialect(source, columns, None, ())
    text = source.read().removeprefix(codecs.BOM_UTF8).decode()
    rows = (cells for cells, _, _ in records(text, dialect.separator))
    header = next(rows, [])
    if dialect.body_line == 1:  # without header
        rows = (cells for cells, _, _ in records(text, dialect.separator))
        header = list(dialect.layout.names)
    names = header if columns is None else columns
    listed: dict[str, list[str]] = {name: [] for name in names}
    for cells in rows:
        for name, cell in zip(names, cells, strict=False):
            listed[name].append(cell.strip())
    return listed


def _table(source: Source) -> dict[str, list[str]]:
    import pyarrow as pa

    if source.format == "npz":
        raise FormatError(f"{source.label}: an archive of arrays has no further columns")
    with source.open() as stream:
        data = stream.read()
    try:
        if source.format == "parquet":
            import pyarrow.parquet as pq

            table = pq.read_table(pa.BufferReader(data))
        elif source.format == "arrow":
            with pa.ipc.open_file(pa.BufferReader(data)) as file:
                table = file.read_all()
        else:
            import pyarrow.json as pj

            table = pj.read_json(pa.BufferReader(data))
    except pa.ArrowException as error:
        raise FormatError(f"{source.label} cannot be read: {one_line(error)}") from error
    return {
        name: ["" if value is None else str(value) for value in table.column(name).to_pylist()]
        for name in table.column_names
    }


def read_pairs(path: PathLike, key: str, value: str) -> dict[str, str]:
    """A table of two columns as a dict, such as the group of each rater.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "groups.csv"
    >>> _ = file.write_text("rater,group\\n1,young\\n2,old\\n")
    >>> read_pairs(file, "rater", "group")
    {'1': 'young', '2': 'old'}
    """
    source = open_source(path)
    text = source.read().removeprefix(codecs.BOM_UTF8).decode(errors="replace")
    for separator in (",", "\t", ";"):
        rows = [[cell.strip() for cell in cells] for cells, _, _ in records(text, separator)]
        header = [cell.casefold() for cell in rows[0]] if rows else []
        if key in header and value in header:
            at_key, at_value = header.index(key), header.index(value)
            break
    else:
        raise FormatError(f"{source.label}: the first row must name the columns {key} and {value}")
    found: dict[str, str] = {}
    for line, cells in enumerate(rows[1:], start=2):
        if len(cells) != len(header):
            raise FormatError(
                f"{source.label}, row {line:,}: {len(cells)} columns where the header has "
                f"{len(header)}"
            )
        if found.setdefault(cells[at_key], cells[at_value]) != cells[at_value]:
            raise FormatError(
                f"{source.label}, row {line:,}: {key} {cells[at_key]!r} has two {value}s, "
                f"{found[cells[at_key]]!r} and {cells[at_value]!r}; give one"
            )
    return found
