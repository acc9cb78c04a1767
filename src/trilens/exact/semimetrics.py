"""Dissimilarity matrices: of points by a metric, of a graph, along a sample; the medoid."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trilens._parameters import plain, real_number, shown, whole_number
from trilens._typing import AnyArray, FloatArray
from trilens.errors import DissimilarityError, ParameterError, TrilensError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: A name, or a function of two points.
Metric: TypeAlias = str | Callable[[Any, Any], float]
#: Dissimilarities of the rows of one array to those of another.
Distance: TypeAlias = Callable[[AnyArray, AnyArray], FloatArray]

#: Names that scikit-learn has for metrics of scipy.
ALIASES = {"l1": "cityblock", "manhattan": "cityblock", "l2": "euclidean"}
#: Metrics that scikit-learn alone has.
_LEARN = ("haversine", "nan_euclidean")
#: Pairs on which a function is tried both ways round.
_TRIED = 50
#: Side of the square pieces in which a matrix is checked: their masks stay in the cache.
_PIECE = 1024
#: Vertices up to which scipy is sooner done than the compiled search is loaded.
SMALL_GRAPH = 500
#: Objects at most, so that a dense rank and one rank above all of them fit in 16 bits.
MOST_OBJECTS = 65_534


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
        return fermat_dissimilarities(points, **params)
    X = check_points(points, metric)
    n = len(X)
    if n < 2:
        return np.zeros((n, n))
    distance = open_metric(metric, X, params)
    name = ALIASES.get(metric, metric) if isinstance(metric, str) else metric
    if isinstance(name, str) and name not in _LEARN:
        # half the work, and the same numbers
        options = distance.args[1]  # type: ignore[attr-defined]
        condensed: FloatArray = _clean(pdist(X, name, **options))  # type: ignore[call-overload]
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
        X = np.asarray(plain(points))
    except ValueError:
        X = np.empty(0, object)
        if not callable(metric):
            raise DissimilarityError(
                "the points have different numbers of coordinates; "
                "expected an (n, d) array of numbers"
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
            f"points have shape {X.shape} and dtype {X.dtype}; expected an (n, d) array of numbers"
        )
    wrong = np.isinf(X) if metric == "nan_euclidean" else ~np.isfinite(X)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise DissimilarityError(
            f"points[{row}, {column}] is {X[row, column]}; coordinates must be finite: "
            "drop the point or fill in the value"
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
                "expected an (n, n) array of numbers or a sparse array"
            )
        given = dense != 0
    graph: Any = csr_array(given)
    n = graph.shape[0]
    if graph.shape != (n, n):
        raise DissimilarityError(f"adjacency has shape {graph.shape}; it must be square")
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
        A = np.asarray(plain(D))
    except ValueError:
        raise DissimilarityError(
            "D has rows of different lengths; expected an (n, n) array"
        ) from None
    if A.dtype.kind == "b":
        raise DissimilarityError(
            "D holds booleans; dissimilarities are numbers: use D.astype(int) if you mean 0 and 1, "
            "or graph_dissimilarities(D) if D is an adjacency matrix"
        )
    if A.dtype.kind not in "iuf":
        # an empty list is an empty matrix of no objects, not a matrix of strings
        raise DissimilarityError(
            f"D has dtype {A.dtype}; expected integers or floats, got {shown(D, 60)}"
            + "; trilens.lens_depth and trilens.medoid take statements" * hasattr(D, "triples")
        )
    if A.size == 0 and A.ndim in (1, 2) and A.shape[0] == 0:
        return A.reshape(0, 0)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise DissimilarityError(
            f"D has shape {A.shape}; a dissimilarity matrix must be square "
            f"(for points, give metric=)"
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
            f"D[{i}, {i}] is {A[i, i]}; the diagonal must be 0: turn similarities into "
            "dissimilarities, or fill the diagonal with 0 if it means nothing"
        )
    return A


def sound(values: AnyArray) -> bool:
    """Whether all values are finite and not negative."""
    return values.size == 0 or bool(values.min() >= 0 and np.isfinite(values.max()))


def refuse_value(rows: AnyArray, first: int) -> None:
    """Name the first bad value of some rows."""
    row, column = np.argwhere(~((rows >= 0) & np.isfinite(rows)))[0].tolist()
    raise DissimilarityError(
        f"D[{row + first}, {column}] is {rows[row, column]}; dissimilarities must be finite and "
        "not negative: leave out the objects that have none"
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
        f"D[{i}, {j}] is {A[i, j]} but D[{j}, {i}] is {A[j, i]}; D must be symmetric: "
        "use np.maximum(D, D.T) or (D + D.T) / 2"
    )


def check_size(n: int) -> None:
    """Refuse more objects than 16 bits can rank."""
    if n > MOST_OBJECTS:
        raise DissimilarityError(
            f"D has {n:,} objects; exact lenses take at most {MOST_OBJECTS:,} on a CPU "
            "(cubic work): give precision= for an estimate, or device='cuda'"
        )


def open_metric(metric: Metric, points: AnyArray, params: dict[str, Any] | None = None) -> Distance:
    """The metric as a function of two arrays of points; what it learns it learns from ``points``.

    >>> between = open_metric("manhattan", np.zeros((1, 2)))
    >>> between(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[7.]])
    """
    options = dict(params or {})
    if callable(metric):
        plain = points.dtype.kind == "O"
        function = partial(_each, metric, options) if plain else partial(_scipy, metric, options)
        _try_both_ways(metric, points, options)
        return function
    name = ALIASES.get(metric, metric)
    if name in _LEARN:
        return partial(_learn, name, options)
    from scipy.spatial.distance import cdist

    # of all points, not of those that a call happens to name
    if name == "seuclidean" and "V" not in options:
        options["V"] = np.var(points, axis=0, ddof=1)
    if name == "mahalanobis" and "VI" not in options:
        options["VI"] = _inverse_covariance(points)
    try:
        cdist(points[:1], points[:1], name, **options)  # type: ignore[call-overload]
    except (ValueError, TypeError) as error:
        raise _refusal(metric, error) from None
    return partial(_scipy, name, options)


def _try_both_ways(
    metric: Callable[[Any, Any], float], points: AnyArray, options: dict[str, Any]
) -> None:
    """Refuse a function that is not symmetric or raises, on some drawn pairs of points."""
    n = len(points)
    if n < 2:
        return
    rng = np.random.default_rng(0)
    for i, j in rng.integers(n, size=(_TRIED, 2)).tolist():
        there, back = (_call(metric, options, points[a], points[b]) for a, b in ((i, j), (j, i)))
        # a rounding is not an asymmetry; the one value is then used for both
        if abs(there - back) > 1e-9 * max(abs(there), abs(back)):
            raise DissimilarityError(
                f"the metric gives {there!r} for points {i} and {j} but {back!r} for {j} and {i}; "
                "a metric must be symmetric"
            )


def _call(metric: Callable[..., float], options: dict[str, Any], x: Any, y: Any) -> float:
    """One value of a function, or one line that says what it raised or returned."""
    try:
        value = metric(x, y, **options)
    except TrilensError:
        raise
    except Exception as error:
        raise ParameterError(
            f"the metric raised {type(error).__name__}: {' '.join(str(error).split())}"
        ) from error
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ParameterError(
            f"the metric returned {type(value).__name__}; it must return a number",
            parameter="metric",
        ) from None


def _clean(values: FloatArray) -> FloatArray:
    """Without the negative roundings: the cosine of a point with itself may be -1e-16."""
    np.copyto(values, 0.0, where=(values < 0) & (values > -1e-12))
    return values


def _scipy(metric: Metric, options: dict[str, Any], A: AnyArray, B: AnyArray) -> FloatArray:
    from scipy.spatial.distance import cdist

    if callable(metric):
        function: Any = partial(_call, metric, options)
        return _clean(cdist(A, B, function))
    return _clean(cdist(A, B, metric, **options))  # type: ignore[call-overload]


def _each(
    metric: Callable[..., float], options: dict[str, Any], A: AnyArray, B: AnyArray
) -> FloatArray:
    return _clean(np.array([[_call(metric, options, x, y) for y in B] for x in A], np.float64))


def _learn(name: str, options: dict[str, Any], A: AnyArray, B: AnyArray) -> FloatArray:
    from sklearn.metrics import pairwise_distances

    try:
        return _clean(np.asarray(pairwise_distances(A, B, metric=name, **options), np.float64))
    except ValueError as error:
        raise _refusal(name, error) from None


def _inverse_covariance(points: AnyArray) -> FloatArray:
    try:
        inverse: FloatArray = np.linalg.inv(np.atleast_2d(np.cov(points.T))).T.copy()
    except np.linalg.LinAlgError:
        raise ParameterError(
            "metric='mahalanobis' needs the inverse of the points' covariance, which is singular; "
            "give VI, for example np.linalg.pinv(np.cov(points.T))"
        ) from None
    return inverse


def _refusal(metric: Any, error: Exception) -> ParameterError:
    text = " ".join(str(error).split())
    if "metric" in text.lower() and "unknown" in text.lower():
        return ParameterError(
            f"metric={metric!r} is unknown; give a metric of scipy.spatial.distance.pdist or of "
            "scikit-learn, such as 'euclidean', 'cityblock' or 'cosine', 'fermat', or a function "
            "of two points",
            parameter="metric",
        )
    return ParameterError(f"metric={metric!r} cannot be used: {text}", parameter="metric")


def fermat_dissimilarities(
    points: npt.ArrayLike,
    *,
    alpha: float = 2.0,
    n_neighbors: int | None = None,
    metric: Metric = "euclidean",
) -> FloatArray:
    """Sample Fermat distances: the least sum of d(x, y)^alpha over paths through the points.

    With alpha above 1 a path of short steps through a dense region is shorter than one long
    step through an empty one, so that the distance follows the shape of the sample. [1]_

    Parameters
    ----------
    points : (n, d) array
    alpha
        1 or more; 1 gives the metric itself where it keeps the triangle inequality.
    n_neighbors
        Steps only between points of which one is among so many nearest of the other. Without
        it every step is allowed, and the work is cubic.
    metric
        Of a single step, as in :func:`dissimilarities`.

    Returns
    -------
    (n, n) float64 array

    References
    ----------
    .. [1] P. Groisman, M. Jonckheere, F. Sapienza. Nonhomogeneous Euclidean first-passage
       percolation and distance learning. Bernoulli 28(1):255-276, 2022. For lens depth of the
       embeddings of a neural network: arXiv:2404.08476.

    Examples
    --------
    >>> fermat_dissimilarities([0.0, 1.0, 2.0])
    array([[0., 1., 2.],
           [1., 0., 1.],
           [2., 1., 0.]])
    """
    from scipy.sparse.csgraph import floyd_warshall

    steps = _steps(dissimilarities(points, metric), alpha)
    n = len(steps)
    if n_neighbors is not None:
        n_neighbors = whole_number("n_neighbors", n_neighbors, least=1)
    if n < 2:
        return steps
    # a step of length 0 is a step: the least positive number stands for it in a graph
    tiny = np.nextafter(0, 1)
    steps = np.maximum(steps, tiny)
    if n_neighbors is None or n_neighbors >= n - 1:
        # without a mask scipy takes whatever is close to 0 for a step that is not there
        ways = floyd_warshall(np.ma.array(steps, mask=np.zeros((n, n), bool)))
    else:
        ways = _by_neighbours(steps, n_neighbors)
    np.copyto(ways, 0.0, where=ways < n * tiny)
    # the two directions of a path are summed in different orders
    symmetric: FloatArray = np.minimum(ways, ways.T)
    return symmetric


def _by_neighbours(steps: FloatArray, n_neighbors: int) -> FloatArray:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, dijkstra

    n = len(steps)
    masked = steps.copy()
    np.fill_diagonal(masked, np.inf)
    near = np.argpartition(masked, n_neighbors - 1, axis=1)[:, :n_neighbors]
    rows = np.repeat(np.arange(n), n_neighbors)
    graph = csr_array((steps[rows, near.ravel()], (rows, near.ravel())), shape=(n, n))
    pieces = connected_components(graph, directed=False)[0]
    if pieces > 1:
        raise DissimilarityError(
            f"with n_neighbors={n_neighbors} the points fall into {pieces:,} unconnected pieces; "
            "use more neighbors, or None"
        )
    ways: FloatArray = dijkstra(graph.maximum(graph.T), directed=False)
    return ways


class FermatSample:
    """Sample Fermat distances of new points to a sample that they are not part of."""

    def __init__(self, points: AnyArray, D: FloatArray, params: dict[str, Any]) -> None:
        self.points, self.D = points, D
        self.alpha = float(params.get("alpha", 2.0))
        self.n_neighbors = params.get("n_neighbors")
        self.distance = open_metric(params.get("metric", "euclidean"), points)

    def __call__(self, new: AnyArray, points: AnyArray) -> FloatArray:
        """The first step from each new point, then the way from there."""
        n = len(self.D)
        steps = _steps(self.distance(new, points), self.alpha)
        nearest = n if self.n_neighbors is None else min(n, int(self.n_neighbors))
        ways = np.empty_like(steps)
        for x, row in enumerate(steps):
            first = np.argpartition(row, nearest - 1)[:nearest] if nearest < n else np.arange(n)
            # the nearest first: once a first step is longer than every way, no other helps
            first = first[np.argsort(row[first], kind="stable")]
            way = self.D[first[0]] + row[first[0]]
            for at in range(1, len(first), 64):
                some = first[at : at + 64]
                if row[some[0]] >= way.max():
                    break
                np.minimum(way, (self.D[some] + row[some, None]).min(axis=0), out=way)
            ways[x] = way
        return ways


def _steps(D: FloatArray, alpha: float) -> FloatArray:
    power = real_number("alpha", alpha, least=1)
    with np.errstate(over="ignore"):
        steps: FloatArray = D if power == 1 else D**power
    if not np.isfinite(steps).all():
        raise DissimilarityError(
            f"distances to the power alpha={alpha} are not finite; scale the points down"
        )
    return steps


def medoid(D: npt.ArrayLike, *, metric: Metric | None = None) -> int:
    """The object with the smallest sum of dissimilarities to the others.

    Parameters
    ----------
    D : (n, n) array, or (n, d) points where ``metric`` is given
        Dissimilarities, as in :func:`trilens.exact.lens_counts`.
    metric
        A metric of :func:`scipy.spatial.distance.pdist`: D holds points.

    Returns
    -------
    int
        Its index; the smallest of them when several share the sum, which is taken without
        rounding errors.

    Examples
    --------
    >>> medoid([0, 1, 3, 4, 9], metric="euclidean")
    2
    """
    D = check_dissimilarities(D) if metric is None else dissimilarities(D, metric)
    if len(D) == 0:
        raise DissimilarityError("D has no objects; a medoid needs at least one")
    if D.dtype.kind in "iu" and int(D.max()) * len(D) < 2**63:
        return int(np.argmin(D.sum(axis=1, dtype=np.int64)))
    # pairwise summation is right to far better than this; among the close ones sum exactly
    scale = float(D.max()) or 1.0
    shares = np.array([(row / scale).sum(dtype=np.float64) for row in D])
    close = np.flatnonzero(shares <= shares.min() * (1 + 1e-12))
    return int(min(close, key=lambda i: (_exact_sum(D[i], scale), i)))


def _exact_sum(row: AnyArray, scale: float) -> float | int:
    if row.dtype.kind in "iu":
        return int(sum(row.tolist()))
    # a power of two, so that nothing is rounded, and no sum of the largest floats overflows
    return math.fsum(np.ldexp(row.astype(np.float64), -max(math.frexp(scale)[1], 0)))
