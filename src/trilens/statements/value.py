"""The frozen value `Statements`, and what makes a statement valid."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import is_whole, shown as printed, whole_number
from trilens._tabular import counted
from trilens._typing import AnyArray, BoolArray, FloatArray, Int32Array, IntArray, RandomState
from trilens.errors import (
    AssumedKindWarning,
    KindError,
    MissingExtraError,
    ParameterError,
    StatementError,
    TrilensError,
    callers_level,
)
from trilens.kinds import (
    KINDS as KINDS,
    Kind as Kind,
    check_kind as check_kind,
    columns as kind_columns,
    require_kind as require_kind,
)
from trilens.statements.columns import (
    TAKEN,
    are_whole,
    as_array,
    as_written,
    checked_field as checked_field,
    is_missing,
    is_table,
    none_at_random,
    refuse_strange,
    same_column,
)
from trilens.statements.names import (
    CheckedNames as CheckedNames,
    ObjectList,
    is_integer,
    shown as shown,
)
from trilens.statements.roles import FIELDS

if TYPE_CHECKING:
    import pandas as pd

    from trilens.statements.layout import ColumnsLike
    from trilens.statements.objects import Objects
    from trilens.statements.summary import Summary


class SpeaksArrow(Protocol):
    """A table of pandas, polars, pyarrow or any other package with the Arrow C interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table as a stream of record batches."""


StatementTable: TypeAlias = SpeaksArrow | Mapping[str, Any] | Sequence[Mapping[str, Any]]

#: What is known of each statement besides its objects.
COLUMNS = tuple(FIELDS.values())

#: Rows checked at a time: the temporaries of a check stay in the cache and out of the peak memory.
_CHUNK = 1 << 18
_MAX_OBJECTS = np.iinfo(np.int32).max

#: What each place puts first: the object there, then the two others in their order.
CHOSEN_FIRST = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])


def chosen_first(shown: AnyArray, places: AnyArray) -> AnyArray:
    """``(m, 3)`` objects with the one at each row's place (0, 1, 2) first."""
    return np.take_along_axis(shown, CHOSEN_FIRST[places], axis=1)


def check_ids(triples: AnyArray, n_objects: int) -> None:
    """Raise `StatementError` at the first row with an id that is not in range."""
    if not triples.size or (triples.min() >= 0 and triples.max() < n_objects):
        return
    outside = (triples < 0) | (triples >= n_objects)
    row = int(np.flatnonzero(outside.any(axis=1))[0])
    seen = int(triples[row][outside[row]][0])
    what = "is negative" if seen < 0 else f"is not below n_objects = {n_objects}"
    raise StatementError(f"object id {seen} {what}; ids go from 0 to {n_objects - 1}", row=row)


def check_triples(triples: AnyArray, n_objects: int, names: Sequence[str] | None = None) -> None:
    """Raise `StatementError` at the first row that is not three different ids in range."""
    check_ids(triples, n_objects)
    for start in range(0, len(triples), _CHUNK):
        part = triples[start : start + _CHUNK]
        a, b, c = part[:, 0], part[:, 1], part[:, 2]
        twice = (a == b) | (a == c) | (b == c)
        if twice.any():
            row = int(np.flatnonzero(twice)[0])
            x, y, z = part[row].tolist()
            twin = x if x in (y, z) else y
            raise StatementError(
                f"object {twin if names is None else repr(names[twin])} appears twice in one "
                f"statement; a statement names three different objects",
                row=start + row,
            )


def rows_by_name(
    columns: Sequence[AnyArray], names: Iterable[str] | None
) -> tuple[AnyArray, CheckedNames]:
    """Three columns of names as ``(m, 3)`` ids, and the name of each object.

    Without ``names``, they are in the order in which they are first met.
    """
    for column in columns:
        _refuse_nameless(column)
    cells = list(zip(*([str(x) for x in column.tolist()] for column in columns), strict=True))
    if names is None:
        listed = CheckedNames(dict.fromkeys(name for row in cells for name in row))
    else:
        listed = CheckedNames.of(names)
    number = {name: i for i, name in enumerate(listed)}
    ids = np.array([[number.get(name, -1) for name in row] for row in cells], dtype=np.int32)
    if ids.min() < 0:
        row, j = np.argwhere(ids < 0)[0].tolist()
        raise StatementError(
            f"no object is named {printed(cells[row][j])}; names= has {len(listed):,} others",
            row=row,
        )
    return ids, listed


def _refuse_nameless(column: AnyArray) -> None:
    """Names are text or whole numbers; anything else is refused with its row."""
    for row, value in enumerate(column.tolist()):
        if not (is_whole(value) or (isinstance(value, str) and value.strip())):
            missing = is_missing(value) or isinstance(value, str)
            what = "a missing value" if missing else printed(value)
            raise StatementError(
                f"{what} does not name an object; objects are text or whole numbers", row=row
            )


#: What to do about rows of three objects, which do not say what was asked.
UNTOLD = (
    "an array does not say which question was asked; give kind='central' or kind='odd' where the "
    "chosen object stands first, kind='closer' for rows of (anchor, near, far), as in "
    "Statements(array, kind='central')"
)
#: Where to go with what is no answer.
_POINTS = "trilens.exact takes points with metric=, and matrices of dissimilarities"


def id_array(triples: Any, names: Iterable[str] | None) -> tuple[AnyArray, Iterable[str] | None]:
    """``(m, 3)`` ids, and the names, which rows of names bring with them."""
    refuse_strange(triples)
    try:
        array = as_array(triples, "the statements")
    except ParameterError as error:
        raise StatementError(f"{error}; they are an (m, 3) array of object ids") from None
    if array.ndim == 0:
        raise StatementError(
            f"expected statements, got {printed(triples)} of type {type(triples).__name__}; {TAKEN}"
        )
    if array.size == 0 and array.ndim <= 2:
        return np.empty((0, 3), dtype=np.int32), names
    if array.ndim != 2 or array.shape[1] != 3:
        meant = ""
        if array.shape == (3,):
            meant = "; a single statement is [[a, b, c]]"
        elif array.dtype.kind == "f" or (array.ndim == 2 and len(array) == array.shape[1]):
            meant = f"; {_POINTS}"
        raise StatementError(
            f"statements must be an (m, 3) array of object ids, got shape {array.shape}{meant}"
        )
    if array.dtype.kind == "O" and all(map(is_whole, array.ravel().tolist())):
        array = np.array(array.tolist())
    if array.dtype.kind in "UO":
        if array.dtype.kind == "U" and not isinstance(triples, np.ndarray):
            array = np.array([list(row) for row in triples], dtype=object)  # numbers beside text
        return rows_by_name(list(array.T), names)
    if array.dtype.kind not in "iu":
        if array.dtype.kind != "f" or not are_whole(array):
            raise StatementError(
                f"objects must be whole numbers (ids) or text (names), got {array.dtype}"
                + (" with NaN or fractions" if array.dtype.kind == "f" else "")
                + (f"; {_POINTS}" if array.dtype.kind == "f" and np.isfinite(array).all() else "")
            )
        array = array.astype(np.int64)
    return array, names


def count_objects(triples: AnyArray, n_objects: int | None, names: CheckedNames | None) -> int:
    """The number of objects, and that it can be."""
    if n_objects is not None:
        n = whole_number("n_objects", n_objects, most=_MAX_OBJECTS)
        if names is not None and len(names) != n:
            raise ParameterError(f"n_objects is {n}, but there are {len(names)} names")
    elif names is not None:
        n = len(names)
        top = int(triples.max()) if len(triples) else -1
        if top >= n:
            raise ParameterError(
                f"there are {n:,} names, but the statements have ids up to {top}; give a name "
                f"for each of at least {top + 1:,} objects, in the order of their ids",
                parameter="names",
            )
    else:
        n = int(triples.max()) + 1 if len(triples) else 0
    if n > _MAX_OBJECTS:
        raise ParameterError(f"at most {_MAX_OBJECTS:,} objects, not {n:,}")
    return n


def refuse_answers(y: Any, given: Any, statements: Any) -> None:
    """Refuse a ``y`` that would be ignored, unless it holds a label for each object.

    Labels pass because a Pipeline hands them to every step; a map needs none. ``given`` is what
    the caller gave as statements: a part of the objects has a part of the labels.
    """
    if y is None:
        return
    m = len(statements)
    size = len(y) if hasattr(y, "__len__") and getattr(y, "shape", None) != () else None
    of_objects = given is not statements and hasattr(given, "statements")
    n = len(given) if of_objects else statements.n_objects
    if size == n and (of_objects or size != m):
        return
    raise ParameterError(
        f"y is {printed(y, 40)} and would be ignored: statements hold their answers. "
        f"Statements.from_responses(X, y) makes statements of questions and answers"
    )


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Statements:
    """Answers about triples of objects.

    A statement names three different objects. What its order means is the ``kind``:

    - ``"central"``: the first object is the most central of the three (the paper's (★));
    - ``"odd"``: the first object is the odd one out (the paper's (⊞));
    - ``"closer"``: a similarity triplet ``(anchor, near, far)``.

    Statements may repeat and contradict each other.

    Parameters
    ----------
    triples : (m, 3) array of int, rows of names, or a table
        Object ids, ``0 <= id < n_objects``. An ``int32`` array is not copied: it belongs to the
        statements from then on and must not be changed. Or rows of three names, such as a list
        of tuples of text. Or a pandas, polars or Arrow table (or a dict of columns) that has
        the columns of a statement file: ``central`` (or ``odd``), ``other_1``, ``other_2``, or
        ``anchor``, ``near``, ``far``, or ``chosen``, ``shown_1``, ``shown_2``, ``shown_3``
        (or ``anchor``, ``chosen`` and two shown), and perhaps ``rater``, ``round``, ``seconds``;
        its objects are names, integers too, as in a file. What was chosen may also be a
        position: 0, 1, 2 or 1, 2, 3, or left, middle, right. A table whose columns have no names
        (``DataFrame(array)``) is an array.
    n_objects : int, optional
        By default the number of names or, without names, the largest id plus one. Where it is
        not the number of integers that a table has as names, these are ids, as in an array.
    names : sequence of str, optional
        A name for each object; by default ``"0"``, ``"1"``, ... or, where the statements hold
        names, these: integers in their order, others as they are first met.
    kind : {"central", "odd", "closer"}, optional
        What the columns of a table say, where they do. Rows and arrays do not: give it. Without,
        ``"central"`` is assumed, with an `AssumedKindWarning`; questions refuse bare arrays.
    raters, rounds : (m,) array, optional
        Who answered, and in which round: whole numbers or text. Where one is missing (None,
        NaN, ``pandas.NA``) all become text, and the missing one is the empty text, which is
        nobody: it counts as an answer, and not as a rater.
    seconds : (m,) array of float, optional
        How long the answer took; NaN where that is not known. Infinite counts as not known.
    places : (m,) array of int, optional
        Where among the three objects on the screen the singled-out one stood: 0, 1 or 2.
    questions : (m,) array, optional
        The question that each statement comes from, where one question gave several; see
        `from_questions`.
    columns : str or dict, optional
        Of a table: what its columns hold, as in `read_statements`.
    chosen : (m,) array of bool, optional
        Whether the question was chosen by earlier answers, as `next_questions` does; in files
        the column ``reason``, whose value is then ``adaptive``. None where no question was. What
        is counted uses the others only: see `at_random`.

    Examples
    --------
    >>> S = Statements(
    ...     [[0, 1, 2], [0, 1, 3], [2, 0, 3]], names=["a", "b", "c", "d"], kind="central"
    ... )
    >>> S
    Statements(3 statements about 4 objects, kind='central')
    >>> S.subset(["a", "b", "c"]).triples.tolist()
    [[0, 1, 2]]
    >>> S == Statements([("a", "b", "c"), ("a", "b", "d"), ("c", "a", "d")], kind="central")
    True
    >>> S[0], S[1:]
    (('a', 'b', 'c'), Statements(2 statements about 4 objects, kind='central'))
    """

    triples: Int32Array
    n_objects: int
    kind: Kind
    raters: AnyArray | None
    rounds: AnyArray | None
    seconds: FloatArray | None
    places: AnyArray | None
    questions: AnyArray | None
    chosen: AnyArray | None
    _names: CheckedNames | None

    def __init__(
        self,
        triples: ArrayLike | StatementTable,
        n_objects: int | None = None,
        names: Iterable[str] | None = None,
        kind: Kind | None = None,
        raters: ArrayLike | None = None,
        rounds: ArrayLike | None = None,
        seconds: ArrayLike | None = None,
        places: ArrayLike | None = None,
        questions: ArrayLike | None = None,
        columns: ColumnsLike | None = None,
        chosen: ArrayLike | None = None,
    ) -> None:
        if kind is not None:
            check_kind(kind)
        if columns is not None and not is_table(triples):
            raise ParameterError("only a table has columns; rows are three objects in their order")
        if kind is None and isinstance(triples, Statements):
            kind = triples.kind
        own_fields = (raters, rounds, seconds, places, questions, chosen)
        fields = dict(zip(COLUMNS, own_fields, strict=True))
        is_frame = not isinstance(triples, np.ndarray) and is_table(triples)
        bare = None
        if is_frame and columns is None:
            from trilens.statements.frames import bare_rows

            bare = bare_rows(triples)
        if is_frame and bare is None:
            told = _of_table(triples, kind, names, columns)
            kind, given, names = told.kind, told.triples, told._names
            if n_objects is None:
                n_objects = told.n_objects
            elif n_objects != told.n_objects and all(map(is_integer, told.names)):
                # so many objects have ids, and these are the integers in the table
                given, names = np.array(list(map(int, told.names)))[given], None
            fields = {
                name: getattr(told, name) if own is None else own for name, own in fields.items()
            }
        else:
            given, names = id_array(triples if bare is None else bare, names)
            if kind is None and len(given):
                from trilens.statements.reading import assumed_kind

                text = str(TrilensError(f"an array of three columns: {assumed_kind('central')}"))
                warnings.warn(text, AssumedKindWarning, stacklevel=callers_level())
        kind = "central" if kind is None else kind
        named = None if names is None else CheckedNames.of(names)
        n = count_objects(given, n_objects, named)
        check_triples(given, n, named)
        ids = np.ascontiguousarray(given, dtype=np.int32).view()
        ids.flags.writeable = False
        m = len(ids)
        set_field = object.__setattr__
        set_field(self, "triples", ids)
        set_field(self, "n_objects", n)
        set_field(self, "kind", kind)
        for name, values in fields.items():
            set_field(self, name, checked_field(name, values, m))
        set_field(self, "_names", named)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each object."""
        if self._names is not None:
            return self._names
        return tuple(map(str, range(self.n_objects)))

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each name."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def connected_parts(self) -> IntArray:
        """The connected part of each object, (n,) int64; 0 is the largest.

        Two objects that a statement names are connected.

        >>> Statements([[0, 1, 2], [3, 4, 5], [2, 6, 7]], kind="central").connected_parts.tolist()
        [0, 0, 0, 1, 1, 1, 0, 0]
        """
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        T, n = self.triples, self.n_objects
        start, end = np.concatenate([T[:, 0], T[:, 1]]), np.concatenate([T[:, 1], T[:, 2]])
        joined = coo_array((np.ones(len(start), dtype=np.int8), (start, end)), shape=(n, n))
        _, part = connected_components(joined, directed=False)
        order = np.argsort(-np.bincount(part), kind="stable") if n else np.arange(0)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return np.asarray(rank[part], dtype=np.int64)

    @cached_property
    def appearances(self) -> IntArray:
        """How many statements name each object, (n,) int64.

        >>> Statements([[0, 1, 2], [0, 1, 3]], n_objects=5, kind="central").appearances.tolist()
        [2, 2, 1, 1, 0]
        """
        counted = np.bincount(self.triples.ravel(), minlength=self.n_objects).astype(np.int64)
        counted.flags.writeable = False
        return counted

    def __len__(self) -> int:
        return len(self.triples)

    @property
    def shape(self) -> tuple[int, int]:
        """``(m, 3)``: scikit-learn divides into parts what has a shape."""
        return len(self), 3

    def __repr__(self) -> str:
        told = f"{counted(len(self), 'statement')} about {counted(self.n_objects, 'object')}"
        return f"Statements({told}, kind={self.kind!r})"

    @overload
    def __getitem__(self, rows: SupportsIndex) -> tuple[str, str, str]: ...
    @overload
    def __getitem__(self, rows: ArrayLike | slice | tuple[Any, ...]) -> Statements: ...
    def __getitem__(self, rows: Any) -> tuple[str, str, str] | Statements:
        """One statement as its three names, or the statements at a slice, a mask or a list."""
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]  # scikit-learn's way to ask for rows
        if isinstance(rows, slice):
            return self.take(np.arange(len(self))[rows])
        if is_whole(rows):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"row {rows:,} of {len(self):,} statements")
            a, b, c = self.triples[rows].tolist()
            return self.names[a], self.names[b], self.names[c]
        return self.take(rows)

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        """Each statement as its three names: ``Statements(list(S), kind=S.kind)`` equals S.

        (Where every object is named, and in an order that the names tell.)
        """
        names = self.names
        for a, b, c in self.triples.tolist():
            yield names[a], names[b], names[c]

    def __eq__(self, other: object) -> bool:
        """The same statements in the same order about the same objects, and all else the same."""
        if not isinstance(other, Statements):
            return NotImplemented
        return (
            self.kind == other.kind
            and self.n_objects == other.n_objects
            and np.array_equal(self.triples, other.triples)
            and (self._names is other._names or self.names == other.names)
            and all(same_column(getattr(self, name), getattr(other, name)) for name in COLUMNS)
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.n_objects, len(self), self.triples[:64].tobytes()))

    @property
    def objects(self) -> Objects:
        """The objects one by one, for scikit-learn's cross-validation; see `Objects`."""
        from trilens.statements.objects import Objects

        return Objects(self)

    def to_arrow(self) -> Any:
        """The statements as a ``pyarrow.Table`` with the columns of a statement file.

        The kind and all names are in its metadata, so ``Statements(S.to_arrow()) == S``.

        >>> Statements([("a", "b", "c")], raters=["x"], kind="central").to_arrow().to_pylist()
        [{'central': 'a', 'other_1': 'b', 'other_2': 'c', 'rater': 'x'}]
        """
        from trilens.statements.frames import to_arrow

        return to_arrow(self)

    def to_frame(self) -> pd.DataFrame:
        """The statements as a pandas DataFrame with the columns of a statement file.

        >>> Statements([("a", "b", "c")], kind="closer").to_frame()
          anchor near far
        0      a    b   c
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("to_frame()", "pandas") from None
        names = np.array(self.names, dtype=object)
        columns: dict[str, Any] = {
            name: names[self.triples[:, j]] if len(self) else np.array([], dtype=object)
            for j, name in enumerate(kind_columns(self.kind))
        }
        for name, field in FIELDS.items():
            if getattr(self, field) is not None:
                columns[name] = as_written(field, getattr(self, field))
        return pd.DataFrame(columns)

    @classmethod
    def from_frame(
        cls,
        table: StatementTable,
        columns: Mapping[str, str] | None = None,
        *,
        kind: Kind | None = None,
        names: Iterable[str] | None = None,
        counts_from: int | None = None,
    ) -> Statements:
        """Statements from a table whose columns have other names.

        Parameters
        ----------
        table
            A pandas, polars or Arrow table, or a dict of columns.
        columns : dict, optional
            The column of each role, such as ``{"anchor": "head", "near": "winner"}``.
        kind, names
            As in `Statements`.
        counts_from : {0, 1}, optional
            Where positions as answers count from; by default they tell.

        Examples
        --------
        >>> votes = {"head": ["a"], "winner": ["b"], "loser": ["c"], "who": ["x"]}
        >>> roles = {"anchor": "head", "near": "winner", "far": "loser", "rater": "who"}
        >>> S = Statements.from_frame(votes, roles)
        >>> S.kind, S[0], S.raters.tolist()
        ('closer', ('a', 'b', 'c'), ['x'])
        """
        if not is_table(table):
            raise StatementError(f"{type(table).__name__} is not a table with named columns")
        return _of_table(table, kind, names, columns, counts_from)

    def summary(self) -> Summary:
        """What was collected: the quantities of the paper's Table 1, repeats, contradictions."""
        from trilens.statements.summary import summarise

        return summarise(self)

    def take(self, rows: ArrayLike) -> Statements:
        """The statements at ``rows`` (indices, a slice's range or a boolean mask)."""
        picked = as_array(rows, "rows")
        if picked.size == 0 and picked.dtype.kind != "b":
            picked = picked.astype(np.intp)
        if picked.dtype.kind not in "iub" or picked.ndim != 1:
            raise ParameterError("rows must be row numbers or a boolean mask")
        try:
            return self._replace(self.triples[picked], picked)
        except IndexError:
            raise ParameterError(
                f"rows go from 0 to {len(self) - 1:,}, and a mask has length {len(self):,}"
            ) from None

    @property
    def asked_at_random(self) -> BoolArray:
        """(m,): which answers are to questions that were not chosen by earlier answers."""
        return np.ones(len(self), dtype=bool) if self.chosen is None else ~self.chosen

    def at_random(self) -> Statements:
        """The answers to questions that were not chosen by earlier answers.

        The partners of an object in a chosen question are no random ones, so that shares of such
        answers are biased. Depths by counting, agreement and ceilings come from the others.

        >>> S = Statements(
        ...     [[0, 1, 2], [1, 0, 2], [2, 0, 1]], chosen=[False, True, False], kind="central"
        ... )
        >>> S.at_random().triples.tolist()
        [[0, 1, 2], [2, 0, 1]]
        """
        kept = self.asked_at_random
        if kept.all():
            return self
        if not kept.any():
            raise StatementError(none_at_random(len(self)))
        return self.take(kept)

    def subset(self, objects: ArrayLike | Sequence[str]) -> Statements:
        """The statements wholly inside a set of objects, renumbered in the order given.

        Parameters
        ----------
        objects
            Ids, names, or a boolean mask over all objects.
        """
        kept = self.object_ids(objects)
        new_id = np.full(self.n_objects, -1, dtype=np.int32)
        new_id[kept] = np.arange(len(kept), dtype=np.int32)
        renumbered = new_id[self.triples]
        inside = np.flatnonzero((renumbered >= 0).all(axis=1))
        names = [self.names[i] for i in kept]
        return self._replace(renumbered[inside], inside, n_objects=len(kept), names=names)

    def object_ids(self, objects: ArrayLike | Sequence[str]) -> AnyArray:
        """Ids, names or a boolean mask, as ids without repeats."""
        array = as_array(objects, "objects")
        if array.dtype == np.bool_:
            if array.shape != (self.n_objects,):
                raise ParameterError(
                    f"a mask over objects has length {self.n_objects}, not {array.shape}"
                )
            return np.flatnonzero(array)
        if array.ndim == 1 and array.dtype.kind in "UO":
            unknown = [
                name for name in array.tolist() if not isinstance(name, str) or name not in self.ids
            ]
            if unknown:
                raise ParameterError(
                    f"no object is named {unknown[0]!r} ({len(unknown):,} of {array.size:,} "
                    f"names are unknown); the names are {shown(self.names)}"
                )
            array = np.array([self.ids[name] for name in array.tolist()], dtype=np.intp)
        array = array.astype(np.intp) if array.size == 0 else array
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise ParameterError("objects must be ids, names or a boolean mask")
        if array.size and (array.min() < 0 or array.max() >= self.n_objects):
            raise ParameterError(f"object ids go from 0 to {self.n_objects - 1}")
        if len(np.unique(array)) < len(array):
            raise ParameterError("an object is listed twice")
        return array

    def reduce(self, random_state: RandomState = 0) -> Statements:
        """One statement per triple: the majority answer, ties broken at random.

        This is how the paper makes ``ALL_REDUCED`` of ``ALL``. For ``closer`` statements a
        triple is an anchor with an unordered pair.
        """
        from trilens.statements.combine import reduce

        return reduce(self, random_state)

    def to_triplets(self) -> Int32Array:
        """Similarity triplets ``(anchor, near, far)``: two for each central or odd statement.

        "A is central in (A, B, C)" means d(A,B) < d(B,C) and d(A,C) < d(B,C), so B and C are
        anchors and A is nearer than the other one; "A is the odd one" means that B and C are
        nearer to each other than to A. Rows ``2 i`` and ``2 i + 1`` come from statement ``i``.

        >>> Statements([[0, 1, 2]], kind="central").to_triplets().tolist()
        [[1, 0, 2], [2, 0, 1]]
        >>> Statements([[0, 1, 2]], kind="odd").to_triplets().tolist()
        [[1, 2, 0], [2, 1, 0]]
        """
        if self.kind == "closer":
            return self.triples
        first = [1, 0, 2] if self.kind == "central" else [1, 2, 0]
        second = [2, 0, 1] if self.kind == "central" else [2, 1, 0]
        return np.ascontiguousarray(self.triples[:, [*first, *second]]).reshape(-1, 3)

    def to_central(self) -> Statements:
        """The most central object of every triple whose comparisons decide it.

        Takes ``closer`` statements. A is the most central of (A, B, C) when the majority of
        the answers say d(A,B) < d(B,C) and d(A,C) < d(B,C); undecided triples are left out.
        """
        from trilens.statements.combine import decide

        return decide(self, "central")

    def to_odd(self) -> Statements:
        """The odd object of every triple whose comparisons decide it; see `to_central`."""
        from trilens.statements.combine import decide

        return decide(self, "odd")

    @classmethod
    def from_responses(
        cls, X: ArrayLike, y: ArrayLike | None = None, kind: Kind | None = None, **fields: Any
    ) -> Statements:
        """Statements from cblearn's ``(X, y)``: questions and the answers to them.

        Parameters
        ----------
        X : (m, 3) array
            Ids or names: (anchor, one, other) of a triplet, or the three objects shown.
        y : (m,) array, optional
            For triplets +1 or True where ``one`` is nearer, and -1 or False where ``other`` is;
            without ``y`` all are. For three shown objects the position (0, 1, 2) of the chosen
            one; ``kind`` then says whether it is the most central or the odd one.
        kind : {"central", "odd", "closer"}, optional
            Needed with positions.
        **fields
            As in `Statements`.

        Examples
        --------
        >>> Statements.from_responses([[0, 1, 2], [0, 1, 2]], [1, -1]).triples.tolist()
        [[0, 1, 2], [0, 2, 1]]
        >>> Statements.from_responses([[7, 3, 5]], [2], kind="odd").triples.tolist()
        [[5, 7, 3]]
        """
        from trilens.statements.responses import responses

        return responses(X, y, kind, fields)

    @classmethod
    def from_questions(
        cls, shown: Iterable[Any], answers: Iterable[Any], asked: str, **fields: Any
    ) -> Statements:
        """The statements that answers about more than three objects imply.

        Parameters
        ----------
        shown : sequence of sequences
            The objects of each question, ids or names; questions may differ in number.
        answers : sequence
            What was answered, as objects (not positions); see ``asked``.
        asked : {"central", "odd", "nearest", "ranking"}
            - ``"central"``, ``"odd"``: which of the k shown is the most central, or the odd one?
              The answer says so of every pair of the others: (k - 1)(k - 2) / 2 statements.
            - ``"nearest"``: which of the others are nearest to the first one shown? One object or
              several; each chosen is nearer than each that is not: ``closer`` statements.
            - ``"ranking"``: the others from the nearest to the first one shown to the farthest;
              each is nearer than all that follow: ``closer`` statements.
        **fields
            ``raters``, ``rounds``, ``seconds``: one for each question; ``names``, ``n_objects``.

        Returns
        -------
        Statements
            Their ``questions`` hold the number of the question that each comes from. The
            statements of one question are not independent: resample questions, not statements.

        Examples
        --------
        >>> S = Statements.from_questions([["a", "b", "c", "d"]], ["c"], "odd")
        >>> list(S), S.questions.tolist()
        ([('c', 'a', 'b'), ('c', 'a', 'd'), ('c', 'b', 'd')], [0, 0, 0])
        >>> list(Statements.from_questions([["a", "b", "c", "d"]], [["c", "b"]], "nearest"))
        [('a', 'c', 'd'), ('a', 'b', 'd')]
        """
        from trilens.statements.responses import implied

        return implied(shown, answers, asked, fields)

    def to_choices(self) -> tuple[Int32Array, AnyArray]:
        """cblearn's ``(X, y)``: the three objects in the order of their ids, the chosen position.

        >>> X, y = Statements([[5, 7, 3]], kind="central").to_choices()
        >>> X.tolist(), y.tolist()
        ([[3, 5, 7]], [1])
        """
        if self.kind == "closer":
            raise KindError("similarity triplets have no chosen object; use to_triplets()")
        X = np.sort(self.triples, axis=1)
        return X, (self.triples[:, :1] == X).argmax(axis=1)

    def _replace(
        self,
        triples: AnyArray,
        rows: AnyArray,
        n_objects: int | None = None,
        names: Iterable[str] | None = None,
        kind: Kind | None = None,
    ) -> Statements:
        columns = {name: getattr(self, name) for name in COLUMNS}
        if kind not in (None, self.kind):
            # what another kind singles out is not what was chosen on the screen
            columns["places"] = None
        return Statements(
            triples,
            self.n_objects if n_objects is None else n_objects,
            self._names if names is None else names,
            self.kind if kind is None else kind,
            **{name: None if given is None else given[rows] for name, given in columns.items()},
        )


def _of_table(
    table: Any,
    kind: Kind | None,
    names: Iterable[str] | None,
    columns: Any = None,
    counts_from: int | None = None,
) -> Statements:
    """A table is read as a file is; ``names`` are those of all objects."""
    from trilens.statements.frames import frame_table
    from trilens.statements.layout import read_options
    from trilens.statements.reading import read_tables

    listed = None if names is None else ObjectList.of(names)
    options = read_options(kind, columns, counts_from=counts_from, objects=listed)
    found = read_tables([frame_table(table, options)], by_name=True)
    found.reading.warn()
    return found.statements


class OfStatements(Protocol):
    """What belongs to statements and knows them: `Objects`."""

    @property
    def statements(self) -> Statements:
        """The statements."""
        ...


StatementsLike: TypeAlias = Statements | OfStatements | StatementTable | ArrayLike


def as_statements(statements: StatementsLike, kind: Kind | None = None) -> Statements:
    """`Statements` as they are; anything else as `Statements` takes it.

    So a table tells its kind, and an ``(m, 3)`` array of ids or names is of this ``kind``.
    """
    if isinstance(statements, Statements):
        return statements
    given: Any = statements
    whole = getattr(given, "statements", None)
    if isinstance(whole, Statements):  # the objects of statements: see `Objects`
        if hasattr(given, "with_features") and given.features is not None:
            raise ParameterError(
                "these objects have features, which would be ignored; give S.objects without "
                "them, or features= to tl.fit",
                parameter="features",
            )
        return whole
    from trilens.statements.frames import bare_rows

    is_frame = not isinstance(given, np.ndarray) and is_table(given)
    untold = kind is None and (not is_frame or bare_rows(given) is not None)
    try:
        found = Statements(given, kind="central" if untold else kind)
    except TrilensError as error:
        if is_frame:
            error.add_note("pass it to trilens.Statements(table, columns=..., kind=...)")
        raise
    if untold and len(found):
        raise KindError(UNTOLD, parameter="kind")
    return found


def statements_to_fit(
    given: StatementsLike, kind: Kind | None, estimator: Any, only: Kind | None = None
) -> Statements:
    """Statements of the ``kind`` that an estimator has as its parameter, if it has one.

    Without it, arrays are of the ``only`` kind that the estimator takes; where it takes several,
    they are refused.
    """
    if kind is not None:
        check_kind(kind)
    statements = as_statements(given, kind or only)
    same_kind(kind, statements.kind, estimator)
    return statements


def same_kind(kind: Kind | None, found: Kind, estimator: Any) -> None:
    """Refuse what is of another kind than the estimator's parameter says."""
    if kind not in (None, found):
        raise KindError(
            f"{type(estimator).__name__}: kind is {kind!r}, but the statements are of kind "
            f"{found}; leave kind out, or give statements of that kind",
            parameter="kind",
        )
