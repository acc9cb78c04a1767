"""Geometry of maps: distances, the paper's rescaling, maps laid over each other, outliers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import whole_number
from trilens._typing import FloatArray, IntArray
from trilens.errors import ParameterError
from trilens.maps.comparisons import named_rows
from trilens.statements.names import ids_among

#: Points that are compared with all others at a time.
_BLOCK = 256
#: Of more points, the density is that of so many of them.
_MOST_LOCAL = 5000


def some_of(n: int, most: int) -> IntArray:
    """All of n objects, or as many as there may be, drawn at random and always the same ones.

    In equal steps they could miss what returns as regularly: each third object, say.

    >>> some_of(3, 5), len(some_of(300, 200))
    (array([0, 1, 2]), 200)
    """
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(n).choice(n, most, replace=False))


def total_distance(coordinates: FloatArray, to: IntArray | None = None) -> FloatArray:
    """The total distance of each point to all others, or to some; the medoid has the least."""
    from scipy.spatial.distance import cdist

    # a thousand rows at a time: n^2 distances need not fit in memory
    blocks = np.array_split(coordinates, max(1, len(coordinates) // 1000))
    others = coordinates if to is None else coordinates[to]
    return np.concatenate([cdist(block, others).sum(axis=1) for block in blocks])


def rescaled(coordinates: FloatArray) -> FloatArray:
    """The coordinates with diameter 2, as the paper rescales an embedding.

    >>> rescaled(np.array([[0.0], [3.0], [8.0]])).ravel().tolist()
    [0.0, 0.75, 2.0]
    """
    widest = diameter(coordinates)
    return coordinates * (2 / widest) if widest > 0 else coordinates


def diameter(coordinates: FloatArray) -> float:
    """The largest distance of two points, in the memory of a few thousand of them.

    Two points within r and s of the middle are at most r + s apart, so of many points only the
    outer ones are compared: as a rule a few, and at worst all, a block at a time.

    >>> diameter(np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]]))
    5.0
    """
    from scipy.spatial.distance import cdist

    middle = (coordinates.min(axis=0) + coordinates.max(axis=0)) / 2
    radius = np.linalg.norm(coordinates - middle, axis=1)
    order = np.argsort(-radius)
    points, radius = coordinates[order], radius[order]
    # what is farthest from the farthest is a good start, and leaves little to compare
    widest = 0.0
    at = 0
    for _ in range(4):
        distance = np.linalg.norm(points - points[at], axis=1)
        at = int(distance.argmax())
        widest = max(widest, float(distance[at]))
    for start in range(0, len(points), _BLOCK):
        reach = radius[start] + radius
        # radii fall: beyond these nothing is far enough from the block
        stop = int(np.searchsorted(-reach, -widest, side="left"))
        if stop <= start:
            break
        some = cdist(points[start : start + _BLOCK], points[:stop])
        widest = max(widest, float(some.max()))
    return widest


def landmarks(
    coordinates: FloatArray, first: Sequence[int] = (), most: int | None = None
) -> IntArray:
    """Points that are spread over a map: each is the farthest from those before it.

    Parameters
    ----------
    coordinates : (n, d) array
    first : sequence of int
        Points that come first in any case.
    most : int, optional
        How many; by default all of them, in this order.

    Examples
    --------
    >>> landmarks(np.array([[0.0], [1.0], [9.0], [10.0]]), [1], 3).tolist()
    [1, 3, 0]
    """
    n, found = len(coordinates), list(dict.fromkeys(first))
    far = np.full(n, np.inf)
    for i in range(n if most is None else min(n, most)):
        if i == len(found):
            found.append(int(far.argmax()))
        far = np.minimum(far, ((coordinates - coordinates[found[i]]) ** 2).sum(axis=1))
        far[found[i]] = -1.0
    return np.array(found[:most], dtype=np.int64)


def procrustes(coordinates: ArrayLike, onto: ArrayLike) -> tuple[FloatArray, float]:
    """Move, turn, mirror and stretch a map so that it lies on another one as well as it can.

    Parameters
    ----------
    coordinates : (n, d) array
    onto : (n, d) array
        Stays where it is.

    Returns
    -------
    aligned : (n, d) array
    disparity : float
        The share of the variance of ``onto`` that the aligned map does not meet, from 0 to 1
        (Gower, 1975).

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> aligned, disparity = procrustes(3 * square[:, ::-1] + 5, square)
    >>> aligned.round(6).tolist() == square.tolist(), round(disparity, 6)
    (True, 0.0)
    """
    X, Y = np.asarray(coordinates, dtype=np.float64), np.asarray(onto, dtype=np.float64)
    if X.ndim != 2 or X.shape != Y.shape:
        raise ParameterError(
            f"maps of shapes {X.shape} and {Y.shape} cannot be aligned; the shapes must be the same"
        )
    middle = Y.mean(axis=0)
    X0, Y0 = X - X.mean(axis=0), Y - middle
    size, target = float(np.linalg.norm(X0)), float(np.linalg.norm(Y0))
    if size == 0.0 or target == 0.0:
        return np.broadcast_to(middle, Y.shape).copy(), 0.0 if target == 0.0 else 1.0
    X0 /= size
    U, strength, V = np.linalg.svd(X0.T @ (Y0 / target))
    alike = float(strength.sum())
    return X0 @ (U @ V) * (alike * target) + middle, max(1 - alike**2, 0.0)


def procrustes_distance(X: ArrayLike, Y: ArrayLike) -> float:
    """How much two maps of the same objects differ, whatever their place, size and turn.

    Both are centered and scaled to a sum of squares of 1, and one is turned, mirrored and
    stretched to fit the other best (Gower, 1975); what is left is the sum of squared
    differences. Fewer coordinates count as zeros.

    Parameters
    ----------
    X, Y : (n, d) and (n, e) arrays of float
        Of tables that have the names of the objects as their index, rows of the same name.

    Returns
    -------
    float
        0 for maps of the same shape, at most 1.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> round(procrustes_distance(X, 5 - 3 * X[:, ::-1]), 12)
    0.0
    """
    (names, one), (others, two) = named_rows("X", X), named_rows("Y", Y)
    if names is not None and others is not None and len(one) == len(two):
        ids = ids_among(names, len(one), others, len(two), "in Y", "give both the same objects")
        two = two if ids is None else two[ids]
    if one.ndim != 2 or two.ndim != 2 or len(one) != len(two) or not one.size or not two.size:
        raise ParameterError(
            f"X and Y must be coordinates of the same objects, got shapes {one.shape}, {two.shape}"
        )
    width = max(one.shape[1], two.shape[1])
    one, two = (np.pad(Z, ((0, 0), (0, width - Z.shape[1]))) for Z in (one, two))
    if not np.isfinite(one).all() or not np.isfinite(two).all():
        raise ParameterError("a coordinate is not a finite number")
    if not np.ptp(one, axis=0).any() or not np.ptp(two, axis=0).any():
        raise ParameterError("all objects of X, or of Y, are in the same place: there is no shape")
    return procrustes(one, two)[1]


def local_outliers(coordinates: ArrayLike, n_neighbors: int = 10) -> FloatArray:
    """The local outlier factor of every object (Breunig, Kriegel, Ng, Sander, 2000).

    It compares the density about an object with the density about its neighbors, so it also
    finds an outlier between two groups, which lens depth takes for the medoid.

    Parameters
    ----------
    coordinates : (n, d) array
    n_neighbors : int
        At most n - 1 are used.

    Returns
    -------
    (n,) float64
        About 1 for an object like its neighbors; the higher, the more outlying. Of more than
        5000 objects so many, drawn at random, are the neighbors.

    Examples
    --------
    >>> line = np.r_[np.arange(10), 14.5, np.arange(20, 30)]
    >>> int(local_outliers(line[:, None], n_neighbors=3).argmax())
    10
    """
    points = np.asarray(coordinates, dtype=np.float64)
    if points.ndim != 2:
        raise ParameterError(f"expected coordinates of shape (n, d), got shape {points.shape}")
    whole_number("n_neighbors", n_neighbors, least=1)
    if len(points) < 2:
        return np.ones(len(points))
    from sklearn.neighbors import LocalOutlierFactor

    k = min(int(n_neighbors), len(points) - 1)
    with warnings.catch_warnings():
        # Equal points have no distance to each other; the factors stay finite all the same.
        warnings.filterwarnings("ignore", "Duplicate values are leading to incorrect results")
        if len(points) <= _MOST_LOCAL:
            factors = LocalOutlierFactor(n_neighbors=k).fit(points).negative_outlier_factor_
        else:
            some = some_of(len(points), _MOST_LOCAL)
            local = LocalOutlierFactor(n_neighbors=k, novelty=True).fit(points[some])
            factors = local.score_samples(points)
            factors[some] = local.negative_outlier_factor_
    return np.asarray(-factors, dtype=np.float64)
