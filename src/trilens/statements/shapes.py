"""The sets of columns that make a statement, in files and in tables in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from trilens.kinds import KINDS, Kind, columns
from trilens.statements.roles import SHOWN

COLUMNS_OF_KIND = {kind: columns(kind) for kind in KINDS}

#: ``statement``: three objects in order; ``shown``: the chosen one and the three shown;
#: ``pair``: the chosen one, the anchor and the two that stood beside it.
Form = Literal["statement", "shown", "pair"]

#: The first complete one of a kind is read.
SHAPES: tuple[tuple[Form, tuple[str, ...]], ...] = (
    *(("statement", shape) for shape in COLUMNS_OF_KIND.values()),
    ("shown", ("chosen", *SHOWN)),
    ("shown", ("central", *SHOWN)),
    ("shown", ("odd", *SHOWN)),
    ("statement", ("anchor", "chosen", "far")),
    ("pair", ("chosen", "anchor", "shown_1", "shown_2")),
    ("pair", ("near", "anchor", "shown_1", "shown_2")),
)


class Shape(NamedTuple):
    """Columns that make a statement, and the kind that they tell by themselves."""

    form: Form
    roles: tuple[str, ...]
    kind: Kind | None

    def fits(self, kind: str | None) -> bool:
        """Whether statements of a kind that is asked for can have these columns."""
        return kind in (None, self.kind or kind) and not (self.form == "shown" and kind == "closer")


def complete_shapes(kinds: Mapping[str, Kind | None]) -> list[Shape]:
    """The shapes of which every role has a column.

    Parameters
    ----------
    kinds
        For each role that has a column, the kind that this column tells.

    Examples
    --------
    >>> found = complete_shapes(
    ...     {"chosen": None, "anchor": "closer", "shown_1": None, "shown_2": None}
    ... )
    >>> [(shape.form, shape.kind) for shape in found]
    [('pair', 'closer')]
    """
    return [
        Shape(form, roles, next((kinds[r] for r in roles if kinds[r] is not None), None))
        for form, roles in SHAPES
        if all(role in kinds for role in roles)
    ]
