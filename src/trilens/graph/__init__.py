"""Counts to the estimated k-relative neighbourhood graph."""

from trilens.graph.krng import (
    LensValues,
    connecting_k,
    correct_errors,
    effective_k,
    k_rng,
    lens_values,
    pairs_of,
)
from trilens.graph.nearest import neighbour_statements

__all__ = [
    "LensValues",
    "connecting_k",
    "correct_errors",
    "effective_k",
    "k_rng",
    "lens_values",
    "neighbour_statements",
    "pairs_of",
]
