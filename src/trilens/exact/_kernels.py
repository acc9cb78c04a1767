# mypy: disable-error-code="no-untyped-def, call-arg, assignment"
"""The compiled loops: lenses as intersections of two sets of bits.

Object k lies in Lens(i, j) exactly when k is nearer to i than j is, and nearer to j than i is:
two prefixes of the rows i and j, each put in order. For a tile of rows I x J every row is cut
at the ranks of the other side's objects, each column falls into one bucket between two cuts,
and the prefixes are running unions of the buckets, 64 columns to a word. A lens is then one
AND and one population count per 64 objects.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from trilens.exact._vectors import (
    PLANES,
    STEP,
    WORDS,
    add_vertically,
    fill_step,
    meet,
    meet_sizes,
    spread,
)

#: Columns in a chunk; the columns of the ranks are padded to a multiple of it.
CHUNK = 64 * WORDS
#: Rows in a tile at most: a bucket fits in 8 bits.
TILE = 192

#: A bucket of a row's values that holds more than this is left to numpy's sort.
CROWDED = 48

U = np.uint64


@njit(nogil=True, cache=True)
def cut(cuts, columns, table, keys, spare, histogram, order, buckets):
    """Buckets of one row's columns between the sorted cuts.

    Bucket s holds the columns that are below cut number s in order, and below no cut before
    it; the columns below no cut at all fall into bucket ``len(cuts)``.
    """
    b = len(cuts)
    for s in range(b):
        keys[s] = (np.uint32(cuts[s]) << np.uint32(8)) | np.uint32(s)
    # radix sort in two passes, of half the bits of the largest rank each
    half = np.uint32(1)
    while len(table) >> (np.uint32(2) * half):
        half += np.uint32(1)
    bins = (np.uint32(1) << half) - np.uint32(1)
    for digit in range(2):
        shift = np.uint32(8) + np.uint32(digit) * half
        source, target = (keys, spare) if digit == 0 else (spare, keys)
        histogram[: bins + 1] = np.uint32(0)
        for s in range(b):
            histogram[(source[s] >> shift) & bins] += np.uint32(1)
        total = np.uint32(0)
        for h in range(bins + np.uint32(1)):
            here = histogram[h]
            histogram[h] = total
            total += here
        for s in range(b):
            h = (source[s] >> shift) & bins
            target[histogram[h]] = source[s]
            histogram[h] += np.uint32(1)
    # whole steps may run over the next cut: the next bucket is written after, and over it
    start = np.int64(0)
    for s in range(b):
        stop = np.int64(keys[s] >> np.uint32(8))
        order[s] = np.uint8(keys[s])
        for at in range(start, stop, STEP):
            fill_step(table, at, np.uint8(s))
        start = stop
    table[start:] = np.uint8(b)
    for k in range(len(columns)):
        buckets[k] = table[columns[k]]


@njit(nogil=True, cache=True)
def scatter(buckets, first, b, sets):
    """The buckets of one chunk of columns as sets of bits.

    Column ``first + 8 * bit + word`` is that bit of that word: neighbours go to different
    words, so that equal ranks do not wait for each other's store.
    """
    sets[: (b + 1) * WORDS] = U(0)
    mask = U(1)
    k = U(first)
    for _ in range(64):
        for word in range(WORDS):
            sets[U(buckets[k + U(word)]) * U(WORDS) + U(word)] |= mask
        mask <<= U(1)
        k += U(WORDS)


@njit(nogil=True, cache=True)
def sweep(cuts, columns, top, i0, tile, want_counts, want_depth, counts, depth):
    """Lenses of the pairs (i, j) with i in one tile of rows and j from there on.

    ``cuts`` (n, n or more) are the ranks of the rows, ``columns`` (n, a multiple of CHUNK) the
    ranks of the objects that may lie in a lens, on the same scale, and at most ``top``. Writes
    the sizes into ``counts`` on both sides of the diagonal, and adds to ``depth``, the caller's own
    accumulator, the number of lenses that hold each column.
    """
    n = len(cuts)
    width = columns.shape[1]
    bi = min(tile, n - i0)
    # an odd stride, so that the writes of one object do not fall on the same lines of the cache
    stride = tile | 1
    held = np.empty(tile * stride * WORDS, np.uint64)
    buckets_i = np.empty((tile, width), np.uint8)
    buckets_j = np.empty((tile, width), np.uint8)
    order_i = np.empty((tile, tile), np.uint8)
    order_j = np.empty((tile, tile), np.uint8)
    table = np.empty(top + 1 + STEP, np.uint8)
    histogram = np.empty(512, np.uint32)
    keys = np.empty(tile, np.uint32)
    spare = np.empty(tile, np.uint32)
    sets = np.empty((tile + 1) * WORDS, np.uint64)
    lenses = np.zeros((tile + 15) // 16 * 16 * WORDS, np.uint64)
    planes = np.empty((PLANES, WORDS), np.uint64)
    sizes = np.empty((tile, tile), np.int32)
    for j0 in range(i0, n, tile):
        bj = min(tile, n - j0)
        for i in range(bi):
            row = i0 + i
            cut(
                cuts[row, j0 : j0 + bj],
                columns[row],
                table,
                keys,
                spare,
                histogram,
                order_i[i],
                buckets_i[i],
            )
        for j in range(bj):
            row = j0 + j
            cut(
                cuts[row, i0 : i0 + bi],
                columns[row],
                table,
                keys,
                spare,
                histogram,
                order_j[j],
                buckets_j[j],
            )
        sizes[:] = 0
        for first in range(0, width, CHUNK):
            for i in range(bi):
                scatter(buckets_i[i], first, bj, sets)
                spread(sets, order_i[i], bj, held, i, stride)
            planes[:] = U(0)
            for j in range(bj):
                scatter(buckets_j[j], first, bi, sets)
                if want_counts:
                    meet_sizes(sets, order_j[j], bi, held, j * stride, sizes[j])
                if want_depth:
                    # in a tile on the diagonal every pair comes twice
                    meet(sets, order_j[j], bi, held, j * stride, lenses, j0 + j - i0)
                    add_vertically(lenses, (bi + 15) // 16, planes)
            if want_depth:
                for bit in range(64):
                    for w in range(WORDS):
                        total = U(0)
                        for p in range(PLANES):
                            total |= ((planes[p, w] >> U(bit)) & U(1)) << U(p)
                        depth[first + bit * WORDS + w] += np.int64(total)
        if want_counts:
            for j in range(bj):
                for i in range(bi):
                    counts[j0 + j, i0 + i] = sizes[j, i]
                    counts[i0 + i, j0 + j] = sizes[j, i]


@njit(nogil=True, cache=True)
def rank_rows(D, start, stop, ranks, crowded):
    """Dense ranks of rows of float64, equal values sharing a rank, by a sort into n buckets.

    Distances from one object are spread smoothly as a rule; a row with too many values in one
    bucket is marked ``crowded`` and left alone. Returns the largest rank.
    """
    n = D.shape[1]
    bucket = np.empty(n, np.uint16)
    ends = np.empty(n + 1, np.int64)
    values = np.empty(n, np.float64)
    index = np.empty(n, np.int64)
    highest = 0
    for row in range(start, stop):
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
        highest = max(highest, rank)
    return highest


@njit(nogil=True, cache=True)
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
