"""Coordinates: the lens map, in closed form, and the ordinal embeddings."""

from trilens.maps.choice_map import ChoiceMap
from trilens.maps.comparisons import Comparisons, violations
from trilens.maps.embedding import GNMDS, SOE, STE, TSTE
from trilens.maps.estimator import neg_log_loss
from trilens.maps.fit_file import load
from trilens.maps.fitted import Fit, fit
from trilens.maps.geometry import procrustes_distance
from trilens.maps.lens_map import LensMap
from trilens.maps.map import Map, ModelDepth
from trilens.maps.places import Places

__all__ = [
    "GNMDS",
    "SOE",
    "STE",
    "TSTE",
    "ChoiceMap",
    "Comparisons",
    "Fit",
    "LensMap",
    "Map",
    "ModelDepth",
    "Places",
    "fit",
    "load",
    "neg_log_loss",
    "procrustes_distance",
    "violations",
]
