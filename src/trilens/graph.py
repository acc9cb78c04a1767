"""The estimated k-relative neighbourhood graph, its files, and graphs as statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from html import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from trilens._parameters import generator, real_array, real_number, whole_number, wrong
from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray, RandomState
from trilens.answers import Answers, AnswersLike, pair_counts, read_or_count
from trilens.counts import Counted, PairCounts
from trilens.errors import FormatError, ParameterError, StatementError, option
from trilens.files import atomic_write, write_table
from trilens.kinds import require_kind
from trilens.statements import Statements, as_statements

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "LensValues",
    "connecting_k",
    "correct_errors",
    "effective_k",
    "k_rng",
    "lens_values",
    "neighbor_statements",
    "neighbour_statements",
    "pairs_of",
]

#: Shares this close to a threshold are compared as fractions: rounding must not make an edge.
_CLOSE = 1e-9
#: More statements than these are not made without being asked for: a gigabyte of them.
_MOST = 80_000_000

_ENDINGS = (".csv", ".tsv", ".txt", ".graphml", ".npz")


def k_rng(
    statements: AnswersLike | Counted | PairCounts,
    k: float,
    error_rate: float = 0.0,
    sigma: float | None = None,
) -> csr_array:
    """The estimated k-RNG: i and j are neighbours when V(i, j) < k / (n - 2).

    V(i, j) is the share of the statements about i and j that put a third object at the
    centre; a pair that was never asked about has V = infinity, so no edge.

    Parameters
    ----------
    statements : Answers, Statements, (m, 3) array, or PairCounts
        Of kind ``central``.
    k : float
        At least 1.
    error_rate : float
        The known share of wrong answers (Noise model I), below 2/3; V is corrected for it by
        the paper's eq. (14).
    sigma : float, optional
        Weights ``exp(-V^2 / sigma^2)``; without it every edge has weight 1.

    Returns
    -------
    (n, n) scipy.sparse.csr_array
        Symmetric, without loops.

    Examples
    --------
    >>> k_rng([[1, 0, 2], [1, 0, 2]], k=1).toarray().astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    return lens_values(statements).graph(k, error_rate, sigma)


@dataclass(frozen=True, eq=False)
class LensValues:
    """V(i, j) = N(i, j) / D(i, j) of every pair i < j that was asked about.

    Pairs that are not listed have V = infinity.

    Attributes
    ----------
    n_objects : int
    i, j : (p,) arrays of int
    third, appears : (p,) arrays of int
        N and D.
    """

    n_objects: int
    i: AnyArray
    j: AnyArray
    third: AnyArray
    appears: AnyArray

    @cached_property
    def share(self) -> FloatArray:
        """V as floats; equal fractions are equal floats."""
        return np.asarray(self.third / self.appears)

    def below(self, k: float, error_rate: float = 0.0) -> BoolArray:
        """Whether V, corrected for wrong answers, is less than k / (n - 2), without rounding."""
        k = real_number("k", k)
        if self.n_objects <= 2:
            _checked(error_rate)
            return np.zeros(len(self.share), dtype=bool)
        threshold = share_threshold(k, error_rate, self.n_objects - 2)
        near = self.share < float(threshold)
        for at in np.flatnonzero(np.abs(self.share - float(threshold)) < _CLOSE):
            near[at] = Fraction(int(self.third[at]), int(self.appears[at])) < threshold
        return near

    def connecting_k(self, error_rate: float = 0.0) -> int | None:
        """The smallest k whose graph is connected, or None where none is."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import minimum_spanning_tree

        n, e = self.n_objects, _exact(_checked(error_rate))
        if n <= 1:
            return 1
        # ranks from 1 on stand for the values: csgraph takes a weight of 0 for no edge
        _, first, rank = np.unique(self.share, return_index=True, return_inverse=True)
        weights = coo_array((rank + 1.0, (self.i, self.j)), shape=(n, n)).tocsr()
        tree = minimum_spanning_tree(weights)
        if tree.nnz < n - 1 or n == 2:
            return None
        at = first[int(tree.data.max()) - 1]
        value = Fraction(int(self.third[at]), int(self.appears[at]))
        # strictly below k / (n - 2): the next whole number
        return max(1, int((value - e / 2) / (1 - 3 * e / 2) * (n - 2) // 1) + 1)

    def graph(self, k: float, error_rate: float = 0.0, sigma: float | None = None) -> csr_array:
        """The graph {V < k / (n - 2)}, weighted or not."""
        from scipy.sparse import coo_array

        near = self.below(real_number("k", k, least=1), error_rate)
        i, j = self.i[near], self.j[near]
        weight = np.ones(len(i))
        if sigma is not None:
            width = real_number("sigma", sigma, positive=True)
            # the corrected value estimates a share of objects; below zero it is an estimate of 0
            share = np.maximum(correct_errors(self.share[near], error_rate), 0.0)
            with np.errstate(over="ignore", under="ignore"):
                weight = np.exp(-((share / width) ** 2))
            # a weight that underflows is kept just above 0, so that no edge is lost
            weight = np.maximum(weight, np.finfo(float).tiny ** 0.5)
        n = self.n_objects
        both = (np.concatenate([weight, weight]), (np.concatenate([i, j]), np.concatenate([j, i])))
        return coo_array(both, shape=(n, n)).tocsr()


def lens_values(statements: AnswersLike | Counted | PairCounts) -> LensValues:
    """V of every pair of objects, from ``central`` statements or their pair counts."""
    counts = pairs_of(statements)
    if isinstance(counts.appears, np.ndarray):
        i, j = np.nonzero(np.triu(counts.appears, 1))
        third, appears = counts.third[i, j], counts.appears[i, j]
    else:
        asked = counts.appears.tocoo()
        upper = asked.coords[0] < asked.coords[1]
        i, j, appears = asked.coords[0][upper], asked.coords[1][upper], asked.data[upper]
        third = counts.third_where_asked()[upper]
    return LensValues(counts.n_objects, i, j, third, appears)


def correct_errors(value: AnyArray, error_rate: float) -> FloatArray:
    """p from p-tilde, the paper's eq. (14): undo the bias of wrong answers in V.

    >>> correct_errors(np.array([0.15, 0.7]), 0.3).round(3).tolist()
    [0.0, 1.0]
    """
    _checked(error_rate)
    value = real_array("value", value)
    return np.asarray((value - error_rate / 2) / (1 - 1.5 * error_rate))


def effective_k(k: float, error_rate: float, n_objects: int) -> float:
    """k' of the paper's eq. (15): the graph that is actually estimated when answers are wrong.

    Without the correction, thresholding at k estimates the k'-RNG; at k' <= 0 an empty graph.

    >>> round(effective_k(10, 0.3, 60), 2)
    2.36
    """
    _checked(error_rate)
    k, n_objects = real_number("k", k), whole_number("n_objects", n_objects)
    return (k - error_rate / 2 * (n_objects - 2)) / (1 - 1.5 * error_rate)


def connecting_k(
    statements: AnswersLike | Counted | PairCounts, error_rate: float = 0.0
) -> int | None:
    """The smallest k whose estimated graph is connected, or None where none is.

    None means that the statements themselves fall apart: some objects are never compared
    with the rest.

    >>> connecting_k([[1, 0, 2], [1, 0, 2], [1, 0, 2], [0, 1, 2]])
    1
    """
    return lens_values(statements).connecting_k(error_rate)


def share_threshold(k: float, error_rate: float, n_others: int) -> Fraction:
    """What V must stay below by the paper's eq. (16), solved for V, without rounding.

    (V - e/2) / (1 - 3e/2) < k / n_others, e the share of wrong answers.

    >>> share_threshold(2, 0.3, 58)
    Fraction(49, 290)
    """
    e = _exact(_checked(error_rate))
    return _exact(k) * (1 - 3 * e / 2) / n_others + e / 2


def _checked(error_rate: float) -> float:
    if isinstance(error_rate, str):
        raise wrong(
            "error_rate",
            error_rate,
            "a number here; neighbours(), cluster(), KRNGClustering and KRNGClassifier "
            "can estimate it",
        )
    if not 0 <= real_number("error_rate", error_rate) < 2 / 3:
        raise wrong(
            "error_rate",
            error_rate,
            "at least 0 and below 2/3, where answers no longer say anything about lenses",
        )
    return error_rate


def _exact(value: float) -> Fraction:
    """The decimal number that was written: 0.3 is 3/10."""
    return Fraction(repr(float(value)))


def pairs_of(statements: AnswersLike | Counted | PairCounts) -> PairCounts:
    """Pair counts of ``central`` answers; other kinds are refused, in memory before counting."""
    given = statements
    if isinstance(given, Answers):
        given = read_or_count(given, pairs=True)
    if not isinstance(given, Counted | PairCounts):
        given = as_statements(given)
    require_kind(
        given.kind,
        ["central"],
        "the k-RNG",
        f"the lens map serves every kind: {option('method', 'lensmap')}",
    )
    return pair_counts(given)


def neighbour_statements(
    graph: Any,
    n_statements: int | None = None,
    names: Iterable[str] | None = None,
    random_state: RandomState = 0,
) -> Statements:
    """The ``closer`` statements that a directed graph of nearest neighbours implies.

    d(v, a) < d(v, b) for every neighbour a of v and every b that is none: k (n - 1 - k) for each
    object v with k neighbours. The graph says no more than that, and so these statements lose
    nothing of it; but a graph loses much of the distances. It does not say which of two
    neighbours is the nearer one, nor which of two others, and compares no distances from
    different objects. Few of the statements determine which of three objects is the most central
    (`Statements.to_central`): two of the three must be anchors.

    Parameters
    ----------
    graph : (n, n) array or sparse array
        Row v marks the nearest neighbours of v; they may differ in number. A graph that has been
        made symmetric no longer tells who is whose neighbour, and must not be given.
    n_statements : int, optional
        So many of them, drawn without replacement; by default all.
    names : iterable of str, optional
    random_state

    Returns
    -------
    Statements
        Of kind ``closer``; all of them in the order of v, a and b.

    Examples
    --------
    >>> neighbour_statements([[0, 1, 0], [1, 0, 0], [0, 1, 0]]).triples.tolist()
    [[0, 1, 2], [1, 0, 2], [2, 1, 0]]
    """
    near = _adjacency(graph)
    n = len(near)
    far = ~near
    np.fill_diagonal(far, False)
    each: IntArray = np.count_nonzero(near, axis=1) * np.count_nonzero(far, axis=1)
    total = int(each.sum())
    if n_statements is None:
        if total > _MOST:
            raise ParameterError(
                f"the graph implies {total:,} statements, too many to hold; "
                f"use {option('n_statements')} to sample some of them"
            )
        at = np.arange(total)
    else:
        count = whole_number("n_statements", n_statements, most=total)
        at = np.sort(generator(random_state).choice(total, count, replace=False))
    starts = np.concatenate([[0], np.cumsum(each)])
    triples = np.empty((len(at), 3), dtype=np.int32)
    bounds = np.searchsorted(at, starts).tolist()
    for v in range(n):
        rows = slice(bounds[v], bounds[v + 1])
        others = np.flatnonzero(far[v])
        if len(others) == 0 or rows.start == rows.stop:
            continue
        a, b = np.divmod(at[rows] - starts[v], len(others))
        triples[rows, 0], triples[rows, 1] = v, np.flatnonzero(near[v])[a]
        triples[rows, 2] = others[b]
    return Statements(triples, n, names, "closer")


def _adjacency(graph: Any) -> BoolArray:
    dense = graph.toarray() if hasattr(graph, "toarray") else graph
    try:
        array = np.asarray(dense)
    except (TypeError, ValueError):
        array = np.empty(0, dtype=object)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.dtype.kind not in "biuf":
        raise wrong("graph", graph, "an (n, n) array that marks neighbours")
    if not np.isfinite(array).all():
        raise ParameterError(
            "the graph has entries that are not finite numbers; mark neighbours with 1",
            parameter="graph",
        )
    near: BoolArray = array != 0
    if near.diagonal().any():
        v = int(np.flatnonzero(near.diagonal())[0])
        raise StatementError(f"object {v} is marked as its own neighbour; leave the diagonal 0")
    return near


def check_ending(path: str | Path) -> str:
    """The ending of a graph file; an unknown one is refused before any work."""
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise FormatError(f"{path}: unknown ending for a graph; use one of {', '.join(_ENDINGS)}")
    return ending


def write_graph(graph: csr_array, names: Sequence[str], path: str | Path) -> None:
    """Write the edges i < j with their weights, whole or not at all."""
    ending = check_ending(path)
    upper = graph.tocoo()
    keep = upper.coords[0] < upper.coords[1]
    i, j, weight = upper.coords[0][keep], upper.coords[1][keep], upper.data[keep]
    if ending == ".npz":
        with atomic_write(path) as file:
            np.savez_compressed(
                file, source=i, target=j, weight=weight, names=np.array(names, dtype=np.str_)
            )
    elif ending == ".graphml":
        with atomic_write(path) as file:
            _write_graphml(file, i.tolist(), j.tolist(), weight.tolist(), names)
    else:
        columns: dict[str, list[str] | AnyArray] = {
            "source": [names[x] for x in i],
            "target": [names[x] for x in j],
            "weight": weight,
        }
        write_table(columns, path)


def _write_graphml(
    file: IO[bytes],
    source: list[int],
    target: list[int],
    weight: list[float],
    names: Sequence[str],
) -> None:
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '<key id="name" for="node" attr.name="name" attr.type="string"/>',
        '<key id="weight" for="edge" attr.name="weight" attr.type="double"/>',
        '<graph edgedefault="undirected">',
        *(
            f'<node id="n{x}"><data key="name">{escape(_xml_text(name), quote=False)}</data></node>'
            for x, name in enumerate(names)
        ),
        *(
            f'<edge source="n{i}" target="n{j}"><data key="weight">{w!r}</data></edge>'
            for i, j, w in zip(source, target, weight, strict=True)
        ),
        "</graph>",
        "</graphml>",
    ]
    file.write("\n".join(lines).encode() + b"\n")


def _xml_text(name: str) -> str:
    """XML 1.0 has no way to write control characters and lone surrogates."""
    lost = "\N{REPLACEMENT CHARACTER}"
    kept = "".join(c if c >= " " or c in "\t\n\r" else lost for c in name)
    return kept.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


#: The same, spelled the American way.
neighbor_statements = neighbour_statements
