"""How questions are answered and go wrong: ties, Noise model I."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from trilens._parameters import one_of, real_number
from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray
from trilens.simulate.triples import unrank
from trilens.simulate.truth import Truth
from trilens.statements import KINDS, Kind
from trilens.statements.value import CHOSEN_FIRST

Ties: TypeAlias = Literal["random", "drop"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def check_answers(kind: str, ties: str, error_rate: float) -> None:
    """Raise `ParameterError` for what no answer can be given by."""
    one_of("kind", kind, KINDS)
    one_of("ties", ties, ("random", "drop"))
    real_number("error_rate", error_rate, 0, 1)


def luck(questions: IntArray, key: np.uint64) -> FloatArray:
    """A uniform number in [0, 1) for each question: the same question, the same number.

    The finaliser of SplitMix64 (Steele, Lea and Flood 2014) on key plus question. It fixes
    the answers to all questions beforehand, as in the paper, where a sample is drawn from the
    set of all statements: a question that is asked again gets the same answer, right or wrong.
    """
    x = questions.astype(np.uint64)
    x *= _GOLDEN
    x += key
    x ^= x >> np.uint64(30)
    x *= _MIX_1
    x ^= x >> np.uint64(27)
    x *= _MIX_2
    x ^= x >> np.uint64(31)
    x >>= np.uint64(11)
    return x.astype(np.float64) * 2.0**-53


def answer(
    truth: Truth,
    questions: IntArray,
    row: IntArray | None,
    u: FloatArray,
    error_rate: FloatArray,
    kind: Kind,
    ties: Ties,
    compiled: bool,
) -> Int32Array:
    """Answered statements.

    Parameters
    ----------
    truth
        The dissimilarities that the answers follow.
    questions : (m,) int64
        Question numbers, see `trilens.simulate.triples`.
    row : (m,) int64 or None
        The row of each question's statement; None: in order.
    u : (m,) float64
        Uniform numbers in [0, 1), one for each question.
    error_rate : (m,) float64
        The probability that the answer is wrong (Noise model I).
    kind, ties
        See `trilens.simulate.simulate_statements`.
    compiled : bool
        By the kernels, or in numpy: the same statements.

    Returns
    -------
    (m, 3) int32
        With -1 in the first column where a tie is to be dropped.
    """
    m = len(questions)
    code, drop = KINDS.index(kind), ties == "drop"
    out = np.empty((m, 3), dtype=np.int32)
    if compiled:
        from trilens.simulate import _kernels

        kernel = _kernels.answer_from_matrix if truth.precomputed else _kernels.answer_from_points
        rows = np.arange(m) if row is None else row
        kernel(truth.values, questions, rows, u, error_rate, code, drop, out)
    else:
        out[slice(None) if row is None else row] = _answer_plainly(
            truth, questions, u, error_rate, kind, drop
        )
    return out


def _answer_plainly(
    truth: Truth,
    questions: IntArray,
    u: FloatArray,
    error_rate: FloatArray,
    kind: Kind,
    drop: bool,
) -> Int32Array:
    rank, anchor = np.divmod(questions, 3 if kind == "closer" else 1)
    triples = unrank(rank, truth.n_objects)
    sides = sides_of(truth, triples)
    # [0, rate/2): one wrong answer, [rate/2, rate): the other, [rate, 1): the true one; where
    # in its interval u lies is uniform again, and decides ties
    half = 0.5 * error_rate
    wrong, other_wrong = u < error_rate, (u >= half) & (u < error_rate)
    start = np.where(wrong, np.where(other_wrong, half, 0.0), error_rate)
    v = (u - start) / np.where(wrong, half, 1.0 - error_rate)
    rows = np.arange(len(questions))
    if kind == "closer":
        one, two = (anchor + 1) % 3, (anchor + 2) % 3
        # the side opposite of one of the two is the other one's distance to the anchor
        to_one, to_two = sides[rows, two], sides[rows, one]
        tied = to_one == to_two
        near_one = np.where(tied, v < 0.5, to_one < to_two) ^ wrong
        near = np.where(near_one, one, two)
        order = np.stack([anchor, near, 3 - anchor - near], axis=1)
    else:
        best = sides.max(axis=1) if kind == "central" else sides.min(axis=1)
        candidate = sides == best[:, None]
        n_candidates = candidate.sum(axis=1)
        tied = n_candidates > 1
        which = np.minimum((v * n_candidates).astype(np.int64), n_candidates - 1)
        true = ((candidate.cumsum(axis=1) == which[:, None] + 1) & candidate).argmax(axis=1)
        chosen = (true + wrong + other_wrong) % 3
        order = CHOSEN_FIRST[chosen]
    answered = np.take_along_axis(triples, order, axis=1)
    if drop:
        answered[tied, 0] = -1
    return answered


def sides_of(truth: Truth, triples: Int32Array) -> AnyArray:
    """(m, 3): the side opposite of each object of a triple."""
    a, b, c = triples.T
    if truth.precomputed:
        D = truth.values
        return np.stack([D[c, b], D[c, a], D[b, a]], axis=1)
    X = truth.values

    def squared(i: Int32Array, j: Int32Array) -> FloatArray:
        # coordinate by coordinate, as the kernel adds them up, not pairwise as np.sum does
        total = np.zeros(len(i))
        for column in X.T:
            total += (column[i] - column[j]) * (column[i] - column[j])
        return total

    return np.stack([squared(b, c), squared(a, c), squared(a, b)], axis=1)
