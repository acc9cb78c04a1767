"""The graph, the groups and the map of pair counts, without the statements."""

from __future__ import annotations

from typing import Any

from trilens._parameters import one_of
from trilens._typing import FloatArray
from trilens.counts import PairCounts
from trilens.errors import ParameterError
from trilens.maps.lens_map import LensMap
from trilens.maps.registry import dimensions

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


def map_of_pairs(
    pairs: PairCounts, n_components: int | None, random_state: Any, error_rate: float = 0.0
) -> FloatArray:
    """The lens map; without ``n_components`` in as many dimensions as stand out."""
    from trilens.tasks.cluster.suggest import map_dimension

    if n_components is None:
        n_components = map_dimension(pairs) if pairs.n_objects > 1 else 1
    dim = dimensions(n_components, pairs.n_objects)
    return LensMap(dim, error_rate=error_rate, random_state=random_state).fit_transform(pairs)
