"""Coordinates in which a likelihood bends alike in every direction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from trilens._typing import FloatArray
from trilens.maps._choices import Choices, Likelihood
from trilens.maps._minimise import Loss
from trilens.maps._pairs import Length

#: Coordinates whose information is factored as a whole, for each answer (to the third power).
_WORTH = 15_000
#: What every direction bends at least, beside the median one.
_LEAST = 0.02


class Curvature(ABC):
    """A linear change of coordinates: H = R' R, y = R x."""

    #: Whether the loss bends nearly alike in every direction of y.
    is_whole: bool

    @abstractmethod
    def back(self, y: FloatArray) -> FloatArray:
        """R^-1 y, of the shape of the coordinates."""

    @abstractmethod
    def slope(self, gradient: FloatArray) -> FloatArray:
        """R'^-1 gradient: the gradient in y, flat."""


class Bent:
    """A loss in y: x = start + R^-1 y.

    Parameters
    ----------
    loss
        Of (n, d) coordinates, or of these, flat, and one number more.
    start : array of float
    bend : Curvature
    unit : float
        What the number more is measured in.
    """

    def __init__(self, loss: Loss, start: FloatArray, bend: Curvature, unit: float) -> None:
        self._loss, self._start, self._bend, self._unit = loss, start, bend, unit

    def at(self, y: FloatArray) -> FloatArray:
        """x."""
        if self._start.ndim == 2:
            return self._start + self._bend.back(y)
        x: FloatArray = self._start + np.append(self._bend.back(y[:-1]), y[-1] * self._unit)
        return x

    def __call__(self, y: FloatArray) -> tuple[float, FloatArray]:
        loss, gradient = self._loss(self.at(y))
        if self._start.ndim == 2:
            return loss, self._bend.slope(gradient)
        return loss, np.append(self._bend.slope(gradient[:-1]), gradient[-1] * self._unit)


def curvature(
    some: Likelihood, times: float, n_answers: int, X: FloatArray, lapse: FloatArray, l2: float
) -> Curvature:
    """By the Fisher information that some of the answers have.

    Parameters
    ----------
    some : Likelihood
    times : float
        How many times more all answers are.
    n_answers : int
        All answers; the more there are, the more coordinates are worth being factored together.
    X, lapse, l2
        Where, and the penalty.
    """
    n, d = X.shape
    whole = float(X.size) ** 3 <= _WORTH * n_answers
    H = times * _information(some.choices, some.weight, X, lapse, some.length, some.alpha, whole)
    if not whole:
        H = H.reshape(n, d, d)
    diagonal = np.einsum("...ii->...i", H)
    # of the objects that were asked about; the others have nothing to bend
    usual = float(np.median(diagonal[diagonal > 0])) if (diagonal > 0).any() else 1.0
    diagonal += 2 * l2 + _LEAST * usual
    return _Whole(H, X.shape) if whole else _Blocks(H)


def own_information(
    choices: Choices,
    weight: FloatArray,
    X: FloatArray,
    lapse: float,
    length: Length,
    alpha: float,
) -> FloatArray:
    """(n, d, d): the Fisher information of each object's coordinates, the others being known."""
    found = _information(choices, weight, X, np.array([lapse]), length, alpha, whole=False)
    return found.reshape(*X.shape, X.shape[1])


def _information(
    choices: Choices,
    weight: FloatArray,
    X: FloatArray,
    lapse: FloatArray,
    length: Length,
    alpha: float,
    whole: bool,
) -> FloatArray:
    from trilens.maps import _choice_kernels as kernels
    from trilens.maps._embedding_kernels import LENGTHS

    H = np.zeros((X.size, X.size if whole else X.shape[1]))
    kernels.add_information(
        np.ascontiguousarray(X),
        choices.triples,
        weight,
        lapse,
        LENGTHS[length],
        alpha,
        choices.sign,
        choices.n_sides == 3,
        whole,
        H,
    )
    return H


class _Whole(Curvature):
    is_whole = True

    def __init__(self, H: FloatArray, shape: Any) -> None:
        self._lower = np.linalg.cholesky(H)
        self._shape = shape

    def back(self, y: FloatArray) -> FloatArray:
        from scipy.linalg import solve_triangular

        x: FloatArray = solve_triangular(
            self._lower, y, lower=True, trans=1, check_finite=False
        ).reshape(self._shape)
        return x

    def slope(self, gradient: FloatArray) -> FloatArray:
        from scipy.linalg import solve_triangular

        found: FloatArray = solve_triangular(
            self._lower, gradient.ravel(), lower=True, check_finite=False
        )
        return found


class _Blocks(Curvature):
    is_whole = False

    def __init__(self, H: FloatArray) -> None:
        self._inverse = np.linalg.inv(np.linalg.cholesky(H))

    def back(self, y: FloatArray) -> FloatArray:
        n, d, _ = self._inverse.shape
        x: FloatArray = np.einsum("nba,nb->na", self._inverse, y.reshape(n, d))
        return x

    def slope(self, gradient: FloatArray) -> FloatArray:
        n, d, _ = self._inverse.shape
        found: FloatArray = np.einsum("nab,nb->na", self._inverse, gradient.reshape(n, d)).ravel()
        return found
