"""The neighborhood graph of the objects, with k chosen where it is not given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._parameters import one_of, real_number, whole_number
from trilens._tabular import Tabular
from trilens._typing import FloatArray, RandomState
from trilens.answers import Answers
from trilens.ask import (
    Data,
    Opened,
    Points,
    Question,
    answers_of,
    ask,
    objects_of,
    opened,
    register,
)
from trilens.counts import CentralCounts, Counted, PairCounts
from trilens.errors import ParameterError
from trilens.maps.fitted import Fit
from trilens.questions.cluster.spectral import neighbour_graph
from trilens.questions.error_rate import is_zero, known_error_rate
from trilens.statements import Statements

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Up to so many objects all pairs are counted.
_PAIRED_OBJECTS = 4096
#: Of the k-NN graph on a map, where no k is given.
_NEIGHBOURS = 5


@dataclass(frozen=True)
class Graph(Tabular):
    """Which objects are neighbors.

    Attributes
    ----------
    matrix : (n, n) csr_array
        Symmetric weights, without loops.
    names : tuple of str
    method : str
        ``"krng"``, or the map whose nearest neighbors are joined.
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
        """The pairs of neighbors (ids i < j), the strongest first."""
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
        from trilens.files.results import write_graph

        write_graph(self.matrix, self.names, path)


def neighbors(
    answers: Data,
    k: int | None = None,
    method: str = "auto",
    *,
    error_rate: Any = 0.0,
    sigma: float | None = None,
    random_state: RandomState = 0,
) -> Graph:
    """The estimated k-RNG of ``central`` statements, or the neighbors on a map.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, (m, 3) array, Counted or PairCounts
        Counts of pairs suffice for ``"krng"``.
    k : int, optional
        By default the smallest k that connects the k-RNG (where none does, every pair that was
        asked about is an edge), or 5 neighbors on a map.
    method : str
        ``"krng"`` (Algorithm 5's graph), or a map; ``"auto"``: the first for ``central``
        statements about up to 4,096 objects, unless all questions were chosen by the answers
        before them.
    error_rate : float or "estimate"
        Of `k_rng`; ``"estimate"`` takes what `trilens.reliability` finds.
    sigma
        Of `k_rng`.
    random_state
        Of the map.

    Examples
    --------
    >>> found = neighbors(Statements([[1, 0, 2], [1, 0, 2]], kind="central"))
    >>> found.k, found.edges()
    (1, [(0, 1), (1, 2)])
    """
    one_of("method", method, ("auto", *GRAPH.methods))
    given = opened(answers)
    if k is not None:
        whole_number("k", k, least=1)
    if method == "auto" and _suits_krng(given):
        method = "krng"
    known = error_rate
    if not is_zero(error_rate):
        if method not in ("auto", "krng"):
            raise ParameterError(f"{method} cannot correct for an error rate; krng can")
        method, known = "krng", known_error_rate(error_rate, given, random_state)
    found: Graph = ask(GRAPH, given, method, random_state, k=k, error_rate=known, sigma=sigma)
    return found


def _suits_krng(given: Opened) -> bool:
    """Whether the k-RNG serves: central answers, and not too many objects to count all pairs."""
    if isinstance(given, Fit):
        given = answers_of(given)
    if isinstance(given, Answers):
        given = given.read() if given.held and not given.in_counts else given.count()
    if isinstance(given, Counted | CentralCounts | PairCounts):
        return given.kind == "central" and given.n_objects <= _PAIRED_OBJECTS
    assert isinstance(given, Statements)
    return given.kind == "central" and (not len(given) or bool(given.asked_at_random.any()))


def _of_fit(fitted: Fit, k: int | None, error_rate: float, sigma: float | None) -> Graph:
    return _on_map(fitted.map.X, fitted.names, "choice", k, sigma)


def _of_points(points: Points, k: int | None, error_rate: float, sigma: float | None) -> Graph:
    return _on_map(points.X, points.names, points.method, k, sigma)


def _of_counts(data: Any, k: int | None, error_rate: float, sigma: float | None) -> Graph:
    """The k-RNG; without k the smallest that connects it."""
    from trilens.lens import lens_values

    counts: Any = data.pairs if isinstance(data, Counted) else data
    names = counts.names if isinstance(counts, Statements) else objects_of(counts).names
    values = lens_values(counts)
    if k is None:
        k = values.connecting_k(error_rate) or max(len(names) - 1, 1)
    return _graph(values.graph(k, error_rate, sigma), names, "krng", int(k))


def _on_map(
    points: FloatArray, names: tuple[str, ...], method: str, k: int | None, sigma: float | None
) -> Graph:
    """The nearest neighbors on a map."""
    from scipy.sparse import csr_array

    n = len(points)
    k = min(k or _NEIGHBOURS, max(n - 1, 1))
    width = 0.5 if sigma is None else real_number("sigma", sigma, positive=True)
    matrix = neighbour_graph(points, k, width) if n > 1 else csr_array((n, n))
    return _graph(matrix, names, method, k)


def _graph(matrix: csr_array, names: tuple[str, ...], method: str, k: int) -> Graph:
    from scipy.sparse.csgraph import connected_components

    parts = int(connected_components(matrix, directed=False)[0]) if len(names) else 0
    return Graph(matrix, names, method, k, parts)


GRAPH = register(
    Question(
        "neighbors",
        of_fit=_of_fit,
        of_counts=_of_counts,
        of_points=_of_points,
        by_counting="krng",
        needs_pairs=True,
        per_object=("names",),
        per_pair=("matrix",),
    )
)
