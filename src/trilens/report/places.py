"""Where on the screen the chosen object stood, for files that tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trilens._typing import AnyArray
from trilens.formats import read_statements
from trilens.formats.columns import check_kind
from trilens.formats.read import open_file
from trilens.formats.source import open_source
from trilens.statements import Statements


def read_places(
    path: str, statements: Statements, columns: Sequence[str] | None = None
) -> AnyArray | None:
    """The place (0, 1, 2) of the chosen object among the three that were shown.

    Parameters
    ----------
    path : str
        The file that ``statements`` were read from.
    columns : list of str, optional
        As for `read_statements`.

    Returns
    -------
    (m,) array of int, or None
        None for a file without the columns ``shown_1``, ``shown_2``, ``shown_3``, and for the
        standard input, which cannot be read twice.
    """
    if path == "-":
        return None
    source = open_source(path)
    if source.format == "npz":
        return None
    named = None if columns is None else list(columns)
    layout = open_file(source, named, check_kind(statements.kind)).layout
    if len(layout.objects) != 4:
        return None
    # the shown objects, read as statements of their own: their order is that on the screen
    as_shown = [""] * layout.n_columns
    for position, role in zip(layout.objects[1:], ("central", "other_1", "other_2"), strict=True):
        as_shown[position] = role
    shown = read_statements(path, "central", as_shown, list(statements.names))
    return np.asarray((shown.triples == statements.triples[:, :1]).argmax(axis=1))
