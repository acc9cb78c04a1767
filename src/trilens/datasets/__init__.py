"""Public data sets: found in TRILENS_DATA, in the cache, or downloaded and checked."""

from trilens.datasets.ca_hepth import Collaboration, load_ca_hepth
from trilens.datasets.cars import Cars, load_cars, passed_test_rounds, rebuild
from trilens.datasets.things import Things, load_things_odd_one_out
from trilens.datasets.usps import USPS, load_usps

__all__ = [
    "USPS",
    "Cars",
    "Collaboration",
    "Things",
    "load_ca_hepth",
    "load_cars",
    "load_things_odd_one_out",
    "load_usps",
    "passed_test_rounds",
    "rebuild",
]
