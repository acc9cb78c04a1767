"""What a study is to find out: how its questions are chosen, and when it has enough answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import trilens as tl
from trilens.errors import ParameterError, TrilensError
from trilens_survey.settings import Kind, StudySettings

#: The limits that each rule looks at.
LIMITS: dict[str, tuple[str, ...]] = {
    "medoid": ("at_most", "level"),
    "map": ("gain", "level"),
    "groups": (),
}


@dataclass(frozen=True)
class Goal:
    """What a study is to find out."""

    #: what chosen questions are to tell: see `trilens.next_questions`; None where all are random
    adaptive: str | None
    #: the share of the questions that is drawn at random all the same
    random_share: float
    #: the rule that is looked at: see `trilens.stopping`; None for none
    rule: str | None
    #: what the rule is compared with, as far as the study says it
    limits: dict[str, float]
    #: whether the study is closed when the rule is met, or the dashboard says so. With neither,
    #: the rule only tells how far the goal is
    closes: bool
    warns: bool
    #: the answers at the rule's first look
    first_look: int

    @property
    def stop_terms(self) -> dict[str, Any]:
        """All that the study says about its rule."""
        return {"rule": self.rule, "limits": self.limits, "closes": self.closes}

    @property
    def terms(self) -> dict[str, Any]:
        """All that a model is made for: what was found under other terms does not hold."""
        stops = self.closes or self.warns
        return {"goal": self.adaptive, "stop": self.stop_terms if stops else None}


class Unfit(Exception):
    """A goal that the study cannot have: why, and the key that is wrong."""

    def __init__(self, why: str, *path: str) -> None:
        self.path = path
        super().__init__(why)


def read_goal(
    settings: StudySettings, kind: Kind, names: tuple[str, ...], plain: bool
) -> Goal | None:
    """The goal of a study; None where it has none.

    A ``plain`` study shows three objects, and has neither blocks nor conditions.
    """
    stop = settings.stop
    if settings.questions == "random" and stop is None:
        return None
    none = tl.Statements([], names=list(names), kind=kind)
    adaptive = _adaptive(settings, none, plain)
    limits: dict[str, float] = {}
    rule = adaptive if adaptive in LIMITS else None
    if stop is not None:
        rule, limits = stop.rule, _limits(settings, len(names))
    first_look = 0
    if rule is not None:
        try:
            # the library knows what its rules take
            found = tl.stopping(none, rule, **limits)  # type: ignore[arg-type]
        except TrilensError as error:
            raise Unfit(f"stop: {_in_words(error)}", "stop") from error
        first_look = found.next_look or 0
    return Goal(
        adaptive=adaptive,
        random_share=0.2 if settings.random_share is None else settings.random_share,
        rule=rule,
        limits=limits,
        closes=stop is not None and stop.then == "close",
        warns=stop is not None and stop.then == "warn",
        first_look=first_look,
    )


def _adaptive(settings: StudySettings, none: tl.Statements, plain: bool) -> str | None:
    """What questions are chosen for; None where they are random."""
    if settings.questions == "random":
        return None
    if not plain:
        raise Unfit(
            "adaptive questions show three objects, in a study without blocks and conditions; "
            "take out the grid, the blocks and the conditions, or write questions: random",
            "questions",
        )
    goal = settings.goal or "medoid"
    try:
        tl.next_questions(none, goal, 1)  # type: ignore[arg-type]
    except TrilensError as error:
        raise Unfit(_in_words(error), "goal") from error
    return goal


def _limits(settings: StudySettings, n: int) -> dict[str, float]:
    """What the rule is compared with."""
    stop = settings.stop
    assert stop is not None
    if settings.blocks or settings.conditions:
        raise Unfit("a stopping rule needs a study without blocks and conditions", "stop")
    given = {"at_most": stop.at_most, "gain": stop.gain, "level": stop.level}
    limits = {key: value for key, value in given.items() if value is not None}
    for key in limits:
        if key not in LIMITS[stop.rule]:
            used = " and ".join(LIMITS[stop.rule]) or "neither a limit nor a level"
            text = f"stop: rule {stop.rule} does not use {key}; it uses {used}"
            raise Unfit(text, "stop", key)
    if stop.at_most is not None and stop.at_most >= n:
        text = f"stop: at_most is {stop.at_most:,} of {n:,} objects: no answer is needed for that"
        raise Unfit(f"{text}; write {n - 1:,} or less", "stop", "at_most")
    return limits


def _in_words(error: TrilensError) -> str:
    """An error of the library, in the words of a study's file."""
    if not isinstance(error, ParameterError):
        return str(error)

    def plain(reference: Any) -> str:
        return f"{reference.name}: {reference.value}" if reference.value else str(reference.name)

    return str(error.said(plain))
