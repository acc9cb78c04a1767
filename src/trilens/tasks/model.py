"""The model of the answers that the questions share: one choice map and its copies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trilens._typing import FloatArray, Progress
from trilens.maps.choice_map import ChoiceMap
from trilens.statements import Statements


@dataclass(frozen=True, eq=False)
class AnswerModel:
    """A fitted choice map, and what is worked out from it when it is first needed.

    The questions take one as ``model=``; without it each fits its own, which is the same one.

    Attributes
    ----------
    statements : Statements
    map : ChoiceMap
        Fitted to the statements.
    seed : int
    """

    statements: Statements
    map: ChoiceMap
    seed: int

    @cached_property
    def depth(self) -> FloatArray:
        """How central each object is: the expected share of questions that it wins."""
        return np.asarray(self.map.depth(random_state=self.seed).depth)


def answer_model(
    statements: Statements, random_state: int = 0, progress: Progress | None = None
) -> AnswerModel:
    """Fit the model that stands behind ``method="auto"``."""
    fitted = ChoiceMap(random_state=random_state).fit(statements, progress=progress)
    return AnswerModel(statements, fitted, random_state)
