"""Tables read whole: their statements, further columns, and what was understood, in words."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from trilens._tabular import counted
from trilens._typing import AnyArray
from trilens.errors import (
    AssumedKindWarning,
    FormatError,
    StatementError,
    TrilensError,
    callers_level,
    option,
)
from trilens.kinds import KINDS, Kind
from trilens.statements.batch import (
    Batch,
    Checks,
    Fault,
    checks_of,
    distinct,
    sound,
    statements_of,
    texts_of,
)
from trilens.statements.columns import one_line, quoted, text_array
from trilens.statements.combine import concatenate
from trilens.statements.names import Names, ObjectList, is_integer, is_missing_word, without_zero
from trilens.statements.patterns import quotable
from trilens.statements.roles import FIELDS, MARKS, SAMPLERS, key
from trilens.statements.summary import copies
from trilens.statements.table import AnswerTable, Pass
from trilens.statements.value import Statements

_NUMBERS = re.compile(r"\d[\d,.]*|records?")
#: Bad rows that are named.
_NAMED = 10
#: A column that marks rows has few values.
_FEW = 8
#: Perhaps a number of equal answers, perhaps something else.
_TIMES = frozenset({"n", "freq", "frequency", "weight", "times"})
#: What a column of names may be called after that of the ids.
_NAME_TAILS = ("name", "object", "label", "text", "word")


@dataclass(frozen=True)
class Concern:
    """One thing that only those can decide who know the study.

    Its ``code`` is ``raters``, ``marked``, ``sampler``, ``count``, ``times``, ``alike``, ``ids``
    or ``copies``; it says what was seen, what follows if nothing is done, and what to do.
    """

    code: str
    what: str
    therefore: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what} {self.remedy}"

    def to_dict(self) -> dict[str, Any]:
        """The facts, for JSON."""
        return asdict(self)


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
    checks
        The answers to catch questions, which show an object twice; they are no statements.
    doubt
        Why a kind that is assumed does not fit the answers, in words; empty where it may.
    fits
        The kind that fits them, where that is known.
    concerns
        What only those can decide who know the study.
    set_aside
        The answers of a survey that are no statements: how many, by the reason for the question.
    conditions
        The conditions of a survey that are taken together; empty where there is one.
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
    checks: Checks | None = None
    doubt: str = ""
    fits: Kind | None = None
    set_aside: dict[str, int] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()
    concerns: tuple[Concern, ...] = ()

    @property
    def aside(self) -> int:
        """How many answers to test and repeated questions of a survey are no statements."""
        return sum(n for why, n in self.set_aside.items() if why != "practice")

    def __str__(self) -> str:
        """One line.

        >>> print(
        ...     Reading(("a.csv",), "odd", True, {"odd": "x"}, ("age",), True, 9, 4, None, (), ())
        ... )
        a.csv: 9 statements, kind odd, 4 objects; columns odd=x; unused: age
        """
        parts = [self._found()]
        if self.columns:
            parts.append("columns " + ", ".join(self._column(role) for role in self.columns))
        if not self.header:
            parts.append("no header")
        if self.left_out:
            more = len(self.left_out) - 8
            listed = ", ".join(map(_flat, self.left_out[:8]))
            parts.append(f"unused: {listed}" + (f" and {more} more" if more > 0 else ""))
        parts += self.notes
        if self.checks is not None:
            parts.append(str(self.checks))
        if self.faults:
            parts.append(counted(len(self.faults), "bad row") + " skipped")
        return "; ".join(parts)

    @property
    def caution(self) -> str | None:
        """What to say where the kind is assumed; None where it is told."""
        if self.kind_told:
            return None
        return assumed_kind(self.kind, self.fits, self.doubt)

    def warn(self) -> None:
        """Warn where the kind is assumed."""
        if self.caution is not None:
            text = str(TrilensError(f"{self.files[0]}: {self.caution}"))
            warnings.warn(text, AssumedKindWarning, stacklevel=callers_level())

    def named_faults(self) -> list[str]:
        """The first ten bad rows, and how many more."""
        named = [str(fault) for fault in self.faults[:_NAMED]]
        more = len(self.faults) - len(named)
        return [*named, f"and {counted(more, 'more bad row')}"] if more else named

    def to_dict(self) -> dict[str, Any]:
        """The facts, for JSON."""
        return {
            "files": list(self.files),
            "kind": self.kind,
            "kind_told": self.kind_told,
            "doubt": self.doubt or None,
            "fits": self.fits,
            "columns": dict(self.columns),
            "left_out": list(self.left_out),
            "header": self.header,
            "rows": self.rows,
            "objects": self.objects,
            "raters": self.raters,
            "skipped": len(self.faults),
            "checks": 0 if self.checks is None else len(self.checks),
            "notes": list(self.notes),
            "cautions": [concern.to_dict() for concern in self.concerns],
        }

    def _found(self) -> str:
        where = self.files[0] if len(self.files) == 1 else f"{len(self.files):,} files"
        kind = f"kind {self.kind}" + ("" if self.kind_told else " (assumed)")
        found = [counted(self.rows, "statement"), kind, counted(self.objects, "object")]
        if self.raters is not None:
            found.append(counted(self.raters, "rater"))
        return f"{where}: {', '.join(found)}"

    def _column(self, role: str) -> str:
        name = _flat(self.columns[role])
        return name if name == role else f"{role}={name}"


def assumed_kind(kind: Kind, fits: Kind | None = None, doubt: str = "") -> str:
    """What to say where nobody told which question was asked.

    >>> print(TrilensError(assumed_kind("central")))
    the data do not say which question was asked: kind central is assumed. Give kind='central' if \
that is right, otherwise kind='odd' or kind='closer'
    """
    told = f"the data do not say which question was asked: kind {kind} is assumed"
    if fits is not None:
        return (
            f"{told}, but the answers fit kind {fits}. {doubt}. Give {option('kind', fits)}, or "
            f"{option('kind', kind)} if that was asked"
        )
    others = " or ".join(option("kind", other) for other in KINDS if other != kind)
    return f"{told}. Give {option('kind', kind)} if that is right, otherwise {others}"


def _flat(name: str) -> str:
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    return shown if len(shown) <= 40 else f"{shown[:40]}..."


@dataclass(frozen=True)
class ReadTables:
    """Tables that were read whole.

    ``extra`` are the further columns that were asked for, one text for each statement.
    """

    statements: Statements
    extra: dict[str, AnyArray]
    reading: Reading


def read_tables(
    tables: Sequence[AnswerTable], extra: Sequence[str] = (), *, by_name: bool = False
) -> ReadTables:
    """The statements of tables that share their objects, all with the same options.

    ``extra`` are columns beyond those that statements have; ``by_name`` says that the statements
    call the caller's objects by their names, never by numbers.
    """
    options = tables[0].options
    listed = options.objects
    kind = one_kind(tables)
    stored = stored_objects(tables) if listed is None else None
    fast = stored is None or stored.integers
    passes = [Pass(table, extra=extra, integers=fast) for table in tables]
    batches = [batch for each in passes for batch in each]
    faults: list[Fault] = []
    if options.skip_bad:
        checked = [sound(batch, listed, stored) for batch in batches]
        batches = [good for good, _ in checked if len(good)]
        faults = [fault for _, wrong in checked for fault in wrong]
        faults += [fault for each in passes for fault in each.faults]
        order = {table.label or "": i for i, table in enumerate(tables)}
        faults.sort(key=lambda fault: (order[fault.file], fault.row))
    if not batches and not all(table.table.may_be_empty for table in tables):
        raise no_statements(tables[0], faults)
    objects, notes = listed if by_name else stored, list[str]()
    try:
        if objects is None:
            objects, notes = find_objects(batches, tables)
        found = [statements_of(batch, objects, kind) for batch in batches]
    except StatementError:
        for batch in batches:
            if any(wrong.rows.any() for wrong in batch.wrong(listed, stored)):
                raise batch.refused(listed, stored) from None
        raise
    if not found:
        roles = tables[0].layout.others
        none: dict[str, Any] = {FIELDS[role]: [] for role in roles}
        found = [Statements([], objects.n_objects, objects.known_names, kind, **none)]
    if options.reason_random and batches:
        words = {each for batch in batches for each in distinct(batch.others["reason"])}
        refuse_unseen(words, options.reason_random)
    layout = tables[0].layout
    told = options.kind is not None or all(table.kind is not None for table in tables)
    statements = found[0] if len(found) == 1 else concatenate(found)
    unused = _unused(tables[0], extra)
    conditions = set[str]().union(*(each.conditions for each in passes))
    reading = Reading(
        files=tuple(table.label or "table" for table in tables),
        kind=kind,
        kind_told=told,
        columns=_read_from(tables),
        # as pandas writes its index, without a name
        left_out=tuple(layout.names[i].strip() or f"column {i + 1}" for i in unused),
        header=layout.header,
        rows=sum(map(len, found)),
        objects=objects.n_objects,
        raters=_raters_in(batches),
        faults=tuple(faults),
        notes=(*_noted(passes), *_lost(tables), *notes),
        checks=Checks.joined(checks_of(batch, kind) for each in passes for batch in each.checks),
        set_aside=dict(sum((each.aside for each in passes), Counter[str]())),
        conditions=tuple(sorted(conditions)) if len(conditions) > 1 else (),
        concerns=concerns_about(passes[0], statements, unused),
    )
    return ReadTables(
        statements,
        {name: _joined([texts_of(b.extra[name], b.words) for b in batches]) for name in extra},
        reading,
    )


def refuse_unseen(seen: set[str], words: Sequence[str]) -> None:
    """Refuse a word for random questions that no row has: most often it is a slip."""
    for word in words:
        if word not in seen:
            raise FormatError(
                f"no row has {word!r} as the reason for its question; the words are "
                f"{', '.join(each or '(empty)' for each in sorted(seen)[:8])}",
                parameter="reason_random",
            )


def one_kind(tables: Sequence[AnswerTable]) -> Kind:
    """The kind that all tables have."""
    said: dict[Kind, str | None] = {}
    for table in tables:
        said.setdefault(table.kind or table.options.kind or "central", table.label)
    if len(said) > 1:
        (first, at_first), (second, at_second) = list(said.items())[:2]
        raise FormatError(
            f"{at_first} has statements of kind {first}, but {at_second} of kind {second}; "
            f"read each kind by itself, or give {option('kind')} for the files that do not say it"
        )
    return next(iter(said))


def _unused(table: AnswerTable, extra: Sequence[str]) -> list[int]:
    """The columns that were not read in any way."""
    layout = table.layout
    asked = {layout.names[layout.position(name, table.label)] for name in extra}
    known = asked | table.table.read_from
    return [i for i in layout.unused if layout.names[i] not in known]


def _read_from(tables: Sequence[AnswerTable]) -> dict[str, str]:
    """The columns of the first file that all files have; one of them suffices for the reasons."""
    read = dict(tables[0].layout.read)
    for table in tables:
        for role in table.layout.others:
            if FIELDS[role] == "chosen":
                read.setdefault(role, table.layout.read.get(role, role))
            elif any(role not in each.layout.others for each in tables):
                read.pop(role, None)
    return read


def _lost(tables: Sequence[AnswerTable]) -> Iterator[str]:
    """Columns that some files have and others lack: of all answers together they are not known."""
    for role in dict.fromkeys(role for table in tables for role in table.layout.others):
        without = [table.label for table in tables if role not in table.layout.others]
        if without and FIELDS[role] != "chosen":
            more = f" and {_files(len(without) - 1)} have" if len(without) > 1 else " has"
            yield f"the column {role} is left out: {without[0]}{more} none"


def _noted(passes: Sequence[Pass]) -> list[str]:
    """What the values decided, one note for each sort of thing, however many files there are."""
    said: dict[str, list[str]] = {}
    for each in passes:
        table = each.of
        for note in (*table.table.notes.values(), *table.notes, *each.notes.values()):
            said.setdefault(_NUMBERS.sub("", note), []).append(note)
    return [
        notes[0] if len(notes) == 1 else f"{notes[0]}, and likewise in {_files(len(notes) - 1)}"
        for notes in said.values()
    ]


def _files(n: int) -> str:
    return "another file" if n == 1 else f"{n:,} other files"


def no_statements(table: AnswerTable, faults: Sequence[Fault] = ()) -> FormatError:
    """The refusal of text without rows."""
    if faults:
        return FormatError(
            f"{table.label} has no statements: all {len(faults):,} rows are bad, such as row "
            f"{faults[0].row:,}: {faults[0].problem}"
        )
    return FormatError(f"{table.label} has no statements, only a header; add a row per statement")


def stored_objects(tables: Sequence[AnswerTable]) -> ObjectList | None:
    """The objects that all tables list alike."""
    lists = [table.stored for table in tables if table.stored is not None]
    alike = {(one.known_names, one.n_objects) for one in lists}
    return lists[0] if len(lists) == len(tables) and len(alike) == 1 else None


def find_objects(
    batches: Iterable[Batch], tables: Sequence[AnswerTable]
) -> tuple[ObjectList, list[str]]:
    """The objects of all batches, and how the caller's list was taken."""
    options = tables[0].options
    listed = options.objects
    if listed is not None and not listed.may_be_numbered:
        return listed, []
    # the objects that some of the tables list
    before = [name for table in tables if table.stored for name in table.stored.names]
    names = Names({*options.listed, *before})
    for batch in batches:
        names.add(batch)
    # names that a table carries, statements or not, come before those found in rows
    if listed is None:
        return names.objects(before), []
    return listed.matched(names.seen(), options.counts_from)


def _joined(columns: Sequence[AnyArray]) -> AnyArray:
    if len(columns) == 1:
        return columns[0]
    return text_array([text for column in columns for text in column.tolist()])


def _raters_in(batches: Sequence[Batch]) -> int | None:
    """How many raters answered; None where that is not known."""
    if not batches or any("rater" not in batch.others for batch in batches):
        return None
    seen = {
        rater
        for batch in batches
        for rater in distinct(batch.others["rater"])
        if not (batch.words and is_missing_word(rater))
    }
    return len(seen - {""})


# what only those can decide who know the study


def concerns_about(
    found: Pass, statements: Statements, unused: Sequence[int]
) -> tuple[Concern, ...]:
    """What to say of the answers of a table, in the order of its weight."""
    table = found.of
    return (
        *_about_raters(table, unused),
        *_about_marks(table, unused),
        *_about_counts(table, unused),
        *_about_times(found),
        *_about_names(statements),
        *_about_ids(table, statements, unused),
        *about_copies(statements),
    )


def _column(table: AnswerTable, i: int) -> str:
    return quotable(table.layout.names, i) if table.layout.header else str(i + 1)


def _add(columns: str) -> str:
    """The option that says what columns hold, as it is on the command line and in Python."""
    return f"add --columns {columns} (in Python: columns='{columns}')."


def _about_raters(table: AnswerTable, unused: Sequence[int]) -> Iterator[Concern]:
    if "rater" in table.layout.others or table.rater is not None:
        return
    if not unused and "round" in table.layout.others:  # rounds stand for raters
        return
    yield Concern(
        "raters",
        "No column names the person.",
        "Careless raters are not found, and intervals may be too narrow.",
        f"If one does, {_add('rater=COLUMN')}"
        if unused
        else "If several people answered, add a column rater to the file.",
    )


def _about_marks(table: AnswerTable, unused: Sequence[int]) -> Iterator[Concern]:
    """Columns that mark practice, catch trials or tasks, or which algorithm asked."""
    if table.reason is not None or table.options.passes_over:
        return
    for i in unused:
        name = one_line(table.layout.names[i], 40)
        seen = Counter(table.table.first_cells(i))
        if not 2 <= len(seen) <= _FEW:
            continue
        few = ", ".join(f"{one_line(word, 30)} ({n:,})" for word, n in seen.most_common(4))
        few += f" of the first {sum(seen.values()):,}."
        most = one_line(seen.most_common(1)[0][0], 30)
        if key(name) in MARKS:
            yield Concern(
                "marked",
                f"Column {name} divides the answers: {few}",
                "All are used, whether they belong together or not.",
                f"To use some of them, add --where '{name} = {most}' (in Python: "
                f'where="{name} = {most}").',
            )
        elif key(name) in SAMPLERS and "reason" not in table.layout.others:
            random = next((word for word in seen if "random" in word.casefold()), most)
            yield Concern(
                "sampler",
                f"Column {name} says which algorithm asked: {few}",
                "Shares of answers to questions that earlier answers chose are biased.",
                f"If some were chosen by earlier answers, add --columns reason={name} "
                f"--reason-random {random} (in Python: columns=, reason_random=).",
            )


def _about_counts(table: AnswerTable, unused: Sequence[int]) -> Iterator[Concern]:
    for i in unused:
        cells = table.table.first_cells(i)
        # pandas writes 3.0 beside a gap
        whole = bool(cells) and all(is_integer(cell.strip().removesuffix(".0")) for cell in cells)
        if key(table.layout.names[i]) in _TIMES and whole:
            name = _column(table, i)
            yield Concern(
                "count",
                f"Column {name} may be a number of equal answers.",
                "Each row counts as one answer.",
                f"If it is, {_add(f'count={name}')}",
            )
            return


def _about_times(found: Pass) -> Iterator[Concern]:
    negative = found.of.table.negative_times
    if negative:
        yield Concern(
            "times",
            f"{counted(negative, 'response time')} {'is' if negative == 1 else 'are'} below zero.",
            "Clocks were set while people answered.",
            "These times are taken as unknown; the answers are used.",
        )
    if found.slow is not None:
        name = _column(found.of, found.of.layout.others["seconds"])
        yield Concern(
            "times",
            f"The median of {name} is {found.slow:,.4g} seconds.",
            "Response times are shown a thousand times too long, if these are milliseconds.",
            f"If these are milliseconds, {_add(f'ms={name}')}",
        )


def _about_names(statements: Statements) -> Iterator[Concern]:
    """Names that differ in nothing but capitals and blanks, or as ``7`` and ``7.0`` do."""
    alike: dict[str, list[str]] = {}
    for name in statements._names or ():
        plain = without_zero(" ".join(name.casefold().split()))
        alike.setdefault(plain, []).append(name)
    twice = [names for names in alike.values() if len(names) > 1]
    if twice:
        few = "; ".join(" and ".join(map(quoted, names[:3])) for names in twice[:3])
        more = f"; and {len(twice) - 3:,} more" if len(twice) > 3 else ""
        yield Concern(
            "alike",
            f"Some names differ only in capitals, blanks or a final .0: {few}{more}.",
            "They are taken for different objects.",
            "If they are the same, write them alike.",
        )


def about_copies(statements: Statements) -> Iterator[Concern]:
    """Whether every row occurs equally often: the same file more than once.

    >>> S = Statements([[i, i + 1, i + 2] for i in range(30)] * 3, kind="central")
    >>> [concern.what for concern in about_copies(S)]
    ['How often each row occurs is a multiple of 3.']
    """
    times = copies(statements)
    if times > 1:
        yield Concern(
            "copies",
            f"How often each row occurs is a multiple of {times}.",
            "If the same answers are included more than once, everything looks more certain than "
            "it is: intervals are too narrow, and people seem to agree with themselves.",
            "Check whether a file was read twice, and include each answer once.",
        )


def _about_ids(
    table: AnswerTable, statements: Statements, unused: Sequence[int]
) -> Iterator[Concern]:
    """Ids of objects whose names stand in the same row."""
    layout = table.layout
    if not layout.header or not all(map(is_integer, statements.names[:1000])):
        return
    named = {key(layout.names[i]): i for i in unused}
    columns = {}
    for role, at in zip(layout.shape, layout.objects, strict=True):
        stem = key(layout.names[at]).removesuffix("id").removesuffix("index")
        beside = next((named[stem + end] for end in _NAME_TAILS if stem + end in named), None)
        if beside is None:
            return
        columns[role] = _column(table, beside)
    yield Concern(
        "ids",
        f"The objects are called by numbers, though {', '.join(columns.values())} may name them.",
        "Findings show the numbers.",
        f"To use the names, {_add(','.join(f'{role}={name}' for role, name in columns.items()))}",
    )
