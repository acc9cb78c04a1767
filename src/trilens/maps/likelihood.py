"""What coordinates are fitted to: the likelihood of answers, and the ordinal embeddings' losses.

**The choice model.** Every statement chooses one of the sides of a triangle by their lengths v:
a central statement the longest (opposite its first object), an odd one the shortest, a similarity
triplet the shorter of two. Attentive answers choose side j with the odds w[j] = exp(+v) or
exp(-v); a share L of the answers, the lapses, is given without looking. With k sides and z the
sum of their odds, an answer has the probability

    P = (1 - L) w[chosen] / z + L / k.

The slope of -log P in log w[j] is rho (w[j] / z - [j chosen]), where
rho = (1 - L) w[chosen] / (z P) is the probability that the answer was an attentive one. The Fisher
information about the logarithms of the odds is J' diag(1 / P) J with J = (1 - L) (diag(p) - p p'),
p = w / z and P that of every answer. `mixture` and `information_of_answer` are these two formulas,
for numpy arrays as for the compiled loops.

**The ordinal embeddings** are sums over comparisons d(A,B) < d(C,D) of
``link(v(A,B) - v(C,D))``, where the length ``v`` increases with the squared distance D of a pair:

======  ==========================================  ==============================
method  length v(D)                                 link(t)
======  ==========================================  ==============================
SOE     sqrt(D)                                     max(0, t + margin) ** 2
GNMDS   D                                           max(0, t + margin)
STE     D                                           log(1 + exp(t))
t-STE   (alpha + 1) / 2 * log(1 + D / alpha)        log(1 + exp(t))
======  ==========================================  ==============================

Both are evaluated in one of three ways, by the size of the data: with numpy; by compiled loops
over pairs, each of which is measured once; or by compiled loops straight from the coordinates.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray
from trilens.kinds import Kind, n_answers, sides, sign
from trilens.maps.comparisons import Comparisons, violations
from trilens.maps.pairs import (
    ODDS_RANGE,
    Length,
    Pairs,
    Path,
    Work,
    choose_path,
    lengths,
    make_ruler,
    number_pairs,
    open_work,
    pair_code,
    squared,
    with_l2,
)
from trilens.maps.raters import group_raters
from trilens.statements import Statements

Link: TypeAlias = Literal["hinge", "squared hinge", "logistic"]

#: The least that a probability is taken for.
LEAST = 1e-300

#: A symmetric matrix, as what it makes of (n, d, K) vectors.
Products: TypeAlias = Callable[[AnyArray], AnyArray]


def mixture(chosen: Any, total: Any, lapse: Any, share: Any) -> tuple[Any, Any, Any]:
    """P of an answer, the slope of -log P in the lapse, and the pull g on the odds.

    The slope of -log P in the logarithm of the odds of side j is g odds[j], less g ``total``
    where j was chosen. For numbers and for arrays.

    Parameters
    ----------
    chosen, total
        The odds of the side that was chosen, and the sum over all sides.
    lapse, share
        The share of lapses, and that of each answer among them.
    """
    attentive = (1.0 - lapse) * chosen
    mixed = attentive + lapse * share * total
    inverse = 1.0 / (total * mixed)
    return (
        mixed * (mixed * inverse),
        (chosen - share * total) * total * inverse,
        attentive * inverse,
    )


def information_of_answer(p0: Any, p1: Any, p2: Any, lapse: Any, share: Any) -> Any:
    """The Fisher information of a question about the logarithms of its sides' odds.

    A symmetric matrix: its diagonal, then the entries (0, 1), (0, 2) and (1, 2). For numbers and
    for arrays.

    Parameters
    ----------
    p0, p1, p2
        The probability of each side by an attentive answer; 0 for one that is no answer.
    lapse, share
        As in `mixture`.
    """
    seeing, guess = 1.0 - lapse, lapse * share
    w0 = (seeing * p0) ** 2 / np.maximum(seeing * p0 + guess, 1e-140)
    w1 = (seeing * p1) ** 2 / np.maximum(seeing * p1 + guess, 1e-140)
    w2 = (seeing * p2) ** 2 / np.maximum(seeing * p2 + guess, 1e-140)
    w = w0 + w1 + w2
    return (
        w0 * (1.0 - 2.0 * p0) + w * p0 * p0,
        w1 * (1.0 - 2.0 * p1) + w * p1 * p1,
        w2 * (1.0 - 2.0 * p2) + w * p2 * p2,
        w * p0 * p1 - w0 * p1 - w1 * p0,
        w * p0 * p2 - w0 * p2 - w2 * p0,
        w * p1 * p2 - w1 * p2 - w2 * p1,
    )


# ---- an order that hangs on names and answers alone -------------------------------------------


def object_order(names: Sequence[str] | None, n_objects: int) -> IntArray:
    """The ids in the order of the names, numbers in them by size; without names as they are.

    What is drawn at random for objects is drawn in this order: the result of a fit does not
    depend on which object happens to come first.

    >>> object_order(["b", "a", "c"], 3).tolist(), object_order(["car 10", "car 9"], 2).tolist()
    ([1, 0, 2], [1, 0])
    """
    if names is None:
        return np.arange(n_objects)
    order = sorted(range(n_objects), key=lambda i: (_by_numbers(names[i]), names[i]))
    return np.array(order, dtype=np.int64)


def _by_numbers(name: str) -> list[tuple[int, str]]:
    """What a name is sorted by: the longer of two numbers is the larger one."""
    parts = re.split(r"([0-9]+)", name)
    parts[1::2] = [digits.lstrip("0") for digits in parts[1::2]]
    return [(len(part) if i % 2 else 0, part) for i, part in enumerate(parts)]


def row_order(statements: Statements) -> IntArray:
    """The rows in the order of their answers by `object_order`, and of raters where known."""
    order = object_order(statements._names, statements.n_objects)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    codes = _answer_codes(rank[statements.triples], statements.n_objects, statements.kind)
    groups = group_raters(statements)
    if groups is None:
        return np.argsort(codes, kind="stable")
    return np.lexsort((groups.of, codes))


def in_order(
    statements: Statements, weights: FloatArray | None
) -> tuple[Statements, FloatArray | None, IntArray]:
    """Statements, and their weights, as a fit sees them: objects and rows in an order of their own.

    Also returned: the `object_order`. Rows without raters stay where they are: choices are
    sorted anyway, and `selection` orders the rows that it draws from.
    """
    order = object_order(statements._names, statements.n_objects)
    rows = None
    if statements.raters is not None:
        rows = row_order(statements)
    if (np.diff(order) < 0).any():
        statements = statements.subset(order)
    if rows is not None:
        statements = statements.take(rows)
        weights = None if weights is None else weights[rows]
    return statements, weights, order


# ---- the choice model ---------------------------------------------------------------------------


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

    def __len__(self) -> int:
        return len(self.triples)

    @property
    def n_comparisons(self) -> int:
        """Comparisons of two sides in all answers."""
        return len(self) * (n_answers(self.kind) - 1)

    def weights_of(self, weights: FloatArray) -> FloatArray:
        """Weights of the given statements, added up for each different answer."""
        assert self.row is not None
        return np.bincount(self.row, weights, len(self)).astype(np.float64)


def collect_choices(
    statements: Statements,
    weights: FloatArray | None = None,
    *,
    keep_rows: bool = False,
    keep_repeats: bool = False,
) -> Choices:
    """Statements as choices; in any order of the statements, the same.

    Parameters
    ----------
    statements
    weights : (m,) array of float, optional
    keep_rows
        Whether ``row`` is wanted.
    keep_repeats
        Keep equal answers apart, as needed where their raters differ.
    """
    n = statements.n_objects
    key = _answer_codes(statements.triples, n, statements.kind)
    row: IntArray | None = None
    if weights is None and not keep_rows and not keep_repeats:
        key.sort()
        new = np.flatnonzero(np.diff(key, prepend=-1))
        weight = np.diff(new, append=len(key)).astype(np.float64)
        key = key[new]
    elif keep_repeats:
        order = np.argsort(key, kind="stable")
        key, weight = key[order], np.ones(len(key)) if weights is None else weights[order]
        row = np.empty_like(order)
        row[order] = np.arange(len(order))
    else:
        key, row = np.unique(key, return_inverse=True)
        weight = np.bincount(row, weights, len(key)).astype(np.float64)
    return Choices(_triples_of(key, n, statements.kind), weight, statements.kind, n, row)


def _answer_codes(triples: AnyArray, n: int, kind: Kind) -> IntArray:
    """One number for each different answer: the chosen side, then the third object.

    That of a similarity triplet also tells the two ends of the side apart.
    """
    a, b, c = triples.T
    codes: IntArray
    if kind == "closer":
        codes = (pair_code(a, b, n) * n + c) * 2 + (a > b)
    else:
        codes = pair_code(b, c, n) * n + a
    return codes


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
    #: Whether it is evaluated by PyTorch, see `trilens.maps.device`.
    on_device = False
    #: What features say of the places beforehand; their coordinates are then those of the prior.
    prior: Any = None
    #: Whether a map that is turned says the same.
    turns_freely = True
    _work: Work

    @abstractmethod
    def __call__(self, X: FloatArray, lapse: FloatArray) -> tuple[float, FloatArray, float]:
        """-log likelihood, its (n, d) gradient, and its slope in the lapses.

        Parameters
        ----------
        X : (n, d) array of float
        lapse : (1,) or (M,) array of float
            The share of lapses: one for all, or one for each different answer.
        """

    def places(self, X: FloatArray) -> FloatArray:
        """The places of the objects that coordinates stand for; mostly these themselves."""
        return X

    def standard(self, X: FloatArray) -> FloatArray:
        """The coordinates that stand for places."""
        return X

    def first_guess(self, d: int) -> FloatArray | None:
        """Coordinates to start from, but for their scale, where something besides answers tells."""
        return None

    def information(self, X: FloatArray, lapse: FloatArray, *, whole: bool = True) -> FloatArray:
        """The Fisher information of the coordinates, the expected curvature of -log likelihood.

        Parameters
        ----------
        X, lapse
            As for an evaluation.
        whole
            (n d, n d); else (n, d, d), of each object's coordinates as if the others were known.
        """
        return self._information(X, lapse, whole, np.arange(len(X)), np.ones_like(X), len(X))

    def _information(
        self,
        X: FloatArray,
        lapse: FloatArray,
        whole: bool,
        place: IntArray,
        stretch: FloatArray,
        n: int,
    ) -> FloatArray:
        """That of ``n`` objects, where row i of X is a stretched copy of the object place[i]."""
        from trilens.maps import _kernels

        d = X.shape[1]
        H = np.zeros((n * d, n * d if whole else d))
        _kernels.add_information(
            np.ascontiguousarray(X),
            self.choices.triples,
            self.weight,
            lapse,
            _kernels.LENGTHS[self.length],
            self.alpha,
            self.sign,
            self.n_sides == 3,
            whole,
            place,
            stretch,
            H,
        )
        return H + H.T if whole else H.reshape(n, d, d)

    def products(self, X: FloatArray, lapse: FloatArray) -> Products:
        """A function that multiplies (n, d, K) vectors with the information of the coordinates.

        In single precision, and without ever forming the matrix.
        """
        from trilens.maps import _kernels

        work, cuts = self._work, self._work.cuts(len(self.choices))
        triples = self.choices.triples
        terms = np.empty((len(triples), 6), dtype=np.float32)
        X = np.ascontiguousarray(X)
        narrow = X.astype(np.float32)
        how = _kernels.LENGTHS[self.length], self.alpha, self.n_sides == 3, self.sign

        def prepare(k: int) -> None:
            span = cuts[k], cuts[k + 1]
            _kernels.information_terms(X, triples, self.weight, lapse, *how, *span, terms)

        list(work.each(prepare, work.parts))

        def times(V: AnyArray) -> AnyArray:
            V = np.ascontiguousarray(V, dtype=np.float32)
            out = np.zeros((len(work.parts), *V.shape), dtype=np.float32)

            def add(k: int) -> None:
                span = cuts[k], cuts[k + 1]
                _kernels.information_times(narrow, triples, terms, V, *span, out[k])

            list(work.each(add, work.parts))
            total: AnyArray = out[0] if len(out) == 1 else out.sum(axis=0)
            return total

        return times

    def of_places(self) -> Likelihood:
        """The likelihood of the places themselves, whatever is known of them beforehand."""
        return self

    def _by_rows(self, X: FloatArray, lapse: FloatArray) -> tuple[float, FloatArray, float]:
        """An evaluation straight from the coordinates, whatever the range of the lengths."""
        from trilens.maps import _kernels

        work, cuts = self._work, self._work.cuts(len(self.choices))
        gradients = np.zeros((len(work.parts), *X.shape))

        def choose(k: int) -> tuple[float, float]:
            return _kernels.choose_rows(
                X,
                self.choices.triples,
                self.weight,
                lapse,
                cuts[k],
                cuts[k + 1],
                _kernels.LENGTHS[self.length],
                self.alpha,
                self.sign,
                self.n_sides == 3,
                gradients[k],
            )

        parts = list(work.each(choose, work.parts))
        total = gradients.sum(axis=0)
        return sum(loss for loss, _ in parts), total, sum(slope for _, slope in parts)

    @property
    def sign(self) -> float:
        """+1 where the longest side is chosen, -1 where the shortest is."""
        return sign(self.choices.kind)

    @property
    def n_sides(self) -> int:
        """From how many sides an answer chooses."""
        return n_answers(self.choices.kind)

    def weighing(self, weight: FloatArray) -> Self:
        """The same answers with other weights, one for each different answer."""
        other = copy(self)
        other.weight = weight
        return other

    def measuring(self, length: Length, alpha: float) -> Self:
        """The same answers with another length of pairs."""
        other = copy(self)
        other.length, other.alpha = length, alpha
        return other

    def part(self, rows: IntArray) -> Likelihood:
        """Some of the different answers, with the weights that they have here."""
        choices = replace(
            self.choices, triples=self.choices.triples[rows], weight=self.weight[rows], row=None
        )
        path = choose_path(choices.n_comparisons, choices.n_objects)
        if path == "numpy":  # where the whole is compiled, nothing waits for a compiler any more
            path = self._work.path
        work = Work.of(choices.n_comparisons, choices.n_objects, self._work.each, path)
        return _prepared(choices, work).measuring(self.length, self.alpha)


class LikelihoodAround(Likelihood):
    """A likelihood in other coordinates than those of the one that it is made of."""

    _answers: Likelihood

    def weighing(self, weight: FloatArray) -> Self:
        other = super().weighing(weight)
        other._answers = self._answers.weighing(weight)
        return other

    def measuring(self, length: Length, alpha: float) -> Self:
        other = super().measuring(length, alpha)
        other._answers = self._answers.measuring(length, alpha)
        return other


@contextmanager
def likelihood(
    choices: Choices,
    length: Length = "distance",
    alpha: float = 1.0,
    n_threads: int | None = None,
    path: Path | None = None,
    device: str | None = None,
) -> Iterator[Likelihood]:
    """The likelihood of answers; threads end with the context.

    Parameters
    ----------
    choices
        At least one.
    length, alpha
        How the length of a side grows with the distance of its ends.
    n_threads, path
        As in `open_work`.
    device : str, optional
        A GPU, as `ChoiceMap` takes it.
    """
    if device not in (None, "cpu"):
        from trilens.maps.device import DeviceLikelihood, open_device

        yield DeviceLikelihood(choices, open_device(device)).measuring(length, alpha)
        return
    with open_work(choices.n_comparisons, choices.n_objects, n_threads, path) as work:
        yield _prepared(choices, work).measuring(length, alpha)


def _prepared(choices: Choices, work: Work) -> Likelihood:
    found: Likelihood
    if work.path == "numpy":
        found = _NumpyChoices(choices, work)
    elif work.path == "pairs":
        found = _PairChoices(choices, work)
    else:
        found = _RowChoices(choices, work)
    found.choices, found.weight, found._work = choices, choices.weight, work
    return found


@dataclass(frozen=True)
class _Sides:
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
    def of(cls, choices: Choices) -> _Sides:
        n = choices.n_objects
        codes = [pair_code(i, j, n) for i, j in sides(choices.kind, choices.triples)]
        pairs, (chosen, *others) = number_pairs(codes, n)
        start = np.searchsorted(chosen, np.arange(len(pairs) + 1)).astype(np.int64)
        second = others[0].astype(np.int32)
        third = others[1].astype(np.int32) if len(others) > 1 else np.empty(0, np.int32)
        return cls(pairs, start, (second, third))

    def numbers(self) -> IntArray:
        """(2 or 3, M): the pairs of every answer, the chosen one first."""
        chosen = np.repeat(np.arange(len(self.pairs)), np.diff(self.start))
        return np.stack([chosen, *(other for other in self.others if len(other))])


class _NumpyChoices(Likelihood):
    """Small data: sums by bincount."""

    def __init__(self, choices: Choices, work: Work) -> None:
        found = _Sides.of(choices)
        self._pairs, self._ruler = found.pairs, make_ruler(found.pairs, work)
        self._sides = found.numbers()

    def __call__(self, X: FloatArray, lapse: FloatArray) -> tuple[float, FloatArray, float]:
        W = self._odds(self._ruler.measure(X, self.length, self.alpha))
        W /= W.sum(axis=0)
        # Where even the logarithm of a chance would vanish, it is the least that can be said.
        P, slope, pull = mixture(np.maximum(W[0], LEAST), 1.0, lapse, 1.0 / len(W))
        W[0] -= 1.0
        W *= self.weight * pull
        pulls = np.bincount(self._sides.ravel(), W.ravel(), len(self._pairs))
        gradient = self._ruler.gradient(X, np.asarray(self.sign * pulls, np.float64))
        # Not a scalar product: BLAS would wake its threads for it, at many times the cost.
        return (
            -float((self.weight * np.log(P)).sum()),
            gradient,
            float((self.weight * slope).sum()),
        )

    def _odds(self, v: FloatArray) -> FloatArray:
        """The odds of the sides of every answer, beside each other's."""
        u = self.sign * v
        if np.ptp(u) > ODDS_RANGE:
            own = u[self._sides]
            wide: FloatArray = np.exp(own - own.max(axis=0))
            return wide
        odds: FloatArray = np.exp(u - u.max())[self._sides]
        return odds

    def information(self, X: FloatArray, lapse: FloatArray, *, whole: bool = True) -> FloatArray:
        if not whole:
            return super().information(X, lapse, whole=False)
        from scipy.sparse import csr_array

        pairs, n_pairs, (n, d) = self._pairs, len(self._pairs), X.shape
        step = X[pairs.first] - X[pairs.second]
        v, slope = lengths(np.einsum("pk,pk->p", step, step), self.length, self.alpha)
        W = self._odds(v)
        W /= W.sum(axis=0)
        third = W[2] if len(W) == 3 else np.zeros(W.shape[1])
        F = np.stack(information_of_answer(W[0], W[1], third, lapse, 1.0 / len(W)))
        F *= self.weight
        entries, rows, columns = self._entries
        # the entries of the matrix that two sides have are its first, its second and (0, 1)
        entry = [[0, 3, 4], [3, 1, 5], [4, 5, 2]]
        own = F[[entry[i][j] for i in range(len(W)) for j in range(len(W))]]
        data = np.bincount(entries, own.ravel(), len(rows))
        B = csr_array((data, (rows, columns)), shape=(n_pairs, n_pairs))
        moves = (2 * self.sign * slope)[:, None] * step
        ends = np.column_stack([pairs.first, pairs.second])[:, :, None] * d + np.arange(d)
        J = csr_array(
            (
                np.stack([moves, -moves], axis=1).ravel(),
                (np.repeat(np.arange(n_pairs), 2 * d), ends.ravel()),
            ),
            shape=(n_pairs, n * d),
        )
        H: FloatArray = (J.T @ (B @ J)).toarray()
        return H

    @cached_property
    def _entries(self) -> tuple[IntArray, IntArray, IntArray]:
        """Where the information of each answer goes in the matrix of pairs."""
        k, n_pairs = len(self._sides), len(self._pairs)
        rows = np.repeat(self._sides[:, None], k, axis=1).ravel()
        columns = np.repeat(self._sides[None], k, axis=0).ravel()
        codes, entries = np.unique(rows * n_pairs + columns, return_inverse=True)
        return entries, *np.divmod(codes, n_pairs)


class _PairChoices(Likelihood):
    """Many answers about few pairs: each pair is measured and exponentiated once."""

    def __init__(self, choices: Choices, work: Work) -> None:
        self._sides = found = _Sides.of(choices)
        self._ruler = make_ruler(found.pairs, work)
        self._cuts = work.sorted_cuts(found.start)
        self._room = np.empty((len(work.parts), len(found.pairs), 2))

    def __call__(self, X: FloatArray, lapse: FloatArray) -> tuple[float, FloatArray, float]:
        from trilens.maps import _kernels

        u = self.sign * self._ruler.measure(X, self.length, self.alpha)
        if np.ptp(u) > ODDS_RANGE:
            return self._by_rows(X, lapse)
        found, cuts, room = self._sides, self._cuts, self._room
        odds = np.exp(u - u.mean())

        def choose(k: int) -> tuple[float, float]:
            return _kernels.choose_odds(
                odds,
                *found.others,
                self.weight,
                found.start,
                lapse,
                cuts[k],
                cuts[k + 1],
                room[k],
            )

        parts = list(self._work.each(choose, self._work.parts))
        gradient = self._ruler.gradient(X, self.sign * room[:, :, 1].sum(axis=0))
        return sum(loss for loss, _ in parts), gradient, sum(slope for _, slope in parts)


class _RowChoices(Likelihood):
    """About as many pairs as answers: each answer straight from the coordinates."""

    def __init__(self, choices: Choices, work: Work) -> None:
        """Nothing is prepared."""

    def __call__(self, X: FloatArray, lapse: FloatArray) -> tuple[float, FloatArray, float]:
        return self._by_rows(X, lapse)


# ---- the ordinal embeddings ---------------------------------------------------------------------


@dataclass(frozen=True)
class Objective:
    """One of the four objectives: a length, a link and their constants."""

    length: Length
    link: Link
    margin: float = 0.0
    alpha: float = 1.0
    l2: float = 0.0

    @property
    def enough(self) -> float:
        """A loss at which there is nothing left to find.

        The logistic losses of data without contradictions have no minimum: stretching always
        helps. Below log(2), the loss of one violated comparison, none is violated.
        """
        return float(np.log(2.0)) if self.link == "logistic" and self.l2 == 0 else 0.0

    @property
    def spread(self) -> float:
        """The standard deviation of random starts.

        Wide for SOE, where a start near the margin's own size often ends in a local minimum.
        """
        if self.link == "logistic":
            return 0.1
        return 100.0 * self.margin if self.length == "distance" else float(np.sqrt(self.margin))

    @property
    def is_smooth(self) -> bool:
        """Whether it has no kinks."""
        return self.link != "hinge"

    def smooth(self) -> Objective:
        """The objective without kinks: the hinge squared. Both are 0 at the same coordinates."""
        return self if self.is_smooth else replace(self, link="squared hinge")

    def losses(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The losses of differences of lengths (near minus far), and their slopes."""
        if self.link == "logistic":
            z = np.exp(-np.abs(t))
            return np.log1p(z) + np.maximum(t, 0.0), np.where(t > 0, 1.0, z) / (1.0 + z)
        over = np.maximum(t + self.margin, 0.0)
        if self.link == "hinge":
            return over, (over > 0).astype(np.float64)
        return over * over, 2.0 * over


class ComparisonLoss(ABC):
    """An objective on data; made by `comparison_loss`."""

    def __init__(self, objective: Objective, comparisons: Comparisons, work: Work) -> None:
        self.objective, self._comparisons, self._work = objective, comparisons, work

    @abstractmethod
    def __call__(self, X: FloatArray) -> tuple[float, FloatArray]:
        """The loss and its (n, d) gradient at the (n, d) coordinates ``X``."""

    def violations(self, X: FloatArray) -> float:
        """The share of comparisons whose near pair is not strictly nearer."""
        return violations(X, self._comparisons)

    def of(self, objective: Objective) -> Self:
        """Another objective on the same prepared data."""
        other = copy(self)
        other.objective = objective
        return other

    def _by_rows(self, X: FloatArray) -> tuple[float, FloatArray]:
        """An evaluation straight from the coordinates, whatever the range of the lengths."""
        from trilens.maps import _kernels

        objective, work, rows = self.objective, self._work, self._comparisons.rows
        # Even cuts keep the two comparisons of a statement in one part.
        cuts = [*(2 * cut for cut in work.cuts(len(rows) // 2)[:-1]), len(rows)]
        gradients = np.zeros((len(work.parts), *X.shape))

        def compare(k: int) -> float:
            return _kernels.compare_rows(
                X,
                rows,
                cuts[k],
                cuts[k + 1],
                _kernels.LENGTHS[objective.length],
                objective.alpha,
                _kernels.LINKS[objective.link],
                objective.margin,
                gradients[k],
            )

        loss = sum(work.each(compare, work.parts))
        return with_l2(loss, gradients.sum(axis=0), X, objective.l2)


@contextmanager
def comparison_loss(
    objective: Objective,
    comparisons: Comparisons,
    n_threads: int | None = None,
    path: Path | None = None,
) -> Iterator[ComparisonLoss]:
    """An objective on data, prepared for many evaluations; threads end with the context.

    Parameters
    ----------
    objective
    comparisons
        At least one.
    n_threads, path
        As in `open_work`.
    """
    with open_work(len(comparisons), comparisons.n_objects, n_threads, path) as work:
        if work.path == "rows":
            yield _RowComparisons(objective, comparisons, work)
        else:
            yield _PairComparisons(objective, comparisons, work)


@dataclass(frozen=True)
class PairComparisons:
    """Comparisons of numbered pairs, sorted by the far pair, repeats as weights.

    Attributes
    ----------
    pairs : Pairs
    near : (M,) int32
        The near pair of each different comparison.
    start : (P + 1,) int64
        Comparisons ``start[q]`` to ``start[q + 1]`` have the far pair ``q``.
    weight : (M,) float64
        How often each comparison was made.
    """

    pairs: Pairs
    near: Int32Array
    start: IntArray
    weight: FloatArray

    @property
    def far(self) -> Int32Array:
        """The far pair of each different comparison, (M,) int32."""
        return np.repeat(np.arange(len(self.pairs), dtype=np.int32), np.diff(self.start))

    def violations(self, X: FloatArray) -> float:
        """The share of comparisons whose near pair is not strictly nearer."""
        D = squared(X, self.pairs.first, self.pairs.second)
        wrong = D[self.near] >= D[self.far]
        return float(self.weight[wrong].sum() / self.weight.sum())


def pair_comparisons(comparisons: Comparisons) -> PairComparisons:
    """Number the pairs that comparisons name, and sort the comparisons by them."""
    rows, n = comparisons.rows, comparisons.n_objects
    codes = [pair_code(rows[:, 0], rows[:, 1], n), pair_code(rows[:, 2], rows[:, 3], n)]
    pairs, (near, far) = number_pairs(codes, n)
    key = far * len(pairs) + near
    key.sort()
    new = np.flatnonzero(np.diff(key, prepend=-1))
    weight = np.diff(new, append=len(key)).astype(np.float64)
    far, near = np.divmod(key[new], len(pairs))
    start = np.searchsorted(far, np.arange(len(pairs) + 1))
    return PairComparisons(pairs, near.astype(np.int32), start.astype(np.int64), weight)


class _PairComparisons(ComparisonLoss):
    """Comparisons of measured pairs, by numpy or by compiled loops."""

    def __init__(self, objective: Objective, comparisons: Comparisons, work: Work) -> None:
        super().__init__(objective, comparisons, work)
        self._data = data = pair_comparisons(comparisons)
        self._ruler = make_ruler(data.pairs, work)
        self._far = data.far if work.path == "numpy" else None
        self._cuts = work.sorted_cuts(data.start)

    def __call__(self, X: FloatArray) -> tuple[float, FloatArray]:
        objective = self.objective
        v = self._ruler.measure(X, objective.length, objective.alpha)
        if self._far is not None:
            loss, pull = self._compare_small(v, self._far)
        elif objective.link == "logistic" and np.ptp(v) > ODDS_RANGE:
            return self._by_rows(X)
        else:
            loss, pull = self._compare(v)
        return with_l2(loss, self._ruler.gradient(X, pull), X, objective.l2)

    def _compare_small(self, v: FloatArray, far: Int32Array) -> tuple[float, FloatArray]:
        near, weight = self._data.near, self._data.weight
        loss, slope = self.objective.losses(v[near] - v[far])
        slope *= weight
        pull = np.bincount(near, slope, len(v)) - np.bincount(far, slope, len(v))
        # Not a scalar product: BLAS would wake its threads for it, at many times the cost.
        loss *= weight
        return float(loss.sum()), pull.astype(np.float64, copy=False)

    def _compare(self, v: FloatArray) -> tuple[float, FloatArray]:
        from trilens.maps import _kernels

        objective, cuts, work = self.objective, self._cuts, self._work
        comparisons = (self._data.near, self._data.weight, self._data.start)
        odds = np.exp(v - v.mean()) if objective.link == "logistic" else v
        slopes = np.zeros((len(work.parts), len(v)))

        def compare(k: int) -> float:
            span, out = (cuts[k], cuts[k + 1]), slopes[k]
            if objective.link == "logistic":
                return _kernels.compare_odds(odds, *comparisons, *span, out)
            is_squared = objective.link == "squared hinge"
            return _kernels.compare_hinge(v, *comparisons, *span, objective.margin, is_squared, out)

        loss = sum(work.each(compare, work.parts))
        return loss, slopes.sum(axis=0)

    def violations(self, X: FloatArray) -> float:
        return self._data.violations(X)


class _RowComparisons(ComparisonLoss):
    """About as many pairs as comparisons: each comparison straight from the coordinates."""

    def __call__(self, X: FloatArray) -> tuple[float, FloatArray]:
        return self._by_rows(X)
