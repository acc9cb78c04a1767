"""The one door to the questions: what data they take, in which order, by which method.

A question is a function of a `Fit`, of counts, or of the points of another map. `ask` takes data
of any kind, puts rows and objects into an order of their own, finds the method, refuses what
cannot be, calls the function, and puts what it says of each object back into the caller's order.
Below this door nothing asks where the answers lie.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

from trilens._parameters import one_of, seed_of, shown
from trilens._typing import FloatArray, IntArray, RandomState
from trilens.answers import Answers, read_or_count, refuse_vast
from trilens.counts import CentralCounts, Counted, PairCounts
from trilens.counts.central import is_path
from trilens.errors import FormatError, ParameterError, option, parameter_name
from trilens.maps.fit_file import is_fit, load
from trilens.maps.fitted import Fit, fit
from trilens.maps.kind import doubt_kind
from trilens.maps.likelihood import in_own_order
from trilens.maps.registry import MAPS, coordinates, dimensions
from trilens.maps.support import are_enough
from trilens.statements import Statements, StatementsLike, as_statements
from trilens.statements.names import CheckedNames, ObjectList

if TYPE_CHECKING:
    from trilens.maps.choice_map import ChoiceMap

#: What every question takes; the table of `trilens.ask.QUESTIONS` says which counts suffice.
Data: TypeAlias = (
    "Fit | ChoiceMap | Answers | StatementsLike | Counted | CentralCounts | PairCounts | str"
)
#: What was counted of answers.
Counts: TypeAlias = Counted | CentralCounts | PairCounts
#: What is left of data once it is opened.
Opened: TypeAlias = Fit | Answers | Statements | Counts


@dataclass(frozen=True)
class Points:
    """A map other than the fit's own, which ranks and shows but has no model of the answers.

    Attributes
    ----------
    names : tuple of str
    method : str
    statements : Statements
        What it is made of.
    seed : int
    """

    names: tuple[str, ...]
    method: str
    statements: Statements
    seed: int

    @cached_property
    def X(self) -> FloatArray:
        """The coordinates, in two dimensions where the objects allow it."""
        return self.coordinates(None)

    def coordinates(self, n_components: int | None, **parameters: Any) -> FloatArray:
        """The coordinates in so many dimensions, with other parameters of the map."""
        dim = dimensions(n_components, self.statements.n_objects)
        return coordinates(self.statements, self.method, dim, self.seed, **parameters)


@dataclass(frozen=True)
class Question:
    """What a question takes, and who answers it.

    Attributes
    ----------
    name : str
    of_fit : callable
        Takes a `Fit` in the order of its own.
    of_counts : callable, optional
        Takes counts, or statements that it counts; by a method of the paper.
    of_points : callable, optional
        Takes `Points`.
    by_counting : str, optional
        The name of the method that needs only counts.
    needs_pairs : bool
        Whether those are counts of pairs.
    of_few : str
        The method for answers too few for a map.
    per_object : tuple of str
        The fields of the result that have an entry for each object, in the last axis. A result
        with a method ``among(rank)`` puts itself into the caller's order.
    per_row : tuple of str
        The fields that have a row for each object.
    per_pair : tuple of str
        The fields, dense or sparse, that have a row and a column for each object.
    ids : tuple of str
        The fields that hold ids of objects.
    labels : tuple of str
        The parameters that have an entry for each object.
    """

    name: str
    of_fit: Callable[..., Any]
    of_counts: Callable[..., Any] | None = None
    of_points: Callable[..., Any] | None = None
    by_counting: str | None = None
    needs_pairs: bool = False
    of_few: str = "lensmap"
    per_object: tuple[str, ...] = ()
    per_row: tuple[str, ...] = ()
    per_pair: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def methods(self) -> tuple[str, ...]:
        """What ``method`` may be, beside ``"auto"``."""
        counting = () if self.by_counting is None else (self.by_counting,)
        maps = MAPS if self.of_points is not None else ("choice",)
        return (*counting, *(name for name in maps if name not in counting))


#: Every question that was registered, by name.
QUESTIONS: dict[str, Question] = {}


def register(question: Question) -> Question:
    """Make a question known: to the documentation, and to the tests that ask all of them."""
    QUESTIONS[question.name] = question
    return question


def ask(
    question: Question,
    data: Data,
    method: str = "auto",
    random_state: RandomState = 0,
    **parameters: Any,
) -> Any:
    """The answer to a question about data of any kind.

    Parameters
    ----------
    question : Question
    data : Fit, path, Answers, Statements, a table, (m, 3) array, or counts
    method : str
        ``"auto"``, or one of the question's methods.
    random_state
    parameters
        Of the question. Those that have an entry for each object are a list in the order of the
        objects, or None.
    """
    one_of("method", method, ("auto", *question.methods))
    given = opened(data)
    if isinstance(given, Fit) and (
        method not in ("auto", "choice") or (method == "auto" and given.is_of_few)
    ):
        given = answers_of(given)
    if isinstance(given, Counts):
        return _of_counts(question, given, method, parameters)
    if isinstance(given, Answers) and given.in_counts:
        counts = given.count(pairs=question.needs_pairs and question.of_counts is not None)
        return _of_counts(question, counts.with_names(), method, parameters)
    if method == "auto":
        method = "choice" if isinstance(given, Fit) or is_enough(given) else question.of_few
    if method == "choice":
        inner, rank = fit_of(given, question.name, random_state).canonical
        return _in_own_order(question, question.of_fit, inner, rank, parameters)
    if method == question.by_counting and question.of_counts is not None:
        assert not isinstance(given, Fit)
        countable = counts_of(given, pairs=question.needs_pairs)
        return question.of_counts(countable, **parameters)
    return _of_points(question, given, method, random_state, parameters)


def opened(data: Any) -> Opened:
    """Data of any kind as one of a few; a path is opened, a fitted `ChoiceMap` has its fit.

    Whether answers fit a kind that is assumed is looked at here, for all questions.
    """
    if isinstance(data, Answers):
        if not data.countable:
            doubt_kind(data)
        known: Fit | None = data.fitted
        return data if known is None else known
    if isinstance(data, Statements):
        refuse_vast(data)
    if isinstance(data, Opened):
        return data
    if _is_choice_map(data):
        if not hasattr(data, "fit_"):
            raise ParameterError(
                "this ChoiceMap is not fitted; fit it, or give the answers themselves"
            )
        return data.fit_
    if is_path(data) and not isinstance(data, list | tuple):
        return load(data) if is_fit(data) else opened(Answers(data))
    given = as_statements(data)
    refuse_vast(given)
    return given


def _is_choice_map(data: Any) -> TypeGuard[ChoiceMap]:
    """Whether it is one: who has one has imported its class, and scikit-learn with it."""
    module = sys.modules.get("trilens.maps.choice_map")
    return module is not None and isinstance(data, module.ChoiceMap)


def fit_of(data: Any, question: str, random_state: RandomState = 0) -> Fit:
    """The fit behind a question that needs one: the one given, or one that is made."""
    given = _not_counted(data, question)
    return given if isinstance(given, Fit) else fit(given, random_state=random_state)


def _not_counted(data: Any, question: str) -> Fit | Answers | Statements:
    """Data of any kind but counts, which are refused."""
    given = opened(data)
    if isinstance(given, Counts):
        raise ParameterError(f"{question} needs the statements, not counts of them")
    if isinstance(given, Answers) and given.in_counts:
        raise FormatError(
            f"{given.source} holds counts; {question} needs the statements that were counted"
        )
    return given


def answers_of(fitted: Fit) -> Answers | Statements:
    """The answers behind a fit, in the caller's order."""
    if fitted.statements is not None:
        return fitted.statements
    source: Any = fitted.source
    if isinstance(source, Answers | Statements):
        return source
    raise ParameterError("this fit was saved without its answers; give the answers themselves")


def with_fit(data: Any) -> tuple[Answers | Statements | Counts, Fit | None]:
    """The answers, as the handle of their files where there is one; and their fit, if it is made.

    For questions that ask a file for more than its answers: what was left out, other columns.
    """
    given = opened(data)
    if not isinstance(given, Fit):
        return given, None
    if isinstance(data, Answers):
        return data, given
    source: Any = given.source
    return source if isinstance(source, Answers) else answers_of(given), given


def statements_of(data: Any, question: str) -> Statements:
    """The statements themselves, read where they lie in files; refuses counts."""
    given = _not_counted(data, question)
    if isinstance(given, Fit):
        given = answers_of(given)
    return given.read() if isinstance(given, Answers) else given


def counts_of(given: Answers | Statements, *, pairs: bool) -> Statements | Counted:
    """Answers to be counted: their counts, or the answers of a small file or in memory."""
    if isinstance(given, Statements):
        return given
    found = read_or_count(given, enough=True, pairs=pairs)
    return found.with_names() if isinstance(found, Counted) else found


def is_enough(given: Answers | Statements) -> bool:
    """Whether there are enough answers, and objects, for a map."""
    if isinstance(given, Answers) and not given.held:
        counts = given.count_all()
        return are_enough(counts.statements, counts.n_objects)
    held = given.read() if isinstance(given, Answers) else given
    return are_enough(len(held), held.n_objects)


def objects_of(counts: Counts) -> ObjectList:
    """The objects that were counted."""
    return ObjectList(
        None if counts.names is None else CheckedNames(counts.names), counts.n_objects
    )


def _of_counts(
    question: Question,
    counts: Counts,
    method: str,
    parameters: dict[str, Any],
) -> Any:
    if question.of_counts is None:
        raise ParameterError(f"{question.name} needs the statements, not counts of them")
    if method not in ("auto", question.by_counting):
        raise ParameterError(
            f"counts suffice for the method {question.by_counting}; {method} needs the statements"
        )
    if question.needs_pairs:
        pairs = counts if isinstance(counts, PairCounts) else getattr(counts, "pairs", None)
        if pairs is None:
            raise ParameterError(
                f"there are no counts of pairs; count the statements with {option('pairs', True)}"
            )
    return question.of_counts(counts, **parameters)


def _of_points(
    question: Question,
    given: Fit | Answers | Statements,
    method: str,
    random_state: RandomState,
    parameters: dict[str, Any],
) -> Any:
    ordered, rank = in_own_order(statements_of(given, question.name))
    points = Points(ordered.names, method, ordered, seed_of(random_state))
    return _in_own_order(question, question.of_points, points, rank, parameters)


def _in_own_order(
    question: Question,
    answer: Callable[..., Any] | None,
    subject: Fit | Points,
    rank: IntArray,
    parameters: dict[str, Any],
) -> Any:
    """Ask about objects in an order of their own; the answer is in the caller's."""
    assert answer is not None
    order = np.argsort(rank).tolist()
    inside = {
        name: [value[i] for i in order] if name in question.labels and value is not None else value
        for name, value in parameters.items()
    }
    return in_order_of(answer(subject, **inside), rank, question)


def in_order_of(result: Any, rank: IntArray, question: Question) -> Any:
    """A result with what it says of each object in the caller's order: rank i comes i-th."""
    if (np.diff(rank) == 1).all():
        return result
    if hasattr(result, "among"):
        return result.among(rank)
    order = np.argsort(rank)
    changed = per_object(result, rank, *question.per_object)
    for name in question.per_row:
        changed[name] = getattr(result, name)[rank]
    for name in question.per_pair:
        value = getattr(result, name)
        if value is not None:
            changed[name] = value[rank][:, rank]
    for name in question.ids:
        value = getattr(result, name)
        changed[name] = order[value] if isinstance(value, np.ndarray) else int(order[value])
    return replace(result, **changed)


def per_object(result: Any, rank: IntArray, *names: str) -> dict[str, Any]:
    """Fields with an entry for each object, or None, in another order: rank i comes i-th."""
    found: dict[str, Any] = {}
    for name in names:
        value = getattr(result, name)
        if isinstance(value, np.ndarray):
            found[name] = value[..., rank]
        elif value is not None:
            found[name] = tuple(value[i] for i in rank.tolist())
    return found


def in_ids_of(statements: Statements, other: Statements, parameter: str) -> Statements:
    """Other statements about the same objects, by the ids that these have in the first ones."""
    if other.kind != statements.kind:
        raise ParameterError(
            f"{parameter_name(parameter)} has statements of kind {other.kind}, but the answers are "
            f"of kind {statements.kind}; give statements of the same kind",
            parameter=parameter,
        )
    seen = sorted({other.names[i] for i in np.unique(other.triples)})
    unknown = [name for name in seen if name not in statements.ids]
    if unknown:
        raise ParameterError(
            f"{parameter_name(parameter)} names {shown(unknown[0])}, which is not in the "
            f"statements ({len(unknown):,} of {len(seen):,} objects); use the same names",
            parameter=parameter,
        )
    new = np.array([statements.ids.get(name, 0) for name in other.names], dtype=np.int32)
    return Statements(new[other.triples], statements.n_objects, kind=other.kind)
