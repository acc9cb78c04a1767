"""Charts of the dashboard, as numbers for the SVG in its template."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trilens.survey.study import Study

if TYPE_CHECKING:
    from trilens.analysis import Analysis

#: Width, height and margin of the map.
_WIDTH, _HEIGHT, _MARGIN = 800, 560, 64
#: Widths of a bar of answers over time, in seconds.
_STEPS = {
    60: "minute",
    300: "5 minutes",
    900: "15 minutes",
    3600: "hour",
    21600: "6 hours",
    86400: "day",
    604800: "week",
}
_MOST_BARS = 60
_FEWEST_BARS = 12


@dataclass(frozen=True)
class Point:
    """An object on the map: ``mark`` is ``medoid``, ``outlier`` or ``plain``."""

    name: str
    x: float
    y: float
    image: str | None
    mark: str


@dataclass(frozen=True)
class Map:
    """The objects, and the size of their pictures."""

    width: int
    height: int
    size: int
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Bar:
    """One bar: its corner, its width and height, and what it says."""

    x: float
    y: float
    w: float
    h: float
    label: str


@dataclass(frozen=True)
class Bars:
    """A bar chart; ``top`` is the highest count, ``first`` and ``last`` label its ends."""

    title: str
    width: float
    height: float
    top: int
    first: str
    last: str
    bars: tuple[Bar, ...]


def map_chart(analysis: Analysis, study: Study, root: str) -> Map:
    """The map of an analysis, the same scale both ways."""
    xs, ys = analysis.plane.T.tolist()
    across = (max(xs) - min(xs)) / (_WIDTH - 2 * _MARGIN)
    up = (max(ys) - min(ys)) / (_HEIGHT - 2 * _MARGIN)
    scale = 1 / max(across, up) if max(across, up) > 0 else 1.0
    x0, y0 = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
    points = []
    for name, x, y in zip(analysis.graph.names, xs, ys, strict=True):
        stimulus = study.by_name.get(name)
        is_image = stimulus is not None and stimulus.form == "image"
        outlying = name in analysis.outliers.names
        points.append(
            Point(
                name=name,
                x=round(_WIDTH / 2 + (x - x0) * scale, 1),
                y=round(_HEIGHT / 2 - (y - y0) * scale, 1),
                image=f"{root}/media/{stimulus.key}" if stimulus and is_image else None,
                mark="medoid" if name == analysis.medoid.name else "outlier" if outlying
                else "plain",
            )
        )  # fmt: skip
    # what the page speaks of is drawn last, on top of the rest
    points.sort(key=lambda point: point.mark != "plain")
    size = 64 if len(points) <= 30 else 48 if len(points) <= 80 else 32
    return Map(_WIDTH, _HEIGHT, size, tuple(points))


def over_time(stored: Sequence[float]) -> Bars:
    """Answers per minute, hour or day, whatever makes a fitting number of bars.

    Parameters
    ----------
    stored
        When each answer was stored, in seconds since 1970, the first one first.
    """
    first, last = (stored[0], stored[-1]) if stored else (0.0, 0.0)
    step = next((s for s in _STEPS if (last - first) / s < _MOST_BARS), max(_STEPS))
    start = first // step * step
    n = max(int((last - start) // step) + 1, _FEWEST_BARS)
    heights = [0] * n
    for moment in stored:
        heights[min(n - 1, max(0, int((moment - start) // step)))] += 1
    shape = "%H:%M" if step < 86400 else "%Y-%m-%d"
    labels = [time.strftime(shape, time.localtime(start + i * step)) for i in range(n)]
    return _bars(f"Answers per {_STEPS[step]}", heights, labels)


def response_times(seconds: Sequence[float | None]) -> Bars:
    """How many answers took how long; each bar spans twice the time of the one before."""
    powers = range(-2, 8)
    heights = dict.fromkeys(powers, 0)
    for taken in seconds:
        if taken is not None:
            power = math.floor(math.log2(taken)) if taken > 0 else powers[0]
            heights[max(powers[0], min(powers[-1], power))] += 1
    labels = [f"{2.0**power:g} to {2.0 ** (power + 1):g} s" for power in powers]
    return _bars("Response times", list(heights.values()), labels)


def _bars(title: str, heights: list[int], labels: list[str]) -> Bars:
    width, height = 400.0, 120.0
    top = max(heights)
    each = width / len(heights)
    bars = tuple(
        Bar(
            x=round(i * each, 2),
            y=round(height * (1 - count / max(top, 1)), 2),
            w=round(max(each - 1, 0.5), 2),
            h=round(height * count / max(top, 1), 2),
            label=f"{label}: {count:,}",
        )
        for i, (count, label) in enumerate(zip(heights, labels, strict=True))
    )
    return Bars(title, width, height, top, labels[0], labels[-1], bars)
