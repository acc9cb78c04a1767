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
#: Differences of lengths beyond which exponentials need care.
_CERTAIN = 300.0


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
    work: FloatArray,
) -> tuple[float, float]:
    """-log P of the answers that choose the pairs ``low`` to ``high``; slopes in ``work[:, 1]``.

    One division and no exponential per answer, and one logarithm for a run of answers. All
    odds must lie within a factor of exp(300). ``third`` is empty where an answer compares two
    pairs; ``lapse`` holds one share for all answers, or one for each. Also returned: the slope
    in the shares. ``work``, (P, 2), gets a copy of the odds: a pair's odds and slope lie side
    by side, so that an answer waits for the memory once for each pair and not twice.
    """
    for p in range(len(odds)):
        work[p, 0] = odds[p]
        work[p, 1] = 0.0
    three, own = len(third) > 0, len(lapse) > 1
    share = 1.0 / 3.0 if three else 0.5
    blind = lapse[0]
    loss, slope_lapse, product = 0.0, 0.0, 1.0
    for q in range(low, high):
        w0 = odds[q]
        pull = 0.0
        for r in range(start[q], start[q + 1]):
            p1 = second[r]
            w1, w2 = work[p1, 0], 0.0
            if three:
                w2 = work[third[r], 0]
            if own:
                blind = lapse[r]
            rest = w1 + w2
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
            work[p1, 1] += g * w1
            if three:
                work[third[r], 1] += g * w2
            pull += g * rest
        work[q, 1] -= pull
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
    work: FloatArray,
) -> tuple[float, float]:
    """As `choose_odds`, from the logarithms of the odds, whatever their range."""
    work[:, 1] = 0.0
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
            work[q, 1] -= w * (g1 + g2)
            work[p1, 1] += w * g1
            if three:
                work[third[r], 1] += w * g2
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
    share = 1.0 / 3.0 if three else 0.5
    loss, slope_lapse, product = 0.0, 0.0, 1.0
    for r in range(low, high):
        a, b, c = triples[r, 0], triples[r, 1], triples[r, 2]
        if own:
            blind = lapse[r]
        v_ab, s_ab = _length(_square(X, a, b), length, alpha)
        v_ac, s_ac = _length(_square(X, a, c), length, alpha)
        v_bc, s_bc = 0.0, 0.0
        if three:
            v_bc, s_bc = _length(_square(X, b, c), length, alpha)
        chosen = sign * (v_bc if three else v_ab)
        t1 = sign * v_ac - chosen
        t2 = sign * v_ab - chosen
        w = weight[r]
        if blind == 0.0 or t1 > _CERTAIN or t2 > _CERTAIN:
            value, slope, g1, g2 = _answer(chosen, sign * v_ac, sign * v_ab, three, blind)
            loss += w * value
        else:
            # odds beside those of the chosen side: two exponentials, and no logarithm here
            e1 = np.exp(t1)
            e2 = np.exp(t2) if three else 0.0
            z = 1.0 + e1 + e2
            y = (1.0 - blind) + blind * share * z
            inverse = 1.0 / (z * y)
            slope = (1.0 - share * z) * z * inverse
            g = (1.0 - blind) * inverse
            g1, g2 = g * e1, g * e2
            if w == 1.0:
                product *= y * y * inverse
                if product < _FLUSH:
                    loss -= np.log(product)
                    product = 1.0
            else:
                loss -= w * np.log(y * y * inverse)
        slope_lapse += w * slope
        w *= sign
        _step(X, a, c, w * g1 * s_ac, out)
        if three:
            _step(X, a, b, w * g2 * s_ab, out)
            _step(X, b, c, -w * (g1 + g2) * s_bc, out)
        else:
            _step(X, a, b, -w * g1 * s_ab, out)
    return loss - float(np.log(product)), slope_lapse


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
def add_information(
    X: FloatArray,
    triples: Int32Array,
    weight: FloatArray,
    lapse: FloatArray,
    length: int,
    alpha: float,
    sign: float,
    three: bool,
    whole: bool,
    out: FloatArray,
) -> None:
    """Add the Fisher information of the coordinates to ``out``.

    With the weights w of its pairs and q = (1 - L) w + L / k, an answer adds the sum over its
    pairs of grad q grad q' / q. ``out`` is (n d, n d) with ``whole``, else (n d, d): of each
    object's own coordinates alone.
    """
    d = X.shape[1]
    own, blind = len(lapse) > 1, lapse[0]
    k = 3 if three else 2
    w, r = np.zeros(3), np.zeros(3)
    F = np.zeros((3, 3))
    slopes = np.zeros((3, 3, d))  # of pair p in the coordinates of object i
    bent = np.zeros(3)
    for row in range(len(triples)):
        if weight[row] == 0.0:
            continue
        if own:
            blind = lapse[row]
        ids = triples[row]
        # pair p lies opposite object p; of two pairs the third is that of the first two objects
        top = -np.inf
        for p in range(3 - k, 3):
            i, j = (p + 1) % 3, (p + 2) % 3
            v, s = _length(_square(X, ids[i], ids[j]), length, alpha)
            w[p] = sign * v
            top = max(top, w[p])
            for q in range(d):
                slopes[p, i, q] = 2.0 * sign * s * (X[ids[i], q] - X[ids[j], q])
                slopes[p, j, q] = -slopes[p, i, q]
        z = 0.0
        for p in range(3 - k, 3):
            w[p] = np.exp(w[p] - top)
            z += w[p]
        total = 0.0
        for p in range(3 - k, 3):
            w[p] /= z
            seen = (1.0 - blind) * w[p]
            r[p] = seen * seen / max(seen + blind / k, 1e-300)
            total += r[p]
        for p in range(3):
            for q in range(3):
                F[p, q] = weight[row] * (w[p] * w[q] * total - w[p] * r[q] - w[q] * r[p])
            F[p, p] += weight[row] * r[p]
        for i in range(3):
            for a in range(d):
                for p in range(3):
                    bent[p] = 0.0
                    for q in range(3):
                        bent[p] += F[p, q] * slopes[q, i, a]
                for j in range(3):
                    if whole or i == j:
                        first = ids[j] * d if whole else 0
                        for b in range(d):
                            out[ids[i] * d + a, first + b] += (
                                bent[0] * slopes[0, j, b]
                                + bent[1] * slopes[1, j, b]
                                + bent[2] * slopes[2, j, b]
                            )


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
