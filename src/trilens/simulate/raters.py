"""Raters who differ: in how often they err, who is careless, how long they take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from trilens._parameters import generator, real_number, shown, whole_number
from trilens._typing import BoolArray, FloatArray, Int32Array, IntArray, RandomState
from trilens.errors import ParameterError
from trilens.kinds import Kind, wrong_by_chance
from trilens.simulate.answers import (
    Ties,
    Truth,
    TruthLike,
    answered,
    as_truth,
    check_answers,
    distorted,
)
from trilens.simulate.triples import Sampling, design
from trilens.statements import Statements

#: The careful raters' error rates are Beta distributed with this many prior answers.
_CONCENTRATION = 20.0
#: Median seconds of a careful and of a careless answer; spread between raters and answers.
_SECONDS, _CARELESS_SECONDS, _BETWEEN, _WITHIN = 4.0, 1.2, 0.3, 0.45


@dataclass(frozen=True, eq=False)
class Raters:
    """How each of R raters answers.

    Parameters
    ----------
    error_rates : (R,) float64
        The probability of a wrong answer; NaN for raters who answer at random.
    median_seconds : (R,) float64
        The median of the rater's log-normal response times.
    """

    error_rates: FloatArray
    median_seconds: FloatArray

    def __len__(self) -> int:
        return len(self.error_rates)

    @property
    def careless(self) -> BoolArray:
        """Who answers at random: all possible answers equally likely."""
        return np.isnan(self.error_rates)

    def rates(self, kind: Kind) -> FloatArray:
        """Error rates; of a random answer 2/3, and 1/2 where there are two to choose from."""
        return np.where(self.careless, wrong_by_chance(kind), self.error_rates)

    def by_round(self, n_rounds: int, rng: np.random.Generator) -> IntArray:
        """Who answers each round: all in turn, in a new random order each time."""
        turns = [rng.permutation(len(self)) for _ in range(-(-n_rounds // len(self)))]
        return np.concatenate([*turns, np.empty(0, dtype=np.int64)])[:n_rounds].astype(np.int64)

    def answers(
        self,
        truth: Truth,
        questions: IntArray,
        rater: IntArray,
        kind: Kind,
        ties: Ties,
        rng: np.random.Generator,
    ) -> tuple[Int32Array, FloatArray]:
        """The statements of these raters, and the seconds that each took."""
        m = len(questions)
        seconds = self.median_seconds[rater] * np.exp(_WITHIN * rng.standard_normal(m))
        rates = self.rates(kind)[rater]
        return answered(truth, questions, None, rng.random(m), rates, kind, ties), seconds


def draw_raters(
    n_raters: int,
    error_rate: float = 0.1,
    careless: float = 0.1,
    random_state: RandomState = 0,
) -> Raters:
    """Raters of whom most are careful and some answer at random.

    Parameters
    ----------
    n_raters : int
    error_rate : float
        The mean error rate of the careful raters, whose own rates are Beta distributed.
    careless : float
        The share of raters who answer at random, and fast; rounded to whole raters.
    random_state

    Examples
    --------
    >>> raters = draw_raters(40, error_rate=0.1, careless=0.15, random_state=0)
    >>> len(raters), int(raters.careless.sum())
    (40, 6)
    """
    n_raters = whole_number("n_raters", n_raters, 1, 2**31 - 1)
    error_rate = real_number("error_rate", error_rate, 0, 1)
    careless = real_number("careless", careless, 0, 1)
    rng = generator(random_state)
    if 0 < error_rate < 1:
        rates = rng.beta(
            _CONCENTRATION * error_rate, _CONCENTRATION * (1 - error_rate), size=n_raters
        )
    else:
        rates = np.full(n_raters, float(error_rate))
    at_random = rng.permutation(n_raters) < round(careless * n_raters)
    rates[at_random] = np.nan
    typical = np.where(at_random, _CARELESS_SECONDS, _SECONDS)
    return Raters(rates, typical * np.exp(_BETWEEN * rng.standard_normal(n_raters)))


def ask_raters(
    objects: TruthLike,
    raters: Raters,
    n_statements: int | None = None,
    kind: Kind = "central",
    sampling: Sampling = "uniform",
    round_size: int = 50,
    noise_param: float = 0.0,
    ties: Ties = "random",
    random_state: RandomState = 0,
    metric: str = "euclidean",
    names: Iterable[str] | None = None,
) -> Statements:
    """A survey: rounds of questions, each answered by one rater.

    Every answer errs on its own (Noise model I with the rater's error rate), also where the
    same question is drawn twice.

    Parameters
    ----------
    objects, n_statements, kind, sampling, noise_param, ties, random_state, metric, names
        As for `trilens.simulate.simulate_statements`.
    raters : Raters
        Take rounds in turn, in a new random order whenever all have had one.
    round_size : int
        Questions in a round; the last one may be shorter.

    Returns
    -------
    Statements
        With ``raters`` (0 ... R - 1), ``rounds`` (0, 1, ...) and ``seconds``.

    Examples
    --------
    >>> from trilens.simulate import gaussian
    >>> S = ask_raters(
    ...     gaussian(20, random_state=0), draw_raters(5, random_state=1), 400, random_state=2
    ... )
    >>> sorted(np.bincount(S.raters).tolist())
    [50, 50, 100, 100, 100]
    """
    check_answers(kind, ties, 0.0)
    round_size = whole_number("round_size", round_size, least=1)
    check_raters(raters)
    truth = as_truth(objects, metric)
    (rng,) = generator(random_state).spawn(1)
    m, chunks = design(truth.n_objects, kind, n_statements, sampling, rng)
    if real_number("noise_param", noise_param, 0) > 0:
        truth = distorted(truth, noise_param, rng)
    questions = np.empty(m, dtype=np.int64)
    start = 0
    for count, chunk in chunks:
        drawn, row = chunk()
        questions[start : start + count][slice(None) if row is None else row] = drawn
        start += count
    rounds = np.arange(m) // round_size
    rater = raters.by_round(-(-m // round_size), rng)[rounds]
    triples, seconds = raters.answers(truth, questions, rater, kind, ties, rng)
    kept = np.flatnonzero(triples[:, 0] >= 0)
    return Statements(
        triples[kept], truth.n_objects, names, kind, rater[kept], rounds[kept], seconds[kept]
    )


def check_raters(raters: Raters) -> None:
    """Raise `ParameterError` for anything but raters."""
    if not isinstance(raters, Raters) or not len(raters):
        raise ParameterError(
            f"raters must be one or more Raters, got {shown(raters)}", parameter="raters"
        )
