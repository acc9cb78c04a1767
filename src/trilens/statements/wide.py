"""A row for each participant, a column for each question; or the id of the question in a column.

What a question shows stands in a table of its own, or in the name of the column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from trilens.errors import StatementError, option
from trilens.statements.columns import one_line, quoted
from trilens.statements.layout import layout_error
from trilens.statements.names import is_missing
from trilens.statements.positions import by_columns, by_words, plain
from trilens.statements.questions import Questions
from trilens.statements.roles import OPTIONAL, SHOWN, key, roles
from trilens.statements.rules import complete
from trilens.statements.table import NamedTable, Request
from trilens.statements.unfolding import Answers, Unfolding

_BRACKETS = re.compile(r"[\[(]([^\])]*)[\])]\s*$")
_BETWEEN = re.compile(r"\s*(?:[,;/|]|\bvs\.?\s|\bor\b)\s*")
_IMAGE = re.compile(r"<img[^>]*\bsrc\s*=\s*[\"']?([^\"'>\s]+)", re.IGNORECASE)
#: The share of answers that are among the objects which a header names.
_AMONG = 0.95
#: The code of a question that was seen and not answered.
_NOT_ANSWERED = "-99"
#: What Qualtrics and others call the questionnaire that a participant filled in.
_WHO = ("responseid", "respondentid", "antwortid", "id", "case", "code", "username", "email")


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
    return _wide(table, at, columns, questions.of, questions.anchors)


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
                f"or skip bad rows with {option('skip_bad', True)}"
            )
        own = (name,) if "question_id" in made else ()
        return [(*_anchor(questions.anchors, name), *questions.of[name], *own)], 0

    made = (*(["anchor"] if questions.anchors else []), *SHOWN[: questions.width])
    note = f"objects of each {table.names[by_id]} from {questions.label}"
    gone = frozenset({by_id}) if key(table.names[by_id]) == "question" else frozenset()
    if gone:  # a column of that name would mean questions about more than three objects
        made = (*made, "question_id")
    return Unfolding(made, (by_id,), unfold, gone, note, roles=frozenset({*made, "question"}))


def _anchor(anchors: Mapping[str, str], name: str) -> tuple[str, ...]:
    return (anchors[name],) if anchors else ()


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

    def unfold(cells: Mapping[int, str | None], number: int) -> tuple[Answers, int]:
        if number == text_row:
            return [], 0
        rater = () if not own else (str(number) if who is None else cells[who],)
        found: Answers = []
        for i, name in columns.items():
            if cells[i] is None or _not_answered(cells[i] or "", of[name]):
                continue
            took = (cells[times[i]] if i in times else None,) if times else ()
            found.append((*rater, name, *_anchor(anchors, name), *of[name], cells[i], *took))
        return found, len(columns) - len(found)

    said = "each row is a rater" if own and who is None else ""
    if own and who is not None:
        said = f"raters from {table.names[who]}"
    listed = one_line(", ".join(table.names[i] for i in list(columns)[:3]), 60)
    more = len(columns) - 3
    note = f"{len(columns):,} columns of answers ({listed}{', ...' if more > 0 else ''})"
    return Unfolding(
        made,
        tuple(dict.fromkeys(needs)),
        unfold,
        gone=frozenset({*columns, *times.values()}),
        note=f"{note}; {said}" if said else note,
        counted="cells without an answer (empty or -99) skipped: {n:,}",
        roles=frozenset(made),
    )


def _not_answered(cell: str, objects: Sequence[str]) -> bool:
    """Whether a question was seen and not answered, as Qualtrics and SPSS say it."""
    return plain(cell) == _NOT_ANSWERED and cell not in objects


def _refuse_codes(
    table: NamedTable, columns: Mapping[int, str], of: Mapping[str, tuple[str, ...]], begin: int
) -> None:
    """Refuse answers that are neither names nor places, such as a survey's recoded values."""
    rows = list(table.first)[begin:]
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
