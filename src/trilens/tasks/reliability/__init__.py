"""How good the answers are, and how far they can be trusted."""

from trilens.tasks.reliability.agreement import Agreement
from trilens.tasks.reliability.cautions import FEW_APPEARANCES, Caution
from trilens.tasks.reliability.checks import FEW_ANSWERS, RaterCheck
from trilens.tasks.reliability.cross import CrossPrediction
from trilens.tasks.reliability.disagreement import Disagreement
from trilens.tasks.reliability.error_rate import Rate, Repeats
from trilens.tasks.reliability.exclusions import Exclusion
from trilens.tasks.reliability.forecast import Forecast
from trilens.tasks.reliability.groups import Group, GroupComparison
from trilens.tasks.reliability.halves import SplitHalf
from trilens.tasks.reliability.trust import Reliability, reliability

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
