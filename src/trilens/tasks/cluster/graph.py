"""`KRNGClustering`: Algorithm 5, spectral clustering of the estimated k-RNG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from trilens._parameters import real_number, whole_number
from trilens._typing import IntArray
from trilens.counts import PairCounts
from trilens.errors import ParameterError
from trilens.graph import LensValues, lens_values, pairs_of
from trilens.statements import StatementsLike, as_statements
from trilens.statements.checks import refuse_answers
from trilens.tasks.cluster.partition import check_n_clusters, in_order_of_appearance
from trilens.tasks.cluster.spectral import spectral_clusters
from trilens.tasks.error_rate import known_error_rate


class KRNGClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Spectral clustering of the estimated k-RNG (Algorithm 5).

    Parameters
    ----------
    n_clusters : int
    k : int, optional
        Of the k-RNG; by default the smallest k that connects the graph.
    sigma : float, optional
        Weighted version: edge weights ``exp(-V^2 / sigma^2)``.
    error_rate : float or "estimate"
        The share of wrong answers, for which V is corrected; ``"estimate"`` takes what
        `trilens.reliability` finds.
    random_state : int, Generator or None
        Of k-means.

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
        cluster of the object of least V (to the largest cluster where nothing is known).

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

    def __init__(
        self,
        n_clusters: int = 2,
        k: int | None = None,
        sigma: float | None = None,
        error_rate: Any = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.k = k
        self.sigma = sigma
        self.error_rate = error_rate
        self.random_state = random_state

    def fit(self, X: StatementsLike | PairCounts, y: Any = None) -> KRNGClustering:
        """Cluster the objects of ``central`` statements, or of their pair counts."""
        from scipy.sparse.csgraph import connected_components

        if not isinstance(X, PairCounts):
            given, X = X, as_statements(X)
            refuse_answers(y, given, X)
        counts = pairs_of(X)
        values = lens_values(counts)
        self.error_rate_ = _rate(self.error_rate, X, self.random_state)
        n = values.n_objects
        check_n_clusters(self.n_clusters, n)
        if self.k is not None:
            whole_number("k", self.k, least=1)
        # where no k connects it, every pair that was asked about is an edge
        self.k_ = self.k or values.connecting_k(self.error_rate_) or max(n - 1, 1)
        self.graph_ = values.graph(self.k_, self.error_rate_, self.sigma)
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
            _join_nearest(labels, values, self.isolated_)
        self.labels_ = in_order_of_appearance(labels)
        self.counts_ = counts
        return self

    def partial_fit(self, X: StatementsLike | PairCounts, y: Any = None) -> KRNGClustering:
        """As `fit` to all statements so far: those of `fit`, of earlier calls, and these."""
        more = pairs_of(X)
        return self.fit(self.counts_ + more if hasattr(self, "counts_") else more)


def krng_parameters(krng: KRNGClustering, names: Sequence[str]) -> dict[str, Any]:
    """The method and what it chose, as `trilens.cluster` tells it."""
    return {
        "method": "krng",
        "k": krng.k_,
        "sigma": krng.sigma,
        "error_rate": krng.error_rate_,
        "edges": krng.graph_.nnz // 2,
        "connected_parts": krng.n_connected_,
        "isolated": [names[i] for i in krng.isolated_.tolist()],
    }


def _rate(error_rate: Any, X: StatementsLike | PairCounts, random_state: Any) -> float:
    if not isinstance(error_rate, str):
        return real_number("error_rate", error_rate)
    if isinstance(X, PairCounts):
        raise ParameterError("counts do not tell the error rate; give a number, or statements")
    return known_error_rate(error_rate, as_statements(X), random_state)


def _join_nearest(labels: IntArray, values: LensValues, isolated: IntArray) -> None:
    """Give each isolated object the cluster of the clustered object of least V."""
    i, j, shares = values.i, values.j, values.share
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
