"""Reading statements in chunks, for what does not fit in memory."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from trilens._typing import AnyArray
from trilens.errors import FormatError, ParameterError
from trilens.formats.archive import read_archive
from trilens.formats.batch import Mode, NotIntegers
from trilens.formats.columns import check_kind, column_list
from trilens.formats.names import (
    IntegerNames,
    Naming,
    TextNames,
    TextNaming,
    in_order,
    listed_naming,
)
from trilens.formats.objects import object_list
from trilens.formats.read import open_file, refuse_columns
from trilens.formats.source import PathLike, Source, open_source
from trilens.formats.tables import TableFile
from trilens.formats.text import TextFile
from trilens.statements import Kind, Statements

#: Bytes of a file that are parsed at a time.
BLOCK_BYTES = 1 << 24


@dataclass(frozen=True)
class Archive:
    """An NPZ file, which numpy can only read whole."""

    source: Source
    kind: Kind | None

    @property
    def label(self) -> str:
        return self.source.label


File = TextFile | TableFile | Archive


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
    _files: tuple[File, ...] = field(repr=False)
    _naming: Naming = field(repr=False)
    _mode: Mode = field(repr=False)

    def __iter__(self) -> Iterator[Statements]:
        rows = 0
        for file in self._files:
            for chunk in _in_chunks(self._parts(file), self.chunk_rows):
                rows += len(chunk)
                yield chunk
        _refuse_nothing(self._files, rows)

    def _parts(self, file: File) -> Iterator[Statements]:
        if isinstance(file, Archive):
            yield read_archive(file.source, self.kind, self.names)
            return
        naming, mode, done = self._naming, self._mode, 0
        if mode == "integers":
            try:
                for batch in file.batches("integers", BLOCK_BYTES):
                    ids = naming.ids(batch)
                    yield batch.to_statements(ids, self.kind, naming.n_objects, naming.names)
                    done += len(batch)
                return
            except NotIntegers:
                # with a list of objects nothing was read before: go on as text where this ended
                naming = TextNaming(self.names)
        for batch in file.batches("text", BLOCK_BYTES):
            ids = naming.ids(batch)
            part = batch.to_statements(ids, self.kind, naming.n_objects, naming.names)
            new = part if done == 0 else part.take(np.arange(min(done, len(part)), len(part)))
            done -= min(done, len(part))
            if len(new):
                yield new


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
    if isinstance(chunk_rows, bool) or int(chunk_rows) != chunk_rows or chunk_rows < 1:
        raise ParameterError(f"chunk_rows is {chunk_rows!r}; it must be a whole number, 1 or more")
    asked, named, listed = check_kind(kind), column_list(columns), object_list(objects)
    files = tuple(_open(path, named, asked) for path in _paths(path_or_glob))
    settled = _one_kind(files, asked)
    naming, mode = _naming(files, listed)
    names = naming.names
    if names is None:
        names = tuple(map(str, range(naming.n_objects)))
    return Scan(naming.n_objects, names, settled, int(chunk_rows), files, naming, mode)


def _paths(given: PathLike | Sequence[PathLike]) -> list[PathLike]:
    if not isinstance(given, str | os.PathLike):
        paths = list(given)
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


def _open(path: PathLike, columns: list[str] | None, kind: Kind | None) -> File:
    source = open_source(path, spool=True)
    if source.format != "npz":
        return open_file(source, columns, kind)
    refuse_columns(columns, source)
    return Archive(source, read_archive(source, kind, None).kind)


def _one_kind(files: Sequence[File], asked: Kind | None) -> Kind:
    said: dict[Kind, str] = {}
    for file in files:
        kind = file.kind if isinstance(file, Archive) else file.layout.kind
        said.setdefault(kind or asked or "central", file.label)
    if len(said) > 1:
        (first, at_first), (second, at_second) = list(said.items())[:2]
        raise FormatError(
            f"{at_first} has statements of kind {first}, but {at_second} of kind {second}; "
            f"scan each kind by itself, or give the files that do not say it a kind="
        )
    return next(iter(said))


def _naming(files: Sequence[File], listed: list[str] | None) -> tuple[Naming, Mode]:
    """The objects, from the list, from the files' metadata or from a pass over all rows."""
    stored = {None if isinstance(file, Archive) else file.stored_names for file in files}
    known: Sequence[str] | None = listed
    if known is None and len(stored) == 1:
        known = next(iter(stored))
    if known is not None:
        if any(not isinstance(file, Archive) and file.doubtful_header for file in files):
            with suppress(NotIntegers):
                _first_pass(files, "integers")  # refuses an unknown header
        naming, integers = listed_naming(known)
        return naming, "integers" if integers else "text"
    if stored == {None} and not any(isinstance(file, Archive) for file in files):
        with suppress(NotIntegers):
            return _first_pass(files, "integers"), "integers"
    return _first_pass(files, "text"), "text"


def _first_pass(files: Sequence[File], mode: Mode) -> Naming:
    found = IntegerNames() if mode == "integers" else TextNames()
    stored: dict[str, None] = {}
    rows = 0
    for file in files:
        if isinstance(file, Archive):
            part = read_archive(file.source, None, None)
            stored.update(dict.fromkeys(part.names))
            rows += len(part)
            continue
        stored.update(dict.fromkeys(file.stored_names or ()))
        for batch in file.batches(mode, BLOCK_BYTES):
            found.add(batch)
            rows += len(batch)
    _refuse_nothing(files, rows)
    naming = found.naming()
    if not stored:
        return naming
    # names that a file carries, statements or not, come before those found in rows
    names = naming.names
    seen = names if names is not None else tuple(map(str, range(naming.n_objects)))
    return TextNaming(in_order(list(dict.fromkeys([*stored, *seen]))))


def _refuse_nothing(files: Sequence[File], rows: int) -> None:
    """Text without a statement is an accident; a table without rows may be meant."""
    if not rows and any(isinstance(file, TextFile) for file in files):
        raise FormatError(
            f"{files[0].label} has no statements, only a header; add a row per statement"
        )


def _in_chunks(parts: Iterator[Statements], rows: int) -> Iterator[Statements]:
    """The same statements in chunks of ``rows``; the last has what is left."""
    waiting: list[Statements] = []
    n_waiting = 0
    for part in parts:
        start = 0
        while len(part) - start >= rows - n_waiting:
            stop = start + rows - n_waiting
            yield _joined([*waiting, part.take(np.arange(start, stop))])
            waiting, n_waiting, start = [], 0, stop
        if start < len(part):
            waiting.append(part.take(np.arange(start, len(part))) if start else part)
            n_waiting += len(part) - start
    if waiting:
        yield _joined(waiting)


def _joined(parts: list[Statements]) -> Statements:
    if len(parts) == 1:
        return parts[0]
    first = parts[0]

    def column(name: str) -> AnyArray | None:
        arrays = [getattr(part, name) for part in parts]
        if any(array is None for array in arrays):
            return None
        if len({array.dtype.kind for array in arrays}) > 1:  # rounds that are not all integers
            arrays = [array.astype(str) for array in arrays]
        return np.concatenate(arrays)

    return Statements(
        np.concatenate([part.triples for part in parts]),
        first.n_objects,
        first._names,
        first.kind,
        column("raters"),
        column("rounds"),
        column("seconds"),
    )
