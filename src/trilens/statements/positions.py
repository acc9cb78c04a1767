"""Answers that are positions on the screen instead of names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trilens._parameters import shown as printed
from trilens._typing import AnyArray, BoolArray
from trilens.errors import StatementError
from trilens.statements.roles import key

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


def are_names(among: BoolArray) -> bool:
    """Whether answers are names, by which of them name an object that was shown.

    Answers by name may hold a slip or two; positions are names by accident at best.
    """
    return bool(among.mean() > 0.9)


def find_positions(
    chosen: Sequence[str],
    among: Callable[[], bool],
    column: str,
    shown: Sequence[str],
    counts_from: int | None,
    advice: str,
) -> Positions | None:
    """How the chosen column is to be taken: None where it holds names.

    Parameters
    ----------
    chosen
        The different answers.
    among
        Called for whether the answers are names of objects that were shown with them.
    column, shown
        The names of the column of answers, and of those of the objects to choose from.
    counts_from
        Where numbers begin, 0 or 1; by default they tell.
    advice
        How to say where they begin.

    Examples
    --------
    >>> found = find_positions(["1", "3"], lambda: False, "answer", ["x", "y", "z"], None, "")
    >>> found.words, found.of(["1", "2", "3", "4"]).tolist()
    ('positions, from 1', [0, 1, 2, -1])
    """
    n = len(shown)
    words = {key(name): i for i, name in enumerate(shown)}
    words |= _WORDS_OF_THREE if n == 3 else _WORDS_OF_TWO
    seen = {plain(text) for text in chosen} - {""}
    if not seen or len(seen) > n + 1:
        return None
    if seen <= {str(i) for i in range(n + 1)}:
        return None if among() else _numbers(seen, n, column, counts_from, advice)
    named = {key(text): text for text in seen}
    if all(text in words for text in named) and not among():
        return Positions(
            {text: words[plain_key] for plain_key, text in named.items()},
            f"{', '.join(sorted(seen))} are positions",
        )
    return None


def _numbers(
    seen: set[str], n: int, column: str, counts_from: int | None, advice: str
) -> Positions:
    base = counts_from
    if base is None:
        base = 0 if "0" in seen else 1 if str(n) in seen else None
    if base is None:
        raise StatementError(
            f"the answers in column {printed(column)} are positions ({', '.join(sorted(seen))}), "
            f"but do they count from 0 or from 1? Say it with {advice}"
        )
    if (base == 0 and str(n) in seen) or (base == 1 and "0" in seen):
        raise StatementError(
            f"the answers in column {printed(column)} are {', '.join(sorted(seen))}; as positions "
            f"they go from {base} to {base + n - 1}: correct them, or {advice}"
        )
    return Positions({str(base + i): i for i in range(n)}, f"positions, from {base}")
