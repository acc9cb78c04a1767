"""The one function that counts a partition, wherever it runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from trilens._typing import AnyArray, Int32Array
from trilens.counts.ahead import ahead
from trilens.counts.counted import Counted
from trilens.counts.file import VERSION
from trilens.counts.partition import Partition, stamp_and_size
from trilens.counts.tally import PairTally, Tally
from trilens.errors import FormatError, StatementError, TrilensError
from trilens.files.asked import Asked
from trilens.files.batch import Batch, StatementFile
from trilens.files.columns import Layout
from trilens.files.names import Naming
from trilens.files.objects import Objects
from trilens.files.read import open_file, sound
from trilens.files.scan import BLOCK_BYTES
from trilens.files.sieve import Sieve
from trilens.files.source import sources
from trilens.files.tables import TableFile, narrowed
from trilens.files.text import TextFile
from trilens.statements import Kind
from trilens.statements.value import CheckedNames

#: Rows of a Parquet file that are decoded and counted at a time.
_ROWS = 1 << 17


@dataclass(frozen=True)
class Plan:
    """How partitions are to be counted: plain values, that travel to any process.

    Parameters
    ----------
    asked
        How the files are to be read.
    encoding
        Of text.
    objects
        The caller's objects; they tell bad rows, and names from missing cells.
    skip_bad
        Whether bad rows, and files that cannot be read, are left out and reported.
    n_objects, names
        The objects, once a first pass has found them: pairs and classes need them.
    pairs
        Whether pairs are counted.
    labels
        The class of each object, -1 where it has none; None: classes are not counted.
    class_names
        Of the labels.
    where
        Conditions on the rows that are counted.
    told
        Called with the bytes of text that were read, within this process alone.
    """

    asked: Asked
    encoding: str | None = None
    objects: Objects | None = None
    skip_bad: bool = False
    n_objects: int | None = None
    names: tuple[str, ...] | None = field(default=None, repr=False)
    pairs: bool = False
    labels: Int32Array | None = field(default=None, repr=False)
    class_names: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    told: Callable[[int], None] | None = field(default=None, repr=False, compare=False)

    @property
    def naming(self) -> Naming | None:
        """The objects, where they are known before."""
        if self.n_objects is None:
            return None
        named = None if self.names is None else CheckedNames(self.names)
        return Naming(named, self.n_objects)

    def identity(self) -> bytes:
        """A hash of everything that decides what a partition's counts are."""
        asked = self.asked
        said = [
            VERSION,
            asked.kind,
            repr(asked.columns),
            asked.header,
            asked.counts_from,
            asked.unit,
            asked.passes_over,
            asked.preset,
            sorted(asked.listed),
            self.encoding,
            self.skip_bad,
            None if self.objects is None else [self.objects.names, self.objects.ids],
            self.n_objects,
            self.names,
            self.pairs,
            None if self.labels is None else self.labels.tolist(),
            self.class_names,
            *self.where,
        ]
        return hashlib.sha256(json.dumps(said).encode()).digest()


def count_partition(partition: Partition, plan: Plan) -> Counted:
    """The counts of a partition.

    Raises
    ------
    FormatError, StatementError
        For a file that cannot be read, a row that is no statement, and a file that changes
        meanwhile; with ``plan.skip_bad`` the first is reported in the counts instead.
    """
    refuse_changed(partition)
    try:
        found = _count(partition, plan)
    except TrilensError as error:
        refuse_changed(partition)  # a file that grows looks like a damaged one
        # a row that could not be skipped is told as it is when the file is read whole
        if not plan.skip_bad or isinstance(error, StatementError):
            raise
        return _nothing(f"{partition.label} is left out: {error}")
    refuse_changed(partition)
    return found


def refuse_changed(partition: Partition) -> None:
    """Raise `FormatError` where the file is not the one that was to be counted."""
    if partition.path == "-":
        return
    stamp, _ = stamp_and_size(partition.path)
    if stamp != partition.stamp:
        raise FormatError(
            f"{partition.path} changed while it was read; count it again when it is complete"
        )


def _count(partition: Partition, plan: Plan) -> Counted:
    known = () if plan.objects is None else plan.objects.names
    total: Counted | None = None
    for source in sources(partition.path, spool=True, encoding=plan.encoding):
        file = open_file(source, plan.asked)
        kind = file.kind or plan.asked.kind or "central"
        naming = plan.naming
        if naming is None and file.stored is not None and plan.objects is None:
            naming = file.stored
        tally = Tally(kind, naming, known)
        pairs = None
        if plan.pairs or plan.labels is not None:
            pairs = PairTally(plan.labels, len(plan.class_names), plan.pairs)
        skipped, n_skipped = _feed(file, partition, plan, tally, pairs)
        found = replace(tally.result(), skipped=skipped, n_skipped=n_skipped)
        if pairs is not None:
            pairs.flush()
            found = replace(
                found, pairs=pairs.pairs, classes=pairs.classes, class_names=plan.class_names
            )
        total = found if total is None else total + found
    assert total is not None
    return total


def _feed(
    file: StatementFile, partition: Partition, plan: Plan, tally: Tally, pairs: PairTally | None
) -> tuple[tuple[str, ...], int]:
    """Count all rows; what was left out."""
    narrow = _narrowed(file, partition, plan)
    if narrow is not None:
        return _feed_columns(narrow, plan, tally, pairs)
    file, batches = _batches(file, plan)
    return _feed_batches(file, _telling(ahead(batches), plan), plan, tally, pairs)


def _telling(batches: Iterator[Batch], plan: Plan) -> Iterator[Batch]:
    """The same, each told of when it is counted."""
    for batch in batches:
        yield batch
        if plan.told is not None:
            plan.told(BLOCK_BYTES)


def _narrowed(file: StatementFile, partition: Partition, plan: Plan) -> TableFile | None:
    """A Parquet file as the columns that are needed of some of its row groups."""
    if not isinstance(file, TableFile):
        return None
    sieve = Sieve.of(plan.where, file.layout, file.label) if plan.where else None
    start, stop, row = partition.start, partition.stop, partition.first_row
    return narrowed(file, start, stop, row, _ROWS, sieve)


def _batches(file: StatementFile, plan: Plan) -> tuple[StatementFile, Iterator[Batch]]:
    """Any other file, and those of its rows that are asked for."""
    if not plan.where:
        bare = _with_layout(file, None if file.layout is None else file.layout.bare)
        return bare, bare.batches(_fast(file), BLOCK_BYTES)
    sieve = Sieve.of(plan.where, file.layout, file.label)
    some = _with_layout(file, sieve.layout)
    return some, sieve.batches(some.batches(_fast(file), BLOCK_BYTES))


def _feed_columns(
    file: TableFile, plan: Plan, tally: Tally, pairs: PairTally | None
) -> tuple[tuple[str, ...], int]:
    """A Parquet file: plain integers are counted as they lie there, anything else as a batch."""
    straight = (
        pairs is None
        and file.layout.form == "statement"
        and not plan.skip_bad
        and not file.asked.passes_over
        and plan.naming is None
        and file.stored is None
    )

    def batches() -> Iterator[Batch]:
        for table, row_in_file in file.pieces(None):
            if straight:
                columns = _integers(table)
                if columns is not None:
                    place = Batch(table, file.label, row_in_file, lambda _: {})
                    if tally.add_integers(columns, place):
                        continue
            yield from _one_piece(file, table, row_in_file).batches(_fast(file))

    return _feed_batches(file, batches(), plan, tally, pairs)


def _one_piece(file: TableFile, table: Any, row_in_file: Callable[[int], int]) -> TableFile:
    return replace(file, pieces=lambda _: iter([(table, row_in_file)]))


def _fast(file: StatementFile) -> bool:
    return file.stored is None or file.stored.integers


def _integers(table: Any) -> list[AnyArray] | None:
    """The columns as arrays, without a copy where they are of one piece; None: no integers."""
    columns = []
    for column in table.columns:
        if not pa.types.is_integer(column.type) or column.null_count or column.type == pa.uint64():
            return None
        columns.append(column.chunk(0).to_numpy() if column.num_chunks == 1 else column.to_numpy())
    return columns


def _feed_batches(
    file: StatementFile,
    batches: Iterator[Batch],
    plan: Plan,
    tally: Tally,
    pairs: PairTally | None,
) -> tuple[tuple[str, ...], int]:
    skipped: list[str] = []
    n_skipped = 0
    for batch in batches:
        kept = [batch]
        if plan.skip_bad:
            kept, faults = sound([batch], plan.objects, file.stored)
            n_skipped += len(faults)
            skipped += [f"{fault}" for fault in faults[: 100 - len(skipped)]]
        for some in kept:
            S = tally.add(some)
            if pairs is not None:
                assert S is not None
                pairs.add(S)
    if plan.skip_bad:
        n_skipped += len(file.faults)
        skipped += [f"{fault}" for fault in list(file.faults)[: 100 - len(skipped)]]
    return tuple(skipped), n_skipped


def _with_layout(file: StatementFile, layout: Layout | None) -> StatementFile:
    """The same file with other columns read beside the objects."""
    if isinstance(file, TextFile) and layout is not None:
        return replace(file, dialect=replace(file.dialect, layout=layout))
    if isinstance(file, TableFile) and layout is not None:
        return replace(file, layout=layout)
    return file


def _nothing(why: str) -> Counted:
    from numpy import zeros

    return Counted("central", 0, zeros(0, int), zeros(0, int), skipped=(why,), n_skipped=1)


def each_batch(partition: Partition, plan: Plan) -> Iterator[tuple[Kind, list[AnyArray]]]:
    """The kind and the three columns of ids of some rows at a time; the objects are known."""
    naming = plan.naming
    assert naming is not None, "a first pass finds the objects"
    refuse_changed(partition)
    for source in sources(partition.path, spool=True, encoding=plan.encoding):
        file = open_file(source, plan.asked)
        kind = file.kind or plan.asked.kind or "central"
        narrow = _narrowed(file, partition, plan)
        if narrow is not None:
            for table, row_in_file in narrow.pieces(None):
                # ids that are their own names were checked when they were counted
                columns = _integers(table) if plan.names is None else None
                if columns is not None and narrow.layout.form == "statement" and not plan.skip_bad:
                    yield kind, columns
                    continue
                for batch in _one_piece(narrow, table, row_in_file).batches(_fast(file)):
                    yield from _known(batch, plan, naming, kind, file)
        else:
            for batch in ahead(_batches(file, plan)[1]):
                yield from _known(batch, plan, naming, kind, file)
    refuse_changed(partition)


def _known(
    batch: Batch, plan: Plan, naming: Naming, kind: Kind, file: StatementFile
) -> Iterator[tuple[Kind, list[AnyArray]]]:
    kept = sound([batch], plan.objects, file.stored)[0] if plan.skip_bad else [batch]
    for some in kept:
        S = naming.statements(replace(some, columns=lambda _: {}), kind)
        yield kind, list(S.triples.T)
