"""The researcher's pages: signing in, the dashboard, and what can be done there."""

from __future__ import annotations

import csv
import io
import json
import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import trilens as tl
from studies import Client, Running, edit, running
from trilens.report import words
from trilens_survey import SETS
from trilens_survey.auth import make_first_key, set_password
from trilens_survey.dashboard import BackgroundAnalysis, ChildProcess, Findings
from trilens_survey.example import write_example
from trilens_survey.export import collect
from trilens_survey.log import ChildFailed, JsonLines
from trilens_survey.researcher import router
from trilens_survey.server import Options
from trilens_survey.status import progress

PASSWORD = "a long enough one"


@pytest.fixture
def secured(app: Running) -> Running:
    """The example study with a password."""
    app.do(lambda c: set_password(c, PASSWORD))
    return app


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The same, for tests that leave it as it is."""
    folder = tmp_path_factory.mktemp("researcher") / "study"
    write_example(folder)
    with running(folder) as app:
        app.do(lambda c: set_password(c, PASSWORD))
        app.rater()
        yield app


def sign_in(browser: Client, password: str = PASSWORD) -> Any:
    return browser.post("/researcher/sign-in", data={"password": password})


def signed_in(app: Running) -> Client:
    browser = app.participant()
    answer = sign_in(browser)
    assert answer.status_code == 303, answer.text
    return browser


def csrf(browser: Client) -> str:
    page = browser.get("/researcher/").text
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found is not None
    return found[1]


def analyzed_now(app: Running, browser: Client) -> str:
    """The live part of the dashboard, with the answers of this moment analyzed_now."""
    app.survey.dashboard.analysis.wait()
    asked = browser.post("/researcher/analyze", data={"csrf": csrf(browser)})
    assert asked.status_code == 303
    app.survey.dashboard.analysis.wait()
    return browser.get("/researcher/live").text


def test_the_first_password_is_set_by_a_link_that_works_once(app: Running) -> None:
    key = app.do(make_first_key)
    browser, again = app.participant(), app.participant()
    assert "No password is set" in browser.get("/researcher/sign-in").text
    assert browser.get(f"/researcher/first?key={key}").status_code == 200
    for who, given, password, status in (
        (browser, key, "short", 422),
        (browser, "x", PASSWORD, 403),
        (browser, key, PASSWORD, 303),
        (again, key, "another long one", 403),
    ):
        sent = who.post("/researcher/first", data={"key": given, "password": password})
        assert sent.status_code == status
    assert browser.get("/researcher/").status_code == 200
    for given in (key, "wrong"):
        assert again.get(f"/researcher/first?key={given}").status_code == 403
    page = again.get("/researcher/first?key=used", headers={"accept": "text/html"}).text
    assert "<h1>This does not work</h1>" in page
    assert "This link has expired" in page
    assert app.do(make_first_key) is None


def test_every_page_for_researchers_turns_strangers_away(shared: Running) -> None:
    stranger = shared.participant()
    for route in router.routes:
        if route.path not in ("/researcher", "/researcher/sign-in", "/researcher/first"):
            (method,) = route.methods
            answer = stranger.request(method, route.path, data={"csrf": "x", "receipt": "y"})
            assert answer.status_code == 303, route.path
            assert answer.headers["location"] == "/researcher/sign-in", route.path


def test_a_wrong_password_and_a_used_up_cookie(shared: Running) -> None:
    wrong = sign_in(shared.participant(), "not this one")
    assert wrong.status_code == 403
    assert "set-cookie" not in wrong.headers
    browser = shared.participant()
    cookie = sign_in(browser).headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=strict", "Path=/researcher"):
        assert part in cookie
    assert "Secure" not in cookie
    proxied = shared.participant(headers={"x-forwarded-proto": "https"})
    assert "Secure" in sign_in(proxied).headers["set-cookie"]
    assert browser.get("/researcher/").status_code == 200
    copied = dict(browser.cookies)
    left = browser.post("/researcher/sign-out", data={"csrf": csrf(browser)})
    assert left.status_code == 303
    assert shared.participant(cookies=copied).get("/researcher/").status_code == 303


def test_closing_and_opening_need_the_sessions_own_token(shared: Running) -> None:
    browser = signed_in(shared)
    for form in ({}, {"csrf": "x"}, {"csrf": csrf(signed_in(shared))}):
        assert browser.post("/researcher/close", data=form).status_code == 403
    assert shared.joined()
    token = csrf(browser)
    browser.post("/researcher/close", data={"csrf": token})
    assert "Go on" in browser.get("/researcher/?done=paused").text
    refused = shared.ask_to_join()
    assert refused.status_code == 403
    browser.post("/researcher/open", data={"csrf": token})
    assert shared.joined()


NASTY = "<script>alert(1)</script>"


def test_the_dashboard_says_what_the_library_says(folder: Path) -> None:
    """Of a study with markup in its names, answered by one who does not look."""
    objects = folder / "objects.csv"
    objects.write_text(objects.read_text().replace("walnut,a walnut", f"{NASTY},<b onx=1>&"))
    edit(folder, ("en: Fruit and other food", 'en: "<img src=x onerror=alert(1)>"'))
    with running(folder) as app:
        app.do(lambda c: set_password(c, PASSWORD))
        tests = {frozenset(test.objects) for test in app.survey.study.first.known}
        rater = app.joined(platform_id=NASTY)
        while "token" in (question := rater.question()):
            is_test = frozenset(question["objects"]) in tests
            rater.answer(question["token"], "bread" if is_test else question["objects"][0], 0.5)
        browser = signed_in(app)
        page = analyzed_now(app, browser)
        collected = app.look(lambda c: collect(c, "central", 1))
        report = browser.get("/researcher/report")
        paid, own = (browser.get(f"/researcher/{name}").text for name in ("payments", ""))
        first = browser.get("/").text
    assert '<span id="analyzed">20</span> answers' in page
    assert len(collected.statements()) == 17  # no test question, and none that was repeated
    assert "3 answers to test questions and repeated questions" in page
    expected = tl.analyze(collected.statements()).to_dict()
    for said in words.findings(expected):
        assert str(said.sentence) in page
    assert report.headers["content-security-policy"].count("sandbox allow-scripts") == 1
    assert str(words.headline(expected)) in report.text
    # of careless answers it warns, and says nowhere that there is no fault
    assert "1 of 1 test questions were answered wrongly." in page
    assert "20 of 20 answers took less than 1 second" in page
    assert "No fault was found" not in page
    # markup in names stays text
    for text in (page, report.text, paid, own, first):
        for markup in (NASTY, "<img src=x", "<b onx"):
            assert markup not in text
    for text in (report.text, paid):
        assert "&lt;script&gt;alert(1)" in text


def test_an_analysis_is_made_once_and_again_after_an_erasure(
    secured: Running, analyses: list[int]
) -> None:
    browser = signed_in(secured)
    assert "No answers yet" in browser.get("/researcher/").text
    first = secured.participant()
    receipt = first.join(platform_id="who")
    first.answer_one()
    # the page rests for a moment after heavy work; here each look is a new one
    secured.survey.dashboard.forget()
    assert '<b id="n-answers">1</b>' in browser.get("/researcher/live").text
    secured.survey.dashboard.analysis.wait()
    first.round()
    for _ in range(2):
        analyzed_now(secured, browser)
    secured.rater()
    assert '<span id="analyzed">40</span>' in analyzed_now(secured, browser)
    form = {"csrf": csrf(browser), "receipt": receipt.lower()}
    shown = browser.post("/researcher/participant", data=form).json()
    assert (shown["platform_id"], len(shown["questions"])) == ("who", 20)
    asked = browser.post("/researcher/erase", data=form)
    assert "Erase this participant?" in asked.text
    assert "20 answers" in asked.text
    assert first.get("/api/question").status_code == 200
    done = browser.post("/researcher/erase", data=form | {"sure": "yes"})
    assert done.headers["location"].endswith("done=erased")
    assert first.get("/api/question").status_code == 401
    page = analyzed_now(secured, browser)
    assert '<b id="n-answers">20</b>' in page
    assert '<span id="analyzed">20</span>' in page
    assert analyses[-3:] == [17, 34, 17]
    nobody = browser.post("/researcher/erase", data=form)
    assert nobody.headers["location"].endswith("done=unknown")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (tl.errors.StatementError("too few of them"), "cannot be analyzed: too few of them."),
        (ZeroDivisionError("secret"), "The analysis failed. The server&#39;s log says why."),
    ],
)
def test_an_analysis_that_fails_is_said_and_harms_nothing(
    secured: Running, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def failing(statements: tl.Statements, **more: Any) -> Any:
        raise error

    monkeypatch.setattr("trilens_survey.background.tl.analyze", failing)
    browser = signed_in(secured)
    secured.rater()
    page = analyzed_now(secured, browser)
    assert said in page
    assert "secret" not in page
    assert '<b id="n-answers">20</b>' in page


class Slow:
    """Works for a second of its clock, when it is let go; stopped, it fails."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Semaphore(0), threading.Semaphore(0)
        self.now, self.stopped = 0.0, False
        self.done: list[int] = []

    def run(self, task: dict[str, Any]) -> dict[str, Any]:
        self.begun.release()
        self.go_on.acquire(timeout=60)
        if self.stopped:
            raise ChildFailed("stopped")
        self.now += 1.0
        self.done.append(task["answers"])
        facts = {"answers": task["answers"], "erased": 0, "made": 0.0, "problem": None}
        return facts | {"sentences": [], "report": None, "figures": {}}

    def stop(self) -> None:
        self.stopped = True
        self.go_on.release(10)


def test_participants_do_not_wait_for_an_analysis(secured: Running) -> None:
    secured.survey.dashboard.analysis = BackgroundAnalysis({}, slow := Slow())
    browser = signed_in(secured)
    rater = secured.joined()
    rater.answer_one()
    assert "The first analysis is running." in browser.get("/researcher/live").text
    assert slow.begun.acquire(timeout=60)
    rater.round()
    secured.survey.dashboard.forget()
    assert '<b id="n-answers">20</b>' in browser.get("/researcher/live").text
    secured.close()
    assert slow.stopped, "a closing server stops the analysis"


def test_a_server_rests_after_an_analysis_but_not_after_an_erasure() -> None:
    slow, task = Slow(), {"answers": 0}
    background = BackgroundAnalysis(task, slow, clock=lambda: slow.now)

    def update(moment: float, answers: int, erased: int = 0, *, at_once: bool = False) -> None:
        slow.now = max(slow.now, moment)
        task["answers"] = answers
        background.update(answers, erased, at_once=at_once)

    slow.go_on.release(3)
    for moment, answers, at_once in (
        (0.0, 1, False),  # the first
        (5.0, 2, False),  # too early
        (12.0, 2, False),  # rested
        (14.0, 2, False),  # nothing new
        (14.0, 1, True),  # at once
    ):
        update(moment, answers, at_once=at_once)
        background.wait()
    assert slow.done == [1, 2, 1]
    update(50.0, 20)
    update(50.0, 10, 1)  # while one is under way: begun after it without another call
    slow.go_on.release(2)
    for _ in range(5):
        assert slow.begun.acquire(timeout=60)
    background.wait()
    update(0.0, 11, 1)
    assert not background.running, "resting"
    update(0.0, 6, 2)
    assert slow.begun.acquire(timeout=60), "without a rest"
    background.close()


@pytest.mark.slow
def test_the_analysis_runs_in_a_process_of_its_own(folder: Path) -> None:
    with running(folder) as app:
        app.rater()
        task = app.survey.dashboard.analysis._task
        found = Findings(**ChildProcess().run(task))
    assert found.answers == 20
    assert "<!doctype html>" in (found.report or "")


def test_the_log_has_the_last_words_of_a_failed_child() -> None:
    with pytest.raises(ChildFailed) as failed:
        ChildProcess().run(
            {"what": "findings", "folder": "/nowhere", "url": None, "kind": "central"}
        )
    info = (ChildFailed, failed.value, failed.value.__traceback__)
    record = logging.LogRecord("x", logging.ERROR, "x", 1, "error", (), info)
    line = json.loads(JsonLines().format(record))
    assert "ended with status 1" in line["why"]
    assert "/nowhere/answers.db: no answers yet" in line["why"]


def test_exports_of_every_set_and_format(shared: Running) -> None:
    browser = signed_in(shared)
    page = browser.get("/researcher/").text
    for which in SETS:
        assert f"/researcher/export?set={which}&amp;format=csv" in page, which
    for which in ("all", "passed"):
        for format, start in (("csv", b'"central"'), ("parquet", b"PAR1")):
            answer = browser.get(f"/researcher/export?set={which}&format={format}")
            assert answer.status_code == 200
            assert answer.content.replace(b"central,", b'"central"', 1).startswith(start)
    assert browser.get("/researcher/export?set=none").status_code == 422


def test_strangers_who_guess_lock_only_themselves_out(secured: Running) -> None:
    """Guesses that come at once are counted before they are checked."""
    known, stranger = secured.participant(), secured.participant()
    for _ in range(11):  # the right password does not count
        assert sign_in(known).status_code == 303

    def guess(i: int) -> int:
        with Client(base_url=secured.url) as browser:
            return int(sign_in(browser, f"guess {i}").status_code)

    with ThreadPoolExecutor(20) as pool:
        statuses = Counter(pool.map(guess, range(40)))
    assert statuses == {403: 10, 429: 30}
    assert sign_in(stranger).status_code == 429, "the right one is not taken either"
    assert sign_in(known).status_code == 303
    for i in range(100):  # and from everywhere else
        secured.survey.wrong_passwords.allows(f"10.0.0.{i}")
    assert secured.survey.wrong_passwords.allows("192.0.2.1")


def test_another_kind_under_a_path_prefix(tmp_path: Path, analyses: list[int]) -> None:
    write_example(tmp_path / "study", "closer")
    with running(tmp_path / "study", options=Options(root_path="/study")) as app:
        app.do(lambda c: set_password(c, PASSWORD))
        app.rater()
        browser = app.participant()
        answer = sign_in(browser)
        assert answer.headers["location"] == "/study/researcher/"
        assert "Path=/study/researcher" in answer.headers["set-cookie"]
        page = browser.get("/researcher/")
        assert page.status_code == 200
        assert 'href="/study/static/researcher.css"' in page.text
        assert browser.get("/static/researcher.css").status_code == 200
        assert "<h3>Most central</h3>" in analyzed_now(app, browser)
    assert analyses[-1] == 17


def test_how_far_people_come(secured: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    people = [secured.participant() for _ in range(4)]
    for person in people:
        person.get("/")
    for person in people[:3]:
        person.join()
    people[0].round()
    people[0].post("/api/finish")
    question = people[1].question()
    people[1].answer(question["token"], question["objects"][0])
    survey = secured.survey
    survey.writer.submit(survey.keep_in_order).result()
    with survey.database.reading() as connection:
        now = progress(connection)
        began = time.time()
        monkeypatch.setattr(time, "time", lambda: began + 3 * 3600)
        later = progress(connection)
    assert (now.opened, now.consented, now.started, now.finished) == (4, 3, 2, 1)
    assert (now.under_way, now.left, later.under_way, later.left) == (2, 0, 0, 2)
    assert sorted(later.places) == [(0, 1), (1, 1)]
    assert sum(row[1] for row in later.hours) == 4
    page = signed_in(secured).get("/researcher/").text
    assert "Pause the study" in page
    assert page.index("Export answers") < page.index("Results so far") < page.index("How it goes")


def test_payments_are_listed_and_erased_apart_from_the_answers(folder: Path) -> None:
    edit(folder, ("retention:", "payment: {retention: 2001-01-01}\nretention:"))
    with running(folder) as app:
        app.do(lambda c: set_password(c, PASSWORD))
        first = app.joined(platform_id="=cmd|' /C calc'!A0")
        app.joined(platform_id="two").question()
        first.round(lambda question: sorted(question["objects"])[0])
        first.post("/api/finish")
        browser = signed_in(app)
        page = browser.get("/researcher/payments").text
        assert "2 of 2" in page  # the same again, both times
        assert app.survey.store.rater("platform two") not in page
        told = list(csv.DictReader(io.StringIO(browser.get("/researcher/payments.csv").text)))
        assert told[1]["platform_id"] == "'=cmd|' /C calc'!A0"
        assert (told[1]["repeats"], told[1]["repeats_agreed"]) == ("2", "2")
        assert (told[0]["code"], told[0]["finished"]) == ("", "")
        assert told[1]["code"] == app.survey.study.settings.completion.code
        for name in ("started", "finished"):
            assert told[1][name].endswith(":00.000Z"), "to the minute: answers have milliseconds"
        assert told[1]["seconds"] == "0", "of 30"
        assert app.do(app.survey.keep_in_order) == 2  # the date is over
        assert "No participant came with" in browser.get("/researcher/payments").text
        # the id is still in use, and the answers stay
        again = app.ask_to_join(platform_id="two")
        assert again.status_code == 409
        assert '<b id="n-answers">20</b>' in browser.get("/researcher/live").text
        assert "<b>2</b> participants" in browser.get("/researcher/live").text
