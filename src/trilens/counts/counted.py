"""Everything that was counted of some statements, with the names of the objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from trilens import kinds
from trilens._parameters import wrong
from trilens._typing import Int32Array, IntArray
from trilens.counts._merge import (
    Named,
    Summable,
    listed,
    moved,
    positions,
    require_same_kind,
    union,
)
from trilens.counts.central import CentralCounts, count_places
from trilens.counts.classes import ClassCounts, count_classes
from trilens.counts.pairs import PairCounts, count_pairs
from trilens.errors import LabelError, ParameterError
from trilens.statements import Kind, Statements, StatementsLike, Summary, as_statements

#: Of the rows and files that were left out so many are kept in words.
MOST_SKIPPED = 100
#: Of the words for why questions were asked, beside those that were looked for.
MOST_WORDS = 8


@dataclass(frozen=True, eq=False)
class Counted(Summable):
    """Counts of statements and the objects that they are about; ``+`` merges by name.

    Attributes
    ----------
    kind : {"central", "odd", "closer"}
    statements : int
        How many were counted.
    first, rest : (n,) int64
        Statements that name the object in the first place, and in another.
    near : (n,) int64, optional
        Of ``closer`` statements: those that name it in the second place.
    pairs : PairCounts, optional
    classes : ClassCounts, optional
        With ``class_names``, in their order.
    skipped : tuple of str
        What was left out as no statement, or as no file of them: the first hundred, in words.
    n_skipped : int
    chosen : int
        How many answers were to questions that earlier answers chose: these are not counted,
        unless for a map.
    reasons : tuple of str
        The words for why questions were asked, where ``reason_random`` names some: these, and a
        few others.
    files : tuple of (str, str)
        The files that a followed folder had, each with what changes when it does.
    clustered : bool or None
        Whether the answers tell of raters or screens, which counts do not keep; None where nobody
        knows.

    Examples
    --------
    >>> from trilens.statements import Statements
    >>> monday = counted(Statements([[0, 1, 2]], names=["a", "b", "c"], kind="central"))
    >>> tuesday = counted(Statements([[0, 1, 2]], names=["c", "d", "a"], kind="central"))
    >>> both = monday + tuesday
    >>> both.names, both.central.singled.tolist(), both.central.appears.tolist()
    (('a', 'b', 'c', 'd'), [1, 0, 1, 0], [2, 1, 2, 1])
    """

    kind: Kind
    statements: int
    first: IntArray
    rest: IntArray
    near: IntArray | None = None
    known_names: Named = field(default=None, repr=False)
    pairs: PairCounts | None = None
    classes: ClassCounts | None = None
    class_names: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    n_skipped: int = 0
    chosen: int = 0
    reasons: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    clustered: bool | None = field(default=None, repr=False)

    @classmethod
    def of_places(cls, kind: Kind, statements: int, places: IntArray, names: Named) -> Counted:
        """From how often each object stands first, second and third, (3, n)."""
        first, second, third = places
        near = second.copy() if kind == "closer" else None
        return cls(kind, statements, first.copy(), second + third, near, names)

    @property
    def n_objects(self) -> int:
        """The number of objects."""
        return len(self.first)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each object."""
        return tuple(listed(self.known_names, self.n_objects))

    @cached_property
    def central(self) -> CentralCounts:
        """The counts per object that depth is made of."""
        if self.near is not None:
            return CentralCounts(self.near, self.rest, self.kind, self.names)
        return CentralCounts(self.first, self.first + self.rest, self.kind, self.names)

    @property
    def appearances(self) -> IntArray:
        """How many statements name each object, (n,) int64."""
        return self.first + self.rest

    def __add__(self, other: Counted) -> Counted:
        if not isinstance(other, Counted):
            return NotImplemented
        skipped = (self.skipped + other.skipped)[:MOST_SKIPPED]
        told: dict[str, Any] = {
            "skipped": skipped,
            "n_skipped": self.n_skipped + other.n_skipped,
            "chosen": self.chosen + other.chosen,
            "reasons": tuple(sorted({*self.reasons, *other.reasons})),
            "files": self.files + other.files,
        }
        for one, another in ((self, other), (other, self)):
            if not one.n_objects:  # nothing could be read: not even the kind is known
                return replace(another, **told)
        require_same_kind(self.kind, other.kind)
        for what in ("pairs", "classes"):
            if (getattr(self, what) is None) != (getattr(other, what) is None):
                raise ParameterError(
                    f"only one of the two has counts of {what}; count both in the same way"
                )
        if self.class_names != other.class_names:
            raise ParameterError(
                f"one has classes {', '.join(self.class_names)}, the other "
                f"{', '.join(other.class_names)}; count both with the same labels"
            )
        names, n = union(self.known_names, self.n_objects, other.known_names, other.n_objects)
        a, b = self.among(names, n), other.among(names, n)
        sums: dict[str, Any] = {
            what: None if getattr(a, what) is None else getattr(a, what) + getattr(b, what)
            for what in ("statements", "first", "rest", "near", "pairs", "classes")
        }
        both = {self.clustered, other.clustered}
        told["clustered"] = True if True in both else None if None in both else False
        return replace(a, **(sums | told), known_names=names)

    def summary(self) -> Summary:
        """What `Statements.summary` says; what counts do not know is None."""
        n, appears = self.n_objects, self.appearances
        possible = kinds.n_questions(self.kind, n)
        return Summary(
            kind=self.kind,
            statements=self.statements,
            objects=n,
            triples_possible=possible,
            triples_covered=None,
            coverage_percent=100.0 * self.statements / possible if possible else 0.0,
            appearances_min=int(appears.min()) if n else 0,
            appearances_mean=float(appears.mean()) if n else 0.0,
            appearances_max=int(appears.max()) if n else 0,
            objects_never_seen=int((appears == 0).sum()),
            repeated_triples=None,
            contradictory_triples=None,
            median_seconds=None,
            raters=(),
            rounds=None,
        )

    def with_names(self) -> Counted:
        """The same with pairs that know the names of the objects."""
        if self.pairs is None:
            return self
        return replace(self, pairs=replace(self.pairs, names=self.names))

    def among(self, names: Named, n: int) -> Counted:
        """The same counts among more objects."""
        at = positions(self.known_names, self.n_objects, names, n)
        if at is None and n == self.n_objects:
            return self
        return replace(
            self,
            first=moved(self.first, at, n),
            rest=moved(self.rest, at, n),
            near=None if self.near is None else moved(self.near, at, n),
            known_names=names,
            pairs=None if self.pairs is None else self.pairs.moved(at, n),
            classes=None if self.classes is None else self.classes.moved(at, n),
        )


def counted(
    statements: StatementsLike,
    *,
    pairs: bool = False,
    labels: Mapping[str, str] | None = None,
) -> Counted:
    """The counts of statements in memory: per object, and of pairs and classes where wanted.

    Examples
    --------
    >>> counted([[0, 1, 2], [0, 1, 3]]).central.singled.tolist()
    [2, 0, 0, 0]
    """
    S = as_statements(statements, "central")
    if not isinstance(pairs, bool):
        raise wrong("pairs", pairs, "True or False")
    y, class_names = (None, ()) if labels is None else classes_of(S.names, labels)
    return counted_under(S, pairs, y, class_names)


def counted_under(
    S: Statements,
    pairs: bool,
    y: Int32Array | None,
    class_names: tuple[str, ...],
    n_threads: int | None = None,
) -> Counted:
    """The same with the class of each object, where these are wanted."""
    return replace(
        Counted.of_places(S.kind, len(S), count_places(S), S._names),
        clustered=S.raters is not None or S.questions is not None,
        pairs=count_pairs(S, n_threads) if pairs else None,
        classes=None if y is None else count_classes(S, y, len(class_names), n_threads),
        class_names=class_names,
    )


def classes_of(
    names: Sequence[str], labels: Mapping[str, str]
) -> tuple[Int32Array, tuple[str, ...]]:
    """The class of each object, -1 where it has none, and the names of the classes."""
    if not isinstance(labels, Mapping):
        raise wrong("labels", labels, "a dict of names and labels")
    classes = tuple(sorted({str(label) for label in labels.values()}))
    number = {label: i for i, label in enumerate(classes)}
    of_object = [number[str(labels[name])] if name in labels else -1 for name in names]
    y = np.array(of_object, dtype=np.int32)
    if not classes or (y < 0).all():
        raise LabelError(
            "none of the objects has a label; check that the names are the same", parameter="labels"
        )
    return y, classes
