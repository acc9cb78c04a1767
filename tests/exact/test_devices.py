"""The GPU path without a GPU: how the work is cut, what is launched, what is said on failure."""

from __future__ import annotations

import ast
import sys
import types
from importlib.util import spec_from_file_location

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from trilens import exact
from trilens.errors import DeviceError, MissingExtraError
from trilens.exact import _cuda, devices

import reference


@pytest.mark.parametrize("n", [3, 193, 65_535, 65_536, 400_000])
@pytest.mark.parametrize(("gib", "counts"), [(2, False), (8, True), (140, False), (140, True)])
def test_a_plan_fits_the_device(n, gib, counts):
    free = gib << 30
    if 4 * n * n * counts > 0.8 * free:
        # refused in one line where the answer itself does not fit
        with pytest.raises(_cuda.CudaError, match=r"^the GPU has .* GiB free, too little for"):
            _cuda.plan(n, free, counts=counts)
        return
    plan = _cuda.plan(n, free, counts=counts)
    assert plan.bytes + 4 * n * n * counts <= free
    assert plan.slab % _cuda.TILE == 0
    assert plan.n_slabs * plan.slab >= n
    assert 32 * plan.width >= n
    assert plan.width % _cuda.CHUNK_WORDS == 0
    assert 2 ** (8 * plan.rank_bytes) >= n
    assert _cuda._shared_bytes(plan.sub, counts) <= 232_448


def test_less_shared_memory_takes_fewer_rows():
    assert [_cuda.plan(1000, 1 << 33, kib << 10).sub for kib in (227, 99, 64)] == [64, 32, 16]
    with pytest.raises(_cuda.CudaError, match="shared memory"):
        _cuda.plan(1000, 1 << 33, 32_768)


class Kernels:
    """What the kernels do, in numpy, from the ranks that they are given."""

    def __init__(self, D):
        self.D, self.lenses = D, reference.lens_counts(D)
        self.launched = []

    def get_function(self, name):
        def call(grid, block, arguments, shared_mem=0):
            self.launched.append(name)
            getattr(self, name)(grid, *arguments)

        return call

    def rank_rows(self, grid, keys, rows, n, ranks, tied, binned, who):
        for row in range(rows):
            ranks[row] = (keys[row][None, :] < keys[row][:, None]).sum(axis=1)
            tied[row] = len(np.unique(keys[row])) < n

    def cut_rows(self, grid, *arguments):
        assert grid[0] == _cuda.TILE

    def meet_rows(self, grid, pi, pj, ci, cj, n, width, i0, j0, sums, counts):
        for tile in range(grid[1]):
            for i in range(i0 + tile * _cuda.TILE, min(n, i0 + (tile + 1) * _cuda.TILE)):
                for j in range(max(i + 1, j0), min(n, j0 + _cuda.TILE)):
                    sums[i] += np.uint64(self.lenses[i, j])
                    sums[j] += np.uint64(self.lenses[i, j])
                    if counts.shape[0] == n:
                        counts[i, j] += self.lenses[i, j]
                        counts[j, i] += self.lenses[i, j]

    def tied_triples(self, grid, apexes, r0, rows, tied, feet, a0, n_feet, n, *arrays):
        legs, tops = arrays[-2:]
        for row in range(rows):
            r = r0 + row
            for a in range(a0, a0 + n_feet):
                for b in range(n):
                    if len({r, a, b}) == 3 and apexes[row, a] == apexes[row, b]:
                        third, side = feet[a - a0, b], feet[a - a0, r]
                        weight = np.uint64(3 if third < side else int(third == side))
                        legs[a] += weight
                        tops[r] += weight


@pytest.mark.parametrize("slab", [192, 1920])
@pytest.mark.parametrize("tied", [False, True])
def test_every_pair_is_launched_once(slab, tied, monkeypatch):
    monkeypatch.setattr(_cuda, "TILE", 12)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(40, 2)) if tied else rng.normal(size=(40, 2))
    D = cdist(X, X)
    kernels = Kernels(D)
    device = _cuda.Device(np, lambda options: kernels)
    cut = _cuda.Plan(40, 64, 2, slab // 16, 2, 64, 12, 3)
    seen = []
    depth, sizes = _cuda.lens_sums(
        device, _cuda.Rows(device, D=D), counts=True, cut=cut, progress=seen.append
    )
    np.testing.assert_array_equal(depth, reference.exact_lens_depth(D))
    np.testing.assert_array_equal(sizes, kernels.lenses)
    assert ("tied_triples" in kernels.launched) == tied
    assert seen == sorted(seen)
    assert seen[-1] == 1


class CUDARuntimeError(RuntimeError):
    """CuPy's, for a driver that is missing or too old."""


def cupy_with(count):
    """CuPy on a machine with so many GPUs, or whose driver raises this."""

    def device_count():
        if isinstance(count, CUDARuntimeError):
            raise count
        return count

    runtime = types.SimpleNamespace(CUDARuntimeError=CUDARuntimeError, getDeviceCount=device_count)
    module = types.ModuleType("cupy")
    module.cuda = types.SimpleNamespace(runtime=runtime)  # type: ignore[attr-defined]
    return module


@pytest.mark.parametrize(
    ("cupy", "error", "message"),
    [
        (None, MissingExtraError, r"pip install 'trilens\[gpu\]'"),
        (cupy_with(0), DeviceError, r"finds no GPU.*device='cpu'"),
        (cupy_with(CUDARuntimeError("driver\nis too old")), DeviceError, r"driver is too old.*cpu"),
    ],
    ids=["no CuPy", "no GPU", "no driver"],
)
def test_without_a_gpu(cupy, error, message, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    devices._open.cache_clear()
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(error, match=message):
        exact.lens_depth(X, metric="euclidean", device="cuda", normalise=False)
    # otherwise the processor serves
    monkeypatch.setattr(devices, "FROM", 0)
    found = exact.lens_depth(X, metric="euclidean", device="auto", normalise=False)
    expected = exact.lens_depth(X, metric="euclidean", device="cpu", normalise=False)
    np.testing.assert_array_equal(found, expected)
    devices._open.cache_clear()


@pytest.mark.parametrize("fault", [MemoryError("full"), RuntimeError("the GPU\nis lost")])
def test_a_gpu_that_fails(fault, monkeypatch):
    """Asked for: one line. Otherwise the processor takes over. Never half the work."""
    tried = []

    def fail(*arguments, **options):
        tried.append(options["cut"].bytes)
        raise fault

    device = types.SimpleNamespace(free=1 << 30, shared=232_448, processors=2, xp=np)
    monkeypatch.setattr(devices, "_open", lambda: device)
    monkeypatch.setattr(devices, "FROM", 0)
    monkeypatch.setattr(_cuda, "lens_sums", fail)
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(DeviceError, match=r"device='cpu'$") as error:
        exact.lens_depth(X, metric="euclidean", device="cuda", normalise=False)
    assert "\n" not in str(error.value)
    # a full memory is tried again with smaller pieces
    assert len(tried) == (4 if isinstance(fault, MemoryError) else 1)
    np.testing.assert_array_equal(
        exact.lens_depth(X, metric="euclidean", normalise=False),
        exact.lens_depth(X, metric="euclidean", device="cpu", normalise=False),
    )


def test_the_file_needs_numpy_alone():
    spec = spec_from_file_location("alone", _cuda.__file__)
    source = ast.parse(spec.loader.get_source("alone"))
    imports = [line for line in source.body if isinstance(line, ast.Import | ast.ImportFrom)]
    named = {getattr(line, "module", None) or line.names[0].name for line in imports}
    assert named - sys.stdlib_module_names - {"collections.abc"} == {"numpy"}
