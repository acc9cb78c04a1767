# The public names of the maps, and where they live.
from .choice_map import ChoiceMap
from .comparisons import Comparisons, violations
from .embedding import GNMDS, SOE, STE, TSTE
from .estimator import neg_log_loss
from .fit_file import load
from .fitted import Fit, fit
from .geometry import procrustes_distance
from .lens_map import LensMap
from .map import Map, ModelDepth
from .places import Places

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
