"""Lens depth on a GPU: the same integers as the definition, and how long they take.

    python benchmarks/bench_exact_gpu.py [--quick] [--points N ...]

Needs numpy, CuPy and a GPU and nothing else: the file with the kernels is loaded by its path.
Beside it, in the same run, stands a plain kernel that compares the ranks of both rows of a pair.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
PLAIN = r"""
// sizes of lenses, 64 x 64 pairs a block, 4 x 4 a thread, the ranks of 32 columns at a time
extern "C" __global__ void plain(const unsigned short* R, int n, unsigned long long* sums)
{
    __shared__ int a[32][65], b[32][65];
    int i0 = blockIdx.y * 64, j0 = blockIdx.x * 64, t = threadIdx.x, ty = t / 16, tx = t % 16;
    if (i0 > j0) return;
    int cut_i[4][4], cut_j[4][4], size[4][4];
    for (int p = 0; p < 4; ++p)
        for (int q = 0; q < 4; ++q) {
            int i = i0 + ty + 16 * p, j = j0 + tx + 16 * q;
            bool pair = i < j && j < n;
            cut_i[p][q] = pair ? R[(size_t)i * n + j] : 0;
            cut_j[p][q] = pair ? R[(size_t)j * n + i] : 0;
            size[p][q] = 0;
        }
    for (int k0 = 0; k0 < n; k0 += 32) {
        __syncthreads();
        for (int e = t; e < 2048; e += 256) {
            int row = e / 32, k = e % 32;
            bool real = k0 + k < n;
            a[k][row] = real && i0 + row < n ? R[(size_t)(i0 + row) * n + k0 + k] : 1 << 20;
            b[k][row] = real && j0 + row < n ? R[(size_t)(j0 + row) * n + k0 + k] : 1 << 20;
        }
        __syncthreads();
        #pragma unroll 4
        for (int k = 0; k < 32; ++k)
            for (int p = 0; p < 4; ++p)
                for (int q = 0; q < 4; ++q)
                    size[p][q] += a[k][ty + 16 * p] < cut_i[p][q]
                        && b[k][tx + 16 * q] < cut_j[p][q];
    }
    for (int p = 0; p < 4; ++p)
        for (int q = 0; q < 4; ++q)
            if (size[p][q]) {
                atomicAdd(&sums[i0 + ty + 16 * p], (unsigned long long)size[p][q]);
                atomicAdd(&sums[j0 + tx + 16 * q], (unsigned long long)size[p][q]);
            }
}

// the definition: pairs i < j with max(d(x, i), d(x, j)) < d(i, j)
__device__ double gap(const double* X, int n, int d, int i, int j)
{
    double s = 0.0;
    for (int c = 0; c < d; ++c) {
        double x = fabs(__dsub_rn(X[(size_t)c * n + i], X[(size_t)c * n + j]));
        s = __dadd_rn(s, __dmul_rn(x, x));
    }
    return __dsqrt_rn(s);
}
extern "C" __global__ void define(const double* X, int n, int d, int x, unsigned long long* depth)
{
    unsigned long long mine = 0;
    for (int i = blockIdx.x; i < n; i += gridDim.x) {
        double side = gap(X, n, d, x, i);
        for (int j = i + 1 + threadIdx.x; j < n; j += blockDim.x) {
            double longest = gap(X, n, d, i, j);
            mine += side < longest && gap(X, n, d, x, j) < longest;
        }
    }
    atomicAdd(depth, mine);
}
"""


def load() -> Any:
    """The file with the kernels, without the package around it."""
    path = HERE.parent / "src" / "trilens" / "exact" / "_cuda.py"
    spec = importlib.util.spec_from_file_location("trilens_exact_cuda", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def distances(X: np.ndarray, metric: str = "euclidean") -> np.ndarray:
    """Coordinate by coordinate, as scipy does it."""
    s = np.zeros((len(X), len(X)))
    for c in X.T:
        x = np.abs(c[:, None] - c[None, :])
        if metric == "chebyshev":
            s = np.maximum(s, x)
        else:
            s += x if metric == "cityblock" else x * x
    return np.sqrt(s) if metric == "euclidean" else s


def definition(D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of the lenses and depth by the definition."""
    n = len(D)
    sizes, depth = np.zeros((n, n), np.int64), np.zeros(n, np.int64)
    for i in range(n):
        side = D[i][:, None]
        lens = (D[i] < side) & (side > D)
        sizes[i] = lens.sum(axis=1)
        depth += lens[i + 1 :].sum(axis=0)
    return sizes, depth


def check(cuda: Any, device: Any) -> None:
    """Bit for bit the definition, ties, duplicates and few objects among the inputs."""
    rng = np.random.default_rng(0)
    points = {f"{n} normal points": rng.normal(size=(n, 3)) for n in (1, 2, 3, 4, 191, 192, 193)}
    points |= {f"{n} points in 20 dimensions": rng.normal(size=(n, 20)) for n in (500, 1100)}
    points["lattice"] = rng.integers(0, 8, size=(600, 2)).astype(float)
    points["duplicates"] = rng.normal(size=(150, 2))[rng.integers(0, 150, 400)]
    points["one place"] = np.zeros((300, 2))
    points["one far out"] = np.r_[rng.normal(size=(299, 2)), [[1e9, 1e9]]]
    matrices = {
        f"{name}, {metric}": (distances(X, metric), X, metric)
        for name, X in points.items()
        for metric in (cuda.METRICS if len(X) == 600 else ["euclidean"])
    }
    large = np.triu(2**60 + rng.integers(0, 3, size=(250, 250)), 1)
    matrices["integers beyond the floats"] = (large + large.T, None, "")
    paths = np.triu(rng.integers(1, 6, size=(700, 700)).astype(np.uint8), 1)
    matrices["bytes"] = (paths + paths.T, None, "")
    for name, (D, X, metric) in matrices.items():
        sizes, depth = definition(D)
        n = len(D)
        sources = [cuda.Rows(device, D=D)]
        if X is not None:
            sources.append(cuda.Rows(device, points=X, metric=metric))
        for source in sources:
            for counts in (False, True):
                found, lenses = cuda.lens_sums(device, source, counts=counts)
                assert np.array_equal(found, depth), name
                assert not counts or np.array_equal(lenses, sizes), name
        for sub, slab, rank in ((64, 192, 4), (32, 384, 2), (16, 192, 2)):
            if n > 3:
                width = -(-n // 2048) * 64
                cut = cuda.Plan(n, width, rank, slab, 2, sub, 192, 7)
                found, lenses = cuda.lens_sums(device, sources[-1], counts=True, cut=cut)
                assert np.array_equal(found, depth), (name, cut)
                assert np.array_equal(lenses, sizes), (name, cut)
        print(f"  equal: {name}, {n} objects", flush=True)


def timing_device(cuda: Any) -> tuple[Any, dict[str, list[Any]]]:
    """A device that notes events around every launch."""
    import cupy

    noted: dict[str, list[Any]] = defaultdict(list)

    class Timed(cuda.Device):  # type: ignore[name-defined, misc]
        def functions(self, p: Any, counts: bool) -> Any:
            launch = super().functions(p, counts)

            def timed(name: str, *arguments: Any, **options: Any) -> None:
                begin, end = cupy.cuda.Event(), cupy.cuda.Event()
                begin.record()
                launch(name, *arguments, **options)
                end.record()
                noted[name].append((begin, end))

            return timed

    return Timed(), noted


def measure(cuda: Any, n: int, repeats: int, plain: Any) -> None:
    import cupy

    device, noted = timing_device(cuda)
    X = np.random.default_rng(3).normal(size=(n, 2))
    best, depth = np.inf, None
    parts: dict[str, float] = {}
    for _ in range(repeats):
        noted.clear()
        source = cuda.Rows(device, points=X, metric="euclidean")
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        depth = cuda.lens_sums(device, source)[0]
        wall = time.perf_counter() - start
        now = {
            name: sum(cupy.cuda.get_elapsed_time(*pair) for pair in pairs) / 1000
            for name, pairs in noted.items()
        }
        if wall < best:
            best, parts = wall, now
    lenses = parts["cut_rows"] + parts["meet_rows"]
    triples = n * (n - 1) * (n - 2) / 6
    cut = cuda.plan(n, device.free, device.shared, device.processors)
    print(f"{n:,} points in the plane: {triples:.3g} triples; {cut}", flush=True)
    for name, seconds in sorted(parts.items()):
        print(f"  {name:<14} {seconds:9.4f} s", flush=True)
    print(f"  lens kernels   {lenses:9.4f} s  {triples / lenses:.3g} triples/s")
    print(f"  whole call     {best:9.4f} s", flush=True)
    if n <= 20_000:
        D = distances(X)
        order = np.argsort(D, axis=1)
        ranks = np.empty((n, n), np.uint16)
        np.put_along_axis(ranks, order, np.arange(n, dtype=np.uint16)[None, :], axis=1)
        R = cupy.asarray(ranks)
        seconds = []
        for _ in range(3):
            sums = cupy.zeros(n, np.uint64)
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record()
            side = -(-n // 64)
            plain.get_function("plain")((side, side), (256,), (R, np.int32(n), sums))
            end.record()
            end.synchronize()
            seconds.append(cupy.cuda.get_elapsed_time(begin, end) / 1000)
        same = np.array_equal((n - 1) * (n - 2) // 2 - sums.get().astype(np.int64), depth)
        print(
            f"  plain kernel over 16-bit ranks {min(seconds):9.4f} s, {min(seconds) / lenses:.2f} x"
        )
        print(f"  the plain kernel's depths are the same: {same}", flush=True)
        start = time.perf_counter()
        sizes = cuda.lens_sums(device, cuda.Rows(device, points=X, metric="euclidean"), counts=True)
        print(f"  depth and all sizes, whole call {time.perf_counter() - start:9.4f} s", flush=True)
        derived = (n - 1) * (n - 2) // 2 - sizes[1].sum(axis=1, dtype=np.int64)
        print(f"  sizes agree with the depths: {np.array_equal(derived, depth)}")
    on_device = cupy.asarray(np.ascontiguousarray(X.T))
    wrong = 0
    some = np.random.default_rng(4).choice(n, 8, replace=False)
    for x in some:
        answer = cupy.zeros(1, np.uint64)
        arguments = (on_device, np.int32(n), np.int32(2), np.int32(x), answer)
        plain.get_function("define")((2048,), (256,), arguments)
        wrong += int(answer.get()[0]) != int(depth[x])
    print(f"  {len(some)} of them by the definition on the device: {wrong} differ", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="checks and 8638 points only")
    parser.add_argument("--points", type=int, nargs="*", default=None)
    options = parser.parse_args()
    cuda = load()
    try:
        device = cuda.Device()
    except cuda.CudaError as error:
        print(f"not measured: {error}")
        return
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(0)
    print(f"{properties['name'].decode()}, CuPy {cupy.__version__}, numpy {np.__version__}")
    start = time.perf_counter()
    plain = cupy.RawModule(code=PLAIN)
    check(cuda, device)
    print(f"  all equal, compiling included {time.perf_counter() - start:.1f} s", flush=True)
    sizes = options.points or ([8638] if options.quick else [8638, 20_000, 100_000])
    for n in sizes:
        measure(cuda, n, 1 if n > 30_000 else 4, plain)


if __name__ == "__main__":
    main()
