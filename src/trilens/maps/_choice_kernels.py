"""Compiled loops of the choice map; imported only when the data are large.

An answer chooses one of two or three pairs. With the weights ``w`` of its pairs, their sum
``z`` and the share L of blind answers among k, it has the probability

    P = (1 - L) w[chosen] / z + L / k.

The slope of -log P in log w[j] is rho (w[j] / z - [j chosen]), where
rho = (1 - L) w[chosen] / (z P) is the probability that the answer was not a blind one.
"""

from __future__ import annotations

import numpy as np

from trilens._compiled import compiled
from trilens._typing import FloatArray, Int32Array, IntArray
from trilens.maps._embedding_kernels import _length, _square, _step

#: A running product of probabilities is turned into a logarithm before it can vanish.
_FLUSH = 1e-150


@compiled()
def choose_odds(
    odds: FloatArray,
    second: Int32Array,
    third: Int32Array,
    weight: FloatArray,
    start: IntArray,
    lapse: FloatArray,
    low: int,
    high: int,
    out: FloatArray,
) -> tuple[float, float]:
    """-log P of the answers that choose the pairs ``low`` to ``high``; slopes in ``out``.

    One division and no exponential per answer, and one logarithm for a run of answers. All
    odds must lie within a factor of exp(300). ``third`` is empty where an answer compares two
    pairs; ``lapse`` holds one share for all answers, or one for each. Also returned: the slope
    in the shares.
    """
    three, own = len(third) > 0, len(lapse) > 1
    share = 1.0 / 3.0 if three else 0.5
    blind = lapse[0]
    loss, slope_lapse, product = 0.0, 0.0, 1.0
    for q in range(low, high):
        w0 = odds[q]
        pull = 0.0
        for r in range(start[q], start[q + 1]):
            p1 = second[r]
            w1 = odds[p1]
            rest = w1
            if three:
                rest += odds[third[r]]
            if own:
                blind = lapse[r]
            z = w0 + rest
            attentive = (1.0 - blind) * w0
            y = attentive + blind * share * z
            inverse = 1.0 / (z * y)
            w = weight[r]
            if w == 1.0:
                product *= y * y * inverse
                if product < _FLUSH:
                    loss -= np.log(product)
                    product = 1.0
            else:
                loss -= w * np.log(y * y * inverse)
            slope_lapse += w * (w0 - share * z) * z * inverse
            g = w * attentive * inverse
            out[p1] += g * w1
            if three:
                p2 = third[r]
                out[p2] += g * odds[p2]
            pull += g * rest
        out[q] -= pull
    return loss - float(np.log(product)), slope_lapse


@compiled()
def choose_values(
    u: FloatArray,
    second: Int32Array,
    third: Int32Array,
    weight: FloatArray,
    start: IntArray,
    lapse: FloatArray,
    low: int,
    high: int,
    out: FloatArray,
) -> tuple[float, float]:
    """As `choose_odds`, from the logarithms of the odds, whatever their range."""
    three, own = len(third) > 0, len(lapse) > 1
    blind = lapse[0]
    loss, slope_lapse = 0.0, 0.0
    for q in range(low, high):
        for r in range(start[q], start[q + 1]):
            if own:
                blind = lapse[r]
            p1 = second[r]
            u2 = u[third[r]] if three else 0.0
            value, slope, g1, g2 = _answer(u[q], u[p1], u2, three, blind)
            w = weight[r]
            loss += w * value
            slope_lapse += w * slope
            out[q] -= w * (g1 + g2)
            out[p1] += w * g1
            if three:
                out[third[r]] += w * g2
    return loss, slope_lapse


@compiled()
def choose_rows(
    X: FloatArray,
    triples: Int32Array,
    weight: FloatArray,
    lapse: FloatArray,
    low: int,
    high: int,
    length: int,
    alpha: float,
    sign: float,
    three: bool,
    out: FloatArray,
) -> tuple[float, float]:
    """-log P of the answers ``low`` to ``high``, straight from coordinates; gradient in ``out``.

    ``triples`` are statements as they are: with three pairs the first object's opposite side
    is chosen, with two the pair of the first two objects.
    """
    own = len(lapse) > 1
    blind = lapse[0]
    loss, slope_lapse = 0.0, 0.0
    for r in range(low, high):
        a, b, c = triples[r, 0], triples[r, 1], triples[r, 2]
        if own:
            blind = lapse[r]
        v_ab, s_ab = _length(_square(X, a, b), length, alpha)
        v_ac, s_ac = _length(_square(X, a, c), length, alpha)
        w = weight[r]
        if three:
            v_bc, s_bc = _length(_square(X, b, c), length, alpha)
            value, slope, g_ac, g_ab = _answer(sign * v_bc, sign * v_ac, sign * v_ab, True, blind)
            _step(X, b, c, -w * sign * (g_ac + g_ab) * s_bc, out)
            _step(X, a, b, w * sign * g_ab * s_ab, out)
        else:
            value, slope, g_ac, g_ab = _answer(sign * v_ab, sign * v_ac, 0.0, False, blind)
            _step(X, a, b, -w * sign * g_ac * s_ab, out)
        _step(X, a, c, w * sign * g_ac * s_ac, out)
        loss += w * value
        slope_lapse += w * slope
    return loss, slope_lapse


@compiled()
def _answer(
    u0: float, u1: float, u2: float, three: bool, blind: float
) -> tuple[float, float, float, float]:
    """-log P of choosing the first pair; its slopes in the blind share and in u1 and u2."""
    top = max(u0, u1)
    share = 0.5
    e2 = 0.0
    if three:
        top = max(top, u2)
        share = 1.0 / 3.0
        e2 = np.exp(u2 - top)
    e0, e1 = np.exp(u0 - top), np.exp(u1 - top)
    z = e0 + e1 + e2
    if blind == 0.0:
        p = e0 / z
        return np.log(z) - (u0 - top), (1.0 - share / p) if p > 0.0 else -np.inf, e1 / z, e2 / z
    attentive = (1.0 - blind) * e0
    y = attentive + blind * share * z
    rho = attentive / (y * z)
    return np.log(z / y), (e0 - share * z) / y, rho * e1, rho * e2


@compiled()
def triangle_shares(odds: FloatArray, out: FloatArray) -> None:
    """Add to ``out`` the probability that each object's opposite side is chosen.

    Over all triples, ``odds`` being an (n, n) symmetric array of the pairs' weights.
    """
    n = len(odds)
    for i in range(n):
        for j in range(i + 1, n):
            ij = odds[i, j]
            own_i, own_j = 0.0, 0.0
            for k in range(j + 1, n):
                ik, jk = odds[i, k], odds[j, k]
                inverse = 1.0 / (ij + ik + jk)
                own_i += jk * inverse
                own_j += ik * inverse
                out[k] += ij * inverse
            out[i] += own_i
            out[j] += own_j
