"""One model against people's answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trilens._parameters import one_of, seed_of, shown
from trilens._tabular import Tabular
from trilens._typing import FloatArray, IntArray
from trilens.errors import ParameterError, StatementError
from trilens.statements import Kind, Statements, StatementsLike, as_statements
from trilens.tasks.evaluate.clusters import clusters_of
from trilens.tasks.evaluate.predictions import (
    METRICS,
    Metric,
    Predictions,
    by_answers,
    by_distances,
    by_embedding,
)
from trilens.tasks.evaluate.yardstick import Yardstick, yardstick_of
from trilens.tasks.reliability.agreement import share_interval

COPIES = 2000
_COPIES_AT_A_TIME = 200


@dataclass(frozen=True)
class Evaluation(Tabular):
    """How well a model agrees with people.

    Attributes
    ----------
    name : str
    accuracy : float
        The share of people's answers that the model gives too; of k answers that it cannot
        tell apart each counts 1 / k.
    interval : (float, float)
        Its 95 % interval: of other raters like these, asked other questions like these about
        these objects. Answers of one rater hang together, and so do answers to one question
        (two-way clusters, Cameron, Gelbach and Miller, 2011; on the scale of log odds, with
        Student's quantile for the fewer of both). Where fewer than eight raters are known it
        is of other questions to these raters: bootstrap of whole questions.
    chance : float
        What guesses reach.
    ceiling : float or None
        What the best model could reach, by how often two raters agree (``agreement``); None
        where no question was answered by two raters (``no_ceiling`` says why).
    ceiling_interval : (float, float) or None
    agreement : float or None
        How often two raters agree. A model may do better than one rater does for another.
    of_ceiling : float or None
        The share of the way from chance to the ceiling; 1 for a perfect model, 0 for guesses.
    of_ceiling_interval : (float, float) or None
    log_loss : float
        The mean of minus the logarithm of the probability of the answer that was given, after
        one ``temperature`` was fitted: the factor of the distances. For a model's own answers
        it is the share of blind answers that is fitted.
    chance_log_loss : float
        That of guesses.
    temperature : float or None
        Distances are divided by it; None where guesses do as well.
    answers, raters : int
        How many the figures rest on; raters are 0 where they are not known. An answer without
        a rater counts as of somebody else.
    unit : {"rater and question", "question"}
        What the intervals let vary.
    matched : str
        Whether the model's objects were found by their names, or taken in their order.
    right : (m,) array
        For each answer whether the model gives it.
    statements : Statements
    """

    name: str
    accuracy: float
    interval: tuple[float, float]
    chance: float
    ceiling: float | None
    ceiling_interval: tuple[float, float] | None
    agreement: float | None
    no_ceiling: str | None
    of_ceiling: float | None
    of_ceiling_interval: tuple[float, float] | None
    log_loss: float
    chance_log_loss: float
    temperature: float | None
    answers: int
    raters: int
    unit: str
    matched: str
    kind: Kind
    right: FloatArray = field(repr=False)
    statements: Statements = field(repr=False)
    yardstick: Yardstick = field(repr=False)

    def columns(self) -> dict[str, list[Any]]:
        """One row."""
        facts = self.to_dict()
        for key in ("interval", "ceiling_interval", "of_ceiling_interval"):
            ends = facts.pop(key) or (None, None)
            stem = key.removesuffix("interval").rstrip("_")
            stem = f"{stem}_" if stem else ""
            facts[f"{stem}low"], facts[f"{stem}high"] = ends
        return {key: [value] for key, value in facts.items()}

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens evaluate --json`` prints them."""
        return {
            "name": self.name,
            "accuracy": self.accuracy,
            "interval": list(self.interval),
            "chance": self.chance,
            "ceiling": self.ceiling,
            "ceiling_interval": _listed(self.ceiling_interval),
            "agreement": self.agreement,
            "no_ceiling": self.no_ceiling,
            "of_ceiling": self.of_ceiling,
            "of_ceiling_interval": _listed(self.of_ceiling_interval),
            "log_loss": self.log_loss,
            "chance_log_loss": self.chance_log_loss,
            "temperature": self.temperature,
            "answers": self.answers,
            "raters": self.raters,
            "unit": self.unit,
            "matched": self.matched,
        }


def evaluate(
    statements: StatementsLike,
    *,
    embedding: Any = None,
    distances: Any = None,
    answers: Any = None,
    metric: Metric = "euclidean",
    name: str = "model",
    yardstick: Yardstick | None = None,
    random_state: int = 0,
) -> Evaluation:
    """How well an embedding, a distance matrix or a model's answers agree with people's.

    Parameters
    ----------
    statements : Statements or (m, 3) array
        People's answers, of any kind.
    embedding : (n, d) array, dict from name to vector, or DataFrame, optional
        Give one of the three. An array has its rows in the order of ``statements.names``, a
        DataFrame the names as its index or in a column ``object``. Objects beyond those of the
        statements are passed over.
    distances : (n, n) array or DataFrame, optional
        0 or more; an array in the order of ``statements.names``, a DataFrame with the names as
        its index and columns, in any order.
    answers : Statements, optional
        The model's answers to the same questions.
    metric : {"euclidean", "cosine", "dot"}
        How vectors are compared; ``dot`` and ``cosine`` are similarities.
    name : str
    yardstick : Yardstick, optional
        The ceiling, where another evaluation of the same statements has found it.
    random_state : int

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from trilens.simulate import gaussian, simulate_statements
    >>> X = gaussian(30, 2, random_state=0).points
    >>> S = simulate_statements(X, 2000, error_rate=0.1, random_state=1)
    >>> E = evaluate(S, embedding=X)
    >>> round(E.accuracy, 1), round(E.chance, 2), E.ceiling
    (0.9, 0.33, None)
    >>> E.no_ceiling
    'no question was asked twice'
    """
    given = as_statements(statements)
    seed = seed_of(random_state)
    one_of("metric", metric, METRICS)
    if len(given) == 0:
        raise StatementError("there are no statements, so no model can be compared with them")
    asked = [x is not None for x in (embedding, distances, answers)]
    if sum(asked) != 1:
        raise ParameterError(
            f"give one of embedding, distances and answers, not {sum(asked) or 'none'} of them; "
            f"compare_models puts several evaluations beside each other"
        )
    if embedding is not None:
        said = by_embedding(given, embedding, metric)
    elif distances is not None:
        said = by_distances(given, distances)
    else:
        said = by_answers(given, answers)
    if yardstick is None:
        yardstick = yardstick_of(given, seed)
    elif not isinstance(yardstick, Yardstick):
        raise ParameterError(f"yardstick is {shown(yardstick)}; it must be a Yardstick, or None")
    return _evaluated(str(name), given, said, yardstick, seed)


def _evaluated(
    name: str, given: Statements, said: Predictions, yardstick: Yardstick, seed: int
) -> Evaluation:
    right = said.right
    chance = 1 / said.scores.shape[1]
    accuracy = float(right.mean())
    clusters = clusters_of(given)
    if clusters.rater is None:
        copies = bootstrap(right[:, None], clusters.question, seed)[:, 0]
        low, high = (float(end) for end in np.quantile(copies, [0.025, 0.975]))
    else:
        low, high = share_interval(
            accuracy, clusters.variance(right), clusters.freedom, clusters.freedom + 1
        )
        copies = _between(low, high, clusters.freedom, seed)
    of_ceiling = of_interval = None
    if yardstick.ceiling is not None and yardstick.ceiling > chance:
        of_ceiling = (accuracy - chance) / (yardstick.ceiling - chance)
        of_interval = _of_interval(copies, chance, yardstick, seed)
    loss, temperature = _log_loss(said)
    return Evaluation(
        name=name,
        accuracy=accuracy,
        interval=(low, high),
        chance=chance,
        ceiling=yardstick.ceiling,
        ceiling_interval=yardstick.ceiling_interval,
        agreement=None if yardstick.agreement is None else yardstick.agreement.share,
        no_ceiling=yardstick.why_not,
        of_ceiling=of_ceiling,
        of_ceiling_interval=of_interval,
        log_loss=loss,
        chance_log_loss=float(-np.log(chance)),
        temperature=temperature,
        answers=len(given),
        raters=clusters.n_raters,
        unit=clusters.unit,
        matched=said.matched,
        kind=given.kind,
        right=right,
        statements=given,
        yardstick=yardstick,
    )


def bootstrap(values: FloatArray, cluster: IntArray, seed: int) -> FloatArray:
    """Means of the columns with whole clusters drawn anew, (copies, columns)."""
    n = int(cluster.max()) + 1
    sums = np.stack([np.bincount(cluster, column, n) for column in values.T], axis=1)
    size = np.bincount(cluster, minlength=n).astype(np.float64)
    rng = np.random.default_rng([seed, 8])
    copies = []
    for _ in range(COPIES // _COPIES_AT_A_TIME):
        if n <= 20_000:
            weights = rng.multinomial(n, np.full(n, 1 / n), size=_COPIES_AT_A_TIME)
            copies.append((weights @ sums) / (weights @ size)[:, None])
        else:  # of so many the mean is as good as Gaussian
            mean = sums.sum(axis=0) / size.sum()
            off = sums - mean * size[:, None]
            spread = off.T @ off / size.sum() ** 2
            copies.append(rng.multivariate_normal(mean, spread, _COPIES_AT_A_TIME))
    return np.concatenate(copies)


def _between(low: float, high: float, freedom: int, seed: int) -> FloatArray:
    """Shares as they might have been, by their 95 % interval on the scale of log odds."""
    from scipy.special import expit, logit, stdtrit

    ends = logit(np.clip([low, high], 1e-9, 1 - 1e-9))
    error = (ends[1] - ends[0]) / 2 / stdtrit(freedom, 0.975)
    draws = np.random.default_rng([seed, 8]).standard_t(freedom, COPIES)
    return np.asarray(expit(ends.mean() + error * draws))


def _of_interval(
    copies: FloatArray, chance: float, yardstick: Yardstick, seed: int
) -> tuple[float, float]:
    """The ceiling is uncertain too: it is drawn anew beside the accuracy."""
    assert yardstick.ceiling is not None
    assert yardstick.ceiling_interval is not None
    low, high = yardstick.ceiling_interval
    error = (high - low) / 3.92
    rng = np.random.default_rng([seed, 9])
    ceiling = yardstick.ceiling + error * rng.standard_normal(len(copies))
    shares = (copies - chance) / np.maximum(ceiling - chance, 1e-3)
    ends = np.quantile(shares, [0.025, 0.975])
    return float(ends[0]), float(ends[1])


def _log_loss(said: Predictions) -> tuple[float, float | None]:
    from scipy.optimize import minimize_scalar

    c = said.scores.shape[1]
    if said.shares:

        def loss(logit: float) -> float:
            blind = 1 / (1 + np.exp(-logit))
            return float(-np.log((1 - blind) * said.scores[:, 0] + blind / c).mean())

        found = minimize_scalar(loss, bounds=(-12.0, 12.0), method="bounded")
        return min(float(found.fun), float(np.log(c))), float(1 / (1 + np.exp(-found.x)))
    scores = said.scores - said.scores[:, [0]]
    typical = float(np.sqrt((scores**2).mean()))
    if typical == 0.0:
        return float(np.log(c)), None

    def cool(log_factor: float) -> float:
        u = np.exp(log_factor) / typical * scores
        top = u.max(axis=1)
        return float((np.log(np.exp(u - top[:, None]).sum(axis=1)) + top).mean())

    found = minimize_scalar(cool, bounds=(-8.0, 8.0), method="bounded")
    if found.fun >= np.log(c) * (1 - 1e-9):  # no better than guesses: infinitely hot
        return float(np.log(c)), None
    return float(found.fun), float(typical / np.exp(found.x))


def evaluations_of(
    statements: Statements, models: Mapping[str, Mapping[str, Any]], random_state: int = 0
) -> list[Evaluation]:
    """Several models against the same answers, with one ceiling.

    Parameters
    ----------
    models : dict
        By name, the arguments of `evaluate`.
    """
    yardstick = yardstick_of(statements, seed_of(random_state))
    return [
        evaluate(statements, name=name, yardstick=yardstick, random_state=random_state, **given)
        for name, given in models.items()
    ]


def _listed(ends: tuple[float, float] | None) -> list[float] | None:
    return None if ends is None else list(ends)
