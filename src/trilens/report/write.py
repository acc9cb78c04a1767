"""The page and its tables on disk, whole or not at all."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from trilens.errors import FormatError
from trilens.report.collected import Facts
from trilens.report.page import render
from trilens.report.pictures import Pictures, load_pictures


def picture_size(n_objects: int) -> int:
    """The longer side of a thumbnail in pixels: smaller where there are many."""
    return 280 if n_objects <= 100 else 160 if n_objects <= 1000 else 96


def pictures_for(facts: Facts, folder: str | Path) -> Pictures:
    """The thumbnails that the page of these facts shows."""
    names = [row["object"] for row in facts["objects"]]
    return load_pictures(folder, names, picture_size(len(names)))


def check_folders(output: str | None, images: str | None) -> None:
    """Refuse folders that are not there before the work begins."""
    if output not in (None, "-") and not Path(str(output)).absolute().parent.is_dir():
        folder = Path(str(output)).parent
        raise FormatError(
            f"{output} cannot be written: the folder {folder} does not exist; make it first"
        )
    if images is not None and not Path(images).is_dir():
        raise FormatError(f"{images}: there is no such folder of pictures; check --images")


def default_title(file: str) -> str:
    """A title from the name of the statement file.

    >>> default_title("data/T_ALL.csv"), default_title("-")
    ('What the answers in T_ALL say', 'What the answers say')
    """
    stem = Path(file).name.split(".")[0]
    return "What the answers say" if stem in ("", "-") else f"What the answers in {stem} say"


def command_line(file: str, options: dict[str, Any], output: str | None) -> str:
    """The command that makes the same report again.

    >>> command_line("my answers.csv", {"--seed": 0, "--labels": None}, "report.html")
    "trilens analyze 'my answers.csv' -o report.html --seed 0"
    """
    words = ["trilens", "analyze", file]
    words += ["--json"] if output is None else ["-o", output]
    for option, value in options.items():
        if value is not None:
            words += [option, str(value)]
    return shlex.join(words)


def write_report(facts: Facts, path: str | Path, pictures: Pictures | None = None) -> None:
    """Write the page to a file."""
    from trilens.formats import atomic_write

    # a name read from elsewhere may hold half a character, which UTF-8 has no bytes for
    page = render(facts, pictures).encode("utf-8", "replace")
    with atomic_write(path) as file:
        file.write(page)


def write_tables(facts: Facts, folder: str | Path) -> list[Path]:
    """Write the facts as CSV files: objects, clusters, candidates, raters, edges, methods.

    Parameters
    ----------
    facts : dict
        Of `analyze`.
    folder
        Made if it is missing.

    Returns
    -------
    list of Path
    """
    from trilens.formats import atomic_write

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
    yield _records("objects", facts["objects"])
    names = [row["object"] for row in facts["objects"]]
    groups = [
        {key: value for key, value in group.items() if key not in ("objects", "classes")}
        for group in facts["clusters"]["clusters"]
    ]
    yield _records("groups", groups)
    if facts["clusters"]["candidates"]:
        yield _records("group_numbers", facts["clusters"]["candidates"])
    if facts["collected"]["raters"]:
        unit = facts["collected"]["rater_unit"] or "rater"
        yield _records(f"{unit}s", facts["collected"]["raters"])
    edges = [[names[i], names[j]] for i, j in facts["map"]["graph"]["edges"]]
    yield "edges", ["object_1", "object_2"], edges
    if facts["classes"] is not None:
        rows = [[m["method"], m["error"]] for m in facts["classes"]["methods"]]
        yield "methods", ["method", "error"], rows
        if facts["classes"]["contradicted"]:
            yield _records("contradicted_labels", facts["classes"]["contradicted"])


def _records(name: str, rows: list[Facts]) -> tuple[str, list[str], list[list[Any]]]:
    header = list(rows[0]) if rows else []
    return name, header, [[row[column] for column in header] for row in rows]
