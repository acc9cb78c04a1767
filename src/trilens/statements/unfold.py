"""Tables whose rows hold more, or less, than one answer, as tables with one answer in each row.

A row may have the answers of a participant to many questions, the votes for each of the objects,
or several objects chosen of many; and the objects of a question may stand in another table. Each
row is unfolded by itself, so that large files are read in pieces as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from trilens.errors import FormatError, StatementError, option
from trilens.statements.batch import Fault, row_error
from trilens.statements.columns import one_line, quoted
from trilens.statements.layout import ColumnSpec, ReadOptions, layout_error
from trilens.statements.names import is_integer, is_missing
from trilens.statements.positions import by_columns, by_words, plain
from trilens.statements.questions import Questions
from trilens.statements.responses import implied_rows
from trilens.statements.roles import (
    OPTIONAL,
    SHOWN,
    SHOWN_STEMS,
    UNFOLDED,
    complete_shapes,
    key,
    roles,
)
from trilens.statements.table import AnswerTable, FirstRows, NamedTable, Request, Rows, Use

Cells = Sequence[str | None]
#: From the cells of a row, by position, and its number: the cells of its answers.
Unfold = Callable[[Mapping[int, str | None], int], list[tuple[str | None, ...]]]

_VOTES = frozenset({"votes", "votecounts", "votecount", "nvotes", "agreement", "answercounts"})
_TIMES = frozenset(
    {
        *("votes", "nvotes", "votecount", "nanswers", "nresponses", "answercount"),
        *("count", "counts"),
    }
)
#: Perhaps a number of equal answers, perhaps something else.
_MAYBE_TIMES = frozenset({"n", "freq", "frequency", "weight", "times"})
_VOTES_FOR = re.compile(
    r"n?(?:votes?|counts?)(?:for|of)?(?:(1|a|left)|(2|b|middle|center)|(3|c|right))"
)
_MARKED = re.compile(r"(\D+)(\d{1,2})")
_SHOWN_KEYS = frozenset(key(stem) for stem in SHOWN_STEMS)
_LISTS = _SHOWN_KEYS | {"grid", "candidates", "pictures", "pool", "display"}
_CHOSEN = frozenset(
    {
        *("chosen", "selected", "picked", "pick", "selection", "answer", "response", "choice"),
        *("chosenobject", "chosenimage", "nearest", "near", "picks", "choices", "selections"),
    }
)
_NOT_CHOSEN = frozenset(
    {"notchosen", "unchosen", "rejected", "notselected", "unselected", "notpicked", "unpicked"}
)
_NUMBER = re.compile(r"\d+")
_BRACKETS = re.compile(r"[\[(]([^\])]*)[\])]\s*$")
_BETWEEN = re.compile(r"\s*(?:[,;/|]|\bvs\.?\s|\bor\b)\s*")
_IMAGE = re.compile(r"<img[^>]*\bsrc\s*=\s*[\"']?([^\"'>\s]+)", re.IGNORECASE)
#: The share of answers that are among the objects which a header names.
_AMONG = 0.95
#: The code of a question that was seen and not answered.
_NOT_ANSWERED = "-99"
#: What Qualtrics and others call the questionnaire that a participant filled in.
_WHO = ("responseid", "respondentid", "antwortid", "id", "vp", "vpn", "code", "username", "email")


@dataclass
class Unfolding:
    """New columns, made of each row, and those of the table that stay.

    ``made`` are the names of what ``unfold`` yields; ``needs`` are the columns that it looks at.
    """

    made: tuple[str, ...]
    needs: tuple[int, ...]
    unfold: Unfold
    gone: frozenset[int] = frozenset()
    note: str = ""
    skipped: int = 0
    counted: str = "{n:,} empty cells skipped"
    roles: frozenset[str] = field(default=frozenset())

    def of(self, table: NamedTable, skip_bad: bool = False) -> NamedTable:
        """The table with an answer in each row; bad rows are left out, or stop the reading."""
        made = set(self.made)
        kept = [i for i, name in enumerate(table.names) if i not in self.gone and name not in made]
        names = (*self.made, *(table.names[i] for i in kept))
        notes = dict(table.notes)
        if self.note:
            notes["unfolded"] = self.note

        def read(request: Request) -> Iterator[Rows]:
            carried = [kept[at - len(self.made)] for at in request.columns if at >= len(self.made)]
            wanted: dict[int, Use] = dict.fromkeys([*self.needs, *carried], "text")
            order = {at: k for k, at in enumerate(wanted)}
            inner = Request(wanted, False, request.block_bytes, request.groups)
            self.skipped = 0
            for rows in table.read(inner):
                yield self._unfolded(rows, order, request, kept, table, skip_bad)
            if self.skipped:
                notes["empty"] = self.counted.format(n=self.skipped)

        used = frozenset({*self.made, *(table.names[i] for i in self.needs)})
        return replace(
            table, names=names, read=read, sample=None, notes=notes, titles=(), read_from=used
        )

    def _unfolded(
        self,
        rows: Rows,
        order: Mapping[int, int],
        request: Request,
        kept: Sequence[int],
        table: NamedTable,
        skip_bad: bool,
    ) -> Rows:
        looked_at = {at: cells_of(rows.table.column(order[at])) for at in self.needs}
        index: list[int] = []
        found: list[tuple[str | None, ...]] = []
        for row in range(len(rows.table)):
            number = rows.number(row)
            try:
                answers = self.unfold({at: cells[row] for at, cells in looked_at.items()}, number)
            except StatementError as error:
                if not skip_bad:
                    raise row_error(table.label, number, error.message) from None
                shown = ",".join(cells[row] or "" for cells in looked_at.values())
                table.faults[number] = Fault(table.label or "", number, error.message, shown)
                continue
            index += [row] * len(answers)
            found += answers
        columns: list[Any] = []
        names = [*self.made, *(table.names[i] for i in kept)]
        takes = pa.array(index, pa.int64())
        for at in request.columns:
            if at < len(self.made):
                columns.append(pa.array([each[at] for each in found], pa.string()))
            else:
                columns.append(rows.table.column(order[kept[at - len(self.made)]]).take(takes))
        return Rows(
            pa.table(columns, [names[at] for at in request.columns]),
            lambda row: rows.number(index[row]),
        )


def cells_of(column: Any) -> list[str | None]:
    """A column of any type as text would have it; None where a cell is missing."""
    return [_cell(value) for value in column.to_pylist()]


def rows_of(table: NamedTable) -> list[list[str]]:
    """All rows of a small table as text; an empty cell where one is missing."""
    every: dict[int, Use] = dict.fromkeys(range(len(table.names)), "text")
    found: list[list[str]] = []
    for rows in table.read(Request(every, integers=False)):
        columns = [[cell or "" for cell in cells_of(each)] for each in rows.table.columns]
        found += [list(cells) for cells in zip(*columns, strict=True)]
    return found


def _cell(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, list | tuple | dict):
        return json.dumps(value)
    text = str(value)
    return None if is_missing(text) else text.strip()


def list_of(cell: str | None) -> list[str]:
    """The parts of a cell that holds a list: JSON, or text with separators.

    >>> list_of("['a', 'b']"), list_of("a; b"), list_of("[3, 1]"), list_of("x")
    (['a', 'b'], ['a', 'b'], ['3', '1'], ['x'])
    """
    if cell is None:
        return []
    text = cell.strip()
    if text[:1] in "[(" and text[-1:] in "])":
        try:
            found = json.loads(text.replace("'", '"') if '"' not in text else text)
            if isinstance(found, list):
                return [each for each in map(_cell, found) if each is not None]
        except ValueError:
            pass
        text = text[1:-1]
    for separator in (";", "|", ","):
        if separator in text:
            return [part.strip(" '\"") for part in text.split(separator) if part.strip(" '\"")]
    return [text.strip("'\"")] if text else []


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
    named = table
    if spec is not None and spec.names is not None:
        if len(spec.names) != len(table.names):
            return table, options
        named = replace(table, names=spec.names)
    at = _known(named, options)
    found: Unfolding | None
    if options.questions is not None:
        found = _asked(named, options, at, options.questions)
    else:
        found = _voted(named, at) or _several(named, options, at) or _titled(named, at)
    if found is None:
        return _hinted(named, at, table), options
    left = options
    if spec is not None and spec.names is not None:
        left = replace(options, columns=None)
    elif spec is not None and spec.mapping is not None:
        used = {*found.roles, *UNFOLDED}
        mapping = tuple(pair for pair in spec.mapping if pair[0] not in used)
        left = replace(options, columns=ColumnSpec(mapping=mapping) if mapping else None)
    return found.of(named, options.skip_bad), left


def _hinted(named: NamedTable, at: Mapping[str, int], table: NamedTable) -> NamedTable:
    """The table with a note of a column that may hold the number of equal answers."""
    names = [
        name
        for i, name in enumerate(named.names)
        if key(name) in _MAYBE_TIMES and i not in at.values() and _whole(named, [i])
    ]
    if not names:
        return table
    name = one_line(names[0], 40)
    note = f"{name} may be a number of answers: if so, give columns count={name}"
    return replace(table, notes={**table.notes, "times": note})


def _known(table: NamedTable, options: ReadOptions) -> dict[str, int]:
    """Where each role is, by the caller's word and else by the names."""
    found = roles(table.names)
    at: dict[str, int] = {}
    for i, role in sorted(found.items(), key=lambda item: item[1].rank):
        at.setdefault(role.name, i)
    spec = options.columns
    if spec is not None and spec.mapping is not None:
        header = table.names if table.header else None
        mapped = spec.positions(header, len(table.names), table.label)
        at = {role: i for role, i in at.items() if i not in mapped.values()} | mapped
    return at


# the objects of a question stand in another table


def _asked(
    table: NamedTable, options: ReadOptions, at: Mapping[str, int], questions: Questions
) -> Unfolding:
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
    return _wide(table, at, columns, questions.of, questions.anchors)


def _id_column(table: NamedTable, at: Mapping[str, int], questions: Questions) -> int | None:
    """The column whose cells are ids of questions."""
    rows = FirstRows(table) if table.sample is None else table.sample
    fitting = []
    other = {at[role] for role in (*OPTIONAL, "chosen") if role in at and role != "question"}
    for i in range(len(table.names)):
        if i in other:  # a rater or an answer, though it may be called as questions are
            continue
        cells = [row[i].strip() for row in rows if len(row) > i and not is_missing(row[i])]
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

    def unfold(cells: Mapping[int, str | None], number: int) -> list[tuple[str | None, ...]]:
        name = _asked_as(cells[by_id] or "", questions)
        if name not in questions.of:
            raise StatementError(
                f"there is no question {quoted(name)} in {questions.label}; add it there, "
                f"or skip bad rows with {option('skip_bad', True)}"
            )
        own = (name,) if "question_id" in made else ()
        return [(*_anchor(questions.anchors, name), *questions.of[name], *own)]

    made = (*(["anchor"] if questions.anchors else []), *SHOWN[: questions.width])
    note = f"objects of each {table.names[by_id]} from {questions.label}"
    gone = frozenset({by_id}) if key(table.names[by_id]) == "question" else frozenset()
    if gone:  # a column of that name would mean questions about more than three objects
        made = (*made, "question_id")
    return Unfolding(made, (by_id,), unfold, gone, note, roles=frozenset({*made, "question"}))


def _anchor(anchors: Mapping[str, str], name: str) -> tuple[str, ...]:
    return (anchors[name],) if anchors else ()


# a row per participant, a column per question


def _wide(
    table: NamedTable,
    at: Mapping[str, int],
    columns: Mapping[int, str],
    of: Mapping[str, tuple[str, ...]],
    anchors: Mapping[str, str],
) -> Unfolding:
    times = _times_of(table.names, columns)
    who, own = _who(table, at)
    text_row = _row_of_texts(table, columns, of)
    width = len(next(iter(of.values())))
    _refuse_codes(table, columns, of, 1 if text_row is not None else 0)
    made = (
        *(["rater"] if own else []),
        "question_id",
        *(["anchor"] if anchors else []),
        *SHOWN[:width],
        "chosen",
        *(["seconds"] if times else []),
    )
    needs = (*columns, *times.values(), *([who] if own and who is not None else []))

    def unfold(cells: Mapping[int, str | None], number: int) -> list[tuple[str | None, ...]]:
        if number == text_row:
            return []
        rater = () if not own else (str(number) if who is None else cells[who],)
        found: list[tuple[str | None, ...]] = []
        for i, name in columns.items():
            if cells[i] is None or _not_answered(cells[i] or "", of[name]):
                result.skipped += 1
                if cells[i] is not None:
                    result.counted = "cells without an answer (empty or -99) skipped: {n:,}"
                continue
            took = (cells[times[i]] if i in times else None,) if times else ()
            found.append((*rater, name, *_anchor(anchors, name), *of[name], cells[i], *took))
        return found

    said = "each row is a rater" if own and who is None else ""
    if own and who is not None:
        said = f"raters from {table.names[who]}"
    listed = one_line(", ".join(table.names[i] for i in list(columns)[:3]), 60)
    more = len(columns) - 3
    note = f"{len(columns):,} columns of answers ({listed}{', ...' if more > 0 else ''})"
    result = Unfolding(
        made,
        tuple(dict.fromkeys(needs)),
        unfold,
        gone=frozenset({*columns, *times.values()}),
        note=f"{note}; {said}" if said else note,
        roles=frozenset(made),
    )
    return result


def _not_answered(cell: str, objects: Sequence[str]) -> bool:
    """Whether a question was seen and not answered, as Qualtrics and SPSS say it."""
    return plain(cell) == _NOT_ANSWERED and cell not in objects


def _refuse_codes(
    table: NamedTable, columns: Mapping[int, str], of: Mapping[str, tuple[str, ...]], begin: int
) -> None:
    """Refuse answers that are neither names nor places, such as a survey's recoded values."""
    rows = list(FirstRows(table) if table.sample is None else table.sample)[begin:]
    cells: dict[int, list[str]] = {}
    for i, name in columns.items():
        given = [row[i].strip() for row in rows if len(row) > i and not is_missing(row[i])]
        cells[i] = [cell for cell in given if not _not_answered(cell, of[name])]
    strange = {i: [c for c in cells[i] if c not in of[name]] for i, name in columns.items()}
    if sum(map(len, strange.values())) <= 0.5 * sum(map(len, cells.values())):
        return
    shown = SHOWN[: len(next(iter(of.values())))]
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
            cells = _first_cells(table, keys.index(word))
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
    rows = list(FirstRows(table) if table.sample is None else table.sample)
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


def _titled(table: NamedTable, at: Mapping[str, int]) -> Unfolding | None:
    """Columns whose own names, or the questions below them, list the three objects."""
    if complete_shapes(dict.fromkeys(at)):
        return None
    rows: Sequence[Sequence[str]] | None = None
    of: dict[str, tuple[str, ...]] = {}
    columns: dict[int, str] = {}
    for i, name in enumerate(table.names):
        texts = (table.titles[i], name) if table.titles else (name,)
        objects = next((found for text in texts if (found := objects_in(text))), None)
        if objects is None:
            continue
        if rows is None:
            rows = FirstRows(table) if table.sample is None else table.sample
        cells = [row[i].strip() for row in rows if not is_missing(row[i])]
        among = sum(cell in objects for cell in cells)
        if not cells or among < _AMONG * len(cells):
            continue
        columns[i] = name
        of[name] = objects
    return _wide(table, at, columns, of, {}) if len(columns) > 1 else None


def objects_in(text: str) -> tuple[str, ...] | None:
    """The three objects that a question lists; None where it lists none.

    >>> objects_in("Which is the odd one out? [van, bus, car]")
    ('van', 'bus', 'car')
    >>> objects_in("3. van / bus / car"), objects_in("How old are you?")
    (('van', 'bus', 'car'), None)
    """
    images = tuple(_IMAGE.findall(text))
    if len(images) == 3 == len(set(images)):
        return images
    brackets = _BRACKETS.search(text)
    listed = brackets[1] if brackets else re.split(r"[?:]\s", f"{text} ")[-1]
    listed = re.sub(r"^\s*\w{0,4}\d+[.)]\s+", "", listed)
    parts = tuple(part.strip(" .?!") for part in _BETWEEN.split(listed) if part.strip(" .?!"))
    return parts if len(parts) == 3 == len(set(parts)) else None


# votes for each of the objects


def _voted(table: NamedTable, at: Mapping[str, int]) -> Unfolding | None:
    """How many people chose each object, or gave the same answer."""
    keys = [key(name) for name in table.names]
    beside = [at[role] for role in SHOWN if role in at]
    if "anchor" in at:
        beside = beside[:2] if len(beside) >= 2 else [at[r] for r in ("near", "far") if r in at]
    listed = at.get("votes")
    if listed is None and "chosen" not in at:
        listed = next((i for i, name in enumerate(keys) if name in _VOTES), None)
    numbered = {j: at[f"votes_{j + 1}"] for j in range(3) if f"votes_{j + 1}" in at}
    if not numbered and "chosen" not in at:
        for i, name in enumerate(keys):
            match = _VOTES_FOR.fullmatch(name)
            if match:
                numbered.setdefault(next(j for j in range(3) if match[j + 1]), i)
        if len(numbered) == 2 and 2 in numbered:  # left and right
            numbered = {0: numbered.get(0, numbered.get(1, -1)), 1: numbered[2]}
    wanted = 2 if "anchor" in at else 3
    three = len(beside) == wanted
    if three and len(numbered) == wanted and _whole(table, list(numbered.values())):
        return _by_votes(table, at, beside, [numbered[j] for j in range(wanted)], None)
    if three and listed is not None and _lists_of(table, listed, wanted):
        return _by_votes(table, at, beside, [], listed)
    times = at.get("count")
    if times is None and complete_shapes(dict.fromkeys(role for role in at if role in _OBJECTS)):
        times = next((i for i, name in enumerate(keys) if name in _TIMES), None)
        if times is not None and not _is_number_of(table, times):
            return None
    return None if times is None else _repeated(table, times)


_OBJECTS = ("central", "odd", "other_1", "other_2", "anchor", "near", "far", "chosen", *SHOWN)


def _first_cells(table: NamedTable, i: int) -> list[str]:
    rows = FirstRows(table) if table.sample is None else table.sample
    return [row[i].strip() for row in rows if len(row) > i and not is_missing(row[i])]


def _whole(table: NamedTable, columns: Sequence[int]) -> bool:
    return all(
        (cells := _first_cells(table, i)) and all(is_integer(plain(c)) for c in cells)
        for i in columns
    )


def _is_number_of(table: NamedTable, i: int) -> bool:
    """Whether a column says how many gave an answer; cells that do not are refused by row."""
    cells = _first_cells(table, i)
    whole = sum(is_integer(plain(cell)) for cell in cells)
    plainly = key(table.names[i]) in ("nanswers", "nvotes", "nresponses", "answercount")
    return bool(cells) and (plainly or 2 * whole >= len(cells))


def _lists_of(table: NamedTable, i: int, n: int) -> bool:
    cells = _first_cells(table, i)
    return bool(cells) and all(
        len(parts) == n and all(part.isdigit() for part in parts)
        for parts in (list_of(cell) for cell in cells)
    )


def _number_of(cell: str | None) -> int:
    text = plain(cell or "0")
    if not text.isdigit():
        raise StatementError(f"{quoted(cell or '')} is no number of answers; give a whole number")
    return int(text)


def _by_votes(
    table: NamedTable,
    at: Mapping[str, int],
    beside: Sequence[int],
    numbered: Sequence[int],
    listed: int | None,
) -> Unfolding:
    anchor = at.get("anchor")
    made = ("chosen", *(["anchor"] if anchor is not None else []), *SHOWN[: len(beside)])
    needs = [*beside, *numbered]
    needs += [i for i in (anchor, listed) if i is not None]

    def unfold(cells: Mapping[int, str | None], number: int) -> list[tuple[str | None, ...]]:
        given: Sequence[str | None]
        given = [cells[i] for i in numbered] if listed is None else list_of(cells[listed])
        if len(given) != len(beside):
            raise StatementError(f"{len(given)} numbers of votes for {len(beside)} objects")
        objects = tuple(cells[i] for i in beside)
        first = () if anchor is None else (cells[anchor],)
        votes = [_number_of(each) for each in given]
        if not sum(votes):
            result.skipped += 1
        return [
            (chosen, *first, *objects)
            for chosen, times in zip(objects, votes, strict=True)
            for _ in range(times)
        ]

    told = [table.names[i] for i in ([listed] if listed is not None else numbered)]
    result = Unfolding(
        made,
        tuple(needs),
        unfold,
        gone=frozenset({*needs, *at_roles(at, ("near", "far"))}),
        note=f"as many answers as {one_line(', '.join(told), 60)} say",
        counted="{n:,} questions without votes skipped",
        roles=frozenset(made),
    )
    return result


def at_roles(at: Mapping[str, int], names: Sequence[str]) -> list[int]:
    """The columns of these roles that are there."""
    return [at[name] for name in names if name in at]


def _repeated(table: NamedTable, times: int) -> Unfolding:
    def unfold(cells: Mapping[int, str | None], number: int) -> list[tuple[str | None, ...]]:
        return [()] * _number_of(cells[times])

    note = f"each row stands for as many answers as {one_line(table.names[times], 40)} says"
    return Unfolding((), (times,), unfold, gone=frozenset({times}), note=note)


# several objects, or one, chosen of more than three


def _several(table: NamedTable, options: ReadOptions, at: Mapping[str, int]) -> Unfolding | None:
    anchor = at.get("anchor")
    shown = _numbered(table.names, _SHOWN_KEYS - {"choice", "choices"}, 4)
    if not shown:
        shown = _list_column(table, at.get("shown"), _LISTS, 4)
    chosen = _numbered(table.names, _CHOSEN, 1)
    if not chosen:
        called = [at[role] for role in ("chosen", "near", "central", "odd") if role in at]
        chosen = called[:1] or _list_column(table, None, _CHOSEN, 1)
    rest = _numbered(table.names, _NOT_CHOSEN, 1)
    if not rest:
        told = at.get("not_chosen", at.get("far"))
        rest = _list_column(table, told, _NOT_CHOSEN, 1) if told is None else [told]
    if not chosen:
        return None
    if shown:
        fits = bool(_base_or_names(table, options, shown, chosen))
        return _grid(table, options, anchor, shown, chosen, []) if fits else None
    if anchor is None or not rest:
        return None
    if len(chosen) + len(rest) > 2 or _bracketed(table, rest[0]) or _bracketed(table, chosen[0]):
        return _grid(table, options, anchor, [], chosen, rest)
    return None


def _bracketed(table: NamedTable, i: int) -> bool:
    """Whether the cells of a column are lists in brackets."""
    cells = _first_cells(table, i)[:50]
    return bool(cells) and all(cell[:1] == "[" and cell[-1:] == "]" for cell in cells)


def _base_or_names(
    table: NamedTable, options: ReadOptions, shown: Sequence[int], chosen: Sequence[int]
) -> bool:
    """Whether what is chosen is among what is shown, by name or by position."""
    rows = FirstRows(table) if table.sample is None else table.sample
    fits = total = 0
    for row in list(rows)[:200]:
        if len(row) < len(table.names):
            continue
        cells = {i: None if is_missing(row[i]) else row[i].strip() for i in (*shown, *chosen)}
        objects, picked = _objects(cells, shown), _objects(cells, chosen)
        if objects and picked:
            total += 1
            by_place = all(each.isdigit() and int(each) <= len(objects) for each in picked)
            fits += by_place or all(each in objects for each in picked)
    return total > 0 and fits >= _AMONG * total


def _numbered(names: Sequence[str], stems: frozenset[str], least: int) -> list[int]:
    """Columns that are numbered alike, ``image_1``, ``image_2``, ..., at least so many."""
    groups: dict[str, dict[int, int]] = {}
    for i, name in enumerate(names):
        match = _MARKED.fullmatch(key(name))
        if match and match[1] in stems:
            groups.setdefault(match[1], {}).setdefault(int(match[2]), i)
    for members in groups.values():
        first = min(members)
        if first in (0, 1) and len(members) >= least and max(members) - first < len(members):
            return [members[j] for j in sorted(members)]
    return []


def _list_column(
    table: NamedTable, told: int | None, names: frozenset[str], least: int
) -> list[int]:
    """The column that is called so and whose cells hold lists of at least so many."""
    columns = [told] if told is not None else []
    columns += [i for i, name in enumerate(table.names) if key(name) in names]
    for i in columns:
        cells = _first_cells(table, i)[:50]
        if cells and all(len(list_of(cell)) >= least for cell in cells):
            return [i]
    return []


def _grid(
    table: NamedTable,
    options: ReadOptions,
    anchor: int | None,
    shown: Sequence[int],
    chosen: Sequence[int],
    rest: Sequence[int],
) -> Unfolding:
    asked = "nearest" if anchor is not None else (options.kind or "central")
    first = {"nearest": "anchor", "central": "central", "odd": "odd"}.get(asked, "anchor")
    if anchor is None and asked == "closer":
        raise layout_error(
            table.label,
            f"which column holds what the others are compared with? Say it with "
            f"{option('columns', 'anchor=...')}",
        )
    if anchor is None and options.kind is None:
        first = "chosen"
    made = ("question", first, *(("near", "far") if anchor is not None else ("other_1", "other_2")))
    needs = [*shown, *chosen, *rest, *([anchor] if anchor is not None else [])]
    base = _base(table, options, shown, chosen)

    def unfold(cells: Mapping[int, str | None], number: int) -> list[tuple[str | None, ...]]:
        picked = _objects(cells, chosen)
        objects = _objects(cells, shown) or [*picked, *_objects(cells, rest)]
        if base is not None:
            picked = [_placed(each, objects, base) for each in picked]
        if not picked:
            result.skipped += 1
            return []
        query = [] if anchor is None else [cells[anchor] or ""]
        objects = [each for each in objects if each not in query]
        how = asked if asked in ("central", "odd", "nearest") else "nearest"
        if how == "nearest" and len(picked) >= len(objects):
            result.skipped += 1
            return []
        rows = implied_rows([*query, *objects], picked, how)
        origin = str(number) if table.label is None else f"{table.label}, row {number}"
        return [(origin, *row) for row in rows]

    several = f"{one_line(', '.join(table.names[i] for i in chosen[:3]), 60)} chosen of many"
    result = Unfolding(
        made,
        tuple(dict.fromkeys(needs)),
        unfold,
        gone=frozenset(needs),
        note=f"{several}, each question turned into the statements that it implies",
        counted="{n:,} questions without a choice skipped",
        roles=frozenset({*made, "chosen", *SHOWN, "anchor", "near", "far"}),
    )
    return result


def _objects(cells: Mapping[int, str | None], columns: Sequence[int]) -> list[str]:
    if len(columns) == 1:
        return list_of(cells[columns[0]])
    return [cell for i in columns if (cell := cells[i]) is not None]


def _base(
    table: NamedTable, options: ReadOptions, shown: Sequence[int], chosen: Sequence[int]
) -> int | None:
    """Where positions begin, if what was chosen is said by them; None: by names."""
    rows = FirstRows(table) if table.sample is None else table.sample
    seen: set[int] = set()
    most = 0
    for row in list(rows)[:200]:
        cells = {i: None if is_missing(row[i]) else row[i].strip() for i in (*shown, *chosen)}
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
