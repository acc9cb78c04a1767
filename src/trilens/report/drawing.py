"""Where the page draws what; nothing is computed of the facts but places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trilens._typing import FloatArray
from trilens.maps.geometry import landmarks
from trilens.report import words
from trilens.report.words import Facts
from trilens.words import OTHER_VIEWS

#: Where there are more, drawings show some of them, and the tables beside the page all.
MOST_POINTS, MOST_CENTRALITIES, MOST_ROWS, MOST_RATERS = 1500, 600, 40, 24
MOST_CANDIDATES = 10
#: Names that stand on a map of many objects before it is looked into.
LANDMARKS = 30
#: Names beside the sorted centralities.
_MOST_NAMED = 8
#: The map's width by its height where no script fits it to the screen, and steps of its colors.
RATIO, _STEPS = 1.36, 7
#: The 95 % quantile of how far a place is off in two dimensions, in standard deviations.
_REACH = 2.448
#: Of a tree, in pixels.
_HIGHEST = 900


def map_drawing(facts: Facts) -> Facts:
    """The objects on the map: all, or of very many those that the page speaks of and others.

    Places are in per cent of the width and the height, with the same scale both ways.
    """
    rows, labels = facts["objects"], class_names(facts)
    plane = np.array([[row["x"], -row["y"]] for row in rows]).reshape(-1, 2)
    wide, high = np.maximum(np.ptp(plane, axis=0), 1e-9)
    scale = min(RATIO * 84 / wide, 84 / high)
    place = 50 + (plane - (plane.min(axis=0) + plane.max(axis=0)) / 2) * [scale / RATIO, scale]
    drawn = _spoken_of(facts, MOST_POINTS)
    ranks = _named_first(facts, drawn, plane[drawn])
    depth = np.array([row["depth"] for row in rows])
    low, range_ = depth.min(initial=1.0), max(float(np.ptp(depth)), 1e-9)
    of_class = {label: i for i, label in enumerate(labels, 1)}
    points = []
    for i, rank in zip(drawn, ranks, strict=True):
        row = rows[i]
        known = row.get("answers_say") if row.get("class") is None else row["class"]
        points.append(
            {
                "i": i,
                "x": round(float(place[i, 0]), 3),
                "y": round(float(place[i, 1]), 3),
                # what it is colored by: from 1 on, 0 for none
                "group": row["cluster"] + 1,
                "label": of_class.get(str(known), 0),
                "step": min(int(_STEPS * (depth[i] - low) / range_), _STEPS - 1),
                "guessed": bool(labels) and row.get("class") is None,
                "rank": rank,
                "spread": _ellipse(row.get("place_cov"), scale),
            }
        )
    by = ["group"] if facts["cluster"]["n_clusters"] > 1 else []
    by = [*by, *(["class"] if labels else []), "centrality"]
    return {
        "points": points,
        "colored_by": by,
        "left_out": len(rows) - len(drawn),
        "size": 72 if len(drawn) <= 120 else 54,
        "scale": (words.percent(float(low)), words.percent(float(low + range_))),
    }


def class_names(facts: Facts) -> list[str]:
    """The classes in their order."""
    return sorted(facts["classify"]["classes"]) if facts["classify"] else []


def _ellipse(covariance: list[list[float]] | None, scale: float) -> str:
    """Where a place lies with 95 % confidence: half-axes, in per cent of the height, and angle."""
    if covariance is None:
        return ""
    # down is up on the screen
    values, vectors = np.linalg.eigh(np.array(covariance) * [[1, -1], [-1, 1]])
    half = _REACH * scale * np.sqrt(np.maximum(values, 0.0))
    angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
    return f"{half[1]:.3f} {half[0]:.3f} {angle:.1f}"


def _named_first(facts: Facts, drawn: list[int], places: FloatArray) -> list[int]:
    """Whose name comes first on the map: who is spoken of, then who is farthest from those."""
    order = {facts["objects"][i]["object"]: k for k, i in enumerate(drawn)}
    spoken = [
        facts["medoid"]["medoid"],
        *(group["medoid"] for group in facts["cluster"]["groups"]),
        *(row["object"] for row in facts["outliers"]["outliers"][:_MOST_NAMED]),
    ]
    first = list(dict.fromkeys(order[name] for name in spoken if name in order))
    rank = np.empty(len(drawn), dtype=np.int64)
    rank[landmarks(places, first)] = np.arange(len(drawn))
    return [int(each) for each in rank]


def _spoken_of(facts: Facts, most: int) -> list[int]:
    """The objects to draw: all, or those that the page speaks of and an even choice of others."""
    rows = facts["objects"]
    if len(rows) <= most:
        return list(range(len(rows)))
    spoken = {facts["medoid"]["medoid"], *facts["medoid"]["candidates"][:50]}
    spoken |= {row["object"] for row in facts["outliers"]["outliers"][:50]}
    spoken |= {group["medoid"] for group in facts["cluster"]["groups"]}
    always = [i for i, row in enumerate(rows) if row["object"] in spoken]
    others = [i for i, row in enumerate(rows) if row["object"] not in spoken]
    return sorted(always + [others[k] for k in _even(len(others), most - len(always))])


def _even(n: int, most: int) -> list[int]:
    """At most so many numbers below n, evenly spread."""
    found: list[int] = np.unique(np.linspace(0, n - 1, min(most, n)).astype(int)).tolist()
    return found


# ---- rows: a name, an interval and a number each ---------------------------------------------


@dataclass(frozen=True)
class Row:
    """A line of a figure: places are in per cent of the axis."""

    name: str
    at: float
    low: float
    high: float
    value: str
    i: int | None = None
    css: str = ""


@dataclass(frozen=True)
class Rows:
    """A figure of rows with the ends of their axis."""

    rows: list[Row]
    ends: tuple[str, str]
    what: str
    left_out: int = 0
    high: int = 26


def _shares(rows: Sequence[Row], what: str, **more: int) -> Rows:
    """Rows of shares, from 0 to a round number above the largest."""
    top = _ceiling(max([row.high for row in rows], default=1.0))

    def across(share: float) -> float:
        return round(100 * share / top, 2)

    scaled = [
        replace(row, at=across(row.at), low=across(row.low), high=across(row.high)) for row in rows
    ]
    return Rows(scaled, ("0", f"{100 * top:.3g}%"), what, **more)


def candidate_rows(facts: Facts, place: Mapping[str, int]) -> Rows | None:
    """What could be the most central, the first ten."""
    m = facts["medoid"]
    if len(m["candidates"]) < 2 or words.unsupported(facts) or words.is_ring(facts):
        return None
    shown = []
    for name in m["candidates"][:MOST_CANDIDATES]:
        row = facts["objects"][place[name]]
        text = f"{100 * row['depth']:.1f}%"
        shown.append(Row(name, row["depth"], row["low"], row["high"], text, place[name]))
    return _shares(shown, "centrality", left_out=len(m["candidates"]) - len(shown))


def rater_rows(reliability: Facts) -> Rows | None:
    """The share of each rater's answers that seem careless, the most careless first."""
    raters = [
        row
        for row in reliability["raters"]
        if row["verdict"] not in OTHER_VIEWS and row["blind"] is not None
    ]
    if not raters:
        return None
    raters.sort(key=lambda row: -row["blind"])
    shown = [
        Row(
            row["rater"] or "(not known)",
            row["blind"],
            row["blind_low"],
            row["blind_high"],
            f"{row['blind']:.0%}",
            css="out" if row["guessing"] or row["one_place"] else "",
        )
        for row in raters[:MOST_RATERS]
    ]
    left = max(len(raters) - MOST_RATERS, 0)
    high = 20 if len(shown) <= 12 else 14
    return _shares(shown, "share of careless answers", left_out=left, high=high)


def share_rows(reliability: Facts) -> Rows:
    """What guesses, a map and the best possible model predict."""
    shares = [
        ("guessing", reliability["chance"], None),
        ("a map", reliability["predicted"], None),
        ("two answers agree", reliability["ceiling"], reliability["ceiling_interval"]),
        ("best possible", reliability["reachable"], reliability["reachable_interval"]),
    ]
    shown = []
    for name, share, ends in shares:
        if share is not None:
            low, high = (0.0, share) if ends is None else ends
            shown.append(Row(name, share, low, high, f"{share:.0%}"))
    return _shares(shown, "share of the answers")


def class_rows(facts: Facts) -> Rows:
    """The error on hidden labels beside that of naming the largest class."""
    c = facts["classify"]
    low, high = c["error_interval"]
    shown = [
        Row("by the answers", c["error"], low, high, f"{c['error']:.1%}"),
        Row("largest class", c["baseline"], 0.0, c["baseline"], f"{c['baseline']:.1%}"),
    ]
    return _shares(shown, "share of wrong classes")


def order_rows(facts: Facts, place: Mapping[str, int]) -> Rows | None:
    """The objects along a line, or around a ring."""
    shape = words.shape_of(facts)
    if shape not in ("line", "ring") or "interval" not in facts["structure"]:
        return None
    found = facts["structure"]
    at, whole = (found["position"], 1.0) if shape == "line" else (found["angle"], 360.0)
    kept = [found["order"][k] for k in _even(len(found["order"]), MOST_ROWS)]
    ends = np.array([found["interval"][name] for name in kept])
    low, high = min(0.0, float(ends.min())), max(whole, float(ends.max()))

    def across(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    rows = [
        Row(name, across(at[name]), across(start), across(end), "", place[name])
        for name, (start, end) in zip(kept, ends.tolist(), strict=True)
    ]
    what = "place along the line" if shape == "line" else "place around the ring"
    return Rows(rows, ("", ""), what, left_out=len(found["order"]) - len(kept), high=20)


# ---- the sorted centralities -----------------------------------------------------------------


def centrality_drawing(facts: Facts) -> Facts:
    """The centralities of all objects, the least first; outliers, or the least central, named.

    In per cent of the chart; ``ticks`` are lines across it, and what they stand for.
    """
    rows = facts["objects"]
    order = np.argsort([row["depth"] for row in rows], kind="stable").tolist()
    ranks = _even(len(order), MOST_CENTRALITIES)
    if len(ranks) < len(order):
        outlying = (rank for rank, i in enumerate(order) if rows[i]["outlier"])
        ranks = sorted({*ranks, *outlying})
    found = facts["outliers"]
    apart = [row["object"] for row in found["outliers"]] or found["least_central"]
    named = {facts["medoid"]["medoid"], *apart[:_MOST_NAMED]}
    top = _ceiling(max([row["high"] for row in rows], default=1.0))

    def up(value: float) -> float:
        return round(100 * (1 - value / top), 3)

    points = [
        {
            "i": i,
            "x": round(100 * (rank + 0.5) / max(len(order), 1), 3),
            "y": up(rows[i]["depth"]),
            "low": up(rows[i]["low"]),
            "high": up(rows[i]["high"]),
            "outlier": rows[i]["outlier"],
            "named": rows[i]["object"] in named,
        }
        for rank, i in ((rank, order[rank]) for rank in ranks)
    ]
    ticks = np.arange(0.0, top + 1e-9, _step(top)).tolist()
    return {
        "points": points,
        "ticks": [(up(tick), f"{100 * tick:.3g}%") for tick in ticks],
        "left_out": len(rows) - len(points),
    }


def _step(top: float) -> float:
    """A round step that divides 0 to ``top`` into three to seven parts."""
    magnitude = 10.0 ** np.floor(np.log10(max(top, 1e-9)))
    return float(
        next(s * magnitude for s in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0) if top / (s * magnitude) <= 7)
    )


def _ceiling(top: float) -> float:
    """The next round number."""
    step = _step(top)
    return min(float(np.ceil(max(top, step) / step - 1e-9) * step), max(top, 1.0))


# ---- the tree ----------------------------------------------------------------------------------


def tree_drawing(facts: Facts, place: Mapping[str, int]) -> Facts | None:
    """The tree, where a branch is claimed: the farther left two are joined, the less alike.

    From left to right in per cent, down in rows, whose height is in pixels.
    """
    found = facts["hierarchy"]
    if found is None or not any(branch["claimed"] for branch in found["branches"]):
        return None
    at = {name: (0.0, row + 0.5, False) for row, name in enumerate(found["order"])}
    top = max(branch["height"] for branch in found["branches"]) or 1.0
    lines, supports = [], []

    def across(height: float) -> float:
        return float(round(100 - 96 * height / top, 2))

    for branch in found["branches"]:
        # the two parts that are joined here, by the objects they have so far
        parts = sorted({at[name] for name in branch["objects"]}, key=lambda part: part[1])
        x = across(branch["height"])
        lines += [(x, across(height), y, y, claimed) for height, y, claimed in parts]
        first, last = parts[0][1], parts[-1][1]
        lines.append((x, x, first, last, branch["claimed"]))
        joint = (branch["height"], (first + last) / 2, branch["claimed"])
        if branch["claimed"]:
            supports.append((x, joint[1], f"{100 * branch['support']:.0f}%"))
        at |= dict.fromkeys(branch["objects"], joint)
    order = [place[name] for name in found["order"]]
    row = round(min(22.0, _HIGHEST / len(order)), 2)
    return {"order": order, "lines": lines, "supports": supports, "row": row}


# ---- groups of raters side by side -----------------------------------------------------------


def group_drawings(compared: Facts | None) -> list[Facts]:
    """A map of each group, all in one square of a hundred by a hundred."""
    groups = [] if compared is None else compared["groups"]
    planes = [(g["name"], np.array(g["plane"])) for g in groups if g["plane"] is not None]
    if compared is None or not planes:
        return []
    every = np.concatenate([plane for _, plane in planes])
    middle = (every.min(axis=0) + every.max(axis=0)) / 2
    scale = 88 / max(float(np.ptp(every, axis=0).max()), 1e-9)
    some = by_difference(compared, MOST_POINTS)
    differing, few = set(compared["differing"]), len(compared["objects"]) <= LANDMARKS
    found = []
    for group, plane in planes:
        places = 50 + (plane - middle) * [scale, -scale]
        points = []
        for i in some:
            name = compared["objects"][i]
            x, y = (round(float(v), 2) for v in places[i])
            differs = name in differing
            points.append(
                {"name": name, "x": x, "y": y, "differs": differs, "named": few or differs}
            )
        found.append({"name": group, "points": points})
    return found


def by_difference(compared: Facts | None, most: int) -> list[int]:
    """The objects that groups see most differently, these first."""
    if compared is None or compared["shift"] is None:
        return []
    p, shift = compared["object_p_value"], compared["shift"]
    order = sorted(range(len(shift)), key=lambda i: (1.0 if p is None else p[i], -shift[i]))
    return order[:most]
