"""Which method answers a question when the user leaves the choice to us.

The rules are measured; `docs/recommend.md` has the tables.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from trilens.errors import ParameterError
from trilens.maps.registry import MAPS
from trilens.statements import Statements

Question: TypeAlias = Literal["medoid", "outliers", "classify", "cluster", "graph", "embed"]

#: The methods of each question beside "auto": those of the paper first, then the maps.
METHODS: dict[Question, tuple[str, ...]] = {
    "medoid": ("depth", *MAPS),
    "outliers": ("depth", *MAPS),
    "classify": ("depth", "krng", *MAPS),
    "cluster": ("krng", *MAPS),
    "graph": ("krng", *MAPS),
    "embed": MAPS,
}


def choose_method(question: Question, statements: Statements, method: str = "auto") -> str:
    """The method that is meant: ``method`` itself, or the best one where it is ``"auto"``.

    >>> choose_method("medoid", Statements([[0, 1, 2]], kind="closer"))
    'lensmap'
    """
    if method == "auto":
        return _best(question, statements)
    if method not in METHODS[question]:
        raise ParameterError(
            f"method is {method!r}; it must be auto or one of {', '.join(METHODS[question])}"
        )
    return method


def _best(question: Question, statements: Statements) -> str:
    if question in ("medoid", "outliers") and statements.kind != "closer":
        return "depth"
    if question == "classify":
        return "choice"
    if question == "graph" and statements.kind == "central":
        return "krng"
    return "lensmap"
