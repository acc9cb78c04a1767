"""How far the answers can be trusted, where they cannot carry a conclusion, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from trilens._parameters import seed_of
from trilens._tabular import Tabular
from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.maps.choice_map import ChoiceMap
from trilens.statements import Statements, StatementsLike, as_statements
from trilens.tasks.method import check_model
from trilens.tasks.model import AnswerModel, answer_model
from trilens.tasks.reliability.cautions import (
    Caution,
    about_contradictions,
    about_errors,
    about_noise,
    about_objects,
    about_parts,
    about_raters,
    connected_parts,
)
from trilens.tasks.reliability.error_rate import (
    Rate,
    Repeats,
    blind_rate,
    repeated_questions,
    wrong_rate,
)
from trilens.tasks.reliability.held_out import HeldOut, best_held_out, can_hold_out, looked_at
from trilens.tasks.reliability.raters import Judgement, judge_raters

#: Raters with fewer answers are not judged.
FEW_ANSWERS = 12
#: Into how many parts raters are divided, time after time: each time those who seem blind count
#: less for the maps.
_FOLDS = (5, 5, 8)
#: As long as fewer raters than this share seem blind, the maps do not suffer.
_FEW_BLIND = 0.03


@dataclass(frozen=True)
class RaterCheck:
    """How one rater's answers fit those of the others.

    Attributes
    ----------
    rater : str
    answers : int
    median_seconds : float or None
    predicted : float
        The share of the answers that a map of the other raters' answers predicts.
    blind, blind_low, blind_high : float
        The share of answers that seem to be given blindly, with its 95 % interval. What the
        map itself gets wrong is in it.
    same_place : float or None
        The largest share of answers in one place, where places are known.
    judged : bool
        Whether it can be said if the answers are guesses: there are enough of them, and the
        answers of all together can be predicted at all.
    guessing, one_place : bool
        Whether the answers look like guesses, or mostly fall in the same place.
    """

    rater: str
    answers: int
    median_seconds: float | None
    predicted: float
    blind: float
    blind_low: float
    blind_high: float
    same_place: float | None
    judged: bool
    guessing: bool
    one_place: bool


@dataclass(frozen=True)
class Reliability(Tabular):
    """The cautions, and the checks behind them.

    Attributes
    ----------
    cautions : tuple of Caution
    unit : {"rater", "round"} or None
        Whether ``raters`` are raters or rounds; None where neither is known.
    raters : tuple of RaterCheck
    guessing_share : float or None
        The share of raters who seem to guess, those included who cannot be named.
    predicted : float or None
        The share of all answers that a map of other answers predicts.
    chance : float
        The share that guesses would reach.
    error_rate : float or None
        The share of answers that are wrong although the question is clear: blind answers, as
        far as they are wrong, and slips. ``error_rate_interval`` is its 95 % interval.
    wrong_answers : float or None
        The share of answers that differ from what the true distances say, near ties included;
        with ``wrong_answers_interval``.
    repeats : Repeats or None
        What questions that were asked again say about it; None where there are none.
    parts : (n,) array of int
        The part of each object: objects of different parts are never compared, not even by
        way of others. 0 is the largest part.
    """

    cautions: tuple[Caution, ...]
    unit: str | None
    raters: tuple[RaterCheck, ...]
    guessing_share: float | None
    predicted: float | None
    chance: float
    error_rate: float | None
    error_rate_interval: tuple[float, float] | None
    wrong_answers: float | None
    wrong_answers_interval: tuple[float, float] | None
    repeats: Repeats | None
    parts: IntArray = field(repr=False)

    @property
    def not_judged(self) -> tuple[str, ...]:
        """The raters who cannot be judged: too few answers, or nobody's can be predicted."""
        return tuple(check.rater for check in self.raters if not check.judged)

    def columns(self) -> dict[str, Sequence[Any]]:
        """A row for each rater."""
        facts = [asdict(check) for check in self.raters]
        return {key: [row[key] for row in facts] for key in (facts[0] if facts else ())}

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types, as ``trilens analyze --json`` prints them."""
        return {
            "predicted": self.predicted,
            "chance": self.chance,
            "error_rate": self.error_rate,
            "error_rate_interval": _listed(self.error_rate_interval),
            "wrong_answers": self.wrong_answers,
            "wrong_answers_interval": _listed(self.wrong_answers_interval),
            "repeats": None if self.repeats is None else self.repeats.to_dict(),
            "rater_unit": self.unit,
            "guessing_share": self.guessing_share,
            "few_answers": FEW_ANSWERS,
            "not_judged": list(self.not_judged),
            "raters": [asdict(check) for check in self.raters],
            "cautions": [{**asdict(c), "names": list(c.names)} for c in self.cautions],
        }


def reliability(
    statements: StatementsLike, *, model: AnswerModel | None = None, random_state: int = 0
) -> Reliability:
    """Check whether the statements can carry conclusions.

    Parameters
    ----------
    statements : Statements or (m, 3) array
        Of any kind. Raters are checked where they are known; else rounds, where these are.
        Places on the screen are looked at where they are known.
    model : AnswerModel, optional
        Of the statements; fitted where it is missing.
    random_state : int

    Notes
    -----
    Raters are divided into five groups or ten (with very many answers, two); a choice map of
    the other groups' answers says how likely the answers of each are. A rater is said to guess
    when blind answers are so much likelier than those of a careful rater that at most 1 in 200
    careful ones would look like it; see `trilens.tasks.reliability.raters`. Where raters seem
    to guess, the maps are made again with these counting less. A rater answers in one place
    when that place has at least 60 % of the answers, which guessing would hardly ever do (level
    0.001 over all raters). Of very many answers a part is looked at, drawn at random.

    Examples
    --------
    >>> found = reliability([[0, 1, 2], [3, 4, 5]])
    >>> [caution.code for caution in found.cautions]
    ['rare', 'apart']
    """
    given = as_statements(statements)
    random_state = seed_of(random_state)
    check_model(model, given)
    chance = 0.5 if given.kind == "closer" else 1 / 3
    parts = connected_parts(given)
    if len(given) == 0:
        nothing = Caution(
            "no-statements",
            "There are no statements.",
            "Nothing can be concluded.",
            "Check the file, or collect answers.",
        )
        return Reliability(
            (nothing,), None, (), None, None, chance, None, None, None, None, None, parts
        )
    cautions = [*about_objects(given), *about_parts(given, parts)]
    repeats = repeated_questions(given, random_state)
    unit, who = _who(given)
    checks: tuple[RaterCheck, ...] = ()
    predicted = error = wrong = share = None
    if can_hold_out(given):
        rows = looked_at(given, random_state)
        part = given if len(rows) == len(given) else given.take(rows)
        if model is None:
            model = answer_model(part, random_state)
        names, rater = (None, None) if who is None else _numbered(who)
        inside = None if rater is None else rater[rows]
        first = best_held_out(part, inside, model.map, random_state, folds=_FOLDS[0])
        predicted = float(first.right.mean())
        error, wrong = blind_rate(first, given.kind), wrong_rate(first)
        noise = about_noise(first, chance)
        cautions += noise
        if names is not None and rater is not None and inside is not None:
            last, judgement = _judged(part, inside, len(names), model.map, first, random_state)
            share = judgement.share
            hits = np.bincount(inside, first.right, len(names)).astype(np.float64)
            # where no answer can be predicted, nobody can be told from a guesser
            checks = _checks(given, names, rater, inside, hits, judgement, can_tell=not noise)
            if not noise:
                error, wrong = blind_rate(last, given.kind), wrong_rate(last)
            cautions += about_raters(
                [check.rater for check in checks if check.guessing],
                [check.rater for check in checks if check.one_place],
                share,
                len(checks),
                unit or "rater",
            )
        if not noise:
            cautions += about_errors(error)
    cautions += about_contradictions(repeats, chance)
    return Reliability(
        cautions=tuple(cautions),
        unit=unit if checks else None,
        raters=checks,
        guessing_share=share,
        predicted=predicted,
        chance=chance,
        error_rate=None if error is None else error.estimate,
        error_rate_interval=_ends(error),
        wrong_answers=None if wrong is None else wrong.estimate,
        wrong_answers_interval=_ends(wrong),
        repeats=repeats,
        parts=parts,
    )


def _judged(
    statements: Statements,
    rater: IntArray,
    n_raters: int,
    fitted: ChoiceMap,
    held_out: HeldOut,
    random_state: int,
) -> tuple[HeldOut, Judgement]:
    """Judge the raters, with maps that those who guess do not blur."""
    for folds in _FOLDS[1:]:
        judgement = judge_raters(held_out.chances, rater, n_raters, bound=False)
        if judgement.share < _FEW_BLIND:
            break
        weights = 1 - judgement.careless[rater]
        held_out = best_held_out(statements, rater, fitted, random_state, weights, folds)
    return held_out, judge_raters(held_out.chances, rater, n_raters)


def _checks(
    statements: Statements,
    names: AnyArray,
    rater: IntArray,
    inside: IntArray,
    hits: FloatArray,
    judgement: Judgement,
    *,
    can_tell: bool,
) -> tuple[RaterCheck, ...]:
    """A row for each rater, of all answers and of those that were looked at."""
    from scipy.special import bdtrc

    n = len(names)
    answers, looked = np.bincount(rater, minlength=n), np.bincount(inside, minlength=n)
    predicted = np.divide(hits, looked, out=np.zeros(n), where=looked > 0)
    judged = (looked >= FEW_ANSWERS) & can_tell
    guessing = judged & (judgement.odds > judgement.bound)
    share, one_place = None, np.zeros(n, dtype=bool)
    places = getattr(statements, "places", None)
    if places is not None:
        known = np.asarray(places) >= 0
        counts = np.zeros((n, 3), dtype=np.int64)
        np.add.at(counts, (rater[known], places[known]), 1)
        most, placed = counts.max(axis=1), counts.sum(axis=1)
        share = most / np.maximum(placed, 1)
        # with two answers to choose from, some places cannot be chosen at all
        by_chance = 1 / 2 if statements.kind == "closer" else 1 / 3
        unlikely = bdtrc(most - 1, np.maximum(placed, 1), by_chance) * 3 * n < 0.001
        one_place = (placed >= FEW_ANSWERS) & unlikely & (share >= 0.6)
    seconds = _median_seconds(statements, rater, n)
    in_order = sorted(range(n), key=lambda i: _natural(str(names[i])))
    return tuple(
        RaterCheck(
            rater=str(names[i]),
            answers=int(answers[i]),
            median_seconds=seconds[i],
            predicted=float(predicted[i]),
            blind=float(judgement.blind[i]),
            blind_low=float(judgement.low[i]),
            blind_high=float(judgement.high[i]),
            same_place=None if share is None else float(share[i]),
            judged=bool(judged[i]),
            guessing=bool(guessing[i]),
            one_place=bool(one_place[i]),
        )
        for i in in_order
    )


def _median_seconds(statements: Statements, rater: IntArray, n_raters: int) -> list[float | None]:
    if statements.seconds is None:
        return [None] * n_raters
    order = np.argsort(rater, kind="stable")
    parts = np.split(statements.seconds[order], np.cumsum(np.bincount(rater))[:-1])
    known = (part[np.isfinite(part)] for part in parts)
    return [float(np.median(part)) if len(part) else None for part in known]


def _who(statements: Statements) -> tuple[str | None, AnyArray | None]:
    for unit, who in (("rater", statements.raters), ("round", statements.rounds)):
        if who is not None and len(np.unique(who)) > 1:
            return unit, who
    return None, None


def _numbered(who: AnyArray) -> tuple[AnyArray, IntArray]:
    names, number = np.unique(who, return_inverse=True)
    return names, number.astype(np.int64)


def _ends(rate: Rate | None) -> tuple[float, float] | None:
    return None if rate is None else (rate.low, rate.high)


def _listed(ends: tuple[float, float] | None) -> list[float] | None:
    return None if ends is None else list(ends)


def _natural(name: str) -> tuple[bool, int, str]:
    """Numbers by their size, before other names."""
    number = name.isdecimal()
    return (not number, int(name) if number else 0, name)
