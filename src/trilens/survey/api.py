"""What the participant's page calls."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, StrictBool, field_validator
from sqlalchemy.engine import Connection

from trilens.survey.cookies import PARTICIPANT, sign, unsign
from trilens.survey.ledger import is_open
from trilens.survey.server import Survey
from trilens.survey.study import PLATFORMS
from trilens.survey.writer import Refused

router = APIRouter(prefix="/api")

#: A cookie lasts longer than a sitting: whoever comes back goes on.
_COOKIE_SECONDS = 90 * 24 * 3600
_LONGEST_SECONDS = 7 * 24 * 3600.0

_REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"description": "a body that is not JSON"},
    401: {"description": "no cookie of a participant"},
    403: {"description": "somebody else's, or the study is closed"},
    409: {"description": "not now, or not so"},
    413: {"description": "too long"},
    503: {"description": "the server is stopping"},
}


class Join(BaseModel):
    """A participant who begins."""

    consent: StrictBool = False
    platform_id: Annotated[str, Field(max_length=200)] | None = None
    language: Annotated[str, Field(max_length=20)] | None = None

    @field_validator("platform_id", "language")
    @classmethod
    def _storable(cls, value: str | None) -> str | None:
        return _storable(value)


class Answer(BaseModel):
    """An answer to a question."""

    token: Annotated[str, Field(max_length=100)]
    chosen: Annotated[str, Field(max_length=1000)]
    seconds: Annotated[float, Field(ge=0, le=_LONGEST_SECONDS, allow_inf_nan=False)]

    @field_validator("token", "chosen")
    @classmethod
    def _storable(cls, value: str) -> str:
        return _storable(value) or ""


class Receipt(BaseModel):
    """What a new participant keeps."""

    receipt: str


class Stored(BaseModel):
    """The answer is on the disk."""

    stored: bool
    next: dict[str, Any] | None = None


def _storable(value: str | None) -> str | None:
    """Text that every database can hold: no NUL, no lone surrogate."""
    if value is not None and ("\0" in value or any(0xD800 <= ord(c) < 0xE000 for c in value)):
        raise ValueError("text must not hold NUL or lone surrogates")
    return value


def survey_of(request: Request) -> Survey:
    """The survey that the application serves."""
    survey = request.app.state.survey
    assert isinstance(survey, Survey)
    return survey


def participant_of(request: Request) -> int | None:
    """The number in the cookie, if it is ours."""
    survey = survey_of(request)
    value = unsign(survey.ledger.key, "participant", request.cookies.get(PARTICIPANT))
    return int(value) if value is not None else None


def _somebody(request: Request) -> int:
    number = participant_of(request)
    if number is None:
        raise Refused(401, "no participant's cookie; join first")
    return number


def is_secure(request: Request) -> bool:
    """Whether the browser came by TLS, straight or to the proxy in front."""
    return survey_of(request).options.secure or request.url.scheme == "https"


def cookie_path(request: Request) -> str:
    """The part of the site that is ours."""
    return survey_of(request).options.root_path + "/"


@router.post("/join", status_code=201, response_model=Receipt, responses=_REFUSALS)
async def join(request: Request, body: Join) -> Response:
    """Begin, with consent. Whoever has begun and not ended goes on instead."""
    survey = survey_of(request)
    if not body.consent:
        raise Refused(400, "without consent nothing is stored and nothing is asked")
    study, ledger = survey.study, survey.ledger
    language = study.spoken(body.language)
    platform_id = body.platform_id or None
    known = participant_of(request)
    if known is not None:
        receipt = await survey.look(lambda c: ledger.going_on(c, known, platform_id))
        if receipt is not None:
            return _joined(request, known, receipt)
    new = await survey.do(lambda c: ledger.join(c, platform_id, language))
    survey.metrics.event("joins")
    return _joined(request, new.participant, new.receipt)


def _joined(request: Request, participant: int, receipt: str) -> Response:
    response = JSONResponse({"receipt": receipt}, status_code=201)
    response.set_cookie(
        PARTICIPANT,
        sign(survey_of(request).ledger.key, "participant", str(participant)),
        max_age=_COOKIE_SECONDS,
        path=cookie_path(request),
        httponly=True,
        samesite="lax",
        secure=is_secure(request),
    )
    return response


@router.get("/question", responses=_REFUSALS)
async def question(request: Request) -> dict[str, Any]:
    """The question to answer now, the end of a round, or the end."""
    survey = survey_of(request)
    participant = _somebody(request)
    return await survey.look(lambda c: survey.ledger.question(c, participant))


@router.post("/round", responses=_REFUSALS)
async def begin_round(request: Request) -> dict[str, Any]:
    """Begin the next round; the first question of it."""
    survey = survey_of(request)
    participant = _somebody(request)
    await survey.do(lambda c: survey.ledger.begin_round(c, participant))
    return await survey.look(lambda c: survey.ledger.question(c, participant))


@router.post("/finish", responses=_REFUSALS)
async def finish(request: Request) -> dict[str, Any]:
    """No more rounds: the end, with the completion code."""
    survey = survey_of(request)
    participant = _somebody(request)
    await survey.do(lambda c: survey.ledger.finish(c, participant))
    return await survey.look(lambda c: survey.ledger.question(c, participant))


@router.post(
    "/answer",
    response_model=Stored,
    response_model_exclude_none=True,
    responses={**_REFUSALS, 404: {"description": "a token that was never issued"}},
)
async def answer(
    request: Request,
    body: Answer,
    next: Annotated[bool, Query(description="also return the next question")] = False,
) -> Response:
    """Store an answer; says so only when it is on the disk."""
    survey = survey_of(request)
    participant = _somebody(request)
    ledger = survey.ledger

    def deed(connection: Connection) -> tuple[bool, dict[str, Any] | None]:
        new = ledger.answer(connection, participant, body.token, body.chosen, body.seconds)
        return new, ledger.question(connection, participant) if next else None

    new, following = await survey.do(deed)
    if new:
        survey.metrics.event("answers")
    return JSONResponse(
        {"stored": True} if following is None else {"stored": True, "next": following}
    )


@router.get("/study")
async def study(
    request: Request, language: Annotated[str, Query(max_length=20)] = ""
) -> dict[str, Any]:
    """Every text that the page shows, in one language, and where the participant stands."""
    survey = survey_of(request)
    known = participant_of(request)
    opened = await survey.look(is_open)
    return page_facts(survey, language, opened) | {"joined": known is not None}


def page_facts(survey: Survey, language: str, opened: bool) -> dict[str, Any]:
    """What the page knows before its first question."""
    study = survey.study
    code = study.spoken(language)
    example = study.example
    return {
        "title": study.title[code],
        "kind": study.kind,
        "language": code,
        "languages": list(study.languages),
        "open": opened,
        "question": study.question[code],
        "instructions": study.instructions[code],
        "example": None
        if example is None
        else {
            "objects": list(example.objects),
            "answer": example.answer,
            "why": example.why[code],
            "stimuli": [study.by_name[name].shown(code) for name in example.objects],
        },
        "consent": {"version": study.consent_version, "text": study.consent[code]},
        "thanks": study.thanks[code],
        "contact": study.contact,
        "rounds": {"length": study.length, "most": study.most, "needed": study.needed},
        "platform_parameters": [PLATFORMS[study.completion.platform], *PLATFORMS.values()],
        "failed_code": study.completion.failed,
        "texts": study.texts[code],
    }
