"""Public data sets: found in TRILENS_DATA, in the cache, or downloaded and checked."""

from trilens.datasets.about import NAMES, About, about
from trilens.datasets.ca_hepth import Collaboration, load_ca_hepth
from trilens.datasets.cars import Cars, load_cars, passed_test_rounds, rebuild
from trilens.datasets.food import Food, load_food
from trilens.datasets.imagenet import ImageNetSimilarity, load_imagenet_similarity
from trilens.datasets.material import Material, load_material
from trilens.datasets.musicians import Musicians, load_musicians
from trilens.datasets.nights import Nights, load_nights
from trilens.datasets.things import Things, load_things_odd_one_out
from trilens.datasets.usps import USPS, load_usps

__all__ = [
    "NAMES",
    "USPS",
    "About",
    "Cars",
    "Collaboration",
    "Food",
    "ImageNetSimilarity",
    "Material",
    "Musicians",
    "Nights",
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
