"""How central the objects of a streamed map are, and which of them may be the most central one.

Up to a thousand objects are compared one by one, as those of a map in memory are. Of more, the
depth is a smooth function of the place, its highest point is surrounded by objects, and so many
comparisons would leave nearly all objects in the set. There an object may be the most central
one if its place, within the ellipse of its error, reaches where it would be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._typing import BoolArray, FloatArray
from trilens.kinds import sign
from trilens.maps.choice_model import ChoiceModel
from trilens.questions.model import pair_dispersion

if TYPE_CHECKING:
    from trilens.maps.streamed import StreamedMap
    from trilens.maps.streamed_errors import MapErrors

#: Up to so many objects, each is compared with each.
_FEW = 1000
#: Up to so many objects, all triples are looked at, in every copy.
_ALL_TRIPLES_OBJECTS = 150
#: Pairs of others by which the depth of every object is told, and its slopes are.
_PAIRS, _PAIRS_OF_SLOPES = 2000, 400
#: Pairs, or others, for the objects near the most central place: so many, or as many as this
#: work allows.
_MOST_PAIRS, _MOST_WORK = 10_000, 300_000_000
#: Objects whose best one is looked for in every copy.
_BEST = 1000
#: Standard errors beyond which an object cannot reach the most central place.
_OUT = 12.0
#: Statements by which it is seen whether answers about the same pair pull together.
_PAIRED = 200_000


@dataclass(frozen=True, eq=False)
class _Rivals:
    """Scores, how they deviate in copies, and standard deviations of further errors."""

    score: FloatArray
    deviation: FloatArray
    bias: FloatArray


@dataclass(frozen=True, eq=False)
class StreamedDepth:
    """Depth by a streamed map, mended by what it leaves over, as `AssistedDepth` is.

    Attributes
    ----------
    placed : StreamedMap
        Of the choice model.
    """

    placed: StreamedMap

    @cached_property
    def _errors(self) -> MapErrors:
        found = self.placed.errors
        assert found is not None, "a lens map has no errors"
        return found

    @property
    def _n(self) -> int:
        return self.placed.counts.n_objects

    @cached_property
    def dispersion(self) -> float:
        """See `trilens.questions.model.pair_dispersion`."""
        from trilens.statements import Statements

        rows = self._errors.sample
        some = rows[:: max(1, len(rows) // _PAIRED)]
        counts = self.placed.counts
        return pair_dispersion(
            self.placed.model, Statements(some, counts.n_objects, kind=counts.kind)
        )

    @cached_property
    def scale(self) -> float:
        """What deviations of copies are to be multiplied with."""
        from scipy.special import ndtri, stdtrit

        E = self._errors
        scale, freedom = np.sqrt(max(self.dispersion, 1.0)), len(E.copies)
        if E.clusters == "rater":
            scale *= np.sqrt(E.n_raters / (E.n_raters - 1))
            freedom = min(freedom, E.n_raters - 1)
        return float(scale * stdtrit(freedom, 0.95) / ndtri(0.95))

    @cached_property
    def depth(self) -> FloatArray:
        """Of every object; 0 for one that no answer could single out, (n,)."""
        score = self._by_depth.score if self._n <= _FEW else self._own + self._mended[0]
        asked = self.placed.counts.central.appears > 0
        return np.where(asked, np.clip(score, 0.0, 1.0), 0.0)

    @cached_property
    def error(self) -> FloatArray:
        """The standard error of the depth of every object, (n,)."""
        if self._n <= _FEW:
            found = self._by_depth
            spread: FloatArray = np.sqrt((found.deviation**2).mean(axis=0) + found.bias**2)
            return self.scale * spread
        return np.asarray(self.scale * np.sqrt(self._slopes[1] + self._mended[1] ** 2))

    def medoid_set(self, level: float) -> BoolArray:
        """The objects that may be the deepest one, or the nearest one to all others; (n,)."""
        if self._n > _FEW:
            return self._may_reach(True, level) | self._may_reach(False, level)
        from trilens.questions.medoid import plausible_largest

        inside = np.zeros(self._n, dtype=np.bool_)
        for one in (self._by_depth, self._by_distance):
            deviation = self.scale * one.deviation
            inside |= plausible_largest(one.score, deviation, level, self.placed.seed, one.bias)
        return inside

    def level_with(self, best: int) -> BoolArray:
        """The objects whose depth is within one standard error of the difference; (n,)."""
        if self._n <= _FEW:
            moved = self._by_depth.deviation
            error = self.scale * np.sqrt(((moved - moved[:, [best]]) ** 2).mean(axis=0))
        else:
            error = np.hypot(self.error, self.error[best])
        found: BoolArray = np.abs(self.depth - self.depth[best]) <= error
        found[best] = False
        return found

    # ---- few objects: each is compared with each -------------------------------------------

    @cached_property
    def _by_depth(self) -> _Rivals:
        n, M = self._n, self.placed.model
        pairs = None if n <= _ALL_TRIPLES_OBJECTS else _PAIRS
        own = M.depth(pairs, self.placed.seed).depth
        moved = np.array([c.depth(pairs, self.placed.seed).depth for c in self._copies]) - own
        E = self._errors
        counted, bias = self._composite(moved.var(axis=0))
        # what was counted is expected to move as the depth does: what is left of both moves
        deviation = (1 - counted) * moved + counted * E.left_copies
        return _Rivals(own + moved.mean(axis=0) + counted * E.left, deviation, bias)

    @cached_property
    def _by_distance(self) -> _Rivals:
        from trilens.maps.geometry import total_distance

        def nearness(X: FloatArray) -> FloatArray:
            total = total_distance(X)
            return -total / max(float(total.mean()), 1e-300)

        near = nearness(self.placed.embedding)
        moved = np.array([nearness(copy.embedding) for copy in self._copies]) - near
        return _Rivals(near, moved, np.zeros(self._n))

    @cached_property
    def _copies(self) -> list[ChoiceModel]:
        M = self.placed.model
        return [
            ChoiceModel(M.embedding + moved, M.lapse, M.kind)
            for moved in self._errors.copies.astype(np.float64)
        ]

    def _composite(self, by_copies: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The weight of what was counted (Fay and Herriot, 1979), and what may be left of misfit.

        See `AnswerModel.assisted`.
        """
        E = self._errors
        seen = np.isfinite(E.left_variance)
        excess = (E.left**2 - E.left_variance)[seen]
        # chance alone makes the mean excess vary by about this much
        chance = 2 * float(excess.std()) / np.sqrt(max(len(excess), 1)) if seen.any() else 0.0
        misfit = float(excess.mean()) if seen.any() else 0.0
        misfit = misfit if misfit > chance or self._n <= _FEW else 0.0
        by_model = by_copies + max(misfit, 0.0)
        both = by_model + E.left_variance
        counted = np.divide(by_model, both, out=np.zeros(self._n), where=np.isfinite(both))
        return counted, (1 - counted) * np.sqrt(max(misfit, 0.0))

    # ---- very many objects: depth is a function of the place -------------------------------

    def _pairs(self, number: int) -> tuple[FloatArray, FloatArray]:
        rng = np.random.default_rng([self.placed.seed, 43])
        one = rng.integers(self._n, size=number)
        two = (one + rng.integers(1, self._n, size=number)) % self._n
        return self.placed.embedding[one], self.placed.embedding[two]

    def _score_at(self, by_depth: bool, number: int) -> Callable[[FloatArray], FloatArray]:
        """Depth, or minus the mean distance, of places; by so many pairs of objects."""
        from trilens.maps import _kernels

        kind = self.placed.counts.kind
        one, two = self._pairs(number)

        def score(places: FloatArray) -> FloatArray:
            found = np.empty(len(places))
            if not by_depth:
                _kernels.mean_distances_at(places, one, found)
                return -found
            _kernels.shares_at(places, one, two, kind == "closer", float(sign(kind)), found)
            return 1 - found if kind == "odd" else found

        return score

    @cached_property
    def _own(self) -> FloatArray:
        return self._score_at(True, _PAIRS)(self.placed.embedding)

    @cached_property
    def _slopes(self) -> tuple[FloatArray, FloatArray]:
        """How much the depth of each object is expected to fall, and the variance by its place."""
        score = self._score_at(True, _PAIRS_OF_SLOPES)
        X, C = self.placed.embedding, self._errors.places
        middle = score(X)
        shift, variance = np.zeros(self._n), np.zeros(self._n)
        values, axes = np.linalg.eigh(C)
        for a in range(X.shape[1]):
            way = np.sqrt(np.maximum(values[:, a], 0.0))[:, None] * axes[:, :, a]
            above, below = score(X + way), score(X - way)
            variance += ((above - below) / 2) ** 2
            shift += (above + below) / 2 - middle
        return shift, variance

    @cached_property
    def _mended(self) -> tuple[FloatArray, FloatArray]:
        """What is added to the depth on the map, and the standard deviation of that."""
        E = self._errors
        shift, variance = self._slopes
        counted, bias = self._composite(variance)
        left = np.where(np.isfinite(E.left_variance), E.left_variance, 0.0)
        return shift + counted * E.left, np.sqrt(bias**2 + counted**2 * left)

    def _may_reach(self, by_depth: bool, level: float) -> BoolArray:
        """The objects whose place may be that of the highest score.

        The true place of the most central object is within the ellipse of its error with the
        given probability, whichever object that is, and there the score is at least that of
        the best object. The latter is taken from the copies, less what the best of many that
        vary is too good by.
        """
        from scipy.optimize import minimize
        from scipy.special import chdtri

        E, X, d = self._errors, self.placed.embedding, self.placed.embedding.shape[1]
        rough = self._own if by_depth else self._score_at(False, _PAIRS)(X)
        fine = self._score_at(by_depth, _MOST_PAIRS)
        start = X[np.argsort(-rough)[:20]].mean(axis=0)
        size = float(X.std())

        def below(x: Any) -> float:
            return -float(fine((x * size)[None])[0])

        peak = minimize(below, np.array(start / size), method="Nelder-Mead").x * size
        away = peak - X
        inverse = np.linalg.inv(E.places)
        distance = np.sqrt(np.einsum("ni,nij,nj->n", away, inverse, away)) / self.scale
        near = np.flatnonzero(distance <= _OUT)
        if not len(near):
            return np.asarray(distance == distance.min())
        score = self._score_at(
            by_depth, int(np.clip(_MOST_WORK // len(near), _PAIRS_OF_SLOPES, _MOST_PAIRS))
        )
        reach = float(np.sqrt(chdtri(d, 1 - level)))
        share = np.minimum(1.0, reach / np.maximum(distance[near], 1e-12))
        highest = score(X[near] + share[:, None] * away[near])
        best = near[np.argsort(distance[near])[:_BEST]]
        over = score(X[best]).max()
        tops = np.array([score(X[best] + move[best]).max() for move in E.copies])
        least = float(np.quantile(tops, 0.05)) - 2 * max(float(tops.mean()) - over, 0.0)
        if by_depth:
            # what the map cannot hold, and counting tells, is on top of it
            more, unsure = self._mended
            shift = more - self._slopes[0]
            highest = highest + shift[near] + reach * unsure[near]
            least += float(np.median(shift[best]))
        inside = np.zeros(self._n, dtype=np.bool_)
        inside[near] = highest >= least
        return inside
