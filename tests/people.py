"""Simulated people who share questions, and get some of them twice."""

from __future__ import annotations

import numpy as np

from trilens.statements import Statements

ORDERS = {2: np.array([[0, 1, 2], [0, 2, 1]]), 3: np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])}


def chances(points, triples, kind, sharp=3.0):
    """The probability of each answer by the softmax of the distances, the first object first."""
    a, b, c = triples.T
    sides = [(a, b), (a, c)] if kind == "closer" else [(b, c), (a, c), (a, b)]
    u = np.stack([np.linalg.norm(points[i] - points[j], axis=1) for i, j in sides], axis=1)
    u *= sharp if kind == "central" else -sharp
    P = np.exp(u - u.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def right(points, asked, kind="central"):
    """Which answer is the right one: 0 is that of the first side."""
    return chances(points, asked, kind).argmax(axis=1)


def say(asked, answer, kind="central"):
    """The questions, answered."""
    return np.take_along_axis(asked, ORDERS[2 if kind == "closer" else 3][answer], axis=1)


def draw_questions(rng, n, count):
    return rng.permuted(np.tile(np.arange(n), (count, 1)), axis=1)[:, :3]


def survey(
    points,
    kind="central",
    *,
    raters=20,
    per=80,
    pool=100,
    common=0.5,
    again=0.1,
    blind=0.1,
    tastes=0.0,
    sharp=3.0,
    views=None,
    seed=0,
):
    """Answers of people; ``views`` gives the points that each rater sees."""
    rng = np.random.default_rng(seed)
    n = len(points)
    shared = draw_questions(rng, n, pool)
    rows, who = [], []
    for r in range(raters):
        k = min(int(per * common), pool)
        asked = np.concatenate(
            [shared[rng.choice(pool, k, replace=False)], draw_questions(rng, n, per - k)]
        )
        asked = np.concatenate([asked, asked[: int(per * again)]])
        seen = points if views is None else views[r]
        seen = seen * np.exp(tastes * rng.standard_normal(points.shape[1]))
        P = chances(seen, asked, kind, sharp)
        P = (1 - blind) * P + blind / P.shape[1]
        chosen = (rng.random((len(P), 1)) > P.cumsum(axis=1)[:, :-1]).sum(axis=1)
        rows.append(say(asked, chosen, kind))
        who += [r] * len(asked)
    return Statements(np.concatenate(rows), n, kind=kind, raters=who)
