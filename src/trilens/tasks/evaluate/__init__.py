"""How well a model agrees with people: an embedding, distances, or answers of its own."""

from trilens.tasks.evaluate.comparison import Comparison, Difference, compare_models
from trilens.tasks.evaluate.evaluation import Evaluation, evaluate
from trilens.tasks.evaluate.predictions import METRICS, Metric

__all__ = [
    "METRICS",
    "Comparison",
    "Difference",
    "Evaluation",
    "Metric",
    "compare_models",
    "evaluate",
]
