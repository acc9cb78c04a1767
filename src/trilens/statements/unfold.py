"""Tables whose rows hold more, or less, than one answer, as tables with one answer in each row.

A row may have the answers of a participant to many questions, the votes for each of the objects,
or several objects chosen of many; and the objects of a question may stand in another table. Each
row is unfolded by itself, so that large files are read in pieces as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from trilens.errors import FormatError, StatementError, option
from trilens.statements.batch import Fault, row_error
from trilens.statements.cells import cells_of, images_in, list_of
from trilens.statements.columns import SKIP_BAD, one_line, quoted
from trilens.statements.layout import (
    ColumnSpec,
    ReadOptions,
    by_rank,
    column_roles,
    layout_error,
    refuse_more_picks,
)
from trilens.statements.names import is_integer, is_missing
from trilens.statements.patterns import by_pattern, patterns_of
from trilens.statements.positions import by_columns, by_words, plain
from trilens.statements.responses import implied_rows
from trilens.statements.roles import OPTIONAL, SHOWN, key, roles
from trilens.statements.rules import complete, unfoldings
from trilens.statements.table import AnswerTable, NamedTable, Request, Rows, Use

#: Rows that tell whether picks are names or positions.
_TELLING = 200
_BRACKETS = re.compile(r"[\[(]([^\])]*)[\])]\s*$")
_BETWEEN = re.compile(r"\s*(?:[,;/|]|\bvs\.?\s|\bor\b)\s*")
#: The share of answers that are among the objects which a header names.
_AMONG = 0.95
#: The code of a question that was seen and not answered.
_NOT_ANSWERED = "-99"
#: What Qualtrics and others call the questionnaire that a participant filled in.
_WHO = ("responseid", "respondentid", "antwortid", "id", "case", "code", "username", "email")
#: What the column of ids may be called.
_ID = frozenset(
    {
        *("id", "question", "questionid", "qid", "trial", "trialid", "item", "itemid", "triplet"),
        *("tripletid", "name", "number", "nr", "code", "variable", "column"),
    }
)
_LETTERS = (("a", "b", "c"), ("x", "y", "z"), ("1", "2", "3"))

#: What tells a question's answer.
_ANSWERS = ("chosen", "central", "odd", "near")

Answers = list[tuple[str | None, ...]]
#: What is known of a question: the columns that hold it, or what it is for everybody.
Trial = tuple[int | str | None, ...]
#: From the cells of a row, by position, and its number: the cells of its answers, and how many
#: questions have none.
Unfold = Callable[[Mapping[int, str | None], int], tuple[Answers, int]]


@dataclass(frozen=True)
class Unfolding:
    """New columns, made of each row, and those of the table that stay.

    ``made`` are the names of what ``unfold`` yields; ``needs`` are the columns that it looks at,
    and ``gone`` those that do not stay. ``roles`` are those that are used up; None: all objects.
    """

    made: tuple[str, ...]
    needs: tuple[int, ...]
    unfold: Unfold
    gone: frozenset[int] = frozenset()
    note: str = ""
    counted: str = "empty cells skipped: {n:,}"
    roles: frozenset[str] | None = None

    def of(self, table: NamedTable, skip_bad: bool = False) -> NamedTable:
        """The table with an answer in each row; bad rows are left out, or stop the reading."""
        made = len(self.made)
        kept = [
            i for i, name in enumerate(table.names) if i not in self.gone and name not in self.made
        ]
        names = (*self.made, *(table.names[i] for i in kept))

        def read(request: Request) -> Iterator[Rows]:
            carried = [kept[at - made] for at in request.columns if at >= made]
            wanted: dict[int, Use] = dict.fromkeys([*self.needs, *carried], "text")
            order = {at: k for k, at in enumerate(wanted)}
            inner = Request(wanted, False, request.block_bytes, request.groups)
            for rows in table.read(inner):
                cells = {at: cells_of(rows.table.column(order[at])) for at in self.needs}
                found, index, faults, empty = self._answers(cells, rows, table.label, skip_bad)
                columns: list[Any] = []
                for at in request.columns:
                    if at < made:
                        columns.append(pa.array([each[at] for each in found], pa.string()))
                    else:
                        whole = rows.table.column(order[kept[at - made]])
                        columns.append(whole.take(pa.array(index, pa.int64())))
                called = [names[at] for at in request.columns]
                number = _renumbered(rows.number, index)
                yield Rows(pa.table(columns, called), number, faults, empty)

        return replace(
            table,
            names=names,
            read=read,
            sample=None,
            notes={**table.notes, **({"unfolded": self.note} if self.note else {})},
            titles=(),
            read_from=frozenset({*self.made, *(table.names[i] for i in self.needs)}),
            counted=self.counted,
        )

    def left(self, options: ReadOptions) -> ReadOptions:
        """What is left to be said of the columns, when some roles are used up."""
        said = () if options.columns is None else options.columns.mapping or ()
        known = (*OPTIONAL, "ms")
        mapping = tuple(
            (role, column)
            for role, column in said
            if (role in known if self.roles is None else role not in self.roles)
        )
        return replace(options, columns=ColumnSpec(mapping=mapping) if mapping else None)

    def _answers(
        self, cells: Mapping[int, list[str | None]], rows: Rows, label: str | None, skip_bad: bool
    ) -> tuple[Answers, list[int], tuple[Fault, ...], int]:
        """The answers, the row of each, bad rows, and how many questions have no answer."""
        found: Answers = []
        index: list[int] = []
        faults = list(rows.faults)
        empty = 0
        for row in range(len(rows.table)):
            number = rows.number(row)
            try:
                answers, n = self.unfold({at: column[row] for at, column in cells.items()}, number)
            except StatementError as error:
                if not skip_bad:
                    raise row_error(label, number, error.message) from None
                shown = ",".join(column[row] or "" for column in cells.values())
                problem = error.message.partition(";")[0]  # without what to do
                faults.append(Fault(label or "", number, problem, shown))
                continue
            empty += n
            index += [row] * len(answers)
            found += answers
        return found, index, tuple(faults), empty


def _renumbered(number: Callable[[int], int], index: Sequence[int]) -> Callable[[int], int]:
    return lambda row: number(index[row])


def answer_table(table: NamedTable, options: ReadOptions) -> AnswerTable:
    """A table of which it is known what its columns hold, with an answer in each row."""
    return AnswerTable.of(*unfolded(table, options))


def unfolded(table: NamedTable, options: ReadOptions) -> tuple[NamedTable, ReadOptions]:
    """The table with an answer in each row, and what is left to be said of its columns.

    Most tables have that anyway, and come back as they are.
    """
    if not table.header and options.columns is None:
        if options.questions is not None:
            raise layout_error(
                table.label,
                f"there is no header, so that no column is known to hold ids of questions; say "
                f"which with {option('columns', 'question=1,chosen=2')}",
            )
        return table, options
    spec = options.columns
    if spec is not None and spec.repeated and table.header:
        own = _blocks(table, spec)
        return unfolded(own.of(table, options.skip_bad), own.left(options))
    named = table
    if spec is not None and spec.names is not None:
        if len(spec.names) != len(table.names):
            return table, options
        named = replace(table, names=spec.names)
    at = by_rank(column_roles(table.names, spec, table.label, table.header))
    found: Unfolding | None
    if options.questions is not None:
        found = asked(named, at, options.questions)
    else:
        found = titled(named, at)
        for how in unfoldings(at):
            if how == "some":
                found = found or _grid(named, options, at)
            elif how == "votes":
                found = found or _by_votes(named, at)
            else:
                found = found or _repeated(named, at)
    if found is None:
        return table, options
    return found.of(named, options.skip_bad), found.left(options)


def _numbered(at: Mapping[str, int], role: str) -> list[int]:
    """The columns of a role that is numbered, in their order; or its one column.

    >>> _numbered({"chosen_2": 7, "chosen_1": 4}, "chosen"), _numbered({"shown": 3}, "shown")
    ([4, 7], [3])
    """
    numbers = [name for name in at if name.startswith(f"{role}_") and name[-1].isdigit()]
    found = [at[name] for name in sorted(numbers, key=lambda name: int(name.rsplit("_", 1)[1]))]
    return found or ([at[role]] if role in at else [])


# votes for each of the objects


def _number_of(cell: str | None) -> int:
    text = plain(cell or "0")
    if not text.isdigit():
        raise StatementError(f"{quoted(cell or '')} is no number of answers; give a whole number")
    return int(text)


def _by_votes(table: NamedTable, at: Mapping[str, int]) -> Unfolding | None:
    anchor = at.get("anchor")
    pair = ("shown_1", "shown_2") if "shown_1" in at else ("near", "far")
    beside = [at[role] for role in (SHOWN if anchor is None else pair)]
    votes = _numbered(at, "votes")
    listed = len(votes) == 1
    if listed and not any(len(list_of(cell)) > 1 for cell in table.first_cells(votes[0])):
        return _repeated(table, at)
    made = ("chosen", *(["anchor"] if anchor is not None else []), *SHOWN[: len(beside)])
    needs = [*beside, *votes, *([] if anchor is None else [anchor])]

    def unfold(cells: Mapping[int, str | None], number: int) -> tuple[Answers, int]:
        given: Sequence[str | None]
        given = list_of(cells[votes[0]]) if listed else [cells[i] for i in votes]
        if len(given) != len(beside):
            raise StatementError(f"{len(given)} numbers of votes for {len(beside)} objects")
        objects = tuple(cells[i] for i in beside)
        first = () if anchor is None else (cells[anchor],)
        seen = [_number_of(each) for each in given]
        rows: Answers = [
            (chosen, *first, *objects)
            for chosen, times in zip(objects, seen, strict=True)
            for _ in range(times)
        ]
        return rows, int(not rows)

    told = one_line(", ".join(table.names[i] for i in votes), 60)
    return Unfolding(
        made,
        tuple(needs),
        unfold,
        gone=frozenset({*needs, *(at[role] for role in ("near", "far") if role in at)}),
        note=f"as many answers as {told} say",
        counted="questions without votes skipped: {n:,}",
    )


def _repeated(table: NamedTable, at: Mapping[str, int]) -> Unfolding | None:
    """A row for several equal answers; a column of something else is left alone."""
    times = at.get("count", at.get("votes", -1))
    cells = table.first_cells(times)
    whole = [is_integer(plain(cell)) for cell in cells]
    if not (any(whole) if "count" in at else all(whole) and cells):
        return None

    def unfold(cells: Mapping[int, str | None], number: int) -> tuple[Answers, int]:
        return [()] * _number_of(cells[times]), 0

    note = f"each row stands for as many answers as {one_line(table.names[times], 40)} says"
    return Unfolding(
        (),
        (times,),
        unfold,
        gone=frozenset({times}),
        note=note,
        roles=frozenset({"count", "votes"}),
    )


# several objects, or one, chosen of more than three


def _grid(table: NamedTable, options: ReadOptions, at: Mapping[str, int]) -> Unfolding | None:
    anchor = at.get("anchor")
    shown = _numbered(at, "shown")
    shown = shown if len(shown) != 2 else []  # two beside what was not chosen
    roles = [role for role in ("chosen", "picks", "near", "central", "odd") if _numbered(at, role)]
    chosen = _numbered(at, roles[0])
    rest = _numbered(at, "not_chosen")
    lists = [i for i in (*shown, *chosen, *rest) if table.holds_lists(i)]
    if (len(shown) == 1 and shown[0] not in lists) or len(shown) in (2, 3):
        return None
    if not shown and len(chosen) + len(rest) < 3 and not lists:
        return None  # one near and one far
    refuse_more_picks(table.names, at, chosen, table.label)
    kind = roles[0] if roles[0] in ("central", "odd") else options.kind
    asked = "nearest" if anchor is not None else (kind or "central")
    if asked == "closer":
        raise layout_error(
            table.label,
            f"which column holds what the others are compared with? Say it with "
            f"{option('columns', 'anchor=?')}",
        )
    if anchor is None and (len(chosen) > 1 or any(i in lists for i in chosen)):
        raise layout_error(
            table.label,
            f"several objects are chosen, and no column holds what they are compared with; name "
            f"it with {option('columns', 'anchor=?')}",
        )
    first = "anchor" if anchor is not None else (kind or "chosen")
    made = ("question", first, *(("near", "far") if anchor is not None else ("other_1", "other_2")))
    needs = [*shown, *chosen, *rest, *([anchor] if anchor is not None else [])]
    base = _base(table, options, shown, chosen)

    def unfold(cells: Mapping[int, str | None], number: int) -> tuple[Answers, int]:
        picked = _objects(cells, chosen)
        objects = _objects(cells, shown) or [*picked, *_objects(cells, rest)]
        if base is not None:
            picked = [_placed(each, objects, base) for each in picked]
        query = [] if anchor is None else [cells[anchor] or ""]
        objects = [each for each in objects if each not in query]
        if not picked or (query and len(picked) >= len(objects)):
            return [], 1
        rows = implied_rows([*query, *objects], picked, asked)
        origin = str(number) if table.label is None else f"{table.label}, row {number}"
        return [(origin, *row) for row in rows], 0

    several = f"{one_line(', '.join(table.names[i] for i in chosen[:3]), 60)} chosen of many"
    return Unfolding(
        made,
        tuple(dict.fromkeys(needs)),
        unfold,
        gone=frozenset(needs),
        note=f"{several}, each question turned into the statements that it implies",
        counted="questions without a choice skipped: {n:,}",
    )


def _objects(cells: Mapping[int, str | None], columns: Sequence[int]) -> list[str]:
    if len(columns) == 1:
        return list_of(cells[columns[0]])
    return [cell for i in columns if (cell := cells[i]) is not None]


def _base(
    table: NamedTable, options: ReadOptions, shown: Sequence[int], chosen: Sequence[int]
) -> int | None:
    """Where positions begin, if what was chosen is said by them; None: by names."""
    seen: set[int] = set()
    most = 0
    for row in table.first[:_TELLING]:
        cells: dict[int, str | None] = {i: row[i].strip() or None for i in (*shown, *chosen)}
        objects, picked = _objects(cells, shown), _objects(cells, chosen)
        if not objects or not picked:
            continue
        if any(each in objects or not each.isdigit() for each in picked):
            return None
        seen |= set(map(int, picked))
        most = max(most, len(objects))
    if not seen:
        return None
    base = options.counts_from
    if base is None:
        base = 0 if 0 in seen else 1 if most in seen else None
    if base is None:
        raise FormatError(
            f"{table.label}: the answers are positions; do they count from 0 or from 1? Say it "
            f"with {option('counts_from')}"
        )
    return base


def _placed(cell: str, objects: Sequence[str], base: int) -> str:
    place = int(cell) - base if cell.isdigit() else -1
    if not 0 <= place < len(objects):
        raise StatementError(f"{quoted(cell)} is no position among {len(objects)} objects")
    return objects[place]


# the objects of a question stand elsewhere


@dataclass(frozen=True)
class Questions:
    """What each question shows, by its id: three objects, or two beside an anchor."""

    label: str
    id_name: str
    of: Mapping[str, tuple[str, ...]] = field(repr=False)
    anchors: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of_rows(
        cls, names: Sequence[str], rows: Sequence[Sequence[str]], label: str = "questions"
    ) -> Questions:
        """From a table with the columns ``id``, ``a``, ``b``, ``c`` (or ``anchor``, ``a``, ``b``).

        >>> Questions.of_rows(["id", "a", "b", "c"], [["Q1", "van", "bus", "car"]]).of
        {'Q1': ('van', 'bus', 'car')}
        """
        at_id, anchor, shown = _columns(names, label)
        of: dict[str, tuple[str, ...]] = {}
        anchors: dict[str, str] = {}
        for number, row in enumerate(rows, 2):
            where = f"{label}, row {number:,}"
            cells = [row[i].strip() for i in (at_id, *shown, *([] if anchor is None else [anchor]))]
            if any(map(is_missing, cells)):
                raise FormatError(f"{where}: an empty cell; every question has its objects")
            name, *objects = cells
            if name in of:
                raise FormatError(f"{where}: the id {quoted(name)} comes twice; list it once")
            if len(set(objects)) < len(objects):
                raise FormatError(f"{where}: an object comes twice in question {quoted(name)}")
            of[name] = tuple(objects[: len(shown)])
            if anchor is not None:
                anchors[name] = objects[-1]
        if not of:
            raise FormatError(f"{label} has no questions, only a header")
        return cls(label, names[at_id], of, anchors)

    @property
    def width(self) -> int:
        """Objects to choose from in each question."""
        return len(next(iter(self.of.values())))

    def shown(self, name: str) -> tuple[str, ...]:
        """The objects of a question, its anchor first."""
        return (self.anchors[name], *self.of[name]) if self.anchors else self.of[name]

    @property
    def roles(self) -> tuple[str, ...]:
        """What these are."""
        return (*(["anchor"] if self.anchors else []), *SHOWN[: self.width])

    def find(self, names: Sequence[str], titles: Sequence[str] = ()) -> dict[int, str]:
        """The columns that are called as questions are, by their positions.

        >>> Questions("q.csv", "id", {"Q1": ("a", "b", "c")}).find(["age", "q1"])
        {1: 'Q1'}
        """
        exact = {name: name for name in self.of}
        alike = {key(name): name for name in self.of}
        alike = alike if len(alike) == len(self.of) else {}
        found: dict[int, str] = {}
        for listed in (names, titles):
            for i, name in enumerate(listed):
                told = exact.get(name.strip()) or alike.get(key(name))
                if told is not None and i not in found and told not in found.values():
                    found[i] = told
        return found


def _columns(names: Sequence[str], label: str) -> tuple[int, int | None, list[int]]:
    """Where the id, the anchor and the objects to choose from are."""
    keys = [key(name) for name in names]
    found = {role.name: i for i, role in reversed(roles(names).items())}
    anchor = found.get("anchor")
    wanted = 2 if anchor is not None else 3
    sets = [[found[role] for role in SHOWN[:wanted] if role in found]]
    sets += [[keys.index(c) for c in line[:wanted] if c in keys] for line in _LETTERS]
    shown = next((each for each in sets if len(each) == wanted), None)
    ids = [i for i, name in enumerate(keys) if name in _ID and i not in (shown or ())]
    if shown is None or not ids:
        raise FormatError(
            f"{label}: a table of questions has the columns id, a, b, c (or id, anchor, a, b); "
            f"it has {one_line(', '.join(names), 120)}"
        )
    return ids[0], anchor, shown


def asked(table: NamedTable, at: Mapping[str, int], questions: Questions) -> Unfolding:
    """A table whose questions stand in another one."""
    columns = questions.find(table.names, table.titles)
    by_id = None if len(columns) > 1 else _id_column(table, at, questions)
    if by_id is not None:
        return _joined(table, by_id, questions)
    if not columns:
        raise layout_error(
            table.label,
            f"no column is called like a question of {questions.label} ("
            f"{one_line(', '.join(list(questions.of)[:3]), 60)}, ...), and none holds their ids; "
            f"the columns seen are {one_line(', '.join(table.names), 120)}",
        )
    return _wide(table, at, columns, questions)


def _id_column(table: NamedTable, at: Mapping[str, int], questions: Questions) -> int | None:
    """The column whose cells are ids of questions."""
    fitting = []
    other = {at[role] for role in (*OPTIONAL, "chosen") if role in at and role != "question"}
    for i in range(len(table.names)):
        if i in other:  # a rater or an answer, though it may be called as questions are
            continue
        cells = table.first_cells(i)
        known = [cell for cell in cells if _asked_as(cell, questions) in questions.of]
        if len(known) > 0.5 * len(cells):
            fitting.append(i)
    called = [i for i in fitting if key(table.names[i]) == key(questions.id_name)]
    if "question" in at and at["question"] in fitting:
        called = called or [at["question"]]
    if not called and len(fitting) > 1:
        listed = " and ".join(table.names[i] for i in fitting[:2])
        raise layout_error(
            table.label,
            f"the columns {one_line(listed, 80)} both hold ids of {questions.label}; say which "
            f"with {option('columns', f'question={table.names[fitting[0]]}')}",
        )
    return next(iter(called or fitting), None)


def _asked_as(cell: str, questions: Questions) -> str:
    """The id of a question as its table has it: 01 is 1 where there is no 01."""
    bare = cell.lstrip("0") if cell.isdigit() else cell
    return bare if cell not in questions.of and bare in questions.of else cell


def _joined(table: NamedTable, by_id: int, questions: Questions) -> Unfolding:
    """A row per answer, with the id of its question."""

    def unfold(cells: Mapping[int, str | None], number: int) -> tuple[Answers, int]:
        name = _asked_as(cells[by_id] or "", questions)
        if name not in questions.of:
            raise StatementError(
                f"there is no question {quoted(name)} in {questions.label}; add it there, "
                f"or {SKIP_BAD}"
            )
        own = (name,) if "question_id" in made else ()
        return [(*questions.shown(name), *own)], 0

    made = questions.roles
    note = f"objects of each {table.names[by_id]} from {questions.label}"
    gone = frozenset({by_id}) if key(table.names[by_id]) == "question" else frozenset()
    if gone:  # a column of that name would mean questions about more than three objects
        made = (*made, "question_id")
    return Unfolding(made, (by_id,), unfold, gone, note, roles=frozenset({*made, "question"}))


def _wide(
    table: NamedTable, at: Mapping[str, int], columns: Mapping[int, str], questions: Questions
) -> Unfolding:
    """A row for each participant, and a column for each question."""
    times = _times_of(table.names, columns)
    text_row = _row_of_texts(table, columns, questions.of)
    _refuse_codes(table, columns, questions, 1 if text_row is not None else 0)
    made = ("question_id", *questions.roles, "chosen", *(["seconds"] if times else []))
    trials: list[Trial] = [
        (name, *questions.shown(name), i, *([times.get(i)] if times else []))
        for i, name in columns.items()
    ]
    listed = one_line(", ".join(table.names[i] for i in list(columns)[:3]), 60)
    more = len(columns) - 3
    note = f"{len(columns):,} columns of answers ({listed}{', ...' if more > 0 else ''})"
    return _of_participants(table, at, made, trials, note, text_row)


def _blocks(table: NamedTable, spec: ColumnSpec) -> Unfolding:
    """A row for each participant, and in it several columns for each question of his own."""
    told = spec.positions(table.names, len(table.names), table.label)
    if not complete(told) and not unfoldings(told):
        raise layout_error(
            table.label,
            f"{', '.join(told)} do not make a question; with {{}}, name all columns of one, such "
            f"as chosen, shown_1, shown_2 and shown_3, or anchor, near and far",
        )
    groups = by_pattern(table.names)
    columns = {role: groups.get(column, {}) for role, column in spec.repeated.items()}
    numbers = next(iter(columns.values()))
    for role, found in columns.items():
        for number in sorted(found.keys() ^ numbers.keys())[:1]:
            raise layout_error(
                table.label,
                f"{role}={spec.repeated[role]} stands for {len(found)} columns and "
                f"{next(iter(spec.repeated.values()))} for {len(numbers)}: not both have the "
                f"number {number}",
            )
    fixed = tuple(pair for pair in spec.mapping or () if "{}" not in pair[1])
    for role, column in fixed:
        for pattern, _ in patterns_of(column):
            if numbers.keys() <= groups.get(pattern, {}).keys():
                raise layout_error(
                    table.label,
                    f"{role}={column} is the column of one question, and the others have their "
                    f"own: write {role}={pattern}",
                )
    others = ColumnSpec(mapping=fixed)
    at = by_rank(column_roles(table.names, others, table.label, True))
    trials: list[Trial] = [tuple(found[n] for found in columns.values()) for n in numbers]
    note = f"{len(numbers):,} questions in each row"
    return _of_participants(table, at, tuple(columns), trials, note)


def _of_participants(
    table: NamedTable,
    at: Mapping[str, int],
    made: tuple[str, ...],
    trials: Sequence[Trial],
    note: str,
    text_row: int | None = None,
) -> Unfolding:
    """Rows of participants, each with the answers to these questions; one may be a header."""
    who, own = _who(table, at)
    answer = next(made.index(role) for role in (*_ANSWERS, made[0]) if role in made)
    used = {cell for trial in trials for cell in trial if isinstance(cell, int)}

    def unfold(cells: Mapping[int, str | None], number: int) -> tuple[Answers, int]:
        if number == text_row:
            return [], 0
        rater = () if not own else (str(number) if who is None else cells[who],)
        found: Answers = []
        for trial in trials:
            row = [cells[each] if isinstance(each, int) else each for each in trial]
            given = row.pop(answer)
            if given is not None and not _not_answered(given, row):
                found.append((*rater, *row[:answer], given, *row[answer:]))
        return found, len(trials) - len(found)

    if own:
        note += "; each row is a rater" if who is None else f"; raters from {table.names[who]}"
    return Unfolding(
        (*(["rater"] if own else []), *made),
        (*used, *([who] if own and who is not None else [])),
        unfold,
        gone=frozenset(used),
        note=note,
        counted="cells without an answer (empty or -99) skipped: {n:,}",
        roles=frozenset({*made, "rater"} if own else made),
    )


def _not_answered(cell: str, objects: Sequence[str | None]) -> bool:
    """Whether a question was seen and not answered, as Qualtrics and SPSS say it."""
    return plain(cell) == _NOT_ANSWERED and cell not in objects


def _refuse_codes(
    table: NamedTable, columns: Mapping[int, str], questions: Questions, begin: int
) -> None:
    """Refuse answers that are neither names nor places, such as a survey's recoded values."""
    of = questions.of
    rows = list(table.first)[begin:]
    cells: dict[int, list[str]] = {}
    for i, name in columns.items():
        given = [row[i].strip() for row in rows if len(row) > i and not is_missing(row[i])]
        cells[i] = [cell for cell in given if not _not_answered(cell, of[name])]
    strange = {i: [c for c in cells[i] if c not in of[name]] for i, name in columns.items()}
    if sum(map(len, strange.values())) <= 0.5 * sum(map(len, cells.values())):
        return
    shown = SHOWN[: questions.width]
    places = {str(place) for place in range(len(shown) + 1)}
    seen = {plain(cell) for each in strange.values() for cell in each}
    if seen <= places or by_columns(seen, shown) or by_words(seen, shown):
        return
    at = next(i for i, each in strange.items() if any(plain(c) not in places for c in each))
    few = sorted(set(strange[at]))
    listed = ", ".join(map(quoted, few[:5])) + (", ..." if len(few) > 5 else "")
    raise layout_error(
        table.label,
        f"the answers in column {one_line(table.names[at], 40)} are {listed}; they must be names "
        f"of the objects shown ({one_line(', '.join(of[columns[at]]), 60)}), 1 to {len(shown)}, or "
        f"{'left, middle, right' if len(shown) == 3 else 'left, right'}: recode them (-99 and "
        f"empty cells are questions without an answer)",
    )


def _who(table: NamedTable, at: Mapping[str, int]) -> tuple[int | None, bool]:
    """The column of the participants, and whether it must be called so."""
    if "rater" in at:
        return at["rater"], False
    keys = [key(name) for name in table.names]
    for word in _WHO:
        if word in keys:
            cells = table.first_cells(keys.index(word))
            if cells and len(set(cells)) == len(cells):
                return keys.index(word), True
    return None, True


def _times_of(names: Sequence[str], columns: Mapping[int, str]) -> dict[int, int]:
    """The column of response times of each question, such as ``Q1_RT``."""
    found: dict[int, int] = {}
    for i, name in columns.items():
        stems = (key(names[i]), key(name))
        for j, other in enumerate(names):
            rest = next(
                (key(other)[len(stem) :] for stem in stems if stem and key(other).startswith(stem)),
                "",
            )
            known = roles([rest]).get(0)
            if j not in columns and (
                rest.endswith("pagesubmit") or (known is not None and known.name == "seconds")
            ):
                found.setdefault(i, j)
    return found if len(found) > len(columns) / 2 else {}


def _row_of_texts(
    table: NamedTable, columns: Mapping[int, str], of: Mapping[str, tuple[str, ...]]
) -> int | None:
    """The number of the first row, where it is a second header: no cell of it is an answer."""
    rows = list(table.first)
    if len(rows) < 2 or table.typed:
        return None
    below = {cell for row in rows[1:] for i in columns for cell in [row[i].strip()]}
    first = [(rows[0][i].strip(), name) for i, name in columns.items()]
    known = [(cell, name) for cell, name in first if not is_missing(cell)]
    strange = [cell for cell, name in known if cell not in below and cell not in of[name]]
    if not known or len(strange) < len(known) or len(plain(strange[0])) < 4:
        return None
    return next(
        iter(table.read(Request({next(iter(columns)): "text"}, block_bytes=1 << 16)))
    ).number(0)


def titled(table: NamedTable, at: Mapping[str, int]) -> Unfolding | None:
    """Columns whose own names, or the questions below them, list the three objects."""
    if complete(at):
        return None
    of: dict[str, tuple[str, ...]] = {}
    columns: dict[int, str] = {}
    for i, name in enumerate(table.names):
        texts = (table.titles[i], name) if table.titles else (name,)
        objects = next((found for text in texts if (found := objects_in(text))), None)
        if objects is None:
            continue
        cells = table.first_cells(i)
        if cells and sum(cell in objects for cell in cells) >= _AMONG * len(cells):
            columns[i], of[name] = name, objects
    return _wide(table, at, columns, Questions("", "", of)) if len(columns) > 1 else None


def objects_in(text: str) -> tuple[str, ...] | None:
    """The three objects that a question lists; None where it lists none.

    >>> objects_in("Which is the odd one out? [van, bus, car]")
    ('van', 'bus', 'car')
    >>> objects_in("3. van / bus / car"), objects_in("How old are you?")
    (('van', 'bus', 'car'), None)
    """
    images = tuple(images_in(text))
    if len(images) == 3 == len(set(images)):
        return images
    brackets = _BRACKETS.search(text)
    listed = brackets[1] if brackets else re.split(r"[?:]\s", f"{text} ")[-1]
    listed = re.sub(r"^\s*\w{0,4}\d+[.)]\s+", "", listed)
    parts = tuple(part.strip(" .?!") for part in _BETWEEN.split(listed) if part.strip(" .?!"))
    return parts if len(parts) == 3 == len(set(parts)) else None
