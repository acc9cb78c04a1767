"""The sets of answers that can be exported; a file of its own, so that ``--help`` is quick."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Set: TypeAlias = Literal[
    "all",
    "counted",
    "passed",
    "screens",
    "questionnaire",
]
SETS: tuple[str, ...] = get_args(Set)
