"""Compiled loops of the maps; imported only when the data are large.

`trilens.maps.likelihood` has the formulas, and the functions that numpy and these loops share.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trilens._compiled import compiled
from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray
from trilens.maps import likelihood

DISTANCE, SQUARE, STUDENT = 0, 1, 2
LENGTHS = {"distance": DISTANCE, "square": SQUARE, "student": STUDENT}

#: A running product of probabilities is turned into a logarithm before it can vanish.
_FLUSH_SMALL = 1e-150
#: Differences of lengths beyond which exponentials need care.
_CERTAIN = 300.0

_mixture = compiled(inline="always")(likelihood.mixture)
_information = compiled(inline="always")(likelihood.information_of_answer)


# ---- pairs ------------------------------------------------------------------------------------


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
def pair_squares(
    X: FloatArray, first: Int32Array, second: Int32Array, low: int, high: int, out: FloatArray
) -> None:
    """Squared distances of the pairs ``low`` to ``high``, into ``out``."""
    for p in range(low, high):
        out[p] = _square(X, first[p], second[p])


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
        if slope[p] != 0.0:
            _step(X, first[p], second[p], slope[p], out)


# ---- answers that choose a side of a triangle --------------------------------------------------


@compiled(inline="always")
def _add_log(P: float, weight: float, loss: float, product: float) -> tuple[float, float]:
    """A loss less the logarithm of P: one logarithm for a run of answers that count once."""
    if weight == 1.0:
        product *= P
        if product < _FLUSH_SMALL:
            loss -= np.log(product)
            product = 1.0
    else:
        loss -= weight * np.log(P)
    return loss, product


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
    lapsed = lapse[0]
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
                lapsed = lapse[r]
            rest = w1 + w2
            P, slope, g = _mixture(w0, w0 + rest, lapsed, share)
            w = weight[r]
            loss, product = _add_log(P, w, loss, product)
            slope_lapse += w * slope
            g *= w
            work[p1, 1] += g * w1
            if three:
                work[third[r], 1] += g * w2
            pull += g * rest
        work[q, 1] -= pull
    return loss - float(np.log(product)), slope_lapse


@compiled(inline="always")
def _triangle(
    X: FloatArray,
    i: Any,
    j: Any,
    k: Any,
    length: int,
    alpha: float,
    sign: float,
    three: bool,
    e: FloatArray,
) -> tuple[float, float, float, float, float, float]:
    """The sides as differences in ``e``, their slopes, and how likely each is chosen.

    Side 0 lies opposite i, and so on; of two sides it is the one that cannot be chosen.
    """
    square0, square1, square2 = 0.0, 0.0, 0.0
    for t in range(X.shape[1]):
        e0, e1, e2 = X[j, t] - X[k, t], X[i, t] - X[k, t], X[i, t] - X[j, t]
        square0 += e0 * e0
        square1 += e1 * e1
        square2 += e2 * e2
        e[0, t], e[1, t], e[2, t] = e0, e1, e2
    v0, slope0 = _length(square0, length, alpha)
    v1, slope1 = _length(square1, length, alpha)
    v2, slope2 = _length(square2, length, alpha)
    u0, u1, u2 = sign * v0, sign * v1, sign * v2
    # odds beside those of the likeliest side
    top = max(u1, u2)
    p0 = 0.0
    if three:
        top = max(u0, top)
        p0 = np.exp(u0 - top)
    p1, p2 = np.exp(u1 - top), np.exp(u2 - top)
    z = 1.0 / (p0 + p1 + p2)
    return 2.0 * slope0, 2.0 * slope1, 2.0 * slope2, p0 * z, p1 * z, p2 * z


@compiled(inline="always")
def _terms(
    w: float,
    s0: float,
    s1: float,
    s2: float,
    p0: float,
    p1: float,
    p2: float,
    lapse: float,
    share: float,
) -> tuple[float, float, float, float, float, float]:
    """The Fisher information of an answer of weight w about steps along its sides."""
    a00, a11, a22, a01, a02, a12 = _information(p0, p1, p2, lapse, share)
    return (
        w * a00 * s0 * s0,
        w * a11 * s1 * s1,
        w * a22 * s2 * s2,
        w * a01 * s0 * s1,
        w * a02 * s0 * s2,
        w * a12 * s1 * s2,
    )


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
    place: IntArray,
    stretch: FloatArray,
    out: FloatArray,
) -> None:
    """Add the Fisher information of the coordinates to ``out``.

    ``out`` is (n d, n d) with ``whole``, and gets a matrix that is to be added to its transpose;
    else it is (n d, d): of each object's own coordinates alone.
    Row ``i`` of ``X`` is the object ``place[i]``, its coordinates multiplied by ``stretch[i]``.
    """
    d = X.shape[1]
    own, lapsed = len(lapse) > 1, lapse[0]
    share = 1.0 / 3.0 if three else 0.5
    e = np.empty((3, d))
    moves = np.zeros((3 * d, 3))  # of each side with every coordinate of the three objects
    at = np.zeros(3 * d, dtype=np.int64)
    for row in range(len(triples)):
        if weight[row] == 0.0:
            continue
        if own:
            lapsed = lapse[row]
        i, j, k = triples[row, 0], triples[row, 1], triples[row, 2]
        s0, s1, s2, p0, p1, p2 = _triangle(X, i, j, k, length, alpha, sign, three, e)
        a00, a11, a22, a01, a02, a12 = _terms(weight[row], s0, s1, s2, p0, p1, p2, lapsed, share)
        for q in range(d):
            at[q], at[d + q], at[2 * d + q] = place[i] * d + q, place[j] * d + q, place[k] * d + q
            moves[q, 1], moves[q, 2] = e[1, q] * stretch[i, q], e[2, q] * stretch[i, q]
            moves[d + q, 0], moves[d + q, 2] = e[0, q] * stretch[j, q], -e[2, q] * stretch[j, q]
            moves[2 * d + q, 0] = -e[0, q] * stretch[k, q]
            moves[2 * d + q, 1] = -e[1, q] * stretch[k, q]
        for c in range(3 * d):
            m0, m1, m2 = moves[c, 0], moves[c, 1], moves[c, 2]
            b0 = a00 * m0 + a01 * m1 + a02 * m2
            b1 = a01 * m0 + a11 * m1 + a12 * m2
            b2 = a02 * m0 + a12 * m1 + a22 * m2
            if whole:
                # half of a symmetric matrix; the caller adds the other one
                out[at[c], at[c]] += 0.5 * (b0 * m0 + b1 * m1 + b2 * m2)
                for f in range(c + 1, 3 * d):
                    out[at[c], at[f]] += b0 * moves[f, 0] + b1 * moves[f, 1] + b2 * moves[f, 2]
            else:
                base = c - c % d
                for q in range(d):
                    f = base + q
                    out[at[c], q] += b0 * moves[f, 0] + b1 * moves[f, 1] + b2 * moves[f, 2]


@compiled()
def information_terms(
    X: FloatArray,
    triples: Int32Array,
    weight: FloatArray,
    lapse: FloatArray,
    length: int,
    alpha: float,
    sign: float,
    three: bool,
    low: int,
    high: int,
    out: AnyArray,
) -> None:
    """The information of the answers ``low`` to ``high`` about steps along their sides.

    Of each a symmetric matrix as `_terms` gives it, into ``out`` (M, 6).
    """
    own, lapsed = len(lapse) > 1, lapse[0]
    share = 1.0 / 3.0 if three else 0.5
    e = np.empty((3, X.shape[1]))
    for row in range(low, high):
        if own:
            lapsed = lapse[row]
        i, j, k = triples[row, 0], triples[row, 1], triples[row, 2]
        s0, s1, s2, p0, p1, p2 = _triangle(X, i, j, k, length, alpha, sign, three, e)
        a = _terms(weight[row], s0, s1, s2, p0, p1, p2, lapsed, share)
        for t in range(6):
            out[row, t] = a[t]


@compiled(fastmath=True)
def information_times(
    X: AnyArray,
    triples: Int32Array,
    terms: AnyArray,
    V: AnyArray,
    low: int,
    high: int,
    out: AnyArray,
) -> None:
    """Add the Fisher information of the coordinates times K vectors; ``V``, ``out`` (n, d, K).

    Of the answers ``low`` to ``high``, whose ``terms`` are those of `information_terms`.
    """
    d, K = X.shape[1], V.shape[2]
    t0 = np.empty(K, dtype=np.float32)
    t1, t2 = t0.copy(), t0.copy()
    for row in range(low, high):
        i, j, k = triples[row, 0], triples[row, 1], triples[row, 2]
        t0[:] = 0
        t1[:] = 0
        t2[:] = 0
        for t in range(d):
            e0, e1, e2 = X[j, t] - X[k, t], X[k, t] - X[i, t], X[i, t] - X[j, t]
            for q in range(K):
                x, y, z = V[i, t, q], V[j, t, q], V[k, t, q]
                t0[q] += e0 * (y - z)
                t1[q] += e1 * (z - x)
                t2[q] += e2 * (x - y)
        a00, a11, a22 = terms[row, 0], terms[row, 1], terms[row, 2]
        a01, a02, a12 = terms[row, 3], terms[row, 4], terms[row, 5]
        for q in range(K):
            x, y, z = t0[q], t1[q], t2[q]
            t0[q] = a00 * x + a01 * y + a02 * z
            t1[q] = a01 * x + a11 * y + a12 * z
            t2[q] = a02 * x + a12 * y + a22 * z
        for t in range(d):
            e0, e1, e2 = X[j, t] - X[k, t], X[k, t] - X[i, t], X[i, t] - X[j, t]
            for q in range(K):
                f0, f1, f2 = e0 * t0[q], e1 * t1[q], e2 * t2[q]
                out[i, t, q] += f2 - f1
                out[j, t, q] += f0 - f2
                out[k, t, q] += f1 - f0


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


# ---- passes over statements that are not held --------------------------------------------------


@compiled()
def _mixed(x: Any) -> Any:
    """A number that looks drawn at random, for each number (Steele, Lea, Flood, 2014)."""
    z = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled(fastmath=True)
def multiply(
    a: AnyArray,
    b: AnyArray,
    c: AnyArray,
    closer: bool,
    on: float,
    off: float,
    X: AnyArray,
    Y: AnyArray,
) -> None:
    """Add E X to Y, E the sum over statements of ``on`` at the pair whose third object was
    singled out and ``off`` at the other pairs that were compared.

    The pair is that of the two others; of ``closer`` statements it is (anchor, near), and
    (anchor, far) is the other one.
    """
    width = X.shape[1]
    one, other = np.float32(on), np.float32(off)
    for i in range(len(a)):
        x, y, z = np.uint64(a[i]), np.uint64(b[i]), np.uint64(c[i])
        for k in range(width):
            u, v, w = X[x, k], X[y, k], X[z, k]
            if closer:
                Y[x, k] += one * v + other * w
                Y[y, k] += one * u
                Y[z, k] += other * u
            else:
                Y[x, k] += other * (v + w)
                Y[y, k] += one * w + other * u
                Y[z, k] += one * v + other * u


@compiled(inline="always")
def _pulls(
    p0: float, p1: float, p2: float, three: bool, lapse: float, share: float
) -> tuple[float, float, float, float]:
    """P of an answer, and the slopes of -log P in the logarithms of the sides' odds."""
    P, _, g = _mixture(max(p0 if three else p2, 1e-140), 1.0, lapse, share)
    if three:
        return P, g * p0 - g, g * p1, g * p2
    return P, g * p0, g * p1, g * p2 - g


@compiled(fastmath=True)
def score(
    a: AnyArray,
    b: AnyArray,
    c: AnyArray,
    X: FloatArray,
    lapse: float,
    length: int,
    alpha: float,
    sign: float,
    three: bool,
    sums: FloatArray,
) -> float:
    """-log P of statements; slopes and information of every object's own place in ``sums``.

    ``sums`` is (n, d + d (d + 1) / 2): the gradient, then the lower half of the information, row
    by row. What is known of one object given the others lies side by side.
    """
    d = X.shape[1]
    share = 1.0 / 3.0 if three else 0.5
    e = np.empty((3, d))
    loss, product = 0.0, 1.0
    for r in range(len(a)):
        i, j, k = np.uint64(a[r]), np.uint64(b[r]), np.uint64(c[r])
        s0, s1, s2, p0, p1, p2 = _triangle(X, i, j, k, length, alpha, sign, three, e)
        P, g0, g1, g2 = _pulls(p0, p1, p2, three, lapse, share)
        loss, product = _add_log(P, 1.0, loss, product)
        g0, g1, g2 = sign * g0 * s0, sign * g1 * s1, sign * g2 * s2
        a00, a11, a22, a01, a02, a12 = _terms(1.0, s0, s1, s2, p0, p1, p2, lapse, share)
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


@compiled()
def question_keys(a: AnyArray, b: AnyArray, c: AnyArray, salt: int, out: AnyArray) -> None:
    """A number for the question of each statement, whatever was answered."""
    for i in range(len(a)):
        out[i] = _mixed(_mixed(a[i]) + _mixed(b[i]) + _mixed(c[i]) + np.uint64(salt))


@compiled(fastmath=True)
def pull(
    a: AnyArray,
    b: AnyArray,
    c: AnyArray,
    X: FloatArray,
    lapse: float,
    length: int,
    alpha: float,
    sign: float,
    three: bool,
    keys: AnyArray,
    out: AnyArray,
    expected: FloatArray,
) -> None:
    """Add the slopes of -log P, and what P leaves over, with signs by lot; ``out`` (n, d + 1, K).

    The K signs of a statement are bits of its key: the same for all statements with that key.
    What is left over is whether an object was singled out, less how likely that was; ``expected``
    (n, 2) gets how often that is expected, and the variance.
    """
    d, K = X.shape[1], out.shape[2]
    share = 1.0 / 3.0 if three else 0.5
    seeing, guess = 1.0 - lapse, lapse * share
    e = np.empty((3, d))
    w = np.empty(K, dtype=np.float32)
    for r in range(len(a)):
        i, j, k = np.uint64(a[r]), np.uint64(b[r]), np.uint64(c[r])
        s0, s1, s2, p0, p1, p2 = _triangle(X, i, j, k, length, alpha, sign, three, e)
        _, g0, g1, g2 = _pulls(p0, p1, p2, three, lapse, share)
        g0, g1, g2 = sign * g0 * s0, sign * g1 * s1, sign * g2 * s2
        bits = _mixed(keys[r])
        for q in range(K):
            w[q] = np.float32(1.0) if (bits >> np.uint64(q)) & np.uint64(1) else np.float32(-1.0)
        for t in range(d):
            e0, e1, e2 = e[0, t], e[1, t], e[2, t]
            on_i = np.float32(g1 * e1 + g2 * e2)
            on_j = np.float32(g0 * e0 - g2 * e2)
            on_k = np.float32(-g0 * e0 - g1 * e1)
            for q in range(K):
                out[i, t, q] += on_i * w[q]
                out[j, t, q] += on_j * w[q]
                out[k, t, q] += on_k * w[q]
        P0, P1, P2 = seeing * p0 + guess, seeing * p1 + guess, seeing * p2 + guess
        m0, m1, m2 = np.float32(1.0 - P0), np.float32(-P1), np.float32(-P2)
        if three:
            expected[i, 0] += P0
            expected[i, 1] += P0 * (1.0 - P0)
        else:
            P1, P2 = P2, P1
            m0, m1, m2 = np.float32(0.0), np.float32(1.0 - P1), np.float32(-P2)
        expected[j, 0] += P1
        expected[j, 1] += P1 * (1.0 - P1)
        expected[k, 0] += P2
        expected[k, 1] += P2 * (1.0 - P2)
        for q in range(K):
            out[i, d, q] += m0 * w[q]
            out[j, d, q] += m1 * w[q]
            out[k, d, q] += m2 * w[q]


@compiled(fastmath=True)
def drawn_shares(
    X: FloatArray,
    who: AnyArray,
    one: AnyArray,
    two: AnyArray,
    length: int,
    alpha: float,
    closer: bool,
    sign: float,
    mean: FloatArray,
    square: FloatArray,
) -> None:
    """How often each of some objects is chosen beside pairs of others; and the mean square.

    For ``closer`` the first of a pair is the anchor, and the second the rival.
    """
    base = np.empty(len(one))
    for p in range(len(one)):
        base[p] = sign * _length(_square(X, one[p], two[p]), length, alpha)[0]
    for w in range(len(who)):
        x, total, squares, many = who[w], 0.0, 0.0, 0
        for p in range(len(one)):
            j, k = one[p], two[p]
            if j == x or k == x:
                continue
            to_j = sign * _length(_square(X, x, j), length, alpha)[0]
            if closer:
                beside = np.exp(min(base[p] - to_j, _CERTAIN))
            else:
                to_k = sign * _length(_square(X, x, k), length, alpha)[0]
                beside = np.exp(min(to_j - base[p], _CERTAIN))
                beside += np.exp(min(to_k - base[p], _CERTAIN))
            share = 1.0 / (1.0 + beside)
            total += share
            squares += share * share
            many += 1
        mean[w] = total / many if many else np.nan
        square[w] = squares / many if many else np.nan


# ---- draws of the map ---------------------------------------------------------------------------


@compiled()
def _pair_lengths(
    X: FloatArray, first: Int32Array, second: Int32Array, length: int, alpha: float, V: FloatArray
) -> None:
    """The values of all pairs, into ``V``."""
    for pair in range(len(first)):
        V[pair], _ = _length(_square(X, first[pair], second[pair]), length, alpha)


@compiled()
def _lengths_from(
    X: FloatArray,
    i: int,
    place: FloatArray,
    pairs: IntArray,
    first: Int32Array,
    second: Int32Array,
    length: int,
    alpha: float,
    V: FloatArray,
) -> None:
    """The values of some pairs of object i, if it were at another place, into ``V``."""
    for pair in pairs:
        other = second[pair] if first[pair] == i else first[pair]
        square = 0.0
        for k in range(X.shape[1]):
            square += (place[k] - X[other, k]) ** 2
        V[pair], _ = _length(square, length, alpha)


@compiled()
def _log_chance(
    V: FloatArray,
    sides: IntArray,
    weight: FloatArray,
    lapse: FloatArray,
    rows: IntArray,
    sign: float,
) -> float:
    """The log-likelihood of some answers, by the values of the pairs."""
    total, product = 0.0, 1.0
    three, share = sides.shape[1] == 3, 1.0 / sides.shape[1]
    for row in rows:
        chosen = V[sides[row, 0]]
        others = np.exp(min(sign * (V[sides[row, 1]] - chosen), _CERTAIN))
        if three:
            others += np.exp(min(sign * (V[sides[row, 2]] - chosen), _CERTAIN))
        chance = (1.0 - lapse[row]) / (1.0 + others) + lapse[row] * share
        if weight[row] != 1.0:
            total += weight[row] * np.log(chance)
            continue
        product *= chance
        if product < 1e-200:  # a logarithm for many answers
            total += np.log(product)
            product = 1.0
    return float(total + np.log(product))


@compiled()
def slice_chain(
    X: FloatArray,
    first: Int32Array,
    second: Int32Array,
    pair_starts: IntArray,
    pairs: IntArray,
    sides: IntArray,
    weight: FloatArray,
    counts: float,
    lapse: FloatArray,
    starts: IntArray,
    rows: IntArray,
    length: int,
    alpha: float,
    sign: float,
    spread: tuple[float, float],
    precision: FloatArray,
    every: int,
    rng: Any,
    out: FloatArray,
) -> float:
    """Draw maps from the posterior into ``out``, one after so many rounds; ``X`` moves along.

    A round draws the spread of each axis, moves each object by elliptical slice sampling (Murray,
    Adams and MacKay, 2010), and stretches map and spreads together (a Metropolis step). Returns
    the log-likelihood of the last map.

    Parameters
    ----------
    first, second, pair_starts, pairs
        The objects of each pair; object i is in ``pairs[pair_starts[i]:pair_starts[i + 1]]``.
    sides : (m, 2 or 3) array
        The pairs that each answer chooses from, the chosen one first.
    weight, counts
        How often each answer was given, and for how much all of them count.
    starts, rows
        The answers about object i are ``rows[starts[i]:starts[i + 1]]``.
    spread
        The least and the largest standard deviation of the coordinates.
    precision : (n, n) array, or an empty one
        The inverse of what the prior covariance of the places is, times the square of the spread;
        the identity where it is empty.
    """
    n, d = X.shape
    place, direction, sd, middle = np.empty(d), np.empty(d), np.empty(d), np.zeros(d)
    together, freedom = len(precision) > 0, 1.0
    least, most = spread
    everything = np.arange(len(sides))
    V, stretched = np.empty(len(first)), np.empty(len(first))
    _pair_lengths(X, first, second, length, alpha, V)
    now = 0.0
    for drawn in range(len(out)):
        for _ in range(every):
            for k in range(d):
                square = (X[:, k] ** 2).sum() / 2.0
                if together:
                    square = 0.0
                    for i in range(n):
                        square += X[i, k] * (precision[i] * X[:, k]).sum() / 2.0
                sd[k] = min(max(np.sqrt(square / rng.standard_gamma(n / 2.0)), least), most)
            for i in range(n):
                own = rows[starts[i] : starts[i + 1]]
                near = pairs[pair_starts[i] : pair_starts[i + 1]]
                level = _log_chance(V, sides, weight, lapse, own, sign)
                level += np.log(rng.random()) / counts
                if together:  # where the others' places draw this one
                    freedom = 1.0 / np.sqrt(precision[i, i])
                    for k in range(d):
                        middle[k] = X[i, k] - (precision[i] * X[:, k]).sum() / precision[i, i]
                for k in range(d):
                    direction[k] = sd[k] * freedom * rng.standard_normal()
                angle = 2.0 * np.pi * rng.random()
                low, high = angle - 2.0 * np.pi, angle
                found = False
                while not found and high - low > 1e-9:
                    for k in range(d):
                        place[k] = (
                            middle[k]
                            + (X[i, k] - middle[k]) * np.cos(angle)
                            + direction[k] * np.sin(angle)
                        )
                    _lengths_from(X, i, place, near, first, second, length, alpha, V)
                    found = level < _log_chance(V, sides, weight, lapse, own, sign)
                    if angle < 0.0:
                        low = angle
                    else:
                        high = angle
                    angle = low + (high - low) * rng.random()
                if found:
                    X[i] = place
                else:
                    _lengths_from(X, i, X[i], near, first, second, length, alpha, V)
            now = _log_chance(V, sides, weight, lapse, everything, sign)
            for far in (0.2, 1.0):
                factor = np.exp(far * rng.standard_normal())
                if sd.max() * factor > most or sd.min() * factor < least:
                    continue
                X *= factor
                _pair_lengths(X, first, second, length, alpha, stretched)
                new = _log_chance(stretched, sides, weight, lapse, everything, sign)
                if np.log(rng.random()) < counts * (new - now):
                    V[:] = stretched
                    sd *= factor
                    now = new
                else:
                    X /= factor
        out[drawn] = X
    return now


@compiled()
def rank_shares(odds: FloatArray, out: FloatArray) -> None:
    """Add to ``out`` the probability that each object is the nearer one, over all comparisons."""
    n = len(odds)
    for a in range(n):
        for i in range(n):
            own = 0.0
            for j in range(i + 1, n):
                if a != i and a != j:
                    won = odds[a, i] / (odds[a, i] + odds[a, j])
                    own += won
                    out[j] += 1.0 - won
            out[i] += own
