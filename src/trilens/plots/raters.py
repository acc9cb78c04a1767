"""Figures of raters, and groups of them, who see different things."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trilens._tabular import shorten
from trilens.errors import ParameterError
from trilens.plots.objects import object_map
from trilens.plots.style import (
    ACCENT,
    FAINT,
    axes_or_new,
    bare,
    name_point,
    result_of,
    scatter_groups,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trilens.questions.compare_groups import ComparedGroups
    from trilens.questions.individuals import Individuals

#: More raters than these are not named; of more objects, only those whose place differs.
_MOST_NAMED = 60


def rater_map(found: Individuals, *, ax: Axes | None = None) -> Axes:
    """Raters in the plane: the nearer, the more alike; colored by group where there are any.

    A map of the objects as a group sees them is ``object_map(found.groups[0].plane)``.

    Examples
    --------
    >>> from trilens.simulate import study
    >>> from trilens.questions.individuals import individuals
    >>> S = study(n_objects=16, n_statements=400, n_raters=5, careless=0).statements
    >>> ax = rater_map(individuals(S))
    >>> ax.get_title()
    'no evidence that raters differ'
    """
    result_of("individuals", found, "coordinates")
    few = len(found.raters) <= _MOST_NAMED
    ax = object_map(
        found.coordinates,
        names=found.raters if few else None,
        groups=[f"group {g + 1}" for g in found.group.tolist()] if found.groups else None,
        ax=ax,
    )
    ax.set_title(
        "raters: the nearer, the more alike" if found.differ else "no evidence that raters differ",
        fontsize="medium",
    )
    return ax


def group_maps(found: ComparedGroups, *, ax: Axes | None = None) -> Axes:
    """Where each group sees the objects: the places of one object are joined by a line.

    Lines are colored where the place differs by more than chance explains.

    Examples
    --------
    >>> from trilens.simulate import study
    >>> from trilens.questions.compare_groups import compare_groups
    >>> S = study(n_objects=20, n_statements=800).statements
    >>> ax = group_maps(compare_groups(S, [int(rater) % 2 for rater in S.raters]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0', '1']
    """
    result_of("compare_groups", found, "differing")
    drawn = [group for group in found.groups if group.plane is not None]
    if not drawn:
        raise ParameterError("no group has enough answers for a map", parameter="found")
    from matplotlib.collections import LineCollection

    ax = axes_or_new(ax, (7.0, 6.0))
    places = np.array([group.plane for group in drawn])
    differs = [name in found.differing for name in found.names]
    lines = places.transpose(1, 0, 2)
    colours = [ACCENT if each else FAINT for each in differs]
    ax.add_collection(LineCollection(list(lines), colors=colours, linewidths=1.2, zorder=0))
    labels = [group.name for group in drawn for _ in found.names]
    scatter_groups(ax, places.reshape(-1, 2), labels, 22)
    for name, differ, middle in zip(found.names, differs, lines.mean(axis=1), strict=True):
        if differ or len(found.names) <= _MOST_NAMED:
            name_point(ax, shorten(name), (float(middle[0]), float(middle[1])))
    ax.legend(frameon=False, fontsize="small")
    ax.margins(0.08)
    bare(ax)
    return ax
