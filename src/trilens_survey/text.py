"""Texts of a study: one for all of its languages, or one for each."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo
from pydantic_core import PydanticCustomError


class Settings(BaseModel):
    """A section of ``study.yaml``; a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def as_text(value: Any, info: ValidationInfo) -> dict[str, str]:
    """A text in every language of the study, which are the context of the validation."""
    languages: tuple[str, ...] = (info.context or {}).get("languages", ("en",))
    if isinstance(value, (list, bool)) or value is None or not str(value).strip():
        raise PydanticCustomError("text", "must be text, or a text for each language")
    if not isinstance(value, dict):
        return dict.fromkeys(languages, str(value).strip())
    for code in value:
        if code not in languages:
            text = f"has a text in {code!r}, which is not one of the study's languages"
            raise PydanticCustomError("language", text)
    texts = {code: str(value.get(code) or "").strip() for code in languages}
    lacking = [code for code in texts if not texts[code]]
    if lacking:
        raise PydanticCustomError("language", f"is missing in: {', '.join(lacking)}")
    return texts


#: A text in each of the study's languages.
Text: TypeAlias = Annotated[dict[str, str], BeforeValidator(as_text)]


def _line(value: Any) -> Any:
    """Numbers are words too: a version may be 1."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        value = value.strip()
        if not value:
            raise PydanticCustomError("line", "must be a line of text")
    return value


#: A line of text, the same in every language.
Line: TypeAlias = Annotated[str, BeforeValidator(_line)]
