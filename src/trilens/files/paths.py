"""Which files a path means: one, those of a folder or a pattern, or what an archive holds."""

from __future__ import annotations

import glob
import os
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from trilens.errors import FormatError, ParameterError
from trilens.files.remote import expand, is_url
from trilens.files.source import (
    ENDINGS,
    PACKINGS,
    TEXTUAL,
    PathLike,
    Source,
    checked_path,
    decoded,
    one_line,
    open_source,
)
from trilens.statements.columns import as_list

#: What is written about data rather than in it, where its ending is that of any text.
_ABOUT = frozenset({"readme", "license", "licence", "copying", "notice", "changelog", "citation"})
#: Unpacked bytes of an archive: more is an accident, or worse.
_MOST = 1 << 33


def sources(
    given: PathLike | Sequence[PathLike], *, spool: bool = False, encoding: str | None = None
) -> list[Source]:
    """The sources of a path, a folder, a pattern, an archive or a list of these."""
    found = [
        member for path in file_paths(given) for member in _members(open_source(path, spool=spool))
    ]
    if encoding is None:
        return found
    return [decoded(s, encoding) if s.format in TEXTUAL else s for s in found]


def file_paths(given: PathLike | Sequence[PathLike]) -> list[PathLike]:
    """The files of a path, a folder, a pattern, a URL or a list of these."""
    if not isinstance(given, str | os.PathLike):
        paths = as_list(given, "the files")
        if not paths:
            raise ParameterError("there must be at least one file")
        return [path for one in paths for path in file_paths(checked_path(one))]
    name = checked_path(given)
    if name == "-":
        return [given]
    if is_url(name):
        return list(expand(name))
    if os.path.isdir(name) and "\0" not in name:
        return _in_folder(Path(name))
    if not glob.has_magic(name) or os.path.exists(name):
        return [given]
    found = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
    if not found:
        raise FormatError(f"{name}: no file matches the pattern; check the path")
    return list(found)


def _in_folder(folder: Path) -> list[PathLike]:
    """The files of a folder whose endings are known, sorted."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise FormatError(f"{folder}: {error.strerror or one_line(error)}") from error
    kept = [name for name in names if not name.startswith(".") and is_known(name)]
    found: list[PathLike] = [str(folder / name) for name in kept if (folder / name).is_file()]
    if not found:
        raise FormatError(
            f"{folder} is a folder without statement files; "
            f"their endings are {', '.join(ENDINGS)}, or one of them with .gz, .zst or .zip"
        )
    return found


def left_aside(given: PathLike | Sequence[PathLike]) -> list[str]:
    """Of a folder, the files that are about the data, in words."""
    if not isinstance(given, str | os.PathLike) or not os.path.isdir(given):
        return []
    names = [name for name in sorted(os.listdir(given)) if _is_about(name)]
    return [f"{one_line(', '.join(names), 80)} not read, for its name"] if names else []


def _is_about(name: str) -> bool:
    path = PurePosixPath(name.lower())
    return path.suffix in (".txt", ".dat") and path.stem in _ABOUT


def is_known(name: str) -> bool:
    """Whether a file's name is that of a statement file: its ending is, and it is no README.

    >>> is_known("day.csv.gz"), is_known("README.txt"), is_known("readme.csv"), is_known("a.md")
    (True, False, True, False)
    """
    if _is_about(name):
        return False
    path = PurePosixPath(name.lower())
    if path.suffix in PACKINGS:
        return path.suffix == ".zip" or PurePosixPath(path.stem).suffix in ENDINGS
    return path.suffix in ENDINGS


def _members(source: Source) -> list[Source]:
    """The files in an archive; any other source is itself."""
    by_name = source.path is not None and source.path.suffix.lower() == ".zip"
    if not by_name and (source.ending in ENDINGS or not _is_zip(source)):
        return [source]
    # a bad archive makes zipfile and zlib raise errors of many classes
    try:
        with source.open() as stream, zipfile.ZipFile(stream) as archive:
            files = [info for info in archive.infolist() if _is_data(info)]
            names = [info.filename for info in files]
            if not by_name and all(name.endswith(".npy") for name in names):
                return [source]  # an NPZ file without its ending
            if not by_name and any(name.startswith("xl/") for name in names):
                return [Source(source.label, ".xlsx", None, "", source.read(), source.part)]
            if source.part is not None:
                if source.part not in names:
                    raise FormatError(
                        f"{source.label}: no file {one_line(source.part, 40)}; "
                        f"the files are {one_line(', '.join(names), 120)}"
                    )
                files = [info for info in files if info.filename == source.part]
            if not files:
                raise FormatError(f"{source.label} is an archive without files")
            if sum(info.file_size for info in files) > _MOST:
                raise FormatError(f"{source.label} would unpack to more than {_MOST >> 30} GB")
            return [
                Source(
                    f"{source.label}, {one_line(info.filename, 60)}",
                    *_ending(info.filename, source),
                    stored=archive.read(info),
                )
                for info in sorted(files, key=lambda info: info.filename)
            ]
    except FormatError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        RuntimeError,
        NotImplementedError,
        EOFError,
        ValueError,
        OSError,
    ) as error:
        raise FormatError(
            f"{source.label} is truncated or is not a zip archive ({one_line(error, 80)}); "
            f"pack it again"
        ) from error


def _ending(name: str, source: Source) -> tuple[str, None, str]:
    path = PurePosixPath(name.lower())
    packing = PACKINGS.get(path.suffix, "")
    if packing == "zip":
        raise FormatError(f"{source.label} is an archive of archives; unpack it")
    return (PurePosixPath(path.stem).suffix if packing else path.suffix), None, packing


def _is_data(info: zipfile.ZipInfo) -> bool:
    parts = PurePosixPath(info.filename).parts
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
    return not info.is_dir() and not hidden


def _is_zip(source: Source) -> bool:
    with source.open() as stream:
        return stream.read(4) == b"PK\x03\x04"
