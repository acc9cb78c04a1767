# mypy: disable-error-code="no-untyped-def"
"""The compiled loops: shortest paths, lenses that hold a point, the search of the k-RNG."""

from __future__ import annotations

from typing import Any

import numpy as np

from trilens import _compiled

#: As it is, for loops whose arguments are not annotated.
compiled: Any = _compiled.compiled

#: Boxes that a search may hold at once: two for each level of a tree of 2**60 points.
DEEP = 128
#: Roundings are left to the exact comparison of points: no box is dropped for less than this.
SLACK = 1e-9


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


@compiled()
def count_lenses(points, A, B, found):
    """Add to ``found[x]`` the pairs A[p], B[p] whose lens holds column x of ``points`` (d, n).

    Squares of distances compare as the distances do.
    """
    d, n = points.shape
    to_a, to_b = np.empty(512), np.empty(512)
    for at in range(0, n, 512):
        size = min(512, n - at)
        for p in range(len(A)):
            side = 0.0
            for c in range(d):
                step = A[p, c] - B[p, c]
                side += step * step
            to_a[:size] = 0.0
            to_b[:size] = 0.0
            for c in range(d):
                a, b = A[p, c], B[p, c]
                row = points[c, at : at + size]
                for x in range(size):
                    to_a[x] += (row[x] - a) * (row[x] - a)
                    to_b[x] += (row[x] - b) * (row[x] - b)
            here = found[at : at + size]
            for x in range(size):
                here[x] += np.int32((to_a[x] < side) & (to_b[x] < side))


# The k-RNG of points in few dimensions: a box of points j is dropped for a point i when k
# neighbors p of i are nearer to every place of the box than i is, for then they lie in every
# lens of i with the box.


@compiled()
def distance(x, y):
    """The distance, added up in the order of the coordinates as scipy does."""
    total = 0.0
    for c in range(len(x)):
        step = abs(x[c] - y[c])
        total += step * step
    return np.sqrt(total)


@compiled()
def nearest_place(x, low, high):
    """Distance of a point to a box, a little less for safety."""
    total = 0.0
    for c in range(len(x)):
        step = max(low[c] - x[c], x[c] - high[c], 0.0)
        total += step * step
    return np.sqrt(total) * (1 - SLACK)


@compiled()
def nearer_everywhere(p, i, low, high):
    """Whether p is nearer than i to every place of a box."""
    least, scale = 0.0, 0.0
    for c in range(len(p)):
        middle, way = (p[c] + i[c]) / 2, p[c] - i[c]
        a, b = way * (low[c] - middle), way * (high[c] - middle)
        least += min(a, b)
        scale += max(abs(a), abs(b))
    return least > SLACK * scale


@compiled(inline="always")
def open_box(box, boxes, held, lefts, rights):
    """Put the two halves of a box on the pile; how many boxes it holds then."""
    boxes[held] = lefts[box]
    boxes[held + 1] = rights[box]
    return held + 2


@compiled()
def lens_size(X, i, j, side, most, lows, highs, starts, stops, lefts, rights):
    """Points in Lens(i, j), counted no farther than ``most``."""
    boxes = np.empty(DEEP, np.int64)
    boxes[0] = 0
    held, size = 1, 0
    while held > 0:
        held -= 1
        box = boxes[held]
        if nearest_place(X[i], lows[box], highs[box]) >= side:
            continue
        if nearest_place(X[j], lows[box], highs[box]) >= side:
            continue
        if lefts[box] >= 0:
            held = open_box(box, boxes, held, lefts, rights)
            continue
        for x in range(starts[box], stops[box]):
            if distance(X[i], X[x]) < side and distance(X[j], X[x]) < side:
                size += 1
                if size >= most:
                    return size
    return size


@compiled()
def neighbours(X, near, k, first, stop, lows, highs, starts, stops, lefts, rights, pairs, sizes):
    """Edges i < j of the points first <= i < stop, which stand in the order of the tree.

    ``near`` (n, m) are neighbors of each point, the nearest first. Fills ``pairs`` and ``sizes``
    as far as they reach, and returns how many edges there are.
    """
    n_found = 0
    m = near.shape[1]
    boxes = np.empty(DEEP, np.int64)
    reach = np.empty(m)
    for i in range(first, stop):
        x = X[i]
        for t in range(m):
            reach[t] = distance(x, X[near[i, t]])
        boxes[0] = 0
        held = 1
        while held > 0:
            held -= 1
            box = boxes[held]
            if stops[box] <= i + 1:
                continue
            away = nearest_place(x, lows[box], highs[box])
            blocked = 0
            for t in range(m):
                if reach[t] >= away:
                    break
                if nearer_everywhere(X[near[i, t]], x, lows[box], highs[box]):
                    blocked += 1
                    if blocked >= k:
                        break
            if blocked >= k:
                continue
            if lefts[box] >= 0:
                held = open_box(box, boxes, held, lefts, rights)
                continue
            for j in range(max(starts[box], i + 1), stops[box]):
                side = distance(x, X[j])
                inside = 0
                for t in range(m):
                    if reach[t] >= side:
                        break
                    if distance(X[near[i, t]], X[j]) < side:
                        inside += 1
                        if inside >= k:
                            break
                if inside >= k:
                    continue
                size = lens_size(X, i, j, side, k, lows, highs, starts, stops, lefts, rights)
                if size < k:
                    if n_found < len(sizes):
                        pairs[n_found, 0] = i
                        pairs[n_found, 1] = j
                        sizes[n_found] = size
                    n_found += 1
    return n_found
