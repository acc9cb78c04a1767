"""Reading statements whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from trilens.errors import FormatError, ParameterError, StatementError
from trilens.files.archive import open_archive
from trilens.files.asked import Asked, asked
from trilens.files.batch import Batch, StatementFile
from trilens.files.cell import is_integer
from trilens.files.faults import Fault, without_faults, write_faults
from trilens.files.names import Names, Naming
from trilens.files.objects import Objects, ObjectsLike, names_or_ids, object_list
from trilens.files.reading import Reading, raters_in
from trilens.files.source import PathLike, Source, left_aside, one_line, sources
from trilens.files.spec import ColumnsLike
from trilens.files.tables import open_table
from trilens.files.text import open_text
from trilens.statements import Kind, Statements, concatenate


def read_statements(
    path: PathLike | Sequence[PathLike],
    kind: str | None = None,
    columns: ColumnsLike | None = None,
    objects: ObjectsLike | None = None,
    *,
    preset: str | None = None,
    header: bool | None = None,
    counts_from: int | None = None,
    encoding: str | None = None,
    skip_bad: bool | PathLike = False,
    tell: Callable[[Reading], None] | None = None,
) -> Statements:
    """Read statements from a file, or from several.

    The ending tells the format: ``.csv``, ``.tsv``, ``.txt``, ``.dat`` (separated by comma,
    tab, semicolon or spaces, found from the first rows), ``.parquet``, ``.arrow``,
    ``.feather``, ``.jsonl``, ``.ndjson``, ``.json``, ``.npz``, ``.npy``, ``.mat``, ``.xlsx``,
    ``.db``, ``.sqlite``, any of them also in ``.gz``, ``.zst`` or ``.zip``; other endings and
    the standard input are told by their content.

    Parameters
    ----------
    path : str or path, or list of these
        ``"-"`` is the standard input; a folder or a pattern (``"day-*.csv"``) stands for its
        files. ``study.db::table``, ``book.xlsx::sheet`` and ``data.mat::variable`` name a part.
    kind : {"central", "odd", "closer"}, optional
        By default what the columns or the file say, else ``"central"``. It must not
        contradict them.
    columns : str, dict or list of str, optional
        What the columns hold: ``"central=choice,other_1=a,other_2=b,rater=pid"``, or the same
        as a dict, picks columns by name or by number, from 1. A list names all columns in
        order. They hold ``central`` (or ``odd``), ``other_1``, ``other_2``; ``anchor``,
        ``near``, ``far``; ``chosen``, ``shown_1``, ``shown_2``, ``shown_3``; and ``rater``,
        ``round``, ``seconds`` (or ``ms``), ``place``, ``question``. A file without header
        and without ``columns`` has three columns, the singled-out object (or the anchor) first.
    objects : path, list of str or dict, optional
        The objects in their order, among them any that no statement names: a list, or a
        file with one name a line. A dict, or a table with the columns ``id`` and ``name``,
        gives names to ids; where the statements have numbers and the list has none, they are
        its lines. By default the objects are those that the statements name, in numerical
        order where every name is an integer and by first appearance (row by row, left to
        right) otherwise.
    preset : {"salmon", "things", "jspsych", "cblearn", "tripletools"}, optional
        What is known of the files of these tools and cannot be told from their columns.
    header : bool, optional
        Whether the first row of text names the columns; by default the rows tell.
    counts_from : {0, 1}, optional
        Where positions as answers, and lines of ``objects``, count from; by default they tell.
    encoding : str, optional
        Of text, such as ``"latin-1"`` or ``"utf-16"``; by default UTF-8.
    skip_bad : bool or path
        Leave out rows that are no statements, instead of stopping at the first; a path is
        where to write them.
    tell : callable, optional
        Called with a `Reading`: what was understood.

    Returns
    -------
    Statements
        Raters are text; rounds and questions are int64 where all are integers, else text;
        seconds are NaN where missing; places are known where the objects shown or ``place``
        tell them.

    Raises
    ------
    FormatError, StatementError
        One line with the file, the row as an editor counts it, what was seen and what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "cars.csv"
    >>> _ = file.write_text("Odd, Other 1, Other 2, Worker ID\\nvan, coupe, sedan, w7\\n")
    >>> S = read_statements(file)
    >>> S.kind, S.names, S.triples.tolist(), S.raters.tolist()
    ('odd', ('van', 'coupe', 'sedan'), [[0, 1, 2]], ['w7'])
    >>> _ = file.write_text("nr,first,second,third\\n1,van,coupe,sedan\\n")
    >>> S = read_statements(file, columns="odd=third,other_1=first,other_2=second")
    >>> [S.names[i] for i in S.triples[0]]
    ['sedan', 'van', 'coupe']
    """
    listed = object_list(objects)
    skips = True if isinstance(skip_bad, str | os.PathLike) else skip_bad
    if tell is not None and not callable(tell):
        raise ParameterError(f"tell is {one_line(repr(tell), 40)}; it must be a function")
    wish = asked(
        kind,
        columns,
        preset=preset,
        header=header,
        counts_from=counts_from,
        skip_bad=skips,
        objects=listed,
    )
    files = [open_file(source, wish) for source in sources(path, encoding=encoding)]
    settled = one_kind(files, wish.kind)
    stored = _stored(files) if listed is None else None
    fast = stored is None or stored.integers
    batches = [batch for file in files for batch in file.batches(fast)]
    faults: list[Fault] = []
    if skips:
        batches, faults = sound(batches, listed, stored)
        faults += [fault for file in files for fault in file.faults]
        order = {file.label: i for i, file in enumerate(files)}
        faults.sort(key=lambda fault: (order[fault.file], fault.row))
    if not batches and not all(file.may_be_empty for file in files):
        raise no_statements(files[0], faults)
    naming, notes = stored, list[str]()
    try:
        if naming is None:
            naming, notes = find_naming(batches, listed, wish, stored_names(files))
        parts = [naming.statements(batch, settled) for batch in batches]
    except StatementError as error:
        raise _first_fault(error, sound(batches, listed, stored)[1]) from error
    if not parts:
        parts = [Statements([], naming.n_objects, naming.names, settled)]
    if not isinstance(skip_bad, bool):
        write_faults(faults, skip_bad)
    if tell is not None:
        notes += left_aside(path)
        tell(reading(files, settled, wish, parts, naming.n_objects, faults, notes))
    return parts[0] if len(parts) == 1 else concatenate(parts)


def open_file(source: Source, wish: Asked) -> StatementFile:
    """A file of any format, with its columns found."""
    format_ = source.format
    if format_ == "text":
        if wish.preset == "jspsych":
            from trilens.files.trial import open_trials

            return open_trials(source, wish)
        if wish.preset == "cblearn" and wish.kind is None:
            wish = replace(wish, kind="closer")
        return open_text(source, wish)
    if format_ == "npz":
        if wish.preset == "cblearn":
            from trilens.files.array import open_cblearn

            return open_cblearn(source, wish)
        return open_archive(source, wish)
    if format_ in ("json", "jsonl"):
        from trilens.files.record import is_nested, open_json

        if format_ == "json" or is_nested(source) or wish.preset == "jspsych":
            return open_json(source, wish)
    if format_ in ("npy", "mat"):
        from trilens.files.array import open_array, open_matlab

        return open_array(source, wish) if format_ == "npy" else open_matlab(source, wish)
    if format_ in ("excel", "sqlite"):
        from trilens.files.sheet import open_database, open_sheet

        return open_sheet(source, wish) if format_ == "excel" else open_database(source, wish)
    return open_table(source, wish)


def one_kind(files: Sequence[StatementFile], wanted: Kind | None) -> Kind:
    """The kind that all files have."""
    said: dict[Kind, str] = {}
    for file in files:
        said.setdefault(file.kind or wanted or "central", file.label)
    if len(said) > 1:
        (first, at_first), (second, at_second) = list(said.items())[:2]
        raise FormatError(
            f"{at_first} has statements of kind {first}, but {at_second} of kind {second}; "
            f"read each kind by itself, or give the files that do not say it a kind="
        )
    return next(iter(said))


def _stored(files: Sequence[StatementFile]) -> Naming | None:
    """The objects that all files list alike."""
    namings = [file.stored for file in files if file.stored is not None]
    alike = {(naming.names, naming.n_objects) for naming in namings}
    return namings[0] if len(namings) == len(files) and len(alike) == 1 else None


def stored_names(files: Sequence[StatementFile]) -> list[str]:
    """The objects that some of the files list."""
    return [name for file in files if file.stored is not None for name in file.stored.listed()]


def find_naming(
    batches: Sequence[Batch], listed: Objects | None, wish: Asked, before: Sequence[str]
) -> tuple[Naming, list[str]]:
    """The objects of all batches, and how the caller's list was taken."""
    if listed is not None and not _by_number(batches, listed):
        return listed.naming(), []
    names = Names({*wish.listed, *before})
    for batch in batches:
        names.add(batch)
    if listed is None:
        return names.naming(before), []
    seen = names.seen()
    by_line = listed.by_line(seen, wish.counts_from)
    if by_line is not None:
        return by_line[0], [by_line[1]]
    return names_or_ids(listed, seen).naming(), []


def _by_number(batches: Sequence[Batch], listed: Objects) -> bool:
    """Whether the objects may be ids, or lines of the list; most often they are its names."""
    if listed.ids is not None:
        return True
    if any(map(is_integer, listed.names)):
        return False
    return bool(batches) and batches[0].names is None


def sound(
    batches: Sequence[Batch], listed: Objects | None, stored: Naming | None
) -> tuple[list[Batch], list[Fault]]:
    """The batches without their bad rows, and these."""
    keys = None if stored is None else frozenset(stored.keys())
    known = () if stored is None else stored.keys()
    if listed is not None:
        known = listed.names
        names = frozenset(listed.names) | frozenset(listed.ids or ())
        # numbers that are no names may be lines of the list
        keys = names if listed.ids is not None or any(map(is_integer, listed.names)) else None
    kept: list[Batch] = []
    faults: list[Fault] = []
    for batch in batches:
        good, bad = without_faults(batch, known, keys)
        faults += bad
        if len(good):
            kept.append(good)
    return kept, faults


def _first_fault(error: StatementError, faults: Sequence[Fault]) -> StatementError:
    """The refusal of the first bad row, of whatever sort it is."""
    if not faults or f"{faults[0].file}, row {faults[0].row:,}: " in str(error):
        return error
    return StatementError(
        f"{faults[0]}; correct the row, leave it out, or skip_bad=True (--skip-bad) "
        f"({len(faults):,} rows are bad)"
    )


def reading(
    files: Sequence[StatementFile],
    kind: Kind,
    wish: Asked,
    parts: Sequence[Statements],
    n_objects: int,
    faults: Sequence[Fault],
    notes: Sequence[str],
) -> Reading:
    """What was understood of the files; of their columns, the first file's."""
    layout = files[0].layout
    every = dict.fromkeys(note for file in files for note in file.notes)
    return Reading(
        files=tuple(file.label for file in files),
        kind=kind,
        kind_told=wish.kind is not None or all(file.kind is not None for file in files),
        columns={} if layout is None else layout.read,
        left_out=() if layout is None else layout.left_out,
        header=layout is None or layout.header,
        rows=sum(map(len, parts)),
        objects=n_objects,
        raters=raters_in(parts),
        faults=tuple(faults),
        notes=(*every, *notes),
    )


def no_statements(file: StatementFile, faults: Sequence[Fault] = ()) -> FormatError:
    """The refusal of a text file without rows."""
    if faults:
        return FormatError(
            f"{file.label} has no statements: all {len(faults):,} rows are bad, such as row "
            f"{faults[0].row:,}: {faults[0].problem}"
        )
    return FormatError(f"{file.label} has no statements, only a header; add a row per statement")
