"""The model of the answers that the questions share: one choice map and its bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trilens._typing import FloatArray, IntArray, Progress
from trilens.maps.choice_map import ChoiceMap
from trilens.statements import Statements
from trilens.tasks.bootstrap import Bootstrap, draw_bootstrap, left_over, pair_dispersion

#: Of more statements a random part is fitted.
MOST_FITTED = 10_000_000
#: Up to so many objects the depth of a copy is the mean over all triples.
_ALL_TRIPLES_OBJECTS = 250
#: Beyond, over so many for each object, the same ones in every copy.
_COPY_TRIPLES = 1000


@dataclass(frozen=True, eq=False)
class AssistedDepth:
    """Depth by the model, mended by what the model leaves over.

    Attributes
    ----------
    depth : (n,) array
        0 for an object that no answer could single out.
    copies : (copies, n) array
        How it deviates in copies of the model.
    bias : (n,) array
        The standard deviation of what may remain of the model's misfit.
    counted : (n,) array
        The weight of what was counted, from 0 (the model alone) to 1.
    """

    depth: FloatArray
    copies: FloatArray
    bias: FloatArray
    counted: FloatArray


@dataclass(frozen=True, eq=False)
class AnswerModel:
    """A fitted choice map, and what is worked out from it when it is first needed.

    The questions take one as ``model=``; without it each fits its own, which is the same one.

    Attributes
    ----------
    statements : Statements
    map : ChoiceMap
        Fitted to the statements.
    seed : int
    """

    statements: Statements
    map: ChoiceMap
    seed: int

    @cached_property
    def appearances(self) -> IntArray:
        """Statements that name each object."""
        return self.statements.appearances

    @cached_property
    def plane(self) -> FloatArray:
        """The choice map in two dimensions, to look at; (n, 2)."""
        n = self.statements.n_objects
        found = self.map.embedding_
        if self.map.n_components_ > 2:
            # the penalty and the length that were chosen serve the plane as well
            M = self.map
            flat = ChoiceMap(2, l2=M.l2_, length=M.model_.length, random_state=self.seed)
            found = flat.fit(self.statements).embedding_
        plane = np.zeros((n, 2))
        plane[:, : found.shape[1]] = found
        return plane

    @cached_property
    def bootstrap(self) -> Bootstrap:
        """The model refitted to answers drawn anew, or to raters drawn anew where known."""
        return draw_bootstrap(self.map, self.statements, self.seed)

    @cached_property
    def resampled_maps(self) -> list[FloatArray]:
        """The map as other answers, as many as there are, might have drawn it."""
        X, shrink = self.map.embedding_, self.bootstrap.shrink
        return [X + shrink * (copy.embedding - X) for copy in self.bootstrap.models]

    @cached_property
    def dispersion(self) -> float:
        """How much more the answers vary from pair to pair than the model expects; about 1."""
        return pair_dispersion(self.map.model_, self.statements)

    @property
    def depth(self) -> FloatArray:
        """How central each object is: the expected share of questions that it wins."""
        return self.assisted.depth

    @cached_property
    def assisted(self) -> AssistedDepth:
        """How central each object is, and how sure that is.

        A map cannot hold everything that answers say: of objects in twenty dimensions a map
        in few has the wrong middle, and counting, which assumes nothing, finds it. Counting
        in turn ignores which questions an object happened to be in, which the model knows. So
        the depth of an object is the mean depth by the copies, plus a share of what is left
        over: the counted centrality less the one expected over the same questions, by copies
        that did not see the answers. The share is that of the composite estimate of Fay and
        Herriot (1979): (t + s) / (t + s + v), where v is the variance of what is left over if
        the model is right, s the variance of the depth between copies, and t how much more
        the left over vary from object to object than v.
        """
        S, copies = self.statements, self.bootstrap
        some = None if S.n_objects <= _ALL_TRIPLES_OBJECTS else _COPY_TRIPLES
        by_copy = np.array([copy.depth(some, self.seed).depth for copy in copies.models])
        own_left = left_over(self.map.predict_proba(S), S, self.map.model_.lapse)
        left, variance = own_left
        if copies.held_out is not None:
            left, variance = left_over(copies.held_out, S, copies.lapse)
        seen = np.isfinite(variance)
        misfit = max(float((left**2 - variance)[seen].mean()), 0.0) if seen.any() else 0.0
        model_variance = by_copy.var(axis=0) * copies.shrink**2 + misfit
        total = model_variance + variance
        counted = np.divide(model_variance, total, out=np.zeros(len(total)), where=total > 0)
        own = self.map.model_.depth(some, self.seed).depth
        # over all triples where the copies saw some: what these lack, the difference does not
        full = own if some is None else self.map.model_.depth(random_state=self.seed).depth
        mended = full + (by_copy - own).mean(axis=0) + counted * left
        depth = np.where(seen, np.clip(mended, 0.0, 1.0), 0.0)
        moved = by_copy - own + counted * (copies.left_over - own_left[0])
        return AssistedDepth(depth, moved, (1 - counted) * np.sqrt(misfit), counted)


def answer_model(
    statements: Statements, random_state: int = 0, progress: Progress | None = None
) -> AnswerModel:
    """Fit the model that stands behind ``method="auto"``, of very many statements to a part."""
    if len(statements) > MOST_FITTED:
        rng = np.random.default_rng([random_state, 23])
        rows = rng.choice(len(statements), MOST_FITTED, replace=False, shuffle=False)
        statements = statements.take(np.sort(rows))
    fitted = ChoiceMap(random_state=random_state).fit(statements, progress=progress)
    return AnswerModel(statements, fitted, random_state)
