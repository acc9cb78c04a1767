"""Checks of parameters, each said once, and the number of threads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from trilens._typing import FloatArray
from trilens.errors import ParameterError, parameter_name

#: Beyond, one answer more makes no difference to a sum of weights.
MOST_WEIGHT = 1e15
_MOST = 2**63 - 1
_LARGEST = float(np.finfo(np.float64).max)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number by its type; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def shown(value: Any, most: int = 80) -> str:
    """A value as a message shows it: in one line of bounded length.

    >>> shown(np.float64(1.5))
    '1.5'
    """
    text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    return text if len(text) <= most else f"{text[:most]}..."


def wrong(name: str, value: Any, allowed: str) -> ParameterError:
    """The error for a parameter whose value is not allowed.

    >>> print(wrong("k", 0, "1 or more"))
    k is 0; it must be 1 or more
    >>> wrong("SOE: margin", 0, "positive").parameter
    'margin'
    """
    owner, colon, parameter = name.rpartition(": ")
    return ParameterError(
        f"{owner}{colon}{parameter_name(parameter)} is {shown(value)}; it must be {allowed}",
        parameter=parameter,
    )


def whole_number(name: str, value: Any, least: int = 0, most: int | None = None) -> int:
    """``value`` as an int, or one line that says what it may be.

    >>> whole_number("k", np.int32(5), least=1)
    5
    >>> whole_number("k", 2.5, least=1)
    Traceback (most recent call last):
    ...
    trilens.errors.ParameterError: k is 2.5; it must be a whole number, 1 or more
    """
    if not is_whole(value) or not least <= value <= (_MOST if most is None else most):
        top = _MOST if most is None and is_whole(value) and value > _MOST else most
        upto = f"from {least} to {top}" if top is not None else f"{least} or more"
        raise wrong(name, value, f"a whole number, {upto}")
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
    if isinstance(value, np.floating):  # a small one cannot be compared with the largest
        value = float(value)
    if (
        not number
        or not abs(value) <= _LARGEST
        or not least <= value <= most
        or (positive and value <= 0)
    ):
        if positive:
            allowed = "a positive number"
            allowed += f", at most {most:g}" if np.isfinite(most) else ""
        elif np.isfinite(least) and np.isfinite(most):
            allowed = f"a number from {least:g} to {most:g}"
        else:
            allowed = f"a number, {least:g} or more" if np.isfinite(least) else "a finite number"
        raise wrong(name, value, allowed)
    return float(value)


def one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    """Raise `ParameterError` for what is none of the allowed texts.

    >>> one_of("ties", "keep", ("random", "drop"))
    Traceback (most recent call last):
    ...
    trilens.errors.ParameterError: ties is 'keep'; it must be one of random, drop
    """
    if not isinstance(value, str) or value not in allowed:
        raise wrong(name, value, f"one of {', '.join(allowed)}")


def generator(random_state: Any = None) -> np.random.Generator:
    """A generator from None, a seed, a generator, or scikit-learn's ``RandomState``.

    >>> int(generator(0).integers(10)), int(generator(np.random.RandomState(0)).integers(10))
    (8, 2)
    """
    if isinstance(random_state, np.random.RandomState):
        # its own bits cannot be divided among chunks: they are the seed of some that can
        return np.random.default_rng(random_state.randint(2**31, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise wrong(
            "random_state",
            random_state,
            "None, a whole number, 0 or more, or a numpy random generator",
        ) from None


def seed_of(random_state: Any) -> int:
    """A whole number to seed with: the one given, or one drawn from a generator.

    >>> seed_of(7)
    7
    """
    if is_whole(random_state):
        return whole_number("random_state", random_state)
    return int(generator(random_state).integers(2**31))


def plain(value: Any) -> Any:
    """A tensor, or a list of them, as arrays: without its gradient, and in a type of numpy's."""
    if isinstance(value, list | tuple) and value and hasattr(value[0], "detach"):
        return [plain(each) for each in value]
    if not hasattr(value, "detach"):
        return value
    try:
        found = value.detach().cpu()
        narrow = found.dtype.is_floating_point and found.element_size() < 4  # such as bfloat16
        return (found.float() if narrow else found).numpy()
    except (TypeError, RuntimeError) as error:
        raise ParameterError(
            f"the {type(value).__name__} cannot be made an array: {' '.join(str(error).split())}"
        ) from None


def real_array(name: str, value: Any) -> FloatArray:
    """``value`` as an array of float64, or one line that says so; NaN may be in it.

    >>> real_array("weights", [1, 2])
    array([1., 2.])
    >>> real_array("weights", ["a"])
    Traceback (most recent call last):
    ...
    trilens.errors.ParameterError: weights is ['a']; it must be an array of numbers
    """
    given = plain(value)
    try:
        array = np.asarray(given)
    except (TypeError, ValueError):  # rows of different lengths
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "biuf":
        of_map = ": give the coordinates of the map, embedding_ once it is fitted"
        raise wrong(name, value, "an array of numbers" + of_map * hasattr(value, "transform"))
    return array.astype(np.float64)


def sample_weights(sample_weight: Any, m: int) -> FloatArray | None:
    """One finite weight of 0 or more for each statement, not all 0; None as it is."""
    if sample_weight is None:
        return None
    given = real_array("sample_weight", sample_weight)
    if given.shape != (m,):
        raise ParameterError(
            f"sample_weight has shape {given.shape}; give a weight for each of the {m:,} "
            f"statements",
            parameter="sample_weight",
        )
    bad = ~(np.isfinite(given) & (given >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ParameterError(
            f"the weight of statement {row} is {given[row]}; it must be a number, 0 or more",
            parameter="sample_weight",
        )
    if given.sum() > MOST_WEIGHT:
        raise ParameterError(
            f"the weights sum to {given.sum():.3g}; scale them down, to {MOST_WEIGHT:.0g} at most",
            parameter="sample_weight",
        )
    if m and not given.any():
        raise ParameterError(
            "all weights are 0; at least one statement must count", parameter="sample_weight"
        )
    return given


def check_progress(progress: Any) -> None:
    """Raise `ParameterError` for what is neither None nor can be called."""
    if progress is not None and not callable(progress):
        raise wrong("progress", progress, "a function of the share")


def thread_count(n_threads: int | None = None) -> int:
    """The threads asked for, or one for each core that this process may use."""
    if n_threads is not None:
        return whole_number("n_threads", n_threads, least=1)
    affinity = getattr(os, "sched_getaffinity", None)  # not every system can tell
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def threads_of(n_jobs: Any) -> int | None:
    """The threads of scikit-learn's ``n_jobs``; None, for one per core, where it is None.

    >>> threads_of(2), threads_of(None), threads_of(-1) == thread_count()
    (2, None, True)
    """
    if n_jobs is None or (is_whole(n_jobs) and n_jobs > 0):
        return None if n_jobs is None else int(n_jobs)
    if not is_whole(n_jobs) or n_jobs == 0:
        raise wrong("n_jobs", n_jobs, "None or a whole number: 1 or more, or -1 for every core")
    return max(1, thread_count() + 1 + int(n_jobs))
