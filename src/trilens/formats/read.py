"""Reading statements whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from trilens.errors import FormatError
from trilens.formats.archive import open_archive
from trilens.formats.batch import StatementFile
from trilens.formats.columns import asked_kind, column_list
from trilens.formats.names import Names, Naming
from trilens.formats.objects import object_list
from trilens.formats.source import PathLike, open_source
from trilens.formats.tables import open_table
from trilens.formats.text import open_text
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
        ``seconds``, ``place``. Columns with other names are passed over. A file without header and
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
        NaN where missing; places are known where the objects shown or ``place`` tell them.

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
    listed = object_list(objects)
    file = open_file(path, asked_kind(kind), column_list(columns), listed)
    naming = file.stored if listed is None else Naming(listed)
    batches = list(file.batches(naming is None or naming.integers))
    if naming is None:
        names = Names()
        for batch in batches:
            names.add(batch)
        naming = names.naming()
    settled = file.kind or asked_kind(kind) or "central"
    if not batches:
        if not file.may_be_empty:
            raise no_statements(file)
        return Statements([], naming.n_objects, naming.names, settled)
    read = [naming.statements(batch, settled) for batch in batches]
    return read[0] if len(read) == 1 else concatenate(read)


def open_file(
    path: PathLike,
    kind: Kind | None,
    columns: list[str] | None,
    listed: Sequence[str] | None,
    *,
    spool: bool = False,
) -> StatementFile:
    """A file of any format, with its columns found; see `open_source` for ``spool``."""
    source = open_source(path, spool=spool)
    opened: Callable[..., StatementFile] = _OPENED.get(source.format, open_table)
    return opened(source, columns, kind, frozenset(listed or ()))


_OPENED: dict[str, Callable[..., StatementFile]] = {"text": open_text, "npz": open_archive}


def no_statements(file: StatementFile) -> FormatError:
    """The refusal of a text file without rows."""
    return FormatError(f"{file.label} has no statements, only a header; add a row per statement")
