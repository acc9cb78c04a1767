"""The researcher's pages. Who may see them is decided by the route, not by its address."""

from __future__ import annotations

import hmac
import json
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy.engine import Connection

from trilens.survey import drawing, gate
from trilens.survey.api import is_secure, survey_of
from trilens.survey.cookies import RESEARCHER, sign, unsign
from trilens.survey.export import SETS, Collected, collect, write_export
from trilens.survey.ledger import all_about, erase, look_setting, put_setting
from trilens.survey.logs import tell
from trilens.survey.participant import render
from trilens.survey.password import LONGEST, SHORTEST, has_password, matches, set_password
from trilens.survey.server import Survey
from trilens.survey.status import status
from trilens.survey.writer import Refused

MOST_ROWS = 200


class NotSignedIn(Exception):
    """Nobody is signed in: off to the door."""


async def signed_in(request: Request) -> gate.Session:
    """The session of the cookie; every page behind the door depends on it."""
    survey = survey_of(request)
    key = unsign(survey.ledger.key, "researcher", request.cookies.get(RESEARCHER))
    session = None if key is None else await survey.look(lambda c: gate.find_session(c, key))
    if session is None:
        raise NotSignedIn
    return session


SignedIn = Annotated[gate.Session, Depends(signed_in)]
Typed = Annotated[str, Form(max_length=LONGEST)]


async def by_own_form(session: SignedIn, csrf: Typed = "") -> gate.Session:
    """A post from a page that this session was given, not from another site."""
    if not hmac.compare_digest(csrf.encode(), session.csrf.encode()):
        raise Refused(403, "this form is not from this session; load the page again")
    return session


OwnForm = Annotated[gate.Session, Depends(by_own_form)]
router = APIRouter(prefix="/researcher")


def to(request: Request, page: str) -> RedirectResponse:
    """Go to another of these pages."""
    root = survey_of(request).options.root_path
    return RedirectResponse(f"{root}/researcher/{page}", status_code=303)


async def turned_away(request: Request, _: Exception) -> Response:
    """Where somebody goes who is not signed in."""
    return to(request, "sign-in")


@router.get("/sign-in")
async def door(request: Request) -> HTMLResponse:
    """The form for the password."""
    known = await survey_of(request).look(has_password)
    return render(request, "sign_in.html", first=None, wrong=None, known=known, shortest=SHORTEST)


@router.post("/sign-in")
async def enter(request: Request, password: Typed) -> Response:
    """Sign in, with the password; slow, and not often."""
    survey = survey_of(request)
    address = request.client.host if request.client else ""
    if not survey.limiter.allows(address):
        survey.metrics.event("limited_sign_ins")
        return _refused(request, "Too many tries. Wait some minutes.", 429)
    stored = await survey.look(lambda c: look_setting(c, "password"))
    if not await survey.in_thread(lambda: matches(stored, password)):
        survey.metrics.event("refused_sign_ins")
        tell("sign-in refused")
        return _refused(request, "That is not the password.", 403)
    return await _enter(request)


def _refused(request: Request, why: str, code: int) -> HTMLResponse:
    return render(
        request, "sign_in.html", code, first=None, wrong=why, known=True, shortest=SHORTEST
    )


async def _enter(request: Request) -> Response:
    survey = survey_of(request)
    key, _ = await survey.do(gate.sign_in)
    tell("signed in")
    response = to(request, "")
    response.set_cookie(
        RESEARCHER,
        sign(survey.ledger.key, "researcher", key),
        max_age=gate.SESSION_SECONDS,
        path=survey.options.root_path + "/researcher",
        httponly=True,
        samesite="strict",
        secure=is_secure(request),
    )
    return response


@router.get("/first")
async def first(request: Request, key: Annotated[str, Query(max_length=100)] = "") -> Response:
    """The form for the first password, by the link that the first start printed."""
    good = await survey_of(request).look(lambda c: gate.is_first_key(c, key))
    if not good:
        raise Refused(403, "this link was used or is too old; see the output of the last start")
    return render(request, "sign_in.html", first=key, wrong=None, known=True, shortest=SHORTEST)


@router.post("/first")
async def set_first(request: Request, key: Typed, password: Typed) -> Response:
    """Set the first password; the link then opens nothing any more."""
    survey = survey_of(request)
    if len(password) < SHORTEST:
        why = f"A password has at least {SHORTEST} characters."
        return render(
            request, "sign_in.html", 422, first=key, wrong=why, known=True, shortest=SHORTEST
        )

    def deed(connection: Connection) -> None:
        if not gate.is_first_key(connection, key):
            raise Refused(403, "this link was used or is too old")
        set_password(connection, password)

    await survey.do(deed)
    return await _enter(request)


@router.post("/sign-out")
async def leave(request: Request, session: OwnForm) -> Response:
    """End the session here and wherever its cookie was copied to."""
    await survey_of(request).do(lambda c: gate.sign_out(c, session))
    response = to(request, "sign-in")
    response.delete_cookie(RESEARCHER, path=survey_of(request).options.root_path + "/researcher")
    return response


@router.get("/")
async def dashboard(request: Request, session: SignedIn) -> HTMLResponse:
    """Everything at a glance."""
    survey = survey_of(request)
    facts = await survey.look(lambda c: _facts(survey, c))
    said = request.query_params.get("said", "")
    return render(
        request, "dashboard.html", csrf=session.csrf, sets=SETS, said=_SAID.get(said), **facts
    )


@router.get("/live")
async def live(request: Request, session: SignedIn) -> HTMLResponse:
    """The part of the dashboard that its script fetches again and again."""
    survey = survey_of(request)
    facts = await survey.look(lambda c: _facts(survey, c))
    return render(request, "live.html", **facts)


#: What the dashboard says after a deed; the address names it, and holds no text itself.
_SAID = {
    "closed": "The study is closed: nobody joins, no round begins.",
    "open": "The study is open.",
    "erased": "One participant was erased, with every answer.",
    "unknown": "No participant has that receipt.",
}


def _facts(survey: Survey, connection: Connection) -> dict[str, Any]:
    return survey.dashboard.get(lambda: _make_facts(survey, connection))


def _make_facts(survey: Survey, connection: Connection) -> dict[str, Any]:
    study = survey.study
    collected = _collected(survey, connection)
    results = survey.live.results(connection)
    return {
        "study": study,
        "title": study.title[study.languages[0]],
        "status": status(connection, study.minimum),
        "results": results,
        "map": drawing.map_drawing(results, study, survey.options.root_path),
        "time": drawing.over_time(collected),
        "seconds": drawing.response_times(collected),
        "raters": drawing.raters(collected)[:MOST_ROWS],
        "rounds": drawing.rounds(collected)[:MOST_ROWS],
        "most_rows": MOST_ROWS,
    }


def _collected(survey: Survey, connection: Connection) -> Collected:
    return collect(connection, survey.study.kind, survey.study.minimum)


@router.get("/export")
async def export(
    request: Request,
    session: SignedIn,
    set: Annotated[Literal["all", "passed", "all-reduced", "passed-reduced"], Query()] = "all",
    format: Annotated[Literal["csv", "parquet"], Query()] = "csv",
) -> Response:
    """The answers as a file, as `trilens survey export` writes them."""
    survey = survey_of(request)
    collected = await survey.look(lambda c: _collected(survey, c))

    def write() -> bytes:
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / f"answers.{format}"
            write_export(collected, set, file)
            return file.read_bytes()

    data = await survey.in_thread(write)
    media = "text/csv; charset=utf-8" if format == "csv" else "application/vnd.apache.parquet"
    name = f'attachment; filename="answers-{set}.{format}"'
    return Response(data, media_type=media, headers={"content-disposition": name})


@router.post("/close")
async def close(request: Request, session: OwnForm) -> Response:
    """Take no more participants and begin no more rounds."""
    await survey_of(request).do(lambda c: put_setting(c, "closed", "yes"))
    survey_of(request).dashboard.forget()
    tell("closed")
    return to(request, "?said=closed")


@router.post("/open")
async def reopen(request: Request, session: OwnForm) -> Response:
    """Take participants again."""
    await survey_of(request).do(lambda c: put_setting(c, "closed", None))
    survey_of(request).dashboard.forget()
    tell("opened")
    return to(request, "?said=open")


@router.post("/erase")
async def forget(request: Request, session: OwnForm, receipt: Typed) -> Response:
    """Erase the participant with a receipt."""
    gone = await survey_of(request).do(lambda c: erase(c, receipt))
    if gone is not None:
        survey_of(request).dashboard.forget()
        tell("erased", answers=gone)
    return to(request, "?said=unknown" if gone is None else "?said=erased")


@router.post("/participant")
async def show(request: Request, session: OwnForm, receipt: Typed) -> Response:
    """All that is stored about the participant with a receipt, as JSON to hand over."""
    known = await survey_of(request).look(lambda c: all_about(c, receipt))
    if known is None:
        return to(request, "?said=unknown")
    text = json.dumps(known, ensure_ascii=False, indent=1)
    name = 'attachment; filename="participant.json"'
    return Response(text, media_type="application/json", headers={"content-disposition": name})
