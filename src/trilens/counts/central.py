"""Counts per object: how often it was singled out, and how often it appeared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._typing import Int32Array, IntArray
from trilens.counts._add import require_same_kind, require_same_shape
from trilens.counts._threads import in_threads, is_small, resolve_threads, split
from trilens.statements import Kind, StatementsLike, as_statements


@dataclass(frozen=True, eq=False)
class CentralCounts:
    """N and D of the paper's Algorithm 1; ``+`` merges.

    Attributes
    ----------
    singled : (n,) int64
        Statements in which the object was singled out: as the most central (``central``), as
        the odd one (``odd``) or as the nearer one (``closer``).
    appears : (n,) int64
        Statements in which it could have been: those that name the object, for ``closer``
        not as the anchor.
    kind : {"central", "odd", "closer"}
    """

    singled: IntArray
    appears: IntArray
    kind: Kind = "central"

    @property
    def n_objects(self) -> int:
        """The number of objects."""
        return len(self.appears)

    def __add__(self, other: CentralCounts) -> CentralCounts:
        if not isinstance(other, CentralCounts):
            return NotImplemented
        require_same_kind(self.kind, other.kind)
        require_same_shape(self.appears.shape, other.appears.shape)
        return CentralCounts(self.singled + other.singled, self.appears + other.appears, self.kind)

    def __radd__(self, other: int) -> CentralCounts:
        return self if other == 0 else NotImplemented  # what sum() starts with


def count_central(statements: StatementsLike, n_threads: int | None = None) -> CentralCounts:
    """How often each object was singled out, and how often it could have been (Algorithm 1).

    Parameters
    ----------
    statements : Statements or (m, 3) array of int
    n_threads : int, optional
        By default one per core that this process may use.

    Returns
    -------
    CentralCounts

    Examples
    --------
    >>> counts = count_central([[0, 1, 2], [0, 1, 3], [2, 0, 3]])
    >>> counts.singled.tolist(), counts.appears.tolist()
    ([2, 0, 1, 0], [3, 2, 2, 2])
    """
    S = as_statements(statements)
    n = S.n_objects
    threads = resolve_threads(n_threads, len(S), n)
    if is_small(len(S)):
        # the anchor of a similarity triplet takes no part in the comparison
        singled = 1 if S.kind == "closer" else 0
        first = np.bincount(S.triples[:, singled], minlength=n)
        rest = np.bincount(S.triples[:, singled + 1 :].ravel(), minlength=n)
    else:
        first, rest = _count(S.triples, n, S.kind, threads)
    return CentralCounts(first.astype(np.int64), (first + rest).astype(np.int64), S.kind)


def _count(triples: Int32Array, n: int, kind: Kind, n_threads: int) -> tuple[IntArray, IntArray]:
    from trilens.counts import _kernels

    ranges = split(0, len(triples), n_threads)
    kernel = _kernels.nearer if kind == "closer" else _kernels.central

    def work(part: int) -> IntArray:
        return kernel(triples[ranges[part]], n)

    total = sum(in_threads(work, n_threads), start=np.zeros((2, n), dtype=np.int64))
    return total[0], total[1]
