"""The common style: Okabe and Ito's colors, plain axes, one marker per group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from trilens._parameters import real_array, shown
from trilens._tabular import shorten
from trilens._typing import AnyArray, FloatArray
from trilens.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Okabe and Ito's colour-blind safe colors, those that stand out on white first.
PALETTE = (
    "#0072B2",  # blue
    "#E69F00",  # orange
    "#009E73",  # bluish green
    "#CC79A7",  # reddish purple
    "#D55E00",  # vermilion
    "#56B4E9",  # sky blue
    "#8A8A8A",  # gray
    "#F0E442",  # yellow
)
INK = "#333333"
FAINT = "#B5B5B5"
ACCENT = "#D55E00"

#: Colors repeat after eight groups, but color and marker together only after forty.
MARKERS = ("o", "s", "^", "D", "v")


def colors(groups: Iterable[Any]) -> dict[Any, str]:
    """A color for each different group, in sorted order (numbers before text).

    >>> colors(["b", "a", "b"])
    {'a': '#0072B2', 'b': '#E69F00'}
    """
    return {group: PALETTE[i % len(PALETTE)] for i, group in enumerate(_sorted(groups))}


def markers(groups: Iterable[Any]) -> dict[Any, str]:
    """A marker for each different group, so that color is never the only difference."""
    return {group: MARKERS[i % len(MARKERS)] for i, group in enumerate(_sorted(groups))}


def _sorted(groups: Iterable[Any]) -> list[Any]:
    different = dict.fromkeys(g.item() if isinstance(g, np.generic) else g for g in groups)
    return sorted(different, key=lambda g: (isinstance(g, str), g))


def scatter_groups(ax: Axes, X: FloatArray, groups: Sequence[Any], size: float) -> None:
    """The points of each group in its color and with its marker, named for the legend."""
    colour, marker = colors(groups), markers(groups)
    for group in colour:
        mine = X[[g == group for g in groups]]
        ax.scatter(
            mine[:, 0], mine[:, 1], s=size, color=colour[group], marker=marker[group],
            label=str(group),
        )  # fmt: skip


def axes_or_new(ax: Axes | None, size: tuple[float, float] = (6.0, 4.0)) -> Axes:
    """The Axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError("trilens.plots", "plots") from None
    return plt.subplots(figsize=size, layout="constrained")[1]


def plain(ax: Axes, grid: str | None = None) -> None:
    """No box around the data; a faint grid along one axis where it helps reading values."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid is not None:
        ax.grid(axis=grid, color="#E3E3E3", linewidth=0.8)  # type: ignore[arg-type]
        ax.set_axisbelow(True)


def name_point(ax: Axes, name: str, at: tuple[float, float], below: bool = False) -> None:
    """Write a name beside a point, as it is: a dollar sign in it does not start a formula."""
    ax.annotate(
        shorten(name, 32), at, xytext=(4, -10 if below else 3), textcoords="offset points",
        fontsize=8, color=INK, parse_math=False,
    )  # fmt: skip


def name_rows(ax: Axes, at: Sequence[float] | AnyArray, names: Sequence[str]) -> None:
    """The names of the rows of a chart, cut in the middle where they are long."""
    ax.set_yticks(at, [shorten(name, 32) for name in names])
    for tick in ax.get_yticklabels():
        tick.set_parse_math(False)


def add_picture(
    ax: Axes, file: str | Path | BinaryIO, width: float, at: tuple[float, float], **box: Any
) -> None:
    """A picture whose longer side has ``width`` points, at a place."""
    import matplotlib.image as mpl_image
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    pixels = mpl_image.imread(file)
    shown = OffsetImage(pixels, zoom=width / max(pixels.shape[:2]))
    ax.add_artist(AnnotationBbox(shown, at, **box))


def bare(ax: Axes) -> None:
    """A plane without scales: only relative distances mean something."""
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_color(FAINT)


def plane(points: Any) -> FloatArray:
    """Points, or those of a fitted map, as an ``(n, 2)`` array, or what was given instead."""
    array = real_array("points", getattr(points, "embedding_", points))
    if array.ndim != 2 or array.shape[1] != 2:
        fits = ": fit the map with n_components=2" if hasattr(points, "embedding_") else ""
        raise ParameterError(
            f"points has shape {array.shape}; it must be (n, 2){fits}", parameter="points"
        )
    return array


def result_of(function: str, found: Any, attribute: str) -> None:
    """Refuse what was not found by this function, whose results have the attribute."""
    if not hasattr(found, attribute):
        raise ParameterError(
            f"expected what trilens.{function} finds, got {shown(found, 60)}", parameter="found"
        )


def one_each(values: Sequence[Any] | AnyArray | None, n: int, what: str) -> list[Any] | None:
    """One value for each of ``n`` objects."""
    if values is None:
        return None
    given = list(values.tolist() if isinstance(values, np.ndarray) else values)
    if len(given) != n:
        raise ParameterError(
            f"there are {len(given)} {what} for {n} objects; give one for each", parameter=what
        )
    return given
