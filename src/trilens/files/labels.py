"""Label files: the class of some of the objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trilens.errors import LabelError
from trilens.files.dialect import records, whole_text
from trilens.files.source import PathLike, Source, decoded, one_line, open_source, quoted
from trilens.statements import Statements, as_statements
from trilens.statements.value import shown

_COLUMNS = ("object", "label")
#: What else the columns may be called.
_ALSO = {
    "object": ("name", "item", "image", "stimulus", "word", "id"),
    "label": ("class", "category", "group", "cluster", "type"),
}


class Labels(dict[str, str]):
    """Labels by object name, with the file and the rows they came from."""

    def __init__(self, labels: Mapping[str, str], source: str, rows: Mapping[str, int]) -> None:
        super().__init__(labels)
        self.source = source
        self.rows = dict(rows)

    def place(self, name: str) -> str:
        """How a message names the row of an object."""
        return f"{self.source}, row {self.rows[name]:,}"


def read_labels(path: PathLike, encoding: str | None = None) -> Labels:
    """The label of each object that a label file names.

    The file is CSV or TSV (comma, tab or semicolon), JSON, JSON lines, Parquet or Arrow with
    the columns ``object`` and ``label`` (or ``class``, ``group``, ...), as ``cluster -o`` and
    ``classify -o`` write them; other columns are passed over. An object that it leaves out is
    unlabelled.

    Raises
    ------
    LabelError
        For a missing column, an empty label, or an object with two different labels.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = file.write_text("object,label\\n44,ordinary\\n15,sports\\n")
    >>> dict(read_labels(file))
    {'44': 'ordinary', '15': 'sports'}
    """
    source = open_source(path)
    if encoding is not None:
        source = decoded(source, encoding)
    label = source.label
    tabular = source.format in ("json", "jsonl", "parquet", "arrow")
    labels: dict[str, str] = {}
    rows: dict[str, int] = {}
    for name, given, row in _table_pairs(source) if tabular else _text_pairs(source):
        place = f"{label}, row {row:,}"
        if not name.strip():
            raise LabelError(f"{place}: the object is empty; name it or leave the row out")
        if not given.strip():
            raise LabelError(
                f"{place}: the label of object {quoted(name)} is empty; "
                f"leave the row out if the object is unlabelled"
            )
        if labels.setdefault(name, given) != given:
            raise LabelError(
                f"{place}: object {quoted(name)} has the label {quoted(given)}, but "
                f"{quoted(labels[name])} in row {rows[name]:,}; an object has one label"
            )
        rows.setdefault(name, row)
    if not labels:
        raise LabelError(f"{label} has no labels, only a header; add a row per labelled object")
    return Labels(labels, label, rows)


def _text_pairs(source: Source) -> Iterator[tuple[str, str, int]]:
    """The object and the label of each row of text, and its number as an editor counts it."""
    label = source.label
    text = whole_text(source, "a label file has the columns object,label", LabelError)
    if not text.strip():
        raise LabelError(f"{label} is empty; a label file has the columns object,label")
    header, separator = _header(text, label)
    at_object, at_label = (header.index(name) for name in _COLUMNS)
    for number, (cells, line, _) in enumerate(records(text, separator)):
        if number == 0:
            continue
        if len(cells) != len(header):
            raise LabelError(
                f"{label}, row {line + 1:,}: {len(cells)} columns where the header has "
                f"{len(header)}; every row must have the same columns"
            )
        yield cells[at_object], cells[at_label], line + 1


def _table_pairs(source: Source) -> Iterator[tuple[str, str, int]]:
    """The object and the label of each row of a table, and its number from 1."""
    from trilens.files.record import cell_text
    from trilens.files.tables import whole_table

    table = whole_table(source)
    header = _named([name.strip().casefold() for name in table.column_names])
    if not all(header.count(name) == 1 for name in _COLUMNS):
        raise LabelError(
            f"{source.label}: there must be the columns object and label, once each; "
            f"there are {one_line(', '.join(table.column_names), 80) or 'none'}"
        )
    objects, labels = (table.column(header.index(name)).to_pylist() for name in _COLUMNS)
    for row, (name, given) in enumerate(zip(objects, labels, strict=True), 1):
        yield cell_text(name) or "", cell_text(given) or "", row


def labels_for(S: Statements, labels: Mapping[str, str]) -> list[str | None]:
    """The label of each object of ``S``, in order; None for the unlabelled.

    Parameters
    ----------
    labels
        From `read_labels`, or any mapping from names to labels.

    Raises
    ------
    LabelError
        Where the labels name an object that the statements do not have.

    Examples
    --------
    >>> labels_for(Statements([[0, 1, 2]], names=["a", "b", "c"]), {"c": "red"})
    [None, None, 'red']
    """
    return labels_by_name(as_statements(S).names, labels)


def labels_by_name(names: Sequence[str], labels: Mapping[str, str]) -> list[str | None]:
    """The label of each of these objects; None for the unlabelled. Errors as in `labels_for`."""
    if not isinstance(labels, Mapping) or not all(isinstance(name, str) for name in labels):
        raise LabelError(f"labels are a mapping from names to labels, not {one_line(repr(labels))}")
    known = set(names)
    unknown = [name for name in labels if name not in known]
    if unknown:
        first = unknown[0]
        if isinstance(labels, Labels):
            file, place = labels.source, labels.place(first)
        else:
            file = place = "the labels"
        if len(unknown) == len(labels):
            raise LabelError(
                f"{file}: none of the {len(labels):,} objects is in the statements, whose "
                f"objects are {shown(names)}; is it the label file of other statements?"
            )
        raise LabelError(
            f"{place}: object {quoted(first)} is not in the statements ({len(unknown):,} of "
            f"{len(labels):,} labelled objects are unknown); leave the row out, or list the "
            f"object with objects= (--objects)"
        )
    return [labels.get(name) for name in names]


def _named(header: list[str]) -> list[str]:
    """The header with ``object`` and ``label`` for the names that mean the same.

    >>> _named(["nr", "image", "class"])
    ['nr', 'object', 'label']
    """
    named = list(header)
    for role, names in _ALSO.items():
        if role not in named:
            other = next((name for name in names if named.count(name) == 1), None)
            if other is not None:
                named[named.index(other)] = role
    return named


def _header(text: str, label: str) -> tuple[list[str], str]:
    seen: list[str] = []
    for separator in (",", "\t", ";"):
        cells, _, _ = next(records(text, separator), ([], 0, 0))
        header = [cell.strip().casefold() for cell in cells]
        named = _named(header)
        if all(named.count(name) == 1 for name in _COLUMNS):
            return named, separator
        seen = max(seen, cells, key=len)
    raise LabelError(
        f"{label}: the first row must name the columns object and label, once each; "
        f"it is {one_line(', '.join(seen), 80)}"
    )
