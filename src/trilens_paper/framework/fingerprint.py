"""A fingerprint of the code that measures: results of other code are not reused."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import trilens

#: They show what was measured, and decide nothing of it; nor does the version.
_WINDOWS = {"analysis.py", "cli", "plots", "report", "__init__.py"}
#: Of the experiments, only this decides what is measured, beside the experiment itself.
_MEASURING = ("ingredients/*.py", "framework/experiment.py")
_LIBRARIES = ("numpy", "scipy", "scikit-learn")


def fingerprint(measure: Callable[..., Any], package: Path | None = None) -> str:
    """The code that a cell's values depend on, as sixteen hexadecimal digits.

    That is the package but for what only shows results, the module of ``measure``, and the
    versions of the numerical libraries. Comments, docstrings and layout do not count.

    >>> from trilens_paper.registry import EXPERIMENTS
    >>> len(fingerprint(EXPERIMENTS["recovery"].measure))
    16
    """
    root = Path(trilens.__file__).parents[1] if package is None else package
    source = inspect.getsourcefile(measure)
    assert source is not None
    state = _of_package(root).copy()
    state.update(_essence(Path(source)))
    return str(state.hexdigest()[:16])


@cache
def _of_package(root: Path) -> Any:
    state = sha256()
    for library in _LIBRARIES:
        state.update(f"{library} {version(library)}\n".encode())
    for path in sorted(_sources(root)):
        state.update(path.relative_to(root).as_posix().encode())
        state.update(_essence(path))
    return state


def _sources(root: Path) -> Iterator[Path]:
    for path in (root / "trilens").rglob("*.py"):
        if path.relative_to(root).parts[1] not in _WINDOWS:
            yield path
    for pattern in _MEASURING:
        yield from (root / "trilens_paper").glob(pattern)


def _essence(path: Path) -> bytes:
    """What the interpreter sees of a module, without its docstrings."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        match node:
            case ast.Module(body=body) | ast.ClassDef(body=body) | ast.FunctionDef(body=body):
                match body:
                    case [ast.Expr(value=ast.Constant(value=str())), *rest]:
                        node.body = rest
    return ast.dump(tree).encode()
