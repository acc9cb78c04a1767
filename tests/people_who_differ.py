"""Small studies of raters who see different things, with a known truth."""

from __future__ import annotations

import numpy as np

from people import chances, say
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
        seen = maps.get(view, maps["a"]) if isinstance(view, str) else maps["a"] * view
        P = chances(seen, asked, kind)
        answer = P.argmin(axis=1) if view == "inverted" else P.argmax(axis=1)
        slip = rng.random(each) < wrong
        answer[slip] = (answer[slip] + rng.integers(1, c, slip.sum())) % c
        if view == "guess":
            answer = rng.integers(c, size=each)
        triples.append(say(asked, answer, kind))
    raters = np.repeat([f"r{i:02d}" for i in range(len(views))], each)
    return Statements(np.concatenate(triples), n, kind=kind, raters=raters)
