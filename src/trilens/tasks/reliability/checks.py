"""Raters, one by one: how the answers of each fit those of the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.statements import Statements
from trilens.tasks.reliability.agreement import (
    MOST_ANSWERS,
    Cells,
    agreement_of_raters,
    cells_of,
)
from trilens.tasks.reliability.raters import Judgement

#: Raters with fewer answers are not judged.
FEW_ANSWERS = 12


@dataclass(frozen=True)
class RaterCheck:
    """How one rater's answers fit those of the others.

    Attributes
    ----------
    rater : str
    answers : int
    median_seconds, fast_seconds : float or None
        The median response time, and the one that a tenth of the answers are faster than.
    agreement : float or None
        The share of the other raters' answers to the same questions that equal this rater's;
        each question counts once. None where nobody else was asked the same.
    compared : int
        With how many questions.
    within : float or None
        How often the rater gave the same answer to the same question again.
    predicted : float
        The share of the answers that a map of the other raters' answers predicts.
    blind, blind_low, blind_high : float
        The share of answers that seem to be given blindly (lapses), with its 95 % interval.
        What the map itself gets wrong is in it.
    same_place : float or None
        The largest share of answers in one place, where places are known.
    catch_asked, catch_right : int
        Test questions, and how many of them were answered rightly.
    judged : bool
        Whether it can be said if the answers are guesses: there are enough of them, and the
        answers of all together can be predicted at all.
    guessing, one_place : bool
        Whether the answers look like guesses, or mostly fall in the same place.
    """

    rater: str
    answers: int
    median_seconds: float | None
    fast_seconds: float | None
    agreement: float | None
    compared: int
    within: float | None
    predicted: float
    blind: float
    blind_low: float
    blind_high: float
    same_place: float | None
    catch_asked: int
    catch_right: int
    judged: bool
    guessing: bool
    one_place: bool


def check_raters(
    statements: Statements,
    names: AnyArray,
    rater: IntArray,
    inside: IntArray,
    hits: FloatArray,
    judgement: Judgement,
    tests: dict[str, tuple[int, int]],
    *,
    can_tell: bool,
) -> tuple[RaterCheck, ...]:
    """A row for each rater, of all answers and of those that were looked at.

    Parameters
    ----------
    inside : (k,) array of int
        The raters of the answers that were looked at, and ``hits`` how many of each were
        predicted.
    tests : dict
        Test questions asked, and answered rightly, by rater.
    """
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
    median, fast = _seconds(statements, rater, n)
    cells = cells_of(
        statements.take(np.arange(min(len(rater), MOST_ANSWERS))), rater[:MOST_ANSWERS]
    )
    agreement, compared = agreement_of_raters(cells, n)
    within = _within(cells, n)
    in_order = sorted(range(n), key=lambda i: natural(str(names[i])))
    return tuple(
        RaterCheck(
            rater=str(names[i]),
            answers=int(answers[i]),
            median_seconds=median[i],
            fast_seconds=fast[i],
            agreement=None if np.isnan(agreement[i]) else float(agreement[i]),
            compared=int(compared[i]),
            within=None if np.isnan(within[i]) else float(within[i]),
            predicted=float(predicted[i]),
            blind=float(judgement.blind[i]),
            blind_low=float(judgement.low[i]),
            blind_high=float(judgement.high[i]),
            same_place=None if share is None else float(share[i]),
            catch_asked=tests.get(str(names[i]), (0, 0))[0],
            catch_right=tests.get(str(names[i]), (0, 0))[1],
            judged=bool(judged[i]),
            guessing=bool(guessing[i]),
            one_place=bool(one_place[i]),
        )
        for i in in_order
    )


def _within(cells: Cells, n_raters: int) -> FloatArray:
    """How often each rater repeats an answer; each question once, NaN where none was repeated."""
    own = cells.votes.sum(axis=1)
    again = own > 1
    pairs = own[again] * (own[again] - 1)
    same = (cells.votes[again] * (cells.votes[again] - 1)).sum(axis=1) / pairs
    count = np.bincount(cells.rater[again], minlength=n_raters)
    sums = np.bincount(cells.rater[again], same, n_raters)
    return np.where(count > 0, sums / np.maximum(count, 1), np.nan)


def _seconds(
    statements: Statements, rater: IntArray, n_raters: int
) -> tuple[list[float | None], list[float | None]]:
    if statements.seconds is None:
        return [None] * n_raters, [None] * n_raters
    order = np.argsort(rater, kind="stable")
    parts = np.split(statements.seconds[order], np.cumsum(np.bincount(rater))[:-1])
    known = [part[np.isfinite(part)] for part in parts]
    return (
        [float(np.median(part)) if len(part) else None for part in known],
        [float(np.quantile(part, 0.1)) if len(part) else None for part in known],
    )


def natural(name: str) -> tuple[bool, int, str]:
    """Numbers by their size, before other names."""
    number = name.isdecimal()
    return (not number, int(name) if number else 0, name)
