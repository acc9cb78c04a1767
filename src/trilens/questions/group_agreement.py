"""How much more often raters agree within groups than between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._tabular import AsDict
from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.statements import Statements
from trilens.statements.combine import questions

#: With fewer questions, or raters, an interval would say nothing.
_LEAST_QUESTIONS, _LEAST_RATERS = 10, 6


@dataclass(frozen=True)
class GroupAgreement(AsDict):
    """An effect size of groups."""

    #: How often two answers to the same question agree, of raters of one group and of different
    #: groups; the mean over the questions that have both.
    within: float
    between: float
    #: The first less the second, with its 95 % interval.
    difference: float
    low: float
    high: float
    questions: int


def group_agreement(
    statements: Statements, who: AnyArray, group: IntArray
) -> GroupAgreement | None:
    """How much more often raters agree within groups; None where too few questions tell.

    ``who`` gave each answer, for which ``group``. The interval is the jackknife's, which leaves
    out each rater in turn (Efron and Stein, 1981), with Student's quantile.

    >>> rows = [[i, i + 1, i + 2] for i in range(12)]
    >>> S = Statements(rows * 4 + [[j, i, k] for i, j, k in rows] * 4, kind="central")
    >>> found = group_agreement(S, np.repeat(np.arange(8), 12), np.repeat([0, 1], 48))
    >>> found.within, found.between, found.questions
    (1.0, 0.0, 12)
    """
    question, answer, _ = questions(statements)
    rater = np.unique(who, return_inverse=True)[1]
    votes = np.eye(3)[answer]
    everyone = _others(votes, question, rater)
    own_group = _others(votes, question * (int(group.max()) + 1) + group, rater)
    n_raters = int(rater.max()) + 1
    _, first, cell = np.unique(question * n_raters + rater, return_index=True, return_inverse=True)
    whole, without = [], []
    for others in (own_group, everyone - own_group):
        pairs, same = others.sum(axis=1), (votes * others).sum(axis=1)
        # each pair is in two answers
        total, agreeing = np.bincount(question, pairs) / 2, np.bincount(question, same) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            whole.append(agreeing / total)
            left = total[question[first]] - np.bincount(cell, pairs)
            without.append((agreeing[question[first]] - np.bincount(cell, same)) / left)
    each = whole[0] - whole[1]
    known = np.isfinite(each)
    if known.sum() < _LEAST_QUESTIONS or n_raters < _LEAST_RATERS:
        return None
    low, high = _interval(each, known, without[0] - without[1], question[first], rater[first])
    return GroupAgreement(
        within=float(whole[0][known].mean()),
        between=float(whole[1][known].mean()),
        difference=float(each[known].mean()),
        low=low,
        high=high,
        questions=int(known.sum()),
    )


def _others(votes: FloatArray, part: IntArray, rater: IntArray) -> FloatArray:
    """For each answer, the votes of other raters in the same part."""
    found = np.zeros_like(votes)
    for codes, sign in ((part, 1.0), (part * (int(rater.max()) + 1) + rater, -1.0)):
        same = np.unique(codes, return_inverse=True)[1]
        for k in range(votes.shape[1]):
            found[:, k] += sign * np.bincount(same, votes[:, k])[same]
    return found


def _interval(
    each: FloatArray, known: AnyArray, without: FloatArray, question: IntArray, rater: IntArray
) -> tuple[float, float]:
    """The jackknife's, of the mean difference of the questions.

    ``each`` is the difference of each question, ``without`` that without the answers of one rater.
    """
    from scipy.special import stdtrit

    mean, stays = each[known].mean(), np.isfinite(without)
    had = known[question]
    n = int(rater.max()) + 1
    sums = each[known].sum() - np.bincount(rater, np.where(had, each[question], 0.0), n)
    sums += np.bincount(rater, np.where(stays, without, 0.0), n)
    counts = known.sum() - np.bincount(rater, had, n) + np.bincount(rater, stays, n)
    left_out = sums / np.maximum(counts, 1)
    variance = (n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum())
    reach = float(stdtrit(n - 1, 0.975)) * np.sqrt(variance)
    return float(max(mean - reach, -1.0)), float(min(mean + reach, 1.0))
