"""Whether groups of raters, or conditions, answer differently: what may be exchanged, and a test.

If groups do not matter, raters could as well have been in other groups: whole raters are exchanged
between the groups, not answers, so that the test keeps its level however careless or self-willed
single raters are. Where raters answer under several conditions, the conditions are exchanged
between the answers of each rater.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from trilens._typing import BoolArray, FloatArray, IntArray
from trilens.calibration import (
    AS_MUCH_IN_COMMON,
    GROUP_PERMUTATIONS,
    OWN_LISTS_ERRORS,
    OWN_LISTS_ERRORS_OF_ANSWERS,
)
from trilens.kinds import n_answers
from trilens.maps.draws import MOST_FACTORED
from trilens.maps.fitted import Fit
from trilens.maps.laplace import hold_still
from trilens.maps.likelihood import collect_choices, likelihood
from trilens.questions.clouds import p_value
from trilens.statements import Statements
from trilens.statements.combine import questions, side_pairs

#: With fewer different divisions of the raters no difference could be beyond chance.
_LEAST_DIVISIONS = 20
#: Raters with answers in several groups are compared with themselves if they gave this share of
#: the answers.
_MOSTLY = 0.5
#: Groups share a question that this share of the raters of each was asked: if it were fewer, an
#: exchange of raters would change which questions the groups share.
_ASKED_OF = 0.5
#: With fewer questions in common groups with lists of their own are not compared.
_LEAST_SHARED = 5
#: Numbers that permutations are worked out with at a time.
_CHUNK = 20_000_000


#: Why there is no test: raters are not known; some are in several groups; groups have lists of
#: their own; a group has fewer than two raters, or fewer who were asked the same; there are so few
#: raters that any difference could be chance.
WhyNot: TypeAlias = Literal[
    "no raters", "in between", "own lists", "one rater", "one rater shared", "few raters"
]


@dataclass(frozen=True)
class GroupTest:
    """Whether groups answer differently."""

    #: How often groups differ as much after an exchange; None where that cannot be determined.
    p_value: float | None
    #: Why; `trilens.words.no_group_test` has the sentence.
    why_not: WhyNot | None
    #: Where groups have lists of their own: how many questions all groups were asked. The test
    #: rests on the answers to these.
    shared: int | None
    #: Whole raters between groups, or the answers of each rater between conditions.
    exchanged: Literal["raters", "answers"] = "raters"
    #: For each object, how often any object would differ as much in its place; None where it was
    #: not asked for, or cannot be determined.
    objects: FloatArray | None = field(default=None, repr=False)
    #: Raters with answers in several groups, and all raters; where that is why there is no test.
    several: int = 0
    raters: int = 0


def differing_groups(
    statements: Statements,
    rater: IntArray,
    group: IntArray,
    fitted: Fit | None,
    seed: int = 0,
    permutations: int = GROUP_PERMUTATIONS,
    *,
    objects: bool = False,
) -> GroupTest:
    """Test whether groups answer alike.

    The statistic adds up, over groups and pairs of objects, the squared excess of answers that
    call the pair near or far beyond what the model of all answers expects, each by its variance.

    Raters who were asked other questions cannot be exchanged. Where groups have lists of their
    own, the test rests on the questions that all groups were asked (at least half of the raters
    of each), and on what each group answers beyond the mean of all answers to the question;
    where there are none, there is no test: a difference of groups is not distinguished from one of
    questions. If raters answered under several conditions with lists of their own, conditions
    are exchanged between the answers to each question.

    The test of single objects rests on the step that the answers of each group would move every
    object by, from its place on the map of all answers (the slope of the likelihood times the
    inverse of its information; a change of scale, which comes of care, is left out). By
    its mean over the exchanges, the largest step of any object is compared with those after
    exchanges, so that at most one study in twenty names an object where groups do not matter
    (Westfall and Young, 1993); it is made where ``objects`` says so.

    The rater and the group of each answer are numbers from 0 on; the fit is of all the answers,
    with the objects in the same order.
    """
    n_groups = int(group.max()) + 1
    cell = np.unique(rater * n_groups + group)
    several = np.bincount(cell // n_groups) > 1
    exchanged: Literal["raters", "answers"] = "raters"
    if several.any():
        if several[rater].mean() < _MOSTLY:
            number = int(several.sum())
            return GroupTest(None, "in between", None, several=number, raters=len(several))
        exchanged = "answers"
        rows = several[rater]
        statements, group = statements.take(rows), group[rows]
        rater = np.unique(rater[rows], return_inverse=True)[1].astype(np.int64)
    question = questions(statements)[0]
    shared, expected = None, None
    whole = exchanged == "raters"
    least = OWN_LISTS_ERRORS if whole else OWN_LISTS_ERRORS_OF_ANSWERS
    if lists_of_their_own(statements, question, rater, group, least):
        everywhere = _asked_of_all(question, rater, group, _ASKED_OF if whole else 0.0)
        shared, rows = int(everywhere.sum()), everywhere[question]
        if shared < _LEAST_SHARED:
            return GroupTest(None, "own lists", shared, exchanged)
        statements, rater, group = statements.take(rows), rater[rows], group[rows]
        question, expected = question[rows], _by_question(statements)
    if whole:
        exchange = Exchange.of_raters(rater, group)
    else:
        exchange = Exchange.of_answers(statements, group, rater if shared is None else question)
    too_few = exchange.why_not(n_groups, shared)
    if too_few is not None:
        return GroupTest(None, too_few, shared, exchanged)
    parts: list[_Pairs | _Places] = [_Pairs(statements, exchange, expected, fitted)]
    if objects and fitted is not None and fitted.map.X.size <= MOST_FACTORED:
        parts.append(_Places(statements, exchange, expected, fitted))
    pairs, *places = _compared(parts, exchange, n_groups, seed, permutations)
    # equal up to rounding is equal: some exchanges change nothing
    p = p_value(pairs[0] * (1 - 1e-9), pairs[1:])
    moved = None
    if places:
        size = places[0] / np.maximum(places[0][1:].mean(axis=0), 1e-300)
        largest = size[1:].max(axis=1)
        as_much = (largest[:, None] >= size[0] * (1 - 1e-9)).sum(axis=0)
        moved = (1 + as_much) / (1 + permutations)
    return GroupTest(p, None, shared, exchanged, moved)


@dataclass(frozen=True, eq=False)
class Exchange:
    """Units whose groups can be exchanged if groups do not matter."""

    #: (m,): the unit of each answer: its rater, the answer itself, or those of one screen.
    unit: IntArray
    #: (U,): the group of each unit; units are exchanged within a stratum.
    group: IntArray
    stratum: IntArray

    @classmethod
    def of_raters(cls, rater: IntArray, group: IntArray) -> Exchange:
        """Whole raters between groups."""
        known, unit = np.unique(rater, return_inverse=True)
        own = np.zeros(len(known), dtype=np.int64)
        own[unit] = group
        return cls(unit.astype(np.int64), own, np.zeros(len(known), dtype=np.int64))

    @classmethod
    def of_answers(cls, statements: Statements, group: IntArray, within: IntArray) -> Exchange:
        """Answers, those of one screen together, between the conditions of a rater or question."""
        screen = np.arange(len(group))
        if statements.questions is not None:
            screen = np.unique(statements.questions, return_inverse=True)[1]
        key = np.stack([within, screen, group], axis=1)
        known, unit = np.unique(key, axis=0, return_inverse=True)
        stratum = np.unique(known[:, 0], return_inverse=True)[1].astype(np.int64)
        return cls(unit.ravel().astype(np.int64), known[:, 2].astype(np.int64), stratum)

    def why_not(self, n_groups: int, shared: int | None) -> WhyNot | None:
        """Why nothing can be told from exchanges; None where something can."""
        sizes = np.bincount(self.group, minlength=n_groups)
        if not self.stratum.any() and sizes.min() < 2:
            return "one rater" if shared is None else "one rater shared"
        if self.log_divisions(n_groups) < np.log(_LEAST_DIVISIONS):
            return "few raters"
        return None

    def log_divisions(self, n_groups: int) -> float:
        """The logarithm of the number of different divisions into groups of these sizes."""
        from scipy.special import gammaln

        table = np.zeros((int(self.stratum.max()) + 1, n_groups))
        np.add.at(table, (self.stratum, self.group), 1)
        found = gammaln(table.sum(axis=1) + 1).sum() - gammaln(table + 1).sum()
        if len(table) == 1:  # groups of one size can change their names
            found -= gammaln(np.bincount(table[0].astype(int)) + 1).sum()
        return float(found)

    def drawn(self, count: int, rng: np.random.Generator) -> IntArray:
        """Groups of the units after exchanges, (count, U)."""
        if not self.stratum.any():
            return rng.permuted(np.tile(self.group, (count, 1)), axis=1)
        shuffled = np.argsort(self.stratum + rng.random((count, len(self.stratum))), axis=1)
        found = np.empty((count, len(self.group)), dtype=np.int64)
        found[:, np.argsort(self.stratum, kind="stable")] = self.group[shuffled]
        return found

    def expected(self, group: int) -> FloatArray:
        """The share of the exchanges in which each unit is in a group, (U,)."""
        mine = np.bincount(self.stratum, self.group == group)
        return np.asarray((mine / np.bincount(self.stratum))[self.stratum])


def _compared(
    parts: list[_Pairs | _Places], exchange: Exchange, n_groups: int, seed: int, permutations: int
) -> list[FloatArray]:
    """Each statistic of the given groups, and after each exchange."""
    rng = np.random.default_rng([seed, 5])
    width = max(len(exchange.group), *(part.width for part in parts))
    at_a_time = max(1, _CHUNK // width)
    found: list[list[FloatArray]] = [
        [part.difference(exchange.group[None], n_groups)] for part in parts
    ]
    done = 0
    while done < permutations:
        count = min(at_a_time, permutations - done)
        drawn = exchange.drawn(count, rng)
        for part, values in zip(parts, found, strict=True):
            values.append(part.difference(drawn, n_groups))
        done += count
    return [np.concatenate(values) for values in found]


class _Pairs:
    """Answers beyond what is expected, by unit and pair."""

    def __init__(
        self,
        statements: Statements,
        exchange: Exchange,
        expected: FloatArray | None,
        fitted: Fit | None,
    ) -> None:
        from scipy.sparse import coo_array

        # how likely the answers are that could be given, the given one first
        P = expected
        if P is None and fitted is not None:
            P = fitted.probabilities(statements)
        if P is None:
            c = n_answers(statements.kind)
            P = np.full((len(statements), c), 1 / c)
        pair = side_pairs(statements).ravel()
        beyond = -P
        beyond[:, 0] += 1.0
        at = (np.repeat(exchange.unit, P.shape[1]), pair)
        shape = (len(exchange.group), int(pair.max()) + 1)
        self._exchange, self.width = exchange, shape[1]
        self._excess = coo_array((beyond.ravel(), at), shape=shape).tocsr()
        self._variance = coo_array(((P * (1 - P)).ravel(), at), shape=shape).tocsr()

    def difference(self, groups: IntArray, n_groups: int) -> FloatArray:
        """The statistic of each division, (k,): divisions are rows of group numbers."""
        total = np.zeros(len(groups))
        strata = self._exchange.stratum.any()
        for g in range(n_groups):
            inside = (groups == g).astype(np.float64)
            found = inside @ self._excess
            if strata:  # what single raters answer beyond the expected is no matter of groups
                found -= self._exchange.expected(g) @ self._excess
            total += (found**2 / (inside @ self._variance + 1.0)).sum(axis=1)
        return total


class _Places:
    """How far the answers of units would move each object."""

    def __init__(
        self, statements: Statements, exchange: Exchange, expected: FloatArray | None, fitted: Fit
    ) -> None:
        from scipy.sparse import coo_array

        model = fitted.map
        X = model.X
        n, d = X.shape
        lapse = fitted.lapse_of(statements)
        slopes = None
        if expected is not None:
            slopes = expected.copy()
            slopes[:, 0] -= 1.0
        ids, force = model.score(statements.triples, lapse, slopes)
        unit = np.tile(exchange.unit, len(ids) // len(statements))
        at = (np.repeat(unit, d), (ids[:, None] * d + np.arange(d)).ravel())
        shape = (len(exchange.group), n * d)
        self._slope = coo_array((-force.ravel(), at), shape=shape).tocsr()
        self._answers = np.bincount(exchange.unit, minlength=shape[0]).astype(np.float64)
        self._exchange, self.width, self._shape = exchange, n * d, (n, d)
        choices = collect_choices(statements, keep_rows=True)
        assert choices.row is not None
        of_choice = np.bincount(choices.row, lapse) / np.bincount(choices.row)
        with likelihood(choices, model.length, model.alpha, 1, compiled=True) as f:
            H = f.information(X, of_choice)
        # a change of scale comes of care
        hold_still(H, X, sizes=True)
        H[np.diag_indices(len(H))] += 2 * fitted.settings.l2 + 1e-9 * np.trace(H) / len(H)
        self._covariance = np.linalg.inv(H)

    @cached_property
    def _weights(self) -> FloatArray:
        """(n, d, d): the inverse of each object's own covariance."""
        n, d = self._shape
        blocks = self._covariance.reshape(n, d, n, d)[np.arange(n), :, np.arange(n)]
        return np.asarray(np.linalg.inv(blocks))

    def difference(self, groups: IntArray, n_groups: int) -> FloatArray:
        """The statistic of each division and object, (k, n)."""
        total = np.zeros((len(groups), self._shape[0]))
        for g in range(n_groups):
            inside = (groups == g).astype(np.float64)
            answers = inside @ self._answers
            slope = inside @ self._slope - self._exchange.expected(g) @ self._slope
            step = (slope @ self._covariance).reshape(-1, *self._shape)
            size = np.einsum("kni,nij,knj->kn", step, self._weights, step)
            total += size / np.maximum(answers, 1.0)[:, None]
        return total


def lists_of_their_own(
    statements: Statements, question: IntArray, rater: IntArray, group: IntArray, least: float
) -> bool:
    """Whether raters of one group have more questions, or pairs, in common than others have.

    Common questions of two raters are counted, of the pairs of answers that could be to the
    same question. The answers are not looked at.
    """
    # a rater in several groups counts as one in each
    groups = int(group.max()) + 1
    cells, rater = np.unique(rater * groups + group, return_inverse=True)
    group_of_rater = cells % groups
    pairs = side_pairs(statements)
    c = pairs.shape[1]
    for what, who in ((question, rater), (pairs.ravel(), np.repeat(rater, c))):
        n = len(group_of_rater)
        cell = np.unique(what * np.int64(n) + who)
        asked, by = cell // n, cell % n
        each = np.bincount(by, minlength=n).astype(np.float64)
        alike = np.zeros((int(asked.max()) + 1, groups))
        np.add.at(alike, (asked, group_of_rater[by]), 1)
        within = ((alike**2).sum(axis=0) - alike.sum(axis=0)) / 2
        every = float((alike.sum(axis=1) ** 2).sum() - len(cell)) / 2
        of_group = np.bincount(group_of_rater, each)
        could_within = (of_group**2 - np.bincount(group_of_rater, each**2)) / 2
        could = (float(each.sum()) ** 2 - float((each**2).sum())) / 2
        across = (every - within.sum()) / max(could - could_within.sum(), 1e-9)
        # all groups together, and each: a short list of one is lost among the others
        for inside, could_be in (
            (within.sum(), could_within.sum()),
            *zip(within, could_within, strict=True),
        ):
            if every == 0 or could_be == 0 or could == could_be:
                continue
            share = could_be / could
            beyond = (inside - every * share) / np.sqrt(every * share * (1 - share))
            if beyond > least and across < AS_MUCH_IN_COMMON * inside / could_be:
                return True
    return False


def _by_question(statements: Statements) -> FloatArray:
    """How likely the answers are that could be given, by all answers to the question."""
    question, answer, triple = questions(statements)
    votes = np.bincount(question * 3 + answer, minlength=3 * len(triple)).reshape(-1, 3)
    shares = (votes / votes.sum(axis=1, keepdims=True))[question]
    if statements.kind == "closer":
        order = np.stack([answer, 1 - answer], axis=1)
    else:
        place = triple[question][:, None, :] == statements.triples[:, :, None]
        order = place.argmax(axis=2)
    return np.take_along_axis(shares, order.astype(np.int64), axis=1)


def _asked_of_all(question: IntArray, rater: IntArray, group: IntArray, share: float) -> BoolArray:
    """Which questions were asked in every group, and of this share of the raters of each."""
    n, groups = int(question.max()) + 1, int(group.max()) + 1
    cells = np.unique(np.stack([question, group, rater]), axis=1)
    asked = np.zeros((n, groups))
    np.add.at(asked, (cells[0], cells[1]), 1)
    raters = np.bincount(np.unique(np.stack([group, rater]), axis=1)[0], minlength=groups)
    return np.asarray((asked >= np.maximum(share * raters, 1)).all(axis=1))
