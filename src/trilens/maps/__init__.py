"""Coordinates: the lens map, in closed form, and the ordinal embeddings."""

from trilens.maps.choice_map import ChoiceMap
from trilens.maps.choice_model import ChoiceModel, ModelDepth
from trilens.maps.comparisons import Comparisons, violations
from trilens.maps.embedding import GNMDS, SOE, STE, TSTE
from trilens.maps.estimator import neg_log_loss
from trilens.maps.geometry import procrustes_distance
from trilens.maps.lens_map import LensMap
from trilens.maps.map_file import load_map
from trilens.maps.places import Places
from trilens.maps.registry import Dimension, estimate_dimension

__all__ = [
    "GNMDS",
    "SOE",
    "STE",
    "TSTE",
    "ChoiceMap",
    "ChoiceModel",
    "Comparisons",
    "Dimension",
    "LensMap",
    "ModelDepth",
    "Places",
    "estimate_dimension",
    "load_map",
    "neg_log_loss",
    "procrustes_distance",
    "violations",
]
