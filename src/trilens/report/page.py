"""The facts as one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import json
import unicodedata
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens.errors import MissingExtraError
from trilens.report.pictures import Picture, Pictures
from trilens.report.reliability import room_of

if TYPE_CHECKING:
    from jinja2 import Template

Facts = dict[str, Any]

#: More than these are thinned out in drawings, or left to the tables beside the page.
MOST_POINTS = 1500
MOST_DEPTHS = 600
MOST_ROWS = 1000
MOST_MEMBERS = 60
MOST_CARDS = 12
MOST_TIPS = 5000


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
    style = asset("report.css") + asset("reliability.css") + drawing["css"]
    script = asset("report.js")
    view = {
        "facts": facts,
        "objects": objects,
        "place": place,
        "pictures": {place[name]: picture for name, picture in shown.items() if name in place},
        "missing": [] if pictures is None else list(pictures.missing),
        "broken": {} if pictures is None else pictures.broken,
        "words": words,
        "map": drawing,
        "depths": depths,
        "rows": objects[:MOST_ROWS],
        "classes": _classes(facts),
        "limits": {"members": MOST_MEMBERS, "cards": MOST_CARDS, "rows": MOST_ROWS},
        "style": style,
        "script": script,
        "policy": policy_of(style, script),
        "room": room_of(facts["reliability"]),
        "data": _script_json(_tips(facts, _told(facts, place, drawing, depths))),
    }
    return page.render(view)


def _classes(facts: Facts) -> list[str]:
    return sorted(facts["classify"]["classes"]) if facts["classify"] else []


def policy_of(style: str, script: str) -> str:
    """A content security policy that lets only the page's own style and script in."""
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{_digest(style)}'; "
        f"script-src 'sha256-{_digest(script)}'; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _script_json(data: Any) -> str:
    """JSON that may stand inside a script element: no name can end it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def asset(name: str) -> str:
    """A file of this room: a style sheet, a script or a template."""
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
    return environment.get_template(name)


def _number(value: float | None, digits: int = 2) -> str:
    if value is None:
        return "\N{EN DASH}"
    return f"{value:,.{digits}f}"


def _visible(row: Facts) -> Facts:
    """The row with a name that can be shown: control characters have no picture."""
    text = "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in ("Cc", "Cs") else c
        for c in row["object"]
    )
    return {**row, "shown": text, "short": text if len(text) <= 24 else text[:23] + "…"}


def _told(facts: Facts, place: dict[str, int], drawing: Facts, depths: Facts) -> list[int]:
    """The objects that can be hovered over: all, or of very many those that stand on the page."""
    n = len(facts["objects"])
    if n <= MOST_TIPS:
        return list(range(n))
    told = {point["i"] for point in (*drawing["points"], *depths["points"])}
    told |= set(range(MOST_ROWS))
    for group in facts["cluster"]["groups"]:
        told |= {place[name] for name in group["objects"][:MOST_MEMBERS]}
    if facts["classify"]:
        told |= {place[name] for name in list(facts["classify"]["labels"])[:MOST_ROWS]}
        told |= {place[row["object"]] for row in facts["classify"]["contradicted"][:MOST_ROWS]}
    return sorted(told)


def _tips(facts: Facts, told: list[int]) -> Facts:
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


def _map_drawing(facts: Facts, pictures: dict[str, Picture]) -> Facts:
    """Places in per cent of the map's width and height, the same scale both ways."""
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
    edges = [(i, j) for i, j in facts["map"]["edges"] if i in kept and j in kept]
    labels = _classes(facts)
    of_class = {label: i for i, label in enumerate(labels)}
    size = 66 if len(drawn) <= 70 else 54 if len(drawn) <= 120 else 42
    points = []
    for i in drawn:
        row = rows[i]
        known = row.get("answers_say") if row.get("class") is None else row["class"]
        points.append(
            {
                "i": i,
                "x": round(float(left[i]), 3),
                "y": round(float(top[i]), 3),
                "cluster": row["cluster"] + 1,
                "label": of_class.get(str(known), 0) + 1 if labels else 0,
                "guessed": bool(labels) and row.get("class") is None,
                "picture": row["object"] in pictures,
            }
        )
    return {
        "points": points,
        "edges": [
            [round(float(v), 2) for v in (left[i], top[i], left[j], top[j])] for i, j in edges
        ],
        "thinned": len(rows) - len(drawn),
        "size": size,
        "css": f".map-area{{aspect-ratio:{ratio:.3f}}}"
        f".pic{{aspect-ratio:{_common_ratio(pictures):.3f}}}",
        "by": "class" if labels else "cluster",
    }


def _common_ratio(pictures: dict[str, Picture]) -> float:
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


def _depth_drawing(facts: Facts) -> Facts:
    """The sorted scores in per cent of the chart."""
    rows = facts["objects"]
    score = np.array([row["depth"] for row in rows])
    order = np.argsort(score, kind="stable")
    outlying = {i for i, row in enumerate(rows) if row["outlier"]}
    if len(order) > MOST_DEPTHS:
        at = np.unique(np.linspace(0, len(order) - 1, MOST_DEPTHS).astype(int))
        keep = set(at.tolist()) | {r for r, i in enumerate(order) if i in outlying}
        ranks = sorted(keep)
    else:
        ranks = list(range(len(order)))
    top = max([row["high"] for row in rows], default=1.0)
    ceiling = _ceiling(top)
    n = max(len(order), 1)

    def up(value: float) -> float:
        return round(100 * (1 - value / ceiling), 3)

    points = [
        {
            "i": int(order[rank]),
            "x": round(100 * (rank + 0.5) / n, 3),
            "y": up(float(score[order[rank]])),
            "low": up(rows[order[rank]]["low"]),
            "high": up(rows[order[rank]]["high"]),
            "outlier": int(order[rank]) in outlying,
        }
        for rank in ranks
    ]
    return {
        "points": points,
        "ticks": [{"y": up(t), "text": f"{t:.2g}"} for t in _ticks(ceiling)],
        "thinned": len(rows) - len(points),
        "ceiling": ceiling,
    }


def _ceiling(top: float) -> float:
    step = _step(top)
    return float(np.ceil(max(top, step) / step - 1e-9) * step)


def _ticks(ceiling: float) -> list[float]:
    step = _step(ceiling)
    return [float(round(k * step, 10)) for k in range(round(ceiling / step) + 1)]


def _step(top: float) -> float:
    """A round step that divides 0 to ``top`` into three to seven parts."""
    magnitude = 10.0 ** np.floor(np.log10(max(top, 1e-9)))
    return float(
        next(s * magnitude for s in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0) if top / (s * magnitude) <= 7)
    )
