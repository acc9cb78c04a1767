"""Which column holds what: names, aliases, and the kind that they tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from trilens.errors import FormatError
from trilens.formats.source import one_line
from trilens.statements import Kind
from trilens.statements.columns import as_list
from trilens.statements.value import check_kind

#: Each accepted column name: what it holds, and the kind it tells by itself.
ALIASES: dict[str, tuple[str, Kind | None]] = {
    "central": ("central", "central"),
    "odd": ("odd", "odd"),
    "other_1": ("other_1", None),
    "other_2": ("other_2", None),
    "anchor": ("anchor", "closer"),
    "near": ("near", "closer"),
    "far": ("far", "closer"),
    "chosen": ("chosen", None),
    "chosen_center": ("chosen", "central"),
    "chosen_odd": ("chosen", "odd"),
    **{f"shown_{i}": (f"shown_{i}", None) for i in (1, 2, 3)},
    **{f"triplet_object_{i}": (f"shown_{i}", None) for i in (1, 2, 3)},
    "rater": ("rater", None),
    "round": ("round", None),
    "survey_round": ("round", None),
    "seconds": ("seconds", None),
    "response_time": ("seconds", None),
    "place": ("place", None),
}
OPTIONAL = ("rater", "round", "seconds", "place")

#: The columns of a file without header, in order; also what `write_statements` writes.
COLUMNS_OF_KIND: dict[Kind, tuple[str, str, str]] = {
    "central": ("central", "other_1", "other_2"),
    "odd": ("odd", "other_1", "other_2"),
    "closer": ("anchor", "near", "far"),
}

_SHOWN = ("shown_1", "shown_2", "shown_3")
_SHAPES: tuple[tuple[str, ...], ...] = (
    *COLUMNS_OF_KIND.values(),
    ("chosen", *_SHOWN),
    ("central", *_SHOWN),
    ("odd", *_SHOWN),
)


@dataclass(frozen=True)
class Layout:
    """The positions of the columns that are read.

    ``objects`` has three positions in the order of a statement, or four: the chosen object
    and the three that were shown.
    """

    n_columns: int
    names: tuple[str, ...]
    kind: Kind | None
    objects: tuple[int, ...]
    rater: int | None = None
    round: int | None = None
    seconds: int | None = None
    place: int | None = None

    @property
    def used(self) -> dict[str, int]:
        """Position of each column that is read: ``object_0`` ..., ``rater``, ..."""
        found = {f"object_{i}": at for i, at in enumerate(self.objects)}
        optional = {name: getattr(self, name) for name in OPTIONAL}
        return found | {name: at for name, at in optional.items() if at is not None}


def role_of(name: str) -> str | None:
    """What a column of that name holds; None for a name that means nothing here.

    >>> role_of(" Response_Time "), role_of("colour")
    ('seconds', None)
    """
    return ALIASES.get(_plain(name), (None, None))[0]


def looks_like_header(cells: Sequence[str]) -> bool:
    """Whether a cell is the name of a column of objects."""
    return any(role_of(cell) not in (None, *OPTIONAL) for cell in cells)


def asked_kind(kind: str | None) -> Kind | None:
    """The kind that the caller asks for, or None."""
    if kind is not None:
        check_kind(kind)
    return cast("Kind | None", kind)


def column_list(columns: Sequence[str] | str | None) -> list[str] | None:
    """The caller's column names; a string is split at its commas, as on the command line."""
    if columns is None:
        return None
    given = columns.split(",") if isinstance(columns, str) else as_list(columns, "columns")
    if not all(isinstance(name, str) for name in given):
        raise FormatError(f"columns must be a list of column names, not {one_line(columns)}")
    return given


def plain_layout(n_columns: int, label: str) -> Layout:
    """The layout of a file without header: three columns, the singled-out object first."""
    if n_columns != 3:
        raise FormatError(
            f"{label}: {n_columns} {'column' if n_columns == 1 else 'columns'} without a header "
            f"that names them; a file without header has three, the singled-out object first: "
            f"name the columns with columns= (--columns)"
        )
    return Layout(3, ("column 1", "column 2", "column 3"), None, (0, 1, 2))


def resolve(names: Sequence[str], kind: Kind | None, label: str) -> Layout:
    """Find the columns of a statement among ``names``.

    Parameters
    ----------
    names
        The header's names, or those that the caller gave.
    kind
        What the caller asks for; it decides where the names allow two readings.
    label
        The file, for messages.
    """
    at: dict[str, int] = {}
    told: dict[Kind, str] = {}
    for position, name in enumerate(names):
        role, tells = ALIASES.get(_plain(name), (None, None))
        if role is None:
            continue
        if role in at:
            raise FormatError(
                f"{label}: two columns hold the same, {names[at[role]]!r} and {name!r}; "
                f"rename one with columns= (--columns)"
            )
        at[role] = position
        if tells is not None:
            told.setdefault(tells, name)
    if kind is not None and told and kind not in told:
        said, name = next(iter(told.items()))
        raise FormatError(
            f"{label}: column {name!r} says that the statements are of kind {said}, but kind "
            f"{kind} was asked for; leave the kind out, or rename the columns with columns="
        )
    complete = [shape for shape in _SHAPES if all(role in at for role in shape)]
    if kind is not None:
        complete = [shape for shape in complete if _kind_of(shape, told) in (None, kind)]
    if len({_kind_of(shape, told) for shape in complete}) > 1:
        raise FormatError(
            f"{label}: the columns {_listed(names)} can be read as "
            f"{' or as '.join(', '.join(shape) for shape in complete)}; say which with kind="
        )
    if not complete:
        raise FormatError(_missing(names, at, kind, label))
    shape = complete[0]
    if shape[0] == "chosen" and kind == "closer":
        raise FormatError(
            f"{label}: similarity triplets have the columns anchor, near, far; "
            f"chosen and shown columns are of kind central or odd"
        )
    if len(shape) == 4:
        at.pop("place", None)  # the objects shown tell the place themselves
    return Layout(
        len(names),
        tuple(names),
        _kind_of(shape, told),
        tuple(at[role] for role in shape),
        *(at.get(name) for name in OPTIONAL),
    )


def _kind_of(shape: tuple[str, ...], told: dict[Kind, str]) -> Kind | None:
    kind = ALIASES[shape[0]][1]
    if kind is None and len(told) == 1:
        return next(iter(told))
    return kind


def _missing(names: Sequence[str], at: dict[str, int], kind: Kind | None, label: str) -> str:
    fitting = [shape for shape in _SHAPES if kind is None or ALIASES[shape[0]][1] in (None, kind)]
    nearest = min(fitting, key=lambda shape: sum(role not in at for role in shape))
    lacking = [role for role in nearest if role not in at]
    word = "column" if len(lacking) == 1 else "columns"
    return (
        f"{label}: no {word} {', '.join(lacking)}; the columns seen are {_listed(names)}: "
        f"rename them with columns= (--columns), or add a header where there is none"
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(one_line(name, 40) for name in names[:12])
    return shown if len(names) <= 12 else f"{shown}, ... ({len(names)} in all)"


def _plain(name: str) -> str:
    return name.strip().casefold().replace(" ", "_").replace("-", "_")
