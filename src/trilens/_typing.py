"""The array types, in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
Int32Array: TypeAlias = NDArray[np.int32]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

#: Called with the share of the work that is done, from 0 to 1.
Progress: TypeAlias = Callable[[float], None]
