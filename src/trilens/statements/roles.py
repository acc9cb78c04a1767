"""What a column holds, told by its name, and the sets of columns that make a statement.

The table of names has what people write, and is a generous one. Names are compared by their
letters and digits alone: ``Response_Time``, ``response time`` and ``responseTime`` are one name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from trilens.kinds import KINDS, Kind, columns

Unit = Literal["s", "ms"]

#: A median response time from here on is in ms: nobody takes that many seconds.
MILLISECONDS_FROM = 100.0

#: The field of `Statements` that each role beside the objects becomes.
FIELDS = {
    "rater": "raters",
    "round": "rounds",
    "seconds": "seconds",
    "place": "places",
    "question": "questions",
    "reason": "chosen",
}
OPTIONAL = tuple(FIELDS)
#: Of these a longer name means something else: ``question_name`` is no number of a question.
_BARE = ("place", "question", "reason")
SHOWN = ("shown_1", "shown_2", "shown_3")
#: Roles of columns that make several answers of a row; see `trilens.statements.unfold`.
UNFOLDED = ("votes", "votes_1", "votes_2", "votes_3", "count", "shown", "not_chosen")

#: The names of each role; the first one is what trilens writes.
NAMES: dict[str, tuple[str, ...]] = {
    "central": ("central", "most_central", "central_object", "centroid", "medoid"),
    "odd": ("odd", "odd_one_out", "odd_one", "oddball", "odd_object", "odd_item", "outlier"),
    "other_1": ("other_1", "other_a", "other_object_1"),
    "other_2": ("other_2", "other_b", "other_object_2"),
    "anchor": ("anchor", "target", "head", "reference", "ref", "query", "probe", "standard"),
    "near": ("near", "nearer", "nearest", "closer", "close", "winner", "positive", "more_similar"),
    "far": (
        *("far", "farther", "further", "farthest", "loser", "negative", "less_similar"),
        *("unchosen", "not_chosen", "rejected"),
    ),
    "chosen": (
        *("chosen", "choice", "chosen_object", "chosen_item", "chosen_image", "response", "resp"),
        *("answer", "selected", "selection", "selected_object", "pick", "picked"),
        "button_pressed",
    ),
    "shown_1": ("shown_1",),
    "shown_2": ("shown_2",),
    "shown_3": ("shown_3",),
    "rater": (
        *("rater", "participant", "subject", "worker", "user", "puid", "pid", "annotator"),
        *("respondent", "observer", "judge", "subj", "prolific_pid", "prolific", "mturk", "person"),
    ),
    "round": ("round", "survey_round", "session", "sitting", "block"),
    "seconds": ("seconds", "rt", "response_time", "reaction_time", "decision_time", "answer_time"),
    "place": ("place", "chosen_place"),
    "question": ("question",),
    "reason": ("reason", "chosen_by"),
}

#: Names that say of which kind the chosen object is.
_CHOSEN_OF: dict[str, Kind] = {
    "chosen_center": "central",
    "chosen_centre": "central",
    "chosen_central": "central",
    "central_choice": "central",
    "chosen_odd": "odd",
    "odd_choice": "odd",
}

#: With a number or a letter after it (``image1``, ``Stimulus B``): an object that was shown.
SHOWN_STEMS = (
    *("shown", "triplet_object", "object", "obj", "stimulus", "stim", "image", "img", "item"),
    *("option", "choice", "picture", "pic", "candidate", "concept", "word", "alternative", "alt"),
    *("sound", "video", "images", "stimuli", "objects", "items", "options", "choices", "triplet"),
)

#: The rank of a column that is known by the side where its object stood.
BY_SIDE = 50
#: Where an object stood on the screen; ``middle`` and ``center`` stand between the two others.
SIDES = {"left": 0, "middle": 1, "right": 2}
_CENTER = ("center", "centre")

#: What may follow a name without changing what it means.
_TAILS = ("id", "name", "number", "index", "label", "object", "item", "image", "img", "stimulus")
_MILLI = ("ms", "msec", "msecs", "millis", "millisec", "milliseconds", "inms")
_WHOLE = ("s", "sec", "secs", "seconds", "ins", "insec", "inseconds")

#: The kind that a role tells by itself.
KIND_OF_ROLE: dict[str, Kind] = {
    "central": "central",
    "odd": "odd",
    "anchor": "closer",
    "near": "closer",
    "far": "closer",
}


@dataclass(frozen=True)
class Role:
    """What one column holds.

    ``rank`` is lower for a name that says it plainly; of two columns with the same role that
    one is read. ``unit`` is None for a time that does not say its unit.
    """

    name: str
    kind: Kind | None
    rank: int = 0
    unit: Unit | None = None


def key(name: str) -> str:
    """A name's letters and digits, lower case.

    >>> key(" Response-Time (ms)")
    'responsetimems'
    """
    return "".join(c for c in name.casefold() if c.isalnum())


def _table() -> Iterator[tuple[str, Role]]:
    for role, names in NAMES.items():
        kind = KIND_OF_ROLE.get(role)
        for rank, name in enumerate(names):
            plain = key(name)
            if role == "seconds":
                yield from _times(plain, rank)
                continue
            yield plain, Role(role, kind, rank)
            if role not in _BARE:
                for tail in _TAILS:
                    yield plain + tail, Role(role, kind, 20 + rank)
    for name, told in _CHOSEN_OF.items():
        yield key(name), Role("chosen", told)
    for j, word in enumerate(_MILLI):
        yield word, Role("seconds", None, 40 + j, "ms")


def _times(plain: str, rank: int) -> Iterator[tuple[str, Role]]:
    yield plain, Role("seconds", None, rank, "s" if plain == "seconds" else None)
    if plain != "seconds":
        for word in _MILLI:
            yield plain + word, Role("seconds", None, rank, "ms")
        for word in _WHOLE:
            # "RTs" is a plural: its size will tell
            yield plain + word, Role("seconds", None, rank, None if word == "s" else "s")


_IN_SECONDS = re.compile(r"[^a-z0-9]s[^a-z0-9]*$", re.IGNORECASE)
_ROLES: dict[str, Role] = {}
for _key, _role in _table():
    _ROLES.setdefault(_key, _role)
# Qualtrics' own name of a questionnaire that was filled in
del _ROLES["responseid"]

_NUMBERED = re.compile(
    rf"({'|'.join(sorted((key(stem) for stem in SHOWN_STEMS), key=len, reverse=True))})"
    rf"(?:id|name|index|file)?([0-9]|[abc])(?:{'|'.join(_TAILS)})?"
)
_SIDED = re.compile(
    rf"({'|'.join((*SIDES, *_CENTER))})(?:{'|'.join(key(stem) for stem in SHOWN_STEMS)}|id|name)?"
)


def role_of(name: str) -> str | None:
    """What a column of that name holds; None for a name that means nothing here.

    >>> role_of(" Response_Time "), role_of("workerId"), role_of("Stimulus 2"), role_of("colour")
    ('seconds', 'rater', 'shown_2', None)
    """
    found = roles([name])
    return found[0].name if found else None


def roles(names: Sequence[str]) -> dict[int, Role]:
    """The role of each column that has one, by its position.

    >>> {i: role.name for i, role in roles(["Center", "Left", "Right", "Answer"]).items()}
    {0: 'anchor', 1: 'shown_1', 2: 'shown_2', 3: 'chosen'}
    >>> {i: role.name for i, role in roles(["image0", "image1", "image2"]).items()}
    {0: 'shown_1', 1: 'shown_2', 2: 'shown_3'}
    """
    keys = [key(name) for name in names]
    found = {i: _ROLES[plain] for i, plain in enumerate(keys) if plain in _ROLES}
    for i, role in found.items():
        # RTs is a plural, rt_s and RT (s) are not
        if role.name == "seconds" and role.unit is None and _IN_SECONDS.search(names[i]):
            found[i] = replace(role, unit="s")
    _add_numbered(keys, found)
    _add_sides(keys, found)
    if "rater" not in {role.name for role in found.values()}:
        for i, plain in enumerate(keys):
            if plain in ("session", "sessionid"):
                found[i] = Role("rater", None, 30)
                break
    return dict(sorted(found.items()))


def names_a_column(name: str) -> bool:
    """Whether a name is one that columns have, by itself or with others that may be missing.

    Not with a number, such as ``image 5``: objects are called so too.

    >>> [names_a_column(name) for name in ["Left", "winner", "Left Bank", "image 5"]]
    [True, True, False, False]
    """
    plain = key(name)
    return plain in _ROLES or _SIDED.fullmatch(plain) is not None


def too_many_shown(names: Sequence[str]) -> bool:
    """Whether the columns show more than three objects at a time."""
    numbers: dict[str, set[str]] = {}
    for plain in map(key, names):
        match = _NUMBERED.fullmatch(plain)
        if match and match[2].isdigit():
            numbers.setdefault(match[1], set()).add(match[2])
    return any(len(seen) > 3 and seen >= {"1", "2", "3", "4"} for seen in numbers.values())


def _add_numbered(keys: Sequence[str], found: dict[int, Role]) -> None:
    """``image1``, ``image2``, ``image3``; or from 0, or with letters."""
    groups: dict[str, dict[str, int]] = {}
    for i, plain in enumerate(keys):
        match = _NUMBERED.fullmatch(plain)
        if match and (i not in found or found[i].name in SHOWN):
            groups.setdefault(match[1], {}).setdefault(match[2], i)
    stems = [key(stem) for stem in SHOWN_STEMS]
    for stem, members in groups.items():
        letters = all(mark in "abc" for mark in members)
        first = "a" if letters else "0" if "0" in members else "1"
        for mark, i in members.items():
            at = ord(mark) - ord(first)
            if 0 <= at < 3 and not (letters and len(members) == 1):
                found[i] = Role(SHOWN[at], None, stems.index(stem))


def _add_sides(keys: Sequence[str], found: dict[int, Role]) -> None:
    """``left``, ``middle``, ``right``; ``center`` with two others is the anchor."""
    sides: dict[str, int] = {}
    for i, plain in enumerate(keys):
        match = _SIDED.fullmatch(plain)
        if match and i not in found and (match[1] not in sides or plain == match[1]):
            sides[match[1]] = i
    center = next((sides[word] for word in _CENTER if word in sides), None)
    if "left" in sides and "right" in sides:
        found[sides["left"]] = Role("shown_1", None, BY_SIDE)
        found[sides["right"]] = Role("shown_3" if "middle" in sides else "shown_2", None, BY_SIDE)
        if "middle" in sides:
            found[sides["middle"]] = Role("shown_2", None, BY_SIDE)
        elif center is not None:
            found[center] = Role("anchor", "closer", BY_SIDE)
    elif center is not None:
        found[center] = Role("central", "central", BY_SIDE)


#: What the columns of a file of labels may be called.
LABELS: dict[str, tuple[str, ...]] = {
    "object": ("name", "item", "image", "stimulus", "word", "id"),
    "label": ("class", "category", "group", "cluster", "type"),
}


def are_labels(names: Sequence[str]) -> bool:
    """Whether two columns are those of a file of labels.

    >>> are_labels(["Object", "class"]), are_labels(["object", "answer"])
    (True, False)
    """
    plain = [name.strip().casefold() for name in names]
    return len(plain) == 2 and all(
        plain[i] in (name, *also) for i, (name, also) in enumerate(LABELS.items())
    )


#: ``statement``: three objects in order; ``shown``: the chosen one and the three shown;
#: ``pair``: the chosen one, the anchor and the two that stood beside it.
Form = Literal["statement", "shown", "pair"]

#: The first complete one of a kind is read.
SHAPES: tuple[tuple[Form, tuple[str, ...]], ...] = (
    *(("statement", shape) for shape in map(columns, KINDS)),
    ("shown", ("chosen", *SHOWN)),
    ("shown", ("central", *SHOWN)),
    ("shown", ("odd", *SHOWN)),
    ("statement", ("chosen", "other_1", "other_2")),
    ("statement", ("anchor", "chosen", "far")),
    ("pair", ("chosen", "anchor", "shown_1", "shown_2")),
    ("pair", ("near", "anchor", "shown_1", "shown_2")),
)


class Shape(NamedTuple):
    """Columns that make a statement, and the kind that they tell by themselves."""

    form: Form
    roles: tuple[str, ...]
    kind: Kind | None

    def fits(self, kind: str | None) -> bool:
        """Whether statements of a kind that is asked for can have these columns."""
        of_three = self.form == "shown" or "other_1" in self.roles
        return kind in (None, self.kind or kind) and not (of_three and kind == "closer")


def complete_shapes(kinds: Mapping[str, Kind | None]) -> list[Shape]:
    """The shapes of which every role has a column.

    Parameters
    ----------
    kinds
        For each role that has a column, the kind that this column tells.

    Examples
    --------
    >>> found = complete_shapes(
    ...     {"chosen": None, "anchor": "closer", "shown_1": None, "shown_2": None}
    ... )
    >>> [(shape.form, shape.kind) for shape in found]
    [('pair', 'closer')]
    """
    return [
        Shape(form, roles, next((kinds[r] for r in roles if kinds[r] is not None), None))
        for form, roles in SHAPES
        if all(role in kinds for role in roles)
    ]
