"""Which answers hang together, and how far the mean of all can be trusted for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.depth import LEAST_RATERS
from trilens.statements import Statements
from trilens.statements.combine import question_keys


@dataclass(frozen=True, eq=False)
class Clusters:
    """Answers of one rater, and answers to one question.

    Attributes
    ----------
    question : (m,) array of int
    rater : (m,) array of int or None
        None where fewer than eight raters are known.
    n_raters : int
        The known ones; an answer without a rater is one of somebody else.
    """

    question: IntArray
    rater: IntArray | None
    n_raters: int

    @property
    def unit(self) -> str:
        """What the intervals are about."""
        return "question" if self.rater is None else "rater and question"

    @property
    def freedom(self) -> int:
        """One less than there are clusters of the scarcer sort."""
        questions = int(self.question.max()) + 1
        few = questions if self.rater is None else min(questions, self.n_raters)
        return max(few - 1, 1)

    def variance(self, values: FloatArray) -> float:
        """The variance of the mean of values that share raters and questions.

        The sum over raters and the sum over questions, less what both count (Cameron, Gelbach
        and Miller, 2011), and at least that of either alone.

        Examples
        --------
        >>> question, rater = np.divmod(np.arange(100), 10)
        >>> round(Clusters(question, rater, 10).variance((question < 5) * 1.0), 4)
        0.0278
        """
        off = (values - values.mean()) / len(values)
        by_question = _squares(off, self.question, int(self.question.max()) + 1)
        if self.rater is None:
            return by_question
        by_rater = _squares(off, self.rater, self.n_raters)
        both = self.question * np.int64(int(self.rater.max()) + 1) + self.rater
        cell = np.unique(both, return_inverse=True)[1]
        once = _squares(off, cell, int(cell.max()) + 1)
        return max(by_rater + by_question - once, by_rater, by_question)


def clusters_of(statements: Statements) -> Clusters:
    """The raters and questions of statements."""
    question = np.unique(question_keys(statements)[0], return_inverse=True)[1].astype(np.int64)
    if statements.raters is None:
        return Clusters(question, None, 0)
    known, rater = np.unique(each_its_own(statements.raters), return_inverse=True)
    n_raters = len(known) - int((np.asarray(statements.raters).astype(str) == "").sum())
    enough = n_raters >= LEAST_RATERS
    return Clusters(question, rater.astype(np.int64) if enough else None, n_raters)


def each_its_own(raters: AnyArray) -> AnyArray:
    """The raters, with a name of its own for each answer that has none."""
    who = np.asarray(raters).astype(str)
    nobody = np.flatnonzero(who == "")
    if not len(nobody):
        return who
    named = who.astype(object)
    # no reader leaves this character in a rater's name
    named[nobody] = [f"\0{row}" for row in nobody]
    return named.astype(str)


def _squares(off: FloatArray, cluster: IntArray, count: int) -> float:
    sums = np.bincount(cluster, off)
    return float((sums**2).sum()) * count / max(count - 1, 1)
