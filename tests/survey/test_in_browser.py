"""The survey's pages, used as people use them: once, only once, and nothing lost."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from axe_core_python.selenium import Axe
from participant_page import (
    ASKING,
    Page,
    every_screen,
    names_of,
    study_with_everything,
    with_shapes,
    with_sounds,
)
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse

from browser import DOWN, ENTER, LEFT, RIGHT, SPACE, TAB, Browser
from studies import (
    LENGTH,
    LONGEST,
    Prolific,
    Running,
    edit,
    one_language,
    plain,
    running,
    short_study,
)
from trilens.kinds import Kind
from trilens_survey.auth import make_first_key
from trilens_survey.languages import TEXTS
from trilens_survey.payment import payments_due
from trilens_survey.server import Options
from trilens_survey.status import status
from trilens_survey.store.administration import erase, put_setting

Opened: TypeAlias = Callable[..., tuple[Page, Running]]
WORD = TEXTS["en"]
HERE = Path(__file__).parents[2] / "src" / "trilens_survey"


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A short study of words; every test has participants of its own."""
    folder = short_study(tmp_path_factory.mktemp("words") / "study")
    with running(edit(folder, ("  # failed: SORRY ", "  failed: SORRY "))) as app:
        yield app


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The same of pictures."""
    with running(with_shapes(short_study(tmp_path_factory.mktemp("shapes") / "study"))) as app:
        yield app


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[[str], Page]]:
    """A browser that knows nothing yet, at 1280 x 720."""
    browser.open("about:blank")
    browser.driver.delete_all_cookies()
    browser.devtools("Network.enable")
    browser.devtools("Network.clearBrowserCookies")
    browser.devtools("Network.clearBrowserCache")
    browser.resize(1280, 720)
    browser.console(), browser.requests()  # those of other tests
    yield lambda url: Page(browser, url)
    browser.devtools("Network.setBlockedURLs", urls=[])
    browser.devtools("Emulation.setTouchEmulationEnabled", enabled=False)
    browser.devtools("Emulation.setEmulatedMedia", features=[])
    Page(browser, "").cut(False)


@pytest.fixture
def at(visit: Callable[[str], Page]) -> Iterator[Opened]:
    """A function from a study's folder (and options) to its page and its server."""
    with ExitStack() as stack:

        def opened(folder: Path, options: Options | None = None) -> tuple[Page, Running]:
            app = stack.enter_context(running(folder, options=options))
            return visit(app.url + app.survey.options.root_path), app

        yield opened


@pytest.fixture
def page(visit: Callable[[str], Page], words: Running) -> Page:
    return visit(words.url)


@pytest.fixture
def shapes(visit: Callable[[str], Page], pictures: Running) -> Page:
    return visit(pictures.url)


# --- a whole round -----------------------------------------------------------------------


def test_a_round_by_mouse(shapes: Page) -> None:
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


def test_closer_has_an_anchor_that_cannot_be_chosen(at: Opened, tmp_path: Path) -> None:
    """Here with the alternative texts of a table."""
    folder = with_shapes(short_study(tmp_path / "study", kind="closer"))
    edit(folder, ("objects: pictures", "objects: objects.csv"))
    files = sorted((folder / "pictures").iterdir())
    rows = [f"{file.stem},pictures/{file.name},seen as {file.stem}\n" for file in files]
    (folder / "objects.csv").write_text("name,file,alt\n" + "".join(rows))
    page, _ = at(folder)
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


def test_sounds_are_heard_before_they_are_judged(at: Opened, tmp_path: Path) -> None:
    page, _ = at(with_sounds(short_study(tmp_path / "study")))
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


# --- once, and only once, and nothing lost -----------------------------------------------


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


def test_the_network_goes_and_comes_back(page: Page) -> None:
    page.open()
    assert "SORRY" not in page.driver.page_source, "not before it is earned"
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
    # again, and now the window is closed before the answer is through
    wanted = page.question()
    page.cut(True)
    page.choose(3)
    page.says(WORD["offline"])
    page.browser.open("about:blank")
    page.cut(False)
    page.open()
    page.asking(3)
    assert page.stands(wanted, 3)
    # whose answer cannot be stored gets a code
    page.cut(True)
    page.choose(1)
    page.says(WORD["offline"])
    page.browser.run(
        "const clock = performance.now.bind(performance);performance.now = () => clock() + 120000;"
    )
    page.says(f"{WORD['give_up']} SORRY")
    page.cut(False)
    page.asking(4)  # and it is sent again all the same


# --- all three, or nothing ---------------------------------------------------------------


def test_pictures_are_shown_together(
    at: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the three is held back; until it comes there is nothing to see and to choose."""
    held, release = threading.Event(), threading.Event()
    asked: list[str] = []
    sent = FileResponse.__call__

    async def slowly(self: FileResponse, scope: Any, receive: Any, send: Any) -> None:
        if "/media/" in scope["path"]:
            asked.append(scope["path"])
            if len(asked) == 3:
                held.set()
                await run_in_threadpool(release.wait)
        await sent(self, scope, receive, send)

    page, _ = at(plain(with_shapes(short_study(tmp_path / "study"))))
    monkeypatch.setattr(FileResponse, "__call__", slowly)
    page.agree()
    try:
        page.click("#begin")
        assert held.wait(LONGEST)
        page.says(WORD["loading"])
        assert page.shown() == ["", "", ""]
        assert page.find("#stage").get_attribute("aria-busy") == "true"
        page.choose(1)
        page.press("2", "Digit2")
        assert page.kept() is None
        assert page.question()["number"] == 1
    finally:
        release.set()
    page.asking(1)
    assert page.text("#note") == ""
    assert page.browser.run(
        "return [...document.querySelectorAll('#stage img')]"
        ".filter((i) => i.complete && i.naturalWidth).length;"
    ) == 3  # fmt: skip


def test_a_picture_that_does_not_load(shapes: Page) -> None:
    shapes.open()
    shapes.screen("consent")
    shapes.browser.devtools("Network.setBlockedURLs", urls=["*/media/*"])
    shapes.click("#agree")
    shapes.click("#begin")
    shapes.screen("failed")
    assert shapes.text("#failed h1") == WORD["failed_stimulus"]
    shapes.press("1", "Digit1")
    assert shapes.question()["number"] == 1
    shapes.browser.devtools("Network.setBlockedURLs", urls=[])
    shapes.click("#retry")
    shapes.asking(1)
    assert len(set(shapes.shown())) == 3
    shapes.choose(1)
    shapes.asking(2)


def test_a_picture_that_never_comes_blocks_nothing(
    at: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A picture of the test question is broken; the completion code comes all the same."""
    # the same questions each time: by chance all of them may be about this picture
    monkeypatch.setattr("trilens_survey.store.participants.secrets.randbits", lambda _: 1)
    folder = with_shapes(short_study(tmp_path / "study", length=3, most=1))
    edit(folder, ("code: THANKS", "code: THANKS\n  share: 0.3"))
    file = folder / "pictures" / "bread.svg"
    file.write_text(file.read_text()[: file.stat().st_size // 2])
    page, app = at(folder)
    page.open()
    page.screen("consent")
    page.browser.run(
        "const s = setTimeout;  setTimeout = (f, ms) => s(f, ms < 20000 ? ms / 20 : ms);"
    )
    page.click("#agree")
    page.click("#begin")
    done = "document.body.dataset.screen === 'thanks'"
    asking = "document.getElementById('survey').dataset.state === 'asking'"
    while page.wait(f"return {done} ? 'done' : {asking} && 'asking';") == "asking":
        page.choose(1)
        page.wait(f"return {done} || !({asking});")
    page.screen("thanks")
    assert page.text("#code") == "THANKS"
    found = app.look(lambda c: status(c, 0))
    assert found.skipped >= 1, "the test question"
    assert found.answers + found.skipped == 3
    assert found.missing == {"bread": found.skipped}


def test_the_first_question_comes_soon_and_the_next_is_there_already(shapes: Page) -> None:
    """From the click to the pictures there is nothing that could be spared."""
    shapes.agree()
    shapes.browser.devtools("Network.clearBrowserCache")
    begun = shapes.browser.run("return performance.now();")
    shapes.click("#begin")
    shapes.asking(1)
    loaded = shapes.browser.run(
        "return performance.getEntriesByType('resource')"
        ".filter((e) => e.startTime >= arguments[0]).map((e) => e.name);",
        begun,
    )
    calls = [name.rpartition("/")[2] for name in loaded if "/media/" not in name]
    assert calls == ["join", "question"]
    assert set(shapes.shown()) <= set(loaded)
    ahead = {f"{shapes.url}/{path}" for path in shapes.question()["prefetch"]}
    assert ahead
    shapes.wait(
        "const got = new Set(performance.getEntriesByType('resource').map((e) => e.name));"
        "return arguments[0].every((url) => got.has(url));",
        sorted(ahead),
    )
    shapes.choose(1)
    shapes.asking(2)
    assert set(shapes.shown()) <= ahead


# --- ways in and out ---------------------------------------------------------------------


def test_no_cookie_before_consent_and_the_language_is_chosen(page: Page) -> None:
    page.browser.resize(640, 360)  # on a phone held sideways too
    page.open("?language=en&PROLIFIC_PID=abc")
    page.screen("consent")
    assert page.text("#languages [aria-current]") == "English"
    page.click("#languages a[lang=de]")
    page.wait("return document.documentElement.lang === 'de';")
    page.screen("consent")
    assert "PROLIFIC_PID=abc" in page.driver.current_url
    page.click("#agree")
    page.screen("instructions")
    page.driver.back()
    page.screen("consent")
    page.driver.forward()
    page.screen("instructions")
    assert page.driver.get_cookies() == [], "nothing is stored before somebody begins"
    page.click("#begin")
    page.asking(1)
    assert page.text("#count") == f"Frage 1 von {LENGTH}"
    assert all(word.startswith(("ein ", "eine ")) for word in page.shown())
    page.open("?PROLIFIC_PID=abc")  # the platform's link knows nothing of the language
    page.asking(1)
    assert page.text("#count") == f"Frage 1 von {LENGTH}"


def test_who_comes_back_who_comes_instead_and_who_is_erased(page: Page, words: Running) -> None:
    page.begin("?language=en&PROLIFIC_PID=one")
    page.choose(1)
    page.asking(2)
    page.open("?language=en&PROLIFIC_PID=one")
    page.asking(2)
    page.driver.delete_all_cookies()
    for person, number in (("one", 2), ("two", 1)):  # the receipt stands in for a lost cookie
        page.start(f"?language=en&PROLIFIC_PID={person}")
        page.asking(number)
    page.click("header .leave")
    page.screen("leaving")
    page.click("#stay")
    page.screen("question")
    page.click("header .leave")
    page.click("#leave-erase")
    page.screen("thanks")
    assert page.text("#left-text") == WORD["left_erased"]
    page.begin("?language=en&PROLIFIC_PID=four")
    receipt = page.text("#kept code")
    words.do(lambda c: erase(c, receipt))
    page.choose(1)
    page.screen("gone")
    page.click("#again")
    page.screen("consent")
    page.click("#agree")
    page.click("#begin")
    page.asking(1)
    assert page.text("#kept code") != receipt, "whoever was erased may start anew"
    elsewhere = words.joined(platform_id="three")
    elsewhere.question()
    page.start("?language=en&PROLIFIC_PID=three")
    page.screen("resume")
    assert page.text("#resume-why") == WORD["in_use"], "told kindly"


def test_who_cannot_take_part_is_told_before_consent(at: Opened, tmp_path: Path) -> None:
    """Also whom a platform sent; who has begun continues with the receipt."""
    folder = edit(
        short_study(tmp_path / "study"), ("retention:", "quota: {participants: 1}\nretention:")
    )
    page, app = at(folder)
    page.agree()
    receipt = app.participant().join(platform_id="P1")  # in another browser: the last place
    page.click("#begin")
    page.screen("closed")
    assert page.text("#closed h1") == WORD["closed"]
    for person in ("P2", "P1"):
        app.do(lambda c: put_setting(c, "closed", "yes"))  # paused, too
        page.open(f"?language=en&PROLIFIC_PID={person}")
        page.screen("closed")
    page.click("#have-receipt")
    page.screen("resume")
    assert not page.find("#resume-why").is_displayed()
    page.find("#resume-receipt").send_keys("ABCD")
    page.browser.keys(ENTER)
    page.wait("return !document.getElementById('resume-wrong').hidden;")
    assert page.text("#resume-wrong") == WORD["receipt_wrong"]
    page.find("#resume-receipt").clear()
    page.find("#resume-receipt").send_keys(receipt.lower().replace("-", " "))
    page.browser.keys(ENTER)
    page.asking(1)


def test_a_link_signed_by_prolific_and_the_way_back(
    at: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = Prolific()
    monkeypatch.setattr("trilens_survey.links.PROLIFIC_KEYS", platform.url)
    folder = short_study(tmp_path / "study", length=2, most=1)
    edit(
        folder,
        ("retention:", "links: {prolific: true}\nretention:"),
        ("code: THANKS", "code: ABC\n  platform: prolific"),
    )
    page, app = at(folder, options=Options(hosts=frozenset({"study.example.org"})))
    page.start("?language=en&PROLIFIC_PID=p1")
    page.screen("closed")
    assert page.text("#closed-title") == WORD["bad_link"]
    page.begin(f"?language=en&prolific_token={platform.token()}")
    # a new token of the same person goes on, that of another begins
    page.open(f"?language=en&prolific_token={platform.token(exp=time.time() + 90)}")
    page.asking(1)
    another = platform.token(prolific={"PROLIFIC_PID": "p2"})
    page.begin(f"?language=en&prolific_token={another}")
    assert app.look(lambda c: {one.platform_id for one in payments_due(c)}) == {"p1", "p2"}
    assert page.find("#back").get_attribute("href") is None
    page.choose(1)
    page.asking(2)
    page.choose(1)
    page.screen("thanks")
    assert page.find("#back").get_attribute("href") == (
        "https://app.prolific.com/submissions/complete?cc=ABC"
    )
    assert page.text("#code") == "ABC"
    assert not page.find("#somebody").is_displayed(), "each has a link of their own"

    platform.close()


def test_without_cookies_nobody_joins(browser: Browser, words: Running) -> None:
    browser.devtools("Page.enable")
    added = browser.devtools(
        "Page.addScriptToEvaluateOnNewDocument",
        source="Object.defineProperty(Document.prototype, 'cookie', {get: () => '', set() {}});",
    )
    try:
        page = Page(browser, words.url)
        browser.driver.delete_all_cookies()
        before = words.look(lambda c: status(c, 0).participants)
        for _ in range(2):
            page.start()
            page.screen("cookies")
            assert page.text("#cookies h1") == WORD["cookies"]
        assert words.look(lambda c: status(c, 0).participants) == before
    finally:
        browser.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


# --- for everybody -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["central", "closer"])
def test_a_question_of_pictures_fits_the_window(kind: Kind, at: Opened, tmp_path: Path) -> None:
    page, _ = at(with_shapes(short_study(tmp_path / "study", kind)))
    page.begin()
    assert page.fits()
    for width, height in ((320, 568), (375, 667), (667, 375), (768, 1024), (1920, 1080)):
        page.browser.resize(width, height)
        assert page.fits(), (width, height)
        boxes = page.browser.run(
            "return [...document.querySelectorAll('#stage .card')].map((e) => "
            "e.getBoundingClientRect()).filter((b) => b.width).map((b) => [b.width, b.height]);"
        )
        assert len(boxes) == 3
        assert min(min(box) for box in boxes) >= 100, boxes
        assert max(b[0] for b in boxes) - min(b[0] for b in boxes) < 1, boxes


def faults(page: Page, name: str) -> dict[str, Any]:
    """What axe finds; and whether a page scrolls sideways, on a phone and at 200 and 400 %."""
    found = Axe().run(page.driver, options={"resultTypes": ["violations"]})["violations"]
    wrong = {f"{name}: {one['id']}": [node["html"] for node in one["nodes"]] for one in found}
    for width, height in ((640, 360), (360, 740), (320, 256)):
        page.browser.resize(width, height)
        wide = page.browser.run("return document.documentElement.scrollWidth;")
        if wide > width:
            wrong[f"{name} at {width}"] = wide
    page.browser.resize(1280, 720)
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize(("language", "dark"), [("en", False), ("ar", True)])
def test_axe_finds_nothing_on_any_screen_in_either_direction(
    language: str, dark: bool, at: Opened, tmp_path: Path
) -> None:
    page, _ = at(study_with_everything(tmp_path / "study", language))
    page.browser.scheme(dark)
    found: dict[str, dict[str, Any]] = {}
    every_screen(page, lambda name: found.setdefault(name, faults(page, name)))
    assert [wrong for wrong in found.values() if wrong] == []
    way = "rtl" if language == "ar" else "ltr"
    assert page.browser.run("return document.documentElement.dir;") == way
    sections = re.findall(r'<section id="(\w+)"', (HERE / "pages/participant.html").read_text())
    looked = {name.split()[0] for name in found} | {"loading"}
    assert set(sections) <= looked


def test_everything_by_keyboard_alone(at: Opened, tmp_path: Path) -> None:
    page, _ = at(study_with_everything(tmp_path / "study"))
    keys = page.browser.keys
    page.open("")
    page.screen("consent")
    keys(TAB, TAB, ENTER)  # after the link
    page.screen("instructions")
    keys(TAB, ENTER)
    page.screen("form")
    keys(TAB, "33", TAB, SPACE, TAB, SPACE, TAB, TAB, ENTER)
    page.screen("part")
    keys(TAB, ENTER)
    page.asking(1)
    keys("2", "1", "1", "3", ENTER)  # a mark is taken back
    page.wait("return !document.getElementById('told').hidden;")
    assert page.text("#verdict") == "Not quite. The answer is: Picture 1."
    assert page.find("button.card.right").get_attribute("data-place") == "1"
    keys(ENTER)
    page.screen("break")
    assert page.text("#break-title") == WORD["practice_done_title"]
    keys(TAB, ENTER)
    page.asking(1)
    keys(RIGHT, RIGHT, SPACE, DOWN, SPACE)
    page.wait("return document.querySelectorAll('.card.chosen').length === 2;")
    keys(ENTER)
    page.asking(2)
    keys("8", "7", ENTER)
    page.screen("break")
    keys(TAB, TAB, ENTER)
    page.screen("form")
    keys(TAB, SPACE, TAB, "none", TAB, ENTER)
    page.screen("debriefing")
    keys(TAB, ENTER)
    page.screen("thanks")
    assert page.text("#code") == "THANKS"


def test_arrows_follow_the_direction_of_reading(at: Opened, tmp_path: Path) -> None:
    folder = short_study(tmp_path / "study")
    page, _ = at(edit(one_language(folder, "ar"), ("most: 2 ", "most: 1 ")))
    page.begin("")
    asked = page.question()
    boxes = page.browser.run(
        "return [...document.querySelectorAll('.choice')].map((e) => e.offsetLeft);"
    )
    assert boxes == sorted(boxes, reverse=True), "the first is on the right"
    page.browser.keys(LEFT)
    page.asking(2)
    assert page.stands(asked, 3)


MOVING = """
return document.getElementById("survey").checkVisibility() &&
  [...document.querySelectorAll("*")].flatMap((e) => ["", "::before", "::after"].map((p) => {
    const s = getComputedStyle(e, p);
    return (s.animationName !== "none" && s.animationDuration !== "0s")
      || s.transitionDuration.split(", ").some((t) => t !== "0s") ? e.outerHTML : null;
  })).filter(Boolean);
"""


def test_what_a_screen_reader_is_told_and_reduced_motion(shapes: Page) -> None:
    shapes.begin()
    names = [shapes.find(f"button.card[data-place='{i}']").accessible_name for i in (1, 2, 3)]
    assert names == ["Picture 1", "Picture 2", "Picture 3"], "the files' names are not given away"
    assert shapes.find("#count").get_attribute("aria-live") == "polite"
    assert shapes.find("#bar").accessible_name == f"Question 1 of {LENGTH}"
    assert shapes.find("#stage").accessible_name == shapes.text("#asked")
    shapes.browser.keys(TAB, ENTER)
    shapes.asking(2)
    focused = shapes.browser.run("return document.activeElement.id;")
    assert focused == "asked", "the next question is read from its beginning"
    assert shapes.browser.run(MOVING), "with motion there is some, or this test sees nothing"
    shapes.browser.devtools(
        "Emulation.setEmulatedMedia",
        features=[{"name": "prefers-reduced-motion", "value": "reduce"}],
    )
    assert shapes.browser.run(MOVING) == []


def test_names_and_texts_are_shown_as_they_are_also_under_a_prefix(
    at: Opened, tmp_path: Path
) -> None:
    nasty = "<img src=x onerror='window.hacked=1'> & {number} \"'"
    folder = short_study(tmp_path / "study", length=2, most=1)
    quoted = '"' + nasty.replace('"', '""') + '"'
    rows = [f"{name},{quoted}\n" for name in names_of(folder)]
    (folder / "objects.csv").write_text("name,text\n" + "".join(rows))
    edit(folder, ("en: Fruit and other food", f"en: |-\n    {nasty}"))
    page, _ = at(folder, Options(root_path="/colors"))
    page.begin()
    assert page.shown() == [nasty] * 3
    assert page.text(".title") == nasty
    assert page.browser.run("return window.hacked === undefined;")
    page.choose(1)
    page.asking(2)
    page.choose(2)
    page.screen("thanks")
    assert page.browser.console() == []


def test_the_page_is_small_and_has_nothing_inline() -> None:
    template = (HERE / "pages" / "participant.html").read_text()
    assert '<noscript><p class="sheet">{{ words.no_script }}</p></noscript>' in template
    assert (HERE / "static" / "participant.js").stat().st_size < 31_000
    for name in ("participant.html", "participant-example.html"):
        text = (HERE / "pages" / name).read_text()
        for inline in (" style=", "<style", " onclick=", "javascript:", "http://", "https://"):
            assert inline not in text, (name, inline)
        assert text.count("<script") == text.count("<script src=")


# --- the dashboard, while answers come in ------------------------------------------------


@pytest.mark.usefixtures("analyses")
def test_the_first_password_then_results_that_grow(
    app: Running, visit: Callable[[str], Page]
) -> None:
    key = app.do(make_first_key)
    page = visit(app.url)
    browser = page.browser
    browser.open(f"{app.url}/researcher/first?key={key}")
    browser.run(
        "document.querySelector('#password').value = arguments[0];"
        "document.querySelector('form').requestSubmit();",
        "a long enough one",
    )
    page.until("#n-answers", "0")
    rater = app.joined()
    question = rater.question()
    rater.answer(question["token"], question["objects"][0])
    page.until("#n-answers", "1")
    page.until("#analyzed", "1")
    rater.round()
    # an opened list stays open while the numbers change
    browser.run("document.querySelector('details').open = true")
    page.until("#n-answers", "20")
    assert browser.run("return document.querySelector('details').open")
    browser.run("document.querySelector('#report').open = true")
    assert browser.run("return document.querySelector('#report iframe').src").endswith("answers=1")
    assert browser.run("return document.querySelectorAll('.bar').length") >= 2
    assert browser.console() == []
    assert all(address.startswith(app.url) for address in browser.requests())
    # signed out elsewhere: the page notices by itself
    browser.run("document.querySelector('header form').requestSubmit();")
    page.until("h1", "Sign in")


@pytest.mark.slow
@pytest.mark.usefixtures("analyses")
def test_axe_finds_nothing_on_any_page_of_the_researcher(
    app: Running, visit: Callable[[str], Page]
) -> None:
    page = visit(app.url)
    wrong: dict[str, Any] = {}

    def look(address: str, title: str | None = None) -> None:
        if title is None:
            page.open(f"researcher/{address}")
        else:
            page.until("h1", title)
        wrong.update(faults(page, f"{address} {title}"))

    def send(selector: str, **values: str) -> None:
        fill = "for (const [k, v] of Object.entries(arguments[1])) "
        fill += "document.querySelector(`${arguments[0]} [name=${k}]`).value = v;"
        page.browser.run(
            f"{fill} document.querySelector(arguments[0]).requestSubmit();", selector, values
        )

    key = app.do(make_first_key)
    rater = app.participant()
    receipt = rater.join(platform_id="p1")
    rater.round()
    rater.post("/api/finish")
    look("sign-in")
    look(f"first?key={key}")
    send("form", password="a long enough one")
    page.until("#analyzed", "20")
    page.browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; });")
    look("dashboard", app.survey.study.title)
    for address in ("payments", "log", "first?key=x", "export?set=none", "nowhere"):
        look(address)
    page.open("researcher/")
    send("form[action$=erase]", receipt=receipt)
    look("erase", "Erase this participant?")
    page.open("researcher/")
    send("header form")
    page.until("h1", "Sign in")
    send("form", username="me", password="not the right one")
    page.until("[role=alert]", "Wrong name or password.")
    look("sign-in", "Sign in")
    assert wrong == {}
