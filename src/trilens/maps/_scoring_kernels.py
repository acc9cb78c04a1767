"""Compiled loops over statements that sum what a scoring step of the choice map needs.

With the lengths v of the sides of a triangle, u = v or -v, p = softmax(u) and the share L of
blind answers among k, an answer j has the probability P[j] = (1 - L) p[j] + L / k. The slope of
-log P in u is that of `trilens.maps._choice_kernels`; the information about u is

    A = J' diag(1 / P) J,    J = (1 - L) (diag(p) - p p').
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trilens._compiled import compiled
from trilens._typing import AnyArray, FloatArray

#: A running product of probabilities is turned into a logarithm before it can vanish.
_FLUSH = 1e-150


@compiled()
def _mixed(x: Any) -> Any:
    """A number that looks drawn at random, for each number (Steele, Lea, Flood, 2014)."""
    z = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled()
def lots(a: AnyArray, b: AnyArray, c: AnyArray, key: int, out: FloatArray) -> None:
    """A number from 0 to 1 for the question of each statement, whatever was answered."""
    salt = np.uint64(key)
    for i in range(len(a)):
        # a sum knows no order: the same three objects are the same question
        total = _mixed(a[i]) + _mixed(b[i]) + _mixed(c[i]) + salt
        out[i] = float(_mixed(total) >> np.uint64(11)) / 9007199254740992.0


@compiled(fastmath=True)
def score(
    a: AnyArray,
    b: AnyArray,
    c: AnyArray,
    closer: bool,
    sign: float,
    X: FloatArray,
    lapse: float,
    sums: FloatArray,
) -> float:
    """-log P of statements; slopes and information of every object's own place in ``sums``.

    ``sums`` is (n, d + d (d + 1) / 2): the gradient, then the lower half of the information, row
    by row. What is known of one object given the others lies side by side.
    """
    d = X.shape[1]
    share = 0.5 if closer else 1.0 / 3.0
    seeing = 1.0 - lapse
    blind = lapse * share
    e = np.empty((3, d))
    loss, product = 0.0, 1.0
    for r in range(len(a)):
        i, j, k = np.uint64(a[r]), np.uint64(b[r]), np.uint64(c[r])
        v0, v1, v2 = 1e-300, 1e-300, 1e-300
        for t in range(d):
            e0, e1, e2 = X[j, t] - X[k, t], X[i, t] - X[k, t], X[i, t] - X[j, t]
            v0 += e0 * e0
            v1 += e1 * e1
            v2 += e2 * e2
            e[0, t], e[1, t], e[2, t] = e0, e1, e2
        v0, v1, v2 = np.sqrt(v0), np.sqrt(v1), np.sqrt(v2)
        u0, u1, u2 = sign * v0, sign * v1, sign * v2
        # odds beside those of the likeliest side
        if closer:
            top = max(u1, u2)
            p0 = 0.0
        else:
            top = max(u0, u1, u2)
            p0 = np.exp(u0 - top)
        p1, p2 = np.exp(u1 - top), np.exp(u2 - top)
        z = 1.0 / (p0 + p1 + p2)
        p0, p1, p2 = p0 * z, p1 * z, p2 * z
        P0, P1, P2 = seeing * p0 + blind, seeing * p1 + blind, seeing * p2 + blind
        chosen, own = (P2, p2) if closer else (P0, p0)
        product *= max(chosen, 1e-140)
        if product < _FLUSH:
            loss -= np.log(product)
            product = 1.0
        attentive = seeing * own / max(chosen, 1e-140)
        s0 = 1.0 / v0
        s1 = 1.0 / v1
        s2 = 1.0 / v2
        # slopes of -log P in the lengths
        g0, g1, g2 = attentive * p0, attentive * p1, attentive * p2
        if closer:
            g2 -= attentive
        else:
            g0 -= attentive
        g0, g1, g2 = sign * g0 * s0, sign * g1 * s1, sign * g2 * s2
        w0 = seeing * seeing * p0 * p0 / max(P0, 1e-140)
        w1 = seeing * seeing * p1 * p1 / max(P1, 1e-140)
        w2 = seeing * seeing * p2 * p2 / max(P2, 1e-140)
        w = w0 + w1 + w2
        a00 = (w0 * (1.0 - 2.0 * p0) + w * p0 * p0) * s0 * s0
        a11 = (w1 * (1.0 - 2.0 * p1) + w * p1 * p1) * s1 * s1
        a22 = (w2 * (1.0 - 2.0 * p2) + w * p2 * p2) * s2 * s2
        a01 = (w * p0 * p1 - w0 * p1 - w1 * p0) * s0 * s1
        a02 = (w * p0 * p2 - w0 * p2 - w2 * p0) * s0 * s2
        a12 = (w * p1 * p2 - w1 * p2 - w2 * p1) * s1 * s2
        at = d
        for t in range(d):
            e0, e1, e2 = e[0, t], e[1, t], e[2, t]
            sums[i, t] += g1 * e1 + g2 * e2
            sums[j, t] += g0 * e0 - g2 * e2
            sums[k, t] -= g0 * e0 + g1 * e1
            x1, x2 = a11 * e1 + a12 * e2, a12 * e1 + a22 * e2
            y0, y2 = a00 * e0 - a02 * e2, a22 * e2 - a02 * e0
            z0, z1 = a00 * e0 + a01 * e1, a01 * e0 + a11 * e1
            for q in range(t + 1):
                f0, f1, f2 = e[0, q], e[1, q], e[2, q]
                sums[i, at] += x1 * f1 + x2 * f2
                sums[j, at] += y0 * f0 + y2 * f2
                sums[k, at] += z0 * f0 + z1 * f1
                at += 1
    return loss - float(np.log(product))
