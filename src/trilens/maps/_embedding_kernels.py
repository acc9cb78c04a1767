"""Compiled loops of the ordinal embeddings; imported only when the data are large.

A loss is a sum over comparisons of ``w * link(v_near - v_far)``, ``v`` being an increasing
function of the squared distance of a pair (`trilens.maps._objectives` says which).
"""

from __future__ import annotations

import numpy as np

from trilens._compiled import compiled
from trilens._typing import FloatArray, Int32Array, IntArray

DISTANCE, SQUARE, STUDENT = 0, 1, 2
LENGTHS = {"distance": DISTANCE, "square": SQUARE, "student": STUDENT}
HINGE, SQUARED_HINGE, LOGISTIC = 0, 1, 2

#: A running product of factors is turned into a logarithm before it can overflow: with odds
#: of at most exp(300) = 2e130, the next factor keeps it below 1e150 * 2e130.
_FLUSH = 1e150


@compiled()
def pair_squares(
    X: FloatArray, first: Int32Array, second: Int32Array, low: int, high: int, out: FloatArray
) -> None:
    """Squared distances of the pairs ``low`` to ``high``, into ``out``."""
    for p in range(low, high):
        i, j = first[p], second[p]
        total = 0.0
        for k in range(X.shape[1]):
            step = X[i, k] - X[j, k]
            total += step * step
        out[p] = total


@compiled()
def pair_gradient(
    X: FloatArray,
    first: Int32Array,
    second: Int32Array,
    slope: FloatArray,
    low: int,
    high: int,
    out: FloatArray,
) -> None:
    """Add to ``out`` the gradient in ``X``, given the slope in each squared distance."""
    for p in range(low, high):
        c = 2.0 * slope[p]
        if c != 0.0:
            i, j = first[p], second[p]
            for k in range(X.shape[1]):
                step = c * (X[i, k] - X[j, k])
                out[i, k] += step
                out[j, k] -= step


@compiled()
def compare_hinge(
    v: FloatArray,
    near: Int32Array,
    weight: FloatArray,
    start: IntArray,
    low: int,
    high: int,
    margin: float,
    is_squared: bool,
    out: FloatArray,
) -> float:
    """Hinge losses of comparisons with a far pair from ``low`` to ``high``; slopes in ``out``."""
    loss = 0.0
    for q in range(low, high):
        offset = margin - v[q]
        pull = 0.0
        for r in range(start[q], start[q + 1]):
            p = near[r]
            # No branch on the sign: early in a fit it is a coin toss that costs more than the sums.
            t = max(v[p] + offset, 0.0)
            w = weight[r]
            if is_squared:
                slope = w * t
                loss += slope * t
                slope *= 2.0
            else:
                slope = w if t > 0.0 else 0.0
                loss += w * t
            out[p] += slope
            pull += slope
        out[q] -= pull
    return loss


@compiled()
def compare_odds(
    odds: FloatArray,
    near: Int32Array,
    weight: FloatArray,
    start: IntArray,
    low: int,
    high: int,
    out: FloatArray,
) -> float:
    """Logistic losses log(1 + odds[near] / odds[far]), with ``odds = exp(v)``.

    No exponential per comparison, and one logarithm for a run of comparisons: the logarithm of
    a product. All odds must lie within a factor of exp(300).
    """
    loss, product = 0.0, 1.0
    for q in range(low, high):
        inverse = 1.0 / odds[q]
        pull = 0.0
        for r in range(start[q], start[q + 1]):
            p = near[r]
            z = odds[p] * inverse
            w = weight[r]
            if w == 1.0:
                product *= 1.0 + z
                if product > _FLUSH:
                    loss += np.log(product)
                    product = 1.0
            else:
                loss += w * np.log1p(z)
            w *= z / (1.0 + z)
            out[p] += w
            pull += w
        out[q] -= pull
    return loss + float(np.log(product))


@compiled()
def compare_logistic(
    v: FloatArray,
    near: Int32Array,
    weight: FloatArray,
    start: IntArray,
    low: int,
    high: int,
    out: FloatArray,
) -> float:
    """Logistic losses log(1 + exp(v[near] - v[far])) for values of any range."""
    loss = 0.0
    for q in range(low, high):
        pull = 0.0
        for r in range(start[q], start[q + 1]):
            p = near[r]
            t = v[p] - v[q]
            # Beyond 40 the exponential is below the rounding of 1, and most lie beyond.
            if t < -40.0:
                continue
            w = weight[r]
            if t > 40.0:
                loss += w * t
            else:
                value, slope = _logistic(t)
                loss += w * value
                w *= slope
            out[p] += w
            pull += w
        out[q] -= pull
    return loss


@compiled()
def compare_rows(
    X: FloatArray,
    rows: Int32Array,
    low: int,
    high: int,
    length: int,
    alpha: float,
    link: int,
    margin: float,
    out: FloatArray,
) -> float:
    """Losses of the comparisons ``low`` to ``high``, straight from coordinates.

    Consecutive comparisons with the same far pair, as the two of a central statement, share
    its distance and its step in the gradient.
    """
    loss = 0.0
    c, e = -1, -1
    v_far, s_far, pending = 0.0, 0.0, 0.0
    for r in range(low, high):
        a, b, c_next, e_next = rows[r, 0], rows[r, 1], rows[r, 2], rows[r, 3]
        if not ((c_next == c and e_next == e) or (c_next == e and e_next == c)):
            if pending != 0.0:
                _step(X, c, e, -pending * s_far, out)
                pending = 0.0
            c, e = c_next, e_next
            v_far, s_far = _length(_square(X, c, e), length, alpha)
        v_near, s_near = _length(_square(X, a, b), length, alpha)
        t = v_near - v_far + margin
        if link == LOGISTIC:
            value, slope = _logistic(t)
        elif t <= 0.0:
            continue
        elif link == HINGE:
            value, slope = t, 1.0
        else:
            value, slope = t * t, 2.0 * t
        loss += value
        pending += slope
        _step(X, a, b, slope * s_near, out)
    if pending != 0.0:
        _step(X, c, e, -pending * s_far, out)
    return loss


@compiled(inline="always")
def _square(X: FloatArray, i: int, j: int) -> float:
    total = 0.0
    for k in range(X.shape[1]):
        step = X[i, k] - X[j, k]
        total += step * step
    return total


@compiled(inline="always")
def _step(X: FloatArray, i: int, j: int, slope: float, out: FloatArray) -> None:
    c = 2.0 * slope
    for k in range(X.shape[1]):
        step = c * (X[i, k] - X[j, k])
        out[i, k] += step
        out[j, k] -= step


@compiled()
def _length(square: float, length: int, alpha: float) -> tuple[float, float]:
    """The value of a pair and its slope in the squared distance."""
    if length == SQUARE:
        return square, 1.0
    if length == DISTANCE:
        d = np.sqrt(square)
        return d, 0.5 / d if d > 0.0 else 0.0
    half = 0.5 * (alpha + 1.0)
    return half * np.log1p(square / alpha), half / (alpha + square)


@compiled()
def _logistic(t: float) -> tuple[float, float]:
    """log(1 + exp(t)) and its slope, without overflow."""
    z = np.exp(-abs(t))
    if t > 0.0:
        return t + np.log1p(z), 1.0 / (1.0 + z)
    return np.log1p(z), z / (1.0 + z)
