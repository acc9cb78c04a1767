"""How often each object was asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from trilens.plots.style import ACCENT, PALETTE, axes_or_new, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def appearances(counts: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """A histogram of the appearances per object, with their mean.

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
    values = np.asarray(counts)
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
