"""The facts as one self-contained HTML page, and as tables.

The facts are those of `Analysis.to_dict` and `Reliability.to_dict`; nothing is computed from them
but where to draw what.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from trilens._tabular import shorten
from trilens._typing import FloatArray
from trilens.errors import FormatError
from trilens.maps.geometry import landmarks
from trilens.questions.clouds import p_text
from trilens.report.pictures import Picture, Pictures

if TYPE_CHECKING:
    from jinja2 import Template

#: What ``--json`` prints, and the templates take.
Facts: TypeAlias = dict[str, Any]

#: Raters of another view: what others say does not tell their guesses.
OTHER_VIEWS = ("differs", "inverted", "unclear")
#: Where there are more, drawings show some of them, and the tables beside the page all.
MOST_POINTS = 1500
MOST_DEPTHS = 600
MOST_ROWS = 1000
MOST_MEMBERS = 60
MOST_CARDS = 12
MOST_TIPS = 5000
MOST_RATERS = 60
#: Objects in order along a line, or around a ring.
MOST_IN_ORDER = 40
MOST_AROUND, MOST_LETTERS = 72, 18
#: Names that stand on a map of many objects before it is looked into.
LANDMARKS = 30
#: Names beside the sorted depths.
MOST_NAMED = 8


@dataclass(frozen=True)
class MapPoint:
    """An object on the map: its number, its place in per cent, and how it is marked.

    ``rank`` says whose name comes first where there is no room for all.
    """

    i: int
    x: float
    y: float
    cluster: int
    label: int
    guessed: bool
    picture: bool
    rank: int


@dataclass(frozen=True)
class MapDrawing:
    """The map: places in per cent of its width and height, the same scale both ways."""

    points: list[MapPoint]
    edges: list[list[float]]
    thinned: int
    size: int
    css: str
    by: str


@dataclass(frozen=True)
class DepthPoint:
    """An object among the sorted depths, in per cent of the chart."""

    i: int
    x: float
    y: float
    low: float
    high: float
    outlier: bool
    named: bool


@dataclass(frozen=True)
class InOrder:
    """An object along a line, in per cent of it, or around a ring, in units of its picture."""

    i: int
    at: float
    low: float
    high: float
    path: str = ""
    x: float = 0.0
    y: float = 0.0
    turn: float = 0.0
    end: bool = False


@dataclass(frozen=True)
class OrderDrawing:
    """The objects along a line or around a ring, with how sure their places are."""

    shape: str
    points: list[InOrder]
    left_out: int
    reach: int = 0


@dataclass(frozen=True)
class TreeLine:
    """A line of the tree: from left to right in per cent, down in rows."""

    x1: float
    x2: float
    y1: float
    y2: float
    claimed: bool


@dataclass(frozen=True)
class TreeDrawing:
    """The objects as a tree; supports stand at the joints of branches that are claimed."""

    order: list[int]
    lines: list[TreeLine]
    supports: list[tuple[float, float, str]]


@dataclass(frozen=True)
class Tick:
    """A line across the chart of depths."""

    y: float
    text: str


@dataclass(frozen=True)
class DepthDrawing:
    """The sorted depths."""

    points: list[DepthPoint]
    ticks: list[Tick]
    thinned: int
    ceiling: float


@dataclass(frozen=True)
class ShareMark:
    """A share of the answers that is marked on the bar from 0 to 100 %."""

    text: str
    value: float
    ends: list[float] | None
    css: str
    fact: str


@dataclass(frozen=True)
class ReliabilityDrawing:
    """What the part about reliability draws."""

    marks: list[ShareMark]
    raters: list[Facts]
    raters_left: int


def write_report(facts: Facts, path: str | Path, pictures: Pictures | None = None) -> None:
    """Write the page to a file."""
    _write(path, render(facts, pictures))


def render(facts: Facts, pictures: Pictures | None = None) -> str:
    """One HTML page that needs nothing else: no other file, no other host.

    Parameters
    ----------
    facts : dict
        Of `Analysis.to_dict`.
    pictures : Pictures, optional
        Of `load_pictures`.

    Returns
    -------
    str
        Every name in it is text: markup in a name is shown, not obeyed, and a content
        security policy lets only the page's own script run.
    """
    page = template("report.html")
    from trilens.report import words

    shown = {} if pictures is None else pictures.of
    objects = [_visible(row) for row in facts["objects"]]
    place = {row["object"]: i for i, row in enumerate(facts["objects"])}
    drawing, depths = _map_drawing(facts, shown), _depth_drawing(facts)
    order = _order_drawing(facts, place)
    unseen = 0 if pictures is None else len(pictures.missing) + len(pictures.broken)
    style, script = asset("report.css") + drawing.css, asset("report.js")
    return page.render(
        facts=facts,
        r=facts["reliability"],
        objects=objects,
        place=place,
        pictures={place[name]: picture for name, picture in shown.items() if name in place},
        missing=[] if pictures is None else list(pictures.missing),
        broken={} if pictures is None else pictures.broken,
        words=words,
        map=drawing,
        depths=depths,
        order=order,
        tree=_tree_drawing(facts, place),
        unseen=unseen,
        rows=objects[:MOST_ROWS],
        classes=_classes(facts),
        limits={
            "members": MOST_MEMBERS,
            "cards": MOST_CARDS,
            "rows": MOST_ROWS,
            "landmarks": LANDMARKS,
            "letters": MOST_LETTERS,
        },
        style=style,
        script=script,
        policy=_policy(style, script),
        drawn=_reliability_drawing(facts["reliability"]),
        compared=_group_drawings(facts["compare_groups"]),
        by_difference=_by_difference(facts["compare_groups"]),
        data=_data(facts, _told(facts, place, drawing, depths)),
    )


def write_reliability(facts: Facts, path: str | Path, source: str) -> None:
    """Write a page about reliability alone.

    Parameters
    ----------
    facts : dict
        Of `Reliability.to_dict`.
    path
    source : str
        The name of the statement file.
    """
    page = template("reliability_page.html")
    from trilens.report import words

    style = asset("report.css")
    drawn = _reliability_drawing(facts)
    policy = _policy(style, "")
    _write(
        path,
        page.render(r=facts, drawn=drawn, words=words, source=source, style=style, policy=policy),
    )


def _write(path: str | Path, text: str) -> None:
    from trilens.files import atomic_write

    with atomic_write(path) as file:
        # a name read from elsewhere may hold half a character, which UTF-8 has no bytes for
        file.write(text.encode("utf-8", "replace"))


@cache
def asset(name: str) -> str:
    """A style sheet, a script or a template."""
    return (resources.files("trilens.report") / name).read_text(encoding="utf-8")


@cache
def template(name: str) -> Template:
    """A page that values can be filled into."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["num"] = _number
    environment.filters["percent"] = lambda share, digits=0: _number(100 * share, digits)
    environment.filters["short"] = shorten
    environment.filters["p"] = p_text
    return environment.get_template(name)


def _number(value: float | None, digits: int = 2) -> str:
    if value is None:
        return "\N{EN DASH}"
    return f"{value:,.{digits}f}"


def _policy(style: str, script: str) -> str:
    """A content security policy that lets only the page's own style and script in."""
    own, run = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
        for text in (style, script)
    )
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{own}'; "
        f"script-src 'sha256-{run}'; base-uri 'none'; form-action 'none'"
    )


def _classes(facts: Facts) -> list[str]:
    return sorted(facts["classify"]["classes"]) if facts["classify"] else []


def _visible(row: Facts) -> Facts:
    """The row with a name that can be shown: control characters have no picture."""
    text = "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in ("Cc", "Cs") else c
        for c in row["object"]
    )
    return {**row, "shown": shorten(text, 60), "whole": text, "short": shorten(text)}


def _told(
    facts: Facts, place: Mapping[str, int], drawing: MapDrawing, depths: DepthDrawing
) -> list[int]:
    """The objects that can be hovered over: all, or of very many those that stand on the page."""
    n = len(facts["objects"])
    if n <= MOST_TIPS:
        return list(range(n))
    told = {point.i for point in drawing.points} | {point.i for point in depths.points}
    told |= set(range(MOST_ROWS))
    for group in facts["cluster"]["groups"]:
        told |= {place[name] for name in group["objects"][:MOST_MEMBERS]}
    if facts["classify"]:
        told |= {place[name] for name in list(facts["classify"]["labels"])[:MOST_ROWS]}
        told |= {place[row["object"]] for row in facts["classify"]["contradicted"][:MOST_ROWS]}
    return sorted(told)


def _data(facts: Facts, told: list[int]) -> dict[str, Any]:
    """What the script needs: what the box and the panel of an object show."""
    about = facts["about_objects"]
    return {
        "tips": _tips(facts, told),
        "about": {i: about[i] for i in told if i < len(about)},
        "kind": facts["kind"],
        "unit": facts["reliability"]["rater_unit"] or "rater",
    }


def _tips(facts: Facts, told: list[int]) -> dict[int, list[str]]:
    """The lines of the box that a hovered object shows."""
    from trilens.report import words

    tips = {}
    for i in told:
        row = facts["objects"][i]
        sure = words.span(row["low"], row["high"], 1)
        lines = [
            f"centrality {100 * row['depth']:.1f}% ({sure})",
            f"in {words.count(row['appearances'], 'answer')}",
        ]
        if facts["cluster"]["n_clusters"] > 1:
            stays = "" if row["stays"] is None else f" (in {row['stays']:.0%} of repetitions)"
            group = f"group {row['cluster'] + 1}{stays}"
            lines.append(group if row["cluster"] >= 0 else "in no group")
        if row.get("class") is not None:
            lines.append(f"class {row['class']}")
        elif "answers_say" in row:
            sure = (facts["classify"]["probabilities"] or {}).get(row["object"])
            said = "" if sure is None else f" (probability {sure:.0%})"
            lines.append(f"predicted class {row['answers_say']}{said}")
        tips[i] = [row["object"], *lines]
    return tips


def _map_drawing(facts: Facts, pictures: Mapping[str, Picture]) -> MapDrawing:
    rows = facts["objects"]
    x = np.array([row["x"] for row in rows])
    y = -np.array([row["y"] for row in rows])
    wide, high = max(float(np.ptp(x)), 1e-9), max(float(np.ptp(y)), 1e-9)
    flat = facts["structure"] is not None and facts["structure"]["shape"] == "line"
    ratio = min(max(wide / high, 1.0), 4.0 if flat else 1.7)
    # a picture needs more room at the rim than a dot
    room = 100 - 2 * (8.0 if pictures else 5.0)
    scale = min(room / wide, room / (high * ratio))
    left = 50 + (x - (x.min() + x.max()) / 2) * scale
    top = 50 + (y - (y.min() + y.max()) / 2) * scale * ratio
    drawn = _thinned(facts, MOST_POINTS)
    kept = set(drawn)
    ranks = _named_first(facts, drawn, np.column_stack([left, top / ratio])[drawn])
    labels = _classes(facts)
    of_class = {label: i for i, label in enumerate(labels)}
    points = []
    for i, rank in zip(drawn, ranks, strict=True):
        row = rows[i]
        known = row.get("answers_say") if row.get("class") is None else row["class"]
        points.append(
            MapPoint(
                i=i,
                x=round(float(left[i]), 3),
                y=round(float(top[i]), 3),
                cluster=row["cluster"] + 1,
                label=of_class.get(str(known), 0) + 1 if labels else 0,
                guessed=bool(labels) and row.get("class") is None,
                picture=row["object"] in pictures,
                rank=rank,
            )
        )
    return MapDrawing(
        points=points,
        edges=[
            [round(float(v), 2) for v in (left[i], top[i], left[j], top[j])]
            for i, j in facts["map"]["edges"]
            if i in kept and j in kept
        ],
        thinned=len(rows) - len(drawn),
        size=66 if len(drawn) <= 70 else 54 if len(drawn) <= 120 else 42,
        css=f".map-area{{aspect-ratio:{ratio:.3f}}}"
        f".pic{{aspect-ratio:{_common_ratio(pictures):.3f}}}",
        by="class" if labels else "cluster",
    )


def _group_drawings(compared: Facts | None) -> list[Facts]:
    """A map of each group, all in one square of a hundred by a hundred."""
    groups = [] if compared is None else compared["groups"]
    planes = [(g["name"], np.array(g["plane"])) for g in groups if g["plane"] is not None]
    if compared is None or not planes:
        return []
    every = np.concatenate([plane for _, plane in planes])
    middle = (every.min(axis=0) + every.max(axis=0)) / 2
    scale = 88 / max(float(np.ptp(every, axis=0).max()), 1e-9)
    some = _by_difference(compared, MOST_POINTS)
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


def _by_difference(compared: Facts | None, most: int = MOST_ROWS) -> list[int]:
    """The objects that groups see most differently, these first."""
    if compared is None or compared["shift"] is None:
        return []
    p, shift = compared["object_p_value"], compared["shift"]
    order = sorted(range(len(shift)), key=lambda i: (1.0 if p is None else p[i], -shift[i]))
    return order[:most]


def _named_first(facts: Facts, drawn: list[int], places: FloatArray) -> list[int]:
    """Whose name comes first on the map: who is spoken of, then who is farthest from those."""
    rows = facts["objects"]
    spoken = [
        facts["medoid"]["medoid"],
        *(group["medoid"] for group in facts["cluster"]["groups"]),
        *(row["object"] for row in facts["outliers"]["outliers"][:MOST_NAMED]),
    ]
    order = {rows[i]["object"]: k for k, i in enumerate(drawn)}
    first = list(dict.fromkeys(order[name] for name in spoken if name in order))
    rank = np.empty(len(drawn), dtype=np.int64)
    rank[landmarks(places, first)] = np.arange(len(drawn))
    return [int(each) for each in rank]


def _order_drawing(facts: Facts, place: Mapping[str, int]) -> OrderDrawing | None:
    """The objects along a line or around a ring."""
    found = facts["structure"]
    if found is None or found["shape"] not in ("line", "ring") or "interval" not in found:
        return None
    names = found["order"]
    most = MOST_IN_ORDER if found["shape"] == "line" else MOST_AROUND
    some = np.unique(np.linspace(0, len(names) - 1, min(most, len(names))).astype(int))
    kept = [names[k] for k in some]
    ends = found["interval"]
    points = []
    if found["shape"] == "line":
        low = min(0.0, *(ends[name][0] for name in kept))
        high = max(1.0, *(ends[name][1] for name in kept))

        def across(value: float) -> float:
            return float(round(100 * (value - low) / (high - low), 2))

        for name in kept:
            at, (start, end) = found["position"][name], ends[name]
            points.append(InOrder(place[name], across(at), across(start), across(end)))
    else:
        points = [_around(place[name], found["angle"][name], *ends[name]) for name in kept]
    longest = max(len(shorten(name, MOST_LETTERS)) for name in kept)
    reach = round(_NAMES + 6.5 * longest)
    return OrderDrawing(found["shape"], points, len(names) - len(kept), reach)


def _tree_drawing(facts: Facts, place: Mapping[str, int]) -> TreeDrawing | None:
    """The tree: objects below each other, joined the farther to the left the less alike."""
    found = facts["hierarchy"]
    if found is None or not found["branches"]:
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
        lines += [TreeLine(x, across(part[0]), part[1], part[1], part[2]) for part in parts]
        first, last = parts[0][1], parts[-1][1]
        lines.append(TreeLine(x, x, first, last, branch["claimed"]))
        joint = (branch["height"], (first + last) / 2, branch["claimed"])
        if branch["claimed"]:
            supports.append((x, joint[1], f"{100 * branch['support']:.0f}%"))
        at |= dict.fromkeys(branch["objects"], joint)
    return TreeDrawing([place[name] for name in found["order"]], lines, supports)


#: The radius of a ring's drawing, and where its names begin.
_RADIUS, _NAMES = 100.0, 110.0


def _around(i: int, angle: float, low: float, high: float) -> InOrder:
    """An object on a ring: the arc where it may be, and its name beside it, upright."""

    def at(degrees: float, radius: float) -> tuple[float, float]:
        turn = np.radians(degrees - 90)
        return float(radius * np.cos(turn)), float(radius * np.sin(turn))

    (x1, y1), (x2, y2) = at(low, _RADIUS), at(high, _RADIUS)
    wide = int(high - low > 180)
    arc = f"M{x1:.1f} {y1:.1f}A{_RADIUS:g} {_RADIUS:g} 0 {wide} 1 {x2:.1f} {y2:.1f}"
    x, y = at(angle, _RADIUS)
    turn = (angle - 90) % 360
    left = 90 < turn < 270
    return InOrder(
        i, round(angle, 1), round(low, 1), round(high, 1), arc, round(x, 2), round(y, 2),
        round(turn + 180 if left else turn, 1), left,
    )  # fmt: skip


def _common_ratio(pictures: Mapping[str, Picture]) -> float:
    """The usual shape of the pictures, so that most of them fill their frames."""
    ratios = [picture.width / picture.height for picture in pictures.values()]
    return min(max(float(np.median(ratios)), 0.6), 1.8) if ratios else 4 / 3


def _thinned(facts: Facts, most: int) -> list[int]:
    """The objects to draw: all, or those that the page speaks of and an even choice of others."""
    rows = facts["objects"]
    if len(rows) <= most:
        return list(range(len(rows)))
    spoken = {facts["medoid"]["medoid"], *facts["medoid"]["candidates"][:50]}
    spoken |= {row["object"] for row in facts["outliers"]["outliers"][:50]}
    spoken |= {group["medoid"] for group in facts["cluster"]["groups"]}
    always = [i for i, row in enumerate(rows) if row["object"] in spoken]
    others = [i for i, row in enumerate(rows) if row["object"] not in spoken]
    step = np.linspace(0, len(others) - 1, most - len(always)).astype(int)
    return sorted(always + [others[i] for i in np.unique(step)])


def _depth_drawing(facts: Facts) -> DepthDrawing:
    rows = facts["objects"]
    order = np.argsort(np.array([row["depth"] for row in rows]), kind="stable").tolist()
    ranks = list(range(len(order)))
    if len(order) > MOST_DEPTHS:
        even = np.linspace(0, len(order) - 1, MOST_DEPTHS).astype(int).tolist()
        ranks = sorted({*even, *(rank for rank in ranks if rows[order[rank]]["outlier"])})
    top = max([row["high"] for row in rows], default=1.0)
    named = _named_depths(facts)
    step = _step(top)
    ceiling = float(np.ceil(max(top, step) / step - 1e-9) * step)

    def up(value: float) -> float:
        return round(100 * (1 - value / ceiling), 3)

    points = [
        DepthPoint(
            i=order[rank],
            x=round(100 * (rank + 0.5) / max(len(order), 1), 3),
            y=up(rows[order[rank]]["depth"]),
            low=up(rows[order[rank]]["low"]),
            high=up(rows[order[rank]]["high"]),
            outlier=rows[order[rank]]["outlier"],
            named=rows[order[rank]]["object"] in named,
        )
        for rank in ranks
    ]
    step = _step(ceiling)
    ticks = [float(round(k * step, 10)) for k in range(round(ceiling / step) + 1)]
    return DepthDrawing(
        points=points,
        ticks=[Tick(up(tick), f"{100 * tick:.3g}%") for tick in ticks],
        thinned=len(rows) - len(points),
        ceiling=ceiling,
    )


def _named_depths(facts: Facts) -> set[str]:
    """Whose names stand beside the sorted depths: outliers, else the least and the most central."""
    found = facts["outliers"]
    apart = [row["object"] for row in found["outliers"]]
    return {facts["medoid"]["medoid"], *(apart or found["least_central"])[:MOST_NAMED]}


def _step(top: float) -> float:
    """A round step that divides 0 to ``top`` into three to seven parts."""
    magnitude = 10.0 ** np.floor(np.log10(max(top, 1e-9)))
    return float(
        next(s * magnitude for s in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0) if top / (s * magnitude) <= 7)
    )


def _reliability_drawing(facts: Facts) -> ReliabilityDrawing:
    shares = [
        ("guessing", "chance", facts["chance"], None),
        ("predicted by a map", "predicted", facts["predicted"], None),
        ("two answers agree", "agreement", facts["ceiling"], facts["ceiling_interval"]),
        ("best possible", "reachable", facts["reachable"], facts["reachable_interval"]),
    ]
    marks = [
        ShareMark(text, value, ends, f"rel-k{number}", key)
        for number, (text, key, value, ends) in enumerate(shares, 1)
        if value is not None
    ]
    raters = [row for row in facts["raters"] if row["verdict"] not in OTHER_VIEWS]
    raters = sorted(raters, key=lambda row: -row["blind"])
    return ReliabilityDrawing(
        marks=sorted(marks, key=lambda mark: mark.value),
        raters=raters[:MOST_RATERS],
        raters_left=max(len(raters) - MOST_RATERS, 0),
    )


def write_tables(facts: Facts, folder: str | Path) -> list[Path]:
    """Write the facts as CSV files: objects, groups, raters, edges and more.

    Parameters
    ----------
    facts : dict
        Of `Analysis.to_dict`.
    folder
        Created if it is missing.

    Returns
    -------
    list of Path
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(
            f"{folder}: the folder for the tables cannot be made: {error.strerror}; give another"
        ) from error
    written = []
    for name, header, rows in _tables(facts):
        text = io.StringIO(newline="")
        table = csv.writer(text)
        table.writerow(header)
        table.writerows(rows)
        written.append(place / f"{name}.csv")
        _write(written[-1], text.getvalue())
    return written


def _tables(facts: Facts) -> Iterable[tuple[str, Sequence[str], list[list[Any]]]]:
    yield _records("objects", [_counted_from_one(row) for row in facts["objects"]])
    names = [row["object"] for row in facts["objects"]]
    groups = [_counted_from_one(group) for group in facts["cluster"]["groups"]]
    yield _records("groups", groups, without=("objects", "classes"))
    suggestion = facts["cluster"]["suggestion"]
    if suggestion and suggestion["candidates"]:
        yield _records("group_numbers", suggestion["candidates"])
    if facts["reliability"]["raters"]:
        unit = facts["reliability"]["rater_unit"] or "rater"
        yield _records(f"{unit}s", facts["reliability"]["raters"])
    edges = [[names[i], names[j]] for i, j in facts["map"]["edges"]]
    yield "edges", ["object_1", "object_2"], edges
    if facts["classify"] is not None and facts["classify"]["contradicted"]:
        yield _records("contradicted_labels", facts["classify"]["contradicted"])


def _counted_from_one(row: Facts) -> Facts:
    """The row with its group named as people name it: groups are counted from 1."""
    return {
        "group" if key == "cluster" else key: value + 1 if key == "cluster" else value
        for key, value in row.items()
    }


def _records(
    name: str, rows: list[Facts], without: Sequence[str] = ()
) -> tuple[str, list[str], list[list[Any]]]:
    header = [key for key in (rows[0] if rows else ()) if key not in without]
    return name, header, [[row[column] for column in header] for row in rows]
