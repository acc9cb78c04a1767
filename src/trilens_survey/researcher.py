"""The researcher's pages. Who may see them is decided by the route, not by its address."""

from __future__ import annotations

import hmac
import json
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy.engine import Connection

from trilens_survey import SETS, Set, auth
from trilens_survey.auth import DEVICE, FIRST, RESEARCHER, Session
from trilens_survey.export import prepare_export, write_export
from trilens_survey.log import log_event
from trilens_survey.payment import payments_due, write_payments
from trilens_survey.server import Here, Survey, served_by
from trilens_survey.settings import Kind
from trilens_survey.status import log_entries
from trilens_survey.store.administration import all_about, erase, pause, record, resume
from trilens_survey.writer import Refused, Write

#: How long a browser is known as one where the password was typed.
_DEVICE_SECONDS = 365 * 24 * 3600


#: The report brings its style and its script with it, and a policy of its own for both; here it
#: is kept from everything else of this site.
_REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "sandbox allow-scripts; frame-ancestors 'self'"
)


class NotSignedIn(Exception):
    """Nobody is signed in."""


async def signed_in(request: Request, survey: Here) -> Session:
    """The session of the cookie; every page that is not for strangers depends on it."""
    key = survey.cookie(request, RESEARCHER)
    session = None if key is None else await survey.read(lambda c: auth.find_session(c, key))
    if session is None:
        raise NotSignedIn
    return session


SignedIn = Annotated[Session, Depends(signed_in)]
Typed = Annotated[str, Form(max_length=auth.LONGEST)]


async def by_own_form(session: SignedIn, csrf: Typed = "") -> Session:
    """A post from a page that this session was given, not from another site."""
    if not hmac.compare_digest(csrf.encode(), session.csrf.encode()):
        raise Refused(403, "this form is from another session; reload the page")
    return session


OwnForm = Annotated[Session, Depends(by_own_form)]
router = APIRouter(prefix="/researcher")


def to(survey: Survey, page: str) -> RedirectResponse:
    """Go to another of these pages."""
    root = survey.options.root_path
    return RedirectResponse(f"{root}/researcher/{page}", status_code=303)


async def to_sign_in(request: Request, _: Exception) -> Response:
    """Where somebody goes who is not signed in."""
    return to(await served_by(request), "sign-in")


def _sign_in_page(
    survey: Survey, code: int = 200, *, first: str | None = None, wrong: str | None = None,
    known: bool = True,
) -> HTMLResponse:  # fmt: skip
    """The form for the password; with the ``first`` key, for the first one."""
    facts = {"first": first, "wrong": wrong, "known": known, "shortest": auth.SHORTEST}
    return survey.page("sign_in.html", code, **facts)


@router.get("/sign-in")
async def sign_in_page(survey: Here) -> HTMLResponse:
    """The form for the password."""
    names = await survey.read(auth.researcher_names)
    return _sign_in_page(survey, known=bool(names))


@router.post("/sign-in")
async def sign_in(
    request: Request, survey: Here, password: Typed, username: Typed = FIRST
) -> Response:
    """Sign in with the password; slow, and not often wrong.

    Wrong passwords count against the address they come from, or against the browser where the
    right one was typed before (OWASP's device cookies): strangers cannot lock the researcher out.
    """
    device = survey.cookie(request, DEVICE)
    sender = auth.address_of(request) if device is None else f"device {device}"
    # counted before it is checked: of many that come at once, no more are checked
    if not survey.wrong_passwords.allows(sender):
        return _sign_in_page(survey, 429, wrong="Too many attempts. Try again in a few minutes.")
    stored = await survey.read(lambda c: auth.password_of(c, username))
    # a few at a time, so that they are never in the way of an answer
    async with survey.password_checks:
        right = await survey.in_thread(lambda: auth.matches(stored, password))
    if not right:
        log_event("sign-in refused")
        return _sign_in_page(survey, 403, wrong="Wrong name or password.")
    survey.wrong_passwords.forgive(sender)
    return await _begin_session(request, survey, username)


async def _begin_session(request: Request, survey: Survey, name: str) -> Response:
    key = await survey.write(lambda c: auth.sign_in(c, name))
    log_event("signed in")
    response = to(survey, "")
    survey.set_cookie(request, response, RESEARCHER, key, auth.SESSION_SECONDS)
    survey.set_cookie(request, response, DEVICE, secrets.token_hex(8), _DEVICE_SECONDS)
    return response


@router.get("/first")
async def first_page(survey: Here, key: Annotated[str, Query(max_length=100)] = "") -> Response:
    """The form for the first password, by the link that the first start printed."""
    if not await survey.read(lambda c: auth.is_first_key(c, key)):
        raise Refused(403, "this link has expired; the server prints a new one when it starts")
    return _sign_in_page(survey, first=key)


@router.post("/first")
async def set_first(request: Request, survey: Here, key: Typed, password: Typed) -> Response:
    """Set the first password; the link then opens nothing any more."""
    if len(password) < auth.SHORTEST:
        why = f"The password must have at least {auth.SHORTEST} characters."
        return _sign_in_page(survey, 422, first=key, wrong=why)
    await survey.write(lambda c: auth.set_first_password(c, key, password))
    return await _begin_session(request, survey, FIRST)


@router.post("/sign-out")
async def sign_out(survey: Here, session: OwnForm) -> Response:
    """End the session here and wherever its cookie was copied to."""
    await survey.write(lambda c: auth.sign_out(c, session))
    response = to(survey, "sign-in")
    survey.forget_cookie(response, RESEARCHER)
    return response


@router.get("", include_in_schema=False)
async def without_slash(survey: Here) -> Response:
    """The dashboard, whose address ends in a slash."""
    return to(survey, "")


@router.get("/")
async def dashboard(survey: Here, session: SignedIn, done: str = "") -> HTMLResponse:
    """Everything at a glance."""
    facts = await survey.read(survey.dashboard.facts)
    facts |= {"csrf": session.csrf, "sets": SETS, "done": _DONE.get(done)}
    facts |= {"kinds": survey.study.kinds, "test_link": survey.store.test_link()}
    return survey.page("dashboard.html", **facts)


@router.get("/live")
async def live(survey: Here, session: SignedIn) -> HTMLResponse:
    """The part of the dashboard that its script fetches again and again."""
    facts = await survey.read(survey.dashboard.facts)
    # beside the event loop: long tables must not keep participants waiting
    return await survey.in_thread(lambda: survey.page("live.html", **facts))


@router.get("/report")
async def report(survey: Here, session: SignedIn) -> HTMLResponse:
    """The report of the last analysis, as `trilens analyze` writes it; the dashboard shows it."""
    found = survey.dashboard.analysis.latest
    if found is None or found.report is None:
        raise Refused(404, "there is no report yet")
    return HTMLResponse(found.report, headers={"content-security-policy": _REPORT_POLICY})


@router.post("/analyze")
async def analyze(survey: Here, session: OwnForm) -> Response:
    """Analyze the answers of this moment, without waiting for more."""
    await survey.read(lambda c: survey.dashboard.facts(c, at_once=True))
    return to(survey, "")


#: What the dashboard says after something was done; the address names it, and holds no text.
_DONE = {
    "paused": "The study is paused: nobody can join, and no round can begin.",
    "open": "The study goes on.",
    "erased": "The participant and all their answers were erased.",
    "unknown": "No participant has that receipt.",
}


@router.get("/export")
async def export(
    survey: Here,
    session: SignedIn,
    set: Annotated[Set, Query()] = "all",
    format: Annotated[Literal["csv", "parquet"], Query()] = "csv",
    kind: Annotated[Kind | None, Query()] = None,
) -> Response:
    """The answers as a file, as `trilens survey export` writes them."""
    collected = await survey.read(lambda c: prepare_export(c, survey.study, set, kind))
    name = f"answers-{set}{f'-{kind}' if kind else ''}.{format}"
    data = await survey.in_thread(lambda: _file(name, lambda f: write_export(collected, set, f)))
    await survey.write(lambda c: record(c, session.researcher, f"exported {name}"))
    return _download(data, name)


def _file(name: str, write: Callable[[Path], object]) -> bytes:
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / name
        write(file)
        return file.read_bytes()


_MEDIA = {
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
}


def _download(data: bytes | str, name: str) -> Response:
    attached = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=_MEDIA[Path(name).suffix], headers=attached)


@router.post("/close")
async def close(survey: Here, session: OwnForm) -> Response:
    """Take no more participants and begin no more rounds."""
    return await _do(survey, lambda c: pause(c, session.researcher), "paused")


@router.post("/open")
async def reopen(survey: Here, session: OwnForm) -> Response:
    """Take participants again."""
    return await _do(survey, lambda c: resume(c, session.researcher), "open")


async def _do(survey: Survey, write: Write[None], done: str) -> Response:
    await survey.write(write)
    survey.dashboard.forget()
    log_event(done)
    return to(survey, f"?done={done}")


@router.post("/erase")
async def forget(
    survey: Here, session: OwnForm, receipt: Typed, sure: Annotated[bool, Form()] = False
) -> Response:
    """Erase the participant with a receipt, after asking."""
    if not sure:
        known = await survey.read(lambda c: all_about(c, receipt))
        if known is None:
            return to(survey, "?done=unknown")
        given = sum(question["chosen"] is not None for question in known["questions"])
        facts = {"receipt": known["receipt"], "answers": given, "joined": known["joined"]}
        return survey.page("erase.html", csrf=session.csrf, **facts)

    def write(connection: Connection) -> int | None:
        gone = erase(connection, receipt)
        if gone is not None:
            record(connection, session.researcher, f"erased a participant and {gone:,} answers")
        return gone

    gone = await survey.write(write)
    if gone is None:
        return to(survey, "?done=unknown")
    survey.dashboard.forget()
    log_event("erased", answers=gone)
    return to(survey, "?done=erased")


@router.get("/payments")
async def payments(survey: Here, session: SignedIn) -> HTMLResponse:
    """What each participant of a platform did."""
    rows = await survey.read(payments_due)
    until = survey.study.settings.payment.retention
    return survey.page("payments.html", rows=rows, until=until)


@router.get("/payments.csv")
async def payments_file(survey: Here, session: SignedIn) -> Response:
    """The same as a file."""
    rows = await survey.read(payments_due)
    data = await survey.in_thread(lambda: _file("payments.csv", lambda f: write_payments(rows, f)))
    return _download(data, "payments.csv")


@router.get("/log")
async def log(survey: Here, session: SignedIn) -> HTMLResponse:
    """Who did what, and who may sign in."""
    entries = await survey.read(lambda c: log_entries(c, 1000))
    names = await survey.read(auth.researcher_names)
    return survey.page("log.html", entries=entries, names=names, me=session.researcher)


@router.post("/participant")
async def show(survey: Here, session: OwnForm, receipt: Typed) -> Response:
    """All that is stored about the participant with a receipt, as JSON to hand over."""
    known = await survey.read(lambda c: all_about(c, receipt))
    if known is None:
        return to(survey, "?done=unknown")
    return _download(json.dumps(known, ensure_ascii=False, indent=1), "participant.json")
