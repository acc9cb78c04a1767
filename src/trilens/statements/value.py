"""The frozen value `Statements`, and what makes a statement valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from trilens._typing import AnyArray, FloatArray, Int32Array, RandomState
from trilens.errors import KindError, ParameterError, StatementError

if TYPE_CHECKING:
    from trilens.statements.summary import Summary

Kind: TypeAlias = Literal["central", "odd", "closer"]
KINDS: tuple[Kind, ...] = get_args(Kind)

#: Rows checked at a time: the temporaries of a check stay in the cache and out of the peak memory.
_CHUNK = 1 << 18
_MAX_OBJECTS = np.iinfo(np.int32).max


class CheckedNames(tuple[str, ...]):
    """Names that are known to be different texts: chunks of a large file share them unchecked."""

    __slots__ = ()

    @classmethod
    def of(cls, names: Iterable[str]) -> CheckedNames:
        if isinstance(names, CheckedNames):
            return names
        named = cls(names)
        wrong = next((name for name in named if not isinstance(name, str)), None)
        if wrong is not None:
            raise ParameterError(f"names are text; {wrong!r} is {type(wrong).__name__}")
        if len(set(named)) < len(named):
            twice = next(name for name, count in Counter(named).items() if count > 1)
            raise ParameterError(f"two objects have the name {twice!r}; names must differ")
        return named


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
    triples : (m, 3) array of int
        Object ids, ``0 <= id < n_objects``. An ``int32`` array is not copied: it belongs to the
        statements from then on and must not be changed.
    n_objects : int, optional
        By default the number of names or, without names, the largest id plus one.
    names : sequence of str, optional
        A name for each object; by default ``"0"``, ``"1"``, ...
    kind : {"central", "odd", "closer"}
    raters, rounds : (m,) array, optional
        Who answered, and in which round.
    seconds : (m,) array of float, optional
        How long the answer took.

    Examples
    --------
    >>> S = Statements([[0, 1, 2], [0, 1, 3], [2, 0, 3]], names=["a", "b", "c", "d"])
    >>> S
    Statements(3 statements about 4 objects, kind='central')
    >>> S.subset(["a", "b", "c"]).triples.tolist()
    [[0, 1, 2]]
    """

    triples: Int32Array
    n_objects: int
    kind: Kind
    raters: AnyArray | None
    rounds: AnyArray | None
    seconds: FloatArray | None
    _names: CheckedNames | None

    def __init__(
        self,
        triples: ArrayLike,
        n_objects: int | None = None,
        names: Iterable[str] | None = None,
        kind: str = "central",
        raters: ArrayLike | None = None,
        rounds: ArrayLike | None = None,
        seconds: ArrayLike | None = None,
    ) -> None:
        if kind not in KINDS:
            raise KindError(f"kind is {kind!r}; it must be one of {', '.join(KINDS)}")
        given = _as_id_array(triples)
        named = None if names is None else CheckedNames.of(names)
        n = _n_objects(given, n_objects, named)
        check_triples(given, n)
        ids = np.ascontiguousarray(given, dtype=np.int32).view()
        ids.flags.writeable = False
        m = len(ids)
        set_field = object.__setattr__
        set_field(self, "triples", ids)
        set_field(self, "n_objects", n)
        set_field(self, "kind", kind)
        set_field(self, "raters", _column(raters, m, "raters"))
        set_field(self, "rounds", _column(rounds, m, "rounds"))
        set_field(self, "seconds", _column(seconds, m, "seconds", dtype=np.float64))
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

    def __len__(self) -> int:
        return len(self.triples)

    def __repr__(self) -> str:
        return (
            f"Statements({len(self):,} statements about {self.n_objects:,} objects, "
            f"kind={self.kind!r})"
        )

    def summary(self) -> Summary:
        """What was collected: the quantities of the paper's Table 1, repeats, contradictions."""
        from trilens.statements.summary import summarise

        return summarise(self)

    def take(self, rows: ArrayLike) -> Statements:
        """The statements at ``rows`` (indices, a slice's range or a boolean mask)."""
        picked = np.asarray(rows)
        if picked.size == 0:
            picked = picked.astype(np.intp)
        return self._replace(self.triples[picked], picked)

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
        array = np.asarray(objects)
        if array.dtype == np.bool_:
            if array.shape != (self.n_objects,):
                raise ParameterError(
                    f"a mask over objects has length {self.n_objects}, not {array.shape}"
                )
            return np.flatnonzero(array)
        if array.dtype.kind in "US" or array.dtype == object:
            unknown = [name for name in array.tolist() if name not in self.ids]
            if unknown:
                raise ParameterError(
                    f"no object is named {unknown[0]!r} ({len(unknown):,} of {array.size:,} "
                    f"names are unknown); the names are {shown(self.names)}"
                )
            array = np.array([self.ids[name] for name in array.tolist()], dtype=np.intp)
        array = array.astype(np.intp) if array.size == 0 else array
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise ParameterError("objects are a list of ids or names, or a boolean mask")
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

        >>> Statements([[0, 1, 2]]).to_triplets().tolist()
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
    def from_choices(
        cls,
        shown: ArrayLike,
        chosen: ArrayLike,
        **fields: Any,
    ) -> Statements:
        """Statements from the objects shown and the position (0, 1, 2) of the chosen one.

        This is cblearn's ``(X, y)`` form of most-central and odd-one-out data.

        >>> Statements.from_choices([[7, 3, 5]], [2]).triples.tolist()
        [[5, 7, 3]]
        """
        X, y = np.asarray(shown), np.asarray(chosen)
        if X.ndim != 2 or X.shape[1] != 3 or y.shape != (len(X),):
            raise StatementError(
                f"choices are an (m, 3) array of ids and an (m,) array of positions, "
                f"not {X.shape} and {y.shape}"
            )
        if y.size and not np.isin(y, (0, 1, 2)).all():
            row = int(np.flatnonzero(~np.isin(y, (0, 1, 2)))[0])
            raise StatementError(
                f"the position of the chosen object is {y[row]}, not 0, 1 or 2", row=row
            )
        y = y.astype(np.intp)
        order = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])[y]
        return cls(np.take_along_axis(X, order, axis=1), **fields)

    def to_choices(self) -> tuple[Int32Array, AnyArray]:
        """cblearn's ``(X, y)``: the three objects in the order of their ids, the chosen position.

        >>> X, y = Statements([[5, 7, 3]]).to_choices()
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
        kind: str | None = None,
    ) -> Statements:
        def at_rows(column: AnyArray | None) -> AnyArray | None:
            return None if column is None else column[rows]

        return Statements(
            triples,
            self.n_objects if n_objects is None else n_objects,
            self._names if names is None else names,
            self.kind if kind is None else kind,
            at_rows(self.raters),
            at_rows(self.rounds),
            at_rows(self.seconds),
        )


StatementsLike: TypeAlias = Statements | ArrayLike


def as_statements(statements: StatementsLike) -> Statements:
    """`Statements` as they are; an ``(m, 3)`` integer array as ``central`` statements."""
    return statements if isinstance(statements, Statements) else Statements(statements)


def require_kind(statements_kind: str, allowed: Sequence[str], method: str, instead: str) -> None:
    """Refuse statements of a kind that a method cannot serve, and say which method can."""
    if statements_kind not in allowed:
        raise KindError(
            f"{method} needs statements of kind {' or '.join(allowed)}, "
            f"not {statements_kind}; {instead}"
        )


def shown(names: Sequence[str], most: int = 5) -> str:
    """The first few names, for an error message."""
    listed = ", ".join(map(repr, names[:most]))
    return listed if len(names) <= most else f"{listed}, ... ({len(names):,} in all)"


def check_triples(triples: AnyArray, n_objects: int) -> None:
    """Raise `StatementError` at the first row that is not three different ids in range."""
    for start in range(0, len(triples), _CHUNK):
        part = triples[start : start + _CHUNK]
        a, b, c = part[:, 0], part[:, 1], part[:, 2]
        twice = (a == b) | (a == c) | (b == c)
        if part.min() < 0 or part.max() >= n_objects:
            outside = (part < 0) | (part >= n_objects)
            row = int(np.flatnonzero(outside.any(axis=1))[0])
            seen = int(part[row][outside[row]][0])
            what = "is negative" if seen < 0 else f"is not below n_objects = {n_objects}"
            raise StatementError(
                f"object id {seen} {what}; ids go from 0 to {n_objects - 1}", row=start + row
            )
        if twice.any():
            row = int(np.flatnonzero(twice)[0])
            x, y, z = part[row].tolist()
            raise StatementError(
                f"object {x if x in (y, z) else y} appears twice in one statement; "
                f"a statement names three different objects",
                row=start + row,
            )


def _as_id_array(triples: ArrayLike) -> AnyArray:
    array = np.asarray(triples)
    if array.size == 0 and array.ndim <= 2:
        return np.empty((0, 3), dtype=np.int32)
    if array.ndim != 2 or array.shape[1] != 3:
        raise StatementError(
            f"statements are an (m, 3) array of object ids, not one of shape {array.shape}"
        )
    if array.dtype.kind not in "iu":
        whole = array.dtype.kind == "f" and np.isfinite(array).all() and (array % 1 == 0).all()
        if not whole:
            raise StatementError(
                f"object ids are whole numbers, not {array.dtype}"
                + (" with NaN or fractions" if array.dtype.kind == "f" else "")
                + "; give names to read_statements or as names="
            )
        array = array.astype(np.int64)
    return array


def _n_objects(triples: AnyArray, n_objects: int | None, names: CheckedNames | None) -> int:
    if n_objects is not None:
        if isinstance(n_objects, bool) or int(n_objects) != n_objects or n_objects < 0:
            raise ParameterError(
                f"n_objects is {n_objects!r}; it must be a whole number, 0 or more"
            )
        if names is not None and len(names) != n_objects:
            raise ParameterError(f"n_objects is {n_objects}, but there are {len(names)} names")
        n = int(n_objects)
    elif names is not None:
        n = len(names)
    else:
        n = int(triples.max()) + 1 if len(triples) else 0
    if n > _MAX_OBJECTS:
        raise ParameterError(f"at most {_MAX_OBJECTS:,} objects, not {n:,}")
    return n


def _column(values: ArrayLike | None, m: int, what: str, dtype: Any = None) -> AnyArray | None:
    if values is None:
        return None
    column = np.array(values, dtype=dtype)
    if column.shape != (m,):
        raise StatementError(f"{what} has shape {column.shape}; there are {m} statements")
    column.flags.writeable = False
    return column
