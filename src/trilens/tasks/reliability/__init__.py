"""How good the answers are, and what they can support."""

from trilens.tasks.reliability.agreement import Agreement, Disagreement, Rate, Repeats, SplitHalf
from trilens.tasks.reliability.cautions import FEW_APPEARANCES, Caution
from trilens.tasks.reliability.exclusions import Exclusion
from trilens.tasks.reliability.forecast import Forecast
from trilens.tasks.reliability.groups import CrossPrediction, Group, GroupComparison
from trilens.tasks.reliability.raters import FEW_ANSWERS, RaterCheck
from trilens.tasks.reliability.reliability import Reliability, reliability

__all__ = [
    "FEW_ANSWERS",
    "FEW_APPEARANCES",
    "Agreement",
    "Caution",
    "CrossPrediction",
    "Disagreement",
    "Exclusion",
    "Forecast",
    "Group",
    "GroupComparison",
    "Rate",
    "RaterCheck",
    "Reliability",
    "Repeats",
    "SplitHalf",
    "reliability",
]
