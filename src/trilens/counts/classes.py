"""Counts per object and class: how often an object was central between two of a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from trilens._parameters import whole_number
from trilens._typing import Int32Array, IntArray
from trilens.counts._add import require_same_shape
from trilens.counts._threads import in_threads, is_small, resolve_threads, split
from trilens.errors import LabelError
from trilens.statements import Statements, StatementsLike, as_statements
from trilens.statements.columns import as_array
from trilens.statements.value import CHOSEN_FIRST, require_kind


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """N_Ci(O) and D_Ci(O) of the paper's Algorithm 3; ``+`` merges.

    Attributes
    ----------
    singled : (n, K) int64
        Statements in which the object was the most central and both others have the class.
    appears : (n, K) int64
        Statements that name the object and two others of the class.
    labels : (n,) int32, optional
        The class of each object, -1 where unlabelled; counts under different labels do not add.
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
            raise LabelError("counts under different class labels cannot be added; use one y")
        return ClassCounts(
            self.singled + other.singled,
            self.appears + other.appears,
            self.labels if self.labels is not None else other.labels,
        )

    def __radd__(self, other: int) -> ClassCounts:
        return self if other == 0 else NotImplemented  # what sum() starts with


def count_classes(
    statements: StatementsLike, y: ArrayLike, n_classes: int, n_threads: int | None = None
) -> ClassCounts:
    """How often each object was asked about, and found central, between two of a class.

    These are the sums of the paper's Algorithm 3, for every object whether labelled or not.

    Parameters
    ----------
    statements : Statements or (m, 3) array of int
        Of kind ``central``.
    y : (n,) array of int
        The class of each object, ``0 <= y < n_classes``; -1 for an unlabelled object.
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
    S = statements if isinstance(statements, Statements) else _named_by(statements, given)
    require_kind(
        S.kind,
        ["central"],
        "count_classes",
        "LensMapClassifier serves every kind, and to_central() converts similarity triplets",
    )
    labels = _check_labels(given, S.n_objects, n_classes)
    shape = (S.n_objects, n_classes)
    threads = resolve_threads(n_threads, len(S), S.n_objects * shape[1])
    if is_small(len(S)):
        singled, appears = _count_small(S.triples, labels, shape)
    else:
        from trilens.counts import _kernels

        ranges = split(0, len(S), threads)

        def work(part: int) -> IntArray:
            return _kernels.classes(S.triples[ranges[part]], labels, shape[1])

        zero = np.zeros((2, *shape), dtype=np.int64)
        singled, appears = sum(in_threads(work, threads), start=zero)
    return ClassCounts(singled, appears, labels)


def _count_small(
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


def _named_by(statements: StatementsLike, y: IntArray) -> Statements:
    S = as_statements(statements)
    more = S._names is None and y.ndim == 1 and len(y) > S.n_objects
    return Statements(S.triples, n_objects=len(y), kind=S.kind) if more else S


def _check_labels(y: IntArray, n: int, n_classes: int) -> Int32Array:
    if y.shape != (n,):
        raise LabelError(f"y has shape {y.shape}; there are {n} objects, one label for each")
    if y.size == 0:
        return np.empty(0, dtype=np.int32)
    if y.dtype.kind not in "iu":
        raise LabelError(f"y holds {y.dtype}; class labels are whole numbers, -1 for unlabelled")
    if y.min() < -1 or y.max() >= n_classes:
        wrong = int(np.flatnonzero((y < -1) | (y >= n_classes))[0])
        raise LabelError(
            f"object {wrong} has the label {y[wrong]}; labels go from 0 to {n_classes - 1}, "
            f"-1 means unlabelled"
        )
    return y.astype(np.int32)
