"""Random numbers and progress of the iterative maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from trilens._parameters import is_whole
from trilens._typing import Progress
from trilens.errors import ParameterError


def random_generator(name: str, random_state: Any) -> np.random.Generator:
    """A generator that can spawn others, from whatever scikit-learn takes for a random state.

    >>> old = np.random.RandomState(0)
    >>> random_generator("SOE", old).spawn(2)[0].integers(10) in range(10)
    True
    """
    if isinstance(random_state, np.random.RandomState):
        # Its bit generator cannot spawn; numbers drawn from it can seed one that does.
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if is_whole(random_state) and random_state >= 0:
        return np.random.default_rng(random_state)
    raise ParameterError(
        f"{name}: random_state is {random_state!r}; it must be a whole number, 0 or more, "
        f"a numpy Generator or RandomState, or None"
    )


def part_of(progress: Progress | None, start: float, share: float) -> Progress | None:
    """Progress of a part of the work, from ``start`` on."""
    return None if progress is None else lambda done: progress(start + share * done)
