"""Where lenses are counted: on the processor, or on an NVIDIA GPU by CuPy."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from trilens._parameters import wrong
from trilens._typing import Int32Array, IntArray, Progress
from trilens.errors import DeviceError, MissingExtraError, TrilensError
from trilens.exact import _cuda
from trilens.exact.samples import MatrixRows, Sample
from trilens.exact.semimetrics import ALIASES, MOST_OBJECTS

#: Objects from which on "auto" looks for a GPU: below, the processor is sooner done.
FROM = 2000
DEVICES = ("auto", "cpu", "cuda")


def choose_device(device: str, n: int) -> Any:
    """A GPU, or None for the processor.

    >>> choose_device("cpu", 10**6) is None
    True
    """
    if device not in DEVICES:
        raise wrong("device", device, "'auto', 'cpu' or 'cuda'")
    if device == "cpu" or (device == "auto" and n < FROM):
        return None
    found = _open()
    if not isinstance(found, _cuda.CudaError):
        return found
    if device == "auto":
        return None
    raise _refusal(device, found)


@cache
def _open() -> Any:
    """The GPU, or the reason why there is none; looked for once in a process."""
    try:
        return _cuda.Device()
    except _cuda.CudaError as error:
        return error


def open_cupy(device: str, number: int) -> Any:
    """CuPy, for the GPU of this number, which the user called ``device``."""
    try:
        return _cuda.load_cupy(number)
    except _cuda.CudaError as error:
        raise _refusal(device, error) from error


def _refusal(device: str, error: _cuda.CudaError) -> TrilensError:
    if isinstance(error, _cuda.NoCupyError):
        return MissingExtraError(f"device={device!r}", "gpu")
    return DeviceError(str(error))


def gpu_failure(error: Exception, what: str) -> DeviceError:
    """One line about a GPU that failed at its work on ``what``."""
    if isinstance(error, _cuda.CudaError):
        return DeviceError(str(error))
    if isinstance(error, MemoryError):
        return DeviceError(f"the GPU ran out of memory with {what}; use device='cpu'")
    # CuPy's errors of the runtime, the driver, the compiler
    return DeviceError(f"the GPU failed ({_cuda.one_line(error)}); use device='cpu'")


def count_on(
    gpu: Any,
    sample: Sample,
    *,
    counts: bool = False,
    optional: bool = False,
    progress: Progress | None = None,
) -> tuple[Int32Array, IntArray] | None:
    """Sizes and depths from a GPU; where it fails, None if ``optional``, otherwise one line.

    A GPU that others use may have less memory than it said: smaller tiles are tried.
    """
    source = _source(gpu, sample)
    problem: Exception = MemoryError()
    for share in (1, 2, 4, 8):
        try:
            cut = _cuda.plan(sample.n, gpu.free // share, gpu.shared, gpu.processors, counts=counts)
            depth, sizes = _cuda.lens_sums(gpu, source, counts=counts, cut=cut, progress=progress)
        except MemoryError as error:
            problem = error
        except RuntimeError as error:
            problem = error
            break
        else:
            return sizes, depth
    if optional and sample.n <= MOST_OBJECTS:
        return None
    raise gpu_failure(problem, f"{sample.n:,} objects") from problem


def _source(gpu: Any, sample: Sample) -> Any:
    metric = ALIASES.get(str(sample.metric), str(sample.metric))
    if sample.points is not None and metric in _cuda.METRICS and not sample.params:
        return _cuda.Rows(gpu, points=np.asarray(sample.points, np.float64), metric=metric)
    rows = sample.rows
    return _cuda.Rows(gpu, D=rows.D if isinstance(rows, MatrixRows) else rows)
