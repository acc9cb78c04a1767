"""Reading statements from files, whole or chunk by chunk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

import numpy as np

from trilens._parameters import whole_number, wrong
from trilens.errors import FormatError, ParameterError
from trilens.files.objects import ObjectsLike, object_list
from trilens.files.side_tables import QuestionsLike, question_table
from trilens.files.source import PathLike, Source, names_of, skipped_files, sources
from trilens.kinds import Kind
from trilens.statements import Statements, concatenate
from trilens.statements.batch import Batch, Fault, sound, statements_of
from trilens.statements.columns import as_list
from trilens.statements.layout import ColumnsLike, ReadOptions, read_options, with_preset
from trilens.statements.names import ObjectList
from trilens.statements.reading import (
    Reading,
    ReadTables,
    find_objects,
    no_statements,
    one_kind,
    read_tables,
    stored_objects,
)
from trilens.statements.selection import Condition
from trilens.statements.table import AnswerTable, NamedTable, Pass
from trilens.statements.unfold import answer_table

#: Bytes of a file that are parsed at a time.
BLOCK_BYTES = 1 << 24


def read_statements(
    path: PathLike | Sequence[PathLike],
    kind: Kind | None = None,
    columns: ColumnsLike | None = None,
    objects: ObjectsLike | None = None,
    *,
    preset: str | None = None,
    header: bool | None = None,
    counts_from: int | None = None,
    encoding: str | None = None,
    rater_from_name: bool = False,
    questions: QuestionsLike | None = None,
    reason_random: Sequence[str] | str = (),
    skip_bad: bool | PathLike = False,
    tell: Callable[[Reading], None] | None = None,
) -> Statements:
    """Read statements from a file, or from several.

    The ending tells the format: ``.csv``, ``.tsv``, ``.txt``, ``.dat`` (separated by comma,
    tab, semicolon or spaces, found from the first rows), ``.parquet``, ``.arrow``,
    ``.feather``, ``.jsonl``, ``.ndjson``, ``.json``, ``.npz``, ``.npy``, ``.mat``, ``.xlsx``,
    ``.db``, ``.sqlite``, ``.sav``, any of them also in ``.gz``, ``.zst`` or ``.zip``; other
    endings and the standard input are told by their content.

    Parameters
    ----------
    path : str or path, or list of these
        ``"-"`` is the standard input; a folder or a pattern (``"day-*.csv"``) stands for its
        files. ``study.db::table``, ``book.xlsx::sheet`` and ``data.mat::variable`` name a part.
    kind : {"central", "odd", "closer"}, optional
        By default what the columns or the file say, else ``"central"``, with an
        `AssumedKindWarning`. It must not contradict them.
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
        What is known of the files of these tools and cannot be determined from their columns.
    header : bool, optional
        Whether the first row of text names the columns; by default the rows tell.
    counts_from : {0, 1}, optional
        Where positions as answers, and lines of ``objects``, count from; by default they tell.
    encoding : str, optional
        Of text, such as ``"latin-1"`` or ``"utf-16"``; by default UTF-8.
    rater_from_name : bool
        Whether each file (of a folder, a pattern or an archive) has the answers of one rater, who
        is called as the file is.
    questions : path or table, optional
        The objects of each question, where the answers have only its id, in a column or as the
        name of a column: a table with the columns ``id``, ``a``, ``b``, ``c`` (or ``id``,
        ``anchor``, ``a``, ``b``).
    reason_random : str or list of str, optional
        What the column ``reason`` calls questions that were asked at random, where it has words of
        its own; any other word stands for a question that earlier answers chose.
    skip_bad : bool or path
        Skip invalid rows instead of stopping at the first; a path is where to write them.
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
    if tell is not None and not callable(tell):
        raise wrong("tell", tell, "a function")
    options = reading_options(
        kind=kind,
        columns=columns,
        objects=objects,
        preset=preset,
        header=header,
        counts_from=counts_from,
        encoding=encoding,
        rater_from_name=rater_from_name,
        questions=questions,
        reason_random=reason_random,
        skip_bad=skip_bad,
    )
    found = read_files(path, options)
    if not isinstance(skip_bad, bool):
        write_faults(found.reading.faults, skip_bad)
    if tell is not None:
        tell(found.reading)
    found.reading.warn()
    return found.statements


def reading_options(
    *,
    objects: ObjectsLike | ObjectList | None = None,
    questions: QuestionsLike | None = None,
    skip_bad: bool | PathLike = False,
    **reading: Any,
) -> ReadOptions:
    """How files are to be read; parameters as in `read_statements`."""
    return read_options(
        **reading,
        questions=question_table(questions),
        skip_bad=True if isinstance(skip_bad, str | os.PathLike) else skip_bad,
        objects=object_list(objects),
    )


def read_files(
    path: PathLike | Sequence[PathLike], options: ReadOptions, extra: Sequence[str] = ()
) -> ReadTables:
    """The statements of files, with further columns, read once."""
    tables = open_tables(sources(path, encoding=options.encoding), options)
    found = read_tables(tables, extra)
    notes = (*found.reading.notes, *skipped_files(path))
    return replace(found, reading=replace(found.reading, notes=notes))


def open_tables(found: Sequence[Source], options: ReadOptions) -> list[AnswerTable]:
    """Files of any format, each perhaps with the rater that it is called after."""
    tables = [open_table(source, options) for source in found]
    if not options.rater_from_name:
        return tables
    return [replace(table, rater=name) for table, name in zip(tables, names_of(found), strict=True)]


def open_table(source: Source, options: ReadOptions) -> AnswerTable:
    """A file of any format, with its columns found."""
    if options.preset == "cblearn" and options.kind is None and source.format == "text":
        options = replace(options, kind="closer")
    table = opened(source, options)
    if options.preset is None and {"trial_type", "trial_index", "time_elapsed"} <= {*table.names}:
        options = with_preset(options, "jspsych")
        table = opened(source, options)
        table = replace(table, notes={**table.notes, "preset": "a file of jsPsych"})
    try:
        return answer_table(table, options)
    except FormatError as error:
        raise FormatError(f"{error.message}{table.elsewhere}") from None


def opened(source: Source, options: ReadOptions) -> NamedTable:
    """The table in a file of any format."""
    format_ = source.format
    if format_ == "text" and options.preset != "jspsych":
        from trilens.files.text import open_text

        return open_text(source, options)
    if format_ in ("text", "json", "jsonl"):
        from trilens.files.json import open_json, open_jspsych_csv

        return open_jspsych_csv(source) if format_ == "text" else open_json(source, options)
    if format_ in ("parquet", "arrow"):
        from trilens.files.arrow import open_arrow, open_parquet

        return open_parquet(source) if format_ == "parquet" else open_arrow(source)
    from trilens.files import others

    openers = {
        "npz": others.open_archive,
        "npy": others.open_array,
        "mat": others.open_matlab,
        "excel": others.open_sheet,
        "sqlite": others.open_database,
        "spss": others.open_spss,
    }
    return openers[format_](source, options)


def write_faults(faults: Iterable[Fault], path: PathLike) -> None:
    """Write bad rows to a CSV with the columns ``file``, ``row``, ``problem``, ``objects``."""
    from trilens.files.output import write_table

    listed = list(faults)
    write_table(
        {
            "file": [fault.file for fault in listed],
            "row": [fault.row for fault in listed],
            "problem": [fault.problem for fault in listed],
            "objects": [fault.content for fault in listed],
        },
        path,
    )


@dataclass(frozen=True)
class Scan:
    """Statements of one or several files, chunk by chunk; every loop reads the files anew.

    All chunks share ``names``, ``n_objects`` and ``kind``, so that counts of chunks add up to
    the counts of the whole.
    """

    n_objects: int
    names: tuple[str, ...] = field(repr=False)
    kind: Kind
    chunk_rows: int
    _tables: tuple[AnswerTable, ...] = field(repr=False)
    _objects: ObjectList = field(repr=False)
    _where: tuple[Condition, ...] = ()

    def __iter__(self) -> Iterator[Statements]:
        rows = 0
        for table in self._tables:
            batches = _sound_batches(table, self._objects.integers, self._where)
            parts = (statements_of(batch, self._objects, self.kind) for batch in batches)
            for chunk in _in_chunks(parts, self.chunk_rows):
                rows += len(chunk)
                yield chunk
        if not rows and self._where:
            raise ParameterError(
                f"no answer is left where {' and '.join(map(str, self._where))}; leave a "
                f"condition out",
                parameter="where",
            )
        _refuse_nothing(self._tables, rows)


def scan_statements(
    path_or_glob: PathLike | Sequence[PathLike],
    chunk_rows: int = 1_000_000,
    kind: Kind | None = None,
    columns: ColumnsLike | None = None,
    objects: ObjectsLike | None = None,
    *,
    preset: str | None = None,
    header: bool | None = None,
    counts_from: int | None = None,
    encoding: str | None = None,
    rater_from_name: bool = False,
    questions: QuestionsLike | None = None,
    reason_random: Sequence[str] | str = (),
    skip_bad: bool = False,
    where: Sequence[str] | str = (),
) -> Scan:
    """Read statements that do not fit in memory, chunk by chunk.

    The ids are fixed before the first chunk: by ``objects``, by the names that a Parquet or
    Arrow file of trilens carries, or else by a first pass over the files that collects the
    names alone. Objects have the same order as with `read_statements` on the files in turn.

    Parameters
    ----------
    path_or_glob : path, pattern or list of paths
        A pattern such as ``"day-*.csv"`` stands for the files that it matches, sorted. ``"-"``
        is the standard input, kept in a temporary file.
    chunk_rows : int
        Statements in a chunk; the last one of a file has what is left. Text is parsed in
        blocks of 16 MB, whatever the size of a chunk. An NPZ file is held whole.
    kind, columns, objects, preset, header
        As in `read_statements`, the same for all files, and so are those that follow.
    counts_from, encoding, rater_from_name, questions, reason_random, skip_bad
    where : str or list of str
        Only answers for which these conditions hold, such as ``"country = DE"``. The objects
        are those of all answers.

    Returns
    -------
    Scan
        Iterate over it, as often as you like, for `Statements` that share ``names``,
        ``n_objects`` and ``kind``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "1.csv").write_text("3,1,2\\n1,2,4\\n")
    >>> _ = (folder / "2.csv").write_text("4,1,2\\n")
    >>> scan = scan_statements(str(folder / "*.csv"), chunk_rows=1)
    >>> scan.names, [part.triples.tolist() for part in scan]
    (('1', '2', '3', '4'), [[[2, 0, 1]], [[0, 1, 3]], [[3, 0, 1]]])
    """
    rows = whole_number("chunk_rows", chunk_rows, least=1)
    options = reading_options(
        kind=kind,
        columns=columns,
        objects=objects,
        preset=preset,
        header=header,
        counts_from=counts_from,
        encoding=encoding,
        rater_from_name=rater_from_name,
        questions=questions,
        reason_random=reason_random,
        skip_bad=skip_bad,
    )
    tables = tuple(open_tables(sources(path_or_glob, encoding=encoding), options))
    settled = one_kind(tables)
    every = _all_objects(tables)
    texts = [where] if isinstance(where, str) else as_list(where, "where")
    conditions = tuple(map(Condition.of, texts))
    return Scan(every.n_objects, every.names, settled, rows, tables, every, conditions)


def _sound_batches(
    table: AnswerTable, integers: bool, where: Sequence[Condition] = ()
) -> Iterator[Batch]:
    options = table.options
    for batch in Pass(table, where=where, integers=integers, block_bytes=BLOCK_BYTES):
        good = sound(batch, options.objects, table.stored)[0] if options.skip_bad else batch
        if len(good):
            yield good


def _all_objects(tables: Sequence[AnswerTable]) -> ObjectList:
    """The objects, from the list, from the files' own lists or from a pass over all rows."""
    listed = tables[0].options.objects
    if listed is not None and not (listed.may_be_numbered and _by_number(tables, listed)):
        return listed
    stored = stored_objects(tables) if listed is None else None
    if stored is not None:
        return stored
    batches = (batch for table in tables for batch in _sound_batches(table, True))
    first = list(islice(batches, 1))
    _refuse_nothing(tables, len(first))
    return find_objects(chain(first, batches), tables)[0]


def _by_number(tables: Sequence[AnswerTable], listed: ObjectList) -> bool:
    """Whether the objects may be ids, or lines of the list, by the first rows."""
    if listed.keys is not None:
        return True
    batches = (batch for table in tables for batch in Pass(table, block_bytes=BLOCK_BYTES))
    first = next(batches, None)
    return first is not None and first.integers


def _refuse_nothing(tables: Sequence[AnswerTable], rows: int) -> None:
    if not rows and not all(table.table.may_be_empty for table in tables):
        raise no_statements(tables[0])


def _in_chunks(parts: Iterator[Statements], rows: int) -> Iterator[Statements]:
    """The same statements in chunks of ``rows``; the last has what is left."""
    waiting: list[Statements] = []
    n_waiting = 0
    for part in parts:
        start = 0
        while len(part) - start >= rows - n_waiting:
            stop = start + rows - n_waiting
            yield concatenate([*waiting, part.take(np.arange(start, stop))])
            waiting, n_waiting, start = [], 0, stop
        if start < len(part):
            waiting.append(part.take(np.arange(start, len(part))) if start else part)
            n_waiting += len(part) - start
    if waiting:
        yield concatenate(waiting)
