"""Load on the survey's server: 200 participants at once, each as fast as the answers come back.

The load generator is a process of its own, on the same machine. A participant joins, then
answers question after question as the page does: the answer's reply brings the next question.
With --plain the next question is asked for by itself, two calls per answer.

    python benchmarks/bench_survey.py [--only sqlite|postgresql] [--plain]
    python benchmarks/bench_survey.py --participants 2000 --think 3 [--dashboard]

With --think each waits so many seconds on average before an answer. With --dashboard a researcher
keeps the dashboard open, which asks for its numbers every two seconds and has the answers
analysed. With --adaptive the questions are chosen beside the server.
PostgreSQL runs in a cluster of its own, made for the measurement.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from studies import Postgres


async def _call(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    method: str,
    path: str,
    cookie: str,
    body: dict[str, Any] | None = None,
    address: str = "",
) -> tuple[int, dict[str, str], Any]:
    """One HTTP call on an open connection: a client light enough not to be what is measured."""
    data = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"X-Forwarded-For: {address}\r\n" if address else ""
    head += f"Cookie: {cookie}\r\nContent-Length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + data)
    block = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status = int(block[9:12])
    headers = dict(line.lower().split(": ", 1) for line in block.split("\r\n")[1:] if ": " in line)
    if status == 201:
        headers["cookie"] = re.search(r"set-cookie: ([^;]+)", block, re.I)[1]  # type: ignore[index]
    content = await reader.readexactly(int(headers["content-length"]))
    return status, headers, json.loads(content)


class _Participant:
    """One who has joined, and answers as fast as the server lets them."""

    def __init__(self, number: int, think: float) -> None:
        self.rng = np.random.default_rng(number)
        self.think = think
        # a proxy tells that they come from different homes
        self.address = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"

    async def connect(self, host: str, port: int) -> None:
        self.pipe = await asyncio.open_connection(host, port)

    async def join(self, host: str, port: int) -> None:
        await self.connect(host, port)
        consent = {"consent": True}
        _, headers, _ = await _call(*self.pipe, "POST", "/api/join", "", consent, self.address)
        self.cookie = headers["cookie"]
        _, _, self.question = await _call(*self.pipe, "GET", "/api/question", self.cookie)
        self.pipe[1].close()  # it takes long until all have joined, and the server waits 30 s

    async def answer(self, until: float, times: list[float], plain: bool) -> int:
        stored = 0
        question, cookie, pipe = self.question, self.cookie, self.pipe
        path = "/api/answer" if plain else "/api/answer?next=1"
        while time.perf_counter() < until:
            if "token" not in question:
                _, _, question = await _call(*pipe, "POST", "/api/round", cookie)
                assert "token" in question, question
            if self.think:
                await asyncio.sleep(self.think * (0.5 + self.rng.random()))
            chosen = question["objects"][int(self.rng.integers(3))]
            body = {"token": question["token"], "chosen": chosen, "seconds": 1.0}
            start = time.perf_counter()
            status, _, answer = await _call(*pipe, "POST", path, cookie, body)
            times.append(time.perf_counter() - start)
            assert status == 200, answer
            assert answer["stored"] is True
            stored += 1
            if plain:
                _, _, question = await _call(*pipe, "GET", "/api/question", cookie)
            else:
                question = answer["next"]
        pipe[1].close()
        return stored


async def _load(
    url: str, pid: int, participants: int, seconds: float, plain: bool, think: float
) -> dict[str, Any]:
    parts = urlsplit(url)
    everybody = [_Participant(i, think) for i in range(participants)]
    # joining is not what is measured
    at = (parts.hostname or "", parts.port or 80)
    for k in range(0, participants, 200):
        await asyncio.gather(*(p.join(*at) for p in everybody[k : k + 200]))
    for k in range(0, participants, 200):
        await asyncio.gather(*(p.connect(*at) for p in everybody[k : k + 200]))
    times: list[float] = []
    cpu, start, server = time.process_time(), time.perf_counter(), _cpu_seconds(pid)
    answering = (p.answer(start + seconds, times, plain) for p in everybody)
    stored = sum(await asyncio.gather(*answering))
    wall = time.perf_counter() - start
    half, most = np.quantile(times, [0.5, 0.99])
    return {
        "participants": participants,
        "answers": stored,
        "seconds": round(wall, 2),
        "answers_per_second": round(stored / wall, 1),
        "p50_ms": round(1000 * half, 1),
        "p99_ms": round(1000 * most, 1),
        "generator_cpu_ms_per_answer": round(1000 * (time.process_time() - cpu) / stored, 2),
        "server_cpu_ms_per_answer": round(1000 * (_cpu_seconds(pid) - server) / stored, 2),
    }


def _serve(folder: Path, *options: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "trilens", "survey", "serve", str(folder), "--port", "0"]
    server = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    said = []
    for line in server.stderr:
        said.append(line)
        found = re.match(r"serving .* at (http://\S+?)/$", line.strip())
        if found:
            return server, found[1]
    raise SystemExit(f"the server did not start (status {server.wait()}): {''.join(said)}")


def _cpu_seconds(pid: int) -> float:
    """What a process has used so far; 0 where the system does not tell."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class _Researcher:
    """One who has the dashboard open."""

    def __init__(self, url: str, password: str) -> None:
        self._url, self._over, self.seen = url, threading.Event(), 0
        self._browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        form = urllib.parse.urlencode({"password": password}).encode()
        self._browser.open(f"{url}/researcher/sign-in", form).read()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(2.0):
            with self._browser.open(f"{self._url}/researcher/live") as page:
                self.seen += b"Most central" in page.read()

    def close(self) -> None:
        self._over.set()
        self._thread.join()


def measure(
    database: str | None,
    participants: int,
    seconds: float,
    plain: bool,
    think: float = 0.0,
    dashboard: bool = False,
    adaptive: bool = False,
) -> dict[str, Any]:
    """Serve a study of 60 texts, load it, stop it, and count what is in the database."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "study"
        trilens = [sys.executable, "-m", "trilens", "survey"]
        subprocess.run([*trilens, "init", str(folder)], check=True, stderr=subprocess.DEVNULL)
        names = [f"object {i}" for i in range(60)]
        lines = [f"{name},{name}" for name in names]
        (folder / "objects.csv").write_text("\n".join(["name,text", *lines]) + "\n")
        study = (folder / "study.yaml").read_text()
        study = re.sub(r"(?s)example:.*?consent:", "consent:", study)
        study = re.sub(r"(?s)tests:.*?shared:", "shared:", study)
        study = study.replace("length: 20", "length: 50").replace("most: 3", "most: 500")
        (folder / "study.yaml").write_text(study + "questions: adaptive\n" * adaptive)
        where = [] if database is None else ["--database", database]
        password = "a long enough one"
        if dashboard:
            subprocess.run(
                [*trilens, "password", str(folder), "--password", password, *where], check=True
            )
        server, url = _serve(folder, *where)
        researcher = _Researcher(url, password) if dashboard else None
        try:
            generator = [sys.executable, __file__, "--generate", url, "--pid", str(server.pid)]
            generator += ["--participants", str(participants), "--seconds", str(seconds)]
            generator += ["--think", str(think)]
            done = subprocess.run(
                generator + (["--plain"] if plain else []),
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
        finally:
            if researcher is not None:
                researcher.close()
            server.terminate()
            server.wait()
        facts = json.loads(done.stdout)
        looked = researcher is not None and f", dashboard open ({researcher.seen} times results)"
        facts["looked"] = (looked or "") + ", adaptive questions" * adaptive
        found = subprocess.run(
            [*trilens, "status", str(folder), "--json", *where],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        facts["in_database"] = json.loads(found.stdout)["answers"]
        assert facts["in_database"] == facts["answers"], "an acknowledged answer is missing"
        return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--participants", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--think", type=float, default=0.0)
    parser.add_argument("--dashboard", action="store_true")
    parser.add_argument("--adaptive", action="store_true", help="questions: adaptive")
    parser.add_argument("--generate", metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--pid", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    load = (given.participants, given.seconds, given.plain, given.think)
    if given.generate:
        print(json.dumps(asyncio.run(_load(given.generate, given.pid, *load))))
        return
    if given.only != "postgresql":
        _say("SQLite", measure(None, *load, given.dashboard, given.adaptive))
    if given.only != "sqlite":
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            cluster = Postgres(Path(place))
            try:
                _say(
                    "PostgreSQL",
                    measure(cluster.database(), *load, given.dashboard, given.adaptive),
                )
            finally:
                cluster.stop()


def _say(database: str, facts: dict[str, Any]) -> None:
    one, five, _ = os.getloadavg()
    print(
        f"{database}, {facts['participants']} participants at once, {facts['seconds']:.0f} s"
        f"{facts['looked']}: "
        f"{facts['answers_per_second']:,.0f} acknowledged answers/s, "
        f"p50 {facts['p50_ms']:.0f} ms, p99 {facts['p99_ms']:.0f} ms; "
        f"CPU per answer: server {facts['server_cpu_ms_per_answer']:.2f} ms, "
        f"generator {facts['generator_cpu_ms_per_answer']:.2f} ms; all {facts['in_database']:,} "
        f"in the database (load of the machine: {one:.0f}, {five:.0f})",
        flush=True,
    )


if __name__ == "__main__":
    main()
