"""What the cells say of columns whose names say nothing: advice that is right, or none.

Objects that are shown together come from one pool and differ within a row. An answer is always
one of the objects beside it, or takes as many values as there are places. Where more than one
reading of the columns would do, nothing is advised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, groupby

import numpy as np

from trilens._typing import AnyArray, BoolArray
from trilens.errors import option
from trilens.kinds import Kind
from trilens.statements.columns import one_line
from trilens.statements.names import is_integer, is_missing
from trilens.statements.positions import by_columns, by_words, in_screen_order, plain
from trilens.statements.roles import OPTIONAL, SHOWN, key, roles

#: Rows and columns that are looked at.
ROWS = 1000
_COLUMNS = 60
_CANDIDATES = 12
#: Rows from which it is told that something never happens.
_ENOUGH = 20
#: Rows from which a column that meets none of the others is a stranger.
_FEW = 8
#: The share of rows in which the objects shown differ: the others are catch questions.
_DIFFER = 0.8
#: The share of rows in which an answer by name is one of those shown.
_AMONG = 0.95
#: The share of values that two columns of objects have in common, at least.
_MET = 0.2
#: Objects from which it is told that a column has none of them.
_POOL = 4
#: How much better a set of columns must be than one with a stranger in it.
_MARGIN = 1.3
_ANSWER = re.compile(
    r"answer|respon|resp|choice|choos|chose|select|pick|click|press|^key|button|decision|judg"
    r"|antwort|wahl|reponse|choix|respuesta|risposta|winner|odd|vote|^q[0-9]+$"
)
_NO_ANSWER = re.compile(
    r"corr|expect|gold|truth|solution|catch|check|cond|block|group|order|version|time|date"
    r"|trial|^id$|respondent|responseid|^(.*(resp|key|mouse|click))?rt$"
    r"|votes$|count|^n$|^n(votes|answers|resp)|score|rating|confidence"
)
#: A name that says which object was not taken.
_NOT_TAKEN = re.compile(
    r"far(ther|thest)?$|^far(ther|thest|object|item|image)|furthe|reject|unchosen|unselected|^loser"
    r"|negative$|^not|not(chosen|selected|picked|taken|similar)|less(similar|alike)"
)
#: A name that says which object differs: the odd one of three, the wrong one of two.
_DIFFERS = re.compile(r"odd|outlier|differ|dissimilar|unlike|least|distant")


@dataclass(frozen=True)
class Advice:
    """What to say of the columns.

    Attributes
    ----------
    columns : str or None
        For ``columns=``; None where the cells do not tell.
    kinds : tuple of str
        Those that it may be of, where the columns do not tell it.
    why : str
        What it rests on, or what is not told.
    """

    columns: str | None
    kinds: tuple[Kind, ...] = ()
    why: str = ""

    def __str__(self) -> str:
        """The end of a message: what to pass, and why."""
        said = option("columns", self.columns)
        if self.columns is not None and self.kinds:
            which = " or ".join(option("kind", kind) for kind in self.kinds)
            said += f" and {which}" + (", whichever was asked" if len(self.kinds) > 1 else "")
        return f"{said} ({self.why})" if self.why else said


def advise(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    header: bool = True,
    kind: Kind | None = None,
) -> Advice:
    """What to say of the columns, where names and cells tell.

    Parameters
    ----------
    names
        Of the columns; their numbers where they have none.
    rows
        The first rows.
    header
        Whether the names mean something.
    kind
        The one that is known.

    Examples
    --------
    >>> rows = [["1", "a", "b", "c", "b"], ["2", "d", "a", "b", "b"], ["3", "c", "d", "a", "c"]]
    >>> advise(["nr", "x", "y", "z", "w"], [*rows, ["4", "b", "c", "d", "d"]]).columns
    'chosen=w,shown_1=x,shown_2=y,shown_3=z'
    >>> advise(["nr", "x", "y", "z"], [row[:4] for row in rows]).why
    'x, y, z hold objects, but no column says which of them was chosen'
    """
    return _Cells(names, rows, header, kind).advice()


class _Cells:
    """The first rows of a table, column by column."""

    def __init__(
        self, names: Sequence[str], rows: Sequence[Sequence[str]], header: bool, kind: Kind | None
    ) -> None:
        self.names, self.header, self.kind = list(names), header, kind
        n = len(self.names)
        whole = [row for row in rows[:ROWS] if len(row) == n]
        self.n_rows = len(whole)
        self.cells = [[row[i] for row in whole] for i in range(min(n, _COLUMNS))]
        numbers: dict[str, int] = {}
        self.codes: AnyArray = np.array(
            [
                [-1 if is_missing(c) else numbers.setdefault(c, len(numbers)) for c in column]
                for column in self.cells
            ],
            dtype=np.int64,
        ).reshape(len(self.cells), self.n_rows)
        self.values = [set(column[column >= 0].tolist()) for column in self.codes]
        found = roles(self.names) if header else {}
        self.role = {i: role.name for i, role in found.items() if i < len(self.cells)}

    def advice(self) -> Advice:
        if self.n_rows < 2 or len(self.cells) < 3:
            return Advice(None)
        named = self._answers_by_name()
        for found in (named, None if named else self._answers_by_place(), self._by_partial_names()):
            if found is not None:
                return found
        three = self.shown
        if three is None:
            return Advice(None, why="the cells do not tell which columns hold objects")
        listed = self._listed(three)
        turned = [self._name(i) for i in self.free if i not in three and self._is_turned(i)]
        if self.header and turned:
            why = f"{turned[0]} names the object that was not chosen; give the one that was"
            return Advice(None, why=why)
        return Advice(
            None, why=f"{listed} hold objects, but no column says which of them was chosen"
        )

    # what each column is like

    @cached_property
    def free(self) -> list[int]:
        """The columns whose names do not say that they hold something else."""
        return [i for i in range(len(self.cells)) if self.role.get(i) not in OPTIONAL]

    @cached_property
    def candidates(self) -> list[int]:
        """Columns that may hold objects: no numbers with decimals, no counters, many values."""
        able = [
            i
            for i in self.free
            if len(self.values[i]) > 2
            and (self.codes[i] >= 0).mean() > 0.2
            and not self._has_decimals(i)
            and not self._counts(i)
        ]
        able = [i for i in able if sum(self.met(i, j) >= _MET for j in able if j != i) >= 2]
        return sorted(able, key=lambda i: -sum(self.met(i, j) for j in able if j != i))[
            :_CANDIDATES
        ]

    def met(self, i: int, j: int) -> float:
        """The share of the values of one column that the other one has too."""
        one, other = self.values[i], self.values[j]
        return len(one & other) / max(min(len(one), len(other)), 1)

    def _has_decimals(self, i: int) -> bool:
        known = [cell for cell in self.cells[i] if not is_missing(cell)]
        return sum(map(_is_decimal, known)) > 0.1 * len(known)

    def _counts(self, i: int) -> bool:
        """Whether each row has the number after that of the row before."""
        if self.n_rows < 3 or not all(map(is_integer, self.cells[i])):
            return False
        numbers = np.array([int(cell) % 2**40 for cell in self.cells[i]])
        return bool((np.diff(numbers) == 1).mean() > 0.7)

    def _runs(self, i: int) -> bool:
        """Whether a value stays for several rows, more than by chance."""
        column = self.codes[i]
        if self.n_rows < _ENOUGH:
            return False
        _, times = np.unique(column, return_counts=True)
        by_chance = float(((times / len(column)) ** 2).sum())
        return bool((np.diff(column) == 0).mean() > by_chance + 4 / np.sqrt(len(column)))

    # the objects that were shown

    def differ(self, three: Sequence[int]) -> BoolArray:
        """The rows in which three columns hold three objects."""
        a, b, c = (self.codes[i] for i in three)
        here = (a >= 0) & (b >= 0) & (c >= 0)
        return np.asarray(here & (a != b) & (a != c) & (b != c))

    def _all_there(self, columns: Sequence[int]) -> BoolArray:
        return np.asarray((self.codes[list(columns)] >= 0).all(axis=0))

    def _is_question(self, three: Sequence[int]) -> bool:
        there = self._all_there(three)
        return bool(there.any()) and bool(self.differ(three)[there].mean() >= _DIFFER)

    def _weakest(self, three: Sequence[int]) -> float:
        return min(self.met(i, j) for i, j in combinations(three, 2))

    @cached_property
    def shown(self) -> list[int] | None:
        """The three columns that hold objects, by their names or by their cells."""
        at = {role: i for i, role in self.role.items()}
        for wanted in (SHOWN, ("anchor", "shown_1", "shown_2"), ("anchor", "near", "far")):
            if all(role in at for role in wanted):
                three = [at[role] for role in wanted]
                return three if self._is_question(three) else None
        able = [
            three for three in combinations(sorted(self.candidates), 3) if self._is_question(three)
        ]
        scored = sorted(((self._score(three), three) for three in able), reverse=True)
        if not scored or scored[0][0] <= 0:
            return None
        if len(scored) > 1 and scored[0][0] < _MARGIN * scored[1][0]:
            return None
        return list(scored[0][1])

    def _score(self, three: Sequence[int]) -> float:
        """How much three columns look like one pool of objects of which each row shows three."""
        there = self._all_there(three)
        same = 1 - float(self.differ(three)[there].mean())
        return self._weakest(three) * max(1 - 10 * same, 0.01)

    # which of them was chosen

    def _answers_by_name(self) -> Advice | None:
        """A column that is always one of those beside it."""
        found: list[tuple[int, tuple[int, ...], int | None, int, int]] = []
        for three in combinations(sorted(self.candidates), 3):
            if not self._is_question(three) or self._weakest(three) < _MET:
                continue
            differ = self.differ(three)
            for a in self.candidates:
                if a in three or _NO_ANSWER.search(key(self.names[a])):
                    continue
                rows = differ & (self.codes[a] >= 0)
                n = int(rows.sum())
                if n < 2:
                    continue
                hits = [int((self.codes[a] == self.codes[i])[rows].sum()) for i in three]
                if sum(hits) < _AMONG * n:
                    continue
                never = [i for i, times in zip(three, hits, strict=True) if times == 0]
                if self._is_turned(a, bool(never)):
                    continue
                if not never and min(hits) >= 0.005 * n:
                    found.append((a, three, None, sum(hits), n))
                elif len(never) == 1:
                    told = self.role.get(never[0]) == "anchor"
                    if told or (n >= _ENOUGH and self._akin(never[0], three)):
                        found.append((a, three, never[0], sum(hits), n))
        best = self._one_of(found)
        if best is None:
            return None
        answer, shown, anchor, n_hits, n = best
        return self._chosen(answer, shown, anchor, "is one of {}", n_hits, n)

    def _is_turned(self, i: int, of_two: bool = True) -> bool:
        """Whether a column's name says that its object is the one that was not chosen."""
        name = key(self.names[i]) if self.header else ""
        return bool(_NOT_TAKEN.search(name) or (of_two and _DIFFERS.search(name)))

    def _akin(self, anchor: int, three: Sequence[int]) -> bool:
        """Whether a column meets the others of a question as they meet each other."""
        pair = [i for i in three if i != anchor]
        return min(self.met(anchor, i) for i in pair) * _MARGIN >= self.met(*pair)

    def _one_of(
        self, found: Sequence[tuple[int, tuple[int, ...], int | None, int, int]]
    ) -> tuple[int, tuple[int, ...], int | None, int, int] | None:
        """The only reading; of several, the only one whose answer is called so."""
        if len(found) > 1:
            called = [each for each in found if self._is_called_answer(each[0])]
            found = called or found
        if not found:
            return None
        first = found[0]
        alike = all(
            set(each[1]) == set(first[1])
            and each[2] == first[2]
            and bool((self.codes[each[0]] == self.codes[first[0]]).all())
            for each in found
        )
        return first if alike else None

    def _is_called_answer(self, i: int) -> bool:
        plain_name = key(self.names[i])
        if not self.header or _NO_ANSWER.search(plain_name):
            return False
        return self.role.get(i) in ("chosen", "near") or bool(_ANSWER.search(plain_name))

    def _answers_by_place(self) -> Advice | None:
        """A column with as many values as there are places, for the three objects shown."""
        three = self.shown
        if three is None:
            return None
        found: list[tuple[int, Advice]] = []
        for i in self.free:
            if i in three or not 1 < len(self.values[i]) <= 3 or self._runs(i):
                continue
            if _NO_ANSWER.search(key(self.names[i])):
                continue
            advice = None if self._is_turned(i, of_two=False) else self._place(i, three)
            if advice is not None:
                found.append((i, advice))
        if len(found) > 1:
            called = [each for each in found if self.role.get(each[0]) == "chosen"]
            found = called or [each for each in found if self._is_called_answer(each[0])]
        return found[0][1] if len(found) == 1 else None

    def _place(self, i: int, three: Sequence[int]) -> Advice | None:
        rows = self.differ(three) & (self.codes[i] >= 0)
        n = int(rows.sum())
        seen = {plain(cell) for cell in self.cells[i] if not is_missing(cell)}
        called = self._is_called_answer(i)
        # numbers may count anything, and few rows do not tell a group from an answer
        if not called and (self.n_rows < _ENOUGH or all(text.isdigit() for text in seen)):
            return None
        anchor = next((j for j in three if self.role.get(j) == "anchor"), None)
        if anchor is None:
            names = [self.names[j] for j in three]
            by_name = by_columns(seen, names) if self.header else None
            if by_name is not None and len(set(by_name.values())) == len(three):
                return self._chosen(i, three, None, "names one of the columns {}", n, n)
            told = by_name or (by_words(seen, names) if called else None)
            if told is not None and len(set(told.values())) == len(three):
                return self._chosen(i, three, None, "says which of {}", n, n)
            if called and seen in ({"0", "1", "2"}, {"1", "2", "3"}):
                return self._chosen(i, three, None, "is a number for one of {}", n, n)
            if by_name is not None and len(set(by_name.values())) == 2 and n >= _ENOUGH:
                # never the third: it is what the two others are compared with
                anchor = next(j for k, j in enumerate(three) if k not in by_name.values())
        if anchor is None or self._is_turned(i):
            return None
        pair = [j for j in three if j != anchor]
        names = [self.names[j] for j in pair]
        told = by_columns(seen, names) or (by_words(seen, names) if called else None)
        if told is not None and len(set(told.values())) == 2:
            return self._chosen(i, three, anchor, "names one of the columns {}", n, n)
        if called and seen in ({"0", "1"}, {"1", "2"}):
            return self._chosen(i, three, anchor, "is a number for one of {}", n, n)
        return None

    def _by_partial_names(self) -> Advice | None:
        """Some of three objects are called by what they are, and the rest follows."""
        three = self.shown
        if three is None:
            return None
        at = {role: i for i, role in self.role.items() if i in three}
        rest = [i for i in three if i not in at.values()]
        for role in ("odd", "central"):
            if role in at and not {"anchor", "near", "far"} & set(at):
                others = [i for i in three if i != at[role]]
                return self._told({role: at[role], "other_1": others[0], "other_2": others[1]})
        closer = {role: at[role] for role in ("anchor", "near", "far") if role in at}
        lacking = [role for role in ("anchor", "near", "far") if role not in closer]
        if len(closer) == 2 and len(rest) == 1:
            every = closer | {lacking[0]: rest[0]}
            return self._told({role: every[role] for role in ("anchor", "near", "far")})
        return None

    # in words

    def _told(self, picked: Mapping[str, int]) -> Advice:
        n = int(self.differ(list(picked.values())).sum())
        why = f"{self._listed(picked.values())} differ in {n:,} of {self.n_rows:,} rows"
        return Advice(self._said(picked), why=why)

    def _chosen(
        self,
        answer: int,
        three: Sequence[int],
        anchor: int | None,
        says: str,
        hits: int,
        n: int,
    ) -> Advice:
        beside = sorted(i for i in three if i != anchor)
        order = in_screen_order([self.names[i] for i in beside]) if self.header else None
        beside = beside if order is None else [beside[k] for k in order]
        picked = {"chosen": answer}
        if anchor is not None:
            picked["anchor"] = anchor
        picked |= {f"shown_{j + 1}": i for j, i in enumerate(beside)}
        said = says.format(self._listed(beside))
        why = f"{self._name(answer)} {said} in {hits:,} of {n:,} rows"
        return Advice(self._said(picked), self._kinds(answer, anchor), why)

    def _kinds(self, answer: int, anchor: int | None) -> tuple[Kind, ...]:
        if anchor is not None or self.kind is not None:
            return ()
        called = key(self.names[answer]) if self.header else ""
        if _DIFFERS.search(called):
            return ("odd",)
        return ("central",) if "central" in called else ("central", "odd")

    def _said(self, picked: Mapping[str, int]) -> str:
        every = dict(picked)
        for role in OPTIONAL:
            known = [i for i, each in self.role.items() if each == role]
            if known:
                every[role] = known[0]
        if "rater" not in every:
            rater = self._rater(set(every.values()))
            if rater is not None:
                every["rater"] = rater
        return ",".join(f"{role}={self._quoted(i)}" for role, i in every.items())

    def _rater(self, taken: set[int]) -> int | None:
        """The column whose values come in one run each, and are many."""
        found: list[tuple[int, int]] = []
        for i in range(len(self.cells)):
            if i in taken or self._has_decimals(i):
                continue
            runs = [code for code, _ in groupby(self.codes[i].tolist())]
            n = len(self.values[i])
            if n == len(runs) and 5 <= n <= self.n_rows / 3:
                found.append((n, i))
        found.sort(reverse=True)
        if not found or (len(found) > 1 and found[0][0] == found[1][0]):
            return None
        return found[0][1]

    def rater(self, taken: Iterable[int]) -> str | None:
        """The name, or the number, of the column that looks like the raters."""
        found = self._rater(set(taken))
        return None if found is None else self._quoted(found)

    def _name(self, i: int) -> str:
        return one_line(self.names[i], 40) if self.header else f"column {i + 1}"

    def _listed(self, columns: Iterable[int]) -> str:
        listed = [one_line(self.names[i], 40) for i in columns]
        return ", ".join(listed) if self.header else f"columns {', '.join(listed)}"

    def _quoted(self, i: int) -> str:
        name = one_line(self.names[i], 40)
        plain_name = name and name == self.names[i] and not set(name) & set(',="')
        return name if plain_name and self.names.count(name) == 1 else str(i + 1)


def likely_rater(
    names: Sequence[str], rows: Sequence[Sequence[str]], header: bool, taken: Iterable[int]
) -> str | None:
    """The column beside those that are taken whose values look like raters, each in one run.

    >>> rows = [["a", "b", "c", str(i // 4), str(i)] for i in range(24)]
    >>> likely_rater(["x", "y", "z", "vp", "nr"], rows, True, [0, 1, 2])
    'vp'
    """
    return _Cells(names, rows, header, None).rater(taken)


def places_told(
    names: Sequence[str], rows: Sequence[Sequence[str]], answer: int, beside: Sequence[int]
) -> AnyArray:
    """Where the chosen object stood in each of the first rows, -1 where a row does not tell.

    >>> rows = [["a", "b", "c", "left"], ["a", "b", "c", "right"]]
    >>> places_told(["l", "m", "r", "answer"], rows, 3, [0, 1, 2]).tolist()
    [0, 2]
    """
    whole = [row for row in rows[:ROWS] if len(row) == len(names)]
    shown = [names[i] for i in beside]
    seen = {plain(row[answer]) for row in whole if not is_missing(row[answer])}
    by_name = [
        next((k for k, i in enumerate(beside) if row[i] == row[answer]), -1) for row in whole
    ]
    different = [len({row[i] for i in beside}) == len(beside) for row in whole]
    told = [place if good else -1 for place, good in zip(by_name, different, strict=True)]
    if sum(place >= 0 for place in told) > 0.5 * len(told) or len(seen) > len(beside) + 1:
        return np.array(told)
    places = by_columns(seen, shown) or by_words(seen, shown)
    if places is None and seen <= {str(i) for i in range(len(beside) + 1)}:
        places = {text: int(text) - ("0" not in seen) for text in seen}
    places = places or {}
    by_place = [places.get(plain(row[answer]), -1) for row in whole]
    return np.array([p if good else -1 for p, good in zip(by_place, different, strict=True)])


def _is_decimal(cell: str) -> bool:
    try:
        return float(cell.replace(",", ".", 1)) % 1 != 0
    except (ValueError, OverflowError):
        return False


def strangers(names: Sequence[str], rows: Sequence[Sequence[str]], three: Sequence[int]) -> str:
    """Why three columns do not hold objects of one pool, in words; empty where they may.

    >>> few = [[f"r{i}", "abcdef"[i], "bcdefa"[i]] for i in range(6)]
    >>> strangers(["1", "2", "3"], few * 5, [0, 1, 2])
    'column 1 has no value in common with the two others'
    """
    cells = _Cells(names, rows, False, None)
    if cells.n_rows < _FEW:
        return ""
    for i in three:
        if cells._has_decimals(i):
            return f"column {i + 1} holds numbers with decimals"
        one, other = (j for j in three if j != i)
        pool = cells.values[one] | cells.values[other]
        alone = not cells.values[i] & pool
        few, many = cells.n_rows / 3, cells.n_rows / 2
        repeats = (
            len(cells.values[i]) <= few
            and min(len(cells.values[one]), len(cells.values[other])) > many
        )
        if alone and len(pool) >= _POOL and (cells.met(one, other) >= _MET or repeats):
            return f"column {i + 1} has no value in common with the two others"
    return ""
