"""Maps laid over each other: a map says nothing about direction, place or scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from trilens._typing import FloatArray
from trilens.errors import ParameterError


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
            f"maps of shapes {X.shape} and {Y.shape} cannot be aligned; they must have the same"
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
