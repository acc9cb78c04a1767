"""Raters, one by one: how well each one's answers fit a map of the others' answers.

First maps of some answers predict the others (`hold_out`); then each rater's answers are judged
by these predictions (`judge_raters`), those that do not fit by themselves and by each other
(`verdicts_of`), and so is the share of wrong answers (`error_rate_of`, `wrong_rate_of`); a
`RaterCheck` puts together what is known about one rater.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from trilens._tabular import AsDict, natural
from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray
from trilens.agreement import Rate, cells_of, to_power
from trilens.calibration import (
    CARELESS_FALSE_ALARMS,
    DECISIVE_ODDS,
    DIFFERING_GUESSES,
    FEW_CARELESS,
    ONE_INVERTED_IN,
    TELLING_DEVIATIONS,
    UNCLEAR_RATERS,
    UNCLEAR_SHARE,
)
from trilens.kinds import chance, wrong_by_chance
from trilens.maps.fitted import Fit, fit_answers
from trilens.maps.fitting import How
from trilens.maps.held_out import QUICKLY, Chances, folds_of, held_out, parts_of
from trilens.maps.map import predicted
from trilens.questions.reliability.affinity import sense_of, usual_sense
from trilens.statements import Kind, Statements
from trilens.statements.combine import questions

#: What is said of a rater: *careless* fits neither the others nor themselves; *inverted* says
#: the opposite of the others; *differs* does not fit the others, and yet knows what to say;
#: *unclear* may be careless or differ.
Verdict: TypeAlias = Literal[
    "consistent", "careless", "inverted", "differs", "unclear", "not judged"
]

#: Raters with fewer answers are not judged.
FEW_ANSWERS = 12
#: With this many answers or more a map of half of them is as good.
_MANY = 30_000
#: Answers that are used where there are more, and at least this many for each object.
_ENOUGH, _FOR_EACH = 50_000, 50
#: A weak penalty, which leaves a map as sharp as careful answers make it.
_WEAK_L2 = 0.01
#: Fewer answers are not divided, nor those about more objects, which would take minutes.
_FEWEST, _MOST_OBJECTS = 50, 20_000
#: Into how many parts raters are divided, round by round: in each round those who seem careless
#: count less for the maps.
FOLDS = (5, 5, 8)
#: The lapse rates that a careful rater may have. With two answers to choose from 0.6 means 30 %
#: wrong ones, with three 40 %.
_CAREFUL: FloatArray = np.linspace(0.0, 0.6, 13)
#: The lapse rates among which that of a single rater is sought.
_RATER_LAPSES = np.linspace(0.0, 1.0, 41)
#: The shares of raters who may be careless.
_CARELESS_SHARES = np.linspace(0.01, 0.99, 25)
#: How far the map is trusted: its odds are taken to these powers.
_SHARPNESS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4)
#: Careful raters drawn to find out what these would look like.
_DRAWN = 4000
#: Lapse rates of all answers together, and the drop of the log likelihood that ends a 95 %
#: interval.
_LAPSES = np.linspace(0.0, 1.0, 201)
_DROP = 1.92
#: Raters' weights are not sought of more answers, and of fewer raters; and count from this
#: spread of their logarithms on.
_MOST_WEIGHED, _FEWEST_RATERS, _SPREAD = 20_000, 4, 0.15
#: Lapses that are taken out of probabilities at most.
_MOST_LAPSED = 0.95
#: The shares of the questions that count as clear.
_CLEAR = (0.25, 0.5)
_Z = 1.96


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The probabilities of attentive answers; those of the given answers in the first column."""

    #: (m, 3), for ``closer`` (m, 2): by a map of other answers.
    chances: FloatArray
    #: The same by a map of all answers, these among them; it is fitted where that is asked for.
    by_all: Callable[[], FloatArray]

    @cached_property
    def seen(self) -> FloatArray:
        """What ``by_all`` says."""
        return self.by_all()

    def take(self, rows: IntArray) -> HeldOut:
        """The same of some answers."""
        return HeldOut(self.chances[rows], lambda: self.seen[rows])

    @cached_property
    def right(self) -> FloatArray:
        """1 where the given answer is the likeliest; 1 / k where it is one of k equally likely."""
        return predicted(self.chances)

    @cached_property
    def fitted(self) -> FloatArray:
        """The same by the map of all answers."""
        return predicted(self.seen)


def looked_at(statements: Statements, random_state: int) -> IntArray:
    """All rows, or a random part of them where there are very many."""
    m = len(statements)
    enough = max(_ENOUGH, _FOR_EACH * statements.n_objects)
    if m <= enough:
        return np.arange(m)
    rng = np.random.default_rng(random_state)
    return np.sort(rng.choice(m, size=enough, replace=False))


def can_hold_out(statements: Statements) -> bool:
    """Whether some statements can be learned from, and the others predicted, in a short time."""
    return len(statements) >= _FEWEST and 4 <= statements.n_objects <= _MOST_OBJECTS


def hold_out(
    statements: Statements,
    rater: IntArray | None,
    fitted: Fit,
    random_state: int = 0,
    weights: FloatArray | None = None,
    folds: int = 10,
) -> HeldOut:
    """Predict the answers of some raters by a map of the others' answers.

    Every map is made from its own answers alone. One that starts from the map of all answers
    would stay near it, and know something of those that were left out. Many guesses make for a
    strong penalty and odd dimensions, and on such a map nobody can be told from those who give
    them; so maps in two dimensions with a weak penalty are tried too, and those that predict
    better are taken. All answers of a rater are held out together; without raters, or with one,
    all answers to a question. Of very many answers there are two folds.
    """
    unit = questions(statements)[0] if rater is None else rater
    units = len(np.unique(unit))
    if units < 2:  # one question, again and again: nothing to keep together
        unit, units = np.arange(len(statements)), len(statements)
    count = min(folds if len(statements) < _MANY else 2, units)
    fold = parts_of(unit, count, np.random.default_rng(random_state))
    own = fitted.map.n_components, fitted.settings.l2
    shapes = [own]
    if own[1] > 2 * _WEAK_L2 or own[0] < 2:
        shapes.append((2, _WEAK_L2))
    found = []
    for d, l2 in shapes:

        def attentive(
            seen: BoolArray, start: FloatArray | None = None, d: int = d, l2: float = l2
        ) -> Chances:
            part = None if weights is None or not weights[seen].any() else weights[seen]
            how = {"n_components": d, "l2": l2, "lapse": "one", "start": start, **QUICKLY}
            made = fitted.refit(statements.take(seen), weights=part, **how)
            return replace(made, lapse=0.0).probabilities

        def by_all(make: Callable[..., Chances] = attentive, d: int = d) -> FloatArray:
            # nothing is left out: a few steps from the map of all answers find the best one
            start = fitted.map.X[:, :d] if d <= own[0] else None
            return make(np.ones(len(statements), dtype=bool), start)(statements)

        chances = held_out(statements, folds_of(fold), attentive)
        found.append(HeldOut(chances, by_all))
    return max(found, key=lambda each: _likelihood(each.chances, weights))


def _likelihood(chances: FloatArray, weights: FloatArray | None) -> float:
    """The log likelihood of the answers at the lapse rate that makes it largest."""
    own, c = chances[:, 0], chances.shape[1]
    w = np.ones(len(own)) if weights is None else weights
    return max(float(w @ np.log((1 - s) * own + s / c)) for s in np.linspace(0.02, 1.0, 50))


@dataclass(frozen=True, eq=False)
class Judgement:
    """How each of R raters answers."""

    #: (R,): how many times as likely the answers are if all are guesses as if the rater is careful.
    odds: FloatArray
    #: The odds above which a rater is called careless.
    bound: float
    #: (R,): the share of guesses with its 95 % interval.
    lapse: FloatArray
    low: FloatArray
    high: FloatArray
    #: (R,): the probability that all answers are guesses, given the share of careless raters.
    careless: FloatArray
    share: float
    #: (R,): how many times as likely the answers are as the opposite of a careful rater's as if
    #: all are guesses.
    inverted: FloatArray

    @property
    def misfits(self) -> BoolArray:
        """(R,): whose answers fit those of the others no better than guesses."""
        return (self.odds > self.bound) | (self.inverted > ONE_INVERTED_IN)


def judged(
    statements: Statements,
    rater: IntArray,
    n_raters: int,
    fitted: Fit,
    first: HeldOut,
    random_state: int,
) -> tuple[HeldOut, Judgement]:
    """Judge the raters, by maps that careless ones do not blur."""
    last = first
    for folds in FOLDS[1:]:
        judgement = judge_raters(last.chances, rater, n_raters, bound=False)
        if judgement.share < FEW_CARELESS:
            break
        weights = 1 - judgement.careless[rater]
        last = hold_out(statements, rater, fitted, random_state, weights, folds)
    return last, judge_raters(last.chances, rater, n_raters)


def judge_raters(
    chances: FloatArray, rater: IntArray, n_raters: int, *, bound: bool = True
) -> Judgement:
    """Tell careless raters from careful ones.

    Each rater has a lapse rate. Those of careful raters are at most 0.6 and share a
    distribution; careless raters guess throughout. How many these are, and which distribution,
    is weighed by how likely it makes the answers of all raters. Nobody is compared with a
    typical rater, so many careless ones do not hide each other. The chances are those of
    `HeldOut`; the bound takes time, and is infinite where it is not wanted.
    """
    c = chances.shape[1]
    best, found = -np.inf, None
    for power in _SHARPNESS:
        flattened = to_power(chances, power)
        careful = _log_likelihoods(flattened[:, 0], rater, n_raters, _CAREFUL, c)
        guessed = -np.bincount(rater, minlength=n_raters) * np.log(c)
        prior, share, evidence = _weigh(careful, guessed)
        if evidence > best:
            best, found = evidence, (flattened, careful, guessed, prior, share)
    assert found is not None
    flattened, careful, guessed, prior, share = found
    odds = np.exp(np.clip(guessed - _mixed(careful, prior), -600.0, 600.0))
    opposite = to_power(flattened, -1.0)[:, 0]
    against = _mixed(_log_likelihoods(opposite, rater, n_raters, _CAREFUL, c), prior)
    grid = _log_likelihoods(flattened[:, 0], rater, n_raters, _RATER_LAPSES, c)
    density = np.exp(grid - grid.max(axis=1, keepdims=True))
    below = np.cumsum(density, axis=1) / density.sum(axis=1, keepdims=True)
    low, middle, high = (
        _RATER_LAPSES[np.minimum((below < level).sum(axis=1), len(_RATER_LAPSES) - 1)]
        for level in (0.025, 0.5, 0.975)
    )
    return Judgement(
        odds=odds,
        bound=_bound(flattened, rater, n_raters, prior) if bound else np.inf,
        lapse=middle,
        low=low,
        high=high,
        careless=share * odds / (share * odds + 1 - share),
        share=share,
        inverted=np.exp(np.clip(against - guessed, -600.0, 600.0)),
    )


def verdicts_of(
    statements: Statements, rater: IntArray, n_raters: int, judgement: Judgement, seed: int
) -> list[Verdict]:
    """Tell those who do not fit the others apart.

    One who guesses does not fit anything. One who sees something else does: their own other
    answers, or those of others who see it like this; see `sense_of`. That takes fewer
    answers where several raters share a view. Where careful raters, as many as do not fit,
    with as many answers, would hardly differ from guesses, nothing is said.
    """
    answers = np.bincount(rater, minlength=n_raters)
    told: list[Verdict] = ["consistent" if few >= FEW_ANSWERS else "not judged" for few in answers]
    one_place = _same_place(statements, rater, n_raters)[1]
    rest = []
    for i in np.flatnonzero(judgement.misfits & (answers >= FEW_ANSWERS)).tolist():
        told[i] = "inverted" if judgement.inverted[i] > ONE_INVERTED_IN else "careless"
        if told[i] == "careless" and not one_place[i]:
            rest.append(i)
    if not rest:
        return told
    known, part, of = np.array(rest), *_only(statements, rater, rest)
    sense = sense_of(part, of, len(rest), seed)
    for i, p in zip(rest, sense.p_value, strict=True):
        if p <= max(DIFFERING_GUESSES, min(UNCLEAR_SHARE, UNCLEAR_RATERS / len(rest))):
            told[i] = "differs" if p <= DIFFERING_GUESSES else "unclear"
    careful = [i for i in range(n_raters) if told[i] == "consistent"]
    if not careful or all(told[i] != "careless" for i in rest):
        return told
    expected = answers[known] * usual_sense(*_only(statements, rater, careful), len(careful), seed)
    if np.sqrt((expected**2).sum()) < TELLING_DEVIATIONS:
        undecided = np.ones(len(rest), dtype=bool)
    elif min(sense.p_of_all, *(sense.p_value * len(rest))) <= DIFFERING_GUESSES:
        for_guesses = expected * (expected / 2 - sense.own)
        undecided = for_guesses < np.log(DECISIVE_ODDS)
    else:
        return told
    for k, i in enumerate(rest):
        if told[i] == "careless" and undecided[k]:
            told[i] = "unclear"
    return told


def _only(
    statements: Statements, rater: IntArray, raters: list[int]
) -> tuple[Statements, IntArray]:
    """The statements of some raters, and which of these gave each."""
    rows = np.flatnonzero(np.isin(rater, raters))
    return statements.take(rows), np.searchsorted(raters, rater[rows])


def _log_likelihoods(
    own: FloatArray, rater: IntArray, n_raters: int, lapses: FloatArray, c: int
) -> FloatArray:
    """(R, len(lapses)): of each rater's answers, at each lapse rate."""
    out = np.empty((n_raters, len(lapses)))
    for i, lapse in enumerate(lapses):
        out[:, i] = np.bincount(rater, np.log((1 - lapse) * own + lapse / c), n_raters)
    return out


def _mixed(careful: FloatArray, prior: FloatArray) -> FloatArray:
    """The log likelihood of each rater's answers as those of a careful one."""
    return np.asarray(np.logaddexp.reduce(careful + np.log(prior), axis=1))


def _populations() -> FloatArray:
    """Distributions of the careful raters' lapse rates: low or high, alike or spread out."""
    x = (np.arange(len(_CAREFUL)) + 0.5) / len(_CAREFUL)
    logs = [
        (mean * size - 1) * np.log(x) + ((1 - mean) * size - 1) * np.log1p(-x)
        for mean in np.linspace(0.04, 0.96, 12)
        for size in (2, 4, 8, 16, 32, 64)
    ]
    shapes = np.exp(np.array(logs) - np.max(logs, axis=1, keepdims=True))
    return np.asarray(shapes / shapes.sum(axis=1, keepdims=True))


def _weigh(careful: FloatArray, guessed: FloatArray) -> tuple[FloatArray, float, float]:
    """The distribution of careful lapse rates, the share of careless raters, and the evidence.

    Both are means over what is possible, weighed by how likely it makes all answers.
    """
    top = np.maximum(careful.max(axis=1), guessed)
    populations = _populations()
    as_careful = np.exp(careful - top[:, None]) @ populations.T
    as_careless = np.exp(guessed - top)[:, None]
    evidence = np.stack(
        [np.log(as_careless * s + as_careful * (1 - s)).sum(axis=0) for s in _CARELESS_SHARES],
        axis=1,
    )
    most = evidence.max()
    weight = np.exp(evidence - most)
    total = weight.sum()
    prior = weight.sum(axis=1) @ populations / total
    share = float(weight.sum(axis=0) @ _CARELESS_SHARES / total)
    return prior, share, float(most + np.log(total) + top.sum())


def _bound(chances: FloatArray, rater: IntArray, n_raters: int, prior: FloatArray) -> float:
    """The odds that careful raters exceed as rarely as wanted, found by drawing some.

    At least 1: nobody is called careless whose answers speak for care.
    """
    rng = np.random.default_rng(0)
    m, c = chances.shape
    guessed = -np.bincount(rater, minlength=n_raters) * np.log(c)
    reached = np.cumsum(chances, axis=1)[:, :-1]
    logs = []
    for _ in range(max(10, -(-_DRAWN // n_raters))):
        which = np.searchsorted(np.cumsum(prior)[:-1], rng.random(n_raters))
        lapse = _CAREFUL[which[rater]]
        attentive = (rng.random((m, 1)) > reached).sum(axis=1)
        answer = np.where(rng.random(m) < lapse, rng.integers(c, size=m), attentive)
        own = chances[np.arange(m), answer]
        drawn = _log_likelihoods(own, rater, n_raters, _CAREFUL, c)
        logs.append(guessed - _mixed(drawn, prior))
    return float(np.exp(np.clip(np.quantile(logs, 1 - CARELESS_FALSE_ALARMS), 0.0, 600.0)))


def error_rate_of(
    unseen: HeldOut,
    kind: Kind,
    rater: IntArray | None = None,
    careless: BoolArray | None = None,
    own: FloatArray | None = None,
) -> Rate:
    """The error rate on clear questions.

    A map that has seen the answers takes some of the wrong ones for right: its lapse rate gives
    the lower end. Of the questions that a map of other answers calls clearest (a quarter of
    them, and half of them), some are not clear, so that the share of answers other than its own
    gives the upper end. The estimate lies half-way between the two shares. Where raters are
    known, either end allows for how much they vary: answers of one rater err together; careless
    ones do not vary with the others. Where raters differ, ``own`` has the probabilities as each of
    them sees the objects: what one map for all takes for lapses may be another view.
    """
    seen = [unseen.seen] if own is None else [unseen.seen, own]
    share = wrong_by_chance(kind)
    least, low = (share * end for end in min(_lapse_rate(P, rater, careless) for P in seen))
    best = unseen.chances.max(axis=1)
    others, highs = [], []
    for part in _CLEAR:
        clear = best >= np.quantile(best, 1 - part)
        wrong = 1 - unseen.right[clear]
        other, count = float(wrong.mean()), int(clear.sum())
        error = np.sqrt(max(other * (1 - other), 0.25 / count) / count)
        others.append(other)
        who, never = (None if x is None else x[clear] for x in (rater, careless))
        highs.append(other + _margin(error, wrong, who, never))
    low, high = sorted((low, float(max(highs))))
    middle = (least + max(least, min(others))) / 2
    return Rate(float(np.clip(middle, low, high)), low, high)


def _margin(
    error: float, values: FloatArray, rater: IntArray | None, careless: BoolArray | None
) -> float:
    """Half the length of a 95 % interval of a mean, with raters as clusters where known."""
    from scipy.special import stdtrit

    if rater is None:
        return _Z * error
    who, of = np.unique(rater, return_inverse=True)
    if len(who) < 2:
        return _Z * error
    kind = np.zeros(len(values), dtype=np.int64) if careless is None else careless.astype(np.int64)
    mean = np.bincount(kind, values) / np.maximum(np.bincount(kind), 1)
    sums, count = np.bincount(of, values - mean[kind]), len(who)
    between = np.sqrt((sums**2).sum() * count / (count - 1)) / len(values)
    return float(max(_Z * error, stdtrit(count - 1, 0.975) * between))


def _lapse_rate(
    chances: FloatArray, rater: IntArray | None, careless: BoolArray | None
) -> tuple[float, float]:
    own, c = chances[:, 0], chances.shape[1]
    # some hundred cells of similar chances serve as well as all answers
    count, edge = np.histogram(own, bins=400, range=(0.0, 1.0))
    total = np.histogram(own, bins=edge, weights=own)[0]
    cell = (total / np.maximum(count, 1))[count > 0]
    log = np.log(np.maximum(np.outer(1 - _LAPSES, cell) + _LAPSES[:, None] / c, 1e-300))
    likelihood = log @ count[count > 0]
    best = int(likelihood.argmax())
    inside = np.flatnonzero(likelihood >= likelihood[best] - _DROP)
    rate, low = float(_LAPSES[best]), float(_LAPSES[inside[0]])
    if rater is None or rate == 0.0:
        return rate, low
    slope = (1 / c - own) / ((1 - rate) * own + rate / c)
    steps = slope * len(own) / (slope**2).sum()
    return rate, max(0.0, min(low, rate - _margin(0.0, steps, rater, careless)))


def as_each_sees(
    statements: Statements, rater: IntArray, careless: BoolArray, fitted: Fit
) -> FloatArray | None:
    """The probabilities of attentive answers on a map whose dimensions each rater weighs.

    Careless raters see nothing, and have those of the others. None where the weights hardly
    vary, or cannot be determined.
    """
    looking = statements.take(~careless)
    if (
        fitted.map.n_components < 2
        or len(statements) > _MOST_WEIGHED
        or not len(looking)
        or len(np.unique(rater[~careless])) < _FEWEST_RATERS
    ):
        return None
    seen = weighed(by_number(looking, rater[~careless]), fitted)
    weights = seen.raters.weights
    if weights is None or weights.spread.max(initial=0.0) < _SPREAD:
        return None
    by_rater = by_number(statements, rater)
    P = seen.probabilities(by_rater)
    own = np.minimum(seen.lapse_of(by_rater), _MOST_LAPSED)[:, None]
    attentive = np.maximum(P - own / P.shape[1], 0.0) / (1 - own)
    return np.asarray(attentive / attentive.sum(axis=1, keepdims=True))


def weighed(statements: Statements, fitted: Fit, **how: Any) -> Fit:
    """The fit of answers whose raters each weigh the dimensions; the rest as another one chose."""
    chosen = How(
        n_components=fitted.map.n_components,
        l2=fitted.settings.l2,
        length=fitted.map.length,
        raters="weights",
        n_jobs=fitted.how.n_jobs,
    )
    return fit_answers(statements, replace(chosen, **how), random_state=0)


def by_number(statements: Statements, rater: IntArray) -> Statements:
    """The same answers by raters with these numbers: rounds may stand for raters."""
    return Statements(
        statements.triples,
        statements.n_objects,
        names=statements._names,
        kind=statements.kind,
        raters=rater,
    )


def wrong_rate_of(predictions: HeldOut) -> Rate:
    """The share of answers that differ from what the true distances say, near ties included.

    The estimate is the share that the map of all answers gets wrong; maps without sight of the
    answers get more of them wrong, and that gives the upper end. The true share may lie as far
    below the estimate, since the map fits some wrong answers and misses some right ones.
    """
    m = len(predictions.right)
    seen, unseen = 1 - float(predictions.fitted.mean()), 1 - float(predictions.right.mean())
    most = max(seen, unseen)
    margin = _Z * np.sqrt(most * (1 - most) / m)
    return Rate(seen, float(max(2 * seen - most - margin, 0.0)), float(min(most + margin, 1.0)))


@dataclass(frozen=True)
class RaterCheck(AsDict):
    """How well one rater's answers fit those of the others."""

    rater: str
    answers: int
    #: The median response time.
    median_seconds: float | None
    #: The share of the other raters' answers to the same questions that equal this rater's; each
    #: question counts once. None where nobody else was asked the same questions.
    agreement: float | None
    #: How many questions that share rests on.
    compared: int
    #: How often the rater gave the same answer to the same question again.
    within: float | None
    #: The share of the answers that a map of the other raters' answers predicts.
    predicted: float
    #: The rater's lapse rate: the share of answers that seem to be guesses, with its 95 %
    #: interval. What the map itself gets wrong is in it. None where the answers of all raters
    #: together cannot be distinguished from guessing.
    blind: float | None
    blind_low: float | None
    blind_high: float | None
    #: The largest share of answers in one place, where places are known.
    same_place: float | None
    #: Test questions, and how many of them were answered correctly.
    catch_asked: int
    catch_right: int
    #: Whether it can be said if the rater is careless: there are enough answers, and the answers
    #: of all raters together can be predicted at all.
    judged: bool
    verdict: Verdict
    #: Whether the rater is careless, or answered mostly in the same place.
    guessing: bool
    one_place: bool


def check_raters(
    statements: Statements,
    names: AnyArray,
    rater: IntArray,
    inside: IntArray,
    hits: FloatArray,
    judgement: Judgement | None,
    verdicts: list[Verdict],
    tests: dict[str, tuple[int, int]],
) -> tuple[RaterCheck, ...]:
    """A row for each rater.

    ``inside`` are the raters of the answers that were held out, of which ``hits`` were predicted;
    ``tests`` are the test questions answered correctly, and asked, by rater.
    """
    n = len(names)
    answers, looked = np.bincount(rater, minlength=n), np.bincount(inside, minlength=n)
    predicted = np.divide(hits, looked, out=np.zeros(n), where=looked > 0)
    share, one_place = _same_place(statements, rater, n)
    median = _median_seconds(statements, rater, n)
    # chosen questions are harder than others: they do not count
    kept = statements.asked_at_random
    cells = cells_of(statements.take(kept), rater[kept])
    agreement, compared = cells.by_rater(*cells.between, n)
    within, _ = cells.by_rater(*cells.within, n)
    by_name = sorted(range(n), key=lambda i: natural(str(names[i])))
    return tuple(
        RaterCheck(
            rater=str(names[i]),
            answers=int(answers[i]),
            median_seconds=median[i],
            agreement=None if np.isnan(agreement[i]) else float(agreement[i]),
            compared=int(compared[i]),
            within=None if np.isnan(within[i]) else float(within[i]),
            predicted=float(predicted[i]),
            blind=None if judgement is None else float(judgement.lapse[i]),
            blind_low=None if judgement is None else float(judgement.low[i]),
            blind_high=None if judgement is None else float(judgement.high[i]),
            same_place=None if share is None else float(share[i]),
            catch_asked=tests.get(str(names[i]), (0, 0))[1],
            catch_right=tests.get(str(names[i]), (0, 0))[0],
            judged=verdicts[i] != "not judged",
            verdict=verdicts[i],
            guessing=verdicts[i] == "careless",
            one_place=bool(one_place[i]),
        )
        for i in by_name
        if str(names[i])
    )


def _same_place(
    statements: Statements, rater: IntArray, n_raters: int
) -> tuple[FloatArray | None, BoolArray]:
    """The largest share of each rater's answers in one place, and whether that is suspicious."""
    from scipy.special import bdtrc

    if statements.places is None:
        return None, np.zeros(n_raters, dtype=bool)
    places = np.asarray(statements.places)
    known = places >= 0
    counts = np.zeros((n_raters, 3), dtype=np.int64)
    np.add.at(counts, (rater[known], places[known]), 1)
    most, placed = counts.max(axis=1), counts.sum(axis=1)
    share = most / np.maximum(placed, 1)
    # with two answers to choose from, some places cannot be chosen at all
    by_chance = chance(statements.kind)
    unlikely = bdtrc(most - 1, np.maximum(placed, 1), by_chance) * 3 * n_raters < 0.001
    return share, (placed >= FEW_ANSWERS) & unlikely & (share >= 0.6)


def _median_seconds(statements: Statements, rater: IntArray, n_raters: int) -> list[float | None]:
    if statements.seconds is None:
        return [None] * n_raters
    order = np.argsort(rater, kind="stable")
    parts = np.split(statements.seconds[order], np.cumsum(np.bincount(rater))[:-1])
    known = [part[np.isfinite(part)] for part in parts]
    return [float(np.median(part)) if len(part) else None for part in known]
