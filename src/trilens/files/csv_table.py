"""Plain tables to CSV or TSV: coordinates, edges, results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trilens._typing import AnyArray
from trilens.errors import FormatError
from trilens.files.atomic import atomic_write
from trilens.files.source import checked_path, one_line, quoted


def write_table(columns: Mapping[str, Sequence[Any] | AnyArray], path: str | Path) -> None:
    """Write columns of equal length under their names; tabs for ``.tsv``, else commas.

    The file appears whole or not at all; ``-`` is standard output.
    """
    import pyarrow as pa
    from pyarrow import csv

    separator = "\t" if checked_path(path).lower().endswith(".tsv") else ","
    try:
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
    except UnicodeEncodeError as error:
        name = quoted(error.object)
        raise FormatError(f"{path}: {name} is not valid Unicode (a lone surrogate)") from error
    except (pa.ArrowException, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{path}: no columns of a table: {one_line(error)}") from error
    options = csv.WriteOptions(delimiter=separator, quoting_style="needed")
    with atomic_write(path) as file:
        csv.write_csv(table, file, options)
