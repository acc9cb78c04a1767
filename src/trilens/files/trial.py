"""jsPsych's CSV: quoted cells, some of which hold JSON."""

from __future__ import annotations

import codecs

from trilens.errors import FormatError
from trilens.files.asked import Asked
from trilens.files.cell import is_missing
from trilens.files.dialect import invalid_utf8, records
from trilens.files.record import table_of_records
from trilens.files.source import Source
from trilens.files.tables import TableFile, table_of


def open_trials(source: Source, asked: Asked) -> TableFile:
    """Trials with a header; a cell with a JSON array becomes numbered columns."""
    data = source.read().removeprefix(codecs.BOM_UTF8)
    if b"\0" in data:
        raise FormatError(f"{source.label} is a binary file, not text")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise invalid_utf8(data, error.start, source.label, 1) from error
    rows = [(cells, before + 1) for cells, before, _ in records(text, ",")]
    if len(rows) < 2:
        raise FormatError(f"{source.label} has no trials; jsPsych's CSV has a header and rows")
    names = rows[0][0]
    found = []
    for cells, line in rows[1:]:
        if len(cells) != len(names):
            raise FormatError(
                f"{source.label}, row {line:,}: {len(cells)} columns where the header has "
                f"{len(names)}; every row must have the same columns"
            )
        filled = zip(names, cells, strict=True)
        found.append({name: None if is_missing(cell) else cell for name, cell in filled})
    return table_of(source, asked, table_of_records(found, inside=True))
