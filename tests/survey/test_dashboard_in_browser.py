"""The dashboard as a researcher sees it, while answers come in."""

from __future__ import annotations

from typing import Any

import pytest
from axe_core_python.selenium import Axe

from browser import Browser
from studies import Running
from trilens_survey.auth import make_first_key

#: Resolves when the page shows what it should; the page changes by itself.
UNTIL = """
const [text, selector] = arguments;
return new Promise((done) => {
  const look = () => {
    const element = document.querySelector(selector);
    if (element && element.textContent === text) { watch.disconnect(); done(true); }
  };
  const watch = new MutationObserver(look);
  watch.observe(document.body, {childList: true, subtree: true, characterData: true});
  look();
});
"""


@pytest.mark.usefixtures("analyses")
def test_the_first_password_then_results_that_grow(app: Running, browser: Browser) -> None:
    key = app.do(make_first_key)
    browser.resize(1280, 900)
    browser.console(), browser.requests()  # those of other tests
    browser.open(f"{app.url}/researcher/first?key={key}")
    browser.run(
        "document.querySelector('#password').value = arguments[0];"
        "document.querySelector('form').requestSubmit();",
        "a long enough one",
    )
    assert browser.run(UNTIL, "0", "#n-answers")
    rater = app.joined()
    question = rater.question()
    rater.answer(question["token"], question["objects"][0])
    assert browser.run(UNTIL, "1", "#n-answers")
    assert browser.run(UNTIL, "1", "#analyzed")
    rater.round()
    # an opened list stays open while the numbers change
    browser.run("document.querySelector('details').open = true")
    assert browser.run(UNTIL, "20", "#n-answers")
    assert browser.run("return document.querySelector('details').open")
    browser.run("document.querySelector('#report').open = true")
    assert browser.run("return document.querySelector('#report iframe').src").endswith("answers=1")
    assert browser.run("return document.querySelectorAll('.bar').length") >= 2
    assert browser.console() == []
    assert all(address.startswith(app.url) for address in browser.requests())
    # signed out elsewhere: the page notices by itself
    browser.run("document.querySelector('header form').requestSubmit();")
    assert browser.run(UNTIL, "Sign in", "h1")


@pytest.mark.slow
@pytest.mark.usefixtures("analyses")
def test_axe_finds_nothing_on_any_page_and_nothing_scrolls_sideways(
    app: Running, browser: Browser
) -> None:
    wrong: dict[str, Any] = {}

    def look(name: str) -> None:
        for width, height in ((360, 740), (1280, 900)):
            browser.resize(width, height)
            if browser.run("return document.documentElement.scrollWidth") > width:
                wrong[f"{name} at {width}"] = "scrolls sideways"
        for one in Axe().run(browser.driver)["violations"]:
            wrong[f"{name}: {one['id']}"] = [node["html"] for node in one["nodes"]]

    def send(selector: str, **values: str) -> None:
        fill = "for (const [k, v] of Object.entries(arguments[1])) "
        fill += "document.querySelector(`${arguments[0]} [name=${k}]`).value = v;"
        browser.run(
            f"{fill} document.querySelector(arguments[0]).requestSubmit();", selector, values
        )

    key = app.do(make_first_key)
    rater = app.participant()
    receipt = rater.join(platform_id="p1")
    rater.round()
    rater.post("/api/finish")
    browser.open(f"{app.url}/researcher/sign-in")
    look("before there is a password")
    browser.open(f"{app.url}/researcher/first?key={key}")
    look("first password")
    send("form", password="a long enough one")
    assert browser.run(UNTIL, "20", "#analyzed")
    browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; });")
    look("dashboard")
    for page in ("payments", "log"):
        browser.open(f"{app.url}/researcher/{page}")
        look(page)
    browser.open(f"{app.url}/researcher/")
    send("form[action$=erase]", receipt=receipt)
    assert browser.run(UNTIL, "Erase this participant?", "h1")
    look("erase")
    browser.open(f"{app.url}/researcher/first?key=x")
    look("a link that is used up")
    browser.open(f"{app.url}/researcher/export?set=none")
    look("no such export")
    browser.open(f"{app.url}/nowhere")
    look("no such page")
    browser.open(f"{app.url}/researcher/")
    send("header form")
    assert browser.run(UNTIL, "Sign in", "h1")
    send("form", username="me", password="not the right one")
    assert browser.run(UNTIL, "Wrong name or password.", "[role=alert]")
    look("a wrong password")
    assert wrong == {}
