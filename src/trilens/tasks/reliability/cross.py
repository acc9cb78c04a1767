"""How well each rater's answers are predicted from each other rater's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trilens._typing import AnyArray, FloatArray
from trilens.maps.choice_map import ChoiceMap
from trilens.statements import Statements
from trilens.tasks.model import AnswerModel

#: Raters with fewer answers are left out; of more than so many those with the most answers.
LEAST_ANSWERS, MOST_RATERS = 40, 60


@dataclass(frozen=True)
class CrossPrediction:
    """A map of one rater's answers, and what it says about another's.

    Attributes
    ----------
    raters : tuple of str
    predicted : (R, R) array
        Row: whose answers are predicted; column: whose answers the map was made of. NaN on
        the diagonal.
    left_out : int
        Raters with too few answers, or beyond the number that is looked at.
    """

    raters: tuple[str, ...]
    predicted: FloatArray = field(repr=False)
    left_out: int

    @property
    def mean(self) -> float:
        """The mean over all pairs of raters."""
        return float(np.nanmean(self.predicted))

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types."""
        return {
            "raters": list(self.raters),
            "predicted": [
                [None if np.isnan(x) else float(x) for x in row] for row in self.predicted
            ],
            "mean": self.mean,
            "left_out": self.left_out,
        }


def cross_predict(
    statements: Statements, who: AnyArray, model: AnswerModel
) -> CrossPrediction | None:
    """Predict raters from each other, one by one; None where fewer than two have enough answers.

    Each map is made of one rater's answers alone, in as many dimensions as the map of all but
    two at most, and with its penalty.
    """
    names, rater = np.unique(who, return_inverse=True)
    answers = np.bincount(rater)
    order = np.argsort(-answers, kind="stable")
    chosen = [int(i) for i in order if answers[i] >= LEAST_ANSWERS and str(names[i]) != ""]
    chosen = sorted(chosen[:MOST_RATERS])
    if len(chosen) < 2:
        return None
    d = min(2, model.map.n_components_)
    rows = [np.flatnonzero(rater == i) for i in chosen]
    predicted = np.full((len(chosen), len(chosen)), np.nan)
    asked = statements.take(np.concatenate(rows))
    at = np.repeat(np.arange(len(chosen)), [len(r) for r in rows])
    for column, mine in enumerate(rows):
        fitted = ChoiceMap(
            d, l2=model.map.l2_, lapses="one", random_state=0, max_iter=60, tol=1e-4
        ).fit(statements.take(mine))
        P = fitted.predict_proba(asked)
        best = P.max(axis=1, keepdims=True) == P
        right = best[:, 0] / best.sum(axis=1)
        predicted[:, column] = np.bincount(at, right) / np.bincount(at)
        predicted[column, column] = np.nan
    return CrossPrediction(
        tuple(str(names[i]) for i in chosen), predicted, len(names) - len(chosen)
    )
