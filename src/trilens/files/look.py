"""A first look at a file: its columns, what their names tell, and how its answers would be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trilens.errors import TrilensError
from trilens.files.read import open_table, opened, reading_options
from trilens.files.source import PathLike, sources
from trilens.kinds import Kind
from trilens.statements.batch import statements_of
from trilens.statements.layout import ColumnsLike, column_roles
from trilens.statements.patterns import first_values, quotable
from trilens.statements.reading import find_objects
from trilens.statements.table import Pass

#: Bytes that are read for a first look, and statements that it shows.
_BLOCK = 1 << 22
_FIRST = 5


@dataclass(frozen=True)
class Look:
    """What a first look at a file found."""

    file: str
    header: bool
    #: Of the columns; their numbers where the file has no header.
    names: tuple[str, ...]
    #: The first three different values of each.
    values: tuple[tuple[str, ...], ...]
    #: What each column holds that is known by its name, by the names of the columns.
    roles: Mapping[str, str]
    #: What was given as ``columns=``, and suffices; empty where the names do.
    columns: str
    #: Where the file or the caller says it.
    kind: Kind | None = None
    #: The first statements, as they are read, and who gave them.
    first: tuple[tuple[str, str, str], ...] = ()
    raters: tuple[str, ...] | None = None
    #: Why the file cannot be read so.
    problem: TrilensError | None = None

    def to_dict(self) -> dict[str, Any]:
        """The facts, for JSON."""
        return {
            "file": self.file,
            "header": self.header,
            "columns": [
                {"name": name, "values": list(values), "holds": self.roles.get(name)}
                for name, values in zip(self.names, self.values, strict=True)
            ],
            "option": self.columns or None,
            "kind": self.kind,
            "first": [list(row) for row in self.first],
            "raters": None if self.raters is None else list(self.raters),
            "problem": None if self.problem is None else str(self.problem),
        }


def look_at(path: PathLike, columns: ColumnsLike | None = None, **reading: Any) -> Look:
    """The columns of a file (of several, the first), and its first statements as they are read.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "own.csv"
    >>> rows = ["who,x,y,z,w", "7,van,bus,car,bus", "8,bus,van,tram,bus"]
    >>> _ = file.write_text("\\n".join(rows))
    >>> look_at(file).values[1], look_at(file).first
    (('van', 'bus'), ())
    >>> found = look_at(file, "chosen=w,shown_1=x,shown_2=y,shown_3=z", kind="odd")
    >>> found.first
    (('bus', 'van', 'car'), ('bus', 'van', 'tram'))
    """
    options = reading_options(columns=columns, **reading)
    source = sources(path, encoding=options.encoding)[0]
    table = opened(source, options)
    numbers = tuple(str(i + 1) for i in range(len(table.names)))
    names = table.names if table.header else numbers
    found = column_roles(table.names, None, table.label, table.header)
    facts: dict[str, Any] = {
        "file": source.label,
        "header": table.header,
        "names": names,
        "values": tuple(tuple(first_values(table.first, i)) for i in range(len(names))),
        "roles": {names[i]: role.name for i, role in found.items()},
    }
    try:
        answers = open_table(source, options)
        batch = next(iter(Pass(answers, block_bytes=_BLOCK)), None)
        kept = columns if isinstance(columns, str) else ""
        kind = answers.kind or answers.options.kind
        if batch is None:
            return Look(**facts, columns=kept, kind=kind)
        objects, _ = find_objects([batch], [answers])
        S = statements_of(batch, objects, kind or "central")[:_FIRST]
    except TrilensError as error:
        return Look(**facts, columns="", kind=options.kind, problem=error)
    raters = None if S.raters is None else tuple(map(str, S.raters.tolist()))
    return Look(**facts, columns=kept, kind=kind, first=tuple(S), raters=raters)


def mapping_of(
    names: tuple[str, ...],
    shown: list[int],
    answers: list[int],
    rater: int | None,
    kind: Kind,
) -> str:
    """What to pass as ``columns=``, by which columns were shown, chosen and answered by whom.

    Of the columns of objects that were ``shown``, of kind ``closer`` the anchor is the first. Of
    ``answers`` there are several where several were chosen; one that is among those shown holds the
    chosen object itself.

    >>> mapping_of(("a", "b", "c", "r", "who"), [0, 1, 2], [3], 4, "odd")
    'chosen=r,shown_1=a,shown_2=b,shown_3=c,rater=who'
    >>> mapping_of(("a", "b", "c"), [0, 1, 2], [2], None, "odd")
    'odd=c,other_1=a,other_2=b'
    >>> mapping_of(("q", "l", "r", "key"), [0, 1, 2], [3], None, "closer")
    'chosen=key,anchor=q,shown_1=l,shown_2=r'
    """
    said: dict[str, int] = {}
    anchor = shown[:1] if kind == "closer" else []
    beside = shown[len(anchor) :]
    if len(answers) == 1 and answers[0] in beside and len(shown) == 3:
        others = [i for i in beside if i != answers[0]]
        if kind == "closer":
            said = {"anchor": anchor[0], "near": answers[0], "far": others[0]}
        else:
            said = {kind: answers[0], "other_1": others[0], "other_2": others[1]}
    else:
        one = len(answers) == 1
        said = {"chosen" if one else f"chosen_{k + 1}": i for k, i in enumerate(answers)}
        if anchor:
            said["anchor"] = anchor[0]
        said |= {f"shown_{k + 1}": i for k, i in enumerate(beside)}
    if rater is not None:
        said["rater"] = rater
    return ",".join(f"{role}={quotable(names, i)}" for role, i in said.items())
