"""Whether answers speak against the kind that is assumed: questions that were asked again."""

from __future__ import annotations

import numpy as np

from trilens._typing import AnyArray
from trilens.statements.value import Statements

#: Repetitions that are enough, and rows that are looked at.
_ENOUGH = 30
_ROWS = 200_000


def doubt_about(statements: Statements) -> str:
    """Why answers of kind central or odd are rather similarity triplets; empty where they may be.

    Of three objects one is chosen, whatever their order: asked again, people agree more often
    than guesses do. Where the first object of a row is what the two others are compared with,
    it changes from row to row; but the order of the two others, with the same first, does not.

    Examples
    --------
    >>> at, four = [0, 1, 3, 7], range(4)
    >>> asked = [(a, b, c) for a in four for b in four for c in range(b) if a not in (b, c)]
    >>> rows = [[a, *sorted(two, key=lambda i: abs(at[i] - at[a]))] for a, *two in asked * 9]
    >>> doubt_about(Statements(np.random.default_rng(0).permutation(rows)))[-26:]
    ' in 100 % (guessing: 50 %)'
    """
    triples = statements.triples[:_ROWS]
    if statements.kind == "closer" or len(triples) < _ENOUGH:
        return ""
    pairs = np.sort(triples[:, 1:], axis=1)
    of_three, n_three = _agreement(np.sort(triples, axis=1), triples[:, 0])
    of_two, n_two = _agreement(np.concatenate([triples[:, :1], pairs], axis=1), triples[:, 1])
    # two objects that always come in the same order say nothing
    of_pairs, _ = _agreement(pairs, triples[:, 1])
    if min(n_three, n_two) < _ENOUGH:
        return ""
    guessed = of_three < 1 / 3 + 2 * np.sqrt(2 / 9 / n_three)
    agreed = of_two > max(1 / 2 + 4 * np.sqrt(1 / 4 / n_two), of_pairs + 0.1)
    if not (guessed and agreed):
        return ""
    return (
        f"Asked again, the same three objects get the same answer in {100 * of_three:.0f} % of "
        f"{n_three:,} cases, no more often than by guessing (33 %); as similarity triplets (kind "
        f"closer: anchor, near, far) in {100 * of_two:.0f} % (guessing: 50 %)"
    )


def _agreement(questions: AnyArray, answers: AnyArray) -> tuple[float, int]:
    """How often an answer is that of the time before, to the same question; of how many."""
    order = np.lexsort(tuple(questions.T[::-1]))
    asked, given = questions[order], answers[order]
    again = (asked[1:] == asked[:-1]).all(axis=1)
    n = int(again.sum())
    same = int((given[1:] == given[:-1])[again].sum())
    return (same / n if n else 0.0), n
