"""`MapClustering`: what `cluster` finds, as an estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags

from trilens._typing import IntArray, RandomState
from trilens.ask import asked_of
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.estimator import of_statements
from trilens.maps.features import FeaturesLike
from trilens.questions.cluster.groups import cluster
from trilens.statements import Kind, StatementsLike
from trilens.statements.value import refuse_answers, statements_to_fit


@dataclass(eq=False, repr=False)
class MapClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """What `trilens.cluster` finds, as an estimator: spectral clustering on the choice map.

    Parameters
    ----------
    n_clusters : int, optional
        By default as many as the answers suggest, which may be one.
    map : str or ChoiceMap
        The method of `trilens.cluster`, or a map to be fitted (it is cloned).
    k, sigma
        Of the k-NN graph on the map, or of the k-RNG; see `trilens.cluster`.
    random_state : int, Generator or None
    kind : {"central", "odd", "closer"}, optional
        What was asked: required for arrays, which do not tell.

    Attributes
    ----------
    labels_ : (n_objects,) array of int
        The cluster of each object, from 0 on.
    n_clusters_ : int
    result_ : Clusters
        What `trilens.cluster` returned: the groups, their stability, the suggested number.
    kind_ : {"central", "odd", "closer"}

    Examples
    --------
    >>> from trilens import purity
    >>> from trilens.simulate import mixture, simulate_statements
    >>> drawn = mixture(45, [[0, 0], [9, 0], [0, 9]], random_state=1)
    >>> S = simulate_statements(drawn.points, 3000, random_state=2)
    >>> purity(MapClustering().fit_predict(S), drawn.labels)
    1.0
    """

    n_clusters: int | None = None
    _: KW_ONLY
    map: str | ChoiceMap = "auto"
    k: int | None = None
    sigma: float | None = None
    random_state: RandomState = 0
    kind: Kind | None = None

    def __sklearn_tags__(self) -> Tags:
        return of_statements(super().__sklearn_tags__())

    def fit(
        self, X: StatementsLike, y: Any = None, *, features: FeaturesLike | None = None
    ) -> MapClustering:
        """Find the groups of the objects of statements; ``features`` as in `trilens.fit`."""
        given = statements_to_fit(X, self.kind, self)
        refuse_answers(y, X, given)
        data, method = asked_of(self.map, given, features, self.random_state)
        self.result_ = cluster(
            data,
            self.n_clusters,
            method,
            k=self.k,
            sigma=self.sigma,
            random_state=self.random_state,
        )
        self.labels_ = self.result_.labels
        self.n_clusters_ = self.result_.n_clusters
        self.kind_ = given.kind
        return self

    def fit_predict(self, X: StatementsLike, y: Any = None, **parameters: Any) -> IntArray:
        """Fit, and give the cluster of every object; parameters as for `fit`."""
        return self.fit(X, y, **parameters).labels_
