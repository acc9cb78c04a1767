"""A small study whose objects have features, and its map."""

from __future__ import annotations

from functools import cache

import numpy as np

import trilens as tl


def answers(X, m, seed, names=None):
    """Central answers about places, by the choice model."""
    rng = np.random.default_rng(seed)
    triples = np.array([rng.choice(len(X), 3, replace=False) for _ in range(m)])
    sides = [
        np.linalg.norm(X[triples[:, i]] - X[triples[:, j]], axis=1)
        for i, j in ((1, 2), (0, 2), (0, 1))
    ]
    odds = np.exp(np.stack(sides, axis=1))
    chosen = (
        np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1) > rng.random((m, 1))
    ).argmax(axis=1)
    rest = np.array([np.delete(row, k) for row, k in zip(triples, chosen, strict=True)])
    return tl.Statements(
        np.column_stack([triples[np.arange(m), chosen], rest]),
        n_objects=len(X),
        names=names,
        kind="central",
    )


@cache
def study():
    """Few answers about 30 objects whose places are a linear map of the features."""
    rng = np.random.default_rng(1)
    X = 1.5 * rng.standard_normal((30, 2))
    F = X @ rng.standard_normal((2, 6)) + 0.1 * rng.standard_normal((30, 6))
    return X, F, answers(X, 150, 2), answers(X, 2000, 3)


@cache
def featured():
    _, F, S, _ = study()
    return tl.ChoiceMap().fit(S, features=F)
