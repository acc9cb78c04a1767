"""Cells of any type as text: the one converter for Arrow columns, JSON, workbooks and databases."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Sequence
from math import isnan
from typing import Any

import numpy as np
import pyarrow as pa

from trilens._typing import AnyArray, BoolArray
from trilens.errors import FormatError, StatementError
from trilens.statements.batch import parts
from trilens.statements.columns import as_number, one_line
from trilens.statements.layout import layout_error
from trilens.statements.names import is_missing, without_zero

_IMAGE = re.compile(r"<img[^>]*?\bsrc\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE)
#: Whole numbers beyond this are not known digit by digit.
EXACT_FLOAT = 2.0**53


def cell_text(value: Any) -> str | None:
    """A cell as text would have it; None where it is missing.

    >>> [cell_text(value) for value in ("a ", 2.0, 0.5, True, None, float("nan"), [1, 2])]
    ['a ', '2', '0.5', 'true', None, None, '[1, 2]']
    """
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, bool | dict | list):
        return json.dumps(value)
    return str(value)


def cells_of(column: Any) -> list[str | None]:
    """An Arrow column as stripped text; None where a cell is missing, or says so."""
    texts = map(cell_text, column.to_pylist())
    return [None if text is None or is_missing(text) else text.strip() for text in texts]


def list_of(cell: str | None) -> list[str]:
    """The parts of a cell that holds a list: JSON, or text with separators.

    >>> list_of("['a', 'b']"), list_of("a; b"), list_of("[3, 1]"), list_of("x")
    (['a', 'b'], ['a', 'b'], ['3', '1'], ['x'])
    """
    if cell is None:
        return []
    text = cell.strip()
    if text[:1] in ("[", "(") and text[-1:] in ("]", ")"):
        try:
            found = json.loads(text.replace("'", '"') if '"' not in text else text)
            if isinstance(found, list):
                return [each for each in map(cell_text, found) if each is not None]
        except ValueError:
            pass
        text = text[1:-1]
    for separator in (";", "|", ","):
        if separator in text:
            return [part.strip(" '\"") for part in text.split(separator) if part.strip(" '\"")]
    return [text.strip("'\"")] if text else []


def images_in(text: str) -> list[str]:
    """The pictures that a piece of HTML shows.

    >>> images_in('<p><img src="img/horse.jpg"> or <img width=9 src=img/cow.jpg></p>')
    ['img/horse.jpg', 'img/cow.jpg']
    """
    return [a or b or c for a, b, c in _IMAGE.findall(text)]


def missing_in(column: Any) -> BoolArray:
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)


def written_times(values: Sequence[str | None]) -> tuple[AnyArray, list[int]]:
    """Texts as numbers, NaN where missing and once more at the end; and which are none.

    >>> written_times(["2,5", "", "3", "1.5", "soon"])
    (array([2.5, nan, 3. , nan, nan, nan]), [3, 4])
    """
    times = np.full(len(values) + 1, np.nan)
    wrong: list[int] = []
    point: str | None = None
    for k, text in enumerate(values):
        if text is None or is_missing(text):
            continue
        marks = {",", "."} & set(text)
        point = point or next(iter(marks), None)
        time = as_number(text)
        if marks <= {point} and (time >= 0 or np.isinf(time)):
            times[k] = time
        else:
            wrong.append(k)
    return times, wrong


def is_number(cell: str) -> bool:
    """Whether a cell is a number, perhaps with a decimal comma.

    >>> [is_number(cell) for cell in ["7", "-0.5", "1e5", "2,281", "nan", "x7"]]
    [True, True, True, True, False, False]
    """
    return not isnan(as_number(cell))


def as_float(cell: Any) -> float | None:
    """A cell as a number; None where it is none.

    >>> as_float("2.5"), as_float(3), as_float("2,5"), as_float(None)
    (2.5, 3.0, None, None)
    """
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None


def is_text(type_: Any) -> bool:
    return bool(
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or getattr(pa.types, "is_string_view", lambda _: False)(type_)
    ) or (pa.types.is_dictionary(type_) and is_text(type_.value_type))


def decoded(column: Any) -> Any:
    """A dictionary of text as it is; of anything else, and with gaps, its values."""
    if not pa.types.is_dictionary(column.type):
        return column
    plain = pa.types.is_string(column.type.value_type) or pa.types.is_large_string(
        column.type.value_type
    )
    gaps = column.null_count or any(chunk.dictionary.null_count for chunk in column.chunks)
    if plain and not gaps:
        return column
    try:
        return column.cast(column.type.value_type)
    except pa.ArrowNotImplementedError:  # not every type of text has a cast
        return pa.chunked_array([pa.array(column.to_pylist())])


def has_zeros(column: Any) -> bool:
    """Whether a column of text has whole numbers such as ``7.0``."""
    values = (value for chunk in column.chunks for value in chunk.dictionary.to_pylist())
    return any(without_zero(value) != value for value in values)


def without_zeros(column: Any, kept: Container[str]) -> Any:
    """``7.0`` as ``7``: what pandas writes of a column of integers with a gap."""
    at, values = parts(column)
    texts = [value if value in kept else without_zero(value) for value in values]
    return encoded(pa.chunked_array([pa.array(texts, pa.string()).take(pa.array(at))]))


def encoded(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        return column
    if not pa.types.is_string(column.type):
        column = column.cast(pa.large_string())
    return column.dictionary_encode()


def as_text(column: Any, name: str, label: str | None, *, keep_integers: bool = False) -> Any:
    """A column that says something of the answers, as text or as integers."""
    column = decoded(column)
    if pa.types.is_dictionary(column.type) or (
        keep_integers and pa.types.is_integer(column.type) and column.type != pa.uint64()
    ):
        return column
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
        raise wrong_type(column, name, label, "it must hold text or whole numbers")
    if pa.types.is_floating(column.type):
        values = column.cast(pa.float64()).to_numpy()
        if (np.abs(values) >= EXACT_FLOAT).any():
            raise layout_error(
                label,
                f"column {one_line(name, 40)} has numbers too large to be kept digit by digit; "
                f"write them as text",
            )
        if (np.isnan(values) | (values % 1 == 0)).all():  # integers with a gap
            whole = np.nan_to_num(values).astype(np.int64)
            column = pa.chunked_array([pa.array(whole, mask=np.isnan(values))])
        elif np.isnan(values).any():
            column = pa.chunked_array([pa.array(values, from_pandas=True)])
    return encoded(column)


def wrong_type(
    column: Any, name: str, label: str | None, allowed: str
) -> FormatError | StatementError:
    return layout_error(
        label,
        f"column {one_line(name, 40)} holds {one_line(column.type, 60)}; "
        f"{allowed}: convert the column",
    )
