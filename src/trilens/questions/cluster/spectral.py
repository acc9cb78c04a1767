"""Spectral clustering: of the estimated k-RNG (Algorithm 5), and of the neighbors on a map."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import seed_of, whole_number
from trilens._sklearn import BaseEstimator, ClusterMixin
from trilens._typing import FloatArray, IntArray, RandomState
from trilens.counts import PairCounts
from trilens.errors import ParameterError
from trilens.lens import algorithm_5, lens_values, pairs_of, spectral_clusters
from trilens.maps.geometry import rescaled
from trilens.questions.error_rate import known_error_rate
from trilens.questions.estimators import LabelsObjects
from trilens.questions.labels import in_order_of_appearance
from trilens.statements import Kind, StatementsLike
from trilens.statements.value import refuse_answers, statements_to_fit

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Of more objects a sample is clustered: the eigenvectors of many take long to find.
_MOST_SPECTRAL = 10_000
#: Up to so many points all distances at once are quicker than a tree.
_ALL_DISTANCES = 2000


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


def coordinate_clusters(
    coordinates: FloatArray,
    n_clusters: int,
    k: int = 10,
    sigma: float = 0.5,
    random_state: RandomState = 0,
) -> IntArray:
    """The paper's clustering of an embedding.

    Spectral clustering of the symmetric k-NN graph (i and j are neighbors when one is among
    the k nearest of the other) with weights ``exp(-|u_i - u_j|^2 / sigma^2)``, the
    coordinates rescaled to diameter 2. Of more than 10,000 objects so many, drawn at random,
    are clustered, and each of the others joins the nearest of them. In one dimension a border is
    moved to the widest gap near it.
    """
    n = len(coordinates)
    check_n_clusters(n_clusters, n)
    if not k >= 1 or not sigma > 0:
        raise ParameterError(f"k is {k} and sigma {sigma}; both must be positive")
    if n <= n_clusters or n == 1:
        return np.arange(n)
    if n > _MOST_SPECTRAL:
        return in_order_of_appearance(_by_sample(coordinates, n_clusters, k, sigma, random_state))
    graph = neighbour_graph(coordinates, k, sigma)
    found = spectral_clusters(graph, n_clusters, random_state)
    if coordinates.shape[1] == 1:
        found = with_borders_at_gaps(coordinates[:, 0], found)
    return in_order_of_appearance(found)


def with_borders_at_gaps(along: FloatArray, labels: IntArray) -> IntArray:
    """The same groups of objects on a line, with every border at the widest gap near it.

    Near is a tenth of the objects to either side, and less than half-way to the next border.

    >>> with_borders_at_gaps(np.array([0.0, 1, 2, 9, 10, 11, 12]), np.array([0, 0, 0, 0, 1, 1, 1]))
    array([0, 0, 0, 1, 1, 1, 1])
    """
    order = np.argsort(along, kind="stable")
    borders = np.flatnonzero(np.diff(labels[order]))
    if len(borders) != len(np.unique(labels)) - 1:  # groups that are not one after the other
        return labels
    steps, reach = np.diff(along[order]), max(1, len(along) // 10)
    ends = np.r_[-1, borders, len(along) - 1]
    moved = np.zeros(len(along), dtype=np.int64)
    for before, border, after in zip(ends, borders, ends[2:], strict=False):
        first = border - min(reach, (border - before - 1) // 2)
        last = border + min(reach, (after - border - 1) // 2)
        widest = first + int(steps[first : last + 1].argmax())
        moved[order[widest + 1 :]] += 1
    return moved


def _by_sample(
    coordinates: FloatArray, n_clusters: int, k: int, sigma: float, random_state: Any
) -> IntArray:
    """The clusters of a sample, and for every other object that of the nearest one in it."""
    from scipy.spatial import KDTree

    seed = seed_of(random_state)
    rng = np.random.default_rng([seed, 31])
    drawn = np.sort(rng.choice(len(coordinates), _MOST_SPECTRAL, replace=False))
    found = coordinate_clusters(coordinates[drawn], n_clusters, k, sigma, seed)
    _, nearest = KDTree(coordinates[drawn]).query(coordinates, workers=-1)
    return np.asarray(found[nearest], dtype=np.int64)


def neighbour_graph(coordinates: FloatArray, k: int = 10, sigma: float = 0.5) -> csr_array:
    """The weighted symmetric k-NN graph that `coordinate_clusters` divides.

    Equal points are neighbors of weight 1. A weight that underflows is kept just above 0, so
    that no edge is lost.
    """
    from scipy.sparse import csr_array

    X, n = rescaled(coordinates), len(coordinates)
    k = min(k, n - 1)
    if n <= _ALL_DISTANCES:
        from scipy.spatial.distance import cdist

        distance = cdist(X, X)
        np.fill_diagonal(distance, np.inf)
        nearest = np.argpartition(distance, k - 1, axis=1)[:, :k]
        length = np.take_along_axis(distance, nearest, axis=1).ravel()
        near = csr_array((length, nearest.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    else:
        from sklearn.neighbors import kneighbors_graph

        near = csr_array(kneighbors_graph(X, k, mode="distance"))
    with np.errstate(over="ignore", under="ignore"):
        weight = np.exp(-((near.data / sigma) ** 2))
    near.data = np.maximum(weight, np.finfo(float).tiny ** 0.5)
    return near.maximum(near.T).tocsr()


@dataclass(eq=False, repr=False)
class KRNGClustering(LabelsObjects, ClusterMixin, BaseEstimator):
    """Spectral clustering of the estimated k-RNG (Algorithm 5).

    Parameters
    ----------
    n_clusters : int
    k : int, optional
        Of the k-RNG; by default the smallest k that connects the graph.
    sigma : float, optional
        Weighted version: edge weights ``exp(-V^2 / sigma^2)``, V corrected as for the edges.
    error_rate : float or "estimate"
        The share of wrong answers, for which V is corrected; ``"estimate"`` takes what
        `trilens.reliability` finds.
    random_state : int, Generator or None
        Of k-means.
    n_init : int
        Starts of k-means, of which the best counts.
    kind : {"central", "odd", "closer"}, optional
        What was asked, for arrays, which do not tell; by default ``"central"``, the only kind
        that has a k-RNG.

    Attributes
    ----------
    labels_ : (n_objects,) array of int
        0 to ``n_clusters - 1``, numbered in the order of the objects.
    k_ : int
    error_rate_ : float
    graph_ : (n_objects, n_objects) csr_array
    n_connected_ : int
        Connected parts of the graph; 1 for a connected graph.
    isolated_ : (i,) array of int
        Objects without a neighbour. They take no part in the eigenproblem and go to the
        cluster of the object of least V (to the largest cluster where nothing is known). If
        no more than ``n_clusters`` objects have a neighbour, each of these is a cluster, which
        means nothing, and a warning says so.
    kind_ : {"central"}
    counts_ : PairCounts
        What `partial_fit` adds to.

    Examples
    --------
    >>> from trilens.simulate import mixture, simulate_statements
    >>> drawn = mixture(40, [[0, 0], [9, 0]], random_state=1)
    >>> S = simulate_statements(drawn.points, random_state=2)
    >>> from trilens import purity
    >>> clusters = KRNGClustering(2, k=10, random_state=0).fit_predict(S)
    >>> purity(clusters, drawn.labels)
    1.0
    """

    n_clusters: int = 2
    k: int | None = None
    sigma: float | None = None
    error_rate: Any = 0.0
    random_state: RandomState = 0
    _: KW_ONLY
    n_init: int = 10
    kind: Kind | None = None

    def fit(self, X: StatementsLike | PairCounts, y: Any = None) -> KRNGClustering:
        """Cluster the objects of ``central`` statements, or of their pair counts."""
        from scipy.sparse.csgraph import connected_components

        if not isinstance(X, PairCounts):
            given, X = X, statements_to_fit(X, self.kind, self, only="central")
            refuse_answers(y, given, X)
        self.counts_ = pairs_of(X)
        self.kind_ = self.counts_.kind
        values = lens_values(self.counts_)
        n = values.n_objects
        check_n_clusters(self.n_clusters, n)
        self.error_rate_ = known_error_rate(self.error_rate, X, self.random_state)
        if self.k is not None:
            whole_number("k", self.k, least=1)
        # where no k connects it, every pair that was asked about is an edge
        self.k_ = self.k or values.connecting_k(self.error_rate_) or max(n - 1, 1)
        found, self.graph_ = algorithm_5(
            values,
            self.k_,
            self.n_clusters,
            self.sigma,
            self.error_rate_,
            n_init=whole_number("n_init", self.n_init, least=1),
            random_state=self.random_state,
        )
        self.labels_ = in_order_of_appearance(found)
        self.n_connected_ = int(connected_components(self.graph_, directed=False)[0])
        self.isolated_ = np.flatnonzero(np.diff(self.graph_.indptr) == 0)
        if self.has_few_edges:
            connected = n - len(self.isolated_)
            have = f"only {connected} of {n} objects have" if connected else "no object has"
            warnings.warn(
                f"{have} a neighbor in the k-RNG, too few for {self.n_clusters} clusters; take a "
                f"larger k, or give more statements",
                stacklevel=2,
            )
        return self

    @property
    def has_few_edges(self) -> bool:
        """Whether hardly an object has a neighbor in the graph, so that clusters mean nothing."""
        n = len(self.labels_)
        return 1 < self.n_clusters < n and n - len(self.isolated_) <= self.n_clusters

    def partial_fit(self, X: StatementsLike | PairCounts, y: Any = None) -> KRNGClustering:
        """As `fit` to all statements so far: those of `fit`, of earlier calls, and these."""
        more = pairs_of(X)
        return self.fit(self.counts_ + more if hasattr(self, "counts_") else more)
