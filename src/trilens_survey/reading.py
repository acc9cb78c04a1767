"""Values of ``study.yaml``, checked one by one: what is wrong is noted with its line."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from trilens._parameters import is_whole
from trilens_survey.yaml_lines import Problem, YamlLines

FILE = "study.yaml"

#: Where a value stands: keys, and places in lists.
Where: TypeAlias = tuple[str | int, ...]

#: A text in each of the study's languages.
Text: TypeAlias = dict[str, str]


class Reading:
    """One pass over the values of a study's file, which notes what is wrong and goes on."""

    def __init__(self, folder: Path, given: YamlLines) -> None:
        self.folder = folder
        self.given = given
        self.problems = list(given.problems)
        self.languages: tuple[str, ...] = ("en",)

    def wrong(self, text: str, *path: str | int) -> None:
        """Note what is wrong with the value at a path."""
        self.problems.append(Problem(FILE, self.given.line(*path), text))

    def has(self, *path: str | int) -> bool:
        """Whether there is a value."""
        return self.given.get(*path) is not None

    def keys(self, known: Collection[str], *path: str | int) -> bool:
        """Note keys that a section does not know; whether it is a section, or not there."""
        section = self.given.get(*path)
        if section is None:
            return True
        if not isinstance(section, dict):
            self.wrong(f"{label(path)} must be a section with {', '.join(known)}", *path)
            return False
        for key in section:
            if key not in known:
                self.wrong(f"unknown key {key!r}; use one of {', '.join(known)}", *path, key)
        return True

    def entries(self, what: str, *path: str | int) -> int:
        """How many entries a list has; none where it is missing."""
        found = self.given.get(*path)
        if found is None:
            return 0
        if not isinstance(found, list):
            self.wrong(f"{label(path)} must be a list of {what}", *path)
            return 0
        return len(found)

    def choice(self, *path: str | int, allowed: Collection[str], default: str) -> str:
        """One of a few words."""
        value = self.given.get(*path)
        if value is None:
            return default
        if not isinstance(value, str) or value not in allowed:
            text = f"{label(path)} must be one of {', '.join(allowed)}, not {value!r}"
            self.wrong(text, *path)
            return default
        return value

    def whole(self, *path: str | int, default: int, least: int, most: int | None = None) -> int:
        """A whole number."""
        value = self.given.get(*path)
        if value is None:
            return default
        if not is_whole(value) or value < least or (most is not None and value > most):
            range = f"from {least} to {most}" if most is not None else f"of at least {least}"
            text = f"{label(path)} must be a whole number {range}, not {value!r}"
            self.wrong(text, *path)
            return default
        return int(value)

    def real(self, *path: str | int, default: float, least: float, most: float) -> float:
        """A number."""
        value = self.given.get(*path)
        if value is None:
            return default
        good = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not good or not least <= value <= most:
            text = f"{label(path)} must be a number from {least:g} to {most:g}, not {value!r}"
            self.wrong(text, *path)
            return default
        return float(value)

    def yes(self, *path: str | int, default: bool) -> bool:
        """True or false."""
        value = self.given.get(*path)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.wrong(f"{label(path)} must be true or false, not {value!r}", *path)
        return default

    def line(self, *path: str | int, needed: bool = False) -> str | None:
        """A line of text."""
        value = self.given.get(*path)
        if value is None:
            if needed:
                self.wrong(f"{label(path)} is missing", *path)
            return None
        if isinstance(value, (dict, list)) or not str(value).strip():
            self.wrong(f"{label(path)} must be a line of text", *path)
            return None
        return str(value).strip()

    def date(self, *path: str | int) -> datetime.date | None:
        """A date."""
        value = self.given.get(*path)
        if value is None or (
            isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
        ):
            return value
        self.wrong(f"{label(path)} must be a date such as 2027-12-31, not {value!r}", *path)
        return None

    def text(self, *path: str | int, default: Text | None = None) -> Text:
        """A text in every language; a plain one serves them all."""
        value, name = self.given.get(*path), label(path)
        if value is None:
            value = default
        if value is None:
            self.wrong(f"{name} is missing", *path)
            return dict.fromkeys(self.languages, "")
        if isinstance(value, list) or not str(value).strip():
            self.wrong(f"{name} must be text, or a text for each language", *path)
            return dict.fromkeys(self.languages, "")
        if not isinstance(value, dict):
            return dict.fromkeys(self.languages, str(value).strip())
        if value is not default:
            self.known_languages(value, *path)
        texts = {code: str(value.get(code) or "").strip() for code in self.languages}
        # a built-in text may be empty
        known = value if value is default else {code for code in texts if texts[code]}
        lacking = [code for code in texts if code not in known]
        if lacking:
            self.wrong(f"{name} is missing in: {', '.join(lacking)}", *path)
        return texts

    def known_languages(self, given: Mapping[str, Any], *path: str | int) -> None:
        """Note the languages that the study does not speak."""
        for code in given:
            if code not in self.languages:
                text = f"{label(path)}: {code!r} is not one of the study's languages"
                self.wrong(text, *path, code)


def label(path: Where) -> str:
    """How a path is called in messages; entries of lists are counted from 1.

    >>> label(("rounds", "length")), label(("before", 0, "name"))
    ('rounds.length', 'before 1: name')
    """
    said = ""
    for part in path:
        if isinstance(part, int):
            said += f" {part + 1}:"
        else:
            said += part if not said else f" {part}" if said.endswith(":") else f".{part}"
    return said.removesuffix(":")
