"""How many clusters the answers suggest, with the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._typing import FloatArray, IntArray
from trilens.tasks.clouds import CLOUDS, LEVEL, Shape, clouds, error_of_places, p_value
from trilens.tasks.cluster.map import neighbour_graph
from trilens.tasks.cluster.separation import separations
from trilens.tasks.cluster.spectral import laplacian_eigenvectors, spectral_clusters
from trilens.tasks.cluster.stability import ClusterStability, cluster_stability

if TYPE_CHECKING:
    from trilens.counts import PairCounts

_MOST_CLUSTERS = 8
#: Points of a cloud, and objects of the map that are compared with it: beyond that a mean over
#: more objects is no other mean.
_MOST_POINTS = 200
#: Up to this p-value, and from half the level on, so many clouds more are drawn.
_CLEARLY_NOT, _MORE_CLOUDS = 0.2, 160
CENTRAL_CAUTION = (
    "answers about the most central object cannot tell how wide a gap between two groups is: "
    "two groups may look like one long cloud"
)


@dataclass(frozen=True)
class Candidate:
    """One number of clusters, and what speaks for it.

    Attributes
    ----------
    n_clusters : int
    silhouette : float
        Mean silhouette, in the space that the centres span: near 1 for tight clusters far
        apart, near 0 for none.
    cloud : float
        The mean silhouette of as many clusters in clouds without groups.
    gap : float
        1 - l(L) / l(L + 1) for the sorted eigenvalues l of the neighbourhood graph's normalised
        Laplacian: near 1 where L parts hang together much more than any L + 1 do.
    """

    n_clusters: int
    silhouette: float
    cloud: float
    gap: float


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
    p_value : float or None
        How often a cloud without groups falls into parts so far apart: the larger one of the
        shares of Gaussian and of uniform clouds. Groups are suggested up to 0.05.
    caution : str or None
        What the answers cannot tell.
    """

    n_clusters: int
    candidates: tuple[Candidate, ...]
    best: int
    p_value: float | None
    caution: str | None = None
    resampled: tuple[FloatArray, ...] = field(repr=False, default=())
    random_state: int = 0

    def stability_of(self, found: IntArray) -> ClusterStability | None:
        """How a partition of the map fares on the maps of resampled statements."""
        number = int(found.max(initial=0)) + 1
        if not self.resampled or not 1 < number < len(found):
            return None
        parts = (
            # many are averaged over: fewer starts will do
            spectral_clusters(neighbour_graph(points), number, self.random_state, n_init=3)
            for points in self.resampled
        )
        return cluster_stability(found, parts)

    def to_dict(self) -> dict[str, Any]:
        """The number and the evidence, in plain types."""
        return {
            "n_clusters": self.n_clusters,
            "best": self.best,
            "p_value": self.p_value,
            "caution": self.caution,
            "candidates": [
                {
                    "n_clusters": c.n_clusters,
                    "silhouette": c.silhouette,
                    "cloud_silhouette": c.cloud,
                    "gap": c.gap,
                }
                for c in self.candidates
            ],
        }


def suggest_clusters(
    coordinates: FloatArray,
    resampled: Sequence[FloatArray] = (),
    *,
    kind: str = "odd",
    max_clusters: int = _MOST_CLUSTERS,
    random_state: int = 0,
) -> ClusterSuggestion:
    """Suggest a number of clusters of a map.

    The number from 2 to ``max_clusters`` with the largest product of separation
    (`trilens.tasks.cluster.separation`), by that of as many clusters in clouds, and spectral gap
    is the best one. It is suggested if its separation, in standard deviations above the mean of
    as many clusters in clouds without groups, is beyond that of the best number of all but 5 %
    of the clouds, of Gaussian as well as of uniform ones; else 1 is.

    Parameters
    ----------
    coordinates : (n, d) array
    resampled : sequence of (n, d) arrays
        Maps of resampled statements: how far the places on the map can be trusted.
    kind : str
        Of the statements: for the caution, and the rim of the uniform clouds.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> three = np.repeat([[0, 0], [9, 0], [0, 9]], 15, axis=0) + rng.normal(size=(45, 2))
    >>> suggest_clusters(three).n_clusters
    3
    """
    from threadpoolctl import threadpool_limits

    n = len(coordinates)
    numbers = range(2, min(max_clusters, n - 2) + 1)
    if not numbers or len(np.unique(coordinates, axis=0)) < max(numbers):
        return ClusterSuggestion(1, (), 1, None)
    some = coordinates
    if n > _MOST_POINTS:
        # evenly through the objects
        some = coordinates[np.linspace(0, n - 1, _MOST_POINTS).astype(int)]
    rng = np.random.default_rng([random_state, 19])
    shapes: tuple[Shape, ...] = ("gaussian", "box")
    # Measured: maps of central answers about a box are as smooth as their errors make them, those
    # of the other kinds, which know who is whose neighbour, as lumpy as the box itself.
    blur = error_of_places(coordinates, resampled) if kind == "central" else None
    with threadpool_limits(1):
        observed = _evidence(some, numbers)
        drawn = _of_clouds(some, shapes, n, rng, blur, numbers, CLOUDS)
        at, p, level = _judged(observed, drawn)
        if LEVEL / 2 < p <= _CLEARLY_NOT:
            # not clear yet: more clouds, so that chance has less of a say
            more = _of_clouds(some, shapes, n, rng, blur, numbers, _MORE_CLOUDS)
            drawn = [np.concatenate(both) for both in zip(drawn, more, strict=True)]
            at, p, level = _judged(observed, drawn)
    best = numbers[at]
    suggested = best if p <= LEVEL else 1
    candidates = tuple(
        Candidate(number, *map(float, (observed[0, i], level[i], observed[1, i])))
        for i, number in enumerate(numbers)
    )
    caution = CENTRAL_CAUTION if kind == "central" and suggested <= 2 else None
    return ClusterSuggestion(
        suggested, candidates, best, p, caution, tuple(resampled), random_state
    )


def _of_clouds(
    points: FloatArray,
    shapes: Sequence[Shape],
    most: int,
    rng: np.random.Generator,
    blur: FloatArray | None,
    numbers: Sequence[int],
    how_many: int,
) -> list[FloatArray]:
    """The evidence of clouds of each shape, (how_many, 2, len(numbers))."""
    return [
        np.array([_evidence(c, numbers) for c in clouds(points, shape, most, rng, blur, how_many)])
        for shape in shapes
    ]


def _judged(observed: FloatArray, drawn: list[FloatArray]) -> tuple[int, float, FloatArray]:
    """Which number is the best, its p-value, and the mean separation of clouds."""
    level = np.mean([one[:, 0] for one in drawn], axis=(0, 1))
    at = _best(observed, level)
    return at, max(_p_value(observed[0], at, one, level) for one in drawn), level


def _evidence(points: FloatArray, numbers: Sequence[int]) -> FloatArray:
    """The separation and the spectral gap of each number of clusters, (2, len(numbers))."""
    values, _ = laplacian_eigenvectors(neighbour_graph(points), max(numbers) + 1)
    values = np.maximum(values, 1e-9)
    gap = [1 - values[number - 1] / values[number] for number in numbers]
    return np.stack([separations(points, numbers), np.array(gap)])


def _best(evidence: FloatArray, level: FloatArray) -> int:
    return int((evidence[0] / level * evidence[1]).argmax())


def _p_value(separation: FloatArray, at: int, drawn: FloatArray, level: FloatArray) -> float:
    """Of the separation of one number, among those of the best numbers of clouds."""
    mean, spread = drawn[:, 0].mean(axis=0), drawn[:, 0].std(axis=0) + 1e-12
    best = np.array([_best(one, level) for one in drawn])
    row = np.arange(len(drawn))
    by_chance = (drawn[row, 0, best] - mean[best]) / spread[best]
    return p_value((separation[at] - mean[at]) / spread[at], by_chance)


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


def silhouettes(coordinates: FloatArray, labels: IntArray) -> FloatArray:
    """The silhouette of each object; 0 for all where there is one cluster."""
    from sklearn.metrics import silhouette_samples

    if not 2 <= len(np.unique(labels)) < len(labels):
        return np.zeros(len(labels))
    return np.asarray(silhouette_samples(coordinates, labels))
