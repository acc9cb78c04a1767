"""Starting the server."""

from __future__ import annotations

import os
import signal
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from trilens.errors import SurveyError
from trilens.survey.database import Database, open_database
from trilens.survey.gate import make_first_key
from trilens.survey.options import Options
from trilens.survey.server import Survey
from trilens.survey.study import load_study

#: How uvicorn is run, here and in the tests.
SETTINGS: dict[str, Any] = {
    "log_config": None,
    "access_log": False,
    "server_header": False,
    "proxy_headers": True,
    "timeout_graceful_shutdown": 30,
    "timeout_keep_alive": 30,
    "ws": "none",
    "lifespan": "on",
}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})


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
    forwarded: str = "127.0.0.1"

    def options(self) -> Options:
        """What the routes must know of it."""
        root = self.root_path.rstrip("/")
        if root and not root.startswith("/"):
            raise SurveyError(f"the path prefix is {root!r}; it must begin with a slash")
        if self.public_url is None:
            return Options(root_path=root)
        parts = urlsplit(self.public_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SurveyError(
                f"the public address is {self.public_url!r}; it must be http(s)://..."
            )
        return Options(
            root_path=root or parts.path.rstrip("/"),
            hosts=_LOOPBACK | {parts.hostname.lower()},
            secure=parts.scheme == "https",
        )


def serve(listen: Listen) -> None:
    """Serve until told to stop; on the way out every accepted answer is stored."""

    from trilens.survey.logs import set_up

    load_study(listen.folder)
    database = open_database(listen.folder, listen.database)
    listen.options()
    if listen.workers > 1 and database.embedded:
        raise SurveyError(
            f"{listen.workers} processes, but SQLite has one writer; "
            f"use one process, or PostgreSQL with --database postgresql://..."
        )
    set_up(listen.log_level)
    if listen.workers > 1:
        _run_several(listen, database)
        return
    with database.locked():
        _run_one(listen, Survey(load_study(listen.folder), database, listen.options()))


def _run_one(listen: Listen, survey: Survey) -> None:
    import uvicorn

    from trilens.survey.app import make_app

    # opened here, so that what is wrong with the database or the port is one line
    survey.start()
    try:
        bound = _bind(listen.host, listen.port)
    except SurveyError:
        survey.close()
        raise
    key = survey.writer.submit(make_first_key).result()
    # uvicorn stops in order and then raises the signal again: a stop that was asked for is no error
    for asked in (signal.SIGINT, signal.SIGTERM):
        signal.signal(asked, lambda *_: sys.exit(0))
    # said when uvicorn has taken over the signals: whoever reads it may stop the server at once
    app = make_app(survey, started=True, ready=lambda: say_where(listen, bound, key))
    config = uvicorn.Config(app, forwarded_allow_ips=listen.forwarded, **SETTINGS)
    uvicorn.Server(config).run(sockets=[bound])


def _run_several(listen: Listen, database: Database) -> None:
    import uvicorn

    with database.writing() as connection:
        key = make_first_key(connection)
    bound = _bind(listen.host, listen.port)
    say_where(listen, bound, key)
    os.environ.update(_environment(listen))
    uvicorn.run(
        "trilens.survey.serve:from_environment",
        factory=True,
        fd=bound.fileno(),
        workers=listen.workers,
        forwarded_allow_ips=listen.forwarded,
        **SETTINGS,
    )


def say_where(listen: Listen, bound: socket.socket, key: str | None) -> None:
    """Say on stderr where the study is, and until there is a password, how to set one."""
    host, port = bound.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    address = (listen.public_url or f"http://{shown}:{port}{listen.options().root_path}").rstrip(
        "/"
    )
    if key is not None:
        sys.stderr.write(f"set the researcher's password: {address}/researcher/first?key={key}\n")
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


_PREFIX = "TRILENS_SURVEY_"


def _environment(listen: Listen) -> dict[str, str]:
    given = {
        "FOLDER": str(listen.folder),
        "DATABASE": listen.database,
        "PUBLIC_URL": listen.public_url,
        "ROOT_PATH": listen.root_path,
        "LOG_LEVEL": listen.log_level,
    }
    return {_PREFIX + name: value for name, value in given.items() if value}


def from_environment() -> Any:
    """The application of one of several processes."""
    from trilens.survey.app import make_app
    from trilens.survey.logs import set_up

    def given(name: str) -> str | None:
        return os.environ.get(_PREFIX + name)

    listen = Listen(
        folder=Path(given("FOLDER") or "."),
        database=given("DATABASE"),
        public_url=given("PUBLIC_URL"),
        root_path=given("ROOT_PATH") or "",
        log_level=given("LOG_LEVEL") or "info",
    )
    set_up(listen.log_level)
    database: Database = open_database(listen.folder, listen.database)
    return make_app(Survey(load_study(listen.folder), database, listen.options()))
