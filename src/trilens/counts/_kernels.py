"""The compiled loops over statements.

Ids were checked when the statements were made; they are read as unsigned numbers, which
spares every access the test for a negative index.

A pair is counted once, with its smaller id first, in one of two planes: "third" when the
third object was singled out, "rest" otherwise. ``appears`` is the sum of the two planes.
Counting at random places of a matrix larger than the cache waits for memory at every step. So
`scatter` first deals the pairs out to tiles of 256 x 256 objects, as 16-bit keys in blocks of a
pool, and then `gather` counts each tile within the cache and writes it out, with its mirror
image, once. Five times as fast at 4,000 objects.

The keys of a run of statements are computed before any is counted: that loop is free of
dependencies, and the compiler turns it into vector instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trilens._compiled import compiled
from trilens._typing import AnyArray, Int32Array, IntArray

#: Statements whose keys are computed together; three such runs fit in the nearest cache.
_RUN = 1024
#: log2 of the number of keys in a block of the pool.
LOG_BLOCK = 10
_BLOCK = 1 << LOG_BLOCK
#: Side of a tile: two ids within it make a key of 16 bits.
SIDE = 256


@compiled()
def classes(triples: Int32Array, labels: Int32Array, n_classes: int) -> IntArray:
    """(2, n, K): singled and appears of Algorithm 3."""
    counted = np.zeros((2, len(labels), n_classes), dtype=np.int64)
    for i in range(len(triples)):
        a, b, c = np.uint32(triples[i, 0]), np.uint32(triples[i, 1]), np.uint32(triples[i, 2])
        of_a, of_b, of_c = labels[a], labels[b], labels[c]
        if of_b == of_c and of_b >= 0:
            counted[0, a, of_b] += 1
            counted[1, a, of_b] += 1
        if of_a == of_c and of_a >= 0:
            counted[1, b, of_a] += 1
        if of_a == of_b and of_a >= 0:
            counted[1, c, of_a] += 1
    return counted


@compiled()
def labelled_pairs(
    triples: Int32Array, column: Int32Array, row: Int32Array, counted: AnyArray
) -> None:
    """Add third and appears of Algorithm 4 to ``counted``, (2, rows, L).

    ``row`` and ``column`` say where an object stands; -1: nowhere.
    """
    for i in range(len(triples)):
        a, b, c = np.uint32(triples[i, 0]), np.uint32(triples[i, 1]), np.uint32(triples[i, 2])
        col_a, col_b, col_c = column[a], column[b], column[c]
        # the third object is a, the central one
        if col_a >= 0 and col_c >= 0 and row[b] >= 0:
            r = row[b]
            counted[0, r, col_c] += 1
            counted[1, r, col_c] += 1
            counted[1, r, col_a] += 1
        if col_a >= 0 and col_b >= 0 and row[c] >= 0:
            r = row[c]
            counted[0, r, col_b] += 1
            counted[1, r, col_b] += 1
            counted[1, r, col_a] += 1
        if col_b >= 0 and col_c >= 0 and row[a] >= 0:
            r = row[a]
            counted[1, r, col_b] += 1
            counted[1, r, col_c] += 1


@compiled()
def columns(
    a: AnyArray, b: AnyArray, c: AnyArray, first: AnyArray, second: AnyArray, third: AnyArray
) -> int:
    """Count statements whose three objects stand in three columns, and check them on the way.

    Returns the row of the first statement that names an object twice, or one beyond the
    counters (a negative number reads as a very large one); the number of rows where there is
    none. The rows before it are counted.
    """
    size = np.uint64(len(first))
    for i in range(len(a)):
        x, y, z = np.uint64(a[i]), np.uint64(b[i]), np.uint64(c[i])
        outside = (x >= size) | (y >= size) | (z >= size)
        if outside | (x == y) | (x == z) | (y == z):
            return i
        first[x] += 1
        second[y] += 1
        third[z] += 1
    return len(a)


@compiled(inline="always")
def _tile_and_key(x: Any, y: Any, n_side: int) -> tuple[Any, Any]:
    """The list of a pair's tile, for the plane "third", and its 16-bit place within the tile."""
    low, high = min(x, y), max(x, y)
    eight = np.uint32(8)
    tile = (low >> eight) * np.uint32(n_side) + (high >> eight)
    key = np.uint16((low << eight) | (high & np.uint32(255)))
    return np.uint32(2) * tile, key


@compiled()
def scatter(
    ids: Int32Array, n_side: int, closer: bool, pool: AnyArray, end: AnyArray, before: AnyArray
) -> None:
    """Deal the pairs of statements, ``ids`` end to end, out to lists for each tile and plane.

    List ``2 * (row * n_side + column) + plane`` goes on at ``end`` in the pool, 0 where it is
    empty, and takes a fresh block of the pool when its last one is full; ``before`` is the block
    that precedes a block in its list, -1 for the first.
    """
    m = len(ids) // 3
    lists = np.empty((3, _RUN), dtype=np.uint32)
    keys = np.empty((3, _RUN), dtype=np.uint16)
    one = np.uint32(1)
    log_block, in_block = np.uint32(LOG_BLOCK), np.uint32(_BLOCK - 1)
    free = np.uint32(0)
    for start in range(0, m, _RUN):
        size = min(_RUN, m - start)
        run = ids[3 * start : 3 * (start + size)]
        for i in range(size):
            a, b, c = np.uint32(run[3 * i]), np.uint32(run[3 * i + 1]), np.uint32(run[3 * i + 2])
            ab, key_ab = _tile_and_key(a, b, n_side)
            ac, key_ac = _tile_and_key(a, c, n_side)
            bc, key_bc = _tile_and_key(b, c, n_side)
            lists[0, i] = ab if closer else bc
            keys[0, i] = key_ab if closer else key_bc
            lists[1, i] = ac + one
            keys[1, i] = key_ac
            lists[2, i] = ab + one
            keys[2, i] = key_ab
        for pair in range(2 if closer else 3):
            of_list, of_key = lists[pair], keys[pair]
            for i in range(size):
                into = of_list[i]
                place = end[into]
                if place & in_block == 0:
                    before[free] = np.int32(place >> log_block) - np.int32(1)
                    place = free << log_block
                    free += one
                pool[place] = of_key[i]
                end[into] = place + one


@compiled()
def _count_list(pool: AnyArray, before: AnyArray, end: int, cells: AnyArray) -> None:
    if end == 0:
        return
    block = (end - 1) >> LOG_BLOCK
    while block >= 0:
        for place in range(block << LOG_BLOCK, end):
            cells[np.uint32(pool[place])] += np.uint32(1)
        block = before[block]
        end = (block + 1) << LOG_BLOCK


@compiled()
def gather(
    first: int,
    step: int,
    n_side: int,
    pool: AnyArray,
    end: AnyArray,
    before: AnyArray,
    third: AnyArray,
    appears: AnyArray,
) -> None:
    """Add every ``step``-th tile of the upper triangle to ``third`` and ``appears``, (n, n).

    ``pool``, ``end`` and ``before`` are those of `scatter`, with one more axis in front for
    the threads that filled them. Every cell belongs to exactly one tile.
    """
    in_third = np.empty(SIDE * SIDE, dtype=np.uint32)
    in_rest = np.empty(SIDE * SIDE, dtype=np.uint32)
    turn = 0
    for row in range(n_side):
        for column in range(row, n_side):
            turn += 1
            if (turn - 1) % step != first:
                continue
            in_third[:] = 0
            in_rest[:] = 0
            at = 2 * (row * n_side + column)
            for part in range(len(pool)):
                _count_list(pool[part], before[part], int(end[part, at]), in_third)
                _count_list(pool[part], before[part], int(end[part, at + 1]), in_rest)
            top, left = row * SIDE, column * SIDE
            width = min(SIDE, len(third) - left)
            for r in range(min(SIDE, len(third) - top)):
                to_third = third[top + r, left : left + width]
                to_appears = appears[top + r, left : left + width]
                from_third = in_third[SIDE * r : SIDE * r + width]
                from_rest = in_rest[SIDE * r : SIDE * r + width]
                for c in range(width):
                    to_third[c] += from_third[c]
                    to_appears[c] += from_third[c] + from_rest[c]
