"""Counts per object and labelled object, over statements whose third object is labelled too."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from trilens._typing import AnyArray, Int32Array
from trilens.counts._add import add_cells, cell_dtype, require_same_shape
from trilens.counts._threads import in_threads, is_small, resolve_threads, split
from trilens.errors import LabelError
from trilens.statements import StatementsLike, as_statements
from trilens.statements.columns import as_array
from trilens.statements.value import require_kind


@dataclass(frozen=True, eq=False)
class LabelledPairCounts:
    """N(x, l) and D(x, l) of the paper's Algorithm 4; ``+`` merges.

    Attributes
    ----------
    third : (n, L) int32, or a row for each object that was asked for
        Statements about the object, the labelled object of the column and a labelled third
        one in which that third one was the most central. ``int64`` once a sum needs it.
    appears : (n, L) int32
        All statements about the object, that labelled object and another labelled one.
    labelled : (L,) int32
        The labelled objects: the ids of the columns.
    """

    third: AnyArray
    appears: AnyArray
    labelled: Int32Array

    def __add__(self, other: LabelledPairCounts) -> LabelledPairCounts:
        if not isinstance(other, LabelledPairCounts):
            return NotImplemented
        require_same_shape(self.appears.shape, other.appears.shape)
        if not np.array_equal(self.labelled, other.labelled):
            raise LabelError(
                "counts against different labelled objects cannot be added; "
                "give all statements the same labelled objects in the same order"
            )
        return LabelledPairCounts(
            add_cells(self.third, other.third),
            add_cells(self.appears, other.appears),
            self.labelled,
        )

    def __radd__(self, other: int) -> LabelledPairCounts:
        return self if other == 0 else NotImplemented  # what sum() starts with


def count_labelled_pairs(
    statements: StatementsLike,
    labelled: ArrayLike,
    n_threads: int | None = None,
    objects: ArrayLike | None = None,
) -> LabelledPairCounts:
    """How often a labelled third object was central to an object and a labelled one.

    The sums of the paper's Algorithm 4, for every object x, labelled or not, against every
    labelled object l: one pass serves the new objects and leave-one-out alike.

    Parameters
    ----------
    statements : Statements or (m, 3) array of int
        Of kind ``central``.
    labelled : (L,) array of int
        The ids of the labelled objects, each once; the columns follow their order.
    n_threads : int, optional
        By default one per core that this process may use.
    objects : (r,) array of int, optional
        The ids of the rows, each once; by default all objects. Very many objects against very
        many labelled ones are counted some rows at a time.

    Returns
    -------
    LabelledPairCounts

    Examples
    --------
    >>> counts = count_labelled_pairs([[1, 0, 2], [0, 1, 2]], labelled=[1, 2])
    >>> counts.third.tolist(), counts.appears.tolist()
    ([[0, 1], [0, 0], [0, 0]], [[2, 2], [0, 0], [0, 0]])
    """
    S = as_statements(statements)
    require_kind(
        S.kind,
        ["central"],
        "count_labelled_pairs",
        "LensMapClassifier serves every kind, and to_central() converts similarity triplets",
    )
    ids = _check_ids(as_array(labelled, "labelled"), S.n_objects)
    column = np.full(S.n_objects, -1, dtype=np.int32)
    column[ids] = np.arange(len(ids), dtype=np.int32)
    row = np.arange(S.n_objects, dtype=np.int32)
    n_rows = S.n_objects
    if objects is not None:
        wanted = _check_ids(as_array(objects, "objects"), S.n_objects)
        row[:] = -1
        row[wanted] = np.arange(len(wanted), dtype=np.int32)
        n_rows = len(wanted)
    shape = (n_rows, len(ids))
    threads = resolve_threads(n_threads, len(S), shape[0] * shape[1])
    if is_small(len(S)):
        third, appears = _count_small(S.triples, column, row, shape)
    else:
        from trilens.counts import _kernels

        ranges = split(0, len(S), threads)

        def work(part: int) -> AnyArray:
            counted = np.zeros((2, *shape), dtype=cell_dtype(len(S)))
            _kernels.labelled_pairs(S.triples[ranges[part]], column, row, counted)
            return counted

        parts = in_threads(work, threads)
        for more in parts[1:]:
            parts[0] += more
        third, appears = parts[0]
    return LabelledPairCounts(third, appears, ids)


def _count_small(
    triples: Int32Array, column: Int32Array, row: Int32Array, shape: tuple[int, int]
) -> tuple[AnyArray, AnyArray]:
    n, n_labelled = shape
    third = np.zeros(shape, dtype=np.int32)
    appears = np.zeros(shape, dtype=np.int32)
    columns, rows = column[triples], row[triples]
    for x, label, other in permutations(range(3)):
        both = (columns[:, label] >= 0) & (columns[:, other] >= 0) & (rows[:, x] >= 0)
        cell = rows[both, x].astype(np.int64) * n_labelled + columns[both, label]
        counted = np.bincount(cell, minlength=n * n_labelled).reshape(shape).astype(np.int32)
        appears += counted
        if other == 0:
            third += counted
    return third, appears


def _check_ids(labelled: AnyArray, n: int) -> Int32Array:
    if labelled.size == 0:
        return np.empty(0, dtype=np.int32)
    if labelled.ndim != 1 or labelled.dtype.kind not in "iu":
        raise LabelError(
            f"labelled is a list of object ids, not {labelled.dtype} of shape {labelled.shape}"
        )
    if labelled.min() < 0 or labelled.max() >= n:
        wrong = int(labelled[(labelled < 0) | (labelled >= n)][0])
        raise LabelError(f"labelled object {wrong} does not exist; ids go from 0 to {n - 1}")
    if len(np.unique(labelled)) < len(labelled):
        raise LabelError("a labelled object is listed twice; list each id once")
    return labelled.astype(np.int32)
