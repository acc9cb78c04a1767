"""Progress of the iterative maps."""

from __future__ import annotations

from trilens._parameters import check_progress
from trilens._typing import Progress


def part_of(progress: Progress | None, start: float, share: float) -> Progress | None:
    """Progress of a part of the work, from ``start`` on."""
    check_progress(progress)
    return None if progress is None else lambda done: progress(start + share * done)
