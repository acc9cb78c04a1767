"""Figures in the style of the paper's: panels of curves, sorted values, maps."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._typing import FloatArray
from trilens.errors import MissingExtraError
from trilens.files.output import atomic_write
from trilens_paper.framework.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Dots per inch of the pictures: legible, and small enough for the documentation.
DPI = 80


@dataclass(frozen=True)
class Curves:
    """One panel: the mean of a metric against a column, a curve for each method."""

    title: str
    #: Which rows; see `Results.where`.
    conditions: dict[str, Any]
    ylabel: str = ""
    #: The column along the x axis.
    x: str = "n_statements"
    log: bool = True
    #: What is averaged: ``value`` or a time.
    column: str = "value"
    #: Whether the smallest and the largest value are shown.
    spread: bool = False
    log_y: bool = False


_AXIS_NAMES = {
    "n_statements": "number of statements",
    "error_rate": "errorprob",
    "noise_param": "noiseparam",
    "item": "objects, sorted",
}


def new_figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """A figure outside of pyplot, so that nothing has to be closed, and its axes in order."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("trilens reproduce", "plots") from None

    figure = Figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    return figure, list(np.ravel(figure.subplots(rows, columns, squeeze=False)))


def curve_figure(results: Results, panels: Sequence[Curves], columns: int = 3) -> Figure:
    """Panels of curves with one legend; panels without any result are left out."""
    found = [(panel, results.where(**panel.conditions)) for panel in panels]
    found = [(panel, part) for panel, part in found if len(part)]
    columns = min(columns, max(len(found), 1))
    figure, axes = new_figure(max(-(-len(found) // columns), 1), columns, (4, 3))
    # the same colour for a method in every panel
    methods = {m for _, part in found for m in part.levels("method")}
    for ax, (panel, part) in zip(axes, found, strict=False):
        _draw_curves(ax, panel, part, methods)
    for ax in axes[len(found) :]:
        ax.set_axis_off()
    handles: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=min(len(handles), 5) or 1,
        frameon=False,
    )
    return figure


def _draw_curves(ax: Axes, panel: Curves, part: Results, methods: set[str]) -> None:
    from trilens.plots.style import colors, markers, plain

    colour, marker = colors(methods), markers(methods)
    for method in sorted(part.levels("method")):
        mine = part.where(method=method)
        at = sorted(mine.levels(panel.x))
        groups = [
            np.array(mine.where(**{panel.x: x}).column(panel.column), dtype=np.float64) for x in at
        ]
        means = [g.mean() for g in groups]
        ax.plot(at, means, color=colour[method], marker=marker[method], markersize=4, label=method)
        if panel.spread:
            low, high = [g.min() for g in groups], [g.max() for g in groups]
            ax.fill_between(at, low, high, color=colour[method], alpha=0.12, linewidth=0)
    if panel.log:
        ax.set_xscale("log")
    if panel.log_y:
        ax.set_yscale("log")
    else:
        ax.set_ylim(bottom=0)
    ax.set_title(panel.title, fontsize="medium")
    ax.set_xlabel(_AXIS_NAMES.get(panel.x, panel.x))
    ax.set_ylabel(panel.ylabel)
    plain(ax, grid="y")


def sorted_values(
    ax: Axes,
    values: Sequence[float],
    special: Sequence[int],
    title: str,
    colours: Sequence[Any] | None = None,
) -> None:
    """Values in increasing order, those of ``special`` objects marked, as the paper draws them.

    Each special object has its colour, where there are ``colours``.
    """
    from trilens.plots.style import ACCENT, PALETTE, plain

    order = np.argsort(values, kind="stable")
    y = np.asarray(values)[order]
    marked = np.isin(order, special)
    x = np.arange(1, len(y) + 1)
    ax.scatter(x[~marked], y[~marked], s=8, color=PALETTE[0])
    own = dict(zip(special, colours or [ACCENT] * len(special), strict=True))
    shade = [own[i] for i in order[marked]]
    ax.scatter(x[marked], y[marked], s=24, c=shade, marker="D", zorder=3)
    ax.set_title(title, fontsize="medium")
    ax.set_xlabel("objects, sorted")
    plain(ax, grid="y")


def point_cloud(ax: Axes, points: FloatArray, special: Sequence[int], title: str) -> list[str]:
    """A scatter plot with the ``special`` points in colours of their own; returns the colours."""
    from trilens.plots.style import PALETTE, bare

    regular = np.setdiff1d(np.arange(len(points)), special)
    ax.scatter(points[regular, 0], points[regular, 1], s=6, color="black")
    colours = [PALETTE[i] for i in (4, 2, 3, 1)[: len(special)]]
    ax.scatter(points[special, 0], points[special, 1], s=30, c=colours, marker="D", zorder=3)
    ax.set_title(title, fontsize="medium")
    bare(ax)
    return colours


def inlay(
    ax: Axes,
    values: Sequence[float],
    special: Sequence[int],
    colours: Sequence[Any],
    top: bool,
) -> None:
    """The ten values at the outlying end once more, drawn larger in a corner that is free."""
    from trilens.plots.style import PALETTE, plain

    order = np.argsort(values, kind="stable")
    order = order[-10:] if top else order[:10]
    # values rise to the right: the upper left corner is free, or the lower right if they rise soon
    soon = np.median(values) > (np.max(values) + np.min(values)) / 2
    inner = ax.inset_axes((0.56, 0.1, 0.4, 0.4) if soon else (0.12, 0.56, 0.4, 0.4))
    own = dict(zip(special, colours, strict=True))
    shade = [own.get(int(i), PALETTE[0]) for i in order]
    inner.scatter(np.arange(len(order)), np.asarray(values)[order], s=14, c=shade, marker="D")
    inner.set_xticks([])
    inner.tick_params(labelsize="x-small")
    plain(inner)


def save(figure: Figure, stem: Path) -> Path:
    """The figure as ``stem.png``, or ``stem.jpg`` where it shows photographs; returns the path."""
    from matplotlib.image import AxesImage, BboxImage
    from PIL import Image

    photographs = figure.findobj(lambda artist: isinstance(artist, AxesImage | BboxImage))
    path = stem.with_suffix(".jpg" if photographs else ".png")
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI)
    picture = Image.open(drawn).convert("RGB")
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        if photographs:
            picture.save(file, "JPEG", quality=70)
        else:
            # few colours are a third of the bytes
            picture.quantize(160).save(file, "PNG", optimize=True)
    return path
