"""Tables whose rows hold more, or less, than one answer, as tables with one answer in each row.

A row may have the answers of a participant to many questions, the votes for each of the objects,
or several objects chosen of many; and the objects of a question may stand in another table. Each
row is unfolded by itself, so that large files are read in pieces as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trilens.errors import FormatError, StatementError, option
from trilens.statements.cells import list_of
from trilens.statements.columns import one_line, quoted
from trilens.statements.layout import (
    ColumnSpec,
    ReadOptions,
    by_rank,
    column_roles,
    layout_error,
    refuse_more_picks,
)
from trilens.statements.names import is_integer
from trilens.statements.positions import plain
from trilens.statements.responses import implied_rows
from trilens.statements.roles import SHOWN
from trilens.statements.rules import unfoldings
from trilens.statements.table import AnswerTable, NamedTable
from trilens.statements.unfolding import Answers, Unfolding
from trilens.statements.wide import asked, titled

#: Rows that tell whether picks are names or positions.
_TELLING = 200


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
    left = options
    if spec is not None and spec.names is not None:
        left = replace(options, columns=None)
    elif spec is not None and spec.mapping is not None:
        mapping = tuple(pair for pair in spec.mapping if not found.uses(pair[0]))
        left = replace(options, columns=ColumnSpec(mapping=mapping) if mapping else None)
    return found.of(named, options.skip_bad), left


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
