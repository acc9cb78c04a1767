"""The participant's page: all three or nothing, the ways in and out, and for everybody."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_core_python.selenium import Axe
from participant_page import Page, every_screen, study_with_everything, with_shapes
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse

from browser import DOWN, ENTER, LEFT, RIGHT, SPACE, TAB
from studies import LENGTH, LONGEST, Prolific, Running, edit, one_language, running, short_study
from trilens_survey.languages import TEXTS
from trilens_survey.payment import payments_due
from trilens_survey.server import Options
from trilens_survey.status import status
from trilens_survey.store.administration import put_setting

WORD = TEXTS["en"]
HERE = Path(__file__).parents[3] / "src" / "trilens_survey"


# --- all three, or nothing -----------------------------------------------------------------


def test_pictures_are_shown_together(
    visit: Callable[[str], Page], studies: Callable[[str], Running], monkeypatch: pytest.MonkeyPatch
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

    page = visit(studies("shapes, no example").url)
    monkeypatch.setattr(FileResponse, "__call__", slowly)
    page.open()
    page.screen("consent")
    page.click("#agree")
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
    visit: Callable[[str], Page], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A picture of the test question is broken; the completion code comes all the same."""
    # the same questions each time: by chance all of them may be about this picture
    monkeypatch.setattr("trilens_survey.store.participants.secrets.randbits", lambda _: 1)
    folder = with_shapes(short_study(tmp_path / "study", length=3, most=1))
    edit(folder, ("code: THANKS", "code: THANKS\n  share: 0.3"))
    file = folder / "pictures" / "bread.svg"
    file.write_text(file.read_text()[: file.stat().st_size // 2])
    with running(folder) as app:
        page = visit(app.url)
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
    shapes.open()
    shapes.screen("consent")
    shapes.click("#agree")
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


def test_whose_answer_cannot_be_stored_gets_a_code(
    visit: Callable[[str], Page], tmp_path: Path
) -> None:
    folder = edit(short_study(tmp_path / "study"), ("  # failed: SORRY ", "  failed: SORRY "))
    with running(folder) as app:
        page = visit(app.url)
        page.open()
        assert "SORRY" not in page.driver.page_source, "not before it is earned"
        page.begin()
        half = LENGTH // 2 + 1
        for number in range(1, half):
            page.asking(number)
            page.choose(1)
        page.asking(half)
        page.cut(True)
        page.choose(1)
        page.says(WORD["offline"])
        page.browser.run(
            "const clock = performance.now.bind(performance);"
            "performance.now = () => clock() + 120000;"
        )
        page.says(f"{WORD['give_up']} SORRY")
        page.cut(False)
        page.asking(half + 1)  # and it is sent again all the same


# --- ways in and out -----------------------------------------------------------------------


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


def test_the_person_of_the_platform_goes_on_and_another_begins(
    page: Page, studies: Callable[[str], Running]
) -> None:
    page.begin("?language=en&PROLIFIC_PID=one")
    page.choose(1)
    page.asking(2)
    page.open("?language=en&PROLIFIC_PID=one")
    page.asking(2)
    page.driver.delete_all_cookies()
    for person, number in (("one", 2), ("two", 1)):  # the receipt stands in for a lost cookie
        page.start(f"?language=en&PROLIFIC_PID={person}")
        page.asking(number)
    elsewhere = studies("words").joined(platform_id="three")
    elsewhere.question()
    page.start("?language=en&PROLIFIC_PID=three")
    page.screen("resume")
    assert page.text("#resume-why") == WORD["in_use"], "told kindly"


def test_the_way_back_comes_with_the_end(visit: Callable[[str], Page], tmp_path: Path) -> None:
    folder = short_study(tmp_path / "study", length=2, most=1)
    edit(
        folder,
        ("  # platform: prolific ", "  platform: prolific "),
        ("  # redirect: https", "  redirect: https"),
    )
    with running(folder) as app:
        page = visit(app.url)
        page.begin("?PROLIFIC_PID=abc&language=en")
        assert page.find("#back").get_attribute("href") is None
        page.choose(1)
        page.asking(2)
        page.choose(1)
        page.screen("thanks")
        assert page.find("#back").get_attribute("href") == (
            "https://app.prolific.com/submissions/complete?cc=THANKS"
        )
        assert page.text("#code") == "THANKS"
        assert not page.find("#somebody").is_displayed(), "each has a link of their own"


@pytest.mark.parametrize("why", ["paused", "full"])
def test_who_cannot_take_part_is_told_before_consent(
    visit: Callable[[str], Page], tmp_path: Path, why: str
) -> None:
    """Also whom a platform sent; who has begun continues with the receipt."""
    folder = short_study(tmp_path / "study")
    if why == "full":
        edit(folder, ("retention:", "quota: {participants: 1}\nretention:"))
    with running(folder) as app:
        receipt = app.participant().join(platform_id="P1")  # in another browser
        page = visit(app.url)
        page.open()
        if why == "paused":
            page.screen("consent")
            page.click("#agree")
            app.do(lambda c: put_setting(c, "closed", "yes"))
            page.click("#begin")
        page.screen("closed")
        assert page.text("#closed h1") == WORD["closed"]
        for person in ("P2", "P1"):
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


def test_the_id_in_a_link_signed_by_prolific(
    visit: Callable[[str], Page], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = Prolific()
    monkeypatch.setattr("trilens_survey.links.PROLIFIC_KEYS", platform.url)
    folder = short_study(tmp_path / "study")
    edit(
        folder,
        ("retention:", "links: {prolific: true}\nretention:"),
        ("code: THANKS", "code: ABC\n  platform: prolific"),
    )
    with running(folder, options=Options(hosts=frozenset({"study.example.org"}))) as app:
        page = visit(app.url)
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
    platform.close()


# --- for everybody -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["words", "closer shapes"])
def test_a_question_fits_the_window(
    name: str, visit: Callable[[str], Page], studies: Callable[[str], Running]
) -> None:
    page = visit(studies(name).url)
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


@pytest.mark.slow
@pytest.mark.parametrize(("language", "dark"), [("en", False), ("ar", True)])
def test_axe_finds_nothing_serious_and_nothing_scrolls_sideways(
    language: str, dark: bool, visit: Callable[[str], Page], tmp_path: Path
) -> None:
    """On every screen, in either direction; sideways at 200 and 400 % on a screen of 1280."""
    axe = Axe()
    page_of = study_with_everything(tmp_path / "study", language, pictures=True)
    wrong: dict[tuple[str, str], Any] = {}
    seen = set()
    with running(page_of) as app:
        page = visit(app.url)
        page.browser.scheme(dark)

        def look(name: str) -> None:
            if name in seen:
                return
            seen.add(name)
            found = axe.run(page.driver, options={"resultTypes": ["violations"]})
            axe.axe_script = ""  # it is in the page now
            for one in found["violations"] or ():
                if one["impact"] in ("serious", "critical"):
                    wrong[name, one["id"]] = [node["html"] for node in one["nodes"]]
            for width, height in ((640, 360), (320, 256)):
                page.browser.resize(width, height)
                wide = page.browser.run("return document.documentElement.scrollWidth;")
                if wide > width:
                    wrong[name, f"{width}"] = wide
            page.browser.resize(1280, 720)

        every_screen(page, look)
        assert page.browser.run("return document.documentElement.dir;") == (
            "rtl" if language == "ar" else "ltr"
        )
    assert wrong == {}
    sections = re.findall(r'<section id="(\w+)"', (HERE / "pages/participant.html").read_text())
    looked = {name.split()[0] for name in seen} | {"loading"}
    assert {"break" if name == "practice" else name for name in sections} <= looked


def test_everything_by_keyboard_alone(visit: Callable[[str], Page], tmp_path: Path) -> None:
    with running(study_with_everything(tmp_path / "study")) as app:
        page = visit(app.url)
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
        keys("1", "2", "2", "3", ENTER)  # a mark is taken back
        page.wait("return !document.getElementById('told').hidden;")
        keys(ENTER)
        page.screen("break")
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


def test_arrows_follow_the_direction_of_reading(
    visit: Callable[[str], Page], tmp_path: Path
) -> None:
    folder = short_study(tmp_path / "study")
    with running(edit(one_language(folder, "ar"), ("most: 2 ", "most: 1 "))) as app:
        page = visit(app.url)
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


def test_without_scripts_the_page_says_that_it_needs_them(
    page: Page, studies: Callable[[str], Running]
) -> None:
    page.browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.open()
        assert WORD["no_script"] in page.find("body").text
    finally:
        page.browser.devtools("Emulation.setScriptExecutionDisabled", value=False)


def test_names_and_texts_are_shown_as_they_are_also_under_a_prefix(
    visit: Callable[[str], Page], tmp_path: Path
) -> None:
    nasty = "<img src=x onerror='window.hacked=1'> & {number} \"'"
    folder = short_study(tmp_path / "study", length=2, most=1)
    file = folder / "objects.csv"
    quoted = '"' + nasty.replace('"', '""') + '"'
    rows = [line.split(",")[0] for line in file.read_text().splitlines()[1:]]
    text = "name,text\n" + "".join(f"{name},{quoted}\n" for name in rows)
    file.write_text(text)
    edit(folder, ("en: Fruit and other food", f"en: |-\n    {nasty}"))
    with running(folder, options=Options(root_path="/colors")) as app:
        page = visit(app.url + "/colors")
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
    assert (HERE / "static" / "participant.js").stat().st_size < 31_000
    for name in ("participant.html", "participant-example.html"):
        text = (HERE / "pages" / name).read_text()
        for inline in (" style=", "<style", " onclick=", "javascript:", "http://", "https://"):
            assert inline not in text, (name, inline)
        assert text.count("<script") == text.count("<script src=")
