# mypy: disable-error-code="no-untyped-def, call-arg, assignment, attr-defined"
"""The compiled loops: lenses as intersections of two sets of bits.

Object k lies in Lens(i, j) exactly when k is nearer to i than j is, and nearer to j than i is:
two prefixes of the rows i and j, each put in order. The ranks of a row are kept as planes of
bits, 64 columns to a word, and read in three digits. For a chunk of columns a table says for
every value of a digit which columns have a lower one; two ANDs and ORs of its entries make a
prefix, and a lens is one AND and one population count per 64 objects.
"""

from __future__ import annotations

import numpy as np

from trilens.exact._compile import compiled
from trilens.exact.engine import loops

_loops = loops()
fill_1, fill_2, fill_3 = _loops.fill_1, _loops.fill_2, _loops.fill_3
fill_4, fill_5, fill_6 = _loops.fill_4, _loops.fill_5, _loops.fill_6
meet, slice_word, join_word = _loops.meet, _loops.slice_word, _loops.join_word

#: Words and columns in a chunk; the columns of the ranks are padded to a multiple of it.
WORDS = 8
CHUNK = 64 * WORDS
#: Rows j whose tables are held at once: together they fit in the second cache.
ROWS = 128

#: A bucket of a row's values that holds more than this is left to numpy's sort.
CROWDED = 48


@compiled(inline="always")
def fill(n_bits, planes, first, table, at):
    """The table of one digit."""
    if n_bits == 1:
        fill_1(planes, first, table, at)
    elif n_bits == 2:
        fill_2(planes, first, table, at)
    elif n_bits == 3:
        fill_3(planes, first, table, at)
    elif n_bits == 4:
        fill_4(planes, first, table, at)
    elif n_bits == 5:
        fill_5(planes, first, table, at)
    else:
        fill_6(planes, first, table, at)


@compiled()
def slice_ranks(ranks, planes, n_bits):
    """Planes (rows, chunks, bits, WORDS) of ranks (rows, chunks * CHUNK)."""
    chunks = planes.shape[1]
    flat = planes.reshape(-1)
    numbers = ranks.reshape(-1)
    for row in range(len(planes)):
        for chunk in range(chunks):
            to = (row * chunks + chunk) * n_bits * WORDS
            for word in range(WORDS):
                at = (row * chunks + chunk) * CHUNK + 64 * word
                slice_word(numbers, at, n_bits, flat, to + word)


@compiled()
def lens_sizes(planes_i, i0, planes_j, j0, first, rows, n_bits, plain, ties, sizes):
    """Sizes of the lenses of rows i with ``rows`` rows j, from row ``first`` of planes_j on.

    Row r of ``planes_i`` is object i0 + r, row r of ``planes_j`` object j0 + r. ``first`` makes
    j0 + first a multiple of 64. Adds to ``sizes[m, r, c]``, of (1 or 4, len(planes_i), ROWS), the
    size for the pair of row r and row first + c: with ``plain``, for m = 0, of the lens itself;
    with ``ties``, for m = 1, 2, 3, of what it becomes when objects as far as j from i, as far as
    i from j, or both are let in.
    """
    n_i, chunks = planes_i.shape[0], planes_i.shape[1]
    low = min(6, n_bits // 3)
    middle = min(6, (n_bits - low) // 2)
    high = n_bits - low - middle
    to_middle = (1 << low) + 1
    to_high = to_middle + (1 << middle) + 1
    entries = to_high + (1 << high) + 1
    one = np.empty(entries * WORDS, np.uint64)
    many = np.empty(ROWS * entries * WORDS, np.uint64)
    cuts_i = np.zeros((n_i, ROWS), np.uint16)
    cuts_j = np.zeros((n_i, ROWS), np.uint16)
    flat_i, flat_j = planes_i.reshape(-1), planes_j.reshape(-1)
    step = n_bits * WORDS
    # where row j is cut for object i, and row i for object j
    span = i0 // 64 * 64
    row = np.empty((i0 + n_i - span + 63) // 64 * 64, np.uint16)
    for c in range(rows):
        for k in range(0, len(row), 64):
            column = span + k
            at = ((first + c) * chunks + column // CHUNK) * step + column % CHUNK // 64
            join_word(flat_j, at, n_bits, row, k)
        for r in range(n_i):
            cuts_j[r, c] = row[i0 - span + r]
    at_i, at_j = cuts_i.reshape(-1), cuts_j.reshape(-1)
    for r in range(n_i):
        for k in range(0, rows, 64):
            column = j0 + first + k
            at = (r * chunks + column // CHUNK) * step + column % CHUNK // 64
            join_word(flat_i, at, n_bits, at_i, r * ROWS + k)
    next_i = at_i + np.uint16(1) if ties else at_i
    next_j = at_j + np.uint16(1) if ties else at_j
    found = sizes.reshape(len(sizes), -1)
    for chunk in range(chunks):
        for c in range(rows):
            at = ((first + c) * chunks + chunk) * n_bits
            fill(low, flat_j, at, many, c * entries)
            fill(middle, flat_j, at + low, many, c * entries + to_middle)
            fill(high, flat_j, at + low + middle, many, c * entries + to_high)
        for r in range(n_i):
            at = (r * chunks + chunk) * n_bits
            fill(low, flat_i, at, one, 0)
            fill(middle, flat_i, at + low, one, to_middle)
            fill(high, flat_i, at + low + middle, one, to_high)
            to = r * ROWS
            if plain:
                meet(one, many, entries, at_i, at_j, to, rows, low, middle, found[0])
            if ties:
                meet(one, many, entries, next_i, at_j, to, rows, low, middle, found[1])
                meet(one, many, entries, at_i, next_j, to, rows, low, middle, found[2])
                meet(one, many, entries, next_i, next_j, to, rows, low, middle, found[3])


@compiled()
def rank_rows(D, ranks, tops, crowded):
    """Dense ranks of rows of float64, equal values sharing a rank, by a sort into n buckets.

    Distances from one object are spread smoothly as a rule; a row with too many values in one
    bucket is marked ``crowded`` and left alone. Writes the largest rank of each row.
    """
    n = D.shape[1]
    bucket = np.empty(n, np.uint16)
    ends = np.empty(n + 1, np.int64)
    values = np.empty(n, np.float64)
    index = np.empty(n, np.int64)
    for row in range(len(D)):
        x = D[row]
        top = 0.0
        for k in range(n):
            top = max(top, x[k])
        # dividing first keeps the scale finite for the smallest and largest floats
        for k in range(n):
            share = x[k] / top if top > 0.0 else 0.0
            bucket[k] = np.uint16(share * (n - 1))
        ends[:] = 0
        for k in range(n):
            ends[np.int64(bucket[k]) + 1] += 1
        largest = 0
        for k in range(n):
            largest = max(largest, ends[k + 1])
            ends[k + 1] += ends[k]
        if largest > CROWDED:
            crowded[row] = True
            continue
        for k in range(n):
            at = ends[bucket[k]]
            # the buckets before are full or filling below, so this walks within the bucket
            ends[bucket[k]] += 1
            values[at] = x[k]
            index[at] = k
        for k in range(1, n):
            value, what = values[k], index[k]
            at = k
            while at > 0 and values[at - 1] > value:
                values[at] = values[at - 1]
                index[at] = index[at - 1]
                at -= 1
            values[at] = value
            index[at] = what
        rank = 0
        for k in range(n):
            if k > 0 and values[k] != values[k - 1]:
                rank += 1
            ranks[row, index[k]] = np.uint16(rank)
        tops[row] = rank


@compiled()
def search_breadth_first(starts, neighbours, steps):
    """Write the length of the shortest path from every vertex to every other, all reachable.

    ``starts`` and ``neighbours`` are the index pointers and indices of a CSR adjacency.
    """
    n = len(steps)
    queue = np.empty(n, np.int64)
    seen = np.full(n, -1)
    for source in range(n):
        row = steps[source]
        row[source] = 0
        seen[source] = source
        queue[0] = source
        filled = 1
        for at in range(n):
            vertex = queue[at]
            for e in range(starts[vertex], starts[vertex + 1]):
                neighbour = neighbours[e]
                if seen[neighbour] != source:
                    seen[neighbour] = source
                    row[neighbour] = row[vertex] + 1
                    queue[filled] = neighbour
                    filled += 1
