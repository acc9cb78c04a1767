"""Downloads that go on where they broke off."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from trilens.errors import MissingExtraError

#: Continuations of one download, each of which must bring new bytes.
_MAX_ATTEMPTS = 20
_CHUNK = 1 << 16
_TIMEOUT = 30.0


class TransferError(OSError):
    """A download that failed; the text says how, in a few words."""


class ResumingDownloader:
    """A downloader for `pooch` that keeps what has arrived in a ``.part`` file.

    A transfer that breaks off is continued by an HTTP range request, at once and as long as
    new bytes arrive, and again at the next call. A server that knows no ranges sends the
    whole file, and the part is dropped. A part that does not belong to the file any more is
    noticed by the checksum of the whole.

    Parameters
    ----------
    part
        Where the bytes are kept until all have arrived.
    """

    def __init__(self, part: Path) -> None:
        self.part = part

    def __call__(self, url: str, output_file: str | Path, pooch: Any = None) -> None:
        """Download ``url`` to ``output_file``; the signature is the one `pooch` calls."""
        before = self._size()
        for _ in range(_MAX_ATTEMPTS):
            problem = self._transfer(url)
            if problem is None:
                os.replace(self.part, output_file)
                return
            if self._size() <= before:
                break
            before = self._size()
        raise TransferError(problem)

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _transfer(self, url: str) -> str | None:
        """One request; what went wrong, or None when the file is whole."""
        import requests
        from urllib3.exceptions import HTTPError

        # A file that is compressed on the server must arrive as it is: its checksum is known.
        headers = {"Accept-Encoding": "identity"}
        start = self._size()
        if start:
            headers["Range"] = f"bytes={start}-"
        try:
            with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
                if response.status_code == 416:
                    if response.headers.get("Content-Range") == f"bytes */{start}":
                        return None
                    self.part.unlink()
                    return self._transfer(url)
                if not response.ok:
                    return f"answered {response.status_code} {response.reason}"
                sent_from = response.headers.get("Content-Range", "").startswith(f"bytes {start}-")
                resumed = response.status_code == 206 and sent_from
                expected = response.headers.get("Content-Length")
                with self.part.open("ab" if resumed else "wb") as file:
                    opened_at = file.tell()
                    for chunk in response.raw.stream(_CHUNK, decode_content=False):
                        file.write(chunk)
                    arrived = file.tell() - opened_at
                if expected is not None and arrived != int(expected):
                    return f"broke off after {arrived:,} of {int(expected):,} bytes"
        except requests.exceptions.Timeout:
            return f"did not answer within {_TIMEOUT:.0f} seconds"
        except requests.exceptions.ConnectionError:
            return "cannot be reached"
        except (requests.exceptions.RequestException, HTTPError):
            return f"broke off after {self._size():,} bytes"
        return None


def download(url: str, target: Path, sha256: str | None) -> None:
    """Fetch ``url`` to ``target`` through `pooch`, checked against ``sha256`` if there is one.

    Raises
    ------
    TransferError
        When the source does not answer, breaks off for good, or sends something else.
    """
    try:
        import pooch
    except ImportError:
        raise MissingExtraError("downloading a data set", "data") from None

    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    resumed = part.exists()
    try:
        with _silent(pooch.get_logger()):
            pooch.retrieve(
                url, sha256, target.name, target.parent, downloader=ResumingDownloader(part)
            )
    except ValueError:
        # pooch found another checksum. Half of an older version may have been continued.
        if resumed:
            download(url, target, sha256)
            return
        raise TransferError("sent a file with another sha256") from None


@contextmanager
def _silent(logger: Any) -> Iterator[None]:
    """Keep `pooch` from writing to stderr: the library never prints."""
    level = logger.level
    logger.setLevel("ERROR")
    try:
        yield
    finally:
        logger.setLevel(level)


def discard(path: Path) -> None:
    """Remove a file that may not be there."""
    with suppress(FileNotFoundError):
        path.unlink()
