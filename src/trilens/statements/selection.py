"""Which answers are used: by rater, by time, by the value of a column, by test questions."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import one_of, real_number, shown, wrong
from trilens._typing import AnyArray, BoolArray
from trilens.errors import ParameterError, option
from trilens.kinds import KINDS, columns as columns_of
from trilens.statements.batch import Checks
from trilens.statements.columns import as_array, as_list, as_number, as_written
from trilens.statements.combine import question_keys
from trilens.statements.roles import FIELDS
from trilens.statements.value import Statements, StatementsLike, as_statements

#: What the columns of a statement are called.
_OBJECTS = {column for kind in KINDS for column in columns_of(kind)}
_CONDITION = re.compile(r"\s*(.+?)\s*(!=|<=|>=|==|=|<|>)\s*(.*?)\s*", re.DOTALL)
_JOINED = re.compile(r"\s(?:and|or|&&?|\|\|?)\s", re.IGNORECASE)
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Step:
    """One rule, and what it leaves.

    Attributes
    ----------
    rule : str
        In words.
    answers, raters : int
        How many it leaves out; raters are those of whom nothing is left. Answers that an
        earlier rule has left out are not counted again.
    left, raters_left : int
        How many are left after it.
    """

    rule: str
    answers: int
    raters: int
    left: int
    raters_left: int


@dataclass(frozen=True, eq=False)
class Selection:
    """Which answers are kept, and why the others are not. Nothing is deleted.

    Attributes
    ----------
    kept : (m,) array of bool
    steps : tuple of Step
    """

    kept: BoolArray
    steps: tuple[Step, ...]

    def of(self, statements: Statements) -> Statements:
        """The answers that are kept."""
        return statements if bool(self.kept.all()) else statements.take(self.kept)


@dataclass(frozen=True)
class Condition:
    """A column, a comparison and a value, such as ``age >= 30``.

    Quotes around the value are no part of it.

    >>> Condition.of("country != DE")
    Condition(column='country', comparison='!=', value='DE')
    >>> Condition.of("town = 'Bath and Wells'").value
    'Bath and Wells'
    """

    column: str
    comparison: str
    value: str

    @classmethod
    def of(cls, text: str) -> Condition:
        found = _CONDITION.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise wrong(
                "where",
                text,
                "a column, one of = != < <= > >=, and a value, such as 'seconds >= 0.5'",
            )
        column, comparison, value = found.groups()
        if (
            len(value) > 1
            and value[0] == value[-1]
            and value[0] in "'\""
            and (value[0] not in value[1:-1])
        ):
            value = value[1:-1]
        elif _JOINED.search(value):
            raise ParameterError(
                f"where is {shown(text)}; one condition at a time: repeat {option('where')}, all "
                f"must hold; put quotes around a value that has such a word in it"
            )
        return cls(column, "=" if comparison == "==" else comparison, value)

    def __str__(self) -> str:
        return f"{self.column} {self.comparison} {self.value or '(empty)'}"

    @property
    def is_own(self) -> bool:
        """Whether it is about a column that statements have themselves."""
        return self.column.casefold() in FIELDS

    def holds(self, values: AnyArray) -> BoolArray:
        """For which values it holds: numbers by their size where the value is one, else text.

        >>> Condition.of("age >= 30").holds(np.array(["9", "30", ""])).tolist()
        [False, True, False]
        >>> Condition.of("rater = 7").holds(np.array(["007", "7", "7.0"])).tolist()
        [False, True, True]
        """
        bound = _number(self.value)
        if bound is not None and self.comparison in ("=", "!=") and _is_padded(self.value):
            bound = None
        if self.comparison in _COMPARE:
            if bound is None:
                raise ParameterError(f"where '{self}': {shown(self.value)} is not a number")
            numbers = np.array([as_number(value) for value in values.tolist()])
            with np.errstate(invalid="ignore"):
                return np.asarray(_COMPARE[self.comparison](numbers, bound), dtype=bool)
        same = np.array(
            [
                _text(value) == self.value
                or (bound is not None and not _is_padded(value) and as_number(value) == bound)
                for value in values.tolist()
            ],
            dtype=bool,
        )
        return ~same if self.comparison == "!=" else same


def select(
    statements: StatementsLike,
    *,
    exclude_raters: Iterable[Any] = (),
    min_seconds: float | None = None,
    min_checks: float | None = None,
    where: Sequence[str] | str = (),
    columns: Mapping[str, ArrayLike] | None = None,
    checks: Checks | None = None,
) -> Selection:
    """Mark the answers that are used.

    Parameters
    ----------
    statements : Statements
    exclude_raters : list
        Names of raters; of rounds where no raters are known.
    min_seconds : float, optional
        Faster answers are left out; those whose time is not known are kept.
    min_checks : float, optional
        Raters are left out who answered a smaller share of their catch questions rightly.
    where : list of str
        Conditions that must all hold, such as ``"country = DE"``.
    columns : dict of (m,) arrays, optional
        Columns beyond those of statements, for ``where``.
    checks : Checks, optional
        The answers to catch questions, for ``min_checks``.

    Examples
    --------
    >>> S = Statements(
    ...     [[0, 1, 2]] * 4, raters=["a", "a", "b", "c"], seconds=[5, 0.2, 4, 3], kind="central"
    ... )
    >>> chosen = select(S, exclude_raters=["b"], min_seconds=1)
    >>> chosen.kept.tolist()
    [True, False, False, True]
    >>> [(step.rule, step.left) for step in chosen.steps]
    [('rater b left out', 3), ('faster than 1 s', 2)]
    """
    if columns is not None and not isinstance(columns, Mapping):
        raise wrong("columns", columns, "a dict of columns, or None")
    statements = as_statements(statements)
    given = {} if columns is None else dict(columns)
    conditions = [where] if isinstance(where, str) else as_list(where, "where")
    kept = np.ones(len(statements), dtype=bool)
    steps: list[Step] = []

    def apply(rule: str, good: BoolArray) -> None:
        nonlocal kept
        steps.append(step_of(statements, rule, kept, good))
        kept = kept & good

    left_out = [str(name) for name in as_list(exclude_raters, "exclude_raters")]
    if left_out:
        unit, who = _raters_of(statements)
        known = {str(name) for name in np.unique(who)}
        unknown = [name for name in left_out if name not in known]
        if unknown:
            raise ParameterError(
                f"no {unit} is named {shown(unknown[0])}; the {unit}s are {_few(sorted(known))}"
            )
        texts = who.astype(str) if who.dtype.kind != "O" else np.array([str(x) for x in who])
        many = f"{len(left_out):,} {unit}s" if len(left_out) > 3 else ", ".join(left_out)
        rule = f"{many} left out" if len(left_out) > 3 else f"{unit} {many} left out"
        apply(rule, ~np.isin(texts, left_out))
    if min_seconds is not None:
        least = real_number("min_seconds", min_seconds, 0)
        if statements.seconds is None:
            raise ParameterError(
                "min_seconds needs response times, and the statements have none; "
                "give a column seconds, or leave min_seconds out"
            )
        with np.errstate(invalid="ignore"):
            apply(f"faster than {least:g} s", ~(statements.seconds < least))
    if min_checks is not None:
        share = real_number("min_checks", min_checks, 0, 1)
        if checks is None or checks.raters is None or statements.raters is None:
            raise ParameterError(
                "min_checks needs raters and catch questions, which show an object twice; the "
                "answers have none: leave min_checks out"
            )
        who = np.array([str(name) for name in statements.raters.tolist()], dtype=object)
        failed = checks.failed(share)
        apply(f"fewer than {100 * share:g} % of the checks right", ~np.isin(who, failed))
    for text in conditions:
        condition = Condition.of(text)
        values = _column(statements, condition, given)
        _refuse_unseen(condition, values)
        apply(f"not {condition}", condition.holds(values))
    if len(statements) and not kept.any():
        raise ParameterError(
            f"no answer is left of {len(statements):,} ({'; '.join(s.rule for s in steps)}); "
            f"leave fewer out"
        )
    return Selection(kept, tuple(steps))


def step_of(statements: Statements, rule: str, kept: BoolArray, good: BoolArray) -> Step:
    """What is left when answers that are not good are left out of those that were kept."""
    after = kept & good
    before_raters, raters = _n_raters(statements, kept), _n_raters(statements, after)
    out = int(kept.sum() - after.sum())
    return Step(rule, out, before_raters - raters, int(after.sum()), raters)


def _n_raters(statements: Statements, kept: BoolArray) -> int:
    for who in (statements.raters, statements.rounds):
        if who is not None:
            return len(set(who[kept].tolist()) - {""})
    return 0


def _raters_of(statements: Statements) -> tuple[str, AnyArray]:
    for unit, who in (("rater", statements.raters), ("round", statements.rounds)):
        if who is not None:
            return unit, who
    raise ParameterError(
        "exclude_raters needs raters, and the statements have none; give a column rater"
    )


def _column(
    statements: Statements, condition: Condition, given: Mapping[str, ArrayLike]
) -> AnyArray:
    if condition.column in given:
        values = as_array(given[condition.column], f"column {condition.column!r}")
        if values.shape != (len(statements),):
            raise ParameterError(
                f"column {condition.column!r} has {values.size:,} values for "
                f"{len(statements):,} statements; give one for each"
            )
        return values
    field = FIELDS.get(condition.column.casefold())
    own = None if field is None else getattr(statements, field)
    if own is None:
        if condition.column.casefold() in _OBJECTS:
            raise ParameterError(
                f"where '{condition}': column {condition.column!r} holds objects; give a column "
                f"that says something of the answers"
            )
        known = [name for name, field in FIELDS.items() if getattr(statements, field) is not None]
        raise ParameterError(
            f"where '{condition}': there is no column {condition.column!r}; there are "
            f"{', '.join([*known, *map(str, given)]) or 'none'}"
        )
    return as_written(str(field), np.asarray(own))


def _refuse_unseen(condition: Condition, values: AnyArray) -> None:
    """A value that no row has is most often a slip; empty cells may be absent."""
    if condition.comparison not in ("=", "!=") or not condition.value or not len(values):
        return
    holds = condition.holds(values)
    if (holds if condition.comparison == "=" else ~holds).any():
        return
    seen = sorted({_text(value) for value in values.tolist()}, key=_in_order)
    raise ParameterError(
        f"where '{condition}': no row has {shown(condition.value)} in column {condition.column!r}; "
        f"the values are {_few([value or '(empty)' for value in seen])}"
    )


def _in_order(text: str) -> tuple[bool, float, str]:
    """Numbers by their size, then text, then empty cells."""
    number = _number(text)
    return (number is None, 0.0 if number is None else number, text or "\U0010ffff")


def _number(text: str) -> float | None:
    number = as_number(text)
    return number if np.isfinite(number) else None


def _is_padded(value: Any) -> bool:
    """Whether it is a text with a leading zero, as ids have it: 007 is not 7."""
    return isinstance(value, str) and re.match(r"\s*0[0-9]", value) is not None


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)


def _few(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f", ... ({len(names):,})" if len(names) > most else "")


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
    >>> S = Statements([[0, 1, 2], [1, 0, 2], [3, 1, 2]], rounds=[7, 8, 8], kind="central")
    >>> passed_tests(S, [[0, 1, 2]]).tolist()
    [7]
    """
    who = _who(statements, by)
    asked, right = _tested(statements, tests)
    return np.setdiff1d(np.unique(who[asked]), np.unique(who[asked & ~right]))


def keep_passed(statements: Statements, tests: Iterable[Any], by: str = "rounds") -> Statements:
    """The statements of the rounds (or raters) of `passed_tests`; ``T_ALL`` out of ``ALL``.

    Examples
    --------
    >>> S = Statements(
    ...     [[0, 1, 2], [1, 0, 2], [3, 1, 2], [3, 0, 1]], rounds=[7, 8, 8, 7], kind="central"
    ... )
    >>> keep_passed(S, [[0, 1, 2]]).triples.tolist()
    [[0, 1, 2], [3, 0, 1]]
    """
    kept = np.isin(_who(statements, by), passed_tests(statements, tests, by))
    return statements.take(kept)


def _who(statements: Any, by: str) -> AnyArray:
    one_of("by", by, ("rounds", "raters"))
    if not isinstance(statements, Statements):
        raise wrong("statements", statements, "Statements")
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
        raise wrong("tests", tests, "a list of triples") from None
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
