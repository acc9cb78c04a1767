"""Nobody gets in where they do not belong."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from studies import LONGEST, Running, running
from trilens_survey.auth import PARTICIPANT, sign
from trilens_survey.example import write_example
from trilens_survey.export import AnswerTable, collect
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


def answers(app: Running, receipt: str) -> int:
    """How many answers of a participant are stored."""
    known = app.look(lambda c: all_about(c, receipt))
    assert known is not None
    return sum(question["chosen"] is not None for question in known["questions"])


def test_cookies_of_participants(app: Running) -> None:
    answer = app.participant().post("/api/join", json={"consent": True})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    secure = app.participant(headers={"x-forwarded-proto": "https"})
    cookie = secure.post("/api/join", json={"consent": True}).headers["set-cookie"]
    assert "Secure" in cookie


@pytest.mark.parametrize(
    "forge",
    [
        lambda value, key: "ABCD-EFGH-JKMN-PQRS." + value.partition(".")[2],
        lambda value, key: value.partition(".")[0],
        # not the last character, some of whose bits mean nothing
        lambda value, key: value[:-9] + ("A" if value[-9] != "A" else "B") + value[-8:],
        lambda value, key: "1",
        lambda value, key: "1.",
        lambda value, key: ".",
        lambda value, key: "",
        lambda value, key: "1.ü",
        lambda value, key: sign(b"another key", "participant", "1"),
        lambda value, key: sign(key, "researcher", "1"),
    ],
)
def test_forged_cookies(app: Running, forge: Any) -> None:
    rater = app.joined()
    app.participant().join()
    value = forge(rater.cookies[app.survey.cookie_name(PARTICIPANT)], app.survey.store.key)
    request = (
        f"GET /api/question HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Cookie: {app.survey.cookie_name(PARTICIPANT)}={value}\r\n\r\n"
    )
    assert raw(app, request.encode()).startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1.evil.example"},
    ],
)
def test_posts_from_other_sites(app: Running, headers: dict[str, str]) -> None:
    rater = app.participant()
    receipt = rater.join()
    question = rater.question()
    body = {"token": question["token"], "chosen": question["objects"][0], "seconds": 1}
    for path in ("/api/answer", "/api/round", "/api/join", "/researcher/sign-in"):
        assert rater.post(path, json=body, headers=headers).status_code == 403
    assert answers(app, receipt) == 0
    own = {"origin": app.url, "sec-fetch-site": "same-origin"}
    assert rater.post("/api/answer", json=body, headers=own).status_code == 200


def test_a_form_of_another_site_is_no_json(app: Running) -> None:
    """A form can be sent without asking; it cannot say that it is JSON."""
    rater = app.participant()
    text = json.dumps({"consent": True})
    plain = rater.post("/api/join", content=text, headers={"content-type": "text/plain"})
    assert plain.status_code == 422
    assert "set-cookie" not in plain.headers


@pytest.mark.parametrize(
    "path",
    [
        "/media/../study.yaml",
        "/media/..%2fstudy.yaml",
        "/media/%2e%2e%2fanswers.db",
        "/media/..%5c..%5cstudy.yaml",
        "/media/%2fetc%2fpasswd",
        "/static/../study.py",
        "/static/%2e%2e/study.py",
        "/static/..%2f..%2fstudy.py",
        "/static//etc/passwd",
        "/media/apple",
        "/media/",
        "/answers.db",
        "/study.yaml",
        "//etc/passwd",
    ],
)
def test_paths_that_lead_out(app: Running, path: str) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = raw(app, request.encode())
    assert answer.split(b" ")[1] in (b"404", b"405", b"307")
    assert b"title:" not in answer
    assert b"def " not in answer


def test_a_body_of_a_gigabyte_is_refused_before_it_is_read(app: Running) -> None:
    head = (
        "POST /api/join HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {2**30}\r\n\r\n"
    )
    # the body never comes: an answer shows that nobody waited for it
    assert raw(app, head.encode()).startswith(b"HTTP/1.1 413")


def test_a_body_that_does_not_tell_its_length_is_cut_off(app: Running) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=LONGEST)
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < 2**30:
            sent += 8192
            yield b" " * 8192

    try:
        connection.request(
            "POST",
            "/api/join",
            body=endless(),
            headers={"content-type": "application/json"},
            encode_chunked=True,
        )
        got = connection.getresponse().status
    except (BrokenPipeError, ConnectionResetError):
        got = 413  # it hung up on us, which is as good
    connection.close()
    assert got == 413
    assert LONGEST_BODY < sent < 2**26


@pytest.mark.parametrize(
    "lines",
    [
        "",
        "Host: \r\n",
        "Host: a\r\nHost: b\r\n",
        "Host: a b\r\n",
        "Host: localhost/researcher\r\n",
        "Host: localhost?x\r\n",
        "Host: evil.example#\r\n",
        "Host: a@b\r\n",
        "Host: localhost:99999999\r\n",
        "Host: [::1\r\n",
        "Host: xn--\x7f\r\n",
    ],
)
def test_hosts_that_are_none(app: Running, lines: str) -> None:
    """CVE-2026-48710: a malformed Host once led around sign-in by the path."""
    request = f"GET /researcher/ HTTP/1.1\r\n{lines}Connection: close\r\n\r\n"
    assert raw(app, request.encode()).startswith(b"HTTP/1.1 400")


def test_only_the_names_that_the_server_has(folder: Path) -> None:
    options = Options(hosts=frozenset({"study.example", "127.0.0.1"}), secure=True)
    with running(folder, options=options) as app:
        rater = app.participant()
        assert rater.get("/", headers={"host": "evil.example"}).status_code == 421
        fine = rater.get("/", headers={"host": "Study.example:443"})
        assert fine.status_code == 200
        assert "max-age" in fine.headers["strict-transport-security"]
        assert "Secure" in rater.post("/api/join", json={"consent": True}).headers["set-cookie"]


def test_pages_are_shut_tight(app: Running) -> None:
    rater = app.participant()
    for path in ("/", "/researcher/sign-in", "/api/study", "/nowhere", "/static/researcher.js"):
        headers = rater.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


def test_a_picture_with_a_script_in_it(folder: Path) -> None:
    (folder / "pictures").mkdir()
    for i in range(6):
        (folder / "pictures" / f"{i}.svg").write_bytes(SVG + b"<!-- %d -->" % i)
    text = (folder / "study.yaml").read_text().replace("objects: objects.csv", "objects: pictures")
    text = text[: text.index("example:")] + text[text.index("consent:") :]
    text = text[: text.index("tests:")] + text[text.index("shared:") :]
    (folder / "study.yaml").write_text(text.replace("length: 20", "length: 15"))
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
    '" OR 1=1 --',
    "1) UNION SELECT value FROM settings --",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "\\",
    "%00",
    "\u202e",
    "../../etc/passwd",
]


@pytest.mark.parametrize("text", NASTY)
def test_sql_and_script_in_every_field(app: Running, text: str) -> None:
    rater = app.participant()
    # what a platform has not filled in is no id, and is refused
    receipt = rater.join(platform_id=text.replace("{{", "{"))
    question = rater.question()
    chosen = question["objects"][0]
    assert rater.answer(text, chosen).status_code == 404
    assert rater.answer(question["token"], text).status_code == 422
    joined = app.participant().post("/api/join", json={"consent": True, "language": text})
    assert joined.status_code in (201, 422)
    asked = rater.get("/api/study", params={"language": text})
    assert asked.status_code == 422 or asked.json()["language"] == "en"
    page = rater.get("/", params={"language": text})
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    rater.get("/researcher/first", params={"key": text})
    rater.post("/researcher/sign-in", data={"password": text})
    assert rater.answer(question["token"], chosen).status_code == 200
    assert answers(app, receipt) == 1


def test_refusals_do_not_repeat_what_was_sent(app: Running) -> None:
    rater = app.joined()
    secret = "a-name-that-nobody-should-see"
    answer = rater.post("/api/answer", json={"token": {"x": secret}, "chosen": secret})
    assert answer.status_code == 422
    assert secret not in answer.text


def test_logs_tell_nothing_about_people(app: Running, caplog: Any) -> None:
    import logging

    from trilens_survey.log import JsonLines

    with caplog.at_level(logging.DEBUG, "trilens_survey"):
        rater = app.participant(headers={"user-agent": "an-agent", "x-forwarded-for": "9.8.7.6"})
        receipt = rater.join(platform_id="platform-person")
        question = rater.question()
        rater.answer(question["token"], question["objects"][0])
        rater.get("/nowhere/platform-person")
    lines = [JsonLines().format(record) for record in caplog.records]
    assert any('"route": "/api/answer"' in line for line in lines)
    for line in lines:
        json.loads(line)
        for secret in (
            "platform-person", "an-agent", "9.8.7.6", "127.0.0.1", receipt, question["token"],
        ):  # fmt: skip
            assert secret not in line


def test_the_platforms_id_stays_out_of_exports(app: Running) -> None:
    def exported() -> AnswerTable:
        with app.survey.database.reading() as connection:
            return collect(connection, "central", 1)

    before = set(exported().column("rater"))
    rater = app.joined(platform_id="exported-person")
    rater.answer(rater.question()["token"], rater.question()["objects"][0])
    assert "exported-person" not in json.dumps(exported().table.to_pydict())
    assert len(set(exported().column("rater")) - before) == 1


@pytest.mark.parametrize("piece", [b"x-long: " + b"a" * 60_000 + b"\r\n", b"a" * 60_000])
def test_headers_without_end_are_cut_short(app: Running, piece: bytes) -> None:
    """Also without a proxy: not 60 MB, and not one header of any length."""
    with socket.create_connection(("127.0.0.1", app.port), timeout=10) as client:
        client.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\nx-first: ")
        sent = 0
        with suppress(ConnectionError):
            while sent < 60_000_000:
                client.sendall(piece)
                sent += len(piece)
            raise AssertionError("all of it was taken")
        assert sent < 20_000_000  # what the sockets of both sides hold
    assert app.participant().get("/healthz").status_code == 200


def test_headers_of_usual_length_and_long_bodies_pass(app: Running) -> None:
    client = app.participant(headers={"x-long": "a" * 30_000})
    assert client.get("/healthz").status_code == 200
    answer = client.post("/api/join", json={"consent": True, "platform_id": "a" * 60_000})
    assert answer.status_code == 422
    assert client.join()


def test_headers_above_the_limit_are_refused_in_one_piece_too(app: Running) -> None:
    head = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    long = b"".join(b"x-%d: " % i + b"a" * 5_000 + b"\r\n" for i in range(40))
    try:
        answer = raw(app, head + long + b"\r\n")
    except ConnectionResetError:
        return  # it hung up on us, which is as good
    assert answer.startswith((b"HTTP/1.1 431", b"HTTP/1.1 400"))


@pytest.mark.parametrize(
    "half",
    [b"", b"GET / HTTP/1.1\r\nHost: local", b"POST /api/join HTTP/1.1\r\nHost: a\r\n"
     b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"],
)  # fmt: skip
def test_half_open_requests_end(app: Running, half: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A participant who takes as long is none."""
    assert Protocol.longest_wait == 15
    monkeypatch.setattr(Protocol, "longest_wait", 0.2)
    rater = app.joined()
    question = rater.question()
    with socket.create_connection(("127.0.0.1", app.port), timeout=5) as pipe:
        pipe.sendall(half)
        assert pipe.recv(100) == b"", "closed, without a word"
    assert rater.answer(question["token"], question["objects"][0]).status_code == 200


@pytest.mark.parametrize("path", ["/researcher", "/static", "/researcher/first/", "/api/join/"])
def test_nothing_redirects_to_the_host_that_was_sent(app: Running, path: str) -> None:
    answer = app.participant().get(path, headers={"host": "evil.example"})
    assert "evil" not in answer.headers.get("location", "")
    if path == "/researcher":
        assert answer.headers["location"] == "/researcher/"
