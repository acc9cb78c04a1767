"""Every kind of ordinal data as comparisons d(A, B) < d(C, D), and how many a map violates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import real_array
from trilens._typing import BoolArray, FloatArray
from trilens.answers import Answers, AnswersLike
from trilens.errors import KindError, ParameterError
from trilens.kinds import Kind, check_kind
from trilens.maps.pairs import squared
from trilens.statements import Objects, Statements, as_statements
from trilens.statements.columns import counts_up, is_table
from trilens.statements.comparisons import Comparisons as Comparisons, rectangular
from trilens.statements.frames import bare_rows
from trilens.statements.names import ids_among

#: Rows compared at a time, so that the temporaries stay small beside the comparisons.
_CHUNK = 1 << 17


ComparisonsLike: TypeAlias = Comparisons | AnswersLike


def as_comparisons(statements: ComparisonsLike) -> Comparisons:
    """Every kind of ordinal data as comparisons.

    Parameters
    ----------
    statements
        `Comparisons` as they are; an (m, 4) integer array; `Statements` of any kind, by their
        similarity triplets; an (m, 3) integer array as ``central`` statements.

    Examples
    --------
    >>> as_comparisons(Statements([[0, 1, 2]], kind="central")).rows.tolist()
    [[1, 0, 1, 2], [2, 0, 2, 1]]
    """
    data = as_data(statements)
    if isinstance(data, Comparisons):
        return data
    # The triplets were checked as statements: checking every row again would cost more than
    # an evaluation of an objective.
    C = object.__new__(Comparisons)
    object.__setattr__(C, "rows", data.to_triplets()[:, [0, 1, 0, 2]])
    object.__setattr__(C, "n_objects", data.n_objects)
    object.__setattr__(C, "_names", data._names)
    return C


def as_data(statements: ComparisonsLike, kind: Kind | None = None) -> Statements | Comparisons:
    """What was given: values as they are, four columns of ids as comparisons, else statements.

    What does not tell its kind is of this ``kind``, see `as_statements`.
    """
    if isinstance(statements, Answers):
        return statements.read()
    if isinstance(statements, (Statements, Comparisons)):
        return statements
    if isinstance(statements, (np.ndarray, list, tuple)):
        array = rectangular(statements)
        if array.ndim == 2 and array.shape[1] == 4 and array.dtype.kind in "iu":
            return Comparisons(array)
    return as_statements(statements, kind)


def tells_kind(given: Any) -> bool:
    """Whether it is known what was asked; rows of three objects alone do not tell."""
    if isinstance(given, Answers):
        return given.in_files or given.kind is not None or tells_kind(given.source)
    known = isinstance(given, (Statements, Comparisons, Objects))
    return known or (is_table(given) and bare_rows(given) is None)


def violations(
    embedding: ArrayLike, statements: ComparisonsLike, kind: Kind | None = None
) -> float:
    """The share of comparisons that coordinates violate: the near pair is not strictly nearer.

    Parameters
    ----------
    embedding : (n, d) array of float, or DataFrame
        A DataFrame has the names of the objects as its index, in any order.
    statements : Statements, a table, Answers, Comparisons, (m, 3) or (m, 4) array of int
        `Statements` of any kind, by their triplets; or comparisons d(A,B) < d(C,D).
    kind : {"central", "odd", "closer"}, optional
        Of an (m, 3) array, for which it must be given: similarity triplets (anchor, near, far),
        as `Statements.to_triplets` gives them, are ``"closer"``.

    Returns
    -------
    float
        0 where there is nothing to violate.

    Examples
    --------
    >>> violations([[0.0], [1.0], [3.0]], [[0, 1, 2], [2, 0, 1]], kind="closer")
    0.5
    """
    names, X = named_rows("embedding", embedding)
    if X.ndim != 2:
        raise ParameterError(f"expected an embedding of shape (n, d), got shape {X.shape}")
    C = as_comparisons(_of_kind(statements, kind))
    if names is None and C._names is not None and len(X) == C.n_objects:
        ids_as_names = set(C._names) <= set(map(str, range(len(X))))
        names = None if ids_as_names else list(C._names)  # rows in their order
    way = "give each a row"
    ids = ids_among(C._names, C.n_objects, names, len(X), "in the embedding", way)
    if len(C) == 0:
        return 0.0
    X = X if ids is None else X[ids]
    if not np.isfinite(X[np.unique(C.rows)]).all():
        raise ParameterError("a coordinate in the embedding is NaN or infinite; fill it in")
    return sum(int(np.count_nonzero(part)) for part in _violated(X, C)) / len(C)


def weighted_violations(X: FloatArray, S: Statements, weights: FloatArray) -> float:
    """The share of the triplets of statements that coordinates violate, weights counted."""
    if len(S) == 0:
        return 0.0
    wrong = np.concatenate(list(_violated(X, as_comparisons(S))))
    return float(np.average(wrong.reshape(len(S), -1).mean(axis=1), weights=weights))


def _violated(X: FloatArray, C: Comparisons) -> Iterator[BoolArray]:
    for start in range(0, len(C.rows), _CHUNK):
        r = C.rows[start : start + _CHUNK]
        yield squared(X, r[:, 0], r[:, 1]) >= squared(X, r[:, 2], r[:, 3])


def named_rows(parameter: str, given: Any) -> tuple[list[str] | None, FloatArray]:
    """The names of the rows of a table, None where they are merely numbered, and its numbers."""
    index = getattr(given, "index", None) if hasattr(given, "columns") else None
    names = None if index is None or counts_up(index) else [str(name) for name in index]
    if names is not None and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"{parameter}: object {twice!r} appears twice; give it once")
    return names, real_array(parameter, given)


def _of_kind(statements: ComparisonsLike, kind: Kind | None) -> ComparisonsLike:
    """Statements of the kind that was asked for; an array of three columns must have one."""
    if kind is not None:
        check_kind(kind)
    data = as_data(statements, kind)
    if kind is not None and isinstance(data, Statements) and data.kind != kind:
        raise KindError(f"the statements are of kind {data.kind}, not {kind}; leave kind= out")
    return data
