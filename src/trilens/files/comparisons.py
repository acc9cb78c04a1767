"""Files of comparisons d(A, B) < d(C, D): four objects a row."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from trilens.errors import FormatError, StatementError
from trilens.files.cell import is_integer, is_missing
from trilens.files.dialect import records, whole_text
from trilens.files.names import in_order
from trilens.files.output import atomic_write
from trilens.files.source import PathLike, checked_path, one_line, open_source, quoted
from trilens.statements.comparisons import Comparisons, first_wrong

#: The pair that is nearer to each other, then the other one.
COLUMNS = ("near_1", "near_2", "far_1", "far_2")
#: Other names of the same columns.
_ALIASES = (COLUMNS, ("a", "b", "c", "d"))
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": " "}


def read_comparisons(path: PathLike) -> Comparisons:
    """Comparisons d(A, B) < d(C, D) from a text file, four objects a row.

    The separator is a comma, a tab, a semicolon or a space. A header names the columns
    ``near_1``, ``near_2``, ``far_1`` and ``far_2`` (or ``a``, ``b``, ``c``, ``d``); others are
    passed over. Without one there are four columns in this order, of integers.

    Raises
    ------
    FormatError, StatementError
        For a file that is none of it; the message names the row.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = file.write_text("near_1,near_2,far_1,far_2\\nred,pink,blue,yellow\\n")
    >>> C = read_comparisons(file)
    >>> C.rows.tolist(), C.names
    ([[0, 1, 2, 3]], ('red', 'pink', 'blue', 'yellow'))
    """
    source = open_source(path)
    label = source.label
    text = whole_text(source, "comparisons are text, four objects a row")
    if not text.strip():
        raise FormatError(f"{label} is empty; comparisons are four objects a row")
    separator, at, width, header = _layout(text, label)
    cells: list[str] = []
    lines: list[int] = []
    for number, (row, line, _) in enumerate(records(text, separator)):
        if number == 0 and header:
            continue
        if len(row) != width:
            raise FormatError(
                f"{label}, row {line + 1:,}: {len(row)} columns where the first row has {width}; "
                f"every row must have the same columns"
            )
        four = [row[i].strip() for i in at]
        for name in four:
            if is_missing(name):
                raise StatementError(
                    f"{label}, row {line + 1:,}: the object {quoted(name)} is missing; every "
                    f"comparison has four"
                )
        cells += four
        lines.append(line + 1)
    if not lines:
        raise FormatError(f"{label} has no comparisons, only a header; add a row for each")
    names = in_order(list(dict.fromkeys(cells)))
    ids = {name: i for i, name in enumerate(names)}
    rows = np.array([ids[name] for name in cells], dtype=np.int32).reshape(-1, 4)
    wrong = first_wrong(rows)
    if wrong is not None:
        four = cells[4 * wrong : 4 * wrong + 4]
        raise StatementError(
            f"{label}, row {lines[wrong]:,}: d(A,B) < d(C,D) needs two different pairs of "
            f"different objects, not {', '.join(map(quoted, four))}"
        )
    return Comparisons(rows, names=names)


def write_comparisons(comparisons: Comparisons, path: PathLike) -> None:
    """Write comparisons as ``.csv``, ``.tsv`` or ``.txt``; ``"-"`` is CSV on standard output.

    With ``.gz`` after it the file is compressed. Objects that no comparison names do not come
    back.
    """
    if not isinstance(comparisons, Comparisons):
        raise FormatError(f"{one_line(repr(comparisons))} are no Comparisons")
    name = checked_path(path)
    file = Path("-.csv" if name == "-" else name)
    packed = file.suffix.lower() == ".gz"
    ending = (Path(file.stem) if packed else file).suffix.lower()
    if ending not in _SEPARATORS:
        raise FormatError(
            f"{name}: the ending {ending or '(none)'} is not one of comparisons; use "
            f"{', '.join(_SEPARATORS)}, or one of them with .gz"
        )
    names = comparisons.names
    for each in names:
        if is_missing(each) or "\0" in each:
            raise FormatError(f"the object {quoted(each)} would not come back; rename it")
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=_SEPARATORS[ending], lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([names[i] for i in row] for row in comparisons.rows.tolist())
    with atomic_write(path) as target:
        if packed:
            with gzip.GzipFile("", "wb", fileobj=target, mtime=0) as inside:
                cast(BinaryIO, inside).write(text.getvalue().encode())
        else:
            target.write(text.getvalue().encode())


def _layout(text: str, label: str) -> tuple[str, list[int], int, bool]:
    """The separator, where the four columns are, how many there are, and whether a header is."""
    seen: list[str] = []
    for separator in (",", "\t", ";", " "):
        first, _, _ = next(records(text, separator), ([], 0, 0))
        header = [cell.strip().casefold() for cell in first]
        for names in _ALIASES:
            if all(header.count(name) == 1 for name in names):
                return separator, [header.index(name) for name in names], len(header), True
        if len(first) == 4 and all(is_integer(cell.strip()) for cell in first):
            return separator, [0, 1, 2, 3], 4, False
        seen = max(seen, first, key=len)
    raise FormatError(
        f"{label}: the first row must name the columns {', '.join(COLUMNS)} (or a, b, c, d); "
        f"it is {one_line(', '.join(seen), 80)}"
    )
