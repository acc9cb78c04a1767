"""Write ``docs/survey-settings.md`` from the models of ``study.yaml``.

    python docs/survey_settings.py

A test compares the page with what this makes.
"""

from __future__ import annotations

import datetime
import inspect
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from trilens_survey.settings import sections

PAGE = Path(__file__).parent / "survey-settings.md"
_HEAD = """# Every setting of a study

The keys of `study.yaml`, section by section. `trilens survey check DIR` says what is wrong with a
file, with line numbers. A *text* is one text for all languages, or one for each:
`{en: ..., de: ...}`.
"""
_PLAIN = {int: "whole number", float: "number", bool: "true or false", datetime.date: "date"}


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *map(_section, sections())])


def _section(model: type[BaseModel]) -> str:
    title = model.model_config.get("title") or model.__name__.lower()
    title = title[:1].upper() + title[1:]
    about = inspect.getdoc(model) or ""
    lines = [f"## {title}", "", " ".join(about.split()), "", "| key | value | meaning |"]
    lines.append("|---|---|---|")
    for name, field in model.model_fields.items():
        meaning = (field.description or "").replace("|", "\\|")
        lines.append(f"| `{name}` | {_value(name, field)} | {meaning} |")
    return "\n".join(lines) + "\n"


def _value(name: str, field: FieldInfo) -> str:
    if name in ("at_most", "gain", "level"):
        kind = "number"
    else:
        kind = _kind(field.annotation, field.metadata)
    if field.is_required():
        return f"{kind}; needed"
    default = field.default
    if default in (None, PydanticUndefined, ()) or isinstance(default, BaseModel):
        return kind
    shown = list(default) if isinstance(default, tuple) else default
    shown = str(shown).lower() if isinstance(shown, bool) else shown
    return f"{kind} ({shown})".replace("'", "")


def _kind(annotation: Any, metadata: Any = ()) -> str:
    """What a value is, in words."""
    if any("as_text" in repr(one) for one in metadata):
        return "text"
    if any("_options" in repr(one) for one in metadata):
        return "texts"
    inner = [one for one in get_args(annotation) if one is not type(None)]
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{word}`" for word in inner)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "section: " + (annotation.model_config.get("title") or annotation.__name__.lower())
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if annotation is str:
        return "word or line"
    if hasattr(annotation, "__metadata__"):
        return _kind(inner[0], annotation.__metadata__)
    if get_origin(annotation) is tuple:
        of = _kind(inner[0]).removeprefix("section: ")
        return "two texts" if len(inner) == 2 and inner[1] is not Ellipsis else f"list of {of}"
    if get_origin(annotation) is dict:
        return f"names, each with {_kind(inner[1]).removeprefix('section: ')}"
    return " or ".join(dict.fromkeys(_kind(one).removeprefix("section: ") for one in inner))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
