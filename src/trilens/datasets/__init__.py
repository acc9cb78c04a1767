"""Public data sets: found in TRILENS_DATA, in the cache, or downloaded and checked.

A loader raises `DatasetError` where its files cannot be obtained or are corrupted, and
`MissingExtraError` where a package is needed that is not installed.
"""

from trilens.datasets.cars import Cars, load_cars, passed_test_rounds, rebuild
from trilens.datasets.loaders import (
    USPS,
    Collaboration,
    ImageNetSimilarity,
    Material,
    Musicians,
    Nights,
    PublicStudy,
    Things,
    load_ca_hepth,
    load_food,
    load_imagenet_similarity,
    load_material,
    load_musicians,
    load_nights,
    load_things_odd_one_out,
    load_usps,
)
from trilens.datasets.registry import NAMES, About, about

__all__ = [
    "NAMES",
    "USPS",
    "About",
    "Cars",
    "Collaboration",
    "ImageNetSimilarity",
    "Material",
    "Musicians",
    "Nights",
    "PublicStudy",
    "Things",
    "about",
    "load_ca_hepth",
    "load_cars",
    "load_food",
    "load_imagenet_similarity",
    "load_material",
    "load_musicians",
    "load_nights",
    "load_things_odd_one_out",
    "load_usps",
    "passed_test_rounds",
    "rebuild",
]
