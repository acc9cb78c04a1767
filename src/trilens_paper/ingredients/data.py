"""The public data that experiments share, loaded once in each process."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from trilens._typing import IntArray

if TYPE_CHECKING:
    from trilens.datasets import USPS, Cars
    from trilens.statements import Statements

COLLECTIONS = ("ALL", "ALL_REDUCED", "T_ALL", "T_ALL_REDUCED")
#: Those that the survey's test triple tells apart, before repeated answers are reduced.
TESTED = ("ALL", "T_ALL")


@cache
def cars() -> Cars:
    """The cars, without their pictures."""
    from trilens.datasets import load_cars

    return load_cars(pictures=False)


def labelled_cars(collection: str) -> tuple[Statements, IntArray]:
    """The statements about the 56 cars that are no outliers, and their classes 0, 1, 2."""
    data = cars()
    inside = np.flatnonzero(data.labels != "outlier")
    return data.statements[collection].subset(inside), data.target[inside]


@cache
def digits() -> USPS:
    """The USPS digits."""
    from trilens.datasets import load_usps

    return load_usps()
