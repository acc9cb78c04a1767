"""Which column holds what: the sets of columns that make a statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from trilens.errors import FormatError
from trilens.files.spec import Columns, is_closer, listed_columns, suggestion
from trilens.statements import Kind
from trilens.statements.roles import (
    KIND_OF_ROLE,
    OPTIONAL,
    Role,
    Unit,
    roles,
    too_many_shown,
)
from trilens.statements.shapes import COLUMNS_OF_KIND, SHAPES, Form, Shape, complete_shapes
from trilens.statements.value import check_kind


@dataclass(frozen=True)
class Layout:
    """The positions of the columns that are read.

    ``objects`` has three positions in the order of a statement, or four: the chosen object
    and the three that were shown (or the anchor and the two beside it).
    """

    n_columns: int
    names: tuple[str, ...]
    kind: Kind | None
    objects: tuple[int, ...]
    rater: int | None = None
    round: int | None = None
    seconds: int | None = None
    place: int | None = None
    question: int | None = None
    form: Form = "statement"
    shape: tuple[str, ...] = ()
    unit: Unit | None = "s"
    header: bool = True

    @property
    def bare(self) -> Layout:
        """The same with nothing but the objects."""
        return replace(self, **dict.fromkeys(OPTIONAL))  # type: ignore[arg-type]

    @property
    def used(self) -> dict[str, int]:
        """Position of each column that is read: ``object_0`` ..., ``rater``, ..."""
        found = {f"object_{i}": at for i, at in enumerate(self.objects)}
        optional = {name: getattr(self, name) for name in OPTIONAL}
        return found | {name: at for name, at in optional.items() if at is not None}

    @property
    def read(self) -> dict[str, str]:
        """The column that each role is read from."""
        objects = dict(zip(self.shape, self.objects, strict=False))
        optional = {name: getattr(self, name) for name in OPTIONAL}
        every = objects | {name: at for name, at in optional.items() if at is not None}
        return {role: self.names[at] for role, at in every.items()}

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of the columns that are not read."""
        used = set(self.used.values())
        return tuple(name for i, name in enumerate(self.names) if i not in used)


def asked_kind(kind: str | None) -> Kind | None:
    """The kind that the caller asks for, or None."""
    if kind is not None:
        check_kind(kind)
    return cast("Kind | None", kind)


def plain_layout(
    n_columns: int, label: str, rows: Sequence[Sequence[str]] = (), kind: Kind | None = None
) -> Layout:
    """The layout of a file without header: three columns, the singled-out object first."""
    if n_columns != 3:
        numbers = [str(i + 1) for i in range(n_columns)]
        pick = f" such as --columns {suggestion(numbers, rows)}" if n_columns > 3 else ""
        raise FormatError(
            f"{label}: {n_columns} {'column' if n_columns == 1 else 'columns'} without a header "
            f"that names them; a file without header has three, the singled-out object first: "
            f"name the columns with columns= (--columns){pick}"
        )
    names = ("column 1", "column 2", "column 3")
    shape = COLUMNS_OF_KIND[kind or "central"]
    return Layout(3, names, None, (0, 1, 2), shape=shape, header=False)


def resolve(
    names: Sequence[str],
    kind: Kind | None,
    label: str,
    spec: Columns | None = None,
    *,
    header: bool = True,
    rows: Sequence[Sequence[str]] = (),
    row: int | None = None,
) -> Layout:
    """Find the columns of a statement among ``names``.

    Parameters
    ----------
    names
        The header's names; ``column 1``, ... where there is none.
    kind
        What the caller asks for; it decides where the names allow two readings.
    label
        The file, for messages.
    spec
        What the caller says of the columns.
    header
        Whether the names stand in the file.
    rows
        The first rows, for the advice in a message.
    row
        The file's row with the names, where that is a row of text.
    """
    found = _roles(names, spec, label, header)
    at: dict[str, int] = {}
    twice: dict[str, tuple[int, int]] = {}
    for position, role in sorted(found.items(), key=lambda item: item[1].rank):
        if role.name not in at:
            at[role.name] = position
        elif found[at[role.name]].rank == role.rank:
            twice.setdefault(role.name, (at[role.name], position))
    complete = complete_shapes({role: found[i].kind for role, i in at.items()})
    fitting = [shape for shape in complete if shape.fits(kind)]
    if complete and not fitting:
        raise _contradiction(names, complete[0], at, kind, label)
    if len({shape.kind for shape in fitting}) > 1:
        raise FormatError(
            f"{label}: the columns {listed_columns(names)} can be read as "
            f"{' or as '.join(', '.join(shape.roles) for shape in fitting)}; say which with kind= "
            f"(--kind) or columns= (--columns)"
        )
    if not fitting:
        _refuse_more_than_three(names, label)
        raise FormatError(_missing(names, at, kind, label, rows, row))
    form, shape, told = fitting[0]
    for role_name in shape:
        if role_name in twice:
            first, second = (names[i] for i in twice[role_name])
            raise FormatError(
                f"{label}: two columns hold the same, {first!r} and {second!r}; "
                f"say which with columns= (--columns {role_name}=...)"
            )
    if form != "statement" and (spec is None or "shown_1" not in dict(spec.mapping or ())):
        _refuse_more_than_three(names if spec is None else spec.names or names, label)
    if form == "shown":
        at.pop("place", None)  # the objects shown tell the place themselves
    seconds = at.get("seconds")
    return Layout(
        len(names),
        tuple(names),
        told,
        tuple(at[role] for role in shape),
        at.get("rater"),
        at.get("round"),
        seconds,
        at.get("place"),
        at.get("question"),
        form=form,
        shape=shape,
        unit="s" if seconds is None else found[seconds].unit,
        header=header,
    )


def _roles(names: Sequence[str], spec: Columns | None, label: str, header: bool) -> dict[int, Role]:
    """The role of each column, by what the caller says and else by its name."""
    if spec is not None and spec.names is not None:
        return roles(spec.names)
    found = roles(names) if header else {}
    if spec is None:
        return found
    mapped = spec.positions(names if header else None, len(names), label)
    whole = any(role not in (*OPTIONAL, "ms") for role in mapped)
    kept = {
        i: role
        for i, role in found.items()
        if role.name not in mapped
        and i not in mapped.values()
        and (role.name in OPTIONAL or not whole)
        and not (role.name == "seconds" and "ms" in mapped)
    }
    for role_name, i in mapped.items():
        if role_name == "ms":
            kept[i] = Role("seconds", None, -1, "ms")
            continue
        own = found.get(i)
        unit = own.unit if own is not None and own.name == "seconds" else None
        kept[i] = Role(role_name, KIND_OF_ROLE.get(role_name), -1, unit)
    return kept


def _contradiction(
    names: Sequence[str],
    shape: Shape,
    at: dict[str, int],
    kind: Kind | None,
    label: str,
) -> FormatError:
    if shape.form == "shown" and shape.kind is None:
        return FormatError(
            f"{label}: similarity triplets have the columns anchor, near, far; "
            f"chosen and shown columns are of kind central or odd"
        )
    telling = next(role for role in shape.roles if role in KIND_OF_ROLE or role == "chosen")
    return FormatError(
        f"{label}: column {names[at[telling]]!r} says that the statements are of kind "
        f"{shape.kind}, but kind {kind} was asked for; leave the kind out, or say what the "
        f"columns hold with columns= (--columns)"
    )


def _refuse_more_than_three(names: Sequence[str], label: str) -> None:
    if too_many_shown(names):
        raise FormatError(
            f"{label}: the columns {listed_columns(names)} show more than three objects at a "
            f"time; a statement is about three: pick them with columns= (--columns)"
        )


def _missing(
    names: Sequence[str],
    at: dict[str, int],
    kind: Kind | None,
    label: str,
    rows: Sequence[Sequence[str]],
    row: int | None,
) -> str:
    advice = f" such as --columns {suggestion(names, rows)}" if len(names) > 2 else ""
    fitting = [
        shape for _, shape in SHAPES if kind is None or KIND_OF_ROLE.get(shape[0]) in (None, kind)
    ]
    told = [role for role in at if role != "near" or is_closer(at)]
    nearest = min(fitting, key=lambda shape: sum(role not in told for role in shape))
    lacking = [role for role in nearest if role not in told]
    word = "column" if len(lacking) == 1 else "columns"
    place, looks = label, ""
    if row is not None:
        place, looks = f"{label}, row {row:,}", "the first row looks like a header, but it has "
        advice += "; or, if it names objects, header=False (--no-header)"
    return (
        f"{place}: {looks}no {word} {', '.join(lacking)}; the columns seen are "
        f"{listed_columns(names)}: say what they hold with columns= (--columns)"
        f"{',' if advice else ''}{advice}"
    )
