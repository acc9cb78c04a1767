"""Lens depth of every place in the plane: the paper's illustration of what depth means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from trilens.errors import ParameterError
from trilens.plots.style import INK, axes_or_new, bare, plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def depth_heat_map(
    depth: ArrayLike,
    extent: tuple[float, float, float, float],
    *,
    points: ArrayLike | None = None,
    label: str = "lens depth",
    ax: Axes | None = None,
) -> Axes:
    """A heat map of depth over a rectangle, with the points that it refers to.

    Parameters
    ----------
    depth : (rows, columns) array
        Depth on a regular grid, the first row at the bottom: `exact.lens_depth_of` of the
        grid's places with respect to the points.
    extent : (left, right, bottom, top)
        Centres of the outermost columns and rows.
    points : (n, 2) array, optional

    Examples
    --------
    >>> ax = depth_heat_map([[0.0, 0.2], [0.1, 0.0]], (0, 1, 0, 1), points=[[0.5, 0.5]])
    >>> ax.get_images()[0].get_array().shape
    (2, 2)
    """
    values = np.asarray(depth, dtype=np.float64)
    if values.ndim != 2 or min(values.shape) < 2:
        raise ParameterError(f"a heat map needs a grid of depths, not an array of {values.shape}")
    left, right, bottom, top = extent
    # imshow's extent is the outer rim of the cells
    half_x = (right - left) / (values.shape[1] - 1) / 2
    half_y = (top - bottom) / (values.shape[0] - 1) / 2
    rim = (left - half_x, right + half_x, bottom - half_y, top + half_y)
    ax = axes_or_new(ax, (6.0, 5.0))
    shown = ax.imshow(values, origin="lower", extent=rim, cmap="cividis", interpolation="bilinear")
    ax.figure.colorbar(shown, ax=ax, label=label, shrink=0.8)
    if points is not None:
        X = plane(points)
        ax.scatter(X[:, 0], X[:, 1], s=9, color="white", edgecolor=INK, linewidth=0.5)
    bare(ax)
    return ax
