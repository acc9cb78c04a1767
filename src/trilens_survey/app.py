"""The application, and how it is served."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse
from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from trilens import __version__
from trilens.errors import SurveyError
from trilens_survey import participant, researcher
from trilens_survey.auth import make_first_key
from trilens_survey.database import Database, open_database
from trilens_survey.log import set_up_log
from trilens_survey.middleware import LONGEST_HEAD, MEDIA_POLICY, RETRY_AFTER, Middleware
from trilens_survey.server import Options, Survey
from trilens_survey.study import load_study
from trilens_survey.writer import Refused


class Protocol(HttpToolsProtocol):
    """Reads requests: no more of their headers than a browser sends, and not for ever."""

    #: Seconds until a request must be there, from the opening or from its first byte.
    longest_wait: float = 15
    _deadline: asyncio.TimerHandle | None = None
    _in_head = True
    _read = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_request(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.longest_wait, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def on_message_begin(self) -> None:
        self._await_request()
        super().on_message_begin()

    def data_received(self, data: bytes) -> None:
        self._read += len(data)
        super().data_received(data)
        if self._in_head and self._read > LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The headers are too large.")

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head, self._read = True, 0
        self._stop_waiting()
        super().on_message_complete()


#: How uvicorn is run, here and in the tests.
SETTINGS: dict[str, Any] = {
    "http": Protocol,
    "log_config": None,
    "access_log": False,
    "server_header": False,
    "proxy_headers": True,
    "timeout_graceful_shutdown": 30,
    "timeout_keep_alive": 30,
    "ws": "none",
    "lifespan": "on",
}
#: Where one of several processes finds how it is to listen.
_ENVIRONMENT = "TRILENS_SURVEY"
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})


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
        return FileResponse(
            stimulus.file,
            media_type=stimulus.media,
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
    if "text/html" in request.headers.get("accept", ""):
        route = getattr(request.scope.get("route"), "path", "")
        back = "researcher/" if "/researcher" in route else ""
        facts = {"title": "This does not work", "back": back}
        text = error.why[:1].upper() + error.why[1:] + "."
        return Survey.of(request).page("message.html", error.status, text=text, **facts)
    headers = {"retry-after": RETRY_AFTER.decode()} if error.status == 503 else None
    return JSONResponse({"detail": error.why}, status_code=error.status, headers=headers)


async def _invalid(_: Request, error: Exception) -> Response:
    """What is wrong and where; never what was sent, which may not be ours to repeat."""
    assert isinstance(error, RequestValidationError)
    detail = [
        {"loc": list(wrong["loc"]), "msg": wrong["msg"], "type": wrong["type"]}
        for wrong in error.errors()
    ]
    return JSONResponse({"detail": detail}, status_code=422)


def make_apps(
    apps: Mapping[str, FastAPI], root: str = "", ready: Callable[[], None] | None = None
) -> Starlette:
    """Several studies in one application, each under the path of its name.

    Parameters
    ----------
    apps
        By name; each was made with the root path ``root/name``.
    root
        The path in front of all of them.
    ready
        Called when requests are about to be served.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for app in apps.values():
                await stack.enter_async_context(app.router.lifespan_context(app))
            if ready is not None:
                ready()
            yield

    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        # whether the proxy took the root off or not
        inner = path.removeprefix(root) if path.startswith(root + "/") else path
        name, slash, rest = inner.removeprefix("/").partition("/")
        app = apps.get(name)
        if app is None:
            response: Response = JSONResponse({"detail": "no such study"}, status_code=404)
        elif not slash:
            query = scope["query_string"].decode("latin-1")
            target = f"{root}/{name}/" + (f"?{query}" if query else "")
            response = RedirectResponse(target, status_code=307)
        else:
            path = f"{root}/{name}/{rest}"
            moved = {"path": path, "raw_path": quote(path).encode(), "root_path": ""}
            await app({**scope, **moved}, receive, send)
            return
        await response(scope, receive, send)

    async def healthz(_: Request) -> Response:
        try:
            for app in apps.values():
                await app.state.survey.healthy()
        except Exception:
            return JSONResponse({"detail": "answers cannot be stored"}, status_code=503)
        return JSONResponse({"ok": True})

    return Starlette(routes=[Route("/healthz", healthz), Mount("/", dispatch)], lifespan=lifespan)


@dataclass(frozen=True)
class Listen:
    """Where and how the server listens, as the command line says it.

    Attributes
    ----------
    folders
        Of the studies; several are served each under the name of its folder.
    database
        For several studies with ``{study}``, in place of which the folder's name is put.
    """

    folders: tuple[Path, ...]
    host: str = "127.0.0.1"
    port: int = 8000
    database: str | None = None
    public_url: str | None = None
    root_path: str = ""
    workers: int = 1
    log_level: str = "info"
    forwarded: str = "127.0.0.1"

    @property
    def root(self) -> str:
        """The path in front of everything."""
        root = self.root_path.rstrip("/")
        if root and not root.startswith("/"):
            raise SurveyError(f"the path prefix must begin with a slash, not {root!r}")
        return root or urlsplit(self.public_url or "").path.rstrip("/")

    def path(self, folder: Path) -> str:
        """The path in front of one study."""
        return self.root + (f"/{folder.resolve().name}" if len(self.folders) > 1 else "")

    def options(self, folder: Path) -> Options:
        """What the routes must know of it."""
        path = self.path(folder)
        if self.public_url is None:
            return Options(root_path=path)
        parts = urlsplit(self.public_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SurveyError(
                f"the public URL must begin with http:// or https://, not {self.public_url!r}"
            )
        hosts = _LOOPBACK | {parts.hostname.lower()}
        return Options(root_path=path, hosts=hosts, secure=parts.scheme == "https")

    def surveys(self) -> list[Survey]:
        """The studies, loaded and not yet started."""
        names = [folder.resolve().name for folder in self.folders]
        if len(names) > 1:
            wrong = [name for name in names if not re.fullmatch(r"[A-Za-z0-9._~-]+", name)]
            if wrong:
                raise SurveyError(f"{wrong[0]!r} cannot be part of an address; rename the folder")
            if "healthz" in names:
                raise SurveyError("among several studies none can be called healthz; rename it")
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise SurveyError(
                    f"several studies need folders of different names, not {twice} twice"
                )
            if self.database is not None and "{study}" not in self.database:
                raise SurveyError(
                    "several studies need a database each: write {study} into --database, "
                    "in place of which the name of each folder is put"
                )
        return [
            Survey(
                load_study(folder),
                open_database(folder, self.database and self.database.replace("{study}", name)),
                self.options(folder),
            )
            for folder, name in zip(self.folders, names, strict=True)
        ]

    def application(
        self,
        surveys: Sequence[Survey],
        *,
        started: bool = False,
        ready: Callable[[], None] | None = None,
    ) -> ASGIApp:
        """One study, or several under their paths."""
        if len(surveys) == 1:
            return make_app(surveys[0], started=started, ready=ready)
        apps = {
            folder.resolve().name: make_app(survey, started=started)
            for folder, survey in zip(self.folders, surveys, strict=True)
        }
        return make_apps(apps, self.root, ready)


def serve(listen: Listen) -> None:
    """Serve until told to stop; on the way out every accepted answer is stored."""
    surveys = listen.surveys()
    if listen.workers > 1 and surveys[0].database.embedded:
        raise SurveyError(
            f"SQLite allows one writer, so it cannot serve {listen.workers} processes; "
            f"use one process, or PostgreSQL with --database postgresql://..."
        )
    set_up_log(listen.log_level)
    for folder in listen.folders:
        if surveys[0].database.embedded and folder.stat().st_mode & 0o077:
            sys.stderr.write(
                f"other users of this computer can open {folder}; to keep the answers to "
                f"yourself: chmod 700 {shlex.quote(str(folder))}\n"
            )
    if listen.workers > 1:
        _run_several(listen, [survey.database for survey in surveys])
        return
    with ExitStack() as stack:
        for survey in surveys:
            stack.enter_context(survey.database.locked())
        _run_one(listen, surveys)


def _run_one(listen: Listen, surveys: Sequence[Survey]) -> None:
    import uvicorn

    # opened here, so that what is wrong with the database or the port is one line
    with ExitStack() as starting:
        for survey in surveys:
            survey.start()
            starting.callback(survey.close)
        bound = _bind(listen.host, listen.port)
        keys = []
        for survey in surveys:
            with survey.database.named_errors():
                keys.append(survey.writer.submit(make_first_key).result())
        starting.pop_all()  # the application closes them from now on
    # uvicorn stops in order and then raises the signal again: a stop that was asked for is no error
    for asked in (signal.SIGINT, signal.SIGTERM):
        signal.signal(asked, lambda *_: sys.exit(0))
    # said when uvicorn has taken over the signals: whoever reads it may stop the server at once
    app = listen.application(
        surveys, started=True, ready=lambda: _print_addresses(listen, bound, keys)
    )
    config = uvicorn.Config(app, forwarded_allow_ips=listen.forwarded, **SETTINGS)
    uvicorn.Server(config).run(sockets=[bound])


def _run_several(listen: Listen, databases: Sequence[Database]) -> None:
    import uvicorn

    keys = []
    for database in databases:
        with database.writing() as connection:
            keys.append(make_first_key(connection))
    bound = _bind(listen.host, listen.port)
    _print_addresses(listen, bound, keys)
    os.environ[_ENVIRONMENT] = json.dumps(asdict(listen), default=str)
    uvicorn.run(
        "trilens_survey.app:from_environment",
        factory=True,
        fd=bound.fileno(),
        workers=listen.workers,
        forwarded_allow_ips=listen.forwarded,
        **SETTINGS,
    )


def _print_addresses(listen: Listen, bound: socket.socket, keys: Sequence[str | None]) -> None:
    """Say on stderr where each study is, and until there is a password, how to set one."""
    host, port = bound.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    for folder, key in zip(listen.folders, keys, strict=True):
        if listen.public_url is None:
            address = f"http://{shown}:{port}{listen.path(folder)}"
        else:
            parts = urlsplit(listen.public_url)
            address = f"{parts.scheme}://{parts.netloc}{listen.path(folder)}"
        if key is not None:
            first = f"{address}/researcher/first?key={key}"
            sys.stderr.write(f"set the researcher's password: {first}\n")
        sys.stderr.write(f"serving {folder} at {address}/\n")
    sys.stderr.flush()


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(1024)
    except OSError as error:
        bound.close()
        raise SurveyError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}"
        ) from error
    return bound


def from_environment() -> ASGIApp:
    """The application of one of several processes."""
    given = json.loads(os.environ[_ENVIRONMENT])
    listen = Listen(**given | {"folders": tuple(map(Path, given["folders"]))})
    set_up_log(listen.log_level)
    return listen.application(listen.surveys())
