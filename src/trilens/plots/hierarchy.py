"""The figure of a tree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from trilens.plots.style import (
    ACCENT,
    FAINT,
    INK,
    add_picture,
    axes_or_new,
    name_rows,
    plain,
    result_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trilens.questions.hierarchy import Hierarchy

#: Inches of a row, of the whole figure, and rows beyond which names would overlap.
_ROW, _LEAST_HIGH, _MOST_HIGH, _MOST_NAMED = 0.2, 2.5, 60.0, 300
_ROW_WITH_PICTURE = 0.5


def tree(
    found: Hierarchy,
    *,
    pictures: Mapping[str, str | Path | BinaryIO] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The objects as a tree: the farther to the left they are joined, the less alike.

    Branches that the answers support are drawn in color, with their support in per cent.

    Parameters
    ----------
    found : Hierarchy
    pictures : mapping of name to file, optional
        Drawn beside the names.

    Examples
    --------
    >>> from trilens.questions.hierarchy import hierarchy
    >>> from trilens.statements import Statements
    >>> S = Statements([[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]], kind="central")
    >>> ax = tree(hierarchy(S))
    >>> len(ax.get_yticklabels())
    4
    """
    result_of("hierarchy", found, "linkage")
    n = len(found.names)
    row = _ROW if not pictures else _ROW_WITH_PICTURE
    ax = axes_or_new(ax, (8.0, float(np.clip(row * n + 0.8, _LEAST_HIGH, _MOST_HIGH))))
    place = {name: float(i) for i, name in enumerate(reversed(found.order))}
    at = [(0.0, place[name]) for name in found.names]
    claimed = [branch.claimed for branch in found.branches]
    lines, colours, widths = [], [], []
    for i, (one, other, height, _) in enumerate(found.linkage.tolist()):
        ends = [at[int(one)], at[int(other)]]
        low, high = sorted(y for _, y in ends)
        lines.append([(height, low), (height, high)])
        colours.append(ACCENT if claimed[i] else INK)
        widths.append(1.2)
        for part, (x, y) in zip((int(one), int(other)), ends, strict=True):
            told = part >= n and claimed[part - n]
            lines.append([(x, y), (height, y)])
            colours.append(ACCENT if told else INK)
            widths.append(2.0 if told else 1.2)
        at.append((height, (low + high) / 2))
        if claimed[i] and found.support is not None:
            ax.annotate(
                f"{100 * found.support[i]:.0f}", at[-1], xytext=(-3, 2), textcoords="offset points",
                ha="right", fontsize=7, color=ACCENT,
            )  # fmt: skip
    from matplotlib.collections import LineCollection

    ax.add_collection(LineCollection(lines, colors=colours, linewidths=widths))
    top = float(found.linkage[-1, 2]) or 1.0
    ax.set_xlim(1.04 * top, 0)
    ax.set_ylim(-0.7, n - 0.3)
    ax.yaxis.tick_right()
    ax.tick_params(axis="y", length=0, pad=26 if pictures else 3)
    if n <= _MOST_NAMED:
        name_rows(ax, list(place.values()), list(place))
    else:
        ax.set_yticks([])
    ax.set_xlabel("distance at which parts are joined (mean of all pairs: 1)")
    plain(ax)
    ax.spines[["left", "top", "right"]].set_visible(False)
    ax.spines["bottom"].set_color(FAINT)
    for name, file in (pictures or {}).items():
        if name in place:
            add_picture(
                ax,
                file,
                22,
                (1.0, place[name]),
                xybox=(14, 0),
                xycoords=("axes fraction", "data"),
                boxcoords="offset points",
                frameon=False,
                annotation_clip=False,
            )
    return ax
