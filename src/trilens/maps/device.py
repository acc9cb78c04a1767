"""Where arrays are kept and computed with: numpy on the processor, or CuPy on an NVIDIA GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from trilens._parameters import wrong
from trilens._typing import AnyArray


def open_device(device: Any) -> Device | None:
    """The device of this name, None for the compiled loops; or a line that says why it is missing.

    >>> [open_device(device) for device in (None, "cpu")], open_device("numpy").number
    ([None, None], None)
    """
    if device is None or (isinstance(device, str) and device == "cpu"):
        return None
    if not isinstance(device, str) or not re.fullmatch(r"numpy|cuda(:\d+)?", device):
        allowed = "'cpu', 'cuda', 'cuda:0' and so on, or 'numpy' to try that code without a GPU"
        raise wrong("ChoiceMap: device", device, allowed)
    if device == "numpy":
        return Device()
    from trilens.exact.devices import open_cupy

    number = int(device.partition(":")[2] or 0)
    return Device(open_cupy(device, number), number)


@dataclass(frozen=True)
class Device:
    """A namespace of arrays."""

    #: numpy or cupy.
    xp: Any = np
    #: Of the GPU; None with numpy.
    number: int | None = None

    @property
    def sparse(self) -> Any:
        """The module of sparse matrices."""
        return import_module("scipy.sparse" if self.number is None else "cupyx.scipy.sparse")

    def put(self, values: AnyArray) -> Any:
        """An array on the device."""
        return self.xp.asarray(values)

    def get(self, array: Any) -> AnyArray:
        """An array of the device as one of numpy's."""
        host: AnyArray = array if self.number is None else self.xp.asnumpy(array)
        return host

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """What is computed within is computed there; where that fails, one line says so."""
        if self.number is None:
            yield
            return
        from trilens.exact.devices import gpu_failure

        try:
            with self.xp.cuda.Device(self.number):
                yield
        except (MemoryError, RuntimeError) as error:
            raise gpu_failure(error, what) from error

    @contextmanager
    def opened(self) -> Iterator[None]:
        """The memory of this device is given back at the end."""
        try:
            yield
        finally:
            if self.number is not None:
                with self.xp.cuda.Device(self.number):
                    self.xp.get_default_memory_pool().free_all_blocks()


#: With numpy.
ON_PROCESSOR = Device()
