"""Reading statements in chunks, for what does not fit in memory."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from trilens._parameters import whole_number
from trilens.errors import FormatError, ParameterError
from trilens.formats.batch import StatementFile
from trilens.formats.columns import asked_kind, column_list
from trilens.formats.names import Names, Naming
from trilens.formats.objects import object_list
from trilens.formats.read import no_statements, open_file
from trilens.formats.source import PathLike
from trilens.statements import Kind, Statements, concatenate
from trilens.statements.columns import as_list

#: Bytes of a file that are parsed at a time.
BLOCK_BYTES = 1 << 24


@dataclass(frozen=True)
class Scan:
    """Statements of one or several files, chunk by chunk; every loop reads the files anew.

    All chunks share ``names``, ``n_objects`` and ``kind``, so that counts of chunks add up to
    the counts of the whole.
    """

    n_objects: int
    names: tuple[str, ...] = field(repr=False)
    kind: Kind
    chunk_rows: int
    _files: tuple[StatementFile, ...] = field(repr=False)
    _naming: Naming = field(repr=False)

    def __iter__(self) -> Iterator[Statements]:
        rows = 0
        for file in self._files:
            batches = file.batches(self._naming.integers, BLOCK_BYTES)
            parts = (self._naming.statements(batch, self.kind) for batch in batches)
            for chunk in _in_chunks(parts, self.chunk_rows):
                rows += len(chunk)
                yield chunk
        _refuse_nothing(self._files, rows)


def scan_statements(
    path_or_glob: PathLike | Sequence[PathLike],
    chunk_rows: int = 1_000_000,
    kind: str | None = None,
    columns: Sequence[str] | str | None = None,
    objects: PathLike | Iterable[str] | None = None,
) -> Scan:
    """Read statements that do not fit in memory, chunk by chunk.

    The ids are fixed before the first chunk: by ``objects``, by the names that a Parquet or
    Arrow file of trilens carries, or else by a first pass over the files that collects the
    names alone. Objects have the same order as with `read_statements` on the files in turn.

    Parameters
    ----------
    path_or_glob : path, pattern or list of paths
        A pattern such as ``"day-*.csv"`` stands for the files that it matches, sorted. ``"-"``
        is the standard input, kept in a temporary file.
    chunk_rows : int
        Statements in a chunk; the last one of a file has what is left. Text is parsed in
        blocks of 16 MB, whatever the size of a chunk. An NPZ file is held whole.
    kind, columns, objects
        As in `read_statements`, the same for all files.

    Returns
    -------
    Scan
        Iterate over it, as often as you like, for `Statements` that share ``names``,
        ``n_objects`` and ``kind``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "1.csv").write_text("3,1,2\\n1,2,4\\n")
    >>> _ = (folder / "2.csv").write_text("4,1,2\\n")
    >>> scan = scan_statements(str(folder / "*.csv"), chunk_rows=1)
    >>> scan.names, [part.triples.tolist() for part in scan]
    (('1', '2', '3', '4'), [[[2, 0, 1]], [[0, 1, 3]], [[3, 0, 1]]])
    """
    rows = whole_number("chunk_rows", chunk_rows, least=1)
    asked, named, listed = asked_kind(kind), column_list(columns), object_list(objects)
    files = tuple(
        open_file(path, asked, named, listed, spool=True) for path in _paths(path_or_glob)
    )
    settled = _one_kind(files, asked)
    naming = _naming(files, listed)
    return Scan(naming.n_objects, tuple(naming.listed()), settled, rows, files, naming)


def _paths(given: PathLike | Sequence[PathLike]) -> list[PathLike]:
    if not isinstance(given, str | os.PathLike):
        paths = as_list(given, "the files")
        if not paths:
            raise ParameterError("scan_statements needs at least one file")
        return paths
    pattern = os.fspath(given)
    if pattern == "-" or not glob.has_magic(pattern) or Path(pattern).exists():
        return [given]
    found = sorted(glob.glob(pattern))
    if not found:
        raise FormatError(f"{pattern}: no file matches the pattern; check the path")
    return list(found)


def _one_kind(files: Sequence[StatementFile], asked: Kind | None) -> Kind:
    said: dict[Kind, str] = {}
    for file in files:
        said.setdefault(file.kind or asked or "central", file.label)
    if len(said) > 1:
        (first, at_first), (second, at_second) = list(said.items())[:2]
        raise FormatError(
            f"{at_first} has statements of kind {first}, but {at_second} of kind {second}; "
            f"scan each kind by itself, or give the files that do not say it a kind="
        )
    return next(iter(said))


def _naming(files: Sequence[StatementFile], listed: list[str] | None) -> Naming:
    """The objects, from the list, from the files' own lists or from a pass over all rows."""
    if listed is not None:
        return Naming(listed)
    stored = [file.stored for file in files if file.stored is not None]
    objects = {(naming.names, naming.n_objects) for naming in stored}
    if len(stored) == len(files) and len(objects) == 1:
        return stored[0]
    names, rows = Names(), 0
    for file in files:
        for batch in file.batches(True, BLOCK_BYTES):
            names.add(batch)
            rows += len(batch)
    _refuse_nothing(files, rows)
    # names that a file carries, statements or not, come before those found in rows
    return names.naming([name for naming in stored for name in naming.listed()])


def _refuse_nothing(files: Sequence[StatementFile], rows: int) -> None:
    if not rows and not all(file.may_be_empty for file in files):
        raise no_statements(files[0])


def _in_chunks(parts: Iterator[Statements], rows: int) -> Iterator[Statements]:
    """The same statements in chunks of ``rows``; the last has what is left."""
    waiting: list[Statements] = []
    n_waiting = 0
    for part in parts:
        start = 0
        while len(part) - start >= rows - n_waiting:
            stop = start + rows - n_waiting
            yield concatenate([*waiting, part.take(np.arange(start, stop))])
            waiting, n_waiting, start = [], 0, stop
        if start < len(part):
            waiting.append(part.take(np.arange(start, len(part))) if start else part)
            n_waiting += len(part) - start
    if waiting:
        yield concatenate(waiting)
