"""Statements from tables in memory (pandas, polars, Arrow) and from rows of names, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trilens._parameters import shown as printed
from trilens._typing import AnyArray
from trilens.errors import StatementError
from trilens.statements.columns import are_whole, as_array
from trilens.statements.positions import are_names, find_positions
from trilens.statements.roles import (
    KIND_OF_ROLE,
    MILLISECONDS_FROM,
    SHOWN,
    roles,
    too_many_shown,
)
from trilens.statements.shapes import COLUMNS_OF_KIND, SHAPES, Shape, complete_shapes

if TYPE_CHECKING:
    from trilens.kinds import Kind
    from trilens.statements.value import Statements

#: The column of each field of `Statements`.
FIELD_COLUMNS = {
    "raters": "rater",
    "rounds": "round",
    "seconds": "seconds",
    "places": "place",
    "questions": "question",
}
#: The key of an Arrow schema's metadata: JSON with ``kind`` and ``names``.
METADATA_KEY = b"trilens"

_ROLES = {role for _, shape in SHAPES for role in shape} | set(FIELD_COLUMNS.values())
_LARGEST = 2**62


def is_table(given: Any) -> bool:
    """Whether something is a table: it speaks Arrow, maps names to columns, or lists dicts."""
    speaks = hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")
    return speaks or isinstance(given, Mapping) or _are_records(given)


def _are_records(given: Any) -> bool:
    """Whether something is a list of rows, each a dict by the names of the columns."""
    return isinstance(given, list | tuple) and bool(given) and isinstance(given[0], Mapping)


def roles_of(names: Sequence[str]) -> dict[str, str]:
    """Which column plays each role, by the table of names that files are read by.

    >>> roles_of(["Most central", "other_1", "other 2", "worker_id", "colour"])
    {'central': 'Most central', 'other_1': 'other_1', 'other_2': 'other 2', 'rater': 'worker_id'}
    """
    found: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for i, role in roles(names).items():
        if role.name in found and ranks[role.name] == role.rank:
            raise StatementError(
                f"two columns hold the same, {found[role.name]!r} and {names[i]!r}; rename one"
            )
        if role.rank < ranks.get(role.name, 1 << 30):
            found[role.name], ranks[role.name] = names[i], role.rank
    return found


def _kinds_of(role: Mapping[str, str], names: Sequence[str], asked: bool) -> dict[str, Kind | None]:
    """For each role the kind that its column tells: by its role and, if not asked, its name."""
    if asked:
        return {name: KIND_OF_ROLE.get(name) for name in role}
    told = {names[i]: found.kind for i, found in roles(names).items()}
    return {name: told[column] for name, column in role.items()}


def _seconds(name: str, values: AnyArray) -> AnyArray:
    """Response times in seconds; the name of the column says the unit, or their size must."""
    if values.dtype.kind not in "iuf":
        return values
    unit = next((role.unit for role in roles([name]).values() if role.name == "seconds"), "s")
    if unit == "ms":
        return values / 1000
    known = values[~np.isnan(values.astype(np.float64))]
    if unit is None and len(known) and float(np.median(known)) >= MILLISECONDS_FROM:
        raise StatementError(
            f"the column {name!r} has a median of {float(np.median(known)):,.4g}, too much for "
            f"seconds; name it {name}_ms if it holds milliseconds, or seconds if it does not"
        )
    return values


def from_table(
    given: Any,
    kind: str | None,
    columns: Mapping[str, str] | None = None,
    counts_from: int | None = None,
) -> dict[str, Any]:
    """The fields of `Statements` that a table tells, its objects as rows of names.

    Parameters
    ----------
    given
        A pandas, polars or Arrow table, a dict of columns, or a list of dicts, a row each.
    kind
        What the caller asks for.
    columns
        The column of each role, where the names do not tell.
    counts_from
        Where positions as answers begin, 0 or 1; by default they tell.
    """
    table = _arrow(given)
    names = list(table.column_names)
    role = roles_of(names) if columns is None else _asked(columns, names)
    if "seconds" in role:
        times = _seconds(role["seconds"], _plain(table.column(role["seconds"])))
    stored = _stored(table)
    fields: dict[str, Any] = {
        field: times if column == "seconds" else _plain(table.column(role[column]))
        for field, column in FIELD_COLUMNS.items()
        if column in role
    }
    if "names" in stored:
        fields["names"] = stored["names"]
    complete = complete_shapes(_kinds_of(role, names, columns is not None))
    if not complete and _are_counted(names) and columns is None:
        fields["kind"] = kind or stored.get("kind")
        fields["rows"] = [_named(table.column(name)) for name in names]
        return fields
    shape = _one_shape(complete, names, role, kind)
    fields["kind"] = kind or shape.kind or stored.get("kind") or "central"
    if shape.form == "statement":
        fields["rows"] = [_named(table.column(role[r])) for r in shape.roles]
        return fields
    if columns is None and too_many_shown(names):
        raise StatementError(
            f"the columns {', '.join(map(printed, names[:12]))} show more than three objects at a "
            f"time; use Statements.from_questions, or say which three with "
            f"Statements.from_frame(table, columns={{'chosen': ..., 'shown_1': ...}})"
        )
    every = [_plain(table.column(role[r])) for r in shape.roles]
    first = 1 if shape.form == "shown" else 2
    place = _place_of(every[0], every[first:], [role[r] for r in shape.roles], counts_from)
    if shape.form == "shown":
        fields["rows"] = [_picked(every[1:], place, k) for k in range(3)]
        fields["places"] = place
    else:
        one, other = (column.astype(object) for column in every[2:])
        near, far = np.where(place == 0, one, other), np.where(place == 0, other, one)
        fields["rows"] = [every[1], near, far]
    return fields


def _one_shape(
    complete: Sequence[Shape], names: Sequence[str], role: Mapping[str, str], kind: str | None
) -> Shape:
    """The shape that is read; none, or several of different kinds, are refused."""
    fitting = [shape for shape in complete if shape.fits(kind)]
    if len({shape.kind for shape in fitting}) > 1:
        told = dict.fromkeys(shape.kind or "central or odd" for shape in fitting)
        raise StatementError(
            f"the columns {', '.join(names)} can be read as statements of kinds "
            f"{' and '.join(told)}; say which with kind="
        )
    if fitting:
        return fitting[0]
    if complete:
        telling = ", ".join(role[r] for r in complete[0].roles)
        raise StatementError(
            f"the columns {telling} say that the statements are of kind "
            f"{complete[0].kind or 'central or odd'}, not {kind}; leave kind= out, or rename them"
        )
    raise StatementError(
        f"the columns {', '.join(map(printed, names[:12]))} are no statements; these have the "
        f"columns central (or odd), other_1, other_2, or anchor, near, far, or chosen, "
        f"shown_1, shown_2, shown_3: rename yours, or say which is which with "
        f"Statements.from_frame(table, columns={{'central': ..., 'other_1': ...}})"
    )


def as_ids(rows: Sequence[Any], names: Iterable[str] | None) -> tuple[AnyArray, list[str]]:
    """Three columns of names as ``(m, 3)`` ids, and the name of each object.

    Parameters
    ----------
    rows
        Three columns of text or whole numbers.
    names
        All names, where they are given. Without, integers are in numeric order, and other
        names in the order in which they are first met.
    """
    columns = [x if isinstance(x, _Encoded) else _checked(x) for x in rows]
    numbers = [x for x in columns if not isinstance(x, _Encoded) and x.dtype.kind in "iu"]
    if names is None and len(numbers) == 3:
        values, at = np.unique(np.column_stack(numbers), return_inverse=True)
        return at.reshape(-1, 3).astype(np.int32), [str(value) for value in values.tolist()]
    encoded = [x if isinstance(x, _Encoded) else _encoded(x) for x in columns]
    if names is None:
        first: dict[str, tuple[int, int]] = {}
        for j, (codes, texts) in enumerate(encoded):
            at_row = np.full(len(texts), len(codes))
            np.minimum.at(at_row, codes, np.arange(len(codes)))
            for code in np.flatnonzero(at_row < len(codes)).tolist():
                met = (int(at_row[code]), j)
                first[texts[code]] = min(first.get(texts[code], met), met)
        listed = sorted(first, key=first.__getitem__)
    else:
        listed = list(names)
    number = {name: i for i, name in enumerate(listed)}
    ids = np.empty((len(encoded[0].codes), 3), dtype=np.int32)
    for j, (codes, texts) in enumerate(encoded):
        known = np.array([number.get(text, -1) for text in texts], dtype=np.int32)
        ids[:, j] = known[codes] if len(codes) else 0
    if len(ids) and ids.min() < 0:
        row, j = (int(x[0]) for x in np.nonzero(ids < 0))
        codes, texts = encoded[j]
        raise StatementError(
            f"no object is named {printed(texts[codes[row]])}; names= has {len(listed):,} others",
            row=row,
        )
    return ids, listed


def to_arrow(statements: Statements) -> Any:
    """The statements as an Arrow table whose metadata hold the kind and all names."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    names = pa.array(list(statements.names), pa.string())
    for j, name in enumerate(COLUMNS_OF_KIND[statements.kind]):
        ids = pa.array(statements.triples[:, j])
        columns[name] = pa.DictionaryArray.from_arrays(ids, names)
    for field, name in FIELD_COLUMNS.items():
        values = getattr(statements, field)
        if values is not None:
            missing = np.isnan(values) if values.dtype.kind == "f" else None
            columns[name] = pa.array(values, mask=missing)
    facts = json.dumps({"kind": statements.kind, "names": list(statements.names)})
    return pa.table(columns).replace_schema_metadata({METADATA_KEY: facts.encode()})


class _Encoded(NamedTuple):
    """A column of text: positions in a list of different texts."""

    codes: AnyArray
    texts: list[str]


def _named(column: Any) -> AnyArray | _Encoded:
    """A column that names objects; text stays in Arrow until it is numbers."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        texts = pa.types.is_string(column.type.value_type)
        texts = texts or pa.types.is_large_string(column.type.value_type)
    else:
        texts = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if not texts or column.null_count:
        return _plain(column)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], column.type)
    found = _Encoded(whole.indices.to_numpy(zero_copy_only=False), whole.dictionary.to_pylist())
    # what names nothing, and a category that is missing, is refused row by row
    sound = all(text is not None and text.strip() for text in found.texts)
    return found if sound and len(set(found.texts)) == len(found.texts) else _plain(column)


def _arrow(given: Any) -> Any:
    import pyarrow as pa

    try:
        if isinstance(given, pa.Table):
            return given
        if hasattr(given, "columns") and hasattr(given, "iloc"):
            # numbers may be the names of columns there, and objects of mixed types their cells
            given = given.rename(columns=str).reset_index(drop=True)
        if _are_records(given):
            given = _columns_of(given)
        if isinstance(given, Mapping):
            given = {str(name): as_array(column, str(name)) for name, column in given.items()}
        return pa.table(given)
    except (pa.ArrowException, TypeError, ValueError) as error:
        why = " ".join(str(error).split())
        raise StatementError(
            f"the {type(given).__name__} cannot be read as a table: {why}"
        ) from None


def _columns_of(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The columns of rows that are dicts; every row has a cell in each."""
    names = list(records[0])
    for row, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise TypeError(f"row {row} is no dict, as the first is")
        missing = [name for name in names if name not in record] + [*(record.keys() - set(names))]
        if missing:
            raise ValueError(f"row {row} has not the same columns as the first ({missing[0]!r})")
    return {name: [record[name] for record in records] for name in names}


def _stored(table: Any) -> dict[str, Any]:
    """Kind and names from the metadata; what cannot be understood is not there."""
    try:
        facts = json.loads((table.schema.metadata or {})[METADATA_KEY])
        return {"kind": facts["kind"], "names": [str(name) for name in facts["names"]]}
    except (KeyError, ValueError, TypeError):
        return {}


def _are_counted(names: Sequence[str]) -> bool:
    """Whether there are three columns without names: the singled-out object is the first."""
    return list(names) in (["0", "1", "2"], ["column_0", "column_1", "column_2"])


def _asked(columns: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    if not isinstance(columns, Mapping):
        raise StatementError(
            f"columns is {printed(columns)}; it must be a dict such as {{'central': 'choice', "
            f"'other_1': 'left', 'other_2': 'right'}}"
        )
    asked = {str(role): str(name) for role, name in columns.items()}
    unknown = [name for name in asked.values() if name not in names]
    if unknown:
        raise StatementError(
            f"there is no column {unknown[0]!r}; the columns are {', '.join(names)}"
        )
    wrong = [role for role in asked if role not in _ROLES]
    if wrong:
        raise StatementError(
            f"{wrong[0]!r} is no role of a column; these are central, odd, other_1, other_2, "
            f"anchor, near, far, chosen, {', '.join((*SHOWN, *FIELD_COLUMNS.values()))}"
        )
    return asked


def _plain(column: Any) -> AnyArray:
    """A column of a table as numpy's: numbers as numbers, all else as objects, None if missing."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        # not by a cast: not every type of text has one
        return np.array(column.to_pylist(), dtype=object)
    number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if number and not column.null_count:
        return np.asarray(column.to_numpy())
    if pa.types.is_integer(column.type):
        return np.array(column.to_pylist(), dtype=object)
    if number:
        return np.asarray(column.cast(pa.float64()).to_numpy())
    return np.array(column.to_pylist(), dtype=object)


def _checked(column: Any) -> AnyArray:
    """Text or whole numbers, and none missing; anything else is refused with its row."""
    values = as_array(column, "the names of objects")
    if values.dtype.kind in "iu":
        if values.dtype.kind == "u" and values.size and values.max() > _LARGEST:
            return values.astype(object)
        return values.astype(np.int64, copy=False)
    if values.dtype.kind == "f":
        if are_whole(values):
            return values.astype(np.int64)
        # whole numbers beside a missing one: the type of the column is not what was written
        values = np.array([int(x) if x % 1 == 0 else x for x in values.tolist()], dtype=object)
    for row, value in enumerate(values.tolist()):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if isinstance(value, str) and value.strip():
            continue
        if not whole:
            missing = value is None or value == "" or value != value or isinstance(value, str)
            what = "a missing value" if missing else printed(value)
            raise StatementError(
                f"{what} names no object; objects are text or whole numbers", row=row
            )
    return values


def _encoded(column: AnyArray) -> _Encoded:
    import pyarrow as pa

    texts = [value if isinstance(value, str) else str(value) for value in column.tolist()]
    try:
        coded = pa.array(texts, pa.large_string()).dictionary_encode()
    except UnicodeEncodeError:  # half of a surrogate pair: no Unicode, but a Python text
        different = list(dict.fromkeys(texts))
        number = {text: i for i, text in enumerate(different)}
        return _Encoded(np.array([number[text] for text in texts], dtype=np.int64), different)
    return _Encoded(coded.indices.to_numpy(zero_copy_only=False), coded.dictionary.to_pylist())


def _place_of(
    chosen: AnyArray, every: list[AnyArray], names: Sequence[str], counts_from: int | None
) -> AnyArray:
    """Where the chosen one stands among those to choose from, by its name or as a position.

    ``names`` are those of the columns: of the answers first, of the objects to choose from last.
    """
    answers = _texts(chosen)
    here = np.column_stack([_texts(column) == answers for column in every])
    among = np.asarray(here.any(axis=1))
    positions = find_positions(
        list(dict.fromkeys(answers.tolist())),
        lambda: are_names(among),
        names[0],
        names[-len(every) :],
        counts_from,
        "Statements.from_frame(table, counts_from=...)",
    )
    if positions is not None:
        place = positions.of(answers.tolist())
        if len(place) and place.min() < 0:
            row = int(place.argmin())
            raise StatementError(
                f"the answer {printed(chosen[row])} is no position of an object that was shown",
                row=row,
            )
        return place
    if not among.all():
        row = int(among.argmin())
        shown = ", ".join(printed(column[row]) for column in every)
        raise StatementError(
            f"the chosen object {printed(chosen[row])} is not among the "
            f"{'three' if len(every) == 3 else 'two'} shown ({shown})",
            row=row,
        )
    return np.asarray(here.argmax(axis=1))


def _texts(column: AnyArray) -> AnyArray:
    """Names as text, whatever their type: 3, 3.0 and "3" name one object; missing ones are ""."""
    if column.dtype.kind == "f" and are_whole(column):
        column = column.astype(np.int64)
    texts = ["" if x is None or x != x else str(x) for x in column.tolist()]
    return np.array(texts, dtype=object)


def _picked(every: list[AnyArray], place: AnyArray, k: int) -> AnyArray:
    from trilens.statements.checks import CHOSEN_FIRST

    stacked = np.stack([column.astype(object) for column in every], axis=1)
    return np.asarray(stacked[np.arange(len(place)), CHOSEN_FIRST[place, k]])
