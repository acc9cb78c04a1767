"""`cluster`: groups of the objects, by any method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trilens._tabular import Tabular
from trilens._typing import IntArray
from trilens.errors import ParameterError
from trilens.statements import StatementsLike, as_statements
from trilens.tasks.cluster.graph import KRNGClustering


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
    from trilens.maps.registry import coordinates
    from trilens.tasks.cluster.map import coordinate_clusters

    if error_rate and chosen != "lensmap":
        raise ParameterError(f"{chosen} has no correction for an error rate; krng and lensmap have")
    corrected: dict[str, Any] = {"error_rate": error_rate} if error_rate else {}
    points = coordinates(given, chosen, n_components, random_state, **corrected)
    k, sigma = 10 if k is None else k, 0.5 if sigma is None else sigma
    labels = coordinate_clusters(points, n_clusters, k, sigma, random_state)
    found = {"dim": points.shape[1], "k": k, "sigma": sigma, "error_rate": error_rate}
    return Clusters(labels, given.names, {"method": chosen, **found})
