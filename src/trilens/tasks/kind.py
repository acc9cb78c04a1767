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
#: Standard errors by which another kind predicts better.
_BETTER = 5.0


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

    def gain(self, kind: Kind) -> float:
        """The accuracy between that of guesses, 0, and 1."""
        return (self.accuracy[kind] - chance(kind)) / (1 - chance(kind))

    @property
    def fitting(self) -> Kind | None:
        """The kind that fits much better; None where the one that is said does, or none does.

        Answers of another kind are predicted a little too, since they are about distances.
        """
        if not self.accuracy:
            return None
        best = max(self.accuracy, key=self.gain)
        error = np.sqrt(0.25 / self.n_predicted) / (1 - chance(best))
        better = self.gain(best) - max(self.gain(self.kind), 0.0) > _BETTER * error
        return best if better else None

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

    Returns
    -------
    KindFit

    Examples
    --------
    >>> kind_fit(Statements([[0, 1, 2]] * 9)).accuracy
    {}
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
