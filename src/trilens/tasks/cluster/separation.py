"""How far the parts of a map lie apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trilens._typing import FloatArray, IntArray

#: Lloyd's steps; Ward's clusters, from which they start, are nearly there.
_STEPS = 20


def separations(coordinates: FloatArray, numbers: Sequence[int]) -> FloatArray:
    """The mean silhouette of each number of clusters, on the plane of their centres.

    The clusters are those of k-means, started from Ward's. The silhouettes are taken in the
    space that the centres span, a line for two clusters: how wide the clusters are across it
    says nothing about the gap between them.

    Returns
    -------
    (len(numbers),) array
        -1 where the points do not fall into so many clusters.

    Examples
    --------
    >>> X = np.repeat([[0.0, 0], [9, 0], [0, 9]], 5, axis=0) + np.arange(15)[:, None] / 15
    >>> int(separations(X, [2, 3, 4]).argmax())
    1
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist, squareform

    tree = linkage(coordinates, "ward")
    whole = squareform(pdist(coordinates))
    found = np.full(len(numbers), -1.0)
    for at, number in enumerate(numbers):
        labels = fcluster(tree, number, "maxclust").astype(np.int64) - 1
        if labels.max() + 1 < number:
            continue
        labels, centres = _k_means(coordinates, labels, number)
        distance = whole
        if number - 1 < coordinates.shape[1]:
            axes = np.linalg.svd(centres - centres.mean(axis=0), full_matrices=False)[2]
            inside = coordinates @ axes[: number - 1].T
            labels, _ = _k_means(inside, labels, number)
            distance = squareform(pdist(inside))
        found[at] = _mean_silhouette(distance, labels, number)
    return found


def _k_means(X: FloatArray, labels: IntArray, number: int) -> tuple[IntArray, FloatArray]:
    from scipy.spatial.distance import cdist

    for _ in range(_STEPS):
        member = labels[:, None] == np.arange(number)
        centres = (member.T @ X) / member.sum(axis=0)[:, None]
        nearest = cdist(X, centres, "sqeuclidean").argmin(axis=1)
        if (nearest == labels).all() or len(np.unique(nearest)) < number:
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
