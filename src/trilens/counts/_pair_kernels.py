"""The compiled loops that count pairs.

A pair is counted once, with its smaller id first, in one of two planes: "third" when the
third object was singled out, "rest" otherwise. ``appears`` is the sum of the two planes.

Three ways, by the room that the counters take:

- `count_bytes`: few objects. One byte per pair and plane, which stays in the cache; a byte
  that comes round to 0 is noted in a list, as 256.
- `scatter` and `gather`: many objects. Counting at random places of a matrix larger than
  the cache waits for memory at every step. So pairs are first dealt out to tiles of
  256 x 256 objects, as 16-bit keys in blocks of a pool, and then each tile is counted within
  the cache and written out, with its mirror image, once.
- `pair_keys`, `row_lengths` and `fill_rows`: objects too many for a matrix. Sorted 64-bit
  keys, made into the rows of a sparse matrix.

The keys of a run of statements are computed before any is counted: that loop is free of
dependencies, and the compiler turns it into vector instructions.
"""

from __future__ import annotations

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
def count_bytes(ids: Int32Array, n: int, closer: bool, planes: AnyArray, carried: AnyArray) -> int:
    """Count pairs modulo 256 in ``planes``, (2, n * n) uint8: third and rest.

    ``ids`` are the statements end to end. ``carried`` receives ``2 * cell + plane`` for each
    256 that a cell of the plane has lost; the number of them is returned.
    """
    width = np.uint32(n)
    m = len(ids) // 3
    third, rest = planes[0], planes[1]
    keys_0 = np.empty(_RUN, dtype=np.uint32)
    keys_1 = np.empty(_RUN, dtype=np.uint32)
    keys_2 = np.empty(_RUN, dtype=np.uint32)
    n_carried = np.uint64(0)
    one, two, next_carried = np.uint8(1), np.uint32(2), np.uint64(1)
    for start in range(0, m, _RUN):
        size = min(_RUN, m - start)
        run = ids[3 * start : 3 * (start + size)]
        for i in range(size):
            a, b, c = np.uint32(run[3 * i]), np.uint32(run[3 * i + 1]), np.uint32(run[3 * i + 2])
            ab = min(a, b) * width + max(a, b)
            ac = min(a, c) * width + max(a, c)
            bc = min(b, c) * width + max(b, c)
            keys_0[i] = ab if closer else bc
            keys_1[i] = ac
            keys_2[i] = ab
        for i in range(size):
            cell = keys_0[i]
            value = np.uint8(third[cell] + one)
            third[cell] = value
            if value == 0:
                carried[n_carried] = two * cell
                n_carried += next_carried
            cell = keys_1[i]
            value = np.uint8(rest[cell] + one)
            rest[cell] = value
            if value == 0:
                carried[n_carried] = two * cell + np.uint32(1)
                n_carried += next_carried
            if not closer:
                cell = keys_2[i]
                value = np.uint8(rest[cell] + one)
                rest[cell] = value
                if value == 0:
                    carried[n_carried] = two * cell + np.uint32(1)
                    n_carried += next_carried
    return int(n_carried)


@compiled()
def add_bytes(planes: AnyArray, carried: AnyArray, third: AnyArray, appears: AnyArray) -> None:
    """Add what `count_bytes` counted to flat (n * n) counts, smaller id first."""
    for cell in range(len(third)):
        of_third = np.int32(planes[0, cell])
        third[cell] += of_third
        appears[cell] += of_third + np.int32(planes[1, cell])
    for entry in carried:
        cell = entry >> 1
        appears[cell] += 256
        if entry & 1 == 0:
            third[cell] += 256


@compiled()
def scatter(
    ids: Int32Array, n_side: int, closer: bool, pool: AnyArray, end: AnyArray, before: AnyArray
) -> None:
    """Deal the pairs of statements out to lists, one for each tile and plane.

    Parameters
    ----------
    ids
        The statements end to end.
    n_side
        Tiles per side of the matrix; list ``2 * (row * n_side + column) + plane``.
    pool : (blocks * 1024,) uint16
        Room for the keys; a list takes a fresh block when its last one is full.
    end : (2 * n_side**2,) uint32, zeros
        Where in the pool each list goes on; 0 for an empty list.
    before : (blocks,) int32
        The block that precedes a block in its list, -1 for the first.
    """
    side = np.uint32(n_side)
    m = len(ids) // 3
    lists = np.empty((3, _RUN), dtype=np.uint32)
    keys = np.empty((3, _RUN), dtype=np.uint16)
    eight, low_byte, one, two = np.uint32(8), np.uint32(255), np.uint32(1), np.uint32(2)
    log_block, in_block = np.uint32(LOG_BLOCK), np.uint32(_BLOCK - 1)
    free = np.uint32(0)
    for start in range(0, m, _RUN):
        size = min(_RUN, m - start)
        run = ids[3 * start : 3 * (start + size)]
        for i in range(size):
            a, b, c = np.uint32(run[3 * i]), np.uint32(run[3 * i + 1]), np.uint32(run[3 * i + 2])
            low, high = min(a, b), max(a, b)
            ab = two * ((low >> eight) * side + (high >> eight))
            key_ab = np.uint16((low << eight) | (high & low_byte))
            low, high = min(a, c), max(a, c)
            ac = two * ((low >> eight) * side + (high >> eight))
            key_ac = np.uint16((low << eight) | (high & low_byte))
            low, high = min(b, c), max(b, c)
            bc = two * ((low >> eight) * side + (high >> eight))
            key_bc = np.uint16((low << eight) | (high & low_byte))
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
    n: int,
    pool: AnyArray,
    end: AnyArray,
    before: AnyArray,
    add: bool,
    third: AnyArray,
    appears: AnyArray,
) -> None:
    """Count every ``step``-th tile of the upper triangle and write it and its mirror image.

    ``pool``, ``end`` and ``before`` are those of `scatter`, with one more axis in front for
    the threads that filled them. ``third`` and ``appears`` are flat (n * n); they are
    overwritten or, with ``add``, added to. Every cell belongs to exactly one tile.
    """
    n_side = (n + SIDE - 1) // SIDE
    flat_third = np.empty(SIDE * SIDE, dtype=np.uint32)
    flat_rest = np.empty(SIDE * SIDE, dtype=np.uint32)
    tile_third = flat_third.reshape(SIDE, SIDE)
    tile_rest = flat_rest.reshape(SIDE, SIDE)
    # 16 more than a row needs: rows a power of two apart would push each other out of the cache
    rows_third = np.empty((16, SIDE + 16), dtype=np.uint32)
    rows_both = np.empty((16, SIDE + 16), dtype=np.uint32)
    turn = 0
    for row in range(n_side):
        for column in range(row, n_side):
            turn += 1
            if (turn - 1) % step != first:
                continue
            flat_third[:] = 0
            flat_rest[:] = 0
            at = 2 * (row * n_side + column)
            for part in range(len(pool)):
                _count_list(pool[part], before[part], int(end[part, at]), flat_third)
                _count_list(pool[part], before[part], int(end[part, at + 1]), flat_rest)
            if row == column:
                for r in range(SIDE):
                    for c in range(r):
                        tile_third[r, c] = tile_third[c, r]
                        tile_rest[r, c] = tile_rest[c, r]
            top, left = row * SIDE, column * SIDE
            height, width = min(SIDE, n - top), min(SIDE, n - left)
            for r in range(height):
                start = (top + r) * n + left
                to_third, to_appears = third[start : start + width], appears[start : start + width]
                from_third, from_rest = tile_third[r], tile_rest[r]
                if add:
                    for c in range(width):
                        to_third[c] += from_third[c]
                        to_appears[c] += from_third[c] + from_rest[c]
                else:
                    for c in range(width):
                        to_third[c] = from_third[c]
                        to_appears[c] = from_third[c] + from_rest[c]
            if row == column:
                continue
            # the mirror image, 16 columns at a time: they are turned into rows in the nearest
            # cache, and the rows written at full length
            for start_16 in range(0, width, 16):
                for c in range(SIDE):
                    for k in range(16):
                        rows_third[k, c] = tile_third[c, start_16 + k]
                        rows_both[k, c] = tile_third[c, start_16 + k] + tile_rest[c, start_16 + k]
                for k in range(min(16, width - start_16)):
                    start = (left + start_16 + k) * n + top
                    to_third = third[start : start + height]
                    to_appears = appears[start : start + height]
                    from_third, from_both = rows_third[k], rows_both[k]
                    if add:
                        for c in range(height):
                            to_third[c] += from_third[c]
                            to_appears[c] += from_both[c]
                    else:
                        for c in range(height):
                            to_third[c] = from_third[c]
                            to_appears[c] = from_both[c]


@compiled()
def pair_keys(triples: Int32Array, closer: bool, keys: AnyArray) -> None:
    """``smaller id << 32 | larger id << 1 | third`` for each pair, into (2 or 3, m) uint64."""
    up, one = np.uint64(32), np.uint64(1)
    for i in range(len(triples)):
        a, b, c = np.uint64(triples[i, 0]), np.uint64(triples[i, 1]), np.uint64(triples[i, 2])
        ab = (min(a, b) << up) | (max(a, b) << one)
        keys[0, i] = (min(a, c) << up) | (max(a, c) << one)
        if closer:
            keys[1, i] = ab | one
        else:
            keys[1, i] = ab
            keys[2, i] = (min(b, c) << up) | (max(b, c) << one) | one


@compiled()
def row_lengths(keys: AnyArray, lengths: IntArray) -> None:
    """Stored cells per row, of third and appears, from sorted keys.

    ``lengths`` is (2, 2, n) zeros: plane (third, appears); columns below the row's own id,
    columns above it.
    """
    place = 0
    while place < len(keys):
        pair = keys[place] >> np.uint64(1)
        low = np.uint32(pair >> np.uint64(31))
        high = np.uint32(pair & np.uint64(0x7FFFFFFF))
        while place < len(keys) and keys[place] >> np.uint64(1) == pair:
            place += 1
        lengths[1, 0, high] += 1
        lengths[1, 1, low] += 1
        # keys of a pair that are third stand last
        if keys[place - 1] & np.uint64(1):
            lengths[0, 0, high] += 1
            lengths[0, 1, low] += 1


@compiled()
def fill_rows(
    keys: AnyArray,
    next_third: IntArray,
    third_columns: AnyArray,
    third_values: AnyArray,
    next_appears: IntArray,
    appears_columns: AnyArray,
    appears_values: AnyArray,
) -> None:
    """Store the counts of sorted keys on both sides of the diagonal, columns in order.

    ``next_third`` and ``next_appears``, (2, n), say where each row goes on, below and above
    the diagonal. Pairs come in order of the smaller id, then of the larger: in that order
    the columns of a row grow, on either side of the diagonal.
    """
    place = 0
    while place < len(keys):
        pair = keys[place] >> np.uint64(1)
        low = np.uint32(pair >> np.uint64(31))
        high = np.uint32(pair & np.uint64(0x7FFFFFFF))
        appears = 0
        third = 0
        while place < len(keys) and keys[place] >> np.uint64(1) == pair:
            appears += 1
            third += int(keys[place] & np.uint64(1))
            place += 1
        appears_columns[next_appears[0, high]] = low
        appears_values[next_appears[0, high]] = appears
        next_appears[0, high] += 1
        appears_columns[next_appears[1, low]] = high
        appears_values[next_appears[1, low]] = appears
        next_appears[1, low] += 1
        if third:
            third_columns[next_third[0, high]] = low
            third_values[next_third[0, high]] = third
            next_third[0, high] += 1
            third_columns[next_third[1, low]] = high
            third_values[next_third[1, low]] = third
            next_third[1, low] += 1
