"""What can be said about answers that were counted as they were read, and never held."""

from __future__ import annotations

import numpy as np

from trilens.maps.streamed import StreamedMap
from trilens.tasks.reliability.cautions import Caution, about_appearances, about_noise
from trilens.tasks.reliability.trust import Reliability

_NOT_HELD = Caution(
    "counted",
    "The files are too large to hold: the answers were counted as they were read.",
    "Raters, repeated questions, response times and whether all objects are compared with each "
    "other were not looked at. Intervals take the answers for independent. What stands apart, and "
    "how many groups there are, is not claimed.",
    "For these, analyse a random part of the answers that is smaller than 64 MB.",
)
#: So much above chance is no prediction to speak of.
_NO_USE = 0.005


def reliability_of_files(placed: StreamedMap) -> Reliability:
    """The cautions, and how well the map of files predicts answers that were kept aside.

    Everything else is None: counts do not tell it.
    """
    counts = placed.counts
    collected = {
        "answers": counts.statements,
        "raters": 0,
        "objects": counts.n_objects,
        "used": counts.statements,
    }
    if counts.n_skipped:
        collected["skipped"] = counts.n_skipped
    chance = 1 / 2 if counts.kind == "closer" else 1 / 3
    guessed = []
    if placed.predicted is not None:
        # near a thousandth of chance a map is of no use, however many answers prove that little
        hits = round(max(placed.predicted - _NO_USE, 0.0) * placed.aside)
        guessed = about_noise(placed.aside, hits, chance)
    return Reliability(
        kind=counts.kind,
        collected=collected,
        cautions=(_NOT_HELD, *guessed, *about_appearances(placed.names, counts.appearances)),
        chance=chance,
        parts=np.zeros(counts.n_objects, dtype=np.int64),
        marks=np.zeros(0, dtype="U13"),
        no_ceiling="files of this size are counted, and counts do not tell repeated questions",
        predicted=placed.predicted,
    )
