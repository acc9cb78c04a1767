"""The page and its tables on disk, whole or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from trilens.errors import FormatError
from trilens.report.page import Facts, render
from trilens.report.pictures import Pictures


def picture_size(n_objects: int) -> int:
    """The longer side of a thumbnail in pixels: smaller where there are many."""
    return 280 if n_objects <= 100 else 160 if n_objects <= 1000 else 96


def write_report(facts: Facts, path: str | Path, pictures: Pictures | None = None) -> None:
    """Write the page to a file."""
    from trilens.files import atomic_write

    # a name read from elsewhere may hold half a character, which UTF-8 has no bytes for
    page = render(facts, pictures).encode("utf-8", "replace")
    with atomic_write(path) as file:
        file.write(page)


def write_tables(facts: Facts, folder: str | Path) -> list[Path]:
    """Write the facts as CSV files: objects, groups, raters, edges and more.

    Parameters
    ----------
    facts : dict
        Of `Analysis.to_dict`.
    folder
        Made if it is missing.

    Returns
    -------
    list of Path
    """
    from trilens.files import atomic_write

    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(
            f"{folder}: the folder for the tables cannot be made: {error.strerror}; give another"
        ) from error
    written = []
    for name, header, rows in _tables(facts):
        text = io.StringIO(newline="")
        table = csv.writer(text)
        table.writerow(header)
        table.writerows(rows)
        target = place / f"{name}.csv"
        with atomic_write(target) as file:
            file.write(text.getvalue().encode("utf-8", "replace"))
        written.append(target)
    return written


def _tables(facts: Facts) -> Iterable[tuple[str, Sequence[str], list[list[Any]]]]:
    yield _records("objects", [_counted_from_one(row) for row in facts["objects"]])
    names = [row["object"] for row in facts["objects"]]
    groups = [
        {
            key: value
            for key, value in _counted_from_one(group).items()
            if key not in ("objects", "classes")
        }
        for group in facts["cluster"]["groups"]
    ]
    yield _records("groups", groups)
    suggestion = facts["cluster"]["suggestion"]
    if suggestion and suggestion["candidates"]:
        yield _records("group_numbers", suggestion["candidates"])
    if facts["reliability"]["raters"]:
        unit = facts["reliability"]["rater_unit"] or "rater"
        yield _records(f"{unit}s", facts["reliability"]["raters"])
    edges = [[names[i], names[j]] for i, j in facts["map"]["edges"]]
    yield "edges", ["object_1", "object_2"], edges
    if facts["classify"] is not None and facts["classify"]["contradicted"]:
        yield _records("contradicted_labels", facts["classify"]["contradicted"])


def _counted_from_one(row: Facts) -> Facts:
    """The row with its group named as people name it: groups are counted from 1."""
    return {
        "group" if key == "cluster" else key: value + 1 if key == "cluster" else value
        for key, value in row.items()
    }


def _records(name: str, rows: list[Facts]) -> tuple[str, list[str], list[list[Any]]]:
    header = list(rows[0]) if rows else []
    return name, header, [[row[column] for column in header] for row in rows]
