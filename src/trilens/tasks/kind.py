"""Which question was asked, where nobody says: the kind under which answers can be predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._typing import RandomState
from trilens.kinds import KINDS, Kind, chance
from trilens.maps.choice_map import ChoiceMap
from trilens.statements import Statements
from trilens.statements.value import StatementsLike, as_statements

#: Answers that are looked at, the share of them that is predicted, and those needed for it.
_MOST = 4000
_HELD_OUT = 0.25
_LEAST = 60
#: Standard errors: what a kind that fits is above chance, and one that does not may be.
_FITS, _DOES_NOT = 5.0, 2.0


@dataclass(frozen=True)
class KindFit:
    """How well answers are predicted under each kind.

    Attributes
    ----------
    kind : str
        The kind that the answers are said to be of.
    accuracy : dict
        The share of held-out answers that a map of the others predicts, by kind.
    n_predicted : int
    """

    kind: Kind
    accuracy: dict[Kind, float]
    n_predicted: int

    def above_chance(self, kind: Kind) -> float:
        """How far the accuracy is above that of guesses, in standard errors."""
        guess = chance(kind)
        return float(
            (self.accuracy[kind] - guess) / np.sqrt(guess * (1 - guess) / self.n_predicted)
        )

    @property
    def fitting(self) -> Kind | None:
        """The kind that fits instead; None where the one that is said does, or none does."""
        if not self.accuracy or self.above_chance(self.kind) > _DOES_NOT:
            return None
        best = max(self.accuracy, key=self.above_chance)
        return best if self.above_chance(best) >= _FITS else None

    def to_dict(self) -> dict[str, Any]:
        """The facts, for JSON."""
        return {
            "kind": self.kind,
            "accuracy": dict(self.accuracy),
            "n_predicted": self.n_predicted,
            "fitting": self.fitting,
        }


def kind_fit(S: StatementsLike, random_state: RandomState = 0) -> KindFit:
    """How well the answers are predicted under each kind, in a plane.

    Parameters
    ----------
    S : Statements
        With too few answers nothing is predicted.

    Examples
    --------
    >>> from trilens.simulate import study
    >>> odd = study(12, 500, kind="odd", random_state=0).statements
    >>> kind_fit(Statements(odd.triples, kind="central")).fitting
    'odd'
    """
    S = as_statements(S)
    rng = np.random.default_rng(random_state)
    rows = S.triples[np.sort(rng.permutation(len(S))[:_MOST])]
    out = rng.random(len(rows)) < _HELD_OUT
    if int(out.sum()) < _LEAST:
        return KindFit(S.kind, {}, 0)
    accuracy: dict[Kind, float] = {}
    for kind in KINDS:
        known = Statements(rows[~out], S.n_objects, kind=kind)
        asked = Statements(rows[out], S.n_objects, kind=kind)
        likely = ChoiceMap(n_components=2, random_state=0).fit(known).predict_proba(asked)
        accuracy[kind] = float((likely.argmax(axis=1) == 0).mean())
    return KindFit(S.kind, accuracy, int(out.sum()))
