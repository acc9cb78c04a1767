"""Local lens depth: only the lenses of near pairs count (the paper's eq. 23)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from trilens._parameters import real_number, thread_count
from trilens._typing import AnyArray, IntArray, Progress
from trilens.errors import ParameterError
from trilens.exact.graphs import among
from trilens.exact.metrics import Metric
from trilens.exact.rows import TILE, Rows
from trilens.exact.samples import Sample
from trilens.exact.threads import finished, pool


def local_lens_depth(
    D: npt.ArrayLike,
    tau: float | None = None,
    *,
    share: float | None = None,
    normalise: bool = False,
    metric: Metric | None = None,
    metric_params: dict[str, Any] | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """The number of pairs not farther apart than tau whose lens holds x (the paper's eq. 23).

    Lens depth measures how central an object is in the whole; this, how crowded its
    surroundings are: for small tau it is close to the square of the density. An object between
    two groups, which lens depth takes for the medoid, lies in no lens of near pairs.

    Parameters
    ----------
    D : (n, n) array, or (n, d) points where ``metric`` is given
        Dissimilarities, as in :func:`trilens.exact.lens_depth`.
    tau
        The largest dissimilarity of a pair that counts.
    share
        In place of tau: the share of all pairs that count, the nearest ones (equally far ones
        together). One of the two is needed.
    normalise
        Divide by (n - 1)(n - 2)/2, the pairs of other objects.
    metric, metric_params, n_threads, progress
        As in :func:`trilens.exact.lens_depth`.

    Returns
    -------
    (n,) array
        int64, or float64 with ``normalise``.

    Examples
    --------
    >>> line = [0, 1, 2, 6, 10, 11, 12]
    >>> local_lens_depth(line, 2, metric="euclidean")
    array([0, 1, 0, 0, 0, 1, 0])
    >>> local_lens_depth(line, share=1.0, metric="euclidean")
    array([0, 5, 8, 9, 8, 5, 0])
    """
    if (tau is None) == (share is None):
        raise ParameterError("give tau or share: the largest dissimilarity, or the share of pairs")
    sample = Sample(D, metric, metric_params)
    n, threads = sample.n, thread_count(n_threads)
    limit = nearest_pairs(sample.rows, share) if tau is None else real_number("tau", tau, 0)
    depth = np.zeros(n, np.int64)

    def some(first: int, stop: int) -> tuple[IntArray, int]:
        found = np.zeros(n, np.int64)
        rows = np.asarray(sample.rows.block(first, stop))
        for i, row in enumerate(rows, start=first):
            close = np.flatnonzero(row <= limit)
            close = close[close != i]
            # what lies in Lens(i, j) is nearer to i than j is, so it is close too
            sides = row[close]
            inside = (among(sample, close) < sides[:, None]) & (sides < sides[:, None])
            found[close] += inside[close > i].sum(axis=0)
        return found, stop - first

    done = 0
    with pool(threads) as run:
        tasks = [(some, at, min(n, at + TILE)) for at in range(0, n, TILE)]
        for found, part in finished(run, tasks, threads):
            depth += found
            done += part
            if progress is not None:
                progress(done / n)
    return depth / max((n - 1) * (n - 2) // 2, 1) if normalise else depth


def nearest_pairs(rows: Rows, share: Any) -> float:
    """The dissimilarity up to which a share of the pairs lie."""
    wanted = real_number("share", share, 0, 1)
    n = rows.n
    sides = [
        row[i + 1 :]
        for at in range(0, n, TILE)
        for i, row in enumerate(np.asarray(rows.block(at, min(n, at + TILE))), start=at)
    ]
    pairs = np.concatenate([*sides, np.empty(0)])
    count = int(np.ceil(wanted * len(pairs) - 1e-9))
    return float(np.partition(pairs, count - 1)[count - 1]) if count else -1.0
