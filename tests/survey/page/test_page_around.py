"""In the browser: forms, practice, parts, grids, leaving, the debriefing, and blocked cookies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_core_python.selenium import Axe
from participant_page import Page, short_study, with_shapes

from browser import ENTER, RIGHT, Browser
from studies import Running, running
from trilens_survey.languages import TEXTS
from trilens_survey.status import status

WORD = TEXTS["en"]
MORE = """
before:
  - {name: age, type: number, ask: "How old are you?", least: 18}
  - {name: cook, type: choice, ask: Do you cook, options: [often, seldom], required: false}
after:
  - {name: effort, type: scale, ask: How hard was it, ends: [easy, hard]}
debriefing: "# About\\n\\nSee [this](https://example.org)."
blocks:
  - {name: near, kind: closer, grid: {of: 6, choose: 2}, length: 2, instructions: "Now **six**."}
  - {name: odd, kind: odd, grid: {of: 5}, length: 2}
"""


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = with_shapes(short_study(tmp_path_factory.mktemp("around") / "study"))
    file = folder / "study.yaml"
    text = re.sub(r"(?ms)^example:.*?(?=^consent:)", "", file.read_text())
    text = re.sub(r"(?ms)^tests:.*?(?=^shared:)", "", text).replace("needed: 1 ", "#")
    file.write_text(text.replace("kind: central", "kind: odd", 1) + MORE)
    with running(folder) as app:
        yield app


def no_findings(page: Page) -> None:
    found = Axe().run(page.driver)["violations"]
    assert not found, [(one["id"], one["nodes"][0]["html"]) for one in found]


def begin(page: Page) -> None:
    page.open()
    page.screen("consent")
    page.click("#agree")
    page.screen("instructions")
    page.click("#begin")


@pytest.mark.slow
def test_the_whole_way(around: Running, visit: Callable[[str], Page]) -> None:
    page = visit(around.url)
    begin(page)
    page.screen("form")
    no_findings(page)
    page.click("#form button.main")
    page.wait("return !document.querySelector('.wrong').hidden;")
    assert page.text(".wrong") == WORD["form_needed"]
    page.find("[name=age]").send_keys("30")
    page.browser.keys(ENTER)
    page.screen("part")
    assert page.text("#part-text") == "Now six."
    page.click("#begin-part")
    # two of six, by touch, by key, and one that is taken back
    page.asking(1)
    page.browser.resize(375, 667)
    assert page.fits()
    no_findings(page)
    assert page.text("#chosen") == "0 of 2 chosen"
    page.tap("button.card[data-place='1']")
    page.press("2", "Digit2")
    page.press("3", "Digit3")  # a third is one too many
    assert page.text("#chosen") == "2 of 2 chosen"
    page.tap("button.card[data-place='2']")
    page.tap("button.card[data-place='4']")
    asked = page.question()
    page.browser.resize(1280, 720)
    page.browser.keys(ENTER)
    page.asking(2)
    chosen = [asked["objects"][1], asked["objects"][4]]
    with page.server() as client:
        assert client.answer(asked["token"], chosen[::-1]).status_code == 200
        assert client.answer(asked["token"], asked["objects"][1:3]).status_code == 409
    page.choose(1)
    page.choose(2)
    page.click("#confirm")
    page.screen("break")
    assert page.text("#break-title") == "Part 1 of 2 done"
    page.click("#another")
    # the odd one of five, walking with the arrows
    page.asking(1)
    assert page.text("#round") == "Part 2 of 2"
    page.browser.keys(RIGHT, RIGHT, ENTER)
    page.asking(2)
    page.press("5", "Digit5")
    page.screen("form")
    no_findings(page)
    page.click(".scale label:nth-child(4)")
    page.click("#form button.main")
    page.screen("debriefing")
    assert page.find("#debriefed a").get_attribute("rel") == "noopener noreferrer"
    page.click("#to-thanks")
    page.screen("thanks")
    assert page.text("#code") == "THANKS"


def test_practice_says_what_is_right(tmp_path: Path, visit: Callable[[str], Page]) -> None:
    folder = short_study(tmp_path / "study", length=1, most=1)
    file = folder / "study.yaml"
    text = re.sub(r"(?ms)^tests:.*?(?=^shared:)", "", file.read_text())
    practice = 'practice:\n  - {objects: [orange, lemon, potato], answer: lemon, why: "*So*."}\n'
    file.write_text(text.replace("minimum: 2", "minimum: 1") + practice)
    with running(folder) as app:
        page = visit(app.url)
        page.begin()
        assert page.text("#count") == "Practice question 1 of 1"
        page.choose(1)
        page.wait("return !document.getElementById('told').hidden;")
        assert page.text("#verdict") == "Not quite. The answer is: a lemon."
        assert page.find("button.card.right").get_attribute("data-place") == "2"
        no_findings(page)
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


def joined(app: Running) -> int:
    with app.survey.database.reading() as connection:
        return status(connection, 0).participants


def test_without_cookies_nobody_joins(browser: Browser, around: Running) -> None:
    browser.devtools("Page.enable")
    added = browser.devtools(
        "Page.addScriptToEvaluateOnNewDocument",
        source="Object.defineProperty(Document.prototype, 'cookie', {get: () => '', set() {}});",
    )
    try:
        page = Page(browser, around.url)
        browser.driver.delete_all_cookies()
        before = joined(around)
        for _ in range(2):
            begin(page)
            page.screen("cookies")
            assert page.text("#cookies h1") == WORD["cookies"]
        assert joined(around) == before
    finally:
        browser.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])
