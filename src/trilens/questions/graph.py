"""The neighbourhood graph of the objects, with k chosen where it is not given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._parameters import real_number, seed_of, whole_number
from trilens._tabular import Tabular
from trilens._typing import FloatArray, Progress, RandomState
from trilens.counts import PairCounts
from trilens.errors import ParameterError
from trilens.maps.registry import dimensions
from trilens.maps.streamed import StreamedMap
from trilens.questions.data import (
    PAIRED_OBJECTS,
    Data,
    model_of_many,
    objects_of,
    pair_counts,
    statements_of,
)
from trilens.questions.embed import map_of_pairs, points_of
from trilens.questions.method import (
    check_method,
    check_model,
    choose_method,
    is_zero,
    known_error_rate,
    method_of_pairs,
)
from trilens.statements import Statements

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from trilens.maps.choice_map import ChoiceMap
    from trilens.questions.model import AnswerModel

#: Of the k-NN graph on a map, where no k is given.
_NEIGHBOURS = 5


@dataclass(frozen=True)
class Graph(Tabular):
    """Which objects are neighbours.

    Attributes
    ----------
    matrix : (n, n) csr_array
        Symmetric weights, without loops.
    names : tuple of str
    method : str
        ``"krng"``, or the map whose nearest neighbours are joined.
    k : int
    connected_parts : int
        1 for a connected graph.
    """

    matrix: csr_array = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    method: str
    k: int
    connected_parts: int

    def __len__(self) -> int:
        """The number of edges."""
        return self.matrix.nnz // 2

    def edges(self) -> list[tuple[int, int]]:
        """The pairs of neighbours (ids i < j), the strongest first."""
        upper = self.matrix.tocoo()
        inside = upper.coords[0] < upper.coords[1]
        i, j, weight = upper.coords[0][inside], upper.coords[1][inside], upper.data[inside]
        first = np.argsort(-weight, kind="stable")
        return list(zip(i[first].tolist(), j[first].tolist(), strict=True))

    def columns(self) -> dict[str, Sequence[Any]]:
        """The two ends of each edge."""
        pairs = self.edges()
        return {
            "object_1": [self.names[i] for i, _ in pairs],
            "object_2": [self.names[j] for _, j in pairs],
        }

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens graph --json`` prints them."""
        return {
            "method": self.method,
            "k": self.k,
            "edges": len(self),
            "connected_parts": self.connected_parts,
        }

    def write(self, path: str) -> None:
        """An edge list, GraphML or NPZ file, by the ending."""
        from trilens.files.graph import write_graph

        write_graph(self.matrix, self.names, path)


def neighbours(
    statements: Data,
    k: int | None = None,
    method: str = "auto",
    *,
    error_rate: Any = 0.0,
    sigma: float | None = None,
    n_components: int | None = None,
    random_state: RandomState = 0,
    model: AnswerModel | ChoiceMap | StreamedMap | None = None,
    progress: Progress | None = None,
) -> Graph:
    """The estimated k-RNG of ``central`` statements, or the neighbours on a map.

    Parameters
    ----------
    statements : Answers, Statements, (m, 3) array, Counted or PairCounts
        Counts of pairs suffice for ``"krng"`` and ``"lensmap"``. Files too large to hold are
        counted where that suffices.
    k : int, optional
        By default the smallest k that connects the k-RNG (where none does, every pair that was
        asked about is an edge), or 5 neighbours on a map.
    method : str
        ``"krng"`` (Algorithm 5's graph), or a map; ``"auto"``: the first for ``central``
        statements.
    error_rate : float or "estimate"
        Of `k_rng`; ``"estimate"`` takes what `trilens.reliability` finds.
    sigma
        Of `k_rng`.
    n_components, random_state
        Of the map.
    model : AnswerModel or ChoiceMap, optional
        For the choice map, where one has been fitted to the statements. A streamed map: the
        neighbours on it.
    progress : callable, optional
        Called with the share of large files that has been counted.

    Examples
    --------
    >>> found = neighbours([[1, 0, 2], [1, 0, 2]])
    >>> found.k, found.edges()
    (1, [(0, 1), (1, 2)])
    """
    check_method("graph", method)
    if method in ("auto", "choice") and n_components is None and is_zero(error_rate):
        # the pairs of very many objects cannot be counted
        model = (
            model_of_many(
                statements,
                "graph",
                model,
                seed_of(random_state),
                progress,
                most_objects=PAIRED_OBJECTS,
            )
            or model
        )
    if isinstance(model, StreamedMap):
        return _on_map(model.embedding, model.names, model.method, k, sigma)
    suffice = method in ("auto", "krng", "lensmap")
    pairs = pair_counts(statements, suffice, progress)
    if k is not None:
        whole_number("k", k, least=1)
    if pairs is not None:
        chosen, names = method_of_pairs(method, pairs, "krng"), objects_of(pairs).names
        error_rate = real_number("error_rate", error_rate)
        if chosen == "krng":
            return _krng(pairs, names, k, error_rate, sigma)
    else:
        given = statements_of(statements, "graph")
        model, names = check_model(model, given, random_state), given.names
        chosen = choose_method("graph", given, method)
        error_rate = known_error_rate(error_rate, given, random_state, model)
        if chosen == "krng":
            return _krng(given, names, k, error_rate, sigma)
    if not is_zero(error_rate):
        raise ParameterError(f"{chosen} cannot correct for an error rate; krng can")
    if len(names) < 2:
        points = np.zeros((len(names), 1))
    elif pairs is None:
        points = points_of(given, chosen, n_components, random_state, model)
    else:
        points = map_of_pairs(pairs, dimensions(n_components, len(names)), random_state)
    return _on_map(points, names, chosen, k, sigma)


def _krng(
    given: Statements | PairCounts,
    names: tuple[str, ...],
    k: int | None,
    error_rate: float,
    sigma: float | None,
) -> Graph:
    """The k-RNG; without k the smallest that connects it."""
    from trilens.lens import lens_values

    values = lens_values(given)
    if k is None:
        k = values.connecting_k(error_rate) or max(len(names) - 1, 1)
    return _graph(values.graph(k, error_rate, sigma), names, "krng", int(k))


def _on_map(
    points: FloatArray,
    names: tuple[str, ...],
    method: str,
    k: int | None,
    sigma: float | None,
) -> Graph:
    """The nearest neighbours on a map."""
    from scipy.sparse import csr_array

    from trilens.questions.cluster.spectral import neighbour_graph

    n = len(points)
    k = min(_NEIGHBOURS if k is None else whole_number("k", k, least=1), max(n - 1, 1))
    width = 0.5 if sigma is None else real_number("sigma", sigma, positive=True)
    matrix = neighbour_graph(points, k, width) if n > 1 else csr_array((n, n))
    return _graph(matrix, names, method, k)


def _graph(matrix: csr_array, names: tuple[str, ...], method: str, k: int) -> Graph:
    from scipy.sparse.csgraph import connected_components

    parts = int(connected_components(matrix, directed=False)[0]) if len(names) else 0
    return Graph(matrix, names, method, k, parts)


#: The same, spelled the American way.
neighbors = neighbours
