"""The researcher's pages: signing in, the dashboard, and what can be done there."""

from __future__ import annotations

import csv
import io
import re
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

import trilens as tl
import trilens.analysis
from studies import Client, Running, edit, running
from trilens.survey.auth import make_first_key, set_password
from trilens.survey.charts import over_time, response_times
from trilens.survey.dashboard import BackgroundAnalysis

PASSWORD = "a long enough one"


@pytest.fixture
def secured(app: Running) -> Running:
    """The example study with a password."""
    app.survey.writer.submit(lambda c: set_password(c, PASSWORD)).result()
    return app


def signed_in(app: Running) -> Client:
    browser = app.participant()
    answer = browser.post("/researcher/sign-in", data={"password": PASSWORD})
    assert answer.status_code == 303, answer.text
    return browser


def csrf(browser: Client) -> str:
    page = browser.get("/researcher/").text
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found is not None
    return found[1]


def analysed(app: Running, browser: Client) -> str:
    """The live part of the dashboard, with the answers of this moment analysed."""
    app.survey.dashboard.analysis.wait()
    asked = browser.post("/researcher/analyze", data={"csrf": csrf(browser)})
    assert asked.status_code == 303
    app.survey.dashboard.analysis.wait()
    return browser.get("/researcher/live").text


def test_the_first_password_is_set_by_a_link_that_works_once(app: Running) -> None:
    key = app.survey.writer.submit(make_first_key).result()
    browser = app.participant()
    assert "No password is set" in browser.get("/researcher/sign-in").text
    assert browser.get("/researcher/first?key=wrong").status_code == 403
    assert browser.get(f"/researcher/first?key={key}").status_code == 200
    short = browser.post("/researcher/first", data={"key": key, "password": "short"})
    assert short.status_code == 422
    assert (
        browser.post("/researcher/first", data={"key": "x", "password": PASSWORD}).status_code
        == 403
    )
    answer = browser.post("/researcher/first", data={"key": key, "password": PASSWORD})
    assert answer.status_code == 303
    assert browser.get("/researcher/").status_code == 200
    again = app.participant()
    assert again.get(f"/researcher/first?key={key}").status_code == 403
    used = again.post("/researcher/first", data={"key": key, "password": "another long one"})
    assert used.status_code == 403
    assert app.survey.writer.submit(make_first_key).result() is None


def test_every_page_for_researchers_turns_strangers_away(secured: Running) -> None:
    stranger = secured.participant()
    pages = {"GET": ["", "live", "export"],
             "POST": ["analyze", "close", "open", "erase", "participant", "sign-out"]}  # fmt: skip
    for method, names in pages.items():
        for page in names:
            form = {"csrf": "x", "receipt": "y"}
            answer = stranger.request(method, f"/researcher/{page}", data=form)
            assert answer.status_code == 303, page
            assert answer.headers["location"] == "/researcher/sign-in", page


def test_a_wrong_password_and_a_used_up_cookie(secured: Running) -> None:
    browser = secured.participant()
    wrong = browser.post("/researcher/sign-in", data={"password": "not this one"})
    assert wrong.status_code == 403
    assert "set-cookie" not in wrong.headers
    browser = signed_in(secured)
    assert browser.get("/researcher/").status_code == 200
    copied = dict(browser.cookies)
    left = browser.post("/researcher/sign-out", data={"csrf": csrf(browser)})
    assert left.status_code == 303
    replayed = secured.participant(cookies=copied)
    assert replayed.get("/researcher/").status_code == 303


def test_the_cookie_is_shut_to_scripts_and_to_other_sites(secured: Running) -> None:
    answer = secured.participant().post("/researcher/sign-in", data={"password": PASSWORD})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/researcher" in cookie
    assert "Secure" not in cookie
    proxied = secured.participant(headers={"x-forwarded-proto": "https"})
    answer = proxied.post("/researcher/sign-in", data={"password": PASSWORD})
    assert "Secure" in answer.headers["set-cookie"]


def test_forms_need_the_sessions_own_token(secured: Running) -> None:
    browser = signed_in(secured)
    other = csrf(signed_in(secured))
    for token in ("", "x", other):
        answer = browser.post("/researcher/close", data={"csrf": token})
        assert answer.status_code == 403
    assert browser.post("/researcher/close").status_code == 403
    assert secured.participant().join()


def test_closing_and_opening(secured: Running) -> None:
    browser = signed_in(secured)
    token = csrf(browser)
    browser.post("/researcher/close", data={"csrf": token})
    assert "Open the study" in browser.get("/researcher/?done=closed").text
    refused = secured.participant().post("/api/join", json={"consent": True})
    assert refused.status_code == 403
    browser.post("/researcher/open", data={"csrf": token})
    assert secured.participant().join()


def test_the_dashboard_grows_and_says_what_the_library_says(secured: Running) -> None:
    browser = signed_in(secured)
    assert "No answers yet" in browser.get("/researcher/").text
    rater = secured.participant()
    rater.join()
    for answers in (1, 2, 3):
        question = rater.question()
        rater.answer(question["token"], question["objects"][0])
        # the page rests for a moment after heavy work; here each look is a new one
        secured.survey.dashboard.forget()
        assert f'<b id="n-answers">{answers}</b>' in browser.get("/researcher/live").text
    rater.round()
    page = analysed(secured, browser)
    assert '<span id="analysed">20</span> answers' in page
    exported = browser.get("/researcher/export?set=all&format=csv").text
    rows = {
        name: [row[name] for row in csv.DictReader(io.StringIO(exported))]
        for name in ("central", "shown_1", "shown_2", "shown_3", "rater", "round")
    }
    seconds = [float(row["seconds"]) for row in csv.DictReader(io.StringIO(exported))]
    expected = tl.analyze(
        tl.Statements(rows | {"seconds": seconds}, names=secured.survey.study.names)
    )
    assert expected.describe.statements == 20
    shown = re.search(r'id="medoid">([^<]+)<', page)
    assert shown is not None
    assert shown[1] == expected.medoid.name
    for name in expected.medoid.candidates[:5]:
        assert name in page
    assert re.findall(r'class="outlier">([^<]+)<', page) == list(expected.outliers.names)
    most_central = max(expected.medoid.scores)
    assert f"<td>{most_central:.3f}</td>" in page


@pytest.fixture(scope="module")
def some_analysis() -> tl.Analysis:
    return tl.analyze(tl.Statements([["apple", "pear", "plum"], ["pear", "plum", "lemon"]]))


@pytest.fixture
def analyses(monkeypatch: pytest.MonkeyPatch, some_analysis: tl.Analysis) -> list[int]:
    """How many answers were analysed each time; the analysis is always the same."""
    calls: list[int] = []

    def analyze(statements: tl.Statements, **more: Any) -> tl.Analysis:
        calls.append(len(statements))
        return some_analysis

    monkeypatch.setattr(trilens.analysis, "analyze", analyze)
    return calls


def test_an_analysis_is_made_once_and_then_kept(secured: Running, analyses: list[int]) -> None:
    browser = signed_in(secured)
    rater = secured.participant()
    rater.join()
    rater.round()
    for _ in range(3):
        analysed(secured, browser)
    assert analyses == [20]
    rater.post("/api/round")
    rater.round()
    # the page says of which answers it speaks
    assert '<span id="analysed">40</span>' in analysed(secured, browser)
    assert analyses == [20, 40]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (tl.errors.StatementError("too few of them"), "cannot be analysed: too few of them."),
        (ZeroDivisionError("secret"), "The analysis failed. The server&#39;s log says why."),
    ],
)
def test_an_analysis_that_fails_is_said_and_harms_nothing(
    secured: Running, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def failing(statements: tl.Statements, **more: Any) -> Any:
        raise error

    monkeypatch.setattr(trilens.analysis, "analyze", failing)
    browser = signed_in(secured)
    rater = secured.participant()
    rater.join()
    rater.round()
    page = analysed(secured, browser)
    assert said in page
    assert "secret" not in page
    assert '<b id="n-answers">20</b>' in page


def test_participants_do_not_wait_for_an_analysis(
    secured: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, end = threading.Event(), threading.Event()

    def endless(statements: tl.Statements, progress: Any, **more: Any) -> Any:
        begun.set()
        end.wait()
        progress(0.5)
        raise AssertionError("a closing server stops the analysis")

    monkeypatch.setattr(trilens.analysis, "analyze", endless)
    browser = signed_in(secured)
    rater = secured.participant()
    rater.join()
    question = rater.question()
    rater.answer(question["token"], question["objects"][0])
    assert "The first analysis is running." in browser.get("/researcher/live").text
    begun.wait()
    rater.round()
    secured.survey.dashboard.forget()
    assert '<b id="n-answers">20</b>' in browser.get("/researcher/live").text
    end.set()


def test_a_server_rests_after_an_analysis(analyses: list[int]) -> None:
    answers = tl.Statements([[0, 1, 2], [1, 2, 3]])
    now = [0.0]
    background = BackgroundAnalysis(clock=lambda: now[0])
    real = trilens.analysis.analyze

    def taking_a_second(statements: tl.Statements, **more: Any) -> tl.Analysis:
        now[0] += 1.0
        return real(statements, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trilens.analysis, "analyze", taking_a_second)
        for moment, part, at_once in (
            (0.0, answers[:1], False),  # the first
            (5.0, answers, False),  # too early
            (12.0, answers, False),  # rested
            (14.0, answers, False),  # nothing new
            (14.0, answers[:1], True),  # at once
        ):
            now[0] = max(now[0], moment)
            background.update(part, 0, at_once=at_once)
            background.wait()
    assert analyses == [1, 2, 1]
    background.close()


def test_results_after_an_erasure_are_those_of_the_rest(
    secured: Running, analyses: list[int]
) -> None:
    browser = signed_in(secured)
    first, second = secured.participant(), secured.participant()
    receipt = first.join(platform_id="who")
    second.join()
    first.round()
    second.round()
    assert '<span id="analysed">40</span>' in analysed(secured, browser)
    shown = browser.post(
        "/researcher/participant", data={"csrf": csrf(browser), "receipt": receipt}
    )
    assert shown.json()["platform_id"] == "who"
    assert len(shown.json()["questions"]) == 20
    done = browser.post(
        "/researcher/erase", data={"csrf": csrf(browser), "receipt": receipt.lower()}
    )
    assert done.headers["location"].endswith("done=erased")
    assert first.get("/api/question").status_code == 401
    page = analysed(secured, browser)
    assert '<b id="n-answers">20</b>' in page
    assert '<span id="analysed">20</span>' in page
    assert analyses == [40, 20]
    nobody = browser.post("/researcher/erase", data={"csrf": csrf(browser), "receipt": receipt})
    assert nobody.headers["location"].endswith("done=unknown")


def test_exports_of_every_set_and_format(secured: Running) -> None:
    browser = signed_in(secured)
    rater = secured.participant()
    rater.join()
    rater.round()
    for which in ("all", "passed", "all-reduced", "passed-reduced"):
        for format, start in (("csv", b'"central"'), ("parquet", b"PAR1")):
            answer = browser.get(f"/researcher/export?set={which}&format={format}")
            assert answer.status_code == 200
            assert answer.content.replace(b"central,", b'"central"', 1).startswith(start)
    assert browser.get("/researcher/export?set=none").status_code == 422


def test_ten_thousand_tries_are_not_ten_thousand_chances(secured: Running) -> None:
    browser = secured.participant()
    statuses = [
        browser.post("/researcher/sign-in", data={"password": f"guess {i}"}).status_code
        for i in range(30)
    ]
    assert statuses == [403] * 10 + [429] * 20
    # the right one is not taken either, until the span is over
    late = browser.post("/researcher/sign-in", data={"password": PASSWORD})
    assert late.status_code == 429
    assert "trilens_limited_sign_ins_total 21" in browser.get("/metrics").text


def test_nobody_can_lock_the_researcher_out(secured: Running) -> None:
    known = secured.participant()
    for _ in range(15):  # the right password does not count
        right = known.post("/researcher/sign-in", data={"password": PASSWORD})
        assert right.status_code == 303
    stranger = secured.participant()
    for i in range(12):  # at the same address
        stranger.post("/researcher/sign-in", data={"password": f"guess {i}"})
    tried = stranger.post("/researcher/sign-in", data={"password": PASSWORD})
    assert tried.status_code == 429
    again = known.post("/researcher/sign-in", data={"password": PASSWORD})
    assert again.status_code == 303
    for i in range(100):  # and from everywhere else
        secured.survey.wrong_passwords.count(f"10.0.0.{i}")
    assert not secured.survey.wrong_passwords.is_full("192.0.2.1")


@pytest.mark.parametrize("kind", ["odd", "closer"])
def test_the_dashboard_of_other_kinds(tmp_path: Path, kind: Any) -> None:
    from trilens.survey.example import write_example

    write_example(tmp_path / "study", kind)
    with running(tmp_path / "study") as app:
        app.survey.writer.submit(lambda c: set_password(c, PASSWORD)).result()
        rater = app.participant()
        rater.join()
        rater.round()
        assert 'id="medoid"' in analysed(app, signed_in(app))


def test_markup_in_names_stays_text(folder: Path) -> None:
    nasty = "<script>alert(1)</script>"
    objects = folder / "objects.csv"
    objects.write_text(objects.read_text().replace("walnut,a walnut", f"{nasty},<b onx=1>&"))
    edit(folder, ("en: Fruit and other food", 'en: "<img src=x onerror=alert(1)>"'))
    with running(folder) as app:
        app.survey.writer.submit(lambda c: set_password(c, PASSWORD)).result()
        rater = app.participant()
        rater.join(platform_id=nasty)
        rater.round()
        browser = signed_in(app)
        results = analysed(app, browser)
        for page in (results, browser.get("/researcher/").text, rater.get("/").text):
            assert nasty not in page
            assert "<img src=x" not in page
            assert "<b onx" not in page
        assert "&lt;script&gt;alert(1)" in results


def test_sign_in_works_under_a_path_prefix(folder: Path) -> None:
    from trilens.survey.server import Options

    with running(folder, options=Options(root_path="/study")) as app:
        app.survey.writer.submit(lambda c: set_password(c, PASSWORD)).result()
        browser = httpx.Client(base_url=app.url)
        answer = browser.post("/study/researcher/sign-in", data={"password": PASSWORD})
        assert answer.headers["location"] == "/study/researcher/"
        assert "Path=/study/researcher" in answer.headers["set-cookie"]
        page = browser.get("/study/researcher/")
        assert page.status_code == 200
        assert 'href="/study/static/researcher.css"' in page.text
        assert browser.get("/study/static/researcher.css").status_code == 200
        browser.close()


def test_answers_over_days_make_few_bars() -> None:
    for span, title in (
        (0.0, "minute"), (3600.0, "5 minutes"), (86400.0 * 3, "6 hours"), (86400.0 * 50, "day"),
    ):  # fmt: skip
        figure = over_time([1e9, 1e9 + span / 2, 1e9 + span])
        assert figure.title == f"Answers per {title}"
        assert 12 <= len(figure.bars) <= 61
        assert sum(bar.h > 0 for bar in figure.bars) in (1, 3)
    assert len(over_time([]).bars) == 12
    seconds = response_times([0.0, 0.3, 3.0, 1e6, None])
    assert [bar.label.rsplit(" ", 1)[1] for bar in seconds.bars] == list("2001000001")
