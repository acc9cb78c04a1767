"""Raters who weigh the dimensions of one map differently: their weights, and what they make likely.

Rater r sees every coordinate in dimension d multiplied by exp(t_r + u_rd): t_r is the logarithm
of the rater's sharpness, u_rd that of the weight on the dimension, as in INDSCAL (Carroll and
Chang, 1970). So each rater has a copy of the map, and an answer is one about copies: the
likelihood of a map with weights is that of any map, with the copies for objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.kinds import n_answers, sides
from trilens.maps.features import FeaturePrior
from trilens.maps.likelihood import (
    ENTRY,
    AnswerLikelihood,
    Likelihood,
    LikelihoodAround,
    Products,
    collect_choices,
    information_of_answer,
    likelihood,
)
from trilens.maps.map import Map
from trilens.maps.pairs import Length, lengths
from trilens.maps.raters import group_raters, places_of_raters
from trilens.statements import Statements


@dataclass(frozen=True, eq=False)
class RaterWeights:
    """How each rater of a fitted map sees it."""

    #: The raters.
    names: list[object]
    #: (R, d): what each rater multiplies each dimension by; of every column the geometric mean is
    #: 1.
    weights: FloatArray
    #: (R,): what each rater multiplies all dimensions by besides; the geometric mean is 1.
    sharpness: FloatArray
    #: (d,): the standard deviation of the logarithms of the weights that was learned.
    spread: FloatArray
    #: That of the logarithms of the sharpness.
    sharpness_spread: float
    #: (R,).
    lapses: FloatArray

    @property
    def stretch(self) -> FloatArray:
        """(R + 1, d): what each rater multiplies the coordinates by; the last row is all 1."""
        own = self.weights * self.sharpness[:, None]
        return np.vstack([own, np.ones(self.weights.shape[1])])

    def rows_of(self, statements: Statements) -> IntArray:
        """The row of ``stretch`` for each statement; the last where its rater is not known."""
        groups, nobody = group_raters(statements), len(self.names)
        if groups is None:
            return np.full(len(statements), nobody)
        found = np.array([*places_of_raters(groups.names, self.names), -1], dtype=np.int64)
        return np.where(found < 0, nobody, found)[groups.of]

    def probabilities(self, model: Map, statements: Statements) -> FloatArray:
        """As `Map.probabilities`, of the rater of each statement."""
        triples, rows = model.triples_of(statements), self.rows_of(statements)
        lapses = np.append(self.lapses, model.lapse)
        out = np.empty((len(triples), n_answers(model.kind)))
        for r in np.unique(rows):
            seen = replace(model, X=model.X * self.stretch[r], lapse=float(lapses[r]))
            out[rows == r] = seen.chances(triples[rows == r])
        return out


class RaterCopies:
    """The objects as raters see them: a copy for each rater who was asked about one.

    Parameters
    ----------
    rater : (m,) array of int
        Who gave each answer; ``n_raters`` where nobody knows.
    """

    def __init__(self, statements: Statements, rater: IntArray, n_raters: int) -> None:
        from scipy.sparse import csr_array

        n = statements.n_objects
        codes = rater[:, None] * n + statements.triples.astype(np.int64)
        different, number = np.unique(codes, return_inverse=True)
        #: Of every copy.
        self.rater, self.object = np.divmod(different, n)
        self.n_raters, self.n_objects = n_raters, n
        #: The same statements, about copies.
        self.statements = Statements(
            number.reshape(codes.shape).astype(np.int32), len(different), kind=statements.kind
        )
        ones, every = np.ones(len(different)), np.arange(len(different))
        self._add_objects = csr_array((ones, (self.object, every)), shape=(n, len(every)))
        self._add_raters = csr_array((ones, (self.rater, every)), shape=(n_raters + 1, len(every)))

    def added(self, V: AnyArray) -> AnyArray:
        """(n, d, K): vectors of the copies, (copies, d, K), added up for each object."""
        _, d, K = V.shape
        return np.asarray(self._add_objects @ V.reshape(-1, d * K)).reshape(-1, d, K)

    def slopes(
        self, G: FloatArray, Y: FloatArray, own: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """From the slopes in the copies' coordinates Y those in the map's and in log stretch."""
        in_map: FloatArray = np.asarray(self._add_objects @ (G * own))
        in_raters: FloatArray = np.asarray(self._add_raters @ (G * Y))
        return in_map, in_raters[: self.n_raters]


class WeighedLikelihood(LikelihoodAround):
    """Answers of raters, each of whom sees the map stretched in a way of their own.

    Parameters
    ----------
    answers : Likelihood
        Of the statements about copies.
    stretch : (R + 1, d) array of float, optional
        Needed for everything but `slopes`.
    prior : FeaturePrior, optional
        In the coordinates of which everything is.
    """

    turns_freely = False
    _answers: AnswerLikelihood

    def __init__(
        self,
        answers: AnswerLikelihood,
        copies: RaterCopies,
        stretch: FloatArray | None = None,
        prior: FeaturePrior | None = None,
    ) -> None:
        self._answers, self.copies, self.prior = answers, copies, prior
        self.choices = replace(answers.choices, n_objects=copies.n_objects)
        self.weight = answers.weight
        self.length, self.alpha = answers.length, answers.alpha
        #: Who gave each answer.
        self.rater = copies.rater[answers.choices.triples[:, 0]]
        self._own = None if stretch is None else stretch[copies.rater]

    @property
    def n_questions(self) -> int:
        of_objects = self.copies.object[self.choices.triples]
        return replace(self.choices, triples=of_objects).n_questions

    def stretched(self, stretch: FloatArray) -> WeighedLikelihood:
        """The same answers of raters who see the map in another way."""
        return WeighedLikelihood(self._answers, self.copies, stretch, self.prior)

    def levelled(self, stretch: FloatArray) -> tuple[WeighedLikelihood, FloatArray]:
        """The likelihood of coordinates times a scale, and the scale, (d,).

        These are as large as raters see them on the average (of their squares), so that a
        penalty of them is one of what raters see.
        """
        scale = np.sqrt((stretch[:-1] ** 2).mean(axis=0))
        return self.stretched(stretch / scale), scale

    def part(self, rows: IntArray) -> Likelihood:
        some = WeighedLikelihood(self._answers.part(rows), self.copies, None, self.prior)
        some._own = self._own
        return some

    def __call__(self, X: FloatArray, lapse: FloatArray) -> tuple[float, FloatArray, float]:
        loss, in_map, _, of_lapse = self._all_slopes(X, self._own, lapse)
        return loss, in_map, of_lapse

    def _all_slopes(
        self, X: FloatArray, own: FloatArray | None, lapse: FloatArray
    ) -> tuple[float, FloatArray, FloatArray, float]:
        assert own is not None
        Y = self.places(X)[self.copies.object] * own
        loss, G, of_lapse = self._answers(Y, lapse)
        in_map, in_raters = self.copies.slopes(G, Y, own)
        return (
            loss,
            in_map if self.prior is None else self.prior.slopes(in_map),
            in_raters,
            of_lapse,
        )

    def _copied(self, X: FloatArray) -> FloatArray:
        """The coordinates of the copies."""
        assert self._own is not None
        return np.asarray(self.places(X)[self.copies.object] * self._own)

    def slopes(
        self, X: FloatArray, stretch: FloatArray, lapse: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """-log likelihood, its slopes in the map and in the raters' logarithms, (R, d)."""
        return self._all_slopes(X, stretch[self.copies.rater], lapse)[:3]

    def information(self, X: FloatArray, lapse: FloatArray, *, whole: bool = True) -> FloatArray:
        assert self._own is not None
        of_copies = self.copies.object, self._own, self.copies.n_objects
        H = self._answers.information_of_copies(self._copied(X), lapse, whole, *of_copies)
        return H if self.prior is None else self.prior.information(H)

    def products(self, X: FloatArray, lapse: FloatArray) -> Products:
        assert self._own is not None
        copies, own = self.copies, self._own.astype(np.float32)[:, :, None]
        times = self._answers.products(self._copied(X), lapse)

        def added(V: AnyArray) -> AnyArray:
            return copies.added(own * times(own * np.asarray(V, np.float32)[copies.object]))

        return added

    def of_places(self) -> Likelihood:
        other = copy(self)
        other.prior = None
        return other

    def chances(self, X: FloatArray) -> FloatArray:
        """(2 or 3, M): of every possible answer, the given one first, had it been attentive."""
        return self._sides(X)[0]

    def of_raters(self, X: FloatArray, lapse: FloatArray) -> FloatArray:
        """The Fisher information of each rater's logarithms as if the map were known, (R, d, d)."""
        p, J = self._sides(X)
        third = p[2] if len(p) == 3 else np.zeros_like(p[0])
        F = np.stack(information_of_answer(p[0], p[1], third, lapse, 1.0 / len(p))) * self.weight
        order = np.argsort(self.rater, kind="stable")
        cuts = np.searchsorted(self.rater[order], np.arange(self.copies.n_raters + 1))
        H = np.zeros((self.copies.n_raters, X.shape[1], X.shape[1]))
        for r in range(len(H)):
            rows = order[cuts[r] : cuts[r + 1]]
            own = [slopes[rows] for slopes in J]
            for a in range(len(own)):
                bent = sum(F[ENTRY[a][b], rows, None] * own[b] for b in range(len(own)))
                H[r] += own[a].T @ bent
        return H

    def _sides(self, X: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """The chance of every side, and the slopes of its log odds in its rater's logarithms."""
        Y = self._copied(X)
        ends = sides(self.choices.kind, self.choices.triples)
        u, J = np.empty((len(ends), len(self.choices))), []
        for k, (i, j) in enumerate(ends):
            squares = (Y[i] - Y[j]) ** 2
            v, slope = lengths(squares.sum(axis=1), self.length, self.alpha)
            u[k] = self.sign * v
            squares *= (2 * self.sign * slope)[:, None]
            J.append(squares)
        p = np.exp(u - u.max(axis=0))
        p /= p.sum(axis=0)
        return p, J


@contextmanager
def weighed_likelihood(
    statements: Statements,
    weights: FloatArray | None,
    rater: IntArray,
    n_raters: int,
    length: Length = "distance",
    alpha: float = 1.0,
    n_threads: int | None = None,
    prior: FeaturePrior | None = None,
) -> Iterator[WeighedLikelihood]:
    """The likelihood of answers of raters, which nobody has stretched yet; as `likelihood`."""
    copies = RaterCopies(statements, rater, n_raters)
    choices = collect_choices(copies.statements, weights, keep_rows=True)
    with likelihood(choices, length, alpha, n_threads) as answers:
        yield WeighedLikelihood(answers, copies, None, prior)
