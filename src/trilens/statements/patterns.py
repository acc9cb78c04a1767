"""What messages say of columns whose names do not suffice: first values, a line to fill in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from math import isfinite

from trilens.statements.columns import as_number, one_line
from trilens.statements.names import is_missing
from trilens.statements.roles import OPTIONAL, SHOWN

#: Rows that are looked at.
ROWS = 1000
#: Values of a column that a message names; and columns.
_NAMED, _LISTED = 3, 24
#: The share of values that columns of one pool of objects have in common, at least.
_MET = 0.2
#: Rows and objects from which a column that meets none of the others is a stranger.
_FEW, _POOL = 8, 4


def quotable(names: Sequence[str], i: int) -> str:
    """A column as ``columns=`` takes it: by its name, or else by its number."""
    name = one_line(names[i], 40)
    plain_name = name and name == names[i] and not set(name) & set(",=\"'?")
    return name if plain_name and list(names).count(name) == 1 else str(i + 1)


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


def by_pattern(names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Where columns are by their names with {} in the place of a number, and by that number.

    >>> by_pattern(["who", "t1_a", "t2_a"])
    {'t{}_a': {'1': 1, '2': 2}}
    """
    groups: dict[str, dict[str, int]] = {}
    for i, name in enumerate(names):
        for pattern, number in patterns_of(name.strip()):
            groups.setdefault(pattern, {}).setdefault(number, i)
    return groups


def patterns_of(name: str) -> list[tuple[str, str]]:
    """A name with {} in the place of each of its numbers, and that number.

    >>> patterns_of("t1_a2")
    [('t{}_a2', '1'), ('t1_a{}', '2')]
    """
    runs = re.finditer(r"\d+", name)
    return [(f"{name[: run.start()]}{{}}{name[run.end() :]}", run[0]) for run in runs]


def folded(
    names: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]] | None:
    """Columns of several questions, ``t1_a``, ``t1_b``, ``t2_a``, ..., as those of one, ``t{}_a``.

    The rows are those of all questions. None where fewer than three columns are repeated alike.

    >>> folded(["who", "t1_a", "t1_b", "t1_c", "t2_a", "t2_b", "t2_c"], [list("pabcabd")])
    (['t{}_a', 't{}_b', 't{}_c', 'who'], [['a', 'b', 'c', 'p'], ['a', 'b', 'd', 'p']])
    """
    groups = by_pattern(names)
    alike: dict[tuple[str, ...], list[str]] = {}
    for pattern, columns in groups.items():
        alike.setdefault(tuple(columns), []).append(pattern)
    found = [each for each in alike.items() if len(each[0]) > 1 and len(each[1]) > 2]
    if not found:
        return None
    numbers, patterns = max(found, key=lambda each: len(each[0]) * len(each[1]))
    questions = [[groups[pattern][n] for pattern in patterns] for n in numbers]
    taken = set(chain(*questions))
    others = [i for i in range(len(names)) if i not in taken]
    whole = [row for row in rows[:ROWS] if len(row) == len(names)]
    made = [[row[i] for i in (*columns, *others)] for row in whole for columns in questions]
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


def to_fill_in(names: Sequence[str], at: Mapping[str, int]) -> list[str]:
    """The lines to fill in, with what is known of the columns: the one or the other.

    >>> to_fill_in(["x", "ref", "y", "z", "who"], {"anchor": 1})
    ['chosen=?,anchor=ref,shown_1=?,shown_2=?,rater=?']
    >>> to_fill_in(["picked", "x", "y", "who"], {"chosen": 0, "rater": 3})
    ['chosen=picked,other_1=x,other_2=y,rater=who']
    >>> to_fill_in(["central", "x", "y"], {"central": 0})
    ['central=central,other_1=x,other_2=y']
    >>> to_fill_in(
    ...     ["card left", "card mid", "card right", "choice", "who"], {"chosen": 3, "rater": 4}
    ... )
    ['chosen=choice,shown_1=card left,shown_2=card mid,shown_3=card right,rater=who']
    >>> to_fill_in(["1", "2", "3", "4"], {})
    ['chosen=?,other_1=?,other_2=?,rater=?', 'chosen=?,shown_1=?,shown_2=?,shown_3=?']
    """
    first = next((role for role in ("odd", "central") if role in at), None)
    others = ["other_1", "other_2"]
    # columns that may hold objects
    n = len(names) - sum(role in OPTIONAL for role in at)
    lines = [["chosen", *SHOWN, "rater"]]
    if "shown_4" in at:
        lines = [["chosen", "rater"]]  # the others are known by their names
    elif first is not None:
        lines = [[first, *others, "rater"]]
    elif "near" in at and "far" in at:
        lines = [["anchor", "near", "far", "rater"]]
    elif "anchor" in at:
        lines = [["chosen", "anchor", "shown_1", "shown_2", "rater"]]
    elif n == 3 and "shown_1" not in at:
        lines = [["chosen", *others, "rater"]]
    elif n == 4 and not {"rater", "shown_1"} & at.keys():
        lines = [["chosen", *others, "rater"], ["chosen", *SHOWN]]
    return [_filled_in(names, at, line) for line in lines]


def _filled_in(names: Sequence[str], at: Mapping[str, int], wanted: Sequence[str]) -> str:
    """The line; where as many columns are left as objects that are asked for alike, with them."""
    left = [i for i in range(len(names)) if i not in at.values()]
    lacking = [role for role in wanted if role not in at]
    if "rater" in lacking and len(left) < len(lacking):  # none is left for it
        lacking.remove("rater")
        wanted = [role for role in wanted if role != "rater"]
    alike = lacking == [*SHOWN] or all(role.startswith("other_") for role in lacking)
    fit = alike and len(lacking) == len(left)
    known = dict(at) | dict(zip(lacking, left, strict=True)) if fit else at
    return ",".join(
        f"{role}={quotable(names, known[role]) if role in known else '?'}" for role in wanted
    )


def stranger(rows: Sequence[Sequence[str]]) -> str:
    """Why three columns do not hold objects of one pool, in words; empty where they may.

    >>> stranger([[f"r{i}", "abcdef"[i], "bcdefa"[i]] for i in range(6)] * 5)
    'column 1 has no value in common with the two others'
    """
    whole = [row for row in rows[:ROWS] if len(row) == 3]
    n = len(whole)
    columns = [[row[i].strip() for row in whole] for i in range(3)]
    values = [{cell for cell in column if not is_missing(cell)} for column in columns]
    for i in range(3) if n >= _FEW else ():
        numbers = filter(isfinite, map(as_number, columns[i]))
        if sum(number % 1 != 0 for number in numbers) > 0.1 * n:
            return f"column {i + 1} holds numbers with decimals"
        one, other = (values[j] for j in range(3) if j != i)
        fewer = min(len(one), len(other))
        repeats = fewer > n / 2 and len(values[i]) <= n / 3
        alone = len(one | other) >= _POOL and not values[i] & (one | other)
        if alone and (len(one & other) >= _MET * max(fewer, 1) or repeats):
            return f"column {i + 1} has no value in common with the two others"
    return ""
