"""Where data come from: files, folders, patterns, archives, URLs and pipes."""

from __future__ import annotations

import codecs
import errno
import gzip
import os
import re
import shutil
import stat
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, TypeAlias, cast

import numpy as np

from trilens.errors import FormatError, ParameterError, TrilensError
from trilens.statements.columns import as_list, is_table, one_line as one_line, quoted as quoted

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
    ".sav": "spss",
    ".zsav": "spss",
}
#: Formats that are read and not written.
READ_ONLY = frozenset({"npy", "mat", "excel", "sqlite", "spss"})
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
    b"$FL2": "spss",
    b"$FL3": "spss",
}
#: What JSON begins with, which JATOS writes into ``.txt`` files.
_JSON = re.compile(rb'\{\s*"|\[\s*[\[{"]')
#: What the bytes of a packed file begin with; the members of a zip archive are sources themselves.
_PACKED = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zst"}
_ZIP = b"PK\x03\x04"
#: What is written about data rather than in it, where its ending is that of any text.
_ABOUT = frozenset({"readme", "license", "licence", "copying", "notice", "changelog", "citation"})
#: Unpacked bytes of an archive: more is an accident, or worse.
_MOST = 1 << 33
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True)
class Source:
    """Something to read, any number of times."""

    #: How messages name it.
    label: str
    #: The ending that tells the format, lower case, packing taken off; "" where there is none.
    ending: str
    #: ``gz``, ``zst`` or nothing.
    packing: str = ""
    path: Path | None = None
    #: What came from the standard input, which can be read only once, or from an archive; or the
    #: stream of a URL, of which pieces are fetched as they are needed.
    stored: bytes | BinaryIO | None = field(default=None, repr=False)
    #: The table, sheet or variable that is meant.
    part: str | None = None
    #: The name of a file within an archive.
    member: str | None = None

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The uncompressed bytes as a stream; every failure to get them is a `FormatError`."""
        with self.raw() as raw:
            if self.packing == "gz":
                with gzip.open(raw) as unpacked:
                    yield cast(BinaryIO, unpacked)
            elif self.packing == "zst":
                import pyarrow as pa

                yield cast(BinaryIO, pa.input_stream(owned(raw.read()), compression="zstd"))
            else:
                yield raw

    @contextmanager
    def raw(self) -> Iterator[BinaryIO]:
        """The bytes as they are stored."""
        try:
            if self.path is not None:
                with open(self.path, "rb") as raw:
                    yield raw
            elif self.stored is not None:
                stream = BytesIO(self.stored) if isinstance(self.stored, bytes) else self.stored
                stream.seek(0)
                yield stream
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

    def part_of(self, what: str, names: Iterable[str]) -> str | None:
        """The part that is meant, such as a sheet, if one is; one that is not there is refused."""
        listed = list(names)
        if self.part is not None and self.part not in listed:
            raise FormatError(
                f"{self.label}: no {what} {one_line(self.part, 40)}; "
                f"the {what}s are {one_line(', '.join(listed), 120)}"
            )
        return self.part

    @property
    def format(self) -> str:
        """One of the values of `ENDINGS`: by ending, else by content, as JSON in ``.txt``."""
        if self.ending in ENDINGS and self.ending != ".txt":
            return ENDINGS[self.ending]
        with self.open() as stream:
            head = stream.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
        if self.ending == ".txt" and not _JSON.match(head):
            return "text"
        if head.startswith(_ZIP):
            return "npz"
        return next((found for magic, found in _MAGIC.items() if head.startswith(magic)), "text")

    def _problem(self, error: Exception) -> str:
        if isinstance(error, FileNotFoundError):
            return f"{self.label}: no such file; check the path"
        if isinstance(error, IsADirectoryError):
            return f"{self.label} is a folder; give a statement file"
        if isinstance(error, PermissionError):
            return f"{self.label}: permission denied; check the permissions of the file"
        if isinstance(error, MemoryError):
            return f"{self.label} does not fit in memory; use scan_statements"
        if isinstance(error, OSError) and error.errno == errno.EBADF:
            return f"{self.label} is closed; name a file"
        if self.packing and getattr(error, "errno", None) is None:
            what = "zstd" if self.packing == "zst" else "gzip"
            return (
                f"{self.label} is truncated or is not a {what} file "
                f"({one_line(error)}); compress it again"
            )
        why = error.strerror if isinstance(error, OSError) and error.strerror else one_line(error)
        return f"{self.label!r} cannot be read: {why}"


def open_source(path: PathLike) -> Source:
    """The source at ``path``; ``"-"`` is the standard input, ``book.xlsx::sheet`` a part.

    What is not a regular file (a pipe, the standard input) can be read only once: it is, to a
    temporary file.
    """
    name = checked_path(path)
    if name.lower().endswith(".fit"):
        raise FormatError(
            f"{name} is a fit, by its ending, and no table; trilens.load reads it, and questions "
            f"take it in place of answers"
        )
    if name == "-":
        return _read_once(Source("standard input", ""))
    if is_url(name):
        files, within = filesystem(name)
        with told(name):
            stream = cast(BinaryIO, files.open(within, "rb"))
        return Source(name, *_without_zip(within), stored=stream)
    part: str | None = None
    if "::" in name and not os.path.exists(name):
        name, part = name.split("::", 1)
    file = Path(name)
    source = Source(str(path), *_without_zip(name), file, part=part)
    return _read_once(source) if _is_pipe(file) else source


def ending_of(name: str) -> tuple[str, str]:
    """The ending that tells the format, and the packing around it.

    >>> ending_of("day.CSV.gz"), ending_of("study.db")
    (('.csv', 'gz'), ('.db', ''))
    """
    path = PurePosixPath(name.lower())
    packing = PACKINGS.get(path.suffix, "")
    return (PurePosixPath(path.stem).suffix if packing else path.suffix), packing


def _without_zip(name: str) -> tuple[str, str]:
    ending, packing = ending_of(name)
    return ending, "" if packing == "zip" else packing


def decoded(source: Source, encoding: str) -> Source:
    """The same text in UTF-8."""
    if not isinstance(encoding, str):
        raise FormatError(
            f"encoding must be a name such as 'utf-8', got {one_line(repr(encoding), 40)}",
            parameter="encoding",
        )
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
            f"unknown encoding {one_line(encoding, 40)!r}; "
            f"use one such as utf-8, latin-1, cp1252 or utf-16",
            parameter="encoding",
        ) from None
    if not isinstance(text, str):
        raise FormatError(f"{name} is not a text encoding; use one such as utf-8 or latin-1")
    data = text.removeprefix("\ufeff").encode("utf-8", "surrogatepass")
    return replace(source, path=None, packing="", stored=data)


def checked_path(path: PathLike) -> str:
    """The path as text, or one line that says what it must be."""
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else path
    if not isinstance(name, str):
        raise FormatError(f"expected a path, got {one_line(repr(path), 40)}")
    return name


def _is_pipe(file: Path) -> bool:
    try:
        mode = file.stat().st_mode
    except (OSError, ValueError):
        return False  # opening it says what is wrong
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _read_once(source: Source) -> Source:
    """The same source with its bytes kept in a temporary file."""
    stored = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115  # lives with the source
    with source.raw() as stream:
        shutil.copyfileobj(stream, stored)
    stored.seek(0)
    head = stored.read(4)
    packing = next((found for magic, found in _PACKED.items() if head.startswith(magic)), "")
    kept = Source(source.label, source.ending, packing, stored=stored, part=source.part)
    weakref.finalize(kept, stored.close)
    return kept


def sources(given: PathLike | Sequence[PathLike], *, encoding: str | None = None) -> list[Source]:
    """The sources of a path, a folder, a pattern, an archive or a list of these."""
    found = [member for path in file_paths(given) for member in _members(open_source(path))]
    if encoding is None:
        return [decoded(s, "utf-16") if _is_utf16(s) else s for s in found]
    return [decoded(s, encoding) if s.format in TEXTUAL else s for s in found]


def _is_utf16(source: Source) -> bool:
    """Whether the first two bytes of a text say that it is UTF-16."""
    if source.ending in ENDINGS and ENDINGS[source.ending] not in TEXTUAL:
        return False
    try:
        with source.open() as stream:
            head = stream.read(2)
    except FormatError:
        return False  # opening it says what is wrong
    return head in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def names_of(found: Sequence[Source]) -> list[str]:
    """What each file is called, without its endings; its folder too where that tells them apart.

    >>> names_of([Source("a/P1.csv", ".csv"), Source("a/P2.csv.gz", ".csv")])
    ['P1', 'P2']
    >>> names_of([Source("P1/data.csv", ".csv"), Source("P2/data.csv", ".csv")])
    ['P1', 'P2']
    """
    cut = [_parts_of_name(source) for source in found]
    for at in range(max(map(len, cut), default=0)):
        names = [parts[at] if at < len(parts) else "" for parts in cut]
        if all(names) and len(set(names)) == len(names):
            return names
    names = ["/".join(reversed(parts)) for parts in cut]
    if len(set(names)) < len(names):
        raise FormatError(
            "two files have the same name, so that it cannot be that of a rater; rename one",
            parameter="rater_from_name",
        )
    return names


def _parts_of_name(source: Source) -> list[str]:
    """The name of a file without its endings, then its folders, the nearest first."""
    path = PurePosixPath((source.member or source.label).replace(os.sep, "/"))
    name = path.name
    while PurePosixPath(name).suffix.lower() in (*ENDINGS, *PACKINGS):
        name = PurePosixPath(name).stem
    return [name, *reversed([part for part in path.parts[:-1] if part != "/"])]


def file_paths(given: PathLike | Sequence[PathLike]) -> list[PathLike]:
    """The files of a path, a folder, a pattern, a URL or a list of these."""
    if not isinstance(given, str | os.PathLike):
        if given is None or is_table(given) or hasattr(given, "triples"):
            raise ParameterError(
                f"expected the path of a file, got {type(given).__name__}; "
                f"trilens.Statements takes a table"
            )
        paths = as_list(given, "the files")
        if not paths:
            raise ParameterError("no files given; give at least one")
        return [path for one in paths for path in file_paths(checked_path(one))]
    name = checked_path(given)
    if name == "-" or (not is_url(name) and os.path.isfile(name)):
        return [given]
    files, path = filesystem(name)
    with told(name):
        if is_pattern(path) and (is_url(name) or not os.path.exists(name)):
            found = [str(one) for one in sorted(files.glob(path))]
            found = found if is_url(name) else [one for one in found if files.isfile(one)]
            problem = f"{name}: no file matches the pattern; check the path"
        elif files.isdir(path):
            inside = sorted(files.ls(path, detail=True), key=lambda one: str(one["name"]))
            plain = [str(one["name"]) for one in inside if one["type"] == "file"]
            found = [one for one in plain if is_known(_last(one))]
            problem = (
                f"{name} is a folder that contains no statement files; their endings are "
                f"{', '.join(ENDINGS)}, or one of them with .gz, .zst or .zip"
            )
        else:
            return [given]
    if not found:
        raise FormatError(problem)
    if is_url(name):
        return [str(files.unstrip_protocol(one)) for one in found]
    relative = not os.path.isabs(name)
    return [os.path.relpath(one) if relative else one for one in found]


def is_pattern(path: str) -> bool:
    """Whether a path stands for all files that it matches, unless one is called so."""
    return any(sign in path for sign in "*?[")


def matches(path: str, pattern: str) -> bool:
    """Whether a file would be among those that a pattern stands for.

    >>> matches("/data/day-1.csv", "/data/*.csv"), matches("/data/a/1.csv", "/data/*.csv")
    (True, False)
    """
    from fsspec.utils import glob_translate

    return re.match(glob_translate(pattern), path) is not None


def _last(path: str) -> str:
    return PurePosixPath(path.replace(os.sep, "/")).name


def skipped_files(given: PathLike | Sequence[PathLike]) -> list[str]:
    """In words, what lies in a folder or an archive and is not read."""
    if not isinstance(given, str | os.PathLike):
        return []
    name = os.fspath(given)
    names: list[str] = []
    if os.path.isdir(name):
        inside = sorted(each for each in Path(name).iterdir() if not each.name.startswith("."))
        names = [
            f"{each.name}/" if each.is_dir() else each.name
            for each in inside
            if each.is_dir() or not is_known(each.name)
        ]
    elif name.lower().endswith(".zip") and os.path.isfile(name):
        try:
            every = _names_in(_archive(open_source(given)))
        except FormatError:
            return []
        kept = _data_of(every)
        names = [each for each in every if each not in kept]
    if not names:
        return []
    listed = one_line(", ".join(names[:8]), 120)
    return [f"not read: {listed}" + (f" and {len(names) - 8} more" if len(names) > 8 else "")]


def is_known(name: str) -> bool:
    """Whether a file may hold statements, by its name: its ending is known, and it is no README.

    >>> is_known("day.csv.gz"), is_known("README.txt"), is_known("readme.csv"), is_known("a.md")
    (True, False, True, False)
    """
    path = PurePosixPath(name.lower())
    about = path.suffix in (".txt", ".dat") and path.stem in _ABOUT
    if about or name.startswith("."):
        return False
    ending, packing = ending_of(name)
    return packing == "zip" or ending in ENDINGS


def _members(source: Source) -> list[Source]:
    """The files in an archive; any other source is itself."""
    by_name = source.path is not None and source.path.suffix.lower() == ".zip"
    if not by_name:
        if source.ending in ENDINGS:
            return [source]
        with source.open() as stream:
            if stream.read(4) != _ZIP:
                return [source]
    archive = _archive(source)
    names = _names_in(archive)
    if not by_name and names and all(name.endswith(".npy") for name in names):
        return [source]  # an NPZ file without its ending
    if not by_name and any(name.startswith("xl/") for name in names):
        return [replace(source, ending=".xlsx")]
    part = source.part_of("file", names)
    kept = _data_of(names) if part is None else [part]
    if not kept:
        raise FormatError(f"{source.label} is an empty archive")
    if sum(int(archive.info(name)["size"]) for name in kept) > _MOST:
        raise FormatError(
            f"{source.label} would unpack to more than {_MOST >> 30} GB; unpack it first"
        )
    found = []
    for name in sorted(kept):
        ending, packing = ending_of(name)
        if packing == "zip":
            raise FormatError(f"{source.label} contains archives; unpack it first")
        label = f"{source.label}, {one_line(name, 60)}"
        with decoding(source, "a zip archive"):
            data = archive.cat_file(name)
        found.append(Source(label, ending, packing, stored=data, member=name))
    return found


def _archive(source: Source) -> Any:
    """fsspec's file system of a zip archive."""
    from fsspec.implementations.zip import ZipFileSystem

    with decoding(source, "a zip archive"):
        return ZipFileSystem(BytesIO(source.read()))


def _names_in(archive: Any) -> list[str]:
    """The files of an archive but for hidden ones, and those that macOS adds."""
    return [
        name
        for name in archive.find("")
        if not any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)
    ]


@contextmanager
def decoding(source: Source, what: str) -> Iterator[None]:
    """A bad file makes those who decode it raise errors of many classes, all meaning the same."""
    try:
        yield
    except (TrilensError, GeneratorExit):
        raise
    except (Exception, MemoryError) as error:
        raise FormatError(
            f"{source.label} is truncated or is not {what}: {one_line(error)}; "
            f"write it again, or give it the ending of its format"
        ) from error


def _data_of(names: Sequence[str]) -> list[str]:
    """Those files of an archive that may hold answers; all, where none has a known ending."""
    return [name for name in names if is_known(_last(name))] or list(names)


def is_url(name: str) -> bool:
    """Whether a path is a URL such as ``s3://bucket/answers.parquet``.

    >>> is_url("s3://bucket/a.csv"), is_url("study.db::answers"), is_url("C:/a.csv")
    (True, False, False)
    """
    return _URL.match(name) is not None


def filesystem(name: str) -> tuple[Any, str]:
    """fsspec's file system of a path or a URL, and the path within it."""
    import fsspec

    with told(name):
        if not is_url(name):
            return fsspec.filesystem("file"), os.path.abspath(name)
        found, path = fsspec.core.url_to_fs(name)
        return found, str(path)


def stamp_of(url: str) -> str:
    """A text that changes when the file does."""
    files, path = filesystem(url)
    with told(url):
        files.invalidate_cache()  # a listing of before does not know of a change
        facts = files.info(path)
        known = [facts.get(key) for key in ("ETag", "etag", "md5", "mtime", "LastModified")]
        return f"{facts.get('size')} {' '.join(str(one) for one in known if one is not None)}"


def size_of(url: str) -> int:
    """The length of the file in bytes."""
    files, path = filesystem(url)
    with told(url):
        return int(files.size(path) or 0)


@contextmanager
def told(url: str) -> Iterator[None]:
    """Turn whatever a file system raises into a `FormatError` of one line."""
    try:
        yield
    except FileNotFoundError as error:
        raise FormatError(f"{url}: no such file; check the URL") from error
    except ImportError as error:
        raise FormatError(
            f"{url}: this kind of URL needs another package ({one_line(error, 120)})"
        ) from error
    except FormatError:
        raise
    # each file system has errors of its own
    except Exception as error:
        raise FormatError(f"{url} cannot be reached: {one_line(error)}") from error


@contextmanager
def as_file(source: Source) -> Iterator[Path]:
    """The path of a file with the uncompressed bytes, for those who read nothing else."""
    if source.path is not None and not source.packing:
        with source.open():  # for its errors
            yield source.path
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study"
        path.write_bytes(source.read())
        yield path


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
