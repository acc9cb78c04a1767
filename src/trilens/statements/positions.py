"""Answers that say where the chosen object stood: numbers, letters, sides, names of columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trilens._parameters import shown as printed
from trilens._typing import AnyArray, BoolArray
from trilens.errors import StatementError, option
from trilens.statements.roles import key

#: Words for three places; those of a file are all from one line.
_OF_THREE: tuple[tuple[str, str, str], ...] = (
    ("left l", "middle mid m center centre central c", "right r"),
    ("top upper", "middle mid center centre", "bottom lower"),
    ("first 1st", "second 2nd", "third 3rd"),
    ("arrowleft", "arrowdown arrowup", "arrowright"),
    ("links", "mitte", "rechts"),
    ("gauche", "milieu centre", "droite"),
    ("izquierda", "centro medio", "derecha"),
    ("a", "b", "c"),
)
_VOCABULARIES: tuple[dict[str, int], ...] = tuple(
    {word: place for place, words in enumerate(line) for word in words.split()}
    for line in _OF_THREE
)
#: The places that remain where there are two; of letters and of those that count, the first two.
_ENDS = tuple(
    {word: int(place > 0) for word, place in words.items() if place != left_out}
    for words in _VOCABULARIES
    for left_out in [2 if {"a", "first"} & set(words) else 1]
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")


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
) -> Positions | None:
    """How the column of the different answers is to be taken: None where it holds names.

    ``among`` is called for whether the answers are names of objects that were shown with them;
    numbers begin at ``counts_from``, or tell it.

    >>> found = find_positions(["1", "3"], lambda: False, "answer", ["x", "y", "z"], None)
    >>> found.words, found.of(["1", "2", "3", "4"]).tolist()
    ('positions, from 1', [0, 1, 2, -1])
    """
    n = len(shown)
    seen = {plain(text) for text in chosen} - {""}
    if not seen or len(seen) > n + 1:
        return None
    if seen <= {str(i) for i in range(n + 1)}:
        return None if among() else _numbers(seen, n, column, counts_from)
    places = by_columns(seen, shown) or by_words(seen, shown)
    if places is None or among():
        return None
    return Positions(places, f"{', '.join(sorted(seen))} are positions")


def by_columns(seen: set[str], shown: Sequence[str]) -> dict[str, int] | None:
    """The place of each answer that names a column, or what differs between their names.

    >>> by_columns({"left", "image_mid"}, ["image_left", "image_mid", "image_right"])
    {'image_mid': 1, 'left': 0}
    """
    words = {key(word): i for names in _tokens(shown) for i, word in enumerate(names)}
    words |= {key(name): i for i, name in enumerate(shown)}
    if not all(key(text) in words for text in seen):
        return None
    return {text: words[key(text)] for text in sorted(seen)}


def by_words(seen: set[str], shown: Sequence[str]) -> dict[str, int] | None:
    """The place of each answer that is a word or a letter for one; None where it is not plain.

    >>> by_words({"left", "middle"}, ["item_right", "item_mid", "item_left"])
    {'left': 2, 'middle': 1}
    >>> by_words({"a", "c"}, ["first", "second", "third"])
    {'a': 0, 'c': 2}
    """
    found: list[dict[str, int]] = []
    for words in _VOCABULARIES if len(shown) == 3 else _ENDS:
        if not all(key(text) in words for text in seen):
            continue
        at = {words[key(text)]: text for text in seen}
        order = column_order(shown, words)
        places = {text: place if order is None else order[place] for place, text in at.items()}
        both = {key(text): text for text in seen}
        found.append({both[k]: places[at[words[k]]] for k in sorted(both)})
    return found[0] if found and all(each == found[0] for each in found) else None


def column_order(shown: Sequence[str], words: dict[str, int]) -> dict[int, int] | None:
    """Which column stands at each place, where the names of the columns say so."""
    for names in _tokens(shown):
        places = [words.get(key(name)) for name in names]
        if None not in places and len(set(places)) == len(shown):
            return {place: i for i, place in enumerate(places) if place is not None}
    return None


def in_screen_order(shown: Sequence[str]) -> list[int]:
    """The columns from left to right, A to C, 1 to 3, where their names say so.

    >>> in_screen_order(["right", "left", "mid"]), in_screen_order(["x", "y", "z"])
    ([1, 2, 0], [0, 1, 2])
    """
    for words in _VOCABULARIES if len(shown) == 3 else _ENDS:
        order = column_order(shown, words)
        if order is not None:
            return [order[place] for place in sorted(order)]
    for names in _tokens(shown):
        if all(name.isdigit() for name in names):
            return sorted(range(len(names)), key=lambda i: int(names[i]))
    return list(range(len(shown)))


def _tokens(names: Sequence[str]) -> list[list[str]]:
    """What differs between names: ``image_left``, ``image_mid`` -> ``left``, ``mid``."""
    cut = [[word.casefold() for word in _WORD.findall(name)] for name in names]
    common = set(cut[0]).intersection(*cut[1:]) if cut else set()
    rest = [[word for word in words if word not in common] for words in cut]
    found = [["".join(words) for words in rest]]
    if len({len(words) for words in rest}) == 1:
        found += [list(words) for words in zip(*rest, strict=True)]
    return [words for words in found if all(words) and len(set(words)) == len(names)]


def _numbers(seen: set[str], n: int, column: str, counts_from: int | None) -> Positions:
    base = counts_from
    if base is None:
        base = 0 if "0" in seen else 1 if str(n) in seen else None
    if base is None:
        raise StatementError(
            f"the answers in column {printed(column)} are positions ({', '.join(sorted(seen))}), "
            f"but do they count from 0 or from 1? Say it with {option('counts_from')}"
        )
    if (base == 0 and str(n) in seen) or (base == 1 and "0" in seen):
        raise StatementError(
            f"the answers in column {printed(column)} are {', '.join(sorted(seen))}; as positions "
            f"they go from {base} to {base + n - 1}: correct them, or say {option('counts_from')}"
        )
    return Positions({str(base + i): i for i in range(n)}, f"positions, from {base}")
