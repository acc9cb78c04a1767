"""Partitions of the objects, whatever made them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import whole_number
from trilens._typing import IntArray
from trilens.errors import ParameterError


def check_n_clusters(n_clusters: int, n_objects: int) -> None:
    whole_number("n_clusters", n_clusters, least=1)
    if n_clusters > n_objects:
        raise ParameterError(
            f"{n_clusters} clusters of {n_objects} objects: ask for fewer clusters"
        )


def purity(clusters: ArrayLike, classes: ArrayLike) -> float:
    """The share of objects that belong to the most frequent class of their cluster.

    >>> purity([0, 0, 1, 1], ["a", "a", "a", "b"])
    0.75
    """
    from sklearn.metrics.cluster import contingency_matrix

    try:
        found, known = np.asarray(clusters), np.asarray(classes)
    except (TypeError, ValueError):
        raise ParameterError("clusters and classes are one of each for every object") from None
    if found.ndim != 1 or found.shape != known.shape or not len(found):
        raise ParameterError(
            f"{found.size} clusters for {known.size} classes: give one of each for every object"
        )
    return float(contingency_matrix(known, found).max(axis=0).sum() / len(known))


def in_order_of_appearance(labels: IntArray) -> IntArray:
    """The same partition, its parts numbered as they first appear."""
    _, first, part = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[part]
