"""Counters that grow with the objects, fed with columns as they come from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from trilens._typing import AnyArray, Int32Array, IntArray
from trilens.counts._threads import is_small
from trilens.counts.counted import Counted, counted_under
from trilens.errors import StatementError
from trilens.kinds import Kind
from trilens.statements import Statements, concatenate
from trilens.statements.batch import Batch, statements_of
from trilens.statements.columns import SKIP_BAD
from trilens.statements.names import TABLE_LIMIT, Names, ObjectList, negative
from trilens.statements.value import check_triples

#: Statements whose pairs are counted at a time.
_PAIR_ROWS = 1 << 22


class Tally:
    """Counts per object of the rows of one file, or of a part of one.

    Integers are counted in a table by their value; names get ids in the order of their first
    appearance. So no first pass over the file is needed: whoever merges tallies aligns them by
    name.

    Rows that are not asked for are not counted, but what they name are objects too.

    Without ``keep_order`` the order in which integers first appear is not kept: columns of a type
    that can hold nothing else need none, as their names are put in numerical order.
    """

    def __init__(self, kind: Kind, known: Sequence[str], keep_order: bool) -> None:
        self.kind, self._keep_order = kind, keep_order
        self._names = _Growing(known)
        self._by_value = _Places()
        self._by_id = _Places()
        #: Of rows that are not asked for.
        self._aside = _Places()

    def add(self, batch: Batch) -> None:
        """Count the rows of a batch."""
        if self._has_values(batch):
            if batch.meant is not None:
                self._add_values(batch.take(np.flatnonzero(~batch.meant)), self._aside)
            self._add_values(batch.asked_for(), self._by_value)
            return
        batch = batch.as_text()
        self._names.add(batch)
        ids, names = self._names.ids_of(batch), self._names.listed()
        if batch.form == "statement":
            try:
                check_triples(ids, len(names))
            except StatementError:
                raise batch.refused(known=names) from None
        else:
            ids = batch.to_statements(ids, self.kind, len(names), tuple(names)).triples
        self._by_id.grow(len(names))
        ids = ids if batch.meant is None else ids[batch.meant]
        counted = self._by_id.add([ids[:, j] for j in range(3)])
        assert counted == len(ids), "ids were checked before"

    def _has_values(self, batch: Batch) -> bool:
        """Whether the names of a batch are integers that a table serves for."""
        if batch.form != "statement" or not batch.integers:
            return False
        if self._keep_order:
            if self._names.integers:
                self._names.add(batch)
            return self._names.integers
        columns = batch.arrays()
        if self._names.may_be_negative and min(int(x.min(initial=0)) for x in columns) < 0:
            return False
        return max(int(column.max(initial=0)) for column in columns) < TABLE_LIMIT

    def _add_values(self, batch: Batch, into: _Places) -> None:
        """Count rows of integers."""
        for offset, columns in batch.pieces():
            start, m = 0, len(columns[0])
            while start < m:
                start += into.add([column[start:] for column in columns])
                if start < m:
                    row = [int(column[start]) for column in columns]
                    self._refuse(row, batch.place(offset + start))
                    into.grow(max(row) + 1)

    def _refuse(self, row: Sequence[int], place: str) -> None:
        """Refuse a row of integers that is no statement."""
        if min(row) < 0:
            raise negative(place, str(min(row)))
        if len(set(row)) < 3:
            x, y, z = row
            raise StatementError(
                f"{place}: object {str(x if x in (y, z) else y)!r} appears twice in one "
                f"statement; a statement names three different objects; correct the row, or "
                f"{SKIP_BAD}"
            )

    def result(self) -> Counted:
        """What was counted."""
        values = np.union1d(self._by_value.seen(), self._aside.seen())
        self._by_value.grow(int(values.max(initial=-1)) + 1)
        plain = len(values) == 0 or values[-1] == len(values) - 1
        names = None if plain else tuple(map(str, values.tolist()))
        found = self._by_value.counted(self.kind, names, values)
        seen = self._names.listed()
        if not seen:
            return found
        # integers that were not put down as they came are all there is: in numerical order
        objects = self._names.objects(() if self._keep_order else list(map(str, values.tolist())))
        found += self._by_id.counted(self.kind, tuple(seen), np.arange(len(seen)))
        return replace(
            found.among(objects.known_names, objects.n_objects), known_names=objects.known_names
        )


class _Places:
    """How often each id stands first, second and third in statements; they grow with the ids."""

    def __init__(self) -> None:
        self.statements = 0
        #: (3, n).
        self.total = np.zeros((3, 1024), dtype=np.int64)

    def add(self, columns: list[AnyArray]) -> int:
        """Count rows up to the first that cannot be; how many these are."""
        count = _count_small if is_small(self.statements + len(columns[0])) else _count_compiled
        counted = count(columns, self.total)
        self.statements += counted
        return counted

    def seen(self) -> IntArray:
        """The ids that stand in statements."""
        return np.flatnonzero(self.total.any(axis=0))

    def grow(self, size: int) -> None:
        """Make room for so many ids."""
        have = self.total.shape[1]
        if size > have:
            more = max(size, 2 * have) - have
            self.total = np.pad(self.total, ((0, 0), (0, more)))

    def counted(self, kind: Kind, names: tuple[str, ...] | None, ids: IntArray) -> Counted:
        """The counts of some ids."""
        return Counted.of_places(kind, self.statements, self.total[:, ids], names)


class _Growing(Names):
    """Names that give ids while more of them come."""

    @property
    def integers(self) -> bool:
        """Whether a table of integers still serves."""
        return self._present is not None

    def listed(self) -> list[str]:
        return list(self._ids)

    def ids_of(self, batch: Batch) -> Int32Array:
        """``(m, 3)`` or ``(m, 4)`` ids of a batch whose names were added."""
        columns = []
        for at, values in batch.texts():
            known = np.array([self._ids.get(value, -1) for value in values], dtype=np.int32)
            columns.append(known[at] if len(at) else np.empty(0, dtype=np.int32))
        return np.stack(columns, axis=1)


def _count_compiled(columns: list[AnyArray], counters: AnyArray) -> int:
    """Count rows in ``counters``, (3, n), up to the first that cannot be."""
    from trilens.counts import _kernels

    ready = []
    for column in columns:
        values = column if column.dtype in (np.int32, np.int64) else column.astype(np.int64)
        view = values.view()
        view.flags.writeable = False  # one compiled loop for columns of any origin
        ready.append(view)
    a, b, c = ready
    return int(_kernels.columns(a, b, c, *counters))


def _count_small(columns: list[AnyArray], counters: AnyArray) -> int:
    """The same without loading the compiled loop."""
    a, b, c = (column.astype(np.int64) for column in columns)
    size = counters.shape[1]
    wrong = (a == b) | (a == c) | (b == c)
    for column in (a, b, c):
        wrong |= (column < 0) | (column >= size)
    stop = int(wrong.argmax()) if wrong.any() else len(a)
    for into, column in zip(counters, (a, b, c), strict=True):
        into += np.bincount(column[:stop], minlength=size)
    return stop


class KnownTally:
    """Counts of statements whose objects are known, of pairs and classes too where wanted."""

    def __init__(
        self,
        kind: Kind,
        objects: ObjectList,
        pairs: bool = False,
        labels: Int32Array | None = None,
        class_names: tuple[str, ...] = (),
    ) -> None:
        self.kind, self._objects = kind, objects
        self._labels, self._class_names = labels, class_names
        self._with_pairs = pairs
        self._waiting: list[Statements] = []
        self._total: Counted | None = None

    def add(self, batch: Batch) -> None:
        """Count the rows of a batch, now or with those to come."""
        self._waiting.append(statements_of(batch.asked_for(), self._objects, self.kind))
        at_once = _PAIR_ROWS if self._with_pairs or self._labels is not None else 0
        if sum(map(len, self._waiting)) >= at_once:
            self._flush()

    def _flush(self) -> None:
        """Count what waits."""
        n, names = self._objects.n_objects, self._objects.known_names
        if not self._waiting:
            self._waiting = [Statements(np.empty((0, 3), dtype=np.int32), n, names, self.kind)]
        S = self._waiting[0] if len(self._waiting) == 1 else concatenate(self._waiting)
        self._waiting = []
        found = counted_under(S, self._with_pairs, self._labels, self._class_names, n_threads=1)
        self._total = found if self._total is None else self._total + found

    def result(self) -> Counted:
        """What was counted."""
        if self._waiting or self._total is None:
            self._flush()
        assert self._total is not None
        return self._total
