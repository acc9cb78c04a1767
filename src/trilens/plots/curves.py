"""Loss curves: how a result improves with the number of statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from trilens.errors import ParameterError
from trilens.plots.style import axes_or_new, colours, markers, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def loss_curves(
    x: ArrayLike,
    losses: Mapping[str, ArrayLike],
    *,
    errors: Mapping[str, ArrayLike] | None = None,
    xlabel: str = "number of statements",
    ylabel: str = "0-1 loss",
    log: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """One curve per method over the same positions.

    Parameters
    ----------
    x : (p,) array
    losses : mapping of str to (p,) array
        The curve of each method, by its name.
    errors : mapping of str to (p,) array, optional
        Standard deviations, drawn as bands.
    log : bool
        Whether the x axis is logarithmic.

    Examples
    --------
    >>> ax = loss_curves([100, 1000], {"lens map": [0.3, 0.1], "k-RNG": [0.4, 0.2]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['lens map', 'k-RNG']
    """
    at = np.asarray(x, dtype=np.float64)
    ax = axes_or_new(ax)
    colour, marker = colours(losses), markers(losses)
    for name, values in losses.items():
        curve = np.asarray(values, dtype=np.float64)
        if curve.shape != at.shape:
            raise ParameterError(f"curve {name!r} has shape {curve.shape}; there are {len(at)} x")
        ax.plot(at, curve, color=colour[name], marker=marker[name], markersize=5, label=name)
        if errors is not None and name in errors:
            spread = np.asarray(errors[name], dtype=np.float64)
            band = {"color": colour[name], "alpha": 0.15, "linewidth": 0}
            ax.fill_between(at, curve - spread, curve + spread, **band)  # type: ignore[arg-type]
    if log:
        ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.legend(frameon=False)
    plain(ax, grid="y")
    return ax
