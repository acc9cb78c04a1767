"""Counts that add: cells that do not overflow, and the objects of two counts made one list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import numpy as np

from trilens._typing import AnyArray, IntArray
from trilens.errors import KindError, ParameterError

if TYPE_CHECKING:
    from trilens.counts.central import CentralCounts
    from trilens.counts.pairs import PairCounts

_INT32_MAX = np.iinfo(np.int32).max

#: Names of objects; None: the objects are 0, 1, ... and their ids are their names.
Named: TypeAlias = tuple[str, ...] | None


class Summable:
    """What `sum` adds up, beginning with 0."""

    def __radd__(self, other: int) -> Self:
        return self if other == 0 else NotImplemented


C = TypeVar("C", "CentralCounts", "PairCounts")


def cell_dtype(n_statements: int) -> type[np.int32] | type[np.int64]:
    """``int32`` where no cell can overflow, as a statement adds at most 1 to it."""
    return np.int32 if n_statements <= _INT32_MAX else np.int64


def sum_dtype(a: AnyArray, b: AnyArray) -> type[np.int32] | type[np.int64]:
    """``int32`` where neither array nor any cell of the sum needs more."""
    if a.dtype == b.dtype == np.int32:
        largest = int(a.max(initial=0)) + int(b.max(initial=0))
        if largest <= _INT32_MAX:
            return np.int32
    return np.int64


def add_cells(a: AnyArray, b: AnyArray) -> AnyArray:
    """``a + b``, in ``int64`` where ``int32`` could overflow."""
    return np.add(a, b, dtype=sum_dtype(a, b))


def require_same_kind(kind: str, other: str) -> None:
    """Refuse to merge counts of statements of two kinds."""
    if kind != other:
        raise KindError(
            f"cannot add counts of {kind} statements to counts of {other} statements; "
            f"keep the kinds apart"
        )


def require_same_shape(shape: tuple[int, ...], other: tuple[int, ...]) -> None:
    """Refuse to merge counts over different objects or classes."""
    if shape != other:
        raise ParameterError(
            f"cannot add counts of shapes {shape} and {other}; "
            f"give all statements the same n_objects and the same classes"
        )


def listed(names: Named, n: int) -> Sequence[str]:
    """The names, also where they are the ids."""
    return list(map(str, range(n))) if names is None else names


def union(names: Named, n: int, others: Named, n_others: int) -> tuple[Named, int]:
    """The objects of both: as they are where they agree, else in the order of `Statements` read.

    >>> union(("a", "b"), 2, ("b", "c"), 2), union(("10",), 1, ("9",), 1), union(None, 2, None, 3)
    ((('a', 'b', 'c'), 3), (('9', '10'), 2), (None, 3))
    """
    if names is None and others is None:
        return None, max(n, n_others)
    if names is not None and (names is others or names == others):
        return names, n
    from trilens.statements.names import ordered_names

    both = ordered_names(list(dict.fromkeys([*listed(names, n), *listed(others, n_others)])))
    if both == list(map(str, range(len(both)))):
        return None, len(both)
    return tuple(both), len(both)


def aligned(a: C, b: C) -> tuple[C, C]:
    """Both over the same objects: by name where both know the names, else they must agree."""
    require_same_kind(a.kind, b.kind)
    if a.names is None or b.names is None or a.names == b.names:
        require_same_shape(a.appears.shape, b.appears.shape)
        return a, b
    names, n = union(a.names, len(a.names), b.names, len(b.names))
    known = tuple(listed(names, n))
    into_a, into_b = (positions(each.names, each.n_objects, known, n) for each in (a, b))
    return a.moved(into_a, n, known), b.moved(into_b, n, known)


def positions(names: Named, n: int, into: Named, n_into: int) -> IntArray | None:
    """Where each object stands in a list that has them all; None: where it stands already."""
    if (names is None and into is None) or (names is not None and names is into):
        return None
    known = {name: i for i, name in enumerate(listed(into, n_into))}
    found = np.array([known[name] for name in listed(names, n)], dtype=np.int64)
    return None if np.array_equal(found, np.arange(n)) else found


def moved(values: AnyArray, at: IntArray | None, n: int) -> AnyArray:
    """Values per object, along the first axis, at their places among ``n`` objects."""
    if at is None and len(values) == n:
        return values
    into = np.zeros((n, *values.shape[1:]), dtype=values.dtype)
    into[slice(len(values)) if at is None else at] = values
    return into


def moved_cells(cells: Any, at: IntArray | None, n: int) -> Any:
    """Values per pair of objects, dense or sparse, at their places."""
    if at is None and cells.shape[0] == n:
        return cells
    where = np.arange(cells.shape[0]) if at is None else at
    if isinstance(cells, np.ndarray):
        into = np.zeros((n, n), dtype=cells.dtype)
        into[np.ix_(where, where)] = cells
        return into
    from scipy.sparse import coo_array

    some = cells.tocoo()
    sparse = coo_array((some.data, (where[some.row], where[some.col])), shape=(n, n)).tocsr()
    sparse.sort_indices()
    return sparse
