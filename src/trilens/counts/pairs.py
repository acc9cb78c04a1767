"""Counts per pair of objects: how often it was compared, and by which third object."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from trilens import kinds
from trilens._parameters import one_of
from trilens._typing import AnyArray, Int32Array, IntArray
from trilens.counts._merge import Summable, add_cells, aligned, cell_dtype, moved_cells, sum_dtype
from trilens.counts._threads import in_threads, is_small, resolve_threads, split
from trilens.counts.central import PathLike, held_or_counted
from trilens.statements import Kind, Statements, StatementsLike

if TYPE_CHECKING:
    from trilens.answers import Answers

#: An ``ndarray`` or a ``scipy.sparse.csr_array``; scipy is imported where it is used.
Cells: TypeAlias = Any
Layout: TypeAlias = Literal["auto", "dense", "sparse"]

#: Up to so many objects the matrices are always dense: 128 MiB for both.
_DENSE_OBJECTS = 4096
#: Statements dealt out to tiles at a time; the keys take 6 bytes for each.
_BATCH = 1 << 25


@dataclass(frozen=True, eq=False)
class PairCounts(Summable):
    """N and D of the paper's Algorithm 5, for every kind of statements; ``+`` merges.

    Both matrices are symmetric with an empty diagonal, and both are dense or both sparse
    (``scipy.sparse.csr_array`` with sorted columns and without stored zeros).

    Attributes
    ----------
    third : (n, n) ndarray or csr_array
        Statements that compare the pair and single out the third object: as the most central
        (``central``), as the odd one (``odd``), as the farther one (``closer``).
    appears : (n, n) ndarray or csr_array
        Statements that compare the pair. A ``central`` or ``odd`` statement compares its three
        pairs, a ``closer`` one the two pairs with its anchor.
    kind : {"central", "odd", "closer"}
    names : tuple of str, optional
        Of the objects, where they are known.

    Notes
    -----
    A statement adds at most 1 to a cell, so cells are ``int32`` for fewer than 2**31
    statements. ``+`` goes over to ``int64`` where the largest cells of the two could add up to
    more. Adding a dense and a sparse count gives a dense one.
    """

    third: Cells
    appears: Cells
    kind: Kind = "central"
    names: tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def n_objects(self) -> int:
        """The number of objects."""
        return int(self.appears.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether the matrices are sparse."""
        return not isinstance(self.appears, np.ndarray)

    def to_dense(self) -> PairCounts:
        """The same counts in two ``ndarray``."""
        if not self.is_sparse:
            return self
        return PairCounts(self.third.toarray(), self.appears.toarray(), self.kind, self.names)

    def third_where_asked(self) -> AnyArray:
        """``third`` at each stored entry of a sparse ``appears``, in the order of its data."""
        n = np.int64(self.n_objects)
        asked, some = self.appears.tocoo(), self.third.tocoo()
        found = np.zeros(asked.nnz, dtype=some.dtype)
        # every pair that was singled out was asked about, and both are sorted by row and column
        at = asked.row.astype(np.int64) * n + asked.col
        found[np.searchsorted(at, some.row.astype(np.int64) * n + some.col)] = some.data
        return found

    def __add__(self, other: PairCounts) -> PairCounts:
        if not isinstance(other, PairCounts):
            return NotImplemented
        a, b = aligned(self, other)
        third, appears = _add(a.third, b.third), _add(a.appears, b.appears)
        return PairCounts(third, appears, self.kind, a.names or b.names)

    def moved(
        self, at: IntArray | None, n: int, names: tuple[str, ...] | None = None
    ) -> PairCounts:
        """The same counts at other places among ``n`` objects."""
        third, appears = (moved_cells(cells, at, n) for cells in (self.third, self.appears))
        return PairCounts(third, appears, self.kind, names)


def _add(a: Cells, b: Cells) -> Cells:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return add_cells(a, b)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        dense, sparse = (a, b) if isinstance(a, np.ndarray) else (b, a)
        total = dense.astype(sum_dtype(dense, sparse.data))
        cells = sparse.tocoo()
        total[cells.row, cells.col] += cells.data
        return total
    dtype = sum_dtype(a.data, b.data)
    return a.astype(dtype, copy=False) + b.astype(dtype, copy=False)


def count_pairs(
    statements: StatementsLike | Answers | PathLike,
    n_threads: int | None = None,
    layout: Layout = "auto",
    *,
    cluster: Any = None,
) -> PairCounts:
    """How often each pair was compared, and how often the third object was singled out.

    Parameters
    ----------
    statements : Statements, (m, 3) array of int, Answers, or path
        Of any kind; an array holds ``central`` statements, as in the paper. A file, a folder, a
        pattern or a URL is counted as it is read, twice.
    n_threads : int, optional
        By default one per core that this process may use.
    layout : {"auto", "dense", "sparse"}
        ``auto`` is dense for up to 4096 objects, and beyond where n**2 <= 8 m: that is where
        two dense matrices (8 n**2 bytes) take no more than the sparse ones may (64 m bytes).
        Files are counted with ``auto``.
    cluster : str or Dask client, optional
        Where files are counted, as in `count_central`.

    Returns
    -------
    PairCounts

    Examples
    --------
    >>> pairs = count_pairs([[0, 1, 2], [0, 1, 2], [2, 0, 1]])
    >>> pairs.third.tolist()
    [[0, 1, 0], [1, 0, 2], [0, 2, 0]]
    >>> pairs.appears.tolist()
    [[0, 3, 3], [3, 0, 3], [3, 3, 0]]
    """
    one_of("layout", layout, get_args(Layout))
    S = held_or_counted(statements, pairs=True, n_threads=n_threads, cluster=cluster)
    if not isinstance(S, Statements):
        assert S.pairs is not None
        return S.pairs
    if layout == "auto":
        dense = S.n_objects <= _DENSE_OBJECTS or S.n_objects**2 <= 8 * len(S)
        layout = "dense" if dense else "sparse"
    threads = resolve_threads(n_threads, len(S), S.n_objects)
    if layout == "sparse":
        third, appears = _sparse(S)
    elif is_small(len(S)):
        third, appears = _dense_small(S)
    else:
        third, appears = _dense_tiles(S, threads)
    return PairCounts(third, appears, S.kind, S._names)


def _cells(S: Statements) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """The pairs compared, smaller id first, in order, and their third and appears."""
    chosen, *others = kinds.sides(S.kind, S.triples)
    keys = np.empty((1 + len(others), len(S)), dtype=np.uint64)
    # smaller id << 32 | larger id << 1 | whether the third object was singled out
    for key, (x, y) in zip(keys, [chosen, *others], strict=True):
        key[:] = np.minimum(x, y)
        key <<= np.uint64(31)
        key |= np.maximum(x, y).astype(np.uint64)
        key <<= np.uint64(1)
    keys[0] |= np.uint64(1)
    flat = keys.reshape(-1)
    flat.sort()
    pair = flat >> np.uint64(1)
    starts = np.flatnonzero(np.r_[np.ones(len(pair[:1]), dtype=bool), pair[1:] != pair[:-1]])
    low = (pair[starts] >> np.uint64(31)).astype(np.int32)
    high = (pair[starts] & np.uint64(0x7FFFFFFF)).astype(np.int32)
    dtype = cell_dtype(len(S))
    appears = np.diff(starts, append=len(pair)).astype(dtype)
    singled = (flat & np.uint64(1)).astype(dtype)
    third = np.add.reduceat(singled, starts, dtype=dtype) if len(starts) else singled
    return low, high, third, appears


def _dense_small(S: Statements) -> tuple[AnyArray, AnyArray]:
    low, high, third, appears = _cells(S)
    matrices = np.zeros((2, S.n_objects, S.n_objects), dtype=third.dtype)
    for matrix, values in zip(matrices, (third, appears), strict=True):
        matrix[low, high] = values
        matrix[high, low] = values
    return matrices[0], matrices[1]


def _sparse(S: Statements) -> tuple[Cells, Cells]:
    from scipy.sparse import coo_array

    low, high, third, appears = _cells(S)
    shape = (S.n_objects, S.n_objects)
    matrices = []
    for values in (third, appears):
        there = np.flatnonzero(values)
        row = np.concatenate([low[there], high[there]])
        column = np.concatenate([high[there], low[there]])
        data = np.concatenate([values[there], values[there]])
        matrix = coo_array((data, (row, column)), shape=shape).tocsr()
        matrix.sort_indices()
        matrices.append(matrix)
    return matrices[0], matrices[1]


def _dense_tiles(S: Statements, n_threads: int) -> tuple[AnyArray, AnyArray]:
    n, m = S.n_objects, len(S)
    third, appears = (np.zeros((n, n), dtype=cell_dtype(m)) for _ in range(2))
    for start in range(0, m, _BATCH):
        some = S.triples[start : start + _BATCH]
        _add_tiles(some, S.kind == "closer", n_threads, third, appears)
    _mirror(third)
    _mirror(appears)
    return third, appears


def _add_tiles(
    triples: Int32Array, closer: bool, n_threads: int, third: AnyArray, appears: AnyArray
) -> None:
    """Add statements to the upper triangles of two matrices, tile by tile."""
    from trilens.counts import _kernels

    n_side = -(-len(third) // _kernels.SIDE)
    n_lists = 2 * n_side**2
    ranges = split(0, len(triples), n_threads)
    most = -(-len(triples) // n_threads)
    # full blocks, and for each list one that is not full
    n_blocks = 3 * most // (1 << _kernels.LOG_BLOCK) + n_lists
    # memory is only taken for the blocks that are written to
    pool = np.empty((n_threads, n_blocks << _kernels.LOG_BLOCK), dtype=np.uint16)
    before = np.empty((n_threads, n_blocks), dtype=np.int32)
    end = np.zeros((n_threads, n_lists), dtype=np.uint32)

    def deal(part: int) -> None:
        ids = triples[ranges[part]].reshape(-1)
        _kernels.scatter(ids, n_side, closer, pool[part], end[part], before[part])

    def count(part: int) -> None:
        _kernels.gather(part, n_threads, n_side, pool, end, before, third, appears)

    in_threads(deal, range(n_threads))
    in_threads(count, range(n_threads))


def _mirror(matrix: AnyArray) -> None:
    """Copy the upper triangle to the lower one, by tiles that fit in the cache."""
    side = 256
    for at in range(0, len(matrix), side):
        rows = slice(at, at + side)
        matrix[rows, rows] += np.triu(matrix[rows, rows], 1).T
        for to in range(at + side, len(matrix), side):
            matrix[to : to + side, rows] = matrix[rows, to : to + side].T
