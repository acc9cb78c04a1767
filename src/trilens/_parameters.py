"""Checks of parameters, each said once, and the number of threads."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from trilens.errors import ParameterError


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number by its type; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def whole_number(name: str, value: Any, least: int = 0, most: int | None = None) -> int:
    """``value`` as an int, or one line that says what it may be.

    >>> whole_number("k", np.int32(5), least=1)
    5
    >>> whole_number("k", 2.5, least=1)
    Traceback (most recent call last):
    ...
    trilens.errors.ParameterError: k is 2.5; it must be a whole number, 1 or more
    """
    if not is_whole(value) or value < least or (most is not None and value > most):
        upto = f"from {least} to {most}" if most is not None else f"{least} or more"
        raise ParameterError(f"{name} is {value!r}; it must be a whole number, {upto}")
    return int(value)


def real_number(
    name: str, value: Any, least: float = -np.inf, most: float = np.inf, *, positive: bool = False
) -> float:
    """``value`` as a finite float between ``least`` and ``most``, or one line that says so.

    >>> real_number("level", 0.95, 0, 1)
    0.95
    >>> real_number("sigma", float("nan"), positive=True)
    Traceback (most recent call last):
    ...
    trilens.errors.ParameterError: sigma is nan; it must be a positive number
    """
    number = isinstance(value, (int, float, np.integer, np.floating))
    number = number and not isinstance(value, (bool, np.bool_))
    if (
        not number
        or not np.isfinite(value)
        or not least <= value <= most
        or (positive and value <= 0)
    ):
        if positive:
            allowed = "a positive number"
        elif np.isfinite(least) and np.isfinite(most):
            allowed = f"a number from {least:g} to {most:g}"
        else:
            allowed = f"a number, {least:g} or more" if np.isfinite(least) else "a finite number"
        raise ParameterError(f"{name} is {value!r}; it must be {allowed}")
    return float(value)


def thread_count(n_threads: int | None = None) -> int:
    """The threads asked for, or one for each core that this process may use."""
    if n_threads is not None:
        return whole_number("n_threads", n_threads, least=1)
    affinity = getattr(os, "sched_getaffinity", None)  # not every system can tell
    return len(affinity(0)) if affinity else os.cpu_count() or 1
