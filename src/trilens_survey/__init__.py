"""The survey: a study folder in, answers in a database, statements out.

A study is a folder with ``study.yaml`` and its stimuli. The server asks, stores and shows; every
number that it shows about the answers comes from the other rooms.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

#: The sets of answers that can be exported.
Set: TypeAlias = Literal["all", "counted", "passed", "screens", "questionnaire"]
SETS: tuple[str, ...] = get_args(Set)
