"""Charts of the dashboard, as numbers for the SVG in its template."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from sqlalchemy import Integer, cast, func, select
from sqlalchemy.engine import Connection

from trilens_survey.schema import answers, assignments
from trilens_survey.store.rows import ANSWERED

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
    top: float
    first: str
    last: str
    bars: tuple[Bar, ...]


def over_time(connection: Connection, now: float) -> Bars:
    """Answers per minute, hour or day until now, whatever makes a fitting number of bars."""
    first = connection.execute(select(func.min(answers.c.stored))).scalar()
    first = now if first is None else min(float(first), now)
    step = next((s for s in _STEPS if (now - first) / s < _MOST_BARS), max(_STEPS))
    last = int(now // step)
    start = min(int(first // step), last - _FEWEST_BARS + 1)
    bar = cast(func.floor(answers.c.stored / step), Integer)
    query = (
        select(bar.label("bar"), func.count().label("n"))
        .select_from(ANSWERED)
        .where(assignments.c.reason != "practice")
        .group_by(bar)
    )
    heights = [0] * (last - start + 1)
    for row in connection.execute(query):
        # a clock that was set back may have stored something after now
        heights[min(max(row.bar - start, 0), last - start)] += row.n
    shape = "%H:%M" if now - first < 86400 else "%a %H:%M" if step < 86400 else "%Y-%m-%d"
    labels = [time.strftime(shape, time.localtime((start + i) * step)) for i in range(len(heights))]
    zone = time.strftime("%Z", time.localtime(now))
    return _bars(f"Answers per {_STEPS[step]} ({zone})", heights, labels, last="now")


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


def times_by_number(numbers: Sequence[int], seconds: Sequence[float | None]) -> Bars:
    """The median response time of the first question of a round, the second, and so on."""
    taken: dict[int, list[float]] = {}
    for number, each in zip(numbers, seconds, strict=True):
        if each is not None:
            taken.setdefault(number, []).append(each)
    order = sorted(taken)
    medians = [round(median(taken[number]), 1) for number in order]
    labels = [f"question {number}" for number in order]
    return _bars("Median seconds by question of a round", medians or [0], labels or ["-"])


def _bars(title: str, heights: Sequence[float], labels: list[str], last: str | None = None) -> Bars:
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
    return Bars(title, width, height, top, labels[0], last or labels[-1], bars)
