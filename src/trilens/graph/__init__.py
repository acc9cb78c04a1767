"""Counts to the estimated k-relative neighbourhood graph."""

from trilens.graph.krng import (
    connecting_k,
    correct_errors,
    effective_k,
    k_rng,
    lens_value,
    neighbourhood,
    pairs_of,
)

__all__ = [
    "connecting_k",
    "correct_errors",
    "effective_k",
    "k_rng",
    "lens_value",
    "neighbourhood",
    "pairs_of",
]
