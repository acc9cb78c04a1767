"""The participant's page, and what it calls."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import AfterValidator, BaseModel, Field, StrictBool
from sqlalchemy.engine import Connection

from trilens_survey.auth import PARTICIPANT, address_of
from trilens_survey.languages import direction, preferred
from trilens_survey.links import check_filled
from trilens_survey.server import Here, Survey
from trilens_survey.settings import MOST, PLATFORMS
from trilens_survey.store.administration import state_of
from trilens_survey.writer import Refused

router = APIRouter()

#: A cookie lasts longer than a sitting: whoever comes back goes on.
_COOKIE_SECONDS = 90 * 24 * 3600
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LONGEST_SECONDS = 7 * 24 * 3600.0

_REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"description": "no consent, or a body that is not JSON"},
    401: {"description": "no participant's cookie"},
    403: {"description": "another participant's question, a link without its secret, or closed"},
    404: {"description": "no participant has this receipt"},
    409: {"description": "in conflict with what is stored; an id that is in use already"},
    413: {"description": "too long"},
    429: {"description": "too many new participants from one address"},
    503: {"description": "the server is stopping"},
}
_NO_TOKEN: dict[int | str, dict[str, Any]] = {404: {"description": "a token that was never issued"}}


def _storable(value: str) -> str:
    """Text that every database can hold: no NUL, no lone surrogate."""
    if "\0" in value or _SURROGATE.search(value):
        raise ValueError("text must not hold NUL or lone surrogates")
    return value


Storable: TypeAlias = Annotated[str, AfterValidator(_storable)]
Short: TypeAlias = Annotated[Storable, Field(max_length=200)]
Name: TypeAlias = Annotated[Storable, Field(max_length=1000)]


class Join(BaseModel):
    """A participant who begins."""

    consent: StrictBool = False
    platform_id: Short | None = None
    language: Short | None = None
    test: Short | None = Field(default=None, description="of a test link")
    receipt: Short | None = Field(default=None, description="to go on in another browser")
    key: Short | None = Field(default=None, description="of the link")
    signature: Annotated[Storable, Field(max_length=4000)] | None = Field(
        default=None, description="of the link; of Prolific, its token"
    )


class Answer(BaseModel):
    """An answer to a question."""

    token: Short
    chosen: Name | Annotated[list[Name], Field(min_length=1, max_length=MOST)]
    seconds: Annotated[float, Field(gt=0, le=_LONGEST_SECONDS, allow_inf_nan=False, strict=True)]


class Form(BaseModel):
    """Answers to the questions before or after the rounds, by name."""

    form: Literal["before", "after"]
    values: Annotated[
        dict[str, StrictBool | int | float | Storable | list[Storable] | None],
        Field(max_length=1000),
    ]


class Leave(BaseModel):
    """A participant who leaves: whether the answers are kept, or erased."""

    keep: StrictBool


class Skip(BaseModel):
    """A question of which a picture or sound did not come."""

    token: Short
    missing: Annotated[list[Name], Field(max_length=100)]


class Receipt(BaseModel):
    """What a new participant keeps."""

    receipt: str


class Stored(BaseModel):
    """The answer is on the disk."""

    stored: bool
    next: dict[str, Any] | None = None
    feedback: dict[str, Any] | None = None


async def _receipt_in_cookie(request: Request, survey: Here) -> str | None:
    """The receipt of the participant in this browser, if there is one."""
    return survey.cookie(request, PARTICIPANT)


Known: TypeAlias = Annotated[str | None, Depends(_receipt_in_cookie)]


async def _receipt_of(known: Known) -> str:
    """The same; refused without."""
    if known is None:
        raise Refused(401, "no participant's cookie; join first")
    return known


Mine: TypeAlias = Annotated[str, Depends(_receipt_of)]


# the route that is called most comes first: they are tried in this order
@router.post(
    "/api/answer",
    response_model=Stored,
    response_model_exclude_none=True,
    responses=_REFUSALS | _NO_TOKEN,
)
async def answer(
    survey: Here,
    receipt: Mine,
    body: Answer,
    next: Annotated[bool, Query(description="also return the next question")] = False,
) -> Response:
    """Store an answer; says so only when it is on the disk."""
    given = (receipt, body.token, body.chosen, body.seconds)
    said = await survey.write(lambda c: survey.store.answer(c, *given, then_next=next))
    return JSONResponse(said)


@router.post("/api/join", status_code=201, response_model=Receipt, responses=_REFUSALS)
async def join(request: Request, survey: Here, known: Known, body: Join) -> Response:
    """Begin, with consent. Whoever has begun goes on with their cookie, or with their receipt."""
    if not body.consent:
        raise Refused(400, "consent is required; nothing was stored")
    store = survey.store
    platform_id = body.platform_id or None
    check_filled(platform_id)
    test_run = bool(body.test)
    if test_run and not store.is_test_link(body.test or ""):
        raise Refused(403, "this test link is not valid; copy it again from the researcher's page")
    if known is not None and await survey.read(
        lambda c: store.goes_on(c, known, platform_id, test_run=test_run)
    ):
        return _joined(request, survey, known)
    receipt = body.receipt
    if receipt:
        if not survey.receipts.allows(address_of(request)):
            raise Refused(429, "too many receipts from this address; try again later")
        back = await survey.read(lambda c: store.resume(c, receipt, platform_id))
        return _joined(request, survey, back)
    if not survey.joins.allows(address_of(request)):
        raise Refused(429, "too many new participants from this address; try again later")
    links = survey.links
    if links is not None and not test_run:
        await survey.in_thread(lambda: links.check(platform_id, body.key, body.signature))
    language = survey.study.spoken(body.language)
    found = await survey.write(lambda c: store.join(c, platform_id, language, test_run=test_run))
    return _joined(request, survey, found)


def _joined(request: Request, survey: Survey, receipt: str) -> Response:
    response = JSONResponse({"receipt": receipt}, status_code=201)
    survey.set_cookie(request, response, PARTICIPANT, receipt, _COOKIE_SECONDS)
    return response


@router.get("/api/question", responses=_REFUSALS)
async def question(survey: Here, receipt: Mine) -> dict[str, Any]:
    """The question to answer now, the end of a round, or the end.

    Whoever sees it for the first time has got their receipt.
    """
    store = survey.store

    def look(connection: Connection) -> tuple[bool, dict[str, Any]]:
        seen = store.person(connection, receipt).seen is not None
        return seen, store.screen(connection, receipt)

    seen, shown = await survey.read(look)
    if not seen:
        await survey.write(lambda c: store.see(c, receipt))
    return shown


@router.post("/api/round", responses=_REFUSALS)
async def begin_round(survey: Here, receipt: Mine) -> dict[str, Any]:
    """Begin the next round; the first question of it."""
    await survey.write(lambda c: survey.store.begin_round(c, receipt))
    return await question(survey, receipt)


@router.post("/api/finish", responses=_REFUSALS)
async def finish(survey: Here, receipt: Mine) -> dict[str, Any]:
    """No more rounds: the end, with the completion code."""
    await survey.write(lambda c: survey.store.finish(c, receipt))
    return await question(survey, receipt)


@router.post("/api/form", responses=_REFUSALS)
async def form(survey: Here, receipt: Mine, body: Form) -> Response:
    """Store the answers to the questions before or after the rounds; what the page shows next."""
    wrong = await survey.write(lambda c: survey.store.fill_form(c, receipt, body.form, body.values))
    if wrong:
        detail = f"not stored: {', '.join(wrong)}"
        return JSONResponse({"detail": detail, "problems": wrong}, status_code=422)
    return JSONResponse(await question(survey, receipt))


@router.post("/api/leave", responses=_REFUSALS)
async def leave(survey: Here, receipt: Mine, body: Leave) -> Response:
    """Leave before the end; what the page shows then."""
    shown = await survey.write(lambda c: survey.store.leave(c, receipt, keep=body.keep))
    response = JSONResponse(shown)
    if not body.keep:
        survey.forget_cookie(response, PARTICIPANT)
    return response


@router.post("/api/skip", responses=_REFUSALS | _NO_TOKEN)
async def skip(survey: Here, receipt: Mine, body: Skip) -> dict[str, Any]:
    """Leave out a question that cannot be shown; what the page shows next."""
    await survey.write(lambda c: survey.store.skip(c, receipt, body.token, body.missing))
    return await question(survey, receipt)


@router.get("/api/study")
async def study(
    survey: Here, known: Known, language: Annotated[str, Query(max_length=20)] = ""
) -> dict[str, Any]:
    """Every text that the page shows, in one language, and whether the participant has joined."""
    facts = _page_facts(survey, survey.study.spoken(language), await _is_open(survey))
    return facts | {"joined": known is not None}


async def _is_open(survey: Survey) -> bool:
    return await survey.read(lambda c: state_of(c, survey.study)) == "open"


def _page_facts(survey: Survey, code: str, opened: bool) -> dict[str, Any]:
    """What the page knows before its first question."""
    study = survey.study
    settings = study.settings
    example = settings.example
    return {
        "title": settings.title[code],
        "kind": study.kind,
        "language": code,
        "direction": direction(code),
        "languages": list(study.languages),
        "open": opened,
        "question": study.first.question[code],
        "instructions": settings.instructions[code],
        "example": None
        if example is None
        else {
            "objects": list(example.objects),
            "answer": example.answer,
            "why": example.why[code],
            "stimuli": [study.by_name[name].shown(code) for name in example.objects],
        },
        "consent": {"version": settings.consent.version, "text": settings.consent.text[code]},
        "thanks": "" if settings.thanks is None else settings.thanks[code],
        "contact": settings.contact,
        "rounds": {"length": study.first.length, "most": study.most, "needed": study.needed},
        "forms": bool(settings.before or settings.after),
        "needs_id": survey.links is not None and survey.links.needs_id,
        "platform_parameters": [PLATFORMS[study.settings.completion.platform], *PLATFORMS.values()],
        "texts": study.texts[code],
    }


@router.get("/", include_in_schema=False)
async def page(
    request: Request, survey: Here, known: Known, lang: str = "", language: str = ""
) -> HTMLResponse:
    """The one page of the participant; its script does the rest."""
    accepted = preferred(request.headers.get("accept-language", ""))
    spoken = survey.study.spoken(lang, language, *accepted)
    facts = _page_facts(survey, spoken, await _is_open(survey))
    if known is None:
        survey.opened()
    return survey.page("participant.html", study=facts, joined=known is not None)
