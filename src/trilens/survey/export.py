"""From the database to statements and their tables."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from sqlalchemy import select
from sqlalchemy.engine import Connection

from trilens.errors import FormatError, SurveyError
from trilens.files.output import atomic_write
from trilens.statements import Kind, Statements
from trilens.survey.ledger import all_about
from trilens.survey.schema import answers, assignments, objects, participants

Set = Literal["all", "passed", "all-reduced", "passed-reduced"]
SETS: tuple[str, ...] = get_args(Set)


@dataclass(frozen=True)
class Collected:
    """Every answer, with what is known about it; column by column, in the order of storing.

    Attributes
    ----------
    shown
        The three objects of each question, in their places.
    round
        Rounds of all participants, counted from 1 in the order in which they began.
    number
        The question's place in its round.
    place
        Where the chosen object stood: 1, 2 or 3.
    test
        ``passed``, ``failed``, ``open`` (not answered yet) or ``none``, of the answer's round.
    counted
        Whether the round has enough answers.
    """

    kind: Kind
    names: tuple[str, ...]
    shown: list[tuple[str, str, str]]
    chosen: list[str]
    rater: list[str]
    round: list[int]
    number: list[int]
    seconds: list[float | None]
    place: list[int]
    reason: list[str]
    test: list[str]
    counted: list[bool]
    stored: list[float]

    def __len__(self) -> int:
        return len(self.chosen)

    def rows(self, which: Set) -> list[int]:
        """The answers of a set, as rows of this table."""
        if which.startswith("all"):
            return list(range(len(self)))
        good = ("passed", "none")
        return [i for i in range(len(self)) if self.test[i] in good and self.counted[i]]

    def statements(self, which: Set = "all") -> Statements:
        """The answers of a set as statements, for every function of the library."""
        rows = self.rows(which)
        at = {name: i for i, name in enumerate(self.names)}
        found = Statements(
            [[at[name] for name in self._statement(i)] for i in rows],
            names=list(self.names),
            kind=self.kind,
            raters=[self.rater[i] for i in rows],
            rounds=[self.round[i] for i in rows],
            seconds=np.array([self.seconds[i] for i in rows], dtype=float),
        )
        return found.reduce() if which.endswith("reduced") else found

    def _statement(self, i: int) -> tuple[str, str, str]:
        """The objects in a statement's order: the chosen first; or anchor, near, far."""
        a, b, c = self.shown[i]
        chosen = self.chosen[i]
        if self.kind == "closer":
            return a, chosen, c if chosen == b else b
        x, y = (name for name in (a, b, c) if name != chosen)
        return chosen, x, y

    def table(self, which: Set) -> dict[str, list[Any]]:
        """The columns of an export."""
        rows = self.rows(which)
        columns: dict[str, list[Any]] = {}
        if self.kind == "closer":
            three = [self._statement(i) for i in rows]
            for j, name in enumerate(("anchor", "near", "far")):
                columns[name] = [row[j] for row in three]
        else:
            columns[self.kind] = [self.chosen[i] for i in rows]
            for j in range(3):
                columns[f"shown_{j + 1}"] = [self.shown[i][j] for i in rows]
        for name in ("rater", "round", "number", "seconds", "place", "reason", "test", "counted"):
            columns[name] = [getattr(self, name)[i] for i in rows]
        return columns


def collect(connection: Connection, kind: Kind, minimum: int) -> Collected:
    """Every answer in the database, and how the rounds did."""
    by_number = {row.id: row.name for row in connection.execute(select(objects))}
    query = (
        select(
            participants.c.rater,
            assignments.c.id,
            assignments.c.participant,
            assignments.c.round,
            assignments.c.number,
            assignments.c.a,
            assignments.c.b,
            assignments.c.c,
            assignments.c.reason,
            assignments.c.expected,
            answers.c.chosen,
            answers.c.seconds,
            answers.c.stored,
        )
        .select_from(
            answers.join(assignments, answers.c.assignment == assignments.c.id).join(
                participants, assignments.c.participant == participants.c.id
            )
        )
        .order_by(answers.c.stored, assignments.c.id)
    )
    rows = connection.execute(query).all()
    with_test = {
        (row.participant, row.round)
        for row in connection.execute(
            select(assignments.c.participant, assignments.c.round)
            .where(assignments.c.reason == "test")
            .distinct()
        )
    }
    outcome: dict[tuple[int, int], str] = {}
    size: dict[tuple[int, int], int] = defaultdict(int)
    for row in rows:
        where = (row.participant, row.round)
        size[where] += 1
        if row.reason == "test":
            outcome[where] = "passed" if row.chosen == row.expected else "failed"
    places = [(row.participant, row.round) for row in rows]
    rounds = _numbered(rows)
    return Collected(
        kind=kind,
        names=tuple(by_number[i] for i in sorted(by_number)),
        shown=[(by_number[r.a], by_number[r.b], by_number[r.c]) for r in rows],
        chosen=[by_number[row.chosen] for row in rows],
        rater=[row.rater for row in rows],
        round=[rounds[where] for where in places],
        number=[row.number for row in rows],
        seconds=[row.seconds for row in rows],
        place=[(r.a, r.b, r.c).index(r.chosen) for r in rows],
        reason=[row.reason for row in rows],
        test=[outcome.get(w, "open" if w in with_test else "none") for w in places],
        counted=[size[where] >= minimum for where in places],
        stored=[row.stored for row in rows],
    )


def _numbered(rows: Any) -> dict[tuple[int, int], int]:
    """Rounds of all participants, counted from 1 in the order in which they began."""
    first: dict[tuple[int, int], int] = {}
    for row in rows:
        where = (row.participant, row.round)
        first[where] = min(first.get(where, row.id), row.id)
    return {where: i + 1 for i, where in enumerate(sorted(first, key=first.__getitem__))}


def write_export(collected: Collected, which: Set, path: str | Path) -> int:
    """Write a set to CSV, TSV or Parquet; the number of rows.

    A reduced set has one row per triple, its majority answer, and so no rater.
    """
    from trilens.files import write_statements
    from trilens.files.output import write_table

    if which.endswith("reduced"):
        reduced = collected.statements(which)
        write_statements(reduced, path)
        return len(reduced)
    columns = collected.table(which)
    ending = Path(str(path)).suffix.lower()
    if ending in (".csv", ".tsv") or str(path) == "-":
        write_table(columns, path)
    elif ending == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        with atomic_write(path) as file:
            pq.write_table(pa.table(columns), file)
    else:
        raise FormatError(f"{path}: an export is written as .csv, .tsv or .parquet")
    return len(columns["rater"])


def write_participant(connection: Connection, receipt: str, path: str | Path) -> None:
    """Write all that is stored about the participant with a receipt, as JSON."""
    known = all_about(connection, receipt)
    if known is None:
        raise SurveyError(f"no participant has the receipt {receipt!r}")
    with atomic_write(path) as file:
        file.write(json.dumps(known, ensure_ascii=False, indent=1).encode() + b"\n")
