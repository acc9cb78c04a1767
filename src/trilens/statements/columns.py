"""What callers give, as arrays: lists of anything, and what is known of each statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import plain, shown
from trilens._typing import AnyArray
from trilens.errors import ParameterError, StatementError, option

#: The reason for a question that earlier answers chose.
ADAPTIVE = "adaptive"
#: Why questions are asked.
REASONS = ("random", ADAPTIVE, "test", "repeat", "shared", "practice")
#: Beyond this, one long rater name would make a fixed-width array of text explode.
_FIXED_WIDTH = 64
#: What to do about bad rows; `Statements` and the questions take answers that skip them.
SKIP_BAD = f"skip bad rows with {option('skip_bad', True, of='Answers')}"
#: What is taken as statements.
TAKEN = "give Statements, Answers, an (m, 3) array of ids, rows of three names, or a table"


def one_line(text: object, most: int = 160) -> str:
    """Foreign text (a library's message, a cell) in one line of bounded length."""
    flat = " ".join(str(text).split())
    return flat if len(flat) <= most else f"{flat[:most]}..."


def quoted(cell: str, most: int = 60) -> str:
    """A name as messages show it."""
    return repr(cell) if len(cell) <= most else f"{cell[:most]!r}..."


def is_table(given: Any) -> bool:
    """Whether something is a table: it speaks Arrow, maps names to columns, or lists dicts."""
    speaks = hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")
    return speaks or isinstance(given, Mapping) or are_records(given)


def are_records(given: Any) -> bool:
    """Whether something is a list of rows, each a dict by the names of the columns."""
    return isinstance(given, list | tuple) and bool(given) and isinstance(given[0], Mapping)


def refuse_strange(given: Any) -> None:
    """One line for what would make an array, or a table, of something else than its statements."""
    name = type(given).__name__
    if given is None:
        why = f"got None; {TAKEN}"
    elif isinstance(given, str | PathLike):
        why = (
            f"got the path {shown(given)}; use trilens.Answers(path), or read them with "
            f"trilens.read_statements(path)"
        )
    elif isinstance(given, type) or hasattr(type(given), "fit"):
        why = f"got {shown(given)}; {TAKEN} (what asks for a fitted map has model=)"
    elif hasattr(given, "read") and hasattr(given, "close"):
        why = "got an open file; use trilens.Answers(path)"
    elif hasattr(given, "__next__"):
        why = f"got a {name}, which can be read only once; give list(...) of it"
    elif hasattr(given, "statements") and hasattr(given, "ids"):
        why = "got objects of statements; their .statements are the statements"
    elif isinstance(given, np.ma.MaskedArray) and np.ma.getmaskarray(given).any():
        why = "got an array with masked values; leave their rows out"
    elif isinstance(given, set | frozenset):
        why = f"got a {name}, which has no order; give a list of rows"
    elif hasattr(given, "tocoo") or hasattr(given, "todense"):
        what = f"a {name} of shape {getattr(given, 'shape', '')}"
        why = f"got {what}, a sparse matrix; give rows of three objects, an array (.toarray())"
    elif not is_table(given) and (way := _computing(given)) is not None:
        why = f"got a {name}, which is not computed yet; give .{way}() of it"
    elif isinstance(given, tuple) and len(given) == 2 and _width(given[0]) == 3:
        why = "got a pair of questions and answers; use trilens.Statements.from_responses(X, y)"
    else:
        return
    raise StatementError(f"expected statements, {why}")


def _computing(given: Any) -> str | None:
    """The method that computes a lazy table, of polars or Dask."""
    if not hasattr(type(given), "columns"):
        return None
    return next((way for way in ("collect", "compute") if hasattr(type(given), way)), None)


def _width(rows: Any) -> int | None:
    """The number of columns of an array of two dimensions."""
    shape = getattr(rows, "shape", None)
    return int(shape[1]) if isinstance(shape, tuple) and len(shape) == 2 else None


def as_array(values: Any, what: str) -> AnyArray:
    """``np.asarray``; one line for lists that make no array, such as rows of unequal length."""
    given = plain(values)
    try:
        return np.asarray(given)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise ParameterError(f"{what} cannot be made an array: {why}") from None


def as_list(values: Any, what: str) -> list[Any]:
    """``list``; one line for what cannot be gone through."""
    try:
        return list(values)
    except TypeError:
        raise ParameterError(f"{what} must be a list, not {type(values).__name__}") from None


def same_column(one: AnyArray | None, other: AnyArray | None) -> bool:
    """Whether two columns mean the same; what is not known equals what is not known."""
    if one is None or other is None:
        return one is other
    if one.dtype.kind == "f" and other.dtype.kind == "f":
        return np.array_equal(one, other, equal_nan=True)
    return np.array_equal(one, other)


def as_number(value: Any) -> float:
    """A number, perhaps with a decimal comma; NaN for what is none.

    >>> as_number("2,5"), as_number(3), as_number("x7")
    (2.5, 3.0, nan)
    """
    for text in (value, str(value).replace(",", ".", 1)):
        try:
            return float(text)
        except (TypeError, ValueError):
            continue
    return float("nan")


def are_whole(floats: AnyArray) -> bool:
    """Whether floats are whole numbers, each of them known exactly."""
    return bool((np.abs(floats) < 2.0**53).all() and (floats % 1 == 0).all())


def numbers_or_text(given: AnyArray) -> AnyArray:
    """Whole numbers and text as they are; anything else as text, empty where missing."""
    if given.dtype.kind == "U":
        unknown = (given == "nan") | (given == "NaN")  # NaN that was made text
        return np.where(unknown, "", given) if unknown.any() else given
    if given.dtype.kind in "biu":
        return given
    if given.dtype.kind == "f" and are_whole(given):
        return given.astype(np.int64)
    return text_array([_as_text(value) for value in given.tolist()])


def counts_up(index: Iterable[Any]) -> bool:
    """Whether an index is 0, 1, 2, ..., as rows are numbered that have no names."""
    return all(isinstance(i, Integral) and i == place for place, i in enumerate(index))


def is_missing(value: Any) -> bool:
    """Whether nothing is known: None, NaN, or pandas' own.

    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and isnan(value)


def _as_text(value: Any) -> str:
    if is_missing(value):
        return ""
    if isinstance(value, (float, np.floating)):
        # a whole number beside a missing one: the type of the array is not what was written
        return f"{value:.0f}" if value % 1 == 0 else str(value)
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return "" if text in ("nan", "NaN") else text


def text_array(texts: Sequence[str]) -> AnyArray:
    """Text of fixed width or, where one is long or would lose a NUL at its end, objects."""
    listed = np.array(texts, dtype=object)
    width = max(map(len, texts), default=0)
    if width <= _FIXED_WIDTH and not any(text.endswith("\0") for text in texts):
        return listed.astype(f"U{max(width, 1)}")
    return listed


def _seconds_of(given: AnyArray) -> AnyArray:
    if given.dtype.kind == "O":
        given = np.array([np.nan if _as_text(value) == "" else value for value in given.tolist()])
    if given.dtype.kind not in "iufb":
        raise StatementError(f"seconds must be numbers, got {given.dtype}; use NaN where unknown")
    seconds = given.astype(np.float64)
    seconds[np.isinf(seconds)] = np.nan
    return seconds


def _chosen_of(given: AnyArray) -> AnyArray:
    """Whether each question was chosen by earlier answers: booleans, or reasons as text."""
    if given.dtype.kind == "b" or given.size == 0:
        return given.astype(np.bool_)
    if given.dtype.kind not in "UO" or not all(isinstance(x, str) for x in given.tolist()):
        raise StatementError(
            f"chosen says of each question whether it was chosen by earlier answers: True or "
            f"False, or a reason ({', '.join(REASONS)}); got {given.dtype}"
        )
    strange = next((text for text in given.tolist() if not is_reason(text)), None)
    if strange is not None:
        raise StatementError(f"chosen: {unknown_reason(strange)}")
    return np.array([is_adaptive(text) for text in given.tolist()], dtype=np.bool_)


def is_reason(text: str) -> bool:
    """Whether a word for why a question was asked is known; an empty one says nothing.

    >>> is_reason("Random"), is_reason(""), is_reason("adaptiv")
    (True, True, False)
    """
    return text.strip().casefold() in ("", *REASONS)


def unknown_reason(text: str) -> str:
    """What is wrong with such a word."""
    return f"the reason {quoted(text)} is not known; the known ones are {', '.join(REASONS)}"


def none_at_random(n: int) -> str:
    """That answers have no shares, as earlier answers chose all of their questions."""
    return (
        f"all {n:,} questions were chosen by earlier answers, so that shares of the answers say "
        f"nothing; ask some questions at random, or use the choice map"
    )


def is_adaptive(reason: str) -> bool:
    """Whether a reason for a question says that earlier answers chose it.

    >>> is_adaptive("Adaptive"), is_adaptive("random")
    (True, False)
    """
    return reason.strip().casefold() == ADAPTIVE


def as_written(field: str, values: AnyArray) -> AnyArray:
    """What is known of each statement as files and tables have it."""
    return np.where(values, ADAPTIVE, "random") if field == "chosen" else values


def places_of(given: AnyArray) -> AnyArray:
    if given.size == 0:
        return given.astype(np.int8)
    if given.dtype.kind not in "iuf":
        raise StatementError(f"the positions of the chosen objects are 0, 1, 2, not {given.dtype}")
    wrong = np.flatnonzero(~np.isin(given, (0, 1, 2)))
    if len(wrong):
        row = int(wrong[0])
        raise StatementError(
            f"the position of the chosen object is {given[row]}, not 0, 1 or 2", row=row
        )
    return given.astype(np.int8)


_CHECKS = {"seconds": _seconds_of, "places": places_of, "chosen": _chosen_of}


def checked_field(name: str, values: ArrayLike | None, m: int) -> AnyArray | None:
    """What is known of each of ``m`` statements, such as their raters, as an array."""
    if values is None:
        return None
    try:
        given = as_array(values, name)
    except ParameterError as error:
        raise StatementError(f"{error}; there must be one value for each statement") from None
    if given.shape != (m,):
        raise StatementError(f"{name} has shape {given.shape}; there are {m} statements")
    column = _CHECKS.get(name, numbers_or_text)(given)
    column = column.copy() if column is given else column  # the caller may change his own
    column.flags.writeable = False
    return None if name == "chosen" and not column.any() else column
