"""What was understood of a file, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trilens.files.faults import Fault
from trilens.statements import Kind, Statements

#: Bad rows that are named.
_NAMED = 10


@dataclass(frozen=True)
class Reading:
    """What a reader understood.

    Attributes
    ----------
    files
        What was read.
    kind_told
        Whether the file or the caller said the kind; otherwise it was assumed.
    columns
        The column that each role was read from; empty for formats without columns.
    left_out
        The columns that were not read.
    faults
        The bad rows that were skipped.
    notes
        What was decided by the values: units of time, positions, ids.
    """

    files: tuple[str, ...]
    kind: Kind
    kind_told: bool
    columns: dict[str, str]
    left_out: tuple[str, ...]
    header: bool
    rows: int
    objects: int
    raters: int | None
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line.

        >>> print(
        ...     Reading(("a.csv",), "odd", True, {"odd": "x"}, ("age",), True, 9, 4, None, (), ())
        ... )
        a.csv: 9 statements, kind odd, 4 objects; columns odd=x; left out: age
        """
        parts = [self._found()]
        if self.columns:
            parts.append("columns " + ", ".join(self._column(role) for role in self.columns))
        if not self.header:
            parts.append("no header")
        if self.left_out:
            more = len(self.left_out) - 8
            listed = ", ".join(map(_flat, self.left_out[:8]))
            parts.append(f"left out: {listed}" + (f" and {more} more" if more > 0 else ""))
        parts += self.notes
        if self.faults:
            parts.append(_count(len(self.faults), "bad row") + " skipped")
        return "; ".join(parts)

    def named_faults(self) -> list[str]:
        """The first ten bad rows, and how many more."""
        named = [str(fault) for fault in self.faults[:_NAMED]]
        more = len(self.faults) - len(named)
        return [*named, f"and {_count(more, 'more bad row')}"] if more else named

    def to_dict(self) -> dict[str, Any]:
        """The facts, for JSON."""
        return {
            "files": list(self.files),
            "kind": self.kind,
            "kind_told": self.kind_told,
            "columns": dict(self.columns),
            "left_out": list(self.left_out),
            "header": self.header,
            "rows": self.rows,
            "objects": self.objects,
            "raters": self.raters,
            "skipped": len(self.faults),
            "notes": list(self.notes),
        }

    def _found(self) -> str:
        where = self.files[0] if len(self.files) == 1 else f"{len(self.files):,} files"
        kind = f"kind {self.kind}" + ("" if self.kind_told else " (assumed: --kind)")
        found = [_count(self.rows, "statement"), kind, _count(self.objects, "object")]
        if self.raters is not None:
            found.append(_count(self.raters, "rater"))
        return f"{where}: {', '.join(found)}"

    def _column(self, role: str) -> str:
        name = _flat(self.columns[role])
        return name if name == role else f"{role}={name}"


def _flat(name: str) -> str:
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    return shown if len(shown) <= 40 else f"{shown[:40]}..."


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def raters_in(statements: Sequence[Statements]) -> int | None:
    """How many raters answered; None where that is not known."""
    import pyarrow as pa

    if not statements or any(S.raters is None for S in statements):
        return None
    seen: set[object] = set()
    for S in statements:
        assert S.raters is not None
        seen.update(pa.array(S.raters).unique().to_pylist())
    return len(seen - {""})
