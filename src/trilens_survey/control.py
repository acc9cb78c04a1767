"""What commands change in a study, also while it is served.

SQLite has one writer. While that is a server, a command asks the server to do it, through a
socket that only the same user can reach; the lock file says where.
"""

from __future__ import annotations

import json
import shutil
import socket
import socketserver
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trilens.errors import SurveyError, TrilensError
from trilens_survey.auth import remove_researcher, set_password
from trilens_survey.database import Busy, Database, Lock
from trilens_survey.payment import decide, erase_payments
from trilens_survey.server import Survey
from trilens_survey.store import erase, pause, resume

_COMMANDS: dict[str, Callable[..., Any]] = {
    "pause": pause,
    "resume": resume,
    "forget": erase,
    "password": set_password,
    "remove": remove_researcher,
    "decide": decide,
    "erase payments": erase_payments,
}
_LONGEST = 1 << 20
_PATIENCE = 30.0


def perform(database: Database, command: str, /, **given: Any) -> Any:
    """Change something in the database: here, or by the server that holds it.

    Parameters
    ----------
    database
    command
        ``pause``, ``resume``, ``forget``, ``password``, ``remove``, ``decide`` or
        ``erase payments``.
    **given
        What the function takes besides a connection.
    """
    try:
        with database.writing() as connection:
            return _COMMANDS[command](connection, **given)
    except Busy as busy:
        if busy.address is None:
            raise
        return _ask(busy, {"command": command, "given": given})


def _ask(busy: Busy, asked: dict[str, Any]) -> Any:
    assert busy.address is not None
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(_PATIENCE)
            client.connect(busy.address)
            client.sendall(json.dumps(asked).encode() + b"\n")
            with client.makefile("rb") as answer:
                told = json.loads(answer.readline(_LONGEST))
    except (OSError, ValueError):
        raise busy from None
    if "error" in told:
        raise SurveyError(told["error"])
    return told["done"]


@contextmanager
def listening(survey: Survey, lock: Lock) -> Iterator[None]:
    """Do what commands ask for, until the end of the block."""
    place = tempfile.mkdtemp(prefix="trilens-")  # open to this user alone
    address = str(Path(place) / "control")

    class Handler(socketserver.StreamRequestHandler):
        timeout = _PATIENCE

        def handle(self) -> None:
            try:
                asked = json.loads(self.rfile.readline(_LONGEST))
                work = _COMMANDS[asked["command"]]
                done = survey.writer.submit(lambda c: work(c, **asked["given"])).result()
                survey.dashboard.forget()
                told = {"done": done}
            except TrilensError as error:
                told = {"error": str(error)}
            except Exception as error:
                told = {"error": f"the server could not do this ({type(error).__name__})"}
            self.wfile.write(json.dumps(told).encode() + b"\n")

    try:
        with socketserver.ThreadingUnixStreamServer(address, Handler) as server:
            server.daemon_threads = True
            thread = threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True)
            thread.start()
            lock.tell(address)
            try:
                yield
            finally:
                server.shutdown()
    finally:
        shutil.rmtree(place, ignore_errors=True)
