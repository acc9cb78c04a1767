"""A neighbourhood graph drawn over points: the k-RNG, or a k-NN graph beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from trilens._typing import AnyArray
from trilens.errors import ParameterError
from trilens.plots.style import FAINT, INK, axes_or_new, bare, colours, one_each, plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def graph_drawing(
    points: ArrayLike,
    graph: Any,
    *,
    groups: Sequence[Any] | AnyArray | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Edges over points in the plane.

    Parameters
    ----------
    points : (n, 2) array
        True positions, or coordinates of a map.
    graph : (n, n) array or scipy.sparse array
        `k_rng`, `exact.k_rng`, or any other graph such as scikit-learn's ``kneighbors_graph``;
        an entry that is not 0, in either direction, is an edge. Weights set the line width.
    groups : (n,) sequence, optional
        Classes or clusters, for the colours.

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
        raise ParameterError(f"the graph has shape {edges.shape}; there are {n} points")
    i, j = np.minimum(*edges.coords), np.maximum(*edges.coords)
    present = (edges.data != 0) & (i != j)
    pair, first = np.unique(np.stack([i, j])[:, present], axis=1, return_index=True)
    weight = np.asarray(edges.data[present][first], dtype=np.float64)
    ax = axes_or_new(ax, (5.0, 5.0))

    from matplotlib.collections import LineCollection

    width = 0.4 + 0.8 * weight / weight.max() if weight.size else 1.0
    ax.add_collection(LineCollection(X[pair.T].tolist(), colors=FAINT, linewidths=width))
    given = one_each(groups, n, "groups")
    colour = colours(given) if given is not None else {}
    shade = [colour[g] for g in given] if given is not None else INK
    ax.scatter(X[:, 0], X[:, 1], s=16, c=shade, zorder=3)
    if title is not None:
        ax.set_title(title, fontsize="medium")
    bare(ax)
    return ax
