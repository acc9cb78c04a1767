"""Columns of a statement file beyond those that statements have, as text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trilens._typing import AnyArray
from trilens.errors import FormatError
from trilens.files.read import read_statements
from trilens.files.reading import Reading
from trilens.files.source import PathLike, checked_path, one_line
from trilens.files.spec import ColumnsLike, column_spec
from trilens.statements.columns import as_list, text_array
from trilens.statements.roles import OPTIONAL, key


def read_columns(
    path: PathLike, names: Sequence[str], columns: ColumnsLike | None = None, **how: Any
) -> dict[str, AnyArray]:
    """Columns of a file by their names, one text for each statement; empty where missing.

    Parameters
    ----------
    path
        What `trilens.read_statements` was given; not the standard input or a pipe, which can
        be read only once.
    names
        As the header writes them, or their numbers.
    columns, how
        As for `trilens.read_statements`: the rows are those that it reads.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "answers.csv"
    >>> _ = file.write_text("central,other_1,other_2,country\\na,b,c,DE\\nb,a,c,FR\\n")
    >>> read_columns(file, ["country"])["country"].tolist()
    ['DE', 'FR']
    """
    place, listed = checked_path(path), as_list(names, "the names of columns")
    if not all(isinstance(name, str) for name in listed):
        raise FormatError(f"columns are named by text, not by {one_line(repr(listed), 40)}")
    if place == "-" or (Path(place).exists() and not Path(place).is_file() | Path(place).is_dir()):
        raise FormatError(
            f"{place}: further columns cannot be read from it, since it can be read only once; "
            f"give a file"
        )
    return {name: _column(path, name, columns, how) for name in listed}


def _column(
    path: PathLike, name: str, columns: ColumnsLike | None, how: dict[str, Any]
) -> AnyArray:
    # the rounds are read as they stand, so a column is read as if it held them
    spec = column_spec(columns)
    given: ColumnsLike = {"round": name}
    if spec is not None and spec.names is not None:
        given = [
            "round" if own == name else f"no {own}" if own == "round" else own for own in spec.names
        ]
    elif spec is not None:
        given = {**dict(spec.mapping or ()), "round": name}
    try:
        rounds = read_statements(path, columns=given, **how).rounds
    except FormatError:
        _refuse_objects(path, name, columns, how)
        raise
    if rounds is None:
        raise FormatError(f"{path}: no column {name!r}")
    texts = [str(value) for value in rounds.tolist()]
    return text_array(texts) if texts else np.zeros(0, dtype="U1")


def _refuse_objects(
    path: PathLike, name: str, columns: ColumnsLike | None, how: dict[str, Any]
) -> None:
    """A column without which there are no statements cannot be read as something else."""
    told: list[Reading] = []
    read_statements(path, columns=columns, tell=told.append, **how)
    for role, column in told[0].columns.items():
        if role not in OPTIONAL and key(column) == key(name):
            raise FormatError(
                f"{path}: column {one_line(column, 40)!r} holds objects; give a column that says "
                f"something of the answers or of their raters"
            ) from None
