"""The likelihood of answers, which coordinates are fitted to.

Every statement chooses one of the sides of a triangle by their lengths v:
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

Every pair is measured once. There are two ways to go on from there: by operations on whole arrays,
with numpy for small data or with CuPy on a GPU; and by compiled loops.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np

from trilens._typing import AnyArray, FloatArray, Int32Array, IntArray
from trilens.kinds import Kind, n_answers, sides, sign
from trilens.maps.device import ON_PROCESSOR, Device, open_device
from trilens.maps.pairs import (
    ODDS_RANGE,
    ArrayRuler,
    Length,
    Ruler,
    Work,
    lengths,
    make_ruler,
    number_pairs,
    open_work,
    pair_code,
)
from trilens.maps.raters import group_raters
from trilens.statements import Statements
from trilens.statements.combine import questions

#: The least that a probability is taken for.
LEAST = 1e-300
#: Answers whose probabilities are formed at a time.
_CHUNK = 1 << 24
#: Pairs that are worked on at a time, and the parts that there are of more.
_ROOM, _FEWEST_PARTS = 1 << 24, 2
#: Where the entries of a symmetric matrix stand in what `information_of_answer` gives.
ENTRY = ((0, 3, 4), (3, 1, 5), (4, 5, 2))

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


def in_own_order(statements: Statements) -> tuple[Statements, IntArray]:
    """Statements in an order that does not depend on how they were given.

    Objects by their names; rows by their objects, and by raters where known. Random numbers are
    drawn in this order, so that the same answers say the same. Also returned: the place of each
    given object in it, (n,).

    >>> found, rank = in_own_order(
    ...     Statements([[1, 2, 0], [0, 1, 2]], names=["c", "b", "a"], kind="central")
    ... )
    >>> found.names, found.triples.tolist(), rank.tolist()
    (('a', 'b', 'c'), [[2, 1, 0], [1, 0, 2]], [2, 1, 0])
    """
    order = object_order(statements._names, statements.n_objects)
    if (np.diff(order) != 1).any():
        statements = statements.subset(order)
    rows = row_order(statements)
    if (np.diff(rows) != 1).any():
        statements = statements.take(rows)
    return statements, np.argsort(order)


# ---- the choice model ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Choices:
    """Different answers, sorted by the side that they choose, repeats as weights."""

    #: (M, 3): statements, of which none differs from another only in the order of what was not
    #: chosen.
    triples: Int32Array
    #: (M,): how often each answer was given.
    weight: FloatArray
    kind: Kind
    n_objects: int
    #: (m,): the answer that each of the given statements is; None where nobody will ask.
    row: IntArray | None

    def __len__(self) -> int:
        return len(self.triples)

    @property
    def n_comparisons(self) -> int:
        """Comparisons of two sides in all answers."""
        return len(self) * (n_answers(self.kind) - 1)

    @cached_property
    def n_questions(self) -> int:
        """Different questions, whatever was answered."""
        return len(questions(Statements(self.triples, self.n_objects, kind=self.kind))[2])

    def spread(self, values: FloatArray) -> FloatArray:
        """What each given statement has, for its answer; see ``keep_repeats``."""
        found = np.empty(len(self))
        found[self.row] = values
        return found

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
    #: Whether it is evaluated on a device, where steps are cheap; see `trilens.maps.device`.
    on_device = False
    #: What features say of the places beforehand; their coordinates are then those of the prior.
    prior: Any = None
    #: Whether a map that is turned says the same.
    turns_freely = True

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
        return X if self.prior is None else self.prior.places(X)

    def standard(self, X: FloatArray) -> FloatArray:
        """The coordinates that stand for places."""
        return X if self.prior is None else self.prior.standard(X)

    @abstractmethod
    def information(self, X: FloatArray, lapse: FloatArray, *, whole: bool = True) -> FloatArray:
        """The Fisher information of the coordinates, the expected curvature of -log likelihood.

        Parameters
        ----------
        X, lapse
            As for an evaluation.
        whole
            (n d, n d); else (n, d, d), of each object's coordinates as if the others were known.
        """

    def products(self, X: FloatArray, lapse: FloatArray) -> Products:
        """A function that multiplies (n, d, K) vectors with the information of the places.

        In single precision, and without ever forming the matrix.
        """
        raise NotImplementedError

    def of_places(self) -> Likelihood:
        """The likelihood of the places themselves, whatever is known of them beforehand."""
        return self

    @property
    def n_questions(self) -> int:
        """Different questions, whatever was answered."""
        return self.choices.n_questions

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

    @abstractmethod
    def part(self, rows: IntArray) -> Likelihood:
        """Some of the different answers, with the weights that they have here."""


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
    compiled: bool | None = None,
    device: str | None = None,
) -> Iterator[AnswerLikelihood]:
    """The likelihood of answers; threads end with the context.

    Parameters
    ----------
    choices
        At least one.
    length, alpha
        How the length of a side grows with the distance of its ends.
    n_threads, compiled
        As in `open_work`.
    device : str, optional
        A GPU, as `ChoiceMap` takes it.
    """
    opened = open_device(device)
    if opened is not None:
        work = Work.of(choices.n_comparisons, compiled=False)
        with opened.opened():
            found = AnswerLikelihood(choices, work, opened, on_device=True)
            yield found.measuring(length, alpha)
        return
    with open_work(choices.n_comparisons, n_threads, compiled) as work:
        yield AnswerLikelihood(choices, work).measuring(length, alpha)


class _Sides:
    """The sides of answers as numbered pairs, each worked out when it is first needed."""

    def __init__(self, choices: Choices, work: Work, device: Device) -> None:
        self._choices, self._work, self._device = choices, work, device

    @cached_property
    def _numbered(self) -> tuple[Ruler, IntArray, list[Int32Array]]:
        kind, n = self._choices.kind, self._choices.n_objects
        codes = [pair_code(i, j, n) for i, j in sides(kind, self._choices.triples)]
        pairs, (chosen, *others) = number_pairs(codes, n)
        start = np.searchsorted(chosen, np.arange(len(pairs) + 1)).astype(np.int64)
        ruler = make_ruler(pairs, self._work, self._device)
        return ruler, start, [other.astype(np.int32) for other in others]

    @property
    def ruler(self) -> Ruler:
        """Measures the pairs."""
        return self._numbered[0]

    @property
    def start(self) -> IntArray:
        """(P + 1,): answers ``start[q]`` to ``start[q + 1]`` choose the pair ``q``."""
        return self._numbered[1]

    @property
    def others(self) -> tuple[Int32Array, Int32Array]:
        """The pairs that were not chosen; the second array is empty where there is only one."""
        first, *rest = self._numbered[2]
        return first, rest[0] if rest else np.empty(0, np.int32)

    @property
    def n_pairs(self) -> int:
        """Pairs that are a side of an answer."""
        return len(self.start) - 1

    @cached_property
    def numbers(self) -> Any:
        """(2 or 3, M): the pairs of every answer, the chosen one first; on the device."""
        chosen = np.repeat(np.arange(self.n_pairs), np.diff(self.start))
        return self._device.put(np.stack([chosen, *self._numbered[2]]))

    @cached_property
    def entries(self) -> tuple[Any, Any, Any]:
        """Where the information of each answer goes in the matrix of pairs."""
        xp, k, n_pairs = self._device.xp, len(self.numbers), self.n_pairs
        rows = xp.repeat(self.numbers[:, None], k, axis=1).ravel()
        columns = xp.repeat(self.numbers[None], k, axis=0).ravel()
        codes, entries = xp.unique(rows * n_pairs + columns, return_inverse=True)
        return entries, codes // n_pairs, codes % n_pairs

    @cached_property
    def room(self) -> tuple[list[int], FloatArray]:
        """Where the compiled loops cut the pairs, and where each part works, (parts, P, 2).

        Of very many pairs there are few parts: each works with a copy of all.
        """
        number = min(len(self._work.parts), max(_ROOM // max(self.n_pairs, 1), _FEWEST_PARTS))
        by_answers = np.linspace(0, int(self.start[-1]), number + 1)[1:-1]
        cuts = np.searchsorted(self.start, by_answers).tolist()
        return [0, *cuts, self.n_pairs], np.empty((number, self.n_pairs, 2))


class AnswerLikelihood(Likelihood):
    """The likelihood of answers about the places themselves."""

    def __init__(
        self,
        choices: Choices,
        work: Work,
        device: Device = ON_PROCESSOR,
        *,
        on_device: bool = False,
    ) -> None:
        self.choices, self.weight, self.on_device = choices, choices.weight, on_device
        self._work, self._device = work, device
        self._sides = _Sides(choices, work, device)
        self._what = f"{len(choices):,} different answers about {choices.n_objects:,} objects"
        with device.working(self._what):
            self._weight = device.put(choices.weight)

    def part(self, rows: IntArray) -> AnswerLikelihood:
        triples, weight = self.choices.triples[rows], self.weight[rows]
        choices = replace(self.choices, triples=triples, weight=weight, row=None)
        # where the whole is compiled, nothing waits for a compiler any more
        work = Work.of(choices.n_comparisons, self._work.each, self._work.compiled)
        some = AnswerLikelihood(choices, work, self._device, on_device=self.on_device)
        return some.measuring(self.length, self.alpha)

    def weighing(self, weight: FloatArray) -> Self:
        other = super().weighing(weight)
        with self._device.working(self._what):
            other._weight = self._device.put(weight)
        return other

    def __call__(self, X: FloatArray, lapse: FloatArray) -> tuple[float, FloatArray, float]:
        with self._device.working(self._what):
            places, ruler = self._device.put(X), self._sides.ruler
            u = self.sign * ruler.measure(places, self.length, self.alpha)
            if self._work.compiled and np.ptp(u) <= ODDS_RANGE:
                loss, pulls, of_lapse = self._by_loops(u, lapse)
            else:
                loss, pulls, of_lapse = self._by_arrays(u, self._device.put(lapse))
            gradient = ruler.gradient(places, self.sign * pulls)
            return float(loss), self._device.get(gradient), float(of_lapse)

    def _by_loops(self, u: FloatArray, lapse: FloatArray) -> tuple[Any, Any, Any]:
        """-log P, and its slopes in the logarithms of the pairs' odds and in the lapses."""
        from trilens.maps import _kernels

        odds, start = np.exp(u - u.mean()), self._sides.start
        second, third = self._sides.others
        cuts, room = self._sides.room

        def choose(k: int) -> tuple[float, float]:
            span = cuts[k], cuts[k + 1]
            return _kernels.choose_odds(
                odds, second, third, self.weight, start, lapse, *span, room[k]
            )

        parts = list(self._work.each(choose, range(len(room))))
        loss, of_lapse = (sum(each) for each in zip(*parts, strict=True))
        return loss, room[:, :, 1].sum(axis=0), of_lapse

    def _by_arrays(self, u: Any, lapse: Any) -> tuple[Any, Any, Any]:
        """The same, whatever the range of the odds."""
        xp, loss, of_lapse, found = self._device.xp, 0.0, 0.0, self._sides
        pulls: Any = 0.0
        for start in range(0, len(self.choices), _CHUNK):
            part = slice(start, start + _CHUNK)
            sides, weight = found.numbers[:, part], self._weight[part]
            W = self._chances(u, sides)
            share = lapse if len(lapse) == 1 else lapse[part]
            # Where even the logarithm of a chance would vanish, it is the least that can be said.
            P, slope, pull = mixture(xp.maximum(W[0], LEAST), 1.0, share, 1.0 / len(W))
            # Not a scalar product: BLAS would wake its threads for it, at many times the cost.
            loss -= (weight * xp.log(P)).sum()
            of_lapse += (weight * slope).sum()
            W[0] -= 1.0
            W *= weight * pull
            pulls += xp.bincount(sides.ravel(), W.ravel(), found.n_pairs)
        return loss, pulls, of_lapse

    def _chances(self, u: Any, sides: Any) -> Any:
        """The probability of each side of answers, from the logarithms of the pairs' odds."""
        xp, top = self._device.xp, u.max()
        if top - u.min() > ODDS_RANGE:
            own = u[sides]
            W = xp.exp(own - own.max(axis=0))
        else:
            W = xp.exp(u - top)[sides]
        W /= W.sum(axis=0)
        return W

    def information(self, X: FloatArray, lapse: FloatArray, *, whole: bool = True) -> FloatArray:
        if self._work.compiled or not whole:
            copies = np.arange(len(X)), np.ones_like(X), len(X)
            return self.information_of_copies(X, lapse, whole, *copies)
        with self._device.working(self._what):
            H = self._information_by_arrays(self._device.put(X), self._device.put(lapse))
            return self._device.get(H)

    def information_of_copies(
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
            *self._kernel_model,
            whole,
            place,
            stretch,
            H,
        )
        return H + H.T if whole else H.reshape(n, d, d)

    def _information_by_arrays(self, X: Any, lapse: Any) -> Any:
        xp, csr, found = self._device.xp, self._device.sparse.csr_matrix, self._sides
        n_pairs, (n, d) = found.n_pairs, X.shape
        assert isinstance(found.ruler, ArrayRuler)
        ruler = found.ruler
        step = ruler.steps(X)
        v, slope = lengths(xp.einsum("pk,pk->p", step, step), self.length, self.alpha)
        W = self._chances(self.sign * v, found.numbers)
        third = W[2] if len(W) == 3 else xp.zeros(W.shape[1])
        F = xp.stack(information_of_answer(W[0], W[1], third, lapse, 1.0 / len(W)))
        F *= self._weight
        entries, rows, columns = found.entries
        own = F[[ENTRY[i][j] for i in range(len(W)) for j in range(len(W))]]
        data = xp.bincount(entries, own.ravel(), len(rows))
        B = csr((data, (rows, columns)), shape=(n_pairs, n_pairs))
        moves = (2 * self.sign * slope)[:, None] * step
        ends = xp.stack([ruler.first, ruler.second], axis=1)[:, :, None] * d + xp.arange(d)
        J = csr(
            (
                xp.stack([moves, -moves], axis=1).ravel(),
                (xp.repeat(xp.arange(n_pairs), 2 * d), ends.ravel()),
            ),
            shape=(n_pairs, n * d),
        )
        return (J.T @ (B @ J)).toarray()

    def products(self, X: FloatArray, lapse: FloatArray) -> Products:
        from trilens.maps import _kernels

        work, triples = self._work, self.choices.triples
        cuts = work.cuts(len(self.choices))
        terms = np.empty((len(triples), 6), dtype=np.float32)
        X = np.ascontiguousarray(X)
        narrow = X.astype(np.float32)

        def prepare(k: int) -> None:
            span = cuts[k], cuts[k + 1]
            _kernels.information_terms(
                X, triples, self.weight, lapse, *self._kernel_model, *span, terms
            )

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

    @property
    def _kernel_model(self) -> tuple[int, float, float, bool]:
        from trilens.maps import _kernels

        return _kernels.LENGTHS[self.length], self.alpha, self.sign, self.n_sides == 3
