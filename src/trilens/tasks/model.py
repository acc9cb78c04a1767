"""The model of the answers that the questions share: one choice map and its bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trilens._typing import FloatArray, Progress
from trilens.kinds import n_answers
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.choice_model import ChoiceModel, ResampledModels
from trilens.statements import Statements
from trilens.tasks.data import Ordered, in_order

#: Of more statements a random part is fitted.
MOST_FITTED = 10_000_000
#: Refits. What is made of them takes their deviations for Gaussian, so that few will do; of
#: many objects, where each is dear, fewer.
N_COPIES, FEWER_COPIES, _MANY_OBJECTS = 40, 20, 250
#: A copy is refitted to at most so many answers; its deviations then count for less.
COPY_ANSWERS = 50_000
#: Steps of a refit, which starts from the map of all answers.
_STEPS = 25
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
    def ordered(self) -> Ordered:
        """The statements in an order of their own."""
        return in_order(self.statements)

    @cached_property
    def in_order(self) -> AnswerModel:
        """The model of the ordered statements, with which random numbers are drawn."""
        found = self.ordered
        if found.statements is self.statements:
            return self
        return AnswerModel(
            found.statements, self.map.reordered(found.statements, found.order), self.seed
        )

    @cached_property
    def plane(self) -> FloatArray:
        """The choice map in two dimensions, to look at; (n, 2)."""
        M = self.map
        plane = np.zeros((self.statements.n_objects, 2))
        if M.n_components_ <= 2:
            plane[:, : M.n_components_] = M.embedding_
            return plane
        # what was chosen for the map serves the plane as well
        flat = ChoiceMap(2, l2=M.l2_, length=M.length_, lapses=M.lapse_, random_state=self.seed)
        return np.asarray(flat.fit(self.statements).embedding_)

    @cached_property
    def bootstrap(self) -> ResampledModels:
        """The model refitted to answers drawn anew, or to raters drawn anew where known."""
        many = self.statements.n_objects > _MANY_OBJECTS
        return self.map.bootstrap(
            self.statements,
            FEWER_COPIES if many else N_COPIES,
            max_answers=COPY_ANSWERS,
            max_iter=_STEPS,
            random_state=np.random.default_rng([self.seed, 1]),
        )

    @cached_property
    def resampled_maps(self) -> list[FloatArray]:
        """The map as other answers, as many as there are, might have drawn it."""
        X, shrink = self.map.embedding_, self.bootstrap.shrink
        return [X + shrink * (copy.embedding - X) for copy in self.bootstrap]

    @cached_property
    def dispersion(self) -> float:
        """How much more the answers vary from pair to pair than the model expects; about 1."""
        return pair_dispersion(self.map.model_, self.statements)

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
        by_copy = np.array([copy.depth(some, self.seed).depth for copy in copies])
        own_left = left_over(self.map.predict_proba(S), S, self.map.model_.lapse)
        of_copies, unseen = left_over_by_copies(copies, S)
        left, variance = own_left if unseen is None else left_over(unseen, S, copies.lapse)
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
        moved = by_copy - own + counted * (of_copies - own_left[0])
        return AssistedDepth(depth, moved, (1 - counted) * np.sqrt(misfit), counted)


def answer_model(
    statements: Statements, random_state: int = 0, progress: Progress | None = None
) -> AnswerModel:
    """Fit the model that stands behind ``method="auto"``, of very many statements to a part."""
    if len(statements) > MOST_FITTED:
        every = in_order(statements)
        rng = np.random.default_rng([random_state, 23])
        rows = rng.choice(len(statements), MOST_FITTED, replace=False, shuffle=False)
        statements = every.statements.take(np.sort(rows)).subset(every.rank)
    fitted = ChoiceMap(random_state=random_state).fit(statements, progress=progress)
    return AnswerModel(statements, fitted, random_state)


def left_over_by_copies(
    copies: ResampledModels, statements: Statements
) -> tuple[FloatArray, FloatArray | None]:
    """What each copy leaves unexplained, and what copies expect of answers they did not see.

    Returns
    -------
    unexplained : (copies, n) array
        Of the answers that the copy saw, see `left_over`.
    unseen : (m, 2 or 3) array or None
        The probability of each possible answer, as the mean over the copies that had not seen
        it; NaN where all had. None where copies see a part of the answers only: the answers
        are then so many that it makes no difference.
    """
    m, unexplained = len(statements), []
    if copies.shrink < 1:
        for copy, rows in copies.pairs():
            part = statements.take(rows)
            unexplained.append(left_over(copy.probabilities(part), part, copy.lapse)[0])
        return np.array(unexplained), None
    expected, unseen_by = np.zeros((m, n_answers(statements.kind))), np.zeros(m)
    for copy, rows in copies.pairs():
        weights = np.bincount(rows, minlength=m).astype(np.float64)
        P = copy.probabilities(statements)
        unseen = weights == 0
        expected[unseen] += P[unseen]
        unseen_by += unseen
        unexplained.append(left_over(P, statements, copy.lapse, weights)[0])
    with np.errstate(invalid="ignore"):
        return np.array(unexplained), expected / unseen_by[:, None]


def left_over(
    expected: FloatArray, statements: Statements, lapse: float, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """By how much each object was more central than expected, and the variance of that.

    Parameters
    ----------
    expected : (m, 2 or 3) array
        The probability of each possible answer; rows of NaN are left out.
    statements : Statements
    lapse : float
        The share of answers given without looking, which draw all centralities together; the
        result is about the others.
    weights : (m,) array, optional

    Returns
    -------
    mean, variance : (n,) arrays
        The counted centrality less the expected one, over the same questions; its variance, if
        the expected probabilities are right. 0 and infinity where an object has no answers.
    """
    n = statements.n_objects
    known = ~np.isnan(expected[:, 0])
    P = expected[known]
    ids = statements.triples[known][:, 3 - P.shape[1] :].ravel()
    more = -P
    more[:, 0] += 1.0
    if statements.kind == "odd":
        more *= -1.0
    spread = P * (1 - P)
    count = np.bincount(ids, minlength=n).astype(np.float64)
    if weights is not None:
        each = weights[known, None]
        more *= each
        spread *= each**2
        count = np.asarray(np.bincount(ids, np.repeat(weights[known], P.shape[1]), n), np.float64)
    divisor = np.maximum(count, 1e-9) * (1 - lapse)
    mean = np.bincount(ids, more.ravel(), n) / divisor
    variance = np.bincount(ids, spread.ravel(), n) / divisor**2
    variance[count == 0] = np.inf
    return mean, variance


def pair_dispersion(model: ChoiceModel, statements: Statements) -> float:
    """The variance of the answers' pull on each pair, by that of independent answers.

    An answer pulls at the two or three pairs that it compares: the slope of its likelihood in
    their lengths. If the model is right, the pulls of different answers at the same pair are
    independent, and this is about 1. They pull together where something else bears on the
    pair: noise on the dissimilarities themselves (Noise model II), too few dimensions, a
    question that is asked and answered twice in the same way. Then coordinates vary more than
    copies tell, and variances are to be multiplied with this factor, as with the dispersion of
    a quasi-likelihood (McCullagh and Nelder, 1989, ch. 9).

    The fit has already given in to part of the pull, hence the correction for the number of
    coordinates.
    """
    P = model.probabilities(statements)
    sides = P.shape[1]
    attentive = (P - model.lapse / sides) / (1 - model.lapse)
    pull = attentive.copy()
    pull[:, 0] -= 1.0
    pull *= ((1 - model.lapse) * attentive[:, 0] / P[:, 0])[:, None]
    a, b, c = statements.triples.T.astype(np.int64)
    compared = [(a, b), (a, c)] if statements.kind == "closer" else [(b, c), (a, c), (a, b)]
    n = statements.n_objects
    codes = [np.minimum(i, j) * n + np.maximum(i, j) for i, j in compared]
    _, pair = np.unique(np.stack(codes, axis=1).ravel(), return_inverse=True)
    together = np.bincount(pair, pull.ravel())
    alone = float((pull**2).sum())
    if alone == 0.0:
        return 1.0
    d = model.embedding.shape[1]
    # more than half of the pairs' freedom is never taken for the coordinates'
    taken = min(n * d - d * (d + 1) / 2 + 1, len(together) / 2)
    left_of_answers = max(1 - taken / (len(statements) * (sides - 1)), 0.5)
    factor = left_of_answers / (1 - taken / len(together))
    return float((together**2).sum() / alone * factor)
