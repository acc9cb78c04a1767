"""Which compiled loops serve: over LLVM's vectors, or the plain ones where those fail."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

import numpy as np

#: Set to 1 in the environment to use the plain loops.
PLAIN = "TRILENS_PLAIN_LOOPS"
_state = {"plain": False, "tried": False}


def loops() -> ModuleType:
    """The innermost loops: ``_vectors`` or ``_loops``, which have the same names."""
    if not (_state["plain"] or os.environ.get(PLAIN) == "1"):
        try:
            return importlib.import_module("trilens.exact._vectors")
        except ImportError:
            _state["plain"] = True
    return importlib.import_module("trilens.exact._loops")


def kernels() -> ModuleType:
    """The compiled kernels, tried once on four objects, with the plain loops if that fails.

    A processor or an LLVM for which the vectors do not compile is told from one for which they
    do by compiling them; what they compute is compared with the definition.
    """
    module = importlib.import_module("trilens.exact._kernels")
    if not _state["tried"]:
        try:
            sound = _try(module)
        except Exception:  # whatever the compiler raises; the plain loops need less of it
            sound = False
        if not sound and not _state["plain"]:
            _state["plain"] = True
            module = importlib.reload(module)
        _state["tried"] = True
    return module


def _try(module: ModuleType) -> bool:
    """Lens sizes of the points 0, 1, 3, 7 on a line."""
    ranks = np.full((4, module.CHUNK), 4, np.uint16)
    ranks[:, :4] = [[0, 1, 2, 3], [1, 0, 2, 3], [2, 1, 0, 3], [3, 2, 1, 0]]
    planes = np.empty((4, 1, 3, module.WORDS), np.uint64)
    module.slice_ranks(ranks, planes, 3)
    sizes = np.zeros((1, 4, module.ROWS), np.int32)
    module.lens_sizes(planes, 0, planes, 0, 0, 4, 3, True, False, sizes)
    lenses = [[0, 0, 1, 2], [0, 0, 0, 1], [1, 0, 0, 0], [2, 1, 0, 0]]
    return bool(np.array_equal(sizes[0, :, :4], lenses))
