"""How many clusters the answers suggest, with the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
_MOST_FOR_SOE, _MOST_STATEMENTS = 2000, 200_000
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
    labels: dict[int, IntArray]
    stability: dict[int, ClusterStability]


def suggest_clusters(
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
    >>> suggest_clusters(three).n_clusters
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
    return ClusterSuggestion(suggested, candidates, best, cloud, labels, stability)


@dataclass(frozen=True)
class SecondOpinion:
    """A number of clusters from a map that keeps gaps.

    Attributes
    ----------
    n_clusters : int
        ``best``, or 1 where a cloud without groups scores as high.
    best : int
        The number of two or more clusters with the highest score.
    score : float
        Its mean silhouette times its spectral gap.
    cloud : float
        The highest score of any number of clusters in nineteen Gaussian clouds of the map's own
        spread; a cloud passes it once in twenty times.
    """

    n_clusters: int
    best: int
    score: float
    cloud: float


def suggest_by_gaps(statements: Statements, random_state: int = 0) -> SecondOpinion | None:
    """A second opinion on the number of clusters, from a map by SOE in the plane.

    The share of the data in a lens does not see how empty the space between two objects is, so
    two groups and a long cloud look alike on a lens map. SOE keeps the gap, but suffers more
    from wrong answers. It sees at most 200,000 statements; None for more than 2000 objects,
    where it takes too long.

    Examples
    --------
    >>> from trilens.simulate import mixture, simulate_statements
    >>> two = mixture(40, [[0, 0], [7, 0]], random_state=0)
    >>> suggest_by_gaps(simulate_statements(two, 3000, random_state=0)).n_clusters
    2
    """
    from trilens.maps import SOE

    n = statements.n_objects
    if not 4 <= n <= _MOST_FOR_SOE or not len(statements):
        return None
    rng = np.random.default_rng(random_state)
    if len(statements) > _MOST_STATEMENTS:
        statements = statements.take(rng.choice(len(statements), _MOST_STATEMENTS, replace=False))
    points = SOE(2, random_state=random_state).fit_transform(statements)
    numbers = range(2, min(_MOST_CLUSTERS, n - 1) + 1)
    score, best = _best_score(points, numbers)
    cloud = max(_best_score(found, numbers)[0] for found in _clouds(points, _DENSE, rng))
    return SecondOpinion(best if score > cloud else 1, best, score, cloud)


def _best_score(points: FloatArray, numbers: Sequence[int]) -> tuple[float, int]:
    """The highest product of mean silhouette and spectral gap, and its number of clusters."""
    gaps, labels = spectral_gaps(points, numbers), quick_partitions(points, numbers)
    return max((_silhouette(points, labels[number]) * gaps[number], number) for number in numbers)


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
    rng = np.random.default_rng(random_state)
    vectors = _rough_eigenvectors(neighbour_graph(coordinates), max(numbers))
    return {number: _k_means(vectors[:, :number], number, rng) for number in numbers}


def _rough_eigenvectors(graph: csr_array, count: int) -> FloatArray:
    """`laplacian_eigenvectors` to three digits, which is all that k-means needs."""
    import warnings

    from scipy.sparse import diags_array
    from scipy.sparse.linalg import lobpcg

    from trilens.tasks.cluster.spectral import laplacian_eigenvectors

    n = graph.shape[0]
    if n <= _DENSE:
        return laplacian_eigenvectors(graph, count)
    root = 1 / np.sqrt(np.asarray(graph.sum(axis=1)).ravel())
    scale = diags_array(root)
    shifted = (scale @ graph @ scale + diags_array(np.ones(n))).tocsr()
    # a block of vectors, because every part of a disconnected graph has the eigenvalue 0
    block = np.random.default_rng(0).standard_normal((n, count + 4))
    with warnings.catch_warnings():
        # it says so when fewer digits were reached
        warnings.simplefilter("ignore", UserWarning)
        values, vectors = lobpcg(shifted, block, tol=1e-4, maxiter=80, largest=True)
    first = np.argsort(-values)[:count]
    return np.asarray(vectors[:, first] * root[:, None])


def _k_means(X: FloatArray, number: int, rng: np.random.Generator, starts: int = 3) -> IntArray:
    """Lloyd's algorithm from k-means++ centres."""
    from scipy.spatial.distance import cdist

    best, least = np.zeros(len(X), dtype=np.int64), np.inf
    for _ in range(starts):
        centres = X[rng.integers(len(X), size=1)]
        while len(centres) < number:
            gap = cdist(X, centres, "sqeuclidean").min(axis=1)
            total = gap.sum()
            chance = gap / total if total > 0 else np.full(len(X), 1 / len(X))
            centres = np.vstack([centres, X[rng.choice(len(X), p=chance)]])
        labels = np.full(len(X), -1)
        for _ in range(100):
            distance = cdist(X, centres, "sqeuclidean")
            nearest = distance.argmin(axis=1)
            if (nearest == labels).all():
                break
            labels = nearest
            size = np.bincount(labels, minlength=number)
            sums = np.zeros_like(centres)
            np.add.at(sums, labels, X)
            filled = size > 0
            centres[filled] = sums[filled] / size[filled, None]
        loss = float(distance.min(axis=1).sum())
        if loss < least:
            best, least = labels, loss
    return best


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
