"""What the answers say of a single object: what is near, what was asked, who saw it otherwise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._tabular import AsDict
from trilens._typing import FloatArray
from trilens.agreement import raters_of
from trilens.maps.fitted import Fit
from trilens.statements import Statements
from trilens.statements.combine import questions

#: How many of each are told.
_NEAREST, _QUESTIONS, _RATERS = 6, 8, 5
#: Of more objects, or answers, nothing is told: it would fill a page.
_MOST_OBJECTS, _MOST_ANSWERS = 3000, 1_000_000
#: A rater who differs once may have slipped.
_LEAST_AGAINST = 2


@dataclass(frozen=True)
class AskedQuestion(AsDict):
    """A question, and how it was answered."""

    #: The three; the answer that was given most often comes first (for ``closer``: the anchor, the
    #: nearer and the farther one).
    objects: tuple[int, ...]
    #: How often that answer was given, of how many.
    given: int
    answers: int


@dataclass(frozen=True)
class OtherView(AsDict):
    """A rater whose answers about an object are often not those that the map expects."""

    rater: str
    against: int
    answers: int


@dataclass(frozen=True)
class ObjectFacts(AsDict):
    """What is known of one object."""

    #: The nearest objects on the map, the nearest first.
    nearest: tuple[int, ...]
    #: How many different questions it appeared in.
    questions: int
    #: Some of them: those that people disagree about, then those whose answer the map expects
    #: least.
    asked: tuple[AskedQuestion, ...]
    #: Who disagrees most often; empty where raters are not known.
    raters: tuple[OtherView, ...]


def object_facts(
    statements: Statements, points: FloatArray, fitted: Fit | None = None
) -> tuple[ObjectFacts, ...]:
    """What is known of each object; empty where there are very many objects or answers.

    The points are a map of the objects; without a fit of these nothing is expected of an answer.

    >>> S = Statements(
    ...     [[0, 1, 2], [0, 1, 2], [1, 0, 2], [3, 0, 1]],
    ...     raters=["a", "b", "c", "a"],
    ...     kind="central",
    ... )
    >>> facts = object_facts(S, np.array([[0.0], [1.0], [2.0], [9.0]]))
    >>> facts[3].nearest, facts[3].questions, facts[3].asked[0].objects
    ((2, 1, 0), 1, (3, 0, 1))
    >>> facts[0].asked[0].given, facts[0].asked[0].answers
    (2, 3)
    """
    n, m = statements.n_objects, len(statements)
    if not m or n > _MOST_OBJECTS or m > _MOST_ANSWERS:
        return ()
    expected = None if fitted is None else fitted.probabilities(statements)
    asked = _questions(statements, expected)
    raters = _raters(statements, expected)
    nearest = _nearest(points)
    number = np.bincount(questions(statements)[2].ravel(), minlength=n)
    return tuple(
        ObjectFacts(nearest[i], int(number[i]), tuple(asked[i]), tuple(raters[i])) for i in range(n)
    )


def _nearest(points: FloatArray) -> list[tuple[int, ...]]:
    from scipy.spatial import KDTree

    count = min(_NEAREST + 1, len(points))
    found = np.asarray(KDTree(points).query(points, k=list(range(1, count + 1)))[1])
    return [tuple(j for j in row if j != i)[:_NEAREST] for i, row in enumerate(found.tolist())]


def _questions(statements: Statements, expected: FloatArray | None) -> list[list[AskedQuestion]]:
    """Of each object the questions that say most, in their order."""
    question, answer, triple = questions(statements)
    closer = statements.kind == "closer"
    votes = np.zeros((len(triple), 2 if closer else 3), dtype=np.int64)
    np.add.at(votes, (question, answer), 1)
    most, total = votes.max(axis=1), votes.sum(axis=1)
    doubt = 1 - most / total
    surprise = np.zeros(len(triple))
    if expected is not None:
        np.maximum.at(surprise, question, 1 - expected[:, 0])
    order = np.lexsort((np.arange(len(triple)), -surprise, -total, -doubt))
    found: list[list[AskedQuestion]] = [[] for _ in range(statements.n_objects)]
    full = np.zeros(statements.n_objects, dtype=np.int64)
    for q in order.tolist():
        three = triple[q].tolist()
        if all(full[i] >= _QUESTIONS for i in three):
            continue
        first = int(votes[q].argmax())
        if closer:
            told = (three[0], three[1 + first], three[2 - first])
        else:
            told = (three[first], *(x for k, x in enumerate(three) if k != first))
        one = AskedQuestion(told, int(most[q]), int(total[q]))
        for i in three:
            if full[i] < _QUESTIONS:
                found[i].append(one)
                full[i] += 1
    return found


def _raters(statements: Statements, expected: FloatArray | None) -> list[list[OtherView]]:
    """Of each object those who most often say what the map does not expect."""
    found: list[list[OtherView]] = [[] for _ in range(statements.n_objects)]
    who = raters_of(statements)[1]
    if who is None or expected is None:
        return found
    names, rater = np.unique(who, return_inverse=True)
    against = expected[:, 0] < expected.max(axis=1)
    at = statements.triples.astype(np.int64).ravel() * len(names) + np.repeat(rater, 3)
    cell, of = np.unique(at, return_inverse=True)
    answers = np.bincount(of)
    other = np.bincount(of, np.repeat(against, 3)).astype(np.int64)
    beyond = other - float(against.mean()) * answers
    for k in np.lexsort((cell, -beyond)).tolist():
        i, own = divmod(int(cell[k]), len(names))
        if other[k] < _LEAST_AGAINST or beyond[k] <= 0 or len(found[i]) == _RATERS:
            continue
        found[i].append(OtherView(str(names[own]), int(other[k]), int(answers[k])))
    return found
