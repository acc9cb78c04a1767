"""The graph, the groups and the map of pair counts, without the statements."""

from __future__ import annotations

from typing import Any

import numpy as np

from trilens._parameters import one_of, real_number, seed_of, whole_number
from trilens._typing import FloatArray, IntArray
from trilens.counts import PairCounts
from trilens.errors import ParameterError
from trilens.maps.lens_map import LensMap
from trilens.maps.registry import dimensions
from trilens.statements import Statements

#: What pair counts serve.
_METHODS = ("krng", "lensmap")


def method_of_pairs(method: str, pairs: PairCounts, best: str) -> str:
    """The method that is meant: counts serve the k-RNG and the lens map alone."""
    from trilens.tasks.method import METHODS

    one_of("method", method, ("auto", *METHODS["cluster"]))
    if method == "auto":
        return best if pairs.kind == "central" else "lensmap"
    if method not in _METHODS:
        raise ParameterError(
            f"counts of pairs serve krng and lensmap; {method} needs the statements"
        )
    return method


def objects_of_pairs(pairs: PairCounts) -> Statements:
    """The objects of counts, with no statement about them."""
    none = np.empty((0, 3), dtype=np.int32)
    return Statements(none, pairs.n_objects, pairs.names, pairs.kind)


def map_of_pairs(
    pairs: PairCounts, n_components: int | None, random_state: Any, error_rate: float = 0.0
) -> FloatArray:
    """The lens map; without ``n_components`` in as many dimensions as stand out."""
    from trilens.tasks.cluster.suggest import map_dimension

    if n_components is None:
        n_components = map_dimension(pairs) if pairs.n_objects > 1 else 1
    dim = dimensions(n_components, pairs.n_objects)
    return LensMap(dim, error_rate=error_rate, random_state=random_state).fit_transform(pairs)


def groups_of_pairs(
    pairs: PairCounts,
    n_clusters: int | None,
    method: str,
    k: int | None,
    sigma: float | None,
    error_rate: Any,
    n_components: int | None,
    random_state: Any,
) -> tuple[IntArray, FloatArray | None, dict[str, Any]]:
    """The cluster of each object, the map where there is one, and the parameters."""
    from trilens.tasks.cluster.graph import KRNGClustering, krng_parameters
    from trilens.tasks.cluster.map import coordinate_clusters, map_parameters

    chosen = method_of_pairs(method, pairs, "lensmap")
    if n_clusters is None:
        raise ParameterError(
            "counts do not tell how many groups there are; give n_clusters (--n-clusters), "
            "or the statements"
        )
    seed = seed_of(random_state)
    if chosen == "krng":
        krng = KRNGClustering(n_clusters, k, sigma, error_rate, seed).fit(pairs)
        return krng.labels_, None, krng_parameters(krng, objects_of_pairs(pairs).names)
    error_rate = real_number("error_rate", error_rate)
    k = 10 if k is None else whole_number("k", k, least=1)
    sigma = 0.5 if sigma is None else real_number("sigma", sigma, positive=True)
    points = map_of_pairs(pairs, n_components, seed, error_rate)
    found = coordinate_clusters(points, n_clusters, k, sigma, seed)
    parameters = map_parameters(chosen, points, k, sigma, error_rate)
    return found, points, parameters
