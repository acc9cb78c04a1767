"""The participant's page, used as people use it: once, only once, and nothing lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_core_python.selenium import Axe
from participant_page import ASKING, Page, with_shapes

from browser import ENTER, RIGHT, Browser
from studies import LENGTH, Running, Served, edit, plain, running, short_study
from trilens_survey.languages import TEXTS
from trilens_survey.status import status
from trilens_survey.store.administration import erase

WORD = TEXTS["en"]


# --- a whole round -------------------------------------------------------------------------


def test_a_round_by_mouse(shapes: Page) -> None:
    shapes.browser.requests()
    shapes.open()
    shapes.screen("consent")
    assert shapes.alike("agree", "decline"), "nobody is led to agree"
    shapes.begin()
    for number in range(1, LENGTH + 1):
        shapes.asking(number)
        assert shapes.text("#count") == f"Question {number} of {LENGTH}"
        before = shapes.question()
        assert [url.rsplit("/", 1)[1] for url in shapes.shown()] == [
            stimulus["url"].rsplit("/", 1)[1] for stimulus in before["stimuli"]
        ]
        shapes.choose(1 + number % 3)
    shapes.screen("break")
    assert shapes.text("#rested") == f"Answers saved: {LENGTH}. Thank you!"
    assert shapes.alike("another", "finish"), "nor to do another round"
    shapes.click("#another")
    shapes.asking(1)
    assert shapes.text("#round") == "Round 2"
    for number in range(1, LENGTH + 1):
        shapes.asking(number)
        shapes.choose(2)
    shapes.screen("thanks")
    assert shapes.text("#code") == "THANKS"
    end = shapes.question()
    assert shapes.text("#receipt") == end["receipt"]
    assert end["answers"] == 2 * LENGTH
    asked = shapes.browser.requests()
    assert asked, "the log of requests is empty"
    assert [url for url in asked if not url.startswith(shapes.url + "/")] == []
    assert shapes.browser.console() == []


def test_the_seconds_are_those_since_the_question_was_shown(page: Page) -> None:
    page.begin()
    page.browser.run(
        """
        const clock = performance.now.bind(performance), send = window.fetch;
        window.later = 7000;
        performance.now = () => clock() + window.later;
        window.sent = [];
        window.fetch = (...call) => {
          if (call[1].body) window.sent.push(JSON.parse(call[1].body));
          return send(...call);
        };
        // what passes between an answer and the next question belongs to neither
        arguments[0].click();
        window.later += 90000;
        """,
        page.find("button.card[data-place='1']"),
    )
    page.asking(2)
    page.browser.run("window.later += 5000;")
    page.choose(2)
    page.asking(3)
    first, second = page.browser.run("return window.sent;")
    assert 7 < first["seconds"] < 67
    assert 5 < second["seconds"] < 65


def test_a_round_by_touch_on_a_phone(shapes: Page) -> None:
    browser = shapes.browser
    browser.devtools(
        "Emulation.setDeviceMetricsOverride",
        width=375, height=667, deviceScaleFactor=2, mobile=True,
    )  # fmt: skip
    browser.devtools("Emulation.setTouchEmulationEnabled", enabled=True)
    shapes.open()
    shapes.screen("consent")
    shapes.tap("#agree")
    shapes.screen("instructions")
    shapes.tap("#begin")
    for number in range(1, LENGTH + 1):
        shapes.asking(number)
        assert shapes.fits(), "a question needs no scrolling on a phone"
        shapes.tap(f".choice:nth-of-type({1 + number % 3 + 1}) button.card")
    shapes.screen("break")
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth;")
    shapes.tap("#finish")
    shapes.screen("thanks")
    assert shapes.question()["answers"] == LENGTH


def test_closer_has_an_anchor_that_cannot_be_chosen(
    visit: Callable[[str], Page], tmp_path: Path
) -> None:
    """Here with the alternative texts of a table."""
    folder = with_shapes(short_study(tmp_path / "study", kind="closer"))
    edit(folder, ("objects: pictures", "objects: objects.csv"))
    files = sorted((folder / "pictures").iterdir())
    rows = [f"{file.stem},pictures/{file.name},seen as {file.stem}\n" for file in files]
    (folder / "objects.csv").write_text("name,file,alt\n" + "".join(rows))
    with running(folder) as app:
        page = visit(app.url)
        page.begin()
        asked = page.question()
        anchor, *others = asked["objects"]
        picture = page.find(".anchor img")
        assert picture.get_attribute("src").endswith(asked["stimuli"][0]["url"])
        assert picture.get_attribute("alt") == f"seen as {anchor}"
        assert page.shown() == [f"{page.url}/{s['url']}" for s in asked["stimuli"][1:]]
        for i, name in enumerate(others, 1):
            button = page.find(f"button.card[data-place='{i}']")
            assert button.accessible_name == f"{i}: seen as {name}"
        page.press("3", "Digit3")
        page.click(".anchor")
        assert page.question()["token"] == asked["token"]
        page.browser.keys(RIGHT)
        page.asking(2)
        assert page.fits()


def test_sounds_are_heard_before_they_are_judged(
    visit: Callable[[str], Page], studies: Callable[[str], Running]
) -> None:
    page = visit(studies("sounds").url)
    page.start()
    page.wait("return document.getElementById('survey').dataset.state === 'listening';")
    page.choose(1)
    page.press("1", "Digit1")
    assert page.question()["number"] == 1
    for place in (1, 2, 3):
        page.click(f".choice:nth-of-type({place + 1}) .play")
        page.wait("return document.querySelectorAll('.play.heard').length === arguments[0];", place)
    page.asking(1)
    assert page.find("button.card[data-place='2']").text == "Choose 2", "no empty box"
    assert page.find(".choice:nth-of-type(3) .play").text == "Play sound 2"
    page.choose(2)
    page.wait("return document.getElementById('survey').dataset.state === 'listening';")
    assert page.question()["number"] == 2


# --- once, and only once -------------------------------------------------------------------


def test_a_choice_counts_once_and_keys_with_modifiers_are_none(page: Page) -> None:
    page.begin()
    for modifiers in (1, 2, 4, 8):
        page.press("1", "Digit1", modifiers=modifiers)
    page.press("7", "Digit7")
    assert page.browser.run("return document.getElementById('survey').dataset.state;") == "asking"
    assert page.question()["number"] == 1
    page.press("&", "Digit1")  # the same key on a French keyboard
    page.asking(2)
    page.double_click("button.card[data-place='2']")
    page.asking(3)
    assert page.question()["number"] == 3
    page.press("1", "Digit1")
    while not page.browser.run(ASKING, 4):
        page.press("1", "Digit1", repeated=True)
    page.press("1", "Digit1", repeated=True)
    assert page.question()["number"] == 4
    # Enter on a button presses it again by itself, in every browser
    page.browser.run("arguments[0].focus();", page.find("button.card[data-place='1']"))
    enter = {"key": "Enter", "code": "Enter", "text": "\r", "windowsVirtualKeyCode": 13}
    page.browser.devtools("Input.dispatchKeyEvent", type="keyDown", **enter)
    for _ in range(20):
        page.browser.devtools("Input.dispatchKeyEvent", type="keyDown", autoRepeat=True, **enter)
    page.screen("break")
    page.browser.devtools("Input.dispatchKeyEvent", type="keyDown", autoRepeat=True, **enter)
    assert page.question()["answers"] == 4


def test_a_reload_and_going_back_lose_and_double_nothing(page: Page) -> None:
    page.begin()
    page.choose(1)
    page.asking(2)
    shown = page.shown()
    page.driver.refresh()
    page.asking(2)
    assert page.shown() == shown, "the same question in the same order"
    assert page.text("#kept code") != ""
    page.driver.back()  # the entry of the consent: the question stays
    assert page.browser.run("return document.body.dataset.screen;") == "question"
    page.driver.back()  # out of the study
    assert page.driver.current_url == "about:blank"
    page.driver.forward()
    page.asking(2)
    assert page.shown() == shown
    page.choose(2)
    page.asking(3)
    assert page.question()["number"] == 3


def test_what_other_windows_and_people_leave_behind(page: Page) -> None:
    page.begin()
    first = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    try:
        page.open()
        page.asking(1)
        shown = page.shown()
        page.choose(1)
        page.asking(2)
    finally:
        page.driver.close()
        page.driver.switch_to.window(first)
    # it was hidden; now that it is looked at, it asks the server where things are
    page.browser.run("document.dispatchEvent(new Event('visibilitychange'));")
    page.asking(2)
    assert page.shown() != shown
    # an answer of another window stands
    with page.server() as elsewhere:
        asked = elsewhere.question()
        assert elsewhere.answer(asked["token"], asked["objects"][0]).status_code == 200
    page.choose(3)
    page.asking(3)
    assert page.text("#note") == WORD["elsewhere"]
    assert page.kept() is None
    page.choose(3)
    page.asking(4)
    assert page.text("#note") == ""
    # an answer left by somebody else is dropped
    with page.server() as stranger:
        stranger.cookies.clear()
        stranger.join()
        theirs = stranger.question()
    page.browser.run(
        "localStorage.setItem(`trilens / answer`, JSON.stringify(arguments[0]));",
        {"token": theirs["token"], "chosen": theirs["objects"][0], "seconds": 1},
    )
    page.driver.refresh()
    page.asking(4)
    assert page.kept() is None
    assert page.question()["number"] == 4


# --- nothing lost --------------------------------------------------------------------------


def test_the_network_goes_and_comes_back(page: Page) -> None:
    page.open()
    page.screen("consent")
    page.click("#agree")
    page.cut(True)
    page.click("#begin")
    page.says(WORD["waiting"])
    page.cut(False)
    page.asking(1)
    assert page.text("#note") == ""
    wanted = page.question()
    page.cut(True)
    page.choose(2)
    page.says(WORD["offline"])
    kept = page.kept()
    assert (kept["token"], kept["chosen"]) == (wanted["token"], wanted["objects"][1])
    page.choose(1)
    page.press("3", "Digit3")
    assert page.kept() == kept, "the first answer stands"
    assert page.question()["number"] == 1
    page.cut(False)
    page.asking(2)
    assert page.text("#note") == ""
    assert page.kept() is None
    assert page.stands(wanted, 2)


@pytest.mark.slow
def test_the_server_is_killed_and_comes_back(
    visit: Callable[[str], Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    server = serve(short_study(tmp_path / "study"))
    page = visit(server.url)
    page.begin()
    server.kill()
    page.choose(2)
    page.says(WORD["offline"])
    server.start()
    page.asking(2)
    # again, and now the window is closed before the answer is through
    wanted = page.question()
    shown = page.shown()
    server.kill()
    page.choose(3)
    page.says(WORD["offline"])
    with page.server() as client:
        page.browser.open("about:blank")
        server.start()
        assert client.question()["token"] == wanted["token"], "the server does not have it yet"
    page.open()
    page.asking(3)
    assert page.shown() != shown
    assert page.stands(wanted, 3)
    assert page.question()["number"] == 3


def test_whoever_was_erased_may_start_anew(page: Page, studies: Callable[[str], Running]) -> None:
    page.begin()
    receipt = page.text("#kept code")
    studies("words").survey.writer.submit(lambda c: erase(c, receipt)).result()
    page.choose(1)
    page.screen("gone")
    page.click("#again")
    page.screen("consent")
    page.click("#agree")
    page.click("#begin")
    page.asking(1)
    assert page.text("#kept code") != receipt


# --- practice, leaving, and blocked cookies ---------------------------------------------------


def test_practice_says_what_is_right(tmp_path: Path, visit: Callable[[str], Page]) -> None:
    practice = 'practice:\n  - {objects: [orange, lemon, potato], answer: lemon, why: "*So*."}\n'
    folder = plain(short_study(tmp_path / "study", length=1, most=1, more=practice))
    with running(edit(folder, ("minimum: 2", "minimum: 1"))) as app:
        page = visit(app.url)
        page.begin()
        assert page.text("#count") == "Practice question 1 of 1"
        page.choose(1)
        page.wait("return !document.getElementById('told').hidden;")
        assert page.text("#verdict") == "Not quite. The answer is: a lemon."
        assert page.find("button.card.right").get_attribute("data-place") == "2"
        found = Axe().run(page.driver)["violations"]
        assert not found, [(one["id"], one["nodes"][0]["html"]) for one in found]
        page.browser.keys(ENTER)
        page.screen("break")
        assert page.text("#break-title") == WORD["practice_done_title"]
        # whoever leaves has the answers erased, and is told so
        page.click("#another")
        page.asking(1)
        page.click("header .leave")
        page.screen("leaving")
        page.click("#stay")
        page.screen("question")
        page.click("header .leave")
        page.click("#leave-erase")
        page.screen("thanks")
        assert page.text("#left-text") == WORD["left_erased"]
        page.open()
        page.screen("consent")
        page.click("#decline")
        page.screen("declined")


def test_without_cookies_nobody_joins(browser: Browser, studies: Callable[[str], Running]) -> None:
    app = studies("words")
    browser.devtools("Page.enable")
    added = browser.devtools(
        "Page.addScriptToEvaluateOnNewDocument",
        source="Object.defineProperty(Document.prototype, 'cookie', {get: () => '', set() {}});",
    )
    try:
        page = Page(browser, app.url)
        browser.driver.delete_all_cookies()
        before = app.look(lambda c: status(c, 0).participants)
        for _ in range(2):
            page.start()
            page.screen("cookies")
            assert page.text("#cookies h1") == WORD["cookies"]
        assert app.look(lambda c: status(c, 0).participants) == before
    finally:
        browser.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])
