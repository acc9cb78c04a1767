"""Rows whose columns are known by their roles: objects, raters, times, answers as positions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from trilens._typing import AnyArray, BoolArray, Int32Array
from trilens.errors import FormatError, StatementError
from trilens.kinds import Kind
from trilens.statements.columns import (
    SKIP_BAD,
    is_adaptive,
    is_reason,
    one_line,
    quoted,
    text_array,
    unknown_reason,
)
from trilens.statements.names import ADD_IT, FILL_IN, ObjectList, is_missing, nameless
from trilens.statements.positions import are_names, plain
from trilens.statements.roles import FIELDS
from trilens.statements.rules import Form
from trilens.statements.value import Statements, check_triples, chosen_first

#: Rows of integer names that are looked up at a time: they stay in the cache.
_PIECE = 1 << 16
#: Answers that are no objects are codes, such as keys, where they are fewer, in as many rows.
_CODES = 10
_CORRECT = "correct the row or leave it out"
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


class Wrong(NamedTuple):
    """Rows that are no statements for one reason: which, what is wrong with one, what to do."""

    rows: BoolArray
    problem: Callable[[int], str]
    remedy: str


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
    #: Which rows are asked for; None: all. The others tell of names and faults alone.
    meant: BoolArray | None = None

    def __len__(self) -> int:
        return int(self.objects.num_rows)

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
            meant=None if self.meant is None else self.meant[rows],
        )

    def chosen(self) -> BoolArray:
        """Which rows are asked for and have questions that earlier answers chose."""
        if "reason" not in self.others:
            return np.zeros(len(self), dtype=np.bool_)
        chosen: BoolArray = self.known("reason")
        return chosen if self.meant is None else chosen & self.meant

    def without(self, rows: BoolArray) -> Batch:
        """The same rows, of which some are not asked for any more."""
        if not rows.any():
            return self
        return replace(self, meant=~rows if self.meant is None else self.meant & ~rows)

    def asked_for(self) -> Batch:
        """The rows that are asked for, alone."""
        if self.meant is None:
            return self
        return replace(self.take(np.flatnonzero(self.meant)), meant=None)

    def known(self, role: str, *, strict: bool = True) -> AnyArray:
        """What a column says of each row; a wrong place is refused, or -1 if not ``strict``."""
        column = self.others[role]
        if role == "rater":
            number = pa.types.is_integer(column.type) and not column.null_count
            plain = number and not self.text_raters
            return numbers_in(column) if plain else texts_of(column, self.words)
        if role == "seconds":
            seconds = numbers_in(column) / 1000 if self.milli else numbers_in(column)
            return np.where(np.isinf(seconds), np.nan, seconds)
        if role == "place":
            return self._known_places(column, strict)
        if role == "reason":
            return self._chosen(column)
        # int64 where every cell is an integer in its plain form, text otherwise
        if pa.types.is_integer(column.type) and not column.null_count:
            return numbers_in(column).astype(np.int64, copy=False)
        at, values = parts(column)
        if len(at) and at.min() >= 0 and all(v and _INTEGER_TEXT.fullmatch(v) for v in values):
            return np.array([int(value) for value in values], dtype=np.int64)[at]
        return texts_of(column, self.words)

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
        fields: dict[str, Any] = {FIELDS[role]: self.known(role) for role in self.others}
        try:
            if self.form != "statement":
                given = ids[:, 1:] if ids.shape[1] == 4 else ids
                check_triples(given, n_objects)
                places = self._places(ids)
                if len(places) and places.min() < 0:
                    raise StatementError("an answer was not shown", row=int(places.argmin()))
                if self.form == "shown":
                    fields["places"] = places
                    given = chosen_first(given, places)
                else:
                    swapped = np.where(places[:, None] == 0, given[:, 1:], given[:, :0:-1])
                    given = np.concatenate([given[:, :1], swapped], axis=1)
            return Statements(given, n_objects, names, kind, **fields)
        except StatementError as error:
            raise error if error.row is None else self.refused(known=names or ()) from None

    def _places(self, ids: Int32Array) -> AnyArray:
        """Where among the objects to choose from the chosen one stands; -1 where it does not."""
        if self.positions is not None:
            return self.positions
        is_chosen = (ids[:, 1:] if self.form == "shown" else ids[:, 2:]) == ids[:, :1]
        return np.where(is_chosen.any(axis=1), is_chosen.argmax(axis=1), -1)

    def wrong(
        self,
        listed: ObjectList | None = None,
        stored: ObjectList | None = None,
        known: Iterable[str] = (),
    ) -> Iterator[Wrong]:
        """The rows that are no statements, reason by reason.

        ``listed`` are the caller's objects; ``stored`` the table's own, where the caller gives
        none; ``known`` are further names, which are no missing cells.
        """
        objects = stored if listed is None else listed
        names_of = () if objects is None else (*objects.names, *objects.called)
        named = frozenset((*names_of, *known))
        codes, texts = _codes(self)
        names = [*texts, ""]  # the last one serves the code -1

        def rows_with(wanted: Callable[[str], bool]) -> tuple[BoolArray, Callable[[int], str]]:
            cells = np.array([*map(wanted, names)])[codes]
            return np.asarray(cells.any(axis=1)), lambda row: names[codes[row][cells[row]][0]]

        absent, seen = rows_with(lambda text: is_missing(text) and text not in named)
        yield Wrong(absent, lambda row: nameless(seen(row), "a column of objects"), FILL_IN)
        # numbers that are no names may be lines of the list
        by_line = listed is not None and listed.keys is None and listed.may_be_numbered
        if objects is not None and not by_line:
            strange, other = rows_with(lambda text: text not in named and not is_missing(text))
            yield Wrong(strange, lambda row: objects.lacks(other(row)), ADD_IT)
        a, b, c = (codes[:, 1:] if codes.shape[1] == 4 else codes).T
        yield Wrong(
            (a == b) | (a == c) | (b == c),
            lambda row: (
                f"object {quoted(names[a[row] if a[row] in (b[row], c[row]) else b[row]])} "
                f"appears twice in one statement"
            ),
            f"a statement names three different objects; correct the row, or {SKIP_BAD}",
        )
        if codes.shape[1] == 4:
            yield self._not_shown(codes, names)
        if self.positions is not None:
            what = "the answer is not a position of an object that was shown"
            yield Wrong(self.positions < 0, lambda row: what, _CORRECT)
        if "place" in self.others:
            places = self.known("place", strict=False)
            yield Wrong(places < 0, lambda row: "the place is not 0, 1 or 2", _CORRECT)

    def _not_shown(self, codes: AnyArray, names: Sequence[str]) -> Wrong:
        """The rows whose chosen object is none of those that were shown."""
        chosen, beside = codes[:, 0], codes[:, 1:] if self.form == "shown" else codes[:, 2:]
        outside = ~(beside == chosen[:, None]).any(axis=1)
        answers = np.unique(chosen)
        if outside.all() and len(answers) < _CODES <= len(codes):
            said, few = (
                one_line(", ".join(names[code] for code in some.tolist()), 60)
                for some in (answers, np.unique(beside)[:_CODES])
            )
            as_places = "1, 2, 3 or left, middle, right" if self.form == "shown" else "1, 2"
            what = f"the answers are {said}, and none of them is an object that was shown with it"
            remedy = f"recode the answers to the names shown, {as_places}"
            return Wrong(outside, lambda row: f"{what} ({few})", remedy)
        many = "three" if self.form == "shown" else "two"

        def problem(row: int) -> str:
            among = ", ".join(quoted(names[code]) for code in beside[row].tolist())
            picked = quoted(names[chosen[row]])
            return f"the chosen object {picked} is not among the {many} shown ({among})"

        return Wrong(outside, problem, _CORRECT)

    def refused(
        self,
        listed: ObjectList | None = None,
        stored: ObjectList | None = None,
        known: Iterable[str] = (),
    ) -> StatementError:
        """The refusal of the first row that is no statement; see `wrong`."""
        every = [each for each in self.wrong(listed, stored, known) if each.rows.any()]
        first = min(every, key=lambda each: int(each.rows.argmax()))
        row = int(first.rows.argmax())
        return StatementError(
            f"{self.place(row)}: {first.problem(row)}; {first.remedy} "
            f"(rows affected: {int(first.rows.sum()):,} of {len(self):,})"
        )


def statements_of(batch: Batch, objects: ObjectList, kind: Kind) -> Statements:
    """The statements of a batch."""
    return batch.to_statements(objects.ids_of(batch), kind, objects.n_objects, objects.known_names)


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


def sound(
    batch: Batch, listed: ObjectList | None, stored: ObjectList | None
) -> tuple[Batch, list[Fault]]:
    """The rows of a batch that are statements, and what is wrong with the others.

    ``listed`` are the caller's objects; ``stored`` the table's own, where the caller gives none.
    """
    problems: dict[int, str] = {}
    for wrong in batch.wrong(listed, stored):
        for row in np.flatnonzero(wrong.rows).tolist():
            problems.setdefault(row, wrong.problem(row))
    if not problems:
        return batch, []
    bad = np.array(sorted(problems))
    cells = [[values[i] if i >= 0 else "" for i in at[bad]] for at, values in batch.texts()]
    faults = [
        Fault(batch.label or "", batch.number(row), problems[row], ",".join(content))
        for row, content in zip(bad.tolist(), zip(*cells, strict=True), strict=True)
    ]
    return batch.take(np.delete(np.arange(len(batch)), bad)), faults


def _codes(batch: Batch) -> tuple[AnyArray, dict[str, int]]:
    """A number for each name, -1 where it is missing, and the names in their order."""
    names: dict[str, int] = {}
    columns = []
    for at, values in batch.texts():
        # the last value serves the index -1 of a missing cell
        local = np.array([*(names.setdefault(v, len(names)) for v in values), -1], dtype=np.int64)
        columns.append(local[at])
    return np.stack(columns, axis=1), names


def are_chosen_by_name(batch: Batch) -> bool:
    """Whether every chosen object is one of those to choose from, by its name."""
    columns = batch.arrays() if batch.integers else list(_codes(batch)[0].T)
    first = 1 if batch.form == "shown" else 2
    return are_names(np.any([shown == columns[0] for shown in columns[first:]], axis=0))


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
    """The chosen object where it is named, and the columns of the objects, as numbers.

    A name that is missing is -1.
    """
    if batch.integers:
        columns = batch.arrays()
    else:
        codes, names = _codes(batch)
        missing = [code for name, code in names.items() if is_missing(name)]
        columns = list(np.where(np.isin(codes, missing), -1, codes).T if missing else codes.T)
    return (columns[0] if len(columns) == 4 else None), columns
