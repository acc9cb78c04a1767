"""What a graph of nearest neighbors says, as statements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from trilens._parameters import generator, whole_number, wrong
from trilens._typing import BoolArray, IntArray, RandomState
from trilens.errors import ParameterError, StatementError, option
from trilens.statements import Statements

#: More statements than these are not made without being asked for: a gigabyte of them.
_MOST = 80_000_000


def neighbor_statements(
    graph: Any,
    n_statements: int | None = None,
    names: Iterable[str] | None = None,
    random_state: RandomState = 0,
) -> Statements:
    """The ``closer`` statements that a directed graph of nearest neighbors implies.

    d(v, a) < d(v, b) for every neighbor a of v and every b that is none: k (n - 1 - k) for each
    object v with k neighbors. The graph says no more than that, and so these statements lose
    nothing of it; but a graph loses much of the distances. It does not say which of two
    neighbors is the nearer one, nor which of two others, and compares no distances from
    different objects. Few of the statements determine which of three objects is the most central
    (`Statements.to_central`): two of the three must be anchors.

    Parameters
    ----------
    graph : (n, n) array or sparse array
        Row v marks the nearest neighbors of v; they may differ in number. A graph that has been
        made symmetric no longer tells who is whose neighbor, and must not be given.
    n_statements : int, optional
        So many of them, drawn without replacement; by default all.
    names : iterable of str, optional
    random_state

    Returns
    -------
    Statements
        Of kind ``closer``; all of them in the order of v, a and b.

    Examples
    --------
    >>> neighbor_statements([[0, 1, 0], [1, 0, 0], [0, 1, 0]]).triples.tolist()
    [[0, 1, 2], [1, 0, 2], [2, 1, 0]]
    """
    near = _adjacency(graph)
    n = len(near)
    far = ~near
    np.fill_diagonal(far, False)
    each: IntArray = np.count_nonzero(near, axis=1) * np.count_nonzero(far, axis=1)
    total = int(each.sum())
    if n_statements is None:
        if total > _MOST:
            raise ParameterError(
                f"the graph implies {total:,} statements, too many to hold; "
                f"use {option('n_statements')} to sample some of them"
            )
        at = np.arange(total)
    else:
        count = whole_number("n_statements", n_statements, most=total)
        at = np.sort(generator(random_state).choice(total, count, replace=False))
    starts = np.concatenate([[0], np.cumsum(each)])
    triples = np.empty((len(at), 3), dtype=np.int32)
    bounds = np.searchsorted(at, starts).tolist()
    for v in range(n):
        rows = slice(bounds[v], bounds[v + 1])
        others = np.flatnonzero(far[v])
        if len(others) == 0 or rows.start == rows.stop:
            continue
        a, b = np.divmod(at[rows] - starts[v], len(others))
        triples[rows, 0], triples[rows, 1] = v, np.flatnonzero(near[v])[a]
        triples[rows, 2] = others[b]
    return Statements(triples, n, names, "closer")


def _adjacency(graph: Any) -> BoolArray:
    dense = graph.toarray() if hasattr(graph, "toarray") else graph
    try:
        array = np.asarray(dense)
    except (TypeError, ValueError):
        array = np.empty(0, dtype=object)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.dtype.kind not in "biuf":
        raise wrong("graph", graph, "an (n, n) array that marks neighbors")
    if not np.isfinite(array).all():
        raise ParameterError(
            "the graph has entries that are not finite numbers; mark neighbors with 1",
            parameter="graph",
        )
    near: BoolArray = array != 0
    if near.diagonal().any():
        v = int(np.flatnonzero(near.diagonal())[0])
        raise StatementError(f"object {v} is marked as its own neighbor; leave the diagonal 0")
    return near
