"""Figures of raters who see different things."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trilens.plots.objects import object_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from trilens.tasks.individuals import Individuals

#: More raters than these are not named.
_MOST_NAMED = 60


def rater_map(found: Individuals, *, ax: Axes | None = None) -> Axes:
    """Raters in the plane: the nearer, the more alike; coloured by group where there are any.

    A map of the objects as a group sees them is ``object_map(found.groups[0].plane)``.

    Examples
    --------
    >>> from trilens.simulate import study
    >>> from trilens.tasks.individuals import individuals
    >>> ax = rater_map(individuals(study(n_statements=2000).statements))
    >>> ax.get_title()
    'that raters see different things could not be shown'
    """
    few = len(found.raters) <= _MOST_NAMED
    ax = object_map(
        found.coordinates,
        names=found.raters if few else None,
        groups=[f"group {g + 1}" for g in found.group.tolist()] if found.groups else None,
        ax=ax,
    )
    ax.set_title(
        "raters: the nearer, the more alike"
        if found.differ
        else "that raters see different things could not be shown",
        fontsize="medium",
    )
    return ax
