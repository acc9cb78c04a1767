"""What the caller says of the columns: ``central=choice,other_1=a`` or ``other_1,other_2,odd``."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from trilens.errors import FormatError
from trilens.files.source import one_line
from trilens.statements.columns import as_list
from trilens.statements.roles import NAMES, OPTIONAL, key, roles

#: Names for all columns in order, a mapping from roles to columns, or either as one text.
ColumnsLike: TypeAlias = Sequence[str] | Mapping[str, str | int] | str

#: What may stand before the ``=``.
MAPPABLE = (*NAMES, "ms")


@dataclass(frozen=True)
class Columns:
    """Either ``names`` for every column, in order, or a ``mapping`` from roles to columns."""

    names: tuple[str, ...] | None = None
    mapping: tuple[tuple[str, str], ...] | None = None

    def positions(self, header: Sequence[str] | None, n: int, label: str) -> dict[str, int]:
        """Where each mapped column is; ``header`` is None where the file has none."""
        found: dict[str, int] = {}
        for role, column in self.mapping or ():
            at = self._position(column, header, n)
            if at is None:
                seen = (
                    f"the columns seen are {listed_columns(header)}"
                    if header is not None
                    else f"the file has no header and {n} columns: give a number from 1 to {n}"
                )
                raise FormatError(f"{label}: no column {one_line(column, 40)!r}; {seen}")
            if at in found.values():
                raise FormatError(
                    f"{label}: column {one_line(column, 40)!r} is named twice; "
                    f"a column holds one thing"
                )
            found[role] = at
        return found

    def by_name(self, first: Sequence[str]) -> bool:
        """Whether the mapping names a column by a name, not a number, that the first row has."""
        return any(
            not column.isdigit() and self._position(column, first, 0) is not None
            for _, column in self.mapping or ()
        )

    def wants_header(self, first: Sequence[str]) -> bool:
        """Whether the mapping names columns by names, of which the first row has none."""
        return not self.by_name(first) and any(
            not column.isdigit() for _, column in self.mapping or ()
        )

    @staticmethod
    def _position(column: str, header: Sequence[str] | None, n: int) -> int | None:
        if header is not None:
            exact = [i for i, name in enumerate(header) if name == column]
            alike = [i for i, name in enumerate(header) if key(column) and key(name) == key(column)]
            for seen in (exact, alike):
                if seen:
                    return seen[0]
        if column.isascii() and column.isdigit() and 1 <= int(column) <= n:
            return int(column) - 1
        return None


def column_spec(columns: ColumnsLike | Columns | None) -> Columns | None:
    """The caller's columns; text is split at its commas, as on the command line.

    >>> column_spec("central=choice,other_1=a,other_2=b").mapping
    (('central', 'choice'), ('other_1', 'a'), ('other_2', 'b'))
    >>> column_spec(["other_1", "other_2", "odd"]).names
    ('other_1', 'other_2', 'odd')
    """
    if columns is None or isinstance(columns, Columns):
        return columns
    if isinstance(columns, Mapping):
        return _mapping([(str(role), str(column)) for role, column in columns.items()])
    if isinstance(columns, str):
        given = [cell.strip() for cell in next(csv.reader([columns], skipinitialspace=True), [])]
    else:
        given = as_list(columns, "columns")
    if not given or not all(isinstance(name, str) for name in given):
        raise FormatError(f"columns must be a list of column names, not {one_line(columns)}")
    if any("=" in name for name in given):
        pairs = [name.split("=", 1) if "=" in name else [name, name] for name in given]
        return _mapping([(role.strip(), column.strip()) for role, column in pairs])
    return Columns(names=tuple(given))


def _mapping(pairs: list[tuple[str, str]]) -> Columns:
    known: list[tuple[str, str]] = []
    for given, column in pairs:
        role = given if given in MAPPABLE else next((r.name for r in roles([given]).values()), None)
        if role is None:
            raise FormatError(
                f"columns: {one_line(given, 40)!r} is not something a column can hold; "
                f"it can hold {', '.join(MAPPABLE)}"
            )
        if role in [before for before, _ in known]:
            raise FormatError(f"columns: {role} is given twice; name one column for it")
        known.append((role, column))
    return Columns(mapping=tuple(known))


def listed_columns(names: Sequence[str] | None) -> str:
    """Column names for a message."""
    shown = ", ".join(one_line(name, 40) or "(empty)" for name in (names or ())[:24])
    return shown if len(names or ()) <= 24 else f"{shown}, ... ({len(names or ())} in all)"


def suggestion(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The ``--columns`` that would be right, as far as names and cells tell.

    >>> suggestion(["nr", "x", "y", "z"], [["1", "a", "b", "c"], ["2", "c", "a", "b"]])
    'central=x,other_1=y,other_2=z'
    """
    known = {role.name: i for i, role in roles(names).items()}
    three = _likely(names, rows, [i for role, i in known.items() if role in OPTIONAL])
    chosen = next((i for i in range(len(names)) if _always_among(i, three, rows)), None)
    if len(three) == 3 and chosen is not None:
        picked = {"chosen": chosen} | {f"shown_{j + 1}": i for j, i in enumerate(three)}
    else:
        order = ("anchor", "near", "far")
        if not is_closer(known):
            order = ("odd" if "odd" in known else "central", "other_1", "other_2")
        left = [i for i in three if i not in [known.get(role) for role in order]]
        # a lone winner was chosen of three
        left.sort(key=lambda i: i != known.get("near"))
        picked = {}
        for role in order:
            at = known.get(role, left.pop(0) if left and role not in known else None)
            if at is not None:
                picked[role] = at
    picked |= {role: known[role] for role in OPTIONAL if role in known}
    return shlex.quote(",".join(f"{role}={_quoted(names, i)}" for role, i in picked.items()))


def is_closer(known: Container[str]) -> bool:
    """Whether the columns that are known by their names speak of an anchor, or of two sides.

    >>> is_closer({"near": 0}), is_closer({"near": 0, "far": 1})
    (False, True)
    """
    return "anchor" in known or ("near" in known and "far" in known)


def _likely(names: Sequence[str], rows: Sequence[Sequence[str]], taken: Sequence[int]) -> list[int]:
    """The three columns that most likely name objects: their cells differ, their values recur."""
    free = [i for i in range(min(len(names), 26)) if i not in taken]
    some = [row for row in rows[:60] if len(row) == len(names)]
    cells = {i: {row[i] for row in some} for i in free}

    def score(three: Iterable[int]) -> float:
        i, j, k = three
        differ = sum(len({row[i], row[j], row[k]}) == 3 for row in some) / max(len(some), 1)
        union = cells[i] | cells[j] | cells[k]
        shared = (cells[i] & cells[j]) | (cells[i] & cells[k]) | (cells[j] & cells[k])
        return differ + len(shared) / max(len(union), 1)

    return list(max(combinations(free, 3), key=score)) if len(free) >= 3 else free


def _always_among(i: int, three: Sequence[int], rows: Sequence[Sequence[str]]) -> bool:
    whole = [row for row in rows if len(row) > max([i, *three])]
    return (
        i not in three and bool(whole) and all(row[i] in [row[j] for j in three] for row in whole)
    )


def _quoted(names: Sequence[str], i: int) -> str:
    name = one_line(names[i], 40)
    return name if name and list(names).count(names[i]) == 1 and "," not in name else str(i + 1)
