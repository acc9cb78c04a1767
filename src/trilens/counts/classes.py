"""Counts for objects with labels: per object and class, and per object and labeled object."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import whole_number
from trilens._typing import AnyArray, Int32Array, IntArray
from trilens.counts._merge import Summable, add_cells, cell_dtype, moved, require_same_shape
from trilens.counts._threads import is_small, resolve_threads, summed
from trilens.errors import LabelError
from trilens.statements import Statements, StatementsLike, as_statements
from trilens.statements.columns import as_array
from trilens.statements.value import CHOSEN_FIRST, require_kind


@dataclass(frozen=True, eq=False)
class ClassCounts(Summable):
    """N_Ci(O) and D_Ci(O) of the paper's Algorithm 3; ``+`` merges.

    Attributes
    ----------
    singled : (n, K) int64
        Statements in which the object was the most central and both others have the class.
    appears : (n, K) int64
        Statements that name the object and two others of the class.
    labels : (n,) int32, optional
        The class of each object, -1 where unlabeled; counts under different labels do not add.
    """

    singled: IntArray
    appears: IntArray
    labels: Int32Array | None = None

    def __add__(self, other: ClassCounts) -> ClassCounts:
        if not isinstance(other, ClassCounts):
            return NotImplemented
        require_same_shape(self.appears.shape, other.appears.shape)
        if (
            self.labels is not None
            and other.labels is not None
            and not np.array_equal(self.labels, other.labels)
        ):
            raise LabelError("cannot add counts under different class labels; use the same y")
        return ClassCounts(
            self.singled + other.singled,
            self.appears + other.appears,
            self.labels if self.labels is not None else other.labels,
        )

    def moved(self, at: IntArray | None, n: int) -> ClassCounts:
        """The same counts at other places among ``n`` objects."""
        labels = self.labels
        if labels is not None:
            labels = moved(labels + np.int32(1), at, n) - np.int32(1)  # 0 is nobody's class
        return ClassCounts(moved(self.singled, at, n), moved(self.appears, at, n), labels)


def count_classes(
    statements: StatementsLike, y: ArrayLike, n_classes: int, n_threads: int | None = None
) -> ClassCounts:
    """How often each object was asked about, and found central, between two of a class.

    These are the sums of the paper's Algorithm 3, for every object whether labeled or not.

    Parameters
    ----------
    statements : Statements or (m, 3) array of int
        Of kind ``central``.
    y : (n,) array of int
        The class of each object, ``0 <= y < n_classes``; -1 for an unlabeled object.
    n_classes : int
    n_threads : int, optional
        By default one per core that this process may use.

    Returns
    -------
    ClassCounts

    Examples
    --------
    >>> counts = count_classes([[0, 1, 2], [1, 0, 2]], y=[-1, 0, 0], n_classes=1)
    >>> counts.singled.ravel().tolist(), counts.appears.ravel().tolist()
    ([1, 0, 0], [2, 0, 0])
    """
    n_classes = whole_number("n_classes", n_classes, most=2**31 - 1)
    given = as_array(y, "y")
    # an array of ids does not tell of objects beyond the last one named; y does
    S = as_statements(statements, "central")
    more = S._names is None and given.ndim == 1 and len(given) > S.n_objects
    if more and not isinstance(statements, Statements):
        S = Statements(S.triples, n_objects=len(given), kind=S.kind)
    S = S.at_random()
    _require_central(S, "count_classes")
    labels = _check_labels(given, S.n_objects, n_classes)
    shape = (S.n_objects, n_classes)
    threads = resolve_threads(n_threads, len(S), S.n_objects * n_classes)
    if is_small(len(S)):
        singled, appears = _count_classes_small(S.triples, labels, shape)
    else:
        from trilens.counts import _kernels

        def work(rows: slice) -> IntArray:
            return _kernels.classes(S.triples[rows], labels, n_classes)

        singled, appears = summed(work, len(S), threads)
    return ClassCounts(singled, appears, labels)


def _require_central(S: Statements, what: str) -> None:
    instead = "MapClassifier serves every kind, and to_central() converts similarity triplets"
    require_kind(S.kind, ["central"], what, instead)


def _count_classes_small(
    triples: Int32Array, labels: Int32Array, shape: tuple[int, int]
) -> tuple[IntArray, IntArray]:
    n, n_classes = shape
    counted = []
    for x, u, v in CHOSEN_FIRST.tolist():
        of_u = labels[triples[:, u]]
        same = (of_u == labels[triples[:, v]]) & (of_u >= 0)
        cell = triples[same, x].astype(np.int64) * n_classes + of_u[same]
        counted.append(np.bincount(cell, minlength=n * n_classes).reshape(shape))
    singled = counted[0].astype(np.int64)
    return singled, singled + counted[1] + counted[2]


def _check_labels(y: IntArray, n: int, n_classes: int) -> Int32Array:
    if y.shape != (n,):
        raise LabelError(
            f"y has shape {y.shape}; give one label for each of the {n} objects", parameter="y"
        )
    if y.size == 0:
        return np.empty(0, dtype=np.int32)
    if y.dtype.kind not in "iu":
        raise LabelError(
            f"y has dtype {y.dtype}; class labels must be whole numbers, -1 for unlabeled",
            parameter="y",
        )
    if y.min() < -1 or y.max() >= n_classes:
        wrong = int(np.flatnonzero((y < -1) | (y >= n_classes))[0])
        raise LabelError(
            f"object {wrong} has label {y[wrong]}; labels go from 0 to {n_classes - 1}, "
            f"-1 for unlabeled",
            parameter="y",
        )
    return y.astype(np.int32)


@dataclass(frozen=True, eq=False)
class LabelledPairCounts(Summable):
    """N(x, l) and D(x, l) of the paper's Algorithm 4; ``+`` merges.

    Attributes
    ----------
    third : (n, L) int32, or a row for each object that was asked for
        Statements about the object, the labeled object of the column and a labeled third
        one in which that third one was the most central. ``int64`` once a sum needs it.
    appears : (n, L) int32
        All statements about the object, that labeled object and another labeled one.
    labelled : (L,) int32
        The labeled objects: the ids of the columns.
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
                "cannot add counts for different labeled objects; "
                "give all statements the same labeled objects in the same order"
            )
        return LabelledPairCounts(
            add_cells(self.third, other.third),
            add_cells(self.appears, other.appears),
            self.labelled,
        )


def count_labelled_pairs(
    statements: StatementsLike,
    labelled: ArrayLike,
    n_threads: int | None = None,
    objects: ArrayLike | None = None,
) -> LabelledPairCounts:
    """How often a labeled third object was central to an object and a labeled one.

    The sums of the paper's Algorithm 4, for every object x, labeled or not, against every
    labeled object l: one pass serves the new objects and leave-one-out alike.

    Parameters
    ----------
    statements : Statements or (m, 3) array of int
        Of kind ``central``.
    labelled : (L,) array of int
        The ids of the labeled objects, each once; the columns follow their order.
    n_threads : int, optional
        By default one per core that this process may use.
    objects : (r,) array of int, optional
        The ids of the rows, each once; by default all objects. Very many objects against very
        many labeled ones are counted some rows at a time.

    Returns
    -------
    LabelledPairCounts

    Examples
    --------
    >>> counts = count_labelled_pairs([[1, 0, 2], [0, 1, 2]], labelled=[1, 2])
    >>> counts.third.tolist(), counts.appears.tolist()
    ([[0, 1], [0, 0], [0, 0]], [[2, 2], [0, 0], [0, 0]])
    """
    S = as_statements(statements, "central")
    _require_central(S, "count_labelled_pairs")
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
        third, appears = _count_labelled_small(S.triples, column, row, shape)
    else:
        from trilens.counts import _kernels

        def work(rows: slice) -> AnyArray:
            counted = np.zeros((2, *shape), dtype=cell_dtype(len(S)))
            _kernels.labelled_pairs(S.triples[rows], column, row, counted)
            return counted

        third, appears = summed(work, len(S), threads)
    return LabelledPairCounts(third, appears, ids)


def _count_labelled_small(
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
            f"expected a list of object ids, got {labelled.dtype} of shape {labelled.shape}",
            parameter="labelled",
        )
    if labelled.min() < 0 or labelled.max() >= n:
        wrong = int(labelled[(labelled < 0) | (labelled >= n)][0])
        raise LabelError(f"labeled object {wrong} does not exist; ids go from 0 to {n - 1}")
    if len(np.unique(labelled)) < len(labelled):
        raise LabelError("a labeled object is listed twice; list each id once")
    return labelled.astype(np.int32)
