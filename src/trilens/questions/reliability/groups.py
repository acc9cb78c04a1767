"""Raters compared: whether groups of them answer alike, and how well one predicts another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from trilens._parameters import shown
from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.agreement import Agreement, AsDict, agreement_between, cells_of
from trilens.errors import ParameterError, parameter_name
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.geometry import procrustes
from trilens.questions.group_test import PERMUTATIONS, differing_groups
from trilens.questions.method import choose_method
from trilens.questions.model import AnswerModel, quick_map
from trilens.questions.reliability.raters import natural
from trilens.statements import Statements
from trilens.statements.columns import as_list, is_missing

GroupsLike: TypeAlias = Mapping[Any, Any] | Iterable[Any]

#: Random divisions of the raters, with which the maps of the groups are compared.
_RANDOM_MAPS = 5
#: More groups than these are not compared.
MOST_GROUPS = 12
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


def group_names(group: list[str | None]) -> list[str]:
    """The different groups, in their natural order; two at least, and not too many."""
    names = sorted({g for g in group if g is not None}, key=natural)
    if not names:
        raise ParameterError("no rater has a group; give the group of each", parameter="by")
    if len(names) == 1:
        raise ParameterError(
            f"there is only one group of raters ({names[0]}); a comparison needs two or more",
            parameter="by",
        )
    if len(names) > MOST_GROUPS:
        raise ParameterError(
            f"there are {len(names):,} groups, and at most {MOST_GROUPS} can be compared; "
            f"combine some of them",
            parameter="by",
        )
    return names


def group_of_answers(
    statements: Statements, who: AnyArray | None, by: GroupsLike
) -> list[str | None]:
    """The group of each answer; None where it is not known. As `group_of_each`."""
    if isinstance(by, Mapping):
        if who is None:
            raise ParameterError(
                "groups of raters need to know who gave each answer; add a column called rater, or "
                "give a group for each answer",
                parameter="by",
            )
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
    return [_name(group) for group in listed]


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
    groups = group_of_answers(statements, who, by)
    if isinstance(by, Mapping):
        return groups
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


def groups_of_raters(
    statements: Statements,
    who: AnyArray,
    group: list[str | None],
    model: AnswerModel | None,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
) -> GroupComparison:
    """Test whether groups answer alike (`differing_groups`), and draw a map of each."""
    names = group_names(group)
    has = np.array([g is not None for g in group])
    S, of = statements.take(has), np.array([names.index(g) for g in group if g is not None])
    raters, rater = np.unique(who[has], return_inverse=True)
    group_of_rater = np.zeros(len(raters), dtype=np.int64)
    group_of_rater[rater] = of
    sizes = np.bincount(group_of_rater, minlength=len(names))
    test = differing_groups(S, rater, group_of_rater[rater], model, seed, permutations)
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
    plane[:, :d] = quick_map(model.map, d, lapses="one").fit_transform(statements)
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
