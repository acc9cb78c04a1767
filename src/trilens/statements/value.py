"""The frozen value `Statements`, and what makes a statement valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import shown as printed, whole_number
from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray, RandomState
from trilens.errors import KindError, ParameterError, StatementError
from trilens.statements.columns import (
    are_whole,
    as_array,
    as_list,
    column_of,
    known_seconds,
    numbers_or_text,
    places_of,
)

if TYPE_CHECKING:
    from trilens.statements.summary import Summary

Kind: TypeAlias = Literal["central", "odd", "closer"]
KINDS: tuple[Kind, ...] = get_args(Kind)

#: What is known of each statement besides its objects.
COLUMNS = ("raters", "rounds", "seconds", "places")

#: Rows checked at a time: the temporaries of a check stay in the cache and out of the peak memory.
_CHUNK = 1 << 18
_MAX_OBJECTS = np.iinfo(np.int32).max

#: What each place puts first: the object there, then the two others in their order.
CHOSEN_FIRST = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])


class CheckedNames(tuple[str, ...]):
    """Names that are known to be different texts: chunks of a large file share them unchecked."""

    __slots__ = ()

    @classmethod
    def of(cls, names: Iterable[str]) -> CheckedNames:
        if isinstance(names, CheckedNames):
            return names
        named = cls(as_list(names, "names"))
        wrong = next((i for i, name in enumerate(named) if not isinstance(name, str)), None)
        if wrong is not None:
            kind = type(named[wrong]).__name__
            raise ParameterError(f"names are text; {printed(named[wrong])} is {kind}")
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
        Who answered, and in which round: whole numbers or text. Where one is missing (None,
        NaN, ``pandas.NA``) all become text, and the missing one is the empty text, which is
        nobody: it counts as an answer, and not as a rater.
    seconds : (m,) array of float, optional
        How long the answer took; NaN where that is not known. Infinite counts as not known.
    places : (m,) array of int, optional
        Where among the three objects on the screen the singled-out one stood: 0, 1 or 2.

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
    places: AnyArray | None
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
        places: ArrayLike | None = None,
    ) -> None:
        check_kind(kind)
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
        set_field(self, "raters", column_of(raters, m, "raters", numbers_or_text))
        set_field(self, "rounds", column_of(rounds, m, "rounds", numbers_or_text))
        set_field(self, "seconds", column_of(seconds, m, "seconds", known_seconds))
        set_field(self, "places", column_of(places, m, "places", places_of))
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
    def appearances(self) -> IntArray:
        """How many statements name each object, (n,) int64.

        >>> Statements([[0, 1, 2], [0, 1, 3]], n_objects=5).appearances.tolist()
        [2, 2, 1, 1, 0]
        """
        counted = np.bincount(self.triples.ravel(), minlength=self.n_objects).astype(np.int64)
        counted.flags.writeable = False
        return counted

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
        picked = as_array(rows, "rows")
        if picked.size == 0 and picked.dtype.kind != "b":
            picked = picked.astype(np.intp)
        if picked.dtype.kind not in "iub" or picked.ndim != 1:
            raise ParameterError("rows are a list of row numbers, or a boolean mask")
        try:
            return self._replace(self.triples[picked], picked)
        except IndexError:
            raise ParameterError(
                f"rows go from 0 to {len(self) - 1:,}, and a mask has length {len(self):,}"
            ) from None

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
        X, y = as_array(shown, "the objects shown"), as_array(chosen, "the chosen positions")
        if X.ndim != 2 or X.shape[1] != 3 or y.shape != (len(X),):
            raise StatementError(
                f"choices are an (m, 3) array of ids and an (m,) array of positions, "
                f"not {X.shape} and {y.shape}"
            )
        places = places_of(y)
        return cls(chosen_first(X, places), **({"places": places} | fields))

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


StatementsLike: TypeAlias = Statements | ArrayLike


def as_statements(statements: StatementsLike) -> Statements:
    """`Statements` as they are; an ``(m, 3)`` integer array as ``central`` statements."""
    return statements if isinstance(statements, Statements) else Statements(statements)


def check_kind(kind: Any) -> None:
    """Raise `KindError` for what is no kind of statement."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise KindError(f"kind is {printed(kind)}; it must be one of {', '.join(KINDS)}")


def chosen_first(shown: AnyArray, places: AnyArray) -> AnyArray:
    """``(m, 3)`` objects with the one at each row's place (0, 1, 2) first."""
    return np.take_along_axis(shown, CHOSEN_FIRST[places], axis=1)


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
    try:
        array = as_array(triples, "the statements")
    except ParameterError as error:
        raise StatementError(f"{error}; they are an (m, 3) array of object ids") from None
    if array.size == 0 and array.ndim <= 2:
        return np.empty((0, 3), dtype=np.int32)
    if array.ndim != 2 or array.shape[1] != 3:
        raise StatementError(
            f"statements are an (m, 3) array of object ids, not one of shape {array.shape}"
        )
    if array.dtype.kind not in "iu":
        if array.dtype.kind != "f" or not are_whole(array):
            raise StatementError(
                f"object ids are whole numbers, not {array.dtype}"
                + (" with NaN or fractions" if array.dtype.kind == "f" else "")
                + "; give names to read_statements or as names="
            )
        array = array.astype(np.int64)
    return array


def _n_objects(triples: AnyArray, n_objects: int | None, names: CheckedNames | None) -> int:
    if n_objects is not None:
        n = whole_number("n_objects", n_objects, most=_MAX_OBJECTS)
        if names is not None and len(names) != n:
            raise ParameterError(f"n_objects is {n}, but there are {len(names)} names")
    elif names is not None:
        n = len(names)
    else:
        n = int(triples.max()) + 1 if len(triples) else 0
    if n > _MAX_OBJECTS:
        raise ParameterError(f"at most {_MAX_OBJECTS:,} objects, not {n:,}")
    return n
