"""Counting files: one, many, compressed, far away, on one machine or on several."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from trilens._typing import Progress
from trilens.counts._align import listed
from trilens.counts.checkpoint import Checkpoints, Done, count_or_resume, merge_done
from trilens.counts.counted import Counted
from trilens.counts.engine import Engine, Threads, open_engine
from trilens.counts.partition import Partition, partitions
from trilens.counts.work import Plan
from trilens.errors import FormatError, LabelError, ParameterError, StatementError
from trilens.files.asked import asked
from trilens.files.names import Naming
from trilens.files.objects import Objects, ObjectsLike, names_or_ids, object_list
from trilens.files.source import PathLike, quoted
from trilens.files.spec import ColumnsLike
from trilens.statements.columns import as_list
from trilens.statements.selection import Condition
from trilens.statements.value import shown

#: Bytes and files that are counted by one task: it lasts a tenth of a second or more.
_TASK_BYTES = 1 << 25
_TASK_FILES = 64


@dataclass(frozen=True)
class CountReport:
    """How a count went.

    Attributes
    ----------
    partitions : int
        Files, and parts of large Parquet files.
    resumed : int
        Of these, those whose counts were found in the checkpoint folder.
    passes : int
        Two where pairs or classes are counted, which need the objects beforehand.
    """

    partitions: int
    resumed: int
    passes: int


def count_files(
    source: PathLike | Sequence[PathLike],
    *,
    pairs: bool = False,
    labels: Mapping[str, str] | None = None,
    kind: str | None = None,
    columns: ColumnsLike | None = None,
    objects: ObjectsLike | None = None,
    preset: str | None = None,
    header: bool | None = None,
    counts_from: int | None = None,
    encoding: str | None = None,
    skip_bad: bool = False,
    where: Sequence[str] | str = (),
    n_threads: int | None = None,
    cluster: Any = None,
    checkpoint: PathLike | None = None,
    first: Counted | None = None,
    progress: Progress | None = None,
    tell: Callable[[CountReport], None] | None = None,
) -> Counted:
    """Count the statements of files without holding them.

    The memory needed is that of the counters and of a few pieces of the files. Names become ids
    in one pass: each partition has a dictionary of its own, in the order of first appearance,
    and the counts of partitions are merged by name in the order of the files. Pairs and
    classes need the ids beforehand and take a second pass.

    Parameters
    ----------
    source : path, folder, pattern, URL, or list of these
        A URL (``s3://bucket/day-*.parquet``) is read through fsspec, the ``remote`` extra.
    pairs : bool
        Whether to count pairs too: for the graph, clusters and the lens map.
    labels : dict by name, optional
        The classes of objects; the counts of Algorithm 3 are then counted too.
    kind, columns, objects, preset, header, counts_from, encoding
        As in `read_statements`.
    skip_bad : bool
        Leave out rows that are no statements and files that cannot be read, and report them in
        ``skipped``, instead of stopping at the first.
    where : list of str
        Conditions that must all hold for a row to be counted, such as ``"day = 3"``: a column
        of the files, one of ``= != < <= > >=``, and a value. Row groups of Parquet files of
        which the file says that none of their rows is meant are not read. Without
        ``objects`` the objects are those of the rows that are counted.
    n_threads : int, optional
        Of this process, where there is no cluster; by default one per core.
    cluster : str or Dask client, optional
        ``"local:N"``: N processes of this machine. ``"tcp://host:8786"``: a Dask scheduler.
        ``"ray"``, ``"ray:ADDRESS"``: Ray.
    checkpoint : path or URL, optional
        A folder that keeps the counts of each finished partition, under the hash of what was
        counted: a second run counts only what is missing. Workers must see the same folder.
    first : Counted, optional
        The counts of the same files without pairs and classes, where they are known: one pass
        is then enough for these.
    progress : callable, optional
        Called with the share of the bytes that are counted.
    tell : callable, optional
        Called with a `CountReport` at the end.

    Returns
    -------
    Counted
        The same, bit for bit, whatever the threads, the cluster and the checkpoints.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "1.csv").write_text("cat,dog,fox\\ncat,owl,fox\\n")
    >>> _ = (folder / "2.csv").write_text("owl,cat,emu\\n")
    >>> counts = count_files(folder)
    >>> counts.names, counts.central.singled.tolist()
    (('cat', 'dog', 'fox', 'owl', 'emu'), [2, 0, 0, 1, 0])
    """
    objects_ = object_list(objects)
    wish = asked(
        kind,
        columns,
        preset=preset,
        header=header,
        counts_from=counts_from,
        skip_bad=skip_bad,
        objects=objects_,
    )
    plan = Plan(wish, encoding, objects_, skip_bad, where=_conditions(where))
    parts = partitions(source)
    folder = None if checkpoint is None else str(checkpoint)
    if folder is not None:
        Checkpoints(folder).make()
    second = pairs or labels is not None
    engine = open_engine(cluster, n_threads)
    try:
        passes = 1 if first is not None or not second else 2
        if first is None or not second:
            done = _run(engine, parts, plan, folder, _part_of(progress, 0, passes))
        else:
            done = Done(first, len(parts), len(parts))
        found = done.counts
        if plan.where and not found.statements:
            raise ParameterError(
                f"no answer is left where {' and '.join(plan.where)}; leave a condition out"
            )
        if not found.n_objects and not found.n_skipped:
            raise FormatError(f"{parts[0].path} has no statements; add a row per statement")
        if second:
            known = None if labels is None else _labels(found, labels, objects_, counts_from)
            classes = () if known is None else known[1]
            again = replace(
                plan,
                n_objects=found.n_objects,
                names=found.known_names,
                pairs=pairs,
                labels=None if known is None else known[0],
                class_names=classes,
            )
            more = _run(engine, parts, again, folder, _part_of(progress, passes - 1, passes))
            found = more.counts
            done = Done(found, done.partitions, min(done.resumed, more.resumed))
    finally:
        engine.close()
    if tell is not None:
        tell(CountReport(done.partitions, done.resumed, passes))
    if objects_ is not None:
        found = _renamed(found, objects_, counts_from)
    return found.with_names()


def _conditions(where: Sequence[str] | str) -> tuple[str, ...]:
    """The conditions, each of them sound."""
    texts = [where] if isinstance(where, str) else as_list(where, "where")
    for text in texts:
        Condition.of(text).holds(np.zeros(0))
    return tuple(texts)


def _run(
    engine: Engine,
    parts: list[Partition],
    plan: Plan,
    folder: str | None,
    progress: Progress | None,
) -> Done:
    tasks = _tasks(parts)
    share = None if progress is None else _Share(progress, sum(part.size for part in parts))
    handles = []
    for task in tasks:
        part = None if share is None else share.of(sum(one.size for one in task))
        # how far a task has come can be told within this process alone
        told = part.add if part is not None and isinstance(engine, Threads) else None
        handles.append(engine.submit(count_or_resume, task, replace(plan, told=told), folder))
        if part is not None:
            engine.watch(handles[-1], part.end)
    try:
        done: Done = engine.collect(engine.merge(merge_done, handles))
    finally:
        if share is not None:
            share.over = True
    if progress is not None:
        progress(1.0)
    return done


@dataclass
class _Share:
    """The share of the bytes that are counted, told as it grows; engines tell by threads."""

    progress: Progress
    total: int
    done: int = 0
    over: bool = False
    lock: Any = field(default_factory=threading.Lock)

    def of(self, size: int) -> _Part:
        """The part of a task."""
        return _Part(self, size)

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

    def end(self) -> None:
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


def _naming(found: Counted, objects: Objects, counts_from: int | None) -> Naming:
    by_line = objects.by_line(found.names, counts_from)
    return by_line[0] if by_line is not None else names_or_ids(objects, list(found.names)).naming()


def _renamed(found: Counted, objects: Objects, counts_from: int | None) -> Counted:
    """The counts over the caller's list of objects."""
    naming = _naming(found, objects, counts_from)
    keys = {key: i for i, key in enumerate(naming.keys())}
    wrong = next((name for name in found.names if name not in keys), None)
    if wrong is not None:
        raise StatementError(
            f"object {quoted(wrong)} is not in the list of objects ({shown(list(keys), 3)}); "
            f"add it to the list or leave its rows out"
        )
    names = tuple(listed(naming.names, naming.n_objects))
    called = tuple(names[keys[name]] for name in found.names)
    return replace(found, known_names=called)._among(names, len(names))


def _labels(
    found: Counted, labels: Mapping[str, str], objects: Objects | None, counts_from: int | None
) -> tuple[Any, tuple[str, ...]]:
    """The class of each object that was found, and the names of the classes."""
    names = found.names
    if objects is not None:
        naming = _naming(found, objects, counts_from)
        called = dict(zip(naming.keys(), listed(naming.names, naming.n_objects), strict=True))
        names = tuple(called.get(name, name) for name in names)
    classes = tuple(sorted(set(labels.values())))
    number = {label: i for i, label in enumerate(classes)}
    y = np.array([number.get(labels.get(name, ""), -1) for name in names], dtype=np.int32)
    if not classes or (y < 0).all():
        raise LabelError("no object of the statements has a label; are the names the same?")
    return y, classes
