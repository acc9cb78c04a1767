"""Sentences for people: made here, of codes and numbers, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trilens.design import Design
    from trilens.maps.support import Reason

#: Why nothing can be claimed, as the end of a sentence.
REASONS: dict[Reason, str] = {
    "no answers": "there are no answers",
    "unasked objects": "some objects were never asked about",
    "unconnected objects": "some objects are never compared with the others, not even indirectly",
    "few questions": "there are too few different questions",
    "guesses": "the answers cannot be distinguished from guessing",
    "few objects": "there are too few objects",
    "only counts": "counts do not say which objects were compared with which",
    "no test": "this map ranks the objects but has no test",
}


# ---- depth --------------------------------------------------------------------------------------


def about_depth(method: str, design: Design | None) -> str:
    """What the depth of each object is about.

    >>> about_depth("choice", None)
    'all questions (model estimate)'
    """
    if method == "choice":
        return "all questions (model estimate)"
    if design is not None and not design.counts_hold:
        return f"these questions only: {'; '.join(design.why)}"
    return "all questions"
