"""What the cells say of columns whose names say nothing: two patterns, and no more.

An answer that is always one of three columns beside it; an answer that is always one of two beside
an anchor. Each must hold in all of at least 20 rows and be the only reading; otherwise nothing is
proposed, and the columns are listed with some of their values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from math import isfinite
from typing import TypeAlias

import numpy as np

from trilens._typing import AnyArray, BoolArray
from trilens.errors import option
from trilens.kinds import Kind
from trilens.statements.columns import as_number, one_line
from trilens.statements.names import is_missing
from trilens.statements.positions import in_screen_order
from trilens.statements.roles import OPTIONAL, key, roles

#: Rows that are looked at, and rows in which a pattern must hold.
ROWS = 1000
LEAST = 20
#: Values of a column, and likely raters, that a message names; and columns.
_NAMED, _LISTED = 3, 24
#: With more columns that may hold objects, coincidences are likely.
_MOST = 20
#: The share of rows in which the objects shown differ: the others are catch questions.
_DIFFER = 0.8
#: The share of values that columns of one pool of objects have in common, at least.
_MET = 0.2
#: Rows and objects from which a column that meets none of the others is a stranger.
_FEW, _POOL = 8, 4
#: Names of columns that hold no answer: what was right, or how the trial was made.
_NO_ANSWER = re.compile(
    r"corr|expect|gold|truth|solution|right$|catch|check|cond|block|group|order|version|time|date"
    r"|trial|votes|count|score|rating|confidence|lösung|richtig|gruppe|bedingung|previous|last"
)
#: Names of columns that hold what was not chosen: the farther, or the odd one of an anchor's two.
_NOT_TAKEN = re.compile(
    r"far(ther|thest)?$|^far|furthe|reject|unchosen|unselected|loser|negative|^not|not(chosen|sel"
    r"|picked|taken|similar)|less|odd|outlier|differ|dissim|unlike|least|distant"
)

#: The answer, the columns beside it, the anchor if there is one, and the rows that say so.
Found: TypeAlias = tuple[int, list[int], int | None, int]


@dataclass(frozen=True)
class Proposal:
    """What the columns seem to hold, as ``columns=`` has it, and what that rests on.

    ``kinds`` are those that it may be of, where the columns do not tell it.
    """

    columns: str
    kinds: tuple[Kind, ...]
    why: str

    def __str__(self) -> str:
        """The end of a message: what to pass, and why."""
        said = option("columns", self.columns)
        if self.kinds:
            which = " or ".join(option("kind", kind) for kind in self.kinds)
            said += f" and {which}" + (", whichever was asked" if len(self.kinds) > 1 else "")
        return f"{said} ({self.why})"


def propose(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    header: bool = True,
    kind: Kind | None = None,
) -> Proposal | None:
    """What the columns hold, where one of the patterns is the only reading of the first rows.

    Without a ``header`` the names are the numbers of the columns.

    >>> four = "abcdabcd"
    >>> rows = [[str(i), *four[i % 4 : i % 4 + 3], four[i % 4 + i % 3]] for i in range(30)]
    >>> propose(["nr", "x", "y", "z", "w"], rows).columns
    'chosen=w,shown_1=x,shown_2=y,shown_3=z'
    >>> propose(["nr", "x", "y", "z", "w"], rows[:19]) is None
    True
    """
    cells = _Cells(names, rows, header)
    found = cells.readings()
    return cells.proposal(*found[0], kind) if len(found) == 1 else None


class _Cells:
    """The first rows of a table, column by column, each different text a number."""

    def __init__(self, names: Sequence[str], rows: Sequence[Sequence[str]], header: bool) -> None:
        self.names, self.header = list(names), header
        whole = [row for row in rows[:ROWS] if len(row) == len(self.names)]
        self.cells = [[row[i].strip() for row in whole] for i in range(len(self.names))]
        numbers: dict[str, int] = {}
        self.codes: AnyArray = np.array(
            [
                [-1 if is_missing(c) else numbers.setdefault(c, len(numbers)) for c in column]
                for column in self.cells
            ],
            dtype=np.int64,
        ).reshape(len(self.cells), len(whole))
        self.values = [set(column[column >= 0].tolist()) for column in self.codes]
        found = roles(self.names) if header else {}
        self.role = {i: role.name for i, role in found.items()}

    def readings(self) -> list[Found]:
        """Every way to read an answer, and three columns beside it."""
        able = self._candidates()
        if len(able) > _MOST:
            return []
        every = [
            self._read(answer, three)
            for three in combinations(able, 3)
            if self._differ(three)
            for answer in able
            if answer not in three and not self._says_no(answer)
        ]
        return [found for found in every if found is not None]

    def _read(self, answer: int, three: Sequence[int]) -> Found | None:
        """An answer that is always one of three columns, or of two beside an anchor."""
        there = (self.codes[[answer, *three]] >= 0).all(axis=0) & self._different(three)
        n = int(there.sum())
        same = [(self.codes[answer] == self.codes[i])[there] for i in three]
        if n < LEAST or not np.any(same, axis=0).all():
            return None
        never = [i for i, hits in zip(three, same, strict=True) if not hits.any()]
        if not never:
            return answer, list(three), None, n
        if len(never) > 1 or self._is_turned(answer):
            return None
        # the same question, asked of many, says no more than once what is never chosen
        if len(np.unique(self.codes[[answer, *three]][:, there], axis=1).T) < LEAST:
            return None
        return answer, [i for i in three if i != never[0]], never[0], n

    def _candidates(self) -> list[int]:
        """Columns that may hold objects: three values or more, no decimals, and met elsewhere."""
        able = [
            i
            for i in range(len(self.names))
            if self.role.get(i) not in OPTIONAL
            and len(self.values[i]) > 2
            and not any(map(_is_decimal, self.cells[i]))
        ]
        return [i for i in able if sum(self._met(i, j) >= _MET for j in able if j != i) >= 2]

    def _met(self, i: int, j: int) -> float:
        one, other = self.values[i], self.values[j]
        return len(one & other) / max(min(len(one), len(other)), 1)

    def _different(self, three: Sequence[int]) -> BoolArray:
        a, b, c = (self.codes[i] for i in three)
        here = (a >= 0) & (b >= 0) & (c >= 0)
        return np.asarray(here & (a != b) & (a != c) & (b != c))

    def _differ(self, three: Sequence[int]) -> bool:
        """Whether three columns hold three objects of one pool in each row."""
        if min(self._met(i, j) for i, j in combinations(three, 2)) < _MET:
            return False
        there = (self.codes[list(three)] >= 0).all(axis=0)
        n = int(there.sum())
        return n >= LEAST and bool(self._different(three)[there].mean() >= _DIFFER)

    def _says_no(self, i: int) -> bool:
        return self.header and (
            _NO_ANSWER.search(key(self.names[i])) is not None or self.role.get(i) in OPTIONAL
        )

    def _is_turned(self, i: int) -> bool:
        return self.header and _NOT_TAKEN.search(key(self.names[i])) is not None

    def proposal(
        self, answer: int, beside: Sequence[int], anchor: int | None, n: int, kind: Kind | None
    ) -> Proposal:
        """In words."""
        if self.header:
            order = in_screen_order([self.names[i] for i in beside])
            beside = [beside[k] for k in order]
        picked = {"chosen": answer}
        if anchor is not None:
            picked["anchor"] = anchor
        picked |= {f"shown_{j + 1}": i for j, i in enumerate(beside)}
        for role in OPTIONAL:
            known = [i for i, each in self.role.items() if each == role]
            picked |= {role: known[0]} if known else {}
        said = ",".join(f"{role}={quotable(self.names, i)}" for role, i in picked.items())
        listed = ", ".join(one_line(self.names[i], 40) for i in beside)
        called = one_line(self.names[answer], 40)
        why = f"{called} names one of {listed} in {n:,} of {n:,} rows"
        if not self.header:
            why = f"column {called} names one of columns {listed} in {n:,} of {n:,} rows"
        kinds: tuple[Kind, ...] = ()
        if anchor is None and kind is None:
            plain_name = key(self.names[answer]) if self.header else ""
            kinds = ("odd",) if "odd" in plain_name else ("central", "odd")
        return Proposal(said, kinds, why)


def quotable(names: Sequence[str], i: int) -> str:
    """A column as ``columns=`` takes it: by its name, or else by its number."""
    name = one_line(names[i], 40)
    plain_name = name and name == names[i] and not set(name) & set(",=\"'?")
    return name if plain_name and list(names).count(name) == 1 else str(i + 1)


def likely_raters(
    names: Sequence[str], rows: Sequence[Sequence[str]], taken: Iterable[int]
) -> list[str]:
    """The columns beside those that are taken whose values come again, as those of people do.

    >>> rows = [["a", "b", "c", str(i // 4), str(i), "x"] for i in range(24)]
    >>> likely_raters(["p", "q", "r", "code", "nr", "study"], rows, [0, 1, 2])
    ['code']
    """
    whole = [row for row in rows[:ROWS] if len(row) == len(names)]
    found = []
    for i in set(range(len(names))) - set(taken):
        cells = [row[i].strip() for row in whole if not is_missing(row[i])]
        n, runs = len(set(cells)), len(list(groupby(cells)))
        if 2 <= n <= len(whole) / 2 and not any(map(_is_decimal, cells)):
            found.append((n != runs, -n, i))
    return [quotable(names, i) for _, _, i in sorted(found)[:_NAMED]]


def listed_values(names: Sequence[str], rows: Sequence[Sequence[str]] = ()) -> str:
    """Columns, with three values of each where rows are given, for a message.

    >>> listed_values(["x", "nr"], [["van", "1"], ["bus", "2"], ["van", "3"], ["car", "4"]])
    'x (van, bus, car), nr (1, 2, 3)'
    """
    told = []
    for i, name in enumerate(names[:_LISTED]):
        values = ", ".join(one_line(value, 20) for value in first_values(rows, i))
        told.append((one_line(name, 40) or "(empty)") + (f" ({values})" if values else ""))
    shown = ", ".join(told)
    return shown if len(names) <= _LISTED else f"{shown}, ... ({len(names)} in all)"


def folded(
    names: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]] | None:
    """Columns of several questions, ``t1_a``, ``t1_b``, ``t2_a``, ..., as those of one, ``t{}_a``.

    The rows are those of all questions. None where fewer than three columns are repeated alike.

    >>> folded(["who", "t1_a", "t1_b", "t1_c", "t2_a", "t2_b", "t2_c"], [list("pabcabd")])
    (['t{}_a', 't{}_b', 't{}_c', 'who'], [['a', 'b', 'c', 'p'], ['a', 'b', 'd', 'p']])
    """
    groups: dict[str, dict[str, int]] = {}
    for i, name in enumerate(names):
        for run in re.finditer(r"\d+", name):
            pattern = f"{name[: run.start()]}{{}}{name[run.end() :]}"
            groups.setdefault(pattern, {})[run[0]] = i
    alike: dict[tuple[str, ...], list[str]] = {}
    for pattern, columns in groups.items():
        alike.setdefault(tuple(columns), []).append(pattern)
    found = [each for each in alike.items() if len(each[0]) > 1 and len(each[1]) > 2]
    if not found:
        return None
    numbers, patterns = max(found, key=lambda each: len(each[0]) * len(each[1]))
    taken = {groups[pattern][n] for pattern in patterns for n in numbers}
    others = [i for i in range(len(names)) if i not in taken]
    whole = [row for row in rows[:ROWS] if len(row) == len(names)]
    made = [
        [row[i] for i in (*(groups[pattern][n] for pattern in patterns), *others)]
        for row in whole
        for n in numbers
    ]
    return [*patterns, *(names[i] for i in others)], made


def first_values(rows: Sequence[Sequence[str]], i: int) -> list[str]:
    """The first different values of a column."""
    found: dict[str, None] = {}
    for row in rows[:ROWS]:
        if i < len(row) and not is_missing(row[i]):
            found.setdefault(row[i].strip())
        if len(found) == _NAMED:
            break
    return list(found)


def to_fill_in(names: Sequence[str], at: Mapping[str, int]) -> str:
    """The line to fill in, with what is known of the columns.

    >>> to_fill_in(["x", "ref", "who"], {"anchor": 1})
    'chosen=?,anchor=ref,shown_1=?,shown_2=?,rater=?'
    """
    wanted = ["chosen", "shown_1", "shown_2", "shown_3", "rater"]
    first = next((role for role in ("odd", "central") if role in at), None)
    if "shown_4" in at:
        wanted = ["chosen", "rater"]  # the others are known by their names
    elif first is not None:
        wanted = [first, "other_1", "other_2", "rater"]
    elif "near" in at and "far" in at:
        wanted = ["anchor", "near", "far", "rater"]
    elif "anchor" in at:
        wanted = ["chosen", "anchor", "shown_1", "shown_2", "rater"]
    elif len(names) == 3 and "shown_1" not in at:
        wanted = ["chosen", "other_1", "other_2"]
    return ",".join(f"{role}={quotable(names, at[role]) if role in at else '?'}" for role in wanted)


def _is_decimal(cell: str) -> bool:
    number = as_number(cell)
    return isfinite(number) and number % 1 != 0


def stranger(rows: Sequence[Sequence[str]]) -> str:
    """Why three columns do not hold objects of one pool, in words; empty where they may.

    >>> stranger([[f"r{i}", "abcdef"[i], "bcdefa"[i]] for i in range(6)] * 5)
    'column 1 has no value in common with the two others'
    """
    cells = _Cells(("1", "2", "3"), rows, False)
    n = cells.codes.shape[1]
    for i in range(3) if n >= _FEW else ():
        if sum(map(_is_decimal, cells.cells[i])) > 0.1 * n:
            return f"column {i + 1} holds numbers with decimals"
        one, other = (j for j in range(3) if j != i)
        pool = cells.values[one] | cells.values[other]
        many = min(len(cells.values[one]), len(cells.values[other])) > n / 2
        repeats = many and len(cells.values[i]) <= n / 3
        alone = len(pool) >= _POOL and not cells.values[i] & pool
        if alone and (cells._met(one, other) >= _MET or repeats):
            return f"column {i + 1} has no value in common with the two others"
    return ""
