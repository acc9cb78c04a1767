"""The likelihood of answers that choose a pair, and three ways to evaluate it.

Every statement chooses one of the sides of a triangle by their lengths v: a central statement
the longest (opposite its first object), an odd one the shortest, a similarity triplet the
shorter of two. Attentive answers choose side j with the odds exp(+v) or exp(-v); a share of
the answers, the lapses, is given blindly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray
from trilens.maps._objectives import far_cuts
from trilens.maps._pairs import (
    ODDS_RANGE,
    CompiledRuler,
    Each,
    Length,
    NumpyRuler,
    Pairs,
    Path,
    choose_path,
    in_parts,
    lengths,
    number_pairs,
    pair_code,
    parts_of,
)
from trilens.statements import Kind, Statements


def sign_of(kind: Kind) -> float:
    """+1 where the longest side is chosen, -1 where the shortest is."""
    return 1.0 if kind == "central" else -1.0


def sides_of(kind: Kind, triples: AnyArray) -> list[tuple[AnyArray, AnyArray]]:
    """The ends of the sides that statements choose from, the chosen one first."""
    a, b, c = triples.T
    if kind == "closer":
        return [(a, b), (a, c)]
    return [(b, c), (a, c), (a, b)]


@dataclass(frozen=True)
class Choices:
    """Different answers, sorted by the side that they choose, repeats as weights.

    Attributes
    ----------
    triples : (M, 3) int32
        Statements, of which none differs from another only in the order of what was not chosen.
    weight : (M,) float64
        How often each answer was given.
    kind : str
    n_objects : int
    row : (m,) int64 or None
        The answer that each of the given statements is; None where nobody will ask.
    """

    triples: Int32Array
    weight: FloatArray
    kind: Kind
    n_objects: int
    row: IntArray | None

    @property
    def sign(self) -> float:
        """+1 where the longest side is chosen, -1 where the shortest is."""
        return sign_of(self.kind)

    @property
    def n_sides(self) -> int:
        """From how many sides an answer chooses."""
        return 2 if self.kind == "closer" else 3

    def __len__(self) -> int:
        return len(self.triples)

    @property
    def n_comparisons(self) -> int:
        """Comparisons of two sides in all answers."""
        return len(self) * (self.n_sides - 1)

    def sides(self) -> list[tuple[AnyArray, AnyArray]]:
        """The ends of the sides of every answer, the chosen one first."""
        return sides_of(self.kind, self.triples)

    def weights_of(self, weights: FloatArray) -> FloatArray:
        """Weights of the given statements, added up for each different answer."""
        assert self.row is not None
        return np.bincount(self.row, weights, len(self)).astype(np.float64)


def collect_choices(
    statements: Statements,
    weights: FloatArray | None = None,
    *,
    keep_rows: bool = False,
    apart: bool = False,
) -> Choices:
    """Statements as choices; in any order of the statements, the same.

    Parameters
    ----------
    statements
    weights : (m,) array of float, optional
    keep_rows
        Whether ``row`` is wanted.
    apart
        Keep equal answers apart, as needed where their raters differ.
    """
    n, triples = statements.n_objects, statements.triples
    a, b, c = triples.T
    # The chosen side, then the third object; a similarity triplet also tells its two ends apart.
    if statements.kind == "closer":
        key = (pair_code(a, b, n) * n + c) * 2 + (a > b)
    else:
        key = pair_code(b, c, n) * n + a
    row: IntArray | None = None
    if weights is None and not keep_rows and not apart:
        key.sort()
        new = np.flatnonzero(np.diff(key, prepend=-1))
        weight = np.diff(new, append=len(key)).astype(np.float64)
        key = key[new]
    elif apart:
        order = np.argsort(key, kind="stable")
        key, weight = key[order], np.ones(len(key)) if weights is None else weights[order]
        row = np.empty_like(order)
        row[order] = np.arange(len(order))
    else:
        key, row = np.unique(key, return_inverse=True)
        weight = np.bincount(row, weights, len(key)).astype(np.float64)
    return Choices(_triples_of(key, n, statements.kind), weight, statements.kind, n, row)


def _triples_of(key: IntArray, n: int, kind: Kind) -> Int32Array:
    triples = np.empty((len(key), 3), dtype=np.int32)
    if kind == "closer":
        key, swapped = np.divmod(key, 2)
        code, triples[:, 2] = np.divmod(key, n)
        low, high = np.divmod(code, n)
        triples[:, 0] = np.where(swapped, high, low)
        triples[:, 1] = np.where(swapped, low, high)
    else:
        code, triples[:, 0] = np.divmod(key, n)
        triples[:, 1], triples[:, 2] = np.divmod(code, n)
    return triples


class Likelihood(ABC):
    """Answers, prepared for many evaluations; made by `likelihood`."""

    choices: Choices
    weight: FloatArray
    length: Length
    alpha: float
    _each: Each = map

    @abstractmethod
    def __call__(self, X: FloatArray, lapse: FloatArray) -> tuple[float, FloatArray, float]:
        """-log likelihood, its (n, d) gradient, and its slope in the blind shares.

        Parameters
        ----------
        X : (n, d) array of float
        lapse : (1,) or (M,) array of float
            The share of blind answers: one for all, or one for each different answer.
        """

    def weighing(self, weight: FloatArray) -> Self:
        """The same answers with other weights, one for each different answer."""
        other = copy(self)
        other.weight = weight
        return other

    def part(self, rows: IntArray) -> Likelihood:
        """Some of the different answers, with the weights that they have here."""
        choices = Choices(
            self.choices.triples[rows],
            self.weight[rows],
            self.choices.kind,
            self.choices.n_objects,
            None,
        )
        path = choose_path(choices.n_comparisons, choices.n_objects)
        parts = parts_of(choices.n_comparisons)
        return _prepared(_on(path, choices, parts, self._each), choices, self.length, self.alpha)

    def measuring(self, length: Length, alpha: float) -> Self:
        """The same answers with another length of pairs."""
        other = copy(self)
        other.length, other.alpha = length, alpha
        return other


@contextmanager
def likelihood(
    choices: Choices,
    length: Length = "distance",
    alpha: float = 1.0,
    n_threads: int | None = None,
    path: Path | None = None,
) -> Iterator[Likelihood]:
    """The likelihood of answers; threads end with the context.

    Parameters
    ----------
    choices
        At least one.
    length, alpha
        How the length of a side grows with the distance of its ends.
    n_threads
        By default one per core. The answer does not depend on it.
    path : {"numpy", "pairs", "rows"}, optional
        By default chosen by the size of the data.
    """
    path = path or choose_path(choices.n_comparisons, choices.n_objects)
    if path == "numpy":
        yield _prepared(_on(path, choices, range(1), map), choices, length, alpha)
        return
    with in_parts(choices.n_comparisons, n_threads) as (parts, each):
        yield _prepared(_on(path, choices, parts, each), choices, length, alpha)


def _on(path: Path, choices: Choices, parts: range, each: Each) -> Likelihood:
    if path == "numpy":
        return _NumpyLikelihood(Sides.of(choices))
    if path == "pairs":
        return _PairLikelihood(Sides.of(choices), parts, each)
    return _RowLikelihood(len(choices), parts, each)


def _prepared(found: Likelihood, choices: Choices, length: Length, alpha: float) -> Likelihood:
    found.choices, found.weight = choices, choices.weight
    found.length, found.alpha = length, alpha
    return found


@dataclass(frozen=True)
class Sides:
    """The sides of answers as numbered pairs.

    Attributes
    ----------
    pairs : Pairs
    start : (P + 1,) int64
        Answers ``start[q]`` to ``start[q + 1]`` choose the pair ``q``.
    others : two (M,) int32
        The pairs that were not chosen; the second array is empty where there is only one.
    """

    pairs: Pairs
    start: IntArray
    others: tuple[Int32Array, Int32Array]

    @classmethod
    def of(cls, choices: Choices) -> Sides:
        n = choices.n_objects
        codes = [pair_code(i, j, n) for i, j in choices.sides()]
        pairs, (chosen, *others) = number_pairs(codes, n)
        start = np.searchsorted(chosen, np.arange(len(pairs) + 1)).astype(np.int64)
        second = others[0].astype(np.int32)
        third = others[1].astype(np.int32) if len(others) > 1 else np.empty(0, np.int32)
        return cls(pairs, start, (second, third))

    def numbers(self) -> IntArray:
        """(2 or 3, M): the pairs of every answer, the chosen one first."""
        chosen = np.repeat(np.arange(len(self.pairs)), np.diff(self.start))
        return np.stack([chosen, *(other for other in self.others if len(other))])


class _NumpyLikelihood(Likelihood):
    """Small data: sums by bincount."""

    def __init__(self, sides: Sides) -> None:
        self._ruler = NumpyRuler(sides.pairs)
        self._sides = sides.numbers()

    def __call__(self, X: FloatArray, lapse: FloatArray) -> tuple[float, FloatArray, float]:
        v, slope_v = lengths(self._ruler.squares(X), self.length, self.alpha)
        u = self.choices.sign * v
        if np.ptp(u) > ODDS_RANGE:
            own = u[self._sides]
            W = np.exp(own - own.max(axis=0))
        else:
            W = np.exp(u - u.max())[self._sides]
        W /= W.sum(axis=0)
        # Where even the logarithm of a chance would vanish, it is the least that can be said.
        chosen = np.maximum(W[0], 1e-300)
        share = 1.0 / len(W)
        attentive = (1.0 - lapse) * chosen
        P = attentive + lapse * share
        per_answer = self.weight / P
        slope_lapse = float((per_answer * (chosen - share)).sum())
        W[0] -= 1.0
        W *= per_answer * attentive
        pull = np.bincount(self._sides.ravel(), W.ravel(), len(v))
        gradient = self._ruler.gradient(X, self.choices.sign * pull * slope_v)
        return -float((self.weight * np.log(P)).sum()), gradient, slope_lapse


class _PairLikelihood(Likelihood):
    """Many answers about few pairs: each pair is measured and exponentiated once."""

    def __init__(self, sides: Sides, parts: range, each: Each) -> None:
        self._sides, self._parts, self._each = sides, parts, each
        self._ruler = CompiledRuler(sides.pairs, parts, each)
        self._cuts = far_cuts(sides.start, len(parts))
        self._work = np.empty((len(parts), len(sides.pairs), 2))

    def __call__(self, X: FloatArray, lapse: FloatArray) -> tuple[float, FloatArray, float]:
        from trilens.maps import _choice_kernels as kernels

        sides, cuts, work = self._sides, self._cuts, self._work
        v, slope_v = lengths(self._ruler.squares(X), self.length, self.alpha)
        u = self.choices.sign * v
        wide = np.ptp(u) > ODDS_RANGE
        kernel: Any = kernels.choose_values if wide else kernels.choose_odds
        values = u if wide else np.exp(u - u.mean())

        def choose(k: int) -> Any:
            return kernel(
                values,
                *sides.others,
                self.weight,
                sides.start,
                lapse,
                cuts[k],
                cuts[k + 1],
                work[k],
            )

        parts = list(self._each(choose, self._parts))
        pull = work[:, :, 1].sum(axis=0)
        pull *= slope_v
        pull *= self.choices.sign
        gradient = self._ruler.gradient(X, pull)
        return sum(loss for loss, _ in parts), gradient, sum(slope for _, slope in parts)


class _RowLikelihood(Likelihood):
    """About as many pairs as answers: each answer straight from the coordinates."""

    def __init__(self, n_answers: int, parts: range, each: Each) -> None:
        self._parts, self._each = parts, each
        self._cuts = np.linspace(0, n_answers, len(parts) + 1).astype(np.int64).tolist()

    def __call__(self, X: FloatArray, lapse: FloatArray) -> tuple[float, FloatArray, float]:
        from trilens.maps import _choice_kernels as kernels
        from trilens.maps._embedding_kernels import LENGTHS

        choices, cuts = self.choices, self._cuts
        gradients = np.zeros((len(self._parts), *X.shape))

        def choose(k: int) -> tuple[float, float]:
            return kernels.choose_rows(
                X,
                choices.triples,
                self.weight,
                lapse,
                cuts[k],
                cuts[k + 1],
                LENGTHS[self.length],
                self.alpha,
                choices.sign,
                choices.n_sides == 3,
                gradients[k],
            )

        parts = list(self._each(choose, self._parts))
        total = gradients.sum(axis=0)
        return sum(loss for loss, _ in parts), total, sum(slope for _, slope in parts)
