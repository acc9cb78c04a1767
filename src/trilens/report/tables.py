"""The facts as CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from trilens.errors import FormatError
from trilens.report.page import write_text
from trilens.report.words import Facts, unit_of


def write_tables(facts: Facts, folder: str | Path) -> list[Path]:
    """Write the facts as CSV files: objects, groups, raters, edges and more.

    Parameters
    ----------
    facts : dict
        Of `Analysis.to_dict`.
    folder
        Created if it is missing.

    Returns
    -------
    list of Path
    """
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
        written.append(place / f"{name}.csv")
        write_text(written[-1], text.getvalue())
    return written


def _tables(facts: Facts) -> Iterable[tuple[str, Sequence[str], list[list[Any]]]]:
    objects = [_counted_from_one(row) for row in facts["objects"]]
    yield _records("objects", objects, without=("place_cov",))
    names = [row["object"] for row in facts["objects"]]
    groups = [_counted_from_one(group) for group in facts["cluster"]["groups"]]
    yield _records("groups", groups, without=("objects", "classes"))
    suggestion = facts["cluster"]["suggestion"]
    if suggestion and suggestion["candidates"]:
        yield _records("group_numbers", suggestion["candidates"])
    if facts["reliability"]["raters"]:
        yield _records(f"{unit_of(facts)}s", facts["reliability"]["raters"])
    edges = [[names[i], names[j]] for i, j in facts["map"]["edges"]]
    yield "edges", ["object_1", "object_2"], edges
    if facts["classify"] is not None and facts["classify"]["contradicted"]:
        yield _records("contradicted_labels", facts["classify"]["contradicted"])


def _counted_from_one(row: Facts) -> Facts:
    """The row with its group named as people name it: counted from 1, and empty where in none."""
    own = row["cluster"] + 1 or None
    return {("group" if key == "cluster" else key): value for key, value in row.items()} | {
        "group": own
    }


def _records(
    name: str, rows: list[Facts], without: Sequence[str] = ()
) -> tuple[str, list[str], list[list[Any]]]:
    header = [key for key in (rows[0] if rows else ()) if key not in without]
    return name, header, [[row[column] for column in header] for row in rows]
