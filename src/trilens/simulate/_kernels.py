"""The compiled loops: from question numbers to answered statements.

They state what `trilens.simulate.answers.answered` states in numpy, row by row, and give the
same bits. ``kind`` is 0 (central), 1 (odd) or 2 (closer). The answers are random, so a branch
on one is predicted wrongly half of the time: what differs from row to row is arithmetic, and
only ties, rare or common as the data are, take a branch.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._compiled import compiled

if TYPE_CHECKING:
    from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray

#: Questions under way together.
_BLOCK = 512

_compiled = compiled(error_model="numpy")
_inlined = compiled(error_model="numpy", inline="always")


@_inlined
def _last_object(rank: int, n: int) -> int:
    """The largest c with C(c, 3) <= rank; the cube root is hardly ever off."""
    c = min(int((6.0 * rank) ** (1.0 / 3.0)) + 1, n - 1)
    while (c * (c - 1) >> 1) * (c - 2) // 3 > rank:
        c -= 1
    while ((c + 1) * c >> 1) * (c - 1) // 3 <= rank:
        c += 1
    return c


@_inlined
def _middle_object(rest: int) -> int:
    """The largest b with C(b, 2) <= rest."""
    b = int((1.0 + sqrt(1.0 + 8.0 * rest)) * 0.5)
    while b * (b - 1) >> 1 > rest:
        b -= 1
    while (b + 1) * b >> 1 <= rest:
        b += 1
    return b


@_inlined
def _among(u: float, error_rate: float) -> float:
    """What is left of ``u``, uniform in [0, 1), after it has decided about the error."""
    half = 0.5 * error_rate
    if u >= error_rate:
        return (u - error_rate) / (1.0 - error_rate)
    return (u - half) / half if u >= half else u / half


@_inlined
def _choose(x: Any, y: Any, z: Any, kind: int, u: float, error_rate: float) -> tuple[int, bool]:
    """The place (0, 1, 2) of the most central or the odd object, and whether there is a tie.

    ``x, y, z`` are the sides opposite of the objects 0, 1, 2.
    """
    if kind == 0:
        is_x = int(x >= y) & int(x >= z)
        is_y = int(y >= x) & int(y >= z)
        is_z = int(z >= x) & int(z >= y)
    else:
        is_x = int(x <= y) & int(x <= z)
        is_y = int(y <= x) & int(y <= z)
        is_z = int(z <= x) & int(z <= y)
    n_candidates = is_x + is_y + is_z
    place = is_y + 2 * is_z
    tied = n_candidates > 1
    if tied:
        which = min(int(_among(u, error_rate) * n_candidates), n_candidates - 1)
        if is_x == 1 and which == 0:
            place = 0
        elif is_y == 1 and which == is_x:
            place = 1
        else:
            place = 2
    place += int(u < error_rate) + int((u >= 0.5 * error_rate) & (u < error_rate))
    return place - 3 * int(place > 2), tied


@_inlined
def _answer(
    out: Int32Array,
    at: int,
    triple: IntArray,
    sides: AnyArray,
    kind: int,
    u: float,
    error_rate: float,
    drop: bool,
) -> None:
    """Write a statement: the answer and the others in order; closer: anchor, near, far."""
    a, b, c, anchor = triple[0], triple[1], triple[2], triple[3]
    x, y, z = sides[0], sides[1], sides[2]
    if kind == 2:
        # the side opposite of one of the two is the other one's distance to the anchor
        if anchor == 0:
            first, one, two, to_one, to_two = a, b, c, z, y
        elif anchor == 1:
            first, one, two, to_one, to_two = b, c, a, x, z
        else:
            first, one, two, to_one, to_two = c, a, b, y, x
        tied = to_one == to_two
        near_one = int(to_one < to_two)
        if tied:
            near_one = int(_among(u, error_rate) < 0.5)
        near_one ^= int(u < error_rate)
        out[at, 1] = near_one * one + (1 - near_one) * two
        out[at, 2] = near_one * two + (1 - near_one) * one
    else:
        place, tied = _choose(x, y, z, kind, u, error_rate)
        is_a, is_c = int(place == 0), int(place == 2)
        is_b = 1 - is_a - is_c
        first = is_a * a + is_b * b + is_c * c
        out[at, 1] = is_a * b + (1 - is_a) * a
        out[at, 2] = is_c * b + (1 - is_c) * c
    out[at, 0] = -1 if drop and tied else first


@_inlined
def _unrank(
    questions: IntArray, start: int, stop: int, n: int, kind: int, triple: IntArray
) -> None:
    """The triples a < b < c of ``questions[start:stop]``, and the place of the anchor."""
    c, low, high = 2, 0, 1
    for i in range(start, stop):
        rank = questions[i]
        if kind == 2:
            rank //= 3
        if rank < low or rank >= high:  # most questions share the last object with the one before
            c = _last_object(rank, n)
            low = (c * (c - 1) >> 1) * (c - 2) // 3
            high = low + (c * (c - 1) >> 1)
        b = _middle_object(rank - low)
        triple[i - start, 0] = rank - low - (b * (b - 1) >> 1)
        triple[i - start, 1] = b
        triple[i - start, 2] = c
        triple[i - start, 3] = questions[i] - 3 * rank if kind == 2 else 0


@_compiled
def answer_questions(
    values: AnyArray,
    precomputed: bool,
    questions: IntArray,
    row: IntArray,
    u: FloatArray,
    error_rate: FloatArray,
    kind: int,
    drop: bool,
    out: Int32Array,
) -> None:
    """Answer ``questions[i]`` into ``out[row[i]]``; a dropped one has -1 in its first column.

    ``values`` are dissimilarities or, where these are not ``precomputed``, points that are
    compared by their squared Euclidean distances.
    """
    triple = np.empty((_BLOCK, 4), dtype=np.int64)
    sides = np.empty((_BLOCK, 3), dtype=values.dtype)
    for start in range(0, questions.shape[0], _BLOCK):
        stop = min(start + _BLOCK, questions.shape[0])
        _unrank(questions, start, stop, values.shape[0], kind, triple)
        if precomputed:
            _read_sides(values, triple, stop - start, sides)
        else:
            _compute_sides(values, triple, stop - start, sides)
        for i in range(start, stop):
            j = i - start
            _answer(out, row[i], triple[j], sides[j], kind, u[i], error_rate[i], drop)


@_inlined
def _read_sides(D: AnyArray, triple: IntArray, n: int, sides: AnyArray) -> None:
    # a loop of its own, free of branches, so that many reads from memory are under way
    for j in range(n):
        a, b, c = triple[j, 0], triple[j, 1], triple[j, 2]
        sides[j, 0] = D[c, b]
        sides[j, 1] = D[c, a]
        sides[j, 2] = D[b, a]


@_inlined
def _compute_sides(X: AnyArray, triple: IntArray, n: int, sides: AnyArray) -> None:
    for j in range(n):
        a, b, c = triple[j, 0], triple[j, 1], triple[j, 2]
        x = 0.0
        y = 0.0
        z = 0.0
        for k in range(X.shape[1]):
            x += (X[b, k] - X[c, k]) * (X[b, k] - X[c, k])
            y += (X[a, k] - X[c, k]) * (X[a, k] - X[c, k])
            z += (X[a, k] - X[b, k]) * (X[a, k] - X[b, k])
        sides[j, 0] = x
        sides[j, 1] = y
        sides[j, 2] = z
