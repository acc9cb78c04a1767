"""What a column holds, told by its name: one table of names for everything that reads columns.

Names are compared by their letters and digits alone: ``Response_Time``, ``response time`` and
``responseTime`` are one name. To know the columns of another tool is to add names here.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from trilens.kinds import Kind

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
SHOWN = ("shown_1", "shown_2", "shown_3")

#: The names of each role; the first one is what trilens writes, and of two columns with the same
#: role the one whose name comes first is read.
NAMES: dict[str, tuple[str, ...]] = {
    "central": ("central", "most_central", "central_object", "centroid", "medoid", "zentral"),
    "odd": (
        *("odd", "odd_one_out", "odd_one", "oddball", "odd_object", "odd_item", "outlier"),
        *("aussenseiter", "außenseiter"),
    ),
    "other_1": ("other_1", "other_a", "other_object_1"),
    "other_2": ("other_2", "other_b", "other_object_2"),
    "anchor": (
        *("anchor", "target", "head", "reference", "ref", "query", "probe", "standard"),
        *("referenz", "anker", "zielreiz", "vorlage"),
    ),
    "near": (
        *("near", "nearer", "nearest", "closer", "close", "winner", "positive", "more_similar"),
        *("näher", "ähnlicher"),
    ),
    "far": (
        *("far", "farther", "further", "farthest", "loser", "negative", "less_similar"),
        *("ferner", "unähnlicher"),
    ),
    "chosen": (
        *("chosen", "choice", "chosen_object", "chosen_item", "chosen_image", "response", "resp"),
        *("answer", "selected", "selection", "selected_object", "pick", "picked"),
        *("button_pressed", "selected_side", "mouse.clicked_name", "clicked_name", "clicked"),
        *("key_resp.keys", "antwort", "auswahl", "gewählt", "gewähltes_bild", "reaktion"),
    ),
    **{role: (role,) for role in SHOWN},
    "rater": (
        *("rater", "participant", "subject", "worker", "user", "puid", "pid", "annotator"),
        *("respondent", "observer", "judge", "subj", "prolific_pid", "prolific", "mturk", "person"),
        *("participant_private_id", "participant_public_id", "participant_code", "vp", "vpn"),
        *("vpnr", "vp_nr", "vp_code", "versuchsperson", "proband", "probandin", "teilnehmer"),
        *("teilnehmerin", "versuchsteilnehmer"),
    ),
    "round": ("round", "survey_round", "session", "sitting", "block", "durchgang", "runde"),
    "seconds": (
        *("seconds", "rt", "response_time", "reaction_time", "decision_time", "answer_time"),
        *("mouse.time", "key_resp.rt", "reaktionszeit", "antwortzeit"),
    ),
    "place": ("place", "chosen_place"),
    "question": ("question",),
    "reason": ("reason", "chosen_by"),
    "votes": ("votes", "vote_counts", "agreement", "answer_counts"),
    "count": ("count", "counts", "n_answers", "n_votes", "n_responses", "answer_count"),
    "shown": ("shown", "grid", "candidates", "pictures", "pool", "display", "bilder"),
    "picks": ("picks", "choices", "selections", "picked_images", "answers"),
    "not_chosen": ("not_chosen", "unchosen", "rejected", "not_selected", "unselected", "unpicked"),
}

#: With a number, a letter or a side after it (``image1``, ``Stimulus B``, ``pic_left``): an object
#: that was shown.
SHOWN_STEMS = (
    *("shown", "triplet_object", "object", "obj", "stimulus", "stim", "image", "img", "item"),
    *("option", "opt", "choice", "picture", "pic", "candidate", "concept", "word", "alternative"),
    *("alt", "sound", "video", "images", "stimuli", "objects", "items", "options", "choices"),
    *("triplet", "bild", "reiz", "objekt", "wort", "begriff", "antwortoption"),
)
#: With a number after it: one of several objects that were chosen.
CHOSEN_STEMS = (
    *("chosen", "selected", "picked", "pick", "selection", "answer", "response", "choice"),
    *("chosen_object", "chosen_image", "nearest", "near", "near_answer", "picks", "choices"),
    *("selections", "antwort", "auswahl"),
)

#: Names that say of which kind the chosen object is.
_CHOSEN_OF: dict[str, Kind] = {
    "chosen_center": "central",
    "chosen_centre": "central",
    "chosen_central": "central",
    "central_choice": "central",
    "chosen_odd": "odd",
    "odd_choice": "odd",
    "odd_answer": "odd",
}

#: What the columns of a file of labels may be called.
LABELS: dict[str, tuple[str, ...]] = {
    "object": ("name", "item", "image", "stimulus", "word", "id", "objekt", "bild", "reiz", "wort"),
    "label": (
        *("class", "category", "group", "cluster", "type"),
        *("klasse", "kategorie", "gruppe", "typ"),
    ),
}

#: Columns whose rows may not belong together: what else the survey asked, and how.
MARKS = frozenset(
    {
        *("phase", "stage", "part", "section", "task", "tasktype", "questiontype", "trialkind"),
        *("practice", "ispractice", "training", "istraining", "practicetrial", "trialtype"),
        *("catch", "iscatch", "catchtrial", "iscatchtrial", "attentioncheck", "attention", "check"),
        *("ischeck", "iscontrol", "control", "test", "istest", "exclude", "excluded", "valid"),
        *("phasename", "blocktype", "übung", "uebung", "aufgabe", "abschnitt"),
    }
)
#: Columns that say which algorithm chose the question.
SAMPLERS = frozenset(
    {"alglabel", "algident", "algorithm", "sampler", "samplingstrategy", "samplealg"}
)

#: The rank of a column that is known by the side where its object stood.
BY_SIDE = 50
_SIDES = {
    **dict.fromkeys(("left", "l", "links"), 0),
    **dict.fromkeys(("middle", "mid", "m", "mitte"), 1),
    **dict.fromkeys(("center", "centre", "c"), 1),
    **dict.fromkeys(("right", "r", "rechts"), 2),
}
_CENTER = ("center", "centre", "c")

#: What may follow a name without changing what it means; a column of names goes first.
_TAILS = ("name", "label", "object", "item", "image", "img", "stimulus", "id", "number", "index")
_MILLI = ("ms", "msec", "msecs", "millis", "millisec", "milliseconds", "inms")
_WHOLE = ("s", "sec", "secs", "seconds", "ins", "insec", "inseconds")
#: Of these a longer name means something else: ``question_name`` is no number of a question.
_BARE = frozenset({"place", "question", "reason", "votes", "count", "shown", "picks", "not_chosen"})

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
                for j, tail in enumerate(_TAILS):
                    yield plain + tail, Role(role, kind, 100 + 20 * rank + j)
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
# a questionnaire that was filled in, which Qualtrics numbers so, and no answer
del _ROLES["responseid"]


def _stems(stems: Sequence[str]) -> str:
    return "|".join(sorted(map(key, stems), key=len, reverse=True))


_END = f"(?:{'|'.join(_TAILS)})?"
_SHOWN_AS = re.compile(rf"({_stems(SHOWN_STEMS)})(?:id|name|index|file)?(\d\d?|[abc]){_END}")
_SIDED = re.compile(
    rf"({_stems(SHOWN_STEMS)}|)({'|'.join(sorted(_SIDES, key=len, reverse=True))})"
    rf"(?:{_stems(SHOWN_STEMS)}|id|name)?"
)
_CHOSEN_AS = re.compile(rf"({_stems(CHOSEN_STEMS)})(\d\d?)")
_NOT_CHOSEN_AS = re.compile(rf"({_stems(NAMES['not_chosen'])})(\d\d?)")
_VOTES_AS = re.compile(r"n?(vote|count)s?(?:for|of)?([1-9]\d?|[abc]|left|middle|center|right)")
#: What may be numbered, as ``--columns`` has it.
NUMBERED_ROLE = re.compile(r"(shown|chosen|not_chosen|votes)_([1-9]\d?)")


def role_of(name: str) -> str | None:
    """What a column of that name holds; None for a name that means nothing here.

    >>> role_of(" Response_Time "), role_of("workerId"), role_of("Stimulus 2"), role_of("colour")
    ('seconds', 'rater', 'shown_2', None)
    """
    found = roles([name])
    return found[0].name if found else None


def roles(names: Sequence[str]) -> dict[int, Role]:
    """The role of each column that has one, by its position.

    A column ``center`` beside ``left`` and ``right`` has the role ``center``: it may be what the
    two others are compared with, or the middle one of three.

    >>> {i: role.name for i, role in roles(["Center", "Left", "Right", "Answer"]).items()}
    {0: 'center', 1: 'shown_1', 2: 'shown_2', 3: 'chosen'}
    >>> {i: role.name for i, role in roles(["image0", "image1", "image2"]).items()}
    {0: 'shown_1', 1: 'shown_2', 2: 'shown_3'}
    >>> [role.name for role in roles(["query", "img_1", "img_2", "pick_1", "pick_2"]).values()]
    ['anchor', 'shown_1', 'shown_2', 'chosen_1', 'chosen_2']
    """
    keys = [key(name) for name in names]
    found = {i: _ROLES[plain] for i, plain in enumerate(keys) if plain in _ROLES}
    for i, role in found.items():
        # RTs is a plural, rt_s and RT (s) are not
        if role.name == "seconds" and role.unit is None and _IN_SECONDS.search(names[i]):
            found[i] = replace(role, unit="s")
    _add_shown(keys, found)
    _add_letters(keys, found)
    _add_sides(keys, found)
    _add_numbered(keys, found, _CHOSEN_AS, "chosen")
    _add_numbered(keys, found, _NOT_CHOSEN_AS, "not_chosen")
    _add_numbered(keys, found, _VOTES_AS, "votes")
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
    if len(plain) < 2:
        return False
    return plain in _ROLES or plain in _SIDES or _SIDED.fullmatch(plain) is not None


def are_labels(names: Sequence[str]) -> bool:
    """Whether two columns are those of a file of labels.

    >>> are_labels(["Object", "class"]), are_labels(["object", "answer"])
    (True, False)
    """
    plain = [name.strip().casefold() for name in names]
    return len(plain) == 2 and all(
        plain[i] in (name, *also) for i, (name, also) in enumerate(LABELS.items())
    )


def _grouped(
    keys: Sequence[str], pattern: re.Pattern[str], taken: Container[int] = ()
) -> Iterator[tuple[str, dict[str, int]]]:
    """Columns whose names have the same stem, by the number, letter or side that follows it."""
    groups: dict[str, dict[str, int]] = {}
    for i, plain in enumerate(keys):
        match = pattern.fullmatch(plain)
        if match and i not in taken:
            groups.setdefault(match[1], {}).setdefault(match[2], i)
    yield from groups.items()


def _counted(mark: str) -> int:
    """The place that a number, a letter or a side stands for; numbers as they are."""
    if mark.isdigit():
        return int(mark)
    return "abc".index(mark) if mark in "abc" else _SIDES[mark]


def _add_shown(keys: Sequence[str], found: dict[int, Role]) -> None:
    """``image1``, ``image2``, ``image3``, ...; or from 0, or with letters."""
    taken = [i for i, role in found.items() if not role.name.startswith("shown_")]
    stems = [key(stem) for stem in SHOWN_STEMS]
    for stem, members in _grouped(keys, _SHOWN_AS, taken):
        if all(mark in "abc" for mark in members) and len(members) == 1:
            continue
        first = 0 if {"0", "a"} & members.keys() else 1
        for mark, i in members.items():
            place = _counted(mark) - first
            if place >= 0:
                found[i] = Role(f"shown_{place + 1}", None, stems.index(stem))


def _add_letters(keys: Sequence[str], found: dict[int, Role]) -> None:
    """``A``, ``B`` and ``C``, or ``A`` and ``B`` beside an anchor; objects are called so too."""
    there = {role.name for role in found.values()}
    if "chosen" not in there or any(name.startswith("shown_") for name in there):
        return
    anchored = "anchor" in there
    letters = ("a", "b") if anchored else ("a", "b", "c")
    if all(keys.count(letter) == 1 for letter in letters) and (not anchored or "c" not in keys):
        for j, letter in enumerate(letters):
            found[keys.index(letter)] = Role(SHOWN[j], None, BY_SIDE)


def _add_sides(keys: Sequence[str], found: dict[int, Role]) -> None:
    """``left``, ``middle``, ``right``; ``center`` beside two others may be the anchor."""
    taken = {*found, *(i for i, plain in enumerate(keys) if len(plain) == 1)}
    for stem, sides in _grouped(keys, _SIDED, taken):
        at = {_SIDES[word]: i for word, i in sides.items()}
        center = next((sides[word] for word in _CENTER if word in sides), None)
        if 0 in at and 2 in at:
            middle = 1 in at and at[1] != center
            found[at[0]] = Role("shown_1", None, BY_SIDE)
            found[at[2]] = Role("shown_3" if middle else "shown_2", None, BY_SIDE)
            if middle:
                found[at[1]] = Role("shown_2", None, BY_SIDE)
            elif center is not None:
                found[center] = Role("center", None, BY_SIDE if stem else BY_SIDE - 1)
        elif center is not None and not stem:
            found[center] = Role("central", "central", BY_SIDE)


def _add_numbered(
    keys: Sequence[str], found: dict[int, Role], pattern: re.Pattern[str], role: str
) -> None:
    """``chosen_1``, ``chosen_2``, ...: two or more, which are not what was shown."""
    for _, members in _grouped(keys, pattern):
        columns = members.values()
        shown = [i for i, each in found.items() if each.name.startswith("shown_")]
        # ``choices_1`` are shown, unless something else is
        as_shown = any(i in found for i in columns)
        if len(members) > 1 and not (as_shown and len(set(shown) - set(columns)) < 4):
            first = min(map(_counted, members))
            for mark, i in members.items():
                found[i] = Role(f"{role}_{_counted(mark) - first + 1}", None, BY_SIDE)
