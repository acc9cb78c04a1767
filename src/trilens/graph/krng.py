"""The estimated k-relative neighbourhood graph: Algorithm 5, lines 1 and 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trilens._typing import AnyArray, FloatArray
from trilens.counts import PairCounts, count_pairs
from trilens.errors import ParameterError
from trilens.statements import StatementsLike, as_statements
from trilens.statements.value import require_kind

if TYPE_CHECKING:
    from scipy.sparse import coo_array, csr_array


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
    pairs = pairs_of(statements)
    return neighbourhood(lens_value(pairs), pairs.n_objects, k, error_rate, sigma)


def lens_value(pairs: StatementsLike | PairCounts) -> coo_array:
    """V(i, j) = N(i, j) / D(i, j) of every pair i < j that was asked about.

    Pairs that are not stored have V = infinity; a stored value may be 0.
    """
    from scipy.sparse import coo_array

    counts = pairs_of(pairs)
    n = counts.n_objects
    if isinstance(counts.appears, np.ndarray):
        i, j = np.nonzero(np.triu(counts.appears, 1))
        third, appears = counts.third[i, j], counts.appears[i, j]
    else:
        asked = counts.appears.tocoo()
        upper = asked.coords[0] < asked.coords[1]
        i, j, appears = asked.coords[0][upper], asked.coords[1][upper], asked.data[upper]
        third = counts.third_where_asked()[upper]
    return coo_array((third / appears, (i, j)), shape=(n, n))


def neighbourhood(
    value: coo_array, n: int, k: float, error_rate: float = 0.0, sigma: float | None = None
) -> csr_array:
    """The graph {V < k / (n - 2)} of the pair values V, weighted or not."""
    from scipy.sparse import coo_array

    if not k >= 1:
        raise ParameterError(f"k is {k}; the k-RNG needs k of at least 1")
    if sigma is not None and not sigma > 0:
        raise ParameterError(f"sigma is {sigma}; it must be positive")
    share = correct_errors(value.data, error_rate)
    near = share < _threshold(k, n)
    i, j = value.coords[0][near], value.coords[1][near]
    if sigma is None:
        weight = np.ones(len(i))
    else:
        # the corrected value estimates a share of objects; below zero it is an estimate of 0
        weight = np.exp(-(np.maximum(share[near], 0.0) ** 2) / sigma**2)
    both = (np.concatenate([weight, weight]), (np.concatenate([i, j]), np.concatenate([j, i])))
    return coo_array(both, shape=(n, n)).tocsr()


def correct_errors(value: AnyArray, error_rate: float) -> FloatArray:
    """p from p-tilde, the paper's eq. (14): undo the bias of wrong answers in V.

    >>> correct_errors(np.array([0.15, 0.7]), 0.3).round(3).tolist()
    [0.0, 1.0]
    """
    _check_error_rate(error_rate)
    return np.asarray((value - error_rate / 2) / (1 - 1.5 * error_rate))


def effective_k(k: float, error_rate: float, n_objects: int) -> float:
    """k' of the paper's eq. (15): the graph that is really estimated when answers are wrong.

    Without the correction, thresholding at k estimates the k'-RNG; at k' <= 0 an empty graph.

    >>> round(effective_k(10, 0.3, 60), 2)
    2.36
    """
    _check_error_rate(error_rate)
    return (k - error_rate / 2 * (n_objects - 2)) / (1 - 1.5 * error_rate)


def connecting_k(statements: StatementsLike | PairCounts, error_rate: float = 0.0) -> int | None:
    """The smallest k whose estimated graph is connected, or None where none is.

    None means that the statements themselves fall apart: some objects are never compared
    with the rest.

    >>> connecting_k([[1, 0, 2], [1, 0, 2], [1, 0, 2], [0, 1, 2]])
    1
    """
    pairs = pairs_of(statements)
    return connecting_k_of(lens_value(pairs), pairs.n_objects, error_rate)


def connecting_k_of(value: coo_array, n: int, error_rate: float = 0.0) -> int | None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    share = correct_errors(value.data, error_rate)
    if n <= 1:
        return 1
    # ranks from 1 on stand for the values: csgraph takes a weight of 0 for no edge
    levels, rank = np.unique(share, return_inverse=True)
    tree = minimum_spanning_tree(coo_array((rank + 1.0, value.coords), shape=(n, n)).tocsr())
    if tree.nnz < n - 1:
        return None
    longest = levels[int(tree.data.max()) - 1]
    k = max(1, int(np.floor(longest * (n - 2))))
    while not longest < _threshold(k, n):
        k += 1
    return k


def _check_error_rate(error_rate: float) -> None:
    if not 0 <= error_rate < 2 / 3:
        raise ParameterError(
            f"error rate is {error_rate}; it must be at least 0 and below 2/3, "
            f"where answers no longer say anything about lenses"
        )


def _threshold(k: float, n: int) -> float:
    return k / (n - 2) if n > 2 else 0.0


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
