"""A counts file that keeps up with a growing folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from trilens.counts.counted import Counted
from trilens.counts.counting import count_files
from trilens.counts.file import read_counts, write_counts
from trilens.counts.partition import FileChanged, stamp_and_size
from trilens.errors import FormatError
from trilens.files.source import PathLike, checked_path, file_paths

#: Files that are counted before the counts are written.
_FILES = 256
#: What is left out, named at most.
_MOST_NAMED = 20


@dataclass(frozen=True)
class Look:
    """What one look at the folder found."""

    #: Files that were new, and those that are counted by now.
    counted: int
    files: int
    statements: int
    #: Files that changed after they were counted, or are gone: their counts stay as they were.
    changed: tuple[str, ...] = ()
    #: Rows that were skipped at this look.
    skipped: int = 0
    #: What was skipped, the first of it, and the files that could not be read: these are tried
    #: again at the next look.
    left_out: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self) | {"changed": list(self.changed), "left_out": list(self.left_out)}

    def __str__(self) -> str:
        said = (
            f"{self.counted:,} new {'file' if self.counted == 1 else 'files'}, "
            f"{self.files:,} in all, {self.statements:,} statements"
        )
        if self.skipped:
            said += f", {self.skipped:,} rows skipped"
        if self.left_out:
            said += f", left out {'; '.join(self.left_out[:3])}"
        if self.changed:
            said += f", changed or gone after they were counted: {', '.join(self.changed[:3])}"
        return said


def follow(
    folder: PathLike,
    output: PathLike,
    *,
    every: float | None = None,
    wait: Callable[[float], None] = time.sleep,
    **options: Any,
) -> Iterator[Look]:
    """Count each file of a folder once, and keep a counts file up to date with it.

    The list of the files that are in the counts stands in the counts file itself, which is
    replaced whole: after a crash at any moment, a file is counted or it is not, never twice.

    Parameters
    ----------
    folder : path
        Files must appear there complete: written elsewhere, or under another ending, and
        renamed. A file that changes while it is read is left for the next look.
    output : path
        The counts; those that are there are gone on from.
    every : float, optional
        Seconds between two looks; None: one look.
    options
        Of `count_files`. Pairs and classes are not among them.

    Yields
    ------
    Look
        After each look.
    """
    name, target = checked_path(folder), checked_path(output)
    if options.get("pairs") or options.get("labels"):
        raise FormatError("pairs and classes cannot be counted while a folder is followed")
    options = {key: value for key, value in options.items() if key != "checkpoint"}
    while True:
        total, seen = _so_far(target)
        fresh = [path for path in _files(name, target) if path not in seen]
        done, skipped = 0, 0
        left_out: list[str] = []
        for at in range(0, len(fresh), _FILES):
            some = fresh[at : at + _FILES]
            stamps = {path: stamp_and_size(os.path.join(name, path))[0] for path in some}
            found, some, unread = _count(name, some, options)
            left_out += unread
            if found is None:
                continue
            skipped += found.n_skipped
            left_out += found.skipped
            total = found if total is None else total + found
            seen |= {path: stamps[path] for path in some}
            total = replace(total, files=tuple(seen.items()))
            write_counts(total, target)
            done += len(some)
        changed = tuple(sorted(path for path in seen if _stamp(name, path) != seen[path]))
        statements = 0 if total is None else total.statements
        yield Look(done, len(seen), statements, changed, skipped, tuple(left_out[:_MOST_NAMED]))
        if every is None:
            return
        wait(every)


def _count(
    folder: str, some: list[str], options: dict[str, Any]
) -> tuple[Counted | None, list[str], list[str]]:
    """The counts of files, which these are, and what is said of those that cannot be read.

    One that changes meanwhile, or cannot be read although bad rows are skipped, is left for later.
    """
    try:
        found = count_files([os.path.join(folder, path) for path in some], **options)
        if not found.n_skipped or (len(some) == 1 and found.statements):
            return found, some, []
        if len(some) == 1:
            return None, [], list(found.skipped)
    except FileChanged:
        if len(some) == 1:
            return None, [], []
    total, kept, unread = None, [], []
    for path in some:
        one, its, why = _count(folder, [path], options)
        unread += why
        if one is not None:
            total = one if total is None else total + one
            kept += its
    return total, kept, unread


def _files(folder: str, output: str) -> list[str]:
    try:
        found = [checked_path(path) for path in file_paths(folder)]
    except FormatError:
        if not os.path.isdir(folder):
            raise
        return []  # nothing has come yet
    own = os.path.realpath(output)
    return [os.path.relpath(path, folder) for path in found if os.path.realpath(path) != own]


def _stamp(folder: str, path: str) -> str:
    try:
        return stamp_and_size(os.path.join(folder, path))[0]
    except FormatError:
        return ""


def _so_far(output: str) -> tuple[Counted | None, dict[str, str]]:
    """What was counted, and of which files."""
    if not os.path.exists(output):
        return None, {}
    found = read_counts(output)
    if found.statements and not found.files:
        raise FormatError(
            f"{output} does not say which files were counted, so it cannot be continued; "
            f"give another output file"
        )
    return found, dict(found.files)
