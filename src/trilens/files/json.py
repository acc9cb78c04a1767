"""JSON: flat lines, arrays of records, nested records, rows, columns by name; jsPsych's trials."""

from __future__ import annotations

import codecs
import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from operator import eq
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pj

from trilens._tabular import counted
from trilens.errors import FormatError
from trilens.files.small import small_table
from trilens.files.source import Source, one_line, owned
from trilens.files.text import as_unicode, blocks, open_text
from trilens.statements.cells import cell_text, images_in
from trilens.statements.layout import ReadOptions
from trilens.statements.names import is_integer, is_missing
from trilens.statements.roles import role_of, roles
from trilens.statements.rules import complete
from trilens.statements.table import NamedTable, Request, Rows, named_table

#: Levels of brackets in a row.
_DEEPEST = 500
#: Bytes from which the columns of a long file are found.
_FIRST_BLOCK = 1 << 22
_BIGGEST = 2**63
_NO_JSON = "it is no JSON: name it by its format"


def open_json(source: Source, options: ReadOptions) -> NamedTable:
    """A JSON file: an array of records, columns by name, rows, or lines of any of these."""
    if source.format == "jsonl" and options.preset != "jspsych" and not _is_nested(source):
        return _open_lines(source)
    found = _parsed(source.read(), source.label)
    if isinstance(found, dict) and source.part is not None:
        found = found[source.part_of("key", found)]
    if _is_rows(found):
        rows = ([cell_text(cell) or "" for cell in row] for row in found)
        return open_text(as_text_source(rows, source), options)
    if isinstance(found, dict):
        found = _of_pandas(found)
        if len(found) >= 3 and _width(list(found.values())) is not None:
            return named_table(source.label, table_of_columns(found))
    answered = _next_answers(found)
    if answered:
        columns, note = answered
        negative = [
            i
            for i, cell in enumerate(columns.get("seconds", ()))
            if isinstance(cell, int | float) and cell < 0
        ]
        for i in negative:
            columns["seconds"][i] = None
        table = _with_notes(source, table_of_columns(columns), note)
        return replace(table, negative_times=len(negative))
    unread: list[str] = []
    if isinstance(found, dict):
        voted = _matrices(found)
        if voted is not None:
            return _with_notes(source, table_of_columns(voted[0]), _not_read(voted[1]))
        found, unread = _main_records(found)
    listed = list(_records(found if isinstance(found, list) else [found], source.label))
    if not listed:
        raise FormatError(f"{source.label} has no records; a statement file has one a statement")
    inside = options.preset == "jspsych"
    return _with_notes(source, table_of_records(listed, inside=inside), _not_read(unread))


def _with_notes(source: Source, table: Any, note: str) -> NamedTable:
    return named_table(source.label, table, notes={"unread": note} if note else {})


def _not_read(keys: Sequence[str]) -> str:
    return f"not read: {one_line(', '.join(keys), 80)}" if keys else ""


def _main_records(found: dict[str, Any]) -> tuple[Any, list[str]]:
    """Of several lists of records the one that holds answers, with what it shares; and the rest."""
    lists = [name for name, value in found.items() if _are_records(value)]
    if len(lists) < 2:
        return found, []

    def worth(name: str) -> tuple[bool, int]:
        flat = dict(_flattened(found[name][0], "", False))
        names = [each.rsplit(".", 1)[-1] for each in flat]
        told = {role.name for role in roles(names).values()}
        return bool(complete(told)), len(found[name])

    main = max(lists, key=worth)
    unread = [name for name in lists if name != main]
    return {name: value for name, value in found.items() if name not in unread}, unread


def _are_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _matrices(found: dict[str, Any]) -> tuple[dict[str, list[Any]], list[str]] | None:
    """Questions of three objects in one list, and in another how many chose each of them.

    >>> _matrices({"answers": [[7, 8, 9]], "agreement": [[3, 1]]})[0]
    {'anchor': [7], 'shown_1': [8], 'shown_2': [9], 'votes_1': [3], 'votes_2': [1]}
    """
    wide = {name: _width(value) for name, value in found.items()}
    pairs = [
        (len(found[three]), three, votes)
        for three, width in wide.items()
        for votes, other in wide.items()
        if width == 3
        and votes != three
        and other in (2, 3)
        and len(found[three]) == len(found[votes])
        if all(type(cell) is int for row in found[votes] for cell in row)
        and (other == 2 or sum(map(max, found[votes])) < sum(map(sum, found[votes])))
    ]
    if not pairs:
        return None
    most = max(n for n, _, _ in pairs)
    # answers_diff goes with agreement_diff
    _, three, votes = max(
        (each for each in pairs if each[0] == most),
        key=lambda each: (
            wide[each[2]] == 2,
            len([*takewhile(bool, map(eq, each[1][::-1], each[2][::-1]))]),
            -len(each[1]),
        ),
    )
    n = wide[votes]
    names = ("anchor", "shown_1", "shown_2") if n == 2 else ("shown_1", "shown_2", "shown_3")
    columns = {name: [row[j] for row in found[three]] for j, name in enumerate(names)}
    for j in range(n or 0):
        columns[f"votes_{j + 1}"] = [row[j] for row in found[votes]]
    return columns, [name for name in found if name not in (three, votes)]


def _width(value: Any) -> int | None:
    """How many cells each row of a matrix has; None for anything else."""
    if not _is_rows(value):
        return None
    widths = {len(row) for row in value}
    return widths.pop() if len(widths) == 1 else None


def _next_answers(found: Any) -> tuple[dict[str, list[Any]], str] | None:
    """Answers as NEXT keeps them: lists of responses by participant, with ``target_indices``."""
    inside = found.get("participant_responses", found) if isinstance(found, dict) else found
    by_name = inside if isinstance(inside, dict) else {None: inside}
    who = [(name, one) for name, all_ in by_name.items() if isinstance(all_, list) for one in all_]
    if not who or not all(
        isinstance(one, dict) and isinstance(one.get("target_indices"), list) for _, one in who
    ):
        return None
    rows = []
    for name, one in who:
        listed = [each for each in one["target_indices"] if isinstance(each, dict)]
        targets = {each.get("label"): each for each in listed}
        winner = one.get("index_winner", one.get("target_winner"))
        three = [targets.get(label) for label in ("center", "left", "right")]
        chosen = next((each for each in three if each and each.get("index") == winner), None)
        if None in three or chosen is None:
            continue
        rater = one.get("participant_uid", name)
        rater = rater.rsplit("_", 1)[-1] if isinstance(rater, str) else rater
        objects = [_target(each) for each in (*three, chosen) if each]
        rows.append((rater, *objects, one.get("response_time"), one.get("alg_label")))
    names = ("rater", "anchor", "shown_1", "shown_2", "chosen", "seconds", "alg_label")
    columns = zip(names, map(list, zip(*rows, strict=True)), strict=False)
    told = {name: cells for name, cells in columns if any(cell is not None for cell in cells)}
    open_ = len(who) - len(rows)
    note = f"{counted(open_, 'response')} without an answer skipped" if open_ else ""
    return (told, note) if told else None


def _target(one: dict[str, Any]) -> Any:
    target = one.get("target")
    if not isinstance(target, dict):
        return one.get("index")
    return target.get("target_id", target.get("primary_description", one.get("index")))


def open_jspsych_csv(source: Source) -> NamedTable:
    """jsPsych's CSV: quoted cells; one that holds a JSON array becomes numbered columns."""
    holds = "jsPsych's CSV has a header and rows"
    table = small_table(source, holds, separators=(",",)).headed()
    if not table.rows:
        raise FormatError(f"{source.label} has no trials; {holds}")
    table.check_width()
    found = [
        {
            name: None if is_missing(cell) else cell
            for name, cell in zip(table.first, cells, strict=True)
        }
        for cells in table.rows
    ]
    return named_table(source.label, table_of_records(found, inside=True))


def _open_lines(source: Source) -> NamedTable:
    """JSON lines: one object with named columns a line."""
    with source.open() as stream:
        marked = stream.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
    body = len(codecs.BOM_UTF8) if marked else 0
    first = next(blocks(source, body, 1, _FIRST_BLOCK, _last_line_end), (b"", 1))
    if not first[0].strip():
        raise FormatError(f"{source.label} is empty; a statement file has a row per statement")
    names: list[str] = list(_parse(*first, source.label).column_names)

    def read(request: Request) -> Iterator[Rows]:
        for data, line in blocks(source, body, 1, request.block_bytes, _last_line_end):
            if not data.strip():
                continue
            table = _parse(data, line, source.label)
            late = [name for name in table.column_names if name not in names and role_of(name)]
            if late:
                raise FormatError(
                    f"{source.label}: {late[0]} is first given far down the file, from row "
                    f"{line:,} on; give it in the first row too, as null where it is unknown"
                )
            wanted = [names[at] for at in request.columns]
            columns = [
                table.column(name) if name in table.column_names else pa.nulls(len(table))
                for name in wanted
            ]
            yield Rows(pa.table(columns, wanted), _line_finder(data, line))

    return NamedTable(source.label, tuple(names), read)


def _last_line_end(data: bytes) -> int:
    return data.rfind(b"\n") + 1


def json_columns(source: Source) -> dict[str, list[Any]]:
    """The columns of a small table: by name, or of records, line by line or in an array."""
    found = _parsed(source.read(), source.label)
    if isinstance(found, dict):
        found = _of_pandas(found)
        lists = bool(found) and all(isinstance(value, list) for value in found.values())
        if lists and not any(map(_are_records, found.values())):
            if len({len(value) for value in found.values()}) > 1:
                raise FormatError(f"{source.label}: the columns must have the same length")
            return {str(name): value for name, value in found.items()}
    listed = list(_records([found], source.label))
    names = dict.fromkeys(name for record in listed for name in record)
    return {name: [record.get(name) for record in listed] for name in names}


def _is_nested(source: Source) -> bool:
    """Whether the first line of JSON lines holds more than names and values."""
    with source.open() as stream:
        head = stream.read(1 << 20)
    line = head.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0]
    try:
        refuse_depth(line, 1, source.label)
        row = json.loads(line)
    except (ValueError, RecursionError, FormatError):
        return False
    if isinstance(row, list):
        return all(isinstance(one, dict) for one in row)
    return isinstance(row, dict) and any(isinstance(value, dict | list) for value in row.values())


def table_of_records(records: Sequence[Mapping[str, Any]], *, inside: bool = False) -> Any:
    """A table of records, nested ones flattened.

    With ``inside``, text that is JSON is taken for what it says, as in jsPsych's CSV.

    >>> table_of_records([{"rt": 1, "shown": ["a", "b"], "data": {"answer": 0}}]).column_names
    ['rt', 'shown_1', 'shown_2', 'answer']
    """
    flat = [dict(_flattened(record, "", inside)) for record in records]
    if inside:
        flat = [_as_buttons(_with_anchor(record)) for record in flat]
    names: dict[str, None] = {}
    for record in flat:
        names |= dict.fromkeys(record)
    return table_of_columns(
        {short: [record.get(name) for record in flat] for name, short in _short(names).items()}
    )


def _with_anchor(record: dict[str, Any]) -> dict[str, Any]:
    """A trial of jsPsych that shows one object above two buttons: the first is the anchor."""
    two = "choices_1" in record and "choices_2" in record and "choices_3" not in record
    if not two or "stimulus" not in record or "anchor" in record:
        return record
    return {("anchor" if name == "stimulus" else name): v for name, v in record.items()}


def _as_buttons(record: dict[str, Any]) -> dict[str, Any]:
    """A trial of jsPsych whose buttons name the pictures: in the order of the buttons.

    >>> shown = {"stimulus_1": "a.jpg", "stimulus_2": "b.jpg"}
    >>> _as_buttons({**shown, "choices_1": "b", "choices_2": "a"})["stimulus_1"]
    'b.jpg'
    """
    shown = [name for name in record if re.fullmatch("stimulus_[0-9]", name)]
    buttons = [name for name in record if re.fullmatch("choices_[0-9]", name)]
    pictures = {_stem(record[name]): record[name] for name in shown}
    named = [_stem(record[name]) for name in buttons]
    if len(pictures) < len(shown) or len(named) != len(shown) or set(named) != set(pictures):
        return record
    return record | {name: pictures[stem] for name, stem in zip(shown, named, strict=True)}


def _stem(value: Any) -> str:
    """The name of a file without its folder and ending."""
    return PurePosixPath(str(value)).stem.casefold()


def table_of_columns(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A table of columns of anything: numbers where all are numbers, text otherwise."""
    return pa.table({name: _column(values) for name, values in columns.items()})


def _parsed(data: bytes, label: str) -> Any:
    text = as_unicode(data, label, _NO_JSON)
    refuse_depth(data, 1, label)
    if not text.strip():
        raise FormatError(f"{label} is empty; it must hold records")
    try:
        return json.loads(text)
    except RecursionError:
        raise FormatError(f"{label} is nested too deep; it must hold records") from None
    except ValueError as error:
        whole = error
    found: list[Any] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                if found:
                    raise FormatError(
                        f"{label}, row {number:,}: not JSON; every line must be a record"
                    ) from None
                raise FormatError(
                    f"{label} is truncated or is not JSON: {one_line(whole)}; write it again, or "
                    f"give it the ending of its format"
                ) from None
            found += row if isinstance(row, list) else [row]
    return found


def _is_rows(found: Any) -> bool:
    return (
        isinstance(found, list)
        and bool(found)
        and all(isinstance(row, list) for row in found)
        and not any(isinstance(cell, dict | list) for row in found for cell in row)
    )


def _of_pandas(found: dict[str, Any]) -> dict[str, Any]:
    """The columns of what pandas' ``to_json`` writes; anything else as it is.

    >>> _of_pandas({"odd": {"0": "a", "1": "b"}, "other_1": {"0": "b", "1": "c"}})
    {'odd': ['a', 'b'], 'other_1': ['b', 'c']}
    >>> _of_pandas({"0": {"odd": "a", "other_1": "b"}})
    {'odd': ['a'], 'other_1': ['b']}
    >>> _of_pandas({"columns": ["odd", "other_1"], "index": [0], "data": [["a", "b"]]})
    {'odd': ['a'], 'other_1': ['b']}
    """
    if found.keys() == {"columns", "index", "data"} and _width(found["data"]) is not None:
        columns = map(list, zip(*found["data"], strict=True))
        return dict(zip(map(str, found["columns"]), columns, strict=True))
    first = next(iter(found.values()), None)
    if not isinstance(first, dict) or not first:
        return found
    within = first.keys()
    for one in found.values():
        if not isinstance(one, dict) or one.keys() != within:
            return found
        if any(isinstance(cell, dict | list) for cell in one.values()):
            return found
    if all(map(is_integer, found)) and not any(map(is_integer, within)):
        return {name: [row[name] for row in found.values()] for name in within}
    return {name: [column[row] for row in within] for name, column in found.items()}


def as_text_source(rows: Iterable[Sequence[str]], source: Source) -> Source:
    """Rows of cells as separated text: header and columns are then found as in any text."""
    text = "".join(",".join(map(_quoted, row)) + "\n" for row in rows)
    return Source(source.label, ".csv", stored=text.encode("utf-8", "surrogatepass"))


def _quoted(cell: str) -> str:
    # bare spaces at the ends of a cell would be trimmed
    if cell == cell.strip() and not any(c in cell for c in ',"\n\r\t'):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _records(found: Sequence[Any], label: str) -> Iterator[dict[str, Any]]:
    """Records, those inside of records too: each trial of a participant with what he shares."""
    for number, one in enumerate(found, 1):
        if isinstance(one, list):
            yield from _records(one, label)
            continue
        if not isinstance(one, dict):
            raise FormatError(
                f"{label}, record {number:,}: {one_line(json.dumps(one), 40)} is not a JSON "
                f'object; every record must be one, such as {{"central": "a", ...}}'
            )
        inside = [name for name, value in one.items() if _are_records(value)]
        if len(inside) == 1:
            shared = {name: value for name, value in one.items() if name != inside[0]}
            for each in _records(one[inside[0]], label):
                yield shared | each
        else:
            yield one


def _flattened(value: Any, name: str, inside: bool) -> Iterator[tuple[str, Any]]:
    if inside and isinstance(value, str):
        if value[:1] in ("[", "{"):
            with contextlib.suppress(ValueError, RecursionError):
                value = json.loads(value) or value
        elif "<img" in value:
            shown = images_in(value)
            value = shown[0] if len(shown) == 1 else shown or value
    if isinstance(value, Mapping):
        for each, inner in value.items():
            yield from _flattened(inner, f"{name}.{each}" if name else str(each), inside)
    elif isinstance(value, list) and 0 < len(value) <= 9:
        for i, inner in enumerate(value, 1):
            yield from _flattened(inner, f"{name}_{i}", inside)
    else:
        yield name, value


def _short(names: Mapping[str, None]) -> dict[str, str]:
    """Each name without what it lies in, where that leaves no two alike."""
    last = {name: name.rsplit(".", 1)[-1] for name in names}
    every = list(last.values())
    return {name: short if every.count(short) == 1 else name for name, short in last.items()}


def _column(values: Sequence[Any]) -> Any:
    known = [value for value in values if value is not None]
    if known and all(type(value) is int and abs(value) < _BIGGEST for value in known):
        return pa.array(values, pa.int64())
    if known and all(type(value) in (int, float) for value in known):
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    try:
        return pa.array([cell_text(value) for value in values], pa.string())
    except UnicodeError as error:
        raise FormatError(f"a cell is not valid Unicode ({one_line(error, 80)})") from error


def _parse(data: bytes, first_line: int, label: str) -> Any:
    as_unicode(data, label, _NO_JSON, first_line)
    refuse_depth(data, first_line, label)
    try:
        return pj.read_json(
            pa.BufferReader(owned(data)),
            # a block must hold a whole line; the parser's own blocks are small
            pj.ReadOptions(block_size=min(max(len(data) + 1, 1 << 20), (1 << 31) - 1)),
            pj.ParseOptions(explicit_schema=_texts(data)),
        )
    except (pa.ArrowException, UnicodeDecodeError, KeyError) as error:
        raise _diagnosis(data, first_line, label, error) from error


def refuse_depth(data: bytes, first_line: int, label: str) -> None:
    """Refuse what is nested so deep that pyarrow's parser, which recurses, would crash."""
    opened = data.count(b"[") + data.count(b"{")
    if opened - data.count(b"\n{") <= _DEEPEST:  # no row of flat objects
        return
    for number, line in enumerate(data.split(b"\n"), first_line):
        if line.count(b"[") + line.count(b"{") > _DEEPEST:
            array = np.frombuffer(line, dtype=np.uint8)
            steps = np.isin(array, list(b"[{")).astype(np.int64) - np.isin(array, list(b"]}"))
            if steps.cumsum().max() > _DEEPEST:
                raise FormatError(
                    f"{label}, row {number:,}: nested more than {_DEEPEST} deep; every line must "
                    f'be an object such as {{"central": "a", ...}}'
                )


def _texts(data: bytes) -> Any:
    """A schema that keeps text as text: pyarrow would take some of it for points in time."""
    start = data.lstrip()[: 1 << 20]
    try:
        row = json.loads(start.split(b"\n", 1)[0])
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    found = roles(list(row))
    texts = [name for i, name in enumerate(row) if i in found and isinstance(row[name], str)]
    return pa.schema([(name, pa.string()) for name in texts])


def _diagnosis(data: bytes, first_line: int, label: str, error: Exception) -> FormatError:
    """What pyarrow could not parse, in the file's own terms."""
    types: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(data.split(b"\n"), first_line):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as wrong:
            return FormatError(
                f"{label}, row {number:,}: not JSON ({one_line(wrong, 80)}); "
                f'every line must be an object such as {{"central": "a", ...}}'
            )
        if not isinstance(row, dict):
            return FormatError(
                f"{label}, row {number:,}: {one_line(line.decode(), 40)} is not a JSON object; "
                f'every line must be one, such as {{"central": "a", ...}}'
            )
        for name, value in row.items():
            type_ = "text" if isinstance(value, str) else "not text"
            before = types.setdefault(name, (type_, number)) if value is not None else (type_, 0)
            if before[0] != type_:
                return FormatError(
                    f"{label}, row {number:,}: {one_line(name, 40)} is {type_} here and "
                    f"{before[0]} in row {before[1]:,}; write it in quotes in every row"
                )
    return FormatError(f"{label} cannot be parsed as JSON lines: {one_line(error)}")


def _line_finder(data: bytes, first_line: int) -> Callable[[int], int]:
    def line_of(row: int) -> int:
        filled = [n for n, line in enumerate(data.split(b"\n")) if line.strip()]
        # several objects on a line are legal, and then the row is the best that can be said
        return first_line + (filled[row] if row < len(filled) else row)

    return line_of
