"""What people disagree about: single questions, and pairs of objects."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from trilens._typing import AnyArray, BoolArray, FloatArray
from trilens.statements import Statements
from trilens.tasks.reliability.agreement import MOST_ANSWERS, cells_of

#: How many are listed, and from how many answers (of a pair: questions) on: two tell nothing.
MOST_LISTED, LEAST = 10, 3


@dataclass(frozen=True)
class Disagreement:
    """A question, or a pair of objects, about which raters disagree more than elsewhere.

    Attributes
    ----------
    objects : tuple of str
        Three for a question (``closer``: the anchor first), two for a pair.
    answers : int
        Answers to the question; for a pair, to the repeated questions that name both.
    agreement : float
        How often two answers agree; for a pair the mean over its questions.
    questions : int
        1, or how many questions the pair is in.
    beyond : float
        Standard errors below the mean agreement of all.
    """

    objects: tuple[str, ...]
    answers: int
    agreement: float
    questions: int
    beyond: float

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types."""
        return {**asdict(self), "objects": list(self.objects)}


def disagreements(
    statements: Statements, who: AnyArray | None, counted: BoolArray | None = None
) -> tuple[tuple[Disagreement, ...], tuple[Disagreement, ...]]:
    """The questions and the pairs with the least agreement, beyond what chance would show.

    They are ordered by how many standard errors they lie below the mean, so that a question
    with two different answers does not come before one that divides many people.

    Examples
    --------
    >>> split = [[0, 1, 2]] * 10 + [[1, 0, 2]] * 10
    >>> S = Statements(split + [[3, 4, 5]] * 20, names=list("abcdef"))
    >>> questions, pairs = disagreements(S, None)
    >>> questions[0].objects, round(questions[0].agreement, 2)
    (('a', 'b', 'c'), 0.47)
    """
    rows = np.arange(len(statements)) if counted is None else np.flatnonzero(counted)
    rows = rows[:MOST_ANSWERS]
    cells = cells_of(statements.take(rows), None if who is None else who[rows])
    n_questions = len(cells.all_votes)
    own, total = cells.votes.sum(axis=1), cells.all_votes.sum(axis=1)
    pairs = np.bincount(cells.question, own * (total[cells.question] - own), n_questions) / 2
    same = cells.votes * (cells.all_votes[cells.question] - cells.votes)
    agreed = np.bincount(cells.question, same.sum(axis=1), n_questions) / 2
    asked = pairs > 0
    if not asked.any():
        return (), ()
    share, count, triple = agreed[asked] / pairs[asked], total[asked], cells.triple[asked]
    mean = float(share.mean())
    names = statements.names
    # pairs of the same answers hang together: as many independent ones as answers less one
    error = np.sqrt(np.maximum(mean * (1 - mean), 0.01) / np.maximum(count - 1, 1))
    beyond = (mean - share) / error
    questions = tuple(
        Disagreement(
            tuple(names[i] for i in triple[q]), int(count[q]), float(share[q]), 1, float(beyond[q])
        )
        for q in _first(beyond, count)
    )
    return questions, _of_pairs(statements, triple, share, count, mean)


def _of_pairs(
    statements: Statements, triple: AnyArray, share: FloatArray, count: FloatArray, mean: float
) -> tuple[Disagreement, ...]:
    n = statements.n_objects
    sides = [(0, 1), (0, 2)] if statements.kind == "closer" else [(0, 1), (0, 2), (1, 2)]
    low = np.concatenate([np.minimum(triple[:, i], triple[:, j]) for i, j in sides])
    high = np.concatenate([np.maximum(triple[:, i], triple[:, j]) for i, j in sides])
    codes, pair = np.unique(low * np.int64(n) + high, return_inverse=True)
    repeat = len(sides)
    size = np.bincount(pair)
    sums = np.bincount(pair, np.tile(share, repeat))
    answers = np.bincount(pair, np.tile(count, repeat))
    spread = max(float(share.std()), 0.05)
    beyond = (mean - sums / size) * np.sqrt(size) / spread
    names = statements.names
    return tuple(
        Disagreement(
            (names[int(codes[k] // n)], names[int(codes[k] % n)]),
            int(answers[k]),
            float(sums[k] / size[k]),
            int(size[k]),
            float(beyond[k]),
        )
        for k in _first(beyond, size)
    )


def _first(beyond: FloatArray, enough: AnyArray) -> list[int]:
    order = np.argsort(-beyond, kind="stable")
    return [int(k) for k in order if beyond[k] > 0 and enough[k] >= LEAST][:MOST_LISTED]
