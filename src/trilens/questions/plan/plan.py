"""`plan`: how many answers a study needs, before it is made; by simulating such studies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from trilens._parameters import check_progress, one_of, real_number, seed_of, whole_number, wrong
from trilens._tabular import Tabular, counted
from trilens._typing import FloatArray, Progress, RandomState
from trilens.agreement import plain
from trilens.ask import LEAST_PER_OBJECT, Data, statements_of
from trilens.calibration import (
    FEWEST_RATERS_THAT_TELL,
    PLAN_LEVEL,
)
from trilens.errors import KindError, ParameterError, StatementError, option, parameter_name
from trilens.kinds import KINDS, Kind, check_kind, n_questions
from trilens.maps.likelihood import in_own_order
from trilens.questions.plan.curves import (
    MOST_SIMULATED,
    PER_OBJECT,
    Curve,
    Lines,
    Thresholds,
    simulate,
)
from trilens.questions.plan.goals import AIMS, GOALS, Goal
from trilens.questions.plan.worlds import CLASSES, ELSEWHERE, ERROR_RATES, GROUPS, SHARPNESS, People
from trilens.questions.stopping import MOST_MONEY
from trilens.statements import Statements

#: Median seconds of an answer: `closer`, 20,240 answers about faces (the R package tripletTools);
#: `central`, 7,097 answers about cars (Kleindessner and von Luxburg, 2017). We know of none for
#: `odd`, where three objects are compared as well.
SECONDS: dict[Kind, float] = {"central": 4.02, "odd": 4.02, "closer": 1.56}
#: Minutes that a rater is asked for where the number of raters is free, and more than which is
#: remarked on; questions in a round.
_MINUTES, _LONG, _ROUND = 10.0, 40.0, 50
#: Half the width of the interval of an agreement that repeated and shared questions are for,
#: and the most that they take of a rater's questions, each.
_AGREEMENT, _MOST_AGAIN = 0.05, 0.1
#: The standard deviation of the agreement from question to question.
_BETWEEN_QUESTIONS = 0.25
#: Groups of people that can be compared at all: four raters each.
_LEAST_IN_GROUPS = 8


@dataclass(frozen=True)
class Expected:
    """What so many answers give, with the interval that holds it in 95 % of studies."""

    answers: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class KindPlan:
    """What the goal takes with one kind of question.

    Attributes
    ----------
    kind : {"central", "odd", "closer"}
    answers, low, high : int
        As in `Plan`.
    seconds : float
        Of one answer.
    hours : float
        Of people's time, for ``answers``.
    """

    kind: Kind
    answers: int
    low: int
    high: int
    seconds: float
    hours: float


@dataclass(frozen=True)
class Bought:
    """The study that a budget pays for.

    Attributes
    ----------
    raters, repeats, shared, questions, total, minutes, price
        As in `Plan`.
    expected : Expected
        The answers, without those to questions asked again, and the quality that they give.
    """

    raters: int
    repeats: int
    shared: int
    questions: int
    total: int
    minutes: float
    price: float
    expected: Expected


@dataclass(frozen=True, eq=False)
class Plan(Tabular):
    """What a study needs.

    Attributes
    ----------
    goal : str
    n_objects : int
    kind : {"central", "odd", "closer"}
        What is asked: as given, as in the pilot, or the kind that takes least of people's time.
    quality : str
        What ``target`` and ``curve`` are about.
    target : float
    answers : int
        How many answers, repeated and shared ones apart, reach the target in four of five studies
        such as were simulated; for ``difference`` in the share of studies that ``target`` says.
    low, high : int
        The 95 % interval of what a study needs.
    raters, repeats, shared, questions : int
        People; questions that each is asked twice; questions that all are asked; and all questions
        that each is asked. Repeated ones apart, nobody is asked the same question twice.
    total : int
        The answers that are paid for: those of all raters, repeated and shared ones too.
    seconds : float
        Of one answer.
    minutes : float
        Of one rater.
    price : float or None
        Of ``total`` answers, and ``price_interval``, of ``low`` and ``high`` answers.
    price_interval : (float, float) or None
    curve : tuple of Expected
        The quality against the number of answers. For groups, classes and a difference it is the
        share of studies that reach the target.
    bought : Bought or None
        What the budget pays for, if that is less than what is needed; ``study_yaml`` is then about
        this. All of the above is about what is needed.
    kinds : tuple of KindPlan
        What each kind of question would take, the one that takes least time first.
    pilot : int or None
        The number of answers of the pilot.
    assumed : tuple of str
        What was assumed.
    remarks : tuple of str
        What to know before the study is made.
    """

    goal: Goal
    n_objects: int
    kind: Kind
    quality: str
    target: float
    answers: int
    low: int
    high: int
    raters: int
    repeats: int
    shared: int
    questions: int
    total: int
    seconds: float
    minutes: float
    price: float | None
    price_interval: tuple[float, float] | None
    curve: tuple[Expected, ...] = field(repr=False)
    bought: Bought | None
    kinds: tuple[KindPlan, ...]
    pilot: int | None
    assumed: tuple[str, ...]
    remarks: tuple[str, ...]
    _curve: Curve = field(repr=False)
    _work: _Work = field(repr=False)

    @property
    def aim(self) -> str:
        """The target, and what it is measured in."""
        return f"{AIMS[self.goal].scale or self.quality}: {self.target:g}"

    def expected(self, answers: float) -> Expected:
        """The quality that this many answers give, with its 95 % interval."""
        m = real_number("answers", answers, 1)
        return _expected(self._curve, m, self.goal, self.n_objects)

    def predicted(self, answers: float) -> Expected:
        """For the goal ``map``: the share of new answers that the map of so many predicts."""
        if not isinstance(self._curve, Lines) or self._curve.best is None:
            raise ParameterError(f"a plan for the goal {self.goal} does not predict answers")
        m = real_number("answers", answers, 1)
        return _spread(m, self._curve.predicted(m / self._curve.scale))

    def _headline(self) -> str:
        return self.sentences()[0]

    def columns(self) -> dict[str, Sequence[Any]]:
        """The curve: a row for each number of answers."""
        return {
            "answers": [int(each.answers) for each in self.curve],
            "expected": [each.value for each in self.curve],
            "low": [each.low for each in self.curve],
            "high": [each.high for each in self.curve],
        }

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens plan --json`` prints them."""
        names = [name for name in self.__dataclass_fields__ if not name.startswith("_")]
        facts = {name: plain(getattr(self, name)) for name in names}
        return facts | {"sentences": self.sentences()}

    def sentences(self) -> list[str]:
        """The plan in words."""
        return list(_sentences(self))

    def study_yaml(self, objects: str = "objects") -> str:
        """The text of a ``study.yaml`` that does it, for ``trilens survey``.

        Parameters
        ----------
        objects
            The folder of pictures or sounds, or the table of objects, that the study is to use.
        """
        return _study_yaml(self, objects)


def plan(
    n_objects: int | None = None,
    goal: Goal = "medoid",
    *,
    kind: Kind | None = None,
    error_rate: float | None = None,
    n_components: int | None = None,
    pilot: Data | None = None,
    raters: int | None = None,
    seconds: float | Mapping[str, float] | None = None,
    price: float | None = None,
    budget: float | None = None,
    target: float | None = None,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> Plan:
    """How many answers, of how many people, a study needs.

    Studies are simulated with the choice model, analyzed as they would be, and what comes out is
    followed over the number of answers.

    Parameters
    ----------
    n_objects : int, optional
        4 or more; by default those of the pilot.
    goal : {"medoid", "rank", "map", "groups", "classes", "difference"}
        What is to be found, and what ``target`` is about:

        - ``medoid``: how many objects could still be the most central one (`medoid`); 3.
        - ``rank``: the rank correlation of every object's centrality with the truth; 0.95.
        - ``map``: of the answers that a perfect map would predict beyond chance, the share that
          the map (`ChoiceMap`) predicts; 0.95.
        - ``groups``: the adjusted Rand index of `cluster` with three groups, 6 standard
          deviations apart; 0.9.
        - ``classes``: the share of unlabeled objects, half of all, that `classify` puts into the
          right one of two classes 4 standard deviations apart; 0.9.
        - ``difference``: the power of `compare_groups` where a tenth of the objects lies elsewhere
          for half of the people; 0.8.
    kind : {"central", "odd", "closer"}, optional
        The question; by default that of the pilot, or the one that takes least of people's time.
    error_rate : float, optional
        The share of careless answers. By default as in the pilot; or
        unknown, from 0.03 to 0.15.
    n_components : int, optional
        Along how many dimensions the objects vary. By default as in the pilot, or some more; or
        unknown, 2, 3 or 5.
    pilot : Fit, path, Answers, Statements, a table or (m, 3) array, optional
        Answers about the same objects, or about some of them.
    raters : int, optional
        By default so many that each is asked for about ten minutes, and at least eight.
    seconds : float or dict by kind, optional
        Of one answer. By default the pilot's median, or that of public studies.
    price, budget : float, optional
        Of one answer, and of all.
    target : float, optional
    random_state : int
    progress : callable, optional
        Called with the share of the work that is done.

    Notes
    -----
    How often what a plan expects of a study holds is measured in ``docs/claims.md``.

    Examples
    --------
    >>> plan(60, "medoid", price=0.02, budget=3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    trilens.errors.ParameterError: a budget of 3 pays for 150 answers; 60 objects need 200 before...
    """
    one_of("goal", goal, GOALS)
    aim, seed = AIMS[goal], seed_of(random_state)
    check_progress(progress)
    wanted = aim.target if target is None else real_number("target", target, aim.least, aim.most)
    tried = None if pilot is None else _pilot(pilot, kind)
    n = _objects(n_objects, tried)
    if goal == "medoid" and wanted >= n:
        raise wrong("target", target, f"less than the {n} objects")
    if raters is not None:
        least = _LEAST_IN_GROUPS if goal == "difference" else 1
        raters = whole_number("raters", raters, least)
    if price is not None:
        price = real_number("price", price, most=MOST_MONEY, positive=True)
    if budget is not None:
        budget = real_number("budget", budget, most=MOST_MONEY, positive=True)
        if price is None:
            raise ParameterError(
                f"a budget needs the price of one answer; use {option('price')}", parameter="price"
            )
        fewest = -(-LEAST_PER_OBJECT * n // 3)
        if budget < fewest * price:
            raise ParameterError(
                f"a budget of {budget:g} pays for {int(budget / price):,} answers; {n} objects "
                f"need {fewest:,} before anything can be said, so {fewest * price:g} or more",
                parameter="budget",
            )
    times = _seconds(seconds, tried)
    people = People.of(kind, tried, error_rate, n_components, n)
    kinds = people.kinds
    found: dict[Kind, Curve] = {}
    for at, each in enumerate(kinds):
        share = _part(progress, at, len(kinds))
        found[each] = simulate(goal, each, n, wanted, people, raters, seed, share)
    sure = wanted if goal == "difference" else PLAN_LEVEL
    needs = {each: _needed(curve, goal, n, wanted, sure) for each, curve in found.items()}
    reached = [each for each in kinds if needs[each] is not None]
    if not reached:
        raise KindError(
            f"answers of kind {' or '.join(kinds)} do not reach the goal {goal} with a target of "
            f"{wanted:g} in most of the simulated studies, however many there are; take another "
            f"{parameter_name('kind')}, a lower {parameter_name('target')} or other objects"
        )
    listed = [_kind_plan(each, needs[each], times[each]) for each in reached]
    listed.sort(key=lambda each: each.hours)
    best = listed[0]
    if progress is not None:
        progress(1.0)
    return _made(goal, n, wanted, best, listed, found[best.kind], people, raters, price, budget)


def _pilot(pilot: Data, kind: str | None) -> Statements:
    given = statements_of(pilot, "plan")
    if kind is not None and check_kind(kind) != given.kind:
        raise KindError(
            f"the pilot has answers of kind {given.kind}, which say nothing about how questions "
            f"of kind {kind} are answered; plan without the pilot, or for {given.kind}"
        )
    n, m = given.n_objects, len(given)
    fewest = -(-LEAST_PER_OBJECT * n // 3)
    if n < 4 or m < max(fewest, 30):
        what = "4 objects or more" if n < 4 else f"{max(fewest, 30):,} answers about so many"
        raise StatementError(
            f"the pilot has {m:,} answers about {n:,} objects; a plan needs {what}; collect more, "
            f"or plan without it",
            parameter="pilot",
        )
    return in_own_order(given)[0]


def _objects(n_objects: int | None, pilot: Statements | None) -> int:
    if n_objects is not None:
        return whole_number("n_objects", n_objects, 4, 1_000_000)
    if pilot is None:
        raise ParameterError(
            f"how many objects are there? give {parameter_name('n_objects')}, or a "
            f"{parameter_name('pilot')}",
            parameter="n_objects",
        )
    return pilot.n_objects


def _seconds(
    given: float | Mapping[str, float] | None, pilot: Statements | None
) -> dict[Kind, float]:
    found = dict(SECONDS)
    if given is None and pilot is not None and pilot.seconds is not None:
        known = pilot.seconds[np.isfinite(pilot.seconds) & (pilot.seconds > 0)]
        if len(known):
            found[pilot.kind] = float(np.median(known))
    if isinstance(given, Mapping):
        for key, value in given.items():
            found[check_kind(key)] = real_number("seconds", value, positive=True)
    elif given is not None:
        found = dict.fromkeys(KINDS, real_number("seconds", given, positive=True))
    return found


def _part(progress: Progress | None, at: int, of: int) -> Progress:
    if progress is None:
        return lambda share: None
    return lambda share: progress((at + share) / of)


def _expected(curve: Curve, m: float, goal: Goal, n: int) -> Expected:
    if isinstance(curve, Thresholds):
        return _spread(m, curve.shares(m))
    missing = curve.missing(m / curve.scale)
    if goal == "medoid":
        return _spread(m, np.clip(missing * (n + 1), 1.0, n))
    return _spread(m, 1 - missing)


def _spread(m: float, values: FloatArray) -> Expected:
    low, middle, high = np.quantile(values, [0.025, 0.5, 0.975]).tolist()
    return Expected(float(m), middle, low, high)


def _needed(
    curve: Curve, goal: Goal, n: int, target: float, sure: float
) -> tuple[int, int, int] | None:
    """The answers of a plan, and the ends of their interval; None where they cannot be had."""
    fewest = -(-LEAST_PER_OBJECT * n // 3)
    if isinstance(curve, Thresholds):
        logs = curve.needed()
        farthest = np.log(100 * PER_OBJECT[-1] * n)
    else:
        # a set of up to 3.5 objects on average is one of three
        missing = (target + 0.5) / (n + 1) if goal == "medoid" else 1 - target
        logs = curve.needed(missing)
        farthest = np.log(1000 * PER_OBJECT[-1] * n)
    low, middle, high = np.quantile(logs, [0.025, sure, max(sure, 0.975)]).tolist()
    if np.quantile(logs, 0.5) > farthest:
        return None
    ends = [max(_round(np.exp(min(x, farthest + 1))), fewest) for x in (middle, low, high)]
    return ends[0], ends[1], ends[2]


def _round(number: float) -> int:
    """To two digits, upwards: 1,234 is 1,300.

    >>> _round(1234), _round(85)
    (1300, 85)
    """
    unit = 10 ** max(int(np.log10(max(number, 1.0))) - 1, 0)
    return int(np.ceil(number / unit - 1e-9) * unit)


def _kind_plan(kind: Kind, needed: tuple[int, int, int] | None, seconds: float) -> KindPlan:
    assert needed is not None
    return KindPlan(kind, *needed, seconds, needed[0] * seconds / 3600)


def _made(
    goal: Goal,
    n: int,
    target: float,
    best: KindPlan,
    kinds: list[KindPlan],
    curve: Curve,
    people: People,
    raters: int | None,
    price: float | None,
    budget: float | None,
) -> Plan:
    work = partial(
        _shared_out,
        possible=n_questions(best.kind, n),
        seconds=best.seconds,
        raters=raters,
        goal=goal,
    )
    needed = who = work(best.answers)
    bought = None
    if budget is not None and price is not None:
        paid, fewest = int(budget / price + 1e-9), -(-LEAST_PER_OBJECT * n // 3)
        who = _within(paid, needed, best.answers, work)
        if who.total - who.again < fewest:
            raise ParameterError(
                f"the budget pays for {paid:,} answers, of which {counted(who.raters, 'rater')} "
                f"would give {who.total - who.again:,} to questions of their own; {n} objects need "
                f"{fewest:,} before anything can be said",
                parameter="budget",
            )
    if raters is not None and who.raters > raters:
        raise ParameterError(
            f"{counted(raters, 'rater')} cannot give so many answers: {n} objects make "
            f"{n_questions(best.kind, n):,} questions of kind {best.kind}, and nobody is asked "
            f"one twice; ask {who.raters:,} or more",
            parameter="raters",
        )
    if who is not needed and price is not None:
        bought = Bought(
            who.raters,
            who.repeats,
            who.shared,
            who.questions,
            who.total,
            who.questions * best.seconds / 60,
            who.total * price,
            _expected(curve, float(who.total - who.again), goal, n),
        )
    seen = np.geomspace(max(best.low / 4, LEAST_PER_OBJECT * n / 3), 2 * best.high, 13)
    seen = np.unique([_round(m) for m in seen])
    points = tuple(_expected(curve, float(m), goal, n) for m in seen)
    prices = None
    if price is not None:
        prices = (work(best.low).total * price, work(best.high).total * price)
    made = Plan(
        goal=goal,
        n_objects=n,
        kind=best.kind,
        quality=AIMS[goal].quality,
        target=target,
        answers=best.answers,
        low=best.low,
        high=best.high,
        raters=needed.raters,
        repeats=needed.repeats,
        shared=needed.shared,
        questions=needed.questions,
        total=needed.total,
        seconds=best.seconds,
        minutes=needed.questions * best.seconds / 60,
        price=None if price is None else needed.total * price,
        price_interval=prices,
        curve=points,
        bought=bought,
        kinds=tuple(kinds),
        pilot=None if people.pilot is None else len(people.pilot),
        assumed=tuple(_assumed(goal, n, people)),
        remarks=(),
        _curve=curve,
        _work=who,
    )
    return replace(made, remarks=tuple(_remarks(made, people)))


def _within(paid: int, needed: _Work, wanted: int, work: Callable[[int], _Work]) -> _Work:
    """What so many paid answers allow: what is asked again is paid for too."""
    who = needed
    while who.total > paid:
        wanted -= max((who.total - paid) // 2, 1)
        if wanted < 1:
            raise ParameterError(
                f"the budget pays for {paid:,} answers: too few for {who.raters:,} raters",
                parameter="raters",
            )
        who = work(wanted)
    return who


@dataclass(frozen=True)
class _Work:
    """What each rater is asked: rounds of some new, some repeated and some shared questions."""

    raters: int
    rounds: int
    new: int
    repeated: int
    common: int

    @property
    def length(self) -> int:
        return self.new + self.repeated + self.common

    @property
    def questions(self) -> int:
        return self.rounds * self.length

    @property
    def repeats(self) -> int:
        return self.rounds * self.repeated

    @property
    def shared(self) -> int:
        return self.rounds * self.common

    @property
    def again(self) -> int:
        """Answers to questions that are asked again on purpose."""
        return self.raters * self.repeats + (self.raters - 1) * self.shared

    @property
    def total(self) -> int:
        return self.raters * self.questions


def _shared_out(
    answers: int, *, possible: int, seconds: float, raters: int | None, goal: Goal
) -> _Work:
    """Answers shared out among raters, and what is asked again.

    Nobody is asked one of the possible questions twice, but to see whether they agree with
    themself: where there are few, more raters are asked than were given. Repeated and shared
    questions are so many that the agreement of a rater with themself, and of two raters, is known
    to 0.05; but at most a tenth of a rater's questions, each.
    """
    each = max(int(60 * _MINUTES / seconds), 10)
    fewest = 2 * _LEAST_IN_GROUPS if goal == "difference" else FEWEST_RATERS_THAT_TELL
    people = raters or max(-(-answers // int(each * (1 - 2 * _MOST_AGAIN))), fewest)
    own = min(-(-answers // people), int(possible * (1 - _MOST_AGAIN)))
    most = round(_MOST_AGAIN * own)
    pairs = (1.96 / _AGREEMENT) ** 2 * 0.25
    repeats = min(-(-int(pairs) // people), most)
    shared = min(int(np.ceil((1.96 * _BETWEEN_QUESTIONS / _AGREEMENT) ** 2)), most)
    if people == 1:
        shared = 0
    rounds = -(-(own + repeats + shared) // _ROUND)
    common = -(-shared // rounds)
    new = min(-(-own // rounds), possible // rounds - common)
    repeated = min(-(-repeats // rounds), (new + common) // 2)  # the survey's most
    people = max(people, -(-answers // (rounds * new)))
    if goal == "difference" and raters is None:
        people += people % 2
    return _Work(people, rounds, new, repeated, common)


def _assumed(goal: Goal, n: int, people: People) -> Iterator[str]:
    if people.pilot is not None:
        where = "where the objects lie, " if goal not in ("groups", "classes") else ""
        yield f"{where}how many answers are wrong and how sharp they are: as the pilot allows"
    else:
        yield (
            f"answers follow distances about as sharply as in public studies (a mean distance of "
            f"{SHARPNESS[0]:g} to {SHARPNESS[1]:g} on the choice map)"
        )
    if people.error_rate is not None:
        yield f"{people.error_rate:.0%} of the answers are careless"
    elif people.pilot is None:
        low, high = ERROR_RATES
        yield f"{low:.0%} to {high:.0%} of the answers are careless"
    if people.dimension is not None:
        noun = "dimension" if people.dimension == 1 else "dimensions"
        yield f"objects vary along {people.dimension} {noun}"
    elif people.pilot is None:
        yield "objects vary along 2, 3 or 5 dimensions"
    if goal == "groups":
        yield f"there are {GROUPS[0]} groups, {GROUPS[1]:g} standard deviations apart"
    if goal == "classes":
        yield (
            f"there are {CLASSES[0]} classes, {CLASSES[1]:g} standard deviations apart, and half "
            f"of the objects have labels"
        )
    if goal == "difference":
        yield (
            f"half of the people see {max(round(ELSEWHERE * n), 1)} of the {n} objects elsewhere; "
            f"everybody weighs the dimensions a little differently"
        )
    yield "questions are drawn at random"


def _remarks(made: Plan, people: People) -> Iterator[str]:
    if made.bought is not None:
        bought = made.bought
        yield (
            f"the budget pays for {bought.total:,} of {made.total:,} answers, of "
            f"{counted(bought.raters, 'rater')} with {counted(bought.questions, 'question')} each, "
            f"for {bought.price:,.2f}: expect {_told(made, bought.expected)}"
        )
    if people.pilot is not None and people.pilot.chosen is not None and people.pilot.chosen.any():
        yield (
            "some questions of the pilot were chosen by earlier answers; the plan is for questions "
            "that are drawn at random"
        )
    possible = n_questions(made.kind, made.n_objects)
    if possible < made.answers:
        yield (
            f"{made.n_objects:,} objects make {possible:,} questions of kind {made.kind}, so some "
            f"are asked of several people"
        )
    minutes = (made.bought or made).minutes
    if minutes > _LONG:
        yield (
            f"{minutes:.0f} minutes are long for one sitting: ask more than {made._work.raters} "
            f"raters, or divide it into several"
        )
    if made.n_objects > MOST_SIMULATED:
        yield (
            f"{MOST_SIMULATED} objects were simulated, with as many answers for each as "
            f"{made.n_objects:,} would have"
        )
    if people.pilot is not None and people.pilot.n_objects < made.n_objects:
        yield (
            f"the pilot has {people.pilot.n_objects} of the {made.n_objects} objects; the others "
            f"are taken to be like these"
        )
    if people.pilot is not None and people.pilot.n_objects > made.n_objects:
        yield (
            f"the pilot has {people.pilot.n_objects} objects; the plan is for {made.n_objects} of "
            f"them, whichever they are"
        )
    if made.seconds == SECONDS[made.kind]:
        yield (
            "the seconds of an answer are those of public studies of other objects (odd: taken "
            "from central); time a few of your own, and give them"
        )


def _told(made: Plan, point: Expected) -> str:
    """A point of the curve in words."""
    if made.goal == "medoid":
        ends = f"{round(point.low)} to {round(point.high)}"
        return f"{round(point.value)} objects that could be the most central one ({ends})"
    if AIMS[made.goal].prior is None:
        return f"{made.quality}: {point.value:.0%} ({point.low:.0%} to {point.high:.0%})"
    return f"{made.quality}: {point.value:.2f} ({point.low:.2f} to {point.high:.2f})"


def _sentences(made: Plan) -> Iterator[str]:
    share = made.target if made.goal == "difference" else PLAN_LEVEL
    aim = {
        "medoid": f"at most {made.target:g} objects could be the most central one",
        "rank": f"the rank correlation of centrality with the truth is {made.target:g}",
        "map": f"the map predicts {made.target:.0%} of what a perfect one would beyond chance",
        "groups": f"the groups are found (adjusted Rand index {made.target:g})",
        "classes": f"{made.target:.0%} of the unlabeled objects get their class",
        "difference": "the difference is found",
    }[made.goal]
    yield (
        f"{made.answers:,} {made.kind} answers: with so many, {aim} in {share:.0%} of such "
        f"studies. {_half(made)}"
    )
    again = f"{made.repeats} asked twice and {made.shared} asked of all"
    yield (
        f"{counted(made.raters, 'rater')} with {counted(made.questions, 'question')} each "
        f"({again}): about {counted(max(round(made.minutes), 1), 'minute')} at "
        f"{made.seconds:.1f} s an answer, {made.total:,} answers in all."
    )
    if made.price is not None and made.price_interval is not None:
        low, high = made.price_interval
        yield f"Price: {made.price:,.2f} ({low:,.2f} to {high:,.2f} for what a study may need)."
    if len(made.kinds) > 1:
        others = ", ".join(f"{each.kind} {each.hours:.1f} h" for each in made.kinds)
        yield (
            f"People's time by kind of question, the least first, without what is asked again: "
            f"{others}."
        )
    yield from (f"{remark[0].upper()}{remark[1:]}." for remark in made.remarks)


def _half(made: Plan) -> str:
    """What half of all studies need, and most; no study is planned with fewer than the least."""
    half, least = _median(made), -(-LEAST_PER_OBJECT * made.n_objects // 3)
    most = f"97.5 % need no more than {made.high:,}."
    if half <= least:
        said = f"no more than {least:,}, without which nothing can be said"
    else:
        said = f"fewer than {half:,}"
        if made.low > least:
            most = f"95 % need {made.low:,} to {made.high:,}."
    return f"Half of all studies need {said}; {most}"


def _median(made: Plan) -> int:
    curve = made._curve
    if isinstance(curve, Thresholds):
        logs = curve.needed()
    else:
        n = made.n_objects
        missing = (made.target + 0.5) / (n + 1) if made.goal == "medoid" else 1 - made.target
        logs = curve.needed(missing)
    return max(_round(float(np.exp(np.median(logs)))), made.low)


_INSTRUCTIONS: dict[Kind, str] = {
    "central": "You will see three things. Choose the one in the middle: the one that is most\n"
    "  similar to both of the others.",
    "odd": "You will see three things. Choose the one that does not fit with the others.",
    "closer": "You will see one thing, with two others below it. Choose the one that is more\n"
    "  similar to the first.",
}


def _study_yaml(made: Plan, objects: str) -> str:
    who = made._work
    answers = who.total - who.again
    return f"""# {who.raters:,} raters, {who.total:,} answers of kind {made.kind}, \
for the goal {made.goal} ({made.aim}).
# Expect {_told(made, made.expected(answers))}.
# Put the objects where `objects` says, then: trilens survey check .
title: Which are alike?
kind: {made.kind}
languages: [en]
objects: {_quoted(objects)}
instructions: >-
  {_INSTRUCTIONS[made.kind]}
consent:
  version: "1"
  text: >-
    Taking part is voluntary. We store your choices and how long each one took, and nothing else
    about you. You can stop at any time, and use your receipt to have your answers erased.
rounds:
  length: {who.length}
  minimum: {-(-4 * who.length // 5)}
  most: {who.rounds}
  needed: {who.rounds}
shared: {who.common}
repeated: {who.repeated}
quota:
  participants: {who.raters}
seed: 1
"""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
