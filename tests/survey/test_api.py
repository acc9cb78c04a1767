"""The calls of the participant's page, as the interface promises them."""

from __future__ import annotations

import hmac
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from PIL import Image

from studies import Prolific, Running, edit, running
from trilens.errors import SurveyError
from trilens_survey import links, researcher
from trilens_survey.app import make_app
from trilens_survey.auth import PARTICIPANT
from trilens_survey.database import Database, open_database
from trilens_survey.example import write_example
from trilens_survey.payment import payments_due
from trilens_survey.server import Options
from trilens_survey.status import Status, status
from trilens_survey.store.administration import all_about, erase, pause, resume


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def app(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """The example study on each database; every test has participants of its own."""
    folder = tmp_path_factory.mktemp("api") / "study"
    write_example(folder)
    url = None
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").database()
    with running(folder, open_database(folder, url)) as served:
        yield served


def counts(app: Running) -> Status:
    return app.look(lambda c: status(c, 0))


def test_a_round_from_join_to_the_end(app: Running) -> None:
    rater = app.joined(platform_id="whole", language="de-CH")
    for asked, given in (("xx", "en"), ("de-AT", "de"), ("en-GB", "en")):
        study = rater.get(f"/api/study?language={asked}").json()
        assert (study["language"], study["joined"]) == (given, True)
        name = {"en": "an orange", "de": "eine Orange"}[given]
        assert study["example"]["stimuli"][0] == {"form": "text", "text": name}
    first = rater.question()
    assert {"token", "kind", "objects", "round", "number", "of"} <= first.keys()
    assert (first["kind"], first["round"], first["number"], first["of"]) == ("central", 1, 1, 20)
    assert len(set(first["objects"])) == 3
    assert first["stimuli"][0]["text"].split()[0] in ("ein", "eine")
    assert rater.question() == first
    asked = rater.round()
    assert [question["number"] for question in asked] == list(range(1, 21))
    assert rater.question() == {
        "round_done": True, "round": 1, "rounds": 3, "answers": 20, "may_finish": True,
    }  # fmt: skip
    begun = rater.post("/api/round")
    assert begun.status_code == 200
    assert begun.json()["round"] == 2
    assert rater.post("/api/round").json() == begun.json(), "a second press changes nothing"
    rater.round()
    rater.post("/api/round")
    rater.round()
    end = rater.question()
    assert (end["done"], end["answers"]) == (True, 60)
    assert end["completion"] == {"code": "THANKS", "url": None}
    assert rater.post("/api/round").status_code == 409


def test_an_answer_is_stored_once_and_may_bring_the_next_question(app: Running) -> None:
    before = counts(app).answers
    rater = app.joined()
    question = rater.question()
    token, (chosen, other, _) = question["token"], question["objects"]
    for _ in range(3):
        answer = rater.answer(token, chosen)
        assert (answer.status_code, answer.json()) == (200, {"stored": True})
    assert rater.answer(token, other).status_code == 409
    assert counts(app).answers == before + 1
    body = {"token": token, "chosen": chosen, "seconds": 0.5}
    answer = rater.post("/api/answer?next=1", json=body).json()
    assert answer == {"stored": True, "next": rater.question()}
    assert answer["next"]["number"] == 2


def test_refusals(app: Running) -> None:
    rater, other, stranger = app.joined(), app.joined(), app.participant()
    before = counts(app)
    for body in ({}, {"consent": False}, {"consent": False, "platform_id": "p"}):
        without_consent = stranger.post("/api/join", json=body)
        assert without_consent.status_code == 400
        assert "set-cookie" not in without_consent.headers
    question = rater.question()
    token, chosen = question["token"], question["objects"][0]
    assert other.answer(token, chosen).status_code == 403
    assert stranger.answer(token, chosen).status_code == 401
    assert stranger.get("/api/question").status_code == 401
    for call in ("round", "finish"):
        assert stranger.post(f"/api/{call}").status_code == 401
    assert rater.answer("never-issued", chosen).status_code == 404
    assert rater.answer(token, "not shown").status_code == 422
    for seconds in (0, -1, True, "1", None, 1e300):
        assert rater.answer(token, chosen, seconds).status_code == 422  # type: ignore[arg-type]
    for text in ("", "{", "[]", '{"token": 1}', '{"seconds": NaN, "token": "a", "chosen": "b"}'):
        sent = rater.post("/api/answer", content=text, headers={"content-type": "application/json"})
        assert sent.status_code == 422
    told = rater.answer(token, 0).json()["detail"]  # type: ignore[arg-type]
    assert {tuple(each["loc"]) for each in told} == {("body", "chosen")}
    words = {"token": token, "missing": question["objects"]}
    assert rater.post("/api/skip", json=words).status_code == 422, "words are always there"
    assert rater.post("/api/finish").status_code == 409
    assert rater.question() == question
    assert counts(app) == before
    assert app.participant().get("/healthz").json() == {"ok": True}


def pictured(folder: Path) -> Path:
    """The example with pictures, and one round."""
    (folder / "pictures").mkdir()
    for i, line in enumerate((folder / "objects.csv").read_text().splitlines()[1:]):
        picture = Image.new("RGB", (8, 8), (i, 0, 0))
        picture.save(folder / "pictures" / f"{line.split(',')[0]}.png")
    return edit(folder, ("objects: objects.csv", "objects: pictures"), ("most: 3 ", "most: 1 "))


def test_a_question_whose_picture_is_missing_is_left_out(folder: Path, database: Database) -> None:
    """Whoever says that no picture comes is asked no more, and gets no code."""
    (folder / "pictures").mkdir()
    for i, line in enumerate((folder / "objects.csv").read_text().splitlines()[1:]):
        picture = Image.new("RGB", (8, 8), (i, 0, 0))
        picture.save(folder / "pictures" / f"{line.split(',')[0]}.png")
    edit(
        folder,
        ("objects: objects.csv", "objects: pictures"),
        ("most: 3 ", "most: 1 "),
        ("  # failed: SORRY", "  failed: SORRY"),
    )
    with running(folder, database) as app:
        rater = app.participant()
        receipt = rater.join(platform_id="P")
        first = rater.question()
        body = {"token": first["token"], "missing": first["objects"][:2]}
        left = [rater.post("/api/skip", json=body) for _ in range(2)]
        assert [said.json()["number"] for said in left] == [2, 2], "twice is once"
        assert rater.answer(first["token"], first["objects"][0]).status_code == 409
        elsewhere = next(n for n in app.survey.study.names if n not in first["objects"])
        second = rater.answer_one()
        late = {"token": second["token"], "missing": second["objects"][:1]}
        assert rater.post("/api/skip", json=late).status_code == 200, "the answer stands"
        for wrong, said in (
            (body | {"token": "x"}, 404),
            (body | {"missing": []}, 422),
            (body | {"missing": ["x"]}, 422),
            (body | {"missing": [elsewhere, *first["objects"]]}, 422),
        ):
            assert rater.post("/api/skip", json=wrong).status_code == said
        script = app.joined(platform_id="script")
        assert script.post("/api/skip", json=body).status_code == 403
        for _ in range(4):  # with the first, five of twenty
            asked = rater.question()
            rater.post("/api/skip", json={"token": asked["token"], "missing": asked["objects"][:1]})
        rater.round()
        end = rater.question()
        assert end["completion"]["code"] == "THANKS", "three quarters are enough"
        assert end["answers"] == 15
        for _ in range(6):
            asked = script.question()
            assert "failed_code" not in asked
            body = {"token": asked["token"], "missing": asked["objects"][:1]}
            end = script.post("/api/skip", json=body).json()
        assert (end["done"], end["short"], end["answers"]) == (True, True, 0)
        assert end["completion"] == {"code": None, "url": None}
        assert script.post("/api/round").json() == script.question() == end
        paid = {row.platform_id: row for row in app.look(payments_due)}
        assert (paid["P"].skipped, paid["P"].answers, paid["P"].code) == (5, 15, "THANKS")
        assert (paid["script"].skipped, paid["script"].code) == (6, None)
        assert counts(app).skipped == 11
        assert set(first["objects"][:2]) <= counts(app).missing.keys()
        about = app.look(lambda c: all_about(c, receipt))
        assert about is not None
        assert [q["skipped"] for q in about["questions"]] == [
            True, False, *[True] * 4, *[False] * 14,
        ]  # fmt: skip
        app.do(lambda c: erase(c, receipt))
        assert counts(app).skipped == 6


def test_whoever_comes_back_goes_on_by_cookie_or_receipt(app: Running) -> None:
    rater, other_device = app.participant(), app.participant()
    receipt = rater.join(platform_id="back")
    question = rater.question()
    assert rater.join(platform_id="back") == rater.join() == receipt
    assert other_device.join(platform_id="back", receipt=receipt.lower()) == receipt
    assert rater.question() == other_device.question() == question
    other_device.round()
    for _ in range(2):
        assert rater.post("/api/finish").json()["done"] is True
    for device in (rater, other_device):
        assert device.join(platform_id="back") == receipt, "the cookie is enough"
        assert device.question()["done"] is True
        assert device.post("/api/round").status_code == 409
    assert rater.join() != receipt, "whoever has finished makes room for the next"
    # somebody else at the same computer, by the platform's word
    assert other_device.join(platform_id="another") != receipt
    for body in ({"receipt": "ABCD-EFGH-JKMN-PQRS"}, {"receipt": receipt, "platform_id": "other"}):
        assert app.ask_to_join(**body).status_code == 404


def test_a_platform_id_is_no_password_and_a_lost_reply_does_not_use_it_up(app: Running) -> None:
    """Somebody's id alone gives neither their receipt nor their cookie, and begins nothing."""
    lost, rater, stranger = app.participant(), app.participant(), app.participant()
    old = lost.join(platform_id="known")
    before = counts(app).participants
    receipt = rater.join(platform_id="known")
    assert receipt != old
    assert lost.get("/api/question").status_code == 401
    question = rater.question()
    refused = stranger.post("/api/join", json={"consent": True, "platform_id": "known"})
    assert (refused.status_code, refused.json()["code"]) == (409, "in_use")
    assert receipt not in refused.text
    assert not stranger.cookies
    assert stranger.post("/api/leave", json={"keep": False}).status_code == 401
    assert rater.question() == question
    assert counts(app).participants == before


SECRET = "a secret of the link"
PROLIFIC = ("code: THANKS", "code: ABC\n  platform: prolific")


@pytest.mark.parametrize("signed", [False, True])
def test_a_link_may_need_a_secret(folder: Path, signed: bool) -> None:
    """Nobody fills the places with ids that they made up."""
    links = f"links: {{secret: {SECRET}, signed: {str(signed).lower()}}}\nretention:"
    edit(folder, ("retention:", links), PROLIFIC)
    signature = hmac.new(SECRET.encode(), b"p1", "sha256").hexdigest()
    right = {"signature": signature} if signed else {"key": SECRET}
    wrong = [
        {"platform_id": "p1"} | given
        for given in ({}, {"key": "x"}, {"signature": "x"}, {"key": signature})
    ]
    wrong += [{"platform_id": who} | right for who in (None, "", "{{%PROLIFIC_PID%}}")]
    if signed:  # the signature is of one id alone
        wrong.append({"platform_id": "p2"} | right)
    with running(folder) as app:
        assert app.participant().get("/api/study").json()["needs_id"] is True
        for body in wrong:
            refused = app.ask_to_join(**body)
            assert (refused.status_code, refused.json()["code"]) == (403, "link"), body
        assert app.ask_to_join(platform_id="p1", **right).status_code == 201
        assert app.ask_to_join(test=app.survey.store.test_link()).status_code == 201


def test_a_link_signed_by_prolific(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(folder, ("retention:", "links: {prolific: true}\nretention:"), PROLIFIC)
    with pytest.raises(SurveyError, match="start it with --public-url"), running(folder):
        pass
    platform = Prolific()
    monkeypatch.setattr(links, "PROLIFIC_KEYS", platform.url)
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    good = platform.token()
    head, body, signature = good.split(".")
    plain = jwt.encode({"aud": "study.example.org", "exp": time.time() + 60}, "k" * 32, "HS256")
    wrong = [
        "", "x", plain, f"{head}.{body}.", f"{head}.{body}.{signature[::-1]}",
        platform.token(key=other),
        platform.token(exp=time.time() - 5), platform.token(exp=None),
        platform.token(aud="https://elsewhere.org"), platform.token(aud=None),
        platform.token(prolific="p1"), platform.token(prolific={}),
    ]  # fmt: skip
    here = Options(hosts=frozenset({"study.example.org"}))
    with running(folder, options=here) as app:

        def come(token: str, who: str | None = "p1") -> int:
            client = app.participant()
            given = {"consent": True, "platform_id": who, "signature": token}
            joined = client.post("/api/join", json=given)
            client.get("/api/question")
            return joined.status_code

        assert [come(token) for token in wrong] == [403] * len(wrong)
        assert come(platform.token(kid="unknown")) == 503, "the keys were read just now"
        assert come(good, "p2") == come(good, None) == 403, "it is good for one id alone"
        assert come(platform.token(aud="study.example.org")) == 201
        assert come(good) == 409, "the id is in use"
        platform.close()
        assert come(platform.token(prolific={"PROLIFIC_PID": "p4"}), "p4") == 201, "known for a day"
    # where the keys do not come, one waits for them
    begun, go_on = threading.Event(), threading.Event()

    def hang(*_: Any, **__: Any) -> Any:
        begun.set()
        go_on.wait(20)
        raise jwt.PyJWKClientConnectionError("too late")

    monkeypatch.setattr(jwt.PyJWKClient, "fetch_data", hang)
    with running(folder, options=here) as app, ThreadPoolExecutor(1) as pool:
        assert app.ask_to_join(signature=good).status_code == 403, "without asking the platform"
        ask = lambda: app.ask_to_join(platform_id="p5", signature=good)  # noqa: E731
        first = pool.submit(ask)
        assert begun.wait(10)
        others = [ask() for _ in range(6)]
        assert {(one.status_code, one.headers["retry-after"]) for one in others} == {(503, "5")}
        assert app.participant().get("/api/study").status_code == 200
        assert not first.done()
        go_on.set()
        assert first.result().status_code == 503


def test_two_studies_on_one_host_keep_their_participants_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_example(tmp_path / name)
    with running(tmp_path / "one") as first, running(tmp_path / "two") as second:
        rater = first.joined()
        question = rater.question()
        # a browser sends the cookies of a host whatever the port
        other = second.participant()
        other.cookies.update(dict(rater.cookies))
        other.join()
        name = second.survey.cookie_name(PARTICIPANT)
        rater.cookies.set(name, other.cookies[name])
        assert rater.question() == question
        assert "token" in other.question()


@pytest.mark.parametrize(("changes", "most"), [([PROLIFIC], 10), ([], 200)])
def test_joins_from_one_address_are_limited_but_a_class_may_begin(
    folder: Path, changes: list[tuple[str, str]], most: int
) -> None:
    with running(edit(folder, *changes)) as app:
        script = [app.ask_to_join(platform_id=f"made{i}").status_code for i in range(12)]
        assert script == [201 if i < most else 429 for i in range(12)]
        limiter = app.survey.joins
        used = min(12, most)
        while limiter.allows("127.0.0.1"):
            used += 1
        assert used == most
        assert app.ask_to_join().status_code == 429
        assert limiter.allows("192.0.2.7")


@pytest.mark.parametrize("kind", ["odd", "closer"])
def test_other_kinds_and_the_way_back(tmp_path: Path, kind: Any) -> None:
    folder = tmp_path / "study"
    write_example(folder, kind)
    way = 'code: "A&B"\n  redirect: https://x.org/c?cc={code}&id={platform_id}'
    with running(edit(folder, ("code: THANKS", way))) as app:
        rater = app.joined(platform_id="a b/ü")
        question = rater.question()
        assert question["kind"] == kind
        if kind == "closer":
            assert question["anchor"] == question["objects"][0]
            assert rater.answer(question["token"], question["anchor"]).status_code == 422
        rater.round()
        url = rater.post("/api/finish").json()["completion"]["url"]
        assert url == "https://x.org/c?cc=A%26B&id=a%20b%2F%C3%BC"


@pytest.mark.parametrize("needed", [1, 2])
def test_a_pause_takes_nobody_and_begins_no_round(folder: Path, needed: int) -> None:
    """Where more rounds are needed, it is told as a pause, and gives no code."""
    edit(folder, ("  needed: 1 ", f"  needed: {needed} "))
    with running(folder) as app:
        between, within = app.rater(), app.joined()
        app.do(lambda c: pause(c, "researcher"))
        assert app.ask_to_join().status_code == 403
        assert len(within.round()) == 20, "a round that was begun goes on"
        for rater in (between, within):
            assert rater.post("/api/round").status_code == 403
            if needed == 1:
                assert rater.question()["done"] is True
                continue
            assert rater.question() == {"paused": True, "round": 1, "answers": 20}
            assert rater.post("/api/finish").status_code == 409
        app.do(lambda c: resume(c, "researcher"))
        if needed == 2:
            assert between.question()["round_done"] is True
            between.post("/api/round")
            between.round()
            assert between.post("/api/finish").json()["completion"]["code"] == "THANKS"


def test_the_page_lists_every_call(folder: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "survey.md").read_text()
    listed = page.partition("## The HTTP calls")[2].partition("\n## ")[0]
    with running(folder) as app:
        paths = set(make_app(app.survey, started=True).openapi()["paths"])
    paths |= {route.path for route in researcher.router.routes}  # type: ignore[attr-defined]
    assert {"/api/answer", "/researcher/export", "/healthz"} <= paths
    assert not [path for path in paths if f"{path}`" not in listed]
