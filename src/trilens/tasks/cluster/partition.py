"""Partitions of the objects, whatever made them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from trilens._typing import IntArray
from trilens.errors import ParameterError


def check_n_clusters(n_clusters: int, n_objects: int) -> None:
    if n_clusters < 1:
        raise ParameterError(f"the number of clusters is {n_clusters}; it must be at least 1")
    if n_clusters > n_objects:
        raise ParameterError(
            f"{n_clusters} clusters of {n_objects} objects: ask for fewer clusters"
        )


def purity(clusters: ArrayLike, classes: ArrayLike) -> float:
    """The share of objects that belong to the most frequent class of their cluster.

    >>> purity([0, 0, 1, 1], ["a", "a", "a", "b"])
    0.75
    """
    _, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    _, label = np.unique(np.asarray(classes), return_inverse=True)
    if cluster.shape != label.shape or not len(cluster):
        raise ParameterError(f"{len(cluster)} clusters for {len(label)} classes: give one for each")
    table = np.zeros((cluster.max() + 1, label.max() + 1), dtype=np.int64)
    np.add.at(table, (cluster, label), 1)
    return float(table.max(axis=1).sum() / len(label))


def in_order_of_appearance(labels: IntArray) -> IntArray:
    """The same partition, its parts numbered as they first appear."""
    _, first, part = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[part]
