"""How good the answers are, and what they can support."""

from trilens.agreement import (
    Agreement,
    Disagreement,
    Rate,
    Repeats,
    SplitHalf,
)
from trilens.questions.reliability.cautions import FEW_APPEARANCES, Caution
from trilens.questions.reliability.exclusions import Exclusion
from trilens.questions.reliability.raters import FEW_ANSWERS, RaterCheck
from trilens.questions.reliability.reliability import Reliability, reliability

__all__ = [
    "FEW_ANSWERS",
    "FEW_APPEARANCES",
    "Agreement",
    "Caution",
    "Disagreement",
    "Exclusion",
    "Rate",
    "RaterCheck",
    "Reliability",
    "Repeats",
    "SplitHalf",
    "reliability",
]
