"""The whole exception tree.

Every error that trilens raises on purpose is a :class:`TrilensError`; its text is one
line that says where, what was seen, what is allowed and what to do.

A message refers to parameters by `option` and `parameter_name`. Python shows them as Python
(``columns=``, ``kind='odd'``), the command line as its flags (``--columns``, ``--kind odd``).
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Around a reference to a parameter in a message; `repr` never yields them.
_OPEN, _CLOSE = "\x02", "\x03"
# Between a parameter and what takes it in Python and reads it, where that is not what was called.
_OF = "\x04"
_TAKEN_BY = re.compile(f"{_OPEN}([^{_CLOSE}{_OF}]*){_OF}(\\w+){_CLOSE}")

__all__ = [
    "AssumedKindWarning",
    "DatasetError",
    "DeviceError",
    "DissimilarityError",
    "EngineError",
    "FormatError",
    "KindError",
    "LabelError",
    "MissingExtraError",
    "ParameterError",
    "StatementError",
    "StudyError",
    "SurveyError",
    "TrilensError",
    "UnmentionedObjectsWarning",
]


@dataclass(frozen=True)
class Reference:
    """A parameter that a message refers to.

    Parameters
    ----------
    name
        The parameter's name in Python.
    advised
        Whether the message tells the reader to pass it, rather than only naming it.
    value
        The value to pass; None where the message names none.
    """

    name: str
    advised: bool = False
    value: Any = None


def option(name: str, value: str | int | float | None = None, of: str = "") -> str:
    """For a message: pass this parameter, with this value if one is given.

    ``of`` is what takes it in Python, and reads it, where what was called may not.

    >>> error = ParameterError(f"use {option('kind', 'odd')} or {option('columns')}")
    >>> print(error)
    use kind='odd' or columns=
    >>> error.said(lambda reference: f"--{reference.name} {reference.value or ''}".strip())
    'use --kind odd or --columns'
    >>> print(ParameterError(option("skip_bad", True, of="Answers")))
    Answers(..., skip_bad=True).read()
    """
    given = f"{name}={'' if value is None else repr(value)}"
    return f"{_OPEN}{given}{_OF + of if of else ''}{_CLOSE}"


def parameter_name(name: str) -> str:
    """For a message: the parameter itself, as in "k must be positive"."""
    return f"{_OPEN}{name}{_CLOSE}"


class TrilensError(Exception):
    """The root: catch this to catch everything trilens raises on purpose.

    Parameters
    ----------
    message
        What is wrong; may contain what `option` and `parameter_name` return.
    parameter
        The name of the parameter whose value is wrong, where it is one parameter's.

    Attributes
    ----------
    message : str
        As given, for other messages to quote; ``str(error)`` is for people.
    parameter : str or None
    """

    def __init__(self, message: str = "", *, parameter: str | None = None) -> None:
        self.message = message
        self.parameter = parameter
        shown = _TAKEN_BY.sub(r"\2(..., \1).read()", message)
        super().__init__(shown.replace(_OPEN, "").replace(_CLOSE, ""))

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # subclasses differ in what they are made from: only the result is sent
        return _remade, (type(self), self.__dict__)

    def said(self, render: Callable[[Reference], str]) -> str:
        """The message, with references to parameters as ``render`` writes them."""
        start, *rest = self.message.split(_OPEN)
        parts = [start]
        for piece in rest:
            reference, _, text = piece.partition(_CLOSE)
            name, equals, value = reference.partition(_OF)[0].partition("=")
            try:
                given = ast.literal_eval(value) if value else None
            except (ValueError, SyntaxError):
                parts.append(reference + text)  # no reference: a file's name may hold anything
                continue
            parts += [render(Reference(name, bool(equals), given)), text]
        return "".join(parts)


def _remade(kind: type[TrilensError], state: dict[str, Any]) -> TrilensError:
    error = kind.__new__(kind)
    TrilensError.__init__(error, state["message"])
    error.__dict__.update(state)
    return error


class AssumedKindWarning(UserWarning):
    """Neither the file nor the caller says which question was asked, and one is assumed."""


class UnmentionedObjectsWarning(UserWarning):
    """A map has objects that no answer is about, so that nothing is known of their places."""


def callers_level() -> int:
    """The ``stacklevel`` of a warning that is about the line which called trilens."""
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("trilens"):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    return level


class StatementError(TrilensError, ValueError):
    """Something that is not a valid statement.

    Parameters
    ----------
    problem
        What is wrong, without the place.
    row
        The first offending statement, counted from 0, where there is one. A reader of
        files turns it into the file's own row.
    """

    def __init__(
        self, problem: str = "", *, row: int | None = None, parameter: str | None = None
    ) -> None:
        self.problem = problem
        self.row = row
        where = "" if row is None else f"statement {row}: "
        super().__init__(f"{where}{problem}", parameter=parameter)


class KindError(StatementError):
    """Statements of a kind that the method cannot serve; the text says which method can."""


class FormatError(TrilensError, ValueError):
    """A file that cannot be read or written as asked."""


class LabelError(TrilensError, ValueError):
    """Class labels that do not fit the objects or the method."""


class ParameterError(TrilensError, ValueError):
    """A parameter outside its range."""


class DissimilarityError(TrilensError, ValueError):
    """A matrix that is not a semimetric: not square, not symmetric, negative, NaN."""


class DeviceError(TrilensError, RuntimeError):
    """A GPU that was asked for and cannot be used, or that failed."""


class EngineError(TrilensError, RuntimeError):
    """A cluster that cannot be reached, or that was lost."""


class DatasetError(TrilensError, OSError):
    """A public data set that is neither in the cache nor to be had from its source."""


class StudyError(TrilensError, ValueError):
    """A survey's study folder that cannot be served.

    >>> print(StudyError(["study.yaml, line 1: no title", "study.yaml: no consent text"]))
    study.yaml, line 1: no title
    study.yaml: no consent text
    """

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class SurveyError(TrilensError, RuntimeError):
    """A survey's database or server that cannot do what was asked."""


class MissingExtraError(TrilensError, ImportError):
    """An optional part that is not installed.

    >>> str(MissingExtraError("trilens.plots", "plots"))
    "trilens.plots needs the plots extra: pip install 'trilens[plots]'"
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the {extra} extra: pip install 'trilens[{extra}]'")
