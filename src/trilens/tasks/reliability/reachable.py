"""The share of answers that the best model could predict, by how often raters agree."""

from __future__ import annotations

import numpy as np

from trilens._typing import FloatArray
from trilens.statements import Kind

_STEPS = 60


def reachable(agreement: float, kind: Kind, chances: FloatArray | None = None) -> float:
    """The accuracy of the best possible prediction of single answers.

    Two raters agree less often than a rater agrees with the answer that most would give: of
    answers of which 10 % are wrong a perfect model predicts 90 %, but two of them agree in
    81.5 %. What lies between depends on how alike the questions are. Where a model says so,
    its probabilities are raised to the power that makes two answers agree as often as they
    do, and the mean of the largest is taken. Without one, all questions count as equally
    hard, and their wrong answers as equally frequent; that is the highest value possible.

    Parameters
    ----------
    agreement : float
        How often two raters agree.
    kind : {"central", "odd", "closer"}
    chances : (q, 3) array, for ``closer`` (q, 2), optional
        The probability of each answer to each question, by a model.

    Examples
    --------
    >>> round(reachable(0.815, "central"), 3)
    0.9
    >>> clear, open_ = [0.98, 0.01, 0.01], [0.4, 0.3, 0.3]
    >>> round(reachable(0.65, "central", np.array([clear, open_])), 3)
    0.69
    """
    c = 2 if kind == "closer" else 3
    if agreement <= 1 / c:
        return 1 / c
    if chances is None or not len(chances):
        return float((1 + np.sqrt((c - 1) * (c * agreement - 1))) / c)
    logs = np.log(np.maximum(chances, 1e-12))
    logs = logs - logs.max(axis=1, keepdims=True)
    low, high = -6.0, 6.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _agreeing(logs, middle) < agreement:
            low = middle
        else:
            high = middle
    return float(_powered(logs, low).max(axis=1).mean())


def _powered(logs: FloatArray, log_power: float) -> FloatArray:
    odds = np.exp(np.exp(log_power) * logs)
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _agreeing(logs: FloatArray, log_power: float) -> float:
    return float((_powered(logs, log_power) ** 2).sum(axis=1).mean())
