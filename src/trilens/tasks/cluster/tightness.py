"""How tight groups are in truth, on a map whose places may be off."""

from __future__ import annotations

import numpy as np

from trilens._typing import FloatArray, IntArray

#: Steps of the EM algorithm; twenty-five tell groups from clouds no better (measured).
_STEPS = 10
#: Groups tighter than this share of the whole are as good as points.
_LEAST = 0.003


def within_shares(X: FloatArray, errors: FloatArray, labels: IntArray) -> FloatArray:
    """The share of the variance of maps that lies within their groups, errors taken off.

    Places are those of groups, Gaussians of one spread, moved by errors of which each object
    has its own, not the same in every direction. The mixture is fitted by the EM algorithm of
    Bovy, Hogg and Roweis (2011), which takes such errors off, started from a division.

    Parameters
    ----------
    X : (maps, n, d) float64
        All maps at once: one after the other would take most of its time between the steps.
    errors : (maps, n, d, d) float64
        Covariances.
    labels : (maps, n) int64
        The same number of groups in each.

    Returns
    -------
    (maps,) float64
        At least 0.003.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], 100)[None]
    >>> seen = np.array([[[0.0], [4.0]]]).repeat(100, axis=1) + rng.standard_normal((1, 200, 1))
    >>> errors = np.full((1, 200, 1, 1), 0.5)
    >>> within_shares(seen, errors, labels).round(1)  # 0.5 of 4 + 1
    array([0.1])
    """
    n, d = X.shape[1:]
    values, axes = np.linalg.eigh(errors)
    values = np.maximum(values, 0)
    turned = np.einsum("bnid,bni->bnd", axes, X)
    P = (labels[:, :, None] == np.arange(labels.max() + 1)).astype(np.float64)
    size = P.sum(axis=1)
    centres = np.einsum("bnk,bnd->bkd", P, X) / size[:, :, None]
    off = X - np.take_along_axis(centres, labels[:, :, None], axis=1)
    total = X.var(axis=1).mean(axis=1)
    spread = np.maximum((off**2).mean(axis=(1, 2)), 1e-12 * total)
    for _ in range(_STEPS):
        weight = 1 / (spread[:, None, None] + values)
        # from every centre to every object, along the axes of the object's error
        step = turned[:, :, None] - np.einsum("bnid,bki->bnkd", axes, centres)
        moved = step * weight[:, :, None]
        log = np.log(size)[:, None] - 0.5 * (moved * step).sum(axis=-1)
        P = np.exp(log - log.max(axis=-1, keepdims=True))
        P /= P.sum(axis=-1, keepdims=True)
        size = P.sum(axis=1) + 1e-9
        # where the objects are, if they are of a group, less its centre
        place = spread[:, None, None, None] * np.einsum("bnid,bnkd->bnki", axes, moved)
        shift = np.einsum("bnk,bnki->bki", P, place) / size[:, :, None]
        centres = centres + shift
        about = (P * ((place - shift[:, None]) ** 2).sum(axis=-1)).sum(axis=(1, 2)) / n
        unsure = d * spread - spread**2 * weight.sum(axis=-1).mean(axis=1)
        spread = np.maximum((about + unsure) / d, 1e-12 * total)
    return np.asarray(np.maximum(spread / total, _LEAST), dtype=np.float64)
