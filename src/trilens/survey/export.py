"""From the database to statements and their files."""

from __future__ import annotations

import datetime
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import pyarrow as pa
from sqlalchemy import Row, select
from sqlalchemy.engine import Connection

from trilens.errors import FormatError, SurveyError
from trilens.files.output import atomic_write
from trilens.statements import Kind, Statements
from trilens.statements.table import is_number
from trilens.survey.schema import answers, assignments, objects, participants
from trilens.survey.store import all_about, kind_asked

Set: TypeAlias = Literal["all", "passed", "all-reduced", "passed-reduced"]
SETS: tuple[str, ...] = get_args(Set)

#: A participant and their round.
_Round: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class AnswerTable:
    """Every answer, in the order of storing, with what is known about it.

    Attributes
    ----------
    names
        Of the study's objects, in their order.
    table
        The columns of an export, as documented in docs/survey.md: ``place`` is where the chosen
        object stood, 0, 1 or 2, as in `Statements.places`. And ``stored``: when, in seconds since
        1970.
    """

    kind: Kind
    names: tuple[str, ...]
    table: pa.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def column(self, name: str) -> list[Any]:
        """The values of a column."""
        return list(self.table.column(name).to_pylist())

    def select(self, which: Set) -> pa.Table:
        """The rows of a set, before it is reduced."""
        if which.startswith("all"):
            return self.table
        good = [
            test in ("passed", "none") and counted
            for test, counted in zip(self.column("test"), self.column("counted"), strict=True)
        ]
        return self.table.filter(pa.array(good, pa.bool_()))

    def statements(self, which: Set = "all") -> Statements:
        """The answers of a set as statements, for every function of the library.

        Those to test questions and to questions that were repeated are left out, as they are
        when an export is read: see `trilens.statements.table`.
        """
        found = Statements(self.select(which), names=self.names, kind=self.kind)
        return found.reduce() if which.endswith("reduced") else found


def collect(connection: Connection, kind: Kind, minimum: int) -> AnswerTable:
    """Every answer in the database, and how the rounds did.

    The kind is that of the questions which were answered, whatever the study asks now.
    """
    kind = kind_asked(connection) or kind
    query = (
        select(
            participants.c.rater,
            participants.c.language,
            assignments,
            answers.c.chosen,
            answers.c.seconds,
            answers.c.stored,
        )
        .select_from(
            answers.join(assignments, answers.c.assignment == assignments.c.id).join(
                participants, assignments.c.participant == participants.c.id
            )
        )
        .where(participants.c.test_run == 0)
        .order_by(answers.c.stored, assignments.c.id)
    )
    rows = connection.execute(query).all()
    round_of = [(row.participant, row.round) for row in rows]
    numbers, size, tests = _numbered(rows), Counter(round_of), _tests(connection, rows)
    versions = {design: i for i, design in enumerate(sorted({row.design for row in rows}), 1)}
    by_id = {row.id: row.name for row in connection.execute(select(objects))}
    shown = [(row.a, row.b, row.c) for row in rows]
    places = [three.index(row.chosen) for three, row in zip(shown, rows, strict=True)]
    text, whole, real = pa.string(), pa.int64(), pa.float64()
    table = pa.table(
        {
            **_objects(kind, [tuple(by_id[i] for i in three) for three in shown], places),
            "rater": pa.array([row.rater for row in rows], text),
            "round": pa.array([numbers[key] for key in round_of], whole),
            "number": pa.array([row.number for row in rows], whole),
            "seconds": pa.array([row.seconds for row in rows], real),
            "place": pa.array(places, whole),
            "reason": pa.array([row.reason for row in rows], text),
            "test": pa.array([tests.get(key, "none") for key in round_of], text),
            "counted": pa.array([size[key] >= minimum for key in round_of], pa.bool_()),
            "design": pa.array([versions[row.design] for row in rows], whole),
            "language": pa.array([row.language for row in rows], text),
            "answered_at": pa.array([iso_time(row.stored) for row in rows], text),
            "stored": pa.array([row.stored for row in rows], real),
        }
    )
    return AnswerTable(kind, tuple(by_id[i] for i in sorted(by_id)), table)


def _numbered(rows: Sequence[Row[Any]]) -> dict[_Round, int]:
    """Rounds of all participants, counted from 1 in the order in which they began."""
    in_order = sorted(rows, key=lambda row: row.id)
    first = dict.fromkeys((row.participant, row.round) for row in in_order)
    return {key: i for i, key in enumerate(first, 1)}


def _tests(connection: Connection, rows: Sequence[Row[Any]]) -> dict[_Round, str]:
    """The outcome of each round's test: ``open`` until it is answered."""
    asked = select(assignments.c.participant, assignments.c.round).where(
        assignments.c.reason == "test"
    )
    outcome = {(row.participant, row.round): "open" for row in connection.execute(asked)}
    for row in rows:
        if row.reason == "test":
            passed = row.chosen == row.expected
            outcome[row.participant, row.round] = "passed" if passed else "failed"
    return outcome


def _objects(
    kind: Kind, shown: Sequence[tuple[str, ...]], places: Sequence[int]
) -> dict[str, pa.Array]:
    """The columns of objects, the chosen one first; for ``closer`` anchor, near, far."""
    chosen = [three[place] for three, place in zip(shown, places, strict=True)]
    if kind == "closer":
        # the anchor stands first, so that the two to choose from are in places 1 and 2
        columns = {
            "anchor": [three[0] for three in shown],
            "near": chosen,
            "far": [three[3 - place] for three, place in zip(shown, places, strict=True)],
        }
    else:
        columns = {kind: chosen}
        columns |= {f"shown_{i + 1}": [three[i] for three in shown] for i in range(3)}
    return {name: pa.array(values, pa.string()) for name, values in columns.items()}


def write_export(collected: AnswerTable, which: Set, path: str | Path) -> int:
    """Write a set to CSV, TSV or Parquet; the number of rows.

    A reduced set has one row per triple, its majority answer, and so no rater.
    """
    from trilens.files import write_statements
    from trilens.files.output import write_table

    if which.endswith("reduced"):
        reduced = collected.statements(which)
        write_statements(reduced, path)
        return len(reduced)
    table = collected.select(which).drop_columns("stored")
    ending = Path(str(path)).suffix.lower()
    if ending in (".csv", ".tsv") or str(path) == "-":
        columns = {name: safe_cells(values) for name, values in table.to_pydict().items()}
        write_table(columns, path)
    elif ending == ".parquet":
        import pyarrow.parquet as pq

        with atomic_write(path) as file:
            pq.write_table(table, file)
    else:
        raise FormatError(f"{path}: exports must end in .csv, .tsv or .parquet")
    return int(table.num_rows)


def iso_time(moment: float | None) -> str | None:
    """A time as text, in UTC.

    >>> iso_time(1.5)
    '1970-01-01T00:00:01.500Z'
    """
    if moment is None:
        return None
    told = datetime.datetime.fromtimestamp(moment, datetime.UTC)
    return told.isoformat(timespec="milliseconds").replace("+00:00", "Z")


#: What a spreadsheet takes for the beginning of a formula.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def safe_cells(values: Sequence[Any]) -> list[Any]:
    """The same for a file that may be opened as a spreadsheet: no text becomes a formula.

    Such text gets an apostrophe in front, which trilens takes away when it reads the names of
    objects.

    >>> safe_cells(["=1+1", "'=1", "one", -1, "-1.5", None])
    ["'=1+1", "''=1", 'one', -1, '-1.5', None]
    """
    return [
        f"'{value}"
        if isinstance(value, str) and _FORMULA.match(value) and not is_number(value)
        else value
        for value in values
    ]


def write_participant(connection: Connection, receipt: str, path: str | Path) -> None:
    """Write all that is stored about the participant with a receipt, as JSON."""
    known = all_about(connection, receipt)
    if known is None:
        raise SurveyError(f"no participant has the receipt {receipt!r}")
    with atomic_write(path) as file:
        file.write(json.dumps(known, ensure_ascii=False, indent=1).encode() + b"\n")
