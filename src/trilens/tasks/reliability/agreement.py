"""How often two answers to the same question agree: of two raters, and of one rater."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray
from trilens.statements import Statements
from trilens.statements.combine import question_keys

#: Of more answers so many are looked at, evenly through the file: more would change nothing.
MOST_ANSWERS = 300_000


@dataclass(frozen=True)
class Agreement:
    """The share of pairs of answers to the same question that agree.

    Attributes
    ----------
    share : float
        Each question counts once, however often it was asked.
    low, high : float
        The 95 % interval: of questions and raters like these.
    questions : int
        How many have such a pair.
    answers : int
        How many answers these questions have.
    raters : int or None
        How many gave them; None where raters are not known.
    """

    share: float
    low: float
    high: float
    questions: int
    answers: int
    raters: int | None

    @property
    def interval(self) -> tuple[float, float]:
        """``(low, high)``."""
        return self.low, self.high

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Cells:
    """Answers counted by question, by question and rater, and by the answer within both.

    Attributes
    ----------
    question, rater : (c,) arrays of int
        Of each cell: one rater's answers to one question.
    votes : (c, 3) array
        How often the rater gave each answer.
    all_votes : (q, 3) array
        How often anybody did.
    triple : (q, 3) array of int
        The objects of each question, see `question_keys`.
    """

    question: IntArray
    rater: IntArray
    votes: FloatArray
    all_votes: FloatArray
    triple: IntArray


def cells_of(statements: Statements, who: AnyArray | None) -> Cells:
    """Count the answers; without raters every answer is one of somebody else."""
    key, answer, triple = question_keys(statements)
    _, first, question = np.unique(key, return_index=True, return_inverse=True)
    m = len(statements)
    rater = np.arange(m) if who is None else np.unique(who, return_inverse=True)[1]
    n_raters = int(rater.max()) + 1 if m else 1
    cell, inside = np.unique(question * np.int64(n_raters) + rater, return_inverse=True)
    votes = np.bincount(inside * 3 + answer, minlength=3 * len(cell)).reshape(-1, 3)
    asked = np.bincount(question * 3 + answer, minlength=3 * len(first)).reshape(-1, 3)
    return Cells(
        (cell // n_raters).astype(np.int64),
        (cell % n_raters).astype(np.int64),
        votes.astype(np.float64),
        asked.astype(np.float64),
        triple[first],
    )


def agreement_between(
    statements: Statements, who: AnyArray | None, counted: BoolArray | None = None
) -> Agreement | None:
    """How often answers of two raters to the same question agree; None where there are none.

    Parameters
    ----------
    statements : Statements
    who : (m,) array or None
        Who gave each answer. Where that is not known, all answers count as of different raters.
    counted : (m,) array of bool, optional
        The answers that count; by default all.

    Notes
    -----
    Pairs of answers are compared, and never an answer with the majority, to which it belongs.
    The variance is that of a mean over pairs which share questions and raters: the sum over
    questions and the sum over raters, less what both count (the two-way clusters of Cameron,
    Gelbach and Miller, 2011). The interval is on the scale of log odds, with Student's quantile
    for as many raters.

    Examples
    --------
    >>> S = Statements([[0, 1, 2], [0, 1, 2], [1, 0, 2], [3, 4, 5], [3, 4, 5]])
    >>> found = agreement_between(S, np.array(["a", "b", "c", "a", "b"]))
    >>> round(found.share, 3), found.questions
    (0.667, 2)
    """
    cells = _some(statements, who, counted)
    total = cells.all_votes.sum(axis=1)
    own = cells.votes.sum(axis=1)
    # pairs that a cell is in: its own answers with those of others
    pairs = own * (total[cells.question] - own)
    same = (cells.votes * (cells.all_votes[cells.question] - cells.votes)).sum(axis=1)
    # each pair is in two cells
    return _agreement(cells, pairs, same, 2.0, who is not None)


def agreement_within(
    statements: Statements, who: AnyArray | None, counted: BoolArray | None = None
) -> Agreement | None:
    """How often two answers of one rater to the same question agree.

    None where raters are not known, or none was asked the same question twice.
    """
    if who is None:
        return None
    cells = _some(statements, who, counted)
    own = cells.votes.sum(axis=1)
    same = (cells.votes * (cells.votes - 1) / 2).sum(axis=1)
    return _agreement(cells, own * (own - 1) / 2, same, 1.0, True)


def agreement_of_raters(cells: Cells, n_raters: int) -> tuple[FloatArray, FloatArray]:
    """The share of others' answers to the same questions that equal each rater's, and of how many.

    Each question of a rater counts once; NaN for a rater whom nobody can be compared with.
    """
    own, total = cells.votes.sum(axis=1), cells.all_votes.sum(axis=1)[cells.question]
    pairs = own * (total - own)
    same = (cells.votes * (cells.all_votes[cells.question] - cells.votes)).sum(axis=1)
    known = pairs > 0
    count = np.bincount(cells.rater[known], minlength=n_raters)
    sums = np.bincount(cells.rater[known], same[known] / pairs[known], n_raters)
    return np.where(count > 0, sums / np.maximum(count, 1), np.nan), count.astype(np.float64)


def _some(statements: Statements, who: AnyArray | None, counted: BoolArray | None) -> Cells:
    rows = np.arange(len(statements)) if counted is None else np.flatnonzero(counted)
    if len(rows) > MOST_ANSWERS:
        rows = rows[np.linspace(0, len(rows) - 1, MOST_ANSWERS).astype(np.int64)]
    return cells_of(statements.take(rows), None if who is None else who[rows])


def _agreement(
    cells: Cells, pairs: FloatArray, same: FloatArray, twice: float, known: bool
) -> Agreement | None:
    n = len(cells.all_votes)
    both = np.bincount(cells.question, pairs, n) / twice
    asked = both > 0
    count = int(asked.sum())
    if count == 0:
        return None
    shares = np.bincount(cells.question, same, n)[asked] / twice / both[asked]
    share = float(shares.mean())
    used = asked[cells.question] & (pairs > 0)
    rater = cells.rater[used]
    n_raters = len(np.unique(rater))
    variance = float(((shares - share) ** 2).sum()) / count**2
    freedom = count - 1
    if known:
        pull = (same - share * pairs)[used] / both[cells.question[used]] / count
        by_rater = np.bincount(rater, pull)
        raters_too = float((by_rater**2).sum() - (pull**2).sum())
        variance += max(raters_too, 0.0) * n_raters / max(n_raters - 1, 1)
        freedom = min(freedom, n_raters - 1)
    answers = int(cells.all_votes[asked].sum()) if twice == 2 else int(cells.votes[used].sum())
    low, high = share_interval(share, variance, freedom, count, answers)
    return Agreement(share, low, high, count, answers, n_raters if known else None)


def share_interval(
    share: float, variance: float, freedom: int, count: int, answers: int = 0
) -> tuple[float, float]:
    """A 95 % interval of a share, on the scale of log odds.

    Between 0 and 1, also where all agree: then as if half an answer of them did not. Questions
    that happen to have the same share do not make it certain: it varies at least as that of
    half as many pairs as ``answers`` would.
    """
    from scipy.special import expit, logit, stdtrit

    inside = min(max(share, 0.5 / (count + 1)), 1 - 0.5 / (count + 1))
    least = inside * (1 - inside) / count if inside != share else 0.0
    if answers:
        least = max(least, inside * (1 - inside) / max(answers / 2, count))
    error = np.sqrt(max(variance, least)) / (inside * (1 - inside))
    reach = stdtrit(max(freedom, 1), 0.975) * error
    low, high = expit(logit(inside) - reach), expit(logit(inside) + reach)
    return float(min(low, share)), float(max(high, share))
