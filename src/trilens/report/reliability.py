"""The room of the report for how good the answers are, and the same as a page of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

Facts = dict[str, Any]

#: Raters that are drawn; the table has all.
MOST_RATERS = 60


def room_of(facts: Facts) -> Facts:
    """What the drawings need, from the facts of `Reliability.to_dict`."""
    marks = [_mark("guessing", facts["chance"], None, 1)]
    if facts["predicted"] is not None:
        marks.append(_mark("predicted by a map", facts["predicted"], None, 2))
    if facts["ceiling"] is not None:
        marks.append(_mark("two answers agree", facts["ceiling"], facts["ceiling_interval"], 3))
    if facts["reachable"] is not None:
        best, ends = facts["reachable"], facts["reachable_interval"]
        marks.append(_mark("best possible", best, ends, 4))
    rows = sorted(facts["raters"], key=lambda row: -row["blind"])
    return {
        "marks": sorted(marks, key=lambda mark: mark["value"]),
        "raters": [
            {
                "rater": row["rater"],
                "blind": row["blind"],
                "low": row["blind_low"],
                "high": row["blind_high"],
                "odd": row["guessing"] or row["one_place"],
            }
            for row in rows[:MOST_RATERS]
        ],
        "raters_left": max(len(rows) - MOST_RATERS, 0),
        "curves": _curves(facts["forecast"]),
    }


def write_reliability(facts: Facts, path: str | Path, source: str) -> None:
    """Write a page of this room alone.

    Parameters
    ----------
    facts : dict
        Of `Reliability.to_dict`.
    path
    source : str
        The name of the statement file.
    """
    from trilens.files import atomic_write
    from trilens.report.page import asset, policy_of, template

    page = template("reliability_page.html")
    from trilens.report import words

    style = asset("report.css") + asset("reliability.css")
    html = page.render(
        r=facts,
        room=room_of(facts),
        words=words,
        source=source,
        style=style,
        policy=policy_of(style, ""),
    )
    with atomic_write(path) as file:
        file.write(html.encode("utf-8", "replace"))


def _mark(text: str, value: float, ends: Any, number: int) -> Facts:
    return {"text": text, "value": value, "ends": ends, "css": f"rel-k{number}"}


def _curves(forecast: Facts | None) -> list[Facts]:
    if forecast is None:
        return []
    need, of_map = forecast["for_set"], forecast["for_map"]
    return [
        _curve(
            "Objects that may be the medoid",
            forecast,
            "set_size",
            need["goal"],
            f"A set of {need['goal']:g} takes {_answers(need)}.",
            from_zero=True,
        ),
        _curve(
            "How near the map is to that of endless answers",
            forecast,
            "map_accuracy",
            of_map["goal"],
            f"A correlation of {of_map['goal']:g} takes {_answers(of_map)}.",
            from_zero=False,
        ),
    ]


def _answers(need: Facts) -> str:
    if need["answers"] is None:
        return "more answers than can be forecast"
    low = 0 if need["low"] is None else need["low"]
    upto = "" if need["high"] is None else f" ({low:,} to {need['high']:,})"
    return f"about {need['answers']:,} answers in all{upto}"


def _curve(
    title: str, forecast: Facts, key: str, goal: float, said: str, *, from_zero: bool
) -> Facts:
    seen = [(point["answers"], point[key]) for point in forecast["points"]]
    ahead = [(e["answers"], e["value"], e["low"], e["high"]) for e in forecast[key]]
    start, end = np.log(seen[0][0]), np.log(ahead[-1][0])
    values = [y for _, y in seen] + [y for row in ahead for y in row[1:]] + [goal]
    bottom, top = (0.0 if from_zero else min(values)), max(values)
    if top <= bottom:
        top = bottom + 1.0

    def at(x: float, y: float) -> str:
        across = 100 * (np.log(x) - start) / (end - start)
        return f"{across:.2f},{60 - 58 * (y - bottom) / (top - bottom):.2f}"

    upper = [at(x, high) for x, _, _, high in ahead]
    lower = [at(x, low) for x, _, low, _ in reversed(ahead)]
    digits = 0 if from_zero else 2
    return {
        "title": title,
        "said": said,
        "seen": " ".join(at(x, y) for x, y in seen),
        "ahead": " ".join(at(x, y) for x, y, _, _ in ahead),
        "band": " ".join(upper + lower),
        "goal_y": f"{60 - 58 * (goal - bottom) / (top - bottom):.2f}",
        "first": f"{seen[0][0]:,}",
        "last": f"{ahead[-1][0]:,.0f}",
        "low": f"{bottom:.{digits}f}",
        "high": f"{top:.{digits}f}",
    }
