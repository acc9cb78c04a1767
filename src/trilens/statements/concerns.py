"""What may be wrong with answers as they were read: named, and left to whoever knows the study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trilens.statements.cells import is_whole_text
from trilens.statements.columns import one_line, quoted
from trilens.statements.names import is_integer
from trilens.statements.patterns import likely_raters, quotable
from trilens.statements.roles import MARKS, SAMPLERS, key
from trilens.statements.table import AnswerTable, Pass
from trilens.statements.value import Statements

#: A column that marks rows has few values.
_FEW = 8
#: Perhaps a number of equal answers, perhaps something else.
_TIMES = frozenset({"n", "freq", "frequency", "weight", "times"})
#: What a column of names may be called after that of the ids.
_NAMED = ("name", "object", "label", "text", "word")


@dataclass(frozen=True)
class Concern:
    """One thing that only those can decide who know the study.

    Attributes
    ----------
    code : str
        ``raters``, ``marked``, ``sampler``, ``count``, ``times``, ``alike`` or ``ids``.
    what, therefore, remedy : str
        What was seen, what follows if nothing is done, what to do.
    names : tuple of str
        The columns, or objects, that it is about.
    """

    code: str
    what: str
    therefore: str
    remedy: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.what} {self.remedy}"

    def to_dict(self) -> dict[str, Any]:
        """The facts, for JSON."""
        return asdict(self)


def concerns_about(
    found: Pass, statements: Statements, left_out: Sequence[str]
) -> tuple[Concern, ...]:
    """What to say of the answers of a table, in the order of its weight."""
    table = found.of
    names = list(table.layout.names)
    unused = [i for i, name in enumerate(names) if name in left_out]
    return (
        *_about_raters(table, unused),
        *_about_marks(table, unused),
        *_about_counts(table, unused),
        *_about_times(found),
        *_about_names(statements),
        *_about_ids(table, statements, unused),
    )


def _column(table: AnswerTable, i: int) -> str:
    return quotable(table.layout.names, i) if table.layout.header else str(i + 1)


def _about_raters(table: AnswerTable, unused: Sequence[int]) -> list[Concern]:
    if "rater" in table.layout.others or table.rater is not None or not unused:
        return []
    taken = set(range(len(table.layout.names))) - set(unused)
    likely = likely_raters(table.layout.names, table.table.first, taken)
    example = f"rater={likely[0]}" if likely else "rater=COLUMN"
    perhaps = f" (perhaps {', '.join(likely)})" if likely else ""
    return [
        Concern(
            "raters",
            f"No column names the person{perhaps}.",
            "Careless raters are not found, and intervals may be too narrow.",
            f"If one does, add --columns {example} (in Python: columns='{example}').",
            tuple(likely),
        )
    ]


def _about_marks(table: AnswerTable, unused: Sequence[int]) -> list[Concern]:
    """Columns that mark practice, catch trials or tasks, or which algorithm asked."""
    if table.reason is not None or table.options.passes_over:
        return []
    found = []
    for i in unused:
        name = one_line(table.layout.names[i], 40)
        seen = Counter(table.table.first_cells(i))
        if not 2 <= len(seen) <= _FEW:
            continue
        few = ", ".join(f"{one_line(word, 30)} ({n:,})" for word, n in seen.most_common(4))
        most = one_line(seen.most_common(1)[0][0], 30)
        if key(name) in MARKS:
            found.append(
                Concern(
                    "marked",
                    f"Column {name} divides the answers: {few} of the first "
                    f"{sum(seen.values()):,}.",
                    "All are used, whether they belong together or not.",
                    f"To use some of them, add --where '{name} = {most}' (in Python: "
                    f'where="{name} = {most}").',
                )
            )
        elif key(name) in SAMPLERS and "reason" not in table.layout.others:
            random = next((word for word in seen if "random" in word.casefold()), most)
            found.append(
                Concern(
                    "sampler",
                    f"Column {name} says which algorithm asked: {few} of the first "
                    f"{sum(seen.values()):,}.",
                    "Shares of answers to questions that earlier answers chose are biased.",
                    f"If some were chosen by earlier answers, add --columns reason={name} "
                    f"--reason-random {random} (in Python: columns=, reason_random=).",
                )
            )
    return found


def _about_counts(table: AnswerTable, unused: Sequence[int]) -> list[Concern]:
    for i in unused:
        cells = table.table.first_cells(i)
        if key(table.layout.names[i]) in _TIMES and cells and all(map(is_whole_text, cells)):
            name = _column(table, i)
            return [
                Concern(
                    "count",
                    f"Column {name} may be a number of equal answers.",
                    "Each row counts as one answer.",
                    f"If it is, add --columns count={name} (in Python: columns='count={name}').",
                )
            ]
    return []


def _about_times(found: Pass) -> list[Concern]:
    if found.slow is None:
        return []
    at = found.of.layout.others["seconds"]
    name = _column(found.of, at)
    return [
        Concern(
            "times",
            f"The median of {name} is {found.slow:,.4g} seconds.",
            "Response times are shown a thousand times too long, if these are milliseconds.",
            f"If they are, add --columns ms={name} (in Python: columns='ms={name}').",
        )
    ]


def _about_names(statements: Statements) -> list[Concern]:
    """Names that differ in nothing but capitals and blanks."""
    if statements._names is None:
        return []
    alike: dict[str, list[str]] = {}
    for name in statements.names:
        alike.setdefault(" ".join(name.casefold().split()), []).append(name)
    twice = [names for names in alike.values() if len(names) > 1]
    if not twice:
        return []
    few = "; ".join(" and ".join(map(quoted, names[:3])) for names in twice[:3])
    more = f"; and {len(twice) - 3:,} more" if len(twice) > 3 else ""
    return [
        Concern(
            "alike",
            f"Some names differ only in capitals or blanks: {few}{more}.",
            "They are taken for different objects.",
            "If they are the same, write them alike.",
        )
    ]


def _about_ids(table: AnswerTable, statements: Statements, unused: Sequence[int]) -> list[Concern]:
    """Ids of objects whose names stand in the same row."""
    layout = table.layout
    if not layout.header or not all(map(is_integer, statements.names[:1000])):
        return []
    named = {key(layout.names[i]): i for i in unused}
    columns = {}
    for role, at in zip(layout.shape, layout.objects, strict=True):
        stem = key(layout.names[at]).removesuffix("id").removesuffix("index")
        beside = next((named[stem + end] for end in _NAMED if stem + end in named), None)
        if beside is None:
            return []
        columns[role] = _column(table, beside)
    said = ",".join(f"{role}={name}" for role, name in columns.items())
    return [
        Concern(
            "ids",
            f"The objects are called by numbers, though {', '.join(columns.values())} may name "
            f"them.",
            "Findings show the numbers.",
            f"To use the names, add --columns {said} (in Python: columns='{said}').",
        )
    ]
