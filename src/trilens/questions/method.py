"""Which method answers a question when the user leaves the choice to us.

The rules are measured; `docs/recommend.md` has the tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from trilens._parameters import one_of, real_number, seed_of, shown, wrong
from trilens.counts import PairCounts
from trilens.errors import ParameterError
from trilens.maps.registry import MAPS
from trilens.statements import Statements

if TYPE_CHECKING:
    from trilens.questions.model import AnswerModel

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
#: which `trilens.questions.model` looks at ten million.
MOST_OBJECTS = 1000
MOST_STATEMENTS = 300_000
#: With fewer answers for each object a model has nothing to hold on to.
LEAST_PER_OBJECT = 10
#: What takes over there: the paper's count, and the map in closed form.
_COUNTING: dict[Question, str] = {"medoid": "depth", "outliers": "depth"}
ESTIMATE = "estimate"
#: At 2/3 answers say nothing about lenses any more, and the correction divides by zero.
_MOST = 0.66


def check_method(question: Question, method: Any) -> None:
    """Raise `ParameterError` for what is not a method of this question."""
    one_of("method", method, ("auto", *METHODS[question]))


def choose_method(question: Question, statements: Statements, method: str = "auto") -> str:
    """The method that is meant: ``method`` itself, or the best one where it is ``"auto"``.

    >>> choose_method("medoid", Statements([[0, 1, 2], [1, 2, 3]] * 9, kind="closer"))
    'choice'
    >>> choose_method("medoid", Statements([[0, 1, 2]], n_objects=3000))
    'depth'
    """
    check_method(question, method)
    return _best(question, statements) if method == "auto" else method


def is_for_passes(n_objects: int, n_statements: int, *, large: bool = False) -> bool:
    """Whether a map by passes serves best: too many for the model, but enough for each object.

    Parameters
    ----------
    large
        Whether the statements are too large to hold anyway.
    """
    many = large or n_objects > MOST_OBJECTS or n_statements > MOST_STATEMENTS
    return many and n_objects >= 4 and LEAST_PER_OBJECT * n_objects <= 3 * n_statements


def check_counted(method: str) -> None:
    """Refuse what counts per object do not serve: all but depth."""
    one_of("method", method, ("auto", *METHODS["medoid"]))
    if method not in ("auto", "depth"):
        raise ParameterError(f"counts suffice for the method depth; {method} needs the statements")


def method_of_pairs(method: str, pairs: PairCounts, best: str) -> str:
    """The method that is meant: counts serve the k-RNG and the lens map alone."""
    one_of("method", method, ("auto", *METHODS["cluster"]))
    if method == "auto":
        return best if pairs.kind == "central" else "lensmap"
    if method not in ("krng", "lensmap"):
        raise ParameterError(
            f"counts of pairs suffice for krng and lensmap; {method} needs the statements"
        )
    return method


def check_model(model: Any, statements: Statements, random_state: Any = 0) -> AnswerModel | None:
    """The model of these objects, or None; `ParameterError` for anything else.

    Parameters
    ----------
    model : AnswerModel, fitted ChoiceMap or None
    """
    if model is None:
        return None
    from trilens.maps.choice_map import ChoiceMap
    from trilens.questions.model import AnswerModel

    if isinstance(model, ChoiceMap) and hasattr(model, "embedding_"):
        model = model.among(statements)
        model = AnswerModel(statements, model, seed_of(random_state))
    if isinstance(model, ChoiceMap) and not hasattr(model, "embedding_"):
        raise ParameterError(
            "model is a ChoiceMap that is not fitted (scikit-learn's clone and cross-validation "
            "make it so); an estimator takes one that is still to be fitted as map=",
            parameter="model",
        )
    if not isinstance(model, AnswerModel):
        raise wrong("model", model, "an AnswerModel, a fitted ChoiceMap or None")
    if len(model.map.embedding_) != statements.n_objects:
        raise ParameterError(
            f"the model is of {len(model.map.embedding_):,} objects, the statements are about "
            f"{statements.n_objects:,}; give the model of these statements",
            parameter="model",
        )
    return model


def method_or_model(
    map: Any, n_components: Any, statements: Statements, features: Any = None
) -> dict[str, Any]:
    """The arguments of a question whose map is a name, or an estimator to be fitted."""
    from sklearn.base import clone

    from trilens.maps.choice_map import ChoiceMap
    from trilens.maps.estimator import warn_of_unmentioned

    if not isinstance(map, ChoiceMap):
        if not isinstance(map, str):
            raise wrong("map", map, "the name of a method, or a ChoiceMap")
        if features is None:
            warn_of_unmentioned(statements, "what is said of them means nothing")
        return {"method": map, "n_components": n_components, "features": features}
    if n_components is not None:
        raise ParameterError(
            f"n_components is {shown(n_components)}, but the map has its own; leave it out, or "
            f"give ChoiceMap({n_components!r})",
            parameter="n_components",
        )
    fitted = clone(map).fit(statements, features=features)
    fitted.tell_doubts()
    return {"method": "choice", "model": fitted}


def _best(question: Question, statements: Statements) -> str:
    every_chosen = statements.chosen is not None and bool(statements.chosen.all())
    if question == "graph" and statements.kind == "central" and not every_chosen:
        return "krng"
    n, m = statements.n_objects, len(statements)
    enough = 4 <= n <= MOST_OBJECTS and LEAST_PER_OBJECT * n <= 3 * m
    affordable = m <= MOST_STATEMENTS or question == "classify"
    return "choice" if enough and affordable else _COUNTING.get(question, "lensmap")


def is_zero(error_rate: Any) -> bool:
    """Whether it is the number 0, rather than another number, a word or no number at all."""
    return isinstance(error_rate, (int, float)) and error_rate == 0


def known_error_rate(error_rate: Any, answers: Any, random_state: Any = 0) -> float:
    """``error_rate`` as a number; ``"estimate"`` asks `trilens.reliability` for it.

    What is estimated is the share of wrong answers to clear questions, as Noise model I has
    them. A near tie that goes the other way is no error in this sense.

    Parameters
    ----------
    error_rate : float or "estimate"
    answers : Fit, Answers or Statements
        A fit is not made again.
    random_state
        Of the fit, where one is made.

    >>> known_error_rate(0.2, Statements([[0, 1, 2]]))
    0.2
    """
    if not isinstance(error_rate, str):
        return real_number("error_rate", error_rate)
    one_of("error_rate", error_rate, (ESTIMATE,))
    from trilens.questions.reliability import reliability

    found = reliability(answers, random_state=seed_of(random_state)).error_rate
    if found is None:
        raise ParameterError("the answers are too few to estimate the error rate; give a number")
    return min(found, _MOST)
