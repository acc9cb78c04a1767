"""How many clusters the answers suggest, with the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trilens._typing import FloatArray, IntArray, Progress
from trilens.tasks.clustering import in_order_of_appearance
from trilens.tasks.stability import cluster_stability

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from trilens.counts import PairCounts

#: Silhouettes this close are the same: the smaller number of clusters wins.
_TOLERANCE = 0.02
#: With nineteen clouds, beating all of them happens to a cloud once in twenty times.
_CLOUDS = 19
_MOST_POINTS = 500


@dataclass(frozen=True)
class Candidate:
    """One number of clusters, and what speaks for it.

    Attributes
    ----------
    n_clusters : int
    silhouette : float
        Mean silhouette on the map: near 1 for tight clusters far apart, near 0 for none.
    agreement : float or None
        Mean adjusted Rand index with the clusters of resampled statements.
    """

    n_clusters: int
    silhouette: float
    agreement: float | None


@dataclass(frozen=True)
class ClusterSuggestion:
    """A number of clusters, and the evidence for it.

    Attributes
    ----------
    n_clusters : int
        1 where the map looks like a cloud without groups.
    candidates : tuple of Candidate
    best : int
        The best number of two or more clusters, groups or not.
    cloud : float or None
        The highest silhouette that ``best`` clusters reach in structureless clouds (Gaussian,
        of the map's own spread); groups are suggested only above it.
    labels : dict of int to (n,) array
        The clusters for each candidate.
    """

    n_clusters: int
    candidates: tuple[Candidate, ...]
    best: int
    cloud: float | None
    labels: dict[int, IntArray]


def suggest_clusters(
    coordinates: FloatArray,
    resampled: Sequence[FloatArray] = (),
    *,
    max_clusters: int = 8,
    random_state: int = 0,
    progress: Progress | None = None,
) -> ClusterSuggestion:
    """Suggest a number of clusters of a map.

    For each number from 2 to ``max_clusters`` the objects are clustered as in
    `coordinate_clusters`; the smallest number whose mean silhouette is within 0.02 of the
    best one is suggested, unless the same number of clusters in one of nineteen Gaussian
    clouds without any groups comes as near to it as 0.02; then 1 is.

    Parameters
    ----------
    coordinates : (n, d) array
        Of a lens map; d the map's own number of dimensions rather than the two of a picture.
    resampled : sequence of (n, d) arrays
        Maps of resampled statements, see `resampled_maps`; only for the evidence.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> three = np.repeat([[0, 0], [9, 0], [0, 9]], 15, axis=0) + rng.normal(size=(45, 2))
    >>> suggest_clusters(three).n_clusters
    3
    """
    n = len(coordinates)
    numbers = [number for number in range(2, max_clusters + 1) if number < n]
    if len(np.unique(coordinates, axis=0)) < 3 or not numbers:
        return ClusterSuggestion(1, (), 1, None, {1: np.zeros(n, dtype=np.int64)})
    steps = len(resampled) + 3
    labels = partitions(coordinates, numbers, random_state)
    parts = []
    for done, found in enumerate(resampled):
        parts.append(partitions(found, numbers, random_state, starts=2))
        if progress is not None:
            progress((done + 1) / steps)
    silhouette = {number: _silhouette(coordinates, labels[number]) for number in numbers}
    candidates = tuple(
        Candidate(
            number,
            silhouette[number],
            cluster_stability(labels[number], [part[number] for part in parts]).agreement
            if parts
            else None,
        )
        for number in numbers
    )
    top = max(silhouette.values())
    best = next(number for number in numbers if silhouette[number] >= top - _TOLERANCE)
    cloud = _cloud_silhouette(coordinates, best, random_state)
    labels[1] = np.zeros(n, dtype=np.int64)
    if progress is not None:
        progress(1.0)
    suggested = best if silhouette[best] > cloud + _TOLERANCE else 1
    return ClusterSuggestion(suggested, candidates, best, cloud, labels)


def map_dimension(pairs: PairCounts, most: int = 8) -> int:
    """How many dimensions of the lens map stand out of the noise.

    The number of dimensions before the last marked drop of the eigenvalues of the pair
    dissimilarities sqrt(V), not smoothed: one to less than 1/1.4 of the eigenvalue before. At
    least 2, so that there is a plane to look at, where the objects allow it.
    """
    from trilens.maps.lens_map import classical_scaling, pair_dissimilarity

    n = pairs.n_objects
    count = min(most + 1, n - 1)
    start = np.random.default_rng(0).standard_normal(n)
    spread = classical_scaling(pair_dissimilarity(pairs, power=0.5), count, start).eigenvalues
    marked = np.flatnonzero(spread[:-1] >= 1.4 * np.maximum(spread[1:], 1e-6 * spread[0]))
    last = int(marked[-1]) + 1 if len(marked) else 1
    return min(max(last, 2), n - 1)


def partitions(
    coordinates: FloatArray, numbers: Sequence[int], random_state: int = 0, starts: int = 10
) -> dict[int, IntArray]:
    """`coordinate_clusters` for several numbers of clusters, with one set of eigenvectors.

    ``starts`` of k-means: ten as there, or fewer where many partitions are averaged over.
    """
    from sklearn.cluster import KMeans

    from trilens.tasks.spectral import laplacian_eigenvectors

    seed = int(np.random.default_rng(random_state).integers(2**31))
    vectors = laplacian_eigenvectors(neighbour_graph(coordinates), max(numbers))
    found = {}
    for number in numbers:
        means = KMeans(number, n_init=starts, random_state=seed)
        found[number] = in_order_of_appearance(means.fit_predict(vectors[:, :number]))
    return found


def neighbour_graph(coordinates: FloatArray, k: int = 10, sigma: float = 0.5) -> csr_array:
    """The weighted symmetric k-NN graph that `coordinate_clusters` divides."""
    from scipy.sparse import csr_array
    from sklearn.neighbors import kneighbors_graph

    from trilens.tasks.coordinates import rescaled

    k = min(k, len(coordinates) - 1)
    near = csr_array(kneighbors_graph(rescaled(coordinates), k, mode="distance"))
    near.data = np.maximum(np.exp(-(near.data**2) / sigma**2), np.finfo(float).tiny ** 0.5)
    return near.maximum(near.T).tocsr()


def silhouettes(coordinates: FloatArray, labels: IntArray) -> FloatArray:
    """The silhouette of each object; 0 for all where there is one cluster."""
    from sklearn.metrics import silhouette_samples

    if not 2 <= len(np.unique(labels)) < len(labels):
        return np.zeros(len(labels))
    return np.asarray(silhouette_samples(coordinates, labels))


def _silhouette(coordinates: FloatArray, labels: IntArray) -> float:
    n = len(coordinates)
    if n > 4 * _MOST_POINTS:
        # evenly through the objects: quadratic cost stays bounded
        some = np.linspace(0, n - 1, 4 * _MOST_POINTS).astype(int)
        coordinates, labels = coordinates[some], labels[some]
    return float(silhouettes(coordinates, labels).mean())


def _cloud_silhouette(coordinates: FloatArray, number: int, random_state: int) -> float:
    """The highest silhouette in clouds that have the spread of the map and no groups."""
    rng = np.random.default_rng([random_state, 19])
    spread = coordinates.std(axis=0)
    size = (min(len(coordinates), _MOST_POINTS), coordinates.shape[1])
    highest = -1.0
    for _ in range(_CLOUDS):
        cloud = rng.normal(size=size) * spread
        highest = max(highest, _silhouette(cloud, partitions(cloud, [number], starts=2)[number]))
    return highest
