"""Which column holds what: what the caller says of it, what the names say, and what is missing."""

from __future__ import annotations

import csv
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from trilens._parameters import whole_number
from trilens.errors import FormatError, ParameterError, StatementError, option
from trilens.kinds import Kind, check_kind, columns as kind_columns
from trilens.statements.advice import advise, places_told, strangers
from trilens.statements.columns import as_list, one_line
from trilens.statements.roles import (
    BY_SIDE,
    KIND_OF_ROLE,
    NAMES,
    OPTIONAL,
    SHAPES,
    SHOWN,
    UNFOLDED,
    Form,
    Role,
    Shape,
    Unit,
    are_labels,
    complete_shapes,
    key,
    roles,
    too_many_shown,
)

if TYPE_CHECKING:
    from trilens.statements.names import ObjectList
    from trilens.statements.questions import Questions

#: Names for all columns in order, a mapping from roles to columns, or either as one text.
ColumnsLike: TypeAlias = Sequence[str] | Mapping[str, str | int] | str

Preset = Literal["salmon", "things", "jspsych", "cblearn", "tripletools", "survey"]

#: What each preset says that the columns cannot.
PRESETS: dict[str, str] = {
    "salmon": "head, winner, loser: indices of the targets; response times in seconds",
    "things": "three numbers a row, the odd one last; with columns, the choice is the odd one",
    "jspsych": "buttons count from 0, rt is in ms, other trials are skipped",
    "cblearn": "X and y: y is +1 or -1 (nearer: the second or the third), or a position",
    "tripletools": "Center, Left, Right, Answer: similarity triplets",
    "survey": "exports of trilens survey, repeated questions included",
}

#: Rows from which the cells are asked whether a column holds what it is called.
_TELLING_ROWS = 8
#: What may stand before the ``=``.
_MAPPABLE = (*NAMES, "ms", *UNFOLDED)


def layout_error(label: str | None, problem: str) -> FormatError | StatementError:
    """The refusal of a file (or, without a label, of a table in memory) for its columns."""
    return StatementError(problem) if label is None else FormatError(f"{label}: {problem}")


@dataclass(frozen=True)
class ReadOptions:
    """How a table is to be read.

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
    rater_from_name
        Whether the name of a file is that of the rater.
    listed
        The names that the caller lists; a cell with such a name is never a missing one.
    questions
        The objects that each question shows, where they stand in a table of their own.
    """

    kind: Kind | None = None
    columns: ColumnSpec | None = None
    header: bool | None = None
    counts_from: int | None = None
    unit: Literal["s", "ms"] | None = None
    passes_over: bool = False
    preset: Preset | None = None
    skip_bad: bool = False
    rater_from_name: bool = False
    listed: frozenset[str] = field(default=frozenset(), repr=False)
    questions: Questions | None = field(default=None, repr=False)


def read_options(
    kind: Kind | None = None,
    columns: ColumnsLike | ColumnSpec | None = None,
    *,
    preset: str | None = None,
    header: bool | None = None,
    counts_from: int | None = None,
    skip_bad: bool = False,
    rater_from_name: bool = False,
    objects: ObjectList | None = None,
    questions: Questions | None = None,
) -> ReadOptions:
    """The caller's wishes with the preset's; the caller's own go first.

    The names of ``objects`` are never missing cells.
    """
    if preset is not None and not (isinstance(preset, str) and preset in PRESETS):
        raise ParameterError(
            f"the preset is {one_line(repr(preset), 40)}; it must be one of {', '.join(PRESETS)}"
        )
    if counts_from is not None:
        whole_number("counts_from", counts_from, most=1)
    flags = (("header", header), ("skip_bad", skip_bad), ("rater_from_name", rater_from_name))
    for what, value in flags:
        if value is not None and not isinstance(value, bool):
            raise ParameterError(f"{what} is {one_line(repr(value), 40)}; it must be True or False")
    options = ReadOptions(
        None if kind is None else check_kind(kind),
        column_spec(columns),
        header,
        counts_from,
        skip_bad=skip_bad,
        rater_from_name=rater_from_name,
        listed=frozenset(() if objects is None else objects.names),
        questions=questions,
    )
    return with_preset(options, preset)


def with_preset(options: ReadOptions, preset: str | None) -> ReadOptions:
    """The same with what is known of the files of a tool."""
    options = replace(options, preset=preset)  # type: ignore[arg-type]
    if preset == "jspsych":
        base = 0 if options.counts_from is None else options.counts_from
        return replace(options, counts_from=base, unit="ms", passes_over=True)
    if preset == "salmon":
        return replace(options, kind=options.kind or "closer", unit="s")
    if preset == "tripletools":
        return replace(options, kind=options.kind or "closer")
    if preset == "things":
        return replace(options, kind=options.kind or "odd")
    return options


@dataclass(frozen=True)
class ColumnSpec:
    """Either ``names`` for every column, in order, or a ``mapping`` from roles to columns."""

    names: tuple[str, ...] | None = None
    mapping: tuple[tuple[str, str], ...] | None = None

    def positions(self, header: Sequence[str] | None, n: int, label: str | None) -> dict[str, int]:
        """Where each mapped column is; ``header`` is None where the file has none."""
        found: dict[str, int] = {}
        for role, column in self.mapping or ():
            at = self._position(column, header, n)
            if at is None:
                seen = (
                    f"the columns seen are {_listed(header)}"
                    if header is not None
                    else f"there is no header and {n} columns: give a number from 1 to {n}"
                )
                raise layout_error(label, f"no column {one_line(column, 40)!r}; {seen}")
            if at in found.values():
                raise layout_error(
                    label,
                    f"column {one_line(column, 40)!r} is named twice; a column holds one thing",
                )
            found[role] = at
        return found

    def by_name(self, first: Sequence[str]) -> bool:
        """Whether the mapping names a column by a name, not a number, that the first row has."""
        return any(
            not column.isdigit() and self._position(column, first, 0) is not None
            for _, column in self.mapping or ()
        )

    def wants_header(self, first: Sequence[str]) -> bool:
        """Whether the mapping names columns by names, of which the first row has none."""
        return not self.by_name(first) and any(
            not column.isdigit() for _, column in self.mapping or ()
        )

    @staticmethod
    def _position(column: str, header: Sequence[str] | None, n: int) -> int | None:
        if header is not None:
            exact = [i for i, name in enumerate(header) if name == column]
            alike = [i for i, name in enumerate(header) if key(column) and key(name) == key(column)]
            for seen in (exact, alike):
                if seen:
                    return seen[0]
        if column.isascii() and column.isdigit() and 1 <= int(column) <= n:
            return int(column) - 1
        return None


def column_spec(columns: ColumnsLike | ColumnSpec | None) -> ColumnSpec | None:
    """The caller's columns; text is split at its commas, as on the command line.

    >>> column_spec("central=choice,other_1=a,other_2=b").mapping
    (('central', 'choice'), ('other_1', 'a'), ('other_2', 'b'))
    >>> column_spec(["other_1", "other_2", "odd"]).names
    ('other_1', 'other_2', 'odd')
    """
    if columns is None or isinstance(columns, ColumnSpec):
        return columns
    if isinstance(columns, Mapping):
        return _mapping([(str(role), str(column)) for role, column in columns.items()])
    if isinstance(columns, str):
        given = [cell.strip() for cell in next(csv.reader([columns], skipinitialspace=True), [])]
    else:
        given = as_list(columns, "columns")
    if not given or not all(isinstance(name, str) for name in given):
        raise FormatError(f"columns must be a list of column names, not {one_line(columns)}")
    if any("=" in name for name in given):
        pairs = [name.split("=", 1) if "=" in name else [name, name] for name in given]
        return _mapping([(role.strip(), column.strip()) for role, column in pairs])
    return ColumnSpec(names=tuple(given))


def _mapping(pairs: list[tuple[str, str]]) -> ColumnSpec:
    known: list[tuple[str, str]] = []
    for given, column in pairs:
        role = (
            given if given in _MAPPABLE else next((r.name for r in roles([given]).values()), None)
        )
        if role is None:
            raise FormatError(
                f"columns: {one_line(given, 40)!r} is not something a column can hold; "
                f"it can hold {', '.join(_MAPPABLE)}"
            )
        if role in [before for before, _ in known]:
            raise FormatError(f"columns: {role} is given twice; name one column for it")
        known.append((role, column))
    return ColumnSpec(mapping=tuple(known))


def _listed(names: Sequence[str] | None) -> str:
    """Column names for a message."""
    shown = ", ".join(one_line(name, 40) or "(empty)" for name in (names or ())[:24])
    return shown if len(names or ()) <= 24 else f"{shown}, ... ({len(names or ())} in all)"


def _is_closer(known: Container[str]) -> bool:
    """Whether the columns that are known by their names speak of an anchor, or of two sides.

    >>> _is_closer({"near": 0}), _is_closer({"near": 0, "far": 1})
    (False, True)
    """
    return "anchor" in known or ("near" in known and "far" in known)


@dataclass(frozen=True)
class Layout:
    """The columns that are read, by their positions.

    ``objects`` has three positions in the order of a statement, or four: the chosen object
    and the three that were shown (or the anchor and the two beside it). ``others`` has those of
    ``rater``, ``round``, ``seconds``, ``place`` and ``question``, as far as they are there.
    """

    names: tuple[str, ...]
    kind: Kind | None
    objects: tuple[int, ...]
    others: Mapping[str, int] = field(default_factory=dict)
    form: Form = "statement"
    shape: tuple[str, ...] = ()
    unit: Unit | None = "s"
    header: bool = True

    @property
    def read(self) -> dict[str, str]:
        """The column that each role is read from."""
        every = dict(zip(self.shape, self.objects, strict=True)) | dict(self.others)
        return {role: self.names[at] for role, at in every.items()}

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of the columns that are not read."""
        used = {*self.objects, *self.others.values()}
        return tuple(name for i, name in enumerate(self.names) if i not in used)

    def position(self, name: str, label: str | None) -> int:
        """Where a column is that says something beside the objects, by its name or number."""
        names = self.names if self.header else None
        spec = ColumnSpec(mapping=(("round", name),))
        found = spec.positions(names, len(self.names), label)["round"]
        if found in self.objects:
            raise layout_error(
                label,
                f"column {one_line(name, 40)!r} holds objects; give a column that says something "
                f"of the answers or of their raters",
            )
        return found


def find_layout(
    names: Sequence[str],
    options: ReadOptions,
    label: str | None,
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
    label
        The file, for messages; None for a table in memory.
    header
        Whether the names stand in the file.
    rows
        The first rows, for the advice in a message.
    row
        The file's row with the names, where that is a row of text.
    """
    spec, kind, n = options.columns, options.kind, len(names)
    if not names:
        raise layout_error(label, "the table is empty: it has no columns")
    if are_labels(names if header else rows[0] if rows else ()):
        raise layout_error(
            label,
            f"this is a file of labels, by its columns {_listed(names if header else rows[0])}: "
            f"give it with {option('labels')}, beside a file of answers",
        )
    if spec is not None and spec.names is not None and len(spec.names) != n:
        raise layout_error(
            label,
            f"{option('columns')} names {len(spec.names)} columns, but there are {n} "
            f"({one_line(', '.join(names), 80)}); name every column, or pick some with "
            f"{advise(names, rows, header=header, kind=kind)}",
        )
    if not header and spec is None:
        if options.preset == "things" and n == 3:
            spec = ColumnSpec(names=("other_1", "other_2", "odd"))
        else:
            return _plain(names, kind, label, rows)
    found = _roles(names, spec, label, header)
    at: dict[str, int] = {}
    twice: dict[str, tuple[int, int]] = {}
    for position, role in sorted(found.items(), key=lambda item: item[1].rank):
        if role.name not in at:
            at[role.name] = position
        elif found[at[role.name]].rank == role.rank:
            twice.setdefault(role.name, (at[role.name], position))
    mapped = () if spec is None else tuple(role for role, _ in spec.mapping or ())
    if header and "chosen" in at and "chosen" not in mapped:
        _settle_chosen(names, rows, found, at, twice, label)
    if kind != "closer" and "anchor" in at and found[at["anchor"]].rank == BY_SIDE:
        _middle_of_three(names, rows, found, at)
    kinds = {role: found[i].kind for role, i in at.items()}
    shape = _shape(names, kinds, kind, label, at, mapped)
    for role_name in shape.roles if shape is not None else set(twice) - set(OPTIONAL):
        if role_name in twice:
            first, second = (names[i] for i in twice[role_name])
            raise layout_error(
                label,
                f"two columns mean the same, {first!r} and {second!r}; "
                f"say which with {option('columns', f'{role_name}=...')}",
            )
    if shape is None:
        raise _missing(names, at, kind, label, rows, row)
    if shape.form != "statement" and (spec is None or "shown_1" not in dict(spec.mapping or ())):
        _refuse_more_than_three(names if spec is None else spec.names or names, label)
    # the objects shown tell the place themselves
    others = [name for name in OPTIONAL if not (name == "place" and shape.form == "shown")]
    return Layout(
        tuple(names),
        shape.kind,
        tuple(at[role] for role in shape.roles),
        {name: at[name] for name in others if name in at},
        form=shape.form,
        shape=shape.roles,
        unit=found[at["seconds"]].unit if "seconds" in at else "s",
        header=header,
    )


def _plain(
    names: Sequence[str], kind: Kind | None, label: str | None, rows: Sequence[Sequence[str]]
) -> Layout:
    """Three columns without header: the singled-out object first."""
    n = len(names)
    if n != 3:
        numbers = [str(i + 1) for i in range(n)]
        pick = option("columns")
        if n > 3:
            advice = advise(numbers, rows, header=False, kind=kind)
            said = f"{option('header', False)} and " if advice.columns is not None else ""
            pick = f"{said}{advice}"
        raise layout_error(
            label,
            f"{n} {'column' if n == 1 else 'columns'} without a header "
            f"that names them; a file without header has three, the singled-out object first: "
            f"name the columns with {pick}",
        )
    # what two objects are compared with may be of another sort
    why = "" if kind == "closer" else strangers(names, rows, (0, 1, 2))
    if why:
        raise layout_error(
            label,
            f"three columns without a header that names them are three objects, but {why}; "
            f"name the columns with {option('columns')}",
        )
    shape = kind_columns(kind or "central")
    return Layout(tuple(names), None, (0, 1, 2), shape=shape, header=False)


def _roles(
    names: Sequence[str], spec: ColumnSpec | None, label: str | None, header: bool
) -> dict[int, Role]:
    """The role of each column, by what the caller says and else by its name."""
    if spec is not None and spec.names is not None:
        return roles(spec.names)
    found = roles(names) if header else {}
    if spec is None:
        return found
    mapped = spec.positions(names if header else None, len(names), label)
    whole = bool(complete_shapes(dict.fromkeys(mapped)))
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


def _settle_chosen(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    found: Mapping[int, Role],
    at: dict[str, int],
    twice: dict[str, tuple[int, int]],
    label: str | None,
) -> None:
    """Of the columns that are called so, the one whose cells are answers; or none of them."""
    if "shown_3" in at:
        beside = [at[role] for role in SHOWN if role in at]
    else:
        beside = [at[role] for role in SHOWN[:2] if role in at and "anchor" in at]
    if len(beside) < 2 or len(rows) < _TELLING_ROWS:
        return
    center = [at["anchor"]] if "anchor" in at and found[at["anchor"]].rank == BY_SIDE else []
    called = sorted(
        (i for i, role in found.items() if role.name == "chosen"), key=lambda i: found[i].rank
    )
    told = {i: places_told(names, rows, i, [*beside, *center]) for i in called}
    right = {i: places for i, places in told.items() if (places >= 0).sum() > 0.1 * len(places)}
    twice.pop("chosen", None)
    if not right:
        # our own name for it is meant so: the first row that is wrong will be named
        ours = key(names[at["chosen"]]) == "chosen"
        if not ours and not any((places >= 0).any() for places in told.values()):
            del at["chosen"]
        return
    first, *others = right
    at["chosen"] = first
    for other in others:
        both = (right[first] >= 0) & (right[other] >= 0)
        if (right[first] != right[other])[both].sum() > 0.01 * both.sum():
            raise layout_error(
                label,
                f"the columns {one_line(names[first], 40)!r} and {one_line(names[other], 40)!r} "
                f"both name an object that was shown, and not the same one; say which is the "
                f"answer with {option('columns', f'chosen={names[first]}')} or "
                f"{option('columns', f'chosen={names[other]}')}",
            )


def _middle_of_three(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    found: dict[int, Role],
    at: dict[str, int],
) -> None:
    """``center`` is what the others are compared with, unless it can be the answer itself."""
    if not {"chosen", "shown_1", "shown_2"} <= set(at) or len(rows) < _TELLING_ROWS:
        return
    three = [at["shown_1"], at["anchor"], at["shown_2"]]
    told = places_told(names, rows, at["chosen"], three)
    known = told[told >= 0]
    # a number or a letter counts two places as well as three
    if len(set(known.tolist())) < 3 or (known == 1).mean() < 0.05:
        return
    del at["anchor"]
    at |= dict(zip(SHOWN, three, strict=True))
    found[three[1]] = Role("shown_2", None, BY_SIDE)


def _shape(
    names: Sequence[str],
    kinds: Mapping[str, Kind | None],
    kind: Kind | None,
    label: str | None,
    at: Mapping[str, int],
    mapped: Sequence[str],
) -> Shape | None:
    """The set of columns that is read, with all that the caller names; None where none is."""
    own = {role for role in mapped if role not in (*OPTIONAL, "ms")}
    complete = [shape for shape in complete_shapes(kinds) if own <= set(shape.roles)]
    fitting = [shape for shape in complete if shape.fits(kind)]
    if complete and not fitting:
        raise _contradiction(names, complete[0], at, kind, label)
    if len({shape.kind for shape in fitting}) > 1:
        raise layout_error(
            label,
            f"the columns {_listed(names)} can be read as "
            f"{' or as '.join(', '.join(shape.roles) for shape in fitting)}; say which with "
            f"{option('kind')} or {option('columns')}",
        )
    return fitting[0] if fitting else None


def _contradiction(
    names: Sequence[str],
    shape: Shape,
    at: Mapping[str, int],
    kind: Kind | None,
    label: str | None,
) -> FormatError | StatementError:
    if shape.form == "shown" and shape.kind is None:
        return layout_error(
            label,
            "similarity triplets have the columns anchor, near, far; "
            "chosen and shown columns are of kind central or odd",
        )
    telling = next(role for role in shape.roles if role in KIND_OF_ROLE or role == "chosen")
    return layout_error(
        label,
        f"column {names[at[telling]]!r} says that the statements are of kind "
        f"{shape.kind}, but kind {kind} was asked for; leave the kind out, or say what the "
        f"columns hold with {option('columns')}",
    )


def _refuse_more_than_three(names: Sequence[str], label: str | None) -> None:
    if too_many_shown(names):
        raise layout_error(
            label,
            f"the columns {_listed(names)} show more than three objects at a time; a statement is "
            f"about three: pick them with {option('columns')}, or use Statements.from_questions",
        )


def _missing(
    names: Sequence[str],
    at: Mapping[str, int],
    kind: Kind | None,
    label: str | None,
    rows: Sequence[Sequence[str]],
    row: int | None,
) -> FormatError | StatementError:
    _refuse_more_than_three(names, label)
    advice = str(advise(names, rows, kind=kind))
    fitting = [
        shape for _, shape in SHAPES if kind is None or KIND_OF_ROLE.get(shape[0]) in (None, kind)
    ]
    told = [role for role in at if role != "near" or _is_closer(at)]
    nearest = min(fitting, key=lambda shape: sum(role not in told for role in shape))
    lacking = [role for role in nearest if role not in told]
    word = "column" if len(lacking) == 1 else "columns"
    place, looks = label, ""
    plain = [key(name) for i, name in enumerate(names) if i not in at.values()]
    stems = [name.rstrip("0123456789") for name in plain if name[-1:].isdigit()]
    if any(stems.count(stem) > 2 for stem in set(stems)):
        advice += (
            f"; if each column is a question, give a table of the objects that it shows with "
            f"{option('questions')}"
        )
    if row is not None:
        place, looks = f"{label}, row {row:,}", "the first row looks like a header, but it has "
        advice += f"; or, if it names objects, {option('header', False)}"
    if label is None:
        advice += "; Statements(table, ...) takes it"
    return layout_error(
        place,
        f"{looks}no {word} {', '.join(lacking)}; the columns seen are "
        f"{_listed(names)}: say what they hold with {advice}",
    )
