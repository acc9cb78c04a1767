"""Studies, servers and participants for the tests of the survey."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
import jwt
import psycopg
import uvicorn
from click.testing import CliRunner, Result
from cryptography.hazmat.primitives.asymmetric import rsa
from sqlalchemy.engine import Connection

from trilens.cli import trilens
from trilens.kinds import Kind
from trilens_survey.app import make_app
from trilens_survey.database import Database, open_database
from trilens_survey.example import write_example
from trilens_survey.languages import UNREVIEWED, base
from trilens_survey.server import Options, Survey
from trilens_survey.serving import SETTINGS
from trilens_survey.study import load_study

T = TypeVar("T")
#: Questions in a round of a short study.
LENGTH = 4
#: Seconds after which a test gives up waiting; many, because the machine may be busy.
LONGEST = 300.0


def survey(*arguments: object, input: str | None = None) -> Result:
    """What `trilens survey` says."""
    return CliRunner().invoke(trilens, ["survey", *map(str, arguments)], input=input)


def edit(folder: Path, *changes: tuple[str, str]) -> Path:
    """Change lines of the study's file; each text to replace must be there."""
    file = folder / "study.yaml"
    text = file.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    file.write_text(text)
    return folder


def short_study(
    folder: Path, kind: Kind = "central", length: int = LENGTH, most: int = 2, more: str = ""
) -> Path:
    """The example with rounds of a few questions, and more lines."""
    write_example(folder, kind)
    edit(
        folder,
        ("length: 20 ", f"length: {length} "),
        ("minimum: 12 ", "minimum: 2 "),
        ("most: 3 ", f"most: {most} "),
        ("among_first: 10", f"among_first: {length}"),
        ("shared: 2 ", "shared: 0 "),
        ("repeated: 2 ", "repeated: 0 "),
    )
    with (folder / "study.yaml").open("a") as file:
        file.write(more)
    return folder


def plain(folder: Path) -> Path:
    """A study without the example and the tests, which name three objects."""
    file = folder / "study.yaml"
    text = re.sub(r"(?ms)^example:.*?(?=^consent:)", "", file.read_text())
    file.write_text(re.sub(r"(?ms)^tests:.*?(?=^shared:)", "", text))
    return folder


def one_language(folder: Path, languages: str) -> Path:
    """The example in other languages, with the same texts of its own in all of them."""
    file = folder / "study.yaml"
    kept = re.sub(r"\n *de: (>-\n( {4,}.*\n)+|.*\n)", "\n", file.read_text())
    kept = re.sub(r":[^\n]*\n +en: (?=\S)", ": ", kept)
    file.write_text(kept)
    rows = [line.split(",")[:2] for line in (folder / "objects.csv").read_text().splitlines()]
    (folder / "objects.csv").write_text("".join(f"{a},{b}\n" for a, b in rows).replace("_en", ""))
    others = [code for code in languages.split(", ") if base(code) in UNREVIEWED]
    accepted = f"\nnot_reviewed: [{', '.join(others)}]" if others else ""
    return edit(folder, ("languages: [en, de]", f"languages: [{languages}]{accepted}"))


class Client(httpx.Client):
    """A participant's browser."""

    def __init__(self, **more: Any) -> None:
        # nothing here is TLS: reading the certificates would take longer than most tests
        plain = {"timeout": LONGEST, "verify": False, "trust_env": False}
        super().__init__(**plain | more)

    def join(self, **more: Any) -> str:
        answer = self.post("/api/join", json={"consent": True, **more})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["receipt"])

    def question(self) -> dict[str, Any]:
        answer = self.get("/api/question")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def answer(self, token: str, chosen: str, seconds: float = 1.5) -> httpx.Response:
        body = {"token": token, "chosen": chosen, "seconds": seconds}
        return self.post("/api/answer", json=body)

    def answer_one(self, seconds: float = 1.5) -> dict[str, Any]:
        """Answer the question that is asked now with what stands first; the question."""
        question = self.question()
        answer = self.answer(question["token"], question["objects"][0], seconds)
        assert answer.status_code == 200, answer.text
        return question

    def round(self, choose: Callable[[dict[str, Any]], str] | None = None) -> list[dict[str, Any]]:
        """Answer until the round is done; the questions."""
        asked = []
        question = self.question()
        while "token" in question:
            chosen = question["objects"][1] if choose is None else choose(question)
            body = {"token": question["token"], "chosen": chosen, "seconds": 1.5}
            answer = self.post("/api/answer?next=1", json=body)
            assert answer.status_code == 200, answer.text
            asked.append(question)
            question = answer.json()["next"]
        return asked


class _Server(uvicorn.Server):
    """Stops as soon as it is told to: uvicorn's own takes two tenths of a second, in every test."""

    async def main_loop(self) -> None:
        await self.on_tick(0)
        while not self.should_exit:
            await asyncio.sleep(0.005)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        while self.server_state.connections or self.server_state.tasks:
            await asyncio.sleep(0.005)
        await self.lifespan.shutdown()


class Running:
    """The application on a thread of this process, reached through a real socket."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        survey.start()
        # connections wait in the queue of a socket that listens: nothing polls
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        config = uvicorn.Config(make_app(survey, started=True), **SETTINGS)
        self._server = _Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()
        self._clients: list[Client] = []

    def participant(self, **more: Any) -> Client:
        """A new browser."""
        self._clients.append(Client(base_url=self.url + self.survey.options.root_path, **more))
        return self._clients[-1]

    def ask_to_join(self, **more: Any) -> httpx.Response:
        """The reply to somebody new, who consents."""
        return self.participant().post("/api/join", json={"consent": True, **more})

    def joined(self, **more: Any) -> Client:
        """A new participant, who has joined."""
        client = self.participant()
        client.join(**more)
        return client

    def rater(self, **more: Any) -> Client:
        """The same after a whole round."""
        client = self.joined(**more)
        client.round()
        return client

    def look(self, read: Callable[[Connection], T]) -> T:
        """What the database says."""
        with self.survey.database.reading() as connection:
            return read(connection)

    def do(self, write: Callable[[Connection], T]) -> T:
        """Write to the database."""
        return self.survey.writer.submit(write).result()

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


class Prolific:
    """Signs as Prolific does, and publishes its key on a port of its own."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        keys = json.dumps({"keys": [public | {"kid": "k", "use": "sig", "alg": "RS256"}]}).encode()

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(keys)

            def log_message(self, *_: Any) -> None: ...

        self.server = HTTPServer(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        self.thread = threading.Thread(target=self.server.serve_forever, args=[0.05])
        self.thread.start()

    def token(self, kid: str = "k", key: Any = None, **claims: Any) -> str:
        """What stands in the address of the participant called p1."""
        own = {"aud": "https://study.example.org", "exp": time.time() + 60} | claims
        inside = {"PROLIFIC_PID": "p1", "STUDY_ID": "s", "SESSION_ID": "x", "workspace_id": "w"}
        whole = {"prolific": inside} | {name: one for name, one in own.items() if one is not None}
        return jwt.encode(whole, key or self.key, "RS256", headers={"kid": kid})

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Here:
    """Works out the dashboard's findings in this process, where tests can see it."""

    def run(self, task: dict[str, Any]) -> dict[str, Any]:
        from trilens_survey import background

        return json.loads(json.dumps(background.work(task)))  # type: ignore[no-any-return]

    def stop(self) -> None:
        """Nothing runs elsewhere."""


@contextmanager
def running(
    folder: Path, database: Database | None = None, options: Options | None = None
) -> Iterator[Running]:
    """A study that is served in this process."""
    survey = Survey(load_study(folder), database or open_database(folder), options, Here())
    app = Running(survey)
    try:
        yield app
    finally:
        app.close()


class Served:
    """A server in its own process, on a port that stays its own between two starts."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.options = options
        self.lines: list[str] = []
        # bound, and not listening: the server can have it, and nobody else gets it by chance
        self._reserved = socket.socket()
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._reserved.bind(("127.0.0.1", 0))
        self.port: int = self._reserved.getsockname()[1]
        self.start()

    def start(self) -> None:
        """Start; returns when it listens."""
        command = [sys.executable, "-m", "trilens", "survey", "serve", str(self.folder)]
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port), *self.options],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            found = re.match(r"serving .* at (http://[^ ]*)/$", line.strip())
            if found:
                self.url = found[1]
                break
        else:
            raise RuntimeError("".join(self.lines))
        # what it says later must not fill the pipe
        self._reader = threading.Thread(target=self._read, args=(self.process.stderr,))
        self._reader.start()

    def _read(self, stream: Any) -> None:
        with stream:
            self.lines.extend(stream)

    def client(self) -> Client:
        return Client(base_url=self.url)

    def kill(self) -> None:
        """As a power cut would end it."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join()

    def stop(self) -> int:
        """Ask it to stop; its exit status."""
        self.process.terminate()
        self._reader.join()
        return self.process.wait()

    def close(self) -> None:
        """End it, if it runs, and let go of the port."""
        if self.process.poll() is None:
            self.kill()
        self._reserved.close()


class Postgres:
    """A cluster of its own in a temporary folder, reached by a socket there."""

    def __init__(self, folder: Path, fsync: bool = True) -> None:
        self._fsync = "on" if fsync else "off"
        found = shutil.which("initdb") or next(
            iter(sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")))), None
        )
        if found is None:
            raise RuntimeError("the survey is tested on PostgreSQL too: install postgresql")
        self._bin = Path(os.path.realpath(found)).parent
        self._folder = folder
        # PostgreSQL does not run as root
        self._user = "postgres" if os.geteuid() == 0 else None
        if self._user is not None:
            shutil.chown(folder, self._user, self._user)
        self._run("initdb", "-D", str(folder / "data"), "-U", "trilens", "-A", "trust", "-N")
        self.start()
        self._names = 0

    def start(self) -> None:
        options = f"-c listen_addresses='' -c fsync={self._fsync} -k {self._folder}"
        self._control("-o", options, "-l", str(self._folder / "log"), "start")

    def stop(self) -> None:
        self._control("-m", "immediate", "stop")

    def _control(self, *arguments: str) -> None:
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-w", *arguments)

    def database(self) -> str:
        """The address of a new, empty database."""
        self._names += 1
        name = f"study{self._names}"
        self._do(f"CREATE DATABASE {name}")
        return self.address(name)

    def clear(self, url: str) -> None:
        """Empty a database, to be used again: much faster than making a new one."""
        self.kill_backends(url)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")

    def kill_backends(self, url: str) -> None:
        """End every connection to a database, in the middle of whatever it does."""
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        self._do(end, urlsplit(url).path.lstrip("/"))

    @contextmanager
    def outage(self, url: str) -> Iterator[None]:
        """A database that breaks every connection and takes none, until the end of the block."""
        name = urlsplit(url).path.lstrip("/")
        self._do(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        self.kill_backends(url)
        yield
        self._do(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")

    def address(self, name: str) -> str:
        return f"postgresql://trilens@/{name}?host={self._folder}"

    def _do(self, command: str, *values: str) -> None:
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(command, values)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self._bin / program), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            user=self._user,
            cwd=self._folder,
        )
