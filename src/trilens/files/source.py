"""Where statements come from: a file, a compressed file or the standard input."""

from __future__ import annotations

import codecs
import errno
import gzip
import os
import shutil
import stat
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BytesIO, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

import numpy as np

from trilens.errors import FormatError, TrilensError

PathLike: TypeAlias = str | os.PathLike[str]

#: The format behind each ending.
ENDINGS = {
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
    ".dat": "text",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".npz": "npz",
    ".npy": "npy",
    ".mat": "mat",
    ".xlsx": "excel",
    ".db": "sqlite",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
}
#: Formats that are read and not written.
READ_ONLY = frozenset({"npy", "mat", "excel", "sqlite"})
#: Formats that are text of some encoding.
TEXTUAL = frozenset({"text", "json", "jsonl"})
#: What may be around any of them.
PACKINGS = {".gz": "gz", ".zst": "zst", ".zip": "zip"}

_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"{": "jsonl",
    b"[": "json",
    b"\x93NUMPY": "npy",
    b"MATLAB": "mat",
    b"SQLite format 3": "sqlite",
}
_PACKED = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zst", b"PK\x03\x04": "zip"}


@dataclass(frozen=True)
class Source:
    """Something to read, any number of times."""

    #: How messages name it.
    label: str
    #: The ending that tells the format, lower case, packing taken off; "" where there is none.
    ending: str
    path: Path | None
    #: ``gz``, ``zst`` or nothing.
    packing: str = ""
    #: What came from the standard input, which can be read only once, or from an archive.
    stored: bytes | BinaryIO | None = field(default=None, repr=False)
    #: The table, sheet or variable that is meant.
    part: str | None = None

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The uncompressed bytes as a stream; every failure to get them is a `FormatError`."""
        with self.raw() as raw:
            if self.packing == "gz":
                with gzip.open(raw) as unpacked:
                    yield cast(BinaryIO, unpacked)
            elif self.packing == "zst":
                yield _unpacked_zst(raw)
            else:
                yield raw

    @contextmanager
    def raw(self) -> Iterator[BinaryIO]:
        """The bytes as they lie there."""
        try:
            if self.path is not None:
                with open(self.path, "rb") as raw:
                    yield raw
            elif self.stored is not None:
                yield self._stored_stream()
            elif sys.stdin is None:
                raise FormatError(f"{self.label} is closed; name a file")
            else:
                yield sys.stdin.buffer
        except (OSError, EOFError, zlib.error, ValueError, MemoryError) as error:
            if isinstance(error, TrilensError):
                raise
            raise FormatError(self._problem(error)) from error

    def read(self) -> bytes:
        """All bytes."""
        with self.open() as stream:
            return stream.read()

    @property
    def format(self) -> str:
        """One of the values of `ENDINGS`: by ending, else by content."""
        if self.ending in ENDINGS:
            return ENDINGS[self.ending]
        with self.open() as stream:
            head = stream.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
        if head.startswith(b"PK\x03\x04"):
            return "npz"
        return next((found for magic, found in _MAGIC.items() if head.startswith(magic)), "text")

    def _stored_stream(self) -> BinaryIO:
        if isinstance(self.stored, bytes):
            return BytesIO(self.stored)
        assert self.stored is not None
        self.stored.seek(0)
        return self.stored

    def _problem(self, error: Exception) -> str:
        if isinstance(error, FileNotFoundError):
            return f"{self.label}: there is no such file; check the path"
        if isinstance(error, IsADirectoryError):
            return f"{self.label} is a folder; give a statement file"
        if isinstance(error, PermissionError):
            return f"{self.label}: no permission to read it; change its permissions"
        if isinstance(error, MemoryError):
            return f"{self.label} does not fit in memory; use scan_statements"
        if isinstance(error, OSError) and error.errno == errno.EBADF:
            return f"{self.label} is closed; name a file"
        if isinstance(error, gzip.BadGzipFile | EOFError | zlib.error):
            what = "zstd" if self.packing == "zst" else "gzip"
            return (
                f"{self.label} is truncated or is not a {what} file "
                f"({one_line(error)}); compress it again"
            )
        why = error.strerror if isinstance(error, OSError) and error.strerror else one_line(error)
        return f"{self.label!r} cannot be read: {why}"


def open_source(path: PathLike, *, spool: bool = False) -> Source:
    """The source at ``path``; ``"-"`` is the standard input, ``book.xlsx::sheet`` a part.

    What is not a regular file (a pipe, the standard input) can be read only once: it is, with
    ``spool`` to a temporary file instead of the memory.
    """
    name = checked_path(path)
    if name == "-":
        return _read_once(Source("standard input", "", None), spool)
    from trilens.files.remote import is_url, open_url

    if is_url(name):
        return open_url(name)
    part: str | None = None
    if "::" in name and not os.path.exists(name):
        name, part = name.split("::", 1)
    file = Path(name)
    ending = file.suffix.lower()
    packing = PACKINGS.get(ending, "")
    if packing:
        ending = Path(file.stem).suffix.lower()
    source = Source(str(path), ending, file, "" if packing == "zip" else packing, part=part)
    return _read_once(source, spool) if _is_pipe(file) else source


def decoded(source: Source, encoding: str) -> Source:
    """The same text in UTF-8."""
    if not isinstance(encoding, str):
        raise FormatError(f"an encoding is named by text, not {one_line(repr(encoding), 40)}")
    try:
        name = codecs.lookup(encoding).name
        text = source.read().decode(encoding)
    except (LookupError, ValueError) as error:
        if isinstance(error, UnicodeError):
            raise FormatError(
                f"{source.label} is not {one_line(encoding, 40)} text ({one_line(error, 80)}); "
                f"try another encoding"
            ) from None
        raise FormatError(
            f"the encoding {one_line(encoding, 40)!r} is not known; "
            f"use one such as utf-8, latin-1, cp1252 or utf-16"
        ) from None
    if not isinstance(text, str):
        raise FormatError(f"{name} is no encoding of text; use one such as utf-8 or latin-1")
    data = text.removeprefix("\ufeff").encode("utf-8", "surrogatepass")
    return replace(source, path=None, packing="", stored=data)


def _unpacked_zst(raw: BinaryIO) -> BinaryIO:
    import pyarrow as pa

    stream = pa.CompressedInputStream(pa.PythonFile(_LeftOpen(raw), "r"), "zstd")
    return cast(BinaryIO, _Native(stream))


class _LeftOpen(RawIOBase):
    """A stream that pyarrow does not close: what is stored is read again."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        return self._stream.read(-1 if size is None else size)


class _Native(RawIOBase):
    """A stream of pyarrow's whose errors are Python's own."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, size: int | None = -1) -> bytes:
        import pyarrow as pa

        try:
            if size is None or size < 0:
                return bytes(self._stream.read())
            parts, missing = [], size
            while missing > 0:
                part = self._stream.read(missing)
                if not part:
                    break
                parts.append(part)
                missing -= len(part)
            return b"".join(parts)
        except (pa.ArrowException, OSError) as error:
            raise EOFError(str(error)) from error


def checked_path(path: PathLike) -> str:
    """The path as text, or one line that says what it must be."""
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else path
    if not isinstance(name, str):
        raise FormatError(f"a file is named by a path, not by {one_line(repr(path), 40)}")
    return name


def _is_pipe(file: Path) -> bool:
    try:
        mode = file.stat().st_mode
    except (OSError, ValueError):
        return False  # opening it says what is wrong
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _read_once(source: Source, spool: bool) -> Source:
    """The same with its bytes kept, uncompressed."""
    stored: bytes | BinaryIO
    with source.raw() as stream:
        if spool:
            stored = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115  # lives with the source
            shutil.copyfileobj(stream, stored)
            stored.seek(0)
            head = stored.read(4)
        else:
            stored = stream.read()
            head = stored[:4]
    packing = next((found for magic, found in _PACKED.items() if head.startswith(magic)), "")
    packing = "" if packing == "zip" else packing
    kept = Source(source.label, source.ending, None, packing, stored, source.part)
    if not isinstance(stored, bytes):
        weakref.finalize(kept, stored.close)
    return kept


def owned(data: bytes) -> Any:
    """A copy of the bytes in pyarrow's own memory, for its threads to read.

    A thread of pyarrow's may let go of what it reads some time after the call has returned;
    to let go of Python's memory it must wait for the interpreter, and where that is ending
    by then, the thread is killed and takes the process with it.
    """
    import pyarrow as pa

    buffer = pa.allocate_buffer(len(data))
    np.frombuffer(buffer, dtype=np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)
    return buffer


def one_line(text: object, most: int = 160) -> str:
    """Foreign text (a library's message, a cell) in one line of bounded length."""
    flat = " ".join(str(text).split())
    return flat if len(flat) <= most else f"{flat[:most]}..."


def quoted(cell: str, most: int = 60) -> str:
    """A name as messages show it."""
    return repr(cell) if len(cell) <= most else f"{cell[:most]!r}..."
