"""Whether groups of raters answer alike, with a map of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from trilens._parameters import shown
from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.errors import ParameterError
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.geometry import procrustes
from trilens.statements import Statements
from trilens.statements.columns import as_list, is_missing
from trilens.tasks.method import choose_method
from trilens.tasks.model import AnswerModel
from trilens.tasks.reliability.agreement import Agreement, agreement_between

GroupsLike: TypeAlias = Mapping[Any, Any] | Iterable[Any]

PERMUTATIONS = 999
#: Divisions of the raters at random, with which the maps of the groups are compared.
_RANDOM_MAPS = 5
#: Numbers that permutations are worked out with at a time.
_CHUNK = 20_000_000
#: More groups than these are not compared.
MOST_GROUPS = 12


@dataclass(frozen=True)
class Group:
    """One group of raters.

    Attributes
    ----------
    name : str
    raters, answers : int
    agreement : Agreement or None
        Of two raters of the group; None where none were asked the same question.
    plane : (n, 2) array or None
        A map of the group's answers, laid over the map of all; None where they are too few.
    disparity : float or None
        The share of the variance of the map of all other raters that it does not meet.
    disparity_by_chance : float or None
        The same for as many raters drawn at random, in the mean.
    """

    name: str
    raters: int
    answers: int
    agreement: Agreement | None
    plane: FloatArray | None = field(repr=False)
    disparity: float | None
    disparity_by_chance: float | None

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types."""
        return {
            "group": self.name,
            "raters": self.raters,
            "answers": self.answers,
            "agreement": None if self.agreement is None else self.agreement.to_dict(),
            "disparity": self.disparity,
            "disparity_by_chance": self.disparity_by_chance,
            "map": None if self.plane is None else self.plane.tolist(),
        }


@dataclass(frozen=True)
class GroupComparison:
    """Groups of raters beside each other.

    Attributes
    ----------
    groups : tuple of Group
    p_value : float or None
        How often groups of the same sizes, drawn at random from the same raters, differ as
        much; None where a group has fewer than two raters, so that nothing can be told.
    permutations : int
    across : float or None
        How often two raters of different groups agree; None where none were asked the same.
    without_group : int
        Raters whose group is not known: they are left out here.
    """

    groups: tuple[Group, ...]
    p_value: float | None
    permutations: int
    across: float | None
    without_group: int

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types."""
        return {
            "groups": [group.to_dict() for group in self.groups],
            "p_value": self.p_value,
            "permutations": self.permutations,
            "across": self.across,
            "without_group": self.without_group,
        }


def group_of_each(statements: Statements, who: AnyArray | None, by: GroupsLike) -> list[str | None]:
    """The group of each answer's rater; None where it is not known.

    Parameters
    ----------
    by : dict from rater to group, or (m,) list
        A list gives the group of each answer; a rater belongs to one group.
    """
    if who is None:
        raise ParameterError(
            "groups of raters need raters, two or more, and the statements have none; "
            "give a column rater"
        )
    if isinstance(by, Mapping):
        names = {str(rater): _name(group) for rater, group in by.items()}
        known = {str(rater) for rater in np.unique(who).tolist()}
        if not known & set(names):
            raise ParameterError(
                f"none of the {len(names):,} raters in by= gave an answer; the raters are "
                f"{', '.join(sorted(known)[:5])}, ..."
            )
        return [names.get(str(rater)) for rater in who.tolist()]
    listed = as_list(by, "by")
    if len(listed) != len(statements):
        raise ParameterError(
            f"by has {len(listed):,} groups for {len(statements):,} statements; give one for "
            f"each, or a dict from rater to group"
        )
    groups = [_name(group) for group in listed]
    seen: dict[Any, str] = {}
    for rater, group in zip(who.tolist(), groups, strict=True):
        if group is not None and seen.setdefault(rater, group) != group:
            raise ParameterError(
                f"rater {shown(rater)} is in the groups {seen[rater]!r} and {group!r}; a rater "
                f"has one group"
            )
    # an empty cell of a rater whose group is known elsewhere
    return [seen.get(rater) for rater in who.tolist()]


def compare_groups(
    statements: Statements,
    who: AnyArray,
    group: list[str | None],
    model: AnswerModel | None,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
) -> GroupComparison:
    """Test whether groups answer alike, and draw a map of each.

    The statistic adds up, over groups and pairs of objects, the squared excess of answers that
    call the pair near or far beyond what the model of all answers expects, each by its
    variance. Whole raters are exchanged between the groups, not answers: the test keeps its
    level however careless or self-willed single raters are.
    """
    names = sorted({g for g in group if g is not None}, key=_order)
    if len(names) < 2:
        seen = names[0] if names else "none"
        raise ParameterError(
            f"there is one group of raters ({seen}); two or more can be compared"
            if names
            else "no rater has a group; give the group of each"
        )
    if len(names) > MOST_GROUPS:
        raise ParameterError(
            f"there are {len(names):,} groups; at most {MOST_GROUPS} are compared: join some"
        )
    has = np.array([g is not None for g in group])
    S, of = statements.take(has), np.array([names.index(g) for g in group if g is not None])
    raters, rater = np.unique(who[has], return_inverse=True)
    group_of_rater = np.zeros(len(raters), dtype=np.int64)
    group_of_rater[rater] = of
    sizes = np.bincount(group_of_rater, minlength=len(names))
    p_value = None
    if sizes.min() >= 2:
        p_value = _permutation_test(S, rater, group_of_rater, model, seed, permutations)
    maps = _maps(S, rater, group_of_rater, len(names), model, seed)
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
        found, p_value, permutations, _across(S, of, len(names)), everyone - len(raters)
    )


def pulls(
    statements: Statements, unit: IntArray, n_units: int, model: AnswerModel | None
) -> tuple[Any, Any]:
    """By unit and pair: answers beyond what is expected, and their variance; sparse (u, p)."""
    from scipy.sparse import coo_array

    sides = 2 if statements.kind == "closer" else 3
    if model is None:
        P = np.full((len(statements), sides), 1 / sides)
    else:
        P = model.map.predict_proba(statements)
    a, b, c = statements.triples.T.astype(np.int64)
    compared = [(a, b), (a, c)] if sides == 2 else [(b, c), (a, c), (a, b)]
    n = statements.n_objects
    codes = np.stack([np.minimum(i, j) * n + np.maximum(i, j) for i, j in compared], axis=1)
    known, pair = np.unique(codes.ravel(), return_inverse=True)
    beyond = -P
    beyond[:, 0] += 1.0
    at = (np.repeat(unit, sides), pair)
    shape = (n_units, len(known))
    excess = coo_array((beyond.ravel(), at), shape=shape).tocsr()
    variance = coo_array(((P * (1 - P)).ravel(), at), shape=shape).tocsr()
    return excess, variance


def _permutation_test(
    statements: Statements,
    rater: IntArray,
    group_of_rater: IntArray,
    model: AnswerModel | None,
    seed: int,
    permutations: int,
) -> float:
    n_raters, n_groups = len(group_of_rater), int(group_of_rater.max()) + 1
    excess, variance = pulls(statements, rater, n_raters, model)
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
) -> list[tuple[FloatArray | None, float | None, float | None]]:
    """A map of each group over that of all, and how far it and one of random raters are off."""
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
        rest = _plane(statements.take(group_of_rater[rater] != g), model)
        by_chance = []
        for _ in range(_RANDOM_MAPS):
            inside = rng.permutation(group_of_rater)[rater] == g
            some, others = (_plane(statements.take(part), model) for part in (inside, ~inside))
            by_chance.append(procrustes(some, others)[1])
        aligned = procrustes(plane, model.plane)[0]
        found[g] = aligned, procrustes(plane, rest)[1], float(np.mean(by_chance))
    return found


def _plane(statements: Statements, model: AnswerModel) -> FloatArray:
    d = min(2, statements.n_objects - 1)
    plane = np.zeros((statements.n_objects, 2))
    plane[:, :d] = ChoiceMap(
        d, l2=model.map.l2_, lapses="one", random_state=0, max_iter=200, tol=1e-5
    ).fit_transform(statements)
    return plane


def _across(statements: Statements, group: IntArray, n_groups: int) -> float | None:
    """How often answers of different groups to the same question agree; each question once."""
    from trilens.tasks.reliability.agreement import cells_of

    cells = cells_of(statements, group)
    own, total = cells.votes.sum(axis=1), cells.all_votes.sum(axis=1)[cells.question]
    n = len(cells.all_votes)
    pairs = np.bincount(cells.question, own * (total - own), n)
    same = (cells.votes * (cells.all_votes[cells.question] - cells.votes)).sum(axis=1)
    agreed = np.bincount(cells.question, same, n)
    asked = pairs > 0
    return float((agreed[asked] / pairs[asked]).mean()) if asked.any() else None


def _name(group: Any) -> str | None:
    return None if is_missing(group) else str(group).strip() or None


def _order(name: str) -> tuple[bool, float, str]:
    number = name.isdecimal()
    return (not number, float(name) if number else 0.0, name)
