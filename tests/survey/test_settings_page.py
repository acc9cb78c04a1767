"""The page of all settings is made from the models that check them."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from trilens_survey.settings import KEYS

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_all_settings_is_up_to_date() -> None:
    spec = spec_from_file_location("survey_settings", DOCS / "survey_settings.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    page = (DOCS / "survey-settings.md").read_text(encoding="utf-8")
    assert page == made.page(), "run python docs/survey_settings.py"
    assert not [key for key in KEYS if f"| `{key}` |" not in page]
