"""How many answers are wrong: by the model, and by questions that were asked again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from trilens._typing import FloatArray
from trilens.statements import Kind
from trilens.tasks.reliability.agreement import Agreement
from trilens.tasks.reliability.held_out import HeldOut

#: Blind shares that are tried, and the fall of the log likelihood that ends a 95 % interval.
_SHARES = np.linspace(0.0, 1.0, 201)
_FALL = 1.92
#: The shares of the questions that count as clear.
_CLEAR = (0.25, 0.5)
_Z = 1.96


@dataclass(frozen=True)
class Rate:
    """A share of the answers with its 95 % interval."""

    estimate: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """The three numbers."""
        return asdict(self)


@dataclass(frozen=True)
class Repeats:
    """What questions that were asked more than once say.

    Attributes
    ----------
    questions : int
        How many were answered by two raters or more (twice or more where raters are unknown).
    agreement : float
        How often two answers to the same question agree; each question counts once.
    error_rate : Rate
        The share of wrong answers that would make them agree so often if every question had
        a clear answer. Near ties count as errors here.
    """

    questions: int
    agreement: float
    error_rate: Rate

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types."""
        return {**asdict(self), "error_rate": self.error_rate.to_dict()}


def wrong_if_blind(kind: Kind) -> float:
    """The share of blind answers that are wrong."""
    return 1 / 2 if kind == "closer" else 2 / 3


def blind_rate(held_out: HeldOut, kind: Kind) -> Rate:
    """The error rate: answers that are wrong although the question is clear.

    A map that has seen the answers takes some of the wrong ones for right: its share of blind
    answers gives the lower end. Of the questions that a map of other answers calls clearest
    (a quarter of them, and half of them), some are not clear, so that the share of answers
    other than its own gives the upper end. The estimate lies half-way between the two shares.
    """
    least, low = (wrong_if_blind(kind) * share for share in _blind_share(held_out.seen))
    best = held_out.chances.max(axis=1)
    others, highs = [], []
    for part in _CLEAR:
        clear = best >= np.quantile(best, 1 - part)
        other, count = 1 - float(held_out.right[clear].mean()), int(clear.sum())
        others.append(other)
        highs.append(other + _Z * np.sqrt(max(other * (1 - other), 0.25 / count) / count))
    high = float(max(highs))
    return Rate((least + max(least, min(others))) / 2, min(low, high), max(low, high))


def _blind_share(chances: FloatArray) -> tuple[float, float]:
    own, c = chances[:, 0], chances.shape[1]
    # a hundred cells of like chances serve as well as all answers
    count, edge = np.histogram(own, bins=400, range=(0.0, 1.0))
    total = np.histogram(own, bins=edge, weights=own)[0]
    cell = (total / np.maximum(count, 1))[count > 0]
    log = np.log(np.maximum(np.outer(1 - _SHARES, cell) + _SHARES[:, None] / c, 1e-300))
    likelihood = log @ count[count > 0]
    best = int(likelihood.argmax())
    inside = np.flatnonzero(likelihood >= likelihood[best] - _FALL)
    return float(_SHARES[best]), float(_SHARES[inside[0]])


def wrong_rate(held_out: HeldOut) -> Rate:
    """The share of answers that differ from what the true distances say, near ties included.

    The estimate is the share that the map of all answers gets wrong; maps without sight of the
    answers get more of them wrong, and that gives the upper end. The true share may lie as far
    below the estimate, since the map fits some wrong answers and misses some right ones.
    """
    m = len(held_out.right)
    seen, unseen = 1 - float(held_out.fitted.mean()), 1 - float(held_out.right.mean())
    most = max(seen, unseen)
    margin = _Z * np.sqrt(most * (1 - most) / m)
    return Rate(seen, float(max(2 * seen - most - margin, 0.0)), float(min(most + margin, 1.0)))


def repeats_of(found: Agreement | None, kind: Kind) -> Repeats | None:
    """What the agreement of two raters says about errors; None where it is not known."""
    if found is None:
        return None
    ends = (found.share, found.high, found.low)
    rate = Rate(*(_wrong_if_agreeing(share, kind) for share in ends))
    return Repeats(found.questions, found.share, rate)


def _wrong_if_agreeing(agreement: float, kind: Kind) -> float:
    """The error rate at which two answers agree so often: two blind ones do by chance."""
    chance = 1 / 2 if kind == "closer" else 1 / 3
    attentive = np.sqrt(max((agreement - chance) / (1 - chance), 0.0))
    return float(wrong_if_blind(kind) * (1 - attentive))
