"""The sentences: what codes and numbers of results mean, in words."""

from __future__ import annotations

from collections.abc import Sequence

from trilens.maps.support import Reason

#: Why nothing can be claimed about all objects.
REASONS: dict[Reason, str] = {
    "no answers": "there are no answers",
    "unasked objects": "some objects were never asked about",
    "unconnected objects": "some objects are never compared with the others, not even indirectly",
    "few questions": "there are too few different questions",
    "few answers": "there are too few answers about each object",
    "guesses": "the answers cannot be told from guesses",
    "few objects": "there are too few objects",
    "same places": "too few objects differ",
    "only counts": "counts do not say which objects were compared with which",
    "no test": "the map has no model of the answers",
}


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


# ---- outliers and groups ------------------------------------------------------------------------

#: What the answers cannot tell about groups, or why a map is not divided.
GROUP_NOTES = {
    "line": "the objects lie along a line without a gap: to divide them would be arbitrary",
    "ring": "the objects lie on a ring without a gap: to divide them would be arbitrary",
    "arms": "the objects lie on arms that meet: to call the arms groups would be arbitrary",
    "no dip": (
        "the objects seem to fall into parts, but a lopsided or curved whole would look the same: "
        "groups are not claimed"
    ),
    "central gap": (
        "answers about the most central object cannot tell how wide a gap between two groups is: "
        "two groups may look like one long one"
    ),
    "lens map": (
        "whether there are groups cannot be told: the lens map of these answers shows groups even "
        "where there are none; soe does not"
    ),
    "few edges": (
        "too few objects have a neighbor in the k-RNG for so many clusters; take a larger k, or "
        "give more statements"
    ),
}


def about_outliers(why: Reason | None) -> str | None:
    """Why nothing can be said about outliers; None where something can."""
    return None if why is None else f"what stands apart cannot be told: {REASONS[why]}"


def about_groups(why: Reason | None, notes: Sequence[str]) -> str | None:
    """What cannot be told about groups; None where nothing needs to be said.

    >>> about_groups("no answers", ())
    'whether there are groups cannot be told: there are no answers'
    """
    said = [] if why is None else [f"whether there are groups cannot be told: {REASONS[why]}"]
    said += [GROUP_NOTES[note] for note in notes]
    return "; ".join(said) or None


def about_shape(why: Reason) -> str:
    """Why the shape of the objects cannot be told."""
    return f"what shape the objects form cannot be told: {REASONS[why]}"


def about_aside(names: Sequence[str]) -> str:
    """That some objects are in no group.

    >>> about_aside(["a"])
    'One object stands apart: a.'
    """
    if len(names) == 1:
        return f"One object stands apart: {names[0]}."
    return f"{len(names)} objects stand apart: {listed(names)}."


def about_tree(
    why: Reason | None,
    known: bool,
    shape: str | None,
    branches: int,
    claimed: int | None,
    level: float,
) -> str:
    """What is claimed of the branches of a tree.

    Parameters
    ----------
    why
        Why nothing can be claimed.
    known
        Whether the support of the branches is known.
    shape
        The sentence about the shape of the objects.
    branches, claimed
        How many there are; None are claimed where the objects do not form groups.
    level
        The support from which on a branch is claimed.
    """
    if why is not None:
        return f"No branch is claimed: {REASONS[why]}."
    if not known:
        return "No branch is claimed: its support is not known without a model of the answers."
    if claimed is None:
        return f"No branch is claimed. {shape} A tree is only one way to draw them."
    them = "it" if claimed == 1 else "them"
    return (
        f"{shape} Of the {branches:,} branches of the tree, {claimed:,} "
        f"{'is' if claimed == 1 else 'are'} well supported: at least {level:.0%} of the maps that "
        f"the answers allow have {them}."
    )
