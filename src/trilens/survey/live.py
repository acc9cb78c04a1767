"""The results so far, from counts that grow with every answer.

Nothing is computed here: answers become statements, and the library does the rest.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from trilens.statements import Kind, Statements, concatenate
from trilens.survey.schema import answers, assignments, erasures, objects

if TYPE_CHECKING:
    from trilens.counts import CentralCounts, PairCounts

T = TypeVar("T")

#: After some work, rest for so many times as long, but for no more than so many seconds.
_REST = 10.0
_LONGEST_REST = 5.0


class Rested(Generic[T]):
    """A value that is made again when it is asked for, but not all the time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._value: T | None = None
        self._until = 0.0

    def get(self, make: Callable[[], T]) -> T:
        """The value, at most as old as the rest after its making.

        >>> clock, numbers = iter([0, 0.1, 1, 1.1, 1.2]), iter("abc")
        >>> rested = Rested(clock.__next__)
        >>> [rested.get(numbers.__next__) for look in range(3)]
        ['a', 'a', 'b']
        """
        with self._lock:
            start = self._clock()
            if self._value is None or start >= self._until:
                self._value = make()
                end = self._clock()
                self._until = end + min(_REST * (end - start), _LONGEST_REST)
            return self._value

    def forget(self) -> None:
        """Make it anew at the next call."""
        with self._lock:
            self._until = 0.0


@dataclass(frozen=True)
class Results:
    """What the answers say so far.

    Attributes
    ----------
    names
        Of the objects, in their order.
    appearances
        How many answers name each.
    depth
        The centrality of each object; None for ``closer`` answers.
    medoid, outliers
        Names; None and none before the first answer.
    points
        The map, (n, 2); None while there is too little for one.
    """

    kind: Kind
    answers: int
    names: tuple[str, ...]
    appearances: tuple[int, ...]
    depth: tuple[float, ...] | None
    medoid: str | None
    outliers: tuple[str, ...]
    points: tuple[tuple[float, float], ...] | None
    triples_covered: int
    triples_possible: int
    coverage_percent: float

    @property
    def ranking(self) -> list[tuple[str, float, int]]:
        """Name, centrality and appearances, the most central first."""
        if self.depth is None:
            return []
        rows = zip(self.names, self.depth, self.appearances, strict=True)
        return sorted(rows, key=lambda row: -row[1])


class Live:
    """Grows counts by the answers that are new since the last look."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._statements: Statements | None = None
        self._central: CentralCounts | None = None
        self._pairs: PairCounts | None = None
        self._seen: set[int] = set()
        self._latest = 0.0
        self._erasures = -1
        self._results: Results | None = None

    def results(self, connection: Connection) -> Results:
        """What the answers say now."""
        with self._lock:
            if self._grow(connection) or self._results is None:
                self._results = self._compute()
            return self._results

    def _grow(self, connection: Connection) -> bool:
        """Take in what is new; after an erasure everything anew. Tells whether anything is."""
        erased = int(connection.execute(select(func.count()).select_from(erasures)).scalar_one())
        known = connection.execute(select(objects).order_by(objects.c.id)).all()
        names = tuple(row.name for row in known)
        changed = self._statements is None or names != self._statements.names
        if changed or erased != self._erasures:
            self._forget()
            self._erasures = erased
            self._take(Statements([], names=list(names), kind=self._kind))
        at = {row.id: i for i, row in enumerate(known)}
        new = self._new(connection, at)
        total = int(connection.execute(select(func.count()).select_from(answers)).scalar_one())
        if len(self._seen) < total and not new:
            # clocks of several servers differ: an answer came in behind the latest one
            self._latest = 0.0
            new = self._new(connection, at)
        if new:
            self._take(Statements(new, names=list(names), kind=self._kind))
        return bool(new)

    def _new(self, connection: Connection, at: dict[int, int]) -> list[list[int]]:
        query = (
            select(
                answers.c.assignment,
                answers.c.chosen,
                answers.c.stored,
                assignments.c.a,
                assignments.c.b,
                assignments.c.c,
            )
            .select_from(answers.join(assignments, answers.c.assignment == assignments.c.id))
            .where(answers.c.stored >= self._latest)
        )
        found = []
        for row in connection.execute(query):
            if row.assignment in self._seen:
                continue
            self._seen.add(row.assignment)
            self._latest = max(self._latest, row.stored)
            rest = [at[i] for i in (row.a, row.b, row.c) if i != row.chosen]
            if self._kind == "closer":
                found.append([at[row.a], at[row.chosen], rest[1]])
            else:
                found.append([at[row.chosen], *rest])
        return found

    def _take(self, part: Statements) -> None:
        from trilens.counts import count_central, count_pairs

        if self._statements is None:
            self._statements = part
        else:
            self._statements = concatenate([self._statements, part])
        pairs = count_pairs(part, n_threads=1)
        self._pairs = pairs if self._pairs is None else self._pairs + pairs
        if self._kind != "closer":
            central = count_central(part, n_threads=1)
            self._central = central if self._central is None else self._central + central

    def _compute(self) -> Results:
        from trilens.depth import centrality
        from trilens.tasks.medoid import medoid
        from trilens.tasks.outliers import outliers

        S = self._statements
        assert S is not None
        method = "lensmap" if self._kind == "closer" else "depth"
        central = self._central
        summary = S.summary()
        some = len(S) > 0
        return Results(
            kind=self._kind,
            answers=len(S),
            names=S.names,
            appearances=tuple(np.bincount(S.triples.ravel(), minlength=S.n_objects).tolist()),
            depth=None if central is None else tuple(centrality(central).tolist()),
            medoid=medoid(S, method).name if some else None,
            outliers=outliers(S, method=method).names if some else (),
            points=self._map() if some else None,
            triples_covered=summary.triples_covered or 0,
            triples_possible=summary.triples_possible,
            coverage_percent=summary.coverage_percent,
        )

    def _map(self) -> Any:
        from trilens.maps import LensMap

        assert self._pairs is not None
        if self._pairs.n_objects < 4:
            return None
        found = LensMap(n_components=2, random_state=0).fit_transform(self._pairs)
        return tuple((float(x), float(y)) for x, y in found)
