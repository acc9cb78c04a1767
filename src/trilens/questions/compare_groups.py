"""`compare_groups`: what groups of raters, or conditions, see alike and what they do not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from trilens import words
from trilens._parameters import seed_of, wrong
from trilens._tabular import AsDict, Tabular, facts, natural
from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray, RandomState
from trilens.agreement import agreement_between
from trilens.answers import Answers
from trilens.ask import Data, is_enough, statements_of, with_fit
from trilens.calibration import GROUP_PERMUTATIONS
from trilens.errors import ParameterError, option, parameter_name
from trilens.kinds import chance
from trilens.maps.fitted import Fit, fit, fit_answers
from trilens.maps.fitting import How
from trilens.maps.geometry import procrustes
from trilens.maps.held_out import QUICKLY, Chances, folds_of, held_out, parts_of
from trilens.maps.likelihood import object_order
from trilens.maps.map import predicted
from trilens.questions.clouds import LEVEL
from trilens.questions.group_agreement import GroupAgreement, group_agreement
from trilens.questions.group_test import GroupTest, differing_groups
from trilens.questions.medoid import medoid
from trilens.statements import Kind, Statements
from trilens.statements.columns import as_list, counts_up, is_missing, is_table
from trilens.statements.combine import questions

GroupsLike: TypeAlias = Mapping[Any, Any] | Iterable[Any]
By: TypeAlias = str | GroupsLike

#: More groups than these are not compared.
MOST_GROUPS = 12


@dataclass(frozen=True)
class GroupView(AsDict):
    """What one group sees."""

    name: str
    #: None where raters are not known.
    raters: int | None
    answers: int
    #: How often two raters of the group agree; None where none were asked the same question.
    agreement: float | None
    #: What is most central by the answers of the group, and ``candidates``, all that it may be.
    #: None where they are too few for a map.
    medoid: str | None
    candidates: tuple[str, ...]
    #: (n,): of each object, by these answers.
    centrality: FloatArray | None = field(repr=False)
    #: The share of the group's answers that a map predicts: one of the answers of half of the
    #: group's raters, of those of the other half; and one of all other groups' answers.
    predicted_by_own: float | None
    predicted_by_others: float | None
    #: (n, 2): a map of the group's answers, aligned with the map of all.
    plane: FloatArray | None = field(repr=False)


@dataclass(frozen=True)
class ComparedGroups(Tabular):
    """Groups of raters, or conditions, compared.

    Attributes
    ----------
    kind : {"central", "odd", "closer"}
    by : str or None
        The column that has the groups, where it is one.
    groups : tuple of GroupView
    p_value : float or None
        How often groups of the same sizes, drawn at random from the same raters, differ as
        much; None where that cannot be determined.
    differ : bool
        Whether that is at most 0.05.
    why_not : str or None
        Why there is no ``p_value``.
    shared : int or None
        Where groups have lists of their own: how many questions all groups were asked; the test
        rests on these alone.
    exchanged : {"raters", "answers"}
        Whole raters, between the groups; or, where raters answered under several conditions,
        the answers of each rater (with ``shared``, those to each question).
    permutations : int
    differing : tuple of str
        The objects whose place differs beyond chance, the clearest first; only where groups
        differ.
    object_p_value : (n,) array or None
        For each object, how often any object would differ as much.
    shift : (n,) array or None
        How far apart the places of each object are on the maps of the groups, the largest of
        all pairs of groups; by the mean distance of two objects.
    without_group : int
        Answers whose group is not known; they are left out.
    without_answers : tuple of str
        Raters that have a group, and gave no answer.
    chance : float
    names : tuple of str
        The objects.
    agreement : GroupAgreement or None
        How much more often raters agree within groups than between them; None where too few
        questions were answered in several groups.
    """

    kind: Kind
    by: str | None
    groups: tuple[GroupView, ...]
    p_value: float | None
    differ: bool
    why_not: str | None
    shared: int | None
    exchanged: str
    permutations: int
    differing: tuple[str, ...]
    object_p_value: FloatArray | None = field(repr=False)
    shift: FloatArray | None = field(repr=False)
    without_group: int
    chance: float
    names: tuple[str, ...] = field(repr=False)
    without_answers: tuple[str, ...] = ()
    agreement: GroupAgreement | None = None

    @property
    def left_out(self) -> list[str]:
        """What could not be compared, in words."""
        return list(words.left_out_of_groups(self.without_group, self.without_answers))

    def _headline(self) -> str:
        return self.sentences()[0]

    def columns(self) -> dict[str, Sequence[Any]]:
        """A row for each object."""
        found: dict[str, Sequence[Any]] = {"object": self.names}
        for group in self.groups:
            if group.centrality is not None:
                found[f"centrality_{group.name}"] = group.centrality.tolist()
        if self.shift is not None:
            found["shift"] = self.shift.tolist()
        if self.object_p_value is not None:
            found["p_value"] = self.object_p_value.tolist()
        found["differs"] = [name in self.differing for name in self.names]
        return found

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types, as ``trilens analyze --by COLUMN --json`` has them."""
        return {
            **facts(self, "kind", "by", "p_value", "differ", "why_not", "shared", "exchanged"),
            **facts(self, "permutations", "differing", "groups", "agreement", "without_group"),
            **facts(self, "without_answers", "left_out", "chance"),
            "objects": list(self.names),
            **facts(self, "object_p_value", "shift"),
            "sentences": self.sentences(),
        }

    def sentences(self) -> list[str]:
        """What was found, in words."""
        return list(words.compared_groups(self))


def compare_groups(answers: Data, by: By, *, random_state: RandomState = 0) -> ComparedGroups:
    """Ask groups of raters, or conditions, the same questions, and test whether they differ.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table or (m, 3) array
    by : str, dict, Series or list
        The groups: a column of the file or table; a dict, or a pandas Series, from rater to
        group; or a group for each answer. What is None, NaN or empty is left out.

    Notes
    -----
    The test (`trilens.questions.group_test`) exchanges whole raters between the groups. Where
    raters answered under several conditions it exchanges the answers of each rater. Groups are said
    to differ if at most 5 % of 999 exchanges make them differ as much. How often that happens to
    groups that see alike, and how often other views are found, is measured in
    ``docs/claims.md``. A group of people who are less careful answers differently too.

    Examples
    --------
    >>> from trilens.simulate import study
    >>> S = study(n_statements=2000).statements
    >>> found = compare_groups(S, {rater: int(rater) % 2 for rater in set(S.raters.tolist())})
    >>> [group.name for group in found.groups], found.differ
    (['0', '1'], False)
    """
    seed = seed_of(random_state)
    source, first = _source(answers)
    grouped = groups_given(source, by)
    given, labels, names = grouped.statements, grouped.labels, grouped.names
    who = given.raters if given.raters is not None else given.rounds
    known = np.array([each is not None for each in labels])
    S = given
    if not known.all():
        S, who = given.take(known), None if who is None else who[known]
    place = {name: i for i, name in enumerate(names)}
    group = np.array([place[each] for each in labels if each is not None], dtype=np.int64)
    S, group, who, back = _in_order(S, group, who)
    fitted = None
    if is_enough(S):
        made = fit(S, random_state=seed) if first is None or not known.all() else first
        fitted = made.canonical[0]
    rater, test = None, GroupTest(None, "no raters", None)
    if who is not None:
        rater = np.unique(who, return_inverse=True)[1].astype(np.int64)
        test = differing_groups(S, rater, group, fitted, seed, objects=True)
    groups = [_view(S, name, group == g, rater, fitted, back, seed) for g, name in enumerate(names)]
    differ = test.p_value is not None and test.p_value <= LEVEL
    object_p = None if test.objects is None else test.objects[back]
    differing: tuple[str, ...] = ()
    if differ and object_p is not None:
        order = np.argsort(object_p, kind="stable")
        differing = tuple(given.names[i] for i in order if object_p[i] <= LEVEL)
    return ComparedGroups(
        kind=given.kind,
        by=grouped.column,
        groups=tuple(groups),
        p_value=test.p_value,
        differ=differ,
        why_not=words.no_group_test(test),
        shared=test.shared,
        exchanged=test.exchanged,
        permutations=GROUP_PERMUTATIONS,
        differing=differing,
        object_p_value=object_p,
        shift=_shift([each.plane for each in groups]),
        agreement=None if rater is None else group_agreement(S, rater, group),
        without_group=int((~known).sum()),
        chance=chance(given.kind),
        names=given.names,
        without_answers=grouped.without_answers,
    )


def _source(answers: Any) -> tuple[Any, Fit | None]:
    """The answers, with their other columns where there are any; and their fit, if it is made."""
    return (Answers(answers), None) if is_table(answers) else with_fit(answers)


@dataclass(frozen=True, eq=False)
class Grouped:
    """Statements, and the group of each; None where it is not known."""

    statements: Statements
    labels: list[str | None]
    #: The groups, and the column that has them, where it is one.
    names: list[str]
    column: str | None
    #: Raters that have a group, and gave no answer.
    without_answers: tuple[str, ...]


def groups_given(statements: Data, by: By) -> Grouped:
    """The groups that ``by`` means, or one line that says what is wrong with it."""
    statements = _source(statements)[0]
    if isinstance(statements, Answers) and not statements.in_counts and not statements.held:
        raise ParameterError(
            f"groups cannot be compared in files too large to hold ({statements.n_bytes:,} bytes); "
            f"use a part of the answers, with {option('where')}",
            parameter="answers",
        )
    given, column, label = _labels(statements, by)
    if len(given) == 0:
        raise ParameterError("there are no answers to compare", parameter="answers")
    who = given.raters if given.raters is not None else given.rounds
    labels = group_of_answers(given, who, label)
    strangers: set[str] = set()
    if isinstance(label, Mapping) and who is not None:
        strangers = set(map(str, label)) - set(map(str, np.unique(who).tolist()))
    names = group_names(labels)
    return Grouped(given, labels, names, column, tuple(sorted(strangers, key=natural)))


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
    """The group of each answer; None where it is not known."""
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


def _name(group: Any) -> str | None:
    return None if is_missing(group) else str(group).strip() or None


def _labels(statements: Data, by: By) -> tuple[Statements, str | None, GroupsLike]:
    """The statements, the column of the groups if it is one, and the groups."""
    given = statements_of(statements, "compare_groups")
    if not isinstance(by, str):
        # a Series knows whose group it is by its index, unless that only counts the answers
        index = getattr(by, "index", None)
        if index is not None and not callable(index) and not isinstance(by, Mapping):
            counts = len(index) == len(given) and counts_up(index)
            by = list(by) if counts else dict(zip(index, by, strict=True))
        if not hasattr(by, "__iter__"):
            raise wrong("by", by, "the name of a column, a dict from rater to group, or a list")
        return given, None, by
    if by.casefold() in ("rater", "round"):
        own = getattr(given, f"{by.casefold()}s")
        if own is not None:
            return given, by, own.tolist()
    if not isinstance(statements, Answers):
        raise ParameterError(
            f"column {by!r}: statements keep no further columns; give the file as "
            f"Answers(path), a table, or a dict from rater to group",
            parameter="by",
        )
    return given, by, statements.column(by).tolist()


def _in_order(
    statements: Statements, group: IntArray, who: AnyArray | None
) -> tuple[Statements, IntArray, AnyArray | None, IntArray]:
    """All in an order that does not depend on how rows and objects were given.

    The last is the place of each given object.
    """
    order = object_order(statements._names, statements.n_objects)
    S = statements.subset(order) if (np.diff(order) != 1).any() else statements
    of = np.zeros(len(S), dtype=np.int64)
    if who is not None:
        of = np.unique(who, return_inverse=True)[1].astype(np.int64)
    rows = np.lexsort((group, *S.triples.T[::-1], of))
    return S.take(rows), group[rows], None if who is None else who[rows], np.argsort(order)


def _view(
    S: Statements,
    name: str,
    inside: BoolArray,
    rater: IntArray | None,
    fitted: Fit | None,
    back: IntArray,
    seed: int,
) -> GroupView:
    part = S.take(inside)
    whose = None if rater is None else rater[inside]
    agree = None if whose is None else agreement_between(part, whose)
    middle, plane = None, None
    own = others = None
    if fitted is not None and is_enough(part):
        # in as many dimensions as the map of all: quicker, and groups differ in nothing else
        how = How(fitted.map.n_components, fitted.settings.l2, fitted.map.length)
        middle = medoid(fit_answers(part, how, random_state=seed))
        plane = plane_of(part, fitted)[back]
        own = _halves(part, whose, fitted, seed)
        rest = S.take(~inside)
        if is_enough(rest):
            by_rest = fitted.refit(rest, lapse="one", **QUICKLY).probabilities(part)
            others = float(predicted(by_rest).mean())
    return GroupView(
        name=name,
        raters=None if whose is None else len(np.unique(whose)),
        answers=len(part),
        agreement=None if agree is None else agree.share,
        medoid=None if middle is None else middle.name,
        candidates=() if middle is None else tuple(middle.candidates),
        centrality=None if middle is None else middle.scores[back],
        predicted_by_own=own,
        predicted_by_others=others,
        plane=plane,
    )


def plane_of(part: Statements, fitted: Fit) -> FloatArray:
    """A map of some answers in two dimensions, (n, 2), aligned with that of all."""
    plane = np.zeros((part.n_objects, 2))
    d = min(2, part.n_objects - 1)
    plane[:, :d] = fitted.refit(part, n_components=d, lapse="one", **QUICKLY).X
    return procrustes(plane, fitted.plane)[0]


def _halves(part: Statements, rater: IntArray | None, fitted: Fit, seed: int) -> float | None:
    """How well half of the group predicts the other: half of its raters, or of the questions."""
    unit = questions(part)[0] if rater is None or len(np.unique(rater)) < 2 else rater
    half = parts_of(unit, 2, np.random.default_rng([seed, 43]))
    if not half.any() or not all(is_enough(part.take(half == k)) for k in (0, 1)):
        return None

    def make(seen: BoolArray) -> Chances:
        return fitted.refit(part.take(seen), lapse="one", **QUICKLY).probabilities

    return float(predicted(held_out(part, folds_of(half), make)).mean())


def _shift(planes: list[FloatArray | None]) -> FloatArray | None:
    from scipy.spatial.distance import pdist

    drawn = [plane for plane in planes if plane is not None]
    if len(drawn) < 2:
        return None
    usual = float(np.mean([pdist(plane).mean() for plane in drawn]))
    apart = [np.linalg.norm(one - other, axis=1) for one, other in combinations(drawn, 2)]
    return np.asarray(np.max(apart, axis=0) / max(usual, 1e-300))
