"""Questions before and after the rounds: about the participant, not about the objects."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from trilens_survey.reading import Reading, Text, label

TYPES = ("choice", "number", "text", "scale")
#: Columns that a table of answers has already.
TAKEN = ("rater", "condition", "language", "joined", "finished", "left")
LONGEST = 2000

#: Why a value is refused: the key of a text of the page, and what is filled in there.
Refusal: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Item:
    """One question of a form.

    Attributes
    ----------
    name
        The column of the export.
    options, several
        Of a choice: the values with their texts, and whether more than one may be chosen.
    least, most, whole
        The range of a number or of a scale; the most characters of a text.
    ends
        What the two ends of a scale mean.
    """

    name: str
    type: str
    ask: Text
    required: bool = True
    options: tuple[tuple[str, Text], ...] = ()
    several: bool = False
    least: float | None = None
    most: float | None = None
    whole: bool = False
    ends: tuple[Text, Text] | None = None

    def shown(self, language: str) -> dict[str, Any]:
        """What the page needs to ask it."""
        return {
            "name": self.name,
            "type": self.type,
            "ask": self.ask[language],
            "required": self.required,
            "options": [{"value": value, "text": text[language]} for value, text in self.options],
            "several": self.several,
            "least": self.least,
            "most": self.most,
            "whole": self.whole,
            "ends": [text[language] for text in self.ends or ()],
        }

    def check(self, value: Any) -> tuple[Any, Refusal | None]:
        """The value as it is stored (None for no answer), and what is wrong with it."""
        if value is None or value == [] or (isinstance(value, str) and not value.strip()):
            return None, {"text": "form_needed"} if self.required else None
        if self.type == "choice":
            return self._chosen(value)
        if self.type == "text":
            long = isinstance(value, str) and len(value.strip()) > (self.most or LONGEST)
            if long or not isinstance(value, str):
                return None, {"text": "form_long", "most": int(self.most or LONGEST)}
            return value.strip(), None
        return self._number(value)

    def _chosen(self, value: Any) -> tuple[Any, Refusal | None]:
        known = [option for option, _ in self.options]
        given = value if isinstance(value, list) else [value]
        right = all(isinstance(each, str) and each in known for each in given)
        if not right or len(set(given)) < len(given) or (len(given) > 1 and not self.several):
            return None, {"text": "form_needed"}
        in_order = [option for option in known if option in given]
        return (in_order if self.several else in_order[0]), None

    def _number(self, value: Any) -> tuple[Any, Refusal | None]:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None, {"text": "form_number"}
        if not abs(value) <= 1e15:  # nor is NaN; a whole number may be too large for a float
            return None, {"text": "form_number"}
        if self.whole and value != int(value):
            return None, {"text": "form_whole"}
        if self.least is not None and value < self.least:
            return None, {"text": "form_least", "least": _plain(self.least)}
        if self.most is not None and value > self.most:
            return None, {"text": "form_most", "most": _plain(self.most)}
        return _plain(value), None


def _plain(value: float) -> int | float:
    return int(value) if value == int(value) else value


def check_form(items: tuple[Item, ...], given: Any) -> tuple[dict[str, Any], dict[str, Refusal]]:
    """The values to store, and what is wrong, by name; what was not asked is left out."""
    values, wrong = {}, {}
    for item in items:
        value, refusal = item.check(given.get(item.name))
        if refusal is not None:
            wrong[item.name] = refusal
        elif value is not None:
            values[item.name] = value
    return values, wrong


_KEYS = ("name", "type", "ask", "required")
_KEYS_OF = {
    "choice": ("options", "several"),
    "number": ("least", "most", "whole"),
    "text": ("most",),
    "scale": ("least", "most", "ends"),
}


def read_form(reading: Reading, form: str, taken: set[str]) -> tuple[Item, ...]:
    """The questions of the form that a study's file has under this key."""
    found = []
    for i in range(reading.entries("questions", form)):
        item = _read_item(reading, form, i)
        if item is None:
            continue
        if item.name in taken:
            reading.wrong(f"{label((form, i))}: the name {item.name!r} appears twice", form, i)
        taken.add(item.name)
        found.append(item)
    return tuple(found)


def _read_item(reading: Reading, form: str, i: int) -> Item | None:
    if not isinstance(reading.given.get(form, i), dict):
        reading.wrong(f"{label((form, i))} must have {', '.join(_KEYS)}", form, i)
        return None
    if not reading.has(form, i, "type"):
        reading.wrong(f"{label((form, i, 'type'))} is missing: {', '.join(TYPES)}", form, i)
        return None
    before = len(reading.problems)
    type = reading.choice(form, i, "type", allowed=TYPES, default="text")
    if len(reading.problems) == before:
        reading.keys(_KEYS + _KEYS_OF[type], form, i)
    name = reading.line(form, i, "name", needed=True) or ""
    if name and (not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,59}", name) or name in TAKEN):
        text = f"{label((form, i, 'name'))} must be a word of letters, digits and _, not {name!r}"
        reading.wrong(text + (", which is a column already" if name in TAKEN else ""), form, i)
    item = Item(
        name=name,
        type=type,
        ask=reading.text(form, i, "ask"),
        required=reading.yes(form, i, "required", default=True),
        options=_read_options(reading, form, i) if type == "choice" else (),
        several=reading.yes(form, i, "several", default=False) if type == "choice" else False,
        least=_read_number(reading, form, i, "least") if type != "text" else None,
        most=_read_number(reading, form, i, "most"),
        whole=type == "scale" or reading.yes(form, i, "whole", default=False),
        ends=_read_ends(reading, form, i) if type == "scale" else None,
    )
    return _checked_range(reading, item, form, i)


def _checked_range(reading: Reading, item: Item, form: str, i: int) -> Item:
    least, most = item.least, item.most
    if item.type == "scale":
        least, most = 1 if least is None else least, 7 if most is None else most
        if not (least == int(least) and most == int(most) and 1 <= most - least <= 20):
            text = "a scale goes from `least` to `most`, whole numbers at most 20 apart"
            reading.wrong(f"{label((form, i))}: {text}", form, i)
    elif least is not None and most is not None and least > most:
        reading.wrong(f"{label((form, i))}: least is larger than most", form, i, "least")
    elif item.type == "text" and most is not None and not 1 <= most <= LONGEST:
        text = f"a text has at most {LONGEST} characters"
        reading.wrong(f"{label((form, i))}: {text}", form, i, "most")
    return Item(**{**vars(item), "least": least, "most": most})


def _read_number(reading: Reading, form: str, i: int, key: str) -> float | None:
    value = reading.given.get(form, i, key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= 1e15:
        reading.wrong(f"{label((form, i, key))} must be a number, not {value!r}", form, i, key)
        return None
    return value


def _read_options(reading: Reading, form: str, i: int) -> tuple[tuple[str, Text], ...]:
    given, where = reading.given.get(form, i, "options"), (form, i, "options")
    name = label(where)
    if isinstance(given, dict):
        found = tuple((value, reading.text(*where, value)) for value in given)
    elif isinstance(given, list) and all(isinstance(each, (str, int)) for each in given):
        if any(isinstance(each, bool) for each in given):
            text = f'{name}: put "yes" and "no" in quotes, otherwise they mean true and false'
            reading.wrong(text, *where)
        found = tuple((str(each), dict.fromkeys(reading.languages, str(each))) for each in given)
    else:
        reading.wrong(f"{name} must be a list of texts, or `value: text` lines", *where)
        return ()
    if len(found) < 2 or len({value for value, _ in found}) < len(found):
        reading.wrong(f"{name} must be two different texts or more", *where)
    return found


def _read_ends(reading: Reading, form: str, i: int) -> tuple[Text, Text] | None:
    if not reading.has(form, i, "ends"):
        return None
    if reading.entries("two texts", form, i, "ends") != 2:
        reading.wrong(f"{label((form, i, 'ends'))} must be two texts", form, i, "ends")
        return None
    return reading.text(form, i, "ends", 0), reading.text(form, i, "ends", 1)
