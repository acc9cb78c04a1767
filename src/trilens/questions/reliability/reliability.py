"""How reliable the answers are, what they cannot support, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from trilens import words
from trilens._parameters import seed_of
from trilens._tabular import Tabular, facts, plain
from trilens._typing import AnyArray, BoolArray, IntArray, RandomState
from trilens.agreement import (
    Agreement,
    Disagreement,
    Rate,
    Repeats,
    SplitHalf,
    agreement_of,
    disagreements,
    raters_of,
    reachable_share,
    repeats_of,
    split_half,
)
from trilens.answers import Answers
from trilens.ask import Data, is_enough, statements_of, with_fit
from trilens.kinds import chance
from trilens.maps.fitted import Fit, fit
from trilens.maps.kind import doubt_kind
from trilens.maps.likelihood import in_own_order
from trilens.questions.compare_groups import By, ComparedGroups, compare_groups, groups_given
from trilens.questions.reliability.cautions import (
    OF_RATERS,
    Caution,
    about_amounts,
    about_appearances,
    about_contradictions,
    about_design,
    about_errors,
    about_kind,
    about_noise,
    about_parts,
    about_raters,
    about_reading,
    about_views,
)
from trilens.questions.reliability.exclusions import (
    CatchLike,
    Exclusion,
    catch_questions,
    exclusions_of,
    repeated_rows,
)
from trilens.questions.reliability.raters import (
    FEW_ANSWERS,
    FOLDS,
    RaterCheck,
    Verdict,
    as_each_sees,
    can_hold_out,
    check_raters,
    error_rate_of,
    hold_out,
    judged,
    looked_at,
    verdicts_of,
    wrong_rate_of,
)
from trilens.statements import Kind, Statements
from trilens.statements.batch import Checks
from trilens.statements.reading import Reading
from trilens.statements.selection import Selection
from trilens.statements.table import own_questions
from trilens.study_design import design


@dataclass(frozen=True)
class Reliability(Tabular):
    """The cautions, and the checks behind them.

    Attributes
    ----------
    kind : {"central", "odd", "closer"}
    collected : dict
        ``answers``, ``raters`` and ``objects`` that were given, and the answers ``used``: all
        figures rest on these. Of files also the rows ``skipped`` when reading, and the
        ``checks``: catch questions that show an object twice, which are no answers.
    cautions : tuple of Caution
    between, within : Agreement or None
        How often two raters give the same answer to the same question, and how often one rater
        does. Carelessness lowers both; raters who see different things lower the first.
    no_ceiling : str or None
        Why ``between`` is None.
    reachable : float or None
        The share of answers that the best model could predict, by ``between``; see
        `trilens.agreement.reachable`. With ``reachable_interval``; None where that would say
        nothing.
    halves : SplitHalf or None
        How well the depths from two halves of the answers agree.
    unit : {"rater", "round"} or None
        Whether ``raters`` are raters or rounds; None where neither is known.
    raters : tuple of RaterCheck
    guessing_share : float or None
        The share of raters who seem careless, including those who cannot be named; None where
        the answers cannot be distinguished from guessing.
    predicted : float or None
        The share of all answers that a map of other answers predicts.
    chance : float
        The share that guesses would reach.
    error_rate : float or None
        The error rate on clear questions: guesses, as far as they are wrong, and slips.
        ``error_rate_interval`` is its 95 % interval.
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
        How many test questions were ``asked``, and answered ``right``; also catch questions that
        show an object twice.
    groups : ComparedGroups or None
        Where groups were given: `trilens.compare_groups`.
    marks : (m,) array of str
        A mark for each answer, see `exclusions_of`.
    parts : (n,) array of int
        The part of each object: objects of different parts are never compared, not even
        through others. 0 is the largest part.
    conditions : tuple of str
        Of files too large to hold, what the answers that were counted meet; how many did not
        is not known.
    aside : str
        Of a survey's export, the answers that are no part of the findings: to test questions,
        and to those asked twice.
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
    groups: ComparedGroups | None = None
    conditions: tuple[str, ...] = ()
    aside: str = ""

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
    def is_noise(self) -> bool:
        """Whether the answers as a whole cannot be distinguished from guessing."""
        return any(caution.code == "noise" for caution in self.cautions)

    @property
    def not_judged(self) -> tuple[str, ...]:
        """The raters who cannot be judged: too few answers, or no answers can be predicted."""
        return tuple(check.rater for check in self.raters if not check.judged)

    @property
    def methods(self) -> str:
        """A paragraph for the Methods section of a paper; what is not known is not in it."""
        return " ".join(words.methods(self))

    def _headline(self) -> str:
        return words.reliability(self)

    def columns(self) -> dict[str, Sequence[Any]]:
        """A row for each rater."""
        facts = [check.to_dict() for check in self.raters]
        return {key: [row[key] for row in facts] for key in (facts[0] if facts else ())}

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types, as ``trilens reliability --json`` prints them."""
        from trilens import __version__

        return {
            **facts(self, "kind", "collected", "ceiling", "ceiling_interval", "no_ceiling"),
            **facts(self, "between", "within", "reachable", "reachable_interval", "predicted"),
            "chance": self.chance,
            "split_half": plain(self.halves),
            **facts(self, "error_rate", "error_rate_interval"),
            **facts(self, "wrong_answers", "wrong_answers_interval", "repeats"),
            "rater_unit": self.unit,
            "guessing_share": self.guessing_share,
            "few_answers": FEW_ANSWERS,
            **facts(self, "not_judged", "raters", "catch", "exclusions", "conditions", "aside"),
            "disagreement": facts(self, "questions", "pairs"),
            **facts(self, "groups", "cautions"),
            "version": __version__,
            "methods": self.methods,
        }


def reliability(
    answers: Data,
    *,
    by: By | None = None,
    catch: CatchLike | None = None,
    repeated: Any = None,
    random_state: RandomState = 0,
) -> Reliability:
    """How good the answers are: ceiling, reliability, raters, and what they can support.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table or (m, 3) array
        Of any kind. Raters are checked where they are known; otherwise rounds, where these are.
        Places on the screen are checked where they are known. Of files too large to hold, raters
        are checked but not named, and the parameters below do not apply.
    by : str, dict from rater to group, or (m,) list, optional
        Groups of raters to compare, as in `trilens.compare_groups`.
    catch : Statements, or (m,) list, optional
        Test questions: the correct answers as statements; or for each answer the name of the
        correct object, empty for ordinary questions. They are counted separately.
    repeated : Statements, or (m,) array of bool, optional
        The questions, or the answers, that count for the ceiling; by default every question
        that was asked more than once.

    Notes
    -----
    Raters are divided into five groups or eight (with very many answers, two); a choice map of
    the other groups' answers says how likely the answers of each are. A rater is called careless
    when guesses are so much likelier than the answers of a careful rater that at most 1 in 200
    careful ones would look like it; see `trilens.questions.reliability.raters`. Where raters seem
    careless, the maps are made again with these counting less. A rater answers in one place
    when that place has at least 60 % of the answers, which guessing would hardly ever do (level
    0.001 over all raters). Of very many answers a random part is used.

    How many more answers would be needed: `trilens.plan` with these as the pilot, and
    `trilens.stopping`.

    Examples
    --------
    >>> found = reliability(Statements([[0, 1, 2], [3, 4, 5]], kind="central"))
    >>> [caution.code for caution in found.cautions]
    ['rare', 'apart']
    >>> found.ceiling, found.no_ceiling
    (None, 'no question was asked twice')
    """
    seed = seed_of(random_state)
    given, fitted = with_fit(answers)
    reading = own = once = selection = None
    if isinstance(given, Answers) and not given.in_counts:
        asked_for = any(each is not None for each in (by, catch, repeated))
        if not given.held and not asked_for:
            return _of_passes(given, fit(given, random_state=seed) if fitted is None else fitted)
        doubt_kind(given, header=True)
        reading, every = given.reading, given.with_repeats
        if every is not given:
            # questions that were repeated tell how well raters agree with themselves
            once, given, fitted = given.read(), every, None
        if given.selects:
            own, selection = given.read(), given.selection
            given = given.everything
    everything = statements_of(given, "reliability")
    labels = None if by is None else groups_given(given, by).labels
    return _checked(
        everything,
        fitted,
        seed,
        tests=catch_questions(everything, catch),
        counting=repeated_rows(everything, repeated),
        labels=labels,
        selection=selection,
        own=own,
        reading=reading,
        once=once,
    )


def _checked(
    everything: Statements,
    fitted: Fit | None,
    seed: int,
    *,
    tests: IntArray,
    counting: BoolArray | None = None,
    labels: list[str | None] | None = None,
    selection: Selection | None = None,
    own: Statements | None = None,
    reading: Reading | None = None,
    once: Statements | None = None,
) -> Reliability:
    """The checks of answers in memory.

    Of all answers are ``tests`` (those to test questions), ``counting`` (those that count for the
    ceiling), ``labels`` (their groups) and the selection; ``own`` are the selected ones, of which
    the fit is. ``once`` has those without questions that a survey repeated on purpose.
    """
    kept = np.ones(len(everything), dtype=bool) if selection is None else selection.kept
    rows = kept & (tests < 0)
    given = everything if rows.all() else everything.take(rows)
    if own is not None and (tests < 0).all():
        given = own
    elif given is not everything:
        fitted = None  # it is of other answers
    told = about_kind(reading)
    unit, who = raters_of(given)
    checks = None if reading is None else reading.checks
    if checks is not None and everything.raters is not None:
        left = set(everything.raters[kept].tolist())
        checks = checks.without(set(everything.raters.tolist()) - left)
    collected, parts = _collected(everything, given, reading), given.connected_parts
    if len(given) == 0:
        return Reliability(
            kind=given.kind,
            collected=collected,
            cautions=(*told, Caution("no-statements")),
            chance=chance(given.kind),
            parts=parts,
            marks=np.full(len(everything), "", dtype="U13"),
            no_ceiling=words.NO_CEILING["no answers"],
        )
    groups = None
    if labels is not None:
        theirs = [label for label, use in zip(labels, rows.tolist(), strict=True) if use]
        groups = compare_groups(given if fitted is None else fitted, theirs, random_state=seed)
    counting = None if counting is None else counting[rows]
    between, within, no_ceiling = agreement_of(given, counting)
    repeats = repeats_of(between, given.kind)
    asked = _all_tests(everything, np.where(kept, tests, -1), checks)
    n_asked = int((asked.right >= 0).sum())
    ordered = in_own_order(given)[0]
    fitted, predicted, fields = _held_out(ordered, asked.by_rater(), fitted, seed)
    chances_of = fitted.probabilities if fitted is not None and is_enough(given) else None
    best, best_ends = reachable_share(between, ordered, chances_of)
    raters, unit_name = fields.get("raters", ()), unit or "rater"
    whose = raters_of(everything)[1]
    exclusions, marks = exclusions_of(everything, whose, unit_name, selection, tests, raters)
    questions: tuple[Disagreement, ...] = ()
    pairs: tuple[Disagreement, ...] = ()
    if between is not None:
        counted = ordered if counting is None else in_own_order(given.take(counting))[0]
        questions, pairs = disagreements(counted, raters_of(counted)[1])
    return Reliability(
        kind=given.kind,
        collected=collected,
        cautions=(
            *told,
            *about_reading(reading, given),
            *about_appearances(given.names, given.appearances),
            *about_parts(given, parts),
            *about_amounts(who, unit_name),
            *about_design(design(given if once is None else once)),
            *predicted,
            *about_views(between, within, raters, unit_name),
            *about_contradictions(repeats, chance(given.kind)),
        ),
        chance=chance(given.kind),
        parts=parts,
        marks=marks,
        between=between,
        within=within,
        no_ceiling=None if no_ceiling is None else words.NO_CEILING[no_ceiling],
        reachable=best,
        reachable_interval=best_ends,
        halves=split_half(ordered, unit, raters_of(ordered)[1], seed),
        repeats=repeats,
        questions=questions,
        pairs=pairs,
        exclusions=exclusions,
        catch={"asked": n_asked, "right": int((asked.right == 1).sum())} if n_asked else None,
        aside="" if reading is None else own_questions(reading.set_aside),
        groups=groups,
        **fields,
    )


def _collected(
    everything: Statements, given: Statements, reading: Reading | None
) -> dict[str, int]:
    who = everything.raters if everything.raters is not None else everything.rounds
    found = {
        "answers": len(everything),
        "used": len(given),
        "raters": 0 if who is None else len(set(who.tolist()) - {""}),
        "objects": everything.n_objects,
    }
    if reading is not None and reading.faults:
        found["skipped"] = len(reading.faults)
    if reading is not None and reading.checks is not None:
        found["checks"] = len(reading.checks)
    return found


def _all_tests(everything: Statements, tests: IntArray, checks: Checks | None) -> Checks:
    """The test questions: those that were given, and those that show an object twice."""
    given = Checks(tests, raters_of(everything)[1])
    parts = [given] if checks is None else [given, checks]
    raters = [np.full(len(x), "") if x.raters is None else x.raters.astype(str) for x in parts]
    return Checks(np.concatenate([x.right for x in parts]), np.concatenate(raters))


def _held_out(
    given: Statements, tests: dict[str, tuple[int, int]], fitted: Fit | None, seed: int
) -> tuple[Fit | None, list[Caution], dict[str, Any]]:
    """What predicting some answers from the others says; nothing where they are too few.

    The answers are in an order of their own, and so is the fit that is returned. Then come the
    cautions, and fields of `Reliability`.
    """
    fitted = None if fitted is None else fitted.canonical[0]
    if not can_hold_out(given):
        return fitted, [], {}
    unit, who = raters_of(given)
    rows = looked_at(given, seed)
    part = given if len(rows) == len(given) else given.take(rows)
    if fitted is None:
        fitted = fit(part, random_state=seed).canonical[0]
    names, rater = (None, None) if who is None else np.unique(who, return_inverse=True)
    inside = None if rater is None else rater[rows].astype(np.int64)
    first = hold_out(part, inside, fitted, seed, folds=FOLDS[0])
    noise = about_noise(fitted, len(first.right), int(first.right.sum()))
    last, share, cautions = first, None, list(noise)
    checks: tuple[RaterCheck, ...] = ()
    careless = own = None
    if names is not None and rater is not None and inside is not None:
        judging, judgement = judged(part, inside, len(names), fitted, first, seed)
        last = first if noise else judging
        predicted = np.bincount(inside, first.right, len(names)).astype(np.float64)
        # where no answer can be predicted, nobody can be told from a careless rater
        verdicts: list[Verdict] = ["not judged"] * len(names)
        if not noise:
            verdicts = verdicts_of(part, inside, len(names), judgement, seed)
        if str(names[0]) == "":
            verdicts[0] = "not judged"  # several people, perhaps
        checks = check_raters(
            given, names, rater, inside, predicted, None if noise else judgement, verdicts, tests
        )
        others = sum(v in words.OTHER_VIEWS for v in verdicts)
        share = None if noise else max(judgement.share - others / len(names), 0.0)
        cautions += about_raters(checks, share, unit or "rater")
        rows = np.flatnonzero([verdicts[r] not in words.OTHER_VIEWS for r in inside])
        if len(rows):
            # what those of another view get wrong, the map of the others does not know
            last, inside = last.take(rows), inside[rows]
            part = part.take(rows)
        careless = np.array([verdicts[r] == "careless" for r in inside])
        own = None if noise else as_each_sees(part, inside, careless, fitted)
    error = error_rate_of(last, given.kind, inside, careless, own)
    if not noise:
        cautions += about_errors(error)
    fields = {
        "predicted": float(first.right.mean()),
        **_rate("error_rate", error),
        **_rate("wrong_answers", wrong_rate_of(last)),
        "raters": checks,
        "unit": unit if checks else None,
        "guessing_share": share,
    }
    return fitted, cautions, fields


def _of_passes(answers: Answers, fitted: Fit) -> Reliability:
    """What is known of files that are too large to hold, by the answers that the fit looked at.

    Raters have numbers there, not their names.
    """
    inner, rank = fitted.canonical
    S = inner.sample
    found = _checked(S, inner, fitted.seed, tests=catch_questions(S, None))
    collected = {**found.collected, "answers": fitted.n_answers, "used": fitted.n_answers}
    if inner.passes is not None and inner.passes.counts.n_skipped:
        collected["skipped"] = inner.passes.counts.n_skipped
    told = [Caution("kind", {"kind": S.kind})] if answers.kind_assumed else []
    told.append(Caution("counted", {"answers": fitted.n_answers, "looked_at": len(S)}))
    told += about_appearances(fitted.names, fitted.asked)
    for caution in found.cautions:
        if caution.code in OF_RATERS:
            told.append(replace(caution, names=()))
        elif caution.code not in {each.code for each in told}:
            told.append(caution)
    return replace(
        found,
        collected=collected,
        cautions=tuple(told),
        parts=found.parts[rank],
        marks=np.zeros(0, dtype="U13"),
        raters=(),
        exclusions=(),
        conditions=tuple(map(str, answers.where)),
    )


def _rate(name: str, rate: Rate) -> dict[str, Any]:
    """A share and its interval, as fields of the result."""
    return {name: rate.estimate, f"{name}_interval": (rate.low, rate.high)}
