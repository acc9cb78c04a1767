"""Answers to given questions by given points."""

from __future__ import annotations

from typing import cast

import numpy as np

from trilens._parameters import generator
from trilens._typing import RandomState
from trilens.errors import ParameterError
from trilens.simulate.answers import Ties, answer as answered, check_answers
from trilens.simulate.triples import rank
from trilens.simulate.truth import Objects, as_truth
from trilens.statements import Kind, Statements, StatementsLike, as_statements


def answer(
    questions: StatementsLike,
    objects: Objects,
    *,
    kind: str | None = None,
    metric: str = "euclidean",
    error_rate: float = 0.0,
    ties: Ties = "random",
    random_state: RandomState = None,
) -> Statements:
    """Answers to given questions by given points or dissimilarities.

    Parameters
    ----------
    questions : Statements, a table, or (m, 3) array
        What is asked; how these statements answer it does not matter. Of ``closer`` questions
        the first object is the anchor.
    objects : (n, d) points, (n, n) dissimilarities, or Points
        What the answers follow: a row for each object.
    kind : {"central", "odd", "closer"}, optional
        What is asked of the triples; by default the kind of ``questions``.
    metric, error_rate, ties
        As in `simulate_statements`. Every answer goes wrong on its own, also to a question
        that is asked again.
    random_state

    Returns
    -------
    Statements
        One for each question, in order, with the raters, rounds and names of ``questions``;
        less those that ``ties="drop"`` leaves out.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [3.0], [9.0]])
    >>> answer([[0, 1, 2], [3, 0, 1]], points).triples.tolist()
    [[1, 0, 2], [1, 0, 3]]
    >>> answer([[0, 1, 2], [3, 0, 1]], points, kind="closer").triples.tolist()
    [[0, 1, 2], [3, 1, 0]]
    """
    asked = as_statements(questions)
    wanted = asked.kind if kind is None else kind
    check_answers(wanted, ties, error_rate)
    truth = as_truth(objects, metric)
    n = truth.n_objects
    if asked.n_objects > n:
        raise ParameterError(
            f"the questions are about {asked.n_objects:,} objects; there are {n:,}"
        )
    T = asked.triples.astype(np.int64)
    ordered = np.sort(T, axis=1)
    numbers = rank(ordered)
    if wanted == "closer":
        numbers = 3 * numbers + (ordered == T[:, :1]).argmax(axis=1)
    rng = generator(random_state)
    rates = np.full(len(T), float(error_rate))
    rows = answered(
        truth, numbers, None, rng.random(len(T)), rates, cast("Kind", wanted), ties, False
    )
    kept = np.flatnonzero(rows[:, 0] >= 0)
    return Statements(
        rows[kept],
        asked.n_objects,
        asked._names,
        wanted,
        raters=None if asked.raters is None else asked.raters[kept],
        rounds=None if asked.rounds is None else asked.rounds[kept],
    )
