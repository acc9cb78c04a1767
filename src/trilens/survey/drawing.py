"""Figures of the dashboard, as numbers for the SVG in its template."""

from __future__ import annotations

import math
from typing import Any

from trilens.survey.export import Collected
from trilens.survey.live import Results
from trilens.survey.study import Study

#: Width and height of the map, and the size of a picture on it.
MAP = (800, 560)
PICTURE = 64


def map_drawing(results: Results, study: Study, root: str) -> dict[str, Any] | None:
    """Each object's place on the map, the same scale both ways."""
    if results.points is None:
        return None
    xs, ys = zip(*results.points, strict=True)
    width, height = MAP
    room = PICTURE
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
    return {"width": width, "height": height, "size": PICTURE, "points": points}


def over_time(collected: Collected) -> dict[str, Any]:
    """Answers per hour, or per day where there are many hours."""
    if not len(collected):
        return _bars([], [])
    first, last = collected.stored[0], collected.stored[-1]
    step = 3600.0 if last - first < 72 * 3600 else 86400.0
    n = int((last - first) // step) + 1
    heights = [0] * n
    for stored in collected.stored:
        heights[min(n - 1, max(0, int((stored - first) // step)))] += 1
    unit = "hour" if step == 3600 else "day"
    return _bars(heights, [f"{unit} {i + 1}" for i in range(n)]) | {"unit": unit}


def response_times(collected: Collected) -> dict[str, Any]:
    """How many answers took how long; each bar is twice as long a time as the one before."""
    counts: dict[int, int] = {}
    for seconds in collected.seconds:
        if seconds is not None:
            bucket = max(-2, min(7, math.floor(math.log2(seconds)) if seconds > 0 else -2))
            counts[bucket] = counts.get(bucket, 0) + 1
    buckets = range(min(counts), max(counts) + 1) if counts else range(0)
    return _bars(
        [counts.get(b, 0) for b in buckets],
        [f"{2.0**b:g} to {2.0 ** (b + 1):g} s" for b in buckets],
    )


def _bars(heights: list[int], labels: list[str]) -> dict[str, Any]:
    width, height = 400.0, 120.0
    top = max(heights, default=0) or 1
    each = width / max(len(heights), 1)
    return {
        "width": width,
        "height": height,
        "unit": "",
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
