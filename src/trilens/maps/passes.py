"""Statements that are passed over, as often as a map needs: in files, or in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, TypeAlias

import numpy as np

from trilens._typing import AnyArray, BoolArray, FloatArray, Int32Array, IntArray, Progress
from trilens.answers import Answers
from trilens.counts import Counted, counted
from trilens.counts.engines import Engine, open_engine
from trilens.counts.partition import Partition, Plan, each_batch, partitions, rater_keys
from trilens.errors import ParameterError, option
from trilens.kinds import Kind, sign
from trilens.statements import Statements

#: Statements of a part in memory; fixed, so that sums do not depend on the number of threads.
_ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Statements in memory, as a part of the work.

    Attributes
    ----------
    kind : {"central", "odd", "closer"}
    triples : (m, 3) int32
    raters : (m,) uint64 or None
        See `trilens.counts.partition.rater_keys`.
    """

    kind: Kind
    triples: Int32Array
    raters: AnyArray | None = None

    def parts(self) -> list[HeldRows]:
        """The same in parts that a thread can take."""
        many = max(1, -(-len(self.triples) // _ROWS))
        cut = np.array_split(np.arange(len(self.triples)), many)
        ends = [(rows[0], rows[-1] + 1) if len(rows) else (0, 0) for rows in cut]
        return [
            HeldRows(
                self.kind,
                self.triples[low:high],
                None if self.raters is None else self.raters[low:high],
            )
            for low, high in ends
        ]


#: What a task is about.
StreamPart: TypeAlias = Partition | HeldRows


@dataclass(frozen=True, eq=False)
class Passes:
    """All statements, as parts that are worked on one by one, and where the work is done.

    Attributes
    ----------
    counts : Counted
        The counts per object, of the first pass.
    parts : list of Partition or HeldRows
    plan : Plan or None
        How partitions are read, their objects known.
    n_threads, cluster
        As in `Answers.count`.
    """

    counts: Counted
    parts: list[Partition] | list[HeldRows]
    plan: Plan | None = None
    n_threads: int | None = None
    cluster: Any = None

    @classmethod
    def over(
        cls,
        given: Answers | Statements,
        *,
        counts: Counted | None = None,
        n_threads: int | None = None,
        cluster: Any = None,
        progress: Progress | None = None,
    ) -> Passes:
        """Over files, or over statements in memory.

        Raises
        ------
        ParameterError
            For files of counts, and for objects that are not those of the files.
        """
        if isinstance(given, Statements):
            if cluster is not None:
                raise ParameterError(
                    "only files are mapped on a cluster; these statements are in memory",
                    parameter="cluster",
                )
            who = None if given.raters is None else rater_keys(given.raters)
            held = HeldRows(given.kind, np.asarray(given.triples), who)
            return cls(counts or counted(given), held.parts(), None, n_threads)
        if not given.in_files or given.in_counts:
            raise ParameterError("a map is made of answers, not of counts of them")
        if given.objects is not None:
            raise ParameterError(
                "files too large to hold name their objects themselves; leave out "
                f"{option('objects')}"
            )
        cluster = given.cluster if cluster is None else cluster
        if counts is None:
            counts = given.count(n_threads=n_threads, cluster=cluster, progress=progress)
        how = given.options | {"skip_bad": bool(given.skip_bad), "where": given.where}
        plan = replace(Plan.of(**how), n_objects=counts.n_objects, names=counts.known_names)
        paths = partitions(given.source, plan.options.rater_from_name)
        return cls(counts, paths, plan, n_threads, cluster)

    def among(self, order: IntArray) -> Passes:
        """The same files with their objects in another order: object ``order[i]`` comes i-th."""
        if self.plan is None or (np.diff(order) == 1).all():
            return self
        c = self.counts
        names = None if c.known_names is None else tuple(c.known_names[i] for i in order)
        counts = replace(
            c,
            first=c.first[order],
            rest=c.rest[order],
            near=None if c.near is None else c.near[order],
            known_names=names,
        )
        return replace(self, counts=counts, plan=replace(self.plan, names=names))

    @contextmanager
    def engines(self) -> Iterator[tuple[Engine, Engine]]:
        """Where the files are passed over, and where statements in memory are."""
        engine = open_engine(self.cluster, self.n_threads)
        here = engine if self.cluster is None else open_engine(None, self.n_threads)
        try:
            yield engine, here
        finally:
            here.close()
            if engine is not here:
                engine.close()


@dataclass(frozen=True)
class QuestionSample:
    """Which questions are meant: those whose lot lies in ``low`` to ``high``.

    Every question has a lot from 0 to 1 that hangs on its three objects alone: an answer to a
    question asked again falls on the same side.
    """

    low: float
    high: float
    key: int = 0

    def among(self, a: AnyArray, b: AnyArray, c: AnyArray) -> BoolArray:
        """Which of some statements are meant, by the columns of their objects."""
        from trilens.maps import _kernels

        lot = np.empty(len(a))
        _kernels.lots(_readonly(a), _readonly(b), _readonly(c), self.key, lot)
        return (lot >= self.low) & (lot < self.high)


def batches(
    part: StreamPart, plan: Plan | None, draw: QuestionSample | None = None
) -> Iterator[tuple[Kind, list[AnyArray]]]:
    """The kind and the three columns of ids of some rows at a time."""
    for kind, ready, _ in rated_batches(part, plan, draw, raters=False):
        yield kind, ready


def rated_batches(
    part: StreamPart, plan: Plan | None, draw: QuestionSample | None = None, *, raters: bool = True
) -> Iterator[tuple[Kind, list[AnyArray], AnyArray | None]]:
    """As `batches`, with the key of each row's rater; None where raters are not known."""
    given: Any
    if isinstance(part, HeldRows):
        given = [(part.kind, list(part.triples.T), part.raters)]
    else:
        assert plan is not None
        given = each_batch(part, plan, raters=raters)
    for kind, columns, who in given:
        ready = [column.astype(np.int32, copy=False) for column in columns]
        if draw is not None:
            inside = draw.among(*ready)
            ready = [column[inside] for column in ready]
            who = None if who is None else who[inside]
        yield kind, [_readonly(column) for column in ready], who


def _readonly(column: AnyArray) -> AnyArray:
    # one type for the compiled loops, whoever owns the memory
    view = np.ascontiguousarray(column).view()
    view.flags.writeable = False
    return view


def sampled_rows(
    part: StreamPart, plan: Plan | None, draw: QuestionSample
) -> list[tuple[Int32Array, AnyArray | None]]:
    """The statements of a part whose questions are meant, (m, 3), and who gave each."""
    return [
        (np.stack(columns, axis=1), raters)
        for _, columns, raters in rated_batches(part, plan, draw)
    ]


def product(part: StreamPart, plan: Plan | None, X: AnyArray, on: float, off: float) -> AnyArray:
    """E X over the statements of a part, (n, width) float32."""
    from trilens.maps import _kernels

    Y = np.zeros_like(X)
    for kind, (a, b, c) in batches(part, plan):
        _kernels.multiply(a, b, c, kind == "closer", on, off, X, Y)
    return Y


@dataclass(frozen=True, eq=False)
class Sums:
    """What a scoring step needs; ``+`` merges.

    Attributes
    ----------
    loss : float
        -log likelihood.
    statements : int
    of_object : (n, d + d (d + 1) / 2) float64
        The gradient in each object's place, and its information about that place.
    """

    loss: float
    statements: int
    of_object: FloatArray

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.loss + other.loss,
            self.statements + other.statements,
            self.of_object + other.of_object,
        )

    def gradient(self, d: int) -> FloatArray:
        """The slope of -log P in each place, (n, d)."""
        return self.of_object[:, :d]

    def information(self, d: int) -> FloatArray:
        """What the statements say about each place given all others, (n, d, d)."""
        found = np.empty((len(self.of_object), d, d))
        low = np.tril_indices(d)
        found[:, low[0], low[1]] = self.of_object[:, d:]
        found[:, low[1], low[0]] = self.of_object[:, d:]
        return found


def score(
    part: StreamPart, plan: Plan | None, X: FloatArray, lapse: float, draw: QuestionSample | None
) -> Sums:
    """Slopes and information of the choice model over the statements of a part."""
    from trilens.maps import _kernels

    n, d = X.shape
    sums = np.zeros((n, d + d * (d + 1) // 2))
    loss, many = 0.0, 0
    for kind, (a, b, c) in batches(part, plan, draw):
        loss += _kernels.score(a, b, c, kind == "closer", sign(kind), X, lapse, sums)
        many += len(a)
    return Sums(loss, many, sums)


def total(
    engine: Engine,
    parts: list[StreamPart] | list[Partition] | list[HeldRows],
    work: Any,
    *arguments: Any,
) -> Any:
    """The sum of ``work(part, *arguments)`` over all parts."""
    return engine.merge(_sum, [engine.submit(work, part, *arguments) for part in parts])


def _sum(*parts: Any) -> Any:
    return reduce(add, parts)
