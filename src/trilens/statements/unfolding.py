"""New rows made of the rows of a table: each holds several answers, or one in another form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from trilens.errors import StatementError
from trilens.statements.batch import Fault, row_error
from trilens.statements.cells import cells_of
from trilens.statements.roles import OPTIONAL
from trilens.statements.table import NamedTable, Request, Rows, Use

Answers = list[tuple[str | None, ...]]
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
            for rows in table.read(inner):
                yield self._unfolded(rows, order, request, kept, table, skip_bad)

        used = frozenset({*self.made, *(table.names[i] for i in self.needs)})
        return replace(
            table,
            names=names,
            read=read,
            sample=None,
            notes=notes,
            titles=(),
            read_from=used,
            counted=self.counted,
        )

    def uses(self, role: str) -> bool:
        """Whether what the caller says of a role is used up."""
        return role not in (*OPTIONAL, "ms") if self.roles is None else role in self.roles

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
        found: Answers = []
        faults: list[Fault] = list(rows.faults)
        empty = 0
        for row in range(len(rows.table)):
            number = rows.number(row)
            try:
                answers, n = self.unfold(
                    {at: cells[row] for at, cells in looked_at.items()}, number
                )
            except StatementError as error:
                if not skip_bad:
                    raise row_error(table.label, number, error.message) from None
                shown = ",".join(cells[row] or "" for cells in looked_at.values())
                faults.append(Fault(table.label or "", number, error.message, shown))
                continue
            empty += n
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
            tuple(faults),
            empty,
        )
