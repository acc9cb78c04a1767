"""Which answers count: test questions, repeated questions, and exclusions one by one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from trilens import words
from trilens._parameters import shown, wrong
from trilens._tabular import AsDict
from trilens._typing import AnyArray, BoolArray, IntArray
from trilens.ask import in_ids_of
from trilens.calibration import CATCH_TRIALS_PASSED
from trilens.errors import ParameterError, parameter_name
from trilens.kinds import answer_column
from trilens.questions.reliability.raters import RaterCheck
from trilens.statements import Statements
from trilens.statements.columns import as_array, as_list, is_missing
from trilens.statements.combine import question_keys
from trilens.statements.selection import Selection, Step, step_of

#: Correct answers as statements, or the correct answer to each row, None or empty for ordinary
#: questions.
CatchLike: TypeAlias = Statements | Iterable[Any]
#: Texts in a column that mean no.
_NO = ("", "0", "0.0", "no", "false", "none", "nan", "n", "f")


def catch_questions(statements: Statements, catch: CatchLike | None) -> IntArray:
    """Find the answers to test questions: 1 for a correct one, 0 for a wrong one, else -1.

    >>> S = Statements(
    ...     [[0, 1, 2], [1, 0, 2], [3, 0, 1]], names=["a", "b", "c", "d"], kind="central"
    ... )
    >>> right = Statements([[1, 2, 0]], names=["a", "b", "c"], kind="central")
    >>> catch_questions(S, right).tolist(), catch_questions(S, ["b", "", None]).tolist()
    ([0, 1, -1], [0, -1, -1])
    """
    m = len(statements)
    found = np.full(m, -1)
    if catch is None:
        return found
    given = statements.triples[:, answer_column(statements.kind)]
    if isinstance(catch, Statements):
        key, answer, _ = question_keys(statements)
        test_key, test_answer, _ = question_keys(in_ids_of(statements, catch, "catch"))
        right_of = dict(zip(test_key.tolist(), test_answer.tolist(), strict=True))
        asked = np.isin(key, test_key)
        if not asked.any():
            raise ParameterError(
                f"none of the {len(catch):,} test questions was asked; "
                f"do they belong to other statements?",
                parameter="catch",
            )
        wanted = np.array([right_of.get(k, -1) for k in key.tolist()])
        return np.where(asked, wanted == answer, found)
    listed = as_list(catch, "catch")
    if len(listed) != m:
        raise ParameterError(
            f"{parameter_name('catch')} has {len(listed):,} values for {m:,} statements; give the "
            f"correct answer to each (empty for ordinary questions), or those as Statements",
            parameter="catch",
        )
    names = statements.names
    for row, value in enumerate(listed):
        name = "" if is_missing(value) else str(value).strip()
        if name == "":
            continue
        shown_there = [names[i] for i in statements.triples[row]]
        if name not in shown_there:
            raise ParameterError(
                f"{parameter_name('catch')}: the correct answer to statement {row} is given as "
                f"{shown(name)}, but it shows {', '.join(shown_there)}; name one of these, or "
                f"leave it empty",
                parameter="catch",
            )
        found[row] = names[given[row]] == name
    return found


def repeated_rows(statements: Statements, repeated: Any) -> BoolArray | None:
    """The answers that count for the agreement; None for all.

    ``repeated`` are the questions that were repeated on purpose, whatever their answer is; or it
    marks the answers to them.
    """
    if repeated is None:
        return None
    if isinstance(repeated, Statements):
        wanted = question_keys(in_ids_of(statements, repeated, "repeated"))[0]
        return np.isin(question_keys(statements)[0], wanted)
    mask = as_array(repeated, "repeated")
    if mask.shape != (len(statements),) or mask.dtype.kind != "b":
        allowed = f"Statements, or True or False for each of the {len(statements):,} statements"
        raise wrong("repeated", repeated, allowed)
    return mask


def is_marked(values: AnyArray) -> BoolArray:
    """Which texts of a column mean yes: all but empty ones, 0, no and false.

    >>> is_marked(np.array(["1", "", "no", "x"])).tolist()
    [True, False, False, True]
    """
    return np.array([str(value).strip().casefold() not in _NO for value in values.tolist()], bool)


@dataclass(frozen=True)
class Exclusion(AsDict):
    """One rule, and what is left after it and those before it."""

    rule: str
    #: Whether these answers were left out of the figures. Otherwise the rule is advice: the
    #: answers are marked, and used.
    done: bool
    #: The raters it is about; empty for a rule about single answers.
    names: tuple[str, ...]
    #: How many it concerns beyond the rules before it.
    answers: int
    raters: int
    left: int
    raters_left: int


def exclusions_of(
    statements: Statements,
    who: AnyArray | None,
    unit: str,
    selection: Selection | None,
    catch: IntArray,
    checks: tuple[RaterCheck, ...],
) -> tuple[tuple[Exclusion, ...], AnyArray]:
    """The rules in their order, and a mark for each answer.

    The mark is ``""``, ``"left-out"``, ``"test-question"``, ``"failed-tests"``, ``"one-place"``,
    ``"guessing"`` or ``"inverted"``: the first rule that applies. Answers with the second and the
    third are not used in any figure.
    """
    m = len(statements)
    marks = np.full(m, "", dtype="U13")
    found: list[Exclusion] = []
    kept: BoolArray = np.ones(m, dtype=bool)

    def rule(mark: str, hit: BoolArray, done: bool, names: tuple[str, ...] = ()) -> None:
        nonlocal kept
        step = step_of(statements, words.exclusion_rule(mark, unit), kept, ~hit)
        marks[hit & (marks == "")] = mark
        kept = kept & ~hit
        found.append(_exclusion(step, done, names))

    if selection is not None:
        found += [_exclusion(step, True) for step in selection.steps]
        marks[~selection.kept] = "left-out"
        kept = selection.kept.copy()
    if (catch >= 0).any():
        rule("test-question", catch >= 0, True)
    if who is None:
        return tuple(found), marks
    text_of = np.array([str(name) for name in who.tolist()])
    flagged = {
        "failed-tests": [c for c in checks if c.catch_right < CATCH_TRIALS_PASSED * c.catch_asked],
        "one-place": [c for c in checks if c.one_place],
        "guessing": [c for c in checks if c.guessing],
        "inverted": [c for c in checks if c.verdict == "inverted"],
    }
    for mark, those in flagged.items():
        if those:
            names = tuple(check.rater for check in those)
            rule(mark, np.isin(text_of, names), False, names)
    return tuple(found), marks


def _exclusion(step: Step, done: bool, names: tuple[str, ...] = ()) -> Exclusion:
    return Exclusion(step.rule, done, names, step.answers, step.raters, step.left, step.raters_left)
