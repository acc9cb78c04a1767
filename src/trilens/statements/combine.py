"""Putting statements together: concatenation, majority answers, answers implied by triplets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from trilens._typing import AnyArray, IntArray, RandomState
from trilens.errors import KindError, ParameterError
from trilens.statements.value import Statements, require_kind


def concatenate(parts: Iterable[Statements]) -> Statements:
    """All statements of several collections of one kind, in order.

    Collections with the same names share their objects; with different names, the objects
    are the union of the names, in order of first appearance.

    >>> S = Statements([[0, 1, 2]], names=["a", "b", "c"])
    >>> T = Statements([[0, 1, 2]], names=["c", "b", "d"])
    >>> concatenate([S, T]).triples.tolist(), concatenate([S, T]).names
    ([[0, 1, 2], [2, 1, 3]], ('a', 'b', 'c', 'd'))
    """
    given = list(parts)
    if not given:
        raise ParameterError("concatenate needs at least one collection of statements")
    kinds = sorted({part.kind for part in given})
    if len(kinds) > 1:
        raise KindError(
            f"statements of kinds {' and '.join(kinds)} cannot be concatenated; "
            f"to_triplets() brings both to similarity triplets"
        )
    if all(part._names is None for part in given):
        n, names = max(part.n_objects for part in given), None
        triples = [part.triples for part in given]
    else:
        ids: dict[str, int] = {}
        triples = []
        for part in given:
            new = np.array([ids.setdefault(name, len(ids)) for name in part.names], dtype=np.int32)
            triples.append(new[part.triples] if len(new) else part.triples)
        n, names = len(ids), list(ids)

    def joined(columns: list[AnyArray | None]) -> AnyArray | None:
        present = [column for column in columns if column is not None]
        return np.concatenate(present) if len(present) == len(columns) else None

    return Statements(
        np.concatenate(triples),
        n,
        names,
        given[0].kind,
        joined([part.raters for part in given]),
        joined([part.rounds for part in given]),
        joined([part.seconds for part in given]),
    )


def question_keys(statements: Statements) -> tuple[IntArray, AnyArray, IntArray]:
    """A number for the question that each statement answers, and how it was answered.

    Returns
    -------
    key : (m,) int64
        Equal for statements about the same triple (for ``closer``: the same anchor and the
        same pair); in the order of the sorted triples, and below 2**61.
    answer : (m,) int8
        Which of the triple's objects was singled out (for ``closer``: was the near one),
        counted in the order of their ids.
    triple : (m, 3) int64
        The objects of each statement, sorted (for ``closer``: the anchor, then the sorted pair).
    """
    T = statements.triples.astype(np.int64)
    if statements.kind == "closer":
        answer = (T[:, 1] > T[:, 2]).astype(np.int8)
        T[:, 1:].sort(axis=1)
    else:
        first = T[:, 0].copy()
        T.sort(axis=1)
        answer = (first[:, None] == T).argmax(axis=1).astype(np.int8)
    n = max(statements.n_objects, 1)
    pair = T[:, 0] * n + T[:, 1]
    if n >= 1_000_000:  # n^3 would pass 2^61: number the pairs that there are
        pair = np.unique(pair, return_inverse=True)[1]
    return pair * n + T[:, 2], answer, T


def questions(statements: Statements) -> tuple[IntArray, AnyArray, IntArray]:
    """The questions that were asked, numbered from 0 on in the order of their triples.

    Returns
    -------
    question : (m,) int64
        Which one each statement answers.
    answer : (m,) int8
        See `question_keys`.
    triple : (q, 3) int64
        The objects of each question.
    """
    key, answer, triple = question_keys(statements)
    _, index, question = np.unique(key, return_index=True, return_inverse=True)
    return question.astype(np.int64), answer, triple[index]


def answer_counts(statements: Statements) -> tuple[IntArray, IntArray]:
    """``(q, 3)`` votes for each answer of each question, and the questions' triples."""
    question, answer, triple = questions(statements)
    votes = np.bincount(question * 3 + answer, minlength=3 * len(triple)).reshape(-1, 3)
    return votes, triple


def reduce(statements: Statements, random_state: RandomState) -> Statements:
    votes, triple = answer_counts(statements)
    rng = np.random.default_rng(random_state)
    # the random part is below one vote, so it decides between equal votes and nothing else
    winner = (votes + rng.random(votes.shape) * (votes > 0)).argmax(axis=1)
    if statements.kind == "closer":
        order = np.array([[0, 1, 2], [0, 2, 1]])[winner]
    else:
        order = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])[winner]
    return Statements(
        np.take_along_axis(triple, order, axis=1),
        statements.n_objects,
        statements._names,
        statements.kind,
    )


def decide(statements: Statements, kind: Literal["central", "odd"]) -> Statements:
    """Central or odd statements implied by the majority of the similarity triplets."""
    require_kind(
        statements.kind,
        ["closer"],
        f"to_{kind}()",
        "a most-central or an odd-one-out answer does not determine the other",
    )
    votes, asked = answer_counts(statements)
    decided = votes[:, 0] != votes[:, 1]
    second_near = (votes[:, 1] > votes[:, 0])[decided]
    anchor, low, high = asked[decided].T
    near = np.where(second_near, high, low)
    far = np.where(second_near, low, high)
    # each comparison d(anchor, near) < d(anchor, far) speaks for one object of the triple:
    # `near` as central (its two sides are shorter), `far` as odd (its two sides are longer)
    chosen = near if kind == "central" else far
    triple = np.sort(np.stack([anchor, near, far], axis=1), axis=1)
    # two voices for the same object decide the triple; three comparisons in a cycle give none two
    voices, count = np.unique(np.column_stack([triple, chosen]), axis=0, return_counts=True)
    twice = voices[count == 2]
    singled = (twice[:, :3] == twice[:, 3:]).argmax(axis=1)
    order = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])[singled]
    return Statements(
        np.take_along_axis(twice[:, :3], order, axis=1),
        statements.n_objects,
        statements._names,
        kind,
    )


def as_kind(statements: Statements, kind: str) -> Statements:
    """The same knowledge as statements of another kind, where it implies them."""
    if kind == statements.kind:
        return statements
    if kind == "closer":
        rows = np.repeat(np.arange(len(statements)), 2)
        return statements._replace(statements.to_triplets(), rows, kind="closer")
    return decide(statements, "central" if kind == "central" else "odd")
