"""Reading statements in chunks, for what does not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from trilens._parameters import whole_number
from trilens.files.asked import Asked, asked
from trilens.files.batch import Batch, StatementFile
from trilens.files.names import Names, Naming
from trilens.files.objects import Objects, ObjectsLike, names_or_ids, object_list
from trilens.files.read import no_statements, one_kind, open_file, sound, stored_names
from trilens.files.source import PathLike, sources
from trilens.files.spec import ColumnsLike
from trilens.statements import Kind, Statements, concatenate

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
    _skip: _Skip | None = field(default=None, repr=False)

    def __iter__(self) -> Iterator[Statements]:
        rows = 0
        for file in self._files:
            batches = _batches(file, self._naming.integers, self._skip)
            parts = (self._naming.statements(batch, self.kind) for batch in batches)
            for chunk in _in_chunks(parts, self.chunk_rows):
                rows += len(chunk)
                yield chunk
        _refuse_nothing(self._files, rows)


def scan_statements(
    path_or_glob: PathLike | Sequence[PathLike],
    chunk_rows: int = 1_000_000,
    kind: str | None = None,
    columns: ColumnsLike | None = None,
    objects: ObjectsLike | None = None,
    *,
    preset: str | None = None,
    header: bool | None = None,
    counts_from: int | None = None,
    encoding: str | None = None,
    skip_bad: bool = False,
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
    kind, columns, objects, preset, header, counts_from, encoding, skip_bad
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
    listed = object_list(objects)
    wish = asked(
        kind,
        columns,
        preset=preset,
        header=header,
        counts_from=counts_from,
        skip_bad=skip_bad,
        objects=listed,
    )
    files = tuple(
        open_file(source, wish) for source in sources(path_or_glob, spool=True, encoding=encoding)
    )
    settled = one_kind(files, wish.kind)
    skip = _Skip(listed) if skip_bad else None
    naming = _naming(files, listed, wish, skip)
    return Scan(naming.n_objects, tuple(naming.listed()), settled, rows, files, naming, skip)


@dataclass(frozen=True)
class _Skip:
    """That bad rows are left out, and what the caller lists."""

    listed: Objects | None


def _batches(file: StatementFile, integers: bool, skip: _Skip | None) -> Iterator[Batch]:
    for batch in file.batches(integers, BLOCK_BYTES):
        if skip is None:
            yield batch
        else:
            yield from sound([batch], skip.listed, file.stored)[0]


def _naming(
    files: Sequence[StatementFile], listed: Objects | None, wish: Asked, skip: _Skip | None
) -> Naming:
    """The objects, from the list, from the files' own lists or from a pass over all rows."""
    if listed is not None and not _by_number(files, listed):
        return listed.naming()
    stored = [file.stored for file in files if file.stored is not None]
    alike = {(naming.names, naming.n_objects) for naming in stored}
    if listed is None and len(stored) == len(files) and len(alike) == 1:
        return stored[0]
    names, rows = Names({*wish.listed, *stored_names(files)}), 0
    for file in files:
        for batch in _batches(file, True, skip):
            names.add(batch)
            rows += len(batch)
    _refuse_nothing(files, rows)
    if listed is None:
        # names that a file carries, statements or not, come before those found in rows
        return names.naming(stored_names(files))
    seen = names.seen()
    by_line = listed.by_line(seen, wish.counts_from)
    return by_line[0] if by_line is not None else names_or_ids(listed, seen).naming()


def _by_number(files: Sequence[StatementFile], listed: Objects) -> bool:
    """Whether the objects may be ids, or lines of the list; most often they are its names."""
    if listed.ids is not None:
        return True
    first = next((batch for file in files for batch in file.batches(True, BLOCK_BYTES)), None)
    return first is not None and first.integers and not any(name.isdigit() for name in listed.names)


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
