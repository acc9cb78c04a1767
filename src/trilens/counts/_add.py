"""Adding counts without silent overflow, and refusing counts that do not belong together."""

from __future__ import annotations

import numpy as np

from trilens._typing import AnyArray
from trilens.errors import KindError, ParameterError

_INT32_MAX = np.iinfo(np.int32).max


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
            f"counts of {kind} and of {other} statements cannot be added; "
            f"count each kind on its own"
        )


def require_same_shape(shape: tuple[int, ...], other: tuple[int, ...]) -> None:
    """Refuse to merge counts over different objects or classes."""
    if shape != other:
        raise ParameterError(
            f"counts of shapes {shape} and {other} cannot be added; "
            f"give all statements the same n_objects and the same classes"
        )
