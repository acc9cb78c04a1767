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

from trilens.errors import FormatError, MissingExtraError
from trilens.report.pictures import Picture, Pictures

if TYPE_CHECKING:
    from jinja2 import Template

#: What ``--json`` prints, and the templates take.
Facts: TypeAlias = dict[str, Any]

#: Where there are more, drawings show some of them, and the tables beside the page all.
MOST_POINTS = 1500
MOST_DEPTHS = 600
MOST_ROWS = 1000
MOST_MEMBERS = 60
MOST_CARDS = 12
MOST_TIPS = 5000
MOST_RATERS = 60


@dataclass(frozen=True)
class MapPoint:
    """An object on the map: its number, its place in per cent, and how it is marked."""

    i: int
    x: float
    y: float
    cluster: int
    label: int
    guessed: bool
    picture: bool


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


@dataclass(frozen=True)
class CurveDrawing:
    """A learning curve and its forecast, as points of SVG lines."""

    title: str
    said: str
    seen: str
    ahead: str
    band: str
    goal_y: str
    first: str
    last: str
    low: str
    high: str


@dataclass(frozen=True)
class ReliabilityDrawing:
    """What the part about reliability draws."""

    marks: list[ShareMark]
    raters: list[Facts]
    raters_left: int
    curves: list[CurveDrawing]


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
    from trilens.report import words  # after the template: it needs the same extra

    shown = {} if pictures is None else pictures.of
    objects = [_visible(row) for row in facts["objects"]]
    place = {row["object"]: i for i, row in enumerate(facts["objects"])}
    drawing, depths = _map_drawing(facts, shown), _depth_drawing(facts)
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
        rows=objects[:MOST_ROWS],
        classes=_classes(facts),
        limits={"members": MOST_MEMBERS, "cards": MOST_CARDS, "rows": MOST_ROWS},
        style=style,
        script=script,
        policy=_policy(style, script),
        drawn=_reliability_drawing(facts["reliability"]),
        data=_tips(facts, _told(facts, place, drawing, depths)),
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
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("trilens analyze", "report") from None
    environment = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["num"] = _number
    environment.filters["percent"] = lambda share: _number(100 * share, 0)
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
    return {**row, "shown": text, "short": text if len(text) <= 24 else text[:23] + "…"}


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


def _tips(facts: Facts, told: list[int]) -> dict[str, dict[int, list[str]]]:
    """What the script needs: the lines of the box that a hovered object shows."""
    from trilens.report import words

    tips = {}
    for i in told:
        row = facts["objects"][i]
        lines = [
            f"centrality {row['depth']:.2f} ({row['low']:.2f} to {row['high']:.2f})",
            f"in {words.count(row['appearances'], 'answer')}",
        ]
        if facts["cluster"]["n_clusters"] > 1:
            stays = "" if row["stays"] is None else f" (in {row['stays']:.0%} of repetitions)"
            lines.append(f"group {row['cluster'] + 1}{stays}")
        if row.get("class") is not None:
            lines.append(f"class {row['class']}")
        elif "answers_say" in row:
            lines.append(f"predicted class {row['answers_say']}")
        tips[i] = [row["object"], *lines]
    return {"tips": tips}


def _map_drawing(facts: Facts, pictures: Mapping[str, Picture]) -> MapDrawing:
    rows = facts["objects"]
    x = np.array([row["x"] for row in rows])
    y = -np.array([row["y"] for row in rows])
    wide, high = max(float(np.ptp(x)), 1e-9), max(float(np.ptp(y)), 1e-9)
    ratio = min(max(wide / high, 1.0), 1.7)
    # a picture needs more room at the rim than a dot
    room = 100 - 2 * (8.0 if pictures else 5.0)
    scale = min(room / wide, room / (high * ratio))
    left = 50 + (x - (x.min() + x.max()) / 2) * scale
    top = 50 + (y - (y.min() + y.max()) / 2) * scale * ratio
    drawn = _thinned(facts, MOST_POINTS)
    kept = set(drawn)
    labels = _classes(facts)
    of_class = {label: i for i, label in enumerate(labels)}
    points = []
    for i in drawn:
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
        )
        for rank in ranks
    ]
    step = _step(ceiling)
    ticks = [float(round(k * step, 10)) for k in range(round(ceiling / step) + 1)]
    return DepthDrawing(
        points=points,
        ticks=[Tick(up(tick), f"{tick:.2g}") for tick in ticks],
        thinned=len(rows) - len(points),
        ceiling=ceiling,
    )


def _step(top: float) -> float:
    """A round step that divides 0 to ``top`` into three to seven parts."""
    magnitude = 10.0 ** np.floor(np.log10(max(top, 1e-9)))
    return float(
        next(s * magnitude for s in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0) if top / (s * magnitude) <= 7)
    )


def _reliability_drawing(facts: Facts) -> ReliabilityDrawing:
    shares = [
        ("guessing", facts["chance"], None),
        ("predicted by a map", facts["predicted"], None),
        ("two answers agree", facts["ceiling"], facts["ceiling_interval"]),
        ("best possible", facts["reachable"], facts["reachable_interval"]),
    ]
    marks = [
        ShareMark(text, value, ends, f"rel-k{number}")
        for number, (text, value, ends) in enumerate(shares, 1)
        if value is not None
    ]
    raters = sorted(facts["raters"], key=lambda row: -row["blind"])
    return ReliabilityDrawing(
        marks=sorted(marks, key=lambda mark: mark.value),
        raters=raters[:MOST_RATERS],
        raters_left=max(len(raters) - MOST_RATERS, 0),
        curves=_curves(facts["forecast"]),
    )


def _curves(forecast: Facts | None) -> list[CurveDrawing]:
    if forecast is None:
        return []
    of_set, of_map = forecast["for_set"], forecast["for_map"]
    return [
        _curve(
            "Objects that could be the most central",
            forecast,
            "set_size",
            of_set["goal"],
            f"Narrowing them down to {of_set['goal']:g} takes {_answers(of_set)}.",
            from_zero=True,
        ),
        _curve(
            "How close the map is to that of unlimited answers",
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
    return f"about {need['answers']:,} answers in total{upto}"


def _curve(
    title: str, forecast: Facts, key: str, goal: float, said: str, *, from_zero: bool
) -> CurveDrawing:
    seen = [(point["answers"], point[key]) for point in forecast["points"]]
    ahead = [(e["answers"], e["value"], e["low"], e["high"]) for e in forecast[key]]
    start, end = np.log(seen[0][0]), np.log(ahead[-1][0])
    values = [y for _, y in seen] + [y for row in ahead for y in row[1:]] + [goal]
    bottom, top = (0.0 if from_zero else min(values)), max(values)
    if top <= bottom:
        top = bottom + 1.0

    def up(y: float) -> str:
        return f"{60 - 58 * (y - bottom) / (top - bottom):.2f}"

    def at(x: float, y: float) -> str:
        return f"{100 * (np.log(x) - start) / (end - start):.2f},{up(y)}"

    upper = [at(x, high) for x, _, _, high in ahead]
    lower = [at(x, low) for x, _, low, _ in reversed(ahead)]
    digits = 0 if from_zero else 2
    return CurveDrawing(
        title=title,
        said=said,
        seen=" ".join(at(x, y) for x, y in seen),
        ahead=" ".join(at(x, y) for x, y, _, _ in ahead),
        band=" ".join(upper + lower),
        goal_y=up(goal),
        first=f"{seen[0][0]:,}",
        last=f"{ahead[-1][0]:,.0f}",
        low=f"{bottom:.{digits}f}",
        high=f"{top:.{digits}f}",
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
