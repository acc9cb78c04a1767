"""Output files that appear whole or not at all, and plain tables in them."""

from __future__ import annotations

import errno
import gzip
import json
import os
import stat
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import RawIOBase
from pathlib import Path
from typing import Any, BinaryIO, cast

from trilens._typing import AnyArray
from trilens.errors import FormatError
from trilens.files.source import (
    PathLike,
    checked_path,
    file_paths,
    is_known,
    is_pattern,
    is_url,
    matches,
    one_line,
    quoted,
)

#: What a write, a flush or a close may meet. Other errors inside the `with` block are the
#: caller's own (a file that it reads meanwhile) and must not be blamed on the output.
_WRITE_PROBLEMS = {
    errno.ENOSPC: "the disk is full; free some space or write elsewhere",
    errno.EDQUOT: "the disk quota is used up; free some space or write elsewhere",
    errno.EFBIG: "the file is too large for this disk; write elsewhere",
    errno.EIO: "the disk reports an input/output error; write elsewhere",
    errno.EROFS: "the disk is read-only; write elsewhere",
    errno.EPIPE: "the reader closed the pipe before everything was written",
}


@contextmanager
def atomic_write(path: PathLike) -> Iterator[BinaryIO]:
    """A binary file that replaces ``path`` if the block succeeds, and vanishes otherwise.

    The bytes go to a temporary file in the same folder, which is flushed to the disk and
    then renamed; on any failure, ``KeyboardInterrupt`` included, it is removed and what
    stood at ``path`` stays as it was. ``"-"`` is the standard output; devices and pipes are
    written directly. A symbolic link is followed, not replaced.

    Raises
    ------
    FormatError
        Where the file cannot be written: one line that names it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with atomic_write(folder / "depth.txt") as file:
    ...     _ = file.write(b"0.5")
    >>> [found.name for found in folder.iterdir()]
    ['depth.txt']
    """
    name = checked_path(path)
    label = "standard output" if name == "-" else name
    try:
        if name == "-":
            if sys.stdout is None:
                raise FormatError("standard output is closed; write to a file")
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
            return
        target, mode = _target(path)
        if mode is not None and not stat.S_ISREG(mode):
            # a plain handle, closed with its buffer dropped when the write has failed
            with open(target, "wb", buffering=0) as device:
                yield device
            return
        with _temporary(target, mode) as file:
            yield file
    except OSError as error:
        problem = _WRITE_PROBLEMS.get(error.errno or 0)
        if problem is None:
            raise
        raise FormatError(f"{label}: {problem}") from error


@contextmanager
def packed_write(path: PathLike, packing: str) -> Iterator[BinaryIO]:
    """As `atomic_write`, compressed: ``gz``, ``zst`` or not at all."""
    with atomic_write(path) as target:
        if packing == "zst":
            import pyarrow as pa

            with pa.CompressedOutputStream(pa.PythonFile(_Open(target), "w"), "zstd") as packed:
                yield packed
        elif packing == "gz":
            # no name and no time inside: equal contents make equal files
            with gzip.GzipFile("", "wb", fileobj=target, mtime=0) as packed:
                yield cast(BinaryIO, packed)
        else:
            yield target


class _Open(RawIOBase):
    """A file that stays open: pyarrow closes what it has written to."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, data: Any) -> int:
        return self._file.write(data)

    def writable(self) -> bool:
        return True


def refuse_to_overwrite(output: PathLike, *inputs: PathLike | None) -> None:
    """Raise `FormatError` if an output file is also an input file, or would become one.

    Inputs may be folders and patterns.

    >>> refuse_to_overwrite("answers.csv", "./answers.csv", None)
    Traceback (most recent call last):
    ...
    trilens.errors.FormatError: answers.csv is an input file; write to another file
    """
    name = checked_path(output)
    for given in inputs:
        if given is None or "-" in (checked_path(given), name):
            continue
        if any(_is_same(path, output) for path in _files_of(checked_path(given))):
            raise FormatError(f"{name} is an input file; write to another file")
        if _would_belong(name, checked_path(given)):
            raise FormatError(f"{name} would be one of the files of {given}; write elsewhere")


def _files_of(given: str) -> list[PathLike]:
    """The files that an input stands for; none where reading it will say what is wrong."""
    if is_url(given):
        return []
    try:
        return file_paths(given)
    except FormatError:
        return []


def _is_same(given: PathLike, output: PathLike) -> bool:
    try:
        # a terminal is read and written
        return os.path.samefile(given, output) and stat.S_ISREG(os.stat(output).st_mode)
    except (OSError, ValueError):
        return os.path.realpath(given) == os.path.realpath(output)


def _would_belong(output: str, given: str) -> bool:
    """Whether an output would be read as a part of a folder or a pattern."""
    if is_url(given):
        return False
    target = Path(os.path.realpath(output))
    if os.path.exists(given):
        in_folder = os.path.isdir(given) and target.parent == Path(os.path.realpath(given))
        return in_folder and is_known(target.name)
    return is_pattern(given) and matches(str(target), os.path.realpath(given))


@contextmanager
def _temporary(target: Path, mode: int | None) -> Iterator[BinaryIO]:
    draft = target.with_name(f".{target.name[:64]}.{uuid.uuid4().hex}.part")
    try:
        # not tempfile: its files are private to the user, an output file obeys the umask
        handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
    except OSError as error:
        raise _cannot_open(target, error) from error
    try:
        with open(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(draft, stat.S_IMODE(mode))
        try:
            os.replace(draft, target)
        except OSError as error:
            raise _cannot_open(target, error) from error
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _target(path: PathLike) -> tuple[Path, int | None]:
    """Where to write, links followed, and the mode of what is there now."""
    try:
        target = Path(os.path.realpath(path))
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return target, None
    except (OSError, ValueError) as error:
        raise _cannot_open(Path(path), error) from error
    if stat.S_ISDIR(mode):
        raise FormatError(f"{os.fspath(path)} is a folder; give the name of a file to write")
    return target, mode


def _cannot_open(target: Path, error: OSError | ValueError) -> FormatError:
    if isinstance(error, FileNotFoundError) and not target.parent.is_dir():
        return FormatError(
            f"{target} cannot be written: the folder {target.parent} does not exist; "
            f"create it first"
        )
    if isinstance(error, PermissionError):
        return FormatError(
            f"{target} cannot be written: permission denied in {target.parent}; write elsewhere"
        )
    if isinstance(error, FileNotFoundError):
        return FormatError(
            f"{target} cannot be written: no file can be made in {target.parent}; write elsewhere"
        )
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return FormatError(f"{str(target)!r} cannot be written: {why}; write elsewhere")


def write_table(columns: Mapping[str, Sequence[Any] | AnyArray], path: PathLike) -> None:
    """Write columns of equal length under their names, by the ending of the file.

    ``.json`` is an array of records, ``.parquet`` a table, ``.tsv`` has tabs; any other ending,
    and ``-`` for standard output, is CSV. The file appears whole or not at all.
    """
    ending = Path(checked_path(path)).suffix.lower()
    if ending == ".json":
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        text = json.dumps(rows, ensure_ascii=False, allow_nan=False, default=_plain, indent=1)
        with atomic_write(path) as file:
            file.write(f"{text}\n".encode(errors="replace"))
        return
    import pyarrow as pa

    try:
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
    except UnicodeEncodeError as error:
        name = quoted(error.object)
        raise FormatError(f"{path}: {name} is not valid Unicode (a lone surrogate)") from error
    except (pa.ArrowException, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{path}: the columns do not make a table: {one_line(error)}") from error
    with atomic_write(path) as file:
        if ending == ".parquet":
            from pyarrow import parquet

            parquet.write_table(table, file, write_page_checksum=True)
        else:
            from pyarrow import csv

            separator = "\t" if ending == ".tsv" else ","
            csv.write_csv(
                table, file, csv.WriteOptions(delimiter=separator, quoting_style="needed")
            )


def _plain(value: Any) -> Any:
    return value.item()  # numpy's numbers
