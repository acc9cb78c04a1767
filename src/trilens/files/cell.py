"""What a single cell says: an integer, or nothing."""

from __future__ import annotations

import re

#: What stands for a missing cell, unless the list of objects has it.
MISSING = frozenset({"", "nan", "na", "n/a", "#n/a", "<na>", "null", "none"})

_PLAIN_INTEGER = re.compile(r"0|-?[1-9][0-9]*")


def is_integer(name: str) -> bool:
    """Whether a name is an integer in its plain decimal form.

    >>> [is_integer(name) for name in ["7", "-7", "0", "007", "-0", "+7", "7 ", "٧"]]
    [True, True, True, False, False, False, False, False]
    """
    return _PLAIN_INTEGER.fullmatch(name) is not None


def is_missing(name: str) -> bool:
    """Whether a cell stands for a missing one.

    >>> [is_missing(cell) for cell in ["NA", " ", "None", "Nan Madol"]]
    [True, True, True, False]
    """
    return name.strip().casefold() in MISSING


def is_missing_word(text: str) -> bool:
    """Whether a text is a word for a missing cell; blanks in quotes are a text of their own."""
    return bool(text.strip()) and is_missing(text)
