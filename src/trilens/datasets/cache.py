"""Where a data file is: in TRILENS_DATA, in the cache, or at its source."""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from trilens.datasets.checksums import SHA256
from trilens.datasets.download import TransferError, discard, download
from trilens.errors import DatasetError, MissingExtraError


@dataclass(frozen=True)
class Source:
    """A place to download from.

    Parameters
    ----------
    url
        The file itself or a zip archive.
    member
        The name of the file in the archive, with ``{name}`` for the file's path below its
        data set's folder; None when ``url`` is the file itself. The checksum of an archive is
        not pinned (some servers pack it anew for every visitor): its members' are.
    """

    url: str
    member: str | None = None


@dataclass(frozen=True)
class Origin:
    """Where the files of a data set come from.

    Parameters
    ----------
    homepage
        The page to tell a person about.
    sources
        Tried in order.
    """

    homepage: str
    sources: tuple[Source, ...] = ()


def find_files(paths: Sequence[str], origin: Origin) -> list[Path]:
    """The files of a data set, each whole and right by its sha256.

    Each is looked for in the folder ``TRILENS_DATA``, then in the cache (``TRILENS_CACHE``,
    by default the user's cache folder), then downloaded into the cache.

    Parameters
    ----------
    paths
        Keys of `trilens.datasets.checksums.SHA256`.
    origin
        Where to download what is missing.

    Raises
    ------
    DatasetError
        A file in ``TRILENS_DATA`` is corrupted, or one is missing and cannot be downloaded.
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
        wanted = [path for path in missing if not is_whole(cache / path, SHA256[path])]
        if wanted:
            _fetch(wanted, cache, origin)
        found.update({path: cache / path for path in missing})
    return [found[path] for path in paths]


def cache_folder() -> Path:
    """The folder of downloaded data: ``TRILENS_CACHE``, or ``trilens`` in the user's cache."""
    folder = os.environ.get("TRILENS_CACHE")
    if folder:
        return Path(folder)
    try:
        import pooch
    except ImportError:
        raise MissingExtraError("downloading a data set", "data") from None
    return Path(pooch.os_cache("trilens"))


def is_whole(path: Path, sha256: str) -> bool:
    """Whether a file is there and has this checksum."""
    return path.is_file() and file_sha256(path) == sha256


def file_sha256(path: Path) -> str:
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
            f"cars/, usps/, ca-HepTh/ and things/, or unset it"
        )
    return folder


def _checked(file: Path, path: str) -> Path:
    seen = file_sha256(file)
    if seen != SHA256[path]:
        raise DatasetError(
            f"{file}: corrupted or half-downloaded: its sha256 is {seen}, not {SHA256[path]} "
            f"({file.stat().st_size:,} bytes); replace it, or remove it to have it downloaded"
        )
    return file


def _fetch(wanted: list[str], cache: Path, origin: Origin) -> None:
    """Download files into the cache, each from the first source that has it."""
    problems: list[str] = []
    for source in origin.sources:
        try:
            if source.member is None:
                for path in wanted:
                    download(source.url, cache / path, SHA256[path])
            else:
                _fetch_members(wanted, cache, source.url, source.member)
            return
        except TransferError as error:
            problems.append(f"{source.url} {error}")
        except OSError as error:
            raise DatasetError(
                f"{cache}: cannot be written ({error.strerror or error}); "
                f"set TRILENS_CACHE to a folder that can"
            ) from None
        wanted = [path for path in wanted if not is_whole(cache / path, SHA256[path])]
    first, more = wanted[0], len(wanted) - 1
    what = first + (f" and {more} more" if more else "")
    state = "is corrupted" if (cache / first).is_file() else "is missing"
    tried = "; ".join(problems) or "no address to download it from is known"
    raise DatasetError(
        f"{cache / first} {state}: {tried}; download {what} from {origin.homepage} and put it "
        f"at that place, or below a folder named by TRILENS_DATA (sha256 {SHA256[first]})"
    )


def _fetch_members(wanted: list[str], cache: Path, url: str, member: str) -> None:
    """Download a zip archive and take the wanted files out of it, each by its own checksum."""
    archive = cache / (hashlib.sha256(url.encode()).hexdigest()[:16] + ".zip")
    resumed = archive.with_name(archive.name + ".part").exists()
    discard(archive)
    download(url, archive, None)
    try:
        with zipfile.ZipFile(archive) as opened:
            for path in wanted:
                name = path.split("/", 1)[1]
                content = opened.read(member.format(name=name))
                if hashlib.sha256(content).hexdigest() != SHA256[path]:
                    raise TransferError(f"holds another {name} (by its sha256)")
                _write_whole(cache / path, content)
        return
    except TransferError as error:
        problem = str(error)
    except (zipfile.BadZipFile, zlib.error, KeyError) as error:
        problem = f"sent no archive with the file in it ({error.args[0]})"
    finally:
        discard(archive)
    if not resumed:
        raise TransferError(problem)
    # The part that was continued may have been of another version: once more, from the start.
    _fetch_members(wanted, cache, url, member)


def _write_whole(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f"{target.name}.{os.getpid()}.new")
    new.write_bytes(content)
    os.replace(new, target)
