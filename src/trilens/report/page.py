"""The facts as one self-contained HTML page.

The facts are those of `Analysis.to_dict` and `Reliability.to_dict`.
"""

from __future__ import annotations

import base64
import hashlib
import unicodedata
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._tabular import shorten
from trilens.report import drawing, words
from trilens.report.citations import citations
from trilens.report.pictures import Picture, Pictures
from trilens.report.words import Facts
from trilens.words import p_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Template

#: Rows of a table, and objects that can be looked at one by one.
MOST_ROWS, MOST_TIPS = 1000, 5000


def write_report(facts: Facts, path: str | Path, pictures: Pictures | None = None) -> None:
    """Write the page to a file."""
    write_text(path, render(facts, pictures))


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
    shown = {} if pictures is None else pictures.of
    place = {row["object"]: i for i, row in enumerate(facts["objects"])}
    drawn = drawing.map_drawing(facts)
    sorted_ = drawing.centrality_drawing(facts)
    compared = facts["compare_groups"]
    told = _told(facts, {p["i"] for p in (*drawn["points"], *sorted_["points"])})
    style = asset("report.css") + f".pic{{aspect-ratio:{_common_ratio(shown):.3f}}}"
    script = asset("report.js")
    return template("report.html").render(
        facts=facts,
        r=facts["reliability"],
        title=facts["title"],
        version=facts["how"]["version"],
        objects=[_visible(row) for row in facts["objects"]],
        place=place,
        pictures={place[name]: picture for name, picture in shown.items() if name in place},
        missing=[] if pictures is None else list(pictures.missing),
        broken={} if pictures is None else pictures.broken,
        words=words,
        citations=citations(facts),
        map=drawn,
        sorted=sorted_,
        candidates=drawing.candidate_rows(facts, place),
        order=drawing.order_rows(facts, place),
        tree=drawing.tree_drawing(facts, place),
        raters=drawing.rater_rows(facts["reliability"]),
        shares=drawing.share_rows(facts["reliability"]),
        wrong=drawing.class_rows(facts) if facts["classify"] else None,
        classes=drawing.class_names(facts),
        compared=drawing.group_drawings(compared),
        by_difference=drawing.by_difference(compared, MOST_ROWS),
        limits={"rows": MOST_ROWS, "landmarks": drawing.LANDMARKS},
        style=style,
        script=script,
        policy=_policy(style, script),
        data=_data(facts, told),
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
    style = asset("report.css")
    page = template("reliability_page.html").render(
        r=facts,
        title=f"How good are the answers in {source}?",
        version=facts["version"],
        words=words,
        raters=drawing.rater_rows(facts),
        shares=drawing.share_rows(facts),
        limits={"rows": MOST_ROWS},
        style=style,
        policy=_policy(style, ""),
    )
    write_text(path, page)


def write_text(path: str | Path, text: str) -> None:
    """Write a file completely or not at all."""
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
    environment.filters["thousands"] = lambda number: f"{number:,}"
    environment.filters["share"] = lambda share: (
        words.percent(share) if share is not None else _number(None)
    )
    environment.filters["short"] = shorten
    environment.filters["p"] = p_text
    return environment.get_template(name)


def _number(value: float | None, digits: int = 2) -> str:
    return "\N{EN DASH}" if value is None else f"{round(value, digits) + 0.0:,.{digits}f}"


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


def _visible(row: Facts) -> Facts:
    """The row with a name that can be shown: control characters have no picture."""
    text = "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in ("Cc", "Cs") else c
        for c in row["object"]
    )
    return {**row, "shown": shorten(text, 60), "whole": text, "short": shorten(text)}


def _common_ratio(pictures: Mapping[str, Picture]) -> float:
    """The usual shape of the pictures, so that most of them fill their frames."""
    ratios = [picture.width / picture.height for picture in pictures.values()]
    return min(max(float(np.median(ratios)), 0.6), 1.8) if ratios else 4 / 3


def _told(facts: Facts, drawn: set[int]) -> list[int]:
    """The objects that can be looked at: all, or of very many those that stand on the page."""
    n = len(facts["objects"])
    return list(range(n)) if n <= MOST_TIPS else sorted(drawn | set(range(MOST_ROWS)))


def _data(facts: Facts, told: list[int]) -> dict[str, Any]:
    """What the script needs: what the box and the panel of an object show."""
    about, rows = facts["about_objects"], facts["objects"]
    return {
        "tips": {i: [rows[i]["object"], *words.about_object(facts, rows[i])] for i in told},
        "about": {i: about[i] for i in told if i < len(about)},
        "kind": facts["kind"],
        "unit": words.unit_of(facts),
    }
