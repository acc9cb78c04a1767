"""Small tables beside the statements: labels, groups of raters, comparisons, questions.

Their columns are known by their names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from trilens._parameters import wrong as wrong_value
from trilens.errors import FormatError, LabelError, StatementError, TrilensError, option
from trilens.files.small import SmallTable, small_table
from trilens.files.source import PathLike, one_line, open_source, quoted
from trilens.statements.columns import is_table
from trilens.statements.comparisons import Comparisons
from trilens.statements.names import is_missing, ordered_names
from trilens.statements.roles import LABELS, roles
from trilens.statements.unfold import Questions
from trilens.statements.value import shown


def _rows(
    table: SmallTable,
    columns: Mapping[str, tuple[str, ...]],
    listed: str,
    refusal: type[TrilensError] = FormatError,
) -> Iterator[tuple[list[str], int]]:
    """The wanted cells of each row as text, and the row's number in the file.

    ``columns`` are those that are wanted, each with what else it may be called, and ``listed`` the
    same in words; each must be there once.
    """
    header = [name.strip().casefold() for name in table.first]
    at = []
    for name, also in columns.items():
        called = (name, *(other for other in also if name not in header))
        at += [header.index(each) for each in called if header.count(each) == 1][:1]
    if len(at) < len(columns):
        raise refusal(
            f"{table.label}: it must have the columns {listed}, once each; "
            f"it has {one_line(', '.join(table.first), 80) or 'none'}; name its columns so"
        )
    table = table.headed()
    table.check_width(refusal)
    for cells, line in zip(table.texts(), table.lines, strict=True):
        yield [cells[i] for i in at], line


class Labels(dict[str, str]):
    """Labels by object name, with the file and the rows they came from."""

    def __init__(self, labels: Mapping[str, str], source: str, rows: Mapping[str, int]) -> None:
        super().__init__(labels)
        self.source = source
        self.rows = dict(rows)

    def place(self, name: str) -> str:
        """How a message names the row of an object."""
        return f"{self.source}, row {self.rows[name]:,}"


def read_labels(path: PathLike) -> Labels:
    """The label of each object that a label file names.

    The file is text (with a comma, tab, semicolon or space between the cells), JSON, JSON lines,
    Parquet or Arrow. It has the columns ``object`` and ``label`` (or ``class``, ``group``, ...),
    as ``cluster -o`` and ``classify -o`` write them; other columns are ignored. Objects that it
    leaves out are unlabeled.

    Raises
    ------
    LabelError
        For a missing column, an empty label, or an object with two different labels.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = file.write_text("object,label\\n44,ordinary\\n15,sports\\n")
    >>> dict(read_labels(file))
    {'44': 'ordinary', '15': 'sports'}
    """
    table = small_table(open_source(path), "a label file has the columns object,label", LabelError)
    labels: dict[str, str] = {}
    lines: dict[str, int] = {}
    for (name, given), line in _rows(table, LABELS, "object and label", LabelError):
        place = f"{table.label}, row {line:,}"
        if not name.strip():
            raise LabelError(f"{place}: the object is empty; name it or leave the row out")
        if not given.strip():
            raise LabelError(
                f"{place}: the label of object {quoted(name)} is empty; "
                f"leave the row out if the object is unlabeled"
            )
        if labels.setdefault(name, given) != given:
            raise LabelError(
                f"{place}: object {quoted(name)} has the label {quoted(given)}, but "
                f"{quoted(labels[name])} in row {lines[name]:,}; give each object one label"
            )
        lines.setdefault(name, line)
    if not labels:
        raise LabelError(
            f"{table.label} has no labels, only a header; add a row for each labeled object"
        )
    return Labels(labels, table.label, lines)


def labels_by_name(names: Sequence[str], labels: Mapping[str, str]) -> list[str | None]:
    """The label of each of these objects, in their order; None for the unlabeled.

    Labels of other objects are refused.

    >>> labels_by_name(["a", "b", "c"], {"c": "red"})
    [None, None, 'red']
    """
    if not isinstance(labels, Mapping):
        raise LabelError(
            f"labels must be a mapping from names to labels, got {one_line(repr(labels))}"
        )
    strange = next((name for name in labels if not isinstance(name, str)), None)
    if strange is not None:
        raise LabelError(
            f"labels by name need names, which are text, not {one_line(repr(strange))}; an id is "
            f"named by its digits, '0'"
        )
    known = set(names)
    unknown = [name for name in labels if name not in known]
    if unknown:
        first = unknown[0]
        if isinstance(labels, Labels):
            file, place = labels.source, labels.place(first)
        else:
            file = place = "the labels"
        if len(unknown) == len(labels):
            raise LabelError(
                f"{file}: none of the {len(labels):,} objects is in the statements, whose "
                f"objects are {shown(names)}; do the labels belong to other statements?"
            )
        raise LabelError(
            f"{place}: object {quoted(first)} is not in the statements ({len(unknown):,} of "
            f"{len(labels):,} labeled objects are unknown); leave the row out, or list the "
            f"object with {option('objects')}"
        )
    return [labels.get(name) for name in names]


def read_groups(path: PathLike, columns: str | None = None) -> dict[str, str]:
    """The group of each rater, from a table with a row for each.

    ``columns`` says where: in the groups' column (``"country"``), or in both
    (``"rater=code,group=country"``). By default ``rater`` (or another name for it) and ``group``;
    or, of two columns, the other one.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("vp,age,country\\n1,30,DE\\n2,41,FR\\n")
    >>> read_groups(file, "country")
    {'1': 'DE', '2': 'FR'}
    """
    named = dict(part.split("=", 1) for part in (columns or "").split(",") if "=" in part)
    if set(named) - {"rater", "group"}:
        raise FormatError(f"{columns}: name the columns as rater=...,group=...")
    table = small_table(open_source(path), "a table of raters has the columns rater and group")
    seen, label = table.first, table.label
    by_role = {role.name: seen[i] for i, role in reversed(roles(seen).items())}
    rater = named.get("rater", by_role.get("rater"))
    group = named.get("group", columns if columns and not named else None)
    if group is None:
        others = [name for name in seen if name != rater]
        called = [name for name in others if name.strip().casefold() == "group"]
        group = next(iter(called or others), None) if called or len(others) == 1 else None
    if rater is None or group is None:
        raise FormatError(
            f"{label}: which column names the raters, and which their groups? The columns "
            f"are {one_line(', '.join(seen), 120)}: say {label}::rater=...,group=..."
        )
    wanted = {name.strip().casefold(): () for name in (rater, group)}
    found: dict[str, str] = {}
    for cells, line in _rows(table, wanted, f"{rater} and {group}"):
        name, given = (cell.strip() for cell in cells)
        if found.setdefault(name, given) != given:
            raise FormatError(
                f"{label}, row {line:,}: rater {name!r} has two groups, "
                f"{found[name]!r} and {given!r}; give one"
            )
    return found


#: The pair that is nearer to each other, then the other one.
_PAIRS = ("near_1", "near_2", "far_1", "far_2")


def read_comparisons(path: PathLike) -> Comparisons:
    """Comparisons d(A, B) < d(C, D) from a file, four objects in each row.

    The columns are called ``near_1``, ``near_2``, ``far_1`` and ``far_2``; others are ignored.

    Raises
    ------
    FormatError, StatementError
        For any other file; the message names the row.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = file.write_text("near_1,near_2,far_1,far_2\\nred,pink,blue,yellow\\n")
    >>> C = read_comparisons(file)
    >>> C.rows.tolist(), C.names
    ([[0, 1, 2, 3]], ('red', 'pink', 'blue', 'yellow'))
    """
    table = small_table(open_source(path), "a file of comparisons has four objects in each row")
    label = table.label
    said: list[list[str]] = []
    lines: list[int] = []
    for cells, line in _rows(table, dict.fromkeys(_PAIRS, ()), ", ".join(_PAIRS)):
        four = [cell.strip() for cell in cells]
        missing = next((name for name in four if is_missing(name)), None)
        if missing is not None:
            raise StatementError(
                f"{label}, row {line:,}: the object {quoted(missing)} is missing; every "
                f"comparison has four"
            )
        said.append(four)
        lines.append(line)
    if not lines:
        raise FormatError(f"{label} has no comparisons, only a header; add a row for each")
    names = ordered_names(list(dict.fromkeys(name for four in said for name in four)))
    ids = {name: i for i, name in enumerate(names)}
    rows = np.array([[ids[name] for name in four] for four in said], dtype=np.int32)
    try:
        return Comparisons(rows, names=names)
    except StatementError as error:
        wrong = error.row or 0
        raise StatementError(
            f"{label}, row {lines[wrong]:,}: d(A,B) < d(C,D) needs two different pairs of "
            f"different objects, not {', '.join(map(quoted, said[wrong]))}"
        ) from None


#: The path of a table of questions, or the table itself.
QuestionsLike: TypeAlias = PathLike | Any


def question_table(given: QuestionsLike | Questions | None) -> Questions | None:
    """The caller's questions: a file of any format, or a table in memory.

    >>> question_table({"id": ["Q1"], "a": ["van"], "b": ["bus"], "c": ["car"]}).of
    {'Q1': ('van', 'bus', 'car')}
    """
    if given is None or isinstance(given, Questions):
        return given
    if not isinstance(given, str | os.PathLike) and not is_table(given):
        raise wrong_value("questions", given, "a file or a table")
    table = small_table(given, "a table of questions has the columns id, a, b, c").headed()
    return Questions.of_rows(table.first, table.texts(), table.label)
