"""Random orders that a seed alone is enough to repeat.

The questions of a study are numbered. A seed makes one random order of these numbers, and drawing
without replacement is walking along it: nothing but the seed and the place in the order has to be
kept to know what was drawn.
"""

from __future__ import annotations

from hashlib import blake2b
from math import comb

from trilens.statements import Kind

_ROUNDS = 6
_ORDERS = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))


def random_number(seed: int, *what: str | int) -> int:
    """A whole number below 2^64, random but always the same for the same arguments.

    >>> random_number(1, "a") == random_number(1, "a") != random_number(2, "a")
    True
    """
    return _number(8, seed, *what)


def _number(size: int, *what: str | int) -> int:
    text = ":".join(map(str, what))
    return int.from_bytes(blake2b(text.encode(), digest_size=size).digest(), "big")


def shuffled(seed: int, items: list[int], *what: str | int) -> list[int]:
    """The items in the random order that the seed makes."""
    return sorted(items, key=lambda item: (random_number(seed, *what, item), item))


def at_place(seed: int, place: int, size: int) -> int:
    """The number at a place of the seed's random order of 0 .. size - 1.

    A Feistel network on the next even number of bits, walked until the number is in range
    (Black and Rogaway 2002, "Ciphers with arbitrary finite domains").

    >>> sorted(at_place(7, place, 10) for place in range(10))
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    if not 0 <= place < size:
        raise ValueError(f"there is no place {place} in an order of {size} questions")
    half = max(1, ((size - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    # screens of many objects are more than a square of 2^64
    wide = max(8, (half + 7) // 8)
    value = place
    while True:
        left, right = value >> half, value & mask
        for step in range(_ROUNDS):
            left, right = right, left ^ (_number(wide, seed, "order", size, step, right) & mask)
        value = left << half | right
        if value < size:
            return value


def n_questions(kind: Kind, n_objects: int, shown: int = 3) -> int:
    """How many different questions there are: sets of objects, and for ``closer`` with an anchor.

    >>> n_questions("central", 60), n_questions("closer", 4), n_questions("odd", 10, shown=9)
    (34220, 12, 10)
    """
    return comb(n_objects, shown) * (shown if kind == "closer" else 1)


def unrank(kind: Kind, rank: int, shown: int = 3) -> tuple[int, ...]:
    """The objects of a question, in increasing order; for ``closer`` the anchor first.

    >>> [unrank("central", rank) for rank in range(4)]
    [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
    >>> unrank("closer", 1), unrank("odd", 4, shown=4)
    ((1, 0, 2), (1, 2, 3, 4))
    """
    if kind == "closer":
        some = unrank("central", rank // shown, shown)
        anchor = some[rank % shown]
        return anchor, *(i for i in some if i != anchor)
    found = []
    for size in range(shown, 0, -1):
        found.append(_largest(rank, size))
        rank -= comb(found[-1], size)
    return tuple(reversed(found))


def rank(kind: Kind, objects: tuple[int, ...]) -> int:
    """The number of a question, in whatever order its objects stand.

    >>> rank("central", (3, 0, 2)), rank("closer", (1, 2, 0)), rank("odd", (4, 1, 3, 2))
    (2, 1, 4)
    """
    some = sorted(objects)
    plain = sum(comb(each, size) for size, each in enumerate(some, 1))
    return plain if kind != "closer" else len(some) * plain + some.index(objects[0])


def shuffle_places(
    kind: Kind, objects: tuple[int, ...], seed: int, *what: str | int
) -> tuple[int, ...]:
    """The objects in the order in which they are shown; an anchor stays first."""
    if len(objects) > 3:
        first = objects[:1] if kind == "closer" else ()
        rest = shuffled(seed, list(objects[len(first) :]), "places", *what)
        return *first, *rest
    chance = random_number(seed, "places", *what)
    if kind == "closer":
        anchor, x, y = objects
        return (anchor, x, y) if chance % 2 else (anchor, y, x)
    i, j, k = _ORDERS[chance % 6]
    return objects[i], objects[j], objects[k]


def _largest(rank: int, size: int) -> int:
    """The largest n with comb(n, size) <= rank."""
    low, high = size - 1, size
    while comb(high, size) <= rank:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        if comb(middle, size) <= rank:
            low = middle
        else:
            high = middle
    return low
