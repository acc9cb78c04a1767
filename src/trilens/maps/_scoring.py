"""The choice map of very many objects: scoring steps, each a sum over statements.

Given all others, an object's place has a likelihood of its own: its slope g and the d x d
information F are sums over the statements that name it. A step moves every object at once by
F^-1 g. Where an object is compared with many others, that is nearly Newton's step for all places
together. What it does badly is one number, the scale of the map; that, and the share of blind
answers, are fitted to answers that were kept aside. These also say when to stop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._typing import FloatArray, Int32Array
from trilens.counts.engines import Engine
from trilens.counts.partition import Plan
from trilens.maps._choice_fit import expit
from trilens.maps._choices import sides_of, sign_of
from trilens.maps._passes import Draw, Sums, score, total
from trilens.maps.choice_model import ChoiceModel
from trilens.maps.comparisons import squared
from trilens.statements import Kind

#: Answers kept aside that the scale and the blind share are fitted to.
_MOST_TUNED = 100_000
#: The part of the last step that is gone on with, and the parts of a step where none is better.
_MOMENTA = (0.0, 0.5, 0.9)
_SHORTER = (0.5, 0.25, 0.1)
#: A step may not be longer than this share of the map's breadth.
_LONGEST = 0.5
#: A step must bring the mean -log likelihood of the answers kept aside down by this much.
LEAST_GAIN = 5e-5


@dataclass(frozen=True, eq=False)
class Fitted:
    """A choice map, and how well it predicts answers that were kept aside.

    Attributes
    ----------
    X : (n, d) float64
    lapse : float
    loss : float
        The mean -log likelihood of the answers kept aside.
    """

    X: FloatArray
    lapse: float
    loss: float


class Aside:
    """Answers that no place is fitted to."""

    def __init__(self, kind: Kind, triples: Int32Array) -> None:
        self.kind = kind
        step = max(1, len(triples) // _MOST_TUNED)
        self._triples = triples[::step]

    def __len__(self) -> int:
        return len(self._triples)

    def losses(self, found: Fitted) -> FloatArray:
        """-log likelihood of each answer."""
        model = ChoiceModel(found.X, found.lapse, self.kind)
        return -np.log(np.maximum(model.chosen(self._triples), 1e-300))

    def hits(self, X: FloatArray) -> float:
        """The share of the answers that a map would have given."""
        v = self._lengths(X)
        return float((v[0] > v[1:].max(axis=0)).mean())

    def tuned(self, X: FloatArray, lapse: float | None = None) -> Fitted:
        """The map at the scale, and with the blind share, that predict the answers best."""
        from scipy.optimize import minimize

        v = self._lengths(X)
        share = 1.0 / len(v)

        def loss(at: Any) -> float:
            u = np.exp(min(at[0], 50.0)) * v
            u -= u.max(axis=0)
            np.exp(u, out=u)
            blind = expit(at[1])
            own = (1.0 - blind) * u[0] / u.sum(axis=0) + blind * share
            return float(-np.log(np.maximum(own, 1e-300)).mean())

        if lapse is None:
            breadth = max(float(np.sqrt(np.mean(X.var(axis=0)))), 1e-300)
            starts = [
                (np.log(2.0**k / breadth), s) for k in range(-4, 9, 2) for s in (-7.0, -1.0, 1.0)
            ]
            start = min(starts, key=loss)
        else:
            bounded = min(max(lapse, 1e-4), 1 - 1e-4)
            start = (0.0, float(np.log(bounded / (1 - bounded))))
        found = minimize(
            loss,
            np.array(start),
            method="Nelder-Mead",
            options={
                "initial_simplex": np.array(start) + np.array([[0, 0], [0.3, 0], [0, 0.7]]),
                "xatol": 0.01,
                "fatol": 1e-5,
                "maxiter": 60,
            },
        )
        scale = np.exp(min(found.x[0], 50.0))
        return Fitted(X * scale, expit(found.x[1]), float(found.fun))

    def _lengths(self, X: FloatArray) -> FloatArray:
        """The sides as what is chosen by: the larger, the likelier; the chosen one first."""
        sides = sides_of(self.kind, self._triples)
        return sign_of(self.kind) * np.sqrt(np.stack([squared(X, i, j) for i, j in sides]))


def climb(
    engine: Engine,
    parts: Any,
    plan: Plan | None,
    start: Fitted,
    aside: Aside,
    most: int,
    draw: Draw | None = None,
) -> Fitted:
    """Steps as long as the answers kept aside are predicted better, at most so many.

    What the last step brought is gone on with for a part, where that predicts better still: it
    is cheap to try, and what moves all objects alike comes sooner.
    """
    now, last = start, np.zeros_like(start.X)
    for _ in range(most):
        move = step_of(total(engine, parts, score, plan, now.X, now.lapse, draw), now.X)
        ways = [-move + share * last for share in _MOMENTA] + [-s * move for s in _SHORTER]
        best: tuple[Fitted, FloatArray] | None = None
        for i, way in enumerate(ways):
            tried = aside.tuned(now.X + way, now.lapse)
            if tried.loss < (now if best is None else best[0]).loss:
                best = tried, way
            if i + 1 >= len(_MOMENTA) and best is not None:
                break
        if best is None:
            return now
        stretched = float(np.linalg.norm(best[0].X) / np.linalg.norm(now.X + best[1]))
        gain, last = now.loss - best[0].loss, stretched * best[1]
        now = best[0]
        if gain < LEAST_GAIN:
            return now
    return now


def step_of(sums: Sums, X: FloatArray) -> FloatArray:
    """How far each object moves towards where its own answers are likeliest, (n, d).

    The places have a Gaussian prior, as wide as the map.
    """
    n, d = X.shape
    gradient = sums.of_object[:, :d].copy()
    information = np.empty((n, d, d))
    low = np.tril_indices(d)
    information[:, low[0], low[1]] = sums.of_object[:, d:]
    information[:, low[1], low[0]] = sums.of_object[:, d:]
    variance = max(float(X.var(axis=0).mean()), 1e-300)
    gradient += (X - X.mean(axis=0)) / variance
    information[:, np.arange(d), np.arange(d)] += 1.0 / variance
    move = np.asarray(np.linalg.solve(information, gradient[:, :, None])[:, :, 0], np.float64)
    length: FloatArray = np.sqrt((move**2).sum(axis=1, keepdims=True))
    longest = _LONGEST * float(np.sqrt(variance))
    move *= np.minimum(1.0, longest / np.maximum(length, 1e-300))
    return move
