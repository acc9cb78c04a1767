"""Sentences for people: made here, of codes and numbers, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
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


def reason(code: Reason | None) -> str | None:
    """Why nothing can be claimed; None where something can."""
    return None if code is None else REASONS[code]


def listed(names: Sequence[str], most: int = 5) -> str:
    """Some names, and how many more there are.

    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


# ---- classes ------------------------------------------------------------------------------------

_REMARKS = {
    "alone": (
        "one labelled object only, so its label cannot be checked and few objects will join its "
        "class"
    ),
    "nearest": "no neighbor in the graph, so the class of the nearest object",
    "unknown": "never compared with two labelled objects, so the most frequent class",
    "random": "no neighbor in the graph, so a class at random",
    "unreached": (
        "never compared with labelled objects, not even indirectly, so their classes are guesses"
    ),
}


def remark_about_objects(code: str, names: Sequence[str]) -> str:
    """Why little can be said of the classes of some objects; codes: those of ``_REMARKS``."""
    return f"{_REMARKS[code]}: {listed(names)}"


# ---- models against people ----------------------------------------------------------------------

#: What the ranks of aligned models do not say.
BENT_MODELS = (
    "after a linear map the best model is not reliably the true one (Avitan and Golan, 2025): a "
    "wide model can be bent into the shape of another"
)


def few_raters(n_raters: int) -> str:
    """What intervals are about where raters are too few to stand for others."""
    who = "one rater" if n_raters == 1 else f"{n_raters} raters"
    return f"the answers are of {who}: intervals are about other questions to the same"


def mostly_one_rater(share: float) -> str:
    """What an accuracy rests on where one rater gave much."""
    return (
        f"one rater gave {share:.0%} of the answers, more than a fifth: the accuracy is mostly "
        f"theirs, while the interval is for other raters"
    )


def feature_gain_in_words(
    held_out: int,
    predicted: Sequence[float],
    chance: float,
    gain: tuple[float, float] | None,
) -> str:
    """What features add, in a sentence or two.

    Parameters
    ----------
    held_out : int
    predicted : sequence of float
        The share of held-out answers by answers alone, by features alone and by both.
    chance : float
    gain : (float, float) or None
        The interval of what both predict beyond answers alone; None where features were left out.
    """
    alone, linear, both = predicted
    text = (
        f"Of {held_out:,} held-out answers, a map of the other answers alone predicts "
        f"{alone:.1%}, the features alone {linear:.1%} and both together {both:.1%} "
        f"(guessing: {chance:.0%})."
    )
    if gain is None:
        return f"{text} The features do not help to predict answers, and were left out."
    low, high = gain
    points = f"{100 * low:+.1f} to {100 * high:+.1f} percentage points"
    if low > 0:
        return f"{text} The features add {points} (95 %)."
    if high < 0:
        return f"{text} With the features fewer answers are predicted."
    return f"{text} What the features add is within chance ({points}, 95 %)."
