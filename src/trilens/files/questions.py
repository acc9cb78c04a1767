"""Tables of questions: the objects that each question shows, by its id."""

from __future__ import annotations

import os
from typing import Any, TypeAlias

from trilens._parameters import wrong
from trilens.files.source import PathLike, sources
from trilens.statements.columns import is_table
from trilens.statements.layout import ReadOptions
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
    from trilens.files.read import opened
    from trilens.statements.frames import as_arrow
    from trilens.statements.table import named_table
    from trilens.statements.unfold import rows_of

    if isinstance(given, str | os.PathLike):
        (source,) = sources(given)[:1]
        table = opened(source, ReadOptions(header=True))
    elif is_table(given):
        table = named_table("questions", as_arrow(given))
    else:
        raise wrong("questions", given, "a file or a table")
    return Questions.of_rows(table.names, rows_of(table), table.label or "questions")
