"""Which column holds what: what the caller says of it, what the names say, and what is missing."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from trilens._parameters import whole_number
from trilens.errors import FormatError, ParameterError, StatementError, option
from trilens.kinds import Kind, check_kind, columns as kind_columns
from trilens.statements.columns import as_list, one_line
from trilens.statements.patterns import (
    by_pattern,
    folded,
    listed_values,
    quotable,
    stranger,
    to_fill_in,
)
from trilens.statements.roles import (
    BY_SIDE,
    KIND_OF_ROLE,
    NAMES,
    NUMBERED_ROLE,
    OPTIONAL,
    SHOWN,
    Role,
    Unit,
    are_labels,
    key,
    role_of,
    roles,
)
from trilens.statements.rules import PLAIN, Form, LayoutRule, complete, unfoldings

if TYPE_CHECKING:
    from trilens.statements.names import ObjectList
    from trilens.statements.table import NamedTable
    from trilens.statements.unfold import Questions

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

_KNOWN: dict[str, dict[str, Any]] = {
    "salmon": {"kind": "closer", "unit": "s"},
    "things": {"kind": "odd"},
    "jspsych": {"counts_from": 0, "unit": "ms", "passes_over": True},
    "tripletools": {"kind": "closer"},
}

#: Rows that tell whether the object in the middle was ever chosen.
_TELLING = 20
#: What may stand before the ``=``, besides numbers of objects.
_MAPPABLE = (*NAMES, "ms", "chosen_1", "shown_4", "not_chosen_1", "votes_1")


def layout_error(label: str | None, problem: str) -> FormatError | StatementError:
    """The refusal of a file (or, without a label, of a table in memory) for its columns."""
    return StatementError(problem) if label is None else FormatError(f"{label}: {problem}")


@dataclass(frozen=True)
class ReadOptions:
    """How a table is to be read; what the caller can say is as in `read_statements`."""

    kind: Kind | None = None
    columns: ColumnSpec | None = None
    header: bool | None = None
    counts_from: int | None = None
    #: Of times that do not say it.
    unit: Literal["s", "ms"] | None = None
    #: Whether a record that names none of the objects is no answer and no mistake.
    passes_over: bool = False
    preset: Preset | None = None
    skip_bad: bool = False
    rater_from_name: bool = False
    reason_random: tuple[str, ...] = ()
    encoding: str | None = None
    objects: ObjectList | None = field(default=None, repr=False)
    questions: Questions | None = field(default=None, repr=False)

    @cached_property
    def listed(self) -> frozenset[str]:
        """The names that the caller lists; a cell with such a name is never a missing one."""
        return frozenset(() if self.objects is None else self.objects.names)


def read_options(
    kind: Kind | None = None,
    columns: ColumnsLike | ColumnSpec | None = None,
    *,
    preset: str | None = None,
    header: bool | None = None,
    counts_from: int | None = None,
    skip_bad: bool = False,
    rater_from_name: bool = False,
    reason_random: Sequence[str] | str = (),
    encoding: str | None = None,
    objects: ObjectList | None = None,
    questions: Questions | None = None,
) -> ReadOptions:
    """The caller's wishes with the preset's; the caller's own go first."""
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
        reason_random=_words(reason_random),
        encoding=encoding,
        objects=objects,
        questions=questions,
    )
    return with_preset(options, preset)


def _words(given: Sequence[str] | str) -> tuple[str, ...]:
    words = [given] if isinstance(given, str) else as_list(given, "reason_random")
    if not all(isinstance(word, str) for word in words):
        raise ParameterError("reason_random must be words of the file, as text")
    return tuple(word.strip() for word in words)


def with_preset(options: ReadOptions, preset: str | None) -> ReadOptions:
    """The same with what is known of the files of a tool; what the caller says goes first."""
    known = dict(_KNOWN.get(preset or "", {}))
    for name in ("kind", "counts_from"):
        if getattr(options, name) is not None:
            known.pop(name, None)
    return replace(options, preset=preset, **known)  # type: ignore[arg-type]


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
                    f"the columns seen are {listed_values(header)}"
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

    @property
    def repeated(self) -> dict[str, str]:
        """The columns that a row has once for each of its questions, with {} for their number."""
        return {role: column for role, column in self.mapping or () if "{}" in column}

    @staticmethod
    def _position(column: str, header: Sequence[str] | None, n: int) -> int | None:
        if header is not None and "{}" in column:
            return next(iter(by_pattern(header).get(column, {}).values()), None)
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
        known_role = given in _MAPPABLE or NUMBERED_ROLE.fullmatch(given) is not None
        role = given if known_role else role_of(given)
        if column == "?":
            raise FormatError(
                f"columns: {one_line(given, 40)}=? is to be filled in: write the name of the "
                f"column, or its number, in place of the question mark, or leave it out"
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
    def unused(self) -> list[int]:
        """The columns that are not read."""
        used = {*self.objects, *self.others.values()}
        return [i for i in range(len(self.names)) if i not in used]

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


def find_layout(table: NamedTable, options: ReadOptions) -> Layout:
    """Find the columns of a statement among those of a table.

    Its first rows are looked at where the names do not suffice, and for messages.
    """
    spec, kind = options.columns, options.kind
    names, label, header = table.names, table.label, table.header
    if not names:
        raise layout_error(label, "the table is empty: it has no columns")
    called = names if header or len(names) != 2 else [*table.first, names][0]
    if are_labels(called):
        raise layout_error(
            label,
            f"this is a file of labels, by its columns {listed_values(called)}: give it with "
            f"{option('labels')}, beside a file of answers",
        )
    if spec is not None and spec.names is not None and len(spec.names) != len(names):
        raise wrong_width(spec, names, table.first, label)
    if not header and spec is None:
        if options.preset != "things" or len(names) != 3:
            return _plain(names, kind, label, table.first)
        spec = ColumnSpec(names=("other_1", "other_2", "odd"))
    mapped = {} if spec is None else dict(spec.mapping or ())
    return _Finder(table, kind, mapped, column_roles(names, spec, label, header)).layout()


def wrong_width(
    spec: ColumnSpec, names: Sequence[str], rows: Sequence[Sequence[str]], label: str | None
) -> FormatError | StatementError:
    """The refusal of names for all columns that are too few or too many."""
    return layout_error(
        label,
        f"{option('columns')} names {len(spec.names or ())} columns, but there are {len(names)}: "
        f"{listed_values(names, rows)}; name every column, or pick some with "
        f"{_lines_to_fill_in(names, {})}",
    )


def _lines_to_fill_in(names: Sequence[str], at: Mapping[str, int]) -> str:
    return " or ".join(option("columns", line) for line in to_fill_in(names, at))


def _plain(
    names: Sequence[str], kind: Kind | None, label: str | None, rows: Sequence[Sequence[str]]
) -> Layout:
    """Three columns without header: the singled-out object first."""
    n = len(names)
    if n != 3:
        numbers = [str(i + 1) for i in range(n)]
        raise layout_error(
            label,
            f"{n} {'column' if n == 1 else 'columns'} without a header "
            f"that names them: {listed_values(numbers, rows)}; a file without header has three, "
            f"the singled-out object first: name the columns with "
            f"{_lines_to_fill_in(numbers, {})}",
        )
    # what two objects are compared with may be of another sort
    why = "" if kind == "closer" else stranger(rows)
    if why:
        raise layout_error(
            label,
            f"three columns without a header that names them are three objects, but {why}; "
            f"name the columns with {option('columns')}",
        )
    shape = kind_columns(kind or "central")
    return Layout(tuple(names), None, (0, 1, 2), shape=shape, header=False)


def column_roles(
    names: Sequence[str], spec: ColumnSpec | None, label: str | None, header: bool
) -> dict[int, Role]:
    """The role of each column, by what the caller says and else by its name."""
    if spec is not None and spec.names is not None:
        return roles(spec.names)
    found = roles(names) if header else {}
    if spec is None:
        return found
    mapped = spec.positions(names if header else None, len(names), label)
    whole = bool(complete(mapped)) or bool(unfoldings(mapped))
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


def by_rank(found: Mapping[int, Role]) -> dict[str, int]:
    """Where each role is: of several columns, the one whose name says it most plainly."""
    at: dict[str, int] = {}
    for position, role in sorted(found.items(), key=lambda item: item[1].rank):
        at.setdefault(role.name, position)
    return at


def refuse_more_picks(
    names: Sequence[str], at: Mapping[str, int], used: Sequence[int], label: str | None
) -> None:
    """Refuse to take one of several picks: the others would count as not chosen."""
    own = roles(names)
    picks = [i for i, role in own.items() if re.fullmatch(r"chosen_\d+", role.name)]
    read = {*used, *(i for role, i in at.items() if role.startswith("chosen"))}
    left = [i for i in picks if i not in read]
    if left and any(i in read for i in picks):
        every = ",".join(
            f"chosen_{k + 1}={one_line(names[i], 40)}" for k, i in enumerate(sorted(picks))
        )
        raise layout_error(
            label,
            f"{len(picks)} columns hold what was chosen "
            f"({listed_values([names[i] for i in picks])}), but {one_line(names[left[0]], 40)} "
            f"would count as not chosen; name them all, {option('columns', every)}",
        )


def _of_one_question(names: Sequence[str], kind: Kind | None) -> str:
    """What columns hold that come once for each question, by what their names do not share.

    Empty where the names do not tell.
    """
    before = {name.partition("{}")[0] for name in names if "{}" in name}
    stem = f"{before.pop()}{{}}" if len(before) == 1 else ""
    found = roles([name.removeprefix(stem).replace("{}", "") for name in names])
    at = by_rank(found)
    fits = complete(at)
    if not fits or "center" in at:
        return ""
    told = fits[0].kind({role: found[i].kind for role, i in at.items()})
    read = [role for role in (*fits[0].required, *OPTIONAL) if role in at]
    said = option("columns", ",".join(f"{role}={quotable(names, at[role])}" for role in read))
    if told is None and kind is None:
        asked = " or ".join(option("kind", each) for each in ("central", "odd"))
        return f"{said} and {asked}, whichever was asked"
    return said


@dataclass
class _Finder:
    """What is known of the columns of a table, on the way to its layout."""

    table: NamedTable
    kind: Kind | None
    #: What the caller says of the columns, and the role of each that has one.
    mapped: Mapping[str, str]
    found: dict[int, Role]
    #: Where each role is.
    at: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> Sequence[str]:
        return self.table.names

    def refusal(self, problem: str) -> FormatError | StatementError:
        return layout_error(self.table.label, problem)

    def layout(self) -> Layout:
        """The first rule that fits."""
        self.at = by_rank(self.found)
        self.refuse_rivals()
        if "center" in self.at:
            self.settle_center()
        rule, told = self.rule()
        at = self.at
        if rule.form != "statement":
            # more objects, or more picks, than the rule takes: none of them is left out
            if "shown_4" in at and "shown_1" not in self.mapped:
                raise self.refusal(
                    f"the columns {listed_values(self.names)} show more than three objects at a "
                    f"time; name those of a question with "
                    f"{option('columns', 'chosen=?,shown_1=?,shown_2=?,shown_3=?')}"
                )
            used = [at[role] for role in rule.required]
            refuse_more_picks(self.names, at, used, self.table.label)
        # the objects shown tell the place themselves
        others = [name for name in OPTIONAL if not (name == "place" and rule.form == "shown")]
        return Layout(
            tuple(self.names),
            told,
            tuple(at[role] for role in rule.required),
            {name: at[name] for name in others if name in at},
            form=rule.form,
            shape=rule.required,
            unit=self.found[at["seconds"]].unit if "seconds" in at else "s",
            header=self.table.header,
        )

    def refuse_rivals(self) -> None:
        """Which of two columns holds the answer, or an object, is asked."""
        for role, first in self.at.items():
            if role in OPTIONAL or role in self.mapped:
                continue
            again = [i for i, each in self.found.items() if each.name == role and i != first]
            rank = self.found[first].rank
            plainly = role == "chosen" and rank > 0
            rivals = [i for i in again if plainly or self.found[i].rank == rank]
            if rivals:
                pair = first, rivals[0]
                seen = " and ".join(repr(one_line(self.names[i], 40)) for i in pair)
                which = " or ".join(
                    option("columns", f"{role}={quotable(self.names, i)}") for i in pair
                )
                raise self.refusal(
                    f"the columns {seen} may both hold "
                    f"{'the answer' if role == 'chosen' else role}; say which does with {which}"
                )

    def settle_center(self) -> None:
        """``center`` is the middle one of three where it was ever chosen, and else the anchor."""
        at = self.at
        center, left, right = at.pop("center"), at.get("shown_1"), at.get("shown_2")
        if left is None or right is None or "anchor" in at or "shown_3" in at:
            return
        ever = "chosen" in at and self.ever_chosen(center)
        if self.kind != "closer" and ever:
            at |= {"shown_2": center, "shown_3": right}
            self.found[center] = Role("shown_2", None, BY_SIDE)
            return
        bare = self.found[center].rank < BY_SIDE
        if self.kind is None and not bare and len(self.table.first) < _TELLING:
            raise self.refusal(
                f"column {one_line(self.names[center], 40)!r} may be the middle one of three "
                f"objects, or what the two others are compared with; say which with "
                f"{option('kind', 'odd')}, {option('kind', 'central')} or "
                f"{option('kind', 'closer')}"
            )
        if self.kind in (None, "closer") or bare:
            at["anchor"] = center
            self.found[center] = Role("anchor", "closer", BY_SIDE)
        else:
            at |= {"shown_2": center, "shown_3": right}

    def ever_chosen(self, center: int) -> bool:
        """Whether an answer names the object in the middle, or its place."""
        answer = self.at["chosen"]
        rows = [row for row in self.table.first if len(row) == len(self.names)]
        words = {"center", "centre", "middle", "mid", "m", "c", "mitte", key(self.names[center])}
        seen = {key(row[answer]) for row in rows}
        if seen & words or len(seen & {"0", "1", "2", "3"}) == 3:
            return True
        return any(row[answer] == row[center] for row in rows)

    def rule(self) -> tuple[LayoutRule, Kind | None]:
        """The rule by which the columns are read, with all that the caller names; and its kind."""
        kinds = {role: self.found[i].kind for role, i in self.at.items()}
        own = {role for role in self.mapped if role not in (*OPTIONAL, "ms")}
        fits = [rule for rule in complete(self.at) if own <= set(rule.required)]
        if not fits:
            raise self.unknown()
        serving = [rule for rule in fits if rule.serves(rule.kind(kinds), self.kind)]
        if not serving:
            raise self.contradiction(fits[0], fits[0].kind(kinds))
        if len({rule.kind(kinds) for rule in serving}) > 1:
            raise self.refusal(
                f"the columns {listed_values(self.names)} can be read as "
                f"{' or as '.join(', '.join(rule.required) for rule in serving)}; say which with "
                f"{option('kind')} or {option('columns')}"
            )
        return serving[0], serving[0].kind(kinds)

    def contradiction(self, rule: LayoutRule, told: Kind | None) -> FormatError | StatementError:
        if rule.form == "shown" and told is None:
            return self.refusal(
                "similarity triplets have the columns anchor, near, far; "
                "chosen and shown columns are of kind central or odd"
            )
        telling = next(role for role in rule.required if role in KIND_OF_ROLE or role == "chosen")
        return self.refusal(
            f"column {self.names[self.at[telling]]!r} says that the statements are of kind "
            f"{told}, but kind {self.kind} was asked for; leave the kind out, or say what the "
            f"columns hold with {option('columns')}"
        )

    def unknown(self) -> FormatError | StatementError:
        """What to say of columns that no rule fits: their values, and a line to fill in."""
        table, at = self.table, self.at
        names, label, row, rows = table.names, table.label, table.header_row, table.first
        place, looks = label, ""
        if row is not None:
            place, looks = f"{label}, row {row:,}", "the first row looks like a header, but it has "
        shown = [*SHOWN] if "chosen" in at else None
        lacking = min(
            (
                [role for role in rule.required if role not in at]
                for rule in PLAIN
                if rule.serves(KIND_OF_ROLE.get(rule.required[0]), self.kind)
            ),
            # three columns beside an answer may be what was shown
            key=lambda roles: (roles != shown or len(names) - len(at) != 3, len(roles)),
        )
        if "shown_4" in at:
            looks = f"more than three objects are shown at a time; {looks}"
        word = "column" if len(lacking) == 1 else "columns"
        several = folded(names, rows) if table.header else None
        said = ""
        if several is not None:
            names, rows = tuple(several[0]), several[1]
            at = by_rank(roles(names))
            said = _of_one_question(names, self.kind)
        advice = f"fill in {_lines_to_fill_in(names, at)}"
        if said:
            advice = f"say what they hold with {said}"
            if "rater=" not in said:
                advice += "; if a column names the person, add rater=COLUMN"
        stems = [key(name).rstrip("0123456789") for name in names if name[-1:].isdigit()]
        if several is not None:
            advice += ", where {} stands for the numbers of a row's questions"
        elif any(stems.count(stem) > 2 for stem in set(stems)):
            advice += (
                f"; if each column is a question, give a table of the objects that it shows with "
                f"{option('questions')}"
            )
        if row is not None:
            advice += f"; or, if the first row names objects, {option('header', False)}"
        if label is None:
            advice += (
                "; in Python: tl.Statements(table, columns='...', kind='odd'), with the kind that "
                "was asked"
            )
        return layout_error(
            place,
            f"{looks}no {word} {', '.join(lacking)}; the columns are "
            f"{listed_values(names, rows)}: {advice}",
        )
