"""Which answers go together beyond what is expected of each: raters compared without a map.

An answer chooses one side of a triangle. What it says beyond the expected is laid on that side
and its two ends, and the answers of a rater are added up. Raters who see the same things point in
the same direction, and one who sees anything at all points in the same direction again and again.
For weak signals this is the most powerful test against "nothing but the expected" if sides that
share an object are correlated (the score test of a variance component; le Cessie and
van Houwelingen, 1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from trilens._typing import FloatArray, IntArray
from trilens.kinds import n_answers, sides
from trilens.maps.likelihood import object_order
from trilens.statements import Statements
from trilens.statements.combine import side_pairs

#: The correlation of the lengths of two sides that share an object.
_SHARED = 0.15
#: Guesses that are drawn to find out what they look like.
_DRAWN, _FEWER_DRAWN = 999, 99
#: Fewer are drawn where these and the answers multiply to more.
_MOST_WORK = 20_000_000
#: Careful raters that are looked at for comparison.
_MOST_CAREFUL = 60


@dataclass(frozen=True, eq=False)
class Excess:
    """What the answers of each rater, 0 ... n_raters - 1, say beyond what is expected."""

    statements: Statements
    rater: IntArray
    n_raters: int
    #: (m, c): the probability of each answer, that of the given one first.
    expected: FloatArray

    @cached_property
    def _features(self) -> Any:
        """(m c, p + n) sparse: the side of each possible answer, and the ends of that side."""
        from scipy.sparse import csr_array

        n = self.statements.n_objects
        ends = sides(self.statements.kind, self.statements.triples.astype(np.int64))
        i, j = (np.stack(end, axis=1).ravel() for end in zip(*ends, strict=True))
        pair = side_pairs(self.statements).ravel()
        columns = np.stack([i, j, n + pair], axis=1).ravel()
        end, side = np.sqrt(_SHARED), np.sqrt(1 - 2 * _SHARED)
        values = np.tile([end, end, side], len(i))
        return csr_array(
            (values, columns, np.arange(0, 3 * len(i) + 1, 3)),
            shape=(len(i), n + int(pair.max()) + 1),
        )

    def _added(self, beyond: FloatArray, rater: IntArray) -> Any:
        """(R, p + n) sparse: what each rater's answers add up to."""
        from scipy.sparse import csr_array

        c = beyond.shape[1]
        at = (np.repeat(rater, c), np.arange(beyond.size))
        return csr_array((beyond.ravel(), at), shape=(self.n_raters, beyond.size)) @ self._features

    @cached_property
    def _given(self) -> FloatArray:
        beyond = -self.expected
        beyond[:, 0] += 1.0
        return beyond

    def _alone(self, beyond: FloatArray) -> FloatArray:
        """(m,): the inner product of each answer with itself.

        The sides of one triangle share an object each, and what is beyond adds up to zero.
        """
        return np.asarray((1 - _SHARED) * (beyond**2).sum(axis=1))

    @cached_property
    def directions(self) -> Any:
        """(R, p + n) sparse: where each rater's answers point."""
        return self._added(self._given, self.rater)

    @cached_property
    def affinity(self) -> FloatArray:
        """(R, R): the sum over pairs of answers, one of each rater, of what they have in common.

        On the diagonal over pairs of different answers. Expected to be 0 where answers
        are as expected.
        """
        found = np.asarray((self.directions @ self.directions.T).todense(), dtype=np.float64)
        alone = np.bincount(self.rater, self._alone(self._given), self.n_raters)
        found[np.diag_indices(self.n_raters)] -= alone
        return found

    def permuted_totals(
        self, within: IntArray, permutations: int, rng: np.random.Generator
    ) -> FloatArray:
        """The sum of the diagonal of the affinities, if raters are exchanged within parts."""
        alone = float(self._alone(self._given).sum())
        order = np.argsort(within, kind="stable")
        found = np.empty(permutations)
        for k in range(permutations):
            shuffled = np.lexsort((rng.random(len(within)), within))
            rater = np.empty_like(self.rater)
            rater[order] = self.rater[shuffled]
            added = self._added(self._given, rater)
            found[k] = float(added.multiply(added).sum()) - alone
        return found


@dataclass(frozen=True, eq=False)
class Sense:
    """Whether the answers of some raters are more than guesses, whatever others answer."""

    #: (R,): by how many standard deviations answers go together more than guesses would.
    own: FloatArray
    #: (R,): how likely guesses would go together as much, among themselves or with the answers of
    #: the other raters given; and the same of all raters together.
    p_value: FloatArray
    p_of_all: float


def sense_of(
    statements: Statements, rater: IntArray, n_raters: int, seed: int = 0, draws: int = _DRAWN
) -> Sense:
    """Test each rater against guesses, all answers to a question being equally likely.

    Two tests, of which the better counts (twice): whether the rater's answers go together with
    each other, and whether they do with those of the other raters given. These count the more
    the more they go together with each other, the rater in question left aside, so that the
    tests are exact.
    """
    from scipy.sparse import csr_array

    statements, rater = _in_order(statements, rater)
    c = n_answers(statements.kind)
    draws = max(min(draws, _MOST_WORK // max(len(statements), 1)), _FEWER_DRAWN)
    even = np.full((len(statements), c), 1 / c)
    found = Excess(statements, rater, n_raters, even)
    A = found.affinity
    own = np.diag(A).copy()
    cross = A - np.diag(own)
    rng = np.random.default_rng([seed, 31])
    drawn_own = np.empty((draws, n_raters))
    drawn_cross = np.empty((draws, n_raters))
    drawn_all = np.empty((draws, 1))
    weights = _weights(own, cross, found)
    others = csr_array(weights) @ found.directions
    alone = np.bincount(rater, found._alone(found._given), n_raters)
    m = len(statements)
    for k in range(draws):
        guessed = np.full((m, c), -1 / c)
        guessed[np.arange(m), rng.integers(c, size=m)] += 1.0
        added = found._added(guessed, rater)
        drawn_own[k] = np.asarray(added.multiply(added).sum(axis=1)).ravel() - alone
        drawn_all[k] = (np.asarray(added.sum(axis=0)) ** 2).sum() - alone.sum()
        drawn_cross[k] = np.asarray(added.multiply(others).sum(axis=1)).ravel()
    together = (weights * A).sum(axis=1) - np.diag(weights) * own
    by_self = _share_above(own, drawn_own)
    by_others = np.where(weights.any(axis=1), _share_above(together, drawn_cross), 1.0)
    spread = np.maximum(drawn_own.std(axis=0), 1e-12)
    of_all = _share_above(np.array([A.sum()]), drawn_all)
    return Sense(
        own=own / spread,
        p_value=np.minimum(1.0, 2 * np.minimum(by_self, by_others)),
        p_of_all=float(of_all[0]),
    )


def _in_order(statements: Statements, rater: IntArray) -> tuple[Statements, IntArray]:
    """The answers in an order that does not depend on how they and the objects were given."""
    rank = np.argsort(object_order(statements._names, statements.n_objects))
    order = np.lexsort((*rank[statements.triples].T, rater))
    return statements.take(order), rater[order]


def _weights(own: FloatArray, cross: FloatArray, found: Excess) -> FloatArray:
    """(R, R): how much each other rater counts for a rater, who has no say in it."""
    R = len(own)
    answers = np.maximum(np.bincount(found.rater, minlength=R), 1)
    # without the rater of the row: what the rater of the column has in common with all others
    total = own / 2 + cross.sum(axis=0) - cross
    weights = np.maximum(total, 0.0) / answers
    np.fill_diagonal(weights, 0.0)
    most = weights.max(axis=1, keepdims=True)
    return np.asarray(np.divide(weights, most, out=np.zeros_like(weights), where=most > 0))


def _share_above(value: FloatArray, drawn: FloatArray) -> FloatArray:
    return np.asarray((1 + (drawn >= value).sum(axis=0)) / (1 + len(drawn)))


def usual_sense(statements: Statements, rater: IntArray, n_raters: int, seed: int = 0) -> float:
    """`Sense.own` of careful raters by their number of answers, with which it grows."""
    few = np.arange(n_raters)[:: -(-n_raters // _MOST_CAREFUL)]
    rows = np.flatnonzero(np.isin(rater, few))
    some, of = statements.take(rows), np.searchsorted(few, rater[rows])
    own = sense_of(some, of, len(few), seed, _FEWER_DRAWN).own
    return float(np.mean(own / np.bincount(of)))
