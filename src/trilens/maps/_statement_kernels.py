"""The compiled product of the pair matrix of statements with a few vectors."""

from __future__ import annotations

import numpy as np

from trilens._compiled import compiled
from trilens._typing import AnyArray


@compiled(fastmath=True)
def multiply(
    a: AnyArray,
    b: AnyArray,
    c: AnyArray,
    closer: bool,
    on: float,
    off: float,
    X: AnyArray,
    Y: AnyArray,
) -> None:
    """Add E X to Y, E the sum over statements of ``on`` at the pair whose third object was
    singled out and ``off`` at the other pairs that were compared.

    The pair is that of the two others; of ``closer`` statements it is (anchor, near), and
    (anchor, far) is the other one.
    """
    width = X.shape[1]
    one, other = np.float32(on), np.float32(off)
    for i in range(len(a)):
        x, y, z = np.uint64(a[i]), np.uint64(b[i]), np.uint64(c[i])
        for k in range(width):
            u, v, w = X[x, k], X[y, k], X[z, k]
            if closer:
                Y[x, k] += one * v + other * w
                Y[y, k] += one * u
                Y[z, k] += other * u
            else:
                Y[x, k] += other * (v + w)
                Y[y, k] += one * w + other * u
                Y[z, k] += one * v + other * u
