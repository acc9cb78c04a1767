"""Which method answers a question when the user leaves the choice to us.

The rules are measured; `docs/recommend.md` has the tables.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from trilens._parameters import one_of, shown
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
#: Beyond these the model takes minutes, and counting takes over. Classes need the map alone,
#: once, and no copies of it to judge a claim by: there any number of statements will do, of
#: which `trilens.tasks.model` looks at ten million.
MOST_OBJECTS = 1000
MOST_STATEMENTS = 300_000
#: With fewer answers for each object a model has nothing to hold on to.
LEAST_PER_OBJECT = 10
#: What takes over there: the paper's count, and the map in closed form.
_COUNTING: dict[Question, str] = {"medoid": "depth", "outliers": "depth"}


def choose_method(question: Question, statements: Statements, method: str = "auto") -> str:
    """The method that is meant: ``method`` itself, or the best one where it is ``"auto"``.

    >>> choose_method("medoid", Statements([[0, 1, 2], [1, 2, 3]] * 9, kind="closer"))
    'choice'
    >>> choose_method("medoid", Statements([[0, 1, 2]], n_objects=3000))
    'depth'
    """
    one_of("method", method, ("auto", *METHODS[question]))
    return _best(question, statements) if method == "auto" else method


def check_counted(method: str) -> None:
    """Refuse what counts per object do not serve: all but depth."""
    one_of("method", method, ("auto", *METHODS["medoid"]))
    if method not in ("auto", "depth"):
        raise ParameterError(f"counts serve the method depth; {method} needs the statements")


def check_model(model: Any, statements: Statements) -> None:
    """Raise `ParameterError` for what is neither None nor a model of these objects."""
    if model is None:
        return
    from trilens.tasks.model import AnswerModel

    if not isinstance(model, AnswerModel):
        raise ParameterError(f"model is {shown(model)}; it must be an AnswerModel, or None")
    if model.statements.n_objects != statements.n_objects:
        raise ParameterError(
            f"the model is of {model.statements.n_objects:,} objects, the statements are about "
            f"{statements.n_objects:,}; give the model of these statements"
        )


def _best(question: Question, statements: Statements) -> str:
    if question == "graph" and statements.kind == "central":
        return "krng"
    n, m = statements.n_objects, len(statements)
    enough = 4 <= n <= MOST_OBJECTS and LEAST_PER_OBJECT * n <= 3 * m
    affordable = m <= MOST_STATEMENTS or question == "classify"
    return "choice" if enough and affordable else _COUNTING.get(question, "lensmap")
