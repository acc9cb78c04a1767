"""Test questions and repeated ones: which answers are such, and who passed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from trilens._parameters import shown
from trilens._typing import AnyArray, BoolArray, IntArray
from trilens.errors import ParameterError
from trilens.statements import Statements
from trilens.statements.columns import as_array, as_list, is_missing
from trilens.statements.combine import question_keys

#: Right answers as statements, or the right answer to each row, None or empty for ordinary ones.
CatchLike: TypeAlias = Statements | Iterable[Any]


@dataclass(frozen=True, eq=False)
class Catch:
    """Questions whose right answer is known.

    Attributes
    ----------
    asked : (m,) array of bool
        Which answers are to such questions.
    right : (m,) array of bool
        Which of them are right.
    """

    asked: BoolArray
    right: BoolArray


def catch_questions(statements: Statements, catch: CatchLike | None) -> Catch:
    """Find the answers to test questions.

    Parameters
    ----------
    statements : Statements
    catch : Statements, or (m,) list, optional
        The right answers as statements of the same kind; or, for each answer, the name of the
        object that is right, None or the empty text where the question is an ordinary one.

    Examples
    --------
    >>> S = Statements([[0, 1, 2], [1, 0, 2], [3, 0, 1]], names=["a", "b", "c", "d"])
    >>> found = catch_questions(S, Statements([[1, 2, 0]], names=["a", "b", "c"]))
    >>> found.asked.tolist(), found.right.tolist()
    ([True, True, False], [False, True, False])
    >>> catch_questions(S, ["b", "", None]).right.tolist()
    [False, False, False]
    """
    m = len(statements)
    nothing = np.zeros(m, dtype=bool)
    if catch is None:
        return Catch(nothing, nothing)
    given = statements.triples[:, 1 if statements.kind == "closer" else 0]
    if isinstance(catch, Statements):
        key, answer, _ = question_keys(statements)
        test_key, test_answer = _same_objects(statements, catch, "catch")
        right_of = dict(zip(test_key.tolist(), test_answer.tolist(), strict=True))
        asked = np.isin(key, test_key)
        if not asked.any():
            raise ParameterError(
                f"none of the {len(catch):,} test questions was asked; "
                f"is it the list of other statements?"
            )
        wanted = np.array([right_of.get(k, -1) for k in key.tolist()])
        return Catch(asked, asked & (wanted == answer))
    listed = as_list(catch, "catch")
    if len(listed) != m:
        raise ParameterError(
            f"catch has {len(listed):,} values for {m:,} statements; give the right answer to "
            f"each, empty for ordinary questions, or the right answers as Statements"
        )
    asked, right = nothing.copy(), nothing.copy()
    names = statements.names
    for row, value in enumerate(listed):
        name = "" if is_missing(value) else str(value).strip()
        if name == "":
            continue
        shown_there = [names[i] for i in statements.triples[row]]
        if name not in shown_there:
            raise ParameterError(
                f"catch: the right answer to statement {row} is {shown(name)}, but it shows "
                f"{', '.join(shown_there)}; give the name of one of them, or nothing"
            )
        asked[row] = True
        right[row] = names[given[row]] == name
    return Catch(asked, right)


def repeated_rows(statements: Statements, repeated: Any) -> BoolArray | None:
    """The answers that count for the agreement; None for all.

    Parameters
    ----------
    repeated : Statements, or (m,) array of bool, or None
        The questions that were repeated on purpose, whatever their answer is; or the answers
        to them.
    """
    if repeated is None:
        return None
    if isinstance(repeated, Statements):
        keys, _ = _same_objects(statements, repeated, "repeated")
        return np.isin(question_keys(statements)[0], keys)
    mask = as_array(repeated, "repeated")
    if mask.shape != (len(statements),) or mask.dtype.kind != "b":
        raise ParameterError(
            f"repeated is {shown(repeated)}; it must be Statements, or True or False for each of "
            f"the {len(statements):,} statements"
        )
    return mask


def is_marked(values: AnyArray) -> BoolArray:
    """Which texts of a column mean yes: anything but nothing, 0, no and false.

    >>> is_marked(np.array(["1", "", "no", "x"])).tolist()
    [True, False, False, True]
    """
    no = ("", "0", "0.0", "no", "false", "none", "nan", "n", "f")
    return np.array([str(value).strip().casefold() not in no for value in values.tolist()], bool)


def _same_objects(
    statements: Statements, other: Statements, what: str
) -> tuple[IntArray, AnyArray]:
    """Keys and answers of other statements, in the numbers of these."""
    if other.kind != statements.kind:
        raise ParameterError(
            f"{what} has statements of kind {other.kind}, the answers are of kind "
            f"{statements.kind}; give them in the same kind"
        )
    seen = sorted({other.names[i] for i in np.unique(other.triples)})
    unknown = [name for name in seen if name not in statements.ids]
    if unknown:
        raise ParameterError(
            f"{what} names {shown(unknown[0])}, which is not in the statements "
            f"({len(unknown):,} of {len(seen):,} objects); use the same names"
        )
    new = np.array([statements.ids.get(name, 0) for name in other.names], dtype=np.int32)
    same = Statements(new[other.triples], statements.n_objects, kind=other.kind)
    key, answer, _ = question_keys(same)
    return key, answer
