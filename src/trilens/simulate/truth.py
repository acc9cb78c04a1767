"""What the answers are about: true dissimilarities, as a matrix or from points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import generator, real_number, shown
from trilens._typing import AnyArray, FloatArray, RandomState
from trilens.errors import ParameterError
from trilens.simulate.points import Points
from trilens.statements.columns import as_array

#: A dissimilarity matrix, points, or `Points`.
Objects: TypeAlias = ArrayLike | Points

#: Above this many points, Euclidean distances are computed as they are needed.
_MOST_IN_MATRIX = 4096
#: Above this many objects, a matrix of float64 (3 GiB) is not made without being asked for.
_MOST_DISTORTED = 20_000
_BLOCK = 512
_KERNEL_TYPES = frozenset("bBhHiIlLqQfd")


@dataclass(frozen=True, eq=False)
class Truth:
    """True dissimilarities.

    Parameters
    ----------
    values : (n, n) or (n, d) array
        The dissimilarities or, where a matrix would be too large, the points, compared by
        their squared Euclidean distances.
    precomputed : bool
        Whether ``values`` is the matrix.
    """

    values: AnyArray
    precomputed: bool

    @property
    def n_objects(self) -> int:
        return len(self.values)


def as_truth(objects: Objects, metric: str = "euclidean") -> Truth:
    """A dissimilarity matrix or points, checked.

    A square array is a dissimilarity matrix; `Points`, and any other two-dimensional array,
    are points. ``metric`` is any that `trilens.exact.dissimilarities` knows, or
    ``"precomputed"`` to insist on a matrix.
    """
    is_points = isinstance(objects, Points)
    values = objects.points if isinstance(objects, Points) else as_array(objects, "objects")
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise ParameterError(
            f"objects of shape {values.shape} and type {values.dtype}; give an (n, n) matrix of "
            f"dissimilarities or (n, d) points"
        )
    if not isinstance(metric, str):
        raise ParameterError(f"metric is {shown(metric)}; it must be the name of a metric")
    if metric == "precomputed" or (not is_points and values.shape[0] == values.shape[1]):
        return Truth(_checked_matrix(values), precomputed=True)
    points = np.ascontiguousarray(values, dtype=np.float64)
    if len(points) < 3:
        raise ParameterError(f"there are {len(points)} objects; a statement needs 3 or more")
    if not np.isfinite(points).all():
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise ParameterError(f"point {row} has a coordinate that is not a finite number")
    if metric == "euclidean" and len(points) > _MOST_IN_MATRIX:
        return Truth(points, precomputed=False)
    return Truth(_dissimilarities(points, metric), precomputed=True)


def distort(objects: Objects, noise_param: float, random_state: RandomState = None) -> FloatArray:
    """Noise model II: true dissimilarities plus Gaussian noise (the paper's Section 6.1).

    To every dissimilarity d(A, B), A != B, noise with mean zero and standard deviation
    ``noise_param`` times the standard deviation of all true dissimilarities is added, once
    and independently. Statements that follow the result are distorted accordingly; its values
    may be negative, so it is no dissimilarity matrix any more.

    Returns
    -------
    (n, n) float64
        Symmetric, with a zero diagonal.

    Examples
    --------
    >>> D = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    >>> distort(D, 0.0).tolist() == D.tolist()
    True
    """
    truth = as_truth(objects)
    return distorted(truth, noise_param, generator(random_state)).values


def distorted(truth: Truth, noise_param: float, rng: np.random.Generator) -> Truth:
    noise_param = real_number("noise_param", noise_param, 0)
    n = truth.n_objects
    if n > _MOST_DISTORTED:
        raise ParameterError(
            f"Noise model II keeps an n x n matrix; {n:,} objects are more than {_MOST_DISTORTED:,}"
        )
    true = truth.values if truth.precomputed else _dissimilarities(truth.values, "euclidean")
    D = np.array(true, dtype=np.float64)
    scale = noise_param * _standard_deviation(D)
    for i in range(n - 1):
        D[i, i + 1 :] += scale * rng.standard_normal(n - 1 - i)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        D[stop:, start:stop] = D[start:stop, stop:].T
        corner = np.triu(D[start:stop, start:stop])
        D[start:stop, start:stop] = corner + corner.T
    return Truth(D, precomputed=True)


def _standard_deviation(D: FloatArray) -> float:
    """Of the off-diagonal values; in two passes, since D may be large and its spread small."""
    n = len(D)
    pairs = n * (n - 1)
    mean = D.sum() / pairs
    squares = sum(float(((row - mean) ** 2).sum()) for row in D)
    return float(np.sqrt(max(squares - n * mean**2, 0.0) / pairs))


def _dissimilarities(points: FloatArray, metric: str) -> FloatArray:
    from trilens.exact import dissimilarities

    return dissimilarities(points, metric)


def _checked_matrix(values: AnyArray) -> AnyArray:
    from trilens.exact import check_dissimilarities

    D = check_dissimilarities(values)
    if len(D) < 3:
        raise ParameterError(f"there are {len(D)} objects; a statement needs 3 or more")
    return np.ascontiguousarray(D if D.dtype.char in _KERNEL_TYPES else D.astype(np.float64))
