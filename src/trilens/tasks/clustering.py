"""`KRNGClustering`: Algorithm 5, spectral clustering of the estimated k-RNG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin

from trilens._tabular import Tabular
from trilens._typing import FloatArray, IntArray
from trilens.errors import ParameterError
from trilens.graph.krng import connecting_k_of, lens_value, neighbourhood, pairs_of
from trilens.statements import StatementsLike, as_statements
from trilens.tasks.spectral import spectral_clusters


class KRNGClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Spectral clustering of the estimated k-RNG (Algorithm 5).

    Parameters
    ----------
    n_clusters : int
    k : int, optional
        Of the k-RNG; by default the smallest k that connects the graph.
    sigma : float, optional
        Weighted version: edge weights ``exp(-V^2 / sigma^2)``.
    error_rate : float
        The known share of wrong answers, for which V is corrected.
    random_state : int, Generator or None
        Of k-means.

    Attributes
    ----------
    labels_ : (n_objects,) array of int
        0 to ``n_clusters - 1``, numbered in the order of the objects.
    k_ : int
    graph_ : (n_objects, n_objects) csr_array
    n_connected_ : int
        Connected parts of the graph; 1 for a connected graph.
    isolated_ : (i,) array of int
        Objects without a neighbour. They take no part in the eigenproblem and go to the
        cluster of the object of least V (to the largest cluster where nothing is known).

    Examples
    --------
    >>> from trilens.simulate import mixture, simulate_statements
    >>> drawn = mixture(40, [[0, 0], [9, 0]], random_state=1)
    >>> S = simulate_statements(drawn.points, random_state=2)
    >>> clusters = KRNGClustering(2, k=10, random_state=0).fit_predict(S)
    >>> purity(clusters, drawn.labels)
    1.0
    """

    def __init__(
        self,
        n_clusters: int = 2,
        k: int | None = None,
        sigma: float | None = None,
        error_rate: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.k = k
        self.sigma = sigma
        self.error_rate = error_rate
        self.random_state = random_state

    def fit(self, X: StatementsLike, y: Any = None) -> KRNGClustering:
        """Cluster the objects of ``central`` statements."""
        from scipy.sparse.csgraph import connected_components

        pairs = pairs_of(X)
        n = pairs.n_objects
        check_n_clusters(self.n_clusters, n)
        value = lens_value(pairs)
        k = self.k
        if k is None:
            k = connecting_k_of(value, n, self.error_rate)
        if k is None:
            # no k connects it: then every pair that was asked about is an edge
            k = max(n - 1, 1)
        self.k_ = k
        self.graph_ = neighbourhood(value, n, k, self.error_rate, self.sigma)
        self.n_connected_ = int(connected_components(self.graph_, directed=False)[0])
        degree = np.asarray(self.graph_.sum(axis=1)).ravel()
        self.isolated_ = np.flatnonzero(degree == 0)
        inside = np.flatnonzero(degree > 0)
        labels = np.full(n, -1, dtype=np.int64)
        if len(inside) <= self.n_clusters:
            labels[:] = np.minimum(np.arange(n), self.n_clusters - 1)
        else:
            part = self.graph_[inside][:, inside]
            labels[inside] = spectral_clusters(part, self.n_clusters, self.random_state)
            _join_nearest(labels, value, self.isolated_)
        self.labels_ = in_order_of_appearance(labels)
        return self


@dataclass(frozen=True)
class Clusters(Tabular):
    """A clustering, and how it came about.

    Attributes
    ----------
    labels : (n_objects,) array of int
    names : tuple of str
        The objects.
    parameters : dict
        The method and every parameter that was chosen or found.
    """

    labels: IntArray
    names: tuple[str, ...]
    parameters: dict[str, Any]

    def columns(self) -> dict[str, Sequence[Any]]:
        """The cluster of each object."""
        return {"object": self.names, "cluster": self.labels.tolist()}


def cluster(
    statements: StatementsLike,
    n_clusters: int,
    method: str | None = None,
    *,
    k: int | None = None,
    sigma: float | None = None,
    error_rate: float = 0.0,
    n_components: int = 2,
    random_state: Any = 0,
) -> Clusters:
    """Clusters by the k-RNG (Algorithm 5) or by spectral clustering on a map.

    Parameters
    ----------
    method : str, optional
        ``"krng"`` for ``central`` statements, or the name of a map; by default ``"krng"``
        where the kind allows it, else ``"lensmap"``.
    k, sigma
        Of the k-RNG (by default the smallest connecting k, and no weights), or of the k-NN
        graph on the map (10 and 0.5).
    """
    given = as_statements(statements)
    chosen = method or ("krng" if given.kind == "central" else "lensmap")
    if chosen == "krng":
        model = KRNGClustering(n_clusters, k, sigma, error_rate, random_state).fit(given)
        found = {
            "k": model.k_,
            "sigma": sigma,
            "error_rate": error_rate,
            "edges": model.graph_.nnz // 2,
            "connected_parts": model.n_connected_,
            "isolated": [given.names[i] for i in model.isolated_],
        }
        return Clusters(model.labels_, given.names, {"method": chosen, **found})
    from trilens.tasks.coordinates import coordinate_clusters, coordinates

    if error_rate and chosen != "lensmap":
        raise ParameterError(f"{chosen} has no correction for an error rate; krng and lensmap have")
    corrected: dict[str, Any] = {"error_rate": error_rate} if error_rate else {}
    points = coordinates(given, chosen, n_components, random_state, **corrected)
    k, sigma = 10 if k is None else k, 0.5 if sigma is None else sigma
    labels = coordinate_clusters(points, n_clusters, k, sigma, random_state)
    found = {"dim": points.shape[1], "k": k, "sigma": sigma, "error_rate": error_rate}
    return Clusters(labels, given.names, {"method": chosen, **found})


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


def _join_nearest(labels: IntArray, value: Any, isolated: IntArray) -> None:
    """Give each isolated object the cluster of the clustered object of least V."""
    i, j = value.coords
    shares: FloatArray = value.data
    clustered = labels >= 0
    largest = int(np.bincount(labels[clustered]).argmax())
    nearest = {}
    for x in isolated:
        at_x = (i == x) | (j == x)
        other = np.where(i[at_x] == x, j[at_x], i[at_x])
        usable = clustered[other]
        if usable.any():
            nearest[x] = int(labels[other[usable][shares[at_x][usable].argmin()]])
        else:
            nearest[x] = largest
    for x, cluster in nearest.items():
        labels[x] = cluster
