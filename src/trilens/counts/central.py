"""Counts per object: how often it was singled out, and how often it appeared."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np

from trilens._typing import Int32Array, IntArray
from trilens.counts._add import require_same_kind, require_same_shape
from trilens.counts._align import listed, moved, positions, union
from trilens.counts._threads import in_threads, is_small, resolve_threads, split
from trilens.errors import ParameterError
from trilens.statements import Kind, StatementsLike, as_statements

PathLike: TypeAlias = str | os.PathLike[str]


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
    names : tuple of str, optional
        Of the objects, where they are known.
    """

    singled: IntArray
    appears: IntArray
    kind: Kind = "central"
    names: tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def n_objects(self) -> int:
        """The number of objects."""
        return len(self.appears)

    def __add__(self, other: CentralCounts) -> CentralCounts:
        if not isinstance(other, CentralCounts):
            return NotImplemented
        require_same_kind(self.kind, other.kind)
        names, a, b = aligned(self, other)
        return CentralCounts(a.singled + b.singled, a.appears + b.appears, self.kind, names)

    def __radd__(self, other: int) -> CentralCounts:
        return self if other == 0 else NotImplemented  # what sum() starts with


def aligned(
    a: CentralCounts, b: CentralCounts
) -> tuple[tuple[str, ...] | None, CentralCounts, CentralCounts]:
    """Both over the same objects: by name where both know the names, else they must agree."""
    if a.names is None or b.names is None or a.names == b.names:
        require_same_shape(a.appears.shape, b.appears.shape)
        return a.names or b.names, a, b
    names, n = union(a.names, a.n_objects, b.names, b.n_objects)
    known = tuple(listed(names, n))
    both = []
    for one in (a, b):
        at = positions(one.names, one.n_objects, known, n)
        both.append(CentralCounts(moved(one.singled, at, n), moved(one.appears, at, n), one.kind))
    return known, both[0], both[1]


def is_path(source: Any) -> TypeGuard[PathLike | list[PathLike]]:
    """Whether something names files: a path, or a list of them."""
    if isinstance(source, list | tuple) and len(source):
        return all(isinstance(one, str | os.PathLike) for one in source)
    return isinstance(source, str | os.PathLike)


def count_central(
    statements: StatementsLike | PathLike, n_threads: int | None = None, *, cluster: Any = None
) -> CentralCounts:
    """How often each object was singled out, and how often it could have been (Algorithm 1).

    Parameters
    ----------
    statements : Statements, (m, 3) array of int, or path
        A file, a folder, a pattern or a URL is counted as it is read, in little memory;
        `count_files` has more options.
    n_threads : int, optional
        By default one per core that this process may use.
    cluster : str or Dask client, optional
        Where files are counted: ``"local:2"`` for two processes, ``"tcp://..."`` for a Dask
        scheduler; by default threads of this process.

    Returns
    -------
    CentralCounts

    Examples
    --------
    >>> counts = count_central([[0, 1, 2], [0, 1, 3], [2, 0, 3]])
    >>> counts.singled.tolist(), counts.appears.tolist()
    ([2, 0, 1, 0], [3, 2, 2, 2])
    """
    if is_path(statements):
        from trilens.counts import count_files

        return count_files(statements, n_threads=n_threads, cluster=cluster).central
    if cluster is not None:
        raise ParameterError("a cluster counts files; statements in memory are counted here")
    S = as_statements(cast(StatementsLike, statements))
    n = S.n_objects
    threads = resolve_threads(n_threads, len(S), n)
    if is_small(len(S)):
        # the anchor of a similarity triplet takes no part in the comparison
        singled = 1 if S.kind == "closer" else 0
        first = np.bincount(S.triples[:, singled], minlength=n)
        rest = np.bincount(S.triples[:, singled + 1 :].ravel(), minlength=n)
    else:
        first, rest = _count(S.triples, n, S.kind, threads)
    return CentralCounts(first.astype(np.int64), (first + rest).astype(np.int64), S.kind, S._names)


def _count(triples: Int32Array, n: int, kind: Kind, n_threads: int) -> tuple[IntArray, IntArray]:
    from trilens.counts import _kernels

    ranges = split(0, len(triples), n_threads)
    kernel = _kernels.nearer if kind == "closer" else _kernels.central

    def work(part: int) -> IntArray:
        return kernel(triples[ranges[part]], n)

    total = sum(in_threads(work, n_threads), start=np.zeros((2, n), dtype=np.int64))
    return total[0], total[1]
