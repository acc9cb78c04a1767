"""What a caller asks of a reader, checked once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from trilens._parameters import whole_number
from trilens.errors import ParameterError
from trilens.files.columns import asked_kind
from trilens.files.source import one_line
from trilens.files.spec import Columns, ColumnsLike, column_spec
from trilens.statements import Kind

if TYPE_CHECKING:
    from trilens.files.objects import Objects

Preset = Literal["salmon", "things", "jspsych", "cblearn", "tripletools"]


@dataclass(frozen=True)
class Asked:
    """How a file is to be read.

    Parameters
    ----------
    kind, columns
        As in `read_statements`.
    header
        Whether the first row of text names the columns; None: the rows tell.
    counts_from
        Where positions and line numbers begin, 0 or 1; None: they tell themselves.
    passes_over
        Whether a record that names none of the objects is no answer and no mistake.
    skip_bad
        Whether bad rows are left out and counted.
    listed
        The names that the caller lists; a cell with such a name is never a missing one.
    """

    kind: Kind | None = None
    columns: Columns | None = None
    header: bool | None = None
    counts_from: int | None = None
    unit: Literal["s", "ms"] | None = None
    passes_over: bool = False
    preset: Preset | None = None
    skip_bad: bool = False
    listed: frozenset[str] = field(default=frozenset(), repr=False)


#: What each preset says that the columns cannot.
PRESETS: dict[str, str] = {
    "salmon": "head, winner, loser: indices of the targets; response times in seconds",
    "things": "three numbers a row, the odd one last; with columns, the choice is the odd one",
    "jspsych": "buttons count from 0, rt is in ms, other trials are passed over",
    "cblearn": "X and y: y is +1 or -1 (nearer: the second or the third), or a position",
    "tripletools": "Center, Left, Right, Answer: similarity triplets",
}


def asked(
    kind: str | None = None,
    columns: ColumnsLike | Columns | None = None,
    *,
    preset: str | None = None,
    header: bool | None = None,
    counts_from: int | None = None,
    skip_bad: bool = False,
    objects: Objects | None = None,
) -> Asked:
    """The caller's wishes with the preset's; the caller's own go first.

    The names of ``objects`` are never missing cells.
    """
    if preset is not None and not (isinstance(preset, str) and preset in PRESETS):
        raise ParameterError(
            f"the preset is {one_line(repr(preset), 40)}; it must be one of {', '.join(PRESETS)}"
        )
    if counts_from is not None:
        whole_number("counts_from", counts_from, most=1)
    for what, value in (("header", header), ("skip_bad", skip_bad)):
        if value is not None and not isinstance(value, bool):
            raise ParameterError(f"{what} is {one_line(repr(value), 40)}; it must be True or False")
    wish = Asked(
        asked_kind(kind),
        column_spec(columns),
        header,
        counts_from,
        skip_bad=skip_bad,
        listed=frozenset(() if objects is None else objects.names),
        preset=preset,  # type: ignore[arg-type]
    )
    if preset == "jspsych":
        base = 0 if counts_from is None else counts_from
        return replace(wish, counts_from=base, unit="ms", passes_over=True)
    if preset == "salmon":
        return replace(wish, kind=wish.kind or "closer", unit="s")
    if preset == "tripletools":
        return replace(wish, kind=wish.kind or "closer")
    if preset == "things":
        return replace(wish, kind=wish.kind or "odd")
    return wish
