"""The participant's page."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from trilens.survey.api import page_facts, participant_of, survey_of
from trilens.survey.ledger import is_open

router = APIRouter()


@cache
def templates() -> Environment:
    """The pages, with every name and text escaped."""
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(request: Request, name: str, code: int = 200, **facts: Any) -> HTMLResponse:
    """A page; ``root`` is the path in front of every address in it."""
    root = survey_of(request).options.root_path
    text = templates().get_template(name).render(root=root, **facts)
    return HTMLResponse(text, status_code=code)


@router.get("/")
async def page(request: Request, language: str = "") -> HTMLResponse:
    """The one page of the participant; its script does the rest."""
    survey = survey_of(request)
    opened = await survey.look(is_open)
    facts = page_facts(survey, language or _preferred(request), opened)
    joined = participant_of(request) is not None
    return render(request, "participant.html", study=facts, joined=joined)


def _preferred(request: Request) -> str:
    """The first of the study's languages that the browser asks for."""
    languages = survey_of(request).study.languages
    for part in request.headers.get("accept-language", "").split(","):
        code = part.split(";")[0].strip()
        for known in (code, code.split("-")[0]):
            if known in languages:
                return known
    return languages[0]
