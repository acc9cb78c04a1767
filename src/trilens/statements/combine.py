"""Putting statements together: concatenation, majority answers, answers implied by triplets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from trilens._parameters import generator
from trilens._typing import AnyArray, IntArray, RandomState
from trilens.errors import KindError, ParameterError
from trilens.kinds import sides
from trilens.statements.columns import as_list
from trilens.statements.value import COLUMNS, Statements, chosen_first, require_kind


def concatenate(parts: Iterable[Statements]) -> Statements:
    """All statements of several collections of one kind, in order.

    Collections with the same names share their objects; with different names, the objects
    are the union of the names, in order of first appearance.

    >>> S = Statements([[0, 1, 2]], names=["a", "b", "c"], kind="central")
    >>> T = Statements([[0, 1, 2]], names=["c", "b", "d"], kind="central")
    >>> concatenate([S, T]).triples.tolist(), concatenate([S, T]).names
    ([[0, 1, 2], [2, 1, 3]], ('a', 'b', 'c', 'd'))
    """
    given = as_list(parts, "the collections of statements")
    if not given or not all(isinstance(part, Statements) for part in given):
        raise ParameterError("concatenate needs at least one collection, all of Statements")
    kinds = sorted({part.kind for part in given})
    if len(kinds) > 1:
        raise KindError(
            f"statements of kinds {' and '.join(kinds)} cannot be concatenated; "
            f"to_triplets() brings both to similarity triplets"
        )
    names: Iterable[str] | None = given[0]._names
    triples = [part.triples for part in given]
    n = max(part.n_objects for part in given)
    if any(part._names is not names and part._names != names for part in given):
        ids: dict[str, int] = {}
        for i, part in enumerate(given):
            new = np.array([ids.setdefault(name, len(ids)) for name in part.names], dtype=np.int32)
            triples[i] = new[part.triples] if len(new) else part.triples
        n, names = len(ids), ids

    def joined(column: str) -> AnyArray | None:
        arrays = [getattr(part, column) for part in given]
        if column == "chosen" and any(array is not None for array in arrays):
            pairs = zip(given, arrays, strict=True)
            arrays = [np.zeros(len(part), bool) if own is None else own for part, own in pairs]
        if any(array is None for array in arrays):
            return None
        if len({array.dtype.kind for array in arrays}) > 1:  # rounds that are not all integers
            arrays = [array.astype(object) for array in arrays]
        return np.concatenate(arrays)

    columns: dict[str, Any] = {name: joined(name) for name in COLUMNS}
    return Statements(np.concatenate(triples), n, names, given[0].kind, **columns)


def question_keys(statements: Statements) -> tuple[IntArray, AnyArray, IntArray]:
    """A number for the question that each statement answers, and how it was answered.

    The keys, (m,) int64, are equal for statements about the same triple (for ``closer``: the same
    anchor and the same pair), in the order of the sorted triples, and below 2**61. The answers,
    (m,) int8, say which of the triple's objects was singled out (for ``closer``: was the near one),
    counted in the order of their ids. The triples, (m, 3) int64, are the objects of each statement,
    sorted (for ``closer``: the anchor, then the sorted pair).
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

    Which one each statement answers, (m,), and how (see `question_keys`); and the objects of each
    question, (q, 3).
    """
    key, answer, triple = question_keys(statements)
    _, index, question = np.unique(key, return_index=True, return_inverse=True)
    return question.astype(np.int64), answer, triple[index]


def side_pairs(statements: Statements) -> IntArray:
    """A number, from 0 on, for the pair that each possible answer is about, the given one first.

    >>> side_pairs(Statements([[0, 1, 2], [1, 2, 3]], kind="central")).tolist()
    [[2, 1, 0], [4, 3, 2]]
    """
    n = np.int64(statements.n_objects)
    ends = sides(statements.kind, statements.triples.astype(np.int64))
    codes = np.stack([np.minimum(i, j) * n + np.maximum(i, j) for i, j in ends], axis=1)
    pair = np.unique(codes.ravel(), return_inverse=True)[1]
    return pair.astype(np.int64).reshape(codes.shape)


def answer_counts(statements: Statements) -> tuple[IntArray, IntArray]:
    """``(q, 3)`` votes for each answer of each question, and the questions' triples."""
    question, answer, triple = questions(statements)
    votes = np.bincount(question * 3 + answer, minlength=3 * len(triple)).reshape(-1, 3)
    return votes, triple


def reduce(statements: Statements, random_state: RandomState) -> Statements:
    votes, triple = answer_counts(statements)
    chosen = None
    if statements.chosen is not None:  # asked at random once, it is one of the random questions
        chosen = np.ones(len(triple), dtype=np.bool_)
        chosen[questions(statements)[0][~statements.chosen]] = False
    rng = generator(random_state)
    # the random part is below one vote, so it decides between equal votes and nothing else
    winner = (votes + rng.random(votes.shape) * (votes > 0)).argmax(axis=1)
    if statements.kind == "closer":
        answered = np.take_along_axis(triple, np.array([[0, 1, 2], [0, 2, 1]])[winner], axis=1)
    else:
        answered = chosen_first(triple, winner)
    return Statements(
        answered,
        statements.n_objects,
        statements._names,
        statements.kind,
        chosen=chosen,
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
    marked = None
    if statements.chosen is not None:
        of_chosen = statements.triples[statements.chosen]
        n = statements.n_objects
        marked = np.isin(triple_codes(twice[:, :3], n), triple_codes(of_chosen, n))
    return Statements(
        chosen_first(twice[:, :3], singled),
        statements.n_objects,
        statements._names,
        kind,
        chosen=marked,
    )


def all_among(some: Statements, others: Statements) -> bool:
    """Whether all answers are among others, by the same raters where these are known.

    >>> S = Statements([[0, 1, 2], [2, 0, 3], [2, 0, 3]], kind="central")
    >>> all_among(S[1:], S), all_among(S, S[1:])
    (True, False)
    """
    if some.kind != others.kind or not set(some.names) & set(others.names):
        return False
    of_whom = [part.raters for part in (some, others)]
    known = all(raters is not None for raters in of_whom)
    both = concatenate(
        Statements(part.triples, part.n_objects, names=part.names, kind=part.kind)
        for part in (some, others)
    )
    question, answer, _ = questions(both)
    code = question * 3 + answer
    if known:
        names = np.concatenate([np.asarray(raters).astype(np.str_) for raters in of_whom])
        different, rater = np.unique(names, return_inverse=True)
        code = code * len(different) + rater
    row = np.unique(code, return_inverse=True)[1]
    size = int(row.max(initial=0)) + 1
    m = len(some)
    return bool(
        (np.bincount(row[:m], minlength=size) <= np.bincount(row[m:], minlength=size)).all()
    )


def triple_codes(triples: AnyArray, n: int) -> IntArray:
    """One number for each triple of objects, in whatever order they stand."""
    low, middle, high = np.sort(triples, axis=1).astype(np.int64).T
    return np.asarray((low * n + middle) * n + high)


def as_kind(statements: Statements, kind: str) -> Statements:
    """The same knowledge as statements of another kind, where it implies them."""
    if kind == statements.kind:
        return statements
    if kind == "closer":
        rows = np.repeat(np.arange(len(statements)), 2)
        return statements._replace(statements.to_triplets(), rows, kind="closer")
    return decide(statements, "central" if kind == "central" else "odd")
