"""What a study is to find out: how its questions are chosen, and when it has enough answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trilens._parameters import is_whole
from trilens.errors import ParameterError, TrilensError
from trilens.statements import Statements
from trilens_survey.reading import Reading

if TYPE_CHECKING:
    from trilens.tasks.stopping import Stopping
    from trilens_survey.blocks import Block

_RULE = ("rule", "at_most", "gain", "price", "budget", "level", "then")
_THEN = ("close", "warn")
#: The keys that each rule looks at.
_USED = {
    "medoid": ("at_most", "level"),
    "map": ("gain", "level"),
    "groups": (),
    "price": ("price", "budget"),
}


@dataclass(frozen=True)
class Adaptive:
    """Questions are chosen by what is not known yet: see `trilens.next_questions`.

    Attributes
    ----------
    goal
        What the answers are to tell.
    random_share
        The share of the questions that is drawn at random all the same.
    """

    goal: str
    random_share: float


@dataclass(frozen=True)
class Stop:
    """When the study has enough answers: see `trilens.stopping`.

    Attributes
    ----------
    rule
    limits
        What the rule is compared with, as far as the study says it.
    closes
        Whether the study is closed then; else the dashboard says so.
    """

    rule: str
    limits: dict[str, float]
    closes: bool

    @property
    def terms(self) -> dict[str, Any]:
        """All that the study says about it: what was found under other terms does not hold."""
        return {"rule": self.rule, "limits": self.limits, "closes": self.closes}

    @property
    def by_price(self) -> bool:
        """Whether answers are only counted: no model is needed."""
        return self.rule == "price"

    def cost(self, answers: int) -> Stopping:
        """What so many answers cost, where the rule is ``price``."""
        from trilens.tasks.stopping import by_price

        return by_price(answers, self.limits["price"], self.limits["budget"])


def read_adaptive(reading: Reading, blocks: list[Block]) -> Adaptive | None:
    """How ``questions: adaptive`` is to be understood; None where questions are random."""
    how = reading.choice("questions", allowed=("random", "adaptive"), default="random")
    if how == "random":
        for key in ("goal", "random_share"):
            if reading.has(key):
                reading.wrong(f"{key} needs questions: adaptive", key)
        return None
    goal = reading.line("goal") or "medoid"
    share = reading.real("random_share", default=0.2, least=0.0, most=1.0)
    if len(blocks) > 1 or blocks[0].shown != 3:
        reading.wrong(
            "adaptive questions show three objects, in a study without blocks and conditions; "
            "take out the grid, the blocks and the conditions, or write questions: random",
            "questions",
        )
        return None
    from trilens.tasks.next_questions import next_questions

    try:
        # the library knows which goals there are
        next_questions(_none(blocks[0]), goal, 1, random_share=share)  # type: ignore[arg-type]
    except TrilensError as error:
        reading.wrong(_said(error), "goal" if reading.has("goal") else "questions")
        return None
    return Adaptive(goal, share)


def read_stop(reading: Reading, blocks: list[Block]) -> Stop | None:
    """The section ``stop``."""
    if not reading.has("stop") or not reading.keys(_RULE, "stop"):
        return None
    rule = reading.line("stop", "rule", needed=True)
    given = {key: reading.given.get("stop", key) for key in _RULE[1:-1]}
    limits = {key: value for key, value in given.items() if value is not None}
    then = reading.choice("stop", "then", allowed=_THEN, default="close")
    if len(blocks) > 1:
        reading.wrong("a stopping rule needs a study without blocks and conditions", "stop")
        return None
    if rule is None:
        return None
    for key in limits:
        if key not in _USED.get(rule, limits):
            used = " and ".join(_USED[rule]) or "neither a limit nor a level"
            reading.wrong(f"stop: rule {rule} does not use {key}; it uses {used}", "stop", key)
            return None
    n = len(blocks[0].names)
    if rule == "medoid" and is_whole(most := limits.get("at_most", 1)) and most >= n:
        text = f"stop: at_most is {most:,} of {n:,} objects: no answer is needed for that"
        reading.wrong(f"{text}; write {n - 1:,} or less", "stop", "at_most")
        return None
    from trilens.tasks.stopping import stopping

    try:
        stopping(_none(blocks[0]), rule, **limits)  # type: ignore[arg-type]
    except TrilensError as error:
        reading.wrong(f"stop: {_said(error)}", "stop")
        return None
    return Stop(rule, limits, then == "close")


def _none(block: Block) -> Statements:
    """No answers about the objects of a block."""
    return Statements([], names=list(block.names), kind=block.kind)


def _said(error: TrilensError) -> str:
    """An error of the library, in the words of a study's file."""
    if not isinstance(error, ParameterError):
        return str(error)

    def plain(reference: Any) -> str:
        return f"{reference.name}: {reference.value}" if reference.value else str(reference.name)

    return str(error.said(plain))
