"""Nobody gets in where they do not belong, and nothing that is sent makes the server fail."""

from __future__ import annotations

import http.client
import json
import logging
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from studies import LONGEST, Running, edit, plain, running
from trilens_survey.auth import PARTICIPANT, sign
from trilens_survey.database import open_database
from trilens_survey.example import write_example
from trilens_survey.export import collect
from trilens_survey.log import JsonLines
from trilens_survey.middleware import LONGEST_BODY
from trilens_survey.server import Options
from trilens_survey.serving import Protocol
from trilens_survey.store.administration import all_about

SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script>'
    b'<image href="x" onerror="alert(1)"/></svg>'
)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The example study, for all the tests here: each has participants of its own."""
    folder = tmp_path_factory.mktemp("security") / "study"
    write_example(folder)
    with running(folder) as portal:
        yield portal


def raw(app: Running, request: bytes) -> bytes:
    """What the server says to bytes that no HTTP library would send."""
    with socket.create_connection(("127.0.0.1", app.port), timeout=LONGEST) as pipe:
        pipe.sendall(request)
        answer = b""
        while part := pipe.recv(65536):
            answer += part
        return answer


def get(path: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", *headers, "Connection: close", "", ""]).encode()


def answers(app: Running, receipt: str) -> int:
    """How many answers of a participant are stored."""
    known = app.look(lambda c: all_about(c, receipt))
    assert known is not None
    return sum(question["chosen"] is not None for question in known["questions"])


def test_cookies_are_shut_to_scripts_and_cannot_be_forged(app: Running) -> None:
    cookie = app.ask_to_join().headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    rater = app.participant(headers={"x-forwarded-proto": "https"})
    proxied = rater.post("/api/join", json={"consent": True})
    assert "Secure" in proxied.headers["set-cookie"]
    name, key = app.survey.cookie_name(PARTICIPANT), app.survey.store.key
    value = rater.cookies[name]
    forged = [
        "ABCD-EFGH-JKMN-PQRS." + value.partition(".")[2],
        value.partition(".")[0],
        # not the last character, some of whose bits mean nothing
        value[:-9] + ("A" if value[-9] != "A" else "B") + value[-8:],
        "1", "1.", ".", "", "1.ü",
        sign(b"another key", "participant", "1"),
        sign(key, "researcher", "1"),
    ]  # fmt: skip
    for cookie in (*forged, value):
        answer = raw(app, get("/api/question", "Host: localhost", f"Cookie: {name}={cookie}"))
        assert answer.split(b" ")[1] == (b"200" if cookie == value else b"401"), cookie


def test_posts_from_other_sites(app: Running) -> None:
    rater = app.participant()
    receipt = rater.join()
    question = rater.question()
    body = {"token": question["token"], "chosen": question["objects"][0], "seconds": 1}
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1.evil.example"},
    ):
        for path in ("/api/answer", "/api/round", "/api/join", "/researcher/sign-in"):
            sent = rater.post(path, json=body, headers=headers)
            assert sent.status_code == 403, (headers, path)
    # a form can be sent without asking; it cannot say that it is JSON
    plain = rater.post("/api/answer", content=json.dumps(body))
    assert plain.status_code == 422
    assert answers(app, receipt) == 0
    own = {"origin": app.url, "sec-fetch-site": "same-origin"}
    assert rater.post("/api/answer", json=body, headers=own).status_code == 200


PATHS = (
    "/media/../study.yaml", "/media/..%2fstudy.yaml", "/media/%2e%2e%2fanswers.db",
    "/media/..%5c..%5cstudy.yaml", "/media/%2fetc%2fpasswd", "/static/../study.py",
    "/static/%2e%2e/study.py", "/static/..%2f..%2fstudy.py", "/static//etc/passwd",
    "/media/apple", "/media/", "/answers.db", "/study.yaml", "//etc/passwd",
)  # fmt: skip
#: CVE-2026-48710: a malformed Host once led around sign-in by the path.
HOSTS = (
    (), ("Host: ",), ("Host: a", "Host: b"), ("Host: a b",), ("Host: localhost/researcher",),
    ("Host: localhost?x",), ("Host: evil.example#",), ("Host: a@b",),
    ("Host: localhost:99999999",), ("Host: [::1",), ("Host: xn--\x7f",),
)  # fmt: skip


def test_paths_that_lead_out_and_hosts_that_are_none(app: Running) -> None:
    for path in PATHS:
        answer = raw(app, get(path, "Host: localhost"))
        assert answer.split(b" ")[1] in (b"404", b"405", b"307"), path
        assert b"title:" not in answer
        assert b"def " not in answer
    for lines in HOSTS:
        assert raw(app, get("/researcher/", *lines)).startswith(b"HTTP/1.1 400"), lines
    for path in ("/researcher", "/static", "/researcher/first/", "/api/join/"):
        answer = app.participant().get(path, headers={"host": "evil.example"})
        led = answer.headers.get("location", "")
        assert led == ("/researcher/" if path == "/researcher" else ""), "not to the host sent"


def test_a_body_has_a_limit_whether_it_tells_its_length_or_not(app: Running) -> None:
    head = (
        "POST /api/join HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {2**30}\r\n\r\n"
    )
    # the body never comes: an answer shows that nobody waited for it
    assert raw(app, head.encode()).startswith(b"HTTP/1.1 413")
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=LONGEST)
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < 2**30:
            sent += 8192
            yield b" " * 8192

    json_type = {"content-type": "application/json"}
    with suppress(BrokenPipeError, ConnectionResetError):  # it may hang up, which is as good
        connection.request("POST", "/api/join", endless(), json_type, encode_chunked=True)
        assert connection.getresponse().status == 413
    connection.close()
    assert LONGEST_BODY < sent < 2**26


def test_pages_are_shut_tight_and_only_for_the_names_that_the_server_has(folder: Path) -> None:
    options = Options(hosts=frozenset({"study.example", "127.0.0.1"}), secure=True)
    with running(folder, options=options) as app:
        rater = app.participant(headers={"host": "Study.example:443"})
        for path in ("/", "/researcher/sign-in", "/api/study", "/nowhere", "/static/researcher.js"):
            headers = rater.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            assert "max-age" in headers["strict-transport-security"]
            assert "server" not in headers
        assert rater.get("/", headers={"host": "evil.example"}).status_code == 421
        assert "Secure" in app.ask_to_join().headers["set-cookie"]


def test_a_picture_with_a_script_in_it(folder: Path) -> None:
    (folder / "pictures").mkdir()
    for i in range(6):
        (folder / "pictures" / f"{i}.svg").write_bytes(SVG + b"<!-- %d -->" % i)
    plain(folder)
    edit(folder, ("objects: objects.csv", "objects: pictures"), ("length: 20", "length: 15"))
    with running(folder) as app:
        rater = app.joined()
        url = rater.question()["stimuli"][0]["url"]
        answer = rater.get(url)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("image/svg+xml")
        policy = answer.headers["content-security-policy"]
        assert "sandbox" in policy
        assert "script-src" not in policy  # so that default-src 'none' holds for scripts
        assert "default-src 'none'" in policy


NASTY = [
    "'; DROP TABLE answers; --",
    "1) UNION SELECT value FROM settings --",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "%00\u202e\\",
]


def test_sql_and_script_in_every_field(app: Running) -> None:
    for text in NASTY:
        rater = app.participant()
        # what a platform has not filled in is no id, and is refused
        receipt = rater.join(platform_id=text.replace("{{", "{"))
        question = rater.question()
        chosen = question["objects"][0]
        assert rater.answer(text, chosen).status_code == 404
        assert rater.answer(question["token"], text).status_code == 422
        refused = rater.post("/api/answer", json={"token": {"x": text}, "chosen": text})
        assert refused.status_code == 422
        assert json.dumps(text)[1:-1] not in refused.text, "what was sent is not repeated"
        assert app.ask_to_join(language=text).status_code == 201
        asked = rater.get("/api/study", params={"language": text})
        assert len(text) > 20 or asked.json()["language"] == "en"
        page = rater.get("/", params={"language": text})
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        rater.get("/researcher/first", params={"key": text})
        rater.post("/researcher/sign-in", data={"password": text})
        assert rater.answer(question["token"], chosen).status_code == 200
        assert answers(app, receipt) == 1


def test_logs_and_exports_tell_nothing_about_people(app: Running, caplog: Any) -> None:
    with caplog.at_level(logging.DEBUG, "trilens_survey"):
        rater = app.participant(headers={"user-agent": "an-agent", "x-forwarded-for": "9.8.7.6"})
        receipt = rater.join(platform_id="platform-person")
        question = rater.answer_one()
        rater.get("/nowhere/platform-person")
    exported = app.look(lambda c: collect(c, "central", 1)).table.to_pydict()
    assert "platform-person" not in json.dumps(exported)
    assert len(exported["rater"]) > 0
    lines = [JsonLines().format(record) for record in caplog.records]
    assert any('"route": "/api/answer"' in line for line in lines)
    for line in lines:
        json.loads(line)
        for secret in (
            "platform-person", "an-agent", "9.8.7.6", "127.0.0.1", receipt, question["token"],
        ):  # fmt: skip
            assert secret not in line


def test_headers_have_a_limit(app: Running) -> None:
    """Also without a proxy: not 60 MB, and not one header of any length."""
    for piece in (b"x-long: " + b"a" * 60_000 + b"\r\n", b"a" * 60_000):
        with socket.create_connection(("127.0.0.1", app.port), timeout=10) as client:
            client.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\nx-first: ")
            sent = 0
            with suppress(ConnectionError):
                while sent < 60_000_000:
                    client.sendall(piece)
                    sent += len(piece)
                raise AssertionError("all of it was taken")
            assert sent < 20_000_000  # what the sockets of both sides hold
    long = [f"x-{i}: {'a' * 5_000}" for i in range(40)]
    with suppress(ConnectionResetError):  # it may hang up on us, which is as good
        answer = raw(app, get("/", "Host: localhost", *long))
        assert answer.startswith((b"HTTP/1.1 431", b"HTTP/1.1 400"))
    client = app.participant(headers={"x-long": "a" * 30_000})
    assert client.get("/healthz").status_code == 200, "of usual length they pass"
    assert app.ask_to_join(platform_id="a" * 60_000).status_code == 422


def test_half_open_requests_end(app: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """A participant who takes as long is none."""
    assert Protocol.longest_wait == 15
    monkeypatch.setattr(Protocol, "longest_wait", 0.2)
    rater = app.joined()
    question = rater.question()
    post = "POST /api/join HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    for half in ("", "GET / HTTP/1.1\r\nHost: local", f"{post}Content-Length: 100\r\n\r\n{{"):
        with socket.create_connection(("127.0.0.1", app.port), timeout=5) as pipe:
            pipe.sendall(half.encode())
            assert pipe.recv(100) == b"", "closed, without a word"
    assert rater.answer(question["token"], question["objects"][0]).status_code == 200


def operations(app: Running) -> dict[str, Any]:
    import schemathesis

    schema = schemathesis.openapi.from_url(f"{app.url}/openapi.json")
    found = [result.ok() for result in schema.get_all_operations()]
    return {f"{operation.method.upper()} {operation.path}": operation for operation in found}


def fuzz(url: str, operation: Any, mode: Any, cookies: dict[str, str]) -> None:
    """Send what the description allows, or what it does not."""

    @settings(max_examples=25, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        answer = case.call(base_url=url, cookies=cookies)
        assert answer.status_code < 500, f"{operation.path}: {answer.text}"

    send()


@pytest.mark.slow
@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_no_call_makes_the_server_fail(
    request: pytest.FixtureRequest, folder: Any, where: str
) -> None:
    from schemathesis.generation import GenerationMode

    url = None if where == "sqlite" else request.getfixturevalue("postgres_url")
    with running(folder, open_database(folder, url)) as app:
        every = operations(app)
        assert {"POST /api/join", "GET /api/question", "POST /api/answer"} <= every.keys()
        cookies = dict(app.joined().cookies)
        for name, operation in every.items():
            # a call that takes nothing, or any key, cannot be given the wrong thing
            takes = bool(operation.body) or bool(operation.query)
            for mode in GenerationMode if takes else [GenerationMode.POSITIVE]:
                fuzz(app.url, operation, mode, {} if "join" in name else cookies)
        # and it still does its work
        assert len(app.joined().round()) == 20


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)
KEYS = st.sampled_from(["token", "chosen", "seconds", "consent", "x"])


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.dictionaries(KEYS, JSON).map(json.dumps) | JSON.map(json.dumps) | st.binary(),
    path=st.sampled_from(["answer", "join", "round", "finish", "form"]),
    kind=st.sampled_from(["application/json", "text/plain", "x"]),
)
def test_any_body_is_answered(app: Running, body: str | bytes, path: str, kind: str) -> None:
    rater = app.joined()
    answer = rater.post(f"/api/{path}", content=body, headers={"content-type": kind})
    assert answer.status_code < 500
