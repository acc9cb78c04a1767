"""Raters compared: whether groups of them answer alike, and how well one predicts another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from trilens._parameters import shown
from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.errors import ParameterError, parameter_name
from trilens.kinds import n_answers
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.geometry import procrustes
from trilens.statements import Statements
from trilens.statements.columns import as_list, is_missing
from trilens.statements.combine import questions, side_pairs
from trilens.tasks.method import choose_method
from trilens.tasks.model import AnswerModel
from trilens.tasks.reliability.agreement import Agreement, AsDict, agreement_between, cells_of
from trilens.tasks.reliability.raters import natural

GroupsLike: TypeAlias = Mapping[Any, Any] | Iterable[Any]

_PERMUTATIONS = 999
#: Random divisions of the raters, with which the maps of the groups are compared.
_RANDOM_MAPS = 5
#: Groups have lists of their own where raters of different groups have fewer questions in common
#: than this share of what raters of one group have, by more than so many standard errors.
_AS_MUCH_IN_COMMON, _BEYOND = 0.95, 4.0
#: With fewer questions in common groups with lists of their own are not compared.
_LEAST_SHARED = 5
#: Numbers that permutations are worked out with at a time.
_CHUNK = 20_000_000
#: More groups than these are not compared.
_MOST_GROUPS = 12
#: For predicting raters from each other: raters with fewer answers are left out, and of more than
#: so many raters those with the most answers are taken.
_LEAST_ANSWERS, _MOST_RATERS = 40, 60


@dataclass(frozen=True)
class Group(AsDict):
    """One group of raters.

    Attributes
    ----------
    name : str
    raters, answers : int
    agreement : Agreement or None
        Of two raters of the group; None where none were asked the same question.
    plane : (n, 2) array or None
        A map of the group's answers, aligned with the map of all; None where they are too few.
    disparity : float or None
        The share of the variance of the map of all other raters that it does not account for;
        None where groups have lists of their own: other questions make other maps.
    disparity_by_chance : float or None
        The mean of the same for as many raters drawn at random.
    """

    name: str
    raters: int
    answers: int
    agreement: Agreement | None
    plane: FloatArray | None = field(repr=False)
    disparity: float | None
    disparity_by_chance: float | None

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types; the plane, last, is called ``map``."""
        facts = super().to_dict()
        plane = facts.pop("plane")
        return {"group": facts.pop("name"), **facts, "map": plane}


@dataclass(frozen=True)
class GroupComparison(AsDict):
    """Groups of raters compared.

    Attributes
    ----------
    groups : tuple of Group
    p_value : float or None
        How often groups of the same sizes, drawn at random from the same raters, differ as
        much; None where that cannot be told.
    why_not : str or None
        Why there is no ``p_value``.
    shared : int or None
        Where groups have lists of their own: how many questions all groups were asked. The test
        rests on the answers to these. None where the lists do not depend on the groups: then it
        rests on all answers.
    permutations : int
    across : float or None
        How often two raters of different groups agree; None where none were asked the same.
    without_group : int
        Raters whose group is not known; they are left out of the comparison.
    """

    groups: tuple[Group, ...]
    p_value: float | None
    why_not: str | None
    shared: int | None
    permutations: int
    across: float | None
    without_group: int


def group_of_each(statements: Statements, who: AnyArray | None, by: GroupsLike) -> list[str | None]:
    """The group of each answer's rater; None where it is not known.

    Parameters
    ----------
    by : dict from rater to group, or (m,) list
        A list gives the group of each answer; a rater belongs to one group.
    """
    if who is None:
        raise ParameterError(
            "groups of raters need two or more raters, and the statements have none; "
            "add a column called rater",
            parameter="by",
        )
    if isinstance(by, Mapping):
        names = {str(rater): _name(group) for rater, group in by.items()}
        known = {str(rater) for rater in np.unique(who).tolist()}
        if not known & set(names):
            raise ParameterError(
                f"none of the {len(names):,} raters in {parameter_name('by')} gave an answer; the "
                f"raters are {', '.join(sorted(known)[:5])}, ...",
                parameter="by",
            )
        return [names.get(str(rater)) for rater in who.tolist()]
    listed = as_list(by, "by")
    if len(listed) != len(statements):
        raise ParameterError(
            f"{parameter_name('by')} has {len(listed):,} groups for {len(statements):,} "
            f"statements; give one group for each statement, or a dict from rater to group",
            parameter="by",
        )
    groups = [_name(group) for group in listed]
    seen: dict[Any, str] = {}
    for rater, group in zip(who.tolist(), groups, strict=True):
        if group is not None and seen.setdefault(rater, group) != group:
            raise ParameterError(
                f"rater {shown(rater)} is in the groups {seen[rater]!r} and {group!r}; "
                f"a rater has one group",
                parameter="by",
            )
    # an empty cell of a rater whose group is known elsewhere
    return [seen.get(rater) for rater in who.tolist()]


def compare_groups(
    statements: Statements,
    who: AnyArray,
    group: list[str | None],
    model: AnswerModel | None,
    seed: int = 0,
    permutations: int = _PERMUTATIONS,
) -> GroupComparison:
    """Test whether groups answer alike, and draw a map of each.

    The statistic adds up, over groups and pairs of objects, the squared excess of answers that
    call the pair near or far beyond what the model of all answers expects, each by its
    variance. Whole raters are exchanged between the groups, not answers: the test keeps its
    level however careless or self-willed single raters are.

    Raters who were asked other questions cannot be exchanged. Where groups have lists of their
    own, the test rests on the questions that all groups were asked, and on what each group
    answers beyond the mean of all answers to the question; where there are none, there is no
    test: a difference of groups cannot be told from one of questions.
    """
    names = sorted({g for g in group if g is not None}, key=natural)
    if not names:
        raise ParameterError("no rater has a group; give the group of each", parameter="by")
    if len(names) == 1:
        raise ParameterError(
            f"there is only one group of raters ({names[0]}); a comparison needs two or more",
            parameter="by",
        )
    if len(names) > _MOST_GROUPS:
        raise ParameterError(
            f"there are {len(names):,} groups, and at most {_MOST_GROUPS} can be compared; "
            f"combine some of them",
            parameter="by",
        )
    has = np.array([g is not None for g in group])
    S, of = statements.take(has), np.array([names.index(g) for g in group if g is not None])
    raters, rater = np.unique(who[has], return_inverse=True)
    group_of_rater = np.zeros(len(raters), dtype=np.int64)
    group_of_rater[rater] = of
    sizes = np.bincount(group_of_rater, minlength=len(names))
    test = differing_groups(S, rater, group_of_rater, model, seed, permutations)
    maps = _maps(S, rater, group_of_rater, len(names), model, seed, compare=test.shared is None)
    found = tuple(
        Group(
            name=name,
            raters=int(sizes[g]),
            answers=int((of == g).sum()),
            agreement=agreement_between(S, rater, of == g),
            plane=maps[g][0],
            disparity=maps[g][1],
            disparity_by_chance=maps[g][2],
        )
        for g, name in enumerate(names)
    )
    everyone = len(np.unique(who))
    return GroupComparison(
        found,
        test.p_value,
        test.why_not,
        test.shared,
        permutations,
        _across(S, of),
        everyone - len(raters),
    )


@dataclass(frozen=True)
class GroupTest:
    """Whether groups answer differently; see `GroupComparison`."""

    p_value: float | None
    why_not: str | None
    shared: int | None


def differing_groups(
    statements: Statements,
    rater: IntArray,
    group_of_rater: IntArray,
    model: AnswerModel | None,
    seed: int = 0,
    permutations: int = _PERMUTATIONS,
) -> GroupTest:
    """The test of `compare_groups`, with raters and groups as numbers from 0 on."""
    n = int(group_of_rater.max()) + 1
    if np.bincount(group_of_rater, minlength=n).min() < 2:
        return GroupTest(None, "a group has fewer than two raters", None)
    question = questions(statements)[0]
    if not _lists_of_their_own(statements, question, rater, group_of_rater):
        expected = _by_model(statements, model)
        p = _permutation_test(statements, rater, group_of_rater, expected, seed, permutations)
        return GroupTest(p, None, None)
    asked = np.unique(question * n + group_of_rater[rater])
    everywhere = np.bincount(asked // n) == n
    shared, rows = int(everywhere.sum()), everywhere[question]
    if shared < _LEAST_SHARED:
        number = "no question was" if shared == 0 else f"only {shared} questions were"
        if shared == 1:
            number = "only one question was"
        return GroupTest(
            None,
            f"the groups have lists of their own, and {number} asked in all of them, so that a "
            f"difference of groups cannot be told from one of questions; ask all groups some of "
            f"the same questions",
            shared,
        )
    known, inside = np.unique(rater[rows], return_inverse=True)
    own = group_of_rater[known]
    if np.bincount(own, minlength=n).min() < 2:
        why_not = "in a group fewer than two raters were asked what all groups were asked"
        return GroupTest(None, why_not, shared)
    part = statements.take(rows)
    p = _permutation_test(part, inside, own, _by_question(part), seed, permutations)
    return GroupTest(p, None, shared)


def _lists_of_their_own(
    statements: Statements, question: IntArray, rater: IntArray, group_of_rater: IntArray
) -> bool:
    """Whether raters of one group have more questions, or pairs, in common than others have.

    Common questions of two raters are counted, of the pairs of answers that could be to the
    same question. The answers are not looked at.
    """
    pairs = side_pairs(statements)
    c = pairs.shape[1]
    for what, who in ((question, rater), (pairs.ravel(), np.repeat(rater, c))):
        n = len(group_of_rater)
        cell = np.unique(what * np.int64(n) + who)
        asked, by = cell // n, cell % n
        groups = int(group_of_rater.max()) + 1
        each = np.bincount(by, minlength=n).astype(np.float64)
        alike = np.bincount(asked * groups + group_of_rater[by], minlength=1).astype(np.float64)
        within = (float((alike**2).sum()) - len(cell)) / 2
        every = (float((np.bincount(asked).astype(np.float64) ** 2).sum()) - len(cell)) / 2
        of_group = np.bincount(group_of_rater, each)
        could_within = (float((of_group**2).sum()) - float((each**2).sum())) / 2
        could = (float(each.sum()) ** 2 - float((each**2).sum())) / 2
        if every == 0 or could_within == 0 or could == could_within:
            continue
        share = could_within / could
        beyond = (within - every * share) / np.sqrt(every * share * (1 - share))
        rate, across = within / could_within, (every - within) / (could - could_within)
        if beyond > _BEYOND and across < _AS_MUCH_IN_COMMON * rate:
            return True
    return False


def _by_model(statements: Statements, model: AnswerModel | None) -> FloatArray:
    """How likely the answers are that could be given, the given one first."""
    c = n_answers(statements.kind)
    if model is None:
        return np.full((len(statements), c), 1 / c)
    return np.asarray(model.map.predict_proba(statements))


def _by_question(statements: Statements) -> FloatArray:
    """The same by all answers to the question."""
    question, answer, triple = questions(statements)
    votes = np.bincount(question * 3 + answer, minlength=3 * len(triple)).reshape(-1, 3)
    shares = (votes / votes.sum(axis=1, keepdims=True))[question]
    if statements.kind == "closer":
        order = np.stack([answer, 1 - answer], axis=1)
    else:
        place = triple[question][:, None, :] == statements.triples[:, :, None]
        order = place.argmax(axis=2)
    return np.take_along_axis(shares, order.astype(np.int64), axis=1)


def _excess(
    statements: Statements, rater: IntArray, n_raters: int, expected: FloatArray
) -> tuple[Any, Any]:
    """By rater and pair: answers beyond what is expected, and their variance; sparse (r, p)."""
    from scipy.sparse import coo_array

    P, c = expected, expected.shape[1]
    pair = side_pairs(statements).ravel()
    beyond = -P
    beyond[:, 0] += 1.0
    at = (np.repeat(rater, c), pair)
    shape = (n_raters, int(pair.max()) + 1)
    excess = coo_array((beyond.ravel(), at), shape=shape).tocsr()
    variance = coo_array(((P * (1 - P)).ravel(), at), shape=shape).tocsr()
    return excess, variance


def _permutation_test(
    statements: Statements,
    rater: IntArray,
    group_of_rater: IntArray,
    expected: FloatArray,
    seed: int,
    permutations: int,
) -> float:
    n_raters, n_groups = len(group_of_rater), int(group_of_rater.max()) + 1
    excess, variance = _excess(statements, rater, n_raters, expected)
    rng = np.random.default_rng([seed, 5])
    own = _difference(group_of_rater[None], n_groups, excess, variance)[0]
    at_a_time = max(1, _CHUNK // max(excess.shape[1], 1))
    as_much = done = 0
    while done < permutations:
        count = min(at_a_time, permutations - done)
        drawn = rng.permuted(np.tile(group_of_rater, (count, 1)), axis=1)
        found = _difference(drawn, n_groups, excess, variance)
        # equal up to rounding is equal: some exchanges change nothing
        as_much += int((found >= own * (1 - 1e-9)).sum())
        done += count
    return (1 + as_much) / (1 + permutations)


def _difference(groups: IntArray, n_groups: int, excess: Any, variance: Any) -> FloatArray:
    """The statistic of each division, (k,): divisions are rows of group numbers."""
    total = np.zeros(len(groups))
    for g in range(n_groups):
        inside = (groups == g).astype(np.float64)
        total += (((inside @ excess) ** 2) / (inside @ variance + 1.0)).sum(axis=1)
    return total


def _maps(
    statements: Statements,
    rater: IntArray,
    group_of_rater: IntArray,
    n_groups: int,
    model: AnswerModel | None,
    seed: int,
    *,
    compare: bool,
) -> list[tuple[FloatArray | None, float | None, float | None]]:
    """A map of each group aligned with that of all; how far it, and a random one, is off."""
    nothing: list[tuple[FloatArray | None, float | None, float | None]] = [(None,) * 3] * n_groups
    if model is None:
        return nothing
    rng = np.random.default_rng([seed, 6])
    found = nothing.copy()
    for g in range(n_groups):
        mine = statements.take(group_of_rater[rater] == g)
        if choose_method("embed", mine) != "choice":
            continue
        plane = _plane(mine, model)
        aligned = procrustes(plane, model.plane)[0]
        if not compare:
            found[g] = aligned, None, None
            continue
        rest = _plane(statements.take(group_of_rater[rater] != g), model)
        by_chance = []
        for _ in range(_RANDOM_MAPS):
            inside = rng.permutation(group_of_rater)[rater] == g
            some, others = (_plane(statements.take(part), model) for part in (inside, ~inside))
            by_chance.append(procrustes(some, others)[1])
        found[g] = aligned, procrustes(plane, rest)[1], float(np.mean(by_chance))
    return found


def _plane(statements: Statements, model: AnswerModel) -> FloatArray:
    d = min(2, statements.n_objects - 1)
    plane = np.zeros((statements.n_objects, 2))
    plane[:, :d] = ChoiceMap(
        d, l2=model.map.l2_, lapses="one", random_state=0, max_iter=200, tol=1e-5
    ).fit_transform(statements)
    return plane


def _across(statements: Statements, group: IntArray) -> float | None:
    """How often answers of different groups to the same question agree; each question once."""
    cells = cells_of(statements, group)
    asked, shares = cells.by_question(*cells.between)
    return float(shares.mean()) if asked.any() else None


def _name(group: Any) -> str | None:
    return None if is_missing(group) else str(group).strip() or None


@dataclass(frozen=True)
class CrossPrediction(AsDict):
    """How well a map of one rater's answers predicts another's.

    Attributes
    ----------
    raters : tuple of str
    predicted : (R, R) array
        Row: whose answers are predicted; column: whose answers the map was made of. NaN on
        the diagonal.
    left_out : int
        Raters with too few answers, or beyond the number that is compared.
    """

    raters: tuple[str, ...]
    predicted: FloatArray = field(repr=False)
    left_out: int

    @property
    def mean(self) -> float:
        """The mean over all pairs of raters."""
        return float(np.nanmean(self.predicted))

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types."""
        return {**super().to_dict(), "mean": self.mean}


def cross_predict(
    statements: Statements, who: AnyArray, model: AnswerModel
) -> CrossPrediction | None:
    """Predict raters from each other, one by one; None where fewer than two have enough answers.

    Each map is made of one rater's answers alone, in as many dimensions as the map of all, but
    at most two, and with its penalty.
    """
    names, rater = np.unique(who, return_inverse=True)
    answers = np.bincount(rater)
    order = np.argsort(-answers, kind="stable")
    chosen = [int(i) for i in order if answers[i] >= _LEAST_ANSWERS and str(names[i]) != ""]
    chosen = sorted(chosen[:_MOST_RATERS])
    if len(chosen) < 2:
        return None
    d = min(2, model.map.n_components_)
    rows = [np.flatnonzero(rater == i) for i in chosen]
    predicted = np.full((len(chosen), len(chosen)), np.nan)
    asked = statements.take(np.concatenate(rows))
    at = np.repeat(np.arange(len(chosen)), [len(r) for r in rows])
    for column, mine in enumerate(rows):
        fitted = ChoiceMap(
            d, l2=model.map.l2_, lapses="one", random_state=0, max_iter=60, tol=1e-4
        ).fit(statements.take(mine))
        P = fitted.predict_proba(asked)
        best = P.max(axis=1, keepdims=True) == P
        right = best[:, 0] / best.sum(axis=1)
        predicted[:, column] = np.bincount(at, right) / np.bincount(at)
        predicted[column, column] = np.nan
    return CrossPrediction(
        tuple(str(names[i]) for i in chosen), predicted, len(names) - len(chosen)
    )
