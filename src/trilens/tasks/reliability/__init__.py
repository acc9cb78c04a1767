"""How far the answers can be trusted."""

from trilens.tasks.reliability.cautions import FEW_APPEARANCES, Caution
from trilens.tasks.reliability.error_rate import Rate, Repeats
from trilens.tasks.reliability.trust import FEW_ANSWERS, RaterCheck, Reliability, reliability

__all__ = [
    "FEW_ANSWERS",
    "FEW_APPEARANCES",
    "Caution",
    "Rate",
    "RaterCheck",
    "Reliability",
    "Repeats",
    "reliability",
]
