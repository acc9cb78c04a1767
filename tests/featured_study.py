"""A small study whose objects have features, and its map."""

from __future__ import annotations

from functools import cache

import numpy as np

import trilens as tl
from people import chances, say


def answers(X, m, seed, names=None):
    """Central answers about places, by the choice model."""
    rng = np.random.default_rng(seed)
    asked = np.array([rng.choice(len(X), 3, replace=False) for _ in range(m)])
    P = chances(X, asked, "central", sharp=1.0)
    chosen = (P.cumsum(axis=1) > rng.random((m, 1))).argmax(axis=1)
    return tl.Statements(say(asked, chosen), n_objects=len(X), names=names, kind="central")


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
