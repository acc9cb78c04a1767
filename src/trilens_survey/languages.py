"""The languages of the participant's page: its texts, and which of them a participant reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

# the loader in C, where PyYAML has it: twelve files take a fifth of the time
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_HERE = Path(__file__).parent / "texts"


def _read(folder: Path) -> dict[str, Any]:
    return {
        file.stem: yaml.load(file.read_text(encoding="utf-8"), _LOADER)
        for file in sorted(folder.glob("*.yaml"))
    }


_REVIEWED, _OTHERS = _read(_HERE), _read(_HERE / "not_reviewed")
#: Every text of the participant's pages but the questions, by language.
TEXTS: dict[str, dict[str, str]] = {code: one["texts"] for code, one in _REVIEWED.items()}
#: The same in languages in which no native speaker has reviewed it.
UNREVIEWED: dict[str, dict[str, str]] = {code: one["texts"] for code, one in _OTHERS.items()}
#: What the participant is asked, by kind (and for grids ``kind_grid``) and language.
QUESTIONS: dict[str, dict[str, str]] = {
    kind: {code: one["question"][kind] for code, one in (_REVIEWED | _OTHERS).items()}
    for kind in _REVIEWED["en"]["question"]
}

#: Written from right to left; a study may bring its own texts in those that are not built in.
_RIGHT_TO_LEFT = frozenset(
    ["ar", "arc", "ckb", "dv", "fa", "he", "ks", "ku", "ps", "sd", "ug", "ur", "yi"]
)


def base(code: str) -> str:
    """A language without its country or script.

    >>> base("pt-BR")
    'pt'
    """
    return code.split("-")[0].lower()


def direction(code: str) -> str:
    """Which way a language is written, as HTML says it.

    >>> direction("ar-EG"), direction("en")
    ('rtl', 'ltr')
    """
    return "rtl" if base(code) in _RIGHT_TO_LEFT else "ltr"


def questions_in(languages: Sequence[str]) -> dict[str, dict[str, str]]:
    """The built-in questions, for those of the languages that there are any in."""
    return {
        kind: {code: texts[base(code)] for code in languages if base(code) in texts}
        for kind, texts in QUESTIONS.items()
    }


def spoken(offered: Sequence[str], asked: Sequence[str]) -> str:
    """The first language asked for that is offered; else the first that is offered.

    >>> spoken(["en", "pt-BR"], ["pt", "en"])
    'pt-BR'
    >>> spoken(["en", "de"], ["fr", "DE-at"])
    'de'
    >>> spoken(["en", "de"], ["fr"])
    'en'
    """
    by_code = {code.lower(): code for code in reversed(offered)}
    by_base = {base(code): code for code in reversed(offered)}
    for language in asked:
        known = by_code.get(language.lower()) or by_base.get(base(language))
        if known:
            return known
    return offered[0]


def preferred(header: str) -> list[str]:
    """The languages of an Accept-Language header, the most wanted first.

    >>> preferred("en;q=0.5, de-AT, *;q=0.1, fr;q=0")
    ['de-AT', 'en']
    """
    found = []
    for part in header.split(","):
        code, _, given = part.partition(";")
        try:
            weight = float(given.strip().removeprefix("q=") or 1)
        except ValueError:
            weight = 0.0
        if weight > 0 and code.strip() not in ("", "*"):
            found.append((-weight, code.strip()))
    return [code for _, code in sorted(found, key=lambda one: one[0])]
