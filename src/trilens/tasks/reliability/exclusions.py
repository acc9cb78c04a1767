"""Exclusions one by one: what was left out, and what could be, with the number left."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from trilens._typing import AnyArray, BoolArray
from trilens.statements import Statements
from trilens.statements.selection import Selection, step_of
from trilens.tasks.reliability.checks import RaterCheck
from trilens.tasks.reliability.marks import Catch

#: A rater who answers fewer of the test questions rightly than this share has failed them.
PASSED = 0.5


@dataclass(frozen=True)
class Exclusion:
    """One rule, and what is left after it and those before it.

    Attributes
    ----------
    rule : str
    done : bool
        Whether the figures rest on the answers without these. Else it is advice: the answers
        are marked and used.
    names : tuple of str
        The raters it is about; empty for a rule about single answers.
    answers, raters : int
        How many it concerns beyond the rules before it.
    left, raters_left : int
    """

    rule: str
    done: bool
    names: tuple[str, ...]
    answers: int
    raters: int
    left: int
    raters_left: int

    def to_dict(self) -> dict[str, Any]:
        """The facts in plain types."""
        return {**asdict(self), "names": list(self.names)}


def exclusions_of(
    statements: Statements,
    who: AnyArray | None,
    unit: str,
    selection: Selection | None,
    catch: Catch,
    checks: tuple[RaterCheck, ...],
) -> tuple[tuple[Exclusion, ...], AnyArray]:
    """The rules in their order, and a mark for each answer.

    Returns
    -------
    exclusions : tuple of Exclusion
    marks : (m,) array of str
        ``""``, ``"left-out"``, ``"test-question"``, ``"failed-tests"``, ``"one-place"`` or
        ``"guessing"``: the first rule that applies. The first two are not used in any figure.
    """
    m = len(statements)
    marks = np.full(m, "", dtype="U13")
    found: list[Exclusion] = []
    kept: BoolArray = np.ones(m, dtype=bool)

    def rule(text: str, mark: str, hit: BoolArray, done: bool, names: tuple[str, ...] = ()) -> None:
        nonlocal kept
        step = step_of(statements, text, kept, ~hit)
        marks[hit & (marks == "")] = mark
        kept = kept & ~hit
        found.append(
            Exclusion(text, done, names, step.answers, step.raters, step.left, step.raters_left)
        )

    if selection is not None:
        found += [
            Exclusion(s.rule, True, (), s.answers, s.raters, s.left, s.raters_left)
            for s in selection.steps
        ]
        marks[~selection.kept] = "left-out"
        kept = selection.kept.copy()
    if catch.asked.any():
        rule("answers to test questions", "test-question", catch.asked, True)
    if who is None:
        return tuple(found), marks
    text_of = np.array([str(name) for name in who.tolist()])
    failed = {
        c.rater: True for c in checks if c.catch_asked and c.catch_right < PASSED * c.catch_asked
    }
    for text, mark, names in (
        (f"{unit}s with failed test questions", "failed-tests", tuple(failed)),
        (
            f"{unit}s with most answers in one place",
            "one-place",
            tuple(c.rater for c in checks if c.one_place),
        ),
        (
            f"{unit}s with answers like guesses",
            "guessing",
            tuple(c.rater for c in checks if c.guessing),
        ),
    ):
        if names:
            rule(text, mark, np.isin(text_of, names), False, names)
    return tuple(found), marks
