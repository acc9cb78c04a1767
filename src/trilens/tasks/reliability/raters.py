"""Who answers blindly: each rater's answers against a map of the other raters' answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._typing import FloatArray, IntArray

#: The shares of blind answers that a careful rater may have. With two answers to choose from
#: 0.6 is 30 % wrong ones, with three 40 %.
_CAREFUL: FloatArray = np.linspace(0.0, 0.6, 13)
#: The shares among which the one of a single rater is sought.
_SHARES = np.linspace(0.0, 1.0, 41)
#: The shares of raters who may answer blindly throughout.
_BLIND_RATERS = np.linspace(0.01, 0.99, 25)
#: How far the map may be trusted: its odds to these powers.
_SHARPNESS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4)
#: The share of careful raters that may be called careless; half of what is claimed, because
#: the map and the distribution of the careful raters are estimates.
_FALSE_ALARMS = 0.005
#: Careful raters drawn to find out what these would look like.
_DRAWN = 4000


@dataclass(frozen=True, eq=False)
class Judgement:
    """How each of R raters answers.

    Attributes
    ----------
    odds : (R,) array of float
        How many times as likely the answers are if all are blind as if the rater is one of
        the careful.
    bound : float
        The odds above which a rater is called careless.
    blind, low, high : (R,) array of float
        The share of blind answers and its 95 % interval.
    careless : (R,) array of float
        The probability that all answers are blind, given how frequent that is.
    share : float
        How frequent it is: the share of such raters.
    """

    odds: FloatArray
    bound: float
    blind: FloatArray
    low: FloatArray
    high: FloatArray
    careless: FloatArray
    share: float


def judge_raters(
    chances: FloatArray, rater: IntArray, n_raters: int, *, bound: bool = True
) -> Judgement:
    """Tell raters who answer blindly from the careful ones.

    Each rater has a share of blind answers. That of careful raters is at most 0.6 and has a
    distribution in common; other raters answer blindly throughout. How many, and which
    distribution, is weighed by how likely it makes the answers of all raters. Nobody is
    compared with a typical rater, so many blind ones do not hide each other.

    Parameters
    ----------
    chances : (m, c) array of float
        Probabilities of attentive answers by a map of other raters' answers, that of the given
        answer first.
    rater : (m,) array of int
        0 ... n_raters - 1.
    n_raters : int
    bound : bool
        Whether the bound is wanted; else it is infinite.
    """
    n_answers = chances.shape[1]
    best, found = -np.inf, None
    for power in _SHARPNESS:
        flattened = _to_power(chances, power)
        careful = _log_likelihoods(flattened[:, 0], rater, n_raters, _CAREFUL, n_answers)
        blind = -np.bincount(rater, minlength=n_raters) * np.log(n_answers)
        prior, share, evidence = _weigh(careful, blind)
        if evidence > best:
            best, found = evidence, (flattened, careful, blind, prior, share)
    assert found is not None
    flattened, careful, blind, prior, share = found
    odds = np.exp(np.clip(blind - _mixed(careful, prior), -600.0, 600.0))
    grid = _log_likelihoods(flattened[:, 0], rater, n_raters, _SHARES, n_answers)
    density = np.exp(grid - grid.max(axis=1, keepdims=True))
    below = np.cumsum(density, axis=1) / density.sum(axis=1, keepdims=True)
    low, middle, high = (
        _SHARES[np.minimum((below < level).sum(axis=1), len(_SHARES) - 1)]
        for level in (0.025, 0.5, 0.975)
    )
    return Judgement(
        odds=odds,
        bound=_bound(flattened, rater, n_raters, prior) if bound else np.inf,
        blind=middle,
        low=low,
        high=high,
        careless=share * odds / (share * odds + 1 - share),
        share=share,
    )


def _to_power(chances: FloatArray, power: float) -> FloatArray:
    u = power * np.log(np.maximum(chances, 1e-12))
    u = np.exp(u - u.max(axis=1, keepdims=True))
    return np.asarray(u / u.sum(axis=1, keepdims=True))


def _log_likelihoods(
    own: FloatArray, rater: IntArray, n_raters: int, shares: FloatArray, n_answers: int
) -> FloatArray:
    """(R, len(shares)): of each rater's answers, if so many of them are blind."""
    out = np.empty((n_raters, len(shares)))
    for i, share in enumerate(shares):
        out[:, i] = np.bincount(rater, np.log((1 - share) * own + share / n_answers), n_raters)
    return out


def _mixed(careful: FloatArray, prior: FloatArray) -> FloatArray:
    """The log likelihood of each rater's answers as those of a careful one."""
    return np.asarray(np.logaddexp.reduce(careful + np.log(prior), axis=1))


def _populations() -> FloatArray:
    """Distributions of the careful raters' blind shares: few or many, alike or spread out."""
    x = (np.arange(len(_CAREFUL)) + 0.5) / len(_CAREFUL)
    logs = [
        (mean * size - 1) * np.log(x) + ((1 - mean) * size - 1) * np.log1p(-x)
        for mean in np.linspace(0.04, 0.96, 12)
        for size in (2, 4, 8, 16, 32, 64)
    ]
    shapes = np.exp(np.array(logs) - np.max(logs, axis=1, keepdims=True))
    return np.asarray(shapes / shapes.sum(axis=1, keepdims=True))


def _weigh(careful: FloatArray, blind: FloatArray) -> tuple[FloatArray, float, float]:
    """The distribution of careful shares, the share of blind raters, and the evidence.

    Both are means over what is possible, weighed by how likely it makes all answers.
    """
    top = np.maximum(careful.max(axis=1), blind)
    populations = _populations()
    as_careful = np.exp(careful - top[:, None]) @ populations.T
    as_blind = np.exp(blind - top)[:, None]
    evidence = np.stack(
        [np.log(as_blind * s + as_careful * (1 - s)).sum(axis=0) for s in _BLIND_RATERS], axis=1
    )
    most = evidence.max()
    weight = np.exp(evidence - most)
    total = weight.sum()
    prior = weight.sum(axis=1) @ populations / total
    share = float(weight.sum(axis=0) @ _BLIND_RATERS / total)
    return prior, share, float(most + np.log(total) + top.sum())


def _bound(chances: FloatArray, rater: IntArray, n_raters: int, prior: FloatArray) -> float:
    """The odds that careful raters exceed as rarely as wanted, found by drawing some.

    At least 1: nobody is called careless whose answers speak for care.
    """
    rng = np.random.default_rng(0)
    m, c = chances.shape
    blind = -np.bincount(rater, minlength=n_raters) * np.log(c)
    reached = np.cumsum(chances, axis=1)[:, :-1]
    logs = []
    for _ in range(max(10, -(-_DRAWN // n_raters))):
        which = np.searchsorted(np.cumsum(prior)[:-1], rng.random(n_raters))
        share = _CAREFUL[which[rater]]
        attentive = (rng.random((m, 1)) > reached).sum(axis=1)
        answer = np.where(rng.random(m) < share, rng.integers(c, size=m), attentive)
        own = chances[np.arange(m), answer]
        drawn = _log_likelihoods(own, rater, n_raters, _CAREFUL, c)
        logs.append(blind - _mixed(drawn, prior))
    return float(np.exp(np.clip(np.quantile(logs, 1 - _FALSE_ALARMS), 0.0, 600.0)))
