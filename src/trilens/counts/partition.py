"""What is counted at a time, a file or some row groups of a Parquet file, and how."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from trilens._typing import AnyArray, Int32Array
from trilens.counts.counted import MOST_SKIPPED, MOST_WORDS, Counted
from trilens.counts.file import VERSION
from trilens.counts.tally import KnownTally, Tally
from trilens.errors import FormatError, StatementError, TrilensError
from trilens.files.arrow import parquet_rows
from trilens.files.read import BLOCK_BYTES, open_table, reading_options
from trilens.files.source import (
    PathLike,
    Source,
    checked_path,
    ending_of,
    file_paths,
    is_url,
    names_of,
    one_line,
    open_source,
    size_of,
    sources,
    stamp_of,
)
from trilens.kinds import Kind
from trilens.statements.batch import (
    Batch,
    Checks,
    Fault,
    checks_of,
    distinct,
    sound,
    statements_of,
)
from trilens.statements.columns import as_list
from trilens.statements.layout import ReadOptions
from trilens.statements.names import CheckedNames, ObjectList
from trilens.statements.selection import Condition
from trilens.statements.table import AnswerTable, Pass, RowGroups

Item = TypeVar("Item")

#: Rows of a Parquet file that are counted at a time: a few tenths of a second of work.
PARTITION_ROWS = 1 << 24
#: Rows of a Parquet file that are decoded and counted at a time.
_ROWS = 1 << 17
#: There is no further item.
_END: Any = object()


@dataclass(frozen=True)
class Partition:
    """A file, or row groups ``start`` to ``stop`` (not included) of a Parquet file.

    ``stamp`` is what changes when the file does: its size and the time of its last change;
    ``rater`` who gave its answers, where its name says so.
    """

    path: str
    start: int = 0
    stop: int | None = None
    first_row: int = 1
    size: int = 0
    stamp: str = ""
    rater: str | None = None

    @property
    def label(self) -> str:
        """How messages name it."""
        if self.stop is None:
            return self.path
        return f"{self.path}, row groups {self.start} to {self.stop - 1}"

    @property
    def identity(self) -> str:
        """What was counted, for the name of its checkpoint."""
        place = self.path if is_url(self.path) else os.path.abspath(self.path)
        return f"{place}\0{self.start}\0{self.stop}\0{self.stamp}"


def partitions(
    given: PathLike | Sequence[PathLike], rater_from_name: bool = False
) -> list[Partition]:
    """The partitions of files, folders, patterns and URLs, in their order.

    A Parquet file that cannot be opened is left whole, for whoever counts it to refuse.
    """
    found: list[Partition] = []
    paths = [checked_path(one) for one in file_paths(given)]
    who: list[str | None] = [None] * len(paths)
    if rater_from_name:
        who = [*names_of([Source(path, ending_of(path)[0]) for path in paths])]
    for path, rater in zip(paths, who, strict=True):
        if path == "-":
            found.append(Partition(path, rater=rater))
            continue
        stamp, size = stamp_and_size(path)
        runs = _runs(path)
        if len(runs) <= 1:
            found.append(Partition(path, size=size, stamp=stamp, rater=rater))
            continue
        found += [
            Partition(path, low, high, row, size * (high - low) // runs[-1][1], stamp, rater)
            for low, high, row in runs
        ]
    return found


def stamp_and_size(path: str) -> tuple[str, int]:
    """What changes when the file does, and its size."""
    if is_url(path):
        return stamp_of(path), size_of(path)
    # book.xlsx::sheet is a part of a file
    name = path.split("::", 1)[0] if not os.path.exists(path) else path
    try:
        facts = os.stat(name)
    except FileNotFoundError as error:
        raise FormatError(f"{path}: no such file; check the path") from error
    except (OSError, ValueError) as error:
        raise FormatError(f"{path!r} cannot be read: {one_line(error)}") from error
    return f"{facts.st_size} {facts.st_mtime_ns}", facts.st_size


def _runs(path: str) -> list[tuple[int, int, int]]:
    """Row groups from, to (not included), and the file's number of the first row."""
    if not path.lower().endswith(".parquet"):
        return []
    try:
        rows = parquet_rows(open_source(path))
    except FormatError:
        return []
    runs, start, within, row, first = [], 0, 0, 1, 1
    for group, size in enumerate(rows):
        if within and within + size > PARTITION_ROWS:
            runs.append((start, group, first))
            start, within, first = group, 0, row
        within += size
        row += size
    return [*runs, (start, len(rows), first)] if rows else []


@dataclass(frozen=True)
class Plan:
    """How partitions are to be counted: plain values, that travel to any process."""

    options: ReadOptions
    #: The caller's objects; they tell bad rows, and names from missing cells.
    objects: ObjectList | None = None
    #: Whether bad rows, and files that cannot be read, are left out and reported.
    skip_bad: bool = False
    #: The objects, once a first pass has found them: pairs and classes need them.
    n_objects: int | None = None
    names: tuple[str, ...] | None = field(default=None, repr=False)
    pairs: bool = False
    #: The class of each object, -1 where it has none; None: classes are not counted.
    labels: Int32Array | None = field(default=None, repr=False)
    class_names: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    #: Whether answers to questions that earlier answers chose are used too: a map is made of all.
    chosen: bool = False
    #: Called with the bytes of text that were read, within this process alone.
    told: Callable[[int], None] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        *,
        skip_bad: bool = False,
        where: Sequence[str] | str = (),
        **reading: Any,
    ) -> Plan:
        """The plan for what `read_statements` and `select` are asked for."""
        conditions = [where] if isinstance(where, str) else as_list(where, "where")
        for text in conditions:
            Condition.of(text).holds(np.zeros(0))
        options = reading_options(skip_bad=skip_bad, **reading)
        return cls(options, options.objects, skip_bad, where=tuple(conditions))

    @property
    def known_objects(self) -> ObjectList | None:
        """The objects, where they are known before."""
        if self.n_objects is None:
            return None
        named = None if self.names is None else CheckedNames(self.names)
        return ObjectList(named, self.n_objects)

    def identity(self) -> bytes:
        """A hash of everything that decides what a partition's counts are."""
        questions = self.options.questions
        said = [
            VERSION,
            repr(self.options),
            None if questions is None else [repr(questions), questions.of, questions.anchors],
            self.skip_bad,
            None if self.objects is None else [self.objects.known_names, self.objects.keys],
            self.n_objects,
            self.names,
            self.pairs,
            None if self.labels is None else self.labels.tolist(),
            self.class_names,
            self.chosen,
            *self.where,
        ]
        return hashlib.sha256(json.dumps(said).encode()).digest()


def count_partition(partition: Partition, plan: Plan) -> Counted:
    """The counts of a partition; with ``plan.skip_bad``, of one that cannot be read, what is wrong.

    A file that changes meanwhile is an error in any case.
    """
    refuse_changed(partition)
    try:
        found = _count(partition, plan)
    except TrilensError as error:
        refuse_changed(partition)  # a file that grows looks like a damaged one
        # a row that could not be skipped is told as it is when the file is read whole
        if not plan.skip_bad or isinstance(error, StatementError):
            raise
        # what to do about it is advice for one file, not for what was left out of many
        why = f"{partition.label} is left out: {str(error).split('; ')[0]}"
        none = np.zeros(0, dtype=np.int64)
        return Counted("central", 0, none, none, skipped=(why,), n_skipped=1)
    refuse_changed(partition)
    return found


class FileChanged(FormatError):
    """A file is not the one any more that was to be counted."""


def refuse_changed(partition: Partition) -> None:
    """Raise `FileChanged` where the file is not the one that was to be counted."""
    if partition.path == "-":
        return
    stamp, _ = stamp_and_size(partition.path)
    if stamp != partition.stamp:
        raise FileChanged(
            f"{partition.path} changed while it was being read; count it again when it is complete"
        )


def _count(partition: Partition, plan: Plan) -> Counted:
    known = () if plan.objects is None else plan.objects.names
    total: Counted | None = None
    for table, kind in _tables(partition, plan):
        objects = plan.known_objects
        if objects is None and plan.objects is None:
            objects = table.stored
        tally: Tally | KnownTally
        if objects is None:
            tally = Tally(kind, known, keep_order=not table.table.has_groups)
        else:
            tally = KnownTally(kind, objects, plan.pairs, plan.labels, plan.class_names)
        skipped = _Skipped()
        rows = _pass(table, partition, plan)
        chosen, words = 0, set[str]()
        for batch in _batches(rows, plan):
            if plan.options.reason_random:
                words.update(distinct(batch.others["reason"]))
            kept = _sound(batch, table, plan, skipped)
            if not len(kept):
                continue
            late = kept.chosen()
            chosen += int(late.sum())
            tally.add(kept if plan.chosen else kept.without(late))
        if plan.skip_bad:
            skipped.add(rows.faults)
        skipped.set_aside(rows)
        found = replace(
            tally.result(),
            chosen=chosen,
            reasons=_told(words, plan, rows.every),
            skipped=tuple(skipped.words),
            n_skipped=skipped.n,
            clustered=table.rater is not None
            or not {"rater", "question"}.isdisjoint(table.layout.others),
        )
        total = found if total is None else total + found
    assert total is not None
    return total


def each_batch(
    partition: Partition, plan: Plan, *, raters: bool = False
) -> Iterator[tuple[Kind, list[AnyArray], AnyArray | None, AnyArray | None]]:
    """The kind, the three columns of ids, and of some rows; the objects are known.

    Then come the raters, None where they are not asked for or not known, and which questions
    earlier answers chose, None where they did not.
    """
    objects = plan.known_objects
    assert objects is not None, "a first pass finds the objects"
    refuse_changed(partition)
    fields = ("rater",) if raters else ()
    for table, kind in _tables(partition, plan):
        # ids that are their own names were checked when they were counted
        checked = plan.names is None and table.layout.form == "statement" and not plan.skip_bad
        for batch in _batches(_pass(table, partition, plan, fields), plan):
            kept = batch if checked and batch.integers else _sound(batch, table, plan)
            late = kept.chosen()
            kept = kept.asked_for() if plan.chosen else kept.without(late).asked_for()
            if not len(kept):
                continue
            who = kept.known("rater") if "rater" in kept.others else None
            why = kept.chosen() if late.any() and plan.chosen else None
            if checked and kept.integers:
                yield kind, kept.arrays(), who, why
            else:
                yield kind, list(statements_of(kept, objects, kind).triples.T), who, why
    refuse_changed(partition)


def _tables(partition: Partition, plan: Plan) -> Iterator[tuple[AnswerTable, Kind]]:
    found = sources(partition.path, encoding=plan.options.encoding)
    who = [partition.rater] if len(found) == 1 else []
    if plan.options.rater_from_name and not who:
        who = [*names_of(found)]  # the files of an archive
    for i, source in enumerate(found):
        table = open_table(source, plan.options)
        if plan.options.rater_from_name:
            table = replace(table, rater=who[i])
        yield table, table.kind or plan.options.kind or "central"


def _pass(table: AnswerTable, partition: Partition, plan: Plan, fields: Sequence[str] = ()) -> Pass:
    """The rows that are asked for, some at a time, and of these no more than is needed."""
    return Pass(
        table,
        # of bad rows that are skipped, those are too whose time or place is none
        fields=[*fields, "reason", *(("seconds", "place") if plan.skip_bad else ())],
        where=[Condition.of(text) for text in plan.where],
        # of row groups some are not even read, so that what they name is not known
        every=not table.table.has_groups,
        integers=table.stored is None or table.stored.integers,
        block_bytes=BLOCK_BYTES,
        groups=RowGroups(partition.start, partition.stop, partition.first_row, _ROWS),
    )


def _batches(rows: Pass, plan: Plan) -> Iterator[Batch]:
    if rows.of.table.has_groups:
        yield from rows
        return
    for batch in ahead(rows):
        yield batch
        if plan.told is not None:
            plan.told(BLOCK_BYTES)


def _told(words: set[str], plan: Plan, every: bool) -> tuple[str, ...]:
    """Of the words for why a question was asked, those that are looked for and a few others."""
    wanted = set(plan.options.reason_random)
    found = wanted if plan.where and not every else wanted & words
    return (*sorted(found), *sorted(words - wanted)[:MOST_WORDS])


@dataclass
class _Skipped:
    """What was left out: how many, and the first of them in words."""

    n: int = 0
    words: list[str] = field(default_factory=list)

    def add(self, faults: Sequence[Fault]) -> None:
        self.n += len(faults)
        self.words += [f"{fault}" for fault in faults[: MOST_SKIPPED - len(self.words)]]

    def set_aside(self, rows: Pass) -> None:
        """Catch questions are no statements."""
        checks = [checks_of(batch, rows.of.kind or "central") for batch in rows.checks]
        found = Checks.joined(checks)
        if found is not None:
            self.n += len(found)
            self.words = [f"{rows.of.label}: {found}", *self.words][:MOST_SKIPPED]


def _sound(batch: Batch, table: AnswerTable, plan: Plan, skipped: _Skipped | None = None) -> Batch:
    """The batch without its bad rows, where these are skipped."""
    if not plan.skip_bad:
        return batch
    kept, faults = sound(batch, plan.objects, table.stored)
    if skipped is not None:
        skipped.add(faults)
    return kept


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, each made by another thread while the caller works on the one before.

    >>> list(ahead(range(5)))
    [0, 1, 2, 3, 4]
    """
    each = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="trilens-reader") as thread:
        coming = thread.submit(next, each, _END)
        while (item := coming.result()) is not _END:
            coming = thread.submit(next, each, _END)
            yield item
