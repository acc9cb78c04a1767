"""`plan`: how many answers a study needs, before it is made; by simulating such studies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from trilens import words
from trilens._parameters import check_progress, one_of, real_number, seed_of, whole_number, wrong
from trilens._tabular import Tabular, counted, facts
from trilens._typing import FloatArray, Progress, RandomState
from trilens.ask import Data, statements_of
from trilens.calibration import FEWEST_RATERS_THAT_TELL, PLAN_LEVEL
from trilens.errors import KindError, ParameterError, StatementError, option, parameter_name
from trilens.kinds import KINDS, Kind, check_kind, n_questions
from trilens.maps.descent import part_of
from trilens.maps.likelihood import in_own_order
from trilens.maps.support import LEAST_PER_OBJECT
from trilens.questions.plan.curves import (
    MOST_SIMULATED,
    PER_OBJECT,
    Curve,
    Thresholds,
    simulate,
)
from trilens.questions.plan.goals import AIMS, GOALS, Goal, fewest_answers
from trilens.questions.plan.worlds import CLASSES, ELSEWHERE, ERROR_RATES, GROUPS, SHARPNESS, People
from trilens.questions.stopping import MOST_MONEY
from trilens.statements import Statements
from trilens.words import PLAN_NOTES as NOTES, expected_quality

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

_INSTRUCTIONS: dict[Kind, str] = {
    "central": "You will see three things. Choose the one in the middle: the one that is most\n"
    "  similar to both of the others.",
    "odd": "You will see three things. Choose the one that does not fit with the others.",
    "closer": "You will see one thing, with two others below it. Choose the one that is more\n"
    "  similar to the first.",
}


@dataclass(frozen=True)
class Expected:
    """What so many answers give, with the interval that holds it in 95 % of studies."""

    answers: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class KindPlan:
    """What the goal takes with one kind of question."""

    kind: Kind
    #: As in `Plan`.
    answers: int
    low: int
    high: int
    #: Of one answer.
    seconds: float
    #: Of people's time, for ``answers``.
    hours: float


@dataclass(frozen=True)
class Bought:
    """The study that a budget pays for."""

    #: As in `Plan`.
    raters: int
    repeats: int
    shared: int
    questions: int
    total: int
    minutes: float
    price: float
    #: The answers, without those to questions asked again, and the quality that they give.
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
        return words.plan_aim(self.goal, self.target)

    def expected(self, answers: float) -> Expected:
        """The quality that this many answers give, with its 95 % interval."""
        m = real_number("answers", answers, 1)
        return _expected(self._curve, m, self.goal, self.n_objects)

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
        return facts(self, *names) | {"sentences": self.sentences()}

    def sentences(self) -> list[str]:
        """The plan in words."""
        logs = _logs(self._curve, self.goal, self.n_objects, self.target)
        half = max(_round(float(np.exp(np.median(logs)))), self.low)
        least = fewest_answers(self.n_objects)
        return list(words.plan(self, _sure(self.goal, self.target), half, least))

    def study_yaml(self, objects: str = "objects") -> str:
        """The text of a ``study.yaml`` that does it, for ``trilens survey``.

        Parameters
        ----------
        objects
            The folder of pictures or sounds, or the table of objects, that the study is to use.
        """
        who = self._work
        return f"""# {who.raters:,} raters, {who.total:,} answers of kind {self.kind}, \
for the goal {self.goal} ({self.aim}).
# Expect {expected_quality(self.goal, self.expected(who.own))}.
# Put the objects where `objects` says, then: trilens survey check .
title: Which are alike?
kind: {self.kind}
languages: [en]
objects: {json.dumps(objects, ensure_ascii=False)}
instructions: >-
  {_INSTRUCTIONS[self.kind]}
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
        As ``goal`` says.
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
    paid = _paid_answers(price, budget, n)
    times = _seconds(seconds, tried)
    people = People.of(kind, tried, error_rate, n_components, n)
    curves: dict[Kind, Curve] = {}
    listed = []
    for at, each in enumerate(people.kinds):
        part = 1 / len(people.kinds)
        share = part_of(progress, at * part, part) or (lambda done: None)
        curves[each] = simulate(goal, each, n, wanted, people, raters, seed, share)
        needed = _needed(curves[each], goal, n, wanted)
        if needed is not None:
            listed.append(KindPlan(each, *needed, times[each], needed[0] * times[each] / 3600))
    if not listed:
        raise KindError(
            f"answers of kind {' or '.join(people.kinds)} do not reach the goal {goal} with a "
            f"target of {wanted:g} in most of the simulated studies, however many there are; take "
            f"another {parameter_name('kind')}, a lower {parameter_name('target')} or other objects"
        )
    listed.sort(key=lambda each: each.hours)
    best = listed[0]
    if progress is not None:
        progress(1.0)
    work = partial(
        _shared_out,
        possible=n_questions(best.kind, n),
        seconds=best.seconds,
        raters=raters,
        goal=goal,
    )
    whole = who = work(best.answers)
    if paid is not None:
        who = _within(paid, whole, best.answers, work, n)
    if raters is not None and who.raters > raters:
        raise ParameterError(
            f"{counted(raters, 'rater')} cannot give so many answers: {n} objects make "
            f"{n_questions(best.kind, n):,} questions of kind {best.kind}, and nobody is asked "
            f"one twice; ask {who.raters:,} or more",
            parameter="raters",
        )
    curve = curves[best.kind]
    bought = prices = None
    if price is not None:
        prices = (work(best.low).total * price, work(best.high).total * price)
        if who is not whole:
            bought = Bought(
                **who.facts(best.seconds, price), expected=_expected(curve, who.own, goal, n)
            )
    seen = np.geomspace(max(best.low / 4, LEAST_PER_OBJECT * n / 3), 2 * best.high, 13)
    made = Plan(
        goal=goal,
        n_objects=n,
        kind=best.kind,
        quality=words.PLAN_QUALITIES[goal],
        target=wanted,
        answers=best.answers,
        low=best.low,
        high=best.high,
        seconds=best.seconds,
        **whole.facts(best.seconds, price),
        price_interval=prices,
        curve=tuple(_expected(curve, m, goal, n) for m in np.unique([_round(m) for m in seen])),
        bought=bought,
        kinds=tuple(listed),
        pilot=None if tried is None else len(tried),
        assumed=tuple(_assumed(goal, n, people)),
        remarks=(),
        _curve=curve,
        _work=who,
    )
    return replace(made, remarks=tuple(_remarks(made, tried, budget, paid)))


def _pilot(pilot: Data, kind: str | None) -> Statements:
    given = statements_of(pilot, "plan")
    if kind is not None and check_kind(kind) != given.kind:
        raise KindError(
            f"the pilot has answers of kind {given.kind}, which say nothing about how questions "
            f"of kind {kind} are answered; plan without the pilot, or for {given.kind}"
        )
    n, m = given.n_objects, len(given)
    fewest = max(fewest_answers(n), 30)
    if n < 4 or m < fewest:
        what = "4 objects or more" if n < 4 else f"{fewest:,} answers about so many"
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


def _paid_answers(price: float | None, budget: float | None, n: int) -> int | None:
    """The answers that a budget pays for; None without one."""
    if budget is None:
        return None
    budget = real_number("budget", budget, most=MOST_MONEY, positive=True)
    if price is None:
        raise ParameterError(
            f"a budget needs the price of one answer; use {option('price')}", parameter="price"
        )
    fewest = fewest_answers(n)
    if budget < fewest * price:
        raise ParameterError(
            f"a budget of {budget:g} pays for {int(budget / price):,} answers; {n} objects "
            f"need {fewest:,} before anything can be said, so {fewest * price:g} or more",
            parameter="budget",
        )
    return int(budget / price + 1e-9)


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


def _logs(curve: Curve, goal: Goal, n: int, target: float) -> FloatArray:
    """The logarithm of the answers that each virtual study needs."""
    if isinstance(curve, Thresholds):
        return curve.needed()
    # a set of up to 3.5 objects on average is one of three
    return curve.needed((target + 0.5) / (n + 1) if goal == "medoid" else 1 - target)


def _sure(goal: Goal, target: float) -> float:
    """The share of studies that a plan is to be enough for."""
    return target if goal == "difference" else PLAN_LEVEL


def _needed(curve: Curve, goal: Goal, n: int, target: float) -> tuple[int, int, int] | None:
    """The answers of a plan, and the ends of their interval; None where they cannot be had."""
    logs, sure = _logs(curve, goal, n, target), _sure(goal, target)
    farthest = np.log((100 if isinstance(curve, Thresholds) else 1000) * PER_OBJECT[-1] * n)
    if np.median(logs) > farthest:
        return None
    ends = np.quantile(logs, [sure, 0.025, max(sure, 0.975)])
    middle, low, high = (_round(np.exp(min(end, farthest + 1))) for end in ends)
    fewest = fewest_answers(n)
    return max(middle, fewest), max(low, fewest), max(high, fewest)


def _round(number: float) -> int:
    """To two digits, upwards: 1,234 is 1,300.

    >>> _round(1234), _round(85)
    (1300, 85)
    """
    unit = 10 ** max(int(np.log10(max(number, 1.0))) - 1, 0)
    return int(np.ceil(number / unit - 1e-9) * unit)


def _within(paid: int, whole: _Work, wanted: int, work: Callable[[int], _Work], n: int) -> _Work:
    """What so many paid answers allow: what is asked again is paid for too."""
    who = whole
    while who.total > paid:
        wanted -= max((who.total - paid) // 2, 1)
        if wanted < 1:
            raise ParameterError(
                f"the budget pays for {paid:,} answers: too few for {who.raters:,} raters",
                parameter="raters",
            )
        who = work(wanted)
    if who.own < fewest_answers(n):
        raise ParameterError(
            f"the budget pays for {paid:,} answers, of which {counted(who.raters, 'rater')} "
            f"would give {who.own:,} to questions of their own; {n} objects need "
            f"{fewest_answers(n):,} before anything can be said",
            parameter="budget",
        )
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
    def total(self) -> int:
        return self.raters * self.rounds * self.length

    @property
    def own(self) -> int:
        """Answers but those to questions that are asked again on purpose."""
        return self.rounds * (self.raters * self.new + self.common)

    def facts(self, seconds: float, price: float | None) -> dict[str, Any]:
        """What a plan says of it."""
        questions = self.rounds * self.length
        return {
            "raters": self.raters,
            "repeats": self.rounds * self.repeated,
            "shared": self.rounds * self.common,
            "questions": questions,
            "total": self.total,
            "minutes": questions * seconds / 60,
            "price": None if price is None else self.total * price,
        }


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
    low, high = SHARPNESS
    if people.pilot is None:
        yield NOTES["sharpness"].format(low=low, high=high)
    else:
        places = "where the objects lie, " if goal not in ("groups", "classes") else ""
        yield NOTES["as the pilot"].format(places=places)
    if people.error_rate is not None:
        yield NOTES["error rate"].format(rate=people.error_rate)
    elif people.pilot is None:
        low, high = ERROR_RATES
        yield NOTES["error rates"].format(low=low, high=high)
    if people.dimension is not None:
        yield NOTES["dimensions"].format(dimensions=counted(people.dimension, "dimension"))
    elif people.pilot is None:
        yield NOTES["dimensions"].format(dimensions="2, 3 or 5 dimensions")
    if goal in ("groups", "classes"):
        number, apart = GROUPS if goal == "groups" else CLASSES
        yield NOTES[goal].format(number=number, apart=apart)
    if goal == "difference":
        yield NOTES[goal].format(elsewhere=max(round(ELSEWHERE * n), 1), objects=n)
    yield NOTES["random"]


def _remarks(
    made: Plan, pilot: Statements | None, budget: float | None, paid: int | None
) -> Iterator[str]:
    n, possible = made.n_objects, n_questions(made.kind, made.n_objects)
    if made.bought is not None:
        yield NOTES["budget"].format(
            paid=made.bought.total,
            total=made.total,
            raters=counted(made.bought.raters, "rater"),
            questions=counted(made.bought.questions, "question"),
            price=made.bought.price,
            expected=expected_quality(made.goal, made.bought.expected),
        )
    elif budget is not None and paid is not None:
        own = paid * made._work.own / made.total
        expected = expected_quality(made.goal, made.expected(own))
        yield NOTES["enough money"].format(
            budget=budget, paid=paid, total=made.total, expected=expected
        )
    if pilot is not None and pilot.n_objects == n and len(pilot) >= made.answers:
        yield NOTES["enough answers"].format(pilot=len(pilot))
    if made.repeats == made.shared == 0 and made.raters > 1:
        yield NOTES["none again"]
    if pilot is not None and pilot.chosen is not None:
        yield NOTES["chosen"]
    if possible < made.answers:
        yield NOTES["few questions"].format(objects=n, possible=possible, kind=made.kind)
    minutes = (made.bought or made).minutes
    if minutes > _LONG:
        yield NOTES["long"].format(minutes=minutes, raters=made._work.raters)
    if n > MOST_SIMULATED:
        yield NOTES["some simulated"].format(simulated=MOST_SIMULATED, objects=n)
    if pilot is not None and pilot.n_objects != n:
        size = "small" if pilot.n_objects < n else "large"
        yield NOTES[f"{size} pilot"].format(pilot=pilot.n_objects, objects=n)
    if made.seconds == SECONDS[made.kind]:
        yield NOTES["public seconds"]
