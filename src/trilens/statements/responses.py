"""Answers in the forms that other tools keep them in, and answers about more than three objects."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np

from trilens._parameters import is_whole, one_of, shown as printed
from trilens.errors import KindError, ParameterError, StatementError
from trilens.statements.columns import as_array, as_list, places_of
from trilens.statements.value import Kind, Statements, check_kind, chosen_first

#: What can be asked about k objects, and the kind of the statements that follow.
ASKED: dict[str, Kind] = {
    "central": "central",
    "odd": "odd",
    "nearest": "closer",
    "ranking": "closer",
}
_PER_QUESTION = ("raters", "rounds", "seconds")


def responses(X: Any, y: Any, kind: Kind | None, fields: dict[str, Any]) -> Statements:
    """See `Statements.from_responses`."""
    if kind is not None:
        check_kind(kind)
    questions = as_array(X, "the questions")
    if questions.ndim != 2 or questions.shape[1] != 3:
        raise StatementError(
            f"questions must be an (m, 3) array of ids or names, got shape {questions.shape}"
        )
    if y is None:
        if kind not in (None, "closer"):
            raise KindError(f"questions of kind {kind} need the position of each answer as y")
        return Statements(questions, kind="closer", **fields)
    answers = as_array(y, "the answers")
    if answers.shape != (len(questions),):
        raise StatementError(
            f"there are {len(questions):,} questions and answers of shape "
            f"{answers.shape}; give one answer to each"
        )
    values = set(np.unique(answers).tolist()) if answers.dtype.kind in "biuf" else {None}
    signs = answers.dtype == np.bool_ or (values <= {-1, 1} and (-1 in values or kind == "closer"))
    if signs:
        if kind not in (None, "closer"):
            raise KindError(
                f"answers that are {printed(sorted(values))} tell which of two is nearer, so they "
                f"are of kind closer; of kind {kind} an answer is a position, 0, 1 or 2"
            )
        far = answers <= 0
        triples = questions.copy()
        triples[far, 1], triples[far, 2] = questions[far, 2], questions[far, 1]
        return Statements(triples, kind="closer", **fields)
    if not values <= {0, 1, 2}:
        row = int(np.flatnonzero(~np.isin(answers, (0, 1, 2)))[0])
        raise StatementError(
            f"the answer {printed(answers[row])} is neither +1 or -1 (or a boolean: which of two "
            f"is nearer) nor a position (0, 1, 2: which of three was chosen)",
            row=row,
        )
    if kind not in ("central", "odd"):
        raise KindError(
            "answers that are positions (0, 1, 2) need kind='central' or kind='odd': was the "
            "chosen object the most central or the odd one?"
            if kind is None
            else "answers about similarity triplets are +1 / -1 or booleans, not positions"
        )
    places = places_of(answers)
    return Statements(chosen_first(questions, places), kind=kind, **({"places": places} | fields))


def implied(
    shown: Iterable[Any], answers: Iterable[Any], asked: str, fields: dict[str, Any]
) -> Statements:
    """See `Statements.from_questions`."""
    one_of("asked", asked, tuple(ASKED))
    wrong = set(fields) - {*_PER_QUESTION, "names", "n_objects"}
    if wrong:
        raise ParameterError(f"from_questions has no parameter {sorted(wrong)[0]}")
    sets = [as_list(objects, "the objects shown") for objects in as_list(shown, "the questions")]
    given = as_list(answers, "the answers")
    if len(sets) != len(given):
        raise StatementError(f"there are {len(sets):,} questions, but {len(given):,} answers")
    rows: list[tuple[Any, Any, Any]] = []
    came_from: list[int] = []
    for i, (objects, answer) in enumerate(zip(sets, given, strict=True)):
        several = isinstance(answer, Iterable) and not isinstance(answer, (str, bytes))
        chosen = list(answer) if several else [answer]
        found = implied_rows(objects, chosen, asked, i)
        rows += found
        came_from += [i] * len(found)
    if not rows:
        raise StatementError("the answers imply no statement about three objects")
    at = np.array(came_from)
    per_statement = {
        name: as_array(values, name)[at] if name in _PER_QUESTION else values
        for name, values in fields.items()
        if values is not None
    }
    whole = all(is_whole(each) for row in rows for each in row)
    triples = np.array(rows, dtype=np.int64 if whole else object)
    return Statements(triples, kind=ASKED[asked], questions=at, **per_statement)


def implied_rows(
    objects: list[Any], chosen: list[Any], asked: str, row: int | None = None
) -> list[tuple[Any, Any, Any]]:
    """The statements that one answer implies; see `Statements.from_questions`.

    >>> implied_rows(["q", "a", "b", "c"], ["b"], "nearest")
    [('q', 'b', 'a'), ('q', 'b', 'c')]
    """
    _check(objects, chosen, asked, row)
    if asked in ("central", "odd"):
        others = [each for each in objects if each != chosen[0]]
        return [(chosen[0], a, b) for a, b in combinations(others, 2)]
    if asked == "nearest":
        rest = [each for each in objects[1:] if each not in chosen]
        return [(objects[0], near, far) for near in chosen for far in rest]
    return [(objects[0], near, far) for near, far in combinations(chosen, 2)]


def _check(objects: list[Any], chosen: list[Any], asked: str, row: int | None) -> None:
    place = "" if row is None else f"question {row}: "
    for each in (*objects, *chosen):
        if not is_whole(each) and not isinstance(each, str):
            raise StatementError(
                f"{place}{printed(each)} does not name an object; objects are text or ids"
            )
    listed = ", ".join(map(printed, objects[:8]))
    if len(set(objects)) < len(objects) or len(objects) < 3:
        raise StatementError(f"{place}{listed}; a question shows three different objects or more")
    among = objects if asked in ("central", "odd") else objects[1:]
    outside = [each for each in chosen if each not in among]
    if outside or not chosen or len(set(chosen)) < len(chosen):
        what = f"{printed(outside[0])} is not" if outside else "what was chosen is not exactly once"
        raise StatementError(f"{place}{what} among the objects to choose from ({listed})")
    if asked in ("central", "odd") and len(chosen) > 1:
        raise StatementError(f"{place}one object is the {asked} one, not {len(chosen)}")
    if asked == "ranking" and len(chosen) < 2:
        raise StatementError(f"{place}a ranking has two objects or more")
