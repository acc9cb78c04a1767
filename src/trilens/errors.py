"""The whole exception tree.

Every error that trilens raises on purpose is a :class:`TrilensError`; its text is one
line that says where, what was seen, what is allowed and what to do.
"""

from __future__ import annotations


class TrilensError(Exception):
    """The root: catch this to catch everything trilens raises on purpose."""


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

    def __init__(self, problem: str, *, row: int | None = None) -> None:
        self.problem = problem
        self.row = row
        super().__init__(problem if row is None else f"statement {row}: {problem}")


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
