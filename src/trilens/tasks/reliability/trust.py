"""How far the answers can be trusted, where they cannot carry a conclusion, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from trilens._parameters import check_progress, real_number, seed_of, shown, whole_number
from trilens._tabular import Tabular
from trilens._typing import AnyArray, BoolArray, FloatArray, IntArray, Progress
from trilens.errors import ParameterError
from trilens.maps.choice_map import ChoiceMap
from trilens.statements import Kind, Statements, StatementsLike, as_statements
from trilens.statements.combine import question_keys
from trilens.statements.selection import Selection
from trilens.tasks.method import check_model, choose_method
from trilens.tasks.model import AnswerModel, answer_model
from trilens.tasks.reliability.agreement import Agreement, agreement_between, agreement_within
from trilens.tasks.reliability.cautions import (
    Caution,
    about_contradictions,
    about_copies,
    about_errors,
    about_noise,
    about_objects,
    about_parts,
    about_raters,
    connected_parts,
)
from trilens.tasks.reliability.checks import FEW_ANSWERS, RaterCheck, check_raters
from trilens.tasks.reliability.cross import CrossPrediction, cross_predict
from trilens.tasks.reliability.disagreement import Disagreement, disagreements
from trilens.tasks.reliability.error_rate import (
    Rate,
    Repeats,
    blind_rate,
    repeats_of,
    wrong_rate,
)
from trilens.tasks.reliability.exclusions import Exclusion, exclusions_of
from trilens.tasks.reliability.forecast import Forecast, learning_curve
from trilens.tasks.reliability.groups import (
    GroupComparison,
    GroupsLike,
    compare_groups,
    group_of_each,
)
from trilens.tasks.reliability.halves import SplitHalf, split_half
from trilens.tasks.reliability.held_out import HeldOut, best_held_out, can_hold_out, looked_at
from trilens.tasks.reliability.marks import CatchLike, catch_questions, repeated_rows
from trilens.tasks.reliability.paragraph import methods_paragraph
from trilens.tasks.reliability.raters import Judgement, judge_raters
from trilens.tasks.reliability.reachable import reachable

#: Into how many parts raters are divided, time after time: each time those who seem blind count
#: less for the maps.
_FOLDS = (5, 5, 8)
#: As long as fewer raters than this share seem blind, the maps do not suffer.
_FEW_BLIND = 0.03


@dataclass(frozen=True)
class Reliability(Tabular):
    """The cautions, and the checks behind them.

    Attributes
    ----------
    kind : {"central", "odd", "closer"}
    collected : dict
        ``answers``, ``raters`` and ``objects`` that were given, and the answers ``used``: all
        figures rest on these. On the command line also the rows ``skipped`` when reading.
    cautions : tuple of Caution
    between, within : Agreement or None
        How often two raters give the same answer to the same question, and how often one rater
        does. Carelessness lowers both; raters who see different things lower the first.
    no_ceiling : str or None
        Why ``between`` is None.
    reachable : float or None
        The share of answers that the best model could predict, by ``between``; see
        `trilens.tasks.reliability.reachable`. With ``reachable_interval``.
    halves : SplitHalf or None
        How alike the depths by two halves of the answers are.
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
    questions, pairs : tuple of Disagreement
        What people disagree about most.
    exclusions : tuple of Exclusion
        What was left out and what could be, one by one, with the number left.
    catch : dict or None
        How many test questions were ``asked``, and answered ``right``.
    groups : GroupComparison or None
        Where groups were given.
    forecast : Forecast or None
        Where it was asked for and can be made.
    cross : CrossPrediction or None
        Where it was asked for and can be made.
    marks : (m,) array of str
        A mark for each answer, see `exclusions_of`.
    parts : (n,) array of int
        The part of each object: objects of different parts are never compared, not even by
        way of others. 0 is the largest part.
    """

    kind: Kind
    collected: dict[str, int]
    cautions: tuple[Caution, ...]
    chance: float
    parts: IntArray = field(repr=False)
    marks: AnyArray = field(repr=False)
    between: Agreement | None = None
    within: Agreement | None = None
    no_ceiling: str | None = None
    reachable: float | None = None
    reachable_interval: tuple[float, float] | None = None
    halves: SplitHalf | None = None
    unit: str | None = None
    raters: tuple[RaterCheck, ...] = ()
    guessing_share: float | None = None
    predicted: float | None = None
    error_rate: float | None = None
    error_rate_interval: tuple[float, float] | None = None
    wrong_answers: float | None = None
    wrong_answers_interval: tuple[float, float] | None = None
    repeats: Repeats | None = None
    questions: tuple[Disagreement, ...] = ()
    pairs: tuple[Disagreement, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    catch: dict[str, int] | None = None
    groups: GroupComparison | None = None
    forecast: Forecast | None = None
    cross: CrossPrediction | None = None

    @property
    def ceiling(self) -> float | None:
        """The noise ceiling: how often two raters agree; None where that is not known."""
        return None if self.between is None else self.between.share

    @property
    def ceiling_interval(self) -> tuple[float, float] | None:
        """Its 95 % interval."""
        return None if self.between is None else self.between.interval

    @property
    def split_half(self) -> float | None:
        """The split-half reliability of the depths (Spearman-Brown)."""
        return None if self.halves is None else self.halves.reliability

    @property
    def not_judged(self) -> tuple[str, ...]:
        """The raters who cannot be judged: too few answers, or nobody's can be predicted."""
        return tuple(check.rater for check in self.raters if not check.judged)

    @property
    def methods(self) -> str:
        """A paragraph for the Methods section of a paper."""
        return methods_paragraph(self._facts())

    def columns(self) -> dict[str, Sequence[Any]]:
        """A row for each rater."""
        facts = [asdict(check) for check in self.raters]
        return {key: [row[key] for row in facts] for key in (facts[0] if facts else ())}

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types, as ``trilens reliability --json`` prints them."""
        facts = self._facts()
        return {**facts, "methods": methods_paragraph(facts)}

    def _facts(self) -> dict[str, Any]:
        from trilens import __version__

        return {
            "kind": self.kind,
            "collected": self.collected,
            "ceiling": self.ceiling,
            "ceiling_interval": _listed(self.ceiling_interval),
            "no_ceiling": self.no_ceiling,
            "between": _dict(self.between),
            "within": _dict(self.within),
            "reachable": self.reachable,
            "reachable_interval": _listed(self.reachable_interval),
            "predicted": self.predicted,
            "chance": self.chance,
            "split_half": _dict(self.halves),
            "error_rate": self.error_rate,
            "error_rate_interval": _listed(self.error_rate_interval),
            "wrong_answers": self.wrong_answers,
            "wrong_answers_interval": _listed(self.wrong_answers_interval),
            "repeats": _dict(self.repeats),
            "rater_unit": self.unit,
            "guessing_share": self.guessing_share,
            "few_answers": FEW_ANSWERS,
            "not_judged": list(self.not_judged),
            "raters": [asdict(check) for check in self.raters],
            "catch": self.catch,
            "exclusions": [step.to_dict() for step in self.exclusions],
            "disagreement": {
                "questions": [found.to_dict() for found in self.questions],
                "pairs": [found.to_dict() for found in self.pairs],
            },
            "groups": _dict(self.groups),
            "forecast": _dict(self.forecast),
            "cross": _dict(self.cross),
            "cautions": [{**asdict(c), "names": list(c.names)} for c in self.cautions],
            "version": __version__,
        }


def reliability(
    statements: StatementsLike,
    *,
    by: GroupsLike | None = None,
    catch: CatchLike | None = None,
    repeated: Any = None,
    selection: Selection | None = None,
    forecast: bool = False,
    cross: bool = False,
    set_size: int = 3,
    map_accuracy: float = 0.95,
    model: AnswerModel | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Reliability:
    """How good the answers are: ceiling, reliability, raters, and what they can carry.

    Parameters
    ----------
    statements : Statements or (m, 3) array
        Of any kind. Raters are checked where they are known; else rounds, where these are.
        Places on the screen are looked at where they are known.
    by : dict from rater to group, or (m,) list, optional
        Groups of raters to compare; a list gives the group of each answer's rater.
    catch : Statements, or (m,) list, optional
        Test questions: the right answers as statements; or for each answer the name of the
        object that is right, empty for ordinary questions. They are counted apart.
    repeated : Statements, or (m,) array of bool, optional
        The questions, or the answers, that count for the ceiling; by default every question
        that was asked more than once.
    selection : Selection, optional
        Of `trilens.statements.selection.select`: the answers that are used.
    forecast, cross : bool
        Whether the learning curve is wanted, and each rater's prediction of each other's;
        both take seconds.
    set_size, map_accuracy
        The goals of the forecast: objects in the medoid set, and the correlation of the map's
        distances with the true ones.
    model : AnswerModel, optional
        Of the statements; fitted where it is missing.
    random_state : int
    progress : callable, optional
        Called with the share of the learning curve that is done.

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
    >>> found.ceiling, found.no_ceiling
    (None, 'no question was asked twice')
    """
    everything = as_statements(statements)
    random_state = seed_of(random_state)
    check_model(model, everything)
    check_progress(progress)
    for name, value in (("forecast", forecast), ("cross", cross)):
        if not isinstance(value, (bool, np.bool_)):
            raise ParameterError(f"{name} is {shown(value)}; it must be True or False")
    set_size = whole_number("set_size", set_size, least=1)
    map_accuracy = real_number("map_accuracy", map_accuracy, 0, 1)
    if selection is not None and not isinstance(selection, Selection):
        raise ParameterError(f"selection is {shown(selection)}; it must be a Selection, or None")
    if selection is not None and len(selection.kept) != len(everything):
        raise ParameterError(
            f"the selection is of {len(selection.kept):,} statements, but there are "
            f"{len(everything):,}; select from these"
        )
    tests = catch_questions(everything, catch)
    kept = np.ones(len(everything), dtype=bool) if selection is None else selection.kept
    used = kept & ~tests.asked
    if used.all():
        given, rows_used = everything, np.arange(len(everything))
    else:
        given, rows_used, model = everything.take(used), np.flatnonzero(used), None
    marked = repeated_rows(everything, repeated)
    unit, who = _who(given)
    base = _Base(everything, given, unit, who)
    groups = None if by is None else group_of_each(everything, _who(everything)[1], by)
    if len(given) == 0:
        return base.nothing()
    cautions = [
        *about_objects(given),
        *about_parts(given, base.parts),
        *about_copies(given),
    ]
    counted = None if marked is None else marked[used]
    between, within, no_ceiling = agreement_of(given, counted)
    repeats = repeats_of(between, given.kind)
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
        noise = about_noise(len(first.right), int(first.right.sum()), base.chance)
        cautions += noise
        if names is not None and rater is not None and inside is not None:
            last, judgement = _judged(part, inside, len(names), model.map, first, random_state)
            share = judgement.share
            hits = np.bincount(inside, first.right, len(names)).astype(np.float64)
            passed = _tests_by_rater(everything, kept & tests.asked, tests.right)
            # where no answer can be predicted, nobody can be told from a guesser
            checks = check_raters(
                given, names, rater, inside, hits, judgement, passed, can_tell=not noise
            )
            if not noise:
                error, wrong = blind_rate(last, given.kind), wrong_rate(last)
            cautions += about_raters(
                [check.rater for check in checks if check.guessing],
                [check.rater for check in checks if check.one_place],
                share,
                len(checks),
                unit or "rater",
                noise=bool(noise),
            )
        if not noise:
            cautions += about_errors(error)
    cautions += about_contradictions(repeats, base.chance)
    affordable = model if choose_method("embed", given) == "choice" else None
    best, best_ends = reachable_share(between, given, affordable)
    exclusions, marks = exclusions_of(
        everything, _who(everything)[1], unit or "rater", selection, tests, checks
    )
    asked = int((kept & tests.asked).sum())
    questions, pairs = ((), ()) if between is None else disagreements(given, who, counted)
    return Reliability(
        kind=given.kind,
        collected=base.collected,
        cautions=tuple(cautions),
        chance=base.chance,
        parts=base.parts,
        marks=marks,
        between=between,
        within=within,
        no_ceiling=no_ceiling,
        reachable=best,
        reachable_interval=best_ends,
        halves=split_half(given, unit, who, random_state),
        unit=unit if checks else None,
        raters=checks,
        guessing_share=share,
        predicted=predicted,
        error_rate=None if error is None else error.estimate,
        error_rate_interval=_ends(error),
        wrong_answers=None if wrong is None else wrong.estimate,
        wrong_answers_interval=_ends(wrong),
        repeats=repeats,
        questions=questions,
        pairs=pairs,
        exclusions=exclusions,
        catch={"asked": asked, "right": int((kept & tests.right).sum())} if asked else None,
        groups=None
        if groups is None or who is None
        else compare_groups(given, who, [groups[i] for i in rows_used], affordable, random_state),
        forecast=learning_curve(
            given,
            affordable,
            random_state,
            progress,
            set_goal=set_size,
            map_goal=map_accuracy,
        )
        if forecast and affordable is not None
        else None,
        cross=cross_predict(given, who, affordable)
        if cross and affordable is not None and who is not None
        else None,
    )


@dataclass(frozen=True, eq=False)
class _Base:
    """What is known before anything is estimated."""

    everything: Statements
    given: Statements
    unit: str | None
    who: AnyArray | None

    @property
    def chance(self) -> float:
        return 0.5 if self.given.kind == "closer" else 1 / 3

    @property
    def parts(self) -> IntArray:
        return connected_parts(self.given)

    @property
    def collected(self) -> dict[str, int]:
        raters = self.everything.raters
        who = raters if raters is not None else self.everything.rounds
        return {
            "answers": len(self.everything),
            "used": len(self.given),
            "raters": 0 if who is None else len(set(who.tolist()) - {""}),
            "objects": self.everything.n_objects,
        }

    def nothing(self) -> Reliability:
        caution = Caution(
            "no-statements",
            "There are no statements.",
            "Nothing can be concluded.",
            "Check the file, or collect answers.",
        )
        return Reliability(
            kind=self.given.kind,
            collected=self.collected,
            cautions=(caution,),
            chance=self.chance,
            parts=self.parts,
            marks=np.full(len(self.everything), "", dtype="U13"),
            no_ceiling="there are no answers",
        )


def agreement_of(
    statements: Statements, counted: BoolArray | None = None
) -> tuple[Agreement | None, Agreement | None, str | None]:
    """How often two raters agree, and one with themselves; and why the first is not known."""
    unit, who = _who(statements)
    only_one = unit is None and statements.raters is not None
    between = None if only_one else agreement_between(statements, who, counted)
    within = agreement_within(statements, who if who is not None else statements.raters, counted)
    if between is not None:
        return between, within, None
    if only_one:
        return None, within, "one rater only gave answers, and a ceiling is how two of them agree"
    if within is not None:
        return None, within, "no question was answered by two raters"
    return None, None, "no question was asked twice"


def reachable_share(
    between: Agreement | None, statements: Statements, model: AnswerModel | None
) -> tuple[float | None, tuple[float, float] | None]:
    """What the best model could predict, with its interval; None where raters' agreement is."""
    if between is None:
        return None, None
    chances = question_chances(statements, model)
    best, low, high = (
        reachable(share, statements.kind, chances)
        for share in (between.share, between.low, between.high)
    )
    return best, (low, high)


def question_chances(statements: Statements, model: AnswerModel | None) -> FloatArray | None:
    """The probability of each answer to each different question, by the model."""
    if model is None:
        return None
    first = np.unique(question_keys(statements)[0], return_index=True)[1]
    return model.map.predict_proba(statements.take(first))


def _tests_by_rater(
    statements: Statements, asked: AnyArray, right: AnyArray
) -> dict[str, tuple[int, int]]:
    who = _who(statements)[1]
    if who is None or not asked.any():
        return {}
    found: dict[str, tuple[int, int]] = {}
    for rater, good in zip(who[asked].tolist(), right[asked].tolist(), strict=True):
        count, passed = found.get(str(rater), (0, 0))
        found[str(rater)] = count + 1, passed + int(good)
    return found


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


def _dict(found: Any) -> Any:
    return None if found is None else found.to_dict()
