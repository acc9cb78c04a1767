"""Where on the screen the chosen object stood, for files that tell."""

from __future__ import annotations

from collections.abc import Sequence

from trilens._typing import AnyArray
from trilens.statements import Statements


def read_places(
    path: str, statements: Statements, columns: Sequence[str] | None = None
) -> AnyArray | None:
    """The place (0, 1, 2) of the chosen object: `Statements.places`, known while reading."""
    return statements.places
