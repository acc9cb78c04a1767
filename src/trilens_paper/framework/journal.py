"""The journal: every finished cell, on the disk before the next one counts as done.

One line of JSON per cell, appended with a single write and flushed; its first member is a
checksum of the others. A run that is killed leaves at worst one torn line at the end; a line that
does not match its checksum is as good as not written, and its cell is done again. Two runs that
write to one journal at a time only do some cells twice.

So that journals of many cells are small enough to be kept, what many cells have in common stands
in a line of its own, which they name by its checksum: the methods and metrics of the values, and
the code, the day and the machine they come from.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from zlib import crc32

from trilens import __version__
from trilens.errors import FormatError
from trilens_paper.framework.experiment import Cell, Point

Rows = list[dict[str, Any]]

#: The length of what `_signed` puts before the members.
_SIGNED = len('{"crc":"00000000",')
#: What a point is where its line says nothing.
_USUAL = {f.name: f.default for f in fields(Point)}


@dataclass(frozen=True)
class Entry:
    """A finished cell, and how it came about."""

    cell: Cell
    rows: Rows
    #: The fingerprint of the code.
    code: str
    #: Of trilens.
    version: str
    day: str
    machine: str
    #: CPU seconds of the whole cell.
    seconds: float


class Journal:
    """The finished cells of one experiment, by the code of that fingerprint or by any code.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cells.jsonl"
    >>> cell = Cell("tiny", Point(n_statements=5), 0)
    >>> with Journal(path, "one") as journal:
    ...     journal.append(cell, cell.measured(lambda point, seeds: []), 0.1)
    >>> list(Journal(path, "one").read()) == [cell.key]
    True
    >>> other = Journal(path, "other")
    >>> len(other.read()), len(other.outdated()), len(Journal(path, "other", True).read())
    (0, 1, 1)
    """

    def __init__(self, path: Path, code: str, any_code: bool = False) -> None:
        self.path = path
        self.code = code
        self.any_code = any_code
        self._file: int | None = None
        self._written: set[bytes] = set()

    def read(self) -> dict[str, Rows]:
        """The rows of every finished cell, by the cell's key."""
        return {key: entry.rows for key, entry in self.entries().items()}

    def entries(self) -> dict[str, Entry]:
        """The finished cells by their keys; what this code has done goes before all else."""
        found: dict[str, Entry] = {}
        for entry in self._all():
            known = found.get(entry.cell.key)
            if entry.code == self.code or (
                self.any_code and (known is None or known.code != self.code)
            ):
                found[entry.cell.key] = entry
        return found

    def outdated(self) -> set[str]:
        """The keys of the cells that only other code has finished."""
        codes: dict[str, set[str]] = {}
        for entry in self._all():
            codes.setdefault(entry.cell.key, set()).add(entry.code)
        return {key for key, by in codes.items() if self.code not in by}

    def append(self, cell: Cell, rows: Rows, seconds: float) -> None:
        """Write a finished cell and its CPU seconds; it is on the disk when this returns."""
        common = {
            "experiment": cell.experiment,
            "code": self.code,
            "trilens": __version__,
            "day": f"{datetime.now(UTC):%Y-%m-%d}",
            "machine": hardware(),
            "series": _packed([_series(row) for row in rows]),
        }
        line = _line(common)
        if line not in self._written:
            self._write(line)
            self._written.add(line)
        at = {name: v for name, v in cell.point.fields.items() if v != _USUAL[name]}
        own: dict[str, Any] = {
            "of": json.loads(line)["crc"],
            "at": at,
            "run": cell.run,
            "took": _short(seconds, 3),
        }
        own["values"] = [_short(row["value"], 5) for row in rows]
        if any(row["cpu_seconds"] for row in rows):
            own["cpu"] = [_short(row["cpu_seconds"], 3) for row in rows]
        self._write(_line(own))

    def _write(self, line: bytes) -> None:
        assert self._file is not None
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
        self._written = {line + b"\n" for line in self.path.read_bytes().split(b"\n")}
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

    def _all(self) -> Iterator[Entry]:
        """The cells of all lines but the torn and the corrupted."""
        commons: dict[str, dict[str, Any]] = {}
        lines = self.path.read_bytes().split(b"\n") if self.path.exists() else []
        for number, line in enumerate(lines, 1):
            if line != _signed(line[_SIGNED:]):
                continue
            try:
                found = json.loads(line)
                if "series" in found:
                    found["series"] = list(_unpacked(found["series"]))
                    commons[found["crc"]] = found
                    continue
                common = commons.get(found["of"])
                entry = None if common is None else _entry(common, found)
            except (KeyError, TypeError, ValueError):
                raise FormatError(
                    f"{self.path}, line {number}: not a result of this experiment, though its "
                    f"checksum is right; remove the line"
                ) from None
            if entry is not None:
                yield entry


def _entry(common: dict[str, Any], found: dict[str, Any]) -> Entry:
    cell = Cell(common["experiment"], Point(**found["at"]), found["run"])
    head = {"experiment": cell.experiment, **cell.point.fields, "run": cell.run}
    cpu = found.get("cpu", [0.0] * len(found["values"]))
    rows = [
        head
        | {"method": method, "k": k, "sigma": sigma, "item": item, "metric": metric}
        | {"value": float(value), "cpu_seconds": float(spent)}
        for (method, metric, k, sigma, item), value, spent in zip(
            common["series"], found["values"], cpu, strict=True
        )
    ]
    return Entry(
        cell,
        rows,
        code=common["code"],
        version=common["trilens"],
        day=common["day"],
        machine=common["machine"],
        seconds=found["took"],
    )


def _line(found: dict[str, Any]) -> bytes:
    text = json.dumps(found, separators=(",", ":"), ensure_ascii=False).encode()
    return _signed(text.removeprefix(b"{")) + b"\n"


def _signed(members: bytes) -> bytes:
    """The members of an object and its closing brace, as an object with their checksum first.

    >>> _signed(b'"run":0}')
    b'{"crc":"0a5e129f","run":0}'
    """
    return b'{"crc":"%08x",%s' % (crc32(members), members)


def _series(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("method", "metric", "k", "sigma", "item"))


def _packed(series: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    """Series that differ in the item alone, which counts up, as one, with a range of items.

    >>> _packed([("a", "x", None, None, 0), ("a", "x", None, None, 1), ("a", "y", 3, None, None)])
    [['a', 'x', None, None, [0, 2]], ['a', 'y', 3, None, None]]
    """
    packed = []
    numbered = enumerate(series)

    def alike(pair: tuple[int, tuple[Any, ...]]) -> tuple[Any, ...]:
        place, (*rest, item) = pair
        return (*rest, None if item is None else item - place, item is None and place)

    for _, group in groupby(numbered, alike):
        first, *others = (one for _, one in group)
        *rest, item = first
        packed.append([*rest, [item, item + len(others) + 1] if others else item])
    return packed


def _unpacked(packed: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    for *rest, items in packed:
        for item in range(*items) if isinstance(items, list) else (items,):
            yield (*rest, item)


def _short(value: float, digits: int) -> float | int:
    """The number with so many digits, as an integer where it is one.

    >>> _short(0.123456789, 6), _short(3.0, 6)
    (0.123457, 3)
    """
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() else rounded


@cache
def hardware() -> str:
    """Cores, processor and memory of this machine, as far as it tells."""
    import platform

    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            named = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
        model = named[0] if named else model
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        memory = f", {pages / 2**30:.0f} GiB"
    except (OSError, ValueError, AttributeError):
        memory = ""
    return f"{os.cpu_count()} cores, {model}{memory}"
