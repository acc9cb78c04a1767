"""The objects of two counts made one list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from trilens._typing import AnyArray, IntArray

#: Names of objects; None: the objects are 0, 1, ... and their ids are their names.
Named: TypeAlias = tuple[str, ...] | None


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
    from trilens.files.names import in_order

    both = in_order(list(dict.fromkeys([*listed(names, n), *listed(others, n_others)])))
    if both == list(map(str, range(len(both)))):
        return None, len(both)
    return tuple(both), len(both)


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
