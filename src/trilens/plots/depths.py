"""Pictures of depths: sorted with the cut for outliers, and one class against another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from trilens._typing import AnyArray
from trilens.errors import ParameterError
from trilens.plots.style import (
    ACCENT,
    FAINT,
    PALETTE,
    axes_or_new,
    colours,
    one_each,
    plain,
    scatter_groups,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        How many of the lowest are outliers: they are named and stand left of the cut.
    names : (n,) sequence of str, optional
    label : str
        What the depths are, for the axis.

    Examples
    --------
    >>> ax = sorted_depths([0.3, 0.1, 0.35, 0.4], n_outliers=1, names=["a", "b", "c", "d"])
    >>> [text.get_text() for text in ax.texts]
    ['b']
    """
    values = np.asarray(depth, dtype=np.float64)
    n = len(values)
    if not 0 <= n_outliers <= n:
        raise ParameterError(f"n_outliers is {n_outliers}; there are {n} objects")
    named = one_each(names, n, "names")
    order = np.argsort(values, kind="stable")
    rank = np.arange(1, n + 1)
    ax = axes_or_new(ax, (7.0, 4.0))
    if low is not None and high is not None:
        ends = np.asarray(low)[order], np.asarray(high)[order]
        ax.vlines(rank, *ends, color=FAINT, linewidth=1.2, label="interval")
    ax.scatter(rank[n_outliers:], values[order[n_outliers:]], s=18, color=PALETTE[0], zorder=3)
    if n_outliers:
        out = order[:n_outliers]
        ax.scatter(rank[:n_outliers], values[out], s=26, color=ACCENT, marker="D", zorder=3)
        ax.axvline(n_outliers + 0.5, color=ACCENT, linewidth=1, linestyle="--")
        if named is not None:
            for x, i in zip(rank, out, strict=False):
                ax.annotate(
                    named[i],
                    (float(x), float(values[i])),
                    xytext=(4, -10),
                    textcoords="offset points",
                    fontsize=8,
                    parse_math=False,
                )
    ax.set_xlabel("objects, the least central first")
    ax.set_ylabel(label)
    plain(ax, grid="y")
    return ax


def depth_against_depth(
    features: ArrayLike,
    labels: Sequence[Any] | AnyArray,
    *,
    classes: tuple[Any, Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Depth in one class against depth in the other, the plane in which Algorithm 3 separates.

    Parameters
    ----------
    features : (n, 2) array
        `class_depth`, or ``LensDepthClassifier.features_``.
    labels : (n,) sequence
        The class of each object; None or -1 for unlabelled ones, drawn in grey.
    classes : pair, optional
        The classes of the two columns; by default the sorted labels.

    Examples
    --------
    >>> ax = depth_against_depth([[0.4, 0.1], [0.1, 0.5], [0.3, 0.2]], ["a", "b", None])
    >>> ax.get_xlabel()
    'depth in class a'
    """
    X = np.asarray(features, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ParameterError(f"depths in two classes are an (n, 2) array, not {X.shape}")
    given = one_each(labels, len(X), "labels") or []
    known = [label for label in given if label is not None and label != -1]
    if classes is None:
        found = list(colours(known))
        if len(found) != 2:
            raise ParameterError(f"there are {len(found)} classes; the plot shows two")
        first, second = found
    else:
        first, second = classes
    ax = axes_or_new(ax, (5.0, 5.0))
    unknown = np.array([label is None or label == -1 for label in given], dtype=bool)
    scatter_groups(ax, X[~unknown], known, 28)
    if unknown.any():
        ax.scatter(X[unknown, 0], X[unknown, 1], s=18, color=FAINT, label="unlabelled")
    top = float(X.max(initial=0.1)) * 1.05
    ax.plot([0, top], [0, top], color=FAINT, linewidth=1, linestyle="--", zorder=0)
    ax.set_xlabel(f"depth in class {first}")
    ax.set_ylabel(f"depth in class {second}")
    ax.legend(frameon=False)
    plain(ax)
    return ax
