"""Reading statements whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trilens.errors import FormatError
from trilens.formats.archive import read_archive
from trilens.formats.batch import Batch, Mode, NotIntegers
from trilens.formats.columns import check_kind, column_list
from trilens.formats.names import IntegerNames, Naming, TextNames, TextNaming, listed_naming
from trilens.formats.objects import object_list
from trilens.formats.source import PathLike, Source, open_source
from trilens.formats.tables import TableFile, open_table
from trilens.formats.text import TextFile, open_text
from trilens.statements import Kind, Statements, concatenate


def read_statements(
    path: PathLike,
    kind: str | None = None,
    columns: Sequence[str] | str | None = None,
    objects: PathLike | Iterable[str] | None = None,
) -> Statements:
    """Read statements from a file.

    The ending tells the format: ``.csv``, ``.tsv``, ``.txt``, ``.dat`` (separated by comma,
    tab, semicolon or spaces, found from the first rows), ``.parquet``, ``.arrow``,
    ``.feather``, ``.jsonl``, ``.ndjson``, ``.npz``, any of them also with ``.gz``; other
    endings and the standard input are told by their content.

    Parameters
    ----------
    path : str or path
        ``"-"`` is the standard input.
    kind : {"central", "odd", "closer"}, optional
        By default what the columns or the file say, else ``"central"``. It must not
        contradict them.
    columns : list of str, optional
        Names for the columns of a file without header, or new names for those it has:
        ``central`` (or ``odd``), ``other_1``, ``other_2``; ``anchor``, ``near``, ``far``;
        ``chosen``, ``shown_1``, ``shown_2``, ``shown_3``; and ``rater``, ``round``,
        ``seconds``. Columns with other names are passed over. A file without header and
        without ``columns`` has three columns, the singled-out object (or the anchor) first.
    objects : path or list of str, optional
        The objects in their order, among them any that no statement names: a list, or a
        file with one name a line. By default the objects are those that the statements
        name, in numerical order where every name is an integer and by first appearance
        (row by row, left to right) otherwise.

    Returns
    -------
    Statements
        Raters are text; rounds are int64 where all are integers, else text; seconds are
        NaN where missing.

    Raises
    ------
    FormatError, StatementError
        One line with the file, the row as an editor counts it, what was seen and what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "cars.csv"
    >>> _ = file.write_text("odd,other_1,other_2\\nvan,coupe,sedan\\n")
    >>> S = read_statements(file)
    >>> S.kind, S.names, S.triples.tolist()
    ('odd', ('van', 'coupe', 'sedan'), [[0, 1, 2]])
    """
    asked, named = check_kind(kind), column_list(columns)
    listed = object_list(objects)
    source = open_source(path)
    if source.format == "npz":
        refuse_columns(named, source)
        return read_archive(source, asked, listed)
    file = open_file(source, named, asked)
    settled = file.layout.kind or asked or "central"
    known = listed if listed is not None else file.stored_names
    naming, integers = (None, True) if known is None else listed_naming(known)
    if integers:
        try:
            return _whole(file, "integers", settled, naming)
        except NotIntegers:
            naming = None if known is None else TextNaming(known)
    return _whole(file, "text", settled, naming)


def open_file(source: Source, columns: list[str] | None, kind: Kind | None) -> TextFile | TableFile:
    """A text or table file with its columns found."""
    opened = open_text if source.format == "text" else open_table
    return opened(source, columns, kind)


def refuse_columns(columns: list[str] | None, source: Source) -> None:
    """An NPZ file has no columns to name."""
    if columns is not None:
        raise FormatError(
            f"{source.label}: columns= does not apply to NPZ, whose triples stand in the order "
            f"of the kind; leave it out"
        )


def _collect(batches: Iterator[Batch], mode: Mode) -> tuple[Naming, list[Batch]]:
    """The objects that the batches name, and the batches."""
    found = IntegerNames() if mode == "integers" else TextNames()
    kept = []
    for batch in batches:
        found.add(batch)
        kept.append(batch)
    return found.naming(), kept


def _whole(file: TextFile | TableFile, mode: Mode, kind: Kind, naming: Naming | None) -> Statements:
    if naming is None:
        naming, batches = _collect(file.batches(mode), mode)
    else:
        batches = list(file.batches(mode))
    if not batches:
        if isinstance(file, TextFile):
            raise FormatError(
                f"{file.label} has no statements, only a header; add a row per statement"
            )
        return Statements([], naming.n_objects, naming.names, kind)
    read = [
        batch.to_statements(naming.ids(batch), kind, naming.n_objects, naming.names)
        for batch in batches
    ]
    return read[0] if len(read) == 1 else concatenate(read)
