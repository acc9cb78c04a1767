"""Answers that are positions on the screen instead of names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from trilens._typing import AnyArray
from trilens.errors import FormatError
from trilens.formats.columns import Layout
from trilens.formats.roles import key
from trilens.formats.source import quoted

_WORDS_OF_THREE = {
    "left": 0,
    "l": 0,
    "middle": 1,
    "m": 1,
    "center": 1,
    "centre": 1,
    "right": 2,
    "r": 2,
    "first": 0,
    "second": 1,
    "third": 2,
}
_WORDS_OF_TWO = {"left": 0, "l": 0, "right": 1, "r": 1, "first": 0, "second": 1}


@dataclass(frozen=True)
class Positions:
    """What the answers mean: ``places`` from each text to a position, from 0."""

    places: dict[str, int]
    words: str

    def of(self, texts: Sequence[str]) -> AnyArray:
        """The position of each text, -1 for one that is none."""
        return np.array([self.places.get(plain(text), -1) for text in texts], dtype=np.int8)


def plain(text: str) -> str:
    """An answer as the table of positions has it; ``2.0`` is 2, as pandas writes it."""
    low = text.strip().casefold()
    return low[:-2] if low.endswith(".0") else low


def find_positions(
    chosen: Sequence[str],
    among: Any,
    layout: Layout,
    counts_from: int | None,
    label: str,
) -> Positions | None:
    """How the chosen column is to be taken: None where it holds names.

    Parameters
    ----------
    chosen
        The different answers.
    among
        Called for whether every answer is the name of an object that was shown with it.
    """
    n = 3 if layout.form == "shown" else 2
    shown = [layout.names[at] for at in layout.objects[-n:]]
    words = {key(name): i for i, name in enumerate(shown)}
    words |= _WORDS_OF_THREE if n == 3 else _WORDS_OF_TWO
    seen = {plain(text) for text in chosen} - {""}
    numbers = {text for text in seen if text.isdigit() and int(text) <= n}
    if not seen or len(seen) > n + 1:
        return None
    if seen <= {str(i) for i in range(n + 1)}:
        if among():
            return None
        return _numbers(numbers, n, counts_from, layout, label)
    named = {key(text): text for text in seen}
    if all(text in words for text in named) and not among():
        return Positions(
            {text: words[plain_key] for plain_key, text in named.items()},
            f"{', '.join(sorted(seen))} are positions",
        )
    return None


def _numbers(
    seen: set[str], n: int, counts_from: int | None, layout: Layout, label: str
) -> Positions:
    base = counts_from
    if base is None:
        base = 0 if "0" in seen else 1 if str(n) in seen else None
    name = layout.names[layout.objects[0]]
    if base is None:
        raise FormatError(
            f"{label}: the answers in column {quoted(name)} are positions "
            f"({', '.join(sorted(seen))}), but do they count from 0 or from 1? Say it with "
            f"counts_from= (--counts-from)"
        )
    if (base == 0 and str(n) in seen) or (base == 1 and "0" in seen):
        raise FormatError(
            f"{label}: the answers in column {quoted(name)} are {', '.join(sorted(seen))}; as "
            f"positions they go from {base} to {base + n - 1}: correct them, or counts_from= "
            f"(--counts-from)"
        )
    return Positions({str(base + i): i for i in range(n)}, f"positions, from {base}")


def distinct(column: Any) -> list[str]:
    """The different values of a column, as text."""
    values = column.unique()
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return [value for value in values.cast(pa.string()).to_pylist() if value is not None]
