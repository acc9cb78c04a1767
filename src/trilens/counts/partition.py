"""What is counted at a time: a file, or some row groups of a Parquet file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from trilens.errors import FormatError
from trilens.files.source import (
    PathLike,
    checked_path,
    file_paths,
    is_url,
    one_line,
    open_source,
    size_of,
    stamp_of,
)
from trilens.files.tables import parquet_rows

#: Rows of a Parquet file that are counted at a time: a few tenths of a second of work.
PARTITION_ROWS = 1 << 24


@dataclass(frozen=True)
class Partition:
    """A file, or row groups ``start`` to ``stop`` (not included) of a Parquet file.

    ``stamp`` is what changes when the file does: its size and the time of its last change.
    """

    path: str
    start: int = 0
    stop: int | None = None
    first_row: int = 1
    size: int = 0
    stamp: str = ""

    @property
    def label(self) -> str:
        """How messages name it."""
        if self.stop is None:
            return self.path
        return f"{self.path}, row groups {self.start} to {self.stop - 1}"

    @property
    def identity(self) -> str:
        """What was counted, for the name of its checkpoint."""
        place = self.path if is_url(self.path) else os.path.abspath(self.path)
        return f"{place}\0{self.start}\0{self.stop}\0{self.stamp}"


def partitions(given: PathLike | Sequence[PathLike]) -> list[Partition]:
    """The partitions of files, folders, patterns and URLs, in their order.

    A Parquet file that cannot be opened is left whole, for whoever counts it to refuse.
    """
    found: list[Partition] = []
    for one in file_paths(given):
        path = checked_path(one)
        if path == "-":
            found.append(Partition(path))
            continue
        stamp, size = stamp_and_size(path)
        runs = _runs(path)
        if len(runs) <= 1:
            found.append(Partition(path, size=size, stamp=stamp))
            continue
        found += [
            Partition(path, low, high, row, size * (high - low) // runs[-1][1], stamp)
            for low, high, row in runs
        ]
    return found


def stamp_and_size(path: str) -> tuple[str, int]:
    """What changes when the file does, and its size."""
    if is_url(path):
        return stamp_of(path), size_of(path)
    # book.xlsx::sheet is a part of a file
    name = path.split("::", 1)[0] if not os.path.exists(path) else path
    try:
        facts = os.stat(name)
    except FileNotFoundError as error:
        raise FormatError(f"{path}: there is no such file; check the path") from error
    except (OSError, ValueError) as error:
        raise FormatError(f"{path!r} cannot be read: {one_line(error)}") from error
    return f"{facts.st_size} {facts.st_mtime_ns}", facts.st_size


def _runs(path: str) -> list[tuple[int, int, int]]:
    """Row groups from, to (not included), and the file's number of the first row."""
    if not path.lower().endswith(".parquet"):
        return []
    try:
        rows = parquet_rows(open_source(path))
    except FormatError:
        return []
    runs, start, within, row, first = [], 0, 0, 1, 1
    for group, size in enumerate(rows):
        if within and within + size > PARTITION_ROWS:
            runs.append((start, group, first))
            start, within, first = group, 0, row
        within += size
        row += size
    return [*runs, (start, len(rows), first)] if rows else []
