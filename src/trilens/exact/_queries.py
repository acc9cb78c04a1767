# mypy: disable-error-code="no-untyped-def"
"""The compiled loops of queries: pairs of the sample whose side is longer than both to x."""

from __future__ import annotations

import numpy as np

from trilens.exact._compile import compiled


# sums of ones are exact in floats below 2**53 and, in 32 bits, 2**24, whatever the order
@compiled(fastmath={"reassoc"})
def count_pairs(rows, first, queries, found):
    """Add to ``found[x]`` the pairs i < j, i of ``rows`` (first, ...), whose lens holds x."""
    n = queries.shape[1]
    one, zero = np.float64(1), np.float64(0)
    for r in range(len(rows)):
        i = first + r
        row = rows[r, i + 1 : n]
        for x in range(len(queries)):
            q = queries[x, i + 1 : n]
            own = queries[x, i]
            inside = zero
            for k in range(len(row)):
                side, longest = row[k], q[k]
                longest = longest if longest > own else own
                inside += one if side > longest else zero
            found[x] += np.int64(inside)


@compiled(fastmath={"reassoc"})
def count_sides(sides, starts, first, stop, queries, found, equal):
    """The same from the sides of pairs one after another, in 32 bits.

    Marks ``equal[x, i - first]`` where a side is as long as the longer of the two to x.
    """
    n = queries.shape[1]
    one, zero = np.float32(1), np.float32(0)
    for i in range(first, stop):
        row = sides[starts[i] : starts[i + 1]]
        for x in range(len(queries)):
            q = queries[x, i + 1 : n]
            own = queries[x, i]
            inside, reach = zero, zero
            for k in range(len(row)):
                side, longest = row[k], q[k]
                longest = longest if longest > own else own
                inside += one if side > longest else zero
                reach += one if side >= longest else zero
            found[x] += np.int64(inside)
            if reach != inside:
                equal[x, i - first] = True
