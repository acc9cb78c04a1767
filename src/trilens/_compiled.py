"""Compiled loops, kept on the disk for the next process where there is a place for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(**options: Any) -> Callable[[F], F]:
    """`numba.njit` without the interpreter's lock, cached where a cache can be written.

    numba keeps its cache beside the source or in the user's home, and refuses to cache where
    it can write to neither (a read-only installation, a service without a home): the loop is
    then compiled anew in every process, which takes a second or so and is no reason to stop.

    >>> @compiled()
    ... def twice(x):
    ...     return 2 * x
    >>> twice(21)
    42
    """

    def compile_(function: F) -> F:
        try:
            loop: F = njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:  # "no locator available": nowhere to write
            loop = njit(nogil=True, **options)(function)
        return loop

    return compile_
