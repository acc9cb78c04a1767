"""The journal: every finished cell, on the disk before the next one counts as done.

One line per cell, appended with a single write and flushed: a checksum, then JSON. A run that
is killed leaves at worst one torn line at the end; a line that does not match its checksum is
as good as not written, and its cell is done again. So is a cell that other code has done. Two
runs that write to one journal at a time only do some cells twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from zlib import crc32

from trilens.errors import FormatError

Rows = list[dict[str, Any]]


class Journal:
    """The finished cells of one experiment.

    Parameters
    ----------
    path : Path
    code : str
        The fingerprint of the code that does the cells.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cells.jsonl"
    >>> with Journal(path, "one") as journal:
    ...     journal.append("cell 1", [{"value": 0.5}])
    >>> Journal(path, "one").read()
    {'cell 1': [{'value': 0.5}]}
    >>> Journal(path, "other").read(), Journal(path, "other").outdated()
    ({}, {'cell 1'})
    """

    def __init__(self, path: Path, code: str) -> None:
        self.path = path
        self.code = code
        self._file: int | None = None

    def read(self) -> dict[str, Rows]:
        """The rows of every cell that this code has finished, by the cell's key."""
        return {e["cell"]: e["rows"] for e in self._entries() if e.get("code") == self.code}

    def outdated(self) -> set[str]:
        """The keys of the cells that only other code has finished."""
        return {entry["cell"] for entry in self._entries()} - self.read().keys()

    def append(self, key: str, rows: Rows) -> None:
        """Write a finished cell; it is on the disk when this returns."""
        assert self._file is not None
        text = json.dumps({"code": self.code, "cell": key, "rows": rows}).encode()
        line = b"%08x %s\n" % (crc32(text), text)
        written = os.write(self._file, line)
        if written < len(line):
            raise FormatError(f"{self.path}: the disk is full; free some space and run again")
        os.fsync(self._file)

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        # a torn line must not swallow the one that is written after it
        if os.fstat(self._file).st_size:
            os.lseek(self._file, -1, os.SEEK_END)
            if os.read(self._file, 1) != b"\n":
                os.write(self._file, b"\n")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._file is not None
        os.close(self._file)
        self._file = None

    def _entries(self) -> Iterator[dict[str, Any]]:
        """The entries of all lines but the torn and the corrupted."""
        for line in self.path.read_bytes().split(b"\n") if self.path.exists() else ():
            checksum, _, text = line.partition(b" ")
            if checksum == b"%08x" % crc32(text):
                yield json.loads(text)
