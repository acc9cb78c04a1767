"""Figures of the dashboard, as numbers for the SVG in its template."""

from __future__ import annotations

import math
import time
from typing import Any

from trilens.survey.export import Collected
from trilens.survey.live import Results
from trilens.survey.study import Study

#: Width and height of the map.
MAP = (800, 560)


def map_drawing(results: Results, study: Study, root: str) -> dict[str, Any] | None:
    """Each object's place on the map, the same scale both ways."""
    if results.points is None:
        return None
    xs, ys = zip(*results.points, strict=True)
    width, height = MAP
    room = 64
    span = max((max(xs) - min(xs)) / (width - 2 * room), (max(ys) - min(ys)) / (height - 2 * room))
    scale = 1 / span if span > 0 else 1.0
    middle = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
    points = []
    for name, (x, y) in zip(results.names, results.points, strict=True):
        stimulus = study.by_name.get(name)
        image = stimulus is not None and stimulus.form == "image"
        points.append(
            {
                "name": name,
                "x": round(width / 2 + (x - middle[0]) * scale, 1),
                "y": round(height / 2 - (y - middle[1]) * scale, 1),
                "image": f"{root}/media/{stimulus.key}" if image and stimulus else None,
                "mark": "medoid"
                if name == results.medoid
                else "outlier"
                if name in results.outliers
                else "plain",
            }
        )
    # what the page speaks of is drawn last, on top of the rest
    points.sort(key=lambda point: point["mark"] != "plain")
    size = 64 if len(points) <= 30 else 48 if len(points) <= 80 else 32
    return {"width": width, "height": height, "size": size, "points": points}


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


def over_time(collected: Collected) -> dict[str, Any]:
    """Answers per minute, hour or day, whatever makes a fitting number of bars."""
    first = collected.stored[0] if len(collected) else 0.0
    last = collected.stored[-1] if len(collected) else 0.0
    step = next((s for s in _STEPS if (last - first) / s < _MOST_BARS), max(_STEPS))
    start = first // step * step
    n = max(int((last - start) // step) + 1, _FEWEST_BARS)
    heights = [0] * n
    for stored in collected.stored:
        heights[min(n - 1, max(0, int((stored - start) // step)))] += 1
    shape = "%H:%M" if step < 86400 else "%Y-%m-%d"
    labels = [time.strftime(shape, time.localtime(start + i * step)) for i in range(n)]
    return _bars(f"Answers per {_STEPS[step]}", heights, labels)


def response_times(collected: Collected) -> dict[str, Any]:
    """How many answers took how long; each bar is twice as long a time as the one before."""
    buckets = range(-2, 8)
    heights = dict.fromkeys(buckets, 0)
    for seconds in collected.seconds:
        if seconds is not None:
            power = math.floor(math.log2(seconds)) if seconds > 0 else buckets[0]
            heights[max(buckets[0], min(buckets[-1], power))] += 1
    labels = [f"{2.0**b:g} to {2.0 ** (b + 1):g} s" for b in buckets]
    return _bars("Response times", list(heights.values()), labels)


def _bars(title: str, heights: list[int], labels: list[str]) -> dict[str, Any]:
    width, height = 400.0, 120.0
    top = max(heights, default=0) or 1
    each = width / max(len(heights), 1)
    return {
        "title": title,
        "width": width,
        "height": height,
        "top": max(heights, default=0),
        "first": labels[0] if labels else "",
        "last": labels[-1] if labels else "",
        "bars": [
            {
                "x": round(i * each, 2),
                "w": round(max(each - 1, 0.5), 2),
                "y": round(height * (1 - h / top), 2),
                "h": round(height * h / top, 2),
                "label": f"{label}: {h:,}",
            }
            for i, (h, label) in enumerate(zip(heights, labels, strict=True))
        ],
    }


def raters(collected: Collected) -> list[dict[str, Any]]:
    """One row per rater: answers, rounds, tests, median time."""
    rows: dict[str, dict[str, Any]] = {}
    for i, name in enumerate(collected.rater):
        row = rows.setdefault(
            name, {"rater": name, "answers": 0, "rounds": {}, "seconds": [], "last": 0.0}
        )
        row["answers"] += 1
        row["rounds"][collected.round[i]] = collected.test[i]
        row["last"] = max(row["last"], collected.stored[i])
        if collected.seconds[i] is not None:
            row["seconds"].append(collected.seconds[i])
    for row in rows.values():
        tests = list(row["rounds"].values())
        row["passed"], row["failed"] = tests.count("passed"), tests.count("failed")
        row["rounds"] = len(tests)
        row["seconds"] = _median(row["seconds"])
    return sorted(rows.values(), key=lambda row: -row["last"])


def rounds(collected: Collected) -> list[dict[str, Any]]:
    """One row per round: whose, answers, test, whether it counts."""
    rows: dict[int, dict[str, Any]] = {}
    for i, number in enumerate(collected.round):
        row = rows.setdefault(
            number,
            {
                "round": number,
                "rater": collected.rater[i],
                "answers": 0,
                "test": collected.test[i],
                "counted": collected.counted[i],
                "seconds": [],
            },
        )
        row["answers"] += 1
        if collected.seconds[i] is not None:
            row["seconds"].append(collected.seconds[i])
    for row in rows.values():
        row["seconds"] = _median(row["seconds"])
    return sorted(rows.values(), key=lambda row: -row["round"])


def _median(values: list[float]) -> float | None:
    if not values:
        return None
    ordered = sorted(values)
    return (ordered[(len(values) - 1) // 2] + ordered[len(values) // 2]) / 2
