"""Figures as files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from trilens.errors import FormatError
from trilens.files.output import atomic_write
from trilens.plots.hierarchy import tree
from trilens.plots.objects import object_map, sorted_depths
from trilens.plots.raters import group_maps
from trilens.plots.reliability import ceiling_bar, rater_intervals
from trilens.questions.reliability import Reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trilens.analysis import Analysis

#: The endings of figures.
FIGURE_ENDINGS = (".svg", ".png", ".pdf")


def save_figure(ax: Axes, *paths: str | Path) -> None:
    """Write the figure of some Axes to files, by their endings, and close it."""
    import matplotlib.pyplot as plt

    figure: Any = ax.figure
    try:
        for path in paths:
            with atomic_write(path) as file:
                file.write(_drawn(figure, path))
    finally:
        plt.close(figure)


def _drawn(figure: Any, path: str | Path) -> bytes:
    drawn = BytesIO()
    try:
        figure.savefig(drawn, format=Path(path).suffix[1:].lower() or "png", dpi=150)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise FormatError(f"{path}: the figure cannot be written: {why}") from error
    return drawn.getvalue()


def write_figures(
    found: Analysis | Reliability,
    folder: str | Path,
    *,
    pictures: Mapping[str, str | Path | BinaryIO] | None = None,
) -> list[str]:
    """Write every figure that the results allow to a folder, in each format.

    Parameters
    ----------
    found : Analysis or Reliability
    folder
        Created if it is missing.
    pictures : mapping of name to file, optional
        Of the objects, for the map.

    Returns
    -------
    list of str
        The names of the files.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"{folder}: the folder cannot be created: {error.strerror}") from error
    written = []
    if isinstance(found, Reliability):
        drawn = _of_reliability(found)
    else:
        drawn = _of_analysis(found, pictures)
    for name, ax in drawn:
        files = [f"{name}{ending}" for ending in FIGURE_ENDINGS]
        save_figure(ax, *(place / file for file in files))
        written += files
    return written


def _of_analysis(
    found: Analysis, pictures: Mapping[str, str | Path | BinaryIO] | None
) -> Iterator[tuple[str, Axes]]:
    names, groups = found.graph.names, found.clusters
    by = None
    if groups.n_clusters > 1:
        by = [f"group {label + 1}" if label >= 0 else "none" for label in groups.labels.tolist()]
    yield "map", object_map(found.plane, names=names, groups=by, pictures=pictures)
    centrality, apart = found.depth, set(found.outliers.names)
    lowest = {names[i] for i in centrality.depth.argsort(kind="stable")[: len(apart)].tolist()}
    yield (
        "centrality",
        sorted_depths(
            centrality.depth,
            low=centrality.low,
            high=centrality.high,
            # what stands apart need not be the least central
            n_outliers=len(apart) if apart == lowest else 0,
            names=names,
            label="centrality",
        ),
    )
    if found.hierarchy is not None and found.hierarchy.claimed:
        yield "tree", tree(found.hierarchy)
    compared = found.compared_groups
    if compared is not None and any(group.plane is not None for group in compared.groups):
        yield "group-maps", group_maps(compared)
    yield from _of_reliability(found.reliability)


def _of_reliability(found: Reliability) -> Iterator[tuple[str, Axes]]:
    yield "answers", ceiling_bar(found)
    if found.raters and not found.is_noise:
        yield "raters", rater_intervals(found)
