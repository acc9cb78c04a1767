"""The application: its routes, and what it says when something is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from trilens import __version__
from trilens_survey import participant, researcher
from trilens_survey.middleware import MEDIA_POLICY, RETRY_AFTER, Middleware
from trilens_survey.server import Survey, served_by
from trilens_survey.writer import Refused


def make_app(
    survey: Survey, *, started: bool = False, ready: Callable[[], None] | None = None
) -> FastAPI:
    """The ASGI application of a survey; its lifespan opens the database, if need be, and closes it.

    It calls ``ready`` when requests are about to be served.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if not started:
            survey.start()
        if ready is not None:
            ready()
        order = asyncio.create_task(survey.keep_order())
        try:
            yield
        finally:
            order.cancel()
            survey.close()

    app = FastAPI(
        title="trilens survey",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # the pages of FastAPI load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # they would lead to whatever Host was sent
    )
    app.state.survey = survey
    app.include_router(participant.router)
    app.include_router(researcher.router, include_in_schema=False)
    app.add_exception_handler(researcher.NotSignedIn, researcher.to_sign_in)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(HTTPException, _not_here)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")

    @app.get("/healthz", responses={503: {"description": "answers cannot be stored"}})
    async def healthz() -> dict[str, bool]:
        """200 when answers can be stored."""
        try:
            await survey.healthy()
        except Exception:
            raise Refused(503, "answers cannot be stored") from None
        return {"ok": True}

    @app.get(
        "/media/{key}",
        response_class=FileResponse,
        responses={404: {"description": "no such stimulus"}},
    )
    async def media(key: str) -> Response:
        """A picture or a sound, by its fingerprint; no part of a path comes from outside."""
        stimulus = survey.study.media.get(key)
        if stimulus is None or stimulus.file is None or not stimulus.file.is_file():
            raise Refused(404, "no such stimulus")
        served = survey.copies.known(stimulus)
        if served is None:
            served = await survey.in_thread(lambda: survey.copies.of(stimulus))
        file, media_type = served
        return FileResponse(
            file,
            media_type=media_type,
            headers={
                "cache-control": "public, max-age=31536000, immutable",
                "content-security-policy": MEDIA_POLICY,
            },
        )

    app.add_middleware(Middleware, options=survey.options)
    return app


async def _refused(request: Request, error: Exception) -> Response:
    """As JSON for scripts, as a page for people."""
    assert isinstance(error, Refused)
    if _is_for_people(request):
        route = getattr(request.scope.get("route"), "path", "")
        back = "researcher/" if "/researcher" in route else ""
        facts = {"title": "This does not work", "back": back}
        text = error.why[:1].upper() + error.why[1:] + "."
        return (await served_by(request)).page("message.html", error.status, text=text, **facts)
    headers = {"retry-after": RETRY_AFTER} if error.status == 503 else None
    content = {"detail": error.why} | ({} if error.code is None else {"code": error.code})
    return JSONResponse(content, status_code=error.status, headers=headers)


def _is_for_people(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


async def _not_here(request: Request, error: Exception) -> Response:
    """No such page, or not in this way."""
    assert isinstance(error, HTTPException)
    why = "there is no such page" if error.status_code == 404 else error.detail
    response = await _refused(request, Refused(error.status_code, why))
    response.headers.update(error.headers or {})
    return response


async def _invalid(request: Request, error: Exception) -> Response:
    """What is wrong and where; never what was sent, which may not be ours to repeat."""
    assert isinstance(error, RequestValidationError)
    if _is_for_people(request):
        return await _refused(request, Refused(422, "this address or form is not complete"))
    detail = [
        # where it is wrong, without the types that were tried there, as pydantic spells them
        {"loc": [part for part in wrong["loc"] if isinstance(part, int) or "[" not in part]}
        | {"msg": wrong["msg"], "type": wrong["type"]}
        for wrong in error.errors()
    ]
    return JSONResponse({"detail": detail}, status_code=422)
