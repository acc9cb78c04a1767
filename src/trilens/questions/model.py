"""The model of the answers that the questions share: one choice map, and the maps it could be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._parameters import seed_of
from trilens._typing import AnyArray, FloatArray, IntArray, Progress
from trilens.answers import Answers
from trilens.errors import ParameterError, option
from trilens.kinds import n_answers, sides, sign, wrong_by_chance
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.choice_model import ChoiceModel, ResampledModels
from trilens.maps.estimator import NOT_STREAMED
from trilens.maps.features import FeaturesLike
from trilens.maps.pairs import lengths, squared
from trilens.maps.posterior import depths_of
from trilens.questions.data import Data, Ordered, in_order, statements_of
from trilens.questions.design import Design, design
from trilens.statements import Statements
from trilens.statements.combine import side_pairs

if TYPE_CHECKING:
    from trilens.questions.cluster.suggest import Examined

#: Of more statements a random part is fitted.
MOST_FITTED = 10_000_000
#: Refits. What is made of them takes their deviations for Gaussian, so that few will do; of
#: many objects, where each is dear, fewer.
N_COPIES, FEWER_COPIES, _MANY_OBJECTS = 40, 20, 250
#: A copy is refitted to at most so many answers; its deviations then count for less.
COPY_ANSWERS = 50_000
#: Steps of a refit, which starts from the map of all answers.
_STEPS = 25
#: Draws from the posterior, of up to so many objects each; the depth on them is the mean over all
#: triples but in the last line, where it is over so many for each object, the same ones in all.
_DRAWS = ((100, 200), (_MANY_OBJECTS, 100))
FEWER_DRAWS, _DRAW_TRIPLES = 24, 1000
_EFFORT_FOR_BLOCKS = 5.0
#: Answers whose probabilities without them are looked at in all draws; of more, in fewer draws.
_LEFT_OUT_WORK, _LEAST_LEFT_OUT = 1_000_000, 20
#: Half the width of a 95 % interval, in standard errors.
_Z = 1.96
#: A few hundred drawn maps leave out some of what the answers allow (measured; see
#: docs/claims.md).
_WIDER = 1.2
#: A single answer does not weigh more than this in a draw without it.
_MOST_WEIGHT = 100.0


@dataclass(frozen=True, eq=False)
class AssistedDepth:
    """Depth by the model, mended by what the model leaves over.

    Attributes
    ----------
    depth : (n,) array
        0 for an object that no answer could single out.
    copies : (draws, n) array
        How it deviates on maps drawn from the posterior.
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
    n_draws : int, optional
        Maps that are drawn from the posterior; by default as many as the number of objects allows.
    """

    statements: Statements
    map: ChoiceMap
    seed: int
    n_draws: int | None = None

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
        fitted = self.map.reordered(found.statements, found.order)
        return replace(self, statements=found.statements, map=fitted)

    @cached_property
    def plane(self) -> FloatArray:
        """The choice map in two dimensions, to look at; (n, 2)."""
        M = self.map
        plane = np.zeros((self.statements.n_objects, 2))
        if M.n_components_ <= 2:
            plane[:, : M.n_components_] = M.embedding_
            return plane
        # what was chosen for the map serves the plane as well
        flat = M.like(2, l2=M.l2_, length=M.length_, lapses=M.lapse_, random_state=self.seed)
        return np.asarray(flat.fit(self.statements, features=M.features_).embedding_)

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
    def design(self) -> Design:
        """What was asked of whom."""
        return design(self.statements)

    @cached_property
    def examined(self) -> Examined:
        """Whether the map has groups, or what shape it has otherwise."""
        from trilens.questions.cluster.suggest import examine

        M = self.map
        return examine(M.embedding_, M.place_errors_, self.statements.kind, random_state=self.seed)

    @cached_property
    def overdispersion(self) -> float:
        """By how many times less the answers count than independent ones would; at least 1.

        The largest of three: answers that share a pair, that are by one rater, or that are from
        one screen may pull together where the model leaves something out.
        """
        S = self.statements
        found = [1.0, self.dispersion]
        for clusters in (S.raters, S.questions):
            if clusters is not None:
                _, of = np.unique(clusters, return_inverse=True)
                found.append(cluster_dispersion(self.map, S, of.astype(np.int64)))
        return max(found)

    @cached_property
    def posterior(self) -> FloatArray:
        """Maps that the answers allow, (draws, n, d): see `trilens.maps.posterior`."""
        n = self.statements.n_objects
        usual = next((draws for most, draws in _DRAWS if n <= most), FEWER_DRAWS)
        drawn = self.map.posterior(
            self.statements,
            self.n_draws or usual,
            dispersion=self.overdispersion,
            # parts that few questions link may lie the other way round
            effort=_EFFORT_FOR_BLOCKS if self.design.blocks > 1 else 1.0,
            random_state=np.random.default_rng([self.seed, 29]),
        )
        if drawn is None:
            wider = np.sqrt(self.overdispersion)
            X = self.map.embedding_
            drawn = np.array([X + wider * (each - X) for each in self.resampled_maps])
        return drawn

    @cached_property
    def assisted(self) -> AssistedDepth:
        """How central each object is, and how sure that is.

        A map cannot hold everything that answers say: of objects in twenty dimensions a map
        in few has the wrong middle, and counting, which assumes nothing, finds it. Counting
        in turn ignores which questions an object happened to be in, which the model knows. So
        the depth of an object is its mean depth on maps drawn from the posterior, plus a share
        of what is left over: the counted centrality less the one expected over the same questions
        if each answer had not been given. The share is that of the composite estimate of Fay and
        Herriot (1979): (t + s) / (t + s + v), where v is the variance of what is left over if
        the model is right, s the variance of the depth between draws, and t how much more
        the left over vary from object to object than v. It is 0 where the design keeps counts
        from speaking for all questions.
        """
        S, model = self.statements, self.map.model_
        if S.n_objects <= _MANY_OBJECTS:
            by_draw = depths_of(self.posterior, model)
        else:
            maps = [replace(model, embedding=X) for X in self.posterior]
            some = np.array([each.depth(_DRAW_TRIPLES, self.seed).depth for each in maps])
            own = model.depth(_DRAW_TRIPLES, self.seed).depth
            by_draw = some - own + model.depth(random_state=self.seed).depth
        left, variance = left_over(without_own(self.posterior, model, S), S, model.lapse)
        seen = np.isfinite(variance)
        misfit = max(float((left**2 - variance)[seen].mean()), 0.0) if seen.any() else 0.0
        model_variance = by_draw.var(axis=0) + misfit
        total = model_variance + variance
        counted = np.divide(model_variance, total, out=np.zeros(len(total)), where=total > 0)
        if not self.design.counts_hold:
            counted = np.zeros(len(total))
        mended = by_draw.mean(axis=0) + counted * left
        depth = np.where(seen, np.clip(mended, 0.0, 1.0), 0.0)
        moved = by_draw - by_draw.mean(axis=0)
        return AssistedDepth(depth, moved, (1 - counted) * np.sqrt(misfit), counted)

    @cached_property
    def centrality(self) -> FloatArray:
        """How central each object is: the share of all questions about it that single it out.

        That is its depth, with the answers that are given without looking; (n,).
        """
        seen = self.statements.appearances > 0
        return np.where(seen, self.with_lapses(self.assisted.depth, self.lapse), 0.0)

    @property
    def lapse(self) -> float:
        """The share of answers that are given without looking."""
        return float(self.map.lapse_of(self.statements).mean())

    def with_lapses(self, depth: FloatArray, lapse: float | FloatArray) -> FloatArray:
        """Depths as the answers show them, if such a share is given without looking."""
        # a lapse singles out each object equally often
        singled = 1 / n_answers(self.statements.kind)
        by_lapse = 1 - singled if self.statements.kind == "odd" else singled
        return np.asarray((1 - lapse) * np.clip(depth, 0.0, 1.0) + lapse * by_lapse)

    def central_intervals(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """The ends of an interval of `centrality` for each object."""
        rng = np.random.default_rng([self.seed, 31])
        drawn = self.assisted.depth + self.assisted.copies
        drawn = drawn + self.assisted.bias * rng.standard_normal(drawn.shape)
        low, high = (
            end / wrong_by_chance(self.statements.kind) for end in self.map.error_rate_interval_
        )
        spread = (high - low) / (2 * _Z)
        lapses = np.clip(self.lapse + spread * rng.standard_normal(len(drawn)), 0.0, 1.0)
        expected = self.with_lapses(drawn, lapses[:, None])
        tail, middle = (1 - level) / 2, expected.mean(axis=0)
        ends = self.centrality + _WIDER * (np.quantile(expected, [tail, 1 - tail], axis=0) - middle)
        ends[:, self.statements.appearances == 0] = [[0.0], [1.0]]
        return np.clip(ends[0], 0.0, 1.0), np.clip(ends[1], 0.0, 1.0)


def answer_model(
    statements: Statements,
    random_state: int = 0,
    progress: Progress | None = None,
    features: FeaturesLike | None = None,
    n_components: int | None = None,
) -> AnswerModel:
    """Fit the model that stands behind ``method="auto"``, of very many statements to a part."""
    if len(statements) > MOST_FITTED:
        every = in_order(statements)
        rng = np.random.default_rng([random_state, 23])
        rows = rng.choice(len(statements), MOST_FITTED, replace=False, shuffle=False)
        statements = every.statements.take(np.sort(rows)).subset(every.rank)
    fitted = ChoiceMap(n_components or "cv", random_state=random_state)
    fitted.fit(statements, features=features, progress=progress)
    return AnswerModel(statements, fitted, random_state)


def quick_map(fitted: ChoiceMap, n_components: int | None = None, **parameters: Any) -> ChoiceMap:
    """A map to be fitted to some of the answers, less exactly, as another one chose it to be."""
    chosen = {"l2": fitted.l2_, "length": fitted.length_, "n_jobs": fitted.n_jobs}
    quick = {"max_iter": 200, "tol": 1e-5, "random_state": 0}
    return ChoiceMap(n_components or fitted.n_components_, **(chosen | quick | parameters))


def featured_model(
    data: Data,
    question: str,
    features: FeaturesLike,
    method: str = "auto",
    model: Any = None,
    n_components: int | None = None,
    random_state: Any = 0,
    progress: Progress | None = None,
) -> AnswerModel:
    """The model of answers and features; refuses what features do not go with."""
    if model is not None:
        raise ParameterError(
            "give either features or a model that was fitted with them", parameter="features"
        )
    if method not in ("auto", "choice"):
        raise ParameterError(
            f"features serve the choice map; {option('method', method)} takes none",
            parameter="features",
        )
    if isinstance(data, Answers) and data.streamed:
        raise ParameterError(f"features are not available: {NOT_STREAMED}", parameter="features")
    given = statements_of(data, question)
    return answer_model(given, seed_of(random_state), progress, features, n_components)


def without_own(maps: FloatArray, model: ChoiceModel, statements: Statements) -> FloatArray:
    """What maps expect of each answer as if it had not been given: (m, 2 or 3) probabilities.

    Of draws from the posterior, each is weighted with one by the probability of the answer
    (leave-one-out by importance sampling; Gelfand, Dey and Chang, 1992).
    """
    m = max(len(statements), 1)
    some = max(_LEFT_OUT_WORK // m, _LEAST_LEFT_OUT)
    maps = maps[:: max(len(maps) // some, 1)]
    expected, total = np.zeros((m, n_answers(statements.kind))), np.zeros(m)
    for X in maps:
        P = replace(model, embedding=X).probabilities(statements)
        weight = np.minimum(1 / np.maximum(P[:, 0], 1e-300), _MOST_WEIGHT)
        expected += weight[:, None] * P
        total += weight
    return expected / total[:, None]


def left_over(
    expected: FloatArray, statements: Statements, lapse: float
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
    n = statements.n_objects
    together = np.bincount(side_pairs(statements).ravel(), pull.ravel())
    alone = float((pull**2).sum())
    if alone == 0.0:
        return 1.0
    d = model.embedding.shape[1]
    # more than half of the pairs' freedom is never taken for the coordinates'
    taken = min(n * d - d * (d + 1) / 2 + 1, len(together) / 2)
    left_of_answers = max(1 - taken / (len(statements) * (sides - 1)), 0.5)
    factor = left_of_answers / (1 - taken / len(together))
    return float((together**2).sum() / alone * factor)


def cluster_dispersion(fitted: ChoiceMap, statements: Statements, cluster: IntArray) -> float:
    """The variance of the answers' pull on the objects, by that of independent answers.

    As `pair_dispersion`, of clusters of answers: those of one rater, or from one screen.

    Parameters
    ----------
    fitted : ChoiceMap
    statements : Statements
    cluster : (m,) array of int
    """
    model, n = fitted.model_, statements.n_objects
    lapse = fitted.lapse_of(statements)
    attentive = replace(model, lapse=0.0).probabilities(statements)
    chosen = (1 - lapse) * attentive[:, 0]
    pull = attentive
    pull[:, 0] -= 1.0
    pull *= (chosen / (chosen + lapse / pull.shape[1]))[:, None]
    at, force = forces(model, statements, pull)

    def squares(of: IntArray) -> float:
        _, place = np.unique(np.tile(of, len(at) // len(of)) * n + at, return_inverse=True)
        return float(sum((np.bincount(place, axis) ** 2).sum() for axis in force.T))

    count = len(np.unique(cluster))
    alone = squares(np.arange(len(statements), dtype=np.int64))
    if count < 2 or alone == 0.0:
        return 1.0
    return squares(cluster) / alone * count / (count - 1)


def forces(
    model: ChoiceModel, statements: Statements, pull: FloatArray
) -> tuple[IntArray, FloatArray]:
    """How answers pull at the places of their objects: the slope of their -log likelihood.

    Parameters
    ----------
    pull : (m, 2 or 3) array
        The slope in the logarithm of the odds of each side.

    Returns
    -------
    ids : (k m,) array of int
        Of objects; the answers come in their order, as often as they have ends of sides.
    force : (k m, d) array
    """
    X = model.embedding
    ids: list[AnyArray] = []
    found: list[FloatArray] = []
    for side, (i, j) in enumerate(sides(statements.kind, statements.triples)):
        _, slope = lengths(squared(X, i, j), model.length, model.alpha)
        force = (2 * sign(statements.kind) * pull[:, side] * slope)[:, None] * (X[i] - X[j])
        ids += [i, j]
        found += [force, -force]
    return np.concatenate(ids).astype(np.int64), np.concatenate(found)
