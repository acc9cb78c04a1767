"""How many clusters the answers suggest, with the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._typing import FloatArray, IntArray, Progress
from trilens.tasks.cluster.map import neighbour_graph
from trilens.tasks.cluster.partition import in_order_of_appearance
from trilens.tasks.cluster.stability import ClusterStability, cluster_stability

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from trilens.counts import PairCounts
    from trilens.statements import Statements

#: Silhouettes this close are the same.
_TOLERANCE = 0.02
#: Enough for a bar to pass. No test at a level: the number of clusters was chosen first, and a
#: lens map is flatter than a Gaussian cloud; docs/recommend.md has the measured rates.
_CLOUDS = 19
_MOST_CLUSTERS = 8
_MOST_POINTS = 500
#: Up to this many objects all eigenvectors come as fast as the leading ones; clouds have no more.
_DENSE = 200


@dataclass(frozen=True)
class Candidate:
    """One number of clusters, and what speaks for it.

    Attributes
    ----------
    n_clusters : int
    silhouette : float
        Mean silhouette on the map: near 1 for tight clusters far apart, near 0 for none.
    gap : float
        1 - l(L) / l(L + 1) for the sorted eigenvalues l of the neighbourhood graph's normalised
        Laplacian: near 1 where L parts hang together much more than any L + 1 do.
    agreement : float or None
        Mean adjusted Rand index with the clusters of resampled statements.
    """

    n_clusters: int
    silhouette: float
    gap: float
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
    stability : dict of int to ClusterStability
        How each candidate's clusters fare in the resamples.
    """

    n_clusters: int
    candidates: tuple[Candidate, ...]
    best: int
    cloud: float | None
    labels: dict[int, IntArray] = field(repr=False)
    stability: dict[int, ClusterStability] = field(repr=False)
    resampled: tuple[FloatArray, ...] = field(repr=False, default=())
    random_state: int = 0

    def stability_of(self, found: IntArray) -> ClusterStability | None:
        """How a partition of the map fares on the maps of resampled statements."""
        number = int(found.max(initial=0)) + 1
        if not self.resampled or not 1 < number < len(found):
            return None
        parts = (quick_partitions(m, [number], self.random_state)[number] for m in self.resampled)
        return cluster_stability(found, parts)

    def to_dict(self) -> dict[str, Any]:
        """The number and the evidence, in plain types."""
        return {
            "n_clusters": self.n_clusters,
            "best": self.best,
            "cloud_silhouette": self.cloud,
            "candidates": [
                {
                    "n_clusters": c.n_clusters,
                    "silhouette": c.silhouette,
                    "gap": c.gap,
                    "agreement": c.agreement,
                }
                for c in self.candidates
            ],
        }


def suggest_clusters(
    statements: Statements,
    method: str = "lensmap",
    *,
    n_components: int | None = None,
    error_rate: float = 0.0,
    n_clusters: int | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> tuple[ClusterSuggestion, FloatArray]:
    """The number of groups that the answers suggest, and the map on which they were sought."""
    from trilens.counts import count_pairs
    from trilens.maps.registry import coordinates
    from trilens.tasks.cluster.stability import resampled_maps

    step: Progress = (lambda share: None) if progress is None else progress
    n = statements.n_objects
    if n_components is None:
        n_components = map_dimension(count_pairs(statements)) if n > 1 else 1
    extra: dict[str, Any] = {"error_rate": error_rate} if error_rate else {}
    dim = min(n_components, max(n - 1, 1))
    points = coordinates(statements, method, dim, random_state, **extra)
    resampled: list[FloatArray] = []
    if method == "lensmap" and len(statements):
        resampled = resampled_maps(
            statements,
            20 if n <= 100 else 10 if n <= 500 else 6,
            n_components=dim,
            random_state=random_state,
            progress=lambda share: step(0.5 * share),
        )
    suggestion = suggest_on_map(
        points,
        resampled,
        random_state=random_state,
        progress=lambda share: step(0.5 + 0.5 * share),
    )
    return suggestion, points


def suggest_on_map(
    coordinates: FloatArray,
    resampled: Sequence[FloatArray] = (),
    *,
    max_clusters: int = _MOST_CLUSTERS,
    random_state: int = 0,
    progress: Progress | None = None,
) -> ClusterSuggestion:
    """Suggest a number of clusters of a map.

    For each number from 2 to ``max_clusters`` the objects are clustered as in
    `coordinate_clusters`; the number with the largest product of mean silhouette and spectral
    gap is suggested, unless the same number of clusters in one of nineteen Gaussian clouds
    without any groups comes within 0.02 of its silhouette; then 1 is.

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
    >>> suggest_on_map(three).n_clusters
    3
    """
    n = len(coordinates)
    numbers = range(2, min(max_clusters, n - 1) + 1)
    if len(np.unique(coordinates, axis=0)) < 3 or not numbers:
        return ClusterSuggestion(1, (), 1, None, {1: np.zeros(n, dtype=np.int64)}, {})
    steps = len(resampled) + 3
    labels = partitions(coordinates, numbers, random_state)
    parts = []
    for done, found in enumerate(resampled):
        parts.append(quick_partitions(found, numbers, random_state))
        if progress is not None:
            progress((done + 1) / steps)
    silhouette = {number: _silhouette(coordinates, labels[number]) for number in numbers}
    gaps = spectral_gaps(coordinates, numbers)
    stability = {
        number: cluster_stability(labels[number], [part[number] for part in parts])
        for number in (numbers if parts else [])
    }
    candidates = tuple(
        Candidate(
            number,
            silhouette[number],
            gaps[number],
            stability[number].agreement if number in stability else None,
        )
        for number in numbers
    )
    best = max(numbers, key=lambda number: silhouette[number] * gaps[number])
    cloud = _cloud_silhouette(coordinates, best, random_state)
    labels[1] = np.zeros(n, dtype=np.int64)
    if progress is not None:
        progress(1.0)
    suggested = best if silhouette[best] > cloud + _TOLERANCE else 1
    return ClusterSuggestion(
        suggested, candidates, best, cloud, labels, stability, tuple(resampled), random_state
    )


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
    coordinates: FloatArray, numbers: Sequence[int], random_state: int = 0
) -> dict[int, IntArray]:
    """`coordinate_clusters` for several numbers of clusters, with one set of eigenvectors."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    from trilens.tasks.cluster.spectral import laplacian_eigenvectors

    seed = int(np.random.default_rng(random_state).integers(2**31))
    vectors = laplacian_eigenvectors(neighbour_graph(coordinates), max(numbers))
    found = {}
    # k-means of so few points is over before further threads have started
    with threadpool_limits(1):
        for number in numbers:
            means = KMeans(number, n_init=10, random_state=seed)
            found[number] = in_order_of_appearance(means.fit_predict(vectors[:, :number]))
    return found


def spectral_gaps(coordinates: FloatArray, numbers: Sequence[int]) -> dict[int, float]:
    """1 - l(L) / l(L + 1) for each number L, l the eigenvalues of the normalised Laplacian."""
    graph = neighbour_graph(coordinates)
    degree = np.asarray(graph.sum(axis=1)).ravel()
    count = min(max(numbers) + 1, len(degree))
    vectors = _rough_eigenvectors(graph, count) * degree[:, None]
    # Rayleigh quotients of D^1/2 u under D^-1/2 W D^-1/2
    similar = (vectors * (graph @ (vectors / degree[:, None])) / degree[:, None]).sum(axis=0)
    values = np.maximum(1 - similar / (vectors**2 / degree[:, None]).sum(axis=0), 1e-9)
    return {
        number: float(1 - values[number - 1] / values[number]) if number < count else 0.0
        for number in numbers
    }


def quick_partitions(
    coordinates: FloatArray, numbers: Sequence[int], random_state: int = 0
) -> dict[int, IntArray]:
    """The same clusters but for k-means with fewer starts, where many of them are averaged over."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    seed = int(np.random.default_rng(random_state).integers(2**31))
    vectors = _rough_eigenvectors(neighbour_graph(coordinates), max(numbers))
    with threadpool_limits(1):
        return {
            number: KMeans(number, n_init=3, random_state=seed)
            .fit_predict(vectors[:, :number])
            .astype(np.int64)
            for number in numbers
        }


def _rough_eigenvectors(graph: csr_array, count: int) -> FloatArray:
    """`laplacian_eigenvectors` to three digits, which is all that k-means needs."""
    import warnings

    from scipy.sparse.linalg import lobpcg

    from trilens.tasks.cluster.spectral import laplacian_eigenvectors, normalised_laplacian

    n = graph.shape[0]
    if n <= _DENSE:
        return laplacian_eigenvectors(graph, count)
    normalised, root = normalised_laplacian(graph)
    # a block of vectors, because every part of a disconnected graph has the eigenvalue 0
    block = np.random.default_rng(0).standard_normal((n, count + 4))
    with warnings.catch_warnings():
        # it says so when fewer digits were reached
        warnings.simplefilter("ignore", UserWarning)
        values, vectors = lobpcg(normalised, block, tol=1e-4, maxiter=80, largest=False)
    first = np.argsort(values)[:count]
    return np.asarray(vectors[:, first] / root[:, None])


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
    """The highest silhouette of so many clusters in clouds without groups."""
    rng = np.random.default_rng([random_state, 19])
    return max(
        _silhouette(cloud, quick_partitions(cloud, [number])[number])
        for cloud in _clouds(coordinates, _MOST_POINTS, rng)
    )


def _clouds(coordinates: FloatArray, most: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Gaussian clouds of the spread of the map, without groups, of at most so many points."""
    n, dimension = coordinates.shape
    spread = coordinates.std(axis=0)
    for _ in range(_CLOUDS):
        yield rng.normal(size=(min(n, most), dimension)) * spread
