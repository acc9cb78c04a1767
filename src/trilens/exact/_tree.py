# mypy: disable-error-code="no-untyped-def"
"""The compiled loops of the k-RNG of points in few dimensions: a search that drops boxes.

A box of points j is dropped for a point i when k neighbours p of i are nearer to every place of
the box than i is: they lie in every lens of i with the box.
"""

from __future__ import annotations

import numpy as np

from trilens.exact._compile import compiled

#: Boxes that a search may hold at once: two for each level of a tree of 2**60 points.
DEEP = 128
#: Roundings are left to the exact comparison of points: no box is dropped for less than this.
SLACK = 1e-9


@compiled()
def apart(x, y):
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
            boxes[held] = lefts[box]
            boxes[held + 1] = rights[box]
            held += 2
            continue
        for x in range(starts[box], stops[box]):
            if apart(X[i], X[x]) < side and apart(X[j], X[x]) < side:
                size += 1
                if size >= most:
                    return size
    return size


@compiled()
def neighbours(X, near, k, first, stop, lows, highs, starts, stops, lefts, rights, pairs, sizes):
    """Edges i < j of the points first <= i < stop, which stand in the order of the tree.

    ``near`` (n, m) are neighbours of each point, the nearest first. Fills ``pairs`` and ``sizes``
    as far as they reach, and returns how many edges there are.
    """
    n_found = 0
    m = near.shape[1]
    boxes = np.empty(DEEP, np.int64)
    reach = np.empty(m)
    for i in range(first, stop):
        x = X[i]
        for t in range(m):
            reach[t] = apart(x, X[near[i, t]])
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
                boxes[held] = lefts[box]
                boxes[held + 1] = rights[box]
                held += 2
                continue
            for j in range(max(starts[box], i + 1), stops[box]):
                side = apart(x, X[j])
                inside = 0
                for t in range(m):
                    if reach[t] >= side:
                        break
                    if apart(X[near[i, t]], X[j]) < side:
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
