"""Which questions to ask next, so that the answers tell most about what is to be found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from trilens._parameters import one_of, real_number, seed_of, whole_number, wrong
from trilens._tabular import Tabular, counted
from trilens._typing import FloatArray, IntArray, RandomState
from trilens.ask import Data, in_ids_of, opened, statements_of
from trilens.calibration import (
    ANSWERS_BEFORE_CHOOSING,
    MANY_WRONG_CLOSER,
    MANY_WRONG_GAINS_FROM,
    OBJECTS_BEFORE_CHOOSING,
)
from trilens.errors import ParameterError, StatementError, option
from trilens.kinds import Kind, check_kind, n_questions, sides, sign, wrong_by_chance
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.descent import principal_axes
from trilens.maps.draws import MOST_FACTORED, depths_of, place_covariance
from trilens.maps.features import Features, FeaturesLike, read_features
from trilens.maps.fitted import Fit, fit_answers
from trilens.maps.fitting import How
from trilens.maps.geometry import total_distance
from trilens.maps.likelihood import in_own_order, information_of_answer
from trilens.maps.map import Map
from trilens.maps.pairs import lengths
from trilens.questions.depth import how_often_largest
from trilens.simulate.triples import unrank
from trilens.statements import Statements, StatementsLike, as_statements
from trilens.statements.combine import question_keys
from trilens.statements.value import checked_field
from trilens.words import CHOSEN_NOTES

Goal: TypeAlias = Literal["medoid", "rank", "map", "outliers", "groups"]
GOALS: tuple[Goal, ...] = get_args(Goal)
Reason: TypeAlias = Literal["adaptive", "random"]

#: Questions that are looked at, where there are more.
_POOL = 4000
#: Up to so many questions all of them are listed.
_LISTED = 20_000
#: Draws of the map over which the information of a question is averaged, and those that tell
#: which objects are in question.
_DRAWS, _MANY_DRAWS = 12, 200
#: Triples of which the depths on draws take account, six times.
_DEPTH_WORK = 200_000_000
#: Of the pool a part is about the objects in question.
_FOCUSED = 0.6
#: Questions whose expected information is brought up to date before the best one is taken.
_FRESH = 64
#: Questions among which these are sought, until others tell more.
_FRONT = 1024
#: Numbers that are looked at together.
_AT_ONCE = 5_000_000
#: The mean distance on a first map that features make, and the share of the spread that they do
#: not explain; the share of answers given without looking.
_FIRST_DISTANCE, _FIRST_OWN, _FIRST_LAPSE = 3.0, 0.5, 0.15


@dataclass(frozen=True, eq=False)
class NextQuestions(Tabular):
    """Questions to ask, in the order in which to ask them.

    Attributes
    ----------
    goal : str
        What the answers are to tell.
    kind : {"central", "odd", "closer"}
    triples : (n, 3) int64
        The objects of each question, as ids; for ``closer`` the anchor is first. Show the others
        in an order of your own.
    names : tuple of (str, str, str)
        The same by their names.
    reasons : tuple of {"adaptive", "random"}
        Why each is asked. Store it with the answer: what is counted needs the random ones.
    information : (n,) float64
        What the answer is expected to tell about the goal, in nats; NaN where nothing is known
        yet to expect it from.
    caution : str or None
        Why all questions are drawn at random, where they are; or why those that are cannot be
        counted any more; or why choosing gains little.
    """

    goal: Goal
    kind: Kind
    triples: IntArray
    names: tuple[tuple[str, str, str], ...] = field(repr=False)
    reasons: tuple[Reason, ...] = field(repr=False)
    information: FloatArray = field(repr=False)
    caution: str | None = None

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        return iter(self.names)

    def __getitem__(self, index: int) -> tuple[str, str, str]:
        return self.names[index]

    def columns(self) -> dict[str, Sequence[Any]]:
        """A row for each question."""
        first = "anchor" if self.kind == "closer" else "shown_1"
        rest = ("shown_1", "shown_2") if self.kind == "closer" else ("shown_2", "shown_3")
        objects = list(zip(*self.names, strict=True)) if self.names else [(), (), ()]
        told = [None if np.isnan(x) else float(x) for x in self.information]
        return {
            **dict(zip((first, *rest), objects, strict=True)),
            "reason": self.reasons,
            "information": told,
        }

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens next --json`` prints them."""
        columns = self.columns()
        rows = zip(self.names, self.reasons, columns["information"], strict=True)
        return {
            "goal": self.goal,
            "kind": self.kind,
            "questions": [
                {"objects": list(names), "reason": reason, "information": told}
                for names, reason, told in rows
            ],
            "caution": self.caution,
        }


def next_questions(
    answers: Data,
    goal: Goal = "medoid",
    n: int = 10,
    *,
    random_share: float = 0.2,
    kind: Kind | None = None,
    features: FeaturesLike | None = None,
    rater: Any = None,
    asked: StatementsLike | None = None,
    among: StatementsLike | None = None,
    start: Fit | ChoiceMap | None = None,
    random_state: RandomState = 0,
) -> NextQuestions:
    """The questions whose answers are expected to tell most about the goal.

    A choice map is fitted to the answers so far. Its Fisher information says how the places of
    all objects may be off together; how much less they would be off after a question is answered
    is known before the answer is. Each question is chosen so that the variance of what the goal
    needs shrinks most, given those chosen before it, so that a batch does not ask the same thing
    over and over. A share of the questions is drawn at random: depths by counting, agreement and
    ceilings may use these alone (`Statements.at_random`).

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table or (m, 3) array
        The answers so far. There may be none: ``Statements([], names=names, kind="odd")``.
    goal : {"medoid", "rank", "map", "outliers", "groups"}
        ``"medoid"``: which object is the most central. ``"rank"``: how central each is.
        ``"map"``: where the objects lie. ``"outliers"``: which stand apart. ``"groups"``: which
        belong together.
    n : int
        How many questions.
    random_share : float
        The share of them that is drawn at random, from 0 to 1.
    kind : {"central", "odd", "closer"}, optional
        Of the questions: that of the answers. Needed only where an array without answers is given.
    features : array, table or dict, optional
        Vectors of the objects, as in `trilens.fit`. With them the first questions are chosen too,
        before there are answers that could be fitted.
    rater : optional
        Who will be asked: no question that this rater has answered comes again, but questions
        that others have answered may. By default no question of
        ``answers`` comes again.
    asked : Statements or (k, 3) array, optional
        Further questions that must not come, such as those that are on their way.
    among : Statements or (k, 3) array, optional
        The only questions that may come; by default all.
    start : Fit or ChoiceMap, optional
        Of the first of these answers: its dimensions, penalty and lapse are kept and only the
        places are fitted anew, which takes a tenth of the time.
    random_state : int
        The same answers and the same number give the same questions.

    Examples
    --------
    >>> from trilens.simulate import study
    >>> S = study().statements
    >>> found = next_questions(S, "medoid", n=5, rater="new")
    >>> len(found), found.triples.shape, set(found.reasons) <= {"adaptive", "random"}
    (5, (5, 3), True)
    """
    one_of("goal", goal, GOALS)
    wanted = whole_number("n", n, least=1)
    share = real_number("random_share", random_share, 0, 1)
    # an array does not say its kind
    data = answers if isinstance(answers, np.ndarray | list | tuple) else opened(answers)
    given = _given(data, kind)
    inner, rank = in_own_order(given)
    order = np.argsort(rank)
    keys = [question_keys(_answered(inner, rater))[0]]
    if asked is not None:
        keys.append(question_keys(_questions(asked, "asked", inner, given))[0])
    taken = np.unique(np.concatenate(keys))
    within = None if among is None else _questions(among, "among", inner, given)
    free = _listed(inner, None if within is None else within.triples.astype(np.int64), taken)
    rng = np.random.default_rng([seed_of(random_state), len(inner), 41])
    possible = n_questions(inner.kind, inner.n_objects)
    left = possible - len(taken) if free is None else len(free)
    if within is not None and not len(within):
        raise ParameterError(
            f"{option('among')} lists no question; leave it out to take any", parameter="among"
        )
    if wanted > left:
        whose = "are left for this rater" if rater is not None else "have not been asked"
        if left == 1:
            whose = whose.replace("are", "is").replace("have", "has")
        others = "" if rater is not None else f"; {option('rater')} asks somebody else the same"
        raise ParameterError(
            f"{option('n')} is {wanted:,}, but only {counted(left, 'question')} {whose}{others}",
            parameter="n",
        )
    seed = seed_of(random_state)
    read = None
    if features is not None:
        if isinstance(data, Fit) or start is not None:
            raise ParameterError(
                "give either features or a fit that was made with them", parameter="features"
            )
        read = read_features(features, given._names, given.n_objects).take(order)
    belief = _belief(inner, data if isinstance(data, Fit) else None, start, read, seed)
    random = wanted if belief is None else int(np.floor(wanted * share + rng.random()))
    drawn = _draw(free, inner.kind, inner.n_objects, random, taken, rng)
    caution = None
    if belief is None:
        if inner.n_objects < OBJECTS_BEFORE_CHOOSING:
            code, needed = "few objects", OBJECTS_BEFORE_CHOOSING
        else:
            code, needed = "few answers", ANSWERS_BEFORE_CHOOSING * inner.n_objects // 3
        caution = CHOSEN_NOTES[code].format(
            answers=len(inner), objects=inner.n_objects, needed=needed
        )
        picked, told = drawn, np.full(len(drawn), np.nan)
    else:
        given_before = question_keys(inner)[0]
        picked, told = _pick(belief, goal, wanted - random, drawn, free, taken, given_before, rng)
        wrong_share = belief.model.lapse * wrong_by_chance(inner.kind)
        enough = MANY_WRONG_GAINS_FROM * inner.n_objects
        if inner.kind == "closer" and wrong_share >= MANY_WRONG_CLOSER and len(inner) < enough:
            caution = CHOSEN_NOTES["many wrong"].format(
                wrong=wrong_share, each=MANY_WRONG_GAINS_FROM, answers=enough
            )
        if rater is None and inner.chosen is not None and 2 * len(taken) > possible:
            caution = CHOSEN_NOTES["few left"].format(asked=len(taken), possible=possible)
    by_chance = np.arange(len(picked)) < random
    shuffled = rng.permutation(len(picked))
    picked, told, by_chance = picked[shuffled], told[shuffled], by_chance[shuffled]
    # in any order, so that nothing has a place of its own on the screen
    first = 1 if inner.kind == "closer" else 0
    picked[:, first:] = rng.permuted(picked[:, first:], axis=1)
    ids = order[picked]
    names = given.names
    return NextQuestions(
        goal,
        inner.kind,
        ids,
        tuple((names[a], names[b], names[c]) for a, b, c in ids.tolist()),
        tuple("random" if chance else "adaptive" for chance in by_chance),
        told,
        caution,
    )


# ---- what is given --------------------------------------------------------------------------


def _given(S: Any, kind: Kind | None) -> Statements:
    """The statements; of none, of the kind that is asked for."""
    if kind is not None:
        check_kind(kind)
    listed = isinstance(S, np.ndarray | list | tuple)
    given = as_statements(S, kind) if listed else statements_of(S, "next_questions")
    if kind is not None and kind != given.kind:
        if len(given):
            raise ParameterError(
                f"{option('kind')} is {kind}, but the answers are of kind {given.kind}; questions "
                f"of another kind need a study of their own",
                parameter="kind",
            )
        given = Statements(given.triples, given.n_objects, given._names, kind)
    if given.n_objects < 3:
        raise StatementError(
            f"a question needs three objects, and there are {given.n_objects}; without answers, "
            f"give Statements([], names=...)"
        )
    return given


def _answered(inner: Statements, rater: Any) -> Statements:
    """What a rater has answered; without one, everything."""
    if rater is None:
        return inner
    if inner.raters is None:
        return inner.take(np.zeros(0, dtype=np.intp))
    # as they are kept: 7.0 is the rater 7
    own = checked_field("raters", [rater], 1)
    assert own is not None
    return inner.take(np.flatnonzero(inner.raters.astype(str) == str(own[0])))


def _questions(
    listed: StatementsLike, parameter: str, inner: Statements, given: Statements
) -> Statements:
    """Questions that the caller lists, by the ids of the ordered statements."""
    found = as_statements(listed, given.kind)
    if found._names is None:  # these are the ids of the answers
        more = range(given.n_objects, found.n_objects)
        names = [*given.names, *map(str, more)]
        found = Statements(found.triples, names=names, kind=found.kind)
    return in_ids_of(inner, found, parameter)


# ---- what is believed -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Belief:
    """A map, and how its places may be off together."""

    model: Map
    covariance: FloatArray

    @cached_property
    def _root(self) -> FloatArray:
        """The symmetric one: axes of equal variance may be any, and do not matter to it."""
        values, axes = np.linalg.eigh(self.covariance)
        return np.asarray((axes * np.sqrt(np.maximum(values, 0.0))) @ axes.T)

    def draws(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Maps that the answers allow, (count, n, d)."""
        X = self.model.X
        moved = rng.standard_normal((count, X.size)) @ self._root
        return np.asarray(X + moved.reshape(count, *X.shape), dtype=np.float64)


def _belief(
    inner: Statements,
    fitted: Fit | None,
    start: Fit | ChoiceMap | None,
    features: Features | None,
    seed: int,
) -> _Belief | None:
    """From the answers, or features, or None where there is too little of either."""
    if inner.n_objects < OBJECTS_BEFORE_CHOOSING:
        return None
    known = features is not None or any(
        isinstance(each, Fit) and each.features is not None for each in (fitted, start)
    )
    if not known and 3 * len(inner) < ANSWERS_BEFORE_CHOOSING * inner.n_objects:
        return None
    if len(inner) == 0:
        return None if features is None else _first_belief(features, inner)
    if inner.n_objects > MOST_FACTORED:
        raise _too_many(inner.n_objects, 1)
    if fitted is None and start is not None:
        first = _checked(start, inner)
        if len(first.sample) == len(inner):
            return _Belief(first.map, first.place_cov_of_all)
        # a map of all answers that starts where that of the first of them is
        again = first.refit(inner, start=first.map.X, max_iter=200, tol=1e-5)
        covariance = place_covariance(inner, again, first.settings.l2, None, first.prior)
        return _Belief(again, covariance)
    if fitted is None:
        fitted = fit_answers(inner, How(n_jobs=1), features, random_state=seed)
    fitted = fitted.canonical[0]
    if fitted.map.X.size > MOST_FACTORED:
        raise _too_many(inner.n_objects, fitted.map.n_components)
    return _Belief(fitted.map, fitted.place_cov_of_all)


def _checked(start: Fit | ChoiceMap, inner: Statements) -> Fit:
    """The fit of the first answers, in the order of its own."""
    known = opened(start) if isinstance(start, Fit | ChoiceMap) else None
    if not isinstance(known, Fit):
        raise wrong("start", start, "a Fit, a fitted ChoiceMap or None")
    if known.kind != inner.kind:
        raise ParameterError(
            f"start is a fit of {known.kind} answers, not of {inner.kind} ones", parameter="start"
        )
    first = known.canonical[0]
    if first.names != inner.names:
        raise ParameterError(
            f"start is a fit of {first.n_objects:,} objects, the answers are about "
            f"{inner.n_objects:,}; give a fit of these objects",
            parameter="start",
        )
    strange = (_answers_in(first.sample) - _answers_in(inner)).total()
    if strange:
        raise ParameterError(
            f"start is a fit of other answers: {strange:,} of its {len(first.sample):,} are not "
            f"among those given; give a fit of the first of these",
            parameter="start",
        )
    if first.map.X.size > MOST_FACTORED:
        raise _too_many(inner.n_objects, first.map.n_components)
    return first


def _answers_in(statements: Statements) -> Counter[tuple[int, int]]:
    """How often each answer to each question was given."""
    key, answer, _ = question_keys(statements)
    return Counter(zip(key.tolist(), answer.tolist(), strict=True))


def _too_many(objects: int, dimensions: int) -> ParameterError:
    return ParameterError(
        f"questions are chosen on maps of up to {MOST_FACTORED:,} coordinates; {objects:,} "
        f"objects in {counted(dimensions, 'dimension')} are more"
    )


def _first_belief(features: Features, inner: Statements) -> _Belief:
    """Before the first answer: the features' two main axes, and much room about them."""
    if 2 * inner.n_objects > MOST_FACTORED:
        raise _too_many(inner.n_objects, 2)
    whole = np.hstack([block.factor for block in features.blocks])
    X = np.zeros((inner.n_objects, 2))
    axes = principal_axes(whole - whole.mean(axis=0))[:, :2]
    X[:, : axes.shape[1]] = axes
    mean = total_distance(X).mean() / max(inner.n_objects - 1, 1)
    X *= _FIRST_DISTANCE / max(float(mean), 1e-12)
    model = Map(X, _FIRST_LAPSE, inner.kind)
    return _Belief(model, _FIRST_OWN * float((X**2).mean()) * np.eye(X.size))


# ---- what the goal needs --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Target:
    """What is to become sure: linear functions of the coordinates, about the map."""

    #: (k, n d): weighted by how much each matters; the sum of their variances is to shrink.
    slopes: FloatArray
    #: (n,): how much each object is in question, with the sum 1.
    focus: FloatArray


def _target(goal: Goal, belief: _Belief, rng: np.random.Generator) -> _Target:
    X = belief.model.X
    n = len(X)
    even = np.full(n, 1 / n)
    if goal == "map":
        return _Target(np.eye(X.size), even)
    if goal == "groups":
        return _borders(belief, rng)
    draws = belief.draws(_MANY_DRAWS, rng)
    far = np.array([total_distance(each) for each in draws]) / (n - 1)
    slopes = _slopes_of_distance(X)
    if goal == "rank":
        p = _crowded(far)
    elif goal == "medoid":
        # the two readings of `medoid_set`: the least total distance, and the highest depth
        some = draws[: max(_DEPTH_WORK // n**3, 20)]
        p = how_often_largest(-far) + how_often_largest(depths_of(some, belief.model))
        p = (p + 0.2 / n) / (p.sum() + 0.2)
    else:
        p = _edge(far)
    centred = slopes - p @ slopes
    return _Target(np.sqrt(p)[:, None] * centred, p)


def _crowded(far: FloatArray) -> FloatArray:
    """How much each object's rank moves with its mean distance: the density there, squared."""
    middle = far.mean(axis=0)
    apart = (middle[:, None] - middle) / max(float(middle.std()) * len(middle) ** -0.2, 1e-12)
    p = np.exp(-0.5 * apart**2).sum(axis=1) ** 2
    return np.asarray(p / p.sum())


def _edge(far: FloatArray) -> FloatArray:
    """How much it is in question whether each object is one of the farthest, with the sum 1."""
    n = far.shape[1]
    count = max(n // 10, 2)
    cut = np.sort(far, axis=1)[:, [-count]]
    share = (far >= cut).mean(axis=0)
    p = share + 0.2 / n
    return np.asarray(p / p.sum())


def _slopes_of_distance(X: FloatArray) -> FloatArray:
    """The slopes of each object's mean distance to the others in all coordinates, (n, n d)."""
    n, d = X.shape
    step = X[:, None] - X[None]
    length = np.sqrt((step**2).sum(axis=2))
    unit = np.divide(
        step, length[:, :, None], out=np.zeros_like(step), where=length[:, :, None] > 0
    )
    A: FloatArray = -unit / (n - 1)
    A[np.arange(n), np.arange(n)] = unit.sum(axis=1) / (n - 1)
    return A.reshape(n, n * d)


def _borders(belief: _Belief, rng: np.random.Generator) -> _Target:
    """How much nearer each object is to its own group than to the next one."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    X = belief.model.X
    n, d = X.shape
    seed = int(rng.integers(2**31))
    best, labels = -np.inf, np.zeros(n, dtype=np.int64)
    for k in range(2, min(7, n - 1, len(np.unique(X, axis=0)) + 1)):
        found = KMeans(k, n_init=3, random_state=seed).fit_predict(X)
        score = silhouette_score(X, found) if len(np.unique(found)) > 1 else -1.0
        if score > best:
            best, labels = score, found.astype(np.int64)
    k = int(labels.max()) + 1
    if k == 1:  # all in one place
        return _Target(np.eye(X.size), np.full(n, 1 / n))
    member = (labels == np.arange(k)[:, None]).astype(np.float64)
    member /= member.sum(axis=1, keepdims=True)
    centres = member @ X
    step = X[:, None] - centres
    length = np.maximum(np.sqrt((step**2).sum(axis=2)), 1e-12)
    unit = step / length[:, :, None]
    nearest = np.argsort(length, axis=1)[:, :2]
    rows = np.arange(n)
    # |x - own center| - |x - next center|; the centers move with their members
    slopes = np.zeros((n, n, d))
    for side, factor in ((0, 1.0), (1, -1.0)):
        group = nearest[:, side]
        own = factor * unit[rows, group]
        slopes[rows, rows] += own
        slopes -= member[group][:, :, None] * own[:, None]
    A = slopes.reshape(n, n * d)
    margin = length[rows, nearest[:, 1]] - length[rows, nearest[:, 0]]
    error = np.sqrt(np.einsum("ia,ab,ib->i", A, belief.covariance, A))
    p = np.exp(-0.5 * (margin / np.maximum(error, 1e-12)) ** 2) + 0.2 / n
    p /= p.sum()
    return _Target(np.sqrt(p)[:, None] * A, p)


# ---- which questions ------------------------------------------------------------------------


def _draw(
    free: IntArray | None,
    kind: Kind,
    n: int,
    count: int,
    taken: IntArray,
    rng: np.random.Generator,
    weights: FloatArray | None = None,
) -> IntArray:
    """Different questions that are not taken, (count, 3), at random; fewer where there are not.

    Of those that are free, where these are listed. With weights one object of each is drawn by
    these.
    """
    if count == 0:
        return np.zeros((0, 3), dtype=np.int64)
    if free is not None:
        free = free[~np.isin(_keys(kind, n, free), taken)]
        if weights is None:
            return free[rng.permutation(len(free))[:count]]
        chance = np.maximum(weights[free].sum(axis=1), 1e-300)
        return free[np.argsort(-np.log(chance) - rng.gumbel(size=len(free)))[:count]]
    found = np.zeros((0, 3), dtype=np.int64)
    for _ in range(20):
        more = rng.integers(n, size=(2 * count + 10, 3))
        if weights is not None:
            more[:, 0] = rng.choice(n, len(more), p=weights)
        a, b, c = more.T
        more = more[(a != b) & (a != c) & (b != c)]
        if kind == "closer" and weights is not None:
            # the object in question may be the anchor or one of the two
            turn = rng.integers(3, size=len(more))
            more = np.take_along_axis(more, (np.arange(3) + turn[:, None]) % 3, axis=1)
        found = np.concatenate([found, more[~np.isin(_keys(kind, n, more), taken)]])
        _, first = np.unique(_keys(kind, n, found), return_index=True)
        found = found[np.sort(first)]
        if len(found) >= count:
            break
    return _plain(kind, found[:count])


def _listed(inner: Statements, among: IntArray | None, taken: IntArray) -> IntArray | None:
    """The questions that are free, where they are listed: given, or few, or nearly all asked."""
    kind, n = inner.kind, inner.n_objects
    possible = n_questions(kind, n)
    if among is None:
        if possible > _LISTED and possible > 4 * len(taken):
            return None
        among = _all_questions(kind, n)
    key = _keys(kind, n, among)
    _, first = np.unique(key, return_index=True)
    return _plain(kind, among[first][~np.isin(key[first], taken)])


def _all_questions(kind: Kind, n: int) -> IntArray:
    every = unrank(np.arange(n_questions("central", n)), n).astype(np.int64)
    if kind != "closer":
        return every
    return np.concatenate([every, every[:, [1, 0, 2]], every[:, [2, 0, 1]]])


def _plain(kind: Kind, triples: IntArray) -> IntArray:
    """The objects of questions in the order of their ids; an anchor stays first."""
    first = 1 if kind == "closer" else 0
    plain = np.array(triples, dtype=np.int64)
    plain[:, first:].sort(axis=1)
    return plain


def _keys(kind: Kind, n: int, triples: IntArray) -> IntArray:
    return question_keys(Statements(triples, n, kind=kind))[0]


def _pick(
    belief: _Belief,
    goal: Goal,
    count: int,
    drawn: IntArray,
    free: IntArray | None,
    taken: IntArray,
    given_before: IntArray,
    rng: np.random.Generator,
) -> tuple[IntArray, FloatArray]:
    """The drawn questions and ``count`` chosen ones, with the information of each.

    A question that has k answers already is taken to tell 1 / (1 + k) of what a new one would: the
    next person's answer to it will be much like the others', more so than a map expects.
    """
    model = belief.model
    kind, n = model.kind, len(model.X)
    target = _target(goal, belief, rng)
    taken = np.union1d(taken, _keys(kind, n, drawn))
    size = max(_POOL, 20 * count)
    pool = _draw(free, kind, n, int(size * _FOCUSED), taken, rng, target.focus)
    taken = np.union1d(taken, _keys(kind, n, pool))
    pool = np.concatenate([pool, _draw(free, kind, n, size - len(pool), taken, rng)])
    listed = np.concatenate([drawn, pool])
    known, times = np.unique(given_before, return_counts=True)
    key = _keys(kind, n, listed)
    place = np.minimum(np.searchsorted(known, key), len(known) - 1)
    before = np.where(known[place] == key, times[place], 0) if len(known) else np.zeros(len(key))
    sight = _Sight(belief, target, listed, 1 / (1 + before), rng)
    for row in range(len(drawn)):
        sight.take(row)
    picked = [*range(len(drawn)), *sight.best(count, len(drawn))]
    return sight.questions[picked], sight.told[picked]


class _Sight:
    """What each of many questions would tell, and less so after others are answered."""

    def __init__(
        self,
        belief: _Belief,
        target: _Target,
        questions: IntArray,
        worth: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        d = belief.model.X.shape[1]
        self.questions = questions
        self.at = (questions[:, :, None] * d + np.arange(d)).reshape(len(questions), 3 * d)
        F = _information(belief.model, belief.draws(_DRAWS, rng), questions)
        self.F = F * worth[:, None, None]
        self.covariance = np.array(belief.covariance)
        Q = self.covariance @ target.slopes.T
        self.loss = float((target.slopes.T * Q).sum())
        # of Q only products of its rows are needed, however many slopes there are
        self.P = Q @ Q.T
        self.told = np.zeros(len(questions))
        parts = np.array_split(np.arange(len(questions)), F.size // _AT_ONCE + 1)
        self.gain = np.concatenate([self.gains(part)[0] for part in parts])

    def gains(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """By how much the loss would shrink, and the (3 d, 3 d) matrix that shrinks it."""
        at, F = self.at[rows], self.F[rows]
        block = at[:, :, None], at[:, None, :]
        K = np.linalg.solve(np.eye(at.shape[1]) + F @ self.covariance[block], F)
        return np.einsum("cab,cab->c", K, self.P[block]), K

    def take(self, row: int) -> None:
        """The question will be answered: what is then still unknown."""
        gain, K = self.gains(np.array([row]))
        at = self.at[row]
        left = max(self.loss - float(gain[0]), 1e-12 * self.loss)
        self.told[row] = 0.5 * np.log(self.loss / left) if self.loss > 0 else 0.0
        U = self.covariance[:, at] @ (0.5 * (K[0] + K[0].T))
        self.covariance -= U @ self.covariance[at]
        # (I - U E) P (I - U E)', where E takes the rows ``at``
        B = self.P[:, at] - 0.5 * U @ self.P[np.ix_(at, at)]
        self.P -= np.hstack([B, U]) @ np.hstack([U, B]).T
        self.loss = left
        self.gain[row] = -np.inf

    def best(self, count: int, start: int) -> Iterator[int]:
        """Questions from ``start`` on, the most telling one after the other."""
        self.gain[:start] = -np.inf
        front, beyond = _highest(self.gain, _FRONT)
        for _ in range(min(count, len(self.gain) - start)):
            # gains shrink as questions are taken: those that were highest are looked at anew
            top = front[_highest(self.gain[front], _FRESH)[0]]
            if self.gain[top].min() < beyond:
                front, beyond = _highest(self.gain, _FRONT)
                top = front[_highest(self.gain[front], _FRESH)[0]]
            top = top[np.isfinite(self.gain[top])]
            self.gain[top] = self.gains(top)[0]
            row = int(top[self.gain[top].argmax()])
            self.take(row)
            yield row


def _highest(values: FloatArray, count: int) -> tuple[IntArray, float]:
    """The places of the highest values, and the highest of the others."""
    if len(values) <= count:
        return np.arange(len(values)), -np.inf
    order = np.argpartition(-values, count)
    return order[:count], float(values[order[count]])


def _information(model: Map, draws: FloatArray, questions: IntArray) -> FloatArray:
    """The Fisher information of each question about its places, (c, 3 d, 3 d), a mean of maps."""
    c, d = len(questions), draws.shape[2]
    ends = sides(model.kind, np.broadcast_to(np.arange(3), (1, 3)))
    at = [(int(i[0]), int(j[0])) for i, j in ends]
    found = np.zeros((c, 3 * d, 3 * d))
    for X in draws:
        places = X[questions]
        G = np.zeros((c, len(at), 3, d))
        u = np.empty((c, len(at)))
        for side, (i, j) in enumerate(at):
            step = places[:, i] - places[:, j]
            v, slope = lengths(np.einsum("ck,ck->c", step, step), model.length, model.alpha)
            u[:, side] = sign(model.kind) * v
            G[:, side, i] = (2 * slope)[:, None] * step
            G[:, side, j] = -G[:, side, i]
        p = np.exp(u - u.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        third = p[:, 2] if len(at) == 3 else np.zeros(c)
        own = np.array(information_of_answer(p[:, 0], p[:, 1], third, model.lapse, 1 / len(at)))
        entry = np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])[: len(at), : len(at)]
        N = np.moveaxis(own[entry], 2, 0)
        flat = G.reshape(c, len(at), 3 * d)
        found += np.swapaxes(flat, 1, 2) @ (N @ flat)
    return found / len(draws)
