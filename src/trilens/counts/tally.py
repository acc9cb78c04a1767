"""Counters that grow with the objects, fed with columns as they come from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from trilens._typing import AnyArray, IntArray
from trilens.counts._threads import is_small
from trilens.counts.classes import ClassCounts, count_classes
from trilens.counts.counted import Counted
from trilens.counts.pairs import PairCounts, count_pairs
from trilens.errors import StatementError
from trilens.kinds import Kind
from trilens.statements import Statements
from trilens.statements.names import TABLE_LIMIT, Names, ObjectList, negative
from trilens.statements.table import Batch, statements_of
from trilens.statements.value import check_triples

if TYPE_CHECKING:
    from trilens._typing import Int32Array

#: A 32-bit counter cannot pass its end within so many statements.
_SPAN = 1 << 30
#: Statements whose pairs are counted at a time.
_PAIR_ROWS = 1 << 22


class Tally:
    """Counts per object of the rows of one file, or of a part of one.

    Integers are counted in a table by their value; names get ids in the order of their first
    appearance. So no first pass over the file is needed: whoever merges tallies aligns them by
    name.
    """

    def __init__(
        self, kind: Kind, objects: ObjectList | None = None, known: Sequence[str] = ()
    ) -> None:
        self.kind = kind
        self.statements = 0
        self._objects = objects
        self._names = _Growing(known)
        self._plain = objects is None
        size = 1024 if objects is None else objects.n_objects
        rows = 3 if kind == "closer" else 2
        self._counters = np.zeros((rows, size), dtype=np.uint32)
        self._total = np.zeros((rows, size), dtype=np.int64)
        self._since = 0
        self._ordered = True

    def _add_values(self, columns: Sequence[AnyArray], batch: Batch, offset: int = 0) -> None:
        """Count rows of integers, from row ``offset`` of the batch on."""
        start, m = 0, len(columns[0])
        while start < m:
            start += self._count([column[start:] for column in columns])
            if start < m:
                row = [int(column[start]) for column in columns]
                if min(row) < 0:
                    raise negative(batch.place(offset + start), str(min(row)))
                if len(set(row)) < 3:
                    raise self._twice(row, batch, offset + start)
                self._grow(max(row) + 1)
        self.statements += m

    def add(self, batch: Batch, *, in_order: bool = True) -> Statements | None:
        """Count the rows of a batch; with fixed names, also as statements.

        Without ``in_order`` the order in which integers first appear is not kept: columns of a
        type that can hold nothing else need none, as their names are put in numerical order.
        """
        if self._objects is not None:
            S = statements_of(replace(batch, others={}), self._objects, self.kind)
            self._count_all(list(S.triples.T))
            self.statements += len(S)
            return S
        if self._by_value(batch, in_order):
            for start, columns in batch.pieces():
                self._add_values(columns, batch, start)
            return None
        self._to_text(batch)
        ids = self._names.ids_of(batch)
        n = self._names.n_names
        self._grow(n)
        if batch.form == "statement":
            self._check(ids, batch)
            columns = [ids[:, j] for j in range(3)]
        else:
            plain = replace(batch, others={})
            S = plain.to_statements(ids, self.kind, n, tuple(self._names.listed()))
            columns = list(S.triples.T)
        self._count_all(columns)
        self.statements += len(batch)
        return None

    def _by_value(self, batch: Batch, in_order: bool) -> bool:
        """Whether the names of a batch are integers that a table serves for."""
        if not (self._plain and batch.form == "statement" and batch.integers):
            return False
        if in_order:
            self._names.add(batch)
            return self._names.integers
        self._ordered = False
        return max(int(column.max(initial=0)) for column in batch.arrays()) < TABLE_LIMIT

    def _to_text(self, batch: Batch) -> None:
        """From values to ids: the integers counted so far become the first names."""
        if not self._plain:
            self._names.add(batch)
            return
        if not self._ordered:
            self._flush()
            self._names.put(np.flatnonzero(self._total.any(axis=0)))
        self._flush()
        seen = np.array([int(name) for name in self._names.seen()], dtype=np.int64)
        self._plain = False
        counted = self._total
        self._names.add(batch)
        size = max(self._names.n_names, 1024)
        self._total = np.zeros((len(counted), size), dtype=np.int64)
        inside = (seen >= 0) & (seen < counted.shape[1])
        self._total[:, np.flatnonzero(inside)] = counted[:, seen[inside]]
        self._counters = np.zeros((len(counted), size), dtype=np.uint32)

    def _check(self, ids: Int32Array, batch: Batch) -> None:
        try:
            check_triples(ids, self._names.n_names)
        except StatementError as error:
            if error.row is None:
                raise
            raise batch.repeated(ids, error.row, tuple(self._names.listed())) from None

    def _twice(self, row: list[int], batch: Batch, at: int) -> StatementError:
        x, y, z = row
        return StatementError(
            f"{batch.place(at)}: object {str(x if x in (y, z) else y)!r} appears twice in one "
            f"statement; a statement names three different objects"
        )

    def _count_all(self, columns: list[AnyArray]) -> None:
        counted = self._count(columns)
        assert counted == len(columns[0]), "ids were checked before"

    def _count(self, columns: list[AnyArray]) -> int:
        """Count rows up to the first that cannot be; how many these are."""
        m = len(columns[0])
        if self._since + m > _SPAN:
            self._flush()
        self._since += m
        first, second, third = self._counters[0], self._counters[1], self._counters[-1]
        if is_small(self.statements + m):
            return _count_small(columns, self._counters)
        from trilens.counts import _kernels

        ready = []
        for column in columns:
            values = column if column.dtype in (np.int32, np.int64) else column.astype(np.int64)
            view = values.view()
            view.flags.writeable = False  # one compiled loop for columns of any origin
            ready.append(view)
        a, b, c = ready
        return int(_kernels.columns(a, b, c, first, second, third))

    def _grow(self, size: int) -> None:
        have = self._counters.shape[1]
        if size > have:
            more = max(size, 2 * have) - have
            self._counters = np.pad(self._counters, ((0, 0), (0, more)))
            self._total = np.pad(self._total, ((0, 0), (0, more)))

    def _flush(self) -> None:
        self._total += self._counters
        self._counters[:] = 0
        self._since = 0

    def result(self) -> Counted:
        """What was counted."""
        self._flush()
        total = self._total
        names: tuple[str, ...] | None
        if self._objects is not None:
            names = self._objects.known_names
        elif self._plain:
            values = np.flatnonzero(total.any(axis=0))
            plain = len(values) == 0 or values[-1] == len(values) - 1
            names = None if plain else tuple(map(str, values.tolist()))
            total = total[:, values]
        else:
            seen = self._names.listed()
            objects = self._names.objects()
            total = total[:, : len(seen)]
            if list(objects.names) != seen:
                at = {name: i for i, name in enumerate(seen)}
                total = total[:, [at[name] for name in objects.names]]
            names = objects.known_names
        first, second, third = total[0], total[1], total[-1]
        closer = self.kind == "closer"
        return Counted(
            kind=self.kind,
            statements=self.statements,
            first=first.copy(),
            rest=second + third if closer else second.copy(),
            near=second.copy() if closer else None,
            known_names=names,
        )


class _Growing(Names):
    """Names that give ids while more of them come."""

    @property
    def integers(self) -> bool:
        """Whether a table of integers still serves."""
        return self._present is not None

    @property
    def n_names(self) -> int:
        return len(self._ids)

    def put(self, values: IntArray) -> None:
        """Take note of integers that were counted by their value."""
        self._order = [values]

    def listed(self) -> list[str]:
        return list(self._ids)

    def ids_of(self, batch: Batch) -> Int32Array:
        """``(m, 3)`` or ``(m, 4)`` ids of a batch whose names were added."""
        columns = []
        for at, values in batch.texts():
            known = np.array([self._ids.get(value, -1) for value in values], dtype=np.int32)
            columns.append(known[at] if len(at) else np.empty(0, dtype=np.int32))
        return np.stack(columns, axis=1)


def _count_small(columns: list[AnyArray], counters: AnyArray) -> int:
    """As the compiled loop does, without loading it."""
    a, b, c = (column.astype(np.int64) for column in columns)
    size = counters.shape[1]
    wrong = (a == b) | (a == c) | (b == c)
    for column in (a, b, c):
        wrong |= (column < 0) | (column >= size)
    stop = int(wrong.argmax()) if wrong.any() else len(a)
    for into, column in zip((counters[0], counters[1], counters[-1]), (a, b, c), strict=True):
        into += np.bincount(column[:stop], minlength=size).astype(np.uint32)
    return stop


class PairTally:
    """Pairs, and classes, of statements whose objects are known, some statements at a time."""

    def __init__(self, labels: Any = None, n_classes: int = 0, pairs: bool = True) -> None:
        self._labels = labels
        self._n_classes = n_classes
        self._with_pairs = pairs
        self._waiting: list[Statements] = []
        self._rows = 0
        self.pairs: PairCounts | None = None
        self.classes: ClassCounts | None = None

    def add(self, S: Statements) -> None:
        """Count statements, now or with those to come."""
        self._waiting.append(S)
        self._rows += len(S)
        if self._rows >= _PAIR_ROWS:
            self.flush()

    def flush(self) -> None:
        """Count what waits."""
        from trilens.statements import concatenate

        if not self._waiting:
            return
        S = concatenate(self._waiting) if len(self._waiting) > 1 else self._waiting[0]
        self._waiting, self._rows = [], 0
        if self._with_pairs:
            found = replace(count_pairs(S, n_threads=1), names=None)
            self.pairs = found if self.pairs is None else self.pairs + found
        if self._labels is not None:
            more = count_classes(S, self._labels, self._n_classes, n_threads=1)
            self.classes = more if self.classes is None else self.classes + more
