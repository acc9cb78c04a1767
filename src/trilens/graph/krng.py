"""The estimated k-relative neighbourhood graph: Algorithm 5, lines 1 and 2."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trilens._parameters import real_array, real_number, whole_number
from trilens._typing import AnyArray, BoolArray, FloatArray
from trilens.counts import PairCounts, count_pairs
from trilens.errors import ParameterError
from trilens.statements import StatementsLike, as_statements
from trilens.statements.value import require_kind

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Shares this close to a threshold are compared as fractions: rounding must not make an edge.
_CLOSE = 1e-9


def k_rng(
    statements: StatementsLike | PairCounts,
    k: float,
    error_rate: float = 0.0,
    sigma: float | None = None,
) -> csr_array:
    """The estimated k-RNG: i and j are neighbours when V(i, j) < k / (n - 2).

    V(i, j) is the share of the statements about i and j that put a third object at the
    centre; a pair that was never asked about has V = infinity, so no edge.

    Parameters
    ----------
    statements : Statements, (m, 3) array, or PairCounts
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


def lens_values(statements: StatementsLike | PairCounts) -> LensValues:
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
    """k' of the paper's eq. (15): the graph that is really estimated when answers are wrong.

    Without the correction, thresholding at k estimates the k'-RNG; at k' <= 0 an empty graph.

    >>> round(effective_k(10, 0.3, 60), 2)
    2.36
    """
    _checked(error_rate)
    k, n_objects = real_number("k", k), whole_number("n_objects", n_objects)
    return (k - error_rate / 2 * (n_objects - 2)) / (1 - 1.5 * error_rate)


def connecting_k(statements: StatementsLike | PairCounts, error_rate: float = 0.0) -> int | None:
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
        raise ParameterError(
            f"error_rate is {error_rate!r}; it must be a number here: neighbours(), cluster(), "
            f"KRNGClustering and KRNGClassifier can estimate it"
        )
    if not 0 <= real_number("error_rate", error_rate) < 2 / 3:
        raise ParameterError(
            f"error rate is {error_rate}; it must be at least 0 and below 2/3, "
            f"where answers no longer say anything about lenses"
        )
    return error_rate


def _exact(value: float) -> Fraction:
    """The decimal number that was written: 0.3 is 3/10."""
    return Fraction(repr(float(value)))


def pairs_of(statements: StatementsLike | PairCounts) -> PairCounts:
    """Pair counts of ``central`` statements; any other kind is refused before it is counted."""
    given = statements if isinstance(statements, PairCounts) else as_statements(statements)
    require_kind(
        given.kind,
        ["central"],
        "the k-RNG",
        "the lens map (method='lensmap', LensMap) serves every kind",
    )
    return given if isinstance(given, PairCounts) else count_pairs(given)
