"""Lens depth and lens sizes on an NVIDIA GPU, by CuPy: plan the tiles, launch the kernels.

Depth follows from sums of lens sizes. Every triple that holds an object x has x opposite its
strictly longest side (it adds to the depth of x), or x at an end of that side (it adds to the
size of a lens of x), or no strictly longest side at all. So

    LD(x) = (n - 1)(n - 2)/2 - sum_j N(x, j) - U(x),

with U(x) the triples of x that ties leave undecided, which `tied_triples` lists.

This file needs numpy and CuPy and nothing else of trilens, so that it can be run by itself on a
machine that has only those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

#: Rows of a tile and words of a chunk of columns, as in ``_lenses.cu``.
TILE = 192
CHUNK_WORDS = 64
_ROWS = 64
#: Bytes of the planes of one batch at most: they pass through the memory once.
_BATCH_BYTES = 4 << 30
#: Metrics whose numbers the device computes as scipy does, bit for bit.
METRICS = {"euclidean": 0, "sqeuclidean": 1, "cityblock": 2, "chebyshev": 3}


class CudaError(RuntimeError):
    """No GPU to be had, or it failed; the text says in one line which."""


class NoCupyError(CudaError):
    """CuPy is not installed."""


@dataclass(frozen=True)
class Plan:
    """How n objects are cut so that a device holds the pieces."""

    n: int
    #: Words of 32 columns in a row of planes, a multiple of CHUNK_WORDS.
    width: int
    #: 2 while ranks fit in 16 bits, otherwise 4.
    rank_bytes: int
    #: Rows whose ranks are held at once, a multiple of TILE; all, or two slabs at a time.
    slab: int
    #: Tiles whose planes are made at once.
    batch: int
    #: Rows j of a block of threads.
    sub: int
    #: Rows ranked at once.
    rows: int
    #: Blocks that rank, each with a scratch row of its own.
    blocks: int

    @property
    def n_slabs(self) -> int:
        """Slabs of rows."""
        return max(1, -(-self.n // self.slab))

    @property
    def bytes(self) -> int:
        """Device memory that the plan asks for, in bytes."""
        return (
            min(2, self.n_slabs) * self.slab * self.n * self.rank_bytes
            + self.batch * _batch_bytes(self.width)
            + self.rows * self.n * 8
            + self.blocks * self.n * 12
            + self.n * 40
        )


def _batch_bytes(width: int) -> int:
    """Planes and cuts of one tile against another, both sides."""
    return 2 * (TILE * width * 32 + TILE * TILE)


def plan(
    n: int, free: int, shared: int = 232_448, processors: int = 132, *, counts: bool = False
) -> Plan:
    """Cut n objects for a device with so much free memory and shared memory per block.

    >>> plan(8638, 140 << 30).n_slabs
    1
    >>> plan(100_000, 16 << 30).n_slabs
    9
    """
    width = max(1, -(-n // (32 * CHUNK_WORDS))) * CHUNK_WORDS
    rank_bytes = 2 if n <= 65_535 else 4
    sub = next((s for s in (64, 32, 16) if _shared_bytes(s, counts) <= shared), 0)
    if sub == 0 or 8 * (n // 32 + 1) > shared:
        raise CudaError(
            f"the GPU has {shared:,} bytes of shared memory for a block of threads, too few for "
            f"{n:,} objects; use device='cpu'"
        )
    tiles = max(1, -(-n // TILE))
    room = int(0.92 * free)
    if counts:
        room -= 4 * n * n
    batch = min(tiles, max(1, min(_BATCH_BYTES, room // 4) // _batch_bytes(width)))
    rows = min(tiles * TILE, max(TILE, (min(2 << 30, room // 8) // (8 * max(n, 1))) // TILE * TILE))
    blocks = max(1, min(rows, 4 * processors, (room // 16) // (12 * max(n, 1))))
    whole = Plan(n, width, rank_bytes, tiles * TILE, batch, sub, rows, blocks)
    if whole.bytes <= room:
        return whole
    left = room - (whole.bytes - tiles * TILE * n * rank_bytes)
    slab = left // (2 * n * rank_bytes) // TILE * TILE
    if slab < TILE:
        raise CudaError(
            f"the GPU has {free / 2**30:.1f} GiB free, too little for {n:,} objects; "
            "use device='cpu'"
        )
    return Plan(n, width, rank_bytes, int(slab), batch, sub, rows, blocks)


def _shared_bytes(sub: int, counts: bool) -> int:
    return sub * 2 * 64 * 16 + sub * _ROWS * 16 + sub * 4 + (sub * _ROWS * 4 if counts else 0)


def order_keys(D: Any) -> Any:
    """Unsigned 64-bit keys that sort as the numbers do; D is finite and not negative."""
    if D.dtype.kind in "iu":
        return D.astype(np.uint64)
    # the bits of floats that are not negative sort as they do, once -0.0 is 0.0
    return np.ascontiguousarray(np.abs(D.astype(np.float64))).view(np.uint64)


class Device:
    """One GPU with the kernels compiled for it; tests give other arrays and kernels."""

    def __init__(self, arrays: Any = None, module: Callable[..., Any] | None = None) -> None:
        if arrays is None:
            arrays, self.free, self.shared, self.processors = _open_cuda()
            self.module = self._compile
        else:
            self.free, self.shared, self.processors = 1 << 30, 232_448, 2
            assert module is not None
            self.module = module
        self.xp = arrays
        self._functions: dict[tuple[str, ...], Any] = {}

    def _compile(self, options: tuple[str, ...]) -> Any:
        source = Path(__file__).with_name("_lenses.cu").read_text(encoding="utf-8")
        return self.xp.RawModule(code=source, options=("-std=c++17", *options))

    def functions(self, p: Plan, counts: bool) -> Callable[..., None]:
        """The kernels for a plan: ``launch(name, grid, threads, *arguments, shared=0)``."""
        rank = "unsigned short" if p.rank_bytes == 2 else "unsigned int"
        options = (f"-DRANK={rank}", f"-DSUB={p.sub}", *(["-DCOUNTS"] if counts else []))
        if options not in self._functions:
            self._functions[options] = self.module(options)
        module = self._functions[options]

        def launch(
            name: str, grid: tuple[int, ...], threads: int, *arguments: Any, shared: int = 0
        ) -> None:
            function = module.get_function(name)
            if shared > 48 << 10:
                function.max_dynamic_shared_size_bytes = shared
            function(grid, (threads,), arguments, shared_mem=shared)

        return launch

    def wait(self) -> None:
        """Until all that was launched is done, so that an interrupt finds the device idle."""
        if hasattr(self.xp, "cuda"):
            self.xp.cuda.get_current_stream().synchronize()


class Rows:
    """Rows of a dissimilarity matrix as keys on the device, made when they are asked for.

    Parameters
    ----------
    D : (n, n) array, memory map, or what has its length and slices, optional
        On the host: uploaded a piece at a time.
    points : (n, d) array, optional
        With ``metric`` one of METRICS: computed on the device.
    """

    def __init__(self, device: Device, D: Any = None, points: Any = None, metric: str = "") -> None:
        self.device = device
        self.D = D
        self.n = len(D if points is None else points)
        if points is not None:
            self.metric = METRICS[metric]
            host = np.ascontiguousarray(np.asarray(points, np.float64).T)
            self.points = device.xp.asarray(host)

    def keys(self, first: int, stop: int, out: Any, launch: Callable[..., None]) -> None:
        """Write the keys of some rows into ``out`` (stop - first, n)."""
        xp, n = self.device.xp, self.n
        if self.D is not None:
            out[: stop - first] = xp.asarray(order_keys(self.D[first:stop]))
            return
        for at in range(first, stop, 32_768):
            rows = min(stop - at, 32_768)
            launch(
                "point_keys",
                (-(-n // 256), rows),
                256,
                self.points,
                np.int32(n),
                np.int32(len(self.points)),
                np.int32(self.metric),
                np.int32(at),
                out[at - first :],
            )


def lens_sums(
    device: Device,
    source: Rows,
    *,
    counts: bool = False,
    cut: Plan | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Any, Any]:
    """Lens depth of all objects, and the size of every lens where ``counts`` asks, on the host."""
    xp, n = device.xp, source.n
    if n < 3:
        return np.zeros(n, np.int64), np.zeros((n, n) if counts else (0, 0), np.int32)
    p = cut or plan(n, device.free, device.shared, device.processors, counts=counts)
    launch = device.functions(p, counts)
    work = _Work(device, source, p, launch, counts)
    total, done = p.n_slabs * (p.n_slabs + 1) / 2, 0
    with _freed(xp):
        for a in range(p.n_slabs):
            work.rank(a, 0)
            for b in range(a, p.n_slabs):
                if b > a:
                    work.rank(b, 1)

                def tell(share: float, before: int = done) -> None:
                    if progress is not None:
                        progress((before + share) / total)

                work.meet(a, b, tell)
                work.settle_ties(a, b)
                done += 1
        return work.depth(), work.sizes()


@contextmanager
def _freed(xp: Any) -> Iterator[None]:
    """Give the memory back to the device, also after an interrupt."""
    try:
        yield
    finally:
        if hasattr(xp, "get_default_memory_pool"):
            xp.get_default_memory_pool().free_all_blocks()


class _Work:
    """The arrays of one computation on the device, and its steps."""

    def __init__(
        self, device: Device, source: Rows, p: Plan, launch: Callable[..., None], counts: bool
    ) -> None:
        xp, n = device.xp, p.n
        self.device, self.source, self.plan, self.launch = device, source, p, launch
        kind = np.uint16 if p.rank_bytes == 2 else np.uint32
        two = range(min(2, p.n_slabs))
        self.ranks = [xp.empty((min(p.slab, n), n), kind) for _ in two]
        self.tied = [xp.zeros(min(p.slab, n), np.int32) for _ in two]
        self.any_tied = [False, False]
        self.keys = xp.empty((min(p.rows, n), n), np.uint64)
        self.scratch = xp.empty((p.blocks, n), np.uint64)
        self.who = xp.empty((p.blocks, n), np.uint32)
        self.planes = [xp.empty((p.batch, TILE, 2, p.width, 4), np.uint32) for _ in range(2)]
        self.cuts = [xp.empty((p.batch, TILE, TILE), np.uint8) for _ in range(2)]
        self.sums, self.legs, self.tops = (xp.zeros(n, np.uint64) for _ in range(3))
        self.counts = xp.zeros((n, n) if counts else (1, 1), np.int32)
        self.want_counts = counts

    def _slab(self, s: int) -> tuple[int, int]:
        return s * self.plan.slab, min(self.plan.n, (s + 1) * self.plan.slab)

    def rank(self, s: int, place: int) -> None:
        """Rank the rows of slab s into one of the two places."""
        p, (first, stop) = self.plan, self._slab(s)
        n = np.int32(p.n)
        self.tied[place][:] = 0
        for at in range(first, stop, p.rows):
            end = min(stop, at + p.rows)
            self.source.keys(at, end, self.keys, self.launch)
            self.launch(
                "rank_rows",
                (min(p.blocks, end - at),),
                512,
                self.keys,
                np.int32(end - at),
                n,
                self.ranks[place][at - first :],
                self.tied[place][at - first :],
                self.scratch,
                self.who,
            )
            self.device.wait()
        self.any_tied[place] = bool(self.tied[place].any())

    def meet(self, a: int, b: int, tell: Callable[[float], None]) -> None:
        """Lenses of the pairs of slab a with slab b."""
        p = self.plan
        (a0, a1), (b0, b1) = self._slab(a), self._slab(b)
        other = 0 if a == b else 1
        n, width = np.int32(p.n), np.int32(p.width)
        marks = 8 * (-(-p.n // 32))
        step, still = np.int32(TILE), np.int32(0)
        pairs = [
            (j, i, min(p.batch, (min(a1, j + 1 if a == b else a1) - i + TILE - 1) // TILE))
            for j in range(b0, b1, TILE)
            for i in range(a0, min(a1, j + 1) if a == b else a1, TILE * p.batch)
        ]
        total, done = sum(size for _, _, size in pairs), 0
        for j, i, size in pairs:
            cut = (n, width)
            self.launch(
                "cut_rows",
                (TILE, size),
                256,
                *(self.ranks[0], np.int32(a0), *cut, np.int32(i), step, np.int32(j), still),
                *(self.planes[0], self.cuts[0]),
                shared=marks,
            )
            self.launch(
                "cut_rows",
                (TILE, size),
                256,
                *(self.ranks[other], np.int32(b0), *cut, np.int32(j), still, np.int32(i), step),
                *(self.planes[1], self.cuts[1]),
                shared=marks,
            )
            self.launch(
                "meet_rows",
                (TILE // _ROWS * (TILE // p.sub), size),
                512,
                *(self.planes[0], self.planes[1], self.cuts[0], self.cuts[1], *cut),
                *(np.int32(i), np.int32(j), self.sums, self.counts),
                shared=_shared_bytes(p.sub, self.want_counts),
            )
            self.device.wait()
            done += size
            tell(done / total)

    def settle_ties(self, a: int, b: int) -> None:
        """Count the triples that ties leave without a strictly longest side."""
        for apex, feet in {(a, b), (b, a)}:
            x, y = (0 if s == a else 1 for s in (apex, feet))
            if not self.any_tied[x]:
                continue
            (r0, r1), (f0, f1) = self._slab(apex), self._slab(feet)
            self.launch(
                "tied_triples",
                (min(self.plan.blocks, r1 - r0),),
                512,
                *(self.ranks[x], np.int32(r0), np.int32(r1 - r0), self.tied[x]),
                *(self.ranks[y], np.int32(f0), np.int32(f1 - f0), np.int32(self.plan.n)),
                *(self.scratch, self.who, self.legs, self.tops),
            )
            self.device.wait()

    def depth(self) -> Any:
        """Lens depth on the host."""
        n = self.plan.n
        sums, legs, tops = (
            self._host(x).astype(np.int64) for x in (self.sums, self.legs, self.tops)
        )
        return (n - 1) * (n - 2) // 2 - sums - (legs + tops // 2) // 3

    def sizes(self) -> Any:
        """Sizes of the lenses on the host."""
        return self._host(self.counts) if self.want_counts else np.zeros((0, 0), np.int32)

    def _host(self, x: Any) -> Any:
        return self.device.xp.asnumpy(x) if hasattr(self.device.xp, "asnumpy") else x


def _open_cuda() -> tuple[Any, int, int, int]:
    """CuPy and the free memory, shared memory per block and processors of its GPU."""
    cupy = load_cupy()
    try:
        free = cupy.cuda.runtime.memGetInfo()[0]
        facts = cupy.cuda.Device().attributes
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise _unusable(error) from None
    shared = facts["MaxSharedMemoryPerBlockOptin"]
    return cupy, int(free), int(shared), int(facts["MultiProcessorCount"])


def load_cupy(number: int = 0) -> Any:
    """CuPy, on a machine that has the GPU of this number; or the line that says what is missing."""
    try:
        import cupy
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "cupy":
            raise NoCupyError("CuPy is not installed: pip install 'trilens[gpu]'") from None
        raise CudaError(
            f"CuPy cannot be loaded ({one_line(error)}): pip install 'trilens[gpu]'"
        ) from None
    try:
        many = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise _unusable(error) from None
    if many < 1:
        raise CudaError("CuPy finds no GPU; use device='cpu'")
    if number >= many:
        have = "GPU, which is 'cuda:0'" if many == 1 else f"GPUs, up to 'cuda:{many - 1}'"
        raise CudaError(f"there is no GPU 'cuda:{number}': this machine has {many} {have}")
    return cupy


def _unusable(error: Exception) -> CudaError:
    return CudaError(f"no GPU can be used ({one_line(error)}); use device='cpu'")


def one_line(error: BaseException) -> str:
    """What an error says, in one line of at most 200 characters."""
    return " ".join(str(error).split())[:200]
