# mypy: disable-error-code="no-untyped-def"
"""The compiled loop of drawn pairs: points in the lenses of pairs, euclidean."""

from __future__ import annotations

import numpy as np

from trilens.exact._compile import compiled


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
