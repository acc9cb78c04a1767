"""Whether a study has enough answers: rules that may be looked at any time.

A 95 % set that is looked at after every answer misses the truth more often than in 5 % of studies:
it gets many chances to do so. Therefore a rule looks at fixed numbers of answers only, each 1.5
times the one before, and each of the first nine looks may miss with a tenth of the probability
1 - level, all later ones together with another tenth (`spent`). So with probability ``level``
none of the sets, however many there will be, misses (the union bound); whenever one asks, the
rule says what it saw at its last look. It does not matter how the questions were chosen: the sets
come from the likelihood of the answers.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from trilens import words
from trilens._parameters import one_of, real_number, seed_of, whole_number, wrong
from trilens._tabular import counted, table
from trilens._typing import BoolArray, FloatArray, IntArray, RandomState
from trilens.answers import Answers
from trilens.ask import Data, statements_of, with_fit
from trilens.calibration import EVEN_LOOKS, FIRST_LOOK, LOOK_GROWTH, STOPPING_DRAWS
from trilens.errors import ParameterError, StatementError, option
from trilens.maps.fitted import Fit, fit_answers
from trilens.maps.fitting import How
from trilens.maps.held_out import QUICKLY, Chances, folds_of, held_out, parts_of
from trilens.maps.map import predicted
from trilens.questions.depth import centrality_of, medoid_set
from trilens.statements import Statements
from trilens.statements.columns import is_table
from trilens.statements.combine import questions

Rule: TypeAlias = Literal["medoid", "map", "groups", "price"]
RULES: tuple[Rule, ...] = get_args(Rule)

#: A higher level would take more maps than these.
_MOST_LEVEL = 0.99
#: The column of a survey's export that says when an answer was given.
_WHEN = "answered_at"
#: A larger share of predicted answers is no gain that 1000 answers make.
_MOST_GAIN = 0.2
#: Prices and budgets, and the answers that they pay.
MOST_MONEY = 1e15
#: Folds in which questions are held out, to see what more answers would gain.
_FOLDS = 5
#: So many more.
_MORE = 1000


@dataclass(frozen=True)
class Stopping:
    """Whether to stop, and why.

    Attributes
    ----------
    rule : {"medoid", "map", "groups", "price"}
    stop : bool
    answers : int
        The answers so far.
    look : int
        The number of the last look; 0 before the first. A price is always looked at.
    looked_at : int
        The answers that it looked at: the first so many.
    next_look : int or None
        The number of answers at the next look.
    level : float or None
        The confidence level at this look; higher than the one asked for, as there are several.
    value : float or None
        What the rule looks at: the objects in the medoid set, the gain in predicted answers by
        1000 more (its upper bound), the groups, or the price so far.
    limit : float or None
        What it is compared with.
    candidates : tuple of str
        The medoid set.
    objects : int
    expected : float or None
        The gain itself, of which ``value`` is the upper bound.
    before : int or None
        The groups at the look before.
    price : float or None
        Of one answer.
    left : int or None
        Answers that the budget still pays.
    """

    rule: Rule
    stop: bool
    answers: int
    look: int = 0
    looked_at: int = 0
    next_look: int | None = None
    level: float | None = None
    value: float | None = None
    limit: float | None = None
    candidates: tuple[str, ...] = ()
    objects: int = 0
    expected: float | None = None
    before: int | None = None
    price: float | None = None
    left: int | None = None

    def __repr__(self) -> str:
        what = "stop" if self.stop else "go on"
        answers = counted(self.answers, "answer")
        return f"Stopping: {what} after {answers}\n  ({self.why}; {self.next})"

    def _repr_html_(self) -> str:
        rows = [("stop", self.stop), ("answers", self.answers), ("why", self.why)]
        return table(["", ""], [*rows, ("next", self.next)], caption="Stopping")

    @property
    def why(self) -> str:
        """What was seen, in a sentence."""
        return words.stopping(self)[0]

    @property
    def next(self) -> str:
        """What it takes to go on."""
        return words.stopping(self)[1]

    def to_dict(self) -> dict[str, Any]:
        """The facts as ``trilens stop --json`` prints them."""
        facts = {"rule": self.rule, "stop": self.stop, "why": self.why, "next": self.next}
        return facts | asdict(self) | {"candidates": list(self.candidates)}


def stopping(
    answers: Data,
    rule: Rule = "medoid",
    *,
    at_most: int = 3,
    gain: float = 0.005,
    price: float | None = None,
    budget: float | None = None,
    level: float = 0.95,
    random_state: RandomState = 0,
) -> Stopping:
    """Whether a study may stop, by a rule that holds however often it is asked.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table or (m, 3) array
        The answers so far, in the order in which they were given; a file or a table with the
        column ``answered_at`` is taken in that order. (Statements have no such column: put them
        in order.) Questions may be random or chosen by `next_questions`. The first answers are
        fitted as those of a given fit were, with its features.
    rule : {"medoid", "map", "groups", "price"}
        ``"medoid"``: the set of objects that may be the most central has at most ``at_most``;
        with probability ``level`` it then holds the true one. ``"map"``: 1000 more answers would
        raise the share of answers that the map predicts by less than ``gain``, with probability
        ``level``. ``"groups"``: the same number of groups was found at two looks in a row. That
        there are none is never certain. ``"price"``: what was paid, ``price`` for each answer,
        leaves too little of ``budget`` for another one; of a file, answers to test and repeated
        questions, and of raters who are left out, are counted too.
    at_most : int
    gain : float
    price, budget : float, optional
        For ``"price"``, both.
    level : float
        Between 0 and 0.99: maps drawn at random do not tell rarer misses.

    Notes
    -----
    The rule looks when there are 6, 9, 13.5, ... answers for each object, at the first so many
    answers, and each look may be wrong with a tenth of 1 - level, later than the ninth with less:
    see `trilens.questions.stopping`. Between looks it says what it saw at the last one.

    Examples
    --------
    >>> from trilens.simulate import study
    >>> S = study().statements
    >>> found = stopping(S, "price", price=0.05, budget=500)
    >>> found.stop, found.value
    (False, 400.0)
    """
    seed = seed_of(random_state)
    one_of("rule", rule, RULES)
    most = whole_number("at_most", at_most, least=1)
    least = real_number("gain", gain, positive=True)
    if least > _MOST_GAIN:
        raise wrong("gain", gain, f"a share, at most {_MOST_GAIN:g}: 0.005 is half a per cent")
    level = real_number("level", level)
    if not 0 < level <= _MOST_LEVEL:
        raise wrong("level", level, f"more than 0 and at most {_MOST_LEVEL:g}")
    # the other columns of a table are known by its handle
    in_memory = is_table(answers) and not isinstance(answers, np.ndarray)
    data, fitted = (Answers(answers), None) if in_memory else with_fit(answers)
    given = _in_time(data)
    if rule == "price":
        return by_price(_paid(data, given), price, budget)
    if price is not None or budget is not None:
        raise ParameterError(f"a price and a budget are for {option('rule', 'price')}")
    if given.n_objects < 4:
        raise StatementError(
            f"there is nothing to stop for: {given.n_objects} objects; a rule needs four or more"
        )
    if rule == "medoid" and most >= given.n_objects:
        raise wrong("at_most", at_most, f"less than the {given.n_objects:,} objects")
    look, at, following = looks(given.n_objects, len(given))
    seen = Stopping(
        rule,
        False,
        len(given),
        look=look,
        looked_at=at,
        next_look=following,
        objects=given.n_objects,
    )
    if look == 0:
        return seen
    may_miss = (1 - level) * spent(look)
    seen = replace(seen, level=1 - may_miss)
    draws = int(np.clip(np.ceil(2 / may_miss), *STOPPING_DRAWS))
    first = _first(given, at, fitted, seed)
    inner, rank = replace(first.canonical[0], n_draws=draws), first.canonical[1]
    if rule == "medoid":
        return _by_set(seen, inner, given.names, rank, most, may_miss)
    if rule == "map":
        return _by_gain(seen, inner, least, may_miss)
    before = None
    found = _groups(inner)
    if look > 1 and found > 1:
        earlier = looks(given.n_objects, at - 1)[1]
        before = _groups(_first(given, earlier, fitted, seed).canonical[0])
    stop = found > 1 and before == found
    return replace(seen, stop=stop, value=float(found), before=before, level=None)


def _first(given: Statements, at: int, fitted: Fit | None, seed: int) -> Fit:
    """The fit of the first answers, as that of all was made."""
    how, features = (How(), None) if fitted is None else (fitted.how, fitted.features)
    return fit_answers(given[:at], how, features, random_state=seed)


def _in_time(S: Any) -> Statements:
    """The answers, by the times in the column ``answered_at`` where there is one."""
    given = statements_of(S, "stopping")
    if not isinstance(S, Answers) or S.reading is None:
        return given
    column = next((name for name in S.reading.left_out if name.casefold() == _WHEN), None)
    if column is None:
        return given
    try:
        when = [datetime.fromisoformat(str(each)) for each in S.column(column).tolist()]
        order = sorted(range(len(when)), key=when.__getitem__)
    except (TypeError, ValueError):
        raise StatementError(
            f"column {column} must have a time for each answer, such as 2026-03-01T14:05:00: the "
            f"rules look at the first answers; without the column the order of the rows is taken"
        ) from None
    return given.take(np.array(order, dtype=np.intp))


def looks(n_objects: int, answers: int) -> tuple[int, int, int]:
    """The number of the last look, the answers at it, and those at the next one.

    >>> looks(60, 100), looks(60, 600)
    ((0, 0, 360), (2, 540, 810))
    """
    look, at, following = 0, 0, FIRST_LOOK * n_objects
    while following <= answers:
        look, at = look + 1, following
        following = int(FIRST_LOOK * n_objects * LOOK_GROWTH**look)
    return look, at, following


def spent(look: int) -> float:
    """The share of the error that a look may make; all of them sum to 1.

    >>> spent(1), spent(9), round(spent(10), 3), round(sum(spent(k) for k in range(1, 10_000)), 3)
    (0.1, 0.1, 0.05, 1.0)
    """
    late = look - EVEN_LOOKS
    even = 1 / (EVEN_LOOKS + 1)
    return even if late <= 0 else even / (late * (late + 1))


def _paid(S: Any, given: Statements) -> int:
    """The answers that were paid: with those of raters, and to questions, that are left out."""
    if not isinstance(S, Answers) or S.reading is None:
        return len(given)
    every = S.everything.read()
    screens = every.questions  # one answer may make several statements
    return (len(every) if screens is None else len(np.unique(screens))) + S.reading.aside


def by_price(answers: int, price: float | None, budget: float | None) -> Stopping:
    """Whether the budget pays another answer; so many have been paid."""
    if price is None or budget is None:
        raise ParameterError(
            f"{option('rule', 'price')} needs {option('price')}, of one answer, and "
            f"{option('budget')}, for all"
        )
    each = real_number("price", price, most=MOST_MONEY, positive=True)
    whole = real_number("budget", budget, most=MOST_MONEY, positive=True)
    if whole < each:
        raise ParameterError(f"a budget of {whole:g} does not pay one answer at {each:g}")
    affordable = int(min(whole / each * (1 + 1e-12), MOST_MONEY))
    left = affordable - answers
    return Stopping(
        "price",
        left <= 0,
        answers,
        looked_at=answers,
        value=answers * each,
        limit=whole,
        price=each,
        left=left,
    )


def _by_set(
    seen: Stopping,
    fitted: Fit,
    names: tuple[str, ...],
    rank: IntArray,
    most: int,
    may_miss: float,
) -> Stopping:
    inside = medoid_set(fitted, 1 - may_miss)[rank]
    score = centrality_of(fitted)[rank]
    by_score = np.flatnonzero(inside)[np.argsort(-score[inside], kind="stable")]
    found = tuple(names[i] for i in by_score)
    return replace(
        seen,
        stop=len(found) <= most,
        value=float(len(found)),
        limit=float(most),
        candidates=found,
    )


def _by_gain(seen: Stopping, fitted: Fit, least: float, may_miss: float) -> Stopping:
    from scipy.special import ndtri

    mean, error = expected_gain(fitted)
    bound = max(float(mean - ndtri(may_miss) * error), 0.0)
    return replace(seen, stop=bound < least, value=bound, limit=least, expected=mean)


def expected_gain(fitted: Fit) -> tuple[float, float]:
    """What `_MORE` answers would add to the share that the map predicts, and its error.

    Questions are held out in five folds, and predicted by maps of all other answers and of half
    of them. The share that is still missing falls nearly as 1 / answers (measured: see the error of
    the map in docs/questions/next-questions.md), so that the difference tells what more
    answers will add. Only random questions are predicted: chosen ones are harder than others.
    """
    S = fitted.sample
    S.at_random()  # refuses where there is none
    rng = np.random.default_rng([fitted.seed, 43])
    question = questions(S)[0]
    fold = parts_of(question, _FOLDS, rng)
    half = parts_of(question, 2, rng) == 0
    sizes = np.array([[(fold != k).sum(), ((fold != k) & half).sum()] for k in range(_FOLDS)])

    def right(used: BoolArray) -> FloatArray:
        def of(seen: BoolArray) -> Chances:
            part = S.take(seen & used)
            if not len(part):  # nothing is known, and everything is in one place
                return fitted.map.at(np.zeros_like(fitted.map.X)).probabilities
            return fitted.refit(part, start=fitted.map.X, **QUICKLY).probabilities

        return predicted(held_out(S, folds_of(fold), of))[S.asked_at_random]

    difference = right(np.ones(len(S), dtype=bool)) - right(half)
    whole, part = np.maximum(sizes.mean(axis=0), 1.0).tolist()
    m = len(S)
    factor = (1 / m - 1 / (m + _MORE)) / (1 / part - 1 / whole)
    error = float(difference.std() / np.sqrt(len(difference)))
    return float(difference.mean()) * factor, error * factor


def _groups(fitted: Fit) -> int:
    """How many groups there are."""
    from trilens.questions.cluster.groups import cluster

    return int(cluster(fitted).n_clusters)
