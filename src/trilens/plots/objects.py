"""Figures of objects: their depths, how often they were asked about, maps and graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import real_array, whole_number
from trilens._typing import AnyArray
from trilens.errors import ParameterError
from trilens.maps.geometry import landmarks
from trilens.plots.style import (
    ACCENT,
    FAINT,
    INK,
    PALETTE,
    add_picture,
    axes_or_new,
    bare,
    colors,
    name_point,
    one_each,
    plain,
    plane,
    scatter_groups,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trilens.maps.estimator import MapEstimator

#: Names on a map of many objects, and of the lowest depths where none is an outlier.
_MOST_NAMES, _LOWEST = 60, 3


def sorted_depths(
    depth: ArrayLike,
    *,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    n_outliers: int = 0,
    names: Sequence[str] | None = None,
    label: str = "estimated lens depth",
    ax: Axes | None = None,
) -> Axes:
    """Depths in increasing order, as the paper draws them to find outliers.

    Parameters
    ----------
    depth : (n,) array
        For example `lens_depth`, or ``Outliers.all_scores``.
    low, high : (n,) arrays, optional
        Ends of the intervals, from `depth_intervals`.
    n_outliers : int
        How many of the lowest are outliers: they are named and stand left of the cut. Where
        there are none, the three lowest are named.
    names : (n,) sequence of str, optional
    label : str
        What the depths are, for the axis.

    Examples
    --------
    >>> ax = sorted_depths([0.3, 0.1, 0.35, 0.4], n_outliers=1, names=["a", "b", "c", "d"])
    >>> [text.get_text() for text in ax.texts]
    ['b']
    """
    values = real_array("depth", depth)
    if values.ndim != 1:
        raise ParameterError(
            f"depth has shape {values.shape}; it must be (n,), one for each object",
            parameter="depth",
        )
    n = len(values)
    n_outliers = whole_number("n_outliers", n_outliers, 0, n)
    named = one_each(names, n, "names")
    order = np.argsort(values, kind="stable")
    rank = np.arange(1, n + 1)
    ax = axes_or_new(ax, (7.0, 4.0))
    if low is not None and high is not None:
        ends = real_array("low", low)[order], real_array("high", high)[order]
        ax.vlines(rank, *ends, color=FAINT, linewidth=1.2, label="interval")
    ax.scatter(rank[n_outliers:], values[order[n_outliers:]], s=18, color=PALETTE[0], zorder=3)
    if n_outliers:
        out = order[:n_outliers]
        ax.scatter(rank[:n_outliers], values[out], s=26, color=ACCENT, marker="D", zorder=3)
        ax.axvline(n_outliers + 0.5, color=ACCENT, linewidth=1, linestyle="--")
    if named is not None:
        for x, i in zip(rank, order[: n_outliers or _LOWEST], strict=False):
            name_point(ax, named[i], (float(x), float(values[i])), below=True)
    ax.set_xlabel("objects, least central first")
    ax.set_ylabel(label)
    plain(ax, grid="y")
    return ax


def depth_against_depth(
    features: ArrayLike, labels: Sequence[Any] | AnyArray, *, ax: Axes | None = None
) -> Axes:
    """Depth in one class against depth in the other: the plane in which Algorithm 3 classifies.

    Parameters
    ----------
    features : (n, 2) array
        ``LensDepthClassifier.features_``.
    labels : (n,) sequence
        The class of each object, the first of the sorted ones being that of the first column; None
        or -1 for unlabeled ones, drawn in gray.

    Examples
    --------
    >>> ax = depth_against_depth([[0.4, 0.1], [0.1, 0.5], [0.3, 0.2]], ["a", "b", None])
    >>> ax.get_xlabel()
    'depth in class a'
    """
    X = real_array("features", features)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ParameterError(
            f"features has shape {X.shape}; it must be (n, 2), a column for each class",
            parameter="features",
        )
    given = one_each(labels, len(X), "labels") or []
    known = [label for label in given if label is not None and label != -1]
    classes = list(colors(known))
    if len(classes) != 2:
        raise ParameterError(
            f"there are {len(classes)} classes, and the figure compares two", parameter="labels"
        )
    first, second = classes
    ax = axes_or_new(ax, (5.0, 5.0))
    unknown = np.array([label is None or label == -1 for label in given], dtype=bool)
    scatter_groups(ax, X[~unknown], known, 28)
    if unknown.any():
        ax.scatter(X[unknown, 0], X[unknown, 1], s=18, color=FAINT, label="unlabeled")
    top = float(X.max(initial=0.1)) * 1.05
    ax.plot([0, top], [0, top], color=FAINT, linewidth=1, linestyle="--", zorder=0)
    ax.set_xlabel(f"depth in class {first}")
    ax.set_ylabel(f"depth in class {second}")
    ax.legend(frameon=False)
    plain(ax)
    return ax


def depth_heat_map(
    depth: ArrayLike,
    extent: tuple[float, float, float, float],
    *,
    points: ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A heat map of depth over a rectangle, with the points that it refers to.

    Parameters
    ----------
    depth : (rows, columns) array
        Depth on a regular grid, the first row at the bottom: `exact.lens_depth` of the
        points, the places of the grid being ``queries``.
    extent : (left, right, bottom, top)
        Centers of the outermost columns and rows.
    points : (n, 2) array, optional

    Examples
    --------
    >>> ax = depth_heat_map([[0.0, 0.2], [0.1, 0.0]], (0, 1, 0, 1), points=[[0.5, 0.5]])
    >>> ax.get_images()[0].get_array().shape
    (2, 2)
    """
    values = real_array("depth", depth)
    if values.ndim != 2 or min(values.shape) < 2:
        raise ParameterError(
            f"depth has shape {values.shape}; it must be a grid of at least 2 x 2",
            parameter="depth",
        )
    left, right, bottom, top = extent
    # imshow's extent is the outer rim of the cells
    half_x = (right - left) / (values.shape[1] - 1) / 2
    half_y = (top - bottom) / (values.shape[0] - 1) / 2
    rim = (left - half_x, right + half_x, bottom - half_y, top + half_y)
    ax = axes_or_new(ax, (6.0, 5.0))
    shown = ax.imshow(values, origin="lower", extent=rim, cmap="cividis", interpolation="bilinear")
    ax.figure.colorbar(shown, ax=ax, label="lens depth", shrink=0.8)
    if points is not None:
        X = plane(points)
        ax.scatter(X[:, 0], X[:, 1], s=9, color="white", edgecolor=INK, linewidth=0.5)
    bare(ax)
    return ax


def appearances(counts: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """A histogram of how many statements name each object, with the mean.

    Parameters
    ----------
    counts : (n,) array
        ``CentralCounts.appears``.

    Examples
    --------
    >>> ax = appearances([3, 4, 4, 5])
    >>> ax.get_xlabel()
    'statements that name the object'
    """
    values = real_array("counts", counts)
    ax = axes_or_new(ax)
    spread = int(np.ptp(values)) if values.size else 0
    # whole numbers: one bar for each while they are few
    bins: int | list[float] = 25
    if values.size and spread < 25:
        bins = (np.arange(values.min(), values.max() + 2) - 0.5).tolist()
    ax.hist(values, bins=bins, color=PALETTE[0])
    if values.size:
        mean = float(values.mean())
        ax.axvline(mean, color=ACCENT, linestyle="--", linewidth=1, label=f"mean {mean:.1f}")
        ax.legend(frameon=False)
    ax.set_xlabel("statements that name the object")
    ax.set_ylabel("objects")
    plain(ax, grid="y")
    return ax


def object_map(
    points: ArrayLike | MapEstimator,
    *,
    names: Sequence[str] | None = None,
    groups: Sequence[Any] | AnyArray | None = None,
    pictures: Mapping[str, str | Path | BinaryIO] | None = None,
    width: float = 40,
    ax: Axes | None = None,
) -> Axes:
    """Objects in the plane, colored by class or cluster.

    Parameters
    ----------
    points : (n, 2) array, or a fitted map of two dimensions
        ``LensMap(n_components=2).fit(S)``, or any other coordinates.
    names : (n,) sequence of str, optional
        Written beside the points; of many objects beside those that are spread best over the
        map. By default those of the fitted map.
    groups : (n,) sequence, optional
        A class or cluster for each object.
    pictures : mapping of name to file, optional
        Drawn in place of the points; an object without one keeps its point and name.
    width : float
        Of a picture, in typographic points.

    Examples
    --------
    >>> ax = object_map([[0, 0], [1, 1]], names=["a", "b"], groups=["x", "y"])
    >>> [text.get_text() for text in ax.texts]
    ['a', 'b']
    """
    X = plane(points)
    n = len(X)
    names = getattr(points, "names_", None) if names is None else names
    named = one_each(names, n, "names")
    given = one_each(groups, n, "groups")
    ax = axes_or_new(ax, (7.0, 6.0))
    colour = colors(given) if given is not None else {}
    if given is None:
        ax.scatter(X[:, 0], X[:, 1], s=20, color=INK)
    else:
        scatter_groups(ax, X, given, 24)
        ax.legend(frameon=False, fontsize="small")
    written = set(range(n)) if n <= _MOST_NAMES else set(landmarks(X, most=_MOST_NAMES).tolist())
    for i in range(n):
        name = None if named is None else named[i]
        edge = colour[given[i]] if given is not None else INK
        if pictures is not None and name is not None and name in pictures:
            frame = {"edgecolor": edge, "linewidth": 1.5, "facecolor": "white"}
            add_picture(ax, pictures[name], width, (X[i, 0], X[i, 1]), pad=0.1, bboxprops=frame)
        elif name is not None and i in written:
            name_point(ax, name, (X[i, 0], X[i, 1]))
    ax.margins(0.08)
    bare(ax)
    return ax


def graph_drawing(
    points: ArrayLike | MapEstimator,
    graph: Any,
    *,
    groups: Sequence[Any] | AnyArray | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Edges over points in the plane.

    Parameters
    ----------
    points : (n, 2) array, or a fitted map of two dimensions
        True positions, or coordinates of a map.
    graph : (n, n) array or scipy.sparse array
        `k_rng`, `exact.k_rng`, or any other graph such as scikit-learn's ``kneighbors_graph``;
        an entry that is not 0, in either direction, is an edge. Weights set the line width.
    groups : (n,) sequence, optional
        Classes or clusters, for the colors.

    Examples
    --------
    >>> ax = graph_drawing([[0, 0], [1, 0], [2, 0]], [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> len(ax.collections[0].get_segments())
    2
    """
    from scipy.sparse import coo_array

    X = plane(points)
    n = len(X)
    edges = coo_array(graph)
    if edges.shape != (n, n):
        raise ParameterError(
            f"the graph has shape {edges.shape}, but there are {n} points", parameter="graph"
        )
    i, j = np.minimum(*edges.coords), np.maximum(*edges.coords)
    present = (edges.data != 0) & (i != j)
    pair, first = np.unique(np.stack([i, j])[:, present], axis=1, return_index=True)
    weight = np.asarray(edges.data[present][first], dtype=np.float64)
    ax = axes_or_new(ax, (5.0, 5.0))

    from matplotlib.collections import LineCollection

    width = 0.4 + 0.8 * weight / weight.max() if weight.size else 1.0
    ax.add_collection(LineCollection(X[pair.T].tolist(), colors=FAINT, linewidths=width))
    given = one_each(groups, n, "groups")
    colour = colors(given) if given is not None else {}
    shade = [colour[g] for g in given] if given is not None else INK
    ax.scatter(X[:, 0], X[:, 1], s=16, c=shade, zorder=3)
    bare(ax)
    return ax
