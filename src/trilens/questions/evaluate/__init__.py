"""How well a model agrees with people: an embedding, distances, or answers of its own."""

from trilens.questions.evaluate.evaluation import (
    Comparison,
    Difference,
    Evaluation,
    ObjectDifference,
    compare_models,
    evaluate,
)
from trilens.questions.evaluate.predictions import METRICS, Metric

__all__ = [
    "METRICS",
    "Comparison",
    "Difference",
    "Evaluation",
    "Metric",
    "ObjectDifference",
    "compare_models",
    "evaluate",
]
