"""How a study is served: where it listens, and for how long it waits for a request."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import socket
import sys
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from trilens.errors import SurveyError
from trilens_survey.app import make_app
from trilens_survey.auth import make_first_key
from trilens_survey.database import open_database
from trilens_survey.log import set_up_log
from trilens_survey.middleware import LONGEST_HEAD
from trilens_survey.server import Options, Survey
from trilens_survey.study import load_study


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

    def data_received(self, data: bytes) -> None:
        self._read += len(data)
        super().data_received(data)
        # what comes in one piece is refused by the middleware
        if self._in_head and self._read > LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The headers are too large.")

    def on_message_begin(self) -> None:
        self._await_request()
        super().on_message_begin()

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


@dataclass(frozen=True)
class Listen:
    """Where and how the server listens, as the command line says it."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8000
    database: str | None = None
    public_url: str | None = None
    root_path: str = ""
    workers: int = 1
    log_level: str = "info"
    proxy: str = "127.0.0.1"

    @property
    def root(self) -> str:
        """The path in front of everything."""
        root = self.root_path.rstrip("/")
        if root and not root.startswith("/"):
            raise SurveyError(f"the path prefix must begin with a slash, not {root!r}")
        return root or urlsplit(self.public_url or "").path.rstrip("/")

    def options(self) -> Options:
        """What the routes must know of it."""
        if self.public_url is None:
            return Options(root_path=self.root)
        parts = urlsplit(self.public_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SurveyError(
                f"the public URL must begin with http:// or https://, not {self.public_url!r}"
            )
        hosts = frozenset({parts.hostname.lower()})
        return Options(root_path=self.root, hosts=hosts, secure=parts.scheme == "https")

    def survey(self) -> Survey:
        """The study, loaded and not yet started."""
        database = open_database(self.folder, self.database)
        return Survey(load_study(self.folder), database, self.options())


def serve(listen: Listen) -> None:
    """Serve until told to stop; on the way out every accepted answer is stored."""
    survey = listen.survey()
    if listen.workers > 1 and survey.database.embedded:
        raise SurveyError(
            f"SQLite allows one writer, so it cannot serve {listen.workers} processes; "
            f"use one process, or PostgreSQL with --database postgresql://..."
        )
    set_up_log(listen.log_level)
    if survey.database.embedded and listen.folder.stat().st_mode & 0o077:
        sys.stderr.write(
            f"other users of this computer can open {listen.folder}; to keep the answers to "
            f"yourself: chmod 700 {shlex.quote(str(listen.folder))}\n"
        )
    if listen.workers > 1:
        _run_several(listen, survey)
        return
    with survey.database.locked():
        _run_one(listen, survey)


def _run_one(listen: Listen, survey: Survey) -> None:
    # opened here, so that what is wrong with the database or the port is one line
    with ExitStack() as starting:
        survey.start()
        starting.callback(survey.close)
        bound = _bind(listen.host, listen.port)
        with survey.database.named_errors():
            key = survey.writer.submit(make_first_key).result()
        starting.pop_all()  # the application closes it from now on
    # uvicorn stops in order and then raises the signal again: a stop that was asked for is no error
    for asked in (signal.SIGINT, signal.SIGTERM):
        signal.signal(asked, lambda *_: sys.exit(0))
    # said when uvicorn has taken over the signals: whoever reads it may stop the server at once
    app = make_app(survey, started=True, ready=lambda: _print_address(listen, bound, key))
    config = uvicorn.Config(app, forwarded_allow_ips=listen.proxy, **SETTINGS)
    uvicorn.Server(config).run(sockets=[bound])


def _run_several(listen: Listen, survey: Survey) -> None:
    with survey.database.writing() as connection:
        key = make_first_key(connection)
    bound = _bind(listen.host, listen.port)
    _print_address(listen, bound, key)
    os.environ[_ENVIRONMENT] = json.dumps(asdict(listen), default=str)
    uvicorn.run(
        "trilens_survey.serving:from_environment",
        factory=True,
        fd=bound.fileno(),
        workers=listen.workers,
        forwarded_allow_ips=listen.proxy,
        **SETTINGS,
    )


def _print_address(listen: Listen, bound: socket.socket, key: str | None) -> None:
    """Say on stderr where the study is, and until there is a password, how to set one."""
    host, port = bound.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    if listen.public_url is None:
        address = f"http://{shown}:{port}{listen.root}"
    else:
        parts = urlsplit(listen.public_url)
        address = f"{parts.scheme}://{parts.netloc}{listen.root}"
    if key is not None:
        first = f"{address}/researcher/first?key={key}"
        sys.stderr.write(f"set the researcher's password: {first}\n")
    sys.stderr.write(f"serving {listen.folder} at {address}/\n")
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


def from_environment() -> FastAPI:
    """The application of one of several processes."""
    given = json.loads(os.environ[_ENVIRONMENT])
    listen = Listen(**given | {"folder": Path(given["folder"])})
    set_up_log(listen.log_level)
    return make_app(listen.survey())
