"""Spectral clustering of the k-relative neighborhood graph, as an estimator."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from trilens._parameters import whole_number
from trilens._sklearn import BaseEstimator, ClusterMixin
from trilens._typing import RandomState
from trilens.counts import PairCounts
from trilens.lens import algorithm_5, lens_values, pairs_of
from trilens.questions.cluster.spectral import check_n_clusters
from trilens.questions.error_rate import known_error_rate
from trilens.questions.estimators import LabelsObjects
from trilens.questions.labels import in_order_of_appearance
from trilens.statements import Kind, StatementsLike
from trilens.statements.value import refuse_answers, statements_to_fit


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
