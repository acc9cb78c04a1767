"""Files on object storage and the like, by URL, through fsspec."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from trilens.errors import FormatError, MissingExtraError
from trilens.files.source import PACKINGS, Source, one_line

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_url(name: str) -> bool:
    """Whether a path is a URL such as ``s3://bucket/answers.parquet``.

    >>> is_url("s3://bucket/a.csv"), is_url("study.db::answers"), is_url("C:/a.csv")
    (True, False, False)
    """
    return _URL.match(name) is not None


def filesystem(url: str) -> tuple[Any, str]:
    """fsspec's file system of a URL, and the path within it."""
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError(f"reading {one_line(url, 60)}", "remote") from error
    with told(url):
        found, path = fsspec.core.url_to_fs(url)
        return found, str(path)


def expand(url: str) -> list[str]:
    """The files of a URL: itself, those of a folder, or those that match a pattern."""
    from trilens.files.paths import is_known

    files, path = filesystem(url)
    with told(url):
        if any(sign in path for sign in "*?["):
            found = sorted(files.glob(path))
        elif files.isdir(path):
            inside = (str(one) for one in files.ls(path, detail=False))
            found = sorted(one for one in inside if is_known(PurePosixPath(one).name))
        else:
            return [url]
    if not found:
        raise FormatError(f"{url}: no statement file there; check the URL")
    return [str(files.unstrip_protocol(one)) for one in found]


def open_url(url: str) -> Source:
    """The source at a URL, read piece by piece where its format lets us."""
    files, path = filesystem(url)
    name = PurePosixPath(path)
    ending = name.suffix.lower()
    packing = PACKINGS.get(ending, "")
    if packing:
        ending = PurePosixPath(name.stem).suffix.lower()
    with told(url):
        stream = cast(BinaryIO, files.open(path, "rb"))
    return Source(url, ending, None, "" if packing == "zip" else packing, stream)


def stamp_of(url: str) -> str:
    """What changes when the file does."""
    files, path = filesystem(url)
    with told(url):
        files.invalidate_cache()  # a listing of before does not know of a change
        facts = files.info(path)
        known = [facts.get(key) for key in ("ETag", "etag", "md5", "mtime", "LastModified")]
        return f"{facts.get('size')} {' '.join(str(one) for one in known if one is not None)}"


def size_of(url: str) -> int:
    """Its length in bytes."""
    files, path = filesystem(url)
    with told(url):
        return int(files.size(path) or 0)


@contextmanager
def told(url: str) -> Iterator[None]:
    """What a file system raises, as one line."""
    try:
        yield
    except FileNotFoundError as error:
        raise FormatError(f"{url}: there is no such file; check the URL") from error
    except ImportError as error:
        raise FormatError(
            f"{url}: this kind of URL needs another package: {one_line(error, 120)}"
        ) from error
    except FormatError:
        raise
    # each file system has errors of its own
    except Exception as error:
        raise FormatError(f"{url} cannot be reached: {one_line(error)}") from error
