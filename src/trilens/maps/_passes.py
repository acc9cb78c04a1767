"""Passes over statements that are not held: in files, or some of them in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from trilens._typing import AnyArray, BoolArray, FloatArray, Int32Array
from trilens.counts.engines import Engine
from trilens.counts.partition import Partition, Plan, each_batch
from trilens.maps._choices import sign_of
from trilens.statements import Kind

#: Statements of a part in memory; fixed, so that sums do not depend on the number of threads.
_ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
class Rows:
    """Statements in memory, as a part of the work."""

    kind: Kind
    triples: Int32Array

    def parts(self) -> list[Rows]:
        """The same in parts that a thread can take."""
        many = max(1, -(-len(self.triples) // _ROWS))
        return [Rows(self.kind, some) for some in np.array_split(self.triples, many)]


#: What a task is about.
Part: TypeAlias = Partition | Rows


@dataclass(frozen=True)
class Draw:
    """Which questions are meant: those whose lot lies in ``low`` to ``high``.

    Every question has a lot from 0 to 1 that hangs on its three objects alone: an answer to a
    question asked again falls on the same side.
    """

    low: float
    high: float
    key: int = 0

    def among(self, a: AnyArray, b: AnyArray, c: AnyArray) -> BoolArray:
        """Which of some statements are meant, by the columns of their objects."""
        from trilens.maps import _scoring_kernels

        lot = np.empty(len(a))
        _scoring_kernels.lots(_readonly(a), _readonly(b), _readonly(c), self.key, lot)
        return (lot >= self.low) & (lot < self.high)


def batches(
    part: Part, plan: Plan | None, draw: Draw | None = None
) -> Iterator[tuple[Kind, list[AnyArray]]]:
    """The kind and the three columns of ids of some rows at a time."""
    given: Any
    if isinstance(part, Rows):
        given = [(part.kind, list(part.triples.T))]
    else:
        assert plan is not None
        given = each_batch(part, plan)
    for kind, columns in given:
        ready = [column.astype(np.int32, copy=False) for column in columns]
        if draw is not None:
            inside = draw.among(*ready)
            ready = [column[inside] for column in ready]
        yield kind, [_readonly(column) for column in ready]


def _readonly(column: AnyArray) -> AnyArray:
    # one type for the compiled loops, whoever owns the memory
    view = np.ascontiguousarray(column).view()
    view.flags.writeable = False
    return view


def product(part: Part, plan: Plan | None, X: AnyArray, on: float, off: float) -> AnyArray:
    """E X over the statements of a part, (n, width) float32."""
    from trilens.maps import _statement_kernels

    Y = np.zeros_like(X)
    for kind, (a, b, c) in batches(part, plan):
        _statement_kernels.multiply(a, b, c, kind == "closer", on, off, X, Y)
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


def score(part: Part, plan: Plan | None, X: FloatArray, lapse: float, draw: Draw | None) -> Sums:
    """Slopes and information of the choice model over the statements of a part."""
    from trilens.maps import _scoring_kernels

    n, d = X.shape
    sums = np.zeros((n, d + d * (d + 1) // 2))
    loss, many = 0.0, 0
    for kind, (a, b, c) in batches(part, plan, draw):
        closer, sign = kind == "closer", sign_of(kind)
        loss += _scoring_kernels.score(a, b, c, closer, sign, X, lapse, sums)
        many += len(a)
    return Sums(loss, many, sums)


def drawn(part: Part, plan: Plan | None, draw: Draw) -> Int32Array:
    """The statements of a part whose questions are meant, (m, 3)."""
    found = [np.stack(columns, axis=1) for _, columns in batches(part, plan, draw)]
    return np.concatenate(found) if found else np.empty((0, 3), dtype=np.int32)


def total(
    engine: Engine, parts: list[Part] | list[Partition] | list[Rows], work: Any, *arguments: Any
) -> Any:
    """The sum of ``work(part, *arguments)`` over all parts."""
    handles = [engine.submit(work, part, *arguments) for part in parts]
    merge: dict[Any, Callable[..., Any]] = {product: _sum, score: _sum_of_sums, drawn: _joined}
    return engine.merge(merge[work], handles)


def _sum(*parts: AnyArray) -> AnyArray:
    first = parts[0].copy()
    for part in parts[1:]:
        first += part
    return first


def _sum_of_sums(*parts: Sums) -> Sums:
    loss, many = sum(part.loss for part in parts), sum(part.statements for part in parts)
    return Sums(loss, many, _sum(*(part.of_object for part in parts)))


def _joined(*parts: AnyArray) -> AnyArray:
    return np.concatenate(parts)
