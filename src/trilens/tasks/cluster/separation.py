"""How far the parts of a map lie apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trilens._typing import FloatArray, IntArray

#: Lloyd's steps; Ward's clusters, from which they start, are nearly there.
_STEPS = 20


@dataclass(frozen=True)
class Part:
    """A map divided into a number of clusters.

    Attributes
    ----------
    labels : (n,) int64
        By k-means, started from Ward's clusters.
    inside : (n, d') float64
        The map in the space that the centres span: a line for two clusters. How wide the
        clusters are across it says nothing about the gap between them.
    axes : (d', d) float64
        Of that space.
    silhouette : float
        The mean one, there.
    """

    labels: IntArray
    inside: FloatArray
    axes: FloatArray
    silhouette: float


def divide(coordinates: FloatArray, numbers: Sequence[int]) -> list[Part]:
    """Divide a map into each number of clusters.

    Examples
    --------
    >>> X = np.repeat([[0.0, 0], [9, 0], [0, 9]], 5, axis=0) + np.arange(15)[:, None] / 15
    >>> [round(part.silhouette, 2) for part in divide(X, [2, 3, 4])]
    [0.87, 0.98, 0.81]
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist, squareform

    first = _cut(linkage(coordinates, "ward"), numbers)
    whole = squareform(pdist(coordinates))
    return [_divided(coordinates, whole, first[number], number) for number in numbers]


def _divided(X: FloatArray, distance: FloatArray, labels: IntArray, number: int) -> Part:
    labels, centres = _k_means(X, labels, number)
    inside, axes = X, np.eye(X.shape[1])
    if number - 1 < X.shape[1]:
        axes = np.linalg.svd(centres - centres.mean(axis=0), full_matrices=False)[2][: number - 1]
        inside = X @ axes.T
        labels, _ = _k_means(inside, labels, number)
        distance = np.sqrt(((inside[:, None] - inside) ** 2).sum(axis=2))
    return Part(labels, inside, axes, _mean_silhouette(distance, labels, number))


def _cut(tree: FloatArray, numbers: Sequence[int]) -> dict[int, IntArray]:
    """The clusters of a tree of merges, for each number of them."""
    n = len(tree) + 1
    label, found = np.arange(n), {}
    for step, (one, other) in enumerate(tree[:, :2].astype(np.int64).tolist()):
        label[(label == one) | (label == other)] = n + step
        if n - step - 1 in numbers:
            found[n - step - 1] = np.unique(label, return_inverse=True)[1]
    return found


def _k_means(X: FloatArray, labels: IntArray, number: int) -> tuple[IntArray, FloatArray]:
    from scipy.spatial.distance import cdist

    for _ in range(_STEPS):
        member = labels[:, None] == np.arange(number)
        centres = (member.T @ X) / member.sum(axis=0)[:, None]
        nearest = cdist(X, centres, "sqeuclidean").argmin(axis=1)
        if (nearest == labels).all() or np.bincount(nearest, minlength=number).min() == 0:
            break
        labels = nearest
    return labels, centres


def _mean_silhouette(distance: FloatArray, labels: IntArray, number: int) -> float:
    row = np.arange(len(labels))
    member = (labels[:, None] == np.arange(number)).astype(np.float64)
    size = member.sum(axis=0)
    total = distance @ member
    own = total[row, labels] / np.maximum(size[labels] - 1, 1)
    total /= size
    total[row, labels] = np.inf
    other = total.min(axis=1)
    width = (other - own) / np.maximum(np.maximum(own, other), 1e-300)
    return float(np.where(size[labels] > 1, width, 0.0).mean())
