"""What differs between the three kinds of statements: decided here, asked for by everybody.

A statement names three objects A, B, C in this order, and chooses one side of their triangle:

- ``central``: A is the most central. The side BC, which A lies between, is the longest of three.
- ``odd``: A is the odd one out. The side BC is the shortest of three.
- ``closer``: of A (the anchor), B is nearer than C. The side AB is the shorter one of two.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from trilens._parameters import shown
from trilens.errors import KindError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trilens._typing import AnyArray

Kind: TypeAlias = Literal["central", "odd", "closer"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_COLUMNS: dict[Kind, tuple[str, str, str]] = {
    "central": ("central", "other_1", "other_2"),
    "odd": ("odd", "other_1", "other_2"),
    "closer": ("anchor", "near", "far"),
}


def check_kind(kind: Any) -> Kind:
    """The kind itself; `KindError` for what is none."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise KindError(f"kind is {shown(kind)}; it must be one of {', '.join(KINDS)}")
    return kind


def require_kind(kind: str, allowed: Sequence[str], method: str, instead: str) -> None:
    """Refuse statements of a kind that a method cannot serve, and say which method can."""
    if kind not in allowed:
        raise KindError(
            f"{method} needs statements of kind {' or '.join(allowed)}, not {kind}; {instead}"
        )


def n_answers(kind: str) -> int:
    """How many answers there are to choose from.

    >>> [n_answers(kind) for kind in KINDS]
    [3, 3, 2]
    """
    return 2 if kind == "closer" else 3


def chance(kind: str) -> float:
    """How often a guess is right: 1/3, or 1/2 for ``closer``."""
    return 1 / n_answers(kind)


def wrong_by_chance(kind: str) -> float:
    """How often a guess is wrong: 2/3, or 1/2 for ``closer``."""
    return (n_answers(kind) - 1) / n_answers(kind)


def answer_column(kind: str) -> int:
    """The column of a triple that holds the answer: the singled-out object, or the near one."""
    return 1 if kind == "closer" else 0


def columns(kind: Kind) -> tuple[str, str, str]:
    """The names of a statement's columns, in its order; also what is written.

    >>> columns("odd")
    ('odd', 'other_1', 'other_2')
    """
    return _COLUMNS[kind]


def sign(kind: str) -> float:
    """+1 where the longest side is chosen, -1 where the shortest is."""
    return 1.0 if kind == "central" else -1.0


def sides(kind: str, triples: AnyArray) -> list[tuple[AnyArray, AnyArray]]:
    """The ends of the sides that statements choose from, the chosen one first."""
    a, b, c = triples.T
    return [(a, b), (a, c)] if kind == "closer" else [(b, c), (a, c), (a, b)]


def n_questions(kind: str, n_objects: int) -> int:
    """How many different questions there are: triples, for ``closer`` each with three anchors.

    >>> n_questions("central", 60), n_questions("closer", 60)
    (34220, 102660)
    """
    return comb(n_objects, 3) * (3 if kind == "closer" else 1)
