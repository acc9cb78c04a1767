"""Dissimilarity matrices: from points, from a graph, and the check of one that is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trilens._typing import AnyArray, FloatArray
from trilens.errors import DissimilarityError
from trilens.exact.metrics import ALIASES, LEARN, Metric, clean, open_metric
from trilens.exact.ranks import check_size

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Side of the square pieces in which a matrix is checked: their masks stay in the cache.
_PIECE = 1024
#: Vertices up to which scipy is sooner done than the compiled search is loaded.
SMALL_GRAPH = 500


def dissimilarities(
    points: npt.ArrayLike, metric: Metric = "euclidean", **params: Any
) -> FloatArray:
    """All dissimilarities between points.

    Parameters
    ----------
    points : (n, d) array
        One point a row; a one-dimensional array is n points on a line. For a function of one's
        own, also a list of n things of any kind: texts, curves, graphs.
    metric
        Any metric of :func:`scipy.spatial.distance.pdist` or of scikit-learn by name, a function
        of two points, or ``"fermat"`` (:func:`trilens.exact.fermat_dissimilarities`).
    **params
        Parameters of the metric, such as ``p`` of ``"minkowski"``.

    Returns
    -------
    (n, n) float64 array
        Exactly symmetric, with a diagonal of zeros.

    Examples
    --------
    >>> dissimilarities([[0, 0], [3, 4]])
    array([[0., 5.],
           [5., 0.]])
    >>> dissimilarities(["ab", "abcd", "b"], lambda a, b: abs(len(a) - len(b)))
    array([[0., 2., 1.],
           [2., 0., 3.],
           [1., 3., 0.]])
    """
    from scipy.spatial.distance import pdist, squareform

    if metric == "fermat":
        from trilens.exact.fermat import fermat_dissimilarities

        return fermat_dissimilarities(points, **params)
    X = check_points(points, metric)
    n = len(X)
    if n < 2:
        return np.zeros((n, n))
    distance = open_metric(metric, X, params)
    name = ALIASES.get(metric, metric) if isinstance(metric, str) else metric
    if isinstance(name, str) and name not in LEARN:
        # half the work, and the same numbers
        options = distance.args[1]  # type: ignore[attr-defined]
        condensed: FloatArray = clean(pdist(X, name, **options))  # type: ignore[call-overload]
    elif callable(metric):
        parts = [distance(X[i : i + 1], X[i + 1 :])[0] for i in range(n - 1)]
        condensed = np.concatenate(parts)
    else:
        condensed = distance(X, X)[np.triu_indices(n, 1)]
    D: FloatArray = squareform(condensed, checks=False)
    return D if sound(condensed) else check_dissimilarities(D)


def check_points(points: npt.ArrayLike, metric: Metric = "euclidean") -> AnyArray:
    """Points as an (n, d) array of finite numbers, or of things that the caller's metric knows."""
    try:
        X = np.asarray(points)
    except ValueError:
        X = np.empty(0, object)
        if not callable(metric):
            raise DissimilarityError(
                "the points have different numbers of coordinates; give an (n, d) array of numbers"
            ) from None
    if callable(metric) and (X.dtype.kind not in "biuf" or X.ndim > 2):
        things: list[Any] = list(points)  # type: ignore[arg-type]
        X = np.empty(len(things), object)
        X[:] = things
        return X
    if X.ndim == 1:
        X = X[:, None]
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DissimilarityError(
            f"points have shape {X.shape} and dtype {X.dtype}; give an (n, d) array of numbers"
        )
    wrong = np.isinf(X) if metric == "nan_euclidean" else ~np.isfinite(X)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise DissimilarityError(
            f"points[{row}, {column}] is {X[row, column]}; coordinates are finite, "
            "drop or fill the point first"
        )
    return X


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
            if not (sound(piece) and np.array_equal(piece, mirror)):
                _refuse(A, i, j)
    diagonal = A.diagonal()
    if diagonal.any():
        i = int(np.flatnonzero(diagonal)[0])
        raise DissimilarityError(
            f"D[{i}, {i}] is {A[i, i]}; an object has dissimilarity 0 to itself: "
            "a similarity has to be turned round, a diagonal that means nothing filled with 0"
        )
    return A


def sound(values: AnyArray) -> bool:
    """Whether all values are finite and not negative."""
    return values.size == 0 or bool(values.min() >= 0 and np.isfinite(values.max()))


def refuse_value(rows: AnyArray, first: int) -> None:
    """Name the first bad value of some rows."""
    row, column = np.argwhere(~((rows >= 0) & np.isfinite(rows)))[0].tolist()
    raise DissimilarityError(
        f"D[{row + first}, {column}] is {rows[row, column]}; dissimilarities are finite and not "
        "negative: leave out the objects that have none"
    )


def _refuse(A: AnyArray, i0: int, j0: int) -> None:
    """Name the first bad entry of one piece, and of its mirror image."""
    for r, c in ((i0, j0), (j0, i0)):
        piece = A[r : r + _PIECE, c : c + _PIECE]
        bad = ~((piece >= 0) & np.isfinite(piece))
        if bad.any():
            row = int(np.argwhere(bad)[0][0]) + r
            refuse_value(A[row : row + 1], row)
    differ = A[i0 : i0 + _PIECE, j0 : j0 + _PIECE] != A[j0 : j0 + _PIECE, i0 : i0 + _PIECE].T
    i, j = np.argwhere(differ)[0] + (i0, j0)
    raise DissimilarityError(
        f"D[{i}, {j}] is {A[i, j]} but D[{j}, {i}] is {A[j, i]}; a dissimilarity is symmetric: "
        "np.maximum(D, D.T) or (D + D.T) / 2 makes it so"
    )
