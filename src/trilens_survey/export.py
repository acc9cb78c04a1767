"""From the database to statements and their files."""

from __future__ import annotations

import datetime
import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
from sqlalchemy import Row, func, select
from sqlalchemy.engine import Connection

import trilens as tl
from trilens.errors import FormatError, SurveyError
from trilens_survey import Set
from trilens_survey.schema import answers, assignments, forms, objects, participants
from trilens_survey.settings import Kind
from trilens_survey.store.administration import all_about, designs_asked
from trilens_survey.store.rows import GIVEN, chosen_in, shown_in
from trilens_survey.study import Study

#: The columns of a statement of each kind.
_COLUMNS = {
    "central": ("central", "other_1", "other_2"),
    "odd": ("odd", "other_1", "other_2"),
    "closer": ("anchor", "near", "far"),
}
#: Why questions were asked whose answers tell of the objects.
FINDINGS = ("random", "adaptive", "shared")

#: A participant and their round.
_Round: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class AnswerTable:
    """Every answer of one kind, in the order of storing, with what is known about it."""

    kind: Kind
    #: of the study's objects, in their order
    names: tuple[str, ...]
    #: one row for each answer: ``shown`` and ``chosen`` are lists of names, an anchor first; the
    #: others are columns of an export, as documented in docs/survey.md. ``place`` is where the
    #: chosen object stood, 0, 1 or 2, as in `Statements.places`. And ``stored``: when, in seconds
    #: since 1970
    table: pa.Table
    #: raters who answered a test question wrongly, whatever its kind
    failed: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def column(self, name: str) -> list[Any]:
        """The values of a column."""
        return list(self.table.column(name).to_pylist())

    def select(self, which: Set) -> pa.Table:
        """The statements of a set: one for an answer to three objects, several for more."""
        table = self._chosen(which)
        shown, chosen = (table.column(name).to_pylist() for name in ("shown", "chosen"))
        rest = table.drop_columns(["shown", "chosen"])
        if all(len(names) == 3 for names in self.column("shown")):
            columns = _objects(self.kind, shown, [one[0] for one in chosen])
            kept = rest.drop_columns("question")
        elif not shown:
            columns = {name: pa.array([], pa.string()) for name in _COLUMNS[self.kind]}
            kept = rest.drop_columns("place")
        else:
            asked = "nearest" if self.kind == "closer" else self.kind
            many = tl.Statements.from_questions(shown, chosen, asked)
            rows = zip(*many, strict=True)
            columns = {
                name: pa.array(values, pa.string())
                for name, values in zip(_COLUMNS[self.kind], rows, strict=True)
            }
            # a screen of many objects makes many statements: they have its number in common
            kept = rest.take(pa.array(many.questions)).drop_columns("place")
        return _without_empty(pa.table({**columns, **{n: kept[n] for n in kept.column_names}}))

    def screens(self) -> pa.Table:
        """What was shown and chosen on each screen, practice included."""
        return _without_empty(self.table.drop_columns(["stored", "place"]))

    def statements(self, which: Set = "all") -> tl.Statements:
        """The answers of a set as statements, for every function of the library.

        Those to test questions and to questions that were repeated are left out, as they are
        when an export is read.
        """
        return tl.Statements(self.select(which), names=self.names, kind=self.kind)

    def without_practice(self) -> AnswerTable:
        """The same, with the answers that are part of the study."""
        return replace(self, table=self._chosen("all"))

    @property
    def left_out(self) -> int:
        """How many answers are no part of the findings."""
        return sum(reason not in FINDINGS for reason in self.column("reason"))

    def _chosen(self, which: Set) -> pa.Table:
        """The answers of a set; practice is of none.

        A round without a test question has passed if its rater failed in no other round.
        """
        columns = (self.column(name) for name in ("reason", "test", "counted", "rater"))
        good = [
            reason != "practice"
            and (which == "all" or counted)
            and (
                which != "passed"
                or test == "passed"
                or (test == "none" and rater not in self.failed)
            )
            for reason, test, counted, rater in zip(*columns, strict=True)
        ]
        return self.table.filter(pa.array(good, pa.bool_()))


def _without_empty(table: pa.Table) -> pa.Table:
    """Without the columns of what the study does not have: blocks, conditions, models."""
    named = [n for n in ("block", "condition", "model") if n in table.column_names]
    return table.drop_columns([n for n in named if not any(table[n].to_pylist())])


def collect(
    connection: Connection, kind: Kind, minimum: int, *, only: Kind | None = None
) -> AnswerTable:
    """Every answer in the database, and how the rounds did.

    The kind is that of the questions which were answered, whatever the study asks now. Where
    there are several, it is the study's first, or the ``only`` one that is wanted.
    """
    by_design = designs_asked(connection)
    asked = list(dict.fromkeys(design.kind for design in by_design.values()))
    kind = only or (kind if kind in asked or not asked else asked[-1])
    query = (
        select(
            participants.c.rater,
            participants.c.language,
            participants.c.condition,
            assignments,
            answers.c.chosen,
            answers.c.seconds,
            answers.c.stored,
            answers.c.further.label("also"),
        )
        .select_from(GIVEN)
        .where(participants.c.test_run == 0)
        .order_by(answers.c.stored, assignments.c.id)
    )
    of_all_kinds = connection.execute(query).all()
    tests = _tests(connection, of_all_kinds)
    failed = {
        row.rater for row in of_all_kinds if tests.get((row.participant, row.round)) == "failed"
    }
    rows = [row for row in of_all_kinds if by_design[row.design].kind == kind]
    round_of = [(row.participant, row.round) for row in rows]
    numbers, size = _numbered(rows), Counter(round_of)
    versions = {design: i for i, design in enumerate(sorted({row.design for row in rows}), 1)}
    by_id = {row.id: row.name for row in connection.execute(select(objects))}
    text, whole, real = pa.string(), pa.int64(), pa.float64()
    shown = [shown_in(row) for row in rows]
    table = pa.table(
        {
            "shown": pa.array([[by_id[i] for i in some] for some in shown], pa.list_(text)),
            "chosen": pa.array(
                [[by_id[i] for i in chosen_in(row)] for row in rows], pa.list_(text)
            ),
            "rater": pa.array([row.rater for row in rows], text),
            "round": pa.array([numbers[key] for key in round_of], whole),
            "number": pa.array([row.number for row in rows], whole),
            "question": pa.array(range(1, len(rows) + 1), whole),
            "seconds": pa.array([row.seconds for row in rows], real),
            "place": pa.array(
                [some.index(row.chosen) for some, row in zip(shown, rows, strict=True)], whole
            ),
            "reason": pa.array([row.reason for row in rows], text),
            "model": pa.array([row.model or None for row in rows], whole),
            "test": pa.array([tests.get(key, "none") for key in round_of], text),
            "counted": pa.array([size[key] >= minimum for key in round_of], pa.bool_()),
            "block": pa.array([by_design[row.design].block for row in rows], text),
            "condition": pa.array([row.condition or "" for row in rows], text),
            "design": pa.array([versions[row.design] for row in rows], whole),
            "language": pa.array([row.language for row in rows], text),
            "answered_at": pa.array([iso_time(row.stored) for row in rows], text),
            "stored": pa.array([row.stored for row in rows], real),
        }
    )
    return AnswerTable(kind, tuple(by_id[i] for i in sorted(by_id)), table, frozenset(failed))


def count_statements(connection: Connection, kind: Kind, names: Collection[str]) -> int:
    """How many statements about some objects the answers make, by counting: no table is made.

    Those of `AnswerTable.statements`: answers to test and repeated questions make none.
    """
    asked = {row: one for row, one in designs_asked(connection).items() if one.kind == kind}
    query = (
        select(assignments.c.design, func.count().label("n"))
        .select_from(GIVEN)
        .where(
            participants.c.test_run == 0,
            assignments.c.reason.in_(FINDINGS),
            assignments.c.design.in_(list(asked)),
        )
        .group_by(assignments.c.design)
    )
    others = [row.id for row in connection.execute(select(objects)) if row.name not in names]
    if others:
        for column in (assignments.c.a, assignments.c.b, assignments.c.c):
            query = query.where(column.not_in(others))
    return sum(row.n * asked[row.design].statements for row in connection.execute(query))


def _numbered(rows: Sequence[Row[Any]]) -> dict[_Round, int]:
    """Rounds of all participants, counted from 1 in the order in which they began.

    Practice is no round: 0.
    """
    by_id = sorted(rows, key=lambda row: row.id)
    first = dict.fromkeys((row.participant, row.round) for row in by_id)
    numbers = {key: i for i, key in enumerate((key for key in first if key[1]), 1)}
    return {key: numbers.get(key, 0) for key in first}


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
    kind: Kind, shown: Sequence[Sequence[str]], chosen: Sequence[str]
) -> dict[str, pa.Array]:
    """The columns of three objects, the chosen one first; for ``closer`` anchor, near, far."""
    if kind == "closer":
        # the anchor stands first, so that the two to choose from are in places 1 and 2
        columns = {
            "anchor": [three[0] for three in shown],
            "near": list(chosen),
            "far": [
                next(name for name in three[1:] if name != near)
                for three, near in zip(shown, chosen, strict=True)
            ],
        }
    else:
        columns = {kind: list(chosen)}
        columns |= {f"shown_{i + 1}": [three[i] for three in shown] for i in range(3)}
    return {name: pa.array(values, pa.string()) for name, values in columns.items()}


def questionnaire(connection: Connection, study: Study) -> pa.Table:
    """What each rater answered before and after the rounds, one row each."""
    query = (
        select(participants.c.id, participants.c.rater, participants.c.condition, forms.c.content)
        .select_from(participants.join(forms))
        .where(participants.c.test_run == 0)
        .order_by(participants.c.id, forms.c.stored)
    )
    people: dict[int, dict[str, Any]] = {}
    for row in connection.execute(query):
        theirs = people.setdefault(row.id, {"rater": row.rater, "condition": row.condition})
        theirs.update(json.loads(row.content))
    # what the study asked earlier comes after what it asks now
    asked = [item.name for item in (*study.settings.before, *study.settings.after)]
    earlier = [name for theirs in people.values() for name in theirs]
    columns = list(dict.fromkeys(["rater", "condition", *asked, *earlier]))
    found = {name: [theirs.get(name) for theirs in people.values()] for name in columns}
    if not any(found["condition"]):
        del found["condition"]
    return pa.table({name: _one_type(values) for name, values in found.items()})


def _one_type(values: list[Any]) -> pa.Array:
    """Numbers where all are; else texts, several that were chosen in one cell."""
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, (int, float)) for value in known):
        return pa.array(values)
    cells = [v if v is None else "; ".join(v) if isinstance(v, list) else str(v) for v in values]
    return pa.array(cells, pa.string())


def prepare_export(
    connection: Connection, study: Study, which: Set, only: Kind | None = None
) -> AnswerTable | pa.Table:
    """What `write_export` writes for a set, read from the database."""
    if which == "questionnaire":
        return questionnaire(connection, study)
    return collect(connection, study.kind, study.minimum, only=only)


def write_export(collected: AnswerTable | pa.Table, which: Set, path: str | Path) -> int:
    """Write a set to CSV, TSV or Parquet; the number of rows."""
    from trilens.files.output import atomic_write, write_table

    if not isinstance(collected, AnswerTable):
        table = collected
    elif which == "screens":
        table = collected.screens()
    else:
        table = collected.select(which).drop_columns("stored")
    ending = Path(str(path)).suffix.lower()
    if ending in (".csv", ".tsv") or str(path) == "-":
        cells = {name: safe_cells(values) for name, values in table.to_pydict().items()}
        if which == "screens":
            for name in ("shown", "chosen"):
                cells[name] = [json.dumps(names, ensure_ascii=False) for names in cells[name]]
        write_table(cells, path)
    elif ending == ".parquet":
        import pyarrow.parquet as pq

        with atomic_write(path) as file:
            pq.write_table(table, file, write_page_checksum=True)
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
    time = datetime.datetime.fromtimestamp(moment, datetime.UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
        if isinstance(value, str) and _FORMULA.match(value) and not _is_number(value)
        else value
        for value in values
    ]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def write_participant(connection: Connection, receipt: str, path: str | Path) -> None:
    """Write all that is stored about the participant with a receipt, as JSON."""
    from trilens.files.output import atomic_write

    known = all_about(connection, receipt)
    if known is None:
        raise SurveyError(f"no participant has the receipt {receipt!r}")
    with atomic_write(path) as file:
        file.write(json.dumps(known, ensure_ascii=False, indent=1).encode() + b"\n")
