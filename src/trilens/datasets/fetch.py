"""Where a data file is: in TRILENS_DATA, in the cache, or at its source, checked by its sha256.

Of a file whose sha256 nobody published, the one of the first download is kept in the cache's own
``SHA256SUMS``, and later ones have to agree with it.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from trilens.errors import DatasetError, MissingExtraError

_CHUNK = 1 << 16
_TIMEOUT = 30.0
_SUMS = "SHA256SUMS"
#: How a page in a browser begins: never a data file, but what a login or an error looks like.
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_IS_A_PAGE = "sent a web page, not the file (perhaps a login, or an error)"


@lru_cache(maxsize=1)
def checksums() -> dict[str, str]:
    """The published sha256 of data files, by their place below TRILENS_DATA or below the cache."""
    return _sums(Path(__file__).parent)


def _sums(folder: Path) -> dict[str, str]:
    file = folder / _SUMS
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return {path: sha256 for sha256, path in (line.split("  ", 1) for line in lines)}


def _expected(path: str, cache: Path) -> str | None:
    """The sha256 that a file must have: the published one, or that of the first download."""
    return checksums().get(path) or _sums(cache).get(path)


@dataclass(frozen=True)
class Address:
    """A place to download from: the file itself, or a zip archive.

    The checksum of an archive is not pinned (some servers pack it anew for every visitor): its
    members' are.
    """

    url: str
    #: The file's name in the archive; ``{name}`` is its path below its data set's folder.
    member: str | None = None


@dataclass(frozen=True)
class Origin:
    """Where the files of a data set come from: a page for people, and addresses to be tried."""

    homepage: str
    addresses: tuple[Address, ...] = ()


def find_files(paths: Sequence[str], origin: Origin, notice: str = "") -> list[Path]:
    """The files of a data set at places below the folder of the data or the cache.

    Each is looked for in the folder ``TRILENS_DATA``, then in the cache (``TRILENS_CACHE``,
    by default the user's cache folder), then downloaded into the cache. Those that `checksums`
    knows are checked against it, others against what was downloaded first; in ``TRILENS_DATA``,
    those are taken as they are. Whoever downloads reads ``notice``, whose data these are.
    """
    given = _given_folder()
    found: dict[str, Path] = {}
    if given is not None:
        for path in paths:
            if (given / path).is_file():
                found[path] = _checked(given / path, path)
    missing = [path for path in paths if path not in found]
    if missing:
        cache = cache_folder()
        wanted = [path for path in missing if not _is_whole(cache, path)]
        if wanted:
            _fetch(wanted, cache, origin)
            if notice:
                sys.stderr.write(f"{notice}\n")
        found.update({path: cache / path for path in missing})
    return [found[path] for path in paths]


def cache_folder() -> Path:
    """The folder of downloaded data: ``TRILENS_CACHE``, or ``trilens`` in the user's cache."""
    folder = os.environ.get("TRILENS_CACHE")
    if folder:
        return Path(folder)
    return Path(_pooch().os_cache("trilens"))


def _pooch() -> Any:
    try:
        import pooch
    except ImportError:
        raise MissingExtraError("downloading a data set", "data") from None
    return pooch


def _is_whole(cache: Path, path: str) -> bool:
    """Whether the cache has the file. One put there by hand is the first of its kind."""
    if not (cache / path).is_file():
        return False
    if _expected(path, cache) is None:
        _remember(path, cache)
    return _file_sha256(cache / path) == _expected(path, cache)


def _remember(path: str, cache: Path) -> None:
    """Note the sha256 of a file of which none is known."""
    sums = _sums(cache) | {path: _file_sha256(cache / path)}
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(sums.items()))
    _write_whole(cache / _SUMS, lines.encode())


def _file_sha256(path: Path) -> str:
    """The sha256 of a file; remembered while size and modification time stay the same."""
    status = path.stat()
    return _sha256(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=1024)
def _sha256(path: Path, size: int, mtime_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _given_folder() -> Path | None:
    name = os.environ.get("TRILENS_DATA")
    if not name:
        return None
    folder = Path(name)
    if not folder.is_dir():
        raise DatasetError(
            f"TRILENS_DATA is {name}, which is not a folder; name the folder that holds "
            f"cars/, things/, food/ and so on, or unset it"
        )
    return folder


def _checked(file: Path, path: str) -> Path:
    known = checksums().get(path)
    if known is not None and (seen := _file_sha256(file)) != known:
        raise DatasetError(
            f"{file}: corrupted or half-downloaded: its sha256 is {seen}, not {known} "
            f"({file.stat().st_size:,} bytes); replace it, or remove it to have it downloaded"
        )
    return file


def _fetch(wanted: list[str], cache: Path, origin: Origin) -> None:
    """Download files into the cache, each from the first source that has it."""
    problems: list[str] = []
    expected = {path: _expected(path, cache) for path in wanted}
    for address in origin.addresses:
        try:
            if address.member is None:
                for path in wanted:
                    _download(address.url, cache / path, expected[path])
            else:
                _fetch_members(wanted, cache, address.url, address.member)
            for path in wanted:
                if expected[path] is None:
                    _remember(path, cache)
            return
        except _TransferError as error:
            problems.append(f"{address.url} {error}")
        except OSError as error:
            raise DatasetError(
                f"{cache}: cannot be written ({error.strerror or error}); "
                f"set TRILENS_CACHE to a folder that can"
            ) from None
        wanted = [path for path in wanted if not _is_whole(cache, path)]
    first, more = wanted[0], len(wanted) - 1
    what = first + (f" and {more} more" if more else "")
    state = "is corrupted" if (cache / first).is_file() else "is missing"
    tried = "; ".join(problems) or "no address to download it from is known"
    raise DatasetError(
        f"{cache / first} {state}: {tried}; download {what} from {origin.homepage} and put it "
        f"there, or in the folder that TRILENS_DATA names ({_about_sha256(first, cache)})"
    )


def _about_sha256(path: str, cache: Path) -> str:
    if path in checksums():
        return f"sha256 {checksums()[path]}"
    first = _sums(cache).get(path)
    if first is None:
        return "its sha256 was never published"
    return f"sha256 {first} when it was first downloaded; {cache / _SUMS} has it, to be changed"


def _name(path: str) -> str:
    """The path of a file below its data set's folder."""
    return path.split("/", 1)[1]


def _fetch_members(wanted: list[str], cache: Path, url: str, member: str) -> None:
    """Download a zip archive and take the wanted files out of it, each by its own checksum."""
    archive = cache / (hashlib.sha256(url.encode()).hexdigest()[:16] + ".zip")
    _download(url, archive, None)
    try:
        _take(wanted, archive, cache, member)
    finally:
        archive.unlink(missing_ok=True)


def _take(wanted: list[str], archive: Path, cache: Path, member: str) -> None:
    """Take the wanted files out of a zip archive."""
    try:
        with zipfile.ZipFile(archive) as opened:
            for path in wanted:
                content = opened.read(member.format(name=_name(path)))
                known = _expected(path, cache)
                if known is not None and hashlib.sha256(content).hexdigest() != known:
                    raise _TransferError(f"holds another {_name(path)} (by its sha256)")
                _write_whole(cache / path, content)
    except (zipfile.BadZipFile, zlib.error, KeyError) as error:
        raise _TransferError(f"sent no archive with the file in it ({error.args[0]})") from None


def _write_whole(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f"{target.name}.{os.getpid()}.new")
    new.write_bytes(content)
    os.replace(new, target)


class _TransferError(OSError):
    """A download that failed; the text says how, in a few words."""


def _transfer(url: str, target: str | Path, pooch: Any = None) -> None:
    """Download ``url`` to ``target``; the signature is the one that `pooch` calls."""
    import requests
    from urllib3.exceptions import HTTPError

    # A file that is compressed on the server must arrive as it is: its checksum is known.
    headers = {"Accept-Encoding": "identity"}
    arrived = 0
    try:
        with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
            if not response.ok:
                raise _TransferError(f"answered {response.status_code} {response.reason}")
            expected = response.headers.get("Content-Length")
            with Path(target).open("wb") as file:
                for chunk in response.raw.stream(_CHUNK, decode_content=False):
                    if arrived == 0 and _PAGE.match(chunk):
                        raise _TransferError(_IS_A_PAGE)
                    arrived += file.write(chunk)
            if expected is not None and arrived != int(expected):
                raise _TransferError(f"broke off after {arrived:,} of {int(expected):,} bytes")
    except requests.exceptions.Timeout:
        raise _TransferError(f"did not answer within {_TIMEOUT:.0f} seconds") from None
    except requests.exceptions.ConnectionError:
        raise _TransferError("cannot be reached") from None
    except (requests.exceptions.RequestException, HTTPError):
        raise _TransferError(f"broke off after {arrived:,} bytes") from None


def _download(url: str, target: Path, sha256: str | None) -> None:
    """Fetch ``url`` to ``target`` through `pooch`, checked against ``sha256`` if there is one."""
    pooch = _pooch()
    target.parent.mkdir(parents=True, exist_ok=True)
    if sha256 is None:  # pooch would take any file that is there
        target.unlink(missing_ok=True)
    try:
        with _silent(pooch.get_logger()):
            pooch.retrieve(url, sha256, target.name, target.parent, downloader=_transfer)
    except ValueError:  # pooch found another checksum
        raise _TransferError("sent a file with another sha256") from None


@contextmanager
def _silent(logger: Any) -> Iterator[None]:
    """Keep `pooch` from writing to stderr: the library never prints."""
    level = logger.level
    logger.setLevel("ERROR")
    try:
        yield
    finally:
        logger.setLevel(level)
