"""General comparisons of distances, d(A, B) < d(C, D)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import whole_number
from trilens._typing import AnyArray, Int32Array
from trilens.errors import ParameterError, StatementError
from trilens.statements.columns import as_array, as_list, refuse_strange


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Comparisons:
    """Answers "A and B are closer to each other than C and D": d(A, B) < d(C, D).

    The most general ordinal data about distances. A similarity triplet (anchor, near, far) is
    the comparison (anchor, near, anchor, far).

    Parameters
    ----------
    rows : (m, 4) array of int
        Object ids A, B, C, D of each comparison; A differs from B, C from D, and the pair
        {A, B} from the pair {C, D}. An ``int32`` array is not copied.
    n_objects : int, optional
        By default the largest id plus one, or the number of names.
    names : iterable of str, optional
        By default the ids.

    Examples
    --------
    >>> Comparisons([[0, 1, 2, 3], [0, 2, 1, 3]])
    Comparisons(2 comparisons of pairs of 4 objects)
    """

    rows: Int32Array
    n_objects: int
    _names: tuple[str, ...] | None

    def __init__(
        self,
        rows: ArrayLike,
        n_objects: int | None = None,
        names: Iterable[str] | None = None,
    ) -> None:
        given = rectangular(rows)
        if given.size == 0 and given.ndim <= 2:
            given = np.empty((0, 4), dtype=np.int32)
        if given.ndim != 2 or given.shape[1] != 4 or given.dtype.kind not in "iu":
            raise StatementError(
                f"comparisons d(A,B) < d(C,D) are an (m, 4) array of integer object ids, "
                f"not one of shape {given.shape} and type {given.dtype}"
            )
        listed = None if names is None else tuple(map(str, as_list(names, "names")))
        top = int(given.max()) + 1 if len(given) else 0
        n = top if listed is None else len(listed)
        n = n if n_objects is None else whole_number("n_objects", n_objects)
        if listed is not None and (len(listed) != n or len(set(listed)) != n):
            raise StatementError(f"{n:,} objects need as many names, each once")
        if len(given) and (given.min() < 0 or top > n):
            row = int(np.flatnonzero(((given < 0) | (given >= n)).any(axis=1))[0])
            raise StatementError(
                f"the ids {given[row].tolist()} are not all from 0 to {n - 1}", row=row
            )
        a, b, c, d = given.T
        wrong = (a == b) | (c == d) | ((a == c) & (b == d)) | ((a == d) & (b == c))
        if wrong.any():
            row = int(wrong.argmax())
            raise StatementError(
                f"d(A,B) < d(C,D) needs two different pairs of different objects, "
                f"not {given[row].tolist()}",
                row=row,
            )
        ids = np.ascontiguousarray(given, dtype=np.int32).view()
        ids.flags.writeable = False
        object.__setattr__(self, "rows", ids)
        object.__setattr__(self, "n_objects", int(n))
        object.__setattr__(self, "_names", listed)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the objects."""
        if self._names is None:
            return tuple(map(str, range(self.n_objects)))
        return self._names

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Comparisons({len(self):,} comparisons of pairs of {self.n_objects:,} objects)"


def rectangular(rows: ArrayLike) -> AnyArray:
    """An array; rows of different lengths are refused in one line."""
    refuse_strange(rows)
    try:
        return as_array(rows, "the statements")
    except ParameterError as error:
        raise StatementError(str(error)) from None
