"""Dissimilarity matrices: from points, from a graph, and the check of one that is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trilens._typing import AnyArray, FloatArray
from trilens.errors import DissimilarityError, ParameterError
from trilens.exact.ranks import check_size

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: What scipy's ``pdist`` takes: a name, or a function of two points.
Metric = str | Callable[[AnyArray, AnyArray], float]

#: Side of the square pieces in which a matrix is checked: their masks stay in the cache.
_PIECE = 1024
#: Vertices up to which scipy is sooner done than the compiled search is loaded.
SMALL_GRAPH = 500


def dissimilarities(points: npt.ArrayLike, metric: Metric = "euclidean") -> FloatArray:
    """All dissimilarities between points.

    Parameters
    ----------
    points : (n, d) array
        One point a row; a one-dimensional array is n points on a line.
    metric
        Any metric of :func:`scipy.spatial.distance.pdist`, by name or as a function.

    Returns
    -------
    (n, n) float64 array
        Exactly symmetric, with a diagonal of zeros.

    Examples
    --------
    >>> dissimilarities([[0, 0], [3, 4]])
    array([[0., 5.],
           [5., 0.]])
    """
    from scipy.spatial.distance import pdist, squareform

    X = np.asarray(points)
    if X.ndim == 1:
        X = X[:, None]
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DissimilarityError(
            f"points have shape {X.shape} and dtype {X.dtype}; give an (n, d) array of numbers"
        )
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0].tolist()
        raise DissimilarityError(
            f"points[{row}, {column}] is {X[row, column]}; coordinates are finite, "
            "drop or fill the point first"
        )
    if len(X) < 2:
        return np.zeros((len(X), len(X)))
    try:
        condensed: FloatArray = pdist(X, metric)  # type: ignore[arg-type]
    except ValueError as error:
        if isinstance(metric, str) and "metric" in str(error).lower():
            raise ParameterError(
                f"metric={metric!r} is unknown; give a metric of scipy.spatial.distance.pdist, "
                "such as 'euclidean', 'cityblock' or 'cosine', or a function of two points"
            ) from None
        raise
    # the cosine of a point with itself may come out as -1e-16: a rounding, not a dissimilarity
    np.copyto(condensed, 0.0, where=(condensed < 0) & (condensed > -1e-12))
    D: FloatArray = squareform(condensed, checks=False)
    return D if _sound(condensed) else check_dissimilarities(D)


def graph_dissimilarities(adjacency: npt.ArrayLike | csr_array) -> AnyArray:
    """Lengths of the shortest paths of an undirected graph, every edge of length 1.

    Parameters
    ----------
    adjacency : (n, n) array or scipy.sparse array
        An entry other than 0, in either direction, is an edge; the diagonal is ignored.

    Returns
    -------
    (n, n) array
        Of the smallest unsigned integer type that holds the longest path.

    Examples
    --------
    >>> graph_dissimilarities([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    array([[0, 1, 2],
           [1, 0, 1],
           [2, 1, 0]], dtype=uint8)
    """
    from scipy.sparse import csr_array, issparse
    from scipy.sparse.csgraph import connected_components, shortest_path

    given: Any = adjacency
    if not issparse(given):
        dense = np.asarray(given)
        if dense.ndim != 2 or dense.dtype.kind not in "biuf":
            raise DissimilarityError(
                f"adjacency has shape {dense.shape} and dtype {dense.dtype}; "
                "give an (n, n) array of numbers or a sparse array"
            )
        given = dense != 0
    graph: Any = csr_array(given)
    n = graph.shape[0]
    if graph.shape != (n, n):
        raise DissimilarityError(f"adjacency has shape {graph.shape}; an adjacency is square")
    graph = csr_array(graph != 0)
    n_components, component = connected_components(graph, directed=False)
    if n_components > 1:
        sizes = np.bincount(component)
        raise DissimilarityError(
            f"the graph has {n_components:,} components, the largest with {sizes.max():,} of "
            f"{n:,} vertices, and no path joins them; take the largest: scipy.sparse.csgraph."
            "connected_components(A, directed=False)[1] says which vertex is in which"
        )
    edges: Any = csr_array(graph + graph.T)
    if n <= SMALL_GRAPH:
        D = shortest_path(edges, directed=False, unweighted=True)
    else:
        from trilens.exact._kernels import search_breadth_first

        check_size(n)
        D = np.empty((n, n), np.uint16)
        search_breadth_first(edges.indptr, edges.indices, D)
    return D.astype(np.min_scalar_type(int(D.max(initial=0))), copy=False)


def as_dissimilarities(D: npt.ArrayLike, metric: Metric | None = None) -> AnyArray:
    """A checked dissimilarity matrix: the given one, or of points when a metric is given."""
    return check_dissimilarities(D) if metric is None else dissimilarities(D, metric)


def check_dissimilarities(D: npt.ArrayLike) -> AnyArray:
    """Refuse what is not a semimetric; the triangle inequality is not asked for.

    Parameters
    ----------
    D : (n, n) array
        Integers or floats of any width: symmetric, zero on the diagonal, finite and not
        negative. Different objects may have dissimilarity 0.

    Returns
    -------
    (n, n) array
        The same array, not copied.

    Examples
    --------
    >>> check_dissimilarities([[0, 1], [2, 0]])
    Traceback (most recent call last):
    trilens.errors.DissimilarityError: D[0, 1] is 1 but D[1, 0] is 2; ...
    """
    try:
        A = np.asarray(D)
    except ValueError:
        raise DissimilarityError("D has rows of different lengths; give an (n, n) array") from None
    if A.dtype.kind == "b":
        raise DissimilarityError(
            "D holds booleans; a dissimilarity is a number: give D.astype(int) if 0 and 1 are "
            "meant, or graph_dissimilarities(D) if D is an adjacency"
        )
    if A.dtype.kind not in "iuf":
        # an empty list is an empty matrix of no objects, not a matrix of strings
        raise DissimilarityError(f"D has dtype {A.dtype}; give integers or floats")
    if A.size == 0 and A.ndim in (1, 2) and A.shape[0] == 0:
        return A.reshape(0, 0)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise DissimilarityError(
            f"D has shape {A.shape}; a dissimilarity matrix is square: of points, say metric="
        )
    n = len(A)
    for i in range(0, n, _PIECE):
        for j in range(i, n, _PIECE):
            piece = A[i : i + _PIECE, j : j + _PIECE]
            mirror = A[j : j + _PIECE, i : i + _PIECE].T
            # with NaN among them, neither comparison holds
            if not (_sound(piece) and np.array_equal(piece, mirror)):
                _refuse(A, i, j)
    diagonal = A.diagonal()
    if diagonal.any():
        i = int(np.flatnonzero(diagonal)[0])
        raise DissimilarityError(
            f"D[{i}, {i}] is {A[i, i]}; an object has dissimilarity 0 to itself: "
            "a similarity has to be turned round, a diagonal that means nothing filled with 0"
        )
    return A


def _sound(values: AnyArray) -> bool:
    """Whether all values are finite and not negative."""
    return values.size == 0 or bool(values.min() >= 0 and np.isfinite(values.max()))


def _refuse(A: AnyArray, i0: int, j0: int) -> None:
    """Name the first bad entry of one piece, and of its mirror image."""
    for r, c in ((i0, j0), (j0, i0)):
        piece = A[r : r + _PIECE, c : c + _PIECE]
        bad = ~((piece >= 0) & np.isfinite(piece))
        if bad.any():
            row, column = np.argwhere(bad)[0] + (r, c)
            raise DissimilarityError(
                f"D[{row}, {column}] is {A[row, column]}; dissimilarities are finite and not "
                "negative: leave out the objects that have none"
            )
    differ = A[i0 : i0 + _PIECE, j0 : j0 + _PIECE] != A[j0 : j0 + _PIECE, i0 : i0 + _PIECE].T
    i, j = np.argwhere(differ)[0] + (i0, j0)
    raise DissimilarityError(
        f"D[{i}, {j}] is {A[i, j]} but D[{j}, {i}] is {A[j, i]}; a dissimilarity is symmetric: "
        "np.maximum(D, D.T) or (D + D.T) / 2 makes it so"
    )
