"""Progress of the iterative maps."""

from __future__ import annotations

from trilens._typing import Progress


def part_of(progress: Progress | None, start: float, share: float) -> Progress | None:
    """Progress of a part of the work, from ``start`` on."""
    return None if progress is None else lambda done: progress(start + share * done)
