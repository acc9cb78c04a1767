"""Which question was asked, where nobody says: the kind under which answers can be predicted."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from trilens._typing import Int32Array
from trilens.answers import Answers
from trilens.calibration import KIND_ERRORS
from trilens.kinds import KINDS, Kind, chance
from trilens.statements import Statements
from trilens.statements.value import StatementsLike, as_statements
from trilens.words import another_kind

#: Answers that are looked at, the share of them that is predicted, and those needed for it.
_MOST = 3000
_HELD_OUT = 0.25
_LEAST = 60
#: Objects beyond which a map takes long, and answers about each that are needed.
_MOST_OBJECTS = 500
_PER_OBJECT = 6


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
    by_order : float
        As similarity triplets, the share that is predicted without the anchor: by how often each
        object stands second and third. Names that are sorted give such answers away.
    """

    kind: Kind
    accuracy: dict[Kind, float]
    n_predicted: int
    by_order: float = 0.5

    def gain(self, kind: Kind) -> float:
        """The accuracy between that of guesses, 0, and 1."""
        guesses = max(chance(kind), self.by_order if kind == "closer" else 0.0)
        return (self.accuracy[kind] - guesses) / max(1 - guesses, 1e-9)

    @property
    def fitting(self) -> Kind | None:
        """The kind that fits much better; None where the one that is said does, or none does.

        Answers of another kind are predicted a little too, since they are about distances.
        """
        if not self.accuracy:
            return None
        best = max(self.accuracy, key=self.gain)
        error = np.sqrt(0.25 / self.n_predicted) / (1 - chance(best))
        better = self.gain(best) - max(self.gain(self.kind), 0.0) > KIND_ERRORS * error
        return best if better else None


def kind_fit(S: StatementsLike) -> KindFit:
    """How well the answers are predicted under each kind, in a plane.

    Parameters
    ----------
    S : Statements
        With too few answers, or too many objects, nothing is predicted.

    Returns
    -------
    KindFit

    Examples
    --------
    >>> kind_fit(Statements([[0, 1, 2]] * 9, kind="central")).accuracy
    {}
    """
    from trilens.maps.fitted import fit

    S = as_statements(S)
    rng = np.random.default_rng(0)
    rows = S.triples[np.sort(rng.permutation(len(S))[:_MOST])]
    out = rng.random(len(rows)) < _HELD_OUT
    seen = len(np.unique(rows))
    few = int(out.sum()) < _LEAST or rows.size < _PER_OBJECT * seen
    if few or S.n_objects > _MOST_OBJECTS:
        return KindFit(S.kind, {}, 0)
    accuracy: dict[Kind, float] = {}
    for kind in KINDS:
        known = Statements(rows[~out], S.n_objects, kind=kind)
        asked = Statements(rows[out], S.n_objects, kind=kind)
        likely = fit(known, n_components=2).probabilities(asked)
        accuracy[kind] = float((likely.argmax(axis=1) == 0).mean())
    by_order = _by_order(rows[~out], rows[out], S.n_objects)
    return KindFit(S.kind, accuracy, int(out.sum()), by_order)


def _by_order(known: Int32Array, asked: Int32Array, n: int) -> float:
    """How often the second object of a row is the one that stands there more often."""
    second = np.bincount(known[:, 1], minlength=n) + 1.0
    third = np.bincount(known[:, 2], minlength=n) + 1.0
    score = second / (second + third)
    one, other = score[asked[:, 1]], score[asked[:, 2]]
    return float(((one > other) + 0.5 * (one == other)).mean())


def doubt_kind(answers: Answers, *, header: bool = False) -> None:
    """Where nobody said which question was asked, look whether the answers fit another one.

    What speaks against the kind that is assumed is then part of what was understood of the file
    (`Answers.reading`), and said with it. With ``header`` also a kind is doubted that the names of
    the columns say, but not one that the caller gave.
    """
    told = not answers.kind_assumed
    if answers.kind_judged or not answers.held or (told and not (header and answers.kind is None)):
        return
    reading = answers.reading
    if reading is None or reading.fits is not None:
        return
    found = kind_fit(answers.read())
    if told and found.kind != "closer":  # objects in a fixed order look like similarity triplets
        accuracy = dict(found.accuracy)
        accuracy.pop("closer", None)
        found = replace(found, accuracy=accuracy)
    answers.judge_kind(another_kind(found), found.fitting)
