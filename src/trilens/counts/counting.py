"""Counting files: one, many, compressed, far away, on one machine or on several."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trilens._typing import Int32Array, Progress
from trilens.counts.counted import Counted, classes_of
from trilens.counts.engines import Engine, Threads, open_engine, summed
from trilens.counts.file import from_bytes, read_counts, to_bytes, write_counts
from trilens.counts.partition import Partition, Plan, count_partition, partitions
from trilens.errors import FormatError, ParameterError, StatementError
from trilens.files.source import PathLike, filesystem, is_url, sources, told
from trilens.statements.columns import none_at_random
from trilens.statements.names import ADD_IT, ObjectList
from trilens.statements.reading import refuse_unseen

#: Bytes and files that are counted by one task: it lasts a tenth of a second or more.
_TASK_BYTES = 1 << 25
_TASK_FILES = 64


@dataclass(frozen=True)
class CountReport:
    """How a count went."""

    #: Files, and parts of large Parquet files.
    partitions: int
    #: Of these, those whose counts were found in the checkpoint folder.
    resumed: int
    #: Two where pairs or classes are counted, which need the objects beforehand.
    passes: int


def count_files(
    source: PathLike | Sequence[PathLike],
    *,
    pairs: bool = False,
    labels: Mapping[str, str] | None = None,
    chosen: bool = False,
    n_threads: int | None = None,
    cluster: Any = None,
    checkpoint: PathLike | None = None,
    first: Counted | None = None,
    progress: Progress | None = None,
    tell: Callable[[CountReport], None] | None = None,
    **reading: Any,
) -> Counted:
    """Count the statements of files without holding them.

    The memory needed is that of the counters and of a few pieces of the files. Names become ids
    in one pass: each partition has a dictionary of its own, in the order of first appearance,
    and the counts of partitions are merged by name in the order of the files. Pairs and
    classes need the ids beforehand and take a second pass, the only one where ``first``, the counts
    without them, is given. The counts are the same, bit for bit, whatever the threads, the cluster
    and the checkpoints. The parameters are those of `Answers` and `Answers.count`; ``chosen``
    counts answers to questions that earlier answers chose too.

    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "1.csv").write_text("cat,dog,fox\\ncat,owl,fox\\n")
    >>> _ = (folder / "2.csv").write_text("owl,cat,emu\\n")
    >>> counts = count_files(folder)
    >>> counts.names, counts.central.singled.tolist()
    (('cat', 'dog', 'fox', 'owl', 'emu'), [2, 0, 0, 1, 0])
    """
    plan = replace(Plan.of(**reading), chosen=chosen)
    counts_from = reading.get("counts_from")
    run = _Run(partitions(source), checkpoint, open_engine(cluster, n_threads))
    second = pairs or labels is not None
    passes = 1 if first is not None or not second else 2
    try:
        found = first
        if found is None or not second:
            found = run.pass_over(plan, _part_of(progress, 0, passes))
        _refuse_nothing(found, plan, run.parts[0])
        if second:
            known = None if labels is None else _labels(found, labels, plan.objects, counts_from)
            again = replace(
                plan,
                n_objects=found.n_objects,
                names=found.known_names,
                pairs=pairs,
                labels=None if known is None else known[0],
                class_names=() if known is None else known[1],
            )
            found = run.pass_over(again, _part_of(progress, passes - 1, passes))
    finally:
        run.engine.close()
    if tell is not None:
        tell(CountReport(len(run.parts), run.resumed, passes))
    if plan.objects is not None:
        found = _renamed(found, plan.objects, counts_from)
    return found.with_names()


def _refuse_nothing(found: Counted, plan: Plan, part: Partition) -> None:
    if found.n_objects:
        refuse_unseen(set(found.reasons), plan.options.reason_random)
    if plan.where and not found.statements and not found.chosen:
        raise ParameterError(
            f"no answers are left where {' and '.join(plan.where)}; drop a condition",
            parameter="where",
        )
    # a typed table may be empty on purpose, as where it is read
    if found.n_objects or found.n_skipped:
        if found.chosen and not found.statements:
            raise StatementError(none_at_random(found.chosen))
        return
    if part.path == "-" or sources(part.path)[0].format == "text":
        raise FormatError(f"{part.path} has no statements; it needs one row for each")


class _Run:
    """Passes over the same partitions on the same engine."""

    def __init__(self, parts: list[Partition], checkpoint: PathLike | None, engine: Engine) -> None:
        self.parts, self.engine = parts, engine
        self.folder = None if checkpoint is None else str(checkpoint)
        #: Partitions whose counts were found in the folder, in every pass.
        self.resumed = len(parts)
        if self.folder is not None:
            Checkpoints(self.folder).make()

    def pass_over(self, plan: Plan, progress: Progress | None) -> Counted:
        """The counts of all partitions."""
        total = sum(part.size for part in self.parts)
        share = None if progress is None else _Share(progress, total)
        handles = []
        for task in _tasks(self.parts):
            part = None if share is None else _Part(share, sum(one.size for one in task))
            # how far a task has come can be told within this process alone
            told = part.add if part is not None and isinstance(self.engine, Threads) else None
            work = (count_or_resume, task, replace(plan, told=told), self.folder)
            handles.append(self.engine.submit(*work))
            if part is not None:
                handles[-1].add_done_callback(part.end)
        try:
            done: Done = self.engine.merge(handles)
        finally:
            if share is not None:
                share.over = True
        if progress is not None:
            progress(1.0)
        self.resumed = min(self.resumed, done.resumed)
        return done.counts


@dataclass
class _Share:
    """The share of the bytes that are counted, told as it grows; engines tell by threads."""

    progress: Progress
    total: int
    done: int = 0
    over: bool = False
    lock: Any = field(default_factory=threading.Lock)

    def add(self, size: int) -> None:
        with self.lock:
            self.done += size
            if not self.over:
                self.progress(self.done / max(self.total, self.done, 1))


@dataclass
class _Part:
    """What is left of a task, in bytes."""

    share: _Share
    left: int

    def add(self, size: int) -> None:
        """So many bytes are counted, as far as one can tell: files may be compressed."""
        some = min(size, self.left)
        self.left -= some
        self.share.add(some)

    def end(self, _: object) -> None:
        """All are."""
        self.add(self.left)


def _tasks(parts: Sequence[Partition]) -> list[tuple[Partition, ...]]:
    """Partitions, small ones several at a time."""
    tasks: list[tuple[Partition, ...]] = []
    waiting: list[Partition] = []
    for part in parts:
        waiting.append(part)
        if sum(p.size for p in waiting) >= _TASK_BYTES or len(waiting) >= _TASK_FILES:
            tasks.append(tuple(waiting))
            waiting = []
    return [*tasks, tuple(waiting)] if waiting else tasks


def _part_of(progress: Progress | None, at: int, of: int) -> Progress | None:
    return None if progress is None else lambda share: progress((at + share) / of)


def _renamed(found: Counted, objects: ObjectList, counts_from: int | None) -> Counted:
    """The counts over the caller's list of objects."""
    matched, _ = objects.matched(found.names, counts_from)
    wrong = next((name for name in found.names if name not in matched.ids), None)
    if wrong is not None:
        raise StatementError(f"{matched.lacks(wrong)}; {ADD_IT}")
    called = tuple(matched.names[matched.ids[name]] for name in found.names)
    return replace(found, known_names=called).among(matched.names, matched.n_objects)


def _labels(
    found: Counted, labels: Mapping[str, str], objects: ObjectList | None, counts_from: int | None
) -> tuple[Int32Array, tuple[str, ...]]:
    """The class of each object that was found, and the names of the classes."""
    names = found.names
    if objects is not None:
        matched, _ = objects.matched(found.names, counts_from)
        called = dict(zip(matched.called, matched.names, strict=True))
        names = tuple(called.get(name, name) for name in names)
    return classes_of(names, labels)


@dataclass(frozen=True)
class Checkpoints:
    """Where finished counts are kept: a folder, or a URL."""

    folder: str

    def make(self) -> None:
        """Make the folder; where it is a URL, find out whether counts can be kept there."""
        if is_url(self.folder):
            place = f"{self.folder.rstrip('/')}/.writable"
            files, path = filesystem(place)
            with told(self.folder):
                files.pipe_file(path, b"")
                files.rm_file(path)
            return
        try:
            os.makedirs(self.folder, exist_ok=True)
        except OSError as error:
            raise FormatError(f"{self.folder}: {error.strerror}; choose another folder") from error

    def place(self, partition: Partition, identity: bytes) -> str:
        """The file of a partition's counts."""
        name = hashlib.sha256(identity + partition.identity.encode()).hexdigest()
        return f"{self.folder.rstrip('/')}/{name}.npz"

    def load(self, place: str) -> Counted | None:
        """The counts that are kept; None where there are none, or they were cut short."""
        try:
            if is_url(place):
                files, path = filesystem(place)
                with told(place):  # of a failure too: it is counted again
                    kept = files.cat_file(path) if files.exists(path) else None
                return None if kept is None else from_bytes(kept, place)
            return read_counts(place) if os.path.exists(place) else None
        except FormatError:
            return None

    def keep(self, place: str, counts: Counted) -> None:
        """Write counts whole."""
        if is_url(place):
            files, path = filesystem(place)
            with told(place):
                files.pipe_file(path, to_bytes(counts))  # object storage shows whole objects only
        else:
            write_counts(counts, place)


@dataclass(frozen=True)
class Done:
    """The counts of one or several partitions, and how many of these were found finished."""

    counts: Counted
    resumed: int

    def __add__(self, other: Done) -> Done:
        return Done(self.counts + other.counts, self.resumed + other.resumed)


def count_or_resume(parts: tuple[Partition, ...], plan: Plan, folder: str | None) -> Done:
    """Count partitions, those that were finished before from what is kept of them."""
    done: Done = summed(*(_one(partition, plan, folder) for partition in parts))
    return done


def _one(partition: Partition, plan: Plan, folder: str | None) -> Done:
    if folder is None or partition.path == "-":
        return Done(count_partition(partition, plan), 0)
    kept = Checkpoints(folder)
    place = kept.place(partition, plan.identity())
    found = kept.load(place)
    if found is not None:
        return Done(found, 1)
    counts = count_partition(partition, plan)
    kept.keep(place, counts)
    return Done(counts, 0)
