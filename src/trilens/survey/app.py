"""The application: the routes, and what is around them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse
from starlette.staticfiles import StaticFiles

from trilens import __version__
from trilens.survey import api, participant, researcher
from trilens.survey.guard import MEDIA_POLICY, Guard
from trilens.survey.server import Survey
from trilens.survey.writer import Refused

HERE = Path(__file__).parent


def make_app(
    survey: Survey, *, started: bool = False, ready: Callable[[], None] | None = None
) -> FastAPI:
    """The ASGI application of a survey; its lifespan opens (if need be) and closes the database.

    Parameters
    ----------
    survey
    started
        Whether the survey was started already.
    ready
        Called when requests are about to be served.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if not started:
            survey.start()
        if ready is not None:
            ready()
        try:
            yield
        finally:
            survey.close()

    app = FastAPI(
        title="trilens survey",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # the pages of FastAPI load scripts from elsewhere
        redoc_url=None,
    )
    app.state.survey = survey
    app.include_router(api.router)
    app.include_router(participant.router, include_in_schema=False)
    app.include_router(researcher.router, include_in_schema=False)
    app.add_exception_handler(researcher.NotSignedIn, researcher.turned_away)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")

    @app.get("/healthz", responses={503: {"description": "answers cannot be stored"}})
    async def healthz() -> dict[str, bool]:
        """200 when answers can be stored."""
        try:
            await survey.healthy()
        except Exception:
            raise Refused(503, "answers cannot be stored") from None
        return {"ok": True}

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Counts for Prometheus."""
        text = survey.metrics.render(survey.writer.waiting)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    @app.get(
        "/media/{key}",
        response_class=FileResponse,
        responses={404: {"description": "no such stimulus"}},
    )
    async def media(key: str) -> Response:
        """A picture or a sound, by its fingerprint; no part of a path comes from outside."""
        stimulus = survey.study.media.get(key)
        if stimulus is None or stimulus.file is None:
            raise Refused(404, "there is no such stimulus")
        return FileResponse(
            stimulus.file,
            media_type=stimulus.media,
            headers={
                "cache-control": "public, max-age=31536000, immutable",
                "content-security-policy": MEDIA_POLICY,
            },
        )

    app.add_middleware(Guard, metrics=survey.metrics, options=survey.options)
    return app


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return JSONResponse({"detail": error.why}, status_code=error.status)


async def _invalid(_: Request, error: Exception) -> Response:
    """What is wrong and where; never what was sent, which may not be ours to repeat."""
    assert isinstance(error, RequestValidationError)
    detail = [
        {"loc": list(wrong["loc"]), "msg": wrong["msg"], "type": wrong["type"]}
        for wrong in error.errors()
    ]
    return JSONResponse({"detail": detail}, status_code=422)
