"""Tables of questions: the objects that each question shows, by its id."""

from __future__ import annotations

import os
from typing import Any, TypeAlias

from trilens._parameters import wrong
from trilens.files.small import small_table
from trilens.files.source import PathLike
from trilens.statements.columns import is_table
from trilens.statements.questions import Questions

#: The path of a table of questions, or the table itself.
QuestionsLike: TypeAlias = PathLike | Any


def question_table(given: QuestionsLike | Questions | None) -> Questions | None:
    """The caller's questions: a file of any format, or a table in memory.

    Examples
    --------
    >>> question_table({"id": ["Q1"], "a": ["van"], "b": ["bus"], "c": ["car"]}).of
    {'Q1': ('van', 'bus', 'car')}
    """
    if given is None or isinstance(given, Questions):
        return given
    if not isinstance(given, str | os.PathLike) and not is_table(given):
        raise wrong("questions", given, "a file or a table")
    table = small_table(given, "a table of questions has the columns id, a, b, c").headed()
    return Questions.of_rows(table.first, table.texts(), table.label)
