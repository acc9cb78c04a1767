"""Statements that are passed over, as often as a map needs: in files, or in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from trilens._typing import AnyArray, BoolArray, FloatArray, Int32Array, IntArray, Progress
from trilens.answers import Answers
from trilens.counts import Counted, counted
from trilens.counts.engines import Engine, open_engine
from trilens.counts.partition import Partition, Plan, each_batch, partitions
from trilens.errors import ParameterError, option
from trilens.kinds import Kind, sign
from trilens.maps.map import Map
from trilens.statements import Statements

#: Statements of a part in memory; fixed, so that sums do not depend on the number of threads.
_ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Statements in memory, as a part of the work."""

    kind: Kind
    #: (m, 3).
    triples: Int32Array

    def parts(self) -> list[HeldRows]:
        """The same in parts that a thread can take."""
        many = max(1, -(-len(self.triples) // _ROWS))
        return [HeldRows(self.kind, rows) for rows in np.array_split(self.triples, many)]


#: What a task is about.
StreamPart: TypeAlias = Partition | HeldRows


@dataclass(frozen=True, eq=False)
class Passes:
    """All statements, as parts that are worked on one by one, and where the work is done."""

    #: The counts per object, of the first pass.
    counts: Counted
    parts: list[Partition] | list[HeldRows]
    #: How partitions are read, their objects known.
    plan: Plan | None = None
    #: As in `Answers.count`.
    n_threads: int | None = None
    cluster: Any = None

    @classmethod
    def over(
        cls,
        given: Answers | Statements,
        *,
        at_random: bool = False,
        n_threads: int | None = None,
        progress: Progress | None = None,
    ) -> Passes:
        """Over files, or over statements in memory.

        With ``at_random`` over files without answers to questions that earlier answers chose.

        Raises
        ------
        ParameterError
            For files of counts, and for objects that are not those of the files.
        """
        if isinstance(given, Statements):
            held = HeldRows(given.kind, np.asarray(given.triples))
            return cls(counted(given), held.parts(), None, n_threads)
        if not given.in_files or given.in_counts:
            raise ParameterError("a map is made of answers, not of counts of them")
        if given.objects is not None:
            raise ParameterError(
                "files too large to hold name their objects themselves; leave out "
                f"{option('objects')}"
            )
        count = given.count if at_random else given.count_all
        counts = count(n_threads=n_threads, progress=progress)
        how = given.options | {"skip_bad": bool(given.skip_bad), "where": given.where}
        plan = replace(
            Plan.of(**how),
            n_objects=counts.n_objects,
            names=counts.known_names,
            chosen=not at_random,
        )
        paths = partitions(given.source, plan.options.rater_from_name)
        return cls(counts, paths, plan, n_threads, given.cluster)

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

    def engine(self) -> AbstractContextManager[Engine]:
        """Where the statements are passed over."""
        return closing(open_engine(self.cluster, self.n_threads))


def asked_below(share: float, columns: Iterable[AnyArray]) -> BoolArray:
    """Which statements are about questions whose lot, from 0 to 1, lies below a share.

    The lot hangs on the three objects alone: an answer to a question asked again is meant too.
    """
    from trilens.maps import _kernels

    a, b, c = map(_readonly, columns)
    keys = np.empty(len(a), dtype=np.uint64)
    _kernels.question_keys(a, b, c, 0, keys)
    below: BoolArray = (keys >> np.uint64(11)) / 2.0**53 < share
    return below


def batches(
    part: StreamPart, plan: Plan | None, *, raters: bool = False
) -> Iterator[tuple[Kind, list[AnyArray], AnyArray | None, AnyArray | None]]:
    """As `each_batch`; raters and choices of statements in memory are left out."""
    given: Any
    if isinstance(part, HeldRows):
        given = [(part.kind, list(part.triples.T), None, None)]
    else:
        assert plan is not None
        given = each_batch(part, plan, raters=raters)
    for kind, columns, who, chosen in given:
        yield kind, [_readonly(column) for column in columns], who, chosen


def _readonly(column: AnyArray) -> AnyArray:
    # one type for the compiled loops, whoever owns the memory
    view = np.ascontiguousarray(column, dtype=np.int32).view()
    view.flags.writeable = False
    return view


def sampled_rows(
    part: StreamPart, plan: Plan | None, share: float
) -> list[tuple[Int32Array, tuple[AnyArray, Int32Array] | None, BoolArray]]:
    """The statements of a part whose questions are meant, (m, 3); who gave each, and why.

    That is the raters, and who of them gave each; and whether earlier answers chose its question.
    """
    found = []
    for _, columns, raters, chosen in batches(part, plan, raters=True):
        inside = asked_below(share, columns)
        rows = np.stack([column[inside] for column in columns], axis=1)
        who = None
        if raters is not None:
            names, place = np.unique(raters[inside], return_inverse=True)
            who = names, place.astype(np.int32)
        late = np.zeros(len(rows), dtype=np.bool_) if chosen is None else chosen[inside]
        found.append((rows, who, late))
    return found


def product(part: StreamPart, plan: Plan | None, X: AnyArray, on: float, off: float) -> AnyArray:
    """E X over the statements of a part, (n, width) float32."""
    from trilens.maps import _kernels

    Y = np.zeros_like(X)
    for kind, (a, b, c), *_ in batches(part, plan):
        _kernels.multiply(a, b, c, kind == "closer", on, off, X, Y)
    return Y


@dataclass(frozen=True, eq=False)
class Sums:
    """What a scoring step needs; ``+`` merges."""

    #: -log likelihood.
    loss: float
    #: (n, d + d (d + 1) / 2): the gradient in each object's place, and its information about that
    #: place.
    of_object: FloatArray

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.loss + other.loss, self.of_object + other.of_object)

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


def score(part: StreamPart, plan: Plan | None, model: Map) -> Sums:
    """Slopes and information of the choice model over the statements of a part."""
    from trilens.maps import _kernels

    n, d = model.X.shape
    sums = np.zeros((n, d + d * (d + 1) // 2))
    loss = 0.0
    for _, (a, b, c), *_ in batches(part, plan):
        loss += _kernels.score(a, b, c, *for_kernels(model), sums)
    return Sums(loss, sums)


def for_kernels(model: Map) -> tuple[FloatArray, float, int, float, float, bool]:
    """A map as the compiled loops over statements take it."""
    from trilens.maps import _kernels

    X, length = np.ascontiguousarray(model.X), _kernels.LENGTHS[model.length]
    return X, model.lapse, length, model.alpha, sign(model.kind), model.kind != "closer"


def total(
    engine: Engine,
    parts: list[StreamPart] | list[Partition] | list[HeldRows],
    work: Any,
    *arguments: Any,
) -> Any:
    """The sum of ``work(part, *arguments)`` over all parts."""
    return engine.merge([engine.submit(work, part, *arguments) for part in parts])
