"""Rows whose columns are known by their roles: objects, raters, times, answers as positions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from trilens._typing import AnyArray, BoolArray, Int32Array
from trilens.errors import FormatError, StatementError
from trilens.kinds import Kind
from trilens.statements.columns import (
    is_adaptive,
    is_reason,
    one_line,
    quoted,
    text_array,
    unknown_reason,
)
from trilens.statements.names import ObjectList, is_missing
from trilens.statements.positions import are_names, plain
from trilens.statements.roles import FIELDS
from trilens.statements.rules import Form
from trilens.statements.value import Statements, check_triples, chosen_first

#: Rows of integer names that are looked up at a time: they stay in the cache.
_PIECE = 1 << 16
#: Answers that are no objects are codes, such as keys, where they are fewer, in as many rows.
_CODES = 10
#: The share of rows that may be catch questions.
_MOST_CHECKS = 0.2
_INTEGER_TEXT = re.compile(r"0|-?[1-9][0-9]{0,17}")


@dataclass(frozen=True)
class Fault:
    """A row that is not a statement."""

    file: str
    row: int
    problem: str
    content: str

    def __str__(self) -> str:
        return f"{place(self.file or None, self.row)}: {self.problem}"


def place(label: str | None, number: int) -> str:
    """How a message names a row."""
    return f"statement {number}" if label is None else f"{label}, row {number:,}"


def row_error(label: str | None, number: int, problem: str) -> FormatError | StatementError:
    """The refusal of a row for a cell that holds nothing of the kind that it should."""
    text = f"{place(label, number)}: {problem}"
    return StatementError(text) if label is None else FormatError(text)


@dataclass(frozen=True)
class Batch:
    """Some rows whose columns are known by their roles.

    ``objects`` has the columns ``object_0`` ... ``object_2`` (or ``object_3``: the chosen one
    and the three shown; or the chosen one, the anchor and the two beside it), either all
    integers or all dictionaries of text, without nulls. ``others`` has the columns of roles such
    as ``rater``, ``extra`` further columns by their names.
    """

    objects: Any
    label: str | None
    number: Callable[[int], int]
    others: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    form: Form = "statement"
    #: Where the chosen object stood among those shown, where answers are positions; -1: nowhere.
    positions: AnyArray | None = None
    #: Whether times are in ms, whether NA and its like are missing, whether raters are text.
    milli: bool = False
    words: bool = False
    text_raters: bool = True
    #: The words for questions that were asked at random, where the file has its own.
    random_words: tuple[str, ...] = ()

    def __len__(self) -> int:
        return int(self.objects.num_rows)

    @property
    def n_columns(self) -> int:
        """The columns that name objects."""
        return int(self.objects.num_columns)

    @property
    def integers(self) -> bool:
        """Whether the names are integers."""
        return bool(pa.types.is_integer(self.objects.schema.field(0).type))

    def as_text(self) -> Batch:
        """The same rows with names that are text."""
        if not self.integers:
            return self
        texts = [column.cast(pa.string()).dictionary_encode() for column in self.objects.columns]
        return replace(self, objects=pa.table(texts, self.objects.column_names))

    def texts(self) -> list[tuple[AnyArray, Sequence[str]]]:
        """For each column that names objects, ``(m,)`` positions in a list of names."""
        return [parts(column) for column in self.as_text().objects.columns]

    def arrays(self) -> list[AnyArray]:
        """Integer names as arrays, without a copy where they are of one piece."""
        return [numbers_in(column) for column in self.objects.columns]

    def pieces(self) -> Iterator[tuple[int, list[AnyArray]]]:
        """Integer names as arrays, a few thousand rows at a time, and where each piece begins."""
        start = 0
        for rows in self.objects.to_batches(max_chunksize=_PIECE):
            yield start, [numbers_in(column) for column in rows.columns]
            start += rows.num_rows

    def place(self, row: int) -> str:
        """How a message names a row of this batch."""
        return place(self.label, self.number(row))

    def take(self, rows: AnyArray) -> Batch:
        """Some of the rows."""
        number = self.number
        return replace(
            self,
            objects=self.objects.take(rows),
            number=lambda row: number(int(rows[row])),
            others={name: column.take(rows) for name, column in self.others.items()},
            extra={name: column.take(rows) for name, column in self.extra.items()},
            positions=None if self.positions is None else self.positions[rows],
        )

    def at_random(self) -> Batch:
        """The rows whose questions were not chosen by earlier answers."""
        chosen = self.known("reason") if "reason" in self.others else np.zeros(0, dtype=np.bool_)
        return self.take(np.flatnonzero(~chosen)) if chosen.any() else self

    def known(self, role: str, *, strict: bool = True) -> AnyArray:
        """What a column says of each row; a wrong place is refused, or -1 if not ``strict``."""
        column = self.others[role]
        if role == "rater":
            number = pa.types.is_integer(column.type) and not column.null_count
            plain = number and not self.text_raters
            return numbers_in(column) if plain else texts_of(column, self.words)
        if role == "seconds":
            return numbers_in(column) / 1000 if self.milli else numbers_in(column)
        if role == "place":
            return self._known_places(column, strict)
        if role == "reason":
            return self._chosen(column)
        return _integers_or_text(column, self.words)

    def fields(self, *, strict: bool = True) -> dict[str, AnyArray]:
        """What is known of each row, by the fields of `Statements`."""
        return {FIELDS[role]: self.known(role, strict=strict) for role in self.others}

    def _chosen(self, column: Any) -> AnyArray:
        """Whether each question was chosen by earlier answers; a missing reason is none."""
        at, values = parts(column)
        if self.random_words:
            known = ("", *self.random_words)
            return np.array([*(v.strip() not in known for v in values), False])[at]
        strange = np.array([*(not is_missing(v) and not is_reason(v) for v in values), False])[at]
        if strange.any():
            row = int(strange.argmax())
            raise row_error(
                self.label,
                self.number(row),
                f"{unknown_reason(values[at[row]])}: correct it or rename the column",
            )
        return np.array([*map(is_adaptive, values), False])[at]

    def _known_places(self, column: Any, strict: bool) -> AnyArray:
        at, values = parts(column)
        # the last value serves the index -1 of a missing cell
        known = np.array([*({"0": 0, "1": 1, "2": 2}.get(plain(v), -1) for v in values), -1])
        places = known[at]
        if len(places) and places.min() < 0 and strict:
            row = int(places.argmin())
            cell = values[at[row]] if at[row] >= 0 else ""
            seen = quoted(cell) if cell else "an empty cell"
            raise row_error(
                self.label,
                self.number(row),
                f"{seen} in column place; it says where on the screen the "
                f"chosen object stood, 0, 1 or 2: correct it or rename the column",
            )
        return places

    def to_statements(
        self,
        ids: Int32Array,
        kind: Kind,
        n_objects: int,
        names: tuple[str, ...] | None,
    ) -> Statements:
        """Statements of rows whose objects have become ids: three, or one chosen of three shown."""
        given = ids
        fields: dict[str, Any] = self.fields()
        try:
            if self.form != "statement":
                given = ids[:, 1:] if ids.shape[1] == 4 else ids
                check_triples(given, n_objects)
                places = self._places(ids, names)
                if self.form == "shown":
                    fields["places"] = places
                    given = chosen_first(given, places)
                else:
                    swapped = np.where(places[:, None] == 0, given[:, 1:], given[:, :0:-1])
                    given = np.concatenate([given[:, :1], swapped], axis=1)
            return Statements(given, n_objects, names, kind, **fields)
        except StatementError as error:
            if error.row is None:
                raise
            raise self.repeated(given, error.row, names) from None

    def repeated(self, ids: Int32Array, row: int, names: tuple[str, ...] | None) -> StatementError:
        """The refusal of a row that names an object twice."""
        x, y, z = ids[row].tolist()
        a, b, c = ids.T
        n_bad = int(((a == b) | (a == c) | (b == c)).sum())
        return StatementError(
            f"{self.place(row)}: object {_name(x if x in (y, z) else y, names)} appears twice in "
            f"one statement; a statement names three different objects "
            f"(rows affected: {n_bad:,} of {len(ids):,})"
        )

    def _places(self, ids: Int32Array, names: tuple[str, ...] | None) -> AnyArray:
        """Where among the objects to choose from the chosen one stands."""
        if self.positions is not None:
            wrong = self.positions < 0
            if wrong.any():
                raise StatementError(
                    f"{self.place(int(wrong.argmax()))}: the answer is not a position of an object "
                    f"that was shown; correct the row or leave it out "
                    f"(rows affected: {int(wrong.sum()):,} of {len(ids):,})"
                )
            return self.positions
        chosen, shown = ids[:, 0], ids[:, 1:] if self.form == "shown" else ids[:, 2:]
        is_chosen = shown == chosen[:, None]
        outside = ~is_chosen.any(axis=1)
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            among = ", ".join(_name(i, names) for i in shown[row].tolist())
            answers = np.unique(chosen)
            if outside.all() and len(answers) < _CODES <= len(ids):
                said, few = (
                    one_line(", ".join(names[i] if names else str(i) for i in ids_.tolist()), 60)
                    for ids_ in (answers, np.unique(shown)[:_CODES])
                )
                as_places = "1, 2, 3 or left, middle, right" if self.form == "shown" else "1, 2"
                raise StatementError(
                    f"{self.place(row)}: the answers are {said}, and none of them is an object "
                    f"that was shown with it ({few}); recode the answers to the names shown, "
                    f"{as_places} (all {len(ids):,} rows are affected)"
                )
            raise StatementError(
                f"{self.place(row)}: the chosen object {_name(int(chosen[row]), names)} is not "
                f"among the {'three' if self.form == 'shown' else 'two'} shown ({among}); correct "
                f"the row or leave it out "
                f"(rows affected: {int(outside.sum()):,} of {len(ids):,})"
            )
        return np.asarray(is_chosen.argmax(axis=1))


def statements_of(batch: Batch, objects: ObjectList, kind: Kind) -> Statements:
    """The statements of a batch."""
    return batch.to_statements(objects.ids_of(batch), kind, objects.n_objects, objects.known_names)


def _name(identity: int, names: tuple[str, ...] | None) -> str:
    return quoted(str(identity) if names is None else names[identity])


def numbers_in(column: Any) -> AnyArray:
    """Numbers as an array, NaN where missing, without a copy where they are of one piece."""
    if column.null_count:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    # `to_numpy` imports pandas, wherever that is installed, and a third of a second is gone
    pieces = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    arrays = [np.from_dlpack(piece) for piece in pieces]
    return arrays[0] if len(arrays) == 1 else np.concatenate([np.empty(0, np.int64), *arrays])


def parts(column: Any) -> tuple[AnyArray, list[str]]:
    """``(m,)`` indices and the values of a dictionary column (or of text, encoded)."""
    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.large_string()).dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], column.type)
    indices = whole.indices.fill_null(-1) if whole.null_count else whole.indices
    return numbers_in(indices), whole.dictionary.to_pylist()


def texts_of(column: Any, words: bool = False) -> AnyArray:
    """A column as an array of str, empty where missing; ``words``: also where it says NA."""
    at, values = parts(column)
    if words:  # blanks in quotes are a text of their own
        values = [
            "" if value and value.strip() and is_missing(value) else value for value in values
        ]
    # the last value serves the index -1 of a missing cell
    return text_array([*(value or "" for value in values), ""])[at]


def _integers_or_text(column: Any, words: bool) -> AnyArray:
    """int64 where every cell is an integer in its plain form, text otherwise."""
    if pa.types.is_integer(column.type) and not column.null_count:
        return numbers_in(column).astype(np.int64, copy=False)
    at, values = parts(column)
    if len(at) and at.min() >= 0 and all(v and _INTEGER_TEXT.fullmatch(v) for v in values):
        return np.array([int(value) for value in values], dtype=np.int64)[at]
    return texts_of(column, words)


def sound(
    batch: Batch, listed: ObjectList | None, stored: ObjectList | None
) -> tuple[Batch, list[Fault]]:
    """The rows of a batch that are statements, and what is wrong with the others.

    ``listed`` are the caller's objects; ``stored`` the table's own, where the caller gives none.
    """
    objects = stored if listed is None else listed
    known = frozenset(() if objects is None else (*objects.names, *objects.called))
    # numbers that are no names may be lines of the list
    by_line = listed is not None and listed.keys is None and listed.may_be_numbered
    allowed = None if objects is None or by_line else known
    codes, texts = _codes(batch)
    missing = [code for text, code in texts.items() if is_missing(text) and text not in known]
    unknown = [
        code
        for text, code in texts.items()
        if allowed is not None and text not in allowed and not is_missing(text)
    ]
    names = list(texts)
    problems: dict[int, str] = {}

    def mark(wrong: Any, problem: Callable[[int], str]) -> None:
        for row in np.flatnonzero(wrong).tolist():
            problems.setdefault(row, problem(row))

    absent = (codes < 0) | np.isin(codes, missing)
    mark(absent.any(axis=1), lambda row: "an object is missing")
    strange = np.isin(codes, unknown)
    mark(
        strange.any(axis=1),
        lambda row: f"object {quoted(names[codes[row][strange[row]][0]])} is not in the list",
    )
    a, b, c = (codes[:, 1:] if codes.shape[1] == 4 else codes).T
    mark((a == b) | (a == c) | (b == c), lambda row: "an object appears twice")
    if codes.shape[1] == 4:
        beside = codes[:, 1:] if batch.form == "shown" else codes[:, 2:]
        mark(
            ~(beside == codes[:, :1]).any(axis=1),
            lambda row: (
                f"the chosen object {quoted(names[codes[row, 0]])} was not among the choices"
            ),
        )
    if batch.positions is not None:
        mark(batch.positions < 0, lambda row: "the answer is not a position")
    if "place" in batch.others:
        mark(batch.known("place", strict=False) < 0, lambda row: "the place is not 0, 1 or 2")
    if not problems:
        return batch, []
    faults = [
        Fault(
            batch.label or "",
            batch.number(row),
            problem,
            ",".join(names[code] if code >= 0 else "" for code in codes[row]),
        )
        for row, problem in sorted(problems.items())
    ]
    kept = np.ones(len(batch), dtype=np.bool_)
    kept[list(problems)] = False
    return batch.take(np.flatnonzero(kept)), faults


def _codes(batch: Batch) -> tuple[AnyArray, dict[str, int]]:
    """A number for each name, -1 where it is missing, and the names in their order."""
    names: dict[str, int] = {}
    columns = []
    for at, values in batch.texts():
        # the last value serves the index -1 of a missing cell
        local = np.array([*(names.setdefault(v, len(names)) for v in values), -1], dtype=np.int64)
        columns.append(local[at])
    return np.stack(columns, axis=1), names


def named_codes(batch: Batch) -> list[AnyArray]:
    """For each column of objects a number for each name, -1 where it is missing."""
    codes, names = _codes(batch)
    missing = [code for name, code in names.items() if is_missing(name)]
    if missing:
        codes = np.where(np.isin(codes, missing), -1, codes)
    return list(codes.T)


def are_chosen_by_name(batch: Batch) -> bool:
    """Whether every chosen object is one of those to choose from, by its name."""
    first = 1 if batch.form == "shown" else 2
    if batch.integers:
        columns = batch.arrays()
    else:
        columns = list(_codes(batch)[0].T)
    found = np.zeros(len(batch), dtype=np.bool_)
    for shown in columns[first:]:
        found |= shown == columns[0]
    return are_names(found)


def distinct(column: Any) -> list[str]:
    """The different values of a column, as text."""
    values = column.unique()
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return [value for value in values.cast(pa.string()).to_pylist() if value is not None]


# catch questions: an object is shown twice, so that everybody knows the right answer; few such
# rows are set aside as checks of who answered them, and where many are, the columns hold something
# else


@dataclass(frozen=True, eq=False)
class Checks:
    """The answers to catch questions.

    Attributes
    ----------
    right : (n,) array of int8
        1 where the answer was right, 0 where it was wrong, -1 where either would do: two
        copies of the same object were offered beside another one.
    raters : (n,) array of str or None
    """

    right: AnyArray
    raters: AnyArray | None = None

    def __len__(self) -> int:
        return len(self.right)

    def __str__(self) -> str:
        """In one line, for a note.

        >>> print(Checks(np.array([1, 1, 0, -1])))
        4 rows show an object twice and count as test questions (67 % right)
        """
        known = self.right[self.right >= 0]
        share = f" ({100 * known.mean():.0f} % right)" if len(known) else ""
        if len(self) == 1:
            return f"1 row shows an object twice and counts as a test question{share}"
        return f"{len(self):,} rows show an object twice and count as test questions{share}"

    def by_rater(self) -> dict[str, tuple[int, int]]:
        """How many checks each rater answered rightly, and of how many.

        >>> Checks(np.array([1, 0, 1, -1]), np.array(["a", "a", "b", "b"])).by_rater()
        {'a': (1, 2), 'b': (1, 1)}
        """
        found: dict[str, tuple[int, int]] = {}
        if self.raters is None:
            return found
        for rater, right in zip(self.raters.tolist(), self.right.tolist(), strict=True):
            if right >= 0 and rater != "":
                good, asked = found.get(str(rater), (0, 0))
                found[str(rater)] = (good + right, asked + 1)
        return found

    def failed(self, least: float) -> list[str]:
        """The raters who answered a smaller share of their checks rightly."""
        return [who for who, (good, asked) in self.by_rater().items() if good < least * asked]

    def without(self, raters: Iterable[object]) -> Checks:
        """The checks of the other raters.

        >>> Checks(np.array([1, 0, 1]), np.array(["a", "a", "b"])).without(["a"]).by_rater()
        {'b': (1, 1)}
        """
        if self.raters is None:
            return self
        gone = {str(rater) for rater in raters}
        kept = np.array([str(rater) not in gone for rater in self.raters.tolist()], dtype=np.bool_)
        return Checks(self.right[kept], self.raters[kept])

    @classmethod
    def joined(cls, parts: Iterable[Checks]) -> Checks | None:
        """The checks of several tables."""
        every = list(parts)
        if not every:
            return None
        raters = None
        if all(part.raters is not None for part in every):
            raters = text_array([str(x) for part in every for x in part.raters])  # type: ignore[union-attr]
        return cls(np.concatenate([part.right for part in every]), raters)


def set_aside(batch: Batch) -> tuple[Batch, Batch | None]:
    """The rows that are no catch questions, and those that are; None where none is, or many are."""
    columns = _numbered(batch)[1]
    a, b, c = columns[-3:]
    twice: BoolArray = np.asarray(((a == b) | (a == c) | (b == c)) & (a >= 0) & (b >= 0) & (c >= 0))
    n = int(np.count_nonzero(twice))
    if not n or n > _MOST_CHECKS * len(batch):
        return batch, None
    return batch.take(np.flatnonzero(~twice)), batch.take(np.flatnonzero(twice))


def checks_of(batch: Batch, kind: Kind) -> Checks:
    """How the catch questions of a batch were answered."""
    chosen, columns = _numbered(batch)
    a, b, c = columns[-3:]
    alike = (a == b) & (b == c)
    if batch.form == "pair":
        picked = np.where(batch.positions == 0, b, c) if chosen is None else chosen
        right = np.where(b == c, -1, picked == a)
    elif kind == "closer":
        right = np.where(b == c, -1, a == b)
    else:
        if batch.form == "shown":
            shown = np.stack([a, b, c], axis=1)
            places = np.clip(batch.positions, 0, 2) if batch.positions is not None else None
            picked = shown[np.arange(len(a)), places] if chosen is None else chosen
        else:
            picked = a
        same = np.where(b == c, b, a)
        right = (picked == same) if kind == "central" else (picked != same)
    right = np.where(alike, -1, right).astype(np.int8)
    raters = batch.known("rater") if "rater" in batch.others else None
    return Checks(right, raters)


def _numbered(batch: Batch) -> tuple[AnyArray | None, list[AnyArray]]:
    """The chosen object where it is named, and the columns of the objects, as numbers."""
    columns = batch.arrays() if batch.integers else named_codes(batch)
    return (columns[0] if len(columns) == 4 else None), columns
