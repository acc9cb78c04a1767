"""The map: objects at their coordinates, as pictures, names or dots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from trilens._typing import AnyArray
from trilens.plots.style import INK, axes_or_new, bare, colours, one_each, plane, scatter_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def object_map(
    points: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    groups: Sequence[Any] | AnyArray | None = None,
    pictures: Mapping[str, str | Path] | None = None,
    width: float = 40,
    ax: Axes | None = None,
) -> Axes:
    """Objects in the plane, coloured by class or cluster.

    Parameters
    ----------
    points : (n, 2) array
        ``LensMap(n_components=2).fit_transform(S)``, or any other coordinates.
    names : (n,) sequence of str, optional
        Written beside the points.
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
    named = one_each(names, n, "names")
    given = one_each(groups, n, "groups")
    ax = axes_or_new(ax, (7.0, 6.0))
    colour = colours(given) if given is not None else {}
    if given is None:
        ax.scatter(X[:, 0], X[:, 1], s=20, color=INK)
    else:
        scatter_groups(ax, X, given, 24)
        ax.legend(frameon=False, fontsize="small")
    for i in range(n):
        name = None if named is None else named[i]
        edge = colour[given[i]] if given is not None else INK
        if pictures is not None and name is not None and name in pictures:
            _picture(ax, X[i], pictures[name], width, edge)
        elif name is not None:
            ax.annotate(
                name,
                (X[i, 0], X[i, 1]),
                xytext=(4, 3),
                textcoords="offset points",
                fontsize=8,
                color=INK,
                parse_math=False,
            )
    ax.margins(0.08)
    bare(ax)
    return ax


def _picture(ax: Axes, at: AnyArray, file: str | Path, width: float, edge: str) -> None:
    import matplotlib.image as mpl_image
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    pixels = mpl_image.imread(file)
    shown = OffsetImage(pixels, zoom=width / max(pixels.shape[:2]))
    frame = {"edgecolor": edge, "linewidth": 1.5, "facecolor": "white"}
    ax.add_artist(AnnotationBbox(shown, (at[0], at[1]), pad=0.1, bboxprops=frame))
