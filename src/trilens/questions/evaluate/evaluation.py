"""Models against people's answers: how well one agrees, and whether several differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, overload

import numpy as np

from trilens._parameters import one_of, seed_of, wrong
from trilens._tabular import AsDict, Tabular, facts
from trilens._typing import FloatArray, IntArray, Progress, RandomState
from trilens.agreement import (
    Agreement,
    agreement_of,
    each_its_own,
    freedom_of,
    gave_much,
    reachable_share,
    share_interval,
    spread,
)
from trilens.ask import Data, is_enough, opened, statements_of
from trilens.calibration import MODELS_SIGNIFICANCE
from trilens.errors import ParameterError, StatementError, option
from trilens.maps.descent import part_of
from trilens.maps.fitted import Fit, fit
from trilens.questions.evaluate.alignment import by_aligned_embedding
from trilens.questions.evaluate.predictions import (
    METRICS,
    Metric,
    Predictions,
    by_answers,
    by_distances,
    by_embedding,
)
from trilens.statements import Statements
from trilens.statements.columns import as_list
from trilens.statements.combine import questions
from trilens.words import (
    BENT_MODELS,
    NO_CEILING,
    few_raters,
    how_matched,
    mostly_one_rater,
)

#: Samples of the bootstrap.
_SAMPLES, _SAMPLES_AT_A_TIME = 2000, 200
#: The mean of more clusters is as good as Gaussian.
_GAUSSIAN_FROM = 20_000
#: Random signs of the test of no difference.
_FLIPS = 9999
#: From so many raters on an interval is for other raters, too.
_LEAST_RATERS = 3
#: Objects that are listed for two models, from so many answers on.
_LISTED, _LEAST_ANSWERS = 5, 10


@dataclass(frozen=True)
class Yardstick:
    """What the best model could reach (the ceiling), and how often two raters agree."""

    ceiling: float | None
    ceiling_interval: tuple[float, float] | None
    agreement: Agreement | None
    #: Why there is no ceiling.
    why_not: str | None


@dataclass(frozen=True)
class Evaluation(Tabular):
    """How well a model agrees with people.

    Attributes
    ----------
    name : str
    accuracy : float
        The share of people's answers that the model gives too; each of k answers that it cannot
        tell apart counts 1 / k.
    interval : (float, float)
        A 95 % interval of the accuracy for other raters like these, each counted once, who are
        asked other questions like these about these objects (see Notes). It holds ``accuracy``,
        but need not have it in its middle where raters gave unequal numbers of answers.
    chance : float
        What guesses reach.
    ceiling : float or None
        What the best model could reach, by how often two raters agree (``agreement``); None
        where too few questions were answered by two raters (``no_ceiling`` says why).
    ceiling_interval : (float, float) or None
    agreement : float or None
        How often two raters agree. A model may do better than one rater does for another.
    of_ceiling : float or None
        The share of the way from chance to the ceiling; 1 for a perfect model, 0 for guesses.
    of_ceiling_interval : (float, float) or None
    log_loss : float
        The mean of minus the logarithm of the probability of the answer that was given, after
        one ``temperature`` was fitted: the factor of the distances. For a model's own answers
        a lapse rate is fitted instead.
    chance_log_loss : float
        That of guesses.
    temperature : float or None
        Distances are divided by it; None where guesses do as well.
    answers, raters : int
        How many the figures rest on; raters are 0 where they are not known. An answer without
        a rater counts as somebody else's.
    unit : {"rater and question", "question"}
        What the intervals let vary.
    caution : str or None
        What the intervals rest on, where that is little: one rater who gave much, or too few
        raters.
    by_name : bool
        Whether the model's objects were found by their names, and not taken in their order;
        ``matched`` says it.
    right : (m,) array
        For each answer whether the model gives it.
    statements : Statements

    Notes
    -----
    Answers of one rater are correlated, and so are answers to one question. The interval is that
    of a mean over raters, in which a rater with many answers counts more, but only as far as the
    raters' own accuracies differ by chance alone: weights are the inverse of the spread of the
    raters plus the error of each (random effects). Its variance is that of the raters about this
    mean (Hartung and Knapp, 2001; Sidik and Jonkman, 2002), plus what raters have in common
    because they were asked the same questions, each with its degrees of freedom (Graybill and
    Wang, 1980); on the scale of log odds. It assumes that raters do not give more answers
    because they are better or worse. Where fewer than three raters are known it is for other
    questions to these raters: bootstrap of whole questions.
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
    caution: str | None
    by_name: bool
    right: FloatArray = field(repr=False)
    statements: Statements = field(repr=False)
    yardstick: Yardstick = field(repr=False)

    @property
    def matched(self) -> str:
        """How the model's objects were found."""
        return how_matched(self.by_name, self.statements.names)

    def columns(self) -> dict[str, list[Any]]:
        """One row."""
        row = self.to_dict()
        for stem in ("", "ceiling_", "of_ceiling_"):
            row[f"{stem}low"], row[f"{stem}high"] = row.pop(f"{stem}interval") or (None,) * 2
        return {key: [value] for key, value in row.items()}

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens evaluate --json`` prints them."""
        return {
            **facts(self, "name", "accuracy", "interval", "chance", "ceiling", "ceiling_interval"),
            **facts(self, "agreement", "no_ceiling", "of_ceiling", "of_ceiling_interval"),
            **facts(self, "log_loss", "chance_log_loss", "temperature", "answers", "raters"),
            **facts(self, "unit", "caution", "matched"),
        }


@overload
def evaluate(
    statements: Data,
    models: Mapping[str, Any],
    *,
    aligned: bool = ...,
    metric: Metric = ...,
    random_state: RandomState = ...,
) -> Comparison: ...


@overload
def evaluate(
    statements: Data,
    models: None = ...,
    *,
    embedding: Any = ...,
    distances: Any = ...,
    answers: Any = ...,
    metric: Metric = ...,
    name: str = ...,
    yardstick: Yardstick | None = ...,
    aligned: bool = ...,
    random_state: RandomState = ...,
) -> Evaluation: ...


def evaluate(
    statements: Data,
    models: Mapping[str, Any] | None = None,
    *,
    embedding: Any = None,
    distances: Any = None,
    answers: Any = None,
    metric: Metric = "euclidean",
    name: str = "model",
    yardstick: Yardstick | None = None,
    aligned: bool | None = None,
    random_state: RandomState = 0,
) -> Evaluation | Comparison:
    """How well an embedding, a distance matrix or a model's answers agree with people's.

    Parameters
    ----------
    statements : Fit, path, Answers, Statements, a table or (m, 3) array
        People's answers, of any kind. With a fit the ceiling is found without another one.
    models : dict from name to embedding, optional
        Several models in one table, as they are and after a linear map; then the result is a
        `Comparison`.
    embedding : (n, d) array, dict from name to vector, or DataFrame, optional
        Give one of the three. An array has its rows in the order of ``statements.names``, a
        DataFrame the names as its index or in a column ``object``. Objects that are not in the
        statements are ignored.
    distances : (n, n) array or DataFrame, optional
        0 or more; an array in the order of ``statements.names``, a DataFrame with the names as
        its index and columns, in any order.
    answers : Statements, optional
        The model's answers to the same questions.
    metric : {"euclidean", "cosine", "dot"}
        How vectors are compared; ``dot`` and ``cosine`` are similarities.
    name : str
    yardstick : Yardstick, optional
        The ceiling, where another evaluation of the same statements has found it already.
    aligned : bool, optional
        Whether vectors are evaluated after a linear map that was fitted to answers about other
        objects (see Notes). For ``models`` the table has both, unless this is False; a single
        embedding is taken as it is, unless this is True.

    Returns
    -------
    Evaluation, or Comparison for ``models``

    Notes
    -----
    Vectors may hold what people use, but weigh it otherwise. So they are also evaluated after a
    linear map, drawn towards the vectors as they are. Objects fall into seven groups; every answer
    is predicted by a map that was fitted to answers which name no object of its groups. Such a
    map has seen a fifth of the answers: one that is fitted to all of them predicts better, see
    ``features`` of `ChoiceMap`. The intervals take the maps as given.

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
    >>> found = evaluate(S[:300], {"stretched": X * [1, 5], "width": X[:, :1]})
    >>> found.ranks
    {'width': (1, 2), 'stretched': (1, 2)}
    >>> [(model.name, round(model.accuracy, 1)) for model in found.aligned.models]
    [('stretched', 0.9), ('width', 0.7)]
    """
    held, seed = opened(statements), seed_of(random_state)
    given = statements_of(held, "evaluate")
    fitted = held if isinstance(held, Fit) else None
    one_of("metric", metric, METRICS)
    if len(given) == 0:
        raise StatementError("there are no statements to compare a model with")
    if aligned is not None and not isinstance(aligned, bool | np.bool_):
        raise wrong("aligned", aligned, "True or False")
    if models is not None:
        if any(x is not None for x in (embedding, distances, answers, yardstick)):
            raise ParameterError(
                f"give either a dict of models or one of {option('embedding')}, "
                f"{option('distances')} and {option('answers')}",
                parameter="models",
            )
        if not isinstance(models, Mapping) or not models:
            raise wrong("models", models, "a dict from names to embeddings, with at least one")
        wanted = {str(each): {"embedding": E, "metric": metric} for each, E in models.items()}
        both = aligned is None or bool(aligned)
        return compare_all(
            given if fitted is None else fitted, wanted, aligned=both, random_state=random_state
        )
    asked = [x is not None for x in (embedding, distances, answers)]
    if sum(asked) != 1:
        raise ParameterError(
            f"give one of {option('embedding')}, {option('distances')} and {option('answers')}, "
            f"not {sum(asked) or 'none'} of them; compare_models compares several evaluations"
        )
    if aligned and embedding is None:
        raise ParameterError(
            f"only vectors can be aligned; give {option('embedding')}, or leave aligned out",
            parameter="aligned",
        )
    if aligned:
        said = by_aligned_embedding(given, embedding, metric, seed)
    else:
        said = _predictions(given, embedding, distances, answers, metric)
    if yardstick is None:
        yardstick = yardstick_of(given, seed, fitted)
    elif not isinstance(yardstick, Yardstick):
        raise wrong("yardstick", yardstick, "a Yardstick, or None")
    return evaluated(str(name), given, said, yardstick, seed)


def _predictions(
    given: Statements,
    embedding: Any = None,
    distances: Any = None,
    answers: Any = None,
    metric: Metric = "euclidean",
) -> Predictions:
    if embedding is not None:
        return by_embedding(given, embedding, metric)
    return by_answers(given, answers) if distances is None else by_distances(given, distances)


def evaluated(
    name: str, given: Statements, said: Predictions, yardstick: Yardstick, seed: int
) -> Evaluation:
    """What a model says of the answers, with its interval and log-loss."""
    right = said.right
    chance = 1 / said.scores.shape[1]
    accuracy = float(right.mean())
    clusters = clusters_of(given)
    if clusters.rater is None:
        samples = _bootstrap(right, clusters.question, seed)
        low, high = (float(end) for end in np.quantile(samples, [0.025, 0.975]))
    else:
        mean, variance, freedom = clusters.mean(right)
        asked = int(clusters.question.max()) + 1
        low, high = share_interval(mean, variance, freedom, asked)
        samples = _between(low, high, freedom, seed)
        low, high = min(low, accuracy), max(high, accuracy)
    of_ceiling = of_interval = None
    if yardstick.ceiling is not None and yardstick.ceiling > chance:
        of_ceiling = (accuracy - chance) / (yardstick.ceiling - chance)
        of_interval = _of_interval(samples, chance, yardstick, seed)
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
        caution=clusters.caution,
        by_name=said.by_name,
        right=right,
        statements=given,
        yardstick=yardstick,
    )


def _bootstrap(values: FloatArray, cluster: IntArray, seed: int) -> FloatArray:
    """Means with whole clusters resampled, (samples,)."""
    n = int(cluster.max()) + 1
    sums, size = np.bincount(cluster, values, n), np.bincount(cluster, minlength=n)
    rng = np.random.default_rng([seed, 8])
    if n > _GAUSSIAN_FROM:
        mean = float(values.mean())
        error = np.sqrt(((sums - mean * size) ** 2).sum()) / len(values)
        return rng.normal(mean, error, _SAMPLES)
    samples = []
    for _ in range(_SAMPLES // _SAMPLES_AT_A_TIME):
        weights = rng.multinomial(n, np.full(n, 1 / n), size=_SAMPLES_AT_A_TIME)
        samples.append((weights @ sums) / (weights @ size))
    return np.concatenate(samples)


def _between(low: float, high: float, freedom: float, seed: int) -> FloatArray:
    """Shares as they might have been, by their 95 % interval on the scale of log odds."""
    from scipy.special import expit, logit, stdtrit

    ends = logit(np.clip([low, high], 1e-9, 1 - 1e-9))
    error = (ends[1] - ends[0]) / 2 / stdtrit(freedom, 0.975)
    draws = np.random.default_rng([seed, 8]).standard_t(freedom, _SAMPLES)
    return np.asarray(expit(ends.mean() + error * draws))


def _of_interval(
    samples: FloatArray, chance: float, yardstick: Yardstick, seed: int
) -> tuple[float, float]:
    """The ceiling is uncertain too: it is resampled along with the accuracy."""
    assert yardstick.ceiling is not None
    assert yardstick.ceiling_interval is not None
    low, high = yardstick.ceiling_interval
    error = (high - low) / 3.92
    rng = np.random.default_rng([seed, 9])
    ceiling = yardstick.ceiling + error * rng.standard_normal(len(samples))
    shares = (samples - chance) / np.maximum(ceiling - chance, 1e-3)
    ends = np.quantile(shares, [0.025, 0.975])
    return float(ends[0]), float(ends[1])


def _log_loss(said: Predictions) -> tuple[float, float | None]:
    from scipy.optimize import minimize_scalar

    c = said.scores.shape[1]
    if said.shares:

        def loss(logit: float) -> float:
            lapse = 1 / (1 + np.exp(-logit))
            return float(-np.log((1 - lapse) * said.scores[:, 0] + lapse / c).mean())

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


def yardstick_of(
    statements: Statements,
    seed: int = 0,
    fitted: Fit | None = None,
    progress: Progress | None = None,
) -> Yardstick:
    """The ceiling of statements; a map is fitted where there are repeats, and no fit is given."""
    agreement, _, why_not = agreement_of(statements)
    if agreement is None:
        return Yardstick(None, None, None, None if why_not is None else NO_CEILING[why_not])
    if fitted is None and is_enough(statements):
        fitted = fit(statements, random_state=seed, progress=progress)
    chances_of = None if fitted is None else fitted.probabilities
    best, interval = reachable_share(agreement, statements, chances_of)
    return Yardstick(best, interval, agreement, NO_CEILING["few"] if best is None else None)


@dataclass(frozen=True, eq=False)
class AnswerClusters:
    """Which answers are correlated: those of one rater, and those to one question."""

    #: (m,): the question and the rater of each answer; None where fewer than three are known.
    question: IntArray
    rater: IntArray | None
    #: The known ones; an answer without a rater is somebody else's.
    n_raters: int
    #: The share of the answers that the rater with the most of them gave.
    most: float = 0.0

    @property
    def unit(self) -> str:
        """What the intervals are about."""
        return "question" if self.rater is None else "rater and question"

    @property
    def caution(self) -> str | None:
        """What the intervals rest on, where that is little."""
        if self.rater is None:
            return few_raters(self.n_raters) if self.n_raters else None
        return mostly_one_rater(self.most) if gave_much(self.most, self.n_raters) else None

    def mean(self, values: FloatArray) -> tuple[float, float, float]:
        """The mean of values for raters and questions like these; see `Evaluation`.

        With its variance, and the degrees of freedom of that.

        All ten raters agree about ten questions, of which five are right: as good as ten answers.

        >>> question, rater = np.divmod(np.arange(100), 10)
        >>> found = AnswerClusters(question, rater, 10).mean((question < 5) * 1.0)
        >>> tuple(round(each, 4) for each in found)
        (0.5, 0.0278, 9.0)
        """
        assert self.rater is not None
        if np.ptp(values) == 0:
            fewest = min(int(self.question.max()) + 1, self.n_raters)
            return float(values[0]), 0.0, float(max(fewest - 1, 1))
        count = np.bincount(self.rater).astype(np.float64)
        own = np.bincount(self.rater, values) / count
        inside = float(((values - own[self.rater]) ** 2).sum())
        if len(values) > len(own):
            inside /= len(values) - len(own)
        else:  # one answer each: raters and answers cannot be separated
            inside = float(values.var(ddof=1))
        beyond = spread(own, count, inside)
        weight = 1 / (beyond + inside / count) if beyond + inside > 0 else count
        weight = weight / weight.sum()
        value = float(weight @ own)
        by_rater = float((weight * (own - value) ** 2).sum()) / (len(own) - 1)
        # the same questions make raters alike: what is left of answers without their raters'
        # level, multiplied across raters
        shrunk = beyond / (beyond + inside / count) if beyond > 0 else np.zeros(len(own))
        pull = (weight / count)[self.rater]
        off = pull * (values - value - (shrunk * (own - value))[self.rater])
        by_question = np.bincount(self.question, off)
        both = self.question * np.int64(len(own)) + self.rater
        cell = np.bincount(np.unique(both, return_inverse=True)[1], off)
        shares = np.bincount(self.question, pull)
        questions = float(1 / (shares**2).sum())
        common = float((by_question**2).sum() - (cell**2).sum())
        common *= questions / max(questions - 1, 1) / (1 - float((weight**2).sum()))
        common = max(common, 0.0)
        freedom = freedom_of(by_rater, len(own) - 1, common, max(questions - 1, 1))
        return value, by_rater + common, freedom


def clusters_of(statements: Statements) -> AnswerClusters:
    """The raters and questions of statements.

    The statements of one screen are one answer: without enough raters, in whose answers they
    are, the screens take the place of the questions.
    """
    question = questions(statements)[0]
    if statements.raters is None:
        return AnswerClusters(_screens(statements, question), None, 0)
    known, rater = np.unique(each_its_own(statements.raters), return_inverse=True)
    n_raters = len(known) - int(np.sum(np.asarray(statements.raters) == ""))
    if n_raters < _LEAST_RATERS:
        return AnswerClusters(_screens(statements, question), None, n_raters)
    most = float(np.bincount(rater).max()) / len(rater)
    return AnswerClusters(question, rater.astype(np.int64), n_raters, most)


def _screens(statements: Statements, question: IntArray) -> IntArray:
    """The screen of each statement, where it is known; raters may number theirs alike."""
    if statements.questions is None:
        return question
    _, screen = np.unique(statements.questions, return_inverse=True)
    if statements.raters is not None:
        _, rater = np.unique(np.asarray(statements.raters).astype(str), return_inverse=True)
        _, screen = np.unique(screen * np.int64(len(rater)) + rater, return_inverse=True)
    return screen.astype(np.int64)


def compare_all(
    answers: Fit | Statements,
    models: Mapping[str, Mapping[str, Any]],
    *,
    aligned: bool = True,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Several models, by name the arguments of `evaluate`, against the same answers."""
    statements = statements_of(answers, "evaluate")
    fitted = answers if isinstance(answers, Fit) else None
    seed = seed_of(random_state)
    vectors = [name for name, given in models.items() if aligned and "embedding" in given]
    # the ceiling takes about as long as a linear map; what is left takes no time
    share = 1 / (1 + len(vectors))
    yardstick = yardstick_of(statements, seed, fitted, part_of(progress, 0.0, share))
    bent = []
    for done, name in enumerate(vectors, 1):
        part = part_of(progress, done * share, share)
        said = by_aligned_embedding(statements, **models[name], seed=seed, progress=part)
        bent.append(evaluated(name, statements, said, yardstick, seed))
    raw = [
        evaluated(name, statements, _predictions(statements, **given), yardstick, seed)
        for name, given in models.items()
    ]
    if progress is not None:
        progress(1.0)
    found = compare_models(raw, random_state=seed)
    if not bent:
        return found
    return replace(found, aligned=compare_models(bent, random_state=seed))


@dataclass(frozen=True)
class ObjectDifference(AsDict):
    """An object about which two models differ."""

    object: str
    #: Of the accuracies over the answers about it.
    difference: float
    answers: int
    #: By how many standard errors it is from the difference over all answers.
    beyond: float


@dataclass(frozen=True)
class Difference(AsDict):
    """Two models compared."""

    first: str
    second: str
    #: The accuracy of the first minus that of the second; with its 95 % interval for raters and
    #: questions like these (see `Evaluation`).
    difference: float
    low: float
    high: float
    #: Of no difference for raters and questions like these: Student's test of the same mean and
    #: variance; 1 where that mean has another sign than the difference. Where fewer than three
    #: raters are known, a test by random signs: how often the sum of differences would be as large
    #: if for each question either model were equally likely to be the better one.
    p_value: float
    #: The same for all pairs of models together (Holm, 1979).
    adjusted: float
    #: Where they differ most.
    objects: tuple[ObjectDifference, ...]


@dataclass(frozen=True)
class Comparison(Tabular):
    """Several models in one table.

    Attributes
    ----------
    models : tuple of Evaluation
        The most accurate first.
    differences : tuple of Difference
        Of all pairs, the better model first.
    aligned : Comparison or None
        The models that are vectors, after a linear map fitted to answers about other objects.
    """

    models: tuple[Evaluation, ...]
    differences: tuple[Difference, ...]
    aligned: Comparison | None = None

    @property
    def ranks(self) -> dict[str, tuple[int, int]]:
        """The best and the worst rank of each model that the answers leave open.

        A model ranks behind another where their difference is significant (5 %, adjusted for all
        pairs); models that cannot be distinguished share their ranks.
        """
        ranks = {model.name: [1, len(self.models)] for model in self.models}
        for found in self.differences:
            if found.adjusted < MODELS_SIGNIFICANCE:
                ranks[found.first][1] -= 1
                ranks[found.second][0] += 1
        return {name: (best, worst) for name, (best, worst) in ranks.items()}

    @property
    def caution(self) -> str | None:
        """What the ranks of aligned models do not say."""
        if self.aligned is None or len(self.aligned.models) < 2:
            return None
        return BENT_MODELS

    def columns(self) -> dict[str, Sequence[Any]]:
        """A row for each model."""
        rows = [model.columns() for model in self.models]
        found: dict[str, Sequence[Any]] = {key: [row[key][0] for row in rows] for key in rows[0]}
        found["rank"], found["worst_rank"] = zip(
            *(self.ranks[model.name] for model in self.models), strict=True
        )
        if self.aligned is None:
            return found
        aligned = self.aligned.columns()
        row = {name: i for i, name in enumerate(aligned["name"])}
        there = [row.get(model.name) for model in self.models]
        for key in ("accuracy", "low", "high", "of_ceiling", "log_loss", "rank", "worst_rank"):
            found[f"aligned_{key}"] = [None if i is None else aligned[key][i] for i in there]
        return found

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens evaluate --json`` prints them."""
        return {
            "models": [
                {**model.to_dict(), "rank": list(self.ranks[model.name])} for model in self.models
            ],
            **facts(self, "differences", "aligned"),
            "comparison_caution": self.caution,
        }


def compare_models(
    evaluations: Sequence[Evaluation], *, random_state: RandomState = 0
) -> Comparison:
    """Compare evaluations of the same statements.

    Examples
    --------
    >>> from trilens.simulate import gaussian, simulate_statements
    >>> from trilens.questions.evaluate import evaluate
    >>> X = gaussian(30, 2, random_state=0).points
    >>> S = simulate_statements(X, 1000, random_state=1)
    >>> blurred = X + np.random.default_rng(2).normal(size=X.shape)
    >>> models = [evaluate(S, embedding=blurred, name="blurred"), evaluate(S, embedding=X)]
    >>> found = compare_models(models)
    >>> [model.name for model in found.models], found.differences[0].p_value
    (['model', 'blurred'], 0.0001)
    """
    listed = as_list(evaluations, "evaluations")
    if not listed or not all(isinstance(each, Evaluation) for each in listed):
        raise wrong("evaluations", evaluations, "a list of results of evaluate")
    names = [each.name for each in listed]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ParameterError(
            f"two models have the name {twice[0]!r}; give each its own with {option('name')}"
        )
    S = listed[0].statements
    if any(each.statements != S for each in listed[1:]):
        raise ParameterError(
            "the evaluations are of different statements; evaluate all models on the same ones"
        )
    seed = seed_of(random_state)
    models = sorted(listed, key=lambda each: -each.accuracy)
    clusters = clusters_of(S)
    rng = np.random.default_rng([seed, 10])
    found = []
    for a, b in combinations(models, 2):
        gap = a.right - b.right
        found.append((a, b, gap, *_tested(gap, clusters, seed, rng)))
    adjusted = _holm([each[-1] for each in found])
    return Comparison(
        tuple(models),
        tuple(
            Difference(
                first=a.name,
                second=b.name,
                difference=float(gap.mean()),
                low=low,
                high=high,
                p_value=p,
                adjusted=together,
                objects=_where_they_differ(S, gap),
            )
            for (a, b, gap, low, high, p), together in zip(found, adjusted, strict=True)
        ),
    )


def _tested(
    gap: FloatArray, clusters: AnswerClusters, seed: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """The interval of the mean, and the p-value of its being 0."""
    mean, variance, freedom = (0.0, 0.0, 0.0) if clusters.rater is None else clusters.mean(gap)
    if variance == 0.0:
        # no raters; or all differences are equal, and signs alone can tell
        samples = _bootstrap(gap, clusters.question, seed)
        low, high = np.quantile(samples, [0.025, 0.975])
        return float(low), float(high), _by_signs(gap, clusters.question, rng)
    from scipy.special import stdtr, stdtrit

    own, error = float(gap.mean()), float(np.sqrt(variance))
    reach = float(stdtrit(freedom, 0.975)) * error
    low, high = max(mean - reach, -1.0), min(mean + reach, 1.0)
    p_value = 1.0
    if own * mean > 0:
        p_value = 2 * float(stdtr(freedom, -abs(mean) / error))
    return min(low, own), max(high, own), p_value


def _by_signs(gap: FloatArray, cluster: IntArray, rng: np.random.Generator) -> float:
    sums = np.bincount(cluster, gap)
    sums = sums[sums != 0]
    if not len(sums):
        return 1.0
    own, as_much, done = abs(float(sums.sum())), 0, 0
    step = max(1, min(_FLIPS, 20_000_000 // len(sums)))
    while done < _FLIPS:
        count = min(step, _FLIPS - done)
        signs = rng.integers(0, 2, size=(count, len(sums)), dtype=np.int8) * 2 - 1
        as_much += int((np.abs(signs @ sums) >= own * (1 - 1e-9)).sum())
        done += count
    return (1 + as_much) / (1 + _FLIPS)


def _holm(p_values: list[float]) -> list[float]:
    order = np.argsort(p_values, kind="stable")
    times = np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(np.array(p_values)[order] * times), 1.0)
    return adjusted.tolist()


def _where_they_differ(statements: Statements, gap: FloatArray) -> tuple[ObjectDifference, ...]:
    n = statements.n_objects
    ids = statements.triples.ravel()
    count = np.bincount(ids, minlength=n)
    mean = np.bincount(ids, np.repeat(gap, 3), n) / np.maximum(count, 1)
    spread = max(float(gap.std()), 1e-12)
    beyond = (mean - gap.mean()) * np.sqrt(count) / spread
    enough = np.flatnonzero(count >= _LEAST_ANSWERS)
    order = enough[np.argsort(-np.abs(beyond[enough]), kind="stable")][:_LISTED]
    return tuple(
        ObjectDifference(statements.names[i], float(mean[i]), int(count[i]), float(beyond[i]))
        for i in order
    )
