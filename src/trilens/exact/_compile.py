"""`trilens._compiled.compiled` for loops whose arguments are not annotated."""

from __future__ import annotations

from typing import Any

from trilens import _compiled

compiled: Any = _compiled.compiled
