"""Coordinates: the lens map, in closed form, and the ordinal embeddings."""

from trilens.maps.comparisons import Comparisons, violations
from trilens.maps.embedding import GNMDS, SOE, STE, TSTE
from trilens.maps.lens_map import LensMap

__all__ = ["GNMDS", "SOE", "STE", "TSTE", "Comparisons", "LensMap", "violations"]
