"""How much of a result is left when other answers might have been collected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import generator
from trilens._typing import FloatArray, IntArray, Progress, RandomState
from trilens.errors import ParameterError
from trilens.statements import StatementsLike, as_statements


@dataclass(frozen=True)
class ClusterStability:
    """How a partition fares when the statements are drawn anew.

    Attributes
    ----------
    agreement : float
        Mean adjusted Rand index with the partitions of the resamples: 1 for always the same
        clusters, 0 for agreement by chance.
    clusters : (L,) array
        For each cluster the mean, over the resamples, of its Jaccard similarity to the most
        similar cluster (Hennig, 2007): above 0.75 stable, below 0.5 dissolved.
    objects : (n,) array
        For each object the share of the resamples in which it stays in the cluster that is
        matched to its own.
    resamples : int
    """

    agreement: float
    clusters: FloatArray
    objects: FloatArray
    resamples: int


def resampled_maps(
    statements: StatementsLike,
    n_resamples: int = 20,
    *,
    n_components: int = 2,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> list[FloatArray]:
    """Lens maps of bootstrap samples: as many statements, drawn with replacement.

    Parameters
    ----------
    statements : Statements or (m, 3) array
        Of any kind.
    n_resamples : int
    n_components : int
        Dimension of the maps.

    Returns
    -------
    list of (n_objects, n_components) arrays
        The axes of different maps may be turned and mirrored; distances compare.
    """
    from trilens.maps.registry import coordinates

    given = as_statements(statements)
    rng = generator(random_state)
    m = len(given)
    maps = []
    for done in range(n_resamples):
        drawn = given.take(rng.integers(m, size=m)) if m else given
        maps.append(coordinates(drawn, "lensmap", n_components, random_state=0))
        if progress is not None:
            progress((done + 1) / n_resamples)
    return maps


def cluster_stability(labels: ArrayLike, resampled: Iterable[ArrayLike]) -> ClusterStability:
    """Compare a partition with those found in resamples of the statements.

    Parameters
    ----------
    labels : (n,) array of int
        Clusters 0 to L - 1.
    resampled : iterable of (n,) arrays of int
        The partitions of the resamples, numbered in any way.

    Examples
    --------
    >>> found = cluster_stability([0, 0, 1, 1], [[1, 1, 0, 0], [0, 0, 0, 1]])
    >>> found.agreement, found.clusters.round(2).tolist(), found.objects.tolist()
    (0.5, [0.83, 0.75], [1.0, 1.0, 0.5, 1.0])
    """
    from sklearn.metrics import adjusted_rand_score

    own = np.asarray(labels, dtype=np.int64)
    others = [np.unique(np.asarray(part), return_inverse=True)[1] for part in resampled]
    if not len(own) or not others or any(part.shape != own.shape for part in others):
        raise ParameterError("stability compares partitions of the same objects, at least one")
    jaccards, stays, agreement = [], [], []
    for part in others:
        table = _overlap(own, part)
        union = table.sum(axis=1, keepdims=True) + table.sum(axis=0) - table
        jaccard = table / union
        best = jaccard.argmax(axis=1)
        jaccards.append(jaccard.max(axis=1))
        stays.append(part == best[own])
        agreement.append(adjusted_rand_score(own, part))
    return ClusterStability(
        agreement=float(np.mean(agreement)),
        clusters=np.mean(jaccards, axis=0),
        objects=np.mean(stays, axis=0),
        resamples=len(others),
    )


def _overlap(a: IntArray, b: IntArray) -> IntArray:
    from sklearn.metrics.cluster import contingency_matrix

    return np.asarray(contingency_matrix(a, b), dtype=np.int64)
