"""Test questions: questions with a known answer, and who answered them right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from trilens._parameters import one_of, shown
from trilens._typing import AnyArray, BoolArray
from trilens.errors import ParameterError
from trilens.statements.columns import as_list
from trilens.statements.combine import question_keys
from trilens.statements.value import Statements


def passed_tests(statements: Statements, tests: Iterable[Any], by: str = "rounds") -> AnyArray:
    """The rounds (or raters) in which every test question that was asked was answered right.

    A round that was asked none of them does not pass.

    Parameters
    ----------
    statements : Statements
        With ``rounds``, or ``raters``.
    tests : iterable of triples
        Ids or names of three objects, the right answer first (for ``closer``: the anchor, the
        near and the far object).
    by : {"rounds", "raters"}

    Returns
    -------
    (p,) array
        Sorted.

    Examples
    --------
    >>> S = Statements([[0, 1, 2], [1, 0, 2], [3, 1, 2]], rounds=[7, 8, 8])
    >>> passed_tests(S, [[0, 1, 2]]).tolist()
    [7]
    """
    who = _who(statements, by)
    asked, right = _tested(statements, tests)
    return np.setdiff1d(np.unique(who[asked]), np.unique(who[asked & ~right]))


def keep_passed(
    statements: Statements, tests: Iterable[Any], by: str = "rounds", *, drop_tests: bool = False
) -> Statements:
    """The statements of the rounds (or raters) of `passed_tests`; ``T_ALL`` out of ``ALL``.

    Parameters
    ----------
    drop_tests : bool
        Leave out the answers to the test questions themselves: asked so often, they outweigh
        the others in any count.

    Examples
    --------
    >>> S = Statements([[0, 1, 2], [1, 0, 2], [3, 1, 2], [3, 0, 1]], rounds=[7, 8, 8, 7])
    >>> keep_passed(S, [[0, 1, 2]]).triples.tolist()
    [[0, 1, 2], [3, 0, 1]]
    >>> keep_passed(S, [[0, 1, 2]], drop_tests=True).triples.tolist()
    [[3, 0, 1]]
    """
    given = as_list(tests, "tests")
    kept = np.isin(_who(statements, by), passed_tests(statements, given, by))
    if drop_tests:
        kept &= ~_tested(statements, given)[0]
    return statements.take(kept)


def _who(statements: Any, by: str) -> AnyArray:
    one_of("by", by, ("rounds", "raters"))
    if not isinstance(statements, Statements):
        raise ParameterError(f"statements is {shown(statements)}; it must be Statements")
    who: AnyArray | None = getattr(statements, by)
    if who is None:
        other = "raters" if by == "rounds" else "rounds"
        raise ParameterError(f"the statements have no {by}; give them, or by={other!r}")
    return who


def _tested(statements: Statements, tests: Iterable[Any]) -> tuple[BoolArray, BoolArray]:
    """For each statement, whether it answers a test question, and whether rightly."""
    try:
        given = [statements.object_ids(np.asarray(test)) for test in tests]
    except TypeError:
        raise ParameterError(f"tests is {shown(tests)}; it must be a list of triples") from None
    if not given or any(len(test) != 3 for test in given):
        raise ParameterError("a test question names three objects, the right answer first")
    wanted = Statements(np.array(given), statements.n_objects, kind=statements.kind)
    # numbered together: where there are very many objects, numbers are those of the pairs met
    both = np.concatenate([wanted.triples, statements.triples])
    key, answer, _ = question_keys(Statements(both, statements.n_objects, kind=statements.kind))
    k = len(given)
    at = {int(question): int(choice) for question, choice in zip(key[:k], answer[:k], strict=True)}
    asked = np.isin(key[k:], key[:k])
    right = np.zeros(len(statements), dtype=np.bool_)
    for question, choice in at.items():
        right |= (key[k:] == question) & (answer[k:] == choice)
    return asked, right
