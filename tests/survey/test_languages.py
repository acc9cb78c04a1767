"""The languages of the participant's page: complete, alike, and chosen as people want them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from studies import edit, one_language, running
from trilens.errors import StudyError
from trilens_survey.languages import QUESTIONS, TEXTS, UNREVIEWED
from trilens_survey.study import load_study

LANGUAGES = TEXTS.keys() | UNREVIEWED.keys()
#: What every key is, whatever the language: a question of a kind, or a text of the pages.
ENGLISH = {key: QUESTIONS[key]["en"] for key in QUESTIONS} | TEXTS["en"]


def test_texts_that_nobody_has_reviewed_are_chosen_on_purpose(folder: Path) -> None:
    """And a study speaks every language without texts of its own."""
    others = ", ".join(sorted(UNREVIEWED))
    one_language(folder, f"{', '.join(sorted(TEXTS))}, {others}")
    study = load_study(folder)
    assert set(study.languages) == LANGUAGES
    assert study.first.question["pl"] == QUESTIONS["central"]["pl"]
    assert study.texts["ja"] == UNREVIEWED["ja"]
    assert study.settings.title["ja"] == "Fruit and other food"
    edit(folder, (f"not_reviewed: [{others}]\n", ""))
    with pytest.raises(StudyError, match=r"write not_reviewed: \[ar\]"):
        load_study(folder)


#: Where the noun changes with its number in ways that one sentence cannot follow.
_COUNTED = {
    "pl": r"\{(answers|k|n|most)\} (odpowied|element|znak)",
    "ar": r"\{(answers|k|n|most)\} (إجاب|عنصر|عناصر|حرف|أحرف)",
}


def test_twelve_languages_are_complete() -> None:
    assert len(LANGUAGES) == 12
    for language in LANGUAGES:
        words = {key: texts[language] for key, texts in QUESTIONS.items()}
        words |= (TEXTS | UNREVIEWED)[language]
        assert words.keys() == ENGLISH.keys()
        for key, english in ENGLISH.items():
            assert words[key] == words[key].strip() != "", (language, key)
            gaps = re.findall(r"\{\w+\}", words[key])
            assert sorted(gaps) == sorted(re.findall(r"\{\w+\}", english)), (language, key)
            if language in _COUNTED:
                assert not re.search(_COUNTED[language], words[key]), (language, key)


def test_the_language_is_that_of_the_address_or_of_the_browser(folder: Path) -> None:
    with running(one_language(folder, "en, ar, pt-BR")) as app:
        for address, browser, language in (
            ("/", "", "en"),
            ("/", "sv, ar-EG;q=0.8, en;q=0.9", "en"),
            ("/", "ar-EG, en;q=0.9", "ar"),
            ("/?lang=pt", "ar", "pt-BR"),
            ("/?lang=AR", "en", "ar"),
            ("/?lang=xx", "ar", "ar"),
            ("/?language=ar", "en", "ar"),
        ):
            page = app.participant().get(address, headers={"accept-language": browser}).text
            way = "rtl" if language == "ar" else "ltr"
            assert f'<html lang="{language}" dir="{way}">' in page, (address, browser)
