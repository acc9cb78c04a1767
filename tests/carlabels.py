"""The classes of the sixty cars, read from the data's own README."""

from __future__ import annotations

import re


def car_classes(cars):
    """The class of each car by its name: ordinary, sports, off-road or outlier."""
    text = (cars / "README.txt").read_text(encoding="utf-8")
    found = {}
    for heading, label in (
        ("ORDINARY CARS", "ordinary"),
        ("SPORTS CARS", "sports"),
        ("OFF-ROAD/SPORT UTILITY VEHICLES", "off-road"),
        ("OUTLIERS", "outlier"),
    ):
        for name in re.search(rf"{heading}: ([\d ]+)", text)[1].split():
            found[name] = label
    return found
