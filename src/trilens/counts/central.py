"""Counts per object: how often it was singled out, and how often it appeared."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, cast

import numpy as np

from trilens._parameters import thread_count
from trilens._typing import IntArray
from trilens.counts._merge import Summable, aligned, moved
from trilens.errors import ParameterError
from trilens.statements import Kind, Statements, StatementsLike, as_statements

if TYPE_CHECKING:
    from trilens.answers import Answers
    from trilens.counts.counted import Counted

PathLike: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class CentralCounts(Summable):
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
        a, b = aligned(self, other)
        singled, appears = a.singled + b.singled, a.appears + b.appears
        return CentralCounts(singled, appears, self.kind, a.names or b.names)

    def moved(self, at: IntArray | None, n: int, names: tuple[str, ...] | None) -> CentralCounts:
        """The same counts at other places among ``n`` objects."""
        singled, appears = moved(self.singled, at, n), moved(self.appears, at, n)
        return CentralCounts(singled, appears, self.kind, names)


def is_path(source: Any) -> TypeGuard[PathLike | list[PathLike]]:
    """Whether something names files: a path, or a list of them."""
    if isinstance(source, list | tuple) and len(source):
        return all(isinstance(one, str | os.PathLike) for one in source)
    return isinstance(source, str | os.PathLike)


def held_or_counted(
    given: StatementsLike | Answers | PathLike,
    *,
    pairs: bool,
    n_threads: int | None,
    cluster: Any,
) -> Statements | Counted:
    """Statements that are in memory, or the counts of what lies in files.

    Shares of answers to questions that earlier answers chose are biased: these do not count.
    """
    from_path = is_path(given)
    if from_path or hasattr(given, "in_counts"):
        from trilens.answers import Answers, read_or_count

        if from_path:
            return Answers(given).count(pairs=pairs, n_threads=n_threads, cluster=cluster)
        found = read_or_count(
            cast(Answers, given), enough=True, pairs=pairs, n_threads=n_threads, cluster=cluster
        )
        if not isinstance(found, Statements):
            return found
        given = found
    if cluster is not None:
        raise ParameterError(
            "only files are counted on a cluster; these statements are in memory",
            parameter="cluster",
        )
    return as_statements(cast(StatementsLike, given), "central").at_random()


def count_central(
    statements: StatementsLike | Answers | PathLike,
    n_threads: int | None = None,
    *,
    cluster: Any = None,
) -> CentralCounts:
    """How often each object was singled out, and how often it could have been (Algorithm 1).

    Parameters
    ----------
    statements : Statements, (m, 3) array of int, Answers, or path
        An array holds ``central`` statements, as in the paper. A file, a folder, a pattern or a
        URL is counted as it is read, in little memory; ``Answers(path).count()`` has more options.
    n_threads : int, optional
        That count files; by default one per core that this process may use.
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
    thread_count(n_threads)  # refuses what is no number of threads
    S = held_or_counted(statements, pairs=False, n_threads=n_threads, cluster=cluster)
    if not isinstance(S, Statements):
        return S.central
    first, second, third = count_places(S)
    if S.kind == "closer":  # the anchor takes no part in the comparison
        return CentralCounts(second, second + third, S.kind, S._names)
    return CentralCounts(first, first + second + third, S.kind, S._names)


def count_places(S: Statements) -> IntArray:
    """(3, n): how often each object stands first, second and third."""
    return np.stack([np.bincount(column, minlength=S.n_objects) for column in S.triples.T])
