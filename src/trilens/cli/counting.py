"""Commands that need no more than counts: of a counts file, or of files too large to hold."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from trilens.cli.options import Source
from trilens.cli.progress import bar
from trilens.cli.said import at_the_end
from trilens.cli.tables import note

if TYPE_CHECKING:
    from trilens.counts import Counted

#: Up to so many objects all pairs are counted.
PAIRED_OBJECTS = 4096
#: From so many bytes on, statement files are counted as they are read.
STREAMED_BYTES = 1 << 26


def counts_of(source: Source, *, pairs: bool = False, streamed: bool = True) -> Counted | None:
    """The counts of a counts file, or of large statement files; None: read the statements.

    Parameters
    ----------
    pairs
        Whether the command works on pairs; a counts file must have them.
    streamed
        Whether counts would do for a large statement file.
    """
    from trilens.counts.file import is_counts, read_counts
    from trilens.errors import FormatError

    if is_counts(source.file):
        for option in ("kind", "columns", "objects"):
            if getattr(source, option) is not None:
                raise click.UsageError(f"--{option} does not go with a file of counts")
        if not source.selecting.takes_all:
            raise click.UsageError(
                "--exclude-raters, --min-seconds and --where need the statements, not counts"
            )
        found = read_counts(source.file).with_names()
        if pairs and found.pairs is None:
            raise FormatError(
                f"{source.file} has no counts of pairs; count the statements with --pairs"
            )
        return found
    if not streamed or not source.selecting.sifts:
        return None  # counts do not know who answered
    if _size(source.file) < STREAMED_BYTES:
        return None
    if isinstance(source.how.get("skip_bad"), str):
        return None  # the bad rows are wanted: only a whole reading has them all
    from trilens.counts.counting import count_files

    with bar(f"counting {source.file}") as progress:
        found = count_files(
            source.file,
            pairs=pairs,
            first=source.counted[0] if source.counted else None,
            progress=progress,
            kind=source.kind,
            columns=source.columns,
            objects=source.objects,
            where=source.selecting.where,
            **source.how,
        )
    if not source.quiet:
        _tell(found, source.selecting.where)
    return found


def refuse_counts(source: Source, command: str) -> None:
    """Raise `FormatError` for a file of counts."""
    from trilens.counts.file import is_counts
    from trilens.errors import FormatError

    if is_counts(source.file):
        raise FormatError(
            f"{source.file} holds counts; {command} needs the statements that were counted"
        )


def reading_of(source: Source, *, many: bool = False) -> dict[str, Any] | None:
    """How to read files that are too large to hold, with their counts; None: as always.

    Parameters
    ----------
    many
        Only where there are more objects than a matrix of pairs can have.
    """
    from trilens.counts.file import is_counts

    if not source.selecting.takes_all:
        return None
    if source.objects is not None or isinstance(source.how.get("skip_bad"), str):
        return None
    if _size(source.file) < STREAMED_BYTES or is_counts(source.file):
        return None
    from trilens.counts.counting import count_files

    reading = {"kind": source.kind, "columns": source.columns, **source.how}
    with bar(f"counting {source.file}") as progress:
        found = count_files(source.file, progress=progress, **reading)
    if many and found.n_objects <= PAIRED_OBJECTS:
        source.counted.append(found)
        return None
    if not source.quiet:
        _tell(found)
    return {**reading, "counts": found}


def _tell(found: Counted, where: Sequence[str] = ()) -> None:
    def say() -> None:
        which = f" where {' and '.join(where)}" if where else ""
        note(
            f"counted {found.statements:,} statements of kind {found.kind} about "
            f"{found.n_objects:,} objects as they were read{which}; raters are not looked at"
        )
        if found.n_skipped:
            note(f"skipped {found.n_skipped:,}, such as {found.skipped[0]}")

    at_the_end(say)


def _size(file: str) -> int:
    """Bytes of all files; 0 for what can only be read once, or cannot be found."""
    from trilens.errors import TrilensError
    from trilens.files.source import file_paths, is_url, size_of

    if file == "-":
        return 0
    try:
        paths = [os.fspath(path) for path in file_paths(file)]
        return sum(size_of(path) if is_url(path) else os.stat(path).st_size for path in paths)
    except (TrilensError, OSError, ValueError):
        return 0  # reading it says what is wrong
