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
class Bars:
    """A bar chart: a height and a label for each bar; ``last`` labels the right end."""

    title: str
    heights: list[float]
    labels: list[str]
    last: str


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
    heights: list[float] = [0] * (last - start + 1)
    for row in connection.execute(query):
        # a clock that was set back may have stored something after now
        heights[min(max(row.bar - start, 0), last - start)] += row.n
    shape = "%H:%M" if now - first < 86400 else "%a %H:%M" if step < 86400 else "%Y-%m-%d"
    labels = [time.strftime(shape, time.localtime((start + i) * step)) for i in range(len(heights))]
    zone = time.strftime("%Z", time.localtime(now))
    return Bars(f"Answers per {_STEPS[step]} ({zone})", heights, labels, "now")


def response_times(seconds: Sequence[float | None]) -> Bars:
    """How many answers took how long; each bar spans twice the time of the one before."""
    powers = range(-2, 8)
    heights: dict[int, float] = dict.fromkeys(powers, 0)
    for taken in seconds:
        if taken is not None:
            power = math.floor(math.log2(taken)) if taken > 0 else powers[0]
            heights[max(powers[0], min(powers[-1], power))] += 1
    labels = [f"{2.0**power:g} to {2.0 ** (power + 1):g} s" for power in powers]
    return Bars("Response times", list(heights.values()), labels, labels[-1])


def times_by_number(numbers: Sequence[int], seconds: Sequence[float | None]) -> Bars:
    """The median response time of the first question of a round, the second, and so on."""
    taken: dict[int, list[float]] = {}
    for number, each in zip(numbers, seconds, strict=True):
        if each is not None:
            taken.setdefault(number, []).append(each)
    order = sorted(taken)
    medians = [round(median(taken[number]), 1) for number in order] or [0]
    labels = [f"question {number}" for number in order] or ["-"]
    return Bars("Median seconds by question of a round", medians, labels, labels[-1])
