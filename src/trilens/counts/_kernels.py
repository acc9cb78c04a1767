"""The compiled loops over statements whose counters are per object.

Ids were checked when the statements were made; they are read as unsigned numbers, which
spares every access the test for a negative index.
"""

from __future__ import annotations

import numpy as np

from trilens._compiled import compiled
from trilens._typing import AnyArray, Int32Array, IntArray

#: A 32-bit counter cannot pass its end within so many statements.
_SPAN = 1 << 30


@compiled()
def central(triples: Int32Array, n: int) -> IntArray:
    """(2, n): how often each object stands first, and how often second or third."""
    total = np.zeros((2, n), dtype=np.int64)
    for start in range(0, len(triples), _SPAN):
        # counters of 32 bits: twice as many of them stay in the nearest cache
        first = np.zeros(n, dtype=np.uint32)
        rest = np.zeros(n, dtype=np.uint32)
        for i in range(start, min(start + _SPAN, len(triples))):
            first[np.uint32(triples[i, 0])] += np.uint32(1)
            rest[np.uint32(triples[i, 1])] += np.uint32(1)
            rest[np.uint32(triples[i, 2])] += np.uint32(1)
        for x in range(n):
            total[0, x] += first[x]
            total[1, x] += rest[x]
    return total


@compiled()
def nearer(triples: Int32Array, n: int) -> IntArray:
    """(2, n): how often each object stands second, and how often third."""
    total = np.zeros((2, n), dtype=np.int64)
    for start in range(0, len(triples), _SPAN):
        near = np.zeros(n, dtype=np.uint32)
        far = np.zeros(n, dtype=np.uint32)
        for i in range(start, min(start + _SPAN, len(triples))):
            near[np.uint32(triples[i, 1])] += np.uint32(1)
            far[np.uint32(triples[i, 2])] += np.uint32(1)
        for x in range(n):
            total[0, x] += near[x]
            total[1, x] += far[x]
    return total


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
    none. The rows before it are counted. ``second`` and ``third`` may be the same counters.
    """
    size = np.uint64(len(first))
    for i in range(len(a)):
        x, y, z = np.uint64(a[i]), np.uint64(b[i]), np.uint64(c[i])
        outside = (x >= size) | (y >= size) | (z >= size)
        if outside | (x == y) | (x == z) | (y == z):
            return i
        first[x] += np.uint32(1)
        second[y] += np.uint32(1)
        third[z] += np.uint32(1)
    return len(a)
