"""What features add: held-out answers predicted by features, by answers and by both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trilens._parameters import seed_of
from trilens._tabular import AsDict, Tabular, facts
from trilens._typing import BoolArray
from trilens.ask import statements_of
from trilens.errors import StatementError
from trilens.maps import ChoiceMap
from trilens.maps.fitted import Fit
from trilens.maps.likelihood import in_own_order
from trilens.questions.evaluate.evaluation import Difference, Yardstick, compare_models, evaluated
from trilens.questions.evaluate.predictions import Predictions
from trilens.statements import Statements
from trilens.statements.combine import questions
from trilens.words import feature_gain_in_words

#: The share of the questions that is held out, and the answers that are looked at at most.
_HELD_OUT, _MOST = 0.2, 50_000
#: Fewer answers say too little to hold some out.
LEAST = 50
ANSWERS, FEATURES, BOTH = "answers", "features", "both"


@dataclass(frozen=True)
class Predicted(AsDict):
    """How well held-out answers are predicted."""

    by: str
    #: The share that is predicted.
    accuracy: float
    #: At 95 %, as in `Evaluation`.
    interval: tuple[float, float]
    #: The mean of minus the logarithm of the probability of the answer that was given.
    log_loss: float


@dataclass(frozen=True)
class FeatureGain(Tabular):
    """What features add."""

    #: By answers alone, by features alone (a linear map of them, fitted to the answers), and by
    #: both.
    rows: tuple[Predicted, ...]
    #: Answers that the maps were fitted to, and that they were to predict.
    fitted: int
    held_out: int
    #: What guesses reach.
    chance: float
    #: Of both and answers alone.
    difference: Difference
    #: The share of the map's spread that each block is expected to explain; 0 where it does not
    #: help.
    shares: dict[str, float]

    @property
    def said(self) -> str:
        """In a sentence or two."""
        gain = self._gain if any(self.shares.values()) else None
        shares = tuple(row.accuracy for row in self.rows)
        return feature_gain_in_words(self.held_out, shares, self.chance, gain)

    @property
    def _gain(self) -> tuple[float, float]:
        """The interval of both minus answers alone; differences have the better one first."""
        found = self.difference
        if found.first == BOTH:
            return found.low, found.high
        return -found.high, -found.low

    def columns(self) -> dict[str, list[Any]]:
        """A row each for answers, features and both."""
        return {
            "by": [row.by for row in self.rows],
            "accuracy": [row.accuracy for row in self.rows],
            "low": [row.interval[0] for row in self.rows],
            "high": [row.interval[1] for row in self.rows],
            "log_loss": [row.log_loss for row in self.rows],
        }

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens analyze --json`` prints them."""
        return {
            **facts(self, "rows", "fitted", "held_out", "chance"),
            "gain": list(self._gain),
            **facts(self, "shares", "said"),
        }


def feature_gain(fitted: Fit, *, random_state: int = 0) -> FeatureGain:
    """Hold out a fifth of the questions, and predict their answers with and without features.

    >>> from trilens.maps.fitted import fit
    >>> from trilens.simulate import gaussian, simulate_statements
    >>> X = gaussian(20, 2, random_state=0).points
    >>> S = simulate_statements(X, 300, random_state=1)
    >>> found = feature_gain(fit(S, features=X @ [[1, 2, 0.5], [0, 1, 3]]))
    >>> [row.by for row in found.rows], found.rows[2].accuracy > 0.8
    (['answers', 'features', 'both'], True)
    """
    assert fitted.features is not None
    seed = seed_of(random_state)
    # in an order of its own, so that that of the objects and rows does not matter
    given, rank = in_own_order(statements_of(fitted, "feature_gain"))
    known = fitted.features.take(np.argsort(rank))
    if len(given) < LEAST:
        raise StatementError(
            f"what features add can be told from {LEAST} answers on; there are {len(given):,}"
        )
    used, aside = _split(given, seed)
    seen, unseen = given.take(used), given.take(aside)
    alone = ChoiceMap(random_state=seed).fit(seen)
    both = ChoiceMap(random_state=seed).fit(seen, features=known)
    linear = ChoiceMap(
        both.n_components_, feature_share=_whole(both.feature_shares_), random_state=seed
    ).fit(seen, features=known)
    rows, found = [], []
    nothing = Yardstick(None, None, None, None)
    for by, M in ((ANSWERS, alone), (FEATURES, linear), (BOTH, both)):
        P = M.predict_proba(unseen)
        each = evaluated(by, unseen, Predictions(np.log(P), False), nothing, seed)
        found.append(each)
        rows.append(Predicted(by, each.accuracy, each.interval, float(-np.log(P[:, 0]).mean())))
    (pair,) = compare_models([found[2], found[0]], random_state=seed).differences
    return FeatureGain(
        tuple(rows), len(seen), len(unseen), found[0].chance, pair, dict(both.feature_shares_)
    )


def _whole(shares: dict[str, float]) -> dict[str, float] | float:
    """Shares in the same proportion that leave no remainder."""
    total = sum(shares.values())
    if len(shares) == 1:
        return 1.0
    # a little below 1: the sum of rounded shares must not be above
    return {
        name: (share / total if total else 1 / len(shares)) * (1 - 1e-9)
        for name, share in shares.items()
    }


def _split(statements: Statements, seed: int) -> tuple[BoolArray, BoolArray]:
    """The answers to fit and those to predict, by question."""
    question, _, asked = questions(statements)
    draw = np.random.default_rng([seed, 13]).random(len(asked))
    wanted = np.ones(len(asked), dtype=np.bool_)
    if len(statements) > _MOST:
        wanted = np.random.default_rng([seed, 14]).random(len(asked)) < _MOST / len(statements)
    aside = draw <= np.quantile(draw, _HELD_OUT)
    return (wanted & ~aside)[question], (wanted & aside)[question]
