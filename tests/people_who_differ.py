"""Small studies of raters who see different things, with a known truth."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from trilens.statements import Statements


def survey(views, kind="central", n=30, each=150, wrong=0.1, seed=0, one_list=False):
    """Answers of one rater for each of the views.

    A view is "a" or "b", which are unrelated maps; "guess"; "inverted", the opposite of "a"; or a
    pair of weights of the two axes of "a".
    """
    rng = np.random.default_rng(seed)
    maps = {"a": rng.standard_normal((n, 2)), "b": rng.standard_normal((n, 2))}
    c = 2 if kind == "closer" else 3
    one = np.array([rng.permutation(n)[:3] for _ in range(each)])
    triples = []
    for view in views:
        asked = one if one_list else np.array([rng.permutation(n)[:3] for _ in range(each)])
        X = maps[view] if isinstance(view, str) and view in maps else maps["a"]
        D = cdist(X, X) if isinstance(view, str) else cdist(X * view, X * view)
        i, j, k = asked.T
        if kind == "closer":
            scores = -np.stack([D[i, j], D[i, k]], axis=1)
        else:
            scores = np.stack([D[j, k], D[i, k], D[i, j]], axis=1)
            scores *= 1 if kind == "central" else -1
        answer = (-scores if view == "inverted" else scores).argmax(axis=1)
        slip = rng.random(each) < wrong
        answer[slip] = (answer[slip] + rng.integers(1, c, slip.sum())) % c
        if view == "guess":
            answer = rng.integers(c, size=each)
        order = [[0, 1, 2], [0, 2, 1]] if c == 2 else [[0, 1, 2], [1, 0, 2], [2, 0, 1]]
        triples.append(np.take_along_axis(asked, np.array(order)[answer], axis=1))
    raters = np.repeat([f"r{i:02d}" for i in range(len(views))], each)
    return Statements(np.concatenate(triples), n, kind=kind, raters=raters)
